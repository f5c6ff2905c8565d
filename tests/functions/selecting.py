"""Programs that select several times, and that spend budgets of noise that is no pure privacy."""

# ruff: noqa
import dpverify as dp


@dp.program(sensitivity=1)
def first_two(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    return order[:2]


@dp.program(sensitivity=1)
def last_two_as_a_set(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    order = sorted(range(len(noisy)), key=noisy.__getitem__)
    return sorted(order[-2:])


@dp.program(sensitivity=1)
def second_of_all(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    first = max(range(len(noisy)), key=lambda i: noisy[i])
    return max((i for i in range(len(noisy)) if i != first), key=lambda i: noisy[i])


@dp.program(sensitivity=1)
def first_two_measured(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: -noisy[i]) if False else sorted(range(len(noisy)), key=lambda i: noisy[i])[::-1]
    return [(i, answers[i] + noise.laplace(2)) for i in order[:2]]


@dp.program(sensitivity=1)
def difference_of_the_first_two(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    both = sorted(order[:2])
    return order[0], answers[order[0]] - answers[both[0]] + noise.laplace(2)


@dp.program(sensitivity=1)
def three_anew(answers, noise):
    return [max(range(len(answers)), key=lambda i: answers[i] + noise.laplace(2)) for _ in range(3)]


@dp.program(sensitivity=1)
def three_without_those_before(answers, noise):
    found = []
    for _ in range(3):
        left = [i for i in range(len(answers)) if i not in found]
        found.append(max(left, key=lambda i: answers[i] + noise.laplace(2)))
    return found


@dp.program(sensitivity=1)
def the_last_of_three(answers, noise):
    found = []
    for _ in range(3):
        left = [i for i in range(len(answers)) if i not in found]
        found.append(max(left, key=lambda i: answers[i] + noise.laplace(2)))
    return found[2]


@dp.program(sensitivity=1, neighbours="one")
def least_two_values_of_one(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    return sorted(noisy)[:2]


@dp.program(sensitivity=1)
def three_of_the_same_laplace(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    return sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)[:3]


@dp.program(sensitivity=1)
def values_of_gumbel(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    return sorted(noisy)[:2]


@dp.program(sensitivity=1)
def two_lists_of_one_noise(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    twice = [2 * x for x in noisy]
    return noisy.index(max(noisy)), twice.index(max(twice))


@dp.program(sensitivity=1)
def the_second_is_left_out(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    return max((i for i in range(len(noisy)) if i != order[1]), key=lambda i: noisy[i])


@dp.program(sensitivity=1)
def left_out_by_noise_of_its_own(answers, noise):
    left = [i for i in range(len(answers)) if i != max(range(len(answers)), key=lambda j: answers[j] + noise.gumbel(2))]
    return max(left, key=lambda i: answers[i] + noise.gumbel(2))


@dp.program(sensitivity=1)
def left_out_by_answers(answers, noise):
    left = [i for i in range(len(answers)) if answers[i] > 3]
    return max(left, key=lambda i: answers[i] + noise.gumbel(2))


@dp.program(sensitivity=1)
def spends(answers, noise):
    left, rough = 4, True
    for a in answers:
        if rough:
            if left < 1:
                return
            left -= 1
            x = a + noise.discrete_gaussian(2)
        else:
            if left < 4:
                return
            left -= 4
            x = a + noise.discrete_gaussian(1)
        yield x
        rough = x < 1


@dp.program(sensitivity=1)
def spends_gaussian(answers, noise):
    left, rough = 4, True
    for a in answers:
        if rough:
            if left < 1:
                return
            left -= 1
            x = a + noise.gaussian(2)
        else:
            if left < 4:
                return
            left -= 4
            x = 3 * a + noise.gaussian(3)
        yield x
        rough = x < 1


@dp.program(sensitivity=1)
def gets_more_at_times(answers, noise):
    left = 4
    for a in answers:
        if left < 1:
            return
        x = a + noise.gaussian(2)
        yield x
        left -= 1
        if x > 10:
            left = 4


@dp.program(sensitivity=1)
def measures_for_nothing(answers, noise):
    left, seen = 4, False
    for a in answers:
        if left < 1:
            return
        x = a + noise.gaussian(2)
        if x > 5:
            yield x
            left -= 1
            seen = True
        else:
            yield seen


@dp.program(sensitivity=1)
def third_of_all(answers, noise):
    noisy = [a + noise.gumbel(2) for a in answers]
    return sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)[2]


@dp.program(sensitivity=1, neighbours="one")
def second_value_of_one(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    return sorted(noisy)[1]


@dp.program(sensitivity=1)
def place_and_lead(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    return order[0], noisy[order[0]] - noisy[order[1]]


@dp.program(sensitivity=1)
def lead_and_measured(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    order = sorted(range(len(noisy)), key=lambda i: noisy[i], reverse=True)
    return {"best": order[0], "lead": noisy[order[0]] - noisy[order[1]], "there": answers[order[0]] + noise.laplace(1)}


@dp.program(sensitivity=1)
def lead_and_value(answers, noise):
    noisy = sorted([a + noise.laplace(2) for a in answers], reverse=True)
    return noisy[0] - noisy[1], noisy[0]


@dp.program(sensitivity=1)
def lead_over_the_third(answers, noise):
    noisy = sorted([a + noise.laplace(2) for a in answers], reverse=True)
    return noisy[0] - noisy[2]


@dp.program(sensitivity=1)
def looked_at_with_and_without_a_place_of_another(answers, noise):
    a = [q + noise.gumbel(2) for q in answers]
    b = [q + noise.gumbel(1) for q in answers]
    x = b.index(max(b))
    y = max([i for i in range(len(answers)) if i != x], key=lambda i: a[i])
    return x, y, a.index(max(a))


@dp.program(sensitivity="1/2")
def integers_for_answers_that_move_by_halves(answers, noise):
    left, rough = 4, True
    for answer in answers:
        cost = 1 if rough else 2
        if left < cost:
            return
        left -= cost
        told = answer + noise.discrete_laplace(4 / cost)
        yield told
        rough = told >= 10

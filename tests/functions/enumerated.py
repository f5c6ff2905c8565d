"""Programs with noise on the integers, whose outputs' probabilities a test counts by running them with every noise."""

# ruff: noqa
import dpverify as dp

LIMIT = 2


def noisy(value, noise):
    return value + noise.discrete_laplace(1 / 2)


def place_of_best(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    return found.index(max(found))


@dp.program(sensitivity=1)
def one_number(count, noise):
    return count + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1)
def the_same_noise_twice(count, noise):
    z = noise.discrete_laplace(1 / 2)
    return count + z, z


@dp.program(sensitivity=1)
def noise_passed_on(count, noise):
    return noisy(count, noise), noisy(count, noise)


@dp.program(sensitivity=1)
def told_if_large(count, noise):
    x = noisy(count, noise)
    if x > 1:
        return x
    return "small"


@dp.program(sensitivity=1)
def clipped_after(count, noise):
    return min(max(noisy(count, noise), 0), 2)


@dp.program(sensitivity=1)
def doubled(count, noise):
    return 2 * count + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1)
def doubled_after(count, noise):
    return 2 * (count + noise.discrete_laplace(1 / 2))


@dp.program(sensitivity=1, answers=2)
def difference(answers, noise):
    a, b = answers
    return a - b + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1, answers=2, neighbours="monotone")
def difference_of_monotone(answers, noise):
    a, b = answers
    return a - b + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1, answers=2, neighbours="one")
def difference_of_one(answers, noise):
    a, b = answers
    return a - b + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1, answers=2)
def greater(answers, noise):
    a, b = answers
    return a + noise.discrete_laplace(1 / 2) > b + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1, answers=2)
def greater_by_one_noise(answers, noise):
    a, b = answers
    return a + noise.discrete_laplace(1 / 2) > b


@dp.program(sensitivity=1, answers=2)
def place(answers, noise):
    return place_of_best(answers, noise)


@dp.program(sensitivity=1, answers=2)
def place_twice(answers, noise):
    return place_of_best(answers, noise), place_of_best(answers, noise)


@dp.program(sensitivity=1, answers=2)
def place_and_value(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    best = found.index(max(found))
    return best, found[best]


@dp.program(sensitivity=1, answers=2)
def in_order(answers, noise):
    return sorted(a + noise.discrete_laplace(1 / 2) for a in answers)


@dp.program(sensitivity=1, answers=2, neighbours="one")
def in_order_of_one(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    return sorted(found, reverse=True)[:1]


@dp.program(sensitivity=1)
def in_order_of_any(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    return sorted(found)[0]


@dp.program(sensitivity=1)
def two_selections(answers, noise):
    first = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    second = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    return first, second


@dp.program(sensitivity=1)
def second_selection_alone(answers, noise):
    first = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    return max([i for i in range(len(answers)) if i != first], key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))


@dp.program(sensitivity=1)
def one_by_one(answers, noise):
    found = []
    for _ in range(2):
        left = [i for i in range(len(answers)) if i not in found]
        found.append(max(left, key=lambda i: answers[i] + noise.discrete_laplace(1 / 2)))
    return sorted(found)


@dp.program(sensitivity=1)
def selected_and_measured(answers, noise):
    best = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    return best, answers[best] + noise.discrete_laplace(1 / 4)


@dp.program(sensitivity=1)
def sparse(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    for a in answers:
        if a + noise.discrete_laplace(1) >= t:
            yield True
            return
        yield False


@dp.program(sensitivity=1)
def sparse_and_value(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    for a in answers:
        x = a + noise.discrete_laplace(1)
        if x >= t:
            yield x
            return
        yield False


@dp.program(sensitivity=1)
def sparse_without_end(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    for a in answers:
        yield a + noise.discrete_laplace(1) >= t


@dp.program(sensitivity=1)
def sparse_with_limit(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    left = LIMIT
    for a in answers:
        if left == 0:
            return
        if a + noise.discrete_laplace(1) >= t:
            yield True
            left -= 1
        else:
            yield False


@dp.program(sensitivity=1)
def threshold_drawn_again(answers, noise):
    for a in answers:
        t = noise.discrete_laplace(1 / 2)
        if a + noise.discrete_laplace(1) >= t:
            yield True
            return
        yield False


@dp.program(sensitivity=1)
def answers_kept(answers, noise):
    last = 0
    for a in answers:
        yield a - last + noise.discrete_laplace(1 / 2)
        last = a


@dp.program(sensitivity=1, neighbours="one")
def running_sums_of_one(answers, noise):
    total = 0
    for a in answers:
        total += a
        yield total + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1)
def any_of_them(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    return any(a + noise.discrete_laplace(1) >= t for a in answers)


@dp.program(sensitivity=1, neighbours="one")
def how_many(answers, noise):
    return sum(a + noise.discrete_laplace(1 / 2) > 0 for a in answers)


@dp.program(sensitivity=1)
def spends_alike(answers, noise):
    left = 2
    for a in answers:
        if left < 1:
            return
        yield a + noise.discrete_laplace(1 / 2)
        left -= 1


@dp.program(sensitivity=1)
def spends_as_it_goes(answers, noise):
    left = 3
    rough = True
    for a in answers:
        if rough:
            if left < 1:
                return
            left -= 1
            x = a + noise.discrete_laplace(1)
        else:
            if left < 2:
                return
            left -= 2
            x = a + noise.discrete_laplace(1 / 2)
        yield x
        rough = x < 1


@dp.program(sensitivity=1)
def spends_late(answers, noise):
    left, careful = 1, False
    for a in answers:
        if left < 0:
            return
        x = a + noise.discrete_laplace(1 / 2)
        if careful:
            yield x > 0
            left -= 2
        else:
            yield x
            left -= 1
        careful = x > 1


@dp.program(sensitivity=1)
def spends_for_some(answers, noise):
    left, seen = 1, False
    for a in answers:
        if left < 1:
            return
        x = a + noise.discrete_laplace(1 / 2)
        if x > 0:
            yield x
            left -= 1
            seen = True
        else:
            yield "nothing" if seen else "nothing yet"


@dp.program(sensitivity=1)
def gets_more(answers, noise):
    left, again = 1, True
    for a in answers:
        if left < 1:
            return
        x = a + noise.discrete_laplace(1 / 2)
        yield x
        left -= 1
        if x > 1 and again:
            left += 1
            again = False


@dp.program(sensitivity=1)
def ends_with_a_measurement(answers, noise):
    spent, last = 0, 0
    for a in answers:
        if spent + 1 > 1:
            return
        x = a + noise.discrete_laplace(1)
        if x > 0 and last == 0:
            yield a + noise.discrete_laplace(1 / 2)
            return
        yield x
        last = 1
        spent += 1


@dp.program(sensitivity=1)
def noise_kept(answers, noise):
    left, z, more = 2, 0, False
    for a in answers:
        if left < 1:
            return
        if more:
            yield a + z
        else:
            z = noise.discrete_laplace(1 / 2)
            yield a + z
        more = True
        left -= 1


@dp.program(sensitivity=1)
def difference_of_two_told(answers, noise):
    left, last, more = 2, 0, False
    for a in answers:
        if left < 1:
            return
        x = a + noise.discrete_laplace(1 / 2)
        if more:
            yield x - last
        else:
            yield "first"
        last, more = x, True
        left -= 1


@dp.program(sensitivity=1)
def aliased(answers, noise):
    out = []
    same = out
    for a in answers:
        if a + noise.discrete_laplace(1 / 2) > 0:
            same.append(True)
        else:
            out.append(False)
    return out


@dp.program(sensitivity=1, answers=2)
def aliased_at_once(answers, noise):
    out = [0]
    other = out
    other.append(answers[0] + noise.discrete_laplace(1 / 2))
    return out[-1], len(out)


@dp.program(sensitivity=1, answers=2)
def shadowed(answers, noise):
    answers = [answers[1], answers[1]]
    return answers[0] + noise.discrete_laplace(1 / 2), answers[1] + noise.discrete_laplace(1)


@dp.program(sensitivity=1, answers=2)
def short_circuit(answers, noise):
    a, b = answers
    return noisy(a, noise) > 0 and noisy(b, noise) > 0


@dp.program(sensitivity=1, answers=2)
def chosen_by_noise(answers, noise):
    a, b = answers
    x = a if noise.discrete_laplace(1 / 2) > 0 else b
    return x + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1, answers=2)
def matched(answers, noise):
    a, b = answers
    match noisy(a, noise) > 0:
        case True:
            return noisy(b, noise)
        case _:
            return "left"


@dp.program(sensitivity=1)
def two_loops(answers, noise):
    for a in answers:
        yield a + noise.discrete_laplace(1 / 2)
    for a in answers:
        yield a + noise.discrete_laplace(1 / 2) > 0


@dp.program(sensitivity=1, neighbours="one")
def two_loops_of_one(answers, noise):
    for a in answers:
        yield a + noise.discrete_laplace(1 / 2) > 1
    for a in answers:
        yield a + noise.discrete_laplace(1 / 2) > 0


@dp.program(sensitivity=1, answers=2)
def order_of_places(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    return sorted(range(2), key=lambda i: found[i])[0]


@dp.program(sensitivity=1, answers=3, neighbours="one")
def middle(answers, noise):
    return sorted(a + noise.discrete_laplace(1 / 4) for a in answers)[1]


@dp.program(sensitivity=1)
def least_and_greatest(answers, noise):
    low = min(a + noise.discrete_laplace(1 / 2) for a in answers)
    return low, place_of_best(answers, noise)


@dp.program(sensitivity=1)
def measured_twice(answers, noise):
    best = place_of_best(answers, noise)
    x = answers[best] + noise.discrete_laplace(1 / 2)
    return x if x > 0 else (best, x, answers[best] + noise.discrete_laplace(1))


@dp.program(sensitivity=1, bounds=[0, 1], answers=2)
def between_bounds(answers, noise):
    return [a + noise.discrete_laplace(1 / 2) > 0 for a in answers]


@dp.program(sensitivity=1, neighbours="increasing")
def increasing(answers, noise):
    t = noise.discrete_laplace(1 / 2)
    for a in answers:
        if a + noise.discrete_laplace(1) >= t:
            yield True
            return
        yield False


@dp.program(sensitivity=2)
def moves_by_two(count, noise):
    return noisy(count, noise) > 1


@dp.program(sensitivity=1)
def steps_told(answers, noise):
    for i, a in enumerate(answers):
        if a + noise.discrete_laplace(1 / 2) > 1:
            return i
    return "none"


@dp.program(sensitivity=1)
def flag_resets(answers, noise):
    t = noise.discrete_laplace(1)
    armed = True
    for a in answers:
        if armed and a + noise.discrete_laplace(1) >= t:
            armed = False
            yield "hit"
        else:
            yield "rest"
            armed = True


@dp.program(sensitivity=1)
def noise_after_the_loop(answers, noise):
    best = 0
    for a in answers:
        x = a + noise.discrete_laplace(1 / 2)
        if x > best:
            best = x
    return best + noise.discrete_laplace(1 / 4)


@dp.program(sensitivity=1)
def place_then_sparse(answers, noise):
    left, high = 2, False
    for a in answers:
        if left <= 0:
            return
        step = 2 if high else 1
        x = a + (noise.discrete_laplace(1 / 2) if high else noise.discrete_laplace(1))
        left -= step
        high = x > 0
        yield high


@dp.program(sensitivity=1)
def counts_up_and_stops(answers, noise):
    spent = 0
    for i, a in enumerate(answers):
        if spent >= 2 or i >= 2:
            return
        if a + noise.discrete_laplace(1) > 0:
            yield a + noise.discrete_laplace(1 / 2)
            spent += 2
        else:
            yield i
            spent += 1


@dp.program(sensitivity=1, neighbours="monotone")
def places_of_monotone(answers, noise):
    first = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    second = max([i for i in range(len(answers)) if i not in (first,)], key=lambda i: answers[i] + noise.discrete_laplace(1 / 2))
    return {"first": first, "second": second}


@dp.program(sensitivity=1, neighbours="one")
def measured_difference_of_places(answers, noise):
    first = max(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 4))
    second = min(range(len(answers)), key=lambda i: answers[i] + noise.discrete_laplace(1 / 4))
    return answers[first] - answers[second] + noise.discrete_laplace(1 / 2)


@dp.program(sensitivity=1)
def two_searches(answers, noise):
    t = noise.discrete_laplace(1 / 4)
    first = any(a + noise.discrete_laplace(1 / 2) >= t for a in answers)
    u = noise.discrete_laplace(1 / 4)
    second = any(a + noise.discrete_laplace(1 / 2) >= u for a in answers)
    return first, second


@dp.program(sensitivity=1, neighbours="one")
def two_counts(answers, noise):
    low = sum(a + noise.discrete_laplace(1 / 2) > 0 for a in answers)
    high = sum(a + noise.discrete_laplace(1 / 2) > 1 for a in answers)
    return low, high


@dp.program(sensitivity=1)
def place_and_lead(answers, noise):
    found = [a + noise.discrete_laplace(1 / 2) for a in answers]
    order = sorted(range(len(found)), key=lambda i: found[i], reverse=True)
    return order[0], found[order[0]] - found[order[1]]


@dp.program(sensitivity=1, answers=2)
def lead_of_the_least(answers, noise):
    found = sorted(a + noise.discrete_laplace(1 / 2) for a in answers)
    return found[0] - found[1], "told"

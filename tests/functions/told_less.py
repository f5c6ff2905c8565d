"""Programs that tell what follows from what their steps keep, and programs over rows that compute with noisy sums."""

# ruff: noqa
import math

import dpverify as dp

COUNT = {"c": "positive integer"}


@dp.program(sensitivity=1)
def whether_any(answers, noise):
    t = noise.laplace(2)
    return any(a + noise.laplace(4) >= t for a in answers)


def all_below(answers, t, noise):
    return all(a + noise.laplace(4) < t for a in answers)


@dp.program(sensitivity=1)
def whether_all(answers, noise):
    t = noise.laplace(2)
    return "none" if all_below(answers, t, noise) else "some"


@dp.program(sensitivity=1)
def first_above(answers, noise):
    t = noise.laplace(2)
    return next((i for i, a in enumerate(answers) if a + noise.laplace(4) >= t), None)


@dp.program(sensitivity=1)
def first_above_with_value(answers, noise):
    t = noise.laplace(2)
    found = next(((i, a + noise.laplace(8)) for i, a in enumerate(answers) if a + noise.laplace(4) >= t), "none")
    return found, "told"


@dp.program(sensitivity=1)
def how_many(answers, noise):
    t = noise.laplace(2)
    return sum(1 for a in answers if a + noise.laplace(4) >= t)


@dp.program(sensitivity=1)
def how_many_truths(answers, noise):
    return sum(a + noise.laplace(4) >= 1 for a in answers) >= 2


@dp.program(sensitivity=1)
def how_many_left(answers, noise):
    return len([a for a in answers if a + noise.laplace(4) > 1]) + 1


@dp.program(sensitivity=1)
def some_of_them(answers, noise):
    return [i for i, a in enumerate(answers) if a + noise.laplace(4) > 1]


@dp.program(sensitivity=1)
def loop_over_some(answers, noise):
    noisy = [a + noise.laplace(4) for a in answers if a + noise.laplace(8) > 0]
    last = 0
    for x in noisy:
        if x > last:
            yield "more"
        last = x
    yield "end"


@dp.program(sensitivity=1)
def sum_of_noisy(answers, noise):
    return sum(a + noise.laplace(4) for a in answers) / 2


@dp.program(sensitivity=1, parameters=COUNT)
def count_and_return(answers, c, noise):
    t = noise.laplace(2)
    found = 0
    for a in answers:
        if a + noise.laplace(4) >= t:
            found += 1
            if found == c:
                return found
    return found


@dp.program(sensitivity=1)
def steps_until(answers, noise):
    t = noise.laplace(2)
    steps = 0
    for a in answers:
        if a + noise.laplace(4) >= t:
            return steps
        steps += 1
    return steps


@dp.program(sensitivity=1, parameters=COUNT)
def test_of_the_count_first(answers, c, noise):
    t = noise.laplace(2)
    found = i = 0
    while found < c and i < len(answers):
        above = answers[i] + noise.laplace(4) >= t
        yield above
        found += above
        i += 1


@dp.program(sensitivity=1, parameters=COUNT)
def goes_on_without_a_word(answers, c, noise):
    t = noise.laplace(2)
    found = 0
    for a in answers:
        if found >= c:
            continue
        above = a + noise.laplace(4) >= t
        yield above
        if above:
            found += 1


@dp.program(sensitivity=1, parameters=COUNT)
def goes_on_with_a_word(answers, c, noise):
    t = noise.laplace(2)
    found = 0
    for a in answers:
        if found == c:
            yield False
            continue
        above = a + noise.laplace(4) >= t
        found += above
        yield above


@dp.program(sensitivity=1)
def a_threshold_that_ends_it(answers, noise):
    t = noise.laplace(2)
    for a in answers:
        if t > 1:
            yield True
            continue
        yield a + noise.laplace(4) >= t


@dp.program(sensitivity=1, parameters=COUNT)
def counts_down(answers, c, noise):
    t = noise.laplace(2)
    left = c
    for a in answers:
        if left == 0:
            return
        above = a + noise.laplace(4) >= t
        yield above
        if above:
            left -= 1


@dp.program(sensitivity=1)
def the_first_is_passed(answers, noise):
    for i, a in enumerate(answers):
        if i == 0:
            continue
        yield a + noise.laplace(4) >= 1


@dp.program(sensitivity=1)
def counts_without_a_word(answers, noise):
    left = 2
    for a in answers:
        if left <= 0:
            return 0
        if a + noise.laplace(4) > 0:
            left -= 1
    return 0


@dp.program(sensitivity=1)
def jumps_over(answers, noise):
    left = 3
    for a in answers:
        if left == 0:
            return
        if a + noise.laplace(4) > 0:
            left -= 2
            yield 1
        else:
            yield 0


@dp.program(sensitivity=1)
def an_end_of_its_own(answers, noise):
    for a in answers:
        if a + noise.laplace(4) > 0:
            yield False
            return
        yield False
    yield "end"


@dp.program(sensitivity=1)
def noise_at_the_end(answers, noise):
    for a in answers:
        if a + noise.laplace(4) > 0:
            yield False
            return
        yield False
    yield noise.laplace(8) > 0


@dp.program(sensitivity=1)
def last_noisy(answers, noise):
    last, flag = 0, False
    for a in answers:
        x = a + noise.laplace(4)
        if x > 1:
            last = x
            flag = not flag
    if flag:
        return last, round(last)
    return None


@dp.program(sensitivity=1)
def rounded(answers, noise):
    for a in answers:
        x = a + noise.laplace(4)
        yield math.floor(x) if x > 0 else x // 2


@dp.program(sensitivity=1)
def lists_as_they_are(answers, noise):
    lengths = [1]
    noisy = [a + len(lengths) + noise.laplace(4) for a in answers]
    lengths.append(2)
    for x in noisy:
        yield x + len(lengths)


@dp.program(sensitivity=1)
def select_and_measure(answers, noise):
    noisy = [a + noise.laplace(4) for a in answers]
    best = noisy.index(max(noisy))
    found = answers[best] - noise.laplace(2)
    if found > 1:
        return best, found / 3
    return {"least": found, "word": found > 0}


@dp.program(sensitivity=1)
def measure_on_one_way(answers, noise):
    best = min(range(len(answers)), key=lambda i: answers[i] + noise.laplace(4))
    if noise.laplace(8) > 0:
        return 3 * answers[best] + noise.laplace(2)
    return best


@dp.program(sensitivity=1)
def two_loops(answers, noise):
    t = noise.laplace(2)
    first = []
    second = []
    for a in answers:
        above = a + noise.laplace(4) >= t
        first.append(above)
        if above:
            break
    u = noise.laplace(3)
    for a in answers:
        if a + noise.laplace(5) < u:
            second.append("low")
        else:
            second.append(a + noise.laplace(6))
    return first, second


@dp.program(sensitivity=1)
def told_into_one_list(answers, noise):
    told = ["begin"]
    t = noise.laplace(2)
    for a in answers:
        if a + noise.laplace(4) >= t:
            told.append("found")
            break
    told.append("then")
    u = noise.laplace(3)
    for i, a in enumerate(answers):
        if i > 0 and a + noise.laplace(5) < u:
            told.append(i)
    return told


FIELDS = {"a": "integer", "b": "integer"}


@dp.program(adjacency="add-remove", record=FIELDS)
def second_stage(rows, noise):
    count = len(rows) + noise.laplace(1)
    if count > 1:
        return count, sum(min(max(r["a"], 0), 2) for r in rows) + noise.laplace(2)
    if count > 0:
        return sum(1 for r in rows if r["b"] > 0) + noise.laplace(3)
    return "few"


@dp.program(adjacency="add-remove", record=FIELDS)
def one_law_for_either(rows, noise):
    if len(rows) + noise.laplace(1) > 1:
        return sum(min(max(r["a"], 0), 2) for r in rows) + noise.laplace(2)
    return sum(1 for r in rows if r["b"] > 0) + noise.laplace(2)


@dp.program(adjacency="add-remove", record=FIELDS)
def mean(rows, noise):
    count = noise.laplace(1) + len(rows)
    total = sum(min(max(r["a"], 0), 2) for r in rows) - noise.laplace(2)
    if total / max(count, 1) > 1:
        return "much"
    return round(total / max(count, 1), 2), total


@dp.program(adjacency="add-remove", record=FIELDS)
def groups(rows, noise):
    counts = {"x": len([r for r in rows if r["a"] > 0]) + noise.laplace(1), "y": len([r for r in rows if r["b"] > 0]) + noise.laplace(2)}
    best = max(counts, key=counts.get)
    return best, [(name, count) for name, count in counts.items() if count >= 1], sorted(counts, key=lambda name: counts[name])


@dp.program(adjacency="add-remove", record=FIELDS)
def one_counter(rows, noise):
    found = noise.laplace(1)
    for r in rows:
        if r["a"] > 0:
            found += 1
        elif r["b"] > 0:
            found += 2
        else:
            found -= min(max(r["b"], -1), 0)
    return found > 2, abs(found)


@dp.program(inputs=["no", "yes"])
def response(answer, noise):
    if noise.coin(1 / 2):
        return answer
    return "yes" if noise.coin(3 / 4) else "no"


@dp.program(inputs=[[0, 1], [1, 0], [1, 1]])
def bits(values, noise):
    for value in values:
        yield value if noise.coin(2 / 3) else noise.below(3)


@dp.program(inputs=[0, 1, 2])
def heads(number, noise):
    found = noise.binomial(n=2, p=1 / 4) + number
    while found > 1:
        if noise.coin(1 / 2):
            return "out"
        found -= 1
    return found


@dp.program(sensitivity=1)
def two_searches(answers, noise):
    t = noise.laplace(2)
    first = any(a + noise.laplace(4) >= t for a in answers)
    u = noise.laplace(3)
    second = next((i for i, a in enumerate(answers) if a + noise.laplace(5) >= u), None)
    return {"first": first, "second": second}


@dp.program(sensitivity=1)
def two_counts(answers, noise):
    yield sum(a + noise.laplace(4) >= 0 for a in answers)
    yield "then"
    yield len([a for a in answers if a + noise.laplace(5) > 1])

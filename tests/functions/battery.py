"""Programs of many writings, whose text is read and whose code is run."""

# ruff: noqa
import dpverify as dp


@dp.program(sensitivity=1)
def svt1(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for answer in answers:
        if answer + noise.laplace(4 / epsilon) >= t:
            yield True
            return
        yield False

@dp.program(sensitivity=1)
def svt2(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for answer in answers:
        if answer + noise.laplace(4 / epsilon) < t:
            yield False
        else:
            yield True
            break

def is_above(a, t, noise, epsilon):
    noisy = a + noise.laplace(4 / epsilon)
    return noisy >= t

@dp.program(sensitivity=1)
def svt3(answers, threshold, epsilon, noise):
    rho = noise.laplace(2 / epsilon)
    out = []
    for answer in answers:
        above = is_above(answer, threshold + rho, noise, epsilon)
        out.append(above)
        if above:
            return out
    return out

@dp.program(sensitivity=1)
def svt4(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    done = False
    i = 0
    while i < len(answers):
        if not done:
            if answers[i] + noise.laplace(4 / epsilon) >= t:
                yield True
                done = True
            else:
                yield False
        i += 1

@dp.program(sensitivity=1)
def svt5(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for i, answer in enumerate(answers):
        if answer + noise.laplace(4 / epsilon) >= t:
            return i
    return None

@dp.program(sensitivity=1)
def svt7(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    found = 0
    for i in range(len(answers)):
        x = answers[i] + noise.laplace(4 / epsilon)
        match x >= t:
            case True:
                found += 1
                yield True
            case False:
                yield False
        if found == 1:
            return
@dp.program(sensitivity=1)
def svt8(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    found = False
    i = 0
    while not found and i < len(answers):
        found = answers[i] + noise.laplace(4 / epsilon) >= t
        yield found
        i = i + 1
@dp.program(sensitivity=1)
def svt9(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    noisy = [a + noise.laplace(4/epsilon) for a in answers]
    result = []
    for x in noisy:
        if x >= t:
            result += [True]
            break
        result += [False]
    return result
@dp.program(sensitivity=1)
def svt10(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for x in answers:
        if x + noise.laplace(4/epsilon) >= t:
            return True
    return False
@dp.program(sensitivity=1)
def rng(answers, noise):
    low = noise.laplace(4)
    high = 1 + noise.laplace(4)
    for a in answers:
        x = a + noise.laplace(4)
        if low <= x < high:
            yield "inside"
        elif x < low:
            yield "left"
            return
        else:
            yield "right"
            return
@dp.program(sensitivity=1)
def minmax(answers, noise):
    low = high = 0
    seen = 0
    for a in answers:
        if seen < 2:
            x = a + noise.laplace(8)
            if seen == 0:
                low = x
                high = x
            elif x < low:
                low = x
            else:
                high = x
            seen += 1
            yield "read"
        else:
            y = a + noise.laplace(4)
            if y < low:
                yield "left"
                return
            if y >= high:
                yield "right"
                return
            yield "inside"
@dp.program(sensitivity=1, neighbours="one")
def smart(answers, noise):
    running = 0
    block = 0
    place = 0
    for q in answers:
        nu = noise.laplace(1)
        if place == 2:
            running = block + q + nu
            block = 0
            place = 0
        else:
            running = running + q + nu
            block = block + q
            place = place + 1
        yield running
@dp.program(sensitivity=1, neighbours="one")
def partial(answers, noise):
    return sum(answers) + noise.laplace(1)
@dp.program(sensitivity=1, neighbours="one")
def partial2(answers, noise):
    s = 0
    for q in answers:
        s += q
    return s + noise.laplace(1)
@dp.program(sensitivity=1)
def best1(answers, noise):
    best = None
    where = 0
    for i, a in enumerate(answers):
        x = a + noise.laplace(2)
        if best is None or x > best:
            best = x
            where = i
    return where
@dp.program(sensitivity=1)
def best2(answers, noise):
    best = float("-inf")
    where = -1
    i = 0
    while i < len(answers):
        x = answers[i] + noise.laplace(2)
        if x > best:
            best = x
            where = i
        i += 1
    return where
@dp.program(sensitivity=1)
def best3(answers, noise):
    best = 0
    where = 0
    for i in range(len(answers)):
        x = answers[i] + noise.laplace(2)
        if i == 0 or x > best:
            best, where = x, i
    return where
@dp.program(sensitivity=1)
def bestval(answers, noise):
    return max(a + noise.laplace(2) for a in answers)
@dp.program(sensitivity=1)
def bestkey(answers, noise):
    noisy = [a + noise.laplace(2) for a in answers]
    return max(range(len(noisy)), key=lambda i: noisy[i])
@dp.program(sensitivity=1, answers=3)
def bestfixed(answers, noise):
    a, b, c = answers
    x, y, z = a + noise.laplace(2), b + noise.laplace(2), c + noise.laplace(2)
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2
@dp.program(sensitivity=1, neighbours="one")
def hist(answers, noise):
    return [a + noise.laplace(1) for a in answers]
@dp.program(sensitivity=1)
def adaptive(answers, noise):
    t = noise.laplace(2)
    cost = 0
    for q in answers:
        if cost >= 3:
            return
        top = q + noise.laplace(16) - t
        if top >= 5:
            yield ("far above", top)
            cost += 1
        else:
            mid = q + noise.laplace(8) - t
            if mid >= 0:
                yield ("above", mid)
                cost += 2
            else:
                yield "below"
@dp.program(sensitivity=1)
def numeric(answers, c, noise):
    t = noise.laplace(3)
    n = 0
    for q in answers:
        if q + noise.laplace(6*c) >= t:
            yield q + noise.laplace(3*c)
            n += 1
            if n == c:
                return
        else:
            yield None
@dp.program(sensitivity=1)
def noquery(answers, noise):
    t = noise.laplace(2)
    for q in answers:
        yield q >= t
@dp.program(sensitivity=1)
def raw(answers, noise):
    for q in answers:
        yield q > 3
@dp.program(sensitivity=1)
def shortcircuit(answers, noise):
    t = noise.laplace(2)
    for q in answers:
        if q + noise.laplace(8) >= t and q + noise.laplace(8) >= t:
            yield True
            return
        yield False


# -- harder ones: several lists, flags, chained comparisons, gaps of steps, counters with limits


@dp.program(sensitivity=1)
def two_flags(answers, threshold, noise):
    t = threshold + noise.laplace(2)
    low = False
    high = False
    for q in answers:
        x = q + noise.laplace(4)
        if low and high:
            return
        if x < t and not low:
            low = True
            yield "low"
        elif x >= t + 2 and not high:
            high = True
            yield "high"
        else:
            yield "on"


@dp.program(sensitivity=1)
def count_limit(answers, c, noise):
    t = noise.laplace(2)
    found = 0
    for q in answers:
        if found == c:
            break
        if q + noise.laplace(4 * c) >= t:
            found += 1
            yield True
        else:
            yield False


@dp.program(sensitivity=1)
def count_limit_before(answers, c, noise):
    t = noise.laplace(2)
    left = 0
    for q in answers:
        if left + 1 > c:
            return
        above = q + noise.laplace(4 * c) > t
        left += above
        yield above


@dp.program(sensitivity=1)
def first_step_is_special(answers, noise):
    for i, q in enumerate(answers):
        if i == 0:
            yield q + noise.laplace(1)
        elif i < 3:
            yield q + noise.laplace(2)
        else:
            return


@dp.program(sensitivity=1)
def running_difference(answers, noise):
    last = 0
    for q in answers:
        x = q + noise.laplace(2)
        yield x - last
        last = x


@dp.program(sensitivity=1)
def keeps_an_answer(answers, noise):
    last = 0
    for q in answers:
        yield q - last + noise.laplace(2)
        last = q


@dp.program(sensitivity=1)
def nested_choice(answers, threshold, noise):
    t = noise.laplace(2)
    for q in answers:
        a = q + noise.laplace(4)
        b = q + noise.laplace(4) if a >= t else t
        word = "both" if a >= t and b >= t else "one" if a >= t or b > threshold else "none"
        yield word
        if word == "both":
            break


@dp.program(sensitivity=1)
def chained(answers, noise):
    t = noise.laplace(2)
    for q in answers:
        x = q + noise.laplace(4)
        yield t <= x <= t + 3
        if not t <= x:
            return


@dp.program(sensitivity=1)
def reset(answers, noise):
    t = noise.laplace(2)
    for q in answers:
        if q + noise.laplace(4) >= t:
            t = noise.laplace(2)
            yield "above"
        else:
            yield "below"


@dp.program(sensitivity=1)
def sorted_pair(answers, noise):
    low, high = 0, 0
    for q in answers:
        x = q + noise.laplace(2)
        low, high = sorted([x, high])
        yield (low, high)


@dp.program(sensitivity=1)
def clipped(answers, noise):
    for q in answers:
        x = q + noise.laplace(2)
        yield min(max(x, 0), 5)


@dp.program(sensitivity=1, answers=3)
def at_once(answers, noise):
    a, b, c = answers
    x = a + noise.laplace(2)
    y = b - c + noise.laplace(2)
    if x > y:
        return ("first", x)
    if abs(y) <= 3:
        return ("small", y)
    return "other"


@dp.program(sensitivity=1, answers=3)
def greatest_of_three(answers, noise):
    noisy = [q + noise.laplace(2) for q in answers]
    if noisy[0] >= noisy[1]:
        return 0 if noisy[0] >= noisy[2] else 2
    return 1 if noisy[1] >= noisy[2] else 2


@dp.program(sensitivity=1)
def aliased(answers, noise):
    out = []
    same = out
    for q in answers:
        if q + noise.laplace(2) > 0:
            same.append(True)
        else:
            out.append(False)
    return out


@dp.program(sensitivity=1)
def late(answers, noise):
    """Draws more noise on some ways than on others."""
    t = noise.laplace(2)
    for q in answers:
        if q > 3 and q + noise.laplace(4) >= t:
            yield q + noise.laplace(8)
        elif noise.laplace(4) > 2:
            yield "lucky"
        else:
            yield q + noise.laplace(8) + noise.laplace(4)


@dp.program(sensitivity=1)
def budget(answers, noise):
    spent = 0
    t = noise.laplace(4)
    for q in answers:
        if spent + 2 > 5:
            return
        if q + noise.laplace(8) > t:
            spent += 2
            yield 1
        else:
            yield 0


@dp.program(sensitivity=1)
def plain_int(answers, noise):
    t = noise.laplace(2)
    k = 0
    while k < len(answers):
        x = answers[k] + noise.laplace(4)
        k += 1
        if x < t:
            continue
        yield k
        return

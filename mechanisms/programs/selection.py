"""The programs of the published suites as Python functions, right ones and mistakes, each with what it has."""

import dpverify as dp

EVERY = {"eps": "positive", "c": "positive integer", "n": "positive integer"}


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999/1000*eps", "expect": "refuted"}])
def sparse_vector_1(answers, c, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 1."""
    t = noise.laplace(2 / eps)
    found = 0
    for answer in answers:
        if answer + noise.laplace(4 * c / eps) >= t:
            yield True
            found += 1
            if found == c:
                return
        else:
            yield False


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "n*eps/(2*c)"}, {"epsilon": "eps", "expect": "refuted"}])
def sparse_vector_3(answers, c, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 3 (Roth 2011): the noisy answer itself is told."""
    t = noise.laplace(2 / eps)
    found = 0
    for answer in answers:
        noisy = answer + noise.laplace(2 * c / eps)
        if noisy < t:
            yield None
        else:
            yield noisy
            found += 1
        if found >= c:
            break


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "(1 + 6*c)/4*eps"}, {"epsilon": "eps", "expect": "refuted"}])
def sparse_vector_4(answers, c, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 4 (Lee and Clifton 2014): too little noise on the answers."""
    t = noise.laplace(4 / eps)
    told = []
    found = 0
    i = 0
    while i < len(answers) and found < c:
        above = answers[i] + noise.laplace(4 / (3 * eps)) >= t
        told.append(above)
        found += above
        i += 1
    return told


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "1000*eps", "expect": "refuted"}])
def sparse_vector_5(answers, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 5 (Stoddard and others 2014): no noise on the answers."""
    t = noise.laplace(2 / eps)
    return [answer >= t for answer in answers]


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "n*eps/2"}, {"epsilon": "eps", "expect": "refuted"}])
def sparse_vector_6(answers, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 6 (Chen and others 2015): no limit of the answers above."""
    t = noise.laplace(2 / eps)
    return [answer + noise.laplace(2 / eps) >= t for answer in answers]


@dp.program(sensitivity=1, claims=[{"epsilon": 1}, {"epsilon": "0.999", "expect": "refuted"}])
def above_threshold_gap(answers, noise):
    """Wang and others 2020: the gap of the answer above is free."""
    t = noise.laplace(2)
    for answer in answers:
        gap = answer + noise.laplace(4) - t
        if gap >= 0:
            yield gap
            return
        yield "below"


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999/1000*eps", "expect": "refuted"}])
def above_threshold_fresh(answers, c, eps, noise):
    """The numeric sparse vector technique."""
    t = noise.laplace(3 / eps)
    found = 0
    for answer in answers:
        if found == c:
            return
        if answer + noise.laplace(6 * c / eps) >= t:
            found += 1
            yield answer + noise.laplace(3 * c / eps)
        else:
            yield None


@dp.program(sensitivity=1, claims=[{"epsilon": 1}, {"epsilon": "0.9999", "expect": "refuted"}])
def stream_adaptive(answers, noise):
    """Ding and others 2023: an answer far above costs one of the budget, another above costs two."""
    t = noise.laplace(2)
    cost = 0
    for q in answers:
        far = q + noise.laplace(16) - t
        near = q + noise.laplace(8) - t
        if far >= 5:
            yield "far above", far
            cost += 1
        elif near >= 0:
            yield "above", near
            cost += 2
        else:
            yield "below"
        if cost >= 3:
            return


@dp.program(sensitivity=1, claims=[{"epsilon": 1, "expect": "refuted"}])
def stream_adaptive_same_noise_told(answers, noise):
    """The same with a mistake: the noisy answer itself is told."""
    t = noise.laplace(2)
    cost = 0
    for q in answers:
        far = q + noise.laplace(16)
        if far - t >= 5:
            yield "far above", far
            cost += 1
        else:
            near = q + noise.laplace(8) - t
            if near < 0:
                yield "below"
                continue
            yield "above", near
            cost += 2
        if cost >= 3:
            return


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 2}, {"epsilon": "1.9999", "expect": "refuted"}])
def stream_smart_sums(answers, noise):
    """Chan, Shi and Song 2011: within a block of three the noisy sum goes on; at its end the exact sum gets noise of its own."""
    running, block, place = 0, 0, 0
    for q in answers:
        if place == 2:
            running = block + q + noise.laplace(1)
            block, place = 0, 0
        else:
            running += q + noise.laplace(1)
            block += q
            place += 1
        yield running


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 1000, "expect": "refuted"}])
def stream_bad_smart_sums(answers, noise):
    """The same with a mistake: sums of blocks are told without noise."""
    running, block, place = 0, 0, 0
    for q in answers:
        if place == 2:
            running = block + q
            block, place = 0, 0
        else:
            running += q + noise.laplace(1)
            block += q
            place += 1
        yield running


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 1}, {"epsilon": "0.9999", "expect": "refuted"}])
def stream_prefix_sums(answers, noise):
    """Noisy prefix sums."""
    total = 0
    for q in answers:
        total += q + noise.laplace(1)
        yield total


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 1}, {"epsilon": "0.9999", "expect": "refuted"}])
def partial_sum(answers, noise):
    """The sum of all answers."""
    total = 0
    for q in answers:
        total += q
    return total + noise.laplace(1)


@dp.program(sensitivity=1, claims=[{"epsilon": 1}, {"epsilon": "0.9999", "expect": "refuted"}])
def stream_range(answers, noise):
    """DiPAut: which side of a noisy interval the first answer outside of it is on."""
    low = noise.laplace(4)
    high = 1 + noise.laplace(4)
    for q in answers:
        x = q + noise.laplace(4)
        if low <= x < high:
            yield "inside"
        else:
            yield "left" if x < low else "right"
            return


@dp.program(sensitivity=1, claims=[{"epsilon": 1}, {"epsilon": "0.9999", "expect": "refuted"}])
def stream_min_max(answers, noise):
    """DiPAut: noisy least and greatest of two answers, then which side the first answer outside is on."""
    low = high = seen = 0
    for q in answers:
        if seen < 2:
            x = q + noise.laplace(8)
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
            y = q + noise.laplace(4)
            if y < low:
                yield "left"
                return
            if y >= high:
                yield "right"
                return
            yield "inside"


@dp.program(sensitivity=1, claims=[{"epsilon": 100, "expect": "refuted"}])
def stream_no_limit(answers, noise):
    """A mistake: no limit of the answers above."""
    t = noise.laplace(2)
    for q in answers:
        yield "above" if q + noise.laplace(2) >= t else "below"


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999999/1000000*eps", "expect": "refuted"}])
def noisy_max_laplace(answers, eps, noise):
    """Report noisy max, as it is written everywhere."""
    best = None
    where = 0
    for i, answer in enumerate(answers):
        noisy = answer + noise.laplace(2 / eps)
        if best is None or noisy > best:
            best = noisy
            where = i
    return where


@dp.program(sensitivity=1, claims=[{"epsilon": "n/2"}, {"epsilon": 1, "expect": "refuted"}])
def noisy_max_value(answers, noise):
    """A mistake: the greatest noisy answer itself."""
    return max(answer + noise.laplace(2) for answer in answers)


@dp.program(sensitivity=1, answers=25, claims=[{"epsilon": "1.24", "delta": "0.01"}])
def delta_above_threshold_gaussian(answers, noise):
    """DiPApprox: Gaussian noise, on all answers."""
    t = noise.gaussian(4)
    for answer in answers:
        above = answer + noise.gaussian(8) >= t
        yield above
        if above:
            return


@dp.program(sensitivity=1, answers=2, claims=[{"epsilon": "1/2", "delta": "0.0159542"}])
def delta_noisy_max_gaussian(answers, noise):
    """DiPApprox: the greatest with Gaussian noise."""
    noisy = [answer + noise.gaussian(4) for answer in answers]
    return noisy.index(max(noisy))


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 1}, {"epsilon": "0.999", "expect": "refuted"}])
def histogram(answers, noise):
    """StatDP: counts with noise, a record in one of them."""
    return [answer + noise.laplace(1) for answer in answers]


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999/1000*eps", "expect": "refuted"}])
def sparse_vector_2(answers, c, eps, noise):
    """Lyu, Su and Li 2017, Algorithm 2 (Dwork and Roth 2014): the threshold gets new noise after each answer above it."""
    t = noise.laplace(2 * c / eps)
    found = 0
    for answer in answers:
        if answer + noise.laplace(4 * c / eps) < t:
            yield False
            continue
        yield True
        t = noise.laplace(2 * c / eps)
        found += 1
        if found >= c:
            return


@dp.program(
    sensitivity=1, neighbours="increasing", parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999/1000*eps", "expect": "refuted"}]
)
def sparse_vector_increasing(answers, c, eps, noise):
    """CheckDP: answers that all rise, or stay, need half of the noise."""
    t = noise.laplace(2 / eps)
    left = c
    for answer in answers:
        if left == 0:
            return
        above = answer + noise.laplace(2 * c / eps) >= t
        left -= above
        yield above


@dp.program(
    sensitivity=1,
    neighbours="decreasing",
    parameters=EVERY,
    claims=[{"epsilon": "eps/2"}, {"epsilon": "499/1000*eps", "expect": "refuted"}],
)
def sparse_vector_decreasing(answers, c, eps, noise):
    """CheckDP: answers that all fall, or stay, lose half of that."""
    t = noise.laplace(2 / eps)
    found = i = 0
    while found < c and i < len(answers):
        above = answers[i] + noise.laplace(2 * c / eps) >= t
        yield above
        if above:
            found += 1
        i += 1


@dp.program(sensitivity=1, neighbours="one", claims=[{"epsilon": 1, "expect": "refuted"}, {"epsilon": 2}])
def bad_partial_sum(answers, noise):
    """CheckDP, a mistake: half of the noise."""
    return sum(answers) + noise.laplace(1 / 2)


@dp.program(
    sensitivity=1, neighbours="one", parameters={"eps": "in (0, 1)"}, claims=[{"epsilon": "eps", "expect": "refuted"}, {"epsilon": "1/eps"}]
)
def histogram_eps(answers, eps, noise):
    """StatDP, a mistake: the scale of the noise is upside down."""
    return [answer + noise.laplace(eps) for answer in answers]


@dp.program(sensitivity=1, parameters=EVERY, claims=[{"epsilon": "eps"}, {"epsilon": "999/1000*eps", "expect": "refuted"}])
def noisy_max_exponential(answers, eps, noise):
    """StatDP: the greatest with exponential noise."""
    noisy = [answer + noise.exponential(2 / eps) for answer in answers]
    return max(range(len(noisy)), key=lambda i: noisy[i])


@dp.program(sensitivity=1, claims=[{"epsilon": 1000, "expect": "refuted"}])
def noisy_max_exponential_value(answers, noise):
    """StatDP, a mistake: the greatest itself, below which exponential noise does not reach."""
    return max(answer + noise.exponential(2) for answer in answers)


@dp.program(inputs=["no", "yes"], claims=[{"epsilon": "log(3)"}, {"epsilon": "1.0986", "expect": "refuted"}])
def randomized_response(answer, noise):
    """Warner 1965: the truth if the first coin says so, else what the second says."""
    if noise.coin(1 / 2):
        return answer
    return "yes" if noise.coin(1 / 2) else "no"


@dp.program(inputs=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], claims=[{"epsilon": "2*log(3)"}, {"epsilon": "2.197", "expect": "refuted"}])
def one_time_rappor(bits, noise):
    """Erlingsson, Pihur and Korolova 2014: each bit of one's own value is told as it is, or turned around."""
    return [bit if noise.coin(3 / 4) else 1 - bit for bit in bits]

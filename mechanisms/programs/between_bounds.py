"""The suite of DiPApprox as Python functions: answers from 0 to 1, Gaussian and Laplace noise with eps = 1/2, right ones and leaky ones."""

import dpverify as dp

BETWEEN = [0, 1]


@dp.program(
    bounds=BETWEEN, answers=25, claims=[{"epsilon": "1.24", "delta": "0.01"}, {"epsilon": "0.5", "delta": "1/2000", "expect": "refuted"}]
)
def above_gaussian(answers, noise):
    """SVT-Gauss."""
    t = noise.gaussian(4)
    for answer in answers:
        if answer + noise.gaussian(8) >= t:
            yield True
            return
        yield False


@dp.program(
    bounds=BETWEEN, answers=25, claims=[{"epsilon": "1.24", "delta": "0.01"}, {"epsilon": "0.5", "delta": "1/2000", "expect": "refuted"}]
)
def below_gaussian(answers, noise):
    """SVT-Gauss-Ge: the first answer that is not above the threshold."""
    t = noise.gaussian(4)
    for answer in answers:
        below = answer + noise.gaussian(8) <= t
        yield below
        if below:
            return


@dp.program(bounds=BETWEEN, answers=5, claims=[{"epsilon": "1/2", "delta": "1/100", "expect": "refuted"}])
def above_gaussian_exact_threshold(answers, noise):
    """SVT-Gauss-Leaky-1, a mistake: no noise on the threshold. As published with eps = 8."""
    return next((i for i, answer in enumerate(answers) if answer + noise.gaussian(1 / 4) >= 0), None)


@dp.program(bounds=BETWEEN, answers=3, claims=[{"epsilon": 1000, "expect": "refuted"}])
def above_gaussian_exact_answers(answers, noise):
    """SVT-Gauss-Leaky-2, a mistake: no noise on the answers."""
    t = noise.gaussian(4)
    for answer in answers:
        yield answer >= t
        if answer >= t:
            return


@dp.program(bounds=BETWEEN, answers=5, claims=[{"epsilon": "1/2", "delta": "1/100", "expect": "refuted"}])
def below_gaussian_exact_threshold(answers, noise):
    """SVT-Gauss-Ge-Leaky-1, a mistake: no noise on the threshold."""
    return next((i for i, answer in enumerate(answers) if answer + noise.gaussian(1 / 4) <= 0), None)


@dp.program(bounds=BETWEEN, answers=3, claims=[{"epsilon": 1000, "expect": "refuted"}])
def below_gaussian_exact_answers(answers, noise):
    """SVT-Gauss-Ge-Leaky-2, a mistake: no noise on the answers."""
    t = noise.gaussian(4)
    for answer in answers:
        if answer <= t:
            yield "below"
            break
        yield "above"


@dp.program(bounds=BETWEEN, answers=5, claims=[{"epsilon": "0.41217"}, {"epsilon": "0.41216", "expect": "refuted"}])
def above_laplace(answers, noise):
    """SVT-Laplace."""
    t = noise.laplace(4)
    for answer in answers:
        above = answer + noise.laplace(8) >= t
        yield above
        if above:
            return


@dp.program(bounds=BETWEEN, answers=5, claims=[{"epsilon": "0.39646"}, {"epsilon": "0.39645", "expect": "refuted"}])
def below_laplace(answers, noise):
    """SVT-Laplace-Ge."""
    t = noise.laplace(4)
    for answer in answers:
        if answer + noise.laplace(8) > t:
            yield False
        else:
            yield True
            return


@dp.program(bounds=BETWEEN, answers=17, claims=[{"epsilon": "1.24", "delta": "0.01"}])
def above_mixed(answers, noise):
    """SVT-Mix1: Laplace noise on the threshold, Gaussian noise on the answers."""
    t = noise.laplace(4)
    for answer in answers:
        if answer + noise.gaussian(8) >= t:
            yield True
            return
        yield False


@dp.program(bounds=BETWEEN, answers=10, claims=[{"epsilon": "1.24", "delta": "0.01"}])
def above_mixed_the_other_way(answers, noise):
    """SVT-Mix2: Gaussian noise on the threshold, Laplace noise on the answers."""
    t = noise.gaussian(4)
    for answer in answers:
        if answer + noise.laplace(8) >= t:
            yield True
            return
        yield False


@dp.program(bounds=BETWEEN, answers=17, claims=[{"epsilon": "1.24", "delta": "0.01"}])
def below_mixed(answers, noise):
    """SVT-Mix1-Ge."""
    t = noise.laplace(4)
    for answer in answers:
        below = answer + noise.gaussian(8) <= t
        yield below
        if below:
            return


@dp.program(bounds=BETWEEN, answers=25, claims=[{"epsilon": "0.49138"}, {"epsilon": "0.49136", "expect": "refuted"}])
def greatest_gaussian(answers, noise):
    """Noisy-Max-Gauss."""
    noisy = [answer + noise.gaussian(8) for answer in answers]
    return noisy.index(max(noisy))


@dp.program(
    sensitivity=1, answers=4, claims=[{"epsilon": "1/2", "delta": "0.02"}, {"epsilon": "1/2", "delta": "0.0002", "expect": "refuted"}]
)
def least_gaussian(answers, noise):
    """Noisy-Min-Gauss, on all answers."""
    return min(range(len(answers)), key=lambda i: answers[i] + noise.gaussian(8))


@dp.program(sensitivity=1, answers=4, claims=[{"epsilon": "1/2"}, {"epsilon": "0.4999", "expect": "refuted"}])
def greatest_laplace(answers, noise):
    """Noisy-Max-Laplace, on all answers."""
    noisy = [answer + noise.laplace(4) for answer in answers]
    return max(range(len(noisy)), key=noisy.__getitem__)


@dp.program(sensitivity=1, answers=4, claims=[{"epsilon": "1/2"}, {"epsilon": "0.4999", "expect": "refuted"}])
def least_laplace(answers, noise):
    """Noisy-Min-Laplace, on all answers."""
    least, where = None, 0
    for i, answer in enumerate(answers):
        noisy = answer + noise.laplace(4)
        if least is None or noisy < least:
            least, where = noisy, i
    return where


@dp.program(
    bounds=BETWEEN, answers=2, claims=[{"epsilon": "1/2", "delta": "1/100"}, {"epsilon": "1/10", "delta": "1/10000", "expect": "refuted"}]
)
def two_ranges(answers, noise):
    """m-Range-Gauss with m = 2: two noisy intervals, until one of the two answers of a step leaves its own."""
    a, b, c, d = noise.gaussian(16), noise.gaussian(16), noise.gaussian(16), noise.gaussian(16)
    for q, p in answers:
        x = q + noise.gaussian(8)
        y = p + noise.gaussian(8)
        if x < a:
            yield "first left"
            return
        if x >= 1 + b:
            yield "first right"
            return
        if y < c:
            yield "second left"
            return
        if y >= 1 + d:
            yield "second right"
            return
        yield "inside"


@dp.program(bounds=BETWEEN, answers=4, claims=[{"epsilon": "1/2", "delta": "1/100"}])
def min_max_gaussian(answers, noise):
    """k-Min-Max-Gauss with k = 2: the noisy least and greatest of two answers, then which side the first answer outside is on."""
    low = high = seen = 0
    for q in answers:
        if seen < 2:
            x = q + noise.gaussian(16)
            if seen == 0:
                low = x
                high = x
            elif x < low:
                low = x
            else:
                high = x
            seen += 1
            yield "read"
            continue
        y = q + noise.gaussian(8)
        if y < low:
            yield "left"
            return
        if y >= high:
            yield "right"
            return
        yield "inside"

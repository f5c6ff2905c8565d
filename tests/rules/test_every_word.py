"""Selections on integers between bounds against all noises, answers, neighbours and sets of outputs in fractions (theory: selection.md)."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from dpverify.search.selection import every_word as searched
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Compose, Part, repeated
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import every_word
from dpverify.trusted.theories.selection.rules import every_word_curve as delta_every_word
from tests.selections import gaussian, largest, of, on_line, sparse

NEAR = 1e-25


def noise(masses):
    """Noise of these weights, and no others."""
    terms = " + ".join(f"{weight}*max(0, 1 - abs(z - ({n})))" for n, weight in masses.items())
    return on_line(terms, num(min(masses) - 1), num(max(masses) + 1), integers=True)


def law_of(masses):
    total = sum(masses.values())
    return {n: Fraction(weight, total) for n, weight in masses.items() if weight}


def joint(*laws):
    """All that some independent noises may be together, with the probabilities."""
    for points in itertools.product(*(law.items() for law in laws)):
        yield [n for n, _ in points], math.prod(p for _, p in points)


def of_max(law, q, at_random):
    told = Counter()
    for noises, p in joint(*[law] * len(q)):
        sums = [x + z for x, z in zip(q, noises, strict=True)]
        best = [i for i, x in enumerate(sums) if x == max(sums)]
        for i in best if at_random else best[:1]:
            told[i] += p / (len(best) if at_random else 1)
    return told


def of_threshold(thresholds, answers, q, centre, positives, resample, hangs=False):
    """thresholds, answers: laws; None for an exact threshold, and exact answers. q: of all queries, or where
    it hangs on what is told of two the first, and the second after a negative and after a positive.
    """
    zero, told = {0: Fraction(1)}, Counter()
    n = 2 if hangs else len(q)
    for noises, p in joint(*[thresholds or zero] * n, *[answers or zero] * n):
        drawn, word = 0, []
        for i, z in enumerate(noises[n:]):
            x = q[2] if hangs and word == [True] else q[i]
            word.append(x + z >= centre + noises[drawn])
            drawn += bool(word[-1] and resample)
            if sum(word) == positives:
                break
        told[tuple(word)] += p
    return told


def neighbours(q, low, high, moved, kind, hangs=False):
    for d in itertools.product(range(-moved, moved + 1), repeat=len(q)):
        up, down = all(x >= 0 for x in d), all(x <= 0 for x in d)
        alone = sum(x != 0 for x in d) <= 1 or (hangs and not d[0])  # of the last two one alone is asked for
        near = {"all": True, "monotone": up or down, "increasing": up, "decreasing": down, "one": alone}
        after = tuple(x + s for x, s in zip(q, d, strict=True))
        if near[kind] and all(low <= x <= high for x in after):
            yield after


def truth(laws, low, high, n, moved, kind, factor, hangs=False):
    """The greatest ratio of the probabilities of an output, None for none, and the greatest excess of a set of outputs."""
    ratio, excess = Fraction(1), Fraction(0)
    for q in itertools.product(range(low, high + 1), repeat=n):
        for after in neighbours(q, low, high, moved, kind, hangs):
            here, there = laws(q), laws(after)
            for word, p in here.items():
                if p:
                    ratio = None if ratio is None or not there[word] else max(ratio, p / there[word])
            excess = max(excess, sum(max(Fraction(0), p - factor * there[word]) for word, p in here.items()))
    return ratio, excess


def remembered(laws):
    found = {}
    return lambda q: found[q] if q in found else found.setdefault(q, laws(q))


def bounds_of(claim):
    (step,) = searched.propose(claim, 25)
    with precision(192):
        return {bound.side: bound for bound in every_word.check(claim, step["evidence"])}


def heights(mechanism, moved, epsilon):
    """Both bounds on delta."""
    run = Run(Part(mechanism, num(moved)))
    plan = dict(searched.plan(run, float(epsilon), None, False))
    assert plan.pop("rule") == delta_every_word.NAME
    with precision(192):
        found = delta_every_word.infer(run, plan, ())
        return [pair.worst(rational(epsilon)) for pair in (found.lower, found.upper)]


def drawn(seed, points=4):
    """Weights of a few integers, gaps among them."""
    pick = random.Random(seed)
    start = -pick.randint(0, points - 1)
    masses = {n: pick.choice((0, 1, 1, 2, 3, 7)) for n in range(start, start + points)}
    return masses if sum(map(bool, masses.values())) > 1 else {0: 1, 1: 2, 3: 1}


KINDS = ("all", "one", "monotone", "increasing", "decreasing")
EPSILON = Fraction(1, 2)


def agree(claim, least, most, moved, either=True):
    """least, most: the truths that the bounds from below and from above are about. either: whether the bounds of delta are both."""
    bounds = bounds_of(claim)
    if least[0] is None:
        assert isinstance(bounds["lower"].value, Infinite) and "upper" not in bounds
    else:
        assert math.isclose(float(bounds["lower"].value.value), math.log(least[0]), abs_tol=1e-12)
        with precision(192):
            assert rational(bounds["lower"].value.value) <= rational(least[0]).log() + NEAR
    if most[0] is None:
        assert "upper" not in bounds
    else:
        assert math.isclose(float(bounds["upper"].value.value), math.log(most[0]), abs_tol=1e-12)
        with precision(192):
            assert rational(bounds["upper"].value.value) >= rational(most[0]).log() - NEAR
    below, above = heights(claim.mechanism, moved, EPSILON)
    assert abs(float(below) - float(least[1])) < 1e-12
    assert abs(float(above) - float(most[1])) < 1e-12 or (above >= most[1] and not either)


def factor_of(epsilon):
    with precision(256):
        mantissa, exponent = map(int, rational(epsilon).exp().mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


@pytest.mark.parametrize("seed", range(20))
def test_noisy_max_of_any_finite_law(seed):
    pick = random.Random(1000 + seed)
    kind, n, high, moved = KINDS[seed % 5], pick.choice((2, 2, 3)), pick.choice((1, 2)), pick.choice((1, 1, 2))
    masses = drawn(seed)
    claim = of(largest(noise(masses), n, neighbours=kind, bounds=(num(0), num(high))), sensitivity=moved)
    found = [
        truth(remembered(lambda q, ties=ties: of_max(law_of(masses), q, ties)), 0, high, n, moved, kind, factor_of(EPSILON))
        for ties in (True, False)
    ]
    agree(claim, *found, moved)


@pytest.mark.sampled(13)
@pytest.mark.parametrize("seed", range(25))
def test_above_threshold_of_any_finite_law(seed):
    pick = random.Random(2000 + seed)
    kind, n, high, moved = KINDS[seed % 5], pick.choice((2, 2, 3)), pick.choice((1, 2)), pick.choice((1, 1, 2))
    positives, resample, centre = pick.choice((None, 1, 2)) if n == 2 else 1, pick.random() < 0.4, pick.choice((0, 1, Fraction(1, 2)))
    both = [drawn(seed + more, 4 if n == 2 else 3) for more in (0, 50)]
    first, second = (None if seed % 7 == 3 else both[0]), (None if seed % 7 == 5 else both[1])
    made = (None if one is None else noise(one) for one in (first, second))
    laws = [None if one is None else law_of(one) for one in (first, second)]
    mechanism = sparse(*made, n, positives, neighbours=kind, bounds=(num(0), num(high)), resample=resample, threshold=num(centre))
    hangs = positives != 1  # the second answer on whether the first was positive
    found = truth(
        remembered(lambda q: of_threshold(*laws, q, centre, positives, resample, hangs)),
        0, high, 3 if hangs else n, moved, kind, factor_of(EPSILON), hangs,
    )  # fmt: skip
    # from above the way that all go may hang on what is told
    agree(of(mechanism, sensitivity=moved), found, found, moved, either=not (hangs and kind == "monotone"))


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("positives", [None, 1, 2])
def test_probabilities_of_words(positives, resample):
    both, q = ({-1: 2, 0: 1, 2: 3}, {-2: 1, 0: 5, 1: 1}), (0, 2, 1)
    mechanism = sparse(*map(noise, both), 3, positives, bounds=(num(0), num(2)), resample=resample, threshold=num(1))
    words = every_word.Words.of(asked(of(mechanism), {}, every_word.NAME, near=True), {"cuts": [-9, 9]})
    truth = of_threshold(*map(law_of, both), q, 1, positives, resample)
    asked_for = {word: tuple((x,) for x in q[: len(word)]) for word in words.ways}
    found = {tuple(told == "yes" for told, _ in word): words.chance(every_word.Output(word), q) for word, q in asked_for.items()}
    assert {word: round(float(p), 12) for word, p in found.items() if p != 0} == {word: round(float(p), 12) for word, p in truth.items()}


TWO_MODES = on_line("exp(-abs(abs(z) - 1))", integers=True)


def test_two_modes_on_all_integers():
    """Against all noises up to 45: beyond there is 1e-18 of them."""
    weights = {n: math.exp(-abs(abs(n) - 1)) for n in range(-45, 46)}
    total = sum(weights.values())

    def chance(gap, ties):
        """That the first of two is the greatest, as far above."""
        found = 0.0
        for z, p in weights.items():
            for y, w in weights.items():
                found += p * w * (1.0 if z + gap > y else ties if z + gap == y else 0.0)
        return found / total**2

    half, whole = ({gap: chance(gap, ties) for gap in range(-3, 4)} for ties in (0.5, 1.0))
    least = max(math.log(half[gap] / half[gap - 2]) for gap in range(-1, 4))
    most = max(
        *(math.log(whole[gap] / whole[gap - 2]) for gap in range(-1, 4)),
        *(math.log((1 - whole[gap - 2]) / (1 - whole[gap])) for gap in range(-1, 4)),
    )
    bounds = bounds_of(of(largest(TWO_MODES, 2, bounds=(num(0), num(3)))))
    assert math.isclose(float(bounds["lower"].value.value), least, rel_tol=1e-12)
    assert math.isclose(float(bounds["upper"].value.value), most, rel_tol=1e-12)


def test_an_output_of_one_neighbour_alone():
    found = verify(of(largest(noise({-1: 1, 0: 1, 1: 1}), 2, bounds=(num(0), num(3))), epsilon=50))
    assert found.judgement.verdict == "REFUTED"
    assert "answer 2 is the greatest" in found.judgement.witness["event"] or "answer 1" in found.judgement.witness["event"]


@pytest.mark.parametrize(
    "mechanism",
    [
        largest(TWO_MODES, 2),
        largest(TWO_MODES, 2, bounds=(num(0), num(10**30))),
        largest(TWO_MODES, 9, bounds=(num(0), num(3))),
        largest(gaussian(1), 2, bounds=(num(0), num(3))),
        sparse(TWO_MODES, gaussian(1), 2, bounds=(num(0), num(3)), whole_answers=True),
        sparse(None, None, 2, bounds=(num(0), num(3))),
        largest(TWO_MODES, 2, bounds=(parse("1/4"), parse("3/4"))),
    ],
)
def test_what_it_is_not_about(mechanism):
    with pytest.raises(Rejected):
        every_word.check(of(mechanism), {"cuts": [-20, 20]})


def test_what_is_told_is_read():
    claim = of(largest(TWO_MODES, 2, bounds=(num(0), num(3))))
    for cuts in (None, [1], ["-4", "4"], [True, 9]):
        with pytest.raises(CertificateError):
            every_word.check(claim, {"cuts": cuts})
    with pytest.raises(Rejected):
        every_word.check(claim, {"cuts": [5, -5]})
    run = Run(Part(claim.mechanism, num(1)))
    for pair, error in ((None, TypeError), ([], ValueError), ([[[0, 0], [2, 2]]], Rejected), ([[[0, 0], [0, 4]]], Rejected)):
        with pytest.raises(error):
            delta_every_word.infer(run, {"cuts": [-20, 20], "pair": pair}, ())


def test_few_cuts_enclose_less():
    """What is beyond the cuts is between none and all of it: bounds from near cuts hold, and are wider."""
    claim = of(largest(TWO_MODES, 2, bounds=(num(0), num(1))))
    near, far = ({b.side: float(b.value.value) for b in every_word.check(claim, {"cuts": [-c, c]})} for c in (8, 60))
    assert near["lower"] < far["lower"] < far["upper"] < near["upper"]


def test_two_runs_at_any_answers_of_each():
    """Each run may have answers of its own; the second hangs on nothing that the first told, so that the truth is at least as found."""
    masses = {-2: 1, -1: 3, 0: 1, 1: 3, 2: 1}
    mechanism = largest(noise(masses), 2, bounds=(num(0), num(1)))
    found = verify(Claim(Compose((repeated(Part(mechanism, num(1)), num(2)),)), parse("1/2"), parse("1/4"))).judgement
    worst = {}
    for ties in (True, False):
        laws = remembered(lambda q, ties=ties: {i: float(p) for i, p in of_max(law_of(masses), q, ties).items()})
        near = [(laws(q), laws(p)) for q in itertools.product((0, 1), repeat=2) for p in neighbours(q, 0, 1, 1, "all")]
        worst[ties] = max(
            sum(max(0.0, p[i] * r[j] - math.exp(0.5) * q[i] * s[j]) for i in range(2) for j in range(2)) for p, q in near for r, s in near
        )
    with precision(64):
        low, high = (float(enclose(value).mid()) for value in (found.delta_lower, found.delta_upper))
    assert low <= worst[True] + 1e-9 and worst[False] <= high + 1e-9
    assert low > worst[True] / 2 and high < 2 * worst[False]

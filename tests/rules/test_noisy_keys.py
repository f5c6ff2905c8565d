"""Noisy counts by key above a threshold (theory#noisy-keys), held against what their definition gives by enumeration and closed forms."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpverify.search.composition.privacy_profile import curve_of
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Compose, NoisyKeys, Part, Radial, Repeat, Subsample, Table, Translation
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.selection.rules import noisy_keys
from tests.refused import Refusals, each, require_refused

LAPLACE = Radial(parse("exp(-r)"), L1, parse("1"), parse("2"))
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, parse("1"), parse("3"))
WHOLE = Translation(parse("exp(-abs(z)/2)"), integers=True)
LOPSIDED = Translation(parse("exp(-max(z, -2*z)/2)"), integers=True)
GEOMETRIC = Translation(parse("exp(-z)"), (parse("0"), None), integers=True)
FAR = 60


def of(noise, threshold, keys=1, moved="1", report="counts"):
    return NoisyKeys(noise, parse(str(threshold)), parse(str(keys)), report), parse(moved)


def claimed(mechanism, epsilon, delta=None, order="", moved="1"):
    return Claim(mechanism, parse(epsilon), None if delta is None else parse(delta), sensitivity=parse(moved), order=order)


def bounds(judgement):
    return float(constant(judgement.delta_lower)), float(constant(judgement.delta_upper))


# -- by enumeration -----------------------------------------------------------------------------------------------


def law_of_noise(weight):
    at = np.arange(-FAR, FAR + 1)
    masses = np.array([weight(int(z)) for z in at])
    return dict(zip(at.tolist(), (masses / masses.sum()).tolist(), strict=True))


def told(noise, count, threshold, report):
    """What is told of one key, with its probability; None where it is not told, or not looked at."""
    if count == 0:
        return {None: 1.0}
    law: dict[object, float] = {None: 0.0}
    for z, mass in noise.items():
        if count + z >= threshold:
            what = count + z if report == "counts" else "yes"
            law[what] = law.get(what, 0.0) + mass
        else:
            law[None] += mass
    return law


def together(laws):
    """The law of what is told of several keys."""
    found = {(): 1.0}
    for law in laws:
        found = {(*words, word): p * q for words, p in found.items() for word, q in law.items() if p * q > 1e-18}
    return found


def hockey_stick(p, q, epsilon):
    return sum(max(0.0, mass - math.exp(epsilon) * q.get(word, 0.0)) for word, mass in p.items())


def by_enumeration(weight, threshold, keys, moved, report, epsilon, counts):
    """The greatest delta in both orders, over counts without the record and what it adds."""
    noise = law_of_noise(weight)
    laws = {count: told(noise, count, threshold, report) for count in range(max(counts) + moved + 1)}
    best = [0.0, 0.0]
    for without in itertools.combinations_with_replacement(counts, keys):
        for added in itertools.product(range(moved + 1), repeat=keys):
            more, less = together(laws[c + a] for c, a in zip(without, added, strict=True)), together(laws[c] for c in without)
            best = [max(best[0], hockey_stick(more, less, epsilon)), max(best[1], hockey_stick(less, more, epsilon))]
    return best


WEIGHTS = {
    "discrete Laplace": (WHOLE, lambda z: math.exp(-abs(z) / 2)),
    "lopsided": (LOPSIDED, lambda z: math.exp(-max(z, -2 * z) / 2)),
    "geometric": (GEOMETRIC, lambda z: math.exp(-z) if z >= 0 else 0.0),
}


@pytest.mark.parametrize("report", ["counts", "keys"])
@pytest.mark.parametrize(
    ("name", "threshold", "keys", "moved", "epsilon"),
    [
        ("discrete Laplace", 4, 1, 1, "1/4"), ("discrete Laplace", 4, 1, 1, "1/2"), ("discrete Laplace", 6, 1, 2, "1/2"),
        ("discrete Laplace", 5, 2, 1, "1/2"), ("discrete Laplace", 1, 1, 1, "1/4"), ("discrete Laplace", 4, 1, 1, "0"),
        ("lopsided", 5, 1, 1, "1/2"), ("lopsided", 5, 1, 2, "1"), ("geometric", 4, 1, 1, "1/2"), ("geometric", 3, 2, 1, "2"),
    ],
)  # fmt: skip
def test_bounds_hold_against_enumeration(name, threshold, keys, moved, epsilon, report):
    noise, weight = WEIGHTS[name]
    mechanism, _ = of(noise, threshold, keys, report=report)
    counts = [*range(12), 40] if keys == 1 else [0, 1, 2, 4, 6, 40]
    truth = by_enumeration(weight, threshold, keys, moved, report, float(Fraction(epsilon)), counts)
    for order, true in (("one-sided", truth[0]), ("reverse", truth[1]), ("", max(truth))):
        low, high = bounds(verify(claimed(mechanism, epsilon, order=order, moved=str(moved))).judgement)
        assert low <= true + 1e-9  # counts as large as may be are nearly reached
        assert true <= high + 1e-12
        if not order and (keys == 1 or report == "counts") and name == "discrete Laplace":
            assert high == pytest.approx(true, rel=1e-6)
            assert low == pytest.approx(true, rel=1e-6)


# -- by closed forms ----------------------------------------------------------------------------------------------


def laplace_delta(shift, epsilon):
    """Of Laplace noise of scale 1 at a shift."""
    return max(0.0, -math.expm1((epsilon - shift) / 2)) if epsilon >= -shift else -math.expm1(epsilon)


@pytest.mark.parametrize(("threshold", "epsilon"), [(25, 0.5), (25, 0.25), (9, 0.25), (9, 0.5), (40, 0.499)])
def test_one_laplace_key_loses_the_worse_of_noise_and_of_being_new(threshold, epsilon):
    mechanism, _ = of(LAPLACE, threshold)
    truth = max(laplace_delta(0.5, epsilon), math.exp(-(threshold - 1) / 2) / 2)
    low, high = bounds(verify(claimed(mechanism, str(Fraction(epsilon).limit_denominator(1000)))).judgement)
    assert low == pytest.approx(truth, rel=1e-12)
    assert high == pytest.approx(truth, rel=1e-12)


def normal_tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


def gaussian_delta(mu, epsilon):
    if not mu:
        return max(0.0, -math.expm1(epsilon))
    return normal_tail(epsilon / mu - mu / 2) - math.exp(epsilon) * normal_tail(epsilon / mu + mu / 2)


@pytest.mark.parametrize(("threshold", "keys", "epsilon"), [(10, 4, 1), (12, 30, 2), (8, 100, 3), (20, 100, 1)])
def test_gaussian_keys_lose_most_at_the_worst_number_of_new_ones(threshold, keys, epsilon):
    p = normal_tail((threshold - 1) / 3)

    def with_new(new):
        none = new * math.log1p(-p)
        mu = math.sqrt(keys - new) / 3
        first = -math.expm1(none) + math.exp(none) * gaussian_delta(mu, epsilon - none)
        return max(first, gaussian_delta(mu, epsilon + none))

    truth = max(map(with_new, range(keys + 1)))
    mechanism, _ = of(GAUSSIAN, threshold, keys)
    low, high = bounds(verify(claimed(mechanism, str(epsilon))).judgement)
    assert low == pytest.approx(truth, rel=1e-9)
    assert high == pytest.approx(truth, rel=1e-9)
    found = verify(Claim(mechanism, None, parse(str(Fraction(truth).limit_denominator(10**12))), sensitivity=parse("1"))).judgement
    assert float(constant(found.lower)) == pytest.approx(epsilon, rel=1e-6)
    assert float(constant(found.upper)) == pytest.approx(epsilon, rel=1e-6)


def test_the_order_without_the_record_loses_less():
    mechanism, _ = of(LAPLACE, 9)
    first, other = (bounds(verify(claimed(mechanism, "1/2", order=order)).judgement) for order in ("one-sided", "reverse"))
    p = math.exp(-4) / 2
    assert first == pytest.approx((p, p), rel=1e-9)
    assert other == pytest.approx((0, 0), abs=1e-9)  # 1 - exp(1/2) (1 - p) is below 0, and the noise has a pure epsilon of 1/2


# -- as parts -----------------------------------------------------------------------------------------------------


def won(left, epsilon, loss, before=()):
    """The most that is won by who chooses, after each output, which of the copies left is next and which of its pairs it has.

    left: for each mechanism its pairs and how many copies; before: pairs of what leaves nothing to choose, told before.
    """

    @cache
    def most(loss, counts):
        if math.isinf(loss) or not any(counts):
            return -math.expm1(min(0.0, epsilon - loss))
        rests = [tuple(n - (i == j) for j, n in enumerate(counts)) if counts[i] else None for i in range(len(left))]
        after = ((losses, rest) for (pairs, _), rest in zip(left, rests, strict=True) for losses in pairs if rest is not None)
        return max(sum(mass * most(round(loss + more, 9), rest) for more, mass in losses) for losses, rest in after)

    if before:
        return sum(mass * won(left, epsilon, loss + more, before[1:]) for more, mass in before[0])
    return most(round(loss, 9), tuple(count for _, count in left))


def losses_of(p, q):
    """What is lost at each output, and P's mass there; outputs of one loss together."""
    found: dict[float, float] = {}
    for word, mass in p.items():
        loss = round(math.log(mass / q[word]), 9) if q.get(word) else math.inf
        found[loss] = found.get(loss, 0.0) + mass
    return tuple(found.items())


def losses_of_a_key(weight, threshold, order=1):
    """Of a new key, and of one with a large count; the other order where it is -1."""
    noise = law_of_noise(weight)
    laws = {count: told(noise, count, threshold, "counts") for count in (0, 1, 40, 41)}
    return [losses_of(*(laws[c + 1], laws[c])[::order]) for c in (0, 40)]


@pytest.mark.parametrize(
    ("thresholds", "beside", "epsilon"),
    [
        ({5: 2}, True, "3/4"),
        pytest.param({6: 2}, False, "3/4", marks=pytest.mark.wide),
        pytest.param({3: 1, 5: 1}, True, "1", marks=pytest.mark.wide),
        pytest.param({4: 2, 8: 2}, False, "1", marks=pytest.mark.wide),
    ],
)
def test_which_keys_are_asked_about_is_chosen_after_what_was_told(thresholds, beside, epsilon):
    parts = [Part(Repeat(Part(of(WHOLE, tau)[0], parse("1")), parse(str(times)))) for tau, times in thresholds.items()]
    noise = Translation(parse("exp(-abs(z)/4)"), integers=True)
    mechanism = Compose((*parts, *(Part(noise, parse("1")),) * beside))
    law = law_of_noise(lambda z: math.exp(-abs(z) / 4))
    before = [losses_of({z + 1: mass for z, mass in law.items()}, law)] * beside
    for order, side in (("one-sided", 1), ("reverse", -1)):
        left = [(losses_of_a_key(WEIGHTS["discrete Laplace"][1], tau, side), times) for tau, times in thresholds.items()]
        truth = won(left, float(Fraction(epsilon)), 0.0, before)
        low, high = bounds(verify(Claim(mechanism, parse(epsilon), None, order=order)).judgement)
        assert low <= truth * (1 + 1e-6) and truth <= high * (1 + 1e-6)
        assert high - low < 1e-3 * truth
        claims = [Claim(mechanism, parse(epsilon), parse(str(truth * share)), order=order) for share in (1.002, 0.998)]
        assert [verify(claim).judgement.verdict for claim in claims] == ["PROVED", "REFUTED"]


@pytest.mark.parametrize(
    ("rows", "threshold", "epsilon"),
    [
        ((("1", "0"), ("9/10", "1/10")), 8, "1"),
        pytest.param((("3/4", "1/8", "1/8"), ("1/5", "3/5", "1/5")), 4, "0", marks=pytest.mark.wide),
    ],
)
def test_the_inputs_of_tables_may_have_the_record_in_either_order(rows, threshold, epsilon):
    table = Table(tuple(tuple(map(parse, row)) for row in rows))
    keys, _ = of(WHOLE, threshold, report="keys")
    mechanism = Compose((Part(Repeat(Part(table), parse("2"))), Part(keys, parse("1"))))
    noise = law_of_noise(WEIGHTS["discrete Laplace"][1])
    new, none = told(noise, 1, threshold, "keys"), told(noise, 0, threshold, "keys")
    laws = [{i: float(Fraction(mass)) for i, mass in enumerate(row) if mass != "0"} for row in rows]
    for order, pair in (("one-sided", (new, none)), ("reverse", (none, new))):
        both = [(together([a, a, pair[0]]), together([b, b, pair[1]])) for a, b in itertools.permutations(laws)]
        truth = max(hockey_stick(first, second, float(Fraction(epsilon))) for first, second in both)
        low, high = bounds(verify(Claim(mechanism, parse(epsilon), None, order=order)).judgement)
        assert low <= high and truth <= high + 1e-9
        below = verify(Claim(mechanism, parse(epsilon), parse(str(truth * 0.999)), order=order)).judgement
        assert below.verdict != "PROVED"


def test_what_is_reached_by_choosing_is_no_pair_to_build_on():
    """In a sample, and beside what is not chosen, the lower bound is that of two neighbours."""
    inner = Part(Compose((Part(Repeat(Part(of(WHOLE, 6)[0], parse("1")), parse("2"))),)))
    laws = [tuple(losses) for losses in losses_of_a_key(WEIGHTS["discrete Laplace"][1], 6)]
    fixed = max(won([([one], 1), ([other], 1)], 0.75, 0.0) for one, other in itertools.product(laws, repeat=2))
    curve = curve_of(Claim(inner.mechanism, None), 10, lambda _: None).says
    with precision(64):
        assert float(curve.lower.forward(constant(parse("3/4"))).mid()) <= fixed * (1 + 1e-9)


def test_a_poisson_sample_has_the_mixture_with_the_record():
    rate, epsilon, p = 0.1, 0.05, math.exp(-2.5) / 2
    sample = Subsample(Part(of(LAPLACE, 6)[0], parse("1")), parse("1/10"))
    inner = math.log1p(math.expm1(epsilon) / rate)
    truth = rate * max(p, laplace_delta(0.5, inner))
    low, high = bounds(verify(Claim(sample, parse("1/20"), None)).judgement)
    assert low <= truth * (1 + 1e-9)
    assert high == pytest.approx(truth, rel=1e-6)


def test_no_epsilon_holds_alone():
    mechanism, _ = of(LAPLACE, 25)
    assert verify(claimed(mechanism, "100", "0")).judgement.verdict == "REFUTED"
    exact = Fraction(math.exp(-12) / 2)
    assert verify(claimed(mechanism, "1/2", str(exact * Fraction(100001, 100000)))).judgement.verdict == "PROVED"
    assert verify(claimed(mechanism, "1/2", str(exact * Fraction(99999, 100000)))).judgement.verdict == "REFUTED"


# -- what is refused ------------------------------------------------------------------------------------------------


def asked(noise=LAPLACE, threshold=9, keys=2, moved="1", report="counts", factor="1", **parameters):
    run = Run(Part(of(noise, threshold, keys, report=report)[0], parse(moved)), parse(factor))
    noises = parameters.pop("noises", [keys - new for new in parameters.get("new", []) if new < keys])

    def ask():
        proof = Proof(Claim(run.part.mechanism, None, sensitivity=run.part.sensitivity))
        facts = [proof.infer("laplace-sums" if count > 1 else "laplace", ({"noises": count},)) for count in noises]
        return noisy_keys.infer(run, parameters, facts)

    return ask


REFUSED: Refusals = {
    "several records": (asked(factor="2", new=[0, 1, 2]), "it is not noisy keys, of neighbours that differ by one record"),
    "numbers that do not rise": (asked(new=[0, 2, 1], noises=[2, 1]), "they do not rise from 0"),
    "numbers that leave out the first": (asked(new=[1, 2], noises=[1]), "they do not rise from 0"),
    "more new keys than a record has": (asked(new=[0, 1, 2, 3]), "not a whole number from 0 to 2"),
    "noises of too few keys": (asked(new=[0, 1, 2], noises=[1, 1]), "a premise is not about the curve"),
    "a threshold that is no rational number": (asked(threshold="sqrt(90)", new=[0, 1, 2]), "want rational numbers"),
    "a record that adds nothing": (asked(moved="0", keys=1, new=[0, 1]), "the latter above 0"),
    "a count that nobody has": (asked(report="keys", new=[0, 1, 2], below=0, count="0"), "no key that others have has it"),
}  # fmt: skip


@each(REFUSED)
def test_what_does_not_cover_every_record_is_refused(asked, why):
    require_refused(asked, why)


def test_a_new_key_that_is_always_told_has_no_bound():
    noise = Translation(parse("exp(-z)"), (parse("0"), None))
    first = noisy_keys.First(of(noise, 1)[0], ONE, [Fraction(0), Fraction(1), Fraction(8)])
    with precision(64), pytest.raises(Undecided, match="a new key is not certainly at times not told"):
        first.beside(noisy_keys.nothing, 1)


@pytest.mark.parametrize("count", ["1/2", "0", "-1"])
def test_a_count_that_no_key_has_is_refused(count):
    first = noisy_keys.First(of(WHOLE, 4)[0], ONE, [Fraction(-20), Fraction(20)])
    with precision(64), pytest.raises(Rejected, match="no key that others have has it"):
        first.counted(Fraction(count))


def test_integers_move_by_whole_steps():
    with pytest.raises(Rejected, match="it is no integer, as the counts are"):
        noisy_keys.First(of(WHOLE, 4)[0], parse("1/2"), [])
    mechanism, _ = of(WHOLE, 4)
    assert verify(claimed(mechanism, "1", moved="1/2")).judgement.verdict == "UNKNOWN"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"keys": "0"}, "keys = 0 is not certainly an integer of at least 1"),
        ({"keys": "3/2"}, "keys = 3/2 is not certainly an integer of at least 1"),
        ({"report": "all"}, "a report or neighbours that noisy_keys does not have"),
    ],
)
def test_a_claim_that_means_nothing_is_refused(changed, why):
    with pytest.raises(CertificateError, match=why):
        verify(claimed(of(LAPLACE, 9, **changed)[0], "1"))


def test_neighbours_are_by_adding_or_removing_a_record():
    sample = Subsample(Part(of(LAPLACE, 6)[0], parse("1")), parse("1/10"), "without_replacement")
    with pytest.raises(CertificateError, match="noisy_keys of add-remove"):
        verify(Claim(sample, parse("1"), None))


@pytest.mark.parametrize("order", ["one-sided", "reverse"])
@pytest.mark.parametrize(("noise", "sharp"), [(LAPLACE, 1e-6), (GAUSSIAN, 1e-6), (WHOLE, 1e-9)], ids=["laplace", "gaussian", "whole"])
def test_keys_alone_are_enclosed_in_each_order(order, noise, sharp):
    mechanism, moved = of(noise, 9, report="keys")
    for claim in (claimed(mechanism, "1/4", order=order), Claim(mechanism, None, parse("1/50"), sensitivity=moved, order=order)):
        judged = verify(claim).judgement
        low, high = bounds(judged) if claim.epsilon is not None else (float(constant(judged.lower)), float(constant(judged.upper)))
        assert 0 < low <= high <= low * (1 + sharp) + 1e-9

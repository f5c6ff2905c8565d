"""Curves of noise on the integers against sums by mpmath, and of staircase noise against its areas step by step."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from flint import arb

from dpverify.report import delta_enclosure
from dpverify.search.events import probabilities
from dpverify.search.verify import verify
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.assumptions import EVERY
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Compose, Group, Lipschitz, Part, PostProcess, Query, Radial, Staircase, Translation
from dpverify.trusted.numbers.lattice_sums import term
from dpverify.trusted.order.enclosed import whole
from dpverify.trusted.theories.curves import integers, unimodal
from dpverify.trusted.theories.curves.rules import lattice as rule
from tests.told import lattice as curve

MP = mpmath.mp.clone()
MP.dps = 60


def on_integers(text, lower=None, upper=None):
    return Translation(parse(text), (None if lower is None else parse(lower), None if upper is None else parse(upper)), integers=True)


def at(noise, shift, epsilon, bits=64, order="upper"):
    with precision(bits):
        found = curve(noise, Sensitivity(parse(shift), parse(shift)))
        pair = found.upper if order == "upper" else found.lower
        return (pair.backward if order == "backward" else pair.forward)(epsilon)


def close(ball, number, digits):
    number = MP.mpf(number)
    gap = abs(MP.mpf(ball.mid().str(50, radius=False)) - number)
    assert gap <= MP.mpf(ball.rad().str(10, radius=False, more=True)) * 2 + abs(number) * MP.mpf(10) ** -45, (ball, number)
    assert ball.rel_accuracy_bits() > digits * 3.3219, (ball, number)


def eps(text):
    point = arb(text).mid()
    return point, MP.mpf(point.str(60, radius=False))


def term_by_term(p, shift, epsilon, far=300):
    k, span = MP.exp(epsilon), range(-far, far + 1)
    return MP.fsum(max(MP.mpf(0), p(n) - k * p(n - shift)) for n in span) / MP.fsum(p(n) for n in span)


LAWS = {
    "laplace": (on_integers("exp(-abs(z)/2)"), lambda n: MP.exp(-MP.mpf(abs(n)) / 2)),
    "gauss": (on_integers("exp(-z**2/18)"), lambda n: MP.exp(-(MP.mpf(n) ** 2) / 18)),
    "moved gauss": (on_integers("exp(-(z - 5)**2/8)"), lambda n: MP.exp(-(MP.mpf(n - 5) ** 2) / 8)),
    "half-way gauss": (on_integers("exp(-(z - 1/2)**2/8)"), lambda n: MP.exp(-((n - MP.mpf(1) / 2) ** 2) / 8)),
    "logistic": (on_integers("exp(-z)/(1 + exp(-z))**2"), lambda n: MP.sech(MP.mpf(n) / 2) ** 2),
    "far": (on_integers("exp(-abs(z - 400))"), lambda n: MP.exp(-MP.mpf(abs(n)))),
    "mixture": (on_integers("exp(-z**2/2) + exp(-z**2/50)"), lambda n: MP.exp(-(MP.mpf(n) ** 2) / 2) + MP.exp(-(MP.mpf(n) ** 2) / 50)),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("shift", ["1", "3"])
def test_curves_agree_with_sums(name, shift):
    noise, p = LAWS[name]
    for text in ("0", "0.3", "0.75"):
        point, exact = eps(text)
        number = term_by_term(p, int(shift), exact)
        if number > MP.mpf(10) ** -40:
            close(at(noise, shift, point), number, 12)


def test_more_bits_give_more_digits():
    noise, p = LAWS["gauss"]
    point, exact = eps("1")
    close(at(noise, "1", point, bits=110), term_by_term(p, 1, exact), 20)


def test_discrete_laplace_in_closed_form():
    # whole shifts: S = {n <= k} with k the floor of (shift - epsilon/rate)/2; no more than rate * shift is lost
    rate, shift = MP.mpf(1) / 2, 2
    noise = LAWS["laplace"][0]
    point, exact = eps("0.3")
    below = lambda k: MP.exp(rate * k) / (1 + MP.exp(-rate)) if k <= 0 else 1 - MP.exp(-rate * (k + 1)) / (1 + MP.exp(-rate))  # noqa: E731
    k = int(MP.floor((shift - exact / rate) / 2))
    close(at(noise, "2", point), below(k) - MP.exp(exact) * below(k - shift), 12)
    assert at(noise, "2", arb(1)) < arb("1e-15")
    assert at(noise, "2", arb("1.01").mid()) == 0


def test_a_tie_adds_nothing():
    noise = on_integers("exp(-abs(z)/3)")
    found = at(noise, "1", arb(1) / 3)
    assert found.contains(0) and found < arb("1e-15")
    assert at(noise, "2", arb(1) / 3).contains(at(noise, "2", (arb(1) / 3).mid()).mid())


def test_geometric_noise_has_two_orders():
    noise = on_integers("exp(-z/2)", "0")
    point, exact = eps("0.3")
    close(at(noise, "2", point, order="lower"), 1 - MP.exp(-1), 12)
    close(at(noise, "2", point, order="backward"), 1 - MP.exp(exact - 1), 12)
    close(at(noise, "2", point), 1 - MP.exp(-1), 12)
    assert not curve(noise, Sensitivity(ONE, ONE)).exact


def test_bounded_uniform_noise():
    noise = on_integers("1", "-3", "3")
    assert at(noise, "2", arb(1)).overlaps(arb(2) / 7)
    assert at(noise, "9", arb(1)).contains(1)


def test_heavy_tails_are_enclosed():
    noise = on_integers("1/(1 + z**2)**3")
    p = lambda n: 1 / (1 + MP.mpf(n) ** 2) ** 3  # noqa: E731
    point, exact = eps("0.3")
    whole_sum = MP.nsum(p, [-MP.inf, MP.inf])
    number = MP.fsum(max(MP.mpf(0), p(n) - MP.exp(exact) * p(n - 1)) for n in range(-200, 3)) / whole_sum
    found = at(noise, "1", point)
    assert abs(MP.mpf(found.mid().str(40, radius=False)) - number) < MP.mpf(10) ** -15
    assert found.rel_accuracy_bits() > 40


@pytest.mark.wide
def test_many_epsilons_of_a_heavy_tail_cost_its_terms_once(monkeypatch):
    """Sums from -4096 to 1; what is beyond them is above e^epsilon times the copy only where epsilon is below 2/4096."""
    asked = []
    monkeypatch.setattr(integers, "term", lambda density, name, n: asked.append(n) or term(density, name, n))
    profile = curve(on_integers("1/(1 + z**2)"), Sensitivity(ONE, ONE)).upper.forward
    normal = math.pi / math.tanh(math.pi)
    p, q = (1 / (1 + (np.arange(-4096, 2) - shift) ** 2) for shift in (0, 1))
    with precision(53):
        for k in range(1, 400):
            epsilon = k / 128
            truth = np.maximum(p - math.exp(epsilon) * q, 0).sum() / normal
            assert abs(float(profile(arb(epsilon)).mid()) - truth) < 1e-12
    assert len(asked) < 6 * 2**15  # at few precisions


@pytest.mark.wide
def test_two_heavy_tailed_noises_compose():
    """Against sums over pairs of integers up to 3000: epsilon at 1/100."""
    p = 1 / (1.0 + np.arange(-3000, 3001) ** 2) * (math.tanh(math.pi) / math.pi)
    q = np.roll(p, 1)
    part = Part(on_integers("1/(1 + z**2)"), sensitivity=ONE)
    found = verify(Claim(Compose((part, part)), None, delta=parse("1/100")), 20).judgement

    def delta(epsilon):
        return sum(np.maximum(one * p - math.exp(epsilon) * other * q, 0).sum() for one, other in zip(p, q, strict=True))

    low, high = (float(constant(bound).mid()) for bound in (found.lower, found.upper))
    assert delta(high) < 0.01 + 1e-9 and delta(low) > 0.01 - 1e-3 and high - low < 0.01
    assert delta(low - 1e-3) > 0.01


def test_many_epsilons_are_cheap_and_fall():
    profile = curve(LAWS["gauss"][0], Sensitivity(ONE, ONE)).upper.forward
    with precision(64):
        values = [profile(arb(k) / 1024) for k in range(0, 1024, 2)]
    assert all(not (later > earlier) for earlier, later in pairwise(values))


def test_wide_epsilons_are_enclosed():
    noise = LAWS["gauss"][0]
    wide = at(noise, "1", arb("0.2").union(arb("0.4")))
    for text in ("0.2", "0.31", "0.4"):
        assert wide.contains(at(noise, "1", arb(text).mid()).mid())


def test_the_event_has_the_probabilities_of_the_profile():
    point, _ = eps("0.3")
    pair = curve(LAWS["laplace"][0], Sensitivity(num(2), num(2))).upper
    with precision(160):
        p, q = probabilities(pair.forward, pair.forward, point)
    decay = MP.exp(-MP.mpf(1) / 2)
    half = MP.mpf(1) / 2 * (1 + (1 - decay) / (1 + decay))  # S = {n <= 0}, q is p moved by 2
    for ball, number in ((p, half), (q, (1 - half) * decay)):
        assert abs(MP.mpf(ball.mid().str(30, radius=False)) - number) < MP.mpf(10) ** -12


def test_shifts_are_whole():
    assert whole(parse("5/2"), up=True) == 2
    assert whole(parse("sqrt(2)*sqrt(2)"), up=False) == 2
    assert whole(parse("exp(log(3))"), up=False) == 3
    assert whole(parse("sqrt(8)"), up=True) == 2
    noise = LAWS["gauss"][0]
    assert at(noise, "5/2", arb("0.3").mid()).overlaps(at(noise, "2", arb("0.3").mid()))
    assert at(noise, "1/2", arb(0)) == 0


# -- staircase noise -------------------------------------------------------------------------------


def areas(rate, gamma, shift, epsilon):
    """The same by one partition of the line by all steps of both densities, the height of each piece read off at its middle."""
    rate, gamma, shift = (MP.mpf(x.numerator) / x.denominator for x in (rate, gamma, shift))
    decay = MP.exp(-rate)
    top = (1 - decay) / (2 * (gamma + decay * (1 - gamma)))
    height = lambda z: top * MP.exp(-rate * MP.floor(abs(z) + 1 - gamma))  # noqa: E731
    cuts = sorted({x for k in range(160) for x in (gamma + k, -gamma - k, shift + gamma + k, shift - gamma - k)})
    pieces = ((b - a, (a + b) / 2) for a, b in pairwise(cuts))
    return MP.fsum(length * max(MP.mpf(0), height(z) - MP.exp(epsilon) * height(z - shift)) for length, z in pieces)


@pytest.mark.parametrize(
    ("rate", "gamma", "shift", "epsilon"),
    [
        ("1", "1/4", "1", "0.5"),
        ("1", "1/4", "5/2", "0.5"),
        ("1", "1/4", "5/2", "1.5"),
        ("2", "0", "17/10", "0.5"),
        ("1", "1", "3/10", "0.5"),
        ("1", "3/10", "71/10", "5.5"),
        ("3/2", "1/2", "2", "0"),
    ],
)
def test_staircase_agrees_with_its_areas(rate, gamma, shift, epsilon):
    point, exact = eps(epsilon)
    found = at(Staircase(parse(rate), parse(gamma)), shift, point)
    close(found, areas(Fraction(rate), Fraction(gamma), Fraction(shift), exact), 12)


def test_staircase_is_pure_at_its_own_epsilon():
    noise = Staircase(ONE, parse("1/3"))
    assert at(noise, "1", arb(1)) < arb("1e-15")
    assert at(noise, "1", arb("1.001").mid()) == 0
    assert at(noise, "1", arb("0.999").mid()) > 0
    assert at(noise, "0", arb(0)) == 0


def test_staircase_with_irrational_parameters():
    found = at(Staircase(parse("log(3)"), parse("1/(1 + exp(1))")), "sqrt(3)", arb("0.5").mid())
    rate, gamma, shift = (Fraction(n, 10**21) for n in (1098612288668109691395, 268941421369995120749, 1732050807568877293527))
    near = areas(rate, gamma, shift, MP.mpf(1) / 2)
    assert abs(MP.mpf(found.mid().str(40, radius=False)) - near) < MP.mpf(10) ** -17


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise",
    [
        on_integers("exp(-(abs(z) - 2)**2)"),
        on_integers("1/(1 + abs(z))"),
        on_integers("abs(z)*exp(-abs(z))"),
    ],
)
def test_what_is_not_proved_is_not_answered(noise):
    with pytest.raises(Undecided):
        curve(noise, Sensitivity(ONE, ONE)).upper.forward(arb(1))


@pytest.mark.parametrize(
    ("noise", "shift"),
    [
        (Translation(parse("exp(-abs(z))")), ONE),
        (Radial(parse("exp(-r)"), L2, ONE), ONE),
        (on_integers("exp(-abs(z))"), Num(Fraction(-1))),
    ],
)
def test_what_it_is_not_about_is_rejected(noise, shift):
    with pytest.raises(Rejected):
        curve(noise, Sensitivity(shift, shift))


@pytest.mark.parametrize("times", [1, 2])
def test_noise_on_the_integers_behind_a_map_or_in_a_group_has_its_own_curve(times):
    # P is (e - 1)/(e + 1) e^-|n|, Q that moved by the number of steps; delta(1/2) by the sum over the integers
    noise = Part(Translation(parse("exp(-abs(z))"), integers=True), num(1))
    masses = {n: math.exp(-abs(n)) * (math.e - 1) / (math.e + 1) for n in range(-80, 81)}
    truth = {k: sum(max(mass - math.exp(0.5) * masses.get(n - k, 0.0), 0.0) for n, mass in masses.items()) for k in (1, 2)}
    for mechanism, steps in ((PostProcess(noise), 1), (Lipschitz(noise, num(2)), 2), (Group(noise, num(times)), times)):
        for part in (mechanism, Compose((Part(mechanism),))):
            found = verify(Claim(part, parse("1/2"), None), 8).judgement
            assert "lattice" in found.rules and "pure-guarantee" not in found.rules
            assert abs(float(found.delta_upper.value) - truth[steps]) < 1e-9


AT_AN_INTEGER = "max(0, floor(1 - abs(z - {0})))"  # 1 there, and 0 almost everywhere


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("text", "lower", "upper", "weights"),
    [
        # a step at the very end of the support, where the density beside it still falls
        ("1 - (z - 2*floor(z/2))/3", "0", "2", {0: 3, 1: 2, 2: 3}),
        ("1 + floor(z/2)", "0", "2", {0: 1, 1: 1, 2: 2}),
        ("max(0, 3 - z) + floor(z/5)", "0", "5", {0: 3, 1: 2, 2: 1, 3: 0, 4: 0, 5: 1}),
        # one integer that has more, or less, than what is beside it
        ("1 + " + AT_AN_INTEGER.format(1), "-1", "3", {-1: 1, 0: 1, 1: 2, 2: 1, 3: 1}),
        ("1 + 3*" + AT_AN_INTEGER.format(1), "-2", "2", {-2: 1, -1: 1, 0: 1, 1: 4, 2: 1}),
        ("2 - " + AT_AN_INTEGER.format(0), "-2", "2", {-2: 2, -1: 2, 0: 1, 1: 2, 2: 2}),
        ("(4 - abs(z))*(1 + " + AT_AN_INTEGER.format(2) + ")", "-3", "3", {-3: 1, -2: 2, -1: 3, 0: 4, 1: 3, 2: 4, 3: 1}),
        # a step at the mode that belongs to the side that falls, and one that belongs to the side that rises
        ("min(3, 2 + floor(z)) - max(0, z - 1)", "-1", "3", {-1: 1, 0: 2, 1: 3, 2: 2, 3: 1}),
        ("min(2, 1 - floor(-z)) - max(0, z - 1)/2", "0", "3", {0: 2, 1: 4, 2: 3, 3: 2}),
    ],
)
@pytest.mark.parametrize("shift", [1, 2])
def test_probabilities_of_integers_are_the_density_there_and_not_beside_them(text, lower, upper, weights, shift):
    """By enumeration: what almost everywhere is unimodal need not be so at the integers."""
    noise = on_integers(text, lower, upper)
    total, factor = sum(weights.values()), Fraction(3, 2)
    for sign, order in ((1, "forward"), (-1, "backward")):
        excess = sum(max(Fraction(0), w - factor * weights.get(n - sign * shift, 0)) for n, w in weights.items()) / total
        try:
            found = at(noise, str(shift), arb(3).log() - arb(2).log(), order=order)
        except (Rejected, Undecided):
            continue
        assert found.overlaps(arb(excess.numerator) / excess.denominator), (order, found, excess)


@pytest.mark.wide
@pytest.mark.sampled(5)
@pytest.mark.parametrize("place", [-3, -2, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("times", [Fraction(1, 8), Fraction(6)])
def test_one_integer_that_has_more_or_less_than_a_heavy_tail_is_seen(place, times):
    """1/(1 + n^2) on the integers up to 3, whose logarithm is not concave: by enumeration, with one of them so many times as probable."""
    noise = on_integers(f"(1 + ({times - 1})*{AT_AN_INTEGER.format(place)})/(1 + z**2)", "-3", "3")
    weights = {n: Fraction(1, 1 + n * n) * (times if n == place else 1) for n in range(-3, 4)}
    for sign, order in ((1, "forward"), (-1, "backward")):
        excess = sum(max(Fraction(0), w - Fraction(5, 4) * weights.get(n - sign, 0)) for n, w in weights.items()) / sum(weights.values())
        try:
            found = at(noise, "1", arb(5).log() - arb(4).log(), order=order)
        except (Rejected, Undecided):
            continue
        assert found.overlaps(arb(excess.numerator) / excess.denominator), (order, found, excess)


@pytest.mark.parametrize("text", ["max(0, 3 - z) + floor(z/5)", "1 - floor(z/3) + 2*floor(z/5)"])
def test_an_end_of_the_support_that_has_more_than_the_nothing_before_it_is_seen(text):
    """The probabilities fall to 0 before 5, and that of 5 is not 0."""
    with precision(64), pytest.raises(Undecided, match="step at an integer"):
        unimodal.read(on_integers(text, "0", "5"), unimodal.Hints())


SEVERAL = {
    "two ends": (on_integers("1 + abs(z)", "-2", "2"), lambda n: MP.mpf(1 + abs(n)) if abs(n) <= 2 else MP.mpf(0)),
    "a gap": (on_integers("max(0, abs(z) - 1)", "-3", "4"), lambda n: MP.mpf(max(0, abs(n) - 1)) if -3 <= n <= 4 else MP.mpf(0)),
    "two modes": (
        on_integers("exp(-abs(z)) + exp(-2*(z - 4)**2)"), lambda n: MP.exp(-MP.mpf(abs(n))) + MP.exp(-2 * MP.mpf(n - 4) ** 2)
    ),
}  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", SEVERAL)
def test_of_probabilities_of_any_shape_every_shift_counts(name):
    noise, p = SEVERAL[name]
    for most in (1, 3):
        with precision(64):
            found = rule.curve(noise, Sensitivity(num(most), num(most)), unimodal.Hints(), None)
        for text in ("0", "1/2", "2"):
            point, exactly = arb(float(Fraction(text))), MP.mpf(Fraction(text).numerator) / Fraction(text).denominator
            each = {shift: term_by_term(p, shift, exactly) for shift in range(-most, most + 1) if shift}
            with precision(64):
                close(found.upper.worst(point), max(each.values()), 10)
                close(found.lower.worst(point), max(each[most], each[-most]), 10)
        with precision(64):
            alone = [MP.fsum(p(n) for n in range(-60, 61) if p(n - s) == 0) / MP.fsum(p(n) for n in range(-60, 61)) for s in (most, -most)]
            for rest, truth in zip(found.lower.rests, alone, strict=True):
                assert abs(float(rest().mid()) - float(truth)) < 1e-12


@pytest.mark.wide
def test_integers_far_out_of_reach_are_enclosed_and_not_refused():
    """A sum of 60 digits: delta at 0 is 0.019947114020; the claim is below it."""
    gauss = Claim(on_integers("exp(-z**2/800)"), ZERO, sensitivity=ONE, delta=parse("0.0199470940729"))
    assert verify(gauss).judgement.verdict == "REFUTED"


def test_a_delta_just_below_1_is_told_to_the_digits_of_what_is_missing():
    """1/(1 + 2 e^-50 + ...), so that 3.86e-22 are missing."""
    narrow = Claim(on_integers("exp(-50*z**2)"), ZERO, sensitivity=ONE, delta=None)
    lower, upper = map(MP.mpf, delta_enclosure(verify(narrow).judgement, 6))
    truth = 1 / (1 + 2 * MP.exp(-50) + 2 * MP.exp(-200))
    assert lower <= truth <= upper < 1 and upper - lower < MP.mpf(10) ** -24


@pytest.mark.wide
def test_where_a_shorter_shift_is_worse_the_lower_bound_is_there_too():
    """Even integers weigh 20 times as much: over two steps hardly anything is lost."""
    noise, p = on_integers("exp(-abs(z))*(20 - 19*(z - 2*floor(z/2)))"), lambda n: MP.exp(-MP.mpf(abs(n))) * (20 if n % 2 == 0 else 1)
    each = [float(term_by_term(p, shift, MP.mpf(1) / 2)) for shift in (1, 2)]
    found = verify(Claim(noise, parse("1/2"), None, sensitivity=num(2)), 8).judgement
    assert each[0] > each[1]
    assert float(found.delta_lower.value) == pytest.approx(each[0], abs=1e-9) == float(found.delta_upper.value)
    assert any(EVERY in line for line in found.assumptions)
    whole_shift = verify(Claim(noise, parse("1/2"), None, query=Query(((Fraction(2),),), "add-remove")), 8).judgement
    assert float(whole_shift.delta_lower.value) == pytest.approx(each[1], abs=1e-9)


@pytest.mark.parametrize("shift", [0, 3, "1", True, -1])
def test_a_shift_of_a_lower_bound_is_a_whole_one_within_the_sensitivity(shift):
    with pytest.raises(CertificateError, match="whole number from 1 to 2"), precision(64):
        rule.curve(on_integers("1 + abs(z)", "-2", "2"), Sensitivity(num(2), num(2)), unimodal.Hints(), None, shift)


@pytest.mark.parametrize(
    ("text", "lower", "p"),
    [
        ("3**z/gamma(z + 1)", "0", lambda n: MP.mpf(3) ** n / MP.factorial(n) if n >= 0 else MP.mpf(0)),
        ("exp(-abs(z))*(2 + z - 2*floor(z/2))", None, lambda n: MP.exp(-MP.mpf(abs(n))) * (3 if n % 2 else 2)),
    ],
)
def test_poisson_laws_and_weights_that_repeat_have_their_sums(text, lower, p):
    each = max(term_by_term(p, shift, MP.mpf(1) / 2, 80) for shift in (1, -1))
    found = verify(Claim(on_integers(text, lower), parse("1/2"), None, sensitivity=num(1)), 8).judgement
    assert float(found.delta_lower.value) == pytest.approx(float(each), abs=1e-9) == float(found.delta_upper.value)

"""Sums of independent noises (theory#sums, theory#sum-slopes, theory#measures-of-sums), held against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import mpmath as mp
import pytest
from flint import arb

import dpverify as dp
from dpverify.errors import SpecError
from dpverify.search.certificates import pack
from dpverify.trusted.combinators.laws_of_sums import merged
from dpverify.trusted.combinators.sums import least
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, NoisyMax, Sum, Summand, Translation
from dpverify.trusted.kernel.well_formed import faults
from dpverify.trusted.language.whole_laws import binomial, discrete_gaussian, discrete_laplace, known, negative_binomial, poisson, turned
from dpverify.trusted.numbers.circle import Circle
from dpverify.trusted.numbers.convolution import Convolution
from dpverify.trusted.theories.curves.sums import summed

mp.mp.dps = 40
FAR = 120
Masses = dict[int, mp.mpf]


def normalised(weights: Masses) -> Masses:
    total = sum(weights.values())
    return {n: w / total for n, w in weights.items()}


LAWS = {
    "poisson": (dp.poisson(3), {n: mp.exp(-3) * mp.mpf(3) ** n / mp.factorial(n) for n in range(FAR)}),
    "binomial": (dp.binomial(6, "1/3"), {n: mp.binomial(6, n) * mp.mpf(2) ** (6 - n) / 729 for n in range(7)}),
    "geometric": (dp.negative_binomial(1, "1/2"), {n: mp.mpf(2) ** (-n - 1) for n in range(FAR)}),
    "laplace": (dp.discrete_laplace(1), normalised({n: mp.exp(-abs(n)) for n in range(-FAR, FAR + 1)})),
    "gaussian": (dp.discrete_gaussian(2), normalised({n: mp.exp(-mp.mpf(n * n) / 8) for n in range(-FAR, FAR + 1)})),
    "pairs": (
        dp.translation("max(0, 1 - 2*(z/2 - floor(z/2)))*exp(-abs(z))", integers=True),
        normalised({n: mp.exp(-abs(n)) if n % 2 == 0 else mp.mpf(0) for n in range(-FAR, FAR + 1)}),
    ),
}


def added(one: Masses, other: Masses) -> Masses:
    found: Masses = {}
    for n, p in one.items():
        for m, q in other.items():
            if p * q > mp.mpf(10) ** -36:
                found[n + m] = found.get(n + m, mp.mpf(0)) + p * q
    return found


def opposite(law: Masses) -> Masses:
    return {-n: p for n, p in law.items()}


def delta(law: Masses, moved: int, epsilon: Fraction) -> mp.mpf:
    """By the definition, over all shifts in both directions."""
    factor = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
    shifts = [sign * s for s in range(1, moved + 1) for sign in (1, -1)]
    return max(sum((max(p - factor * law.get(n - s, mp.mpf(0)), mp.mpf(0)) for n, p in law.items()), mp.mpf(0)) for s in shifts)


def near(found: object, truth: mp.mpf, digits: int = 12) -> bool:
    """Whether an enclosure holds the truth and is as narrow as asked."""
    low, high = mp.mpf(str(found.lower)), mp.mpf(str(found.upper))  # type: ignore[attr-defined]
    slack = mp.mpf(10) ** -30
    return bool(low <= truth + slack and truth - slack <= high and high - low <= truth * mp.mpf(10) ** -digits + slack)


@pytest.mark.parametrize(
    ("plus", "less", "moved", "epsilon"),
    [
        (("poisson",), ("poisson",), 1, "1"),
        (("poisson", "binomial"), (), 2, "1/2"),
        (("poisson",), ("binomial", "geometric"), 1, "3/2"),
        (("laplace", "gaussian"), ("poisson",), 3, "1"),
        pytest.param(("pairs", "pairs"), (), 2, "1/4", marks=pytest.mark.wide),
        (("pairs", "poisson"), (), 1, "1/4"),
        (("gaussian", "gaussian", "gaussian"), (), 2, "1/3"),
    ],
)
def test_the_delta_of_a_sum_is_that_by_enumeration(plus, less, moved, epsilon):
    law = reduce(added, [LAWS[one][1] for one in plus] + [opposite(LAWS[one][1]) for one in less])
    noise = dp.sum(parts=[LAWS[one][0] for one in plus], subtracted=[LAWS[one][0] for one in less] or None)
    truth = delta(law, moved, Fraction(epsilon))
    assert near(dp.tight_delta(noise, sensitivity=moved, epsilon=epsilon, digits=13), truth, 12 if truth < 0.9 else 8)
    for slack, verdict in (("1.000001", "PROVED"), ("0.999999", "REFUTED")):
        if truth * mp.mpf(slack) > 1:
            continue
        claimed = Fraction(int(truth * mp.mpf(slack) * mp.mpf(10) ** 30), 10**30)
        assert dp.verify(noise, sensitivity=moved, epsilon=epsilon, delta=claimed).verdict == verdict


@pytest.mark.wide
def test_with_dropouts_the_worst_of_the_least_sums_counts():
    noise = dp.sum(parts=[dp.poisson(3), dp.discrete_laplace(1), dp.discrete_gaussian(2)], dropouts=1)
    laws = [LAWS[one][1] for one in ("poisson", "laplace", "gaussian")]
    truth = max(delta(added(laws[i], laws[j]), 2, Fraction(1)) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert near(dp.tight_delta(noise, sensitivity=2, epsilon=1), truth, 9)
    alike = dp.sum(part=dp.discrete_gaussian(2), times=5, dropouts=2)
    fewer = dp.sum(part=dp.discrete_gaussian(2), times=3)
    assert str(dp.tight_delta(alike, sensitivity=1, epsilon="1/4")) == str(dp.tight_delta(fewer, sensitivity=1, epsilon="1/4"))


def test_dropouts_of_several_laws_are_all_ways_to_leave_noises_out():
    a, b = poisson(num(1)), poisson(num(2))
    found = least(Sum((Summand(a, num(2)), Summand(b)), num(2)))
    assert {tuple((part.noise, part.times) for part in one.parts) for one in found} == {((a, num(1)),), ((b, num(1)),)}
    with pytest.raises(Rejected, match="no noise may be left"):
        least(Sum((Summand(a),), num(1)))


@pytest.mark.parametrize("mean", [10**4, 10**8])
def test_skellam_noise_of_a_large_mean_is_nearly_gaussian(mean):
    """The curve of N(0, 2 mean) up to a relative error of the order of moved^2/mean^2 and 1/mean."""
    moved = math.isqrt(mean)
    mu, epsilon = mp.mpf(moved) / mp.sqrt(2 * mean), mp.mpf(1)
    truth = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
    found = dp.tight_delta(dp.skellam(mean), sensitivity=moved, epsilon=1)
    assert abs(mp.mpf(str(found.lower)) / truth - 1) < 10 / mp.sqrt(mean)


def test_a_thousand_discrete_gaussians_are_nearly_one():
    found = dp.tight_delta(dp.sum(part=dp.discrete_gaussian(10), times=1000), sensitivity=100, epsilon=1)
    mu = 100 / mp.sqrt(1000 * 100)
    truth = mp.ncdf(mu / 2 - 1 / mu) - mp.e * mp.ncdf(-mu / 2 - 1 / mu)
    assert abs(mp.mpf(str(found.lower)) / truth - 1) < mp.mpf("1e-3") and found.upper - found.lower < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("law", "mass"),
    [
        (poisson(num(3)), lambda n: mp.exp(-3) * mp.mpf(3) ** n / mp.factorial(n) if n >= 0 else mp.mpf(0)),
        (binomial(num(40), parse("1/3")), lambda n: mp.binomial(40, n) * mp.mpf(2) ** (40 - n) / mp.mpf(3) ** 40 if n <= 40 else mp.mpf(0)),
        (
            negative_binomial(parse("3/2"), parse("1/3")),
            lambda n: mp.rf(mp.mpf(3) / 2, n) / mp.factorial(n) * (mp.mpf(2) / 3) ** n / mp.mpf(3) ** 1.5,
        ),
        (discrete_laplace(num(2)), lambda n: mp.tanh(mp.mpf(1) / 4) * mp.exp(-mp.mpf(abs(n)) / 2)),
        (discrete_gaussian(num(3)), lambda n: mp.exp(-mp.mpf(n * n) / 18) / mp.jtheta(3, 0, mp.exp(-mp.mpf(1) / 18))),
    ],
)
def test_probabilities_on_the_circle_are_right_far_out_too(law, mass):
    name = known(law)
    assert name is not None
    with precision(96):
        here, there = Circle([(name, 1)]), Circle([(known(turned(law)), 1)])
        for n in (0, 1, 5, 20, 38):
            assert_contains(here.weight(n), mass(n), 60)
            assert_contains(there.weight(-n), mass(n), 60)
        above = sum((mass(n) for n in range(25, 400)), mp.mpf(0))
        assert_contains(here.above(25), above, 60)
        assert_contains(there.below(-25), above, 60)


def assert_contains(ball: arb, truth: mp.mpf, bits: int) -> None:
    """A ball holds a number, to the digits that this is known to, and to so many bits."""
    middle, radius = mp.mpf(ball.mid().str(45, radius=False)), mp.mpf(ball.rad().str(10, radius=False))
    assert abs(middle - truth) <= radius + abs(truth) * mp.mpf(10) ** -33
    assert ball.rel_accuracy_bits() >= bits


def test_tables_and_the_circle_agree():
    laws = [poisson(num(2)), discrete_laplace(num(1)), discrete_gaussian(num(2))]
    with precision(96):
        circle = Circle([(known(law), 2) for law in laws])
        table = Convolution([(law.density, (0 if law.support[0] == ZERO else None, None), 2) for law in laws])
        for n in range(-10, 16, 5):
            assert circle.weight(n).overlaps(table.weight(n)) and table.weight(n).rel_accuracy_bits() > 60
            assert circle.above(n).overlaps(table.above(n)) and circle.below(n).overlaps(table.below(n))


SHARE = dp.negative_binomial("1/4", "1/2")


# -- pure epsilon --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "moved", "epsilon"),
    [
        (dp.sum(part=dp.discrete_laplace(2), times=5), 1, "1/2"),
        (dp.sum(dp.discrete_laplace(2), dp.discrete_laplace(4)), 3, "3/4"),
        (dp.sum(dp.discrete_laplace(2), dp.binomial(5, "1/2")), 1, "1/2"),
        (dp.sum(parts=[dp.negative_binomial(2, "1/2")], subtracted=[dp.negative_binomial(1, "3/4")]), 1, "log(4)"),
        (dp.sum(part=dp.sum(parts=[SHARE], subtracted=[SHARE]), times=4), 1, "log(2)"),
        (dp.sum(dp.laplace(2), dp.laplace(5), dp.gaussian(1)), 1, "1/5"),
        (dp.sum(parts=[dp.discrete_laplace(2), dp.discrete_laplace(8)], dropouts=1), 1, "1/2"),
    ],
)  # fmt: skip
def test_the_pure_epsilon_is_that_of_the_noise_that_falls_least(noise, moved, epsilon):
    assert dp.verify(noise, sensitivity=moved, epsilon=epsilon).verdict == "PROVED"
    less = dp.verify(noise, sensitivity=moved, epsilon=f"({epsilon})*999/1000")
    assert less.verdict == "REFUTED" and less.witness


@pytest.mark.parametrize(
    "noise", [dp.skellam(3), dp.sum(dp.poisson(2), dp.discrete_laplace(1)), dp.sum(part=dp.discrete_gaussian(1), times=3)], ids=str
)
def test_no_epsilon_is_enough_where_all_noises_end_or_fall_fast(noise):
    """Poisson and discrete Laplace noise has an end on neither side, and discrete Laplace noise falls least on both."""
    has_slope = "laplace" in str(noise)
    assert dp.verify(noise, sensitivity=1, epsilon=5).verdict == ("PROVED" if has_slope else "REFUTED")


@pytest.mark.wide  # that no rule takes the shape is seen below too
def test_shares_of_a_shape_below_1_have_no_upper_bound():
    share = dp.negative_binomial("1/4", "1/2")
    noise = dp.sum(part=dp.sum(parts=[share], subtracted=[share]), times=4, dropouts=1)
    assert dp.verify(noise, sensitivity=1, epsilon=1).verdict == "UNKNOWN"
    law = {n: mp.rf(mp.mpf(3) / 4, n) / mp.factorial(n) / mp.mpf(2) ** (n + mp.mpf(3) / 4) for n in range(FAR)}
    both = added(law, opposite(law))
    assert mp.log(both[0] / both[1]) > mp.log(2)


def alone(claim: Claim, **parameters):
    return pack(claim, 128, "PROVED", [Line("sum-slopes", (), parameters, (), 128)])


@pytest.mark.parametrize(
    ("parts", "moved", "why"),
    [
        (((poisson(num(2)), 1),), "1", "infinite at an end"),
        (((negative_binomial(parse("1/2"), parse("1/2")), 1),), "1", "not certainly log-concave"),
        (((Translation(parse("1/(1 + z**2)"), integers=True), 1),), "1", "not certainly log-concave"),
        (((discrete_laplace(num(1)), 1),), "-1", "not certainly at least 0"),
    ],
    ids=["an end", "a shape below 1", "heavy", "negative"],
)
def test_a_broken_hypothesis_is_rejected(parts, moved, why):
    noise = Sum(tuple(Summand(law, num(times)) for law, times in parts))
    with pytest.raises(Exception, match=why if moved == "1" else "sensitivity"):
        check(alone(Claim(noise, None, ZERO, sensitivity=parse(moved))))


# -- other measures ------------------------------------------------------------------------------------


def renyi(law: Masses, moved: int, order: mp.mpf) -> mp.mpf:
    sums = (sum(p**order * law[n - s] ** (1 - order) for n, p in law.items() if law.get(n - s, 0) > 0) for s in (moved, -moved))
    return max(mp.log(one) / (order - 1) for one in sums)


DIFFERENCES = [(("poisson",), ("poisson",)), (("laplace", "gaussian"), ()), (("gaussian", "poisson"), ("poisson",))]


@pytest.mark.parametrize(("plus", "less"), DIFFERENCES)
@pytest.mark.parametrize("order", ["2", "7/2"])
def test_renyi_divergences_are_those_by_enumeration(plus, less, order):
    law = reduce(added, [LAWS[one][1] for one in plus] + [opposite(LAWS[one][1]) for one in less])
    noise = dp.sum(parts=[LAWS[one][0] for one in plus], subtracted=[LAWS[one][0] for one in less] or None)
    inner = {n: p for n, p in law.items() if p > mp.mpf(10) ** -34}
    truth = renyi(inner, 1, mp.mpf(Fraction(order).numerator) / Fraction(order).denominator)
    answer = dp.verify(noise, sensitivity=1, renyi={"order": order, "epsilon": "tight"})
    low, high = (mp.mpf(str(end)) for end in (answer.measure.lower, answer.measure.upper))
    assert abs(low - truth) < mp.mpf(10) ** -9 and high - low < mp.mpf(10) ** -12


@pytest.mark.wide
def test_rho_of_equal_discrete_gaussians_is_nearly_that_of_one():
    noise = dp.sum(part=dp.discrete_gaussian(2), times=3)
    assert dp.verify(noise, sensitivity=2, zcdp="1/5").verdict == "PROVED"  # 4/(2 * 3 * 4) = 1/6
    assert dp.verify(noise, sensitivity=2, zcdp="16/100").verdict == "REFUTED"


@pytest.mark.wide
def test_rho_of_skellam_noise_is_above_that_of_gaussian_noise():
    assert dp.verify(dp.skellam(4), sensitivity=1, zcdp="7/100").verdict == "PROVED"
    assert dp.verify(dp.skellam(4), sensitivity=1, zcdp="1/16").verdict == "REFUTED"  # 1/(4 mean)


def test_an_end_has_no_finite_divergence():
    assert dp.verify(dp.sum(dp.poisson(2), dp.poisson(3)), sensitivity=1, renyi={"order": 2, "epsilon": 100}).verdict == "REFUTED"


# -- where sums stand ----------------------------------------------------------------------------------


def test_sums_of_gaussian_noises_are_gaussian_noise():
    three_four = dp.sum(dp.gaussian(3), dp.gaussian(4))
    for asked in ({"epsilon": 1, "delta": "1e-5"}, {"zcdp": "1/2"}, {"gdp": 1}):
        assert dp.verify(three_four, sensitivity=5, **asked).verdict == dp.verify(dp.gaussian(5), sensitivity=5, **asked).verdict
    found, truth = (dp.tight_delta(noise, sensitivity=2, epsilon=1) for noise in (three_four, dp.gaussian(5)))
    assert found.lower <= truth.upper and truth.lower <= found.upper


def test_of_other_noises_on_the_line_no_delta_is_known():
    answer = dp.verify(dp.sum(dp.laplace(1), dp.laplace(2)), sensitivity=1, epsilon="1/10", delta="1/10")
    assert answer.verdict == "UNKNOWN" and answer.reason


def test_of_not_even_noise_a_composition_is_in_the_right_order():
    """A record that moves the answer up tells less with the record first than in the other order."""
    noise = dp.sum(dp.poisson(3), dp.binomial(6, "1/3"))
    law = added(LAWS["poisson"][1], LAWS["binomial"][1])
    factor = mp.exp(mp.mpf(1) / 2)
    up, down = (
        sum(max(p - factor * law.get(n - s, mp.mpf(0)), mp.mpf(0)) for n, p in law.items()) for s in (1, -1)
    )
    both = dp.verify(noise, query=[[1]], adjacency="add-remove", epsilon="1/2", delta="tight")
    assert near(both.delta, max(up, down))
    with_it = dp.verify(noise, query=[[1]], adjacency="add-remove", epsilon="1/2", delta="tight", order="one-sided")
    assert near(with_it.delta, down)  # P, with the record, is p moved up by 1


def test_noisy_max_with_a_sum_has_twice_the_slope():
    noise = dp.noisy_max(noise=dp.sum(part=dp.discrete_laplace(4), times=3), candidates=5)
    assert dp.verify(noise, sensitivity=1, epsilon="1/2").verdict == "PROVED"
    assert dp.verify(noise, sensitivity=1, epsilon="49/100").verdict == "REFUTED"


@pytest.mark.wide
def test_a_new_key_is_told_as_often_as_the_noise_passes_the_threshold():
    law = reduce(added, [LAWS["laplace"][1]] * 2)
    noise = dp.noisy_keys(noise=dp.sum(part=dp.discrete_laplace(1), times=2), threshold=12)
    truth = max(sum(p for n, p in law.items() if n >= 11), delta(law, 1, Fraction(2)))
    assert near(dp.verify(noise, sensitivity=1, epsilon=2, delta="tight").delta, truth)


# -- what is said --------------------------------------------------------------------------------------

SAID = {
    "none left": ({"part": dp.poisson(1), "times": 3, "dropouts": 3}, "fewer than noises"),
    "both sorts": ({"parts": [dp.poisson(1), dp.gaussian(1)]}, "some noises live on the integers and some on the line"),
    "inner dropouts": ({"part": dp.sum(part=dp.poisson(1), times=2, dropouts=1), "times": 2}, "several laws"),
    "many numbers": ({"part": dp.gaussian(1, dimension=2), "times": 2}, "dimension"),
    "no noise": ({"part": dp.table([["1/2", "1/2"], ["1/2", "1/2"]])}, "no noise on one number"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_sum_that_is_none_is_an_error(name):
    given, why = SAID[name]
    with pytest.raises(SpecError, match=why):
        dp.verify(dp.sum(**given), sensitivity=1, epsilon=1)


def test_a_selection_has_no_noise_with_dropouts():
    noise = dp.sum(part=dp.discrete_laplace(1), times=3, dropouts=1)
    with pytest.raises(SpecError, match="several laws"):
        dp.verify(dp.noisy_max(noise=noise, candidates=2), sensitivity=1, epsilon=1)
    held = Sum((Summand(discrete_laplace(num(1)), num(3)),), num(1))
    claim = Claim(NoisyMax(held, num(2)), num(1), ZERO, sensitivity=num(1))
    with pytest.raises(Exception, match="dropouts"):
        from_json(to_json(claim))


def test_the_kernel_refuses_what_the_reader_does():
    one = Summand(poisson(num(1)))
    on_the_line = Summand(Translation(parse("exp(-abs(z))")))
    wrong = [Sum(()), Sum((one,), num(1)), Sum((one, on_the_line)), Sum((Summand(one.noise, parse("1/2")),))]
    for noise in wrong:
        assert list(faults(Claim(noise, num(1), ZERO, sensitivity=num(1))))
    fine = Sum((one, Summand(one.noise, num(2))), num(2))
    claim = Claim(fine, num(1), ZERO, sensitivity=num(1))
    assert not list(faults(claim)) and from_json(to_json(claim)) == claim


def test_shares_of_one_chance_add_up_and_others_stay_apart():
    half, third = (negative_binomial(parse("1/2"), parse(chance)) for chance in ("1/2", "1/3"))
    found = merged(Sum((Summand(half, num(4)), Summand(third), Summand(turned(half)))))
    assert set(found) == {(negative_binomial(num(2), parse("1/2")), 1), (third, 1), (turned(half), 1)}
    assert not summed(Sum((Summand(third, num(1)),))).concave


@pytest.mark.wide
def test_a_law_is_known_only_with_the_numbers_of_one():
    assert known(Translation(parse("(-2)**z/gamma(z + 1)"), (ZERO, None), True)) is None
    assert known(Translation(parse("2**z/gamma(z + 1)"), (ZERO, None), False)) is None
    assert known(Translation(parse("2**z"), (ZERO, None), True)) is None
    with precision(64), pytest.raises(Undecided):
        Circle([(known(discrete_laplace(num(10**6))), 1)]).weight(0)

"""The supremum rule by parts: known values, a law (no pair of points loses more than the bound), and a mutation for every hypothesis."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpverify.search.additive import modulus_parts as search
from dpverify.search.numeric import vectorised
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import add, num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Domain, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.theories.additive.rules import modulus_parts

TOOTH = "exp(-abs(z))*(1 + z - floor(z))"


def line(density, sensitivity="1/3", **fields):
    return Claim(Translation(parse(density)), None, sensitivity=parse(sensitivity), **fields)


@cache
def evidence(claim):
    (step,) = search.propose(claim, 20)
    return step["evidence"]


def check(claim, data):
    with precision(160):
        return modulus_parts.check(claim, data).value


@cache
def holds(claim):
    """Require that its own evidence is accepted, once for all tests that break it."""
    check(claim, evidence(claim))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("density", "sensitivity", "tight"),
    [
        # two peaks, the steeper of slope 2: from 4/3, where the densities cross, inwards
        ("max(exp(-abs(z)), exp(-2*abs(z - 2)))", "1/3", "2/3"),
        # from the top of a tooth less a third, (5/3), over the jump to its foot, 1
        (TOOTH, "1/3", "1/3 + log(5/3)"),
        # pairs nearer than 2 step over two teeth: from 2 to 1, with a slope of 2 in all in the limit
        (TOOTH, "2", "2 + log(2)"),
        # a tooth in the exponent falls by 1/2 at once, or by 1/6 in a third
        ("exp(-abs(z) - (z - floor(z))/2)", "1/3", "2/3"),
        # a plateau that is left by a jump of 3/2 against the slope
        ("exp(-abs(z))*(2 + floor(min(abs(z), 1)))", "1/3", "log(3/2)"),
        # odd integers weigh twice as much
        ("exp(-abs(z))*(1 + floor(z) - 2*floor(z/2))", "1/3", "1/3 + log(2)"),
    ],
)
def test_densities_that_rise_and_jump_have_the_value_of_their_worst_pair(density, sensitivity, tight):
    found = check(line(density, sensitivity), evidence(line(density, sensitivity)))
    assert certainly_le(parse(tight), found) and certainly_le(found, parse(f"{tight} + 10**(-18)"))
    # no pair within the sensitivity loses more: the value is a bound, whatever the reasons given above
    h = neg_log(parse(density))
    most = parse(sensitivity).value
    with precision(64):
        for a in range(-30, 31):
            for share in (Fraction(-1), Fraction(-3, 7), Fraction(2, 5), Fraction(1)):
                points = [Fraction(a, 7), Fraction(a, 7) + most * share]
                first, second = (value(h, {"z": rational(point)}) for point in points)
                assert second - first <= constant(found) + rational(Fraction(1, 10**12))


STEPS = [
    # one sensitivity holds one jump or two
    (Claim(Radial(parse("exp(-log(3)*floor(r + 2/3))"), L2, num(1), num(1)), None, sensitivity=parse("1")), "log(3)"),
    (Claim(Radial(parse("exp(-log(3)*floor(r + 2/3))"), L2, num(3), num(1)), None, sensitivity=parse("3/2")), "2*log(3)"),
    (Claim(Radial(parse("exp(-floor(2*r))"), L2, num(2), num(1)), None, sensitivity=parse("1")), "2"),
    (line("exp(-floor(abs(z)))", "1/2"), "1"),
    (line("exp(-floor(abs(z - 5)))", "1/2"), "1"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("claim", "tight"), STEPS)
def test_stairs_without_end_lose_what_the_steps_within_the_sensitivity_are_worth(claim, tight):
    assert certainly_equal(check(claim, evidence(claim)), parse(tight))


# -- floors in front of tails that do not repeat -------------------------------------------------------------

WAVES = [
    # from 2/3, (5/3)/(1 + 4/9), over the jump to its foot, 1/(1 + 1)
    ("(1 + z - floor(z))/(1 + z**2)", "1/3", "log(30/13)"),
    # from just below 1 to just above 3: 1 and 1/10
    ("(1 + z - floor(z))/(1 + z**2)", "2", "log(10)"),
    # from just below 0, where the tooth is 2, to -1/2, where it is 3/2 and the tail 1/(9/4)
    ("(1 + z - floor(z))/(1 + abs(z))**2", "1/2", "log(3)"),
    # the tooth falls outward, so that its jump goes inward, where the tail rises: no pair loses more than the jump
    ("(1 - (abs(z) - floor(abs(z)))/2)/(1 + z**2)", "1/3", "log(2)"),
    # a factor that rises by e in a period, and a tail without a mean
    ("exp(z - floor(z))/(1 + z**2)**(3/4)", "1/3", "1"),
    # steps in the tail itself: 1 at 0, 5/2 times less from 1 to 2
    ("1/(1 + floor(abs(z))**2)", "1", "log(5/2)"),
    # not a factor: 2 just below 0, where the tooth is 1, and 1 at 0
    ("1/(1 + z**2 + (z - floor(z)))", "1/3", "log(2)"),
    # the greatest loss is a limit: 5/3 over the jump, and the slope of the tail, 1 in the limit
    ("(1 + z - floor(z))*exp(-sqrt(1 + z**2))", "1/3", "1/3 + log(5/3)"),
]


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("density", "sensitivity", "tight"), WAVES)
def test_floors_in_front_of_a_tail_that_does_not_repeat_are_bounded_and_the_bound_is_met(density, sensitivity, tight):
    found = verify(line(density, sensitivity), 10).judgement
    grid = [n / 64 + side for n in range(-64 * 12, 64 * 12 + 1) for side in (-1e-9, 1e-9)]
    values = vectorised(neg_log(parse(density)), "z")
    most = max(
        float(np.max(values(np.array(grid) + float(parse(sensitivity).value) * share) - values(np.array(grid))))
        for share in (-1.0, -0.5, -1e-8, 1e-8, 0.25, 0.5, 0.999999, 1.0)
    )
    assert most <= float(constant(found.upper)) + 1e-6
    if tight is not None:
        assert certainly_le(parse(tight), add(found.upper, parse("10**(-15)"))) and certainly_le(found.upper, parse(f"{tight} + 10**(-8)"))
        assert certainly_le(parse(f"{tight} - 10**(-5)"), found.lower)


@pytest.mark.parametrize(
    ("density", "change"),
    [
        ("(1 + z - floor(z))/(1 + abs(z))", {}),  # no finite mass
        ("(1 + z - floor(z))/(1 + z**2)", {"start": "8"}),  # before an end has scales
        ("(1 + z - floor(z))/(1 + z**2)", {"tree": ["corner", 0]}),
        ("(1 + 9*(z - floor(z)))/(1 + z**2)", {}),  # a taller tooth
        ("(1 + z - floor(z))*exp(abs(z))/(1 + z**2)", {}),
    ],
)
def test_waves_are_refused_where_the_end_is_not_as_they_say(density, change):
    good = line("(1 + z - floor(z))/(1 + z**2)")
    data = evidence(good)
    holds(good)
    with pytest.raises((Rejected, Undecided)):
        check(line(density), data | {"far": data["far"] | change})


def test_radial_noise_has_no_points_before_0():
    claim = Claim(Radial(parse("exp(-r)*(1 + r - floor(r))"), L1, num(2), num(1)), None, sensitivity=parse("1/3"))
    assert certainly_equal(check(claim, evidence(claim)), parse("1/3 + log(5/3)")) or certainly_lt(
        check(claim, evidence(claim)), parse("1/3 + log(5/3) + 10**(-18)")
    )


def test_what_is_too_small_or_of_another_claim_is_refused():
    claim = line(TOOTH)
    data = evidence(claim)
    short = data["far"] | {"tree": ["corner", 0]}
    for changed in ({"bound": "1/3 + log(5/3) - 10**(-9)"}, {"tree": ["corner", 0]}, {"bound": "z"}, {"far": short}):
        with pytest.raises(Rejected):
            check(claim, data | changed)
    for other in (line(TOOTH, "1/2"), line("exp(-abs(z))*(1 + 2*(z - floor(z)))"), line(TOOTH, "0"), line(TOOTH, "-1/3")):
        with pytest.raises((Rejected, CertificateError)):
            check(other, data)
    with pytest.raises(Rejected):
        check(line(TOOTH, "D", domains=(("D", Domain(Fraction(0))),)), data)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "sides",
    [
        {"far": {"start": "0", "period": "1/2"}},  # no period of the tooth
        {"far": {"start": "16", "period": "1/2"}},  # by which no pair on the end is then bounded but for what the tooth may be worth
        {"far": {"start": "-1"}},  # an abs turns on the way
        {"far": {"start": "0", "period": "0"}},
        {"near": {"start": "0", "period": "-1"}},
        {"near": {"start": "9"}},  # the ends overlap
    ],
)
def test_an_end_repeats_only_where_h_does(sides):
    claim = line(TOOTH)
    data = evidence(claim)
    with pytest.raises((Rejected, Undecided)):
        check(claim, data | {name: data[name] | side for name, side in sides.items()})


def test_a_density_without_mass_at_an_end_has_no_bound():
    flat = line("1 + (z - floor(z))")
    tooth = evidence(line(TOOTH))
    with pytest.raises(Rejected, match="finite mass"):
        check(flat, tooth)


@pytest.mark.parametrize("lone", ["floor(z) + floor(-z)", "floor(2*z) + floor(-2*z)"])
def test_a_density_that_is_0_but_at_single_points_is_no_law(lone):
    claim = line(f"exp(-abs(z))*(1 + {lone})", "1")
    with pytest.raises(Rejected, match="0 everywhere"):
        check(claim, evidence(line(f"exp(-abs(z))*(2 + {lone})", "1")))


# -- noise on the integers -----------------------------------------------------------------------------------


def integers(density, sensitivity="1"):
    return Claim(Translation(parse(density), integers=True), None, sensitivity=parse(sensitivity))


WHOLE = [
    ("exp(-abs(abs(z) - 1))", 1, "1"),
    ("exp(-abs(abs(z) - 1))", 3, "3"),
    # from 1 to 2: (1 + 4)/(1 + 1), which no pair of reals a distance of 1 apart stops at
    ("1/(1 + z**2)", 1, "log(5/2)"),
    ("1/(1 + z**2)", 3, "log(10)"),
    # odd integers weigh 3, even ones 2: from 1 to 2, and over two steps from 0 to 2
    ("exp(-abs(z))*(2 + z - 2*floor(z/2))", 1, "1 + log(3/2)"),
    ("exp(-abs(z))*(2 + z - 2*floor(z/2))", 2, "2"),
    # even ones 20 times as much: a single step loses most
    ("exp(-abs(z))*(20 - 19*(z - 2*floor(z/2)))", 2, "1 + log(20)"),
]


def test_on_the_integers_a_heavy_tail_may_have_waves_but_no_shares():
    """Multiples of 3 weigh 3, those after them 4, 5: from 2, 5/(1 + 4), to 3, 3/(1 + 9)."""
    claim = integers("(3 + z - 3*floor(z/3))/(1 + z**2)")
    found = check(claim, evidence(claim))
    weights = {n: (3 + n % 3) / (1 + n * n) for n in range(-60, 61)}
    worst = max(math.log(weights[a] / weights[b]) for a in weights for b in (a - 1, a + 1) if b in weights)
    assert float(constant(found).mid()) == pytest.approx(worst, abs=1e-9)
    # at every integer floor(z) + floor(-z) is 0, beside them -1: a share in [-1, -1] is wrong there
    beside = integers("1/(1 + z**2*(2 + floor(z) + floor(-z)))")
    with pytest.raises((Rejected, Undecided)):
        check(beside, evidence(claim) | {"bound": "100"})


@pytest.mark.parametrize(("density", "most", "tight"), WHOLE)
def test_on_the_integers_the_worst_pair_is_one_of_integers(density, most, tight):
    claim = integers(density, str(most))
    found = check(claim, evidence(claim))
    assert certainly_le(parse(tight), found) and certainly_le(found, parse(f"{tight} + 10**(-18)"))
    h = neg_log(parse(density))
    with precision(64):
        heights = {n: value(h, {"z": rational(Fraction(n))}) for n in range(-40, 41)}
        worst = max(float((heights[b] - heights[a]).mid()) for a in heights for b in heights if abs(a - b) <= most)
    assert worst == pytest.approx(float(constant(parse(tight)).mid()), abs=1e-12)
    below = evidence(claim) | {"bound": f"{tight} - 10**(-9)"}
    with pytest.raises(Rejected):
        check(claim, below)


@pytest.mark.parametrize(
    ("density", "change"),
    [
        ("exp(-abs(z) - (z/3 - floor(z/3)))", {"near": {"start": "0", "period": "3/2"}}),
        ("exp(-abs(abs(z) - 1))", {"near": "5000000"}),
        ("exp(-abs(abs(z) - 40))", {"near": "16", "far": "16"}),
    ],
)
def test_ends_that_do_not_take_integers_to_integers_or_lie_too_far_out_or_too_near_are_refused(density, change):
    data = evidence(integers(density))
    with pytest.raises((Rejected, Undecided)):
        check(integers(density), data | change)


def test_a_density_that_is_0_at_an_integer_has_no_bound():
    data = evidence(integers("exp(-abs(abs(z) - 1))"))
    with pytest.raises(Rejected, match="not certainly at most the bound"):
        check(integers("abs(z)*exp(-abs(z))"), data | {"bound": "1000"})


@pytest.mark.parametrize(("steps", "tight"), [(3, "1/3 + log(2)"), (7, "1/3 + log(4)")])
def test_steps_at_multiples_that_no_ball_holds_are_known_at_integers(steps, tight):
    """A third of 3 as a ball holds less than 1: from the top of a tooth, 2 + (steps - 1), to its foot one further, 2."""
    found = verify(integers(f"exp(-abs(z)/3)*(2 + z - {steps}*floor(z/{steps}))"), 10).judgement
    assert certainly_le(found.lower, parse(tight)) and certainly_le(parse(f"{tight} - 10**(-8)"), found.lower)
    assert certainly_le(parse(tight), found.upper) and certainly_le(found.upper, parse(f"{tight} + 10**(-8)"))

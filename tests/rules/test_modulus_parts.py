"""The supremum rule by parts: known values, a law (no pair of points loses more than the bound), and a mutation for every hypothesis."""

from fractions import Fraction

import pytest

from dpverify.search.additive import modulus_parts as search
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, Claim, Domain, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.theories.additive.rules import modulus_parts

TOOTH = "exp(-abs(z))*(1 + z - floor(z))"


def line(density, sensitivity="1/3", **fields):
    return Claim(Translation(parse(density)), None, sensitivity=parse(sensitivity), **fields)


def evidence(claim):
    (step,) = search.propose(claim, 20)
    return step["evidence"]


def check(claim, data):
    with precision(160):
        return modulus_parts.check(claim, data).value


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


def test_radial_noise_has_no_points_before_0():
    claim = Claim(Radial(parse("exp(-r)*(1 + r - floor(r))"), L1, num(2), num(1)), None, sensitivity=parse("1/3"))
    assert certainly_equal(check(claim, evidence(claim)), parse("1/3 + log(5/3)")) or certainly_lt(
        check(claim, evidence(claim)), parse("1/3 + log(5/3) + 10**(-18)")
    )


def test_what_is_too_small_or_of_another_claim_is_refused():
    claim = line(TOOTH)
    data = evidence(claim)
    for changed in ({"bound": "1/3 + log(5/3) - 10**(-9)"}, {"tree": ["corner", 0]}, {"bound": "z"}):
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
        {"far": {"start": "-1", "period": "1"}},  # h falls on the way to 0
        {"far": {"start": "0", "period": "0"}},
        {"near": {"start": "0", "period": "-1"}},
        {"near": {"start": "9", "period": "1"}},  # the ends overlap
    ],
)
def test_an_end_repeats_only_where_h_does(sides):
    claim = line(TOOTH)
    with pytest.raises(Rejected):
        check(claim, evidence(claim) | sides)


def test_a_density_without_mass_at_an_end_has_no_bound():
    flat = line("1 + (z - floor(z))")
    with pytest.raises(Rejected, match="rise"):
        check(flat, {"bound": "10", "near": {"start": "0", "period": "1"}, "far": {"start": "0", "period": "1"}, "tree": ["corner", 0]})


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

"""Closed forms of delta: equal to the claim where it is one, against mpmath."""

from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.combinators.neighbours import APART
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse, sub
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    KaryResponse,
    Parallel,
    Part,
    PostProcess,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.theories.composition.rules.closed_profile import check
from tests.reference import MP, holds

LAPLACE = Radial(parse("exp(-r)"), L1, num(1), parse("1/2"))
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, num(3), num(2))
WARNER = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))


def bounds(mechanism, epsilon="1", sensitivity="1", **more):
    stated = None if sensitivity is None else parse(sensitivity)
    with precision(160):
        return check(Claim(mechanism, parse(epsilon), None, stated, **more), {})


def phi(x):
    return MP.ncdf(x)


def gaussian(mu, epsilon):
    return phi(mu / 2 - epsilon / mu) - MP.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def kov(times, ratio, epsilon):
    e0 = MP.log(ratio)
    total = MP.fsum(MP.binomial(times, i) * max(MP.exp((times - i) * e0) - MP.exp(epsilon + i * e0), 0) for i in range(times + 1))
    return total / (1 + ratio) ** times


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "sensitivity", "truth"),
    [
        (LAPLACE, "1", "1", lambda: 1 - MP.exp(MP.mpf(-1) / 2)),
        (LAPLACE, "3", "1", lambda: MP.mpf(0)),
        (GAUSSIAN, "1", "2", lambda: gaussian(MP.mpf(1), MP.mpf(1))),
        (WARNER, "1/2", None, lambda: (3 - MP.exp(MP.mpf(1) / 2)) / 4),
        (KaryResponse(num(4), parse("1/2")), "1/2", None, lambda: MP.mpf(1) / 2 - MP.exp(MP.mpf(1) / 2) / 6),
        (Compose((repeated(Part(WARNER), num(5)),)), "2", None, lambda: kov(5, 3, MP.mpf(2))),
        (Compose((Part(GAUSSIAN, num(2)), repeated(Part(GAUSSIAN, num(2)), num(3)))), "1", None, lambda: gaussian(MP.mpf(2), MP.mpf(1))),
        (Group(Part(LAPLACE, num(1)), num(2)), "1", None, lambda: 1 - MP.exp(MP.mpf(-3) / 2)),
    ],
)
def test_both_bounds_are_one_closed_form(mechanism, epsilon, sensitivity, truth):
    upper, lower = bounds(mechanism, epsilon, sensitivity)
    assert (upper.side, lower.side) == ("upper", "lower") and upper.value == lower.value
    assert upper.quantity == lower.quantity == "delta"
    with precision(160):
        assert holds(constant(upper.value), truth())


ENDED = {
    "uniform": ("1", ("0", "3"), "1", lambda z: MP.mpf(1)),
    "uniform, far apart": ("1", ("0", "3"), "4", lambda z: MP.mpf(1)),
    "exponential": ("exp(-z/2)", ("0", None), "3/2", lambda z: MP.exp(-z / 2)),
    "from another place": ("7*exp(3 - 2*z)", ("-1", None), "1/3", lambda z: 7 * MP.exp(3 - 2 * z)),
    "cut off": ("exp(-z)", ("0", "2"), "1", lambda z: MP.exp(-z)),
    "cut off, far apart": ("exp(-z)", ("0", "2"), "2", lambda z: MP.exp(-z)),
    "rising to its end": ("exp(z)", (None, "1"), "1", lambda z: MP.exp(z)),
    "rising between ends": ("exp(z/3)", ("1", "4"), "1/2", lambda z: MP.exp(z / 3)),
}


def by_quadrature(density, support, shift, epsilon):
    """The greater of the two orders' integrals of (p - e^epsilon q)_+, by pieces between which neither has a kink."""
    low, high = (None if end is None else MP.mpf(Fraction(end).numerator) / Fraction(end).denominator for end in support)
    moved = MP.mpf(Fraction(shift).numerator) / Fraction(shift).denominator

    def at(z):
        return density(z) if (low is None or z >= low) and (high is None or z <= high) else MP.mpf(0)

    start, stop = (high - 60 if low is None else low) - moved, (low + 60 if high is None else high) + moved
    ends = sorted({start, stop, *(end + step for end in (low, high) if end is not None for step in (-moved, 0, moved))})
    total = MP.quad(at, [end for end in ends if start <= end <= stop])
    return (
        max(
            MP.quad(
                lambda z, side=side: max(at(z) - MP.exp(epsilon) * at(z - side * moved), 0), [end for end in ends if start <= end <= stop]
            )
            for side in (1, -1)
        )
        / total
    )


@pytest.mark.parametrize("noise", ENDED)
def test_noise_with_an_end_has_the_delta_that_quadrature_gives(noise):
    density, support, shift, function = ENDED[noise]
    mechanism = Translation(parse(density), tuple(None if end is None else parse(end) for end in support))
    for epsilon in ("0", "1/4", "3"):
        upper, lower = bounds(mechanism, epsilon, shift)
        assert (upper.side, lower.side) == ("upper", "lower") and upper.value == lower.value
        truth = by_quadrature(function, support, shift, MP.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        assert float(constant(upper.value).mid()) == pytest.approx(float(truth), abs=1e-9)


@pytest.mark.parametrize(
    ("density", "support"),
    [("exp(-z)", (None, "0")), ("1", ("0", None)), ("exp(-z**2)", ("0", None)), ("-exp(-z)", ("0", None)), ("log(1/2)", ("0", "1"))],
)
def test_noise_that_is_not_linear_or_no_density_or_ends_where_it_is_small_has_no_such_form(density, support):
    with pytest.raises(DpverifyError):
        bounds(Translation(parse(density), tuple(None if end is None else parse(end) for end in support)))


def test_integers_and_negative_epsilons_have_no_such_form():
    for mechanism, epsilon in (
        (Translation(parse("1"), (num(0), num(3)), integers=True), "1"),
        (Translation(parse("1"), (num(0), num(3))), "-1"),
    ):
        with pytest.raises(DpverifyError):
            bounds(mechanism, epsilon)


@pytest.mark.parametrize(("density", "support", "delta"), [("exp(-z)", ("0", None), "1 - exp(-1)"), ("1", ("0", "3"), "1/3")])
def test_at_the_mass_of_the_end_every_epsilon_holds_and_below_it_none(density, support, delta):
    mechanism = Translation(parse(density), tuple(None if end is None else parse(end) for end in support))
    for epsilon in ("0", "5"):
        for less, verdict in ((num(0), "PROVED"), (parse("1e-9"), "REFUTED")):
            claim = Claim(mechanism, parse(epsilon), sub(parse(delta), less), num(1))
            assert verify(claim).judgement.verdict == verdict
    found = verify(Claim(mechanism, None, parse(delta), num(1))).judgement
    assert (found.verdict, found.lower, found.upper) == ("PROVED", num(0), num(0))


def test_of_post_processed_parts_the_upper_bound_alone_is_closed():
    [upper] = bounds(PostProcess(Part(LAPLACE, num(1))), sensitivity=None)
    assert upper.side == "upper"


@pytest.mark.parametrize(
    "mechanism",
    [
        Radial(parse("(1 + r**2)**(-2)"), L2, num(1)),
        Compose((Part(LAPLACE, num(1)), Part(GAUSSIAN, num(1)))),
        Compose((repeated(Part(LAPLACE, num(1)), num(2)),)),
        Subsample(Part(GAUSSIAN, num(1)), parse("1/2")),
        Parallel((Part(LAPLACE, num(1)), Part(LAPLACE, num(1)))),
    ],
)
def test_what_has_no_closed_form_is_refused(mechanism):
    with pytest.raises((Rejected, Undecided)):
        bounds(mechanism, sensitivity="1" if isinstance(mechanism, Radial) else None)


def test_open_parameters_and_an_open_epsilon_are_refused():
    noise = Radial(parse("exp(-r/b)"), L1, num(1))
    with pytest.raises(DpverifyError):
        bounds(noise, domains=(("b", Domain(Fraction(0))),))
    with precision(128), pytest.raises(Rejected):
        check(Claim(LAPLACE, None, parse("1/10"), num(1)), {})


def test_parts_whose_neighbours_nothing_connects_are_worst_together_by_assumption():
    parts = (Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1)), Part(Radial(parse("exp(-r**2/8)"), L2, num(1)), num(1)))
    upper, lower = check(Claim(Compose(parts), num(1)), {})
    assert APART in lower.assumed and APART not in upper.assumed
    alone = check(Claim(parts[0].mechanism, num(1), sensitivity=num(1)), {})
    assert not any(APART in bound.assumed for bound in alone)

"""Closed forms of delta: equal to the claim where it is one, against mpmath."""

from fractions import Fraction

import pytest

from dpverify.trusted.combinators.neighbours import APART
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
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

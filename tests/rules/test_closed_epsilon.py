"""The tight epsilon at a delta in closed form, against mpmath and by hand."""

import pytest

from dpverify.search.composition import closed_epsilon as search
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import STUMBLES, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Compose, KaryResponse, Part, PostProcess, Radial, Table, repeated
from dpverify.trusted.theories.composition.rules.closed_epsilon import check
from tests.reference import MP, holds

LAPLACE = Radial(parse("exp(-r)"), L1, num(1), parse("1/2"))
WARNER = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
APART = Table(((parse("1/2"), parse("1/2"), num(0)), (num(0), parse("1/2"), parse("1/2"))))


def claim(mechanism, delta, sensitivity=None):
    return Claim(mechanism, None, parse(delta), None if sensitivity is None else parse(sensitivity))


def bounds(of, **evidence):
    with precision(160):
        return check(of, evidence)


@pytest.mark.parametrize(
    ("of", "near", "truth"),
    [
        # 1 - exp((epsilon - 2)/2) = 1/100
        (claim(LAPLACE, "1/100", "1"), 2, lambda: 2 + 2 * MP.log(MP.mpf(99) / 100)),
        # 3/4 - e^epsilon/4 = 1/8
        (claim(WARNER, "1/8"), 1, lambda: MP.log(MP.mpf(5) / 2)),
        # one of four answers is true with 1/2 and each false one has 1/6
        (claim(KaryResponse(num(4), parse("1/2")), "1/10"), 1, lambda: MP.log(MP.mpf(12) / 5)),
        # two responses: (9 - e^epsilon)/16 above log(3) - 2 log(3) = 0, where the losses are 2 log(3), 0 and -2 log(3)
        (claim(Compose((repeated(Part(WARNER), num(2)),)), "1/4"), 1, lambda: MP.log(5)),
    ],
)
def test_both_bounds_are_one_closed_form(of, near, truth):
    with precision(160):
        [step] = search.propose(of, near)
        upper, lower = check(of, step["evidence"])
        assert upper.quantity == lower.quantity == "epsilon" and upper.value == lower.value
        assert holds(constant(upper.value), truth())


@pytest.mark.parametrize("wrong", ["5/4", "1/2", "log(5/2) - 1/10**12", "-log(5/2)", "x", "None"])
def test_another_epsilon_is_no_tight_one(wrong):
    try:
        found = bounds(claim(WARNER, "1/8"), epsilon=wrong, later="2")
    except DpverifyError:
        return
    assert [bound.side for bound in found] == ["upper"] and wrong == "5/4"


def test_a_later_epsilon_that_is_not_later_is_refused():
    for later in ("1/2", "0", "-1"):
        with pytest.raises(Rejected):
            bounds(claim(WARNER, "1/8"), epsilon="log(5/2)", later=later)
    with pytest.raises(STUMBLES, match="later"):  # what the kernel refuses
        bounds(claim(WARNER, "1/8"), epsilon="log(5/2)")


def test_where_delta_falls_no_further_an_epsilon_is_an_upper_bound_alone():
    """Half of the mass is of the one row alone: delta is 1/2 at every epsilon of at least 0, and the tight epsilon is 0."""
    [bound] = bounds(claim(APART, "1/2"), epsilon="3", later="4")
    assert bound.side == "upper" and bound.value is not INFINITE


def test_of_post_processed_parts_the_upper_bound_alone_is_closed():
    [bound] = bounds(claim(PostProcess(Part(WARNER)), "1/8"), epsilon="log(5/2)", later="2")
    assert bound.side == "upper"


def test_a_claim_without_delta_and_noise_without_a_closed_form_have_none():
    with pytest.raises(Rejected):
        bounds(Claim(WARNER, num(1)), epsilon="1", later="2")
    assert search.propose(claim(Radial(parse("exp(-r**2/2)"), L2, num(1)), "1/8", "1"), 1) == []


def test_beyond_the_tight_epsilon_there_is_an_upper_bound_alone():
    # 3/4 - e/4 is less than 1/8, so that the tight epsilon is below 1
    (found,) = bounds(claim(WARNER, "1/8"), epsilon="1", later="21/20")
    assert (found.side, found.value) == ("upper", num(1))

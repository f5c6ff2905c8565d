"""Claimed epsilons above a proved bound, shown by an identity of squares and constraints."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.composition.gap import Gap, total
from dpverify.search.composition.positivstellensatz import summands
from dpverify.search.verify import verify
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse, substitute
from dpverify.trusted.kernel.judgement import check as recheck
from dpverify.trusted.kernel.model import L2, Claim, Domain, Radial
from tests.effort import examples

POSITIVE = Domain(Fraction(0))
REAL = Domain()
UNIT = Domain(Fraction(0), Fraction(1), False, False)
COUNT = Domain(Fraction(2), lower_open=False, integer=True)


def laplace(sensitivity, epsilon, scale="s", **domains):
    """exp(-r) noise, whose tight epsilon is sensitivity / scale (theory#concave-exponent)."""
    noise = Radial(parse("exp(-r)"), L2, num(1), parse(scale))
    domains = {"s": POSITIVE, **domains}
    return Claim(noise, parse(epsilon), sensitivity=parse(sensitivity), domains=tuple(sorted(domains.items())))


def found(low, high, domains):
    return summands(Gap(parse(low), parse(high), domains))


# Inequalities of the textbooks that the order of closed forms does not see.
THREE = {"u": POSITIVE, "v": POSITIVE, "w": POSITIVE}
KNOWN = [
    ("8*u*v*w", "(u + v)*(v + w)*(w + u)", THREE),  # Cesaro
    ("9*u*v*w", "(u + v + w)*(u*v + v*w + w*u)", THREE),  # arithmetic and harmonic mean
    ("3/2", "u/(v + w) + v/(w + u) + w/(u + v)", THREE),  # Nesbitt
    ("3*u**2*v**2", "1 + u**4*v**2 + u**2*v**4", {"u": REAL, "v": REAL}),  # Motzkin: no sum of squares without a multiplier
    ("4*u*v*w*x", "u**4 + v**4 + w**4 + x**4", dict.fromkeys("uvwx", POSITIVE)),  # the means of four
    ("u*v", "(u**3 + 2*v**(3/2))/3", {"u": POSITIVE, "v": POSITIVE}),  # Young, with a root
    ("log(1 + 8*u*v*w)", "log(1 + (u + v)*(v + w)*(w + u))", THREE),
    # at every integer, and not between 2 and 3, or 4 and 5, or 20 and 21
    ("k", "k + (k - 2)*(k - 3)", {"k": COUNT}),
    ("k", "k + (k - 2)*(k - 3)*(k - 4)*(k - 5)", {"k": COUNT}),
    ("k*u", "k*u + (k - 41/2)**2*u - u/4", {"k": COUNT, "u": POSITIVE}),
    ("u/v + v/w + w/u", "u**2/v**2 + v**2/w**2 + w**2/u**2", THREE),
]
FALSE = [
    ("8*u*v*w", "(u + v)*(v + w)*(w + u) - 1/1000", THREE, {"u": 1, "v": 1, "w": 1}),
    ("5*u*v", "2*u**2 + 3*v**2 + 1/100", THREE, {"u": 1, "v": Fraction(3, 4)}),
    ("3*u**2*v**2", "99999/100000 + u**4*v**2 + u**2*v**4", {"u": REAL, "v": REAL}, {"u": 1, "v": 1}),
    ("u", "1/2", {"u": UNIT}, {"u": 1}),
    ("u*v", "u + v - 1", {"u": UNIT, "v": UNIT}, {"u": 0, "v": 0}),
    ("k", "k**2/2 - 1/100", {"k": COUNT}, {"k": 2}),
    ("k", "k + (k - 2)*(k - 4)", {"k": COUNT}, {"k": 3}),
    ("u", "u + (u - 2)*(u - 3)", {"u": POSITIVE}, {"u": Fraction(5, 2)}),
]  # each with a point where it fails


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("low", "high", "domains"), KNOWN)
def test_known_inequalities_have_an_identity_that_the_kernel_accepts(low, high, domains):
    verified = verify(laplace(low, f"({high})/s", **domains) if "log" not in low else laplace(low, high, "1", **domains))
    assert verified.judgement.verdict == "PROVED"
    assert verified.certificate["signs"]
    assert recheck(verified.certificate).verdict == "PROVED"


@pytest.mark.parametrize(("low", "high", "domains", "point"), FALSE)
def test_false_inequalities_have_none(low, high, domains, point):
    at = {name: num(value) for name, value in point.items()}
    assert certainly_lt(substitute(parse(high), at), substitute(parse(low), at))
    assert found(low, high, domains) is None


COEFFICIENTS = st.integers(-3, 3)


@pytest.mark.wide
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(COEFFICIENTS, min_size=6, max_size=6), st.sampled_from([POSITIVE, REAL, UNIT]))
def test_what_is_found_holds_at_points_of_the_domains(c, domain):
    high = f"{c[0]} + ({c[1]})*u + ({c[2]})*v + ({c[3]})*u**2 + ({c[4]})*u*v + ({c[5]})*v**2"
    domains = {"u": domain, "v": domain}
    if found("0", high, domains) is not None:
        values = [Fraction(n, 7) for n in ((0, 1, 2, 3, 5, 6, 7) if domain is UNIT else (1, 3, 7, 20, 90))]
        values += [-x for x in values] if domain is REAL else []
        for u, v in product(values, values):
            assert c[0] + c[1] * u + c[2] * v + c[3] * u**2 + c[4] * u * v + c[5] * v**2 >= 0


# -- what the kernel is shown --------------------------------------------------------------------

CLAIM = laplace("8*u*v*w", "(u + v)*(v + w)*(w + u)/s", **THREE)


@pytest.fixture(scope="module")
def certificate():
    return verify(CLAIM).certificate


@pytest.mark.parametrize("change", [("**2*w", "**2*2*w"), ("**2*u", "**2*(-u)"), ("**2", "")])
def test_another_writing_shows_nothing(certificate, change):
    (sign,) = certificate["signs"]
    changed = {**certificate, "signs": [{**sign, "form": sign["form"].replace(*change)}]}
    assert changed["signs"] != certificate["signs"]
    with pytest.raises(CertificateError, match="not certainly equal"):
        recheck(changed)


def test_without_what_is_shown_nothing_is_proved(certificate):
    bare = {key: value for key, value in certificate.items() if key != "signs"}
    with pytest.raises(CertificateError, match="its lines give UNKNOWN"):
        recheck(bare)


def test_what_is_shown_for_positive_parameters_holds_for_no_others(certificate):
    over = {name: {**domain, "lower": None} if name == "u" else domain for name, domain in certificate["signs"][0]["over"].items()}
    with pytest.raises(CertificateError, match="shows no sign"):
        recheck({**certificate, "signs": [{**certificate["signs"][0], "over": over}]})


def test_denominators_have_one_sign():
    with pytest.raises((Rejected, Undecided)):
        Gap(parse("0"), parse("1/(u - v)**2"), THREE)


def test_the_claimed_epsilon_is_defined_everywhere():
    with pytest.raises(Rejected, match="not certainly defined"):
        Gap(parse("0"), parse("log(u - v)*0 + log(u - v)"), THREE)


@pytest.mark.parametrize(
    ("low", "high", "domains"),
    [
        ("u", "u + (v - 1)**2*(u - 2)*(3 - v)", {"u": Domain(Fraction(2)), "v": UNIT}),  # a square, and factors of either sign
        ("0", "(u + 1)**3*(2*u - v)**2*v", {"u": Domain(Fraction(3)), "v": POSITIVE}),
    ],
)
def test_factors_of_certain_sign_and_squares_are_in_the_identity(low, high, domains):
    gap = Gap(parse(low), parse(high), domains)
    terms, multiplier = summands(gap)
    assert gap.numerator * (1 + total(gap, multiplier)) == total(gap, terms)


# -- opaque functions and roots ------------------------------------------------------------------


def test_functions_are_taken_as_variables_of_known_sign():
    domains = {"k": COUNT, "u": REAL, "v": REAL}
    assert found("u*v*log(k)", "(u**2 + v**2)*log(k)/2", domains) is not None
    assert found("u*v*log(k/10)", "(u**2 + v**2)*log(k/10)/2", domains) is None  # negative for k below 10


@given(st.integers(-6, 6), st.integers(-9, 9))
def test_between_two_integers_a_product_is_below_zero_and_at_none(k, n):
    at_integers, anywhere = (Gap(parse("n"), parse("n + n**2"), {"n": replace(REAL, integer=whole)}) for whole in (True, False))
    product_there = at_integers.constraint(parse("n"), str(k))
    assert product_there == at_integers.polynomial(parse(f"(n - ({k}))*(n - ({k + 1}))"))
    assert (n - k) * (n - k - 1) >= 0
    for gap, name, side in (
        (anywhere, "n", str(k)),
        (at_integers, "n", "1/2"),
        (at_integers, "n", "between"),
        (at_integers, "n + 1", str(k)),
    ):
        with pytest.raises(Rejected):
            gap.constraint(parse(name), side)

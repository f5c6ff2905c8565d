"""Lines of true answers: the least epsilon on the line and on the integers, and what is refused (theory/spaces.md, half-spaces)."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Space
from dpverify.trusted.theories.spaces.rules import half_spaces

ANY = (("b", Domain(Fraction(0), Fraction(1))), ("g", Domain(Fraction(0))))


def claim(within, beta="1/20", databases="answers", lipschitz="1", epsilon=None, domains=(), **made_of):
    space = Space(read_shape(made_of), parse(lipschitz), databases, num(9) if databases == "bounded" else None)
    return Claim(space, None if epsilon is None else parse(epsilon), within=parse(within), beta=parse(beta), domains=domains)


def lower(asked, **evidence):
    with precision(128):
        return float(constant(half_spaces.check(asked, evidence).value).mid())


def enclosed(asked):
    found = verify(asked, 12).judgement
    return float(constant(found.lower).mid()), float(constant(found.upper).mid())


def test_no_mechanism_on_the_line_is_better_than_laplace_noise():
    assert enclosed(claim("1/3", kind="real")) == pytest.approx((3 * math.log(20), 3 * math.log(20)))
    every = claim("g", "b", lipschitz="2", epsilon="2*log(1/b)/g", domains=ANY, kind="real")
    assert verify(every).judgement.verdict == "PROVED"
    assert verify(replace(every, epsilon=parse("1999*log(1/b)/(1000*g)"))).judgement.verdict == "REFUTED"


@pytest.mark.parametrize("within", ["1/2", "1", "5/2", "3"])
def test_no_mechanism_on_the_integers_is_better_than_geometric_noise(within):
    low, high = enclosed(claim(within, kind="integers"))
    m, u = math.floor(Fraction(within)), math.exp(-high)
    assert high - low < 1e-9 and 2 * u ** (m + 1) / (1 + u) == pytest.approx(1 / 20, rel=1e-9)


def test_the_bound_is_the_logarithm_of_the_share_of_steps_over_beta():
    assert lower(claim("1/10", lipschitz="2", kind="box", sides=[1]), axis=0, steps=4) == pytest.approx(20 * math.log(4 / 5 * 20))
    assert lower(claim("1/10", kind="box", sides=[1]), axis=0, steps=1) == pytest.approx(10 * math.log(1 / 2 * 20))
    assert lower(claim("2", lipschitz="3", kind="integers"), ratio="1/2") == pytest.approx(3 * math.log(2))


@pytest.mark.parametrize(
    ("within", "steps", "made_of"),
    [
        ("1/10", 4, {"kind": "box", "sides": [1]}),
        ("1/10", 9, {"kind": "box", "sides": [1, 2], "norm": "linf"}),
        ("1/10", 4, {"kind": "box", "sides": [1, 1], "norm": {"facets": [[1, 0], [0, "1/2"]]}}),
        ("1/10", 9, {"kind": "ball", "radius": 1, "dimension": 3}),
        ("1/10", 7, {"kind": "hull", "corners": [[0, 0], [1, 0], [0, 1]]}),
        ("1/10", 19, {"kind": "ellipsoid", "axes": "2/k"}),
        ("1/4", 3, {"kind": "hoelder", "dimension": 1, "constant": 1, "exponent": 1, "bound": 1}),
        ("1/10", 4, {"kind": "product", "norm": "l1", "parts": [{"kind": "cantor", "ratio": "1/3"}, {"kind": "box", "sides": [1]}]}),
    ],
)  # fmt: skip
def test_the_longest_line_that_is_known_of_a_space_bounds_epsilon(within, steps, made_of):
    near = float(Fraction(within))
    assert enclosed(claim(within, lipschitz="2", **made_of))[0] >= 2 / near * math.log(steps / (steps + 1) * 20) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("asked", "evidence", "error", "why"),
    [
        (claim("1/10", databases="unbounded", kind="real"), {}, Rejected, "one for each answer"),
        (claim("1/10", databases="bounded", kind="box", sides=[1]), {"axis": 0, "steps": 4}, Rejected, "one for each answer"),
        (claim("1/10", kind="box", sides=[1]), {"axis": 0, "steps": 5}, Rejected, "not certainly shorter"),
        (claim("1/10", kind="box", sides=[1]), {"axis": 1, "steps": 1}, CertificateError, "from 0 to 0"),
        (claim("1/10", kind="box", sides=[1]), {"axis": 0, "steps": 0}, CertificateError, "at least 1"),
        (claim("1/10", kind="box", sides=[1]), {"axis": 0, "steps": True}, CertificateError, "at least 1"),
        (claim("1/10", kind="box", sides=[1]), {"axis": 0}, CertificateError, "at least 1"),
        (claim("1/10", "9/10", kind="box", sides=[1]), {"axis": 0, "steps": 4}, Rejected, "anything is excluded"),
        (claim("1/10", kind="hull", corners=[[0], [1]]), {"corner": 0, "axis": 2, "steps": 4}, CertificateError, "from 0 to 1"),
        (claim("1/10", kind="hull", corners=[[0], [1]]), {"axis": 1, "steps": 4}, CertificateError, "'corner'"),
        (claim("1/10", kind="hull", corners=[[0], [1]]), {"corner": 1, "axis": 1, "steps": 1}, Rejected, "not certainly shorter"),
        (claim("1/10", kind="cantor", ratio="1/3"), {"steps": 1}, Rejected, "no lines that are known"),
        (claim("1/10", kind="sphere", radius=1, dimension=2), {"steps": 1}, Rejected, "no lines that are known"),
        (claim("1", kind="integers"), {"ratio": "0"}, Rejected, "above 0"),
        (claim("1", kind="integers"), {"ratio": "2"}, Rejected, "at most 1"),
        (claim("1", kind="integers"), {"ratio": "1/10"}, Rejected, "not certainly above beta"),
        (claim("1/10", kind="points", distances=[[0, 1], [1, 0]]), {"steps": 1}, Rejected, "no lines that are known"),
    ],
)  # fmt: skip
def test_what_is_no_line_is_refused(asked, evidence, error, why):
    with precision(128), pytest.raises(error, match=why):
        half_spaces.check(asked, evidence)

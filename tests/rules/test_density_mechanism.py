"""The exponential mechanism with a density on convex sets and on R^d: near and private as theory/spaces.md says, beside integrals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Space
from dpverify.trusted.theories.spaces.rules import density_mechanism, half_spaces

ANY = (("b", Domain(Fraction(0), Fraction(1))), ("g", Domain(Fraction(0))))


def claim(within, beta, rate, databases="answers", lipschitz="1", epsilon=None, domains=(), **made_of):
    space = Space(read_shape(made_of), parse(lipschitz), databases, num(9) if databases == "bounded" else None, rate=parse(rate))
    return Claim(space, None if epsilon is None else parse(epsilon), within=parse(within), beta=parse(beta), domains=domains)


def verdict(*asked, **more):
    return verify(claim(*asked, **more), 12).judgement.verdict


INTERVAL = {"kind": "box", "sides": [1]}


def test_on_an_interval_the_normaliser_costs_as_much_as_the_density():
    """By integrals: the greatest loss over distance, and the greatest probability of being further, over many true answers."""
    rate, gamma, cells = 6.0, 0.25, (np.arange(4000) + 0.5) / 4000
    truths = np.linspace(0, 1, 401)
    weights = np.exp(-rate * np.abs(truths[:, None] - cells))
    rows = weights / weights.sum(axis=1, keepdims=True)
    losses = np.abs(np.diff(np.log(rows), axis=0)).max() / (truths[1] - truths[0])
    far = (rows * (np.abs(truths[:, None] - cells) > gamma)).sum(axis=1).max()
    assert 11.7 < losses <= 12
    tail = (math.exp(-1.5) - math.exp(-6)) / (1 - math.exp(-6))
    assert far == pytest.approx(tail, rel=2e-3)
    above, below = (str(Fraction(tail + off).limit_denominator(10**9)) for off in (1e-6, -1e-6))
    assert verdict("1/4", above, "6", epsilon="12", **INTERVAL) == "PROVED"
    assert verdict("1/4", above, "6", epsilon="1199/100", **INTERVAL) == "REFUTED"
    assert verdict("1/4", below, "6", **INTERVAL) == "REFUTED"
    assert verdict("1", "1/1000", "6", epsilon="12", **INTERVAL) == "PROVED"  # nothing is further than the length
    assert verdict("1/4", above, "6", lipschitz="3", epsilon="36", kind="ball", radius="1/2", dimension=1) == "PROVED"
    assert verdict("1/4", above, "6", lipschitz="3", epsilon="359/10", kind="ball", radius="1/2", dimension=1) == "REFUTED"


def test_in_a_box_in_l1_one_entry_may_move_alone():
    box = {"kind": "box", "sides": [1, 2], "norm": "l1"}
    assert verdict("1/2", "1/20", "10", epsilon="20", **box) == "PROVED"
    assert verdict("1/2", "1/20", "10", epsilon="199/10", **box) == "REFUTED"
    assert verdict("1/2", "1/20", "10", databases="unbounded", epsilon="199/10", **box) == "UNKNOWN"


def test_on_the_line_it_is_laplace_noise_for_all_parameters():
    assert verdict("g", "b", "log(1/b)/g", epsilon="log(1/b)/g", domains=ANY, kind="real") == "PROVED"
    assert verdict("g", "b", "log(1/b)/g", epsilon="999*log(1/b)/(1000*g)", domains=ANY, kind="real") == "REFUTED"
    assert verdict("g/2", "b", "log(1/b)/g", domains=ANY, kind="real") == "REFUTED"


def test_in_several_dimensions_its_length_has_a_gamma_law():
    tail = math.exp(-5) * (1 + 5 + 12.5)
    above, below = (str(Fraction(tail + off).limit_denominator(10**9)) for off in (1e-6, -1e-6))
    real = {"kind": "real", "dimension": 3, "norm": "linf"}
    assert verdict("1/2", above, "10", epsilon="10", **real) == "PROVED" and verdict("1/2", below, "10", **real) == "REFUTED"
    assert verdict("1/2", above, "10", epsilon="99/10", **real) == "REFUTED"
    for shape in ({"kind": "ball", "radius": 1, "dimension": 3}, {"kind": "hull", "corners": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}):
        assert verdict("1/2", above, "10", epsilon="20", **shape) == "PROVED"
        assert verdict("1/2", below, "10", epsilon="20", **shape) == "UNKNOWN"


@pytest.mark.parametrize(
    ("asked", "side", "error", "why"),
    [
        (claim("1/4", "1/2", "1", kind="real"), "both", CertificateError, "not upper, lower or far"),
        (claim("1/4", "1/2", "1", databases="unbounded", kind="real"), "lower", Rejected, "one database an answer"),
        (claim("1/4", "1/2", "1", kind="box", sides=[1, 1]), "lower", Rejected, "boxes in l1"),
        (claim("1/4", "1/2", "1", kind="box", sides=[1, 1]), "far", Rejected, "from below on R"),
        (claim("1/4", "1/2", "1", **INTERVAL), "upper", Rejected, "not certainly near"),
        (claim("1/4", "1/2", "9", **INTERVAL), "far", Rejected, "not certainly too far"),
        (claim("g", "1/2", "1", domains=ANY[1:], kind="real", dimension=2), "upper", Rejected, "a value for each"),
        (claim("1/4", "1/2", "1", kind="sphere", radius=1, dimension=2), "upper", Rejected, "on a convex set"),
        (claim("1/4", "1/2", "1", kind="points", distances=[[0, 1], [1, 0]]), "upper", Rejected, "density on a convex set"),
    ],
)  # fmt: skip
def test_what_is_no_such_mechanism_is_refused(asked, side, error, why):
    with precision(128), pytest.raises(error, match=why):
        density_mechanism.check(asked, {"side": side})


def test_what_is_too_far_has_no_epsilon_and_bounds_of_any_mechanism_hold_of_this_one():
    asked = claim("1/10", "1/20", "10", **INTERVAL)
    with precision(128):
        assert density_mechanism.check(asked, {"side": "far"}).value == INFINITE
        assert float(constant(half_spaces.check(asked, {"axis": 0, "steps": 4}).value).mid()) == pytest.approx(10 * math.log(16))


def test_a_space_without_a_rate_has_no_density():
    asked = claim("1/4", "1/20", "1", **INTERVAL)
    with pytest.raises(Rejected, match="none with a density on a convex set is given"):
        density_mechanism.check(replace(asked, mechanism=replace(asked.mechanism, rate=None)), {"side": "lower"})

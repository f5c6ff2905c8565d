"""Grids of true answers, each point with its own distance: counted by hand, and what is refused (theory/spaces.md, grid packing)."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Space
from dpverify.trusted.theories.spaces.rules import grid_packing


def claim(within, beta="1/20", databases="answers", lipschitz="1", domains=(), **made_of):
    space = Space(read_shape(made_of), parse(lipschitz), databases, num(9) if databases == "bounded" else None)
    return Claim(space, None, within=parse(within), beta=parse(beta), domains=domains)


def excludes(asked, epsilon, reach, even=False):
    try:
        with precision(128):
            found = grid_packing.check(asked, {"epsilon": str(Fraction(epsilon).limit_denominator(10**9)), "reach": reach, "even": even})
    except Rejected:
        return False
    return bool(constant(found.value) > 0)


def by_hand(points, least_gap, norm, gamma, beta, lipschitz=1.0):
    """The epsilon at which the sum over the points is 1/(1 - beta), by bisection; their least distance is twice gamma."""
    assert min(norm([a - b for a, b in zip(p, q, strict=True)]) for p, q in itertools.combinations(points, 2)) == pytest.approx(least_gap)
    step, low, high = 2 * gamma / least_gap, 0.0, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        total = sum(math.exp(-middle * step * norm(p) / lipschitz) for p in points)
        low, high = (middle, high) if (1 - beta) * total > 1 else (low, middle)
    return low


NORMS = {"l1": lambda v: sum(map(abs, v)), "l2": lambda v: math.hypot(*v), "linf": lambda v: max(map(abs, v))}


@pytest.mark.parametrize(
    ("made_of", "reach", "even", "inside"),
    [
        ({"kind": "real", "dimension": 2, "norm": "linf"}, [[2, 2], [2, 1]], False, None),
        ({"kind": "real", "dimension": 3, "norm": "l1"}, [[1, 1], [2, 2], [1, 2]], True, None),
        ({"kind": "real", "dimension": 3, "norm": "l2"}, [[2, 2], [2, 2], [2, 2]], True, None),
        ({"kind": "real", "dimension": 2, "norm": "l2"}, [[2, 2], [2, 2]], False, None),
        ({"kind": "box", "sides": [1, "61/100"], "norm": "l2"}, [[2, 2], [1, 2]], False, None),
        ({"kind": "box", "sides": ["101/100"], "norm": "l2"}, [[2, 3]], False, None),
        ({"kind": "ball", "radius": "101/200", "dimension": 1, "norm": "l2"}, [[2, 3]], False, None),  # six points, none in the middle
        ({"kind": "real", "dimension": 1, "norm": "l2"}, [[4, 4]], False, None),
        ({"kind": "ball", "radius": "1/2", "dimension": 2, "norm": "l2"}, [[3, 3], [3, 3]], False, 5.0),
        ({"kind": "ball", "radius": "1/2", "dimension": 3, "norm": "l2"}, [[4, 4], [4, 4], [4, 4]], True, 5.0),
    ],
)  # fmt: skip
def test_the_sum_is_that_over_the_points_of_the_grid(made_of, reach, even, inside):
    gamma, beta, norm = 0.1, 0.05, NORMS[made_of["norm"]]
    gap = {"l1": 2.0, "l2": math.sqrt(2), "linf": 1.0}[made_of["norm"]] if even else 1.0
    points = [p for p in itertools.product(*(range(-left, right + 1) for left, right in reach)) if not even or sum(p) % 2 == 0]
    if inside is not None:
        points = [p for p in points if norm(p) * 2 * gamma / gap < 0.5 - 1e-9]
    expected = by_hand(points, gap, norm, gamma, beta, 3.0)
    asked = claim("1/10", lipschitz="3", **made_of)
    assert excludes(asked, expected * (1 - 1e-6), reach, even) and not excludes(asked, expected * (1 + 1e-6), reach, even)


@pytest.mark.parametrize(("p", "even"), [(None, False), (1, False), (1, True), (2, True), (3, False)])
def test_points_are_counted_by_their_lengths(p, even):
    reach = [(1, 2), (0, 3), (2, 2)]
    points = itertools.product(*(range(-left, right + 1) for left, right in reach))
    wanted = Counter(max(map(abs, z)) if p is None else sum(abs(x) ** p for x in z) for z in points if not even or sum(z) % 2 == 0)
    assert {n: count for n, count in grid_packing.lengths(reach, p, even).items() if count} == wanted


def test_grids_bound_epsilon_in_many_dimensions_within_a_factor_of_three():
    for made_of in ({"kind": "real", "dimension": 10, "norm": "linf"}, {"kind": "box", "sides": [1] * 20, "norm": "linf"}):
        found = verify(claim("1/10", **made_of), 12).judgement
        low, high = (float(constant(end).mid()) for end in (found.lower, found.upper))
        assert "grid-packing" in found.rules and low <= high <= 3 * low


@pytest.mark.parametrize(
    ("asked", "evidence", "error", "why"),
    [
        (claim("1/10", databases="unbounded", kind="real", dimension=2), {}, Rejected, "a database for each answer"),
        (claim("1/10", kind="cantor", ratio="1/3"), {}, Rejected, "not about a box"),
        (claim("g", domains=(("g", Domain(Fraction(0))),), kind="real", dimension=2), {}, Rejected, "with numbers"),
        (claim("1/10", kind="real", dimension=2, norm={"lp": "3/2"}), {}, Rejected, "whole p"),
        (claim("1/10", kind="real", dimension=2, norm={"facets": [[1, 0], [0, 1]]}), {}, Rejected, "whole p"),
        (claim("1/10", kind="real", dimension=2, norm="linf"), {"even": True}, Rejected, "no further apart"),
        (claim("1/10", kind="real"), {"even": True, "reach": [[1, 1]]}, Rejected, "no further apart"),
        (claim("1/10", kind="real", dimension=2), {"reach": [[1, 1]]}, CertificateError, "a pair of whole numbers"),
        (claim("1/10", kind="real", dimension=2), {"reach": [[1, 1], [-1, 1]]}, CertificateError, "from 0 to 64"),
        (claim("1/10", kind="real", dimension=2), {"reach": [[1, 1], [65, 1]]}, CertificateError, "from 0 to 64"),
        (claim("1/10", kind="real", dimension=2), {"epsilon": "-1"}, Rejected, "not certainly above 1"),
        (claim("1/10", kind="real", dimension=2), {"epsilon": "1000"}, Rejected, "not certainly above 1"),
        (claim("1/10", kind="box", sides=[1, "2/5"]), {"reach": [[2, 2], [1, 1]]}, Rejected, "not certainly shorter"),
        (claim("1/10", kind="box", sides=[1, "2/5"]), {"reach": [[2, 3], [0, 1]]}, Rejected, "not certainly shorter"),
        (claim("1/10", kind="box", sides=[1, "2/5"]), {"reach": [[0, 5], [0, 1]]}, Rejected, "not certainly shorter"),
        (claim("1/10", kind="real", dimension=7, norm={"lp": 8}), {"reach": [[0, 12]] * 7}, Rejected, "different distances"),
    ],
)  # fmt: skip
def test_what_is_no_grid_with_room_is_refused(asked, evidence, error, why):
    with precision(128), pytest.raises(error, match=why):
        grid_packing.check(asked, {"epsilon": "1", "reach": [[1, 1], [1, 1]], **evidence})

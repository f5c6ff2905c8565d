"""Bounds for any mechanism with answers in a metric space: nets, noise and tables from above, packings and duals from below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, Final

from dpverify.search.counterexample import grid
from dpverify.search.grids import diagonally
from dpverify.search.proposal import Proposal, Steps
from dpverify.search.spaces.axes import cut, majorant, repeated
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.balls import constant, exact
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, div, mul, neg, num, power, substitute, symbols
from dpverify.trusted.kernel.model import Claim, Shape, Space
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.spaces.nets import cube
from dpverify.trusted.theories.spaces.rules import (
    cell_response,
    density_mechanism,
    grid_packing,
    half_spaces,
    net_mechanism,
    noise_near,
    weighted_packing,
)
from dpverify.trusted.theories.spaces.shapes import CONVEX, apart_at, cubes, dimension, require, tamed

Told = dict[str, Any]

_SHARES: Final = tuple(Fraction(n, 20) for n in range(1, 20))
_NEAR_ONE: Final = (Fraction(98, 100), Fraction(99, 100), Fraction(999, 1000))
_HALF: Final = Fraction(1, 2)
_THRESHOLDS: Final = 64
"""So many radii at which the number of points of a net jumps are tried."""
_DEPTHS: Final = 1000
_MOST_GRID: Final = 64
_SHELLS: Final = 4
"""Most dimensions of a grid, and most points on each side of its first along an axis: those further out count little."""
_TRIES: Final = 40
"""Values of parameters at which packings are tried."""


def extend(proposal: Proposal, claim: Claim, digits: int) -> list[str]:
    """Add steps for both sides. The reasons why nothing was found on one."""
    space = claim.mechanism
    if not isinstance(space, Space):
        return []
    try:
        require(space, dict(claim.domains))
    except DpverifyError as error:
        return [str(error)]
    if space.rate is not None and space.shape.kind in CONVEX:
        return _of_density(proposal, claim)
    if space.table or space.rate is not None:
        from dpverify.search.spaces import given_mechanism

        proposal.extend(given_mechanism.propose, claim, digits)
        return []
    before = len(proposal.steps)
    proposal.extend(_above, claim, digits)
    found = len(proposal.steps) > before
    before = len(proposal.steps)
    proposal.extend(_below if not claim.domains else _below_somewhere, claim, digits)
    packed = len(proposal.steps) > before
    reasons = []
    if not found:
        reasons.append("no net, noise or table was found for answers so near: the space may have no finite net of such a radius.")
    if not packed:
        bounded = space.databases != "unbounded"
        told = "no packing was found that excludes such mechanisms."
        reasons.append(told if bounded else "databases may be any distance apart, so no packing counts.")
    return reasons


def _of_density(proposal: Proposal, claim: Claim) -> list[str]:
    """What is known of the mechanism with a density that is given."""
    reasons = []
    for side in ("upper", "far", "lower"):
        try:
            density_mechanism.check(claim, {"side": side})
            proposal.steps.append({"rule": density_mechanism.NAME, "evidence": {"side": side}})
        except DpverifyError as error:
            reasons.append(str(error))
    return reasons


# -- from above ------------------------------------------------------------------------------------------------


def _above(claim: Claim, digits: int) -> Steps:
    space, near = claim.mechanism, claim.within
    assert isinstance(space, Space) and near is not None
    if claim.domains:
        nets = [{"share": str(_HALF), "net": told} for told in _symbolic(space.shape)]
        return [*_kept(claim, net_mechanism, nets), *_kept(claim, noise_near, [{}])]
    if space.shape.kind == "points":
        from dpverify.search.spaces import near_tables

        if steps := near_tables.above(claim, digits):
            return steps
    nets = _of_axes(claim) if space.shape.kind == "ellipsoid" else []
    nets = nets or [{"share": str(share), "net": told} for share in _shares(space.shape, near) for told in _told(space.shape, share, near)]
    cells = [{"depth": depth} for depth in _pieces(space.shape, near)]
    tails = _tails(space.shape, claim, digits)
    return [*_best(claim, net_mechanism, nets), *_best(claim, cell_response, cells), *_best(claim, noise_near, tails)]


def _pieces(shape: Shape, near: Expr) -> Iterator[int]:
    """The first depths at which pieces of a tree or of a Cantor set are within gamma of a point."""
    if shape.kind in ("tree", "infinite_tree", "cantor"):
        first = next(_told(shape, Fraction(1), near))["depth"]
        yield from (first, first + 1)


def _of_axes(claim: Claim) -> list[Told]:
    """The nets of a sequence ellipsoid whose mechanisms are the most private ones in floats."""
    space, near, beta = claim.mechanism, claim.within, claim.beta
    assert isinstance(space, Space) and near is not None and beta is not None
    odds = float(constant(div(add(ONE, neg(beta)), beta)).log().mid())
    shares = [*_SHARES, *_NEAR_ONE, Fraction(1)]
    rated = []
    for number, told, size in cut(tamed(space.shape.numbers[0]), [mul(Num(share), near) for share in shares]):
        rate = 0.0 if size == 0 else max(0.0, size + odds) / float(1 - shares[number]) if shares[number] < 1 else math.inf
        rated.append((rate, number, told))
    rated.sort(key=lambda one: one[0])
    return [{"share": str(shares[number]), "net": told} for _, number, told in rated[:3]]


def _kept(claim: Claim, rule: Any, evidences: Iterable[Told]) -> Steps:
    """The first of the evidence that the rule accepts."""
    for evidence in evidences:
        try:
            rule.check(claim, evidence)
        except DpverifyError:
            continue
        return [{"rule": rule.NAME, "evidence": evidence}]
    return []


def _best(claim: Claim, rule: Any, evidences: Iterable[Told]) -> Steps:
    """The evidence for the best bound."""
    best: tuple[float, Told] | None = None
    for evidence in evidences:
        try:
            value = _size(rule.check(claim, evidence))
        except DpverifyError:
            continue
        better = best is None or (value > best[0] if rule in (weighted_packing, half_spaces, grid_packing) else value < best[0])
        best = (value, evidence) if better else best
    return [] if best is None else [{"rule": rule.NAME, "evidence": best[1]}]


def _size(bound: Bound) -> float:
    return math.inf if isinstance(bound.value, Infinite) else float(constant(bound.value).mid())


def _shares(shape: Shape, near: Expr) -> list[Fraction]:
    """Radii of nets as shares of gamma: those where a net of one point does, those where the number of its points jumps, and others."""
    jumps = {Fraction(1)}
    for radius in islice(_jumps(shape), _THRESHOLDS):
        share = div(radius, near)
        if not symbols(share):
            value = share.value if isinstance(share, Num) else exact(constant(share).upper())
            jumps.add(value if value.denominator < 10**12 else Fraction(math.ceil(value * 10**9), 10**9))
    return sorted({*_SHARES, *(share for share in jumps if 0 < share <= 1)})


def _jumps(shape: Shape) -> Iterator[Expr]:
    if shape.kind in ("tree", "infinite_tree", "cantor"):
        yield from (apart_at(shape, num(depth)) for depth in range(_THRESHOLDS))
    elif shape.kind in ("discrete", "hoelder"):
        yield shape.numbers[0 if shape.kind == "discrete" else 3]
    elif shape.kind in ("box", "ball"):
        count, sides = dimension(shape), shape.numbers if shape.kind == "box" else (num(2),)
        for pieces in range(1, _THRESHOLDS // len(sides) + 1):
            for side in sides:
                if shape.kind == "ball":
                    yield div(shape.numbers[0], num(pieces))
                elif shape.norm.kind == "lp":
                    yield div(mul(side, cube(shape.norm, count)), num(2 * pieces))
    for part in shape.parts:
        yield from islice(_jumps(part), _THRESHOLDS // len(shape.parts))


def _told(shape: Shape, share: Fraction, near: Expr) -> Iterator[Told]:
    """What a net of a radius is told of a space, for a radius that is a number."""
    radius = mul(Num(share), near)
    if shape.kind in ("tree", "infinite_tree", "cantor"):
        limit = float(constant(radius).mid())
        scale, ratio = (float(constant(one).mid()) for one in shape.numbers[:2])
        rough = 0 if limit >= scale else math.ceil(math.log(scale / limit) / -math.log(ratio) - 1e-9)
        yield from ({"depth": depth} for depth in (rough, rough + 1))
    elif shape.kind == "ellipsoid":
        yield from (told for _, told, _ in cut(tamed(shape.numbers[0]), [radius]))
        yield from majorant(tamed(shape.numbers[0]))
    elif shape.kind == "points":
        from dpverify.search.spaces import near_tables

        yield {"points": near_tables.centres(shape.matrix, radius)}
    elif shape.kind == "product":
        each = share if shape.norm.p is None else None
        inner = radius if each is not None else div(radius, power(num(len(shape.parts)), Num(1 / (shape.norm.p or Fraction(1)))))
        told = [next(_told(part, Fraction(1), inner), None) for part in shape.parts]
        if None not in told:
            yield {"parts": told}
    else:
        yield {}


def _symbolic(shape: Shape) -> Iterator[Told]:
    """The same for a radius with parameters in it."""
    if shape.kind == "ellipsoid":
        yield from majorant(tamed(shape.numbers[0]))
    elif shape.kind == "product":
        told = [next(_symbolic(part), None) for part in shape.parts]
        if None not in told:
            yield {"parts": told}
    else:
        yield {}


def _tails(shape: Shape, claim: Claim, digits: int) -> Iterator[Told]:
    """A tail of noise that is just small enough."""
    yield {}
    assert claim.beta is not None and claim.within is not None
    beta = float(constant(claim.beta).mid())
    if shape.kind == "integers":
        steps = noise_near.whole(claim.within)
        ratio = _root(lambda t: beta * (1 + t) - 2 * t ** (steps + 1), 0.0, 1.0)
        yield from ({"ratio": str(Fraction(round(ratio * 10**12) - off, 10**12))} for off in (1, 10, 1000))
    elif shape.kind in ("real", "box", "ball", "sphere", "hull") and dimension(shape) > 1:
        from scipy.special import gammainccinv

        tail = float(gammainccinv(dimension(shape), beta))
        yield from ({"tail": str(Fraction(math.ceil(tail * 10**9) + off, 10**9))} for off in (0, 10))


def _root(function: Any, low: float, high: float) -> float:
    """Where a function falls through 0."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return low


# -- from below ------------------------------------------------------------------------------------------------


def _below(claim: Claim, digits: int) -> Steps:
    space = claim.mechanism
    assert isinstance(space, Space) and claim.within is not None
    if space.databases == "unbounded":
        return []
    if space.shape.kind == "points":
        from dpverify.search.spaces import near_tables

        if steps := near_tables.below(claim, digits):
            return steps
    packed = _best(claim, weighted_packing, _packed(space.shape, claim.within))
    lines = _best(claim, half_spaces, _along_lines(space.shape, claim))
    return [*packed, *lines, *_best(claim, grid_packing, _grids(space.shape, claim))]


def _below_somewhere(claim: Claim, digits: int) -> Steps:
    """A packing at values of the parameters: one that is infinite, or one that excludes the epsilon that is claimed."""
    space = claim.mechanism
    assert isinstance(space, Space)
    if space.databases == "unbounded":
        return []
    if space.shape.kind == "real" and (steps := _kept(claim, half_spaces, [{}])):
        return steps  # for all parameters at once
    if claim.epsilon is None and not _may_be_endless(space.shape):
        return []
    names = [name for name, _ in claim.domains]
    grids = [list(_values(domain)) for _, domain in claim.domains]
    for point in islice(diagonally(grids), _TRIES):
        at = {name: str(value) for name, value in zip(names, point, strict=True)}
        try:
            there, values = fixed(claim, {"at": at}, weighted_packing.NAME)
            assert there.within is not None
            tried = [one for one in _packed(space.shape, there.within) if claim.epsilon is not None or "first" not in one["packing"]]
            lines = [] if claim.epsilon is None else [*_along_lines(space.shape, there)]
            lattices = [] if claim.epsilon is None else [*_grids(space.shape, there)]
            for rule, told in ((weighted_packing, tried), (half_spaces, lines), (grid_packing, lattices)):
                steps = _best(there, rule, told)
                if steps and _excludes(claim, rule.check(there, steps[0]["evidence"]), values):
                    return [{"rule": rule.NAME, "evidence": {**steps[0]["evidence"], "at": at}}]
        except DpverifyError:
            continue
    return []


def _may_be_endless(shape: Shape) -> bool:
    """Whether a packing may have infinitely many points."""
    return shape.kind in ("ellipsoid", "infinite_tree", "discrete", "separated") or any(map(_may_be_endless, shape.parts))


def _values(domain: Any) -> Iterator[Fraction]:
    """Values of a domain, also small ones: what is near the truth decides."""
    small = [Fraction(1, 10**k) for k in (1, 2, 3, 4, 6)]
    few = [*islice(grid(domain), 2)]
    yield from dict.fromkeys([*few, *(x for x in small if domain.holds(x)), *grid(domain)])


def _excludes(claim: Claim, bound: Bound, values: Mapping[str, Expr]) -> bool:
    if isinstance(bound.value, Infinite):
        return True
    return claim.epsilon is not None and certainly_lt(substitute(claim.epsilon, values), bound.value)


def _packed(shape: Shape, near: Expr) -> Iterator[Told]:
    """What packings of a space may be told."""
    yield from ({"packing": told} for told in _packings(shape, near))


def _packings(shape: Shape, near: Expr) -> Iterator[Told]:
    limit = float(enclose(near).mid())
    if shape.kind in ("tree", "infinite_tree", "cantor"):
        scale, ratio = (float(constant(one).mid()) for one in shape.numbers[:2])
        if shape.kind == "cantor":
            scale *= max((1 - ratio) / 2, 1 - 2 * ratio)
        rough = 0 if limit >= scale else math.floor(math.log(scale / limit) / -math.log(ratio)) + 1
        yield from ({"depth": depth} for depth in range(max(0, rough - 1), min(rough + 2, _DEPTHS)))
    elif shape.kind == "ellipsoid":
        yield from repeated(shape.numbers[0], near)
    elif shape.kind == "hoelder":
        _, constant_of, exponent, _ = (float(constant(one).mid()) for one in shape.numbers)
        rough = max(1, math.ceil((constant_of / (2 * limit)) ** (1 / exponent) / 2))
        yield {}
        yield from ({"cells": cells} for cells in range(max(1, rough - 1), rough + 1) if cells ** cubes(shape) <= 4096)
    elif shape.kind in ("hull", "points"):
        from dpverify.search.spaces import near_tables

        yield from near_tables.corners(shape, near) if shape.kind == "hull" else near_tables.apart(shape.matrix, near)
    elif shape.kind == "product":
        inner = [[*_packings(part, near)] for part in shape.parts]
        yield {"parts": [told[0] if told else None for told in inner]}
        for index, told in enumerate(inner):
            yield from ({"parts": [one if j == index else None for j in range(len(inner))]} for one in told)
    else:
        yield from ({"by": how} for how in ("line", "volume", "axes", "cube"))


def _along_lines(shape: Shape, claim: Claim) -> Iterator[Told]:
    """What is told of the lines of a space: of the longest ones."""
    assert claim.within is not None and claim.beta is not None
    near = float(constant(claim.within).mid())
    if shape.kind == "real":
        yield {}
    elif shape.kind == "integers":
        beta, beyond = float(constant(claim.beta).mid()), noise_near.whole(claim.within) + 1
        ratio = _root(lambda u: beta * (1 + u) - 2 * u**beyond, 0.0, 1.0)
        yield from ({"ratio": str(Fraction(round(ratio * 10**12) + off, 10**12))} for off in (1, 10, 1000))
    elif shape.kind in ("ball", "hoelder"):
        yield from _steps({}, 2 * float(constant(shape.numbers[0 if shape.kind == "ball" else 3]).mid()), near)
    elif shape.kind == "box":
        for axis, side in enumerate(shape.numbers):
            unit = tuple(Fraction(int(i == axis)) for i in range(len(shape.numbers)))
            yield from _steps({"axis": axis}, float(constant(mul(side, norm_value(shape.norm, unit))).mid()), near)
    elif shape.kind == "ellipsoid":
        for axis in range(4):
            yield from _steps({"axis": axis}, 2 * abs(float(constant(substitute(shape.numbers[0], {"k": num(axis + 1)})).mid())), near)
    elif shape.kind == "hull":
        for corner, one in enumerate(shape.matrix):
            for axis, other in enumerate(shape.matrix[:corner]):
                apart = norm_value(shape.norm, tuple(a - b for a, b in zip(one, other, strict=True)))
                yield from _steps({"corner": corner, "axis": axis}, float(constant(apart).mid()), near)
    for number, part in enumerate(shape.parts):
        for told in _along_lines(part, claim) if part.kind != "integers" else ():
            yield {"part": number, "inner": told, **({"steps": told["steps"]} if "steps" in told else {})}


def _grids(shape: Shape, claim: Claim) -> Iterator[Told]:
    """Lattices, with the epsilon up to which they exclude, in floats."""
    space, norm = claim.mechanism, shape.norm
    assert isinstance(space, Space) and claim.within is not None and claim.beta is not None
    whole = norm.kind == "lp" and (norm.p is None or norm.p.denominator == 1)
    if shape.kind not in ("real", "box", "ball") or not whole or dimension(shape) > _MOST_GRID:
        return
    p, count = None if norm.p is None else int(norm.p), dimension(shape)
    near, beta, reach_of = float(constant(claim.within).mid()), float(constant(claim.beta).mid()), math.inf
    most = _SHELLS if count > 1 else grid_packing.MOST_STEPS
    for even in (False, True) if p is not None and count > 1 else (False,):
        step = 2 * near * (2 ** (-1 / p) if even and p is not None else 1)
        if shape.kind == "box" or (shape.kind == "ball" and count == 1):
            sides = [float(constant(side).mid()) for side in shape.numbers[:count]]
            sides = [2 * side for side in sides] if shape.kind == "ball" else sides
            steps = [max(0, math.ceil(side / step * (1 - 1e-12)) - 1) for side in sides]
        else:
            reach_of = float(constant(shape.numbers[0]).mid()) / step if shape.kind == "ball" else math.inf
            steps = [2 * most if reach_of == math.inf else 2 * max(0, math.ceil(reach_of * (1 - 1e-12)) - 1)] * count
        reach = [[min(n // 2, most), min(n - n // 2, most)] for n in steps]
        far = step / float(constant(space.lipschitz).mid())
        found = grid_packing.lengths([(left, right) for left, right in reach], p, even)
        sizes = [(n if p is None else n ** (1 / p), many) for n, many in found.items()]
        sizes = [(far * size, many) for size, many in sizes if size < reach_of * (1 - 1e-12) or not size]
        excess = partial(_weight_above, sizes, 1 / (1 - beta))
        epsilon = _root(excess, 0.0, 1e3 / far) if excess(0.0) > 0 else 0.0
        told = {"reach": reach, "epsilon": str(Fraction(math.floor(epsilon * 10**9 * (1 - 1e-9)), 10**9))}
        yield {**told, "even": True} if even else told


def _weight_above(sizes: list[tuple[float, int]], least: float, epsilon: float) -> float:
    return sum(many * math.exp(-epsilon * size) for size, many in sizes) - least


def _steps(told: Told, length: float, near: float) -> Iterator[Told]:
    """The greatest number of steps of twice a nearness that are shorter than a line."""
    steps = math.ceil(length / (2 * near) * (1 - 1e-12)) - 1
    if steps >= 1:
        yield {**told, "steps": steps}

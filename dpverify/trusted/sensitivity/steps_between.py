"""How far answers move on neighbours that are several steps apart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from dpverify.trusted.kernel.expr import Expr, mul, num
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Domain, Matrix, Mechanism, NoisyMax, Stream, on_integers
from dpverify.trusted.sensitivity.sensitivity import whole_part


def further(noise: Mechanism, moved: Expr, factor: Expr, domains: Mapping[str, Domain]) -> tuple[Expr, Expr]:
    """The most that an answer moves by on neighbours `factor` times as far apart, and what whole steps move it by, from one step.

    For noise on the integers answers are integers: a step is at most the integer part of `moved`, and whole numbers of steps are taken;
    but in a hull of points a difference may be a whole number of which `moved` is no whole part.
    """
    if not each_by_integers(noise):
        return (mul(factor, moved),) * 2
    step = whole_part(moved, domains)
    if is_whole(factor, domains):
        return (mul(factor, step),) * 2
    return whole_part(mul(factor, moved), domains), mul(whole_part(factor, domains), step)


def each_by_integers(mechanism: Mechanism) -> bool:
    """Whether answers are integers each of which moves by at most the sensitivity by itself, so by at most its integer part.

    Not so in a hull of points, unless that is a box in which each answer stays, or moves up, or down, or both, by at most 1.
    """
    if not on_integers(mechanism):
        return False
    hull = hull_of(mechanism)
    if not hull:
        return True
    ends = [set(column) for column in zip(*hull, strict=True)]
    a_box = set(hull) == set(product(*ends)) and set().union(*ends) <= {-1, 0, 1}
    return a_box and all(0 in column or len(column) == 2 for column in ends)


def reaches_every_point(mechanism: Mechanism, moved: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether whole numbers of steps certainly take answers so many times as far as each point of a hull is: integers move by integers."""
    if not on_integers(mechanism) or each_by_integers(mechanism):
        return True
    return all(is_whole(mul(num(x), moved), domains) for row in hull_of(mechanism) for x in row)


def hull_of(mechanism: Mechanism) -> Matrix:
    """The points of whose hull the differences of the answers of neighbours are; none where they are of no hull."""
    return mechanism.hull if isinstance(mechanism, Stream | NoisyMax) else ()

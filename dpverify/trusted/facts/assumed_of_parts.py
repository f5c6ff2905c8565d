"""What a bound takes for granted of the parts of a combinator and of the neighbours that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.expr import ONE, Expr, num
from dpverify.trusted.kernel.model import Claim, Finite, Group, KaryResponse, Lipschitz, Parallel, Part, PostProcess, Subsample, parts_of

RATIO: Final = "the query moves in proportion to the distance of inputs, by at most the stated sensitivity at distance 1"
STRETCHED: Final = "a Lipschitz map of the data moves some neighbours apart by its whole constant, in the direction that is worst"
EITHER: Final = "of two inputs that a table or an exponential mechanism lists as neighbours, either may be the one with the record"
"""What a lower bound for both orders takes for granted where pairs in a Poisson sample are listed one way."""

OfOne = Callable[[Part, Bound, bool, bool], Iterator[str]]
"""Of a part and a bound, whether neighbours are several steps apart, and whether it is at the pairs of a table."""


def of_parts(claim: Claim, part: Part, bound: Bound, of_one: OfOne) -> Iterator[str]:
    """part: the whole of the claim. of_one: what is assumed of a part by itself."""
    yield from _of_part(part, bound, of_one, False, _named(part))
    if bound.side == "upper":
        from dpverify.trusted.combinators.between_steps import between_steps

        yield from (RATIO,) * between_steps(claim)
    if bound.side == "lower" and not claim.order and _lists_one_way_in_samples(part, False):
        yield EITHER


def _lists_one_way_in_samples(part: Part, sampled: bool) -> bool:
    """Whether something finite in a Poisson sample has pairs that are listed one way. sampled: whether the part is in one."""
    mechanism = part.mechanism
    if isinstance(mechanism, Finite):
        from dpverify.trusted.combinators.exchanged import listed_both_ways

        return sampled and not isinstance(mechanism, KaryResponse) and not listed_both_ways(mechanism)
    inside = sampled or (isinstance(mechanism, Subsample) and mechanism.scheme == "poisson")
    return any(_lists_one_way_in_samples(inner, inside) for inner in parts_of(mechanism))


def _named(part: Part) -> frozenset[Expr]:
    """How many inputs there are of tables that share their neighbours with other parts."""
    from dpverify.trusted.combinators.neighbours import leaves

    return frozenset(num(space[1]) for leaf in leaves(part) if leaf.linked and (space := leaf.space) and space[0] == "inputs")


def _of_part(part: Part, bound: Bound, of_one: OfOne, onward: bool, named: frozenset[Expr], top: bool = True) -> Iterator[str]:
    """onward: whether neighbours are several steps apart. named: how many inputs there are of tables; a k-ary response with as many is at
    their pairs, unless its neighbours are its own. top: whether only groups and maps are around it, which hold everything.
    """
    mechanism = part.mechanism
    if isinstance(mechanism, Lipschitz) and bound.side == "lower":
        yield STRETCHED
    own = isinstance(mechanism, Parallel) or (isinstance(mechanism, Group | Lipschitz) and not top)
    around = top and isinstance(mechanism, Group | Lipschitz | PostProcess)
    for inner in parts_of(mechanism):
        further = onward or (isinstance(mechanism, Group) and mechanism.size != ONE)
        yield from _of_part(inner, bound, of_one, further, frozenset() if own else named, around)
    yield from of_one(part, bound, onward, isinstance(mechanism, KaryResponse) and mechanism.k in named)

"""What a bound takes for granted of the answers and of the sampler, by the side that needs it.

A stated sensitivity is believed: from above, that no answer moves further; from below, that some pair is so far apart. What follows from
a query is derived, and nothing of it is listed but what it takes for granted of the histograms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from dpverify.trusted.facts.bounds import Bound, Side
from dpverify.trusted.language.expr import ONE, ZERO, Expr, num
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import (
    L2,
    NEARNESS,
    ONE_WAY,
    Claim,
    Combinator,
    EllipticalProcess,
    Finite,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Lipschitz,
    Mechanism,
    Mixture,
    Noise,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Sampled,
    Selection,
    Space,
    on_integers,
    parts_of,
)

IDEAL: Final = "the sampler is ideal"
MOVES: Final = "the query moves by at most the stated sensitivity in the noise's norm"
WHOLE: Final = "answers are integers"
EACH_MOVES: Final = "each answer that is compared moves by at most the stated sensitivity"
MOVED_WHOLLY: Final = "answers of every size occur, and neighbours move each by the whole sensitivity, in the direction that is worst"
MOVED_WITHIN: Final = (
    "answers at the bounds occur, and neighbours move each as far as sensitivity and bounds let them, in the worst direction"
)
ONE_ORDER: Final = "what is claimed is a guarantee for one order of the data alone, that of the answers before they rise, or fall"
BETWEEN: Final = "answers lie between the stated bounds"
ATTAINED: Final = "some pair of inputs is exactly the sensitivity apart"
TURNED: Final = "some pair of inputs is exactly the sensitivity apart, in the direction that is worst"
WHOLE_ATTAINED: Final = "some pair of inputs is apart by the greatest integer within the sensitivity"
ONWARD: Final = "neighbours of neighbours move the answer on in the same direction"
RATIO: Final = "the query moves in proportion to the distance of inputs, by at most the stated sensitivity at distance 1"
STRETCHED: Final = "a Lipschitz map of the data moves some neighbours apart by its whole constant, in the direction that is worst"
PAIRS: Final = "the adjacent pairs are those of the claim"
ANY: Final = "any two inputs are adjacent"
NEAR: Final = "the sensitivity bounds the distance of adjacent inputs"
FAR: Final = "inputs as far apart as the sensitivity are adjacent"
EVERY: Final = "answers at every distance up to the stated sensitivity occur, in every direction"
DIFFER: Final = "answers of neighbours differ by a stated function, by its negative, or by a weighted mean of such"
DIFFERED: Final = "answers of some pair of inputs differ by each of the stated functions"
REAL: Final = "histograms are real-valued"
UNBOUNDED: Final = "histograms of every size are among the data"

SIDES: Final[tuple[Side, ...]] = ("upper", "lower")


def of_a_bound(claim: Claim, bound: Bound, own: Iterable[str]) -> tuple[str, ...]:
    """All that a bound rests on and no rule checks. own: what its rule always assumes."""
    if (bound.side, bound.value) == ("lower", ZERO) or (bound.side, bound.quantity, bound.value) == ("upper", "delta", ONE):
        return ()  # every mechanism has these
    if bound.quantity == NEARNESS:  # which no neighbours have to do with
        return tuple(dict.fromkeys((*own, *bound.assumed)))
    part = Part(claim.mechanism, claim.sensitivity, claim.query)
    made = isinstance(claim.mechanism, Combinator)
    named = _named(part) if made else frozenset[Expr]()
    between = made and bound.side == "upper" and load("parts.between_steps").between_steps(claim)
    found = (*_of_part(part, bound, False, named), *((RATIO,) if between else ()), *own, *bound.assumed)
    return tuple(dict.fromkeys(found))


def _named(part: Part) -> frozenset[Expr]:
    """How many inputs there are of tables that share their neighbours with other parts."""
    leaves = load("parts.neighbours").leaves(part)
    return frozenset(num(space[1]) for leaf in leaves if leaf.linked and (space := leaf.space) and space[0] == "inputs")


def of_a_verdict(verdict: str, bounds: Sequence[tuple[Side, Sequence[str]]]) -> tuple[str, ...]:
    """What the verdict rests on, then what only the bound on the other side does, marked as such.

    bounds: the side of each, and its lines.
    """
    upper, lower = (dict.fromkeys(line for side, lines in bounds if side == wanted for line in lines) for wanted in SIDES)
    first = {"PROVED": upper, "REFUTED": lower}.get(verdict, [line for line in upper if line in lower])
    others = [marked(line, side) for side, lines in zip(SIDES, (upper, lower), strict=True) for line in lines if line not in first]
    return (*first, *others)


def marked(line: str, side: Side) -> str:
    """An assumption of the bound on one side, where it is not one of the verdict. Some say themselves what they are for."""
    return line if line.startswith("for the ") else f"for the {side} bound: {line}"


def _of_part(part: Part, bound: Bound, onward: bool, named: frozenset[Expr], top: bool = True) -> Iterator[str]:
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
        yield from _of_part(inner, bound, further, frozenset() if own else named, around)
    if isinstance(mechanism, Combinator | Guarantee | Sampled | Space):
        return
    if isinstance(mechanism, Noise):
        if part.query is not None:
            yield from (REAL,) if bound.side == "lower" and _takes_fractions(mechanism, part.query) else ()
        elif isinstance(mechanism, EllipticalProcess) and mechanism.differences:
            yield DIFFER if bound.side == "upper" else DIFFERED
            yield from (ONWARD,) if onward and bound.side == "lower" else ()
        elif bound.side == "upper":
            yield MOVES
            yield from (WHOLE,) if on_integers(mechanism) else ()
        else:
            yield _attained(mechanism, bound)
            yield from (ONWARD,) if onward else ()
    elif isinstance(mechanism, Selection):
        yield EACH_MOVES if bound.side == "upper" else MOVED_WHOLLY if mechanism.bounds is None else MOVED_WITHIN
        yield from (WHOLE,) if on_integers(mechanism) else ()
        yield from (BETWEEN,) if mechanism.bounds is not None else ()
        yield from (ONWARD,) if onward and bound.side == "lower" else ()
        yield from (ONE_ORDER,) if mechanism.neighbours in ONE_WAY else ()
    elif isinstance(mechanism, Kernel):
        if part.sensitivity is None:
            yield from (ANY,) if bound.side == "lower" else ()
        else:
            yield NEAR if bound.side == "upper" else FAR
    elif isinstance(mechanism, Finite):
        pairs = not isinstance(mechanism, KaryResponse) and (mechanism.adjacent is not None or part.sensitivity is not None)
        at_theirs = isinstance(mechanism, KaryResponse) and mechanism.k in named
        yield from (PAIRS,) if pairs else (ANY,) if bound.side == "lower" and not at_theirs else ()
    else:
        assert_never(mechanism)
    yield IDEAL


def _attained(noise: Mechanism, bound: Bound) -> str:
    if on_integers(noise):
        return WHOLE_ATTAINED
    if not isinstance(noise, Radial | Mixture | Product) or noise.dimension == ONE:
        return ATTAINED
    # noise of a norm loses as much in every direction where single outputs count, noise of a Euclidean one always
    round_ball = noise.norm == L2 or noise.norm.kind == "ellipsoid"
    return ATTAINED if not isinstance(noise, Product) and (round_ball or bound.quantity == "pure") else TURNED


def _takes_fractions(noise: Mechanism, query: Query) -> bool:
    """Whether the pair that is worst under "l1" or "l2" may have counts that are no integers."""
    if query.adjacency not in ("l1", "l2"):
        return False
    if on_integers(noise):
        return all(x.denominator == 1 for row in query.rows for x in row)
    return query.adjacency == "l2" and sum(any(column) for column in zip(*query.rows, strict=False)) > 1

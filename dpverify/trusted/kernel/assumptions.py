"""What a bound takes for granted of the answers and of the sampler, by the side that needs it.

A stated sensitivity is believed: from above, that no answer moves further; from below, that some pair is so far apart. What follows from
a query is derived, and nothing of it is listed but what it takes for granted of the histograms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.bounds import Bound, Side
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.model import Claim, Part

IDEAL: Final = "the sampler is ideal"
MOVES: Final = "the query moves by at most the stated sensitivity in the noise's norm"
ATTAINED: Final = "some pair of inputs is exactly the sensitivity apart"
TURNED: Final = "some pair of inputs is exactly the sensitivity apart, in the direction that is worst"
ONWARD: Final = "neighbours of neighbours move the answer on in the same direction"
EVERY: Final = "answers at every distance up to the stated sensitivity occur, in every direction"
REAL: Final = "histograms are real-valued"

SIDES: Final[tuple[Side, ...]] = ("upper", "lower")


def of_a_bound(claim: Claim, bound: Bound, own: Iterable[str]) -> tuple[str, ...]:
    """All that a bound rests on and no rule checks. own: what its rule always assumes."""
    if (bound.side, bound.value) == ("lower", ZERO) or (bound.side, bound.quantity, bound.value) == ("upper", "delta", ONE):
        return ()  # every mechanism has these
    if bound.quantity == model.NEARNESS:  # which no neighbours have to do with
        return tuple(dict.fromkeys((*own, *bound.assumed)))
    part = Part(claim.mechanism, claim.sensitivity, claim.query, sums=claim.sums)
    found = of_one(part, bound)
    if isinstance(claim.mechanism, model.Combinator):
        from dpverify.trusted.facts.assumed_of_parts import of_parts

        found = of_parts(claim, part, bound, of_one)
    every = dict.fromkeys((*found, *own, *bound.assumed))
    if model.sums_of(claim):
        from dpverify.trusted.combinators.relations import decided

        return tuple(line for line in every if line not in decided(claim))
    return tuple(every)


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


def of_one(part: Part, bound: Bound, onward: bool = False, at_theirs: bool = False) -> Iterator[str]:
    """What a bound takes for granted of a mechanism by itself. onward: whether neighbours are several steps apart.

    at_theirs: whether it shares the neighbours of a table with as many inputs.
    """
    mechanism = part.mechanism
    if isinstance(mechanism, model.Combinator | model.Guarantee | model.Sampled | model.Space):
        return
    if isinstance(mechanism, model.Noise):
        from dpverify.trusted.facts.assumed_of_noises import of_noise

        yield from of_noise(part, mechanism, bound, onward)
    elif isinstance(mechanism, model.Selection):
        further = (ONWARD,) * (onward and bound.side == "lower")
        from dpverify.trusted.facts.assumed_of_selections import of_selection

        yield from of_selection(mechanism, part, bound, further)
    elif isinstance(mechanism, model.Kernel | model.Finite):
        from dpverify.trusted.facts.assumed_of_inputs import of_inputs

        yield from of_inputs(mechanism, part.sensitivity is not None, bound, at_theirs)
    elif isinstance(mechanism, model.CorrelatedNoise | model.SmoothSensitivity | model.NoisyVotes):
        from dpverify.trusted.facts.assumed_of_records import of_records

        yield from of_records(mechanism, bound)
    elif not isinstance(mechanism, model.NoisyKeys | model.Shuffle):  # whose rules say what records do to them
        assert_never(mechanism)
    yield IDEAL

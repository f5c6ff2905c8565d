"""Witnesses in words: the neighbours, and the event behind a divergence, whose two probabilities follow from the slope of the profile.

The kernel says for which neighbours and at which epsilon a bound from below holds; what is written here is for readers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.search.composition import budgets
from dpverify.search.curves import output_sets
from dpverify.search.decimals import decimal_bounds
from dpverify.search.divergences import measure_words
from dpverify.search.witness_words import in_words
from dpverify.trusted.combinators import at_pair, candidates, neighbours, one_pair
from dpverify.trusted.combinators.runs import Run, merged, reach, whole
from dpverify.trusted.facts.orientation import facing
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.kernel.assumptions import marked
from dpverify.trusted.kernel.balls import constant, exact, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, format_expr, parse
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import (
    ONE_SIDED,
    REVERSE,
    Claim,
    Compared,
    Kernel,
    Mixture,
    Part,
    Product,
    Query,
    Radial,
    Translation,
    on_integers,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition import gaussian_queries
from dpverify.trusted.theories.composition.rules import gaussian_composition, joint_neighbours, loss_distribution
from dpverify.trusted.theories.processes.rules import cameron_martin

_DIGITS: Final = 9
_ENDS: Final = 12
_BITS: Final = 96
_CHORD: Final = 42
"""The shortest chords that slopes are read off have widths of 2 to minus this."""
_TINY: Final = Fraction(1, 10**1000)
"""Numbers nearer to 0 are written no further."""
_MOST_SHOWN: Final = 8
_WORST: Final = "worst neighbours"
_EACH: Final = "for every part its own worst neighbours, of which nothing in the file says that they are not the same"


def told(judgement: Judgement, facts: Sequence[Fact]) -> Judgement:
    """The judgement with its witness, and the neighbours that it names beside, in words."""
    also, root = dict(judgement.also), Part(judgement.claim.mechanism)
    if _WORST in also:
        with suppress(Rejected):  # what bounds all neighbours need not be neighbours
            also[_WORST] = described(root, at_pair.read(root, json.loads(also.pop(_WORST))))
    for fact in facts:
        if fact.rule == cameron_martin.NAME:
            with suppress(DpverifyError):
                also |= measure_words.theorem5(fact)
    witness = None if judgement.witness is None else _witness(judgement.claim, dict(judgement.witness), facts)
    also |= budgets.spent(judgement.claim, facts) if judgement.claim.measure is None else {}
    relations, assumed = _measures(judgement.claim, facts)
    lines = dict.fromkeys((*judgement.assumptions, *assumed))
    return replace(judgement, witness=witness, also=also | relations, assumptions=tuple(lines))


def _measures(claim: Claim, facts: Sequence[Fact]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the mechanism is in other measures, where a line goes by them."""
    fact = measure_words.known(claim, facts)
    if fact is not None:
        with suppress(DpverifyError), precision(fact.prec):
            relations, assumed = measure_words.shown(claim)
            return relations, tuple(marked(line, "upper") for line in assumed)
    return {}, ()


def _witness(claim: Claim, witness: dict[str, Any], facts: Sequence[Fact]) -> Mapping[str, Any]:
    for key in ("P", "Q"):
        if isinstance(claim.mechanism, Kernel) and isinstance(witness.get(key), list):  # the ends of an enclosure
            witness[key] = [decimal_bounds(Num(Fraction(end)), _ENDS)[side] for side, end in enumerate(witness[key])]
    if "at" in witness and isinstance(claim.mechanism, Compared):
        from dpverify.search.selection import events as selection_events

        with suppress(DpverifyError), precision(_BITS):
            found = selection_events.described_at(claim, facts)
            if found is not None and found["at"] == witness["at"]:
                return found
    if "epsilon" in witness:
        with suppress(DpverifyError), precision(_BITS):
            return _event(claim, witness, facts) | ({"at": witness["at"]} if "at" in witness else {})
    if "loss" in witness and "pair" not in witness:
        pair, backward = _pair_of_one(claim, facts) or _EACH, witness.pop("backward", False)
        if "neighbours" in witness:
            root = Part(claim.mechanism)
            pair = described(root, at_pair.read(root, witness.pop("neighbours")))
        points = "; ".join(witness.pop("points", ())[:_MOST_SHOWN]) or "any output"
        return {"pair": pair + ("; the output on x' against that on x" if backward else ""), "point": points, **witness}
    return witness


def _pair_of_one(claim: Claim, facts: Sequence[Fact]) -> str:
    """The neighbours of the one part that there is, as the rule about it names them; "" where there are several."""
    if len(list(neighbours.leaves(Part(claim.mechanism)))) != 1:
        return ""
    below = [bound for fact in facts if fact.rule == "combination" for premise in fact.premises for bound in as_bounds(premise.says)]
    named = in_words(
        next((bound.witness["pair"] for bound in below if bound.side == "lower" and bound.witness and "pair" in bound.witness), "")
    )
    if isinstance(named, str):
        return named
    inputs = "" if any(isinstance(x, str) and " " in x for x in named) else "inputs "
    return inputs + " and ".join(map(str, named))


IN_ORDER: Final = {
    ONE_SIDED: "two neighbours, P with a record that Q has not",
    REVERSE: "two neighbours, Q with a record that P has not",
}
"""The pair of a witness of one order."""


def _event(claim: Claim, witness: Mapping[str, Any], facts: Sequence[Fact]) -> dict[str, str]:
    """The event of the lower pair of the claim's curve, at the epsilon that the bound speaks of. Raises DpverifyError without one."""
    of_all = whole(claim)
    known = [fact for fact in facts if fact.about == of_all and isinstance(fact.says, Curve) and fact.says.lower is not None]
    curve = known[-1] if known else Proof(claim).infer(str(witness.get("curve")), (), {})
    assert isinstance(curve.says, Curve) and curve.says.lower is not None
    lower, upper = curve.says.lower, curve.says.upper
    if claim.order:  # of the order that is claimed, whichever is the worse one
        told = facing(claim, lower)
        only = Pair(told.forward, told.forward, rests=None if told.rests is None else (told.rests[0],) * 2)
        if witness["epsilon"] != "inf":
            return {**between(only, only, constant(parse(witness["epsilon"]))), "pair": IN_ORDER[claim.order]}
        lower = only
    if witness["epsilon"] == "inf":
        assert lower.rest is not None
        least = decimal_bounds(Num(exact(lower.rest().lower())), _DIGITS)[0]
        event = {"pair": "the worst neighbours", "event": "S = {outputs that one of them cannot give}", "P": f"at least {least}", "Q": "0"}
        event |= output_sets.impossible(curve) or {}
    else:
        epsilon = constant(parse(witness["epsilon"]))
        bounded = upper is not None and loss_distribution.NAME in curve.says.rules
        described = output_sets.known(curve)
        if bounded and upper is not None:
            event = dict(between(lower, upper, epsilon))
        else:
            event = dict(between(lower, lower, epsilon) if described is None else described(_told(claim, epsilon)))
    names = "; ".join(_neighbours(curve))
    return {**event, "pair": f"{names} ({event['pair']})" if names else event["pair"]}


def _told(claim: Claim, epsilon: arb) -> arb:
    """The epsilon at which an event is described that does not name one itself: the claimed one, where it is refuted there."""
    if claim.epsilon is None or claim.domains:
        return epsilon
    claimed = constant(claim.epsilon)
    return claimed if claimed < epsilon else epsilon


def _neighbours(fact: Fact) -> list[str]:
    """The neighbours that the lower pair of a curve is of, where its parts share them."""
    run, below = fact.about, fact.parameters.get("below", {})
    assert isinstance(run, Run)
    if fact.rule == joint_neighbours.NAME:
        if "choice" in below:
            return [described(run.part, candidates.choices(run.part)[below["choice"]])]
        return [described(run.part, at_pair.read(run.part, below["pair"]))] if "pair" in below else []
    if fact.rule != gaussian_composition.NAME:
        return [] if output_sets.known(fact) is not None else _apart(run, fact.parameters.get("sensitivity"))
    spaces: dict[one_pair.Space, list[Run]] = {}
    for one in merged(run.part, run.factor):
        space = neighbours.space_of(one.part)
        if space is not None and one.part.query is not None and space[2] != "l2":
            spaces.setdefault(space, []).append(one)
    return [_worst(space, runs) for space, runs in spaces.items() if len(runs) > 1]


def _apart(run: Run, gauge: Any) -> list[str]:
    """How far apart the answers of one additive mechanism are, where its curve is the one at the sensitivity."""
    noise = run.part.mechanism
    if run != Run(run.part) or not isinstance(noise, Mixture | Radial | Product | Translation) or on_integers(noise):
        return []
    with suppress(DpverifyError):
        return [f"answers {format_expr(reach(run, gauge).lower)} apart"]
    return []


def _worst(space: one_pair.Space, runs: Sequence[Run]) -> str:
    """The neighbours between which Gaussian answers together move the most."""
    v = max(candidates.vertices(space[1], space[2]), key=lambda v: gaussian_queries.square_at(runs, v) or 0)
    return named(space, v, [run.part.query for run in runs if run.part.query is not None])


# -- the neighbours --------------------------------------------------------------------------------


def described(part: Part, choice: one_pair.Choice) -> str:
    """The pair of neighbours, and what each part's answer moves by between them."""
    lines = [_said(space, value) for space, value in choice]
    moves: list[str] = []
    for number, leaf in enumerate(neighbours.leaves(part), 1):
        value = dict(choice).get(leaf.space or ("", 0, ""))
        if value is not None and leaf.part.query is not None and len(moves) < _MOST_SHOWN:
            shift = candidates.image(leaf.part.query, value)
            moves.append(f"part {number} by {', '.join(map(str, shift)) if len(shift) <= _MOST_SHOWN else 'its column'}")
    return "; ".join(lines) + (f"; q(x) - q(x') of {', '.join(moves)}" if moves else "")


def named(space: one_pair.Space, v: one_pair.Vector, queries: Sequence[Query]) -> str:
    """A difference of histograms, and what each of some queries on them moves by."""
    moves = [
        f"query {number} by {', '.join(map(str, candidates.image(query, v)))}" for number, query in enumerate(queries[:_MOST_SHOWN], 1)
    ]
    return f"{_said(space, v)}; q(x) - q(x') of {', '.join(moves)}"


def _said(space: one_pair.Space, value: one_pair.Vector) -> str:
    if space[0] == "inputs":
        return f"inputs {value[0]} and {value[1]} of every table with {space[1]} rows"
    up, down = [i for i, x in enumerate(value) if x > 0], [i for i, x in enumerate(value) if x < 0]
    if space[2] in ("add-remove", "replace") and all(abs(x) <= 1 for x in value) and len(up) == 1 and len(down) <= 1:
        if space[2] == "add-remove" and not down:
            return f"x is x' with one record of kind {up[0] + 1} more"
        if down:
            return f"x is x' with a record of kind {down[0] + 1} replaced by one of kind {up[0] + 1}"
    shown = [f"{x} of kind {i + 1}" for i, x in enumerate(value) if x]
    return f"x - x' = {', '.join(shown[:_MOST_SHOWN])}{', ...' if len(shown) > _MOST_SHOWN else ''}"


# -- the event -------------------------------------------------------------------------------------


def between(below: Pair, above: Pair, epsilon: arb) -> Mapping[str, str]:
    """The event S = {log(p/q) > epsilon} of the worse order of two distributions, by bounds on their profiles."""
    high = above.forward(epsilon)
    backward = high if above.forward is above.backward else above.backward(epsilon)
    swapped = bool(backward > high)
    if swapped:
        below, above, high = below.reversed, above.reversed, backward
    low = high if below.forward is above.forward else below.forward(epsilon)
    p, q = probabilities(below.forward, above.forward, epsilon, (low, high))
    first, second = ("Q", "P") if swapped else ("P", "Q")
    return {
        "pair": "the worst neighbours, P and Q" if not swapped else "the worst neighbours in the other order",
        "event": f"S = {{outputs with log({first}/{second}) > {_decimal(epsilon)[0]}}}, summed over the parts where there are several",
        "P": _interval(p),
        "Q": _interval(q),
        "P - exp(epsilon)*Q": _interval(low.union(high)),
    }


def probabilities(below: Profile, above: Profile, epsilon: arb, there: tuple[arb, arb] | None = None) -> tuple[arb, arb]:
    """P(S) and Q(S): with a = e^epsilon, H is convex in a, and minus its slope at a is Q(S); P(S) = H + a Q(S). there: what bounds H.

    Slopes of chords on either side bound it, whatever their lengths.
    """
    steps = [_CHORD] if below is above else range(0, _CHORD, 2)
    factor, (low, high), q = epsilon.exp(), there or (below(epsilon), above(epsilon)), arb(0).union(arb(1))
    for step in (arb(2) ** -bits for bits in steps):
        right = (low - above(epsilon + step)) / (factor * step.expm1())
        left = (above(epsilon - step) - low) / (factor * -(-step).expm1()) if epsilon > step else arb(1)
        slopes = right.lower().max(arb(0)).union(left.upper().min(arb(1)))
        q = q.intersection(slopes) if q.overlaps(slopes) else q
    return (low.union(high) + factor * q).min(arb(1)), q


def _decimal(ball: arb) -> tuple[str, str]:
    low, high = _end(ball.lower(), _TINY * 0, -_TINY), _end(ball.upper(), _TINY, _TINY * 0)
    return decimal_bounds(Num(low), _DIGITS)[0], decimal_bounds(Num(high), _DIGITS)[1]


def _end(end: arb, above: Fraction, below: Fraction) -> Fraction:
    """An end of a ball; too near to 0 to be written out, what stands for it on the one side of 0 or the other."""
    if end.is_zero() or not abs(end) < rational(_TINY):
        return exact(end)
    return above if end > 0 else below


def _interval(ball: arb) -> str:
    if not ball.is_finite():
        raise Undecided("the probabilities of the event have no finite enclosure.")
    low, high = _decimal(ball)
    return f"[{low}, {high}]" if low != high else low

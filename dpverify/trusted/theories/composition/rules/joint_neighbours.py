"""Parts that share their neighbours, at one pair of these at a time (theory#joint-neighbours).

Theorem: Parts with queries on the same records, or with tables of the same inputs, are run on the same two databases. For neighbours that
differ by v the output is the product of the parts' pairs at the differences F_j v, so that the whole is dominated by the greatest over all
v, and the pair at any one v is a lower bound. For adding or removing a record v runs over the unit vectors, for replacing one over their
differences; for several records, or real histograms, over the vertices where all densities are log-concave. What is in a group of its own
has the curve of that group.

Checked:
- every pair of neighbours, up to symmetries, has its own bound
- the pair of a lower bound differs by as many records as neighbours do
- densities are log-concave where the vertices alone are looked at

Source: docs/theory/composition.md#joint-neighbours
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators import at_pair, candidates, neighbours
from dpverify.trusted.combinators.one_pair import Choice
from dpverify.trusted.combinators.runs import Run, grouped
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, greatest
from dpverify.trusted.facts.premises import curve_of
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Part
from dpverify.trusted.language.rationals import read_whole, to_whole

NAME: Final = neighbours.NAME
ASSUMED: Final = ()


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of parts by one pair of neighbours at a time. Raises Rejected, Undecided, CertificateError.

    parameters: "above", for every choice of neighbours the number of the premise with the curve there, null where nothing is revealed;
    without it the first premise is about parts that are each at neighbours of their own. "below", if given: the "choice" of these that
    the lower bound is for, by number; or its "pair" of neighbours, with the number of a "premise", null where nothing is revealed.
    """
    part, below = grouped(run), parameters.get("below", {})
    if run != Run(run.part, run.factor, own=run.own):
        raise Rejected(NAME, "the part", "it is run several times, or stands behind a map, of the data or of outputs")
    if "above" in parameters:
        listed = list(candidates.choices(part))
        curves = _listed(part, listed, parameters["above"], premises)
    else:
        listed, curves = [], [curve_of(premises[0], run, NAME)]
    upper = _upper(part, curves)
    below_it = _lower(part, listed, curves, below, premises)
    rows = neighbours.rows_assumed(part)
    used = [*curves, *([] if below_it is None else [below_it[1]])]
    rules = tuple(dict.fromkeys((NAME, *(name for curve in used for name in curve.rules))))
    assumed = tuple(dict.fromkeys((*rows, *(line for curve in curves for line in curve.assumed))))
    if below_it is None or below_it[1].lower is None:
        return Curve(upper, None, rules, assumed)
    choice, lower = below_it
    told = neighbours.apart(at_pair.at(part, choice, lower=True) or part, part)
    return Curve(upper, lower.lower, rules, assumed, tuple(dict.fromkeys((*lower.assumed, *lower.below, *told))))


def _listed(part: Part, choices: Sequence[Choice], numbers: Any, premises: Sequence[Fact]) -> list[Curve]:
    """The curve at every choice, by the premises that are named for them."""
    return [_at(at_pair.at(part, choice), number, premises) for choice, number in zip(choices, numbers, strict=True)]


def _at(part: Part | None, number: Any, premises: Sequence[Fact]) -> Curve:
    """The curve of parts at one pair of neighbours."""
    if part is None:
        return Curve(ALIKE, ALIKE, ())
    return curve_of(premises[to_whole(number, "above", NAME, 0, len(premises) - 1)], Run(part), NAME)


def _upper(part: Part, curves: Sequence[Curve]) -> Pair | None:
    uppers = [curve.upper for curve in curves if curve.upper is not None]
    if len(uppers) < len(curves):
        return None
    inputs = any(neighbours.space_of(leaf.part) is not None and leaf.part.query is None for leaf in neighbours.leaves(part))
    if inputs or candidates.in_either_order(part):
        # which of the two has the record nothing says, and a sample of the records asks
        uppers += [pair.reversed for pair in uppers if pair.forward is not pair.backward]
    return greatest(uppers)


def _lower(
    part: Part, choices: Sequence[Choice], curves: Sequence[Curve], below: Mapping[str, Any], premises: Sequence[Fact]
) -> tuple[Choice, Curve] | None:
    """The pair of neighbours that the lower bound is for, and the curve there."""
    if "choice" in below:
        number = read_whole(below, "choice", NAME, 0, len(choices) - 1)
        choice = at_pair.read(part, at_pair.written(choices[number]))
        if at_pair.at(part, choice) != at_pair.at(part, choice, lower=True):
            raise Rejected(NAME, "choice", "some part is at neighbours of its own there")
        return choice, curves[number]
    if "pair" in below:
        choice = at_pair.read(part, below["pair"])
        return choice, _at(at_pair.at(part, choice, lower=True), below.get("premise"), premises)
    return None

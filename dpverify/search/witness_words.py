"""Witnesses in words. The kernel says of a witness what it is by a name, with its numbers; the sentence that readers see is made here.

A part of a witness that is more than a number or an expression is an object: "says", the name of a sentence, and what stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Said = Mapping[str, Any]

_ONE: Final = re.compile(r"(?<![\w.])(?<![-+*/] )1 (standardised )?(functional|input|database|step|cell)s\b")
"""One thing, in a sentence that is written for several."""
_LONGEST: Final = 400
"""Characters of what a run tells, word by word."""


def in_words(told: Any) -> Any:
    """The witness, or a part of it, as readers see it: each object that names a sentence is that sentence."""
    if isinstance(told, list | tuple):
        return [in_words(one) for one in told]
    if not isinstance(told, Mapping):
        return told
    known: dict[str, Any] = {key: value if key == "of" and isinstance(value, Mapping) else in_words(value) for key, value in told.items()}
    if "says" not in known:
        return known
    name: str = known.pop("says")
    return _ONE.sub(r"1 \1\2", SENTENCES[name].format(**known)) if name in SENTENCES else MADE[name](known)


SENTENCES: Final[Mapping[str, str]] = {
    # neighbours, and outputs, of noise that is added
    "answers-apart": "two answers {apart} apart, in units of the scale",
    "answer": "answer {at}",
    "answers-at-distance": "answers at distance {distance}",
    "answers-that-differ": "answers that differ by {by}",
    "difference-in-functionals": "answers whose difference has the norm {norm} in {count} standardised functionals",
    "histograms": "histograms {histograms}: answers q and q' whose difference is {moved}",
    "one-record-replaced": "that differ by a record of type {type} in the place of one of type 1",
    "one-record-more": "with and without a record of type {type}",
    "part-of-a-record": "that differ by {by} at type {type}",
    "smaller-scale-first": "a database of scale 1 and answer 0, and one of scale exp({turned}) and answer {moved}",
    "greater-scale-first": "a database of scale exp({turned}) and answer {moved}, and one of scale 1 and answer 0",
    "scales-and-answers": "databases of scales 1 and exp(t), t = 0 or {turned}, and answers {moved} apart",
    "near-the-first-answer": "near the answer of the first input",
    "far-along-their-line": "far from both answers, along their line",
    "far-along-their-line-in-the-limit": "far from both answers, along their line, in the limit",
    "beyond-the-first-answer": "beyond the first answer, at distance (D + sqrt(D^2 + 4 A0/A1))/2 from the second",
    "ball-of-outputs": "S = {{y : |y - y0| <= {radius}}}",
    "one-output": "S = {{y0}}",
    "integers-from-q": "S = {{q + n : n an integer}}",
    "ball-along-the-difference": "the ball of radius {radius} round the point at {at} along the difference, in units of the scale",
    "outputs-beside-one-answer": "the outputs that lie beside one of the two answers as the noise does (Feldman and Hajek)",
    "ratio-of-means": "log(G(0)/G(D)), G(0) = {here}, G(D) = {there} up to one factor",
    # parts that are combined
    "shuffled-pair": "one person with either of two records, where all others have the first",
    "shuffled-event": "all people tell an output of the event of one",
    "point": "{kind}: {where}, loss {loss}",
    "output-point": "{kind}: output {output}, loss {loss}",
    "one-way-point": "{kind}: {where}",
    "one-part-with-the-whole-budget": "one part that spends the whole budget at once",
    "worst-output": "the worst output",
    "most-of-the-first-below": "an output above all that the first input makes more probable, and below all others",
    "smooth-power": "where a quadratic over another is greatest",
    "beyond-the-second": "outputs that the second answer cannot give, or far from both",
    "far-out": "outputs without end, ever {side}",
    "far-on-the-first-side": "far from both answers, on the side of the first, in the limit",
    "inputs-and-output": "inputs {inputs[0]} and {inputs[1]}, output {output}",
    "in-the-claimed-order": "two neighbours in the order that is claimed",
    # selections and streams
    "one-database": "the database with these votes, and one of which one voter has cast other votes",
    "answers-far-apart": "answers far apart, which move by {moved}: {moves}",
    "in-the-limit": "{output}, in the limit",
    "two-near-answers": "a negative, then a positive, of two answers with less than the sensitivity between them",
    "until-they-meet": "until they meet",
    "greatest-value": "values of the greatest answer",
    "all-one-way": "all one way",
    "winner-down-others-up": "the winner down, all others up",
    "winner-down-alone": "the winner down alone",
    "by-a-point-of-the-hull": "by a point of the hull, or its opposite",
    "index-far-from-others": "the index of an answer that is far below, or above, the others",
    "all-told-far-below": "all answers, told far below where they are",
    "up-at-negatives": "up at negatives",
    "one-far-answer": "one answer far from the others",
    "that-one-alone": "that one alone",
    "in-the-same-way": "in the same way again and again",
    "far-apart-in-one-direction": "far apart in one direction, in another way again and again",
    "told-apart": "neighbours that the event tells apart",
    "at-negatives-and-positives": (
        "answers {low[0]} at negatives, {high[0]} at positives; and {low[1]} at negatives, {high[1]} at positives"
    ),
    # answers that are near the truth
    "any-data": "any data",
    "one-of-inputs": "one of {count} inputs",
    "further-than-near": (
        "every mechanism that is private at {epsilon} is further than {near} from the truth "
        "with a greater probability than beta on one of them"
    ),
    "database": "database {number}",
    "a-database": "a database",
    "a-database-near-an-end": "a database with its answer near an end",
    "databases-near-each-other": "databases with answers as near to each other as you like",
    "databases-on-a-line": "databases whose true answers are on a line",
    "databases-packed": "databases whose true answers are packed",
    "databases-in-a-grid": "databases whose true answers are in a grid",
    "grid-of-databases": "{count} databases in a grid with steps of {step}, whose neighbourhoods of {near} do not meet",
    # packings
    "largest-set": "a largest set of points more than twice that apart",
    "grid-of-points": "a grid of points more than twice that apart",
    "points-of-a-diameter": "points of a diameter more than twice that apart",
    "points-apart": "points more than twice that apart",
    "points-that-do-not-meet": "points whose neighbourhoods do not meet",
    "points-on-first-axes": "points {from_0} from 0 on both sides of the first {first} axes",
    "points-on-axes": "points {from_0} from 0 on the axes {axes[0]}, {axes[1]}, ...",
    "ends-of-axes": "both ends of every axis",
    "one-point": "one point",
    "two-points-across": "two points across",
    "leaves": "a leaf under every node of depth {depth}",
    "leaves-of-infinitely-many": "a leaf under every child of a node with infinitely many, at a depth of {depth}",
    "left-ends": "the left ends of the pieces after {steps} steps",
    "constants-apart": "constants more than twice that apart",
    "sums-of-bumps": "sums of bumps on {cells} cells",
    "all-points": "all points",
    "stated-points": "the stated points",
    # other measures
    "whole-sensitivity-apart": "answers that are the whole sensitivity apart",
    "as-far-as-they-can": "answers that move as far as they can together",
    "greatest-integer-apart": "answers that differ by the greatest integer within the sensitivity",
    "two-neighbours": "two neighbours",
    "outputs-of-one-alone": "the outputs that only one of the two inputs can give",
    "outputs-of-greatest-losses": "the outputs of the greatest losses",
    "order-1-in-the-limit": "1, in the limit",
}
"""Sentences by their names; what stands in braces is told of the witness."""


def counted(count: Any, what: str) -> str:
    """So many things, in one word more where they are several. count: a number, or an expression."""
    return f"{count} {what}{'' if str(count) == '1' else 's'}"


def _output(told: Said) -> str:
    here, there = (f"({text})" if "," in text else text for text in (told["from_q"], told["from_other"]))
    return f"answers q and q', and an output y0 with y0 - q = {here} and y0 - q' = {there}"


def _output_towards(told: Said) -> str:
    beside = {"right": " from above", "left": " from below"}.get(told["side"], "")
    at = told["side"] if told["point"] is None else f"{told['point']}{beside}"
    return f"y0 with y0 - q towards {at}"


def _counts(told: Said) -> str:
    more = f", {counted(told['raised'], 'positive')} more" if told["raised"] else ""
    before = " before each" if told["each"] else ""
    return f"{counted(told['positives'], 'positive')} and {counted(told['negatives'], 'negative')}{before}{more}"


def _moves(told: Said) -> str:
    more = ", up at these" if told["raised"] else ""
    return f"{'up' if told['up'] else 'not'} at negatives, {'down' if told['down'] else 'not'} at positives{more}"


def _told(told: Said) -> str:
    words = [word or "nothing" for word in told["words"]]
    if told["again"] is not None:
        first, after, times = told["again"]
        words[first:after] = [f"({', '.join(words[first:after])}) {'without end' if times is None else counted(times, 'time')}"]
    return ", ".join(words)[:_LONGEST]


def _any_of_words(told: Said) -> str:
    return "; or ".join(map(", ".join, told["words"]))[:_LONGEST]


def _answers_of_both(told: Said) -> str:
    here, there = (", ".join(" and ".join(map(str, row)) for row in side) for side in told["sides"])
    return f"answers {here}; and {there}"


def _event(told: Said) -> str:
    return ", ".join(f"{key}: {value}" for key, value in told["of"].items())


def _first_and_others(told: Said) -> str:
    others, rest = ("all others", "") if told["count"] is None else (counted(told["count"], "other"), ", all further ones far below")
    here, there = (f"first {first}, {others} {low}{rest}" for first, low in zip(told["first"], told["others"], strict=True))
    return f"answers {here}; and {there}"


def _first_is_greatest(told: Said) -> str:
    ties = ", and of equal ones another would be; decided at random it loses at least the bound too" if told["whole"] else ""
    return f"the first of the answers is told to be the greatest{ties}"


def _negatives_then_positives(told: Said) -> str:
    before = f"{counted(told['negatives'], 'negative')}, then " if told["negatives"] else ""
    return f"{before}{counted(told['positives'], 'positive')}"


def _packing(told: Said) -> str:
    many = "infinitely many" if told["count"] is None else told["count"]
    few = "one" if told["overlap"] == 1 else told["overlap"]
    databases = "database" if many == 1 else "databases"
    return (
        f"{many} {databases}, at most {told['far']} apart, whose true answers are {told['what']}: no answer is within "
        f"{told['near']} of more than {few} of them"
    )


def _tuples(told: Said) -> str:
    parts: Sequence[str] = told["of"]
    return "tuples of " + " and ".join(parts)


MADE: Final[Mapping[str, Callable[[Said], str]]] = {
    "output": _output, "output-in-units": lambda told: f"{_output(told)}, in units of the scale",
    "output-towards": _output_towards, "counts": _counts, "moves": _moves, "told": _told, "any-of-words": _any_of_words,
    "answers-of-both": _answers_of_both, "event": _event, "first-and-others": _first_and_others, "first-is-greatest": _first_is_greatest,
    "negatives-then-positives": _negatives_then_positives, "packing": _packing, "tuples": _tuples,
}  # fmt: skip
"""Sentences that hang on what is told."""

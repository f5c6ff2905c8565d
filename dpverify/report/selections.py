"""What the proofs of selections and streams name: the shifts of an alignment, and the neighbours and the run that lose the most.

Nothing is found here: the lines of the certificate are put in words, and costs are added up as the rules do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from typing import Any, Final

from dpverify.report import Entry
from dpverify.trusted.combinators.streams import FAMILIES, MIRRORED
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, format_expr
from dpverify.trusted.kernel.model import AboveThreshold, NoisyMax, Stream, Vector
from dpverify.trusted.theories.selection import chances, shifted
from dpverify.trusted.theories.selection.compared import Asked, Value, asked, greatest
from dpverify.trusted.theories.selection.rules import alignment, told_words, worst_output, worst_run, worst_words
from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as noisy_max
from dpverify.trusted.theories.selection.rules import log_concave_threshold as threshold
from dpverify.trusted.theories.selection.ways import Way, read_way

FAR: Final = 3
"""Of answers that are ever further apart: at how many times their move they are drawn."""
_FAMILIES: Final = {
    "increasing": "answers that go up", "decreasing": "answers that go down", MIRRORED: "the opposites of the hull", "hull": "the hull"
}  # fmt: skip


# -- alignments ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alignment:
    """The shifts that make neighbours tell the same. family: which neighbours, where there are two kinds.

    rows: where (the start, or a branch), the shift of each noise, and what they cost. prices: of each counter, of each step, and so on.
    loose: what of the state is known up to an interval alone.
    """

    family: str
    rows: tuple[tuple[str, Mapping[str, str], str], ...]
    prices: Mapping[str, str]
    loose: tuple[str, ...] = ()


def alignments(entry: Entry) -> list[Alignment]:
    """Those of the proof of a claim about a stream; none of other claims."""
    line = next((line for line, _ in entry.proved if line.rule == alignment.NAME and not line.place), None)
    if line is None or not isinstance(entry.claim.mechanism, Stream):
        return []
    try:
        question = asked(replace(entry.claim, epsilon=None, delta=None), {}, alignment.NAME, wanted=Stream)
        stream = entry.claim.mechanism
        families = FAMILIES.get(stream.neighbours, (stream.neighbours,))
        ways = [read_way(question, stream, family, way, {}) for family, way in zip(families, line.parameters["ways"], strict=True)]
    except DpverifyError:
        return []
    return [_aligned(way, _FAMILIES[family] if len(families) > 1 else "") for way, family in zip(ways, families, strict=True)]


def _aligned(way: Way, family: str) -> Alignment:
    several, rows = len(way.modes) > 1, []
    for mode in way.starts if way.stream.once else ():
        where = f"the start, mode {mode + 1}" if len(way.starts) > 1 else "the start"
        rows.append((where, _shifts(way, way.once(mode)), _cost(way, way.once(mode))))
    for lead in way.leads:
        given = way.stream.steps[lead.branch]
        where = given.emit or ("what is told" if given.tell else "nothing")
        if sum(each.emit == given.emit for each in way.stream.steps) > 1:
            where = f"{where} (branch {lead.branch + 1})"
        if way.alone:
            where += ", the step that moves" if lead.moves else ", after it" if way.spent[lead.mode] else ", before it"
        if several:
            where += f", mode {lead.mode + 1}" + (f" to {lead.to + 1}" if lead.to != lead.mode else "")
        ends = [lead.turned(kept) for point in way.points for kept in way.apart(lead.mode, point)]
        rows.append((where, _shifts(way, lead.shifts, lead.turns), _cost(way, lead.shifts, ends)))
    prices = {name: format_expr(price) for name, price in way.prices.items() if price != Num(Fraction(0))}
    prices |= {"each step": format_expr(way.each)} if way.each != Num(Fraction(0)) else {}
    prices |= {name: format_expr(price) for name, price in way.worth.items()}
    kept = _said(greatest(way.question, *(way.ahead[mode] for mode in way.starts)))
    what = "the step that moves" if way.alone else "what is kept at the start"
    loose = tuple(
        f"in mode {mode + 1} {name} differs by {way.modes[mode][name][0]} to {way.modes[mode][name][0] + more}"
        for mode, known in enumerate(way.loose)
        for name, more in known.items()
        if more
    )
    return Alignment(family, tuple(rows), prices | ({what: kept} if kept != "0" else {}), loose)


def _shifts(way: Way, shifts: Mapping[str, Vector], turns: Mapping[str, Mapping[str, Fraction]] = {}) -> dict[str, str]:
    """turns: multiples of what the state differs by."""
    told = {name: _linear(vector, way.stream.answers) for name, vector in shifts.items() if any(vector) or name in turns}
    more = {name: " + ".join(f"{x}*(difference of {each})" for each, x in row.items()) for name, row in turns.items()}
    return {name: f"{said} + {more[name]}" if name in more else said for name, said in told.items()}


def _linear(vector: Vector, answers: Sequence[str]) -> str:
    """A number and multiples of the moves of answers: "1 - d"."""
    names = ["d"] if len(answers) == 1 else [f"d_{name}" for name in answers]
    terms = [(vector[0], ""), *zip(vector[1:], names, strict=True)]
    said = ""
    for factor, name in terms:
        if not factor:
            continue
        size = abs(factor)
        text = name if name and size == 1 else f"{size}*{name}" if name else str(size)
        said += (f"-{text}" if factor < 0 else text) if not said else f" - {text}" if factor < 0 else f" + {text}"
    return said or "0"


def _cost(way: Way, shifts: Mapping[str, Vector], ends: Sequence[Mapping[str, Fraction]] = ({},)) -> str:
    """The most over the vertices, and over what the state may add to the shifts there."""
    costs = [way.cost(shifts, point, more) for point in way.points for more in ends]
    return _said(greatest(way.question, *costs))


def _said(value: Value) -> str:
    return "no bound" if isinstance(value, Infinite) else format_expr(value)


# -- the neighbours of the lower bound --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """Steps, or candidates, that are alike. told: of each; answers: on x and on x', as they are drawn; moves: of each answer."""

    count: int
    told: str
    answers: tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Worst:
    """The neighbours on which an output loses the most.

    groups: in order. limit: whether the loss is reached only where the answers go on and on as they move. P, Q: the probabilities.
    at: values of parameters. threshold: the public one.
    """

    groups: tuple[Group, ...]
    loss: str
    limit: bool
    P: str = ""
    Q: str = ""
    at: Mapping[str, str] = field(default_factory=dict)
    threshold: Fraction | None = None

    @property
    def output(self) -> str:
        """What is told, in words."""
        return ", ".join(f"{group.told} {group.count} times" if group.count > 1 else group.told for group in self.groups)


def worst(entry: Entry) -> Worst | None:
    """Of the proof of a selection, from the line that gives the most: probabilities where these are known, else the limit."""
    found: list[tuple[bool, Worst]] = []
    for line, bounds in entry.proved:
        lower = next((bound for bound in bounds if bound.side == "lower"), None)
        read = _READERS.get(line.rule)
        if lower is None or line.place or read is None:
            continue
        try:
            shown = read(entry, line, lower)
        except (DpverifyError, KeyError, ValueError, TypeError):
            continue
        found += [] if shown is None else [(not shown.limit, shown)]
    return max(found, key=lambda one: one[0])[1] if found else None


def _question(entry: Entry, line: Line) -> Asked:
    told = {"side": "lower", **({"at": line.parameters["at"]} if "at" in line.parameters else {})}
    return asked(replace(entry.claim, epsilon=None, delta=None), told, line.rule, near=True, wanted=NoisyMax | AboveThreshold | Stream)


def _loss(bound: Bound) -> str:
    return "unbounded" if isinstance(bound.value, Infinite) else format_expr(bound.value)


def _at(line: Line) -> dict[str, str]:
    return dict(line.parameters.get("at", {}))


def _of_output(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    """An output with both of its probabilities."""
    question, witness = _question(entry, line), bound.witness
    if witness is None or "P" not in witness:
        return None
    mechanism, parameters = question.claim.mechanism, line.parameters
    if not isinstance(mechanism, NoisyMax | AboveThreshold) or not isinstance(question.moved, Num):
        return None
    (u, v), step = chances.MOVES[mechanism.neighbours][parameters["move"]], question.moved.value
    if "answers" in parameters:
        low, high = map(Fraction, parameters["answers"])
    else:
        assert mechanism.bounds is not None
        a, b = (end.value if isinstance(end, Num) else Fraction(0) for end in mechanism.bounds)
        low, high = b - u * min(step, b - a), a + v * min(step, b - a)
    sides = (low, low + u * step), (high, high - v * step)
    positives = parameters["positives"]
    if isinstance(mechanism, NoisyMax):
        negatives = parameters.get("negatives", _count(mechanism.candidates) - 1)
        groups, threshold_at = [Group(1, "told", (sides[1],)), Group(negatives, "not told", (sides[0],))], None
    else:
        negatives = parameters.get("negatives", _count(mechanism.queries) - positives)
        groups = [Group(negatives, "no", (sides[0],)), Group(positives, "yes", (sides[1],))]
        threshold_at = mechanism.threshold.value if isinstance(mechanism.threshold, Num) else None
    P, Q = (_plain(witness[key]) for key in "PQ")
    return Worst(tuple(group for group in groups if group.count), "", False, P, Q, _at(line), threshold_at)


def _count(expr: Expr) -> int:
    if not isinstance(expr, Num):
        raise ValueError("a number of queries or candidates that has no value")
    return int(expr.value)


def _plain(ball: str) -> str:
    """The middle of a ball as the kernel writes it, to eight digits."""
    middle = ball.strip("[]").partition(" +/-")[0]
    try:
        return f"{float(middle):.8g}"
    except ValueError:
        return ball


def _in_the_limit(groups: Sequence[tuple[int, str, Fraction]], line: Line, bound: Bound) -> Worst:
    shown = tuple(Group(count, told, ((FAR * move, (FAR + 1) * move),)) for count, told, move in groups if count)
    return Worst(shown, _loss(bound), True, at=_at(line))


def _of_threshold(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    question, mechanism = _question(entry, line), entry.claim.mechanism
    if not isinstance(mechanism, AboveThreshold):
        return None
    if line.parameters.get("exact"):
        half = Fraction(1, 2)
        return Worst((Group(1, "no", ((-half, half),)), Group(1, "yes", ((half, -half),))), _loss(bound), False, at=_at(line))
    if "positives" not in line.parameters:
        return None
    step = question.moved.value if isinstance(question.moved, Num) else Fraction(1)
    u, v = shifted.MOVES[mechanism.neighbours][line.parameters["move"]]
    counts = line.parameters["negatives"], line.parameters["positives"]
    raised = [(line.parameters["raised"], "yes", u * step)] if line.parameters.get("raised") else []
    return _in_the_limit([(counts[0], "no", u * step), (counts[1], "yes", -v * step), *raised], line, bound)


def _of_largest(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    question = _question(entry, line)
    mechanism = question.claim.mechanism
    if not isinstance(mechanism, NoisyMax) or mechanism.report == "value" or not isinstance(mechanism.candidates, Num):
        return None
    step = question.moved.value if isinstance(question.moved, Num) else Fraction(1)
    others = int(mechanism.candidates.value) - 1
    return _in_the_limit([(1, "told", -step), (others, "not told", step if mechanism.neighbours == "all" else Fraction(0))], line, bound)


def _of_run(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    question, stream = _question(entry, line), entry.claim.mechanism
    assert isinstance(stream, Stream)
    step = question.moved.value if isinstance(question.moved, Num) else Fraction(1)
    block = range(*line.parameters["repeat"]) if "repeat" in line.parameters else range(0)
    told = []
    for number, (branch, _, _, moves) in enumerate(line.parameters["run"]):
        word = stream.steps[branch].emit or ("numbers" if stream.steps[branch].tell else "nothing")
        told.append((word + " (again and again)" * (number in block), tuple(Fraction(move) * step for move in moves)))
    groups = tuple(
        Group(len(list(run)), word, tuple((FAR * move, (FAR + 1) * move) for move in moves)) for (word, moves), run in groupby(told)
    )
    return Worst(groups, _loss(bound), True, at=_at(line))


def _of_far_words(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    """Words that several runs tell, and how the answers of each step move far out."""
    question = _question(entry, line)
    step = question.moved.value if isinstance(question.moved, Num) else Fraction(1)
    told = []
    for word, rows in zip(line.parameters["words"], line.parameters["answers"], strict=True):
        _, far, moves = ([Fraction(str(x)) * step for x in row] for row in rows)
        told.append((word, tuple((FAR * x, FAR * x + move) for x, move in zip(far, moves, strict=True))))
    groups = tuple(Group(len(list(run)), word, answers) for (word, answers), run in groupby(told))
    return Worst(groups, _loss(bound), True, at=_at(line))


def _of_words(entry: Entry, line: Line, bound: Bound) -> Worst | None:
    """Words with the answers of both neighbours and both of their probabilities."""
    (words,), witness = line.parameters["words"], bound.witness
    here, there = ([[Fraction(str(x)) for x in row] for row in side] for side in line.parameters["answers"])
    told = [(word, tuple(zip(*rows, strict=True))) for word, *rows in zip(words, here, there, strict=True)]
    groups = tuple(Group(len(list(run)), word, answers) for (word, answers), run in groupby(told))
    P, Q = ("" if witness is None or isinstance(bound.value, Infinite) else _plain(witness[key]) for key in "PQ")
    return Worst(groups, _loss(bound), False, P, Q, _at(line))


_READERS: Final = {
    worst_output.NAME: _of_output,
    threshold.NAME: _of_threshold,
    noisy_max.NAME: _of_largest,
    worst_run.NAME: _of_run,
    told_words.NAME: _of_words,
    worst_words.NAME: _of_far_words,
}


# -- in text and in JSON ------------------------------------------------------------------------------------------------

UNITS: Final = "in units of the sensitivity; d: what an answer moves by"


def lines(entry: Entry) -> Iterator[str]:
    """What `explain` tells beside the proof: the alignment as a table, and the neighbours of the lower bound, not always the worst."""
    for found in alignments(entry):
        of = f" of {found.family}" if found.family else ""
        yield f"alignment{of}, {UNITS}"
        names = list(dict.fromkeys(name for _, shifts, _ in found.rows for name in shifts))
        table = [["", *names, "costs"], *([where, *(shifts.get(name, "0") for name in names), cost] for where, shifts, cost in found.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        for row in table:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        if found.prices:
            yield f"  paid by: {', '.join(f'{name} {price}' for name, price in found.prices.items())}"
        if found.loose:
            yield f"  not known more closely: {', '.join(found.loose)}"
    shown = worst(entry)
    if shown is not None:
        yield f"neighbours of the lower bound{''.join(f', {name} = {value}' for name, value in shown.at.items())}: {summary(shown)}"
        yield from (f"  {group_text(group, shown)}" for group in shown.groups)


def summary(shown: Worst) -> str:
    """What the output loses."""
    if shown.P:
        return f"told with probability {shown.P} on x and {shown.Q} on x'"
    if not shown.limit:
        return "told on x, and never on x'"
    return f"an unbounded loss {_LIMIT}" if shown.loss == "unbounded" else f"a loss of {shown.loss} {_LIMIT}"


_LIMIT: Final = "in the limit of answers that go on as they move"


def group_text(group: Group, shown: Worst) -> str:
    """A group in words."""
    told = f"{group.told} {group.count} times" if group.count > 1 else group.told
    if shown.limit:
        moved = ", ".join(_move(there - here) for here, there in group.answers)
        return f"{told}: {moved}"
    return f"{told}: " + ", ".join(f"{_number(here)} on x, {_number(there)} on x'" for here, there in group.answers)


def _move(by: Fraction) -> str:
    return f"the answer goes {'up' if by > 0 else 'down'} by {_number(abs(by))}" if by else "the answer stays"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator <= 1000 else f"{float(value):.6g}"


def record(entry: Entry) -> dict[str, Any]:
    """The same for JSON; empty where there is nothing of it."""
    told: dict[str, Any] = {}
    aligned = alignments(entry)
    if aligned:
        told["alignment"] = [
            {
                "neighbours": found.family or "all",
                "shifts": [{"branch": where, "noises": dict(shifts), "cost": cost} for where, shifts, cost in found.rows],
                "prices": dict(found.prices),
            }
            for found in aligned
        ]
    shown = worst(entry)
    if shown is not None:
        told["worst"] = {
            "output": [{"told": group.told, "times": group.count, "answers": [list(map(str, pair)) for pair in group.answers]}
                       for group in shown.groups],
            "limit": shown.limit, "loss": shown.loss or None, "P": shown.P or None, "Q": shown.Q or None, "at": dict(shown.at),
        }  # fmt: skip
    return told

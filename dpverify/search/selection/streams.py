"""Proposes bounds for streams: alignments by a linear program over all shifts, and the runs that its duals point at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from flint import ctx

from dpverify.search import counterexample
from dpverify.search.proposal import Premise, Proposal, Steps, bound
from dpverify.search.selection import every_word, runs_of_streams, stream_routes
from dpverify.search.selection.stream_modes import Modes, by_count, by_place, guesses, simple
from dpverify.trusted.combinators import noises
from dpverify.trusted.combinators.streams import FAMILIES, Form, Step, faults, settled, start_of, step_of, vertices
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, add, div, format_expr, mul, num, sub, substitute, symbols
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import Claim, Stream, Vector, on_integers
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection import ways
from dpverify.trusted.theories.selection.compared import Asked, Value, asked, greatest, slopes
from dpverify.trusted.theories.selection.rules import alignment, told_words, worst_run

MANY: Final = 10**6
"""As many steps as stand for any number of them."""
_SIMPLE: Final = 720
"""The largest denominator of a shift."""
_SMALL: Final = 1e-7

_NONE: Final = (
    "no one shift for each noise of a branch was found that makes neighbours tell the same on every run: bound the number of steps by "
    "queries, or count what costs something in limits."
)

Key = tuple[Any, ...]
Linear = dict[Key, float]


def extend(proposal: Proposal, claim: Claim, digits: int, known: Premise) -> None:
    """Add what is proved of a stream. known: of the noises by themselves."""
    assert isinstance(claim.mechanism, Stream)
    for fault in faults(claim.mechanism):
        proposal.reasons.append(fault)
        return
    claim = replace(claim, mechanism=settled(claim.mechanism))
    if getattr(claim.mechanism, "bounds", None) is not None and on_integers(claim.mechanism) and not claim.domains:
        before = len(proposal.reasons)
        if proposal.extend(every_word.propose, claim, digits) and every_word.is_whole(claim):
            del proposal.reasons[before:]
            return
    found = proposal.extend(lambda claim, _: _both(claim, known, proposal.above), claim, digits)
    if found and all(step["rule"] != alignment.NAME for step in proposal.steps):
        proposal.reasons.append(_NONE)


class Losses:
    """What noises that are not log-concave lose by themselves."""

    def __init__(self, question: Asked, known: Premise) -> None:
        self._question, self._known = question, known
        self._found: dict[tuple[str, Fraction], tuple[dict[str, Any], Expr] | None] = {}
        stream = question.claim.mechanism
        assert isinstance(stream, Stream)
        self.slopes: dict[str, tuple[Value, Value]] = {}
        for drawn in (*stream.once, *stream.fresh):
            try:
                self.slopes[drawn.name] = slopes(question, drawn.noise)
            except DpverifyError:
                if self._of(drawn.name, Fraction(1)) is None:
                    raise
        self.others = [drawn.name for drawn in (*stream.once, *stream.fresh) if drawn.name not in self.slopes]

    def _of(self, name: str, shift: Fraction) -> tuple[dict[str, Any], Expr] | None:
        """The step that shows what noise loses that is moved by so many times the sensitivity, and that in units of the sensitivity."""
        if (name, shift) not in self._found:
            asked_for = noises.question(self._question.claim, name, str(shift))
            step, self._found[name, shift] = self._known(asked_for, "upper"), None
            if step is not None:
                with precision(max(step.get("prec", 0), ctx.prec)):
                    values = [b.value for b in as_bounds(bound(Proof(asked_for), (), step).says) if b.side == "upper"]
                if values and not isinstance(values[0], Infinite):
                    self._found[name, shift] = step, div(values[0], self._question.moved)
        return self._found[name, shift]

    def steep(self, name: str, sample: Mapping[str, Expr]) -> tuple[float, float]:
        """About how much a unit of a shift costs to the left and to the right."""
        if name in self.slopes:
            return _float(self.slopes[name][0], sample), _float(self.slopes[name][1], sample)
        found = self._of(name, Fraction(1))
        assert found is not None
        return _float(found[1], sample), _float(found[1], sample)

    def shifts(self, points: Sequence[Vector], way: Mapping[str, Any]) -> list[tuple[str, Fraction]]:
        """By how much an alignment shifts the noises that are not log-concave, at most."""
        told = [(name, row) for rows in (way["once"], *(step[-1] for step in way["steps"])) for name, row in rows.items()]
        most = {
            (name, max(abs(ways.at(tuple(map(Fraction, row)), point)) for point in points)) for name, row in told if name in self.others
        }
        return sorted(key for key in most if key[1])

    def moduli(self, keys: Iterable[tuple[str, Fraction]]) -> dict[tuple[str, Fraction], Expr]:
        """What each of these costs, where that is known."""
        return {key: found[1] for key in keys if (found := self._of(*key)) is not None}

    def step(self, told: list[dict[str, Any]], keys: Sequence[tuple[str, Fraction]]) -> dict[str, Any]:
        """The use of the rule, with its premises."""
        if not keys:
            return {"rule": alignment.NAME, "evidence": {"ways": told}}
        found = {key: one for key in keys if (one := self._of(*key)) is not None}
        premises = [({"noise": name, "moved": str(shift)}, step) for (name, shift), (step, _) in found.items()]
        return {
            "rule": alignment.NAME,
            "evidence": {"ways": told, "moduli": [[name, str(shift)] for name, shift in keys]},
            "noises": premises,
        }


def _both(claim: Claim, known: Premise, above: bool) -> Steps:
    """The alignments, and unless upper bounds alone are asked for, a run or words that lose much."""
    unclaimed = replace(claim, epsilon=None, delta=None, name="", mechanism_name="")
    question = asked(unclaimed, {}, alignment.NAME, wanted=Stream)
    losses, steps, pointed, dear = Losses(question, known), Steps(), list[list[tuple[int, Vector]]](), list[stream_routes.Legs]()
    for sample in _samples(claim):
        here = tuple(sample.items())
        found = _alignment(question, here, losses) if losses.others else _of_slopes(unclaimed, here)
        if found is not None:
            pointed, dear = pointed + found.pointed, dear + found.dear
            step = losses.step(found.ways, found.shifts)
            if step not in steps:
                steps.append(step)
    below: Steps = []
    if not above and not _cannot_break(claim, steps):
        if not losses.others and getattr(claim.mechanism, "bounds", None) is None:
            below = list(runs_of_streams.propose(claim, pointed, dear, steps))
            below += _shared(claim, pointed, dear, steps, below)
        if not below:
            with suppress(Rejected):  # a noise whose probabilities are not known leaves what is proved from above
                below = list(_words(claim, pointed))
    if not steps and not below:
        raise Rejected(alignment.NAME, "shifts", "no shifts of the noises were found that make neighbours tell the same, nor a run without")
    return steps + below


def alignments(claim: Claim) -> tuple[dict[str, Expr], list[ways.Way]]:
    """The best alignments that are found, one for each family of differences, where all noises are log-concave; and the sample for it.

    Raises Rejected where there are none.
    """
    unclaimed = replace(claim, epsilon=None, delta=None, name="", mechanism_name="")
    question = asked(unclaimed, {}, alignment.NAME, wanted=Stream)
    stream = question.stream
    for sample in _samples(claim):
        if (found := _of_slopes(unclaimed, tuple(sample.items()))) is not None:
            families = FAMILIES.get(stream.neighbours, (stream.neighbours,))
            return sample, [ways.read_way(question, stream, family, way, {}) for family, way in zip(families, found.ways, strict=True)]
    raise Rejected(alignment.NAME, "shifts", "none were found")


def _shared(
    claim: Claim, pointed: Sequence[Sequence[tuple[int, Vector]]], dear: Sequence[stream_routes.Legs], above: Steps, below: Steps
) -> Iterator[dict[str, Any]]:
    """Words that several runs tell, where they lose more than one run that is known from what it tells."""
    from dpverify.search.selection import words_of_runs

    assert isinstance(claim.mechanism, Stream)
    if claim.domains or not words_of_runs.shared(claim.mechanism):
        return
    unclaimed = replace(claim, epsilon=None, delta=None)
    question = asked(unclaimed, {"side": "lower"}, alignment.NAME, wanted=Stream)
    goal, least = (
        [math.inf if isinstance(value, Infinite) else _float(value, {}) / _float(question.moved, {}) for value in values]
        for values in (
            [alignment.infer(unclaimed, step["evidence"], ()).value for step in above],
            [worst_run.check(unclaimed, step["evidence"]).value for step in below],
        )
    )
    yield from words_of_runs.propose(claim, pointed, dear, min(goal, default=math.inf), max(least, default=0.0))


def _words(claim: Claim, pointed: Sequence[Sequence[tuple[int, Vector]]]) -> Iterator[dict[str, Any]]:
    """Words that tell two neighbours apart, where there are no runs of answers far apart."""
    from dpverify.search.selection import words_of_streams

    if claim.domains:
        return
    unclaimed = replace(claim, epsilon=None, delta=None, name="", mechanism_name="")
    question = asked(unclaimed, {"side": "lower"}, told_words.NAME, near=True, wanted=Stream)
    claimed = None if claim.epsilon is None else float(enclose(claim.epsilon).mid())
    yield from words_of_streams.propose(question, claimed, pointed, {})


def _cannot_break(claim: Claim, steps: Steps) -> bool:
    """Whether an upper bound is within what is claimed of all parameters, so that no values of them break the claim."""
    if claim.epsilon is None or not claim.domains:
        return False
    values = [alignment.infer(replace(claim, epsilon=None, delta=None), step["evidence"], ()).value for step in steps]
    return any(not isinstance(value, Infinite) and certainly_le(value, claim.epsilon, dict(claim.domains)) for value in values)


def _samples(claim: Claim) -> Iterator[dict[str, Expr]]:
    """Simple values of the parameters, with many steps where their number is one, and with few."""
    counted = _numbers_of_steps(claim)
    simple = counterexample.simplest(dict(claim.domains))
    if counted:
        many: dict[str, Expr] = {name: num(MANY) for name in counted if dict(claim.domains)[name].holds(Fraction(MANY))}
        yield simple | many
    yield simple


def _numbers_of_steps(claim: Claim) -> list[str]:
    """The parameters that say how many steps there are."""
    mechanism = claim.mechanism
    assert isinstance(mechanism, Stream)
    return sorted(symbols(mechanism.queries) & dict(claim.domains).keys()) if mechanism.queries is not None else []


@dataclass(frozen=True, slots=True)
class Found:
    """An alignment for each family of differences, the branches and differences that it cannot do cheaper on, and dear runs."""

    ways: list[dict[str, Any]]
    pointed: list[list[tuple[int, Vector]]]
    shifts: list[tuple[str, Fraction]]
    dear: list[stream_routes.Legs]


@dataclass(frozen=True, slots=True)
class Best:
    """An alignment of one family, what it costs at a sample, and the branches and moves that hold its cost up."""

    cost: float
    way: dict[str, Any]
    pointed: list[tuple[int, Vector]]


@lru_cache(maxsize=64)  # asked again about the same stream, for its curve
def _of_slopes(claim: Claim, here: tuple[tuple[str, Expr], ...]) -> Found | None:
    """The same where all noises have slopes, so that nothing else need be known of them."""
    question = asked(claim, {}, alignment.NAME, wanted=Stream)
    return _alignment(question, here, Losses(question, lambda *_: None))


def _alignment(question: Asked, here: tuple[tuple[str, Expr], ...], losses: Losses) -> Found | None:
    """The best for each family, at a sample of the parameters; None where there is none."""
    stream, sample = question.claim.mechanism, dict(here)
    assert isinstance(stream, Stream)
    best, families = [], FAMILIES.get(stream.neighbours, (stream.neighbours,))
    steep = {drawn.name: losses.steep(drawn.name, sample) for drawn in (*stream.once, *stream.fresh)}
    for family in families:
        found = _best(question, stream, family, steep, sample, losses)
        if found is None:
            return None
        best.append(found)
    shifts = sorted({key for family, one in zip(families, best, strict=True) for key in losses.shifts(vertices(stream, family), one.way)})
    dear: list[stream_routes.Legs] = []
    for family, one in zip(families, best, strict=True):
        dear += stream_routes.routes(ways.read_way(question, stream, family, one.way, losses.moduli(shifts)), sample)
    return Found([one.way for one in best], [one.pointed for one in best], shifts, dear)


def _best(
    question: Asked, stream: Stream, family: str, steep: Mapping[str, tuple[float, float]], sample: Mapping[str, Expr], losses: Losses
) -> Best | None:  # fmt: skip
    """With simple modes where these do; with guesses of what noise that is kept is compared with where each step would cost something."""
    alone = family == "one"
    found = (_aligned(question, stream, family, modes, steep, sample, losses) for modes in simple(question, stream, alone))
    best = next((one for one in found if one is not None), None)
    more, used = [by_place(question, stream, alone) if alone and _reads(stream) else by_count(stream)], None
    more = more if not alone or _reads(stream) else []
    if not alone and (best is None or best.way["each"] != "0"):
        more.append(guesses(question, stream, vertices(stream, family), steep))
    for modes in chain.from_iterable(more):
        one = _aligned(question, stream, family, modes, steep, sample, losses)
        if one is not None and (best is None or one.cost < best.cost - _SMALL * 10):
            best, used = one, modes
    if used is not None and _reads(stream):
        one = _aligned(question, stream, family, used, steep, sample, losses, loose=True)
        best = one if one is not None and best is not None and one.cost < best.cost - _SMALL * 10 else best
    if best is None and not alone and _reads(stream):
        every = simple(question, stream, alone)
        loosely = (_aligned(question, stream, family, modes, steep, sample, losses, loose=True) for modes in every)
        best = next((one for one in loosely if one is not None), None)
    if best is None and not alone and _reads(stream) and not losses.others and not question.whole:
        placed = by_place(question, stream, alone)
        turned = (_aligned(question, stream, family, modes, steep, sample, losses, loose=True, turned=True) for modes in placed)
        best = next((one for one in turned if one is not None), None)
    return best


def _reads(stream: Stream) -> bool:
    """Whether answers are kept, so that what neighbours keep may differ by what the answers do."""
    return any(symbols(each.value) & set(stream.answers) for branch in stream.steps for each in branch.change)


# -- a linear program -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Program:
    """Rows of the least of a sum, by the names of its unknowns. marks: of each row that is at most something, what it is about."""

    unknowns: dict[Key, int] = field(default_factory=dict)
    ends: dict[Key, tuple[float | None, float | None]] = field(default_factory=dict)
    least: list[tuple[Linear, float]] = field(default_factory=list)
    equal: list[tuple[Linear, float]] = field(default_factory=list)
    marks: list[Any] = field(default_factory=list)

    def at_most(self, row: Linear, end: float, mark: Any = None) -> None:
        self.least.append((row, end))
        self.marks.append(mark)
        self._know(row)

    def equals(self, row: Linear, end: float) -> None:
        self.equal.append((row, end))
        self._know(row)

    def _know(self, row: Linear) -> None:
        for key in row:
            self.unknowns.setdefault(key, len(self.unknowns))

    def solve(self, cost: Linear, whole: bool = False) -> tuple[dict[Key, float], list[float]] | None:
        """The unknowns at the least cost and the weights of the rows in `least`; None where there is none. whole: shifts are integers."""
        import numpy as np
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix

        self._know(cost)
        size = len(self.unknowns)

        def stacked(rows: Sequence[tuple[Linear, float]]) -> tuple[Any, Any]:
            if not rows:
                return None, None
            entries = [(i, self.unknowns[key], value) for i, (row, _) in enumerate(rows) for key, value in row.items()]
            places = ([i for i, _, _ in entries], [j for _, j, _ in entries])
            return coo_matrix(([value for *_, value in entries], places), (len(rows), size)).tocsr(), np.array([end for _, end in rows])

        objective = np.zeros(size)
        for key, value in cost.items():
            objective[self.unknowns[key]] = value
        bounds = [self.ends.get(key, (None, None)) for key in self.unknowns]
        (upper, ends), (sums, totals) = stacked(self.least), stacked(self.equal)
        if whole:
            kept = [int(key[0] in ("once", "fresh")) for key in self.unknowns]
            found = linprog(objective, upper, ends, sums, totals, bounds=bounds, method="highs", integrality=kept)
            return None if found.status != 0 else (dict(zip(self.unknowns, found.x, strict=True)), [])
        found = linprog(objective, upper, ends, sums, totals, bounds=bounds, method="highs-ds")
        if found.status != 0:
            return None
        return dict(zip(self.unknowns, found.x, strict=True)), [] if upper is None else list(found.ineqlin.marginals)


# -- alignments -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Shape:
    """What an alignment's program is about: its modes, where branches lead, and how steep noises are."""

    stream: Stream
    alone: bool
    modes: Modes
    steep: Mapping[str, tuple[float, float]]
    sample: Mapping[str, Expr]
    loose: bool = False
    turned: bool = False

    def turns(self, step: Step) -> dict[str, dict[str, Fraction]]:
        """Of a noise in each number that is told multiples of what is kept, so that what neighbours keep does not show."""
        found: dict[str, dict[str, Fraction]] = {}
        kept = [each.name for each in self.stream.state]
        for told in step.tell if self.turned else ():
            name = next((drawn.name for drawn in self.stream.fresh if drawn.name in told.of and drawn.name not in found), None)
            if name is not None and not set(kept).isdisjoint(told.of):
                found[name] = {each: -told.of[each] / told.of[name] for each in kept if each in told.of}
        return found

    def more(self, mode: int, form: Form, sign: float) -> Linear:
        """What is added to the least (the greatest) that a form may be, where differences of the state are known up to something alone."""
        given = {each.name: float(form.of.get(each.name, 0)) for each in self.stream.state} if self.loose else {}
        return {("loose", mode, name): factor for name, factor in given.items() if sign * factor > 0}

    def vector(self, key: Key, point: Vector, whole: bool) -> Linear:
        """A shift or difference at a point; whole: whether it depends on the point."""
        return {(*key, 0): 1.0} | ({(*key, i): float(x) for i, x in enumerate(point, 1)} if whole else {})


def _aligned(
    question: Asked, stream: Stream, family: str, modes: Modes, steep: Mapping[str, tuple[float, float]], sample: Mapping[str, Expr],
    losses: Losses, loose: bool = False, turned: bool = False,
) -> Best | None:  # fmt: skip
    """The alignment of least cost with these modes. loose: where the differences of the state may be known up to something alone.

    turned: where noises that are told hide that too.
    """
    shape = Shape(stream, family == "one", modes, steep, sample, loose, turned)
    program, points = Program(), vertices(stream, family)
    for point in points:
        _at_point(shape, program, point)
    _keeping(shape, program)
    cost = _objective(shape, program, question, sample)
    found = None if cost is None else program.solve(cost)
    if cost is None or found is None:
        return None
    values, weights = found
    way = _exactly(question, shape, family, values, losses)
    if way is None and question.whole:
        found = program.solve(cost, whole=True)
        if found is None:
            return None
        values, way = found[0], _exactly(question, shape, family, found[0], losses)
    weighed = zip(program.marks, weights, strict=True)
    used = dict.fromkeys(mark for mark, weight in weighed if mark is not None and abs(weight) > _SMALL * 10)
    return None if way is None else Best(sum(cost[key] * values[key] for key in cost), way, list(used))


def _at_point(shape: Shape, program: Program, point: Vector) -> None:
    """Rows for one difference of the answers."""
    stream, alone, modes = shape.stream, shape.alone, shape.modes
    names = [drawn.name for drawn in stream.once]
    once = [{name: shape.vector(("once", group, name), point, alone) for name in names} for group in range(max(modes.groups) + 1)]

    def mode_of(mode: int) -> dict[str, Linear]:
        return once[modes.groups[mode]] | {each.name: shape.vector(("mode", mode, each.name), point, alone) for each in stream.state}

    for mode in modes.starts:
        held = mode_of(mode)
        for name, first in start_of(stream).items():
            row, _ = _form(first, held, {})
            _within(shape, program, mode, name, _minus(row, held[name]), 0.0, {}, {})
        paid: Linear = {("start",): -1.0, ("ahead", mode): 1.0}
        paid |= {("worth", name): -float(value) for name, value in zip(modes.counted, modes.first, strict=True)}
        for name in names:
            _cost(shape, program, name, held[name], ("once cost", mode, name, point), paid)
        program.at_most(paid, 0.0)
    for number, ((mode, branch, moves, to), passes) in enumerate(zip(modes.edges, modes.passes, strict=True)):
        fresh = {drawn.name: shape.vector(("fresh", number, drawn.name), point, moves or alone) for drawn in stream.fresh}
        apart = {**mode_of(mode), **fresh}
        constants = dict(zip(stream.answers, point, strict=True)) if moves else {}
        mark, own = (branch, point if moves else (Fraction(0),) * len(point)), step_of(stream, stream.steps[branch])
        turns = shape.turns(own)
        kept_after = {name: _turned(form, turns) for name, form in own.after.items()}
        own = Step(tuple(_turned(form, turns) for form in own.when), tuple(_turned(form, turns) for form in own.tell), kept_after)
        for guard in own.when:
            row, moved = _form(guard, apart, constants)
            program.at_most({key: -x for key, x in (row | shape.more(mode, guard, -1)).items()}, moved, mark)
        for earlier, place in sorted(modes.earlier[branch]):
            guard = _turned(step_of(stream, stream.steps[earlier]).when[place], turns)
            row, moved = _form(guard, apart, constants)
            program.at_most(row | shape.more(mode, guard, 1), -moved, mark)
        for told in own.tell:
            row, moved = _form(told, apart, constants)
            program.equals(row, -moved)
            for key in shape.more(mode, told, 1) | shape.more(mode, told, -1):
                program.equals({key: 1.0}, 0.0)
        after = mode_of(to)
        for name, form in own.after.items():
            row, moved = _form(form, apart, constants)
            _within(shape, program, to, name, _minus(row, after[name]), moved, shape.more(mode, form, -1), shape.more(mode, form, 1))
        spent: Linear = {("each",): -1.0} | ({("ahead", mode): -1.0, ("ahead", to): 1.0} if to != mode else {})
        for each in stream.steps[branch].count:
            spent[("price", each.name)] = -_float(substitute(each.value, shape.sample), shape.sample)
        for name, shift in fresh.items():
            kept = Form(turns.get(name, {}), ZERO)
            turned, _ = _form(kept, apart, {})
            for sign in (-1, 1) if kept.of else (1,):  # at the least and the greatest that it may be shifted by
                further = [shift, turned, {key: float(x) for key, x in shape.more(mode, kept, sign).items()}]
                total = {key: sum(one.get(key, 0.0) for one in further) for one in further for key in one}
                _cost(shape, program, name, total, ("cost", number, name, point), spent)
        for grown in dict.fromkeys(tuple(y - x for x, y in zip(before, later, strict=True)) for before, later in passes):
            worth = {("worth", name): -float(by) for name, by in zip(modes.counted, grown, strict=True)}
            program.at_most(spent | worth, 0.0, mark)


def _within(
    shape: Shape, program: Program, mode: int, name: str, beyond: Linear, moved: float, least: Linear, most: Linear
) -> None:  # fmt: skip
    """A difference of the state is one that it has in a mode. beyond: how much more it is; least, most: what may be added to that."""
    if not shape.loose:
        program.equals(beyond, -moved)
        return
    key = "loose", mode, name
    program.ends[key] = (0.0, None)
    low, high = ({one: beyond.get(one, 0.0) + more.get(one, 0.0) for one in beyond | more} for more in (least, most))
    program.at_most({one: -x for one, x in low.items()}, moved)
    program.at_most({**high, key: high.get(key, 0.0) - 1.0}, -moved)


def _keeping(shape: Shape, program: Program) -> None:
    """What is kept for later steps is at least 0, whatever is followed."""
    for mode, places in enumerate(shape.modes.places):
        for held in places if shape.modes.counted else ():
            worth = {("worth", name): float(value) for name, value in zip(shape.modes.counted, held, strict=True)}
            program.at_most({("ahead", mode): -1.0} | worth, 0.0)


def _form(form: Form, apart: Mapping[str, Linear], constants: Mapping[str, Fraction]) -> tuple[Linear, float]:
    """A form of differences that are unknown, and of what is known."""
    row: Linear = {}
    moved = 0.0
    for name, factor in form.of.items():
        moved += float(factor * constants.get(name, Fraction(0)))
        for key, value in apart.get(name, {}).items():
            row[key] = row.get(key, 0.0) + float(factor) * value
    return row, moved


def _turned(form: Form, turns: Mapping[str, Mapping[str, Fraction]]) -> Form:
    """The same in what is left of the shifts of noises that are turned."""
    found = dict(form.of)
    for name, row in turns.items():
        for each, x in row.items() if name in form.of else ():
            found[each] = found.get(each, Fraction(0)) + form.of[name] * x
    return Form({name: x for name, x in found.items() if x}, form.rest)


def _minus(left: Linear, right: Linear) -> Linear:
    return {key: left.get(key, 0.0) - right.get(key, 0.0) for key in left | right}


def _cost(shape: Shape, program: Program, name: str, shift: Linear, key: Key, into: Linear) -> None:
    """What a shift costs, counted in a row."""
    left, right = shape.steep[name]
    for sign, slope in ((1.0, right), (-1.0, left)):
        if math.isinf(slope):
            program.at_most({one: sign * x for one, x in shift.items()}, 0.0)
        else:
            program.at_most({key: -1.0, **{one: sign * slope * x for one, x in shift.items()}}, 0.0)
    program.ends[key] = (0.0, None)
    into[key] = 1.0


def _objective(shape: Shape, program: Program, question: Asked, sample: Mapping[str, Expr]) -> Linear | None:
    """What all steps cost together, with a little for each noise so that none is shifted in vain."""
    stream = shape.stream
    cost: Linear = {("start",): 1.0}
    program.ends |= {("start",): (0.0, None), ("each",): (0.0, None)}
    program.ends |= {("ahead", mode): (0.0, None) for mode in range(len(shape.modes.spent))}
    program.ends |= {("worth", name): (0.0, None) for name in shape.modes.counted}
    for limit in stream.limits:
        cost["price", limit.name] = max(0.0, _float(substitute(limit.value, sample), sample))
        program.ends["price", limit.name] = (0.0, None)
    if stream.queries is None:
        program.ends[("each",)] = (0.0, 0.0)
    else:
        cost["each",] = _float(stream.queries, sample)
    for key in program.unknowns:
        if key[0] in ("cost", "once cost", "loose"):
            cost[key] = cost.get(key, 0.0) + _SMALL
    return cost


def _float(value: Value, sample: Mapping[str, Expr]) -> float:
    return math.inf if isinstance(value, Infinite) else float(enclose(substitute(value, sample)).mid())


def _exactly(question: Asked, shape: Shape, family: str, values: Mapping[Key, float], losses: Losses) -> dict[str, Any] | None:
    """The alignment in rationals, with prices that pay what it costs, as expressions in the parameters."""
    stream, modes, width = shape.stream, shape.modes, 1 + len(shape.stream.answers)

    def told(key: Key, names: Iterable[str]) -> dict[str, list[str]]:
        found = {name: [str(Fraction(values.get((*key, name, i), 0.0)).limit_denominator(_SIMPLE)) for i in range(width)] for name in names}
        return {name: row for name, row in found.items() if set(row) != {"0"}}

    def loosened(mode: int) -> Iterator[dict[str, str]]:
        more = {each.name: Fraction(values.get(("loose", mode, each.name), 0.0)).limit_denominator(_SIMPLE) for each in stream.state}
        if any(more.values()):
            yield {name: str(x) for name, x in more.items() if x}

    def turned(step: Step) -> Iterator[dict[str, dict[str, str]]]:
        if rows := shape.turns(step):
            yield {name: {each: str(x) for each, x in row.items()} for name, row in rows.items()}

    once, fresh, state = ([each.name for each in given] for given in (stream.once, stream.fresh, stream.state))
    shifts = [told(("once", group), once) for group in range(max(modes.groups) + 1)]
    still = ["0"] * width
    others = [{name: row.get(name, still) for name in once if row.get(name, still) != shifts[0].get(name, still)} for row in shifts]
    way: dict[str, Any] = {
        "once": shifts[0],
        "modes": [
            [others[group] | told(("mode", mode), state), over, *loosened(mode)]
            for mode, (group, over) in enumerate(zip(modes.groups, modes.spent, strict=True))
        ],
        "steps": [
            [*edge, told(("fresh", number), fresh), *turned(step_of(stream, stream.steps[edge[1]]))]
            for number, edge in enumerate(modes.edges)
        ],
        "prices": {},
        "each": "0",
        "ahead": ["0"] * len(modes.spent),
        **({"starts": list(modes.starts)} if modes.starts != (0,) else {}),
        **({"follow": list(modes.followed)} if modes.followed else {}),
    }
    try:
        read = ways.read_way(question, stream, family, way, losses.moduli(losses.shifts(vertices(stream, family), way)))
        return way if _priced(question, shape, read, way, values) else None
    except DpverifyError:
        return None


def _priced(question: Asked, shape: Shape, read: ways.Way, way: dict[str, Any], values: Mapping[Key, float]) -> bool:
    """Prices: of each counter that pays in floats, as much as the branches want that raise no counter after it, and of what is followed
    likewise; the rest is each step's, or kept for later in the modes before.
    """
    stream, modes = read.stream, shape.modes
    wanted: list[Expr] = []
    for lead in read.leads:
        ends = [(point, lead.turned(kept)) for point in read.points for kept in read.apart(lead.mode, point)]
        costs = [cost for cost in (read.cost(lead.shifts, *end) for end in ends) if not isinstance(cost, Infinite)]
        assert len(costs) == len(ends)
        wanted.append(_most(question, costs))
    pays: list[tuple[int, Expr, dict[str, Expr]]] = []
    for number, (lead, passes) in enumerate(zip(read.leads, modes.passes, strict=True)):
        counted = {each.name: each.value for each in stream.steps[lead.branch].count}
        for grown in dict.fromkeys(tuple(y - x for x, y in zip(before, after, strict=True)) for before, after in passes):
            told: dict[str, Expr] = {name: num(by) for name, by in zip(modes.counted, grown, strict=True) if by}
            pays.append((number, wanted[number], counted | told))
    paying = [limit.name for limit in stream.limits if values.get(("price", limit.name), 0.0) > _SMALL * 10]
    paying += [name for name in modes.counted if values.get(("worth", name), 0.0) > _SMALL * 10]
    prices: dict[str, Expr] = {}
    for place, name in enumerate(paying):
        asking: list[Expr] = [ZERO]
        for number, cost, growth in pays:
            lead = read.leads[number]
            if name in growth and lead.to == lead.mode and not any(other in growth for other in paying[place + 1 :]):
                asking.append(div(sub(cost, _counted(prices, growth)), growth[name]))
        prices[name] = _most(question, asking)
    rest = [(read.leads[number], sub(cost, _counted(prices, growth))) for number, cost, growth in pays]
    step = _most(question, [ZERO, *(value for lead, value in rest if lead.to == lead.mode)])
    ahead = _ahead(question, modes, prices, [(lead, sub(value, step)) for lead, value in rest if lead.to != lead.mode])
    way["prices"] = {limit.name: format_expr(prices[limit.name]) for limit in stream.limits if limit.name in prices}
    way["each"] = format_expr(step)
    if worth := {name: format_expr(prices[name]) for name in modes.counted if name in prices}:
        way["worth"] = worth
    way["ahead"] = [format_expr(value) for value in ahead or ()]
    return ahead is not None


def _ahead(question: Asked, modes: Modes, prices: Mapping[str, Expr], passages: Sequence[tuple[ways.Lead, Expr]]) -> list[Expr] | None:
    """What is to be kept in each mode for the dearest passages after it; None where there is no end to them."""
    ahead: list[Expr] = []
    for places in modes.places:
        held = (zip(modes.counted, place, strict=True) for place in places)
        worth = [add(*(mul(prices[name], num(x)) for name, x in values if name in prices)) for values in held]
        ahead.append(_most(question, [ZERO, *worth]))
    for _ in range(len(ahead) + 1):
        before = list(ahead)
        for lead, cost in passages:
            ahead[lead.mode] = _most(question, [ahead[lead.mode], add(cost, ahead[lead.to])])
        if ahead == before:
            return ahead
    return None


def _counted(prices: Mapping[str, Expr], counts: Mapping[str, Expr]) -> Expr:
    """What the counters of a branch pay."""
    return add(*(mul(price, counts[name]) for name, price in prices.items() if name in counts))


def _most(question: Asked, values: Sequence[Expr]) -> Expr:
    """The greatest, where the order is certain; else as a maximum."""
    found = greatest(question, *dict.fromkeys(values))
    assert not isinstance(found, Infinite)
    return found

"""Proposes bounds for streams: alignments by a linear program over all shifts, and the runs that its duals point at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, Final

from flint import ctx

from dpverify.search import counterexample, runs_of_streams
from dpverify.search.proposal import Premise, Proposal, Steps, bound
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.facts.fact import as_bounds
from dpverify.trusted.language.errors import DpverifyError, Rejected
from dpverify.trusted.language.expr import ZERO, Expr, Num, add, div, format_expr, mul, num, sub, substitute, symbols
from dpverify.trusted.language.model import Claim, Stream, Vector
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.parts import noises
from dpverify.trusted.parts.streams import FAMILIES, Form, faults, start_of, step_of, vertices
from dpverify.trusted.proof import Proof
from dpverify.trusted.rules.selection import alignment, ways
from dpverify.trusted.rules.selection.compared import Asked, Value, asked, greatest, slopes

MANY: Final = 10**6
"""As many steps as stand for any number of them."""
_SIMPLE: Final = 720
"""The largest denominator of a shift."""
_SMALL: Final = 1e-7
_BRANCHES: Final = 4
"""The most branches of which some may lead to another mode."""

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
    found = proposal.extend(lambda claim, _: _both(claim, known), claim, digits)
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


def _both(claim: Claim, known: Premise) -> Steps:
    unclaimed = replace(claim, epsilon=None, delta=None)
    question = asked(unclaimed, {}, alignment.NAME, wanted=Stream)
    losses, steps, pointed = Losses(question, known), Steps(), []
    for sample in _samples(claim):
        for found in _alignments(question, sample, losses):
            pointed += found.pointed
            step = losses.step(found.ways, found.shifts)
            if step not in steps:
                steps.append(step)
    below = [] if losses.others or _cannot_break(claim, steps) else list(runs_of_streams.propose(claim, pointed, steps))
    if not steps and not below:
        raise Rejected(alignment.NAME, "shifts", "no shifts of the noises were found that make neighbours tell the same, nor a run without")
    return steps + below


def _cannot_break(claim: Claim, steps: Steps) -> bool:
    """Whether an upper bound is within what is claimed of all parameters, so that no values of them break the claim."""
    if claim.epsilon is None or not claim.domains:
        return False
    values = [alignment.infer(replace(claim, epsilon=None, delta=None), step["evidence"], ()).value for step in steps]
    return any(not isinstance(value, Infinite) and certainly_le(value, claim.epsilon, dict(claim.domains)) for value in values)


def _samples(claim: Claim) -> Iterator[dict[str, Expr]]:
    """Simple values of the parameters, with many steps where their number is one, and with few."""
    counted = _numbers_of_steps(claim)
    simple: dict[str, Expr] = {name: num(next(counterexample.grid(domain))) for name, domain in claim.domains}
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
    """An alignment for each family of differences, and the branches and differences that it cannot do cheaper on."""

    ways: list[dict[str, Any]]
    pointed: list[list[tuple[int, Vector]]]
    shifts: list[tuple[str, Fraction]]


def _alignments(question: Asked, sample: Mapping[str, Expr], losses: Losses) -> Iterator[Found]:
    """The best for each family, at a sample of the parameters; none where there is none."""
    stream = question.claim.mechanism
    assert isinstance(stream, Stream)
    best, families = [], FAMILIES.get(stream.neighbours, (stream.neighbours,))
    for family in families:
        tried = (_aligned(question, stream, family, later, sample, losses) for later in _later(stream))
        found = next((one for one in tried if one is not None), None)
        if found is None:
            return
        best.append(found)
    shifted = [losses.shifts(vertices(stream, family), way) for family, (way, _) in zip(families, best, strict=True)]
    yield Found([way for way, _ in best], [pointed for _, pointed in best], sorted(set(chain.from_iterable(shifted))))


def _later(stream: Stream) -> Iterable[frozenset[int]]:
    """Branches after which the state may be apart in another way: none, one, two, ..."""
    size = len(stream.steps)
    most = size if size <= _BRANCHES else 1
    return map(frozenset, chain.from_iterable(combinations(range(size), count) for count in range(most + 1)))


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

    def solve(self, cost: Linear) -> tuple[dict[Key, float], list[float]] | None:
        """The unknowns at the least cost and the weights of the rows in `least`; None where there is none."""
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
    later: frozenset[int]
    size: int
    steep: Mapping[str, tuple[float, float]]

    @property
    def spent(self) -> list[bool]:
        """Of each mode."""
        first = [False, True] if self.alone else [False]
        return [*first, *([self.alone] if self.later else [])]

    def to(self, mode: int, branch: int, moves: bool) -> int:
        """The mode after a branch."""
        last = len(self.spent) - 1
        if self.later and branch in self.later and (not self.alone or mode > 0 or moves):
            return last
        return max(mode, int(self.alone and moves))

    def moves(self, mode: int) -> tuple[bool, ...]:
        return (False,) if self.spent[mode] else (False, True) if self.alone else (True,)

    def places(self) -> Iterator[tuple[int, int, bool]]:
        for mode in range(len(self.spent)):
            for branch in range(len(self.stream.steps)):
                for moves in self.moves(mode):
                    yield mode, branch, moves

    def vector(self, key: Key, point: Vector, whole: bool) -> Linear:
        """A shift or difference at a point; whole: whether it depends on the point."""
        return {(*key, 0): 1.0} | ({(*key, i): float(x) for i, x in enumerate(point, 1)} if whole else {})


def _aligned(
    question: Asked, stream: Stream, family: str, later: frozenset[int], sample: Mapping[str, Expr], losses: Losses
) -> tuple[dict[str, Any], list[tuple[int, Vector]]] | None:
    """The alignment of least cost with these modes, and the branches and moves that hold its cost up."""
    steep = {drawn.name: losses.steep(drawn.name, sample) for drawn in (*stream.once, *stream.fresh)}
    shape = Shape(stream, family == "one", later, len(stream.answers), steep)
    program, points = Program(), vertices(stream, family)
    for point in points:
        _at_point(shape, program, point)
    cost = _objective(shape, program, question, sample)
    found = None if cost is None else program.solve(cost)
    if found is None:
        return None
    values, weights = found
    way = _exactly(question, shape, family, values, losses)
    weighed = zip(program.marks, weights, strict=True)
    used = dict.fromkeys(mark for mark, weight in weighed if mark is not None and abs(weight) > _SMALL * 10)
    return None if way is None else (way, list(used))


def _at_point(shape: Shape, program: Program, point: Vector) -> None:
    """Rows for one difference of the answers."""
    stream, alone = shape.stream, shape.alone
    once = {drawn.name: shape.vector(("once", drawn.name), point, alone) for drawn in stream.once}

    def mode_of(mode: int) -> dict[str, Linear]:
        return {each.name: shape.vector(("mode", mode, each.name), point, alone) for each in stream.state}

    for name, first in start_of(stream).items():
        row, _ = _form(first, once, {})
        program.equals(_minus(row, mode_of(0)[name]), 0.0)
    paid: Linear = {("start",): -1.0}
    for name, shift in once.items():
        _cost(shape, program, name, shift, ("once cost", name, point), paid)
    program.at_most(paid, 0.0)
    for mode, branch, moves in shape.places():
        fresh = {drawn.name: shape.vector(("fresh", mode, branch, moves, drawn.name), point, moves or alone) for drawn in stream.fresh}
        apart = {**once, **mode_of(mode), **fresh}
        constants = dict(zip(stream.answers, point, strict=True)) if moves else {}
        mark, own = (branch, point if moves else (Fraction(0),) * len(point)), step_of(stream, stream.steps[branch])
        for guard in own.when:
            row, moved = _form(guard, apart, constants)
            program.at_most({key: -x for key, x in row.items()}, moved, mark)
        for earlier in stream.steps[:branch]:
            for guard in step_of(stream, earlier).when:
                row, moved = _form(guard, apart, constants)
                program.at_most(row, -moved, mark)
        for told in own.tell:
            row, moved = _form(told, apart, constants)
            program.equals(row, -moved)
        after = mode_of(shape.to(mode, branch, moves))
        for name, form in own.after.items():
            row, moved = _form(form, apart, constants)
            program.equals(_minus(row, after[name]), -moved)
        spent: Linear = {("each",): -1.0, **({("leaving", mode): -1.0} if shape.to(mode, branch, moves) != mode else {})}
        for each in stream.steps[branch].count:
            if isinstance(each.value, Num):
                spent[("price", each.name)] = -float(each.value.value)
        for name, shift in fresh.items():
            _cost(shape, program, name, shift, ("cost", mode, branch, moves, name, point), spent)
        program.at_most(spent, 0.0, mark)


def _form(form: Form, apart: Mapping[str, Linear], constants: Mapping[str, Fraction]) -> tuple[Linear, float]:
    """A form of differences that are unknown, and of what is known."""
    row: Linear = {}
    moved = 0.0
    for name, factor in form.of.items():
        moved += float(factor * constants.get(name, Fraction(0)))
        for key, value in apart.get(name, {}).items():
            row[key] = row.get(key, 0.0) + float(factor) * value
    return row, moved


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
    cost: Linear = {("start",): 1.0, **{("leaving", mode): 1.0 for mode in range(len(shape.spent))}}
    program.ends |= dict.fromkeys(cost, (0.0, None)) | {("each",): (0.0, None)}
    for limit in stream.limits:
        cost["price", limit.name] = max(0.0, _float(substitute(limit.value, sample), sample))
        program.ends["price", limit.name] = (0.0, None)
    if stream.queries is None:
        program.ends[("each",)] = (0.0, 0.0)
    else:
        cost["each",] = _float(stream.queries, sample)
    for key in program.unknowns:
        if key[0] in ("cost", "once cost"):
            cost[key] = cost.get(key, 0.0) + _SMALL
    return cost


def _float(value: Value, sample: Mapping[str, Expr]) -> float:
    return math.inf if isinstance(value, Infinite) else float(enclose(substitute(value, sample)).mid())


def _exactly(question: Asked, shape: Shape, family: str, values: Mapping[Key, float], losses: Losses) -> dict[str, Any] | None:
    """The alignment in rationals, with prices that pay what it costs, as expressions in the parameters."""
    stream, width = shape.stream, 1 + shape.size

    def rationals(*key: Any) -> list[str]:
        return [str(Fraction(values.get((*key, i), 0.0)).limit_denominator(_SIMPLE)) for i in range(width)]

    def told(key: Key, names: Iterable[str]) -> dict[str, list[str]]:
        found = {name: rationals(*key, name) for name in names}
        return {name: row for name, row in found.items() if set(row) != {"0"}}

    fresh, state = [drawn.name for drawn in stream.fresh], [each.name for each in stream.state]
    way: dict[str, Any] = {
        "once": told(("once",), [drawn.name for drawn in stream.once]),
        "modes": [[told(("mode", mode), state), over] for mode, over in enumerate(shape.spent)],
        "steps": [[*key, shape.to(*key), told(("fresh", *key), fresh)] for key in shape.places()],
        "prices": {},
        "each": "0",
        "leaving": ["0"] * len(shape.spent),
    }
    try:
        read = ways.read_way(question, stream, family, way, losses.moduli(losses.shifts(vertices(stream, family), way)))
        _priced(question, read, way, values)
    except DpverifyError:
        return None
    return way


def _priced(question: Asked, read: ways.Way, way: dict[str, Any], values: Mapping[Key, float]) -> None:
    """Prices: of each counter that pays in floats, as much as the branches want that raise no counter after it; the rest is each step's."""
    stream = read.stream
    costs: dict[tuple[int, int | None], list[Expr]] = {}
    for (mode, branch, _), (to, shifts) in read.steps.items():
        for point in read.points:
            cost = read.cost(shifts, point)
            assert not isinstance(cost, Infinite)
            costs.setdefault((branch, mode if to != mode else None), []).append(cost)
    wanted = {key: _most(question, found) for key, found in costs.items()}
    grown = [{each.name: each.value for each in branch.count} for branch in stream.steps]
    paying = [limit.name for limit in stream.limits if values.get(("price", limit.name), 0.0) > _SMALL * 10]
    prices: dict[str, Expr] = {}
    for number, name in enumerate(paying):
        asking: list[Expr] = [ZERO]
        for (branch, left), cost in wanted.items():
            counts = grown[branch]
            if name in counts and left is None and not any(other in counts for other in paying[number + 1 :]):
                before = add(*(mul(prices[other], counts[other]) for other in prices if other in counts))
                asking.append(div(sub(cost, before), counts[name]))
        prices[name] = _most(question, asking)
    rest = {key: sub(cost, _counted(prices, grown[key[0]])) for key, cost in wanted.items()}
    step = _most(question, [ZERO, *(value for (_, left), value in rest.items() if left is None)])
    way["prices"] = {name: format_expr(price) for name, price in prices.items()}
    way["each"] = format_expr(step)
    for mode in range(len(read.modes)):
        asked_once = [sub(value, step) for (_, left), value in rest.items() if left == mode]
        way["leaving"][mode] = format_expr(_most(question, [ZERO, *asked_once]))


def _counted(prices: Mapping[str, Expr], counts: Mapping[str, Expr]) -> Expr:
    """What the counters of a branch pay."""
    return add(*(mul(price, counts[name]) for name, price in prices.items() if name in counts))


def _most(question: Asked, values: Sequence[Expr]) -> Expr:
    """The greatest, where the order is certain; else as a maximum."""
    found = greatest(question, *dict.fromkeys(values))
    assert not isinstance(found, Infinite)
    return found

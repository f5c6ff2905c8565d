"""Runs of a stream at one point, step by step: what each of them keeps, as forms in all noises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverify.trusted.combinators.densities import convex_where_it_lives
from dpverify.trusted.combinators.streams import INTERVALS, Form, families, step_of
from dpverify.trusted.combinators.sums import support
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, mul, neg, num, substitute, symbols
from dpverify.trusted.kernel.model import Guard, OnLine, Stream, Sum, names_of, on_integers
from dpverify.trusted.language.rationals import to_fraction, to_whole
from dpverify.trusted.theories.selection.compared import Asked, Value, at_most
from dpverify.trusted.theories.selection.followed import may_fail

Noises = Mapping[tuple[str, int], Fraction]
"""Multiples of noises, each by its name and the step in which it is drawn."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a step keeps: a form in all noises of the run that is at least 0, or 0 where it is told. moved: what the answers add."""

    of: Noises
    moved: Fraction
    told: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether no noise and no move changes it."""
        return not self.moved and not self.of


@dataclass(slots=True)
class Run:
    """A run, step by step, at one point.

    apart: each of the state as a form in the noises so far, and what the answers add. values: what each name stands for at the point.
    counts: the counters. rows: what has been kept.
    """

    question: Asked
    stream: Stream
    apart: dict[str, Row]
    values: dict[str, Expr]
    counts: dict[str, Expr]
    rows: list[Row]

    def kept(self) -> tuple[Any, ...]:
        """What the next step starts from."""
        return dict(self.apart), {each.name: self.values[each.name] for each in self.stream.state}, dict(self.counts)

    def row(self, form: Form, step: int, moves: Mapping[str, Fraction], told: bool = False) -> Row:
        """A form of a step, in the noises of the run."""
        total: dict[tuple[str, int], Fraction] = {}
        moved = form.at(moves)
        fresh = {drawn.name for drawn in self.stream.fresh}
        for name, factor in form.of.items():
            inside = self.apart.get(name, Row({(name, step): Fraction(1)} if name in fresh else {}, Fraction(0)))
            moved += factor * inside.moved
            for noise, weight in inside.of.items():
                total[noise] = total.get(noise, Fraction(0)) + factor * weight
        return Row({noise: weight for noise, weight in total.items() if weight}, moved, told)


def step(run: Run, number: int, branch: Any, answers: Any, noises: Any, moves: Mapping[str, Fraction]) -> None:
    """One step: what is kept, and the state after it."""
    question, stream, where = run.question, run.stream, f"step {number + 1}"
    here = dict(zip(stream.answers, (num(to_fraction(text, question.rule)) for text in answers), strict=True))
    drawn = {each.name: num(to_fraction(noises[each.name], question.rule)) for each in stream.fresh}
    for each in stream.fresh:
        inside(question, each.noise, drawn[each.name])
    if question.whole and any(value.value.denominator != 1 for value in here.values()):
        raise Rejected(question.rule, where, "an answer is no integer")
    for limit in stream.limits:
        if not certainly_lt(run.counts[limit.name], limit.value, question.domains):
            raise Rejected(question.rule, where, f"it is not certain that the run goes on: {limit.name} may have reached its limit")
    values = {**run.values, **here, **drawn, **run.counts}
    taken = stream.steps[to_whole(branch, "branch", question.rule, 0, len(stream.steps) - 1)]
    own = step_of(stream, taken)
    kept = _compared(run, branch, number, moves)
    certain = all(row.is_settled for row, _ in kept)
    for place, other in enumerate(stream.steps):
        alike = place != branch and (other.emit, len(other.tell)) == (taken.emit, len(taken.tell))
        if alike and not (certain and place > branch) and not _fails(question, _compared(run, place, number, moves), values):
            raise Rejected(question.rule, where, "another branch tells the same, so that the run is not known from what is told")
    for row, guard in kept:
        if row.is_settled:
            _require(question, number, _comes_out(question, guard, values, 1))
        else:
            _keep(run, row, guard, number, values, 1)
    open_ones = [_open(run, earlier, number, moves, values) for earlier in range(branch)]
    if any(len(rows) > 1 for rows in open_ones):  # what may fail is told by others that fail, or hold
        guards = [{key: guard for key, (_, guard) in rows.items()} for rows in open_ones]
        failing = may_fail(question, frozenset(names_of(stream)), list(taken.when), guards)
        open_ones = [{key: row for key, row in rows.items() if key in failing} for rows in open_ones]
    for rows in open_ones:
        if len(rows) > 1:
            raise Rejected(question.rule, where, "an earlier branch has several comparisons, each of which may be what fails")
        for row, guard in rows.values():
            _keep(run, row, guard, number, values, -1)
    run.rows += [run.row(form, number, moves, told=True) for form in own.tell]
    after = {name: run.row(form, number, moves) for name, form in own.after.items()}
    run.values |= {changed.name: substitute(changed.value, values) for changed in taken.change}
    run.apart |= after
    for grown in taken.count:
        run.counts[grown.name] = add(run.counts[grown.name], grown.value)


def _require(question: Asked, number: int, holds: bool) -> None:
    if not holds:
        raise Rejected(question.rule, f"step {number + 1}", "a comparison does not certainly come out as the run says, with room")


def _comes_out(question: Asked, guard: Guard, values: Mapping[str, Expr], sign: int) -> bool:
    """Whether a comparison that no noise and no move changes holds at the point, or with the sign -1 does not."""
    value = mul(num(sign), substitute(guard.left, values))
    strict = guard.strict if sign > 0 else not guard.strict
    return certainly_lt(ZERO, value, question.domains) if strict else certainly_le(ZERO, value, question.domains)


def _keep(run: Run, row: Row, guard: Guard, number: int, values: Mapping[str, Expr], sign: int) -> None:
    """A comparison that holds at the point with room, or with the sign -1 fails with room."""
    value = mul(num(sign), substitute(guard.left, values))
    _require(run.question, number, certainly_lt(ZERO, value, run.question.domains))
    run.rows.append(Row({noise: sign * weight for noise, weight in row.of.items()}, sign * row.moved))


def _compared(run: Run, branch: int, number: int, moves: Mapping[str, Fraction]) -> list[tuple[Row, Guard]]:
    """The comparisons of a branch in this step, each with its form in the noises of the run."""
    taken = run.stream.steps[branch]
    return [(run.row(form, number, moves), guard) for guard, form in zip(taken.when, step_of(run.stream, taken).when, strict=True)]


def _fails(question: Asked, rows: Sequence[tuple[Row, Guard]], values: Mapping[str, Expr]) -> bool:
    """Whether a branch is certainly not taken, by a comparison that no noise and no move changes."""
    return any(row.is_settled and _comes_out(question, guard, values, -1) for row, guard in rows)


def _open(
    run: Run, earlier: int, number: int, moves: Mapping[str, Fraction], values: Mapping[str, Expr]
) -> dict[tuple[int, int], tuple[Row, Guard]]:  # fmt: skip
    """What may fail of an earlier branch, which is not taken: its comparisons of noise; nothing where another certainly fails."""
    question, rows = run.question, _compared(run, earlier, number, moves)
    if _fails(question, rows, values):
        return {}
    for row, guard in rows:
        if row.is_settled:
            _require(question, number, _comes_out(question, guard, values, 1))
    found = {(earlier, place): one for place, one in enumerate(rows) if not one[0].is_settled}
    _require(question, number, bool(found))
    return found


def sums(question: Asked, rows: Iterable[tuple[Noises, bool]], weights: Sequence[Expr]) -> dict[tuple[str, int], Expr]:
    """What weights of comparisons come to at each noise: of each row its noises, and whether it is told, of which any weight will do."""
    found: dict[tuple[str, int], list[Expr]] = {}
    for (of, told), weight in zip(rows, weights, strict=True):
        if symbols(weight) - question.domains.keys():
            raise CertificateError(f"{question.rule}: a weight has a name that is no parameter.")
        if not told and not certainly_le(ZERO, weight, question.domains):
            raise Rejected(question.rule, "weights", "one of a comparison is not certainly at least 0")
        for noise, factor in of.items():
            found.setdefault(noise, []).append(mul(num(factor), weight))
    return {noise: add(*parts) for noise, parts in found.items()}


def require_between(question: Asked, name: str, total: Expr, ends: tuple[Value, Value]) -> None:
    """Raises Rejected unless what weights come to at a noise is certainly between its slopes, to the left and to the right."""
    if not (at_most(question, neg(total), ends[0]) and at_most(question, total, ends[1])):
        raise Rejected(question.rule, "weights", f"at a noise {name} their sum is not certainly between its slopes")


def inside(question: Asked, noise: OnLine, value: Num) -> None:
    """Raises Rejected where noise is not certainly drawn near a value."""
    require(not (on_integers(noise) and value.value.denominator != 1), Rejected(question.rule, "the noise", "a value is no integer"))
    certain = not isinstance(noise, Sum) or convex_where_it_lives(noise, question.domains)  # a sum of others may have gaps
    require(certain, Rejected(question.rule, "the noise", "it is not certainly log-concave"))
    low, high = support(noise)
    above = low is None or certainly_lt(low, value, question.domains)
    if not above or not (high is None or certainly_lt(value, high, question.domains)):
        raise Rejected(question.rule, "the noise", "a value is not certainly where it lives")


def together(stream: Stream, moved: Sequence[Sequence[Fraction]]) -> bool:
    """Whether neighbours may move so in these steps."""
    if stream.neighbours == "one":
        return sum(x != 0 for row in moved for x in row) <= 1 and all(abs(x) <= 1 for row in moved for x in row)
    if stream.hull:
        return any(all(tuple(sign * x for x in row) in stream.hull for row in moved) for sign in (1, -1))
    least, most = (side((x for row in moved for x in row), default=Fraction(0)) for side in (min, max))
    return any(low <= least and most <= high for low, high in map(INTERVALS.__getitem__, families(stream)))

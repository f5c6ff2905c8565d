"""Noisy answers that are compared: the greatest of several, those above a threshold, and streams.

Runs are drawn many at a time, in intervals of floats. A run with a comparison that these do not decide is run again by itself, from the
words of its noises, to as many digits as it takes; so what is told of comparisons alone is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm
from typing import Any, Final

import numpy as np

from dpverify.errors import DataError, NoSampler
from dpverify.samplers.digits import TINY, Key, Lazy, Noise, Sum, as_float, constant_sum, nearest, noise_of, sign
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import ANY, EXACT, MOST, Array, Floats, Generator, Law, ending, whole
from dpverify.search.numeric import number
from dpverify.trusted.combinators.streams import Form, Step, faults, start_of, step_of
from dpverify.trusted.kernel.balls import exact as as_exact
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, neg, sub, substitute, symbols
from dpverify.trusted.kernel.model import AboveThreshold, Branch, Drawn, Guard, Named, NoisyKeys, NoisyMax, OnLine, Stream, on_integers
from dpverify.trusted.order.enclosed import enclose

NOTHING: Final = -1
"""The code of a step that tells nothing any more."""
NO, YES = "no", "yes"
_AT_ONCE: Final = 1 << 20
_ROUNDING: Final = 2.0**-46
_COARSE: Final = 2.0**-26
_GRAIN: Final = 256.0
_EXACT_IN_FLOATS: Final = 2.0**31
_REACH: Final = 2**52
_ADDED_BITS: Final = 256

Interval = tuple[Floats, Floats]
"""Middle and radius, of many runs."""
Drawing = dict[Key, Lazy | Fraction]


def total(parts: Iterable[tuple[Fraction, Interval]]) -> Interval:
    """Sums of rational multiples. Where all is known exactly, in multiples of 1/256 that are not large, so is the sum."""
    middle, radius, size, fine = np.zeros(1), np.zeros(1), np.zeros(1), np.ones(1, dtype=bool)
    for factor, (at, around) in parts:
        c = float(factor)
        middle, radius, size = middle + c * at, radius + abs(c) * around, size + np.abs(c * at)
        fine = fine & (around == 0) & (np.rint(at * _GRAIN) == at * _GRAIN) & ((factor * 256).denominator == 1)
    fine &= size < _EXACT_IN_FLOATS
    return middle, np.where(fine, 0.0, radius * (1 + _ROUNDING) + size * _ROUNDING + TINY)


def _known(value: Fraction | int | float) -> Interval:
    """A number as an interval."""
    near = float(value)
    return np.array([near]), np.array([0.0 if Fraction(value) == near else abs(near) * _ROUNDING + TINY])


def _answer(value: Any) -> Fraction:
    try:
        float(value)
        return Fraction(value)
    except OverflowError as error:
        raise DataError("data holds an integer beyond the range of floats, and answers are compared in floats first.") from error


def _checked(answers: Sequence[Any], bounds: tuple[Expr, Expr] | None, integers: bool) -> list[Fraction]:
    """Answers as exact numbers. Raises DataError for such as the declaration does not have."""
    for answer in answers if integers else ():
        if answer != floor(answer):
            raise DataError(f"data = {answer} is not an integer, and noise on the integers hides integers alone.")
    if bounds is not None:
        low, high = map(number, bounds)
        for answer in answers:
            if not low <= answer <= high:
                raise DataError(f"data holds {answer}, which is not between the bounds of the answers, {low:g} and {high:g}.")
    return [_answer(answer) for answer in answers]


def _chunks(size: int, width: int) -> Iterable[int]:
    most = max(1, _AT_ONCE // max(1, width))
    while size > 0:
        yield min(size, most)
        size -= most


def _told(noises: Sequence[Noise], numbers: bool, grid: Grid | None, said: Sequence[str]) -> tuple[str, ...]:
    """How outputs are drawn, and how exactly."""
    lines = [*dict.fromkeys(line for noise in noises for line in noise.told if line != EXACT), *said]
    inexact = [noise for noise in noises if not noise.exact]
    if numbers and not all(noise.whole for noise in noises):
        lines.append(ending(grid))
    elif not inexact:
        lines.append(EXACT)
    return tuple(dict.fromkeys(lines))


@dataclass(frozen=True, slots=True)
class _Snapping:
    """What is done with numbers that are told. step: of the grid; None where nothing is done. unit: how large noises are."""

    step: Fraction | None
    unit: float

    def many(self, numbers: Interval) -> tuple[Floats, np.ndarray[Any, Any]]:
        """The numbers that are told, and which of them are not known well enough."""
        middle, radius = numbers
        if self.step is None:
            return middle, ~(radius <= _COARSE * (np.abs(middle) + self.unit))
        steps, around = middle / float(self.step), radius / float(self.step)
        near = np.rint(steps)
        known = (np.abs(steps - near) + around < 0.5 - _ROUNDING) & (np.abs(near) < 2.0**40)
        return near * float(self.step), ~known

    def one(self, number_of: Sum, draws: Drawing) -> float:
        """A number of a run by itself."""
        if self.step is None:
            return as_float(number_of, draws)
        return float(min(max(nearest(number_of, draws, self.step), -_REACH), _REACH) * self.step)


def _snapping(grid: Grid | None, integers: bool, noises: Iterable[Noise]) -> _Snapping:
    unit = max((number(noise.scale) for noise in noises), default=0.0)
    return _Snapping(None if grid is None or integers else Fraction(grid.step), unit)


# -- the greatest of several ---------------------------------------------------------------------------------------


def of_noisy_max(mechanism: NoisyMax, grid: Grid | None) -> Law:
    """The index of the greatest answer with noise, of equal ones the first or one at random; itself; or the index and its lead."""
    count, noise = whole(mechanism.candidates, "the number of candidates"), noise_of(mechanism.noise)
    told = mechanism.report
    if told == "index+gap" and count == 1:
        raise NoSampler("of one candidate there is no lead over the others. Ask for two or more.")
    snapping = _snapping(grid, noise.whole, [noise])
    with precision(_ADDED_BITS):
        added = [as_exact(enclose(value).mid()) for value in mechanism.added] or [Fraction(0)] * count

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        exact = [answer + more for answer, more in zip(_checked(answers, mechanism.bounds, noise.whole), added, strict=True)]
        with np.errstate(over="ignore", invalid="ignore"):
            rows = [_greatest(noise, exact, part, rng, told, snapping, mechanism.ties == "random") for part in _chunks(size, count)]
        found = np.concatenate(rows) if rows else np.zeros((0, 2 if told == "index+gap" else 1))
        return found.astype(np.int64) if told == "index" or noise.whole else found

    said = ["the number of the greatest, from 0, and its lead over the next"] * (told == "index+gap")
    said += [f"what is added to answers is rounded to {_ADDED_BITS} bits"] * bool(mechanism.added)
    lines = _told([noise], told != "index", grid, said)
    return Law(count, 2 if told == "index+gap" else 1, draw, lines, _first(mechanism.bounds, count))


def _first(bounds: tuple[Expr, Expr] | None, count: int) -> tuple[Any, ...]:
    """Answers to begin with: 0, or the nearest to it between the bounds."""
    return (0 if bounds is None else min(max(0, number(bounds[0])), number(bounds[1])),) * count


def _greatest(
    noise: Noise, answers: Sequence[Fraction], size: int, rng: Generator, told: str, snapping: _Snapping, at_random: bool
) -> Array:  # fmt: skip
    drawn = [noise.draw(size, rng) for _ in answers]
    sums = [total([(Fraction(1), _known(q)), (Fraction(1), (z.middle, z.radius))]) for q, z in zip(answers, drawn, strict=True)]
    middle, radius = (np.stack([each[side] for each in sums]) for side in (0, 1))
    runs = np.arange(size)
    best = middle.argmax(axis=0)
    if at_random and noise.whole:  # as all of its sums are known, a random order of those that are equal
        best = np.where(middle == middle.max(axis=0), rng.random(middle.shape), -1.0).argmax(axis=0)
    top, around = middle[best, runs], radius[best, runs]
    room = middle + radius + around
    near = ~(room < top) & ~((radius == 0) & (around == 0))  # what is no number is not decided either
    near[best, runs] = False
    open_runs, columns = near.any(axis=0), [best.astype(float)]
    if told != "index":
        if told == "value":
            number_of, columns = (top, np.max(radius, axis=0)), []
        else:
            middle[best, runs] = -np.inf
            lead, _ = total([(Fraction(1), (top, around)), (Fraction(-1), (middle.max(axis=0), np.zeros(size)))])
            number_of = lead, 2 * np.max(radius, axis=0) + np.abs(top) * _ROUNDING
        values, unknown = snapping.many(number_of)
        open_runs |= unknown
        columns.append(values)
    found = np.stack(columns, axis=1)
    for run in np.flatnonzero(open_runs):
        lazies: Drawing = {("z", i): noise.lazy(rng, z.words[run]) for i, z in enumerate(drawn)}
        found[run] = _greatest_exactly(answers, lazies, told, snapping)
    return found


def _greatest_exactly(answers: Sequence[Fraction], draws: Drawing, told: str, snapping: _Snapping) -> list[float]:
    sums = [Sum({("z", i): Fraction(1)}, q) for i, q in enumerate(answers)]
    best = 0
    for i in range(1, len(sums)):
        if sign(sums[i].plus(sums[best], Fraction(-1)), draws) > 0:
            best = i
    if told == "index":
        return [best]
    if told == "value":
        return [snapping.one(sums[best], draws)]
    others = [i for i in range(len(sums)) if i != best]
    second = others[0]
    for i in others[1:]:
        if sign(sums[i].plus(sums[second], Fraction(-1)), draws) > 0:
            second = i
    return [best, snapping.one(sums[best].plus(sums[second], Fraction(-1)), draws)]


# -- above a threshold, as a stream ----------------------------------------------------------------------------------


def as_stream(mechanism: AboveThreshold) -> Stream:
    """Above threshold as a stream that tells yes and no."""
    q, z, t, again = Sym("q"), Sym("z"), Sym("t"), Sym("again")
    noise, threshold = mechanism.query_noise, mechanism.threshold_noise
    noisy = q if noise is None else _plus(q, z)
    told: tuple[Expr, ...] = {
        "answers": (),
        "answers+gap": (sub(noisy, t),),
        "answers+value": (noisy,),
        "fresh": (_plus(q, Sym("w")),),
    }[mechanism.report]
    fresh = [("z", noise), ("w", mechanism.fresh), ("again", threshold if mechanism.resample else None)]
    start = mechanism.threshold if threshold is None else _plus(mechanism.threshold, Sym("rho"))
    change = (Named("t", _plus(mechanism.threshold, again)),) if mechanism.resample and threshold is not None else ()
    yes = Branch((Guard(sub(noisy, t)),), YES, told, change, (Named("found", ONE),))
    return Stream(
        answers=("q",),
        once=_noises([("rho", threshold)]),
        fresh=_noises(fresh),
        state=(Named("t", start),),
        limits=() if mechanism.positives is None else (Named("found", mechanism.positives),),
        steps=(yes if mechanism.positives is not None else Branch(yes.when, YES, told, change), Branch(emit=NO)),
        queries=mechanism.queries,
        neighbours=mechanism.neighbours,
    )


def _plus(left: Expr, right: Expr) -> Expr:
    return sub(left, neg(right))


def _noises(named: Sequence[tuple[str, OnLine | None]]) -> tuple[Drawn, ...]:
    return tuple(Drawn(name, noise) for name, noise in named if noise is not None)


def of_threshold(mechanism: AboveThreshold, grid: Grid | None) -> Law:
    """1 for each answer that is at least the threshold, 0 for another; after the last positive -1."""
    return of_stream(as_stream(mechanism), grid, words=(NO, YES), bounds=mechanism.bounds)


# -- counts by key, as a stream ---------------------------------------------------------------------------------------


def of_keys(mechanism: NoisyKeys, grid: Grid | None) -> Law:
    """Of the counts of as many keys as a record may have: 1 for each that is told, with its noisy count, and 0 for another."""
    c, noisy = Sym("c"), _plus(Sym("c"), Sym("z"))
    there = Guard(c, strict=True), Guard(sub(noisy, mechanism.threshold))
    told = Branch(there, YES, (noisy,) if mechanism.report == "counts" else ())
    steps = told, Branch(emit=NO)
    stream = Stream(("c",), (), (Drawn("z", mechanism.noise),), (), (), steps, queries=mechanism.keys)
    return of_stream(stream, grid, words=(NO, YES))


# -- streams -------------------------------------------------------------------------------------------------------


def of_stream(stream: Stream, grid: Grid | None, words: tuple[str, ...] = (), bounds: tuple[Expr, Expr] | None = None) -> Law:
    """What each step tells: the number of its word, then the numbers that are told.

    words: in the order of their numbers; as the branches have them, where none are given.
    """
    program = _program(stream, grid, words)
    queries = None if stream.queries is None else whole(stream.queries, "the number of queries")
    width = len(stream.answers)
    if queries is not None and queries * max(width, program.width) > MOST:
        raise NoSampler(f"an input or an output has more than {MOST} numbers.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        exact = _checked(answers, bounds, program.integers)
        if len(exact) % width:
            raise DataError(f"data has {len(exact)} numbers, and each step reads {width}.")
        rows = [exact[i : i + width] for i in range(0, len(exact), width)]
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [program.many(rows, part, rng) for part in _chunks(size, len(rows) * (1 + len(stream.fresh)))]
        found = np.concatenate(parts) if parts else np.zeros((0, len(rows) * program.width))
        return found if program.told and not program.integers else found.astype(np.int64)

    lines = _told(list(program.noises.values()), bool(program.told), grid, program.said)
    if queries is None:
        return Law(ANY, ANY, draw, lines, _first(bounds, width))
    return Law(queries * width, queries * program.width, draw, lines, _first(bounds, queries * width))


@dataclass(frozen=True)
class _Program:
    """A stream as it is run. words: of its codes; empty where all steps tell the same. told: how many numbers a step tells at most."""

    stream: Stream
    steps: tuple[Step, ...]
    start: Mapping[str, Form]
    noises: Mapping[str, Noise]
    words: tuple[str, ...]
    told: int
    counts: tuple[Mapping[str, int], ...]
    units: Mapping[str, int]
    limits: Mapping[str, int]
    snapping: _Snapping

    @property
    def integers(self) -> bool:
        """Whether answers and noises are integers."""
        return on_integers(self.stream)

    @property
    def width(self) -> int:
        """Numbers that a step fills of an output."""
        return bool(self.words) + self.told

    @property
    def said(self) -> tuple[str, ...]:
        """What the numbers of an output mean, in words."""
        if not self.words:
            return ()
        codes = ", ".join(f"{code}: {word or 'numbers alone'}" for code, word in enumerate(self.words))
        numbers = "" if not self.told else "; after each code what is told, or 0" if self.told == 1 else "; then what is told, or zeros"
        return (f"{codes}, {NOTHING}: nothing more{numbers}",)

    def many(self, rows: Sequence[Sequence[Fraction]], size: int, rng: Generator) -> Array:
        """Runs on the answers of each step: rows of codes and numbers."""
        return _Runs(self, rows, size, rng).done()

    def silent(self, branch: int) -> bool:
        """Whether a branch tells nothing."""
        given = self.stream.steps[branch]
        return not given.emit and not given.tell

    def rest(self, form: Form, counted: Mapping[str, int]) -> Expr:
        """The rest of a form where counters have these values."""
        if not symbols(form.rest):
            return form.rest
        return substitute(form.rest, {name: Num(Fraction(n, self.units[name])) for name, n in counted.items()})

    def exactly(self, form: Form, values: Mapping[str, Sum], counted: Mapping[str, int]) -> Sum:
        """A form of a run by itself."""
        found = constant_sum(self.rest(form, counted))
        for name, factor in form.of.items():
            found = found.plus(values[name], factor)
        return found

    def alone(self, rows: Sequence[Sequence[Fraction]], draws: Drawing, rng: Generator) -> list[float]:
        """One run by itself, to as many digits as it takes. draws: noises that were drawn already; more are added."""

        def drawn(name: str, step: int) -> Sum:
            if (name, step) not in draws:
                draws[name, step] = self.noises[name].lazy(rng)
            return Sum({(name, step): Fraction(1)})

        once = {each.name: drawn(each.name, -1) for each in self.stream.once}
        counted = dict.fromkeys(self.limits, 0)
        state = {name: self.exactly(form, once, counted) for name, form in self.start.items()}
        told: list[float] = []
        for number_of, row in enumerate(rows):
            if any(counted[name] >= limit for name, limit in self.limits.items()):
                break
            fresh = {each.name: drawn(each.name, number_of) for each in self.stream.fresh}
            values = once | state | fresh | {name: Sum({}, q) for name, q in zip(self.stream.answers, row, strict=True)}
            branch = next(b for b, step in enumerate(self.steps) if self._holds(b, step, values, counted, draws))
            if not self.silent(branch):
                numbers = [self.snapping.one(self.exactly(form, values, counted), draws) for form in self.steps[branch].tell]
                told += [*self.code(branch), *numbers, *[0.0] * (self.told - len(numbers))]
            state = {name: self.exactly(form, values, counted) for name, form in self.steps[branch].after.items()}
            counted = {name: n + self.counts[branch].get(name, 0) for name, n in counted.items()}
        nothing = [float(NOTHING) if self.words and i % self.width == 0 else 0.0 for i in range(len(rows) * self.width - len(told))]
        return told + nothing

    def _holds(self, branch: int, step: Step, values: Mapping[str, Sum], counted: Mapping[str, int], draws: Drawing) -> bool:
        for guard, form in zip(self.stream.steps[branch].when, step.when, strict=True):
            found = sign(self.exactly(form, values, counted), draws)
            if found < 0 or (guard.strict and not found):
                return False
        return True

    def code(self, branch: int) -> list[float]:
        """The code of what a branch tells, if outputs have codes."""
        return [float(self.words.index(self.stream.steps[branch].emit))] if self.words else []


class _Runs:
    """Many runs, step by step."""

    def __init__(self, program: _Program, rows: Sequence[Sequence[Fraction]], size: int, rng: Generator) -> None:
        self.program, self.rows, self.size, self.rng = program, rows, size, rng
        self.alive = np.arange(size)
        self.open: list[int] = []
        self.words: dict[Key, tuple[Array, Array]] = {}
        self.counted = {name: np.zeros(size, dtype=np.int64) for name in program.limits}
        self.filled = np.zeros(size, dtype=np.int64)
        self.found = np.zeros((size, len(rows), program.width))
        if program.words:
            self.found[:, :, 0] = NOTHING
        self.once = {each.name: self._drawn(each.name, -1) for each in program.stream.once}
        self.state = {name: self._form(form, self.once) for name, form in program.start.items()}

    def done(self) -> Array:
        """All of them."""
        for step, row in enumerate(self.rows):
            over = np.zeros(len(self.alive), dtype=bool)
            for name, limit in self.program.limits.items():
                over |= self.counted[name] >= limit
            self._keep(~over)
            if not len(self.alive):
                break
            self._step(step, row)
        width = self.program.width
        found = self.found.reshape(self.size, len(self.rows) * width)
        for run in self.open:
            draws: Drawing = {}
            for (name, step), (runs, words) in self.words.items():
                at = int(np.searchsorted(runs, run))
                if at < len(runs) and runs[at] == run:
                    draws[name, step] = self.program.noises[name].lazy(self.rng, words[at])
            found[run] = self.program.alone(self.rows, draws, self.rng)
        return found

    def _drawn(self, name: str, step: int) -> Interval:
        drawn = self.program.noises[name].draw(len(self.alive), self.rng)
        self.words[name, step] = self.alive, drawn.words
        return drawn.middle, drawn.radius

    def _keep(self, kept: Array) -> None:
        """Go on with some of the runs."""
        if kept.all():
            return
        self.alive = self.alive[kept]
        for held in (self.once, self.state):
            for name, (middle, radius) in held.items():
                held[name] = middle[kept], radius[kept]
        self.counted = {name: count[kept] for name, count in self.counted.items()}

    def _form(self, form: Form, values: Mapping[str, Interval]) -> Interval:
        middle, radius = total([(Fraction(1), self._rest(form)), *((factor, values[name]) for name, factor in form.of.items())])
        return np.broadcast_to(middle, len(self.alive)), np.broadcast_to(radius, len(self.alive))

    def _rest(self, form: Form) -> Interval:
        """The rest of a form, which counters may be in."""
        names = sorted(symbols(form.rest))
        if not names:
            return self._constant(form.rest)
        counts = np.stack([self.counted[name] for name in names])
        seen, places = np.unique(counts, axis=1, return_inverse=True)
        each = [self._constant(self.program.rest(form, dict(zip(names, map(int, column), strict=True)))) for column in seen.T]
        middle, radius = (np.concatenate([interval[side] for interval in each]) for side in (0, 1))
        return middle[places.reshape(-1)], radius[places.reshape(-1)]

    @staticmethod
    def _constant(expr: Expr) -> Interval:
        if isinstance(expr, Num):
            return _known(expr.value)
        near = as_float(constant_sum(expr), {})
        return np.array([near]), np.array([(1 + abs(near)) * _ROUNDING])

    def _step(self, step: int, row: Sequence[Fraction]) -> None:
        program = self.program
        values = dict(self.once)
        values |= {each.name: self._drawn(each.name, step) for each in program.stream.fresh}
        values |= self.state | {name: _known(q) for name, q in zip(program.stream.answers, row, strict=True)}
        count = len(self.alive)
        taken, unknown = np.full(count, -1), np.zeros(count, dtype=bool)
        for branch, forms in enumerate(program.steps):
            fails, doubt = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
            for guard, form in zip(program.stream.steps[branch].when, forms.when, strict=True):
                middle, radius = self._form(form, values)
                holds = (middle >= radius) & ((middle > radius) | (radius == 0) & (not guard.strict))
                wrong = (middle <= -radius) & ((middle < -radius) | (radius == 0) & guard.strict)
                fails |= wrong
                doubt |= ~holds & ~wrong
            here = taken < 0
            unknown |= here & doubt & ~fails
            taken[here & ~fails] = branch
        unknown |= self._tell(step, taken, values)
        state = {name: (np.zeros(count), np.zeros(count)) for name in self.state}
        for branch, forms in enumerate(program.steps):
            chosen = taken == branch
            if not chosen.any():
                continue
            for name, form in forms.after.items():
                middle, radius = self._form(form, values)
                state[name][0][chosen], state[name][1][chosen] = middle[chosen], radius[chosen]
            for name, amount in program.counts[branch].items():
                self.counted[name] = self.counted[name] + amount * chosen
        self.state = dict(state)
        self.open += self.alive[unknown].tolist()
        self._keep(~unknown)

    def _tell(self, step: int, taken: Array, values: Mapping[str, Interval]) -> Array:
        """Write what is told; which runs are not decided by it."""
        program, unknown = self.program, np.zeros(len(taken), dtype=bool)
        for branch, forms in enumerate(program.steps):
            chosen = taken == branch
            if program.silent(branch) or not chosen.any():
                continue
            runs, offset = self.alive[chosen], 0
            places = self.filled[runs]
            for code in program.code(branch):
                self.found[runs, places, 0], offset = code, 1
            for i, form in enumerate(forms.tell):
                numbers, open_ones = program.snapping.many(self._form(form, values))
                self.found[runs, places, offset + i] = numbers[chosen]
                unknown |= chosen & open_ones
            self.filled[runs] += 1
        return unknown


def _program(stream: Stream, grid: Grid | None, words: tuple[str, ...]) -> _Program:
    """Raises NoSampler."""
    for fault in faults(stream):
        raise NoSampler(fault)
    noises = {each.name: noise_of(each.noise) for each in (*stream.once, *stream.fresh)}
    given = {branch.emit: None for branch in stream.steps if branch.emit or branch.tell}
    told = max((len(branch.tell) for branch in stream.steps), default=0)
    alike = len({(branch.emit, len(branch.tell)) for branch in stream.steps}) == 1 and told > 0 and not stream.limits
    units, counts, limits = {}, [dict[str, int]() for _ in stream.steps], {}
    for limit in stream.limits:
        grown = {b: each.value for b, branch in enumerate(stream.steps) for each in branch.count if each.name == limit.name}
        values = [_rational(value, limit.name) for value in (limit.value, *grown.values())]
        unit = units[limit.name] = lcm(*(value.denominator for value in values))
        limits[limit.name] = int(values[0] * unit)
        for b, value in zip(grown, values[1:], strict=True):
            counts[b][limit.name] = int(value * unit)
    steps = tuple(step_of(stream, branch) for branch in stream.steps)
    snapping = _snapping(grid, on_integers(stream), noises.values())
    return _Program(
        stream, steps, start_of(stream), noises, () if alike else words or tuple(given), told, tuple(counts), units, limits, snapping
    )


def _rational(value: Expr, name: str) -> Fraction:
    if not isinstance(value, Num):
        raise NoSampler(f"the counter {name} grows by, or is limited by, what is no rational number. Round it.")
    return value.value

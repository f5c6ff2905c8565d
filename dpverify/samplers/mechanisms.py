"""A sampler of every mechanism whose file says its law: callable(data, size, rng) -> outputs.

`additive` has the laws of noise, `outputs` those of rows of probabilities and of kernels, `processes` those of values of functions; here
is what is made of parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, assert_never

import numpy as np

from dpverify.errors import DataError, NoSampler
from dpverify.samplers.additive import additive, scaled, summed
from dpverify.samplers.comparisons import of_keys, of_noisy_max, of_stream, of_threshold
from dpverify.samplers.correlated import correlated
from dpverify.samplers.grids import Grid
from dpverify.samplers.law import ANY, MOST, Array, Generator, Law, whole
from dpverify.samplers.outputs import of_kary_response, of_kernel, of_rows
from dpverify.samplers.processes import evaluations
from dpverify.samplers.walked import Walking, require_walked, walking
from dpverify.trusted.kernel.expr import ONE, Num, Sym, call, mul, num, power
from dpverify.trusted.kernel.model import (
    L2,
    AboveThreshold,
    BestOf,
    Claim,
    Compose,
    CorrelatedNoise,
    EllipticalProcess,
    Exponential,
    Filter,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Lipschitz,
    Matrix,
    Mechanism,
    Mixture,
    NoisyKeys,
    NoisyMax,
    NoisyVotes,
    Parallel,
    PostProcess,
    Product,
    Radial,
    Repeat,
    Sampled,
    Shuffle,
    SmoothSensitivity,
    Space,
    Staircase,
    Stream,
    Subsample,
    Sum,
    Table,
    Translation,
)


@dataclass(frozen=True, slots=True, repr=False)
class Sampler:
    """Draws from a mechanism: sampler(data, size, rng) gives `size` independent outputs on the data.

    Data is the true answer, a number or a list of numbers; the number of a row where inputs are rows; where the mechanism has parts, the
    true answers of its parts one after the other; the answers that a selection compares. Outputs are an array of `size` numbers, or of
    `size` rows where one has several: of above threshold and of streams a code for what each step tells, and the numbers told beside it.
    """

    mechanism: Mechanism
    grid: Grid | None
    law: Law = field(repr=False, compare=False)
    walk: Walking | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<sampler of {type(self.mechanism).__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Its tables are made again where it is unpickled."""
        return sampler, (self.mechanism, self.grid, None if self.walk is None else self.walk.how)

    @property
    def zeros(self) -> list[Any]:
        """Data to begin with: 0 wherever that is a true answer, else the nearest one."""
        return list(self.law.first)

    @property
    def told(self) -> tuple[str, ...]:
        """How outputs are drawn and how exactly; of a walk, what it told of itself when outputs were drawn last."""
        return (*self.law.told, *(() if self.walk is None else self.walk.told))

    def __call__(self, data: Any, size: int, rng: Generator) -> Array:
        """Raises DataError for data that are no input of the mechanism."""
        given = data.tolist() if isinstance(data, np.ndarray | np.generic) else data
        answers = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        fits = self.law.answers in (ANY, len(answers))
        if not fits or not all(_is_number(answer) for answer in answers):
            many = "" if self.law.answers == ANY else f"{self.law.answers} "
            wanted = "a number" if self.law.answers == 1 else f"a list of {many}numbers"
            raise DataError(f"data = {str(data)[:80]} is not {wanted}, which a true answer of this mechanism is.")
        if size < 0:
            raise DataError(f"size = {size} is negative.")
        rows = self.law.draw(answers, size, rng)
        return rows[:, 0] if self.law.outputs == 1 else rows


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def sampler(mechanism: Mechanism, grid: Grid | None = None, walk: str | None = None) -> Sampler:
    """The sampler of a mechanism. grid: what noisy answers of real numbers are rounded to, if anything.

    walk: "hit-and-run" or "grid", a walk in unit balls that are polytopes, in place of exact points by their facets; not certified.
    Raises NoSampler where the mechanism has no law of its own, or one that is out of reach: why, and the way out.
    """
    walked = walking(walk)
    law = _law(mechanism, grid, walked)
    require_walked(walked)
    return Sampler(mechanism, grid, law, walked)


def of_claim(claim: Claim, grid: Grid | None = None, walk: str | None = None) -> Sampler:
    """The sampler of a claim's mechanism. Raises NoSampler as `sampler` does, and where the claim speaks of many mechanisms."""
    if claim.domains:
        names = ", ".join(name for name, _ in claim.domains)
        raise NoSampler(f"the claim ranges over {names}. Give each a value in `parameters`: a sampler has one law.")
    return sampler(claim.mechanism, grid, walk)


@lru_cache(maxsize=64)
def _law(mechanism: Mechanism, grid: Grid | None, walk: Walking | None) -> Law:
    if isinstance(mechanism, Radial | Mixture | Product | Translation | Staircase):
        return additive(mechanism, grid, walk)
    if isinstance(mechanism, Sum):
        return summed(mechanism, grid)
    if isinstance(mechanism, SmoothSensitivity):
        return scaled(mechanism, grid, walk)
    if isinstance(mechanism, Table | Exponential):
        return of_rows(mechanism)
    if isinstance(mechanism, KaryResponse):
        return of_kary_response(mechanism)
    if isinstance(mechanism, Kernel):
        return of_kernel(mechanism, grid)
    if isinstance(mechanism, NoisyMax):
        return of_noisy_max(mechanism, grid)
    if isinstance(mechanism, AboveThreshold):
        return of_threshold(mechanism, grid)
    if isinstance(mechanism, NoisyKeys):
        return of_keys(mechanism, grid)
    if isinstance(mechanism, NoisyVotes):
        noise = Radial(call("exp", mul(num(Fraction(-1, 2)), power(Sym("r"), num(2)))), L2, scale=mechanism.sigma, dimension=ONE)
        each = [of_noisy_max(NoisyMax(noise, num(len(row))), grid) for row in mechanism.votes]
        return replace(_together(each), first=tuple(vote for row in mechanism.votes for vote in row))
    if isinstance(mechanism, Shuffle):
        return _shuffled(mechanism, grid, walk)
    if isinstance(mechanism, CorrelatedNoise):
        return correlated(mechanism, grid)
    if isinstance(mechanism, Stream):
        return of_stream(mechanism, grid)
    if isinstance(mechanism, Compose | Parallel):
        return _together([_law(part.mechanism, grid, walk) for part in mechanism.parts])
    if isinstance(mechanism, Repeat):
        return _repeated(mechanism, grid, walk)
    if isinstance(mechanism, Group | Lipschitz):
        return _law(mechanism.part.mechanism, grid, walk)
    if isinstance(mechanism, PostProcess):
        return _mapped(mechanism, grid, walk)
    if isinstance(mechanism, EllipticalProcess):
        return evaluations(mechanism, grid)
    if isinstance(mechanism, Space) and mechanism.shape.kind == "points" and (mechanism.table or mechanism.rate is not None):
        return of_rows(_given(mechanism))
    raise NoSampler(_reason(mechanism))


def _given(space: Space) -> Table | Exponential:
    """The one mechanism of a space of finitely many points: its table, or weights that fall with the distance to the truth."""
    if space.rate is None:
        return Table(tuple(tuple(map(Num, row)) for row in space.table))
    truth = space.truth if space.databases == "listed" else range(len(space.shape.matrix))
    return Exponential(tuple(tuple(Num(-entry) for entry in space.shape.matrix[place]) for place in truth), space.rate)


def _reason(mechanism: Guarantee | Sampled | Space | Subsample | BestOf) -> str:
    """Why there is no sampler."""
    if isinstance(mechanism, Filter):
        return "which parts are chosen is not known, only what they may spend. Sample the implementation that keeps the budget."
    if isinstance(mechanism, Guarantee):
        return "only a guarantee is known of this mechanism, not its law. Sample the implementation that has the guarantee."
    if isinstance(mechanism, Space):
        return (
            "a space without a table or a rate is no mechanism by itself. One for the nearness of a claim is made by "
            "dpverify.samplers.nearness.near_mechanism."
        )
    if isinstance(mechanism, Sampled):
        return "nothing is declared of this mechanism: its sampler is the one that the [audit] table names."
    if isinstance(mechanism, BestOf):
        return "the file does not say in which order outputs are better. Draw how often the part is run, and call its sampler so often."
    if isinstance(mechanism, Subsample):
        return (
            "the part runs on a random sample of the records, and the file does not say what its true answer on a sample is. "
            "Draw the sample, answer the query on it, and call the sampler of the part."
        )
    assert_never(mechanism)


# -- parts -------------------------------------------------------------------------------------------------------


def _repeated(mechanism: Repeat, grid: Grid | None, walk: Walking | None) -> Law:
    """A part as often as it is run: on one true answer, its outputs one after the other."""
    times, law = whole(mechanism.times, "times"), _law(mechanism.part.mechanism, grid, walk)
    if times * law.outputs > MOST:
        raise NoSampler(f"the parts put out more than {MOST} numbers.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        return np.concatenate([law.draw(answers, size, rng) for _ in range(times)], axis=1)

    return Law(law.answers, times * law.outputs, draw, (f"{times} times:", *law.told), law.first)


def _shuffled(mechanism: Shuffle, grid: Grid | None, walk: Walking | None) -> Law:
    """What a part tells of each record, in a random order."""
    people, law = whole(mechanism.people, "people"), _law(mechanism.part.mechanism, grid, walk)
    if people * max(law.outputs, law.answers) > MOST:
        raise NoSampler(f"an input or an output has more than {MOST} numbers.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        width = law.answers
        told = [law.draw(answers[i * width : (i + 1) * width], size, rng) for i in range(people)]
        every = np.stack(told, axis=1)
        order = rng.random((size, people)).argsort(axis=1)
        return np.take_along_axis(every, order[:, :, None], axis=1).reshape(size, -1)

    return Law(people * law.answers, people * law.outputs, draw, (f"{people} people, in a random order:", *law.told), law.first * people)


def _together(laws: Sequence[Law]) -> Law:
    """Parts one after the other, each on its own true answer."""
    if any(law.answers == ANY for law in laws):
        raise NoSampler("a part is a stream that reads as many answers as come. Say how many: give it `queries`.")
    width = sum(law.outputs for law in laws)
    if width > MOST:
        raise NoSampler(f"the parts put out more than {MOST} numbers.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        found, start = [], 0
        for law in laws:
            found.append(law.draw(answers[start : start + law.answers], size, rng))
            start += law.answers
        return np.concatenate(found, axis=1)

    told = tuple(f"part {number}: {line}" for number, law in enumerate(laws, 1) for line in law.told)
    return Law(sum(law.answers for law in laws), width, draw, told, tuple(answer for law in laws for answer in law.first))


def _mapped(mechanism: PostProcess, grid: Grid | None, walk: Walking | None) -> Law:
    """A linear map of what a part puts out."""
    if not mechanism.matrix:
        raise NoSampler("the file names the map and does not say what it does. Call the sampler of the part, and the map on its outputs.")
    law, rows = _law(mechanism.part.mechanism, grid, walk), mechanism.matrix
    if any(len(row) != law.outputs for row in rows):
        raise NoSampler(f"the rows of the matrix do not have {law.outputs} entries, one for each number that the part puts out.")

    def draw(answers: Sequence[Any], size: int, rng: Generator) -> Array:
        return _image(law.draw(answers, size, rng), rows)

    return Law(law.answers, len(rows), draw, (*law.told, "mapped by the matrix"), law.first)


def _image(outputs: Array, rows: Matrix) -> Array:
    """The rows' sums over the outputs: of integers where both are, and these fit into 64 bits."""
    reach = max(sum(map(abs, row)) for row in rows)
    whole_rows = all(entry.denominator == 1 for row in rows for entry in row)
    if outputs.dtype.kind == "f" or not whole_rows:
        return np.asarray(outputs.astype(float) @ np.array([[float(entry) for entry in row] for row in rows]).T)
    wide = outputs.dtype == object or int(abs(outputs).max(initial=0)) * reach >= 2**63
    kind: type = object if wide else np.int64
    return np.asarray(outputs.astype(kind) @ np.array([[int(entry) for entry in row] for row in rows], dtype=kind).T)

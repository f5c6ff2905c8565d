"""Streams without open comparisons whose noises are Gaussian: all that they tell is one Gaussian vector, and its curve is known exactly.

Theorem: Where numbers that are the same for all data decide the branches, what a stream tells is M z + L q, z its noises and q its answers.
Where its noises are Gaussian, each number told has, given those before it, a mean that moves by a linear form m_i of the moves of the
answers, and a variance v_i: the pair N(0, 1), N(mu, 1) dominates, for answers that are chosen after what was told as well, mu^2 the
greatest sum of m_i^2/v_i over the moves of neighbours. Answers that move so have it, so that the curve is exact.

Checked:
- one run alone is possible: every comparison is of numbers that do not depend on answers or noises
- the noises are Gaussian, on the line, of rational variances
- what is told without noise, given what was told before, does not move
- the sum at all vertices of the moves

Source: docs/theory/selection.md#told-sums
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final

from dpverify.trusted.combinators.gaussian_form import rate_on_line
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.combinators.streams import families, vertices
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, mul, num, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Stream, on_integers
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.word_chances import Noise, Row, runs

NAME: Final = "told-sums"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

MOST_STEPS: Final = 64
MOST_MOVES: Final = 4096
"""The most vertices of the moves of a whole run that are looked at."""

Multiples = Mapping[Noise, Fraction]
"""By names of answers and noises, and the steps in which they are read or drawn."""


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a stream. parameters: "prec". Raises Rejected, Undecided, CertificateError."""
    pair, stream = gaussian.pair(distance(run)), run.part.mechanism
    assert isinstance(stream, Stream)
    free = stream.bounds is None and not stream.whole_answers  # else no answers may move so
    return settled.noise(run, Curve(pair, pair if free else None, (NAME,), ASSUMED), parameters)


def distance(run: Run) -> Expr:
    """mu. Raises Rejected, Undecided."""
    question = asked(leaf(run), {}, NAME, wanted=Stream)
    stream = question.stream
    rates = {drawn.name: rate_on_line(drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    variances = {name: 1 / rate.value for name, rate in rates.items() if isinstance(rate, Num)}
    if on_integers(stream) or len(variances) < len(rates):
        raise Rejected(NAME, "the noise", "it is not certainly Gaussian noise on the line, of a rational variance")
    steps = MOST_STEPS + 1 if stream.queries is None else question.count(stream.queries, "queries", MOST_STEPS)
    found = list(islice(runs(question, stream, None, None, steps), 2))
    if len(found) != 1 or found[0].rows or len(found[0].word) > MOST_STEPS:
        raise Rejected(NAME, "the branches", f"it is not certain that all runs take the same, and end after at most {MOST_STEPS} steps")
    seen = _innovations(found[0].told, variances)
    read = sorted({step for row, _ in seen for (name, step), x in row.items() if x and name in stream.answers})
    squares = [sum(sum(row.get(key, 0) * x for key, x in move.items()) ** 2 / v for row, v in seen) for move in _moves(stream, read)]
    return mul(question.moved, sqrt(num(max(squares, default=0))))


def _innovations(told: Sequence[Row], variances: Mapping[str, Fraction]) -> list[tuple[Multiples, Fraction]]:
    """What each number adds to those before it, and its variance. Raises Rejected where it moves and has none."""

    def covariance(one: Multiples, other: Multiples) -> Fraction:
        return sum((x * other.get(key, 0) * variances.get(key[0], 0) for key, x in one.items()), Fraction(0))

    kept: list[tuple[Multiples, Fraction]] = []
    for row in told:
        left = dict(row.of)
        for earlier, variance in kept:
            share = covariance(left, earlier) / variance
            left = {key: left.get(key, Fraction(0)) - share * earlier.get(key, 0) for key in left.keys() | earlier.keys()}
        variance = covariance(left, left)
        if not variance and any(left.values()):
            raise Rejected(NAME, "what is told", "a number that moves is told without noise, given those before it")
        kept += [(left, variance)] if variance else []
    return kept


def _moves(stream: Stream, read: Sequence[int]) -> Iterator[Multiples]:
    """Vertices of the moves of answers in some steps, of one family: the other family's are their opposites. Raises Rejected."""
    points, alone = vertices(stream, families(stream)[0]), stream.neighbours == "one"
    if not alone and len(points) ** len(read) > MOST_MOVES:
        raise Rejected(NAME, "the moves", f"they have more than {MOST_MOVES:,} vertices")
    for some in ([step] for step in read) if alone else [read]:
        for taken in product(points, repeat=len(some)):
            yield {(name, step): x for step, point in zip(some, taken, strict=True) for name, x in zip(stream.answers, point, strict=True)}

"""The error of a linear map of noisy answers, such as an estimate by least squares: from the covariances of the noises.

Theorem: A linear map M of answers with independent noises that are symmetric about 0, of covariance C together, has a mean square error of
tr(M C M'), the i-th number one of (M C M')_ii = s_i^2. So has a sum of noises, M being a row of ones. Where all noises are log-concave,
E|X_i| is between s_i/sqrt(2) and sqrt(3)/2 s_i, the mean length of the error between rms/sqrt(2) and rms, and P(|X_i| > t) at most
exp(1 - t/E|X_i|).

Checked:
- every part is noise with a density, symmetric about 0, added to an answer
- the matrix has a column for each number that the parts put out
- the mean square of every noise, in closed form or enclosed; for a norm by columns or facets the moments of its unit ball, a premise
- for the bounds by shape: every density is log-concave

Source: docs/theory/design.md#linear-map
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Final

from flint import arb, fmpq_mat

from dpverify.trusted.combinators.densities import log_concave
from dpverify.trusted.combinators.released import Noisy, released
from dpverify.trusted.facts.errors import ErrorBound, Measure, enclosed, known
from dpverify.trusted.facts.premises import body_of
from dpverify.trusted.geometry.linear import form, matrix, square
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, mul, num, power, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Mixture, Radial, Staircase, Vector
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.theories.utility import closed_moments, directions, shapes
from dpverify.trusted.theories.utility.laws import Law, bits_of, half, read
from dpverify.trusted.theories.utility.rules.log_concave_noise import exceeded, means
from dpverify.trusted.theories.utility.rules.noise_quantile import beta_of

NAME: Final = "linear-map"
ASSUMED: Final = ("the sampler is ideal", "the noises of the parts are independent")


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the root mean square errors, and what the shape of the noises says of the others.

    parameters: "coordinates", how many of them are told of, from the first on; "parts", if given, for each part "bits", the accuracy of
    integrals where its mean square has no closed form, and what `laws.read` is told. premises: the facts of the unit balls of the parts
    whose norm is by columns or facets, in their order. Raises Rejected, Undecided, CertificateError.
    """
    wanted = read_whole(parameters, "coordinates", NAME, 0)
    require(not claim.domains, Rejected(NAME, "the parameters", "errors are those of one mechanism; give every parameter a value"))
    found = released(claim.mechanism)
    blocks = _blocks(found.noises, parameters.get("parts"), premises)
    rows = shapes.unit(sum(block.width * block.times for block in blocks)) if found.rows is None else found.rows
    shares = [[*shares_of(row, blocks)] for row in rows]
    squares = [total_square(share, blocks) for share in shares]
    whole = total_square([sum(column, Fraction(0)) for column in zip(*shares, strict=True)], blocks)
    smooth = all(log_concave(noise.part.mechanism) for noise in found.noises)
    each = [rooted("rms", one, i) for i, one in enumerate(squares)]
    bounds = [*rooted("rms_l2", whole, None), *chain(*each[:wanted])]
    bounds += means(bounds, smooth)
    return (*bounds, *(exceeded([*chain(*each)], beta_of(claim, NAME)) if smooth and claim.beta is not None else ()))


def _blocks(noises: Sequence[Noisy], told: Any, premises: Sequence[Fact]) -> list[Block]:
    given = [{}] * len(noises) if told is None else told
    left = iter(premises)
    blocks = []
    for noise, one in zip(noises, given, strict=True):
        asked = Claim(noise.part.mechanism, None, sensitivity=noise.part.sensitivity, query=noise.part.query)
        law = read(asked, one, NAME)
        if not isinstance(law.noise, Radial | Mixture | Staircase) and half(law) is None:
            raise Rejected(NAME, "a part", "its noise is not certainly symmetric about 0, on the whole line")
        size = law.moment(2, bits_of(one, NAME)) if "bits" in one else closed_moments.moment(law, 2, NAME)
        factor, spread = _spread(law, asked, left)
        blocks.append(Block(scaled_size(mul(power(law.unit, num(2)), factor), size), spread, noise.size, noise.times))
    if next(left, None) is not None:
        raise CertificateError(f"{NAME}: it has more premises than parts whose norm is by columns or facets.")
    return blocks


def _spread(law: Law, asked: Claim, premises: Iterator[Fact]) -> tuple[Expr, fmpq_mat | None]:
    """The covariance of the direction, as a factor and a matrix."""
    d, norm = law.dimension, law.norm
    if norm is None or d == 1:
        return ONE if norm is None else power(directions.length_on_the_line(norm), num(2)), None
    if norm.kind == "lp":
        return directions.coordinate(norm.p, d, 2), None
    if norm.kind == "ellipsoid":
        return directions.coordinate(Fraction(2), d, 2), matrix(norm.matrix)
    premise = next(premises, None)
    if premise is None:
        raise CertificateError(f"{NAME}: it has fewer premises than parts whose norm is by columns or facets.")
    body = body_of(premise, asked, "norm", NAME)
    if body.axes != shapes.unit(d) or body.second is None:
        raise Rejected(NAME, "a unit ball", "its fact does not state its second moments along the coordinates")
    second = [tuple(x.value for x in row if isinstance(x, Num)) for row in body.second]
    require(all(len(row) == d for row in second), Rejected(NAME, "a unit ball", "its second moments are not rational"))
    return Num(Fraction(d + 2, d)), matrix(second)


Size = Expr | Infinite | arb
"""A mean square: exact, infinite, or enclosed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Noise with the covariance size * spread, None for that of independent numbers; how many it has, and how often it is drawn."""

    size: Size
    spread: fmpq_mat | None
    width: int
    times: int


def shares_of(row: Vector, blocks: Sequence[Block]) -> Iterator[Fraction]:
    """m C m' for each block, without its size."""
    at = 0
    for block in blocks:
        share = Fraction(0)
        for _ in range(block.times):
            cut, at = row[at : at + block.width], at + block.width
            share += square(cut) if block.spread is None else form(block.spread, cut)
        yield share


def scaled_size(factor: Expr, size: Size) -> Size:
    """A mean square times a factor."""
    if isinstance(size, Infinite):
        return size
    return mul(factor, size) if isinstance(size, Expr) else constant(factor) * size


def total_square(shares: Sequence[Fraction], blocks: Sequence[Block]) -> Size:
    """The sum of the blocks' mean squares, each times its share."""
    parts = [scaled_size(Num(share), block.size) for share, block in zip(shares, blocks, strict=True) if share]
    if any(isinstance(part, Infinite) for part in parts):
        return INFINITE
    exact = [part for part in parts if isinstance(part, Expr)]
    if len(exact) == len(parts):
        return add(*exact)
    total = constant(add(*exact))
    for part in parts:
        total += part if isinstance(part, arb) else 0
    return total


def rooted(measure: Measure, squared: Size, coordinate: int | None) -> tuple[ErrorBound, ...]:
    """Both sides of the root of a mean square."""
    if isinstance(squared, Infinite):
        return known(measure, INFINITE, coordinate)
    return enclosed(measure, squared.sqrt(), coordinate) if isinstance(squared, arb) else known(measure, sqrt(squared), coordinate)

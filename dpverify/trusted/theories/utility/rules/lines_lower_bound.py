"""The error of any private mechanism is at least what moving along lines of neighbours, each by itself, makes it.

Theorem: With differences v_i of neighbours, weights p_i >= 0 of sum at most 1 and H (sum of p_i F v_i (F v_i)') H at most the identity,
every eps-DP mechanism has on some data a mean error of at least t/sinh(eps), t the sum of p_i |(F v_i)' H F v_i|; on real histograms t/(2
sinh(eps/2)). Its mean square error is at least the sum of p_i ((F v_i)' H F v_i)^2 over 2 sinh(eps/2)^2; on real histograms times the least
variance of staircase noise.

Checked:
- each v_i is a difference of neighbours
- the weights
- the order of the matrices, exactly
- epsilon above 0, delta = 0

Source: docs/theory/necessary.md#lines-lower-bound
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb, fmpq, fmpq_mat

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.geometry.linear import matrix, square, to_fmpq, to_fraction
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Query
from dpverify.trusted.language.rationals import read_fraction, read_rows
from dpverify.trusted.language.rationals import to_fraction as read
from dpverify.trusted.theories.utility.any_mechanism import COUNTS, REALS, granted, least, query_of

NAME: Final = "lines-lower-bound"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the two Euclidean errors of any mechanism.

    parameters: "moves", a list of {"weight": p, "by": {number of a record type: how much of it}}; "scale", the rows of H, which is
    symmetric; "level", c with H (...) H about c or 0 in every direction; "plateau", on real histograms, how far the middle step of the
    staircase reaches. premises: where epsilon is "tight", an upper bound on it. Raises Rejected, CertificateError.
    """
    query = query_of(claim, (*COUNTS, *REALS), NAME)
    epsilon, assumed = granted(claim, premises, NAME)
    scale = scale_of(parameters, len(query.rows))
    weights, steps = zip(*moves_of(parameters, query), strict=True)
    require(min(weights) >= 0 and sum(weights) <= 1, Rejected(NAME, "the weights", "one is below 0, or their sum is above 1"))
    moved = moved_by(query, steps)
    require_contraction(scale, weights, moved, read_fraction(parameters, "level", NAME))
    lengths = lengths_of(scale, moved)
    mean = sum((weight * abs(length) for weight, length in zip(weights, lengths, strict=True)), Fraction(0))
    squares = sum((weight * length**2 for weight, length in zip(weights, lengths, strict=True)), Fraction(0))
    half = 2 * (epsilon / 2).sinh()
    one = 1 / half if query.adjacency in REALS else 1 / epsilon.sinh()
    variance = _staircase(parameters, epsilon) if "plateau" in parameters and query.adjacency in REALS else 2 / half**2
    return least(rational(mean) * one, rational(squares) * variance, assumed, NAME)


def _staircase(parameters: Mapping[str, Any], epsilon: arb) -> arb:
    """A lower bound on the variance of private noise on the line, by the reach of the middle step. Raises Rejected."""
    told = read_fraction(parameters, "plateau", NAME)
    g, q, rest = rational(told), (-epsilon).exp(), -(-epsilon).expm1()
    wanted = rest * (2 * rest * g**3 / 3 + q * g**2)
    if not (told > 0 and wanted <= q * (rest / 3 + q - rest * g**2 - 2 * q * g)):
        raise Rejected(NAME, "the plateau", "it is not above 0, or reaches farther than what is outside it can fill")
    return q * (1 + q) / rest**2 + g**2 + 2 * q * g / rest


def moves_of(parameters: Mapping[str, Any], query: Query) -> Iterator[tuple[Fraction, Mapping[int, Fraction]]]:
    """The weights with the differences of histograms. Raises CertificateError, Rejected."""
    width = max(map(len, query.rows))
    for move in parameters["moves"]:
        by = {int(number): read(amount, NAME) for number, amount in move["by"].items()}
        require(all(0 <= number < width for number in by), CertificateError(f"{NAME}: the query has {width} record types, counted from 0."))
        if not _is_difference(list(by.values()), query.adjacency):
            raise Rejected(NAME, "a move", f"it is no difference of neighbours under {query.adjacency}")
        yield read(move["weight"], NAME), by


def _is_difference(amounts: Sequence[Fraction], adjacency: str) -> bool:
    if adjacency in COUNTS:
        return sorted(amounts) == ([-1, 1] if adjacency == "replace" else [1])
    return sum(map(abs, amounts)) <= 1 if adjacency == "l1" else square(tuple(amounts)) <= 1


def moved_by(query: Query, steps: Sequence[Mapping[int, Fraction]]) -> fmpq_mat:
    """How far the answers move with each difference, a row each."""
    columns = matrix(query.rows).transpose().tolist()
    size = len(query.rows)
    found = [sum((to_fmpq(by[number]) * columns[number][i] for number in by), fmpq(0)) for by in steps for i in range(size)]
    return fmpq_mat(len(steps), size, found)


def scale_of(parameters: Mapping[str, Any], dimension: int) -> fmpq_mat:
    """The symmetric matrix H. Raises CertificateError."""
    found = matrix(read_rows(parameters.get("scale"), "scale", NAME, dimension))
    require(found.nrows() == dimension and found == found.transpose(), CertificateError(f"{NAME}: 'scale' is not symmetric."))
    return found


def require_contraction(scale: fmpq_mat, weights: Sequence[Fraction], moved: fmpq_mat, level: Fraction) -> None:
    """That no eigenvalue of M = H S H is above 1: |x^2 - c x| <= ||M^2 - c M|| for each of them, x, and with 1 - c on the right x <= 1."""
    rows = zip(map(to_fmpq, weights), moved.tolist(), strict=True)
    weighted = fmpq_mat(moved.nrows(), moved.ncols(), [weight * x for weight, row in rows for x in row])
    product = scale * (weighted.transpose() * moved) * scale
    off = sum((entry * entry for entry in (product * product - product * to_fmpq(level)).entries()), fmpq(0))
    if not 0 < level <= 1 or off > to_fmpq((1 - level) ** 2):
        raise Rejected(NAME, "the matrices", "H (sum of p_i F v_i (F v_i)') H is not seen to be at most the identity")


def lengths_of(scale: fmpq_mat, moved: fmpq_mat) -> list[Fraction]:
    """f' H f for each row f."""
    pairs = zip((moved * scale).tolist(), moved.tolist(), strict=True)
    return [to_fraction(sum((a * b for a, b in zip(left, right, strict=True)), fmpq(0))) for left, right in pairs]

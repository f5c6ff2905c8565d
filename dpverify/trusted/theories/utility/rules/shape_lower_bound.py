"""The error of any private mechanism, in every measure of privacy, is at least what lines of neighbours and the shape of the query make it.

Theorem: Let v be the least mean square of an error along one line of neighbours: at least 1/(e^D - 1), D what the Renyi divergence of
order 2 is at most, and a(a - 1)/(2(e^((a - 1) D) - 1)) - 1/4, D that of an order a > 1 (it is a rho under rho-zCDP, a mu^2/2 under
mu-GDP); what a dual function proves from that of order 1, and what one proves under (eps, delta)-DP. With differences v_i of
neighbours, weights p_i >= 0 and H (sum of p_i F v_i (F v_i)') H at most the identity every mechanism has on some data a mean square
error of at least v times the sum of p_i ((F v_i)' H F v_i)^2.

Checked:
- each v_i is a difference of neighbours
- the weights
- the order of the matrices, exactly
- what is claimed is a number above 0, of both orders of neighbours
- with a delta, or from divergences of order 1, the dual function

Source: docs/theory/necessary.md#shape-lower-bound
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.utility.any_mechanism import COUNTS, REALS, everything_counts, least, query_of
from dpverify.trusted.theories.utility.one_line import least_square
from dpverify.trusted.theories.utility.rules.lines_lower_bound import lengths_of, moved_by, moves_of, require_contraction, scale_of

NAME: Final = "shape-lower-bound"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """A lower bound on the root mean square error of any mechanism.

    parameters: "moves", "scale" and "level" as the rule about lines has them; with a delta, "reach" and "least" of the dual function; in
    another measure "order", where the second bound is meant, or "weight", "least", "parts" and "reach" of its dual function.
    premises: none. Raises Rejected, CertificateError.
    """
    certify(not premises, f"{NAME}: it has no premises.")
    query = query_of(claim, (*COUNTS, *REALS), NAME, pure=False)
    line = least_square(claim, parameters, NAME)
    scale = scale_of(parameters, len(query.rows))
    weights, steps = zip(*moves_of(parameters, query), strict=True)
    require(min(weights) >= 0, Rejected(NAME, "the weights", "one is below 0"))
    moved = moved_by(query, steps)
    require_contraction(scale, weights, moved, read_fraction(parameters, "level", NAME))
    squares = sum((weight * length**2 for weight, length in zip(weights, lengths_of(scale, moved), strict=True)), Fraction(0))
    return least(arb(0), rational(squares) * line, everything_counts(query), NAME)

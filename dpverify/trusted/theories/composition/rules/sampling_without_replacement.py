"""A mechanism on a sample of a fixed fraction of the records, neighbours by replacing one.

Theorem: Let a uniformly random subset of a fraction p of the records be used, neighbours being inputs with one record replaced. If the
part's profile is at most H on such neighbours, in both orders, the whole has delta(eps) <= p H(log(1 + (e^eps - 1)/p)) for eps >= 0. Where
all other records equal the one that replaces, the outputs are (1 - p) Q + p P and Q for a pair (P, Q) of the part's.

Checked:
- 0 < p <= 1
- no part speaks of other neighbours than by replacing a record

Source: docs/theory/composition.md#sampling-without-replacement, Balle, Barthe & Gaboardi 2018, Theorem 9
"""

from __future__ import annotations

from typing import Final

from flint import arb

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, symbols
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.theories.composition.rules import poisson_subsampling

NAME: Final = "sampling-without-replacement"
ASSUMED: Final = ("every subset of that size is equally likely, and the sample is not seen",)
LOWER: Final = "all other records may be equal to the one that replaces"


def infer(run: Run, _: Parameters, premises: Premises) -> Curve:
    """The curve of a sample from that of what is sampled. Raises Rejected, CertificateError."""
    return settled.single(run, curve(*poisson_subsampling.inside(run, premises, "without_replacement", NAME)))


def curve(part: Curve, rate: Expr) -> Curve:
    """The curve of a part on such a sample.

    Raises Rejected for a rate that is not certainly in (0, 1].
    """
    if symbols(rate) or not (certainly_lt(ZERO, rate) and certainly_le(rate, ONE)):
        raise Rejected(NAME, "rate", "it is not certainly above 0 and at most 1")
    if part.upper is None or rate == ONE:
        return part
    pair, p = part.upper, constant(rate)

    def profile(epsilon: arb) -> arb:
        return p * pair.worst((epsilon.expm1() / p).log1p())

    lower = None if part.lower is None else poisson_subsampling.sampled(part.lower, rate)
    return Curve(symmetric(profile), lower, (NAME, *part.rules), (*ASSUMED, *part.assumed), (LOWER, *part.below))

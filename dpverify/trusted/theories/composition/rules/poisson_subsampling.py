"""A mechanism on a Poisson sample of the records: the profile of a mixture, in closed form from the profile of the part.

Theorem: Let each record be kept independently with probability p, and let (P, Q) dominate the part when a record is added or removed. With
the record the output is (1 - p) Q + p P against Q without it, so for e^eps > 1 - p the profile is p H(log(1 + (e^eps - 1)/p)), and that of
the other order is (1 - e^eps (1 - p)) H'(log(e^eps p / (1 - e^eps (1 - p)))), 0 where e^eps (1 - p) >= 1.

Checked:
- 0 <= p <= 1
- no part speaks of other neighbours than by adding or removing a record
- which output is the one with the record, where the noise is not symmetric and a query tells how a record moves the answer

Source: docs/theory/composition.md#poisson-subsampling, Zhu, Dong & Wang 2022, Theorem 11; Balle, Barthe & Gaboardi 2018, Theorem 8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import arb, ctx

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import SPARE, known
from dpverify.trusted.facts.pairs import Curve, Pair, Rest
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Subsample

NAME: Final = "poisson-subsampling"
ASSUMED: Final = ("every record is kept independently, and the sample is not seen",)
SECRET: Final = "samples are drawn as declared and not seen"
LOWER: Final = "the worst neighbours of the sampled part are inputs of the whole, with no other records"


def infer(run: Run, _: Parameters, premises: Premises) -> Curve:
    """The curve of a sample from that of what is sampled. Raises Rejected, CertificateError."""
    return settled.single(run, curve(*inside(run, premises, "poisson", NAME)))


def inside(run: Run, premises: Premises, scheme: str, rule: str) -> tuple[Curve, Expr]:
    """The curve of what is sampled by a scheme, and the rate. Raises Rejected, CertificateError."""
    mechanism = run.part.mechanism
    if not isinstance(mechanism, Subsample) or mechanism.scheme != scheme:
        raise Rejected(rule, "the part", "it is not a sample by this scheme")
    if not certainly_le(run.factor, ONE):
        raise Rejected(rule, "the part", "neighbours further apart than one record want the rule group-privacy")
    (below,) = curves_of(premises, [Run(mechanism.part)], rule)
    return below, mechanism.rate


def curve(part: Curve, rate: Expr) -> Curve:
    """The curve of a part on a Poisson sample at a rate."""
    upper = None if part.upper is None else sampled(part.upper, rate)
    if part.lower is None or rate == ZERO:
        lower = None if rate != ZERO else upper
    else:
        lower = upper if part.exact else sampled(part.lower, rate)
    return Curve(upper, lower, (NAME, *part.rules), (*ASSUMED, *part.assumed), (LOWER, *part.below))


def sampled(pair: Pair, rate: Expr) -> Pair:
    """The pair ((1 - p) Q + p P, Q) of a pair (P, Q)."""
    if rate == ONE:
        return pair
    if rate == ZERO:
        return Pair(_nothing, _nothing, everywhere=True)
    kept, swapped = known(rate), pair.reversed

    def with_record(epsilon: arb) -> arb:
        with precision(ctx.prec + SPARE):  # so that the epsilon of the part is as good as exact
            p, odds = kept(), epsilon.expm1()  # e^eps - 1
            at = (odds / p).log1p() if odds > -p else None
        if at is not None:
            return p * pair.delta(at)
        # at e^eps <= 1 - p the mixture is above e^eps Q everywhere; p H is between 1 - e^eps and p
        return -odds if odds <= -p else (-odds).union(p)

    def without_record(epsilon: arb) -> arb:
        with precision(ctx.prec + SPARE):
            p, factor = kept(), epsilon.exp()
            left = 1 - factor * (1 - p)
            at = (factor * p / left).log() if left > 0 else None
        if at is not None:
            return left * swapped.delta(at)
        # within rounding of the edge: H' <= 1, and its factor is at most this
        return arb(0) if left <= 0 else arb(0).union(left.upper())

    return Pair(with_record, without_record, everywhere=True, rests=_rests(pair, kept))


def _rests(pair: Pair, rate: Callable[[], arb]) -> tuple[Rest, Rest] | None:
    """The mixture alone has p of what P alone has; at a rate below 1 nothing is Q's alone."""
    if pair.rests is None:
        return None
    forward = pair.rests[0]
    return lambda: rate() * forward(), lambda: arb(0)


def _nothing(epsilon: arb) -> arb:
    return arb(0).max(-epsilon.expm1())

"""Several bounds on one curve from above, and one from below: the least of the first.

Theorem: Where several profiles bound the divergence of a mechanism on all neighbours from above, at every epsilon the least of them does.
What bounds it from below is left as it is.

Checked:
- all curves are of this mechanism

Source: docs/theory/curves.md#least-curve
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Curve, Pair, extreme, symmetric
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.errors import CertificateError, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.language.rationals import to_whole

NAME: Final = "least-curve"
ASSUMED: Final = ()


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run. premises: its curves. parameters: "below", the number of the one whose lower pair it has, if any.

    Raises CertificateError.
    """
    require(bool(premises), CertificateError(f"{NAME}: it wants a premise."))
    curves = curves_of(premises, [run] * len(premises), NAME)
    below = parameters.get("below")
    lowest = _least([curve.upper for curve in curves if curve.upper is not None])
    rules = tuple(dict.fromkeys((NAME, *(rule for curve in curves for rule in curve.rules))))
    assumed = tuple(dict.fromkeys(line for curve in curves if curve.upper is not None for line in curve.assumed))
    if below is None:
        return Curve(lowest, None, rules, assumed)
    lower = curves[to_whole(below, "below", NAME, 0, len(curves) - 1)]
    return Curve(lowest, lower.lower, rules, assumed, (*lower.assumed, *lower.below))


def _least(pairs: Sequence[Pair]) -> Pair | None:
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    forward = extreme([pair.forward for pair in pairs], arb.min)
    same = all(pair.forward is pair.backward for pair in pairs)
    return symmetric(forward) if same else Pair(forward, extreme([pair.backward for pair in pairs], arb.min))

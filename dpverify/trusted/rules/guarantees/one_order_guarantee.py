"""A selection with a guarantee for one order of two neighbours alone, of which only its pure epsilon is used.

Theorem: If P(S) <= e^eps0 Q(S) for every S, in this order of two neighbours, then P(S) - e^eps Q(S) <= 1 - e^(eps - eps0) for every eps <=
eps0, and at most 0 above; no less holds of all such pairs.

Checked:
- the pure epsilon in this order, by a rule about the selection

Source: docs/theory/composition.md#one-order-guarantee
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.facts.premises import bound_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.model import ONE_WAY
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.parts.runs import Run, leaf

NAME: Final = "one-order-guarantee"
ASSUMED: Final = ()


def infer(run: Run, _: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run, in the one order, from above. Raises Rejected, CertificateError."""
    asked = leaf(run)
    if len(premises) != 1:
        raise CertificateError(f"{NAME}: it wants one premise.")
    if getattr(asked.mechanism, "neighbours", "") not in ONE_WAY:
        raise Rejected(NAME, "the neighbours", "they are not in one order alone")
    found = bound_of(premises[0], asked, "upper", NAME)
    if isinstance(found.value, Infinite):
        raise Rejected(NAME, "the part", "it has no finite epsilon")
    pure = found.value

    def profile(epsilon: arb) -> arb:
        return (1 - (epsilon - constant(pure)).exp()).max(arb(0))

    above = Curve(symmetric(falling(profile)), None, (NAME, *through_of(premises[0])), (*premises[0].assumed, *found.assumed))
    return settled.single(run, above)

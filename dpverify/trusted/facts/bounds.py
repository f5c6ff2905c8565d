"""What a rule returns, and the readers of evidence that all rules share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Literal

from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.language.model import exact_fraction

Side = Literal["upper", "lower"]
Quantity = Literal["pure", "epsilon", "delta"]

MAX_EXPONENT: Final = 1_000_000
"""Greatest power of two in the dyadic rationals of evidence."""


@dataclass(frozen=True, slots=True)
class Infinite:
    """The bound that no finite epsilon meets."""


INFINITE = Infinite()


@dataclass(frozen=True, slots=True)
class Bound:
    """What a rule has proved of the tight epsilon, or of the tight delta.

    side "upper": tight epsilon <= value. side "lower": tight epsilon >= value (for every parameter of the
    claim's domains unless `at` fixes them). value: an exact closed form, a dyadic rational, or INFINITE.
    quantity "pure": the tight epsilon at delta = 0; "epsilon": the one at the claimed delta; "delta": the tight delta
    at the claimed epsilon.
    witness: for a lower bound the pair and the event S with P(S) and Q(S) enclosed, for readers.
    at: exact values of the parameters for which a lower bound of an all-parameter claim holds.
    assumed: hypotheses beyond the rule's ASSUMED that this use of it rests on.
    also: further facts worth showing (a general bound beside the exact value), text to text.
    through: the names of the curve rules that it rests on.
    """

    side: Side
    value: Expr | Infinite
    witness: Mapping[str, Any] | None = None
    at: Mapping[str, Expr] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    quantity: Quantity = "pure"
    through: tuple[str, ...] = ()


def read_fraction(evidence: Mapping[str, Any], key: str, rule: str) -> Fraction:
    """The exact rational under `key`, written as an integer, a fraction "a/b", or a dyadic "m*2^e"."""
    if key not in evidence:
        raise CertificateError(f"{rule}: the evidence has no {key!r}.")
    return to_fraction(evidence[key], rule)


def to_fraction(text: Any, rule: str) -> Fraction:
    """An exact rational from its text in evidence."""
    try:
        if isinstance(text, int) and not isinstance(text, bool):
            return Fraction(text)
        mantissa, mark, exponent = str(text).partition("*2^")
        if not mark:
            return exact_fraction(str(text))
        shift = int(exponent)
        if abs(shift) > MAX_EXPONENT:
            raise Rejected(rule, text, "an exponent beyond a million")
        return int(mantissa) * Fraction(2) ** shift
    except (ValueError, ZeroDivisionError) as error:
        raise CertificateError(f"{rule}: {text!r} is not an exact rational.") from error

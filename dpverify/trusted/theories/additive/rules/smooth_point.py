"""Noise whose scale depends on the data: a lower bound on the loss from two neighbours and an interval of outputs.

Theorem: Where the density is f on the neighbour of the smaller scale and e^-t f(e^-t (y - u)) on the other, |u| <= D and 0 <= t <= b, the
tight epsilon is at least the log-ratio of the two, in either order, on an interval of outputs; and it is infinite where the log-ratio
grows without bound as outputs do: a tail that is lighter than a power of the output is not hidden behind a change of scale.

Checked:
- the density is positive on the whole line, and integrable
- the answer is within the sensitivity, the change of scale within its bound
- the log-ratio, enclosed on the interval
- where outputs go to infinity instead: the log-ratio grows without bound

Source: docs/theory/additive.md#smooth-point
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import exact, rational, value
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, call, format_expr, mul, neg, sub, substitute
from dpverify.trusted.kernel.model import Claim, Radial
from dpverify.trusted.language.rationals import to_constant, to_fraction
from dpverify.trusted.numbers.quadrature import normaliser
from dpverify.trusted.theories.additive.smooth import Y, everywhere, parts
from dpverify.trusted.theories.finite.rules.kernel_point import ends, grows

NAME: Final = "smooth-point"
ASSUMED: Final = ("the sampler is ideal",)

_BITS: Final = 64
"""Of the integral of the density, for readers."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound of the evidence. Raises Rejected, CertificateError.

    evidence: "turned" and "moved", constants, for t and u; "first", which scale the first of the two has, "smaller" or "greater"; "y", the
    ends of an interval of outputs, and "event", those of one whose probabilities are shown; or "beyond", 1 or -1, the side on which outputs
    go to infinity; "normaliser", as in `integrable`.
    """
    mechanism, most = parts(claim, NAME)
    turned, moved = (to_constant(evidence.get(key), key, NAME) for key in ("turned", "moved"))
    for low, key, x, high in ((ZERO, "turned", turned, mechanism.scale_bound), (neg(most), "moved", moved, most)):
        require(certainly_le(low, x) and certainly_le(x, high), Rejected(NAME, key, "it is not certainly within its bound"))
    noise, h, assumed = everywhere(claim, evidence.get("normaliser"), NAME)
    both = substitute(h, {"z": Y}), add(turned, substitute(h, {"z": mul(call("exp", neg(turned)), sub(Y, moved))}))
    certify(evidence.get("first") in ("smaller", "greater"), f"{NAME}: 'first' is not the smaller or the greater scale.")
    first, other = both if (smaller := evidence["first"] == "smaller") else both[::-1]
    pair = {"says": "smaller-scale-first" if smaller else "greater-scale-first", "turned": format_expr(turned), "moved": format_expr(moved)}
    if "beyond" in evidence:
        side = to_fraction(evidence["beyond"], NAME)
        require(abs(side) == 1, Rejected(NAME, "beyond", "it is no side"))
        away = {"y": mul(Num(side), Y)}
        p, q = (call("exp", neg(substitute(one, away))) for one in (first, other))
        require(grows(p, q), Rejected(NAME, "beyond", "the loss does not certainly grow without bound there"))
        event = {"says": "far-out", "side": "greater" if side > 0 else "less"}
        return Bound("lower", INFINITE, witness={"pair": pair, "event": event, "loss": "unbounded"}, assumed=assumed)
    (start, stop), (left, right) = ([to_fraction(end, NAME) for end in evidence[key]] for key in ("y", "event"))
    require(start < stop and left < right, Rejected(NAME, "y", "an interval holds no output but one, which has probability 0"))
    loss = _on(other, start, stop) - _on(first, start, stop)
    require(loss.is_finite(), Rejected(NAME, "y", "the log-ratio has no finite enclosure there"))
    length = rational(right - left) / (normaliser(noise, _BITS) * (2 if isinstance(noise, Radial) else 1))  # that is of half of the line
    masses = {key: ends((-_on(one, left, right)).exp() * length) for key, one in (("P", first), ("Q", other))}
    witness = {"pair": pair, "event": f"[{left}, {right}]", **masses}
    return Bound("lower", Num(max(exact(loss.lower()), Fraction(0))), witness=witness, assumed=assumed)


def _on(h: Expr, low: Fraction, high: Fraction) -> arb:
    """An expression in y on an interval."""
    return value(h, {"y": rational(low).union(rational(high))})

"""One-parameter kernels: a lower bound on the loss from two inputs and an interval of outputs.

Theorem: An interval S of outputs, on which p(y; theta) is at least a and p(y; theta') at most b, bounds the tight epsilon below by
log(a/b), and where the two densities are continuous on S, by their log-ratio at every point of S. Where p(y; theta') vanishes on S and p(y;
theta) does not, it is infinite; and where the log-ratio grows without bound as the output does.

Checked:
- the density is non-negative and integrates to 1 for every input, where no assumption says otherwise
- both inputs are in the input interval, at most the sensitivity apart
- S is an interval of the output
- the densities are enclosed on S, and continuous there for a bound at a point
- where outputs go to infinity instead: both densities are positive, and the log-ratio grows without bound

Source: docs/theory/finite.md#kernel-point
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, exact, hull, value
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, Sym, format_expr, mul, sub, substitute
from dpverify.trusted.kernel.model import Claim, Kernel
from dpverify.trusted.kernel.signs import POSITIVE
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import to_constant, to_fraction
from dpverify.trusted.theories.finite.densities import has_floor, resolve
from dpverify.trusted.theories.finite.normaliser import check_normaliser, is_finite

NAME: Final = "kernel-point"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """tight >= the log-ratio of "theta" to "other" on the outputs "event" = [low, high], or at the output "y" of it.

    Or "beyond", 1 or -1, where the ratio grows without bound as outputs go to infinity on that side. Everything else in the evidence is
    a constant expression, but "normaliser", as in `normaliser`. Raises Rejected.
    """
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(NAME, "mechanism", "only a density in y and theta is a kernel")
    theta, other = (to_constant(evidence.get(key), key, NAME) for key in ("theta", "other"))
    check_inputs(claim, kernel, theta, other)
    if "beyond" in evidence:
        return _beyond(claim, kernel, (theta, other), evidence)
    low, high = (to_constant(text, "event", NAME) for text in evidence["event"])
    for name, left, right in (("event", low, high), ("event", kernel.output[0], low), ("event", high, kernel.output[1])):
        if left is not None and right is not None and not compare.certainly_le(left, right):
            raise Rejected(NAME, name, f"{format_expr(left)} is not certainly at most {format_expr(right)}")
    require(compare.certainly_lt(low, high), Rejected(NAME, "event", "the interval holds no output but one"))
    assumed = check_normaliser(claim, evidence.get("normaliser"))
    densities = [substitute(kernel.density, {"theta": x}) for x in (theta, other)]
    outputs = {"y": hull(constant(low), constant(high))}
    p, q = (value(density, outputs) for density in densities)
    if not (p > 0 and q >= 0 and p.is_finite() and q.is_finite()):
        raise Rejected(NAME, "event", "the densities have no finite enclosure there, p above 0; take a smaller interval")
    width = constant(sub(high, low))
    witness = {
        "pair": [format_expr(theta), format_expr(other)],
        "event": f"[{format_expr(low)}, {format_expr(high)}]",
        "P": ends(p * width),
        "Q": ends(q * width),
    }
    if q == 0:
        return Bound("lower", INFINITE, witness=witness, assumed=assumed)
    if "y" in evidence:
        bound = _at_point(densities, outputs, to_constant(evidence["y"], "y", NAME), low, high)
    else:
        bound = Num(exact((p.lower() / q.upper()).log().lower()))
    return Bound("lower", bound, witness=witness, assumed=assumed)


def _beyond(claim: Claim, kernel: Kernel, inputs: tuple[Expr, Expr], evidence: Mapping[str, Any]) -> Bound:
    """The bound that no epsilon holds: on outputs without end the loss of two inputs grows without bound."""
    side = to_fraction(evidence["beyond"], NAME)
    require(abs(side) == 1 and kernel.output[side > 0] is None, Rejected(NAME, "event", "the outputs have an end there"))
    p, q = (substitute(kernel.density, {"theta": x, "y": mul(Num(side), Sym("y"))}) for x in inputs)
    require(grows(p, q), Rejected(NAME, "event", "the loss does not certainly grow without bound there"))
    event = {"says": "far-out", "side": "greater" if side > 0 else "less"}
    witness = {"pair": list(map(format_expr, inputs)), "event": event, "loss": "unbounded"}
    return Bound("lower", INFINITE, witness=witness, assumed=check_normaliser(claim, evidence.get("normaliser")))


def grows(p: Expr, q: Expr) -> bool:
    """Whether two densities in y are certainly positive for y > 0, and the loss of the one to the other grows without bound."""
    from dpverify.trusted.numbers.expansion import expanded
    from dpverify.trusted.shapes.convexity import Shapes
    from dpverify.trusted.shapes.limits import log_slope, outgrows, slope_limit

    shapes, loss = Shapes("y", True, {}), expanded(sub(neg_log(q), neg_log(p)))
    limits = [limit for limit in (slope_limit(shapes, loss), log_slope(shapes, loss)) if limit is not None]
    return shapes.value(p) == shapes.value(q) == POSITIVE and (outgrows(shapes, loss) or any(map(shapes.positive, limits)))


def check_inputs(claim: Claim, kernel: Kernel, theta: Expr, other: Expr) -> None:
    """Raises Rejected unless two inputs are in the input interval, at most the sensitivity apart."""
    for x in (theta, other):
        if not compare.certainly_le(kernel.input[0], x) or not compare.certainly_le(x, kernel.input[1]):
            raise Rejected(NAME, "inputs", f"{format_expr(x)} is not certainly in the input interval")
    if claim.sensitivity is not None:
        for a, b in ((theta, other), (other, theta)):
            if not compare.certainly_le(sub(a, b), claim.sensitivity):
                raise Rejected(NAME, "inputs", f"they are not certainly within the sensitivity {format_expr(claim.sensitivity)}")


def _at_point(densities: list[Expr], outputs: Mapping[str, arb], y: Expr, low: Expr, high: Expr) -> Expr:
    """The log-ratio at a point of the interval, as an exact expression."""
    from dpverify.trusted.geometry.polytopes import box

    require(compare.certainly_le(low, y) and compare.certainly_le(y, high), Rejected(NAME, "y", "the point is not certainly in the event"))
    near = box([(exact(outputs["y"].lower()), exact(outputs["y"].upper())), *((Fraction(0), Fraction(0)),) * 2])
    smooth = [resolve(density, near) for density in densities]
    if any(has_floor(density) or not is_finite(density, outputs) for density in smooth):
        raise Rejected(NAME, "event", "a density may jump there; take an interval on one side of the jump")
    p, q = (substitute(neg_log(density), {"y": y}) for density in smooth)
    ratio = sub(q, p)
    require(constant(ratio).is_finite(), Rejected(NAME, "y", "the log-ratio has no finite value there"))
    return ratio


def ends(ball: arb) -> list[str]:
    """The ends of a ball, exactly."""
    return [str(exact(end)) for end in (ball.lower(), ball.upper())]

"""Whether the normaliser of a mixture's noise depends on the mixing variable (theory#scale-family).

A mixture draws v from the mixing law and then noise of density profile(||z||, v)/Z(v), Z(v) the integral of profile(||z||, v) over R^d.
What is written, profile times mixing, is the density of that up to a constant factor where Z is free of v, and another law elsewhere.

With s(v) > 0 and p(s(v) t, v) s(v)^d = exp(-A(v)) g(t) for all t and v, Z(v) is exp(-A(v)) times the integral of g(t) t^(d-1) over t > 0,
times the surface of the unit ball: free of v where A is.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Add, Expr, Num, Sym, add, call, format_expr, mul, sub, substitute, symbols
from dpverify.trusted.kernel.model import Domain, Mixture
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.shapes.convexity import Shapes

WHERE = "the conditional normaliser"


def support(noise: Mixture, rule: str) -> tuple[Fraction, Fraction | None]:
    """The ends of v. Raises Rejected where they are no rationals, the lower one at least 0, that rise."""
    lower, upper = noise.support
    if not isinstance(lower, Num) or lower.value < 0 or not (upper is None or isinstance(upper, Num)):
        raise Rejected(rule, "the support", "its ends must be rational, the lower one at least 0")
    return lower.value, None if upper is None else upper.value


def exponent_of_normaliser(noise: Mixture, scale: Expr, domains: Mapping[str, Domain]) -> Expr | None:
    """A(v) with Z(v) proportional to exp(-A(v)), by the scale s(v); None where the conditionals are not certainly a scale family in it.

    domains: of all symbols in the mixture but r, v among them.
    """
    positive = Domain(Fraction(0))
    in_r, in_v = Shapes("r", True, domains), Shapes("v", True, {**domains, "r": positive})
    if not symbols(scale) <= domains.keys() or not in_r.positive(scale):
        return None
    moved = substitute(neg_log(noise.profile), {"r": mul(scale, Sym("r"))})
    total = in_v.tidy(in_r.tidy(sub(moved, mul(noise.dimension, call("log", scale)))))
    terms = total.args if isinstance(total, Add) else (total,)
    if any({"r", "v"} <= symbols(term) for term in terms):
        return None
    return add(*(term for term in terms if "v" in symbols(term)))


def require_free_of_v(noise: Mixture, scale: Expr, domains: Mapping[str, Domain], rule: str) -> None:
    """Raises Rejected unless the integral of profile(||z||, v) over R^d is certainly the same for all v, by the scale s(v)."""
    lower, upper = support(noise, rule)
    known = {**domains, "v": Domain(lower, upper)}
    exponent = exponent_of_normaliser(noise, scale, known)
    if exponent is None:
        raise Rejected(rule, WHERE, f"the conditionals are not certainly a scale family in s(v) = {format_expr(scale)}")
    if exponent == ZERO:
        return
    one = Num(lower + 1 if upper is None else (lower + upper) / 2)
    if not certainly_equal(exponent, substitute(exponent, {"v": one}), known):
        raise Rejected(rule, WHERE, f"it depends on v, as exp({format_expr(sub(ZERO, exponent))}); write it out in the profile")

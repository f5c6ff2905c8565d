"""Noise of density (A0 + A1 r^2)^-B: multivariate t, Cauchy and Pearson VII, by one polynomial identity.

With nu = A0/A1, D the shift, s = sqrt(D^2 + 4 nu), for every c:

    (s + D)(nu + (c - D)^2) - (s - D)(nu + c^2) = 2 D (c - (s + D)/2)^2 - (D/2)(s^2 - D^2 - 4 nu),

and the last term is 0. So (nu + c^2)/(nu + (c - D)^2) <= (s + D)/(s - D) = exp(2 asinh(D/(2 sqrt nu))), with equality at
c = (s + D)/2 >= D. The density falls in r, hence (theory#radial-supremum) the tight epsilon is 2 B asinh(D/(2 sqrt nu)), concave in D.

Theorem: Noise of density (A0 + A1 ||y - q||^2)^-B has tight epsilon exactly 2 B asinh(D/(2 sqrt(A0/A1))) in every norm, D the sensitivity
over the scale, for all parameters with A0, A1, B > 0 and 2 B above the dimension.

Checked:
- h is a sum of constants and B_i log(A0_i + A1_i r^2) with one ratio A0_i/A1_i
- the ratio A0/A1 and the sum B are positive
- the density is integrable: 2 B is above the dimension
- the polynomial identity, exactly
- the scale is positive and the sensitivity at least 0

Source: docs/theory/additive.md#power-identity, Reimherr & Awan 2019, Example 6
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flint import fmpq_mpoly_ctx

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Pow, Sym, add, call, div, mul, num, rebuild, sqrt, sub, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.shapes.convexity import outside
from dpverify.trusted.theories.additive.additive import Additive, additive

NAME: Final = "power-identity"
ASSUMED: Final = ("the sampler is ideal",)

_SQUARE: Final = "r^2"  # no claim can name a symbol so


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """2 B asinh(D/(2 sqrt(A0/A1))), as the bound that "side" asks for; a lower one may fix parameters under "at"."""
    noise = additive(claim, evidence, NAME)
    _require(noise.side == "upper" or not noise.whole, "the integers", "the maximiser (s + D)/2 is not certainly an integer")
    exponent, ratio = power_of(noise)
    _require(identity_holds(), "the identity", "it does not hold")

    def loss(moved: Expr) -> Expr:
        return mul(num(2), exponent, call("asinh", div(moved, mul(num(2), sqrt(ratio)))))

    return noise.bound(noise.concave_total(loss), "beyond-the-first-answer")


@remembered(1)
def identity_holds() -> bool:
    """The identity of the module's docstring, as polynomials with rational coefficients."""
    c, d, nu, s = fmpq_mpoly_ctx.get(["c", "d", "nu", "s"], "lex").gens()
    left = (s + d) * (nu + (c - d) ** 2) - (s - d) * (nu + c**2)
    right = 2 * d * (c - (s + d) / 2) ** 2 - d / 2 * (s**2 - d**2 - 4 * nu)
    return bool(left == right)


def power_of(noise: Additive) -> tuple[Expr, Expr]:
    """(B, A0/A1) of the exponent. Raises Rejected where h is of another form, or is not certainly that of a density."""
    name = noise.shapes.name
    total = add(noise.h)
    terms = [outside(term, name) for term in (total.args if isinstance(total, Add) else (total,)) if name in symbols(term)]
    logarithms = [inner for inner, _ in terms if isinstance(inner, Call) and inner.name == "log"]
    _require(len(logarithms) == len(terms), "h", "a term is not a constant times a logarithm")
    ratios = [_ratio(logarithm.args[0], name) for logarithm in logarithms]
    _require(bool(ratios), "h", "it has no logarithm of A0 + A1 r^2")
    one = all(certainly_equal(ratios[0], other, noise.shapes.domains) for other in ratios[1:])
    _require(one, "h", "its logarithms do not have one ratio A0/A1")
    exponent, ratio = add(*(factor for _, factor in terms)), ratios[0]
    _require(noise.shapes.positive(ratio), "A0/A1", "it is not certainly positive")
    _require(noise.shapes.positive(exponent), "B", "it is not certainly positive")
    beyond = noise.shapes.positive(sub(mul(num(2), exponent), noise.dimension))
    _require(beyond, "infinity", "2 B is not certainly above the dimension, so the density is not certainly integrable")
    return exponent, ratio


def _ratio(quadratic: Expr, name: str) -> Expr:
    slope, rest = linear_part(_in_square(quadratic, name), _SQUARE)
    _require(not {name, _SQUARE} & (symbols(slope) | symbols(rest)), "h", "a logarithm is not of the form log(A0 + A1 r^2)")
    return div(rest, slope)


def _in_square(expr: Expr, name: str) -> Expr:
    """The tree with r^2 written as one symbol."""
    return Sym(_SQUARE) if expr == Pow(Sym(name), num(2)) else rebuild(expr, lambda part: _in_square(part, name))


def _require(holds: bool, where: str, why: str) -> None:
    require(holds, Rejected(NAME, where, why))

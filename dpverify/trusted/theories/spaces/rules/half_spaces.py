"""Lines of true answers: databases beside a point of one err towards it, on both sides (theory#half-spaces).

Theorem: If true answers fill a line of a length above 2 n gamma, n >= 1, along which a function with the Lipschitz constant 1 rises as
fast, and there is a database for each answer, at distances in proportion, a mechanism that answers within gamma but with probability beta
is epsilon-private only where epsilon >= (C/gamma) log(n/((n + 1) beta)); on an endless line epsilon >= (C/gamma) log(1/beta), which Laplace
noise attains. On the integers 2 u^(m + 1) <= beta (1 + u), u = e^(-epsilon/C) and m the whole part of gamma, which geometric noise attains.

Checked:
- there is a database for each answer, and the answers have a segment of that length
- on the integers, that the inequality fails at the epsilon that is told

Source: docs/theory/spaces.md#half-spaces
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.geometry.lengths import norm_value
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, format_expr, mul, num, power, substitute
from dpverify.trusted.kernel.model import Claim, Shape
from dpverify.trusted.language.rationals import read_fraction, read_whole
from dpverify.trusted.theories.spaces.nets import MOST
from dpverify.trusted.theories.spaces.rules.noise_near import whole
from dpverify.trusted.theories.spaces.shapes import asked

NAME: Final = "half-spaces"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A lower bound, for all parameters or at those that "at" fixes. Raises Rejected.

    evidence: "steps", n, in a space where lines have ends; "axis", the number of a side of a box or of an axis less 1, and of a hull that
    of a corner, with "corner", another; of a product "part" and "inner", what is told of that part. On the integers "ratio", a rational u
    at which the inequality fails.
    """
    claim, at = fixed(claim, evidence, NAME)
    domains = dict(claim.domains)
    space, near, beta = asked(claim, NAME, one=True)
    if space.databases != "answers":
        raise Rejected(NAME, "databases", "only where there is one for each answer it is known how far apart those of a line are")
    says = {"pair": {"says": "databases-on-a-line"}}
    if space.shape.kind == "integers":
        return Bound("lower", mul(space.lipschitz, _on_integers(near, beta, evidence)), witness=says, at=at)
    length, share = _length(space.shape, evidence), ONE
    if length is not None:
        steps = read_whole(evidence, "steps", NAME, 1)
        if not certainly_lt(mul(num(2 * steps), near), length, domains):
            raise Rejected(NAME, "steps", f"{steps} steps of twice {format_expr(near)} are not certainly shorter than a line of the space")
        share = Num(Fraction(steps, steps + 1))
    value = mul(space.lipschitz, div(call("log", div(share, beta)), near))
    if not certainly_le(ZERO, value, domains):
        raise Rejected(NAME, "beta", f"{format_expr(beta)} is not certainly so small that anything is excluded")
    return Bound("lower", value, witness=says, at=at)


def _on_integers(near: Expr, beta: Expr, evidence: Mapping[str, Any]) -> Expr:
    """log(1/u) for a ratio u at which noise would err too often, so that all greater ones do."""
    u = Num(read_fraction(evidence, "ratio", NAME))
    require(0 < u.value <= 1, Rejected(NAME, "ratio", f"{format_expr(u)} is not above 0 and at most 1"))
    if not certainly_lt(mul(beta, add(ONE, u)), mul(num(2), power(u, num(whole(near) + 1)))):
        raise Rejected(NAME, "ratio", f"the probability at {format_expr(u)} is not certainly above beta")
    return call("log", Num(1 / u.value))


def _length(shape: Shape, evidence: Mapping[str, Any]) -> Expr | None:
    """The length of a segment in the space, perhaps without its ends; None for a line without ends."""
    kind, numbers = shape.kind, shape.numbers
    if kind == "real":
        return None
    if kind in ("ball", "hoelder"):
        return mul(num(2), numbers[0] if kind == "ball" else numbers[3])
    if kind == "box":
        axis = read_whole(evidence, "axis", NAME, 0, len(numbers) - 1)
        return mul(numbers[axis], norm_value(shape.norm, tuple(Fraction(int(i == axis)) for i in range(len(numbers)))))
    if kind == "ellipsoid":
        return mul(num(2), call("abs", substitute(numbers[0], {"k": num(read_whole(evidence, "axis", NAME, 0, MOST - 1) + 1)})))
    if kind == "hull":
        one, other = (shape.matrix[read_whole(evidence, key, NAME, 0, len(shape.matrix) - 1)] for key in ("corner", "axis"))
        return norm_value(shape.norm, tuple(a - b for a, b in zip(one, other, strict=True)))
    if kind == "product":
        inner = evidence.get("inner")
        part = shape.parts[read_whole(evidence, "part", NAME, 0, len(shape.parts) - 1)]
        return _length(part, inner if isinstance(inner, Mapping) else {})
    raise Rejected(NAME, "the space", f"a space of the kind {kind} has no lines that are known")

"""Order and equality of closed forms: of constants exactly, of expressions in parameters over domains.

Every answer is one-sided: True is a proof, False only says that none was found. Nothing here is a tolerance. What balls at the working
precision decide of constants, and signs of parts decide of other expressions, is decided here; constants may also be 0 by their forms,
and signs of expressions in parameters may stand shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flint import ctx

from dpverify.trusted.kernel import shown
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, sub, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import ANY, AT_LEAST_ZERO, AT_MOST_ZERO, NULL, POSITIVE, Sign, sharpened, sign_of_ball

NO_DOMAINS: Final[Mapping[str, Domain]] = {}


def sign(expr: Expr, wanted: Sign = ANY) -> int | None:
    """The sign of a constant, -1, 0 or 1, proved; None where it is undecided, not wanted, or the constant undefined."""
    ball = sharpened(lambda: constant(expr))
    found = sign_of_ball(ball)
    if found is None and 0 in wanted and ball.is_finite():
        from dpverify.trusted.order.forms import vanishes

        return 0 if vanishes(expr) else None
    return found


def certainly_le(a: Expr, b: Expr, domains: Mapping[str, Domain] = NO_DOMAINS) -> bool:
    """True only if a <= b is proved, for all values of the parameters in `domains`; symbols without a domain are never proved."""
    return _holds(a, b, domains, AT_LEAST_ZERO)


def certainly_lt(a: Expr, b: Expr, domains: Mapping[str, Domain] = NO_DOMAINS) -> bool:
    """True only if a < b is proved, for all values of the parameters in `domains`."""
    return _holds(a, b, domains, POSITIVE)


def certainly_equal(a: Expr, b: Expr, domains: Mapping[str, Domain] = NO_DOMAINS) -> bool:
    """True only if a and b are proved to be equal, for all values of the parameters in `domains`."""
    return _holds(a, b, domains, NULL)


def _holds(a: Expr, b: Expr, domains: Mapping[str, Domain], wanted: Sign) -> bool:
    """Whether b - a is proved to have a sign in `wanted`."""
    names = symbols(a) | symbols(b)
    if not names <= domains.keys():
        return False
    ranges = tuple((name, domains[name]) for name in sorted(names))
    if _decided(a, b, ranges, wanted, ctx.prec):
        return True
    return bool(names) and shown.table().seek(a, b, dict(ranges), wanted) and _decided(a, b, ranges, wanted, ctx.prec)


@remembered(4096)
def _decided(a: Expr, b: Expr, ranges: tuple[tuple[str, Domain], ...], wanted: Sign, prec: int) -> bool:
    """The same, remembered: bounds are compared with each other and with what is claimed, over and over."""
    try:
        if not ranges:
            # a and b by themselves: their difference may lose a term without a value
            return _defined(a) and _defined(b) and sign(sub(b, a), wanted) in wanted
        domains = dict(ranges)
        from dpverify.trusted.order.local import sign_of_difference

        signs = sign_of_difference(a, b, domains)
    except DpverifyError:
        return False
    return signs <= wanted


def _defined(expr: Expr) -> bool:
    return bool(sharpened(lambda: constant(expr)).is_finite())


def sign_over(expr: Expr, domains: Mapping[str, Domain]) -> Sign:
    """The signs that an expression may have over the domains of its parameters, as far as they are proved."""
    found = ANY
    for side in (AT_LEAST_ZERO, AT_MOST_ZERO):
        if _holds(ZERO, expr, domains, side):
            found &= side
    strict = found - NULL
    return strict if len(found) == 2 and _holds(ZERO, expr, domains, strict) else found

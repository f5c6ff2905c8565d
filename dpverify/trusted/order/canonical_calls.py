"""One way to write the least, the greatest, absolute values and exponentials of constants."""

from __future__ import annotations

from collections.abc import Callable

from dpverify.trusted.language.expr import Add, Call, Expr, Mul, Num, mul, neg, num, power, sub
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.signs import sign_of_ball


def of_call(done: Call, canonical: Callable[[Expr], Expr]) -> Expr:
    """A function of constants that are written in one way. canonical: of any constant."""
    if done.name != "exp":
        return _extreme(done)
    terms = done.args[0].args if isinstance(done.args[0], Add) else done.args
    powers = [_exponential(term) for term in terms]
    return done if None in powers else canonical(mul(*(factor for factor in powers if factor is not None)))


def _extreme(expr: Call) -> Expr:
    """The least or greatest of constants, where balls tell which it is."""
    args, wanted = (expr.args, -1 if expr.name == "min" else 1) if expr.name != "abs" else ((expr.args[0], neg(expr.args[0])), 1)
    for best in args:
        if all(other == best or sign_of_ball(constant(sub(best, other))) == wanted for other in args):
            return best
    return expr


def _exponential(term: Expr) -> Expr | None:
    """exp(c log(n)) as n^c; None for another term."""
    factor, rest = (term.args[0], term.args[1]) if isinstance(term, Mul) and len(term.args) == 2 else (num(1), term)
    if isinstance(factor, Num) and isinstance(rest, Call) and rest.name == "log":
        inside = rest.args[0]
        return power(inside, factor) if isinstance(inside, Num) and inside.value > 0 else None
    return None

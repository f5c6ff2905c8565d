"""Comparisons of expressions in parameters: as they stand, or on parts of a domain, or with min, max and abs replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

from dpverify.trusted.language.errors import DpverifyError
from dpverify.trusted.language.expr import Call, Expr, Mul, Num, Sym, children, mul, neg, rebuild, sub, substitute, symbols
from dpverify.trusted.language.model import Domain
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.compare import sign
from dpverify.trusted.order.expressions import ratio
from dpverify.trusted.order.field import Effort, Field
from dpverify.trusted.order.signs import AT_LEAST_ZERO, AT_MOST_ZERO, NULL, Sign

MAX_KINKS: Final = 5
"""How many times a statement is taken apart into cases."""
MOST_VALUES: Final = 24
"""The most integers of a domain that are looked at one by one."""


def decided(a: Expr, b: Expr, domains: Mapping[str, Domain], wanted: Sign) -> bool:
    """Whether b - a is proved to have a sign in `wanted`."""
    return _by_cases(a, b, domains, wanted, Effort())


def _by_cases(a: Expr, b: Expr, domains: Mapping[str, Domain], wanted: Sign, effort: Effort, depth: int = 0) -> bool:
    """The statement as it stands, or on parts of a domain, or with min, max and abs replaced by what they may be."""
    if depth > MAX_KINKS:
        return False

    def again(left: Expr, right: Expr) -> bool:
        return _by_cases(left, right, domains, wanted, effort, depth + 1)

    kinks = [*_kinks(a), *_kinks(b)]
    choices: list[tuple[Expr, Expr]] = []
    try:
        # Both sides have a value at all parameter values; what follows may then leave parts of them out.
        field = Field(domains, effort)
        left, right = ratio(field, a), ratio(field, b)
        sides = [*((a, part) for part in _parts(b, "max", field)), *((part, b) for part in _parts(a, "min", field))]
        if wanted != NULL and any(again(*each) for each in sides):
            return True
        difference = field.subtract(right, left)
        if field.is_zero(difference.num):
            return 0 in wanted
        if wanted != NULL and (field.ratio_sign(difference) <= wanted or _above_its_ends(sub(b, a), domains, wanted, field)):
            return True
        for kink in kinks:
            found = _choices(kink, field)
            if len(found) > 1:
                choices = [(_exchange(a, kink, choice), _exchange(b, kink, choice)) for choice in found]
                break
    except (DpverifyError, RecursionError):
        pass
    for kink in kinks:
        inside = kink.args[0]
        if kink.name == "abs" and isinstance(inside, Sym) and _straddles(domains[inside.name]):
            whole = domains[inside.name]
            halves = (replace(whole, lower=Fraction(0), lower_open=False), replace(whole, upper=Fraction(0), upper_open=False))
            return all(_by_cases(a, b, {**domains, inside.name: half}, wanted, effort, depth + 1) for half in halves)
    if choices:
        return all(again(*choice) for choice in choices)
    for name in sorted(symbols(a) | symbols(b)):
        if values := _values(domains[name]):
            return all(again(*(substitute(side, {name: Num(value)}) for side in (a, b))) for value in values)
    return False


def _above_its_ends(expr: Expr, domains: Mapping[str, Domain], wanted: Sign, field: Field) -> bool:
    """Whether a smooth function of one parameter is concave on an interval and has a wanted sign at both ends: it is no less between."""
    names = symbols(expr)
    ends = {end for name in names for end in (domains[name].lower, domains[name].upper)}
    terms = set(_terms(expr))
    smooth = all(not isinstance(term, Call) or term.name in ("exp", "log") for term in terms)
    if len(names) != 1 or None in ends or not smooth or not wanted <= AT_LEAST_ZERO:
        return False
    (name,) = names
    fixed: list[dict[str, Expr]] = [{name: Num(end)} for end in ends if end is not None]
    if any(not constant(substitute(term, at)).is_finite() for at in fixed for term in terms):
        return False  # it may not be continuous there
    from dpverify.trusted.language.derivatives import derivative

    bend = ratio(field, derivative(derivative(expr, name), name))
    return field.ratio_sign(bend) <= AT_MOST_ZERO and all(sign(substitute(expr, at)) in wanted for at in fixed)


def _terms(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in children(expr):
        yield from _terms(part)


def _values(d: Domain) -> list[Fraction]:
    """All values of a domain that has few; nothing where it has many."""
    if not d.integer or d.lower is None or d.upper is None or d.upper - d.lower > MOST_VALUES:
        return []
    return [Fraction(n) for n in range(ceil(d.lower), floor(d.upper) + 1) if d.holds(Fraction(n))]


def _parts(expr: Expr, name: str, field: Field) -> tuple[Expr, ...]:
    """Of a "max" expressions that are at most it, of a "min" those that are at least it: of a multiple that is at least 0 likewise."""
    if isinstance(expr, Call) and expr.name == name:
        return expr.args
    if isinstance(expr, Mul):
        for place, kink in enumerate(expr.args):
            if isinstance(kink, Call) and kink.name == name:
                others = mul(*expr.args[:place], *expr.args[place + 1 :])
                if field.ratio_sign(ratio(field, others)) <= AT_LEAST_ZERO:
                    return tuple(mul(others, part) for part in kink.args)
    return ()


def _straddles(d: Domain) -> bool:
    return (d.lower is None or d.lower < 0) and (d.upper is None or d.upper > 0)


def _kinks(expr: Expr) -> Iterator[Call]:
    for part in children(expr):
        yield from _kinks(part)
    if isinstance(expr, Call) and expr.name in ("min", "max", "abs") and symbols(expr):
        yield expr


def _choices(kink: Call, field: Field) -> tuple[Expr, ...]:
    """Expressions one of which the kink equals at every parameter value; a single one where it is decided."""
    if kink.name == "abs":
        signs = field.ratio_sign(ratio(field, kink.args[0]))
        minus = neg(kink.args[0])
        return kink.args if signs <= AT_LEAST_ZERO else (minus,) if signs <= AT_MOST_ZERO else (*kink.args, minus)
    wanted = AT_MOST_ZERO if kink.name == "min" else AT_LEAST_ZERO
    for best in kink.args:
        if all(field.ratio_sign(field.subtract(ratio(field, best), ratio(field, other))) <= wanted for other in kink.args):
            return (best,)
    return kink.args


def _exchange(expr: Expr, old: Expr, new: Expr) -> Expr:
    return new if expr == old else rebuild(expr, lambda part: _exchange(part, old, new))

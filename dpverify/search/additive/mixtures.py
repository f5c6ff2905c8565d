"""The scale s(v) of a mixture's conditionals, and what their normaliser has to say of v."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from dpverify.search.counterexample import find_counterexample
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import (
    ONE,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    call,
    div,
    format_expr,
    mul,
    neg,
    parse,
    power,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import Domain, Mixture
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.noise import weighted
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import scale_family

SCALES: Final = ("v", "1/v", "sqrt(v)", "1/sqrt(v)", "1", "v**2", "1/v**2")


def scales(noise: Mixture, domains: Mapping[str, Domain]) -> Iterator[Expr]:
    """Candidates for s(v): those that a term c(v) r^p of the exponent asks for, then the usual ones."""
    seen = set()
    for scale in (*_of_terms(noise, domains), *map(parse, SCALES)):
        if scale not in seen:
            seen.add(scale)
            yield scale


def _of_terms(noise: Mixture, domains: Mapping[str, Domain]) -> Iterator[Expr]:
    known = {**domains, "v": Domain(Fraction(0))}
    try:
        total = Shapes("r", True, known).tidy(neg_log(noise.profile))
    except DpverifyError:
        return
    for term in total.args if isinstance(total, Add) else (total,):
        factors = term.args if isinstance(term, Mul) else (term,)
        moving = [factor for factor in factors if "r" in symbols(factor)]
        rest = mul(*(factor for factor in factors if factor not in moving and "v" in symbols(factor)))
        if len(moving) != 1 or rest == ONE:
            continue
        base, p = (moving[0].base, moving[0].exponent) if isinstance(moving[0], Pow) else (moving[0], ONE)
        if base == Sym("r") and "v" not in symbols(p):
            yield Shapes("v", True, {**domains, "r": Domain(Fraction(0))}).tidy(power(rest, div(neg(ONE), p)))


def scale_of(noise: Mixture, domains: Mapping[str, Domain]) -> Expr | None:
    """A scale s(v) by which the normaliser is certainly free of v, None where none is found."""
    for scale in scales(noise, domains):
        try:
            scale_family.require_free_of_v(noise, scale, domains, "")
        except (Rejected, Undecided, ExprError):
            continue
        return scale
    return None


def dependence(noise: Mixture, domains: Mapping[str, Domain]) -> str | None:
    """How the normaliser of the conditionals certainly depends on v, for a message; None where it does not, or nothing is certain."""
    if scale_of(noise, domains) is not None:
        return None
    try:
        lower, upper = scale_family.support(noise, "")
    except Rejected:
        return None
    known = {**domains, "v": Domain(lower, upper)}
    for scale in scales(noise, domains):
        try:
            exponent = scale_family.exponent_of_normaliser(noise, scale, known)
        except (Undecided, ExprError):
            continue
        if exponent is not None:
            return _shown(exponent, _middle(lower, upper), known)
    return _measured(noise, lower, upper)


def _shown(exponent: Expr, one: Fraction, known: Mapping[str, Domain]) -> str | None:
    there = substitute(exponent, {"v": Num(one)})
    if find_counterexample(exponent, there, known) is None and find_counterexample(there, exponent, known) is None:
        return None
    text = _as_factor(exponent)
    return f"its integral over the space is a multiple of {text}"


def _as_factor(exponent: Expr) -> str:
    factors = []
    for term in exponent.args if isinstance(exponent, Add) else (exponent,):
        parts = term.args if isinstance(term, Mul) else (term,)
        logs = [part for part in parts if isinstance(part, Call) and part.name == "log"]
        rest = mul(*(part for part in parts if part not in logs))
        factors.append(power(logs[0].args[0], neg(rest)) if len(logs) == 1 else call("exp", neg(term)))
    return format_expr(mul(*factors))


def _measured(noise: Mixture, lower: Fraction, upper: Fraction | None) -> str | None:
    if symbols(noise.profile) - {"r", "v"} or symbols(noise.dimension):
        return None
    first = _middle(lower, upper)
    second = (first + upper) / 2 if upper is not None else 2 * first
    try:
        profiles = [substitute(noise.profile, {"v": Num(v)}) for v in (first, second)]
        one, two = (integral(weighted(profile, noise.dimension), "r", Fraction(0), None) for profile in profiles)
    except (Undecided, ExprError):
        return None
    if not (one < two or one > two):
        return None
    return f"its integral at v = {second} is {(two / one).str(6, radius=False)} times that at v = {first}"


def _middle(lower: Fraction, upper: Fraction | None) -> Fraction:
    return lower + 1 if upper is None else (lower + upper) / 2

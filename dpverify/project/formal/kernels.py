"""Families of densities through specs/formal/replays/replay_kernels.v: Laplace noise that is cut off, and densities between two numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.project.formal.book import Book, Described
from dpverify.project.formal.terms import ATOM, NotReplayedError
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.expr import (
    ONE,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    format_expr,
    mul,
    neg,
    num,
    scaled,
    sub,
    symbols,
)
from dpverify.trusted.kernel.model import Domain, Kernel, Part

Y, THETA = Sym("y"), Sym("theta")
_SAME: Final = "first [ring | solve [field] | field; repeat split; apply Rgt_not_eq; positive]"
"""Two forms of one linear expression are the same: where one is a quotient of another number, `ring` alone does not see it."""


@dataclass(frozen=True, slots=True)
class CutOff:
    """exp(-rate |y - theta|)/(mass (2 - exp(left) - exp(right)))."""

    rate: Expr
    mass: Expr
    exponent: Expr
    left: Expr
    right: Expr


def kernel(book: Book, part: Part, factor: Expr) -> Described:
    """A part that is a family of densities."""
    mechanism = part.mechanism
    assert isinstance(mechanism, Kernel)
    low, high = mechanism.output
    if factor != ONE or low is None or high is None:
        raise NotReplayedError("a family of densities on a part of the line that does not end is not written in Coq yet.")
    first, last = mechanism.input
    distance = sub(last, first) if part.sensitivity is None else part.sensitivity
    terms = book.terms.with_names(y="y", theta="theta")
    used = [mechanism.density, low, high, first, last, distance]
    density = book.define("density", f"fun y theta => {terms.real(mechanism.density)}", [mechanism.density], "R -> R -> R")
    ends = " ".join(terms.real(end, ATOM) for end in (low, high, first, last, distance))
    name = book.define("family", f"family_of_densities {book.applied(density, [mechanism.density])} {ends}", used)
    term, opened = book.applied(name, used), f"unfold {name}."
    found = _cut_off(mechanism, book)
    if found is None:
        return _between(book, mechanism, density, term, opened)
    real = terms.real
    given = f"(f := fun y theta => {real(found.exponent)}) (u := fun theta => {real(found.left)}) (v := fun theta => {real(found.right)})"
    given += f" (b := {real(found.rate)}) (c := {real(found.mass)})"
    forms = (f"- intros y theta. unfold {density}. same.", *[f"- intros. {_SAME}."] * 3)
    if distance == sub(high, low):
        value = mul(found.rate, distance)
        lines = ("- positive.", "- positive.", "- lra.", "- lra.", *forms, "- below.")
        return book.shown(term, value, opened, f"refine (holds_cut_off_any {given} _ _ _ _ _ _ _ _ _).", *lines)
    far, whole = _mass(found.rate, distance, sub(high, low)), sub(ONE, call("exp", neg(mul(found.rate, sub(high, low)))))
    value = add(mul(found.rate, distance), call("log", far), neg(call("log", whole)))
    masses = ["- replace_exponents."] * 2
    lines = ("- positive.", "- positive.", "- lra.", "- lra.", *forms, *masses, "- below.")
    given += f" (massD := {real(far)}) (mass0 := {real(whole)})"
    return book.shown(term, value, opened, f"refine (holds_cut_off {given} _ _ _ _ _ _ _ _ _ _ _).", *lines)


def _mass(rate: Expr, at: Expr, width: Expr) -> Expr:
    """Of cut off Laplace noise round a place, up to a factor."""
    return sub(sub(num(2), call("exp", neg(mul(rate, at)))), call("exp", mul(rate, sub(at, width))))


def _cut_off(mechanism: Kernel, book: Book) -> CutOff | None:
    """The density as Laplace noise that is cut off where its inputs end; None for another."""
    density, (low, high) = mechanism.density, mechanism.output
    factors = density.args if isinstance(density, Mul) else (density,)
    above = [factor for factor in factors if isinstance(factor, Call) and factor.name == "exp"]
    below = [factor.base for factor in factors if isinstance(factor, Pow) and factor.exponent == num(-1)]
    rest = [factor for factor in factors if isinstance(factor, Num)]
    if len(above) != 1 or len(below) != 1 or len(rest) + 2 != len(factors) or (low, high) != mechanism.input:
        return None
    assert low is not None and high is not None
    rate = _rate(above[0].args[0])
    terms = [scaled(term) for term in below[0].args] if isinstance(below[0], Add) else []
    ends = [(count, form.args[0]) for count, form in terms if isinstance(form, Call) and form.name == "exp"]
    domains = {**dict(book.claim.domains), "theta": Domain(None, None)}
    if rate is None or len(ends) != 2 or len(terms) != 3 or ends[0][0] != ends[1][0]:
        return None
    for (count, left), (_, right) in (ends, ends[::-1]):
        towards = certainly_equal(left, neg(mul(rate, sub(THETA, low))), domains) and certainly_equal(
            right, mul(rate, sub(THETA, high)), domains
        )
        whole = certainly_equal(
            below[0], add(num(-2 * count), mul(num(count), call("exp", left)), mul(num(count), call("exp", right))), domains
        )
        if towards and whole and count < 0:
            return CutOff(rate, div(num(-count), mul(ONE, *rest)), above[0].args[0], left, right)
    return None


def _rate(exponent: Expr) -> Expr | None:
    """b of -b |y - theta|."""
    factors = exponent.args if isinstance(exponent, Mul) else (exponent,)
    inner = [factor for factor in factors if isinstance(factor, Call) and factor.name == "abs"]
    rest = [factor for factor in factors if factor not in inner]
    if len(inner) != 1 or inner[0].args[0] not in (sub(Y, THETA), sub(THETA, Y)) or any({"y", "theta"} & set(symbols(one)) for one in rest):
        return None
    return neg(mul(ONE, *rest))


# -- densities between two numbers


def _between(book: Book, mechanism: Kernel, density: str, term: str, opened: str) -> Described:
    try:
        low, high = _range(mechanism.density)
    except ValueError:
        raise NotReplayedError(
            f"the density {format_expr(mechanism.density)} is of no form that specs/formal/replays/replay_kernels.v knows."
        ) from None
    if low is None or high is None or low <= 0:
        raise NotReplayedError(f"the density {format_expr(mechanism.density)} is not seen to be between two positive numbers.")
    value = call("log", num(high / low))
    ends = f"(a := {book.terms.real(num(low))}) (b := {book.terms.real(num(high))})"
    lines = (f"- unfold {density}. between.", "- cell.")
    return book.shown(term, value, opened, f"refine (holds_bounded_density {ends} _ _).", *lines)


Range = tuple[Fraction | None, Fraction | None]


def _range(expr: Expr) -> Range:
    """Two numbers between which an expression is, whatever its symbols are. Raises ValueError."""
    match expr:
        case Num():
            return expr.value, expr.value
        case Add():
            ranges = [_range(term) for term in expr.args]
            return _total([low for low, _ in ranges]), _total([high for _, high in ranges])
        case Mul() if isinstance(expr.args[0], Num):
            count = expr.args[0].value
            low, high = _range(mul(ONE, *expr.args[1:]))
            ends = (None if low is None else count * low, None if high is None else count * high)
            return ends if count > 0 else (ends[1], ends[0])
        case Call("abs", _):
            return Fraction(0), None
        case Call("floor", (Call("abs", _),)):
            return Fraction(0), None
        case Call("min" | "max", _):
            ranges = [_range(arg) for arg in expr.args]
            return (_least(ranges), _greatest_least(ranges)) if expr.name == "min" else (_least_greatest(ranges), _greatest(ranges))
    raise ValueError


def _total(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(values) else None


def _least(ranges: list[Range]) -> Fraction | None:
    lows = [low for low, _ in ranges if low is not None]
    return min(lows) if len(lows) == len(ranges) else None


def _greatest(ranges: list[Range]) -> Fraction | None:
    highs = [high for _, high in ranges if high is not None]
    return max(highs) if len(highs) == len(ranges) else None


def _greatest_least(ranges: list[Range]) -> Fraction | None:
    return min((high for _, high in ranges if high is not None), default=None)


def _least_greatest(ranges: list[Range]) -> Fraction | None:
    return max((low for low, _ in ranges if low is not None), default=None)

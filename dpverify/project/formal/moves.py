"""By how much the exponent of a density moves with its argument, with the proof in Coq: lemmas of specs/formal/replays/losses.v together.

A density is the exponential of minus its exponent, which is made up of few functions. Where all of these move most at one place, as
they do where the exponent is concave, convex or a sum of a multiple of r and another, the sum of their bounds is the tight one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from dpverify.project.formal.terms import ATOM, HALF, NotReplayedError, Terms, positive
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
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
    power,
    scaled,
    sqrt,
    symbols,
)

LINE: Final = "line"
HALF_LINE: Final = "half_line"
POSITIVE: Final = "ltac:(positive)"
SAME: Final = "ltac:(intros; cbv beta; same)"


@dataclass(frozen=True, slots=True)
class Moves:
    """function: of r, as it stands in the proof; most: what it moves by; proof: a term of `moves DOMAIN (fun r => function) D most`."""

    function: Expr
    most: Expr
    proof: str


@dataclass(frozen=True, slots=True)
class Calculus:
    """terms: with the argument among its names; variable: its symbol; domain: LINE or HALF_LINE; distance: the most it moves by itself.

    arguments: of inverse hyperbolic sines in what is to be shown, each of which is tried as another form of the one that is found.
    """

    terms: Terms
    variable: str
    domain: str
    distance: Expr
    arguments: tuple[Expr, ...] = ()

    def of(self, exponent: Expr) -> Moves:
        """The bound for an exponent, by its form. Raises NotReplayedError."""
        if self.variable not in symbols(exponent):
            return Moves(exponent, ZERO, f"(moves_const _ {self._real(exponent)} {self._distance})")
        match exponent:
            case Sym():
                return Moves(exponent, self.distance, f"(moves_id _ {self._distance})")
            case Add():
                return self._logistic(exponent) or self._sum(exponent)
            case Mul():
                return self._multiple(exponent)
            case Pow() if exponent.exponent == Num(HALF):
                return self._root(exponent)
            case Call("abs", (inner,)):
                return self._absolute(exponent, inner)
            case Call("log", (inner,)):
                return self._logarithm(exponent, inner)
            case Call("floor", (inner,)):
                return self._floor(exponent, inner)
            case Call("max", (first, second)):
                return self._greater(exponent, self.of(first), self.of(second))
        raise NotReplayedError(f"{format_expr(exponent)} is no form that the calculus of specs/formal/replays/losses.v knows.")

    @property
    def _distance(self) -> str:
        return self._real(self.distance)

    def _real(self, expr: Expr) -> str:
        return self.terms.real(expr, ATOM)

    def _function(self, expr: Expr) -> str:
        return f"(fun {self.variable} => {self.terms.real(expr)})"

    def _sum(self, expr: Add) -> Moves:
        parts = [self.of(term) for term in expr.args]
        whole = parts[0]
        for part in parts[1:]:
            proof = f"(moves_add _ _ _ _ _ _ {whole.proof} {part.proof})"
            whole = Moves(Add((whole.function, part.function)), Add((whole.most, part.most)), proof)
        return whole

    def _multiple(self, expr: Mul) -> Moves:
        constants = [factor for factor in expr.args if self.variable not in symbols(factor)]
        others = [factor for factor in expr.args if self.variable in symbols(factor)]
        if len(others) != 1 or not constants:
            known = "a form that the calculus of specs/formal/replays/losses.v knows"
            raise NotReplayedError(f"{format_expr(expr)} is no multiple of {known}.")
        factor, inner = mul(*constants), self.of(others[0])
        if positive(factor, self.terms.domains):
            return self._scaled(factor, inner)
        if positive(neg(factor), self.terms.domains) or _logarithm_below_0(factor):
            inner = inner if neg(factor) == ONE else self._scaled(neg(factor), inner)
            # as the lemma writes it: `neg` would put the sign into the factor
            return Moves(Mul((num(-1), inner.function)), inner.most, f"(moves_opp _ _ _ _ {inner.proof})")
        if _logarithm_above_0(factor):
            return self._scaled(factor, inner)
        raise NotReplayedError(f"the sign of {format_expr(factor)} is not seen from its form.")

    def _scaled(self, factor: Expr, inner: Moves) -> Moves:
        proof = f"(moves_scale _ {self._real(factor)} _ _ _ {POSITIVE} {inner.proof})"
        return Moves(Mul((factor, inner.function)), Mul((factor, inner.most)), proof)

    def _root(self, expr: Pow) -> Moves:
        found = self._square(expr.base)
        if found is not None and found[0] == ONE:
            inner = f"(moves_hyperbola {self._real(found[1])} {self._distance} {POSITIVE} {POSITIVE})"
            return Moves(expr, self.distance, f"(moves_line _ _ _ _ {inner})")
        if expr.base == Sym(self.variable) and self.domain == HALF_LINE:
            return Moves(expr, sqrt(self.distance), f"(moves_sqrt {self._distance} {POSITIVE})")
        if isinstance(expr.base, Call) and expr.base.name == "abs":
            part = self.of(expr.base)
            outer = f"(moves_sqrt {self._real(part.most)} {POSITIVE})"
            proof = f"(moves_comp _ half_line _ sqrt _ _ _ (fun _ _ => Rabs_pos _) {part.proof} {outer})"
            return Moves(sqrt(part.function), sqrt(part.most), proof)
        raise NotReplayedError(f"{format_expr(expr)} is no root that the calculus of specs/formal/replays/losses.v knows.")

    def _absolute(self, expr: Call, inner: Expr) -> Moves:
        part = self.of(inner)
        return Moves(Call("abs", (part.function,)), part.most, f"(moves_abs_of _ _ _ _ {part.proof})")

    def _logarithm(self, expr: Call, inner: Expr) -> Moves:
        if isinstance(inner, Call) and inner.name == "cosh":
            part = self.of(inner.args[0])
            outer = f"(moves_ln_cosh {self._real(part.most)} {POSITIVE})"
            function = Call("log", (Call("cosh", (part.function,)),))
            return Moves(function, part.most, f"(moves_comp _ line _ (fun x => ln (cosh x)) _ _ _ (fun _ _ => I) {part.proof} {outer})")
        found = self._square(inner)
        if found is not None:
            slope, constant = found
            shift = div(constant, slope)
            within = self._hyperbolic(shift)
            given = f"{self._real(slope)} {self._real(constant)} {self._distance} {self._real(within)}"
            signs = " ".join([POSITIVE] * 4)
            proof = f"(moves_ln_quadratic _ {self._function(inner)} {given} {signs} ltac:(squares) {SAME})"
            return Moves(expr, Mul((num(2), Call("asinh", (within,)))), proof)
        linear = coefficients(inner, self.variable)
        if linear is not None and set(linear) == {0, 1} and self.domain == HALF_LINE:
            slope, constant = linear[1], linear[0]
            given = f"{self._real(slope)} {self._real(constant)} {self._distance}"
            proof = f"(moves_ln_linear {self._function(inner)} {given} {' '.join([POSITIVE] * 3)} {SAME})"
            most = Call("log", (div(add(mul(slope, self.distance), constant), constant),))
            return Moves(expr, most, proof)
        size = _line_of_size(inner, self.variable)
        if size is not None and self.domain == LINE:
            slope, constant = size
            given = f"{self._function(inner)} Rabs {self._real(slope)} {self._real(constant)} {self._distance} {self._distance}"
            signs = f"{' '.join([POSITIVE] * 3)} (moves_abs {self._distance}) Rabs_pos {SAME}"
            most = Call("log", (div(add(mul(slope, self.distance), constant), constant),))
            return Moves(expr, most, f"(moves_ln_of_line _ {given} {signs})")
        raise NotReplayedError(f"{format_expr(expr)} is no logarithm that the calculus of specs/formal/replays/losses.v knows.")

    def _hyperbolic(self, shift: Expr) -> Expr:
        """D/(2 sqrt(shift)), or the way in which what is to be shown writes it."""
        plain = div(self.distance, mul(num(2), sqrt(shift)))
        square = _square_of(plain)
        return next((other for other in self.arguments if _square_of(other) == square), plain)

    def _floor(self, expr: Call, inner: Expr) -> Moves:
        part = self.of(inner)
        value = add(*part.most.args) if isinstance(part.most, Add) else part.most
        if not isinstance(value, Num):
            raise NotReplayedError(f"by how many whole numbers {format_expr(expr)} moves is not a number.")
        steps = ceil(value.value)
        return Moves(Call("floor", (part.function,)), num(steps), f"(moves_floor _ _ _ _ {steps} {part.proof} ltac:(below))")

    def _greater(self, expr: Call, first: Moves, second: Moves) -> Moves:
        domains = self.terms.domains
        bounds = (_flat(first.most), _flat(second.most))
        most = next((bound for bound in bounds if all(certainly_le(other, bound, domains) for other in bounds)), None)
        if most is None:
            raise NotReplayedError(f"which part of {format_expr(expr)} moves the most is not the same for all parameters.")
        proof = f"(moves_max _ _ _ _ _ _ {self._real(most)} {first.proof} {second.proof} ltac:(below) ltac:(below))"
        return Moves(Call("max", (first.function, second.function)), most, proof)

    def _logistic(self, expr: Add) -> Moves | None:
        """k c r + n log(exp(-c r) + 1), where the slopes of the two parts have opposite signs."""
        if len(expr.args) != 2 or self.domain != LINE:
            return None
        for first, second in (expr.args, expr.args[::-1]):
            times, steps = _multiple_of(first, self.variable), _softplus(second, self.variable)
            if times is None or steps is None or not 0 < times / steps[1] <= steps[0]:
                continue
            count, rate = steps
            slope = times / rate
            steepest = max(slope, count - slope)
            inside, inner = mul(num(rate), Sym(self.variable)), neg(mul(num(rate), Sym(self.variable)))
            softplus = Call("log", (Add((Call("exp", (inner,)), ONE)),))
            given = " ".join(self._real(num(value)) for value in (slope, count, steepest))
            shown = f"{self._real(num(rate))} {self._function(inside)} {self._function(inner)} {given} {self._distance}"
            proof = f"(moves_logistic_of {shown} {POSITIVE} {' '.join([SAME] * 2)} {' '.join([POSITIVE] * 5)})"
            function = Add((Mul((num(slope), inside)), Mul((num(count), softplus))))
            return Moves(function, Mul((num(steepest), Mul((num(rate), self.distance)))), proof)
        return None

    def _square(self, expr: Expr) -> tuple[Expr, Expr] | None:
        """(a, c) where the expression is a r^2 + c."""
        found = coefficients(expr, self.variable)
        return None if found is None or set(found) != {0, 2} else (found[2], found[0])


def exponent(density: Expr) -> Expr:
    """Minus the logarithm of a positive density, by its form."""
    match density:
        case Call("exp", (inner,)):
            return neg(inner)
        case Mul():
            return add(*(exponent(factor) for factor in density.args))
        case Pow():
            return mul(density.exponent, exponent(density.base))
    return neg(call("log", density))


def coefficients(expr: Expr, variable: str) -> dict[int, Expr] | None:
    """The coefficients of a polynomial of degree at most 2, by the power of the variable; None for anything else."""
    found = dict[int, Expr]()
    for term in expr.args if isinstance(expr, Add) else (expr,):
        factors = term.args if isinstance(term, Mul) else (term,)
        degree, rest = 0, list[Expr]()
        for factor in factors:
            if factor == Sym(variable):
                degree += 1
            elif isinstance(factor, Pow) and factor.base == Sym(variable) and factor.exponent == num(2):
                degree += 2
            elif variable in symbols(factor):
                return None
            else:
                rest.append(factor)
        if degree > 2:
            return None
        found[degree] = add(found.get(degree, ZERO), mul(ONE, *rest))
    return found


def _flat(expr: Expr) -> Expr:
    """A sum or product in normal form."""
    return add(*expr.args) if isinstance(expr, Add) else mul(*expr.args) if isinstance(expr, Mul) else expr


def _line_of_size(expr: Expr, variable: str) -> tuple[Expr, Expr] | None:
    """(a, c) where the expression is a |r| + c."""
    size = Call("abs", (Sym(variable),))
    replaced = Add(tuple(_without(term, size, variable) for term in expr.args)) if isinstance(expr, Add) else None
    found = None if replaced is None else coefficients(replaced, variable)
    return None if found is None or set(found) != {0, 1} else (found[1], found[0])


def _without(term: Expr, size: Expr, variable: str) -> Expr:
    """The term with the variable where its size stood; one in which it stands otherwise is made no line."""
    factors = term.args if isinstance(term, Mul) else (term,)
    if any(variable in symbols(factor) and factor != size for factor in factors):
        return call("exp", Sym(variable))
    return mul(ONE, *(Sym(variable) if factor == size else factor for factor in factors))


def _multiple_of(expr: Expr, variable: str) -> Fraction | None:
    """By what number the variable is multiplied, where no more stands there."""
    found = coefficients(expr, variable)
    return found[1].value if found is not None and set(found) == {1} and isinstance(found[1], Num) else None


def _softplus(expr: Expr, variable: str) -> tuple[Fraction, Fraction] | None:
    """(n, c) where the expression is n log(exp(-c r) + 1)."""
    count, form = scaled(expr)
    match form:
        case Call("log", (Add((Call("exp", (inner,)), last)),)) if last == ONE:
            rate = _multiple_of(inner, variable)
            return None if rate is None or rate >= 0 else (count, -rate)
    return None


def _square_of(expr: Expr) -> Expr:
    """The square of a product of roots, as one product."""
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    return mul(*(power(f.base, mul(num(2), f.exponent)) if isinstance(f, Pow) else power(f, num(2)) for f in factors))


def _logarithm_above_0(expr: Expr) -> bool:
    """Whether it is the positive multiple of the logarithm of a number above 1."""
    factors = expr.args if isinstance(expr, Mul) else (expr,)
    sign = 1
    for factor in factors:
        if isinstance(factor, Num):
            sign = sign if factor.value > 0 else -sign
        elif isinstance(factor, Call) and factor.name == "log" and isinstance(factor.args[0], Num):
            sign = sign if factor.args[0].value > 1 else -sign
        else:
            return False
    return sign > 0


def _logarithm_below_0(expr: Expr) -> bool:
    return _logarithm_above_0(neg(expr))

"""Expression trees: six node kinds, exact rationals, a whitelisting parser and a printer.

The language is that of claim files: + - * / **, sqrt exp log, abs min max floor, the hyperbolic
functions and their inverses, erf, erfc, gamma, besselk(order, x), pi, and named symbols. Printing
and parsing are inverse to each other, so that a tree's text can be hashed and kept in certificates.
Nothing here is ever passed to eval, and nothing here is a binary float.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Final, TypeVar, cast

from flint import fmpz

from dpverify.trusted.kernel.errors import ExprError

FUNCTIONS: Final[Mapping[str, tuple[int, int | None]]] = {
    "exp": (1, 1), "log": (1, 1), "sqrt": (1, 1), "abs": (1, 1), "min": (1, None), "max": (1, None),
    "floor": (1, 1), "cosh": (1, 1), "sinh": (1, 1), "tanh": (1, 1), "asinh": (1, 1), "atanh": (1, 1),
    "erf": (1, 1), "erfc": (1, 1), "gamma": (1, 1), "besselk": (2, 2),
    # Logarithms of positive special functions. They come out of `logarithms`, stay finite where the
    # function itself underflows, and may be written by hand too.
    # logexprel(x) = log((exp(x) - 1) / x), smooth through x = 0.
    "logerfc": (1, 1), "logbesselk": (2, 2), "logexprel": (1, 1),
    # logratio(N, r, k) = log(N / r**k) for an N that vanishes at r = 0 to the order k: smooth through 0.
    "logratio": (3, 3),
}  # fmt: skip
"""Name of each function and the least and greatest number of its arguments."""

MAX_TEXT: Final = 20_000
MAX_DEPTH: Final = 120
MAX_BITS: Final = 14_000
MAX_DECIMAL_EXPONENT: Final = 5_000
MAX_DIGITS: Final = 4_200


class _Node:
    """What every node remembers of its tree, once asked: its hash and its symbols. Neither is copied with it nor pickled."""

    __slots__ = ("_hash", "_symbols")
    _hash: int
    _symbols: frozenset[str]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            node = cast("Expr", self)
            return _remember(node, "_hash", hash((type(self), getattr(self, "name", ""), children(node))))


@dataclass(frozen=True, slots=True)
class Num(_Node):
    """An exact rational."""

    value: Fraction

    def __hash__(self) -> int:
        return hash((self.value.numerator, self.value.denominator))


@dataclass(frozen=True, slots=True)
class Sym(_Node):
    """A named symbol."""

    name: str


@dataclass(frozen=True, slots=True)
class Add(_Node):
    """A sum of two or more terms."""

    args: tuple[Expr, ...]

    __hash__ = _Node.__hash__


@dataclass(frozen=True, slots=True)
class Mul(_Node):
    """A product of two or more factors; a leading Num is the coefficient."""

    args: tuple[Expr, ...]

    __hash__ = _Node.__hash__


@dataclass(frozen=True, slots=True)
class Pow(_Node):
    """base ** exponent."""

    base: Expr
    exponent: Expr

    __hash__ = _Node.__hash__


@dataclass(frozen=True, slots=True)
class Call(_Node):
    """A function of FUNCTIONS applied to arguments; `pi` is the one constant, without arguments."""

    name: str
    args: tuple[Expr, ...]

    __hash__ = _Node.__hash__


Expr = Num | Sym | Add | Mul | Pow | Call
_T = TypeVar("_T")


def _remember(node: Expr, name: str, value: _T) -> _T:
    object.__setattr__(node, name, value)  # nodes are frozen, and this says nothing new of them
    return value


ZERO: Final = Num(Fraction(0))
ONE: Final = Num(Fraction(1))
PI: Final = Call("pi", ())
_NONE: Final[frozenset[str]] = frozenset()
_UNIT: Final = Fraction(1)


def num(value: int | Fraction) -> Num:
    """The exact rational `value` as a tree."""
    return Num(Fraction(value))


# -- building: constructors that fold numbers and collect like terms ---------------------------


def scaled(term: Expr) -> tuple[Fraction, Expr]:
    """Split a term into its rational coefficient and the rest."""
    if isinstance(term, Num):
        return term.value, ONE
    if isinstance(term, Mul) and isinstance(term.args[0], Num):
        rest = term.args[1:]
        return term.args[0].value, rest[0] if len(rest) == 1 else Mul(rest)
    return _UNIT, term


def add(*terms: Expr) -> Expr:
    """The sum, flattened, with like terms collected and numbers folded exactly."""
    collected: dict[Expr, Fraction] = {}
    for term in _flatten(terms, Add):
        coefficient, rest = scaled(term)
        collected[rest] = collected[rest] + coefficient if rest in collected else coefficient
    result: list[Expr] = []
    for rest, coefficient in collected.items():
        if not coefficient:
            continue
        _bounded(coefficient)
        result.append(Num(coefficient) if rest == ONE else rest if coefficient is _UNIT else mul(Num(coefficient), rest))
    result.sort(key=lambda e: isinstance(e, Num))  # the constant stands last
    if not result:
        return ZERO
    return result[0] if len(result) == 1 else Add(tuple(result))


def mul(*factors: Expr) -> Expr:
    """The product, flattened, with integer powers of equal bases merged, numbers folded exactly and distributed over a lone sum."""
    coefficient = _UNIT
    powers: dict[Expr, int] = {}
    for factor in _flatten(factors, Mul):
        if isinstance(factor, Num):
            coefficient = factor.value if coefficient is _UNIT else coefficient * factor.value
            continue
        base: Expr = factor
        exponent = 1
        if isinstance(factor, Pow) and isinstance(factor.exponent, Num) and factor.exponent.value.denominator == 1:
            base, exponent = factor.base, int(factor.exponent.value)
        powers[base] = powers.get(base, 0) + exponent
    if not coefficient:
        return ZERO
    _bounded(coefficient)
    rest: list[Expr] = []
    for base, exponent in powers.items():
        if exponent != 0:
            rest.append(base if exponent == 1 else power(base, num(exponent)))
    rest.sort(key=_is_reciprocal)  # what is printed below the line stands last
    if any(isinstance(factor, Num | Mul) for factor in rest):  # a power folded: sqrt(2)*sqrt(2)
        return mul(Num(coefficient), *rest)
    if not rest:
        return Num(coefficient)
    if coefficient is not _UNIT and coefficient != 1:
        if len(rest) == 1 and isinstance(rest[0], Add):
            return add(*(mul(Num(coefficient), term) for term in rest[0].args))
        rest.insert(0, Num(coefficient))
    return rest[0] if len(rest) == 1 else Mul(tuple(rest))


def power(base: Expr, exponent: Expr) -> Expr:
    """base ** exponent, folded where both are exact and the result is rational."""
    if isinstance(exponent, Num):
        if exponent.value == 0:
            return ONE
        if exponent.value == 1:
            return base
        if isinstance(base, Num):
            folded = _rational_power(base.value, exponent.value)
            if folded is not None:
                return Num(folded)
        if exponent.value.denominator == 1:
            if isinstance(base, Pow) and isinstance(base.exponent, Num) and _keeps_domain(base, base.exponent.value, exponent.value):
                return power(base.base, Num(base.exponent.value * exponent.value))
            if isinstance(base, Mul):
                return mul(*(power(factor, exponent) for factor in base.args))
    if base == ONE:
        return ONE
    return Pow(base, exponent)


def _keeps_domain(inner: Pow, e: Fraction, outer: Fraction) -> bool:
    """Whether (b**e)**outer, inner being b**e, and b**(e * outer) are defined for the same b: sqrt(x)**2 is not x for x < 0."""
    positive = isinstance(inner.base, Num) and inner.base.value > 0
    return e.denominator == 1 or (e * outer).denominator != 1 or positive


_EXACT: Final[Mapping[str, Callable[[list[Fraction]], Fraction | int]]] = {
    "abs": lambda values: abs(values[0]), "floor": lambda values: floor(values[0]), "min": min, "max": max,
}  # fmt: skip
"""Functions whose values at rationals are rational."""
_AT_ZERO: Final[Mapping[str, Num]] = {
    **dict.fromkeys(("sinh", "tanh", "asinh", "atanh", "erf", "logexprel"), ZERO), **dict.fromkeys(("exp", "cosh", "erfc"), ONE),
}  # fmt: skip


def call(name: str, *args: Expr) -> Expr:
    """A function applied to arguments; sqrt becomes a power, exact values are folded."""
    if name == "pi" and not args:
        return PI
    least, most = FUNCTIONS[name]
    if len(args) < least or (most is not None and len(args) > most):
        wanted = str(least) if least == most else f"at least {least}"
        raise ExprError(f"{name} takes {wanted} argument{'s' if wanted != '1' else ''}, not {len(args)}.")
    first = args[0]
    if name == "sqrt":
        return power(first, Num(Fraction(1, 2)))
    if all(isinstance(arg, Num) for arg in args):
        values = [arg.value for arg in args if isinstance(arg, Num)]
        if name in _EXACT:
            return num(_EXACT[name](values))
        if values[0] == 0 and name in _AT_ZERO:
            return _AT_ZERO[name]
        if values[0] == 1 and name == "log":
            return ZERO
    if name in ("min", "max") and len(set(args)) == 1:
        return first
    return Call(name, args)


def neg(expr: Expr) -> Expr:
    """-expr."""
    return mul(num(-1), expr)


def sub(left: Expr, right: Expr) -> Expr:
    """left - right."""
    return add(left, neg(right))


def div(left: Expr, right: Expr) -> Expr:
    """left / right; a zero denominator is an ExprError."""
    if right == ZERO:
        raise ExprError("division by zero.")
    return mul(left, power(right, num(-1)))


def sqrt(expr: Expr) -> Expr:
    """The square root as a power."""
    return power(expr, Num(Fraction(1, 2)))


def _flatten(terms: Iterable[Expr], kind: type[Add] | type[Mul]) -> Iterator[Expr]:
    return (part for term in terms for part in (term.args if isinstance(term, kind) else (term,)))


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ExprError(f"a number of more than {MAX_BITS} bits. Write it as an unevaluated expression or round it.")
    return value


def _rational_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """base ** exponent where that is rational and of bounded size, else None."""
    if base == 0:
        if exponent < 0:
            raise ExprError("division by zero.")
        return Fraction(0)
    if base == 1:
        return Fraction(1)
    size = max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(exponent)
    if size > MAX_BITS:
        return None
    if exponent.denominator == 1:
        return base ** int(exponent)
    if base < 0:
        return None
    # the root first: in lowest terms the power is rational only if the root is, and base**numerator may be enormous
    top, bottom = _exact_root(base.numerator, exponent.denominator), _exact_root(base.denominator, exponent.denominator)
    return None if top is None or bottom is None else Fraction(top, bottom) ** exponent.numerator


def _exact_root(value: int, degree: int) -> int | None:
    """The integer whose `degree`-th power is `value` (non-negative), or None."""
    if degree > value.bit_length():
        return value if value <= 1 else None
    root = int(fmpz(value).root(degree))
    return root if root**degree == value else None


# -- walking -----------------------------------------------------------------------------------


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of a node."""
    if isinstance(expr, Add | Mul | Call):
        return expr.args
    return (expr.base, expr.exponent) if isinstance(expr, Pow) else ()


def symbols(expr: Expr) -> frozenset[str]:
    """The names of all symbols in the tree."""
    try:
        return expr._symbols
    except AttributeError:
        found = frozenset((expr.name,)) if isinstance(expr, Sym) else _NONE.union(*map(symbols, children(expr)))
        return _remember(expr, "_symbols", found)


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The node with `change` applied to each direct part, folded again."""
    if isinstance(expr, Add):
        return add(*map(change, expr.args))
    if isinstance(expr, Mul):
        return mul(*map(change, expr.args))
    if isinstance(expr, Pow):
        return power(change(expr.base), change(expr.exponent))
    if isinstance(expr, Call):
        return call(expr.name, *map(change, expr.args))
    return expr


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The tree with symbols replaced, all at once."""
    if isinstance(expr, Sym):
        return values.get(expr.name, expr)
    return rebuild(expr, lambda part: substitute(part, values))


# -- printing ------------------------------------------------------------------------------------

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def format_expr(expr: Expr) -> str:
    """The text of a tree in the language of claim files; parsing it gives the tree back."""
    return _text(expr)[0]


def _text(expr: Expr) -> tuple[str, int]:
    if isinstance(expr, Num):
        value = expr.value
        if value.denominator == 1:
            return str(value.numerator), _ATOM if value >= 0 else _SUM
        return f"{value.numerator}/{value.denominator}", _PRODUCT if value >= 0 else _SUM
    if isinstance(expr, Sym):
        return expr.name, _ATOM
    if isinstance(expr, Call):
        return (f"{expr.name}({', '.join(format_expr(arg) for arg in expr.args)})" if expr.args else expr.name), _ATOM
    if isinstance(expr, Pow):
        if expr.exponent == Num(Fraction(1, 2)):
            return f"sqrt({format_expr(expr.base)})", _ATOM
        return f"{_wrap(expr.base, _ATOM)}**{_wrap(expr.exponent, _ATOM)}", _POWER
    if isinstance(expr, Mul):
        return _product_text(expr)
    pieces = [_wrap(expr.args[0], _SUM)]
    for term in expr.args[1:]:
        text = _wrap(term, _SUM)
        pieces.append(f" - {text[1:]}" if text.startswith("-") else f" + {text}")
    return "".join(pieces), _SUM


def _product_text(expr: Mul) -> tuple[str, int]:
    coefficient, rest = scaled(expr)
    factors = rest.args if isinstance(rest, Mul) else (rest,)
    above = [_wrap(f, _POWER) for f in factors if not _is_reciprocal(f)]
    below = [_wrap(power(f.base, neg(f.exponent)), _POWER) for f in factors if _is_reciprocal(f) and isinstance(f, Pow)]
    if abs(coefficient.numerator) != 1 or not above:
        above.insert(0, str(abs(coefficient.numerator)))
    if coefficient.denominator != 1:
        below.insert(0, str(coefficient.denominator))
    text = "*".join(above) + "".join(f"/{part}" for part in below)
    return (f"-{text}", _SUM) if coefficient < 0 else (text, _PRODUCT)


def _is_reciprocal(factor: Expr) -> bool:
    return isinstance(factor, Pow) and isinstance(factor.exponent, Num) and factor.exponent.value < 0


def _wrap(expr: Expr, least: int) -> str:
    text, strength = _text(expr)
    return text if strength >= least else f"({text})"


# -- parsing -------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<op>\*\*|[-+*/^(),]))", re.ASCII)


def parse_number(text: str) -> Fraction:
    """The exact value of an integer or decimal literal such as "12", "1.775" or "1e-6"."""
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 8 or abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise ExprError(f"the exponent of {text!r} is beyond {MAX_DECIMAL_EXPONENT}.")
    if len(mantissa) > MAX_DIGITS:
        raise ExprError(f"a number of {len(mantissa)} digits; at most {MAX_DIGITS}.")
    return _bounded(Fraction(mantissa if mantissa[-1] != "." else mantissa[:-1]) * Fraction(10) ** int(exponent or 0))


@lru_cache(maxsize=4096)
def parse(text: str) -> Expr:
    """The tree of an expression. Raises ExprError with the column and the way out."""
    if len(text) > MAX_TEXT:
        raise ExprError(f"an expression of {len(text)} characters; at most {MAX_TEXT}.")
    return _Parser(text).whole()


class _Parser:
    """Precedence climbing over a list of tokens; depth is bounded so that nesting cannot exhaust the stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                column = position + len(stripped[position:]) - len(stripped[position:].lstrip())
                raise self._error(f"unexpected {stripped[column]!r}", column)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.at = 0
        self.depth = 0

    def _error(self, what: str, column: int) -> ExprError:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return ExprError(
            f"{what} at column {column + 1} of {shown!r}. Use numbers, symbols, + - * / ** ( ) and "
            "sqrt exp log asinh atanh abs min max floor cosh sinh tanh erf erfc besselk gamma pi."
        )

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _column(self) -> int:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            found = repr(self._peek()) if self._peek() else "the end"
            raise self._error(f"expected {wanted!r}, found {found}", self._column())
        self.at += 1

    def whole(self) -> Expr:
        if not self.tokens:
            raise ExprError("an empty expression.")
        result = self.sum()
        if self.at < len(self.tokens):
            raise self._error(f"unexpected {self._peek()!r}", self._column())
        return result

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExprError(f"an expression nested more than {MAX_DEPTH} deep.")

    def sum(self) -> Expr:
        self._deeper()
        terms = [self.product()]
        while self._peek() in ("+", "-"):
            sign = self._peek()
            self.at += 1
            terms.append(self.product() if sign == "+" else neg(self.product()))
        self.depth -= 1
        return add(*terms)

    def product(self) -> Expr:
        factors = self.signed()
        while self._peek() in ("*", "/"):
            operator = self._peek()
            self.at += 1
            sign, factor = self.signed()
            factors += [sign, factor if operator == "*" else div(ONE, factor)]
        return mul(*factors)  # all at once: a number is distributed over a sum only where nothing else multiplies it

    def signed(self) -> list[Expr]:
        """The sign and the power that it stands before."""
        sign = 1
        while self._peek() in ("+", "-"):
            sign *= -1 if self._peek() == "-" else 1
            self.at += 1
        return [num(sign), self.power()]

    def power(self) -> Expr:
        base = self.atom()
        if self._peek() in ("**", "^"):
            if self._peek() == "^":
                raise self._error("'^' is not a power; write **", self._column())
            self.at += 1
            self._deeper()
            exponent = mul(*self.signed())
            self.depth -= 1
            return power(base, exponent)
        return base

    def atom(self) -> Expr:
        if self.at >= len(self.tokens):
            raise self._error("the expression ends too early", len(self.text))
        kind, text, column = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return Num(parse_number(text))
        if text == "(":
            inside = self.sum()
            self._take(")")
            return inside
        if kind != "name":
            raise self._error(f"unexpected {text!r}", column)
        if text == "pi":
            return PI
        if self._peek() != "(":
            if text in FUNCTIONS:
                raise self._error(f"{text} is a function and needs its argument", column)
            if text.lower() in ("inf", "nan", "infinity", "oo"):
                raise self._error(f"{text} is not a number here", column)
            return Sym(text)
        if text not in FUNCTIONS:
            raise self._error(f"unknown function {text!r}", column)
        self._take("(")
        args = [self.sum()]
        while self._peek() == ",":
            self.at += 1
            args.append(self.sum())
        self._take(")")
        return call(text, *args)

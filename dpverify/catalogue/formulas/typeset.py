"""Expressions as boxes, the way a person would set them: precedence decides where brackets stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction as Rational
from itertools import pairwise
from typing import Final

from dpverify.catalogue.formulas.boxes import (
    APPLY,
    DOT,
    MINUS,
    NEGATIVE,
    TIMES,
    WIDE_TIMES,
    Box,
    Fence,
    Fraction,
    Ident,
    Number,
    Op,
    Root,
    Row,
    Sub,
    Sup,
    brackets,
    comma,
    row,
)
from dpverify.trusted.kernel.expr import ONE, Add, Call, Expr, Mul, Num, Pow, Sym, children, mul, neg, num, symbols

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4
"""How strongly a box holds together; a box that is weaker than its place needs gets brackets."""

Set = tuple[Box, int]
Names = Mapping[str, Set]
"""What stands for a symbol, and how strongly it holds together."""

_GREEK: Final = {
    name: letter
    for names, letters in (
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega",
            "αβγδεζηθικλμνξπρστυφχψω",
        ),
        ("Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega", "ΓΔΘΛΞΠΣΥΦΨΩ"),
        ("eps lam", "ελ"),
    )
    for name, letter in zip(names.split(), letters, strict=True)
}
_NAMED: Final = {
    "log": "log", "min": "min", "max": "max", "cosh": "cosh", "sinh": "sinh", "tanh": "tanh", "asinh": "arsinh",
    "atanh": "artanh", "erf": "erf", "erfc": "erfc", "gamma": "Γ",
}  # fmt: skip
_SQUARED_BY_NAME: Final = frozenset(("log", "cosh", "sinh", "tanh"))
"""Functions whose powers are written beside their names."""
_FENCED: Final = {"abs": ("|", "|"), "floor": ("⌊", "⌋")}
_LOGS: Final[Mapping[str, Callable[..., Expr]]] = {
    "logerfc": lambda x: Call("erfc", (x,)),
    "logbesselk": lambda order, x: Call("besselk", (order, x)),
    "logexprel": lambda x: Mul((Add((Call("exp", (x,)), num(-1))), Pow(x, num(-1)))),
    "logratio": lambda n, r, k: Mul((n, Pow(Pow(r, k), num(-1)))),
}
"""Logarithms of special functions, by what they are the logarithm of."""

MAX_RAISED: Final = 7
"""As many numbers and symbols as an exponent of e holds; beyond that it is exp(...)."""
MAX_PLAIN_DENOMINATOR: Final = 16
MAX_DECIMALS: Final = 6
MAX_DIGITS: Final = 40
"""A number of more digits is rounded, and says so by its dots."""


def typeset(expr: Expr, names: Names | None = None) -> Box:
    """An expression as a box. names: boxes for symbols, in place of their letters."""
    return _Setter(names or {}).of(expr)[0]


def factor(expr: Expr, names: Names | None = None) -> Box:
    """An expression as a box that others may stand beside as factors."""
    return _Setter(names or {}).wrap(expr, PRODUCT)


def raised(expr: Expr) -> Box:
    """An expression as a box for an exponent or an index, with its fractions set with a stroke."""
    return _Setter({}, raised=True).of(expr)[0]


def symbol(name: str) -> Box:
    """A symbol's letter: Greek where it has a Greek name, lowered what follows an underscore or ends it in digits."""
    stem, _, lowered = name.rstrip("_").partition("_")
    short = stem.rstrip("0123456789")
    if not lowered and short != stem and (short in _GREEK or len(short) == 1):
        stem, lowered = short, stem[len(short) :]
    if not stem or not lowered:
        return Ident(_GREEK.get(stem, stem or name))
    script: Box = Number(lowered) if lowered.isdigit() else symbol(lowered)
    return Sub(Ident(_GREEK.get(stem, stem)), script)


class _Setter:
    """The setting of one expression. raised: inside an exponent, where fractions are set with a stroke."""

    def __init__(self, names: Names, *, raised: bool = False) -> None:
        self.names = names
        self.raised = raised

    def of(self, expr: Expr) -> Set:
        """The box of a tree, and how strongly it holds together."""
        match expr:
            case Num(value):
                return self._number(value)
            case Sym(name):
                return self.names.get(name, (symbol(name), ATOM))
            case Add(args):
                return self._sum(args)
            case Mul(args):
                return self._product(args)
            case Pow(base, exponent):
                return self._power(base, exponent)
            case Call(name, args):
                return self._call(name, args)

    def wrap(self, expr: Expr, least: int) -> Box:
        """The box of a tree, in brackets where it holds less than its place needs."""
        box, strength = self.of(expr)
        return box if strength >= least else brackets(box)

    def script(self, expr: Expr) -> Box:
        """The box of a tree in an exponent or an index."""
        return _Setter(self.names, raised=True).of(expr)[0]

    # -- numbers -----------------------------------------------------------------------------------

    def _number(self, value: Rational) -> Set:
        if value < 0:
            return row(NEGATIVE, _positive(self._number(-value))), SUM
        plain = decimal(value)
        if plain is not None:
            return plain
        return self._fraction(Number(str(value.numerator)), Number(str(value.denominator)))

    def _fraction(self, above: Box, below: Box) -> Set:
        return (row(above, Op("/"), below) if self.raised else Fraction(above, below)), PRODUCT

    # -- sums --------------------------------------------------------------------------------------

    def _sum(self, terms: Sequence[Expr]) -> Set:
        common = _common_denominator(terms)
        if common > 1:
            negative = all(map(_is_negative, terms))
            whole = Add(tuple(mul(num(-common if negative else common), term) for term in terms))
            above = self.wrap(whole, POWER) if self.raised else self.of(whole)[0]
            body = self._fraction(above, Number(str(common)))
            return (row(NEGATIVE, body[0]), SUM) if negative else body
        items: list[Box] = []
        for term in _in_order(terms):
            negative = _is_negative(term)
            if items:
                items.append(MINUS if negative else Op("+"))
            elif negative:
                items.append(NEGATIVE)
            items.append(self.wrap(neg(term) if negative else term, PRODUCT))
        return row(*items), SUM

    # -- products ----------------------------------------------------------------------------------

    def _product(self, args: Sequence[Expr]) -> Set:
        coefficient, factors = (args[0].value, args[1:]) if isinstance(args[0], Num) else (Rational(1), args)
        above, below = self._above_and_below(abs(coefficient), factors)
        body = self._factors(above)
        if below:
            whole = below[0] if len(below) == 1 else None
            top = body[0] if len(above) > 1 or self.raised else (self.of(above[0])[0] if above else Number("1"))
            bottom = (self.wrap(whole, POWER) if self.raised else self.of(whole)[0]) if whole is not None else self._factors(below)[0]
            body = self._fraction(top, brackets(bottom) if self.raised and whole is None else bottom)
        return (row(NEGATIVE, _positive(body)), SUM) if coefficient < 0 else body

    def _above_and_below(self, coefficient: Rational, factors: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """The factors over and under the stroke, with the parts of the coefficient before them and what stands for a symbol last."""
        factors = sorted(factors, key=lambda factor: not symbols(factor).isdisjoint(self.names))
        above = [factor for factor in factors if not _is_reciprocal(factor)]
        below = [_reciprocal(factor) for factor in factors if isinstance(factor, Pow) and _is_reciprocal(factor)]
        if decimal(coefficient) is not None and (coefficient.denominator == 1 or coefficient.numerator != 1):
            return ([Num(coefficient), *above] if coefficient != 1 else above), below
        if coefficient.numerator != 1 or not above:
            above.insert(0, num(coefficient.numerator))
        return above, [num(coefficient.denominator), *below]

    def _factors(self, factors: Sequence[Expr]) -> Set:
        if not factors:
            return Number("1"), ATOM
        if len(factors) == 1:
            return self.wrap(factors[0], POWER), POWER
        boxes = [self.wrap(factor, PRODUCT if isinstance(factor, Num) else POWER) for factor in factors]
        items = [boxes[0]]
        for left, right in pairwise(boxes):
            items += [_between(left, right), right]
        return row(*items), PRODUCT

    # -- powers ------------------------------------------------------------------------------------

    def _power(self, base: Expr, exponent: Expr) -> Set:
        if isinstance(exponent, Num):
            value = exponent.value
            if value > 0 and value.numerator == 1 and 2 <= value.denominator <= 9:
                degree = None if value.denominator == 2 else Number(str(value.denominator))
                return Root(self.of(base)[0], degree), POWER
            if value in (-1, Rational(-1, 2)) or (value < 0 and not isinstance(base, Add)):
                return self._product((Pow(base, exponent),))
            if value.denominator == 1 and value > 1 and isinstance(base, Call) and base.name in _SQUARED_BY_NAME:
                return row(Sup(Ident(_NAMED[base.name]), Number(str(value))), APPLY, self._arguments(base.args)), POWER
        return Sup(self.wrap(base, ATOM), self.script(exponent)), POWER

    # -- functions ---------------------------------------------------------------------------------

    def _call(self, name: str, args: tuple[Expr, ...]) -> Set:
        if name == "pi":
            return Ident("π"), ATOM
        if name in _FENCED:
            opening, closing = _FENCED[name]
            return Fence(opening, self.of(args[0])[0], closing), ATOM
        if name == "exp":
            return self._exponential(args[0])
        if name == "besselk":
            order = Num(abs(args[0].value)) if isinstance(args[0], Num) else args[0]  # K is even in its order
            return row(Sub(Ident("K"), self.script(order)), APPLY, self._arguments(args[1:])), ATOM
        if name in _LOGS:
            return row(Ident("log"), APPLY, brackets(self.of(_LOGS[name](*args))[0])), ATOM
        return row(Ident(_NAMED[name]), APPLY, self._arguments(args)), ATOM

    def _exponential(self, exponent: Expr) -> Set:
        if exponent == ONE:
            return Ident("e"), ATOM
        if len(list(_leaves(exponent))) <= MAX_RAISED and (not self.raised or isinstance(exponent, Sym | Num)):
            return Sup(Ident("e"), self.script(exponent)), POWER
        return row(Ident("exp"), APPLY, self._arguments((exponent,))), ATOM

    def _arguments(self, args: Sequence[Expr]) -> Box:
        return brackets(comma(*(self.of(arg)[0] for arg in args)))


def decimal(value: Rational) -> Set | None:
    """A non-negative number as an integer, a short decimal or a power of ten; None where a fraction is better."""
    text = str(value.numerator)
    if len(text) + len(str(value.denominator)) > MAX_DIGITS:
        rounded = f"{value.numerator / value.denominator:#.12g}" if 1e-300 < value < 10**300 else ""
        mantissa, _, exponent = (rounded or _scientific(value)).partition("e")
        mantissa += "…"
        return _scaled(Number(mantissa), int(exponent)) if exponent else (Number(mantissa), ATOM)
    if value.denominator == 1:
        digits = text.rstrip("0")
        zeros = len(text) - len(digits)
        return _scaled(Number(digits), zeros) if zeros > MAX_DECIMALS else (Number(text), ATOM)
    places = next((k for k in range(MAX_DIGITS) if (value * 10**k).denominator == 1), None)
    if places is None or (value.denominator <= MAX_PLAIN_DENOMINATOR and value.denominator not in (5, 10)):
        return None
    scaled = str((value * 10**places).numerator)
    if places > 3 and len(scaled) < places - 2:
        return _scaled(Number(scaled), -places)
    if places > MAX_DECIMALS or (places > 4 and value.denominator < 1000):
        return None
    scaled = scaled.zfill(places + 1)
    return Number(f"{scaled[:-places]}.{scaled[-places:]}"), ATOM


def _scientific(value: Rational) -> str:
    """Twelve digits of a number beyond the range of floats."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return f"{float(value / Rational(10) ** exponent):#.12g}e{exponent}"


def _scaled(mantissa: Number, exponent: int) -> Set:
    """mantissa times a power of ten."""
    script = Number(str(exponent)) if exponent >= 0 else row(NEGATIVE, Number(str(-exponent)))
    tens = Sup(Number("10"), script)
    return (tens, POWER) if mantissa.text == "1" else (row(mantissa, DOT, tens), PRODUCT)


def _positive(body: Set) -> Box:
    box, strength = body
    return box if strength >= PRODUCT else brackets(box)


def _in_order(terms: Sequence[Expr]) -> list[Expr]:
    """Terms as people write them: 1 + z**2 and 1 - x, but n - 1 and r + 1; never a minus sign first where a plus will do."""
    last = terms[-1]
    if isinstance(last, Num) and last.value > 0 and not all(isinstance(term, Sym) for term in terms[:-1]):
        return [last, *terms[:-1]]
    lead = next((index for index, term in enumerate(terms) if not _is_negative(term)), 0)
    return [terms[lead], *terms[:lead], *terms[lead + 1 :]]


def _common_denominator(terms: Sequence[Expr]) -> int:
    """The denominator that the coefficients of all terms share where they are plain fractions; else 1."""
    leading = (term.args[0] if isinstance(term, Mul) else term for term in terms)
    coefficients = [first.value for first in leading if isinstance(first, Num)]
    shared = {value.denominator for value in coefficients}
    plain = len(coefficients) == len(terms) and len(shared) == 1 and all(decimal(abs(value)) is None for value in coefficients)
    return shared.pop() if plain else 1


def _is_negative(term: Expr) -> bool:
    first = term.args[0] if isinstance(term, Mul) else term
    return isinstance(first, Num) and first.value < 0


def _is_reciprocal(factor: Expr) -> bool:
    return isinstance(factor, Pow) and isinstance(factor.exponent, Num) and factor.exponent.value < 0


def _reciprocal(factor: Pow) -> Expr:
    assert isinstance(factor.exponent, Num)
    exponent = -factor.exponent.value
    return factor.base if exponent == 1 else Pow(factor.base, Num(exponent))


def _between(left: Box, right: Box) -> Op:
    """The sign between two factors: none where nobody could misread it."""
    if _is_word(_last(left)) or _is_word(_first(right)):
        return DOT
    if isinstance(_first(right), Number) or _is_decimal_power(left):
        return DOT
    if isinstance(left, Ident | Sub) and isinstance(right, Fence):  # a letter before a bracket looks like a function
        return DOT
    return WIDE_TIMES if isinstance(_first(right), Ident) and _is_function(right) else TIMES


def _is_word(box: Box) -> bool:
    return isinstance(box, Ident) and len(box.text) > 1 and box.text not in _FUNCTION_NAMES


_FUNCTION_NAMES: Final = frozenset((*_NAMED.values(), "exp"))


def _is_function(box: Box) -> bool:
    first = _first(box)
    return isinstance(first, Ident) and first.text in _FUNCTION_NAMES


def _is_decimal_power(box: Box) -> bool:
    return isinstance(box, Row) and DOT in box.items


def _first(box: Box) -> Box:
    if isinstance(box, Row):
        return _first(box.items[0])
    if isinstance(box, Sup | Sub):
        return _first(box.base)
    return _first(box.above) if isinstance(box, Fraction) else box


def _last(box: Box) -> Box:
    if isinstance(box, Row):
        return _last(box.items[-1])
    return box


def _leaves(expr: Expr) -> Iterator[Expr]:
    parts = children(expr)
    if not parts:
        yield expr
    for part in parts:
        yield from _leaves(part)

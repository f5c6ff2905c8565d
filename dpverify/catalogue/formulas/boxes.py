"""Formulas as boxes: what is set over, under and beside what; printed as presentation MathML or as one line of text.

The text is unambiguous: what stands in brackets there is what the layout keeps together. Multiplication without a sign is
one of two operators: TIMES (nothing is seen) and APPLY (a function before its argument), which screen readers need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final


@dataclass(frozen=True, slots=True)
class Ident:
    """A name: one letter is set in italics, several upright."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number without sign, in digits."""

    text: str


@dataclass(frozen=True, slots=True)
class Op:
    """An operator or a relation. prefix: a sign before its only operand. wide: with a thin space after what is not seen."""

    text: str
    prefix: bool = False
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """Plain words between formulas."""

    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """Boxes side by side."""

    items: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    """One box over another."""

    above: Box
    below: Box


@dataclass(frozen=True, slots=True)
class Sup:
    """A raised box."""

    base: Box
    script: Box


@dataclass(frozen=True, slots=True)
class Sub:
    """A lowered box."""

    base: Box
    script: Box


@dataclass(frozen=True, slots=True)
class Root:
    """A root; without a degree the square root."""

    body: Box
    degree: Ident | Number | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """A box between two signs that grow with it."""

    opening: str
    body: Box
    closing: str


@dataclass(frozen=True, slots=True)
class Limits:
    """A large operator (sum, product, integral) with what stands under and over it."""

    sign: str
    under: Box
    over: Box


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of entries of one length."""

    rows: tuple[tuple[Box, ...], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Formulas below each other; in text they are separated by semicolons."""

    rows: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """A value for each of several conditions, after a brace."""

    rows: tuple[tuple[Box, Box], ...]


Box = Ident | Number | Op | Words | Row | Fraction | Sup | Sub | Root | Fence | Limits | Matrix | Lines | Cases

TIMES: Final = Op("\u2062")
WIDE_TIMES: Final = Op("\u2062", wide=True)
APPLY: Final = Op("\u2061")
DOT: Final = Op("\u00b7")
MINUS: Final = Op("\u2212")
NEGATIVE: Final = Op("\u2212", prefix=True)

NO_BREAK: Final = "\u00a0"
PRIME: Final = Op("\u2032")
LEFT: Final = ' style="text-align:left"'
_BRACKETS: Final = "border:solid;border-width:0 1px;border-radius:.6em;padding:0 .2em"
INTEGRAL: Final = "\u222b"
RAISED: Final = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
LOWERED: Final = str.maketrans("0123456789", "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089")


def row(*items: Box) -> Box:
    """Boxes side by side, rows inside taken apart; a single box is itself."""
    flat = tuple(part for item in items for part in (item.items if isinstance(item, Row) else (item,)))
    return flat[0] if len(flat) == 1 else Row(flat)


def brackets(body: Box) -> Fence:
    """A box in round brackets."""
    return Fence("(", body, ")")


def comma(*items: Box) -> Box:
    """Boxes with commas between them."""
    return row(items[0], *(part for item in items[1:] for part in (Op(","), item)))


# -- presentation MathML -------------------------------------------------------------------------


def markup(box: Box) -> str:
    """The presentation MathML of a box, without the `math` element around it."""
    match box:
        case Ident(text):
            return f"<mi>{escape(text)}</mi>"
        case Number(text):
            return f"<mn>{escape(text)}</mn>"
        case Op(text, prefix, wide):
            form = ' form="prefix"' if prefix else ' rspace="0.17em"' if wide else ""
            return f"<mo{form}>{escape(text)}</mo>"
        case Words(text):
            return f"<mtext>{escape(text).replace(' ', NO_BREAK)}</mtext>"
        case Row(items):
            return f"<mrow>{_all(items)}</mrow>"
        case Fraction(above, below):
            return f"<mfrac>{markup(above)}{markup(below)}</mfrac>"
        case Sup(Sub(base, lowered), script):
            return f"<msubsup>{markup(base)}{markup(lowered)}{markup(script)}</msubsup>"
        case Sup(base, script):
            return f"<msup>{markup(base)}{markup(script)}</msup>"
        case Sub(base, script):
            return f"<msub>{markup(base)}{markup(script)}</msub>"
        case Root(body, None):
            return f"<msqrt>{markup(body)}</msqrt>"
        case Root(body, degree):
            assert degree is not None  # which a checker of types does not see from the case before
            return f"<mroot>{markup(body)}{markup(degree)}</mroot>"
        case Fence(opening, body, closing):
            return f"<mrow>{_fence(opening, 'prefix')}{markup(body)}{_fence(closing, 'postfix')}</mrow>"
        case Limits(sign, under, over):
            kind = "msubsup" if sign == INTEGRAL else "munderover"
            return f"<{kind}><mo>{sign}</mo>{markup(under)}{markup(over)}</{kind}>"
        case Matrix(rows):
            # brackets drawn as borders: signs that grow this high need a mathematical font
            return f'<mtable style="{_BRACKETS}">{_cells(rows)}</mtable>'
        case Lines(rows):
            return f'<mtable displaystyle="true">{_cells(((line,) for line in rows), LEFT)}</mtable>'
        case Cases(rows):
            return f"<mrow>{_fence('{', 'prefix')}<mtable>{_cells(rows, LEFT)}</mtable></mrow>"


def _all(boxes: Iterable[Box]) -> str:
    return "".join(map(markup, boxes))


def _fence(sign: str, form: str) -> str:
    """A sign that grows. Bars do not show whether they open or close, so the form says it."""
    return f'<mo form="{form}" fence="true" stretchy="true">{sign}</mo>'


def _cells(rows: Iterable[Iterable[Box]], attributes: str = "") -> str:
    return "".join(f"<mtr>{''.join(f'<mtd{attributes}>{markup(cell)}</mtd>' for cell in line)}</mtr>" for line in rows)


# -- one line of text ------------------------------------------------------------------------------


def linear(box: Box) -> str:
    """A box on one line of plain text."""
    match box:
        case Ident(text) | Number(text) | Words(text):
            return text
        case Op(text):
            return text
        case Row(items):
            return "".join(_spaced(items))
        case Fraction(above, below):
            return f"{_group(above, _is_product(above))}/{_group(below, _is_atom(below))}"
        case Sup(base, script):
            return linear(base) + _script(script, "^", RAISED)
        case Sub(base, script):
            return linear(base) + _script(script, "_", LOWERED)
        case Root(body, degree):
            return f"{'' if degree is None else linear(degree).translate(RAISED)}\u221a{_group(body, isinstance(body, Ident | Number))}"
        case Fence(opening, body, closing):
            return f"{opening}{linear(body)}{closing}"
        case Limits(sign, under, over):
            return f"{sign}{_script(under, '_', LOWERED)}{_script(over, '^', RAISED)} "
        case Matrix(rows):
            return f"[{', '.join('[' + ', '.join(map(linear, line)) + ']' for line in rows)}]"
        case Lines(rows):
            return "; ".join(map(linear, rows))
        case Cases(rows):
            return "; ".join(f"{linear(value)} {linear(condition)}" for value, condition in rows)


def _script(script: Box, sign: str, digits: dict[int, int]) -> str:
    text = linear(script)
    if script == PRIME:
        return text
    if isinstance(script, Number) and text.isdigit():
        return text.translate(digits)
    if digits is RAISED and isinstance(script, Row) and script.items[0] == NEGATIVE and text[1:].isdigit():
        return "\u207b" + text[1:].translate(digits)
    return f"{sign}{_group(script, isinstance(script, Ident | Number))}"


def _group(box: Box, plain: bool) -> str:
    return linear(box) if plain else f"({linear(box)})"


def _is_atom(box: Box) -> bool:
    if isinstance(box, Row):  # a function and its argument
        return {item.text for item in box.items if isinstance(item, Op)} == {APPLY.text}
    return isinstance(box, Ident | Number | Sup | Sub | Root | Fence)


def _is_product(box: Box) -> bool:
    signs = {item.text for item in box.items if isinstance(item, Op)} if isinstance(box, Row) else set()
    return _is_atom(box) or (isinstance(box, Row) and signs <= {TIMES.text, APPLY.text, DOT.text})


def _spaced(items: tuple[Box, ...]) -> Iterable[str]:
    for index, item in enumerate(items):
        if not isinstance(item, Op) or item.prefix or item.text == "/":
            yield linear(item)
        elif item.text == TIMES.text:
            # a number before a letter needs no sign
            glued = not item.wide and isinstance(items[index - 1], Number) and linear(items[index + 1])[0].isalpha()
            yield "" if glued else DOT.text
        elif item.text == APPLY.text:
            yield ""
        elif item.text in (",", ":"):
            yield f"{item.text} "
        else:
            yield DOT.text if item == DOT else f" {item.text} "

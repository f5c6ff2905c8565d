"""Formulas as LaTeX, for papers: plain ASCII, of amsmath and amssymb."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from dpverify.catalogue.formulas.boxes import (
    APPLY,
    INTEGRAL,
    PRIME,
    TIMES,
    Box,
    Cases,
    Fence,
    Fraction,
    Ident,
    Limits,
    Lines,
    Matrix,
    Number,
    Op,
    Root,
    Row,
    Sub,
    Sup,
    Words,
)

_SIGNS: Final = {
    "\u2212": "-", "\u2032": "'", "\u00b7": r"\cdot ", "\u2016": r"\|", "\u2208": r"\in ", "\u2218": r"\circ ", "\u221d": r"\propto ",
    "\u223c": r"\sim ", "\u2264": r"\le ", "\u2265": r"\ge ", "\u2211": r"\sum", "\u220f": r"\prod", "\u222b": r"\int",
    "\u221e": r"\infty ",
    "\u211d": r"\mathbb{R}", "\u2124": r"\mathbb{Z}", "\u22a4": r"\top ", "\u00b1": r"\pm ", "\u2026": r"\ldots ", "\u230a": r"\lfloor ",
    "\u230b": r"\rfloor ", "\u2308": r"\lceil ", "\u2309": r"\rceil ", "\u27e8": r"\langle ", "\u27e9": r"\rangle ", "\u2192": r"\to ",
    "\u21a6": r"\mapsto ", "\u2260": r"\ne ", "\u2248": r"\approx ", "\u00d7": r"\times ", "\u221a": r"\surd ", "\u2202": r"\partial ",
}  # fmt: skip
"""What has a name in LaTeX, besides the Greek letters."""
_FUNCTIONS: Final = ("Pr", "arg", "cos", "cosh", "det", "exp", "inf", "log", "max", "min", "sin", "sinh", "sup", "tan", "tanh")
_OWN: Final = {
    "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "\u201c": "``", "\u201d": "''", "\u00a0": "~", "\u2013": "--",
    "<": r"\(<\)", ">": r"\(>\)", "|": r"\(|\)",
}  # fmt: skip
"""What plain text has a command for, because TeX would obey it or has no such letter."""


def words(text: str) -> str:
    """Plain text in LaTeX. What it has no sign for is named in brackets, so that nothing is lost and nothing is obeyed."""
    return "".join(map(_letter, text))


def latex(box: Box) -> str:
    """A box in mathematics mode."""
    match box:
        case Ident(text):
            return _name(text)
        case Number(text):
            return "".join(_SIGNS.get(sign, sign) for sign in text).rstrip()
        case Op(text):
            return _operator(text)
        case Words(text):
            return rf"\text{{{words(text)}}}"
        case Row(items):
            return _side_by_side(items)
        case Fraction(above, below):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Sup(base, script) if script == PRIME:
            return f"{latex(base)}'"
        case Sup(Sub(base, lowered), script):
            return f"{_base(base)}_{{{latex(lowered)}}}^{{{latex(script)}}}"
        case Sup(base, script):
            return f"{_base(base)}^{{{latex(script)}}}"
        case Sub(base, script):
            return f"{_base(base)}_{{{latex(script)}}}"
        case Root(body, degree):
            return rf"\sqrt{'' if degree is None else f'[{latex(degree)}]'}{{{latex(body)}}}"
        case Fence(opening, body, closing):
            grow = ("", "") if _low(body) else (r"\left", r"\right")
            return f"{grow[0]}{_sign(opening)}{latex(body)}{grow[1]}{_sign(closing)}"
        case Limits(sign, under, over):
            return rf"{_sign(sign)}{'' if sign == INTEGRAL else chr(92) + 'limits'}_{{{latex(under)}}}^{{{latex(over)}}} "
        case Matrix(rows):
            return rf"\begin{{pmatrix}}{_lines(' & '.join(map(latex, line)) for line in rows)}\end{{pmatrix}}"
        case Lines(rows):
            return rf"\begin{{aligned}}{_lines(f'&{latex(line)}' for line in rows)}\end{{aligned}}"
        case Cases(rows):
            return rf"\begin{{cases}}{_lines(f'{latex(value)} & {latex(condition)}' for value, condition in rows)}\end{{cases}}"


def _low(box: Box) -> bool:
    """Whether a box is as high as a letter, so that brackets around it need not grow."""
    match box:
        case Ident() | Number() | Op() | Words():
            return True
        case Row(items):
            return all(map(_low, items))
        case Fence(_, body, _):
            return _low(body)
        case Sup(base, script):
            return script == PRIME and _low(base)
        case Sub(base, script):
            return _low(base) and _low(script)
    return False


def _lines(rows: Iterable[str]) -> str:
    return r" \\ ".join(rows)


def _base(box: Box) -> str:
    """What a script stands at: one sign is itself, anything longer is kept together."""
    return latex(box) if isinstance(box, Ident | Fence) else f"{{{latex(box)}}}"


def _side_by_side(items: Iterable[Box]) -> str:
    """Boxes after each other. A command that ends in a letter is parted from the letter after it, which TeX would take for its own."""
    said = ""
    for piece in map(latex, items):
        parted = said[-1:].isalpha() and piece[:1].isalpha() and "\\" in said and said.rpartition("\\")[2].isalpha()
        said += f" {piece}" if parted else piece
    return said


def _name(text: str) -> str:
    text = text.removesuffix("\u2032") if (primed := text.endswith("\u2032")) else text
    if text in _FUNCTIONS:
        said = f"\\{text}"
    elif len(text) == 1:
        said = _sign(text)
    else:
        said = rf"\operatorname{{{words(text)}}}"
    return f"{said}'" if primed else said


def _operator(text: str) -> str:
    if text == TIMES.text:
        return r"\,"
    return "" if text == APPLY.text else {",": ", ", ":": r"\colon "}.get(text, _sign(text))


def _sign(text: str) -> str:
    """One sign in mathematics mode."""
    if text in _SIGNS:
        return _SIGNS[text]
    if text in ("{", "}"):
        return f"\\{text}"
    greek = _greek(text)
    return greek + " " if greek else text if text.isascii() else rf"\text{{{words(text)}}}"


def _greek(letter: str) -> str:
    """The command of a Greek letter, empty for any other; what looks as a Latin one has none of its own."""
    kind, _, name = unicodedata.name(letter, "").partition(" LETTER ") if len(letter) == 1 else ("", "", "")
    if kind not in ("GREEK SMALL", "GREEK CAPITAL") or not name.isalpha():
        return ""
    known = {"LAMDA": "lambda", "EPSILON": "varepsilon"}.get(name, name.lower()) if kind == "GREEK SMALL" else name.capitalize()
    if known == "omicron":
        return "o"
    latin = kind == "GREEK CAPITAL" and letter not in "ΓΔΘΛΞΠΣΥΦΨΩ"
    return rf"\mathrm{{{_LATIN[letter]}}}" if latin else f"\\{'Lambda' if known == 'Lamda' else known}"


_LATIN: Final = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))


def _letter(letter: str) -> str:
    if letter in _OWN:
        return _OWN[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if letter in _SIGNS or _greek(letter):
        return rf"\({(_SIGNS.get(letter) or _greek(letter)).strip()}\)" if letter != PRIME.text else r"\('\)"
    plain = unicodedata.normalize("NFKD", letter)
    return plain if plain.isascii() and plain.isprintable() else f"[{unicodedata.name(letter, f'U+{ord(letter):04X}').lower()}]"

"""Expressions of the claim language as terms about Coq's real numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, format_expr, num, power, scaled
from dpverify.trusted.kernel.model import Domain

FUNCTIONS: Final = {
    "exp": "exp", "log": "ln", "abs": "Rabs", "cosh": "cosh", "sinh": "sinh", "tanh": "tanh", "asinh": "arcsinh", "floor": "floor",
}  # fmt: skip
"""The functions of one argument that both languages have, by their names in Coq; `floor` is defined in specs/formal/replays/losses.v."""
HALF: Final = Fraction(1, 2)
_WORDS: Final = frozenset(
    word
    for line in (
        "as at cofix else end exists exists2 fix for forall fun if in let match mod return Set Prop Type then using where with",
        "bool nat list option R Z N exp ln sqrt floor cosh sinh tanh arcsinh PI Rabs Rmin Rmax Rpower INR IZR line half_line moves",
        "Inputs Outputs shown mu place answer M mass norm profile density row scores seminorm rows both pure_dp adds_noise within",
        "claim r z y theta table epsilon point listed coordinates norm1 step semi noise family described holds Neighbours",
        "S O I RR of rows relation mechanism measure_on measure_display measurableType lmodType charged least tight_between either nseq",
    )
    for word in line.split()
)
"""What names of parameters must not be: words of Coq, and names that the files have for themselves."""
_USUAL: Final = re.compile(
    r"([A-Za-z]|alpha|beta|gamma|delta|Delta|eps|eta|kappa|lam|mu|nu|rho|sigma|tau|omega)(_?[0-9]+)?"
)  # fmt: skip
"""Names that stay as they are: those that are usual for parameters, of which no library that the files import has a word."""
_PREFIX: Final = "parameter_"

SUM, PRODUCT, POWER, ATOM = range(4)


class NotReplayedError(Exception):
    """Something of a certificate has no counterpart in Coq yet. Its text says what, as a full sentence."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A translation. names: of the symbols, as terms of type R in Coq, beside the parameters, which `parameters` names."""

    domains: Mapping[str, Domain]
    names: Mapping[str, str] = field(default_factory=dict)

    def with_names(self, **names: str) -> Terms:
        """The same with further symbols."""
        return Terms(self.domains, {**self.names, **names})

    def parameter(self, name: str) -> str:
        """The variable that stands for a parameter of the claim: of no two the same."""
        return name if _USUAL.fullmatch(name) and name not in _WORDS else _PREFIX + name

    def whole(self, expr: Expr) -> str:
        """A natural number: written out, or a parameter that ranges over some."""
        if isinstance(expr, Num) and expr.value.denominator == 1 and expr.value >= 0:
            return str(expr.value)
        if isinstance(expr, Sym) and self._is_whole(expr.name):
            return self.parameter(expr.name)
        raise NotReplayedError(f"{format_expr(expr)} is not written as a whole number that is at least 0.")

    def real(self, expr: Expr, least: int = SUM) -> str:
        """The term, in brackets where an operand of that rank needs them."""
        text, rank = self._term(expr)
        return f"({text})" if rank < least else text

    def type_of(self, name: str) -> str:
        """Of a parameter's variable."""
        return "nat" if self._is_whole(name) else "R"

    def binders(self) -> list[str]:
        """Each parameter with what its domain says of it."""
        lines = list[str]()
        for name, domain in self.domains.items():
            variable = self.parameter(name)
            lines.append(f"({variable} : {self.type_of(name)})")
            value = self._symbol(name)
            for bound, strict, side in ((domain.lower, domain.lower_open, "lower"), (domain.upper, domain.upper_open, "upper")):
                if bound is not None:
                    ends = (number(bound), value) if side == "lower" else (value, number(bound))
                    lines.append(f"({variable}_{side} : {ends[0]} {'<' if strict else '<='} {ends[1]})")
        return lines

    def _is_whole(self, name: str) -> bool:
        domain = self.domains.get(name)
        if domain is None or not domain.integer:
            return False
        if domain.lower is None or domain.lower < 0:
            raise NotReplayedError(f"{name} ranges over integers below 0.")
        return True

    def _symbol(self, name: str) -> str:
        if name in self.names:
            return self.names[name]
        if name not in self.domains:
            raise NotReplayedError(f"{name} has no meaning here.")
        return f"INR {self.parameter(name)}" if self._is_whole(name) else self.parameter(name)

    def _term(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Num():
                return number(expr.value), _rank(expr.value)
            case Sym():
                text = self._symbol(expr.name)
                return text, POWER if " " in text else ATOM
            case Add():
                return self._sum(expr), SUM
            case Mul():
                return self._product(expr), PRODUCT
            case Pow():
                return self._power(expr)
            case Call():
                return self._call(expr)

    def _sum(self, expr: Add) -> str:
        text = ""
        for term in expr.args:
            negative = _negated(term)
            if not text:
                text = self.real(term, SUM)
            else:
                text += f" - {self.real(negative, PRODUCT)}" if negative is not None else f" + {self.real(term, PRODUCT)}"
        return text

    def _product(self, expr: Mul) -> str:
        first, *rest = expr.args
        if isinstance(first, Num) and first.value == -1:
            return "- " + self.real(rest[0] if len(rest) == 1 else Mul(tuple(rest)), POWER)
        text = ""
        for factor in expr.args:
            below = _reciprocal(factor)
            if not text:
                text = self.real(factor, POWER if below is None else PRODUCT)
            else:
                text += f" * {self.real(factor, POWER)}" if below is None else f" / {self.real(below, POWER)}"
        return text

    def _power(self, expr: Pow) -> tuple[str, int]:
        below = _reciprocal(expr)
        if below is not None:
            return f"/ {self.real(below, POWER)}", PRODUCT
        if isinstance(expr.exponent, Num):
            exponent = expr.exponent.value
            if exponent == HALF:
                return f"sqrt {self.real(expr.base, ATOM)}", POWER
            if exponent.denominator == 1:
                return f"{self.real(expr.base, ATOM)} ^ {exponent}", POWER
        if not positive(expr.base, self.domains):
            raise NotReplayedError(f"{format_expr(expr)} is a power of {format_expr(expr.base)}, which is not positive by its form.")
        return f"Rpower {self.real(expr.base, ATOM)} {self.real(expr.exponent, ATOM)}", POWER

    def _call(self, expr: Call) -> tuple[str, int]:
        if expr.name == "pi":
            return "PI", ATOM
        if expr.name in ("min", "max"):
            first, *rest = (self.real(arg, ATOM) for arg in expr.args)
            for other in rest:
                first = f"(R{expr.name} {first} {other})"
            return first[1:-1] if rest else first, POWER
        if expr.name not in FUNCTIONS:
            raise NotReplayedError(f"{format_expr(expr)} has {expr.name}, which the Coq library does not know.")
        return f"{FUNCTIONS[expr.name]} {self.real(expr.args[0], ATOM)}", POWER


def number(value: Fraction) -> str:
    """A rational number."""
    text = str(abs(value.numerator)) if value.denominator == 1 else f"{abs(value.numerator)} / {value.denominator}"
    return f"- ({text})" if value < 0 and value.denominator != 1 else f"-{text}" if value < 0 else text


def _rank(value: Fraction) -> int:
    return PRODUCT if value < 0 or value.denominator != 1 else ATOM


def _negated(term: Expr) -> Expr | None:
    """The term without the sign before it, or None where there is none."""
    coefficient, _ = scaled(term)
    if coefficient >= 0:
        return None
    if not isinstance(term, Mul):
        return num(-coefficient)
    rest = term.args[1:]
    kept = rest if coefficient == -1 else (num(-coefficient), *rest)
    return kept[0] if len(kept) == 1 else Mul(kept)


def _reciprocal(factor: Expr) -> Expr | None:
    """What stands below the line, where the factor is a power with a negative whole exponent or one half of it."""
    if isinstance(factor, Pow) and isinstance(factor.exponent, Num) and factor.exponent.value < 0:
        exponent = factor.exponent.value
        if exponent.denominator == 1 or exponent == -HALF:
            return power(factor.base, num(-exponent))
    return None


def positive(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether a form is positive wherever it is defined: a check for readers of the file, which Coq repeats."""
    match expr:
        case Num():
            return expr.value > 0
        case Sym():
            domain = domains.get(expr.name)
            return domain is not None and domain.lower is not None and (domain.lower > 0 or (domain.lower == 0 and domain.lower_open))
        case Add():
            return all(_not_negative(term, domains) for term in expr.args) and any(positive(term, domains) for term in expr.args)
        case Mul():
            return all(positive(factor, domains) for factor in expr.args)
        case Pow():
            return positive(expr.base, domains)
        case Call():
            return expr.name in ("exp", "cosh", "pi")


def _not_negative(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and expr.exponent.value % 2 == 0:
        return True
    if isinstance(expr, Mul):
        return all(_not_negative(factor, domains) for factor in expr.args)
    return expr == Sym("r") or (isinstance(expr, Call) and expr.name == "abs") or positive(expr, domains)

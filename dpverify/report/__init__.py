"""Judgements to text, JSON, JUnit, SARIF, GitHub annotations and pages. Computes nothing but decimals.

`Entry` is what all of them report: one claim of one file and what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from dpverify.catalogue.assumed import plain
from dpverify.catalogue.notes import Note
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.canonical_form import to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, Num, Pow, format_expr, mul, num, symbols
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import NEARNESS, Claim

_LONGEST: Final = 30
"""Signs of a claimed number that is told as a decimal."""
MOST_PARTS: Final = 20
"""As many parts of a combinator as are shown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim of one file and its outcome.

    judgement: None where dpverify itself failed, with `fault` saying how. certificate: the path written, if any.
    seconds: of search and check together. proved: each line of the certificate with the bounds that it proves. notes: what its author
    may not mean. places: the modules of the trusted folder that were imported for its check where a function needed them.
    confirmed: the independent ways in which the verdict is confirmed; None where nobody asked. paid: of a program whose claim is not
    proved as expected, lines of it, and in a sentence what is paid there.
    """

    file: str
    mechanism: str
    claim: Claim
    expected: str
    line: int = 1
    judgement: Judgement | None = None
    reasons: tuple[str, ...] = ()
    fault: str | None = None
    certificate: str | None = None
    seconds: float = 0.0
    digits: int = 20
    proved: tuple[tuple[Line, tuple[Bound, ...]], ...] = ()
    notes: tuple[Note, ...] = ()
    places: tuple[str, ...] = ()
    confirmed: tuple[str, ...] | None = None
    paid: tuple[tuple[int, str], ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What no density can show, and the verdict rests on; what is not stated and taken for granted first."""
        unsaid = [note.assumed for note in self.notes if note.assumed]
        return () if self.judgement is None else (*unsaid, *map(plain, self.judgement.assumptions))

    @property
    def verdict(self) -> str:
        """PROVED, REFUTED or UNKNOWN."""
        return "UNKNOWN" if self.judgement is None else self.judgement.verdict

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the claim's author expects."""
        return self.fault is None and self.verdict == self.expected

    @property
    def reason(self) -> str | None:
        """What stopped a proof or a refutation, for UNKNOWN."""
        if self.verdict != "UNKNOWN":
            return None
        if self.fault is not None:
            return self.fault
        said = "; ".join(reason.rstrip(". ") for reason in self.reasons)
        return said or "no rule covers this claim; `dpverify explain RULE` says what each one needs."


def understood(claim: Claim) -> list[tuple[str, str]]:
    """A claim's mechanism as it was read, field by field; the parts of a combinator one a line, each as one text."""
    lines = []
    for key, value in to_json(claim)["mechanism"].items():
        if key in ("part", "parts"):
            parts = value if isinstance(value, list) else [value]
            lines += [(key if len(parts) == 1 else f"part {number}", _part(part)) for number, part in enumerate(parts[:MOST_PARTS], 1)]
            lines += [("parts", f"{len(parts)} in all")] if len(parts) > MOST_PARTS else []
        elif value is not None:
            lines.append((key, str(value)))
    return lines


def _part(part: Mapping[str, Any]) -> str:
    """A part, or a noise of a sum, with its parts in brackets."""
    said = []
    for key, value in part["noise" if "noise" in part else "mechanism"].items():
        if key in ("part", "parts"):
            inner = value if isinstance(value, list) else [value]
            said += [f"{key} ({'; '.join(map(_part, inner[:MOST_PARTS]))}{'; ...' if len(inner) > MOST_PARTS else ''})"]
        elif key == "norm":
            said += ["norm " + (f"l{value['p'] or 'inf'}" if value["kind"] == "lp" else f"{value['kind']} {value['matrix']}")]
        elif value not in (None, "", [], [None, None], False):
            said += [f"{key} {value}"]
    said += [f"sensitivity {part['sensitivity']}"] if part.get("sensitivity") is not None else []
    said += [f"query {part['query']['rows']}, {part['query']['adjacency']}"] if part.get("query") is not None else []
    said += [part["adjacency"]] if part.get("adjacency") else []
    said += [f"{part['times']} times"] if part["times"] != "1" else []
    return ", ".join(said)


def summary(entries: Sequence[Entry], *, audited: bool = False) -> str:
    """The last line of an answer. audited: whether it goes on with what audits found, which is expected or not by itself."""
    count, fine = len(entries), sum(entry.as_expected for entry in entries)
    verdicts = f" verdict{'' if fine == 1 else 's'}" if audited else ""
    return f"{count} claim{'' if count == 1 else 's'}, {fine}{verdicts} as expected"


def claimed(value: Expr | None) -> str:
    """A claimed epsilon or delta as it was stated."""
    return "tight" if value is None else format_expr(value)


def enclosure(judgement: Judgement | None, digits: int) -> tuple[str | None, str | None]:
    """Decimals rounded outward round the tight epsilon; "inf" for infinite, None for a side that is not known."""
    if judgement is None:
        return None, None
    if isinstance(judgement.lower, Infinite):
        return "inf", "inf"
    return decimal(judgement.lower, digits, 0), decimal(judgement.upper, digits, 1)


def delta_enclosure(judgement: Judgement | None, digits: int) -> tuple[str | None, str | None]:
    """Decimals rounded outward round the tight delta at the claimed epsilon, None for a side that is not known."""
    if judgement is None:
        return None, None
    most = judgement.delta_upper
    if isinstance(most, Num) and Fraction(9, 10) < most.value < 1:  # just below 1 the digits count from what is missing
        digits += int((1 / (1 - most.value)).__floor__().bit_length() * 0.30103)
    lower, upper = decimal(judgement.delta_lower, digits, 0), decimal(most, digits, 1)
    # decimals of a closed form may leave the interval that probabilities lie in
    return (
        "0" if lower is not None and Fraction(lower) < 0 else lower,
        "1" if upper is not None and Fraction(upper) > 1 else upper,
    )


def exact(judgement: Judgement | None) -> str | None:
    """The tight epsilon in closed form, where both bounds are one expression that is not a mere decimal."""
    if judgement is None or judgement.lower is None or isinstance(judgement.lower, Infinite) or judgement.lower != judgement.upper:
        return None
    return format_expr(judgement.lower)


def exact_delta(judgement: Judgement | None) -> str | None:
    """The tight delta in closed form, where one is known that is not a mere rational."""
    bounds = () if judgement is None else (judgement.delta_lower, judgement.delta_upper)
    forms = [bound for bound in bounds if bound is not None and not isinstance(bound, Num)]
    return format_expr(forms[0]) if forms else None


def ceiling(judgement: Judgement | None) -> str | None:
    """The proved upper bound in closed form, where it depends on parameters."""
    if judgement is None or judgement.upper is None or isinstance(judgement.upper, Infinite) or not symbols(judgement.upper):
        return None
    return format_expr(judgement.upper)


def short(value: Expr | None) -> str:
    """A claimed number for people: as a decimal where it is one of moderate length, else as stated."""
    if isinstance(value, Num) and value.value.denominator != 1:
        return _as_decimal(value.value) or claimed(value)
    if isinstance(value, Pow) and (doubled := format_expr(mul(num(2), value))).startswith("2/"):
        return f"1{doubled[1:]}"  # 1/n, which is n**(-1) where it is no factor
    return claimed(value)


def _as_decimal(value: Fraction) -> str | None:
    """A fraction of a power of ten as a decimal, such as 484.4805 or 1e-6; None for others, and for long ones."""
    places = next((k for k in range(_LONGEST) if (value * 10**k).denominator == 1), None)
    if places is None:
        return None
    digits = int(value * 10**places)
    if places > len(str(abs(digits))) + 3:
        text = f"{Decimal(digits).scaleb(-places).normalize():e}".replace("e+", "e")
    else:
        text = f"{Decimal(digits).scaleb(-places):f}"
    return text if len(text) <= _LONGEST else None


_SIGNS: Final = {"zcdp": "rho", "gdp": "mu", "renyi": "divergence", NEARNESS: "beta"}


def quantity(claim: Claim) -> str:
    """What a claim asks for, as it is called: epsilon, or that of another measure."""
    if claim.measure is None:
        return "epsilon"
    sign = _SIGNS[claim.measure.name]
    return sign if claim.measure.at is None else f"{sign} of order {claim.measure.at}"


def asked(claim: Claim) -> Expr | None:
    """What is claimed of that, None where it is asked for."""
    return claim.epsilon if claim.measure is None else claim.measure.value


def brief(claim: Claim) -> str:
    """What is claimed, in a few words."""
    delta = [] if short(claim.delta) == "0" else [f"delta {short(claim.delta)}"]
    near = [] if claim.within is None or claim.measure is None else [f"within {short(claim.within)}"]
    return ", ".join([*near, f"{quantity(claim)} {short(asked(claim))}", *delta, *([claim.order] if claim.order else [])])


def decimal(bound: Expr | Infinite | None, digits: int, side: int) -> str | None:
    """A bound as a decimal of so many digits, rounded down (side 0) or up (side 1); None where it is no number."""
    if bound is None:
        return None
    if isinstance(bound, Infinite):
        return "inf"
    if symbols(bound):
        return None
    try:
        return _decimals(bound, digits)[side]
    except Undecided:
        return None


@lru_cache(maxsize=1024)
def _decimals(bound: Expr, digits: int) -> tuple[str, str]:
    """Of one number a page tells more than once."""
    return decimal_bounds(bound, digits)

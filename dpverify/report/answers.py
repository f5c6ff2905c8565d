"""Answers in Python: a judgement with its numbers as decimals, which prints as the command line does and shows itself as the page does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue import NotCertain, NotProved, Stated
from dpverify.catalogue.notes import Note
from dpverify.evidence.collected import encode
from dpverify.project.confirmed import confirmed
from dpverify.report import Entry, asked, ceiling, claimed, delta_enclosure, enclosure, exact, exact_delta, quantity, short, text
from dpverify.report.enclosures import common
from dpverify.report.results import Results
from dpverify.runtime.outside import printable
from dpverify.runtime.whole import write
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.expr import ZERO, Expr, format_expr
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim

_Real = int | float | Fraction | Decimal


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number between two proved bounds, which are decimals rounded outward; None for a side that is not known.

    exact: the number in closed form where it has one; for a bound in parameters, that bound. claimed: what the claim says of it, "tight"
    where it asks. It compares with numbers, becomes a float and is formatted where both bounds give one answer; where they do not, that
    raises NotCertain, which says what to ask instead.
    """

    lower: Decimal | None
    upper: Decimal | None
    exact: str | None = None
    claimed: str = "tight"

    @property
    def short(self) -> str:
        """The number as far as both bounds agree, or what is known of it; empty where that is nothing."""
        lower, upper = self.lower, self.upper
        if lower is not None and upper is not None:
            return _plain(lower) if lower == upper else common(str(lower), str(upper))
        return self.exact or (f"at least {_plain(lower)}" if lower is not None else f"at most {_plain(upper)}" if upper is not None else "")

    def __repr__(self) -> str:
        closed = f" = {self.exact}" if self.exact else ""
        if self.lower is None and self.upper is None:
            return f"unknown{closed}"
        if self.lower is None or self.upper is None:
            return f"at most {self.upper}{closed}" if self.lower is None else f"at least {self.lower}{closed}"
        return _plain(self.lower) if self.lower == self.upper else f"[{self.lower}, {self.upper}]{closed}"

    def __lt__(self, other: Enclosure | _Real) -> bool:
        return self._is_below(other, "<", equal=False)

    def __le__(self, other: Enclosure | _Real) -> bool:
        return self._is_below(other, "<=", equal=True)

    def __gt__(self, other: Enclosure | _Real) -> bool:
        below = self._is_below(other, ">", equal=True)
        return below if below is NotImplemented else not below

    def __ge__(self, other: Enclosure | _Real) -> bool:
        below = self._is_below(other, ">=", equal=False)
        return below if below is NotImplemented else not below

    def __eq__(self, other: object) -> bool:
        """With an enclosure: whether all that is known is the same. With a number: whether it is that number, where that is certain."""
        if isinstance(other, Enclosure):
            known = (self.lower, self.upper, self.exact, self.claimed)
            return known == (other.lower, other.upper, other.exact, other.claimed)
        if not isinstance(other, _Real):
            return NotImplemented
        if (self.lower is not None and self.lower > other) or (self.upper is not None and self.upper < other):
            return False
        if self.lower is not None and self.lower == self.upper:
            return True
        raise NotCertain(f"whether it is {other} is not certain, for it is {self!r}: compare .lower and .upper.")

    def __hash__(self) -> int:
        return hash(self.lower) if self.lower == self.upper else hash((self.lower, self.upper))

    def __bool__(self) -> bool:
        raise NotCertain("an enclosure is neither true nor false: compare its number, as in `> 0`, or its .lower and .upper.")

    def __float__(self) -> float:
        ends = {float(end) for end in (self.lower, self.upper) if end is not None}
        if None in (self.lower, self.upper) or len(ends) > 1:
            raise NotCertain(f"no float is certain, for the number is {self!r}: take float(.upper), or ask for more digits.")
        return ends.pop()

    def __format__(self, form: str) -> str:
        if not form:
            return str(self)
        ends = {format(end, form) for end in (self.lower, self.upper) if end is not None}
        if None in (self.lower, self.upper) or len(ends) > 1:
            raise NotCertain(f"its form {form!r} is not certain, for the number is {self!r}: format its .upper, or fewer digits.")
        return ends.pop()

    def _is_below(self, other: Enclosure | _Real, sign: str, *, equal: bool) -> bool:
        """Whether the number is less than another, or equal to it where that counts. Raises NotCertain where the bounds leave it open."""
        if not isinstance(other, Enclosure | _Real):
            return NotImplemented
        least, most = (other.lower, other.upper) if isinstance(other, Enclosure) else (other, other)
        if self.upper is not None and least is not None and (self.upper <= least if equal else self.upper < least):
            return True
        if self.lower is not None and most is not None and (self.lower > most if equal else self.lower >= most):
            return False
        raise NotCertain(
            f"whether it is {sign} {other} is not certain, for it is {self!r}: compare its .upper or .lower, or ask for more digits."
        )


_ASK: Final = {
    "proved": "answer.is_proved, or answer.verdict",
    "refuted": 'answer.verdict == "REFUTED"',
    "unknown": 'answer.verdict == "UNKNOWN"',
    "reasons": "answer.reason",
    "rho": "answer.measure",
    "zcdp": "answer.measure",
    "gdp": "answer.measure",
    "mu": "answer.measure",
    "renyi": "answer.measure",
}
"""What to ask an answer for, by what it might be thought to have."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A judgement with its proof. Printing it shows what the command line shows, and a notebook shows it as the page of a report does.

    verdict: PROVED, REFUTED or UNKNOWN; is_proved, and raise_unless_proved() for scripts; an answer itself is neither true nor false.
    epsilon, delta, measure: what is tight and what is claimed, each an Enclosure, None where it was not asked and nothing is known of it.
    mechanism: its name; sensitivity: as it is stated, or follows from the query. assumptions: what no density can show; witness: of a
    refuted claim; reason: of an undecided one; rules, certificate: of the proof, which save(path) writes; theorem() and bibtex() give
    LaTeX for a paper, to_dict() the entry of `--format json`. file: the claim file that it comes from, empty for a claim that Python
    states. expected: the verdict that counts as success. digits: of the enclosures. seconds: of search and check together.
    """

    _verified: Verified
    file: str = ""
    expected: str = "PROVED"
    line: int = 1
    digits: int = 20
    seconds: float = 0.0
    _notes: tuple[Note, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the author of the claim may not mean: a sensitivity that is not stated, a parameter that is used nowhere."""
        return tuple(note.said for note in self._notes)

    def __bool__(self) -> bool:
        raise NotCertain(
            f"an answer ({self.verdict}) is neither true nor false. Ask answer.is_proved, or answer.verdict, or call "
            "answer.raise_unless_proved()."
        )

    def __getattr__(self, name: str) -> Any:
        way = f" Ask {_ASK[name]}." if name in _ASK else ""
        raise AttributeError(f"an answer has no attribute {name!r}.{way}")

    @property
    def is_proved(self) -> bool:
        """Whether the claim is proved."""
        return self.verdict == "PROVED"

    def raise_unless_proved(self) -> Answer:
        """The answer itself where the claim is proved. Raises NotProved with all that is known, where it is refuted or undecided."""
        if not self.is_proved:
            raise NotProved(str(self), [self.verdict])
        return self

    @property
    def judgement(self) -> Judgement:
        """What the kernel says."""
        return self._verified.judgement

    @property
    def certificate(self) -> Mapping[str, Any]:
        """The certificate, as JSON data."""
        return self._verified.certificate

    @property
    def mechanism(self) -> str:
        """The name of the mechanism: that of its claim file, or of its kind."""
        return self.claim.mechanism_name

    @property
    def sensitivity(self) -> str | None:
        """By how much neighbours move the answer, as it is stated or follows from the query; None where the mechanism itself says it."""
        if self.claim.query is not None:
            from dpverify.report import derived

            return derived.sensitivity(self.entry) or None
        return None if self.claim.sensitivity is None else format_expr(self.claim.sensitivity)

    def to_dict(self) -> dict[str, Any]:
        """The entry that `dpverify verify --format json` has for the claim."""
        from dpverify.report import record

        return record.record(self.entry)

    @property
    def claim(self) -> Claim:
        """The claim that is judged."""
        return self.judgement.claim

    @property
    def name(self) -> str:
        """The name of the claim."""
        return self.claim.name

    @property
    def verdict(self) -> str:
        """PROVED, REFUTED or UNKNOWN."""
        return self.judgement.verdict

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the claim's author expects."""
        return self.verdict == self.expected

    @property
    def epsilon(self) -> Enclosure | None:
        """The tight epsilon at the claimed delta, and what is claimed; None where another measure, or delta, is all that is asked."""
        if self.claim.measure is not None:
            return None
        found = self._asked(self.claim.epsilon)
        return None if self.claim.delta is None and _nothing(found) else found

    @property
    def measure(self) -> Enclosure | None:
        """Of a claim of zcdp, gdp or renyi: the tight value in that measure, and what is claimed; else None."""
        return None if self.claim.measure is None else self._asked(self.claim.measure.value)

    def _asked(self, value: Expr | None) -> Enclosure:
        lower, upper = map(_decimal, enclosure(self.judgement, self.digits))
        return Enclosure(lower, upper, exact(self.judgement) or ceiling(self.judgement), claimed(value))

    @property
    def delta(self) -> Enclosure | None:
        """The tight delta at the claimed epsilon, and what is claimed; None where no delta is claimed or asked, and none is known."""
        if self.claim.measure is not None:
            return None
        lower, upper = map(_decimal, delta_enclosure(self.judgement, self.digits))
        found = Enclosure(lower, upper, exact_delta(self.judgement), claimed(self.claim.delta))
        return None if self.claim.delta == ZERO and _nothing(found) else found

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What no density can show, and the verdict rests on."""
        return self.entry.assumptions

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The independent ways in which the verdict is confirmed: "kernel", "second checker", "Coq"; none where nothing is decided.

        The second checker is asked now, in a process of its own; Coq is not run, but looked up in the record of what it has accepted.
        """
        return confirmed(self.judgement, self.certificate)

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that prove the bounds; `dpverify explain RULE` tells what each states."""
        return tuple(self.judgement.rules)

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """Of a refuted claim, the pair with the event and its probabilities, or with the point and the logarithm of the ratio."""
        return self.judgement.witness

    @property
    def reason(self) -> str | None:
        """What stopped a proof or a refutation, and what would help; None where there is a verdict."""
        return self.entry.reason

    @property
    def entry(self) -> Entry:
        """The answer as reports have it."""
        return Entry(
            self.file, self.claim.mechanism_name, self.claim, self.expected, self.line, judgement=self.judgement,
            reasons=self._verified.reasons, seconds=self.seconds, digits=self.digits, proved=self._verified.proved,
            notes=self._notes,
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the certificate, the whole file or nothing; `dpverify.check` and `dpverify check` re-check it. Gives the file."""
        file = Path(path)
        write(file, encode(self.certificate))
        return file

    def theorem(self) -> str:
        """What was decided, as a theorem in LaTeX (of amsmath, amssymb and amsthm), with a proof that names the rules and the certificate.

        Raises DpverifyError where nothing was proved or refuted.
        """
        from dpverify.report import theorem

        return theorem.theorem(self.entry, theorem.digest(self._verified))

    def bibtex(self) -> str:
        """The entries of a bibliography that the proof in `theorem` cites."""
        from dpverify.report import theorem

        return theorem.bibtex([self.entry])

    def __str__(self) -> str:
        return text.render(Results(entries=[self.entry]))

    def __repr__(self) -> str:
        measure, sign = self.measure, quantity(self.claim)
        said = f"{sign} {short(asked(self.claim))}"
        if measure is None and (delta := short(self.claim.delta)) != "0":
            said += f", delta {delta}"
        of_delta = measure is None and self.claim.delta is None
        known = self.delta if of_delta else self.epsilon if measure is None else measure
        tight = f", tight {'delta' if of_delta else sign} {known.short}" if known is not None and known.short else ""
        return printable(f"<{self.verdict} {self.claim.mechanism_name}: {said}{tight}>")

    def _repr_html_(self) -> str:
        from dpverify.report import notebook  # pages are loaded where one is shown

        return notebook.of_answer(self._verified)


def _plain(number: Decimal) -> str:
    """A number that both bounds are, without zeros at its end."""
    return "infinite" if number.is_infinite() else format(number.normalize(), "f")


def _nothing(found: Enclosure) -> bool:
    """Whether nothing is known of a number."""
    return (found.lower, found.upper, found.exact) == (None, None, None)


class Answers(list[Answer]):
    """The answers to the claims of files: a list, which is neither true nor false where it holds any."""

    def __bool__(self) -> bool:
        if len(self):
            raise NotCertain(
                "answers are neither true nor false. Ask answers.is_proved, or the verdict of each, or call answers.raise_unless_proved(); "
                "len(answers) is their number."
            )
        return False

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the one that its claim's author expects."""
        return all(one.as_expected for one in self)

    @property
    def is_proved(self) -> bool:
        """Whether every claim is proved."""
        return all(one.is_proved for one in self)

    def raise_unless_proved(self) -> Answers:
        """The answers themselves where every claim is proved. Raises NotProved with those that are not."""
        others = [one for one in self if not one.is_proved]
        if others:
            raise NotProved(text.render(Results(entries=[one.entry for one in others])), [one.verdict for one in others])
        return self


def answer(verified: Verified, **of_file: Any) -> Answer:
    """A judgement as an answer."""
    return Answer(verified, **of_file)


def judged(of: Stated, digits: int, file: str = "") -> Answer:
    """The answer to a claim. file: that it comes from."""
    started = time.perf_counter()
    verified = verify(of.claim, digits)
    seconds = time.perf_counter() - started
    return answer(verified, file=file, expected=of.expect, line=of.line, digits=digits, seconds=seconds, _notes=of.notes)


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)

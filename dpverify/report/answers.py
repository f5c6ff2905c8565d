"""Answers in Python: a judgement with its numbers as decimals, which prints as the command line does and shows itself as the page does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpverify.catalogue import Stated
from dpverify.ground.outside import printable
from dpverify.ground.whole import write
from dpverify.report import Entry, asked, ceiling, claimed, delta_enclosure, enclosure, exact, exact_delta, quantity, short, text
from dpverify.report.enclosures import common
from dpverify.report.results import Results
from dpverify.search.certificates import encode
from dpverify.search.verify import Verified, verify
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.language.model import Claim


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number between two proved bounds, which are decimals rounded outward; None for a side that is not known.

    exact: the number in closed form where it has one; for a bound in parameters, that bound. claimed: what the claim says of it, "tight"
    where it asks.
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
        ends = [str(end) if end is not None else "?" for end in (self.lower, self.upper)]
        closed = f" = {self.exact}" if self.exact else ""
        return _plain(self.lower) if self.lower == self.upper and self.lower is not None else f"[{', '.join(ends)}]{closed}"


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Verified):
    """A judgement with its proof. Printing it shows what the command line shows, and a notebook shows it as the page of a report does.

    verdict: PROVED, REFUTED or UNKNOWN; epsilon, delta, measure: what is tight and what is claimed, each an Enclosure; assumptions:
    what no density can show; witness: of a refuted claim; reason: of an undecided one; rules, certificate: of the proof, which
    save(path) writes; theorem() and bibtex() give LaTeX for a paper. file: the claim file that it comes from, empty for a claim that
    Python states. expected: the verdict that counts as success. digits: of the enclosures. seconds: of search and check together.
    """

    file: str = ""
    expected: str = "PROVED"
    line: int = 1
    digits: int = 20
    seconds: float = 0.0

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
    def epsilon(self) -> Enclosure:
        """The tight epsilon at the claimed delta, and what is claimed; nothing is known of it where another measure is claimed."""
        return Enclosure(None, None) if self.claim.measure is not None else self._asked(self.claim.epsilon)

    @property
    def measure(self) -> Enclosure | None:
        """Of a claim of zcdp, gdp or renyi: the tight value in that measure, and what is claimed; else None."""
        return None if self.claim.measure is None else self._asked(self.claim.measure.value)

    def _asked(self, value: Expr | None) -> Enclosure:
        lower, upper = map(_decimal, enclosure(self.judgement, self.digits))
        return Enclosure(lower, upper, exact(self.judgement) or ceiling(self.judgement), claimed(value))

    @property
    def delta(self) -> Enclosure:
        """The tight delta at the claimed epsilon, and what is claimed."""
        if self.claim.measure is not None:
            return Enclosure(None, None)
        lower, upper = map(_decimal, delta_enclosure(self.judgement, self.digits))
        return Enclosure(lower, upper, exact_delta(self.judgement), claimed(self.claim.delta))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What no density can show, and the verdict rests on."""
        return tuple(self.judgement.assumptions)

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
            self.file, self.claim.mechanism_name, self.claim, self.expected, self.line, judgement=self.judgement, reasons=self.reasons,
            seconds=self.seconds, digits=self.digits, proved=self.proved,
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

        return theorem.theorem(self.entry, theorem.digest(self))

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
        known = measure or (self.delta if self.claim.delta is None else self.epsilon)
        tight = f", tight {'delta' if known == self.delta else sign} {known.short}" if known.short else ""
        return printable(f"<{self.verdict} {self.claim.mechanism_name}: {said}{tight}>")

    def _repr_html_(self) -> str:
        from dpverify.report import notebook  # pages are loaded where one is shown

        return notebook.of_answer(self)


def _plain(number: Decimal) -> str:
    """A number that both bounds are, without zeros at its end."""
    return "infinite" if number.is_infinite() else format(number.normalize(), "f")


def answer(verified: Verified, **of_file: Any) -> Answer:
    """A judgement as an answer."""
    return Answer(**{one.name: getattr(verified, one.name) for one in fields(Verified)}, **of_file)


def judged(of: Stated, digits: int, file: str = "") -> Answer:
    """The answer to a claim. file: that it comes from."""
    started = time.perf_counter()
    verified = verify(of.claim, digits)
    seconds = time.perf_counter() - started
    return answer(verified, file=file, expected=of.expect, line=of.line, digits=digits, seconds=seconds)


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)

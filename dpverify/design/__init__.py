"""From a query and the privacy that is wanted to mechanisms that answer it, with certified errors and how far these are from the least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpverify.catalogue import Spec, read_spec
from dpverify.design.candidates import Candidate, NotTried, candidates
from dpverify.design.question import Question as Question
from dpverify.design.question import question_of as question_of
from dpverify.design.question import read_question as read_question
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.facts.errors import ErrorBound, Measure
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.numbers.balls import constant

Judge = Callable[[Sequence[Spec]], Sequence[Judgement | None]]
"""From the claims of files, one each, to what is proved of them, None where that took too long."""


@dataclass(frozen=True, slots=True)
class Designed:
    """A candidate with its claim file and what is proved of it."""

    candidate: Candidate
    file: Path
    judgement: Judgement | None

    @property
    def verdict(self) -> str:
        """Of its claim."""
        return "UNKNOWN" if self.judgement is None else self.judgement.verdict

    def bound(self, measure: Measure, side: str, whose: str = "this") -> tuple[str, ErrorBound] | None:
        """What is proved of one error, with the rule that proves it."""
        errors = () if self.judgement is None else self.judgement.errors
        return next(
            (one for one in errors if (one[1].measure, one[1].side, one[1].whose, one[1].coordinate) == (measure, side, whose, None)), None
        )

    def value(self, measure: Measure, side: str, whose: str = "this") -> Expr | None:
        """The same as a finite number."""
        found = self.bound(measure, side, whose)
        return None if found is None or isinstance(found[1].value, Infinite) else found[1].value


@dataclass(frozen=True)
class Design:
    """The answer: mechanisms whose privacy is proved, the least certified error first, and what was not tried or not proved."""

    question: Question
    ranked: tuple[Designed, ...]
    unproved: tuple[Designed, ...]
    skipped: tuple[NotTried, ...]

    @cached_property
    def least(self) -> tuple[str, ErrorBound] | None:
        """The greatest lower bound on the root mean square error of any mechanism, with its rule."""
        found = [one for each in self.ranked if (one := each.bound("rms_l2", "lower", "any")) is not None]
        return max(found, key=lambda one: _size(one[1].value), default=None)


def design(question: Question, folder: Path, judge: Judge) -> Design:
    """Candidates for a question, each written to the folder as a claim file, judged, and put in order."""
    proposed = [*candidates(question)]
    wanted = [one for one in proposed if isinstance(one, Candidate)]
    files = []
    for number, candidate in enumerate(wanted, 1):
        files.append(folder / f"{number:02}-{'-'.join(''.join(c if c.isalnum() else ' ' for c in candidate.name).split())}.toml")
        heading = f"# {question.name}: {candidate.how}.\n"
        files[-1].write_text(heading + candidate.text, encoding="utf-8")
    specs = [read_spec(file) for file in files]
    found = [Designed(*one) for one in zip(wanted, files, judge(specs), strict=True)]
    good = [one for one in found if one.verdict == "PROVED" and one.value("rms_l2", "upper") is not None]
    ranked = sorted(good, key=lambda one: _size(one.value("rms_l2", "upper")))
    unproved = tuple(one for one in found if one not in good)
    return Design(question, tuple(ranked), unproved, tuple(one for one in proposed if isinstance(one, NotTried)))


def _size(value: Expr | Infinite | None) -> float:
    return float("inf") if value is None or isinstance(value, Infinite) else float(constant(value))

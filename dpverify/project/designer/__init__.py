"""From a query and the privacy that is wanted to mechanisms that answer it, with certified errors and how far these are from the least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dpverify.catalogue import Spec, read_spec
from dpverify.errors import SpecError
from dpverify.project.designer.candidates import Candidate, NotTried, candidates
from dpverify.project.designer.isotropy import Isotropy, isotropy
from dpverify.project.designer.question import Question as Question
from dpverify.project.designer.question import question_of as question_of
from dpverify.project.designer.question import read_question as read_question
from dpverify.runtime.whole import write
from dpverify.trusted.facts.errors import ErrorBound, Measure
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.judgement import Judgement

Judge = Callable[[Sequence[Spec]], Sequence[Judgement | None]]
"""From the claims of files, one each, to what is proved of them, None where that took too long."""

MOST_JUDGED: Final = 12
"""Candidates of a small query that are judged, those first of which floats expect the least error."""
MOST_JUDGED_OF_MANY: Final = 3
"""The same of a query with a matrix of many entries."""
MANY: Final = 4_000
HEADING: Final = "# Designed by dpverify: "
"""What the files begin with that `written` may replace."""


@dataclass(frozen=True, slots=True)
class Designed:
    """A candidate with what is proved of it. file: where its claim is written, empty where it is not."""

    candidate: Candidate
    judgement: Judgement | None
    file: str = ""

    @property
    def verdict(self) -> str:
        """Of its claim."""
        return "UNKNOWN" if self.judgement is None else self.judgement.verdict

    def bound(self, measure: Measure, side: str, whose: str = "this") -> tuple[str, ErrorBound] | None:
        """What is proved of one error, with the rule that proves it."""
        errors = () if self.judgement is None else self.judgement.errors
        wanted = (measure, side, whose, None)
        return next((one for one in errors if (one[1].measure, one[1].side, one[1].whose, one[1].coordinate) == wanted), None)

    def value(self, measure: Measure, side: str) -> Expr | None:
        """The same of its own error, as a finite number."""
        found = self.bound(measure, side)
        return None if found is None or isinstance(found[1].value, Infinite) else found[1].value


@dataclass(frozen=True)
class Design:
    """The answer: mechanisms whose privacy is proved, the least certified error first, and what was not tried or not proved."""

    question: Question
    ranked: tuple[Designed, ...]
    left: tuple[NotTried, ...]
    isotropy: Isotropy | NotTried

    @cached_property
    def least(self) -> tuple[str, ErrorBound] | None:
        """The greatest lower bound on the root mean square error of any mechanism, with its rule."""
        found = [one for each in self.ranked if (one := each.bound("rms_l2", "lower", "any")) is not None]
        return max(found, key=lambda one: _size(one[1].value), default=None)


def design(question: Question, judge: Judge) -> Design:
    """Candidates for a question, each judged as a claim file, in the order of their certified errors."""
    proposed = [*candidates(question)]
    wanted = sorted((one for one in proposed if isinstance(one, Candidate)), key=lambda one: one.predicted or 0)
    rows = question.query.rows
    most = MOST_JUDGED if len(rows) * len(rows[0]) <= MANY else MOST_JUDGED_OF_MANY
    left = [one for one in proposed if isinstance(one, NotTried)]
    left += [NotTried(one.name, f"its error is about {one.predicted:.6g}, and {most} others promise less.") for one in wanted[most:]]
    found = [Designed(*one) for one in zip(wanted[:most], _judged(question, wanted[:most], judge), strict=True)]
    good = [one for one in found if one.verdict == "PROVED" and one.value("rms_l2", "upper") is not None]
    for one in found:
        if one not in good:
            why = "its error is not certified" if one.verdict == "PROVED" else f"its claim is {one.verdict}"
            left.append(NotTried(one.candidate.name, f"{why}."))
    order = {one.name: number for number, one in enumerate(proposed)}  # of equal errors the simpler mechanism is first
    ranked = sorted(good, key=lambda one: (float(f"{_size(one.value('rms_l2', 'upper')):.9e}"), order[one.candidate.name]))
    return Design(question, tuple(ranked), tuple(left), isotropy(question))


def _judged(question: Question, wanted: Sequence[Candidate], judge: Judge) -> Sequence[Judgement | None]:
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.toml" for number in range(len(wanted))]
        for file, candidate in zip(files, wanted, strict=True):
            file.write_text(_text(question, candidate), encoding="utf-8")
        return judge([read_spec(file) for file in files])


def _text(question: Question, candidate: Candidate) -> str:
    return f"{HEADING}{question.name}, {candidate.how}.\n{candidate.text}"


def written(found: Design, folder: Path) -> Design:
    """The same, with each mechanism written to a folder as a claim file, by rank; those of an earlier run are replaced.

    Raises SpecError for files of somebody else that are in the way, OSError where the folder cannot be written.
    """
    names = [f"{number:02}-{_stem(one.candidate.name)}.toml" for number, one in enumerate(found.ranked, 1)]
    folder.mkdir(parents=True, exist_ok=True)
    own = [file for file in folder.glob("*.toml") if file.read_text(encoding="utf-8", errors="replace").startswith(HEADING)]
    foreign = [name for name in names if (folder / name).exists() and folder / name not in own]
    if foreign:
        raise SpecError(f"{folder}: {', '.join(foreign)} would be replaced, and dpverify did not write it. Name another folder.")
    for name, one in zip(names, found.ranked, strict=True):
        write(folder / name, _text(found.question, one.candidate))
    for file in own:
        if file.name not in names:
            file.unlink()
    ranked = (replace(one, file=str(folder / name)) for name, one in zip(names, found.ranked, strict=True))
    return replace(found, ranked=tuple(ranked))


def _stem(name: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in name).split())


def _size(value: Expr | Infinite | None) -> float:
    return float("inf") if value is None or isinstance(value, Infinite) else float(constant(value))

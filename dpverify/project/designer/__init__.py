"""From a query and the privacy that is wanted to mechanisms that answer it, with certified errors and how far these are from the least."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dpverify.catalogue import Spec, read_spec
from dpverify.errors import SpecError
from dpverify.project.designer import releases, tables, whole
from dpverify.project.designer.candidates import Candidate, NotTried, candidates
from dpverify.project.designer.data import Data, of_histogram, of_table
from dpverify.project.designer.isotropy import Isotropy, isotropy
from dpverify.project.designer.question import Question as Question
from dpverify.project.designer.question import question_of as question_of
from dpverify.project.designer.question import read_question as read_question
from dpverify.project.designer.releases import Released
from dpverify.project.designer.structure import Structure, structure
from dpverify.project.designer.tables import Laplace
from dpverify.project.designer.whole import Shaped, Stated
from dpverify.runtime.whole import write
from dpverify.trusted.facts.errors import ErrorBound, Measure
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.utility.any_mechanism import REALS

Judge = Callable[[Sequence[Spec]], Sequence[Judgement | None]]
"""From the claims of files, one each, to what is proved of them, None where that took too long."""

MOST_JUDGED: Final = 12
"""Candidates of a small query that are judged, those first of which floats expect the least error."""
MOST_JUDGED_OF_MANY: Final = 3
"""The same of a query with a matrix of many entries."""
MANY: Final = 4_000
MANY_OF_PURE: Final = 20_000
"""Entries of a matrix beyond which no mechanism is written as a claim file, where one is known by the structure of the query. The K-norm
mechanism, which may have much less error under a pure epsilon, wants a claim file, so that more of these are written."""
HEADING: Final = "# Designed by dpverify: "
"""What the files begin with that `written` may replace."""


@dataclass(frozen=True, slots=True)
class Designed:
    """A candidate with what is proved of it. file: where its claim is written, empty where it is not.

    stated: what is proved of noise of the best shape from the structure of a workload, without a claim file. noise: which that is.
    question: what the mechanism answers. greatest: the root of the greatest variance of one answer, at most, where that is asked for.
    """

    candidate: Candidate
    judgement: Judgement | None
    file: str = ""
    stated: tuple[Stated, ...] = ()
    noise: Shaped | Laplace | None = None
    question: Question | None = None
    greatest: Expr | None = None

    @property
    def verdict(self) -> str:
        """Of its claim."""
        if self.stated:
            return "PROVED"
        return "UNKNOWN" if self.judgement is None else self.judgement.verdict

    def bound(self, measure: Measure, side: str, whose: str = "this") -> tuple[str, ErrorBound] | None:
        """What is proved of one error, with the rule that proves it."""
        errors = self.stated if self.judgement is None else self.judgement.errors
        wanted = (measure, side, whose, None)
        return next((one for one in errors if (one[1].measure, one[1].side, one[1].whose, one[1].coordinate) == wanted), None)

    @property
    def claim_file(self) -> str:
        """What its claim file says; empty where it has none."""
        return _text(self.question, self.candidate) if self.question is not None and self.candidate.text else ""

    @property
    def claim(self) -> Claim:
        """What its claim file claims."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "design.toml"
            file.write_text(self.claim_file, encoding="utf-8")
            (claim,) = read_spec(file).claims
        return claim.claim

    def release(self, histogram: Any, seed: int | None = None) -> Released:
        """The answers to the queries on data, with noise, and their standard deviations.

        histogram: how many records there are of each kind, in the order of the columns; or a data frame of pandas or a relation of DuckDB,
        with a column for each attribute as files have them; or `Data`. seed: of numpy's generator; without one its bits are new each time,
        as they must be where something is published. Raises DataError.
        """
        import numpy as np

        return self._released(self._data(histogram), np.random.default_rng(seed))

    @property
    def sampler(self) -> Callable[[Any, Any], list[float]]:
        """The same as audits want samplers: from data and numpy's generator to noisy answers."""

        def sampler(histogram: Any, rng: Any) -> list[float]:
            return [*self._released(self._data(histogram), rng).answers]

        return sampler

    def _data(self, given: Any) -> Data:
        assert self.question is not None
        sizes, whole = sizes_of(self.question), self.question.adjacency not in REALS
        if isinstance(given, Data):
            return given
        if hasattr(given, "columns"):
            return of_table(given, sizes, whole=whole)
        return of_histogram(given, sizes, whole=whole)

    def _released(self, data: Data, rng: Any) -> Released:
        question = self.question
        assert question is not None
        if isinstance(self.noise, Shaped):
            return releases.by_shape(question, self.noise, data, rng)
        if self.noise is not None:
            return releases.by_laplace(question, self.noise, data, rng)
        return releases.by_claim(question, self.claim, data, rng, _size(self.value("rms_l2", "upper")))

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
    necessary: Stated | None = None
    necessary_greatest: Expr | None = None

    @cached_property
    def least(self) -> tuple[str, ErrorBound] | None:
        """The greatest lower bound on the root mean square error of any mechanism, with its rule."""
        found = [one for each in self.ranked if (one := each.bound("rms_l2", "lower", "any")) is not None]
        found += [] if self.necessary is None else [self.necessary]
        return max(found, key=lambda one: _size(one[1].value), default=None)


def design(question: Question, judge: Judge) -> Design:
    """Candidates for a question, each judged as a claim file, and noise of the best shape, in the order of their certified errors.

    Raises SpecError where the queries have no matrix, and no structure by which something is known of them.
    """
    known = structure(question)
    least = None if isinstance(known, str) else whole.necessary(question, known)
    best, left = _of_structure(question, known, least)
    if question.rows is None and isinstance(known, str) and not best:
        raise SpecError(f"{question.file}, design: workload: its matrix has too many entries to be written out, and {known}")
    proposed, few = _proposed(question, best)
    wanted = sorted((one for one in proposed if isinstance(one, Candidate)), key=lambda one: one.predicted or 0)
    left += [one for one in proposed if isinstance(one, NotTried)]
    left += [NotTried(one.name, f"its error is about {one.predicted:.6g}, and {few} others promise less.") for one in wanted[few:]]
    found = [*best, *(Designed(*one) for one in zip(wanted[:few], _judged(question, wanted[:few], judge), strict=True))]
    good = [one for one in found if one.verdict == "PROVED" and one.value("rms_l2", "upper") is not None]
    for one in found:
        if all(one is not other for other in good):
            why = "its error is not certified" if one.verdict == "PROVED" else f"its claim is {one.verdict}"
            left.append(NotTried(one.candidate.name, f"{why}."))
    order = {one.name: number for number, one in enumerate(proposed)}  # of equal errors the simpler mechanism is first
    last = len(order)
    good = [replace(one, question=question) for one in good]
    if question.objective == "greatest":
        good = [replace(one, greatest=releases.greatest_of(one.claim)) if one.claim_file else one for one in good]
    sizes = {id(one): _size(one.greatest if question.objective == "greatest" else one.value("rms_l2", "upper")) for one in good}
    ranked = sorted(good, key=lambda one: (float(f"{sizes[id(one)]:.9e}"), order.get(one.candidate.name, last)))
    body = NotTried("isotropy", "the queries have no matrix that is short enough.") if _many(question) else isotropy(question)
    most = None if isinstance(known, str) else whole.necessary_greatest(question, known)
    return Design(question, tuple(ranked), tuple(left), body, least, most)


def sizes_of(question: Question) -> tuple[int, ...]:
    """The sizes of the attributes that records have; of a query, its columns are the values of one."""
    return (question.size[1],) if question.workload is None else question.workload.sizes


def _many(question: Question) -> bool:
    return question.rows is None or prod(question.size) > (MANY_OF_PURE if question.pure else MANY)


def _of_structure(question: Question, known: Structure | str, least: Stated | None) -> tuple[list[Designed], list[NotTried]]:
    """Noise of the best shape, with what is proved of it; and what there is no such noise for."""
    if question.pure:
        tried = [*tables.mechanisms(question)]
        named = [one for one in tried if isinstance(one, Laplace)]
        left = [one for one in tried if isinstance(one, NotTried)]
        return [Designed(one.candidate, None, "", whole.stated(one.rms, least), one) for one in named], left
    found = known if isinstance(known, str) else whole.shaped(question, known)
    if isinstance(found, str):
        return [], [NotTried(whole.NAME, found)]
    stated, chosen = whole.errors(question, found, least), whole.candidate(question, found)
    return [Designed(chosen, None, "", stated, found, None, whole.greatest(found))], []


def _proposed(question: Question, best: Sequence[Designed]) -> tuple[list[Candidate | NotTried], int]:
    """Candidates that are written as claim files, and how many of them are judged."""
    if best and _many(question):
        return [NotTried("mechanisms as claim files", "the matrix of the queries is too long to judge each.")], 0
    rows, columns = question.size
    return [*candidates(question)], MOST_JUDGED if rows * columns <= MANY else MOST_JUDGED_OF_MANY


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
    names = [f"{number:02}-{_stem(one.candidate.name)}.toml" if one.candidate.text else "" for number, one in enumerate(found.ranked, 1)]
    folder.mkdir(parents=True, exist_ok=True)
    own = [file for file in folder.glob("*.toml") if file.read_text(encoding="utf-8", errors="replace").startswith(HEADING)]
    foreign = [name for name in names if name and (folder / name).exists() and folder / name not in own]
    if foreign:
        raise SpecError(f"{folder}: {', '.join(foreign)} would be replaced, and dpverify did not write it. Name another folder.")
    for name, one in zip(names, found.ranked, strict=True):
        if name:
            write(folder / name, _text(found.question, one.candidate))
    for file in own:
        if file.name not in names:
            file.unlink()
    ranked = (replace(one, file=str(folder / name) if name else "") for name, one in zip(names, found.ranked, strict=True))
    return replace(found, ranked=tuple(ranked))


def _stem(name: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in name).split())


def _size(value: Expr | Infinite | None) -> float:
    return float("inf") if value is None or isinstance(value, Infinite) else float(constant(value))

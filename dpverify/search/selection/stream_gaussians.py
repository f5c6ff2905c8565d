"""Proposes what Gaussian noises of a stream hide: all that is told at once, or the shortest shifts that no comparison sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction

from dpverify.search.composition.plans import Plan
from dpverify.search.selection.stream_modes import control_of, numbers_of
from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.combinators.streams import Form, faults, step_of
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Stream
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.rules import told_sums, unseen_shifts

_SIMPLE = 720
"""The largest denominator of a shift."""
_SMALL = 1e-9

Rows = tuple[tuple[str, tuple[Fraction, ...]], ...]
"""By noise, a multiple of what each answer moves by."""


def plans(run: Run) -> Iterator[Plan]:
    """All that is told, where it is one Gaussian vector; shifts without anything that is followed, then with what branches tell."""
    claim = leaf(run)
    mechanism = claim.mechanism
    if not isinstance(mechanism, Stream) or any(faults(mechanism)):
        return
    question = asked(claim, {}, unseen_shifts.NAME, wanted=Stream)
    with suppress(DpverifyError):
        told_sums.distance(run)
        yield {"rule": told_sums.NAME}
    deviations = {}
    for drawn in mechanism.fresh:
        try:
            form = gaussian_form(drawn.noise) if getattr(drawn.noise, "dimension", ONE) == ONE else None
        except DpverifyError:
            form = None
        if form is not None:
            deviations[drawn.name] = 1 / float(constant(form[1]).mid())
    numbers = numbers_of(mechanism)
    kept = [each.name for each in mechanism.state if each.name not in numbers]
    for followed in dict.fromkeys(((), tuple(numbers), (*numbers, *kept[1:]))):
        shifts = _everywhere(question, mechanism, followed, deviations)
        if shifts:
            told = [{name: [str(x) for x in row] for name, row in rows if any(row)} for rows in shifts]
            yield {"rule": unseen_shifts.NAME, "shifts": told, **({"follow": list(followed)} if followed else {})}


def _everywhere(question: Asked, stream: Stream, followed: tuple[str, ...], deviations: dict[str, float]) -> list[Rows] | None:
    """The shortest shifts wherever runs may be, each once and short ones first; None where there are none somewhere."""
    control = control_of(question, stream, followed)
    if control is None:
        return None
    steps = [step_of(stream, branch) for branch in stream.steps]
    found: dict[Rows, float] = {}
    for after in control.after.values():
        seen = [form for branch in after for form in (*steps[branch].when, *steps[branch].tell, *steps[branch].after.values())]
        rows = _shortest(stream, seen, deviations)
        if rows is None:
            return None
        found[rows] = sum(float(x) ** 2 / deviations[name] ** 2 for name, row in rows for x in row)
    return sorted(found, key=found.__getitem__)


def _shortest(stream: Stream, seen: Sequence[Form], deviations: dict[str, float]) -> Rows | None:
    """Shifts of least squares, in deviations, with which nothing moves."""
    import numpy as np

    names = list(deviations)
    noises = np.array([[float(form.of.get(name, 0)) * deviations[name] for name in names] for form in seen]).reshape(len(seen), len(names))
    answers = np.array([[float(form.of.get(name, 0)) for name in stream.answers] for form in seen]).reshape(len(seen), len(stream.answers))
    if not seen or not names:
        return None if answers.any() else tuple((name, (Fraction(0),) * len(stream.answers)) for name in names)
    units, *_ = np.linalg.lstsq(noises, -answers, rcond=None)
    if np.abs(noises @ units + answers).max() > _SMALL:
        return None
    return tuple(
        (name, tuple(Fraction(float(x) * deviations[name]).limit_denominator(_SIMPLE) for x in row))
        for name, row in zip(names, units, strict=True)
    )

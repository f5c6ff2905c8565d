"""Places in a combinator: how a certificate names the part that a fact is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.expr import Expr, mul
from dpverify.trusted.language.model import Group, Lipschitz, Subsample, parts_of
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.runs import Run, merged

ONE_STEP: Final = "one step"
"""The part itself, on neighbours one step apart."""


def run_at(run: Run, step: Any) -> Run:
    """The run one step down from another. Raises CertificateError for a step that leads nowhere, Rejected, Undecided.

    step: the number of one of the runs that it comes to; ONE_STEP; {"part": number} of its parts as they are written; {"choice": number}
    of the pairs of neighbours that parts share; {"pair": neighbours} for a lower bound at one of them.
    """
    if type(step) is int:
        inner: Run = _listed(merged(run.part, run.factor), step)
        return replace(inner, times=1)
    if step == ONE_STEP:
        return Run(run.part)
    if isinstance(step, dict) and len(step) == 1:
        (kind, value), part = next(iter(step.items())), None
        if kind == "part":
            return Run(_listed(parts_of(run.part.mechanism), value), _factor(run))
        if kind == "choice":
            part = neighbours.at(run.part, _listed(neighbours.choices(run.part), value))
        elif kind == "pair":
            part = neighbours.at(run.part, neighbours.read(run.part, value), lower=True)
        if part is not None:
            return Run(part)
    raise CertificateError(f"the place {str(step)[:60]!r} is none in this mechanism.")


def _factor(run: Run) -> Expr:
    """How far apart the neighbours of a part are: those of a sample differ by one record, groups and maps take them further."""
    mechanism = run.part.mechanism
    if isinstance(mechanism, Subsample):
        return Run(mechanism.part).factor
    if isinstance(mechanism, Group | Lipschitz):
        return mul(run.factor, mechanism.size if isinstance(mechanism, Group) else mechanism.constant)
    return run.factor


def _listed(items: Any, number: Any) -> Any:
    if type(number) is not int or not 0 <= number < len(items):
        raise CertificateError(f"the place {str(number)[:60]!r} is none in this mechanism.")
    return items[number]

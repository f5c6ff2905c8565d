"""What the rules about the curves of selections read: the selection of a run, cuts, and noises in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import ctx

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.model import NoisyMax, OnLine
from dpverify.trusted.language.rationals import read_rising
from dpverify.trusted.theories.selection.chances import MOST, Compared
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.noise_laws import Closed, in_closed_form


def of_run(run: Run, rule: str) -> Asked:
    """The selection that a run is of, on neighbours as far apart as it says. Raises Rejected, Undecided."""
    return asked(leaf(run), {}, rule)


def read_cuts(parameters: Mapping[str, Any], rule: str) -> list[Fraction]:
    """Fractions that rise. Raises CertificateError."""
    return read_rising(parameters.get("cuts"), "cuts", rule, 2, MOST)


def law_of(noise: OnLine | None, rule: str, what: str) -> Closed:
    """Gaussian or Laplace noise. Raises Rejected."""
    if noise is None:
        raise Rejected(rule, what, "there is none")
    return in_closed_form(noise)


def in_closed_forms(question: Asked) -> Compared:
    """The noises of a selection, integrated to the working precision of the moment. Raises Rejected where they have no closed form."""
    mechanism = question.selection
    noises = [mechanism.noise] * 2 if isinstance(mechanism, NoisyMax) else [mechanism.threshold_noise, mechanism.query_noise]
    require(noises != [None, None], Rejected(question.rule, "the noises", "there is none"))
    first, answers = (None if noise is None else in_closed_form(noise) for noise in noises)
    return Compared(first, answers, ctx.prec)

"""Places in a combinator: how a certificate names the part that a fact is about."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final, assert_never

from dpverify.trusted.combinators.runs import Run, grouped, leaf, merged, whole
from dpverify.trusted.kernel.certificate import MAX_DEPTH
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import ONE, Expr, mul
from dpverify.trusted.kernel.model import BestOf, Claim, Compose, Group, Leaf, Lipschitz, Parallel, PostProcess, Repeat, Subsample, parts_of
from dpverify.trusted.language.rationals import to_whole

ONE_STEP: Final = "one step"
"""The part itself, on neighbours one step apart."""
SAMPLES: Final = "samples"
"""The samples that correlated noise with sampling comes to."""
CLOSED_FORM: Final = "closed form"
"""The radial noise that a mixture is. Only pure epsilons are asked of it; so are those of {"moved": number}, a part at any move, and of
{"noise": name, "moved": times}, a noise of a selection."""


WHAT: Final = "the place"


class Places:
    """The runs at the places of one claim. whole: of the claim, or a run alone as if it were all there is."""

    def __init__(self, claim: Claim, alone: Run | None = None) -> None:
        self._claim = claim
        self._runs: dict[str, Run] = {"[]": whole(claim) if alone is None else alone}
        self._merged: dict[str, tuple[Run, ...]] = {}

    def run(self, place: tuple[Any, ...]) -> Run:
        """The run at a place; a first step {"at": values} fixes parameters. Raises CertificateError, Rejected, Undecided."""
        if len(place) > MAX_DEPTH:
            raise CertificateError(f"a place of {len(place)} steps: no mechanism in a certificate is nested more than {MAX_DEPTH} deep.")
        key = json.dumps(list(place))
        if key not in self._runs:
            self._runs[key] = self._step(place)
        return self._runs[key]

    def _step(self, place: tuple[Any, ...]) -> Run:
        """The run at a place, by its last step: the number of one of the runs that the one above comes to, or of `run_at`."""
        if len(place) == 1 and _fixes(place):
            return whole(self._at_values(place))
        if type(place[-1]) is not int:
            return run_at(self.run(place[:-1]), place[-1])
        inner: Run = _listed(self._inside(place[:-1]), place[-1])
        return replace(inner, times=1)

    def _inside(self, place: tuple[Any, ...]) -> tuple[Run, ...]:
        """The runs that the run at a place comes to."""
        key = json.dumps(list(place))
        if key not in self._merged:
            run = self.run(place)
            self._merged[key] = merged(run.part, run.factor)
        return self._merged[key]

    def question(self, place: tuple[Any, ...]) -> Claim:
        """What the rules about single mechanisms are asked of a place: its pure epsilon."""
        if place and place[-1] == CLOSED_FORM:
            from dpverify.trusted.combinators.closed_forms import radial

            return radial(self.question(place[:-1]))
        if place and isinstance(place[-1], dict) and place[-1].keys() == {"moved"}:
            from dpverify.trusted.combinators import moves

            part, _ = _listed(list(moves.leaves(self.run(place[:-1]).part)), place[-1]["moved"])
            return moves.question(part)
        if place and isinstance(place[-1], dict) and place[-1].keys() == {"noise", "moved"}:
            from dpverify.trusted.combinators import noises

            return noises.question(self.question(place[:-1]), place[-1]["noise"], place[-1]["moved"])
        domains = self._at_values(place).domains
        return leaf(self.run(place), domains)

    def _at_values(self, place: tuple[Any, ...]) -> Claim:
        """The claim, at the values of the parameters that the place begins with."""
        from dpverify.trusted.combinators.parameters import fixed

        return fixed(self._claim, place[0], WHAT)[0] if _fixes(place) else self._claim


def _fixes(place: tuple[Any, ...]) -> bool:
    return bool(place) and isinstance(place[0], dict) and place[0].keys() == {"at"}


def run_at(run: Run, step: Any) -> Run:
    """The run one step down from another. Raises CertificateError for a step that leads nowhere, Rejected, Undecided.

    step: ONE_STEP; SAMPLES; {"part": number} of its parts as they are written; {"choice": number}
    of the pairs of neighbours that parts share; {"pair": neighbours} for a lower bound at one of them; {"noises": number} of noisy keys.
    """
    if step == ONE_STEP:
        return Run(run.part)
    if step == SAMPLES:
        from dpverify.trusted.combinators.samples import samples

        return Run(samples(run.part)[0])
    if isinstance(step, dict) and len(step) == 1:
        (kind, value), part = next(iter(step.items())), None
        if kind == "noises":
            from dpverify.trusted.combinators.old_keys import old_keys

            part = old_keys(run.part, value)
        elif kind == "part":
            return Run(_listed(parts_of(run.part.mechanism), value), _factor(run))
        if kind == "choice":
            from dpverify.trusted.combinators.at_pair import at
            from dpverify.trusted.combinators.candidates import choices

            part = at(grouped(run), _listed(choices(grouped(run)), value))
        elif kind == "pair":
            from dpverify.trusted.combinators.at_pair import at, read

            part = at(grouped(run), read(grouped(run), value), lower=True)
        if part is not None:
            return Run(part)
    raise CertificateError(f"the place {str(step)[:60]!r} is none in this mechanism.")


def _factor(run: Run) -> Expr:
    """How far apart the neighbours of a part are: those of a sample differ by one record, groups and maps take them further."""
    mechanism = run.part.mechanism
    if isinstance(mechanism, Subsample):
        return ONE
    if isinstance(mechanism, Group | Lipschitz):
        return mul(run.factor, mechanism.size if isinstance(mechanism, Group) else mechanism.constant)
    if not isinstance(mechanism, Leaf | Compose | Repeat | Parallel | PostProcess | BestOf):
        assert_never(mechanism)
    return run.factor


def _listed(items: Any, number: Any) -> Any:
    return items[to_whole(number, "a step", WHAT, 0, len(items) - 1)]

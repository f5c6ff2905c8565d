"""Families of claim files: what stands on one page of a large report, and in one collection of certificates.

A file's family follows from its claims alone, so that it is the same in every run: the kind of its mechanism, which the first claim says,
of noise in a norm which norm, and what is asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import NEARNESS, Claim, Norm, Radial, kind_of

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Noise that is added": {
        "translation": "noise on the line",
        "radial": "noise in a norm",
        "product": "independent noise in each coordinate",
        "mixture": "noise of a random scale",
        "staircase": "staircase noise",
        "elliptical_process": "noise on functions",
        "smooth_sensitivity": "noise at a scale that depends on the data",
    },
    "Sums of noises": {"sum": "sums of independent noises"},
    "Noise over time": {"correlated_noise": "noise that is correlated over steps"},
    "Finitely many outputs": {
        "table": "tables of probabilities",
        "kary_response": "randomized response",
        "exponential": "the exponential mechanism",
    },
    "Any conditional density": {"kernel": "a density for each input", "sampled": "a sampler alone"},
    "Noisy answers that are compared": {
        "noisy_max": "report noisy max",
        "above_threshold": "above threshold",
        "stream": "streams",
        "noisy_keys": "counts by key above a threshold",
        "noisy_votes": "noisy votes of one database",
    },
    "Mechanisms made of others": {
        "compose": "compositions",
        "parallel": "parts on disjoint data",
        "subsample": "parts on samples",
        "group": "groups of records",
        "post_process": "maps of a part's output",
        "lipschitz": "parts after a map of the data",
        "best_of": "the best of a random number of runs",
        "shuffle": "what many people tell, in no order",
        "guarantee": "stated guarantees",
        "filter": "parts within a budget",
    },
    "Any mechanism at all": {"space": "metric spaces of answers"},
}
"""Every kind of mechanism by its group, and in a few words."""
OTHERS: Final = "Others"
"""The group of a kind that stands in none."""
QUESTIONS: Final[Mapping[str, str]] = {
    "epsilon": "pure epsilon",
    "delta": "epsilon and delta",
    "measures": "zCDP, GDP and Renyi divergences",
    "errors": "errors",
}
"""What is asked of the mechanisms of a family; of a file with several questions, the last of these."""


@dataclass(frozen=True, slots=True, order=True)
class Family:
    """kind, norm: of the mechanism, the norm empty for kinds without one; question: a key of QUESTIONS."""

    kind: str
    norm: str
    question: str

    @property
    def name(self) -> str:
        """In names of files."""
        return "-".join(filter(None, (self.kind.replace("_", "-"), self.norm, self.question)))

    @property
    def group(self) -> str:
        """The heading that it stands under."""
        return next((group for group, kinds in GROUPS.items() if self.kind in kinds), OTHERS)

    @property
    def title(self) -> str:
        """For people."""
        words = GROUPS.get(self.group, {}).get(self.kind, self.kind)
        norm = {"": "", "other": " that is no lp norm"}.get(self.norm, f", {self.norm}")
        return f"{words[:1].upper()}{words[1:]}{norm}: {QUESTIONS[self.question]}"


def family(claims: Sequence[Claim]) -> Family:
    """That of a claim file with these claims."""
    mechanism = claims[0].mechanism
    norm = _norm(mechanism.norm) if isinstance(mechanism, Radial) else ""
    return Family(kind_of(mechanism), norm, max(map(_question, claims), key=list(QUESTIONS).index))


def order(one: Family) -> tuple[int, int, str, int]:
    """By which families are sorted: as they stand in the tables above."""
    groups = list(GROUPS)
    group = groups.index(one.group) if one.group in groups else len(groups)
    kinds = list(GROUPS.get(one.group, {one.kind: ""}))
    return group, kinds.index(one.kind), one.norm, list(QUESTIONS).index(one.question)


def _norm(norm: Norm) -> str:
    if norm.kind != "lp":
        return "other"
    return "linf" if norm.p is None else f"l{norm.p}" if norm.p in (1, 2) else "lp"


def _question(claim: Claim) -> str:
    if claim.utility or claim.loss or claim.within is not None or (claim.measure is not None and claim.measure.name == NEARNESS):
        return "errors"
    if claim.measure is not None:
        return "measures"
    return "epsilon" if claim.delta == ZERO else "delta"

"""A claim that is proved false of its declaration, on a sampler: does it show the violation that the proof says it has?

The neighbours and the event are chosen from the declared law before any output, so that intervals for how often the event comes hold
whenever one looks (theory#a-refuted-claim-on-its-sampler).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np

from dpverify.audits import bounds
from dpverify.audits.declared import Declared, information
from dpverify.audits.partition import Counts, CurvePoint
from dpverify.audits.plan import MOST_EPSILON, Plan
from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim

ROUNDING: Final = 1e-7  # by more no probability of a declared law is off that is computed
DEVIATIONS: Final = 6.0  # standard errors, of one that was found by draws

Two = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Witness:
    """An event of the declared loss on a pair of the plan. cells: low <= cell < high; likely: its probabilities on x and on x'."""

    pair: int
    cells: tuple[int, int]
    likely: Two

    def between(self, counts: Counts, risk: float) -> tuple[Two, Two]:
        """Intervals for the sampler's probabilities, of joint counts of the cells: both hold at any time but for so much risk."""
        runs, sides = int(counts.sum()), (counts.sum(axis=axis)[slice(*self.cells)].sum() for axis in (1, 0))
        left, right = (bounds.proportion_anytime(int(hits), runs, risk=risk / 2) for hits in sides)
        return left, right


def witness(plan: Plan, claim: Claim) -> Witness | None:
    """Where a claim that is proved false shows most: None where it is not, or on no event of the audited pairs."""
    if plan.declared is None or plan.epsilon is None:
        return None
    events = [event for index in range(len(plan.pairs)) for event in _breaking(plan, index, plan.curve[0])]
    worth, best = max(events, key=lambda event: event[0], default=(0.0, None))
    return best if worth > 0 and _is_refuted(claim) else None


def _is_refuted(claim: Claim) -> bool:
    """Whether a claim is proved false; of one that is not well-formed nothing is proved."""
    try:
        return verify(claim).judgement.verdict == "REFUTED"
    except DpverifyError:
        return False


def _breaking(plan: Plan, index: int, point: CurvePoint) -> list[tuple[float, Witness]]:
    """The events of a pair on which the declared law breaks the claim, with what a pair of runs tells of that, in nats."""
    declared, answers = plan.declared, plan.pairs[index].answers
    law = None if declared is None or answers is None else declared.law(*answers)
    if law is None:
        return []
    size = len(law[0])
    cuts = [*((cut, size) for cut in range(1, size)), *((0, cut) for cut in range(1, size))]
    likely = np.array([[side[low:high].sum() for side in law] for low, high in cuts])
    most, least = likely.max(axis=1) - ROUNDING, likely.min(axis=1) + ROUNDING
    broken = np.flatnonzero(most > exp(point.epsilon) * least + point.delta) if point.epsilon < MOST_EPSILON else np.array([], int)
    nats = information(most[broken], least[broken], np.array(point.epsilon), np.array(point.delta))
    sides: list[Two] = [(left, right) for left, right in likely[broken].tolist()]
    return [(worth, Witness(index, cuts[at], two)) for worth, at, two in zip(nats.tolist(), broken.tolist(), sides, strict=True)]


def apart(declared: Declared, likely: float, between: Two) -> bool:
    """Whether a declared probability certainly lies outside of an interval."""
    off = ROUNDING
    if declared.draws is not None:
        off += DEVIATIONS * (likely * (1 - likely) / declared.draws) ** 0.5 + DEVIATIONS / declared.draws
    return likely + off < between[0] or likely - off > between[1]

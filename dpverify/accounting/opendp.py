"""Measurements of OpenDP held against what is proved: a privacy map that promises less than is lost is a finding.

A measurement does not say what its noise is, so that the event is given beside it. OpenDP comes with `pip install opendp`.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event, exact
from dpverify.accounting.objects import of_object
from dpverify.accounting.relations import Relation

TOO_LITTLE, SAFE, OPEN = "TOO LITTLE", "SAFE", "not decided"
DELTAS: Final = ("1e-3", "1e-6", "1e-9")
"""Where a map is looked at that gives a curve."""


class Held(NamedTuple):
    """One promise of a map. delta: at which epsilon is promised; lower, upper: proved bounds of the epsilon that is lost there.

    verdict: TOO LITTLE where less is promised than is lost, SAFE where it is enough, else not decided.
    """

    delta: Fraction
    promised: Fraction
    lower: Decimal
    upper: Decimal
    verdict: str


def hold(
    measurement: Any, d_in: Any, event: Any, *, relation: Relation | str = Relation.ADD_OR_REMOVE_ONE, deltas: Iterable[Any] = DELTAS
) -> tuple[Held, ...]:
    """What a measurement's map promises at a distance of its inputs, against what an event at that distance is proved to lose.

    event: a DpEvent, or an Event: what the measurement does to inputs that far apart, `GaussianDpEvent(scale / d_in)`. deltas: where a
    curve is looked at; a map to (epsilon, delta) is at its delta, one to epsilon at 0.

    Raises ValueError for a measure that is not read, and translate.Unsupported.
    """
    cost = Cost([(event if isinstance(event, Event) else of_object(event), 1)], Relation(relation))
    return tuple(_held(cost, delta, promised) for delta, promised in _promises(measurement, d_in, [_exact(one) for one in deltas]))


def _promises(measurement: Any, d_in: Any, deltas: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Each delta, and the epsilon that is promised there."""
    measure, told = str(measurement.output_measure), measurement.map(d_in)
    if measure == "MaxDivergence":
        return [(Fraction(0), _exact(told))]
    if measure == "Approximate(MaxDivergence)":
        return [(_exact(told[1]), _exact(told[0]))]
    if measure == "SmoothedMaxDivergence":
        return [(delta, _exact(told.epsilon(delta=float(delta)))) for delta in deltas]
    if measure == "ZeroConcentratedDivergence":
        promised = Cost([(Event("ZCDpEvent", {"rho": _exact(told), "xi": Fraction(0)}), 1)], Relation.ADD_OR_REMOVE_ONE)
        return [(delta, Fraction(promised.epsilon(delta).upper)) for delta in deltas]
    raise ValueError(f"the measure {measure} is not read. Convert it, as with make_zCDP_to_approxDP.")


def _exact(value: Any) -> Fraction:
    found = exact(value)
    if isinstance(found, float):
        raise ValueError("the map promises nothing finite.")
    return found


def _held(cost: Cost, delta: Fraction, promised: Fraction) -> Held:
    found = cost.epsilon(delta)
    little = not found.lower.is_finite() or promised < Fraction(found.lower)
    enough = found.upper.is_finite() and promised >= Fraction(found.upper)
    return Held(delta, promised, found.lower, found.upper, TOO_LITTLE if little else SAFE if enough else OPEN)


__all__ = ["OPEN", "SAFE", "TOO_LITTLE", "Held", "hold"]

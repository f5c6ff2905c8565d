"""Claim files as events: what a mechanism is called where accountants are asked."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dpverify.accounting.events import Event, exact
from dpverify.accounting.relations import Relation
from dpverify.catalogue import read_spec
from dpverify.catalogue.toml import read_text
from dpverify.errors import SpecError

_SAID: Final = {"add-remove": (Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_SPECIAL), "replace": (Relation.REPLACE_ONE,)}
"""The relations whose neighbours an adjacency names."""
_OF_NOISE: Final = {"gaussian": ("sigma", "GaussianDpEvent"), "laplace": ("scale", "LaplaceDpEvent")}


class _NoEvent(Exception):
    """A mechanism that is no event, and why."""


def event_of_file(path: Path, relation: Relation) -> Event:
    """The event that is the mechanism of a claim file, for the neighbours of a relation. Raises SpecError."""
    spec = read_spec(path, code=False)
    data = tomllib.loads(read_text(path), parse_float=Fraction)
    claims = data.get("claim") or [{}]
    sensitivities = {str(claim.get("sensitivity", "")) for claim in claims}
    if len(sensitivities) > 1:
        raise SpecError(f"{spec.file}: its claims have several sensitivities, and an event has one. Leave one claim.")
    said = {key: claims[0][key] for key in ("sensitivity", "query", "adjacency") if key in claims[0]}
    try:
        return event_of({**data["mechanism"], **said}, relation)
    except _NoEvent as error:
        raise SpecError(f"{spec.file}: no event says the same: {error}") from error


def event_of(table: Mapping[str, Any], relation: Relation) -> Event:
    """The event of a mechanism's table. Raises _NoEvent."""
    _neighbours(table, relation)
    times = _number(table, "times", Fraction(1))
    found = _KINDS.get(table["kind"], _none)(table, relation)
    return found if times == 1 else Event("SelfComposedDpEvent", {"count": times}, (found,))


def _neighbours(table: Mapping[str, Any], relation: Relation) -> None:
    """Refuse what speaks of other neighbours, or states them by a query."""
    if "query" in table:
        raise _NoEvent("a query is stated, whose columns say more than one sensitivity does. State the sensitivity.")
    adjacency = table.get("adjacency", "")
    if adjacency and relation not in _SAID.get(adjacency, ()):
        raise _NoEvent(f"its neighbours are {adjacency!r}, those that are asked about {relation.value!r}. Ask with --neighbours.")
    if table.get("parameters") and any(isinstance(value, str) and not _is_number(value) for value in table["parameters"].values()):
        raise _NoEvent("it has open parameters, and an event has numbers.")


def _is_number(value: Any) -> bool:
    try:
        exact(value)
    except ValueError:
        return False
    return True


def _number(table: Mapping[str, Any], key: str, default: Fraction | None = None) -> Fraction:
    """A number of a table, or of its parameters."""
    value = table.get(key, table.get("parameters", {}).get(key, default))
    if isinstance(value, str) and value in table.get("parameters", {}):
        value = table["parameters"][value]
    try:
        found = exact(value)
    except ValueError:
        raise _NoEvent(f"{key} = {value!r:.60} is not written as a number.") from None
    if isinstance(found, float):
        raise _NoEvent(f"{key} is infinite.")
    return found


def _part(table: Mapping[str, Any], relation: Relation) -> Event:
    return event_of(table["part"], relation)


def _none(table: Mapping[str, Any], _: Relation) -> Event:
    raise _NoEvent(f"there is none for the kind {table['kind']!r}.")


def _builtin(table: Mapping[str, Any], relation: Relation) -> Event:
    name = table["name"]
    moves = Fraction(2 if relation is Relation.REPLACE_ONE else 1)
    if name in _OF_NOISE:
        key, kind = _OF_NOISE[name]
        return Event(kind, {"noise_multiplier": moves * _number(table, key) / _sensitivity(table)})
    if name == "discrete_laplace" and moves == 1:
        whole = Fraction(math.floor(_sensitivity(table)))
        return Event("DiscreteLaplaceDpEvent", {"noise_parameter": 1 / _number(table, "scale"), "sensitivity": whole})
    if name == "discrete_gaussian":
        numbers = {"sigma": _number(table, "sigma"), "sensitivity": _sensitivity(table), "dimension": Fraction(1)}
        return Event("DiscreteGaussianDpEvent", numbers)
    if name in ("randomized_response", "k_randomized_response") and relation is Relation.REPLACE_ONE:
        buckets = _number(table, "k", Fraction(2)) if name.startswith("k_") else Fraction(2)
        noise = (1 - _number(table, "p")) * buckets / (buckets - 1)
        if noise <= 1:
            return Event("RandomizedResponseDpEvent", {"noise_parameter": noise, "num_buckets": buckets})
    raise _NoEvent(f"there is none for {name!r} with the neighbours {relation.value!r}.")


def _sensitivity(table: Mapping[str, Any]) -> Fraction:
    found = _number(table, "sensitivity", Fraction(1))
    if not found:
        raise _NoEvent("a sensitivity of 0 is hidden without noise.")
    return found


def _guarantee(table: Mapping[str, Any], _: Relation) -> Event:
    if "order" not in table and "curve" not in table:
        if "epsilon" in table:
            numbers = {"epsilon": _number(table, "epsilon"), "delta": _number(table, "delta", Fraction(0))}
            return Event("EpsilonDeltaDpEvent", numbers)
        if "zcdp" in table:
            return Event("ZCDpEvent", {"rho": _number(table, "zcdp"), "xi": Fraction(0)})
        if "bounded_range" in table:
            return Event("ExponentialMechanismDpEvent", {"epsilon": _number(table, "bounded_range")})
    raise _NoEvent("of a guarantee there is one for epsilon with delta, for zcdp and for bounded_range, in both orders.")


def _compose(table: Mapping[str, Any], relation: Relation) -> Event:
    parts = table.get("parts") or [table["part"]]
    each = tuple(event_of(part, relation) for part in parts)
    return each[0] if len(each) == 1 else Event("ComposedDpEvent", {}, each)


def _subsample(table: Mapping[str, Any], relation: Relation) -> Event:
    rate, inside = _number(table, "rate"), _part(table, relation)
    if table.get("scheme", "poisson") == "poisson" and relation is not Relation.REPLACE_ONE:
        return Event("PoissonSampledDpEvent", {"sampling_probability": rate}, (inside,))
    if table.get("scheme", "poisson") != "poisson" and relation is Relation.REPLACE_ONE:
        numbers = {"source_dataset_size": Fraction(rate.denominator), "sample_size": Fraction(rate.numerator)}
        return Event("SampledWithoutReplacementDpEvent", numbers, (inside,))
    raise _NoEvent(f"a sample {table.get('scheme', 'poisson')!r} is for other neighbours than {relation.value!r}. Ask with --neighbours.")


def _best_of(table: Mapping[str, Any], relation: Relation) -> Event:
    runs = table["runs"]
    shapes: Mapping[str, Any] = {"poisson": math.inf, "geometric": Fraction(1), "logarithmic": Fraction(0)}
    if runs["law"] not in shapes:
        raise _NoEvent(f"a number of runs of the law {runs['law']!r} is not stated by its mean.")
    return Event("RepeatAndSelectDpEvent", {"mean": _number(runs, "mean"), "shape": shapes[runs["law"]]}, (_part(table, relation),))


def _correlated(table: Mapping[str, Any], relation: Relation) -> Event:
    once = _number(table.get("participation", {}), "times", Fraction(1)) == 1 and "sampling" not in table
    if table.get("strategy") != "binary_tree" or not once or relation is not Relation.REPLACE_SPECIAL:
        raise _NoEvent("of correlated noise there is one for a binary_tree, a user in one step, and the neighbours 'replace-special'.")
    numbers = {"noise_multiplier": _number(table, "sigma") / _sensitivity(table), "step_counts": (_number(table, "steps"),)}
    return Event("SingleEpochTreeAggregationDpEvent", numbers)


_KINDS: Final = {
    "builtin": _builtin,
    "guarantee": _guarantee,
    "compose": _compose,
    "subsample": _subsample,
    "best_of": _best_of,
    "correlated_noise": _correlated,
}

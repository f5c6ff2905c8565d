"""An event as mechanisms of claim files: one that is at least as revealing, and one that is no more so, under a neighbouring relation.

What is proved of the first from above, and of the second from below, holds of the worst mechanism that the event describes. Mostly they
are one mechanism. Why each line is so is told in docs/explanation/events.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.accounting import moving
from dpverify.accounting.events import Event
from dpverify.accounting.numbers_of_runs import fewest_stops, kept
from dpverify.accounting.pairs import Fineness, Rows
from dpverify.accounting.relations import Relation

Table = Mapping[str, Any]
"""A mechanism as the table of a claim file, its numbers exact."""
Parts = list[tuple[Table, int]]
"""Mechanisms on one data set, and how often each is run."""

SUMS: Final = ("GaussianDpEvent", "LaplaceDpEvent", "DiscreteLaplaceDpEvent")
"""Noise on a sum over records, to which a record of zero adds as much as none."""
CUT: Final = "TruncatedSubsampledGaussianDpEvent"
SAMPLED: Final = ("PoissonSampledDpEvent", "MixtureOfGaussiansDpEvent", CUT)
"""Events whose outputs on two neighbours are a law and a mixture of it, which are not alike."""
OF_A_SIZE: Final = ("SampledWithoutReplacementDpEvent", "SampledWithReplacementDpEvent")
NOTHING: Final[Table] = {"kind": "builtin", "name": "k_randomized_response", "k": Fraction(2), "p": Fraction(1, 2)}
"""A mechanism that looks at no data."""
ORDERS: Final = (
    *(Fraction(tenths, 10) for tenths in range(11, 20)),
    *(Fraction(halves, 2) for halves in range(4, 12)),
    *map(Fraction, (*range(6, 33), 36, 40, 48, 56, 64, 80, 96, 128, 192, 256, 512, 1024)),
)
"""The orders at which a divergence that is a line in the order is stated."""
_USUAL: Final = Fineness()
_ANY_OF: Final = " or ".join


class Unsupported(Exception):
    """An event that is not translated: which one, and why."""

    def __init__(self, event: Event, message: str) -> None:
        super().__init__(message)
        self.event = event


class NotPrivate(Exception):
    """An event that hides nothing. wholly: so that some event tells two neighbours apart for certain, which a sample may not."""

    def __init__(self, *, wholly: bool) -> None:
        super().__init__("part of it hides nothing.")
        self.wholly = wholly


class _NotSo(Exception):
    """A reading that says nothing of this event."""


@dataclass(frozen=True)
class Mechanisms:
    """What an event is translated into. most: judged from above; least: each from below, for one choice of the other records.

    runs: how many parts are run.
    """

    most: Table
    least: tuple[Table, ...]
    runs: int = 1

    @property
    def tabled(self) -> bool:
        """Whether there are tables in it whose fineness may be chosen."""
        return any("rows" in part for part in _within_table(self.most))


def _within_table(table: Table) -> Iterator[Table]:
    """A mechanism and all its parts."""
    yield table
    for part in (*table.get("parts", ()), *([table["part"]] if "part" in table else [])):
        yield from _within_table(part)


@dataclass(frozen=True)
class _Reading:
    """How events are read. least: for a bound from below.

    zero: that the record is replaced by a record of zero. crowd: that all other records are the opposite of it. tabled: that whatever has
    two orders is a table, so that all are taken in one order. sampled: inside of a sample. fine: how fine tables are.
    """

    relation: Relation
    least: bool = False
    zero: bool = False
    crowd: bool = False
    tabled: bool = False
    sampled: bool = False
    fine: Fineness = _USUAL

    @property
    def moves(self) -> Fraction:
        """How far neighbours move a sum of values of length 1."""
        return Fraction(2 if self.relation is Relation.REPLACE_ONE else 1)


def mechanisms(events: Iterable[tuple[Event, int]], relation: Relation, fine: Fineness = _USUAL) -> Mechanisms:
    """The mechanisms of events on one data set, each with how often it is repeated. Raises Unsupported, NotPrivate."""
    events = list(events)
    kinds = {event.kind for one, _ in events for event in within(one)}
    first = _Reading(relation, tabled=any(_is_tabled(event) for one, _ in events for event in within(one)), fine=fine)
    parts = _all(events, first)
    least = [replace(first, least=True)]
    if relation is Relation.REPLACE_ONE:
        least.append(replace(first, relation=Relation.REPLACE_SPECIAL, least=True, zero=True))
    if relation is Relation.ADD_OR_REMOVE_ONE and CUT in kinds:
        least.append(replace(first, least=True, crowd=True))
    return Mechanisms(composed(parts), tuple(_read(events, kinds, least)), sum(times for _, times in parts))


def _is_tabled(event: Event) -> bool:
    """Whether an event is a table that has two orders: no noise with a closed form says it."""
    if event.kind == "MixtureOfGaussiansDpEvent":
        chances = zip(event["sensitivities"], event["sampling_probs"], strict=True)
        return len({moved for moved, chance in chances if moved and chance}) > 1
    return event.kind == CUT and event["truncated_batch_size"] < event["dataset_size"]


def _read(events: list[tuple[Event, int]], kinds: Set[str], readings: Iterable[_Reading]) -> Iterator[Table]:
    """The mechanisms of those readings that say something of the events, each once."""
    seen: list[Table] = []
    for reading in readings:
        try:
            _one_way(kinds, reading)
            table = composed(_all(events, reading))
        except (_NotSo, Unsupported):
            continue
        if table not in seen:
            seen.append(table)
            yield table


def composed(parts: Parts) -> Table:
    """One mechanism of several; equal ones are stated once."""
    counts: dict[str, tuple[Table, int]] = {}
    for table, times in parts:
        counts[repr(table)] = (table, times + counts.get(repr(table), (table, 0))[1])
    each = list(counts.values())
    if not each:
        return NOTHING
    if len(each) == 1 and each[0][1] == 1:
        return each[0][0]
    return {"kind": "compose", "parts": [table if times == 1 else {**table, "times": Fraction(times)} for table, times in each]}


def _all(events: Iterable[tuple[Event, int]], reading: _Reading) -> Parts:
    """What events on one data set are made of. All are looked at, so that one that is not supported is found beside what hides nothing."""
    parts: Parts = []
    bare: NotPrivate | None = None
    for event, times in events:
        try:
            found = _parts(event, reading)
        except NotPrivate as told:
            bare = told if times and (bare is None or told.wholly) else bare
        else:
            parts.extend((table, each * times) for table, each in found if times)
    if bare is not None:
        raise bare
    return parts


def _one_way(kinds: Set[str], reading: _Reading) -> None:
    """Refuse what parts do not have on the same two data sets: one order of neighbours beside another, or the worst of other records."""
    if reading.relation is Relation.REPLACE_SPECIAL and "RandomizedResponseDpEvent" in kinds and kinds & set(SAMPLED):
        raise _NotSo
    if reading.relation is Relation.REPLACE_ONE and kinds & set(OF_A_SIZE) and kinds & set(SAMPLED):
        raise _NotSo
    if reading.crowd and kinds - {CUT, "GaussianDpEvent", "LaplaceDpEvent", "NoOpDpEvent", *COMPOSITIONS}:
        raise _NotSo


def within(event: Event) -> Iterator[Event]:
    """An event and all that it is made of."""
    yield event
    for one in event.inner:
        yield from within(one)


def _parts(event: Event, reading: _Reading) -> Parts:
    """What an event is made of. Raises Unsupported, NotPrivate, _NotSo."""
    found = _READERS.get(event.kind)
    if found is None:
        raise Unsupported(event, "Unsupported event.")
    return found(event, reading)


def _only(event: Event, reading: _Reading, *relations: Relation) -> None:
    if reading.relation not in relations:
        names = _ANY_OF(f"`{relation.name}`" for relation in relations)
        raise Unsupported(event, f"neighboring_relation must be {names} for `{event.kind}`. Found {reading.relation.name}.")


def _outside(event: Event, reading: _Reading) -> None:
    if reading.sampled:
        raise Unsupported(event, f"`{event.kind}` speaks of the whole data set and is not read inside of a sample.")


# -- one release -----------------------------------------------------------------------------------------------------


def _noise(name: str, parameter: str, value: Fraction, sensitivity: Fraction, *, wholly: bool) -> Parts:
    """Noise by its name; nothing where there is nothing to hide, NotPrivate where nothing hides."""
    if sensitivity == 0:
        return []
    if value == 0:
        raise NotPrivate(wholly=wholly)
    return [({"kind": "builtin", "name": name, parameter: value, "sensitivity": sensitivity}, 1)]


def _gaussian(event: Event, reading: _Reading) -> Parts:
    return _noise("gaussian", "sigma", event["noise_multiplier"], reading.moves, wholly=not reading.sampled)


def _laplace(event: Event, reading: _Reading) -> Parts:
    return _noise("laplace", "scale", event["noise_multiplier"], reading.moves, wholly=not reading.sampled)


def _discrete_laplace(event: Event, reading: _Reading) -> Parts:
    _only(event, reading, Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_SPECIAL)
    rate = event["noise_parameter"]
    return _noise("discrete_laplace", "scale", 1 / rate if rate else rate, event["sensitivity"], wholly=not reading.sampled)


def _discrete_gaussian(event: Event, reading: _Reading) -> Parts:
    _no_sums(event, reading)
    sigma, sensitivity = event["sigma"], event["sensitivity"]
    if event["dimension"] == 1:
        return _noise("discrete_gaussian", "sigma", sigma, sensitivity, wholly=False)
    if sigma == 0 and sensitivity:
        raise NotPrivate(wholly=False)
    return _guarantee(zcdp=sensitivity**2 / (2 * sigma**2)) if sensitivity else []


def _response(event: Event, reading: _Reading) -> Parts:
    _only(event, reading, Relation.REPLACE_ONE, Relation.REPLACE_SPECIAL)
    _outside(event, reading)
    if reading.zero:
        raise _NotSo
    noise, buckets = event["noise_parameter"], event["num_buckets"]
    if buckets == 1 or noise == 1:
        return []
    if noise == 0:
        raise NotPrivate(wholly=reading.relation is Relation.REPLACE_ONE)
    truth = 1 - noise + noise / buckets
    if reading.relation is Relation.REPLACE_ONE:
        return [({"kind": "builtin", "name": "k_randomized_response", "k": buckets, "p": truth}, 1)]
    rows = [[truth, 1 - truth], [1 / buckets, 1 - 1 / buckets]]  # the answer is that of the record, or another
    return [(_table(rows), 1)]


def _table(rows: Rows) -> Table:
    """Two laws, the one with the record first."""
    return {"kind": "table", "rows": rows, "adjacent": [[Fraction(0), Fraction(1)]]}


def _guarantee(**said: Any) -> Parts:
    """A mechanism of which no more is known; nothing where it tells nothing."""
    return [({"kind": "guarantee", **said}, 1)] if any(said.values()) else []


def _no_sums(event: Event, reading: _Reading) -> None:
    if reading.sampled and reading.relation is Relation.REPLACE_SPECIAL:
        message = f"`{event.kind}` does not say that a special record counts for none, which `PoissonSampledDpEvent` needs."
        raise Unsupported(event, message)


def _bounded_range(event: Event, reading: _Reading) -> Parts:
    _no_sums(event, reading)
    return _guarantee(bounded_range=event["epsilon"])


def _pure(event: Event, reading: _Reading) -> Parts:
    _no_sums(event, reading)
    return _guarantee(epsilon=event["epsilon"])


def _approximate(event: Event, reading: _Reading) -> Parts:
    _no_sums(event, reading)
    epsilon, delta = event["epsilon"], event["delta"]
    if delta == 1:
        raise NotPrivate(wholly=False)
    if epsilon == 0 and delta:  # it tells which of two data sets it is, or nothing
        return [(_table([[delta, Fraction(0), 1 - delta], [Fraction(0), delta, 1 - delta]]), 1)]
    return _guarantee(epsilon=epsilon, **({"delta": delta} if delta else {}))


def _zcdp(event: Event, reading: _Reading) -> Parts:
    _no_sums(event, reading)
    rho, xi = event["rho"], event["xi"]
    return _guarantee(renyi=[[order, xi + rho * order] for order in ORDERS]) if xi else _guarantee(zcdp=rho)


def _tree(event: Event, reading: _Reading) -> Parts:
    _only(event, reading, Relation.REPLACE_SPECIAL)
    _outside(event, reading)
    height = int(max(event["step_counts"])).bit_length()
    if height == 0:
        return []
    if event["noise_multiplier"] == 0:
        raise NotPrivate(wholly=True)
    return [({"kind": "builtin", "name": "gaussian", "sigma": event["noise_multiplier"], "sensitivity": f"sqrt({height})"}, 1)]


def _mixture(event: Event, reading: _Reading) -> Parts:
    _only(event, reading, Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_SPECIAL)
    _no_sums(event, reading)
    if not any(moved * chance for moved, chance in zip(event["sensitivities"], event["sampling_probs"], strict=True)):
        return []
    if event["standard_deviation"] == 0:
        raise NotPrivate(wholly=False)
    found = _moves(event, least=reading.least)
    assert found is not None
    return _moved(found, reading)


def _moves(event: Event, *, least: bool) -> moving.Moves | None:
    """By how much an event moves a sum with Gaussian noise: samples of mixtures, and of what is composed of Gaussians. None for others."""
    if event.kind == "MixtureOfGaussiansDpEvent" and event["standard_deviation"]:
        weights = zip(event["sensitivities"], event["sampling_probs"], strict=True)
        return moving.moves(weights, 1 / event["standard_deviation"] ** 2, least=least)
    if event.kind == "PoissonSampledDpEvent":
        inside = _moves(event.inner[0], least=least)
        return None if inside is None else inside.sampled(event["sampling_probability"])
    precision = _precision(event)
    return None if not precision else moving.Moves(((Fraction(1), Fraction(1)),), precision)


def _precision(event: Event) -> Fraction | None:
    """One over the variance of Gaussian noise that says as much as what is composed of Gaussians; None for what is made of others."""
    if event.kind == "GaussianDpEvent" and event["noise_multiplier"]:
        return 1 / Fraction(event["noise_multiplier"]) ** 2
    each = [_precision(one) for one in event.inner]
    if event.kind not in (*COMPOSITIONS, "NoOpDpEvent") or None in each:
        return None
    return sum((one for one in each if one is not None), Fraction(0)) * (int(event["count"]) if event.kind == "SelfComposedDpEvent" else 1)


def _moved(found: moving.Moves, reading: _Reading) -> Parts:
    """A sum that a record moves at random, and one without it: a sample of Gaussian noise where there is one move, else a table."""
    only = found.only
    if only is None and not any(moved for moved, _ in found.weights):
        return []
    if only is not None and (only[1] == 1 or not reading.tabled):
        shift, rate = only
        sigma = _root(found.precision)
        part = {"kind": "builtin", "name": "gaussian", "sigma": sigma, "sensitivity": shift}
        return _sample(rate, [(part, 1)], "poisson")
    if reading.sampled and reading.least:
        raise _NotSo
    return [(_table(moving.of_moves(found, reading.fine, least=reading.least)), 1)]


def _root(precision: Fraction) -> Any:
    """The standard deviation of a precision."""
    root = Fraction(math.isqrt(precision.denominator), math.isqrt(precision.numerator) or 1)
    return root if 1 / root**2 == precision else f"sqrt({1 / precision})"


# -- of several, and of samples --------------------------------------------------------------------------------------


def _nothing(*_: Any) -> Parts:
    return []


def _not_private(_: Event, reading: _Reading) -> Parts:
    raise NotPrivate(wholly=not reading.sampled)


def _repeated(event: Event, reading: _Reading) -> Parts:
    return _all([(event.inner[0], int(event["count"]))], reading)


def _composed(event: Event, reading: _Reading) -> Parts:
    return _all([(one, 1) for one in event.inner], reading)


def _sample(rate: Fraction, parts: Parts, scheme: str) -> Parts:
    """Mechanisms on one random sample."""
    if rate == 0 or not parts:
        return []
    if rate == 1:
        return parts
    table = {"kind": "subsample", "rate": rate, "part": composed(parts)}
    return [(table if scheme == "poisson" else {**table, "scheme": scheme}, 1)]


def _drawn(event: Event, rate: Fraction, reading: _Reading, scheme: str) -> Parts:
    """What an event draws a sample for."""
    try:
        parts = _parts(event.inner[0], replace(reading, sampled=True))
    except NotPrivate:
        if rate:
            raise
        return []
    return _sample(rate, parts, scheme)


def _poisson(event: Event, reading: _Reading) -> Parts:
    rate = event["sampling_probability"]
    found = _moves(event, least=reading.least)
    if reading.relation is Relation.REPLACE_ONE and rate not in (0, 1):
        leaves = [one for one in within(event) if one.kind not in (*COMPOSITIONS, "PoissonSampledDpEvent", "NoOpDpEvent")]
        if any(one.kind != "GaussianDpEvent" for one in leaves):
            message = (
                "neighboring_relation must be `ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL` for `PoissonSampledDpEvent` of anything but"
                " `GaussianDpEvent`s and compositions of them. Found REPLACE_ONE."
            )
            raise Unsupported(event, message)
        if found is not None and found.only is not None and not reading.sampled:
            rows = moving.of_exchange(found.only[1], found.precision, reading.fine, least=reading.least)
            return [(_table(rows), 1)]
        if reading.least:
            raise _NotSo
        return _drawn(event, rate, reading, "without_replacement")
    mixed = any(one.kind == "MixtureOfGaussiansDpEvent" for one in within(event))
    if found is not None and rate and reading.relation is not Relation.REPLACE_ONE and (mixed or reading.tabled):
        return _moved(found, reading)
    return _drawn(event, rate, reading, "poisson")


def _without_replacement(event: Event, reading: _Reading) -> Parts:
    if not reading.zero:
        _only(event, reading, Relation.REPLACE_ONE)
    size, inside = event["sample_size"], event.inner[0]
    for one in within(inside):
        if one.kind == event.kind and one["source_dataset_size"] != size:
            message = f"a sample of {size} records is not a data set of {one['source_dataset_size']}."
            raise Unsupported(one, message)
        if one.kind == event.kind:
            break
    scheme = "poisson" if reading.zero else "without_replacement"  # where all others are zero, the one record is there or is not
    return _drawn(event, Fraction(size, event["source_dataset_size"]), reading, scheme)


def _with_replacement(event: Event, reading: _Reading) -> Parts:
    _only(event, reading, Relation.REPLACE_ONE)
    _outside(event, reading)
    precision = _precision(event.inner[0])
    size, sample = int(event["source_dataset_size"]), int(event["sample_size"])
    if sample == 0 or precision == 0:
        return []
    if precision is None:
        if any(one.kind == "GaussianDpEvent" and not one["noise_multiplier"] for one in within(event)):
            raise NotPrivate(wholly=False)
        raise Unsupported(event, f"`{event.kind}` is read of `GaussianDpEvent`s and compositions of them alone.")
    return [(_table(moving.of_copies(size, sample, precision, reading.fine, least=reading.least)), 1)]


def _truncated(event: Event, reading: _Reading) -> Parts:
    _outside(event, reading)
    records, rate, batch = (event[name] for name in ("dataset_size", "sampling_probability", "truncated_batch_size"))
    if 0 in (records, rate, batch):
        return []
    gaussian = Event("GaussianDpEvent", {"noise_multiplier": event["noise_multiplier"]}, origin=event.origin)
    if batch >= records:
        return _poisson(Event("PoissonSampledDpEvent", {"sampling_probability": rate}, (gaussian,), event.origin), reading)
    precision = _precision(gaussian)
    if precision is None:
        raise NotPrivate(wholly=False)
    cut = moving.Cut(int(records) - 1, rate, int(batch))
    if not reading.least:
        _only(event, reading, Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE)
        return [(_table(moving.of_cut(cut, precision, reading.fine, both=reading.relation is Relation.REPLACE_ONE)), 1)]
    if reading.crowd:
        rows = moving.of_crowd(cut, precision, reading.fine) if reading.relation is Relation.ADD_OR_REMOVE_ONE else None
        if rows is None:
            raise _NotSo
        return [(_table(rows), 1)]
    if reading.relation is Relation.REPLACE_ONE:
        raise _NotSo
    alone = moving.Moves(((Fraction(1), Fraction(1)),), precision)
    return _moved(alone.sampled(kept(cut.others, rate, cut.batch)), reading)


def _best(event: Event, reading: _Reading) -> Parts:
    mean, shape = event["mean"], event["shape"]
    try:
        inside = _parts(event.inner[0], reading) if mean else []
    except NotPrivate:
        raise NotPrivate(wholly=False) from None
    if not inside or (mean == 1 and shape != math.inf):
        return inside
    if reading.least:
        raise _NotSo
    if shape == math.inf:
        runs = {"law": "poisson", "mean": mean}
    elif shape in (0, 1):
        runs = {"law": "geometric" if shape else "logarithmic", "mean": mean}
    else:
        runs = {"law": "negative_binomial", "eta": shape, "gamma": fewest_stops(shape, mean)}
    return [({"kind": "best_of", "runs": runs, "part": composed(inside)}, 1)]


COMPOSITIONS: Final = ("SelfComposedDpEvent", "ComposedDpEvent")
_READERS: Final = {
    "NoOpDpEvent": _nothing,
    "NonPrivateDpEvent": _not_private,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "RandomizedResponseDpEvent": _response,
    "ExponentialMechanismDpEvent": _bounded_range,
    "PermuteAndFlipDpEvent": _pure,
    "EpsilonDeltaDpEvent": _approximate,
    "ZCDpEvent": _zcdp,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "MixtureOfGaussiansDpEvent": _mixture,
    "SelfComposedDpEvent": _repeated,
    "ComposedDpEvent": _composed,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _without_replacement,
    "SampledWithReplacementDpEvent": _with_replacement,
    CUT: _truncated,
    "RepeatAndSelectDpEvent": _best,
}
"""What reads each kind of event; the others are not supported."""

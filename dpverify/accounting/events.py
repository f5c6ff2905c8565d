"""Events: what was done to one data set, in the words of dp-accounting's DpEvents, with exact numbers.

An event has the name of a DpEvent's class and the values of its fields. Every number is the one that it is written as: a float is the
binary number that it holds, so that the float 1.1 is not 11/10; a decimal of a file is that decimal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, Final, NamedTuple

Value = Fraction | float | None
"""An exact number; the float infinity, where a field may be that; None for a number that is left out."""


@dataclass(frozen=True)
class Event:
    """An event. numbers: of its fields, lists of them as tuples; inner: the events of its fields; origin: what it was read from."""

    kind: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[Event, ...] = ()
    origin: Any = field(default=None, compare=False, repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]


class Number(NamedTuple):
    """What a field may be. said: the words for it in messages; listed: "many" for a list, "either" for one number or a list."""

    said: str
    least: int = 0
    most: int | None = None
    whole: bool = False
    infinite: bool = False
    listed: str = ""
    needed: bool = True
    default: Value = None


NOISE: Final = Number("Noise multiplier")
EVENT: Final = "event"
EVENTS: Final = "events"
FIELDS: Final[Mapping[str, Mapping[str, Number | None]]] = {
    "NoOpDpEvent": {},
    "NonPrivateDpEvent": {},
    "UnsupportedDpEvent": {},
    "GaussianDpEvent": {"noise_multiplier": NOISE},
    "LaplaceDpEvent": {"noise_multiplier": NOISE},
    "DiscreteLaplaceDpEvent": {"noise_parameter": Number("Noise parameter"), "sensitivity": Number("Sensitivity", whole=True)},
    "DiscreteGaussianDpEvent": {
        "sigma": Number("Sigma"),
        "sensitivity": Number("Sensitivity", needed=False, default=Fraction(1)),
        "dimension": Number("Dimension", 1, whole=True, needed=False),
    },
    "RandomizedResponseDpEvent": {
        "noise_parameter": Number("Noise parameter", 0, 1),
        "num_buckets": Number("Number of buckets", 1, whole=True),
    },
    "ExponentialMechanismDpEvent": {"epsilon": Number("Epsilon")},
    "PermuteAndFlipDpEvent": {"epsilon": Number("Epsilon")},
    "EpsilonDeltaDpEvent": {"epsilon": Number("Epsilon"), "delta": Number("Delta", 0, 1)},
    "ZCDpEvent": {"rho": Number("rho"), "xi": Number("xi", needed=False, default=Fraction(0))},
    "SelfComposedDpEvent": {EVENT: None, "count": Number("Count", whole=True)},
    "ComposedDpEvent": {EVENTS: None},
    "PoissonSampledDpEvent": {"sampling_probability": Number("Sampling rate", 0, 1), EVENT: None},
    "SampledWithReplacementDpEvent": {
        "source_dataset_size": Number("Size of the data set", 1, whole=True),
        "sample_size": Number("Size of the sample", whole=True),
        EVENT: None,
    },
    "SampledWithoutReplacementDpEvent": {
        "source_dataset_size": Number("Size of the data set", 1, whole=True),
        "sample_size": Number("Size of the sample", whole=True),
        EVENT: None,
    },
    "SingleEpochTreeAggregationDpEvent": {"noise_multiplier": NOISE, "step_counts": Number("Number of steps", whole=True, listed="either")},
    "RepeatAndSelectDpEvent": {EVENT: None, "mean": Number("Mean"), "shape": Number("Shape", infinite=True)},
    "MixtureOfGaussiansDpEvent": {
        "standard_deviation": Number("Standard deviation"),
        "sensitivities": Number("Sensitivity", listed="many"),
        "sampling_probs": Number("Probability", 0, 1, listed="many"),
    },
    "TruncatedSubsampledGaussianDpEvent": {
        "dataset_size": Number("Size of the data set", whole=True),
        "sampling_probability": Number("Sampling rate", 0, 1),
        "truncated_batch_size": Number("Size of the batch", whole=True),
        "noise_multiplier": NOISE,
    },
}  # fmt: skip
"""The fields of every event; None for those that hold events."""

Look = Callable[[Any], tuple[str, Mapping[str, Any]]]
"""What tells of a foreign event its name, empty for one that is not known, and its fields. Raises ValueError for what is none."""


class _Wrong(ValueError):
    """What is wrong with one value."""


def read(foreign: Any, look: Look, where: str, faults: list[str]) -> Event:
    """The event that something foreign means. What is wrong with it is added to `faults`, each with its place; it means nothing then."""
    try:
        kind, values = look(foreign)
    except ValueError as error:
        faults.append(f"{where}: {error}")
        return Event("UnsupportedDpEvent", origin=foreign)
    if not kind:
        return Event("UnsupportedDpEvent", origin=foreign)
    here = f"{where}, {kind}" if where else kind
    numbers: dict[str, Any] = {}
    inner: tuple[Event, ...] = ()
    for name, wanted in FIELDS[kind].items():
        if name not in values and (wanted is None or wanted.needed):
            faults.append(f"{here}: {name} is missing.")
        elif name not in values and wanted is not None:
            numbers[name] = wanted.default
        elif wanted is None:
            inner = tuple(_inner(values[name], look, name, here, faults))
        else:
            try:
                numbers[name] = _value(values[name], wanted)
            except _Wrong as error:
                faults.append(f"{here}: {name}: {error}")
    before = len(faults)
    found = Event(kind, numbers, inner, foreign)
    if before == len(faults) and numbers.keys() == {name for name, wanted in FIELDS[kind].items() if wanted is not None}:
        faults.extend(f"{here}: {said}" for said in _together(found))
    return found


def _inner(value: Any, look: Look, name: str, where: str, faults: list[str]) -> Iterator[Event]:
    if name == EVENT:
        yield read(value, look, where, faults)
    elif isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        faults.append(f"{where}: {name} is not a list of events.")
    else:
        for number, one in enumerate(value, 1):
            yield read(one, look, f"{where}, {name} {number}", faults)


def _value(value: Any, wanted: Number) -> Any:
    """The value of a field. Raises _Wrong."""
    if not wanted.needed and value is None:
        return None
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        value = value.tolist()
    several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if wanted.listed == "many" and not several:
        raise _Wrong("a list of numbers is wanted.")
    if several and not wanted.listed:
        raise _Wrong("a number is wanted, not a list.")
    if wanted.listed:
        each = list(value) if several else [value]
        if not each:
            raise _Wrong("the list is empty.")
        return tuple(_number(one, wanted) for one in each)
    return _number(value, wanted)


def _number(value: Any, wanted: Number) -> Value:
    """A number in its range. Raises _Wrong."""
    said = _shown(value)
    try:
        found = exact(value)
    except ValueError as error:
        raise _Wrong(str(error)) from error
    if isinstance(found, float):
        if wanted.infinite and found > 0:
            return found
        raise _Wrong(f"{wanted.said} must be finite, found {said}.")
    if wanted.most is None and found < wanted.least:
        least = "non-negative" if wanted.least == 0 else f"at least {wanted.least}"
        raise _Wrong(f"{wanted.said} must be {least}, found {said}.")
    if wanted.most is not None and not wanted.least <= found <= wanted.most:
        raise _Wrong(f"{wanted.said} must be between {wanted.least} and {wanted.most}, found {said}.")
    if wanted.whole and found.denominator != 1:
        raise _Wrong(f"{wanted.said} must be an integer, found {said}.")
    return found


def exact(value: Any) -> Fraction | float:
    """The number that something is, exactly; infinities as floats. Raises ValueError for what is no number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is not a number.")
    if isinstance(value, Integral | Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal | Real):
        if math.isnan(value):
            raise ValueError("nan is not a number.")
        return float(value) if math.isinf(value) else Fraction(value if isinstance(value, Decimal) else float(value))
    if isinstance(value, str):
        return _written(value)
    raise ValueError(f"{_shown(value)} is not a number.")


def _written(text: str) -> Fraction | float:
    """A number in quotes: a fraction or a decimal, or "inf"."""
    if text.strip() in ("inf", "infinity", "Infinity"):
        return math.inf
    numerator, _, denominator = text.partition("/")
    try:
        parts = [Decimal(part) for part in ((numerator, denominator) if "/" in text else (numerator,))]
        if any(not part.is_finite() or abs(part.adjusted()) > _MOST_DIGITS or len(text) > _MOST_DIGITS for part in parts):
            raise ValueError
        return Fraction(parts[0]) / Fraction(parts[1]) if len(parts) == 2 else Fraction(parts[0])
    except (ArithmeticError, ValueError):
        raise ValueError(f'{_shown(text)} is not a number. Write a decimal, or a fraction such as "1/3".') from None


_MOST_DIGITS: Final = 2_000


def _together(event: Event) -> Iterator[str]:
    """What is wrong with the values of several fields, each of which may stand by itself."""
    if event.kind.startswith("SampledWith"):
        if event.kind == "SampledWithoutReplacementDpEvent" and event["sample_size"] > event["source_dataset_size"]:
            yield f"a sample of {event['sample_size']} of {event['source_dataset_size']} records is drawn with replacement alone."
    elif event.kind == "RepeatAndSelectDpEvent" and event["shape"] != math.inf and event["mean"] < 1:
        yield "Mean must be at least 1 where shape is finite: there is at least one run."
    elif event.kind == "MixtureOfGaussiansDpEvent":
        if len(event["sensitivities"]) != len(event["sampling_probs"]):
            yield "sensitivities and sampling_probs must be lists of one length."
        elif abs(sum(event["sampling_probs"]) - 1) > Fraction(1, 10**9):
            yield "sampling_probs must have the sum 1."


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, Fraction | Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."

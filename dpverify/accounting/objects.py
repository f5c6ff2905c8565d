"""dp-accounting's own objects as events. Nothing of dp-accounting is imported: what an object is, its class says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.accounting.events import EVENT, EVENTS, FIELDS, Event, read
from dpverify.errors import SpecError

_PACKAGE: Final = "dp_accounting"


def of_object(event: Any) -> Event:
    """The event that a DpEvent means; a class that is not known is an event that is not supported.

    Raises ValueError, which lists all that is wrong with its numbers.
    """
    faults: list[str] = []
    found = read(event, _looked_at, "", faults)
    if faults:
        raise ValueError("\n".join(fault.removeprefix(": ") for fault in faults))
    return found


def of_numbers(kind: str, numbers: Mapping[str, Any], *inner: Event) -> Event:
    """An event by the name of its class, its numbers and the event in it. Raises ValueError, which lists all that is wrong with them."""
    faults: list[str] = []
    values = {**numbers, **({EVENT: inner[0]} if inner else {})}
    found = read(kind, lambda foreign: (foreign, values) if foreign == kind else ("NoOpDpEvent", {}), "", faults)
    if faults:
        raise ValueError("\n".join(fault.removeprefix(": ").removeprefix(", ") for fault in faults))
    return replace(found, inner=inner)


def _looked_at(event: Any) -> tuple[str, Mapping[str, Any]]:
    for known in type(event).__mro__:
        if known.__module__.split(".")[0] == _PACKAGE and known.__name__ in FIELDS:
            return known.__name__, {name: getattr(event, name) for name in FIELDS[known.__name__] if hasattr(event, name)}
    return "", {}


def as_object(event: Event) -> Any:
    """The DpEvent of an event, with its exact numbers as they are. Raises SpecError for a class that this dp-accounting does not have."""
    from dp_accounting import dp_event

    known = getattr(dp_event, event.kind, None)
    if known is None:
        raise SpecError(f"{event.kind} is not an event of the dp-accounting that is installed. A later one may have it.")
    values: dict[str, Any] = {name: _plain(value) for name, value in event.numbers.items()}
    if EVENT in FIELDS[event.kind]:
        values[EVENT] = as_object(event.inner[0])
    if EVENTS in FIELDS[event.kind]:
        values[EVENTS] = [as_object(one) for one in event.inner]
    return known(**values)


def _plain(value: Any) -> Any:
    """A number for a DpEvent: integers and floats where these are the number, else the Fraction."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Fraction):
        whole = value.denominator == 1
        return int(value) if whole else float(value) if abs(value) < 10**300 and Fraction(float(value)) == value else value
    return value

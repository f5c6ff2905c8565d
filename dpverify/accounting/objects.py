"""dp-accounting's own objects as events. Nothing of dp-accounting is imported: what an object is, its class says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.accounting.events import FIELDS, Event, read

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


def _looked_at(event: Any) -> tuple[str, Mapping[str, Any]]:
    for known in type(event).__mro__:
        if known.__module__.split(".")[0] == _PACKAGE and known.__name__ in FIELDS:
            return known.__name__, {name: getattr(event, name) for name in FIELDS[known.__name__] if hasattr(event, name)}
    return "", {}

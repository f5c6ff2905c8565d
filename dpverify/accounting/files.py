"""Events in JSON, with exact numbers: the fields of DpEvents by their names, and the class under "class_name"."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from dpverify.accounting.events import EVENT, EVENTS, FIELDS, Event, read
from dpverify.accounting.relations import Relation
from dpverify.catalogue.toml import Fault, meant, read_text
from dpverify.errors import SpecError
from dpverify.runtime.whole import write

try:
    import fcntl
except ImportError:  # a system without it has no such locks: one writer at a time there
    fcntl = None  # type: ignore[assignment]

SCHEMA: Final = "dpverify-ledger/1"
CLASS: Final = "class_name"
MODULE: Final = "module_name"
_RELATION: Final = "neighboring_relation"
_OF_LEDGER: Final = ("schema", _RELATION, EVENTS)
_MODULE_SAID: Final = "dp_accounting.dp_event"
_DEEPEST: Final = 32
_EXAMPLE: Final = '{"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}'


class Ledger(NamedTuple):
    """Events on one data set, each with how often it is repeated. relation: that they are accounted under; None where that is not said."""

    events: tuple[tuple[Event, int], ...]
    relation: Relation | None = None


def read_ledger(path: Path) -> Ledger:
    """The events of a file: one event, or a ledger. Raises SpecError, which lists all that is wrong with it."""
    try:
        text = read_text(path)
    except Fault as fault:
        raise SpecError(f"{path}: {fault}") from fault
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror or error}.") from error
    return parse_ledger(text, str(path))


def extend_ledger(path: Path, events: Iterable[tuple[Event, int]], relation: Relation) -> Ledger:
    """Add events to a ledger's file, which is made where there is none, and give the whole. Raises SpecError for a file that is none.

    Writers wait for each other, and the file is replaced as a whole: what several add at once, or is interrupted, loses nothing.
    """
    with locked(path):
        before = read_ledger(path) if path.exists() else Ledger((), relation)
        if before.relation not in (None, relation):
            raise SpecError(f"{path}: it is accounted under {before.relation.value}, and what is added under {relation.value}.")
        together = list(before.events)
        for event, times in events:
            if together and together[-1][0] == event:
                together[-1] = (event, together[-1][1] + times)
            else:
                together.append((event, times))
        after = Ledger(tuple(together), relation)
        write(path, ledger_text(after))
    return after


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file: a file beside it, whose lock the system gives up where its holder ends, however it ends."""
    with path.with_name(f"{path.name}.lock").open("w", encoding="utf-8") as held:
        if fcntl is not None:
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def parse_ledger(text: str, name: str) -> Ledger:
    """The events of a JSON text. name: of its file, for messages. Raises SpecError."""
    try:
        data = json.loads(text, parse_float=_decimal, parse_int=_decimal, parse_constant=_constant, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise SpecError(f"{name}: not JSON at line {error.lineno}, column {error.colno}: {error.msg}. Write such as {_EXAMPLE}.") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{name}: {error if isinstance(error, ValueError) else 'nested too deep'}.") from error
    if _depth(data) > _DEEPEST:
        raise SpecError(f"{name}: nested more than {_DEEPEST} deep. Events that are composed of compositions may be one composition.")
    faults: list[str] = []
    if isinstance(data, Mapping) and "schema" in data:
        found = _ledger(data, name, faults)
    else:
        found = Ledger(((read(data, _looked_at, name, faults), 1),))
    if faults:
        raise SpecError(faults)
    return found


def _ledger(data: Mapping[str, Any], name: str, faults: list[str]) -> Ledger:
    """What a ledger says; what is wrong with it is added to the faults."""
    if data["schema"] != SCHEMA:
        faults.append(f"{name}: schema is {json.dumps(data['schema'], default=str)[:60]}, not {json.dumps(SCHEMA)}.")
    unknown = [json.dumps(key[:60]) for key in data if key not in _OF_LEDGER]
    faults.extend(f"{name}: a ledger has no {key}. It has {', '.join(_OF_LEDGER)}." for key in unknown)
    said = data.get(_RELATION)
    if said is not None and (not isinstance(said, str) or said not in Relation.__members__):
        faults.append(f"{name}: {_RELATION} is none of {', '.join(Relation.__members__)}.")
        said = None
    entries = data.get(EVENTS)
    if not isinstance(entries, list):
        faults.append(f"{name}: {EVENTS} is missing: a list of events, each with its count.")
        entries = []
    events = []
    for number, entry in enumerate(entries, 1):
        repeated = {**entry, CLASS: "SelfComposedDpEvent"} if isinstance(entry, Mapping) else entry
        found = read(repeated, _looked_at, f"{name}, {EVENTS} {number}", faults)
        if found.inner and "count" in found.numbers:
            events.append((found.inner[0], int(found["count"])))
    return Ledger(tuple(events), None if said is None else Relation[said])


def ledger_text(ledger: Ledger) -> str:
    """A ledger as the text of a file."""
    data: dict[str, Any] = {"schema": SCHEMA}
    if ledger.relation is not None:
        data[_RELATION] = ledger.relation.name
    data[EVENTS] = [{EVENT: _data(event), "count": times} for event, times in ledger.events]
    return json.dumps(data, indent=1) + "\n"


def event_text(event: Event) -> str:
    """An event as the text of a file, in which every number is the same: a decimal, or a fraction in quotes."""
    return json.dumps(_data(event), indent=1)


def _data(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = {CLASS: event.kind}
    for name, wanted in FIELDS[event.kind].items():
        if name == EVENT:
            data[name] = _data(event.inner[0])
        elif name == EVENTS:
            data[name] = [_data(one) for one in event.inner]
        elif wanted is None or wanted.needed or event.numbers.get(name, wanted.default) != wanted.default:
            data[name] = _number(event[name])
    return data


def _number(value: Any) -> Any:
    """A number as JSON has it: an integer, or in quotes a decimal or a fraction."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_number(one) for one in value]
    if value is None or value == math.inf:
        return None if value is None else "inf"
    if value.denominator == 1:
        return int(value)
    nearest = float(value) if abs(value) < 10**300 else math.inf
    # as a bare number where every reader of JSON, whose numbers are floats, has the nearest float of it anyhow
    return nearest if math.isfinite(nearest) and Fraction(repr(nearest)) == value else str(value)


def _decimal(text: str) -> Fraction:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text[:60]} is not a number that is read") from None
    if abs(value.adjusted()) > _MOST_DIGITS or len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:60]} has more than {_MOST_DIGITS} digits")
    return Fraction(value)


_MOST_DIGITS: Final = 2_000


def _constant(text: str) -> float:
    return float(text.replace("Infinity", "inf").replace("NaN", "nan"))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once. Raises ValueError."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{json.dumps(key[:60])} stands twice in one object")
        found[key] = value
    return found


def _depth(data: Any) -> int:
    inside = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return 1 + max(map(_depth, inside), default=0) if isinstance(data, Mapping | list) else 0


def _looked_at(data: Any) -> tuple[str, Mapping[str, Any]]:
    """What an object of JSON says. Raises ValueError for what says no event."""
    if not isinstance(data, Mapping):
        raise ValueError(f"an event is wanted, such as {_EXAMPLE}.")
    kind = data.get(CLASS)
    if not isinstance(kind, str):
        raise ValueError(f"{CLASS} is missing: the name of the class of a DpEvent. Write such as {_EXAMPLE}.")
    if kind not in FIELDS:
        known = f" Known are {', '.join(FIELDS)}."
        raise ValueError(f"{json.dumps(kind[:60])} is no event.{meant(kind, FIELDS) or known}")
    if data.get(MODULE, _MODULE_SAID) != _MODULE_SAID:
        raise ValueError(f"{MODULE} is {json.dumps(data[MODULE])}, not {json.dumps(_MODULE_SAID)}. Leave it out.")
    fields = [*FIELDS[kind], CLASS, MODULE]
    unknown = [key for key in data if key not in fields]
    if unknown:
        said = ", ".join(json.dumps(key[:60]) for key in unknown)
        raise ValueError(f"{kind} has no {said}.{meant(unknown[0], fields)} It has {', '.join(fields[:-2]) or 'no fields'}.")
    return kind, data

"""Calls of noise primitives as a run notes them, and what two neighbouring runs must have in common."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, Final

from dpverify.catalogue.toml import show

PACKAGE: Final = Path(__file__).parents[1]
ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
MOST_CALLS: Final = 10_000
INTEGERS: Final = frozenset({"discrete_laplace", "discrete_gaussian", "skellam", "poisson", "binomial", "negative_binomial"})
"""The builtins that hide integers alone."""


@dataclass(frozen=True)
class Breach:
    """What breaks the contract. kind: one word or two; said: what differs; place: the file and line of the pipeline, where it is known."""

    kind: str
    said: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place + ': ' if self.place else ''}{self.said}"


class Stopped(BaseException):
    """That a run is over, as the contract is broken; no `except Exception` of a pipeline holds it."""

    def __init__(self, breach: Breach) -> None:
        super().__init__(str(breach))
        self.breach = breach


def exact(value: Any) -> Fraction | None:
    """A number as a rational; None for what is none, or is not finite."""
    value = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    if not isinstance(value, Fraction | Decimal | int | float):
        return None
    return Fraction(value) if isinstance(value, Fraction | int) or math.isfinite(value) else None


def on_integers(mechanism: Mapping[str, Any]) -> bool:
    """Whether noise on the integers is added or compared."""
    inside = (held for held in mechanism.values() if isinstance(held, Mapping))
    return mechanism.get("name") in INTEGERS or bool(mechanism.get("integers")) or any(map(on_integers, inside))


def place() -> str:
    """The file and line outside of this package from which it is called."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _ours(file: str) -> bool:
    return Path(file).is_relative_to(PACKAGE) or file.startswith("<frozen")


@dataclass(eq=False)
class Call:
    """A call of a primitive: its mechanism as the table of a claim file, by how much neighbours may move what it is given, in which norm.

    shape: of what it is given, and labels of its entries; values, outputs: an entry each, None where nothing is known of it yet. together:
    how many entries may move at all, where that is bounded. monotone: whether all move the same way. keyed: counts by key, of which a key
    that is not there has 0. growing: whether it is given one number after the other. at: its place among the calls of the run.
    began: the mechanism before noise that is not added yet is multiplied. centred: whether it was drawn around the answer.
    """

    mechanism: Mapping[str, Any]
    sensitivity: Fraction
    norm: str
    labels: Any
    values: list[Any]
    outputs: list[Any]
    place: str
    together: int | None = None
    monotone: bool = False
    keyed: Any = None
    growing: bool = False
    at: int = 0
    centred: bool = False
    began: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.mechanism

    @property
    def name(self) -> str:
        """What it is called in messages."""
        inside = ", ".join(f"{key} = {_short(value)}" for key, value in self.mechanism.items() if key not in ("kind", "name"))
        return f"{self.mechanism.get('name', self.mechanism['kind'])}({inside})"

    def differs(self, other: Call) -> Breach | None:
        """What this call, the second, has not in common with the other before anything is known of values."""
        if self.began != other.began and self.began.get("name") == other.began.get("name"):
            return Breach("parameters", f"one input calls {other.name}, and its neighbour {self.name}: parameters are public", self.place)
        if self.mechanism.get("kind") != other.mechanism.get("kind") or self.mechanism.get("name") != other.mechanism.get("name"):
            return Breach("mechanism", f"one input calls {other.name}, and its neighbour {self.name}", self.place)
        if self.sensitivity != other.sensitivity or self.norm != other.norm:
            said = f"the declared sensitivity is {_short(other.sensitivity)} on one input and {_short(self.sensitivity)} on its neighbour"
            return Breach("sensitivity", said, self.place)
        if self.growing:
            return None
        if len(self.values) != len(other.values):
            said = f"{self.name} is given {len(other.values)} numbers on one input and {len(self.values)} on its neighbour"
            return Breach("shape", said, self.place)
        if self.labels != other.labels:
            said = f"{self.name} is given entries {show(other.labels)} on one input and {show(self.labels)} on its neighbour"
            return Breach("keys", said, self.place)
        return None

    def apart(self, other: Call, tolerance: Fraction) -> Breach | None:
        """Whether what both are given is further apart than is declared, or no number."""
        if self.mechanism != other.mechanism:
            return Breach("parameters", f"one input calls {other.name}, and its neighbour {self.name}: parameters are public", self.place)
        if len(self.values) != len(other.values):
            said = f"{self.name} is given {len(other.values)} answers on one input and {len(self.values)} on its neighbour"
            return Breach("calls", said, self.place)
        pairs = list(zip(other.values, self.values, strict=True))
        if any((a is None) != (b is None) for a, b in pairs):
            return Breach("use", f"{self.name} is used on one input and not on its neighbour", self.place)
        numbers = [(exact(a), exact(b), a, b) for a, b in pairs if a is not None]
        for a, b, x, y in numbers:
            if a is None or b is None:
                bad = x if a is None else y
                return Breach("value", f"{self.name} is given {bad!r:.60}, of which no sensitivity is known", self.place)
        if on_integers(self.mechanism) and (bad := [x for a, b, _, _ in numbers for x in (a, b) if x is not None and x.denominator != 1]):
            return Breach("value", f"{self.name} is given {float(bad[0]):.6g}, and noise on the integers hides integers alone", self.place)
        moved = [b - a for a, b, _, _ in numbers if a is not None and b is not None]
        size = max((abs(x) for a, b, _, _ in numbers for x in (a, b) if x is not None), default=Fraction(0))
        slack = tolerance * (size + 1)
        most, far = self.sensitivity, self.distance(moved)
        if not far <= _reach(most + slack, self.norm):
            known = math.sqrt(far) if self.norm == "l2" else float(far)
            said = f"{self.name} is given answers {known:.6g} apart in {self.norm}, and {_short(self.sensitivity)} is declared"
            return Breach("distance", said, self.place)
        if self.together is not None and len([x for x in moved if abs(x) > slack]) > self.together:
            return Breach("keys", f"{self.name}: more than {self.together} keys differ between neighbours", self.place)
        if self.monotone and any(x > slack for x in moved) and any(x < -slack for x in moved):
            return Breach("distance", f"{self.name}: some answers rise and others fall, and all one way is declared", self.place)
        return None

    def distance(self, moved: Sequence[Fraction]) -> Fraction:
        """How far apart answers are, in l2 its square."""
        if self.norm == "linf":
            return max(map(abs, moved), default=Fraction(0))
        return sum((x * x if self.norm == "l2" else abs(x) for x in moved), Fraction(0))


def _reach(length: Fraction, norm: str) -> Fraction:
    return length * length if norm == "l2" else length


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("name", value.get("kind", "...")))
    text = exact(value) if not isinstance(value, str) else None
    return str(value) if text is None else str(text) if text.denominator == 1 else f"{float(text):.6g}"


@dataclass
class Trace:
    """What a run does that others may see: its calls, the seeds that it sets, and how it ends.

    sources: what noise is drawn from, its state there, and where. told: what it tells besides its result, under each of told.WAYS.
    """

    calls: list[Call] = field(default_factory=list)
    seeds: list[tuple[str, Any, str]] = field(default_factory=list)
    sources: list[tuple[str, Any, str]] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    error: BaseException | None = None
    breach: Breach | None = None


def compare(first: Trace, second: Trace, tolerance: Fraction, ways: Sequence[str] = ()) -> Breach | None:
    """What breaks the contract in two runs with the same outputs of their calls; None where nothing does. ways: of telling besides."""
    return next(_differences(first, second, tolerance), None) or next(filter(None, (differs_in(way, first, second) for way in ways)), None)


def differs_in(way: str, first: Trace, second: Trace) -> Breach | None:
    """Whether something else is told in one way besides the result."""
    a, b = first.told.get(way), second.told.get(way)
    if same(a, b):
        return None
    if isinstance(a, dict) and isinstance(b, dict):
        name = next(iter([key for key in (*a, *b) if not same(a.get(key), b.get(key))]), "")
        a, b, way = a.get(name), b.get(name), f"kept in {name}" if way == "kept" else f"{way} into {name}"
    elif isinstance(a, list) and isinstance(b, list):
        a, b = ([one for one in mine if one not in others] or mine for mine, others in ((a, b), (b, a)))
    return Breach("told", f"all calls had the same outputs, and {a!r:.60} is {way} on one input and {b!r:.60} on its neighbour")


def _differences(first: Trace, second: Trace, tolerance: Fraction) -> Iterator[Breach]:
    if first.error is not None and second.breach is not None and second.breach.kind == "calls":
        yield _unlike(first, second)
    if first.breach or second.breach:
        yield first.breach or second.breach  # type: ignore[misc]
    for one, (what, seed, where) in zip(first.seeds, second.seeds, strict=False):
        if not same(one[:2], (what, seed)):
            yield Breach("seed", f"{what} is seeded by {one[1]!r:.40} on one input and by {seed!r:.40} on its neighbour", where)
    for mine, other in zip(second.calls, first.calls, strict=False):
        breach = mine.differs(other) or mine.apart(other, tolerance)
        if breach is not None and (breach.kind not in ("calls", "use") or (first.error is None) == (second.error is None)):
            yield breach
    if (first.error is None) != (second.error is None) or not same(_told(first.error), _told(second.error)):
        yield _unlike(first, second)
    if len(first.calls) != len(second.calls):
        more = max(first.calls, second.calls, key=len)
        after = more[min(len(first.calls), len(second.calls))]
        said = f"{len(first.calls)} calls of primitives on one input and {len(second.calls)} on its neighbour: {after.name} is one too many"
        yield Breach("calls", said, after.place)
    if not same(first.output, second.output):
        shown = f"{first.output!r:.60} on one input and {second.output!r:.60} on its neighbour"
        yield Breach("output", f"all calls had the same outputs, and the result is {shown}")


def _told(error: BaseException | None) -> str:
    """What an exception says to whoever sees it."""
    return "nothing" if error is None else f"{type(error).__name__}: {error}"


def _unlike(first: Trace, second: Trace) -> Breach:
    said = f"one input raises {_told(first.error):.80}, and its neighbour {_told(second.error):.80}"
    return Breach("exception", said, _raised(first.error or second.error))


def _raised(error: BaseException | None) -> str:
    trace, found = error.__traceback__ if error is not None else None, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        found = found if _ours(file) else f"{Path(file).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two results cannot be told apart: of dictionaries by their order too; a value that is not a number is like another."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if hasattr(a, "tobytes") and hasattr(a, "shape") and getattr(getattr(a, "dtype", None), "kind", "O") != "O":
        return bool(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
    if hasattr(a, "tolist"):
        return same(a.tolist(), b.tolist()) and same(*(list(map(str, getattr(one, "index", []))) for one in (a, b)))
    if hasattr(a, "equals") and hasattr(a, "columns"):
        return bool(a.equals(b)) and list(a.index) == list(b.index)
    try:
        if getattr(type(a), "__eq__", None) is object.__eq__ or hasattr(type(a), "__dataclass_fields__"):
            return a is b or same(_held(a), _held(b))
        return bool(a == b)
    except Exception:
        return bool(_shown(a) == _shown(b))


def _shown(value: Any) -> str:
    """An object as text, without its address."""
    return ADDRESS.sub("", repr(value))


def _held(value: Any) -> Any:
    """What an object holds, by which those without an equality of their own are compared."""
    names = [name for kind in type(value).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
    if not names and not hasattr(value, "__dict__"):
        return _shown(value)
    return {**getattr(value, "__dict__", {}), **{name: getattr(value, name) for name in names if hasattr(value, name)}}


def _listed(names: Any) -> Sequence[str]:
    return (names,) if isinstance(names, str) else tuple(names)

"""What events cost, between proved bounds: epsilon at a delta, and delta at an epsilon, as decimals rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from dpverify.accounting.claim_files import stated
from dpverify.accounting.events import Event
from dpverify.accounting.pairs import Fineness
from dpverify.accounting.relations import Relation
from dpverify.accounting.translate import Mechanisms, NotPrivate, Table, mechanisms
from dpverify.errors import NotProved
from dpverify.evidence.collected import encode
from dpverify.runtime.whole import write
from dpverify.search.decimals import decimal_bounds
from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.theories.composition.grid import RULE as GRID

DIGITS: Final = 12
"""Of a bound, where nobody asks for another number of them."""
_LADDER: Final = (6, 9, 14, 20, 25, 30, 35, 40, 50, 60)
"""Digits that are tried one after the other until an enclosure is as narrow as is asked."""
_FINER: Final = 20
"""Fewer digits ask for one grid of losses, and as many for a finer one."""
_STUCK: Final = 2
"""After so many steps that gained little no more are tried."""
_ALONE, _MULTIPLIED, _ON_A_GRID, _FEW = 1024, 96, (256, 512), 3
"""Outputs of tables: of one by itself, of up to three whose products are listed, and of more, for few and for many digits."""
_BITS: Final = (96, 192, 1200)
"""Of tables: the fewer, the quicker, and the greater the least delta at which they say something."""
ZERO, ONE, INFINITE = Decimal(0), Decimal(1), Decimal("Infinity")


class Bounds(NamedTuple):
    """A number between two bounds, each proved. rules: what they rest on; assumed: of the upper bound."""

    lower: Decimal
    upper: Decimal
    rules: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class Cost:
    """What events on one data set cost. Raises translate.Unsupported."""

    def __init__(self, events: Iterable[tuple[Event, int]], relation: Relation) -> None:
        self._events, self._relation = list(events), relation
        self.mechanisms: Mechanisms | None = None
        self._bare = False
        try:
            self.mechanisms = mechanisms(self._events, relation)
        except NotPrivate as told:
            self._bare = told.wholly
        self._finer: dict[Fineness, Mechanisms] = {}
        self._known: dict[tuple[Any, ...], Bounds] = {}

    @property
    def is_private(self) -> bool:
        """Whether no part of it hides nothing."""
        return self.mechanisms is not None

    def epsilon(self, delta: Fraction, digits: int = DIGITS, width: Fraction | None = None) -> Bounds:
        """The least epsilon at a delta of at least 0. width: that is wide enough."""
        if self.mechanisms is None:
            return Bounds(INFINITE if self._bare and delta < 1 else ZERO, INFINITE)
        if delta >= 1:
            return Bounds(ZERO, ZERO)
        return self._narrowed(("epsilon", delta), digits, width, lambda many: self._bounds({"epsilon": "tight", "delta": delta}, many))

    def delta(self, epsilon: Fraction, digits: int = DIGITS, width: Fraction | None = None) -> Bounds:
        """The least delta at an epsilon of at least 0. width: that is wide enough."""
        if self.mechanisms is None:
            return Bounds(ONE if self._bare else ZERO, ONE)
        return self._narrowed(("delta", epsilon), digits, width, lambda many: self._bounds({"epsilon": epsilon, "delta": "tight"}, many))

    def certificate(self, path: Path, digits: int = DIGITS, **asked: Any) -> Path:
        """Write the certificate of a claim about all that the events describe. Raises NotProved where it is not proved."""
        if self.mechanisms is None:
            raise NotProved("part of the events hides nothing, so that no epsilon and no delta below 1 holds.", ["REFUTED"])
        found = verify(stated(self.at(self._fineness(digits, asked)).most, **asked).claim, digits)
        if found.judgement.verdict != "PROVED":
            why = " ".join(found.reasons) or "the bounds that are known do not reach it."
            raise NotProved(f"{found.judgement.verdict}: {why}", [found.judgement.verdict])
        write(path, encode(found.certificate))
        return path

    def at(self, fine: Fineness) -> Mechanisms:
        """The mechanisms with tables so fine, of what is private."""
        assert self.mechanisms is not None
        if not self.mechanisms.tabled:
            return self.mechanisms
        if fine not in self._finer:
            self._finer[fine] = mechanisms(self._events, self._relation, fine)
        return self._finer[fine]

    def _fineness(self, digits: int, asked: Mapping[str, Any]) -> Fineness:
        """How fine tables are: as the digits that are sought need, and fine enough for a delta so small."""
        assert self.mechanisms is not None
        runs = self.mechanisms.runs
        outputs = _ALONE if runs == 1 else _MULTIPLIED if runs <= _FEW else _ON_A_GRID[digits > _LADDER[0]]
        delta = asked["delta"]
        each = Fraction(1) if delta == "tight" else Fraction(delta) / max(1, self.mechanisms.runs)
        enough = [bits for bits in _BITS if each > Fraction(1, 2 ** (bits - 40))] if delta != "tight" else [_BITS[1]]
        return Fineness(outputs, enough[0] if enough else _BITS[-1])

    def _narrowed(self, asked: tuple[Any, ...], digits: int, width: Fraction | None, bounds: Callable[[int], Bounds]) -> Bounds:
        """The bounds of so many digits, or of as many as make them narrow enough."""
        key = (*asked, digits, width)
        if key not in self._known:
            self._known[key] = bounds(digits) if width is None else self._as_wide(width, bounds)
        return self._known[key]

    def _as_wide(self, width: Fraction, bounds: Callable[[int], Bounds]) -> Bounds:
        """The bounds of as many digits as make them narrow enough, as far as more digits gain anything."""
        found, stuck = bounds(_LADDER[0]), 0
        for many in _LADDER[1:]:
            if stuck == _STUCK or not found.upper.is_finite() or Fraction(found.upper) - Fraction(found.lower) <= width:
                break
            if many < _FINER and GRID in found.rules:
                continue
            both = _both(found, bounds(many))
            stuck = stuck + 1 if both.upper - both.lower > (found.upper - found.lower) * Decimal("0.7") else 0
            found = both
        return found

    def _bounds(self, asked: dict[str, Any], digits: int) -> Bounds:
        value = "epsilon" if asked["epsilon"] == "tight" else "delta"
        fine = self._fineness(digits, asked)
        found = self._at(fine, asked, digits)
        tiny = value == "delta" and found.upper < Decimal(2) ** (40 - fine.bits)
        if tiny and self.mechanisms is not None and self.mechanisms.tabled:
            found = _both(found, self._at(fine._replace(bits=_BITS[-1]), asked, digits))
        return found

    def _at(self, fine: Fineness, asked: dict[str, Any], digits: int) -> Bounds:
        known = self.at(fine)
        value = "epsilon" if asked["epsilon"] == "tight" else "delta"
        most = _judged(known.most, asked, digits)
        below = [most if table == known.most else _judged(table, asked, digits) for table in known.least]
        lower = max((_end(one, value, digits, 0) for one in below), default=ZERO)
        rules = dict.fromkeys(rule for one in (most, *below) for rule in one.judgement.rules)
        return Bounds(lower, _end(most, value, digits, 1), tuple(rules), tuple(most.judgement.assumptions))


def _both(one: Bounds, other: Bounds) -> Bounds:
    """The better of two lower, and of two upper bounds."""
    return Bounds(max(one.lower, other.lower), min(one.upper, other.upper), tuple(dict.fromkeys(one.rules + other.rules)), other.assumed)


def _judged(table: Table, asked: dict[str, Any], digits: int) -> Verified:
    return verify(stated(table, **asked).claim, digits)


def _end(found: Verified, value: str, digits: int, side: int) -> Decimal:
    """A bound as a decimal, rounded outward; the least or the greatest there is where nothing is known."""
    most = INFINITE if value == "epsilon" else ONE
    known = found.judgement
    if value == "epsilon" and isinstance(known.lower, Infinite):
        return INFINITE
    names = ("lower", "upper") if value == "epsilon" else ("delta_lower", "delta_upper")
    bound: Expr | Infinite | None = getattr(known, names[side])
    if bound is None or isinstance(bound, Infinite):
        return (ZERO, most)[side]
    try:
        decimal = Decimal(decimal_bounds(bound, digits)[side])
    except Undecided:
        return (ZERO, most)[side]
    return min(max(decimal, ZERO), most)

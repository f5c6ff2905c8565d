"""What events cost, between proved bounds: epsilon at a delta, and delta at an epsilon, as decimals rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from dpverify.accounting.claim_files import stated
from dpverify.accounting.events import Event
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

DIGITS: Final = 12
"""Of a bound, where nobody asks for another number of them."""
_LADDER: Final = (6, 9, 14, 20, 30)
"""Digits that are tried one after the other until an enclosure is as narrow as is asked."""
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
        self.mechanisms: Mechanisms | None = None
        self._bare = False
        try:
            self.mechanisms = mechanisms(events, relation)
        except NotPrivate as told:
            self._bare = told.wholly
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
        found = [verify(stated(table, **asked).claim, digits) for table in self.mechanisms.most]
        proved = [one for one in found if one.judgement.verdict == "PROVED"]
        if not proved:
            why = " ".join(found[0].reasons) or "the bounds that are known do not reach it."
            raise NotProved(f"{found[0].judgement.verdict}: {why}", [found[0].judgement.verdict])
        value = "delta" if asked["delta"] == "tight" else "epsilon"
        best = min(proved, key=lambda one: _end(one, value, digits, 1))
        write(path, encode(best.certificate))
        return path

    def _narrowed(self, asked: tuple[Any, ...], digits: int, width: Fraction | None, bounds: Callable[[int], Bounds]) -> Bounds:
        """The bounds of so many digits, or of as many as make them narrow enough."""
        key = (*asked, digits, width)
        if key not in self._known:
            found: Bounds | None = None
            for many in (digits,) if width is None else _LADDER:
                new = bounds(many)
                both = new if found is None else _both(found, new)
                stays = found is not None and both.upper - both.lower > (found.upper - found.lower) * Decimal("0.7")
                found = both
                if width is None or stays or not found.upper.is_finite() or Fraction(found.upper) - Fraction(found.lower) <= width:
                    break
            assert found is not None
            self._known[key] = found
        return self._known[key]

    def _bounds(self, asked: dict[str, Any], digits: int) -> Bounds:
        assert self.mechanisms is not None
        value = "epsilon" if asked["epsilon"] == "tight" else "delta"
        judged = {repr(table): _judged(table, asked, digits) for table in self.mechanisms.most}
        most = min(judged.values(), key=lambda one: _end(one, value, digits, 1))
        below = self.mechanisms.least
        least = None if below is None else judged.get(repr(below)) or _judged(below, asked, digits)
        lower = ZERO if least is None else _end(least, value, digits, 0)
        rules = dict.fromkeys(rule for one in (most, least) if one is not None for rule in one.judgement.rules)
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

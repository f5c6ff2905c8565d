"""An accountant of dp-accounting that proves what it says, on both sides."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, Final

from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from dpverify.accounting.enclosures import DIGITS, Cost
from dpverify.accounting.events import Event, exact
from dpverify.accounting.files import Ledger, extend_ledger, ledger_text, read_ledger
from dpverify.accounting.objects import as_object, of_object
from dpverify.accounting.relations import Relation
from dpverify.accounting.translate import Unsupported
from dpverify.errors import SpecError
from dpverify.runtime.whole import write


class CertifiedAccountant(PrivacyAccountant):  # type: ignore[misc]
    """A PrivacyAccountant whose answers are proved: the true epsilon is never above `get_epsilon`, nor delta above `get_delta`.

    digits: of the bounds, where the mechanism's are no wider. width: if given, as many digits as make the bounds so narrow, in place of it.
    Numbers are what they are: a float is the binary number that it holds; Fractions and Decimals in events are exact.
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        *,
        digits: int = DIGITS,
        width: Any = None,
    ) -> None:
        super().__init__(neighboring_relation)
        self._relation = Relation[neighboring_relation.name]
        self._digits = digits
        self._width = None if width is None else number(width, "width")
        self._events: list[tuple[Event, int]] = []
        self._cost: Cost | None = None

    def _maybe_compose(self, event: dp_event.DpEvent, count: int, do_compose: bool) -> Any:
        found = of_object(event)
        try:
            Cost([(found, 1)], self._relation)
        except Unsupported as error:
            return PrivacyAccountant.CompositionErrorDetails(invalid_event=error.event.origin, error_message=str(error))
        if do_compose:
            self._events.append((found, index(count)))
            self._cost = None
        return None

    def epsilon_bounds(self, delta: Any) -> tuple[Decimal, Decimal]:
        """Two proved bounds of the least epsilon at a delta, rounded outward."""
        found = self._costs().epsilon(number(delta, "delta"), self._digits, self._width)
        return found.lower, found.upper

    def delta_bounds(self, epsilon: Any) -> tuple[Decimal, Decimal]:
        """Two proved bounds of the least delta at an epsilon, rounded outward."""
        at = number(epsilon, "epsilon", infinite=True)
        if isinstance(at, float):  # delta does not rise: at infinity it is at most what it is far out
            lower, upper = self.delta_bounds(_FAR)
            return (Decimal(0) if self._costs().is_private else lower), upper
        found = self._costs().delta(at, self._digits, self._width)
        return found.lower, found.upper

    def get_epsilon(self, target_delta: float) -> float:
        """The least epsilon at a delta, from above: the upper bound, rounded up."""
        return rounded_up(self.epsilon_bounds(target_delta)[1])

    def get_delta(self, target_epsilon: float) -> float:
        """The least delta at an epsilon, from above: the upper bound, rounded up."""
        return rounded_up(self.delta_bounds(target_epsilon)[1])

    def certificate(self, path: str | PathLike[str], *, epsilon: Any = None, delta: Any = None) -> Path:
        """Write a certificate that `dpverify check` re-checks: that epsilon and delta hold, or of one of them what the least other is.

        Raises NotProved where the claim is not proved, ValueError where neither is given.
        """
        if epsilon is None and delta is None:
            raise ValueError("certificate: give epsilon, delta or both.")
        asked = {name: "tight" if value is None else number(value, name) for name, value in (("epsilon", epsilon), ("delta", delta))}
        return self._costs().certificate(Path(path), self._digits, **asked)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write all that was composed to a file, which `load` and `dpverify account` read; a later day goes on from it."""
        file = Path(path)
        write(file, ledger_text(Ledger(tuple(self._events), self._relation)))
        return file

    def extend(self, path: str | PathLike[str]) -> Path:
        """Add all that was composed to a ledger that may have more, which is made where there is none. Writers wait for each other.

        Raises SpecError for a file that is no ledger of this relation.
        """
        file = Path(path)
        extend_ledger(file, self._events, self._relation)
        return file

    @classmethod
    def load(cls, path: str | PathLike[str], **settings: Any) -> CertifiedAccountant:
        """The accountant of a ledger. settings: digits and width, as for a new one. Raises SpecError."""
        ledger = read_ledger(Path(path))
        if ledger.relation is None:
            raise SpecError(f"{path}: neighboring_relation is missing: a ledger says under which relation it is accounted.")
        found = cls(NeighboringRelation[ledger.relation.name], **settings)
        for event, times in ledger.events:
            if times:
                found.compose(as_object(event), times)
        return found

    def _costs(self) -> Cost:
        if self._cost is None:
            self._cost = Cost(self._events, self._relation)
        return self._cost


_FAR: Final = 1000
"""An epsilon beyond which delta is looked for in the place of infinity."""


def rounded_up(value: Decimal) -> float:
    """The least float that is no less."""
    nearest = float(value)
    return nearest if math.isinf(nearest) or Fraction(nearest) >= Fraction(value) else math.nextafter(nearest, math.inf)


def number(value: Any, name: str, *, infinite: bool = False) -> Any:
    """A number of at least 0, exactly. Raises ValueError."""
    try:
        found = exact(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if found < 0 or (isinstance(found, float) and not infinite):
        raise ValueError(f"{name} must be a finite number of at least 0, found {value!r:.60}.")
    return found

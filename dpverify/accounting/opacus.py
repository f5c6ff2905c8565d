"""An accountant for Opacus: its history of noise multipliers, sample rates and numbers of steps, with proved answers.

To import this registers it, so that `PrivacyEngine(accountant="certified")` has it. Opacus comes with `pip install opacus`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Final

from opacus.accountants import IAccountant, register_accountant

from dpverify.accounting.accountant import number, rounded_up
from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event
from dpverify.accounting.files import Ledger, ledger_text
from dpverify.accounting.objects import of_numbers
from dpverify.accounting.relations import Relation
from dpverify.runtime.whole import write

MECHANISM: Final = "certified"
"""What it is called in Opacus."""


class OpacusAccountant(IAccountant):  # type: ignore[misc]
    """An IAccountant whose epsilon is proved: the true one is never above. Batches are Poisson samples, neighbours differ by one record."""

    def __init__(self) -> None:
        super().__init__()
        self._known: tuple[list[tuple[Any, Any, int]], Cost] | None = None

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step of an optimizer."""
        last = self.history[-1] if self.history else (None, None, 0)
        if tuple(last[:2]) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, last[2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float, *, width: Any = Fraction(1, 1000), **_: Any) -> float:
        """The least epsilon at a delta, from above. width: how far from the truth it may be, where bounds so near are known."""
        return rounded_up(self.epsilon_bounds(delta, width=width)[1])

    def epsilon_bounds(self, delta: Any, *, width: Any = Fraction(1, 1000)) -> tuple[Decimal, Decimal]:
        """Two proved bounds of the least epsilon at a delta."""
        found = self._cost().epsilon(number(delta, "delta"), width=number(width, "width"))
        return found.lower, found.upper

    def certificate(self, path: str | PathLike[str], *, epsilon: Any = None, delta: Any) -> Path:
        """Write a certificate that `dpverify check` re-checks: that epsilon and delta hold, or what the least epsilon is.

        Raises NotProved where the claim is not proved.
        """
        asked = {"epsilon": "tight" if epsilon is None else number(epsilon, "epsilon"), "delta": number(delta, "delta")}
        return self._cost().certificate(Path(path), **asked)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the history as a ledger, which `dpverify account` and `CertifiedAccountant.load` read."""
        file = Path(path)
        write(file, ledger_text(Ledger(tuple(events(self.history)), Relation.ADD_OR_REMOVE_ONE)))
        return file

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Its name in Opacus."""
        return MECHANISM

    def _cost(self) -> Cost:
        now = [tuple(one) for one in self.history]
        if self._known is None or self._known[0] != now:
            self._known = now, Cost(events(now), Relation.ADD_OR_REMOVE_ONE)
        return self._known[1]


def events(history: Any) -> list[tuple[Event, int]]:
    """The events of a history, with how often each was repeated. Raises ValueError, with all that is wrong with its numbers."""
    found = []
    for noise, rate, steps in history:
        gaussian = of_numbers("GaussianDpEvent", {"noise_multiplier": noise})
        found.append((of_numbers("PoissonSampledDpEvent", {"sampling_probability": rate}, gaussian), int(steps)))
    return found


register_accountant(MECHANISM, OpacusAccountant, force=True)

"""How an audit divides its samples: every decision in which their number has a say.

They are kept together so that it can be asked afterwards which smaller number would have decided the same so far: with it, a run begins
with the same blocks and comes to the same finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from dpverify.audits.engine import SEGMENTS

MOST_ALONE: Final = 500_000  # pairs of runs, from which there is nothing more to be learned where there is but one pair
FLOAT_PAIRS_EACH: Final = 4096  # pairs of runs of each pair of inputs that only floating-point testers ask for


@dataclass(frozen=True, slots=True)
class Schedule:
    """The decisions of a run with so many samples a side. pairs: of inputs, in the plan; first: runs on x of each in round 0."""

    samples: int
    pairs: int
    first: int

    @property
    def _early(self) -> int:
        """The samples that are there to learn from and to choose a pair."""
        return min(self.samples // 10, MOST_ALONE) if self.pairs == 1 else self.samples // 5

    def beginning(self) -> int:
        """How many pairs of inputs the run begins with."""
        return min(self.pairs, max(self._early // SEGMENTS, 1))

    def goes_on(self, done: int, rounds: int) -> bool:
        """Whether there is another early round."""
        return done < self._early or rounds == 0

    def each(self, done: int, alive: int) -> int:
        """Pairs of runs of each pair of inputs that is left: what was spent so far, within what the early rounds may spend."""
        first = max(min(self.first, self._early // self.beginning()), SEGMENTS)
        return max(min(done, self._early - done) // alive, first)

    def kept(self, done: int, alive: int) -> int:
        """How many pairs of inputs to keep: few are left when the early samples are spent, and no round drops more than half of them."""
        early = self._early // 2
        if not done or early >= done * alive:
            return alive
        return min(max(early // done, (alive + 1) // 2, 1), alive)

    def settles(self, done: int) -> bool:
        """Whether a pair that is alone has been seen often enough to learn its last partitions."""
        return done >= self._early // 4

    def float_each(self, done: int, pairs: int) -> int:
        """Pairs of runs of each pair of inputs that only floating-point testers ask for: half of what is left at most."""
        return min(FLOAT_PAIRS_EACH, (self.samples - done) // (2 * max(pairs, 1)))

    def whole(self) -> int:
        """All samples, where their very number decides."""
        return self.samples


class Decision(NamedTuple):
    """What a method of Schedule said to its arguments."""

    method: str
    arguments: tuple[int, ...]
    said: int | bool


def fewest(schedule: Schedule, decisions: Sequence[Decision]) -> int:
    """The fewest samples that would have decided the same; found by halving, so that another number may be smaller now and then."""

    def same(samples: int) -> bool:
        other = Schedule(samples, schedule.pairs, schedule.first)
        return all(_asked(other, method, arguments) == said for method, arguments, said in decisions)

    low, high = 0, schedule.samples  # high decides the same, always
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if same(middle) else (middle, high)
    return high


def _asked(schedule: Schedule, method: str, arguments: tuple[int, ...]) -> Any:
    return getattr(schedule, method)(*arguments)

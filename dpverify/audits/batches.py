"""Are the outputs of one call independent? A sampler that gives many a call may share noise among them, and no count is honest then.

Outputs of two calls on one input are, if all are independent draws of one law, exchangeable. So an output is as likely nearer to the one
after it as to the one in that place of the other call; of two equal outputs, the chance that they are of the same call is known; and
the mean rank of a call among both is a mean of draws without replacement, of which Hoeffding (1963) bounds the exponential moments. All are
bets at known odds, whatever the law: an e-process, with a share of the false-alarm budget of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
from scipy.special import betaln

from dpverify.audits.engine import Engine, Job
from dpverify.audits.journal import Journal
from dpverify.audits.outputs import NotAnOutput, Outputs, concatenate
from dpverify.audits.target import Target

Array = np.ndarray[Any, Any]

MOST: Final = 8192  # outputs of a call that are looked at,
CALLS: Final = 32  # of so many calls on each input
ENOUGH: Final = 64  # comparisons, below which a finding waits for more calls whatever they cost
MORE_CALLS: Final = 6
MORE_OUTPUTS: Final = 96
FIRST_BLOCK: Final = 1 << 30  # their blocks, beyond those of any run
OFF: Final = (0.02, 0.05, 0.1, 0.2, 0.4)  # by how much the mean rank of a call is bet to be off 1/2
CLEAR: Final = 40.0  # nats
SAME: Final = 0.95  # what the bet on equal outputs takes for the chance of one call


@dataclass(slots=True)
class Batches:
    """What was seen of calls on either input. nearer, further: comparisons won by the same call or by the other one.

    same, apart: pairs of equal outputs of one call, of two calls. repeats, together: log wealth of the bets on these, and on mean ranks.
    one_a_call: whether a call gives one output, so that what is said of a call is of calls that follow each other.
    """

    nearer: int = 0
    further: int = 0
    same: int = 0
    apart: int = 0
    repeats: float = 0.0
    together: float = 0.0
    looked_at: int = 0
    one_a_call: bool = False

    def see(self, calls: Sequence[Outputs]) -> None:
        """Calls on one input, two by two."""
        for one, other in zip(calls[: CALLS - 1 : 2], calls[1:CALLS:2], strict=False):
            size = min(len(one), len(other), MOST)
            if size >= 2:
                self._compare(concatenate([one[np.arange(size)], other[np.arange(size)]]), size)
                self.looked_at += 2 * size

    def _compare(self, both: Outputs, size: int) -> None:
        columns = [both.column(index) for index in range(both.numbers.shape[1])]
        ranks = np.array([np.unique(column, return_inverse=True)[1] for column in columns], np.int64).reshape(len(columns), 2 * size)
        if both.shapes is not None:  # by their names: in the order in which they come, those of the second call alone would be the last
            place = np.argsort(np.argsort(np.array(both.names)))
            ranks = np.concatenate([ranks, 2 * size * len(ranks) * place[both.shapes][None, :]])
        first = np.arange(0, size - 1, 2)
        near = np.abs(ranks[:, first] - ranks[:, first + 1]).sum(axis=0)
        far = np.abs(ranks[:, first] - ranks[:, size + first + 1]).sum(axis=0)
        self.nearer += int((near < far).sum())
        self.further += int((near > far).sum())
        self.together += _off_together(ranks, size)
        # which two of many equal ones are looked at must not depend on the call, and not be the same two places each time
        order = np.random.default_rng(self.looked_at).permutation(2 * size)
        rows = np.unique(ranks.T[order], axis=0, return_inverse=True)[1].ravel() if len(ranks) else np.zeros(2 * size, np.int64)
        by_value = np.argsort(rows, kind="stable")
        starts = np.flatnonzero(np.diff(rows[by_value], prepend=-1))
        twice = starts[np.diff(starts, append=2 * size) >= 2]
        left = [size, size]
        for i, j in zip(order[by_value[twice]] >= size, order[by_value[twice + 1]] >= size, strict=True):
            a, b = left
            chance = (a * (a - 1) + b * (b - 1)) / ((a + b) * (a + b - 1))
            self.same, self.apart = self.same + int(i == j), self.apart + int(i != j)
            if 0 < chance < 1:
                self.repeats += log(SAME / chance) if i == j else log((1 - SAME) / (1 - chance))
            left[int(i)] -= 1
            left[int(j)] -= 1

    @property
    def comparisons(self) -> int:
        """How many bets were made."""
        return self.nearer + self.further + self.same + self.apart

    @property
    def _wealth(self) -> tuple[float, float, float]:
        """The logarithms (nats) of the wealth of bets on nearness, at any odds but even ones, on equal outputs and on mean ranks."""
        bets = self.nearer + self.further
        return float(betaln(self.nearer + 1, self.further + 1)) + bets * log(2), self.repeats, self.together

    def log_wealth(self) -> float:
        """The logarithm (nats) of the wealth of all, a third on each kind."""
        return float(np.logaddexp.reduce(self._wealth)) - log(3)

    def text(self) -> str:
        """What was seen, in words."""
        near, repeats, together = self._wealth
        if self.one_a_call:
            return self._text_of_calls(near, repeats, together)
        if near >= min(max(repeats, together), CLEAR):  # the plainest words that are clear
            seen = (
                f"{self.nearer} of {self.nearer + self.further} outputs are nearer to the next one of the same call than to that of "
                "another call, where half of them would be"
            )
        elif repeats >= min(together, CLEAR):
            seen = f"{self.same} of {self.same + self.apart} pairs of equal outputs are of the same call, where about half of them would be"
        else:
            seen = "the outputs of a call are great or small, or far out, together, and differ from those of others more than by chance"
        return f"outputs within a batch are not independent: {seen}. Draw noise of its own for each of the `size` outputs of a call"

    def _text_of_calls(self, near: float, repeats: float, together: float) -> str:
        if near >= min(max(repeats, together), CLEAR):
            seen = (
                f"{self.nearer} of {self.nearer + self.further} outputs are nearer to that of the next call than to that of a much later "
                "one, where half of them would be"
            )
        elif repeats >= min(together, CLEAR):
            seen = f"{self.same} of {self.same + self.apart} pairs of equal outputs are of calls near each other, where half would be"
        else:
            seen = "outputs of calls near each other are great or small, or far out, together"
        return f"the sampler keeps something between calls: its outputs are not independent: {seen}. Let each call draw noise of its own"


def halved(calls: Sequence[Outputs]) -> list[Outputs]:
    """Outputs of calls that give one each, as if two calls gave them: the first half and the second, which memory tells apart."""
    parts = ((each, len(each) // 2) for each in calls)
    return [part for each, half in parts for part in (each[np.arange(half)], each[np.arange(half, 2 * half)])]


def _off_together(ranks: Array, size: int) -> float:
    """Log wealth of bets that the mean rank of the first `size` of twice as many is off, or that of their distances from the middle.

    For draws without replacement from numbers in [0, 1] of mean m, exp(t (sum - n m) - n t^2 / 8) has mean at most 1 (Hoeffding 1963).
    """
    heights = ranks / np.maximum(ranks.max(axis=1, keepdims=True, initial=0), 1)
    heights = np.concatenate([heights, np.abs(2 * heights - 1)])
    if not len(heights):
        return 0.0
    off = size * (heights[:, :size].mean(axis=1) - heights.mean(axis=1))
    slopes = 4 * np.array([sign * off for off in OFF for sign in (1, -1)])
    return float(np.logaddexp.reduce((np.outer(off, slopes) - size * slopes**2 / 8).ravel())) - log(len(off) * len(slopes))


def dependence(
    kept: Sequence[Sequence[Outputs]], pair: tuple[Any, Any], doubtful: int, left: int, threshold: float, engine: Engine, journal: Journal,
    *, one_a_call: bool = False,
) -> Batches | None:  # fmt: skip
    """What shows that outputs of a call, or of calls that follow each other, are not independent; None where nothing does.

    kept: the calls on each input that are remembered. doubtful: how many outputs the largest call gave where something was found, else 0:
    then a few more calls on the pair are made, for what was found supposes independence. left: how many more outputs on each input the run
    may ask for, unless it has seen next to nothing. threshold: of the log wealth.
    """
    seen = Batches(one_a_call=one_a_call)
    for each in kept:
        seen.see(halved(each) if one_a_call else each)
    longest = max((len(part) for calls in kept for part in calls[1:]), default=0)
    size, calls = min(doubtful, MOST), 2
    if size < MORE_CALLS * MORE_OUTPUTS or longest >= size:
        size, calls = MORE_OUTPUTS, MORE_CALLS
    if seen.log_wealth() < threshold and doubtful and (seen.comparisons < ENOUGH or size * calls <= left):
        sides: tuple[list[Outputs], list[Outputs]] = ([], [])
        job = Job(pair, (), keep=size, size=size, segments=1)
        for index in range(FIRST_BLOCK, FIRST_BLOCK + calls):
            entry = journal.replay(index)
            result = entry.result if entry is not None else next(iter(engine.results(lambda _: job, index, index + 1)))
            if entry is None:
                journal.record(result, quiet=False)
            assert result.kept is not None
            for side, outputs in zip(sides, result.kept, strict=True):
                side.append(outputs)
        for side in sides:
            seen.see(halved(side) if one_a_call else side)
    return seen if seen.log_wealth() >= threshold else None


@dataclass(frozen=True, slots=True)
class _OneOutput:
    """A sampler of many outputs a call, asked for one."""

    target: Target

    def __call__(self, data: Any, rng: Any = None) -> Any:
        target = self.target
        values = {"data": data, "size": 1, "rng": rng}
        keywords = {name: values[role] for role, name in target.keywords}
        outputs = target.call(*(values[role] for role in target.positional), **keywords)
        if not hasattr(outputs, "__len__") or len(outputs) != 1:
            raise NotAnOutput(f"{len(outputs) if hasattr(outputs, '__len__') else 'no'} outputs instead of 1")
        return outputs.iloc[0] if hasattr(outputs, "iloc") else outputs[0]


def one_by_one(target: Target) -> Target:
    """The same sampler with a call for every output."""
    return Target(_OneOutput(target), target.name, ("data", "rng") if target.reproducible else ("data",), ())

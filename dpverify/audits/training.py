"""Audits of training runs: canaries are put in or left out by coins, and guessed from the trained model.

A run that trains cannot be repeated a million times. But one run with many canaries tosses many coins, and whoever is told the model of a
private run guesses few of them right (theory#guessed-coins). Runs are independent, so the coins of several count together.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.special import betainc, expit

from dpverify.audits import guesses as bounds
from dpverify.audits.arguments import check_run
from dpverify.audits.replay import Replay
from dpverify.audits.target import TIMEOUT, copied, load, prepare, show, timed_call
from dpverify.errors import AuditError, SamplerError
from dpverify.runtime.finding import GUESSED, MODEL, NO_VIOLATION_SEEN, VIOLATION, Finding

CONFIDENCE: Final = 0.99
FEWER: Final = 4  # where nobody says how many guesses are made: all coins, and each time so many times fewer,
LADDER: Final = 6  # at most so often: their risks add up to that of the audit
LEAST_GUESSES: Final = 8
RESOLUTION: Final = 1e-3  # of the detectable epsilon
POWER: Final = 0.9

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained, and on what.

    train: callable(records, rng) -> model. canaries: records, each of which is among those trained on if its coin says so; instead: as many
    records, that take their places where it does not (else nothing does). score: callable(model, canaries) -> a number for each, the
    greater the surer that it was trained on; None where the model is these numbers itself. data: records that are always trained on.
    """

    train: Callable[[Any, np.random.Generator], Any]
    canaries: Any
    score: Callable[[Any, Any], Any] | None = None
    data: Any = ()
    instead: Any = None
    name: str = "the training"

    def __post_init__(self) -> None:
        if not len(self.canaries):
            raise AuditError("canaries is empty: there is nothing to guess. Give some records, the more the better.")
        if self.instead is not None and len(self.instead) != len(self.canaries):
            raise AuditError(f"instead has {len(self.instead)} records, and there are {len(self.canaries)} canaries: give one for each.")

    def records(self, coins: np.ndarray[Any, Any]) -> Any:
        """What is trained on where the coins fell so: arrays where data and canaries are arrays, else a list."""
        chosen = np.flatnonzero(coins)
        others = () if self.instead is None else self.instead
        given = (self.data, self.canaries, others)
        if isinstance(self.canaries, np.ndarray) and all(isinstance(part, np.ndarray) or not len(part) for part in given):
            kept = [part for part in (self.data, self.canaries[chosen]) if len(part)]
            if self.instead is not None:
                kept.append(np.asarray(self.instead)[np.flatnonzero(1 - coins)])
            return np.concatenate(kept) if kept else self.canaries[:0]
        out = [self.canaries[place] for place in chosen]
        return [*self.data, *out, *(record for record, coin in zip(others, coins, strict=False) if not coin)]


def callables(train: Any, canaries: Any, score: Any, data: Any, instead: Any, folder: Path | None = None) -> Training:
    """The training that these are or name: "module:name" of a function, of a value, or, of records, of a function that gives them."""
    name = train if isinstance(train, str) else str(getattr(train, "__qualname__", type(train).__qualname__))
    found: list[Any] = [load(given, folder) if isinstance(given, str) else given for given in (train, score)]
    for what, given in zip(("train", "score"), found, strict=True):
        if not callable(given) and not (what == "score" and given is None):
            raise AuditError(f"{what} = {show(given)} is not callable. Name a function.")
    records = {}
    for what, given in (("canaries", canaries), ("data", data), ("instead", instead)):
        value = load(given, folder) if isinstance(given, str) else given
        value = value() if callable(value) else value
        if value is not None and (not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes)):
            raise AuditError(f"{what} = {show(value)}: not a list or an array of records. Give one, or a function that gives one.")
        records[what] = prepare(value)
    if records["canaries"] is None:
        raise AuditError("which canaries? Give records that would show in a model that is not private.")
    none: Any = ()
    return Training(found[0], records["canaries"], found[1], none if records["data"] is None else records["data"], records["instead"], name)


def audited(
    training: Training,
    *,
    epsilon: float | None,
    delta: float,
    runs: int,
    guesses: int | None,
    confidence: float,
    seed: int | None,
    timeout: float = TIMEOUT,
    replay: Replay = lambda seed, runs: "",
    name: str = "",
    progress: Callable[[int], object] = lambda done: None,
) -> Finding:
    """Train, guess, and say what the right guesses say of epsilon.

    runs: how often is trained. guesses: how many coins are guessed in all, half of them as heads; None for a ladder of numbers, whose
    risks add up.
    Raises AuditError where the audit cannot be set up, SamplerError where the training fails or a score is no number.
    """
    check_run(runs, confidence, seed, MODEL, 0, timeout)
    count = len(training.canaries)
    coins = runs * count
    tried = _ladder(coins) if guesses is None else (_number_of(guesses, coins),)
    root = secrets.randbits(32) if seed is None else int(seed)
    started = time.perf_counter()
    tossed, scores = np.zeros(coins, np.int64), np.zeros(coins)
    for run in range(runs):
        part = slice(run * count, (run + 1) * count)
        tossed[part], scores[part] = _one(training, root, run, timeout)
        progress(run + 1)
    risk = (1 - confidence) / len(tried)
    said = [_right(scores, tossed, number) for number in tried]
    lower = [
        bounds.epsilon_of_guesses(right, number, coins, confidence=1 - risk, delta=delta) for right, number in zip(said, tried, strict=True)
    ]
    best = int(np.argmax(lower))
    found = epsilon is not None and any(
        bounds.chance(right, number, coins, epsilon, delta) <= risk for right, number in zip(said, tried, strict=True)
    )
    notes = [_way(scores, tried[best], len(tried))]
    detectable = None
    if not found:
        detectable = detectable_epsilon(tried, coins, 0.0 if epsilon is None else epsilon, delta, risk)
        if math.isinf(detectable):
            most = min(tried, key=lambda number: bounds.chance(number, number, coins, epsilon or 0.0, delta))
            chance = bounds.chance(most, most, coins, epsilon or 0.0, delta)
            notes.append(
                f"not even guesses that are all right refute this at confidence {confidence:.6g}, for delta {delta:.3g} and {coins} coins "
                f"allow them with a probability of up to {chance:.2g}: ask for less confidence, or train with more canaries"
            )
    return Finding(
        finding=VIOLATION if found else NO_VIOLATION_SEEN, level=MODEL, epsilon=epsilon, delta=delta,
        epsilon_lower=max(lower[best], epsilon if found and epsilon is not None else 0.0),
        confidence=confidence, samples=coins, event=f"{said[best]} of {tried[best]} {GUESSED}",
        pair=f"each of {count} canaries {'in' if training.instead is None else 'or another record'}"
        f"{' or out' if training.instead is None else ''} by a fair coin, in {runs} training run{'' if runs == 1 else 's'}",
        detectable_epsilon=detectable, seed=root, seconds=time.perf_counter() - started, sampler=training.name, notes=tuple(notes),
        name=name, replay=replay(root, runs),
    )  # fmt: skip


def _way(scores: Floats, number: int, tests: int) -> str:
    """How it was guessed, in words."""
    shared = f"; the risk is shared by {tests} numbers of guesses" if tests > 1 else ""
    tails, abstained = _tails(scores, number), len(scores) - number
    rest = f", and of {abstained} nothing was said" if abstained else ""
    return f"the {number - tails} canaries of the greatest score were guessed in, the {tails} of the least out{rest}{shared}"


def _ladder(coins: int) -> tuple[int, ...]:
    """All coins, a quarter of them, a sixteenth, ..."""
    numbers = [coins // FEWER**step for step in range(LADDER)]
    return tuple(dict.fromkeys(number for number in numbers if number >= LEAST_GUESSES)) or (coins,)


def _number_of(guesses: Any, coins: int) -> int:
    if not isinstance(guesses, int | np.integer) or isinstance(guesses, bool) or not 1 <= guesses <= coins:
        raise AuditError(f"guesses = {guesses!r:.80}: not a number from 1 to that of the coins, {coins}.")
    return int(guesses)


def _one(training: Training, root: int, run: int, timeout: float) -> tuple[np.ndarray[Any, Any], Floats]:
    """The coins of one run, and the scores of its canaries. Its coins and its training have streams of their own."""
    toss, own = np.random.SeedSequence(root, spawn_key=(run,)).spawn(2)
    coins = np.random.default_rng(toss).integers(0, 2, len(training.canaries))
    where = f"{training.name} (seed {root}, run {run})"
    records = copied(training.records(coins))
    model = timed_call(partial(training.train, records, np.random.default_rng(own)), f"the training {where}", timeout)
    scores = model
    if training.score is not None:
        scores = timed_call(partial(training.score, model, copied(training.canaries)), f"the score after {where}", timeout)
    try:
        numbers = np.asarray(scores, np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise SamplerError(f"the score after {where} gave {show(scores)}, which is no list of numbers.") from error
    if len(numbers) != len(coins):
        raise SamplerError(f"the score after {where} gave {len(numbers)} numbers for {len(coins)} canaries: give one for each.")
    if np.isnan(numbers).any():
        raise SamplerError(f"the score after {where} gave nan for canary {int(np.isnan(numbers).argmax())}: give a number for each.")
    return coins, numbers


def _tails(scores: Floats, number: int) -> int:
    """How many of `number` guesses are tails: half of them.

    Of guesses of all coins, as many as lie below the widest gap between scores among the counts of tails that fair coins often have.
    """
    if number < len(scores):
        return number // 2
    ordered, spread = np.nan_to_num(np.sort(scores)), int(math.sqrt(number))
    low, high = max(number // 2 - spread, 1), min(number // 2 + spread, number - 1)
    return low + int(np.argmax(np.diff(ordered[low - 1 : high + 1]))) if low < high else number // 2


def _right(scores: Floats, coins: np.ndarray[Any, Any], number: int) -> int:
    """How many of `number` guesses are right: heads for the greatest scores, tails for the least; of equal ones those that come first."""
    order, tails = np.argsort(scores, kind="stable"), _tails(scores, number)
    return int((coins[order[:tails]] == 0).sum() + (coins[order[len(order) - (number - tails) :]] == 1).sum())


def detectable_epsilon(tried: Sequence[int], coins: int, epsilon: float, delta: float, risk: float) -> float:
    """The smallest epsilon (nats) of which so many guesses refute the claim nine times in ten, where each guess tells all it can.

    That is randomized response on the coins that are guessed. inf where there is none.
    """
    found = [math.inf]
    for number in tried:
        fewest = bounds.least_right(number, coins, epsilon, confidence=1 - risk, delta=delta)
        if fewest is None:
            continue
        low, high = epsilon, bounds.LARGEST
        while high - low > RESOLUTION:
            middle = (low + high) / 2
            power = float(betainc(fewest, number - fewest + 1, expit(middle))) if fewest else 1.0
            low, high = (low, middle) if power >= POWER else (middle, high)
        found.append(high)
    return min(found)

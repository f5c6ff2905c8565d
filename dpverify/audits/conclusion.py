"""What a run says in the end: from its state to findings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log
from typing import Any, Final

from dpverify.audits import bounds
from dpverify.audits.outputs import Outputs, concatenate, kinds
from dpverify.audits.refuted import apart, witness
from dpverify.audits.replay import Replay
from dpverify.audits.run import Crossing, Run, Test, event_text
from dpverify.audits.schedule import Decision, fewest
from dpverify.audits.steps import telling
from dpverify.audits.target import Target, show
from dpverify.audits.trail import bounded_path, path
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION, Finding, Path, Refuted, Sides
from dpverify.trusted.kernel.model import Claim

MOST_OUTPUTS: Final = 200  # of a side that a finding carries

_LEAK: Final = (
    "the representation of the output (its last bits, the sign of zero) reveals the true answer even if the distribution is correct. Draw "
    "noise in whole numbers, or round the sum to a coarse grid: docs/explanation/floating-point.md."
)


def findings(state: Run, claim: Claim, target: Target, confidence: float, seed: int | None, replay: Replay) -> Finding:
    """What a run found: the violation of the model, else that of floating point, else what was seen; the others with it in `also`."""
    told = _Conclusion(state, claim, target, confidence, seed, replay)
    crossed = [told.crossed(state.crossings[level]) for level in (MODEL, FLOAT) if level in state.crossings]
    if MODEL not in state.crossings and state.plan.epsilon is not None and told.fixed > state.plan.epsilon:
        crossed.insert(0, told.seen(VIOLATION))
    refuted = told.refuted()
    if state.nonconforming:
        crossed.append(told.nonconforming())
    elif refuted is not None and not refuted.agrees:
        crossed.append(told.another(refuted))
    if not any(other.level == MODEL for other in crossed):
        detectable = max(state.detectable(), told.fixed if state.plan.epsilon is None else state.plan.epsilon)
        crossed.append(replace(told.seen(NO_VIOLATION_SEEN), detectable_epsilon=detectable))
    head, *also = crossed
    return replace(head, refuted=refuted, also=tuple(also))


@dataclass(slots=True)
class _Conclusion:
    """A run that is over, and what all of its findings share. fixed: the fixed-sample bound on epsilon."""

    state: Run
    claim: Claim
    target: Target
    confidence: float
    seed: int | None
    replay: Replay
    fixed: float = 0.0

    def __post_init__(self) -> None:
        self.fixed = self.state.lower_bound()

    def crossed(self, crossing: Crossing) -> Finding:
        """A test has reached its threshold."""
        state, plan, test = self.state, self.state.plan, crossing.test
        bet = test.bets.best(crossing.counts)
        risk = state.settings.anytime * test.share  # shares sum to 1, so it does not matter which test was the first
        lower = bounds.epsilon_anytime(crossing.counts, confidence=1 - risk, delta=plan.delta) if 1 - risk < 1 else 0.0
        # of several points, another one of the curve may be what was refuted
        refuted = plan.epsilon if plan.epsilon is not None and len(plan.curve) == 1 else 0.0
        lower = max(lower, refuted, self.fixed if test.level == MODEL else 0.0)
        event = event_text(test, crossing.counts, bet.low, bet.high)
        if len(plan.curve) > 1:
            event += f"; the declared curve has delta {bet.point.delta:.4g} at epsilon {bet.point.epsilon:.4g}"
        spent = test.level == MODEL and not state.settings.stop
        after = state.done if spent else crossing.after
        # of a claim of two numbers, another point of the declared curve tells that this is not the declared mechanism
        other = self.claim.epsilon is not None and self.claim.delta is not None and bet.point != plan.curve[0]
        return self._finding(
            NONCONFORMING if other else VIOLATION, test.level, lower, event, test.pair,
            decisions=state.decisions if spent else state.decisions[: crossing.decisions],
            samples=after, seconds=crossing.seconds, path=self._path(test, bet.low or bet.high, after, refuted, crossing),
        )  # fmt: skip

    def nonconforming(self) -> Finding:
        """The outputs are not the declared density's."""
        state = self.state
        threshold = -log(state.settings.sequential) - log(state.nonconforming_share)
        return self._finding(
            NONCONFORMING, state.level_of_nonconformance(), self.fixed, state.nonconforming, None,
            path=path(state.nonconforming_trail, threshold, state.done),
        )  # fmt: skip

    def refuted(self) -> Refuted | None:
        """Of a claim that is proved false of the declaration, how often the event comes that shows it."""
        state, plan = self.state, self.state.plan
        known = witness(plan, self.claim) if state.settings.independent else None
        if known is None or plan.declared is None or plan.epsilon is None:
            return None
        test, pair = state.of_declaration[known.pair], plan.pairs[known.pair]
        left, right = sides = known.between(test.counts, state.settings.witness * test.share)
        # numbers that are rounded are told at the edges of the event from those that are not
        agrees = state.grid is not None or not any(map(apart, (plan.declared,) * 2, known.likely, sides))
        claimed = plan.curve[0]
        shown = MODEL in state.crossings or self.fixed > plan.epsilon
        shown |= any(one[0] > exp(claimed.epsilon) * other[1] + claimed.delta for one, other in (sides, sides[::-1]))
        words, inputs = test.partition.describe(*known.cells), f"{show(pair.left)} and {show(pair.right)}"
        return Refuted(words, inputs, test.pairs_seen, known.likely, left, right, agrees, shown)

    def another(self, refuted: Refuted) -> Finding:
        """The sampler does not show what is proved of its declaration: it samples another mechanism."""
        return self._finding(NONCONFORMING, MODEL, self.fixed, refuted.text(), None)

    def seen(self, what: str) -> Finding:
        """No test has reached its threshold: what the event of the fixed-sample bound was seen to do, if there was time for one."""
        state, event = self.state, self.state.event
        if event is None or not event.test.fresh.sum():
            return self._finding(what, MODEL, self.fixed, "", None, path=self._longest())
        text = event_text(event.test, event.test.fresh, event.low, event.high)
        path = self._path(event.test, event.low or event.high, state.done)
        return self._finding(what, MODEL, self.fixed, text, event.test.pair, path=path)

    def _longest(self) -> Path | None:
        """The path of the test of the model that has seen most."""
        tests = [test for test in self.state.tests if test.level == MODEL and test.pairs_seen]
        if not tests:
            return None
        test = max(tests, key=lambda test: test.pairs_seen)
        bet = test.bets.best(test.counts)
        return self._path(test, bet.low or bet.high, self.state.done)

    def _path(self, test: Test, cut: int, until: int, refuted: float = 0.0, crossing: Crossing | None = None) -> Path:
        settings = self.state.settings
        looks = [*test.trail, test.now, *([crossing.look] if crossing else [])]
        threshold = -log(settings.sequential) - test.log_start
        risk, delta = settings.path * test.share, self.state.plan.delta
        return bounded_path(looks, threshold, until, cut=cut, risk=risk, delta=delta, refuted=refuted)

    def _finding(
        self, what: str, level: str, lower: float, event: str, pair: int | None, *, decisions: Sequence[Decision] | None = None, **rest: Any
    ) -> Finding:
        """decisions: those on the way to the finding; all of the run's where it speaks of the whole run."""
        state, plan = self.state, self.state.plan
        shown = None if pair is None else state.pair(pair)
        unrepeatable = "" if self.target.reproducible else "the sampler draws its own randomness: this run cannot be repeated"
        leak = _LEAK if level == FLOAT and what == VIOLATION else ""
        tells = self._tells(pair) if level == MODEL and what != NONCONFORMING and pair is not None else ""
        samples = fewest(state.schedule, state.decisions if decisions is None else decisions)
        said: dict[str, Any] = {"samples": state.done, "seconds": time.perf_counter() - state.started, "detectable_epsilon": None, **rest}
        return Finding(
            finding=what, level=level, epsilon=plan.epsilon, delta=plan.delta, epsilon_lower=lower, confidence=self.confidence, event=event,
            pair="" if shown is None else f"{show(shown.left)} and {show(shown.right)}", seed=self.seed, sampler=self.target.name,
            notes=tuple(note for note in (unrepeatable, state.said_of_the_grid, leak, tells) if note),
            name=self.claim.name, replay="" if self.seed is None else self.replay(self.seed, samples),
            outputs_seen=outputs_seen(state, state.alive[0] if pair is None else pair), **said,
        )  # fmt: skip


    def _tells(self, pair: int) -> str:
        """Which number of the outputs tells most by itself, in words."""
        if pair not in self.state.kept or not self.state.settings.independent:
            return ""
        left, right = (concatenate(side) for side in self.state.kept[pair])
        return telling(left, right, self.state.plan.delta)


def outputs_seen(state: Run, pair: int) -> Sides | None:
    """The first outputs on both inputs of a pair, where they are remembered and are numbers or vectors of one or two of them."""
    if pair not in state.kept:
        return None
    left, right = map(_points, state.kept[pair])
    return None if left is None or right is None else (left, right)


def _points(parts: Sequence[Outputs]) -> tuple[tuple[float, ...], ...] | None:
    before = accumulate(map(len, parts), initial=0)
    first = concatenate([part for part, start in zip(parts, before, strict=False) if start < MOST_OUTPUTS])
    if len(first.names) != 1 or kinds(first.names[0]) not in (("number",), ("number", "number")):
        return None
    return tuple(map(tuple, first.numbers[:MOST_OUTPUTS].tolist()))

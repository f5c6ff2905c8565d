"""One audit, from the first block to the finding.

Rounds double. Early rounds go over all pairs with all testers, learning partitions from what has been seen; pairs that show
least are dropped. When a tenth of the samples is spent, the pair, the partition and (a little later) the event are fixed,
and the rest goes to them. All choices depend on past counts alone, so every test stays a fair game (theory#betting-on-pairs), and the event
of the fixed-sample bound is chosen on samples that the bound does not use.
"""

from __future__ import annotations

import pickle
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from math import inf, isclose, log, log1p, sqrt
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from dpverify.audits import bounds
from dpverify.audits.bets import Bets, Law, mixture
from dpverify.audits.bits import learn_bits, learn_places
from dpverify.audits.capital import BROKE, LEVELS, Capital, Carried, Night, Sorted, carried_on, dealt, gathered, is_written
from dpverify.audits.conformance import (
    COARSEST,
    FINEST,
    Conformance,
    OnGrid,
    Rounded,
    Ties,
    conformance,
    grid_of,
    rounded,
    ties,
    width_of,
)
from dpverify.audits.declared import Declared
from dpverify.audits.digits import learn_digits
from dpverify.audits.engine import MAX_BLOCK, SEGMENTS, BlockResult, Engine, Job
from dpverify.audits.floats import Reach, float_partitions, learn_float, log_evidence
from dpverify.audits.forms import learn_forms, learn_zeros
from dpverify.audits.journal import Journal
from dpverify.audits.learn import Learned, Reordered, law_to_bet_on, learn, merged, reordered
from dpverify.audits.neighbours import plain
from dpverify.audits.outputs import Outputs, concatenate
from dpverify.audits.partition import Counts, Partition
from dpverify.audits.places import Moved
from dpverify.audits.plan import CONTINUOUS, Pair, Plan
from dpverify.audits.rare import Rare, learn_rare
from dpverify.audits.schedule import Decision, Schedule
from dpverify.audits.trail import Look, marks
from dpverify.runtime.finding import FLOAT, MODEL

Array = np.ndarray[Any, np.dtype[np.float64]]
Scoring = Learned | Reordered

FIRST: Final = 256  # pairs of runs of each pair of inputs in the first round, and without a declaration,
FIRST_ALONE: Final = 48  # where the first round is only there to learn from
LEARNING_ROUNDS: Final = (1, 2, 3, 4, 6, 8)  # learned partitions begin here, and twice more when the pair is fixed
KEPT: Final = 20_000  # outputs a side that are remembered for learning; without a declaration to lean on, more:
KEPT_ALONE: Final = 200_000  # as far as the
KEPT_ALONE_ONE: Final = 100_000  # (of outputs that are one number: these)
KEPT_NUMBERS: Final = 1 << 22  # numbers allow that the pairs which are left share
FULL: Final = 1 << 17  # past so many pairs only the promising tests go on
FLOAT_ROUND: Final = 3  # the pairs that only floating-point testers ask for are run once, in this round
DOUBT: Final = 1.5  # standard errors that are taken off what an event has shown, for the best of many is partly the luckiest
DOUBT_OF_PAIRS: Final = 1.0  # likewise where pairs are compared: what is dropped too early is lost, what is kept can still disappoint
SLOW: Final = 0.99  # what an event of many intervals counts for in a long stretch
TRUSTED: Final = 0.9  # of what the luckiest of learned events promises, that the declared loss must
LEADS: Final = 1.0  # nats that a pair must have won before it is run more often than others
EVIDENCE: Final = 3.0  # nats, about 20 to 1, that say of which level a violation is
POWER: Final = 0.99  # asked of "nine times in ten": another run learns other cells, and log wealth is not quite normal
SCALES: Final = (0.9, 0.8, 0.5)  # the declared noise made smaller by so much is what the bets are designed for

MOST_BLOCKS: Final = 256  # of a long stretch, while they are of less than 16 calls
LONG: Final = 3_000_000  # pairs of runs on the event that is fixed: of so many, counting is what takes time

# Shares of the capital. A generation of learned partitions has a quarter of its kind's, kept aside until it begins.
DECLARED, LEARNED, RARE, FLOATING, CONFORMING = 0.55, 0.1, 0.05, 0.1, 0.2
LEARNED_ALONE, RARE_ALONE, FLOATING_ALONE = 0.8, 0.1, 0.1
TIES: Final = 0.2  # of the share of conformance
POOLED: Final = 0.8  # of it, where the noise is the same on all inputs: for its outputs on all of them together
ROUNDABLE: Final = ("line", "product", "radial", "kernel")
SAME_NOISE: Final = ("line", "integers", "radial", "product")
ATOMS: Final = 3  # so many values, the most frequent at least so often again, are atoms if they are nearly all that repeats
LONGEST: Final = 200  # characters of a pair of inputs that goes by its own name
SHARES: Final = (0.28, 0.2, 0.15, 0.1, 0.06, 0.06, 0.06, 0.06)  # of the generations, first to last,
LAST: Final = 0.03  # and of the long stretch on the event that is fixed
MOVES_ON: Final = 0.5  # of the capital of a learned partition, to the one that is learned after it
UNSURE: Final = 0.3  # of a learned partition's bets, on what its score did not expect


@dataclass(frozen=True, slots=True)
class Settings:
    """How far an audit goes. alpha: its false-alarm budget; samples: pairs of runs in all; stop: at the first violation.

    floats: whether it is looked for what only the representation of the outputs gives away. independent: whether runs are, as the
    fixed-sample bound supposes: the time of a call hangs on what ran before. night: what the run is a part of: then alpha is the budget of
    all nights together, of which tests that begin tonight have this night's share.
    """

    samples: int
    alpha: float
    stop: bool = True
    floats: bool = True
    independent: bool = True
    night: Night = field(default_factory=Night)

    @property
    def sequential(self) -> float:
        """The part of alpha that the anytime-valid tests may spend."""
        return self.alpha * (0.7 if self.stop or not self.night.alone else 0.1)

    @property
    def anytime(self) -> float:
        """The part of alpha for the bound on epsilon where such a test has ended the run."""
        return self.alpha * 0.04

    @property
    def path(self) -> float:
        """The part of alpha for the bounds on epsilon over samples, all of them together."""
        return self.alpha * 0.005

    @property
    def witness(self) -> float:
        """The part of alpha for how often the event comes by which a claim is proved false of its declaration."""
        return self.alpha * 0.01

    @property
    def batches(self) -> float:
        """The part of alpha for saying that the outputs of one call are not independent; a later stage goes on with that of the first."""
        return self.alpha * 0.005 * (self.night.fresh or 1.0)

    @property
    def fixed(self) -> float:
        """The rest, for the fixed-sample bound; 0 where an earlier night has spent all of it."""
        if self.night.alone:
            return self.alpha - self.sequential - self.anytime - self.path - self.witness - self.batches
        return self.alpha * 0.24 * self.night.fresh


@dataclass(slots=True, eq=False)
class Test:
    """One e-process. counts: since it began; fresh: since the event of the final bound was fixed; at: the run's samples when last seen.

    share: of the risk of all bounds that are stated. log_capital: what its wealth is a multiple of: its share, and what moved on to it.
    log_start: what that was when it began; log_added: by how much the logarithm has changed since, of a test that goes on.
    log_par: the same, had no test won or lost anything: what is counted on where it is said what a run would have found.
    trail: what it looked like on the way.
    expected: (2, K) imaginary counts of the cells on x and on x': what a learned score expects. They are no evidence.
    law: of the cells on x and on x', which the bets of a learned partition are made for.
    before: how many of the pairs that it has seen are of earlier nights.
    """

    level: str
    pair: int
    partition: Partition
    bets: Bets
    share: float
    counts: Counts
    fresh: Counts
    log_capital: float
    log_par: float
    log_start: float
    log_added: float = 0.0
    log_wealth: float = 0.0
    expected: Array | float = 0.0
    at: int = 0
    trail: list[Look] = field(default_factory=list)
    before: int = 0
    law: Law | None = None

    @property
    def pairs_seen(self) -> int:
        return int(self.counts.sum())

    @property
    def tonight(self) -> int:
        """How many pairs it has seen in this run."""
        return self.pairs_seen - self.before

    @property
    def now(self) -> Look:
        """The test as it was last seen."""
        return Look(self.at, self.log_wealth + self.log_added, self.counts)


@dataclass(slots=True, eq=False)
class _Conforming:
    """Conformance on one input: its additive statistics, how many outputs they are of, and the values that were repeated.

    pool: what its statistics are added up in with those of other inputs, where the noise is the same on all of them.
    begun_with: the share of the whole capital that it began with in an earlier night, None of one that begins in this.
    trail, tied: what the e-processes of the statistics and of the repeated values looked like on the way.
    """

    tester: Conformance | Rounded
    ties: Ties | None
    share: float
    pool: _Conforming | None = None
    total: Counts | None = None
    count: int = 0
    retired: bool = False  # another tester has taken its place
    begun_with: float | None = None
    trail: list[Look] = field(default_factory=list)
    tied: list[Look] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """The first test of a level to reach its threshold: what it looked like then, after how many seconds and decisions of the audit."""

    test: Test
    look: Look
    seconds: float
    decisions: int

    @property
    def counts(self) -> Counts:
        """The joint counts of its test then."""
        assert self.look.counts is not None
        return self.look.counts

    @property
    def after(self) -> int:
        """How many pairs of runs that took."""
        return self.look.samples


@dataclass(frozen=True, slots=True)
class Event:
    """The event of the fixed-sample bound, fixed before the samples that it is counted on."""

    test: Test
    low: int
    high: int
    swapped: bool


@dataclass(slots=True, eq=False)
class _Stretch:
    """Blocks of one job, and the tests that its counts belong to."""

    job: Job
    blocks: int
    pair: int
    tests: tuple[Test, ...]
    conforming: tuple[_Conforming | None, _Conforming | None] = (None, None)


@dataclass(slots=True, eq=False)
class Run:
    """The state of one audit: what has been counted, and what will be sampled next."""

    plan: Plan
    settings: Settings
    done: int = 0
    seen: dict[int, int] = field(default_factory=dict)  # pairs of runs of each pair of inputs
    largest: int = 0  # block so far
    looks: int = 0  # on trails, in all
    decisions: list[Decision] = field(default_factory=list)
    rounds: int = 0
    alive: list[int] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    conforming: list[tuple[_Conforming, _Conforming] | None] = field(default_factory=list)
    pools: list[_Conforming] = field(default_factory=list)
    kept: dict[int, tuple[list[Outputs], list[Outputs]]] = field(default_factory=dict)
    crossings: dict[str, Crossing] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)
    nonconforming: str = ""
    nonconforming_level: str = MODEL
    nonconforming_share: float = 0.0
    nonconforming_trail: tuple[Look, ...] = ()
    tied: tuple[int, int] | None = None  # the pair and the side on which values were found to repeat
    grid: Fraction | None = None  # that all outputs of the first block lie on
    rounding: bool = False  # whether that is taken for rounding of the noisy output, and tested as such
    grid_pairs: list[Pair] = field(default_factory=list)
    event: Event | None = None
    final: bool = False
    complete: bool = False  # all that was planned has been sampled
    learned_share: float = LEARNED_ALONE
    rare_share: float = RARE_ALONE
    generations: int = 0
    of_declaration: dict[int, Test] = field(default_factory=dict)
    float_share: float = FLOATING_ALONE
    night: Night = field(default_factory=Night)

    def __post_init__(self) -> None:
        self.night = self._fitted()
        self.alive = list(range(len(self.plan.pairs)))
        if self.plan.declared is not None:
            self.learned_share, self.rare_share, self.float_share = LEARNED, RARE, FLOATING
        for index, pair in enumerate(self.plan.pairs):
            self._declare(index, pair)
        self._pool()
        self._carry_on()
        self._resume_conformance()

    # -- testers

    def _declare(self, index: int, pair: Pair) -> None:
        """The testers of a pair that are fixed before any data: declared loss and conformance."""
        declared, pairs = self.plan.declared, len(self.plan.pairs)
        checked = None
        if declared is not None and pair.answers is not None:
            left, right = pair.answers
            origin = pair.origin
            alternatives = [law for scale in SCALES if (law := declared.law(left, right, scale)) is not None]
            partition = declared.partition(left, right)
            bets = mixture(partition.size, self.plan.curve, alternatives=alternatives, long=self.long)
            moved = partition if origin is None else Moved(partition, origin)
            self.of_declaration[index] = self._add(MODEL, index, moved, DECLARED / pairs, bets)
            same = declared.kind in SAME_NOISE
            share = CONFORMING * (1 - POOLED if same else 1) / (2 * pairs)
            checked = (self._checked(declared, left, share, origin), self._checked(declared, right, share, origin))
        self.conforming.append(checked)

    def _pool(self) -> None:
        """Where the noise is the same on all inputs: its outputs on all of them together, as far as they are sorted into the same cells.

        Of the answers in a pool, the one where floats are coarsest has the say: its cells allow for the rounding of all.
        """
        if self.plan.declared is None or self.plan.declared.kind not in SAME_NOISE:
            return
        pools: list[list[_Conforming]] = []
        for each in (side for checked in self.conforming if checked is not None for side in checked):
            mine = next((pool for pool in pools if pool[0].tester.pools_with(each.tester)), None)
            if mine is None:
                pools.append([each])
            else:
                mine.append(each)
        for pool in pools:
            coarsest = max((each.tester for each in pool), key=lambda tester: float(np.abs(tester.centre).max()))
            self.pools.append(_Conforming(coarsest, None, CONFORMING * POOLED / len(pools)))
            for each in pool:
                each.pool = self.pools[-1]

    @staticmethod
    def _checked(declared: Declared, answer: Array, share: float, origin: Array | None) -> _Conforming:
        return _Conforming(conformance(declared, answer, origin), ties(declared, answer, origin), share)

    def _bets(self, size: int, law: Law | None) -> Bets:
        """Bets on a learned partition; law: of its cells, as past outputs let expect it."""
        laws = [] if law is None else [law]
        return mixture(size, self.plan.curve, alternatives=laws, generic_share=UNSURE, long=self.long)

    def _add(self, level: str, pair: int, partition: Partition, share: float, bets: Bets | None = None, law: Law | None = None) -> Test:
        empty, night = np.zeros((partition.size, partition.size), dtype=np.int64), self.night
        capital = log(share * night.unit) + night.funds(level)
        bets = self._bets(partition.size, law) if bets is None else bets
        test = Test(level, pair, partition, bets, share * night.unit, empty, empty, capital, capital, capital, law=law)
        self.tests.append(test)
        return test

    def _fitted(self) -> Night:
        """The night, with the tests that are of a pair of this plan; the money of others is the cash of new ones."""
        night, pairs = self.settings.night, {self.named(index): pair for index, pair in enumerate(self.plan.pairs)}

        def fits(test: Carried) -> bool:
            known = self.plan.declared is not None and test.pair in pairs and pairs[test.pair].answers is not None
            return test.pair in pairs and (test.partition is not None or known) and (self.settings.floats or test.level == MODEL)

        return replace(night, brought=gathered(night.brought.tests, night.brought.cash, fits, night.brought.conforming))

    def _carry_on(self) -> None:
        """The tests of earlier nights, as they were left; one of the declared loss goes on as that of tonight."""
        places = {self.named(index): index for index in range(len(self.plan.pairs))}
        declared: dict[int, list[Carried]] = {}
        for carried in self.night.brought.tests:
            index = places[carried.pair]
            if carried.partition is None:
                declared.setdefault(index, []).append(carried)
                continue
            counts, capital = carried.counts, carried.log_capital
            bets = carried_on(self._bets(carried.size, carried.law), carried.owned, counts, capital)
            test = Test(
                carried.level, index, carried.partition, bets, carried.share, counts, np.zeros_like(counts), capital, capital, capital,
                law=carried.law,
            )  # fmt: skip
            test.before, test.log_wealth = test.pairs_seen, float(bets.log_wealth(counts))
            self.tests.append(test)
        for index, several in declared.items():
            test = self.of_declaration[index]
            owned = [test.bets.log_prior + test.log_capital, *(dealt(carried.owned, test.bets) for carried in several)]
            test.log_capital = float(np.logaddexp.reduce([test.log_capital, *(carried.log_capital for carried in several)]))
            test.log_par = test.log_start = test.log_capital
            alike = [carried for carried in several if carried.size == test.partition.size]
            if alike:  # its bounds are of the counts of one test alone, whose share of their risk was meant for these
                longest = max(alike, key=lambda carried: int(carried.counts.sum()))
                test.counts, test.share = longest.counts, longest.share
            test.before = test.pairs_seen
            test.bets = carried_on(test.bets, np.logaddexp.reduce(owned), test.counts, test.log_capital)
            test.log_wealth = float(test.bets.log_wealth(test.counts))

    @property
    def long(self) -> bool:
        """Whether this is one of many nights, which see smaller faults than one. A stage that extends a run has the bets of that."""
        return 0 < self.settings.night.fresh < 1

    def named(self, index: int) -> str:
        """The inputs of a pair as text: what a test of it goes by in another night."""
        pair = self.pair(index)
        text = repr(plain((pair.left, pair.right)))
        return text if len(text) <= LONGEST else sha256(text.encode()).hexdigest()

    def handed_on(self) -> Capital:
        """What another night would begin with, now: tests that have seen something, and as cash what all others own."""
        tests, cash = [], [BROKE, BROKE]
        best = self._chosen(self.settings.samples) if self.event is None and self.done else self.event
        for test in self.tests:
            place, partition = LEVELS.index(test.level), None if test in self.of_declaration.values() else test.partition
            if test.log_capital == -inf:
                continue  # it has given all that it had to others
            owned = test.bets.log_prior + test.bets.gains(test.counts) + test.log_capital
            if not (test.pairs_seen and test.pair < len(self.plan.pairs) and (partition is None or is_written(partition))):
                cash[place] = float(np.logaddexp(cash[place], np.logaddexp.reduce(owned)))
                continue
            chosen = best is not None and test is best.test
            pair = self.named(test.pair)
            size, counts = test.partition.size, test.counts
            tests.append(Carried(test.level, pair, partition, size, owned, test.log_capital, test.share, counts, test.law, chosen))
        return gathered(tests, cash, conforming=map(self._sorted, (each for each in self._conforming() if each.count)))

    def _conforming(self) -> Iterator[_Conforming]:
        """All tests of the density that no other has taken the place of."""
        sides = (each for checked in self.conforming if checked is not None for each in checked)
        return (each for each in (*sides, *self.pools) if not each.retired)

    def _sorted(self, each: _Conforming) -> Sorted:
        """What a test of the density hands on."""
        assert each.total is not None
        return Sorted(self._digest(each), each.total, each.count, self._share_of(each))

    def _digest(self, each: _Conforming) -> str:
        """All that a test of the density goes by: what another one has sorted is not added to its counts."""
        return sha256(pickle.dumps((each.tester, each in self.pools))).hexdigest()

    def _share_of(self, each: _Conforming) -> float:
        """The share of the whole capital that a test of the density has; of nights that have no share of their own next to nothing."""
        if each.begun_with is not None:
            return each.begun_with
        return each.share * (1 if self.rounding or each in self.pools else 1 - TIES) * self.night.unit

    def _resume_conformance(self) -> None:
        """Tests of the density go on with what those of earlier nights have sorted, which nobody else goes on with."""
        brought = {one.tester: one for one in self.night.brought.conforming}
        for each in self._conforming() if brought else ():
            known = brought.pop(self._digest(each), None)
            if known is not None and not each.count:
                each.total, each.count, each.begun_with = known.total, known.count, known.share

    def _add_floats(self, index: int) -> None:
        """The floating-point testers of a pair: half of the share of their level, the other half is learned."""
        if not self.settings.floats:
            return
        answers, origin = self.pair(index).answers, self.pair(index).origin
        if self.plan.declared is not None and self.plan.declared.kind == "selection":
            return  # its numbers are no answers with noise, one for one
        seen = next(iter(self.kept.values()))[0][0]  # what kind of numbers the outputs are is known from the first round
        exact = origin is not None or seen.exact is not None
        partitions = () if answers is None or exact else float_partitions(*answers, seen.numbers.dtype)
        share = self.float_share / 2 / (len(self.plan.pairs) + len(self.plan.float_pairs))
        for partition in partitions:
            self._add(FLOAT, index, partition, share / len(partitions))

    def _learn(self) -> None:
        """A new generation of learned partitions for the pairs that are left, each with its part of the capital kept aside."""
        generation = self._next_generation() / len(self.alive)
        for index in self.alive:
            left, right = (concatenate(side) for side in self.kept[index])
            learned = learn(left, right, seed=self.rounds)
            if learned is not None:
                self._add_learned(index, learned, self.learned_share * generation)
            self._add_rare(index, left, right, self.rare_share * generation)
            least = min(point.epsilon for point in self.plan.curve)
            seldom = [(FLOAT, learn_float(left, right))]
            seldom += [(MODEL, learner(left, right, least)) for learner in (learn_digits, learn_forms, learn_places)]
            seldom += [(FLOAT, learner(left, right, least)) for learner in (learn_zeros, learn_bits)]
            levels = (MODEL, FLOAT) if self.settings.floats else (MODEL,)
            partitions = [(level, partition) for level, partition in seldom if partition is not None and level in levels]
            for level, partition in partitions:
                self._add(level, index, partition, self.float_share / 2 * generation / len(partitions))

    def _add_rare(self, index: int, left: Outputs, right: Outputs, share: float) -> None:
        """A test of rare events, where there are other ones than before; half of what is left of its forerunners moves on to it."""
        pair, point = self.pair(index), min(self.plan.curve, key=lambda point: (point.delta, point.epsilon))
        learned = learn_rare(left, right, point, (pair.left, pair.right))
        known = [test for test in self.tests if test.pair == index and isinstance(test.partition, Rare)]
        if learned is None or any(test.partition.rules == learned.rules for test in known if isinstance(test.partition, Rare)):
            return
        forerunners = [test for test in self._of_tonight(index) if test in known]
        test = self._add(MODEL, index, learned, share, law=learned.law)
        for older in forerunners:
            self._move(older, test, MOVES_ON)

    def _next_generation(self) -> float:
        """The share of another generation."""
        self.generations += 1
        return SHARES[self.generations - 1]

    def _add_learned(self, index: int, learned: Scoring, share: float) -> None:
        """A test of a learned partition, with bets on what its score expects; half of what is left of its forerunners moves on to it."""
        forerunners = [test for test in self._of_tonight(index) if isinstance(test.partition, Scoring)]
        test = self._add(MODEL, index, learned, share, law=law_to_bet_on(learned))
        test.expected = learned.expected
        for older in forerunners:
            self._move(older, test, MOVES_ON)

    def _of_tonight(self, index: int) -> list[Test]:
        """The tests of a pair that began in this run: those of earlier nights have seen more than what is learned now is learned from."""
        return [test for test in self.tests if test.pair == index and not test.before]

    @staticmethod
    def _move(giver: Test, taker: Test, part: float) -> None:
        """A part of a test's capital moves on to another; what both have together stays what it was."""
        moved = log(part) + giver.log_capital + giver.log_wealth - taker.log_wealth
        richer = float(np.logaddexp(taker.log_capital, moved))
        if taker.pairs_seen:
            taker.log_added += richer - taker.log_capital
        else:
            taker.log_start = richer
        taker.log_capital = richer
        taker.log_par = float(np.logaddexp(taker.log_par, log(part) + giver.log_par))
        left = log1p(-part) if part < 1 else -inf
        giver.log_added += left if part < 1 else 0.0
        giver.log_capital, giver.log_par = giver.log_capital + left, giver.log_par + left

    def _fix_event(self, planned: int) -> None:
        """Fix the event of the final bound; in a long stretch it and its mirror alone are bet on. What stops now gives it its capital."""
        self.event = self._chosen(planned)
        if self.event is None:
            return
        if planned >= LONG:
            self.event = self._merged(self.event, planned)
        model = [test for test in self.tests if test.level == MODEL]
        going = {id(test) for test in self._promising(model)}
        for test in model:
            if id(test) not in going:
                self._move(test, self.event.test, 1.0)

    def _merged(self, event: Event, planned: int) -> Event:
        """The event as one of a partition into it, the best event for the other side, and what is in neither: two comparisons an output."""
        test, size = event.test, event.test.partition.size
        forward, reverse = (best for _, best in self._events(test, planned, self._quantile, DOUBT))
        above, below = forward.low, reverse.high  # {cell >= above} speaks for x, {cell < below} for x'
        if above < below:
            above = below = event.high if event.swapped else event.low
        table = tuple(int(cell >= below) + int(cell >= above and above > below) for cell in range(size))
        cells = table[-1] + 1
        cells_of_past = np.stack([test.counts.sum(axis=axis) for axis in (1, 0)]) + test.expected + 0.5
        law = [np.bincount(table, side, cells) / side.sum() for side in cells_of_past]
        other = self._add(MODEL, test.pair, merged(test.partition, table), self.learned_share * LAST, law=(law[0], law[1]))
        return Event(other, 0, 1, True) if event.swapped else Event(other, cells - 1, cells, False)

    def _find_grid(self, kept: tuple[Outputs, Outputs]) -> None:
        """Read off the first block whether outputs are rounded, before anything of it is compared with the declared density.

        A grid that is the same on both inputs and not too coarse is public: the law is tested as rounded to it, on outputs to come. Whether
        it stays where it is when the data move is tested on an input between two of its points, if the data are the answers themselves.
        """
        declared, first = self.plan.declared, self.plan.pairs[0]
        if declared is None or declared.kind not in ROUNDABLE or first.answers is None:
            return
        if any(pair.origin is not None for pair in self.plan.pairs):
            return
        left, right = (grid_of(outputs.measured()) for outputs in kept)
        width = width_of(declared, first.answers[0])
        if left is None or right is None or not isclose(left, right, rel_tol=1e-9) or left <= FINEST * width:
            return
        self.grid = left
        if left > COARSEST * width:
            return
        self.rounding = True
        share = CONFORMING * (1 - TIES) / (2 * len(self.plan.pairs))
        for index, (pair, checked) in enumerate(zip(self.plan.pairs, self.conforming, strict=True)):
            if checked is not None and pair.answers is not None:
                for each in checked:
                    each.retired = True
                one, other = (_Conforming(rounded(declared, answer, left), None, share) for answer in pair.answers)
                self.conforming[index] = one, other
        self.pools = []
        self._resume_conformance()
        if declared.kind in CONTINUOUS and first.left is first.answers[0]:
            off = first.answers[0] + np.eye(len(first.answers[0]))[0] * float(left / 3)
            self.grid_pairs.append(Pair("between two points of the grid", first.answers[0], off, (first.answers[0], off)))

    def _grid_excursion(self) -> Iterator[list[_Stretch]]:
        """The pair that tells whether the grid of the outputs moves with the data, once."""
        for offset, pair in enumerate(self.grid_pairs, len(self.plan.pairs) + len(self.plan.float_pairs)):
            each = min(self._decide("float_each", self.done, len(self.grid_pairs)), FIRST)
            if self.grid is not None and each >= SEGMENTS:
                test = self._add(MODEL, offset, OnGrid(self.grid), CONFORMING * TIES / len(self.grid_pairs))
                yield [self._blocks(pair, offset, each, (test,), (None, None), 0)]

    def _reorder(self, index: int) -> None:
        """A generation with the cells of the partition that was learned before, in the order that their counts say."""
        for test in reversed(self.tests):
            if test.pair == index and isinstance(test.partition, Learned) and test.pairs_seen:
                partition = reordered(test.partition, *(test.counts.sum(axis=axis) for axis in (1, 0)))
                self._add_learned(index, partition, self.learned_share * self._next_generation())
                return

    # -- rounds

    def rounds_of_work(self) -> Iterator[list[_Stretch]]:
        """What to sample next, round by round; everything of a round must be merged before the next is asked for.

        A round takes at most what is left of the early samples, or as much as the first round, so that the whole never
        takes more than was asked for, but for what makes a segment of a first block whole.
        """
        budget, settled = self.settings.samples, False
        self.alive = self.alive[: self._decide("beginning")]
        while self._decide("goes_on", self.done, self.rounds):
            self._drop(self._decide("kept", self.done, len(self.alive)))
            alone = not settled and self.rounds > 0 and len(self.alive) == 1
            settles = alone and bool(self._decide("settles", self.done))
            if self.rounds in LEARNING_ROUNDS or settles:
                self._learn()
            if settles:
                self._reorder(self.alive[0])
                settled = True
            each = self._decide("each", self.done, len(self.alive))
            yield [self._stretch(index, size) for index, size in self._by_promise(each)]
            if self.rounds == 0:
                for index in self.alive:
                    self._add_floats(index)
                yield from self._grid_excursion()
            if self.rounds == FLOAT_ROUND:
                yield from self._float_excursions()
            self.rounds += 1
        self._decide("whole")
        self.alive = [max(self.alive, key=self._merit)]
        if not settled:
            self._learn()
            if self.done + SEGMENTS <= budget:
                yield [self._stretch(self.alive[0], max(min(budget // 20, budget - self.done), SEGMENTS))]
        self.final = True
        self._fix_event(budget - self.done)
        self.rounds += 1
        if self.done + SEGMENTS <= budget:
            yield [self._stretch(self.alive[0], budget - self.done)]
        self.complete = True

    def _by_promise(self, each: int) -> list[tuple[int, int]]:
        """The pairs that are left, and how often each is run, `each` in the mean: one that has won something first, half of all times."""
        won = {index: self._won(index) for index in self.alive}
        leader, *others = sorted(self.alive, key=lambda index: (-won[index], index))
        if not others or won[leader] < LEADS:
            return [(index, each) for index in self.alive]
        half = max(each * len(self.alive) // 2, each)
        rest = max((each * len(self.alive) - half) // len(others), SEGMENTS)
        return [(leader, half), *((index, rest) for index in others)]

    def _won(self, index: int) -> float:
        """The logarithm of what the tests of the model of a pair have made of their capital, in all."""
        tests = [test for test in self.tests if test.pair == index and test.level == MODEL]
        now = np.logaddexp.reduce([*(test.log_capital + test.log_wealth for test in tests), -inf])
        par = np.logaddexp.reduce([*(test.log_par for test in tests), -inf])
        return float(now - par) if tests else 0.0

    @property
    def schedule(self) -> Schedule:
        """How the samples are divided."""
        return Schedule(self.settings.samples, len(self.plan.pairs), FIRST if self.plan.declared is not None else FIRST_ALONE)

    def _decide(self, method: str, *arguments: int) -> int:
        """What the schedule says, noted down so that it can be asked which other number of samples would have said the same."""
        said: int = getattr(self.schedule, method)(*arguments)
        self.decisions.append(Decision(method, arguments, said))
        return said

    def _drop(self, kept: int) -> None:
        """Keep so many of the pairs, and drop those that show least."""
        if kept < len(self.alive):
            self._decide("whole")  # what a pair promises depends on how many samples are to come
            ranked = sorted(self.alive, key=self._merit, reverse=True)
            self.alive = sorted(ranked[:kept])
            self._inherit(ranked[kept:])
            self.kept = {index: self.kept[index] for index in self.alive}

    def _inherit(self, dropped: list[int]) -> None:
        """What the tests of dropped pairs have left moves on to the newest learned tests of those that are kept, to each as much."""
        learned = [test for test in self.tests if isinstance(test.partition, Scoring)]
        heirs = [test for index in self.alive for test in [each for each in learned if each.pair == index][-1:]]
        for test in self.tests:
            if test.pair in dropped and test.level == MODEL:
                for position, heir in enumerate(heirs):
                    self._move(test, heir, 1 / (len(heirs) - position))

    def _float_excursions(self) -> Iterator[list[_Stretch]]:
        """Pairs that are run once, for the floating-point testers alone."""
        if not self.plan.float_pairs or FLOAT in self.crossings:
            return
        each = self._decide("float_each", self.done, len(self.plan.float_pairs))
        for offset, pair in enumerate(self.plan.float_pairs, len(self.plan.pairs)):
            self._add_floats(offset)
            tests = tuple(test for test in self.tests if test.pair == offset)
            if not tests or FLOAT in self.crossings or each < SEGMENTS:
                return
            yield [self._blocks(pair, offset, each, tests, (None, None), 0)]

    def _stretch(self, index: int, size: int) -> _Stretch:
        tests = [test for test in self.tests if test.pair == index and not (test.level == FLOAT and FLOAT in self.crossings)]
        if self.done + size > FULL:
            tests = self._promising(tests)
        checked = self.conforming[index]
        full = checked is None or self.nonconforming or self.done + size > FULL
        keep = 0 if self.final else self._room(index)
        return self._blocks(self.plan.pairs[index], index, size, tuple(tests), (None, None) if full or checked is None else checked, keep)

    def _room(self, index: int) -> int:
        """How many more outputs of a pair are worth remembering."""
        mine = self.kept.get(index, ([], []))[0]
        width = max((part.numbers.shape[1] or 1 for part in mine), default=KEPT_NUMBERS)
        most = KEPT if self.plan.declared is not None else KEPT_ALONE if width > 1 else KEPT_ALONE_ONE
        return max(int(np.clip(KEPT_NUMBERS // (width * len(self.alive)), KEPT, most)) - sum(map(len, mine)), 0)

    def _promising(self, tests: list[Test]) -> list[Test]:
        """Those of the fixed event, or the declared loss and the newest; the newest rare events; of earlier nights; that have won much."""
        model = [test for test in tests if test.level == MODEL and not isinstance(test.partition, Rare)]
        rare = [test for test in tests if isinstance(test.partition, Rare)]
        declared = [test for test in model if test is self.of_declaration.get(test.pair)]
        first = {id(test) for test in ([self.event.test] if self.event else declared + model[-2:]) + rare[-1:]}
        rich = {id(test) for test in tests if (test.log_wealth > 2.5 or test.before) and test.level not in self.crossings}
        return [test for test in tests if id(test) in first | rich]

    def _blocks(
        self, pair: Pair, index: int, size: int, tests: tuple[Test, ...], checked: tuple[_Conforming | None, _Conforming | None], keep: int
    ) -> _Stretch:
        """A stretch of about `size` pairs in equal blocks: at most 16 while they are small, so that workers can share them.

        Of a long one each is up to 16 calls, at the ends of which tests are looked at.
        """
        long = self.final and size >= LONG
        calls = min(1 << max(size // (MOST_BLOCKS * MAX_BLOCK), 1).bit_length() - 1, SEGMENTS) if long else 1
        blocks = -(-size // int(np.clip(size // 16, FIRST, calls * MAX_BLOCK)))
        block = max(size // blocks // SEGMENTS, 1) * SEGMENTS
        conformances = (checked[0].tester if checked[0] else None, checked[1].tester if checked[1] else None)
        segments = calls if long else SEGMENTS if self.done < SEGMENTS * block else 1  # how finely crossings are told
        partitions = tuple(test.partition for test in tests)
        job = Job((pair.left, pair.right), partitions, conformances, -(-keep // blocks), block, segments)
        return _Stretch(job, blocks, index, tests, checked)

    # -- merging

    @property
    def over(self) -> bool:
        """Whether a violation was found and nothing more is asked. One of floating point alone leaves the model to be audited."""
        return self.settings.stop and MODEL in self.crossings

    def merge(self, stretch: _Stretch, result: BlockResult, *, quiet: bool = False) -> bool:
        """Add one block's counts, in block order, and look whether a test has reached its threshold; whether anything was noted.

        quiet: these are sums of blocks in which there was nothing to note: they are added without a look.
        """
        size, before = result.size, (dict(self.crossings), self.nonconforming, self.looks)
        if not self.done and result.kept is not None:
            self._find_grid(result.kept)
        seen = self.seen.get(stretch.pair, 0)
        marked = [] if quiet else marks(seen, size, stretch.job.segments)  # sums of quiet blocks have no order in them
        running = [test.counts + np.cumsum(counts, axis=0) for test, counts in zip(stretch.tests, result.counts, strict=True)]
        wealth = [np.asarray(test.bets.log_wealth(tables)) for test, tables in zip(stretch.tests, running, strict=True)]
        if not quiet:
            self._cross(stretch.tests, running, wealth, size)
        for test, tables, own in zip(stretch.tests, running, wealth, strict=True):
            self._count(test, tables, own, size, marked)
        for checked, statistics in zip(stretch.conforming, result.statistics, strict=True):
            if checked is None or statistics is None or checked.retired:
                continue
            for each in (checked, checked.pool):
                if each is not None:
                    each.total = statistics if each.total is None else each.total + statistics
                    each.count += size
                    if not quiet:
                        share = self._share_of(each)
                        log_wealth, meaning = each.tester.log_wealth(each.total, each.count)
                        look = Look(self.done + size, log_wealth)
                        self._suspect(MODEL, share, look, f"{meaning} ({each.count} outputs)", each.trail, bool(marked))
        if result.kept is not None:
            for side, outputs in zip(self.kept.setdefault(stretch.pair, ([], [])), result.kept, strict=True):
                side.append(outputs)
            for number, (checked, outputs) in enumerate(zip(stretch.conforming, result.kept, strict=True)):
                if checked is not None and checked.ties is not None and not checked.retired:
                    checked.ties = checked.ties.merge(outputs)
                    log_wealth, meaning = checked.ties.log_wealth()
                    look, meaning = Look(self.done + size, log_wealth), f"{meaning} ({checked.ties.seen} outputs)"
                    if self._suspect(FLOAT, checked.share * TIES * self.night.unit, look, meaning, checked.tied, bool(marked)):
                        self._tied(checked, stretch.pair, number)
        self.done += size
        self.largest = max(self.largest, stretch.job.size or 0)
        self.seen[stretch.pair] = seen + size
        return before != (self.crossings, self.nonconforming, self.looks)

    def _tied(self, checked: _Conforming, pair: int, side: int) -> None:
        """Values repeat: of the representation alone that is nothing where only the model is audited."""
        self.tied = pair, side
        if not self.settings.floats and self.level_of_nonconformance() == FLOAT:
            self.nonconforming, self.nonconforming_level, self.tied, checked.ties = "", MODEL, None, None

    def _look(self, running: Counts, log_wealth: float, size: int, segment: int) -> Look:
        return Look(self.done + (segment + 1) * size // len(running), log_wealth, running[segment].copy())

    def _cross(self, tests: tuple[Test, ...], running: list[Counts], wealth: list[Array], size: int) -> None:
        """Whether tests have reached the threshold in a block: those of the model all together, those of floating point each by itself."""
        need = -log(self.settings.sequential)
        own = {id(test) for test in tests}
        reached: list[tuple[int, int, float]] = []  # the segment, the test, and the capital that is there
        model = [number for number, test in enumerate(tests) if test.level == MODEL]
        if model:
            rest = [test.log_capital + test.log_wealth for test in self.tests if test.level == MODEL and id(test) not in own]
            capital = np.array([wealth[number] + tests[number].log_capital for number in model])
            total = np.logaddexp(np.logaddexp.reduce(capital, axis=0), np.logaddexp.reduce([*rest, -np.inf]))
            for segment in np.flatnonzero(total >= need)[:1].tolist():
                most = model[int(np.argmax(capital[:, segment]))]
                reached.append((segment, most, float(total[segment])))
        for number, test in enumerate(tests):
            if test.level != MODEL:
                above = np.flatnonzero(wealth[number] + test.log_capital >= need)[:1].tolist()
                reached += [(segment, number, float(wealth[number][segment]) + test.log_capital) for segment in above]
        for segment, number, log_capital in reached:
            test, look = tests[number], self._look(running[number], log_capital - tests[number].log_start, size, segment)
            if self._is_of_its_level(test, running[number][segment]):
                crossing = Crossing(test, look, time.perf_counter() - self.started, len(self.decisions))
                if test.level not in self.crossings or crossing.after < self.crossings[test.level].after:
                    self.crossings[test.level] = crossing

    def _count(self, test: Test, running: Counts, wealth: Array, size: int, marked: list[int]) -> None:
        """Add a block's counts to a test, and leave what it is at the marks on its trail."""
        test.trail += [self._look(running, float(wealth[segment]) + test.log_added, size, segment) for segment in marked]
        self.looks += len(marked)
        if self.event is not None and test is self.event.test:
            test.fresh = test.fresh + running[-1] - test.counts
        test.counts, test.log_wealth, test.at = running[-1], float(wealth[-1]), self.done + size

    def _is_of_its_level(self, test: Test, counts: Counts) -> bool:
        """Whether a violation is one of its test's level: a fault of the model is seen by floating-point testers too."""
        if test.level == MODEL:
            return True
        if isinstance(test.partition, Reach):
            return max(log_evidence(counts)) > EVIDENCE
        return not any(other.level == MODEL and other.pair == test.pair and other.log_wealth > EVIDENCE for other in self.tests)

    def _suspect(self, level: str, share: float, look: Look, meaning: str, trail: list[Look], marked: bool) -> bool:
        """Note that the sampler is not the declared density, if this is the first test to say so with enough wealth."""
        if marked:
            trail.append(look)
            self.looks += 1
        first = not self.nonconforming and look.log_wealth + log(share) >= -log(self.settings.sequential)
        if first:
            self.nonconforming, self.nonconforming_level = meaning, level
            self.nonconforming_share, self.nonconforming_trail = share, (*trail, look)
        return first

    # -- what is said in the end

    def pair(self, index: int) -> Pair:
        """The pair of a number: those of the plan first, then those that only floating-point testers run."""
        return (*self.plan.pairs, *self.plan.float_pairs, *self.grid_pairs)[index]

    @property
    def said_of_the_grid(self) -> str:
        """That the outputs are rounded, in words; empty where they are not."""
        if self.grid is None:
            return ""
        seen = f"the outputs are multiples of {float(self.grid):.10g}"
        if self.rounding:
            return f"{seen}: taken for rounding of the noisy output to a public grid, and tested on that grid"
        return f"{seen}, which is too coarse beside the declared noise to be tested as its rounding"

    def level_of_nonconformance(self) -> str:
        """Values that repeat are a coarse representation's, but for a few that come again and again: those are atoms of the law."""
        if self.tied is not None and self.tied[0] in self.kept:
            outputs = concatenate(self.kept[self.tied[0]][self.tied[1]])
            counts = np.unique(outputs.numbers[:, 0], return_counts=True)[1] - 1
            few = np.sort(counts)[-ATOMS:]
            if few.max() >= ATOMS and few.sum() >= 0.9 * counts.sum():
                return MODEL
        return self.nonconforming_level

    def _merit(self, index: int) -> float:
        """The bound that a pair may be expected to give in the end: what pairs are compared by, no statement.

        By its newest partition alone, for of several one is always lucky, and by rare events that have shown something.
        """
        tests = [test for test in self.tests if test.pair == index and test.level == MODEL and test.pairs_seen]
        tests = [test for test in tests if test.before] or tests  # what earlier nights have seen of a pair counts too
        newest = [test for test in tests if not isinstance(test.partition, Rare)][-1:]
        newest += [test for test in tests if isinstance(test.partition, Rare) and test.log_wealth > EVIDENCE][-1:]
        prospects = (self._prospect(test, self.settings.samples, self._quantile, DOUBT_OF_PAIRS)[0] for test in newest)
        return max(prospects, default=0.0)

    @property
    def _quantile(self) -> float:
        """Of the normal law, for the fixed-sample bound."""
        return -float(ndtri(self.settings.fixed or self.settings.alpha / 4))

    def _chosen(self, planned: int) -> Event | None:
        """The event of the fixed-sample bound: the one whose bound is expected to be greatest after `planned` more pairs."""
        tests = [test for test in self.tests if test.pair == self.alive[0] and test.level == MODEL and test.pairs_seen]
        tests = [test for test in tests if not isinstance(test.partition, Rare) or test.log_wealth > EVIDENCE]
        most = max((test.tonight for test in tests), default=0)
        tests = [test for test in tests if test.tonight >= most / 4]  # of those seen less often, one is always lucky
        prospects = [self._prospect(test, max(planned, 1), self._quantile, DOUBT) for test in tests]
        if not prospects:
            return None
        # Events of cells in another order are of many intervals, which a long stretch would compare each output with.
        slow = [planned >= LONG and isinstance(test.partition, Reordered) for test in tests]
        worth = [value * (SLOW if many else 1.0) for (value, _), many in zip(prospects, slow, strict=True)]
        best, event = prospects[max(range(len(worth)), key=worth.__getitem__)]
        # The declared loss comes first: its cells are cheap to tell, and were not chosen for having been lucky.
        return prospects[0][1] if self.plan.declared is not None and prospects[0][0] > TRUSTED * best else event

    def _prospect(self, test: Test, planned: int, quantile: float, doubt: float) -> tuple[float, Event]:
        """The best event of a test, with the bound on epsilon to expect from it after `planned` pairs."""
        return max(self._events(test, planned, quantile, doubt), key=lambda event: event[0])

    def _events(self, test: Test, planned: int, quantile: float, doubt: float) -> tuple[tuple[float, Event], tuple[float, Event]]:
        """The best event for x and the best for x', with the bounds on epsilon to expect after `planned` pairs, by normal approximation.

        What a score expects counts with what was seen, so that rare events are not judged by their luck alone.
        doubt: so many standard errors of what is believed then are taken off, for the best of many events is partly the luckiest.
        """
        size, delta = test.partition.size, self.plan.delta
        cells = np.stack([test.counts.sum(axis=axis) for axis in (1, 0)]) + test.expected
        seen, cuts = max(float(cells.sum()) / 2, 1.0), np.arange(1, size)
        below = np.cumsum(cells, axis=1)[:, :-1]
        above = cells.sum(axis=1, keepdims=True) - below
        events = []
        for swapped, (hits, others) in ((False, above), (True, below[::-1])):
            p, q = (hits + 0.5) / (seen + 1), (others + 1) / (seen + 1)  # an event never seen is not taken for impossible
            error = np.sqrt(p * (1 - p) / np.maximum(p - delta, 1e-150) ** 2 + (1 - q).clip(0) / q)
            value = np.log(np.maximum(p - delta, 1e-150) / q) - (quantile / sqrt(planned) + doubt / sqrt(seen)) * error
            best = int(np.argmax(value))
            low, high = (0, int(cuts[best])) if swapped else (int(cuts[best]), size)
            events.append((float(value[best]), Event(test, low, high, swapped)))
        return events[0], events[1]

    def lower_bound(self) -> float:
        """The exact fixed-sample bound on epsilon from the samples after its event was fixed; 0 where there are none.

        0 too of a run that a violation has stopped: how many samples it took is not a number fixed beforehand.
        """
        settings = self.settings
        if not self.complete or self.event is None or not self.event.test.fresh.sum() or not (settings.independent and settings.fixed):
            return 0.0
        count = int(self.event.test.fresh.sum())
        hits, others = _hits(self.event.test.fresh, self.event)
        return bounds.epsilon_lower_bound(hits, count, others, count, confidence=1 - self.settings.fixed, delta=self.plan.delta)

    def detectable(self) -> float:
        """The smallest epsilon that the run's anytime-valid tests would have refuted nine times in ten."""
        epsilons = [float("inf")]
        for test in self.tests:
            if test.level == MODEL and test.pairs_seen:
                law = tuple(test.counts.sum(axis=axis) / test.pairs_seen for axis in (1, 0))
                threshold = -log(self.settings.sequential) - min(test.log_par, test.log_capital)
                if self.plan.delta and self.plan.epsilon is not None:
                    base = min(self.plan.epsilon, self._declared_epsilon())
                    family = self._smaller_noise(test) or bounds.grown(law, test.pairs_seen)
                    epsilons.append(bounds.detectable_at_delta(test.bets, test.pairs_seen, family, threshold, self.plan.delta, base, POWER))
                else:
                    epsilons.append(bounds.detectable_epsilon(test.bets, test.pairs_seen, law, threshold, POWER, self.plan.delta))
        return min(epsilons)

    def _smaller_noise(self, test: Test) -> bounds.Family | None:
        """The laws of a test's cells where the declared noise is smaller; None of cells that were learned."""
        declared, answers = self.plan.declared, self.plan.pairs[test.pair].answers
        if declared is None or answers is None or declared.dimension != 1 or test is not self.of_declaration.get(test.pair):
            return None
        if declared.law(*answers) is None:
            return None

        def family(times: float) -> tuple[Array, Array]:
            laws = declared.law(*answers, 1 / times)
            assert laws is not None
            return laws

        return family

    def _declared_epsilon(self) -> float:
        """The least epsilon of the declared curve at the claimed delta; inf where none is known."""
        curve = None if self.plan.declared is None else self.plan.declared.curve()
        return min((point.epsilon for point in curve or () if point.delta <= self.plan.delta), default=float("inf"))


def event_text(test: Test, counts: Counts, low: int, high: int) -> str:
    """An event and how often it was seen on each side, for people."""
    total = int(counts.sum())
    left, right = (int(counts.sum(axis=axis)[low:high].sum()) for axis in (1, 0))
    sides = f"{left}/{total} on x and {right}/{total} on x'"
    return f"{test.partition.describe(low, high)}: {sides}"


def _hits(counts: Counts, event: Event) -> tuple[int, int]:
    """How often the event was seen on the side that it speaks for, and on the other."""
    left, right = (int(counts.sum(axis=axis)[event.low : event.high].sum()) for axis in (1, 0))
    return (right, left) if event.swapped else (left, right)


def run(plan: Plan, settings: Settings, engine: Engine, journal: Journal, progress: Callable[[int], object] = lambda done: None) -> Run:
    """Sample until something is found or the samples are spent. What is in the journal already is not sampled again."""
    state = Run(plan, settings)
    journal.follow(state)
    index = 0
    try:
        for stretches in state.rounds_of_work():
            ends = list(accumulate((stretch.blocks for stretch in stretches), initial=index))[1:]

            def stretch_of(block: int, ends: list[int] = ends, stretches: list[_Stretch] = stretches) -> _Stretch:
                return stretches[bisect_right(ends, block)]

            while index < ends[-1] and (entry := journal.replay(index)) is not None:
                state.merge(stretch_of(index), entry.result, quiet=entry.quiet)
                index += entry.blocks
                progress(state.done)
                if state.over:
                    return state
            for result in engine.results(lambda block: stretch_of(block).job, index, ends[-1]):
                noted = state.merge(stretch_of(result.index), result)
                # in the last stretch only sums matter, but for a block in which something was noted
                journal.record(result, quiet=state.event is not None and not noted)
                index = result.index + 1
                progress(state.done)
                if state.over:
                    return state
        return state
    finally:
        journal.save()

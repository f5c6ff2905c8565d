"""Replays of a pipeline on many pairs of neighbours, and the smallest pair that breaks the contract."""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable

from dpverify.errors import SpecError
from dpverify.replays.adapters import ADAPTERS
from dpverify.replays.calls import Breach, Call, Stopped, Trace, compare, differs_in, exact, same
from dpverify.replays.code import Lines, constants_of, functions_of
from dpverify.replays.kept import Kept
from dpverify.replays.neighbours import Inputs
from dpverify.replays.noise import Draw, Noise, Recentred, Session, Unlikely
from dpverify.replays.owned import owned
from dpverify.replays.told import KEPT, WAYS, listened

OTHER: Final = 1_000
"""How far apart what decides the randomness is of two runs that have different randomness."""
MOST_TRACES: Final = 1_000
OFFSETS: Final = st.one_of(st.just(0), st.integers(-4, 4), st.sampled_from([10, -10, 100, -100, 10**4, -(10**4), 10**7, -(10**7)]))


class _Broken(Exception):
    """That a pair breaks the contract."""


@dataclass(frozen=True)
class Found:
    """What replays found.

    breach: with the smallest pair that shows it, the configuration of the pipeline, and both runs; None where nothing breaks the contract.
    traces: each list of calls that occurred, with how often; forks: whether one configuration has several. replays: how many pairs were
    looked at. raised: how many pairs ended in the same exception, the last of which is error. seconds: how long it took, of which `after`
    from the first breach to the smallest. left: lines of the pipeline that no replay ran, of `lines` that there are. unsteady: ways of
    telling in which the same input tells something else each time, so that they are not compared.
    """

    breach: Breach | None
    pair: tuple[Any, Any] | None
    config: Mapping[str, Any]
    runs: tuple[Trace, Trace] | None
    traces: Mapping[str, int]
    forks: bool
    replays: int
    raised: int
    error: BaseException | None
    seconds: float
    after: float
    left: tuple[str, ...] = ()
    lines: int = 0
    unsteady: tuple[str, ...] = ()


SEEDED_AT_FIRST: Final = 4
SEEDED_EACH: Final = 16
"""Whether noise hides anything is looked at in the first replays, and in one of so many later ones."""
MOST_RECENTRED: Final = 20
FEW: Final = 4
"""Of so many rows that can be taken away together, one less is tried next; of more, half as many."""


@dataclass
class _Searching:
    pipeline: Callable[..., Any]
    inputs: Inputs | st.SearchStrategy[Any]
    config: st.SearchStrategy[Mapping[str, Any]]
    sensitivity: Any
    tolerance: Fraction
    patch: Sequence[str]
    seconds: float
    functions: Sequence[FunctionType]
    lines: Lines
    kept: Kept | None
    ways: list[str]
    best: tuple[tuple[int, int], Breach, tuple[Any, Any], Mapping[str, Any], tuple[Trace, Trace]] | None = None
    first: float = 0.0
    public: int = 0
    traces: Counter[str] = field(default_factory=Counter)
    by_config: dict[str, str] = field(default_factory=dict)
    forks: bool = False
    replays: int = 0
    raised: int = 0
    error: BaseException | None = None

    def one(self, data: Any) -> None:
        """Replay one pair. Raises _Broken."""
        if self.best is not None and time.perf_counter() - self.first > self.seconds:
            return
        pair = self.inputs.pair(data.draw) if isinstance(self.inputs, Inputs) else tuple(data.draw(self.inputs))
        config, public = data.draw(self.config), data.draw(st.integers(0, 9))

        def choose(kind: str, value: Any, call: Call) -> Any:
            return chosen(data.draw, kind, value)

        try:
            breach, first, second = self.compared(pair, config, choose, public)
        except Unlikely:
            reject()
        self.replays += 1
        if breach is None:
            self.raised += first.error is not None
            self.error = first.error or self.error
            if len(self.traces) < MOST_TRACES:
                made = signature(first.calls)
                self.traces[made] += 1
                self.forks |= self.by_config.setdefault(repr(config), made) != made
            return
        if self.best is None:
            self.first = time.perf_counter()
        weight = (_rows(pair[0]) + _rows(pair[1]), len(repr((pair, config))))
        if self.best is None or weight < self.best[0]:
            self.best, self.public = (weight, breach, pair, config, (first, second)), public
        raise _Broken

    def compared(
        self, pair: tuple[Any, Any], config: Mapping[str, Any], choose: Callable[..., Any], public: int
    ) -> tuple[Breach | None, Trace, Trace]:  # fmt: skip
        """What breaks the contract on a pair, and both runs. Raises Unlikely."""
        first, second = self.both(pair, config, choose, public)
        breach = compare(first, second, self.tolerance, self.ways)
        if breach is not None and breach.kind == "told":
            breach = self.steadily(pair, config, choose, (first, second), public)
        if breach is None and first.sources and first.error is None:
            breach = self.constant(pair[0], config, choose, first, public)
        if breach is None:
            return None, first, second
        with contextlib.suppress(Unlikely, Recentred):
            again = self.run(pair[0], config, Session(choose, first, self.sensitivity), public)
            changed = compare(first, again, Fraction(0))
            if changed is not None and changed.kind != "value" and first.breach is None:
                why = "Something is kept from run to run, or random without a seed"
                said = f"the same input twice, with the same outputs: {changed.said}. {why}"
                breach = Breach("not repeatable", said, changed.place)
        return breach, first, second

    def lessen(self) -> None:
        """Take rows away that both neighbours have, as long as the contract stays broken: what shrinking a choice does not do."""
        many = len(self.best[2][0]) if self.best is not None and isinstance(self.inputs, Inputs) else 0
        while many >= 1:
            many = many if self._lessened(many) else many - 1 if many <= FEW else many // 2

    def _lessened(self, many: int) -> bool:
        """Whether so many rows, one after the other, can be taken away."""
        assert self.best is not None
        _, _, pair, config, runs = self.best
        left = list(pair[1])
        common: list[int] = []
        for at, row in enumerate(pair[0]):
            if (found := _place(left, row)) is not None:
                left.pop(found)
                common.append(at)
        for start in range(0, len(common) - many + 1, many):
            if time.perf_counter() - self.first > self.seconds:
                return False
            taken = common[start : start + many]
            less = [row for at, row in enumerate(pair[0]) if at not in taken], list(pair[1])
            for at in taken:
                less[1].pop(_place(less[1], pair[0][at]) or 0)
            with contextlib.suppress(Unlikely):
                breach, *again = self.compared(less, config, _as_before(runs[0]), self.public)
                if breach is not None:
                    self.best = ((_rows(less[0]) + _rows(less[1]), 0), breach, less, config, (again[0], again[1]))
                    return True
        return False

    def both(
        self, pair: tuple[Any, Any], config: Mapping[str, Any], choose: Callable[..., Any], public: int
    ) -> tuple[Trace, Trace]:  # fmt: skip
        """The runs on both neighbours. Raises Unlikely."""
        centred = frozenset[int]()
        while True:
            first = self.run(pair[0], config, Session(choose, None, self.sensitivity, centred), public)
            try:
                return first, self.run(pair[1], config, Session(choose, first, self.sensitivity, centred), public)
            except Recentred as error:
                if error.at in centred or len(centred) > MOST_RECENTRED:
                    raise AssertionError(f"call {error.at} is recentred again") from error
                centred |= {error.at}

    def steadily(
        self, pair: tuple[Any, Any], config: Mapping[str, Any], choose: Callable[..., Any], runs: tuple[Trace, Trace], public: int
    ) -> Breach | None:  # fmt: skip
        """What is told besides on one input alone, the ways left out in which the same input tells different things."""
        again = self.run(pair[0], config, Session(choose, runs[0], self.sensitivity), public)
        self.ways[:] = [way for way in self.ways if differs_in(way, runs[0], again) is None]
        return compare(*runs, self.tolerance, self.ways)

    def constant(
        self, data: Any, config: Mapping[str, Any], choose: Callable[..., Any], first: Trace, public: int
    ) -> Breach | None:  # fmt: skip
        """Whether noise is drawn from what is the same in every run, so that it hides nothing."""
        known = [(what, state) for what, state, _ in first.sources if state is not None]
        often = self.best is not None or self.replays <= SEEDED_AT_FIRST or self.replays % SEEDED_EACH == 0
        if not known or not often:
            return None
        try:
            other = self.run(data, config, Session(choose, first, self.sensitivity), public + OTHER)
        except (Unlikely, Recentred):
            return None
        for (what, state, where), (_, state_there, _) in zip(first.sources, other.sources, strict=False):
            if state is not None and state == state_there:
                said = f"the noise of {what} is drawn from a generator that starts alike in every run: who knows that takes the noise away"
                return Breach("seed", said, where)
        return None

    def run(self, given_data: Any, config: Mapping[str, Any], session: Session, public: int) -> Trace:
        """Run the pipeline on a copy of its data, where that is asked with what it keeps as it was at first."""
        if self.kept is not None:
            self.kept.reset()
        trace, extra = session.trace, {"noise": Noise(session)} if takes_noise(self.pipeline) else {}
        data = self.inputs.opened(given_data) if isinstance(self.inputs, Inputs) else copy.deepcopy(given_data)
        with owned(session, public, self.patch, self.functions, self.pipeline), listened(trace.told), self.lines.noted():
            try:
                trace.output = settled(self.pipeline(data, **copy.deepcopy(dict(config)), **extra))
            except Stopped:
                pass
            except Exception as error:
                trace.error = error
        if self.kept is not None:
            trace.told[KEPT] = self.kept.seen()
        return trace


def search(
    pipeline: Callable[..., Any],
    inputs: Inputs | st.SearchStrategy[Any],
    config: st.SearchStrategy[Mapping[str, Any]],
    *,
    sensitivity: Any,
    tolerance: Fraction,
    patch: Sequence[str],
    tries: int,
    seed: int,
    seconds: float,
    ways: Sequence[str] = WAYS,
) -> Found:
    """Replay a pipeline on `tries` pairs; after the first breach, look for a smaller one for so many seconds. Raises SpecError."""
    if unknown := [name for name in patch if name not in ADAPTERS]:
        raise SpecError(f"patch: {unknown[0]!r:.40} is none of {', '.join(ADAPTERS)}.")
    if not patch and not takes_noise(pipeline):
        raise SpecError(
            f"the pipeline has no parameter noise, and patch names no library whose noise it calls: one of {', '.join(ADAPTERS)}."
        )
    functions = functions_of(pipeline)
    if isinstance(inputs, Inputs):
        inputs = inputs.naming(constants_of(functions))
    lines, heard, kept = Lines(functions), list(ways), Kept(functions, pipeline) if KEPT in ways else None
    state = _Searching(pipeline, inputs, config, sensitivity, tolerance, tuple(patch), seconds, functions, lines, kept, heard)

    @seeded(seed)
    @settings(
        max_examples=tries, deadline=None, database=None, phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(st.data())
    def replayed(data: Any) -> None:
        state.one(data)

    started = time.perf_counter()
    try:
        with contextlib.suppress(_Broken, Flaky, Unsatisfiable):
            replayed()
        state.lessen()
    finally:
        if state.kept is not None:
            state.kept.reset()
    ended = time.perf_counter()
    breach, pair, settings_, runs = (None, None, {}, None) if state.best is None else state.best[1:]
    if pair is not None and isinstance(inputs, Inputs):
        pair = (inputs.formed(pair[0]), inputs.formed(pair[1]))
    after = ended - state.first if state.best is not None else 0.0
    return Found(
        breach,
        pair,
        settings_,
        runs,
        dict(state.traces),
        state.forks,
        state.replays,
        state.raised,
        state.error,
        ended - started,
        after,
        tuple(lines.left),
        len(lines.all),
        tuple(way for way in ways if way not in heard),
    )


def _place(rows: Sequence[Any], row: Any) -> int | None:
    """Where a row is among others."""
    return next((at for at, other in enumerate(rows) if same(other, row)), None)


def _as_before(trace: Trace) -> Callable[[str, Any, Call], Any]:
    """The outputs of a run again, for a run on less; for calls that it did not make, what they are given."""
    left = {call.at: iter(call.outputs) for call in trace.calls}

    def choose(kind: str, value: Any, call: Call) -> Any:
        found = next(left.get(call.at, iter(())), None)
        if kind == "index":
            return min(found or 0, max(value - 1, 0))
        if kind == "truth":
            return bool(found)
        if kind == "keys":
            return {key: count for key, count in (found or {}).items() if key in value[0]}
        return found if isinstance(found, int | float) else round(exact(value) or 0)

    return choose


def chosen(draw: Callable[[st.SearchStrategy[Any]], Any], kind: str, value: Any) -> Any:
    """An output of a primitive, as the test chooses it."""
    if kind == "index":
        return draw(st.integers(0, value - 1)) if value else 0
    if kind == "truth":
        return draw(st.booleans())
    if kind == "keys":
        counts, threshold = value
        told = {key: draw(st.sampled_from([None, 0, 1, 10])) for key in sorted(counts, key=repr)}
        return {key: _at_least(threshold, over) for key, over in told.items() if over is not None}
    near = exact(value)
    middle = 0 if near is None else round(near)
    offset = draw(OFFSETS)
    if kind == "number" and abs(middle) < 2**40:
        offset += draw(st.sampled_from([0, 0, 0.5, 0.123456789]))  # what rounds answers is to be seen
    return middle + offset if kind == "integer" else float(middle + offset) if abs(middle) < 2**1000 else middle + offset


def _at_least(threshold: Any, over: int) -> int:
    least: int = math.ceil(threshold)
    return least + over


def takes_noise(pipeline: Callable[..., Any]) -> bool:
    """Whether a pipeline has a parameter for the noise."""
    try:
        given_names = inspect.signature(pipeline).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.name == "noise" or one.kind is inspect.Parameter.VAR_KEYWORD for one in given_names)


def settled(output: Any) -> Any:
    """A result with everything in it that is still to come: iterators as lists, noise by itself as numbers."""
    if isinstance(output, Draw):
        return output.resolved()
    if isinstance(output, Iterator):
        return [settled(one) for one in output]
    if type(output) is dict:
        return {key: settled(value) for key, value in output.items()}
    return type(output)(map(settled, output)) if type(output) in (list, tuple) else output


def signature(calls: Sequence[Call]) -> str:
    """The mechanisms of a run, each with its sensitivity and the number of its answers, in an order of their own."""
    used = [call for call in calls if call.growing or any(value is not None for value in call.values) or not call.values]
    counted = [1 if "noise" in call.mechanism or "beta" in call.mechanism else len(call.values) for call in used]
    told = ([call.mechanism, str(call.sensitivity), call.norm, count] for call, count in zip(used, counted, strict=True))
    return json.dumps(sorted(json.dumps(one, sort_keys=True) for one in told))


def _rows(data: Any) -> int:
    if isinstance(data, dict):
        return max(map(len, data.values()), default=0)
    return len(data) if hasattr(data, "__len__") else 1

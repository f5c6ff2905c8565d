"""The noise that a pipeline is given: every call is noted, and its output is chosen by the test, the same for both inputs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.declarations import Declared, Lenient
from dpverify.catalogue.declarations import Mechanism as Complete
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.errors import SpecError
from dpverify.replays.calls import INTEGERS, MOST_CALLS, Breach, Call, Stopped, Trace, exact, on_integers, place

ADDITIVE: Final = frozenset(BUILTINS) & {
    "laplace", "gaussian", "discrete_laplace", "discrete_gaussian", "staircase", "logistic", "gumbel", "exponential", "skellam", "poisson",
    "binomial", "negative_binomial", "student_t",
}  # fmt: skip
KINDS: Final = ("builtin", "translation", "radial", "product", "mixture", "sum")
GAUSSIAN: Final = frozenset({"gaussian", "discrete_gaussian", "skellam"})
ONE_SIDED: Final = frozenset({"gumbel", "exponential", "poisson", "binomial", "negative_binomial"})
SCALES: Final = ("scale", "sigma")
Chooser = Callable[[str, Any, Call], Any]
"""What chooses an output: (what kind it is, what it is of, the call)."""


class Session:
    """One run: what it calls, and what its calls give.

    other: the run on the neighbour, whose outputs are given again. centred: places of calls whose noise is drawn around an answer.
    """

    def __init__(self, choose: Chooser, other: Trace | None, sensitivity: Any, centred: frozenset[int] = frozenset()) -> None:
        self.choose, self.other, self.sensitivity, self.centred = choose, other, sensitivity, centred
        self.trace = Trace()

    def opened(self, call: Call) -> Call:
        """Note a call at its place. Raises Stopped where the neighbour makes another one there."""
        call.at = len(self.trace.calls)
        if call.at >= MOST_CALLS:
            raise self.stopped(Breach("calls", f"more than {MOST_CALLS} calls of primitives: the replay ends here", call.place))
        self.trace.calls.append(call)
        if self.other is not None:
            before = self.before(call.at)
            if before is None:
                said = f"{len(self.other.calls)} calls of primitives on one input, and {call.name} more on its neighbour"
                raise self.stopped(Breach("calls", said, call.place))
            breach = call.differs(before)
            if breach is not None:
                raise self.stopped(breach)
        return call

    def before(self, at: int) -> Call | None:
        """The call at a place of the run on the neighbour."""
        return self.other.calls[at] if self.other is not None and at < len(self.other.calls) else None

    def stated(self, sensitivity: Any) -> Fraction:
        """The sensitivity of a call that states it, or that of all, or of its place. Raises SpecError for what is no number."""
        number, held = len(self.trace.calls), self.sensitivity
        if sensitivity is None and isinstance(held, list | tuple):
            sensitivity = held[number] if number < len(held) else 1
        return length(held if sensitivity is None else sensitivity)

    def given(self, call: Call, entry: int, value: Any, kind: str) -> Any:
        """The output of an entry of a call, once it is known what it is given."""
        if call.values[entry] is not None:
            said = f"the same noise of {call.name} is added twice: what is told of both takes it away"
            raise self.stopped(Breach("twice", said, call.place))
        call.values[entry] = value
        if self.other is None:
            call.outputs[entry] = self.choose(kind, value, call)
        else:
            before = self.before(call.at)
            if before is None or before.values[entry] is None:
                raise self.stopped(Breach("use", f"{call.name} is used on one input and not on its neighbour", call.place))
            call.outputs[entry] = before.outputs[entry]
        return call.outputs[entry]

    def stopped(self, breach: Breach) -> Stopped:
        """Note a breach, and what ends the run."""
        self.trace.breach = self.trace.breach or breach
        return Stopped(breach)

    def is_answer(self, call: Call) -> bool:
        """Whether the 0 that noise is drawn around is an answer, since the neighbour's noise is drawn around another."""
        before = self.before(call.at)
        return call.at in self.centred or (before is not None and before.centred)

    def around(self, call: Call) -> None:
        """Note that noise is drawn around an answer. Raises Recentred where the neighbour's was around 0, which was taken for none."""
        call.centred, before = True, self.before(call.at)
        if before is not None and not before.centred:
            raise Recentred(call.at)

    def drawn_from(self, what: str, state: Any) -> None:
        """Note the state of what noise is drawn from; None where nothing is known of it."""
        self.trace.sources.append((what, state, place()))

    def seeded(self, what: str, seed: Any) -> None:
        """Note what a generator is seeded by."""
        self.trace.seeds.append((what, seed, place()))


def length(sensitivity: Any) -> Fraction:
    """A sensitivity as a rational. Raises SpecError."""
    try:
        found = Fraction(sensitivity) if isinstance(sensitivity, str) else exact(sensitivity)
    except (ValueError, ZeroDivisionError):
        found = None
    if found is None or found < 0:
        raise SpecError(f"sensitivity = {sensitivity!r:.60} is no number of at least 0.")
    return found


def parameter(name: str, value: Any) -> str:
    """A parameter as a claim file has it: what it is exactly. Raises SpecError."""
    if isinstance(value, str):
        return value
    number = exact(value)
    if number is None:
        raise SpecError(f"{name} = {value!r:.60} is no number, so there is no such noise.")
    return str(number)


def table_of(mechanism: Any) -> dict[str, Any]:
    """A declared mechanism as the table of a claim file."""
    if isinstance(mechanism, Complete):
        return dict(mechanism.noise.table(Lenient(mechanism.domains())))
    if isinstance(mechanism, Declared):
        return dict(mechanism.table(Lenient({})))
    if isinstance(mechanism, Mapping) and "kind" in mechanism:
        return dict(mechanism)
    raise SpecError(f"{mechanism!r:.60} is no mechanism. Write dpverify.laplace(2), or another that dir(dpverify) lists.")


class Unlikely(BaseException):
    """That a run had outputs which its neighbour has with a probability that delta counts."""


class Recentred(BaseException):
    """That a 0 which noise was drawn around was an answer. at: the place of the call."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Use:
    """What became of noise that was drawn, for itself and its multiples together. result: what came of it; hides: whether an answer."""

    def __init__(self) -> None:
        self.result: Any = None
        self.hides = False


class Draw:
    """Noise that is not added yet: adding it to an answer is what the primitive is given.

    Once it hides an answer it is used up: who has the noise besides can take it away. factor: of what was drawn. after: what is done with
    it, which is done with the noisy answer instead, as long as answers are multiples of 10**-digits.
    """

    __array_ufunc__ = None
    __pandas_priority__ = 10_000

    def __init__(
        self, session: Session, call: Call, entries: Sequence[int], shape: tuple[int, ...] | None, base: Any = 0,
        use: Use | None = None, factor: Any = 1, after: Callable[[Any], Any] | None = None, digits: int | None = None,
    ) -> None:  # fmt: skip
        self.session, self.call, self.entries, self.shape, self.base = session, call, list(entries), shape, base
        self.use, self.factor, self.after, self.digits = use or Use(), factor, after, digits

    @property
    def result(self) -> Any:
        """What came of it, where that is no answer that it hides; None as long as it is not used."""
        if self.use.hides:
            said = f"the noise of {self.call.name} is used again after it was added to an answer: what is told of both takes it away"
            raise self.session.stopped(Breach("twice", said, place()))
        return None if self.use.result is None else self._done(self.use.result * self.factor)

    def _done(self, value: Any) -> Any:
        return value if self.after is None else self.after(value)

    # -- what it is used for ----------------------------------------------------------------------------------------------

    def added_to(self, answer: Any) -> Any:
        """The answer with this noise, as the test chooses it."""
        if self.result is not None:
            raise self.session.stopped(Breach("twice", f"the same noise of {self.call.name} is added twice", place()))
        if self.digits is not None and ((number := exact(answer)) is None or (number * 10**self.digits).denominator != 1):
            return self.resolved() + answer  # what is rounded alone is another thing than what is rounded with the answer
        found = self._done(self._given(answer))
        self.use.hides = True
        return found

    def _given(self, answer: Any) -> Any:
        if self.factor != 1:
            key = next((name for name in SCALES if name in self.call.mechanism), SCALES[0])  # only what has a scale is multiplied
            self.call.mechanism = {**self.call.mechanism, key: str(Fraction(self.call.mechanism[key]) * abs(self.factor))}
        numbers, _, rebuilt = entries_of(answer)
        if self.shape is None and len(numbers) != 1:
            said = (
                f"one noise of {self.call.name} is added to {len(numbers)} numbers: their differences are told exactly. Draw one for each"
            )
            raise self.session.stopped(Breach("twice", said, place()))
        if len(numbers) != len(self.entries):
            if len(numbers) != 1:
                raise ValueError(f"noise of {len(self.entries)} numbers is added to {len(numbers)}")
            numbers, rebuilt = numbers * len(self.entries), self.filled
        numbers = list(map(_number, numbers))
        kind = kind_of(self.call)
        outputs = [self.session.given(self.call, at, value + self.base, kind) for at, value in zip(self.entries, numbers, strict=True)]
        return rebuilt(outputs)

    def filled(self, outputs: Sequence[Any]) -> Any:
        """Outputs in the shape of the noise."""
        if self.shape is None:
            return outputs[0]
        import numpy as np

        return np.asarray(outputs).reshape(self.shape)

    def resolved(self) -> Any:
        """The noise by itself, as a number: the primitive was given nothing else."""
        if self.result is None:
            self.use.result = self._drawn()._given(0 if self.shape is None else [0] * len(self.entries))
        return self.result

    def _drawn(self) -> Draw:
        """What it is a multiple of."""
        return Draw(self.session, self.call, self.entries, self.shape, self.base, self.use)

    def __add__(self, answer: Any) -> Any:
        if isinstance(answer, Draw):
            said = "noise is added to noise, of which nothing is known together. Declare their sum: noise.of(dpverify.sum(...))"
            raise self.session.stopped(Breach("use", said, place()))
        return self.added_to(answer) if self.result is None else self.result + answer

    __radd__ = __add__

    def __rsub__(self, answer: Any) -> Any:
        if self.call.mechanism.get("name") in ONE_SIDED:
            raise self.session.stopped(Breach("use", f"{self.call.name} is not symmetric, and is taken away from an answer", place()))
        if self.digits is not None:
            return answer - self.resolved()
        return self.added_to(answer) if self.result is None else answer - self.result

    def __sub__(self, answer: Any) -> Any:
        return self.added_to(-answer) if self.result is None else self.result - answer

    def __mul__(self, factor: Any) -> Any:
        key = next((name for name in SCALES if name in self.call.mechanism), None)
        if (
            self.result is not None
            or self.after is not None
            or key is None
            or self.call.mechanism.get("name") in INTEGERS
            or len(self.entries) != len(self.call.values)
        ):
            return self.resolved() * factor
        number = exact(factor)
        if number is None or number == 0:
            raise self.session.stopped(Breach("value", f"noise is multiplied by {factor!r:.40}", place()))
        if number < 0 and self.call.mechanism.get("name") in ONE_SIDED:
            raise self.session.stopped(Breach("use", f"{self.call.name} is not symmetric, and is turned around", place()))
        return Draw(self.session, self.call, self.entries, self.shape, self.base, self.use, self.factor * number)

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Any:
        number = exact(factor)
        return self * (1 / number) if number else self.resolved() / factor

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def __len__(self) -> int:
        if self.shape is None:
            raise TypeError("noise of one number has no length")
        return self.shape[0]

    def __getitem__(self, at: Any) -> Any:
        if self.result is not None or self.shape is None or len(self.shape) != 1 or not isinstance(at, int):
            return self.resolved()[at]
        return Draw(self.session, self.call, [self.entries[at]], None, self.base)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.resolved(), name)

    def __float__(self) -> float:
        return float(self.resolved())

    def __int__(self) -> int:
        return int(self.resolved())

    def __bool__(self) -> bool:
        return bool(self.resolved())

    def __neg__(self) -> Any:
        found = self * -1
        return found if isinstance(found, Draw) or self.call.mechanism.get("name") in ONE_SIDED else -self.resolved()

    def __str__(self) -> str:
        return str(self.resolved())

    def __repr__(self) -> str:
        return repr(self.resolved())

    def __format__(self, form: str) -> str:
        return format(self.resolved(), form)

    def __mod__(self, other: Any) -> Any:
        return self.resolved() % other

    def __floordiv__(self, other: Any) -> Any:
        return self.resolved() // other

    def __pow__(self, other: Any) -> Any:
        return self.resolved() ** other

    def __abs__(self) -> Any:
        return abs(self.resolved())

    def __round__(self, *digits: int) -> Any:
        return self._stepped(lambda value: round(value, *digits), digits[0] if digits and digits[0] is not None else 0)

    def __floor__(self) -> Any:
        return self._stepped(math.floor, 0)

    def __ceil__(self) -> Any:
        return self._stepped(math.ceil, 0)

    def _stepped(self, step: Callable[[Any], Any], digits: int) -> Any:
        """What a step function makes of it: rounding commutes with adding what is round."""
        if self.shape is not None or self.result is not None or self.after is not None:
            return step(self.resolved())
        return Draw(self.session, self.call, self.entries, None, self.base, self.use, self.factor, step, digits)

    def as_float(self) -> Any:
        """What float() makes of it: noise that is a float, and still to be added."""
        return self._as(float)

    def as_int(self) -> Any:
        """What int() makes of it: the same where it is whole."""
        return self._as(int) if self.digits == 0 or (self.after is None and kind_of(self.call) == "integer") else int(self.resolved())

    def _as(self, kind: Callable[[Any], Any]) -> Any:
        if self.shape is not None or self.result is not None:
            return kind(self.resolved())
        before = self._done
        return Draw(
            self.session, self.call, self.entries, None, self.base, self.use, self.factor, lambda value: kind(before(value)), self.digits
        )

    def __lt__(self, other: Any) -> Any:
        return operator.lt(self.resolved(), other)

    def __le__(self, other: Any) -> Any:
        return operator.le(self.resolved(), other)

    def __gt__(self, other: Any) -> Any:
        return operator.gt(self.resolved(), other)

    def __ge__(self, other: Any) -> Any:
        return operator.ge(self.resolved(), other)

    def __eq__(self, other: object) -> Any:
        return operator.eq(self.resolved(), other)

    __hash__ = object.__hash__


def kind_of(call: Call) -> str:
    """What the outputs of additive noise are."""
    return "integer" if on_integers(call.mechanism) else "number"


def entries_of(value: Any) -> tuple[list[Any], Any, Callable[[Sequence[Any]], Any]]:
    """The numbers of a value, labels of them, and what makes a value of the same form of others."""
    if isinstance(value, Mapping):
        keys = list(value)
        return list(value.values()), keys, lambda outputs: dict(zip(keys, outputs, strict=True))
    if isinstance(value, list | tuple):
        return list(value), len(value), type(value)
    if hasattr(value, "index") and hasattr(value, "to_numpy") and hasattr(value, "name"):
        return list(value), list(value.index), lambda outputs: type(value)(list(outputs), index=value.index, name=value.name)
    if hasattr(value, "shape") and hasattr(value, "ravel") and value.shape:
        import numpy as np

        return value.ravel().tolist(), tuple(value.shape), lambda outputs: np.asarray(outputs).reshape(value.shape)
    return [value], None, lambda outputs: outputs[0]


class Noise:
    """What a pipeline gets as `noise`: a method for every mechanism that is known by name, and for selections.

    `noise.laplace(total, scale=50, sensitivity=100)` gives a noisy total; `total + noise.laplace(50)` is the same, of sensitivity 1 or what
    the replay is told. Of several numbers the sensitivity is of the vector: in l2 of Gaussian noise, in l1 of other.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        if name not in ADDITIVE:
            raise AttributeError(
                f"noise has no {name}. It has {', '.join(sorted(ADDITIVE))}, of, exponential, noisy_max, noisy_keys, above_threshold."
            )
        needed = [field.name for field in BUILTINS[name].fields if field.required]

        def call(*given: Any, sensitivity: Any = None, norm: str | None = None, size: Any = None, **parameters: Any) -> Any:
            left = [key for key in needed if key not in parameters]
            values, said = list(given), dict(parameters)
            if len(values) < len(left) or len(values) > len(left) + 1:
                wanted = ", ".join(f"{key}=..." for key in needed)
                raise SpecError(f"noise.{name}: write answer + noise.{name}({wanted}), or noise.{name}(answer, {wanted}).")
            said |= dict(zip(left, values[len(values) - len(left) :], strict=True))
            values = values[: len(values) - len(left)]
            table = {"kind": "builtin", "name": name, **{key: parameter(key, value) for key, value in said.items()}}
            return self._additive(table, values, sensitivity, norm, size)

        return call

    def of(self, mechanism: Any, *answer: Any, sensitivity: Any = None, norm: str | None = None) -> Any:
        """Additive noise of any declared mechanism."""
        table = table_of(mechanism)
        if table["kind"] not in KINDS or table.get("name", "laplace") not in ADDITIVE or not isinstance(table.get("norm", "l1"), str):
            raise SpecError(f"noise.of: {table.get('name', table['kind'])} is no noise that is added, in l1, l2 or the maximum norm.")
        return self._additive(table, list(answer), sensitivity, norm or table.get("norm"), None)

    def _additive(self, table: dict[str, Any], answer: list[Any], sensitivity: Any, norm: str | None, size: Any) -> Any:
        session = self._session
        norm = norm or ("l2" if table.get("name") in GAUSSIAN else "l1")
        sensitivity = session.stated(sensitivity)
        if not answer:
            shape = None if size is None else tuple(size) if isinstance(size, list | tuple) else (int(size),)
            count = 1
            for side in shape or ():
                count *= side
            call = session.opened(Call(table, sensitivity, norm, shape, [None] * count, [None] * count, place()))
            return Draw(session, call, range(count), shape)
        numbers, labels, rebuilt = entries_of(answer[0])
        call = session.opened(Call(table, sensitivity, norm, labels, [None] * len(numbers), [None] * len(numbers), place()))
        return rebuilt([session.given(call, at, _number(value), kind_of(call)) for at, value in enumerate(numbers)])

    # -- selections -------------------------------------------------------------------------------------------------------

    def noisy_max(self, answers: Any, *, noise: Any, sensitivity: Any = None, neighbours: str = "all") -> Any:
        """The index, or the key, of the greatest noisy answer."""
        table = {"kind": "noisy_max", "noise": table_of(noise), "neighbours": neighbours}
        return self._chosen(table, answers, sensitivity, neighbours)

    def exponential(self, scores: Any, *, beta: Any, sensitivity: Any = None, neighbours: str = "all") -> Any:
        """An index, or a key, drawn with probability proportional to exp(beta * score)."""
        table = {"kind": "exponential", "beta": parameter("beta", beta), "neighbours": neighbours}
        return self._chosen(table, scores, sensitivity, neighbours)

    def _chosen(self, table: dict[str, Any], answers: Any, sensitivity: Any, neighbours: str) -> Any:
        numbers, labels, _ = entries_of(answers)
        table["candidates"] = str(len(numbers))
        call = Call(
            table,
            self._session.stated(sensitivity),
            "linf",
            labels,
            list(map(_number, numbers)),
            [None],
            place(),
            monotone=neighbours == "monotone",
        )
        index = self._once(call, "index", len(numbers))
        return labels[index] if isinstance(labels, list) else index

    def noisy_keys(
        self, counts: Mapping[Any, Any], *, noise: Any, threshold: Any, keys: int = 1, sensitivity: Any = None
    ) -> dict[Any, Any]:
        """Keys whose noisy counts are at least the threshold, with these, in an order that says nothing of the data."""
        table = {"kind": "noisy_keys", "noise": table_of(noise), "threshold": parameter("threshold", threshold), "keys": str(keys)}
        session = self._session
        counts = {key: count for key, count in counts.items() if exact(count) != 0}
        before = session.before(len(session.trace.calls))
        there = before.keyed if before is not None and before.keyed is not None else {}
        every = sorted({*counts, *there}, key=repr)
        if before is not None and before.keyed is not None:
            before.values, before.labels = [_number(there.get(key, 0)) for key in every], every
        call = Call(
            table, session.stated(sensitivity), "linf", every, [_number(counts.get(key, 0)) for key in every], [None], place(), keys
        )
        call.keyed = dict(counts)
        told: dict[Any, Any] = self._once(call, "keys", (counts, threshold))
        if not told.keys() <= counts.keys():
            raise Unlikely  # what only one of two neighbours may tell is what delta is for
        return dict(told)

    def above_threshold(
        self, *, threshold: Any, threshold_noise: Any, query_noise: Any, positives: int = 1, sensitivity: Any = None
    ) -> Callable[[Any], bool]:
        """A function that says of one answer after the other whether its noisy value reaches the noisy threshold, until so many did."""
        session = self._session
        table = {
            "kind": "above_threshold", "threshold": parameter("threshold", threshold), "threshold_noise": table_of(threshold_noise),
            "query_noise": table_of(query_noise), "positives": str(positives),
        }  # fmt: skip
        call = session.opened(Call(table, session.stated(sensitivity), "linf", None, [], [], place(), growing=True))

        def asked(answer: Any) -> bool:
            if sum(map(bool, call.outputs)) >= positives:
                said = f"{call.name} is asked again after {positives} positive answers, all that it has"
                raise session.stopped(Breach("budget", said, place()))
            call.values.append(None)
            call.outputs.append(None)
            at = len(call.values) - 1
            before = session.before(call.at)
            if before is not None and at >= len(before.values):
                raise session.stopped(Breach("calls", f"{call.name} is asked more often on one input than on its neighbour", place()))
            return bool(session.given(call, at, _number(answer), "truth"))

        return asked

    def _once(self, call: Call, kind: str, given: Any) -> Any:
        """The one output of a call whose values are all known."""
        session, at = self._session, len(self._session.trace.calls)
        session.opened(call)
        call.outputs[0] = session.choose(kind, given, call) if session.other is None else session.other.calls[at].outputs[0]
        return call.outputs[0]


def _number(value: Any) -> Any:
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value

"""Does the true answer move by no more than was declared, and does the query behave? A search for inputs that show it does not.

What is found are two inputs, shrunk by Hypothesis, that anyone can try: no statistics. What is not found is not proved absent.

A move beyond the sensitivity by less than a billionth of it is left alone: it changes epsilon by no more than that. Of a greater one, exact
arithmetic on the same data says whose it is. Where the exact answers keep to the sensitivity and each answer is the float nearest to the
exact one, that is one rounding, and no fault. Where they keep to it and an answer is another float, the query's own sums round, which is a
violation of level float: sensitivities of sums in floats are greater than those of sums (Casacuberta, Shoemate, Vadhan & Wagaman 2022).
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpverify.audits.neighbours import RECORDS, draw, need_hypothesis, plain, replaced, strategy_of, without
from dpverify.audits.outputs import Outputs, exact_number, exact_vector
from dpverify.audits.places import shown_exactly
from dpverify.audits.traced import exact_answers
from dpverify.errors import AuditError
from dpverify.runtime.finding import FLOAT, MODEL

Array = np.ndarray[Any, np.dtype[Any]]
Pair = tuple[Any, Any]

RELATIVE: Final = 1e-9  # of the sensitivity: a move beyond it by less does no harm
NEIGHBOURLY: Final = 1e-12  # how far vectors that are made to be neighbours may be apart beyond 1, for rounding
SUMS: Final = 1e-12  # of the answers: about what sums round by where exact arithmetic cannot tell
EXAMPLES: Final = 32  # of a strategy, from which the adjacency is read where it is not stated
LARGE: Final = 1e15
TELLING: Final = (0.0, 1.0, -1.0, 0.5, 1e-300, 1e3, -1e9, 1e15)
SEQUENCES: Final = (list, tuple, np.ndarray)


@dataclass(frozen=True, slots=True)
class QueryFinding:
    """A fault of a query and the neighbouring inputs that show it.

    kind: "moved" (further than the sensitivity), "exception", "not finite", "length" (of the answer changes), "no numbers", "mutation"
    (of its input) or "nondeterministic". moved: the norm of the change, for "moved" alone. message: all of it in words.
    level: "float" where the move is one of rounding, "model" else.
    """

    kind: str
    x: Any
    x_prime: Any
    moved: float | None
    sensitivity: float
    message: str
    level: str = MODEL


@dataclass(frozen=True, slots=True)
class Searched:
    """What was searched: how many pairs of different data, of which adjacency, and the greatest move of the true answer among them.

    adjacency: None where only given pairs were tried. assumed: why it was taken, where it is not stated.
    """

    finding: QueryFinding | None
    pairs: int
    adjacency: str | None
    assumed: str
    largest: float
    sensitivity: float

    def text(self) -> str:
        """All of it in words."""
        if not self.pairs:
            return (
                "query: no neighbours could be made of these data, so only the query's conduct was looked at. "
                "Give pairs, or let the strategy give pairs (data, data')."
            )
        how = f"of adjacency {self.adjacency}" if self.adjacency else "as given"
        assumed = f" ({self.assumed})" if self.assumed else ""
        return (
            f"query: {self.pairs} pair{'s' * (self.pairs > 1)} of neighbours {how}{assumed} tried; "
            f"the true answer moved by at most {self.largest:.6g}, declared {self.sensitivity:.6g}"
        )


def search_sensitivity(
    query: Callable[[Any], Any],
    *,
    strategy: Any = None,
    pairs: Sequence[Pair] = (),
    sensitivity: float,
    norm: Callable[[Array], float],
    adjacency: str | None,
    length: int,
    seed: int,
    examples: int = 500,
) -> Searched:
    """Neighbouring data on which the query's answers differ by more than the sensitivity in `norm`, or on which it misbehaves, if any.

    strategy: a Hypothesis strategy of data or of pairs (data, data') (tuples of length 2). pairs: neighbours known to the user; without a
    strategy they also show what data look like, else lists of numbers are tried. adjacency: "add-remove" or "replace" of a record in a list
    or in the rows of an array (or of a count, where `pairs` show histograms), or "l1", "l2", "linf" for vectors at distance at most 1;
    None: with a strategy, "replace" where all its data have one length, else "add-remove"; without one, only the given pairs are
    neighbours, and other data show conduct alone. length: of the longest data tried, and of all data for
    "replace", whose size is public. No data without records are tried. The same answer for the same seed.
    Raises AuditError for an unknown adjacency, and where no data can be made on which the query runs.
    """
    if adjacency not in (None, *RECORDS, "l1", "l2", "linf"):
        raise AuditError(f'adjacency = {adjacency!r}: not one of "add-remove", "replace", "l1", "l2", "linf".')

    assumed = ""
    if adjacency is None and strategy is not None:
        adjacency, assumed = _assumed(strategy, seed)
    elif adjacency is None and pairs:
        assumed = "no others, for no adjacency is stated"
    tried: set[str] = set()
    largest = 0.0
    floating = False

    def judge(pair: Pair, level: str) -> QueryFinding | None:
        nonlocal largest, floating
        key = tuple(map(repr, map(plain, pair)))
        finding, moved = _judge(query, pair, sensitivity, norm)
        if key[0] != key[1]:
            tried.add(str(key))
            largest = max(largest, moved)
        floating |= finding is not None and finding.level == FLOAT
        return finding if finding is not None and finding.level == level else None

    def hunted(level: str) -> QueryFinding | None:
        shown: list[QueryFinding] = []

        def faulty(pair: Pair) -> bool:
            """Whether a pair shows a fault, once one has been found: the same fault, so that shrinking keeps to it."""
            finding = judge(pair, level)
            if finding is None or (shown and finding.kind != shown[0].kind):
                return False
            shown.append(finding)
            return True

        if searched is not None:
            from hypothesis import HealthCheck, Phase, errors, find, settings

            quiet = settings(
                max_examples=examples,
                database=None,
                deadline=None,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
            )
            try:
                return judge(find(searched, faulty, settings=quiet, random=random.Random(seed)), level) or shown[-1]
            except (errors.NoSuchExample, errors.Unsatisfiable):  # none, or a strategy that gave no pair: how many it gave is told
                pass
            except errors.Flaky:  # the query answers differently from call to call
                return shown[-1]
        return next((finding for pair in pairs if (finding := judge(pair, level)) is not None), None)

    searched = _strategy(query, strategy, pairs, adjacency, length)
    finding = hunted(MODEL)
    if finding is None and floating:
        finding = hunted(FLOAT)
    if finding is not None and finding.kind == "moved" and assumed and strategy is not None:
        finding = replace(finding, message=f"{finding.message} They are neighbours by adjacency {adjacency}, {assumed}.")
    return Searched(finding, len(tried), adjacency if searched is not None else None, assumed, largest, sensitivity)


def _assumed(strategy: Any, seed: int) -> tuple[str | None, str]:
    """The adjacency of data of a strategy where none is stated, and why; None where the strategy gives pairs, or no records."""
    data = draw(strategy_of(strategy), seed, EXAMPLES)
    if any(isinstance(datum, tuple) and len(datum) == 2 for datum in data) or not all(isinstance(datum, SEQUENCES) for datum in data):
        return None, ""
    way_out = 'State adjacency = "add-remove", "replace", "l1", "l2" or "linf" if others are meant'
    if len({len(datum) for datum in data}) == 1:
        return "replace", f"taken because none is stated and all data have the same size. {way_out}"
    return "add-remove", f"taken because none is stated and data differ in size. {way_out}"


# -- judging a pair --------------------------------------------------------------------------------


class _Fault(Exception):
    """A fault of conduct: its kind, and what happened on which data."""


def _judge(
    query: Callable[[Any], Any], pair: Pair, sensitivity: float, norm: Callable[[Array], float]
) -> tuple[QueryFinding | None, float]:
    """What is wrong on a pair, None for nothing; and how far the true answer moves."""
    x, x_prime = pair
    try:
        answer, other = _answer(query, x), _answer(query, x_prime)
        if answer.shape != other.shape:
            text = f"gives {answer.size} numbers on {x!r} and {other.size} on {x_prime!r}: their number tells the data apart."
            raise _Fault("length", text)
    except _Fault as fault:
        kind, text = fault.args
        return QueryFinding(kind, x, x_prime, None, sensitivity, f"The query {text}"), 0.0
    moved = float(norm(_less(answer, other)))
    if moved <= sensitivity * (1 + RELATIVE):
        return None, moved
    text = f"The query answers {_show(answer)} on {x!r} and {_show(other)} on its neighbour {x_prime!r}"
    text += f": a move of {moved:.10g}, declared {sensitivity:.10g}."
    exactly = [exact_answers(query, copy.deepcopy(datum)) for datum in pair]
    one, two = (None if answers is None else np.array(answers, object) for answers in exactly)
    known = one is not None and two is not None and one.shape == two.shape == answer.shape
    if known and one is not None and two is not None and float(norm(_less(one, two))) <= sensitivity * (1 + RELATIVE):
        if _rounded_once(one, answer) and _rounded_once(two, other):
            return None, moved
        text += (
            f" In exact arithmetic the same data move it by {float(norm(_less(one, two))):.10g}: the rest is rounding of its sums. "
            "Add integers, or take math.fsum, or declare how far the sum of floats moves."
        )
        return QueryFinding("moved", x, x_prime, moved, sensitivity, text, FLOAT), moved
    level, near = MODEL, SUMS * float(np.abs(np.concatenate([answer, other]).astype(np.float64)).max(initial=0.0))
    if moved <= sensitivity + near and _in_floats(query, x):
        level = FLOAT
        text += " So little may be rounding: the query computes with floats in a way that exact arithmetic could not follow."
    return QueryFinding("moved", x, x_prime, moved, sensitivity, text, level), moved


def _in_floats(query: Callable[[Any], Any], data: Any) -> bool:
    """Whether the query answers in floats, which may have been rounded on the way; integers have not."""
    leaves = np.asarray(query(copy.deepcopy(data)), object).reshape(-1).tolist()
    return any(isinstance(leaf, (float, np.floating)) for leaf in leaves)


def _less(answer: Array, other: Array) -> Array:
    """The difference, each number of it the float that is nearest."""
    exact, start = (np.array([exact_number(value) for value in side.tolist()], object) for side in (answer, other))
    return np.asarray(Outputs(np.zeros((1, len(exact))), exact=exact[None, :]).less(start).numbers[0], np.float64)


def _rounded_once(exact: Array, answer: Array) -> bool:
    """Whether each answer is the float nearest to the exact one."""
    return all(float(value) == float(given) for value, given in zip(exact, answer.tolist(), strict=True))


def _answer(query: Callable[[Any], Any], data: Any) -> Array:
    """The query's answer as a vector of exact numbers. Raises _Fault for any misconduct."""
    kept = copy.deepcopy(data)
    try:
        first = copy.deepcopy(query(data))
    except Exception as error:
        raise _Fault("exception", f"raises {type(error).__name__}: {error} on {kept!r}.") from error
    if not _same(data, kept):
        changed = copy.deepcopy(data)
        _restore(data, kept)
        raise _Fault("mutation", f"changes its input: {kept!r} became {changed!r}. Let it work on a copy.")
    try:
        second = query(copy.deepcopy(kept))
    except Exception as error:
        text = f"answers {first!r} on {kept!r}, and raises {type(error).__name__}: {error} when asked again."
        raise _Fault("nondeterministic", text) from error
    if not _same(first, second):
        raise _Fault("nondeterministic", f"answers {first!r} and then {second!r} on the same data {kept!r}: a true answer has no noise.")
    try:
        numbers = exact_vector(first)
    except (TypeError, ValueError) as error:
        raise _Fault("no numbers", f"answers {first!r} on {kept!r}, which is no number and no vector of numbers.") from error
    if not all(isinstance(value, Fraction) or math.isfinite(value) for value in numbers.tolist() if not isinstance(value, int)):
        raise _Fault("not finite", f"answers {first!r} on {kept!r}: not a finite number.")
    return numbers


def _same(a: Any, b: Any) -> bool:
    """Equality that looks into containers and takes nan for equal to itself."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype and all(map(_same, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return type(a) is type(b) and a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(a == b) or (a != a and b != b)


def _restore(data: Any, kept: Any) -> None:
    """Give mutated data their value back: they are part of the finding, and other examples may share them."""
    if isinstance(data, np.ndarray):
        data[...] = kept
    elif isinstance(data, list):
        data[:] = kept
    elif isinstance(data, dict):
        data.clear()
        data.update(kept)


def _show(answer: Array) -> str:
    shown = [repr(value) if isinstance(value, float) else shown_exactly(value) for value in answer.tolist()]
    return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"


# -- what to try -----------------------------------------------------------------------------------


def _strategy(query: Callable[[Any], Any], strategy: Any, pairs: Sequence[Pair], adjacency: str | None, length: int) -> Any:
    """A strategy of pairs to search; None where the given pairs are all that may be tried."""
    if strategy is None and pairs and adjacency is None:
        return None
    need_hypothesis()
    from hypothesis import strategies as st

    kind = adjacency
    if strategy is not None:
        data = strategy_of(strategy)
    else:
        kind = f"{adjacency} of counts" if _histograms(pairs, adjacency) else adjacency
        data = _data(query, [datum for pair in pairs for datum in pair], kind, length)

    @st.composite
    def paired(pick: Any) -> Pair:
        datum = pick(data)
        if strategy is not None and isinstance(datum, tuple) and len(datum) == 2:
            return datum
        return _neighbours(pick, datum, data, kind)

    return paired()


def _neighbours(pick: Any, datum: Any, data: Any, kind: str | None) -> Pair:
    """A pair of neighbours made from a datum; twice the datum where it has none, which shows conduct alone."""
    from hypothesis import assume
    from hypothesis import strategies as st

    if kind is None or not isinstance(datum, SEQUENCES) or not len(datum):
        return datum, copy.deepcopy(datum)
    place = pick(st.integers(0, len(datum) - 1))
    if kind == "add-remove":
        assume(len(datum) > 1)
        return datum, without(datum, place)
    if kind == "replace":
        other = pick(data.filter(len))
        return datum, replaced(datum, place, other[pick(st.integers(0, len(other) - 1))])
    if kind == "add-remove of counts":
        return datum, replaced(datum, place, datum[place] + 1)
    if kind == "replace of counts":
        target = pick(st.integers(0, len(datum) - 1))
        return replaced(datum, place, datum[place] + 1), replaced(datum, target, datum[target] + 1)
    vector = np.asarray(datum)
    order = {"l1": 1, "l2": 2, "linf": np.inf}[kind]
    move = np.array(pick(st.lists(st.integers(-4, 4), min_size=len(vector), max_size=len(vector)).filter(any)))
    if vector.dtype.kind in "iu":  # whole counts move by whole counts
        move = np.sign(move) if kind == "linf" else np.sign(move) * (np.arange(len(move)) == np.argmax(np.abs(move)))
        moved = vector + move
    else:
        moved = vector + move / np.linalg.norm(move, order)
    assume(np.linalg.norm(moved - vector, order) <= 1 + NEIGHBOURLY)
    return datum, moved if isinstance(datum, np.ndarray) else type(datum)(moved.tolist())


def _histograms(pairs: Sequence[Pair], adjacency: str | None) -> bool:
    """Whether data are counts of records by type: neighbours of equal length though a record came, or that differ in two counts by 1."""
    if not pairs or adjacency not in RECORDS:
        return False
    try:
        moves = [np.asarray(x_prime, dtype=float) - np.asarray(x, dtype=float) for x, x_prime in pairs if len(x) == len(x_prime)]
    except (TypeError, ValueError):
        return False
    wanted = [1.0] if adjacency == "add-remove" else [-1.0, 1.0]
    signed = [sorted(move[move != 0].tolist()) for move in moves if move.ndim == 1]
    return len(signed) == len(pairs) and all(histogram in (wanted, [-value for value in reversed(wanted)]) for histogram in signed)


def _data(query: Callable[[Any], Any], shown: Sequence[Any], kind: str | None, length: int) -> Any:
    """A strategy of data that look like those shown; with none shown, of the first form on which the query runs."""
    from hypothesis import strategies as st

    vectors = kind not in RECORDS
    bound = 1e4 if vectors else LARGE  # a vector moves by 1, which must not drown in rounding
    if shown:
        if not all(isinstance(datum, SEQUENCES) for datum in shown):
            return st.sampled_from(list(shown)).map(copy.deepcopy)
        lengths = [len(datum) for datum in shown]
        sizes = (1, max(length, *lengths)) if kind == "add-remove" else (max(min(lengths), 1), max(*lengths, 1))
        return _container(shown[0], _records([record for datum in shown for record in datum], bound), *sizes)
    sizes = (1 if kind == "add-remove" else length, length)
    forms: tuple[Any, ...] = ([0.0, 1.0], np.array([0.0, 1.0]), [2, 1], [[0.0, 1.0], [1.0, 0.0]], np.eye(2))
    for form in forms[:2] if vectors else forms:
        sample = [form[i % 2] for i in range(length)]
        try:
            query(np.array(sample) if isinstance(form, np.ndarray) else copy.deepcopy(sample))
        except Exception:  # the next form may be the right one; if none is, the error below says so
            continue
        return _container(form, _records(list(form), bound), *sizes)
    raise AuditError(
        f"the query {getattr(query, '__name__', query)!r} runs neither on lists nor on arrays of numbers or rows. "
        "Show what its data are: give pairs, or patterns = a Hypothesis strategy."
    )


def _container(form: Any, records: Any, shortest: int, longest: int) -> Any:
    """Lists, tuples or arrays of records, as `form` is."""
    from hypothesis import strategies as st

    if isinstance(form, np.ndarray) and form.dtype.kind in "iu":
        low, high = int(np.iinfo(form.dtype).min), int(np.iinfo(form.dtype).max)
        records = records.filter(lambda record: all(low <= value <= high for value in np.ravel(record).tolist()))
    lists = st.lists(records, min_size=shortest, max_size=longest)
    if isinstance(form, np.ndarray):
        return lists.map(lambda values: np.array(values, dtype=form.dtype))
    return lists if isinstance(form, list) else lists.map(type(form))


def _records(seen: Sequence[Any], bound: float) -> Any:
    """Records of the type of those seen: numbers up to `bound` of either sign, rows of them, or else the very ones that were seen.

    Integers that are all 0 or 1 are taken for answers of yes or no.
    """
    from hypothesis import strategies as st

    if not seen:
        return st.floats(-bound, bound)
    if all(isinstance(record, (bool, np.bool_)) for record in seen):
        return st.booleans()
    if all(isinstance(record, (int, np.integer)) for record in seen):
        return st.integers(0, 1) if {int(record) for record in seen} <= {0, 1} else st.integers(-int(bound), int(bound))
    if all(isinstance(record, (int, float, np.number)) for record in seen):
        return st.floats(-bound, bound) | st.sampled_from([value for value in TELLING if abs(value) <= bound])
    if all(isinstance(record, SEQUENCES) for record in seen) and len({len(record) for record in seen}) == 1 and len(seen[0]):
        columns = st.tuples(*(_records([record[i] for record in seen], bound) for i in range(len(seen[0]))))
        if isinstance(seen[0], np.ndarray):
            return columns.map(lambda values: np.array(values, dtype=seen[0].dtype))
        return columns.map(list) if isinstance(seen[0], list) else columns
    return st.sampled_from(list(seen)).map(copy.deepcopy)

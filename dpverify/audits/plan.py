"""What an audit asks: the claimed curve, the neighbouring inputs, and what the declaration knows of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.audits.declared import Declared, compared_pairs, declared, may_be_neighbours, require_both_orders
from dpverify.audits.declared.counterparts import of_space
from dpverify.audits.declared.curves import float_up, proved_curve
from dpverify.audits.declared.keys import KeysLaw
from dpverify.audits.floats import float_pairs
from dpverify.audits.neighbours import plain, strategy_pairs, usual_patterns
from dpverify.audits.outputs import Outputs, exact_number, exact_vector
from dpverify.audits.partition import CurvePoint
from dpverify.audits.target import show
from dpverify.errors import AuditError
from dpverify.search.decimals import decimal_bounds
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, symbols
from dpverify.trusted.kernel.model import Claim, Space

Array = np.ndarray[Any, np.dtype[np.float64]]
CONTINUOUS = ("line", "radial", "product")
ADDITIVE = ("integers", *CONTINUOUS)
FAR = 2.0**40  # integers beyond it are counted from the true answer
STRATEGY_PAIRS = 16
MOST_EPSILON = 700  # its exponential is about the largest float


@dataclass(frozen=True, slots=True)
class Pair:
    """Neighbouring inputs.

    answers: the true answers on them, where they are known and differ. origin: an exact point that the answers, and outputs, are counted
    from, where floats do not tell the answers apart; None for 0.
    """

    name: str
    left: Any
    right: Any
    answers: tuple[Array, Array] | None = None
    origin: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an audit asks: does the sampler keep to `curve` on `pairs`, and is it the declared density?

    curve: the claimed point first, where it is one, then points that the declared mechanism is proved to keep to. epsilon: as claimed,
    None where the whole curve of the declared mechanism is claimed. delta: the one at which epsilon is bounded.
    float_pairs: further neighbours on which only the floating-point testers look.
    """

    curve: tuple[CurvePoint, ...]
    epsilon: float | None
    delta: float
    pairs: tuple[Pair, ...]
    float_pairs: tuple[Pair, ...] = ()
    declared: Declared | None = None


def make_plan(
    claim: Claim,
    *,
    pairs: Sequence[Sequence[Any]] | None = None,
    patterns: Any = None,
    length: int | None = None,
    query: Callable[[Any], Any] | None = None,
    seed: int = 0,
) -> Plan:
    """The plan of an audit of `claim`.

    pairs: neighbouring inputs (data, data'). patterns: "usual" (with length) or a Hypothesis strategy of data. With neither, the
    pairs that the declaration makes worst. query: from data to the true answer; without it, data is the vector of true answers.
    Raises AuditError where the claim has no numbers to audit against or no inputs to run on.
    """
    if claim.domains:
        names = ", ".join(name for name, _ in claim.domains)
        raise AuditError(f"{_named(claim)}: {names} ranges over a domain, and a sampler has one value. Give {names} a value.")
    if claim.measure is not None or claim.order:
        raise AuditError(
            f"{_named(claim)}: an audit looks at both orders of two neighbours, for an epsilon and a delta. Audit a claim of these; "
            "what its measure or its order says, `dpverify verify` judges."
        )
    require_both_orders(claim)
    if isinstance(claim.mechanism, Space):
        claim = of_space(claim)
    density = declared(claim)
    if isinstance(density, KeysLaw) and query is None and not all(map(_of_counts, pairs or ())):
        density = None  # rows, which the sampler counts by key itself
    curve, epsilon, delta = _curve(claim, density)
    if not any(point.epsilon < MOST_EPSILON and point.delta < 1 for point in curve):
        raise AuditError(f"{_named(claim)}: no sampler breaks a claim of epsilon {MOST_EPSILON} or more, or of delta 1. Claim less.")
    chosen = _given(claim, density, pairs, patterns, length, query, seed)
    extra: tuple[Pair, ...] = ()
    if not chosen and density is None and query is None:
        chosen = [Pair(f"worst pair {i}", *pair) for i, pair in enumerate(compared_pairs(claim), 1)]
    if not chosen:
        if density is None:
            raise AuditError(f'{_named(claim)}: without a declared density, say on which inputs: pairs, or patterns = "usual" with length.')
        if query is not None:
            raise AuditError(f"{_named(claim)}: the worst answers are known, but not which data have them: give pairs or patterns of data.")
        worst = [(a, b) for a, b in density.worst_pairs() if (a != b).any()]
        if not worst:
            raise AuditError(
                f"{_named(claim)}: its sensitivity moves no answer, so that there is nothing to audit. Correct it, or give pairs."
            )
        chosen = [Pair(f"worst pair {i}", *pair, answers=pair) for i, pair in enumerate(worst, 1)]
        if density.kind in CONTINUOUS:
            step = float(np.abs(worst[0][1] - worst[0][0]).max())
            tried = float_pairs(step, density.dimension, density.neighbours)
            fresh = [pair for pair in tried if not _known(pair, chosen)]
            extra = tuple(Pair(f"floating-point pair {i}", *pair, answers=pair) for i, pair in enumerate(fresh, 1))
    return Plan(curve, epsilon, delta, tuple(chosen), extra, density)


def _of_counts(pair: Sequence[Any]) -> bool:
    """Whether two inputs are as many numbers, as the counts of two neighbours by key are."""
    try:
        left, right = map(exact_vector, pair)
    except (TypeError, ValueError):
        return False
    return bool(left.shape == right.shape)


def claimed_point(claim: Claim) -> tuple[float, float]:
    """The epsilon (nats) and the delta of a claim, a "tight" one as it is proved.

    Raises AuditError where the claim is no such point, or no number is known for it.
    """
    if claim.domains or claim.measure is not None or claim.order:
        raise AuditError(f"{_named(claim)}: a training is audited against one epsilon and one delta, in both orders. Claim these.")
    require_both_orders(claim)
    known = [None if each is None else number_up(each) for each in (claim.epsilon, claim.delta)]
    if None in known:
        upper = verify(claim).judgement.upper
        if known == [None, None] or upper is None or isinstance(upper, Infinite) or symbols(upper):
            raise AuditError(f"{_named(claim)}: a training is audited against one epsilon and one delta. Claim numbers.")
        known = [number_up(upper) if each is None else each for each in known]
    epsilon, delta = known
    assert epsilon is not None and delta is not None
    return epsilon, delta


def number_up(expr: Expr) -> float:
    """A constant as a float that is not below it."""
    return float_up(decimal_bounds(expr, 17)[1])


def _named(claim: Claim) -> str:
    return f"claim {claim.name!r}" if claim.name else "the claim"


def _curve(claim: Claim, density: Declared | None) -> tuple[tuple[CurvePoint, ...], float | None, float]:
    """The claimed curve, the claimed epsilon and the delta that the lower bound on epsilon is for."""
    if claim.epsilon is not None and claim.delta is not None:
        point = CurvePoint(number_up(claim.epsilon), number_up(claim.delta))
        known = point.delta == 0 or (density is not None and density.curve() is not None)
        return (point, *(() if known else proved_curve(claim) or ())), point.epsilon, point.delta
    if claim.delta is not None and number_up(claim.delta) == 0:
        upper = verify(claim).judgement.upper
        if upper is None or isinstance(upper, Infinite) or symbols(upper):
            raise AuditError(f'{_named(claim)}: epsilon = "tight", and no finite epsilon is known for it. Claim a number.')
        try:
            epsilon = number_up(upper)
        except Undecided as error:
            raise AuditError(f'{_named(claim)}: epsilon = "tight" cannot be written as a number: {error}. Claim one.') from error
        return (CurvePoint(epsilon),), epsilon, 0.0
    curve = (density.curve() if density is not None else None) or proved_curve(claim)
    if not curve:
        raise AuditError(f'{_named(claim)}: "tight" with delta > 0 needs the declared curve, which is not known. Claim numbers.')
    if claim.epsilon is None:
        return curve, None, 0.0 if claim.delta is None else number_up(claim.delta)
    point = CurvePoint(number_up(claim.epsilon), _delta_at(curve, number_up(claim.epsilon)))
    return (*curve, point), point.epsilon, point.delta


def _delta_at(curve: Sequence[CurvePoint], epsilon: float) -> float:
    """A delta that is not below the curve's: by its chords, for delta is convex in e^epsilon and falls."""
    points = sorted(curve, key=lambda point: point.epsilon)
    if epsilon < points[0].epsilon:
        return 1.0
    odds, deltas = np.exp([point.epsilon for point in points]), [point.delta for point in points]
    chord = float(np.interp(np.exp(min(epsilon, 700.0)), odds, deltas))
    return min(chord * (1 + 1e-12), 1.0)


def _given(
    claim: Claim,
    density: Declared | None,
    pairs: Sequence[Sequence[Any]] | None,
    patterns: Any,
    length: int | None,
    query: Callable[[Any], Any] | None,
    seed: int,
) -> list[Pair]:
    """The pairs that the user gives, with their true answers where these are known."""
    raw = [(f"pair {i}", *_two(claim, pair)) for i, pair in enumerate(pairs or (), 1)]
    for name, left, right in raw:
        if repr(plain(left)) == repr(plain(right)):
            raise AuditError(f"{_named(claim)}, {name}: both inputs are {show(left)}, between which nothing can differ. Give neighbours.")
    step = 1.0 if claim.sensitivity is None else number_up(claim.sensitivity)
    if patterns == "usual":
        if length is None:
            raise AuditError(f'{_named(claim)}: patterns = "usual" needs length, the number of answers.')
        raw += [(pair.name, pair.left, pair.right) for pair in usual_patterns(length, step)]
    elif patterns is not None:
        raw += [(pair.name, pair.left, pair.right) for pair in strategy_pairs(patterns, None, step, seed, STRATEGY_PAIRS)]
    given_pairs = []
    for name, left, right in raw:
        try:
            answers, origin = _answers(left, right, density, query)
        except AuditError as error:
            raise AuditError(f"{_named(claim)}, {name}: {error}") from error
        if density is None and query is None and answers is not None and not may_be_neighbours(claim, *answers):
            if patterns is not None:
                continue
            raise AuditError(f"{_named(claim)}, {name}: {_without_query(left, right, 'they are no neighbours of this claim')}")
        if answers is not None and density is not None and not density.neighbours(*answers):
            if query is None and patterns is not None:
                continue  # the patterns move all coordinates; only those within the sensitivity are neighbours here
            if query is None:
                width = len(answers[0])
                wrong = (
                    "they are further apart than the sensitivity" if width == density.dimension
                    else f"they are {_numbers(width)}, and the mechanism that is declared answers with {_numbers(density.dimension)}"
                )  # fmt: skip
                raise AuditError(f"{_named(claim)}, {name}: {_without_query(left, right, wrong)}")
            answers = None  # the query moves by more than was declared: that is a finding of its own, and the pair is run as it is
        given_pairs.append(Pair(name, left, right, answers, None if answers is None else origin))
    if raw and not given_pairs:
        wanted = "" if density is None else f" of {density.dimension} answer{'' if density.dimension == 1 else 's'}"
        raise AuditError(
            f"{_named(claim)}: none of the patterns is a pair of neighbours{wanted} at this sensitivity. Give pairs, or a query from data "
            "to the true answer."
        )
    return given_pairs


def _without_query(left: Any, right: Any, wrong: str) -> str:
    """What is wrong with data that are taken for true answers, and what is missing where they are none."""
    return (
        f"no query is named, so that {show(left)} and {show(right)} are taken for the true answers: {wrong}. If they are rows, name the "
        'function from rows to the true answer: query = "module:function" in [audit], query=function in Python. '
        "Else give true answers of neighbours."
    )


def _numbers(count: int) -> str:
    """So many numbers in words."""
    return f"{count} number{'' if count == 1 else 's'}"


def _two(claim: Claim, pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str | bytes) or len(pair) != 2:
        raise AuditError(f"{_named(claim)}: pairs has {show(pair)}, which is no pair of inputs. One pair alone is [[data, data']].")
    return pair[0], pair[1]


def _answers(
    left: Any, right: Any, density: Declared | None, query: Callable[[Any], Any] | None
) -> tuple[tuple[Array, Array] | None, np.ndarray[Any, Any] | None]:
    """The true answers on both inputs as vectors, and what they are counted from; None where they are not vectors of numbers, or equal."""
    try:
        a, b = (exact_vector(query(data) if query else data) for data in (left, right))
    except (TypeError, ValueError) as error:
        if density is None:
            return None, None
        if query is None:
            raise AuditError(_without_query(left, right, f"they are not vectors of numbers ({error})")) from error
        raise AuditError(
            f"the query gives no vectors of numbers on {show(left)} and {show(right)}: {error}. Let it return a number, or a list of them."
        ) from error
    if a.shape != b.shape and density is not None:
        if query is None:
            raise AuditError(_without_query(left, right, f"they are {len(a)} and {len(b)} numbers, of which neighbours have as many"))
        raise AuditError(
            f"the query gives {_numbers(len(a))} on {show(left)} and {len(b)} on {show(right)}, of which neighbours have as many. "
            "Give inputs on which it has as many answers, or correct it."
        )
    if a.shape != b.shape or (a == b).all():
        return None, None
    if density is not None and density.kind in ADDITIVE and (a.dtype == b.dtype == object or a.dtype != b.dtype or _far(density, a, b)):
        start, end = (np.array([exact_number(value) for value in side.tolist()], object) for side in (a, b))
        if any(isinstance(value, float) for value in (*start, *end)):
            return None, None
        change = Outputs(np.zeros((1, len(end))), exact=end[None, :]).less(start).numbers[0]
        return (np.zeros(len(end)), change), start
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (None if not (np.isfinite(a).all() and np.isfinite(b).all()) or (a == b).all() else (a, b)), None


def _far(density: Declared, a: Array, b: Array) -> bool:
    """Whether integers near these answers need more than floats."""
    both = np.concatenate([a, b])
    return density.kind == "integers" and bool(np.abs(both).max() > FAR and (both == np.rint(both)).all())


def _known(pair: tuple[Array, Array], samples: Sequence[Pair]) -> bool:
    return any(other.answers is not None and other.origin is None and all(map(np.array_equal, pair, other.answers)) for other in samples)

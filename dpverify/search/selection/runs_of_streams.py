"""Proposes runs of a stream that lose much, with the weights of their comparisons: a linear program for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, permutations, product
from typing import Any, Final

from flint import fmpq, fmpq_mat

from dpverify.search import counterexample
from dpverify.search.proposal import Steps
from dpverify.search.selection.stream_routes import Legs, run
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.combinators.streams import FAMILIES, Form, Step, start_of, step_of, vertices
from dpverify.trusted.combinators.sums import support
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, format_expr, mul, num, substitute
from dpverify.trusted.kernel.model import Claim, OnLine, Stream, Vector, names_of, on_integers
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.compared import Asked, Value, asked, slopes
from dpverify.trusted.theories.selection.followed import may_fail
from dpverify.trusted.theories.selection.rules import alignment, worst_run

LONGEST: Final = 48
"""The most steps of a run that is looked at."""
_FARTHEST: Final = 600
"""The same where a counter counts further than that."""
_ROOM: Final = 5
"""How many steps there are for each that is counted."""
_RUNS: Final = 300
"""The most runs that are looked at."""
_REPEATED: Final = 80
_SHORT: Final = 4
"""The longest run of which steps are repeated."""
_DEAR: Final = 6
_BLOCKS: Final = 60
"""Runs in blocks that are looked at before all others."""
_COUNTED: Final = 5
"""The most steps that count of a run that fills a counter."""
_FULLEST: Final = 12
_WALKS: Final = 16
"""The longest run that follows the numbers of the state, of which there are at most so many of each length, and in which of the first
steps an answer moves."""
_WALKED: Final = 4
_FIRST: Final = 3
_MORE: Final = (1, 2, 4, 8, 16, LONGEST)
_POINTS: Final = 12
_SMALL: Final = 1e-9

Noise = tuple[str, int]
Used = tuple[int, Vector]
"""A branch, and how answers move there."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A form in noises and answers of the run, by name and step, and what it is beside."""

    of: Mapping[Noise, Fraction]
    rest: Expr


@dataclass(frozen=True, slots=True)
class Kept:
    """A comparison of a run, turned so that it is at least 0, or what is told. settled: whether no noise and no move changes it."""

    form: Affine
    told: bool
    settled: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """What all runs of a stream share: its branches as forms, and the slopes of its noises, exactly and in floats."""

    question: Asked
    stream: Stream
    steps: Sequence[Step]
    ends: Mapping[str, tuple[Value, Value]]
    steep: Mapping[str, tuple[float, float]]


def ground_of(question: Asked) -> Ground:
    """A stream as a rule is asked about it. Raises Rejected where its noises are not log-concave."""
    stream = question.claim.mechanism
    assert isinstance(stream, Stream)
    ends = {drawn.name: slopes(question, drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    steep = {name: (_value(left, {}), _value(right, {})) for name, (left, right) in ends.items()}
    return Ground(question, stream, [step_of(stream, branch) for branch in stream.steps], ends, steep)


def propose(claim: Claim, pointed: Sequence[Sequence[Used]], dear: Sequence[Legs], above: Steps) -> Iterator[dict[str, Any]]:
    """The lower bound by the worst run that was found; where it refutes, at values of the parameters that break the claim.

    pointed: branches and moves that hold the cost of an alignment up, of each family. dear: ways through its modes. above: upper bounds.
    """
    unclaimed = replace(claim, epsilon=None, delta=None, name="", mechanism_name="")
    for point in islice(_points(claim), _POINTS):
        at = {name: str(value.value) for name, value in point.items() if isinstance(value, Num)}
        here = fixed(unclaimed, {"at": at}, worst_run.NAME)[0] if at else unclaimed
        goal = min((_value(bound, point) for bound in _above(unclaimed, above)), default=math.inf)
        found = _worst(here, tuple(map(tuple, pointed)), tuple(dear), goal)
        if found is None:
            continue
        evidence, value = found
        if claim.epsilon is None or not claim.domains or _breaks(claim, point, value):
            yield {"rule": worst_run.NAME, "evidence": {"side": "lower", **({"at": at} if at else {}), **evidence}}
            return


def _points(claim: Claim) -> Iterator[dict[str, Expr]]:
    return counterexample.points(dict(claim.domains)) if claim.domains else iter([{}])


def _above(claim: Claim, steps: Steps) -> list[Value]:
    return [alignment.infer(claim, step["evidence"], ()).value for step in steps]


def _value(value: Value, point: Mapping[str, Expr]) -> float:
    return math.inf if isinstance(value, Infinite) else float(enclose(substitute(value, point)).mid())


def _breaks(claim: Claim, point: Mapping[str, Expr], value: Value) -> bool:
    assert claim.epsilon is not None
    return isinstance(value, Infinite) or certainly_lt(substitute(claim.epsilon, point), value, {})


@lru_cache(maxsize=64)  # asked again about the same stream, for its curve
def _worst(claim: Claim, pointed: tuple[tuple[Used, ...], ...], dear: tuple[Legs, ...], goal: float) -> tuple[dict[str, Any], Value] | None:
    """The run that loses the most, of those that are looked at; with what it loses."""
    ground = ground_of(asked(claim, {"side": "lower"}, worst_run.NAME, wanted=Stream))
    stream = ground.stream
    again = _repeated(claim, ground) if math.isinf(goal) else None
    if again is not None and isinstance(again[1], Infinite):
        return again
    best: tuple[float, list[Used]] | None = None
    for path in islice(chain(along(stream, dear), paths(stream, pointed)), _RUNS):
        height = _height(ground, path)
        if height is not None and (best is None or height > best[0] + _SMALL):
            best = height, path
            if height >= goal - 1e-7 * max(1.0, goal) or math.isinf(height):
                break
    if again is not None and (best is None or _value(again[1], {}) > best[0]):
        return again
    if best is None or best[0] <= _SMALL:
        return None
    return _checked(claim, _exactly(ground, best[1], math.isinf(best[0])))


def _checked(claim: Claim, evidence: dict[str, Any] | None) -> tuple[dict[str, Any], Value] | None:
    """The evidence with what it proves, if it does."""
    if evidence is None:
        return None
    try:
        return evidence, worst_run.check(claim, {"side": "lower", **evidence}).value
    except DpverifyError:
        return None


def _repeated(claim: Claim, ground: Ground) -> tuple[dict[str, Any], Value] | None:
    """Some steps again and again, and perhaps one after them: each time as much is lost."""
    stream = ground.stream
    most = int(stream.queries.value) if isinstance(stream.queries, Num) else None
    for path in islice(paths(stream, []), _REPEATED):
        for block in (range(len(path)), range(len(path) - 1), range(1, len(path))):
            used = path[block.start : block.stop]
            if not used or len(path) > _SHORT or (most is not None and most < 2 * len(path)) or not _comes_back(ground, used):
                continue
            found = _weights(ground, path, False, block)
            if found is None or found[1].status != 0 or -float(found[1].fun) <= _SMALL:
                continue
            evidence = _exactly(ground, path, False, block)
            if evidence is not None:
                times = "unlimited" if most is None else (most - len(path) + len(block)) // len(block)
                checked = _checked(claim, {**evidence, "repeat": [block.start, block.stop], "times": times})
                if checked is not None:
                    return checked
    return None


def _comes_back(ground: Ground, block: Sequence[Used]) -> bool:
    """Whether steps may be repeated, as far as is known without a run: no counter grows, and it is not the one step that moves."""
    grown = any(each.value != ZERO for branch, _ in block for each in ground.stream.steps[branch].count)
    return not grown and not (ground.stream.neighbours == "one" and any(x for _, moves in block for x in moves))


def paths(stream: Stream, pointed: Sequence[Sequence[Used]]) -> Iterator[list[Used]]:
    """Runs in blocks of the branches that alignments find dear, and then of any, in every order and with more and more steps."""
    seen: set[tuple[Used, ...]] = set()
    dear = [used[:_DEAR] for used in pointed]
    rounds = (*_MORE, longest) if (longest := _longest(stream)) > LONGEST else _MORE
    tried: list[tuple[Sequence[Used], Sequence[int], Sequence[int]]] = [(used, rounds, (1, 2, 3)) for used in dear]
    tried += [(used, (1, 8), (1, 2)) for used in _all(stream)]
    tried += [(used, (1, 4), (3,)) for used in _all(stream)]
    found = (_path(stream, chosen, more) for used, rounds, sizes in tried for more in rounds for chosen in _chosen(stream, used, sizes))
    firsts = islice(found, _BLOCKS)
    for path in chain(firsts, _counted(stream, dear), _walks(stream), _split(stream, dear), found):
        if path and path not in seen and _goes(stream, path):
            seen.add(path)
            yield list(path)


def _counted(stream: Stream, dear: Sequence[Sequence[Used]]) -> Iterator[tuple[Used, ...]]:
    """Steps that count until a counter is full, the fullest first, after steps that do not, before the first of them or before each."""
    longest, counts = _longest(stream), [number for number, branch in enumerate(stream.steps) if branch.count]

    def filled(way: Sequence[int]) -> Fraction:
        sizes = (each.value for number in way for each in stream.steps[number].count)
        return sum((size.value for size in sizes if isinstance(size, Num)), Fraction(0))

    still = (Fraction(0),) * len(stream.answers)
    ways = [way for size in range(2, _COUNTED + 1) for way in product(counts, repeat=size) if _goes(stream, [(one, still) for one in way])]
    fullest = sorted(ways, key=filled, reverse=True)[:_FULLEST]
    for used in dear if stream.neighbours != "one" else ():
        before = [one for one in dict.fromkeys(used) if one[0] not in counts]
        moves = list(dict.fromkeys(point for number, point in used if number in counts))
        for way, point, more in product(fullest, moves, (1, 4)):
            counted, again = [(number, point) for number in way], before * more
            for path in ((*again, *counted), tuple(one for last in counted for one in (*again, last))):
                yield path if len(path) <= longest else ()


def _split(stream: Stream, dear: Sequence[Sequence[Used]]) -> Iterator[tuple[Used, ...]]:
    """All steps that there are, in two blocks: so many of the first, and the rest."""
    longest = _longest(stream)
    if stream.neighbours == "one" or longest > _WALKS:
        return
    for used in dear or list(_all(stream)):
        for (first, last), size in product(permutations(dict.fromkeys(used), 2), range(1, longest)):
            yield (first,) * size + (last,) * (longest - size)


def _walks(stream: Stream) -> Iterator[tuple[Used, ...]]:
    """Runs that follow the numbers of the state where one answer moves alone: that in the first step of all, or in a later one."""
    if stream.neighbours != "one":
        return
    still = (Fraction(0),) * len(stream.answers)
    for size in range(1, min(_longest(stream), _WALKS) + 1):
        for taken in islice(_walked(stream, {each.name: each.value for each in stream.state}, size), _WALKED):
            for place, point in product(range(min(size, _FIRST)), vertices(stream, "one")):
                yield tuple((branch, point if step == place else still) for step, branch in enumerate(taken))


def _walked(stream: Stream, state: Mapping[str, Expr], size: int) -> Iterator[tuple[int, ...]]:
    """Branches that the numbers of the state let a run take."""
    if not size:
        yield ()
        return
    for number, branch in enumerate(stream.steps):
        left = [substitute(guard.left, state) for guard in branch.when]
        if any(isinstance(value, Num) and value.value < 0 for value in left):
            continue
        changed = {each.name: substitute(each.value, state) for each in branch.change}
        for rest in _walked(stream, {**state, **changed}, size - 1):
            yield (number, *rest)
        if all(isinstance(value, Num) and value.value > 0 for value in left):
            return


def _longest(stream: Stream) -> int:
    """The most steps of a run that is looked at: more where a counter counts further than that, as far as there are steps."""
    counted = [count for branch in range(len(stream.steps)) for count in _limits(stream, branch)]
    most = min(_FARTHEST, max([LONGEST, *(_ROOM * count for count in counted)]))
    return min(most, int(stream.queries.value)) if isinstance(stream.queries, Num) else most


def along(stream: Stream, dear: Sequence[Legs], often: Sequence[int] = (1, 2, 3)) -> Iterator[list[Used]]:
    """Runs through the modes of an alignment, with more and more of the steps that hold its shifts in place."""
    longest = _longest(stream)
    for times in often:
        for legs in dear:
            path = list(run(legs, times))
            if 0 < len(path) <= longest and _goes(stream, path):
                yield path


def _path(stream: Stream, chosen: Sequence[Used], more: int) -> tuple[Used, ...]:
    """A block of each, as long as its counters let it, and no longer than said."""
    longest = _longest(stream)
    counts = []
    for branch, point in chosen:
        alone = stream.neighbours == "one" and any(point)
        counts.append(1 if alone else min([more, longest, *_limits(stream, branch)]))
    if sum(counts) > longest:
        counts[counts.index(max(counts))] -= sum(counts) - longest
    if min(counts) < 1:
        return ()
    return tuple(one for one, count in zip(chosen, counts, strict=True) for _ in range(count))


def _all(stream: Stream) -> Iterator[list[Used]]:
    for family in FAMILIES.get(stream.neighbours, (stream.neighbours,)):
        still = (Fraction(0),) * len(stream.answers)
        yield [(branch, point) for branch in range(len(stream.steps)) for point in dict.fromkeys((*vertices(stream, family), still))]


def _chosen(stream: Stream, used: Sequence[Used], sizes: Sequence[int]) -> Iterator[tuple[Used, ...]]:
    """Orders of some of them; of answers of which one alone moves, at one place."""
    alone = stream.neighbours == "one"
    for size in sizes:
        for chosen in permutations(dict.fromkeys(used), size):
            if not alone or sum(any(point) for _, point in chosen) == 1:
                yield chosen


def _limits(stream: Stream, branch: int) -> Iterator[int]:
    limits = {limit.name: limit.value for limit in stream.limits}
    for grown in stream.steps[branch].count:
        end = limits[grown.name]
        if isinstance(end, Num) and isinstance(grown.value, Num) and grown.value.value > 0:
            yield max(1, math.ceil(end.value / grown.value.value))


def _goes(stream: Stream, path: Sequence[Used]) -> bool:
    """Whether no counter has reached its limit before the last step, as far as numbers tell."""
    counts = {limit.name: Fraction(0) for limit in stream.limits}
    for branch, _ in path:
        for limit in stream.limits:
            if isinstance(limit.value, Num) and counts[limit.name] >= limit.value.value:
                return False
        for grown in stream.steps[branch].count:
            counts[grown.name] += grown.value.value if isinstance(grown.value, Num) else 0
    return True


# -- a run ------------------------------------------------------------------------------------------------------------


def _rows(ground: Ground, path: Sequence[Used]) -> list[Kept] | None:
    """What a run keeps, in the order in which the rule looks at it; None where it cannot be."""
    stream, domains = ground.stream, ground.question.domains
    state = {drawn.name: Affine({(drawn.name, -1): Fraction(1)}, ZERO) for drawn in stream.once}
    for name, form in start_of(stream).items():
        state[name] = Affine({(noise, -1): factor for noise, factor in form.of.items()}, form.rest)
    counts: dict[str, Expr] = {limit.name: ZERO for limit in stream.limits}
    rows: list[Kept] = []

    def affine(form: Form, step: int, sign: int = 1) -> Affine:
        total: dict[Noise, Fraction] = {}
        rest: list[Expr] = [substitute(form.rest, counts)]
        for name, factor in form.of.items():
            inside = state.get(name, Affine({(name, step): Fraction(1)}, ZERO))
            rest.append(mul(num(factor), inside.rest))
            for key, weight in inside.of.items():
                total[key] = total.get(key, Fraction(0)) + factor * weight
        return Affine({key: sign * weight for key, weight in total.items()}, mul(num(sign), add(*rest)))

    place = {name: i for i, name in enumerate(stream.answers)}

    def moved(form: Affine) -> Fraction:
        parts = (factor * path[step][1][place[name]] for (name, step), factor in form.of.items() if name in place)
        return sum(parts, Fraction(0))

    def settled(form: Affine) -> bool:
        return not moved(form) and all(name in place for name, _ in form.of)

    for number, (branch, _) in enumerate(path):
        own = ground.steps[branch]
        for form in own.when:
            found = affine(form, number)
            if settled(found) and not found.of:
                if not certainly_le(ZERO, found.rest, domains):
                    return None
            else:
                rows.append(Kept(found, False, settled(found)))
        open_ones: list[dict[tuple[int, int], Affine]] = []
        for earlier, other in enumerate(ground.steps[:branch]):
            tried = {(earlier, i): affine(form, number, -1) for i, form in enumerate(other.when)}
            if any(settled(form) and not form.of and certainly_lt(ZERO, form.rest, domains) for form in tried.values()):
                continue
            open_ones.append({key: form for key, form in tried.items() if not (settled(form) and not form.of)})
            if not open_ones[-1]:
                return None
        if any(len(some) > 1 for some in open_ones):
            guards = [{key: stream.steps[key[0]].when[key[1]] for key in some} for some in open_ones]
            failing = may_fail(ground.question, frozenset(names_of(stream)), list(stream.steps[branch].when), guards)
            open_ones = [{key: form for key, form in some.items() if key in failing} for some in open_ones]
        for some in open_ones:
            if len(some) > 1:
                return None
            rows += [Kept(form, False, settled(form)) for form in some.values()]
        rows += [Kept(affine(form, number), True, False) for form in own.tell]
        state |= {name: affine(form, number) for name, form in own.after.items()}
        for grown in stream.steps[branch].count:
            counts[grown.name] = add(counts[grown.name], grown.value)
    return rows


def _moved(row: Kept, stream: Stream, path: Sequence[Used]) -> Fraction:
    """What the moves of the answers add to a row."""
    place = {name: i for i, name in enumerate(stream.answers)}
    parts = (factor * path[step][1][place[name]] for (name, step), factor in row.form.of.items() if name in place)
    return sum(parts, Fraction(0))


def _weights(ground: Ground, path: Sequence[Used], ray: bool, block: range = range(0)) -> tuple[list[Kept], Any] | None:
    """The dual program, solved: the weights of all rows; along a ray every slope that is finite counts 0.

    block: the steps that are repeated; noises of others count 0 too.
    """
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    stream, kept = ground.stream, _rows(ground, path)
    rows = [row for row in kept or () if not row.settled]
    if not rows:
        return None
    noises = sorted({key for row in rows for key in row.form.of if key[0] not in stream.answers})
    place = {key: i for i, key in enumerate(noises)}
    entries = [(place[key], j, float(x)) for j, row in enumerate(rows) for key, x in row.form.of.items() if key in place]
    matrix = coo_matrix(([x for *_, x in entries], ([i for i, *_ in entries], [j for _, j, _ in entries])), (len(noises), len(rows)))

    def steep(name: str, side: int) -> float:
        return 0.0 if ray and not math.isinf(ground.steep[name][side]) else ground.steep[name][side]

    left, right = ([0.0 if block and step not in block else steep(name, side) for name, step in noises] for side in (0, 1))
    cost = np.array([float(_moved(row, stream, path)) for row in rows])
    least, most = (-1.0, 1.0) if ray else (None, None)
    bounds = [(least if row.told else 0.0, most) for row in rows]
    above = [i for i, end in enumerate(right) if not math.isinf(end)]
    below = [i for i, end in enumerate(left) if not math.isinf(end)]
    dense = matrix.tocsr()
    stacked = np.vstack([dense[above].toarray(), -dense[below].toarray()]) if above or below else None
    limits = np.array([right[i] for i in above] + [left[i] for i in below]) if above or below else None
    found = linprog(cost, stacked, limits, bounds=bounds, method="highs-ds")
    return (rows, found)


def _height(ground: Ground, path: Sequence[Used]) -> float | None:
    """What a run loses, in units of the sensitivity."""
    found = _weights(ground, path, ray=False)
    if found is None or found[1].status not in (0, 3):
        return None
    return math.inf if found[1].status == 3 else -float(found[1].fun)


def _exactly(ground: Ground, path: Sequence[Used], unbounded: bool, block: range = range(0)) -> dict[str, Any] | None:
    """The evidence: the run at a point, and its weights in rationals times slopes."""
    stream, found = ground.stream, _weights(ground, path, unbounded, block)
    if found is None or found[1].status != 0:
        return None
    rows, solved = found
    weights = exact_weights(ground, rows, list(solved.x), unbounded)
    point = None if weights is None else point_of(stream, _rows(ground, path) or [], ground.question)
    if weights is None or point is None:
        return None
    return {
        "once": {drawn.name: str(point.get((drawn.name, -1), _inside(drawn.noise))) for drawn in stream.once},
        "run": [
            [
                branch,
                [str(point.get((name, step), Fraction(0))) for name in stream.answers],
                {drawn.name: str(point.get((drawn.name, step), _inside(drawn.noise))) for drawn in stream.fresh},
                [str(x) for x in moves],
            ]
            for step, (branch, moves) in enumerate(path)
        ],
        "weights": [format_expr(weight) for weight in weights],
        **({"unbounded": True} if unbounded else {}),
    }


def exact_weights(ground: Ground, rows: Sequence[Kept], floats: Sequence[float], unbounded: bool) -> list[Expr] | None:
    """Weights that are exactly what the floats are near: from the noises at which their sum is a slope."""
    if unbounded:
        return [num(Fraction(x).limit_denominator(1000)) for x in floats]
    scale = max(map(abs, floats), default=1.0)
    used = [j for j, x in enumerate(floats) if abs(x) > _SMALL * scale]
    sums: dict[Noise, dict[int, Fraction]] = {}
    for j in used:
        for key, factor in rows[j].form.of.items():
            if key[0] not in ground.stream.answers:
                sums.setdefault(key, {})[j] = factor
    equations: list[tuple[dict[int, Fraction], Expr]] = []
    for key, row in sums.items():
        total = sum(float(factor) * floats[j] for j, factor in row.items())
        for end, steep, sign in zip(ground.ends[key[0]], ground.steep[key[0]], (-1, 1), strict=True):
            if not isinstance(end, Infinite) and abs(total - sign * steep) <= 1e-7 * scale:
                equations.append((row, mul(num(sign), end)))
        if abs(total) <= 1e-7 * scale:
            equations.append((row, ZERO))
    if not used:
        return [ZERO] * len(rows)
    given = list(dict.fromkeys(value for _, value in equations))
    entries = [[row.get(j, Fraction(0)) for j in used] + [Fraction(value == one) for one in given] for row, value in equations]
    flat = [fmpq(x.numerator, x.denominator) for row in entries for x in row]
    echelon, _ = fmpq_mat(len(entries), len(used) + len(given), flat).rref()
    found: list[Expr] = [ZERO] * len(rows)
    for i, j in enumerate(used):
        if i >= len(entries) or echelon[i, i] != 1 or any(echelon[i, other] != 0 for other in range(len(used)) if other != i):
            return None
        parts = [mul(num(Fraction(int(x.p), int(x.q))), one) for n, one in enumerate(given) if (x := echelon[i, len(used) + n]) != 0]
        found[j] = add(*parts)
    return found


def _inside(noise: OnLine) -> Fraction:
    """A value of a noise that matters in no comparison."""
    low, high = support(noise)
    if isinstance(low, Num) and isinstance(high, Num):
        return (low.value + high.value) / 2
    step = Fraction(1)
    return Fraction(0) if low is None and high is None else _end(low) + step if low is not None else _end(high) - step


def _end(end: Expr | None) -> Fraction:
    return Fraction(0) if end is None else Fraction(float(enclose(end).mid())).limit_denominator(1000)


def point_of(stream: Stream, rows: Sequence[Kept], question: Asked) -> dict[Noise, Fraction] | None:
    """Answers and noises at which every comparison holds with room."""
    import numpy as np
    from scipy.optimize import linprog

    keys = sorted({key for row in rows for key in row.form.of})
    place = {key: i for i, key in enumerate(keys)}
    kept = [row for row in rows if not row.told and row.form.of]
    if not kept:
        return {}
    matrix = np.zeros((len(kept), len(keys) + 1))
    for i, row in enumerate(kept):
        for key, factor in row.form.of.items():
            matrix[i, place[key]] = -float(factor)
        matrix[i, -1] = 1.0
    limits = np.array([_value(row.form.rest, {}) for row in kept])
    laws = {drawn.name: drawn.noise for drawn in (*stream.once, *stream.fresh)}
    bounds: list[tuple[float | None, float | None]] = []
    for name, _ in keys:
        low, high = _support(laws[name]) if name in laws else (None, None)
        bounds.append((-1e3 if low is None else low, 1e3 if high is None else high))
    found = linprog(np.array([*[0.0] * len(keys), -1.0]), matrix, limits, bounds=[*bounds, (0.0, 2.0)], method="highs-ds")
    if found.status != 0 or found.x[-1] <= 1e-6:
        return None
    whole = question.whole or any(on_integers(noise) for noise in laws.values())
    return {key: Fraction(round(found.x[i])) if whole else Fraction(float(found.x[i])).limit_denominator(1000) for key, i in place.items()}


def _support(noise: OnLine) -> tuple[float | None, float | None]:
    """Its ends, from inside."""
    low, high = support(noise)
    return None if low is None else float(_end(low)) + 0.01, None if high is None else float(_end(high)) - 0.01

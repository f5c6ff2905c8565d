"""Proposes words that several runs tell, answers far apart at which one run is by far the likeliest, and weights for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from dpverify.search.later import Later
from dpverify.search.selection.runs_of_streams import Affine, Ground, Kept, Used, along, exact_weights, ground_of, paths, point_of
from dpverify.search.selection.stream_routes import Legs
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import format_expr, num
from dpverify.trusted.kernel.model import Claim, Stream
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import worst_words as rule
from dpverify.trusted.theories.selection.word_chances import Noise, Rows, ways

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]
else:
    np, Array = Later("numpy"), Any

_RUNS: Final = 80
_WAYS: Final = 12
"""The most runs that tell words which are looked at."""
_FAR: Final = 64.0
"""How far apart answers are at most, in units of what they move by."""
_HEAVY: Final = 1e3
"""The greatest weight, in units of the greatest slope, or of 1."""
_MANY: Final = 250
"""The same of the one list of words of a run that an alignment finds dear, of which no more is looked at than the first directions."""
_TWICE: Final = 2
"""How often the steps that hold the shifts of that run in place come: with fewer they may be too few, and more say no more."""
_ROUNDS: Final = 3
_TRIED: Final = 6
"""Directions at random that are looked at besides."""
_SMALL: Final = 1e-7
_SIMPLE: Final = 720


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence and about what it shows, in units of the sensitivity."""

    evidence: dict[str, Any]
    value: float


def shared(stream: Stream) -> bool:
    """Whether several branches tell the same word, and each tells some."""
    words = [branch.emit for branch in stream.steps]
    return len(set(words)) < len(words) and all(branch.emit or branch.tell for branch in stream.steps)


def propose(claim: Claim, pointed: Sequence[Sequence[Used]], dear: Sequence[Legs], goal: float, least: float) -> Iterator[dict[str, Any]]:
    """The lower bound by the words that lose the most, if that is more than `least`; no more than `goal` is looked for."""
    if least >= goal - _SMALL * max(1.0, goal):
        return
    unclaimed = replace(claim, epsilon=None, delta=None, name="", mechanism_name="")
    ground = ground_of(asked(unclaimed, {"side": "lower"}, rule.NAME, wanted=Stream))
    known: dict[tuple[str, ...], list[Rows] | None] = {}

    def found_by(path: Sequence[Used], least: float, most: int) -> Found | None:
        words = tuple(ground.stream.steps[branch].emit for branch, _ in path)
        if words not in known or most > _WAYS:
            runs = list(islice(ways(ground.question, ground.stream, words, None), most + 1))
            known[words] = runs if 0 < len(runs) <= most else None
        runs_of = known[words]
        found = None if runs_of is None else _best(ground, runs_of, words, tuple(point for _, point in path), least, goal)
        return found if found is not None and _holds(unclaimed, found) else None

    dearest = next(along(ground.stream, dear, (_TWICE,)), None)
    best = None if dearest is None else found_by(dearest, least, _MANY)
    if best is not None and len(best.evidence["weights"]) > _WAYS:  # others are told by as many runs
        yield {"rule": rule.NAME, "evidence": best.evidence}
        return
    seen = set[tuple[Any, ...]]()
    for path in islice(chain(along(ground.stream, dear), paths(ground.stream, pointed)), _RUNS):
        if best is not None and best.value >= goal - 1e-6 * max(1.0, goal):
            break
        if (key := tuple((ground.stream.steps[branch].emit, point) for branch, point in path)) not in seen:
            seen.add(key)
            found = found_by(path, max(least, 0.0 if best is None else best.value), _WAYS)
            best = best if found is None else found
    if best is not None:
        yield {"rule": rule.NAME, "evidence": best.evidence}


def _holds(claim: Claim, found: Found) -> bool:
    try:
        rule.check(claim, found.evidence)
    except DpverifyError:
        return False
    return True


class Program:
    """The runs that tell the same words, as matrices: rows of each, in noises and in answers."""

    def __init__(self, ground: Ground, runs: Sequence[Rows], steps: int) -> None:
        self.ground, self.runs, answers = ground, runs, ground.stream.answers
        self.answers: list[Noise] = [(name, step) for step in range(steps) for name in answers]
        self.noises = sorted({key for rows in runs for row in rows for key in row.of if key[0] not in answers})
        steep = [ground.steep[name] for name, _ in self.noises]
        self.left, self.right = (np.array([side[i] for side in steep]) for i in (0, 1))
        self.of_noises = [self._matrix(rows, self.noises) for rows in runs]
        self.of_answers = [self._matrix(rows, self.answers) for rows in runs]
        self._heavy = _HEAVY * max([1.0, *(end for ends in (self.left, self.right) for end in ends[np.isfinite(ends)])])
        self._blocks = self._stacked(range(len(runs)))

    @staticmethod
    def _matrix(rows: Rows, keys: Sequence[Noise]) -> Array:
        return np.array([[float(row.of.get(key, 0)) for key in keys] for row in rows]).reshape(len(rows), len(keys))

    def _stacked(self, chosen: Sequence[int]) -> tuple[Any, Array]:
        """The sums of weights at the noises of each run, as one matrix of blocks, and the slopes that they are to be within."""
        from scipy.sparse import block_diag

        above, below = np.isfinite(self.right), np.isfinite(self.left)
        blocks = [np.vstack([of.T[above], -of.T[below]]) for of in (self.of_noises[run] for run in chosen)]
        return block_diag(blocks, format="csr"), np.tile(np.concatenate([self.right[above], self.left[below]]), len(chosen))

    def duals(self, answers: Array, chosen: Sequence[int] = ()) -> list[tuple[float, Array]]:
        """What each run costs where its answers are there, and the weights that show it: one linear program of independent blocks.

        chosen: the runs that are asked about; all without.
        """
        from scipy.optimize import linprog

        of_answers = [self.of_answers[run] for run in chosen] if chosen else self.of_answers
        costs = [rows @ answers for rows in of_answers]
        if not sum(map(len, costs)):
            return [(0.0, cost) for cost in costs]
        blocks, limits = self._stacked(chosen) if chosen else self._blocks
        found = linprog(np.concatenate(costs), blocks, limits, bounds=(0, self._heavy), method="highs-ds")
        weights = np.split(found.x, np.cumsum([len(cost) for cost in costs])[:-1])
        return [(-float(cost @ given), given) for cost, given in zip(costs, weights, strict=True)]

    def far(self, main: int, weights: Array, others: Mapping[int, Array] | None, toward: Array | None = None) -> tuple[Array, Array] | None:
        """Answers and noises in a direction in which the main run keeps these weights, and others cost more, by theirs.

        Without others all that may change does, with room; or as far toward somewhere as may be.
        """
        from scipy.optimize import linprog

        answers, noises = len(self.answers), len(self.noises)
        rows = np.hstack([self.of_answers[main], self.of_noises[main]])
        sums = self.of_noises[main].T @ weights
        tight, upward, downward = weights > _SMALL, sums >= self.right - _SMALL, sums <= -self.left + _SMALL
        bounds: list[tuple[float, float]] = [(-_FAR, _FAR)] * answers
        bounds += [(-_FAR if down else 0.0, _FAR if up else 0.0) for up, down in zip(upward, downward, strict=True)]
        cost = np.concatenate([np.zeros(answers), np.where(upward, self.right, np.where(downward, -self.left, 0.0))])
        cost[~np.isfinite(cost)] = 0.0
        # unknowns: answers, noises, and the room, or by how much the others cost more, which is the greatest
        room = float(others is None)
        least = [np.append(-row, room) for row in rows[~tight]]
        for run, given in (others or {}).items():
            least.append(np.append(np.concatenate([self.of_answers[run].T @ given, np.zeros(noises)]) + cost, 1.0))
        for place, (up, down) in enumerate(zip(upward, downward, strict=True)):
            if room and up != down:
                least.append(np.append(np.eye(answers + noises)[answers + place] * (-1.0 if up else 1.0), 1.0))
        found = linprog(
            np.append(1e-4 * np.abs(cost) * np.sign(cost) if toward is None else -toward, -1.0 if toward is None else 0.0),
            np.array(least) if least else None,
            np.zeros(len(least)) if least else None,
            np.hstack([rows[tight], np.zeros((int(tight.sum()), 1))]) if tight.any() else None,
            np.zeros(int(tight.sum())) if tight.any() else None,
            bounds=[*bounds, (None if others is not None else 0.0, 4.0 if toward is None else 0.0)],
            method="highs-ds",
        )
        return None if found.status != 0 else (found.x[:answers], found.x[answers:-1])


def _best(
    ground: Ground, runs: Sequence[Rows], words: Sequence[str], moves: Sequence[Sequence[Fraction]], least: float, goal: float
) -> Found | None:
    """The best evidence for words and moves, where it shows more than `least`; no more than `goal` can be shown."""
    program, moved = Program(ground, runs, len(words)), np.array([float(x) for row in moves for x in row])
    duals = program.duals(moved)
    shown: list[tuple[float, Callable[[], dict[str, Any] | None]]] = []
    few, hard = len(runs) <= _WAYS, list[int]()
    for main in sorted(range(len(runs)), key=lambda run: -duals[run][0]):
        dual, wanted = duals[main], max(least, shown[-1][0] if shown else 0.0) + _SMALL
        if dual[0] <= wanted:
            break
        if dual[0] > goal + _SMALL * max(1.0, goal) and not few:
            continue
        others: dict[int, Array] | None = None
        size, places = len(program.answers) + len(program.noises), np.random.default_rng(0)
        for number in range(_ROUNDS + (_TRIED if few else 0)):
            tried = number >= _ROUNDS  # what came before is where two directions are as good as each other
            far = program.far(main, dual[1], None if tried else others, places.standard_normal(size) if tried else None)
            if far is None:
                continue
            far = tuple(np.array([float(_simple(x)) for x in part]) for part in far)  # type: ignore[assignment]
            spent = sum(x * (program.right[i] if x > 0 else -program.left[i]) for i, x in enumerate(far[1]) if x)
            if hard and min(cost for cost, _ in program.duals(far[0] + moved, hard)) - spent <= wanted:
                break  # the runs that were in the way before still are
            after = program.duals(far[0] + moved)
            value = min(cost for cost, _ in after) - spent
            hard = list(dict.fromkeys((*hard, min(range(len(runs)), key=lambda run: after[run][0])))) if not few else []
            if value > max(least, shown[-1][0] if shown else 0.0) + _SMALL:
                shown.append((value, partial(_told, program, words, moves, main, far, [given for _, given in after])))
            if value >= dual[0] - _SMALL:
                break
            others = {run: given for run, (_, given) in enumerate(after) if run != main}
    return next((Found(told, value) for value, tell in reversed(shown) if (told := tell()) is not None), None)


def _simple(x: float) -> Fraction:
    return Fraction(float(x)).limit_denominator(_SIMPLE)


def _told(
    program: Program, words: Sequence[str], moves: Sequence[Sequence[Fraction]], main: int, far: tuple[Array, Array],
    weights: Sequence[Array],
) -> dict[str, Any] | None:  # fmt: skip
    """The evidence, with weights in the slopes and a point at which the main run is."""
    ground, runs = program.ground, program.runs
    rows = [[Kept(Affine(row.of, num(row.rest)), False, False) for row in run] for run in runs]
    exact = [exact_weights(ground, kept, list(given), False) for kept, given in zip(rows, weights, strict=True)]
    point = point_of(ground.stream, rows[main], ground.question)
    if point is None or any(one is None for one in exact):
        return None
    away = dict(zip(program.answers, far[0], strict=True)) | dict(zip(program.noises, far[1], strict=True))
    return {
        "side": "lower",
        "words": list(words),
        "answers": [
            [
                [str(point.get((name, step), 0)) for name in ground.stream.answers],
                [str(_simple(away[name, step])) for name in ground.stream.answers],
                [str(x) for x in moves[step]],
            ]
            for step in range(len(words))
        ],
        "noises": [[name, step, str(point.get((name, step), 0)), str(_simple(away[name, step]))] for name, step in program.noises],
        "run": main,
        "weights": [[format_expr(weight) for weight in one or ()] for one in exact],
    }

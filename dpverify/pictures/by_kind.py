"""What decides how private some kinds of mechanisms are, as lines: of keys, shuffles, best runs, correlated noise and filters.

Points are floats. Those that are said to be bounds come from what is proved; the others draw a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpverify.pictures.bands import delta_band
from dpverify.pictures.polyline import Point
from dpverify.search.numeric import number
from dpverify.search.selection.rough_laws import Rough
from dpverify.search.verify import verify
from dpverify.trusted.claims.kinds import RUNS
from dpverify.trusted.combinators.old_keys import most_keys, old_keys
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, Expr, Num, mul, num, symbols
from dpverify.trusted.kernel.model import BestOf, Claim, Compose, CorrelatedNoise, Filter, NoisyKeys, NoisyVotes, Part, Shuffle, on_integers
from dpverify.trusted.sensitivity.participation import count, first_column, squares
from dpverify.trusted.theories.selection.noise_laws import closed
from dpverify.trusted.theories.selection.rules.noisy_keys import First

HALVINGS: Final = 4
_NOISES: Final = range(-2, 3)
"""How often the number of people is halved, and that of runs."""
_COUNTS: Final = 81
_MOST_STEPS: Final = 4_000
_LEAST: Final = 1e-15
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a picture. kind: line, step or points."""

    label: str
    points: tuple[Point, ...]
    kind: str = "line"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture in numbers. axes: what x and y are; log: which of them are logarithmic. marks: values of x or y with their names."""

    title: str
    caption: str
    axes: tuple[str, str]
    lines: tuple[Line, ...]
    log: tuple[bool, bool] = (False, False)
    marks: tuple[tuple[str, float, str], ...] = ()


def by_kind(claim: Claim) -> tuple[Drawing, ...]:
    """The pictures of a claim's own kind; none for another kind, and where a parameter has no value."""
    draw = _DRAWN.get(type(claim.mechanism))
    drawn = () if draw is None or claim.domains else draw(claim, claim.mechanism)
    return tuple(drawing for drawing in drawn if any(line.points for line in drawing.lines))


# -- keys --------------------------------------------------------------------------------------------------------------


def _keys(claim: Claim, mechanism: NoisyKeys) -> Iterator[Drawing]:
    threshold, moved, keys = number(mechanism.threshold), number(claim.sensitivity or ONE), most_keys(mechanism)
    told = _told(mechanism, claim)
    far = max(2 * threshold, 2 * moved)
    whole = range(1, math.ceil(far) + 1, math.ceil(far / _COUNTS))
    counts = whole if on_integers(mechanism) else [far * step / _COUNTS for step in range(1, _COUNTS + 1)]
    chance = told(moved)
    yield Drawing(
        "How often a key is told",
        f"The probability that a key is told, by its count; 0 is never looked at. A key whose only record adds {moved:g}: {chance:.3g}.",
        ("count of the key", "probability"),
        (Line("", tuple((c, told(c)) for c in map(float, counts)), "points" if on_integers(mechanism) else "line"),),
        marks=(("threshold", threshold, "x"),),
    )
    part = old_keys(Part(mechanism, claim.sensitivity or ONE), keys)
    noise = delta_band(Claim(Compose((part,)), None, None))
    shared = tuple((float(Fraction(x)), float(Fraction(y))) for x, y in zip(noise.x, noise.upper, strict=True) if y not in (None, "inf"))
    shared = tuple(point for point in shared if point[1] > _LEAST)
    new = -math.expm1(keys * math.log1p(-chance)) if chance < 1 else 1.0
    ends = (0.0, max((x for x, _ in shared), default=1.0))
    said = "its only key" if keys == 1 else f"all its {keys} keys"
    yield Drawing(
        "What is lost by new keys and by shared ones",
        f"delta against epsilon of a record that is the first of {said}, and of one that shares them. A claim is above both, and above "
        "what a record has that is the first of some of its keys.",
        ("epsilon (nats)", "delta"),
        (Line("keys that are new", tuple((x, new) for x in ends)), Line("keys that others have", shared)),
        (False, True),
    )  # fmt: skip


def _told(mechanism: NoisyKeys, claim: Claim) -> Callable[[float], float]:
    """The probability that a key with a count is told: of noise that has a closed form as it is enclosed, of other noise by sums."""
    if closed(mechanism.noise) is not None:
        first = First(mechanism, claim.sensitivity or ONE, [])

        def enclosed(count: float) -> float:
            with precision(64):
                return float(first.chances(Fraction(count))()[1].mid())

        return enclosed
    rough, threshold = Rough(mechanism.noise), number(mechanism.threshold)
    nodes = rough.nodes
    if on_integers(mechanism):
        return lambda count: float(nodes.density[nodes.z >= threshold - count - 1e-9].sum() / nodes.density.sum())
    return lambda count: float(np.interp(threshold - count, nodes.z, nodes.above))


# -- shuffles, and the best of some runs ---------------------------------------------------------------------------------


def _enclosed(claim: Claim) -> tuple[float | None, float | None]:
    """What is proved of the tight epsilon at the claimed delta."""
    try:
        judgement = verify(replace(claim, epsilon=None), digits=_DIGITS).judgement
    except DpverifyError:
        return None, None
    return _float(judgement.lower), _float(judgement.upper)


def _float(bound: Expr | Infinite | None) -> float | None:
    return None if bound is None or isinstance(bound, Infinite) or symbols(bound) else float(constant(bound).mid())


def _both(claim: Claim, values: Sequence[tuple[float, Any]]) -> tuple[Line, ...]:
    """What is proved from above and from below of mechanisms, each at a place."""
    ends = [(x, _enclosed(replace(claim, mechanism=mechanism))) for x, mechanism in values]
    above, below = (tuple((x, value) for x, end in ends if (value := end[side]) is not None) for side in (1, 0))
    same = len(above) == len(below) and all(math.isclose(a[1], b[1], rel_tol=1e-6) for a, b in zip(above, below, strict=True))
    return (Line("", above),) if same else (Line("at most", above), Line("at least", below))


def _halved(most: int) -> list[int]:
    return sorted({max(1, most >> step) for step in range(HALVINGS + 1)})


def _shuffle(claim: Claim, mechanism: Shuffle) -> Iterator[Drawing]:
    if claim.measure is not None or claim.delta is None or symbols(claim.delta) or number(claim.delta) <= 0:
        return
    people = [(float(n), replace(mechanism, people=Num(Fraction(n)))) for n in _halved(int(number(mechanism.people)))]
    yield Drawing(
        "What a shuffle hides",
        f"The tight epsilon at delta {number(claim.delta):.3g}, as it is proved, against the number of people.",
        ("people", "epsilon (nats)"),
        _both(claim, people),
        (True, True),
        (("these", float(people[-1][0]), "x"),),
    )


def _best_of(claim: Claim, mechanism: BestOf) -> Iterator[Drawing]:
    if claim.measure is not None or claim.delta is None or symbols(claim.delta) or RUNS[mechanism.law][0] == "eta":
        return
    most = number(mechanism.numbers[0])
    fixed = mechanism.law == "fixed"
    values = [max(1.0, float(round(most / 2**step)) if fixed else most / 2**step) for step in range(HALVINGS + 1)]
    runs = [(x, replace(mechanism, numbers=(Num(Fraction(x).limit_denominator(10**6)),))) for x in sorted(set(values))]
    yield Drawing(
        "What the best of many runs costs",
        f"The tight epsilon at delta {number(claim.delta):.3g}, as it is proved, against the {'' if fixed else 'mean '}number of runs.",
        ("runs", "epsilon (nats)"),
        _both(claim, runs),
        (True, False),
        (("these", most, "x"),),
    )


def _votes(claim: Claim, mechanism: NoisyVotes) -> Iterator[Drawing]:
    if claim.measure is not None or claim.delta is None or symbols(claim.delta):
        return
    sigmas = [mul(mechanism.sigma, num(Fraction(2) ** k)) for k in _NOISES]
    mechanisms = [(number(sigma), replace(mechanism, sigma=sigma)) for sigma in sigmas]
    yield Drawing(
        "What noise does for these votes",
        f"The tight epsilon at delta {number(claim.delta):.3g} of this database alone, as proved, against the deviation of the noise.",
        ("deviation of the noise (votes)", "epsilon (nats)"),
        _both(claim, mechanisms),
        (True, True),
        (("this", number(mechanism.sigma), "x"),),
    )


# -- correlated noise ------------------------------------------------------------------------------------------------------


def _correlated(_: Claim, mechanism: CorrelatedNoise) -> Iterator[Drawing]:
    steps = count(mechanism.steps)
    if steps > _MOST_STEPS or mechanism.strategy == "binary_tree" or mechanism.rate is not None:
        return
    if mechanism.strategy == "matrix":
        strategy = np.array([[float(entry) for entry in row] for row in mechanism.matrix])
        if strategy.shape != (steps, steps) or np.triu(strategy, 1).any() or not strategy.diagonal().all():
            return
        sums = np.linalg.solve(strategy.T, np.tril(np.ones((steps, steps))).T).T
        sizes = np.sqrt((sums**2).sum(axis=1))
    else:
        column = np.zeros(steps)
        given = [float(entry) for entry in first_column(mechanism)][:steps]
        column[: len(given)] = given
        inverse = np.zeros(steps)
        for step in range(steps):
            inverse[step] = ((step == 0) - column[1 : step + 1] @ inverse[step - 1 :: -1][:step] if step else 1.0) / column[0]
        sizes = np.sqrt(np.cumsum(np.cumsum(inverse) ** 2))
    sigma, at = number(mechanism.sigma), np.arange(1, steps + 1)
    plain = replace(mechanism, strategy="toeplitz", matrix=(), coefficients=(Fraction(1),))
    alone = sigma * math.sqrt(squares(plain)[0] / squares(mechanism)[0])
    kept = np.unique(np.linspace(0, steps - 1, min(steps, 200)).astype(int))
    lines = ("this noise", sigma * sizes), ("independent noise, as private", alone * np.sqrt(at))
    yield Drawing(
        "The error of prefix sums",
        f"The standard deviation of each number of the sum of the first steps: {sigma * sizes[-1]:.4g} at the last, where independent "
        f"noise that is as private has {alone * math.sqrt(steps):.4g}.",
        ("step", "standard deviation"),
        tuple(Line(name, tuple((float(at[i]), float(y[i])) for i in kept)) for name, y in lines),
    )  # fmt: skip


# -- filters -----------------------------------------------------------------------------------------------------------------

_PARTS: Final = (5, 10, 20, 50)
_UNITS: Final = {"zcdp": "rho", "gdp": "mu", "renyi": "Renyi epsilon", "approximate": "epsilon"}


def _filter(_: Claim, mechanism: Filter) -> Iterator[Drawing]:
    row, unit = mechanism.rows[0], _UNITS.get(mechanism.measure)
    if unit is None or any(symbols(entry) for entry in row):
        return
    budget, power = number(row[-1] if mechanism.measure == "renyi" else row[0]), 2 if mechanism.measure == "gdp" else 1
    if not 0 < budget < math.inf:
        return
    lines = tuple(
        Line(f"{unit} {budget / share ** (1 / power):.3g} each", tuple((float(k), k / share) for k in range(share + 1)))
        for share in _PARTS
    )
    squares_of = "of squares " if power == 2 else ""
    yield Drawing(
        "What parts leave of the budget",
        f"The share of the budget that is spent after so many parts that are alike; the sum {squares_of}of their {unit} may come to "
        f"{budget:.4g}{' squared' if power == 2 else ''}, whichever are chosen.",
        ("parts", "share that is spent"),
        lines,
        marks=(("the budget", 1.0, "y"),),
    )  # fmt: skip


_DRAWN: Final[Mapping[type, Callable[[Claim, Any], Iterator[Drawing]]]] = {
    NoisyKeys: _keys,
    NoisyVotes: _votes,
    Shuffle: _shuffle,
    BestOf: _best_of,
    CorrelatedNoise: _correlated,
    Filter: _filter,
}

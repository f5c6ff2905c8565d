"""What counts say about epsilon: exact lower bounds, and what a run could have detected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import exp, log
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, expit, logit, ndtri, ndtri_exp, xlog1py, xlogy

from dpverify.audits.bets import Bets, Floats, Law, wealth_at
from dpverify.audits.partition import Counts, CurvePoint
from dpverify.errors import AuditError

MARGINS: Final = (0.02, 0.1, 0.5)  # of normal score, between what is asked of points and what is asked of the cells between them
CELLS: Final = 100_000  # how many cells one test may need; one that needs more counts as not rejected
DEEP: Final = 1e-290  # tails below this are bounded through their logarithms
FLOATING: Final = 1e-6  # of normal score, for the rounding of incomplete beta functions
EXCLUDED: Final = 1e-3  # of the risk, for the confidence interval of p outside of which no null is tested
CLIMB: Final = 1e-4  # the resolution, in epsilon, of what is found by climbing or halving
AHEAD: Final = range(-4, 2)  # powers of 2, times a step: what is looked at with it
NARROW: Final = 1e-9  # of epsilon, where a surplus passes 0
LARGE: Final = 40.0  # an epsilon that no run can tell from infinity
STEP: Final = 1e-3  # the resolution of how many times as large losses are
TRIED: Final = 40
MOST_TIMES: Final = 16.0  # by so much larger losses are looked at, for what a run could have found
ENDS: Final = (-110.0, 28.0)  # of t = log((p - delta) / (1 - p)); further out lie the nulls next to p = delta and p = 1


def kl_to_claim(p: float, q: float, point: CurvePoint) -> float:
    """The information distance, in nats a pair, of an event of probability p on x and q on x' from all that the claim allows.

    The least KL(p || p0) + KL(q || q0) over p0 <= e^epsilon q0 + delta; 0 where the claim allows (p, q). Source: theory#information-limit.
    """
    odds, delta = exp(point.epsilon), point.delta
    if p <= odds * q + delta:
        return 0.0

    step = (p - delta) / odds - q  # the nearest null is on the claim's line, with p0 <= p and q0 >= q

    def null(t: float) -> tuple[float, float]:
        q0 = q + t * step
        return odds * q0 + delta, q0

    def approach(t: float) -> float:
        """How fast the distance, which is convex in t, falls along the line; in units of the step."""
        p0, q0 = null(t)
        return odds * (p / p0 - (1 - p) / (1 - p0)) + (q / q0 if q else 0.0) - (1 - q) / (1 - q0)

    p0, q0 = null(_root(approach, 0.0, 1.0))
    return float(_kl(p, p0) + _kl(q, q0))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0 between two places, to 1e-9."""
    while high - low > NARROW:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def epsilon_lower_bound(hits_p: int, n_p: int, hits_q: int, n_q: int, *, confidence: float, delta: float = 0.0) -> float:
    """A lower bound on epsilon (nats) that holds with probability at least `confidence`, for numbers of runs fixed beforehand.

    hits_p of n_p runs on x and hits_q of n_q runs on x' fell into an event that was fixed before them. 0.0 where nothing is refuted;
    finite even when hits_q is 0.

    Exact: a null (p, q) with p = e^epsilon q + delta is tested by P(Bin(n_p, p) >= hits_p) and P(Bin(n_q, q) <= hits_q), two independent
    p-values, combined as normal scores with weights that depend on the null alone (Liptak 1958), and is rejected outright where p lies
    outside of a Clopper-Pearson interval that takes a thousandth of the risk (Berger & Boos 1994). The bound lies below every epsilon
    that has a null which is not rejected. That is seen on boxes of nulls that cover all smaller epsilon: over a box the one score falls
    with p, the other rises with p and falls with epsilon, and the weights move one way, so that the corners bound the combination.
    Raises AuditError for counts out of range and for a confidence or delta outside of its interval.
    """
    if not (0 <= hits_p <= n_p and 0 <= hits_q <= n_q and n_p > 0 and n_q > 0):
        raise AuditError(f"{hits_p} hits of {n_p} runs on x, {hits_q} of {n_q} on x': hits are from 0 to the number of runs, at least 1")
    _check(confidence, delta)
    risk = 1 - confidence
    likely = _interval(hits_p, n_p, EXCLUDED * risk)
    if hits_p == 0 or hits_q == n_q or likely[1] <= delta:
        return 0.0
    first, last = (float(logit((p - delta) / (1 - delta))) if p > delta else ENDS[0] for p in likely)
    grid = np.linspace(max(first - FLOATING, ENDS[0]), min(last + FLOATING, ENDS[1]), 33)
    scores = _scores(hits_p, n_p, hits_q, n_q, delta)
    need = -float(ndtri(risk * (1 - EXCLUDED))) + FLOATING
    for margin in MARGINS:
        surplus = partial(_surplus, scores, grid, need + margin)
        if surplus(0.0) <= 0:
            return 0.0
        high = 1.0
        while surplus(high) > 0:
            high *= 2
        epsilon = float(brentq(surplus, 0.0, high, xtol=NARROW)) if surplus(high) < 0 else high
        if _all_rejected(scores, grid, epsilon, need):
            return epsilon
    return 0.0


def epsilon_anytime(counts: Counts, *, confidence: float, delta: float = 0.0) -> float:
    """A lower bound on epsilon (nats) from joint counts (K, K) of pairs, whenever one looks: 0.0 where nothing is refuted.

    For every epsilon a mixture of bets on the same events is fixed in advance, and the bound is below each epsilon that it does not
    refute: above the true epsilon, it would take that epsilon's own wealth to have reached 1 / (1 - confidence), which
    happens at any time with probability at most 1 - confidence. Stakes are the same shares of each atom's greatest loss at every epsilon;
    so each of a round's two log factors falls with epsilon, or rises by at most delta per unit of epsilon (theory#betting-on-pairs):
    wealth at epsilon answers for an interval below it, and intervals are joined from 0 upwards.
    Raises AuditError for a confidence or delta outside of its interval.
    """
    _check(confidence, delta)
    return epsilon_so_far([counts], risk=1 - confidence, delta=delta)[0]


def epsilon_so_far(tables: Sequence[Counts], *, risk: float, delta: float = 0.0, resolution: float = CLIMB) -> list[float]:
    """Lower bounds on epsilon (nats) from joint counts (K, K) at several times of one run, in order of time; they never fall.

    All of them together, as if one had looked at every time, are above the true epsilon with probability at most `risk`: intervals of
    epsilon that were refuted at any time are joined, and the true epsilon's own wealth must have reached 1 / risk for its interval to be
    among them (see epsilon_anytime). resolution: how far below what could be said a bound may be.
    """
    stack, known, epsilons = np.stack(tables), dict[float, Floats](), list[float]()

    def wealth(low: float, step: float) -> Floats:
        """Of all tables at an epsilon; what may be asked for next is found with it, for many at once cost little more than one."""
        if low + step not in known:
            asked = [low + step * 2.0**power for power in AHEAD]
            known.update(zip(asked, wealth_at([CurvePoint(epsilon, delta) for epsilon in asked], stack), strict=True))
        return known[low + step]

    need, low = -log(risk), 0.0
    for place, counts in enumerate(stack):
        rise, step = 2 * delta * float(counts.sum()), 0.01
        while step >= resolution:
            if float(wealth(low, step)[place]) >= need + rise * step:
                low, step = low + step, 2 * step
            else:
                step /= 2
        epsilons.append(low)
    return epsilons


def proportion_anytime(hits: int, n: int, *, risk: float) -> tuple[float, float]:
    """An interval for a proportion that holds whenever one looks, but for a probability of at most `risk`: [0, 1] where n is 0.

    It holds the p of which the mixture of Bernoulli likelihoods over Beta(1/2, 1/2) is at most 1/risk times p's own: at the true p that
    ratio is a martingale that starts at 1 (Robbins 1970; Ville 1939).
    """

    def surplus(p: float) -> float:
        return float(xlogy(hits, p) + xlog1py(n - hits, -p)) - need

    need = float(betaln(hits + 0.5, n - hits + 0.5) - betaln(0.5, 0.5)) + log(risk)
    seen = hits / n if n else 0.5
    low = seen - _root(lambda step: surplus(seen - step), 0.0, seen) - NARROW if hits else 0.0
    high = _root(surplus, seen, 1.0) + NARROW if hits < n else 1.0
    return max(low, 0.0), min(high, 1.0)


def detectable_epsilon(bets: Bets, pairs: int, law: Law, log_threshold: float, power: float = 0.9, delta: float = 0.0) -> float:
    """The smallest epsilon (nats) that a run of so many pairs would have refuted with this power; inf where there is none.

    law: the cells' probabilities under x and x', as seen; log_threshold: the log wealth that refutes. Looked at is, for the event S of each
    cut in either direction, a sampler for which P(S) is as seen, Q(S) = (P(S) - delta) e^-epsilon, and nothing but S tells x from x'.
    The log wealth of single bets at the end of the run is taken for normal, by its mean and variance: an approximation, kept on the
    safe side by what it leaves out, the other bets and all earlier looks.
    """
    high = np.arange(bets.size) >= np.arange(1, bets.size)[:, None]
    inside = np.concatenate([high, ~high])  # (events, K)
    kept = np.repeat(np.array([law[0] / law[0].sum(), law[1] / law[1].sum()]), bets.size - 1, axis=0)
    mass = (kept * inside).sum(axis=1)
    events = (mass > delta) & (mass < 1)
    inside, kept, mass = inside[events], kept[events], mass[events]
    swapped = np.flatnonzero(events) >= bets.size - 1

    def refuted(epsilon: float) -> bool:
        left = (mass - delta) * exp(-epsilon)
        other = kept * np.where(inside, (left / mass)[:, None], ((1 - left) / (1 - mass))[:, None])
        sides = np.where(swapped[:, None], other, kept), np.where(swapped[:, None], kept, other)
        told = 1 - left <= exp(epsilon) * (1 - mass) + delta  # else the event's complement has a greater epsilon
        mean, variance = bets.law_of_log(*(side[told] for side in sides))
        spread = np.sqrt(pairs * variance)
        return bool((pairs * mean + bets.log_prior - float(ndtri(power)) * spread >= log_threshold).any())

    if not refuted(LARGE):
        return float("inf")
    low, top = 0.0, LARGE
    while top - low > CLIMB:
        middle = (low + top) / 2
        low, top = (low, middle) if refuted(middle) else (middle, top)
    return top


Family = Callable[[float], tuple[Floats, Floats]]
"""The laws of cells under x and x' where the losses between both are so many times as large as declared, or as seen."""


def grown(law: Law, pairs: int) -> Family:
    """The family of the laws that were seen: their log likelihood ratios, less a standard error, are taken so many times."""
    p, q = ((np.asarray(side, float) / np.sum(side) + 0.5 / pairs) / (1 + 0.5 * len(side) / pairs) for side in law)
    losses, middle = np.log(q / p), (p + q) / 2
    losses = np.sign(losses) * (np.abs(losses) - np.sqrt((1 / p + 1 / q) / pairs)).clip(0)

    def family(times: float) -> tuple[Floats, Floats]:
        left, right = (middle * expit(sign * times * losses) for sign in (-1, 1))
        return left / left.sum(), right / right.sum()

    return family


def detectable_at_delta(
    bets: Bets, pairs: int, family: Family, log_threshold: float, delta: float, base: float, power: float = 0.9
) -> float:  # fmt: skip
    """The same of claims with a delta, where an event that is worst at one epsilon is not at another: of losses that all are larger.

    Looked at are samplers of a family, as noise of a smaller scale is one. What their epsilon is at delta, cells show from below: by how
    much they show too little of the family's first, whose epsilon is `base`, is added, as much as it may have grown, which for normal noise
    is by the square of `times`.
    """

    def refuted(times: float) -> bool:
        mean, variance = bets.law_of_log(*family(times))
        spread = np.sqrt(pairs * variance)
        return bool((pairs * mean + bets.log_prior - float(ndtri(power)) * spread >= log_threshold).any())

    def shown(times: float) -> float:
        left, right = family(times)
        return max(_epsilon_of_cells(left, right, delta), _epsilon_of_cells(right, left, delta))

    tried = np.geomspace(1.0, MOST_TIMES, TRIED)  # cells that tell the smaller noise may not tell what is smaller still
    missed = [index for index, times in enumerate(tried.tolist()) if not refuted(times)]
    if missed and missed[-1] == len(tried) - 1:
        return float("inf")
    low, top = tried[missed[-1] if missed else 0].item(), tried[missed[-1] + 1 if missed else 0].item()
    while top - low > STEP:
        middle = (low + top) / 2
        low, top = (low, middle) if refuted(middle) else (middle, top)
    missing = max(0.0, base - shown(1.0))
    at_top = shown(top)
    return float(max(min(top**2 * base, at_top + top**2 * missing), at_top, base))


def _epsilon_of_cells(p: Floats, q: Floats, delta: float) -> float:
    """The epsilon at delta of laws of few cells: of the best set of them."""
    low, high = 0.0, LARGE
    while high - low > CLIMB / 8:
        epsilon = (low + high) / 2
        if np.maximum(p - exp(epsilon) * q, 0).sum() > delta:
            low = epsilon
        else:
            high = epsilon
    return high


def _check(confidence: float, delta: float) -> None:
    if not (0 < confidence < 1 and 0 <= delta < 1):
        raise AuditError(f"confidence {confidence}, delta {delta}: a confidence is between 0 and 1, a delta at least 0 and below 1")


def _interval(hits: int, n: int, risk: float) -> tuple[float, float]:
    """An exact confidence interval for a proportion (Clopper & Pearson 1934)."""
    low = float(betaincinv(hits, n - hits + 1, risk / 2)) if hits else 0.0
    return low, float(betainccinv(hits + 1, n - hits, risk / 2)) if hits < n else 1.0


Scores = Callable[[Floats, float], tuple[Floats, Floats, Floats]]


def _scores(hits_p: int, n_p: int, hits_q: int, n_q: int, delta: float) -> Scores:
    """For nulls t = log((p - delta) / (1 - p)) and epsilon: both normal scores, and the angle whose cosine and sine weigh them.

    The weights are those of p-hat - e^epsilon q-hat: the standard deviations of its terms. The angle grows with p and with epsilon.
    """

    def scores(t: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
        above, below = (1 - delta) / (1 + np.exp(-t)), (1 - delta) / (1 + np.exp(t))  # p - delta, 1 - p
        p, q = delta + above, above / exp(epsilon)
        angle = np.arctan(np.sqrt(n_p / n_q * (exp(epsilon) * above / p) * ((1 - q) / below)))
        return _score_at_least(hits_p, n_p, p), _score_at_most(hits_q, n_q, q), angle

    return scores


def _surplus(scores: Scores, grid: Floats, need: float, epsilon: float) -> float:
    """By how much the least combined score passes `need`, on a grid refined round the least: what a bound aims at, not what it rests on."""
    t, least = grid, np.inf
    for _ in range(4):
        one, other, angle = scores(t, epsilon)
        combined = np.cos(angle) * one + np.sin(angle) * other
        at = int(np.argmin(combined))
        least = min(least, float(combined[at]))
        t = np.linspace(t[max(at - 1, 0)], t[min(at + 1, len(t) - 1)], 33)
    return max(least, -1e300) - need


def _all_rejected(scores: Scores, grid: Floats, epsilon: float, need: float) -> bool:
    """Whether all nulls up to epsilon have a score of at least `need`: by strips from the top down, as wide as can be seen at once."""
    width = 0.01
    while epsilon > 0:
        low = max(epsilon - width, 0.0)
        if _rejected(scores, grid, low, epsilon, need):
            epsilon, width = low, 4 * width
        elif width < 1e-7:
            return False
        else:
            width /= 4
    return True


def _rejected(scores: Scores, grid: Floats, low: float, high: float, need: float) -> bool:
    """Whether all nulls with epsilon from low to high have a score of at least `need`: on cells of p, split where they are too wide.

    Next to p = delta and p = 1, past ENDS, the test of x or that of x' alone decides: there too the weights depend on the null alone.
    A point that fails for the strip ends it.
    """

    def columns(t: Floats) -> Floats:
        one, other, most = scores(t, high)
        return np.array([t, one, other, scores(t, low)[2], most])

    def least(one: Floats, other: Floats, first: Floats, last: Floats) -> Floats:
        ends = np.minimum(*(np.cos(angle) * one + np.sin(angle) * other for angle in (first, last)))
        return np.where((one < 0) & (other < 0), -np.inf, ends)  # else the combination has no minimum between two angles

    edges = columns(grid)
    past = (grid[0] == ENDS[0] and edges[1, 0] < need) or (grid[-1] == ENDS[1] and edges[2, -1] < need)
    if past or (least(*edges[1:]) < need).any():
        return False
    left, right, cells = edges[:, :-1], edges[:, 1:], 0
    while True:
        wide = least(right[1], left[2], left[3], right[4]) < need
        left, right, cells = left[:, wide], right[:, wide], cells + int(wide.sum())
        if not wide.any() or cells > CELLS:
            return not wide.any()
        middle = columns((left[0] + right[0]) / 2)
        if (least(*middle[1:]) < need).any():
            return False
        left, right = np.concatenate([left, middle], axis=1), np.concatenate([middle, right], axis=1)


def _score_at_least(hits: int, n: int, p: Floats) -> Floats:
    """The normal score of P(Bin(n, p) >= hits), rounded down: great when that is small."""
    if hits == 0:
        return np.full(p.shape, -np.inf)
    return _score(betainc(hits, n - hits + 1, p), betaincc(hits, n - hits + 1, p), hits, hits - 1, n, p)


def _score_at_most(hits: int, n: int, q: Floats) -> Floats:
    """The normal score of P(Bin(n, q) <= hits), rounded down."""
    if hits == n:
        return np.full(q.shape, -np.inf)
    return _score(betaincc(hits + 1, n - hits, q), betainc(hits + 1, n - hits, q), hits, hits + 1, n, q)


def _score(tail: Floats, rest: Floats, hits: int, next_: int, n: int, p: Floats) -> Floats:
    """Minus the normal quantile of a binomial tail that starts at `hits`; `next_` is the first count outside of it.

    Where the tail is too small for doubles, Chernoff's bound takes its place; where the rest is, its first term, by Stirling's lower bound.
    """
    x = next_ / n
    inflation = np.log(8 * n * x * (1 - x)) / 2 if 0 < x < 1 else 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        small = np.where(tail < DEEP, -ndtri_exp(np.minimum(-n * _kl(hits / n, p), log(DEEP))), -ndtri(tail))
        great = np.where(rest < DEEP, ndtri_exp(-n * _kl(x, p) - inflation), ndtri(rest))
    return np.asarray(np.where(tail < 0.5, small, great), dtype=np.float64)


def _kl(a: float, b: Floats | float) -> Floats:
    """KL(Bernoulli(a) || Bernoulli(b)) in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = xlogy(a, a) - xlogy(a, b) + xlog1py(1 - a, -a) - xlog1py(1 - a, -np.asarray(b))
    return np.asarray(np.maximum(value, 0.0), dtype=np.float64)

"""Bets on the outputs of pairs of runs: an e-process against a claimed curve.

A round is a pair: one run on x falls into cell i, one on x' into cell j, each by its own chance. For a cut k and a point (epsilon, delta)
of the claim, the claim says

    P(i >= k) - e^epsilon P(j >= k) - delta <= 0    and the reverse    P(j < k) - e^epsilon P(i < k) - delta <= 0.

Each is an *atom*, divided by e^epsilon + delta. A *bet* holds stakes u >= 0 on all atoms and a *shift* t of any sign, and multiplies its
wealth by G(i) H(j): G is 1 - t plus what the stakes give for i, H is 1 + t plus what they give for j, none of them ever negative. Under the
claim the means of G and H sum to at most 2, so that their product is at most 1. So both orders are bet on at once, each with all of the
wealth, and nothing but how often each cell was seen on each side is needed. The best shift is where the means of G and H are equal, so
that an event that is frequent costs no more than one that is rare. A fixed mixture of such bets is the e-process: by Ville's inequality
its wealth ever reaches 1/alpha with probability at most alpha. Source: theory#betting-on-pairs; Turner, Ly & Grunwald 2024 for the
product; Kelly 1956 and Cover 1984 for the stakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpverify.audits.partition import MAX_CELLS, Counts, CurvePoint
from dpverify.errors import AuditError

Floats = np.ndarray[Any, np.dtype[np.float64]]
Law = tuple[Floats, Floats]  # the probabilities of the K cells under x and under x'

LONG: Final = 0.1  # by so much smaller are the least stakes of long histories,
LONGER: Final = 4  # in so many steps
RESERVE: Final = 1e-3  # what no bet ever stakes: one output costs at most this factor
GENERIC_SHARE: Final = 0.12  # of a mixture designed for alternatives, against what the design did not foresee
MAX_POINTS: Final = 16  # of a curve; the size of everything here grows with it
GENERIC_BETS: Final = 2000  # about how many bets the generic grid may hold
FINE: Final = 24  # stakes at which an event is looked at by itself
SHIFTS: Final = (0.0, 0.1, 0.25)  # of generic bets, times their stakes
FARTHEST_SHIFT: Final = 0.9
ROUNDING: Final = 2.0**-44  # at least the relative error of two products of 16 terms each and a logarithm, 2^-53 each, many times over
SUMMING: Final = 1e-11  # likewise of the sum over the mixture


@dataclass(frozen=True, slots=True)
class Bet:
    """A bet on one event.

    low, high: the event {low <= cell < high}; swapped: whether it speaks for x' against x; point: of the curve, which it was held against;
    log_wealth: in nats, of this bet alone.
    """

    low: int
    high: int
    swapped: bool
    point: CurvePoint
    log_wealth: float


@dataclass(frozen=True, slots=True, eq=False)
class Bets:
    """A fixed mixture of B bets against a claimed curve, on how often each of K cells was seen on x and on x'.

    curve: the points bet against; log_prior: (B,) log of each bet's share; log_left, log_right: (B, K) log of what an output on x in
    cell i, and one on x' in cell j, multiplies a bet by, rounded down.
    """

    size: int
    curve: tuple[CurvePoint, ...]
    log_prior: Floats
    log_left: Floats
    log_right: Floats

    def log_wealth(self, counts: Counts) -> Floats:
        """Log of the mixture's wealth, shape (...), for joint counts of shape (..., K, K); all at once is cheaper than one by one.

        Rounding never creates wealth: every log factor was lowered by more than the error it can contribute, so that for n pairs the
        answer is too low by at most about n * 2^-42 * (greatest log factor) nats. Counts are exact below 2^53.
        """
        left, right = (counts.sum(axis=axis).reshape(-1, self.size).astype(np.float64) for axis in (-1, -2))
        return _mixed(left @ self.log_left.T + right @ self.log_right.T + self.log_prior).reshape(counts.shape[:-2])

    def gains(self, counts: Counts) -> Floats:
        """The log of what (K, K) counts multiply each bet by, (B,)."""
        left, right = (counts.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
        return np.asarray(self.log_left @ left + self.log_right @ right, dtype=np.float64)

    def turnover(self, counts: Counts) -> Floats:
        """The sum of the sizes of all that `gains` adds up, (B,): what its rounding is to be compared with."""
        left, right = (counts.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
        return np.asarray(np.abs(self.log_left) @ left + np.abs(self.log_right) @ right, dtype=np.float64)

    def law_of_log(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """The mean and the variance of what a round adds to the log wealth of each bet, for laws of the cells of shape (..., K)."""
        mean_left, mean_right = left @ self.log_left.T, right @ self.log_right.T
        squares = left @ (self.log_left**2).T + right @ (self.log_right**2).T
        return mean_left + mean_right, (squares - mean_left**2 - mean_right**2).clip(0)

    def best(self, counts: Counts) -> Bet:
        """The event of a cut that by itself, at the stake that suits it best, has gained most on (K, K) counts."""
        left, right = (counts.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
        atoms_left, atoms_right = _atoms(self.size, self.curve)
        stakes = (1 - RESERVE) * np.geomspace(1, 0.01, FINE)[:, None, None]
        wealth = np.log1p(stakes * atoms_left) @ left + np.log1p(stakes * atoms_right) @ right
        atom = int(np.argmax(wealth.max(axis=0)))
        side, cut = divmod(atom, self.size - 1)
        point, swapped = divmod(side, 2)
        low, high = (0, cut + 1) if swapped else (cut + 1, self.size)
        return Bet(low, high, bool(swapped), self.curve[point], float(wealth[:, atom].max()))


def mixture(
    size: int, curve: Sequence[CurvePoint], *, alternatives: Sequence[Law] = (), generic_share: float = GENERIC_SHARE, long: bool = False
) -> Bets:  # fmt: skip
    """A mixture of bets on `size` ordered cells against every point of `curve`.

    alternatives: laws (p, q) of the cells under x and x' that are to be refuted fast, fixed before any data: the mixture then holds for
    each the bet whose wealth grows fastest under it, and keeps `generic_share` on a generic grid of all cuts, which otherwise is all of it.
    long: whether there may be so many pairs that ever smaller faults show, which smaller stakes are for.
    Points that claim nothing (delta at least 1, or an epsilon whose exponential overflows) are left out; of many, every few are taken.
    Raises AuditError for a size out of range, a curve that claims nothing or is not one, and laws of another size.
    """
    if not 2 <= size <= MAX_CELLS:
        raise AuditError(f"bets on {size} cells: a partition has 2 to {MAX_CELLS}; merge cells or split them")
    if bad := [point for point in curve if not (point.epsilon >= 0 and point.delta >= 0)]:
        raise AuditError(f"the claimed curve has {bad[0]}: epsilon and delta are numbers of at least 0")
    points = tuple(point for point in curve if point.delta < 1 and point.epsilon < 700)
    if not points:
        raise AuditError("the claimed curve has no point with epsilon below 700 and delta below 1: it claims nothing that could be refuted")
    points = points[:: -(-len(points) // MAX_POINTS)]
    laws = [(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)) for p, q in alternatives]
    if bad_shapes := [(p.shape, q.shape) for p, q in laws if p.shape != (size,) or q.shape != (size,)]:
        raise AuditError(f"an alternative of shapes {bad_shapes[0]} for {size} cells: give each cell's probability under x and under x'")
    atoms = _atoms(size, points)
    generic = _generic(size, len(points), long)
    pure = len(points) == 1 and points[0].delta == 0
    rows = [_of_cells(p, q, points[0].epsilon) if pure else _of_stakes(_fastest(atoms, p, q)[None], atoms) for p, q in laws]
    rows.append(_of_stakes(generic, atoms))
    left, right = (np.concatenate(side) for side in zip(*rows, strict=True))
    share = generic_share if laws else 1.0
    prior = np.concatenate([np.full(len(laws), (1 - share) / max(len(laws), 1)), np.full(len(generic), share / len(generic))])
    return Bets(size, points, np.log(prior), _logs(left), _logs(right))


def wealth_at(points: Sequence[CurvePoint], counts: Counts) -> Floats:
    """The log wealth, shape (points, T), of the mixture against each point alone, without alternatives, for joint counts (T, K, K)."""
    size, stakes = counts.shape[-1], _generic(counts.shape[-1], 1)
    one, other = (atoms.reshape(len(points), -1, size) for atoms in _atoms(size, points))
    log_left, log_right = map(_logs, _of_stakes(stakes, (one, other)))
    left, right = (counts.sum(axis=axis).astype(np.float64) for axis in (-1, -2))
    return _mixed(left @ log_left.swapaxes(1, 2) + right @ log_right.swapaxes(1, 2) - np.log(len(stakes)))


def _mixed(wealth: Floats) -> Floats:
    """The log of what bets own together, from the logs of what each does (..., B)."""
    most = wealth.max(axis=-1)
    return np.asarray(most + np.log(np.exp(wealth - most[..., None]).sum(axis=-1)) - SUMMING, dtype=np.float64)


def _logs(factors: Floats) -> Floats:
    """Log factors, lowered by more than what they, and sums of them, are wrong by."""
    logs = np.log((1 - RESERVE) * factors + RESERVE - (2 * MAX_CELLS * MAX_POINTS + 16) * 2.0**-52)
    return np.asarray(logs - ROUNDING * np.abs(logs).max(axis=-1, keepdims=True))


def _of_stakes(stakes: Floats, atoms: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The factors of bets (B, atoms + 1), stakes first and then the shift, that are never negative."""
    shift = stakes[:, -1:]
    left, right = 1 - shift + stakes[:, :-1] @ atoms[0], 1 + shift + stakes[:, :-1] @ atoms[1]
    least = np.minimum(left.min(axis=-1), right.min(axis=-1))[..., None]
    part = 1 / (1 + (-least).clip(0))  # of the bet, where it would lose more than there is
    return np.asarray(1 + part * (left - 1)).clip(0), np.asarray(1 + part * (right - 1)).clip(0)


def _of_cells(p: Floats, q: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The bet that grows fastest under (p, q) against a claim of epsilon alone, which bounds each cell by itself.

    With odds = e^epsilon the factors of a cell are 1 - t + a and 1 + t - odds a, or the reverse, or both without a; the best a >= 0 makes
    them proportional to p/(p + q) and q/(p + q). What is gained in all is concave in t.
    """
    odds, total = np.exp(epsilon), np.where(p + q > 0, p + q, 1.0)

    def factors(shift: float) -> tuple[Floats, Floats]:
        gain = ((p * (1 + shift) - odds * q * (1 - shift)) / (odds * total)).clip(0, (1 + shift) / odds)
        against = ((q * (1 - shift) - odds * p * (1 + shift)) / (odds * total)).clip(0, (1 - shift) / odds)
        return (1 - shift + gain - odds * against).clip(0), (1 + shift - odds * gain + against).clip(0)

    def gained(shift: float) -> float:
        left, right = factors(shift)
        return float(p @ np.log(left + RESERVE) + q @ np.log(right + RESERVE))

    low, high = -FARTHEST_SHIFT, FARTHEST_SHIFT
    for _ in range(26):  # thirds: any shift is valid
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if gained(one) < gained(two) else (low, two)
    left, right = factors((low + high) / 2)
    return left[None], right[None]


def _atoms(size: int, curve: Sequence[CurvePoint]) -> tuple[Floats, Floats]:
    """What each atom gives for a cell on x and for one on x': both (2 * points * (K - 1), K), by point, order (x first), cut 1 to K - 1."""
    high = (np.arange(size) >= np.arange(1, size)[:, None]).astype(np.float64)  # (cuts, K)
    left, right = [], []
    for point in curve:
        odds, loss = np.exp(point.epsilon), np.exp(point.epsilon) + point.delta
        left += [(high - point.delta) / loss, -odds * (1 - high) / loss]
        right += [-odds * high / loss, (1 - high - point.delta) / loss]
    return np.concatenate(left), np.concatenate(right)


@lru_cache(maxsize=64)  # the same at every epsilon, and climbing along epsilon asks for it often
def _generic(size: int, points: int, long: bool = False) -> Floats:
    """Stakes, then a shift, for cells in order: of each cut one order, the other, both, and both at mirrored cuts."""
    cuts = np.arange(size - 1)
    one, other = np.eye(2 * (size - 1))[cuts], np.eye(2 * (size - 1))[size - 1 + cuts]
    mirrored = (one + other[::-1])[2 * cuts != size - 2]  # the middle cut is its own mirror
    shapes = np.concatenate([one] * len(SHIFTS) + [other] * len(SHIFTS) + [one + other, mirrored])
    shifts = np.repeat(SHIFTS + tuple(-shift for shift in SHIFTS), size - 1)
    shifts = np.append(shifts, np.zeros(len(shapes) - len(shifts)))
    steps = int(np.clip(GENERIC_BETS // (len(shapes) * points), 3, 8))
    sums = np.geomspace(1, 0.03 if steps < 6 else 0.01, steps)
    sums = np.concatenate([sums, sums[-1] * np.geomspace(1, LONG, LONGER + 1)[1:]]) if long else sums
    stakes = [np.kron(np.eye(points)[[point]], total * shapes) for point in range(points) for total in sums]
    return np.column_stack([np.concatenate(stakes), np.tile(np.concatenate([total * shifts for total in sums]), points)])


def _fastest(atoms: tuple[Floats, Floats], p: Floats, q: Floats) -> Floats:
    """The stakes and the shift under which wealth grows fastest when the cells' laws are p and q: the greatest mean of log G + log H.

    A concave problem, by Newton steps along the barrier's central path. Any feasible answer is a valid bet: a poor one costs power only.
    """
    ones = np.ones((1, atoms[0].shape[1]))
    left, right = np.concatenate([atoms[0], -ones]), np.concatenate([atoms[1], ones])
    many = len(left) - 1
    u = np.append(np.full(many, 0.5 / many), 0.0)
    for barrier in np.geomspace(1e-2, 1e-8 / many, 7):
        weights = (p + barrier, q + barrier)  # no factor is negative, also of cells that are never seen

        def height(v: Floats, weights: tuple[Floats, Floats] = weights, barrier: float = barrier) -> float:
            one, two = 1 + v @ left, 1 + v @ right
            if min(one.min(), two.min(), v[:-1].min()) <= 0:
                return -np.inf
            return float(weights[0] @ np.log(one) + weights[1] @ np.log(two) + barrier * np.log(v[:-1]).sum())

        for _ in range(30):
            one, two = 1 + u @ left, 1 + u @ right
            slope = left @ (weights[0] / one) + right @ (weights[1] / two)
            slope[:-1] += barrier / u[:-1]
            scaled = np.concatenate([left * (np.sqrt(weights[0]) / one), right * (np.sqrt(weights[1]) / two)], axis=1)
            bend = scaled @ scaled.T
            bend[np.diag_indices(many)] += barrier / u[:-1] ** 2
            step = np.linalg.solve(bend, slope)
            gain, length = float(slope @ step), 1.0
            now = height(u)
            while length > 1e-6 and not height(u + length * step) >= now + 1e-3 * length * gain:
                length /= 2
            if length <= 1e-6:
                break
            u = u + length * step
            if gain < 0.1 * barrier:
                break
    return u

"""Bets on the outputs of pairs of runs: an e-process against a claimed curve.

A round is a pair: one run on x falls into cell i, one on x' into cell j, each by its own chance. For a cut k and a point (epsilon, delta)
of the claim, the claim says

    P(i >= k) - e^epsilon P(j >= k) - delta <= 0    and the reverse    P(j < k) - e^epsilon P(i < k) - delta <= 0.

Each is an *atom*, divided by e^epsilon + delta. A *bet* holds stakes u >= 0 on all atoms, with a sum below 1 for each order, and multiplies
its wealth by G(i) H(j): G is 1 plus what the stakes give for i, H is 1 plus what they give for j. Under the claim the means of G and H
sum to at most 2, so that their product is at most 1. So both orders are bet on at once, each with all of the wealth, and nothing but how
often each cell was seen on each side is needed. A fixed mixture of such bets is the e-process: by Ville's inequality its wealth ever reaches
1/alpha with probability at most alpha. Source: theory#betting-on-pairs; Turner, Ly & Grunwald 2024 for the product; Kelly 1956 and Cover
1984 for the stakes.
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

RESERVE: Final = 1e-3  # what no bet ever stakes: one round costs at most this factor
GENERIC_SHARE: Final = 0.12  # of a mixture designed for alternatives, against what the design did not foresee
MAX_POINTS: Final = 16  # of a curve; the size of everything here grows with it
GENERIC_BETS: Final = 2000  # about how many bets the generic grid may hold
FINE: Final = 24  # stakes at which an event is looked at by itself
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
        wealth = left @ self.log_left.T + right @ self.log_right.T + self.log_prior
        most = wealth.max(axis=1)
        mixed = most + np.log(np.exp(wealth - most[:, None]).sum(axis=1)) - SUMMING
        return np.asarray(mixed, dtype=np.float64).reshape(counts.shape[:-2])

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
    size: int, curve: Sequence[CurvePoint], *, alternatives: Sequence[Law] = (), generic_share: float = GENERIC_SHARE
) -> Bets:  # fmt: skip
    """A mixture of bets on `size` ordered cells against every point of `curve`.

    alternatives: laws (p, q) of the cells under x and x' that are to be refuted fast, fixed before any data: the mixture then holds for
    each the bet whose wealth grows fastest under it, and keeps `generic_share` on a generic grid of all cuts, which otherwise is all of it.
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
    generic = _generic(size, len(points))
    pure = len(points) == 1 and points[0].delta == 0
    rows = [_of_cells(p, q, points[0].epsilon) if pure else _of_stakes(_fastest(atoms, p, q)[None], atoms) for p, q in laws]
    rows.append(_of_stakes(generic, atoms))
    left, right = (np.concatenate(side) for side in zip(*rows, strict=True))
    share = generic_share if laws else 1.0
    prior = np.concatenate([np.full(len(laws), (1 - share) / max(len(laws), 1)), np.full(len(generic), share / len(generic))])
    return Bets(size, points, np.log(prior), _rounded_down(left), _rounded_down(right))


def _rounded_down(log_factors: Floats) -> Floats:
    """Log factors, lowered by more than what sums of them are wrong by."""
    return np.asarray(log_factors - ROUNDING * np.abs(log_factors).max(axis=1, keepdims=True))


def _of_stakes(stakes: Floats, atoms: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The log factors of bets with stakes (B, atoms), rounded down."""
    error = (len(atoms[0]) + 16) * 2.0**-52  # of a sum of so many products that are at most 1 together, and of the atoms in it
    return np.log(1 + stakes @ atoms[0] - error), np.log(1 + stakes @ atoms[1] - error)


def _of_cells(p: Floats, q: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The bet that grows fastest under (p, q) against a claim of epsilon alone, which bounds each cell by itself.

    An output in cell i is one on x with probability p/(p + q), and under the claim with at most e^epsilon/(1 + e^epsilon): the factors are
    the ratios of these. They are 1 + a and 1 - e^epsilon a on x and x', or the reverse, with 0 <= a <= e^-epsilon.
    """
    most = 1 / (1 + np.exp(-epsilon))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(p + q > 0, p / (p + q), 0.5)
    forward, reverse = np.maximum(share, most), np.minimum(share, 1 - most)
    gain = np.where(share > most, (forward - most) / most, 0.0)  # a: so that both factors are of one number, whatever it was rounded to
    against = np.where(share < 1 - most, (1 - most - reverse) / most, 0.0)
    odds, kept, error = np.exp(epsilon), 1 - RESERVE, 18 * 2.0**-52
    left = 1 + kept * (gain - odds * against) - error
    right = 1 + kept * (against - odds * gain) - error
    return np.log(left)[None], np.log(right)[None]


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
def _generic(size: int, points: int) -> Floats:
    """Stakes for cells of which only the order is known: at every cut one order, the other, both, and both at mirrored cuts."""
    cuts = np.arange(size - 1)
    one, other = np.eye(2 * (size - 1))[cuts], np.eye(2 * (size - 1))[size - 1 + cuts]
    mirrored = (one + other[::-1])[2 * cuts != size - 2]  # the middle cut is its own mirror
    shapes = np.concatenate([one, other, one + other, mirrored])
    steps = int(np.clip(GENERIC_BETS // (len(shapes) * points), 3, 8))
    sums = (1 - RESERVE) * np.geomspace(1, 0.03 if steps < 6 else 0.01, steps)
    return np.concatenate([np.kron(np.eye(points)[[point]], total * shapes) for point in range(points) for total in sums])


def _fastest(atoms: tuple[Floats, Floats], p: Floats, q: Floats) -> Floats:
    """The stakes under which wealth grows fastest when the cells' laws are p and q: the greatest mean of log G + log H.

    A concave problem on two simplices, one for each order, by Newton steps along the barrier's central path. Any feasible answer is a valid
    bet: a poor one costs power only.
    """
    left, right = atoms
    many, size = left.shape
    orders = np.kron(np.ones(many // (2 * size - 2)), np.kron(np.eye(2), np.ones(size - 1)))  # (2, atoms): which order each is of
    u = np.full(many, 1.0 / many)
    for barrier in np.geomspace(1e-2, 1e-8 / many, 7):

        def height(v: Floats, weight: float = barrier) -> float:
            grown = p @ np.log1p(v @ left) + q @ np.log1p(v @ right)
            return float(grown + weight * (np.log(v).sum() + np.log(1 - orders @ v).sum()))

        for _ in range(30):
            one, two, cash = 1 + u @ left, 1 + u @ right, 1 - orders @ u
            slope = left @ (p / one) + right @ (q / two) + barrier / u - orders.T @ (barrier / cash)
            scaled = np.concatenate([left * (np.sqrt(p) / one), right * (np.sqrt(q) / two)], axis=1)
            bend = scaled @ scaled.T + np.diag(barrier / u**2) + (orders.T * (barrier / cash**2)) @ orders
            step = np.linalg.solve(bend, slope)
            gain = float(slope @ step)
            reach = max(float((-step / u).max()), float((orders @ step / cash).max()), 1e-9)
            length = min(1.0, 0.95 / reach)
            while length > 1e-6 and height(u + length * step) < height(u) + 1e-3 * length * gain:
                length /= 2
            u = u + length * step
            if gain < 0.1 * barrier or length <= 1e-6:
                break
    return np.asarray(u * ((1 - RESERVE) / max(1.0, float((orders @ u).max()))))

"""Bets on joint counts: an e-process against a claimed curve.

A round is a pair: one run on x falls into cell i, one on x' into cell j. For a cut k and a point (epsilon, delta) of the claim,

    W  = 1[i >= k] - e^epsilon 1[j >= k] - delta    and the reverse    W' = 1[j < k] - e^epsilon 1[i < k] - delta

have mean at most 0 if the claim is true. Each is an *atom*; divided by its greatest loss e^epsilon + delta, an atom never falls below -1.
A *bet* holds stakes u >= 0 on all atoms, with a sum below 1: its wealth is multiplied by 1 + sum of u * atom > 0 each round, whose mean is
at most 1 under the claim, whatever the dependence between the two runs of a pair. A fixed mixture of such bets is the e-process: by Ville's
inequality its wealth ever reaches 1/alpha with probability at most alpha. Source: theory#betting-on-pairs; Kelly 1956 and Cover 1984
for the stakes.
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
RESERVE: Final = 1e-3  # what no bet ever stakes: one round costs at most this factor
GENERIC_SHARE: Final = 0.12  # of a mixture designed for alternatives, against what the design did not foresee
MAX_POINTS: Final = 16  # of a curve; the size of everything here grows with it
GENERIC_BETS: Final = 2000  # about how many bets the generic grid may hold: its factors are K * K doubles each
ROUNDING: Final = 2.0**-44  # at least the relative error of a product of 256 terms and a logarithm, 2^-53 each, twice over
SUMMING: Final = 1e-11  # likewise of the sum over the mixture


@dataclass(frozen=True, slots=True)
class Bet:
    """The bet of a mixture that gained most, and the event that gained most in it.

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
    """A fixed mixture of B bets against a claimed curve, on K x K joint counts.

    curve: the points bet against; stakes: (B, atoms), in the order point, direction (x against x' first), cut 1 to K - 1;
    log_prior: (B,) log of each bet's share; log_factors: (B, K * K) log of what a round in cells (i, j) multiplies a bet by, rounded down.
    """

    size: int
    curve: tuple[CurvePoint, ...]
    stakes: Floats
    log_prior: Floats
    log_factors: Floats

    def log_wealth(self, counts: Counts) -> Floats:
        """Log of the mixture's wealth, shape (...), for joint counts of shape (..., K, K); all at once is cheaper than one by one.

        Rounding never creates wealth: every log factor was lowered by more than the error it can contribute, so that for n pairs the
        answer is too low by at most about n * 2^-43 * (greatest log factor) nats. Counts are exact below 2^53.
        """
        flat = counts.reshape(-1, self.size**2).astype(np.float64)
        wealth = flat @ self.log_factors.T + self.log_prior
        most = wealth.max(axis=1)
        mixed = most + np.log(np.exp(wealth - most[:, None]).sum(axis=1)) - SUMMING
        return np.asarray(mixed, dtype=np.float64).reshape(counts.shape[:-2])

    def gains(self, counts: Counts) -> Floats:
        """The log of what (K, K) counts multiply each bet by, (B,)."""
        return np.asarray(self.log_factors @ counts.reshape(-1).astype(np.float64), dtype=np.float64)

    def best(self, counts: Counts) -> Bet:
        """The bet with most of the mixture's wealth on (K, K) counts, and its event."""
        flat = counts.reshape(-1).astype(np.float64)
        wealth = self.log_factors @ flat
        bet = int(np.argmax(wealth + self.log_prior))
        atom = int(np.argmax(self.stakes[bet] * (_atoms(self.size, self.curve) @ flat)))
        side, cut = divmod(atom, self.size - 1)
        point, swapped = divmod(side, 2)
        low, high = (0, cut + 1) if swapped else (cut + 1, self.size)
        return Bet(low, high, bool(swapped), self.curve[point], float(wealth[bet]))


def mixture(size: int, curve: Sequence[CurvePoint], *, alternatives: Sequence[Law] = (), long: bool = False) -> Bets:
    """A mixture of bets on `size` ordered cells against every point of `curve`.

    alternatives: laws (p, q) of the cells under x and x' that are to be refuted fast, fixed before any data: the mixture then holds for
    each the bet whose wealth grows fastest under it, and keeps a small share on a generic grid of all cuts, which otherwise is all of it.
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
    designed = np.array([_fastest(atoms, np.outer(p, q).ravel()) for p, q in laws]).reshape(len(laws), len(atoms))
    stakes = np.concatenate([designed, generic])
    share = GENERIC_SHARE if laws else 1.0
    prior = np.concatenate([np.full(len(laws), (1 - share) / max(len(laws), 1)), np.full(len(generic), share / len(generic))])
    error = (len(atoms) + 16) * 2.0**-52  # of a sum of so many products that are at most 1 together, and of the atoms in it
    factors = np.log(1 + stakes @ atoms - error)
    factors -= ROUNDING * np.abs(factors).max(axis=1, keepdims=True)
    return Bets(size, points, stakes, np.log(prior), factors)


def _atoms(size: int, curve: Sequence[CurvePoint]) -> Floats:
    """The atoms on K x K cells, each divided by its greatest loss: (2 * points * (K - 1), K * K), in the order of `Bets.stakes`."""
    high = np.arange(size) >= np.arange(1, size)[:, None]  # (cuts, K)
    rows = []
    for point in curve:
        odds = np.exp(point.epsilon)
        forward = (high[:, :, None] - odds * high[:, None, :] - point.delta) / (odds + point.delta)
        reverse = (~high[:, None, :] - odds * ~high[:, :, None] - point.delta) / (odds + point.delta)
        rows += [forward, reverse]
    return np.concatenate(rows).reshape(-1, size**2)


@lru_cache(maxsize=64)  # the same at every epsilon, and climbing along epsilon asks for it often
def _generic(size: int, points: int, long: bool = False) -> Floats:
    """Stakes for cells of which only the order is known: at every cut one direction, the other, both, and both at mirrored cuts."""
    cuts = np.arange(size - 1)
    one, other = np.eye(2 * (size - 1))[cuts], np.eye(2 * (size - 1))[size - 1 + cuts]
    mirrored = (one + other[::-1])[2 * cuts != size - 2] / 2  # the middle cut is its own mirror
    shapes = np.concatenate([one, other, (one + other) / 2, mirrored])
    steps = int(np.clip(GENERIC_BETS // (len(shapes) * points), 3, 8))
    sums = (1 - RESERVE) * np.geomspace(1, 0.03 if steps < 6 else 0.01, steps)
    sums = np.concatenate([sums, sums[-1] * np.geomspace(1, LONG, LONGER + 1)[1:]]) if long else sums
    return np.concatenate([np.kron(np.eye(points)[[point]], total * shapes) for point in range(points) for total in sums])


def _fastest(atoms: Floats, joint: Floats) -> Floats:
    """The stakes under which wealth grows fastest when the joint law of cells is `joint`: the greatest mean of log(1 + u @ atoms).

    A concave problem on the simplex, by Newton steps along the barrier's central path. Any feasible answer is a valid bet: a poor one costs
    power only.
    """
    many = len(atoms)
    u = np.full(many, 0.5 / many)
    for barrier in np.geomspace(1e-2, 1e-8 / many, 9):

        def height(v: Floats, weight: float = barrier) -> float:
            return float(joint @ np.log1p(v @ atoms) + weight * (np.log(v).sum() + np.log(1 - v.sum())))

        for _ in range(30):
            factor, cash = 1 + u @ atoms, 1 - u.sum()
            slope = atoms @ (joint / factor) + barrier / u - barrier / cash
            scaled = atoms * (np.sqrt(joint) / factor)
            step = np.linalg.solve(scaled @ scaled.T + np.diag(barrier / u**2) + barrier / cash**2, slope)
            gain = float(slope @ step)
            reach = max(float((-step / u).max()), float(step.sum() / cash), 1e-9)
            length = min(1.0, 0.95 / reach)
            while length > 1e-6 and height(u + length * step) < height(u) + 1e-3 * length * gain:
                length /= 2
            u = u + length * step
            if gain < 0.1 * barrier or length <= 1e-6:
                break
    return u * ((1 - RESERVE) / max(1.0, float(u.sum())))

"""Powers above what parts lose, such that their sum is about the greatest loss over all differences of length 1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpverify.search import numeric
from dpverify.search.proposal import bound
from dpverify.trusted.combinators import candidates, moves
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Part, Product
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import joint_moves as rule
from dpverify.trusted.theories.composition.rules.joint_moves import Power

_STARTS = 12
_STEPS = 300
_POINTS = 20_000
_SLACK = 1e-9
_DIGITS = 10**15
_MOST_CELLS = 2_000
_TRIES = 400
_FINE = 2**24

Plan = dict[str, Any]
Array = Any


def propose(claim: Claim, premises: Callable[[Claim, str], Plan | None]) -> tuple[list[Plan], list[tuple[Fraction, ...]]]:
    """A step for the rule joint-moves, and about the worst difference; none where a part's loss is not known as an expression."""
    root = whole(claim).part
    try:
        parts = list(moves.leaves(root))
        factor = float(candidates.root_factor(root))
        proof = Proof(claim)
        known = [_loss(proof, number, part, premises) for number, (part, _) in enumerate(parts)]
        adjacency = next(part.query.adjacency for part, _ in parts if part.query is not None)
        rows = [_gram(part) for part, _ in parts]
        found = _Powers([loss for loss, _ in known], rows, [times for _, times in parts], factor, adjacency)
        step: Plan = {"rule": rule.NAME, "evidence": found.evidence(), "premises": [fact for _, fact in known]}
        bound(proof, (), step)
    except (DpverifyError, StopIteration, ArithmeticError, ValueError):
        return [], []
    return [step], [tuple(Fraction(x).limit_denominator(_FINE) for x in found.worst)]


def _loss(proof: Proof, number: int, part: Part, premises: Callable[[Claim, str], Plan | None]) -> tuple[Expr, Fact]:
    rule.part_rows(part)
    asked = moves.question(part)
    step = premises(asked, "upper")
    if step is None:
        raise Undecided("what a part loses is not known as an expression.")
    fact = bound(proof, ({"moved": number},), step)
    return pure_of(fact, asked, rule.NAME)[0], fact


def _gram(part: Part) -> list[Array]:
    """The squares of what the answers move by, as matrices: one for each coordinate that loses by itself."""
    rows = np.array([[float(x) for x in row] for row in rule.part_rows(part)])
    return [np.outer(row, row) for row in rows] if isinstance(part.mechanism, Product) else [rows.T @ rows]


class _Powers:
    """The search of one claim. Everything is in floats until the evidence is written."""

    def __init__(self, losses: list[Expr], grams: list[list[Array]], times: list[int], factor: float, adjacency: str) -> None:
        self._losses, self._grams, self._times, self._factor = losses, grams, times, factor
        self.worst: list[float] = []
        self._degree = 1 if adjacency == "l1" else 2
        self._values = [numeric.vectorised(loss, moves.MOVED.name) for loss in losses]
        self._reach = [factor * max(float(np.sqrt(np.trace(gram))) for gram in some) for some in grams]
        self._grids = [np.linspace(0, reach, _POINTS + 1)[1:] for reach in self._reach]
        self._heights = [np.asarray(value(grid)) for value, grid in zip(self._values, self._grids, strict=True)]

    def _slopes(self, v: Array) -> Array:
        """About the best beta of each part where histograms differ by v: half the slope of its loss over the move."""
        found = []
        for value, grams in zip(self._values, self._grams, strict=True):
            moves = [max(float(np.sqrt(max(v @ gram @ v, 0))), 1e-9) for gram in grams]
            u = float(np.mean(moves))
            around = np.array([u * (1 - 1e-6), u * (1 + 1e-6)])
            low, high = value(around)
            found.append(max(float(high - low), 0.0) / (around[1] - around[0]) / (2 * u if self._degree == 2 else 1))
        return np.array(found)

    def _form(self, betas: Array) -> Array:
        return sum(times * beta * sum(grams) for times, beta, grams in self._each(betas))

    def _most(self, betas: Array) -> float:
        if self._degree == 2:
            return float(np.linalg.eigvalsh(self._form(betas))[-1])
        moves = [times * beta * sum(np.sqrt(np.diag(gram)) for gram in grams) for times, beta, grams in self._each(betas)]
        return float(np.max(sum(moves)))

    def _each(self, betas: Array) -> Any:
        return zip(self._times, betas, self._grams, strict=True)

    def _alphas(self, betas: Array) -> list[float]:
        return [
            max(float(np.max(heights - beta * grid**self._degree)), 0.0)
            for heights, beta, grid in zip(self._heights, betas, self._grids, strict=True)
        ]

    def _total(self, betas: Array) -> float:
        alphas = self._alphas(betas)
        spent = sum(times * len(grams) * alpha for times, grams, alpha in zip(self._times, self._grams, alphas, strict=True))
        return spent + self._factor**self._degree * self._most(betas)

    def _betas(self) -> Array:
        """The best betas at a few local maxima of the sum of losses, polished."""
        rng = np.random.default_rng(1)
        size, best = self._grams[0][0].shape[0], None
        starts = [np.ones(size), *np.eye(size)[:_STARTS], *rng.normal(size=(_STARTS, size))]
        for v in starts:
            v = self._factor * v / np.linalg.norm(v)
            for _ in range(_STEPS):
                moved = self._form(self._slopes(v)) @ v
                length = np.linalg.norm(moved)
                if not length > 0:
                    break
                before, v = v, self._factor * moved / length
                if np.linalg.norm(v - before) < 1e-12:
                    break
            betas = self._slopes(v)
            total = self._total(betas)
            if best is None or total < best[0]:
                best = total, betas
                self.worst = [float(x) for x in v]
        assert best is not None
        return self._polished(best[1])

    def _polished(self, betas: Array) -> Array:
        from scipy.optimize import minimize

        def height(logs: Array) -> float:
            return self._total(np.exp(logs))

        start = np.log(np.maximum(betas, 1e-12))
        found = minimize(height, start, method="Nelder-Mead", options={"maxfev": _TRIES, "xatol": 1e-10, "fatol": 1e-12})
        return np.exp(found.x) if found.fun < height(start) else betas

    def evidence(self) -> Plan:
        betas = [_up(beta) for beta in self._betas()]
        alphas = [_up(alpha + _SLACK * (1 + abs(alpha))) for alpha in self._alphas(np.array([float(beta) for beta in betas]))]
        most = self._most(np.array([float(beta) for beta in betas]))
        parts = [
            {
                "alpha": str(alpha),
                "beta": str(beta),
                "cuts": [str(cut) for cut in _cuts(Power(loss, alpha, beta, self._degree), reach)],
            }
            for alpha, beta, loss, reach in zip(alphas, betas, self._losses, self._reach, strict=True)
        ]
        return {"most": str(_up(most * (1 + _SLACK / 100) + 1e-13)), "parts": parts}


def _up(x: float) -> Fraction:
    return Fraction(int(np.ceil(x * _DIGITS)), _DIGITS)


def _cuts(power: Power, reach: float) -> list[Fraction]:
    """Cells on each of which alpha + beta u^k is certainly above the loss. Raises Undecided."""
    end = Fraction(reach * (1 + 1e-9) + 1e-12).limit_denominator(10**12)
    cuts, stack = [Fraction(0)], [(Fraction(0), end)]
    while stack:
        low, high = stack.pop()
        if power.covers(low, high):
            cuts.append(high)
            continue
        if len(cuts) + len(stack) > _MOST_CELLS or high - low < end / 2**40:
            raise Undecided("the power is not certainly above the loss.")
        middle = (low + high) / 2
        stack += [(middle, high), (low, middle)]
    return cuts

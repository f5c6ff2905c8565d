"""Noisy votes of one database: the law of who has the most votes there, and at every neighbour of it."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import special

from dpverify.audits.declared.base import Array
from dpverify.audits.declared.finite import MOST_ROWS, Rows
from dpverify.errors import AuditError
from dpverify.search.numeric import number
from dpverify.trusted.kernel.model import Claim, NoisyVotes

_NODES: Final = 400
_REACH: Final = 12.0


class VotesLaw(Rows):
    """An output is the number of the candidate who wins; an input is the list of votes, of the database or of a neighbour of it."""

    def __init__(self, claim: Claim, sigma: float, votes: Array) -> None:
        candidates = self.dimension = len(votes)
        moved = [(a, b) for a in range(candidates) for b in range(candidates) if a != b and votes[a] > 0]
        self.inputs = [votes, *(votes - np.eye(candidates)[a] + np.eye(candidates)[b] for a, b in moved)]
        pairs = {(0, row) for row in range(1, len(self.inputs))}
        super().__init__(claim, np.array([winners(each / sigma) for each in self.inputs]), frozenset(pairs | {(b, a) for a, b in pairs}))

    def row_of(self, x: Array) -> int:
        """The number of an input. Raises AuditError for votes that are neither those of the database nor those of a neighbour."""
        for row, votes in enumerate(self.inputs):
            if np.array_equal(np.ravel(x), votes):
                return row
        raise AuditError(
            f"{np.ravel(x).tolist()} are not the votes of the claim, {self.inputs[0].tolist()}, or what these are after one voter votes "
            "otherwise; the claim is about these alone."
        )

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """The votes, and those of the neighbour that is told apart best."""
        return [(self.inputs[int(a[0])], self.inputs[int(b[0])]) for a, b in super().worst_pairs()]

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether one of them is the database of the claim, and the other is it or a neighbour of it."""
        try:
            return super().neighbours(x, x_prime)
        except AuditError:
            return False


def winners(votes: Array) -> Array:
    """How probable it is that each candidate has the most votes with noise of deviation 1, to about 1e-12.

    Equally spaced points integrate what is analytic and falls so fast to that accuracy.
    """
    nodes = np.linspace(votes.min() - _REACH, votes.max() + _REACH, int(_NODES + 8 * np.ptp(votes)))
    gaps = nodes[:, None] - votes
    logs = special.log_ndtr(gaps)
    found = np.exp(logs.sum(axis=1)[:, None] - logs - gaps**2 / 2).sum(axis=0)
    return np.asarray(found / found.sum())


def noisy_votes(claim: Claim) -> VotesLaw | None:
    """The law of one list of votes; None of several lists, and of more neighbours than are looked at."""
    mechanism = claim.mechanism
    assert isinstance(mechanism, NoisyVotes)
    if len(mechanism.votes) != 1 or len(mechanism.votes[0]) ** 2 > MOST_ROWS:
        return None
    return VotesLaw(claim, number(mechanism.sigma), np.array([float(x) for x in mechanism.votes[0]]))

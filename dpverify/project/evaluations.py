"""What evaluations of t noise on functions cost: epsilon against their number, each row enclosed.

Source: theory#evaluations-epsilon; Reimherr & Awan 2019, Corollary 1 and Theorem 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dpverify.errors import SpecError
from dpverify.search.decimals import decimal_bounds
from dpverify.search.processes import evaluation_tables
from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Claim, EllipticalProcess

MOST: Final = 100_000
_SHOWN: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Of the first 1, 2, ... evaluations: what they see of the difference, and the tight epsilon at delta 0, as decimals on both sides."""

    claim: Claim
    digits: int
    rows: tuple[evaluation_tables.Row, ...]

    def json(self) -> dict[str, Any]:
        """All rows as a JSON value: decimals as text, rounded outward."""
        rows = [{"evaluations": row.n, "norm": [*self._ends(row.norm)], "epsilon": [*self._ends(row.epsilon)]} for row in self.rows]
        return {"points": rows}

    def __str__(self) -> str:
        """The rows for 1, 2, 5, 10, 20, ... evaluations, and the last, for people."""
        last = len(self.rows)
        wanted = sorted({1, last} | {k * 10**e for e in range(len(str(last))) for k in _SHOWN if k * 10**e <= last})
        width = self.digits + 8
        lines = [f"{'evaluations':>12} {'norm seen':>{width}} {'epsilon':>{width}}"]
        for row in (self.rows[n - 1] for n in wanted):
            lines.append(f"{row.n:>12} {self._ends(row.norm)[0]:>{width}} {self._ends(row.epsilon)[0]:>{width}}")
        return "\n".join(lines)

    def _ends(self, ball: Any) -> tuple[str, str]:
        low, high = (decimal_bounds(Num(exact(end)), self.digits)[side] for side, end in enumerate((ball.lower(), ball.upper())))
        return low, high


def evaluations(claim: Claim, most: int, digits: int = 12) -> Evaluations:
    """What the first 1 to `most` evaluations cost: of a sequence its coefficients, else the ends of `most` equal steps of its interval.

    A sensitivity that is stated is what all of them see. Raises SpecError for a claim about no t process with one difference, and where
    the numbers do not carry the digits.
    """
    noise = claim.mechanism
    if not isinstance(noise, EllipticalProcess) or claim.domains:
        raise SpecError("evaluations are those of a claim about an elliptical_process, whose parameters have values.")
    if len(noise.differences) != 1 and claim.sensitivity is None:
        raise SpecError("evaluations are of one difference: state it in the claim, with a covariance in the mechanism, or a sensitivity.")
    if not 1 <= most <= MOST:
        raise SpecError(f"evaluations = {most} is not a whole number from 1 to {MOST}.")
    try:
        rows = evaluation_tables.table(noise, most, digits, None if noise.differences else claim.sensitivity)
    except DpverifyError as error:
        raise SpecError(f"evaluations: {error}") from error
    return Evaluations(claim, digits, tuple(rows))

"""The error of the unbiased estimate of a bit from its randomized response.

Theorem: A bit answered truly with probability p, not 1/2, is estimated without bias by (y - (1 - p))/(2 p - 1); whatever the bit is, the
mean absolute error is 2 p (1 - p)/|2 p - 1| and the root mean square sqrt(p (1 - p))/|2 p - 1|. Of a count of n bits, each answered by
itself, the root mean square is sqrt(n) times that.

Checked:
- two inputs and two outputs, the truth with one probability, between 0 and 1 and not 1/2

Source: docs/theory/utility.md#randomized-response-estimate, Warner 1965
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.errors import ErrorBound, known
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, call, div, mul, num, power, sqrt, sub
from dpverify.trusted.kernel.model import Claim, Table

NAME: Final = "randomized-response-estimate"
ASSUMED: Final = ("the sampler is ideal",)
READ: Final = "an answer is read by its unbiased estimate of one bit; of a count of n bits the root mean square is sqrt(n) times that"


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """Both errors, exactly; there is nothing to be told. Raises Rejected."""
    p = _truth(claim)
    share = div(ONE, call("abs", sub(mul(num(2), p), ONE)))
    variance = mul(p, sub(ONE, p))
    mean, root = mul(num(2), variance, share), mul(sqrt(variance), share)
    return (*known("expected_l2", mean, assumed=(READ,)), *known("rms_l2", root, assumed=(READ,)))


def _truth(claim: Claim) -> Expr:
    """The probability of the truth. Raises Rejected for another mechanism."""
    table = claim.mechanism
    if not isinstance(table, Table) or len(table.rows) != 2 or len(table.rows[0]) != 2 or claim.domains:
        raise Rejected(NAME, "the mechanism", "it is not a table of two inputs and two outputs, with numbers for its probabilities")
    (p, lie), (other_lie, other_p) = table.rows
    if not all(certainly_equal(a, b) for a, b in ((p, other_p), (lie, sub(ONE, p)), (other_lie, lie))):
        raise Rejected(NAME, "the table", "it does not tell the truth with one probability on both inputs")
    half = sub(mul(num(2), p), ONE)
    if not (certainly_lt(ZERO, p) and certainly_lt(p, ONE) and certainly_lt(ZERO, power(half, num(2)))):
        raise Rejected(NAME, "the table", "the probability of the truth is not certainly between 0 and 1, other than 1/2")
    return p

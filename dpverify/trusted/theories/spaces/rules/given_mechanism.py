"""One mechanism on finitely many points: whether its answers are near the truth, and how private it is (theory#given-mechanism).

Theorem: A mechanism with the probabilities P[x, y] is epsilon-private where log(P[x, y]/P[x', y]) <= epsilon dist(x, x') for all x, x', y,
and at no smaller one; no epsilon holds of a claim that its answers are within gamma but with probability beta where they are further than
gamma with a greater probability on one database.

Checked:
- the distances are a metric, and databases as declared exist
- the probabilities sum to 1 in every row, or are those of the exponential mechanism on the distances
- the probability of answers that are further than gamma, on every database or on the one that is named
- the ratio of every two rows, or the one that is named

Source: docs/theory/spaces.md#given-mechanism, Kleinberg & Ligett 2010, Definition 2.2; McSherry & Talwar 2007
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import div, format_expr
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_whole, to_whole
from dpverify.trusted.theories.spaces.databases import far, finite, law_of, require

NAME: Final = "given-mechanism"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """A bound on the epsilon of the mechanism that is given. Raises Rejected.

    evidence: "epsilon", for an upper bound; "far", the number of a database on which answers are too far, for an infinite lower one; or
    "cell", [x, x', y], the loss there as a lower one.
    """
    given, epsilon = finite(claim, {"epsilon": evidence.get("epsilon", "0")}, NAME, one=True)
    law = law_of(given, given.space.table, NAME)
    if "epsilon" in evidence:
        require(given, law, epsilon, NAME)
        return Bound("upper", epsilon)
    if "far" in evidence:
        x = read_whole(evidence, "far", NAME, 0, len(given.truth) - 1)
        beyond = far(given, law, x, NAME)
        if not certainly_lt(given.beta, beyond):
            raise Rejected(NAME, f"database {x}", "its answers are not certainly too far with a greater probability than beta")
        return Bound("lower", INFINITE, witness={"pair": {"says": "database", "number": x}, "further than within": format_expr(beyond)})
    first, second, third = evidence["cell"]
    x, other = (to_whole(one, "cell", NAME, 0, len(given.truth) - 1) for one in (first, second))
    y = to_whole(third, "cell", NAME, 0, len(given.distances) - 1)
    if x == other:
        raise Rejected(NAME, "cell", "a database is not told from itself")
    witness = {"pair": [x, other], "event": f"{{{y}}}"}
    if law.is_zero(x, y):
        raise Rejected(NAME, [x, other, y], "a probability is 0")
    if law.is_zero(other, y):
        return Bound("lower", INFINITE, witness=witness)
    return Bound("lower", div(law.loss((x, other, y)), given.most(x, other, NAME)), witness=witness)

"""How likely a finite mechanism is to put out what costs more than a number (theory#far-outputs).

Theorem: A finite mechanism puts out on the input x what costs more than gamma with probability sum over y with l(x, y) > gamma of P[x, y];
stated is the greatest of these. Of an exponential mechanism an output costs, where nothing else is said, what its score is below the best
on that input; where scores are minus distances and an output is the truth, that is its distance.

Checked:
- every row holds non-negative numbers that sum to 1, or scores
- the loss has an entry for every input and output, each certainly above gamma or certainly not

Source: docs/theory/utility.md#far-outputs, McSherry & Talwar 2007; Kleinberg & Ligett 2010, Definition 2.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, add, call, format_expr, sub
from dpverify.trusted.kernel.model import NEARNESS, Claim, Exponential
from dpverify.trusted.theories.finite.tables import finite
from dpverify.trusted.theories.utility.rules.far_noise import asked

NAME: Final = "far-outputs"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """The exact value, from above and from below; there is nothing to be told. Raises Rejected."""
    near, table = asked(claim, NAME), finite(claim)
    if claim.loss:
        costs: Sequence[Sequence[Expr]] = [[Num(loss) for loss in row] for row in claim.loss]
    elif isinstance(claim.mechanism, Exponential):
        costs = [_regrets(row) for row in claim.mechanism.scores]
    else:
        raise Rejected(NAME, "loss", "of a table it must be said what outputs cost")
    domains = dict(claim.domains)
    sums = []
    for x, row in enumerate(costs):
        far = [y for y, cost in enumerate(row) if not certainly_le(cost, near, domains)]
        for y in far:
            if not certainly_lt(near, row[y], domains):
                raise Rejected(NAME, [x, y], f"whether {format_expr(row[y])} is above {format_expr(near)} is not certain")
        sums.append(add(*(table.probability(x, y) for y in far)))
    value = call("max", *dict.fromkeys(sums)) if len(set(sums)) > 1 else sums[0]
    says = {"pair": {"says": "one-of-inputs", "count": len(sums)}, "further than within": format_expr(value)}
    return Bound("lower", value, quantity=NEARNESS, witness=says), Bound("upper", value, quantity=NEARNESS)


def _regrets(row: Sequence[Expr]) -> list[Expr]:
    """How far each score is below the best."""
    best = row[0] if len(set(row)) == 1 else call("max", *dict.fromkeys(row))
    return [sub(best, score) for score in row]

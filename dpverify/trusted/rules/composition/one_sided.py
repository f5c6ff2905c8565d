"""The orders of neighbours by themselves: what is lost on an input with a record against the one without it (theory#one-sided).

Theorem: Of an input with a record against the one without it alone: (eps, delta) of parts add up, over k records they are k eps and delta
(e^(k eps) - 1)/(e^eps - 1), and a Poisson sample at rate p has log(1 + p (e^eps - 1)) and p delta. In the reverse order a sample of what
has (eps, delta) in that order has -log(1 - p + p e^-eps) and p delta/(p + (1 - p) e^eps), and of what has nothing -log(1 - p). In both
orders the greater of the two holds. Pure epsilons of samples are met, and so are the curves of tables over the pairs as they are listed.

Checked:
- every part, in the order that is claimed, or in both
- rates are between 0 and 1
- groups are of whole numbers of records

Source: docs/theory/composition.md#one-sided, Smith 2009, on the secrecy of the sample
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, call
from dpverify.trusted.language.model import ONE_SIDED, Claim, Part
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts.exchanged import by_records
from dpverify.trusted.parts.neighbours import require_one_adjacency
from dpverify.trusted.parts.runs import neighbours_assumed
from dpverify.trusted.rules.composition.one_order import Values

NAME: Final = "one-sided"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """A bound of the "side" that the parameters name. Raises Rejected, Undecided, CertificateError.

    premises: bounds on that side of the pure epsilons, in both orders, of the different parts that lose as much in each, in their order.
    "unknown": the numbers of those parts of which nothing is known from above. "row": which of several (epsilon, delta) that are stated
    counts.
    """
    side: Any = parameters.get("side")
    if side not in (("upper", "lower") if claim.order else ("upper",)):
        raise Rejected(NAME, "the claim", "it is not about one order of neighbours, and no upper bound is asked for")
    if claim.order and not by_records(claim):
        raise Rejected(NAME, "adjacency", "neighbours are not by adding or removing a record")
    whole = Part(claim.mechanism, claim.sensitivity, claim.query)
    if side == "upper":
        require_one_adjacency(whole, ordered=True)
    unknown = parameters.get("unknown", [])
    values = Values(claim, side, iter(premises), parameters.get("row", 0), set(unknown) if side == "upper" else set(), by_records(claim))
    epsilon, delta = values.asked(whole, forward=claim.order == ONE_SIDED)
    assumed = tuple(dict.fromkeys((*values.assumed, *neighbours_assumed(claim, side))))
    through = tuple(dict.fromkeys(values.through))
    if side == "lower":
        says = {"pair": values.says or {"says": "in-the-claimed-order"}}
        return Bound("lower", epsilon, witness=says, assumed=assumed, through=through, ordered=True)
    if delta == ZERO:
        return Bound("upper", epsilon, assumed=assumed, through=through)
    domains = dict(claim.domains)
    delta = delta if certainly_le(delta, ONE, domains) else call("min", ONE, delta)  # which no delta is above
    if isinstance(epsilon, Expr) and claim.epsilon is not None and certainly_le(epsilon, claim.epsilon, domains):
        return Bound("upper", delta, quantity="delta", assumed=assumed, through=through)
    if claim.delta is not None and certainly_le(delta, claim.delta, domains):
        return Bound("upper", epsilon, quantity="epsilon", assumed=assumed, through=through)
    raise Rejected(NAME, "the parts", "neither the epsilon nor the delta that they come to is within what is claimed")

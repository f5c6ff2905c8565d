"""Pure epsilons of combinators: sums, maxima, groups and samples of what is proved of the parts.

Theorem: Pure epsilons add under adaptive composition, and the greatest counts for parts in parallel; post-processing keeps them; k
neighbours in a row, or a map that moves neighbours k times as far, multiply the sensitivity of additive noise by k and other epsilons by at
most the next integer; on a sample at rate p an eps-DP part is log(1 + p (e^eps - 1))-DP. Parts that share their neighbours have the
greatest sum over one pair of them; from below any one pair will do. Where every part loses a multiple of what its answer moves by, that sum
is the l1 sensitivity of all their queries in one, on real histograms too.

Checked:
- the epsilon of every part, by a rule about it
- all parts speak of the same neighbours, and sampling of those that it is analysed for
- rates are between 0 and 1, sizes and constants at least 0

Source: docs/theory/composition.md#combination
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import neighbours_assumed, whole
from dpverify.trusted.kernel.bounds import Bound, Infinite, sided
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, format_expr, mul, num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import L1, BestOf, Claim, Combinator, Domain, Part, PostProcess, Product, Query, Radial, Translation
from dpverify.trusted.theories.composition.combined_values import Values

NAME: Final = "combination"
ASSUMED: Final = ()


def infer(claim: Claim, evidence: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The bound named by "side". "part": the evidence of the mechanism, a tree as deep as the mechanism's. Raises Rejected."""
    side, claim, at = sided(claim, evidence, NAME)
    root, values = whole(claim).part, Values(claim.domains, side, premises)
    made = isinstance(claim.mechanism, Combinator)
    if any(isinstance(leaf.part, OnePair) for leaf in neighbours.leaves(root)):
        raise Rejected(NAME, "the place", "it is at one pair of neighbours, and a bound there is of both orders of them")
    if not made and not any(leaf.several for leaf in neighbours.leaves(root)):
        raise Rejected(NAME, "mechanism", "it is not made of parts")
    values.assumed += neighbours_assumed(claim, side)
    return _lower(root, evidence, values, at) if side == "lower" else _upper(root, evidence, values)


def _upper(root: Part, evidence: Mapping[str, Any], values: Values) -> Bound:
    """The value over all pairs of neighbours where parts share them; by slopes; else of each part at its own."""
    also = {}
    if "neighbours" in evidence:
        from dpverify.trusted.combinators import at_pair

        value, worst = values.over_neighbours(root, evidence["neighbours"])
        if worst is not None and at_pair.are_neighbours(root, worst):
            also = {"worst neighbours": json.dumps(at_pair.written(worst))}
    elif evidence.get("slopes") is True:
        from dpverify.trusted.combinators import candidates
        from dpverify.trusted.theories.additive.rules import convex_exponent
        from dpverify.trusted.theories.composition.rules import post_processing

        value = by_slopes(root, values.listed)
        values.through += [neighbours.NAME, convex_exponent.NAME]
        values.assumed += convex_exponent.ASSUMED
        values.assumed += post_processing.ASSUMED if any(isinstance(each, PostProcess) for each in candidates.mechanisms(root)) else ()
    else:
        neighbours.require_one_adjacency(root)
        value = values.of(root, ONE, evidence.get("part"))
    return Bound("upper", value, assumed=tuple(dict.fromkeys(values.assumed)), also=also, through=tuple(values.through))


def _lower(root: Part, evidence: Mapping[str, Any], values: Values, at: Mapping[str, Expr]) -> Bound:
    """The value at one pair of neighbours where parts share them, else at the worst of each part."""
    part: Part | None = root
    witness: dict[str, Any] = {}
    if "output" in evidence and isinstance(root.mechanism, BestOf):
        return _at_an_output(root.mechanism, evidence, values, at)
    if "neighbours" in evidence:
        from dpverify.trusted.combinators import at_pair

        choice = at_pair.read(root, evidence["neighbours"])
        part = at_pair.at(root, choice, lower=True)
        values.assumed += neighbours.rows_assumed(root)
        values.through.append(neighbours.NAME)
        values.backward = evidence.get("backward") is True
        witness = {"neighbours": at_pair.written(choice), "backward": values.backward}
    elif neighbours.undecided(root):
        raise Rejected(NAME, "the neighbours", "parts that share them want one pair of neighbours for a lower bound")
    value = ZERO if part is None else values.of(part, ONE, evidence.get("part"))
    if len(values.turned) > 1:
        raise Rejected(NAME, "the order", "it is not known of two parts that they lose the most in the same order of the neighbours")
    values.assumed += neighbours.apart(part or root, root)
    witness |= {"points": values.points, "loss": "unbounded" if isinstance(value, Infinite) else format_expr(value)}
    return Bound("lower", value, witness=witness, at=at, assumed=tuple(dict.fromkeys(values.assumed)), through=tuple(values.through))


def _at_an_output(best: BestOf, evidence: Mapping[str, Any], values: Values, at: Mapping[str, Expr]) -> Bound:
    """What the best of some runs of a table loses, at one output."""
    from dpverify.trusted.theories.composition.rules import best_of

    value = best_of.at_an_output(best, evidence, values.domains)
    says = {"pair": {"says": "inputs-and-output", "inputs": evidence["inputs"], "output": evidence["output"]}, "loss": format_expr(value)}
    return Bound("lower", value, witness=says, at=at, assumed=(*best_of.ASSUMED, best_of.IN_ORDER), through=(best_of.NAME,))


def by_slopes(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Expr:
    """The greatest sum over all differences v of histograms, real ones too, for parts that lose L_j |u| where an answer moves by u.

    That is the l1 sensitivity of all queries in one, each row times the L_j of its part. Raises Rejected.
    """
    from dpverify.trusted.combinators import candidates
    from dpverify.trusted.sensitivity.queries import sensitivity

    query = stacked(root, domains)
    return mul(Num(candidates.root_factor(root)), sensitivity(query, L1, len(query.rows)).upper)


def stacked(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Query:
    """All queries of a composition in one, each row times what its part loses in units of what the row moves by. Raises Rejected."""
    from dpverify.trusted.combinators import moves
    from dpverify.trusted.theories.additive.rules import convex_exponent

    rows: list[tuple[Fraction, ...]] = []
    adjacencies = set[str]()
    for one, times in moves.leaves(root):
        noise = Translation(one.mechanism.density) if isinstance(one.mechanism, Product) else one.mechanism
        on_the_line = isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp"
        if one.query is None or not (on_the_line or (isinstance(noise, Translation) and not noise.integers)):
            raise Rejected(NAME, "a part", "it is no noise on real numbers, in one coordinate or independent ones, under a query")
        slope = convex_exponent.check(Claim(noise, None, sensitivity=ONE, domains=domains), {"side": "upper"}).value
        weight = slope if isinstance(slope, Infinite) else mul(num(times), slope)
        if not isinstance(weight, Num):
            raise Rejected(NAME, "a part", "how fast its loss grows is not a rational number")
        rows += [tuple(weight.value * x for x in row) for row in one.query.rows]
        adjacencies.add(one.query.adjacency)
    require(len(adjacencies) == 1, Rejected(NAME, "adjacency", "the parts do not speak of the same neighbours"))
    return Query(tuple(rows), adjacencies.pop())

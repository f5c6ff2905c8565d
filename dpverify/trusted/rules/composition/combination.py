"""Pure epsilons of combinators: sums, maxima, groups and samples of what is proved of the parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite, Side
from dpverify.trusted.facts.fact import Fact, bound_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, call, format_expr, mul, neg, sub
from dpverify.trusted.language.model import (
    L1,
    Claim,
    Combinator,
    Compose,
    Domain,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Source,
    Subsample,
    Translation,
    kind_of,
)
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.integers import is_whole
from dpverify.trusted.order.queries import sensitivity
from dpverify.trusted.order.tables import finite
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.neighbours import OnePair, is_told
from dpverify.trusted.parts.parameters import fixed
from dpverify.trusted.parts.runs import Run, check_adjacencies, leaf, neighbours_assumed, occurs
from dpverify.trusted.rules.additive import convex_exponent
from dpverify.trusted.rules.composition import (
    parallel_composition,
    poisson_subsampling,
    post_processing,
    sampling_without_replacement,
)
from dpverify.trusted.rules.finite import finite as finite_rule

NAME: Final = "combination"
STATEMENT: Final = (
    "Pure epsilons add under adaptive composition, and the greatest counts for parts in parallel; post-processing keeps them; k neighbours "
    "in a row, or a map that moves neighbours k times as far, multiply the sensitivity of additive noise by k and other epsilons by at "
    "most the next integer; on a sample at rate p an eps-DP part is log(1 + p (e^eps - 1))-DP. Parts that share their neighbours have the "
    "greatest sum over one pair of them; from below any one pair will do. Where every part loses a multiple of what its answer moves by, "
    "that sum is the l1 sensitivity of all their queries in one, on real histograms too."
)
CHECKED: Final = (
    "the epsilon of every part, by a rule about it",
    "all parts speak of the same neighbours, and sampling of those that it is analysed for",
    "rates are between 0 and 1, sizes and constants at least 0",
)
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/composition.md#combination")

MOST_SHOWN: Final = 8
NOTHING: Final = "nothing"
"""What stands in place of the evidence of a part that a lower bound does not look at."""
ORDERED: Final = "this order"
"""What stands for all that are looked at in one order of the neighbours: parts, inputs of tables as they are named, and samples."""
DISJOINT: Final = "parts in parallel see disjoint data, and which part a record belongs to depends on the record alone"
SECRET: Final = "samples are drawn as declared and not seen"


@dataclass(slots=True)
class _Facts:
    """What the parts' bounds rest on.

    backward: the two outputs of one pair of neighbours are looked at in the other order, that with the record second. turned: of a lower
    bound, what loses that much in one order of the neighbours alone: the parts of which it is not known which, and ORDERED. points: where
    each part loses that much.
    """

    domains: tuple[tuple[str, Domain], ...]
    side: Side
    premises: Sequence[Fact]
    assumed: list[str] = field(default_factory=list)
    through: list[str] = field(default_factory=list)
    backward: bool = False
    turned: set[Part | str] = field(default_factory=set)
    points: list[str] = field(default_factory=list)


def infer(claim: Claim, evidence: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The bound named by "side". "part": the evidence of the mechanism, a tree as deep as the mechanism's. Raises Rejected."""
    side = evidence.get("side")
    if side not in ("upper", "lower"):
        raise CertificateError(f"{NAME}: 'side' is {side!r}, not upper or lower.")
    claim, at = fixed(claim, evidence, NAME) if side == "lower" else (claim, {})
    if not isinstance(claim.mechanism, Combinator):
        raise Rejected(NAME, "mechanism", "it is not made of parts")
    if claim.sensitivity is not None or claim.query is not None:
        raise Rejected(NAME, "sensitivity", "every part has its own")
    check_adjacencies(claim)
    root, facts = Part(claim.mechanism), _Facts(claim.domains, side, premises)
    facts.assumed += neighbours_assumed(claim, side)
    if side == "lower":
        return _lower(root, claim, evidence, facts, at)
    if "neighbours" in evidence:
        value, also = _over_neighbours(root, evidence["neighbours"], facts)
    elif evidence.get("slopes") is True:
        value, also = _by_slopes(root, facts), {}
    else:
        neighbours.require_one_adjacency(root)
        value = _value(root, ONE, evidence.get("part"), facts)
        also = {} if isinstance(value, Infinite) else _budget(claim.mechanism, evidence.get("part"), claim, premises)
    return Bound(side, value, assumed=tuple(dict.fromkeys(facts.assumed)), also=also, through=tuple(facts.through))


def _over_neighbours(root: Part, evidence: Any, facts: _Facts) -> tuple[Expr | Infinite, dict[str, str]]:
    """The greatest value over all pairs of neighbours. evidence: "plans" and "of", as of curves."""
    if not isinstance(evidence, Mapping):
        raise CertificateError(f"{NAME}: 'neighbours' is not an object.")
    choices, domains, order = neighbours.choices(root), dict(facts.domains), facts.backward
    facts.through.append(neighbours.NAME)
    facts.assumed += neighbours.rows_assumed(root)
    values: list[tuple[Expr, neighbours.Choice]] = []
    for choice, plan in zip(choices, _plans(evidence, len(choices)), strict=True):
        part = neighbours.at(root, choice)
        if part is None:
            values.append((ZERO, choice))
            continue
        for facts.backward in (False, True):
            found = _value(part, ONE, plan, facts)
            if isinstance(found, Infinite):
                return INFINITE, {}
            values.append((found, choice))
            if not (_has_inputs(part) or any(_ways(leaf.part, facts) for leaf in neighbours.leaves(part))):
                break
    facts.backward = order
    greatest = _greatest([value for value, _ in values], domains)
    worst = next((choice for value, choice in values if value == greatest), None)
    return greatest, {} if worst is None else {"worst neighbours": json.dumps(neighbours.written(worst))}


def _by_slopes(root: Part, facts: _Facts) -> Expr:
    """The greatest sum over all differences v of histograms, real ones too, for parts that lose L_j |u| where an answer moves by u.

    That is the l1 sensitivity of all queries in one, each row times the L_j of its part.
    """
    query = stacked(root, facts.domains)
    facts.through += [neighbours.NAME, convex_exponent.NAME]
    facts.assumed += convex_exponent.ASSUMED
    facts.assumed += post_processing.ASSUMED if any(isinstance(each, PostProcess) for each in neighbours.mechanisms(root)) else ()
    return mul(Num(neighbours.root_factor(root)), sensitivity(query, L1, len(query.rows)).upper)


def stacked(root: Part, domains: tuple[tuple[str, Domain], ...]) -> Query:
    """All queries of a composition in one, each row times what its part loses in units of what the row moves by. Raises Rejected."""
    part = root
    while isinstance(part.mechanism, Group | Lipschitz | PostProcess):
        part = part.mechanism.part
        if part.times != ONE:
            raise Rejected(NAME, "times", "what a group or a map holds is run once")
    rows: list[tuple[Fraction, ...]] = []
    adjacencies = set[str]()
    for one, times in _runs(part, ONE, domains):
        noise = Translation(one.mechanism.density) if isinstance(one.mechanism, Product) else one.mechanism
        on_the_line = isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp"
        if one.query is None or not (on_the_line or (isinstance(noise, Translation) and not noise.integers)):
            raise Rejected(NAME, "a part", "it is no noise on real numbers, in one coordinate or independent ones, under a query")
        slope = convex_exponent.check(Claim(noise, None, sensitivity=ONE, domains=domains), {"side": "upper"}).value
        weight = slope if isinstance(slope, Infinite) else mul(times, slope)
        if not isinstance(weight, Num):
            raise Rejected(NAME, "a part", "how fast its loss grows is not a rational number")
        rows += [tuple(weight.value * x for x in row) for row in one.query.rows]
        adjacencies.add(one.query.adjacency)
    if len(adjacencies) != 1:
        raise Rejected(NAME, "adjacency", "the parts do not speak of the same neighbours")
    return Query(tuple(rows), adjacencies.pop())


def _runs(part: Part, times: Expr, domains: tuple[tuple[str, Domain], ...]) -> Iterator[tuple[Part, Expr]]:
    """The parts of nested compositions, with how often each is run."""
    times = mul(times, _times(part, domains))
    if not isinstance(part.mechanism, Compose):
        yield part, times
        return
    for inner in part.mechanism.parts:
        yield from _runs(inner, times, domains)


def _times(part: Part, domains: tuple[tuple[str, Domain], ...]) -> Expr:
    """How often a part is run. Raises Rejected unless that is certainly an integer of at least 1."""
    if part.times != ONE and not (is_whole(part.times, dict(domains)) and certainly_le(ONE, part.times, dict(domains))):
        raise Rejected(NAME, "times", "it is not certainly an integer of at least 1")
    return part.times


def _plans(evidence: Mapping[str, Any], count: int) -> list[Any]:
    """The plan of each of so many choices: "plans", and "of", the number of each one's."""
    plans, numbers = evidence.get("plans"), evidence.get("of")
    if not isinstance(plans, list) or not isinstance(numbers, list) or len(numbers) != count:
        raise CertificateError(f"{NAME}: 'neighbours' wants 'plans', and 'of', a list of {count} numbers of them.")
    if not all(type(number) is int and 0 <= number < len(plans) for number in numbers):
        raise CertificateError(f"{NAME}: 'of' names no plan.")
    return [plans[number] for number in numbers]


def _has_inputs(part: Part) -> bool:
    """Whether two inputs of a finite mechanism face each other in a part, so that the two orders differ."""
    return any(isinstance(leaf.part, OnePair) and leaf.part.query is None for leaf in neighbours.leaves(part))


def _lower(root: Part, claim: Claim, evidence: Mapping[str, Any], facts: _Facts, at: Mapping[str, Expr]) -> Bound:
    """The value at one pair of neighbours where parts share them, else at the worst of each part."""
    part: Part | None = root
    witness: dict[str, Any] = {}
    if "neighbours" in evidence:
        choice = neighbours.read(root, evidence["neighbours"])
        part = neighbours.at(root, choice, lower=True)
        facts.assumed += neighbours.rows_assumed(root)
        facts.through.append(neighbours.NAME)
        facts.backward = evidence.get("backward") is True
        witness = {"neighbours": neighbours.written(choice), "backward": facts.backward}
    elif neighbours.undecided(root):
        raise Rejected(NAME, "the neighbours", "parts that share them want one pair of neighbours for a lower bound")
    value = ZERO if part is None else _value(part, ONE, evidence.get("part"), facts)
    if len(facts.turned) > 1:
        raise Rejected(NAME, "the order", "it is not known of two parts that they lose the most in the same order of the neighbours")
    facts.assumed += neighbours.apart(part or root, root)
    loss = "unbounded" if isinstance(value, Infinite) else format_expr(value)
    witness |= {"point": "; ".join(facts.points[:MOST_SHOWN]) or "any output", "loss": loss}
    return Bound("lower", value, witness=witness, at=at, assumed=tuple(dict.fromkeys(facts.assumed)), through=tuple(facts.through))


def _budget(mechanism: Combinator, evidence: Any, claim: Claim, premises: Sequence[Fact]) -> dict[str, str]:
    """What each part of a composition spends, and the total."""
    if not isinstance(mechanism, Compose) or len(mechanism.parts) > 20:
        return {}
    facts = _Facts(claim.domains, "upper", premises)
    spent = [_value(part, ONE, e, facts) for part, e in _each(mechanism.parts, evidence)]
    shown = {
        f"part {number} ({_title(part)})": f"epsilon {format_expr(value)}"
        for number, (part, value) in enumerate(zip(mechanism.parts, spent, strict=True), 1)
        if not isinstance(value, Infinite)
    }
    total = add(*(value for value in spent if not isinstance(value, Infinite)))
    return {**shown, "basic composition": f"epsilon {format_expr(total)}"}


def _title(part: Part) -> str:
    return kind_of(part.mechanism) + ("" if part.times == ONE else f" x {format_expr(part.times)}")


def _each(parts: Sequence[Part], evidence: Any) -> Iterator[tuple[Part, Any]]:
    listed = evidence.get("parts") if isinstance(evidence, Mapping) else None
    if not isinstance(listed, list) or len(listed) != len(parts):
        raise CertificateError(f"{NAME}: the evidence wants 'parts', a list of {len(parts)}.")
    return zip(parts, listed, strict=True)


def _value(part: Part, factor: Expr, evidence: Any, facts: _Facts) -> Expr | Infinite:
    found = _once(part, factor, evidence, facts)
    return found if isinstance(found, Infinite) else mul(_times(part, facts.domains), found)


def _once(part: Part, factor: Expr, evidence: Any, facts: _Facts) -> Expr | Infinite:
    mechanism, domains = part.mechanism, dict(facts.domains)
    if evidence == NOTHING and facts.side == "lower":
        return ZERO  # whoever does not look at a part loses nothing by it
    if isinstance(mechanism, Compose):
        values = [_value(inner, factor, e, facts) for inner, e in _each(mechanism.parts, evidence)]
        exprs = [value for value in values if not isinstance(value, Infinite)]
        return add(*exprs) if len(exprs) == len(values) else INFINITE
    if isinstance(mechanism, Parallel):
        return _parallel(mechanism, factor, evidence, facts)
    if isinstance(mechanism, PostProcess):
        if facts.side == "lower":
            raise Rejected(NAME, "post_process", "what a map of the output leaves to be seen is not known")
        facts.assumed += post_processing.ASSUMED
        return _value(mechanism.part, factor, evidence, facts)
    if isinstance(mechanism, Group | Lipschitz):
        times = mechanism.size if isinstance(mechanism, Group) else mechanism.constant
        if not certainly_le(ZERO, times, domains):
            raise Rejected(NAME, "size or constant", "it is not certainly at least 0")
        if certainly_le(times, ZERO, domains):
            return ZERO  # neighbours are one database
        order = facts.backward
        # behind a map the record may be in the other one of two neighbours: a sample is bounded in its worse order, the first
        facts.backward = order and facts.side == "lower"
        moved = _value(mechanism.part, mul(factor, times), evidence, facts)
        facts.backward = order
        return moved
    if isinstance(mechanism, Subsample):
        return _sampled(mechanism, factor, evidence, facts)
    if isinstance(part, OnePair) and part.query is None:
        return _facing(part, facts)
    known = _ways(part, facts) if factor == ONE and evidence == {} else None
    if known is not None:
        facts.turned.add(ORDERED)
        facts.through.append(convex_exponent.NAME)
        facts.assumed += convex_exponent.ASSUMED
        infinite = "outputs that the second answer cannot give, or far from both" if isinstance(known[facts.backward], Infinite) else ""
        facts.points.append(f"{kind_of(mechanism)}: {infinite or 'far from both answers, on the side of the first, in the limit'}")
        return known[facts.backward]
    run = Run(part, factor)
    if facts.side == "lower" and not occurs(run, domains):
        raise Rejected(NAME, "a part", "no lower bound is known at a number of steps between neighbours that is not whole")
    noise, sensitivity, query = leaf(run, domains)
    premise = _premise(evidence, facts)
    found = bound_of(premise, Claim(noise, None, sensitivity=sensitivity, query=query, domains=facts.domains), facts.side, NAME)
    facts.through += through_of(premise)
    facts.assumed += (*premise.assumed, *found.assumed)
    if facts.side == "lower":
        facts.points.append(_told(kind_of(mechanism), found))
        if is_told(part):
            facts.turned.add(replace(part, times=ONE))
    return found.value


def _premise(evidence: Any, facts: _Facts) -> Fact:
    """The premise that stands for a part, by its number."""
    if type(evidence) is not int or not 0 <= evidence < len(facts.premises):
        raise CertificateError(f"{NAME}: a part wants the number of the premise that states its pure epsilon.")
    return facts.premises[evidence]


def _ways(part: Part, facts: _Facts) -> tuple[Expr | Infinite, Expr | Infinite] | None:
    """What noise that is not even loses at one pair of neighbours, in both orders; None where it is even, or that is not known."""
    noise = part.mechanism
    if not (isinstance(part, OnePair) and part.query is not None and isinstance(noise, Translation)) or neighbours.even(noise):
        return None
    return convex_exponent.one_way(noise, part.query.rows[0][0], dict(facts.domains))


def _told(kind: str, found: Bound) -> str:
    witness = found.witness or {}
    where = witness.get("point") or witness.get("event") or "the worst output"
    loss = "unbounded" if isinstance(found.value, Infinite) else format_expr(found.value)
    return f"{kind}: {where}, loss {witness.get('loss', loss)}"


def _facing(part: OnePair, facts: _Facts) -> Expr | Infinite:
    """The greatest log-ratio of one row over another, in one order."""
    table = finite(Claim(part.mechanism, None, sensitivity=part.sensitivity, domains=facts.domains))
    a, b = reversed(part.pair) if facts.backward else part.pair
    losses: list[tuple[Expr, int]] = []
    facts.through.append(finite_rule.NAME)
    facts.assumed += finite_rule.ASSUMED
    if facts.side == "lower":
        facts.turned.add(ORDERED)
    for y in range(len(table.weights[a])):
        if table.is_zero(a, y):
            continue
        if table.is_zero(b, y):
            facts.points.append(f"{kind_of(part.mechanism)}: output {y}, loss unbounded")
            return INFINITE
        losses.append((table.loss((a, b, y)), y))
    value = _greatest(list(dict.fromkeys(loss for loss, _ in losses)), table.domains)
    output = next((y for loss, y in losses if loss == value), 0)
    facts.points.append(f"{kind_of(part.mechanism)}: output {output}, loss {format_expr(value)}")
    return value


def _parallel(mechanism: Parallel, factor: Expr, evidence: Any, facts: _Facts) -> Expr | Infinite:
    """The greatest part; several records may fall into several parts, each of them changing one."""
    domains = dict(facts.domains)
    near = certainly_le(factor, ONE, domains)
    if facts.side == "lower" and not near and not certainly_le(ONE, factor, domains):
        raise Rejected(NAME, "parallel", "it is not certain whether its neighbours are one record apart")
    facts.assumed.append(DISJOINT)
    if facts.side == "lower":
        facts.assumed.append(parallel_composition.LOWER)
    values = [_value(inner, factor if near else ONE, e, facts) for inner, e in _each(mechanism.parts, evidence)]
    exprs = [value for value in values if not isinstance(value, Infinite)]
    if len(exprs) < len(values):
        return INFINITE
    found = _greatest(exprs, domains)
    return found if near or facts.side == "lower" else _further(found, factor, domains)


def _further(value: Expr, factor: Expr, domains: Mapping[str, Domain]) -> Expr:
    """The epsilon for neighbours `factor` steps apart: one for every step."""
    return value if certainly_le(factor, ONE, domains) else mul(neg(call("floor", neg(factor))), value)


def _sampled(mechanism: Subsample, factor: Expr, evidence: Any, facts: _Facts) -> Expr | Infinite:
    rate, domains = mechanism.rate, dict(facts.domains)
    if not (certainly_le(ZERO, rate, domains) and certainly_le(rate, ONE, domains)):
        raise Rejected(NAME, "rate", "it is not certainly between 0 and 1")
    if facts.side == "lower" and factor != ONE:
        raise Rejected(NAME, "subsample", "no lower bound is known for neighbours further than one record apart")
    facts.assumed.append(SECRET)
    if rate == ZERO:
        return ZERO
    before, facts.turned = facts.turned, set()
    found, inside = _inside(mechanism, evidence, facts), facts.turned
    facts.turned = before | inside
    if facts.side == "lower":
        facts.assumed.append((poisson_subsampling if mechanism.scheme == "poisson" else sampling_without_replacement).LOWER)
        told = any(is_told(leaf.part) for leaf in neighbours.leaves(mechanism.part) if not isinstance(leaf.part, OnePair))
        if mechanism.scheme == "poisson" and (told or inside - {ORDERED}):
            return _either_order(found, rate)
        if rate != ONE:
            facts.turned.add(ORDERED)
        if mechanism.scheme == "poisson" and facts.backward:
            return _either_order(found, rate)
    elif mechanism.scheme == "poisson" and facts.backward and factor == ONE and not _has_inputs(mechanism.part):
        return _either_order(found, rate)
    if isinstance(found, Infinite):
        if facts.side == "lower" and not certainly_lt(ZERO, rate, domains):
            raise Rejected(NAME, "rate", "it is not certainly positive")
        return INFINITE
    value = found if rate == ONE else call("log", add(ONE, mul(rate, sub(call("exp", found), ONE))))
    return _further(value, factor, domains)


def _either_order(found: Expr | Infinite, rate: Expr) -> Expr | Infinite:
    """-log(1 - p + p e^-epsilon): what a sample has in the order with the record second, and at least in either (theory#combination)."""
    if rate == ONE:
        return found
    kept = ZERO if isinstance(found, Infinite) else mul(rate, call("exp", neg(found)))
    return neg(call("log", add(ONE, neg(rate), kept)))


def _inside(mechanism: Subsample, evidence: Any, facts: _Facts) -> Expr | Infinite:
    """The value of a sampled part: from above in the worse order, from below in the one that has the record first, where that is told.

    evidence: that of the part, or under "sampled" that of all pairs of neighbours of the part.
    """
    part = mechanism.part
    if facts.side == "lower":
        found = _value(part, ONE, evidence, facts)
        if mechanism.scheme != "poisson" and facts.turned - {ORDERED}:
            raise Rejected(NAME, "subsample", "it is not known in which order of the neighbours a part that is not even loses the most")
        return found
    if isinstance(evidence, Mapping) and "sampled" in evidence:
        return _over_neighbours(part, evidence["sampled"], facts)[0]
    values, order = list[Expr | Infinite](), facts.backward
    for facts.backward in (False, True) if _has_inputs(part) or mechanism.scheme != "poisson" else (order,):
        values.append(_value(part, ONE, evidence, facts))
    facts.backward = order
    exprs = [value for value in values if not isinstance(value, Infinite)]
    return _greatest(list(dict.fromkeys(exprs)), dict(facts.domains)) if len(exprs) == len(values) else INFINITE


def _greatest(values: Sequence[Expr], domains: Mapping[str, Domain]) -> Expr:
    """The maximum, as one of the values where the order is certain."""
    best = values[0]
    for other in values[1:]:
        if certainly_le(best, other, domains):
            best = other
        elif not certainly_le(other, best, domains):
            best = call("max", best, other)
    return best

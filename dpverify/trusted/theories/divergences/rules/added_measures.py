"""Compositions in other measures: sums over the parts, and of parts on disjoint parts of the data the greatest.

Theorem: Under adaptive composition rho of zCDP and Renyi divergences of one order add up, and so do the squares of mu of GDP; a map of the
output keeps every bound. Of parts that share their neighbours the greatest sum at one pair of them bounds all. Of one mechanism that is run
k times, rho and the divergence are exactly k times its own; so are the sums of several that are the same in both orders of one pair of
neighbours, rho where all attain theirs at one order. If every record is in the data of at most one part, adding or removing one changes
the output of that part alone, so the whole has the greatest of the parts' values in every measure.

Checked:
- every part's value, by the fact that the rule is given of it
- the parts speak of the same neighbours, and of disjoint ones none of replacing records, which can change two parts

Source: docs/theory/measures.md#added-measures, McSherry 2009, Theorem 4; Bun & Steinke 2016, Lemma 1.7; Mironov 2017, Proposition 1; Dong,
Roth & Su 2022, Corollary 3.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.one_pair import Choice, Space
from dpverify.trusted.combinators.runs import Run, leaf, merged, neighbours_assumed, occurs, whole
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, mul, num, power, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Combinator, Exponential, Lipschitz, Measure, Parallel, Part, Table, all_parts, on_integers
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.composition.rules import parallel_composition, post_processing
from dpverify.trusted.theories.divergences.asked import bound, measure_of, premise_of

NAME: Final = "added-measures"
ASSUMED: Final = ()

_ATTAINED: Final[Mapping[str, set[int]]] = {"gaussian-measures": {1, 2}, "laplace-measures": {1}}
"""Orders at which these rules' rho is attained; 1 in the limit, and not on the integers."""


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """A bound on the "side" that the parameters name, from a premise for every run. Raises Rejected, CertificateError.

    "at", for an upper bound by one pair of neighbours at a time: for every choice of them the number of the premise about the parts there,
    null where nothing is revealed. "pair", for a lower bound, the neighbours that the one premise is about.
    """
    measure, side = measure_of(claim, NAME), parameters.get("side")
    root = whole(claim).part
    if isinstance(claim.mechanism, Parallel):
        return _disjoint(claim, claim.mechanism, parameters, premises)
    if not isinstance(claim.mechanism, Combinator) and not neighbours.together(root, linked=True, alone=True):
        raise Rejected(NAME, "the mechanism", "it is about mechanisms that are made of parts")
    if claim.order and any(isinstance(part.mechanism, Lipschitz) for part in (Part(claim.mechanism), *all_parts(claim.mechanism))):
        raise Rejected(NAME, "the order", "a map of the data may exchange the input with the record and the one without")
    if "at" in parameters:
        return _at_every_pair(claim, parameters["at"], premises)
    if "pair" in parameters:
        return _at_one_pair(claim, parameters["pair"], premises)
    runs = merged(root)
    if len(premises) != len(runs) or side not in ("upper", "lower"):
        raise CertificateError(f"{NAME}: it wants a 'side', and one premise for each part, {len(runs)} in all.")
    neighbours.require_one_adjacency(root, ordered=bool(claim.order))
    if side == "lower":
        return _below(claim, root, runs, premises)
    values, listed, through = uppers(claim, runs, premises)
    processed = post_processing.ASSUMED if any(run.processed for run in runs) else ()
    total = _sum(measure, [(run.times, value) for run, value in zip(runs, values, strict=True)])
    return bound(claim, "upper", total, (*listed, *processed, *neighbours_assumed(claim)), through)


def _disjoint(claim: Claim, mechanism: Parallel, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """Of parts in parallel: the greatest from above; from below the value of one, by its number "index"."""
    if parameters["side"] == "lower":
        (premise,), index = premises, to_whole(parameters["index"], "index", NAME, 0, len(mechanism.parts) - 1)
        return lower(claim, Run(mechanism.parts[index]), premise, (*parallel_composition.ASSUMED, parallel_composition.LOWER))
    values, listed, through = uppers(claim, list(map(Run, mechanism.parts)), premises)
    return bound(claim, "upper", greatest(values, {}), (*parallel_composition.ASSUMED, *listed, *neighbours_assumed(claim)), through)


def uppers(claim: Claim, runs: Sequence[Run], premises: Sequence[Fact]) -> tuple[list[Expr], list[str], list[str]]:
    """What each of some runs has at most, by its premise, with all that these assume and go through. Raises Rejected, CertificateError."""
    values, assumed, through = list[Expr](), list[str](), list[str]()
    for run, premise in zip(runs, premises, strict=True):
        found = premise_of(premise, question(run, claim), "upper", NAME)
        if isinstance(found.value, Infinite):
            raise Rejected(NAME, "the parts", "one has no finite value")
        values.append(found.value)
        assumed += (*premise.assumed, *found.assumed)
        through += (premise.rule, *found.through)
    return values, assumed, through


def lower(claim: Claim, run: Run, premise: Fact, assumed: Sequence[str], through: Sequence[str] = ()) -> Bound:
    """What the whole has at least, where that is what one of its runs has, by a premise. Raises Rejected, CertificateError."""
    found = premise_of(premise, question(run, claim), "lower", NAME)
    value = found.value if isinstance(found.value, Infinite) else mul(num(run.times), found.value)
    assumed = (*premise.assumed, *found.assumed, *assumed, *neighbours_assumed(claim, "lower"))
    through = (*through, premise.rule, *found.through)
    return bound(claim, "lower", value, assumed, through, witness=found.witness, ordered=found.ordered)


def _sum(measure: Measure, values: Sequence[tuple[int, Expr]]) -> Expr:
    if measure.name == "gdp":
        return sqrt(add(*(mul(num(times), power(value, num(2))) for times, value in values)))
    return add(*(mul(num(times), value) for times, value in values))


def _at_every_pair(claim: Claim, numbers: Any, premises: Sequence[Fact]) -> Bound:
    """The greatest value of all parts at one pair of neighbours, over all pairs. Raises Rejected, CertificateError."""
    from dpverify.trusted.combinators import at_pair, candidates
    from dpverify.trusted.theories.composition.rules import joint_neighbours

    root = whole(claim).part
    spaces = neighbours.together(root, linked=True, alone=True)
    if any(space[0] == "records" and space[2] not in ("add-remove", "replace") for space in spaces):
        raise Rejected(NAME, "adjacency", "of histograms that differ by fractions of records not all pairs are looked at")
    listed = candidates.choices(root)
    if claim.order and not _in_their_order(root, spaces, listed):
        raise Rejected(NAME, "the order", "of two inputs of the tables one order alone is looked at, and they are neighbours in the other")
    told = [(part, number) for choice, number in zip(listed, numbers, strict=True) if (part := at_pair.at(root, choice)) is not None]
    there = [premises[to_whole(number, "at", NAME, 0, len(premises) - 1)] for _, number in told]
    values, assumed, through = uppers(claim, [Run(part) for part, _ in told], there)
    assumed = [*neighbours.rows_assumed(root), *neighbours_assumed(claim), *assumed]
    return bound(claim, "upper", greatest(list(dict.fromkeys((ZERO, *values))), {}), assumed, (joint_neighbours.NAME, *through))


def _in_their_order(root: Part, spaces: Sequence[Space], choices: Sequence[Choice]) -> bool:
    """Whether the pairs of inputs are looked at in the orders that the tables list: all in both, else the lesser number first."""
    if any(space[0] == "inputs" and pair[0] > pair[1] for choice in choices for space, pair in choice):
        return True
    shared = [leaf.part.mechanism for leaf in neighbours.leaves(root) if leaf.space in spaces]
    tables = [mechanism for mechanism in shared if isinstance(mechanism, Table | Exponential)]
    return all(table.adjacent is not None and all(a <= b for a, b in table.adjacent) for table in tables)


def _at_one_pair(claim: Claim, pair: Any, premises: Sequence[Fact]) -> Bound:
    """What all parts have at one pair of neighbours, at least. Raises Rejected, CertificateError."""
    from dpverify.trusted.combinators import at_pair
    from dpverify.trusted.theories.composition.rules import joint_neighbours

    root = whole(claim).part
    part = at_pair.at(root, at_pair.read(root, pair), lower=True)
    if part is None or len(premises) != 1 or claim.order:
        raise Rejected(NAME, "pair", "nothing is revealed there, or the order of the neighbours counts, or it wants one premise")
    if any(run.processed for run in merged(root)):
        raise Rejected(NAME, "the parts", "what a map of the output leaves to be seen is not known")
    told = (*neighbours.rows_assumed(root), *neighbours.apart(part, root))
    return replace(lower(claim, Run(part), premises[0], told, (joint_neighbours.NAME,)), ordered=False)


def _below(claim: Claim, root: Part, runs: Sequence[Run], premises: Sequence[Fact]) -> Bound:
    """All runs at the pair of neighbours that their bounds are of: of several mechanisms, where each is the same in both orders."""
    from dpverify.trusted.combinators.densities import even

    measure = measure_of(claim, NAME)
    if any(run.processed for run in runs) or not all(map(occurs, runs)):
        raise Rejected(NAME, "the parts", "a map of the output may leave less to be seen, or neighbours so far apart may not occur")
    if len(runs) > 1 and (claim.order or neighbours.undecided(root) or not all(even(run.part.mechanism) for run in runs)):
        raise Rejected(NAME, "the parts", "of several, it is not known that one pair of neighbours is the worst of all, in one order")
    if measure.name == "gdp" and (len(runs) > 1 or runs[0].times > 1):
        raise Rejected(NAME, "the measure", "mu of a composition of mechanisms that are not Gaussian may be less than the root of squares")
    if measure.name == "zcdp" and len(runs) > 1 and not set.intersection(*map(_attained, runs, premises)):
        raise Rejected(NAME, "the parts", "it is not known that all attain their rho at one order")
    found = [premise_of(premise, question(run, claim), "lower", NAME) for run, premise in zip(runs, premises, strict=True)]
    values = [mul(num(run.times), b.value) for run, b in zip(runs, found, strict=True) if not isinstance(b.value, Infinite)]
    value = add(*values) if len(values) == len(found) else INFINITE
    told = (*(neighbours.apart(root) if len(runs) > 1 else ()), *neighbours_assumed(claim, "lower"))
    assumed = (*(line for premise, b in zip(premises, found, strict=True) for line in (*premise.assumed, *b.assumed)), *told)
    through = [name for premise, b in zip(premises, found, strict=True) for name in (premise.rule, *b.through)]
    return bound(claim, "lower", value, assumed, through, witness=found[0].witness, ordered=all(b.ordered for b in found))


def _attained(run: Run, premise: Fact) -> set[int]:
    return _ATTAINED.get(premise.rule, set()) - ({1} if on_integers(run.part.mechanism) else set())


def question(run: Run, claim: Claim) -> Claim:
    """What a premise is asked about one run: its tight value in the measure of the claim, in its order."""
    assert claim.measure is not None
    if claim.order and run.factor != ONE and isinstance(run.part.mechanism, Table | Exponential):
        raise Rejected(NAME, "the order", "which inputs several steps apart are in order is not looked at")
    return replace(leaf(run), measure=replace(claim.measure, value=None), order=claim.order)

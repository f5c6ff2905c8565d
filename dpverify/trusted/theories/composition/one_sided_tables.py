"""The curve of tables whose pairs are listed one way, and of Poisson samples and compositions of such (theory#one-sided)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators import at_pair
from dpverify.trusted.combinators.exchanged import by_records, listed_both_ways
from dpverify.trusted.combinators.neighbours import leaves, rows_assumed
from dpverify.trusted.combinators.runs import merged, whole
from dpverify.trusted.facts.pairs import Curve, greatest
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.model import Claim, Compose, Exponential, Part, Repeat, Subsample, Table, all_parts
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.laws import Choice, dominating_pair, product_pair
from dpverify.trusted.theories.composition.rules import finite_composition, poisson_subsampling
from dpverify.trusted.theories.curves.rules import finite_curve as curves_of_tables

RULE: Final = "one-sided"


def curve(claim: Claim, number: Any) -> Curve:
    """The curve over the pairs as they are listed, with the record first, for a claim about one order of neighbours.

    number: of the listed pair that the lower side is of. Raises Rejected, Undecided, CertificateError.
    """
    root = whole(claim).part
    made = all(_is_made(part) for part in (root, *all_parts(claim.mechanism)))
    listed = listed_pairs(root) if made and claim.order and by_records(claim) else ()
    require(bool(listed), Rejected(RULE, "the mechanism", "it is not made of tables that list the same pairs in one order"))
    (space,) = {leaf.space for leaf in leaves(root)}
    assert space is not None
    there = [at_pair.at(root, ((space, (Fraction(a), Fraction(b))),), lower=True) for a, b in listed]
    every = [[finite_composition.choice(run) for run in merged(part)] for part in there if part is not None]
    pairs = [product_pair([(law, times) for (law,), times in ((one.laws, one.times) for one in choices)]) for choices in every]
    upper = pairs[0]
    if len(pairs) > 1:  # what other samples of the records are at need not be the same pair
        together = all(leaf.linked for leaf in leaves(root))
        games = [Choice(tuple(choice.laws[0] for choice in run), run[0].times, False) for run in zip(*every, strict=True)]
        upper = greatest(pairs) if together else dominating_pair(games)
    sampled = any(leaf.sampled for leaf in leaves(root))
    assumed = (*finite_composition.ASSUMED, *poisson_subsampling.ASSUMED * sampled, *rows_assumed(root))
    lower = pairs[to_whole(number, "pair", RULE, 0, len(pairs) - 1)]
    return Curve(upper, lower, (RULE, curves_of_tables.NAME), assumed, (poisson_subsampling.LOWER,) * sampled)


def listed_pairs(root: Part) -> tuple[tuple[int, int], ...]:
    """The pairs that all tables of a part list in the same order; none where they list them differently, or both ways."""
    tables = [leaf.part.mechanism for leaf in leaves(root)]
    alike = len({leaf.space for leaf in leaves(root)}) == 1
    named = {
        None if not isinstance(table, Table | Exponential) or listed_both_ways(table) else frozenset(table.adjacent or ())
        for table in tables
    }
    pairs = named.pop() if alike and len(named) == 1 else None
    return tuple(sorted(pair for pair in pairs or () if pair[0] != pair[1]))


def _is_made(part: Part) -> bool:
    return isinstance(part.mechanism, Table | Exponential | Compose | Repeat | Subsample)

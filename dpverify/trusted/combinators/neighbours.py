"""One pair of neighbours for all parts: which pairs there are, and what a combinator comes to at one of them (theory#joint-neighbours).

Parts that state queries with as many columns and the same adjacency are run on the same two histograms; tables with as many rows name
the same inputs by them. For one pair of neighbours, a choice, every query F becomes its one difference F v and every table its two rows,
in one orientation: the first distribution of every part is the one with the record. So the ordinary rules speak of that pair alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Final, assert_never

from dpverify.trusted.combinators.one_pair import OnePair, Space, is_told
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, Num
from dpverify.trusted.kernel.model import Part, Repeat, parts_of
from dpverify.trusted.kernel.model import Space as MetricSpace

NAME: Final = "joint-neighbours"

APART: Final = "the neighbours that are worst for one part are worst for all"
"""What a lower bound takes for granted of parts whose neighbours nothing connects."""
SAME_ROWS: Final = "tables with as many rows name the same inputs by them, in the same order"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part without parts. own: in a group or behind a map that the others are not in. elsewhere: in one of several parts of the data, or
    in a sample that others are not in, so that the inputs of tables are its own: those of the others are of all records.

    repeated: run more than once. sampled: run on a Poisson sample.
    """

    part: Part
    own: bool = False
    elsewhere: bool = False
    repeated: bool = False
    sampled: bool = False

    @property
    def space(self) -> Space | None:
        return space_of(self.part)

    @property
    def linked(self) -> bool:
        """Whether its neighbours are certainly those of the others in its space."""
        return not self.own and not (self.elsewhere and self.part.query is None)

    @property
    def one_way(self) -> bool:
        """Whether it loses different amounts in the two orders of a pair of which a sample has only one."""
        return self.sampled and self.linked and is_told(self.part)

    @property
    def several(self) -> bool:
        """Whether it is several parts in one: independent coordinates under a query, each with a row of it."""
        from dpverify.trusted.combinators.densities import coordinate

        query = self.part.query
        return query is not None and len(query.rows) > 1 and coordinate(self.part.mechanism) is not None


def space_of(part: Part) -> Space | None:
    """What a part's neighbours are of; None where the part does not say, and where it is at one pair already."""
    if isinstance(part, OnePair):
        return None
    if part.query is not None:
        return "records", len(part.query.rows[0]) if part.query.rows else 0, part.query.adjacency
    if isinstance(part.mechanism, model.Table):
        return "inputs", len(part.mechanism.rows), ""
    if isinstance(part.mechanism, model.Exponential):
        return "inputs", len(part.mechanism.scores), ""
    alone = model.Noise | model.Kernel | model.KaryResponse | model.Selection | model.OfRecords | model.Guarantee
    if not isinstance(part.mechanism, alone | MetricSpace | model.Sampled | model.Combinator):
        assert_never(part.mechanism)
    return None


def leaves(part: Part, top: bool = True, at: Leaf | None = None) -> Iterator[Leaf]:
    """All parts without parts. top: a group or a map that holds everything is not one part's own."""
    mechanism, here = part.mechanism, at or Leaf(part)
    here = replace(here, part=part, repeated=here.repeated or isinstance(mechanism, Repeat))
    inside = parts_of(mechanism)
    if not inside or not isinstance(mechanism, model.Combinator):
        yield here
        return
    if isinstance(mechanism, model.Group | model.Lipschitz):
        here = replace(here, own=not top)
    elif isinstance(mechanism, model.BestOf):  # what it loses is not convex in what its part does: from above it is at all its pairs
        here = replace(here, own=True)
    elif not isinstance(mechanism, model.Compose | Repeat | model.Subsample | model.PostProcess | model.Parallel):
        assert_never(mechanism)
    sampled = here.sampled or (isinstance(mechanism, model.Subsample) and mechanism.scheme == "poisson")
    here = replace(here, elsewhere=here.elsewhere or is_elsewhere(mechanism, top), sampled=sampled)
    for inner in inside:
        yield from leaves(inner, top and isinstance(mechanism, model.Group | model.Lipschitz | model.PostProcess), here)


def is_elsewhere(mechanism: model.Combinator, top: bool) -> bool:
    """Whether what a combinator holds sees other records than what is beside it. top: nothing is."""
    return isinstance(mechanism, model.Parallel) or (isinstance(mechanism, model.Subsample) and mechanism.rate != ONE and not top)


def together(part: Part, linked: bool, alone: bool = False) -> tuple[Space, ...]:
    """The spaces that several parts share, or one table that is run several times.

    linked: counting the parts that certainly do alone. alone: and those of one part on a sample, of which a query tells the order, or in
    several coordinates.
    """
    spaces: dict[Space, list[Leaf]] = {}
    for leaf in leaves(part):
        if leaf.space is not None and (leaf.linked or not linked):
            spaces.setdefault(leaf.space, []).append(leaf)
    return tuple(
        space
        for space, those in spaces.items()
        if len({leaf.part for leaf in those}) > 1
        or (space[0] == "inputs" and (len(those) > 1 or those[0].repeated))
        or (alone and any(leaf.one_way or leaf.several for leaf in those))
    )


def undecided(part: Part) -> bool:
    """Whether different parts of a composition may each be at neighbours of their own although the file connects them."""
    if isinstance(part.mechanism, model.Compose):
        spaces: dict[Space, set[Part]] = {}
        for leaf in leaves(part):
            if leaf.space is not None:
                spaces.setdefault(leaf.space, set()).add(leaf.part)
        if any(len(those) > 1 for those in spaces.values()):
            return True
    return any(undecided(inner) for inner in parts_of(part.mechanism))


def require_one_adjacency(part: Part, ordered: bool = False) -> None:
    """Raises Rejected where tables of the same inputs name different neighbours: each alone is not at the neighbours of the others.

    ordered: in one order of neighbours, where (a, b) and (b, a) are different.
    """
    named: dict[Space, set[frozenset[tuple[int, int]]]] = {}
    for leaf in leaves(part):
        mechanism = leaf.part.mechanism
        if leaf.linked and leaf.space is not None and isinstance(mechanism, model.Table | model.Exponential) and leaf.space[0] == "inputs":
            listed = mechanism.adjacent
            pairs = permutations(range(leaf.space[1]), 2) if listed is None else listed
            different = ((a, b) if ordered else (min(a, b), max(a, b)) for a, b in pairs if a != b)
            named.setdefault(leaf.space, set()).add(frozenset(different))
    if any(len(different) > 1 for different in named.values()):
        raise Rejected(NAME, "adjacent", "tables of the same inputs name different neighbours; look at all parts at every pair of them")


def apart(part: Part, whole: Part | None = None) -> tuple[str, ...]:
    """What a lower bound takes for granted where nothing connects neighbours. whole: the part before it was at one pair."""
    every = list(leaves(whole or part))
    groups = {_group(leaf) for leaf in leaves(part)}
    sizes = {group[1] for leaf in leaves(part) if leaf.linked and isinstance(group := _group(leaf), tuple) and group[0] == "inputs"}
    linked = {_group(leaf) for leaf in leaves(part) if leaf.linked and _inputs_of_a_response(leaf.part) in sizes}
    several = len(groups - linked) > 1 or (len(every) > 1 and any(leaf.own for leaf in every))
    return (APART,) * several + (SAME_ROWS,) * bool(linked)


def _group(leaf: Leaf) -> Space | Part:
    """What a part shares with the others: its space, where it has one."""
    return leaf.part.space if isinstance(leaf.part, OnePair) else leaf.space or leaf.part


def _inputs_of_a_response(part: Part) -> Fraction | None:
    """How many inputs a k-ary response has: it loses as much at every pair of them, so at the pair of tables that have as many."""
    k = part.mechanism.k if isinstance(part.mechanism, model.KaryResponse) else None
    return k.value if isinstance(k, Num) else None


def rows_assumed(part: Part) -> tuple[str, ...]:
    """What bounds at one pair of inputs for several tables take for granted."""
    tables = [leaf for leaf in leaves(part) if (leaf.space or ("",))[0] == "inputs"]
    return (SAME_ROWS,) if len(tables) > 1 else ()

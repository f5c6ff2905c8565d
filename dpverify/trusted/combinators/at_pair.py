"""What a combinator comes to at one pair of neighbours, and the pair that evidence names (theory#joint-neighbours)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverify.trusted.combinators.candidates import image, number, positive, reached_from, root_factor
from dpverify.trusted.combinators.densities import coordinate, even
from dpverify.trusted.combinators.neighbours import NAME, is_elsewhere, leaves, space_of, together
from dpverify.trusted.combinators.one_pair import Choice, OnePair, Space, Vector
from dpverify.trusted.combinators.runs import is_uneven
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, Expr, mul, num
from dpverify.trusted.kernel.model import Mechanism, Part, Repeat, repeated


def at(part: Part, choice: Choice, lower: bool = False) -> Part | None:
    """A combinator at one pair of neighbours, groups and maps that hold it all taken in; None where that pair reveals nothing.

    lower: parts in groups of their own, tables in parallel, and samples without replacement are at that pair too; from above they are at
    neighbours of their own.
    Raises Undecided, Rejected.
    """
    return _Specialised(dict(choice), lower, number(num(root_factor(part)))).of(part, ONE, ONE, top=True)


@dataclass(frozen=True, slots=True)
class _Specialised:
    """The differences by space, the side, and the steps between the neighbours of everything, which the differences have already."""

    choice: Mapping[Space, Vector]
    lower: bool
    factor: Fraction

    def of(self, part: Part, factor: Expr, further: Expr, top: bool = False, elsewhere: bool = False) -> Part | None:
        """factor: of the steps for parts that stay as they are; further: that of a group of its own."""
        mechanism = part.mechanism
        if isinstance(mechanism, model.Group | model.Lipschitz):
            steps = mechanism.size if isinstance(mechanism, model.Group) else mechanism.constant
            if not top and not self.lower:
                return _further(part, factor)
            if self.lower and isinstance(mechanism, model.Lipschitz) and is_uneven(mechanism, {}):
                raise Rejected(NAME, "constant", "it is not whole, and something behind the map knows whole steps between neighbours alone")
            return self.of(mechanism.part, mul(factor, steps), further if top else mul(further, steps), top, elsewhere)
        if isinstance(mechanism, Repeat):
            inner = self.of(mechanism.part, factor, further, False, elsewhere)
            return None if inner is None else repeated(inner, mechanism.times)
        if isinstance(mechanism, model.PostProcess):
            inner = self.of(mechanism.part, factor, further, top, elsewhere)
            return None if inner is None else replace(part, mechanism=replace(mechanism, part=inner))
        if isinstance(mechanism, model.BestOf):
            return _further(part, factor)  # it is at all its pairs
        if isinstance(mechanism, model.Subsample | model.Parallel) and factor != ONE:
            raise Undecided(f"{NAME}: samples and parts in parallel want neighbours one step apart.")
        if isinstance(mechanism, model.Subsample) and mechanism.scheme != "poisson" and not self.lower:
            return part  # samples without a record have another one in its place: the part is at all its pairs, not at this one alone
        if isinstance(mechanism, model.Subsample):
            inner = self.of(mechanism.part, ONE, ONE, False, elsewhere or is_elsewhere(mechanism, top))
            return None if inner is None else replace(part, mechanism=replace(mechanism, part=inner))
        if isinstance(mechanism, model.Compose | model.Parallel):
            elsewhere = elsewhere or is_elsewhere(mechanism, top)
            parts = [self.of(inner, factor, further, False, elsewhere) for inner in mechanism.parts]
            kept = tuple(inner for inner in parts if inner is not None)
            return replace(part, mechanism=type(mechanism)(kept)) if kept else None
        space = space_of(part)
        if space is None or space not in self.choice or (elsewhere and part.query is None and not self.lower):
            return _further(part, factor)
        return self.leaf(part, space, number(further))

    def leaf(self, part: Part, space: Space, further: Fraction) -> Part | None:
        """A part without parts at its pair."""
        mechanism, value = part.mechanism, self.choice[space]
        if isinstance(mechanism, model.Table | model.Exponential):
            if further < 1 or further.denominator != 1:
                raise Rejected(NAME, "a table", "no two inputs are certainly a number of steps apart that is not whole")
            if isinstance(mechanism, model.Exponential) and mechanism.points:
                raise Rejected(NAME, "points", "which of them are neighbours is not listed")
            a, b = (int(x) for x in value)
            return OnePair(replace(mechanism, adjacent=((a, b),)), part.sensitivity, None, part.adjacency, pair=(a, b), space=space)
        assert part.query is not None
        shift = tuple(further * x for x in image(part.query, value))
        if not any(shift):
            return None
        if (alone := coordinate(mechanism)) is not None:
            moved = sorted(x for x in shift if x)
            those = Counter(_moved(alone, x, space) for x in moved)
            return Part(model.Compose(tuple(repeated(one, num(k)) for one, k in those.items())))
        if len(shift) == 1:
            return _moved(mechanism, shift[0], space)
        query = model.Query(tuple((x,) for x in positive(shift)), "add-remove")
        return OnePair(mechanism, None, query, "", space=space)


def _moved(noise: Mechanism, shift: Fraction, space: Space) -> OnePair:
    """Noise on the line at one shift, of the first answer less the second. The rules move the second up: what is not even is reflected."""
    if shift > 0 and isinstance(noise, model.Translation | model.Sum) and not even(noise):
        from dpverify.trusted.combinators.laws_of_sums import opposite

        return OnePair(opposite(noise), None, model.Query(((abs(shift),),), "add-remove"), space=space)
    return OnePair(noise, None, model.Query(((abs(shift),),), "add-remove"), space=space)


def _further(part: Part, factor: Expr) -> Part:
    return part if factor == ONE else Part(model.Group(part, factor))


def read(part: Part, evidence: Any) -> Choice:
    """The choice of a lower bound, checked to be neighbours as far apart as all is.

    evidence: a list of objects, "columns" and "adjacency" with the "difference", or "inputs" with the "pair". Raises Rejected,
    CertificateError.
    """
    factor, choice = root_factor(part), dict[Space, Vector]()
    every = list(leaves(part))
    for item in evidence:
        if "pair" in item:
            space: Space = ("inputs", int(item["inputs"]), "")
            value: Vector = tuple(Fraction(int(x)) for x in item["pair"])
        else:
            space = ("records", int(item["columns"]), str(item["adjacency"]))
            value = tuple(exact_fraction(str(x)) for x in item["difference"])
        if space[0] == "records":
            fine = len(value) == space[1] and _occurs(value, space[2], factor)
        else:
            those = [leaf for leaf in every if leaf.space == space]
            shared = [leaf.part for leaf in those if leaf.linked]
            lists = ([shared] if shared else []) + [[leaf.part] for leaf in those if not leaf.linked]
            whole = factor >= 1 and factor.denominator == 1
            fine = len(value) == 2 and whole and all(value[1] in reached_from(some, int(factor)).get(int(value[0]), ()) for some in lists)
        require(fine, Rejected(NAME, "the pair", "it is not of neighbours as far apart as the mechanism says"))
        choice[space] = value
    missing = [space for space in together(part, linked=False) if space not in choice]
    require(not missing, Rejected(NAME, "the pair", "it says nothing of what some parts share"))
    return tuple(choice.items())


def are_neighbours(part: Part, choice: Choice) -> bool:
    """Whether histograms that differ as a choice says are neighbours, and not only a bound on what neighbours are."""
    return all(space[0] != "records" or _occurs(value, space[2], root_factor(part)) for space, value in choice)


def _occurs(v: Vector, adjacency: str, factor: Fraction) -> bool:
    """Whether histograms that differ by v are certainly `factor` steps apart at most; one step by a record more, in that order."""
    length = sum(map(abs, v), Fraction(0))
    whole = factor.denominator == 1 and all(x.denominator == 1 for x in v)  # records are whole
    if adjacency == "add-remove":
        return whole and (0 < length <= factor if factor != 1 else length == 1 and sum(v) == 1)
    if adjacency == "replace":
        return whole and sum(v) == 0 and 0 < length <= 2 * factor
    if adjacency == "l1":
        return length <= factor
    return adjacency == "l2" and sum((x * x for x in v), Fraction(0)) <= factor * factor


def written(choice: Choice) -> list[dict[str, Any]]:
    """A choice as evidence writes it."""
    return [
        {"inputs": space[1], "pair": [int(x) for x in value]}
        if space[0] == "inputs"
        else {"columns": space[1], "adjacency": space[2], "difference": [str(x) for x in value]}
        for space, value in choice
    ]

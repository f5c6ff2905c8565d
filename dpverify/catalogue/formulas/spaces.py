"""What is stated of metric spaces of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpverify.catalogue.formulas.boxes import Box, Ident, Op, Words, row
from dpverify.catalogue.formulas.pieces import IN
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.trusted.kernel.model import Space

_NAMES: Final[Mapping[str, str]] = {
    "points": "finitely many points",
    "box": "a box",
    "ball": "a ball",
    "sphere": "a sphere",
    "hull": "a convex polytope",
    "tree": "the leaves of a tree",
    "infinite_tree": "the leaves of a tree with a node of infinitely many children",
    "cantor": "a Cantor set",
    "ellipsoid": "a sequence ellipsoid",
    "hoelder": "a ball of Hölder functions",
    "real": "all of R^d",
    "integers": "all integers",
    "discrete": "infinitely many points that are equally far apart",
    "net": "a space with the stated nets",
    "separated": "a space with the stated infinite family",
    "product": "a product of spaces",
}


def space(space: Space) -> Iterator[Box]:
    """The space, and how far true answers move."""
    yield row(Ident("q"), Words("(x), y "), IN, Ident("Y"), Words(f", {_NAMES[space.shape.kind]}"))
    apart = row(Ident("d"), Words("(q(x), q(x')) "), Op("≤"), typeset(space.lipschitz), Words(" dist(x, x')"))
    yield apart

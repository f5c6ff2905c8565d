"""Parts whose answers move together: the mechanisms of nested compositions, and what each of them loses at any move of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.runs import Run, runs
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Sym
from dpverify.trusted.kernel.model import Claim, Domain, Group, Lipschitz, Part, PostProcess, Product, Translation

NAME: Final = "joint-moves"

MOVED: Final = Sym("moved")
DOMAIN: Final = ((MOVED.name, Domain(Fraction(0))),)


def leaves(part: Part) -> Iterator[tuple[Part, int]]:
    """The parts of nested compositions, with how often each is run; groups and maps that hold everything taken off. Raises Rejected."""
    while isinstance(part.mechanism, Group | Lipschitz | PostProcess):
        part = part.mechanism.part
    for run in runs(part, Run(part)):
        if run != Run(run.part, times=run.times):
            raise Rejected(NAME, "a part", "it is in a group, or behind a map, that others are not in")
        yield run.part, run.times


def question(part: Part) -> Claim:
    """What a part, or one coordinate of it, loses where its answer moves by at most MOVED, as a claim."""
    noise = part.mechanism
    return Claim(Translation(noise.density) if isinstance(noise, Product) else noise, None, sensitivity=MOVED, domains=DOMAIN)

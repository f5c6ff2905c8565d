"""Parts whose answers move together: the mechanisms of nested compositions, and what each of them loses at any move of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.runs import count
from dpverify.trusted.kernel.expr import Sym
from dpverify.trusted.kernel.model import Claim, Compose, Domain, Group, Lipschitz, Part, PostProcess, Product, Repeat, Translation

NAME: Final = "joint-moves"

MOVED: Final = Sym("moved")
DOMAIN: Final = ((MOVED.name, Domain(Fraction(0))),)


def leaves(part: Part, times: int = 1) -> Iterator[tuple[Part, int]]:
    """The parts of nested compositions, with how often each is run; groups and maps that hold everything taken off. Raises Rejected."""
    while isinstance(part.mechanism, Group | Lipschitz | PostProcess):
        part = part.mechanism.part
    yield from _runs(part, times)


def _runs(part: Part, times: int) -> Iterator[tuple[Part, int]]:
    mechanism = part.mechanism
    if isinstance(mechanism, Repeat):
        yield from _runs(mechanism.part, times * count(mechanism))
    elif isinstance(mechanism, Compose):
        for inner in mechanism.parts:
            yield from _runs(inner, times)
    else:
        yield part, times


def question(part: Part) -> Claim:
    """What a part, or one coordinate of it, loses where its answer moves by at most MOVED, as a claim."""
    noise = part.mechanism
    return Claim(Translation(noise.density) if isinstance(noise, Product) else noise, None, sensitivity=MOVED, domains=DOMAIN)

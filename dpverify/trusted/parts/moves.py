"""Parts whose answers move together: the mechanisms of nested compositions, and what each of them loses at any move of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, Num, Sym
from dpverify.trusted.language.model import Claim, Compose, Domain, Group, Lipschitz, Part, PostProcess, Product, Translation
from dpverify.trusted.order.integers import is_whole

NAME: Final = "joint-moves"

MOVED: Final = Sym("moved")
DOMAIN: Final = ((MOVED.name, Domain(Fraction(0))),)


def leaves(part: Part, times: int = 1) -> Iterator[tuple[Part, int]]:
    """The parts of nested compositions, with how often each is run; groups and maps that hold everything taken off. Raises Rejected."""
    while isinstance(part.mechanism, Group | Lipschitz | PostProcess) and part.times == ONE:
        part = part.mechanism.part
    yield from _runs(part, times)


def _runs(part: Part, times: int) -> Iterator[tuple[Part, int]]:
    if not isinstance(part.times, Num) or not is_whole(part.times, {}) or part.times.value < 1:
        raise Rejected(NAME, "times", "it is not an integer of at least 1")
    times *= int(part.times.value)
    if isinstance(part.mechanism, Compose):
        for inner in part.mechanism.parts:
            yield from _runs(inner, times)
        return
    yield part, times


def question(part: Part) -> Claim:
    """What a part, or one coordinate of it, loses where its answer moves by at most MOVED, as a claim."""
    noise = part.mechanism
    return Claim(Translation(noise.density) if isinstance(noise, Product) else noise, None, sensitivity=MOVED, domains=DOMAIN)

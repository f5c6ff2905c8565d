"""The curve of a composition by privacy-loss distributions, from the curves of its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.fact import Fact, curves_of
from dpverify.trusted.facts.pairs import Curve, Event, Evidence, Pair, Rest
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.model import Source
from dpverify.trusted.parts.runs import Run, merged
from dpverify.trusted.rules.composition import losses
from dpverify.trusted.rules.composition.grid import RULE, Grid

NAME: Final = RULE
STATEMENT: Final = (
    "Convolving masses at equally spaced losses whose profile is nowhere below (above) that of each part gives a profile that is nowhere "
    "below (above) that of the parts' composition."
)
CHECKED: Final = (
    "the masses of every part bound its profile at every epsilon, from enclosures of it",
    "every product is exact and rounded once in the safe direction",
    "what leaves the range is moved in the safe direction, mass at infinity is kept",
    "a bound from below is the profile of two distributions, whatever the masses",
)
ASSUMED: Final = ("the parts draw independent noise",)
SOURCE: Final = Source("docs/theory/composition.md#loss-distribution", "Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022")


_Sums = Callable[[Sequence[tuple[Pair, int]], Grid], losses.Sums]


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of a composition from those of one run of each part. Raises Rejected, CertificateError.

    parameters: "grid", and "reverse" where the parts' two orders differ: the grid of the second.
    """
    runs = merged(run.part, run.factor)
    parts = curves_of(premises, [replace(inner, times=1) for inner in runs], NAME)
    return settled.together(run, distributions(parts, [inner.times for inner in runs], parameters))


def distributions(parts: Sequence[Curve], times: Sequence[int], evidence: Evidence) -> Curve:
    """Bounds on both sides, from the parts' upper pairs and from their lower pairs. Raises Rejected, CertificateError.

    parameters: "grid", and "reverse" where the parts' two orders differ: the grid of the second.
    """
    grids = [_grid(evidence, key) for key in (("grid", "reverse") if "reverse" in evidence else ("grid",))]
    uppers = [part.upper for part in parts if part.upper is not None]
    lowers = [part.lower for part in parts if part.lower is not None]
    above = _orders(uppers, times, grids, losses.upper_sums) if len(uppers) == len(parts) else None
    below = _orders(lowers, times, grids, losses.lower_sums) if len(lowers) == len(parts) else None
    upper = None if above is None else above.pair(_as_it_is, None, None)
    lower = None if below is None else below.pair(losses.completed, _rests(lowers, times), None if above is None else _event(above, below))
    rules = tuple(dict.fromkeys((NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for part in parts for line in part.assumed))))
    return Curve(upper, lower, rules, assumed, tuple(dict.fromkeys(line for part in parts for line in part.below)))


def _grid(evidence: Evidence, key: str) -> Grid:
    written = evidence.get(key)
    if not isinstance(written, dict):
        raise CertificateError(f"{NAME}: the evidence has no grid.")
    return losses.read_grid(written)


@dataclass(frozen=True, slots=True)
class _Orders:
    """One bound on both orders of a composition, made when first asked for, the grid's precision beside each.

    The two are one where every part's are.
    """

    forward: Callable[[], losses.Sums]
    backward: Callable[[], losses.Sums]
    precs: tuple[int, int]

    def pair(self, adapted: Callable[[arb, arb], arb], rests: tuple[Rest, Rest] | None, event: Event | None) -> Pair:
        """adapted: of an epsilon and the masses' profile there."""
        forward = falling(lambda epsilon: adapted(epsilon, self.forward().at(epsilon)))
        backward = forward
        if self.backward is not self.forward:
            backward = falling(lambda epsilon: adapted(epsilon, self.backward().at(epsilon)))
        return Pair(forward, backward, event, everywhere=True, rests=rests)


def _as_it_is(_: arb, profile: arb) -> arb:
    return profile


def _orders(pairs: Sequence[Pair], times: Sequence[int], grids: Sequence[Grid], sums: _Sums) -> _Orders:
    forward = cache(lambda: sums(list(zip(pairs, times, strict=True)), grids[0]))
    backward = forward
    if not all(pair.forward is pair.backward for pair in pairs):
        backward = cache(lambda: sums([(pair.reversed, count) for pair, count in zip(pairs, times, strict=True)], grids[-1]))
    return _Orders(forward, backward, (grids[0].prec, grids[-1].prec))


def _event(above: _Orders, below: _Orders) -> Event:
    """The event of the order whose upper bound is the greater."""

    def describe(epsilon: arb) -> Mapping[str, str]:
        at = epsilon.lower()
        swapped = above.backward is not above.forward and bool(above.backward().at(at) > above.forward().at(at))
        orders = (above.backward(), below.backward()) if swapped else (above.forward(), below.forward())
        return losses.Composition(*orders, above.precs[swapped]).event(epsilon)

    return describe


def _rests(pairs: Sequence[Pair], times: Sequence[int]) -> tuple[Rest, Rest] | None:
    """In each order, that some part has an output which only the first side has: 1 less the chance that none has."""
    if not any(pair.rests for pair in pairs):
        return None

    def mass(order: int) -> arb:
        none = arb(1)
        for pair, count in zip(pairs, times, strict=True):
            none *= 1 if pair.rests is None else (1 - pair.rests[order]()) ** count
        return 1 - none

    return lambda: mass(0), lambda: mass(1)

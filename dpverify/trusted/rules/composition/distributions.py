"""The curve of a composition by privacy-loss distributions, from the curves of its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from flint import arb

from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Curve, Event, Evidence, Pair, Rest
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.rules.composition import losses
from dpverify.trusted.rules.composition.grid import Grid

_Sums = Callable[[Sequence[tuple[Pair, int]], Grid], losses.Sums]


def curve(parts: Sequence[Curve], times: Sequence[int], evidence: Evidence) -> Curve:
    """Bounds on both sides, from the parts' upper pairs and from their lower pairs. Raises Rejected, CertificateError.

    evidence: "grid", and "reverse" where the parts' two orders differ: the grid of the second.
    """
    grids = [_grid(evidence, key) for key in (("grid", "reverse") if "reverse" in evidence else ("grid",))]
    uppers = [part.upper for part in parts if part.upper is not None]
    lowers = [part.lower for part in parts if part.lower is not None]
    above = _orders(uppers, times, grids, losses.upper_sums) if len(uppers) == len(parts) else None
    below = _orders(lowers, times, grids, losses.lower_sums) if len(lowers) == len(parts) else None
    upper = None if above is None else above.pair(_as_it_is, None, None)
    lower = None if below is None else below.pair(losses.completed, _rests(lowers, times), None if above is None else _event(above, below))
    rules = tuple(dict.fromkeys((losses.NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*losses.ASSUMED, *(line for part in parts for line in part.assumed))))
    return Curve(upper, lower, rules, assumed, tuple(dict.fromkeys(line for part in parts for line in part.below)))


def _grid(evidence: Evidence, key: str) -> Grid:
    written = evidence.get(key)
    if not isinstance(written, dict):
        raise CertificateError(f"{losses.NAME}: the evidence has no grid.")
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

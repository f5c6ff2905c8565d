"""The curve of a composition by privacy-loss distributions, from the curves of its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from flint import arb

from dpverify.curves import losses
from dpverify.curves.base import Curve, Evidence, Pair
from dpverify.curves.evaluate import falling
from dpverify.curves.grid import Grid
from dpverify.errors import CertificateError

JOINT: Final = "the neighbours that are worst for one part are worst for all"

_Sums = Callable[[Sequence[tuple[Pair, int]], Grid], losses.Sums]


def curve(parts: Sequence[Curve], times: Sequence[int], evidence: Evidence) -> Curve:
    """Bounds on both sides, from the parts' upper pairs and from their lower pairs. Raises Rejected, CertificateError.

    evidence: "grid", and "reverse" where the parts' two orders differ: the grid of the second.
    """
    grids = [_grid(evidence, key) for key in (("grid", "reverse") if "reverse" in evidence else ("grid",))]
    uppers = [part.upper for part in parts if part.upper is not None]
    lowers = [part.lower for part in parts if part.lower is not None]
    upper = _pair(uppers, times, grids, losses.upper_sums) if len(uppers) == len(parts) else None
    lower = _pair(lowers, times, grids, losses.lower_sums) if len(lowers) == len(parts) else None
    rules = tuple(dict.fromkeys((losses.NAME, *(rule for part in parts for rule in part.rules))))
    joint = (JOINT,) if lower is not None and len(parts) > 1 else ()
    assumed = tuple(dict.fromkeys((*losses.ASSUMED, *joint, *(line for part in parts for line in part.assumed))))
    return Curve(upper, lower, rules, assumed)


def _grid(evidence: Evidence, key: str) -> Grid:
    written = evidence.get(key)
    if not isinstance(written, dict):
        raise CertificateError(f"{losses.NAME}: the evidence has no grid.")
    return losses.read_grid(written)


def _pair(pairs: Sequence[Pair], times: Sequence[int], grids: Sequence[Grid], sums: _Sums) -> Pair:
    """One bound on both orders of the composition; the two are one where every part's are."""
    forward = falling(sums(list(zip(pairs, times, strict=True)), grids[0]).at)
    rest = _rest(pairs, times)
    if all(pair.forward is pair.backward for pair in pairs):
        return Pair(forward, forward, everywhere=True, rest=rest)
    backward = falling(sums([(pair.reversed, count) for pair, count in zip(pairs, times, strict=True)], grids[-1]).at)
    return Pair(forward, backward, everywhere=True, rest=rest)


def _rest(pairs: Sequence[Pair], times: Sequence[int]) -> Callable[[], arb] | None:
    """That some part has an output which only one side has: 1 less the chance that none has. For parts with equal orders only."""
    if not any(pair.rest for pair in pairs) or not all(pair.forward is pair.backward for pair in pairs):
        return None

    def mass() -> arb:
        none = arb(1)
        for pair, count in zip(pairs, times, strict=True):
            none *= 1 if pair.rest is None else (1 - pair.rest()) ** count
        return 1 - none

    return mass

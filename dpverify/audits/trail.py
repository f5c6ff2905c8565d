"""What an e-process looked like as the run went, at times that grow geometrically: few, however long the run.

The times follow from how many samples there have been and from nothing else, so that trails are the same for any number of workers and
for a run that was taken up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from dpverify.audits import bounds
from dpverify.audits.partition import Counts
from dpverify.runtime.finding import Known, Path

MOST: Final = 100  # looks of a path
RESOLUTION: Final = 1e-3  # in epsilon, of what is only drawn


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """An e-process after so many of the run's samples a side. log_wealth: in nats; counts: (K, K) joint counts, None for conformance."""

    samples: int
    log_wealth: float
    counts: Counts | None = None


def marks(seen: int, size: int, segments: int) -> list[int]:
    """The segments of a block of `size`, after `seen` samples, at whose end one looks: four times as often as the samples double."""
    ends = [seen + segment * size // segments for segment in range(segments + 1)]
    quarters = [(end**4).bit_length() for end in ends]
    return [segment for segment in range(segments) if quarters[segment + 1] > quarters[segment]]


def path(looks: Iterable[Look], threshold: float, until: int) -> Path:
    """The evidence of some looks, up to so many samples. threshold: the log wealth, in nats, that is a finding."""
    known = [Known(look.samples, look.log_wealth / log(10), None) for look in _in_order(looks, until)]
    return Path(threshold / log(10), tuple(known))


def bounded_path(looks: Iterable[Look], threshold: float, until: int, *, cut: int, risk: float, delta: float, refuted: float) -> Path:
    """Likewise with what each look says of epsilon (nats) at `delta`: bounds that all hold, with probability at least 1 - risk.

    cut: between the cells of the event {cell < cut} and its complement, which may be chosen when all is over: the risk is shared out to
    all cuts. refuted: an epsilon that a look refutes which reaches the threshold; 0 for none.
    """
    chosen = _in_order(looks, until)
    tables = [look.counts for look in chosen if look.counts is not None]
    cuts = max(len(table) - 1 for table in tables)
    merged = [np.add.reduceat(np.add.reduceat(table, [0, cut], axis=0), [0, cut], axis=1) for table in tables]
    lower = bounds.epsilon_so_far(merged, risk=risk / cuts, delta=delta, resolution=RESOLUTION)
    known, least = [], 0.0
    for look, bound in zip(chosen, lower, strict=True):
        least = max(least, refuted if look.log_wealth >= threshold else 0.0)
        known.append(Known(look.samples, look.log_wealth / log(10), max(least, bound)))
    return Path(threshold / log(10), tuple(known))


def _in_order(looks: Iterable[Look], until: int) -> Sequence[Look]:
    """Looks by their samples, one of each, at most MOST: the last and the first to have the greatest wealth among them."""
    ordered = sorted({look.samples: look for look in looks if look.samples <= until}.values(), key=lambda look: look.samples)
    if len(ordered) <= MOST:
        return ordered
    kept = {round(place) for place in np.linspace(0, len(ordered) - 1, MOST - 1).tolist()}
    kept.add(max(range(len(ordered)), key=lambda place: ordered[place].log_wealth))
    return [ordered[place] for place in sorted(kept)]

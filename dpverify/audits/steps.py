"""Which numbers of an output tell by themselves: of a pipeline that releases ten, the step that leaks.

Each number alone is a function of the output, so that its own epsilon is at most the output's. What is said is a bound for each, beside the
finding: events are chosen on one half of the outputs that are remembered, and counted on the other.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from dpverify.audits.bounds import epsilon_lower_bound
from dpverify.audits.outputs import Outputs, kinds

Array = np.ndarray[Any, Any]

CONFIDENCE: Final = 0.99  # of all bounds together
MOST: Final = 64  # numbers of an output
LEAST: Final = 500  # outputs on a side
CUTS: Final = 40
DOUBT: Final = 3.0  # standard errors, for the best of many events is partly the luckiest
STANDS_OUT: Final = 1.25  # times the next bound
_LEAF: Final = re.compile(
    r"(?P<key>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|"
    r"(?P<kind>number|bool|str|bytes|complex|None|nan|length|numeral|decimal)(?: x (?P<count>\d+))?"
)


def telling(left: Outputs, right: Outputs, delta: float) -> str:
    """What each number of the outputs tells by itself, in words; empty where the outputs are not some numbers of one shape."""
    if left.names != right.names or len(left.names) != 1 or min(len(left), len(right)) < LEAST:
        return ""
    columns = [column for column, kind in enumerate(kinds(left.names[0])) if kind in ("number", "bool")]
    if not 2 <= len(columns) <= MOST:
        return ""
    confidence = 1 - (1 - CONFIDENCE) / len(columns)
    bounds = [_bound(left.numbers[:, column], right.numbers[:, column], confidence, delta) for column in columns]
    best, second = sorted(bounds, reverse=True)[:2]
    if best <= max(STANDS_OUT * second, 0.0):
        return ""
    label = labels(left.names[0])[columns[int(np.argmax(bounds))]]
    return (
        f"of the {len(columns)} numbers of an output, each by itself, {label} tells most: its own epsilon is above {best:.3g}, "
        f"and no more than {second:.3g} is shown of any other (confidence {CONFIDENCE:g} for all of these together)"
    )


def labels(name: str) -> list[str]:
    """What each number of a shape is called: y[3], or the key that it stands under, y['count']."""
    found: list[str] = []
    key = ""
    for match in _LEAF.finditer(name):
        if match["key"]:
            key = match["key"] if name[match.end() :].startswith(":") else key
            continue
        width = len(kinds(match["kind"])) * int(match["count"] or 1)
        found += [f"y[{key}]" if key and width == 1 else f"y[{key}, {i}]" if key else f"y[{len(found) + i}]" for i in range(width)]
        key = key if _inside(name, match.end()) else ""
    return found


def _inside(name: str, at: int) -> bool:
    """Whether the next leaf stands in the same list."""
    return name[at : at + 2] == ", " and name[at + 2 : at + 3] not in "'\""


def _bound(x: Array, y: Array, confidence: float, delta: float) -> float:
    """A lower bound on the epsilon of one number."""
    chosen, counted = (tuple(np.sort(side[start::2].astype(np.float64)) for side in (x, y)) for start in (0, 1))
    cuts = np.unique(np.quantile(np.concatenate(chosen), np.linspace(0.01, 0.99, CUTS), method="nearest"))
    best, event = -np.inf, (0.0, True, 0)
    for cut in cuts.tolist():
        for above in (False, True):
            seen = [_share(side, cut, above) for side in chosen]
            for side in (0, 1):
                p, q = seen[side] - delta, max(seen[1 - side], 1 / len(chosen[1 - side]))
                if p > 0:
                    spread = np.sqrt(seen[side] * (1 - seen[side]) / p**2 / len(chosen[side]) + (1 - q) / q / len(chosen[1 - side]))
                    if (value := float(np.log(p / q) - DOUBT * spread)) > best:
                        best, event = value, (cut, above, side)
    cut, above, side = event
    sizes = [len(each) for each in counted]
    hits = [round(_share(each, cut, above) * size) for each, size in zip(counted, sizes, strict=True)]
    return epsilon_lower_bound(hits[side], sizes[side], hits[1 - side], sizes[1 - side], confidence=confidence, delta=delta)


def _share(values: Array, cut: float, above: bool) -> float:
    """How much of sorted values lies above a cut, or else does not."""
    below = int(np.searchsorted(values, cut, "right"))
    return (len(values) - below if above else below) / len(values)

"""The numbers on the page about the best mechanism for a count: geometric noise, geometric noise with its best remap, and the least of any.

    python tools/optimum.py

writes them; tests/utility/test_counts.py fails where the page says other numbers than the code gives.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import sinh
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dpverify.project.optimum import optimum  # noqa: E402
from dpverify.search.spaces.private_tables import Task, ratio  # noqa: E402
from dpverify.search.utility.remaps import remap, remapped, truncated_geometric  # noqa: E402
from dpverify.trusted.kernel.balls import constant  # noqa: E402
from dpverify.trusted.kernel.expr import parse  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "best-count.md"
HEADING = "## In numbers\n"
END = "\nThe first two columns"
CASES = (("log(2)", 2), ("log(2)", 3), ("1/2", 10), ("1", 5), ("1", 10), ("1", 20), ("2", 10))


class Row(NamedTuple):
    """The losses on the answers 0 to last: each of a table that is private for certain, and the bound that no mechanism is below."""

    epsilon: str
    last: int
    truncated: Fraction
    remapped: Fraction
    bound: Fraction


def row(epsilon: str, last: int) -> Row:
    """The losses, exactly, of mechanisms whose privacy is checked exactly. Raises ValueError where one is not private."""
    found = optimum(epsilon, answers=range(last + 1), neighbours="consecutive")
    losses = tuple(tuple(Fraction(abs(x - y)) for y in range(last + 1)) for x in range(last + 1))
    ends = ratio(parse(epsilon))
    task = Task(losses, {pair: ends for x in range(last) for pair in ((x, x + 1), (x + 1, x))})
    geometric = truncated_geometric(ends[0], last)
    best = remapped(geometric, remap(geometric, losses))
    if not (task.private(geometric) and task.private(best)):
        raise ValueError(f"{epsilon}, {last}: a table is not private.")
    return Row(epsilon, last, task.error(geometric), task.error(best), found.bound)


def written(page: str) -> str:
    """The page with the numbers of today."""
    before, _, rest = page.partition(HEADING)
    _, _, after = rest.partition(END)
    lines = [
        "| epsilon | answers | geometric, truncated | with its best remap | least of any | remap above it by at most | on all integers |",
        "|---|---|---|---|---|---|---|",
        *(_line(row(*case)) for case in CASES),
    ]
    return f"{before}{HEADING}\n{chr(10).join(lines)}\n{END}{after}"


def _line(one: Row) -> str:
    size = float(constant(parse(one.epsilon)).mid())
    gap = one.remapped - one.bound
    shown = [one.epsilon, f"0 to {one.last}", *map(_shown, one[2:]), "0" if not gap else f"1e-{_zeros(gap)}", f"{1 / sinh(size):.5f}"]
    return f"| {' | '.join(shown)} |"


def _shown(value: Fraction) -> str:
    return f"{value} = {float(value):.5f}" if value.denominator < 1000 else f"{float(value):.5f}"


def _zeros(gap: Fraction) -> int:
    """The greatest k up to 12 with gap <= 10^-k."""
    return max(k for k in range(13) if gap * 10**k <= 1)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

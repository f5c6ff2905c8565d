"""Random operations of the second checker's decimal intervals against flint's balls: each contains the other's middle, but for its width.

    python tools/interval_operations.py [--number NUMBER] [--seed SEED] [--precision BITS]

The two arithmetics share no line. Numbers are drawn over many orders of magnitude, next to 0 and to where functions turn, and as wide
intervals too. Of the exact operation on points the value is in the interval of the one and in the ball of the other, so that the two must
meet, and their middles be as near as they are wide; of a wide one the decimal interval must hold the value at a point drawn from it. Exit
code 1 where that fails.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "checker")]

import bessel  # noqa: E402
import intervals as iv  # noqa: E402
import normal  # noqa: E402
from flint import arb, ctx  # noqa: E402

Numbers = tuple[Fraction, Fraction]
POWERS = (Fraction(1, 2), Fraction(3, 2), Fraction(-2), Fraction(3), Fraction(-1, 3))

OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str, int]] = {
    "add": (lambda x, y: x + y, lambda x, y: x + y, "any any", 20),
    "subtract": (lambda x, y: x - y, lambda x, y: x - y, "any any", 20),
    "multiply": (lambda x, y: x * y, lambda x, y: x * y, "any any", 20),
    "divide": (lambda x, y: x / y, lambda x, y: x / y, "any positive", 12),
    "root": (lambda x: x ** Fraction(1, 2), lambda x: x.sqrt(), "positive", 8),
    "cube": (lambda x: x ** Fraction(3), lambda x: x**3, "any", 8),
    "exp": (iv.exp, lambda x: x.exp(), "moderate", 8),
    "log": (iv.log, lambda x: x.log(), "positive", 6),
    "power": (lambda x: x ** Fraction(-5, 3), lambda x: x ** (arb(-5) / 3), "positive", 2),
    "erfc": (normal.erfc, lambda x: x.erfc(), "small", 1),
}
RARE = {"bessel": (lambda x: bessel.bessel(Fraction(1, 3), x), lambda x: x.bessel_k(arb(1) / 3), "bessel", 1)}
EVERY_RARE = 20_000
"""So many operations from one of a rare kind to the next."""


def drawn(random_: random.Random, kind: str) -> Fraction:
    """A number of a kind."""
    if kind == "small":
        return Fraction(random_.randint(-60_000, 60_000), 10_000)
    if kind == "bessel":
        return Fraction(random_.randint(2_000, 300_000), 10_000)
    if kind == "moderate":
        return Fraction(random_.randint(-(10**9), 10**9), 10 ** random_.randint(7, 18))
    size = Fraction(random_.randint(1, 10 ** random_.randint(1, 20)), random_.randint(1, 10 ** random_.randint(1, 20)))
    size = 1 + size / 10**15 if random_.random() < 0.1 else size  # next to 1, where log is 0
    return -size if kind == "any" and random_.random() < 0.5 else size


def ball(x: Fraction) -> arb:
    """The number as a ball."""
    return arb(x.numerator) / x.denominator


def end(x: Decimal) -> arb:
    """A decimal number as a ball."""
    return arb(str(x))


def run(number: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many operations of each kind were looked at, and those that fail."""
    random_, counts, failed = random.Random(seed), Counter[str](), list[str]()
    names = [name for name, (*_, often) in OPERATIONS.items() for _ in range(often)]
    for i in range(number):
        name = "bessel" if i % EVERY_RARE == EVERY_RARE - 1 else random_.choice(names)
        mine, theirs, kinds, _ = (OPERATIONS | RARE)[name]
        points = [drawn(random_, kind) for kind in kinds.split()]
        wide = random_.random() < 0.25
        boxes = [iv.point(x) for x in points]
        if wide:  # from the point to another one, on the same side of 0
            boxes = [box.hull(iv.point(x * Fraction(random_.randint(1, 2000), 1000))) for x, box in zip(points, boxes, strict=True)]
        found, value = mine(*boxes), theirs(*map(ball, points))
        counts[name] += 1
        low, high = end(found.lo), end(found.hi)
        good = found.lo <= found.hi and value.is_finite() and not value < low and not value > high
        if good and not wide:  # the middles are no further apart than both are wide
            good = not abs((low + high) / 2 - value) > (high - low) + 2 * value.rad()
        if not good:
            failed.append(f"{name} of {', '.join(map(str, points))}: {found}, {value}")
    return counts, failed


def main(arguments: list[str] | None = None) -> int:
    """Run, and say how many operations and which of them fail."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", type=int, default=80)
    told = parser.parse_args(arguments)
    iv.precision(told.precision)
    ctx.prec = told.precision + 60
    counts, failed = run(told.number, told.seed)
    print(*(f"{name} {n}" for name, n in counts.most_common()), sep=", ")
    print(f"{sum(counts.values())} operations, {len(failed)} that fail", *failed[:20], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

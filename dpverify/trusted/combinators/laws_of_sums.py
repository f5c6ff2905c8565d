"""What sums of noises come to by the laws that these have: equal laws are one, opposites meet, names tell a shape."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dpverify.trusted.combinators.sums import added
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, mul, num
from dpverify.trusted.kernel.model import OnLine, Product, Sum, Translation
from dpverify.trusted.language.whole_laws import known, negative_binomial, turned


def merged(noise: Sum) -> list[tuple[OnLine, int]]:
    """The noises of a sum without dropouts. Negative binomial laws of one chance, which add up their shapes, are one."""
    counts, shapes = Counter[OnLine](), dict[tuple[Expr, bool], Expr]()
    for one, times in added(noise):
        law = known(one) if isinstance(one, Translation) else None
        if law is not None and law.name == "negative_binomial":
            place = law.numbers[1], law.turned
            shapes[place] = add(shapes.get(place, ZERO), mul(num(times), law.numbers[0]))
        else:
            counts[one] += times
    for (gamma, way), eta in shapes.items():
        whole = negative_binomial(eta, gamma)
        counts[turned(whole) if way else whole] += 1
    return list(counts.items())


def is_log_concave_law(noise: OnLine) -> bool:
    """Whether noise on the integers has a name by which it is log-concave: a negative binomial law is of a shape of at least 1."""
    law = known(noise) if isinstance(noise, Translation) else None
    return law is not None and (law.name != "negative_binomial" or certainly_le(ONE, law.numbers[0]))


def opposite(noise: OnLine) -> OnLine:
    """The noise with its sign changed; one that is even about 0 by its kind as it is."""
    if isinstance(noise, Sum):
        return replace(noise, parts=tuple(replace(part, noise=opposite(part.noise)) for part in noise.parts))
    if isinstance(noise, Product):
        return replace(noise, density=turned(Translation(noise.density)).density)
    return turned(noise) if isinstance(noise, Translation) else noise


def is_even(noise: Sum) -> bool:
    """Whether a sum without dropouts certainly has the law of its opposite: each noise is even about 0, or stands beside its opposite."""
    ways = Counter[Translation]()
    for one, times in added(noise):
        if not isinstance(one, Translation):
            return False
        ways[one] += times
        ways[turned(one)] -= times
    return not any(ways.values())

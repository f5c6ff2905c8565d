"""How many of n people tell a bit, each with one of two chances: of one split of the others, and of all (theory#shuffled-bits).

f(m, t) = P[at least t tell it on the first data] - e^eps P[on the second], where m of the others tell it with the greater chance, is a mean
of its generating function over a circle |s| = R. Off the integers, what of that mean is near the real axis is smooth in m and t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Final

from flint import acb, acb_mat, arb, ctx

from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Undecided

_GUARD: Final = 64
_OFF: Final = 2
"""So far from the line of about the best events the values certainly rise, or fall."""
OFFSETS: Final = range(-_OFF - 1, _OFF + 4)
_CELLS: Final = 32
_DEVIATIONS: Final = 10


@dataclass(frozen=True, slots=True)
class Bits:
    """others: how many. more, less: their two chances. first, second: that of the one on both data, the first not less."""

    others: int
    more: arb
    less: arb
    first: arb
    second: arb

    def at(self, split: int, epsilon: arb) -> arb:
        """H at an exact epsilon, where so many of the others have the greater chance: the best event is that of at least so many."""
        with precision(ctx.prec + _GUARD):
            circle = self.circle(epsilon)
            if circle is None:
                return self.alone(epsilon)
            (top,) = circle.tops([split])
            return top.greatest.max(arb(0)) if top.turns(arb(0)) else self.alone(epsilon)

    def worst(self, splits: Sequence[int], epsilon: arb) -> arb:
        """At least the greatest H of all splits: by those that are told, which rise from none of the others to all, and between them."""
        with precision(min(ctx.prec, _GUARD) + _GUARD):
            circle = self.circle(epsilon)
            if circle is None:
                return self.alone(epsilon).upper()
            tops = circle.tops(splits)
            bounds = [circle.between(low, high) for low, high in pairwise(tops) if high.split > low.split + 1]
            if not all(top.turns(arb(0)) for top in tops) or None in bounds:
                return self.alone(epsilon).upper()
            known = reduce(arb.max, (top.greatest for top in tops)).max(arb(0))
            above = (reduce(arb.max, (bound for bound in bounds if bound is not None), known) / known - 1).upper()
            if not above.is_finite():
                return self.alone(epsilon).upper()
            return known * (1 + _power(above)) if above > 0 else known

    @property
    def complement(self) -> Bits:
        """How many do not tell it, on the data exchanged."""
        return Bits(self.others, 1 - self.less, 1 - self.more, 1 - self.second, 1 - self.first)

    def alone(self, epsilon: arb) -> arb:
        """What the one tells, which no shuffle exceeds."""
        return arb(0).union((self.first - epsilon.exp() * self.second).max(arb(0)).upper())

    def circle(self, epsilon: arb) -> Circle | None:
        """None where it is not certain that the one tells the bit on the first data more often than e^eps times that on the second."""
        factor = epsilon.exp()
        gain = self.first - factor * self.second
        if not gain > 0:
            return None
        loss = factor * (1 - self.second) - (1 - self.first)
        best = loss / gain
        tilt = best.log().max(1 / arb(self.others + 1).sqrt()).mid()
        return Circle(self.others, (self.more, self.less), gain, loss, best, tilt)


@dataclass(frozen=True, slots=True)
class Top:
    """f(split, number + j) for the offsets j. centre: about the best t, exact; number: its floor. size: R^-number times the generating
    function.
    """

    others: int
    split: int
    centre: arb
    number: int
    size: arb
    values: tuple[arb, ...]

    @property
    def greatest(self) -> arb:
        return reduce(arb.max, self.values)

    @property
    def bend(self) -> arb:
        """By how much f at the number exceeds the mean of its neighbours, twice."""
        before, here, after = self.values[_OFF : _OFF + 3]
        return 2 * here - before - after

    def turns(self, by: arb) -> bool:
        """Whether the values rise by more than so much at the three least offsets, and fall so at the three greatest: the best is between.

        Below t = 0 and above others + 1 they are constant, which is as good where they are to move by more than 0 alone.
        """
        rises = [after - before for before, after in pairwise(self.values)]
        flat = [by == 0 and not 0 <= self.number + j <= self.others + 1 for j in OFFSETS[:-1]]
        below, above = [*zip(rises, flat, strict=True)][:3], [*zip(rises, flat, strict=True)][-3:]
        return all(still or rise > by for rise, still in below) and all(still or -rise > by for rise, still in above)


@dataclass(frozen=True, slots=True)
class Circle:
    """f(m, t) = gain P[X >= t - 1] - loss P[X >= t], X of the others, is the coefficient of s^t in
    s (gain s - loss)/(s - 1) prod (1 - p + p s), |s| > 1. best: loss/gain, by which P[X = t - 1] exceeds P[X = t] at the best t.
    tilt: log R, above 0 and exact.
    """

    others: int
    chances: tuple[arb, arb]
    gain: arb
    loss: arb
    best: arb
    tilt: arb

    def _both(self, split: int) -> Iterator[tuple[int, arb]]:
        """How many of the others have each chance."""
        return zip((split, self.others - split), self.chances, strict=True)

    def _log(self, split: int, radius: arb) -> arb:
        """The logarithm of the generating function of the others."""
        return sum((count * (1 - p + p * radius).log() for count, p in self._both(split)), arb(0))

    def _tilted(self, p: arb) -> arb:
        return _odds(p, self.tilt.exp())

    def spread(self, split: int) -> arb:
        """The variance of the tilted number of others."""
        return sum((count * self._tilted(p) * (1 - self._tilted(p)) for count, p in self._both(split)), arb(0))

    def tops(self, splits: Sequence[int]) -> list[Top]:
        """At every split, by the same odd number of roots of unity, of which those far from 1 hardly count."""
        radius, bits, spreads = self.tilt.exp(), ctx.prec - _GUARD // 2, [self.spread(split) for split in splits]
        nodes = 2 * _integer((arb(reduce(arb.max, spreads).abs_upper()) * bits / 3).sqrt() + arb(bits) / 3) + 1
        used, left = 0, arb(1)
        while used <= nodes // 2 and not left < arb(2) ** -bits:
            used += 1
            left = (-2 * reduce(arb.min, spreads) * _half(2 * arb.pi() * used / nodes)).exp()
        left = left * radius ** (1 - OFFSETS[0]) * (self.loss + self.gain * radius) / (radius - 1) if used <= nodes // 2 else arb(0)
        roots = [acb.exp_pi_i(acb(arb(2 * j) / nodes)) for j in range(used)]
        bases = [[(1 - p + p * radius * root) / (1 - p + p * radius) for p in self.chances] for root in roots]
        centres = [sum((count * _odds(p, self.best) for count, p in self._both(split)), arb(1) / 2).mid() for split in splits]
        numbers = [_integer(centre) for centre in centres]
        sizes = [
            base[0] ** split * base[1] ** (self.others - split) * acb.exp_pi_i(acb(arb(-2 * (number * j % nodes)) / nodes))
            for split, number in zip(splits, numbers, strict=True)
            for j, base in enumerate(bases)
        ]
        factors = [(2 if j else 1) * self._factor(radius * root) * (radius * root) ** -k for j, root in enumerate(roots) for k in OFFSETS]
        sums = acb_mat(len(splits), used, sizes) * acb_mat(used, len(OFFSETS), factors)
        found = list[Top]()
        for i, (split, spread, centre, number) in enumerate(zip(splits, spreads, centres, numbers, strict=True)):
            size = (self._log(split, radius) - number * self.tilt).exp()
            constant, folded = self._folded(split, number, nodes, spread)
            error = arb(0, (folded + left * size).upper())
            values = tuple(sums[i, k].real * size / nodes + constant + error for k in range(len(OFFSETS)))
            found.append(Top(self.others, split, centre, number, size, values))
        return found

    def _factor(self, s: acb) -> acb:
        """What makes the generating function of f of that of the others."""
        return s * (self.gain * s - self.loss) / (s - 1)

    def _folded(self, split: int, number: int, nodes: int, spread: arb) -> tuple[arb, arb]:
        """What the mean has of the other values of f, so many steps away: a geometric series to be added, and a bound of the rest."""
        step = (nodes / spread.max(arb(1))).min(arb(1)).mid()
        bound = arb(0)
        for moved in (self.tilt + step, self.tilt - step):
            size = self._log(split, moved.exp()) - moved * (number - 1) + abs(moved) * len(OFFSETS)
            bound += self.loss * (size - step * nodes).exp() / -(-step * nodes).expm1()
        below = self.tilt < step  # there f is near gain - loss, and else near 0
        return (self.loss - self.gain) / (self.tilt * nodes).expm1() if below else arb(0), bound

    def between(self, low: Top, high: Top) -> arb | None:
        """At least the greatest f of all splits from the one to the other; None where it is not known."""
        width, radius = high.split - low.split, self.tilt.exp()
        slope, reach = (high.centre - low.centre) / width, radius ** (_OFF + 2)
        cut = (_DEVIATIONS / arb(self.spread(low.split).min(self.spread(high.split)).abs_upper()).sqrt()).min(arb(1)).upper()
        moves, bent, steps, step_bends = arb(0), arb(0), arb(0), arb(0)
        curl = self._curl(cut)
        for cell in range(_CELLS):
            near, far = (_half(cut * i / _CELLS) for i in (cell, cell + 1))
            angle = cut * (cell + 1) / _CELLS
            size = reach * cut / _CELLS / arb.pi() * self._size(low, near).max(self._size(high, near))
            gains = ((self.loss - self.gain * radius) ** 2 + 4 * self.gain * self.loss * radius * far).sqrt()
            poles = ((radius - 1) ** 2 + 4 * radius * near).sqrt()
            move, turn = self._move(slope, angle, curl) ** 2, (self.tilt**2 + angle**2).sqrt()
            moves, bent = moves + size * radius * gains / poles * move, bent + size * radius * gains / poles * turn**3
            steps, step_bends = steps + size * gains * move, step_bends + size * gains * turn**2
        far = _half(cut)
        error = reach * radius * (self.loss + self.gain * radius) / (radius - 1) * self._size(low, far).max(self._size(high, far))
        by = 4 * error + (step_bends + width**2 * steps) / 8
        if not (low.turns(by) and high.turns(by)):
            return None
        tops = [top.greatest + (top.bend + 4 * error + (_OFF + 3) * bent).max(arb(0)) / 8 for top in (low, high)]
        return (tops[0].max(tops[1]) + 2 * error + width**2 * moves / 8).upper()

    def _size(self, top: Top, half: arb) -> arb:
        """At most R^-number |generating function| at all angles beyond one."""
        pairs = ((count, self._tilted(p)) for count, p in self._both(top.split))
        return top.size * sum((count * (-4 * q * (1 - q) * half).log1p() / 2 for count, q in pairs), arb(0)).exp()

    def _move(self, slope: arb, angle: arb, curl: arb) -> arb:
        """At most |log((1 - p + p s)/(1 - q + q s)) - slope log s|, p and q the two chances, at all angles up to one: by its expansion."""
        radius = self.tilt.exp()
        more, less = self.chances
        at = ((1 - more + more * radius) / (1 - less + less * radius)).log() - slope * self.tilt
        p, q = map(self._tilted, self.chances)
        return abs(at) + abs(p - q - slope) * angle + abs(p * (1 - p) - q * (1 - q)) * angle**2 / 2 + curl * angle**3 / 6

    def _curl(self, cut: arb) -> arb:
        """At most the third derivative of that, at all angles up to one."""
        s, thirds = acb(self.tilt, arb(0, cut)).exp(), list[acb]()
        for p in self.chances:
            q = p * s / (1 - p + p * s)
            thirds.append(q * (1 - q) * (1 - 2 * q))
        return arb((thirds[0] - thirds[1]).abs_upper())


def _odds(p: arb, ratio: arb) -> arb:
    """A chance whose odds are so many times as great."""
    return p * ratio / (1 - p + p * ratio)


def _half(angle: arb) -> arb:
    """The square of the sine of half an angle."""
    sine: arb = (angle / 2).sin()
    return sine**2


def _power(number: arb) -> arb:
    """The least power of two that is greater than an exact number above 0: a factor that does not move with epsilon."""
    mantissa, exponent = number.man_exp()
    return arb((1, exponent + int(mantissa).bit_length()))


def _integer(near: arb) -> int:
    found = near.mid().floor().unique_fmpz()
    if found is None:
        raise Undecided("a number of people is not known.")
    return int(found)


def of_split(make: Callable[[], Bits], split: int) -> Pair:
    """The two laws at one split, in both orders."""
    forward = divergence(lambda epsilon: make().at(split, epsilon))
    return Pair(forward, divergence(lambda epsilon: make().complement.at(make().others - split, epsilon)))

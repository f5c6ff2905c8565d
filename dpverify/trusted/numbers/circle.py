"""Sums of independent noises on the integers whose generating functions are known: probabilities by sums on the unit circle.

Let f be the characteristic function of X, and let all but a mass of e lie in N integers from `low` on. For n among these the mean of
f(t) exp(-i n t) over t = 2 pi j/N, j = 0..N - 1, is the sum of P[X = n + k N] over all k: P[X = n], and at most e more. Of each law here
|f(t)| falls in |t| up to pi: it is a product of factors |a + b exp(it)| with a, b >= 0, |1 - q exp(it)|^-1 with q > 0 and exp(m cos t)
with m > 0. So the terms from the first small one on are no greater. Masses beyond an end are at most E[exp(v X)] exp(-v n).

Small probabilities are those of the law tilted by u, P[X = n] exp(u n)/E[exp(u X)], which is a law of the same family, and likely at n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final, Protocol

from flint import acb, arb, ctx, fmpq

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.language.whole_laws import Known

_MORE: Final = 128
"""Bits beyond the working precision to which the probabilities of a law are known, of which the greatest is not 1."""
_SMALL: Final = 96
"""Probabilities below 2 to minus this are those of a tilted law."""
_GUARD: Final = 32
_MOST: Final = 1 << 15
"""The most terms of a sum."""
_LONGEST: Final = 1 << 44
"""The most integers that a window has."""
TILTS: Final = [(k, part) for k in range(-48, 9) for part in (4, 6)]
"""By which u tails are bounded and laws tilted: 2^k part/4."""

Terms = Sequence[tuple[Known, int]]
"""Laws, each with how many noises have it."""


class Circle:
    """The probabilities of a sum of noises, at one precision. Raises Undecided where it has too many terms."""

    def __init__(self, terms: Terms) -> None:
        self.total = arb(1)
        self._right, self._left = _Side(terms, False), _Side(terms, True)
        self._weights: dict[int, arb] = {}

    def weight(self, n: int) -> arb:
        """Of an integer."""
        if n not in self._weights:
            side, place = (self._left, -n) if self._left.tilt(-n) else (self._right, n)
            self._weights[n] = side.arc(place).weight(place)
        return self._weights[n]

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        return self._right.above(n)

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        return self._left.above(-n) if self._left.tilt(-n) else 1 - self._right.above(n + 1)


class _Side:
    """A sum, or its opposite where it is turned, towards plus infinity."""

    def __init__(self, terms: Terms, turned: bool) -> None:
        self._terms, self._turned, self._bits = terms, turned, ctx.prec + _MORE
        with precision(self._bits):
            laws = list(laws_of(terms, turned))
            tilts = [(u, moment_of(laws, u)) for k, part in TILTS for u in (arb(2) ** k * part / 4,)]
        self._tilts = [(u, moment) for u, moment in tilts if moment.is_finite()]
        self._arcs: dict[int, _Arc] = {}
        self._sums: dict[int, arb] = {}
        self._tilted: dict[int, int] = {}

    def tilt(self, n: int) -> int:
        """The number of the tilt that shows best how small the mass from n on is, from 1; 0 where that is not small."""
        if n not in self._tilted:
            with precision(_SMALL + _GUARD):
                small = [(moment - u * n).mid() for u, moment in self._tilts]
                best = min(range(len(small)), key=small.__getitem__)
                self._tilted[n] = best + 1 if small[best] < -_SMALL else 0
        return self._tilted[n]

    def arc(self, n: int) -> _Arc:
        """The law by which n is looked at."""
        number = self.tilt(n)
        if number not in self._arcs:
            u = self._tilts[number - 1][0] if number else arb(0)
            self._arcs[number] = _Arc(self._terms, self._turned, u, self._bits)
        return self._arcs[number]

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        if n not in self._sums:
            self._sums[n] = self.arc(n).above(n)
        return self._sums[n]


class _Arc:
    """A sum tilted by u >= 0. Probabilities of the sum itself are its own times `factor` exp(-u n)."""

    def __init__(self, terms: Terms, turned: bool, u: arb, bits: int) -> None:
        with precision(bits):
            laws = list(_tilted(laws_of(terms, turned), u))
            self._low, high = -farthest(laws, -1, bits), farthest(laws, 1, bits)
            self._size = high - self._low + 1 | 1
        require(self._size < _LONGEST, Undecided("the noise reaches too far."))
        self._bits = bits + _GUARD + 3 * self._size.bit_length()
        with precision(self._bits):
            least, size = arb(2) ** -bits, self._size
            self._tilt, plain = u, list(laws_of(terms, turned))
            self._factor = moment_of(plain, u)
            laws = list(_tilted(plain, u))
            self._terms, self._sums = list[acb](), list[acb]()
            for j in count(1):
                value, turn = _value(laws, fmpq(2 * j, size)), _unit(fmpq(-2 * j, size))
                if 2 * j > size or size * abs(value).upper() <= least:
                    break
                require(j <= _MOST, Undecided("the noise needs too many terms: its probabilities fall too slowly for how far it reaches."))
                self._terms.append(value * _unit(fmpq(-2 * (j * self._low % size), size)))
                self._sums.append(self._terms[-1] / (1 - turn * (-u).exp()))
            self._error = 4 * arb(0).union(least)
            self._centre = sum((term.real for term in self._sums), arb(0))

    def weight(self, n: int) -> arb:
        """Of an integer."""
        with precision(self._bits):
            place = n - self._low
            inside = 0 <= place < self._size
            return self._of_the_sum((1 + 2 * self._series(self._terms, place)) / self._size if inside else arb(0), n)

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        with precision(self._bits):
            place = n - self._low
            if place >= self._size:
                return self._of_the_sum(arb(0), n)
            if place < 0:
                require(self._tilt == 0, Undecided("a small probability that no tilt shows."))
                return 1 - self._error
            # the sum over m from n to the end of the window of exp(-(u + it) (m - n)) is that to infinity, less that from its end on
            left = (-self._tilt * (self._size - place)).exp()
            whole = (1 - left) / -(-self._tilt).expm1() if self._tilt > 0 else arb(self._size - place)
            return self._of_the_sum((whole + 2 * (self._series(self._sums, place) - left * self._centre)) / self._size, n)

    def _of_the_sum(self, found: arb, n: int) -> arb:
        known = (found + self._error - self._error).max(arb(0)) * (self._factor - self._tilt * n).exp()
        return known.min(arb(1))

    def _series(self, terms: Sequence[acb], place: int) -> arb:
        """The real part of the sum of terms[j - 1] exp(-2 pi i j place/size)."""
        turn, total = _unit(fmpq(-2 * place, self._size)), arb(0)
        powers = [acb(1), turn]  # by few multiplications each: every one of them makes the ball wider
        for j, term in enumerate(terms, 1):
            if j == len(powers):
                powers.append(powers[j // 2] * powers[j - j // 2])
            total += term.real * powers[j].real - term.imag * powers[j].imag
        return total


def _unit(half_turns: fmpq) -> acb:
    """exp(pi i x)."""
    sine, cosine = arb.sin_cos_pi_fmpq(half_turns)
    return acb(cosine, sine)


# -- laws ----------------------------------------------------------------------------------------------


class _Law(Protocol):
    """A law with values for its numbers, tilted or not."""

    def tilted(self, u: arb) -> _Law:
        """The law with weights exp(u n)."""
        ...

    def value(self, t: arb, step: acb) -> acb:
        """The characteristic function at t in [0, pi]; step is exp(it) - 1."""
        ...

    def moment(self, v: arb) -> arb:
        """log E[exp(v X)]; not finite where that is not known to be."""
        ...

    def onward(self, k: arb, shift: int, u: arb) -> arb:
        """At least log of the sum of p(n) (p(n)/p(n + shift))^k exp(u n); not finite where that is not known to be. Not tilted."""
        ...

    def beyond(self, k: arb, shift: int) -> arb:
        """At least D_a/a of p against p(. + shift) for all orders a from k + 1 on; not finite where that is not known to be. Not tilted."""
        ...


class _Poisson:
    def __init__(self, mean: arb) -> None:
        self._mean = mean

    def tilted(self, u: arb) -> _Poisson:
        return _Poisson(self._mean * u.exp())

    def value(self, _: arb, step: acb) -> acb:
        return (self._mean * step).exp()

    def moment(self, v: arb) -> arb:
        return self._mean * v.expm1()

    def onward(self, k: arb, shift: int, u: arb) -> arb:
        about = (k * shift / (self._mean * u.exp())).log1p()  # the best w, w exp(w) = k shift/(mean exp(u)), is not far below
        weights = [about * part / 8 for part in range(4, 9)]
        return least_of(self.powers(k, shift, w) + self.moment(u + w) for w in weights)

    def beyond(self, k: arb, shift: int) -> arb:
        # s log(k/c)/(k + 1) falls in k where log(k/c) > 1 + 1/k, c = w e mean/s, and what does not hang on k, over k (k + 1), as well
        weights = [arb(2) ** j * part / 4 for j, part in TILTS]
        falling = [w for w in weights if (k * shift / (w * self._mean)).log() > 2 + 1 / k]
        return least_of((self.powers(k, shift, w) + self.moment(w)) / (k * (k + 1)) for w in falling)

    def powers(self, k: arb, shift: int, w: arb) -> arb:
        """b such that ((n + 1) ... (n + shift)/mean^shift)^k <= exp(b + w n) for all n: x <= exp(v x)/(v e), v = w/(k shift)."""
        return k * shift * ((k * shift / (w * self._mean)).log() - 1) + w * shift


class _Binomial:
    def __init__(self, trials: int, chance: arb) -> None:
        self._trials, self._chance = trials, chance

    def tilted(self, u: arb) -> _Binomial:
        return _Binomial(self._trials, self._chance * u.exp() / (1 + self._chance * u.expm1()))

    def value(self, _: arb, step: acb) -> acb:
        return _power(1 + self._chance * step, self._trials)

    def moment(self, v: arb) -> arb:
        return self._trials * (self._chance * v.expm1()).log1p()

    def onward(self, *_: object) -> arb:
        return arb("inf")  # it ends

    def beyond(self, *_: object) -> arb:
        return arb("inf")


class _NegativeBinomial:
    """odds: q/(1 - q), q the probability to fail."""

    def __init__(self, eta: arb, odds: arb) -> None:
        self._eta, self._odds = eta, odds

    def tilted(self, u: arb) -> _NegativeBinomial:
        left = 1 - self._odds * u.expm1()  # (1 - q e^u)/(1 - q)
        return _NegativeBinomial(self._eta, self._odds * u.exp() / left if left > 0 else arb("nan"))

    def value(self, _: arb, step: acb) -> acb:
        return (-self._eta * (1 - self._odds * step).log()).exp()  # the real part is at least 1

    def moment(self, v: arb) -> arb:
        return -self._eta * (-self._odds * v.expm1()).log1p()

    def onward(self, k: arb, shift: int, u: arb) -> arb:
        """p(n)/p(n + 1) = (n + 1)/(n + eta)/q is at most 1/q, for eta of at least 1."""
        return k * shift * (1 / self._odds).log1p() + self.moment(u) if self._eta >= 1 else arb("inf")

    def beyond(self, k: arb, shift: int) -> arb:
        return shift * (1 / self._odds).log1p() / (k + 1) if self._eta >= 1 else arb("inf")


class _DiscreteGaussian:
    """With theta(x) the sum over whole k of exp(-(sigma (x + 2 pi k))^2/2): f(t) is theta(t - iu)/theta(-iu), tilted by u."""

    def __init__(self, sigma: arb, tilt: arb) -> None:
        self._sigma, self._tilt = sigma, tilt
        self._size = self._theta(arb(0), tilt).real
        self._plain = self._theta(arb(0), arb(0)).real

    def tilted(self, u: arb) -> _DiscreteGaussian:
        return _DiscreteGaussian(self._sigma, self._tilt + u)

    def value(self, t: arb, _: acb) -> acb:
        found: acb = self._theta(t, self._tilt) / self._size
        return found

    def moment(self, v: arb) -> arb:
        moved = self._tilt + v
        size = self._theta(arb(0), moved).real
        return self._sigma**2 * (self._tilt + v / 2) * v + (size / self._size).log()

    def onward(self, k: arb, shift: int, u: arb) -> arb:
        return k * (shift / self._sigma) ** 2 / 2 + self.moment(u + k * shift / self._sigma**2)

    def beyond(self, _: arb, shift: int) -> arb:
        return (shift / self._sigma) ** 2 / 2

    def _theta(self, t: arb, u: arb) -> acb:
        """theta(t - iu) exp(-(sigma u)^2/2), |t| at most pi."""
        total, pi = acb(0), arb.pi()
        for k in count():
            for way in {k, -k}:
                x = t + 2 * pi * way
                total += (-((self._sigma * x) ** 2) / 2).exp() * acb(0, self._sigma**2 * u * x).exp()
            last = (-((self._sigma * pi * (2 * k + 1)) ** 2) / 2).exp()
            if last <= arb(2) ** -ctx.prec:
                break
            require(k < _MOST, Undecided("the deviation is too small."))
        # |t + 2 pi k| >= pi (2 |k| - 1), whose squares rise by at least 8 pi^2 (k + 1) from k + 1 on
        rest = (2 * last / -((-4 * (self._sigma * pi) ** 2 * (k + 1)).expm1())).upper()
        either = (-rest).union(rest)
        return total + acb(either, either)


def _power(base: acb, exponent: int) -> acb:
    found: acb = base**exponent
    return found


def least_of(found: Iterable[arb]) -> arb:
    """The least of some numbers, by their upper ends; infinite where there is none."""
    return min(found, key=arb.upper, default=arb("inf"))


def _whole(number: arb) -> int:
    found = number.unique_fmpz()
    if found is None:
        raise Undecided("a number that is to be whole is not enclosed.")
    return int(found)


def laws_of(terms: Terms, turned: bool) -> Iterator[Given]:
    """The laws of a sum, or of its opposite: each with whether its sign is changed, and with how many noises have it."""
    for known, times in terms:
        numbers, way = list(map(constant, known.numbers)), known.turned != turned
        if known.name == "poisson":
            yield _Poisson(*numbers), way, times
        elif known.name == "binomial":
            yield _Binomial(_whole(numbers[0]), numbers[1]), way, times
        elif known.name == "negative_binomial":
            yield _NegativeBinomial(numbers[0], (1 - numbers[1]) / numbers[1]), way, times
        elif known.name == "discrete_gaussian":
            yield _DiscreteGaussian(numbers[0], arb(0)), False, times
        else:  # discrete Laplace noise is the difference of two geometric ones
            fails = (-1 / numbers[0]).exp()
            for side in (False, True):
                yield _NegativeBinomial(arb(1), fails / -(-1 / numbers[0]).expm1()), side, times


# -- sums ----------------------------------------------------------------------------------------------


def _value(laws: Sequence[Given], half_turns: fmpq) -> acb:
    """The characteristic function of a sum at t = pi x."""
    sine, cosine = arb.sin_cos_pi_fmpq(half_turns / 2)
    t, step, total = arb.pi() * arb(half_turns), acb(-2 * sine**2, 2 * sine * cosine), acb(1)
    for law, turned, times in laws:
        found = _power(law.value(t, step), times)
        total *= found.conjugate() if turned else found
    return total


def _tilted(laws: Iterable[Given], u: arb) -> Iterator[Given]:
    """The laws of a sum that is tilted by u."""
    for law, turned, times in laws:
        yield law.tilted(-u if turned else u), turned, times


def moment_of(laws: Sequence[Given], v: arb) -> arb:
    """log E[exp(v X)] of a sum."""
    return sum((times * law.moment(-v if turned else v) for law, turned, times in laws), arb(0))


def farthest(laws: Sequence[Given], side: int, bits: int) -> int:
    """An integer such that there is a mass of at most 2^-bits beyond it; of -n for the side -1."""
    found = None
    for k, part in TILTS:
        v = arb(2) ** k * part / 4
        far = (moment_of(laws, side * v) + bits * arb.const_log2()) / v
        if far.is_finite():
            found = far if found is None or far < found else found
    if found is None:
        raise Undecided("the tails of the noise are not bounded.")
    return _whole(found.upper().ceil())


Given = tuple[_Law, bool, int]
"""A law, whether its sign is changed, and how many noises have it."""

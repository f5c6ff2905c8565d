"""Sums of independent noises on the integers whose generating functions are known: probabilities by sums on the unit circle.

Let X have the characteristic function f, and let all but a mass of e lie in N integers from `low` on. For n among these the mean of
f(t) exp(-i n t) over t = 2 pi j/N, j = 0..N - 1, is the sum of P[X = n + k N] over all k: P[X = n], and at most e more. Of each law here
|f(t)| falls in |t| up to pi: it is a product of factors |a + b exp(it)| with b > 0 and |1 - q exp(it)|^-1 with q > 0 and of
exp(m cos t), m > 0. So the terms from the first small one on are no greater. Masses beyond an end are at most E[exp(u X)] exp(-u n).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Final, Protocol

from flint import acb, arb, ctx, fmpq

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.language.whole_laws import Known

_MORE: Final = 64
"""Bits beyond the working precision to which probabilities are known: they are wanted to a relative accuracy."""
_GUARD: Final = 32
_MOST: Final = 1 << 15
"""The most terms of a sum."""
_LONGEST: Final = 1 << 44
"""The most integers that a window has."""
_LEAST, _GREATEST = -48, 8
"""The logarithms to base 2 of the first and the last u by which tails are bounded."""

Terms = Sequence[tuple[Known, int]]
"""Laws, each with how many noises have it."""


class Circle:
    """The probabilities of a sum of noises, at one precision. Raises Undecided where it has too many terms."""

    def __init__(self, terms: Terms) -> None:
        self.total = arb(1)
        bits = ctx.prec + _MORE
        with precision(bits):
            self.low, high = -_farthest(terms, True, bits), _farthest(terms, False, bits)
            self._size = high - self.low + 1 | 1
        require(self._size < _LONGEST, Undecided("the noise reaches too far."))
        self._bits = bits + _GUARD + 3 * self._size.bit_length()
        with precision(self._bits):
            least, size = arb(2) ** -bits, self._size
            laws = _given(terms)
            self._terms, self._sums = list[acb](), list[acb]()
            for j in count(1):
                value, turn = _value(laws, fmpq(2 * j, size)), _unit(fmpq(-2 * j, size))
                if 2 * j > size or size * abs(value).upper() <= least:
                    break
                require(j <= _MOST, Undecided("the noise needs too many terms: its probabilities fall too slowly for how far it reaches."))
                self._terms.append(value * _unit(fmpq(-2 * (j * self.low % size), size)))
                self._sums.append(self._terms[-1] / (1 - turn))
            self._error = arb(0).union(4 * least)
            self._centre = sum((term.real for term in self._sums), arb(0))
        self._weights: dict[int, arb] = {}
        self._above: dict[int, arb] = {}

    def weight(self, n: int) -> arb:
        """Of an integer."""
        if n not in self._weights:
            self._weights[n] = self._weight(n)
        return self._weights[n]

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        if n not in self._above:
            self._above[n] = self._from(n)
        return self._above[n]

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        return 1 - self.above(n + 1)

    def _weight(self, n: int) -> arb:
        place = n - self.low
        if not 0 <= place < self._size:
            return self._error
        with precision(self._bits):
            return self._known((1 + 2 * self._series(self._terms, place)) / self._size)

    def _from(self, n: int) -> arb:
        place = n - self.low
        if not 0 <= place < self._size:
            return self._error if place > 0 else 1 - self._error
        with precision(self._bits):  # the terms are summed from n to the end of the window
            inside = 1 - (place - 2 * (self._series(self._sums, place) - self._centre)) / arb(self._size)
            return self._known(inside)

    def _known(self, found: arb) -> arb:
        return (found + self._error - self._error).max(arb(0)).min(arb(1))

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


def _farthest(terms: Terms, turned: bool, bits: int) -> int:
    """An integer such that beyond it there is a mass of at most 2^-bits; of -n where it is turned."""
    laws = [(law, -1 if way != turned else 1, times) for law, way, times in _given(terms)]

    def reach(u: arb) -> arb | None:
        """The least x that E[exp(u X)] exp(-u x) shows, None where it is infinite."""
        found = (sum((times * law.moment(side * u) for law, side, times in laws), arb(0)) + bits * arb.const_log2()) / u
        return found.upper() if found.is_finite() else None

    known = [(far, u) for k in range(_LEAST, _GREATEST) if (far := reach(u := arb(2) ** k)) is not None]
    require(bool(known), Undecided("the tails of the noise are not bounded."))
    best, at = min(known, key=_first)
    for part in (arb(5) / 8, arb(3) / 4, arb(7) / 8, arb(9) / 8, arb(5) / 4, arb(3) / 2, arb(7) / 4):
        far = reach(at * part)
        best = best if far is None or not far < best else far
    return _whole(best.ceil())


def _power(base: acb, exponent: int) -> acb:
    found: acb = base**exponent
    return found


def _whole(number: arb) -> int:
    found = number.unique_fmpz()
    if found is None:
        raise Undecided("a number that is to be whole is not enclosed.")
    return int(found)


def _given(terms: Terms) -> list[tuple[_Law, bool, int]]:
    return [(_LAWS[law.name](*map(constant, law.numbers)), law.turned, times) for law, times in terms]


def _first(found: tuple[arb, arb]) -> arb:
    return found[0]


class _Law(Protocol):
    """A law with values for its numbers."""

    def value(self, t: arb, step: acb) -> acb:
        """The characteristic function at t in [0, pi]; step is exp(it) - 1."""
        ...

    def moment(self, u: arb) -> arb:
        """At least log E[exp(u X)]; not finite where that is not known to be."""
        ...


class _Poisson:
    def __init__(self, mean: arb) -> None:
        self._mean = mean

    def value(self, _: arb, step: acb) -> acb:
        return (self._mean * step).exp()

    def moment(self, u: arb) -> arb:
        return self._mean * u.expm1()


class _Binomial:
    def __init__(self, trials: arb, chance: arb) -> None:
        self._trials, self._chance = _whole(trials), chance

    def value(self, _: arb, step: acb) -> acb:
        return _power(1 + self._chance * step, self._trials)

    def moment(self, u: arb) -> arb:
        return self._trials * (self._chance * u.expm1()).log1p()


class _NegativeBinomial:
    def __init__(self, eta: arb, gamma: arb) -> None:
        self._eta, self._odds = eta, (1 - gamma) / gamma

    def value(self, _: arb, step: acb) -> acb:
        return (-self._eta * (1 - self._odds * step).log()).exp()  # the real part is at least 1

    def moment(self, u: arb) -> arb:
        return -self._eta * (-self._odds * u.expm1()).log1p()


class _DiscreteLaplace:
    def __init__(self, scale: arb) -> None:
        falls = (-1 / scale).expm1()
        self._ratio = 2 * (1 + falls) / falls**2

    def value(self, _: arb, step: acb) -> acb:
        return acb(1 / (1 - self._ratio * step.real))

    def moment(self, u: arb) -> arb:
        return -(-self._ratio * 2 * (u / 2).sinh() ** 2).log1p()


class _DiscreteGaussian:
    """Its characteristic function is the sum over whole k of exp(-(sigma (t + 2 pi k))^2/2), over that at t = 0."""

    def __init__(self, sigma: arb) -> None:
        self._sigma, self._total = sigma, arb(1)
        self._total = self.value(arb(0), acb(0)).real

    def value(self, t: arb, _: acb) -> acb:
        total, pi = arb(0), arb.pi()
        for k in range(_MOST):
            for way in {k, -k}:
                total += (-((self._sigma * (t + 2 * pi * way)) ** 2) / 2).exp()
            rest = (-((self._sigma * pi * (2 * k + 1)) ** 2) / 2).exp()
            if rest <= arb(2) ** -ctx.prec:
                break
        # |t + 2 pi k| >= pi (2 |k| - 1), whose squares rise by at least 8 pi^2 (k + 1) from k + 1 on
        rest = 2 * rest / -((-4 * (self._sigma * pi) ** 2 * (k + 1)).expm1())
        return acb((total + arb(0).union(rest.upper())) / self._total)

    def moment(self, u: arb) -> arb:
        return (self._sigma * u) ** 2 / 2


_LAWS: Final[Mapping[str, Callable[..., _Law]]] = {
    "poisson": _Poisson,
    "binomial": _Binomial,
    "negative_binomial": _NegativeBinomial,
    "discrete_laplace": _DiscreteLaplace,
    "discrete_gaussian": _DiscreteGaussian,
}


def _value(laws: Sequence[tuple[_Law, bool, int]], half_turns: fmpq) -> acb:
    """The characteristic function of the sum at t = pi x."""
    sine, cosine = arb.sin_cos_pi_fmpq(half_turns / 2)
    t, step, total = arb.pi() * arb(half_turns), acb(-2 * sine**2, 2 * sine * cosine), acb(1)
    for law, turned, times in laws:
        found = _power(law.value(t, step), times)
        total *= found.conjugate() if turned else found
    return total

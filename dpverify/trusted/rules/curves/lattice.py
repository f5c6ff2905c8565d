"""Privacy curves of noise on the integers and of staircase noise, whose densities are steps: sums of enclosed terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, dominating, symmetric
from dpverify.trusted.facts.refined import Refined
from dpverify.trusted.language.errors import ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, format_expr, mul, neg, num, substitute
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Mechanism, Source, Staircase, Translation
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.balls import constant, precision, value
from dpverify.trusted.numbers.lattice_sums import lattice_sum
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.order.apart import Apart, off_the_integers
from dpverify.trusted.order.compare import certainly_le, certainly_lt, enclose
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, merged, reach
from dpverify.trusted.rules.curves.line import nothing
from dpverify.trusted.rules.curves.unimodal import INFINITY, Z, far_ends, limit_of, read

NAME: Final = "lattice"
STATEMENT: Final = (
    "For noise on the integers whose probabilities do not fall up to a mode and do not rise after it, the pair at the greatest whole "
    "shift, in both orders, dominates all others: where p(n) > e^epsilon p(n - s), s > 0, n - s lies before the mode, so that a longer "
    "shift only lowers p(n - s). The same holds on the line for staircase noise, whose steps repeat with a factor. Where two neighbours' "
    "answers do not differ by an integer, outputs on one are impossible on the other: delta is 1 at every epsilon."
)
CHECKED: Final = (
    "the probabilities are unimodal",
    "they are summable",
    "the shift is not negative",
    "a query's answers differ by integers, or the pair that does not is named",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#lattice", "staircase noise: Geng & Viswanath 2016")

_TABLE: Final = 256
_LONGEST: Final = 1 << 15
"""Sums are kept on each side of 0: at first of so many integers, and at most of so many; beyond, each is found anew."""
_FARTHEST: Final = 1 << 20
_STARTS: Final = range(4, 16)
"""Terms are added up to -2^k for these k, until the rest is negligible."""
_MOST_STEPS: Final = 20_000


# -- integers --------------------------------------------------------------------------------------


Ends = tuple[int | None, int | None]


class Tail:
    """Sums of p(n) over n >= j, for every j >= 0, at one precision."""

    def __init__(self, density: Expr, lower: int | None, upper: int | None) -> None:
        self._density, self._lower, self._upper = density, lower, upper
        self._weights: dict[int, arb] = {}
        self._sums: dict[int, arb] = {}
        self._size = 0
        self._extend(_TABLE)

    def weight(self, n: int) -> arb:
        """p(n), not normalised."""
        if n not in self._weights:
            outside = (self._lower is not None and n < self._lower) or (self._upper is not None and n > self._upper)
            self._weights[n] = arb(0) if outside else value(self._density, {"z": arb(n)})
        return self._weights[n]

    def beyond(self, j: int) -> arb:
        """The sum from j on."""
        if self._upper is not None and j > self._upper:
            return arb(0)
        if j >= self._size and j < _LONGEST:
            self._extend(2 * j)
        return self._sums[j] if j < self._size else self._sum(j)

    def _extend(self, size: int) -> None:
        if self._upper is not None:
            size = min(size, max(self._upper + 1, 0))
        total = self._sum(size)
        for j in reversed(range(self._size, size)):
            total = total + self.weight(j)
            self._sums[j] = total
        self._size = size

    def _sum(self, j: int) -> arb:
        if self._upper is not None and j > self._upper:
            return arb(0)
        if j > _FARTHEST:
            raise Undecided(f"probabilities of integers beyond {_FARTHEST}.")
        return lattice_sum(self._density, "z", j if self._lower is None else max(j, self._lower), self._upper, ctx.prec)


class Law:
    """Probabilities on the integers in one order, at one precision: p, and q = p(. - shift).

    even: about 0. concave: p's logarithm is. mode: an integer that the mode is not above, found here where p is log-concave and none is
    given.
    """

    def __init__(self, density: Expr, ends: Ends, shift: int, even: bool, concave: bool, mode: int | None) -> None:
        low, high = ends
        self._right = Tail(density, low, high)
        mirrored = substitute(density, {"z": neg(Z)})
        self._left = self._right if even else Tail(mirrored, None if high is None else -high, None if low is None else -low)
        self._h, self._bounded, self._shift, self._concave = neg_log(density), low is not None, shift, concave
        self.total = self._left.beyond(1) + self._right.beyond(0)
        self._past = (self._past_mode(low, high) if mode is None else mode) + shift  # p <= q from here on
        self._steepest: dict[int | None, arb] = {}
        self._found = self._past - 1  # where the last search for a threshold ended: the next one is likely to be close

    def _past_mode(self, low: int | None, high: int | None) -> int:
        n = 0 if low is None else max(0, low)
        while not (self.weight(n + 1) <= self.weight(n) and self.weight(n) > 0):
            n = 2 * abs(n) + 1
            if high is not None and n >= high:
                return high
            if n > _FARTHEST:
                raise Undecided(f"no certain fall of the probabilities up to {_FARTHEST}.")
        return n

    def weight(self, n: int) -> arb:
        """p(n), not normalised."""
        return self._right.weight(n) if n >= 0 else self._left.weight(-n)

    def below(self, n: int) -> arb:
        """The sum of p, not normalised, over all integers up to n."""
        return self.total - self._right.beyond(n + 1) if n >= 0 else self._left.beyond(-n)

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        total = self._half_line(epsilon) if self._concave else self._term_by_term(epsilon)
        return (total / self.total).max(arb(0)).min(arb(1))

    def masses(self, last: int) -> tuple[arb, arb]:
        """The probabilities of all integers up to one, under p and under q."""
        return self.below(last) / self.total, self.below(last - self._shift) / self.total

    def _half_line(self, epsilon: arb) -> arb:
        factor = epsilon.exp()
        last, first = self.threshold(epsilon)
        if last is None:
            return arb(0).union(self._doubt(first, epsilon))
        total = self.below(last) - factor * self.below(last - self._shift)
        for n in range(last + 1, first):
            total += self._gap(n, factor).max(arb(0))
        return total

    def threshold(self, epsilon: arb) -> tuple[int | None, int]:
        """For log-concave p, where p/q does not rise: an integer that S reaches (p >= e^epsilon q up to it) and one that it does not.

        The first is None where no such integer is found: then all below the second is in doubt.
        """
        factor, outside = epsilon.exp(), self._past
        inside, step = self._found, 1
        while not self._gap(inside, factor) >= 0:
            if self._gap(inside, factor) < 0:
                outside = inside
            if self._most_below(None) <= epsilon or step > _FARTHEST:
                return None, outside
            inside, step = inside - step, 2 * step
        step = 1
        while outside - inside > 1:
            middle = inside + min(step, (outside - inside) // 2)
            gap = self._gap(middle, factor)
            if gap >= 0:
                inside, step = middle, 2 * step
            elif gap < 0:
                outside = middle
            else:
                break  # a tie as far as the balls show
        self._found = inside
        return inside, outside

    def _gap(self, n: int, factor: arb) -> arb:
        return self.weight(n) - factor * self.weight(n - self._shift)

    def _most_below(self, n: int | None) -> arb:
        """An upper bound on log(p/q) up to n (None: anywhere, for log-concave p): the shift times the steepest rise of log p there."""
        if n not in self._steepest:
            self._steepest[n] = self._shift * (INFINITY if self._bounded else self._steepest_rise(n))
        return self._steepest[n]

    def _steepest_rise(self, n: int | None) -> arb:
        for end in far_ends("-inf", None) if n is None else [End("-inf", Fraction(-n))]:
            try:
                slope = end_jet(self._h, "z", end).d1
                return limit_of(slope)[1] if n is None else -slope.bounds().lo
            except (Undecided, ExprError):
                continue
        return INFINITY

    def _doubt(self, n: int, epsilon: arb) -> arb:
        """What all integers below n can add to the sum: that of p (1 - e^(epsilon - log(p/q)))_+."""
        mass, over = self.below(n - 1), (self._most_below(None if self._concave else n - 1) - epsilon).upper()
        if over <= 0 or mass == 0:
            return arb(0)
        return (mass * -(-over).expm1()).upper() if over.is_finite() else mass.upper()

    def _term_by_term(self, epsilon: arb) -> arb:
        factor, total, n = epsilon.exp(), arb(0), self._past - 1
        for k in _STARTS:
            while n > -(1 << k):
                total += self._gap(n, factor).max(arb(0))
                n -= 1
            rest = self._doubt(n + 1, epsilon)
            if rest <= total * arb(2) ** -ctx.prec:
                break
        return total + arb(0).union(rest)


class OnIntegers(Refined[Law]):
    """The pair (p, p(. - shift)) on the integers in one order; see `Law`."""

    def __init__(self, density: Expr, ends: Ends, shift: int, even: bool, concave: bool, mode: int | None) -> None:
        super().__init__()
        self._law = (density, ends, shift, even, concave, mode)

    def make(self) -> Law:
        return Law(*self._law)

    def event(self, epsilon: arb) -> Mapping[str, str]:
        """S with its two probabilities. Raises Undecided where p is not log-concave, and S not a half-line."""
        _, _, shift, _, concave, _ = self._law
        pair = f"answers q(x) and q(x') = q(x) + {shift}"
        if not concave:
            return {"pair": pair, "event": "{y : p(y - q(x)) > exp(epsilon) p(y - q(x'))}"}
        _, bits = self.found(epsilon)
        with precision(bits):
            last, _ = self.at(bits).threshold(epsilon)
            if last is None:
                return {"pair": pair, "event": "{}", "P": "0", "Q": "0"}
            p, q = self.at(bits).masses(last)
        return {"pair": pair, "event": f"{{y : y - q(x) <= {last}}}", "P": p.str(15), "Q": q.str(15)}


# -- staircase noise -------------------------------------------------------------------------------


class Stairs:
    """Staircase noise and its copy moved by `shift`: height a e^(-k rate) where |z| is in (gamma + k - 1, gamma + k).

    Lengths are in units of 1/step, in which rational ones are whole numbers, so that steps that only touch share exactly nothing.
    """

    def __init__(self, noise: Staircase, shift: Expr) -> None:
        step = lcm(*(x.value.denominator for x in (noise.gamma, shift) if isinstance(x, Num)))
        self._rate, self._step = constant(noise.epsilon), arb(step)
        self._gamma, self._shift = (constant(mul(num(step), x)) for x in (noise.gamma, shift))
        decay, gamma = (-self._rate).exp(), constant(noise.gamma)
        self._top = -(-self._rate).expm1() / (2 * (gamma + decay * (1 - gamma))) / step
        if not self._shift < _MOST_STEPS * step:
            raise Undecided(f"a shift over more than {_MOST_STEPS} steps.")
        steps = _integer(((self._shift - self._gamma) / step).upper().ceil())
        starts = [(k, self._gamma + (k - 1) * step) for k in range(1, steps + 1)]
        self._right = [(k, self._overlaps(start, start + step)) for k, start in starts]

    def _overlaps(self, low: arb, high: arb) -> list[tuple[int, arb]]:
        """The steps j on the left of the moved copy that meet an interval, with the lengths that they share."""
        origin, step = self._shift - self._gamma, self._step
        first = max(1, _integer(((origin - high) / step).lower().floor()))
        last = _integer(((origin - low) / step + 1).upper().ceil())
        found = []
        for j in range(first, last + 1):
            length = high.min(origin - (j - 1) * step) - low.max(origin - j * step)
            if not length <= 0:
                found.append((j, length.max(arb(0))))
        return found

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0. Right of the middle step of the copy p <= q; on the left all steps are alike but for a factor."""
        left = self._part(1, self._overlaps(-self._gamma - self._step, -self._gamma), epsilon) / -(-self._rate).expm1()
        middle = self._part(0, self._overlaps(-self._gamma, self._gamma), epsilon)
        total = left + middle
        for k, found in self._right:
            total += self._part(k, found, epsilon)
        return total.max(arb(0)).min(arb(1))

    def _part(self, k: int, overlaps: list[tuple[int, arb]], epsilon: arb) -> arb:
        total = arb(0)
        for j, length in overlaps:
            total += length * (-(epsilon - (j - k) * self._rate).expm1()).max(arb(0))
        return self._top * (-k * self._rate).exp() * total


class OnSteps(Refined[Stairs]):
    """Staircase noise and its copy moved by a shift."""

    def __init__(self, noise: Staircase, shift: Expr) -> None:
        super().__init__()
        self._noise, self._shift = noise, shift

    def make(self) -> Stairs:
        return Stairs(self._noise, self._shift)


# -- the curve -------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of noise on the integers, or of a composition of which one part answers off them. parameters: as of other noise.

    Raises Rejected, Undecided.
    """
    runs = merged(run.part, run.factor)
    alone = len(runs) == 1 and runs[0].times == 1
    found = disjoint(runs)
    if alone and runs[0].part == run.part:
        found = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))) if found is None else found
        return settled.noise(run, found, parameters, one_way=True)
    if found is None or alone:
        raise Rejected(NAME, "the parts", "the answers of all that add noise on the integers differ by integers")
    return settled.together(run, settled.several(runs, found), jointly=True)


def disjoint(runs: Sequence[Run]) -> Curve | None:
    """The curve of runs of which one adds noise on the integers to answers that do not differ by integers; None for others."""
    found = [(off_the_integers(run.part.mechanism, run.part.query), run.factor) for run in runs]
    off = next((where for where, factor in found if where is not None and certainly_le(ONE, factor)), None)
    if off is not None:
        return apart(off)
    # a contraction may leave no such neighbours
    return replace(apart(None), lower=None) if any(where is not None for where, _ in found) else None


def curve(noise: Mechanism, reach: Sensitivity) -> Curve:
    """The curve of noise on the integers, or of staircase noise, at a sensitivity.

    Raises Rejected for another kind, a sensitivity that is not certainly at least 0 or parameters that are not certainly in order,
    Undecided where the probabilities are not proved unimodal or not summed.
    """
    for bound in (reach.upper, reach.lower):
        if not certainly_le(ZERO, bound):
            raise Rejected(NAME, "the sensitivity", f"{format_expr(bound)} is not certainly at least 0")
    if isinstance(noise, Staircase):
        _check_staircase(noise)
        upper = _staircase_pair(noise, reach.upper)
        return Curve(upper, upper if reach.exact else _staircase_pair(noise, reach.lower), (NAME,), ASSUMED)
    if not (isinstance(noise, Translation) and noise.integers):
        raise Rejected(NAME, "the noise", "it is neither noise on the integers nor staircase noise")
    shifts = (whole(reach.upper, up=True), whole(reach.lower, up=False))
    forward = _integer_pair(noise, shifts[0])
    upper = forward if forward.forward is forward.backward else dominating(forward)
    return Curve(upper, forward if shifts[0] == shifts[1] else _integer_pair(noise, shifts[1]), (NAME,), ASSUMED)


def apart(found: Apart | None) -> Curve:
    """The curve where answers of neighbours do not differ by an integer: no output of one is an output of the other."""
    profile = falling(lambda _: arb(1))
    pair = "neighbours" if found is None else f"histograms {found.histograms}: answers q and q' whose difference is {found.moved}"
    everything = {"pair": pair, "event": "S = {q + n : n an integer}", "P": "1", "Q": "0"}

    def rest() -> arb:
        return arb(1)

    both = Pair(profile, profile, lambda _: everything, rests=(rest, rest))
    return Curve(both, both, (NAME,), ASSUMED)


def whole(bound: Expr, up: bool) -> int:
    """The floor of a sensitivity; where it is not certain whether a whole number is reached, the greater or the lesser answer."""
    ball = enclose(bound)
    low, high = (_integer(end.floor()) for end in (ball.lower(), ball.upper()))
    if low == high or certainly_le(num(high), bound):
        return high
    if high == low + 1 and certainly_lt(bound, num(high)):
        return low
    return high if up else low


def _integer_pair(noise: Translation, shift: int) -> Pair:
    if shift == 0:
        return symmetric(nothing)
    reading = read(noise)
    lower, upper = domain(noise)
    low, high = None if lower is None else lower.__ceil__(), None if upper is None else upper.__floor__()
    mode = None if reading.concave and not reading.even else reading.offset
    shape = (shift, reading.even, reading.concave)
    forward = OnIntegers(noise.density, (low, high), *shape, None if mode is None else mode.__ceil__())
    if reading.even:
        return symmetric(forward, forward.event)
    ends = (None if high is None else -high, None if low is None else -low)
    mirrored = substitute(noise.density, {"z": neg(Z)})
    return Pair(forward, OnIntegers(mirrored, ends, *shape, None if mode is None else (-mode).__ceil__()), forward.event)


def _check_staircase(noise: Staircase) -> None:
    if not certainly_lt(ZERO, noise.epsilon):
        raise Rejected(NAME, "epsilon", f"the noise's {format_expr(noise.epsilon)} is not certainly positive")
    if not (certainly_le(ZERO, noise.gamma) and certainly_le(noise.gamma, ONE)):
        raise Rejected(NAME, "gamma", f"{format_expr(noise.gamma)} is not certainly in [0, 1]")


def _staircase_pair(noise: Staircase, shift: Expr) -> Pair:
    return symmetric(nothing if certainly_le(shift, ZERO) else OnSteps(noise, shift))


def _integer(whole_number: arb) -> int:
    found = whole_number.unique_fmpz()
    if found is None:
        raise Undecided("a whole number that is not enclosed.")
    return int(found)

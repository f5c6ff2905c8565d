"""Privacy curves of noise on the integers and of staircase noise, whose densities are steps: sums of enclosed terms.

Theorem: For noise on the integers whose probabilities do not fall up to a mode and do not rise after it, the pair at the greatest whole
shift, in both orders, dominates all others: where p(n) > e^epsilon p(n - s), s > 0, n - s lies before the mode, so that a longer shift only
lowers p(n - s). The same holds on the line for staircase noise, whose steps repeat with a factor. Where two neighbours' answers do not
differ by an integer, outputs on one are impossible on the other: delta is 1 at every epsilon. Where probabilities are not so, the greatest
of the sums of (p(n) - e^epsilon p(n - s))_+ over all whole shifts s, in both directions, bounds delta.

Checked:
- the probabilities are unimodal, or every shift is looked at
- they are summable
- the shift is not negative
- a query's answers differ by integers, or the pair that does not is named

Source: docs/theory/curves.md#lattice, staircase noise: Geng & Viswanath 2016
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import lcm
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, merged, reach
from dpverify.trusted.combinators.sums import added, least
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling, refined
from dpverify.trusted.facts.orientation import oriented
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, dominating, greatest
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.assumptions import EVERY
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, format_expr, mul, num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Mechanism, Staircase, Sum, Summand, Translation, on_integers
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.language.whole_laws import known
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.order.enclosed import integer, whole
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.additive.points import sign_of
from dpverify.trusted.theories.curves.integers import Law, OfDensity, Shape
from dpverify.trusted.theories.curves.sums import summed
from dpverify.trusted.theories.curves.unimodal import Hints, hints, read

NAME: Final = "lattice"
ASSUMED: Final = ("the sampler is ideal",)


ON_THE_CIRCLE: Final = ("poisson", "binomial", "discrete_gaussian")
"""Laws whose probabilities are those of a sum of one: there their values are had faster, at any size."""
_MOST_SHIFTS: Final = 64


# -- the curve -------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of noise on the integers, or of a composition of which one part answers off them.

    parameters: those of `hints`; "peak", two integers: log-concave probabilities fall from the second on, and the first backwards;
    "sensitivity" and "prec" as of other noise; "any", true where their shape is not looked at, and then "at", if given, the shift that the
    lower bound is at, of which an answer that no query gives may move too; "kept", of a sum with dropouts, which of the sums of as few
    noises as may be left that is of. Raises Rejected, Undecided, CertificateError.
    """
    runs = merged(run.part, run.factor)
    alone = len(runs) == 1 and runs[0].times == 1
    whole = disjoint(runs)
    if alone and runs[0].part == run.part:
        every = whole is None and parameters.get("any") is True
        if whole is None:
            noise, reached = settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))
            shape = None if every else peak(parameters)
            whole = curve(noise, reached, hints(parameters, NAME), shape, parameters.get("at"), parameters.get("kept", 0))
            if run.part.query is not None and EVERY in whole.below:
                raise Rejected(NAME, "at", "a query moves by its differences alone")
        if every:  # a query moves by its differences alone; which order of the pair has the record, `oriented` knows of the whole one
            lower = whole.lower if isinstance(run.part, OnePair) else oriented(whole, run).lower
            return settled.single(run, replace(whole, lower=lower))
        return settled.noise(run, whole, parameters, one_way=True)
    if whole is None or alone:
        raise Rejected(NAME, "the parts", "the answers of all that add noise on the integers differ by integers")
    return settled.together(run, settled.several(runs, whole), jointly=True)


def peak(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """The integers under "peak", 0 and 0 without it. Raises CertificateError."""
    first, last = map(int, parameters.get("peak", (0, 0)))
    return first, last


def disjoint(runs: Sequence[Run]) -> Curve | None:
    """The curve of runs of which one adds noise on the integers to answers that do not differ by integers; None for others."""
    off = [run.factor for run in runs if off_the_integers(run.part.mechanism, run.part.query) is not None]
    if any(certainly_le(ONE, factor) for factor in off):
        return apart()
    return replace(apart(), lower=None) if off else None  # a contraction may leave no such neighbours


def curve(
    noise: Mechanism, reach: Sensitivity, hints: Hints, peak: tuple[int, int] | None, at: Any = None, kept: Any = 0
) -> Curve:
    """The curve of noise on the integers, or of staircase noise, at a sensitivity.

    peak: as of `infer`, None for probabilities of any shape. at, kept: as of `infer`. Raises Rejected for another kind, a sensitivity that
    is not certainly at least 0, or is too large for these, or parameters that are not certainly in order, Undecided where the
    probabilities are not proved unimodal or not summed.
    """
    for bound in (reach.upper, reach.lower):
        require(certainly_le(ZERO, bound), Rejected(NAME, "the sensitivity", f"{format_expr(bound)} is not certainly at least 0"))
    if isinstance(noise, Staircase):
        upper = _staircase_pair(noise, reach.upper)
        return Curve(upper, upper if reach.exact else _staircase_pair(noise, reach.lower), (NAME,), ASSUMED)
    if isinstance(noise, Sum) and noise.dropouts != ZERO:
        return _without(noise, reach, hints, peak, at, kept)
    if not (isinstance(noise, Translation | Sum) and on_integers(noise)):
        raise Rejected(NAME, "the noise", "it is neither noise on the integers nor staircase noise")
    most, surely = whole(reach.upper, up=True), whole(reach.lower, up=False)
    if most > _MOST_SHIFTS and peak is None:
        raise Rejected(NAME, "the sensitivity", f"it is above {_MOST_SHIFTS}")
    lower = _integer_pair(noise, surely, hints, peak)
    upper = lower if most == surely else _integer_pair(noise, most, hints, peak)
    if peak is None:
        pairs = {shift: _integer_pair(noise, shift, hints, None) for shift in range(1, most)} | {most: upper, surely: lower}
        shown = surely if at is None else to_whole(at, "at", NAME, 1, surely)
        signs = (line for one, _ in added(noise) if isinstance(one, Translation) for line in sign_of(one))
        upper, assumed = greatest(list(pairs.values())), (*ASSUMED, *dict.fromkeys(signs))
        return Curve(dominating(upper), pairs[shown], (NAME,), assumed, (EVERY,) * (shown != surely))
    return Curve(dominating(upper), lower, (NAME,), ASSUMED)


def apart() -> Curve:
    """The curve where answers of neighbours do not differ by an integer: no output of one is an output of the other."""

    def rest() -> arb:
        return arb(1)

    profile = falling(lambda _: arb(1))
    both = Pair(profile, profile, rests=(rest, rest))
    return Curve(both, both, (NAME,), ASSUMED)


def _without(noise: Sum, reach: Sensitivity, hints: Hints, peak: tuple[int, int] | None, at: Any, kept: Any) -> Curve:
    """The curve of a sum with dropouts: of the worst of the sums of as few noises as may be left; the lower pair is that of one of them."""
    curves = [curve(one, reach, hints, peak, at) for one in least(noise)]
    shown, uppers = curves[to_whole(kept, "kept", NAME, 0, len(curves) - 1)], [one.upper for one in curves if one.upper is not None]
    return shown if len(curves) == 1 else replace(shown, upper=greatest(uppers))


def _integer_pair(noise: Translation | Sum, shift: int, hints: Hints, peak: tuple[int, int] | None) -> Pair:
    if shift == 0:
        return ALIKE
    law = known(noise) if isinstance(noise, Translation) and peak is not None else None
    if isinstance(noise, Sum) or (law is not None and law.name in ON_THE_CIRCLE):
        shape = summed(noise if isinstance(noise, Sum) else Sum((Summand(noise),)))
        if peak is not None and not shape.concave:
            raise Undecided("the probabilities of the sum are not proved log-concave.")
        if peak is None:
            return _pair(replace(shape, even=False, concave=False), shift, None)
        return _pair(replace(shape, past=peak[1]), shift, -peak[0])
    if peak is None:
        lower, upper = domain(noise)
        low, high = None if lower is None else lower.__ceil__(), None if upper is None else upper.__floor__()
        make = per_precision(lambda: OfDensity(noise.density, low, high, False, hints))
        return _pair(Shape(make, low, high, False, False, None), shift, None)
    reading = read(noise, hints)
    first, last = peak if reading.concave else (reading.offset.__floor__(), reading.offset.__ceil__())
    lower, upper = reading.parts[0].lower, reading.parts[-1].upper  # the density is 0 beyond
    low = None if lower is None else (lower + reading.offset).__ceil__()
    high = None if upper is None else (upper + reading.offset).__floor__()
    masses = per_precision(lambda: OfDensity(noise.density, low, high, reading.even, hints))
    return _pair(Shape(masses, low, high, reading.even, reading.concave, last), shift, -first)


def _pair(shape: Shape, shift: int, turned: int | None) -> Pair:
    """The pair at a shift. turned: where the mode of -n is not above."""
    makes = (lambda: Law(shape, shift)), (lambda: Law(shape.mirrored(turned), shift))
    return refined(*makes[: 1 if shape.even else 2])


def _staircase_pair(noise: Staircase, shift: Expr) -> Pair:
    return ALIKE if certainly_le(shift, ZERO) else refined(lambda: Stairs(noise, shift))


_MOST_STEPS: Final = 20_000


class Stairs:
    """Staircase noise and its copy moved by `shift`: height a e^(-k rate) where |z| is in (gamma + k - 1, gamma + k).

    Lengths are in units of 1/step, in which rational ones are whole numbers, so that steps that only touch share exactly nothing.
    """

    alone: arb = arb(0)

    def __init__(self, noise: Staircase, shift: Expr) -> None:
        step = lcm(*(x.value.denominator for x in (noise.gamma, shift) if isinstance(x, Num)))
        self._rate, self._step = constant(noise.epsilon), arb(step)
        self._gamma, self._shift = (constant(mul(num(step), x)) for x in (noise.gamma, shift))
        decay, gamma = (-self._rate).exp(), constant(noise.gamma)
        self._top = -(-self._rate).expm1() / (2 * (gamma + decay * (1 - gamma))) / step
        require(self._shift < _MOST_STEPS * step, Undecided(f"a shift over more than {_MOST_STEPS} steps."))
        # a step on the right gains where the copy is on a higher one: its start is nearer to 0 than its end is to the shift
        steps = integer(((self._shift - 2 * self._gamma + step) / (2 * step)).upper().ceil())
        starts = [(k, self._gamma + (k - 1) * step) for k in range(1, steps)]
        self._right = [(k, self._overlaps(start, start + step)) for k, start in starts]

    def _overlaps(self, low: arb, high: arb) -> list[tuple[int, arb]]:
        """The steps j on the left of the moved copy that meet an interval, with the lengths that they share."""
        origin, step = self._shift - self._gamma, self._step
        first = max(1, integer(((origin - high) / step).lower().floor()))
        last = integer(((origin - low) / step + 1).upper().ceil())
        shared = []
        for j in range(first, last + 1):
            length = high.min(origin - (j - 1) * step) - low.max(origin - j * step)
            if not length <= 0:
                shared.append((j, length.max(arb(0))))
        return shared

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0. Right of the middle step of the copy p <= q; on the left all steps are alike but for a factor."""
        left = self._part(1, self._overlaps(-self._gamma - self._step, -self._gamma), epsilon) / -(-self._rate).expm1()
        middle = self._part(0, self._overlaps(-self._gamma, self._gamma), epsilon)
        total = left + middle
        for k, shared in self._right:
            total += self._part(k, shared, epsilon)
        return total.max(arb(0)).min(arb(1))

    def _part(self, k: int, overlaps: list[tuple[int, arb]], epsilon: arb) -> arb:
        total = arb(0)
        for j, length in overlaps:
            total += length * (-(epsilon - (j - k) * self._rate).expm1()).max(arb(0))
        return self._top * (-k * self._rate).exp() * total

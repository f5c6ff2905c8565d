"""Laplace and Gaussian noise whose scale depends on the data: the tight delta lies between that of one pair and a bound over all.

Let f be the density and f_t that at the scale e^t, 0 <= t <= b, moved by u, |u| <= D, N the pair with f first and W that with f_t first.
Two symmetric unimodal densities overlap the less the further apart they are, so that u = D is the worst for each t, in both orders: layers
of the two are intervals about their centres. On a cell of scales r <= t <= s, w = s - r, f_t >= e^-w f_r and f_t <= e^w f_s everywhere.

Theorem: For Laplace and Gaussian noise about 0, whose scale moves by at most a factor e^b between neighbours and whose answers move by at
most D times the smaller scale, the divergences at epsilon are at most the greatest, over cells [r, s] of [0, b], of N_r(epsilon - w) and of
e^w W_s(epsilon - w), w = s - r; and at least those of any pair. Where f exceeds e^x f_t is an interval, with ends in closed form.

Checked:
- the noise is Gaussian or Laplace noise about 0
- the cells reach from 0 to b
- the pair of the lower bound is one of them

Source: docs/theory/curves.md#smooth-curve
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.laplace_form import laplace_form
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.combinators.sums import added
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, falling, kept, known
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, mul, num
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import OnLine, SmoothSensitivity, Sum
from dpverify.trusted.language.rationals import read_fraction, read_rising
from dpverify.trusted.numbers.gaussian import gaussian_delta

NAME: Final = "smooth-curve"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_CELLS: Final = 1_000


def infer(run: Run, parameters: Parameters, _: Premises) -> Curve:
    """The curve of one run. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", ends of cells of scales, as shares of b from 0 to 1; "at", the share of b of the pair of the lower bound.
    """
    mechanism = run.part.mechanism
    if not isinstance(mechanism, SmoothSensitivity) or run.factor != ONE or run.mapped:
        raise Rejected(NAME, "the part", "it is no noise of smooth sensitivity, of neighbours that are one step apart")
    moved, at = run.part.sensitivity or ONE, read_fraction(parameters, "at", NAME)
    cuts = read_rising(parameters["cuts"], "cuts", NAME, 2, _MOST_CELLS)
    require(cuts[0] == 0 and cuts[-1] == 1 and 0 <= at <= 1, Rejected(NAME, "cuts", "they do not reach from 0 to 1, or 'at' is outside"))
    return settled.single(run, Curve(above(mechanism, moved, cuts), below(mechanism, moved, at), (NAME,), ASSUMED))


def above(mechanism: SmoothSensitivity, moved: Expr, cuts: Sequence[Fraction]) -> Pair:
    """What dominates both orders of all pairs."""
    pairs = [of_share(mechanism, moved, cut) for cut in cuts]
    widths = [known(mul(Num(high - low), mechanism.scale_bound)) for low, high in pairwise(cuts)]

    def greatest(epsilon: arb) -> arb:
        found = arb(0)
        for low, high, width in zip(pairs[:-1], pairs[1:], widths, strict=True):
            narrow = accurately(lambda low=low, width=width: low.excess(epsilon - width(), False))  # type: ignore[misc]
            wide = accurately(lambda high=high, width=width: width().exp() * high.excess(epsilon - width(), True))  # type: ignore[misc]
            found = found.max(narrow).max(wide)
        return found.min(arb(1))

    return symmetric(falling(kept(greatest)))


def below(mechanism: SmoothSensitivity, moved: Expr, share: Fraction) -> Pair:
    """The pair at one change of the scale, the greater one first."""
    one = of_share(mechanism, moved, share)

    def profile(wide: bool, epsilon: arb) -> arb:
        return accurately(lambda: one.excess(epsilon, wide).max(arb(0)))

    nothing = (lambda: arb(0),) * 2
    return Pair(divergence(partial(profile, True)), divergence(partial(profile, False)), rests=(nothing[0], nothing[1]))


def of_share(mechanism: SmoothSensitivity, moved: Expr, share: Fraction) -> Turned:
    """The two densities where the logarithm of the scale changes by a share of its bound."""
    gaussian, rate = _law(mechanism.noise)
    return Turned(gaussian, known(rate), known(moved), known(mul(Num(share), mechanism.scale_bound)))


def _law(noise: OnLine) -> tuple[bool, Expr]:
    """Whether noise about 0 is Gaussian or Laplace noise, and one over its deviation, or its scale. Raises Rejected for all other."""
    if isinstance(noise, Sum):  # a centre that is not 0 moves with the scale, and is not seen in the law of a sum
        for one, _ in added(noise):
            _law(one)
    for gaussian, form in ((True, gaussian_form), (False, laplace_form)):
        found = form(noise)
        if found is not None and (found[0].name == "r" or certainly_equal(found[0].at(num(1)), found[0].at(num(-1)))):
            return gaussian, found[1]
    raise Rejected(NAME, "the noise", "it is not certainly Gaussian or Laplace noise about 0, with a value for every parameter")


@dataclass(frozen=True)
class Turned:
    """Noise at the scale 1 about 0, and at the scale e^t about D: the density f and the density f_t."""

    gaussian: bool
    rate: Callable[[], arb]
    moved: Callable[[], arb]
    turned: Callable[[], arb]

    def excess(self, epsilon: arb, wide: bool) -> arb:
        """The divergence at any real epsilon, with f first or, where wide, with f_t first."""
        if self.turned() == 0:
            return self.shifted(epsilon)
        factor, (low, high) = epsilon.exp(), self.span(-epsilon if wide else epsilon)
        if low == high:  # the one point of an empty interval
            return 1 - factor if wide else arb(0)
        scale = self.turned().exp()
        still = [self.beyond(end) for end in (-low, high)]
        turned = [self.beyond(end / scale) for end in (self.moved() - low, high - self.moved())]
        if wide:
            return sum(turned) - factor * sum(still)
        return 1 - sum(still) - factor * (1 - sum(turned))

    def shifted(self, epsilon: arb) -> arb:
        """The same at one scale."""
        distance, least = self.rate() * self.moved(), (-epsilon.expm1()).max(arb(0))
        if not self.gaussian:
            return least.max(-((epsilon - distance) / 2).expm1())
        return least if distance == 0 else gaussian_delta(distance, epsilon)

    def span(self, level: arb) -> tuple[arb, arb]:
        """The ends of the interval of outputs where log(f/f_t) exceeds a level; twice one point where there are none."""
        rate, moved, turned = self.rate(), self.moved(), self.turned()
        require(turned > 0, Undecided(f"{NAME}: whether the scale changes is not certain."))
        scale, nothing = turned.exp(), arb(0)
        less = -(-turned).expm1()  # 1 - 1/scale
        if self.gaussian:  # a z^2 + 2 b z < c
            a, b, c = less * (1 + 1 / scale), moved / scale**2, (moved / scale) ** 2 + 2 * (turned - level) / rate**2
            square = b**2 + a * c
            root = square.sqrt() if square >= 0 else nothing.union(square.upper().max(nothing).sqrt())  # a ball across 0 has no root
            return (nothing, nothing) if square < 0 else ((-root - b) / a, (root - b) / a)
        # linear on both sides of 0, and steeper up to D than beyond it
        top = turned + rate * moved / scale - level
        first = top / (rate * (1 + 1 / scale))
        second = (turned - rate * moved / scale - level) / (rate * less)
        return (-top / (rate * less)).min(nothing), first.max(second).max(nothing)

    def beyond(self, point: arb) -> arb:
        """The probability of more than a point."""
        rate = self.rate()
        if self.gaussian:
            return (rate * point / arb(2).sqrt()).erfc() / 2
        right, left = (-rate * point.max(arb(0))).exp() / 2, 1 - (rate * point.min(arb(0))).exp() / 2
        return right if point >= 0 else left if point <= 0 else right.union(left)

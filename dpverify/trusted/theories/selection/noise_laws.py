"""Noise on the line as what outputs of selections ask of it: its density, and its probability below a point and from there on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final, Protocol

from flint import acb, arb, ctx

from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.laplace_form import laplace_form
from dpverify.trusted.combinators.sums import added
from dpverify.trusted.kernel.balls import NAN, constant, rational, value
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, Expr, Sym, call, div, substitute, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import L1, OnLine, Product, Radial, Sum, Translation, on_integers
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.numbers.antiderivatives import Local, Mass
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.shapes.convexity import Shapes

RULE: Final = "worst-output"
MOST_TERMS: Final = 20_000
"""Integers of which probabilities are added."""


class Law(Protocol):
    """Noise with a density. Points where a density has a kink are between no two cuts that it is asked about."""

    def at(self, point: Fraction) -> tuple[arb, arb]:
        """The probabilities of less than a point, and of no less."""

    def next_to(self, low: Fraction, high: Fraction) -> Local | None:
        """The density and the probabilities as functions next to an interval; None where they have a kink inside."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Gaussian or Laplace noise about 0. rate: one over its deviation, or its scale."""

    gaussian: bool
    rate: arb

    def at(self, point: Fraction) -> tuple[arb, arb]:
        """By closed forms."""
        place = acb(rational(point))
        return self.below(place, point > 0).real, self.below(-place, point < 0).real

    def next_to(self, low: Fraction, high: Fraction) -> Local | None:
        """By closed forms on one side of 0."""
        if low < 0 < high:
            return None
        above = low >= 0
        return Local(lambda z, a: self.density(z, above), lambda z, a: self.below(z, above), lambda z, a: self.below(-z, not above))

    def density(self, z: acb, above: bool) -> acb:
        """At z, which is above 0 or not."""
        if self.gaussian:
            return (-((self.rate * z) ** 2) / 2).exp() * self.rate / (2 * arb.pi()).sqrt()
        return (-self.rate * z if above else self.rate * z).exp() * self.rate / 2

    def below(self, z: acb, above: bool) -> acb:
        """The probability of less than z, which is above 0 or not."""
        if self.gaussian:
            return (-self.rate * z / arb(2).sqrt()).erfc() / 2
        return 1 - (-self.rate * z).exp() / 2 if above else (self.rate * z).exp() / 2


class Whole:
    """Noise on the integers: its probabilities between the first cut and the last, and those of all below and all above.

    Raises Rejected where these are not known.
    """

    def __init__(self, noise: Translation | Sum, cuts: Sequence[Fraction]) -> None:
        self._low, self._high = int(cuts[0]), int(cuts[-1])
        if self._high - self._low > MOST_TERMS or any(cut.denominator != 1 for cut in cuts):
            raise Rejected(RULE, "cuts", f"of noise on the integers they are integers, no more than {MOST_TERMS} apart")
        below, above, self._chances = self._of_a_sum(noise) if isinstance(noise, Sum) else self._of_a_density(noise)
        total = below[0] + above[0]
        self._at = [(less / total, more / total) for less, more in zip(below, above, strict=True)]
        self._chances = {n: weight / total for n, weight in self._chances.items()}
        self.likely = [(n, mass) for n, mass in self._chances.items() if not mass.is_zero()]

    def _of_a_sum(self, noise: Sum) -> tuple[list[arb], list[arb], dict[int, arb]]:
        """What is below each cut and what is not, and each between them."""
        from dpverify.trusted.theories.curves.sums import summed

        masses, places = summed(noise).masses(), range(self._low, self._high + 2)
        return [masses.below(n - 1) for n in places], [masses.above(n) for n in places], {n: masses.weight(n) for n in places[:-1]}

    def _of_a_density(self, noise: Translation) -> tuple[list[arb], list[arb], dict[int, arb]]:
        ends = domain(noise)
        least, greatest = None if ends[0] is None else ends[0].__ceil__(), None if ends[1] is None else ends[1].__floor__()

        def weight(n: int) -> arb:
            outside = (least is not None and n < least) or (greatest is not None and n > greatest)
            return arb(0) if outside else value(noise.density, {"z": arb(n)})

        def summed(first: int | None, last: int | None) -> arb:
            if first is not None and last is not None and first > last:
                return arb(0)
            from dpverify.trusted.numbers.lattice_sums import lattice_sum

            return lattice_sum(noise.density, "z", first, last, ctx.prec)

        weights = [weight(n) for n in range(self._low, self._high + 1)]
        before = summed(least, self._low - 1 if greatest is None else min(greatest, self._low - 1))
        after = summed(self._high + 1 if least is None else max(least, self._high + 1), greatest)
        above = [*accumulate(reversed(weights), initial=after)][::-1]
        return [*accumulate(weights, initial=before)], above, dict(enumerate(weights, self._low))

    def chance(self, n: int) -> arb:
        """Of an integer, where that is known."""
        return self._chances.get(n, NAN)

    def at(self, point: Fraction | int) -> tuple[arb, arb]:
        """Of less than an integer, and of no less, as far as that is known."""
        place = int(point) - self._low
        if point.denominator != 1:
            return NAN, NAN
        if 0 <= place < len(self._at):
            return self._at[place]
        far = arb(0).union(self._at[0][0] if place < 0 else self._at[-1][1])
        return (far, 1 - far) if place < 0 else (1 - far, far)

    def between(self, low: int | None, high: int | None) -> arb:
        """Of what is no less than the one and no more than the other, None for infinity."""
        if low is None or high is None:
            return self.at(low)[1] if low is not None else arb(1) if high is None else self.at(high + 1)[0]
        if low == high and low in self._chances:
            return self._chances[low]
        (below, above), (below_end, above_end) = self.at(low), self.at(high + 1)
        # what is less is known to more of its digits
        return arb(0) if low > high else (above - above_end if low > 0 else below_end - below).max(arb(0))

    def beyond(self, low: int | None = None, high: int | None = None) -> arb:
        """Of what is outside of the cuts, but between these ends."""
        left, right = (low is None or low < self._low) * self._at[0][0], (high is None or high > self._high) * self._at[-1][1]
        return arb(0).union((left + right).upper())


def radial(noise: OnLine) -> OnLine:
    """Noise on the reals that is written the same to both sides of 0, as radial noise; all other as it is."""
    if isinstance(noise, Translation) and not noise.integers and noise.support == (None, None):
        half, h = Shapes("z", True, {}), neg_log_profile(noise)
        if half.tidy(h) == half.tidy(half.mirrored(h)):
            return Radial(substitute(noise.density, {"z": Sym("r")}), L1, ONE)
    return noise


def closed(noise: OnLine) -> Closed | None:
    """Gaussian or Laplace noise about 0, with a value for every parameter; None for all other."""
    if isinstance(noise, Sum):
        parts = [(closed(one), times) for one, times in added(noise)]
        rates = [times / part.rate**2 for part, times in parts if part is not None and part.gaussian]
        return Closed(True, 1 / sum(rates, arb(0)).sqrt()) if len(rates) == len(parts) else None
    noise = radial(noise)
    if isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp":
        for gaussian, form in ((True, gaussian_form), (False, laplace_form)):
            found = form(noise)
            if found is not None:
                return Closed(gaussian, constant(found[1]))
    return None


def in_closed_form(noise: OnLine) -> Closed:
    """Gaussian or Laplace noise about 0. Raises Rejected for all other."""
    found = closed(noise)
    if found is None:
        raise Rejected(RULE, "the noise", "it is not certainly Gaussian or Laplace noise about 0, with a value for every parameter")
    return found


def law(noise: OnLine, cuts: Sequence[Fraction]) -> Law | Whole:
    """The noise: in closed form, by sums between the cuts, or by series between them. Raises Rejected, Undecided."""
    found = closed(noise)
    if found is not None:
        return found
    if len(cuts) < 2:
        raise Rejected(RULE, "the noise", "it is not certainly Gaussian or Laplace noise about 0, so that it wants cuts of its own")
    if isinstance(noise, Translation | Sum) and on_integers(noise):
        return Whole(noise, cuts)
    return _mass(*density_of(noise), tuple(cuts), ctx.prec)


@remembered(8)
def _mass(density: Expr, support: tuple[Fraction | None, Fraction | None], cuts: tuple[Fraction, ...], _: int) -> Mass:
    return Mass(density, support, cuts)


def density_of(noise: OnLine) -> tuple[Expr, tuple[Fraction | None, Fraction | None]]:
    """The density in z of noise on the reals, not normalised, and where it lives. Raises Rejected, Undecided."""
    if isinstance(noise, Product) and noise.dimension == ONE:
        noise = Translation(noise.density)
    if isinstance(noise, Radial) and (noise.dimension, noise.norm.kind) == (ONE, "lp") and not symbols(noise.scale):
        if symbols(noise.profile) <= {"r"} and constant(noise.scale) > 0:
            return substitute(noise.profile, {"r": div(call("abs", Sym("z")), noise.scale)}), (None, None)
    elif isinstance(noise, Translation) and not noise.integers and symbols(noise.density) <= {"z"}:
        return noise.density, domain(noise)
    raise Rejected(RULE, "the noise", "it is not noise on the line that is given by its density, with a value for every parameter")

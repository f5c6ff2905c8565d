"""One-parameter kernels: the pair of outputs on two inputs, seen through bins, beside what the pure epsilon bounds from above.

Theorem: Whoever sees of the output of a kernel only the bin that it falls into sees a pair of distributions over the bins: the
probabilities of each on two adjacent inputs. It bounds the curve from below, in compositions too; from above the pure epsilon does.

Checked:
- both inputs are in the input interval, at most the sensitivity apart
- the bins are disjoint and inside the output interval
- the probabilities, as enclosed integrals
- the density is non-negative and integrates to 1 for every input, where no assumption says otherwise

Source: docs/theory/curves.md#kernel-pair
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, substitute
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Kernel
from dpverify.trusted.language.rationals import to_constant, to_fraction
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.curves.rules import pure_guarantee
from dpverify.trusted.theories.curves.steps import Steps, steps_of
from dpverify.trusted.theories.finite.normaliser import check_normaliser
from dpverify.trusted.theories.finite.rules.kernel_point import check_inputs

NAME: Final = "kernel-pair"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_BINS: Final = 1_000


class Bins:
    """The probabilities of bins, and of the rest, under two densities."""

    def __init__(self, densities: tuple[Expr, Expr], cuts: tuple[Fraction, ...]) -> None:
        self._densities, self._cuts = densities, cuts
        self.masses = per_precision(self._masses)
        self._steps = [per_precision(partial(self._sorted, swapped)) for swapped in (False, True)]

    def _masses(self) -> list[tuple[arb, arb]]:
        """At the working precision; the last one is of all that is in no bin."""
        return list(zip(*map(self._side, self._densities), strict=True))

    def _sorted(self, swapped: bool) -> Steps:
        return steps_of(arb(0), [(q, p) if swapped else (p, q) for p, q in self.masses()])

    def _side(self, density: Expr) -> list[arb]:
        found = [integral(density, "y", low, high, bits=ctx.prec) for low, high in pairwise(self._cuts)]
        return [*found, 1 - sum(found, arb(0))]

    def profile(self, swapped: bool) -> Profile:
        """H of the two, or in the other order."""
        return divergence(lambda epsilon: self._steps[swapped]().excess(epsilon).max(arb(0)).min(arb(1)))


@remembered(16)
def bins_of(densities: tuple[Expr, Expr], cuts: tuple[Fraction, ...]) -> Bins:
    """The bins of two densities; equal ones remember what they have computed."""
    return Bins(densities, cuts)


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run of a kernel. premises: its pure epsilon from above. Raises Rejected, Undecided, CertificateError.

    parameters: "theta" and "other", the two inputs, constants; "cuts", rationals in order, the ends of the bins; "normaliser", if given,
    as of the rules about kernels.
    """
    claim = leaf(run)
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(NAME, "mechanism", "only a density in y and theta is a kernel")
    (premise,) = premises
    above = pure_guarantee.curve(premise, claim)
    inputs = [to_constant(parameters.get(key), key, NAME) for key in ("theta", "other")]
    check_inputs(claim, kernel, *inputs)
    cuts = tuple(to_fraction(cut, NAME) for cut in parameters.get("cuts", ()))
    if not 2 <= len(cuts) <= _MOST_BINS or any(low >= high for low, high in pairwise(cuts)):
        raise Rejected(NAME, "cuts", f"they are not 2 to {_MOST_BINS} numbers in order")
    for low, high in ((kernel.output[0], Num(cuts[0])), (Num(cuts[-1]), kernel.output[1])):
        if low is not None and high is not None and not certainly_le(low, high):
            raise Rejected(NAME, "cuts", "they do not certainly lie in the output interval")
    assumed = check_normaliser(claim, parameters.get("normaliser"))
    first, second = (substitute(kernel.density, {"theta": x}) for x in inputs)
    bins = bins_of((first, second), cuts)
    lower = Pair(bins.profile(False), bins.profile(True))
    found = Curve(above.upper, lower, (NAME, *above.rules), above.assumed, assumed)
    return settled.single(run, found)

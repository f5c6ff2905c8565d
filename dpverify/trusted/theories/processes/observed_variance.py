"""The law of V of noise sqrt(V) N on functions, with a density or finitely many values, and the pair that shows V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flint import arb

from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.pairs import ALIKE, Pair, symmetric
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, div, sqrt
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.numbers.gaussian import gaussian_delta
from dpverify.trusted.theories.curves.mixing import Law
from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as scale_mixture

WHAT: Final = "the mixing law"


@dataclass(frozen=True, slots=True)
class Atoms:
    """A variance of finitely many values: each with its probability."""

    values: tuple[tuple[Expr, ...], ...]


def law_of(noise: EllipticalProcess) -> Law | Atoms:
    """The law of V. Raises Rejected where its support has ends that are no rational numbers, or its transform alone is known."""
    if noise.transform:
        raise Rejected(WHAT, "the mixing law", "its moment generating function alone is given, which bounds delta by Theorem 5 and no more")
    if noise.atoms:
        return Atoms(noise.atoms)
    low, high = noise.support
    if not isinstance(low, Num) or not (high is None or isinstance(high, Num)):
        raise Rejected(WHAT, "support", "its ends are not rational numbers")
    return Law(noise.mixing, low.value, None if high is None else high.value)


def check(law: Law | Atoms) -> None:
    """Raises Rejected unless the law of the variance is certainly one, and positive; Undecided where an integral is not enclosed."""
    if isinstance(law, Law):
        scale_mixture.check(law)
        return
    if any(len(one) != 2 or not all(certainly_lt(ZERO, number) for number in one) for one in law.values):
        raise Rejected(WHAT, "its values", "these or their probabilities are not certainly positive")
    if not certainly_equal(add(*(probability for _, probability in law.values)), ONE):
        raise Rejected(WHAT, "its probabilities", "they do not certainly add up to 1")


def observed(law: Law | Atoms, shift: Expr) -> Pair:
    """The pair (V, sqrt(V) N + shift e) and (V, sqrt(V) N), e any unit vector; its two orders have one profile. Raises as `check` does."""
    if isinstance(law, Law):
        return scale_mixture.observed(law, shift)
    check(law)
    require(certainly_le(ZERO, shift), Rejected(WHAT, "the shift", "it is not certainly at least 0"))
    if shift == ZERO:
        return ALIKE
    parts = [(probability, div(shift, sqrt(v))) for v, probability in law.values]

    def mean(epsilon: arb) -> arb:
        return sum((constant(p) * gaussian_delta(constant(mu), epsilon) for p, mu in parts), arb(0)).max(arb(0)).min(arb(1))

    return symmetric(divergence(lambda epsilon: accurately(lambda: mean(epsilon))))

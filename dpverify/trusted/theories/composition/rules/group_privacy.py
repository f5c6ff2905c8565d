"""Neighbours of neighbours, for a part of which no more is known than its own curve.

Theorem: If a mechanism is (eps, delta)-DP, it is (k eps, delta (e^(k eps) - 1)/(e^eps - 1))-DP for inputs that are k steps between
neighbours apart.

Checked:
- the part's delta at eps

Source: docs/theory/composition.md#group-privacy, Dwork & Roth 2014, Theorem 2.2
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.balls import exact, rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, Expr, Num
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.curves.rules import optimal_composition

NAME: Final = "group-privacy"
ASSUMED: Final = ()


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of one run on neighbours of neighbours. premises: its curve on neighbours. parameters: "epsilon", a fraction of the part.

    Raises Rejected, CertificateError.
    """
    (below,) = curves_of(premises, [Run(run.part)], NAME)
    grouped = curve(below, steps(run.factor), read_fraction(parameters, "epsilon", NAME))
    # neighbours one step apart are among those of a group, and not among those that a contraction leaves
    return settled.single(run, grouped if certainly_le(ONE, run.factor) else replace(grouped, lower=None))


def steps(factor: Expr) -> int:
    """How many steps between neighbours a factor takes. Raises Rejected where it is not a number."""
    if not isinstance(factor, Num):
        raise Rejected(NAME, "size", "it is not a number")
    return -int(-factor.value // 1)


def curve(part: Curve, size: int, epsilon: Fraction) -> Curve:
    """The pair that dominates every mechanism with the group's guarantee. epsilon: of the part, above 0. Raises Rejected."""
    if part.upper is None or epsilon <= 0 or size < 1:
        raise Rejected(NAME, "the part", "it wants an upper bound on its delta at an epsilon above 0")
    one, many = rational(epsilon), rational(size * epsilon)
    delta = (part.upper.worst(one) * many.expm1() / one.expm1()).upper().min(rational(Fraction(1)))
    return Curve(
        optimal_composition.guarantee(Num(size * epsilon), Num(exact(delta))), part.lower, (NAME, *part.rules), part.assumed, part.below
    )

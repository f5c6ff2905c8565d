"""Pairs of rows of a finite mechanism, and their Renyi divergences (theory#finite-measures)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from flint import arb

from dpverify.trusted.combinators.exchanged import listed_both_ways
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, add, call, mul, num, sub
from dpverify.trusted.kernel.model import REVERSE, Claim, Exponential, Table
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.theories.curves.faces import Face, Faces, Weight, faces_of

RULE: Final = "finite-measures"

_EXACT: Final = 64
"""Up to this order powers of rational numbers are taken exactly."""


@dataclass(frozen=True)
class Rows:
    """The outputs of two rows that both can give, each as (p, q, how many), and whether some are of the first, or the second, alone."""

    inputs: tuple[int, int]
    met: tuple[tuple[Weight, Weight, int], ...]
    first_alone: bool
    second_alone: bool

    @cached_property
    def balls(self) -> list[tuple[arb, arb, arb]]:
        """For each kind of output the masses of p and of q, and the loss."""
        found = []
        for p, q, times in self.met:
            a, b = constant(p.expr), constant(q.expr)
            found.append((a * times, b * times, (a / b).log()))
        return found

    def cumulant(self, order: arb) -> arb:
        """(a - 1) D_a = log of the sum of q e^(a loss), at an order."""
        return sum((q * (order * loss).exp() for _, q, loss in self.balls), arb(0)).log()

    @property
    def mean(self) -> arb:
        """The mean loss: the limit of the divergence at order 1."""
        return sum((p * loss for p, _, loss in self.balls), arb(0))

    def spread(self, orders: arb) -> arb:
        """At least the variance of the loss under the laws p^a q^(1 - a), for all orders of a ball."""
        centre = self.mean
        tilted = [(q * (orders * loss).exp(), loss - centre) for _, q, loss in self.balls]
        return sum((w * x * x for w, x in tilted), arb(0)) / sum((w for w, _ in tilted), arb(0))

    @property
    def greatest(self) -> arb:
        """The greatest loss."""
        best = arb(0)
        for _, _, loss in self.balls:
            best = best.max(loss)
        return best


def rows_of(claim: Claim) -> list[Rows]:
    """The pairs of rows that the claim is about: in both orders, or in the one that is listed where the claim is about one."""
    mechanism = claim.mechanism
    faces = faces_of(mechanism, claim.sensitivity)
    if not claim.order or not isinstance(mechanism, Table | Exponential) or listed_both_ways(mechanism):
        return [_face(faces, face) for face in faces.all.values()]
    known = {face.inputs for face in faces.all.values()}
    turned = claim.order == REVERSE
    listed = [(b, a) if turned else (a, b) for a, b in dict.fromkeys(mechanism.adjacent or ()) if a != b]
    if isinstance(mechanism, Exponential) and mechanism.points and not set(listed) <= known:
        raise Rejected(RULE, "adjacent", "which of the listed points are within the sensitivity, in one order, is not looked at")
    return [_face(faces, faces.facing(*pair), pair) for pair in listed]


def _face(faces: Faces, face: Face, inputs: tuple[int, int] | None = None) -> Rows:
    weights = faces.weights.all
    met = tuple((weights[i], weights[j], times) for (i, j), times in face.cells if i and j)
    return Rows(inputs or face.inputs, met, any(i and not j for (i, j), _ in face.cells), any(j and not i for (i, j), _ in face.cells))


def _loss(p: Weight, q: Weight) -> Expr:
    if isinstance(p.expr, Num) and isinstance(q.expr, Num):
        return call("log", num(p.expr.value / q.expr.value))
    # how many outputs are alike stands in p and q alike
    first, second = (sub(neg_log(w.denominator), neg_log(w.numerator)) for w in (p, q))
    return sub(first, second)


def divergence(rows: Rows, order: Fraction) -> Expr:
    """The Renyi divergence of an order above 1, or, at order 1, the mean loss."""
    if order == 1:
        return add(*(mul(num(times), p.expr, _loss(p, q)) for p, q, times in rows.met))
    terms = [mul(num(times), _power(p, q, order)) for p, q, times in rows.met]
    return mul(num(1 / (order - 1)), call("log", add(*terms)))


def _power(p: Weight, q: Weight, order: Fraction) -> Expr:
    """p^a q^(1 - a)."""
    a, b = p.expr, q.expr
    if isinstance(a, Num) and isinstance(b, Num) and order.denominator == 1 and order <= _EXACT:
        return num(b.value * (a.value / b.value) ** int(order))
    return mul(b, call("exp", mul(num(order), _loss(p, q))))

"""The law of noise whose scale depends on the data."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.catalogue.formulas.boxes import APPLY, Box, Ident, Op, Words, brackets, row
from dpverify.catalogue.formulas.selection import named_law
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.trusted.kernel.expr import call
from dpverify.trusted.kernel.model import SmoothSensitivity


def smooth_sensitivity(mechanism: SmoothSensitivity) -> Iterator[Box]:
    """What is told, and how much the scale may change."""
    (answer, _), (scale, other) = ([row(Ident(f), APPLY, brackets(Ident(x))) for x in ("x", "x\u2032")] for f in ("q", "S"))
    yield row(answer, Op("+"), scale, Ident("Z"))
    yield row(scale, Op("≤"), typeset(call("exp", mechanism.scale_bound)), other, Words(" for neighbours, in both orders"))
    yield from named_law(mechanism.noise, "Z")

"""Formulas for people: expressions and the laws of mechanisms as MathML, and as one line of text."""

from __future__ import annotations

from html import escape

from dpverify.catalogue.formulas.boxes import Box, linear, markup
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.report.laws import law
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Mechanism


def mathml(expr: Expr, *, block: bool = False) -> str:
    """An expression as a `math` element. block: on a line of its own.

    Exact, but for a number of more than 40 digits, which is rounded and ends in dots.
    """
    return element(typeset(expr), block=block)


def text(expr: Expr) -> str:
    """An expression as a formula on one line of plain text."""
    return linear(typeset(expr))


def density(mechanism: Mechanism, *, block: bool = True) -> str:
    """The law of a mechanism, the distribution of its output y on input x, as a `math` element."""
    return element(law(mechanism), block=block)


def density_text(mechanism: Mechanism) -> str:
    """The law of a mechanism on one line of plain text."""
    return linear(law(mechanism))


def element(box: Box, *, block: bool = False) -> str:
    """A `math` element, with its plain text for those who do not see it."""
    display = ' display="block"' if block else ""
    return f'<math{display} alttext="{escape(linear(box))}">{markup(box)}</math>'

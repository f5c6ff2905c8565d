"""The laws of tables, of the exponential mechanism, and of densities that depend on a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.catalogue.formulas.boxes import APPLY, Box, Cases, Fence, Ident, Number, Op, Sub, Words, brackets, comma, row
from dpverify.catalogue.formulas.pieces import EQUAL, IN, PROBABILITY, TO, X, Y, held, matrix_named, within
from dpverify.catalogue.formulas.typeset import ATOM, raised, symbol, typeset
from dpverify.trusted.kernel.expr import ONE, Expr, call, div, mul, num, sub
from dpverify.trusted.kernel.model import Exponential, KaryResponse, Kernel, Table


def table(table: Table) -> Iterator[Box]:
    """The probabilities as a matrix."""
    yield row(PROBABILITY, EQUAL, Sub(Ident("P"), comma(X, Y)))
    yield matrix_named(Ident("P"), table.rows, "a row for each input")


def kary_response(response: KaryResponse) -> Iterator[Box]:
    """The truth, or one of the others."""
    lie = raised(div(sub(ONE, response.p), sub(response.k, ONE)))
    yield row(PROBABILITY, EQUAL, Cases(((raised(response.p), row(Words("if "), Y, EQUAL, X)), (lie, Words("otherwise")))))
    yield row(comma(X, Y), IN, Fence("{", comma(Number("1"), Words("…"), typeset(response.k)), "}"))


def kernel(kernel: Kernel) -> Iterator[Box]:
    """The density of an output at an input."""
    theta = symbol("theta")
    left = row(Ident("p"), APPLY, brackets(row(Y, Op("|"), theta)))
    yield row(left, EQUAL, typeset(kernel.density))
    yield from (*within(Y, kernel.output), *within(theta, kernel.input))


def exponential(mechanism: Exponential) -> Iterator[Box]:
    """Probabilities by scores, or by distances."""
    score = row(Ident("s"), APPLY, brackets(comma(X, Y)))
    where = [matrix_named(Ident("s"), mechanism.scores, "a row for each input")]
    sign: Expr = ONE
    if mechanism.metric in _SAID:
        sign, a = num(-1), Ident("a")
        score = row(Ident("d"), APPLY, brackets(comma(Sub(a, X), Sub(a, Y))))
        where = [row(Ident("d"), Words(f" {_SAID[mechanism.metric]}")), matrix_named(a, mechanism.points, "a row for each point")]
    shape = call("exp", mul(sign, mechanism.beta, held("score")))
    names = {held("score").name: (score, ATOM)}
    if mechanism.weights:
        w = Ident("w")
        shape = mul(held("weight"), shape)
        names[held("weight").name] = (row(w, APPLY, brackets(Y)), ATOM)
        where.append(matrix_named(w, (mechanism.weights,), "a number for each output"))
    yield row(PROBABILITY, TO, typeset(shape, names))
    yield from where


_SAID: Final = {"l1": "the l1 distance", "l2": "the l2 distance", "linf": "the l∞ distance", "discrete": "1 between two points"}

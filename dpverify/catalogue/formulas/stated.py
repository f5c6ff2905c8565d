"""What is stated of mechanisms without a law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dpverify.catalogue.formulas.boxes import APPLY, MINUS, Box, Fence, Fraction, Ident, Number, Op, Sub, Words, brackets, row
from dpverify.catalogue.formulas.pieces import AT_MOST, IN, MOST_ENTRIES, OF_X, PRIMED, M, X, Y, held
from dpverify.catalogue.formulas.typeset import ATOM, raised, typeset
from dpverify.trusted.kernel.expr import ZERO, Expr, Sym, call, mul
from dpverify.trusted.kernel.model import ONE_SIDED, Filter, Guarantee, Sampled


def guarantee(guarantee: Guarantee) -> Iterator[Box]:
    """What is known, a row each."""
    yield from (_STATEMENTS[guarantee.measure](*numbers) for numbers in guarantee.rows[:MOST_ENTRIES])
    if len(guarantee.rows) > MOST_ENTRIES:
        yield Words(f"and {len(guarantee.rows) - MOST_ENTRIES} more")
    if guarantee.order:
        yield Words(f"where x is the input {'with' if guarantee.order == ONE_SIDED else 'without'} the record")


def budget(filter: Filter) -> Iterator[Box]:
    """What all parts have together."""
    yield Words("parts chosen at will, none begun that might exceed the budget")
    yield from guarantee(filter)


def _approximate(epsilon: Expr, delta: Expr) -> Box:
    there, here = (_event(row(M, APPLY, brackets(at), IN, Ident("S"))) for at in (X, PRIMED))
    bound = row(there, AT_MOST, typeset(mul(call("exp", epsilon), held("event")), {held("event").name: (here, ATOM)}))
    return bound if delta == ZERO else row(bound, Op("+"), typeset(delta))


def _event(inside: Box) -> Box:
    return row(Ident("Pr"), APPLY, Fence("[", inside, "]"))


def _divergence(order: Expr, most: Expr) -> Box:
    pair = row(M, OF_X, Op("‖"), M, APPLY, brackets(PRIMED))
    return row(Sub(Ident("D"), raised(order)), APPLY, brackets(pair), AT_MOST, typeset(most))


def _zcdp(rho: Expr) -> Box:
    order = Sym("alpha")
    return row(_divergence(order, mul(rho, order)), Words(" for every "), typeset(order), Op(">"), Number("1"))


def _gdp(mu: Expr) -> Box:
    shown = typeset(mu)
    return row(M, Words(" is "), shown, Words("-GDP: no easier to tell apart than N(0, 1) and N("), shown, Words(", 1)"))


def _bounded_range(eta: Expr) -> Box:
    there, here = (row(Ident("p"), APPLY, brackets(row(Y, Op("|"), at))) for at in (X, PRIMED))
    loss = row(Ident("log"), APPLY, brackets(Fraction(there, here)))
    largest, smallest = (row(Sub(Ident(name), Y), Words(" "), loss) for name in ("max", "min"))
    return row(largest, MINUS, smallest, AT_MOST, typeset(eta))


_STATEMENTS: Final[Mapping[str, Callable[..., Box]]] = {
    "approximate": _approximate, "renyi": _divergence, "zcdp": _zcdp, "gdp": _gdp, "bounded_range": _bounded_range,
}  # fmt: skip


def sampled(_: Sampled) -> Iterator[Box]:
    """That nothing is declared."""
    yield row(Y, Op("∼"), M, OF_X)
    yield Words("a sampled implementation without a declared law")

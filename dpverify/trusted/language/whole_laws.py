"""Laws on the integers that have names, as noise, and which of them a noise is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Num,
    Pow,
    Sym,
    add,
    call,
    children,
    div,
    mul,
    neg,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Translation
from dpverify.trusted.language.logarithms import neg_log

_Z: Final = Sym("z")
_FEW: Final = 32


def discrete_laplace(scale: Expr) -> Translation:
    """Two-sided geometric noise: exp(-|z|/scale)."""
    return Translation(call("exp", neg(div(call("abs", _Z), scale))), integers=True)


def discrete_gaussian(sigma: Expr) -> Translation:
    """exp(-z^2/(2 sigma^2))."""
    return Translation(call("exp", neg(div(power(_Z, num(2)), mul(num(2), power(sigma, num(2)))))), integers=True)


def poisson(mean: Expr) -> Translation:
    """mean^z / z!."""
    return Translation(div(power(mean, _Z), call("gamma", add(_Z, ONE))), (ZERO, None), integers=True)


def binomial(n: Expr, p: Expr) -> Translation:
    """How many of n trials succeed, each with probability p."""
    odds, left = div(p, sub(ONE, p)), sub(n, _Z)
    ways = mul(call("gamma", add(_Z, ONE)), call("gamma", add(left, ONE)))
    return Translation(div(power(odds, _Z), ways), (ZERO, n), integers=True)


def negative_binomial(eta: Expr, gamma: Expr) -> Translation:
    """How many fail before eta succeed, each with probability gamma; eta > 0 need not be whole."""
    if isinstance(eta, Num) and eta.value.denominator == 1 and 1 <= eta.value <= _FEW:  # a quotient of gamma functions that is a polynomial
        ways = mul(ONE, *(add(_Z, num(step)) for step in range(1, int(eta.value))))
    else:
        ways = div(call("gamma", add(_Z, eta)), call("gamma", add(_Z, ONE)))
    return Translation(mul(power(sub(ONE, gamma), _Z), ways), (ZERO, None), integers=True)


def turned(noise: Translation) -> Translation:
    """The noise with its sign changed; itself where it is written the same both ways, but for |-z|."""
    if noise.support == (None, None) and _opposite(noise.density) == noise.density:
        return noise
    low, high = (None if end is None else neg(end) for end in noise.support[::-1])
    return Translation(_opposite(noise.density), (low, high), noise.integers)


def _opposite(expr: Expr) -> Expr:
    """The expression at -z, with |z| in place of |-z|."""
    if isinstance(expr, Call) and expr.name == "abs":
        inside = _opposite(expr.args[0])
        return expr if inside == neg(expr.args[0]) else call("abs", inside)
    return neg(_Z) if expr == _Z else rebuild(expr, _opposite)


LAWS: Final[Mapping[str, Callable[..., Translation]]] = {
    law.__name__: law for law in (discrete_laplace, discrete_gaussian, poisson, binomial, negative_binomial)
}
EVEN: Final = ("discrete_laplace", "discrete_gaussian")


@dataclass(frozen=True, slots=True)
class Known:
    """A law by the name of its function here, with the numbers of that; of -n where it is turned."""

    name: str
    numbers: tuple[Expr, ...]
    turned: bool = False


@remembered(256)
def known(noise: Translation) -> Known | None:
    """Which law a noise is, written as the functions here write it; None for another, and where a number of it is not known."""
    if not noise.integers:
        return None
    try:
        for way in (False, True):
            asked = turned(noise) if way else noise
            for found in _candidates(asked):
                if LAWS[found.name](*found.numbers) == asked and _is_law(found):
                    return found if found.name in EVEN else replace(found, turned=way)
    except ExprError:
        pass
    return None


def _is_law(law: Known) -> bool:
    """Whether the numbers are certainly those of a law: positive, probabilities below 1, and trials so many."""
    chances = {"binomial": law.numbers[1:], "negative_binomial": law.numbers[1:]}.get(law.name, ())
    whole = law.name != "binomial" or is_whole(law.numbers[0], {})
    positive = all(not symbols(number) and certainly_lt(ZERO, number) for number in law.numbers)
    return whole and positive and all(certainly_lt(chance, ONE) for chance in chances)


def _candidates(noise: Translation) -> Iterator[Known]:
    """The laws that it may be, with the numbers that it would have."""
    low, high = noise.support
    if low is None and high is None:
        slope = substitute(neg_log(noise.density), {"z": ONE})
        yield Known("discrete_laplace", (div(ONE, slope),))
        yield Known("discrete_gaussian", (power(mul(num(2), slope), Num(-ONE.value / 2)),))
    if low != ZERO:
        return
    for base in (ONE, *_bases(noise.density)):
        if high is not None:
            yield Known("binomial", (high, div(base, add(ONE, base))))
            continue
        yield Known("poisson", (base,))
        for eta in (*map(num, range(1, _FEW + 1)), *_shapes(noise.density)):
            yield Known("negative_binomial", (eta, sub(ONE, base)))


def _bases(density: Expr) -> Iterator[Expr]:
    """What is raised to the power z."""
    if isinstance(density, Pow) and density.exponent == _Z:
        yield density.base
    for part in children(density):
        yield from _bases(part)


def _shapes(density: Expr) -> Iterator[Expr]:
    """What stands beside z in functions."""
    for part in children(density):
        if getattr(density, "name", "") == "gamma":
            yield sub(part, _Z)
        yield from _shapes(part)

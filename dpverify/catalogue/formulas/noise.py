"""The laws of additive noise."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.catalogue.formulas.boxes import APPLY, DOT, INTEGRAL, MINUS, Box, Fence, Ident, Limits, Number, Op, Sub, Words, brackets, row
from dpverify.catalogue.formulas.pieces import (
    ANSWER,
    DENSITY,
    EQUAL,
    IN,
    INFINITY,
    NOISE,
    OF_X,
    PROBABILITY,
    TO,
    M,
    Y,
    held,
    index,
    named,
    scaled,
    size,
    space,
    within,
)
from dpverify.catalogue.formulas.typeset import ATOM, SUM, factor, typeset
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Sym,
    add,
    call,
    format_expr,
    mul,
    neg,
    sqrt,
)
from dpverify.trusted.kernel.model import EllipticalProcess, Mixture, Product, Radial, Staircase, Sum, Translation, kind_of


def radial(noise: Radial) -> Iterator[Box]:
    """A density by the length of the noise."""
    shape = scaled(noise.profile, noise.scale)
    names, where = named((shape,), "r", size(noise.norm, noise.dimension), ATOM)
    yield row(DENSITY, TO, typeset(shape, names))
    yield from (*where, *space(noise.dimension), *index(noise.norm))


def translation(noise: Translation) -> Iterator[Box]:
    """A density on the line."""
    names, where = named((noise.density,), "z", NOISE, SUM)
    yield row(PROBABILITY if noise.integers else DENSITY, TO, typeset(noise.density, names))
    yield from where
    if noise.integers:
        yield row(Y, IN, Ident("ℤ"))
    yield from within(Ident("z") if where else NOISE, noise.support)


def product(noise: Product) -> Iterator[Box]:
    """A density for each coordinate."""
    if noise.dimension == ONE:
        yield from translation(Translation(noise.density))
        return
    i = Ident("i")
    coordinate = row(Sub(Y, i), MINUS, Sub(Ident("q"), i), OF_X)
    names, where = named((noise.density,), "z", coordinate, SUM, letter="z_i")
    over = Limits("∏", row(i, EQUAL, Number("1")), typeset(noise.dimension))
    yield row(DENSITY, TO, over, factor(noise.density, names))
    yield from (*where, *space(noise.dimension))


def mixture(noise: Mixture) -> Iterator[Box]:
    """A density averaged over the scale."""
    shape = scaled(noise.profile, noise.scale)
    names, where = named((shape,), "r", size(noise.norm, noise.dimension), ATOM)
    mixed = [factor(shape, names)] if noise.mixing == ONE else [factor(shape, names), DOT, factor(noise.mixing)]
    over = Limits(INTEGRAL, typeset(noise.support[0]), INFINITY if noise.support[1] is None else typeset(noise.support[1]))
    yield row(DENSITY, TO, over, *mixed, Words(" d"), Ident("v"))
    yield from (*where, *space(noise.dimension), *index(noise.norm))


def sum(noise: Sum) -> Iterator[Box]:
    """A sum of noises, and the law of each."""
    letters = [Sub(Ident("Z"), Number(str(number))) for number in range(1, len(noise.parts) + 1)]
    joined = [box for letter in letters for box in (Op("+"), letter)][1:]
    yield row(M, OF_X, EQUAL, ANSWER, Op("+"), *joined)
    for letter, part in zip(letters, noise.parts, strict=True):
        law = list(globals()[kind_of(part.noise)](part.noise))
        count = () if part.times == ONE else (Words(", "), typeset(part.times), Words(" times"))
        yield row(letter, Words(" independent noise"), *count, Words(", of the law "), law[0])
        yield from law[1:]
    if noise.dropouts != ZERO:
        yield row(Words("all but "), typeset(noise.dropouts), Words(" of them or fewer, whichever these are"))


def staircase(noise: Staircase) -> Iterator[Box]:
    """A density by whole steps."""
    level = call("floor", add(held("noise"), ONE, neg(noise.gamma)))
    shape = call("exp", neg(mul(noise.epsilon, level)))
    yield row(DENSITY, TO, typeset(shape, {held("noise").name: (Fence("|", NOISE, "|"), ATOM)}))


def elliptical_process(noise: EllipticalProcess) -> Iterator[Box]:
    """Noise on functions, and the law of its variance."""
    scaled = typeset(mul(noise.scale, sqrt(Sym("V")), Sym("N")))
    yield row(M, OF_X, EQUAL, ANSWER, Op("+"), scaled)
    yield row(Ident("N"), Words(" a centred Gaussian process of infinite rank" + _known_of(noise)))
    if noise.transform:
        yield row(Ident("V"), Words(f" of the moment generating function {format_expr(noise.transform[0])}"))
        return
    if noise.atoms:
        yield row(Ident("V"), Words(" of the law " + ", ".join(f"P[V = {format_expr(v)}] = {format_expr(p)}" for v, p in noise.atoms)))
        return
    yield row(Sub(Ident("f"), Ident("V")), APPLY, brackets(Ident("v")), TO, typeset(noise.mixing))
    yield from within(Ident("v"), noise.support)


def _known_of(noise: EllipticalProcess) -> str:
    """What is declared of the covariance, and what is released, in words."""
    said = ""
    if noise.covariance:
        numbers = ", ".join(map(format_expr, noise.shape))
        said = f", with {noise.covariance} {numbers}" if len(noise.shape) == 1 else f", {noise.covariance} of variance and length {numbers}"
    if noise.places:
        said += f"; released at {len(noise.places)} points"
    elif noise.count is not None:
        said += f"; {format_expr(noise.count)} evaluations are released"
    return said

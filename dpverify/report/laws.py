"""The law of a mechanism as a formula: the distribution of its output y on input x, for every kind.

q(x) is the true answer, M the mechanism; a density f(y) or p(y | theta) is up to a constant factor where "∝" stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dpverify.report.boxes import (
    APPLY,
    DOT,
    INTEGRAL,
    MINUS,
    NEGATIVE,
    PRIME,
    TIMES,
    Box,
    Cases,
    Fence,
    Fraction,
    Ident,
    Limits,
    Lines,
    Matrix,
    Number,
    Op,
    Sub,
    Sup,
    Words,
    brackets,
    comma,
    row,
)
from dpverify.report.typeset import ATOM, SUM, Names, factor, raised, symbol, typeset
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
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
    sqrt,
    sub,
    substitute,
)
from dpverify.trusted.language.model import (
    Combinator,
    Compose,
    EllipticalProcess,
    Exponential,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Leaf,
    Lipschitz,
    Mechanism,
    Mixture,
    Norm,
    Parallel,
    Part,
    PostProcess,
    Product,
    Radial,
    Sampled,
    Staircase,
    Subsample,
    Table,
    Translation,
    kind_of,
    parts_of,
)

MOST_ENTRIES: Final = 8
"""As many rows and columns of a matrix, parts in a formula and rows of a guarantee as are shown."""
MOST_LINES: Final = 20
"""As many lines as a combinator and its parts take, at every depth together."""

_X, _Y, _M = Ident("x"), Ident("y"), Ident("M")
_PRIMED: Final = Sup(Ident("x"), PRIME)
_EQUAL, _TO, _IN, _AT_MOST = Op("="), Op("∝"), Op("∈"), Op("≤")
_INFINITY: Final = Ident("∞")
_OF_X: Final = row(APPLY, brackets(_X))
_ANSWER: Final = row(Ident("q"), _OF_X)
_NOISE: Final = row(_Y, MINUS, _ANSWER)
_DENSITY: Final = row(Ident("f"), APPLY, brackets(_Y))
_PROBABILITY: Final = row(Ident("Pr"), APPLY, Fence("[", row(_Y, Op("|"), _X), "]"))


def law(mechanism: Mechanism) -> Box:
    """The law of a mechanism as a box: the formula, and what it holds under."""
    if isinstance(mechanism, Combinator):
        lines = list(_structure(mechanism, ()))
        left = len(lines) - MOST_LINES
        return Lines((*lines[:MOST_LINES], *((Words(f"and {left} more parts"),) if left > 0 else ())))
    said = _leaf(mechanism)
    # below each other where there are several, so that it fits a narrow page
    return comma(*said) if len(said) <= 2 else Lines(said)


def _leaf(mechanism: Leaf) -> tuple[Box, ...]:
    """The formula of a mechanism that is no combinator, and its conditions."""
    return tuple(_LEAVES[kind_of(mechanism)](mechanism))


# -- noise -----------------------------------------------------------------------------------------


def _radial(noise: Radial) -> Iterator[Box]:
    shape = _scaled(noise.profile, noise.scale)
    names, where = _named((shape,), "r", _size(noise.norm, noise.dimension), ATOM)
    yield row(_DENSITY, _TO, typeset(shape, names))
    yield from (*where, *_space(noise.dimension), *_index(noise.norm))


def _mixture(noise: Mixture) -> Iterator[Box]:
    shape = _scaled(noise.profile, noise.scale)
    names, where = _named((shape,), "r", _size(noise.norm, noise.dimension), ATOM)
    mixed = [factor(shape, names)] if noise.mixing == ONE else [factor(shape, names), DOT, factor(noise.mixing)]
    over = Limits(INTEGRAL, typeset(noise.support[0]), _INFINITY if noise.support[1] is None else typeset(noise.support[1]))
    yield row(_DENSITY, _TO, over, *mixed, Words(" d"), Ident("v"))
    yield from (*where, *_space(noise.dimension), *_index(noise.norm))


def _translation(noise: Translation) -> Iterator[Box]:
    names, where = _named((noise.density,), "z", _NOISE, SUM)
    yield row(_PROBABILITY if noise.integers else _DENSITY, _TO, typeset(noise.density, names))
    yield from where
    if noise.integers:
        yield row(_Y, _IN, Ident("ℤ"))
    yield from _within(Ident("z") if where else _NOISE, noise.support)


def _product(noise: Product) -> Iterator[Box]:
    if noise.dimension == ONE:
        yield from _translation(Translation(noise.density))
        return
    i = Ident("i")
    coordinate = row(Sub(_Y, i), MINUS, Sub(Ident("q"), i), _OF_X)
    names, where = _named((noise.density,), "z", coordinate, SUM, letter="z_i")
    over = Limits("∏", row(i, _EQUAL, Number("1")), typeset(noise.dimension))
    yield row(_DENSITY, _TO, over, factor(noise.density, names))
    yield from (*where, *_space(noise.dimension))


def _staircase(noise: Staircase) -> Iterator[Box]:
    level = call("floor", add(_held("noise"), ONE, neg(noise.gamma)))
    shape = call("exp", neg(mul(noise.epsilon, level)))
    yield row(_DENSITY, _TO, typeset(shape, {_held("noise").name: (Fence("|", _NOISE, "|"), ATOM)}))


def _elliptical_process(noise: EllipticalProcess) -> Iterator[Box]:
    scaled = typeset(mul(noise.scale, sqrt(Sym("V")), Sym("N")))
    yield row(_M, _OF_X, _EQUAL, _ANSWER, Op("+"), scaled)
    yield row(Ident("N"), Words(" a centred Gaussian process of infinite rank"))
    yield row(Sub(Ident("f"), Ident("V")), APPLY, brackets(Ident("v")), _TO, typeset(noise.mixing))
    yield from _within(Ident("v"), noise.support)


# -- finite and one-dimensional mechanisms -----------------------------------------------------------


def _kernel(kernel: Kernel) -> Iterator[Box]:
    theta = symbol("theta")
    left = row(Ident("p"), APPLY, brackets(row(_Y, Op("|"), theta)))
    yield row(left, _EQUAL, typeset(kernel.density))
    yield from (*_within(_Y, kernel.output), *_within(theta, kernel.input))


def _table(table: Table) -> Iterator[Box]:
    yield row(_PROBABILITY, _EQUAL, Sub(Ident("P"), comma(_X, _Y)))
    yield _matrix_named(Ident("P"), table.rows, "a row for each input")


def _exponential(mechanism: Exponential) -> Iterator[Box]:
    score = row(Ident("s"), APPLY, brackets(comma(_X, _Y)))
    where = [_matrix_named(Ident("s"), mechanism.scores, "a row for each input")]
    sign: Expr = ONE
    if mechanism.metric in _METRICS:
        sign, a = num(-1), Ident("a")
        score = row(Ident("d"), APPLY, brackets(comma(Sub(a, _X), Sub(a, _Y))))
        where = [row(Ident("d"), Words(f" {_METRICS[mechanism.metric]}")), _matrix_named(a, mechanism.points, "a row for each point")]
    shape = call("exp", mul(sign, mechanism.beta, _held("score")))
    yield row(_PROBABILITY, _TO, typeset(shape, {_held("score").name: (score, ATOM)}))
    yield from where


_METRICS: Final = {"l1": "the l1 distance", "l2": "the l2 distance", "linf": "the l∞ distance", "discrete": "1 between two points"}


def _kary_response(response: KaryResponse) -> Iterator[Box]:
    lie = raised(div(sub(ONE, response.p), sub(response.k, ONE)))
    yield row(_PROBABILITY, _EQUAL, Cases(((raised(response.p), row(Words("if "), _Y, _EQUAL, _X)), (lie, Words("otherwise")))))
    yield row(comma(_X, _Y), _IN, Fence("{", comma(Number("1"), Words("…"), typeset(response.k)), "}"))


def _sampled(_: Sampled) -> Iterator[Box]:
    yield row(_Y, Op("∼"), _M, _OF_X)
    yield Words("a sampled implementation without a declared law")


# -- guarantees ------------------------------------------------------------------------------------


def _guarantee(guarantee: Guarantee) -> Iterator[Box]:
    yield from (_STATEMENTS[guarantee.measure](*numbers) for numbers in guarantee.rows[:MOST_ENTRIES])
    if len(guarantee.rows) > MOST_ENTRIES:
        yield Words(f"and {len(guarantee.rows) - MOST_ENTRIES} more")


def _approximate(epsilon: Expr, delta: Expr) -> Box:
    there, here = (_event(row(_M, APPLY, brackets(at), _IN, Ident("S"))) for at in (_X, _PRIMED))
    bound = row(there, _AT_MOST, typeset(mul(call("exp", epsilon), _held("event")), {_held("event").name: (here, ATOM)}))
    return bound if delta == ZERO else row(bound, Op("+"), typeset(delta))


def _event(inside: Box) -> Box:
    return row(Ident("Pr"), APPLY, Fence("[", inside, "]"))


def _divergence(order: Expr, most: Expr) -> Box:
    pair = row(_M, _OF_X, Op("‖"), _M, APPLY, brackets(_PRIMED))
    return row(Sub(Ident("D"), raised(order)), APPLY, brackets(pair), _AT_MOST, typeset(most))


def _zcdp(rho: Expr) -> Box:
    order = Sym("alpha")
    return row(_divergence(order, mul(rho, order)), Words(" for every "), typeset(order), Op(">"), Number("1"))


def _gdp(mu: Expr) -> Box:
    shown = typeset(mu)
    return row(_M, Words(" is "), shown, Words("-GDP: no easier to tell apart than N(0, 1) and N("), shown, Words(", 1)"))


def _bounded_range(eta: Expr) -> Box:
    there, here = (row(Ident("p"), APPLY, brackets(row(_Y, Op("|"), at))) for at in (_X, _PRIMED))
    loss = row(Ident("log"), APPLY, brackets(Fraction(there, here)))
    largest, smallest = (row(Sub(Ident(name), _Y), Words(" "), loss) for name in ("max", "min"))
    return row(largest, MINUS, smallest, _AT_MOST, typeset(eta))


_STATEMENTS: Final[Mapping[str, Callable[..., Box]]] = {
    "approximate": _approximate, "renyi": _divergence, "zcdp": _zcdp, "gdp": _gdp, "bounded_range": _bounded_range,
}  # fmt: skip

_LEAVES: Final[Mapping[str, Callable[[Any], Iterator[Box]]]] = {
    "radial": _radial, "translation": _translation, "product": _product, "table": _table, "kernel": _kernel,
    "exponential": _exponential, "mixture": _mixture, "kary_response": _kary_response, "staircase": _staircase,
    "elliptical_process": _elliptical_process, "guarantee": _guarantee, "sampled": _sampled,
}  # fmt: skip


# -- combinators -----------------------------------------------------------------------------------

Path = tuple[int, ...]
"""Where a part stands: its number, after those of the parts that it is in."""


def _structure(mechanism: Combinator, path: Path, said: tuple[Box, ...] = ()) -> Iterator[Box]:
    """What a combinator does on one line, and its parts on those below. said: what is said of it as a part itself."""
    yield comma(row(_name(path), _EQUAL, _HEADLINES[kind_of(mechanism)](mechanism, path)), *said)
    for index, part in enumerate(parts_of(mechanism), 1):
        place = (*path, index)
        if isinstance(part.mechanism, Combinator):
            yield from _structure(part.mechanism, place, tuple(_moves(part)))
        else:
            yield row(_name(place), Op(":"), comma(*_leaf(part.mechanism), *_moves(part)))


def _moves(part: Part) -> Iterator[Box]:
    """What a part's answer moves by between neighbours."""
    if part.query is not None:
        yield Words(f"{len(part.query.rows)} linear queries, {part.query.adjacency} neighbours")
    elif part.sensitivity is not None:
        yield row(Words("sensitivity "), typeset(part.sensitivity))


def _name(path: Path) -> Box:
    return Sub(_M, Number(".".join(map(str, path)))) if path else _M


def _runs(parts: Sequence[Part], path: Path) -> list[Box]:
    """Each part's name, raised to how many times it is run."""
    names = [(_name((*path, index)), part.times) for index, part in enumerate(parts[:MOST_ENTRIES], 1)]
    runs = [name if times == ONE else Sup(name, row(Op("∘", prefix=True), raised(times))) for name, times in names]
    return [*runs, *([Words("…")] if len(parts) > MOST_ENTRIES else [])]


def _compose(mechanism: Compose, path: Path) -> Box:
    first, *rest = _runs(mechanism.parts, path)
    return row(first, *(part for run in rest for part in (Op("∘"), run)))


def _parallel(mechanism: Parallel, path: Path) -> Box:
    return row(brackets(comma(*_runs(mechanism.parts, path))), Words(" on disjoint parts of x"))


def _subsample(mechanism: Subsample, path: Path) -> Box:
    how = "a Poisson sample" if mechanism.scheme == "poisson" else "a sample without replacement"
    sample = row(Ident("S"), Words(f" {how} at rate "), typeset(mechanism.rate))
    return comma(row(*_runs((mechanism.part,), path), Op("∘"), Ident("S")), sample)


def _group(mechanism: Group, path: Path) -> Box:
    return comma(*_runs((mechanism.part,), path), row(Words("neighbours differ in "), typeset(mechanism.size), Words(" records")))


def _post_process(mechanism: PostProcess, path: Path) -> Box:
    named = Words(f"\u201c{mechanism.map}\u201d") if mechanism.map else Ident("g")
    return row(named, Op("∘"), *_runs((mechanism.part,), path))


def _lipschitz(mechanism: Lipschitz, path: Path) -> Box:
    t = Ident("T")
    images, inputs = (
        row(Ident("d"), APPLY, brackets(comma(*pair))) for pair in ((row(t, _OF_X), row(t, APPLY, brackets(_PRIMED))), (_X, _PRIMED))
    )
    most = typeset(mul(mechanism.constant, _held("distance")), {_held("distance").name: (inputs, ATOM)})
    return comma(row(*_runs((mechanism.part,), path), Op("∘"), t), row(images, _AT_MOST, most))


_HEADLINES: Final[Mapping[str, Callable[[Any, Path], Box]]] = {
    "compose": _compose, "subsample": _subsample, "group": _group, "post_process": _post_process, "parallel": _parallel,
    "lipschitz": _lipschitz,
}  # fmt: skip


# -- pieces ----------------------------------------------------------------------------------------


def _held(place: str) -> Sym:
    """A symbol that no claim can use, to hold a box's place in an expression."""
    return Sym(f"<{place}>")


def _named(shapes: Sequence[Expr], variable: str, value: Box, strength: int, *, letter: str = "") -> tuple[Names, list[Box]]:
    """What stands for a variable: its value where it occurs once, else a letter, and then what the letter is."""
    if sum(_count(shape, variable) for shape in shapes) <= 1:
        return {variable: (value, strength)}, []
    named = symbol(letter or variable)
    return {variable: (named, ATOM)}, [row(named, _EQUAL, value)]


def _scaled(profile: Expr, scale: Expr) -> Expr:
    """A profile in r at r / scale."""
    return profile if scale == ONE else _merged(substitute(profile, {"r": div(Sym("r"), scale)}))


def _merged(expr: Expr) -> Expr:
    """Whole powers of roots as one power: the same wherever the root is defined, as that of a scale is."""
    match expr:
        case Pow(Pow(base, Num(inner)), Num(outer)) if outer.denominator == 1:
            return power(_merged(base), num(inner * outer))
    return rebuild(expr, _merged)


def _count(expr: Expr, name: str) -> int:
    return int(expr == Sym(name)) + sum(_count(part, name) for part in children(expr))


def _size(norm: Norm, dimension: Expr) -> Box:
    """||y - q(x)||, an absolute value in one dimension."""
    if dimension == ONE and norm.kind == "lp":
        return Fence("|", _NOISE, "|")
    lp = _INFINITY if norm.p is None else raised(Num(norm.p))
    return Sub(Fence("‖", _NOISE, "‖"), lp if norm.kind == "lp" else symbol("Sigma") if norm.kind == "ellipsoid" else Ident("K"))


def _index(norm: Norm) -> Iterator[Box]:
    """What the norm's index means, where it is not a number."""
    z, a, matrix, sigma = Ident("z"), Ident("a"), Ident("A"), symbol("Sigma")
    rows = tuple(tuple(map(num, line)) for line in norm.matrix)
    if norm.kind == "ellipsoid":
        inverse = Sup(sigma, row(NEGATIVE, Number("1")))
        yield row(Sup(Sub(Fence("‖", z, "‖"), sigma), Number("2")), _EQUAL, Sup(z, Ident("⊤")), TIMES, inverse, TIMES, z)
        yield _matrix_named(sigma, rows, "symmetric")
    if norm.kind == "columns":
        yield row(Words("K the hull of ± the rows of "), matrix)
        yield _matrix_named(matrix, rows, "a row for each point")
    if norm.kind == "facets":
        product = Fence("|", row(a, DOT, z), "|")
        yield row(Words("K where "), product, _AT_MOST, Number("1"), Words(" for each row "), a, Words(" of "), matrix)
        yield _matrix_named(matrix, rows, "a row for each pair of facets")


def _space(dimension: Expr) -> Iterator[Box]:
    if dimension != ONE:
        yield row(_Y, _IN, Sup(Ident("ℝ"), raised(dimension)))


def _within(inside: Box, ends: tuple[Expr | None, Expr | None]) -> Iterator[Box]:
    """low <= inside <= high, without the ends that are infinite."""
    low, high = (None if end is None else typeset(end) for end in ends)
    if low is not None and high is not None:
        yield row(low, _AT_MOST, inside, _AT_MOST, high)
    elif low is not None:
        yield row(inside, Op("≥"), low)
    elif high is not None:
        yield row(inside, _AT_MOST, high)


def _matrix_named(name: Box, rows: Sequence[Sequence[Expr]], meaning: str) -> Box:
    """A matrix with its name; its size in words where it is too large to be read."""
    columns = max(map(len, rows), default=0)
    if len(rows) <= MOST_ENTRIES and columns <= MOST_ENTRIES:
        return row(name, _EQUAL, Matrix(tuple(tuple(map(raised, line)) for line in rows)))
    return row(name, Words(f" of {len(rows)} rows and {columns} columns, {meaning}"))

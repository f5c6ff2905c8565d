"""Kinds of mechanisms: the fields of each, and builtins as names for models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.toml import Fault, Fields, show
from dpverify.catalogue.values import (
    read_adjacent,
    read_boolean,
    read_choice,
    read_expression,
    read_interval,
    read_norm,
    read_number,
    read_points,
    read_rows,
)
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Expr,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    mul,
    neg,
    num,
    power,
    sub,
    symbols,
)
from dpverify.trusted.language.model import (
    L1,
    L2,
    EllipticalProcess,
    Exponential,
    Guarantee,
    KaryResponse,
    Kernel,
    Mechanism,
    Mixture,
    Norm,
    Product,
    Radial,
    Sampled,
    Staircase,
    Table,
    Translation,
)
from dpverify.trusted.order.compare import certainly_le, certainly_lt

COMBINATORS: Final = ("compose", "subsample", "group", "post_process", "parallel", "lipschitz")


def _density(table: Fields, name: str) -> Expr:
    """An expression given itself or by its logarithm."""
    key = table.one_of((name, f"log_{name}"))
    if key is None:
        return ONE
    expr = table.need(key, read_expression, ZERO)
    return expr if key == name else call("exp", expr)


def _norm_and_dimension(table: Fields) -> tuple[Norm, Expr]:
    dimension = table.need("dimension", read_number, None)
    # on the line all l_p norms are one
    norm = table.may("norm", read_norm, L2) if dimension == ONE else table.need("norm", read_norm, L2)
    if dimension is None:
        dimension = num(len(norm.matrix[0])) if norm.matrix else ONE
    return norm, dimension


def _radial(table: Fields) -> Radial:
    profile = _density(table, "profile")
    norm, dimension = _norm_and_dimension(table)
    return Radial(profile, norm, dimension, table.may("scale", read_number, ONE))


def _translation(table: Fields) -> Translation:
    density = _density(table, "density")
    support = table.may("support", read_interval(infinite=True), (None, None))
    return Translation(density, support, table.may("integers", read_boolean, False))


def _product(table: Fields) -> Product:
    density = _density(table, "density")
    return Product(density, table.need("dimension", read_number, ONE), table.may("norm", read_norm, L1))


def _finite(table: Fields) -> Table | None:
    adjacent = table.may("adjacent", read_adjacent, None)
    rows = table.need("rows", read_rows, None)
    return None if rows is None else Table(rows, adjacent)


def _kernel(table: Fields) -> Kernel:
    density = _density(table, "density")
    output = table.need("output", read_interval(infinite=True), (None, None))
    low, high = table.need("input", read_interval(infinite=False), (ZERO, ONE))
    assert low is not None and high is not None
    return Kernel(density, output, (low, high))


def _exponential(table: Fields) -> Exponential | None:
    beta = table.need("beta", read_number, ONE)
    adjacent = table.may("adjacent", read_adjacent, None)
    if table.has("scores"):
        scores = table.need("scores", read_rows, None)
        if table.has("points") or table.has("metric"):
            table.fault("give scores, or points with a metric, not both.")
            table.taken.update(("points", "metric"))
        return None if scores is None else Exponential(scores, beta, adjacent)
    if not table.has("points") and not table.has("metric"):
        table.fault("give scores, or points with a metric: they are missing.")
        return None
    metric = table.need("metric", _metric, None)
    points = table.may("points", read_points, ()) if isinstance(metric, tuple) else table.need("points", read_points, ())
    if metric is None or not (points or isinstance(metric, tuple)):
        return None
    distances = metric if isinstance(metric, tuple) else _distances(points, metric)
    if points and len(points) != len(distances):
        table.fault(f"metric: {len(distances)} rows of distances for {len(points)} points.")
    name = metric if isinstance(metric, str) else "given"
    return Exponential(tuple(tuple(map(neg, row)) for row in distances), beta, adjacent, points, name)


_METRICS: Final[Mapping[str, Callable[[list[Expr]], Expr]]] = {
    "l1": lambda gaps: add(*gaps),
    "l2": lambda gaps: power(add(*(power(gap, num(2)) for gap in gaps)), Num(Fraction(1, 2))),
    "linf": lambda gaps: call("max", *gaps),
    "discrete": lambda gaps: ZERO if all(gap == ZERO for gap in gaps) else ONE,
}


def _metric(value: Any) -> str | tuple[tuple[Expr, ...], ...]:
    return read_choice(tuple(_METRICS))(value) if isinstance(value, str) else read_rows(value)


def _distances(points: tuple[tuple[Expr, ...], ...], metric: str) -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(_METRICS[metric]([call("abs", sub(a, b)) for a, b in zip(p, q, strict=True)]) for q in points) for p in points)


def close_pairs(table: Fields, mechanism: Exponential, sensitivity: Expr) -> tuple[tuple[int, int], ...]:
    """The pairs of points at a distance of at most `sensitivity`."""
    pairs = []
    for i, row in enumerate(mechanism.scores):
        for j in range(i + 1, len(row)):
            distance = neg(row[j])
            if symbols(distance) | symbols(sensitivity) or not (certainly_le(distance, sensitivity) or certainly_lt(sensitivity, distance)):
                table.fault(f"sensitivity: whether points {i} and {j} are within it is not decided. List the pairs as `adjacent`.")
                return ()
            if certainly_le(distance, sensitivity):
                pairs.append((i, j))
    if not pairs:
        table.fault("sensitivity: no two points are that close, so no inputs are neighbours.")
    return tuple(pairs)


def _mixture(table: Fields) -> Mixture:
    profile, mixing = _density(table, "profile"), _density(table, "mixing")
    low, high = table.may("support", read_interval(infinite=True), (ZERO, None))
    if low is None:
        table.fault("support: the mixing law must start at a finite number.")
    norm, dimension = _norm_and_dimension(table)
    return Mixture(profile, mixing, (low or ZERO, high), norm, dimension, table.may("scale", read_number, ONE))


def _guarantee(table: Fields) -> Guarantee | None:
    """One measure, and its numbers."""
    key = table.one_of(_GUARANTEES)
    if key is None:
        table.taken.add("delta")
        return None
    if key == "epsilon":
        epsilon, delta = table.need("epsilon", read_number, None), table.may("delta", read_number, ZERO)
        return None if epsilon is None or delta is None else Guarantee("approximate", ((epsilon, delta),))
    if table.has("delta"):
        table.taken.add("delta")
        table.fault(f"delta goes with epsilon, not with {key}.")
    if key in ("curve", "renyi"):
        rows = table.need(key, _pairs_of_numbers, None)
        return None if rows is None else Guarantee("approximate" if key == "curve" else key, rows)
    value = table.need(key, read_number, None)
    return None if value is None else Guarantee(key, ((value,),))


_GUARANTEES: Final = ("epsilon", "curve", "zcdp", "gdp", "renyi", "bounded_range")


def _pairs_of_numbers(value: Any) -> tuple[tuple[Expr, ...], ...]:
    rows = read_rows(value)
    if len(rows[0]) != 2:
        raise Fault("is not a list of pairs [first, second].")
    if len(rows) > MOST_ROWS:
        raise Fault(f"has {len(rows)} pairs; at most {MOST_ROWS}.")
    return rows


MOST_ROWS: Final = 64
"""The most points of one guarantee."""


def _elliptical_process(table: Fields) -> EllipticalProcess:
    scale = table.may("scale", read_number, ONE)
    key = table.one_of(("mixing", "log_mixing", "nu"))
    if key == "nu":
        nu, v = table.need("nu", read_number, ONE), Sym("v")
        if isinstance(nu, Num) and nu.value <= 0:
            table.fault(f"nu = {show(table.data['nu'])} is not positive.")
        half = div(nu, num(2))  # V = nu/chi^2 with nu degrees of freedom
        return EllipticalProcess(mul(power(v, sub(num(-1), half)), call("exp", neg(div(half, v)))), scale=scale)
    mixing = ONE if key is None else table.need(key, read_expression, ONE)
    low, high = table.may("support", read_interval(infinite=True), (ZERO, None))
    if not isinstance(low, Num) or low.value < 0 or not (high is None or isinstance(high, Num)):
        table.fault("support: the law of a variance lives between rational numbers of at least 0; the upper end may be inf.")
    return EllipticalProcess(call("exp", mixing) if key == "log_mixing" else mixing, (low or ZERO, high), scale)


READERS: Final[Mapping[str, Callable[[Fields], Mechanism | None]]] = {
    "radial": _radial, "translation": _translation, "product": _product, "table": _finite, "kernel": _kernel,
    "exponential": _exponential, "mixture": _mixture,
    "elliptical_process": _elliptical_process, "guarantee": _guarantee, "sampled": lambda table: Sampled(),
}  # fmt: skip


def read_kind(value: Any) -> str:
    """A kind's name."""
    return read_choice((*READERS, "builtin", *COMBINATORS))(value)


# -- builtins: names for models ----------------------------------------------------------------------------

_R, _Z = Sym("r"), Sym("z")
Parameters = Mapping[str, Expr]


def _laplace(p: Parameters) -> Mechanism:
    dimension = p.get("dimension", ONE)
    if dimension == ONE:
        return Radial(call("exp", neg(_R)), L1, ONE, p["scale"])
    return Product(call("exp", neg(div(call("abs", _Z), p["scale"]))), dimension)


def _gaussian(p: Parameters) -> Mechanism:
    return Radial(call("exp", mul(Num(Fraction(-1, 2)), power(_R, num(2)))), L2, p.get("dimension", ONE), p["sigma"])


def _discrete_laplace(p: Parameters) -> Mechanism:
    return Translation(call("exp", neg(div(call("abs", _Z), p["scale"]))), integers=True)


def _discrete_gaussian(p: Parameters) -> Mechanism:
    return Translation(call("exp", neg(div(power(_Z, num(2)), mul(num(2), power(p["sigma"], num(2)))))), integers=True)


def _randomized_response(p: Parameters) -> Mechanism:
    truth, lie = p["p"], sub(ONE, p["p"])
    return Table(((truth, lie), (lie, truth)))


def _student_t(p: Parameters) -> Mechanism:
    nu, d = p["nu"], p["dimension"]
    exponent = mul(Num(Fraction(-1, 2)), add(nu, d))
    return Radial(Pow(add(ONE, div(power(_R, num(2)), nu)), exponent), L2, d, p.get("scale", ONE))


def _knorm(p: Parameters) -> Mechanism:
    """On the line, until the reader puts the body in (theory#gauges)."""
    return Radial(call("exp", neg(mul(p["epsilon"], _R))), L1, ONE)


BUILTINS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Parameters], Mechanism]]]] = {
    "laplace": (("scale",), ("dimension",), _laplace),
    "gaussian": (("sigma",), ("dimension",), _gaussian),
    "discrete_laplace": (("scale",), (), _discrete_laplace),
    "discrete_gaussian": (("sigma",), (), _discrete_gaussian),
    "staircase": (("epsilon", "gamma"), (), lambda p: Staircase(p["epsilon"], p["gamma"])),
    "randomized_response": (("p",), (), _randomized_response),
    "k_randomized_response": (("k", "p"), (), lambda p: KaryResponse(p["k"], p["p"])),
    "student_t": (("nu", "dimension"), ("scale",), _student_t),
    "knorm": (("epsilon",), (), _knorm),
}
"""Each builtin: the parameters it needs, those it may have, and its model."""
POSITIVE: Final = ("scale", "sigma", "nu", "epsilon")
"""Parameters of builtins that must be positive."""

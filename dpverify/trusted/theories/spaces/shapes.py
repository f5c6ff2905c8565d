"""Metric spaces of answers as they are declared: that they are ones, how wide they are, and what is asked of a claim about one.

What the numbers of each kind are is said beside its check, and in theory#metric-spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Final

from dpverify.trusted.geometry.lengths import norm_faults, norm_value
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    format_expr,
    mul,
    neg,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.kernel.model import L2, Claim, Domain, Norm, Shape, Space
from dpverify.trusted.language.calls import subtrees

Domains = Mapping[str, Domain]

RULE: Final = "metric-space"
K: Final = Sym("k")
LEVELS: Final = Domain(Fraction(1), None, lower_open=False, integer=True)
"""The numbers of the axes of a sequence ellipsoid."""
MOST_DIMENSIONS: Final = 10_000
MOST_SIDES: Final = 12
"""Of a box all of whose diagonals are measured."""
RADII: Final = Domain(Fraction(0))

NET: Final = "the answers have a net of the stated size for every radius"
SEPARATED: Final = "infinitely many answers are apart by at least the stated distance, any two of them"
MANY: Final = "there are infinitely many answers"


def asked(claim: Claim, rule: str, one: bool = False) -> tuple[Space, Expr, Expr]:
    """The space of a claim, how near its answers are to be, and with which probability they may be further. Raises Rejected.

    one: whether the rule speaks of one mechanism that is given, too; else only of any.
    """
    space, near, beta = claim.mechanism, claim.within, claim.beta
    domains = dict(claim.domains)
    if not isinstance(space, Space) or near is None or beta is None:
        raise Rejected(rule, "the claim", "this rule is about a space, with `within` and `beta`")
    if not certainly_lt(ZERO, near, domains):
        raise Rejected(rule, "within", f"{format_expr(near)} is not certainly positive")
    if not (certainly_lt(ZERO, beta, domains) and certainly_lt(beta, ONE, domains)):
        raise Rejected(rule, "beta", f"{format_expr(beta)} is not certainly between 0 and 1")
    if not one and (space.table or space.rate is not None):
        raise Rejected(rule, "the mechanism", "it is given, and this rule would choose another")
    return space, near, beta


def require(space: Space, domains: Domains) -> None:
    """Raises Rejected for what is not certainly a metric space, and where no databases are as they are declared."""
    check(space.shape, domains)
    if space.table or space.rate is not None:
        _given(space, domains)
    _positive("lipschitz", space.lipschitz, domains)
    if space.databases == "bounded":
        if space.diameter is None:
            raise Rejected(RULE, "diameter", "bounded databases need one")
        _positive("diameter", space.diameter, domains)
        reach = mul(space.lipschitz, space.diameter)
        for wide, over in spread(space.shape):
            if not at_most(wide, reach, domains, over):
                why = f"no databases are so near: answers {format_expr(wide)} apart are not certainly within {format_expr(reach)}"
                raise Rejected(RULE, "diameter", why)
    elif space.databases == "listed":
        _listed(space)
    elif space.databases not in ("answers", "unbounded"):
        raise Rejected(RULE, "databases", f"{space.databases[:40]!r} is not bounded, unbounded, answers or listed")


def check(shape: Shape, domains: Domains) -> None:
    """Raises Rejected for what is not certainly a metric space that has a point."""
    if shape.kind not in _CHECKS:
        raise Rejected(RULE, "the space", f"{shape.kind[:40]!r} is none that is known: {', '.join(_CHECKS)}")
    if shape.kind not in _NORMED and shape.norm != L2:
        raise Rejected(RULE, "norm", f"a space of the kind {shape.kind} has a distance of its own, and no norm")
    _CHECKS[shape.kind](shape, domains)


def dimension(shape: Shape) -> int:
    """Of a box, a ball, a sphere, a hull or R^d. Raises Rejected where that is no whole number."""
    if shape.kind == "box":
        return len(shape.numbers)
    if shape.kind == "hull":
        return len(shape.matrix[0])
    last = shape.numbers[-1]
    return _whole("dimension", last)


def of_level(shape: Shape, level: int) -> Expr:
    """How many children a node of a tree has at a depth."""
    branching = shape.numbers[2:]
    return substitute(branching[min(level, len(branching) - 1)], {"k": num(level)})


def apart_at(shape: Shape, level: Expr) -> Expr:
    """How far two leaves of a tree are apart that part at a depth; how wide a piece of a Cantor set is after so many steps."""
    scale, ratio = shape.numbers[:2]
    return mul(scale, power(ratio, level))


def together(norm: Norm, lengths: Iterable[Expr]) -> Expr:
    """The lp norm of expressions that are at least 0."""
    if norm.p is None:
        return call("max", *lengths)
    return power(add(*(power(length, Num(norm.p)) for length in lengths)), Num(1 / norm.p))


def spread(shape: Shape) -> list[tuple[Expr, Domains]]:
    """Expressions of which the greatest is how far apart answers are, with the domains of variables that each may be in.

    Where that is only stated to be finite it is 0. Raises Rejected where answers are as far apart as you like.
    """
    kind, numbers = shape.kind, shape.numbers
    if kind in ("real", "integers"):
        raise Rejected(RULE, "diameter", "answers are as far apart as you like, so databases are not at most so far apart")
    if kind == "box" and shape.norm.kind == "lp":
        return [(together(shape.norm, numbers), {})]
    if kind == "box":
        return [(_diagonal(shape), {})]
    if kind in ("ball", "sphere"):
        return [(mul(num(2), numbers[0]), {})]
    if kind == "points":
        return [(Num(max(map(max, shape.matrix))), {})]
    if kind == "hull":
        corners = shape.matrix
        return [
            (norm_value(shape.norm, tuple(a - b for a, b in zip(p, q, strict=True))), {})
            for i, p in enumerate(corners)
            for q in corners[:i]
        ]
    if kind == "ellipsoid":
        return [(mul(num(2), call("abs", one)), {"k": over}) for one, over in classes(numbers[0])]
    if kind == "hoelder":
        return [(mul(num(2), numbers[3]), {})]
    if kind in ("cantor", "discrete", "separated"):
        return [(numbers[0], {})]
    if kind in ("tree", "infinite_tree"):
        count = len(numbers) - 2
        level = next((j for j in range(count) if of_level(shape, j) != ONE), count)
        return [(apart_at(shape, num(level)), {})]
    if kind == "net":
        return [(ZERO, {})]
    parts = [_alternatives(part, number) for number, part in enumerate(shape.parts)]
    return [
        (together(shape.norm, [wide for wide, _ in one]), {name: over for _, each in one for name, over in each.items()})
        for one in product(*parts)
    ]


def _diagonal(shape: Shape) -> Expr:
    """How far apart points of a box are at most in a norm that is no lp norm; of many sides, or unknown ones, what their sum is at most."""
    count = len(shape.numbers)
    if shape.norm.kind == "facets":
        rows = (zip(row, shape.numbers, strict=True) for row in shape.norm.matrix)
        return call("max", *(add(*(mul(Num(abs(a)), side) for a, side in row)) for row in rows))
    sides = [side.value for side in shape.numbers if isinstance(side, Num)]
    if len(sides) == count <= MOST_SIDES:
        return call("max", *(norm_value(shape.norm, corner) for corner in product(sides[:1], *((side, -side) for side in sides[1:]))))
    axes = [tuple(Fraction(int(i == j)) for j in range(count)) for i in range(count)]
    return add(*(mul(side, norm_value(shape.norm, axis)) for side, axis in zip(shape.numbers, axes, strict=True)))


def _alternatives(part: Shape, number: int) -> list[tuple[Expr, Domains]]:
    """The spread of a part of a product: the greatest of what is known, and what has variables, which are its own."""
    known, others = [], []
    for wide, over in spread(part):
        first = substitute(wide, {name: Num(each.lower) for name, each in over.items() if each.lower is not None})
        if not over or at_most(wide, first, {}, over):
            known.append(first)
            continue
        names = {name: Sym(f"{name}__{number}") for name in over}  # no parameter is named so
        others.append((substitute(wide, names), {names[name].name: each for name, each in over.items()}))
    return [(call("max", *known), {}), *others] if known else [*others]


# -- axes ------------------------------------------------------------------------------------------------------


def classes(axis: Expr, first: int = 1) -> list[tuple[Expr, Domain]]:
    """Axes from a number on, in classes of numbers that leave the same remainder, so that floor(k/n) is no more in them.

    Each is an expression in k with the whole numbers that k ranges over.
    """
    period = lcm(*(_period(part.args[0]) for part in subtrees(axis) if isinstance(part, Call) and part.name == "floor"))
    if period == 1:
        return [(axis, replace(LEVELS, lower=Fraction(first)))]
    return [(along(axis, period, first + place), LEVELS) for place in range(period)]


def along(axis: Expr, step: int, start: int) -> Expr:
    """The axes start, start + step, start + 2 step, ... as an expression in k = 1, 2, ..."""
    return _settled(substitute(axis, {"k": add(mul(num(step), K), num(start - step))}))


def tamed(axis: Expr) -> Expr:
    """Axes that are at least as long, without erfc: erfc(u) <= exp(-u^2) for u >= 0, as a factor or a power of one above 0."""
    return mul(*map(_tamed, axis.args)) if isinstance(axis, Mul) else _tamed(axis)


def _tamed(factor: Expr) -> Expr:
    base, exponent = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, ONE)
    if not (isinstance(base, Call) and base.name == "erfc" and certainly_le(ZERO, exponent)):
        return factor
    [u] = base.args
    return power(call("exp", neg(power(u, num(2)))), exponent) if certainly_le(ZERO, u, {"k": LEVELS}) else factor


def _period(expr: Expr) -> int:
    """The denominator of the slope in k; 1 where there is none that is rational."""
    slope = sub(substitute(expr, {"k": add(K, ONE)}), expr)
    return slope.value.denominator if isinstance(slope, Num) else 1


def _settled(expr: Expr) -> Expr:
    """The expression with floor(n k + c) taken apart, k and n being whole."""
    expr = rebuild(expr, _settled)
    if isinstance(expr, Call) and expr.name == "floor":
        inside = expr.args[0]
        start = substitute(inside, {"k": ZERO})
        slope = sub(substitute(inside, {"k": ONE}), start)
        whole = isinstance(slope, Num) and slope.value.denominator == 1
        if whole and sub(inside, add(mul(slope, K), start)) == ZERO:
            return add(mul(slope, K), call("floor", start))
    return expr


def at_most(size: Expr, most: Expr, domains: Domains, over: Domains) -> bool:
    """Whether an expression is certainly at most another: as it stands, or, with variables, by logarithms of positive ones."""
    everywhere = {**domains, **over}
    if certainly_le(size, most, everywhere):
        return True
    try:
        return certainly_le(logarithm(size, everywhere), logarithm(most, everywhere), everywhere)
    except Rejected:
        return False


def logarithm(expr: Expr, domains: Domains) -> Expr:
    """The logarithm, of products and powers taken apart. Raises Rejected for a factor that is not certainly positive."""
    if isinstance(expr, Mul):
        return add(*(logarithm(factor, domains) for factor in expr.args))
    if isinstance(expr, Pow):
        return mul(expr.exponent, logarithm(expr.base, domains))
    if isinstance(expr, Call) and expr.name == "exp":
        return expr.args[0]
    if isinstance(expr, Call) and expr.name == "abs":
        return logarithm(expr.args[0], domains)  # which is positive, as its factors are
    if not certainly_lt(ZERO, expr, domains):
        raise Rejected(RULE, "the axes", f"{format_expr(expr)} is not certainly positive")
    return call("log", expr)


# -- what each kind is made of ---------------------------------------------------------------------------------


def _positive(name: str, value: Expr, domains: Domains) -> None:
    if not certainly_lt(ZERO, value, domains):
        raise Rejected(RULE, name, f"{format_expr(value)} is not certainly positive")


def _numbers(shape: Shape, count: int) -> None:
    if len(shape.numbers) != count or shape.matrix or shape.parts:
        raise Rejected(RULE, "the space", f"a space of the kind {shape.kind} has {count} numbers, and no more")


def _normed(shape: Shape) -> None:
    if faults := norm_faults(shape.norm, dimension(shape)):
        raise Rejected(RULE, "norm", " ".join(faults))


def _box(shape: Shape, domains: Domains) -> None:
    """The sides of a box, or of its inside."""
    if not shape.numbers or shape.matrix or shape.parts:
        raise Rejected(RULE, "sides", "a box has at least one, and nothing else")
    for side in shape.numbers:
        _positive("sides", side, domains)
    _normed(shape)


def _ball(shape: Shape, domains: Domains) -> None:
    """The radius of a ball, or of a sphere, of the norm, and its dimension."""
    _numbers(shape, 2)
    _positive("radius", shape.numbers[0], domains)
    _normed(shape)


def _hull(shape: Shape, _: Domains) -> None:
    """The corners of a convex polytope."""
    if shape.numbers or shape.parts or not shape.matrix or not shape.matrix[0] or len({len(row) for row in shape.matrix}) != 1:
        raise Rejected(RULE, "corners", "they must be at least one, of one length")
    _normed(shape)


def _points(shape: Shape, _: Domains) -> None:
    """The distances between finitely many points: a metric, in exact rationals."""
    if shape.numbers or shape.parts:
        raise Rejected(RULE, "the space", "finitely many points have a matrix of distances, and no more")
    metric("distances", shape.matrix)


def metric(name: str, rows: tuple[tuple[Fraction, ...], ...]) -> None:
    """Raises Rejected for a matrix that is no metric."""
    size = range(len(rows))
    if not rows or any(len(row) != len(rows) for row in rows):
        raise Rejected(RULE, name, "it is not a square matrix")
    for i in size:
        for j in size:
            if rows[i][j] != rows[j][i] or (rows[i][j] <= 0 if i != j else rows[i][j] != 0):
                raise Rejected(RULE, name, f"entry {i}, {j}: distances are 0 from a point to itself, else positive, and symmetric")
    for i in size:
        for j in size[:i]:
            direct = rows[i][j]
            if any(a + b < direct for a, b in zip(rows[i], rows[j], strict=True)):
                raise Rejected(RULE, name, f"entry {i}, {j}: a way over a third point is shorter")


def _tree(shape: Shape, domains: Domains) -> None:
    """The distance at the root, the factor from one depth to the next, and how many children nodes have, the last again and again.

    An infinite tree has infinitely many children at the depth after those that are named.
    """
    wide = shape.kind == "infinite_tree"
    if len(shape.numbers) < (2 if wide else 3) or shape.matrix or shape.parts:
        raise Rejected(RULE, "the space", "a tree has a scale, a ratio, and how many children nodes have")
    scale, ratio, *branching = shape.numbers
    _positive("scale", scale, domains)
    _positive("ratio", ratio, domains)
    if not certainly_lt(ratio, ONE, domains):
        raise Rejected(RULE, "ratio", f"{format_expr(ratio)} is not certainly below 1")
    for depth, count in enumerate(branching):
        last = depth == len(branching) - 1 and not wide
        if not _counts(count, last) or not certainly_le(ONE, substitute(count, {"k": num(depth)})):
            raise Rejected(
                RULE, "branching", f"{format_expr(count)} is not certainly a whole number of at least 1 that does not fall with the depth"
            )


def _counts(expr: Expr, open_end: bool) -> bool:
    """Whether it is a whole number at every depth, and never falls: sums, products and powers of whole numbers and of k."""
    if isinstance(expr, Num):
        return expr.value.denominator == 1 and expr.value >= 0
    if isinstance(expr, Add | Mul):
        return all(_counts(part, open_end) for part in expr.args)
    if isinstance(expr, Pow):
        grows = isinstance(expr.exponent, Num) or certainly_le(ONE, expr.base)
        return grows and _counts(expr.base, open_end) and _counts(expr.exponent, open_end)
    return open_end and expr == K


def _cantor(shape: Shape, domains: Domains) -> None:
    """The length of an interval, and the share of it that each of the two pieces at its ends keeps, again and again."""
    _numbers(shape, 2)
    scale, ratio = shape.numbers
    _positive("scale", scale, domains)
    _positive("ratio", ratio, domains)
    if not certainly_lt(ratio, Num(Fraction(1, 2)), domains):
        raise Rejected(RULE, "ratio", f"{format_expr(ratio)} is not certainly below 1/2")


def _ellipsoid(shape: Shape, domains: Domains) -> None:
    """The length of the k-th axis, an expression in k = 1, 2, ...; the distance is that of square-summable sequences."""
    _numbers(shape, 1)
    axis = shape.numbers[0]
    if not all(_has_value(one, {**domains, "k": over}) for one, over in classes(axis)):
        raise Rejected(RULE, "axes", f"{format_expr(axis)} does not certainly have a value at k = 1, 2, ...")


def _has_value(expr: Expr, domains: Domains) -> bool:
    """Whether it certainly has a value: its absolute value is at least 0; powers with k in their exponents have positive bases."""
    if isinstance(expr, Add | Mul):
        return all(_has_value(part, domains) for part in expr.args)
    if isinstance(expr, Pow) and "k" in symbols(expr.exponent):
        return certainly_lt(ZERO, expr.base, domains) and _has_value(expr.exponent, domains)
    return certainly_le(ZERO, call("abs", expr), domains)


def _hoelder(shape: Shape, domains: Domains) -> None:
    """Functions on [0, 1]^m with |f| <= B and |f(s) - f(t)| <= L |s - t|^a in the maximum norm, and the uniform distance: m, L, a, B."""
    _numbers(shape, 4)
    _, constant, exponent, bound = shape.numbers
    for name, value in (("constant", constant), ("exponent", exponent), ("bound", bound)):
        _positive(name, value, domains)
    if not certainly_le(exponent, ONE, domains):
        raise Rejected(RULE, "exponent", f"{format_expr(exponent)} is not certainly at most 1")
    cubes(shape)


def cubes(shape: Shape) -> int:
    """The dimension of the cube that functions are on."""
    return _whole("dimension", shape.numbers[0])


def _whole(name: str, value: Expr) -> int:
    if not isinstance(value, Num) or value.value.denominator != 1 or not 1 <= value.value <= MOST_DIMENSIONS:
        raise Rejected(RULE, name, f"{format_expr(value)} is not a whole number from 1 to {MOST_DIMENSIONS}")
    return int(value.value)


def _real(shape: Shape, _: Domains) -> None:
    """All of R^d, of this dimension."""
    _numbers(shape, 1)
    _normed(shape)


def _integers(shape: Shape, _: Domains) -> None:
    """All integers, with |i - j|."""
    _numbers(shape, 0)


def _distance(shape: Shape, domains: Domains) -> None:
    """Infinitely many points that are all equally far apart; or infinitely many among others that are at least so far apart."""
    _numbers(shape, 1)
    _positive("distance", shape.numbers[0], domains)


def _net(shape: Shape, domains: Domains) -> None:
    """How many points of it a net needs at radius r."""
    _numbers(shape, 1)
    if not certainly_le(ONE, shape.numbers[0], {**domains, "r": RADII}):
        raise Rejected(RULE, "size", f"{format_expr(shape.numbers[0])} is not certainly at least 1 for every r > 0")


def _product(shape: Shape, domains: Domains) -> None:
    """Tuples with a point of each part; the distance is an lp norm of their distances."""
    if not shape.parts or shape.numbers or shape.matrix:
        raise Rejected(RULE, "parts", "a product has at least one, and no numbers of its own")
    if shape.norm.kind != "lp" or (shape.norm.p is not None and shape.norm.p < 1):
        raise Rejected(RULE, "norm", "distances of a product come together in an lp norm")
    for part in shape.parts:
        check(part, domains)


CONVEX: Final = ("real", "box", "ball", "hull")
"""Convex sets, on which a mechanism may have a density."""
_NORMED: Final = ("box", "ball", "sphere", "hull", "real", "product")

_CHECKS: Final[Mapping[str, Callable[[Shape, Domains], None]]] = {
    "points": _points, "box": _box, "ball": _ball, "sphere": _ball, "hull": _hull, "tree": _tree, "infinite_tree": _tree,
    "cantor": _cantor, "ellipsoid": _ellipsoid, "hoelder": _hoelder, "real": _real, "integers": _integers, "discrete": _distance,
    "separated": _distance, "net": _net, "product": _product,
}  # fmt: skip


def _given(space: Space, domains: Domains) -> None:
    """One mechanism: on finitely many points a table of probabilities with a row for each database, or a rate; on convex sets a rate."""
    if space.rate is not None and not space.table and space.shape.kind in CONVEX:
        _positive("rate", space.rate, domains)
        return
    if space.shape.kind != "points" or (space.table and space.rate is not None):
        raise Rejected(RULE, "the mechanism", "one is given on finitely many points, by a table or a rate, or on a convex set, by a rate")
    if space.rate is not None and (symbols(space.rate) or not certainly_le(ZERO, space.rate)):
        raise Rejected(RULE, "rate", f"{format_expr(space.rate)} is not certainly a number of at least 0")
    answers = len(space.shape.matrix)
    databases = len(space.distances) if space.databases == "listed" else answers
    if space.table and (len(space.table) != databases or any(len(row) != answers or min(row) < 0 or sum(row) != 1 for row in space.table)):
        raise Rejected(RULE, "table", "it must have a row for each database, of probabilities of all answers with the sum 1")


def _listed(space: Space) -> None:
    """Databases with a matrix of distances: q is Lipschitz with the declared constant, and every point is the answer of one."""
    if space.shape.kind != "points":
        raise Rejected(RULE, "databases", "they are listed for finitely many points alone")
    metric("databases", space.distances)
    count = len(space.shape.matrix)
    if len(space.truth) != len(space.distances) or sorted(set(space.truth)) != list(range(count)):
        raise Rejected(RULE, "truth", "it must name the answer of each database, and every answer once at least")
    answers, apart = space.shape.matrix, space.distances
    pairs = ((i, j) for i in range(len(apart)) for j in range(i))
    most = max((answers[space.truth[i]][space.truth[j]] / apart[i][j] for i, j in pairs), default=Fraction(0))
    if not certainly_le(Num(most), space.lipschitz):
        raise Rejected(RULE, "lipschitz", f"answers move by up to {most} at distance 1, which is too far")

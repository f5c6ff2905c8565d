"""Norms, gauges and sensitivities, exact over the rationals (theory#gauges).

Every value is an exact expression: a rational, a root of one, or the largest of several where their
order is not rational arithmetic. Gauges of a hull of points are linear programs: their optimum comes
as evidence, a primal and a dual solution, and is re-checked here.

Evidence of gauges, for a list of vectors z_0, z_1, ...:
  value   the largest gauge t, an exact rational as text ("3/2");
  primal  one mapping per vector, index of a point to its weight: sum of w_k point_k = z, sum of |w_k| <= t;
  worst   the index of a vector whose gauge is t;
  dual    the coordinates of v with |<v, point>| <= 1 for every point and <v, z_worst> = t.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb
from typing import Final

from flint import fmpq, fmpq_mat, fmpq_poly

from dpverify.trusted.language.errors import Rejected, Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, Num, add, call, mul, num, power, sqrt
from dpverify.trusted.language.model import LINF, Matrix, Norm, Query

Vector = tuple[Fraction, ...]

ADJACENCIES: Final = ("add-remove", "replace", "l1", "l2")
MAX_SIGNS: Final = 16
"""Greatest dimension whose 2^(d - 1) sign vectors are tried one by one."""
MAX_VERTICES: Final = 20_000
"""Greatest number of candidate vertices that are tried one by one."""
MAX_BITS: Final = 10_000
"""Greatest length of a power sum, so that it can be printed."""
ROOT_BITS: Final = 256
"""Relative precision of an eigenvalue that is neither rational nor a quadratic irrational."""

_RATIONAL: Final = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The largest distance between the answers on adjacent histograms: lower <= it <= upper, the same expression where exact.

    at: a difference of answers that is this far, where one is rational and known.
    """

    upper: Expr
    lower: Expr
    at: Vector | None = None

    @property
    def exact(self) -> bool:
        """Whether both bounds are the one value."""
        return self.upper == self.lower


# -- what is wrong with a norm or a query -----------------------------------------------------------


def norm_faults(norm: Norm, dimension: int) -> list[str]:
    """All that keeps `norm` from being a norm on R^dimension, one line each; empty for a norm."""
    return list(_norm_faults(norm, dimension))


@lru_cache(maxsize=256)
def _norm_faults(norm: Norm, dimension: int) -> tuple[str, ...]:
    if dimension < 1:
        return (f"dimension {dimension} is not a positive integer.",)
    if norm.kind == "lp":
        if norm.p is not None and norm.p < 1:
            return (f"lp norm: p = {norm.p} is below 1, where the triangle inequality fails. Use p >= 1.",)
        return ()
    if norm.kind not in ("ellipsoid", "columns", "facets"):
        return (f"unknown norm {norm.kind!r}. Use lp, ellipsoid, columns or facets.",)
    if not norm.matrix:
        return (f"{norm.kind}: the list is empty. Give {dimension} or more rows of {dimension} numbers.",)
    faults = [
        f"{norm.kind}: row {i + 1} has {len(row)} numbers where the dimension is {dimension}."
        for i, row in enumerate(norm.matrix)
        if len(row) != dimension
    ]
    if norm.kind == "ellipsoid" and len(norm.matrix) != dimension:
        faults.append(f"ellipsoid: Sigma has {len(norm.matrix)} rows where the dimension is {dimension}.")
    if faults:
        return tuple(faults)
    if norm.kind == "ellipsoid":
        return tuple(_ellipsoid_faults(norm.matrix))
    rank = _mat(norm.matrix).rank()
    if rank < dimension:
        span = f"the rows span {rank} of {dimension} dimensions"
        what = f"so that K has no interior: {span}" if norm.kind == "columns" else f"so that the unit ball is unbounded: {span}"
        return (f"{norm.kind}: they do not span R^{dimension}, {what}. Add rows outside that span.",)
    return ()


def _ellipsoid_faults(sigma: Matrix) -> Iterator[str]:
    size = range(len(sigma))
    lopsided = [(i, j) for i in size for j in range(i) if sigma[i][j] != sigma[j][i]]
    for i, j in lopsided:
        yield (
            f"ellipsoid: Sigma is not symmetric: entry ({i + 1}, {j + 1}) is {sigma[i][j]} and ({j + 1}, {i + 1}) is {sigma[j][i]}. "
            "Make them equal."
        )
    # The eigenvalues of a symmetric matrix are real: all of -Sigma's are below 0 exactly for a positive definite Sigma.
    if not lopsided and not _roots_below((-_mat(sigma)).charpoly(), fmpq(0)):
        yield "ellipsoid: Sigma is not positive definite. Give a covariance whose eigenvalues are all above 0."


def query_faults(query: Query, dimension: int) -> list[str]:
    """All that keeps `query` from being a linear query with answers in R^dimension, one line each."""
    faults = []
    if query.adjacency not in ADJACENCIES:
        faults.append(f"unknown adjacency {query.adjacency!r}. Use {', '.join(ADJACENCIES)}.")
    if len(query.rows) != dimension:
        faults.append(f"query: {len(query.rows)} rows where the dimension is {dimension}. Each row is one linear query.")
    widths = sorted({len(row) for row in query.rows})
    if len(widths) > 1:
        faults.append(f"query: rows of different lengths {widths}. Give each row one number per record type.")
    elif widths == [0] or not widths:
        faults.append("query: no columns. Give each row one number per record type.")
    return faults


def _require(where: str, faults: Sequence[str]) -> None:
    if faults:
        raise Rejected("geometry", where, " ".join(faults))


# -- norms of vectors -------------------------------------------------------------------------------


def norm_value(norm: Norm, vector: Vector, evidence: object = None) -> Expr:
    """The exact value of ||vector||.

    evidence: a gauge certificate of the one vector, for a norm by columns only.
    Raises Rejected for what is no norm or a certificate that fails, Undecided where a certificate is missing.
    """
    _require("norm", norm_faults(norm, len(vector)))
    return _largest(norm, (vector,), evidence)[0]


def _largest(norm: Norm, vectors: Sequence[Vector], evidence: object) -> tuple[Expr, Vector | None]:
    """The largest norm among the vectors, and the one that has it where the comparison is rational."""
    if norm.kind == "columns":
        value, worst = _gauge(norm.matrix, vectors, evidence)
        return Num(value), vectors[worst]
    if norm.kind == "facets":
        return _pick(vectors, [max(abs(_dot(row, v)) for row in norm.matrix) for v in vectors], lambda size: size)
    if norm.kind == "ellipsoid":
        return _pick(vectors, _mahalanobis_squares(norm.matrix, vectors), sqrt)
    p = norm.p
    if p is None:
        return _pick(vectors, [max(map(abs, v)) for v in vectors], lambda size: size)
    sums = [_power_sum(v, p) for v in vectors]
    known = [total.value for total in sums if isinstance(total, Num)]
    if len(known) == len(sums):
        return _pick(vectors, known, lambda size: power(size, Num(1 / p)))
    # Powers that are not rational: a vector below another in every sorted coordinate is not the largest.
    shapes = {tuple(sorted(map(abs, v), reverse=True)): v for v in vectors}
    kept = [s for s in shapes if not any(s != t and all(a <= b for a, b in zip(s, t, strict=True)) for t in shapes)]
    values = [mul(Num(s[0]), power(_power_sum(tuple(x / s[0] for x in s), p), Num(1 / p))) for s in kept]
    return call("max", *values), shapes[kept[0]] if len(kept) == 1 else None


def _pick(vectors: Sequence[Vector], sizes: Sequence[Fraction], finish: Callable[[Expr], Expr]) -> tuple[Expr, Vector]:
    """The vector of the largest size; `finish` is increasing and turns the size into the norm."""
    worst = max(range(len(sizes)), key=sizes.__getitem__)
    return finish(Num(sizes[worst])), vectors[worst]


def _power_sum(vector: Vector, p: Fraction) -> Expr:
    """The sum of |x|^p. Raises Undecided where that is a rational too long to write down."""
    total = add(*(power(Num(abs(x)), Num(p)) for x in vector))
    if isinstance(total, Num) and max(total.value.numerator.bit_length(), total.value.denominator.bit_length()) > MAX_BITS:
        raise Undecided(f"powers with p = {p} have more than {MAX_BITS} bits. Use the maximum norm, or state the sensitivity itself.")
    return total


def _mahalanobis_squares(sigma: Matrix, vectors: Sequence[Vector]) -> list[Fraction]:
    """z' Sigma^-1 z for every vector z."""
    solved = _mat(sigma).solve(_mat(vectors).transpose()).transpose().tolist()
    return [_dot(z, [_fraction(entry) for entry in row]) for z, row in zip(vectors, solved, strict=True)]


# -- gauges -----------------------------------------------------------------------------------------


def _gauge(points: Matrix, vectors: Sequence[Vector], evidence: object) -> tuple[Fraction, int]:
    """The largest gauge of the vectors in the hull of + and - the points, and the index of a vector that has it.

    Weak duality of linear programs (theory#gauges): weights w bound the gauge by the sum of |w|, and v bounds it from below by <v, z>.
    """
    if not evidence:
        raise Undecided("the norm by columns needs a gauge certificate: the optimum of a linear program, primal and dual.")
    if not isinstance(evidence, Mapping):
        raise Rejected("gauge", "evidence", "not a mapping with value, primal, worst and dual")
    value = _rational(evidence.get("value"), "value")
    weights = _weights(evidence.get("primal"), len(points), len(vectors))
    k, z = _mat(points), _mat(vectors)
    reached = weights * k
    if reached != z:
        wrong = next(i for i, v in enumerate(vectors) if any(reached[i, j] != _q(x) for j, x in enumerate(v)))
        raise Rejected("gauge", f"primal {wrong}", "the weighted points do not add up to the vector")
    for i, row in enumerate(weights.tolist()):
        total = sum(map(abs, row), fmpq(0))
        if total > value:
            raise Rejected("gauge", f"primal {i}", f"the weights add up to {total}, above the value {value}")
    worst = evidence.get("worst")
    if type(worst) is not int or not 0 <= worst < len(vectors):
        raise Rejected("gauge", "worst", f"{worst!r} is not the index of one of {len(vectors)} vectors")
    dual = evidence.get("dual")
    if not isinstance(dual, list) or len(dual) != k.ncols():
        raise Rejected("gauge", "dual", f"not a list of {k.ncols()} rationals")
    v = fmpq_mat(k.ncols(), 1, [_rational(entry, f"dual {i}") for i, entry in enumerate(dual)])
    for i, height in enumerate((k * v).entries()):
        if abs(height) > 1:
            raise Rejected("gauge", f"dual at point {i}", f"<v, point> = {height} is outside [-1, 1]")
    height = sum((z[worst, j] * v[j, 0] for j in range(k.ncols())), fmpq(0))
    if height != value:
        raise Rejected("gauge", "value", f"<v, z> = {height} is not the value {value}")
    return _fraction(value), worst


def _weights(primal: object, points: int, vectors: int) -> fmpq_mat:
    """The weights as a matrix, a row per vector, from their sparse form in evidence."""
    if not isinstance(primal, list) or len(primal) != vectors:
        raise Rejected("gauge", "primal", f"not a list of {vectors} mappings, one per vector")
    weights = fmpq_mat(vectors, points)
    for i, row in enumerate(primal):
        if not isinstance(row, Mapping):
            raise Rejected("gauge", f"primal {i}", "not a mapping of point indices to weights")
        for key, weight in row.items():
            if not (isinstance(key, str) and re.fullmatch("[0-9]{1,9}", key) and int(key) < points):
                raise Rejected("gauge", f"primal {i}", f"{key!r} is not the index of one of {points} points")
            weights[i, int(key)] = _rational(weight, f"primal {i}")
    return weights


def _rational(text: object, where: str) -> fmpq:
    """An exact rational of evidence, an integer or "a/b"."""
    if type(text) is int:
        return fmpq(text)
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise Rejected("gauge", where, f"{str(text)[:40]!r} is not an exact rational; write an integer or 'a/b'")
    top, _, bottom = text.partition("/")
    if int(bottom or "1") == 0:
        raise Rejected("gauge", where, f"{text!r} divides by zero")
    return fmpq(int(top), int(bottom or "1"))


# -- sensitivities ----------------------------------------------------------------------------------


def differences(query: Query) -> tuple[Vector, ...]:
    """The extreme differences of answers on adjacent histograms, one of each pair v and -v, without 0.

    Columns for "add-remove" and "l1" (the extreme points of the l1 ball), differences of two columns for "replace"
    (theory#sensitivity-of-a-linear-query). The order is that of the gauge evidence.
    """
    columns = list(dict.fromkeys(zip(*query.rows, strict=True)))
    if query.adjacency == "replace":
        columns = [tuple(a - b for a, b in zip(f, g, strict=True)) for f, g in combinations(columns, 2)]
    return _up_to_sign(columns)


def _up_to_sign(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """The vectors without 0 and without repetition, each with its first non-zero coordinate positive."""
    found: dict[Vector, None] = {}
    for v in vectors:
        lead = next((x for x in v if x != 0), Fraction(0))
        if lead != 0:
            found[v if lead > 0 else tuple(-x for x in v)] = None
    return tuple(found)


def sensitivity(query: Query, norm: Norm, dimension: int, evidence: object = None) -> Sensitivity:
    """The largest ||F(x - x')|| over adjacent histograms x, x' (theory#sensitivity-of-a-linear-query).

    "l2" means real histograms at Euclidean distance <= 1. evidence: a gauge certificate of `differences(query)`, for a norm by
    columns only. Raises Rejected for faults of query, norm or evidence; Undecided, saying what would help, where the form is not covered.
    """
    _require("norm", norm_faults(norm, dimension))
    _require("query", query_faults(query, dimension))
    if dimension == 1 and norm.kind == "lp":
        norm = LINF  # on the line every lp norm is the absolute value
    if query.adjacency == "l2":
        return _euclidean(query.rows, norm)
    vectors = differences(query)
    if not vectors:
        return Sensitivity(ZERO, ZERO, (Fraction(0),) * dimension)
    if norm.kind == "columns" and set(vectors) == set(_up_to_sign(norm.matrix)):
        # The query's own K: no generator has a gauge above 1, and the longest one is extreme, so its gauge is 1 (theory#gauges).
        return Sensitivity(ONE, ONE, max(vectors, key=_square))
    value, at = _largest(norm, vectors, evidence)
    return Sensitivity(value, value, at)


def _euclidean(rows: Matrix, norm: Norm) -> Sensitivity:
    """The operator norm of F from l2: the largest ||F x|| over ||x||_2 <= 1.

    By duality it is the largest ||F' v||_2 over the polar ball, a convex function whose maximum is at a vertex v.
    """
    f = _mat(rows)
    gram = f * f.transpose()
    if norm.kind == "ellipsoid":
        return _root_of_eigenvalue(_mat(norm.matrix).solve(gram))
    if norm.kind == "facets":
        square = max(_form(gram, a) for a in norm.matrix)
    elif norm.kind == "columns":
        square = max(_form(gram, v) for v in _vertices(norm.matrix))
    elif norm.p is None:
        square = max(_fraction(gram[i, i]) for i in range(gram.nrows()))
    elif norm.p == 1:
        square = _largest_sign_form(gram)
    elif norm.p == 2:
        return _root_of_eigenvalue(gram)
    else:
        raise Undecided(
            f"no exact operator norm from l2 to lp with p = {norm.p}. State the sensitivity itself, or use p = 1, 2 or infinity."
        )
    value = sqrt(Num(square))
    return Sensitivity(value, value)


def l1_radius(norm: Norm, dimension: int, evidence: object = None) -> Expr:
    """The largest ||s||_1 over the unit ball, which product noise needs (theory#gauges).

    evidence: for facets too many to enumerate, a gauge certificate of `sign_vectors(dimension)` in the hull of + and - the facets
    (by duality the radius is the largest gauge of a sign vector in the polar ball). Raises as `sensitivity` does.
    """
    _require("norm", norm_faults(norm, dimension))
    if norm.kind == "lp":
        return num(dimension) if norm.p is None else power(num(dimension), Num(1 - 1 / norm.p))
    if norm.kind == "columns":
        return Num(max(map(_length, norm.matrix)))
    if norm.kind == "ellipsoid":
        return sqrt(Num(_largest_sign_form(_mat(norm.matrix))))
    if evidence:
        return Num(_gauge(norm.matrix, sign_vectors(dimension), evidence)[0])
    return Num(max(map(_length, _vertices(norm.matrix))))


def largest_in(norm: Norm, dimension: int) -> tuple[Vector, Expr]:
    """A rational vector on the unit sphere and its exact norm, for witnesses.

    The norm is 1, except for an ellipsoid whose square root stays irrational: then the vector is e_1 with its norm.
    """
    _require("norm", norm_faults(norm, dimension))
    if norm.kind == "columns":
        # The longest point in l2 is extreme: were its gauge below 1, K would hold a longer one.
        return max(norm.matrix, key=_square), ONE
    unit = tuple(Fraction(int(i == 0)) for i in range(dimension))
    size = norm_value(norm, unit)
    return (tuple(x / size.value for x in unit), ONE) if isinstance(size, Num) else (unit, size)


# -- maxima of convex forms ---------------------------------------------------------------------------


def sign_vectors(dimension: int) -> tuple[Vector, ...]:
    """One of each pair s, -s of vectors of signs, in the order of the gauge evidence. Raises Undecided beyond MAX_SIGNS."""
    if dimension > MAX_SIGNS:
        raise Undecided(f"{dimension} dimensions have 2^{dimension - 1} sign patterns; at most {MAX_SIGNS} dimensions are tried.")
    signs = (Fraction(1), Fraction(-1))
    return tuple((signs[0], *rest) for rest in product(signs, repeat=dimension - 1))


def _largest_sign_form(gram: fmpq_mat) -> Fraction:
    """The largest s' G s over vectors s of signs, G symmetric."""
    numerators, denominator = gram.numer_denom()
    g = [[int(entry) for entry in row] for row in numerators.tolist()]
    size = len(g)
    best = value = sum(map(sum, g))  # the value at s = (1, ..., 1)
    if any(entry < 0 for row in g for entry in row):
        if size > MAX_SIGNS:
            raise Undecided(f"{size} dimensions have 2^{size - 1} sign patterns; at most {MAX_SIGNS} dimensions are tried.")
        signs, image = [1] * size, [sum(row) for row in g]
        for step in range(1, 1 << (size - 1)):
            flip = (step & -step).bit_length() - 1  # Gray code: one sign changes at a time
            value += 4 * (g[flip][flip] - signs[flip] * image[flip])
            image = [h - 2 * signs[flip] * entry for h, entry in zip(image, g[flip], strict=True)]
            signs[flip] = -signs[flip]
            best = max(best, value)
    return Fraction(best, int(denominator))


def _vertices(rows: Matrix) -> Iterator[Vector]:
    """Vertices of {v : |<a, v>| <= 1 for every row a}, one of each pair v, -v, some more than once.

    Every vertex makes d independent rows tight, so trying all choices of d rows and signs finds all of them.
    """
    rows = _up_to_sign(rows)
    size = len(rows[0])
    if comb(len(rows), size) << (size - 1) > MAX_VERTICES:
        raise Undecided(
            f"{len(rows)} rows in {size} dimensions have too many candidate vertices to try. State the sensitivity itself, "
            "or give the same ball in its other form (facets for columns, columns for facets)."
        )
    signs = _mat(sign_vectors(size)).transpose()
    every = _mat(rows)
    for chosen in combinations(rows, size):
        basis = _mat(chosen)
        if basis.rank() < size:
            continue
        candidates = basis.solve(signs)
        heights = (every * candidates).transpose().tolist()
        for candidate, height in zip(candidates.transpose().tolist(), heights, strict=True):
            if all(abs(entry) <= 1 for entry in height):
                yield tuple(map(_fraction, candidate))


def _root_of_eigenvalue(matrix: fmpq_mat) -> Sensitivity:
    """The square root of the largest eigenvalue of a product of positive semidefinite matrices."""
    upper, lower = _largest_root(matrix.charpoly())
    return Sensitivity(sqrt(upper), sqrt(lower))


def largest_eigenvalue(gram: Matrix) -> tuple[Expr, Expr]:
    """Upper and lower bound on the largest eigenvalue of a symmetric matrix that is positive semidefinite. Raises Undecided."""
    return _largest_root(_mat(gram).charpoly())


def _largest_root(polynomial: fmpq_poly) -> tuple[Expr, Expr]:
    """Upper and lower bound on the largest root of a polynomial whose roots are all real and not negative.

    One exact expression where that root is rational or a quadratic irrational, else two rationals ROOT_BITS apart.
    """
    factors = [factor for factor, _ in polynomial.factor(monic=True)[1]]
    for bits in (ROOT_BITS, 4 * ROOT_BITS, 16 * ROOT_BITS):
        enclosures = [_enclose_root(factor, bits) for factor in factors]
        low = max(low for low, _ in enclosures)
        # Distinct irreducible factors share no root: at some precision one of them is alone at the top.
        top = [i for i, (_, high) in enumerate(enclosures) if high >= low]
        if len(top) == 1:
            factor, (low, high) = factors[top[0]], enclosures[top[0]]
            if factor.degree() == 2:
                b, c = _fraction(factor[1]), _fraction(factor[0])
                half, square = Num(-b / 2), Num(b * b / 4 - c)
                root = add(half, sqrt(square))
                return root, root
            return Num(_fraction(high)), Num(_fraction(low))
    raise Undecided("two eigenvalues are too close to be told apart. State the sensitivity itself.")


def _enclose_root(factor: fmpq_poly, bits: int) -> tuple[fmpq, fmpq]:
    """low <= largest root <= high of a monic irreducible factor with real roots that are not negative."""
    degree = int(factor.degree())
    total = -factor[degree - 1]  # the sum of the roots: the largest lies between their mean and their sum
    low, high = total / degree, total
    if degree > 1:
        while (high - low) * (1 << bits) > high:
            middle = (low + high) / 2
            low, high = (low, middle) if _roots_below(factor, middle) else (middle, high)
    return low, high


def _roots_below(polynomial: fmpq_poly, bound: fmpq) -> bool:
    """Whether all roots of a monic polynomial with real roots only are below `bound`.

    They are exactly when p(x + bound), whose roots are then negative, has positive coefficients only.
    """
    return all(coefficient > 0 for coefficient in polynomial(fmpq_poly([bound, 1])).coeffs())


# -- exact linear algebra -----------------------------------------------------------------------------


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _mat(rows: Sequence[Vector]) -> fmpq_mat:
    return fmpq_mat(len(rows), len(rows[0]), [_q(entry) for row in rows for entry in row])


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _length(v: Vector) -> Fraction:
    return sum(map(abs, v), Fraction(0))


def _square(v: Vector) -> Fraction:
    return _dot(v, v)


def _form(gram: fmpq_mat, v: Vector) -> Fraction:
    """v' G v."""
    column = _mat([v])
    return _fraction((column * gram * column.transpose())[0, 0])

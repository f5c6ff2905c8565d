"""Candidates: mechanisms that answer a query, each written as a claim file, with the error that floats predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm, sinh, sqrt
from typing import Final

import numpy as np

from dpverify.project.designer import exact, recursive
from dpverify.project.designer.exact import Floats
from dpverify.project.designer.question import Question
from dpverify.project.designer.strategies import Strategy, strategies
from dpverify.project.designer.tuning import discrete_sigma, spread, weights
from dpverify.search.utility.polytopes import MOST_FACETS, most_facets
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Num, format_expr, mul
from dpverify.trusted.kernel.model import L1, L2, LINF, Matrix, Norm, Query
from dpverify.trusted.sensitivity.queries import differences, sensitivity
from dpverify.trusted.theories.utility.any_mechanism import REALS

MOST_MOVES: Final = 40_000
"""Differences of neighbours over which precisions are tuned."""
MOST_PRECISE: Final = 1e6
"""How many times as precisely as another a row is measured at most: one that no neighbours move could be measured exactly."""
MOST_SPLIT: Final = 16
"""Dimensions in which recursive mechanisms are tried."""
MOST_WHOLE: Final = {1: 64, 2: 6}
"""Rows of a strategy with noise on the integers, each of which is a part: geometric noise (1), and the discrete Gaussian (2)."""
MOST_STEP: Final = 16
"""By how much records may move a row that has noise on the integers, in multiples of its unit."""
MOST_WIDE: Final = 50.0
"""The widest noise on the integers on several rows where there is a delta: its privacy losses are added up integer by integer."""
MOST_REACH: Final = 2000
"""Steps to where geometric noise is cut."""
MOST_TEXT: Final = 900_000
"""Of a claim file."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mechanism as a claim file. how: in words; predicted: the root mean square error that floats expect, None where they do not."""

    name: str
    how: str
    text: str
    predicted: float | None = None


@dataclass(frozen=True, slots=True)
class NotTried:
    """A mechanism that is not among the candidates, and why."""

    name: str
    why: str


Proposal = Candidate | NotTried


def candidates(question: Question) -> Iterator[Proposal]:
    """All that is proposed for a question."""
    adjacency = question.query.adjacency
    kept = exact.basis(question.query.rows)
    rows = tuple(question.query.rows[i] for i in kept)
    back = exact.coordinates(question.query.rows, rows)
    assert back is not None
    flat = adjacency != "l2" and len(exact.basis(differences(Query(rows, adjacency)))) < len(rows)
    if question.measure is not None:  # Gaussian noise has the measures that compose
        if not flat:
            yield from _ellipsoids(question, rows, back)
        for strategy in strategies(question):
            yield from _measured(question, strategy, 2)
        return
    yield from _balls(question)
    yield from _cut(question)
    if flat:
        why = "neighbours move the answers in fewer directions than the queries span: some combination of them is known without noise."
        yield from (NotTried(name, why) for name in ("k-norm", "ellipsoid norm", "recursive"))
    else:
        if len(rows) > 1:  # on the line every norm is that of Laplace noise
            yield from _own_norm(question, rows, back)
        yield from _ellipsoids(question, rows, back)
        yield from _recursive(question, rows, back)
    if adjacency == "l2":
        why = "how far real histograms at Euclidean distance 1 move answers in l1 is not known in general."
        yield NotTried("strategies with Laplace noise", why)
    if adjacency in REALS:
        yield NotTried("noise on the integers", "answers to real histograms are no integers.")
    for strategy in strategies(question):
        if adjacency != "l2":
            yield from _measured(question, strategy, 1)
        if question.delta != ZERO:
            yield from _measured(question, strategy, 2)


# -- noise in a norm, on the query itself ----------------------------------------------------------------


def _balls(question: Question) -> Iterator[Proposal]:
    """Laplace noise, and noise of density exp(-||z||) in the Euclidean and the maximum norm."""
    d = len(question.query.rows)
    names = (("laplace", L1, "l1"), ("euclidean norm", L2, "l2"), ("maximum norm", LINF, "linf"))
    for name, norm, key in names[: 1 if d == 1 else 3]:
        try:
            moved = sensitivity(question.query, norm, d).upper
        except DpverifyError as error:
            yield NotTried(name, f"its sensitivity is not known: {error}")
            continue
        scale = _scale(moved, question)
        size = float(constant(moved)) / question.rate
        square = {"l1": 2 * d, "l2": d * (d + 1), "linf": d * (d + 1) * (d + 2) / 3}[key] * size**2
        if key == "l1":
            noise = [*_product("exp(-abs(z))", d, scale)]
        else:
            noise = [*_radial("exp(-r)", f'"{key}"', d, scale)]
        how = "the same Laplace noise on every answer" if key == "l1" else f"noise of density exp(-||z||/b) in the {name}"
        yield Candidate(name, how, _file(question, noise, claim=_stated(question.query)), sqrt(square))


def _cut(question: Question) -> Iterator[Proposal]:
    """For one query on counts that neighbours move by one step, with a delta: geometric noise that ends where delta is spent.

    Its two last probabilities are such that delta is met; no noise has a smaller mean square, but for what the last digits say.
    """
    name, query = "geometric, cut", question.query
    if question.delta == ZERO or question.adjacency in REALS or len(query.rows) != 1:
        return
    unit = _unit_of(query.rows[0])
    row = tuple(x / unit for x in query.rows[0])
    moved = _moves(Query((row,), question.adjacency), (row,))
    if moved is None or np.abs(moved).max() != 1:
        return
    q, delta, inner, reach = float(np.exp(-question.rate)), float(constant(question.delta)), 1.0, 1
    while (share := (1 - q * delta * inner / q**reach) / (1 - q + 2 * delta * q)) > 1:
        inner, reach = inner + 2 * q**reach, reach + 1
        if reach > MOST_REACH:
            yield NotTried(name, f"it ends beyond {MOST_REACH} steps.")
            return
    last = min(exact.above(share, 12), Fraction(1))
    density = f"exp(-({format_expr(question.stated)})*abs(z))" + (f"*({last})**floor(abs(z)/{reach})" if last < 1 else "")
    lines = ['kind = "translation"', f'density = "{density}"', f"support = [{-reach}, {reach}]", "integers = true"]
    places = np.arange(1, reach + 1)
    masses = np.exp(-question.rate * places) * np.where(places == reach, share, 1)
    square = 2 * (places**2 * masses).sum() / (1 + 2 * masses.sum()) * float(unit) ** 2
    stated = _stated(Query((row,), question.adjacency))
    text = _file(question, lines, claim=stated) if unit == 1 else _file(question, [*lines, *stated], ((unit,),))
    how = f"geometric noise on the integers up to {reach} steps, the last of them as likely as the delta allows"
    yield Candidate(name, how, text, sqrt(square))


def _own_norm(question: Question, rows: Matrix, back: Matrix) -> Iterator[Proposal]:
    """The K-norm mechanism: noise whose norm has the body of differences for its unit ball."""
    name, d = "k-norm", len(rows)
    if question.query.adjacency == "l2":
        gram = exact.times(rows, exact.transposed(rows))
        shape = f"{{ ellipsoid = {exact.text(gram)} }}"
    else:
        points = differences(Query(rows, question.query.adjacency))
        if most_facets(len(points), d) > MOST_FACETS:
            yield NotTried(
                name, f"the body of differences, {len(points)} pairs of points in dimension {d}, may have more than {MOST_FACETS} facets."
            )
            return
        shape = f"{{ columns = {exact.text(points)} }}"
    yield from _norm_noise(question, name, "noise whose norm has the differences of neighbours for its unit ball", shape, rows, back)


def _norm_noise(
    question: Question, name: str, how: str, shape: str, rows: Matrix, back: Matrix | None, predicted: float | None = None
) -> Iterator[Proposal]:
    """Noise exp(-epsilon ||z||) in a norm in which neighbours are at most 1 apart."""
    d, query = len(rows), Query(rows, question.query.adjacency)
    noise = [*_radial("exp(-r)", shape, d, f"1/({format_expr(question.stated)})")]
    if back == exact.unit(d):
        yield Candidate(name, how, _file(question, noise, claim=_stated(query)), predicted)
    else:
        yield Candidate(name, how, _file(question, [*noise, *_stated(query)], back), predicted)


def _ellipsoids(question: Question, rows: Matrix, back: Matrix) -> Iterator[Proposal]:
    """Noise in the shape of the ellipsoid that holds the differences and makes the mean square error least."""
    d, query = len(rows), Query(rows, question.query.adjacency)
    if d == 1:
        return
    if query.adjacency == "l2":  # the differences fill an ellipsoid, and noise exp(-||z||) of its shape is k-norm
        shape, reach, kinds = exact.times(rows, exact.transposed(rows)), Fraction(1), [*_kinds(question)]
    else:
        moved = _moves(query, rows)
        if moved is None:
            yield NotTried("ellipsoid norm", f"there are more than {MOST_MOVES} differences of neighbours.")
            return
        shape, kinds = _shape(moved, back), [*_kinds(question)]
        try:
            reach = exact.above(float(constant(sensitivity(query, Norm("ellipsoid", None, shape), d).upper)))
        except DpverifyError as error:
            yield NotTried("ellipsoid norm", f"floats find no ellipsoid that holds the differences: {error}")
            return
    trace = float(np.trace(exact.floats(back) @ exact.floats(shape) @ exact.floats(back).T))
    norm = f"{{ ellipsoid = {exact.text(shape)} }}"
    how = "noise in the shape of the ellipsoid that holds all differences and makes the error least"
    for name, profile, size in kinds:
        scale = exact_text(exact.above(size * float(reach))) if size else _pure_scale(reach, question)
        noise = [*_radial(profile, norm, d, scale)]
        square = trace * float(reach) ** 2 * (size**2 if size else (d + 1) / question.rate**2)
        whole = back == exact.unit(d)
        text = _file(question, noise, claim=_stated(query)) if whole else _file(question, [*noise, *_stated(query)], back)
        yield Candidate(name, how, text, sqrt(square))


def _shape(moved: Floats, back: Matrix) -> Matrix:
    """The matrix of the ellipsoid, rounded beside the roots of its diagonal."""
    values, axes = np.linalg.eigh(exact.floats(back).T @ exact.floats(back))
    root, undone = (axes * np.sqrt(values)) @ axes.T, (axes / np.sqrt(values)) @ axes.T
    s = spread(moved @ root)
    sigma = undone @ (s * np.trace(s)) @ undone
    units = 2.0 ** np.round(np.log2(np.sqrt(np.diag(sigma))))
    scaled = (sigma + sigma.T) / 2 / np.outer(units, units)
    twos = [Fraction(float(unit)) for unit in units]
    return tuple(tuple(x * a * b for x, b in zip(row, twos, strict=True)) for row, a in zip(exact.binary(scaled, 24), twos, strict=True))


def _kinds(question: Question) -> Iterator[tuple[str, str, float]]:
    """Names and profiles, and of Gaussian noise the deviation where answers move by 1."""
    if question.measure is None and question.adjacency != "l2":
        yield "ellipsoid norm", "exp(-r)", 0.0
    if not question.pure:
        yield "gaussian, ellipsoid", "exp(-r**2/2)", gaussian_sigma(question)


# -- strategies -------------------------------------------------------------------------------------------


def _measured(question: Question, strategy: Strategy, power: int) -> Iterator[Proposal]:
    """A strategy with Laplace noise (1) or Gaussian noise (2) on its rows, each as precise as is worth it."""
    noise = "laplace" if power == 1 else "gaussian"
    name = f"{noise}, {strategy.name}"
    moved = _moves(question.query, strategy.rows)
    if moved is None:
        yield NotTried(name, f"there are more than {MOST_MOVES} differences of neighbours.")
        return
    d = len(strategy.rows)
    back = exact.unit(d) if strategy.back is None else strategy.back
    costs = (exact.floats(back) ** 2).sum(axis=0)
    if question.query.adjacency == "l2":
        tuned = np.ones(d)
    else:
        tuned = weights(costs, np.abs(moved).T, power)
        tuned = np.minimum(tuned, tuned.min() * MOST_PRECISE)
    rounded = [exact.near(float(w / tuned.max())) for w in tuned]
    if question.query.adjacency not in REALS and question.measure is None:  # in other measures the best shape has such noise
        yield _whole(question, strategy, rounded, power)
    if strategy.back is None and power == 1 and len(set(rounded)) == 1:
        return  # the same noise on every answer
    rows = tuple(tuple(w * x for x in row) for w, row in zip(rounded, strategy.rows, strict=True))
    undone = tuple(tuple(x / w for w, x in zip(rounded, row, strict=True)) for row in back)
    query = Query(rows, question.query.adjacency)
    try:
        reach = sensitivity(query, L1 if power == 1 else L2, d).upper
    except DpverifyError as error:
        yield NotTried(name, f"its sensitivity is not known: {error}")
        return
    total = float((exact.floats(undone) ** 2).sum())
    if power == 1:
        noise_lines = [*_product("exp(-abs(z))", d, _scale(reach, question))]
        size = sqrt(2) * float(constant(reach)) / question.rate
    else:
        size = gaussian_sigma(question) * float(constant(reach))
        noise_lines = [*_radial("exp(-r**2/2)", '"l2"', d, exact_text(exact.above(size)))]
    text = _file(question, [*noise_lines, *_stated(query)], undone)
    if len(text) > MOST_TEXT:
        yield NotTried(name, "its matrices are longer than a claim file may be.")
        return
    how = f"{'Laplace' if power == 1 else 'Gaussian'} noise on {strategy.name}, each row as precise as is worth it, and the map back"
    yield Candidate(name, how, text, size * sqrt(total))


def _whole(question: Question, strategy: Strategy, precise: Sequence[Fraction], power: int) -> Proposal:
    """The same with noise on the integers: each row as a multiple of one with integers of which nothing can be taken out.

    precise: by how much each row is multiplied before it has the same noise as the others.
    """
    kind = "discrete_laplace" if power == 1 else "discrete_gaussian"
    name = f"{kind.replace('_', ' ')}, {strategy.name}"
    if len(strategy.rows) > MOST_WHOLE[power]:
        return NotTried(name, f"noise on the integers is a part for each row, and there are more than {MOST_WHOLE[power]}.")
    units = [_unit_of(row) for row in strategy.rows]
    rows = tuple(tuple(x / unit for x in row) for unit, row in zip(units, strategy.rows, strict=True))
    if max(abs(x) for row in rows for x in row) > MOST_STEP:
        return NotTried(name, f"some row counts records by more than {MOST_STEP} different steps.")
    back = exact.unit(len(rows)) if strategy.back is None else strategy.back
    back = tuple(tuple(x * unit for unit, x in zip(units, row, strict=True)) for row in back)
    adjacency = question.query.adjacency
    try:
        reach = sensitivity(
            Query(tuple(tuple(w * x for x in row) for w, row in zip(precise, strategy.rows, strict=True)), adjacency),
            L1 if power == 1 else L2, len(rows),
        ).upper  # fmt: skip
    except DpverifyError as error:
        return NotTried(name, f"its sensitivity is not known: {error}")
    shares = [1 / (w * unit) for w, unit in zip(precise, units, strict=True)]
    if power == 1:
        about, key = float(constant(reach)) / question.rate, "scale"
        sizes = [_scale(mul(Num(share), reach), question) for share in shares]
    else:
        moved = _moves(Query(rows, adjacency), rows)
        assert moved is not None  # the rows as they are have not too many
        about, key = gaussian_sigma(question) * float(constant(reach)), "sigma"
        if question.measure is None:
            floats = np.array([float(share) for share in shares])
            about = discrete_sigma(moved, floats, question.rate, float(constant(question.delta)), about)
        sizes = [exact_text(exact.above(about * float(share))) for share in shares]
    if question.delta != ZERO and len(rows) > 1 and about * float(max(shares)) > MOST_WIDE:
        return NotTried(name, f"with a delta its losses are added up integer by integer, and it is wider than {MOST_WIDE:g} of them.")
    variances = np.array([_variance(about * float(share), power) for share in shares])
    square = float(((exact.floats(back) ** 2) * variances).sum())
    noises = [f'kind = "builtin", name = "{kind}", {key} = "{size}"' for size in sizes]
    stated = [", ".join(_stated(Query((row,), adjacency))) for row in rows]
    if len(rows) == 1 and back == exact.unit(1):
        lines, claim = noises[0].split(", "), _stated(Query(rows, adjacency))
    else:
        parts = (f"  {{ {noise}, {query} }}," for noise, query in zip(noises, stated, strict=True))
        lines, claim = ['kind = "compose"', "parts = [", *parts, "]"], []
    text = _file(question, lines, None if back == exact.unit(len(rows)) else back, claim)
    if len(text) > MOST_TEXT:
        return NotTried(name, "its matrices are longer than a claim file may be.")
    noise = "geometric" if power == 1 else "discrete Gaussian"
    how = f"{noise} noise on the integers on {strategy.name}, each row as precise as is worth it, and the map back"
    return Candidate(name, how, text, sqrt(square))


def _unit_of(row: Sequence[Fraction]) -> Fraction:
    """The greatest number of which all entries are integer multiples; 1 where all are 0."""
    return Fraction(gcd(*(x.numerator for x in row)), lcm(*(x.denominator for x in row))) or Fraction(1)


def _variance(size: float, power: int) -> float:
    """Of geometric noise of a scale, and about that of discrete Gaussian noise of a parameter sigma, which is at most its square."""
    if power == 2:
        return size**2
    return 0.5 / sinh(0.5 / size) ** 2 if size > 1e-3 else 0.0


def _moves(query: Query, rows: Matrix) -> Floats | None:
    """What the answers to some rows move by between neighbours, in floats, one of each pair of opposites; None where these are too many."""
    columns = sorted(set(zip(*rows, strict=True)))
    if query.adjacency != "replace":
        return exact.floats(columns)
    if len(columns) ** 2 / 2 > MOST_MOVES:
        return None
    points = exact.floats(columns)
    pairs = np.array(list(combinations(range(len(columns)), 2)))
    return np.asarray(points[pairs[:, 0]] - points[pairs[:, 1]]) if len(columns) > 1 else points


# -- pieces -----------------------------------------------------------------------------------------------


def _recursive(question: Question, rows: Matrix, back: Matrix) -> Iterator[Proposal]:
    """The recursive mechanism, of the paper and with split and budgets chosen."""
    adjacency = question.query.adjacency
    if len(rows) == 1:
        return
    if adjacency == "l2" or len(rows) > MOST_SPLIT:
        why = "the bodies of differences are ellipsoids" if adjacency == "l2" else f"it is tried up to dimension {MOST_SPLIT}"
        yield NotTried("recursive", f"{why}.")
        return
    first = recursive.of_the_paper(rows, back, adjacency)
    if first is None:
        yield NotTried("recursive, of the paper", "the body of differences has too many facets.")
    else:
        yield _in_pieces(question, first, "recursive, of the paper", "halving along the axes of the body, equal budgets")
    least = np.inf
    for number, split in enumerate(recursive.tuned(rows, back, adjacency)):
        if split.square > least * (1 - 1e-3):
            continue  # the same once more, or worse
        least = split.square
        axes = "axes of the body" if number == 0 else "queries themselves"
        sizes = " + ".join(str(len(piece.rows)) for piece in split.pieces)
        how = f"pieces of dimension {sizes} along the {axes}, each with noise in the norm of its own body and its own budget"
        yield _in_pieces(question, split, f"recursive, along the {axes}", how)
    if np.isinf(least):
        why = "no split is found that promises less than the whole, which is k-norm, or can be looked at."
        why = "no split is found that promises less than the whole, which is k-norm, or all are out of reach."
        yield NotTried("recursive, split and budgets chosen", why)


def _in_pieces(question: Question, split: recursive.Split, name: str, how: str) -> Proposal:
    parts = []
    for piece in split.pieces:
        points = differences(Query(piece.rows, question.query.adjacency))
        scale = f"1/({piece.share})/({format_expr(question.stated)})"
        noise = ", ".join(_radial("exp(-r)", f"{{ columns = {exact.text(points)} }}", len(piece.rows), scale))
        parts.append(f"  {{ {noise}, {', '.join(_stated(Query(piece.rows, question.query.adjacency)))} }},")
    text = _file(question, ['kind = "compose"', "parts = [", *parts, "]"], split.matrix)
    if len(text) > MOST_TEXT:
        return NotTried(name, "its matrices are longer than a claim file may be.")
    return Candidate(name, how, text, sqrt(split.square) / question.rate)


# -- claim files -----------------------------------------------------------------------------------------


def _file(question: Question, noise: Sequence[str], back: Matrix | None = None, claim: Sequence[str] = ()) -> str:
    """A claim file: noise by itself, or as the part of a linear map."""
    head = ["[mechanism]"]
    if back is not None:
        head += ['kind = "post_process"', 'map = "the estimate of the query"', f"matrix = {exact.text(back)}", "", "[mechanism.part]"]
    asked = ["", "[[claim]]", 'name = "design"', *claim, *_privacy(question), "utility = true"]
    return "\n".join([*head, *noise, *asked, ""])


def _privacy(question: Question) -> Iterator[str]:
    measure = question.measure
    if measure is None:
        yield f'epsilon = "{format_expr(question.stated)}"'
        if question.delta != ZERO:
            yield f'delta = "{format_expr(question.delta)}"'
        return
    assert measure.value is not None
    value = f'"{format_expr(measure.value)}"'
    yield f'renyi = {{ order = "{measure.at}", epsilon = {value} }}' if measure.name == "renyi" else f"{measure.name} = {value}"


def _stated(query: Query) -> list[str]:
    return [f"query = {exact.text(query.rows)}", f'adjacency = "{query.adjacency}"']


def _product(density: str, d: int, scale: str) -> Iterator[str]:
    yield 'kind = "product"'
    yield f'density = "{density.replace("z", "z/b") if scale != "1" else density}"'
    yield f"dimension = {d}"
    if scale != "1":
        yield f'parameters = {{ b = "{scale}" }}'


def _radial(profile: str, norm: str, d: int, scale: str) -> Iterator[str]:
    yield 'kind = "radial"'
    yield f'profile = "{profile}"'
    yield f"norm = {norm}"
    yield f"dimension = {d}"
    yield f'scale = "{scale}"'


def _scale(moved: object, question: Question) -> str:
    """What a sensitivity over epsilon is, written out; where it is not rational, a decimal just above."""
    if isinstance(moved, Num):
        return _pure_scale(moved.value, question)
    return exact_text(exact.above(float(constant(moved)) / question.rate))  # type: ignore[arg-type]


def _pure_scale(moved: Fraction, question: Question) -> str:
    if isinstance(question.epsilon, Num):
        return exact_text(moved / question.epsilon.value)
    return f"({moved})/({format_expr(question.stated)})"


def exact_text(x: Fraction) -> str:
    """A rational in an expression."""
    return str(x)


def gaussian_sigma(question: Question) -> float:
    """About the least deviation of Gaussian noise on an answer that moves by 1, and not below it, in floats."""
    measure = question.measure
    if measure is None:
        return least_sigma(question.rate, float(constant(question.delta)))
    assert measure.value is not None
    value = float(constant(measure.value))
    squares = {"zcdp": 1 / (2 * value), "gdp": value**-2, "renyi": float(measure.at or 0) / (2 * value)}
    return sqrt(squares[measure.name]) * (1 + 1e-9)


def least_sigma(epsilon: float, delta: float) -> float:
    """About the least deviation of Gaussian noise on an answer that moves by 1 (theory: the Gaussian curve), in floats."""
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    def excess(log_sigma: float) -> float:
        s = np.exp(log_sigma)
        first, second = log_ndtr(1 / (2 * s) - epsilon * s), epsilon + log_ndtr(-1 / (2 * s) - epsilon * s)
        return float(first + np.log(-np.expm1(min(second - first, -1e-300))) - np.log(delta))

    return float(np.exp(brentq(excess, np.log(1e-3), np.log(1e6), xtol=1e-12))) * (1 + 1e-9)

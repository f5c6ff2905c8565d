"""Finitely many inputs and outputs, the exponential mechanism, and densities that depend on a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.kinds.smooth import of_kernel
from dpverify.catalogue.toml import Fields, shorten
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, add, call, div, mul, neg, num, power, sub, symbols
from dpverify.trusted.kernel.model import Domain, Exponential, KaryResponse, Kernel, NoisyMax, SmoothSensitivity, Table, Translation

LISTED: Final = "which inputs are neighbours is the mechanism's `adjacent`. Leave sensitivity out."


def _listed(mechanism: Table | Exponential, _: str) -> str:
    pairs = mechanism.adjacent
    return "every two inputs" if pairs is None else f"{len(pairs)} listed pairs of inputs, in both orders"


# -- tables ----------------------------------------------------------------------------------------------------


TABLE = Kind(
    model=Table,
    what="Finitely many inputs and outputs, with their exact probabilities.",
    fields=(fields.PROBABILITIES, fields.ADJACENT),
    formula=law("finite.table"),
    plain=itself,
    neighbours=_listed,
    sensitivity=Sensitivity.NONE,
    instead=LISTED,
    starter=Starter(
        brief="finitely many inputs and outputs, and the probability of each output on each input.",
        mechanism="""\
kind = "table"
rows = [               # a row for every input: the exact probability of every output
  ["1/2", "1/4", "1/4"],
  ["1/4", "1/2", "1/4"],
  ["1/4", "1/4", "1/2"],
]
adjacent = "all"       # which inputs are neighbours: "all", or pairs of rows counted from 0, such as [[0, 1], [1, 2]]
""",
    ),
)


KARY_RESPONSE = Kind(
    model=KaryResponse,
    what="k-ary randomized response: the truth with probability p, else one of the k - 1 others.",
    fields=(fields.K, fields.P),
    formula=law("finite.kary_response"),
    plain=itself,
    neighbours=lambda response, _: "every two inputs",
    sensitivity=Sensitivity.NONE,
    instead=LISTED,
)


# -- a density that depends on a number --------------------------------------------------------------------------


def _kernel(_: Kind, table: Fields, values: Values) -> Kernel | SmoothSensitivity | None:
    """Of its own interval of outputs and of inputs; of neither where the scale depends on the data."""
    if table.has(fields.SCALE_BOUND.name):
        return of_kernel(table, values)
    own = values["density"], values["output"], values["input"]
    return None if None in own else Kernel(*own)


def _thetas(_: Kernel, moved: str) -> str:
    return f"inputs theta at most {moved} apart" if moved else "every two inputs"


KERNEL = Kind(
    model=Kernel,
    what="A density in the output y and the input theta, its normaliser written out.",
    fields=(fields.DENSITY, fields.OUTPUT, fields.INPUT, fields.SCALE_BOUND.optional()),
    conditions={"if": {"not": {"required": ["scale_bound"]}}, "then": {"required": ["output", "input"]}},
    build=_kernel,
    formula=law("finite.kernel"),
    plain=itself,
    neighbours=_thetas,
    starter=Starter(
        brief="outputs on a line or an interval, of any density that depends on the true answer.",
        mechanism="""\
kind = "kernel"
density = "exp(-abs(y - theta)/b)/(b*(2 - exp(-theta/b) - exp((theta - 1)/b)))"
                          # of the output y where theta is the true answer; its integral over y is 1
output = [0, 1]           # where y lives
input = [0, 1]            # where theta lives
parameters = { b = 2 }    # a value for every other letter of the formula
""",
        claim="sensitivity = 1      # neighbouring inputs move theta by at most this; by all of the input where it is left out",
    ),
    variables={"y": "outcome", "theta": "theta"},
)


# -- the exponential mechanism -----------------------------------------------------------------------------------


def gumbel(rate: Expr) -> Translation:
    """Gumbel noise whose upper tail falls like exp(-rate z)."""
    moved = neg(mul(rate, Sym("z")))
    return Translation(call("exp", sub(moved, call("exp", moved))))


def _any_scores(table: Fields, values: Values) -> NoisyMax | None:
    """The exponential mechanism for all scores there may be: the greatest score with Gumbel noise (theory#exponential-any-scores)."""
    for key in ("points", "metric", "adjacent"):
        if table.has(key):
            table.fault(f"{key} goes with scores, or tells them; candidates is for any scores.")
    if values["neighbours"] not in ("all", "monotone"):
        table.fault('neighbours: the scores of neighbours move "all" each on its own, or "monotone", all the same way.')
    if isinstance(values["beta"], Num) and values["beta"].value <= 0:
        table.fault(f"beta = {shorten(values['beta'])} is not positive, as it is for any scores.")
        return None
    if values["candidates"] is None or values["beta"] is None:
        return None
    weights = _weights(table, values, values["candidates"], "candidate")
    added = tuple(div(call("log", weight), values["beta"]) for weight in weights)
    return NoisyMax(gumbel(values["beta"]), values["candidates"], values["neighbours"], added=added)


def _weights(table: Fields, values: Values, count: Expr, each: str) -> tuple[Expr, ...]:
    """The weights of outputs; none where there are faults, of which others are told all the same. each: what has one."""
    weights: tuple[Expr, ...] = values["weights"] or ()
    wrong = [weight for weight in weights if isinstance(weight, Num) and weight.value <= 0]
    for weight in wrong:
        table.fault(f"weights: {shorten(weight)} is not positive. An output that is never told is no output: leave it out.")
    if weights and count != num(len(weights)):
        also = ", and their number" * (each == "candidate")
        table.fault(f"weights: {len(weights)} of them for {shorten(count)} {each}s. Give each {each} its own{also}.")
        return ()
    return () if wrong or set(weights) <= {ONE} else weights


def _exponential(kind: Kind, table: Fields, values: Values) -> Exponential | NoisyMax | None:
    mechanism = _of_scores(kind, table, values)
    if not isinstance(mechanism, Exponential):
        return mechanism
    return replace(mechanism, weights=_weights(table, values, num(len(mechanism.scores[0])), "output"))


def _of_scores(_: Kind, table: Fields, values: Values) -> Exponential | NoisyMax | None:
    scores, beta, adjacent, points, metric = (values[key] for key in ("scores", "beta", "adjacent", "points", "metric"))
    if table.has("candidates") and not table.has("scores"):
        return _any_scores(table, values)
    for key in ("candidates", "neighbours"):
        if table.has(key):
            table.fault(f"{key} is for any scores; here the scores are listed. Leave it out.")
    if table.has("scores"):
        if table.has("points") or table.has("metric"):
            table.fault("give scores, or points with a metric, not both.")
        return None if scores is None else Exponential(scores, beta, adjacent)
    if not table.has("points") and not table.has("metric"):
        table.fault("give scores, or points with a metric, or candidates for any scores: they are missing.")
        return None
    if not table.has("metric"):
        table.fault("metric is missing. Say how far points are apart: l1, l2, linf, or rows of distances.")
    elif isinstance(metric, str) and not table.has("points"):
        table.fault("points is missing. The metric is between points: give these, or rows of distances as the metric.")
    if metric is None or not (points or isinstance(metric, tuple)):
        return None
    distances = metric if isinstance(metric, tuple) else _distances(points, metric)
    if points and len(points) != len(distances):
        table.fault(f"metric: {len(distances)} rows of distances for {len(points)} points. Give each point its row.")
    name = metric if isinstance(metric, str) else "given"
    return Exponential(tuple(tuple(map(neg, row)) for row in distances), beta, adjacent, points or (), name)


_DISTANCES: Final[Mapping[str, Callable[[list[Expr]], Expr]]] = {
    "l1": lambda gaps: add(*gaps),
    "l2": lambda gaps: power(add(*(power(gap, num(2)) for gap in gaps)), Num(Fraction(1, 2))),
    "linf": lambda gaps: call("max", *gaps),
    "discrete": lambda gaps: ZERO if all(gap == ZERO for gap in gaps) else ONE,
}


def _distances(points: tuple[tuple[Expr, ...], ...], metric: str) -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(_DISTANCES[metric]([call("abs", sub(a, b)) for a, b in zip(p, q, strict=True)]) for q in points) for p in points)


def close_pairs(table: Fields, mechanism: Exponential, sensitivity: Expr) -> tuple[tuple[int, int], ...]:
    """The pairs of points at a distance of at most `sensitivity`."""
    pairs = []
    for i, line in enumerate(mechanism.scores):
        for j in range(i + 1, len(line)):
            distance = neg(line[j])
            if symbols(distance) | symbols(sensitivity) or not (certainly_le(distance, sensitivity) or certainly_lt(sensitivity, distance)):
                table.fault(f"sensitivity: whether points {i} and {j} are within it is not decided. List the pairs as `adjacent`.")
                return ()
            if certainly_le(distance, sensitivity):
                pairs.append((i, j))
    if not pairs:
        table.fault("sensitivity: no two points are that close, so no inputs are neighbours.")
    return tuple(pairs)


def _score_faults(mechanism: Exponential, domains: Mapping[str, Domain]) -> Iterator[str]:
    if mechanism.metric != "given":
        return
    d = [[neg(score) for score in row] for row in mechanism.scores]
    size = range(len(d))
    if len(d[0]) != len(d):
        yield "metric: the matrix of distances is not square."
    elif any(d[i][i] != ZERO for i in size) or any(d[i][j] != d[j][i] for i in size for j in size):
        yield "metric: distances must be symmetric, and 0 from a point to itself."
    elif any(not certainly_lt(ZERO, d[i][j], domains) for i in size for j in size if i != j):
        yield "metric: the distance between two points must be positive."


EXPONENTIAL = Kind(
    model=Exponential,
    what="The exponential mechanism: probabilities proportional to exp(beta * score), or to weight * exp(beta * score).",
    fields=(
        fields.SCORES,
        fields.POINTS,
        fields.METRIC,
        fields.BETA,
        fields.ADJACENT,
        fields.CANDIDATES._replace(default=None),
        fields.NEIGHBOURS,
        fields.WEIGHTS,
    ),
    conditions={
        "if": {"required": ["scores"]},
        "then": {"not": {"anyOf": [{"required": [key]} for key in ("points", "metric", "candidates", "neighbours")]}},
        "else": {
            "if": {"required": ["candidates"]},
            "then": {"not": {"anyOf": [{"required": [key]} for key in ("points", "metric", "adjacent")]}},
            "else": {
                "not": {"required": ["neighbours"]},
                "required": ["metric"],
                "if": {"properties": {"metric": {"type": "string"}}},
                "then": {"required": ["points"]},
            },
        },
    },
    build=_exponential,
    faults=_score_faults,
    formula=law("finite.exponential"),
    plain=itself,
    neighbours=_listed,
    starter=Starter(
        brief="the exponential mechanism: outputs by their scores.",
        mechanism="""\
kind = "exponential"
scores = [             # a row for every input: the score of every output; the probabilities are proportional to exp(beta*score)
  [3, 1, 0],
  [2, 2, 1],
  [3, 2, 1],
]
beta = "1/2"
adjacent = "all"       # which inputs are neighbours: "all", or pairs of rows counted from 0, such as [[0, 1], [1, 2]]
# weights = [1, 2, 1]  # of the outputs, the same for all data: how likely each is where all scores are the same
""",
    ),
    arguments=("scores", "beta", "adjacent", "points", "metric", "candidates", "neighbours", "weights"),
)

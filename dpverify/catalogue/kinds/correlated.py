"""Noise that is correlated over steps: matrix mechanisms, DP-FTRL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.toml import Fault, Fields, shorten
from dpverify.catalogue.values import read_choice, read_matrix, read_number, read_vector
from dpverify.trusted.claims.kinds import STRATEGIES
from dpverify.trusted.kernel.expr import ONE, Expr, Num, num
from dpverify.trusted.kernel.model import CorrelatedNoise, Matrix

NAMED: Final = STRATEGIES[1:]
ORDERS: Final = ("any", "fixed")
_NUMBER: Final = fields.NUMBER.schema


def _read_strategy(value: Any) -> str | Matrix:
    """A matrix, or the name of one."""
    if not isinstance(value, str):
        return read_matrix(value)
    return read_choice(NAMED)(value)


def _read_participation(value: Any) -> Mapping[str, Any]:
    """How often a user contributes, how far apart and in which order."""
    if isinstance(value, Mapping) and isinstance(value.get("times"), Expr):
        return value
    if not isinstance(value, dict) or not value.keys() <= {"times", "separation", "order"} or "times" not in value:
        raise Fault('is no participation. Write { times = 3, separation = 10, order = "any" }, or order = "fixed" in epochs alike.')
    order = read_choice(ORDERS)(value.get("order", ORDERS[0]))
    return {"times": read_number(value["times"]), "separation": read_number(value.get("separation", 1)), "order": order}


def _read_sampling(value: Any) -> Expr:
    """The rate of a sample."""
    if isinstance(value, Expr):
        return value
    if not isinstance(value, dict) or value.keys() != {"rate"}:
        raise Fault('is no sampling. Write { rate = "1/100" }.')
    return read_number(value["rate"])


STRATEGY: Final = fields.Field(
    "strategy",
    fields.Value(_read_strategy, {"anyOf": [{"enum": list(NAMED)}, fields.ROWS.schema]}, exact=False),
    'C: its rows, of rational numbers, a column for each step; or a name: "prefix_sums", lower triangular of ones; "binary_tree", sums '
    'over the intervals [m 2^l, (m + 1) 2^l) of steps; "toeplitz", lower triangular with coefficients.',
    examples=([[1, 0], ["1/2", 1]], "prefix_sums"),
)
COEFFICIENTS: Final = fields.Field(
    "coefficients",
    fields.Value(read_vector, {"type": "array", "minItems": 1, "items": _NUMBER}),
    'Of "toeplitz": the first column of C from the diagonal down to the last number that is not 0, rational numbers; as many as bands.',
    default=None,
    examples=([1, "1/2", "3/8"],),
)
STEPS: Final = fields.Field("steps", fields.NUMBER, "How many steps a named strategy has, an integer of at most 10000.", default=None)
PARTICIPATION: Final = fields.Field(
    "participation",
    fields.Value(
        _read_participation,
        {
            "type": "object",
            "required": ["times"],
            "additionalProperties": False,
            "properties": {"times": _NUMBER, "separation": _NUMBER, "order": {"enum": list(ORDERS)}},
        },
        exact=False,
    ),
    'At how many steps a user contributes at most, how many steps apart at least (1 where it is left out), and whether in "any" order or '
    'a "fixed" one, exactly so many steps apart, as in epochs that are alike. Once where it is left out.',
    default=None,
    examples=({"times": 3, "separation": 10, "order": "any"},),
)
SAMPLING: Final = fields.Field(
    "sampling",
    fields.Value(
        _read_sampling,
        {"type": "object", "required": ["rate"], "additionalProperties": False, "properties": {"rate": _NUMBER}},
        exact=False,
    ),
    "Of a lower triangular strategy with b bands: records are in b groups, and step i takes each one of group i mod b with this "
    "probability, independently. A participation beside it may state more groups, its separation.",
    default=None,
    examples=({"rate": "1/100"},),
)


def _correlated(_: Kind, table: Fields, values: Values) -> CorrelatedNoise | None:
    """The strategy with as many steps as it has, and who contributes when."""
    strategy, numbers, steps, users, rate = (values[key] for key in ("strategy", "coefficients", "steps", "participation", "sampling"))
    if strategy is None or values["sigma"] is None:
        return None
    name, rows = (strategy, ()) if isinstance(strategy, str) else ("matrix", strategy)
    if len({len(row) for row in rows}) > 1:
        table.fault("strategy has rows of different lengths.")
        return None
    if (name == "toeplitz") != (numbers is not None):
        table.fault('coefficients go with strategy = "toeplitz", which needs them.')
    if rows and steps is not None:
        table.fault("steps: a matrix has a column for each step. Leave steps out.")
    if not rows and steps is None:
        table.fault("steps is missing: how many there are.")
        return None
    steps = num(len(rows[0])) if rows else steps
    users = users or {}
    if users and rate is not None:
        if fault := _of_samples(users, steps):
            table.fault(fault)
        users = {"separation": users["separation"]}
    return CorrelatedNoise(
        sigma=values["sigma"],
        strategy=name,
        steps=steps,
        matrix=rows,
        coefficients=numbers or () if name == "toeplitz" else (),
        times=users.get("times", ONE),
        separation=users.get("separation", ONE),
        order=users.get("order", ORDERS[0]),
        rate=rate,
    )


def _of_samples(users: Mapping[str, Any], steps: Expr) -> str:
    """What a participation says that samples do not keep; empty where they do."""
    numbers = [number.value for number in (users["times"], users["separation"], steps) if isinstance(number, Num)]
    if len(numbers) < 3 or numbers[1] < 1:
        return "participation: with sampling it wants numbers of at least 1."
    times, groups, length = numbers
    most = -(-length // groups)
    if users["order"] != ORDERS[0] or times < most:
        return (
            "participation: with sampling it is drawn which steps take a record, in any order, and every step of its group may. "
            f"Write times = {most} and no order, or leave participation out."
        )
    return ""


def _where(strategy: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"if": {"properties": {"strategy": strategy}, "required": ["strategy"]}}


def _contributed(noise: CorrelatedNoise, moved: str) -> str:
    if noise.rate is not None:
        return f"data that differ by one record, which adds a vector of l2 norm at most {moved} to each step that takes it"
    times, apart = shorten(noise.times), shorten(noise.separation)
    exactly = "exactly" if noise.order == "fixed" else "at least"
    steps = "one step" if times == "1" else f"at most {times} steps, {exactly} {apart} apart"
    return f"data that differ by one user, who adds a vector of l2 norm at most {moved} to each of {steps}"


CORRELATED_NOISE = Kind(
    model=CorrelatedNoise,
    what="Noise that is correlated over steps, C x + Gaussian noise: a matrix mechanism, DP-FTRL.",
    fields=(STRATEGY, COEFFICIENTS, STEPS, fields.SIGMA, PARTICIPATION, SAMPLING),
    conditions={
        "allOf": [
            {**_where({"const": NAMED[0]}), "then": {"required": ["coefficients"]}, "else": {"not": {"required": ["coefficients"]}}},
            {**_where({"type": "string"}), "then": {"required": ["steps"]}, "else": {"not": {"required": ["steps"]}}},
        ],
    },
    build=_correlated,
    formula=law("correlated.correlated_noise"),
    plain=itself,
    neighbours=_contributed,
    sensitivity=Sensitivity.ONE,
    starter=Starter(
        brief="noise that is correlated over the steps of a training or of a running sum: a matrix mechanism, DP-FTRL.",
        mechanism="""\
kind = "correlated_noise"
strategy = "toeplitz"                     # C of C x + noise; or "prefix_sums", "binary_tree", or its rows [[1, 0], ["1/2", 1]]
coefficients = [1, "1/2", "3/8", "5/16"]  # of "toeplitz" alone: its first column, from the diagonal down
steps = 8                                 # how many; a matrix has a column for each
sigma = 4                                 # the standard deviation of the noise on each row of C x
participation = { times = 2, separation = 4, order = "any" }   # of one user; once where it is left out
# sampling = { rate = "1/100" }           # each step takes a sample of one group of records, of as many as C has bands
""",
        claim="sensitivity = 1      # what a user contributes to a step has at most this l2 norm",
        delta='delta = "1/100000"    # no epsilon holds at delta 0',
        sampler="""\
def sample(data, size, rng):
    \"""C x with noise for the steps' numbers `data`, rounded to multiples of 1/1024; one row for each output.\"""
    column = np.array([1, 1 / 2, 3 / 8, 5 / 16])
    moved = np.convolve(np.asarray(data, dtype=float), column)[: len(data)]
    return np.round((moved + rng.normal(0, 4, (size, len(data)))) * 1024) / 1024
""",
        audit="pairs = [[[0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0]]]    # neighbouring inputs: here a number for each step",
    ),
)

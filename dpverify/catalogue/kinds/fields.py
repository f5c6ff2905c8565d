"""Keys of claim files: how each is read, what a JSON Schema says of it, and what it means.

A key that several kinds have is one object here, so that it means the same in all of them. Numbers are exact; epsilon is in nats.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, Final, NamedTuple

from dpverify.catalogue.kinds.processes import read_covariance, read_differences, read_evaluations
from dpverify.catalogue.records import read_query
from dpverify.catalogue.sql import DIALECTS
from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import (
    METRICS,
    SCHEMES,
    read_adjacent,
    read_boolean,
    read_choice,
    read_expression,
    read_interval,
    read_matrix,
    read_mechanism_table,
    read_metric,
    read_norm,
    read_number,
    read_part_tables,
    read_points,
    read_row,
    read_rows,
    read_scheme,
    read_string,
)
from dpverify.trusted.claims.kinds import COVARIANCES
from dpverify.trusted.claims.kinds import RUNS as LAWS
from dpverify.trusted.claims.selections import REPORTS, TIES, TOGETHER
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr
from dpverify.trusted.kernel.model import ADJACENCIES, L1, L2, ORDERS

Schema = Mapping[str, Any]

REQUIRED: Final = object()
"""The default of a key that must be there."""


class Value(NamedTuple):
    """A sort of value. schema: its form in JSON; exact: whether it is made of numbers and expressions.

    words: what may stand there instead of a number.
    fallback: lets reading go on where a value that must be there is missing or wrong, so that all faults are found.
    """

    read: Callable[[Any], Any]
    schema: Schema
    exact: bool = True
    fallback: Any = None
    words: tuple[str, ...] = ()


class Field(NamedTuple):
    """A key of a mechanism's table, and the argument of this name in Python.

    default: what holds where it is left out. unless: a key and the value of it without which this one may not be left out. beside: a key
    beside which it may be left out, and nowhere else.
    log: it may be given by its logarithm instead, under log_NAME, which means this.
    """

    name: str
    value: Value
    meaning: str
    default: Any = REQUIRED
    unless: tuple[str, Any] | None = None
    beside: str = ""
    examples: tuple[Any, ...] = ()
    log: str = ""
    log_examples: tuple[Any, ...] = ()

    def optional(self, default: Any = None) -> Field:
        """The same key where it may be left out."""
        return self._replace(default=default)

    @property
    def required(self) -> bool:
        """Whether it must be there."""
        return self.default is REQUIRED

    def wanted(self, given: Container[str]) -> bool:
        """Whether it must be there, beside the keys that are given."""
        return self.required or bool(self.beside and self.beside not in given)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it may stand under, of which there is one."""
        return (self.name, f"log_{self.name}") if self.log else (self.name,)


# -- sorts of values -----------------------------------------------------------------------------------------

_WRITTEN: Final = r"^[\sA-Za-z0-9_+\-*/^().,]*[A-Za-z0-9_)][\sA-Za-z0-9_+\-*/^().,]*$"
_NUMBER: Final = {"type": ["number", "string"], "pattern": _WRITTEN}
_END: Final = {"type": ["number", "string", "null"], "pattern": _WRITTEN}
_ROW: Final = {"$ref": "#/definitions/row"}
_PAIR: Final = {"type": "array", "minItems": 2, "maxItems": 2}
MOST_ROWS: Final = 64
"""The most points of one guarantee."""


def _read_pairs(value: Any) -> tuple[tuple[Expr, ...], ...]:
    rows = read_rows(value)
    if len(rows[0]) != 2:
        raise Fault("is not a list of pairs [first, second].")
    if len(rows) > MOST_ROWS:
        raise Fault(f"has {len(rows)} pairs; at most {MOST_ROWS}.")
    return rows


NUMBER: Final = Value(read_number, _NUMBER, fallback=ONE)
RANGING: Final = Value(read_number, {"type": ["number", "string"], "minLength": 1})
"""A number that is a builtin's parameter too, where it may be a domain."""
EXPRESSION: Final = Value(read_expression, _NUMBER, fallback=ONE)
ROWS: Final = Value(read_rows, {"type": "array", "minItems": 1, "items": _ROW})
PAIRS: Final = Value(_read_pairs, {"type": "array", "minItems": 1, "maxItems": MOST_ROWS, "items": {**_PAIR, "items": _NUMBER}})
INTERVAL: Final = Value(
    read_interval(infinite=True), {"$comment": "TOML's own inf is null in JSON.", **_PAIR, "items": _END}, fallback=(None, None)
)
FINITE: Final = Value(
    read_interval(infinite=False), {**_PAIR, "items": {**_NUMBER, "not": {"enum": ["inf", "+inf", "-inf"]}}}, fallback=(ZERO, ONE)
)
NORM: Final = Value(read_norm, {"$ref": "#/definitions/norm"}, exact=False)
PART: Final = Value(read_mechanism_table, {"$ref": "#/definitions/part"}, exact=False)
PARTS: Final = Value(read_part_tables, {"type": "array", "minItems": 1, "items": PART.schema}, exact=False)
BOOLEAN: Final = Value(read_boolean, {"type": "boolean"}, exact=False)
TEXT: Final = Value(read_string, {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\S"}, exact=False)
_INDICES: Final = {**_PAIR, "uniqueItems": True, "items": {"type": "integer", "minimum": 0}}


def numbers(what: str, ranging: bool = False) -> str:
    """A meaning, and what a number may be written as. ranging: whether a builtin takes a domain there."""
    written = ' An integer, a decimal (taken as it is written), a fraction such as "887/500", or an expression such as "log(3)".'
    return what + written + (' A builtin takes a domain too, such as "positive".' if ranging else "")


# -- densities -----------------------------------------------------------------------------------------------

PROFILE: Final = Field(
    "profile",
    EXPRESSION,
    "The density as an expression in the distance r >= 0 (a mixture's in v too), up to a constant factor; a mixture's with every factor "
    "that depends on v, such as v**(-1/2)*exp(-r**2/(2*v)). Give this or log_profile.",
    examples=("(1 + r**2/5)**(-4)",),
    log="The logarithm of the profile, in r. Give this or profile.",
    log_examples=("-r",),
)
DENSITY: Final = Field(
    "density",
    EXPRESSION,
    "The density as an expression in z (a kernel's in y and theta), up to a constant factor; a kernel's with its normaliser. "
    "Give this or log_density.",
    examples=("exp(-abs(z))",),
    log="The logarithm of the density. Give this or density.",
)
MIXING: Final = Field(
    "mixing",
    EXPRESSION,
    "The density of v as an expression in v, up to a constant factor. Give this or log_mixing.",
    log="The logarithm of the mixing density, in v. Give this or mixing.",
)
ATOMS: Final = Field(
    "atoms",
    PAIRS,
    "Where v has finitely many values: pairs [value, probability], with the sum 1. Give this, mixing or nu.",
    examples=([["1/2", "1/3"], [2, "2/3"]],),
)
_EXPRESSIONS: Final = {"anyOf": [_NUMBER, {"type": "array", "minItems": 1, "items": _NUMBER}]}
COVARIANCE: Final = Field(
    "covariance",
    Value(
        read_covariance,
        {
            "anyOf": [
                {"enum": [name for name in COVARIANCES if name not in ("eigenvalues", "kernel")]},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "name": {"enum": [name for name in COVARIANCES if name not in ("eigenvalues", "kernel")]},
                        "eigenvalues": _NUMBER,
                        "kernel": _NUMBER,
                        "variance": _NUMBER,
                        "length": _NUMBER,
                        "interval": {**_PAIR, "items": _NUMBER},
                    },
                },
            ]
        },
        exact=False,
    ),
    "The covariance of N, from which the norm of a difference is derived: a name, or a table with a name, a variance, a length and an "
    "interval; eigenvalues, an expression in k = 1, 2, ...; or kernel, an expression in s and t, with an interval.",
    default=None,
    examples=("matern-3/2", {"name": "brownian", "interval": [0, 2]}, {"eigenvalues": "1/k**2"}, {"kernel": "exp(-(s - t)**2)"}),
)
EVALUATIONS: Final = Field(
    "evaluations",
    Value(read_evaluations, _EXPRESSIONS, exact=False),
    "What is released of the function, where not all of it is: its values at a list of points, or, for a number n, at the ends of n "
    "equal steps of the interval, or its first n coefficients.",
    default=None,
)
DIFFERENCE: Final = Field(
    "difference",
    Value(read_differences, _EXPRESSIONS, exact=False),
    "What answers of neighbours differ by, in place of a sensitivity: a function of t, coefficients in k, or a list of such. A claim may "
    "state its own.",
    default=(),
    examples=("t*(1 - t)", "1/k**2"),
)
MGF: Final = Field(
    "mgf",
    EXPRESSION,
    "The moment generating function of V, an expression in u, where no more is known of its law: delta is then bounded by Theorem 5 of "
    "Reimherr and Awan. Give this, characteristic, mixing, atoms or nu.",
    default=None,
    examples=("(1 - 2*u)**(-5/2)",),
)
CHARACTERISTIC: Final = Field(
    "characteristic",
    EXPRESSION,
    "The characteristic functional of the noise at scale 1 as an expression in x = C(f, f), the variance of a functional under N: the "
    "moment generating function of V at -x/2.",
    default=None,
    examples=("(1 + x)**(-5/2)",),
)
DIMENSION: Final = Field("dimension", RANGING, "The number of coordinates: a positive integer, or a parameter with a domain of such.")
NORMED: Final = Field(
    "norm", NORM, "The norm of the noise and of the sensitivity.", default=L2, unless=("dimension", ONE)
)  # on the line all l_p norms are one
NORM_OF_SENSITIVITY: Final = Field("norm", NORM, "The norm of the sensitivity alone; l1 where it is left out.", default=L1)
SCALE: Final = Field(
    "scale",
    RANGING,
    numbers(
        "The noise is multiplied by this, a positive number. 1 where it is left out; the builtins laplace and discrete_laplace need it.",
        True,
    ),
    default=ONE,
)
SUPPORT: Final = Field(
    "support",
    INTERVAL,
    'Where the density lives: [low, high]. "inf" and "-inf" are infinite ends.',
    default=(None, None),
    examples=([0, "inf"],),
)
INTEGERS: Final = Field("integers", BOOLEAN, "Whether the noise lives on the integers. false where it is left out.", default=False)
OUTPUT: Final = Field(
    "output",
    INTERVAL._replace(schema={key: value for key, value in INTERVAL.schema.items() if key != "$comment"}),
    'The interval of outputs, [low, high]. "inf" and "-inf" are infinite ends. The whole line beside scale_bound.',
    default=None,
    beside="scale_bound",
)
INPUT: Final = Field(
    "input",
    FINITE,
    "The interval of inputs theta, [low, high], both finite. Beside scale_bound it may be left out and changes nothing: scales may be as "
    "small as they like.",
    default=None,
    beside="scale_bound",
)
SCALE_BOUND: Final = Field(
    "scale_bound",
    NUMBER,
    "By how much the logarithm of the scale S(x) moves at most between neighbours: S(x) <= exp(scale_bound) S(x'). With it a kernel is "
    "noise on theta, of this density at the scale 1: a density of y - theta.",
    examples=("1/10",),
)

# -- finite mechanisms -----------------------------------------------------------------------------------------

PROBABILITIES: Final = Field(
    "rows", ROWS, 'The probabilities of the outputs, a row for each input. Every row sums to exactly 1; write fractions such as "1/3".'
)
ADJACENT: Final = Field(
    "adjacent",
    Value(read_adjacent, {"anyOf": [{"enum": ["all"]}, {"type": "array", "minItems": 1, "items": _INDICES}]}, exact=False),
    'Which inputs are neighbours: "all", or pairs [i, j] of different rows, counted from 0. "all" where it is left out.',
    default=None,
)
SCORES: Final = Field("scores", ROWS, "The score of every output, a row for each input. Give this, or points with a metric.", default=None)
POINTS: Final = Field(
    "points",
    Value(read_points, {"type": "array", "minItems": 1, "items": {"anyOf": [_ROW, _NUMBER]}}),
    "The points that are inputs and outputs at once; the score is minus the distance. A number is a point of the line.",
    default=None,
)
METRIC: Final = Field(
    "metric",
    Value(read_metric, {"anyOf": [{"enum": list(METRICS)}, {"type": "array", "minItems": 1, "items": _ROW}]}, exact=False),
    "The distance between points by name, or a matrix of distances.",
    default=None,
)
BETA: Final = Field("beta", NUMBER, numbers("Probabilities are proportional to exp(beta * score)."))
WEIGHTS: Final = Field(
    "weights",
    Value(read_row, {"type": "array", "minItems": 1, "items": _NUMBER}),
    "Positive numbers, one for each output and the same for all data: probabilities are proportional to weight * exp(beta * score). All of "
    "them are 1 where it is left out.",
    default=(),
    examples=([1, 2, "1/2"],),
)

# -- numbers of builtins -----------------------------------------------------------------------------------------

SIGMA: Final = Field("sigma", RANGING, numbers("The standard deviation of the noise, positive.", True))
NU: Final = Field(
    "nu",
    RANGING,
    numbers("Degrees of freedom, positive; of an elliptical process: V = nu/chi^2 with nu degrees of freedom.", True),
)
EPSILON: Final = Field(
    "epsilon",
    RANGING,
    numbers(
        "Of the builtins staircase, knorm and optimal_keys: their own. Of a guarantee: it holds at this epsilon (in nats) and at delta.",
        True,
    ),
)
GAMMA: Final = Field(
    "gamma", RANGING, numbers("Where the staircase steps; of negative binomial noise the probability of success. Between 0 and 1.", True)
)
P: Final = Field("p", RANGING, numbers("The probability of the truth; of binomial noise that of success.", True))
K: Final = Field("k", RANGING, "The number of values, at least 2.")
COLUMNS: Final = Field("columns", ROWS, "The unit ball of the noise's norm is the hull of + and - each of these points.", default=None)
FACETS: Final = Field("facets", ROWS, "The unit ball of the noise's norm is where |<a, x>| <= 1 for each row a.", default=None)

# -- selections ------------------------------------------------------------------------------------------------------

UNLIMITED: Final = "unlimited"
FRESH: Final = "fresh"
WORDS: Final = tuple(dict.fromkeys(word for words in TOGETHER.values() for word in words))
_REPORTS: Final = tuple(word for words in REPORTS.values() for word in words if word != FRESH)


def _read_positives(value: Any) -> Any:
    return value if value == UNLIMITED else read_number(value)


def _read_report(value: Any) -> Any:
    """A word, or a table whose one key is "fresh"."""
    if not isinstance(value, dict):
        return read_choice(_REPORTS)(value)
    if value.keys() != {FRESH} or not isinstance(value[FRESH], dict):
        raise Fault(
            f"is not one of {', '.join(_REPORTS)}, nor a table {{ fresh = {{ ... }} }} with the noise that is added to each positive."
        )
    return value


_OWN_NOISE: Final = {
    "allOf": [{"$ref": "#/definitions/part"}, {"propertyNames": {"not": {"enum": ["sensitivity", "query", "adjacency", "times"]}}}]
}
A_NOISE: Final = Value(read_mechanism_table, _OWN_NOISE, exact=False)


def _read_noises(value: Any) -> dict[str, Any]:
    """A table of names, each with the table of a noise."""
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise Fault("is not a table of names, each with a table of noise.")
    return dict(value)


NOISES: Final = Value(_read_noises, {"type": "object", "additionalProperties": _OWN_NOISE}, exact=False, fallback={})
_TELLS: Final = Value(
    _read_report,
    {
        "anyOf": [
            {"enum": list(_REPORTS)},
            {"type": "object", "required": ["fresh"], "additionalProperties": False, "properties": {"fresh": _OWN_NOISE}},
        ]
    },
    exact=False,
)


NOISE: Final = Field("noise", A_NOISE, "The noise of each answer, independent and alike: a table like [mechanism], of noise on one number.")
SCALED_NOISE: Final = Field("noise", A_NOISE, "Z of q(x) + S(x) Z, a table like [mechanism], of noise on one number.")
CANDIDATES: Final = Field("candidates", NUMBER, "How many answers there are, a positive integer or an expression in parameters.")
NEIGHBOURS: Final = Field(
    "neighbours",
    Value(read_choice(WORDS), {"enum": list(WORDS)}, exact=False),
    'How the answers of neighbours move: "all", each on its own; "monotone", all the same way; "one", one of them alone. "all" where it is '
    'left out. Of above_threshold also "increasing" and "decreasing": the guarantee is of the first data against second data whose answers '
    "are no less, or no greater.",
    default="all",
)
HULL: Final = Field(
    "hull",
    Value(read_matrix, ROWS.schema),
    'With neighbours = "hull": points, in units of the sensitivity, of whose hull the differences of the answers are, or all their '
    "opposites; of a stream those of each step.",
    default=(),
    examples=([[1, -1, 0], [1, 0, -1], [0, 1, -1]],),
)
REPORT: Final = Field(
    "report",
    _TELLS,
    'What is told: of noisy_max "index", which answer is the greatest, "value", the greatest noisy answer itself, or "index+gap", the '
    'index and the lead over the next. Of above_threshold "answers", which are above, "answers+gap", and by how much, "answers+value", '
    "and the noisy answer itself, or { fresh = { ... } }, and the answer with noise that is drawn afresh. Of noisy_keys "
    '"counts", the keys with their noisy counts, or "keys", which keys there are and no more.',
    default=None,
)
THRESHOLD_NOISE: Final = Field(
    "threshold_noise", A_NOISE, "The noise of the threshold, drawn once. The threshold is exact where it is left out.", default=None
)
QUERY_NOISE: Final = Field("query_noise", A_NOISE, "The noise of each answer. Answers are exact where it is left out.", default=None)
THRESHOLD: Final = Field("threshold", NUMBER, numbers("What answers are compared with, public. 0 where it is left out."), default=ZERO)
LEAST_TOLD: Final = Field("threshold", NUMBER, numbers("The least noisy count that is told, public."))
KEYS: Final = Field("keys", NUMBER, "How many keys one record has at most: an integer. 1 where it is left out.", default=ONE)
QUERIES: Final = Field("queries", NUMBER, "How many answers are asked for at most: an integer or an expression in parameters.")
POSITIVES: Final = Field(
    "positives",
    Value(_read_positives, {"anyOf": [{"enum": [UNLIMITED]}, _NUMBER]}, words=(UNLIMITED,)),
    'After how many answers above the threshold it stops; "unlimited". 1 where it is left out.',
    default=ONE,
)
RESAMPLE: Final = Field(
    "resample",
    BOOLEAN,
    "Whether the noise of the threshold is drawn again after each answer above it. false where it is left out.",
    default=False,
)
BOUNDS: Final = Field(
    "bounds",
    Value(read_interval(infinite=False), FINITE.schema),
    "The interval [low, high] that the answers of all data lie in. Then the sensitivity is its length where a claim states none.",
    default=None,
)
TIES_OF: Final = Field(
    "ties",
    Value(read_choice(TIES), {"enum": list(TIES)}, exact=False),
    'Which of several answers that are the greatest is told: "first", the one of least index, or "random", one of them at random. What is '
    "proved holds for both where it is left out.",
    default="",
)
WHOLE_ANSWERS: Final = Field(
    "whole_answers",
    BOOLEAN,
    "Whether all answers are integers, whatever noise meets them: to be said where some noise is on the integers, but not all that is "
    "compared with each answer or added to it. Answers that meet noise on the integers alone are integers without it.",
    default=False,
)

# -- guarantees --------------------------------------------------------------------------------------------------

DELTA: Final = Field("delta", NUMBER, numbers("With epsilon, the delta of the guarantee. 0 where it is left out."), default=None)
CURVE: Final = Field("curve", PAIRS, "Pairs [epsilon, delta], all of which hold.", default=None)
RENYI: Final = Field("renyi", PAIRS, "Pairs [order, divergence] of a guarantee in Renyi divergence, each order above 1.", default=None)
ZCDP: Final = Field("zcdp", NUMBER, numbers("rho of zero-concentrated differential privacy."), default=None)
GDP: Final = Field("gdp", NUMBER, numbers("mu of Gaussian differential privacy."), default=None)
ORDER: Final = Field(
    "order",
    Value(read_choice(ORDERS), {"enum": list(ORDERS)}, exact=False),
    'For which order of two neighbours it holds: both where it is left out; "one-sided", the input with the record first; "reverse", '
    "the one without it.",
    default="",
)
BOUNDED_RANGE: Final = Field("bounded_range", NUMBER, numbers("eta of a bounded-range mechanism."), default=None)

_BUDGET_HELP: Final = (
    'Write { epsilon = 1, delta = "1e-6" }, where delta may be left out, { zcdp = "1/2" }, { gdp = 1 } or '
    "{ renyi = { order = 8, epsilon = 1 } }."
)


def _read_budget(value: Any) -> tuple[str, tuple[Expr, ...]]:
    """A measure, and the numbers of a guarantee in it."""
    keys = set(value) if isinstance(value, dict) else set()
    if keys in ({"epsilon"}, {"epsilon", "delta"}):
        return "approximate", (read_number(value["epsilon"]), read_number(value.get("delta", 0)))
    if keys in ({"zcdp"}, {"gdp"}):
        (name,) = keys
        return name, (read_number(value[name]),)
    inner = value["renyi"] if keys == {"renyi"} else None
    if isinstance(inner, dict) and set(inner) == {"order", "epsilon"}:
        return "renyi", (read_number(inner["order"]), read_number(inner["epsilon"]))
    raise Fault(f"is no budget. {_BUDGET_HELP}")


def _table_of(required: tuple[str, ...], **keys: Any) -> Schema:
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": keys}


_DIVERGENCE: Final = _table_of(("order", "epsilon"), order=_NUMBER, epsilon=_NUMBER)
BUDGET: Final = Field(
    "budget",
    Value(
        _read_budget,
        {
            "anyOf": [
                _table_of(("epsilon",), epsilon=_NUMBER, delta=_NUMBER),
                _table_of(("zcdp",), zcdp=_NUMBER),
                _table_of(("gdp",), gdp=_NUMBER),
                _table_of(("renyi",), renyi=_DIVERGENCE),
            ]
        },
        exact=False,
    ),
    "What the parts may spend in all: a table with epsilon and delta (0 where it is left out), which are summed each; with zcdp, of which "
    "rho is summed; with gdp, of which the squares of mu are; or with renyi = { order = ..., epsilon = ... }, divergences of one order.",
    examples=({"zcdp": "1/2"}, {"epsilon": 1, "delta": "1e-6"}, {"renyi": {"order": 8, "epsilon": 1}}),
)

# -- combinators ---------------------------------------------------------------------------------------------------

A_PART: Final = Field("part", PART, "The part: a table like [mechanism] with its own sensitivity (1 where it is left out) or query.")
SEVERAL: Final = Field(
    "parts", PARTS, "The parts, each a table like [mechanism] with its own sensitivity (1 where it is left out) or query."
)
RATE: Final = Field("rate", NUMBER, numbers("The fraction of the records in the sample, between 0 and 1."))
SCHEME: Final = Field(
    "scheme",
    Value(read_scheme, {"enum": [*SCHEMES, "without-replacement"]}, exact=False),
    'How the sample is drawn. "poisson" where it is left out: each record independently, neighbours by adding or removing a record; '
    '"without_replacement": a sample of fixed size, neighbours by replacing a record.',
    default="poisson",
)
SIZE: Final = Field("size", NUMBER, "The number of records in which neighbours differ, a positive integer.")
MAP: Final = Field("map", TEXT, "What the map is, for people.", default="")
MAP_ROWS: Final = Field(
    "matrix",
    ROWS._replace(read=read_matrix),
    "Where the map is linear, its rows, one for each number that comes out, over all numbers that the part puts out, in their order. "
    "With it the error of the answer is known.",
    default=(),
)
PEOPLE: Final = Field("people", NUMBER, "How many people tell something, each of their own record: an integer.")
_LAW_HELP: Final = " or ".join(f'{{ law = "{law}", {", ".join(f"{name} = ..." for name in names)} }}' for law, names in LAWS.items())


def _read_runs(value: Any) -> tuple[str, tuple[Expr, ...]]:
    """A law of the number of runs, and its numbers."""
    law = value.get("law") if isinstance(value, dict) else None
    if not isinstance(law, str) or law not in LAWS or value.keys() != {"law", *LAWS[law]}:
        raise Fault(f"is no law of a number of runs. Write {_LAW_HELP}.")
    return law, tuple(read_number(value[name]) for name in LAWS[law])


def _runs_schema(law: str, names: tuple[str, ...]) -> Schema:
    keys = {"law": {"enum": [law]}, **dict.fromkeys(names, _NUMBER)}
    return {"type": "object", "additionalProperties": False, "required": list(keys), "properties": keys}


OF_RUNS: Final = Field(
    "runs",
    Value(_read_runs, {"anyOf": [_runs_schema(law, names) for law, names in LAWS.items()]}, exact=False),
    'How often the part is run: a table with a law and its numbers. "geometric" and "logarithmic", at least once and `mean` times on '
    'average; "negative_binomial" with eta above -1 and gamma between 0 and 1, of which these are eta = 1 and eta = 0; "poisson" with a '
    '`mean`, where it may be never; "fixed", a `number` of times.',
    examples=({"law": "geometric", "mean": 100}, {"law": "negative_binomial", "eta": "1/2", "gamma": "1/100"}),
)
CONSTANT: Final = Field("constant", NUMBER, numbers("Of Lipschitz continuity: distances between inputs grow by at most this factor."))

# -- sums of noises ------------------------------------------------------------------------------------------------

_ADDEND: Final = {"allOf": [PART.schema, {"propertyNames": {"not": {"enum": ["sensitivity", "query", "adjacency"]}}}]}
ADDEND: Final = Value(read_mechanism_table, _ADDEND, exact=False)
ADDENDS: Final = Value(read_part_tables, {"type": "array", "minItems": 1, "items": _ADDEND}, exact=False)
ONE_ADDED: Final = Field("part", ADDEND, "The noise of one: a table like [mechanism], of noise on one number, without a sensitivity.")
ADDED: Final = Field(
    "parts", ADDENDS, "The noises, each a table like [mechanism], of noise on one number; with `times`, how many are alike."
)
TIMES_ADDED: Final = Field("times", NUMBER, "How many noises there are, or of each of `parts`. 1 where it is left out.", default=None)
SUBTRACTED: Final = Field("subtracted", ADDENDS, "Noises that are taken away, as those of `parts`; of their own number.", default=())
DROPOUTS: Final = Field(
    "dropouts",
    NUMBER,
    "How many of the noises may be missing at most, whichever these are: what is claimed holds for the sum of all that are left. "
    "0 where it is left out.",
    default=ZERO,
)

# -- what a part states, and a claim of a mechanism by itself -----------------------------------------------------

TIMES: Final = Field("times", NUMBER, "How many times it is run, a positive integer. 1 where it is left out.", default=None)
ADJACENCY: Final = Field(
    "adjacency",
    Value(read_choice(ADJACENCIES), {"enum": list(ADJACENCIES)}, exact=False),
    "Which data are neighbours: by adding or removing a record, by replacing one, or at a distance of 1 in l1 or l2. A query needs it.",
    default="",
)
SENSITIVITY: Final = Field(
    "sensitivity", NUMBER, numbers("What the part's answer moves by between neighbours, in its norm. 1 where it is left out."), default=None
)
QUERY: Final = Field(
    "query",
    Value(
        read_query,
        {
            "anyOf": [
                ROWS.schema,
                {
                    "type": "object",
                    "required": ["sum", "record"],
                    "additionalProperties": False,
                    "properties": {
                        "sum": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "object", "array"]}},
                        "where": {"type": "string"},
                        "record": {"type": "object", "additionalProperties": {"type": "string"}},
                        "rows": {"type": "integer", "minimum": 1},
                    },
                },
                {
                    "type": "object",
                    "required": ["sql"],
                    "additionalProperties": False,
                    "properties": {
                        "sql": {"type": "string"},
                        "record": {"type": "object", "additionalProperties": {"type": "string"}},
                        "rows": {"type": "integer", "minimum": 1},
                        "keys": {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
                        "not_null": {"type": "array", "items": {"type": "string"}},
                        "joins": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                        "person": {"type": "string"},
                        "dialect": {"enum": list(DIALECTS)},
                    },
                },
            ]
        },
    ),
    "Instead of a sensitivity, which is then derived: linear queries on a histogram, one a row; or sums over records, a table with sum, "
    "where, record and rows, or with sql. Needs adjacency.",
    default=None,
    examples=([[1, 1, 0], [0, 1, 1]], {"sum": ["min(max(pay, 0), 100000)"], "record": {"pay": "real"}}),
)
OF_A_PART: Final = (SENSITIVITY, QUERY, ADJACENCY, TIMES)

"""Builtins: names for models. A kind whose density is known in closed form needs no more than a row here."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.fields import Field
from dpverify.catalogue.kinds.finite import gumbel
from dpverify.catalogue.kinds.kind import Builtin, Starter
from dpverify.catalogue.kinds.sums import difference
from dpverify.catalogue.toml import Fault, shorten
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Pow, Sym, add, call, div, mul, neg, num, power, sub, symbols
from dpverify.trusted.kernel.model import L1, L2, KaryResponse, Mechanism, Product, Radial, Staircase, Table, Translation
from dpverify.trusted.language import whole_laws

WHAT: Final = "A model by its name."

_R, _Z = Sym("r"), Sym("z")
_SCALE: Final = Field("scale", fields.RANGING, fields.SCALE.meaning)
_DIMENSION: Final = fields.DIMENSION.optional()
_MEAN: Final = Field("mean", fields.RANGING, fields.numbers("The mean of the noise, positive.", True))
_EACH_MEAN: Final = Field("mean", fields.RANGING, fields.numbers("The mean of each of the two Poisson laws, positive.", True))
_TRIALS: Final = Field("n", fields.RANGING, "The number of trials, an integer of at least 1.")
_CHANCE: Final = fields.P
_ETA: Final = Field("eta", fields.RANGING, fields.numbers("The shape of the law, positive.", True))
_SUCCESS: Final = fields.GAMMA
_FEW: Final = 32
_DIGITS: Final = 24
"""Of the delta of the rule for keys, to which its probabilities are rounded down."""
_MOST_COUNTS: Final = 4_000
_MOST_EPSILON: Final = 10_000
_DELTA: Final = Field("delta", fields.RANGING, "The delta of the rule, a rational number between 0 and 1.")
Parameters = Mapping[str, Expr]


def _laplace(p: Parameters) -> Mechanism:
    dimension = p.get("dimension", ONE)
    if dimension == ONE:
        return Radial(call("exp", neg(_R)), L1, ONE, p["scale"])
    return Product(call("exp", neg(div(call("abs", _Z), p["scale"]))), dimension)


def _gaussian(p: Parameters) -> Mechanism:
    return Radial(call("exp", mul(Num(Fraction(-1, 2)), power(_R, num(2)))), L2, p.get("dimension", ONE), p["sigma"])


def _discrete_laplace(p: Parameters) -> Mechanism:
    return whole_laws.discrete_laplace(p["scale"])


def _discrete_gaussian(p: Parameters) -> Mechanism:
    return whole_laws.discrete_gaussian(p["sigma"])


def _poisson(p: Parameters) -> Mechanism:
    return whole_laws.poisson(p["mean"])


def _binomial(p: Parameters) -> Mechanism:
    return whole_laws.binomial(p["n"], p["p"])


def _randomized_response(p: Parameters) -> Mechanism:
    truth, lie = p["p"], sub(ONE, p["p"])
    return Table(((truth, lie), (lie, truth)))


def _student_t(p: Parameters) -> Mechanism:
    nu, d = p["nu"], p["dimension"]
    exponent = mul(Num(Fraction(-1, 2)), add(nu, d))
    return Radial(Pow(add(ONE, div(power(_R, num(2)), nu)), exponent), L2, d, p.get("scale", ONE))


def _exponential(p: Parameters) -> Mechanism:
    return Translation(call("exp", neg(div(_Z, p["scale"]))), (ZERO, None))


def _gumbel(p: Parameters) -> Mechanism:
    return gumbel(div(ONE, p["scale"]))


def _logistic(p: Parameters) -> Mechanism:
    return Translation(power(call("cosh", div(_Z, mul(num(2), p["scale"]))), num(-2)))


def _knorm(p: Parameters) -> Mechanism:
    """On the line, until the reader puts the body in (theory#gauges)."""
    return Radial(call("exp", neg(mul(p["epsilon"], _R))), L1, ONE)


def _optimal_keys(p: Parameters) -> Mechanism:
    """Whether a key is told that n records have, n = 0, 1, ...: each time the most that neighbours allow, rounded down (theory#noisy-keys).

    Raises Fault for what is no constant, or would have too many rows.
    """
    epsilon, delta = p["epsilon"], p["delta"]
    if symbols(epsilon) or not isinstance(delta, Num) or not 0 < delta.value < 1:
        raise Fault("epsilon and delta: the rule has a row for each count, and wants numbers, with a rational delta between 0 and 1.")
    if not certainly_le(epsilon, num(_MOST_EPSILON)):
        raise Fault(f"epsilon = {shorten(epsilon)}: it is not certainly at most {_MOST_EPSILON}, from where one more record tells a key.")
    odds, unit = Fraction(decimal_bounds(call("exp", epsilon), _DIGITS)[0]), delta.value / 10**_DIGITS
    told = [Fraction(0)]
    while 1 - told[-1] > delta.value - unit:
        if len(told) > _MOST_COUNTS:
            raise Fault(f"delta = {delta.value}: the rule is certain to tell a key only beyond {_MOST_COUNTS} records. Give a greater one.")
        most = min(odds * told[-1] + delta.value, 1 - (1 - told[-1] - delta.value) / odds)
        told.append((most // unit - 1) * unit)
    steps = [(n, n + 1) for n in range(len(told))]
    rows = tuple((Num(1 - share), Num(share)) for share in (*told, Fraction(1)))
    return Table(rows, (*steps, *((b, a) for a, b in steps)))


def given(key: str) -> dict[str, Any]:
    """That a key stands in the table, or among its parameters."""
    return {"anyOf": [{"required": [key]}, {"properties": {"parameters": {"required": [key]}}, "required": ["parameters"]}]}


_ONE_BODY: Final = (
    {"anyOf": [given("columns"), given("facets")]},
    {"not": {"allOf": [given("columns"), given("facets")]}},
)

BUILTINS: Final[Mapping[str, Builtin]] = {
    row.name: row
    for row in (
        Builtin("laplace", "Laplace noise; of dimension d, one a coordinate.", (_SCALE, _DIMENSION), _laplace),
        Builtin(
            "gaussian",
            "Gaussian noise of standard deviation sigma.",
            (fields.SIGMA, _DIMENSION),
            _gaussian,
            note="never private at delta 0",
        ),
        Builtin("discrete_laplace", "The two-sided geometric noise on the integers.", (_SCALE,), _discrete_laplace),
        Builtin("discrete_gaussian", "The discrete Gaussian on the integers.", (fields.SIGMA,), _discrete_gaussian, note="as gaussian"),
        Builtin("poisson", "Poisson noise on the integers, never below 0.", (_MEAN,), _poisson, note="private with a delta"),
        Builtin("binomial", "Binomial noise: of n trials how many succeed.", (_TRIALS, _CHANCE), _binomial, note="as poisson"),
        Builtin(
            "negative_binomial",
            "Negative binomial noise of shape eta: of eta = 1 how many fail before one succeeds, with probability gamma.",
            (_ETA, _SUCCESS),
            lambda p: whole_laws.negative_binomial(p["eta"], p["gamma"]),
            note="as poisson",
        ),
        Builtin(
            "skellam",
            "Skellam noise: of two Poisson laws of this mean the one less the other.",
            (_EACH_MEAN,),
            lambda p: difference(whole_laws.poisson(p["mean"]), whole_laws.poisson(p["mean"])),
            note="as poisson",
        ),
        Builtin(
            "exponential",
            "Exponential noise, never below 0.",
            (_SCALE,),
            _exponential,
            note="private where answers are compared, not where they are released",
        ),
        Builtin(
            "gumbel",
            "Gumbel noise; the index of the greatest noisy score is the exponential mechanism.",
            (_SCALE,),
            _gumbel,
            note="as exponential",
        ),
        Builtin("logistic", "Logistic noise.", (_SCALE,), _logistic),
        Builtin(
            "staircase",
            "The staircase noise of Geng and Viswanath, of sensitivity 1.",
            (fields.EPSILON, fields.GAMMA),
            lambda p: Staircase(p["epsilon"], p["gamma"]),
            answers_queries=False,
        ),
        Builtin(
            "randomized_response",
            "One bit, told truly with probability p.",
            (fields.P,),
            _randomized_response,
            answers_queries=False,
        ),
        Builtin(
            "k_randomized_response",
            "One of k values, told truly with probability p.",
            (fields.K, fields.P),
            lambda p: KaryResponse(p["k"], p["p"]),
            answers_queries=False,
        ),
        Builtin(
            "optimal_keys",
            "Whether a key is told that n records have: as often as epsilon and delta allow (Desfontaines, Voss and Gipson 2022).",
            (fields.EPSILON, _DELTA),
            _optimal_keys,
            answers_queries=False,
        ),
        Builtin(
            "student_t",
            "Multivariate t noise with nu degrees of freedom.",
            (fields.NU, fields.DIMENSION, fields.SCALE),
            _student_t,
        ),
        Builtin(
            "knorm",
            "K-norm noise, of density proportional to exp(-epsilon * norm); the body as columns or facets.",
            (fields.EPSILON, fields.COLUMNS, fields.FACETS),
            _knorm,
            note="columns or facets",
            conditions=_ONE_BODY,
        ),
    )
}
"""Each builtin by its name."""


def _names() -> str:
    """A comment with every name, and the keys that it needs."""
    needs = {name: ", ".join(field.name for field in row.fields if field.required) for name, row in BUILTINS.items()}
    told = ", ".join(f"{name}\N{NO-BREAK SPACE}({needs[name]}{'; ' * bool(row.note)}{row.note})" for name, row in BUILTINS.items())
    lines = textwrap.wrap(f"The names, with what each needs: {told}.", 130, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines).replace("\N{NO-BREAK SPACE}", " ")


STARTER: Final = Starter(
    brief="a mechanism by its name: laplace, gaussian, randomized_response and others.",
    mechanism=_names()
    + """\
kind = "builtin"
name = "discrete_laplace"
parameters = { scale = 2 }
""",
    claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this",
)

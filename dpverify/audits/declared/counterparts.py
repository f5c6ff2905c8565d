"""Claims about values of functions and about spaces as claims about noise and about tables, which an audit knows the laws of.

What is made here is in floats, as all that a declaration tells an audit.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpverify.errors import AuditError, NoSampler
from dpverify.search.numeric import number, vectorised
from dpverify.search.processes.covariances import kernel_of
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, Sym, add, call, div, mul, neg, num, power
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Exponential, Norm, Query, Radial, Space, Table
from dpverify.trusted.theories.processes.evaluations import independent, points_of
from dpverify.trusted.theories.processes.norms import is_finite
from dpverify.trusted.theories.processes.rules.process_evaluations import t_noise
from dpverify.trusted.theories.spaces.databases import finite

_RULE: Final = "an audit"


def of_values(claim: Claim) -> Claim | None:
    """Noise on a vector, with the values of its differences for moves; None where values decide others, or the law of V is another."""
    noise = claim.mechanism
    if not isinstance(noise, EllipticalProcess) or not noise.covariance or not is_finite(noise):
        return None
    try:
        points = points_of(noise)
        listed = [point.value for point in noise.places if isinstance(point, Num)] or points
        if independent(noise, points).decided or len(listed) != len(points):
            return None
        at = np.array(list(map(float, listed)))
        profile = _mixed(noise, len(at)) if noise.atoms else t_noise(noise, num(len(at))).profile
        matrix = _covariance(noise, at)
        moves = [vectorised(h, "k" if noise.covariance == "eigenvalues" else "t")(at) + np.zeros(len(at)) for h in noise.differences]
    except (DpverifyError, NoSampler):
        return None
    norm = Norm("ellipsoid", None, tuple(tuple(Fraction(float(entry)) for entry in row) for row in matrix))
    query = Query(tuple(tuple(Fraction(float(move[i])) for move in moves) for i in range(len(at))), "add-remove") if moves else None
    return replace(claim, mechanism=Radial(profile, norm, num(len(at)), noise.scale), query=query)


def _mixed(noise: EllipticalProcess, n: int) -> Expr:
    """The density in the norm where V has finitely many values."""
    squared, half = power(Sym("r"), num(2)), Num(Fraction(-n, 2))
    terms = (mul(weight, power(v, half), call("exp", neg(div(squared, mul(num(2), v))))) for v, weight in noise.atoms)
    return add(*terms)


def _covariance(noise: EllipticalProcess, at: Any) -> Any:
    if noise.covariance == "eigenvalues":
        return np.diag(vectorised(noise.shape[0], "k")(at) + np.zeros(len(at)))
    kernel = kernel_of(noise)
    if kernel is None:
        raise AuditError("only a covariance of functions, or eigenvalues, can be audited: declare one.")
    return kernel(at[:, None], at[None, :])


def of_space(claim: Claim) -> Claim:
    """A claim about the one mechanism of a space, on the two databases that it tells apart the most for their distance.

    Its epsilon is the claimed one times that distance. Raises AuditError where no mechanism is given, or no distance is known.
    """
    space = claim.mechanism
    assert isinstance(space, Space)
    if not space.table and space.rate is None:
        raise AuditError(
            "a claim about a space speaks of every mechanism, for each unit of distance, and a sampler is one. Give the mechanism: table, "
            "its probabilities, or rate, of the exponential mechanism on all points."
        )
    try:
        given, _ = finite(claim, {"epsilon": "0"}, _RULE, one=True)
        count = range(len(given.truth))
        distances = {(x, y): given.most(x, y, _RULE) for x in count for y in count if x != y}
    except DpverifyError as error:
        raise AuditError(f"this space cannot be audited: {error}") from error
    made: Table | Exponential
    if space.rate is None:
        made = Table(tuple(tuple(map(Num, row)) for row in space.table))
    else:
        made = Exponential(tuple(tuple(Num(-entry) for entry in given.distances[place]) for place in given.truth), space.rate)
    rows = _rows(made)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = {pair: float(np.nanmax(np.log(rows[pair[0]] / rows[pair[1]]))) for pair in distances}
    worst = max((pair for pair in distances if number(distances[pair]) > 0), key=lambda pair: losses[pair] / number(distances[pair]))
    epsilon = None if claim.epsilon is None else mul(claim.epsilon, distances[worst])
    return Claim(replace(made, adjacent=(worst,)), epsilon, claim.delta, name=claim.name, mechanism_name=claim.mechanism_name)


def _rows(made: Table | Exponential) -> Any:
    if isinstance(made, Table):
        return np.array([[number(entry) for entry in row] for row in made.rows])
    weights = np.exp(number(made.beta) * np.array([[number(score) for score in row] for row in made.scores]))
    return weights / weights.sum(axis=1, keepdims=True)

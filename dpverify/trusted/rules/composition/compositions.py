"""Compositions whose curve is exact: the theorems about sums of losses, applied to runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.trusted.facts.pairs import Curve, Evidence
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Expr, call, div, num
from dpverify.trusted.language.model import Guarantee, Table
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.parts import stated
from dpverify.trusted.parts.neighbours import OnePair
from dpverify.trusted.parts.runs import Run, leaf, occurs, reach
from dpverify.trusted.rules.composition import finite_composition, finite_losses, gaussian_composition, laplace_sums, leaves
from dpverify.trusted.rules.curves import finite, laplace, lattice, optimal_composition
from dpverify.trusted.rules.guarantees import stated_guarantee


def gaussian(runs: Sequence[Run], _: Evidence) -> Curve:
    """Gaussian mechanisms alone. Raises Rejected."""
    return gaussian_composition.curve(runs)


def laplacian(runs: Sequence[Run], _: Evidence) -> Curve:
    """Laplace mechanisms alone. Raises Rejected; Undecided where there are too many."""
    name, groups = laplace_sums.NAME, []
    for run in runs:
        found = reach(run)
        curve = laplace.curve(run.part.mechanism, found, stated=run.part.query is None)
        ratio = laplace.scale_ratio(run.part.mechanism, found.upper)
        if ratio is None or not curve.exact:
            raise Rejected(name, "the parts", "the shift of one of them is not known exactly")
        groups.append((ratio, run.times))
    pair = laplace_sums.pair_of(groups)
    return Curve(pair, pair, (name,), laplace_sums.ASSUMED)


def disjoint(runs: Sequence[Run], _: Evidence) -> Curve:
    """Where one part by itself tells neighbours apart. Raises Rejected."""
    found = leaves.disjoint(runs)
    if found is None:
        raise Rejected(lattice.NAME, "the parts", "the answers of all that add noise on the integers differ by integers")
    return found


def responses(runs: Sequence[Run], _: Evidence) -> Curve:
    """Binary randomized responses and stated (eps, delta) alone. Raises Rejected; Undecided where there are too many."""
    parts, stated = [], False
    for run in runs:
        if (known := _stated(run)) is not None:
            parts.append(optimal_composition.Part(*known, times=run.times))
            stated = True
            continue
        epsilon = randomized_response(run)
        if epsilon is None:
            raise Rejected(optimal_composition.NAME, "the parts", "one of them is not binary randomized response")
        parts.append(optimal_composition.Part(epsilon, times=run.times))
    pair = optimal_composition.composed(parts)
    if stated:
        return Curve(pair, None, (optimal_composition.NAME,), (*finite.ASSUMED, *stated_guarantee.ASSUMED))
    return Curve(pair, pair, (optimal_composition.NAME,), finite.ASSUMED)


def finites(runs: Sequence[Run], evidence: Evidence) -> Curve:
    """Finite mechanisms alone. Raises Rejected; Undecided where there are too many; CertificateError.

    evidence: "at", the epsilon, an expression, where the rows for the lower bound are to be the worst ones; "most", of the work for one
    epsilon, where less than usual is wanted.
    """
    most = evidence.get("most", finite_composition.MOST_WORK)
    if type(most) is not int or not 1 <= most <= finite_composition.MOST_WORK:
        raise CertificateError(f"{finite_composition.NAME}: 'most' must be an integer from 1 to {finite_composition.MOST_WORK}.")
    parts = []
    for run in runs:
        mechanism, sensitivity, query = leaf(run)
        if query is not None:
            raise Rejected(finite_composition.NAME, "query", "a finite mechanism answers none")
        facing = run.part.pair if isinstance(run.part, OnePair) else None
        parts.append(finite_composition.Part(mechanism, sensitivity, run.times, facing))
    return finite_composition.curve(parts, finite.point(evidence), all(map(occurs, runs)), most)


def samples(runs: Sequence[Run], evidence: Evidence) -> Curve:
    """Poisson samples of finite mechanisms, and finite mechanisms. Raises Rejected; Undecided where there are too many; CertificateError.

    evidence: "at", the epsilon, an expression, where the rows for the lower bound are to be the worst ones.
    """
    return finite_losses.curve(runs, finite.point(evidence))


def _stated(run: Run) -> tuple[Expr, Expr] | None:
    """Epsilon and delta of a guarantee with only these; None for all else."""
    if not isinstance(run.part.mechanism, Guarantee):
        return None
    found, sensitivity, query = leaf(run)
    if not isinstance(found, Guarantee) or found.measure != "approximate" or len(found.rows) != 1:
        return None
    if sensitivity is not None or query is not None:
        return None
    stated.check(found)
    epsilon, delta = found.rows[0]
    return epsilon, delta


def randomized_response(run: Run) -> Expr | None:
    """The epsilon of binary randomized response: log(p/(1 - p)) with p >= 1/2; None for another mechanism."""
    table = run.part.mechanism
    if not isinstance(table, Table) or len(table.rows) != 2 or len(table.rows[0]) != 2:
        return None
    if table.adjacent is not None and not {(0, 1), (1, 0)} & set(table.adjacent):
        return None
    (a, b), (c, d) = table.rows
    if not (certainly_equal(a, d) and certainly_equal(b, c)):
        return None
    if certainly_equal(a, b):
        return num(0)
    return call("abs", call("log", div(a, b)))


COMPOSITIONS: Final = {
    lattice.NAME: disjoint,
    gaussian_composition.NAME: gaussian,
    laplace_sums.NAME: laplacian,
    optimal_composition.NAME: responses,
    finite_composition.NAME: finites,
    finite_losses.NAME: samples,
}
"""Exact compositions by the name of their rule, each of runs and evidence."""

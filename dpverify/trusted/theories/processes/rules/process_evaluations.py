"""Finitely many evaluations of elliptical noise on functions: noise of a norm in R^n, of which the norm of the difference is derived.

Theorem: n evaluations of s sqrt(V) N, K_n their covariance under N, tell answers that differ by h apart as noise sqrt(V) times a standard
vector of R^n does at l2 distance D_n/s, D_n^2 = h' K_n^-1 h: at most as if V were seen, exactly so where V has one value, and for V =
b/Gamma(a) exactly as multivariate t noise of density (1 + r^2/(2 b))^-(a + n/2). D_n does not fall with n, and delta does not fall with
D_n.

Checked:
- K_n is certainly positive definite, and h' K_n^-1 h enclosed, where the covariance is declared
- the law of V is one, and positive; the scale is positive

Source: docs/theory/processes.md#process-evaluations, Reimherr & Awan 2019, Corollary 1, corrected
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Expr, Sym, add, div, mul, neg, num, power, sub, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import L2, EllipticalProcess, Mechanism, Radial
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.rules import radial_caps as spherical_caps
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.evaluations import rank
from dpverify.trusted.theories.processes.observed_variance import Atoms, law_of, observed

NAME: Final = "process-evaluations"
ASSUMED: Final = ("only the evaluations are released", "the sampler is ideal")
FULL_RANK: Final = "the covariance of the evaluations has full rank, and the sensitivity is in its norm"


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. Raises Rejected, Undecided, CertificateError.

    parameters: "exactly", whether as t noise; else V is shown. Then "cells", if given, what `in_cells` is told of a V of finitely many
    values, for a bound from below. Also "prec".
    """
    require(parameters.get("exactly", False) in (True, False), CertificateError(f"{NAME}: 'exactly' is true or false."))
    noise = settled.additive(run, NAME)
    return settled.noise(run, curve(noise, reach(run), parameters.get("exactly") is True, parameters.get("cells")), parameters)


def curve(noise: Mechanism, moved: Sensitivity, exactly: bool, cells: Any = None) -> Curve:
    """The curve between those at the two ends of D_n. cells: what a bound from below by cells is told, if there is to be one."""
    process = finite(noise, NAME)
    require_scale(process, moved)
    if not exactly:
        law, upper = law_of(process), div(moved.upper, process.scale)
        seen = observed(law, upper)
        if isinstance(law, Atoms) and len(law.values) > 1 and cells is not None:
            from dpverify.trusted.theories.processes.seen_in_cells import in_cells

            below = in_cells(law, div(moved.lower, process.scale), rank(process), cells, NAME)
            return Curve(seen, below, (NAME,), assumed(process))
        if not (isinstance(law, Atoms) and len(law.values) == 1):
            return Curve(seen, None, (NAME,), assumed(process))
        # whoever sees a V of one value knows no more than before
        return Curve(seen, seen if moved.exact else observed(law, div(moved.lower, process.scale)), (NAME,), assumed(process))
    radial = t_noise(process, num(rank(process)))
    found = spherical_caps.curve(radial, moved)
    return Curve(found.upper, found.lower, (NAME, *found.rules), assumed(process))


def finite(noise: Mechanism, rule: str) -> EllipticalProcess:
    """The process. Raises Rejected for another mechanism, or where all of the function is released."""
    if not isinstance(noise, EllipticalProcess) or not processes.is_finite(noise):
        raise Rejected(rule, "the mechanism", "it is no process of which finitely many numbers are released")
    return noise


def assumed(noise: EllipticalProcess) -> tuple[str, ...]:
    """What D_n rests on where it is stated."""
    return () if noise.differences else (FULL_RANK,)


def require_scale(noise: EllipticalProcess, moved: Sensitivity) -> None:
    """Raises Rejected unless the scale is certainly positive and the norm at least 0."""
    if symbols(noise.scale) or symbols(moved.upper) or not (certainly_lt(ZERO, noise.scale) and certainly_le(ZERO, moved.lower)):
        raise Rejected(NAME, "the sensitivity", "it is not certainly at least 0, or the scale not certainly positive")


def t_noise(noise: EllipticalProcess, n: Expr) -> Radial:
    """The noise on n standardised evaluations. Raises Undecided where V is not recognised as b/Gamma(a)."""
    a, b = inverse_gamma(noise)
    inside = add(ONE, div(power(Sym("r"), num(2)), mul(num(2), b)))
    return Radial(power(inside, neg(add(a, div(n, num(2))))), L2, n, noise.scale)


def inverse_gamma(noise: EllipticalProcess) -> tuple[Expr, Expr]:
    """(a, b) where the density of V is a multiple of v^(-a - 1) exp(-b/v) on (0, inf). Raises Undecided for others."""
    low, high = noise.support
    shapes = Shapes("v", True, {})
    if not noise.atoms and not noise.transform and low == ZERO and high is None and symbols(noise.mixing) <= {"v"}:
        h = shapes.tidy(neg_log(noise.mixing))
        terms = [term for term in (h.args if isinstance(h, Add) else (h,)) if "v" in symbols(term)]
        in_log, in_ratio = Shapes("v", True, {}).tidy(neg_log(Sym("v"))), power(Sym("v"), num(-1))
        slow = add(*(term for term in terms if _multiple(term, in_log) is not None))
        rest = sub(add(*terms), slow)
        a, b = _multiple(slow, in_log), _multiple(rest, in_ratio)
        if a is not None and b is not None:
            a = sub(neg(a), ONE)
            if certainly_lt(ZERO, a) and certainly_lt(ZERO, b):
                return a, b
    raise Undecided(f"{NAME}: the law of V is not recognised as v^(-a - 1) exp(-b/v), that of t noise.")


def _multiple(term: Expr, of: Expr) -> Expr | None:
    """c where a term is c times another, c free of v."""
    c = div(term, of)
    return None if symbols(c) else c

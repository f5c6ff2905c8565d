"""The curves of single mechanisms by the name of their rule, each from the mechanism and what its answer moves by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dpverify.balls import constant
from dpverify.curves import caps, finite, gauge, laplace, lattice, line, normal, product, scale_mixture
from dpverify.curves.base import Curve, Evidence
from dpverify.curves.runs import Run, leaf, reach
from dpverify.errors import CertificateError, ExprError, Rejected
from dpverify.expr import parse, symbols
from dpverify.model import Exponential, Kernel, Sampled, Selection, Table

Leaf = Callable[[Run, Evidence], Curve]


def _additive(rule: Any) -> Leaf:
    def curve(run: Run, evidence: Evidence) -> Curve:
        if isinstance(run.part.mechanism, Table | Exponential | Selection | Kernel | Sampled):
            raise Rejected(rule.NAME, "the mechanism", "it is about additive noise")
        found: Curve = rule.curve(run.part.mechanism, reach(run, evidence.get("sensitivity")))
        return found

    return curve


def _stated(rule: Any) -> Leaf:
    """Rules that want to know whether every direction occurs."""

    def curve(run: Run, evidence: Evidence) -> Curve:
        if isinstance(run.part.mechanism, Table | Exponential | Selection | Kernel | Sampled):
            raise Rejected(rule.NAME, "the mechanism", "it is about additive noise")
        found: Curve = rule.curve(run.part.mechanism, reach(run, evidence.get("sensitivity")), stated=run.part.query is None)
        return found

    return curve


def _finite(run: Run, evidence: Evidence) -> Curve:
    mechanism, sensitivity, query = leaf(run)
    if query is not None:
        raise Rejected(finite.NAME, "query", "a finite mechanism answers none")
    at = evidence.get("at")
    try:
        point = None if at is None else parse(str(at))
    except ExprError as error:
        raise CertificateError(f"{finite.NAME}: {error}") from error
    if point is not None and symbols(point):
        raise CertificateError(f"{finite.NAME}: 'at' is not a number.")
    return finite.curve(mechanism, None if point is None else constant(point), sensitivity)


LEAVES: Final[Mapping[str, Leaf]] = {
    finite.NAME: _finite,
    **{rule.NAME: _stated(rule) for rule in (normal, laplace, gauge, product)},
    **{rule.NAME: _additive(rule) for rule in (line, lattice, caps, scale_mixture)},
}
"""Every rule for the curve of a single mechanism."""

"""What is derived from a claim for readers, beside its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, symbols
from dpverify.trusted.kernel.model import Claim, Norm, Query
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds

if TYPE_CHECKING:
    from dpverify.report import Entry

_SHOWN: Final = 12


def also(entry: Entry) -> dict[str, str]:
    """What is shown beside the bounds of a claim: the sensitivity that follows from its query, and further proved facts."""
    if entry.judgement is None:
        return {}
    derived = sensitivity(entry)
    told = {key: _plain(text) if key.startswith("least within") else text for key, text in entry.judgement.also.items()}
    return ({"sensitivity": derived} if derived else {}) | told


def _plain(text: str) -> str:
    """A fraction as a decimal where it is one."""
    from dpverify.report import short

    return short(Num(Fraction(text)))


def sensitivity(entry: Entry) -> str:
    """The sensitivity that follows from a claim's query; empty where it states none."""
    if entry.judgement is None or entry.claim.query is None:
        return ""
    return _sensitivity(entry.claim, entry.claim.query, [line.parameters for line, _ in entry.proved])


def _sensitivity(claim: Claim, query: Query, parameters: Sequence[Mapping[str, Any]]) -> str:
    """parameters: of the lines of the proof, which may hold the certificate of a gauge."""
    for gauges in ({}, *(one["sensitivity"] for one in parameters if "sensitivity" in one)):
        try:
            return f"{_size(claim, query, gauges)}, from the query under {query.adjacency}"
        except (DpverifyError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            continue  # of a rule that does not look at it; what is only shown refuses nothing
    return ""


def _size(claim: Claim, query: Query, gauges: Mapping[str, Any]) -> str:
    apart = off_the_integers(claim.mechanism, query)
    if apart is not None:
        return f"answers of neighbours differ by {apart.moved}, which is no integer"
    moved, norm = sensitivity_bounds(claim, gauges), getattr(claim.mechanism, "norm", None)
    size = _exactly(moved.upper) if moved.exact else f"between {_digits(moved.lower, 0)} and {_digits(moved.upper, 1)}"
    return size if norm is None else f"{size} in {_norm(norm)}"


def _exactly(value: Expr) -> str:
    text = format_expr(value)
    if isinstance(value, Num) or symbols(value):
        return text
    return f"{text} = {_digits(value, 0)}..."


def _digits(value: Expr, end: int) -> str:
    return decimal_bounds(value, _SHOWN)[end]


def _norm(norm: Norm) -> str:
    if norm.kind != "lp":
        return f"the norm by {norm.kind}"
    return "linf" if norm.p is None else f"l{norm.p}"

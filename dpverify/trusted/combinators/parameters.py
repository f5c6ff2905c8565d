"""Fixing the parameters of an all-parameter claim, for lower bounds that hold at one value of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, substitute
from dpverify.trusted.kernel.model import Claim, Domain
from dpverify.trusted.language.rationals import to_fraction


def fixed(claim: Claim, evidence: Mapping[str, Any], rule: str) -> tuple[Claim, dict[str, Expr]]:
    """What the claim is about, with the parameters that the evidence names under "at" put at their exact values, and those values.

    Raises Rejected for a value outside its domain, CertificateError for a name that is no parameter.
    """
    given = evidence.get("at", {})
    domains = dict(claim.domains)
    values: dict[str, Expr] = {}
    for name, text in given.items():
        value = Num(to_fraction(text, rule))
        if not domains[name].holds(value.value):
            raise Rejected(rule, name, f"{value.value} is outside the parameter's domain")
        values[str(name)] = value
    if not values:
        return claim, values
    left = tuple((name, domain) for name, domain in claim.domains if name not in values)
    # no rule reads the claimed epsilon, which need not have a value there
    changed: Claim = _substituted(replace(claim, domains=left, epsilon=None, delta=None), values)
    return changed, values


def _substituted(part: Any, values: Mapping[str, Expr]) -> Any:
    """The part of a claim with symbols replaced in every expression inside it."""
    if isinstance(part, Num | Sym | Add | Mul | Pow | Call):
        return substitute(part, values)
    if isinstance(part, tuple):
        return tuple(_substituted(item, values) for item in part)
    if is_dataclass(part) and not isinstance(part, type | Domain):
        return replace(part, **{f.name: _substituted(getattr(part, f.name), values) for f in fields(part)})
    return part

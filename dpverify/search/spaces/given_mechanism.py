"""Proposes how private a mechanism on finitely many points is that is given, and a database on which its answers are too far."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpverify.search.numeric import number
from dpverify.search.proposal import Steps
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Claim, Space
from dpverify.trusted.theories.spaces.databases import finite
from dpverify.trusted.theories.spaces.rules import given_mechanism as rule

_SMALL = 1e-12


def propose(claim: Claim, digits: int) -> Steps:
    """Both bounds, at the claimed epsilon and at the loss that is greatest in floats."""
    space = claim.mechanism
    assert isinstance(space, Space)
    given, _ = finite(claim, {"epsilon": "0"}, rule.NAME, one=True)
    distances = np.array([[float(d) for d in given.distances[answer]] for answer in given.truth])
    if space.rate is None:
        rows = np.array([[float(p) for p in row] for row in space.table])
    else:
        rows = np.exp(-number(space.rate) * distances)
        rows /= rows.sum(axis=1, keepdims=True)
    far = (rows * (distances > number(given.near))).sum(axis=1)
    beta = number(given.beta)  # both are tried where floats do not tell
    found: Steps = [{"rule": rule.NAME, "evidence": {"far": int(far.argmax())}}] if far.max() > beta - _SMALL else []
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(rows)[:, None] - np.log(rows)[None]
    size = len(rows)
    apart = np.array([[math.inf if x == y else number(given.least(x, y)) for y in range(size)] for x in range(size)])
    with np.errstate(invalid="ignore"):
        rates = losses / apart[:, :, None]
    rates[np.isnan(rates)] = -math.inf
    x, other, y = (int(i) for i in np.unravel_index(rates.argmax(), rates.shape))
    evidences: list[dict[str, Any]] = [] if space.databases == "unbounded" else [{"cell": [x, other, y]}]
    if claim.epsilon is not None and not claim.domains:
        evidences.append({"epsilon": format_expr(claim.epsilon)})
    if math.isfinite(rates.max()) and far.max() <= beta + _SMALL:
        evidences += _upper(float(rates.max()))
    return [*found, *({"rule": rule.NAME, "evidence": evidence} for evidence in evidences)]


def _upper(rate: float) -> list[dict[str, Any]]:
    above = Fraction(math.ceil((rate * (1 + _SMALL) + _SMALL) * 10**13), 10**13)
    return [{"epsilon": str(above)}]

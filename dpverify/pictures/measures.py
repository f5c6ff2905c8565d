"""Bands of numbers in other measures of privacy: the Renyi divergence at each order, and rho of zCDP after so many runs.

Each number is a claim of its own that is judged by the kernel: bounds rounded outward, None where a side is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpverify.pictures.bands import DIGITS, Band
from dpverify.search.decimals import decimal_bounds
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, num
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, Compose, Measure, Part, repeated

ORDERS: Final = (
    *(Fraction(tenths, 10) for tenths in (11, 15)),
    *map(Fraction, (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)),
)
"""Of a table of Renyi divergences."""
COUNTS: Final = (1, 2, 5, 10, 20, 50, 100)
"""Of runs, of a table of rho."""


def renyi_band(claim: Claim, orders: Iterable[Fraction | int | str] = ORDERS) -> Band:
    """The greatest Renyi divergence between neighbours, in nats, at orders above 1.

    Raises Undecided where none is known, or an order is not above 1.
    """
    points = sorted({Fraction(order) for order in orders})
    if any(order <= 1 for order in points):
        raise Undecided("a Renyi divergence is asked for at orders above 1.")
    asked = [_measured(claim, Measure("renyi", None, order)) for order in points]
    return _band("Renyi divergence", "order", list(map(_written, points)), asked)


def zcdp_band(claim: Claim, counts: Iterable[int] = COUNTS) -> Band:
    """The least rho of zCDP of so many adaptive runs of the claim's mechanism.

    Raises Undecided where none is known, or a count is below 1.
    """
    points = sorted(set(counts))
    if any(count < 1 for count in points):
        raise Undecided("fewer than one run.")
    part = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    alone = replace(claim, sensitivity=None, query=None, adjacency="")
    runs = [claim if count == 1 else replace(alone, mechanism=Compose((repeated(part, num(count)),))) for count in points]
    return _band("rho", "compositions", list(map(str, points)), [_measured(one, Measure("zcdp", None)) for one in runs])


MAKERS: Final[dict[str, Callable[[Claim], Band]]] = {"renyi": renyi_band, "zcdp": zcdp_band}
"""The bands by the names of the measures."""


def _measured(claim: Claim, measure: Measure) -> Judgement | None:
    """What is proved of a measure of the claim's mechanism; None where there is no such claim about it."""
    if claim.domains or claim.order:
        raise Undecided("a table wants a value for every parameter, and is of the worse of both orders of neighbours.")
    try:
        return verify(replace(claim, epsilon=None, delta=ZERO, measure=measure), DIGITS).judgement
    except DpverifyError:
        return None


def _band(quantity: str, variable: str, x: Sequence[str], found: Sequence[Judgement | None]) -> Band:
    known = [one for one in found if one is not None]
    ends = [(None, None) if one is None else (_decimal(one.lower, 0), _decimal(one.upper, 1)) for one in found]
    if not any(end is not None for pair in ends for end in pair):
        raise Undecided("nothing is known of it in this measure.")
    return Band(
        quantity,
        variable,
        tuple(x),
        tuple(lower for lower, _ in ends),
        tuple(upper for _, upper in ends),
        tuple(one is not None and one.lower is not None and one.lower == one.upper for one in found),
        rules=tuple(dict.fromkeys(rule for one in known for rule in one.rules)),
        assumed=tuple(dict.fromkeys(line for one in known for line in one.assumptions)),
    )


def _decimal(bound: Expr | Infinite | None, side: int) -> str | None:
    """A bound rounded outward; None of one that says nothing."""
    if bound is None or (isinstance(bound, Infinite) and side):
        return None
    if isinstance(bound, Infinite):
        return "inf"
    try:
        return decimal_bounds(bound, DIGITS)[side]
    except Undecided:
        return None


def _written(order: Fraction) -> str:
    return str(order) if order.denominator not in (2, 4, 5, 10) else f"{float(order):g}"

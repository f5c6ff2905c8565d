"""What a claim with utility = true asks for, as the JSON of the contract and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Final, NamedTuple

from dpverify.catalogue.assumed import plain
from dpverify.report.enclosures import common, plain_decimal
from dpverify.search.utility.errors import lacking
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.errors import EUCLIDEAN, ErrorBound, Measure
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ZERO, Expr, div, format_expr, symbols
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim

Decimals = Callable[[Expr | Infinite | None, int], str | None]
"""A bound as a decimal, rounded down (0) or up (1)."""

Errors = tuple[tuple[str, ErrorBound], ...]

NECESSARY: Final[dict[Measure, str]] = {"expected_l2": "necessary_l2", "rms_l2": "necessary_rms_l2"}

NECESSARY_LOSS: Final = "necessary_loss"
"""The least mean loss, where a claim states losses."""

NEIGHBOURS: Final = {
    "add-remove": "integer histograms, one record added or removed",
    "replace": "integer histograms, one record replaced",
    "l1": "real histograms, l1",
    "l2": "real histograms, l2",
}
"""The databases and neighbours that a lower bound for any mechanism is true for."""

NAMES: Final[dict[Measure, str]] = {
    "expected_l2": "mean length",
    "rms_l2": "root mean square",
    "expected_absolute": "mean absolute value",
    "rms": "root mean square",
    "expected_loss": "mean loss",
}
"""Of errors, in words."""

_ABOVE: Final = Context(prec=4, rounding=ROUND_CEILING)
"""Digits of a ratio in a line."""

_LEAST: Final = "-lower-bound"

MOST_COORDINATES: Final = 12
"""As many coordinates as are told of."""

_COORDINATE: Final[tuple[Measure, ...]] = ("expected_absolute", "rms")


def record(claim: Claim, judgement: Judgement | None, decimal: Decimals) -> dict[str, Any]:
    """Each error with what encloses it, or with the reason why nothing does; never null."""
    errors = () if judgement is None else judgement.errors
    found: dict[str, Any] = {measure: _enclosed(claim, errors, measure, decimal) for measure in EUCLIDEAN}
    proved = judgement is not None and judgement.verdict == "PROVED"
    for measure, name in NECESSARY.items():
        found[name] = _least(claim, errors, measure, decimal, proved=proved)
    found["coordinates"] = [
        {"coordinate": one} | {measure: _enclosed(claim, errors, measure, decimal, one) for measure in _COORDINATE}
        for one in sorted({bound.coordinate for _, bound in errors if bound.coordinate is not None})
    ]
    if claim.loss:
        found["expected_loss"] = _enclosed(claim, errors, "expected_loss", decimal)
        found[NECESSARY_LOSS] = _least(claim, errors, "expected_loss", decimal, proved=proved)
    if claim.beta is not None:
        union = _enclosed(claim, errors, "exceeded_union", decimal)
        found["exceeded"] = {"beta": format_expr(claim.beta)} | _enclosed(claim, errors, "exceeded", decimal) | {"union_bound": union}
    return found


def _enclosed(claim: Claim, errors: Errors, measure: Measure, decimal: Decimals, coordinate: int | None = None) -> dict[str, Any]:
    below, above = (_bound(errors, measure, "this", side, coordinate) for side in ("lower", "upper"))
    lower, upper = decimal(below and below[1].value, 0), decimal(above and above[1].value, 1)
    assumed = list(dict.fromkeys(plain(text) for one in (below, above) if one is not None for text in one[1].assumed))
    told: dict[str, Any] = {"assumptions": assumed} if assumed else {}
    if lower is None and upper is None:
        return {"reason": lacking(claim, measure)}
    if upper is None:
        return {"lower": lower, "upper": "inf", "reason": "no upper bound on it is known."} | told
    return {"lower": lower or "0", "upper": upper} | told


def _least(claim: Claim, errors: Errors, measure: Measure, decimal: Decimals, *, proved: bool) -> dict[str, Any]:
    """proved: whether this noise is as private as the mechanisms that it is compared with."""
    least = _bound(errors, measure, "any", "lower")
    lower = decimal(least and least[1].value, 0)
    if least is None or lower is None:
        return {"reason": lacking(claim, NECESSARY.get(measure, NECESSARY_LOSS))}
    rule, bound = least
    where = {"neighbours": neighbours(claim), "assumptions": list(map(plain, bound.assumed))}
    found = {"lower": lower, "rule": family(claim, rule), "theorem": rule, **where}
    ratio = decimal(most_times(errors, measure), 1) if proved else None
    return found if ratio is None else {**found, "ratio": ratio}


def family(claim: Claim, rule: str) -> str:
    """What sort of theorem the least error is by: "volume" on real histograms, "lattice" on counts, "lp" for linear programs."""
    if not rule.endswith(_LEAST):
        return rule
    query = answered(claim)
    return "lattice" if query is not None and query.adjacency in ("add-remove", "replace") else "volume"


def called(rule: str) -> str:
    """A rule about the least error as answers call it: what its bound is by."""
    return rule.removesuffix(_LEAST)


def neighbours(claim: Claim) -> str:
    """The databases and neighbours that a lower bound for any mechanism is true for."""
    query = answered(claim)
    return NEIGHBOURS.get("" if query is None else query.adjacency, "the claim's own neighbours")


def most_times(errors: Errors, measure: Measure) -> Expr | None:
    """How many times the least possible error the noise's own is at most, where both are known."""
    above, least = _bound(errors, measure, "this", "upper"), _bound(errors, measure, "any", "lower")
    if above is None or least is None or isinstance(above[1].value, Infinite) or isinstance(least[1].value, Infinite):
        return None
    top, bottom = above[1].value, least[1].value
    return div(top, bottom) if not symbols(top) | symbols(bottom) and certainly_lt(ZERO, bottom) else None


def _bound(errors: Errors, measure: Measure, whose: str, side: str, coordinate: int | None = None) -> tuple[str, ErrorBound] | None:
    """The best bound of one kind, with its rule."""
    wanted = (measure, whose, side, coordinate)
    return next((one for one in errors if (one[1].measure, one[1].whose, one[1].side, one[1].coordinate) == wanted), None)


class Told(NamedTuple):
    """One error in words. least: what any mechanism has at least; rule: what proves that; ratio: at most so many times that.

    alone: whether it is that of single coordinates.
    """

    what: str
    own: str
    least: str = ""
    rule: str = ""
    ratio: str = ""
    alone: bool = False

    def text(self, neighbours: str, reasons: set[str]) -> str:
        """In a line. neighbours: that the bound for any mechanism is true for, empty where they have been said.

        reasons: why errors are not known, as far as that has been said; what this line says is added.
        """
        said = f"error, {self.what}: {_once(self.own, reasons)}"
        if not self.least:
            return said
        if not self.rule:
            return f"{said}; least possible: {_once(self.least, reasons)}"
        times = f", ratio <= {plain_decimal(f'{_ABOVE.plus(Decimal(self.ratio)):f}')}" if self.ratio else ""
        return f"{said}; least possible {self.least} ({self.rule}{neighbours and f'; {neighbours}'}){times}"


def _once(told: str, reasons: set[str]) -> str:
    """An error in words, without the reason why it is not known where that has been said."""
    what, _, reason = told.partition(": ")
    if reason and reason in reasons:
        return what
    reasons.add(reason)
    return told


def told(claim: Claim, judgement: Judgement | None, decimal: Decimals) -> Iterator[Told]:
    """The errors that a claim asks for, nothing where it asks for none."""
    if not claim.utility:
        return
    found = record(claim, judgement, decimal)
    stated: dict[Measure, str] = {"expected_loss": NECESSARY_LOSS} if claim.loss else {}
    for measure, necessary in (stated or NECESSARY).items():
        least = found[necessary]
        rule, ratio = called(least.get("theorem", "")), least.get("ratio", "")
        yield Told(NAMES[measure], _own(found[measure]), least.get("lower") or _unknown(least), rule, ratio)
    yield from _coordinates(found["coordinates"])
    if "exceeded" in found:
        what = f"exceeded by some coordinate with probability at most {found['exceeded']['beta']}"
        union = found["exceeded"]["union_bound"]
        yield Told(what, _own(found["exceeded"]) + (f" (by the union bound {_own(union)})" if "lower" in union else ""))


def _coordinates(found: list[dict[str, Any]]) -> Iterator[Told]:
    """The errors of coordinates, once where they are alike."""
    alike = len(found) > 1 and all({**one, "coordinate": 0} == {**found[0], "coordinate": 0} for one in found)
    for one in found[: 1 if alike else MOST_COORDINATES]:
        name = "each coordinate" if alike else f"coordinate {one['coordinate'] + 1}"
        for measure in _COORDINATE:
            yield Told(f"{name}, {NAMES[measure]}", _own(one[measure]), alone=True)
    if len(found) > MOST_COORDINATES and not alike:
        yield Told("other coordinates", f"{len(found) - MOST_COORDINATES} more in the JSON", alone=True)


def _own(found: dict[str, Any]) -> str:
    if "lower" not in found:
        return _unknown(found)
    lower, upper = str(found["lower"]), str(found["upper"])
    if upper == "inf":
        return "infinite" if lower == "inf" else f"at least {plain_decimal(lower)}"
    if lower == "0" != upper:
        return f"at most {plain_decimal(upper)}"
    return plain_decimal(lower) if lower == upper else common(lower, upper)


def _unknown(found: dict[str, Any]) -> str:
    return f"not known: {found['reason'].rstrip('.')}"

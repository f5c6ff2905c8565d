"""Designs for people and as JSON: mechanisms in the order of their certified errors, what any mechanism has at least, what was left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dpverify.project.designer import Design, Designed
from dpverify.project.designer.isotropy import Isotropy
from dpverify.project.designer.question import Question
from dpverify.report import decimal, short
from dpverify.report.utility import NEIGHBOURS, called
from dpverify.runtime.outside import printable
from dpverify.trusted.facts.errors import EUCLIDEAN, Measure
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import ZERO, Expr, div, format_expr

SHOWN = 6


def lines(found: Design) -> Iterator[str]:
    """The answer for people."""
    question = found.question
    yield printable(f"{question.name}; neighbours: {question.adjacency}; {_privacy(question)}")
    if found.least is None:
        yield "any mechanism: no lower bound on the error is known."
    else:
        rule, bound = found.least
        at_least = decimal(bound.value, SHOWN, 0)
        yield f"any mechanism: root mean square error at least {at_least} ({called(rule)}; {NEIGHBOURS[question.adjacency]})"
    if found.necessary_greatest is not None:
        yield f"any mechanism: the deviation of some answer at least {decimal(found.necessary_greatest, SHOWN, 0)}"
    if isinstance(found.isotropy, Isotropy):
        body = found.isotropy
        length, apart, most = (decimal(ends[1], SHOWN, 1) for ends in (body.constant, body.anisotropy, body.most))
        yield f"body of differences: isotropic constant {length}, anisotropy {apart}"
        yield f"k-norm: mean error at most {most} times the anisotropy times the volume bound ({NEIGHBOURS['l1']}, at every distance)"
    greatest = question.objective == "greatest"
    if found.ranked:
        yield f"{'rms error':>12} {'deviation' if greatest else 'mean error':>12} {'times least':>12}   mechanism"
    for one in found.ranked:
        own, mean = (decimal(one.value(measure, "upper"), SHOWN, 1) or "" for measure in ("rms_l2", "expected_l2"))
        mean = (decimal(one.greatest, SHOWN, 1) or "") if greatest else mean
        times = _times(found, one, SHOWN)
        yield printable(f"{own:>12} {mean:>12} {times or '':>12}   {one.candidate.name}: {one.candidate.how}")
        if one.file:
            yield printable(f"{'':39}{one.file}")
    for left in found.left:
        yield printable(f"left out: {left.name}: {left.why}")
    if not found.ranked:
        yield "no mechanism was found whose privacy and error are proved."


def _privacy(question: Question) -> str:
    measure = question.measure
    if measure is not None and measure.value is not None:
        order = f" of order {measure.at}" if measure.at is not None else ""
        return f"{'Renyi divergence' if measure.name == 'renyi' else measure.name}{order} {short(measure.value)}"
    assert question.epsilon is not None
    delta = "" if question.delta == ZERO else f", delta {short(question.delta)}"
    return f"epsilon {short(question.epsilon)}{delta}"


def render(found: Design, digits: int) -> str:
    """The answer as one JSON object."""
    return json.dumps({"schema": "dpverify/1", "design": record(found, digits)}, indent=1)


def record(found: Design, digits: int) -> dict[str, Any]:
    """The answer as plain data."""
    question = found.question
    rows, columns = question.size
    least: dict[str, Any] = {"reason": "no lower bound on the error of any mechanism is known for this query, adjacency and delta."}
    if found.least is not None:
        rule, bound = found.least
        least = {"lower": decimal(bound.value, digits, 0), "rule": called(rule), "neighbours": NEIGHBOURS[question.adjacency]}
    return {
        "file": question.file,
        "query": {"name": question.name, "rows": rows, "columns": columns},
        "adjacency": question.adjacency,
        **_measured(question),
        "objective": question.objective,
        "necessary_rms_l2": least,
        **({"necessary_greatest_rms": decimal(found.necessary_greatest, digits, 0)} if question.objective == "greatest" else {}),
        "mechanisms": [
            {
                "name": one.candidate.name,
                "how": one.candidate.how,
                "file": one.file or None,
                "verdict": one.verdict,
                **{measure: _enclosed(one, measure, digits) for measure in EUCLIDEAN},
                **({"greatest_rms": decimal(one.greatest, digits, 1)} if question.objective == "greatest" else {}),
                "ratio": _times(found, one, digits),
            }
            for one in found.ranked
        ],
        "isotropy": _isotropy(found, digits),
        "left_out": [{"name": one.name, "reason": one.why} for one in found.left],
    }


def _measured(question: Question) -> dict[str, Any]:
    """The privacy that is wanted."""
    measure = question.measure
    if measure is None or measure.value is None:
        return {"epsilon": format_expr(question.epsilon or ZERO), "delta": format_expr(question.delta)}
    value = format_expr(measure.value)
    return {measure.name: {"order": str(measure.at), "epsilon": value} if measure.name == "renyi" else value}


def _isotropy(found: Design, digits: int) -> dict[str, Any]:
    """Of the body of differences: what encloses its isotropic constant, and a map that takes it near isotropic position."""
    one = found.isotropy
    if not isinstance(one, Isotropy):
        return {"reason": one.why}
    pairs = {"constant": one.constant, "anisotropy": one.anisotropy, "most": one.most}
    ends = {name: {"lower": decimal(low, digits, 0), "upper": decimal(high, digits, 1)} for name, (low, high) in pairs.items()}
    return {**ends, "map": [[str(x) for x in row] for row in one.map], "off": decimal(one.off, digits, 1)}


def _enclosed(one: Designed, measure: Measure, digits: int) -> dict[str, str | None]:
    lower, upper = decimal(one.value(measure, "lower"), digits, 0), decimal(one.value(measure, "upper"), digits, 1)
    return {"lower": lower or "0", "upper": upper or "inf"}


def _times(found: Design, one: Designed, digits: int) -> str | None:
    """How many times the least possible root mean square error its own is at most; or of the greatest deviation of one answer."""
    if found.question.objective == "greatest":
        own, least = one.greatest, found.necessary_greatest
    else:
        own, least = one.value("rms_l2", "upper"), None if found.least is None else _number(found.least[1].value)
    return None if own is None or least is None else decimal(div(own, least), digits, 1)


def _number(value: Expr | Infinite) -> Expr | None:
    return None if isinstance(value, Infinite) else value

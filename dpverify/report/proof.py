"""A judgement as a tree: what is claimed, the bounds that decide it, the rule that proves each, what the rule rests on.

Nothing is computed: the bounds are those that the kernel derived from the certificate's steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from dpverify.catalogue.assumed import plain
from dpverify.report import Entry, brief, quantity
from dpverify.report.phrases import delta_text, tight_text
from dpverify.report.stated import stated
from dpverify.report.utility import NAMES
from dpverify.runtime.outside import named
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.assumptions import marked, of_a_bound
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, symbols
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.registry import EXPLAINED

_DIGITS: Final = 12
_QUANTITIES: Final = {
    "pure": "tight epsilon at delta 0", "epsilon": "tight epsilon at the claimed delta", "delta": "tight delta", "zcdp": "tight rho",
    "gdp": "tight mu", "renyi": "tight divergence", "beta": "tight beta",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a proof. kind: "claim", "bound", "rule", "checked", "assumed" or "fact". rule: its name, where the step is a rule."""

    kind: str
    text: str
    rule: str = ""
    below: tuple[Step, ...] = ()


def tree(entry: Entry) -> Step:
    """The proof of a claim's verdict, from the claim to its leaves; for UNKNOWN what is proved all the same.

    What a rule checks is told where the rule is met first.
    """
    claim = entry.claim
    head = f"{entry.verdict}: {named(entry.mechanism, ',:')}, {named(claim.name, ',:')}: {brief(claim)}"
    if entry.judgement is None:
        return Step("claim", head, below=(Step("fact", entry.fault or ""),))
    told: set[str] = set()
    lines = [line for line, _ in entry.proved]
    below = [_step(lines, line, bounds, told, entry.judgement) for line, bounds in entry.proved if bounds]
    below += [_error(lines, rule, bounds, told) for rule, bounds in _by_rule(entry.judgement.errors)]
    shown = {step.text for step in every(below) if step.kind == "assumed"}
    beside = [Step("assumed", text) for text in entry.assumptions if text not in shown]  # of words beside the bounds
    undecided = [Step("fact", f"undecided: {entry.reason}")] if entry.reason else []
    return Step("claim", head, below=(*_conclusion(entry), *below, *beside, *undecided))


def every(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps with all that are below them."""
    for step in steps:
        yield step
        yield from every(step.below)


def rules(entry: Entry) -> Iterator[str]:
    """The names of the rules in the tree, as often as they are there."""
    for line, _ in entry.proved:
        yield line.rule
        yield from _named(line.parameters)


def _named(evidence: Any) -> Iterator[str]:
    for name, below in _evidence_below(evidence):
        yield name
        yield from _named(below)


def _conclusion(entry: Entry) -> Iterator[Step]:
    """The least upper and the greatest lower bounds together."""
    said = (tight_text(entry), delta_text(entry))
    known = [f"tight {what} {text}" for what, text in zip((quantity(entry.claim), "delta"), said, strict=True) if text]
    if known:
        yield Step("fact", f"together: {'; '.join(known)}; compared exactly with what is claimed")


def _step(lines: Sequence[Line], line: Line, bounds: Sequence[Bound], told: set[str], judgement: Judgement) -> Step:
    """One line of a proof: the bounds it proves, and the rule below them."""
    said = "; ".join(_bound(bound) for bound in bounds)
    needed = [(text, bound.side) for bound in bounds for text in of_a_bound(judgement.claim, bound, EXPLAINED[line.rule].ASSUMED)]
    assumed = dict.fromkeys(plain(text if text in judgement.assumptions else marked(text, side)) for text, side in needed)
    return Step("bound", said, below=(_line(lines, line, told, tuple(Step("assumed", text) for text in assumed)),))


def _by_rule(errors: Iterable[tuple[str, ErrorBound]]) -> Iterator[tuple[str, list[ErrorBound]]]:
    """The bounds on errors that each rule gives."""
    for rule in dict.fromkeys(rule for rule, _ in errors):
        yield rule, [bound for name, bound in errors if name == rule]


def _error(lines: Sequence[Line], rule: str, bounds: Sequence[ErrorBound], told: set[str]) -> Step:
    """The bounds on errors that a rule gives, and its line below them."""
    line = next(line for line in lines if line.rule == rule and not line.place)
    assumed = dict.fromkeys(plain(text) for bound in bounds for text in (*EXPLAINED[rule].ASSUMED, *bound.assumed))
    below = _line(lines, line, told, tuple(Step("assumed", text) for text in assumed))
    return Step("bound", "; ".join(map(_of_error, bounds)), below=(below,))


def _of_error(bound: ErrorBound) -> str:
    whose = "of any mechanism" if bound.whose == "any" else "of this noise"
    where = "" if bound.coordinate is None else f" in coordinate {bound.coordinate + 1}"
    what = NAMES.get(bound.measure) or "exceeded with probability at most " + ("" if bound.beta is None else format_expr(bound.beta))
    sign = "\N{LESS-THAN OR EQUAL TO}" if bound.side == "upper" else "\N{GREATER-THAN OR EQUAL TO}"
    return f"error {whose}{where}, {what} {sign} {_number(bound.value, bound.side)}"


def _line(lines: Sequence[Line], line: Line, told: set[str], assumed: tuple[Step, ...] = ()) -> Step:
    """The rule of a line, with those of its premises below."""
    below = [_line(lines, lines[number], told) for number in dict.fromkeys(line.premises)]
    return _rule(line.rule, line.parameters, told, assumed, tuple(below))


def _rule(name: str, evidence: Any, told: set[str], assumed: tuple[Step, ...] = (), premises: tuple[Step, ...] = ()) -> Step:
    said = stated(name) if name in EXPLAINED else None
    below = (*premises, *_rules_below(evidence, told))
    checked = () if said is None or name in told else tuple(Step("checked", line) for line in said.checked)
    told.add(name)
    return Step("rule", f"{name} ({said.source})" if said is not None else name, name, (*below, *checked, *assumed))


def _rules_below(evidence: Any, told: set[str]) -> Iterator[Step]:
    """The rules that the parameters of a line name, each with those below it."""
    for name, below in _evidence_below(evidence):
        yield _rule(name, below, told)


def _evidence_below(evidence: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The nearest rules in some evidence, each with its own."""
    if isinstance(evidence, Mapping):
        if isinstance(evidence.get("rule"), str):
            yield evidence["rule"], {key: value for key, value in evidence.items() if key != "rule"}
            return
        evidence = list(evidence.values())
    if isinstance(evidence, list):
        for value in evidence:
            yield from _evidence_below(value)


def _bound(bound: Bound) -> str:
    sign = "\N{LESS-THAN OR EQUAL TO}" if bound.side == "upper" else "\N{GREATER-THAN OR EQUAL TO}"
    at = "".join(f" at {name} = {format_expr(value)}" for name, value in bound.at.items())
    return f"{_QUANTITIES[bound.quantity]} {sign} {_number(bound.value, bound.side)}{at}"


@lru_cache(maxsize=4096)
def _number(value: Expr | Infinite, side: str) -> str:
    """A bound for people: exact where that is short, else a decimal rounded to the safe side."""
    if isinstance(value, Infinite):
        return "\N{INFINITY}"
    if symbols(value):
        return format_expr(value)
    try:
        decimal = decimal_bounds(value, _DIGITS)[side == "upper"]
    except Undecided:
        return format_expr(value)
    exact = format_expr(value)
    if len(exact) > 40 or exact == decimal:
        return decimal
    return exact if isinstance(value, Num) and "/" not in exact else f"{exact}, {'at most' if side == 'upper' else 'at least'} {decimal}"


GLYPHS: Final = {"claim": "", "bound": "", "rule": "by ", "checked": "checked: ", "assumed": "assumed: ", "fact": ""}


def lines(step: Step) -> Iterator[str]:
    """The tree as text, one step a line."""
    yield GLYPHS[step.kind] + step.text
    for number, below in enumerate(step.below):
        last = number == len(step.below) - 1
        first, *rest = lines(below)
        yield ("\N{BOX DRAWINGS LIGHT UP AND RIGHT}\N{BOX DRAWINGS LIGHT HORIZONTAL} " if last else "├─ ") + first
        yield from (("   " if last else "│  ") + line for line in rest)

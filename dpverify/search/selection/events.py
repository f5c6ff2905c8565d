"""Events of selections in words: the answers of two neighbours, what is told on both, and how probable it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.search.decimals import decimals
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import format_expr, substitute
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, Claim, NoisyMax
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.selection.chances import MOVES
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.delta_masses import of_run
from dpverify.trusted.theories.selection.rules import selection_event as rule
from dpverify.trusted.theories.selection.rules import selection_event_at as delta_event_at
from dpverify.trusted.theories.selection.rules import worst_output


def described(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    """The event that a fact is about, or its complement, in the order of neighbours in which it tells more at an epsilon."""
    run = fact.about
    assert isinstance(run, Run)
    return _told(of_run(run, rule.NAME), fact.parameters, epsilon)


def described_at(claim: Claim, facts: Sequence[Fact]) -> Mapping[str, Any] | None:
    """The same of the last line about a claim whose event is at values of its parameters; None where there is none."""
    lines = [fact.parameters for fact in facts if fact.rule == delta_event_at.NAME and not fact.place]
    if not lines or claim.epsilon is None:
        return None
    parameters = {key: value for key, value in lines[-1].items() if key != "at"}
    question = asked(claim, {"side": "lower", "at": lines[-1].get("at", {})}, rule.NAME, near=True)
    epsilon = constant(substitute(claim.epsilon, question.at))
    return {**_told(question, parameters, epsilon), "at": {name: format_expr(value) for name, value in question.at.items()}}


def _told(question: Asked, parameters: Mapping[str, Any], epsilon: arb) -> dict[str, str]:
    p, q = rule.probabilities(question, parameters)()
    told = _of_output if "grids" in parameters else _of_max if isinstance(question.selection, NoisyMax) else _of_threshold
    here, there, event, other = told(question, parameters)
    factor = epsilon.exp()
    ways = [(p - factor * q, p, q, here, there, event), (1 - p - factor * (1 - q), 1 - p, 1 - q, here, there, other)]
    if question.selection.neighbours not in ONE_WAY:
        ways += [(q - factor * p, q, p, there, here, event), (1 - q - factor * (1 - p), 1 - q, 1 - p, there, here, other)]
    excess, p, q, here, there, event = max(ways, key=lambda way: float(way[0].mid()))
    found = {"pair": f"{here}; and {there}", "event": event, "P": decimals(p), "Q": decimals(q)}
    return found | {"P - exp(epsilon)*Q": decimals(excess)}


def _of_output(question: Asked, parameters: Mapping[str, Any]) -> tuple[str, str, str, str]:
    here, there = worst_output.told_pair(question, parameters)
    if isinstance(question.selection, NoisyMax):
        event = "the first answer is the greatest"
        pair = [f"first answer {_short(output.centre)}, {output.negatives} others {_short(output.low)}" for output in (here, there)]
        return pair[0], pair[1], event, f"not: {event}"
    pair = [f"answers {_short(output.low)} at negatives, {_short(output.high)} at positives" for output in (here, there)]
    event = f"{here.negatives} negatives, then {here.positives} positives"
    return pair[0], pair[1], event, f"not: {event}"


def _of_max(question: Asked, parameters: Mapping[str, Any]) -> tuple[str, str, str, str]:
    mechanism = question.selection
    assert isinstance(mechanism, NoisyMax)
    if mechanism.hull:
        return _in_hull(question, mechanism, parameters)
    group = parameters["group"]
    lead, moved = to_fraction(parameters["lead"], rule.NAME), question.value(question.moved, "the sensitivity")
    first = "the first answer" if group == 1 else f"the first {group} answers"
    fall = (2 if mechanism.neighbours == "all" else 1) * moved
    here, there = (f"{first} {_short(abs(x))} {'below' if x < 0 else 'above'} all others" for x in (lead, lead - fall))
    among = first if group == 1 else f"among {first}"
    return here, there, f"the greatest is {among}", f"the greatest is not {among}"


def _in_hull(question: Asked, mechanism: NoisyMax, parameters: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Answers by their numbers, from 1 on, and which of them the greatest is among."""
    moved, point = question.value(question.moved, "the sensitivity"), mechanism.hull[parameters["point"]]
    before = [to_fraction(text, rule.NAME) for text in parameters["answers"]]
    here, there = (
        f"answers ({', '.join(_short(x + times * moved * more) for x, more in zip(before, point, strict=True))})" for times in (0, 1)
    )
    numbers = [str(i + 1) for i in sorted(parameters["winners"])]
    among = f"answer {numbers[0]}" if len(numbers) == 1 else f"one of the answers {', '.join(numbers)}"
    return here, there, f"the greatest is {among}", f"the greatest is not {among}"


def _of_threshold(question: Asked, parameters: Mapping[str, Any]) -> tuple[str, str, str, str]:
    told, step = parameters, question.value(question.moved, "the sensitivity")
    negatives, positives = told["negatives"], told["positives"]
    low, high = (to_fraction(text, rule.NAME) for text in told["answers"])
    u, v = MOVES["monotone" if question.selection.neighbours == "one" else question.selection.neighbours][told["move"]]
    here, there = (
        ", then ".join(
            f"{count} {'answer' if count == 1 else 'answers'} {_short(at)}" for count, at in ((negatives, low), (positives, high)) if count
        )
        for low, high in ((low, high), (low + u * step, high - v * step))
    )
    events = [f"the first {negatives} negative"] * (negatives > 0)
    events += [f"{'all' if told['next'] == 'all' else 'one at least'} of the next {positives} positive"] * (positives > 0)
    event = ", then ".join(events)
    return here, there, event, f"not: {event}"


def _short(at: Fraction) -> str:
    """A rational for readers, to nine digits where it is long."""
    return str(at) if len(str(at)) <= 12 else f"{float(at):.9g}"

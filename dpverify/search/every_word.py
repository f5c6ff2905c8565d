"""Proposes all answers, neighbours and outputs of a selection on few integers: cuts beyond which there is next to nothing of the noises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpverify.search.decimals import decimals
from dpverify.search.plans import Plan
from dpverify.search.witness_words import in_words
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import ONE
from dpverify.trusted.language.model import ONE_WAY, Claim, NoisyMax, Translation, noises_of
from dpverify.trusted.numbers.balls import precision, value
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.selection import delta_every_word as curve
from dpverify.trusted.rules.selection import every_word as rule
from dpverify.trusted.rules.selection.compared import Asked, asked
from dpverify.trusted.rules.selection.delta_masses import of_run

_SPARE = 64
"""Bits beyond those asked for."""
_FARTHEST = 1 << 12
_MOST_TERMS = rule.MOST // 4
"""Terms that are worth their time where tails fall slowly."""
_ROUGH = 64
_MOST_INSIDE = 10_000
"""Pairs times outputs up to which the curve of a part is wanted at many epsilons."""
_HALVINGS = 60
_LARGEST = 64.0

Floats = NDArray[np.float64]


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds on the tight epsilon, or that it is infinite. Raises Rejected, Undecided where not all is enclosed."""
    bits = int(3.33 * digits) + _SPARE
    told = {"cuts": _cuts(asked(claim, {}, rule.NAME, near=True), bits, adaptive=False)}
    if getattr(claim.mechanism, "candidates", None) == ONE:
        return []  # nothing is told, which others know exactly
    with precision(bits + _SPARE):
        rule.check(claim, told)
    return [{"rule": rule.NAME, "evidence": told, "prec": bits + _SPARE}]


def plan(run: Run, epsilon: float | None, delta: float | None, every: bool) -> Plan:
    """The curve, from below by the pair of answers that is worst where the claim is. every: it is wanted at all epsilons.

    Raises Rejected, Undecided.
    """
    question = of_run(run, rule.NAME)
    told = {"cuts": _cuts(question, _ROUGH, adaptive=True)}
    with precision(_ROUGH):
        words = rule.Words.of(question, told, adaptive=True)
        pairs = words.pairs(furthest=isinstance(question.selection, NoisyMax))
        if not pairs or len(words.outputs) == 1:
            raise Undecided("nothing moves, or one output alone is told, which others know exactly.")
        if every and len(pairs) * len(words.outputs) > _MOST_INSIDE:
            raise Undecided("there are too many neighbours to look at all of them at many epsilons.")
        rows = {
            answers: np.array([float(chance.mid()) for chance in row])
            for answers, row in words.rows(dict.fromkeys(q for pair in pairs for q in pair), at_random=True).items()
        }
    here, there = (np.array([rows[pair[side]] for pair in pairs]) for side in (0, 1))
    at = epsilon if epsilon is not None else _epsilon_at(here, there, delta or 0.0)
    worst = pairs[int(np.argmax(_heights(here, there, at)))]
    return {"rule": curve.NAME, **told, "pair": [list(q) for q in worst]}


def _heights(here: Floats, there: Floats, epsilon: float) -> Floats:
    found: Floats = np.maximum(here - math.exp(min(epsilon, _LARGEST)) * there, 0.0).sum(axis=1)
    return found


def _epsilon_at(here: Floats, there: Floats, delta: float) -> float:
    """About the least epsilon at which no pair has more than a delta."""
    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _heights(here, there, middle).max() > delta else (low, middle)
    return low


def _cuts(question: Asked, bits: int, adaptive: bool) -> list[int]:
    """Between which all of the noises is, to so many bits, or as much as can be added, whatever they are compared with.

    Raises Rejected, Undecided.
    """
    mechanism = question.selection
    if mechanism.bounds is None or not question.whole:
        raise Undecided("answers that are no integers between bounds are not finitely many.")
    ends = [int(question.value(end, "bounds")) for end in mechanism.bounds]
    if not isinstance(mechanism, NoisyMax):
        ends.append(int(question.value(mechanism.threshold, "threshold")))
    reach, places = max(ends) - min(ends) + 2, [0]
    words = rule.Words.of(question, {"cuts": [-reach, reach]}, adaptive)
    far = min(_FARTHEST, _MOST_TERMS // (2 * len(words.between) ** words.count * len(words.outputs)) - reach)
    for noise in noises_of(mechanism):
        if isinstance(noise, Translation) and noise.integers:
            places += _places(noise, bits, far)
    return [min(places) - reach, max(places) + reach]


def _places(noise: Translation, bits: int, far: int) -> tuple[int, int]:
    """The first and the last integer of which the probability counts, not further than so far."""
    low, high = domain(noise)
    first = -far if low is None else max(-far, math.ceil(low))
    last = far if high is None else min(far, math.floor(high))
    weights = {n: value(noise.density, {"z": arb(n)}).mid() for n in range(first, last + 1)}
    most = max(map(abs, weights.values()), default=arb(0))
    counted = [n for n, weight in weights.items() if weight > most * arb(2) ** -bits]
    return min(counted, default=0), max(counted, default=0)


def described(fact: Fact, epsilon: arb) -> dict[str, str]:
    """The outputs that lose more than epsilon on the pair of answers of a curve, in the order in which they tell more."""
    run = fact.about
    assert isinstance(run, Run)
    words = rule.Words.of(of_run(run, rule.NAME), fact.parameters, adaptive=True)
    here, there = (tuple(q) for q in fact.parameters["pair"])
    rows, factor, found = words.rows([here, there], at_random=True), epsilon.exp(), []
    for sides in ((here, there), (there, here))[: 1 if words.question.selection.neighbours in ONE_WAY else 2]:
        told = [(word, p, q) for word, p, q in zip(words.outputs, *(rows[side] for side in sides), strict=True) if p > factor * q]
        p, q = (sum((one[i] for one in told), arb(0)) for i in (1, 2))
        event = in_words({"says": "any-of-words", "words": [words.told(one[0]) for one in told]})
        pair = in_words({"says": "answers-of-both", "sides": [[[_asked(words, i, x)] for i, x in enumerate(side)] for side in sides]})
        found.append((p - factor * q, {"pair": pair, "event": event, "P": decimals(p), "Q": decimals(q)}))
    excess, best = max(found, key=lambda one: float(one[0].mid()))
    return best | {"P - exp(epsilon)*Q": decimals(excess)}


def _asked(words: rule.Words, number: int, answer: int) -> str:
    """An answer, with what is told before it where others are asked for after other words."""
    starts = [start for start, place in words.asked.items() if place == number]
    alone = not starts or len(set(map(len, words.asked))) == len(words.asked)
    return str(answer) if alone else f"{answer} after {', '.join(words.told(starts[0])) or 'nothing'}"

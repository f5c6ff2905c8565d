"""Proposes all answers, neighbours and outputs of a selection on few integers: cuts beyond which there is next to nothing of the noises."""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from dpverify.search.composition.plans import Plan
from dpverify.search.curves import sums
from dpverify.search.decimals import decimals
from dpverify.search.witness_words import in_words
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.combinators.sums import support
from dpverify.trusted.kernel.balls import precision, value
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, AboveThreshold, Claim, Selection, Sum, Translation, noises_of, on_integers
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.theories.selection.as_stream import as_stream
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.rules import every_word as rule
from dpverify.trusted.theories.selection.rules import every_word_curve as curve

_SPARE = 64
"""Bits beyond those asked for."""
_FARTHEST = 1 << 12
_ROUGH = 64
_MOST_INSIDE = 8_000
"""Pairs times outputs up to which the curve of a part is wanted at many epsilons."""
_MOST_LOOKED = 40_000
"""The same where it is wanted at one."""
_HALVINGS = 30
_LARGEST = 64.0
_OF_NUMBERS = (24, 10)
"""Bits where numbers are told."""
_SHOWN = 12
"""Outputs of an event that are named."""


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds on the tight epsilon, or that it is infinite. Raises Rejected, Undecided where not all is enclosed."""
    if getattr(claim.mechanism, "candidates", None) == ONE and getattr(claim.mechanism, "report", None) == "index":
        return []  # nothing is told, which others know exactly
    question, bits = asked(claim, {}, rule.NAME, near=True, wanted=Selection), int(3.33 * digits) + _SPARE
    # numbers that are told far out are left to other rules, and the worst is seldom there
    tried = (bits,) if is_whole(claim) else _OF_NUMBERS
    for bits in tried:
        told = {"cuts": _cuts(question, bits)}
        try:
            with precision(bits + _SPARE):
                rule.check(claim, told)
        except Rejected:
            if bits == tried[-1]:
                raise
            continue
        return [{"rule": rule.NAME, "evidence": told, "prec": bits + _SPARE}]
    return []


def plan(run: Run, epsilon: float | None, delta: float | None, every: bool) -> Plan:
    """The curve, from below by the answers that are worst where the claim is. every: it is wanted at all epsilons.

    Raises Rejected, Undecided.
    """
    question = curve.question_of(run)
    told = {"cuts": _cuts(question, _OF_NUMBERS[0] if _tells_numbers(question) else _ROUGH)}
    with precision(_ROUGH):
        words = rule.Words.of(question, told)
        if len(words.ways) == 1 and not any(words.numbers.values()):
            raise Undecided("one output alone is told, which others know exactly.")
        curve.height(words, arb(1), words.at_random(True))
        used = rule.MOST - words.left
        if used > (_MOST_INSIDE if every or epsilon is None else _MOST_LOOKED):
            raise Undecided("there are too many neighbours to look at all of them at many epsilons.")
        at = epsilon if epsilon is not None else _epsilon_at(words, delta or 0.0)
        words.left = rule.MOST
        factor, ways = arb(at).exp(), (1, -1) if words.stream.neighbours == "monotone" else (0,)
        found = [_worst(words, factor, way) for way in ways]
        pair = max(found, key=lambda told: float(curve.height(words, factor, words.at_random(True), told).mid()))
    return {"rule": curve.NAME, **told, "pair": [[list(side[-1]) for side in pair[start]] for start in curve.beginnings(words)]}


def _worst(words: rule.Words, factor: arb, way: int) -> dict[rule.Word, rule.Pair]:
    """The answers after each beginning of a word that tell neighbours apart the best, the same after all numbers.

    way: 1 where none goes down, -1 where none goes up.
    """
    found: dict[rule.Word, rule.Pair] = {}
    for start in sorted(curve.beginnings(words), key=len):
        before = found[start[:-1]] if start else ((), ())

        def from_here(pair: rule.Pair, start: rule.Word = start) -> float:
            outputs = [one for step in words.after[start] for one in words.outputs(step)]
            return float(sum((curve.height(words, factor, words.at_random(True), None, 0, one, pair) for one in outputs), arb(0)).mid())

        near = [
            (here, there)
            for here, there in words.moves(before)
            if all((y - x) * way >= 0 for x, y in zip(here[-1], there[-1], strict=True)) and words.occurs((here, there))
        ]
        if not near:
            raise Undecided("integers between the bounds are not certainly apart by a point of the hull.")
        found[start] = max(near, key=from_here)
    return found


def _epsilon_at(words: rule.Words, delta: float) -> float:
    """About the least epsilon at which no neighbours have more than a delta."""
    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        words.left = rule.MOST
        more = float(curve.height(words, arb(middle).exp(), words.at_random(True)).mid()) > delta
        low, high = (middle, high) if more else (low, middle)
    return low


def is_whole(claim: Claim) -> bool:
    """Whether both bounds are looked for: no numbers are told, or noises have finitely many values."""
    question = asked(claim, {}, rule.NAME, near=True, wanted=Selection)
    return not _tells_numbers(question) or _has_ends(question)


def _tells_numbers(question: Asked) -> bool:
    return any(branch.tell for branch in as_stream(question).steps)


def _has_ends(question: Asked) -> bool:
    """Whether all noises have finitely many values."""
    noises = noises_of(question.claim.mechanism)
    return all(on_integers(noise) and None not in support(noise) for noise in noises)


def _cuts(question: Asked, bits: int) -> list[int]:
    """Between which all of the noises is, to so many bits, or as much as can be added, whatever they are compared with.

    Raises Rejected, Undecided.
    """
    mechanism = question.claim.mechanism
    assert isinstance(mechanism, Selection)
    if mechanism.bounds is None or not question.whole:
        raise Undecided("answers that are no integers between bounds are not finitely many.")
    ends = [int(question.value(end, "bounds")) for end in mechanism.bounds]
    if isinstance(mechanism, AboveThreshold):
        ends.append(int(question.value(mechanism.threshold, "threshold")))
    reach, places = max(ends) - min(ends) + 2, [0]
    for noise in noises_of(mechanism):
        if isinstance(noise, Sum):
            mean, deviation = sums.spread(noise)
            far = min(math.ceil(deviation * math.sqrt(2 * bits)) + 1, _FARTHEST)
            places += [max(math.floor(mean) - far, -_FARTHEST), min(math.ceil(mean) + far, _FARTHEST)]
        elif isinstance(noise, Translation) and noise.integers:
            places += _places(noise, bits, _FARTHEST)
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
    """The outputs that lose more than epsilon on the answers of a curve, in the order in which they tell more."""
    run = fact.about
    assert isinstance(run, Run)
    words = rule.Words.of(curve.question_of(run), fact.parameters)
    pair, factor, found = curve.read(words, fact.parameters["pair"]), epsilon.exp(), []
    mechanism = words.question.claim.mechanism
    assert isinstance(mechanism, Selection)
    for order in (0, 1)[: 1 if mechanism.neighbours in ONE_WAY else 2]:
        told: list[tuple[list[str], arb, arb]] = []
        for word in words.ways:
            answers = pair[word[:-1]] if word else ((), ())
            for output in words.outputs(word):
                p, q = (words.chance(output, answers[side], words.at_random(True)) for side in (order, 1 - order))
                if p > factor * q:
                    told.append((rule.told_of(words, output), p, q))
        p, q = sum((one[1] for one in told), arb(0)), sum((one[2] for one in told), arb(0))
        shown = [one[0] for one in sorted(told, key=lambda one: -float(one[1].mid()))[:_SHOWN]]
        event = in_words({"says": "any-of-words", "words": shown}) + (" or others" if len(told) > _SHOWN else "")
        sides = [[_asked(pair, start, x) for start, both in pair.items() for x in both[side][-1]] for side in (order, 1 - order)]
        answers_of = in_words({"says": "answers-of-both", "sides": [[[x] for x in side] for side in sides]})
        found.append((p - factor * q, {"pair": answers_of, "event": event, "P": decimals(p), "Q": decimals(q)}))
    excess, best = max(found, key=lambda one: float(one[0].mid()))
    return best | {"P - exp(epsilon)*Q": decimals(excess)}


def _asked(pair: curve.Told, start: rule.Word, answer: int) -> str:
    """An answer, with what is told before it where others are asked for after other words."""
    alone = len({len(other) for other in pair}) == len(pair)
    return str(answer) if alone else f"{answer} after {', '.join(word for word, _ in start) or 'nothing'}"

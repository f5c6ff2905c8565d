"""The outputs that lose more than epsilon between two neighbours, as unions of intervals, where a rule about a curve knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.search.decimals import decimals
from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, leaf, reach
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.expr import ONE, Num, div, format_expr, mul, parse, substitute
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Kernel, Radial, Stream, Translation
from dpverify.trusted.theories.composition.rules import shuffled_histograms
from dpverify.trusted.theories.curves import shifts
from dpverify.trusted.theories.curves.rules import every_shift, kernel_pair
from dpverify.trusted.theories.curves.unimodal import in_pieces
from dpverify.trusted.theories.selection.rules import every_word_curve as delta_every_word
from dpverify.trusted.theories.selection.rules import selection_event as delta_event

_MOST_SHOWN: Final = 8
_LARGE: Final = 1000
"""An epsilon at which all that counts is what is impossible."""


def known(fact: Fact) -> Callable[[arb], Mapping[str, str]] | None:
    """What describes the set at an epsilon, for the lower pair of a curve; None where no rule that the pair comes from knows the set."""
    found = _source(fact)
    return None if found is None else lambda epsilon: _RULES[found.rule](found, epsilon)


def impossible(fact: Fact) -> Mapping[str, str] | None:
    """The event that one of two neighbours never has, where the rule that the lower pair of a curve comes from knows it."""
    found = _source(fact)
    if found is None or found.rule != delta_event.NAME:
        return None
    told = _RULES[found.rule](found, arb(_LARGE))
    return {key: told[key] for key in ("pair", "event", "P", "Q")}


def _source(fact: Fact) -> Fact | None:
    """The fact that the lower pair of a curve comes from."""
    if fact.rule in _RULES:
        return fact
    assert isinstance(fact.says, Curve)
    pair = fact.says.lower
    for premise in fact.premises:
        below = premise.says.lower if isinstance(premise.says, Curve) else None
        if pair is not None and below is not None and pair.forward in (below.forward, below.backward):
            return _source(premise)
    return None


def _of_a_shift(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    """The answers between which noise on the line loses more than epsilon, for a shift of the sensitivity's share."""
    run, parameters = fact.about, fact.parameters
    assert isinstance(run, Run) and isinstance(run.part.mechanism, Radial | Translation)
    noise, reached = run.part.mechanism, reach(run, parameters.get("sensitivity"))
    at = Fraction(1) if isinstance(run.part, OnePair) and reached.exact else Fraction(parameters["at"])
    length = div(reached.lower, noise.scale if isinstance(noise, Radial) else ONE)
    reading = in_pieces(noise).stretched(length)
    effort = shifts.Effort(*(parameters[key] for key in ("far", "point", "cell")))
    with shifts.whole():
        found = shifts.divergences(reading, effort).at(epsilon.mid())
        swapped = bool(found.over(-at, -at) > found.over(at, at))
        side = -at if swapped else at
        ends = [(*end.near(rational(side)), sign) for end, sign in found.cell(side, side).ends.items() if sign]
        p, q = arb(0), arb(0)
        for y, z, sign in ends:
            p, q = (mass + sign * found.density.below(x) / found.density.total for mass, x in ((p, y), (q, z)))
        texts = list[str]()
        ends.sort(key=lambda end: (float(end[0].mid()), -end[2]))
        for (low, *_), (high, *_) in zip(ends[::2], ends[1::2], strict=True):
            start, stop = (x.mid() * constant(length) + rational(reading.offset) for x in (low, high))
            texts.append(f"{start.str(15, radius=False)} < y - q(x) < {stop.str(15, radius=False)}")
        moved = f"answers q(x) and q(x') = q(x) {'-' if swapped else '+'} {format_expr(mul(length, Num(at)))}"
        event = "{y : " + " or ".join(texts[:_MOST_SHOWN]) + (" or ..." if len(texts) > _MOST_SHOWN else "") + "}"
        return {"pair": moved, "event": event if texts else "{}", "P": p.str(15), "Q": q.str(15)}


def _of_bins(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    """The bins that lose more than epsilon between two inputs of a kernel."""
    run, parameters = fact.about, fact.parameters
    assert isinstance(run, Run)
    kernel = leaf(run).mechanism
    assert isinstance(kernel, Kernel)
    inputs = [parse(parameters[key]) for key in ("theta", "other")]
    cuts = tuple(Fraction(cut) for cut in parameters["cuts"])
    first, second = (substitute(kernel.density, {"theta": x}) for x in inputs)
    bins = kernel_pair.bins_of((first, second), cuts)
    masses = bins.masses()[:-1]
    if bins.profile(True)(epsilon) > bins.profile(False)(epsilon):
        inputs, masses = inputs[::-1], [(q, p) for p, q in masses]
    p, q, texts = arb(0), arb(0), list[str]()
    for (more, less), (low, high) in zip(masses, pairwise(cuts), strict=True):
        if more > epsilon.exp() * less:
            p, q = p + more, q + less
            if texts and texts[-1].endswith(f" {low}]"):
                texts[-1] = texts[-1].partition(",")[0] + f", {high}]"
            else:
                texts.append(f"[{low}, {high}]")
    a, b = map(format_expr, inputs)
    return {"pair": f"inputs {a} and {b}", "event": " or ".join(texts) or "{}", "P": decimals(p), "Q": decimals(q)}


def _of_a_selection(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    from dpverify.search.selection import events as selection_events
    from dpverify.search.selection import words_of_streams

    assert isinstance(fact.about, Run)
    if isinstance(fact.about.part.mechanism, Stream):
        return words_of_streams.described(fact, epsilon)
    return selection_events.described(fact, epsilon)


def _of_every_word(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    from dpverify.search.selection import every_word

    return every_word.described(fact, epsilon)


def _of_a_shuffle(fact: Fact, epsilon: arb) -> Mapping[str, str]:
    from dpverify.search.composition import shuffling

    return shuffling.described(fact, epsilon)


_RULES: Final = {
    every_shift.NAME: _of_a_shift, kernel_pair.NAME: _of_bins, delta_event.NAME: _of_a_selection,
    delta_every_word.NAME: _of_every_word, **dict.fromkeys((shuffled_histograms.NAME, "shuffled-bits", "shuffling"), _of_a_shuffle),
}  # fmt: skip

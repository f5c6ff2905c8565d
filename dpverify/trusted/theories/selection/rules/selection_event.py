"""What one event tells of a selection or stream at two neighbours: the pair of its probabilities, which bounds every curve from below.

Theorem: An event of probability p on some answers and p' on neighbouring ones bounds delta(eps) from below by p - e^eps p', and in the same
way by its complement. Of noisy max: the greatest is among the first k answers, all of them x above the others; of answers that differ by a
point of a hull, it is one of some. Of above threshold: the first k answers are negatives, of those that come next all are positives, or one
at least is. With noise of any law: one output. Of a stream: words that it tells, with what is certain of both probabilities.

Checked:
- the answers of both neighbours lie between the bounds, and move as neighbours may
- both probabilities, by enclosed quadrature between the cuts and the tails outside; of words as by the rule about pure epsilon

Source: docs/theory/selection.md#selection-event
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, NoisyMax, Stream, Vector
from dpverify.trusted.language.rationals import read_fraction, read_rising, read_whole, to_whole
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.selection.chances import MOST, Compared, Output, Side, pair, read_answers, way
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.delta_masses import in_closed_forms, of_run, read_cuts
from dpverify.trusted.theories.selection.noise_laws import Whole, law
from dpverify.trusted.theories.selection.rules import worst_output
from dpverify.trusted.theories.selection.whole_chances import greatest_of

NAME: Final = "selection-event"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

Probabilities = tuple[arb, arb]
Event = Sequence[tuple[int, Sequence[Side]]]
"""Its probability is a sum of those of sides that all come out so, each so many times."""
NEXT: Final = {"all": True, "any": False}
MOST_ANSWERS: Final = 10**9
"""Candidates or queries."""


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a selection, from below. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", fractions that rise; "prec". Of noisy max "group", how many answers are first, and "lead", by how much they are
    above the others; of answers in a hull "winners", the indices of those of which one is the greatest, "answers", and "point", the number
    of the point of the hull by which they move; on the integers two "cuts", of noise without a closed form its "grid". Of above threshold
    "move", the number of the way to move, "negatives" and "positives", how many of these come first and next, "next", whether all of the
    next are positives or any, and "answers", those of the first and of the next. Of an output with noises of any law "grids" besides, and
    what the rule about the worst output is told. Of a stream what the rule about told words is told.
    """
    mechanism: Any = run.part.mechanism
    if isinstance(mechanism, Stream):
        from dpverify.trusted.theories.selection.rules import told_words

        question = asked(leaf(run), {"side": "lower"}, NAME, near=True, wanted=Stream)
        ends, assumed = _ends(told_words.probabilities(question, parameters)), told_words.ASSUMED
        below = pair_of(lambda: ends, mechanism.neighbours in ONE_WAY)
    else:
        question, assumed = of_run(run, NAME), ASSUMED
        find = probabilities(question, parameters)
        below = pair_of((lambda: _ends(find())) if question.whole else lambda: (find(),) * 2, question.selection.neighbours in ONE_WAY)
    return settled.noise(run, Curve(None, below, (NAME,), assumed), parameters)


def _ends(both: Probabilities) -> tuple[Probabilities, Probabilities]:
    """What is certain of two probabilities that are not enclosed to many bits: that they are at least and at most so much."""
    here, there = both
    return (_within(here.lower()), _within(there.lower())), (_within(here.upper()), _within(there.upper()))


def probabilities(question: Asked, parameters: Mapping[str, Any]) -> Callable[[], Probabilities]:
    """Those of the event on both neighbours, at the working precision of the moment. Raises Rejected, CertificateError."""
    if question.selection.neighbours == "hull":
        return _in_hull(question, parameters, read_cuts(parameters, NAME))
    if "grids" in parameters:
        return _of_output(question, parameters)
    cuts = read_cuts(parameters, NAME)
    centre, here, there = (_of_max if isinstance(question.selection, NoisyMax) else _of_threshold)(question, parameters)

    def find() -> Probabilities:
        noises = in_closed_forms(question)
        return _sum(noises, here, centre, cuts), _sum(noises, there, centre, cuts)

    return find


def _sum(noises: Compared, event: Event, centre: Fraction, cuts: Sequence[Fraction]) -> arb:
    found = arb(0)
    for times, sides in event:
        found += times * noises.of_all(sides, centre, cuts)
    return _within(found)


def pair_of(find: Callable[[], tuple[Probabilities, Probabilities]], one_way: bool) -> Pair:
    """The pair of an event and its complement, from what the probabilities are at least and at most.

    one_way: neighbours are ordered, and of the other order nothing is told.
    """
    found = per_precision(find)
    found()  # at this precision, so that what is refused is refused now

    def told(epsilon: arb, order: int) -> arb:
        ((p, q), (most_p, most_q)), factor = (both[::order] for both in found()), epsilon.exp()
        return (p - factor * most_q).max((1 - most_p) - factor * (1 - q)).max(arb(0))

    def profile(order: int) -> Profile:
        return divergence(lambda epsilon: accurately(lambda: told(epsilon, order)))

    def rest(order: int) -> arb:
        """The mass of what only the first of the two has: of an event that the other certainly never has."""
        least, most = (both[::order] for both in found())
        return least[0] if most[1].is_zero() else arb(0)

    if one_way:
        return Pair(profile(1), lambda _: arb(0), rests=(partial(rest, 1), lambda: arb(0)))
    return Pair(profile(1), profile(-1), rests=(partial(rest, 1), partial(rest, -1)))


def _of_output(question: Asked, parameters: Mapping[str, Any]) -> Callable[[], Probabilities]:
    """One output with noises of any law, told of as to the rule about the worst one."""
    worst_output.readable(question)
    here, there = worst_output.told_pair(question, parameters)
    cuts = worst_output.read_cuts(parameters)

    def find() -> Probabilities:
        noises = worst_output.read(question.claim, parameters)[1]
        return _within(noises.probability(here, cuts)), _within(noises.probability(there, cuts))

    return find


def _within(chance: arb) -> arb:
    """A probability, by what encloses it."""
    return chance.max(arb(0)).min(arb(1))


def _in_hull(question: Asked, parameters: Mapping[str, Any], cuts: Sequence[Fraction]) -> Callable[[], Probabilities]:
    """One of some answers is the greatest: of answers that differ by a point of the hull."""
    mechanism, moved = question.selection, question.value(question.moved, "the sensitivity")
    assert isinstance(mechanism, NoisyMax)
    require(mechanism.report != "value", Rejected(NAME, "report", "which answer is the greatest is not told"))
    point = mechanism.hull[read_whole(parameters, "point", NAME, 0, len(mechanism.hull) - 1)]
    here = read_answers(parameters.get("answers"), NAME, len(point))
    there = tuple(x + moved * more for x, more in zip(here, point, strict=True))
    winners = sorted({to_whole(i, "winners", NAME, 0, len(point) - 1) for i in parameters["winners"]})
    ends = None if mechanism.bounds is None else [question.value(end, "bounds") for end in mechanism.bounds]
    between = ends is None or all(ends[0] <= x <= ends[1] for x in here + there)
    if not between or (question.whole and any(x.denominator != 1 for x in here + there)):
        raise Rejected(NAME, "answers", "they are not between the bounds, or no integers")

    grid = read_rising(parameters["grid"], "grid", NAME, 2, MOST) if "grid" in parameters else None

    def find(answers: Vector) -> arb:
        if question.whole:
            noise = law(mechanism.noise, cuts)
            assert isinstance(noise, Whole)
            places = [int(x) for x in answers]
            ways = {"first": (False,), "random": (True,)}.get(mechanism.ties, (False, True))
            found = [sum((greatest_of(noise, i, places, way) for i in winners), arb(0)) for way in ways]
            return _within(found[0].union(found[-1]))
        sides = ([Side(n, x - answers[i]) for x, n in Counter(answers[:i] + answers[i + 1 :]).items()] for i in winners)
        noises = in_closed_forms(question) if grid is None else Compared(*(law(mechanism.noise, grid),) * 2)
        return _sum(noises, [(1, some) for some in sides], Fraction(0), cuts)

    return lambda: (find(here), find(there))


# -- the event at two neighbours, with what its answers are compared with ----------------------------------------------


def _of_max(question: Asked, parameters: Mapping[str, Any]) -> tuple[Fraction, Event, Event]:
    mechanism, lead = question.selection, read_fraction(parameters, "lead", NAME)
    assert isinstance(mechanism, NoisyMax)
    require(mechanism.report != "value", Rejected(NAME, "report", "which answer is the greatest is not told"))
    count = question.count(mechanism.candidates, "candidates", MOST_ANSWERS)
    group = read_whole(parameters, "group", NAME, 1, count - 1)
    if mechanism.neighbours == "one" and 1 not in (group, count - group):
        raise Rejected(NAME, "the neighbours", "these move more than one answer")
    moved = question.value(question.moved, "the sensitivity")
    fall = 2 * moved if mechanism.neighbours == "all" else moved
    if mechanism.bounds is not None:
        low, high = (question.value(end, "bounds") for end in mechanism.bounds)
        if not low - high + fall <= lead <= high - low:
            raise Rejected(NAME, "lead", "the answers of both neighbours do not lie between the bounds")
    here, there = ([(group, [Side(group - 1, Fraction(0)), Side(count - group, -x)])] for x in (lead, lead - fall))
    return Fraction(0), here, there


def _of_threshold(question: Asked, parameters: Mapping[str, Any]) -> tuple[Fraction, Event, Event]:
    counts = _counts(question, parameters)
    way(question, parameters.get("move"), counts)
    here, there = pair(question, parameters["move"], counts, read_answers(parameters.get("answers"), NAME))
    return here.centre, _next(here, parameters["next"]), _next(there, parameters["next"])


def _next(output: Output, after: str) -> Event:
    """Negatives first, and next positives alone, or not none."""
    first, rest = Side(output.negatives, output.low), Side(output.positives, output.high, below=after == "any")
    return [(1, [first]), (-1, [first, rest])] if after == "any" else [(1, [first, rest])]


def _counts(question: Asked, parameters: Mapping[str, Any]) -> tuple[int, int]:
    """How many negatives come first, and how many answers of which all or any are positive come next. Raises CertificateError, Rejected."""
    (negatives, positives), after = (read_whole(parameters, key, NAME, 0) for key in ("negatives", "positives")), NEXT[parameters["next"]]
    queries, most = question.counts(MOST_ANSWERS)
    if not 0 < negatives + positives <= queries or (after and positives > most):
        raise Rejected(NAME, "the event", "so many are not asked for, or not told to be positive")
    if getattr(question.selection, "resample", False) and after and positives > 1:
        raise Rejected(NAME, "resample", "positives after the first are compared with another threshold")
    return negatives, positives

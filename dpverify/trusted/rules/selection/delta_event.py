"""What one event tells of a selection at two neighbours: the pair of its probabilities, which bounds every curve from below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.model import ONE_WAY, AboveThreshold, NoisyMax, Source
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.selection import worst_output
from dpverify.trusted.rules.selection.compared import Asked
from dpverify.trusted.rules.selection.delta_masses import Comparisons, Side, count_of, law_of, of_run, read_cuts, value_of
from dpverify.trusted.rules.selection.shifted import MOVES

NAME: Final = "selection-event"
STATEMENT: Final = (
    "An event of probability p on some answers and p' on neighbouring ones bounds delta(eps) from below by p - e^eps p', and in the same "
    "way by its complement. Of noisy max: the greatest is among the first k answers, all of them x above the others. Of above threshold: "
    "the first k answers are negatives, of those that come next all are positives, or one at least is. With noise of any law: one output."
)
CHECKED: Final = (
    "the answers of both neighbours lie between the bounds, and move as neighbours may",
    "both probabilities, by enclosed quadrature between the cuts and the tails outside",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of the threshold and of different answers are independent")
SOURCE: Final = Source("docs/theory/selection.md#selection-event")

Probabilities = tuple[arb, arb]
NEXT: Final = ("all", "any")


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a selection, from below. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", fractions that rise; "prec". Of noisy max "group", how many answers are first, and "lead", by how much they are
    above the others. Of above threshold "move", the number of the way to move, "negatives" and "positives", how many of these come first
    and next, "next", whether all of the next are positives or any, and "answers", those of the first and of the next. Of an output with
    noises of any law "grids" besides, and what the rule about the worst output is told.
    """
    question = of_run(run, NAME)
    pair = _pair(probabilities(question, parameters), question.selection.neighbours in ONE_WAY)
    return settled.noise(run, Curve(None, pair, (NAME,), ASSUMED), parameters)


def probabilities(question: Asked, parameters: Mapping[str, Any]) -> Callable[[], Probabilities]:
    """Those of the event on both neighbours, at the working precision of the moment. Raises Rejected, CertificateError."""
    if "grids" in parameters:
        return _of_output(question, parameters)
    cuts = read_cuts(parameters, NAME)
    return (_of_max if isinstance(question.selection, NoisyMax) else _of_threshold)(question, parameters, cuts)


def _pair(find: Callable[[], Probabilities], one_way: bool) -> Pair:
    """The pair of an event and its complement. one_way: neighbours are ordered, and the other order is none."""
    found = per_precision(find)
    found()  # at this precision, so that what is refused is refused now

    def at(epsilon: arb, order: int) -> arb:
        (p, q), factor = found()[::order], epsilon.exp()
        return (p - factor * q).max((1 - p) - factor * (1 - q)).max(arb(0))

    forward = divergence(lambda epsilon: accurately(lambda: at(epsilon, 1)))
    backward = forward if one_way else divergence(lambda epsilon: accurately(lambda: at(epsilon, -1)))
    rest = _rest(found, 1)
    return Pair(forward, backward, rests=(rest, rest if one_way else _rest(found, -1)))


def _rest(found: Callable[[], Probabilities], order: int) -> Callable[[], arb]:
    """The mass of what only the first of the two has: of an event that the other certainly never has."""

    def rest() -> arb:
        p, q = found()[::order]
        return p if q.is_zero() else arb(0)

    return rest


def _of_output(question: Asked, parameters: Mapping[str, Any]) -> Callable[[], Probabilities]:
    """One output with noises of any law, told of as to the rule about the worst one."""
    worst_output.readable(question)
    here, there = worst_output.told_pair(question, parameters)
    cuts = worst_output.read_cuts(parameters)

    def find() -> Probabilities:
        noises = worst_output.read(question.claim, parameters)[1]
        p, q = (noises.probability(output, cuts).max(arb(0)).min(arb(1)) for output in (here, there))
        return p, q

    return find


# -- noisy max ---------------------------------------------------------------------------------------------------------


def _of_max(question: Asked, parameters: Mapping[str, Any], cuts: list[Fraction]) -> Callable[[], Probabilities]:
    mechanism, group, lead = question.selection, parameters.get("group"), read_fraction(parameters, "lead", NAME)
    assert isinstance(mechanism, NoisyMax)
    if mechanism.report == "value":
        raise Rejected(NAME, "report", "which answer is the greatest is not told")
    count = count_of(mechanism.candidates, NAME, "candidates")
    if type(group) is not int or not 0 < group < count:
        raise CertificateError(f"{NAME}: 'group' is not a number of answers above 0 and below {count}.")
    if mechanism.neighbours == "one" and 1 not in (group, count - group):
        raise Rejected(NAME, "the neighbours", "these move more than one answer")
    moved = value_of(question.moved, NAME, "the sensitivity")
    fall = 2 * moved if mechanism.neighbours == "all" else moved
    if mechanism.bounds is not None:
        length = value_of(mechanism.bounds[1], NAME, "bounds") - value_of(mechanism.bounds[0], NAME, "bounds")
        if not fall - length <= lead <= length:
            raise Rejected(NAME, "lead", "the answers of both neighbours do not lie between the bounds")

    def find() -> Probabilities:
        law = law_of(mechanism.noise, NAME, "noise")
        compared = Comparisons(law, law, Fraction(0), cuts)
        p, q = (group * compared.probability(Side(group - 1, Fraction(0)), Side(count - group, -x)) for x in (lead, lead - fall))
        return p.min(arb(1)), q.min(arb(1))

    return find


# -- above threshold ---------------------------------------------------------------------------------------------------


def _of_threshold(question: Asked, parameters: Mapping[str, Any], cuts: list[Fraction]) -> Callable[[], Probabilities]:
    mechanism = question.selection
    assert isinstance(mechanism, AboveThreshold)
    negatives, positives = _counts(mechanism, parameters)
    u, v = _move(mechanism, parameters.get("move"), negatives, positives)
    told = parameters.get("answers")
    if not isinstance(told, list) or len(told) != 2:
        raise CertificateError(f"{NAME}: 'answers' are those of negatives and of positives, two numbers.")
    low, high = (read_fraction({"answers": text}, "answers", NAME) for text in told)
    step, centre = value_of(question.moved, NAME, "the sensitivity"), value_of(mechanism.threshold, NAME, "threshold")
    if mechanism.bounds is not None:
        a, b = (value_of(end, NAME, "bounds") for end in mechanism.bounds)
        if not all(a <= x <= b for x in (low, low + u * step, high, high - v * step)):
            raise Rejected(NAME, "answers", "those of both neighbours do not lie between the bounds")
    if mechanism.threshold_noise is None and mechanism.query_noise is None:
        raise Rejected(NAME, "the noises", "there is none")

    def find() -> Probabilities:
        first, answers = (
            None if noise is None else law_of(noise, NAME, "noise") for noise in (mechanism.threshold_noise, mechanism.query_noise)
        )
        compared = Comparisons(first, answers, centre, cuts)
        p, q = (_event(compared, negatives, low + u * s, positives, high - v * s, parameters["next"]) for s in (Fraction(0), step))
        return p, q

    return find


def _event(compared: Comparisons, negatives: int, low: Fraction, positives: int, high: Fraction, after: str) -> arb:
    first = Side(negatives, low)
    if after == "all":
        return compared.probability(first, Side(positives, high, below=False))
    found: arb = compared.probability(first) - compared.probability(first, Side(positives, high))
    return found.max(arb(0))


def _counts(mechanism: AboveThreshold, parameters: Mapping[str, Any]) -> tuple[int, int]:
    """How many negatives come first, and how many answers of which all or any are positive come next. Raises CertificateError, Rejected."""
    negatives, positives, after = (parameters.get(key) for key in ("negatives", "positives", "next"))
    if type(negatives) is not int or type(positives) is not int or min(negatives, positives) < 0 or after not in NEXT:
        raise CertificateError(f"{NAME}: 'negatives' and 'positives' are integers of at least 0, 'next' is {' or '.join(NEXT)}.")
    queries = count_of(mechanism.queries, NAME, "queries")
    most = queries if mechanism.positives is None else count_of(mechanism.positives, NAME, "positives")
    if not 0 < negatives + positives <= queries or (after == "all" and positives > most):
        raise Rejected(NAME, "the event", "so many are not asked for, or not told to be positive")
    if mechanism.resample and after == "all" and positives > 1:
        raise Rejected(NAME, "resample", "positives after the first are compared with another threshold")
    return negatives, positives


def _move(mechanism: AboveThreshold, move: Any, negatives: int, positives: int) -> tuple[int, int]:
    """How far negatives go up and positives down, in units of what an answer moves by. Raises CertificateError, Rejected."""
    ways = MOVES["monotone" if mechanism.neighbours == "one" else mechanism.neighbours]
    if type(move) is not int or not 0 <= move < len(ways):
        raise CertificateError(f"{NAME}: 'move' is not the number of a way to move, below {len(ways)}.")
    u, v = ways[move]
    if mechanism.neighbours == "one" and u * negatives + v * positives > 1:
        raise Rejected(NAME, "the neighbours", "these move more than one answer")
    return u, v

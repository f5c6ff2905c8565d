"""Proposes the probabilities of the output that loses the most: between bounds both sides, else a pair of answers that refutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import ctx

from dpverify.search.numeric import written
from dpverify.trusted.language.errors import DpverifyError, Undecided
from dpverify.trusted.language.expr import Expr, substitute
from dpverify.trusted.language.model import AboveThreshold, Claim, NoisyMax
from dpverify.trusted.numbers.balls import exact, precision, rational
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.rules.selection import chances
from dpverify.trusted.rules.selection import worst_output as rule

_SPARE = 64
"""Bits beyond those asked for."""
_FARTHEST = 12
"""How far out answers are put, in powers of two of what they move by."""
_ROUGH, _FINE = 53, 128


def between_bounds(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both sides of the tight epsilon between bounds."""
    bits = int(3.33 * digits) + 8
    with precision(bits + _SPARE):
        question, noises = rule.read(claim, {})
        ways = [(move, y) for move in range(len(chances.MOVES[question.selection.neighbours])) for y in chances.outputs(question)]
        pairs = {(move, y): chances.pair(question, move, y, None) for move, y in ways}
        cuts = _cuts(noises, [output for both in pairs.values() for output in both])
        losses = {way: chances.loss(noises, *both, cuts) for way, both in pairs.items()}
        if not all(loss.is_finite() for loss in losses.values()):
            raise Undecided("the probabilities of some output have no finite enclosure.")
        move, positives = max(losses, key=lambda way: float(losses[way].mid()))
        upper = max(exact(loss.upper()) for loss in losses.values())
        lower = exact(losses[move, positives].lower())
    grain = 2**bits
    above, below = Fraction(-(-upper * grain // 1), grain), Fraction(lower * grain // 1, grain)
    shared = {"cuts": [str(cut) for cut in cuts]}
    steps = [{"rule": rule.NAME, "evidence": {**shared, "value": written(above)}, "prec": bits + _SPARE}]
    if (below > 0 or not above) and not (isinstance(claim.mechanism, AboveThreshold) and claim.mechanism.neighbours == "one"):
        output = {"side": "lower", "positives": positives, "move": move}
        steps.append({"rule": rule.NAME, "evidence": {**shared, "value": written(below), **output}, "prec": bits + _SPARE})
    return steps


def refutation(claim: Claim, positives: int, move: int, at: Mapping[str, str]) -> list[dict[str, Any]]:
    """An output at a pair of answers whose probabilities show that a claim fails; none where it is not of those that are looked at.

    positives: of the output that loses the most far out, where the answers move so; the claim fails at these values of its parameters.
    """
    told: dict[str, Any] = {"side": "lower", "positives": positives, "move": move, **({"at": dict(at)} if at else {})}
    assert claim.epsilon is not None
    try:
        question, noises = rule.read(replace(claim, epsilon=None, delta=None), told)
        claimed = enclose(substitute(claim.epsilon, question.at))
        for answers in _answers(question.moved, isinstance(claim.mechanism, NoisyMax)):
            here, there = chances.pair(question, move, positives, answers)
            with precision(_ROUGH):
                rough = chances.loss(noises, here, there, _cuts(noises, [here, there]))
            if not rough.mid() > claimed:
                continue
            with precision(_FINE):
                cuts = _cuts(noises, [here, there])
                loss = chances.loss(noises, here, there, cuts)
                value = exact(((loss + claimed) / 2).mid())
            if loss > claimed:
                shown = {"answers": [str(answer) for answer in answers], "cuts": [str(cut) for cut in cuts], "value": written(value)}
                return [{"rule": rule.NAME, "evidence": {**told, **shown}, "prec": _FINE}]
    except (DpverifyError, OverflowError):
        pass
    return []


def _answers(moved: Expr, winner: bool) -> Iterator[tuple[Fraction, Fraction]]:
    """Answers at negatives and at positives, further and further apart: far from the threshold on both sides, or on one."""
    step = exact(enclose(moved).mid())
    for power in range(0, _FARTHEST, 2):
        far = step * 2**power
        yield from ((far, -far),) if winner else ((far, -far), (far, far), (-far, -far))


def _cuts(noises: chances.Compared, outputs: list[chances.Output]) -> list[Fraction]:
    """Where the densities have kinks, and how far out what is left does not count."""
    points = {point for output in outputs for point in (output.centre, output.low, output.high)}
    if noises.first is None:
        return sorted(points | {min(points) - 1})
    smallest = 1
    while noises.first.outside(rational(smallest)) > rational(1) / 2 ** (2 * ctx.prec):
        smallest *= 2
    return sorted(points | {min(points) - smallest, max(points) + smallest})

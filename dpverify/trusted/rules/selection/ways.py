"""Alignments of a stream, as evidence gives them: the shifts of each noise, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ZERO, Expr, div, mul, num, parse, symbols
from dpverify.trusted.language.model import Drawn, Named, Stream, Vector, on_integers
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.integers import is_whole
from dpverify.trusted.parts import noises
from dpverify.trusted.parts.streams import vertices
from dpverify.trusted.rules.selection.compared import Asked, Value, slopes, times, total

Moduli = Mapping[tuple[str, Fraction], Expr]
"""What a noise loses at most where it is moved by so many times the sensitivity, in units of the sensitivity."""


@dataclass(frozen=True, slots=True)
class Way:
    """One alignment, for one family of differences. alone: answers of one step alone move.

    modes: differences of the state, by name, each as 1 and the differences of the answers count in it; spent: whether the one step is over.
    steps: by mode, branch and whether answers move in it, the mode after it and its shifts. prices: by counter; each: what every step may
    cost beside, leaving: what the step may that leaves a mode, which is not come back to.
    """

    question: Asked
    stream: Stream
    points: Sequence[Vector]
    alone: bool
    once: Mapping[str, Vector]
    modes: Sequence[Mapping[str, Vector]]
    spent: Sequence[bool]
    steps: Mapping[tuple[int, int, bool], tuple[int, Mapping[str, Vector]]]
    prices: Mapping[str, Expr]
    each: Expr
    leaving: Sequence[Expr]
    slopes: Mapping[str, tuple[Value, Value]]
    moduli: Moduli

    def cost(self, shifts: Mapping[str, Vector], point: Vector) -> Value:
        """What shifts of noises cost where the answers differ by the point; of noise that is not log-concave, wherever they do."""
        paid: list[Value] = []
        for name, vector in shifts.items():
            if name not in self.slopes:
                paid.append(self._modulus(name, max(abs(at(vector, other)) for other in self.points)))
                continue
            by, (left, right) = at(vector, point), self.slopes[name]
            paid.append(times(self.question, num(abs(by)), right if by > 0 else left))
        return total(ZERO, *paid)

    def _modulus(self, name: str, most: Fraction) -> Expr:
        """What noise costs that is shifted by no more than so much: its cost does not fall as it is moved further."""
        if not most:
            return ZERO
        if (name, most) not in self.moduli:
            raise Rejected(self.question.rule, name, f"it is shifted by {most}, and no premise says what that costs")
        return self.moduli[name, most]


def read_moduli(question: Asked, told: Any, premises: Sequence[Fact]) -> tuple[Moduli, tuple[str, ...], tuple[str, ...]]:
    """What noises lose by themselves at the shifts that are told, in units of the sensitivity, and what that rests on.

    Raises Rejected, CertificateError.
    """
    rule, claim = question.rule, question.claim
    if not isinstance(told, list) or len(told) != len(premises):
        raise CertificateError(f"{rule}: 'moduli' is no list of as many shifts as there are premises, {len(premises)}.")
    if premises and not certainly_lt(ZERO, question.moved, question.domains):
        raise Rejected(rule, "the sensitivity", "it is not certainly positive")
    moduli, assumed, through = {}, list[str](), list[str]()
    for (name, shift), premise in zip(told, premises, strict=True):
        epsilon, lines = pure_of(premise, noises.question(claim, name, shift), rule)
        moduli[name, to_fraction(shift, rule)] = div(epsilon, question.moved)
        assumed += lines
        through += through_of(premise)
    return moduli, tuple(dict.fromkeys(assumed)), tuple(dict.fromkeys(through))


def read_way(question: Asked, stream: Stream, family: str, given: Any, moduli: Moduli) -> Way:
    """The alignment of one family, as the evidence gives it. Raises Rejected, Undecided, CertificateError."""
    rule, alone = question.rule, family == "one"
    try:
        once = _vectors(question, given["once"], stream.once)
        modes = [_vectors(question, mode, stream.state) for mode, _ in given["modes"]]
        spent = [over is True for _, over in given["modes"]]
        steps = {
            (_index(mode), _index(branch), moved is True): (_index(to), _vectors(question, shifts, stream.fresh))
            for mode, branch, moved, to, shifts in given["steps"]
        }
        prices = {str(name): parse(text) for name, text in given["prices"].items()}
        each, leaving = parse(given["each"]), [parse(text) for text in given["leaving"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CertificateError(f"{rule}: an alignment cannot be read: it has not the form that dpverify writes.") from error
    if not alone and any(any(vector[1:]) for kept in (once, *modes) for vector in kept.values()):
        raise CertificateError(f"{rule}: what is kept from step to step is shifted by what the answers of one step move by.")
    if not modes or any(spent) > alone or spent[0] or len(leaving) != len(modes):
        raise CertificateError(f"{rule}: the modes of an alignment do not begin with one in which nothing has moved, each with a price.")
    if not all(mode <= to < len(modes) for (mode, *_), (to, _) in steps.items()):
        raise CertificateError(f"{rule}: a branch leads back to a mode before, or to none.")
    wanted = {(m, b, moves) for m in range(len(modes)) for b in range(len(stream.steps)) for moves in _moves(alone, spent[m])}
    if steps.keys() != wanted:
        raise CertificateError(f"{rule}: an alignment has not exactly one entry for every mode, branch and move.")
    if not prices.keys() <= {limit.name for limit in stream.limits}:
        raise CertificateError(f"{rule}: an alignment has a price of what is no counter.")
    for price in (*prices.values(), each, *leaving):
        if symbols(price) - question.domains.keys():
            raise CertificateError(f"{rule}: a price has a name that is no parameter.")
        if not certainly_le(ZERO, price, question.domains):
            raise Rejected(rule, "prices", "one is not certainly at least 0")
    moved = {name for shifts in (once, *(shifts for _, shifts in steps.values())) for name, vector in shifts.items() if any(vector)}
    costly = [drawn for drawn in (*stream.once, *stream.fresh) if drawn.name in moved - {name for name, _ in moduli}]
    held = {drawn.name: slopes(question, drawn.noise) for drawn in costly}
    return Way(question, stream, vertices(stream, family), alone, once, modes, spent, steps, prices, each, leaving, held, moduli)


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is the number of no mode and of no branch.")
    return value


def _moves(alone: bool, spent: bool) -> tuple[bool, ...]:
    """Whether answers may move in a step."""
    return (False,) if spent else (False, True) if alone else (True,)


def _vectors(question: Asked, given: Mapping[str, Any], known: Sequence[Drawn | Named]) -> dict[str, Vector]:
    """By name, zero where none is given. On the integers shifts of noises are whole: so are the answers' differences, times the moves."""
    assert isinstance(question.claim.mechanism, Stream)
    rule, size = question.rule, 1 + len(question.claim.mechanism.answers)
    found = {str(name): tuple(to_fraction(text, rule) for text in row) for name, row in given.items()}
    if not found.keys() <= {each.name for each in known} or any(len(row) != size for row in found.values()):
        raise CertificateError(f"{rule}: a shift or a difference is of no known name, or has not {size} numbers.")
    for each in known:
        if isinstance(each, Drawn) and on_integers(each.noise) and each.name in found:
            number, *multiples = found[each.name]
            if any(x.denominator != 1 for x in multiples) or not is_whole(mul(num(number), question.moved), question.domains):
                raise Rejected(rule, each.name, "noise on the integers is shifted by what is no integer")
    return {each.name: found.get(each.name, (Fraction(0),) * size) for each in known}


def at(vector: Vector, point: Vector) -> Fraction:
    """A shift or a difference where the answers differ by the point."""
    return vector[0] + sum((factor * x for factor, x in zip(vector[1:], point, strict=True)), Fraction(0))

"""Alignments of a stream, as evidence gives them: the shifts of each noise, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any, Final

from dpverify.trusted.combinators import noises
from dpverify.trusted.combinators.streams import vertices
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify, require
from dpverify.trusted.kernel.expr import ZERO, Expr, div, mul, num, parse, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Drawn, Named, Stream, Vector, on_integers
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.selection.compared import Asked, Value, slopes, times, total
from dpverify.trusted.theories.selection.followed import can_be_followed

MOST_LOOSE: Final = 8
"""The most of the state whose differences are not known in one mode."""
Moduli = Mapping[tuple[str, Fraction], Expr]
"""What a noise loses at most where it is moved by so many times the sensitivity, in units of the sensitivity."""


@dataclass(frozen=True, slots=True)
class Lead:
    """From a mode by a branch, in which answers move or not, to a mode, with the shifts of the noises of the step.

    turns: multiples of the differences of the state that are added to these, by noise and by name.
    """

    mode: int
    branch: int
    moves: bool
    to: int
    shifts: Mapping[str, Vector]
    turns: Mapping[str, Mapping[str, Fraction]]

    def turned(self, kept: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What differences of the state add to the shifts."""
        return {name: sum((x * kept[each] for each, x in row.items()), Fraction(0)) for name, row in self.turns.items()}


@dataclass(frozen=True, slots=True)
class Way:
    """One alignment, for one family of differences. alone: answers of one step alone move.

    modes: shifts of what is drawn once and differences of the state, by name, each as 1 and the differences of the answers count in it;
    loose: how much more some of the differences of the state may be, in units of the sensitivity; spent: whether the one step is over;
    starts: the modes in which runs begin. leads: from one to the next. followed: the names whose values a run's branches tell. prices: by
    counter; each: what every step may cost beside; ahead: what is kept in a mode for later steps, less worth times what is followed.
    """

    question: Asked
    stream: Stream
    points: Sequence[Vector]
    alone: bool
    modes: Sequence[Mapping[str, Vector]]
    loose: Sequence[Mapping[str, Fraction]]
    spent: Sequence[bool]
    starts: Sequence[int]
    leads: Sequence[Lead]
    followed: Sequence[str]
    prices: Mapping[str, Expr]
    each: Expr
    ahead: Sequence[Expr]
    worth: Mapping[str, Expr]
    slopes: Mapping[str, tuple[Value, Value]]
    moduli: Moduli

    def once(self, mode: int) -> dict[str, Vector]:
        """The shifts of what is drawn once on runs that are in a mode."""
        return {drawn.name: self.modes[mode][drawn.name] for drawn in self.stream.once}

    def apart(self, mode: int, point: Vector) -> list[dict[str, Fraction]]:
        """The differences in a mode where the answers differ by the point: at the ends of all that are not known."""
        known, loose = {name: at(vector, point) for name, vector in self.modes[mode].items()}, self.loose[mode]
        ends = product(*((known[name], known[name] + more) for name, more in loose.items()))
        return [{**known, **dict(zip(loose, end, strict=True))} for end in ends]

    def within(self, mode: int, point: Vector, name: str, difference: Fraction) -> bool:
        """Whether a difference of the state is one that it has in a mode."""
        return 0 <= difference - at(self.modes[mode][name], point) <= self.loose[mode].get(name, 0)

    def cost(self, shifts: Mapping[str, Vector], point: Vector, more: Mapping[str, Fraction] = MappingProxyType({})) -> Value:
        """What shifts of noises cost where the answers differ by the point; of noise that is not log-concave, wherever they do.

        more: what is added to the shifts of log-concave noises.
        """
        paid: list[Value] = []
        for name, vector in shifts.items():
            if name not in self.slopes:
                paid.append(self._modulus(name, max(abs(at(vector, other)) for other in self.points)))
                continue
            by, (left, right) = at(vector, point) + more.get(name, 0), self.slopes[name]
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
    held: tuple[Drawn | Named, ...] = (*stream.once, *stream.state)
    modes = [_vectors(question, {**given["once"], **mode[0]}, held) for mode in given["modes"]]
    spent = [mode[1] is True for mode in given["modes"]]
    loose = [_loose(rule, mode[2] if len(mode) > 2 else {}, stream) for mode in given["modes"]]
    starts = [_index(mode) for mode in given.get("starts", [0])]
    leads = [
        Lead(
            _index(mode), _index(branch), moves is True, _index(to), _vectors(question, shifts, stream.fresh), _turns(rule, stream, *turns)
        )
        for mode, branch, moves, to, shifts, *turns in given["steps"]
    ]
    followed = [str(name) for name in given.get("follow", [])]
    prices, worth = ({str(name): parse(text) for name, text in given.get(key, {}).items()} for key in ("prices", "worth"))
    each, ahead = parse(given["each"]), [parse(text) for text in given["ahead"]]
    if not alone and any(any(vector[1:]) for mode in modes for vector in mode.values()):
        raise CertificateError(f"{rule}: what is kept from step to step is shifted by what the answers of one step move by.")
    if not starts or any(mode >= len(modes) or spent[mode] for mode in starts) or any(spent) > alone or len(ahead) != len(modes):
        raise CertificateError(f"{rule}: an alignment does not begin with modes in which nothing has moved, each with what is kept there.")
    if any(max(lead.mode, lead.to) >= len(modes) or lead.branch >= len(stream.steps) for lead in leads):
        raise CertificateError(f"{rule}: a branch leads from a mode, or to one, that there is not, or there is no such branch.")
    if any(lead.moves not in moves_of(alone, spent[lead.mode]) for lead in leads):
        raise CertificateError(f"{rule}: an alignment has answers move in a step in which they do not, or stay where they do not.")
    if not prices.keys() <= {limit.name for limit in stream.limits} or not set(worth) <= set(followed) <= can_be_followed(stream):
        raise CertificateError(f"{rule}: an alignment has a price of what is no counter, or follows what is neither state nor counter.")
    for price in (*prices.values(), each, *ahead, *worth.values()):
        certify(not (symbols(price) - question.domains.keys()), f"{rule}: a price has a name that is no parameter.")
    for price in (*prices.values(), each):
        require(certainly_le(ZERO, price, question.domains), Rejected(rule, "prices", "one is not certainly at least 0"))
    moved = {name for shifts in (*modes, *(lead.shifts for lead in leads)) for name, vector in shifts.items() if any(vector)}
    turned = {name for lead in leads for name in lead.turns}
    costly = [drawn for drawn in (*stream.once, *stream.fresh) if drawn.name in (moved - {name for name, _ in moduli}) | turned]
    ends = {drawn.name: slopes(question, drawn.noise) for drawn in costly}
    points = vertices(stream, family)
    return Way(
        question, stream, points, alone, modes, loose, spent, starts, leads, followed, prices, each, ahead, worth, ends, moduli
    )  # fmt: skip


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is the number of no mode and of no branch.")
    return value


def moves_of(alone: bool, spent: bool) -> tuple[bool, ...]:
    """Whether answers may move in a step."""
    return (False,) if spent else (False, True) if alone else (True,)


def _vectors(question: Asked, given: Mapping[str, Any], known: Sequence[Drawn | Named]) -> dict[str, Vector]:
    """By name, zero where none is given. On the integers shifts of noises are whole: so are the answers' differences, times the moves."""
    assert isinstance(question.claim.mechanism, Stream)
    rule, size = question.rule, 1 + len(question.claim.mechanism.answers)
    found = {str(name): tuple(to_fraction(text, rule) for text in row) for name, row in given.items()}
    certify(not any(len(row) != size for row in found.values()), f"{rule}: a shift or a difference has not {size} numbers.")
    for each in known:
        if isinstance(each, Drawn) and on_integers(each.noise) and each.name in found:
            number, *multiples = found[each.name]
            if any(x.denominator != 1 for x in multiples) or not is_whole(mul(num(number), question.moved), question.domains):
                raise Rejected(rule, each.name, "noise on the integers is shifted by what is no integer")
    return {each.name: found.get(each.name, (Fraction(0),) * size) for each in known}


def _turns(rule: str, stream: Stream, given: Mapping[str, Any] = MappingProxyType({})) -> dict[str, dict[str, Fraction]]:
    """By noise and name of the state; of noises on the line alone, for differences of the state may be no integers."""
    found = {str(name): {str(each): to_fraction(text, rule) for each, text in row.items()} for name, row in given.items()}
    lines, kept = {drawn.name for drawn in stream.fresh if not on_integers(drawn.noise)}, {each.name for each in stream.state}
    if not found.keys() <= lines or any(not row.keys() <= kept for row in found.values()):
        raise CertificateError(f"{rule}: a shift is turned with the state that is of no noise on the line, or of no known name.")
    return found


def _loose(rule: str, given: Mapping[str, Any], stream: Stream) -> dict[str, Fraction]:
    """How much more the differences of some of the state may be."""
    found = {str(name): to_fraction(text, rule) for name, text in given.items()}
    if not found.keys() <= {each.name for each in stream.state} or len(found) > MOST_LOOSE or any(more < 0 for more in found.values()):
        raise CertificateError(f"{rule}: what is not known of a mode is of no state, of too many, or less than 0.")
    return found


def at(vector: Vector, point: Vector) -> Fraction:
    """A shift or a difference where the answers differ by the point."""
    return vector[0] + sum((factor * x for factor, x in zip(vector[1:], point, strict=True)), Fraction(0))

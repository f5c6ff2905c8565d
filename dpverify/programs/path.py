"""One way through a program: decisions that are taken, noises that are drawn, and what is told, while its text is followed."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpverify.programs.faults import Fault, Followed, Unreadable, fault
from dpverify.programs.linear import Linear, Literal, impossible, linear, literal, name, scale
from dpverify.programs.module import Def, Module
from dpverify.programs.values import UNKNOWN, Law, Place, Unknown
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, mul
from dpverify.trusted.kernel.model import Domain

ANSWER: Final = "answer:"
INDEX: Final = "index:"
LENGTH: Final = "length:"
TOTAL: Final = "total:"
KEPT: Final = "kept:"
ONCE: Final = "once:"
FRESH: Final = "fresh:"
RECORDS: Final = "records:"
CHOSEN: Final = "chosen:"
"""What names of a program's numbers begin with, which no name in its text does: an answer, the number of its step, how many answers
there are, their sum, a number that is kept, noise drawn before the loop or in a step of it, a sum over records, the answer
where the greatest noisy one is."""

FACTS: Final = (Literal(name(INDEX), False),)
"""What holds of names: steps are counted from 0."""

MOST_STATEMENTS: Final = 20_000
MOST_CALLS: Final = 12
MOST_FLIPS: Final = 100
"""Draws of noise with finitely many values."""
YIELDED: Final = -1
"""What is told by yield, beside lists by their numbers."""
SEARCHED: Final = -4
"""What an expression over the answers gives, which is told where another loop follows."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where a program is followed from. part: "begin" up to the loop, "step" once around it, "finish" from where answers end.

    location: of what is kept, constants; or its name where it is a number that is kept. told: numbers of lists that the loop appends to.
    loop: which of the loops over the answers, one after the other, is followed.
    """

    part: str = "begin"
    location: Mapping[str, Any] = field(default_factory=dict)
    tracked: frozenset[str] = frozenset()
    told: frozenset[int] = frozenset()
    loop: int = 0


class NextLoop(Exception):
    """Another loop over the answers, after the one that is followed."""


class AtLoop(Exception):
    """The loop over all answers is met for the first time. kept: what names stand for there."""

    def __init__(self, node: ast.stmt | ast.expr, kept: dict[str, Any]) -> None:
        super().__init__()
        self.node, self.kept = node, kept
        self.before: list[tuple[int, Any]] = []


class StepDone(Exception):
    """Once around the loop. kept: what names stand for after it."""

    def __init__(self, kept: dict[str, Any]) -> None:
        super().__init__()
        self.kept = kept


class Again(Exception):
    """Something is to be kept from step to step that has not been: a name, or a list that is told."""

    def __init__(self, track: str = "", told: int | None = None) -> None:
        super().__init__()
        self.track, self.told = track, told


@dataclass
class Script:
    """Which way each decision goes; those after its end go the first way, and are noted."""

    taken: list[bool] = field(default_factory=list)
    at: int = 0

    def next(self) -> bool:
        if self.at == len(self.taken):
            self.taken.append(True)
        self.at += 1
        return self.taken[self.at - 1]

    def following(self) -> Script | None:
        """The script of the next way through, None after the last."""
        taken = self.taken[: self.at]
        while taken and not taken[-1]:
            taken.pop()
        return Script([*taken[:-1], False]) if taken else None


@dataclass
class Frame:
    """The names of a function that is followed. reads: fails where a name is read that is not kept."""

    names: dict[str, Any]
    function: Def
    unkept: set[str] = field(default_factory=set)


@dataclass
class Shared:
    """What all ways through a program have in common: names of noises, laws, fields of records, faults."""

    module: Module
    parameters: Mapping[str, Any]
    domains: Mapping[str, Domain]
    noises: dict[tuple[str, Law, int], str] = field(default_factory=dict)
    laws: dict[str, Law] = field(default_factory=dict)
    records: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    codes: dict[tuple[str, str], int] = field(default_factory=dict)
    arity: int | None = None
    faults: dict[Fault, None] = field(default_factory=dict)
    indices: set[str] = field(default_factory=set)
    equalities: set[Linear] = field(default_factory=set)
    exact_equalities: bool = False
    whole: frozenset[str] = frozenset()
    """The fields of records that are integers, as stated."""
    coins: bool = False
    """Whether the data are one of values that are listed, so that noise has finitely many."""
    length: Any = None
    elements: dict[int, Linear] = field(default_factory=dict)
    chosen: list[Place] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    lines: dict[str, dict[int, None]] = field(default_factory=dict)
    """The lines where noises are drawn, by their names: on other ways a noise is drawn elsewhere."""
    bare: dict[int, str] = field(default_factory=dict)
    """Lines where answers without noise are compared, or told."""

    def draw_of(self, name: str) -> tuple[Law, int]:
        """The law of a noise, and which one of that law in its step."""
        return {inner: (law, count) for (_, law, count), inner in self.noises.items()}[name]


class Path:
    """One way through."""

    def __init__(self, shared: Shared, where: Where, script: Script) -> None:
        self.shared, self.where, self.script = shared, where, script
        self.module = shared.module
        self.literals: list[Literal] = []
        self.events: list[tuple[int, Any]] = []
        self.drawn: dict[tuple[str, Law], int] = {}
        self.lists = 0
        self.busy: list[Any] = []
        self.statements = 0
        self.depth = 0
        self.in_loop = False
        self.after_loop = False
        self.loops = 0
        self.loop: ast.stmt | ast.expr | None = None
        self.generator = False
        self.before: list[tuple[int, Any]] = []
        self.falling = frozenset[str]()
        self.attached: dict[str, Linear] = {}
        self.opaque: list[Linear] = []
        self.weight: Expr = ONE
        self.flips = 0

    # -- faults

    def fault(self, node: ast.AST, what: str) -> Unknown:
        """Notes what cannot be read; following goes on as far as it can."""
        self.shared.faults[fault(node, what)] = None
        return UNKNOWN

    def noted(self, error: Unreadable) -> None:
        """Notes an error, but where it follows from another."""
        if not isinstance(error, Followed):
            self.shared.faults[error.fault] = None

    # -- decisions

    def decide(self, node: ast.AST, left: Linear, strict: bool) -> bool:
        """Whether a number is at least 0, or above it, on this way through."""
        if not left.terms:
            return left.constant > 0 or (left.constant == 0 and not strict)
        if not left.names:
            decided = self._known(left, strict)
            if decided is not None:
                return decided
        asked = literal(left, strict)
        known = [*FACTS, *self.literals]
        if impossible([*known, asked]):
            self.literals.append(asked.negated())
            return False
        if impossible([*known, asked.negated()]):
            self.literals.append(asked)
            return True
        if self.where.part == "begin" and self.shared.length is None and not left.names:
            raise Unreadable(node, f"whether {asked.text()} depends on parameters. Give them values, or domains that decide it.")
        self.without_noise(node, asked.left, "compared")
        answer = self.script.next()
        self.literals.append(asked if answer else asked.negated())
        return answer

    def without_noise(self, node: ast.AST, number: Linear, what: str) -> None:
        """Notes where an answer is compared, or told, as it is."""
        if any(each.startswith(ANSWER) for each in number.names) and not any(each.startswith((ONCE, FRESH, KEPT)) for each in number.names):
            self.shared.bare.setdefault(getattr(node, "lineno", 1), what)

    def _known(self, left: Linear, strict: bool) -> bool | None:
        rest = left.rest
        above, below = (certainly_lt, certainly_le) if strict else (certainly_le, certainly_lt)
        if above(ZERO, rest, self.shared.domains):
            return True
        return False if below(rest, ZERO, self.shared.domains) else None

    def equal(self, node: ast.AST, left: Linear) -> bool:
        """Whether a number is 0."""
        counts = bool(left.names) and all(each.startswith(KEPT) for each in left.names)
        if counts and len(left.names) == 1 and not self.shared.exact_equalities:
            (factor,) = left.of.values()
            rising = scale(left, 1 / factor)
            self.shared.equalities.add(rising)
            return self.decide(node, scale(rising, -1) if left.names[0].removeprefix(KEPT) in self.falling else rising, False)
        return self.decide(node, left, False) and self.decide(node, scale(left, -1), False)

    # -- noise

    def draw(self, law: Law, line: int = 0) -> Linear:
        """A noise of a law: the next one of that law on this way, which is independent of all others. line: where it is drawn."""
        kind = FRESH if self.in_loop or self.after_loop else ONCE
        count = self.drawn.get((kind, law), 0)
        self.drawn[kind, law] = count + 1
        key = (kind, law, count)
        if key not in self.shared.noises:
            self.shared.noises[key] = f"{kind}{len(self.shared.noises) + 1}"
            self.shared.laws[self.shared.noises[key]] = law
        self.shared.lines.setdefault(self.shared.noises[key], {})[line] = None
        return name(self.shared.noises[key])

    def one_of(self, node: ast.AST, values: Sequence[tuple[Any, Expr]]) -> Any:
        """A value of noise that has finitely many, with its probability in the weight of this way."""
        self.flips += 1
        if self.flips > MOST_FLIPS:
            what = "a loop that ends by chance may go on and on. Let it end after a number of rounds: for _ in range(10)."
            raise Unreadable(node, f"more than {MOST_FLIPS} draws on one way through the program: {what}")
        for value, chance in values:
            if value is values[-1][0] or self.script.next():
                self.weight = mul(self.weight, chance)
                return value
        raise AssertionError(values)

    # -- records

    def over_records(self, text: str, where: Sequence[str]) -> Linear:
        """A sum over records, by its name."""
        key = (text, tuple(dict.fromkeys(where)))
        if key not in self.shared.records:
            self.shared.records.append(key)
        return name(f"{RECORDS}{self.shared.records.index(key)}")

    def attach(self, a: Linear, b: Linear, sign: int) -> None:
        """Notes the numbers of the data that a noise is added to. sign: of b."""
        for noise, other, times in ((a, b, Fraction(sign)), (b, a, Fraction(1, sign))):
            names = noise.names
            if len(names) == 1 and names[0].startswith((ONCE, FRESH)) and other.names:
                sums = linear({each: factor for each, factor in other.of.items() if each.startswith((RECORDS, CHOSEN, ANSWER))})
                if sums.terms and not any(each.startswith((ONCE, FRESH)) for each in other.names):
                    self.attached.setdefault(names[0], scale(sums, times / noise.of[names[0]]))

    def spent(self, node: ast.AST) -> None:
        """Raises Unreadable for a program that is followed for too long."""
        self.statements += 1
        if self.statements > MOST_STATEMENTS and self.shared.faults:
            raise Followed
        if self.statements > MOST_STATEMENTS:
            raise Unreadable(
                node, "the program runs for too long before it tells anything: a loop that does not end, or of very many rounds."
            )


def exact(value: bool | int | Fraction) -> Fraction:
    """A number of the text as a rational."""
    return Fraction(int(value) if isinstance(value, bool) else value)

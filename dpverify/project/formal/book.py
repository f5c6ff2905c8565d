"""What a file about a mechanism of parts is written into: definitions, and the steps of the proof, each by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from dpverify.project.formal import noise
from dpverify.project.formal.terms import ATOM, NotReplayedError, Terms
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Claim

MOST_TIMES: Final = 5000
"""Of runs of one part: numbers of them are written in unary."""


@dataclass(frozen=True, slots=True)
class Described:
    """A mechanism in words of replay_parts.v. holds: the name of the proof that it is private at epsilon."""

    term: str
    epsilon: Expr
    holds: str


@dataclass(slots=True)
class Book:
    """What is written on the way: a definition for each part, and the proofs of what they lose, each by name.

    derived: whether queries gave how far an answer moves.
    """

    claim: Claim
    terms: Terms
    evidence: Sequence[object] = ()
    definitions: list[str] = field(default_factory=list)
    proof: list[str] = field(default_factory=list)
    derived: bool = False
    names: dict[str, str] = field(default_factory=dict)
    known: dict[str, Described] = field(default_factory=dict)

    def define(self, base: str, value: str, used: Sequence[Expr], sort: str = "described") -> str:
        """A definition of that value, of which `used` are the expressions, and its name. What is defined already has one."""
        text = f"{noise.binders_of(self.terms, self.claim, *used)} : {sort} :=\n  {value}."
        if text not in self.names:
            self.names[text] = f"{base}_{len(self.definitions)}"
            self.definitions.append(f"Definition {self.names[text]}{text}")
        return self.names[text]

    def applied(self, name: str, used: Sequence[Expr]) -> str:
        """A definition at the parameters that its expressions have."""
        names = noise.used_in(self.terms, self.claim, *used)
        return f"({' '.join([name, *names])})" if names else name

    def shown(self, term: str, epsilon: Expr, *proof: str) -> Described:
        """A description with its epsilon, and the proof of it."""
        if term not in self.known:
            name = self.step("part_holds", f"holds {term} {self.terms.real(epsilon, ATOM)}", *proof)
            self.known[term] = Described(term, epsilon, name)
        return self.known[term]

    def times(self, count: Expr) -> str:
        """How often a part is run, as a natural number. Raises NotReplayedError where that is too often."""
        if isinstance(count, Num) and count.value > MOST_TIMES:
            raise NotReplayedError(f"a part is run {count.value} times, more than are written in unary.")
        return f"{self.terms.whole(count)}%nat" if isinstance(count, Num) else self.terms.whole(count)

    def as_real(self, count: Expr) -> str:
        """A natural number as a real one, with the proof that it is the same."""
        return f"(r := {self.terms.real(count)}) {'ltac:(natural)' if isinstance(count, Num) else 'eq_refl'}"

    def step(self, base: str, what: str, *proof: str) -> str:
        """A step of the proof, and its name."""
        name = f"{base}_{len(self.proof)}"
        self.proof.append(f"assert ({name} : {what}).\n{{ " + "\n  ".join(proof) + " }")
        return name

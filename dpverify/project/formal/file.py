"""The text of a Coq file whose last theorem is a claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HEAD: Final = """From mathcomp Require Import ssreflect ssralg matrix seq.
From mathcomp.analysis Require Import reals measure lebesgue_measure Rstruct.
From Coq Require Import Reals Lra Psatz List.
From Interval Require Import Tactic.
From dpverify Require Import definitions density norms additive losses cut_off tactics.
From dpverify Require Import replay replay_order replay_parts replay_samples replay_selection replay_one_way replay_kernels.
Import ListNotations.
Local Open Scope R_scope.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A theorem with its proof. definitions stand before it; remarks say what a reader should know of how it is stated."""

    binders: tuple[str, ...]
    hypotheses: tuple[str, ...]
    conclusion: str
    proof: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """The definitions and the theorem of that name."""
        lines = [*self.definitions, "" if self.definitions else None, f"Theorem {name}", *(f"    {line}" for line in self.binders)]
        shown = [line for line in lines if line is not None]
        shown[-1] += " :"
        shown += [f"  {line} ->" for line in self.hypotheses]
        return "\n".join([*shown, f"  {self.conclusion}.", "Proof.", *self.proof, "Qed."])


def whole(head: list[str], statement: Statement) -> str:
    """The file."""
    comment = "\n".join(f"   {line}" for line in head).strip()
    return f"(* {comment} *)\n{HEAD}\n{statement.text('claim')}\nPrint Assumptions claim.\n"

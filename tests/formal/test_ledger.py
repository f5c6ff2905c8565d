"""The ledger of what is machine-checked: every comment names a rule and stands above a theorem; every rule is there or proved on paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.project.formal import coq, ledger
from dpverify.trusted.kernel.registry import EXPLAINED

ROOT = Path(__file__).resolve().parents[2]
FORMAL = ROOT / "specs" / "formal"
FILES = sorted(FORMAL.rglob("*.v"))
ANCHORS = {re.sub(r"[^\w\s-]", "", head).strip().lower().replace(" ", "-") for page in (ROOT / "docs" / "theory").glob("*.md")
           for head in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)}  # fmt: skip


def test_every_comment_names_a_rule_and_stands_above_a_theorem():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        for one in ledger.theorems(file, FORMAL):
            assert one.rule in EXPLAINED, f"{file.name}: {one.rule} is no rule of the registry"
            assert re.search(rf"^(Theorem|Lemma|Corollary) {re.escape(one.theorem)}\b", text, re.MULTILINE), (file.name, one.theorem)


def test_every_rule_is_machine_checked_or_has_its_proof_on_paper():
    for rule in EXPLAINED:
        assert ledger.ledger().get(rule) or rule in ANCHORS


def test_no_theorem_of_the_theory_is_left_without_a_proof():
    for file in FILES:
        text = re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", text), file.name


def test_a_comment_says_the_side_and_what_is_missing(tmp_path):
    file = tmp_path / "some.v"
    file.write_text(
        "(* Rule: modulus, upper. *)\n(* Rule: staircase, in part: only\n   for D = 1. *)\nTheorem first : True. Proof. exact I. Qed.\n"
        "(* Rule: modulus, lower, in part: one line. *)\n(* a word *)\nLemma second' : True.\n"
    )
    assert ledger.theorems(file, tmp_path) == [
        ledger.Formal("modulus", "first", "some.v", "upper"),
        ledger.Formal("staircase", "first", "some.v", "", "only for D = 1"),
        ledger.Formal("modulus", "second'", "some.v", "lower", "one line"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n(* Rule: modulus upper. *)\nTheorem t : True.", "some.v, line 2: this comment is not"),
        ("(* Rule: modulus. *)\nDefinition d := 1.", "some.v, line 1: no theorem stands below"),
    ],
)
def test_a_comment_that_says_nothing_clear_is_a_fault(tmp_path, text, why):
    file = tmp_path / "some.v"
    file.write_text(text)
    with pytest.raises(ValueError, match=why):
        ledger.theorems(file, tmp_path)


def test_the_standing_of_a_rule_is_what_its_whole_theorems_cover(monkeypatch):
    def entry(side="", missing=""):
        return ledger.Formal("x", "t", "f.v", side, missing)

    cases = {
        (): "proof on paper", (entry(),): "machine-checked", (entry("upper"), entry("lower")): "machine-checked",
        (entry("upper"),): "machine-checked (upper bounds)", (entry("upper"), entry("lower", "half")): "machine-checked (upper bounds)",
        (entry("", "half"),): "machine-checked in part", (entry("", "half"), entry("lower")): "machine-checked (lower bounds)",
    }  # fmt: skip
    for entries, word in cases.items():
        monkeypatch.setattr(ledger, "ledger", lambda entries=entries: {"x": entries} if entries else {})
        assert ledger.standing("x") == word
    monkeypatch.setattr(ledger, "ledger", lambda: {"x": (entry("upper", "half"),)})
    assert list(ledger.told("x")) == ["t in specs/formal/f.v, upper bounds, in part: half"]
    assert list(ledger.told("y")) == ["no, the proof is on paper: docs/theory, y"]
    assert ledger.together(("x", "y")) == "machine-checked in part: x; proof on paper: y"


def test_without_the_theory_every_proof_is_on_paper(monkeypatch):
    def gone():
        raise coq.CoqError("not there")

    monkeypatch.setattr(ledger, "theory", gone)
    ledger.ledger.cache_clear()
    assert ledger.standing("finite-table") == "proof on paper"
    ledger.ledger.cache_clear()

"""What replayed files rest on is asked once, of all theorems and tactics together; a file that assumes anything itself is refused."""

import pytest

from dpverify.project.formal import coq, foundations
from tests.formal.test_replay import WITH_COQ

THEORY = """(* Lemma told : in a comment. *)
Module Inner.
Section Part.
Lemma first' : True. Proof. exact I. Qed.
End Part.
End Inner.
Local Theorem second (n : nat) : n = n.
Proof. reflexivity. Qed.
"""


def test_theorems_are_named_with_the_modules_that_they_stand_in_and_not_those_of_comments(tmp_path):
    file = tmp_path / "part" / "some.v"
    file.parent.mkdir()
    file.write_text(THEORY, encoding="utf-8")
    assert list(foundations.theorems(file, tmp_path)) == ["dpverify.part.some.Inner.first'", "dpverify.part.some.second"]


def test_every_file_of_the_theory_that_replays_need_has_theorems():
    theory = coq.theory()
    for file in coq.needed(theory):
        names = list(foundations.theorems(file, theory))
        assert names or file.stem == "prelude"
        assert len(set(names)) == len(names)


BOOLP = "boolp.propositional_extensionality"
WHOLE = f"mathcomp.classical.{BOOLP}"


def test_all_theorems_are_asked_about_once(monkeypatch, tmp_path):
    for name in coq.REPLAYS:
        (tmp_path / f"{name}.v").write_text(THEORY, encoding="utf-8")
    asked = []
    monkeypatch.setattr(coq, "check", lambda text, *_: asked.append(text) or coq.Checked("", (BOOLP,)))
    monkeypatch.setattr(coq, "whole_names", lambda names, *_: dict.fromkeys(names, (WHOLE,)))
    assert [foundations.axioms(tmp_path) for _ in range(2)] == [(WHOLE,)] * 2
    (text,) = asked
    assert all(f"@dpverify.{name}.Inner.first', @dpverify.{name}.second" in text for name in coq.REPLAYS)
    assert text.endswith("Print Assumptions together.\n")


def test_a_theory_of_which_coq_cannot_tell_what_it_rests_on_is_an_error(monkeypatch, tmp_path):
    for name in coq.REPLAYS:
        (tmp_path / f"{name}.v").write_text(THEORY, encoding="utf-8")
    monkeypatch.setattr(coq, "check", lambda *_: coq.Checked("line 3: no."))
    with pytest.raises(coq.CoqError, match=r"What the theory rests on is not found here: line 3: no\."):
        foundations.axioms(tmp_path)
    assert not (tmp_path / "axioms.txt").exists()


@pytest.mark.parametrize(
    "line",
    [
        "Axiom all : False.", "Axioms (a b : False).", "Lemma l : False. Admitted.", "Proof. admit. Qed.", "Parameter x : nat.",
        "Section S. Variables x : R.", "Context (c : False).", "Hypothesis h : False.", "Unset Guard Checking.", "Set  Universe\nChecking.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", 'Definition s := "(*". Axiom a : False. Definition t := "*)".',
    ],
)  # fmt: skip
def test_a_file_that_assumes_something_is_refused_without_asking_coq(line, monkeypatch, tmp_path):
    monkeypatch.setattr(coq, "check", lambda *_: coq.Checked(""))
    assert "may assume what is not proved" in foundations.fault(f"(* a *) {line}", tmp_path, None)
    if '"' not in line:
        assert foundations.fault(f"(* (* a *) {line} *) Theorem claim : True. Proof. exact I. Qed.", tmp_path, None) == ""


def test_the_question_what_one_file_rests_on_is_not_asked(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(coq, "check", lambda text, *_: asked.append(text) or coq.Checked("no."))
    assert foundations.fault("Proof. exact I. Qed.\nPrint Assumptions claim.\n", tmp_path, 1) == "no."
    assert asked == ["Proof. exact I. Qed.\n\n"]


@WITH_COQ
def test_the_theory_and_the_tactics_rest_on_the_axioms_of_the_libraries_alone():
    found = foundations.axioms(coq.compiled_theory())
    assert coq.foreign(found) == [] and len(coq.AXIOMS.intersection(found)) == 3


def test_what_a_file_requires_may_stand_on_several_lines(tmp_path):
    (tmp_path / "first.v").write_text("")
    (tmp_path / "second.v").write_text("From dpverify Require Import first.\n")
    (tmp_path / "last.v").write_text("From dpverify Require Import first\n  second.\nFrom mathcomp Require Import all_ssreflect.\n")
    assert [file.stem for file in coq.needed(tmp_path, ("last",))] == ["first", "second", "last"]


def test_what_each_question_rests_on_is_read_by_itself():
    printed = (
        "Axioms:\nboolp.propositional_extensionality : forall P Q : Prop, P <-> Q -> P = Q\nboolp.functional_extensionality_dep\n"
        "  : forall (A : Type), A\nClosed under the global context\nAxioms:\nboolp.propositional_extensionality : True\n"
    )
    first, none, last = coq.axioms(printed)
    assert first == ("boolp.propositional_extensionality", "boolp.functional_extensionality_dep")
    assert (none, last) == ((), ("boolp.propositional_extensionality",))

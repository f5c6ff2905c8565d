"""No hole in the theory passes `make formal`: each is planted, and found by its words, by what theorems rest on, or by coqchk."""

from __future__ import annotations

import shutil

import pytest

from dpverify.project.formal import coq, foundations

THREE = ("propositional_extensionality", "functional_extensionality_dep", "constructive_indefinite_description")
HOLES = {
    "guard": "Unset Guard Checking.\nFixpoint f (n : nat) : False := f n.\n"
    "Set Guard Checking.\nTheorem t : False. Proof. exact (f 0). Qed.\n",
    "guard_aside": "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.\nTheorem t : False. Proof. exact (f 0). Qed.\n",
    "positivity": "Unset Positivity Checking.\nInductive bad := mk : (bad -> False) -> bad.\nSet Positivity Checking.\n"
    "Definition no (b : bad) : False := match b with mk h => h b end.\nTheorem t : False. Proof. exact (no (mk no)). Qed.\n",
    "universes": "Unset Universe Checking.\nDefinition U : Type@{Set} := Type.\n"
    "Set Universe Checking.\nTheorem t : Type. Proof. exact U. Qed.\n",
    "axiom_of_a_known_name": "Module boolp. Axiom propositional_extensionality : False. End boolp.\n"
    "Theorem t : False. Proof. exact boolp.propositional_extensionality. Qed.\n",
    "axioms": "Axioms (one two : False).\nTheorem t : False. Proof. exact one. Qed.\n",
    "context": "Context (c : False).\nTheorem t : False. Proof. exact c. Qed.\n",
    "hypothesis": "Hypothesis h : False.\nTheorem t : False. Proof. exact h. Qed.\n",
    "admitted": "Lemma l : False. Proof. Admitted.\nTheorem t : False. Proof. exact l. Qed.\n",
    "unused": "Axiom idle : False.\nTheorem t : True. Proof. exact I. Qed.\n",
}
"""What is wrong, by the name of a file of the theory in which it is."""
SOUND = "Section S.\nVariable n : nat.\nLet m := n.\nTheorem t : n = n. Proof. reflexivity. Qed.\nEnd S.\n"
WITH_COQ = pytest.mark.skipif(shutil.which("coqc") is None or shutil.which("coqchk") is None, reason="Coq is not here")


@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_found_by_its_words(name):
    assert foundations.assumed(HOLES[name])
    assert foundations.assumed(SOUND + HOLES[name]) and not foundations.assumed(SOUND)


def test_words_of_comments_and_of_sections_assume_nothing():
    assert foundations.assumed('(* Axiom a : False. (* nested *) Admitted. "*)" Context. *) Theorem t : True. Proof. exact I. Qed.') == []
    module = "Module M.\nSection S.\nContext (n : nat).\nEnd S.\n{}End M.\n"
    assert foundations.assumed(module.format("")) == []
    assert foundations.assumed(module.format("Hypothesis h : False.\n")) == ["Hypothesis"]


def test_the_theory_itself_has_none():
    for file in sorted(coq.theory().rglob("*.v")):
        assert foundations.assumed(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Axioms:\nf is assumed to be guarded.\n",
        "Axioms:\nbad is assumed to be positive.\n",
        "Axioms:\nU relies on an unsafe hierarchy.\n",
        "Axioms:\nboolp.propositional_extensionality : forall P Q : Prop, P <-> Q -> P = Q\nf is assumed to be guarded.\n",
        "Section Variables:\nv\n: False\n",
        "Closed under the global context\nsomething : else\n",
        "some news\n",
    ],
)
def test_an_answer_that_is_not_understood_is_refused(answer):
    with pytest.raises(coq.CoqError, match="what Coq answers is not understood"):
        coq.axioms(answer)


def test_an_answer_that_is_understood_gives_every_name():
    said = "Fetching opaque proofs from disk for mathcomp.classical.boolp\n"
    said += "Axioms:\na.b : forall P,\n      P\nc\n  : False\nClosed under the global context\n"
    assert coq.axioms(said) == [("a.b", "c"), ()]


def test_only_whole_names_are_known():
    assert coq.foreign(f"mathcomp.classical.boolp.{name}" for name in THREE) == []
    named = ["boolp.propositional_extensionality", "dpverify.x.boolp.propositional_extensionality", "Coq.Floats.PrimFloat.inner.add"]
    assert coq.foreign(named) == named
    assert coq.foreign(["Coq.Floats.PrimFloat.add", "Coq.Logic.Classical_Prop.classic"]) == []


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms:
    mathcomp.ssreflect.bigop.BigOp.bigop{axiom}

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints:{fixpoint}

* Inductives whose positivity is assumed: <none>

"""


def test_what_coqchk_says_is_read_line_by_line():
    assert list(coq.context(SUMMARY.format(axiom="", fixpoint=" <none>"))) == []
    planted = SUMMARY.format(axiom="\n    dpverify.x.idle", fixpoint="\n    mathcomp.y.f")
    said = ["dpverify.x.idle (axioms)", "mathcomp.y.f (constants/Inductives relying on unsafe (co)fixpoints)"]
    assert list(coq.context(planted)) == said
    for other in ("", SUMMARY.replace("* Inductives whose", "* Some whose"), planted.replace("    dpverify", "  see dpverify")):
        with pytest.raises(coq.CoqError, match="what coqchk answers is not understood"):
            list(coq.context(other.format(axiom="", fixpoint=" <none>")))


@WITH_COQ
def test_each_hole_is_found_by_coq_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "theory"
    source.mkdir()
    for name, text in {**HOLES, "sound": SOUND}.items():
        (source / f"{name}.v").write_text(text)
    compiled = coq.compiled_theory(source, (*HOLES, "sound"))
    said = coq.holes(compiled, [f"dpverify.{name}" for name in (*HOLES, "sound")], 120)
    assert {one.split(".")[1] for one in said} == set(HOLES)
    assert coq.holes(compiled, ["dpverify.sound"], 120) == []
    for name in ("guard", "positivity", "axiom_of_a_known_name"):  # a way of each sort through what theorems rest on
        held = coq.check(f"From dpverify Require {name}.\nPrint Assumptions {name}.t.\n", compiled, 60)
        meant = coq.whole_names(held.axioms, [name], compiled)
        assert held.fault or coq.foreign(one for axiom in held.axioms for one in meant[axiom])
    held = coq.check("From dpverify Require sound.\nPrint Assumptions sound.t.\n", compiled, 60)
    assert (held.fault, held.axioms) == ("", ())

"""Replayed files are checked against the statements of the theory; what they rest on is told with what all its theorems do."""

from pathlib import Path

import pytest

from dpverify.project.formal import coq, statements

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
    file = tmp_path / "some.v"
    file.write_text(THEORY, encoding="utf-8")
    assert list(statements.theorems(file)) == ["dpverify.some.Inner.first'", "dpverify.some.second"]


def test_every_file_of_the_theory_that_replays_need_has_theorems():
    for file in coq.needed(coq.theory()):
        names = list(statements.theorems(file))
        assert names and len(set(names)) == len(names)


@pytest.mark.parametrize("own", ["mine", "other.mine"])
def test_an_axiom_that_is_no_theorem_of_the_theory_is_told_beside_those_of_the_theory(own, monkeypatch, tmp_path):
    written = f"Axioms:\nInner.first' : True\nsecond\n  : forall n : nat, n = n\n{own} : False\n"
    monkeypatch.setattr(coq, "run", lambda *_: ("", written))
    known = statements.Statements(Path(tmp_path), frozenset(("first'", "second")), ("classic",))
    assert statements.check("", known, None) == coq.Checked("", (own, "classic"))


def test_a_fault_is_told_without_axioms(monkeypatch, tmp_path):
    monkeypatch.setattr(coq, "run", lambda *_: ("line 3: no.", "Axioms:\nmine : False\n"))
    assert statements.check("", statements.Statements(tmp_path, frozenset(), ("classic",)), None) == coq.Checked("line 3: no.")


def test_statements_are_made_once_and_hold_what_all_theorems_rest_on(monkeypatch, tmp_path):
    for name in coq.REPLAYS:
        (tmp_path / f"{name}.v").write_text(THEORY.replace("first", f"first_of_{name}"), encoding="utf-8")
    runs: list[tuple[str, ...]] = []

    def run(file, compiled, seconds, *mode):
        runs.append((file.stem, *mode))
        return "", "" if mode else "Axioms:\nboolp.propositional_extensionality : x\n"

    monkeypatch.setattr(coq, "run", run)
    found = [statements.statements(tmp_path) for _ in range(2)]
    assert found[0] == found[1] and found[0].axioms == ("boolp.propositional_extensionality",)
    assert "first_of_replay'" in found[0].theorems and (found[0].folder / "replay.v").is_file()
    assert runs == [*((name, "-vos") for name in coq.REPLAYS), ("all_theorems",)]


def test_a_statement_that_is_not_understood_says_which_file_and_leaves_nothing(monkeypatch, tmp_path):
    for name in coq.REPLAYS:
        (tmp_path / f"{name}.v").write_text(THEORY, encoding="utf-8")
    monkeypatch.setattr(coq, "run", lambda *_: ("Error: no.", ""))
    with pytest.raises(coq.CoqError, match=r"replay\.v does not compile here: Error: no\."):
        statements.statements(tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]

"""What was compiled is recorded by content: a file as it is recorded is not compiled again; a record that says what is not so is found."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from dpverify.project.formal import coq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import formal  # noqa: E402
import theory_record as records  # noqa: E402

COQC = r"""#!/bin/sh
case $1 in --version) cat "$COQ_FAKE/version"; exit;; -where) echo "$COQ_FAKE/lib"; exit;; esac
for file; do :; done
echo "$file" >>"$COQ_FAKE/asked"
case $file in
*names.v) exit;;
*claim.v) grep -o "Print Assumptions" "$file" | sed "s/.*/$(cat "$COQ_FAKE/answer")/"; exit;;
esac
grep -q "wrong" "$file" && { echo "Error: no." >&2; exit 1; }
grep -v "^(\*" "$file" >"${file}o"
for other in $(sed -n 's/^From dpverify Require Import \(.*\)\./\1/p' "$file"); do
    cat "$(find "$5" -name "$other.vo")" >>"${file}o" || exit 1
done
"""
COQCHK = """#!/bin/sh
cat <<'END'
CONTEXT SUMMARY
===============

* Theory: Set is predicative

* Axioms: <none>

* Constants/Inductives relying on type-in-type: <none>

* Constants/Inductives relying on unsafe (co)fixpoints: <none>

* Inductives whose positivity is assumed: <none>

END
"""
FIRST = "Lemma first : True.\nProof. exact I. Qed.\n"
SECOND = "From dpverify Require Import first.\n(* Rule: modulus, upper. *)\nTheorem second : True.\nProof. exact first. Qed.\n"
APART = "Lemma apart : True.\nProof. exact I. Qed.\n"


@pytest.fixture
def theory(tmp_path, monkeypatch):
    """A theory of three files, and programs in place of Coq that write what they read."""
    for name, text in (("coqc", COQC), ("coqchk", COQCHK)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
    (tmp_path / "version").write_text("Coq 8")
    (tmp_path / "answer").write_text("Closed under the global context")
    library = tmp_path / "lib" / "user-contrib" / "mathcomp" / "all.vo"
    library.parent.mkdir(parents=True)
    library.write_text("a library")
    folder = tmp_path / "theory"
    for name, text in {"basics/first": FIRST, "additive/rules/second": SECOND, "basics/apart": APART}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.v").write_text(text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COQ_FAKE", str(tmp_path))
    monkeypatch.setattr(formal, "REPLAYED", ())
    return folder


def run(theory, place="work", *, sample=0, from_nothing=False):
    """What is wrong, and the files that were compiled, in a folder that is empty at first."""
    asked = theory.parent / "asked"
    asked.write_text("")
    faults = formal.Theory(theory, theory.parent / place, from_nothing=from_nothing).compile(sample)
    names = [Path(line).stem for line in asked.read_text().splitlines()]
    return faults, sorted(name for name in names if name not in ("claim", "names"))


def test_a_file_that_is_as_recorded_is_compiled_in_the_sample_alone(theory, capsys):
    assert run(theory) == ([], ["apart", "first", "second"])
    assert "compiling 1 of 3: basics/first.v" in capsys.readouterr().out
    for place, sample, most in (("clone", 0, 2), ("other", 1000, 3)):  # the sample has one file at least, and what it needs
        faults, compiled = run(theory, place, sample=sample)
        assert faults == [] and 1 <= len(compiled) <= most and len(set(compiled)) == len(compiled)
    assert len(compiled) == 3
    record = records.read(theory / "compiled.txt")
    assert set(record.files) == {"basics/apart.v", "basics/first.v", "additive/rules/second.v"}
    assert [one.said == records.NOTHING for _, one in sorted(record.files.items())] == [False, True, True]
    assert (theory / "assumptions.txt").read_text() == "additive/rules/second.v: second\n  rest on: no axiom\n"


def test_a_changed_file_is_compiled_with_what_it_needs_and_what_needs_it(theory):
    run(theory)
    before = records.read(theory / "compiled.txt").files
    (theory / "basics" / "first.v").write_text(FIRST + "Definition more := 1.\n")
    tool = formal.Theory(theory, theory.parent / "clone")
    assert sorted(records.outdated(theory, tool.sources, tool.record, tool.said)) == ["first", "second"]
    faults, compiled = run(theory, "clone")
    assert faults == [] and {"first", "second"} <= set(compiled)
    after = records.read(theory / "compiled.txt").files
    assert {name for name in after if after[name] != before[name]} == {"basics/first.v", "additive/rules/second.v"}


def test_a_comment_changes_nothing_but_where_tactics_keep_their_places(theory):
    run(theory)
    (theory / "basics" / "first.v").write_text("(* a word *)\n\n" + FIRST)
    (theory / "basics" / "apart.v").write_text('Definition s := "(* no comment *)".\n' + APART)
    tool = formal.Theory(theory, theory.parent / "clone")
    assert list(records.outdated(theory, tool.sources, tool.record, tool.said)) == ["apart"]
    assert records.read_by_coq("Ltac t := idtac. (* a *)") != records.read_by_coq("Ltac t := idtac. (* b *)")


@pytest.mark.parametrize("changed", ["version", "lib/user-contrib/mathcomp/all.vo"])
def test_other_tools_compile_everything_again(theory, changed):
    run(theory)
    (theory.parent / changed).write_text("another")
    assert run(theory, "clone")[1] == ["apart", "first", "second"]


def test_what_was_compiled_before_is_not_compiled_again_unless_everything_is(theory):
    run(theory)
    (theory / "basics" / "apart.v").write_text(APART + "Definition more := 1.\n")
    run(theory)
    (theory / "basics" / "first.v").write_text("wrong")
    with pytest.raises(coq.CoqError, match="does not compile here"):
        run(theory)
    (theory / "basics" / "first.v").write_text(FIRST)
    faults, compiled = run(theory)
    assert faults == [] and 1 <= len(compiled) <= 2  # the sample's
    assert run(theory, from_nothing=True) == ([], ["apart", "first", "second"])


def test_a_record_that_says_of_a_changed_file_that_it_was_compiled_is_found_by_what_was_made(theory):
    """The source can be worked out by anyone; what Coq makes of it cannot."""
    run(theory)
    (theory / "basics" / "first.v").write_text(FIRST + "Definition more := 1.\n")
    forged = records.read(theory / "compiled.txt")
    for name, source in formal.Theory(theory, theory.parent / "clone").sources.items():
        path = next(path for path in forged.files if path.endswith(f"/{name}.v"))
        old = forged.files[path]
        forged.files[path] = records.Compiled(source, old.made, old.said, old.seconds)
    (theory / "compiled.txt").write_text(forged.text())
    faults, _ = run(theory, "clone", sample=1000)
    assert "basics/first.v: compiled, it is not what compiled.txt says. Run `make formal ALL=1`." in faults
    assert (theory / "compiled.txt").read_text() == forged.text()
    assert run(theory, "clone", from_nothing=True)[0] == []


def test_what_theorems_rest_on_cannot_be_edited_alone_nor_with_its_hash(theory):
    run(theory)
    said = theory / "assumptions.txt"
    said.write_text(said.read_text().replace("no axiom", "one.axiom"))
    assert "second" in run(theory, "clone")[1] and "no axiom" in said.read_text()
    edited = said.read_text().replace("no axiom", "one.axiom")
    record = records.read(theory / "compiled.txt")
    held = record.files["additive/rules/second.v"]
    hashed = records.digest(edited.strip())[:16]
    record.files["additive/rules/second.v"] = records.Compiled(held.source, held.made, hashed, held.seconds)
    said.write_text(edited)
    (theory / "compiled.txt").write_text(record.text())
    faults, _ = run(theory, "other", sample=1000)
    assert faults == ["additive/rules/second.v: what it rests on is not what assumptions.txt says. Run `make formal ALL=1`."]


def test_a_theorem_that_rests_on_another_axiom_is_a_fault_and_nothing_is_written(theory):
    (theory.parent / "answer").write_text("Axioms:\\nother : False")
    assert run(theory)[0] == ["additive/rules/second.v: rests on more than the three axioms: other"]
    assert not (theory / "compiled.txt").exists()


def test_a_file_that_assumes_something_is_a_fault_though_it_is_as_recorded(theory):
    run(theory)
    (theory / "basics" / "apart.v").write_text("Axiom a : False.\n")
    assert "basics/apart.v: assumes what is not proved: Axiom" in run(theory)[0]


def test_a_line_that_is_none_of_a_record_is_an_error(tmp_path):
    file = tmp_path / "compiled.txt"
    for line in ("<<<<<<< main", "file a.v 1 2 3 x", "file a.v 1 2 3"):
        file.write_text(f"{records.HEAD}file b.v 1 2 - 3\n{line}\n")
        with pytest.raises(coq.CoqError, match=r"compiled\.txt, line 3: .* is no line of a record\. Run `make formal ALL=1`"):
            records.read(file)
    record = records.Record({"a.v": records.Compiled("1", "2", "-", 3)}, {"claim": "4"})
    file.write_text(record.text())
    assert records.read(file) == record


def test_the_sample_is_another_for_other_texts_and_keeps_to_its_seconds():
    names = [f"file{number}" for number in range(40)]
    needs = {name: {name, names[0]} for name in names}
    seconds = dict.fromkeys(names, 10)
    seen = set[str]()
    for text in range(200):
        found = records.sample({name: f"{name} {text}" for name in names}, needs, seconds, 60)
        taken = set[str]().union(*(needs[name] for name in found))
        assert len(found) == len(set(found)) and 50 <= sum(seconds[name] for name in taken) <= 60
        seen.update(found)
    assert seen == set(names)
    assert len(records.sample(dict.fromkeys(names, "same"), needs, dict.fromkeys(names, 100), 5)) == 1


def test_of_two_files_of_one_name_neither_is_taken(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.v").write_text("")
    with pytest.raises(coq.CoqError, match="have one name"):
        coq.files_of(tmp_path)


def test_without_coq_the_answer_says_how_to_install_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert formal.main([]) == 3
    assert coq.INSTALL in capsys.readouterr().err

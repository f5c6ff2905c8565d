"""Certificates as Coq files: they end with the claim; what cannot be written says which line and why; Coq accepts the true ones alone."""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import contextmanager
from dataclasses import replace

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.project.formal import coq
from dpverify.project.formal.replay import replay
from dpverify.project.formal.terms import NotReplayedError
from dpverify.trusted.kernel.certificate import decode, unpack
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.judgement import check
from tests import committed

WITH_COQ = pytest.mark.skipif(
    shutil.which("coqc") is None or not os.environ.get("DPVERIFY_TEST_COQ"), reason="set DPVERIFY_TEST_COQ where coqc is: it takes a minute"
)


BOOLP = "boolp.propositional_extensionality"
ONE_ORDER = ("measure_one_sided_table.one-sided-exact", "one_sided_exponential_noise.one-sided-exact")


def made(certificate, **changes):
    """The replay of a committed certificate, with the claim changed behind the kernel's back."""
    data = decode(committed.text(certificate))
    judgement = check(data)
    if changes:
        judgement = replace(judgement, claim=replace(judgement.claim, **changes))
    return replay(unpack(data), judgement, certificate)


def test_the_file_ends_with_the_claim_and_all_its_parameters():
    found = made("exponential_radial_all_l1.eps-times-sensitivity")
    assert found.whole and found.proves == "the claim"
    assert "Definition profile (eps : R) (r : R) : R := exp (- (eps * r))." in found.text
    assert "Definition epsilon (Delta : R) (eps : R) : R := eps * Delta." in found.text
    statement = found.text[found.text.index("Theorem claim") : found.text.index("Proof.")]
    for part in (
        "(Delta_lower : 0 < Delta)", "(d : nat)", "(d_lower : 1 <= INR d)", "(eps_lower : 0 < eps)", "seminorm norm ->",
        "adds_noise mu place M answer (fun z => profile eps (norm z / 1) / mass)",
        "pure_dp (within answer norm Delta) M (epsilon Delta eps).",
    ):  # fmt: skip
        assert part in statement
    assert found.text.rstrip().endswith("Qed.\nPrint Assumptions claim.")


def test_a_table_is_listed_with_the_pairs_that_are_neighbours():
    found = made("two_point.exact").text
    assert "has_rows M point table" in found
    assert "Definition table : list (list R) := [" in found
    assert "pure_dp (listed [(0, 1)%nat;" in found


def test_exponentials_of_decimal_numbers_are_no_high_powers_of_one():
    assert "^" not in made("exponential_mechanism.just-above").text
    assert "exp (1 / 2) ^ 2" in made("exponential_mechanism.exact").text


def test_of_another_tight_claim_the_upper_bound_is_replayed_and_the_answer_says_so():
    found = made("cauchy.sensitivity-1-tight")
    assert not found.whole
    assert found.proves == "that the tight epsilon is at most 3*asinh(1/2), not that it is at least as much"
    assert "pure_dp (within answer norm 1) M epsilon." in found.text


def test_of_a_tight_table_and_of_laplace_noise_both_bounds_are_replayed():
    noise = "(forall y, charged mu place norm y) ->"
    for name, assumed in (("two_point.tight", "told_apart point ->"), ("knorm_l2.sensitivity-1-tight", noise)):
        found = made(name)
        assert found.whole and assumed in found.text
        assert "tight_between" in found.text and "M least epsilon." in found.text


def test_of_a_query_the_sensitivity_is_a_number_and_the_answer_says_so():
    found = made("knorm_l1.queries")
    assert not found.whole
    assert "which is what the kernel derives from the query" in found.proves


@pytest.mark.parametrize(
    ("name", "order", "conclusion"),
    [
        ("measure_one_sided_table.one-sided-exact", "one-sided", "listed [(0, 1)%nat]"),
        ("measure_one_sided_table.one-sided-exact", "reverse", "listed [(1, 0)%nat]"),
        ("one_sided_exponential_noise.one-sided-exact", "one-sided", "greater_by_at_most answer 1"),
        ("one_sided_exponential_noise.a-record-moves-the-answer-down-reverse", "reverse", "greater_by_at_most answer 1"),
    ],
)
def test_a_claim_in_one_order_is_about_the_first_input_against_the_second(name, order, conclusion):
    found = made(name, order=order)
    assert f"dp_in_order ({conclusion}) M epsilon 0." in found.text and "both" not in found.proves


def test_noise_that_is_never_below_0_is_not_written_where_the_answer_may_fall():
    for order in ("reverse", ""):
        with pytest.raises(NotReplayedError, match="the density lives on a part of the line alone"):
            made("one_sided_exponential_noise.one-sided-exact", order=order)


def test_a_claim_in_one_order_that_holds_in_both_is_replayed_in_both():
    found = made("laplace.sensitivity-1-exact", order="one-sided")
    assert found.proves == "the claim, in both orders of neighbours" and "pure_dp (within" in found.text


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("two_point.just-below", "a refutation is a statement about two inputs and an event, which is not written in Coq yet."),
        ("delta_gaussian.delta-just-above", "only claims of a pure epsilon are written in Coq yet."),
        ("measure_laplace.gdp-just-above", "laplace-measures: only claims of a pure epsilon are written in Coq yet."),
        (
            "one_sided_sample.the-reverse-order-what-a-sample-of-anything-has",
            "one-sided: a guarantee that is not pure is not written in Coq yet.",
        ),
        ("slash.just-above", "modulus: log(-exp(-r**2/2) + 1) is no logarithm that the calculus of specs/formal/replays/losses.v knows."),
        ("laplace_log_normal.tight", "mixture-concave: mechanisms of the kind mixture are not written in Coq yet."),
        ("sums_over_records.clipped", "sums over records are not written in Coq yet."),
        ("compose_sums_over_records.above", "sums over records are not written in Coq yet."),
        ("k_randomized_response_all.closed-form", "kary-response: the number of answers is a parameter, so that there is no one table."),
    ],
)
def test_what_cannot_be_replayed_says_which_line_and_why(name, why):
    with pytest.raises(NotReplayedError) as found:
        made(name)
    assert str(found.value).startswith("line ") and str(found.value).endswith(why)


def test_names_from_outside_do_not_end_the_comment():
    text = made("two_point.exact", name='x *) Axiom a : False. (* "').text
    assert text.count("*)") == 1 and text.index("*)") > text.index("Axiom")


def fake_coqc(tmp_path, monkeypatch, script):
    """A program of that name in place of Coq."""
    program = tmp_path / "bin" / "coqc"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(*arguments):
    return CliRunner().invoke(cli.main, ["check", *arguments, str(committed.place("two_point.exact"))])


def test_without_coq_the_error_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("--replay", "coq")
    assert done.exit_code == 2
    assert f"coqc was not found, so nothing can be replayed. Install it, in Debian: {coq.INSTALL}" in done.output


def test_files_are_written_without_coq(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("--replay-to", str(tmp_path / "files"))
    assert done.exit_code == 0
    written = tmp_path / "files" / "two_point_exact.v"
    assert "Theorem claim" in written.read_text()
    assert f"written to {written}: the claim." in done.output
    assert "1 of 1 written for Coq" in done.output


def test_what_coq_says_is_told_with_the_axioms(monkeypatch, tmp_path):
    lines = ("Axioms:", "boolp.propositional_extensionality : forall P Q", "  : P = Q", "Classical_Prop.classic : forall P")
    located = ("mathcomp.classical.boolp.propositional_extensionality", "Coq.Logic.Classical_Prop.classic")
    names, said = "; ".join(f"echo 'Constant {name}'" for name in located), "; ".join(f"echo '{line}'" for line in lines)
    fake_coqc(tmp_path, monkeypatch, f'case "$*" in *names.v*) {names};; *) {said};; esac')
    done = run("--replay", "coq")
    assert done.exit_code == 0
    said = f"1 axiom of MathComp Analysis ({located[0]}) and 1 of Coq's real numbers ({located[1]})"
    assert f"replayed in Coq: the claim. The theory and the tactics that it calls rest on {said}." in done.output
    assert "1 of 1 replayed in Coq" in done.output


def test_a_theory_that_rests_on_an_axiom_of_its_own_replays_nothing(monkeypatch, tmp_path):
    said = "echo 'Axioms:'; echo 'boolp.propositional_extensionality : False'"
    names = "; ".join(f"echo 'Constant {name}'" for name in ("mathcomp.classical." + BOOLP, "dpverify.x." + BOOLP))
    fake_coqc(tmp_path, monkeypatch, f'case "$*" in *names.v*) {names};; *) {said};; esac')
    done = run("--replay", "coq")
    assert done.exit_code == 2
    assert f"The theory rests on more than the axioms of its libraries: dpverify.x.{BOOLP}." in done.output


def test_an_answer_of_coq_that_is_not_understood_replays_nothing(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, "echo 'Axioms:'; echo 'f is assumed to be guarded.'")
    done = run("--replay", "coq")
    assert done.exit_code == 2
    assert "what Coq answers is not understood: 'f is assumed to be guarded.'" in done.output


def test_two_certificates_whose_names_differ_in_a_dot_alone_are_two_files(tmp_path):
    data = committed.text("two_point.exact")
    for name in ("a.b", "a_b"):
        (tmp_path / f"{name}.cert.json").write_bytes(data)
    files = [str(tmp_path / f"{name}.cert.json") for name in ("a.b", "a_b")]
    done = CliRunner().invoke(cli.main, ["check", "--replay-to", str(tmp_path / "coq"), *files])
    assert done.exit_code == 0 and "2 of 2 written for Coq" in done.output
    first, second = sorted((tmp_path / "coq").glob("*.v"))
    assert first.name == "a_b.v" and re.fullmatch(r"a_b_\w{8}\.v", second.name)
    assert [re.search(r"From (.*)\.\n?", file.read_text())[1][:3] for file in (first, second)] == ["a.b", "a_b"]


def test_a_table_that_is_made_of_scores_says_so():
    for name in ("exponential_mechanism.exact", "k_randomized_response.exact"):
        found = made(name)
        assert not found.whole and "for a table of the probabilities that follow from scores" in found.proves
    assert made("two_point.exact").whole


def test_a_file_that_coq_refuses_is_a_fault_with_its_place(monkeypatch, tmp_path):
    refuse = "case \"$*\" in *claim.v*) echo 'File \"x\", line 7, characters 1-2:' >&2; echo 'Error: no.' >&2; exit 1;; esac"
    fake_coqc(tmp_path, monkeypatch, refuse)
    done = run("--replay", "coq")
    assert done.exit_code == 1
    assert "the file that was written for it is refused: line 7, characters 1-2: Error: no." in done.output
    assert "0 of 1 replayed in Coq" in done.output


def test_a_limit_of_time_is_kept_and_nothing_is_left(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, 'case "$*" in *claim.v*) exec sleep 30;; esac')
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    coq.tempfile.tempdir = None
    try:
        found = coq.check("", coq.compiled_theory(), 0.2)
    finally:
        coq.tempfile.tempdir = None
    assert found.fault == "it took longer than 0.2 seconds."
    assert not list(tmp_path.glob("dpverify-replay-*"))


def test_a_theory_that_does_not_compile_says_which_file_and_leaves_nothing(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, "case \"$*\" in *losses.v*) echo 'Error: no.' >&2; exit 1;; esac")
    with pytest.raises(coq.CoqError, match=r"losses\.v does not compile here"):
        coq.compiled_theory()
    assert not list((tmp_path / "cache" / "dpverify-theory").iterdir())


COMPILES_AFTER_NEEDS = r"""folder=$5; for file; do :; done
for other in $(sed -n 's/^From dpverify Require [A-Z][a-z]* \(.*\)\./\1/p' "$file"); do
    test -n "$(find "$folder" -name "$other.vo")" || { echo "$other is not there" >&2; exit 1; }
done
sleep 0.0$(($$ % 5))
touch "${file}o"
"""


def test_a_file_is_compiled_after_those_that_it_needs(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, COMPILES_AFTER_NEEDS)
    names = {file.stem for file in coq.needed(coq.theory())}
    assert {file.stem for file in coq.compiled_theory().rglob("*.vo")} == names


def test_a_folder_for_the_theory_that_cannot_be_made_says_how_to_name_another(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, COMPILES_AFTER_NEEDS)
    (tmp_path / "no folder").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no folder"))
    done = run("--replay", "coq")
    assert done.exit_code == 2
    assert "the compiled theory cannot be kept there: " in done.output and "Name another folder in XDG_CACHE_HOME." in done.output


def test_a_theory_that_is_compiled_is_told_of_and_one_that_is_there_is_not(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, COMPILES_AFTER_NEEDS)
    first, again = (run("--replay", "coq").stderr for _ in range(2))
    files = len(coq.needed(coq.theory()))
    assert f"compiling the theory in Coq, {files} files: this takes minutes, once\n" in first
    assert "compiling" not in again


def test_the_files_that_are_done_are_counted_up(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, COMPILES_AFTER_NEEDS)
    told = []

    @contextmanager
    def begun(files):
        told.append(files)
        yield told.append

    coq.compiled_theory(begun=begun)
    assert told == [len(told) - 1, *range(1, len(told))]


def test_the_files_of_the_theory_are_compiled_in_the_order_in_which_they_need_each_other():
    names = [file.stem for file in coq.needed(coq.theory())]
    assert set(coq.REPLAYS) < set(names) and names.index("definitions") < names.index("density") < names.index("replay")
    assert len(set(names)) == len(names)


@pytest.fixture(scope="session")
def compiled():
    return coq.compiled_theory()


@WITH_COQ
@pytest.mark.parametrize("name", ["student_t_all.closed-form", "two_point.exact", "laplace_iid.l1-sensitivity-1-exact", *ONE_ORDER])
def test_coq_accepts_a_true_claim(name, compiled):
    found = coq.check(made(name).text, compiled, 120)
    assert found.fault == ""
    assert {axiom.rpartition(".")[2] for axiom in found.axioms} >= {axiom.rpartition(".")[2] for axiom in coq.AXIOMS}


@WITH_COQ
@pytest.mark.parametrize(
    ("name", "less"),
    [
        ("two_point.exact", "ln 3 - 1 / 10 ^ 9"),
        ("laplace.sensitivity-1-exact", "499999999 / 10 ^ 9"),
        ("student_t_all.closed-form", "1"),
        ("measure_one_sided_table.one-sided-exact", "ln 9 - 1 / 10 ^ 9"),
        ("one_sided_exponential_noise.one-sided-exact", "1 - 1 / 10 ^ 9"),
    ],
)
def test_coq_refuses_a_smaller_epsilon(name, less, compiled):
    text = made(name).text
    smaller = re.sub(r"(Definition epsilon.* : R := ).*\.", rf"\g<1>{less}.", text)
    assert smaller != text and coq.check(smaller, compiled, 120).fault != ""


def test_a_program_that_fails_without_a_word_has_not_accepted(monkeypatch, tmp_path):
    fake_coqc(tmp_path, monkeypatch, 'case "$*" in *claim.v*) exit 7;; esac')
    assert coq.check("", coq.compiled_theory(), 5).fault == "coqc ended with the code 7."


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("kotz_modified_rising.tight", r"it loses up to 4\*2\*asinh\(1/2\) \+ 1, which is more than is claimed"),
        ("kotz_modified.tight", r"that 1 \+ 2\*asinh\(1/2\) is no more than .* is not shown in Coq yet"),
    ],
)
def test_what_the_theorems_that_are_there_do_not_reach_is_not_written(name, why):
    with pytest.raises(NotReplayedError, match=why):
        made(name)


def test_the_opposite_of_a_multiple_is_written_as_the_lemma_about_opposites_writes_it():
    assert "h := fun r => - (4 * ln (r ^ 2 + 1)) + r)" in made("kotz_modified_rising.just-above", epsilon=parse("10")).text

"""Claims of combinations, selections and families of densities as Coq files: they are about the description that the claim gives."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace

import pytest

from dpverify.project.formal import coq
from dpverify.project.formal.replay import replay
from dpverify.project.formal.terms import NotReplayedError, Terms
from dpverify.trusted.kernel.certificate import Certificate, Line
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
    AboveThreshold,
    Claim,
    Compose,
    Group,
    Guarantee,
    Kernel,
    Lipschitz,
    NoisyMax,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)

WITH_COQ = pytest.mark.skipif(
    shutil.which("coqc") is None or not os.environ.get("DPVERIFY_TEST_COQ"), reason="set DPVERIFY_TEST_COQ where coqc is: it takes a minute"
)
LAPLACE = Radial(parse("exp(-r)"), L1, num(1), num(2))
HALF = Part(LAPLACE, num(1))
RESPONSE = Part(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))))
CUT_OFF = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (num(0), num(1)), (num(0), num(1)))

CUT_OFF_AT_THREE = Kernel(parse("exp(-abs(y - theta)/2)/(2*(2 - exp(-theta/2) - exp((theta - 3)/2)))"), (num(0), num(3)), (num(0), num(3)))
PIECEWISE = Kernel(parse("1/3 - min(1, floor(abs(y - 2*theta)))/4"), (num(-3), num(3)), (num(-1), num(1)))


def written(mechanism, epsilon, sensitivity=None):
    """The file for a claim that the kernel is taken to have proved."""
    line = Line("combination", (), {}, (), 53)
    claim = Claim(mechanism, parse(epsilon), sensitivity=None if sensitivity is None else parse(sensitivity))
    judgement = Judgement(claim, "PROVED", None, parse(epsilon), rules=("combination",))
    return replay(Certificate(claim, 53, "PROVED", (line,)), judgement, "made.json").text


def statement(text):
    """What is defined, and the theorem, without its proof."""
    return text[text.index("Definition") : text.index("Proof.")]


def test_parts_that_follow_each_other_are_listed_with_how_often_they_are_run():
    text = statement(written(Compose((repeated(HALF, num(3)), RESPONSE)), "3/2 + log(3)"))
    assert "noise_of_norm (fun r => exp (- r)) 2 1." in text
    assert "answers_by_table [\n  [3 / 4; 1 / 4];\n  [1 / 4; 3 / 4]]\n  [(0, 1)%nat]." in text
    assert "(one_after_the_other (nseq 3%nat noise_0 ++ nseq 1%nat table_1)%SEQ) Inputs Neighbours shown Outputs M ->" in text
    assert text.rstrip().endswith("pure_dp Neighbours M epsilon.")


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "said"),
    [
        (Group(HALF, num(4)), "2", "(group_of 4%nat noise_0) Inputs"),
        (Parallel((HALF, RESPONSE)), "log(3)", "(side_by_side noise_0 table_1) Inputs"),
        (PostProcess(HALF), "1/2", "(seen_through_a_map noise_0) Inputs"),
        (Subsample(HALF, parse("1/4")), "log(3/4 + exp(1/2)/4)", "(on_sample (1 / 4) noise_0) Inputs"),
        (Lipschitz(HALF, num(3)), "3/2", "noise_of_norm (fun r => exp (- r)) 2 3."),
        (Compose((repeated(Part(Guarantee("approximate", ((parse("1/3"), num(0)),))), num(2)),)), "2/3", "nseq 2%nat (guaranteed (1 / 3))"),
        (Compose((replace(HALF, sensitivity=num(0)), HALF)), "1/2", "nseq 1%nat (@answers_neighbours_the_same) ++ nseq 1%nat noise_0"),
        (NoisyMax(LAPLACE, num(5)), "1", "(index_of_greatest 5%nat noise_0 (Ropp 1) 1) Inputs"),
        (NoisyMax(LAPLACE, num(5), "monotone"), "1/2", "(index_of_greatest 5%nat noise_0 0 1) Inputs"),
        (NoisyMax(LAPLACE, num(5), report="value"), "5/2", "(seen_through_a_map (noisy_answers 5%nat noise_0 1)) Inputs"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE), "3/2", "(above_the_threshold noise_0 noise_0 9%nat 1%nat (Ropp 1) 1) Inputs"),
        (AboveThreshold(num(2), LAPLACE, LAPLACE), "1", "(above_the_threshold noise_0 noise_0 2%nat 1%nat (Ropp 1) 1) Inputs"),
        (PIECEWISE, "log(4)", "family_of_densities density_0 (-3) 3 (-1) 1 2."),
        (CUT_OFF, "1", "family_of_densities density_0 0 1 0 1 1."),
        (Product(parse("exp(-abs(z))"), num(4), L2), "2", "noise_of_coordinates_in_l2 4 (fun z => exp (- Rabs z)) 1."),
    ],
)  # fmt: skip
def test_the_theorem_is_about_the_mechanism_as_it_is_declared(mechanism, epsilon, said):
    sensitivity = "1" if isinstance(mechanism, Product | NoisyMax | AboveThreshold) else None
    assert said in statement(written(mechanism, epsilon, sensitivity))


def test_noise_that_begins_somewhere_loses_to_the_right_alone():
    noise = Translation(parse("exp(-z/2)"), (num(0), None))
    text = written(NoisyMax(noise, num(3)), "1", "1")
    assert "begins_at 0 (fun z => exp (" in text and "falls noise_0 2 1" in text
    with pytest.raises(NotReplayedError, match="noise that begins somewhere loses without bound to the left"):
        written(AboveThreshold(num(1), LAPLACE, noise), "1/2", "1")


def test_neighbours_that_parts_share_are_told_apart_by_what_they_change():
    counts = [Part(LAPLACE, query=Query((row,), "add-remove")) for row in ((1, 0), (0, 1))]
    text = statement(written(Compose(tuple(counts)), "1/2"))
    assert "Neighbours0 shown Outputs M ->" in text and "Neighbours1 shown Outputs M ->" in text
    assert "pure_dp (either Neighbours0 Neighbours1) M epsilon." in text
    with pytest.raises(NotReplayedError, match="it loses up to 1/2, which is more than is claimed"):
        written(Compose(tuple(counts)), "499/1000")


def test_a_budget_in_l2_is_not_taken_for_one_in_l1_in_a_part():
    part = Part(Product(parse("exp(-abs(z))"), num(4), L2), num(1))
    assert "noise_of_coordinates_in_l2 4" in written(PostProcess(part), "2")
    with pytest.raises(NotReplayedError, match="it loses up to 2, which is more than is claimed"):
        written(PostProcess(part), "1")


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "why"),
    [
        (Compose((HALF,)), "499/1000", "it loses up to 1/2, which is more than is claimed"),
        (Group(HALF, num(2)), "999/1000", "it loses up to 1, which is more than is claimed"),
        (Compose((repeated(HALF, num(10**4)),)), "5000", "a part is run 10000 times, more than are written in unary"),
        (Subsample(HALF, parse("1/4"), "without_replacement"), "1/8", "it loses up to log(exp(1/2)/4 + 3/4), which is more"),
        (Subsample(HALF, num(0), "without_replacement"), "1", "the fraction of the records that is sampled may be 0"),
        (Parallel((replace(HALF, adjacency="replace"),)), "1", "where a record is added or removed alone"),
        (Parallel((repeated(HALF, num(2)),)), "1", "run several times beside others in parallel"),
        (Lipschitz(RESPONSE, num(2)), "3", "a part of the kind table behind a map of the data is not written in Coq yet"),
        (Lipschitz(repeated(HALF, num(2)), num(2)), "3", "a part of the kind repeat behind a map of the data is not written in Coq yet"),
        (PostProcess(Part(Guarantee("zcdp", ((num(1),),)))), "1", "a guarantee that is not pure"),
        (PostProcess(Part(Product(parse("exp(-abs(z))"), num(2), LINF), num(1))), "3", "in another norm than l1 and l2"),
        (PostProcess(Part(Guarantee("approximate", ((num(1), num(0)),), "one-sided"))), "1", "a guarantee that is not pure"),
        (Parallel((Part(LAPLACE, query=Query(((1, 0),), "replace")),)), "1", "where a record is added or removed alone"),
        (NoisyMax(Translation(parse("exp(-abs(z))"), integers=True), num(5)), "2", "noise on the integers in a selection"),
        (NoisyMax(Translation(parse("exp(-z)"), (None, num(0))), num(5)), "2", "noise that ends is not written in Coq yet"),
        (AboveThreshold(num(9), None, LAPLACE), "9", "a threshold without noise is not written in Coq yet"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, report="fresh", fresh=LAPLACE, positives=None), "9", "without a limit on how many"),
        (Compose((repeated(HALF, num(3)), RESPONSE)), "3/2 + log(3) - 1/10**9", "which is more than is claimed"),
        (Compose((Part(LAPLACE, query=Query(((1, 1),), "add-remove")),) * 2), "999/1000", "it loses up to 1, which is more"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE), "1", "it loses up to 3/2, which is more than is claimed"),
        (AboveThreshold(num(2), LAPLACE, LAPLACE), "1/2", "it loses up to 3/2, which is more than is claimed"),
        (AboveThreshold(num(1), LAPLACE, Translation(parse("exp(-z - exp(-z))"))), "1", "exp(-z) is no form that the calculus"),
        (replace(CUT_OFF, density=parse("exp(-abs(y - theta))/(2 - exp(-2*theta) - exp(2*theta - 2))")), "1", "is of no form that"),
        (PIECEWISE, "log(4) - 1/10**9", "it loses up to log(4), which is more than is claimed"),
        (NoisyMax(LAPLACE, num(5), report="index+gap"), "1", "what a noisy maximum tells with 'index+gap'"),
        (NoisyMax(LAPLACE, num(5), "one"), "1", "neighbours of a noisy maximum that are 'one'"),
        (NoisyMax(LAPLACE, num(5)), "999/1000", "it loses up to 1, which is more than is claimed"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, report="answers+gap"), "2", "what above threshold tells with 'answers+gap'"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, positives=num(2), resample=True), "2999/1000", "it loses up to 3, which is more"),
        (AboveThreshold(num(9), LAPLACE, None), "9", "answers without noise are not written"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="decreasing"), "499/1000", "it loses up to 1/2, which is more"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="increasing"), "999/1000", "it loses up to 1, which is more"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="monotone"), "999/1000", "it loses up to 1, which is more"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="one"), "9", "neighbours of above threshold that are 'one'"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="increasing", resample=True), "9", "no more is told than which are positive"),
        (CUT_OFF, "999/1000", "it loses up to 1, which is more than is claimed"),
        (replace(CUT_OFF, input=(num(0), parse("1/2"))), "1", "is of no form that"),
        (replace(CUT_OFF, density=parse("exp(-abs(y - theta))/(3 - exp(-theta) - exp(theta - 1))")), "1", "is of no form that"),
        (replace(CUT_OFF, output=(num(0), None)), "1", "that does not end"),
    ],
)  # fmt: skip
def test_what_is_not_shown_by_a_theorem_says_why(mechanism, epsilon, why):
    sensitivity = "1" if isinstance(mechanism, NoisyMax | AboveThreshold) else None
    with pytest.raises(NotReplayedError, match=re.escape(why)):
        written(mechanism, epsilon, sensitivity)


def test_names_of_parameters_are_not_those_of_what_is_defined():
    terms = Terms({})
    assert [terms.parameter(name) for name in ("noise_0", "whole_12", "Neighbours1", "theta", "noisy", "eps", "b2")] == [
        "parameter_noise_0", "parameter_whole_12", "parameter_Neighbours1", "parameter_theta", "parameter_noisy", "eps", "b2",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["by", "is", "SProp", "Ropp", "of", "move", "R_", "S", "mu_lower", "_x", "parameter_x"])
def test_words_of_coq_and_of_its_libraries_name_no_variable(name):
    assert Terms({}).parameter(name) == f"parameter_{name}"


@pytest.mark.parametrize(
    ("density", "epsilon", "bound"),
    [
        ("exp(-max(2*z, -z))", "2", "moves_max _ _ _ _ _ _ 2 "),
        ("exp(-max(z, -3*z))", "3", "moves_max _ _ _ _ _ _ 3 "),
        ("(abs(z) + 1)**(-2)", "2*log(2)", "moves_ln_of_line _ (fun z => ln (Rabs z + 1)) Rabs 1 1 1 1 "),
        ("(2*abs(z) + 3)**(-2)", "2*log(5/3)", "Rabs 2 3 1 1 "),
    ],
)
def test_greatest_of_two_lines_and_logarithms_of_a_size_are_bounded_by_their_lemmas(density, epsilon, bound):
    text = written(PostProcess(Part(Translation(parse(density)), num(1))), epsilon)
    assert bound.replace("(fun z => ln (Rabs z + 1))", "(fun z => Rabs z + 1)") in text
    with pytest.raises(NotReplayedError, match="which is more than is claimed"):
        written(PostProcess(Part(Translation(parse(density)), num(1))), f"{epsilon} - 1/10**9")


@WITH_COQ
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "less"),
    [
        (Compose((repeated(HALF, num(3)), RESPONSE)), "3/2 + log(3)", "3 / 2 + ln 3 - 1 / 1000000"),
        (Subsample(HALF, parse("1/4")), "log(3/4 + exp(1/2)/4)", "1 / 8"),
        (Subsample(RESPONSE, parse("1/4"), "without_replacement"), "log(3/2)", "ln (3 / 2) - 1 / 1000000"),
        (NoisyMax(LAPLACE, num(5)), "1", "999999 / 1000000"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE), "3/2", "1499999 / 1000000"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="decreasing"), "1/2", "499999 / 1000000"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="increasing"), "1", "999999 / 1000000"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, neighbours="monotone"), "1", "999999 / 1000000"),
        (AboveThreshold(num(9), LAPLACE, LAPLACE, positives=num(2), resample=True), "3", "2999999 / 1000000"),
        (CUT_OFF, "1", "999999 / 1000000"),
        (CUT_OFF_AT_THREE, "3/2", "1499999 / 1000000"),
        (Compose((Part(Group(HALF, num(2))), Part(Subsample(HALF, parse("1/4"))))), "3/2", "1"),
    ],
)
def test_coq_accepts_what_a_part_loses_and_refuses_less(mechanism, epsilon, less):
    compiled = coq.compiled_theory()
    text = written(mechanism, epsilon, "1" if isinstance(mechanism, NoisyMax | AboveThreshold) else None)
    assert coq.check(text, compiled, 120).fault == ""
    smaller = re.sub(r"Definition epsilon : R := .*\.", f"Definition epsilon : R := {less}.", text)
    assert smaller != text and coq.check(smaller, compiled, 300).fault != ""

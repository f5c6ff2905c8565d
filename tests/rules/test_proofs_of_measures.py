"""What each rule about zCDP, GDP and Renyi divergences proves by itself, takes for granted and refuses."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, comb, exp, log
from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from flint import arb

from dpverify.search.witness_words import in_words
from dpverify.trusted.combinators import at_pair, candidates, exchanged, neighbours, stated
from dpverify.trusted.combinators.exchanged import TOWARDS, either_order, in_order, worst_way
from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Exponential,
    Group,
    Guarantee,
    KaryResponse,
    Kernel,
    Lipschitz,
    Measure,
    Mixture,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Sampled,
    Selection,
    Space,
    Staircase,
    Subsample,
    Table,
    Translation,
    once,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import post_processing
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.divergences import chords
from dpverify.trusted.theories.divergences.asked import above, below
from dpverify.trusted.theories.divergences.orders import most_over_orders, read_cuts
from dpverify.trusted.theories.divergences.rules import added_measures as added
from dpverify.trusted.theories.divergences.rules import laplace_measures as laplace_rule
from dpverify.trusted.theories.divergences.rules import measures_of_a_curve as of_a_curve
from tests.proofs import saying

NORMAL = NormalDist()
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L1, ONE)
ZCDP, GDP, ORDER2, ORDER3 = (
    Measure("zcdp", None),
    Measure("gdp", None),
    Measure("renyi", None, Fraction(2)),
    Measure("renyi", None, Fraction(3)),
)
COUNT = Query(((Fraction(1),),), "add-remove")
ROWS = ((6, 3, 1), (2, 3, 5))


def table(rows, adjacent=None):
    return Table(tuple(tuple(num(Fraction(x, 10)) for x in row) for row in rows), adjacent)


def proof(mechanism, measure, **more):
    return Proof(Claim(mechanism, None, measure=measure, **more))


def number(value):
    return float(constant(value).mid())


def says(fact, side="upper"):
    (found,) = (b for b in as_bounds(fact.says) if b.side == side)
    return found


def value(fact, side="upper"):
    found = says(fact, side).value
    return float("inf") if found is INFINITE else number(found)


# -- compositions ----------------------------------------------------------------------------------


def test_only_mechanisms_that_are_made_of_parts_are_added_up():
    with pytest.raises(Rejected, match="about mechanisms that are made of parts"):
        proof(LAPLACE, ZCDP, sensitivity=ONE).infer("added-measures", (), {"side": "upper"})


def test_a_map_of_the_data_leaves_no_order():
    two = (Part(LAPLACE, ONE), Part(LAPLACE, num(2)))
    for mechanism in (Lipschitz(Part(Compose(two)), ONE), Compose((Part(Lipschitz(two[0], ONE)), two[1]))):
        for order in ("one-sided", "reverse"):
            with pytest.raises(Rejected, match="exchange the input with the record"):
                proof(mechanism, ZCDP, order=order).infer("added-measures", (), {"side": "upper"})
        both = proof(mechanism, ZCDP)
        assert both.infer("added-measures", (), {"side": "upper"}, [both.infer("laplace-measures", (i,)) for i in range(2)])
    ordered = proof(Compose(two), ZCDP, order="reverse")
    assert ordered.infer("added-measures", (), {"side": "upper"}, [ordered.infer("laplace-measures", (i,)) for i in range(2)])


def test_parts_of_different_neighbours_are_not_added_up():
    lists = proof(Compose((Part(table(ROWS * 2, ((0, 1),))), Part(table(ROWS * 2, ((0, 2),))))), ORDER2)
    with pytest.raises(Rejected, match="name different neighbours"):
        lists.infer("added-measures", (), {"side": "upper"}, [lists.infer("finite-measures", (i,)) for i in range(2)])


def test_what_a_sum_rests_on_is_shown():
    mechanism = Compose((Part(PostProcess(Part(Guarantee("zcdp", ((ONE,),))))), repeated(Part(LAPLACE, ONE), num(3))))
    whole = proof(mechanism, ZCDP)
    facts = [whole.infer("implied-measures", (0,)), whole.infer("laplace-measures", (1,))]
    found = says(whole.infer("added-measures", (), {"side": "upper"}, facts))
    assert number(found.value) == pytest.approx(1 + 3 * exp(-1))
    assert set(found.assumed) == {
        stated.STATED,
        "the sampler is ideal",
        *post_processing.ASSUMED,
        "the sensitivities of all parts speak of the same neighbours",
    }
    assert found.through == ("implied-measures", "laplace-measures")
    plain = proof(Compose((Part(LAPLACE, ONE), Part(LAPLACE, num(2)))), ZCDP)
    found = says(plain.infer("added-measures", (), {"side": "upper"}, [plain.infer("laplace-measures", (i,)) for i in range(2)]))
    assert not set(post_processing.ASSUMED) & set(found.assumed)
    for side in ("both", None):
        with pytest.raises(CertificateError, match="it wants a 'side'"):
            plain.infer("added-measures", (), {"side": side}, [plain.infer("laplace-measures", (i,)) for i in range(2)])


def test_mu_of_parts_is_the_root_of_their_squares():
    mechanism = Compose((repeated(Part(LAPLACE, ONE), num(2)), Part(LAPLACE, num(2))))
    whole = proof(mechanism, GDP)
    found = whole.infer("added-measures", (), {"side": "upper"}, [whole.infer("laplace-measures", (i,)) for i in range(2)])
    one, two = (-2 * NORMAL.inv_cdf(exp(-t / 2) / 2) for t in (1, 2))
    assert value(found) == pytest.approx((2 * one**2 + two**2) ** 0.5, rel=1e-9)
    several = proof(Compose((repeated(Part(LAPLACE, ONE), num(2)),)), GDP)
    with pytest.raises(Rejected, match="may be less than the root of squares"):
        several.infer("added-measures", (), {"side": "lower"}, [several.infer("laplace-measures", (0,))])
    alone = proof(Compose((Part(LAPLACE, ONE),)), GDP)
    assert value(alone.infer("added-measures", (), {"side": "lower"}, [alone.infer("laplace-measures", (0,))]), "lower") == pytest.approx(
        one
    )


def test_one_output_of_one_input_alone_is_infinite_over_several_runs():
    rows = table(((5, 5, 0), (5, 4, 1)), ((1, 0),))
    several = proof(Compose((repeated(Part(rows), num(3)),)), ORDER2)
    inner = several.infer("finite-measures", (0,))
    found = says(several.infer("added-measures", (), {"side": "lower"}, [inner]), "lower")
    assert (
        found.value is INFINITE
        and found.ordered
        and found.witness
        == {
            "pair": [1, 0],
            "event": {"says": "outputs-of-one-alone"},
        }
    )
    assert set(found.assumed) == {"the sampler is ideal"}


def test_runs_that_are_processed_or_not_met_have_no_lower_bound():
    processed = proof(PostProcess(Part(LAPLACE, ONE)), ZCDP)
    with pytest.raises(Rejected, match="a map of the output"):
        processed.infer("added-measures", (), {"side": "lower"}, [processed.infer("laplace-measures", (0,))])
    half = proof(Lipschitz(Part(KaryResponse(num(2), parse("4/5"))), parse("1/2")), ZCDP)
    with pytest.raises((Rejected, CertificateError)):
        half.infer("added-measures", (), {"side": "lower"}, [half.infer("finite-measures", (0,), {"lower": [0, 1, "2"]})])


def test_a_lower_bound_of_several_runs_rests_on_what_one_rests_on():
    several = proof(Group(Part(Compose((repeated(Part(LAPLACE, ONE), num(4)), Part(LAPLACE, ONE)))), num(2)), ZCDP)
    found = says(several.infer("added-measures", (), {"side": "lower"}, [several.infer("laplace-measures", (0,))]), "lower")
    assert number(found.value) == pytest.approx(5 * (1 + exp(-2)))
    assert set(found.assumed) == {"the sampler is ideal", "the sensitivities of all parts speak of the same neighbours"}
    assert found.ordered and in_words(found.witness) == {"pair": "answers that are the whole sensitivity apart", "order": "1, in the limit"}


@pytest.mark.parametrize("kind", ["table", "exponential"])
def test_inputs_that_are_a_step_apart_are_in_the_order_that_is_claimed(kind):
    scores = tuple(tuple(num(x) for x in row) for row in ((0, 1), (2, 0)))
    part = Part(table(ROWS, ((0, 1),)) if kind == "table" else Exponential(scores, ONE, ((0, 1),)))
    ordered = Claim(Compose((part,)), None, measure=ORDER2, order="one-sided")
    asked = added.question(Run(part), ordered)
    assert asked.order == "one-sided" and asked.mechanism == part.mechanism
    with pytest.raises(Rejected, match="several steps apart are in order"):
        added.question(Run(part, factor=num(2)), ordered)
    assert added.question(Run(part, factor=num(2)), replace(ordered, order="")).order == ""


def test_tables_several_steps_apart_have_no_order():
    rows = Part(table(ROWS, ((0, 1),)))
    for order, fine in (("", True), ("one-sided", False)):
        whole = proof(Group(rows, num(2)), ORDER2, order=order)
        if fine:
            with pytest.raises(CertificateError, match="not about the part"):
                whole.infer("added-measures", (), {"side": "upper"}, [proof(table(ROWS), ORDER2).infer("finite-measures")])
        else:
            with pytest.raises(Rejected, match="several steps apart are in order"):
                whole.infer("added-measures", (), {"side": "upper"}, [proof(rows.mechanism, ORDER2, order=order).infer("finite-measures")])
    noise = proof(Group(Part(LAPLACE, ONE), num(2)), ZCDP, order="one-sided")
    assert value(noise.infer("added-measures", (), {"side": "upper"}, [noise.infer("laplace-measures", (0,))])) == pytest.approx(
        1 + exp(-2)
    )


def counts(*parts, adjacency="add-remove"):
    rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    return Compose(tuple(Part(noise, query=Query((rows[where],), adjacency)) for noise, where in parts))


def test_numbers_of_premises_at_pairs_of_neighbours_are_those_of_premises():
    whole = proof(counts((LAPLACE, 0), (GAUSSIAN, 1)), ZCDP)
    first = whole.infer("added-measures", ({"choice": 0},), {"side": "upper"}, [whole.infer("laplace-measures", ({"choice": 0}, 0))])
    known = [first, whole.infer("gaussian-measures", ({"choice": 1},))]
    found = says(whole.infer("added-measures", (), {"side": "upper", "at": [0, 1]}, known))
    assert number(found.value) == pytest.approx(max(exp(-1), 0.5))
    assert set(found.assumed) == {
        "the sampler is ideal",
        "the sensitivities of all parts speak of the same neighbours (add-remove)",
        *known[1].assumed,
    }
    assert found.through[0] == "joint-neighbours" and {"laplace-measures", "gaussian-measures"} <= set(found.through)
    for numbers in ([0], [0, 1, 1], "01", {"0": 0, "1": 1}, None):
        with pytest.raises(CertificateError, match=r"cannot be used|'at' is"):
            whole.infer("added-measures", (), {"side": "upper", "at": numbers}, known)
    for numbers in ([0, 2], [0, -1], [0, None], [0, True], [0, "1"]):
        with pytest.raises(CertificateError, match="'at' is"):
            whole.infer("added-measures", (), {"side": "upper", "at": numbers}, known)
    for numbers in ([1, 0], [0, 0], [1, 1]):
        with pytest.raises(CertificateError, match="not about the part"):
            whole.infer("added-measures", (), {"side": "upper", "at": numbers}, known)


def given(claim, choice, value, assumed):
    """A premise about all parts at one choice of neighbours, with a hypothesis of its own."""
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    part = at_pair.at(root, choice)
    says = Bound("upper", num(value), quantity="zcdp", assumed=(assumed,))
    return replace(saying(added.question(Run(part), claim), "implied-measures", says), assumed=(f"the rule of {assumed}",))


def test_what_holds_at_every_pair_rests_on_what_is_assumed_at_each():
    claim = proof(counts((LAPLACE, 0), (GAUSSIAN, 1)), ZCDP).claim
    choices = candidates.choices(Part(claim.mechanism))
    premises = [given(claim, choice, n, f"pair {n}") for n, choice in enumerate(choices, 1)]
    found = added.infer(claim, {"side": "upper", "at": [0, 1]}, premises)
    assert found.value == num(2) and {"pair 1", "pair 2", "the rule of pair 1", "the rule of pair 2"} <= set(found.assumed)


def test_a_pair_that_reveals_nothing_wants_no_premise():
    claim = proof(counts((LAPLACE, 0), (GAUSSIAN, 0)), ZCDP).claim
    choices = candidates.choices(Part(claim.mechanism))
    parts = [at_pair.at(Part(claim.mechanism), choice) for choice in choices]
    seen = [choice for choice, part in zip(choices, parts, strict=True) if part is not None]
    premises = [given(claim, choice, 3, "x") for choice in seen]
    numbers = [None if part is None else 0 for part in parts]
    assert added.infer(claim, {"side": "upper", "at": numbers}, premises).value == num(3)


def test_what_is_run_several_times_is_not_taken_for_one_run_at_a_pair():
    inner = counts((LAPLACE, 0), (GAUSSIAN, 1))
    claim = Claim(Group(repeated(Part(inner), num(2)), ONE), None, measure=ZCDP)
    choices = candidates.choices(Part(claim.mechanism))
    assert once(at_pair.at(Part(claim.mechanism), choices[0]))[1] == num(2)
    of_one_run = [given(Claim(inner, None, measure=ZCDP), choice, 1, "x") for choice in choices]
    with pytest.raises(CertificateError, match="a premise is not about the part that it stands for"):
        added.infer(claim, {"side": "upper", "at": [0, 1]}, of_one_run)
    premises = [given(claim, choice, 1, "x") for choice in choices]
    assert added.infer(claim, {"side": "upper", "at": [0, 1]}, premises).value == num(1)
    there = [{"columns": 2, "adjacency": "add-remove", "difference": ["0", "1"]}]
    with pytest.raises(CertificateError, match="a premise is not about the part that it stands for"):
        added.infer(claim, {"side": "lower", "pair": there}, premises[:1])


def test_a_lower_bound_of_several_runs_shows_what_its_premise_assumes():
    claim = Claim(Compose((repeated(Part(LAPLACE, ONE), num(3)),)), None, measure=ZCDP)
    run = merged(Part(claim.mechanism))[0]
    says = Bound("lower", num(2), quantity="zcdp", assumed=("what it rests on",))
    premise = replace(saying(added.question(run, claim), "laplace-measures", says), assumed=("the rule of it",))
    found = added.infer(claim, {"side": "lower"}, [premise])
    assert found.value == num(6) and {"what it rests on", "the rule of it"} <= set(found.assumed)


LISTS = [None, ((0, 1),), ((1, 0),), ((0, 1), (1, 0)), ((0, 1), (0, 1))]


@pytest.mark.parametrize("second", LISTS)
@pytest.mark.parametrize("first", LISTS)
@pytest.mark.parametrize("kind", ["table", "exponential"])
def test_in_one_order_every_listed_pair_of_inputs_is_looked_at_in_its_order(kind, first, second):
    scores = tuple(tuple(num(x) for x in row) for row in ((0, 1), (2, 0)))
    other = Exponential(scores, ONE, second) if kind == "exponential" else table(ROWS, second)
    root = Part(Compose((Part(table(ROWS, first)), Part(other))))
    spaces, choices = neighbours.together(root, linked=True, alone=True), candidates.choices(root)
    asked = {pair for told in (first, second) for pair in (((0, 1), (1, 0)) if told is None else told)}
    assert added._in_their_order(root, spaces, choices) == (asked <= {tuple(map(int, pair)) for (_, pair), *_ in choices})
    claim = Claim(root.mechanism, None, measure=ZCDP)
    premises = [given(claim, choice, 5, "x") for choice in choices]
    assert added.infer(claim, {"side": "upper", "at": [0]}, premises).value == num(5)
    if not asked <= {(0, 1)}:
        with pytest.raises(Rejected, match="one order alone is looked at"):
            added.infer(replace(claim, order="one-sided"), {"side": "upper", "at": [0]}, premises)


def test_inputs_in_both_orders_are_looked_at_in_their_order_and_records_are_no_inputs():
    root = Part(Compose((Part(table(ROWS)), Part(table(ROWS)))))
    inputs, records = ("inputs", 2, ""), ("records", 2, "replace")
    both = [((inputs, (0, 1)),), ((inputs, (1, 0)),)]
    assert added._in_their_order(root, (inputs,), both) and not added._in_their_order(root, (inputs,), both[:1])
    assert not added._in_their_order(root, (inputs,), [((records, (1, -1)),), *both[:1]])
    with_noise = Part(Compose((*root.mechanism.parts, Part(LAPLACE, ONE))))
    assert added._in_their_order(with_noise, (), []) and not added._in_their_order(with_noise, (inputs,), [])


@pytest.mark.parametrize("swapped", [False, True])
def test_tables_beside_histograms_that_differ_by_fractions_are_not_looked_at_pair_by_pair(swapped):
    parts = [*(Part(table(ROWS)) for _ in range(2)), *counts((LAPLACE, 0), (LAPLACE, 1), adjacency="l1").parts]
    claim = Claim(Compose(tuple(parts[::-1] if swapped else parts)), None, measure=ZCDP)
    with pytest.raises(Rejected, match="fractions of records"):
        added.infer(claim, {"side": "upper", "at": [0]}, [])


def test_histograms_that_differ_by_fractions_are_not_looked_at_pair_by_pair():
    whole = proof(counts((LAPLACE, 0), (LAPLACE, 1), adjacency="l1"), ZCDP)
    with pytest.raises(Rejected, match="fractions of records"):
        whole.infer("added-measures", (), {"side": "upper", "at": [0]}, [whole.infer("laplace-measures", (0,))])


def test_what_is_met_at_one_pair_of_neighbours_is_a_lower_bound():
    there = [{"columns": 2, "adjacency": "add-remove", "difference": ["0", "1"]}]
    mechanism = counts((LAPLACE, 0), (GAUSSIAN, 1))
    whole = proof(mechanism, ZCDP)
    fact = whole.infer("gaussian-measures", ({"pair": there},))
    found = says(whole.infer("added-measures", (), {"side": "lower", "pair": there}, [fact]), "lower")
    assert number(found.value) == 0.5 and found.witness == says(fact, "lower").witness
    assert set(found.assumed) == {*fact.assumed, "the sensitivities of all parts speak of the same neighbours (add-remove)"}
    assert found.through == ("joint-neighbours", "gaussian-measures")
    for order, premises in (("", [fact, fact]), ("", []), ("one-sided", [fact])):
        with pytest.raises(Rejected, match="it wants one premise"):
            proof(mechanism, ZCDP, order=order).infer("added-measures", (), {"side": "lower", "pair": there}, premises)
    hidden = proof(Compose((*mechanism.parts, Part(PostProcess(mechanism.parts[1])))), ZCDP)
    with pytest.raises(Rejected, match="what a map of the output leaves"):
        hidden.infer("added-measures", (), {"side": "lower", "pair": there}, [fact])
    nothing = counts((LAPLACE, 0), (GAUSSIAN, 0))
    with pytest.raises(Rejected, match="nothing is revealed there"):
        proof(nothing, ZCDP).infer("added-measures", (), {"side": "lower", "pair": there}, [fact])


# -- what is asked ---------------------------------------------------------------------------------


def test_claims_in_epsilon_or_with_open_parameters_are_refused():
    for mechanism, rule in ((LAPLACE, "laplace-measures"), (GAUSSIAN, "gaussian-measures"), (table(ROWS), "finite-measures")):
        with pytest.raises(Rejected, match="in epsilon and delta"):
            Proof(Claim(mechanism, ONE, sensitivity=ONE)).infer(rule)
    for mechanism, rule in ((LAPLACE, "laplace-measures"), (table(ROWS), "finite-measures")):
        with pytest.raises(Rejected, match="wants a value for each"):
            proof(mechanism, ZCDP, sensitivity=parse("s"), domains=(("s", Domain(Fraction(0))),)).infer(rule)


def test_balls_are_rounded_outwards_and_no_measure_is_negative():
    third = arb(1) / 3
    assert below(third).value < Fraction(1, 3) < above(third).value
    assert below(third - 1).value == 0 and above(third - 1).value < 0
    for rounded in (above, below):
        with pytest.raises(Undecided):
            rounded(arb("nan"))


def test_a_premise_of_another_side_or_quantity_is_none():
    whole = proof(Compose((Part(Guarantee("zcdp", ((ONE,),))),)), ZCDP)
    with pytest.raises(CertificateError, match="not about the part"):
        whole.infer("added-measures", (), {"side": "lower"}, [whole.infer("implied-measures", (0,))])
    question = whole.places.question((0,))
    pure = saying(replace(question, measure=ZCDP), "implied-measures", Bound("upper", ONE))
    with pytest.raises(CertificateError, match="not about the part"):
        whole.infer("added-measures", (), {"side": "upper"}, [pure])


# -- finite mechanisms -----------------------------------------------------------------------------


def loss(p, q):
    return sum(x / 10 * log(x / y) for x, y in zip(p, q, strict=True))


def test_the_least_rho_of_a_table_is_met_at_the_order_that_is_named():
    whole = proof(table(ROWS), ZCDP)
    for order, pair, wanted in (
        ("1", (0, 1), loss(*ROWS)),
        ("1", (1, 0), loss(*ROWS[::-1])),
        ("2", (0, 1), log(sum(p * p / q / 10 for p, q in zip(*ROWS, strict=True))) / 2),
        ("3", (1, 0), log(sum(p**3 / q**2 / 10 for p, q in zip(*ROWS[::-1], strict=True))) / 6),
        ("70", (1, 0), log(sum(p**70 / q**69 / 10 for p, q in zip(*ROWS[::-1], strict=True))) / 69 / 70),
    ):
        found = says(whole.infer("finite-measures", (), {"lower": [*pair, order]}), "lower")
        assert number(found.value) == pytest.approx(wanted, rel=1e-12)
        assert in_words(found.witness) == {"pair": list(pair), "order": "1, in the limit" if order == "1" else order} and found.ordered


@pytest.mark.parametrize("lower", [[0, 1], [0, 1, "2", "3"], "012", {"0": 1}, ["0", 1, "2"], [0, True, "2"], [0, 1.0, "2"], None])
def test_a_lower_bound_that_names_no_inputs_and_order_is_refused(lower):
    with pytest.raises(CertificateError, match="not two inputs and an order"):
        proof(table(ROWS), ZCDP).infer("finite-measures", (), {"lower": lower})


def test_a_lower_bound_at_a_pair_that_is_none_and_no_bound_at_all_are_refused():
    for pair in ([0, 0], [0, 2], [-1, 0]):
        with pytest.raises(Rejected, match="not of a pair of inputs that the rule looks at"):
            proof(table(ROWS), ZCDP).infer("finite-measures", (), {"lower": [*pair, "2"]})
    with pytest.raises(Rejected, match="not of a pair of inputs that the rule looks at"):
        proof(table(ROWS, ((0, 1),)), ZCDP, order="one-sided").infer("finite-measures", (), {"lower": [1, 0, "2"]})
    with pytest.raises(CertificateError, match="no bound is asked for"):
        proof(table(ROWS), ZCDP).infer("finite-measures")


def test_rho_of_a_table_between_cuts_is_never_less_than_at_any_order():
    for rows in (ROWS, ((9, 1), (5, 5)), ((98, 2), (2, 98))):
        whole = 100 if sum(rows[0]) == 100 else 10
        mechanism = Table(tuple(tuple(num(Fraction(x, whole)) for x in row) for row in rows))
        at = [1 + k / 50 for k in range(1, 500)]
        most = max(
            log(sum(p**a * q ** (1 - a) / whole for p, q in zip(*pair, strict=True))) / (a - 1) / a
            for pair in (rows, rows[::-1])
            for a in at
        )
        most = max(most, *(sum(x / whole * log(x / y) for x, y in zip(*pair, strict=True)) for pair in (rows, rows[::-1])))
        for first in (Fraction(1, 16), Fraction(1, 4)):
            steps = [first * Fraction(5, 4) ** k for k in range(24)]
            cuts = [str(1 + step) for step in (0, *steps)]
            found = value(proof(mechanism, ZCDP).infer("finite-measures", (), {"cuts": cuts}))
            assert most * (1 - 1e-12) <= found


def test_mu_of_rows_with_equal_losses_is_bounded_from_both_sides():
    # outputs 0 and 1 have one loss, written in two ways
    rows = Table(((parse("1/3"), parse("sqrt(4)/6"), parse("1/3")), (parse("1/6"), parse("1/6"), parse("2/3"))))
    fact = proof(rows, GDP).infer("finite-measures")
    wanted = NORMAL.inv_cdf(2 / 3) - NORMAL.inv_cdf(1 / 3)
    assert value(fact) == pytest.approx(wanted) and value(fact, "lower") == pytest.approx(wanted)
    assert in_words(says(fact, "lower").witness) == {"pair": [0, 1], "event": "the outputs of the greatest losses"}
    assert says(fact, "lower").ordered


def test_an_output_of_one_input_alone_counts_in_its_order_but_for_mu_in_both():
    rows = table(((5, 5, 0), (5, 4, 1)), ((0, 1),))
    for measure in (ZCDP, ORDER2):
        assert value(proof(rows, measure, order="reverse").infer("finite-measures", (), {"lower": [1, 0, "2"]}), "lower") == float("inf")
    assert value(proof(rows, GDP, order="one-sided").infer("finite-measures"), "lower") == float("inf")
    forward = proof(rows, ORDER2, order="one-sided").infer("finite-measures")
    assert value(forward) == value(forward, "lower") == pytest.approx(log(0.5 + 0.25 / 0.4))


def test_pairs_that_are_listed_one_way_are_of_that_way():
    wanted = {"one-sided": log(sum(p * p / q / 10 for p, q in zip(*ROWS, strict=True)))}
    wanted["reverse"] = log(sum(p * p / q / 10 for p, q in zip(*ROWS[::-1], strict=True)))
    for order, each in wanted.items():
        for listed, most in ((((0, 1), (0, 0)), each), (None, max(wanted.values())), (((0, 1), (1, 0)), max(wanted.values()))):
            fact = proof(table(ROWS, listed), ORDER2, order=order).infer("finite-measures")
            assert value(fact) == value(fact, "lower") == pytest.approx(most)
        assert value(proof(table(ROWS, ((0, 1),)), ORDER2).infer("finite-measures")) == pytest.approx(max(wanted.values()))
    scores = Exponential(((ZERO, ONE, ZERO), (ONE, ZERO, num(3))), ONE, ((0, 1),))
    weights = [[1, exp(1), 1], [exp(1), 1, exp(3)]]
    p, q = ([x / sum(row) for x in row] for row in weights)
    for order, (a, b) in (("one-sided", (p, q)), ("reverse", (q, p))):
        fact = proof(scores, ORDER2, order=order).infer("finite-measures")
        assert value(fact) == pytest.approx(log(sum(x * x / y for x, y in zip(a, b, strict=True))))


def test_points_further_apart_than_the_sensitivity_are_no_pair_of_one_order():
    def points(places, adjacent):
        scores = tuple(tuple(num(-abs(a - b)) for b in places) for a in places)
        return Exponential(scores, ONE, adjacent, tuple((num(x),) for x in places), "l1")

    far = proof(points((0, 1, 5), ((0, 1), (0, 2))), ORDER2, order="one-sided", sensitivity=ONE)
    with pytest.raises(Rejected, match="within the sensitivity, in one order"):
        far.infer("finite-measures")
    near = proof(points((0, 1, 5), ((0, 1),)), ORDER2, order="one-sided", sensitivity=ONE).infer("finite-measures")
    p, q = ([exp(-abs(x - y)) for y in (0, 1, 5)] for x in (0, 1))
    wanted = log(sum((x / sum(p)) ** 2 / (y / sum(q)) for x, y in zip(p, q, strict=True)))
    assert value(near) == pytest.approx(wanted)


def test_outputs_that_no_input_or_the_second_alone_can_give_add_nothing():
    for measure in (ORDER2, GDP):
        both, fewer = (proof(table(rows), measure).infer("finite-measures") for rows in (((6, 4, 0), (3, 7, 0)), ((6, 4), (3, 7))))
        assert value(both) == value(fewer) and value(both, "lower") == value(fewer, "lower")
    one = proof(table(((5, 5, 0), (5, 4, 1)), ((0, 1),)), ZCDP, order="one-sided")
    cuts = [str(1 + Fraction(1, 16) * Fraction(5, 4) ** k) for k in range(24)]
    found = one.infer("finite-measures", (), {"cuts": ["1", *cuts], "lower": [0, 1, "1"]})
    assert value(found, "lower") == pytest.approx(0.5 * log(1.25))
    most = max(log(0.5 + 0.5**a * 0.4 ** (1 - a)) / (a - 1) / a for a in (1 + k / 50 for k in range(1, 500)))
    assert most <= value(found) <= 1.1 * most


def test_responses_and_pairs_that_look_alike_have_a_value_in_each_order():
    for order in ("one-sided", "reverse"):
        found = proof(KaryResponse(num(2), parse("4/5")), ORDER2, order=order).infer("finite-measures")
        assert value(found) == pytest.approx(log(0.64 / 0.2 + 0.04 / 0.8))
        scores = Exponential(((ZERO, ONE, ONE), (ONE, ZERO, ZERO), (ZERO, ONE, ONE)), ONE, ((0, 1), (2, 1)))
        pair = [2, 1] if order == "one-sided" else [1, 2]
        p, q = ([x / sum(row) for x in row] for row in ((1, exp(1), exp(1)), (exp(1), 1, 1)))
        first, second = (p, q) if order == "one-sided" else (q, p)
        found = says(proof(scores, ZCDP, order=order).infer("finite-measures", (), {"lower": [*pair, "1"]}), "lower")
        assert number(found.value) == pytest.approx(sum(x * log(x / y) for x, y in zip(first, second, strict=True)))
        assert in_words(found.witness) == {"pair": pair, "order": "1, in the limit"}


def test_masses_that_are_not_rational_face_those_that_are():
    p = 2**-0.5
    rows = Table(((parse("1/sqrt(2)"), parse("1 - 1/sqrt(2)")), (parse("1/2"), parse("1/2"))))
    for pair, (a, b) in (([0, 1], ((p, 1 - p), (0.5, 0.5))), ([1, 0], ((0.5, 0.5), (p, 1 - p)))):
        mean = says(proof(rows, ZCDP).infer("finite-measures", (), {"lower": [*pair, "1"]}), "lower")
        assert number(mean.value) == pytest.approx(sum(x * log(x / y) for x, y in zip(a, b, strict=True)))
        two = says(proof(rows, ZCDP).infer("finite-measures", (), {"lower": [*pair, "2"]}), "lower")
        assert number(two.value) == pytest.approx(log(sum(x * x / y for x, y in zip(a, b, strict=True))) / 2)


# -- orders ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [["1"], "12", None, {"1": "2"}])
def test_cuts_that_are_no_list_of_two_are_refused(cuts):
    with pytest.raises(CertificateError, match="no list of 2 to 4000 numbers"):
        read_cuts(cuts, "rule")


@pytest.mark.parametrize("cuts", [["2", "3"], ["1", "1"], ["1", "3", "2"], ["1", "2", "2"], ["0", "1"]])
def test_cuts_that_do_not_rise_from_order_one_are_refused(cuts):
    with pytest.raises(CertificateError, match="do not rise from 1 on"):
        read_cuts(cuts, "rule")
    assert read_cuts(["1", "3/2"], "rule") == [1, Fraction(3, 2)]


def test_between_cuts_the_quotient_is_that_of_chord_and_tangent():
    cuts = [Fraction(3, 2), Fraction(2), Fraction(3)]
    found = most_over_orders(cuts, lambda order: order * (order - 1), arb(0))  # D_a/a = 1 at every order
    assert float(found.mid()) == pytest.approx(2 / (2 - 0.25))
    assert found >= 1
    assert float(most_over_orders(cuts, lambda order: arb(0), arb(9)).mid()) == 3
    # with a greater value at the lower cut the greatest quotient is there
    steep = most_over_orders(cuts, lambda order: 1 / (order - 1), arb(0))
    assert float(steep.mid()) == pytest.approx(2 / (0.75 - 1 / 16))
    with pytest.raises(Rejected, match="too far apart"):
        most_over_orders([Fraction(3, 2), Fraction(4)], lambda order: order, arb(0))
    with pytest.raises(Undecided):
        most_over_orders(cuts, lambda order: arb("nan"), arb(0))


# -- noise -----------------------------------------------------------------------------------------


def test_laplace_noise_is_alone_and_says_at_which_order_it_is_met():
    with pytest.raises(Rejected, match="additive noise by itself"):
        proof(Compose((Part(LAPLACE, ONE),)), ZCDP).infer("laplace-measures")
    for measure, witness in ((ZCDP, {"order": "1, in the limit"}), (ORDER2, {}), (GDP, {})):
        fact = proof(LAPLACE, measure, sensitivity=ONE).infer("laplace-measures")
        assert (
            in_words(says(fact, "lower").witness) == {"pair": "answers that are the whole sensitivity apart", **witness}
            and says(fact, "lower").ordered
        )
    fact = proof(LAPLACE, GDP, sensitivity=ONE).infer("laplace-measures")
    assert constant(says(fact, "lower").value) < constant(says(fact).value)  # a ball has two ends
    three = proof(LAPLACE, ORDER3, sensitivity=num(2)).infer("laplace-measures")
    assert value(three) == value(three, "lower") == pytest.approx(log(3 / 5 * exp(4) + 2 / 5 * exp(-6)) / 2)


def test_gaussian_noise_says_what_it_rests_on():
    mechanism = Compose((Part(GAUSSIAN, num(3)), Part(Guarantee("gdp", ((num(4),),)))))
    fact = proof(mechanism, GDP).infer("gaussian-measures")
    assert value(fact) == 5 and stated.STATED in says(fact).assumed and len(fact.says) == 1
    processed = proof(PostProcess(Part(GAUSSIAN, num(3))), ORDER3).infer("gaussian-measures")
    assert value(processed) == pytest.approx(13.5) and set(post_processing.ASSUMED) <= set(says(processed).assumed)
    assert len(processed.says) == 1  # what a map leaves to be seen is not known
    plain = proof(Compose((Part(GAUSSIAN, num(3)), Part(GAUSSIAN, num(4)))), ZCDP).infer("gaussian-measures")
    assert value(plain) == value(plain, "lower") == 12.5
    same = "the sensitivities of all parts speak of the same neighbours"
    assert says(plain).assumed == (same,) and same in says(plain, "lower").assumed and len(says(plain, "lower").assumed) == 2
    assert says(plain, "lower").ordered and in_words(says(plain, "lower").witness) == {
        "pair": "answers that move as far as they can together"
    }


def test_gaussian_parts_of_which_one_is_processed_have_an_upper_bound_alone():
    fact = proof(Compose((Part(PostProcess(Part(GAUSSIAN, ONE))), Part(GAUSSIAN, ONE))), ZCDP).infer("gaussian-measures")
    (found,) = fact.says
    assert found.side == "upper" and found.value == ONE and set(post_processing.ASSUMED) <= set(found.assumed)
    assert [b.side for b in proof(Compose((Part(GAUSSIAN, ONE),) * 2), ZCDP).infer("gaussian-measures").says] == ["upper", "lower"]


def test_parts_that_are_not_all_gaussian_have_no_move_together():
    with pytest.raises((Rejected, Undecided), match=r"move together is not known|Gaussian"):
        proof(Compose((Part(GAUSSIAN, ONE), Part(LAPLACE, ONE))), ZCDP).infer("gaussian-measures")


# -- samples ---------------------------------------------------------------------------------------


def sampled(rate="1/4", noise=GAUSSIAN, measure=ORDER3, scheme="poisson", order="", times=ONE, sensitivity=ONE):
    return proof(Subsample(repeated(Part(noise, sensitivity), times), parse(rate), scheme), measure, order=order).infer("sampled-measures")


@pytest.mark.parametrize("rate", ["0", "1/4", "1", "1/sqrt(2)"])
def test_a_sample_of_gaussian_noise_has_the_divergence_of_the_binomial_sum(rate):
    p = number(parse(rate))
    wanted = log(sum(comb(3, k) * (1 - p) ** (3 - k) * p**k * exp(k * (k - 1) * 2) for k in range(4))) / 2
    fact = sampled(rate, sensitivity=num(2))
    assert value(fact) == value(fact, "lower") == pytest.approx(wanted, abs=1e-12)
    lower = says(fact, "lower")
    assert (
        lower.ordered and in_words(lower.witness) == {"pair": "answers that move as far as they can together"} and len(lower.assumed) == 1
    )
    assert [b.side for b in sampled(rate, order="reverse").says] == ["upper"]
    assert [b.side for b in sampled(rate, order="one-sided").says] == ["upper", "lower"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"measure": ZCDP}, "not a Renyi divergence of a whole order"),
        ({"measure": GDP}, "not a Renyi divergence of a whole order"),
        ({"measure": Measure("renyi", None, Fraction(5, 2))}, "not a Renyi divergence of a whole order"),
        ({"measure": Measure("renyi", None, Fraction(513))}, "not a Renyi divergence of a whole order"),
        ({"scheme": "without_replacement"}, "not one mechanism on a Poisson sample"),
        ({"times": num(2)}, "does not add Gaussian noise"),
        ({"noise": LAPLACE}, "does not add Gaussian noise"),
        ({"noise": table(ROWS), "sensitivity": None}, "does not add Gaussian noise"),
    ],
)
def test_samples_of_another_form_are_refused(more, says):
    with pytest.raises(Rejected, match=says):
        sampled(**more)
    with pytest.raises(Rejected, match="one mechanism on a Poisson sample"):
        proof(GAUSSIAN, ORDER2, sensitivity=ONE).infer("sampled-measures")


# -- guarantees ------------------------------------------------------------------------------------


def implied(known, measure, order="", **more):
    return proof(known, measure, order=order, **more).infer("implied-measures")


@pytest.mark.parametrize(
    ("known", "measure", "wanted"),
    [
        (Guarantee("zcdp", ((ONE,),)), ORDER3, 3),
        (Guarantee("gdp", ((num(3),),)), GDP, 3),
        (Guarantee("gdp", ((num(3),),)), ORDER3, 13.5),
        (Guarantee("bounded_range", ((num(2),),)), ORDER3, 1.5),
        (Guarantee("bounded_range", ((num(2),),)), GDP, 2 * NORMAL.inv_cdf(exp(2) / (1 + exp(2)))),
        (Guarantee("renyi", ((num(2), ONE), (num(4), num(2)), (num(8), num(5)))), ORDER3, 2),
        (Guarantee("renyi", ((num(2), ONE), (num(4), num(2)))), ORDER2, 1),
        (Guarantee("approximate", ((ONE, ZERO),)), ORDER2, None),
    ],
)
def test_what_is_stated_bounds_each_measure_that_it_implies(known, measure, wanted):
    if wanted is None:  # randomized response at epsilon 1
        p = exp(1) / (1 + exp(1))
        wanted = log(p * p / (1 - p) + (1 - p) ** 2 / p)
    fact = implied(known, measure)
    assert value(fact) == pytest.approx(wanted, rel=1e-9) and says(fact).assumed == (stated.STATED,)


def test_bounded_range_of_scores_bounds_every_measure():
    scores = Exponential(((ZERO, ONE), (ONE, ZERO)), ONE)
    assert value(implied(scores, ZCDP)) == pytest.approx(4 / 8)
    assert value(implied(scores, ORDER3)) == pytest.approx(3 * 4 / 8)
    assert value(implied(scores, GDP)) == pytest.approx(2 * NORMAL.inv_cdf(exp(2) / (1 + exp(2))), rel=1e-9)
    with pytest.raises(Rejected, match="stated apart"):
        implied(scores, ZCDP, sensitivity=num(2))


@pytest.mark.parametrize(
    ("known", "measure", "order", "says"),
    [
        (LAPLACE, ZCDP, "", "it is no guarantee"),
        (Guarantee("zcdp", ((ONE,),)), GDP, "", "bounds nothing in gdp"),
        (Guarantee("zcdp", ((num(-1),),)), ZCDP, "", "rho"),
        (Guarantee("renyi", ((num(2), ONE),)), ORDER3, "", "no divergence is stated of order 3"),
        (Guarantee("renyi", ((num(3), num(-1)),)), ORDER3, "", "the divergence"),
        (Guarantee("renyi", ((num(3), ONE),)), GDP, "", "bounds nothing in gdp"),
        (Guarantee("approximate", ((num(-1), ZERO),)), ZCDP, "", "eps"),
        (Guarantee("zcdp", ((ONE,),), "one-sided"), ZCDP, "reverse", "one order of neighbours alone"),
        (Guarantee("zcdp", ((ONE,),), "one-sided"), ZCDP, "", "one order of neighbours alone"),
        (Guarantee("zcdp", ((ONE,),), "one-sided"), GDP, "one-sided", "bounds nothing in gdp"),
        (Guarantee("bounded_range", ((ONE,),), "one-sided"), ZCDP, "one-sided", "it bounds no divergence here"),
        (Guarantee("approximate", ((ONE, ZERO),), "one-sided"), ZCDP, "one-sided", "it bounds no divergence here"),
    ],
)
def test_what_is_not_stated_or_not_implied_bounds_nothing(known, measure, order, says):
    with pytest.raises((Rejected, CertificateError), match=says):
        implied(known, measure, order, **({"sensitivity": ONE} if known is LAPLACE else {}))


def test_a_guarantee_of_one_order_bounds_that_order_and_a_gaussian_one_both():
    for known, measure, wanted in (
        (Guarantee("zcdp", ((ONE,),), "reverse"), ORDER3, 3),
        (Guarantee("renyi", ((num(3), ONE),), "reverse"), ORDER3, 1),
    ):
        fact = implied(known, measure, "reverse")
        assert value(fact) == wanted and says(fact).assumed == (stated.STATED_ONE_SIDED,)
    for order in ("", "one-sided", "reverse"):
        assert value(implied(Guarantee("gdp", ((num(3),),), "reverse"), ZCDP, order)) == 4.5


def test_a_pure_epsilon_bounds_each_measure_and_is_one_premise():
    cells = {"cells": [[0, 1, 0], [1, 0, 1]]}
    whole = proof(table(((8, 2), (2, 8))), ZCDP)
    pure = whole.infer("finite-table", (), cells)
    fact = whole.infer("implied-measures", (), {}, [pure])
    assert value(fact) == pytest.approx(log(4) * 0.6)
    assert set(pure.assumed) <= set(says(fact).assumed) and pure.rule in says(fact).through
    with pytest.raises(CertificateError, match="wants one premise, the pure epsilon, or none"):
        whole.infer("implied-measures", (), {}, [pure, pure])
    with pytest.raises(CertificateError, match="not about the pure epsilon"):
        proof(table(((9, 1), (1, 9))), ZCDP).infer("implied-measures", (), {}, [pure])


# -- curves ----------------------------------------------------------------------------------------


def of_response(order="", measure=ORDER2):
    """Randomized response at epsilon log 4: its curve and its pure epsilon."""
    whole = proof(table(((8, 2), (2, 8))), measure, order=order)
    return whole, whole.infer("finite-curve", (), {"row": 0}), whole.infer("finite-table", (), {"cells": [[0, 1, 0], [1, 0, 1]]})


POINTS = [str(Fraction(k, 64) * Fraction(7, 5)) for k in range(65)]


def test_the_integral_of_chords_is_that_of_randomized_response():
    whole, curve, pure = of_response()
    wanted = log(0.64 / 0.2 + 0.04 / 0.8)
    upper = whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS}, [curve, pure])
    lower = whole.infer("measures-of-a-curve", (), {"side": "lower", "points": POINTS}, [curve])
    assert wanted * (1 - 1e-12) <= value(upper) <= 1.03 * wanted
    assert 0.97 * wanted <= value(lower, "lower") <= wanted * (1 + 1e-12)
    assert says(lower, "lower").witness == {"order": "2"} and says(lower, "lower").ordered
    three = of_response(measure=ORDER3)
    wanted = log(0.512 / 0.04 + 0.008 / 0.64) / 2
    assert wanted <= value(three[0].infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS}, list(three[1:]))) <= 1.03 * wanted
    assert set(curve.says.assumed) | set(pure.assumed) <= {*says(upper).assumed}


def test_rho_of_a_curve_lies_between_cuts_and_at_an_order():
    whole, curve, pure = of_response(measure=ZCDP)
    wanted = log(4) * 0.6
    cuts = [str(1 + Fraction(k, 16)) for k in range(1)] + [str(Fraction(k, 32)) for k in range(33, 96)] + ["7/2", "4", "5", "6", "8"]
    upper = whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS, "cuts": cuts}, [curve, pure])
    assert wanted <= value(upper) <= 1.1 * wanted
    lower = whole.infer("measures-of-a-curve", (), {"side": "lower", "points": POINTS, "at": "17/16"}, [curve])
    assert 0.9 * wanted <= value(lower, "lower") <= wanted
    for at in ("1", "1/2", "0", "-1"):
        with pytest.raises(Rejected, match="not an order above 1"):
            whole.infer("measures-of-a-curve", (), {"side": "lower", "points": POINTS, "at": at}, [curve])
    with pytest.raises(CertificateError, match="no list of 2 to 4000 numbers"):
        whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS}, [curve, pure])


def test_a_bound_of_a_curve_wants_its_premises_and_its_side():
    whole, curve, pure = of_response()
    for side, premises in (("lower", [curve, pure]), ("infinite", [curve, pure]), ("both", [curve]), (None, [curve])):
        with pytest.raises(CertificateError, match="'side' is none of"):
            whole.infer("measures-of-a-curve", (), {"side": side, "points": POINTS}, premises)
    for premises in ([curve], [curve, pure, pure]):
        with pytest.raises(Rejected, match="wants the upper side of a curve, and the pure epsilon"):
            whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS}, premises)
    with pytest.raises(Rejected, match="not certainly at least the pure epsilon"):
        whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS[:-1]}, [curve, pure])
    for points in (None, "0", ["0"], {"0": "1"}):
        with pytest.raises(CertificateError, match="no list of 2 to 4000 numbers"):
            whole.infer("measures-of-a-curve", (), {"side": "upper", "points": points}, [curve, pure])
    for points in (POINTS[1:], POINTS[::-1], [*POINTS, POINTS[-1]], ["-1", *POINTS]):
        with pytest.raises(CertificateError, match="do not rise from 0 on"):
            whole.infer("measures-of-a-curve", (), {"side": "upper", "points": points}, [curve, pure])
    with pytest.raises(Rejected, match="no output is certainly possible"):
        whole.infer("measures-of-a-curve", (), {"side": "infinite"}, [curve])


def test_mu_of_a_curve_is_that_of_its_corner():
    whole, curve, pure = of_response(measure=GDP)
    mu = NORMAL.inv_cdf(0.8) - NORMAL.inv_cdf(0.2)
    good, bad = str(Fraction(ceil(mu * 1000) + 20, 1000)), str(Fraction(ceil(mu * 1000) - 20, 1000))
    assert says(whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS, "value": good}, [curve, pure])).value == parse(
        good
    )
    with pytest.raises(Rejected, match="not certainly within that of Gaussian noise"):
        whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS, "value": bad}, [curve, pure])
    for value_ in ("0", "-1"):
        with pytest.raises(Rejected, match="it is not positive"):
            whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS, "value": value_}, [curve, pure])
    found = says(whole.infer("measures-of-a-curve", (), {"side": "lower", "value": bad, "at": "1/8"}, [curve]), "lower")
    assert found.value == parse(bad) and in_words(found.witness) == {"pair": "two neighbours", "at epsilon": "1/8"}
    for value_, at in ((good, "1/8"), (bad, "3"), (bad, "-1/8")):
        with pytest.raises(Rejected, match="not certainly above that of Gaussian noise"):
            whole.infer("measures-of-a-curve", (), {"side": "lower", "value": value_, "at": at}, [curve])


def of_pair(forward, backward):
    """The pair of two rows, by all outputs."""

    def profile(p, q):
        return lambda epsilon: sum(((a - epsilon.exp() * b).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    rows = [[arb(x) / 10 for x in row] for row in (forward, backward)]
    return Pair(profile(*rows), profile(*rows[::-1]))


def test_chords_and_prolonged_lines_enclose_each_order_of_a_pair():
    pair, points = of_pair(*ROWS), [Fraction(k, 50) for k in range(101)]
    for each, (p, q) in ((pair, ROWS), (pair.reversed, ROWS[::-1])):
        for a in (1.5, 2, 4):
            wanted = log(sum(x**a * y ** (1 - a) / 10 for x, y in zip(p, q, strict=True)))
            above_it = float(chords.Chords(each, points).cumulant(arb(a)).mid())
            below_it = float(chords.least(arb(a), each, points).mid())
            assert 0.9 * wanted <= below_it <= wanted * (1 + 1e-9) and wanted * (1 - 1e-9) <= above_it <= 1.1 * wanted
    # the second can lose more than the last point, the first cannot: 0 and 1 face each other
    alone = of_pair((5, 5, 0), (5, 4, 1))
    wanted = log(0.5 + 0.25 / 0.4)
    found = float(chords.Chords(alone, points, alone=True).cumulant(arb(2)).mid())
    assert wanted <= found <= 1.2 * wanted
    few = float(chords.Chords(alone, [Fraction(0), Fraction(1, 4)], alone=True).cumulant(arb(2)).mid())
    assert few >= wanted


def test_an_output_of_one_of_two_neighbours_alone_is_infinite_in_its_order():
    pair = replace(of_pair((5, 5, 0), (5, 4, 1)), rests=(lambda: arb(0), lambda: arb("0.1")))
    event = "the outputs that only one of the two inputs can give"
    for measure, one_way, infinite in (
        (ORDER2, True, False),
        (ORDER2, False, True),
        (GDP, True, True),
        (ZCDP, False, True),
        (ZCDP, True, False),
    ):
        for each, there in ((pair, infinite), (pair.reversed, True), (replace(pair, rests=None), False)):
            if there:
                found = of_a_curve._below(measure, each, {"side": "infinite"}, one_way)
                assert (found[0], in_words(found[1])) == (INFINITE, {"pair": "two neighbours", "event": event})
            else:
                with pytest.raises(Rejected, match="no output is certainly possible"):
                    of_a_curve._below(measure, each, {"side": "infinite"}, one_way)


def test_a_lower_bound_of_a_curve_is_of_the_order_that_is_claimed():
    listed = proof(table(ROWS, ((0, 1),)), ORDER2, order="one-sided")
    with pytest.raises(Rejected, match="the order of the neighbours is not known"):
        listed.infer("measures-of-a-curve", (), {"side": "lower", "points": POINTS}, [listed.infer("finite-curve", (), {"row": 0})])
    told = proof(Translation(parse("exp(-max(3*z, -z))")), ORDER2, order="one-sided", sensitivity=ONE)
    found = says(told.infer("measures-of-a-curve", (), {"side": "lower", "points": ["0", "1", "2", "3"]}, [told.infer("line")]), "lower")
    assert TOWARDS in found.assumed
    both = proof(Translation(parse("exp(-max(3*z, -z))")), ORDER2, sensitivity=ONE)
    found = says(both.infer("measures-of-a-curve", (), {"side": "lower", "points": ["0", "1", "2", "3"]}, [both.infer("line")]), "lower")
    assert TOWARDS not in found.assumed


@pytest.mark.parametrize(("sign", "order"), [(1, "one-sided"), (1, "reverse"), (-1, "one-sided"), (-1, "reverse")])
def test_noise_that_is_not_even_has_the_divergence_of_the_order_that_a_query_tells(sign, order):
    noise = Translation(parse("exp(-max(3*z, -z))"))
    z = np.linspace(-60, 60, 120_001)
    with_it, without = (-np.maximum(3 * (z - shift), shift - z) + log(3 / 4) for shift in (sign, 0))
    p, q = (with_it, without) if order == "one-sided" else (without, with_it)
    wanted = log(np.trapezoid(np.exp(2 * p - q), z))
    whole = proof(noise, ORDER2, order=order, query=Query(((Fraction(sign),),), "add-remove"))
    curve, pure = whole.infer("line"), whole.infer("convex-exponent")
    points = [str(Fraction(k, 16)) for k in range(49)]
    upper = whole.infer("measures-of-a-curve", (), {"side": "upper", "points": points}, [curve, pure])
    lower = whole.infer("measures-of-a-curve", (), {"side": "lower", "points": points}, [curve])
    assert 0.98 * wanted <= value(lower, "lower") <= wanted * (1 + 1e-6) and wanted * (1 - 1e-6) <= value(upper) <= 1.02 * wanted
    mu = NORMAL.inv_cdf(1 - exp(-3) / 4) - NORMAL.inv_cdf(3 / 4)  # some event's; less than the greatest
    both = proof(noise, GDP, order=order, query=Query(((Fraction(sign),),), "add-remove"))
    for small in ("1", str(Fraction(mu).limit_denominator(100))):
        with pytest.raises(Rejected, match="not certainly within that of Gaussian noise"):
            both.infer("measures-of-a-curve", (), {"side": "upper", "points": points, "value": small}, [curve, pure])


def test_what_a_bound_of_a_curve_rests_on_is_shown():
    mechanism = Subsample(Part(Compose((repeated(Part(table(((8, 2), (2, 8)))), num(2)),))), parse("1/2"))
    whole = proof(mechanism, ORDER2)
    inner = whole.infer("finite-composition", ({"part": 0},))
    curve = whole.infer("poisson-subsampling", (), {}, [inner])
    found = says(whole.infer("measures-of-a-curve", (), {"side": "lower", "points": ["0", "1", "2", "3"]}, [curve]), "lower")
    assert curve.says.assumed and curve.says.below
    assert {*curve.says.assumed, *curve.says.below} <= set(found.assumed) and set(curve.says.rules) <= set(found.through)


def test_a_bound_by_an_infinite_part_is_none():
    whole = proof(Compose((Part(LAPLACE, ONE), Part(LAPLACE, num(2)))), ZCDP)
    fine = whole.infer("laplace-measures", (1,))
    infinite = saying(whole.infer("laplace-measures", (0,)).about, "implied-measures", Bound("upper", INFINITE, quantity="zcdp"))
    with pytest.raises(Rejected, match="one has no finite value"):
        whole.infer("added-measures", (), {"side": "upper"}, [infinite, fine])
    pairs = proof(counts((LAPLACE, 0), (GAUSSIAN, 1)), ZCDP)
    about = pairs.infer("gaussian-measures", ({"choice": 1},)).about
    first = pairs.infer("added-measures", ({"choice": 0},), {"side": "upper"}, [pairs.infer("laplace-measures", ({"choice": 0}, 0))])
    with pytest.raises(Rejected, match="one has no finite value"):
        infinite = saying(about, "implied-measures", Bound("upper", INFINITE, quantity="zcdp"))
        pairs.infer("added-measures", (), {"side": "upper", "at": [0, 1]}, [first, infinite])


# -- which mechanisms may be exchanged -------------------------------------------------------------

UNEVEN = Translation(parse("exp(-max(2*z, -z))"))


@pytest.mark.parametrize(
    ("mechanism", "query", "either", "ordered", "worst"),
    [
        (UNEVEN, COUNT, False, True, False),
        (UNEVEN, None, True, True, True),
        (Translation(parse("exp(-abs(z))")), COUNT, True, True, False),
        (Product(UNEVEN.density, ONE), COUNT, False, True, False),
        (Product(UNEVEN.density, ONE), None, True, True, True),
        (Product(parse("exp(-abs(z))"), ONE), COUNT, True, True, False),
        (Mixture(parse("exp(-r**2/(2*v))/sqrt(v)"), parse("exp(-v)"), (ZERO, None), L1, ONE), COUNT, True, True, False),
        (Translation(parse("exp(-abs(z))")), None, True, True, False),
        (Compose((Part(LAPLACE, query=COUNT),)), None, True, True, False),
        (Staircase(ONE, parse("1/2")), None, True, True, False),
        (KaryResponse(num(2), parse("4/5")), None, True, True, False),
        (Guarantee("zcdp", ((ONE,),)), None, True, True, False),
        (Exponential(((ZERO, ONE), (ONE, ZERO)), ONE), None, True, True, False),
        (Exponential(((ZERO, ONE), (ONE, ZERO)), ONE, ((0, 1),)), None, False, False, False),
        (table(ROWS, ((0, 1),)), None, False, False, False),
        (table(ROWS, ((0, 1), (1, 0))), None, True, True, False),
        (table(ROWS, ((0, 0), (0, 1))), None, False, False, False),
        (Subsample(Part(LAPLACE, ONE), parse("1/2")), None, False, True, False),
        (Compose((Part(LAPLACE, ONE), Part(UNEVEN, query=COUNT))), None, False, True, False),
        (Compose((Part(LAPLACE, ONE), Part(UNEVEN, ONE))), None, True, True, True),
        (Parallel((Part(LAPLACE, ONE), Part(table(ROWS, ((0, 1),))))), None, False, False, False),
        (PostProcess(Part(UNEVEN, query=COUNT)), None, False, True, False),
        (Lipschitz(Part(LAPLACE, ONE), ONE), None, True, True, False),
        (Group(Part(LAPLACE, ONE), num(2)), None, True, True, False),
        (Group(Part(LAPLACE, query=COUNT), num(2)), None, False, False, False),
        (Group(Part(Compose((Part(LAPLACE, query=COUNT),))), num(2)), None, False, False, False),
        (Compose((Part(Group(Part(LAPLACE, query=COUNT), num(2))),)), None, False, False, False),
        (LAPLACE, Query(COUNT.rows, "replace"), False, False, False),
    ],
)
def test_which_outputs_may_be_exchanged_and_which_pairs_have_an_order(mechanism, query, either, ordered, worst):
    claim = Claim(mechanism, ONE, query=query, sensitivity=None if query else ONE)
    assert (either_order(claim), in_order(claim), worst_way(claim)) == (either, ordered, (TOWARDS,) if worst else ())


@pytest.mark.parametrize(
    ("kind", "either"), [(EllipticalProcess, True), (Kernel, True), (Sampled, False), (get_args(Selection)[0], False), (Space, False)]
)
def test_kinds_that_are_all_even_or_never_exchanged(kind, either):
    assert exchanged._exchanged(Part(object.__new__(kind))) is either


def test_under_another_adjacency_no_order_is_one_of_a_record():
    for part in (Part(LAPLACE, ONE, adjacency="replace"), Part(LAPLACE, query=Query(COUNT.rows, "replace"))):
        assert not either_order(Claim(Compose((part,)), ONE)) and not in_order(Claim(Compose((part,)), ONE))
    assert not either_order(Claim(Compose((Part(LAPLACE, ONE),)), ONE, adjacency="replace"))
    assert not in_order(Claim(Subsample(Part(LAPLACE, ONE), parse("1/2"), "without_replacement"), ONE))


def gaussian_delta(epsilon, mu=1.0):
    return NORMAL.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * NORMAL.cdf(-mu / 2 - epsilon / mu)


def test_a_profile_is_compared_with_the_gaussian_one_at_both_ends_of_every_chord():
    """In x = e^epsilon: what is above the tangent at the middle at either end has a chord that is above it there."""
    u, v = 1.0, exp(3)
    middle = (u + v) / 2
    slope = -NORMAL.cdf(-0.5 - log(middle))
    at_u = gaussian_delta(log(middle)) + slope * (u - middle)
    at_v = gaussian_delta(log(middle)) + slope * (v - middle)
    assert at_v < 0 < at_u < gaussian_delta(0)
    points = [Fraction(0), Fraction(3), Fraction(301, 100)]
    for first, second in ((0.999 * at_u, 0.5 * gaussian_delta(3)), (2 * gaussian_delta(0), at_v)):
        assert (first + second) / 2 > gaussian_delta(log(middle))  # the chord is above the Gaussian profile in between
        with pytest.raises(Rejected, match="not certainly within"):
            chords.within_gaussian(lambda x, a=first, b=second: arb(a) if x == 0 else arb(b), arb(1), points)
    fine = [Fraction(k, 64) for k in range(257)]
    chords.within_gaussian(lambda x: arb(gaussian_delta(float(x), 0.5)), arb(1), fine)
    with pytest.raises(Rejected, match="not certainly within"):
        chords.within_gaussian(lambda x: arb(2 * gaussian_delta(0)), arb(1), fine[:2])


def test_an_upper_bound_of_a_curve_rests_on_what_both_its_premises_do():
    whole, curve, pure = of_response()
    premises = [replace(curve, says=replace(curve.says, assumed=("of the curve",))), replace(pure, assumed=("of the bound",))]
    found = says(whole.infer("measures-of-a-curve", (), {"side": "upper", "points": POINTS}, premises))
    assert {"of the curve", "of the bound"} <= set(found.assumed)


@pytest.mark.parametrize("measure", [ZCDP, GDP, ORDER2])
def test_what_is_not_certainly_at_least_0_has_no_value_in_another_measure(measure):
    for below_zero in (parse("-1/2"), parse("sqrt(2) - 3/2")):
        with pytest.raises(Undecided, match="not certainly a number of at least 0"):
            conversions.of_pure(below_zero, measure)
        if measure == ZCDP:
            with pytest.raises(Undecided, match="not certainly a number of at least 0"):
                laplace_rule._value(below_zero, measure)

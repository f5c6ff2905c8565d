"""Proofs: what a line may rest on, what it may speak of, and that whatever can be derived at all is true."""

import copy
import json
import pickle
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import permutations, product

import pytest
from flint import arb

from dpverify.evidence.collected import encode
from dpverify.search.certificates import pack, record
from dpverify.search.composition import plans
from dpverify.search.events import told
from dpverify.search.verify import verify
from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel import proof
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.certificate import MAX_DEPTH, Line, decode, unpack
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, Num, call, num, parse
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import (
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    Guarantee,
    KaryResponse,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Radial,
    Subsample,
    Table,
    all_parts,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.registry import OF_CURVES
from dpverify.trusted.order.enclosed import enclose
from tests.curves.test_orientation import asked, sampled_delta
from tests.laws.test_combinators_sound import divergence, neighbours
from tests.proofs import forged, line

F = Fraction
HALF = parse("1/2")


def table(*rows, times=1):
    return repeated(Part(Table(tuple(tuple(map(parse, row)) for row in rows))), num(times))


RESPONSE = table(("3/4", "1/4"), ("1/4", "3/4"))
SKEWED = table(("2/3", "1/3"), ("1/2", "1/2"))
THREE = table(("1/2", "1/2"), ("1/3", "2/3"), ("1/4", "3/4"))
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))


def twice(part):
    return repeated(part, num(2))


# -- whatever can be derived is true -------------------------------------------------------------------------


def grid(parts):
    return {"spacing": "1/4", "nudge": "1/1000", "bits": 64, "tail": 30, "ranges": [[-12, 12]] * parts}


PARAMETERS = {
    "finite-curve": [{"row": 0}],
    "finite-composition": [{}, {"rows": [0]}, {"rows": [1, 0]}],
    "optimal-composition": [{}],
    "loss-distribution": [{"grid": grid(n), "reverse": grid(n)} for n in (1, 2)],
    "single-part": [{}],
    "poisson-subsampling": [{}],
    "sampling-without-replacement": [{}],
    "parallel-composition": [{"index": "0"}, {"index": "1"}],
    "group-privacy": [{"epsilon": "1/2"}],
    "pure-guarantee": [{}],
    "renyi-composition": [{"points": [["3", "1"]], "known": known} for known in ([0], [0, 0], [0, 1])],
    "joint-neighbours": [{}, *({"above": above, "below": {"choice": 0}} for above in ([0], [0, 1]))],
    "finite-table": [{"cells": [[a, b, y]]} for a, b in permutations(range(2)) for y in range(2)],
    "privacy-profile": [{"delta": True}],
    "closed-profile": [{}],
}
FROM_NOTHING = ("finite-curve", "finite-composition", "optimal-composition", "finite-table", "line")
SEVERAL = ("loss-distribution", "parallel-composition", "joint-neighbours", "renyi-composition")
STEPS = [0, 1, {"part": 0}, {"part": 1}, ONE_STEP, {"choice": 0}, {"choice": 1}, {"choice": 2}]


def places(of):
    """Places up to three steps down, one for every run that there is."""
    found, last = {of.places.run(()): ()}, [()]
    for _ in range(3):
        deeper = []
        for place, step in product(last, STEPS):
            try:
                run = of.places.run((*place, step))
            except DpverifyError:
                continue
            if run not in found:
                found[run] = (*place, step)
                deeper.append((*place, step))
        last = deeper
    return list(found.values())


def derivable(of, rules, rounds=4, most=4):
    """Facts that rules prove from nothing and from each other, as far as a few rounds go; of one rule about one thing a few alone."""
    chance, everywhere, facts, known = random.Random(1), places(of), [], Counter()
    for _ in range(rounds):
        pairs = [tuple(chance.sample(facts, 2)) for _ in range(20)] if len(facts) > 1 else []
        several = [(), *((fact,) for fact in facts), *pairs]
        fresh = []
        for (rule, listed), place in product(rules.items(), everywhere):
            grounds = [()] if rule in FROM_NOTHING else several if rule in SEVERAL else several[: len(facts) + 1]
            for parameters, premises in product(listed, grounds):
                if known[rule, str(place)] == most:
                    break
                try:
                    fact = of.infer(rule, place, parameters, premises)
                except (Rejected, CertificateError):
                    continue
                if fact not in facts and fact not in fresh:
                    known[rule, str(place)] += 1
                    fresh.append(fact)
        facts += fresh
    return facts


MECHANISMS = {
    "a sample of what is run twice": Subsample(twice(SKEWED), HALF),
    "a sample of two": Subsample(Part(Compose((SKEWED, RESPONSE))), HALF),
    "two, one behind a map of the output": Compose((twice(SKEWED), Part(PostProcess(RESPONSE)))),
    "in parallel, one run twice": Parallel((twice(SKEWED), RESPONSE)),
    "a group of a sample": Group(Part(Subsample(SKEWED, HALF)), num(2)),
    "a sample of what is behind a map": Subsample(Part(Lipschitz(Part(Compose((SKEWED, RESPONSE))), num(1))), HALF),
    "a sample and a group of tables": Compose((Part(Subsample(THREE, HALF)), Part(Group(SKEWED, num(2))))),
    "all there is": SKEWED.mechanism,
}


def at_one_pair(part):
    """Whether a curve is of one order of the neighbours alone."""
    return isinstance(part, OnePair) or any(isinstance(inner, OnePair) for inner in all_parts(part.mechanism))


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:Using `assume` outside")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.wide] * (name == "a sample of two")) for name in MECHANISMS]
)
def test_whatever_can_be_derived_of_tables_is_true(name):
    factor = F(3, 2)
    claim = Claim(MECHANISMS[name], call("log", num(factor)), None)
    with precision(64):
        at, facts = rational(factor).log(), derivable(Proof(claim), PARAMETERS)
        assert {type(fact.says) for fact in facts} == {Curve, tuple}
        for fact in facts:
            if not isinstance(fact.says, Curve) or at_one_pair(fact.about.part):
                continue
            steps = fact.about.factor.value
            truth = divergence(neighbours(fact.about.part, int(steps)), factor)
            with suppress(DpverifyError):  # a curve may have no value, then nothing follows from it
                assert fact.says.upper is None or fact.says.upper.worst(at).upper() >= rational(truth).lower(), fact
            with suppress(DpverifyError):
                assert fact.says.lower is None or fact.says.lower.worst(at).lower() <= rational(truth).upper(), fact
    truth = divergence(neighbours(Part(claim.mechanism)), factor)
    for found in (each for fact in facts if not fact.place for each in as_bounds(fact.says) if each.quantity == "delta"):
        ball = enclose(found.value, 200)
        assert ball.upper() >= rational(truth).lower() if found.side == "upper" else ball.lower() <= rational(truth).upper()


ADDITIVE = {
    "line": [{}],
    "single-part": [{}],
    "loss-distribution": [{"grid": grid(1), "reverse": grid(1)}],
    "joint-neighbours": [{}],
    "poisson-subsampling": [{}],
    "privacy-profile": [{"delta": True}],
}


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", [F(1, 10), F(6, 10)])
@pytest.mark.parametrize("up", [1, -1])
def test_whatever_can_be_derived_behind_a_map_of_the_data_is_for_both_orders(up, epsilon):
    # a record moves the answer one way, and a map of the data may add a record where one is taken away: both samples occur
    told, mapped = asked(up), Part(Lipschitz(asked(up), ONE))
    for part, orders in ((told, (up == 1,)), (mapped, (True, False)), (Part(Compose((mapped,))), (True, False))):
        claim = Claim(Subsample(part, HALF), Num(epsilon), None)
        with precision(64):
            facts = derivable(Proof(claim), ADDITIVE, rounds=5, most=30)
        uppers = [each for fact in facts if not fact.place for each in as_bounds(fact.says) if each.side == "upper"]
        truth = max(sampled_delta(order, epsilon) for order in orders)
        assert uppers and all(float(each.value.value) >= truth - 1e-12 for each in uppers)


# -- premises ------------------------------------------------------------------------------------------------


def test_the_curve_of_several_runs_is_not_that_of_one():
    """The class: what a rule about one run is given is run once, whatever part a line names as its place."""
    claim = Claim(Subsample(repeated(Part(GAUSSIAN.mechanism, num(1)), num(3)), HALF), num(1), parse("1/10"))
    assert verify(claim, 8).judgement.verdict == "REFUTED"
    sample, read = line("poisson-subsampling", premises=[0]), line("privacy-profile", {"delta": True}, [1])
    for rule in ("gaussian", "line"):
        with pytest.raises(Rejected, match=r"at the mechanism|the mechanism: it is about additive noise|no noise on the line"):
            kernel.check(forged(claim, "PROVED", line(rule, place=({"part": 0},)), sample, read))
    of = Proof(Claim(Subsample(twice(RESPONSE), HALF), num(1)))
    pure = of.infer("finite-table", ({"part": 0}, 0), {"cells": [[0, 1, 0]]})
    for rule, premises in (("finite-curve", []), ("pure-guarantee", [pure])):
        with pytest.raises((Rejected, CertificateError), match=r"finite mechanism|tables|not about the pure epsilon of the part"):
            of.infer(rule, ({"part": 0},), {}, premises)
        assert isinstance(of.infer(rule, ({"part": 0}, 0), {}, premises).says, Curve)


def test_what_runs_come_to_is_not_said_of_a_place_behind_a_map():
    """The class: where a run stands is not seen from what it comes to, and its curve there may be of one order alone."""
    claim = Claim(Subsample(Part(Lipschitz(asked(1), ONE)), HALF), num(1), parse("1/10"))
    inside = ({"part": 0}, 0)
    for rule, parameters in (("single-part", {}), ("loss-distribution", {"grid": grid(1)})):
        lines = [line("line", place=(*inside, 0)), line(rule, parameters, [0], inside)]
        with pytest.raises(Rejected, match="behind a map or in a group"):
            kernel.check(forged(claim, "UNKNOWN", *lines))
    shared = Part(Lipschitz(Part(Parallel((asked(1), asked(1)))), ONE))
    with pytest.raises((Rejected, CertificateError), match="stands behind a map"):
        Proof(Claim(Subsample(shared, HALF), num(1))).infer("joint-neighbours", inside, {"above": [0]})


PARTS = Compose((GAUSSIAN, Part(GAUSSIAN.mechanism, num(2)), twice(RESPONSE)))


def test_a_premise_about_another_part_is_refused():
    claim = Claim(PARTS, num(1))
    known = [line("gaussian", place=(0,)), line("gaussian", place=(1,)), line("finite-curve", {"row": 0}, place=(2,))]
    whole = {"grid": grid(3)}
    assert kernel.check(forged(claim, "UNKNOWN", *known, line("loss-distribution", whole, [0, 1, 2])))
    for numbers in product(range(3), repeat=3):
        if numbers != (0, 1, 2):
            with pytest.raises(CertificateError, match="line 3: loss-distribution: a premise is not about the curve of the part"):
                kernel.check(forged(claim, "UNKNOWN", *known, line("loss-distribution", whole, numbers)))


def test_a_premise_of_another_kind_is_refused():
    claim = Claim(Compose((GAUSSIAN, Part(parse_laplace(), num(1)))), num(3), parse("1/100"))
    bound, curve = line("concave-exponent", {"side": "upper"}, place=({"part": 1},)), line("laplace", place=({"part": 1},))
    for first, second, rule, parameters, where in (
        (line("gaussian", place=(0,)), bound, "loss-distribution", {"grid": grid(2)}, "curve"),
        (line("convex-exponent", {"side": "lower"}, place=({"part": 0},)), curve, "combination", SIDE, "pure epsilon"),
    ):
        with pytest.raises(CertificateError, match=f"a premise is not about the {where} of the part"):
            kernel.check(forged(claim, "UNKNOWN", first, second, line(rule, parameters, [0, 1])))


SIDE = {"side": "lower", "part": {"parts": [0, 1]}}


def parse_laplace():
    return Radial(parse("exp(-r)"), L2, num(1))


def test_a_bound_of_the_other_side_is_no_premise():
    claim = Claim(Compose((Part(parse_laplace(), num(1)), Part(parse_laplace(), num(2)))), num(4))
    sides = [[line("concave-exponent", {"side": side}, place=({"part": i},)) for i in (0, 1)] for side in ("upper", "lower")]
    upper = line("combination", {**SIDE, "side": "upper"}, [0, 1])
    assert kernel.check(forged(claim, "PROVED", *sides[0], upper)).upper == num(3)
    with pytest.raises(Rejected, match="does not prove an upper bound for all parameters"):
        kernel.check(forged(claim, "PROVED", *sides[1], upper))


@pytest.mark.parametrize("rule", ["gaussian", "finite-curve", "line", "gaussian-composition", "finite-table", "concave-exponent"])
def test_a_rule_that_rests_on_nothing_is_given_nothing(rule):
    mechanism = RESPONSE.mechanism if rule.startswith("finite") else parse_laplace() if rule == "concave-exponent" else GAUSSIAN.mechanism
    claim = Claim(mechanism, num(2), parse("1/10"), sensitivity=None if rule.startswith("finite") else num(1))
    known = line(rule, {"finite-table": {"cells": [[0, 1, 0]]}, "concave-exponent": {"side": "upper"}}.get(rule, {}))
    assert kernel.replay(unpack(forged(claim, "UNKNOWN", known, known)))
    with pytest.raises(
        CertificateError, match=f"line 1: {rule}: it does not use 1 of its 1 premises; give it those alone that it rests on"
    ):
        kernel.check(forged(claim, "UNKNOWN", known, replace(known, premises=(0,))))


@pytest.mark.parametrize(
    "claim",
    [
        Claim(Compose((GAUSSIAN, Part(GAUSSIAN.mechanism, num(2)))), num(4), parse("1/10")),
        Claim(Compose((twice(SKEWED), RESPONSE)), num(3), parse("1/10")),
        Claim(Compose((asked(1, 0), asked(0, 1))), num(1), parse("1/2")),
        Claim(Group(Part(Subsample(GAUSSIAN, HALF)), num(2)), num(1), parse("1/2")),
        Claim(Compose((SKEWED, Part(Guarantee("zcdp", ((HALF,),))))), num(3), parse("1/10")),
    ],
    ids=lambda claim: type(claim.mechanism).__name__,
)
def test_no_line_has_a_premise_that_it_does_not_use(claim):
    found = verify(claim, 3).certificate
    assert kernel.check(found).verdict != "UNKNOWN"
    for number, one in enumerate(found["lines"]):
        for surplus in range(number):
            lines = [{**each, "premises": [*each.get("premises", ()), surplus]} if each is one else each for each in found["lines"]]
            with pytest.raises((CertificateError, Rejected), match=f"{one['rule']}: "):
                kernel.replay(unpack({**found, "lines": lines[: number + 1]}))


@pytest.mark.wide
def test_lines_rest_on_lines_before_them_alone():
    found = verify(Claim(PARTS, num(6), parse("1/10")), 4).certificate
    assert len(found["lines"]) > 4 and any(one.get("premises") for one in found["lines"])
    for number, one in enumerate(found["lines"]):
        for wrong in ([number], [number + 1], [len(found["lines"])], [-1], [True], ["0"], [None], [0.0], "0", {"0": 0}):
            lines = [{**one, "premises": wrong} if at == number else other for at, other in enumerate(found["lines"])]
            with pytest.raises(CertificateError):
                unpack({**found, "lines": lines})


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim(Compose((GAUSSIAN,)), num(1), parse("1/2"), num(5)), "a sensitivity of the kind compose, which takes none"),
        (Claim(Group(Part(Compose((GAUSSIAN,)), num(5)), num(2)), num(1)), "a sensitivity of the kind compose, which takes none"),
        (Claim(RESPONSE.mechanism, num(2), sensitivity=num(5)), "a sensitivity of the kind table, which takes none"),
        (Claim(Compose((Part(KaryResponse(num(3), HALF), num(2)),)), num(2)), "a sensitivity of the kind kary_response, which takes none"),
        (Claim(Guarantee("zcdp", ((HALF,),)), num(2), sensitivity=num(5)), "a sensitivity of the kind guarantee, which takes none"),
        (
            replace(Claim(asked(1).mechanism, num(2), query=asked(1).query), adjacency="replace"),
            "an adjacency beside the one that its query",
        ),
    ],
)
def test_a_claim_says_nothing_that_no_rule_looks_at(claim, said):
    """The class: what a claim states is read by people, so that nothing in it may be left aside by what proves it."""
    with pytest.raises(CertificateError, match=f"the claim states {said}"):
        kernel.check(forged(claim, "PROVED", line("closed-profile")))


# -- places --------------------------------------------------------------------------------------------------

SHARED = Compose((asked(1, 0), asked(0, 1)))
NOWHERE = [
    2, -1, True, False, "0", None, "", "two steps", [], {}, [0], {"part": 2}, {"part": -1}, {"part": True}, {"part": "0"}, {"part": None},
    {"part": 0, "choice": 0}, {"parts": 0}, {"choice": 2}, {"choice": -1}, {"choice": "0"}, {"choice": True}, {"choice": None}, {"pair": 0},
    {"pair": None}, {"pair": [{"columns": 2, "adjacency": "add-remove", "difference": ["1", "1"]}]},
    {"at": {"scale": "1"}}, {"at": 3}, {"": 0},
]  # fmt: skip


@pytest.mark.parametrize("step", NOWHERE, ids=map(str, NOWHERE))
@pytest.mark.parametrize("first", [(), (0,), ({"part": 0},)], ids=str)
def test_a_place_that_leads_nowhere_is_refused(first, step):
    for rule in ("line", "single-part", "point-witness", "joint-neighbours"):
        with pytest.raises((CertificateError, Rejected)):
            kernel.check(forged(Claim(SHARED, num(1)), "UNKNOWN", line(rule, place=(*first, step))))


def test_a_place_is_no_longer_than_mechanisms_are_deep():
    """The class: a place is followed step by step, and one of a million steps would take the memory of the machine."""
    claim = Claim(GAUSSIAN.mechanism, num(1), parse("1/100"), num(1))
    for rule, parameters in (("gaussian", {}), ("convex-exponent", {"side": "lower"})):
        assert kernel.replay(unpack(forged(claim, "UNKNOWN", line(rule, parameters, place=(0,) * MAX_DEPTH))))
        for steps in (MAX_DEPTH + 1, 100_000):
            with pytest.raises(
                CertificateError, match=f"line 0: a place of {steps} steps: no mechanism in a certificate is nested more than"
            ):
                kernel.check(forged(claim, "UNKNOWN", line(rule, parameters, place=(0,) * steps)))


@pytest.mark.parametrize(
    "pair", [[], [{"columns": 3, "adjacency": "add-remove", "difference": ["1", "0", "0"]}], [{"inputs": 2, "pair": [0, 1]}]]
)
def test_a_pair_of_neighbours_of_something_else_is_no_place(pair):
    with pytest.raises(Rejected, match="says nothing of what some parts share"):
        kernel.check(forged(Claim(SHARED, num(1)), "UNKNOWN", line("single-part", place=({"pair": pair},))))


def test_each_kind_of_step_leads_somewhere():
    at = {"pair": [{"columns": 2, "adjacency": "add-remove", "difference": ["1", "0"]}]}
    for place in ((0,), (1,), ({"part": 1},), ({"choice": 0}, 0), (at, {"part": 0}), ({"part": 0}, ONE_STEP), (0, 0, 0)):
        assert kernel.check(forged(Claim(SHARED, num(1)), "UNKNOWN", line("line", place=place))).verdict == "UNKNOWN"


@pytest.mark.parametrize("at", [{"s": "0"}, {"s": "-1"}, {"t": "1"}, {"s": "x"}, {"s": 0.5}, {"s": None}, ["s"], None])
def test_parameters_are_fixed_at_values_of_their_domains_alone(at):
    claim = Claim(Compose((Part(Radial(parse("exp(-r/s)"), L2, num(1)), num(1)),)), num(1), domains=(("s", Domain(F(0))),))
    here = line("concave-exponent", {"side": "lower"}, place=({"at": {"s": "1/2"}}, {"part": 0}))
    whole = line("combination", {"side": "lower", "at": {"s": "1/2"}, "part": {"parts": [0]}}, [0])
    assert kernel.check(forged(claim, "REFUTED", here, whole)).witness["at"] == {"s": "1/2"}
    with pytest.raises((CertificateError, Rejected)):
        kernel.check(forged(claim, "REFUTED", replace(here, place=({"at": at}, {"part": 0})), whole))


def test_a_bound_at_one_value_of_a_parameter_is_a_premise_at_no_other():
    claim = Claim(Compose((Part(Radial(parse("exp(-r/s)"), L2, num(1)), num(1)),)), num(1), domains=(("s", Domain(F(0))),))
    here = line("concave-exponent", {"side": "lower"}, place=({"at": {"s": "1/2"}}, {"part": 0}))
    for at in ({"s": "1/3"}, {}):
        with pytest.raises(CertificateError, match="not about the pure epsilon of the part"):
            kernel.check(forged(claim, "REFUTED", here, line("combination", {"side": "lower", "at": at, "part": {"parts": [0]}}, [0])))


def test_values_of_parameters_are_fixed_first_or_not_at_all():
    claim = Claim(Compose((Part(Radial(parse("exp(-r/s)"), L2, num(1)), num(1)),)), num(1), domains=(("s", Domain(F(0))),))
    for place in (({"part": 0}, {"at": {"s": "1"}}), ({"at": {"s": "1"}}, {"at": {"s": "1"}})):
        with pytest.raises(CertificateError, match=r"the place .* is none in this mechanism"):
            kernel.check(forged(claim, "UNKNOWN", line("concave-exponent", {"side": "lower"}, place=place)))


# -- what counts ---------------------------------------------------------------------------------------------


def test_a_fact_about_a_part_never_counts_as_a_bound_on_the_claim():
    claim = Claim(Compose((RESPONSE, twice(SKEWED))), parse("6/5"))
    parts = [line("finite-table", {"cells": [[0, 1, 0]]}, place=({"part": 0},)), line("finite-table", {"cell": [0, 1, 0]}, place=(0,))]
    judgement = kernel.check(forged(claim, "UNKNOWN", *parts))
    assert judgement.upper is None and judgement.lower is None and not judgement.rules and not judgement.assumptions
    for verdict in ("PROVED", "REFUTED"):
        with pytest.raises(CertificateError, match="its lines give UNKNOWN"):
            kernel.check(forged(claim, verdict, *parts))


@pytest.mark.parametrize("rule", ["privacy-profile", "closed-profile", "one-sided"])
def test_rules_about_the_whole_say_nothing_of_a_part(rule):
    for place in ((0,), ({"part": 0},), ({"part": 0}, 0), (ONE_STEP,)):
        with pytest.raises(CertificateError, match="it speaks of the whole claim, not of a part"):
            kernel.check(forged(Claim(Compose((RESPONSE, SKEWED)), num(1)), "UNKNOWN", line(rule, place=place)))


@pytest.mark.parametrize("first", [True, False])
def test_the_part_that_is_all_there_is_does_not_stand_for_the_whole(first):
    claim = Claim(RESPONSE.mechanism, parse("log(3)"))
    whole, part = line("finite-table", {"cells": [[0, 1, 0]]}), line("finite-table", {"cells": [[0, 1, 0]]}, place=(0,))
    assert kernel.check(forged(claim, "PROVED", *((whole, part) if first else (part, whole)))).verdict == "PROVED"
    assert kernel.check(forged(claim, "UNKNOWN", part)).upper is None


def test_a_curve_alone_decides_nothing():
    claim = Claim(GAUSSIAN.mechanism, num(9), HALF, sensitivity=num(1))
    assert kernel.check(forged(claim, "UNKNOWN", line("gaussian"))).delta_upper is None
    assert kernel.check(forged(claim, "PROVED", line("gaussian"), line("privacy-profile", {"delta": True}, [0]))).delta_upper is not None


# -- facts, and what forges them -------------------------------------------------------------------------------


def test_equal_uses_of_a_rule_are_one_fact():
    of = Proof(Claim(Compose((GAUSSIAN, twice(RESPONSE), GAUSSIAN)), num(1)))
    one = of.infer("gaussian", (0,))
    assert of.infer("gaussian", (0,), {}) is one and of.infer("gaussian", ({"part": 2}, 0)) is one
    table_curve = of.infer("finite-curve", (1,), {"row": 0})
    grids = {"grid": grid(2)}
    assert of.infer("loss-distribution", (), grids, [one, table_curve]) is of.infer(
        "loss-distribution", (), dict(grids), (one, table_curve)
    )
    with precision(300):
        assert of.infer("gaussian", (0,)) is not one
    assert of.infer("finite-curve", (1,), {"row": 1}) is not table_curve
    assert len(record([of.infer("loss-distribution", (), grids, [one, table_curve]), one, one])) == 3


def test_what_equal_uses_say_is_shared_between_proofs():
    first, second = (Proof(Claim(PARTS, epsilon)) for epsilon in (num(1), num(2)))
    assert first.infer("gaussian", (0,)) is not second.infer("gaussian", (0,))
    assert first.infer("gaussian", (0,)).says is second.infer("gaussian", (0,)).says


def test_the_order_of_the_lines_does_not_matter_as_long_as_premises_stand_before():
    found = decode(encode(dict(verify(Claim(Compose((GAUSSIAN, RESPONSE)), num(4), parse("1/10")), 4).certificate)).encode())
    lines, expected, chance = found["lines"], kernel.check(found), random.Random(2)
    assert len(lines) >= 5
    for _ in range(6):
        order, left = [], list(range(len(lines)))
        while left:
            ready = [at for at in left if set(lines[at].get("premises", ())) <= set(order)]
            order.append(chance.choice(ready))
            left.remove(order[-1])
        moved = [
            {**lines[at], **({"premises": [order.index(p) for p in lines[at]["premises"]]} if "premises" in lines[at] else {})}
            for at in order
        ]
        again = kernel.check({**found, "lines": moved})
        assert (again.verdict, again.lower, again.upper) == (expected.verdict, expected.lower, expected.upper)
        assert (again.delta_lower, again.delta_upper) == (expected.delta_lower, expected.delta_upper)
        assert set(again.rules) == set(expected.rules) and set(again.assumptions) == set(expected.assumptions)


def test_what_was_remembered_does_not_make_a_premise_of_another_part_one():
    """The class: whether a line holds does not depend on what was proved before. A sample of all data says what its part says."""
    of = Proof(Claim(Group(Part(Subsample(GAUSSIAN, ONE, "without_replacement")), num(2)), num(1), parse("1/10")))
    inner = of.infer("gaussian", (0, ONE_STEP, {"part": 0}))
    sample = of.infer("sampling-without-replacement", (0, ONE_STEP), {}, [inner])
    assert sample.says is inner.says  # or the test has lost its point
    assert of.infer("group-privacy", (0,), {"epsilon": "1/4"}, [sample]).says.upper is not None
    with pytest.raises(CertificateError, match="not about the curve of the part"):
        of.infer("group-privacy", (0,), {"epsilon": "1/4"}, [inner])


@dataclass(frozen=True, eq=False)
class Mine(Fact):
    """Somebody's own kind of fact."""


def lies(known):
    """Facts that no rule has proved, made from one that a rule has."""
    nothing = symmetric(lambda epsilon: arb(0))
    says = Curve(nothing, nothing, known.says.rules) if isinstance(known.says, Curve) else (Bound("upper", num(0)),)
    values = {each.name: getattr(known, each.name) for each in fields(Fact)} | {"says": says}
    bare = object.__new__(Fact)
    for name, value in values.items():
        object.__setattr__(bare, name, value)
    yield from (bare, replace(known, says=says), Fact(**values), Mine(**values), replace(copy.copy(known), says=says))
    if not isinstance(known.says, Curve):
        yield replace(pickle.loads(pickle.dumps(known)), says=says)


@pytest.mark.parametrize(
    ("claim", "rule", "parameters", "place"),
    [
        (Claim(GAUSSIAN.mechanism, num(1), parse("1/100"), num(1)), "gaussian", {}, ()),
        (Claim(Compose((GAUSSIAN, GAUSSIAN)), num(1), parse("1/100")), "gaussian-composition", {}, ()),
        (Claim(RESPONSE.mechanism, HALF), "finite-table", {"cells": [[0, 1, 0]]}, ()),
        (Claim(Compose((RESPONSE, SKEWED)), HALF), "finite-table", {"cells": [[0, 1, 0]]}, ({"part": 0},)),
    ],
)
def test_a_forged_fact_changes_nothing_in_a_replay(claim, rule, parameters, place):
    with precision(128):
        honest = Proof(claim).infer(rule, place, parameters)
        for lie in lies(honest):
            facts = [lie]
            if isinstance(lie.says, Curve):  # what rests on it says what it says, until the lines are followed
                facts.append(Proof(claim).infer("privacy-profile", (), {"delta": True}, [lie]))
            lines = record(facts)
            told = kernel.judge(claim, facts)
            again = kernel.replay(unpack(json.loads(json.dumps(pack(claim, 128, "UNKNOWN", lines)))))
            assert again[0].says is not lie.says and again[0] is not lie
            assert kernel.judge(claim, again) == kernel.judge(claim, [honest, *again[1:]])
            if not place:
                assert told.verdict != kernel.judge(claim, again).verdict, "or the lie is none"
                with pytest.raises(CertificateError, match=f"the certificate says {told.verdict}, its lines give"):
                    kernel.check(pack(claim, 128, told.verdict, lines))


def test_a_fact_that_was_changed_after_it_was_proved_changes_nothing_in_a_check():
    """The class: what a search remembers is in the hands of whoever searched, and no check starts from it."""
    claim = Claim(GAUSSIAN.mechanism, num(1), parse("1/100"), num(1))
    lines = [line("gaussian"), line("privacy-profile", {"delta": True}, [0])]
    data = json.loads(encode(forged(claim, "PROVED", *lines)))
    with precision(128):
        honest = Proof(claim).infer("gaussian")
        bounds = Proof(claim).infer("privacy-profile", (), {"delta": True}, [honest])
        before = {name: getattr(honest.says, name) for name in ("upper", "lower")}
        try:
            object.__setattr__(honest.says, "upper", symmetric(lambda epsilon: arb(0)))
            object.__setattr__(honest.says, "lower", None)
            object.__setattr__(bounds.says[0], "value", num(0))
            with pytest.raises(CertificateError, match="its lines give REFUTED"):
                kernel.check(data)
            assert kernel.judge(claim, kernel.replay(unpack(data))).verdict == "REFUTED"
        finally:
            for name, value in before.items():
                object.__setattr__(honest.says, name, value)
            proof.forget()


def test_a_forged_premise_is_not_remembered_for_the_one_that_it_looks_like():
    claim = Claim(GAUSSIAN.mechanism, num(1), parse("1/100"), num(1))
    with precision(128):
        of = Proof(claim)
        honest = of.infer("gaussian")
        for lie in lies(honest):
            told = of.infer("privacy-profile", (), {"delta": True}, [lie])
            assert told.says != of.infer("privacy-profile", (), {"delta": True}, [honest]).says
    assert kernel.judge(claim, [of.infer("privacy-profile", (), {"delta": True}, [honest])]).delta_upper.value > F(1, 10)


def test_what_refuses_is_never_remembered_as_a_fact():
    of = Proof(Claim(PARTS, num(1)))
    for _ in range(2):
        with pytest.raises(Rejected):
            of.infer("laplace", (0,))
    assert of.infer("gaussian", (0,)).rule == "gaussian"


@pytest.mark.parametrize("parameters", [{"x": float("nan")}, {"x": {1, 2}}, {"x": 10**5000}, {"x": object()}])
def test_parameters_that_no_certificate_can_hold_are_refused(parameters):
    with pytest.raises(CertificateError, match="what it is given has not the form that dpverify writes"):
        Proof(Claim(PARTS, num(1))).infer("gaussian", (0,), parameters)


# -- lines and plans -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_recorded_is_what_was_proved(name):
    claim = Claim(MECHANISMS[name], num(1), parse("1/100"))
    found = verify(claim, 6)
    again = kernel.replay(unpack(found.certificate))
    assert tuple((fact.rule, fact.place, fact.prec) for fact in again) == tuple((one.rule, one.place, one.prec) for one, _ in found.proved)
    assert told(kernel.check(json.loads(encode(found.certificate))), again) == found.judgement
    assert record(again) == unpack(found.certificate).lines


def test_a_line_is_written_without_what_it_need_not_say():
    written = pack(Claim(PARTS, num(1)), 128, "UNKNOWN", [Line("gaussian", (0,), {}, (), 128), Line("line", (), {"x": 1}, (0,), 64)])[
        "lines"
    ]
    assert written == [{"rule": "gaussian", "place": [0]}, {"rule": "line", "parameters": {"x": 1}, "premises": [0], "prec": 64}]


def test_every_rule_of_curves_speaks_of_runs_and_no_other():
    of = Proof(Claim(PARTS, num(1)))
    for rule in OF_CURVES:
        try:
            assert isinstance(of.infer(rule, (0,)).about, Run)
        except (Rejected, CertificateError) as error:
            assert "unknown rule" not in str(error)
    assert proof.as_bounds(plans.fact(of, (0,), {"rule": "gaussian"}).says) == ()

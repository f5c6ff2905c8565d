"""What every answer takes for granted: a table over kinds, ways of stating the neighbours, and sides.

The class: a bound lists what it needs and no rule checks, and nothing else. What the file decides (a sensitivity that follows from the
query, pairs that a query realises) is no assumption; what only the bound on the other side needs is marked as such.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.catalogue.assumed import plain
from dpverify.pictures.bands import delta_band
from dpverify.report import Entry, derived, proof, record, text
from dpverify.report.results import Results
from dpverify.search.divergences import measure_words
from dpverify.search.verify import verify
from dpverify.trusted.facts.assumed_of_inputs import ANY, FAR, NEAR, PAIRS
from dpverify.trusted.facts.assumed_of_moves import WHOLE, WHOLE_ATTAINED
from dpverify.trusted.facts.assumed_of_parts import EITHER, RATIO, STRETCHED
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.assumptions import (
    ATTAINED,
    EVERY,
    IDEAL,
    MOVES,
    ONWARD,
    REAL,
    TURNED,
    marked,
    of_a_bound,
    of_a_verdict,
)
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
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
    Mixture,
    Norm,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Staircase,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.theories.composition.rules import loss_distribution
from tests.proofs import Step, bound, line

POSITIVE, NORMALISED = "the density is non-negative", "the density integrates to 1 for every input"


def query(*rows, adjacency="add-remove"):
    return Query(tuple(tuple(map(Fraction, row)) for row in rows), adjacency)


def numbers(*rows):
    return tuple(tuple(parse(str(x)) for x in row) for row in rows)


LINE = Translation(parse("exp(-abs(z))"))
INTEGERS = Translation(parse("exp(-abs(z))"), integers=True)
BUMP = Translation(parse("exp(-abs(z))*(2 + cosh(1)/cosh(z))"))
ROUND = Radial(parse("exp(-r)"), L2, num(2))
GAUSS = Radial(parse("exp(-r**2/2)"), L2, num(2))
CORNERED = Radial(parse("exp(-r)"), LINF, num(2))
COPIES = Product(parse("exp(-abs(z))"), num(2))
WHOLE_STEPS = f"{WHOLE}, so that they move by at most 1"
STAIRS = Staircase(ONE, parse("1/2"))
TABLE = Table(numbers(("3/4", "1/4"), ("1/4", "3/4")))
LISTED = replace(TABLE, adjacent=((0, 1),))
SCORES = Exponential(numbers((0, 1), (1, 0)), ONE)
POINTS = Exponential(numbers((0, -1), (-1, 0)), ONE, points=numbers((0,), (1,)), metric="l1")
KERNEL = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (ZERO, ONE), (ZERO, ONE))

STATED = {"sensitivity": ONE}
CASES = {
    # kind and way: mechanism, how the neighbours are stated, an epsilon that is refuted, what the upper and the lower bound rest on
    "line, stated": (LINE, STATED, "1/2", {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "line, add-remove": (LINE, {"query": query((1, -1))}, "1/2", {IDEAL}, {IDEAL}),
    "line, replace": (LINE, {"query": query((1, -1), adjacency="replace")}, "1", {IDEAL}, {IDEAL}),
    "line, l1": (LINE, {"query": query((1, -1), adjacency="l1")}, "1/2", {IDEAL}, {IDEAL}),
    "line, l2": (LINE, {"query": query((1, 2), adjacency="l2")}, "2", {IDEAL}, {REAL, IDEAL}),
    "line, l2 of one kind of record": (LINE, {"query": query((2, 0), adjacency="l2")}, "1", {IDEAL}, {IDEAL}),
    "integers, stated": (INTEGERS, {"sensitivity": parse("3/2")}, "1/2", {MOVES, WHOLE_STEPS, IDEAL}, {WHOLE_ATTAINED, IDEAL}),
    "integers, add-remove": (INTEGERS, {"query": query((1, -1))}, "1/2", {IDEAL}, {IDEAL}),
    "integers, replace": (INTEGERS, {"query": query(("1/2", "3/2"), adjacency="replace")}, "1/2", {IDEAL}, {IDEAL}),
    "integers, off them": (INTEGERS, {"query": query(("1/2",))}, "9", None, {IDEAL}),
    "integers, l1": (INTEGERS, {"query": query((1,), adjacency="l1")}, "9", None, {REAL, IDEAL}),
    "integers, l1, off them": (INTEGERS, {"query": query(("1/2",), adjacency="l1")}, "9", None, {IDEAL}),
    "integers, l2": (INTEGERS, {"query": query((1, 2), adjacency="l2")}, "9", None, {REAL, IDEAL}),
    "euclidean, stated": (ROUND, STATED, "1/2", {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "euclidean, replace": (ROUND, {"query": query((1, 0), (0, 1), adjacency="replace")}, "1", {IDEAL}, {IDEAL}),
    "euclidean, l2": (ROUND, {"query": query((1, 1), (0, 1), adjacency="l2")}, "1", {IDEAL}, {REAL, IDEAL}),
    "cornered, stated": (CORNERED, STATED, "1/2", {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "cornered, add-remove": (CORNERED, {"query": query((1, 0), (0, 1))}, "1/2", {IDEAL}, {IDEAL}),
    "copies, stated": (COPIES, STATED, "1/2", {MOVES, IDEAL}, {TURNED, IDEAL}),
    "copies, add-remove": (COPIES, {"query": query((1, 0), (1, 1))}, "1", {IDEAL}, {IDEAL}),
    "staircase, stated": (STAIRS, STATED, "1/2", {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "staircase, by default": (STAIRS, {}, "1/2", {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "table, all": (TABLE, {}, "1", {IDEAL}, {ANY, IDEAL}),
    "table, listed": (LISTED, {}, "1", {PAIRS, IDEAL}, {PAIRS, IDEAL}),
    "scores, all": (SCORES, {}, "1/2", {IDEAL}, {ANY, IDEAL}),
    "points, all": (replace(POINTS, adjacent=((0, 1),)), {}, "1/2", {PAIRS, IDEAL}, {PAIRS, IDEAL}),
    "points, within a distance": (POINTS, STATED, "1/2", {PAIRS, IDEAL}, {PAIRS, IDEAL}),
    "one of k": (KaryResponse(num(3), parse("1/2")), {}, "1/2", {IDEAL}, {ANY, IDEAL}),
}


def told(lines):
    """The assumptions without what varies with the inputs at which a normaliser was looked at."""
    return [line.partition(" (")[0] for line in lines]


def shown(own, other, side):
    """The lines that a verdict shows: its own, then those that only the bound on the other side needs."""
    return set(own) | {marked(line, side) for line in other - own}


@pytest.mark.parametrize("name", CASES)
def test_a_proof_lists_its_own_assumptions_first_and_marks_those_of_the_lower_bound(name):
    mechanism, neighbours, _, upper, lower = CASES[name]
    found = verify(Claim(mechanism, None, **neighbours)).judgement
    if upper is None:
        assert found.verdict == "REFUTED" and found.upper is None
        return
    assert found.verdict == "PROVED"
    lines = told(found.assumptions)
    assert set(lines) == shown(upper, lower, "lower") and len(lines) == len(set(lines))
    assert set(lines[: len(upper)]) == upper


@pytest.mark.sampled(14)
@pytest.mark.parametrize("name", CASES)
def test_a_refutation_lists_its_own_assumptions_first_and_marks_those_of_the_upper_bound(name):
    mechanism, neighbours, epsilon, upper, lower = CASES[name]
    found = verify(Claim(mechanism, parse(epsilon), **neighbours)).judgement
    assert found.verdict == "REFUTED"
    lines = told(found.assumptions)
    assert set(lines) == shown(lower, upper or set(), "upper")
    assert set(lines[: len(lower)]) == lower


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3] is not None])
def test_a_tight_delta_rests_on_the_same(name):
    mechanism, neighbours, epsilon, upper, lower = CASES[name]
    if name == "cornered, stated":
        lower = {TURNED, IDEAL}  # how much mass is on one side depends on the direction
    if name == "copies, add-remove":
        lower = upper = {*lower, *loss_distribution.ASSUMED}  # its coordinates are looked at as parts
    found = verify(Claim(mechanism, parse(epsilon), None, **neighbours), 8).judgement
    assert found.verdict == "PROVED"
    lines = told(found.assumptions)
    assert set(lines) - {measure_words.OCCUR} <= shown(upper, lower, "lower") and upper <= set(lines)


@pytest.mark.parametrize(("neighbours", "upper", "lower"), [({}, set(), {ANY}), ({"sensitivity": parse("1/2")}, {NEAR}, {FAR})])
def test_kernels_rest_on_ideal_samplers_and_on_a_distance_only_where_one_is_stated(neighbours, upper, lower):
    found = verify(Claim(KERNEL, num(3), **neighbours), 6).judgement
    assert found.verdict == "PROVED"
    own = {line for line in told(found.assumptions) if "bound: " not in line}
    assert own - {NORMALISED, POSITIVE} == upper | {IDEAL}
    refuted = verify(Claim(KERNEL, parse("1/100"), **neighbours), 6).judgement
    assert refuted.verdict == "REFUTED"
    own = {line for line in told(refuted.assumptions) if "bound: " not in line}
    assert own - {NORMALISED, POSITIVE} == lower | {IDEAL}


@pytest.mark.wide
def test_a_loss_that_is_worst_at_a_shorter_distance_needs_every_distance():
    wavy = Translation(parse("exp(-abs(z)/4)*(2 + cosh(1)/(cosh(1) + (3*z)**2))"))
    lines = verify(Claim(wavy, None, sensitivity=num(3)), 6).judgement.assumptions
    assert (marked(EVERY, "lower") in lines) == (marked(ATTAINED, "lower") in lines and any(EVERY in line for line in lines))
    ring = Radial(parse("1/(1 + (r - 1)**2)**3"), L2, num(2))
    point = {"a": ["1"], "b": ["3/2"], "radius": "1/1000000", "value": "1/10"}
    for sensitivity, needs in (("1/2", False), ("2", False), ("4", True)):
        # distances 1 and 3/2 from answers exactly D apart: a triangle where 1/2 <= D <= 5/2
        (found,) = bound(Claim(ring, None, sensitivity=parse(sensitivity)), Step("point-witness", point))
        assert (EVERY in found.assumed) == needs


def test_a_shorter_difference_of_a_query_needs_histograms_that_are_real_valued():
    point = {"a": ["1"], "b": ["3/2"], "radius": "1/1000000", "value": "1/10"}
    for adjacency, needs in (("l1", True), ("l2", True)):
        claim = Claim(LINE, None, query=query((1,), adjacency=adjacency))
        (found,) = bound(claim, Step("point-witness", point))
        assert (REAL in found.assumed) == needs


GROUPS = {
    "stated": (Group(Part(LINE, ONE), num(2)), {MOVES, IDEAL}, {ATTAINED, ONWARD, IDEAL}),
    "query": (Group(Part(LINE, query=query((1, 0))), num(2)), {IDEAL}, {IDEAL}),
    "one": (Group(Part(LINE, ONE), ONE), {MOVES, IDEAL}, {ATTAINED, IDEAL}),
    "map": (Lipschitz(Part(LINE, query=query((1, 0))), num(2)), {IDEAL}, {STRETCHED, IDEAL}),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_and_maps_say_how_neighbours_of_neighbours_move(name):
    mechanism, upper, lower = GROUPS[name]
    claim = Claim(mechanism, ONE)
    assert set(of_a_bound(claim, Bound("upper", ONE), ())) == upper
    assert set(of_a_bound(claim, Bound("lower", ONE), ())) == lower


@pytest.mark.parametrize(
    ("constant", "adjacency", "inner", "assumed"),
    [
        ("1/2", "", Part(LINE, ONE), True),  # a threshold at 1/2 moves by 1 between histograms 1/2 apart
        ("1/2", "l1", Part(LINE, ONE), True),
        ("c", "l2", Part(Compose((Part(Group(Part(LINE, ONE), num(2))),))), True),
        ("1/2", "", Part(LINE, query=query((1, 0))), False),  # linear
        ("1/2", "add-remove", Part(LINE, ONE), False),  # steps are whole
        ("2", "l1", Part(LINE, ONE), False),  # two steps in a row
        ("1/2", "", Part(Guarantee("zcdp", numbers((1,)))), False),
    ],
)
def test_a_stated_sensitivity_at_a_part_of_a_step_is_taken_for_a_rate(constant, adjacency, inner, assumed):
    claim = Claim(Lipschitz(inner, parse(constant)), ONE, domains=(("c", Domain(Fraction(0))),), adjacency=adjacency)
    assert (RATIO in of_a_bound(claim, Bound("upper", ONE), ())) == assumed
    assert RATIO not in of_a_bound(claim, Bound("lower", ONE), ())


def test_what_holds_of_every_mechanism_rests_on_nothing():
    claim = Claim(LINE, ONE, sensitivity=ONE)
    assert of_a_bound(claim, Bound("lower", ZERO, assumed=("x",)), ("y",)) == ()
    assert of_a_bound(claim, Bound("upper", ONE, assumed=("x",), quantity="delta"), ("y",)) == ()
    assert of_a_bound(claim, Bound("upper", ZERO, assumed=("x",)), ("y",)) == (MOVES, IDEAL, "y", "x")
    assert of_a_bound(claim, Bound("lower", INFINITE, assumed=("x",)), ()) == (ATTAINED, IDEAL, "x")


def test_a_guarantee_has_no_sampler_that_is_looked_at():
    stated = Claim(PostProcess(Part(Guarantee("zcdp", numbers((1,))))), ONE)
    assert of_a_bound(stated, Bound("upper", ONE), ()) == ()


@pytest.mark.parametrize(
    ("noise", "lower"),
    [
        (Mixture(parse("exp(-r**2/(2*v))"), parse("exp(-v)"), (ZERO, None), L2, num(3)), ATTAINED),
        (EllipticalProcess(parse("exp(-v)")), ATTAINED),
        (replace(GAUSS, norm=LINF), TURNED),
        (replace(GAUSS, norm=L1, dimension=ONE), ATTAINED),
        (COPIES, TURNED),
        (replace(COPIES, dimension=ONE), ATTAINED),
    ],
)
def test_where_directions_differ_the_lower_bound_on_delta_needs_the_worst_one(noise, lower):
    claim = Claim(noise, ONE, sensitivity=ONE)
    assert of_a_bound(claim, Bound("lower", ONE, quantity="epsilon"), ()) == (lower, IDEAL)


def test_an_undecided_claim_marks_what_only_one_side_needs():
    lines = of_a_verdict("UNKNOWN", [("upper", ["a", "b"]), ("lower", ["b", "c"])])
    assert lines == ("b", "for the upper bound: a", "for the lower bound: c")
    assert of_a_verdict("UNKNOWN", [("upper", ["a"])]) == ("for the upper bound: a",)
    assert of_a_verdict("PROVED", [("lower", ["b", "c"]), ("upper", ["a", "b"])]) == ("a", "b", "for the lower bound: c")
    assert marked("for the equalities shown: d", "upper") == "for the equalities shown: d"
    assert of_a_verdict("REFUTED", [("lower", ["b", "c"]), ("upper", ["a", "b"])]) == ("b", "c", "for the upper bound: a")


# -- what is derived is said, and not assumed ------------------------------------------------------------


DERIVED = {
    "3/2, from the query under add-remove": (LINE, query(("3/2", 1))),
    "5 in l2, from the query under add-remove": (ROUND, query((3, 0), (4, 1))),
    "sqrt(5) = 2.2360679774... in l2, from the query under replace": (ROUND, query((1, 0), (0, 2), adjacency="replace")),
    "3 in l1, from the query under l1": (COPIES, query((1, 1), (2, 0), adjacency="l1")),
    "answers of neighbours differ by 1/2, which is no integer, from the query under add-remove": (INTEGERS, query(("1/2",))),
}


@pytest.mark.parametrize("said", DERIVED)
def test_the_sensitivity_that_a_query_gives_is_said(said):
    mechanism, asked = DERIVED[said]
    found = derived.also(_entry(verify(Claim(mechanism, num(9), query=asked))))["sensitivity"]
    if "..." in said:
        head, _, tail = said.partition("...")
        assert found.startswith(head) and found.endswith(tail)
    else:
        assert found == said


def test_a_stated_sensitivity_is_not_said_to_be_derived():
    assert "sensitivity" not in derived.also(_entry(verify(Claim(LINE, ONE, sensitivity=ONE))))
    assert also(Claim(LINE, ONE, sensitivity=ONE), []) == {}


def also(claim, parameters):
    """What is derived of a claim where the lines of its proof have these parameters."""
    judgement = kernel.judge(claim, [])
    lines = tuple((line("modulus", each), ()) for each in parameters)
    return derived.also(Entry("a.toml", "noise", claim, judgement.verdict, judgement=judgement, proved=lines))


def test_a_sensitivity_that_no_evidence_proves_is_not_said():
    hull = Radial(
        parse("exp(-r)"), replace(L1, kind="columns", p=None, matrix=((Fraction(1), Fraction(0)), (Fraction(0), Fraction(2)))), num(2)
    )
    claim = Claim(hull, num(9), query=query((1, 3), (5, 1)))
    assert also(claim, [{"sensitivity": {"value": "1"}}, {}]) == {}
    assert derived.also(_entry(verify(claim)))["sensitivity"] == "7/2 in the norm by columns, from the query under add-remove"


@pytest.mark.parametrize("junk", [5, [1], {"value": []}, {"value": "1", "primal": [{}, {}], "worst": None}, None])
def test_what_is_only_shown_refuses_no_certificate(junk):
    points = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(2)))
    hull = Radial(parse("exp(-r)"), Norm("columns", matrix=points), num(2))
    claim = Claim(hull, num(9), query=query((1, 3), (5, 1)))
    assert also(claim, [{"sensitivity": junk}, {"grid": {"sensitivity": junk}}, {"grid": junk}]) == {}


def test_a_sensitivity_that_is_no_root_is_said_as_an_interval():
    rows = query((1, 2, 0), (0, 1, 3), (1, 0, 1), adjacency="l2")
    [told] = also(Claim(replace(ROUND, dimension=num(3)), ONE, query=rows), []).values()
    low, high = told.removeprefix("between ").partition(" in l2")[0].split(" and ")
    assert Fraction(low) < Fraction(high) < Fraction(low) + Fraction(1, 10**9)


# -- where a reader sees it ------------------------------------------------------------------------------


def test_the_proof_names_every_assumption_as_the_answer_does(tmp_path):
    for name in ("line, stated", "integers, stated", "table, listed", "line, l2"):
        mechanism, neighbours, epsilon, *_ = CASES[name]
        for claimed in (None, epsilon):
            found = verify(Claim(mechanism, None if claimed is None else parse(claimed), **neighbours, name="a"))
            told_steps = list(_walk(proof.tree(_entry(found))))
            assert {step.text for step in told_steps if step.kind == "assumed"} == {*map(plain, found.judgement.assumptions)}


def test_text_and_json_say_both(tmp_path):
    found = verify(Claim(LINE, ONE, query=query((1,)), name="a"))
    assert record.record(_entry(found))["also"]["sensitivity"] == "1, from the query under add-remove"
    assert "sensitivity: 1, from the query under add-remove" in text.render(Results([_entry(found)]), detail=text.Detail(full=True))
    proved, refuted = (_entry(verify(Claim(LINE, epsilon, sensitivity=ONE, name="a"))) for epsilon in (ONE, parse("1/2")))
    footer = text.render(Results([proved, refuted])).partition("assumed ")[2]
    # a line that the verdict of one claim rests on is not said again for the other's bound
    assert footer.count(plain(ATTAINED)) == 1 == footer.count(plain(MOVES)) and "only)" not in footer
    assert plain(marked(ATTAINED, "lower")) in text.render(Results([proved]))


def test_a_drawn_band_rests_on_what_its_two_sides_do():
    claim = Claim(Radial(parse("exp(-r**2/2)"), L2, ONE), ONE, parse("1/10"), sensitivity=ONE)
    band = delta_band(claim, [0, 1])
    assert set(band.assumed) == {MOVES, IDEAL, marked(ATTAINED, "lower")}


def _walk(step):
    yield step
    for below in step.below:
        yield from _walk(below)


def _entry(found):
    judgement = found.judgement
    return Entry("a.toml", "noise", judgement.claim, judgement.verdict, judgement=judgement, proved=found.proved)


ONE_WAY = Table(((parse("1/2"), parse("1/2")), (parse("1/4"), parse("3/4"))), ((0, 1),))
BOTH_WAYS = replace(ONE_WAY, adjacent=((0, 1), (1, 0)))
SCORES = Exponential(((ZERO, ONE), (ONE, ZERO)), ONE, ((0, 1),))


@pytest.mark.parametrize(
    ("mechanism", "order", "wanted"),
    [
        (Subsample(Part(ONE_WAY), parse("1/2")), "", True),
        (Subsample(Part(SCORES), parse("1/2")), "", True),
        (Compose((Part(Subsample(Part(ONE_WAY), parse("1/2"))), Part(BOTH_WAYS))), "", True),
        (Subsample(Part(Compose((Part(BOTH_WAYS), Part(ONE_WAY)))), parse("1/2")), "", True),
        (Subsample(Part(ONE_WAY), parse("1/2")), "one-sided", False),
        (Subsample(Part(ONE_WAY), parse("1/2")), "reverse", False),
        (Subsample(Part(BOTH_WAYS), parse("1/2")), "", False),
        (Subsample(Part(replace(ONE_WAY, adjacent=None)), parse("1/2")), "", False),
        (Subsample(Part(ONE_WAY), parse("1/2"), "without_replacement"), "", False),
        (Subsample(Part(KaryResponse(num(3), parse("1/2"))), parse("1/2")), "", False),
        (Compose((Part(ONE_WAY), Part(ONE_WAY))), "", False),
    ],
)
def test_that_either_input_may_have_the_record_is_said_where_pairs_in_a_sample_are_listed_one_way(mechanism, order, wanted):
    claim = Claim(mechanism, ONE, order=order)
    lower, upper = (of_a_bound(claim, Bound(side, ONE, (), {}), ()) for side in ("lower", "upper"))
    assert (EITHER in lower, EITHER in upper) == (wanted, False)


def test_a_refutation_by_the_other_reading_shows_it_beside_the_verdict():
    """Half of the records, those of the second row: (3/8, 5/8) against (1/2, 1/2). The other way round it is against (1/4, 3/4)."""
    claim = Claim(Subsample(Part(replace(ONE_WAY, adjacent=((1, 0),))), parse("1/2")), parse("3/10"))
    both, removed, added = (verify(replace(claim, order=order)).judgement for order in ("", "one-sided", "reverse"))
    assert (both.verdict, EITHER in both.assumptions) == ("REFUTED", True)
    for found, truth in ((both, "log(3/2)"), (removed, "log(5/4)"), (added, "log(4/3)")):
        assert certainly_equal(found.upper, parse(truth)) and certainly_equal(found.lower, parse(truth))
    assert EITHER not in (*removed.assumptions, *added.assumptions)

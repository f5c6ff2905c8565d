"""One pair of neighbours for all parts: which pairs there are, what evidence may name, and what is refused."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy import integrate

from dpverify.search.composition import plans
from dpverify.search.proposal import of_run
from dpverify.search.verify import verify
from dpverify.trusted.combinators import at_pair, candidates, densities, neighbours
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Group,
    KaryResponse,
    Lipschitz,
    Mixture,
    Norm,
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
from tests.proofs import Step, bound

F = Fraction
LAPLACE = Radial(parse("exp(-r)"), L1, num(1))
BENT = Translation(parse("exp(-max(z, -2*z))"))
BARE = Part(LAPLACE, num(1))


def asks(*row, noise=LAPLACE, adjacency="add-remove"):
    return Part(noise, None, Query((tuple(map(F, row)),), adjacency))


def both(adjacency="add-remove"):
    return Compose((asks(1, 0, adjacency=adjacency), asks(0, 1, adjacency=adjacency)))


def table(*rows, adjacent=None):
    return Part(Table(tuple(tuple(map(parse, row)) for row in rows), adjacent))


def step(mechanism, evidence, **claimed):
    return bound(Claim(mechanism, **{"epsilon": None, **claimed}), Step("combination", evidence), 128)


GRID = {"spacing": "1/64", "nudge": "1/4096", "bits": 64, "tail": 40, "ranges": [[-200, 200], [-200, 200]]}
PREMISE = {side: {"rule": "concave-exponent", "evidence": {"side": side}} for side in ("upper", "lower")}


def lower(at, *plans):
    return {"side": "lower", "neighbours": at, "part": {"parts": list(plans)}}


def difference(*v, adjacency="add-remove"):
    return [{"columns": len(v), "adjacency": adjacency, "difference": list(v)}]


# -- what evidence may name ----------------------------------------------------------------------------


def test_one_real_pair_of_neighbours_is_a_lower_bound():
    (found,) = step(both(), lower(difference("1", "0"), PREMISE["lower"]))
    assert found.value == num(1) and found.witness["neighbours"] == difference("1", "0")
    refuted = verify(Claim(both(), num(0))).judgement
    assert "one record of kind 1 more" in refuted.witness["pair"] and "part 2 by 0" in refuted.witness["pair"]


@pytest.mark.parametrize(
    ("adjacency", "v"),
    [
        ("add-remove", ("1", "1")), ("add-remove", ("2", "0")), ("add-remove", ("1/2", "0")), ("add-remove", ("-1", "0")),
        ("replace", ("1", "0")), ("replace", ("2", "-2")), ("l1", ("1", "1/2")), ("l2", ("1", "1/2")), ("add-remove", ("1", "0", "0")),
    ],
)  # fmt: skip
def test_what_are_no_neighbours_is_refused(adjacency, v):
    forged = [{"columns": 2, "adjacency": adjacency, "difference": list(v)}]
    with pytest.raises(Rejected, match="not of neighbours as far apart"):
        step(both(adjacency), lower(forged, PREMISE["lower"], PREMISE["lower"]))


def test_neighbours_of_something_else_are_refused():
    with pytest.raises(Rejected, match="says nothing of what some parts share"):
        step(both(), lower([], PREMISE["lower"], PREMISE["lower"]))
    with pytest.raises(Rejected, match="says nothing of what some parts share"):
        step(both(), lower(difference("1", "0", adjacency="l1"), PREMISE["lower"], PREMISE["lower"]))
    nought = [{"columns": 2, "adjacency": "add-remove", "difference": ["1/0", "0"]}]
    for written in ("1", [1], [{"columns": 2}], nought, [{"inputs": 2, "pair": "01"}]):
        with pytest.raises((CertificateError, Rejected, *STUMBLES)):
            step(both(), lower(written, PREMISE["lower"]))


def test_a_lower_bound_at_the_worst_of_every_part_is_refused_where_they_share_their_neighbours():
    with pytest.raises(Rejected, match="want one pair of neighbours"):
        step(both(), {"side": "lower", "part": {"parts": [PREMISE["lower"]] * 2}})
    inside = Parallel((Part(Compose((asks(1, 0), Part(Subsample(asks(0, 1), parse("1/2")))))), BARE))
    assert neighbours.undecided(Part(inside)) and not neighbours.undecided(Part(Parallel((asks(1, 0), asks(0, 1)))))


def test_the_old_upper_bound_is_still_one_and_every_pair_wants_its_plan():
    (found,) = step(both(), {"side": "upper", "part": {"parts": [PREMISE["upper"]] * 2}})
    assert found.value == num(2)
    one = {"parts": [PREMISE["upper"]]}
    for wrong in ({"plans": [one], "of": [0]}, {"plans": [one], "of": [0, 1]}, {"plans": [], "of": [0, 0]}, {"plans": [one]}, [], None):
        with pytest.raises(CertificateError):
            step(both(), {"side": "upper", "neighbours": wrong})
    (found,) = step(both(), {"side": "upper", "neighbours": {"plans": [one], "of": [0, 0]}})
    assert found.value == num(1)


def test_a_part_may_be_left_out_from_below_alone():
    (found,) = step(both("replace"), lower(difference("1", "-1", adjacency="replace"), "nothing", PREMISE["lower"]))
    assert found.value == num(1)
    with pytest.raises(CertificateError):
        step(both(), {"side": "upper", "part": {"parts": ["nothing", PREMISE["upper"]]}})


def test_densities_that_are_not_even_are_not_both_worst_in_one_order():
    parts = Compose((asks(1, noise=BENT), asks(-1, noise=BENT)))
    two = {"rule": "convex-exponent", "evidence": {"side": "lower"}}
    (found,) = step(parts, lower(difference("1"), two, "nothing"))
    assert found.value == num(2)
    with pytest.raises(Rejected, match="in the same order of the neighbours"):
        step(parts, lower(difference("1"), two, two))
    sampled = Compose((Part(Subsample(asks(1, noise=BENT), parse("1/2"))), asks(0)))
    (found,) = step(sampled, lower(difference("1"), two))
    assert certainly_equal(found.value, parse("-log(1/2 + exp(-2)/2)"))
    with pytest.raises(Rejected, match="a part that is not even"):
        replaced = asks(1, 0, noise=BENT, adjacency="replace"), asks(0, 0, adjacency="replace")
        sampled = Compose((Part(Subsample(replaced[0], parse("1/2"), "without_replacement")), replaced[1]))
        step(sampled, lower(difference("1", "-1", adjacency="replace"), two))


@pytest.mark.parametrize(
    ("up", "known"),
    [
        (1, {"query": Query(((F(1),),), "add-remove")}),
        pytest.param(-1, {"sensitivity": num(1)}, marks=pytest.mark.wide),
    ],
)
def test_a_sample_loses_the_most_with_the_record_first_and_is_not_added_to_what_does_with_it_second(up, known):
    # log p/q of BENT is from -2 to 1 where a record moves the answer up, and from -1 to 2 where down; that of the sample is as below
    forward, backward = math.log(1 + (math.e - 1) / 10), -math.log(0.9 + 0.1 / math.e)
    truth = max(forward + (1 if up == 1 else 2), backward + (2 if up == 1 else 1))
    parts = Compose((Part(Subsample(Part(LAPLACE, **known), parse("1/10"))), asks(up, noise=BENT)))
    judgement = verify(Claim(parts, parse("21/10")), 6).judgement
    assert judgement.verdict != "REFUTED" or truth > 2.1
    with precision(64):
        assert float(constant(judgement.lower).mid()) <= truth + 1e-12
    assert verify(Claim(parts, parse("1/4")), 6).judgement.verdict == "REFUTED"
    if "query" in known:
        steps = {"rule": "convex-exponent", "evidence": {"side": "lower"}}
        with pytest.raises(Rejected, match="in the same order of the neighbours"):
            step(parts, lower(difference("1"), PREMISE["lower"], steps))


@pytest.mark.parametrize("up", [1, -1])
def test_inputs_of_tables_meet_a_record_that_moves_another_answer_one_way_in_both_orders(up):
    # exp(-z) on z > 0: with a record that moves it up, p/q is e (of q 1/e) or 0. Two answers of the table, by enumeration
    rows, others = ((0.5, 0.5), (0.9, 0.1)), [(1.0, 1 / math.e), (0.0, 1 - 1 / math.e)]
    truth = 0.0
    for a, b in ((0, 1), (1, 0)):
        facing = list(zip(rows[a], rows[b], strict=True))
        cells = [(p * r * s, q * t * u) for p, q in others for r, t in facing for s, u in facing]
        for order in (cells, [(y, x) for x, y in cells]):
            truth = max(truth, sum(max(x - math.e * y, 0) for x, y in order))
    assert 0.69 < truth < 0.7
    twice = repeated(Part(Table(tuple(tuple(parse(str(x)) for x in row) for row in (("1/2", "1/2"), ("9/10", "1/10"))))), num(2))
    parts = Compose((twice, asks(up, noise=Translation(parse("exp(-z)"), (num(0), None)))))
    assert verify(Claim(parts, num(1), parse("2/3")), 6).judgement.verdict != "PROVED"
    assert verify(Claim(parts, num(1), parse("3/4")), 6).judgement.verdict == "PROVED"


@pytest.mark.parametrize(
    "bad",
    [
        Part(Product(parse("exp(-abs(z))"), num(2)), None, Query(((F(1), F(0)), (F(0), F(1), F(100))), "add-remove")),
        Part(Product(parse("exp(-abs(z))"), num(5)), None, Query(((F(1), F(0)),), "add-remove")),
        Part(Product(parse("exp(-abs(z))"), parse("1/2")), None, Query(((F(1), F(0)),), "add-remove")),
        Part(Product(parse("exp(-abs(z))"), num(1), Norm("lp", F(1, 2))), None, Query(((F(1), F(0)),), "add-remove")),
        Part(Radial(parse("exp(-r**2/2)"), L2, num(3)), None, Query(((F(1), F(0)),), "add-remove")),
    ],
)
@pytest.mark.parametrize("join", [Compose, Parallel])
def test_a_query_that_does_not_fit_its_noise_is_refused_although_one_pair_of_neighbours_has_none(bad, join):
    claim = Claim(join((bad, asks(1, 1))), num(50), parse("1/2"))
    with pytest.raises(CertificateError, match=r"the claim means nothing: (query|lp norm|dimension)"):
        verify(claim, 6)


# -- curves ----------------------------------------------------------------------------------------------


def curve(mechanism, evidence):
    with precision(80):
        return plans.curve(Run(Part(mechanism)), evidence)


@pytest.mark.parametrize("seen", ["as it is", "after a map of all", "after a map of one"])
def test_tables_that_name_different_neighbours_have_no_curve_by_the_neighbours_of_each(seen):
    # inputs 0 and 1 are told apart by the second table alone, which names 1 and 2: each by itself loses nothing, together delta(0) is 2/5
    first = table(["1/2", "1/2"], ["1/2", "1/2"], ["9/10", "1/10"], adjacent=((0, 1),))
    second = table(["9/10", "1/10"], ["1/2", "1/2"], ["1/2", "1/2"], adjacent=((1, 2),))
    together = Compose((Part(PostProcess(first)) if seen == "after a map of one" else first, second))
    mechanism = PostProcess(Part(together)) if seen == "after a map of all" else together
    for evidence in ({"rule": "finite-composition"}, {"rule": "loss-distribution", "parts": [{"rule": "finite-curve"}] * 2, "grid": GRID}):
        with pytest.raises(Rejected, match="name different neighbours"):
            curve(mechanism, evidence)


def test_a_curve_of_parts_that_share_their_neighbours_has_no_lower_bound_of_its_own():
    found = curve(both(), {"rule": "laplace-sums"})
    assert found.upper is not None and found.lower is None
    above = {"plans": [{"rule": "laplace"}], "of": [0, 0]}
    joint = curve(both(), {"rule": "joint-neighbours", "above": above, "below": {"choice": 1}})
    with precision(80):
        at = rational(F(1, 2))
        assert joint.upper.worst(at).overlaps(1 - ((at - 1) / 2).exp()) and joint.lower.worst(at).overlaps(joint.upper.worst(at))
        assert found.upper.worst(at) > joint.upper.worst(at)
    assert neighbours.APART not in joint.below


@pytest.mark.parametrize("below", [{"choice": 2}, {"choice": -1}, {"choice": True}, {"choice": "0"}, 3])
def test_a_choice_that_is_none_is_refused(below):
    with pytest.raises(CertificateError):
        joint({"above": [0, 1], "below": below})


BOTH = both()


def joint(parameters, parts=BOTH):
    """The rule with the curves at both pairs of neighbours as its premises."""
    proof = of_run(Run(Part(parts)))
    with precision(80):
        single = [plans.fact(proof, ({"choice": number},), {"rule": "laplace"}) for number in (0, 1)]
        return proof.infer("joint-neighbours", (), parameters, single)


@pytest.mark.parametrize("above", [[0], [0, 1, 1], [0, 2], [0, -1], [0, True], [0, "1"], [0, None], [0, 0], [1, 0], 3, {}, None])
def test_every_pair_of_neighbours_wants_the_curve_there(above):
    different = Compose((asks(1, 0), asks(0, 2)))
    assert joint({"above": [0, 1]}, different).says.upper is not None
    with pytest.raises(CertificateError):
        joint({"above": above}, different)


@pytest.mark.wide
@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_distribution_is_the_one_with_the_record(sign):
    # one record more moves the answer by `sign`: P is the density about it, Q the one about 0
    part = at_pair.at(Part(Compose((asks(sign, noise=BENT), asks(0)))), (((("records", 1, "add-remove")), (F(1),)),))
    with precision(64):
        found = plans.curve(Run(part), {"rule": "line"})
        forward, backward = (float(profile(rational(F(1, 2))).mid()) for profile in (found.upper.forward, found.upper.backward))

    def density(z):
        return math.exp(-max(z, -2 * z)) * 2 / 3

    width, total = 1e-4, [0.0, 0.0]
    for k in range(-150_000, 250_000):
        z = (k + 0.5) * width
        p, q = density(z - sign), density(z)
        total[0] += max(0.0, p - math.exp(0.5) * q) * width
        total[1] += max(0.0, q - math.exp(0.5) * p) * width
    assert forward == pytest.approx(total[0], abs=1e-6) and backward == pytest.approx(total[1], abs=1e-6)
    assert abs(forward - backward) > 1e-3 and found.exact


# -- which pairs there are -------------------------------------------------------------------------------


def test_pairs_that_are_as_bad_as_another_are_looked_at_once():
    many = Compose(tuple(asks(*(int(j <= i) for j in range(30)), adjacency="replace") for i in range(0, 30, 6)))
    assert len(candidates.choices(Part(many))) == 1
    assert len(candidates.choices(Part(both()))) == 2
    assert len(candidates.choices(Part(Compose((asks(1, 1, noise=BENT), asks(1, 1, noise=BENT, adjacency="add-remove"), asks(2, 1)))))) == 1


def test_real_histograms_want_log_concave_densities():
    concave = Radial(parse("exp(-sqrt(r))"), L1, num(1))
    spread = Compose((asks(1, 0, noise=concave, adjacency="l1"), asks(0, 1, noise=concave, adjacency="l1")))
    with pytest.raises(Undecided, match="on real histograms"):
        candidates.choices(Part(spread))
    with pytest.raises(Undecided, match="on real histograms"):
        candidates.choices(Part(Compose((asks(1, 0, 0, adjacency="l2"), asks(0, 1, 1, adjacency="l2")))))
    assert len(candidates.choices(Part(both("l1")))) == 2


def test_only_log_concave_densities_are_taken_for_such():
    good = [LAPLACE, BENT, Product(parse("exp(-z**2)"), num(3)), Translation(parse("exp(-z)"), (num(0), None))]
    good += [Product(parse("1/cosh(z)"), num(2)), Translation(parse("exp(-z**2)/cosh(z)**2"), (num(-1), num(1)))]
    bad = [Radial(parse("exp(-sqrt(r))"), L1, num(1)), Radial(parse("r*exp(-r)"), L1, num(2)), Translation(parse("1/(1 + z**2)"))]
    bad += [Translation(parse("exp(-abs(z))"), integers=True), Mixture(parse("exp(-r/v)"), parse("exp(-v)"), (num(0), None), L1, num(1))]
    bad += [Translation(parse("exp(-(abs(z) - 1)**2)")), Translation(parse("cosh(z)*exp(-z**2/4)"))]  # even, and convex beyond 0 alone
    assert [densities.log_concave(noise) for noise in (*good, *bad)] == [True] * len(good) + [False] * len(bad)


def test_only_even_densities_are_taken_for_such():
    good = [LAPLACE, Translation(parse("exp(-(z - 1)**2)")), Product(parse("1/(1 + z**2)"), num(2))]
    good.append(Translation(parse("1"), (num(-1), num(1))))
    bad = [BENT, Translation(parse("1"), (num(0), num(1))), Translation(parse("exp(-z - exp(-z))")), KaryResponse(num(2), parse("3/4"))]
    assert [densities.even(noise) for noise in (*good, *bad)] == [True] * len(good) + [False] * len(bad)


def test_tables_that_name_different_neighbours_are_looked_at_together_alone():
    near = table(["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"], adjacent=((0, 1),))
    far = table(["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"], adjacent=((1, 2),))
    parts = Compose((near, far))
    cells = [{"rule": "finite-table", "evidence": {"cells": those}} for those in ([[0, 1, 0], [1, 0, 1]], [[1, 2, 0]])]
    with pytest.raises(Rejected, match="name different neighbours"):
        step(parts, {"side": "upper", "part": {"parts": cells}})
    assert verify(Claim(parts, parse("log(3)"))).judgement.verdict == "PROVED"


# -- what nothing in the file connects -------------------------------------------------------------------


def test_parts_that_nothing_connects_are_taken_to_be_worst_together_from_below_alone():
    for parts in ((asks(1, 0), BARE), (table(["3/4", "1/4"], ["1/4", "3/4"]), BARE), (asks(1), Part(Lipschitz(asks(1), num(2))))):
        answer = verify(Claim(Compose(parts), num(1)))
        assert answer.judgement.verdict == "REFUTED" and neighbours.APART in answer.judgement.assumptions
        stated = [found for line, bounds in answer.proved if not line.place for found in bounds]
        assert {found.side for found in stated} == {"upper", "lower"}
        for found in stated:
            assert (neighbours.APART in found.assumed) == (found.side == "lower")


def test_parts_that_share_their_neighbours_assume_nothing_of_them():
    judged = verify(Claim(both(), parse("1/2"))).judgement
    assert judged.verdict == "REFUTED" and neighbours.APART not in judged.assumptions


def test_a_group_inside_is_at_its_own_neighbours_from_above_and_at_the_same_from_below():
    parts = Compose((Part(Group(asks(1, 0), num(2))), asks(0, 1), asks(1, 0)))
    judged = verify(Claim(parts, None)).judgement
    # from above 2 and the greater of 1 and 1; from below the one record of kind 1, twice and once
    assert judged.upper == num(3) and judged.lower == num(3)
    apart = Compose((Part(Group(asks(1, 0), num(2))), asks(0, 1)))
    judged = verify(Claim(apart, None)).judgement
    assert judged.upper == num(3) and judged.lower == num(2)


def coordinates(density):
    """Two coordinates, the second record in both of their answers."""
    return Part(Product(parse(density), num(2), L1), None, Query(((F(1), F(1)), (F(0), F(1))), "add-remove"))


def of_normal(mu, epsilon=1.0):
    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def of_laplace(moved, epsilon=1.0):
    """Two Laplace answers of scale 1 that both move: the mean of the delta of one at what the loss of the other leaves."""

    def one(left):
        return 0.0 if left >= moved else 1 - math.exp(left) if left <= -moved else 1 - math.exp((left - moved) / 2)

    between = integrate.quad(lambda y: math.exp(-y) / 2 * one(epsilon - (moved - 2 * y)), 0, moved, points=[(moved - epsilon) / 2])[0]
    return one(epsilon - moved) / 2 + between + math.exp(-moved) / 2 * one(epsilon + moved)


@pytest.mark.parametrize("density, truth", [("exp(-abs(z))", of_laplace(2)), ("exp(-z**2/2)", of_normal(math.sqrt(8)))])
def test_coordinates_in_a_group_of_their_own_move_as_one_kind_of_record_moves_them(density, truth):
    # two records of the second kind move both answers by 2; a bound by the l1 length alone would move one by 4
    judged = verify(Claim(Compose((Part(Group(coordinates(density), num(2))),)), num(1), None)).judgement
    for bound_of in (judged.delta_lower, judged.delta_upper):
        assert float(constant(bound_of).mid()) == pytest.approx(truth, rel=1e-9)


def test_coordinates_in_a_group_compose_with_what_is_beside_them():
    beside = Part(Radial(parse("exp(-r**2/2)"), L2, num(1), num(2)), num(1))
    judged = verify(Claim(Compose((Part(Group(coordinates("exp(-z**2/2)"), num(2))), beside)), num(1), None)).judgement
    upper, truth = float(constant(judged.delta_upper).mid()), of_normal(math.sqrt(8 + 1 / 4))
    assert truth <= upper <= truth + 1e-4


def test_a_bound_by_the_length_is_kept_where_one_coordinate_alone_moves():
    # a record in the place of one of the other kind moves the second answer alone: by 2 for two of them, in each of three runs
    part = coordinates("exp(-z**2/2)")
    thrice = repeated(Part(Group(replace(part, query=replace(part.query, adjacency="replace")), num(2))), num(3))
    judged = verify(Claim(Compose((thrice,)), num(1), None)).judgement
    for bound_of in (judged.delta_lower, judged.delta_upper):
        assert float(constant(bound_of).mid()) == pytest.approx(of_normal(math.sqrt(12)), rel=1e-9)


def test_a_map_of_the_outputs_keeps_the_upper_bound_alone():
    judged = verify(Claim(PostProcess(Part(both())), None)).judgement
    assert judged.upper == num(1) and judged.lower is None


def test_parts_in_parallel_that_share_their_neighbours_have_a_curve():
    # a record is in the data of one part: of kind 1 either, of kind 2 the second alone; each answer moves by 1
    parts = Parallel((asks(1, 0), asks(1, 1)))
    truth = 1 - math.exp((0.5 - 1) / 2)
    for delta, verdict in ((truth + 1e-6, "PROVED"), (truth - 1e-6, "REFUTED")):
        assert verify(Claim(parts, parse("1/2"), num(F(delta))), 8).judgement.verdict == verdict

"""Parts about one real histogram: their joint pure epsilon against all directions of the difference, and forged quadratics."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpverify.search.composition.combination import propose
from dpverify.search.verify import verify
from dpverify.trusted.combinators import moves
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import joint_moves

CAUCHY = Radial(parse("1/(1 + r**2)"), L2, ONE)
STUDENT = Translation(parse("(1 + z**2/3)**(-2)"))
ROOT = Radial(parse("exp(-sqrt(r))"), L2, ONE)
PLANE = Radial(parse("exp(-sqrt(r))"), L2, num(2))


def cauchy(u):
    return 2 * np.arcsinh(u / 2)


def student(u):
    return 4 * np.arcsinh(u / 2 / np.sqrt(3))


def part(noise, *rows, adjacency="l2", times=1):
    return repeated(Part(noise, None, Query(tuple(tuple(Fraction(x) for x in row) for row in rows), adjacency)), num(times))


def upper(*parts):
    return value(verify(Claim(Compose(parts), None), digits=10).judgement.upper)


def value(bound):
    return float(constant(bound).mid())


def directions(n):
    """Vectors of length 1, evenly in the plane."""
    if n == 2:
        angle = np.linspace(0, np.pi, 20_001)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = np.random.default_rng(7).normal(size=(200_000, n))
    return found / np.linalg.norm(found, axis=1)[:, None]


def greatest(v, *terms):
    """The greatest sum over differences v. terms: what a part loses, how often, and its rows."""
    return max(sum(times * loss(np.sqrt(((v @ np.array(rows, dtype=float).T) ** 2).sum(1))) for loss, times, rows in terms))


def test_parts_about_different_records_share_the_length_of_the_difference():
    found = upper(part(CAUCHY, (1, 0)), part(CAUCHY, (0, 1)))
    assert found == pytest.approx(4 * np.arcsinh(np.sqrt(0.5) / 2), abs=1e-6)  # half of the square of the length for each


def test_three_overlapping_queries_of_different_noise():
    parts = (part(CAUCHY, (1, 0), times=2), part(STUDENT, (0, 2)), part(ROOT, (1, 1)))
    wanted = greatest(directions(2), (cauchy, 2, [(1, 0)]), (student, 1, [(0, 2)]), (np.sqrt, 1, [(1, 1)]))
    assert wanted - 1e-6 < upper(*parts) < wanted + 0.02


@pytest.mark.wide
def test_noise_in_the_plane_and_independent_coordinates():
    parts = (part(PLANE, (1, 0, 0), (0, 1, 0)), part(CAUCHY, (0, 0, 1)))
    wanted = greatest(directions(3), (np.sqrt, 1, [(1, 0, 0), (0, 1, 0)]), (cauchy, 1, [(0, 0, 1)]))
    assert wanted - 1e-6 < upper(*parts) < wanted + 1e-3
    product = Product(parse("1/(1 + z**2)"), num(2), L2)
    both = upper(part(product, (1, 0), (0, 1)), part(CAUCHY, (1, 1)))
    wanted = greatest(directions(2), (cauchy, 1, [(1, 0)]), (cauchy, 1, [(0, 1)]), (cauchy, 1, [(1, 1)]))
    assert wanted - 1e-6 < both < wanted + 0.02


def test_a_group_stretches_the_difference():
    group = Group(Part(Compose((part(CAUCHY, (1, 0)), part(CAUCHY, (0, 1))))), num(2))
    found = verify(Claim(group, None), digits=10).judgement
    assert value(found.upper) == pytest.approx(4 * np.arcsinh(np.sqrt(2) / 2), abs=1e-6)
    behind = verify(Claim(PostProcess(Part(group)), None), digits=10).judgement
    assert value(behind.upper) == pytest.approx(value(found.upper), abs=1e-6)
    assert any("look at the data again" in line for line in behind.assumptions)


def test_in_l1_the_sum_of_moves_is_bounded_and_half_in_each_is_worst():
    parts = (part(ROOT, (1, 0), adjacency="l1"), part(ROOT, (0, 1), adjacency="l1"))
    assert upper(*parts) == pytest.approx(np.sqrt(2), abs=1e-6)  # half of the difference in each


def test_both_bounds_are_close():
    found = verify(Claim(Compose((part(CAUCHY, (1, 0)), part(STUDENT, (1, 1)))), None), digits=10).judgement
    wanted = greatest(directions(2), (cauchy, 1, [(1, 0)]), (student, 1, [(1, 1)]))
    assert value(found.lower) <= wanted <= value(found.upper) < value(found.lower) + 1e-5


PAIR = Compose((part(CAUCHY, (1, 0)), part(CAUCHY, (0, 1))))


@cache
def evidence():
    """What the search finds of the pair; with each part the rule that says what it loses, and what that is given."""
    from dpverify.search import premises

    found = next(step for step in propose(Claim(PAIR, None), premises(10)) if step["rule"] == joint_moves.NAME)
    listed = zip(found["evidence"]["parts"], found["premises"], strict=True)
    return {**found["evidence"], "parts": [{**own, "rule": fact.rule, "evidence": dict(fact.parameters)} for own, fact in listed]}


def check(claim, data):
    """The bound of such evidence."""
    proof, listed = Proof(claim), data["parts"]
    if not isinstance(listed, list) or not all("rule" in given for given in listed):
        return proof.infer(joint_moves.NAME, (), data).says
    premises = [proof.infer(given["rule"], ({"moved": i},), given["evidence"]) for i, given in enumerate(listed)]
    own = [{key: value for key, value in given.items() if key not in ("rule", "evidence")} for given in listed]
    return proof.infer(joint_moves.NAME, (), {**data, "parts": own}, premises).says


def forged(key, value):
    found = evidence()
    if key == "most":
        return {**found, key: value}
    return {**found, "parts": [{**found["parts"][0], key: value}, *found["parts"][1:]]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("most", "1/10"),
        ("alpha", "1/100"),
        ("alpha", "-1"),
        ("beta", "1/100"),
        ("beta", "-1"),
        ("cuts", ["0", "1/2"]),
        ("cuts", ["1/4", "1"]),
        ("cuts", ["0", "1/2", "1/4", "1"]),
        ("cuts", "01"),
        ("rule", "finite-table"),
        ("rule", None),
    ],
)
def test_quadratics_that_do_not_hold_are_refused(key, value):
    with pytest.raises((Rejected, CertificateError)):
        check(Claim(PAIR, None), forged(key, value))


@pytest.mark.parametrize(
    "parts",
    [
        (part(CAUCHY, (1, 0), adjacency="add-remove"), part(CAUCHY, (0, 1), adjacency="add-remove")),
        (part(CAUCHY, (1, 0)), Part(CAUCHY, ONE)),
        (part(CAUCHY, (1, 0)), Part(Group(part(CAUCHY, (0, 1)), num(2)))),
        (part(CAUCHY, (1, 0)), part(Translation(parse("exp(-abs(z))"), integers=True), (0, 1))),
    ],
)
def test_what_is_no_noise_about_one_real_histogram_is_refused(parts):
    with pytest.raises(Rejected):
        check(Claim(Compose(parts), None), evidence())


def test_a_group_that_is_run_several_times_is_no_single_run():
    mapped = repeated(Part(PostProcess(part(CAUCHY, (1, 0)))), num(3))
    with pytest.raises(Rejected, match="behind a map, that others are not in"):
        list(moves.leaves(Part(Group(mapped, num(2)))))
    assert list(moves.leaves(repeated(Part(Compose((part(CAUCHY, (1, 0), times=3),))), num(2)))) == [(part(CAUCHY, (1, 0)), 6)]
    for times in ("1/2", "3/2", "0", "n", "floor(sqrt(10))"):
        with pytest.raises(Rejected, match="integer"):
            list(moves.leaves(repeated(Part(CAUCHY, None, part(CAUCHY, (1, 0)).query), parse(times))))


@pytest.mark.parametrize(
    ("noise", "side"),
    [(Translation(parse("exp(-abs(z))")), "lower"), (Translation(parse("exp(-z)"), (num(0), None)), "upper")],
)
def test_what_a_part_loses_is_bounded_from_above_by_a_number(noise, side):
    pair, given = Compose((part(noise, (1, 0)), part(noise, (0, 1)))), {"rule": "convex-exponent", "evidence": {"side": side}}
    with pytest.raises((Rejected, CertificateError)):
        check(Claim(pair, None), {**evidence(), "parts": [{**one, **given} for one in evidence()["parts"]]})


def test_one_histogram_has_one_adjacency_and_one_number_of_columns():
    assert joint_moves._space([part(CAUCHY, (1, 0)), part(CAUCHY, (0, 1))]) == ("l2", 2)
    for other in (part(CAUCHY, (1, 0), adjacency="l1"), part(CAUCHY, (1, 0, 0)), part(CAUCHY, (1, 0), adjacency="replace")):
        with pytest.raises(Rejected, match="one real histogram"):
            joint_moves._space([part(CAUCHY, (1, 0)), other])


@pytest.mark.parametrize("noise", [Radial(parse("exp(-sqrt(r))"), L1, num(2)), Translation(parse("exp(-abs(z))"), integers=True)])
def test_a_loss_that_is_not_one_of_the_length_of_a_real_move_is_refused(noise):
    with pytest.raises(Rejected, match="no noise on real numbers"):
        joint_moves.part_rows(part(noise, (1, 0), (0, 1)))


def test_the_claim_and_its_queries_speak_of_the_same_neighbours():
    data = evidence()
    check(Claim(PAIR, None, adjacency="l2"), data)
    with pytest.raises(Rejected):  # a radius in the plane wants two answers
        check(Claim(Compose((part(PLANE, (1, 0)), part(CAUCHY, (0, 1)))), None), data)
    with pytest.raises(Rejected, match="without values"):
        check(Claim(PAIR, None, domains=(("c", Domain(Fraction(0))),)), data)


@pytest.mark.parametrize("parts", [None, [], [{}], {"a": {}, "b": {}}])
def test_every_part_has_evidence_of_its_own(parts):
    with pytest.raises(CertificateError, match=r"cannot be used|has not the form"):
        check(Claim(PAIR, None), {**evidence(), "parts": parts})


def test_a_form_of_negative_weights_is_refused_also_where_it_covers_what_is_lost():
    pair = Compose((part(ROOT, (1, 0), adjacency="l1"), part(ROOT, (0, 1), adjacency="l1")))
    told = {"rule": "concave-exponent", "evidence": {"side": "upper"}, "alpha": "2", "cuts": ["0", "1"]}
    check(Claim(pair, None), {"most": "0", "parts": [{**told, "beta": "0"}] * 2})
    with pytest.raises(Rejected, match="negative"):
        check(Claim(pair, None), {"most": "-1/2", "parts": [{**told, "beta": "-1/2"}] * 2})


def test_a_bound_of_all_rests_on_what_the_bounds_of_its_parts_rest_on():
    def said(fact):
        return replace(fact, says=tuple(replace(bound, assumed=("as is said",)) for bound in fact.says), assumed=("of the rule",))

    found = joint_moves.infer(Claim(PAIR, None), evidence(), [said(lost(number)) for number in range(2)])
    assert {"as is said", "of the rule"} <= set(found.assumed) and found.through == (evidence()["parts"][0]["rule"],)


def lost(number):
    """The fact of what one part of the pair loses."""
    given = evidence()["parts"][number]
    return Proof(Claim(PAIR, None)).infer(given["rule"], ({"moved": number},), given["evidence"])


@pytest.mark.parametrize("bound", [Bound("lower", ONE), Bound("upper", INFINITE), Bound("upper", ONE, at=(("c", "1"),))])
def test_what_a_part_loses_is_no_bound_from_below_nor_without_end_nor_at_one_value(bound):
    premises = [replace(lost(0), says=(bound,)), lost(1)]
    with pytest.raises(Rejected, match=r"upper bound for all parameters|no finite epsilon"):
        joint_moves.infer(Claim(PAIR, None), evidence(), premises)


def test_a_premise_is_about_the_very_part():
    other = Compose((part(STUDENT, (1, 0)), part(CAUCHY, (0, 1))))
    with pytest.raises(CertificateError, match="not about"):
        joint_moves.infer(Claim(other, None), evidence(), [lost(0), lost(1)])
    for number in (2, -1, True, "0"):
        with pytest.raises(CertificateError):
            Proof(Claim(PAIR, None)).infer("concave-exponent", ({"moved": number},), {"side": "upper"})


def test_neighbours_twice_as_far_apart_want_cells_that_reach_as_far():
    data = evidence()
    with pytest.raises(Rejected, match="farthest"):
        check(Claim(Group(Part(PAIR), num(2)), None), data)


def test_cells_go_forward_to_the_farthest_move():
    above = joint_moves.Power(parse("moved"), Fraction(1), Fraction(1), 2)  # u <= 1 + u^2
    joint_moves._check_above(above, Fraction(4), ["0", "1", "2"])
    joint_moves._check_above(above, Fraction(4), ["0", "1", "2", "3"])
    for cuts in (["0", "2", "1", "2"], ["0", "1", "1", "2"], ["0", "1", "199/100"], ["1/10", "2"], ["0"], [], None, {"0": "2"}):
        with pytest.raises(Rejected, match="not in order"):
            joint_moves._check_above(above, Fraction(4), cuts)
    with pytest.raises(Rejected, match="not certainly at most"):
        joint_moves._check_above(joint_moves.Power(parse("moved"), Fraction(1, 5), Fraction(1), 2), Fraction(4), ["0", "1/4", "1", "2"])


def test_cells_are_no_more_than_a_line_may_have(monkeypatch):
    monkeypatch.setattr(joint_moves, "_MOST_CUTS", 2)
    above = joint_moves.Power(parse("moved"), Fraction(1), Fraction(1), 2)
    joint_moves._check_above(above, Fraction(1), ["0", "1"])
    with pytest.raises(Rejected):
        joint_moves._check_above(above, Fraction(1), ["0", "1/2", "1"])


def test_rows_of_a_form_count_together_and_no_row_is_left_out():
    form = joint_moves._Quadratic(3)
    form.add([(Fraction(1), Fraction(1), Fraction(0))], Fraction(1))  # the greatest eigenvalue is 2
    form.check(Fraction(2))
    for most in (Fraction(1), Fraction(19, 10), Fraction(0)):
        with pytest.raises(Rejected):
            form.check(most)
    with pytest.raises(Rejected, match="several coordinates"):
        joint_moves._Linear(2).add([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], Fraction(1))


def test_a_form_is_bounded_exactly():
    form = joint_moves._Quadratic(2)
    form.add([(Fraction(1), Fraction(1))], Fraction(1))
    form.add([(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], Fraction(1))  # 2 1 1 2: the eigenvalues are 1 and 3
    form.check(Fraction(3))
    with pytest.raises(Rejected):
        form.check(Fraction(3) - Fraction(1, 10**12))
    form = joint_moves._Linear(2)
    form.add([(Fraction(-2), Fraction(1))], Fraction(1))
    form.check(Fraction(2))
    with pytest.raises(Rejected):
        form.check(Fraction(2) - Fraction(1, 10**12))

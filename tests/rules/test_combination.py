"""Pure epsilons of combinators: exact where the parts are, and refused where a hypothesis fails (theory#combination)."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, add, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.registry import EXPLAINED
from dpverify.trusted.theories.additive.rules.convex_exponent import one_way
from tests.proofs import Step, bound

HALF = parse("1/2")
UPPER = {"rule": "concave-exponent", "evidence": {"side": "upper"}}
LOWER = {"rule": "concave-exponent", "evidence": {"side": "lower"}}


def laplace(epsilon="1", times="1"):
    return repeated(Part(Radial(parse(f"exp(-({epsilon})*r)"), L1, num(1)), num(1)), parse(times))


GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
WARNER = Part(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))))


def check(mechanism, part, side="upper", **domains):
    claim = Claim(mechanism, None, domains=tuple(domains.items()))
    return combined(claim, {"side": side, "part": part})


def combined(claim, evidence):
    (found,) = bound(claim, Step("combination", evidence))
    return found


def of_a_group(rate, size, *rates):
    """The greatest log-ratio of a sum of Laplace noises of these slopes, each record of a group moving every answer by 1 if it is sampled.

    At outputs beyond all answers, where each is k further from the outputs if k records are in the sample.
    """
    slope, seldom = sum(rates), 1 - rate
    return math.log(sum(math.comb(size, k) * rate**k * seldom ** (size - k) * math.exp(slope * k) for k in range(size + 1)))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("rates", [("1",), ("1/2", "2/3")])
def test_far_out_every_record_of_a_group_that_is_sampled_counts(size, rates):
    part = Part(Compose(tuple(map(laplace, rates)))) if len(rates) > 1 else laplace(*rates)
    epsilon = of_a_group(0.25, size, *(float(Fraction(rate)) for rate in rates))
    found = verify(Claim(Group(Part(Subsample(part, parse("1/4"))), num(size)), None)).judgement
    assert [float(constant(end).mid()) for end in (found.lower, found.upper)] == pytest.approx([epsilon, epsilon])


def test_of_a_group_of_samples_nothing_is_known_from_below_where_the_ratio_is_not_greatest_far_out():
    heavy = Part(Radial(parse("exp(-sqrt(r))"), L1, num(1)), num(1))
    cases = (("without_replacement", laplace(), "2"), ("poisson", laplace(), "3/2"), ("poisson", WARNER, "2"), ("poisson", heavy, "2"))
    for scheme, part, size in cases:
        around = Group if size == "2" else Lipschitz
        claim = Claim(around(Part(Subsample(part, HALF, scheme)), parse(size)), None)
        assert verify(claim).judgement.lower is None


@pytest.mark.parametrize(
    ("mechanism", "plan", "value"),
    [
        (Compose((laplace("1/2"), laplace("1/3", "4"))), {"parts": [0, 0]}, "1/2 + 4/3"),
        (Parallel((laplace("1/2"), laplace("1/3"))), {"parts": [0, 0]}, "1/2"),
        (Group(laplace("1/2"), num(3)), 0, "3/2"),
        (Lipschitz(laplace("1/2"), parse("5/2")), 0, "5/4"),
        (Subsample(laplace("2"), HALF), 0, "log((1 + exp(2))/2)"),
        (Subsample(laplace("2"), num(1)), 0, "2"),
        (Compose((Part(Parallel((laplace("1"), laplace("2")))), Part(Subsample(laplace("1"), HALF)))), {"parts": [{"parts": [0, 0]}, 0]},
         "2 + log((1 + exp(1))/2)"),
    ],
)  # fmt: skip
def test_both_sides_are_the_closed_form(mechanism, plan, value):
    for side, leaf in (("upper", UPPER), ("lower", LOWER)):
        found = check(mechanism, filled(plan, leaf), side)
        assert found.side == side and certainly_equal(found.value, parse(value))


def filled(plan, leaf):
    if isinstance(plan, dict):
        return {"parts": [filled(part, leaf) for part in plan["parts"]]}
    return leaf


def test_post_processing_and_groups_of_samples_by_what_is_not_lost_far_out_have_an_upper_side_alone():
    for mechanism in (PostProcess(laplace()), Group(Part(Subsample(laplace(), HALF)), num(2))):
        assert check(mechanism, UPPER).side == "upper"
        with pytest.raises(Rejected):
            check(mechanism, LOWER, "lower")


def test_parameters_stay_in_the_value():
    domains = {"p": Domain(Fraction(0), Fraction(1)), "e": Domain(Fraction(0))}
    found = check(Subsample(laplace("e"), parse("p")), UPPER, **domains)
    assert certainly_equal(found.value, parse("log(1 + p*(exp(e) - 1))"), domains)
    count = Domain(Fraction(1), None, False, True, True)
    assert certainly_equal(check(Compose((laplace("2", "k"),)), {"parts": [UPPER]}, k=count).value, parse("2*k"), {"k": count})


def test_one_part_without_an_epsilon_leaves_none_to_the_whole():
    claim = Claim(Compose((laplace(), GAUSSIAN)), num(1000))
    judgement = verify(claim).judgement
    assert judgement.verdict == "REFUTED" and judgement.lower is INFINITE


@pytest.mark.parametrize(
    ("mechanism", "plan", "domains"),
    [
        (Lipschitz(laplace(), num(-1)), UPPER, {}),
        (Compose((laplace(),)), {"parts": [LOWER]}, {}),  # the premise is of the other side
        (Compose((GAUSSIAN,)), {"parts": [UPPER]}, {}),
        (laplace().mechanism, UPPER, {}),
    ],
)
def test_a_hypothesis_that_fails_is_refused(mechanism, plan, domains):
    with pytest.raises((Rejected, Undecided)):
        check(mechanism, plan, **domains)


@pytest.mark.parametrize(
    "parts", [[], [0], [0, 1, 1], [0, {"rule": "x"}], [0, None], [0, UPPER], [0, 2], [0, -1], [0, True], ["0", 1], None, "ab"]
)
def test_evidence_of_another_shape_is_no_evidence(parts):
    proof = Proof(Claim(Compose((laplace(), laplace("2"))), None))
    premises = [proof.infer("concave-exponent", ({"part": number},), {"side": "upper"}) for number in (0, 1)]
    assert proof.infer("combination", (), {"side": "upper", "part": {"parts": [0, 1]}}, premises).says
    for plan in ({"parts": parts}, parts):
        with pytest.raises(CertificateError):
            proof.infer("combination", (), {"side": "upper", "part": plan}, premises)


@pytest.mark.parametrize("numbers", [[1, 0], [0, 0], [1, 1], [0, 2], [0, 3]])
def test_the_premise_of_another_part_is_none_of_this_one(numbers):
    proof, side = Proof(Claim(Compose((laplace(), laplace("2"))), None)), {"side": "upper"}
    premises = [proof.infer("concave-exponent", ({"part": number},), side) for number in (0, 1)]
    premises += [Proof(Claim(GAUSSIAN.mechanism, None, sensitivity=num(1))).infer("gaussian"), proof.infer("laplace", ({"part": 1},))]
    with pytest.raises(CertificateError, match="not about the pure epsilon of the part"):
        proof.infer("combination", (), {"side": "upper", "part": {"parts": numbers}}, premises)


def test_the_budget_stands_beside_the_sum():
    also = verify(Claim(Compose((laplace("1/2", "3"), WARNER)), num(5))).judgement.also
    assert also["part 1 (radial x 3)"] == "epsilon 3/2" and also["part 2 (table)"] == "epsilon log(3)"
    assert also["basic composition"] == "epsilon log(3) + 3/2"


@pytest.mark.parametrize("offset", [Fraction(-1, 10**9), Fraction(1, 10**9)])
def test_a_group_of_a_table_goes_by_its_neighbours(offset):
    chain = Table(tuple((parse(f"{4 - i}/5"), parse(f"{1 + i}/5")) for i in range(4)), ((0, 1), (1, 2), (2, 3)))
    claim = Claim(Group(Part(chain), num(2)), add(parse("log(3)"), Num(offset)))
    assert verify(claim).judgement.verdict == ("PROVED" if offset > 0 else "REFUTED")


def test_a_part_runs_a_whole_number_of_times():
    whole = check(Compose((laplace(times="t"),)), {"parts": [UPPER]}, t=Domain(Fraction(1), None, False, integer=True))
    assert whole.value == parse("t")


@pytest.mark.parametrize("adjacent", [(), ((0, 0),), ((1, 1), (0, 0))])
def test_randomized_response_without_neighbours_reveals_nothing(adjacent):
    alone = repeated(Part(Table(WARNER.mechanism.rows, adjacent)), num(2))
    claim = Claim(Compose((alone,)), parse("1/10"), parse("1/100"))
    with pytest.raises(CertificateError, match="there is no pair"):
        verify(claim, 6)


def at_every_pair(plan, *parts):
    return combined(Claim(Compose(parts), None), {"side": "upper", "neighbours": {"plans": [plan], "of": [0]}})


def test_what_several_parts_lose_at_one_pair_rests_on_what_their_rules_assume():
    answers = tuple(uneven(a, b, (1,)) for a, b in ((2, 1), (3, 1)))
    for found in (at_every_pair({"parts": [{}, {}]}, WARNER, WARNER), at_every_pair({"parts": [{}, {}]}, *answers)):
        rules = [EXPLAINED[name] for name in found.through]
        assert len(rules) > 2 and {line for rule in rules for line in rule.ASSUMED} <= set(found.assumed)


def test_where_an_output_reveals_the_input_no_pair_is_the_worst():
    revealing = Part(Table(((HALF, HALF, num(0)), (HALF, num(0), HALF))))
    found = at_every_pair({"parts": [{}, {}]}, revealing, revealing)
    assert found.value is INFINITE and not found.also


# -- noise that is not even ------------------------------------------------------------------------


def uneven(a, b, row, adjacency="add-remove", density=None):
    """Density exp(-max(a z, -b z)): an answer over one that is s above loses b s, and that one over it a s."""
    return Part(Translation(parse(density or f"exp(-max({a}*z, -{b}*z))")), None, Query((tuple(map(Fraction, row)),), adjacency))


def loses(a, b, move):
    """In the order that has the record first, where it moves the answer by `move`."""
    return -b * move if move < 0 else a * move


def pure(mechanism):
    found = verify(Claim(mechanism, None)).judgement
    return [float(constant(bound).mid()) for bound in (found.lower, found.upper)]


@pytest.mark.parametrize("shift", [Fraction(1), Fraction(3, 4)])
@pytest.mark.parametrize("density", ["exp(-max(2*z, -3*z))", "exp(-abs(z) - max(z, 0))", "exp(-2*z)/(1 + exp(-3*z))"])
def test_each_order_loses_by_the_slope_of_its_own_tail(density, shift):
    h = lambda z: -float(constant(parse(f"log({density})".replace("z", f"({z})"))).mid())  # noqa: E731
    far, s = 40, float(shift)
    up, down = one_way(Translation(parse(density)), shift, {})
    assert float(constant(up).mid()) == pytest.approx(max(h(z) - h(z + s) for z in (-far, -5, 0, 5, far - 1)), abs=1e-6)
    assert float(constant(down).mid()) == pytest.approx(max(h(z + s) - h(z) for z in (-far, -5, 0, 5, far - 1)), abs=1e-6)


def test_of_other_noise_the_orders_are_not_told_apart():
    assert one_way(Translation(parse("1/(1 + z**2) + exp(-z**2)*max(z, 0)")), Fraction(1), {}) is None
    assert one_way(Translation(parse("exp(-2*z)"), support=(parse("0"), parse("1"))), Fraction(1), {}) is None
    assert one_way(Translation(parse("z**(-1/2)*exp(-z)"), support=(parse("0"), None)), Fraction(1), {}) is None
    assert one_way(Translation(parse("exp(-max(2*z, -z))"), integers=True), Fraction(1, 2), {}) is None
    assert one_way(Translation(parse("exp(-z)")), Fraction(1), {}) is None
    assert one_way(Translation(parse("exp(-z**2 + z)")), Fraction(2), {}) == (INFINITE, INFINITE)


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize(
    ("density", "low", "slope"), [("exp(-2*z)", "0", 2), ("z*exp(-z)", "0", 1), ("(z - 1)*exp(-3*z)", "1", 3), ("exp(-z**2)", "1/2", None)]
)
def test_an_end_of_the_support_betrays_one_of_the_two_answers(density, low, slope, integers):
    """Above the end h(z + 2) - h(z) tends to 2 h'(inf), which it never exceeds, for h is convex there; below it one density is 0."""
    other = INFINITE if slope is None else num(2 * slope)
    assert one_way(Translation(parse(density), (parse(low), None), integers), Fraction(2), {}) == (INFINITE, other)
    mirrored = parse(density.replace("z", "(-z)"))
    assert one_way(Translation(mirrored, (None, parse(f"-({low})")), integers), Fraction(2), {}) == (other, INFINITE)


ROWS = [((1, -1), (1, 0)), ((2, 1), (-1, 2)), ((1, -2), (2, 1)), ((1, 1), (1, -1))]


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ROWS)
def test_parts_that_are_not_even_lose_in_one_order_of_the_neighbours(rows):
    """theory#joint-neighbours: the greatest over neighbours and both orders of the sum of what the parts lose in that order."""
    parts = tuple(uneven(a, b, row) for (a, b), row in zip(((2, 1), (3, 1)), rows, strict=True))
    moves = [[row[i] * sign for row in rows] for i in range(2) for sign in (1, -1)]
    truth = max(loses(2, 1, u) + loses(3, 1, v) for u, v in moves)
    assert pure(Compose(parts)) == pytest.approx([truth, truth], abs=1e-12)
    nested = Compose((parts[0], Part(Compose((parts[1],)))))
    assert pure(nested) == pytest.approx([truth, truth], abs=1e-12)


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ROWS)
def test_a_sample_of_them_mixes_the_output_with_the_record_into_the_one_without(rows):
    """theory#poisson-subsampling: log(1 + p (e^w - 1)) for the order with the record first, -log(1 - p + p e^-w) for the other."""
    parts = tuple(uneven(a, b, row) for (a, b), row in zip(((2, 1), (3, 1)), rows, strict=True))
    first = max(loses(2, 1, rows[0][i]) + loses(3, 1, rows[1][i]) for i in range(2))
    second = max(loses(2, 1, -rows[0][i]) + loses(3, 1, -rows[1][i]) for i in range(2))
    truth = max(math.log(1 + (math.exp(first) - 1) / 3), -math.log(2 / 3 + math.exp(-second) / 3))
    beside = Part(Compose((Part(Subsample(Part(Compose(parts)), parse("1/3"))), uneven(1, 1, (0, 0)))))
    assert pure(Subsample(Part(Compose(parts)), parse("1/3"))) == pytest.approx([truth, truth], abs=1e-12)
    assert pure(beside.mechanism) == pytest.approx([truth, truth], abs=1e-12)


def test_what_is_revealed_in_one_order_behind_a_map_is_revealed_to_a_sample():
    """The map may exchange the neighbours: with the record outputs occur that do not without it, though the query says otherwise."""
    parts = (uneven(0, 0, (2,), density="exp(-z)"), uneven(2, 1, (-1,)))
    onward = replace(parts[0], mechanism=replace(parts[0].mechanism, support=(num(0), None)))
    moved = Part(PostProcess(Part(Lipschitz(Part(Compose((onward, parts[1]))), num(2))), "a map"))
    found = verify(Claim(Subsample(moved, HALF), num(1))).judgement
    assert found.verdict != "PROVED" and found.upper is None


def test_a_lower_bound_names_the_order_and_cannot_mix_two():
    parts = (uneven(2, 1, (1,)), uneven(3, 1, (-1,)))
    claim = Claim(Compose(parts), None)
    pair = [{"columns": 1, "adjacency": "add-remove", "difference": ["1"]}]
    evidence = {"side": "lower", "neighbours": pair, "part": {"parts": [{}, {}]}}
    assert combined(claim, evidence).value == num(3)
    found = combined(claim, {**evidence, "backward": True})
    assert found.value == num(4)
    assert found.witness["neighbours"] == pair and found.witness["backward"]
    told = verify(Claim(claim.mechanism, num(1))).judgement.witness["pair"]
    assert "one record of kind 1 more" in told and told.endswith("the output on x' against that on x")
    odd = uneven(0, 0, (1,), density="1/(1 + (z - 1)**2)**2 + 1/(2 + (z + 1)**2)")
    with pytest.raises((Rejected, CertificateError)):
        combined(Claim(Compose((*parts, odd)), None), {**evidence, "part": {"parts": [{}, {}, {}]}})


@pytest.mark.wide
def test_what_is_sampled_without_replacement_is_not_at_the_pair_of_the_others():
    """Samples without the record have another one instead: with all others of kind 3 the loss is log((1 + e^3)/(1 + e^2)) + 10."""
    alone, beside = (Part(laplace().mechanism, None, Query((tuple(map(Fraction, row)),), "replace")) for row in ((1, 0, 3), (0, 10, 5)))
    sampled = Part(Subsample(alone, HALF, "without_replacement"))
    lower, upper = pure(Compose((sampled, beside)))
    truth = 10 + math.log((1 + math.exp(3)) / (1 + math.exp(2)))
    assert lower < truth < upper <= 10 + math.log((1 + math.exp(3)) / 2) + 1e-9
    claim = Claim(Compose((sampled, beside)), parse("107/10"), delta=parse("1e-30"))
    assert verify(claim, 6).judgement.verdict != "PROVED"


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (Part(Table(((parse("1/2"), parse("1/2")), (parse("1/4"), parse("3/4"))))), "inputs"),
        (Part(Radial(parse("exp(-r)"), L2, num(1)), num(1)), "two answers 2 apart"),
    ],
)
def test_the_witness_of_a_group_of_one_part_names_its_pair(part, named):
    found = verify(Claim(Group(part, num(2)), parse("1/10")), digits=8).judgement
    assert found.verdict == "REFUTED"
    assert found.witness["pair"].startswith(named)

"""Claims of one order of neighbours: with a record against without it, and the reverse."""

from fractions import Fraction
from itertools import chain, combinations, permutations
from math import exp, log

import pytest

from dpverify.audits.plan import make_plan
from dpverify.catalogue.reader import read_spec
from dpverify.errors import AuditError, SpecError
from dpverify.search.verify import verify
from dpverify.trusted.combinators.exchanged import either_order
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Group,
    Guarantee,
    KaryResponse,
    Lipschitz,
    Measure,
    Part,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof

LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
EXPONENTIAL = Translation(parse("exp(-z)"), (ZERO, None))
ROWS = tuple(tuple(num(Fraction(x, 10)) for x in row) for row in ((6, 3, 1), (2, 3, 5)))
LISTED = Table(ROWS, ((0, 1),))
ORDERS = ("one-sided", "reverse")


def known(mechanism, order, epsilon=None, delta="0", **more):
    """Bounds on epsilon at a delta, or on delta at an epsilon, as floats; None where nothing is known."""
    claim = Claim(mechanism, None if epsilon is None else parse(epsilon), None if delta is None else parse(delta), order=order, **more)
    judgement = verify(claim, 15).judgement
    found = (judgement.delta_lower, judgement.delta_upper) if delta is None else (judgement.lower, judgement.upper)
    return tuple(None if b is None else float("inf") if isinstance(b, Infinite) else float(constant(b).mid()) for b in found)


def verdict(mechanism, order, epsilon, delta="0", **more):
    return verify(Claim(mechanism, parse(epsilon), parse(delta), order=order, **more), 15).judgement.verdict


def floats(row):
    return [float(constant(x)) for x in row]


def least_delta(p, q, epsilon):
    """By all events."""
    events = chain.from_iterable(combinations(range(len(p)), size) for size in range(len(p) + 1))
    return max(sum(p[i] - exp(epsilon) * q[i] for i in event) for event in events)


@pytest.mark.parametrize(("order", "epsilon"), [("one-sided", log(3)), ("reverse", log(5))])
def test_the_pairs_of_a_table_are_those_that_it_lists(order, epsilon):
    assert known(LISTED, order) == pytest.approx((epsilon, epsilon))
    assert known(Table(ROWS), order) == pytest.approx((log(5), log(5)))
    assert known(Table(ROWS, ((0, 1), (1, 0))), order) == pytest.approx((log(5), log(5)))


TABLES = [[[6, 3, 1], [5, 3, 2], [1, 1, 8]], [[7, 2, 1], [1, 1, 8], [6, 2, 2]]]
LISTS = [
    (((0, 1),), ((0, 2),)),
    (((0, 1),), ((1, 0),)),
    (((0, 1), (0, 2)), ((0, 1), (0, 2))),
    (((2, 0),), ((2, 0),)),
    (((0, 1), (1, 0)), ((0, 1),)),
    (None, None),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lists", LISTS)
def test_tables_of_the_same_inputs_are_at_every_pair_that_one_of_them_lists_in_its_order(order, lists):
    pairs = {pair for listed in lists for pair in (permutations(range(3), 2) if listed is None else listed)}
    pairs = {(a, b) if order == "one-sided" else (b, a) for a, b in pairs}
    mechanism = Compose(
        tuple(
            Part(Table(tuple(tuple(num(Fraction(x, 10)) for x in row) for row in rows), listed))
            for rows, listed in zip(TABLES, lists, strict=True)
        )
    )
    epsilon = max(sum(max(log(p / q) for p, q in zip(rows[a], rows[b], strict=True)) for rows in TABLES) for a, b in pairs)
    low, high = known(mechanism, order)
    assert high >= epsilon - 1e-12 and (low is None or low <= epsilon + 1e-12)
    value = max(sum(log(sum(p * p / q / 10 for p, q in zip(rows[a], rows[b], strict=True))) for rows in TABLES) for a, b in pairs)
    judgement = verify(Claim(mechanism, None, measure=Measure("renyi", None, Fraction(2)), order=order), 12).judgement
    assert constant(judgement.upper) >= value - 1e-12
    assert judgement.lower is None or constant(judgement.lower) <= value + 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_a_sample_is_the_mixture_in_each_order(order):
    rate, (first, second) = 0.3, (floats(row) for row in ROWS)
    mixed = [rate * p + (1 - rate) * q for p, q in zip(first, second, strict=True)]
    pair = (mixed, second) if order == "one-sided" else (second, mixed)
    epsilon = max(log(p / q) for p, q in zip(*pair, strict=True))
    sample = Subsample(Part(LISTED), parse("3/10"))
    assert known(sample, order) == pytest.approx((epsilon, epsilon))
    for both in ("1/10", "1/4"):
        low, high = known(Subsample(Part(KaryResponse(num(2), parse("4/5"))), parse("3/10")), order, both, None)
        p, q = [0.8, 0.2], [0.2, 0.8]
        mixed = [0.3 * a + 0.7 * b for a, b in zip(p, q, strict=True)]
        two = (mixed, q) if order == "one-sided" else (q, mixed)
        delta = least_delta(*two, float(Fraction(both)))
        assert (low, high) == pytest.approx((delta, delta), abs=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rate", ["1", "3/10"])
def test_delta_of_listed_pairs_is_that_of_the_worst_event_in_their_order(order, rate):
    first, second = (floats(row) for row in ROWS)
    mixed = [float(Fraction(rate)) * p + (1 - float(Fraction(rate))) * q for p, q in zip(first, second, strict=True)]
    pair = (mixed, second) if order == "one-sided" else (second, mixed)
    mechanism = LISTED if rate == "1" else Subsample(Part(LISTED), parse(rate))
    for epsilon in ("0", "1/5", "1", "5"):
        delta = least_delta(*pair, float(Fraction(epsilon)))
        assert known(mechanism, order, epsilon, None) == pytest.approx((delta, delta), abs=1e-15)


def least_epsilon(pairs, delta):
    """The least epsilon at which no event of any pair is above delta, by bisection over all events."""
    low, high = 0.0, 20.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (low, middle) if max(least_delta(p, q, middle) for p, q in pairs) <= delta else (middle, high)
    return high


THREE = ((10, 5, 5), (4, 10, 6), (1, 1, 18))
FINITE = {
    "response": (KaryResponse(num(3), parse("1/2")), [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]),
    "table": (Table(tuple(tuple(num(Fraction(x, 20)) for x in row) for row in THREE)), [[x / 20 for x in row] for row in THREE]),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mechanism", FINITE)
@pytest.mark.parametrize("delta", ["1/100", "1/12"])
def test_a_sample_of_any_two_inputs_has_the_epsilon_of_its_order_at_a_delta(mechanism, order, delta):
    declared, rows = FINITE[mechanism]
    mixed = [([0.25 * p + 0.75 * q for p, q in zip(a, b, strict=True)], b) for a, b in permutations(rows, 2)]
    pairs = mixed if order == "one-sided" else [(b, a) for a, b in mixed]
    epsilon = least_epsilon(pairs, float(Fraction(delta)))
    sample = Subsample(Part(declared), parse("1/4"))
    low, high = known(sample, order, None, delta)
    assert (low or 0, high) == pytest.approx((epsilon, epsilon), abs=1e-9)  # no epsilon is below 0
    if epsilon > 0.01:
        assert verdict(sample, order, str(round(epsilon + 1e-6, 8)), delta) == "PROVED"
        assert verdict(sample, order, str(round(epsilon - 1e-6, 8)), delta) == "REFUTED"


@pytest.mark.parametrize("order", ORDERS)
def test_a_listed_table_beside_noise_loses_what_both_do_in_that_order(order):
    first, second = (floats(row) for row in (ROWS if order == "one-sided" else ROWS[::-1]))
    places = [x / 8 for x in range(-80, 81)]
    epsilon = max(log(p / q) + abs(y - 1) - abs(y) for p, q in zip(first, second, strict=True) for y in places)
    beside = Compose((Part(LISTED), Part(LAPLACE, ONE)))
    assert known(beside, order) == pytest.approx((epsilon, epsilon))
    assert verdict(beside, order, str(epsilon - 1e-6)) == "REFUTED"
    found = verify(Claim(beside, ONE, order=order)).judgement
    assert "the neighbours that are worst for one part are worst for all" in found.assumptions


def test_two_tables_of_the_same_inputs_are_not_added_up_from_below():
    other = Table(ROWS[::-1], ((0, 1),))
    low, _ = known(Compose((Part(LISTED), Part(other))), "one-sided")
    epsilon = max(
        log(p * r / (q * s)) for p, q in zip(*map(floats, ROWS), strict=True) for r, s in zip(*map(floats, ROWS[::-1]), strict=True)
    )
    assert low <= epsilon + 1e-12


def of_words(laws, epsilon):
    """The greatest P(S) - e^epsilon Q(S) over sets of words of outputs, a pair of rows for each place."""
    words = [(1.0, 1.0)]
    for p, q in laws:
        words = [(a * x, b * y) for a, b in words for x, y in zip(p, q, strict=True)]
    return sum(max(a - exp(epsilon) * b, 0) for a, b in words)


def repeated_table(table, rate, times):
    part = Part(table) if rate == 1 else Part(Subsample(Part(table), num(Fraction(rate))))
    return Compose((repeated(part, num(times)),))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("rate", "times"), [(1, 4), (Fraction(3, 10), 5), (Fraction(9, 10), 2)])
def test_repeated_tables_have_the_divergence_of_their_words_in_the_order(order, rate, times):
    first, second = (floats(row) for row in ROWS)
    pair = [float(rate) * p + (1 - float(rate)) * q for p, q in zip(first, second, strict=True)], second
    laws = [pair if order == "one-sided" else pair[::-1]] * times
    mechanism = repeated_table(LISTED, rate, times)
    for epsilon in ("0", "1/2", "1"):
        delta = of_words(laws, float(Fraction(epsilon)))
        assert known(mechanism, order, epsilon, None) == pytest.approx((delta, delta), abs=1e-13)
    assert known(mechanism, order, None, str(Fraction(of_words(laws, 0.25)))) == pytest.approx((0.25, 0.25), abs=1e-9)


@pytest.mark.parametrize("rate", [1, Fraction(1, 2)])
def test_of_several_listed_pairs_all_tables_are_at_one_and_samples_at_any(rate):
    rows = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.25, 0.15, 0.6]]
    table = Table(tuple(tuple(num(Fraction(str(x))) for x in row) for row in rows), ((0, 1), (0, 2)))
    laws = [([float(rate) * p + (1 - float(rate)) * q for p, q in zip(rows[0], other, strict=True)], other) for other in rows[1:]]
    same, apart = max(of_words([law, law], 0.25) for law in laws), of_words(laws, 0.25)
    low, high = known(repeated_table(table, rate, 2), "one-sided", "1/4", None)
    assert low == pytest.approx(same, abs=1e-12)
    assert high == pytest.approx(same, abs=1e-12) if rate == 1 else high >= max(same, apart) - 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_the_divergence_of_a_repeated_table_in_one_order_is_so_many_times_its_own(order):
    p, q = (floats(row) for row in (ROWS if order == "one-sided" else ROWS[::-1]))
    once = log(sum(a * a / b for a, b in zip(p, q, strict=True)))
    measure = Measure("renyi", None, Fraction(2))
    for mechanism, times in ((LISTED, 1), (repeated_table(LISTED, 1, 3), 3)):
        judgement = verify(Claim(mechanism, None, order=order, measure=measure), 15).judgement
        assert [float(constant(x).mid()) for x in (judgement.lower, judgement.upper)] == pytest.approx([times * once] * 2, abs=1e-12)


@pytest.mark.parametrize("number", [-1, 1, "0", True, None])
def test_a_curve_of_listed_pairs_wants_the_number_of_one(number):
    claim = Claim(repeated_table(LISTED, 1, 2), parse("1"), None, order="reverse")
    assert Proof(claim).infer("privacy-profile", (), {"pair": 0, "delta": True})
    with pytest.raises(CertificateError, match="not a whole number"):
        Proof(claim).infer("privacy-profile", (), {"pair": number, "delta": True})


@pytest.mark.parametrize(
    "mechanism",
    [
        Compose((Part(LISTED), Part(Table(ROWS, ((1, 0),))))),
        Compose((Part(LISTED), Part(Table(ROWS)))),
        Compose((Part(LISTED), Part(KaryResponse(num(2), parse("4/5"))))),
        Subsample(Part(LISTED), parse("1/2"), "without_replacement"),
        Group(Part(LISTED), num(2)),
    ],
)
def test_a_curve_of_listed_pairs_is_of_tables_that_list_the_same_in_one_order(mechanism):
    claim = Claim(mechanism, parse("1"), None, order="one-sided")
    with pytest.raises(Rejected, match="not made of tables that list the same pairs"):
        Proof(claim).infer("privacy-profile", (), {"pair": 0, "delta": True})


def test_both_orders_have_no_curve_of_listed_pairs_and_one_wants_no_premise():
    for order, wrong in (("", Rejected), ("reverse", CertificateError)):
        proof = Proof(Claim(LISTED, parse("1"), None, order=order))
        known = [proof.infer("finite-curve")] if order else []
        with pytest.raises(wrong):
            proof.infer("privacy-profile", (), {"pair": 0, "delta": True}, known)


@pytest.mark.parametrize(("order", "epsilon"), [("one-sided", "log(1 + (exp(1) - 1)/4)"), ("reverse", "-log(3/4 + exp(-1)/4)")])
def test_a_sample_of_laplace_noise_is_exact_in_each_order(order, epsilon):
    sample = Subsample(Part(LAPLACE, ONE), parse("1/4"))
    assert verdict(sample, order, epsilon) == "PROVED"
    assert verdict(sample, order, f"{epsilon} - 1/10**6") == "REFUTED"


def test_noise_on_one_side_of_the_answer_hides_the_removal_of_what_moves_it_up():
    up, down = ({"query": Query(((Fraction(sign),),), "add-remove")} for sign in (1, -1))
    assert known(EXPONENTIAL, "one-sided", **up) == known(EXPONENTIAL, "reverse", **down) == (1, 1)
    assert known(EXPONENTIAL, "reverse", **up)[0] == known(EXPONENTIAL, "one-sided", **down)[0] == float("inf")
    low, high = known(EXPONENTIAL, "one-sided", "1/2", None, **up)
    assert (low, high) == pytest.approx((1 - exp(-0.5),) * 2, rel=1e-9)
    low, high = known(EXPONENTIAL, "reverse", "1/2", None, **up)
    assert (low, high) == pytest.approx((1 - exp(-1),) * 2, rel=1e-9)


def test_where_no_query_tells_how_a_record_moves_the_answer_that_it_may_is_assumed():
    found = verify(Claim(EXPONENTIAL, num(5), num(Fraction(1, 2)), sensitivity=ONE, order="one-sided"), 12).judgement
    assert found.verdict == "REFUTED"
    assert any("a record may move the answer in the direction that is worst" in line for line in found.assumptions)
    told = verify(
        Claim(EXPONENTIAL, num(5), num(Fraction(1, 2)), query=Query(((ONE.value,),), "add-remove"), order="reverse"), 12
    ).judgement
    assert not any("may move the answer" in line for line in told.assumptions)


def stated(epsilon, delta="0", order="one-sided"):
    return Guarantee("approximate", ((parse(epsilon), parse(delta)),), order)


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_stated_of_one_order_says_nothing_of_the_other_nor_of_both(order):
    other = ORDERS[order == "one-sided"]
    assert verdict(stated("1", order=order), order, "1") == "PROVED"
    assert verdict(stated("1", order=order), other, "100") == "UNKNOWN"
    assert verdict(stated("1", order=order), "", "100") == "UNKNOWN"
    assert verdict(Compose((Part(stated("1", order=order)), Part(LAPLACE, ONE))), "", "100") == "UNKNOWN"
    assert verdict(Compose((Part(stated("1", order=order)), Part(LAPLACE, ONE))), order, "2") == "PROVED"
    assert verdict(stated("1", order=""), order, "1") == "PROVED"


def test_compositions_and_groups_of_one_order():
    two = Compose((repeated(Part(stated("1", "1/100")), num(2)), Part(stated("1/2", "1/50"))))
    assert verdict(two, "one-sided", "5/2", "1/25") == "PROVED"
    assert verdict(two, "one-sided", "2.499", "1/25") == "UNKNOWN"
    three = Group(Part(stated("1", "1/1000")), num(3))
    assert verdict(three, "one-sided", "3", "1/1000*(exp(3) - 1)/(exp(1) - 1)") == "PROVED"
    assert verdict(three, "one-sided", "3", "0.011") == "UNKNOWN"
    assert verdict(Lipschitz(Part(stated("1")), ONE), "one-sided", "5") == "UNKNOWN"


@pytest.mark.parametrize(
    ("order", "epsilon", "delta", "less"),
    [
        ("one-sided", "log(1 + (exp(1) - 1)/4)", "1/400", "1/401"),
        ("reverse", "-log(3/4 + exp(-1)/4)", "1/400/(1/4 + 3/4*exp(1))", "1/1000"),
    ],
)
def test_a_sample_of_what_is_stated_with_a_delta(order, epsilon, delta, less):
    sample = Subsample(Part(stated("1", "1/100", order)), parse("1/4"))
    assert verdict(sample, order, epsilon, delta) == "PROVED"
    assert verdict(sample, order, f"{epsilon} - 1/1000", less) == "UNKNOWN"


def test_a_sample_of_anything_has_an_epsilon_in_the_reverse_order():
    gaussian = Subsample(Part(Radial(parse("exp(-r**2/2)"), L1, ONE), ONE), parse("1/4"))
    assert verdict(gaussian, "reverse", "-log(3/4)") == "PROVED"
    assert verdict(gaussian, "one-sided", "100") == "REFUTED"
    assert verdict(Subsample(Part(stated("1", order="one-sided")), parse("1/4")), "reverse", "-log(3/4)") == "PROVED"


@pytest.mark.parametrize(
    ("mechanism", "more", "same"),
    [
        (LAPLACE, {"sensitivity": ONE}, True),
        (LAPLACE, {"query": Query(((ONE.value,),), "add-remove")}, True),
        (LAPLACE, {"query": Query(((ONE.value, ZERO.value),), "replace")}, False),
        (EXPONENTIAL, {"query": Query(((ONE.value,),), "add-remove")}, False),
        (Table(ROWS), {}, True),
        (LISTED, {}, False),
        (Subsample(Part(LAPLACE, ONE), parse("1/2")), {}, False),
        (Compose((Part(LAPLACE, ONE), Part(LISTED))), {}, False),
        (Group(Part(LAPLACE, query=Query(((ONE.value,),), "add-remove")), num(2)), {}, False),
        (Group(Part(LAPLACE, ONE), num(2)), {}, True),
    ],
)
def test_which_mechanisms_lose_as_much_in_either_order(mechanism, more, same):
    assert either_order(Claim(mechanism, ONE, order="one-sided", **more)) is same


def test_a_lower_bound_of_both_orders_refutes_nothing_of_one():
    claim = Claim(LISTED, parse("log(4)"), order="one-sided")
    fact = Proof(claim).infer("finite-table", (), {"cell": [1, 0, 2]})
    assert kernel.judge(claim, [fact]).verdict == "UNKNOWN"
    assert kernel.judge(Claim(LISTED, parse("log(4)")), [fact]).verdict == "REFUTED"


def test_the_rule_refuses_other_claims_and_forged_evidence():
    two_sided, listed = Claim(LISTED, ONE), Claim(LISTED, ONE, order="one-sided")
    with pytest.raises(Rejected, match="one order of neighbours"):
        Proof(two_sided).infer("one-sided", (), {"side": "lower"})
    with pytest.raises(CertificateError, match="wants a premise"):  # of both orders tables are asked for theirs in both
        Proof(two_sided).infer("one-sided", (), {"side": "upper"})
    with pytest.raises(Rejected, match="one order of neighbours"):
        Proof(listed).infer("one-sided", (), {"side": "both"})
    laplace = Claim(LAPLACE, ONE, sensitivity=ONE, order="one-sided")
    with pytest.raises(CertificateError, match="wants a premise"):
        Proof(laplace).infer("one-sided", (), {"side": "upper"})
    with pytest.raises(CertificateError, match="wants a premise"):
        Proof(laplace).infer("one-sided", (), {"side": "lower"})
    (nothing,) = as_bounds(Proof(laplace).infer("one-sided", (), {"side": "lower", "unknown": [0]}).says)
    assert nothing.value == ZERO, "a part of which nothing is known loses nothing from below"
    with pytest.raises(Rejected, match="states no such"):
        Proof(Claim(stated("1"), ONE, order="one-sided")).infer("one-sided", (), {"side": "upper", "row": 1})
    replaced = Claim(Subsample(Part(LAPLACE, ONE), parse("1/2"), "without_replacement"), ONE, order="one-sided")
    with pytest.raises(Rejected, match="adding or removing a record"):
        Proof(replaced).infer("one-sided", (), {"side": "upper"})


def test_what_tables_lose_alone_is_not_added_up_where_they_list_other_pairs_or_the_same_in_another_order():
    for lists in LISTS[:2] + LISTS[4:5]:
        mechanism = Compose(tuple(Part(Table(ROWS + ROWS[:1], listed)) for listed in lists))
        with pytest.raises(Rejected, match="name different neighbours"):
            Proof(Claim(mechanism, ONE, order="one-sided")).infer("one-sided", (), {"side": "upper"})
        proof = Proof(Claim(mechanism, None, measure=Measure("renyi", None, Fraction(2)), order="one-sided"))
        with pytest.raises(Rejected, match="name different neighbours"):
            proof.infer("added-measures", (), {"side": "upper"}, [proof.infer("finite-measures", (i,)) for i in range(2)])


def test_of_tables_at_one_pair_at_a_time_the_order_that_is_not_looked_at_bounds_nothing():
    for listed, order, fine in (
        (None, "one-sided", False),
        (((1, 0),), "one-sided", False),
        (((1, 0),), "reverse", False),
        (((0, 1), (1, 0)), "reverse", False),
        (((0, 1),), "one-sided", True),
        (((0, 1),), "reverse", True),
        (None, "", True),
    ):
        two = Compose(tuple(Part(Table(rows, listed)) for rows in (ROWS, ROWS[::-1])))
        proof = Proof(Claim(two, None, measure=Measure("renyi", None, Fraction(2)), order=order))
        place = ({"choice": 0},)
        there = proof.infer("added-measures", place, {"side": "upper"}, [proof.infer("finite-measures", (*place, i)) for i in range(2)])
        if fine:
            assert proof.infer("added-measures", (), {"side": "upper", "at": [0]}, [there])
        else:
            with pytest.raises(Rejected, match="one order alone is looked at"):
                proof.infer("added-measures", (), {"side": "upper", "at": [0]}, [there])


def test_a_forged_order_in_a_certificate_is_refused():
    packed = dict(verify(Claim(LISTED, parse("log(3)"), order="one-sided"), 12).certificate)
    assert kernel.check(packed).verdict == "PROVED"
    for order in ("reverse", "both", ""):
        claim = {**packed["claim"], "order": order}
        with pytest.raises((CertificateError, Rejected)):
            kernel.check({**packed, "claim": claim, "claim_sha256": claim_hash(claim)})
    without = {key: value for key, value in packed["claim"].items() if key != "order"}
    with pytest.raises((CertificateError, Rejected)):
        kernel.check({**packed, "claim": without, "claim_sha256": claim_hash(without)})


def test_an_order_goes_through_the_canonical_form():
    for claim in (Claim(LAPLACE, ONE, sensitivity=ONE, order="reverse"), Claim(stated("1"), ONE, order="one-sided")):
        assert from_json(to_json(claim)) == claim


HEAD = '[mechanism]\nkind = "builtin"\nname = "laplace"\nparameters = {{ scale = 1 }}\n[[claim]]\nsensitivity = 1\n{}\n'


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("zcdp = 1\ngdp = 1", "use either gdp or zcdp, not both."),
        ("epsilon = 1\nzcdp = 1", "use either zcdp or epsilon, not both."),
        ("zcdp = 1\ndelta = 0", "zcdp has no delta: claim epsilon and delta in a claim of their own."),
        ('epsilon = 1\norder = "one-sided"\nutility = true', "utility = true stands beside order"),
        ("zcdp = -1", "zcdp = -1 is negative"),
        ("renyi = 2", 'Write it as renyi = { order = 2, epsilon = "1/2" }.'),
        ("renyi = { order = 1, epsilon = 1 }", "has the order 1, which is not above 1."),
        ("renyi = { order = 2, epsilon = 1, delta = 0 }", "is not an order and an epsilon."),
        ('epsilon = 1\norder = "both"', "is not one of one-sided, reverse."),
        (
            'epsilon = 1\norder = "one-sided"\nadjacency = "replace"',
            "is about a record that is added or removed, which the adjacency replace does not do.",
        ),
        ("delta = 0", "epsilon is missing."),
    ],
)
def test_what_is_wrong_with_a_measure_or_an_order_is_said(tmp_path, lines, says):
    path = tmp_path / "claims.toml"
    path.write_text(HEAD.format(lines))
    with pytest.raises(SpecError) as raised:
        read_spec(path)
    assert any(says in fault for fault in raised.value.faults), raised.value.faults


def test_an_audit_of_a_measure_or_of_one_order_is_refused():
    for more in ({"order": "one-sided"}, {"measure": Measure("zcdp", ONE)}):
        with pytest.raises(AuditError, match="both orders of two neighbours"):
            make_plan(Claim(LAPLACE, None if "measure" in more else ONE, sensitivity=ONE, **more))


def test_without_replacement_there_is_no_order(tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text(
        '[mechanism]\nkind = "subsample"\nrate = "1/2"\nscheme = "without_replacement"\n[mechanism.part]\nkind = "guarantee"\nepsilon = 1\n'
        '[[claim]]\nepsilon = 1\norder = "one-sided"\n'
    )
    with pytest.raises(SpecError, match="which the adjacency replace does not do"):
        read_spec(path)


@pytest.mark.wide
def test_what_would_help_is_said_where_no_upper_bound_is_known():
    gaussian = Translation(parse("exp(-z**2/2)"), integers=True)
    found = verify(Claim(gaussian, None, sensitivity=ONE, measure=Measure("gdp", None)), 12)
    assert (found.judgement.verdict, found.judgement.upper) == ("UNKNOWN", None)
    assert any("no upper bound is known in this measure" in reason for reason in found.reasons)

"""What is left of a curve where it stands: behind maps and post-processing, at one pair of neighbours, in parts of several kinds."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import Compose, Group, Lipschitz, Part, PostProcess, Query, Table, Translation

F = Fraction
LAPLACE = Translation(parse("exp(-abs(z))"))
NOISE = Part(LAPLACE, ONE)
WARNER = Part(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))))


def less(epsilon):
    return arb(0.5) - epsilon / 8


def more(epsilon):
    return 1 - epsilon / 8


ONE_WAY = Pair(less, more)
EXACT = Curve(ONE_WAY, ONE_WAY, ("rule",), ("assumed",))
LOOSE = Curve(symmetric(more), ONE_WAY, ("rule",))
ABOVE = Curve(ONE_WAY, None, ("rule",))


def asked(row, adjacency="add-remove"):
    return Part(LAPLACE, query=Query((tuple(map(F, row)),), adjacency))


def at_one_pair(sensitivity="1"):
    return OnePair(LAPLACE, parse(sensitivity))


# -- one run -----------------------------------------------------------------------------------------


def test_a_rule_about_noise_has_noise():
    assert settled.additive(Run(NOISE), "rule") is LAPLACE
    with pytest.raises(Rejected, match="additive noise"):
        settled.additive(Run(WARNER), "rule")


@pytest.mark.parametrize(("factor", "occurs"), [("1", True), ("2", True), ("3/2", False), ("1/2", False)])
def test_neighbours_that_do_not_occur_have_no_lower_bound(factor, occurs):
    found = settled.single(Run(WARNER, parse(factor)), EXACT)
    assert found.upper is EXACT.upper and (found.lower is EXACT.lower if occurs else found.lower is None)


def test_behind_a_map_that_may_exchange_the_neighbours_the_upper_pair_is_the_worse_of_both_orders():
    run = Run(NOISE, mapped=True)
    for found in (settled.single(run, EXACT), settled.several((Run(WARNER), run), EXACT), settled.in_either_order(EXACT)):
        assert found.lower is EXACT.lower and not found.exact
        for epsilon in (arb(0), arb(1)):
            assert found.upper.forward(epsilon) == found.upper.backward(epsilon) == more(epsilon)
    assert settled.single(Run(NOISE), EXACT) is settled.several((Run(NOISE), Run(WARNER)), EXACT) is EXACT
    even = symmetric(more)
    both = Curve(even, even, ("rule",))
    assert settled.single(run, both).exact and settled.single(run, both).upper is even
    other = Curve(Pair(more, less), symmetric(less), ("rule",))
    assert settled.in_either_order(other).upper.forward(arb(1)) == more(arb(1))
    nothing = Curve(None, ONE_WAY, ("rule",))
    assert settled.single(run, nothing) == nothing


def test_at_one_pair_of_neighbours_the_pair_at_the_shift_bounds_from_above_in_its_order():
    run = Run(at_one_pair())
    assert settled.noise(run, LOOSE, {}, one_way=True).exact
    assert settled.noise(run, LOOSE, {}, one_way=True).upper is ONE_WAY
    assert settled.noise(run, LOOSE, {}).upper is LOOSE.upper
    assert settled.noise(run, ABOVE, {}, one_way=True).upper is ABOVE.upper
    for part in (NOISE, asked((1,)), asked((1, 2), "l2")):
        assert settled.noise(Run(part), LOOSE, {}, one_way=True).upper is LOOSE.upper


def test_where_the_shift_is_not_known_exactly_its_pair_bounds_from_below_alone(monkeypatch):
    known = settled.reach(Run(at_one_pair()))
    assert known.exact
    monkeypatch.setattr(settled, "reach", lambda run: type(known)(num(2), ONE))
    assert settled.noise(Run(at_one_pair()), LOOSE, {}, one_way=True).upper is LOOSE.upper


# -- precisions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [True, "128", 10**9, 0, -64, 64.0, None])
def test_the_precision_of_a_part_is_a_number_of_bits(bits):
    with pytest.raises(CertificateError, match="precision of a part"):
        settled.noise(Run(NOISE), LOOSE, {"prec": bits})


def test_profiles_are_evaluated_once_at_no_more_than_their_precision():
    seen = []

    def profile(name):
        return lambda epsilon: seen.append((name, ctx.prec)) or less(epsilon)

    found = settled.noise(Run(NOISE), Curve(Pair(profile("a"), profile("b")), Pair(profile("c"), profile("d")), ("rule",)), {"prec": 96})
    with precision(256):
        for _ in range(2):
            assert found.upper.forward(arb(1)).overlaps(less(arb(1))) and found.upper.backward(arb(1)).overlaps(less(arb(1)))
            assert found.lower.forward(arb(1)).overlaps(less(arb(1))) and found.lower.backward(arb(1)).overlaps(less(arb(1)))
        assert seen == [(name, 96) for name in "abcd"]
        assert found.upper.forward(arb(2)).overlaps(less(arb(2))) and seen[-1] == ("a", 96)
        wide = arb(1).union(arb(2))
        assert found.upper.forward(wide).contains(less(arb(1.5))) and found.upper.forward(wide).contains(less(arb(1)))
    with precision(64):
        found.upper.forward(arb(1))
        assert seen[-1] == ("a", 64)


def test_a_limited_precision_keeps_what_is_exact_even_and_unknown():
    told = {"prec": 96}
    assert settled.noise(Run(NOISE), EXACT, told).exact
    even = settled.noise(Run(NOISE), LOOSE, told)
    assert not even.exact and even.upper.forward is even.upper.backward and even.lower.forward is not even.lower.backward
    with precision(64):
        assert even.upper.forward(arb(1)) == more(arb(1)) and even.lower.forward(arb(1)) == less(arb(1))
        assert even.lower.backward(arb(1)) == more(arb(1))
    assert settled.noise(Run(NOISE), ABOVE, told).lower is None
    assert settled.noise(Run(NOISE), Curve(None, ONE_WAY, ("rule",)), told).upper is None


# -- all that a run comes to ------------------------------------------------------------------------------


def all_of(*parts):
    return Run(Part(Compose(parts)))


def test_a_run_is_looked_at_where_what_it_comes_to_shows_where_it_stands():
    assert settled.together(Run(NOISE), EXACT) == EXACT
    assert settled.together(Run(Part(Group(NOISE, num(2)))), EXACT).upper is EXACT.upper
    for run in (Run(NOISE, mapped=True), Run(NOISE, own=True), Run(NOISE, processed=True), Run(NOISE, times=2)):
        with pytest.raises(Rejected, match="behind a map or in a group"):
            settled.together(run, EXACT)


def test_what_is_post_processed_has_no_lower_bound_and_says_so():
    processed = Part(PostProcess(NOISE))
    for run in (Run(processed), all_of(processed, WARNER)):
        found = settled.together(run, LOOSE)
        assert found.upper is LOOSE.upper and found.lower is None
        assert found.rules == ("rule", settled.POST_PROCESSED) and found.assumed == (settled.KEPT_APART,)
    assert settled.together(all_of(NOISE, WARNER), EXACT).rules == ("rule",)


@pytest.mark.parametrize("jointly", [True, False])
def test_parts_that_share_their_neighbours_are_at_the_worst_of_each_only_where_all_are_looked_at_together(jointly):
    for parts, shared in (((asked((1, 0)), asked((0, 1))), True), ((asked((1, 0)), asked((0, 1, 0))), False), ((NOISE, WARNER), False)):
        found = settled.together(all_of(*parts), EXACT, jointly)
        assert found.upper is EXACT.upper and (found.lower is None) is (shared and not jointly)
        assert jointly or settled.together(all_of(*parts), EXACT) == found


def test_parts_at_distances_that_do_not_occur_have_no_lower_bound_together():
    further = Part(Lipschitz(Part(Compose((NOISE, WARNER))), parse("3/2")))
    assert settled.together(Run(further), EXACT).lower is None
    assert settled.together(Run(Part(Lipschitz(Part(Compose((NOISE, WARNER))), num(2)))), EXACT).lower is EXACT.lower


def test_tables_of_the_same_inputs_have_the_same_neighbours():
    def table(*adjacent):
        return Part(Table((*WARNER.mechanism.rows, WARNER.mechanism.rows[0]), adjacent=adjacent))

    settled.together(all_of(table((0, 1)), table((0, 1))), EXACT)
    with pytest.raises(Rejected, match="different neighbours"):
        settled.together(all_of(table((0, 1)), table((1, 2))), EXACT)
    settled.together(all_of(table((0, 1)), Part(Group(table((1, 2)), ONE))), EXACT)


def test_what_nothing_connects_is_taken_to_occur_at_once():
    alone, several = (settled.together(run, EXACT) for run in (Run(NOISE), all_of(NOISE, Part(LAPLACE, num(2)))))
    assert not alone.below and several.below

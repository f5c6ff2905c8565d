"""What combinators come to: runs, their counts, neighbours and distances."""

from fractions import Fraction

import pytest

from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.combinators.relations import adjacency_faults
from dpverify.trusted.combinators.runs import MOST_TIMES, Run, leaf, merged, reach
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import (
    L1,
    Compose,
    Group,
    KaryResponse,
    Kernel,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Query,
    Radial,
    Staircase,
    Subsample,
    Table,
    repeated,
)

NOISE = Radial(parse("exp(-r)"), L1, num(1))
LAPLACE = Part(NOISE, num(1))
HALF = parse("1/2")


def times(part, count):
    return repeated(Part(part.mechanism, part.sensitivity, part.query, part.adjacency), num(count))


def counts(mechanism):
    return [(run.factor, run.times, run.processed) for run in merged(Part(mechanism))]


def test_equal_runs_are_counted_together_and_counts_multiply():
    inner = repeated(Part(Compose((times(LAPLACE, 3), LAPLACE))), num(5))
    assert counts(Compose((inner, LAPLACE))) == [(num(1), 21, False)]


def test_maps_and_groups_multiply_and_keep_to_their_part():
    mapped = Part(Lipschitz(Part(Group(LAPLACE, num(6))), HALF))
    assert counts(Compose((mapped, LAPLACE))) == [(num(3), 1, False), (num(1), 1, False)]


def test_post_processing_marks_what_it_sees_and_no_other_part():
    seen = Part(PostProcess(Part(Compose((LAPLACE, LAPLACE)))))
    assert counts(Compose((seen, LAPLACE))) == [(num(1), 2, True), (num(1), 1, False)]


def test_samples_and_parallel_parts_are_single_runs():
    for mechanism in (Subsample(LAPLACE, HALF), Parallel((LAPLACE, LAPLACE))):
        [run] = merged(Part(mechanism))
        assert run.part.mechanism is mechanism and run.times == 1


@pytest.mark.parametrize("count", ["0", "-1", "1/2", "k", str(MOST_TIMES + 1)])
def test_what_is_no_count_is_rejected(count):
    with pytest.raises(Rejected):
        merged(Part(Compose((repeated(Part(NOISE, num(1)), parse(count)),))))


def test_distances_grow_with_the_factor():
    with precision(80):
        assert reach(Run(LAPLACE, parse("5/2"))).upper == parse("5/2")
        asked = Part(NOISE, None, Query(((Fraction(2), Fraction(3)),), "add-remove"))
        assert reach(Run(asked, num(2))).upper == num(6)
        found = leaf(Run(asked, num(2)))
        assert (found.sensitivity, found.query) == (None, Query(((Fraction(4), Fraction(6)),), "add-remove"))
        assert leaf(Run(LAPLACE, HALF)).sensitivity == HALF
        assert leaf(Run(Part(Staircase(num(1), HALF)), num(2))).sensitivity == num(2)


def test_neighbours_of_neighbours_in_a_table_are_all_inputs_so_many_steps_apart():
    rows = tuple(tuple(map(num, row)) for row in ((1, 0), (1, 0), (1, 0), (1, 0)))
    chain = Part(Table(rows, ((0, 1), (1, 2), (2, 3))))
    with precision(80):
        two, three = (leaf(Run(chain, num(steps))).mechanism.adjacent for steps in (2, 3))
        between = leaf(Run(chain, parse("3/2"))).mechanism.adjacent
    assert set(two) == {(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)} == set(between)
    assert set(three) == set(two) | {(0, 3)}


def test_a_table_whose_inputs_are_all_neighbours_stays_as_it_is():
    for mechanism in (Table(((num(1),), (num(1),))), KaryResponse(num(3), HALF)):
        with precision(80):
            assert leaf(Run(Part(mechanism), num(7))).mechanism == mechanism


def test_a_part_of_unknown_distance_has_no_group():
    unknown = Part(Kernel(parse("1"), (num(0), num(1)), (num(0), num(1))))
    with precision(80), pytest.raises(Undecided):
        leaf(Run(unknown, num(2)))


# -- neighbours


def part(adjacency):
    return Part(NOISE, num(1), adjacency=adjacency)


@pytest.mark.parametrize(
    ("mechanism", "stated"),
    [
        (Compose((part("add-remove"), part("replace"))), ""),
        (Compose((part("add-remove"),)), "replace"),
        (Subsample(part("replace"), HALF), ""),
        (Subsample(part("add-remove"), HALF, "without_replacement"), ""),
        (Subsample(LAPLACE, HALF), "replace"),
        (Compose((Part(Subsample(LAPLACE, HALF)), Part(Subsample(LAPLACE, HALF, "without_replacement")))), ""),
        (Group(Part(Lipschitz(Part(Subsample(part("l1"), HALF)), num(2))), num(2)), ""),
        (Parallel((LAPLACE, LAPLACE)), "replace"),
        (Parallel((part("replace"), LAPLACE)), ""),
        (Compose((Part(Parallel((LAPLACE,))), Part(Subsample(LAPLACE, HALF, "without_replacement")))), ""),
        (Subsample(Part(NOISE, None, Query(((Fraction(1),),), "replace")), HALF), ""),
    ],
)
def test_neighbours_of_two_kinds_are_rejected_at_every_depth(mechanism, stated):
    assert any("adjacency" in fault for fault in adjacency_faults(mechanism, stated))


@pytest.mark.parametrize(
    ("mechanism", "stated", "found"),
    [
        (Compose((LAPLACE, LAPLACE)), "", ""),
        (Compose((part("replace"), LAPLACE)), "", "replace"),
        (Subsample(part("add-remove"), HALF), "add-remove", "add-remove"),
        (Subsample(LAPLACE, HALF, "without_replacement"), "", "replace"),
        (Parallel((part("add-remove"), LAPLACE)), "", "add-remove"),
    ],
)
def test_neighbours_of_one_kind_are_named(mechanism, stated, found):
    assert not list(adjacency_faults(mechanism, stated))
    assert list(stated_adjacencies(mechanism, stated)) == [found] * bool(found)

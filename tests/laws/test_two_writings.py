"""Two writings, one answer: the same mechanism written twice has enclosures that meet, in every measure, and no verdicts that contradict.

The writings, and why they are of one mechanism, are in `tests/writings.py`. No value is known here: what one writing proves is held against
what another proves. A rule that forgets a count, a sensitivity, a row or an order says something else of the writing where it forgets.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from random import Random
from typing import Any

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.report.answers import judged
from tests import writings
from tests.writings import Table, Writing

DIGITS = 6
ASKED: tuple[Table, ...] = (
    {"epsilon": "tight"},
    {"epsilon": "tight", "delta": "1/10"},
    {"epsilon": "1/4", "delta": "tight"},
    {"zcdp": "tight"},
    {"gdp": "tight"},
    {"renyi": {"order": 2, "epsilon": "tight"}},
    {"renyi": {"order": "3/2", "epsilon": "tight"}},
    {"epsilon": 0, "delta": "tight"},
    {"epsilon": "tight", "delta": "1/1000"},
    {"renyi": {"order": 5, "epsilon": "tight"}},
)
ORDERS = ("one-sided", "reverse")


# -- what is asked -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What is said of a writing: the verdict on the claim, and what the tight value lies between."""

    verdict: str
    lower: Decimal | None
    upper: Decimal | None


class OutOfTime(BaseException):
    """A claim took more than its share."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after so many seconds of this process's own time, where the system can: no claim may use up the run."""
    if not seconds or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        yield
        return

    def end(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except SystemError as error:  # raised inside a function that flint calls
        raise OutOfTime from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def tell(writing: Writing, asked: Mapping[str, Any], seconds: float = 0) -> Told | None:
    """What is said of a writing, None where time ran out. Whatever is raised is a fault: of the writings, or of the code."""
    data = {"mechanism": writing.mechanism, "claim": [{**writing.claim, **asked}]}
    try:
        with at_most(seconds):
            answer = judged(read_tables("writing", data).claims[0], DIGITS)
    except OutOfTime:
        return None
    known = answer.measure if answer.claim.measure else answer.delta if answer.claim.delta is None else answer.epsilon
    return Told(answer.verdict, known.lower, known.upper)


def at(asked: Mapping[str, Any], value: Decimal) -> Table:
    """What is asked, with a number in place of "tight"."""
    if "renyi" in asked:
        return {**asked, "renyi": {**asked["renyi"], "epsilon": str(value)}}
    return {key: str(value) if said == "tight" else said for key, said in asked.items()}


def ordered(asked: Table, order: str, ways: Sequence[Writing]) -> Table:
    """What is asked, of one order of neighbours, where the writings let a claim name one."""
    text = str([(way.mechanism, way.claim) for way in ways])
    plain = not any(word in text for word in ("'replace'", "without_replacement", "'adjacency': 'l", "'increasing'", "'decreasing'"))
    return {**asked, "order": order} if order and plain else asked


# -- the law -------------------------------------------------------------------------------------------


def contradict(one: Told, other: Told) -> bool:
    """Whether one tight value cannot lie where both say, or one verdict is the opposite of the other."""
    above = one.lower is not None and other.upper is not None and one.lower > other.upper
    below = other.lower is not None and one.upper is not None and other.lower > one.upper
    return above or below or {one.verdict, other.verdict} == {"PROVED", "REFUTED"}


def hold(ways: Sequence[Writing], asked: Table, near: str = "", seconds: float = 0) -> int:
    """That all writings say the same of what is asked, and of a claim just above or below the tight value. The pairs that were held."""
    told = [(way, tell(way, asked, seconds)) for way in ways]
    held = same(told, asked)
    lowers = [said.lower for _, said in told if said is not None and said.lower is not None]
    uppers = [said.upper for _, said in told if said is not None and said.upper is not None]
    value = None
    if near == "above" and uppers and min(uppers).is_finite():
        value = min(uppers) * Decimal("1.0001") + Decimal("1e-9")
    elif near == "below" and lowers and max(lowers).is_finite() and max(lowers) > Decimal("1e-6"):
        value = max(lowers) * Decimal("0.9999")
    if value is not None and not (asked.get("delta") == "tight" and value > 1):
        claimed = at(asked, value)
        held += same([(way, tell(way, claimed, seconds)) for way in ways], claimed)
    return held


def same(told: Sequence[tuple[Writing, Told | None]], asked: Table) -> int:
    """That no two answers contradict each other. How many pairs there were."""
    known = [(way, said) for way, said in told if said is not None]
    for (first, one), (second, other) in combinations(known, 2):
        both = f"{first.mechanism} {first.claim}\n  {one}\n{second.mechanism} {second.claim}\n  {other}"
        assert not contradict(one, other), f"{asked}\n{both}"
    return len(known) * (len(known) - 1) // 2


# -- classes of writings ------------------------------------------------------------------------------

QUICK = (writings.laplace, writings.gaussian, writings.discrete_laplace, writings.bounded_integers, writings.uniform)


def leaves(rng: Random) -> list[Writing]:
    """One noise or table, in its own writings and under combinators that do nothing."""
    node = writings.leaf(rng, writings.LAWS)
    return [writings.written(rng, node, much) for much in (0, 0.9, 0.9)]


def trees(depth: int, laws: Sequence[Callable[[Random], writings.Law]]) -> Callable[[Random], list[Writing]]:
    """Combinators nested so deep, written with a rewriting here and there."""

    def some(rng: Random) -> list[Writing]:
        node = writings.tree(rng, depth, laws)
        return [writings.written(rng, node, much) for much in (0, 0.5, 0.7)]

    return some


FAMILIES = {
    **writings.FAMILIES,
    "leaves": leaves,
    "one_combinator": trees(1, QUICK),
    "two_combinators": trees(2, QUICK),
    "tables": trees(2, (writings.laplace,)),
}


def classes(family: str, seeds: Iterable[int]) -> Iterator[tuple[list[Writing], Table, str]]:
    """For each seed some writings of one mechanism, with what is asked of them and on which side of it a claim is put."""
    for seed in seeds:
        rng = Random(f"{family} {seed}")
        ways = FAMILIES[family](rng)
        asked = ASKED[(seed + 3 * sorted(FAMILIES).index(family)) % len(ASKED)]
        yield ways, ordered(asked, rng.choice(["", "", "", *ORDERS]), ways), rng.choice(["above", "below"])


FEW = {
    "derived_sensitivities": (1, 3, 7), "flattened": (2, 3, 4), "guarantees": (2, 7), "guesses": (1,), "kernels": (4, 5),
    "leaves": (0, 2, 5), "mixtures": (3, 6), "norms": (2, 6), "one_combinator": (1, 3), "parameters": (1, 2, 6), "points": (0, 3, 4),
    "samples": (1, 2, 5), "scores": (0, 3), "selections": (1, 3), "stacked_queries": (2, 3), "tables": (0, 1, 5), "thresholds": (2, 3),
    "two_combinators": (3, 4, 6), "wrapped_queries": (2, 3, 6),
}  # fmt: skip
"""Seeds whose answers are quick, every measure among them."""


@pytest.mark.sampled(7)
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_two_writings_of_one_mechanism_have_one_answer(family):
    assert sum(hold(ways, asked, near) for ways, asked, near in classes(family, FEW[family]))


@pytest.mark.deep
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_many_writings_of_one_mechanism_have_one_answer(family, part):
    pairs = sum(hold(ways, asked, near, seconds=2) for ways, asked, near in classes(family, range(100 + 8 * part, 108 + 8 * part)))
    assert pairs >= 16, "hardly anything was held against anything"


def greatest(ends: Sequence[Decimal | None]) -> Decimal | None:
    known = [end for end in ends if end is not None]
    return max(known, default=None)


def hold_orders(way: Writing, asked: Table, seconds: float = 0) -> int:
    """That a claim on both orders of neighbours has the greater of the values on each order. 1 where that was asked, else 0."""
    both, *each = [tell(way, {**asked, **({"order": order} if order else {})}, seconds) for order in ("", *ORDERS)]
    if both is None or None in each:
        return 0
    alone = [said for said in each if said is not None]
    upper = greatest([said.upper for said in alone]) if all(said.upper is not None for said in alone) else None
    lower = greatest([said.lower for said in alone])
    found = Told("UNKNOWN", lower, upper)
    assert not contradict(Told("UNKNOWN", both.lower, both.upper), found), f"{way.mechanism} {way.claim} {asked}\n  {both}\n  {alone}"
    return 1


ONE_WAY = ("flattened", "leaves", "tables", "two_combinators", "wrapped_queries")


def one_way(family: str, seeds: Iterable[int]) -> Iterator[tuple[Writing, Table]]:
    """Writings that a claim can ask one order of."""
    for seed in seeds:
        rng = Random(f"orders {family} {seed}")
        ways = FAMILIES[family](rng)
        if "order" in ordered({}, "reverse", ways):
            yield rng.choice(ways), ASKED[seed % len(ASKED)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", ONE_WAY)
def test_a_claim_on_both_orders_has_the_greater_of_the_two(family):
    assert sum(hold_orders(way, asked) for way, asked in one_way(family, range(3)))


@pytest.mark.deep
@pytest.mark.parametrize("family", ONE_WAY)
def test_many_claims_on_both_orders_have_the_greater_of_the_two(family):
    assert sum(hold_orders(way, asked, seconds=2) for way, asked in one_way(family, range(100, 130))) >= 10


def test_the_same_way_is_up_or_down():
    """Answers that all move the same way move up or down: the guarantee of a threshold is the greater of the two."""
    noise = {"kind": "builtin", "name": "laplace", "scale": 2}
    at = {"kind": "above_threshold", "threshold_noise": noise, "query_noise": noise, "queries": 2, "positives": 1}
    said = {way: tell(Writing({**at, "neighbours": way}, {"sensitivity": 1}), ASKED[0]) for way in ("monotone", "increasing", "decreasing")}
    up, down, both = said["increasing"], said["decreasing"], said["monotone"]
    assert up is not None and down is not None and both is not None
    assert not contradict(Told("", both.lower, both.upper), Told("", greatest([up.lower, down.lower]), greatest([up.upper, down.upper])))


# -- the law can fail ----------------------------------------------------------------------------------

COIN = {"kind": "table", "rows": [["3/4", "1/4"], ["1/2", "1/2"]]}


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_two_mechanisms_are_told_apart(asked):
    """Two runs are not one: the law would not hold a rule that forgets the second."""
    once, twice = Writing(COIN, {}), Writing({"kind": "compose", "part": {**COIN, "times": 2}}, {})
    with pytest.raises(AssertionError):
        hold([once, twice], asked)


@pytest.mark.parametrize("asked", [one for one in ASKED if "epsilon" not in one], ids=str)
def test_a_part_in_parallel_runs_as_often_as_it_says(asked):
    twice = {**COIN, "times": 2}
    assert hold([Writing({"kind": "parallel", "parts": [twice, COIN]}, {}), Writing({"kind": "compose", "part": twice}, {})], asked)


def test_a_grid_for_many_atoms_is_of_bounded_size():
    """Noise that nobody can mistake beside a table with many losses: delta is 1, and it takes no gigabytes to say so."""
    apart = {"kind": "translation", "density": "1", "support": [0, 2], "integers": True, "sensitivity": 3}
    rows = [["2/5", 0, "3/5"], ["1/2", "3/10", "1/5"], ["1/3", "1/2", "1/6"]]
    said = tell(Writing({"kind": "compose", "parts": [apart, {"kind": "table", "rows": rows, "times": 2}]}, {}), ASKED[7])
    assert said is not None and said.lower is not None and said.lower > Decimal("0.99999") and said.upper == 1


@pytest.mark.wide
def test_runs_of_a_sample_of_a_map_are_runs():
    """What a map within a sample leaves to be seen is not known: no bound from below, and no crash."""
    part = {"kind": "subsample", "part": {"kind": "post_process", "part": COIN, "map": "the identity"}, "rate": "1/4"}
    twice, written_out = {"kind": "compose", "part": {**part, "times": 2}}, {"kind": "compose", "parts": [part, part]}
    assert hold([Writing(twice, {}), Writing(written_out, {})], {"gdp": "tight"})

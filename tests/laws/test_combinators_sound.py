"""Combinations of finite mechanisms against enumeration in fractions, with honest and with forged evidence."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from itertools import product as cartesian
from typing import Any

import pytest
from flint import arb
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, Num, call, num
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    Claim,
    Combinator,
    Compose,
    Group,
    KaryResponse,
    Lipschitz,
    Parallel,
    Part,
    PostProcess,
    Repeat,
    Subsample,
    Table,
    all_parts,
    repeated,
)
from dpverify.trusted.kernel.registry import CURVES, RULES
from dpverify.trusted.order.enclosed import enclose
from tests.effort import examples
from tests.proofs import Step, bound, certified

Pair = tuple[tuple[Fraction, Fraction], ...]
"""P and Q of each output, the one with the record first, outputs of one likelihood ratio together."""

MOST = 150
QUICK = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


# -- mechanisms --------------------------------------------------------------------------------------


@st.composite
def tables(draw: Any) -> Part:
    count, width = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 5), min_size=width, max_size=width).filter(any)
    rows = tuple(tuple(num(Fraction(w, sum(row))) for w in row) for row in (draw(weights) for _ in range(count)))
    return Part(Table(rows, tuple(pairwise(range(count))) if draw(st.booleans()) else None))


responses = st.builds(lambda k, p: Part(KaryResponse(num(k), num(Fraction(p, 10)))), st.integers(2, 4), st.integers(0, 10))
times = st.sampled_from([1, 1, 2, 3])
small = st.sampled_from([1, 2])


def combined(below: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
    one = st.builds(lambda part, count: repeated(part, num(count)), below, times)
    several = st.lists(one, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        several.map(lambda parts: Part(Compose(parts))),
        st.builds(lambda part, rate: Part(Subsample(part, num(Fraction(rate, 10)))), one, st.integers(0, 10)),
        st.builds(lambda part, size: Part(Group(part, num(size))), one, small),
        st.builds(lambda part, size: Part(Lipschitz(part, num(size))), one, small),
        st.lists(one, min_size=1, max_size=2).map(lambda parts: Part(Parallel(tuple(parts)))),
        one.map(lambda part: Part(PostProcess(part))),
    )


shallow = st.one_of(tables(), responses).flatmap(lambda part: combined(st.just(part)))
trees = st.recursive(st.one_of(tables(), responses), combined, max_leaves=4).filter(lambda part: isinstance(part.mechanism, Combinator))


# -- the truth ---------------------------------------------------------------------------------------


def pair(outputs: Iterable[tuple[Fraction, Fraction]]) -> Pair:
    together: dict[Any, tuple[Fraction, Fraction]] = {}
    for p, q in outputs:
        if p or q:
            x, y = together.get(p / q if q else None, (Fraction(0), Fraction(0)))
            together[p / q if q else None] = (x + p, y + q)
    return tuple(sorted(together.values()))


SAME = pair([(Fraction(1), Fraction(1))])


def product(left: list[Pair], right: list[Pair]) -> list[Pair]:
    assume(len(left) * len(right) <= MOST)
    return list(dict.fromkeys(pair((p * x, q * y) for p, q in a for x, y in b) for a in left for b in right))


Pairs = dict[int, tuple[int, int]]
"""For tables by their number of rows, the one pair of inputs that all of them are run on."""


def neighbours(part: Part, steps: int = 1) -> list[Pair]:
    """The outputs on all neighbours `steps` steps apart: one pair of inputs for all tables with as many rows.

    But what is in a group or behind a map that other parts are not in, or in parallel, is at neighbours of its own.
    """
    linked: dict[int, list[Any]] = {}
    top = collect(part, linked, steps, True)
    spaces = sorted(linked)
    options = []
    for count in spaces:
        near = beside(count, tuple(pair for mechanism in linked[count] for pair in listed(mechanism)[1]))
        reached = within(near, top)
        options.append([(a, b) for a in near for b in reached[a]])
    ways = [dict(zip(spaces, chosen, strict=True)) for chosen in cartesian(*options)]
    assume(len(ways) <= 40)
    return list(dict.fromkeys(one for pairs in ways for one in outputs(part, steps, pairs, True)))


def within(near: dict[int, set[int]], steps: int) -> dict[int, set[int]]:
    reached = {a: {a} for a in near}
    for _ in range(steps):
        reached = {a: set().union(*(near[b] for b in found)) for a, found in reached.items()}
    return reached


def collect(part: Part, linked: dict[int, list[Any]], steps: int, top: bool) -> int:
    """The tables that share their inputs, and how many steps apart these are."""
    mechanism = part.mechanism
    if isinstance(mechanism, Compose):
        for inner in mechanism.parts:
            collect(inner, linked, steps, False)
    elif isinstance(mechanism, Group | Lipschitz) and top:
        return collect(mechanism.part, linked, steps * size_of(mechanism), True)
    elif isinstance(mechanism, PostProcess):
        return collect(mechanism.part, linked, steps, top)
    elif isinstance(mechanism, Repeat) or (isinstance(mechanism, Subsample) and (top or mechanism.rate == ONE)):
        collect(mechanism.part, linked, steps, False)  # in a sample that other parts are not in, the inputs are those of the sample
    elif isinstance(mechanism, Table):
        linked.setdefault(len(mechanism.rows), []).append(mechanism)
    return steps


def size_of(mechanism: Any) -> int:
    return int(exact(enclose(mechanism.size if isinstance(mechanism, Group) else mechanism.constant, 64)))


def outputs(part: Part, steps: int, pairs: Pairs | None, top: bool) -> list[Pair]:
    """The outputs at a pair of inputs; on all neighbours where no pair is given."""
    mechanism, found = part.mechanism, [SAME]
    if isinstance(mechanism, Compose):
        for inner in mechanism.parts:
            found = product(found, outputs(inner, steps, pairs, False))
    elif isinstance(mechanism, Parallel):
        found = splits(mechanism.parts, steps)
    elif isinstance(mechanism, Group | Lipschitz):
        found = outputs(mechanism.part, steps * size_of(mechanism), pairs if top else None, top)
    elif isinstance(mechanism, Repeat):
        found = one = outputs(mechanism.part, steps, pairs, False)
        for _ in range(int(exact(enclose(mechanism.times, 64))) - 1):
            found = product(found, one)
    elif isinstance(mechanism, PostProcess):
        found = outputs(mechanism.part, steps, pairs, top)
    elif isinstance(mechanism, Subsample):
        rate, same = mechanism.rate.value, steps == 1 and (top or mechanism.rate == ONE)
        inside = outputs(mechanism.part, 1, pairs if same else None, False)
        found = [pair(((1 - rate) * q + rate * p, q) for p, q in one) for one in inside]
        if steps > 1 and not isinstance(mechanism.part.mechanism, Combinator):
            found += two_records(mechanism.part.mechanism, rate)
    else:
        rows, adjacent = listed(mechanism)
        if pairs is not None and isinstance(mechanism, Table):
            a, b = pairs[len(rows)]
            found = [pair(zip(rows[a], rows[b], strict=True))]
        else:
            reached = within(beside(len(rows), adjacent), steps)
            found = list(dict.fromkeys(pair(zip(rows[a], rows[b], strict=True)) for a in reached for b in reached[a]))
    return found


def beside(count: int, adjacent: tuple[tuple[int, int], ...]) -> dict[int, set[int]]:
    return {a: {a} | {b for pair in adjacent for b in pair if a in pair} for a in range(count)}


def two_records(mechanism: Any, rate: Fraction) -> list[Pair]:
    """A sample with two records more, which make row c of a, each alone row b; and with one or the other of two."""
    rows, adjacent = listed(mechanism)
    near, miss, found = beside(len(rows), adjacent), 1 - rate, []
    for a, b, c in [(x, y, z) for x in near for y in near[x] for z in near[y]]:
        of = list(zip(rows[a], rows[b], rows[c], strict=True))
        found.append(pair((miss**2 * x + 2 * miss * rate * y + rate**2 * z, x) for x, y, z in of))
        found.append(pair((miss * y + rate * x, miss * y + rate * z) for x, y, z in of))
    return found


def splits(parts: tuple[Part, ...], steps: int) -> list[Pair]:
    """Of records in several parts at once, every way to share them out."""
    if not parts:
        return [SAME]
    found = [product(outputs(parts[0], k, None, False) if k else [SAME], splits(parts[1:], steps - k)) for k in range(steps + 1)]
    return list(dict.fromkeys(one for some in found for one in some))


def listed(mechanism: Any) -> tuple[list[list[Fraction]], tuple[tuple[int, int], ...]]:
    if isinstance(mechanism, KaryResponse):
        k, p = int(mechanism.k.value), mechanism.p.value
        return [[p if x == y else (1 - p) / (k - 1) for y in range(k)] for x in range(k)], tuple(permutations(range(k), 2))
    rows = [[entry.value for entry in row] for row in mechanism.rows]
    return rows, mechanism.adjacent or tuple(permutations(range(len(rows)), 2))


def divergence(pairs: Iterable[Pair], factor: Fraction) -> Fraction:
    """The greatest of sum (p - factor q)_+ over the pairs, in both orders."""
    both = [order for one in pairs for order in (one, [(q, p) for p, q in one])]
    return max(sum((max(Fraction(0), p - factor * q) for p, q in one), Fraction(0)) for one in both)


def sampled(part: Part) -> bool:
    return any(isinstance(inner.mechanism, Subsample) for inner in (part, *all_parts(part.mechanism)))


# -- evidence ----------------------------------------------------------------------------------------


@st.composite
def grids(draw: Any, parts: int) -> dict[str, Any]:
    spacing, reach = Fraction(1, draw(st.integers(1, 8))), draw(st.sampled_from([1, 3, 5]))
    width = int(reach / spacing)
    ranges = [draw(st.sampled_from([[-width, width], [0, width], [-width, 0], [-1, 2 * width]])) for _ in range(parts)]
    far = draw(st.sampled_from([None, "40"]))
    return {
        "spacing": str(spacing), "nudge": str(spacing / draw(st.sampled_from([5, 10**6]))), "bits": draw(st.sampled_from([32, 64])),
        "tail": draw(st.sampled_from([8, 30, 60])), "ranges": ranges, **({"far": far} if far else {}),
    }  # fmt: skip


@st.composite
def evidence(draw: Any, part: Part, factor: Any = ONE) -> dict[str, Any]:
    """Evidence of the right form for a part, grids at random."""
    runs = merged(part, factor)
    if len(runs) == 1 and runs[0].times == 1:
        return draw(single(runs[0]))
    below = [draw(single(replace(run, times=1))) for run in runs]
    return {"rule": "loss-distribution", "grid": draw(grids(len(runs))), "reverse": draw(grids(len(runs))), "parts": below}


@st.composite
def single(draw: Any, run: Run) -> dict[str, Any]:
    mechanism = run.part.mechanism
    if isinstance(mechanism, Combinator) and run.factor != ONE:
        epsilon = str(Fraction(draw(st.integers(1, 30)), 10))
        return {"rule": "group-privacy", "epsilon": epsilon, "part": draw(single(replace(run, factor=ONE)))}
    if isinstance(mechanism, Subsample):
        return {"rule": "poisson-subsampling", "part": draw(evidence(mechanism.part))}
    if isinstance(mechanism, Parallel):
        return {"rule": "parallel-composition", "index": "0", "parts": [draw(evidence(inner, run.factor)) for inner in mechanism.parts]}
    return {"rule": "finite-curve", "row": draw(st.integers(0, 1))}


ODD = ["-1", "0", "1", "1/0", "2", "1/3", "10**9", "9" * 40, "", None, True, -1, 0, 1, 10**6, 2**64, [], {}, [[0, 1]], *CURVES]
ODD += [{"part": 0}, {"part": 1}, {"choice": 0}, ONE_STEP, [0], [{"part": 0}], [{"part": 0}, 0], *RULES]


@st.composite
def forged(draw: Any, honest: dict[str, Any]) -> dict[str, Any]:
    """Evidence with one or two of its values replaced, doubled, dropped or taken from elsewhere in it."""
    data = copy.deepcopy(honest)
    for _ in range(draw(st.integers(1, 2))):
        places = list(holders(data))
        holder, key = draw(st.sampled_from(places))
        change = draw(st.sampled_from(["odd", "other", "drop", "double"]))
        if change == "drop":
            del holder[key]
        elif change == "double" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            other, at = draw(st.sampled_from(places))
            holder[key] = draw(st.sampled_from(ODD)) if change == "odd" or at not in list(keys(other)) else copy.deepcopy(other[at])
        assume(isinstance(data, dict) and data)
    return data


def keys(holder: Any) -> Iterable[Any]:
    return holder if isinstance(holder, dict) else range(len(holder))


def holders(data: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(data, dict | list):
        for key in list(keys(data)):
            yield data, key
            yield from holders(data[key])


# -- laws --------------------------------------------------------------------------------------------


def contains_truth(part: Part, found: Iterable[Any], factor: Fraction) -> None:
    truth = divergence(neighbours(part), factor)
    for one in found:
        value: arb = enclose(one.value, 200)
        if one.side == "upper":
            assert exact(value.upper()) >= truth
        else:
            assert exact(value.lower()) <= truth
            assert not isinstance(part.mechanism, PostProcess)


factors = st.integers(10, 80).map(lambda numerator: Fraction(numerator, 10))


def asked(part: Part, factor: Fraction) -> Claim:
    return Claim(part.mechanism, num(0) if factor == 1 else call("log", num(factor)), None)


@QUICK
@given(st.data(), trees, factors)
def test_bounds_contain_the_truth_whatever_the_grid(data, part, factor):
    neighbours(part)
    proof = {"curve": data.draw(evidence(Part(part.mechanism))), "delta": True}
    try:
        found = bound(asked(part, factor), Step("privacy-profile", proof), 80)
    except Rejected:
        return  # such as a group of parallel parts
    contains_truth(part, found, factor)


@pytest.mark.wide
@QUICK
@given(st.data(), tables(), st.integers(1, 10), st.integers(10, 40).map(lambda numerator: Fraction(numerator, 10)))
def test_groups_of_samples_contain_the_truth(data, part, rate, factor):
    group = Part(Group(Part(Subsample(part, num(Fraction(rate, 10)))), num(2)))
    proof = {"curve": data.draw(evidence(group)), "delta": True}
    contains_truth(group, bound(asked(group, factor), Step("privacy-profile", proof), 80), factor)


@pytest.mark.wide
@QUICK
@given(st.data(), trees, factors)
def test_forged_evidence_is_refused_or_true(data, part, factor):
    neighbours(part)
    claim, proof = asked(part, factor), {"curve": data.draw(evidence(Part(part.mechanism))), "delta": True}
    try:
        honest = certified(claim, "UNKNOWN", Step("privacy-profile", proof), prec=80)
        lines = data.draw(forged({"lines": honest["lines"]})).get("lines")
        facts = kernel.replay(unpack({**pack(claim, 80, "UNKNOWN", ()), "lines": lines}))
    except (Rejected, CertificateError):
        return
    found = [each for one in facts if not one.place for each in as_bounds(one.says)]
    contains_truth(part, [each for each in found if each.quantity == "delta"], factor)


@pytest.mark.parametrize("below", [0, 1])
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(part=shallow, factor=factors, places=st.sampled_from([3, 9, 15]))
def test_the_exact_delta_is_not_refuted_and_less_is_not_proved(part, factor, places, below):
    truth = divergence(neighbours(part), factor) - below * Fraction(1, 10**places)
    assume(truth >= 0 and not sampled(part))
    verdict = verify(replace(asked(part, factor), delta=Num(truth)), digits=4).judgement.verdict
    assert verdict != ("PROVED" if below else "REFUTED")

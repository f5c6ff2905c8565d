"""Streams and selections that tell numbers, on integers between bounds, against all noises in fractions (theory: selection.md)."""

import itertools
import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpverify.audits.declared import declared
from dpverify.samplers.comparisons import of_noisy_max
from dpverify.search.selection import every_word as searched
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, neg, num, parse
from dpverify.trusted.kernel.model import Branch, Claim, Drawn, Guard, Named, Part, Query, Stream, names_of
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.selection import followed
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import every_word
from dpverify.trusted.theories.selection.rules import every_word_curve as delta_every_word
from tests.rules.test_every_word import EPSILON, KINDS, TWO_MODES, drawn, factor_of, joint, law_of, noise
from tests.selections import largest, of, on_line, sparse

# Each program takes how the answer to a step is asked for, given what has been told, and the noises by name, and tells its outputs.


def above(ask, z, steps=2):
    """The first that is at least a noise that is drawn once and never kept in a state."""
    told = []
    for step in range(steps):
        (x,) = ask(tuple(told))
        told.append("yes" if x + z["z", step] >= z["t"] + 1 else "no")
        if told[-1] == "yes":
            break
    return tuple(told)


ABOVE = Stream(
    ("q",), (Drawn("t", None),), (Drawn("z", None),), (), (Named("found", ONE),),
    (Branch((Guard(parse("q + z - t - 1")),), "yes", count=(Named("found", ONE),)), Branch(emit="no")), num(2),
)  # fmt: skip


def summed(ask, z):
    """The sum of two answers is kept, and told with noise at the end, and which of the first comparisons held."""
    (x,) = ask(())
    first = "up" if x + z["z", 0] > 1 else "down"
    (y,) = ask((first,))
    return first, ("sum", x + y + z["z", 1])


SUMMED = Stream(
    ("q",), (), (Drawn("z", None),), (Named("s", ZERO), Named("i", ZERO)), (),
    (
        Branch((Guard(parse("i - 1")),), "sum", (parse("s + q + z"),)),
        Branch((Guard(parse("q + z - 1"), strict=True),), "up", change=(Named("s", parse("q")), Named("i", ONE))),
        Branch(emit="down", change=(Named("s", parse("q")), Named("i", ONE))),
    ),
    num(2),
)  # fmt: skip


def between(ask, z):
    """Two answers in one step: two comparisons in one branch, and half of a sum that is told."""
    x, y = ask(())
    if x + z["z", 0] >= z["t"] and y - x - z["z", 0] >= 0:
        return (("in", Fraction(x + z["z", 0], 2)),)
    return ("out",)


BETWEEN = Stream(
    ("x", "y"), (Drawn("t", None),), (Drawn("z", None),), (), (),
    (Branch((Guard(parse("x + z - t")), Guard(parse("y - x - z"))), "in", (parse("(x + z)/2"),)), Branch(emit="out")), ONE,
)  # fmt: skip

PROGRAMS = {"above": (above, ABOVE, 1), "summed": (summed, SUMMED, 1), "between": (between, BETWEEN, 2)}


def laws_of(program, laws, steps):
    """The law of the output, for answers after each beginning. laws: by the names of noises; those of steps have a number too."""
    keys = [key for name in laws for key in ([name] if name == "t" else [(name, step) for step in range(steps)])]

    def law(ask):
        found = Counter()
        for values, p in joint(*(laws[key if key == "t" else key[0]] for key in keys)):
            found[program(ask, dict(zip(keys, values, strict=True)))] += p
        return found

    return law


def strategies(starts, size, low, high, moved, kind):
    """All answers of two neighbours after each beginning."""
    near = [(x, y) for x in range(low, high + 1) for y in range(max(low, x - moved), min(high, x + moved) + 1)]
    for pairs in itertools.product(itertools.product(near, repeat=size), repeat=len(starts)):
        steps = [[y - x for x, y in pair] for pair in pairs]
        every = [d for step in steps for d in step]
        up, down, first = all(d >= 0 for d in every), all(d <= 0 for d in every), steps[0]
        others = max(sum(map(bool, step)) for step in steps[1:]) if steps[1:] else 0
        alone = sum(map(bool, first)) + others <= 1
        if {"all": True, "monotone": up or down, "increasing": up, "decreasing": down, "one": alone}[kind]:
            yield tuple(dict(zip(starts, side, strict=True)) for side in ([tuple(p[k] for p in pair) for pair in pairs] for k in (0, 1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_streams_of_any_finite_law(name, kind):
    program, stream, size = PROGRAMS[name]
    pick = random.Random(name + kind)
    masses = {each: drawn(pick.randrange(1000), 3) for each in ("t", "z")}
    laws = {one.name: law_of(masses[one.name]) for one in stream.once + stream.fresh}
    starts = {"above": [(), ("no",)], "summed": [(), ("up",), ("down",)], "between": [()]}[name]
    law, seen = laws_of(program, laws, len(starts[-1]) + 1), {}
    ratio, excess, factor = Fraction(1), Fraction(0), factor_of(EPSILON)
    for pair in strategies(starts, size, 0, 1, 1, kind):
        here, there = (seen.setdefault(key, law(side.__getitem__)) if (key := str(side)) not in seen else seen[key] for side in pair)
        excess = max(excess, sum(max(Fraction(0), p - factor * there[o]) for o, p in here.items()))
        for o, p in here.items():
            ratio = None if ratio is None or not there[o] else max(ratio, p / there[o])
    made = {each: noise(masses[each]) for each in laws}
    mechanism = Stream(
        stream.answers, *(tuple(Drawn(one.name, made[one.name]) for one in some) for some in (stream.once, stream.fresh)),
        stream.state, stream.limits, stream.steps, stream.queries, kind, between=(num(0), num(1)),
    )  # fmt: skip
    (step,) = searched.propose(of(mechanism), 25)
    with precision(192):
        bounds = {bound.side: bound.value for bound in every_word.check(of(mechanism), step["evidence"])}
    if ratio is None:
        assert isinstance(bounds["lower"], Infinite) and "upper" not in bounds
    else:
        for value in bounds.values():
            assert math.isclose(float(value.value), math.log(ratio), abs_tol=1e-12)
        assert len(bounds) == 2
    run = Run(Part(mechanism, num(1)))
    plan = dict(searched.plan(run, float(EPSILON), None, False))
    plan.pop("rule")
    with precision(192):
        found = delta_every_word.infer(run, plan, ())
        below, above = (float(pair.worst(rational(EPSILON))) for pair in (found.lower, found.upper))
    assert math.isclose(below, excess, abs_tol=1e-12)
    assert math.isclose(above, excess, abs_tol=1e-12) or (above >= excess and kind == "monotone")  # the way may hang on what is told


def told_of_max(law, q, report):
    """What is told where of several greatest the first is, with no ties of the index alone."""
    found = Counter()
    for noises, p in joint(*[law] * len(q)):
        sums = [x + z for x, z in zip(q, noises, strict=True)]
        best = sums.index(max(sums))
        lead = max(sums) - max(x for i, x in enumerate(sums) if i != best)
        found[max(sums) if report == "value" else (best, lead)] += p
    return found


def told_of_threshold(laws, q, report):
    """Of two answers, until one is above."""
    found = Counter()
    for (t, *z, w), p in joint(laws["t"], laws["z"], laws["z"], laws["w"]):
        word = []
        for x, each in zip(q, z, strict=True):
            if x + each >= t:
                word.append({"answers+gap": x + each - t, "answers+value": x + each, "fresh": x + w}[report])
                break
            word.append("no")
        found[tuple(word)] += p
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", ["all", "monotone", "one"])
@pytest.mark.parametrize("report", ["value", "index+gap", "answers+gap", "answers+value", "fresh"])
def test_selections_that_tell_numbers(report, kind):
    pick = random.Random(report + kind)
    masses = {each: drawn(pick.randrange(1000), 4) for each in "tzw"}
    winner = report in ("value", "index+gap")
    made = {each: noise(masses[each]) for each in masses}
    if winner:
        ties = "" if report == "value" else "first"
        mechanism = largest(made["z"], 3, neighbours=kind, bounds=(num(0), num(1)), report=report, ties=ties)
    else:
        fresh = made["w"] if report == "fresh" else None
        mechanism = sparse(made["t"], made["z"], 2, neighbours=kind, bounds=(num(0), num(1)), report=report, fresh=fresh)
    laws, factor, seen = {each: law_of(masses[each]) for each in masses}, factor_of(EPSILON), {}

    def law(q):
        if q not in seen:
            seen[q] = told_of_max(laws["z"], q, report) if winner else told_of_threshold(laws, q, report)
        return seen[q]

    excess, infinite = Fraction(0), False
    for q, r in itertools.product(itertools.product((0, 1), repeat=3 if winner else 2), repeat=2):
        d = [y - x for x, y in zip(q, r, strict=True)]
        if {"all": True, "monotone": min(d) >= 0 or max(d) <= 0, "one": sum(map(bool, d)) <= 1}[kind]:
            excess = max(excess, sum(max(Fraction(0), p - factor * law(r)[o]) for o, p in law(q).items()))
            infinite = infinite or any(p and not law(r)[o] for o, p in law(q).items())
    found = verify(of(mechanism))
    assert isinstance(found.judgement.lower, Infinite) == infinite
    run = Run(Part(mechanism, num(1)))
    plan = dict(searched.plan(run, float(EPSILON), None, False))
    plan.pop("rule")
    with precision(192):
        curve = delta_every_word.infer(run, plan, ())
        assert all(abs(float(pair.worst(rational(EPSILON))) - excess) < 1e-12 for pair in (curve.lower, curve.upper))


FAR, ABOVE_ZERO = parse("q + a - t - 5"), parse("q + b - t")
LAPLACE = {scale: on_line(f"exp(-abs(z)/{scale})") for scale in (2, 8, 16)}
BRANCHES = {
    "far": Branch(emit="far", tell=(parse("q + a - t"),), count=(Named("cost", ONE),)),
    "above": Branch(emit="above", tell=(parse("q + b - t"),), count=(Named("cost", num(2)),)),
    "below": Branch(emit="below"),
}
NOT_FAR, NOT_ABOVE = Guard(neg(FAR), strict=True), Guard(neg(ABOVE_ZERO), strict=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "order",
    [
        [("far", Guard(FAR)), ("above", Guard(ABOVE_ZERO)), ("below",)],
        [("below", NOT_FAR, NOT_ABOVE), ("far", Guard(FAR)), ("above",)],
        [("below", NOT_ABOVE, NOT_FAR), ("above", NOT_FAR), ("far",)],
        [("above", NOT_FAR, Guard(ABOVE_ZERO)), ("far", Guard(FAR)), ("below",)],
        [("above", NOT_FAR, Guard(ABOVE_ZERO)), ("below", NOT_FAR), ("far",)],
    ],
    ids=["as published", "below first", "below first, far last", "above first", "above first, far last"],
)
def test_the_order_of_comparisons_makes_no_difference(order):
    """The adaptive sparse vector technique: 1 with these noises, whichever of its branches is written first (Ding et al. 2019)."""
    once, fresh = (Drawn("rho", LAPLACE[2]),), (Drawn("a", LAPLACE[16]), Drawn("b", LAPLACE[8]))
    steps = tuple(replace(BRANCHES[name], when=tuple(when)) for name, *when in order)
    mechanism = Stream(("q",), once, fresh, (Named("t", parse("rho")),), (Named("cost", num(3)),), steps)
    found = verify(of(mechanism)).judgement
    assert found.lower == found.upper == ONE


def test_an_earlier_branch_of_which_two_comparisons_may_fail_keeps_both():
    """Out of a band: whichever end is passed, neither may be met again. One noise has to follow for both."""
    mechanism = Stream(
        ("q",), (Drawn("rho", LAPLACE[2]),), (Drawn("a", LAPLACE[8]),), (), (Named("cost", ONE),),
        (
            Branch((Guard(parse("q + a - rho")), Guard(parse("rho + 5 - q - a"))), "in", count=(Named("cost", ONE),)),
            Branch(emit="out", count=(Named("cost", ONE),)),
        ),
    )  # fmt: skip
    assert verify(of(mechanism)).judgement.upper == parse("1/8")
    names = frozenset(names_of(mechanism))
    band = {(0, place): guard for place, guard in enumerate(mechanism.steps[0].when)}
    question = asked(of(mechanism), {}, "a test", wanted=Stream)
    assert followed.may_fail(question, names, [], [band]) == {(0, 0), (0, 1)}
    assert followed.may_fail(question, names, [Guard(parse("q + a - rho - 6"))], [band]) == set()  # beyond one end already
    assert followed.may_fail(question, names, [Guard(parse("q + a - rho - 4"))], [band]) == {(0, 1)}  # the other holds


@pytest.mark.parametrize("ties", ["first", "random"])
def test_ties_are_decided_as_is_said(ties):
    """Three answers with noise of 0 or 1, each with probability 1/2: by all eight cases."""
    masses, told = {0: 1, 1: 1}, {"first": Counter(), "random": Counter()}
    for noises in itertools.product((0, 1), repeat=3):
        best = [i for i, x in enumerate(noises) if x == max(noises)]
        told["first"][best[0]] += Fraction(1, 8)
        for i in best:
            told["random"][i] += Fraction(1, 8 * len(best))
    mechanism = largest(noise(masses), 3, bounds=(num(0), num(1)), ties=ties)
    words = every_word.Words.of(asked(of(mechanism), {}, every_word.NAME, near=True), {"cuts": [-4, 4]})
    for i in range(3):
        found = words.chance(every_word.Output(((str(i), 0),)), ((0, 0, 0),), words.at_random(True))
        assert abs(found - rational(told[ties][i])) < 1e-12
        assert words.at_random(True) == words.at_random(False) == (ties == "random")
    audited = declared(of(mechanism, 1)).row(np.zeros(3))
    assert audited == pytest.approx([float(told[ties][i]) for i in range(3)], abs=1e-9)
    law = of_noisy_max(mechanism, None)
    drawn_ones = law.draw([Fraction(0)] * 3, 40_000, np.random.default_rng(5))[:, 0]
    assert all(abs(np.mean(drawn_ones == i) - float(told[ties][i])) < 0.02 for i in range(3))


def test_noise_with_several_modes_has_its_pure_epsilon_on_the_integers():
    """Where h may jump at a point alone a bound about almost all points says nothing of the integers."""
    assert verify(of(TWO_MODES)).judgement.upper == ONE
    jumps = on_line("exp(-abs(z) + 3*(floor(z/2) + floor(-z/2)))", integers=True)
    with pytest.raises(Rejected, match="may jump"):
        Line.of(of(jumps), {})
    with pytest.raises(Rejected, match="at least 1"):
        Line.of(of(TWO_MODES, sensitivity="1/2"), {})
    halves = Claim(TWO_MODES, None, query=Query(((Fraction(3, 2), Fraction(1)),), "add-remove"))
    with pytest.raises(Rejected, match="no output that both can give"):
        Line.of(halves, {})

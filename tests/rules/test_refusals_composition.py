"""What the theory of compositions refuses, with what stands below it for mechanisms of parts: each guard by what it alone stops."""

from fractions import Fraction as F

from flint import arb

from dpverify.trusted.combinators import at_pair, candidates, further, noises, places, released, runs
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import premises, settled
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    AboveThreshold,
    Claim,
    Compose,
    Domain,
    Exponential,
    Group,
    Part,
    Query,
    Radial,
    Repeat,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.theories.composition import score_range
from dpverify.trusted.theories.composition.grid import Grid
from dpverify.trusted.theories.composition.rules import (
    closed_epsilon,
    closed_profile,
    combination,
    joint_neighbours,
    laplace_sums,
    one_sided,
    privacy_profile,
    several_guarantees,
    single_part,
    stated_epsilon,
)
from tests.proofs import saying
from tests.refused import Refusals, each, require_refused

HALF = parse("1/2")
WHOLE = Translation(parse("exp(-abs(z))"), integers=True)
NEGATIVE = parse("log(1/2)")
UNDEFINED = "log(0 - 1)"
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
PART = Part(LAPLACE, ONE)
CLAIM = Claim(LAPLACE, ONE, sensitivity=ONE)
UNKNOWN = Claim(LAPLACE, None, sensitivity=ONE)
RATED = Claim(LAPLACE, ONE, sensitivity=ONE, domains=(("k", Domain(F(0), F(1), False, False)),))
TABLE = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
SCORES = ((ZERO, ONE), (ONE, ZERO))
ON_POINTS = Exponential(SCORES, ONE, points=((ZERO,), (ONE,)), metric="l1")
FIRST = (("inputs", 2, ""), (F(0), F(1)))
THIRDS = parse("sqrt(3)*gamma(1/3)*gamma(2/3)/(18*pi)")
"""It is 1/9, by the reflection of gamma, which neither balls nor forms see."""
TENTH = Curve(symmetric(lambda _: arb("0.1")), symmetric(lambda _: arb("0.1")), ())
"""A curve that is 1/10 everywhere."""


def asked(adjacency="add-remove", profile="exp(-r)"):
    return Part(Radial(parse(profile), L1, ONE), None, Query(((F(1), F(0)),), adjacency))


def stacked(*parts):
    return lambda: combination.stacked(Part(Compose(parts)), ())


def at_curve(evidence, epsilon=ONE, delta=HALF):
    claim = Claim(LAPLACE, epsilon, delta, sensitivity=ONE)
    return lambda: [*privacy_profile._deltas(claim, TENTH, evidence), *privacy_profile._epsilons(claim, TENTH, evidence)]


def put_out(mechanism):
    return lambda: released.released(mechanism)


def at_place(*steps):
    return lambda: places.Places(Claim(Compose((PART, PART)), ONE)).run(steps)


def pure(mechanism, upper):
    claim = Claim(mechanism, None, sensitivity=ONE)
    return lambda: premises.pure_of(saying(claim, "concave-exponent", Bound("upper", upper)), claim, "a-rule")


def _replaced(*row):
    return Part(LAPLACE, None, Query((tuple(map(F, row)),), "replace"))


REPLACED = Part(Compose((Part(Subsample(_replaced(1, 0, 3), HALF, "without_replacement")), _replaced(0, 10, 5))))


REFUSED: Refusals = {
    # claims that ask for something else
    "a closed epsilon without a delta": (
        lambda: closed_epsilon.check(Claim(LAPLACE, ONE, None, sensitivity=ONE), {"epsilon": "1"}),
        "it wants a delta",
    ),
    "a stated epsilon of what states none": (lambda: stated_epsilon.check(CLAIM, {}), "it is not a guarantee"),
    "a single part of two": (lambda: single_part.infer(Run(Part(Compose((PART, asked())))), {}, ()), "there are several"),
    "joint neighbours behind a map": (
        lambda: joint_neighbours.infer(Run(Part(Compose((PART, PART))), num(2), mapped=True), {}, ()),
        "it is run several times, or stands behind a map",
    ),
    "joint neighbours of several runs": (
        lambda: joint_neighbours.infer(Run(Part(Compose((PART, PART))), num(2), times=2), {}, ()),
        "it is run several times, or stands behind a map",
    ),
    "joint neighbours of what is seen after post-processing": (
        lambda: joint_neighbours.infer(Run(Part(Compose((PART, PART))), processed=True), {}, ()),
        "it is run several times, or stands behind a map",
    ),
    "an epsilon that is bounded from below alone": (
        lambda: premises.epsilon_of(UNKNOWN, (saying(UNKNOWN, "concave-exponent", Bound("lower", ONE)),), "a-rule"),
        "no premise bounds it from above",
    ),
    "a pair of the whole for a sample that has another one": (
        lambda: joint_neighbours._lower(REPLACED, [*candidates.choices(REPLACED)], (), {"choice": 0}, ()),
        "choice: some part is at neighbours of its own there",
    ),
    "a table of which it is not certain what is likelier": (
        lambda: closed_profile.at(Claim(Table(((parse("1/9"), THIRDS), (parse("1/9"), parse("1/9")))), None), ZERO),
        "the sign of p - e.epsilon q is not certain somewhere",
    ),
    "queries of other neighbours in one": (stacked(asked(), asked("replace")), "the parts do not speak of the same neighbours"),
    "a loss that grows irrationally": (stacked(asked(profile="exp(-sqrt(2)*r)")), "how fast its loss grows is not a rational number"),
    "a table behind queries": (stacked(Part(TABLE)), "no noise on real numbers, in one coordinate or independent ones, under a query"),
    "a table half a step apart": (
        lambda: at_pair.at(Part(Compose((Part(Group(Part(TABLE), HALF)), Part(TABLE)))), (FIRST,), lower=True),
        "no two inputs are certainly a number of steps apart that is not whole",
    ),
    "a sample beside neighbours that change a record": (
        lambda: one_sided.Values(CLAIM, "upper", iter(()), 0, set(), {}, False).of(Part(Subsample(PART, HALF)), True),
        "want neighbours by adding or removing a record",
    ),
    "a sample that may be empty, of a part without an epsilon": (
        lambda: one_sided.Values(RATED, "lower", iter(()), 0, set(), {})._sampled((INFINITE, ZERO), parse("k"), True),
        "rate: it is not certainly positive",
    ),
    # bounds by a curve, here by one that is 1/10 at every epsilon
    "a delta at no epsilon": (at_curve({"delta": True}, epsilon=None), "no epsilon is claimed"),
    "a delta at an epsilon below 0": (at_curve({"delta": True}, epsilon=NEGATIVE), "at epsilons that are certainly at least 0 alone"),
    "an epsilon at no delta": (at_curve({"upper": "1"}, delta=None), "no delta is claimed"),
    "an upper epsilon below 0": (at_curve({"upper": "-1"}), "epsilon: it is negative"),
    "a lower epsilon below 0": (at_curve({"lower": "-1"}), "epsilon: it is negative"),
    "an upper epsilon where delta is less": (at_curve({"upper": "1"}, delta=parse("9/100")), "not certainly at most delta"),
    "a lower epsilon where delta is more": (at_curve({"lower": "1"}), "the divergence there is not certainly above delta"),
    "no finite epsilon, of a curve without a rest": (
        at_curve({"lower": "inf"}),
        "the mass that only one of the two distributions has is not certainly above delta",
    ),
    # limits of effort
    "scores at a sensitivity of their own": (
        lambda: score_range.exponential_range(Exponential(SCORES, ONE), num(2)),
        "their sensitivity is stated apart, or they are more than",
    ),
    "strides for another number of parts": (
        lambda: Grid(F(1), F(1, 8), 64, 64, ((0, 1),), None, ((), ())),
        "strides: each part needs its own, or none",
    ),
    "too many signs of Laplace noise": (
        lambda: laplace_sums._check([(parse(f"1/{i}"), 9) for i in range(2, 11)], 81),
        "sign patterns of 81 mechanisms are too many",
    ),
    "too many guarantees": (lambda: several_guarantees.pair([(num(i), ZERO) for i in range(65)]), "65 guarantees; at most 64 are joined"),
    "too many numbers put out": (put_out(Compose((Part(Repeat(PART, num(4097))),))), "they put out more than 4096 numbers"),
    "too many parts": (lambda: runs.merged(Part(Compose((PART,) * 20_001))), "more than 20000 of them; give equal parts once, with times"),
    "too many differences of histograms": (lambda: list(candidates._whole(9, 9)), "more than 20000 differences of histograms"),
    "too many steps between neighbours": (lambda: further._steps(parse("exp(40)")), "neighbours further than 1000 steps apart"),
    # neighbours that are not known
    "a pair of points": (lambda: at_pair.at(Part(ON_POINTS), (FIRST,), lower=True), "which of them are neighbours is not listed"),
    "points at any distance": (lambda: further.leaf(Part(ON_POINTS), num(2), None, {}), "points at every distance are neighbours here"),
    "the vertices of a round ball": (lambda: list(candidates.vertices(2, "l2")), "'l2' has no vertices"),
    "a table of one input": (lambda: candidates._pairs([Part(Table(((ONE,),)))], F(1), False), "no two inputs are neighbours"),
    "too many pairs of inputs": (
        lambda: candidates.choices(Part(Compose(tuple(Part(Table(((ONE,),) * n)) for n in (60, 60, 61, 61))))),
        "12956400 pairs of neighbours are more than 20000",
    ),
    "a map of integers by no integer": (
        lambda: runs.times_as_far(parse("3/2"), parse("5/2"), Part(WHOLE, HALF), {}),
        "it is not whole, and another map or a group stands beside it",
    ),
    "a query at an irrational number of steps": (
        lambda: further._further(LAPLACE, Query(((F(1),),), "add-remove"), parse("sqrt(2)"), lambda: Sensitivity(num(2), ONE), {}),
        "the sensitivity of a query at a number of steps that has no value is not known exactly",
    ),
    # places and parts
    "fresh noise where there is none": (
        lambda: noises.question(Claim(AboveThreshold(LAPLACE, LAPLACE, num(2), ONE), ONE, sensitivity=ONE), "fresh", 1),
        "this mechanism has no fresh",
    ),
    "a part that is not there": (at_place({"part": 7}), "'a step' is 7, not a whole number from 0 to 1"),
    "a place below all there can be": (at_place(*[{"part": 0}] * 65), "a place of 65 steps: no mechanism in a certificate is nested more"),
    "what a single noise releases": (put_out(LAPLACE), "it is no composition, and no linear map of one"),
    "what several parts release several times": (
        put_out(Compose((Part(Repeat(Part(Compose((PART, PART))), num(2))),))),
        "has no one order of its numbers",
    ),
    "what noise of any dimension releases": (
        put_out(Compose((Part(Radial(parse("exp(-r)"), L2, parse("d")), ONE),))),
        "its dimension is no integer from 1 to 4096",
    ),
    # facts
    "a profile at no epsilon": (lambda: Pair(lambda e: e, lambda e: e, None).delta(arb("nan")), "at an epsilon that is not enclosed"),
    "an infinite pure epsilon": (pure(LAPLACE, INFINITE), "it has no finite epsilon"),
    "a pure epsilon of one order": (
        pure(AboveThreshold(LAPLACE, LAPLACE, num(2), ONE, neighbours="increasing"), ONE),
        "a bound for one order of the data alone says nothing of the other",
    ),
    "noise of a table": (lambda: settled.additive(Run(Part(TABLE)), "a-rule"), "it is about additive noise"),
    "one run of two": (lambda: settled.single(Run(PART, times=2), TENTH), "it is of several times, and the rule speaks of one"),
    "a precision of 7 bits": (lambda: settled.noise(Run(PART), TENTH, {"prec": 7}), "must be an integer between 53 and 8192"),
    "all that a run comes to, of two": (lambda: settled.together(Run(PART, times=2), TENTH), "it stands behind a map or in a group"),
}


@each(REFUSED)
def test_what_a_composition_is_not_about_is_refused(asked, why):
    require_refused(asked, why)


def test_very_many_pairs_none_of_which_is_worse_are_refused(monkeypatch):
    monkeypatch.setattr(candidates, "MOST_CHOICES", 0)
    shared = Part(Compose((Part(TABLE), Part(TABLE))))
    require_refused(lambda: candidates.choices(shared), "more than 0 pairs of neighbours none of which is worse than the others")

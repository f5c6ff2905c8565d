"""Plans of curves: every node by its rule, and what a rule does not speak of refused."""

import pytest
from flint import arb

from dpverify.search.certificates import record
from dpverify.search.composition import plans
from dpverify.search.proposal import of_run
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, Compose, Group, Lipschitz, Parallel, Part, PostProcess, Radial, Subsample
from dpverify.trusted.theories.composition.rules import group_privacy

HALF = parse("1/2")
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
LAPLACE = Part(Radial(parse("exp(-r)"), L1, num(1)), num(1))
MOVED = Part(GAUSSIAN.mechanism, num(2))
NORMAL, EXPONENTIAL = {"rule": "gaussian"}, {"rule": "laplace"}


def curve(mechanism, evidence):
    with precision(100):
        return plans.curve(Run(Part(mechanism)), evidence)


def worst(found, epsilon="1/2"):
    with precision(100):
        return found.upper.worst(arb(1) * rational(parse(epsilon).value))


MADE = [
    (Subsample(GAUSSIAN, HALF), {"rule": "poisson-subsampling", "part": NORMAL}, ("poisson-subsampling", "gaussian")),
    (
        Subsample(GAUSSIAN, HALF, "without_replacement"),
        {"rule": "sampling-without-replacement", "part": NORMAL},
        ("sampling-without-replacement", "gaussian"),
    ),
    (
        Parallel((GAUSSIAN, LAPLACE)),
        {"rule": "parallel-composition", "parts": [NORMAL, EXPONENTIAL], "index": 0},
        ("parallel-composition", "gaussian", "laplace"),
    ),
    (Compose((GAUSSIAN, GAUSSIAN)), {"rule": "gaussian-composition"}, ("gaussian-composition",)),
    (PostProcess(GAUSSIAN), NORMAL, ("gaussian", "post-processing")),
    (
        Group(Part(Subsample(GAUSSIAN, HALF)), num(2)),
        {"rule": "group-privacy", "epsilon": "1/4", "part": {"rule": "poisson-subsampling", "part": NORMAL}},
        ("group-privacy", "poisson-subsampling", "gaussian"),
    ),
]


@pytest.mark.parametrize(("mechanism", "evidence", "rules"), MADE)
def test_every_node_is_proved_by_its_rule(mechanism, evidence, rules):
    found = curve(mechanism, evidence)
    assert found.rules == rules and 0 <= worst(found) <= 1


@pytest.mark.parametrize(("mechanism", "evidence", "rules"), MADE)
def test_the_plan_of_the_lines_of_a_curve_is_the_plan_that_they_were_made_by(mechanism, evidence, rules):
    with precision(100):
        lines = record([plans.fact(of_run(Run(Part(mechanism))), (), evidence)])
    assert plans.plan_of(lines, len(lines) - 1) == evidence


def test_groups_and_maps_of_noise_are_noise_moved_further():
    for mechanism, factor in ((Group(GAUSSIAN, num(3)), "3"), (Lipschitz(GAUSSIAN, HALF), "1/2")):
        moved = Part(GAUSSIAN.mechanism, parse(factor))
        with precision(100):
            plain = plans.curve(Run(moved), NORMAL)
        assert worst(curve(mechanism, NORMAL)).overlaps(worst(plain))


def test_post_processing_anywhere_drops_the_lower_bound_of_the_whole():
    inside = Compose((GAUSSIAN, Part(PostProcess(GAUSSIAN))))
    assert curve(Compose((GAUSSIAN, GAUSSIAN)), {"rule": "gaussian-composition"}).lower is not None
    found = curve(inside, {"rule": "gaussian-composition"})
    assert found.upper is not None and found.lower is None


@pytest.mark.parametrize(
    ("mechanism", "evidence"),
    [
        (Subsample(GAUSSIAN, HALF), NORMAL),
        (Subsample(GAUSSIAN, HALF), {"rule": "poisson-subsampling"}),
        (Subsample(GAUSSIAN, HALF), {"rule": "poisson-subsampling", "part": EXPONENTIAL}),
        (Subsample(GAUSSIAN, HALF), {"rule": "sampling-without-replacement", "part": NORMAL}),
        (Parallel((GAUSSIAN, LAPLACE)), {"rule": "parallel-composition", "parts": [NORMAL], "index": 0}),
        (Parallel((GAUSSIAN, LAPLACE)), {"rule": "parallel-composition", "parts": [EXPONENTIAL, NORMAL], "index": 0}),
        (Parallel((GAUSSIAN, LAPLACE)), {"rule": "parallel-composition", "parts": [NORMAL, EXPONENTIAL], "index": 2}),
        (Parallel((GAUSSIAN, LAPLACE)), {"rule": "loss-distribution", "parts": [NORMAL, EXPONENTIAL], "index": 0}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "gaussian-composition"}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "laplace-sums"}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "optimal-composition"}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "loss-distribution", "parts": [NORMAL, EXPONENTIAL]}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "loss-distribution", "parts": [NORMAL], "grid": {}}),
        (Compose((GAUSSIAN, LAPLACE)), {"rule": "nothing"}),
        (Compose((GAUSSIAN, LAPLACE)), {}),
        (Group(Part(Subsample(GAUSSIAN, HALF)), num(2)), {"rule": "poisson-subsampling", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "epsilon": "1/0", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "epsilon": "-1", "part": NORMAL}),
        (Group(GAUSSIAN, parse("k")), {"rule": "group-privacy", "epsilon": "1", "part": NORMAL}),
        (Compose((GAUSSIAN,)), {"rule": "pure-guarantee", "premise": {"rule": "concave-exponent", "evidence": {"side": "upper"}}}),
    ],
)
def test_a_plan_for_something_else_is_refused(mechanism, evidence):
    with pytest.raises(DpverifyError):
        curve(mechanism, evidence)


def test_steps_between_neighbours_are_rounded_up():
    assert [group_privacy.steps(parse(text)) for text in ("1", "3/2", "2", "1/3")] == [1, 2, 2, 1]
    with pytest.raises(Rejected):
        group_privacy.steps(parse("sqrt(2)"))


ALL = [
    (Subsample(GAUSSIAN, HALF), "poisson-subsampling", {}, [({"part": 0},)]),
    (Subsample(GAUSSIAN, HALF, "without_replacement"), "sampling-without-replacement", {}, [({"part": 0},)]),
    (Parallel((GAUSSIAN, GAUSSIAN, MOVED)), "parallel-composition", {"index": "0"}, [({"part": i},) for i in range(3)]),
    (PostProcess(GAUSSIAN), "single-part", {}, [(0,)]),
    (Compose((GAUSSIAN, MOVED)), "loss-distribution", {"grid": {}}, [(0,), (1,)]),
]


@pytest.mark.parametrize(("mechanism", "rule", "parameters", "places"), ALL)
def test_every_part_wants_the_curve_of_itself_in_its_place(mechanism, rule, parameters, places):
    proof = of_run(Run(Part(mechanism)))
    with precision(100):
        known = [proof.infer("gaussian", place) for place in places]
        strange = of_run(Run(Part(GAUSSIAN.mechanism, num(7)))).infer("gaussian")
        pure = of_run(Run(LAPLACE)).infer("concave-exponent", (), {"side": "upper"})
        wrong = [known[:-1], [*known, known[0]], [*known[:-1], strange], [*known[:-1], pure]]
        wrong += [known[::-1]] if known[0].about != known[-1].about else []
        for premises in wrong:
            with pytest.raises(CertificateError, match="premise"):
                proof.infer(rule, (), parameters, premises)


def test_neighbours_of_neighbours_want_the_curve_one_step_apart():
    proof = of_run(Run(Part(Group(Part(Subsample(GAUSSIAN, HALF)), num(2)))))
    with precision(100):
        near = plans.fact(proof, (0, "one step"), {"rule": "poisson-subsampling", "part": NORMAL})
        assert proof.infer("group-privacy", (0,), {"epsilon": "1/4"}, [near]).says.upper is not None
        for premises in ([], [near, near], [proof.infer("gaussian", (0, {"part": 0}))]):
            with pytest.raises(CertificateError, match="premise"):
                proof.infer("group-privacy", (0,), {"epsilon": "1/4"}, premises)

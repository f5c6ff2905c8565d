"""Trees of evidence: every node by its rule, and trees of another form refused."""

import pytest
from flint import arb

from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import num, parse
from dpverify.trusted.language.model import L1, L2, Compose, Group, Lipschitz, Parallel, Part, PostProcess, Radial, Subsample
from dpverify.trusted.numbers.balls import precision, rational
from dpverify.trusted.rules.composition import tree
from dpverify.trusted.rules.composition.premises import pure_epsilon

HALF = parse("1/2")
GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
LAPLACE = Part(Radial(parse("exp(-r)"), L1, num(1)), num(1))
NORMAL, EXPONENTIAL = {"rule": "gaussian"}, {"rule": "laplace"}


def curve(mechanism, evidence):
    with precision(100):
        return tree.curve(Part(mechanism), evidence, pure_epsilon)


def worst(found, epsilon="1/2"):
    with precision(100):
        return found.upper.worst(arb(1) * rational(parse(epsilon).value))


@pytest.mark.parametrize(
    ("mechanism", "evidence", "rules"),
    [
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
    ],
)
def test_every_node_is_proved_by_its_rule(mechanism, evidence, rules):
    found = curve(mechanism, evidence)
    assert found.rules == rules and 0 <= worst(found) <= 1


def test_groups_and_maps_of_noise_are_noise_moved_further():
    for mechanism, factor in ((Group(GAUSSIAN, num(3)), "3"), (Lipschitz(GAUSSIAN, HALF), "1/2")):
        moved = Part(GAUSSIAN.mechanism, parse(factor))
        with precision(100):
            plain = tree.curve(moved, NORMAL, pure_epsilon)
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
        (Compose((GAUSSIAN, LAPLACE)), []),
        (Group(Part(Subsample(GAUSSIAN, HALF)), num(2)), {"rule": "poisson-subsampling", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "epsilon": "1/0", "part": NORMAL}),
        (Group(GAUSSIAN, num(2)), {"rule": "group-privacy", "epsilon": "-1", "part": NORMAL}),
        (Group(GAUSSIAN, parse("k")), {"rule": "group-privacy", "epsilon": "1", "part": NORMAL}),
        (Compose((GAUSSIAN,)), {"rule": "pure-guarantee", "premise": {"rule": "concave-exponent", "evidence": {"side": "upper"}}}),
    ],
)
def test_a_tree_of_another_form_is_refused(mechanism, evidence):
    with pytest.raises(DpverifyError):
        curve(mechanism, evidence)


def test_steps_between_neighbours_are_rounded_up():
    assert [tree.whole(parse(text)) for text in ("1", "3/2", "2", "1/3")] == [1, 2, 2, 1]
    with pytest.raises(Rejected):
        tree.whole(parse("sqrt(2)"))


def test_a_missing_list_of_parts_is_no_certificate():
    with pytest.raises(CertificateError, match="parts"):
        curve(Parallel((GAUSSIAN, LAPLACE)), {"rule": "parallel-composition", "index": 0})

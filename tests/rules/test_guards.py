"""Guards of rules, each broken alone: what a rule refuses when one of its conditions does not hold, and what it proves where all do.

The class: a condition that may be deleted without any test failing is one that the next change may delete.
"""

import importlib
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from flint import acb, arb

from dpverify import trusted
from dpverify.errors import ProjectError
from dpverify.search import decimals
from dpverify.search.additive import asymptotics
from dpverify.search.composition import plans
from dpverify.search.verify import verify
from dpverify.trusted.combinators import at_pair, candidates, densities, neighbours, one_pair, relations
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.geometry.polytopes import box
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, call, mul, neg, num, parse, substitute
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Exponential,
    Group,
    KaryResponse,
    Kernel,
    Lipschitz,
    Mixture,
    Norm,
    Parallel,
    Part,
    Product,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
)
from dpverify.trusted.numbers import complex, integrability
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.periods import quasi_period
from dpverify.trusted.order.enclosed import whole
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import axis, cells
from dpverify.trusted.theories.additive.rules import equal_answers, point_witness
from dpverify.trusted.theories.additive.rules import mixture_closed_form as mixture_closed
from dpverify.trusted.theories.composition import gaussian_queries
from dpverify.trusted.theories.composition.combined_values import Values
from dpverify.trusted.theories.composition.rules import finite_composition, gaussian_composition
from dpverify.trusted.theories.curves import lipschitz, mixing, optimal_delta, shapes, student, variances
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.curves.rules import radial_caps as spherical_caps
from dpverify.trusted.theories.finite import densities as kernel_densities
from dpverify.trusted.theories.finite import normaliser, part_slopes
from dpverify.trusted.theories.finite.rules import kernel_box, kernel_point
from tests.proofs import Step, bound, saying

HALF = parse("1/2")
T_NOISE = Radial(parse("(1 + r**2)**(-3)"), L2, num(1))
LAPLACE = Radial(parse("exp(-r)"), L1, num(1))


# -- what cannot be checked is shown -------------------------------------------------------------------

IDEAL = ("the sampler is ideal",)
INDEPENDENT = ("the parts draw independent noise",)
OF_RUNS = (
    "how often the part is run does not depend on the data, and nobody learns it",
    "which output is the best does not depend on the data but through the outputs",
)
KEPT = ("every record is kept independently, and the sample is not seen",)
HYPOTHESES = {
    **dict.fromkeys(
        (
            "processes.cameron_martin", "additive.concave_exponent", "additive.convex_exponent", "additive.cosets", "additive.divergence",
            "additive.equal_answers", "additive.mixture_concave", "additive.modulus", "additive.modulus_parts",
            "additive.point_witness", "additive.power_identity",
            "processes.elliptical_process_unbounded", "processes.evaluations_epsilon",
            "additive.product_lipschitz", "additive.staircase", "composition.finite_composition", "composition.gaussian_composition",
            "composition.joint_moves", "composition.independent_coordinates", "curves.every_shift", "curves.finite_curve",
            "curves.lipschitz_exponent", "curves.kernel_pair", "curves.correlated_gaussians", "utility.prefix_errors",
            "divergences.selection_measures", "curves.gaussian", "curves.laplace", "curves.lattice", "curves.line",
            "processes.elliptical_process",
            "curves.gaussian_scale_mixture", "curves.radial_caps", "curves.student_t", "curves.uniform_ball", "finite.exponential_general",
            "finite.finite_table", "finite.kernel_box", "finite.kernel_point", "finite.kary_response", "divergences.finite_measures",
            "divergences.gaussian_measures",
            "processes.orthogonal_laws",
            "divergences.laplace_measures", "spaces.cell_response", "spaces.density_mechanism", "spaces.given_mechanism",
            "additive.smooth_box", "additive.smooth_point", "additive.smooth_power", "additive.sum_slopes", "divergences.measures_of_sums",
            "curves.smooth_curve", "spaces.near_table",
            "spaces.net_mechanism", "spaces.noise_near", "utility.expected_loss", "utility.far_noise", "utility.far_outputs",
            "utility.infinite_moments", "utility.log_concave_noise", "utility.noise_moments", "utility.noise_quantile",
            "utility.polytope_tails", "utility.randomized_response_estimate", "utility.root_of_squares", "utility.union_bound",
        ),
        IDEAL,
    ),
    **dict.fromkeys(
        (
            "selection.log_concave_noisy_max", "selection.survival", "selection.log_concave_threshold", "selection.worst_output",
            "selection.two_candidates",
            "selection.selection_event", "selection.first_positive", "selection.greatest_noise", "selection.compared_gaussians",
            "selection.each_noise", "selection.selection_event_at", "selection.noisy_votes", "selection.votes_epsilon",
            "divergences.measures_of_votes",
        ),
        (*IDEAL, "the noises are independent of each other"),
    ),
    **dict.fromkeys(
        (
            "selection.alignment", "selection.unseen_shifts", "selection.worst_run", "selection.worst_words",
            "selection.told_words", "selection.told_sums",
        ),
        (*IDEAL, "the noises of different names, and of different steps, are independent"),
    ),
    **dict.fromkeys(("selection.every_word", "selection.every_word_curve"), (*IDEAL, "the noises are independent of each other")),
    "selection.selection_moduli": ("the noises are independent of each other",),
    "processes.process_evaluations": ("only the evaluations are released", *IDEAL),
    "utility.linear_map": (*IDEAL, "the noises of the parts are independent"),
    "composition.laplace_sums": INDEPENDENT,
    "composition.loss_distribution": INDEPENDENT,
    **dict.fromkeys(("composition.best_of", "composition.best_of_renyi", "divergences.best_of_measures"), OF_RUNS),
    "composition.poisson_subsampling": KEPT,
    "divergences.sampled_measures": IDEAL + KEPT,
    "composition.sampling_without_replacement": ("every subset of that size is equally likely, and the sample is not seen",),
    "composition.parallel_composition": (
        "the parts see disjoint parts of the data, and which part a record belongs to depends on the record alone",
    ),
    "composition.post_processing": ("the map does not look at the data again",),
    **dict.fromkeys(
        [f"composition.{name}" for name in ["shuffling", "shuffled_bits", "shuffled_epsilon", "shuffled_histograms", "privacy_blanket"]],
        ("people tell of their own records alone, by independent draws, and the order of what they tell is not seen",),
    ),
    "selection.noisy_keys": (
        "a record adds at most the stated sensitivity to the counts of at most so many keys, and nothing below 0",
        "a key that no record has is neither told nor looked at, and noises are independent of each other",
    ),
    "composition.bounded_range": (*IDEAL, "the noises are independent of each other"),
}  # fmt: skip


def test_every_rule_shows_the_hypotheses_that_it_rests_on_and_no_others():
    folder, shown = Path(trusted.__path__[0]), {}
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        module = importlib.import_module(f"dpverify.trusted.{name.removesuffix('.__init__')}")
        shown[name.removeprefix("theories.").replace(".rules.", ".")] = vars(module).get("ASSUMED")
    assert {name: told for name, told in shown.items() if told} == HYPOTHESES


# -- additive noise ----------------------------------------------------------------------------------------


SQUARE = Norm("facets", matrix=((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))


@pytest.mark.parametrize(("norm", "told"), [(SQUARE, False), (L2, True)])
def test_noise_that_is_not_even_wants_a_shift_with_signs_of_its_own(norm, told):
    # h falls faster on one side: the worst shift of the maximum norm's cube is a corner, but of which signs the norm must allow
    claim = Claim(Product(parse("exp(-max(z, -2*z))"), num(2), norm), None, sensitivity=num(1))
    step = Step("convex-exponent", {"side": "lower"})
    if told:
        assert bound(claim, step)[0].side == "lower"
    else:
        with pytest.raises(Rejected, match="need not occur"):
            bound(claim, step)


def test_what_counts_for_equal_answers_is_the_most_that_they_may_move_by(monkeypatch):
    claim = Claim(LAPLACE, None, sensitivity=num(1))
    for upper, refused in ((ZERO, False), (num(1), True)):
        monkeypatch.setattr(equal_answers, "_reach", lambda claim, evidence, upper=upper: Sensitivity(upper, ZERO))
        if refused:
            with pytest.raises(Rejected, match="certain that the answers of neighbours are equal"):
                equal_answers.check(claim, {"side": "upper"})
        else:
            assert equal_answers.check(claim, {"side": "upper"}).value == ZERO


# -- neighbours ------------------------------------------------------------------------------------------------


def test_a_difference_spread_over_parts_in_parallel_is_no_worse_for_linear_queries_with_log_concave_noise_alone():
    rows = ((Fraction(1), Fraction(0)),)
    for adjacency, faults in (("l1", {LAPLACE: 0, T_NOISE: 1}), ("l2", {LAPLACE: 1, T_NOISE: 1})):
        for noise, expected in faults.items():
            asked = tuple(Part(noise, None, Query(rows, adjacency)) for _ in range(2))
            assert len(list(relations.adjacency_faults(Parallel(asked)))) == expected
            stated = tuple(Part(noise, num(1)) for _ in range(2))
            assert len(list(relations.adjacency_faults(Parallel(stated), adjacency))) == 1


@pytest.mark.parametrize(("constant", "steps"), [("1/2", Fraction(1, 2)), ("3", Fraction(3)), ("0", Fraction(0))])
def test_maps_and_groups_say_how_many_steps_apart_neighbours_are(constant, steps):
    inner = Part(LAPLACE, num(1))
    assert candidates.root_factor(Part(Lipschitz(inner, parse(constant)))) == steps
    assert candidates.root_factor(Part(Lipschitz(Part(Group(inner, num(2))), parse(constant)))) == 2 * steps
    with pytest.raises(Undecided):
        candidates.root_factor(Part(Lipschitz(inner, parse("sqrt(2)"))))


def test_scores_at_points_of_a_metric_list_no_neighbours():
    one = Exponential(((num(0), num(1)), (num(1), num(0))), HALF, points=((num(0),), (num(1),)), metric="l1")
    table = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
    with pytest.raises((Rejected, Undecided)):
        candidates.choices(Part(Compose((Part(one), Part(table)))))


# -- samples ------------------------------------------------------------------------------------------------------

ANSWERS = [(2, Fraction(3, 4)), (3, Fraction(1, 2)), (4, Fraction(1, 10))]
"""Of randomized response: how many answers there are, and how often the true one is given."""


@pytest.mark.parametrize("inside", [(0,), (1, 0), (0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 0)])
@pytest.mark.parametrize("rate", ["1/3", "1", "sqrt(1/2)"])
def test_a_sample_of_several_responses_is_that_of_their_product(inside, rate):
    # the total variation of q P + (1 - q) Q from Q is q times that of P from Q, over all answers together
    parts = tuple(Part(KaryResponse(num(ANSWERS[i][0]), num(ANSWERS[i][1]))) for i in inside)
    found = finite_composition.curve(merged(Part(Subsample(Part(Compose(parts)), parse(rate)))), {})
    outputs = [(Fraction(1), Fraction(1))]
    for count, truth in (ANSWERS[i] for i in inside):
        other = (1 - truth) / (count - 1)
        outputs = [(p * x, q * y) for p, q in outputs for x, y in [(truth, other), (other, truth), *[(other, other)] * (count - 2)]]
    with precision(100):
        distance = constant(parse(rate)) * rational(sum(max(p - q, 0) for p, q in outputs))
        assert found.upper.worst(rational(0)).overlaps(distance)
        assert abs(found.upper.worst(rational(0)) - distance) < 1e-20
    assert set(found.assumed) == set(IDEAL + KEPT)


def test_of_a_sample_with_several_pairs_of_rows_the_hypotheses_are_shown():
    three = Subsample(Part(Table(tuple(tuple(map(num, row)) for row in THREE))), HALF)
    found = finite_composition.curve(merged(Part(Compose((Part(three), Part(KaryResponse(num(3), HALF)))))), {})
    assert set(found.assumed) == set(IDEAL + KEPT)


THREE = [[Fraction(x, 6) for x in row] for row in ((3, 2, 1), (1, 3, 2), (2, 1, 3))]


# -- kernels ---------------------------------------------------------------------------------------------------------


UNIT = [(Fraction(0), Fraction(1))]
CUBE = box(UNIT * 3)
EDGE = box([*UNIT, (Fraction(0), Fraction(0)), (Fraction(0), Fraction(0))])


@pytest.mark.parametrize(
    ("loss", "point", "target", "taken"),
    [
        ("y", "0", "11/10", True),
        ("y", "0", "1/2", False),  # it rises away from the point
        ("y - y**2", "1/2", "3/10", True),
        ("y - y**2", "1/2", "1/5", False),
        ("y - y**2", "0", "1/4", False),
        ("y**2", "0", "0", False),  # convex: the tangent lies below
        ("2*max(0, y - 1/2)", "1/4", "0", False),  # a kink: so does this one
        ("-abs(y - 1/2)", "1/4", "1/2", False),
        ("1", "0", "11/10", True),
        ("1", "0", "1/2", False),
    ],
)
def test_a_tangent_bounds_a_concave_loss_alone(loss, point, target, taken):
    with precision(128):
        tree = kernel_box.Tree(parse(target))
        assert tree.tangent(EDGE, parse(loss), (Fraction(point), Fraction(0), Fraction(0))) is taken


@pytest.mark.parametrize("point", [("-1", "0", "0"), ("0", "2", "0"), ("0", "0", "-1/100")])
def test_a_tangent_touches_in_the_box_where_the_loss_is_concave(point):
    # -y^3 is concave right of 0 alone: its tangent at -1 lies below it there
    with precision(128), pytest.raises(CertificateError, match="point of tangency"):
        kernel_box.Tree(num(-2)).tangent(CUBE, parse("-y**3"), tuple(map(Fraction, point)))


@pytest.mark.parametrize("index", range(8))
def test_the_mean_value_bound_counts_the_steepest_way_to_another_vertex(index):
    loss = parse("y**2 + theta")
    with precision(128):
        assert kernel_box.Tree(parse("51/10")).corner(CUBE, loss, index)
        assert not kernel_box.Tree(parse("19/10")).corner(CUBE, loss, index)


def test_a_point_of_a_kernel_wants_a_value_for_every_symbol():
    density = Kernel(parse("1 + a*(theta - 1/2)*(2*y - 1)"), (num(0), num(1)), (num(0), num(1)))
    evidence = {"theta": "1", "other": "0", "event": ["3/4", "1"]}
    with pytest.raises(Rejected, match="a value for every parameter"):
        kernel_point.check(Claim(density, None), evidence)
    for domains in ((), (("b", Domain(Fraction(0))),)):
        claim = Claim(Kernel(parse("1 + (theta - 1/2)*(2*y - 1)"), (num(0), num(1)), (num(0), num(1))), None, domains=domains)
        with precision(128):
            if domains:
                with pytest.raises(Rejected, match="a value for every parameter"):
                    kernel_point.check(claim, evidence)
            else:
                assert kernel_point.check(claim, evidence).side == "lower"


def test_faults_of_a_project_are_said_a_line_each():
    assert str(ProjectError("a: wrong.")) == "a: wrong."
    error = ProjectError(["a: wrong.", "b: too."])
    assert (str(error), error.faults) == ("a: wrong.\nb: too.", ("a: wrong.", "b: too."))


def test_histograms_as_far_apart_as_said_are_neighbours_and_others_are_not():
    # the l1 length of whole differences counts steps; of real ones a single record moves by all of it
    far = {
        ("add-remove", 1): [(1, 0), (0, 1)],
        ("add-remove", 2): [(1, 0), (0, 1), (1, 1), (1, -1), (-1, 1), (2, 0), (-2, 0), (-1, 0)],
        ("replace", 1): [(1, -1), (-1, 1)],
        ("replace", 2): [(1, -1), (-1, 1), (2, -2)],
        ("l1", 1): [(1, 0), (0, 1), (Fraction(1, 2), Fraction(1, 2)), (0, 0), (-1, 0)],
        ("l2", 1): [(1, 0), (0, 1), (Fraction(3, 5), Fraction(4, 5)), (Fraction(1, 2), Fraction(1, 2)), (0, 0), (-1, 0)],
    }
    every = {v for those in far.values() for v in those} | {(1, 1), (3, 0), (2, -1), (Fraction(1, 2), 0), (Fraction(1, 2), Fraction(-1, 2))}
    for (adjacency, factor), those in far.items():
        for v in every:
            if adjacency in ("l1", "l2"):
                length = sum(map(abs, v)) if adjacency == "l1" else math.hypot(*v)
                wanted = length <= factor
            else:
                wanted = v in those
            assert at_pair._occurs(tuple(map(Fraction, v)), adjacency, Fraction(factor)) == wanted, (adjacency, factor, v)


TWO = ((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (None, "not iterable"),
        ([{"inputs": 2}], "columns"),
        ([{"inputs": 2, "pair": [2, 0]}], "as far apart"),
        ([{"inputs": 2, "pair": [0, 1, 1]}], "as far apart"),
        ([{"inputs": 2, "pair": [0, 2]}], "as far apart"),
        ([{"inputs": 2, "pair": [-1, 0]}], "as far apart"),
        ([{"inputs": 3, "pair": [0, 1]}], "as far apart|share"),
        ([], "share"),
        ([{"columns": 1, "adjacency": "add-remove", "difference": ["1"]}], "share"),
    ],
)
def test_a_pair_that_evidence_names_is_one_of_neighbours(evidence, why):
    part = Part(Compose((Part(Table(TWO)), Part(Table(TWO)))))
    assert at_pair.read(part, [{"inputs": 2, "pair": [1, 0]}])
    with pytest.raises((Rejected, CertificateError, KeyError, TypeError), match=why):
        at_pair.read(part, evidence)


@pytest.mark.parametrize("listed", [((0, 1),), ((0, 1), (1, 2))])
def test_inputs_are_neighbours_that_every_part_lists(listed):
    rows = tuple(tuple(num(Fraction(x, 6)) for x in row) for row in ((3, 2, 1), (1, 3, 2), (2, 1, 3)))
    part = Part(Compose((Part(Table(rows, listed)), Part(Table(rows, listed)))))
    steps = {frozenset(pair) for pair in listed}
    for a in range(3):
        for b in range(3):
            named = [{"inputs": 3, "pair": [a, b]}]
            if a == b:
                continue  # no steps from itself
            if frozenset((a, b)) in steps:
                assert at_pair.read(part, named)
            else:
                with pytest.raises(Rejected):
                    at_pair.read(part, named)


@pytest.mark.parametrize(
    ("density", "support", "even"),
    [
        ("exp(-abs(z))", (None, None), True),
        ("exp(-max(z, -2*z))", (None, None), False),
        ("exp(-abs(z - 1))", (None, None), True),  # about 1
        ("exp(-(z - 1)**2)/(1 + z**2)", (None, None), False),
        ("1/cosh(z)", (None, None), True),
        ("1", (num(-1), num(1)), True),
        ("1", (num(0), num(1)), False),
        ("exp(-abs(z))", (num(0), None), False),
        ("exp(-z**2 + z**3 - z*z**2)", (None, None), True),
        ("exp(-abs(z))*(2 + tanh(z) + tanh(-z))", (None, None), True),
    ],
)
def test_noise_is_even_where_its_density_and_its_support_are(density, support, even):
    assert densities.even(Translation(parse(density), support)) is even


def test_a_lower_bound_of_several_parts_says_that_one_pair_is_worst_for_all():
    noise, other = Part(LAPLACE, num(1)), Part(Table(TWO))
    query = Query(((Fraction(1), Fraction(0)),), "add-remove")
    asked = Part(LAPLACE, None, query)
    for part, said in ((noise, False), (other, False), (Part(Compose((noise, other))), True), (Part(Compose((asked, asked))), False)):
        assert bool(neighbours.apart(part)) is said


# -- what is not certain is taken the safe way ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moved", "up", "down"),
    [
        ("5/2", 2, 2),
        ("3", 3, 3),
        ("sqrt(10)", 3, 3),
        ("3 - exp(-2000)", 2, 2),
        ("3 + exp(-2000)", 3, 3),
        ("2 + besselk(1/2, 1)*sqrt(2/pi)*exp(1)", 3, 2),  # 3, which no enclosure shows
    ],
)
def test_whole_steps_of_a_sensitivity_are_counted_up_where_they_bound_from_above(moved, up, down):
    assert (whole(parse(moved), True), whole(parse(moved), False)) == (up, down)


def test_behind_a_map_that_may_exchange_the_neighbours_both_orders_are_bounded():
    def level(value):
        return lambda epsilon: rational(Fraction(value))

    one_sided = Pair(level("1/2"), level("1/4"))
    found = settled.in_either_order(Curve(one_sided, Pair(level("1/8"), level("1/16")), ("x",)))
    with precision(64):
        assert found.upper.forward(rational(0)) >= 0.5 and found.upper.backward(rational(0)) >= 0.5
    assert settled.in_either_order(Curve(None, one_sided, ("x",))).upper is None


@pytest.mark.parametrize("delta", ["0", "1/100"])
def test_a_part_may_spend_a_delta_of_0_and_none_below(delta):
    part = {"epsilon": "2", "delta": delta, "curve": {"rule": "laplace"}}
    claim = Claim(Compose((Part(LAPLACE, num(1)),)), num(2), HALF)
    for asked, value in ((replace(claim, delta=None), num(Fraction(delta))), (replace(claim, epsilon=None), num(2))):
        (found,) = bound(asked, Step("one-sided", {"parts": [part]}))
        if delta == "0":  # a pure epsilon
            assert (found.quantity, found.value) == ("pure", num(2))
        else:
            assert (found.quantity, found.value) == ("delta" if asked.delta is None else "epsilon", value)
    for change in ({"delta": "-1/100"}, {"epsilon": "-1"}, {"epsilon": "99/100", "delta": "0"}):
        with pytest.raises(Rejected, match="not certainly at most"):
            bound(claim, Step("one-sided", {"parts": [part | change]}))


@pytest.mark.parametrize("support", [(parse("log(2)"), None), (num(-1), None), (num(0), parse("log(2)"))])
def test_a_law_on_ends_that_are_no_rationals_is_not_read_as_a_mixture_of_gaussians(support):
    profile, law = parse("exp(-r**2/(2*v))*v**(-1/2)"), parse("exp(-v)")
    assert mixing.mixing_of(Mixture(profile, law, (num(0), None), L2, num(1))) is not None
    assert mixing.mixing_of(Mixture(profile, law, support, L2, num(1))) is None


@pytest.mark.parametrize(("side", "sign"), [("-inf", -1), ("+inf", 1)])
@pytest.mark.parametrize(("c", "k", "shift"), [(1, 1, 0), (4, 9, 0), (1, 1, 2), (3, 2, -5)])
def test_the_slope_of_a_rounded_modulus_is_enclosed_on_both_sides(side, sign, c, k, shift):
    root = parse(f"sqrt({c} + {k}*(z - {shift})**2)" if shift >= 0 else f"sqrt({c} + {k}*(z + {-shift})**2)")
    with precision(128):
        slope = end_jet(root, "z", End(side, Fraction(16))).d1.bounds()
        for z in (16, 17, 100, 10**6):
            x = rational(sign * z - shift)
            true = k * x / (c + k * x * x).sqrt()
            assert not (true < slope.lo or true > slope.hi)
        assert abs(slope.hi - slope.lo) < 0.6 * k


@pytest.mark.parametrize(("profile", "falls"), [("exp(-r)", True), ("exp(-r*exp(-r) - r/100)", False), ("1 + r", False)])
def test_a_profile_falls_everywhere_and_not_at_0_alone(profile, falls):
    if falls:
        assert spherical_caps._falling(parse(profile))
    else:
        with pytest.raises(Undecided):
            spherical_caps._falling(parse(profile))


@pytest.mark.parametrize(("low_open", "high_open"), [(False, False), (True, False), (False, True), (True, True)])
def test_an_end_is_in_a_domain_where_it_is_closed(low_open, high_open):
    domain = Domain(Fraction(0), Fraction(1), low_open, high_open)
    inside = [x for x in (-1, 0, Fraction(1, 2), 1, 2) if domain.holds(Fraction(x))]
    assert inside == [*([] if low_open else [0]), Fraction(1, 2), *([] if high_open else [1])]
    assert Domain().holds(Fraction(-5)) and not Domain(None, Fraction(0)).holds(Fraction(1))


def test_differences_of_histograms_some_steps_apart():
    half = Fraction(1, 2)
    records, exchanged = ("records", 2, "add-remove"), ("records", 2, "replace")
    # where losses are convex in the difference the extreme ones are the worst, whole or not
    assert candidates._differences(records, 3 * half, True) == [(3 * half, 0), (0, 3 * half)]
    assert candidates._differences(exchanged, 3 * half, True) == [(3 * half, -3 * half)]
    assert candidates._differences(("records", 2, "l1"), Fraction(2), True) == [(2, 0), (0, 2)]
    assert candidates._differences(records, Fraction(1), False) == [(1, 0), (0, 1)]
    # else all whole ones count, one of each v and -v, and none but whole numbers of steps are listed
    assert set(candidates._differences(records, Fraction(2), False)) == {(0, 0), (1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2)}
    assert set(candidates._differences(exchanged, Fraction(2), False)) == {(0, 0), (1, -1), (2, -2)}
    for space, factor in ((records, 3 * half), (records, Fraction(candidates.MOST_STEPS + 1)), (("records", 2, "l1"), Fraction(1))):
        with pytest.raises(Undecided):
            candidates._differences(space, factor, False)
    with pytest.raises(Undecided):
        candidates._differences(("records", 3, "l2"), Fraction(1), True)


def test_what_a_part_of_a_whole_takes_for_granted_is_told_by_the_whole():
    own = Part(Group(Part(LAPLACE, num(1)), num(2)))
    other = Part(LAPLACE, None, Query(((Fraction(1),),), "add-remove"))
    assert not neighbours.apart(own)
    assert neighbours.apart(own, Part(Compose((own, other))))


def test_a_shift_of_independent_gaussian_coordinates_has_its_length_in_every_norm():
    for norm in (L1, L2, SQUARE):
        rate, square = gaussian_queries.rate_and_square(Product(parse("exp(-z**2/2)"), num(2), norm), (Fraction(3), Fraction(4)))
        assert (rate, square) == (num(1), 25)
    assert gaussian_queries.rate_and_square(Radial(parse("exp(-r**2/2)"), SQUARE, num(2)), (Fraction(3), Fraction(4))) is None


def test_what_is_attained_by_gaussian_parts_is_no_more_than_what_is_proved_below(monkeypatch):
    part = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
    monkeypatch.setattr(gaussian_composition, "total", lambda runs, attained=False: num(1 if attained else 2))
    found = gaussian_composition.curve(merged(Part(Compose((part, part)))))
    with precision(64):
        low, high = (pair.forward(rational(0)) for pair in (found.lower, found.upper))
        assert low < high and abs(low - gaussian.pair(num(1)).forward(rational(0))) < 1e-15


@pytest.mark.parametrize("u", ["1", "-3", "1/10", "-1/10", "20"])
def test_the_log_of_a_mean_of_exponentials_is_enclosed_in_the_plane(u):
    x = Fraction(u)
    with precision(128):
        found = complex._logexprel(acb(rational(x)), True)
        assert abs(found.real - (rational(x).expm1() / rational(x)).log()) < 1e-30
        # round 0 it is at most the greatest real part
        near = complex._logexprel(acb(arb(0, 0.01)), True)
        assert near.real.abs_upper() < 0.0102 and near.real.contains(0)


@pytest.mark.parametrize(
    ("expr", "rise"),
    [("abs(x - floor(x) - 1/2)", ZERO), ("exp(x - floor(x))", ZERO), ("2*floor(x)", num(2)), ("x", num(1)), ("floor(x)*x", None)],
)
def test_what_repeats_with_each_step_is_told_with_its_rise(expr, rise):
    assert quasi_period(parse(expr), "x", Fraction(1)) == rise


# -- the loss on a line ------------------------------------------------------------------------------------------------


def line(h, shift="1", half=True):
    return axis.Line(parse(h), "r" if half else "z", half, parse(shift), num(1))


@pytest.mark.parametrize("profile", ["exp(-abs(r - 1/2) - r)", "exp(-max(r, 2*r - 1/4))", "exp(-abs(r - 3) - 2*r)"])
def test_a_kink_anywhere_on_the_half_line_is_kept(profile):
    found = axis.Line.of(Claim(Radial(parse(profile), L2, num(1)), None, sensitivity=num(1)), {})
    for r in ("1/16", "1/3", "1", "2", "5"):
        at = {"r": parse(r)}
        assert compare.certainly_equal(substitute(found.h, at), neg(call("log", substitute(parse(profile), at))))


def test_a_kink_that_one_precision_leaves_open_is_decided_at_a_higher_one():
    """From 10^-30 above the root of two: what a low precision says before and after does not stand in the way."""
    found, low = line("abs(r - sqrt(2))"), Fraction(math.isqrt(2 * 10**60) + 1, 10**30)
    for bits, piece in ((64, "abs(r - sqrt(2))"), (256, "r - sqrt(2)"), (64, "abs(r - sqrt(2))")):
        with precision(bits):
            assert found.smooth(low, Fraction(2)) == parse(piece)
            assert found.smooth(Fraction(0), Fraction(1)) == neg(parse("r - sqrt(2)"))


@pytest.mark.parametrize(
    ("expr", "piece"),
    [
        ("abs(x) + x", "2*x"),
        ("abs(abs(x) - 2)", "2 - x"),
        ("x*max(x, 2 - x)**2", "x*(2 - x)**2"),
        ("abs(x - 1/2) + min(x, 3)", "abs(x - 1/2) + x"),
        ("exp(x) + log(1 + x**2)", "exp(x) + log(1 + x**2)"),
        ("floor(x)/(1 + x) + x", "x"),
    ],
)
def test_what_is_decided_of_a_kink_is_folded_into_the_tree_around_it(expr, piece):
    assert resolve(parse(expr), "x", Fraction(0), Fraction(1)) == parse(piece)


CELLS = [
    # h, its loss h(c + 1) - h(c), and the cell
    ("r**2/6", "(2*c + 1)/6", "0", "1"),
    ("-r**2/6", "-(2*c + 1)/6", "0", "1"),
    ("r**3/9", "(3*c**2 + 3*c + 1)/9", "0", "2"),
    ("-r**3/9", "-(3*c**2 + 3*c + 1)/9", "1", "2"),
    ("r**3/9 - r**2/2", "(3*c**2 + 3*c + 1)/9 - (2*c + 1)/2", "0", "3"),
    ("-r**3/9 + r**2/2", "-(3*c**2 + 3*c + 1)/9 + (2*c + 1)/2", "0", "2"),
    ("r/3", "1/3", "0", "2"),
    ("r/3 + r**2/6", "1/3 + (2*c + 1)/6", "0", "2"),
    ("-2*r + r**2/6", "-2 + (2*c + 1)/6", "1", "2"),
]


@pytest.mark.parametrize(("h", "loss", "low", "high"), CELLS)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_cell_holds_where_the_loss_is_nowhere_above_the_bound_and_nowhere_else(h, loss, low, high, sign):
    low, high = Fraction(low), Fraction(high)
    middle = (low + high) / 2
    values = [substitute(parse(loss), {"c": num(low + (high - low) * Fraction(k, 48))}).value * sign for k in range(49)]
    with precision(128):
        for over, holds in ((Fraction(1, 1000), None), (Fraction(-1, 1000), False), (Fraction(10), True)):
            most = num(max(values) + over)
            found = {way: shows(cells.Cell(line(h), low, high, sign, most, middle)) for way, shows in cells.WAYS.items()}
            assert holds is None or any(found.values()) is holds, found


@pytest.mark.parametrize(("h", "way", "most"), [("r**3/9", "rising", "151/144"), ("r**3/9 - r**2", "falling", "-20/9")])
def test_a_convex_loss_that_rises_or_falls_is_seen_to_meet_the_bound_at_one_end(h, way, most):
    """(3 c^2 + 3 c + 1)/9 from 1 to 5/4, and that less 2 c + 1."""
    for least, holds in ((most, True), (f"{most} - 1/1000", False)):
        with precision(128):
            cell = cells.Cell(line(h), Fraction(1), Fraction(5, 4), 1, parse(least), Fraction(9, 8))
            assert cells.WAYS[way](cell) is holds
            assert not cells.WAYS["falling" if way == "rising" else "rising"](cell)


@pytest.mark.parametrize(("nu", "distance"), [("-1/2", "1"), ("0", "1"), ("3", "0"), ("3", "-1")])
def test_a_pair_of_t_noise_wants_positive_degrees_of_freedom_and_a_positive_distance(nu, distance):
    with precision(64):
        assert student.Student(rational(3), 2, rational(1)).divergence(rational(0)) > 0
        with pytest.raises(Undecided):
            student.Student(rational(Fraction(nu)), 2, rational(Fraction(distance)))


@pytest.mark.parametrize("rows", [((2, 2, 0), (1, 3, 0)), ((0, 2, 2), (0, 1, 3)), ((2, 0, 2), (1, 0, 3))])
def test_an_output_that_neither_input_gives_has_no_loss(rows):
    # in both tables at once log 2 each, where the first answer is given; an output that nobody gives changes nothing
    part = Part(Table(tuple(tuple(num(Fraction(x, 4)) for x in row) for row in rows)))
    judgement = verify(Claim(Compose((part, part)), None)).judgement
    for end in (judgement.lower, judgement.upper):
        assert compare.certainly_equal(end, parse("2*log(2)"))
    for order in ((0, 1), (1, 0)):
        lost = Values((), "lower", (), backward=False)._facing(one_pair.OnePair(part.mechanism, pair=order))
        wanted = parse("log(2)")
        assert compare.certainly_le(lost, wanted)


@pytest.mark.parametrize(
    ("expr", "settled"),
    [
        ("max(y, theta)", "max(y, theta)"),  # either may be the greater on the unit square
        ("min(y, theta)", "min(y, theta)"),
        ("abs(y - theta)", "abs(y - theta)"),
        ("max(y, 2, theta)", "2"),
        ("max(y, y + theta)", "y + theta"),
        ("min(y, y + theta)", "y"),
        ("min(y + theta, y)", "y"),
        ("max(-1, y)", "y"),
        ("abs(y + theta)", "y + theta"),
        ("abs(-1 - y)", "1 + y"),
    ],
)
def test_a_kink_is_decided_where_its_sides_are_certain_alone(expr, settled):
    piece = normaliser.Piece(num(0), num(1), num(0), num(1))
    assert compare.certainly_equal(piece.settled(parse(expr)), parse(settled), {"y": UNIT_DOMAIN, "theta": UNIT_DOMAIN})
    assert (piece.settled(parse(expr)) == parse(expr)) is (expr == settled)


UNIT_DOMAIN = Domain(Fraction(0), Fraction(1), False, False)


@pytest.mark.parametrize(
    ("low", "high", "expr", "holds"),
    [
        ("0", "1", "y + theta", True),
        ("0", "1", "y - theta", False),
        ("theta", "1", "y - theta", True),
        ("0", None, "y", True),
        ("0", None, "1 - y", False),
        (None, "1", "1 - y", True),
        (None, "1", "y + 1", False),
        ("0", "1", "y*theta", False),  # not linear: nothing is said
    ],
)
def test_a_linear_expression_is_at_least_0_where_it_is_at_every_corner_and_outward(low, high, expr, holds):
    ends = [None if end is None else parse(end) for end in (low, high)]
    assert normaliser.Piece(*ends, num(0), num(1)).at_least_zero(parse(expr)) is holds


def test_a_piece_lies_between_two_lines_that_do_not_cross():
    assert normaliser.Piece(parse("theta"), num(1), num(0), num(1))
    for low, high in ((parse("theta"), HALF), (None, None), (num(1), num(0))):
        with pytest.raises(Rejected):
            normaliser.Piece(low, high, num(0), num(1))


def test_a_bound_on_a_mixture_rests_on_what_the_rule_for_its_radial_noise_rests_on(monkeypatch):
    gamma = Mixture(parse("exp(-r**2/(2*v))*v**(-1/2)"), parse("v**(-3)*exp(-1/v)"), (num(0), None), L2, num(1))
    claim = Claim(gamma, None, sensitivity=num(1))
    facts = [fact for fact in kernel.replay(unpack(verify(claim).certificate)) if fact.rule == mixture_closed.NAME]
    assert facts
    for fact in facts:
        (premise,) = fact.premises
        said = tuple(replace(each, assumed=("of this use",)) for each in premise.says)
        with precision(fact.prec):
            found = mixture_closed.infer(fact.about, fact.parameters, [replace(premise, says=said, assumed=("of the rule",))])
        assert all(bound.assumed == ("of the rule", "of this use") and bound.through[0] == premise.rule for bound in found)


@pytest.mark.parametrize(("epsilon", "closed"), [("1", True), ("a", False), ("-1", False)])
def test_the_delta_of_pure_parts_is_written_out_at_an_epsilon_that_is_a_number_of_at_least_0(epsilon, closed):
    assert (optimal_delta.delta_expr(num(1), 3, parse(epsilon)) is not None) is closed


SHOWN = [("1", 12, "1"), ("100", 12, "100"), ("100", 3, "100"), ("0", 3, "0"), ("1/4", 12, "0.25")]


@pytest.mark.parametrize(("value", "digits", "shown"), SHOWN)
def test_a_decimal_above_is_no_smaller_and_keeps_the_zeros_that_count(value, digits, shown):
    assert decimals.decimal_above(parse(value), digits) == shown
    assert Fraction(decimals.decimal_above(parse("1/3"), digits)) >= Fraction(1, 3)


@pytest.mark.parametrize("removable", ["(exp(-r) - 1)/r", "sinh(r)/r"])
@pytest.mark.parametrize(("pole", "upper", "bounded"), [("", 5, True), ("/(r - 3)**2", 1, True), ("/(r - 3)**2", 5, False)])
def test_a_density_is_finite_near_a_removable_point_and_not_beyond_a_pole(removable, pole, upper, bounded):
    with precision(64):
        density, end = parse(removable + pole), Fraction(upper)
        told = asymptotics.of_density(density, "r", Fraction(0), end)
        assert (told is not None and integrability.integrable(density, "r", Fraction(0), end, told)) is bounded


@pytest.mark.parametrize("density", ["exp(-abs(log(v)))", "exp(-max(log(v), -2*log(v)))", "exp(-v)"])
def test_a_hidden_variance_is_weighed_by_its_density_on_both_sides_of_1(density):
    mean = variances.Mean(mixing.Law(parse(density)), num(1))
    for u in ("-2", "-1/3", "0", "1/2", "3"):
        true = mul(call("exp", parse(u)), substitute(parse(density), {"v": call("exp", parse(u))}))
        assert compare.certainly_equal(substitute(mean.weight, {"u": parse(u)}), true)


@pytest.mark.parametrize("rows", [(("9/10", "1/10"), ("1/2", "1/2")), (("1/2", "1/2"), ("9/10", "1/10"))])
def test_a_sample_of_parts_at_one_pair_of_inputs_is_bounded_whichever_of_them_has_the_record(rows):
    # the evidence of the parts alone, put under the sample by hand: the answers of the tables do not say which input has the record
    one = Part(Table(tuple(tuple(map(parse, row)) for row in rows)))
    parts = Part(Compose((one, one, Part(KaryResponse(num(2), parse("3/4"))))))
    epsilon = parse("1/4")
    lines = unpack(verify(Claim(parts.mechanism, epsilon, None)).certificate).lines
    inner = next(plans.plan_of(lines, each.premises[0]) for each in lines if each.rule == "privacy-profile")
    lower = verify(Claim(Subsample(parts, HALF), epsilon, None)).judgement.delta_lower
    curve = {"rule": "poisson-subsampling", "part": {key: value for key, value in inner.items() if key != "below"}}
    (found,) = bound(Claim(Subsample(parts, HALF), epsilon, None), Step("privacy-profile", {"curve": curve, "delta": True}))
    assert found.side == "upper" and compare.certainly_le(lower, found.value)


@pytest.mark.parametrize(
    ("direction", "slopes", "climbs"),
    [
        ((1, 0, 0), (1, 0, 0), True),
        ((1, 0, 0), (0, 0, 0), True),
        ((-1, 0, 0), (-2, 0, 0), True),
        ((1, 0, 0), (-1, 0, 0), False),
        ((0, 0, 0), (1, 1, 1), False),
        ((0, 1, 0), (1, 1, 1), False),  # out of the edge, which has no face there
        ((1, 1, 0), (1, 1, 1), False),
    ],
)
def test_a_part_is_left_by_a_face_where_the_loss_climbs_along_it(direction, slopes, climbs):
    with precision(64):
        faces = part_slopes.slide(EDGE, [arb(x) for x in slopes], tuple(map(Fraction, direction)))
        assert (faces is not None) is climbs
        for face in faces or ():
            assert [v[0] for v in face.vertices] == [1 if direction[0] > 0 else 0]
        assert faces is None or len(faces) == 1


LINE, RIGHT, LEFT = Domain(), Domain(Fraction(0), None, False), Domain(None, Fraction(0), True, False)


@pytest.mark.parametrize("rising", ["exp(x)", "exp(2*x/3)", "exp(x**3)", "exp(x + x*abs(x))", "exp(-x)"])
def test_an_exponential_is_compared_with_1_by_the_sign_of_its_exponent(rising):
    above, below = (LEFT, RIGHT) if rising == "exp(-x)" else (RIGHT, LEFT)
    f, one = parse(rising), num(1)
    for domain, low, high in ((LINE, False, False), (above, True, False), (below, False, True)):
        at = {"x": domain}
        assert compare.certainly_lt(ZERO, f, at)
        assert (compare.certainly_le(one, f, at), compare.certainly_le(f, one, at)) == (low, high)
        assert not compare.certainly_lt(one, f, at) and not compare.certainly_lt(f, one, at)


@pytest.mark.parametrize(
    ("expr", "low", "high", "settled"),
    [
        ("min(y, 1/2)", "1/5", "2/5", "y"),
        ("min(y, 1/2)", "3/5", "9/10", "1/2"),
        ("min(y, 1/2)", "2/5", "3/5", "min(y, 1/2)"),
        ("min(1/2, y)", "2/5", "3/5", "min(1/2, y)"),
        ("max(y, 1/2)", "1/5", "2/5", "1/2"),
        ("max(y, 1/2)", "3/5", "9/10", "y"),
        ("max(y, 1/2)", "2/5", "3/5", "max(y, 1/2)"),
        ("abs(y - 1/2)", "3/5", "9/10", "y - 1/2"),
        ("abs(y - 1/2)", "1/5", "2/5", "1/2 - y"),
        ("abs(y - 1/2)", "2/5", "3/5", "abs(y - 1/2)"),
        ("floor(3*y)", "2/5", "3/5", "1"),
    ],
)
def test_a_kink_of_a_kernel_is_decided_over_an_event_where_it_is_certain(expr, low, high, settled):
    with precision(64):
        found = kernel_densities.resolve(parse(expr), box([(Fraction(low), Fraction(high)), *[(Fraction(0), Fraction(0))] * 2]))
    assert compare.certainly_equal(found, parse(settled), {"y": LINE}) and (found == parse(expr)) is (expr == settled)


BITS = [(52, False), (53, True), (16384, True), (16385, False), (True, False), ("64", False), (64.0, False)]


@pytest.mark.parametrize(("bits", "taken"), BITS)
def test_the_precision_of_a_point_is_a_whole_number_within_limits(bits, taken):
    if taken:
        assert point_witness._precision({"prec": bits}) == bits
    else:
        with pytest.raises((CertificateError, Rejected)):
            point_witness._precision({"prec": bits})


@pytest.mark.parametrize("epsilon", ["1", "sqrt(2)", "log(3)"])
def test_a_claim_of_exactly_what_is_proved_is_proved_and_one_of_exactly_what_is_attained_is_not_refuted(epsilon):
    claim, value = Claim(LAPLACE, parse(epsilon), sensitivity=num(1)), parse(epsilon)
    upper, lower = (saying(claim, "concave-exponent", Bound(side, value)) for side in ("upper", "lower"))
    assert kernel.judge(claim, [upper]).verdict == "PROVED"
    assert kernel.judge(claim, [lower]).verdict == "UNKNOWN"
    # a lower bound above an upper one is a fault of the rules, not a verdict
    assert kernel.judge(claim, [upper, lower]).verdict == "PROVED"


@pytest.mark.parametrize(
    ("expr", "sign"),
    [
        ("log(2 + x**2)", 1),
        ("log(1 + x) + log(1 + 2*x)", 1),
        ("log(1 + x) - log(1 + 2*x)", -1),
        ("log(2 + x) - log(1 + x)", 1),
        ("log(1 + x) - log(1 + x**2)", 0),  # either, on both sides of 1
        ("log(1/2 + x)", 0),
        ("log(1 + x) - x", -1),
        ("log(1 + x) - x/2", 0),
    ],
)
def test_a_sum_of_logarithms_has_a_sign_where_it_is_certain(expr, sign):
    f, at = parse(expr), {"x": Domain(Fraction(0))}
    above, below = compare.certainly_le(ZERO, f, at), compare.certainly_le(f, ZERO, at)
    assert not above or sign > 0
    assert not below or sign < 0


SLOPES = [(True, "-exp(-x)", "1"), (False, "-exp(-x)", None), (True, "x**2", None), (False, "abs(x)", "1")]


@pytest.mark.parametrize(("half", "h", "slope"), SLOPES)
def test_the_greatest_slope_of_a_concave_function_is_that_at_0_on_the_half_line_alone(half, h, slope):
    found = lipschitz.greatest_slope(parse(h), Shapes("x", half, {}), {})
    assert (found is None) if slope is None else compare.certainly_equal(found, parse(slope))


@pytest.mark.parametrize(
    ("expr", "apart"),
    [("log(x*(x - 2))", False), ("log(x*(2 + x))", True), ("log((x - 2)**2)", False), ("log((2 + x)**3)", True), ("log(max(x, 1))", None)],
)
def test_a_logarithm_is_taken_apart_where_every_factor_is_positive(expr, apart):
    tidied = Shapes("x", True, {}).tidy(parse(expr))
    for x in ("5/2", "3", "7"):
        at = {"x": parse(x)}
        assert compare.certainly_equal(substitute(tidied, at), substitute(parse(expr), at))
    assert apart is None or (tidied == parse(expr)) is not apart


@pytest.mark.parametrize(("density", "added"), [("exp(-abs(z))", True), ("exp(-max(z, -2*z))", False)])
def test_from_below_a_table_in_one_order_is_not_added_to_noise_that_loses_more_in_the_other(density, added):
    asked = Part(Product(parse(density), num(1)), None, Query(((Fraction(1),),), "add-remove"))
    claim = Claim(Compose((Part(Table((TWO[0], (HALF, HALF)))), asked)), num(1))
    pair = [{"inputs": 2, "pair": [0, 1]}, {"columns": 1, "adjacency": "add-remove", "difference": ["1"]}]
    parts = [{}, {"parts": [{"rule": "convex-exponent", "evidence": {"side": "lower"}}]}]
    step = Step("combination", {"side": "lower", "neighbours": pair, "part": {"parts": parts}})
    if added:
        assert compare.certainly_equal(bound(claim, step)[0].value, parse("1 + log(3/2)"))
    else:
        with pytest.raises(Rejected, match="in the same order of the neighbours"):
            bound(claim, step)


ARGUMENTS = {
    1: "exp log sqrt abs floor cosh sinh tanh asinh atanh erf erfc gamma logerfc logexprel",
    2: "besselk logbesselk",
    3: "logratio",
}


@pytest.mark.parametrize(("count", "name"), [(count, name) for count, names in ARGUMENTS.items() for name in names.split()])
def test_a_function_takes_its_number_of_arguments(count, name):
    for given in range(5):
        text = f"{name}({', '.join(['x'] * given)})"
        if given == count:
            assert parse(text)
        else:
            with pytest.raises(ExprError):
                parse(text)


@pytest.mark.parametrize(("h", "falls", "rises"), [("z/2", False, True), ("-z/2", True, False), ("z**2", False, True), ("1", True, True)])
def test_far_out_a_function_rises_or_falls_by_the_sign_of_its_slope_and_no_other_number(h, falls, rises):
    end = End("+inf", Fraction(16))
    with precision(128):
        assert (shapes.slope_sign(parse(h), end, -1), shapes.slope_sign(parse(h), end, 1)) == (falls, rises)

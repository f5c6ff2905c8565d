"""Upper bounds for one-parameter kernels, by trees of cuts (theory#kernel-box)."""

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpverify.search.finite import kernel_box as search
from dpverify.search.finite import normaliser
from dpverify.trusted.geometry.polytopes import Polytope, box
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected
from dpverify.trusted.kernel.expr import format_expr, num, parse
from dpverify.trusted.kernel.model import Claim, Domain, KaryResponse, Kernel
from dpverify.trusted.theories.finite import part_slopes
from dpverify.trusted.theories.finite.densities import linear_on, losses
from dpverify.trusted.theories.finite.far_outputs import far
from dpverify.trusted.theories.finite.rules import kernel_box, kernel_point

BOUNDED_LAPLACE = "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"


def kernel(density, output=("0", "1"), inputs=("0", "1"), sensitivity=None, **fields):
    ends = [None if end is None else parse(end) for end in output]
    mechanism = Kernel(parse(density), (ends[0], ends[1]), (parse(inputs[0]), parse(inputs[1])))
    return Claim(mechanism, None, sensitivity=None if sensitivity is None else parse(sensitivity), **fields)


def bounds(claim, digits=20):
    rules = {kernel_box.NAME: kernel_box, kernel_point.NAME: kernel_point}
    with precision(192):
        found = [rules[step["rule"]].check(claim, step["evidence"]) for step in search.propose(claim, digits)]
    return {bound.side: bound for bound in found}


def tree(claim):
    (evidence,) = (step["evidence"] for step in search.propose(claim, 20) if step["rule"] == kernel_box.NAME)
    return evidence


def check(claim, evidence):
    with precision(192):
        return kernel_box.check(claim, evidence)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("claim", "tight"),
    [
        # Holohan et al. 2020, Lemma: the bounded domain costs the ratio of the normalisers at the ends of the sensitivity
        (kernel(BOUNDED_LAPLACE), "1"),
        (
            kernel("exp(-abs(y - theta)/2)/(2*(2 - exp(-theta/2) - exp((theta - 5)/2)))", ("0", "5"), ("0", "5"), "1"),
            "1/2 + log((2 - exp(-1/2) - exp(-2))/(1 - exp(-5/2)))",
        ),
        # Laplace noise on the line costs the range of the input over the scale
        (kernel("exp(-abs(y - theta))/2", (None, None), ("0", "1")), "1"),
        # a linear tilt: the greatest ratio is (3/2)/(1/2), at the ends
        (kernel("1 + (theta - 1/2)*(2*y - 1)"), "log(3)"),
        # a step of height 5/4 over a floor of 1/4
        (kernel("(1 + 4*floor(min(1, max(0, 5/4 - abs(y - theta - 1/2)))))/4", ("0", "2")), "log(5)"),
        # the same with irrational ends
        (kernel("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta)/2)", ("0", "log(2)"), ("0", "log(2)")), "log(2)"),
    ],
)
def test_the_bounds_are_the_exact_value(claim, tight):
    found = bounds(claim)
    assert certainly_equal(found["upper"].value, parse(tight))
    assert certainly_le(found["lower"].value, parse(tight))
    assert certainly_lt(parse(f"{tight} - 1/10**20"), found["lower"].value)


TRIANGLE = "min(2*y/theta, 2*(1 - y)/(1 - theta))"


@pytest.mark.parametrize(("inputs", "tight"), [(("1/4", "3/4"), 3), (("1/3", "1/2"), Fraction(3, 2)), (("1/5", "1/2"), Fraction(5, 2))])
def test_densities_that_are_0_together_at_an_end_lose_what_they_lose_beside_it(inputs, tight):
    """The triangle on [0, 1] with its top at theta: by a grid the greatest quotient, which is that of the inputs at an end."""

    def density(y, theta):
        return min(2 * y / theta, 2 * (1 - y) / (1 - theta))

    low, high = map(Fraction, inputs)
    places, tops = [Fraction(i, 60) for i in range(1, 60)], [low + (high - low) * Fraction(i, 12) for i in range(13)]
    assert max(density(y, a) / density(y, b) for y in places for a in tops for b in tops) == tight
    found = bounds(kernel(TRIANGLE, inputs=inputs))
    for side in ("upper", "lower"):
        assert abs(float(constant(found[side].value).mid()) - math.log(tight)) < 1e-12
    assert certainly_le(found["upper"].value, parse(f"log({tight}) + 1/10**18"))


PART = box([(Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 4), Fraction(3, 4))])


@pytest.mark.parametrize(
    ("expr", "coefficients"),
    [
        ("y - theta", (1, -1, 0, 0)),
        ("log(y) - log(theta)", (1, -1, 0, 0)),
        ("log(y) + log(1 - theta) - log(theta) - log(1 - y)", (1, -1, 0, 0)),
        ("2*log(2) + log(y) - log(theta)", (4, -1, 0, 0)),
        ("log(y - 1/2) - log(theta)", None),  # of what has no logarithm nothing is known
        ("log(y)/2 - log(theta)", None),
        ("log(y) + log(other) - log(theta)", None),  # the difference of the products is not linear
        ("9*log(y) - 9*log(theta)", None),
        ("log(y) - theta", None),
        ("log(y**2) - log(theta)", None),
    ],
)
def test_a_sum_of_logarithms_has_the_sign_of_a_difference_of_products_where_all_are_at_least_0(expr, coefficients):
    with precision(128):
        found = linear_on(parse(expr), PART)
    assert found is None if coefficients is None else tuple(map(num, coefficients)) == found


@pytest.mark.wide
def test_the_piecewise_mechanism_of_local_privacy_costs_its_epsilon():
    # Wang et al. 2019: density p within l(theta) <= y <= r(theta), p/e^epsilon outside, C = (e^(eps/2) + 1)/(e^(eps/2) - 1)
    s = "exp(1/2)"
    inside = f"max(0, floor(1 + min(0, 1/({s} - 1) - abs(y - theta*{s}/({s} - 1)))))"
    density = f"(exp(1) - {s})/(2*{s} + 2)*(exp(-1) + (1 - exp(-1))*{inside})"
    found = bounds(kernel(density, (f"-({s} + 1)/({s} - 1)", f"({s} + 1)/({s} - 1)"), ("-1", "1")))
    assert certainly_equal(found["upper"].value, num(1)) and certainly_equal(found["lower"].value, num(1))


@pytest.mark.wide
def test_a_density_that_turns_inside_the_output_is_bounded_at_its_ends():
    found = bounds(kernel("1 + theta*(y**2 - y + 1/6)"))
    assert certainly_equal(found["upper"].value, parse("log(7/6)"))  # at y = 0 and theta = 1 against 0


def test_a_smaller_value_is_refused():
    claim = kernel(BOUNDED_LAPLACE)
    evidence = tree(claim)
    assert check(claim, evidence).value == num(1)
    with pytest.raises(Rejected, match="not certainly below"):
        check(claim, evidence | {"value": "1 - 1/10**15"})


@pytest.mark.wide
def test_a_tree_of_another_sensitivity_is_refused():
    density = "exp(-abs(y - theta)/2)/(2*(2 - exp(-theta/2) - exp((theta - 5)/2)))"
    narrow, wide = (kernel(density, ("0", "5"), ("0", "5"), s) for s in ("1", "2"))
    with pytest.raises((Rejected, CertificateError)):
        check(wide, tree(narrow))


def test_a_density_that_does_not_integrate_to_1_is_reported():
    claim = kernel("exp(-abs(y - theta))/2")
    assert "write its normaliser out" in normaliser.faults(claim)[0].lower()
    assert normaliser.faults(kernel(BOUNDED_LAPLACE)) == ()


def test_a_negative_density_is_reported():
    assert any("negative" in fault for fault in normaliser.faults(kernel("1 + 4*theta*(y - 1/2)")))


def test_a_tail_that_depends_on_the_output_is_refused():
    gaussian = kernel("exp(-(y - theta)**2/2)/sqrt(2*pi)", (None, None))
    with pytest.raises(Rejected, match="depends on y"):
        check(gaussian, {"value": "10", "reach": ["-4", "5"], "tree": ["corner", 0], "tails": [["0", ["corner", 0]]] * 2})


def test_a_slide_must_climb():
    claim = kernel("1 + (theta - 1/2)*(2*y - 1)")
    with pytest.raises(Rejected, match="rise"):
        check(claim, {"value": "log(3)", "tree": ["slide", ["1", "0", "0"], [["corner", 0]]]})


@pytest.mark.parametrize("node", ["corner", [], ["guess", 0], ["cut", ["1", "0"], "0", [], []], None, ["tangent", ["5", "0", "0"]]])
def test_a_damaged_tree_is_refused(node):
    with pytest.raises((CertificateError, Rejected)):
        check(kernel(BOUNDED_LAPLACE), {"value": "3/2", "tree": node})


def test_a_tree_as_deep_as_it_likes_is_refused():
    node = ["corner", 0]
    for _ in range(200):
        node = ["cut", ["1", "0", "0"], "1/2", node, ["corner", 0]]
    with pytest.raises(Rejected, match="deep"):
        check(kernel(BOUNDED_LAPLACE), {"value": "1", "tree": node})


def test_parameters_and_other_mechanisms_are_refused():
    with pytest.raises(Rejected, match="parameter"):
        check(kernel("b*exp(-y)", domains=(("b", Domain(Fraction(0))),)), {"value": "1", "tree": ["corner", 0]})
    with pytest.raises(Rejected, match="kernel"):
        check(Claim(KaryResponse(num(2), parse("1/2")), None), {"value": "1", "tree": ["corner", 0]})


@pytest.mark.wide
def test_jumps_in_the_input_count_at_the_end_of_the_range():
    # at theta = 1 itself the density is another one: floor(theta) is 1 there only
    claim = kernel("1 + floor(theta)*(2*y - 1)/2")
    assert "upper" not in bounds(claim) or certainly_le(parse("log(2)"), bounds(claim)["upper"].value)


def test_unequal_supports_are_infinite():
    shifted = kernel("max(0, 1 - abs(y - theta))", ("-1", "2"))
    assert bounds(shifted)["lower"].value is INFINITE and "upper" not in bounds(shifted)


# -- polytopes -------------------------------------------------------------------------------------


def vector(*numbers):
    return tuple(Fraction(x) for x in numbers)


def test_two_halves_of_a_polytope_share_the_vertices_of_the_cut():
    cube = box([(Fraction(0), Fraction(1))] * 3)
    normal = vector(1, 1, 1)
    low, high = cube.below(normal, Fraction(1)), cube.below(tuple(-x for x in normal), Fraction(-1))
    assert set(low.vertices) == {vector(0, 0, 0), vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1)}
    assert set(high.vertices) == set(cube.vertices) - {vector(0, 0, 0)}
    assert cube.below(normal, Fraction(-1)) is None
    again = low.below(vector(2, 0, 0), Fraction(1))
    assert set(again.vertices) == {vector(0, 0, 0), vector(0, 1, 0), vector(0, 0, 1)} | {
        vector("1/2", 0, 0), vector("1/2", "1/2", 0), vector("1/2", 0, "1/2")
    }  # fmt: skip


@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3, st.integers(-2, 4)), min_size=1, max_size=5))
def test_after_any_cuts_the_planes_that_each_vertex_lies_on_are_known(cuts):
    part = box([(Fraction(0), Fraction(1))] * 3)
    for *normal, offset in cuts:
        part = part.below(vector(*normal), Fraction(offset, 2)) or part
        for point, tight in zip(part.vertices, part.tight, strict=True):
            heights = [sum(a * x for a, x in zip(n, point, strict=True)) - c for n, c in part.planes]
            assert max(heights) <= 0
            assert tight == {i for i, height in enumerate(heights) if height == 0}


def test_the_faces_towards_a_direction_are_those_that_it_leaves_by():
    square = box([(Fraction(0), Fraction(1))] * 2)
    (face,) = square.towards(vector(1, 0))
    assert isinstance(face, Polytope) and set(face.vertices) == {vector(1, 0), vector(1, 1)}
    assert face.spans(vector(0, 1)) and not face.spans(vector(1, 0))
    assert {frozenset(f.vertices) for f in square.towards(vector(1, 1))} == {
        frozenset({vector(1, 0), vector(1, 1)}), frozenset({vector(0, 1), vector(1, 1)})
    }  # fmt: skip


# -- what the leaves of a tree show --------------------------------------------------------------------


LINE = box([(Fraction(0), Fraction(1)), (Fraction(0), Fraction(0)), (Fraction(0), Fraction(0))])
PLANE = box([(Fraction(0), Fraction(1)), (Fraction(0), Fraction(1)), (Fraction(0), Fraction(0))])
NOTHING = "log(6) - log(2) - log(3)"


@pytest.mark.parametrize(
    ("loss", "target", "taken"),
    [
        ("floor(5*y/2)", "2", True),
        ("floor(5*y/2)", "1", False),
        ("floor(5*y/2)", "-1", False),
        ("-floor(5*y/2)", "1", True),
        ("log(2 + floor(2*y))", "log(4)", True),
        ("log(2 + floor(2*y))", "log(3)", False),
        ("y", "5", False),  # not finitely many values
        ("3", "3", True),
    ],
)
def test_finitely_many_values_are_all_at_most_the_target(loss, target, taken):
    with precision(64):
        assert kernel_box.Tree(parse(target)).leaf(["values"], LINE, parse(loss)) is taken


@pytest.mark.parametrize("a", range(-2, 3))
def test_a_quadratic_loss_is_concave_where_its_form_is_nowhere_positive(a):
    slant = Polytope((vector("0", "0", "0"), vector("1/2", "1", "0")), ())
    with precision(64):
        for b, c in product(range(-2, 3), range(-4, 5)):
            loss = parse(f"({a})*y**2 + ({b})*theta**2 + ({c})*y*theta")
            assert part_slopes.concave(PLANE, loss) is (a <= 0 and b <= 0 and 4 * a * b >= c * c)
            assert part_slopes.concave(LINE, loss) is (a <= 0)
            assert part_slopes.concave(slant, loss) is (a + 4 * b + 2 * c <= 0)
            assert part_slopes.concave(part_slopes.spot(vector("0", "0", "0")), loss)
    assert not part_slopes.concave(box([(Fraction(0), Fraction(1))] * 3), parse("-y**2 - theta**2"))


@pytest.mark.parametrize(
    ("start", "target", "steps", "taken"),
    [
        ("1", "3/2", ["1/2", "-3"], True),
        ("1", "3/2", ["1/2", "3/4"], False),
        ("1", "1", ["1/2"], False),
        ("1", "1", ["0", "-1"], True),
        ("log(2) + log(3)", "log(6)", ["0"], True),
        ("log(2) + log(3)", "log(6) - 2**(-200)", ["0"], False),
        ("log(2) + log(3)", "log(6)", ["2**(-200)"], False),
        ("1", "2", [NOTHING], True),
        ("1", "1", [NOTHING], False),  # what may rise is not taken for what does not
        ("2", "1", ["-3"], False),
    ],
)
def test_a_loss_rises_by_the_greatest_step_or_not_at_all(start, target, steps, taken):
    with precision(64):
        found = kernel_box.Tree(parse(target)).rises_to(parse(start), vector("0", "0", "0"), [constant(parse(step)) for step in steps])
        assert found is taken


@pytest.mark.parametrize(("slope", "taken"), [(NOTHING, True), (f"{NOTHING} + 2**(-100)", False), (f"{NOTHING} - 2**(-100)", True)])
def test_a_tangent_whose_slope_no_ball_tells_from_0_is_compared_exactly(slope, taken):
    with precision(64):
        assert kernel_box.Tree(num(0)).leaf(["tangent", ["0", "0", "0"]], LINE, parse(f"({slope})*y")) is taken


def test_the_slope_along_one_axis_asks_for_no_other():
    loss = parse("3*y + besselk(theta, 2)")
    assert part_slopes.slope(loss, vector("0", "1", "0"), vector("2", "0", "0")) == num(6)
    with pytest.raises(ExprError, match="no derivative rule"):
        part_slopes.slope(loss, vector("0", "1", "0"), vector("2", "1", "0"))


def test_a_slide_has_a_tree_for_each_of_its_faces():
    loss, low, high = parse("y"), ["corner", 0], ["values"]
    tree = kernel_box.Tree(num(1))
    with precision(64):
        tree.walk(["slide", ["1", "0", "0"], [low]], LINE, loss, 0)
        for trees in ([], [low, high], [low, low]):
            with pytest.raises((Rejected, ValueError)):
                tree.walk(["slide", ["1", "0", "0"], trees], LINE, loss, 0)


def test_a_step_at_the_end_of_the_reach_holds_for_all_outputs_beyond_it():
    # The law is exp(-y) up to a factor, and exp(theta) times that from 1 on: theta = 1 and other = 0 give all y > 1 the loss
    # 1 - log(2 - 1/e) = 0.51, the greatest, and all y < 1 the loss -log(2 - 1/e).
    claim = kernel("exp(-y + theta*floor(min(y, 1)))/(1 - exp(-1) + exp(theta - 1))", ("0", None))
    shown = {"normaliser": normaliser.propose(claim.mechanism), "reach": ["0", "1"]}
    for node in (["values"], *(["corner", vertex] for vertex in range(8))):
        with pytest.raises(Rejected):
            check(claim, {"value": "log(2 - exp(-1))", "tree": node, "tails": [["0", node]], **shown})
    assert certainly_equal(bounds(claim)["upper"].value, parse("1 - log(2 - exp(-1))"))


LINE_OF_OUTPUTS = (None, None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("density", "inputs", "tight"),
    [
        # the weight of the tail grows with the scale: p(y; 1)/p(y; 0) = 2 (1 + y^2)/(4 + y^2) rises to 2; at y = 0 it is 1/2
        ("(1 + theta)/(pi*((1 + theta)**2 + y**2))", ("0", "1"), "log(2)"),
        # (1 + (y + 1)^2)/(1 + y^2) is greatest where y^2 + y = 1
        ("1/(pi*(1 + (y - theta)**2))", ("0", "1"), "2*asinh(1/2)"),
        # the slower of two exponentials has the tail: (3/4 + ...)/(1/4 + ...) falls from 3 at infinity to (3/4 + 1/2)/(1/4 + 3/2) at 0
        ("theta*exp(-abs(y))/2 + (1 - theta)*exp(-abs(y)/2)/4", ("1/4", "3/4"), "log(3)"),
        # Laplace noise at f(theta) costs the range of f
        ("exp(-abs(y - theta**2))/2", ("0", "2"), "4"),
        ("exp(-abs(y - theta**2))/2", ("-1", "2"), "4"),
        ("exp(-max(2*(y - theta), theta - y))*2/3", ("0", "1"), "2"),
        ("exp(-(y - theta))/(1 + exp(-(y - theta)))**2", ("0", "1"), "1"),
    ],
)
def test_tails_that_depend_on_the_output_are_bounded_far_out(density, inputs, tight):
    found = bounds(kernel(density, LINE_OF_OUTPUTS, inputs), 8)
    with precision(128):
        assert certainly_le(found["lower"].value, parse(tight)) and certainly_le(parse(tight), found["upper"].value)
        assert certainly_lt(parse(f"{tight} - 10**(-8)"), found["lower"].value)
        assert certainly_lt(found["upper"].value, parse(f"{tight} + 10**(-8)"))


@pytest.mark.parametrize(
    "density",
    ["exp(-abs(y)/(1 + theta))/(2*(1 + theta))", "exp(-(y - theta)**2/2)/sqrt(2*pi)", "2**theta*(1 + abs(y))**(-2 - theta)"],
)
def test_a_loss_that_grows_far_out_is_infinite(density):
    assert bounds(kernel(density, LINE_OF_OUTPUTS))["lower"].value is INFINITE


def test_a_peak_inside_the_outputs_is_found():
    # at y = 0 the ratio is (3/4)/(1/4); at the ends of the output it is 5/3
    found = bounds(kernel("theta/2 + (1 - theta)*3*y**2/2", ("-1", "1"), ("1/4", "3/4")))
    assert certainly_equal(found["upper"].value, parse("log(3)")) and certainly_equal(found["lower"].value, parse("log(3)"))


@pytest.mark.wide
def test_a_tail_wants_a_coordinate_in_which_the_loss_is_bounded():
    claim = kernel("(1 + theta)/(pi*((1 + theta)**2 + y**2))", LINE_OF_OUTPUTS)
    shown = {"value": "log(2)", **{key: found for key, found in tree(claim).items() if key != "value"}}
    check(claim, shown | {"value": "log(2) + 10**(-9)"})
    with pytest.raises(Rejected, match="not certainly below"):
        check(claim, shown | {"value": "log(2) - 10**(-9)"})
    low, high = shown["tails"]
    for tails in ([], [low], [["-1", low[1]], high], [low, ["1", high[1]]]):
        with pytest.raises((Rejected, ValueError)):
            check(claim, shown | {"value": "100", "tails": tails})
    with pytest.raises(Rejected, match="no such rate"):  # outputs on both sides of 0 have no coordinate start/s
        check(claim, shown | {"value": "100", "reach": ["1", "4"]})


@pytest.mark.parametrize("rate", [1, 2])
def test_the_coordinate_of_a_tail_keeps_the_loss(rate):
    claim = kernel("exp(-abs(y))*(1 + theta*exp(-2*abs(y)))/(1 + theta/3)/2", LINE_OF_OUTPUTS)
    space = losses(claim, (Fraction(-3), Fraction(2)))
    with precision(128):
        for ray, share, theta in product(space.rays, (Fraction(1, 5), Fraction(1)), (Fraction(0), Fraction(3, 4))):
            loss, region = far(space, ray, Fraction(rate))
            away = constant(parse(f"{3 if ray[0] < 0 else 2} - log({share})/{rate}")) * int(ray[0])
            inputs = {"theta": rational(theta), "other": rational(Fraction(1, 3))}
            assert value(loss, {"y": rational(share), **inputs}).overlaps(value(space.loss, {"y": away, **inputs}))
            assert region.box[0] == (0, 1) and region.box[1:] == space.region.box[1:]


def test_a_kink_is_replaced_by_a_side_that_is_nowhere_less():
    loss = parse("abs(y - 1/3) - abs(theta - 1/2) + 2*min(y, theta, 1/4) - 3*max(y, theta)")
    terms = {format_expr(term): number for number, term in enumerate(loss.args)}
    falls, rises = terms["-abs(theta - 1/2)"], terms["abs(y - 1/3)"]
    points = list(product((Fraction(n, 4) for n in range(5)), repeat=2))
    with precision(64):
        for number in set(range(4)) - {rises}:
            for choice in range(2):
                greater = part_slopes.under(loss, number, choice)
                for y, theta in points:
                    at = {"y": rational(y), "theta": rational(theta)}
                    assert value(loss, at) <= value(greater, at) + arb("1e-15")
    assert part_slopes.under(loss, falls, 0) != part_slopes.under(loss, falls, 1)
    with pytest.raises(Rejected, match="no kink"):
        part_slopes.under(loss, rises, 0)

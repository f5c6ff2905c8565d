"""Metric spaces of answers (theory/spaces.md): nets, noise, tables, packings and duals against brute force and theorems."""

import json
import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, Domain, KaryResponse, Space
from dpverify.trusted.theories.spaces.nets import net
from dpverify.trusted.theories.spaces.packings import packing
from dpverify.trusted.theories.spaces.rules import (
    cell_response,
    given_mechanism,
    near_dual,
    near_table,
    net_mechanism,
    noise_near,
    weighted_packing,
)
from dpverify.trusted.theories.spaces.shapes import require

POSITIVE, UNIT = Domain(Fraction(0)), Domain(Fraction(0), Fraction(1))
RULES = {rule.NAME: rule for rule in (cell_response, given_mechanism, near_dual, near_table, net_mechanism, noise_near, weighted_packing)}


def shape(kind, **made_of):
    return read_shape({"kind": kind, **made_of})


def claim(space, epsilon=None, within="1/4", beta="1/20", lipschitz="1", **databases):
    """A claim; databases: diameter, or between and truth, or else one for each answer. g and b range."""
    how = "bounded" if "diameter" in databases else "listed" if "between" in databases else databases.get("databases", "answers")
    between = tuple(tuple(map(Fraction, row)) for row in databases.get("between", ()))
    mechanism = Space(
        space, parse(lipschitz), how, parse(databases["diameter"]) if "diameter" in databases else None, between, databases.get("truth", ())
    )
    domains = tuple((name, domain) for name, domain in (("b", UNIT), ("g", POSITIVE)) if name in (within, beta))
    return Claim(mechanism, None if epsilon is None else parse(epsilon), within=parse(within), beta=parse(beta), domains=domains)


def verdict(asked):
    verified = verify(asked)
    assert check(verified.certificate).verdict == verified.judgement.verdict
    return verified.judgement.verdict


def value(bound):
    return math.inf if isinstance(bound.value, Infinite) else float(constant(bound.value).mid())


ROW = shape("points", distances=[[abs(i - j) for j in range(5)] for i in range(5)])
TRIANGLES = shape("tree", ratio="1/2", branching=[3, 2])
FALLING = ("1/log(1 + k)", "2**(-k)", "log(1 + k)/k", "exp(-sqrt(k))", "1/log(1 + log(1 + k))", "1/(k + sqrt(k))", "-1/k")
LASTING = ("1", "1 + 1/k", "k/(k + 1)", "1/k + floor(k/2) - k/2 + 1/2", "log(1 + k)", "2 - 1/k**2", "max(1/k, 1/5)")


# -- compatible or not ------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axes", FALLING)
def test_a_sequence_ellipsoid_whose_axes_tend_to_0_is_privacy_compatible(axes):
    assert verdict(claim(shape("ellipsoid", axes=axes), within="g", beta="b", diameter="10")) == "PROVED"


@pytest.mark.parametrize("axes", LASTING)
def test_a_sequence_ellipsoid_with_infinitely_many_axes_that_last_is_not(axes):
    bounded = {"databases": "answers"} if axes == "log(1 + k)" else {"diameter": "10"}
    assert verdict(claim(shape("ellipsoid", axes=axes), within="g", beta="b", **bounded)) == "REFUTED"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("kind", "made_of", "compatible"),
    [
        ("box", {"sides": [1, "1/3"], "norm": "l1"}, True),
        ("ball", {"radius": 1, "dimension": 4, "norm": "linf"}, True),
        ("sphere", {"radius": "1/2", "dimension": 3}, True),
        ("hull", {"corners": [[0, 0], [1, 0], [0, 1]]}, True),
        ("tree", {"ratio": "1/3", "branching": "k + 2"}, True),
        ("tree", {"ratio": "1/3", "branching": [2, 5, "inf"]}, False),
        ("cantor", {"ratio": "1/3"}, True),
        ("hoelder", {"constant": 2, "bound": 1, "exponent": "1/2"}, True),
        ("discrete", {}, False),
        ("net", {"size": "(1 + 1/r)**3"}, True),
        ("separated", {"distance": "1/10"}, False),
        ("product", {"parts": [{"kind": "cantor", "ratio": "1/4"}, {"kind": "ellipsoid", "axes": "1/k"}]}, True),
        ("product", {"parts": [{"kind": "cantor", "ratio": "1/4"}, {"kind": "ellipsoid", "axes": "1"}]}, False),
    ],
    ids=str,
)
def test_a_space_with_bounded_databases_is_compatible_exactly_where_its_completion_is_compact(kind, made_of, compatible):
    asked = claim(shape(kind, **made_of), within="g", beta="b", diameter="5")
    assert verdict(asked) == ("PROVED" if compatible else "REFUTED")


@pytest.mark.parametrize("kind", ["real", "integers"])
@pytest.mark.parametrize("databases", ["answers", "unbounded"])
def test_noise_makes_unbounded_spaces_compatible(kind, databases):
    assert verdict(claim(shape(kind), within="g", beta="b", databases=databases)) == "PROVED"


def test_nothing_is_refuted_where_databases_may_be_any_distance_apart():
    assert verdict(claim(shape("discrete"), within="1/2", databases="unbounded")) == "UNKNOWN"
    assert verdict(claim(shape("real"), "1/1000", within="1/2", databases="unbounded")) == "UNKNOWN"


@pytest.mark.parametrize(("within", "expected"), [("49/100", "REFUTED"), ("501/1000", "PROVED")])
def test_axes_that_tend_to_a_half_are_decided_on_both_sides_of_it(within, expected):
    assert verdict(claim(shape("ellipsoid", axes="1/2 + 1/k"), within=within, diameter="3")) == expected


@pytest.mark.parametrize(("within", "expected"), [("1", "PROVED"), ("999999/1000000", "REFUTED")])
def test_points_that_are_equally_far_apart_are_decided_at_their_distance(within, expected):
    assert verdict(claim(shape("discrete"), within=within, diameter="1")) == expected


# -- tight epsilons that theory gives -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "within", "beta", "tight"),
    [
        (ROW, "1/2", "1/2", None),
        (shape("points", distances=[[0, 1], [1, 0]]), "1/2", "1/5", math.log(4)),  # one bit
        (shape("points", distances=[[int(i != j) for j in range(6)] for i in range(6)]), "1/2", "1/5", math.log(20)),  # k-ary response
        (shape("points", distances=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), "1/2", "1/4", math.log(6)),
        (shape("points", distances=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]), "1", "1/4", 0),
    ],
    ids=lambda value: "",
)
def test_finitely_many_points_have_the_tight_epsilon_of_the_linear_program(space, within, beta, tight):
    judged = verify(claim(space, within=within, beta=beta)).judgement
    low, high = (0.0 if end is None else float(constant(end).mid()) for end in (judged.lower, judged.upper))
    assert high - low < 1e-7
    if tight is None:  # the solver of floats takes 1e-7
        assert high == pytest.approx(least_epsilon(space, float(Fraction(within)), float(Fraction(beta))), abs=1e-6)
    else:
        assert low - 1e-9 <= tight <= high + 1e-9


def least_epsilon(space, within, beta):
    """By bisection on a linear program that is written out here: rows x, answers y, P[x, y] <= e^(epsilon d) P[x', y]."""
    from scipy.optimize import linprog

    distances = np.array([[float(d) for d in row] for row in space.matrix])
    size = len(distances)

    def feasible(epsilon):
        upper, sums = [], []
        for x, other, y in product(range(size), repeat=3):
            row = np.zeros((size, size))
            row[x, y] += math.exp(-epsilon * distances[x, other])
            row[other, y] -= 1
            upper.append(row.ravel())
        near = np.zeros((size, size, size))
        for x in range(size):
            near[x, x] = -1.0 * (distances[x] <= within)
            total = np.zeros((size, size))
            total[x] = 1
            sums.append(total.ravel())
        right = np.concatenate([np.zeros(len(upper)), np.full(size, beta - 1)])
        return linprog(np.zeros(size**2), np.vstack([*upper, near.reshape(size, -1)]), right, np.array(sums), np.ones(size)).status == 0

    low, high = 0.0, 20.0
    while high - low > 1e-8:
        middle = (low + high) / 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high


def test_a_tree_of_two_depths_is_private_as_randomized_response_is():
    judged = verify(claim(TRIANGLES, within="1/2", diameter="1")).judgement  # three nodes whose leaves are at most 1/2 apart
    assert float(constant(judged.lower).mid()) == pytest.approx(math.log(2 * 19)) == float(constant(judged.upper).mid())


# -- nets and packings by brute force ------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", ["1/2", "1/3", "1/10", "1/27", "1/30"])
def test_pieces_of_a_cantor_set_are_a_net_and_their_left_ends_a_packing(radius):
    cantor, depth = shape("cantor", ratio="1/3"), next(k for k in range(9) if Fraction(1, 3**k) <= Fraction(radius))
    points = sorted(Fraction(sum(2 * digit * 3**i for i, digit in enumerate(digits)), 3**6) for digits in product((0, 1), repeat=6))
    ends = [points[i << (6 - depth)] for i in range(2**depth)]
    assert max(min(abs(p - end) for end in ends) for p in points) <= Fraction(radius)
    assert round(float(constant(net(cantor, parse(radius), {"depth": depth}, {})).exp().mid())) == len(ends)
    with pytest.raises(Rejected, match="not certainly within the radius"):
        net(cantor, parse(radius), {"depth": depth - 1}, {})
    near = Fraction(1, 3 ** (depth - 1)) / 3
    apart = max(sum(abs(p - end) < near for end in ends) for p in points)
    assert apart == 1 == packing(cantor, parse(str(near - Fraction(1, 10**6))), {"depth": depth}).overlap
    with pytest.raises(Rejected, match="clear of each other"):
        packing(cantor, parse(str(near)), {"depth": depth})


def test_no_point_is_near_to_more_points_on_axes_than_the_overlap_says():
    rng = np.random.default_rng(1)
    for within in (0.3, 0.7, 0.9, 0.97):
        told = {"least": "1", "first": 200}
        found = packing(shape("ellipsoid", axes="1"), parse(str(Fraction(within).limit_denominator(100))), told)
        for many in (1, 2, 3, 5, 9, 10, 11, 16, 17, 18, 40):
            z = np.zeros(200)
            z[:many] = 1 / math.sqrt(many) * math.sqrt(1 - within**2)  # the worst: equal entries with the square sum 1 - gamma^2
            z *= rng.choice([-1, 1], 200)
            near = sum(np.linalg.norm(z - sign * np.eye(200)[i]) <= within - 1e-9 for i in range(many) for sign in (-1, 1))
            assert near <= found.overlap


@pytest.mark.parametrize(("sides", "within", "count"), [((1,), "1/2", 1), ((1,), "499/1000", 2), ((1, 2), "1/4", 8), ((3,), "1/2", 3)])
def test_a_box_is_packed_with_points_that_are_more_than_twice_gamma_apart(sides, within, count):
    assert packing(shape("box", sides=list(sides)), parse(within), {}).count == count


@pytest.mark.parametrize("centres", [[1, 3], [0, 2, 4], [2]])
def test_a_net_that_misses_a_point_is_refused(centres):
    missed = max(min(abs(i - c) for c in centres) for i in range(5))
    assert net(ROW, num(missed), {"points": centres}, {}) is not None
    with pytest.raises(Rejected, match="away from all of them"):
        net(ROW, parse(f"{missed} - 1/1000"), {"points": centres}, {})


def test_volumes_bound_nets_and_packings_of_balls_on_the_right_side():
    disc = shape("ball", radius=1, dimension=2)
    hexagonal = sum(math.hypot(i + j / 2, j * math.sqrt(3) / 2) * 0.3 * math.sqrt(3) <= 1.3 for i in range(-9, 10) for j in range(-9, 10))
    assert math.exp(float(constant(net(disc, parse("3/10"), {}, {})).mid())) >= hexagonal * 0.5
    assert packing(disc, parse("1/4"), {"by": "volume"}).count == 4
    assert packing(shape("sphere", radius=1, dimension=3), parse("1/4"), {"by": "volume"}).count == 16  # caps: (1 - cos)/2 = c^2/4


# -- the mechanisms do what the bounds say --------------------------------------------------------------------------


def test_the_exponential_mechanism_on_a_net_is_near_and_private_as_is_claimed():
    within, beta, share, points = 0.25, 0.05, 0.5, 4
    asked = claim(shape("box", sides=[1]), within="1/4", beta="1/20")
    epsilon = value(net_mechanism.check(asked, {"share": "1/2"}))
    rate = max(0, math.log((points - 1) * (1 - beta) / beta)) / ((1 - share) * within)
    centres = (np.arange(points) + 0.5) / points
    truths = np.linspace(0, 1, 201)
    gaps = np.abs(truths[:, None] - centres)
    rows = np.exp(-rate * gaps)
    rows /= rows.sum(axis=1, keepdims=True)
    assert (rows * (gaps > within + 1e-12)).sum(axis=1).max() <= beta
    losses = np.abs(np.log(rows[:, None]) - np.log(rows[None])).max(axis=2)
    apart = np.abs(truths[:, None] - truths)
    assert (losses <= epsilon * apart + 1e-9).all() and epsilon == pytest.approx(2 * rate)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_noise_is_further_than_gamma_with_the_probability_of_a_gamma_law(dimension):
    from scipy.stats import gamma

    asked = claim(shape("real", dimension=dimension), within="1/3", beta="1/50")
    tail = Fraction(math.ceil(gamma.ppf(0.98, dimension) * 10**6), 10**6)
    assert value(noise_near.check(asked, {"tail": str(tail)})) == pytest.approx(3 * gamma.ppf(0.98, dimension), abs=1e-5)
    with pytest.raises(Rejected, match="not certainly above"):
        noise_near.check(asked, {"tail": str(tail - Fraction(1, 10**5))})
    assert value(noise_near.check(asked, {})) >= 3 * gamma.ppf(0.98, dimension) - 1e-9


# -- what must be refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "databases", "why"),
    [
        (shape("points", distances=[[0, 1, 3], [1, 0, 1], [3, 1, 0]]), {}, "a way over a third point is shorter"),
        (shape("points", distances=[[0, 1], [2, 0]]), {}, "symmetric"),
        (shape("points", distances=[[0, 0], [0, 0]]), {}, "else positive"),
        (shape("box", sides=[3]), {"diameter": "2"}, "no databases are so near"),
        (shape("ellipsoid", axes="k"), {"diameter": "2"}, "no databases are so near"),
        (shape("real"), {"diameter": "2"}, "as far apart as you like"),
        (shape("ellipsoid", axes="1/log(k)"), {}, "does not certainly have a value"),
        (shape("tree", ratio="1", branching=2), {}, "not certainly below 1"),
        (shape("tree", ratio="1/2", branching="3 - k"), {}, "does not fall"),
        (shape("tree", ratio="1/2", branching="k"), {}, "at least 1"),
        (shape("cantor", ratio="1/2"), {}, "not certainly below 1/2"),
        (shape("hoelder", constant=1, bound=1, exponent=2), {}, "not certainly at most 1"),
        (shape("net", size="1/r"), {}, "not certainly at least 1"),
        (shape("points", distances=[[0, 2], [2, 0]]), {"between": ((0, 1), (1, 0)), "truth": (0, 1)}, "too far"),
        (shape("points", distances=[[0, 1], [1, 0]]), {"between": ((0, 1), (1, 0)), "truth": (0, 0)}, "every answer once"),
    ],
    ids=lambda value: "",
)
def test_what_is_no_space_or_has_no_databases_is_refused(space, databases, why):
    asked = claim(space, **databases)
    with pytest.raises(Rejected, match=why):
        require(asked.mechanism, {})
    with pytest.raises(CertificateError, match=why):
        verify(asked)


@pytest.mark.parametrize(
    ("asked", "rule", "parameters", "why"),
    [
        (Claim(KaryResponse(num(2), parse("1/2")), num(1)), "net-mechanism", {"share": "1/2"}, "about a space"),
        (claim(shape("box", sides=[1])), "net-mechanism", {"share": "1"}, "below gamma"),
        (claim(shape("box", sides=[1])), "net-mechanism", {"share": "3/2"}, "at most 1"),
        (claim(shape("discrete")), "net-mechanism", {"share": "1"}, "further apart than it"),
        (claim(shape("real")), "net-mechanism", {"share": "1/2"}, "no finite nets"),
        (claim(TRIANGLES), "cell-response", {"depth": 1}, "within the radius"),
        (claim(TRIANGLES), "noise-near", {}, "no set of R"),
        (claim(TRIANGLES, within="2"), "weighted-packing", {"packing": {"depth": 1}}, "further apart than that"),
        (claim(TRIANGLES, databases="unbounded"), "weighted-packing", {"packing": {"depth": 1}}, "not declared"),
        (claim(shape("discrete"), within="1", diameter="1"), "weighted-packing", {}, "not certainly further"),
        (claim(shape("separated", distance="1/2"), diameter="1"), "weighted-packing", {}, "more than twice"),
        (claim(shape("box", sides=[1])), "grid-packing", {"reach": [[1, 1]], "epsilon": "1"}, "shorter than the side"),
        (claim(shape("box", sides=[1])), "grid-packing", {"reach": [[1, 0]], "epsilon": "6"}, "not certainly above 1"),
        (claim(shape("ellipsoid", axes="1/k"), diameter="2"), "weighted-packing", {"packing": {"least": "1/2"}}, "not all of"),
        (claim(shape("ellipsoid", axes="1"), within="1", diameter="2"), "weighted-packing", {"packing": {"least": "1"}}, "more than that"),
        (claim(shape("ellipsoid", axes="1/k"), within="g", beta="b"), "net-mechanism",
         {"share": "1/2", "net": {"factor": "1", "depth": 0, "power": "2"}}, "not certainly at most"),
        (claim(shape("ellipsoid", axes="1/k"), within="g", beta="b"), "net-mechanism",
         {"share": "1/2", "net": {"factor": "1", "depth": 0, "power": "2", "start": 1}}, "not certainly below"),
        (claim(shape("ellipsoid", axes="1/k")), "net-mechanism", {"share": "1/2", "net": {"axes": 7, "tail": "1/9"}}, "axes after 7"),
        (claim(ROW, within="1/2"), "near-table", {"epsilon": "1", "rows": [["1", "0", "0", "0", "0"]] * 5}, "near the truth"),
        (claim(ROW, within="1/2"), "near-table", {"epsilon": "1", "rows": np.eye(5, dtype=int).astype(str).tolist()}, "on the first alone"),
        (claim(ROW, within="4"), "near-table", {"epsilon": "0", "rows": [*[["1", *"0000"]] * 4, ["1/2", "1/2", *"000"]]}, "first|loss"),
        (claim(ROW, within="1/2"), "near-dual", {"epsilon": "1", "weights": ["1"] * 5, "multipliers": []}, "not certainly above beta"),
        (claim(ROW, within="1/2"), "near-dual", {"epsilon": "1", "weights": ["-1"] * 5, "multipliers": []}, "at least 0"),
        (claim(ROW, within="1/2"), "near-dual", {"epsilon": "1", "weights": ["1"] * 5, "multipliers": [[0, 0, ["1"] * 5]]}, "not a pair"),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)  # fmt: skip
def test_a_broken_hypothesis_is_rejected(asked, rule, parameters, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        check(pack(asked, 128, "PROVED", [Line(rule, (), parameters, (), 128)]))


MUTATED = {
    "table": claim(shape("points", distances=[[0, 1], [1, 0]]), "log(4)", within="1/2", beta="1/5"),
    "net": claim(shape("ellipsoid", axes="log(1 + k)/k"), within="g", beta="b", diameter="3"),
    "packing": claim(shape("tree", ratio="1/2", branching=[2, "inf"]), "9", within="2/5", diameter="1"),
}
VALUES = (None, True, 0, 1, -1, 10**9, 0.5, "", "0", "1", "-1", "1/0", "10**9", "k", [], ["1"], {}, {"depth": 10**9}, "inf", float("nan"))


@pytest.mark.parametrize("name", MUTATED)
def test_a_forged_parameter_is_refused_or_proves_no_more(name):
    verified = verify(MUTATED[name])
    data = verified.certificate
    genuine = verified.judgement
    assert genuine.verdict in ("PROVED", "REFUTED")
    for number, line in enumerate(data["lines"]):
        for key, changed in product(line["parameters"], VALUES):
            forged = json.loads(json.dumps(data))
            forged["lines"][number]["parameters"][key] = changed
            with suppress(DpverifyError):
                assert check(forged).verdict == genuine.verdict


def given(table=(), rate=None, **asked):
    """A claim about one mechanism on the row of five points."""
    found = claim(ROW, **asked)
    rows = tuple(tuple(map(Fraction, row)) for row in table)
    return replace(found, mechanism=replace(found.mechanism, table=rows, rate=None if rate is None else parse(rate)))


@pytest.mark.parametrize("rate", ["0", "1/2", "3"])
def test_an_exponential_mechanism_that_is_given_is_as_near_and_as_private_as_its_table(rate):
    gaps = np.abs(np.arange(5)[:, None] - np.arange(5))
    rows = np.exp(-float(Fraction(rate)) * gaps)
    rows /= rows.sum(axis=1, keepdims=True)
    far = (rows * (gaps > 1)).sum(axis=1).max()
    losses = np.abs(np.log(rows[:, None]) - np.log(rows[None])).max(axis=2) / (gaps + np.eye(5))
    for share, expected in ((1.01, "PROVED"), (0.99, "REFUTED")):
        beta = str(Fraction(far * share).limit_denominator(10**9))
        judged = verify(given(rate=rate, within="1", beta=beta)).judgement
        assert judged.verdict == expected
        if expected == "PROVED":
            assert float(constant(judged.upper).mid()) == pytest.approx(losses.max(), abs=1e-9)


def test_a_table_that_is_given_is_judged_and_no_other_mechanism_in_its_place():
    spread = [[Fraction(1, 5)] * 5] * 5
    assert verdict(given(spread, within="1", beta="3/5", epsilon="0")) == "PROVED"
    assert verdict(given(spread, within="1", beta="1/2", epsilon="9")) == "REFUTED"
    exact = np.eye(5, dtype=int).tolist()
    assert verdict(given(exact, within="1/2", beta="1/2")) == "REFUTED"  # at no epsilon, though others are private
    for rule, parameters in (("net-mechanism", {"share": "1/2"}), ("near-table", {"epsilon": "9", "rows": [["1/5"] * 5] * 5})):
        with pytest.raises(Rejected, match="would choose another"):
            check(pack(given(exact, within="1/2", beta="1/2"), 128, "PROVED", [Line(rule, (), parameters, (), 128)]))
    for wrong in ([[1] * 5] * 5, exact[:4], [[2, -1, 0, 0, 0]] * 5):
        with pytest.raises(Rejected, match="probabilities of all answers"):
            require(given(wrong).mechanism, {})
    for parameters in ({"epsilon": "0"}, {"far": 0}, {"cell": [1, 1, 0]}, {"cell": [0, 1]}, {"far": 9}):
        with pytest.raises((Rejected, CertificateError)):
            check(pack(given(rate="1", within="3", beta="1/2"), 128, "PROVED", [Line("given-mechanism", (), parameters, (), 128)]))


def test_a_space_is_no_part_of_a_mechanism_and_only_it_says_how_near():
    from dpverify.trusted.kernel.model import Compose, Part

    inside = to_json(Claim(Compose((Part(claim(ROW).mechanism),)), num(1)))
    with pytest.raises(CertificateError, match="no part of one"):
        from_json(inside)
    with pytest.raises(CertificateError, match="which is no space"):
        from_json(to_json(Claim(KaryResponse(num(2), parse("1/2")), num(1), within=num(1))))
    assert RULES.keys() >= {line["rule"] for line in verify(claim(ROW)).certificate["lines"]}

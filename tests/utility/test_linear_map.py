"""The error of a linear map of noisy answers (theory/design#linear-map), against moments that are found in other ways."""

from dataclasses import replace
from fractions import Fraction
from math import exp, log, sqrt

import pytest

from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.combinators.released import answered, released
from dpverify.trusted.kernel.assumptions import REAL
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, Compose, Part, PostProcess, Product, Query, repeated

THIRDS = 'matrix = [["2/3", "-1/3", "1/3"], ["-1/3", "2/3", "1/3"]]'
THREE = 'part = { kind = "product", density = "exp(-abs(z)/2)", dimension = 3, query = [[1, 0], [0, 1], [1, 1]], adjacency = "l1" }'
HEXAGON = (
    '{ kind = "builtin", name = "knorm", columns = [[1, 0], [1, 1], [0, 1]], epsilon = "1/2", '
    'query = [[1, 1, 0], [0, 1, 1]], adjacency = "l1" }'
)
TEN = '{ kind = "builtin", name = "laplace", scale = 20, query = [[10, 10, 10]], adjacency = "l1" }'


def claim_of(tmp_path, *mechanism, asked="epsilon = 1", kind="post_process"):
    file = tmp_path / "claim.toml"
    text = [f'[mechanism]\nkind = "{kind}"', *mechanism, "[[claim]]", asked, "utility = true"]
    file.write_text("\n".join(text))
    return read_spec(file).claims[0].claim


def bounds(claim, digits=12):
    verified = verify(claim, digits)
    errors = check(verified.certificate).errors
    return {(b.measure, b.whose, b.side, b.coordinate): float(constant(b.value)) for _, b in errors}


def test_least_squares_of_three_counts_has_the_covariance_of_its_matrix(tmp_path):
    found = bounds(claim_of(tmp_path, THIRDS, THREE))
    for side in ("lower", "upper"):
        assert found["rms_l2", "this", side, None] == pytest.approx(sqrt(2 * 8 * 6 / 9))
        assert found["rms", "this", side, 0] == found["rms", "this", side, 1] == pytest.approx(sqrt(8 * 6 / 9))


def second_moments(vertices):
    """Of the uniform law on a polygon about 0, its vertices in order: by the formula of Green."""
    total, second = Fraction(0), [[Fraction(0)] * 2 for _ in range(2)]
    for (a, b), (c, d) in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        cross = a * d - b * c
        total += Fraction(cross, 2)
        second[0][0] += Fraction(cross * (a * a + a * c + c * c), 12)
        second[1][1] += Fraction(cross * (b * b + b * d + d * d), 12)
        second[0][1] += Fraction(cross * (a * d + 2 * a * b + 2 * c * d + c * b), 24)
    second[1][0] = second[0][1]
    return [[float(x / total) for x in row] for row in second]


def test_pieces_of_k_norm_noise_and_laplace_noise_are_put_together(tmp_path):
    parts = f'matrix = [[1, 0, 1], [0, 1, 0]]\npart = {{ kind = "compose", parts = [{HEXAGON}, {TEN}] }}'
    found = bounds(claim_of(tmp_path, parts))
    # of density exp(-||z||/2) in the plane: E R^2 = Gamma(4)/Gamma(2) * 2^2, of which E||D||^2 = (4/2) E||u||^2
    second = second_moments([(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)])
    first, other = (3 * 2 * 4 * 2 * second[i][i] for i in range(2))
    squares = first + 2 * 20**2, other
    for i in range(2):
        assert found["rms", "this", "upper", i] == pytest.approx(sqrt(squares[i]))
        assert found["rms", "this", "lower", i] == pytest.approx(sqrt(squares[i]))
    assert found["rms_l2", "this", "upper", None] == pytest.approx(sqrt(sum(squares)))


def test_a_composition_releases_the_list_of_its_answers_each_with_noise_of_its_own(tmp_path):
    part = 'part = { kind = "builtin", name = "laplace", scale = 4 }\ntimes = 3'
    found = bounds(claim_of(tmp_path, part, kind="compose"))
    assert found["rms_l2", "this", "upper", None] == pytest.approx(sqrt(3 * 2 * 16))
    assert ("rms", "this", "upper", 2) in found and ("rms", "this", "upper", 3) not in found


def test_the_bounds_by_shape_hold_of_laplace_noise_whose_errors_are_known(tmp_path):
    one = 'matrix = [[1]]\npart = { kind = "builtin", name = "laplace", scale = 2 }'
    claim = claim_of(tmp_path, one, asked='epsilon = 1\nbeta = "1/20"')
    found = bounds(claim)
    assert found["expected_l2", "this", "lower", None] <= 2 * (1 + 1e-12) and found["expected_l2", "this", "upper", None] >= 2
    assert found["expected_absolute", "this", "lower", 0] <= 2 * (1 + 1e-12) and found["expected_absolute", "this", "upper", 0] >= 2
    assert found["exceeded", "this", "lower", None] <= 2 * log(20) <= found["exceeded", "this", "upper", None]


def test_integrals_enclose_mean_squares_without_a_closed_form(tmp_path):
    one = 'matrix = [[3]]\npart = { kind = "translation", density = "exp(-abs(z) - z**4)" }'
    found = bounds(claim_of(tmp_path, one), 8)
    grid = [k / 4000 for k in range(1, 24000)]
    weights = [exp(-x - x**4) for x in grid]
    square = sum(x * x * w for x, w in zip(grid, weights, strict=True)) / (sum(weights) + 0.5)
    assert found["rms", "this", "lower", 0] == pytest.approx(3 * sqrt(square), rel=1e-6)
    assert found["rms", "this", "upper", 0] == pytest.approx(3 * sqrt(square), rel=1e-6)


def test_noise_of_infinite_variance_has_an_infinite_error(tmp_path):
    one = 'matrix = [[1], [0]]\npart = { kind = "builtin", name = "student_t", nu = 2, dimension = 1, scale = 1 }'
    verified = verify(claim_of(tmp_path, one, asked="epsilon = 100"), 8)
    above = {(b.measure, b.coordinate): b.value for _, b in verified.judgement.errors if b.side == "upper" and b.whose == "this"}
    assert (above["rms_l2", None], above["rms", 0], above["rms", 1]) == (INFINITE, INFINITE, ZERO)


def test_what_is_answered_is_the_map_of_the_parts_queries(tmp_path):
    query = answered(claim_of(tmp_path, THIRDS, THREE))
    assert query.rows == ((1, 0), (0, 1)) and query.adjacency == "l1"


def test_nothing_is_answered_where_no_query_is_stated(tmp_path):
    of_one = PostProcess(Part(Product(parse("exp(-abs(z))"), num(1)), num(1)), "", ((Fraction(1),),))
    assert answered(replace(claim_of(tmp_path, THIRDS, THREE), mechanism=of_one)) is None


def test_parts_that_speak_of_other_neighbours_answer_no_query_together():
    noise, one = Product(parse("exp(-abs(z))"), num(1)), ((Fraction(1),),)
    parts = [Part(noise, query=Query(one, adjacency)) for adjacency in ("l1", "add-remove")]
    assert answered(Claim(Compose((*parts,)), num(1))) is None
    assert answered(Claim(Compose((parts[0], parts[0])), num(1))) == Query(one + one, "l1")


def test_any_mechanism_is_spoken_of_as_in_a_claim_that_states_the_query_itself(tmp_path):
    mapped = bounds(claim_of(tmp_path, THIRDS, THREE))
    file = tmp_path / "direct.toml"
    direct = 'query = [[1, 0], [0, 1]]\nadjacency = "l1"\nepsilon = 1\nutility = true'
    file.write_text(f'[mechanism]\nkind = "product"\ndensity = "exp(-abs(z))"\ndimension = 2\n[[claim]]\n{direct}')
    stated = bounds(read_spec(file).claims[0].claim)
    for measure in ("expected_l2", "rms_l2"):
        assert mapped[measure, "any", "lower", None] == pytest.approx(stated[measure, "any", "lower", None], rel=1e-6)
    _, bound = next(one for one in verify(claim_of(tmp_path, THIRDS, THREE), 9).judgement.errors if one[1].whose == "any")
    assert REAL in bound.assumed


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("matrix = [[1, 0]]", "do not have 3 entries"),
        ("matrix = [[1, 0, 0], [1]]", "do not have 3 entries"),
    ],
)
def test_a_matrix_that_does_not_fit_is_a_fault_of_the_file(tmp_path, rows, why):
    with pytest.raises(SpecError, match=why):
        claim_of(tmp_path, rows, THREE)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ('{ kind = "table", rows = [["1/2", "1/2"], ["1/2", "1/2"]] }', "not noise added to an answer"),
        (f'{{ kind = "compose", times = 2, parts = [{TEN}, {TEN}, {TEN}] }}', "do not have 6 entries"),
        (f'{{ kind = "subsample", rate = "1/2", part = {TEN} }}', "not noise added to an answer"),
    ],
)
def test_a_matrix_over_what_is_no_list_of_noisy_answers_is_a_fault(tmp_path, part, why):
    with pytest.raises(SpecError, match=why):
        claim_of(tmp_path, "matrix = [[1, 0, 0]]", f"part = {part}")


def alone(claim, **parameters):
    return pack(claim, 128, "UNKNOWN", [Line("linear-map", (), parameters, (), 128)])


@pytest.mark.parametrize(
    ("density", "why"),
    [('"exp(-(z - 3)**2)"', "not certainly symmetric"), ('"exp(-max(z, -2*z))"', "not certainly symmetric")],
)
def test_noise_that_is_not_symmetric_about_0_is_refused(tmp_path, density, why):
    claim = claim_of(tmp_path, f'matrix = [[1]]\npart = {{ kind = "translation", density = {density} }}')
    with pytest.raises(Rejected, match=why):
        check(alone(claim, coordinates=1, parts=[{"bits": 40}]))


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({}, "'coordinates' is"),
        ({"coordinates": -1}, "'coordinates' is"),
        ({"coordinates": 1, "parts": [{}, {}]}, "cannot be used|has not the form"),
        ({"coordinates": 1, "parts": "all"}, "cannot be used|has not the form"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(tmp_path, parameters, why):
    with pytest.raises(CertificateError, match=why):
        check(alone(claim_of(tmp_path, THIRDS, THREE), **parameters))


def test_a_norm_by_columns_wants_the_fact_of_its_own_unit_ball(tmp_path):
    claim = claim_of(tmp_path, f"matrix = [[1, 0], [0, 1]]\npart = {HEXAGON}")
    with pytest.raises(CertificateError, match="fewer premises"):
        check(alone(claim, coordinates=2))
    lines = verify(claim, 8).certificate["lines"]
    number = next(i for i, line in enumerate(lines) if line["rule"] == "linear-map")
    doubled = [*lines[:number], {**lines[number], "premises": lines[number]["premises"] * 2}]
    with pytest.raises(CertificateError, match="more premises"):
        check({**verify(claim, 8).certificate, "lines": doubled})


def test_the_canonical_form_has_a_matrix_only_where_there_is_one(tmp_path):
    plain = claim_of(tmp_path, 'part = { kind = "builtin", name = "laplace", scale = 2 }')
    data = to_json(plain)
    assert "matrix" not in data["mechanism"]
    with pytest.raises(CertificateError, match="canonical form"):
        from_json({**data, "mechanism": {**data["mechanism"], "matrix": []}})
    mapped = claim_of(tmp_path, THIRDS, THREE)
    assert from_json(to_json(mapped)) == mapped


def test_a_matrix_leaves_the_privacy_as_it_is(tmp_path):
    mapped = claim_of(tmp_path, THIRDS, THREE)
    plain = replace(mapped, mechanism=replace(mapped.mechanism, matrix=()))
    assert verify(mapped, 9).judgement.upper == verify(plain, 9).judgement.upper


@pytest.mark.parametrize(("times", "why"), [('"1/2"', "integer"), ('"3/2"', "integer"), ("10000000", "integer from 1 to")])
def test_a_part_is_run_a_whole_number_of_times_that_is_not_enormous(times, why):
    part = repeated(Part(Product(parse("exp(-abs(z))"), num(1)), num(1)), parse(times.strip('"')))
    with pytest.raises(Rejected, match=why):
        released(Compose((part,)))


def test_the_error_of_a_sum_has_the_sum_of_variances(tmp_path):
    two = '{ kind = "builtin", name = "laplace", scale = 3, times = 2 }'
    found = bounds(claim_of(tmp_path, f'parts = [{two}, {{ kind = "builtin", name = "gaussian", sigma = 2 }}]', asked=SUMMED, kind="sum"))
    for side in ("lower", "upper"):
        assert found["rms_l2", "this", side, None] == found["rms", "this", side, 0] == pytest.approx(sqrt(2 * 2 * 9 + 4))
    # E|X| of two Laplace noises by themselves is 3/2 of the scale, and one more noise about 0 does not lessen it
    assert found["expected_absolute", "this", "lower", 0] <= found["expected_absolute", "this", "upper", 0]
    assert found["expected_absolute", "this", "upper", 0] >= 4.5
    on_integers = 'part = { kind = "builtin", name = "discrete_laplace", scale = 3 }\ntimes = 4'
    found, p = bounds(claim_of(tmp_path, on_integers, asked=SUMMED, kind="sum")), exp(-1 / 3)
    for side in ("lower", "upper"):
        assert found["rms_l2", "this", side, None] == pytest.approx(sqrt(4 * 2 * p / (1 - p) ** 2))
    assert found.get(("expected_l2", "this", "lower", None), 0) == 0  # on the integers nothing is said of the shape


SUMMED = 'sensitivity = 1\nepsilon = 9\ndelta = "1/10"'


@pytest.mark.parametrize(
    "mechanism",
    [
        'part = { kind = "builtin", name = "gaussian", sigma = 2 }\ntimes = 4\ndropouts = 1',
        'part = { kind = "builtin", name = "poisson", mean = 2 }\ntimes = 4',
    ],
)
def test_a_sum_of_some_noises_or_of_lopsided_ones_has_no_error_that_is_told(tmp_path, mechanism):
    found = bounds(claim_of(tmp_path, mechanism, asked=SUMMED, kind="sum"))
    assert not [key for key in found if key[1] == "this"]

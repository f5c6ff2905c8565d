"""Calibration: the values are those that theory gives, rounded to the safe side; on the other side the claim is refuted."""

import json
import random
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import asinh, erfc, exp, expm1, floor, inf, log, sinh, sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify as dp
from dpverify.cli import main
from dpverify.errors import CalibrationError, SpecError
from dpverify.search.threshold import GREATEST, LEAST, Grid, Seen, Threshold


def rounded(value, up, digits=6):
    return Decimal(value).normalize(Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR))


def gaussian_delta(epsilon, mu):
    """delta(epsilon) of Gaussian noise whose answers are mu standard deviations apart (Balle & Wang 2018)."""
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return erfc(-upper / sqrt(2)) / 2 - exp(epsilon) * erfc(-lower / sqrt(2)) / 2


def discrete_gaussian_delta(epsilon, sigma):
    weights = {z: exp(-(z**2) / (2 * sigma**2)) for z in range(-60, 61)}
    total = sum(weights.values())
    return sum(max(weights[z] - exp(epsilon) * weights.get(z - 1, 0), 0) for z in weights) / total


def zero(function, low, high):
    """Where a monotone function is 0, by halving."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == (function(low) > 0) else (low, middle)
    return (low + high) / 2


# -- values that theory gives --------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("found", "value", "up"),
    [
        (lambda: dp.calibrated(dp.laplace, "scale", sensitivity=1, epsilon=3), 1 / 3, True),
        (lambda: dp.calibrated(dp.laplace, "scale", sensitivity=2, epsilon="7/10"), 20 / 7, True),
        (lambda: dp.calibrated(dp.knorm, "epsilon", columns=[[1, 0], [1, 1]], sensitivity=3, epsilon=1), 1 / 3, False),
        (lambda: dp.calibrated(dp.student_t, "scale", nu=5, dimension=3, sensitivity=1, epsilon=1), 1 / (2 * sqrt(5) * sinh(1 / 8)), True),
        (lambda: dp.calibrated(dp.randomized_response, "p", epsilon=1), 1 / (1 + exp(-1)), False),
        (lambda: dp.calibrated(dp.k_randomized_response, "p", k=10, epsilon=1), exp(1) / (9 + exp(1)), False),
        (lambda: dp.calibrated(dp.table([["p", "1-p"], ["1-p", "p"]], parameters={"p": "least"}), epsilon=1), 1 / (1 + exp(1)), True),
        (lambda: dp.calibrated(dp.table([["p", "1-p"], ["1-p", "p"]], parameters={"p": "greatest"}), epsilon=1), 1 / (1 + exp(-1)), False),
        (lambda: dp.calibrated(dp.subsample, "rate", part=dp.laplace(1), epsilon="1/10"), expm1(0.1) / expm1(1), False),
        (lambda: dp.calibrated(dp.compose(dp.laplace("b"), dp.laplace("3*b"), parameters={"b": "least"}), epsilon=2), 2 / 3, True),
        (lambda: dp.calibrated(dp.lipschitz, "constant", part=dp.laplace(3), epsilon=1), 3 - 1e-12, False),
        (
            lambda: dp.calibrated(dp.gaussian, "sigma", sensitivity=1, epsilon=1, delta="1e-6"),
            zero(lambda sigma: gaussian_delta(1, 1 / sigma) - 1e-6, 1, 9), True,
        ),
        (
            lambda: dp.calibrated(dp.compose(part=dp.gaussian("least"), times=16), epsilon=1, delta="1e-6"),
            zero(lambda sigma: gaussian_delta(1, 4 / sigma) - 1e-6, 1, 99), True,
        ),
        (
            lambda: dp.calibrated(dp.discrete_gaussian, "sigma", sensitivity=1, epsilon=1, delta="1e-4"),
            zero(lambda sigma: discrete_gaussian_delta(1, sigma) - 1e-4, 1, 9), True,
        ),
        (lambda: dp.calibrated(dp.laplace, "scale", sensitivity=1, epsilon=0, delta="1/10"), -1 / (2 * log(0.9)), True),
    ],
)  # fmt: skip
def test_the_value_is_the_one_that_theory_gives_rounded_to_the_safe_side(found, value, up):
    answer = found()
    assert answer.value in (rounded(value, up), rounded(value * (1 + 1e-12), up)) and answer.word == (LEAST if up else GREATEST)
    assert {one.verdict for one in answer.answers} == {"PROVED"} and {one.verdict for one in answer.answers_beside} == {"REFUTED"}
    assert abs(answer.value - answer.beside) <= Decimal(10) ** (answer.value.adjusted() - 5) and (answer.beside < answer.value) == up


@pytest.mark.parametrize(
    ("found", "steps"),
    [
        (lambda: dp.calibrate(dp.compose, "times", part=dp.laplace(10), epsilon="9/4"), 22),
        (lambda: dp.calibrate(dp.k_randomized_response, "k", p="1/2", epsilon=2), 1 + floor(exp(2))),
        (lambda: dp.calibrate(dp.student_t, "dimension", nu=5, scale=3, sensitivity=1, epsilon=1), floor(1 / asinh(1 / (6 * sqrt(5))) - 5)),
        (lambda: dp.calibrate(dp.group, "size", part=dp.laplace(7), epsilon=1), 7),
        (
            lambda: dp.calibrate(dp.compose, "times", part=dp.gaussian(100), epsilon=1, delta="1e-6"),
            floor(zero(lambda steps: gaussian_delta(1, sqrt(steps) / 100) - 1e-6, 1, 9999)),
        ),
        (lambda: dp.calibrate(dp.compose(part=dp.laplace(10), times="n", parameters={"n": "least"}), epsilon=1), 10),
    ],
)  # fmt: skip
def test_a_number_of_steps_is_the_greatest_integer(found, steps):
    assert found() == steps


def test_more_digits_round_less():
    values = [dp.calibrate(dp.laplace, "scale", sensitivity=1, epsilon=3, digits=digits) for digits in (1, 3, 9)]
    assert values == [Decimal("0.4"), Decimal("0.334"), Decimal("0.333333334")]


def test_what_exactly_suffices_is_not_rounded():
    found = dp.calibrated(dp.laplace, "scale", sensitivity=1, epsilon=1)
    assert (found.value, found.beside) == (1, Decimal("0.999999"))


# -- what cannot be found ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "kind", "said"),
    [
        (lambda: dp.calibrate(dp.gaussian, "sigma", sensitivity=1, epsilon=1), CalibrationError, "give the claim a delta above 0"),
        (lambda: dp.calibrate(dp.staircase(epsilon=1, gamma="least"), epsilon=1), CalibrationError, "There is nothing to calibrate."),
        (lambda: dp.calibrate(dp.laplace("greatest"), sensitivity=1, epsilon=1), CalibrationError, 'Write "least" for the end where'),
        (lambda: dp.calibrate(dp.laplace(1), sensitivity=1, epsilon=1), SpecError, 'no unknown to solve for. Write "least"'),
        (lambda: dp.calibrate(dp.laplace("lest"), sensitivity=1, epsilon=1), SpecError, "Is it meant in scale?"),
        (lambda: dp.calibrate(dp.compose(dp.laplace("least"), dp.laplace("least")), epsilon=1), SpecError, "Name the number once"),
        (lambda: dp.calibrate(dp.laplace("least"), sensitivity=1, epsilon="tight"), SpecError, "no claim is to be proved"),
        (lambda: dp.calibrate(dp.laplace, sensitivity=1, epsilon=1), SpecError, "name a function of a kind and the parameter"),
        (lambda: dp.calibrate(dp.laplace, "scale", epsilon=1), SpecError, "sensitivity is missing"),
        (lambda: dp.calibrate(dp.laplace, "scal", sensitivity=1, epsilon=1), SpecError, "Did you mean 'scale'?"),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_find_the_error_says_why(ask, kind, said):
    with pytest.raises(kind) as caught:
        ask()
    assert said in str(caught.value)


# -- claim files ---------------------------------------------------------------------------------------------

FILE = """\
# "least" is a word here too
[mechanism]
kind = "compose"   # of 'least'
parts = [
  { kind = "builtin", name = "laplace", scale = 'least' },   # looked for
  { kind = "builtin", name = "laplace", scale = 4 },
]

[[claim]]
name = "least"
epsilon = 1

[[claim]]
name = "is not asked"
epsilon = "tight"
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path / "cache"))
    Path("noise.toml").write_text(FILE)
    return Path("noise.toml")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def test_the_file_is_printed_with_the_number_in_place_and_all_else_as_it_was(file):
    told = run("calibrate", file).stdout.splitlines()
    assert told[0] == "# part 1, scale = 1.33334 is the least value to 6 digits at which every claim is PROVED."
    assert told[1] == "# At 1.33333 'least' is REFUTED."
    assert "\n".join(told[2:]) + "\n" == FILE.replace("'least' }", "1.33334 }") and file.read_text() == FILE


def test_the_number_is_written_and_the_file_verifies(file):
    assert run("calibrate", file, "--write", "--digits", "3").stdout.startswith("part 1, scale = 1.34 is the least value to 3 digits")
    assert file.read_text() == FILE.replace("'least' }", "1.34 }")
    run("verify", file)


def test_both_sides_have_certificates_that_the_kernel_accepts(file):
    answer = json.loads(run("calibrate", file, "--certificates", "both", "--format", "json").stdout)
    assert (answer["value"], answer["next"], answer["word"]) == ("1.33334", "1.33333", "least")
    assert [claim["verdict"] for claim in answer["claims"] + answer["claims_at_next"]] == ["PROVED", "REFUTED"]
    assert {Path(claim["certificate"]).exists() for claim in answer["claims"] + answer["claims_at_next"]} == {True}
    assert "2 certificates" in run("check", "both").stdout


def test_a_file_that_leaves_a_number_open_is_not_verified_but_says_how_to_find_it(file):
    assert 'scale = "least" is a number that is still to be found: `dpverify calibrate FILE` finds it' in run("verify", file, code=2).stderr


def test_where_every_smaller_value_will_do_the_greatest_is_found_and_said(file):
    file.write_text('[mechanism]\nkind = "subsample"\nrate = "least"\npart = { kind = "builtin", name = "laplace", scale = 1 }\n'
                    '[[claim]]\nepsilon = "1/10"\n')  # fmt: skip
    told = run("calibrate", file).stdout
    assert "rate = 0.061207 is the greatest value" in told and "so there is no least one" in told


def test_a_value_that_no_proof_and_no_refutation_is_found_beyond_is_undecided(file):
    file.write_text('[mechanism]\nkind = "post_process"\nmap = "rounded"\npart = { kind = "builtin", name = "laplace", scale = "least" }\n'
                    '[[claim]]\nepsilon = 1\n')  # fmt: skip
    told = run("calibrate", file, code=4).stdout
    assert "At 0.999999 'claim 1' is UNKNOWN: neither proved nor refuted, so a smaller value may do." in told


def test_a_claim_that_holds_nowhere_is_told_with_the_exit_code_of_a_refutation(file):
    file.write_text('[mechanism]\nkind = "builtin"\nname = "gaussian"\nsigma = "least"\n[[claim]]\nsensitivity = 1\nepsilon = 1\n')
    assert "CalibrationError: noise.toml: sigma: no value between" in run("calibrate", file, code=1).stderr


@pytest.mark.parametrize("text", ["", "[mechanism\n", '[mechanism]\nkind = "nothing"\nscale = "least"\n[[claim]]\nepsilon = 1\n'])
def test_a_bad_file_is_told_as_verify_tells_it(file, text):
    file.write_text(text)
    assert "SpecError: noise.toml" in run("calibrate", file, code=2).stderr


def test_code_that_a_file_names_runs_once(file):
    Path("code.py").write_text(
        "from dpverify.declare import L1, Mechanism, Positive, Radial\n"
        'noise = Mechanism("noise", Radial(L1(), "exp(-r/a)", 1), {"a": Positive()})\n'
    )
    file.write_text('[mechanism]\nuse = "code.py:noise"\nparameters = { a = "least" }\n[[claim]]\nsensitivity = 1\nepsilon = "1/3"\n')
    assert "forbids code" in run("calibrate", file, "--no-code", code=2).stderr
    result = run("calibrate", file, "--write", "--certificates", "both")
    assert result.stdout.startswith("a = 3 is the least value") and len(list(Path("both").glob("*.cert.json"))) == 2
    assert result.stderr.count("running") <= 1


def test_a_place_where_no_number_fits_is_told_as_verify_tells_it(file):
    file.write_text('[mechanism]\nkind = "table"\nrows = [["least", "1/3"], ["1/2", "1/2"]]\n[[claim]]\nepsilon = 1\n')
    assert "SpecError: noise.toml, mechanism" in run("calibrate", file, code=2).stderr


def test_a_parameter_that_several_places_use_is_found_once(file):
    file.write_text('[mechanism]\nkind = "radial"\nprofile = "exp(-r/b)"\nnorm = "l1"\ndimension = 2\nparameters = { b = "least" }\n'
                    '[[claim]]\nsensitivity = "b/7 + 1"\nepsilon = 1\n')  # fmt: skip
    assert "b = 1.16667" in run("calibrate", file).stdout


# -- the search ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [LEAST, GREATEST])
@pytest.mark.parametrize("digits", [0, 2, 6, 10])
def test_the_search_ends_at_two_neighbours_that_the_property_tells_apart(word, digits):
    draw = random.Random(digits)
    for _ in range(30):
        edge, slope = 10 ** draw.uniform(0.5, 5), draw.uniform(0.3, 3)
        asked = []

        def look(value, edge=edge, slope=slope, asked=asked):
            asked.append(value)
            excess = slope * (log(value) - log(edge)) * (-1 if word == LEAST else 1) + 0.1 * asinh(log(value) - log(edge)) ** 2
            return Seen(value, excess <= 0, excess)

        grid = Grid(digits)
        low, high = Threshold(look, grid, word, Fraction(1)).neighbours()
        assert grid.after(low.at) == high.at and grid.before(high.at) == low.at
        assert (low.holds, high.holds) == ((False, True) if word == LEAST else (True, False))
        assert len(asked) <= 40


def test_the_search_needs_no_more_than_yes_and_no():
    look = lambda value: Seen(value, value >= Fraction(12345, 1000), inf if value < 1 else float("nan"))  # noqa: E731
    low, high = Threshold(look, Grid(4), LEAST, Fraction(1)).neighbours()
    assert (low.at, high.at) == (Fraction(1234, 100), Fraction(1235, 100))


def test_a_grid_of_digits_has_smaller_steps_below_a_power_of_ten():
    grid = Grid(3)
    assert grid.before(Fraction(1)) == Fraction(999, 1000) and grid.after(Fraction(999, 1000)) == 1
    assert grid.after(Fraction(1)) == Fraction(101, 100) and grid.up(1.0001) == Fraction(101, 100)


@pytest.mark.parametrize("digits", [0, 1, 3, 6])
@pytest.mark.parametrize("end", [Fraction(1, 3), Fraction(2, 3), Fraction(22, 7), Fraction(1000, 7), Fraction(1, 8)])
def test_the_ends_of_a_grid_are_numbers_of_it_inside_the_limits(digits, end):
    low, high = Grid(digits, end, None).ends[0], Grid(digits, None, end).ends[1]
    assert high <= end <= low
    for value in (low, high):
        assert (value / Fraction(10) ** (len(str(value.numerator)) - digits - 12) if digits else value).denominator == 1
    assert Grid(digits, end, None).up(end / 2) == low and (high == 0 or Grid(digits, None, end).up(end * 9) == high)


@pytest.mark.parametrize("k", [3, 7, 100])
def test_the_truth_that_k_randomized_response_may_tell_is_found_where_one_in_k_is_no_decimal(k):
    found = dp.calibrate(dp.k_randomized_response, "p", k=k, epsilon=1)
    exact = exp(1) / (exp(1) + k - 1)
    assert float(found) <= exact < float(found) * (1 + 2e-5)


def test_where_nothing_proves_the_claim_at_any_value_the_reason_is_told():
    with pytest.raises(CalibrationError, match=r"At \d+ nothing decides: nothing is known of this mechanism in this measure") as caught:
        dp.calibrate(lambda s: dp.guarantee(epsilon=s, delta="1/10"), "s", zcdp="1/8", digits=1)
    assert caught.value.verdict == "UNKNOWN" and "Claim a greater" not in str(caught.value) and not str(caught.value).endswith("..")

"""Claims stated in Python: the same answers and the same errors as those of claim files, in eight lines or fewer."""

import json
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from math import asinh, erfc, exp, expm1, inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

import dpverify as dp
from dpverify.catalogue import inline
from dpverify.cli import main
from dpverify.errors import AuditError, CalibrationError, SpecError
from dpverify.project import calibration
from dpverify.trusted.kernel.errors import CertificateError

ROOT = Path(__file__).parents[1]
T_NOISE = {"norm": "l2", "dimension": 3}


def fault(declare):
    with pytest.raises(SpecError) as caught:
        declare()
    return str(caught.value)


def inside(enclosure, value):
    """Whether a float lies in an enclosure of decimals, but for the rounding of the float."""
    return float(enclosure.lower) <= value * (1 + 1e-12) and value * (1 - 1e-12) <= float(enclosure.upper)


# -- what there is -------------------------------------------------------------------------------------------


def test_every_kind_and_every_builtin_of_claim_files_is_a_function_that_dir_lists():
    from dpverify.catalogue.kinds import BUILTIN, WHAT
    from dpverify.catalogue.kinds.named import BUILTINS

    assert [name for name in dir(dp) if not callable(getattr(dp, name))] == ["__version__", "errors"]
    assert dp.SpecError is dp.errors.SpecError and dp.NotCertain is dp.errors.NotCertain
    assert {*BUILTINS, *WHAT} - {BUILTIN} < set(dir(dp))


def test_a_function_of_a_kind_tells_its_arguments():
    assert "sigma: The standard deviation of the noise" in dp.gaussian.__doc__
    assert repr(dp.compose(dp.laplace(2), times=3)) == "compose(times=3, part=laplace(scale=2))"


def test_the_module_that_rechecks_certificates_is_run_and_never_imported():
    run = subprocess.run([sys.executable, "-c", "import dpverify.kernel"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 1 and "python -P -m dpverify.kernel FILE..." in run.stderr


def test_a_name_that_there_is_not_is_told_with_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'laplace'"):
        _ = dp.laplce


# -- answers -------------------------------------------------------------------------------------------------


def test_the_example_of_the_contract_runs(tmp_path):
    noise = dp.radial("(1 + r**2/5)**(-4)", **T_NOISE)
    answer = dp.verify(noise, sensitivity=1, epsilon="1.775")
    assert answer.verdict == "PROVED" and inside(answer.epsilon, 8 * asinh(1 / (2 * sqrt(5))))
    assert answer.epsilon.upper - answer.epsilon.lower == Decimal("1e-19")
    assert answer.assumptions and answer.witness is None and "power-identity" in answer.rules
    file = answer.save(tmp_path / "t.cert.json")
    assert dp.check(file).verdict == "PROVED" and dp.check(str(file)).epsilon.exact == answer.epsilon.exact


@pytest.mark.parametrize(
    ("noise", "claim", "epsilon"),
    [
        (lambda: dp.laplace(3), {"sensitivity": 2}, 2 / 3),
        (lambda: dp.randomized_response("3/4"), {}, log(3)),
        (lambda: dp.k_randomized_response(k=5, p="1/2"), {}, log(4)),
        (lambda: dp.table([[Fraction(3, 4), "1/4"], ["1/4", Fraction(3, 4)]]), {}, log(3)),
        (lambda: dp.translation("exp(-abs(z)/2)"), {"sensitivity": 1}, 0.5),
        (lambda: dp.student_t(nu=5, dimension=3), {"sensitivity": 1}, 8 * asinh(1 / (2 * sqrt(5)))),
        (lambda: dp.compose(dp.laplace(2), dp.laplace(4, times=2)), {}, 1.0),
        (lambda: dp.compose(dp.laplace(2), times=3), {}, 1.5),
        (lambda: dp.group(dp.laplace(2), size=3), {}, 1.5),
        (lambda: dp.parallel([dp.laplace(2), dp.laplace(4)]), {}, 0.5),
        (lambda: dp.subsample(dp.laplace(1), rate="1/10"), {}, log(1 + expm1(1) / 10)),
        (lambda: dp.lipschitz(dp.laplace(2), constant=3), {}, 1.5),
        (lambda: dp.product("exp(-abs(z)/2)", 2), {"query": [[1, 1], [0, 1]], "adjacency": "add-remove"}, 1.0),
        (lambda: dp.laplace(2, sensitivity=3), {}, 1.5),
    ],
)  # fmt: skip
def test_the_tight_epsilon_is_the_one_that_theory_gives(noise, claim, epsilon):
    assert inside(dp.tight_epsilon(noise(), **claim), epsilon)


def test_a_map_of_the_output_costs_no_privacy_and_what_it_gains_is_not_known():
    found = dp.tight_epsilon(dp.post_process(dp.laplace(2), map="rounded"))
    assert found.upper == Decimal("0.5") and found.lower is None


def test_the_tight_delta_of_laplace_noise_is_the_one_that_theory_gives():
    assert inside(dp.tight_delta(dp.laplace(1), sensitivity=1, epsilon="1/2"), 1 - exp((0.5 - 1) / 2))


def test_a_tight_epsilon_that_is_infinite_is_an_infinite_decimal():
    found = dp.tight_epsilon(dp.gaussian(1), sensitivity=1)
    assert found.lower == found.upper == Decimal("Infinity")


def test_a_kind_and_a_builtin_of_one_name_are_told_apart_by_their_arguments():
    for noise in (dp.exponential(2), dp.exponential(scale=2)):
        assert inline.unclaimed(noise) == inline.unclaimed(dp.translation("exp(-z/2)", support=[0, None]))
    assert inside(dp.tight_epsilon(dp.exponential(scores=[[0, 1], [1, 0]], beta="1/2")), 0.5)
    anything = dp.exponential(beta="1/2", candidates="n", parameters={"n": "integer >= 2"})
    assert dp.verify(anything, sensitivity=1, epsilon=1).verdict == "PROVED"


def test_a_bound_that_is_a_short_decimal_is_shown_without_zeros_at_its_end():
    assert repr(dp.verify(dp.guarantee(epsilon=1), epsilon=1)) == "<PROVED guarantee: epsilon 1, tight epsilon at most 1>"


def test_an_enclosure_shows_as_much_as_is_known():
    assert repr(dp.tight_epsilon(dp.laplace(2), sensitivity=1)) == "0.5"
    assert repr(dp.tight_epsilon(dp.laplace(3), sensitivity=1, digits=3)) == "[0.333, 0.334] = 1/3"
    assert repr(dp.tight_epsilon(dp.gaussian(1), sensitivity=1)) == "infinite"


def test_an_infinite_end_of_a_support_is_none_or_infinite():
    claims = [dp.verify(dp.translation("exp(-z)", support=[0, end]), sensitivity=1, epsilon=1).claim for end in (None, "inf", inf)]
    assert claims[0] == claims[1] == claims[2]


def test_a_density_in_y_and_theta_is_the_mechanism_of_the_claim_file_that_has_it():
    noise = dp.kernel("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))", output=[0, 1], input=[0, 1])
    [stated] = dp.read_spec(ROOT / "specs" / "bounded_laplace.toml").claims[:1]
    assert inline.unclaimed(noise).mechanism == stated.claim.mechanism


def test_sympy_and_text_declare_the_same_mechanism_whatever_the_variable_is_called():
    s, nu = sympy.symbols("s nu", positive=True)
    with_text = dp.radial("(1 + r**2/nu)**(-(nu + 3)/2)", parameters={"nu": 5}, **T_NOISE)
    with_sympy = dp.radial((1 + s**2 / nu) ** (-(nu + 3) / 2), radius=s, parameters={nu: 5}, **T_NOISE)
    answers = [dp.verify(noise, sensitivity=1, epsilon=2) for noise in (with_text, with_sympy)]
    assert answers[0].claim == answers[1].claim


def test_a_claim_of_all_parameters_is_proved_with_its_bound_in_closed_form():
    noise = dp.radial("exp(-r/b)", norm="l2", dimension="d", parameters={"b": "positive", "d": "positive integer"})
    answer = dp.verify(noise, sensitivity=1, epsilon="1/b")
    assert answer.verdict == "PROVED" and answer.epsilon.exact == "b**(-1)" and answer.epsilon.upper is None


def test_printing_an_answer_shows_what_the_command_line_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("laplace.toml").write_text('[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 3\n[[claim]]\nsensitivity = 1\nepsilon = 1\n')
    told = CliRunner().invoke(main, ["verify", "laplace.toml", "--no-cache"]).stdout
    without_time = [line.partition(" ms")[0].rsplit(" ", 1)[0] for line in told.splitlines()]
    for answer in (dp.verify(dp.laplace(3), sensitivity=1, epsilon=1), *dp.verify("laplace.toml")):
        assert [line.partition(" ms")[0].rsplit(" ", 1)[0] for line in str(answer).splitlines()] == without_time
        assert repr(answer) == "<PROVED laplace: epsilon 1, tight epsilon 0.3333333333333333333...>"


def test_a_claim_in_another_measure_is_told_in_that_measure():
    answer = dp.verify(dp.gaussian(2), sensitivity=1, zcdp="1/7")
    assert answer.verdict == "PROVED" and answer.measure.lower == answer.measure.upper == Decimal("0.125")
    assert answer.epsilon is answer.delta is None and repr(answer) == "<PROVED gaussian: rho 1/7, tight rho 0.125>"
    assert dp.calibrate(dp.gaussian, "sigma", sensitivity=1, gdp="1/3") == 3


def test_every_key_of_a_claim_in_claim_files_is_one_in_python():
    schema = json.loads((ROOT / "dpverify" / "schemas" / "claim-file.schema.json").read_text())
    assert tuple(schema["definitions"]["claim"]["properties"]) == inline.OF_A_CLAIM


def gaussian_delta(epsilon, mu):
    """Of Gaussian answers that are mu standard deviations apart."""
    return erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2 - exp(epsilon) * erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2


ONE_SIDED = {"adjacency": "add-remove", "order": "one-sided"}
SPACE = {
    "shape": {"kind": "points", "distances": [[0, 1], [1, 0]]},
    "databases": "answers",
    "within": "1/2",
    "beta": "1/4",
    "epsilon": "tight",
}
CURVES = {"covariance": "brownian", "difference": "t", "epsilon": 1, "delta": "tight"}


def split(given):
    """A mechanism's arguments, and what is claimed of it."""
    return [{key: value for key, value in given.items() if (key in inline.OF_A_CLAIM) is claimed} for claimed in (False, True)]


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (dp.gaussian, {"sigma": 2, "sensitivity": 1, "zcdp": "tight"}, lambda a: (a.measure, 1 / 8)),
        (dp.gaussian, {"sigma": 2, "sensitivity": 1, "gdp": 1}, lambda a: (a.measure, 1 / 2)),
        (dp.gaussian, {"sigma": 2, "sensitivity": 1, "renyi": {"order": 3, "epsilon": "tight"}}, lambda a: (a.measure, 3 / 8)),
        (dp.laplace, {"scale": 2, "sensitivity": 1, "epsilon": 1, **ONE_SIDED}, lambda a: (a.epsilon, 1 / 2)),
        (dp.space, SPACE, lambda a: (a.epsilon, log(3))),
        (dp.elliptical_process, {"atoms": [[1, 1]], **CURVES}, lambda a: (a.delta, gaussian_delta(1, 1))),
        (dp.elliptical_process, {"nu": 5, "evaluations": 4, **CURVES, "delta": 0}, lambda a: (a.epsilon, 9 * asinh(1 / 2 / sqrt(5)))),
    ],
)  # fmt: skip
def test_what_a_claim_file_may_claim_is_claimed_in_python_and_is_what_theory_gives(kind, given, value):
    mechanism, claim = split(given)
    found, wanted = value(dp.verify(kind(**mechanism), **claim))
    assert isinstance(found.lower, Decimal) and inside(found, wanted)


@pytest.mark.parametrize(("name", "value"), [("zcdp", "1/8"), ("gdp", 1), ("renyi", {"order": 2, "epsilon": 1})])
def test_the_tight_epsilon_of_a_claim_in_another_measure_is_refused_with_the_way_to_ask_for_it(name, value):
    for asked in (lambda: dp.tight_epsilon(dp.gaussian(2), sensitivity=1, **{name: value}),
                  lambda: dp.tight_delta(dp.gaussian(2), sensitivity=1, epsilon=1, **{name: value})):  # fmt: skip
        said = fault(asked)
        assert f"{name} is another measure than epsilon and delta. Ask dpverify.verify(..., {name}=" in said and '"tight"' in said


def test_a_key_that_the_mechanism_cannot_do_without_is_the_mechanism_s_when_another_is_looked_for():
    noise, claim = calibration.question(dp.exponential, "candidates", {"beta": "1/2", "epsilon": 1})
    assert repr(noise) == "exponential(beta='1/2', candidates='least')" and claim == {"epsilon": 1}
    noise, claim = calibration.question(dp.exponential, "beta", {"scores": [[0, 1], [1, 0]], "utility": True, "beta": "1/20", "epsilon": 1})
    assert "beta='least'" in repr(noise) and claim == {"utility": True, "beta": "1/20", "epsilon": 1}


def test_a_file_gives_the_answers_of_all_its_claims():
    answers = dp.verify("randomized_response")
    assert len(answers) > 1 and all(answer.as_expected for answer in answers)


def test_a_refuted_claim_has_a_witness_and_says_that_a_delta_would_do():
    answer = dp.verify(dp.gaussian(2), sensitivity=1, epsilon=1)
    assert answer.verdict == "REFUTED" and answer.witness
    assert "No epsilon is enough at delta 0: the claim needs a delta, and 0.0068296 will do at epsilon 1." in " ".join(str(answer).split())
    assert "dpverify verify" not in str(answer)  # there is no file that a command could read


def test_a_notebook_shows_formula_verdict_picture_and_assumptions_without_a_link_that_leads_nowhere():
    shown = dp.verify(dp.laplace(3), sensitivity=1, epsilon=1)._repr_html_()
    assert all(part in shown for part in ("PROVED", "<math", "<svg", "Assumed, not checked", "concave-exponent"))
    assert "href=" not in shown and "<script" not in shown


# -- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: dp.verify(dp.gaussian(0.5), sensitivity=1, epsilon=1), '0.5 is a binary float. Write "0.5" or Fraction("0.5").'),
        (lambda: dp.verify(dp.gaussian(1), sensitivity=1, epsilon=1.5), "gaussian, claim 1: epsilon = 1.5: 1.5 is a binary float."),
        (lambda: dp.verify(dp.radial("exp(-r)", norm={"lp": 1.5}, dimension=2), sensitivity=1, epsilon=1), "1.5 is a binary float"),
        (lambda: dp.verify(dp.gaussian(1), epsilon=1), "sensitivity is missing: additive noise needs it, or a query."),
        (lambda: dp.verify(dp.gaussian(1), sensitivity=1), "epsilon is missing."),
        (lambda: dp.verify(dp.gaussian(), sensitivity=1, epsilon=1), "the builtin gaussian needs sigma."),
        (lambda: dp.gaussian(sigm=1), "gaussian: unknown argument 'sigm'. Did you mean 'sigma'?"),
        (lambda: dp.verify(dp.gaussian(1), sensitivity=1, epsilon=1, dleta=0), "unknown key \"dleta\". Did you mean 'delta'?"),
        (lambda: dp.verify(dp.laplace(-1), sensitivity=1, epsilon=1), "laplace: scale = -1 is not positive."),
        (lambda: dp.verify(dp.laplace(1, sensitivity=2), sensitivity=1, epsilon=1), "stands both with the mechanism and with the claim"),
        (lambda: dp.verify(dp.translation("exp(-abs(x))"), sensitivity=1, epsilon=1), "The variable of this kind is z: write that"),
        (lambda: dp.verify("gaussian", epsilon=1), "verify: epsilon: sensitivity, epsilon and the rest of the claim come from the file"),
        (lambda: dp.verify(3, epsilon=1), "3 is not a mechanism. Use dpverify.radial"),
        (lambda: dp.verify(dp.gaussian("least"), sensitivity=1, epsilon=1), "still to be found: `dpverify calibrate FILE` finds it"),
        (lambda: dp.verify(dp.gaussian(Decimal("NaN")), sensitivity=1, epsilon=1), "NaN"),
        (lambda: dp.gaussian(True), "gaussian: sigma = true is not a number."),
        (lambda: dp.verify(dp.laplace(1, parameters=3), sensitivity=1, epsilon=1), "laplace: parameters = 3 is not a dictionary"),
        (lambda: dp.laplace(width=2), "laplace: unknown argument 'width'. It takes scale, dimension."),
        (lambda: dp.verify(dp.laplace, sensitivity=1, epsilon=1), "Call it, as in dpverify.laplace(scale)."),
        (lambda: dp.sampler(dp.compose), "Call it, as in dpverify.compose(...)."),
        (lambda: dp.sampler(3), "3 is not a mechanism. Use dpverify.radial"),
        (lambda: dp.verify(dp.laplace(2), digits=30.5, sensitivity=1, epsilon=1), "digits = 30.5 is not an integer between 1 and 1000."),
        (lambda: dp.verify("laplace", digits=0), "digits = 0 is not an integer between 1 and 1000."),
        (lambda: dp.tight_epsilon(dp.laplace(2), sensitivity=1, digits=True), "digits = True is not an integer between 1 and 1000."),
        (lambda: dp.tight_delta(dp.laplace(2), sensitivity=1, epsilon=1, digits=1001), "digits = 1001 is not an integer"),
        (lambda: dp.calibrate(dp.laplace, "scale", sensitivity=1, epsilon=1, digits=13), "digits = 13 is not an integer between 1 and 12."),
        (lambda: dp.design([[1]], adjacency="l1", epsilon=1, digits="20"), "digits = '20' is not an integer"),
        (lambda: dp.trade_off(dp.space("line"), [1], digits=-1), "digits = -1 is not an integer"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_of_a_claim_file(declare, said):
    assert said in fault(declare)


def test_an_adjacency_that_is_missing_or_unknown_is_said_once():
    query = {"query": [[1, 1]], "epsilon": 1}
    assert len(fault(lambda: dp.verify(dp.laplace(2), **query)).splitlines()) == 1
    assert fault(lambda: dp.verify(dp.laplace(2), **query, adjacency="add_remove")).count("adjacency") == 1


def test_everything_that_is_wrong_is_said_at_once():
    assert len(fault(lambda: dp.verify(dp.gaussian("s"), sensitivity=1, epsilon=1.0)).splitlines()) == 2
    assert len(fault(lambda: dp.radial("exp(-r", scale=-1)).splitlines()) == 3  # profile, scale, dimension


@pytest.mark.parametrize("number", [2, "2", "4/2", Fraction(2), Decimal("2.0"), sympy.Integer(2), sympy.sqrt(4)])
def test_numbers_of_every_exact_type_mean_the_same(number):
    assert dp.verify(dp.laplace(number), sensitivity=1, epsilon="1/2").claim == dp.verify(dp.laplace(2), sensitivity=1, epsilon="1/2").claim


def test_integers_of_numpy_are_exact_and_its_floats_are_refused():
    numpy = pytest.importorskip("numpy")
    claim = {"adjacency": "add-remove", "epsilon": numpy.int64(2)}
    noise = dp.product("exp(-abs(z))", 2)
    assert dp.verify(noise, query=numpy.array([[1, 1], [0, 1]]), **claim).verdict == "PROVED"
    assert "binary float" in fault(lambda: dp.verify(noise, query=numpy.eye(2), **claim))


def test_a_symbol_that_sympy_believes_positive_needs_a_parameter_that_is():
    a = sympy.Symbol("a", positive=True)
    noise = dp.radial(sympy.exp(-sympy.Symbol("r") * a), norm="l1", dimension=1, parameters={"a": "real"})
    assert "declared with nonnegative=True, beyond its domain" in fault(lambda: dp.verify(noise, sensitivity=1, epsilon=1))


# -- audits --------------------------------------------------------------------------------------------------


def noisy(data, size, rng):
    return data[0] + rng.laplace(scale=1, size=size)


def test_an_audit_takes_a_mechanism_and_a_claim_of_it():
    finding = dp.audit(noisy, dp.laplace(1), sensitivity=1, epsilon="1/4", samples=20_000, seed=0)
    assert finding.finding == "VIOLATION" and str(finding).startswith("VIOLATION (") and "\n" not in repr(finding)


def test_an_audit_of_the_model_alone_does_not_look_at_the_last_bits():
    found = [dp.audit(noisy, dp.laplace(1), sensitivity=1, epsilon=2, samples=5_000, seed=0, level=level) for level in ("float", "model")]
    assert [(finding.finding, finding.level) for finding in found] == [("VIOLATION", "float"), ("NO_VIOLATION_SEEN", "model")]
    assert "level='model'" in found[1].replay


def test_an_argument_that_an_audit_has_not_is_told_with_the_nearest():
    with pytest.raises(AuditError, match=r"audit: unknown argument 'pair'\. Did you mean 'pairs'\?"):
        dp.audit(noisy, epsilon=1, pair=[[0], [1]])
    with pytest.raises(AuditError, match='level = \'modell\': not "model" or "float"'):
        dp.audit(noisy, epsilon=1, pairs=[([0.0], [1.0])], level="modell")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"samples": "1e5"}, "samples = '1e5' is not a whole number"),
        ({"samples": 1e5}, "samples = 100000.0 is not a whole number"),
        ({"seed": "x"}, "seed = 'x' is not a whole number"),
        ({"seed": -1}, "seed = -1 is not a whole number of at least 0"),
        ({"confidence": "high"}, "confidence = 'high': not between 0 and 1"),
        ({"workers": "two"}, "workers = 'two': not a number of processes"),
        ({"timeout": "long"}, "timeout = 'long': not a time"),
        ({"pairs": [[[0.0], [1.0, 2.0]]]}, "they are 1 and 2 numbers, of which neighbours have as many"),
    ],
    ids=str,
)
def test_a_run_that_no_audit_can_make_is_refused_with_what_is_meant(named, said):
    with pytest.raises(AuditError, match=re.escape(said)):
        dp.audit(lambda data, rng: data[0] + rng.laplace(), dp.laplace(1), sensitivity=1, epsilon=1, **named)


# -- mistakes of those who come from elsewhere -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: dp.compose(dp.laplace(1), 3), "compose: 3 stands among the parts and is not a mechanism. For 3 runs of one part"),
        (lambda: dp.parallel(dp.laplace(1), 3), "parallel: 3 stands among the parts and is not a mechanism. Give what is no part"),
        (lambda: dp.compose(dp.laplace(1), dp.laplace), "Call it, as in dpverify.laplace(...)"),
        (lambda: dp.tight_epsilon(dp.laplace(1), sensitivity=1, epsilon=1), "epsilon = 1 is what is asked for"),
        (lambda: dp.tight_delta(dp.laplace(1), sensitivity=1, epsilon=1, delta=0), "delta = 0 is what is asked for"),
        (lambda: dp.verify(dp.laplace(1), sensitivity=1, epsilon=inf), "inf is not a number of a claim: numbers are finite"),
        (lambda: dp.verify(dp.translation(b"exp(-abs(z))"), sensitivity=1, epsilon=1), "b'exp(-abs(z))' is not an expression"),
        (
            lambda: dp.verify(dp.translation(sympy.Piecewise((1, sympy.Symbol("z") > 0), (2, True))), sensitivity=1, epsilon=1),
            "Piecewise is outside the language. Write it with abs, min and max",
        ),
    ],
)
def test_a_mistake_is_told_with_the_way_out(declare, said):
    assert said in fault(declare)


def test_a_matrix_of_sympy_and_a_number_in_an_array_are_the_numbers_that_they_hold():
    rows = sympy.Matrix([[1, 3], [2, 2]]) / 4
    assert inside(dp.tight_epsilon(dp.table(rows)), log(2))
    assert inside(dp.tight_epsilon(dp.laplace(2), sensitivity=np.array(1)), 1 / 2)
    moved = {"query": sympy.ones(2, 1), "adjacency": "add-remove"}
    assert inside(dp.tight_epsilon(dp.product("exp(-abs(z))", 2), **moved), 2)


def test_what_holds_no_certificate_says_what_does(tmp_path):
    claims = tmp_path / "claims.toml"
    for given, said in (
        (claims, "is a claim file, not a certificate"), (5, "5 is not a certificate"),
        (tmp_path / "none.json", "No such file"), (tmp_path, "Is a directory"),
    ):  # fmt: skip
        with pytest.raises((CertificateError, OSError), match=said):
            dp.check(given)
    (tmp_path / "bad.cert.json").write_text("nothing")
    with pytest.raises(CertificateError, match=r"bad\.cert\.json: not JSON at line 1"):
        dp.check(tmp_path / "bad.cert.json")
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        dp.verify(dp.laplace(1), sensitivity=1, epsilon=1).save(tmp_path)


def test_what_is_read_from_a_file_is_judged_and_an_answer_is_checked_again(tmp_path):
    claims = tmp_path / "claims.toml"
    claims.write_text('[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n')
    spec = dp.read_spec(claims)
    assert repr(spec) == f"<{claims}: claim 1>" and repr(spec.claims) == "(<claims, claim 1>,)"
    (answer,) = dp.verify(spec)
    assert answer.verdict == dp.check(answer).verdict == "PROVED"
    assert repr(dp.sampler(dp.laplace(1))) == "<sampler of Radial>"


def test_no_noise_has_epsilon_0_and_a_delta_is_the_way_out():
    for noise, number, epsilon, said in ((dp.laplace, "scale", 0, "Epsilon 0 is that"), (dp.gaussian, "sigma", 1, "infinite at all")):
        with pytest.raises(CalibrationError, match=said):
            dp.calibrate(noise, number, sensitivity=1, epsilon=epsilon)

"""What claim files say of processes, and what is said where they are wrong."""

import mpmath
import pytest

from dpverify.catalogue.reader import read_spec
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import num, parse

MP = mpmath.mp.clone()


def spec(tmp_path, mechanism, claim="epsilon = 1\ndelta = '1/2'\ndifference = 't'"):
    file = tmp_path / "file.toml"
    file.write_text(f'[mechanism]\nkind = "elliptical_process"\n{mechanism}\n[[claim]]\n{claim}\n')
    return read_spec(file).claims[0].claim


BROWNIAN = "nu = 5\ncovariance = 'brownian'"


@pytest.mark.parametrize(
    ("mechanism", "claim", "said"),
    [
        ("nu = 5", None, "only a process with a covariance"),
        ("nu = 5\ndifference = 't'", "epsilon = 1", "Give covariance"),
        (BROWNIAN, "epsilon = 1\nsensitivity = 1\ndifference = 't'", "sensitivity or difference, not both"),
        (BROWNIAN, "epsilon = 1", "sensitivity is missing"),
        (BROWNIAN, "epsilon = 1\ndifference = 'x'", "free symbol 'x'"),
        (BROWNIAN, "epsilon = 1\ndifference = []", "empty list"),
        ("nu = 5\ncovariance = 'cauchy'", None, "Use one of brownian"),
        ("nu = 5\ncovariance = 3", None, "is no covariance"),
        ("nu = 5\ncovariance = { name = 'rbf', kernel = 's*t' }", None, "is no covariance"),
        ("nu = 5\ncovariance = { eigenvalues = '1/k', length = 2 }", None, "does not go with eigenvalues"),
        ("nu = 5\ncovariance = { eigenvalues = '1/2' }", None, "no expression in k"),
        ("nu = 5\ncovariance = { kernel = 'k' }", None, "no expression in s and t"),
        ("nu = 5\ncovariance = { name = 'rbf', interval = [0] }", None, "[low, high]"),
        (BROWNIAN + "\nparameters = { t = 2 }", None, "Give the parameter another name"),
        ("nu = 5\nevaluations = ['1/2']", "epsilon = 1\nsensitivity = 1", "those of an interval"),
        ("atoms = [[1, 1]]\nsupport = [0, 1]\ncovariance = 'brownian'", None, "not with nu or atoms"),
        ("mgf = 'exp(u)'\nsupport = [0, 1]\ncovariance = 'brownian'", None, "goes with mixing alone"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, mechanism, claim, said):
    with pytest.raises(SpecError) as error:
        spec(tmp_path, mechanism, *([] if claim is None else [claim]))
    assert said in str(error.value)


def test_a_claim_states_its_own_differences(tmp_path):
    stated = spec(tmp_path, BROWNIAN + "\ndifference = 't'", "epsilon = 1\ndifference = ['t**2', '2*t']")
    assert stated.mechanism.differences == (parse("t**2"), parse("2*t")) and stated.sensitivity is None


def test_the_differences_of_the_mechanism_hold_where_a_claim_states_none(tmp_path):
    assert spec(tmp_path, BROWNIAN + "\ndifference = 't'", "epsilon = 1").mechanism.differences == (parse("t"),)


def test_parameters_are_put_into_covariances_and_differences(tmp_path):
    mechanism = (
        "nu = 5\ncovariance = { name = 'matern-3/2', length = 'a' }\nparameters = { a = '1/4', n = 'positive integer' }\nevaluations = 'n'"
    )
    stated = spec(tmp_path, mechanism, "epsilon = 1\ndifference = 'a*t'")
    assert stated.mechanism.shape == (num(1), parse("1/4")) and stated.mechanism.differences == (parse("t/4"),)
    assert [name for name, _ in stated.domains] == ["n"]


def test_a_characteristic_functional_is_read_as_a_moment_generating_function(tmp_path):
    stated = spec(tmp_path, "characteristic = 'exp(-x/2)*(1 + x)**(-5/2)'", "epsilon = 1\nsensitivity = 1")
    [transform] = stated.mechanism.transform
    assert transform == parse("exp(u)*(1 - 2*u)**(-5/2)")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("mgf = '(1 - 2*u)**(-5/2)'", "gamma"),  # chi^2 with 5 degrees of freedom
        ("characteristic = '(1 + x)**(-5/2)'", "gamma"),
        ("characteristic = 'exp(-x/2)'", "one"),  # Gaussian
        ("mgf = 'exp(u)/4 + 3*exp(9*u)/4'", "two"),
        ("characteristic = 'exp(-sqrt(x))'", "levy"),  # Cauchy: V is 1/chi^2 with one degree of freedom
        ("characteristic = 'exp(-3*sqrt(x/9))'", "levy"),
    ],
)
def test_a_law_that_its_transform_shows_has_the_mean_of_gaussian_deltas(tmp_path, text, mean):
    def gaussian(v):
        mu = 1 / (2 * MP.sqrt(v))
        return MP.ncdf(mu / 2 - 1 / mu) - MP.e * MP.ncdf(-mu / 2 - 1 / mu)

    cuts = [0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100, 10**4, MP.inf]
    true = {
        "gamma": lambda: MP.quad(lambda v: v**1.5 * MP.exp(-v / 2) / (2**2.5 * MP.gamma(2.5)) * gaussian(v), cuts[:-2]),
        "one": lambda: gaussian(1),
        "two": lambda: gaussian(1) / 4 + 3 * gaussian(9) / 4,
        "levy": lambda: MP.quad(lambda v: v**-1.5 * MP.exp(-1 / (2 * v)) / MP.sqrt(2 * MP.pi) * gaussian(v), cuts),
    }[mean]()
    stated = spec(tmp_path, f"{text}\nscale = 2", "epsilon = 1\nsensitivity = 1\ndelta = 'tight'")
    found = verify(stated, 10).judgement
    assert float(found.delta_lower.value) == pytest.approx(float(true), abs=1e-9) == float(found.delta_upper.value)


@pytest.mark.parametrize(
    "text",
    ["exp(u)*(1 - 2*u)**(-2)", "(2 - 2*u)**(-2)", "(1 + u)**(-2)", "(1 - u)**2", "1/2 + exp(u)/2", "exp(u**2)", "exp(-sqrt(u))"],
)
def test_what_is_of_no_known_form_stays_as_it_is_stated(tmp_path, text):
    stated = spec(tmp_path, f"mgf = '{text}'", "epsilon = 1\nsensitivity = 1")
    assert stated.mechanism.transform == (parse(text),)


def test_parameters_named_as_variables_of_covariances_are_free_where_there_is_none(tmp_path):
    assert spec(tmp_path, "nu = 5\nscale = 's'\nparameters = { s = 4 }", "epsilon = 1\nsensitivity = 1").mechanism.scale == num(4)

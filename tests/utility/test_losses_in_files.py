"""Losses and priors in claim files: read, and refused with what is wrong and the way out."""

import json
from fractions import Fraction as F

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.search.utility.errors import lacking
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Claim, Table

TABLE = '[mechanism]\nkind = "table"\nrows = [["2/3", "1/3"], ["1/3", "2/3"]]\n'
SCORES = '[mechanism]\nkind = "exponential"\nscores = [[0, 1], [1, 0]]\nbeta = 1\n'
OPEN = TABLE.replace('"2/3", "1/3"', '"p", "1 - p"') + 'parameters = { p = "in [1/3, 2/3]" }\n'
NOISE = '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\ndimension = 1\n'


def read(tmp_path, mechanism, claim):
    (tmp_path / "a.toml").write_text(f"{mechanism}\n[[claim]]\nepsilon = 2\n{claim}\n")
    return read_spec(tmp_path / "a.toml").claims[0].claim


@pytest.mark.parametrize("mechanism", [TABLE, SCORES], ids=["table", "exponential"])
def test_losses_and_a_prior_are_part_of_the_claim(tmp_path, mechanism):
    claim = read(tmp_path, mechanism, 'utility = true\nloss = [[0, 1], [0.5, "-1/3"]]\nprior = ["1/4", 0.75]')
    assert claim.loss == ((F(0), F(1)), (F(1, 2), F(-1, 3))) and claim.prior == (F(1, 4), F(3, 4))


@pytest.mark.parametrize(
    ("mechanism", "claim", "why"),
    [
        (TABLE, "loss = [[0, 1], [1, 0]]", "loss is for the mean loss that is shown: it needs utility = true beside it"),
        (TABLE, "loss = [[0, 1]]\nutility = true", "loss must have 2 rows, one for each input, of 2 entries, one for each output"),
        (TABLE, "loss = [[0, 1], [1]]\nutility = true", "loss must have 2 rows, one for each input, of 2 entries, one for each output"),
        (SCORES, "loss = [[0], [1]]\nutility = true", "loss must have 2 rows"),
        (TABLE, 'loss = [[0, 1], [1, "pi"]]\nutility = true', "not a rational number"),
        (TABLE, "loss = 1\nutility = true", "loss = 1 is not a list with entries"),
        (TABLE, "prior = [1, 0]\nutility = true", "prior stands without a loss. Give loss, a row for each input"),
        (TABLE, "loss = [[0, 1], [1, 0]]\nprior = [1]\nutility = true", "prior must have 2 entries, one for each input, at least 0"),
        (TABLE, "loss = [[0, 1], [1, 0]]\nprior = [2, -1]\nutility = true", "prior must have 2 entries, one for each input, at least 0"),
        (TABLE, "loss = [[0, 1], [1, 0]]\nprior = [1, 1]\nutility = true", "and with the sum 1"),
        (
            NOISE,
            "sensitivity = 1\nloss = [[0, 1], [1, 0]]\nutility = true",
            "loss and prior are for the kinds table and exponential, which list inputs",
        ),
    ],
)
def test_what_is_wrong_with_them_is_named(tmp_path, mechanism, claim, why):
    with pytest.raises(SpecError, match=why):
        read(tmp_path, mechanism, claim)


def said(tmp_path, mechanism, claim, form="json"):
    (tmp_path / "a.toml").write_text(f"{mechanism}\n[[claim]]\nutility = true\nloss = [[0, 1], [1, 0]]\n{claim}\n")
    return CliRunner().invoke(cli.main, ["verify", "--no-cache", "--format", form, str(tmp_path / "a.toml")]).stdout


def utility(tmp_path, mechanism, claim):
    (claim,) = json.loads(said(tmp_path, mechanism, claim))["claims"]
    return claim["utility"]


def test_the_answer_has_the_loss_and_the_least_loss_of_any_mechanism(tmp_path):
    found = utility(tmp_path, TABLE, 'epsilon = "log(2)"')
    assert (found["expected_loss"]["lower"][:6], found["expected_loss"]["upper"][:6]) == ("0.3333", "0.3333")
    assert found["necessary_loss"]["lower"].startswith("0.3333") and found["necessary_loss"]["rule"] == "lp"
    assert "error, mean loss: 0.3333" in said(tmp_path, TABLE, 'epsilon = "log(2)"', "text")


@pytest.mark.parametrize(
    ("mechanism", "claim", "own", "least"),
    [
        (TABLE, 'epsilon = 1\ndelta = "tight"', "0.3333", "wants a rational delta; claim one"),
        (OPEN, "epsilon = 1", "give them values", "give them values"),
    ],
    ids=["tight delta", "parameter"],
)
def test_what_is_not_given_says_why(tmp_path, mechanism, claim, own, least):
    found = utility(tmp_path, mechanism, claim)
    assert own in str(found["expected_loss"]) and least in found["necessary_loss"]["reason"]


def test_what_no_rule_accepts_says_why_too():
    stated = Claim(Table(()), ZERO, loss=((F(0),),))
    assert lacking(stated, "expected_loss") == "the rows of the mechanism are not certainly distributions."
    assert "was not solved: it may be too large, or epsilon is not bounded from above" in lacking(stated, "necessary_loss")

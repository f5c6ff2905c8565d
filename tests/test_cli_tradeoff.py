"""`dpverify tradeoff`: tables of epsilon against nearness, and against the number of evaluations."""

import json
import math

import pytest
from click.testing import CliRunner

from dpverify.catalogue import read_spec
from dpverify.cli.tradeoff import _Asked
from dpverify.errors import SpecError
from dpverify.project.evaluations import evaluations
from dpverify.project.trade_off import trade_off

SPACE = """
[mechanism]
kind = "space"
shape = { kind = "real" }
databases = "answers"
parameters = { g = "positive", b = "in (0, 1)" }

[[claim]]
name = "every"
epsilon = "tight"
within = "g"
beta = "b"

[[claim]]
name = "one"
epsilon = "tight"
within = 2
beta = "1/20"
"""
PROCESS = """
[mechanism]
kind = "elliptical_process"
nu = 5
covariance = "brownian"

[[claim]]
name = "two differences"
difference = ["t", "t**2"]
epsilon = 1

[[claim]]
name = "a line"
difference = "t"
epsilon = 1
"""


def asked(folder, text, name=None, within=None, beta=None, count=None):
    file = folder / "table.toml"
    file.write_text(text)
    return _Asked(name, within, beta, count, 12, True)(str(file))


def test_the_command_prints_the_table_of_a_space_and_gives_it_as_json(tmp_path):
    from dpverify.cli import main

    file = tmp_path / "real.toml"
    file.write_text(SPACE)
    found = CliRunner().invoke(main, ["tradeoff", str(file), "--format", "json", "--timeout", "0"])
    data = json.loads(found.output)
    assert found.exit_code == 0 and (data["schema"], data["claim"], data["beta"]) == ("dpverify-tradeoff/1", "one", "1/20")
    assert [row["within"] for row in data["points"]] == ["1/2", "1", "2", "4", "8"]
    said, _ = asked(tmp_path, SPACE, within="1, 2")
    rows = [list(map(float, line.split())) for line in said.split("\n")[1:]]
    for near, low, high in rows:  # Laplace noise, and no mechanism is better
        assert low == high == pytest.approx(math.log(20) / near, rel=1e-5)


def test_the_table_of_evaluations_of_brownian_noise_is_that_of_its_steps(tmp_path):
    said, data = asked(tmp_path, PROCESS, count=12)
    for n, row in enumerate(data["points"], 1):  # of a line D_n^2 = n/12
        low, high = map(float, row["epsilon"])
        assert row["evaluations"] == n and float(row["norm"][0]) == pytest.approx(math.sqrt(n / 12), rel=1e-11)
        assert low == pytest.approx((5 + n) * math.asinh(math.sqrt(n / 12 / 20)), rel=1e-11) == high
    assert [line.split()[0] for line in said.split("\n")[1:]] == ["1", "2", "5", "10", "12"]


@pytest.mark.parametrize(
    ("text", "more", "why"),
    [
        (SPACE, {"count": 3}, "--evaluations is for processes"),
        (PROCESS, {"within": "1"}, "--within and --beta are for spaces"),
        (PROCESS, {"beta": "1/2"}, "--within and --beta are for spaces"),
        (SPACE, {"name": "none"}, "no claim is named"),
        (SPACE, {"name": "every"}, "is about every nearness"),
        (SPACE, {"name": "every", "within": "1"}, "not certainly a number between 0 and 1"),
        (SPACE, {"within": "1", "beta": "2"}, "not certainly a number between 0 and 1"),
        (SPACE, {"within": "1", "beta": "("}, "--beta"),
        (SPACE, {"within": "0"}, "not a positive number"),
        (PROCESS, {"name": "two differences"}, "of one difference"),
        (PROCESS, {"count": 100_001}, "from 1 to 100000"),
        (PROCESS.replace("nu = 5", 'atoms = [[1, "1/2"], [2, "1/2"]]'), {}, "not recognised"),
        ('[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n', {}, "no claim is about"),
    ],
)  # fmt: skip
def test_what_has_no_table_is_told_why(tmp_path, text, more, why):
    found = asked(tmp_path, text, **more)
    assert isinstance(found, SpecError) and why in str(found)


def test_a_table_is_of_one_space_and_one_process(tmp_path):
    file = tmp_path / "ball.toml"
    ball = SPACE.replace('{ kind = "real" }', '{ kind = "ball", radius = "s", dimension = 2 }')
    file.write_text(ball.replace("parameters = {", 'parameters = { s = "positive",'))
    with pytest.raises(SpecError, match="s of the space ranges"):
        trade_off(read_spec(file).claims[1].claim, [1])
    with pytest.raises(SpecError, match="about an elliptical_process"):
        evaluations(read_spec(file).claims[1].claim, 3)

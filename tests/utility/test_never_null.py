"""What is asked of errors is answered: with an enclosure, or with the reason why there is none."""

import json

import pytest
from click.testing import CliRunner

from dpverify import cli

MECHANISMS = {
    "noise of one number": 'kind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n',
    "noise of no epsilon": 'kind = "builtin"\nname = "gaussian"\nsigma = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n',
    "noise for a query": 'kind = "builtin"\nname = "knorm"\nparameters = {columns = [[1, 0], [0, 1]], epsilon = 1}\n'
    '[[claim]]\nquery = [[1, 0], [0, 1]]\nadjacency = "l1"\nepsilon = 1\n',
    "a table": 'kind = "builtin"\nname = "randomized_response"\np = "3/4"\n[[claim]]\nepsilon = "tight"\n',
    "all parameters": 'kind = "builtin"\nname = "laplace"\nscale = "b"\nparameters = {b = "positive"}\n'
    '[[claim]]\nsensitivity = 1\nepsilon = "1/b"\n',
    "a composition": 'kind = "compose"\n[[mechanism.parts]]\nkind = "builtin"\nname = "laplace"\nscale = 1\nsensitivity = 1\ntimes = 2\n'
    "[[claim]]\nepsilon = 2\n",
    "a sampler alone": 'kind = "sampled"\n[[claim]]\nepsilon = 1\n',
}


def nulls(value, place="utility"):
    """Where a value of JSON holds null."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        return [found for key, one in inside for found in nulls(one, f"{place}.{key}")]
    return [place] if value is None else []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("beta", ["", 'beta = "1/20"\n'], ids=["without beta", "with beta"])
@pytest.mark.parametrize("text", MECHANISMS.values(), ids=MECHANISMS)
def test_no_error_is_ever_null(text, beta, tmp_path):
    file = tmp_path / "noise.toml"
    file.write_text(f"[mechanism]\n{text}utility = true\n{beta}")
    printed = CliRunner().invoke(cli.main, ["verify", "--no-cache", "--format", "json", str(file)])
    (claim,) = json.loads(printed.stdout)["claims"]
    assert nulls(claim["utility"]) == []
    assert ("exceeded" in claim["utility"]) == bool(beta)
    for key in ("expected_l2", "rms_l2", "necessary_l2", "necessary_rms_l2"):
        assert claim["utility"][key].keys() & {"lower", "reason"}

"""The sampler of a new claim file passes its audit, and one that is made worse does not."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from dpverify import cli
from dpverify.catalogue.kinds import STARTERS

SAMPLED = [kind for kind, starter in STARTERS.items() if not starter.no_sampler]


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a claim file and a sampler of every kind that has one."""
    folder = tmp_path_factory.mktemp("mechanisms")
    for kind in SAMPLED:
        run("new", f"my-{kind}", "--kind", kind, "--dir", folder, "--sampler")
    return folder


@pytest.mark.parametrize("kinds", [SAMPLED[::8], pytest.param(SAMPLED, marks=pytest.mark.wide)], ids=["some", "all"])
def test_the_samplers_of_all_kinds_pass_their_audits(kinds, folder):
    files = [file for file in sorted(folder.rglob("*.toml")) if file.stem.removeprefix("my-") in kinds]
    data = json.loads(run("audit", *files, "--samples", "8000", "--seed", "1", "--workers", "0", "--format", "json").stdout)
    found = {Path(audit["file"]).stem.removeprefix("my-"): audit["finding"] for audit in data["audits"]}
    assert found == dict.fromkeys(kinds, "NO_VIOLATION_SEEN")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("translation", "SCALE = (2, 1)", "SCALE = (1, 1)"),
        ("radial", "B = 2.0\n", "B = 1.0\n"),
        ("kernel", "GRID = 2.0**-40", "GRID = 2.0**-4"),
        ("table", "[[2, 1, 1]", "[[8, 1, 1]"),
        ("subsample", "rng.integers(4,", "rng.integers(1,"),
        ("lipschitz", "(4, 1)", "(1, 1)"),
    ],
)
def test_a_sampler_that_is_changed_for_the_worse_fails_its_audit(kind, right, wrong, folder, tmp_path):
    run("new", f"worse-{kind}", "--kind", kind, "--dir", tmp_path, "--sampler")
    module = tmp_path / f"worse_{kind}.py"
    assert right in module.read_text()
    module.write_text(module.read_text().replace(right, wrong))
    run("audit", tmp_path, "--samples", "8000", "--seed", "1", "--workers", "0", code=1)


@pytest.mark.parametrize("scale", [(2, 1), (3, 2), (1, 3)])
def test_discrete_laplace_noise_has_the_law_that_it_says(scale, folder):
    space: dict = {}
    exec((folder / "my_translation.py").read_text(), space)
    noise = space["discrete_laplace"](scale, 200_000, np.random.default_rng(0))
    ratio = math.exp(-scale[1] / scale[0])
    values = np.arange(-4, 5)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)
    seen = np.array([(noise == value).sum() for value in values])
    assert stats.chisquare([*seen, 200_000 - seen.sum()], 200_000 * np.array([*law, 1 - law.sum()])).pvalue > 1e-6

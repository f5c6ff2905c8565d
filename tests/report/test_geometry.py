"""The pictures of the body and of the errors stand under the claim that they are of, once, and say in words what they show."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.cli import drawn
from dpverify.report.page.sections.error_curves import rounded

HEXAGON = """
[mechanism]
kind = "radial"
profile = "exp(-r)"
norm = { columns = [[1, 0], [0, 1], [1, 1]] }
dimension = 2

[[claim]]
name = "as it is"
query = [[1, 0, 1], [0, 1, 1]]
adjacency = "l1"
epsilon = 1
utility = true

[[claim]]
name = "less is claimed"
query = [[1, 0, 1], [0, 1, 1]]
adjacency = "l1"
epsilon = 2
utility = true

[[claim]]
name = "no errors are asked for"
query = [[1, 0, 1], [0, 1, 1]]
adjacency = "l1"
epsilon = 1
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Both files of a report."""
    folder = tmp_path_factory.mktemp("geometry")
    (folder / "hexagon.toml").write_text(HEXAGON)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drawn, "_bands", lambda *_: None)  # other pictures, which take longer
        result = CliRunner().invoke(cli.main, ["report", str(folder / "hexagon.toml"), "-o", str(folder / "out"), "--no-audit"])
    assert result.exit_code == 0, result.output
    return [(folder / "out" / name).read_text() for name in ("index.html", "index.md")]


@pytest.mark.wide
def test_claims_with_the_same_picture_share_it(told):
    html, _ = told
    first, second = html.index('id="hexagon:1"'), html.index('id="hexagon:2"')
    for title in ("The body of differences", "Error and epsilon"):
        assert [first < found.start() < second for found in re.finditer(f">{title}<", html)] == [True]


def test_each_picture_says_what_it_shows(told):
    html, markdown = told
    described = dict(re.findall(r'<title id="n-hexagon-3a-1-([\w-]+)-t">.*?<desc id="[^"]*">(.*?)</desc>', html))
    assert described.keys() == {"body", "error-epsilon", "error-queries"}
    assert "deviations 0.6455, 0.37268" in described["body"]
    assert "2.582 and 2.2616" in described["error-epsilon"] and "real histograms, l1" in described["error-epsilon"]
    assert all(text.replace("&#39;", "'") in markdown for text in described.values())


def test_bounds_in_captions_are_rounded_so_that_they_stay_bounds():
    assert (rounded(2.000001, ROUND_CEILING), rounded(1.999999, ROUND_FLOOR)) == ("2.0001", "1.9999")
    assert (rounded(123456.7, ROUND_CEILING), rounded(0.25, ROUND_FLOOR)) == ("123460", "0.25")

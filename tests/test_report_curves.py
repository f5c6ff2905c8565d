"""Reports write what a plot of a privacy curve needs beside the pages, and the pages show a few points of it."""

import json
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.cli.claims import specs_of, verified
from dpverify.cli.drawn import ALL_BANDS, _Drawing
from dpverify.pictures import bands
from dpverify.pictures.bands import Band, Bands
from dpverify.project.cache import Cache
from dpverify.report.curves import SHOWN, points, render

mpmath.mp.dps = 40

GAUSSIAN = '[mechanism]\nkind = "builtin"\nname = "gaussian"\nsigma = 1\n'
CLAIMS = (
    '[[claim]]\nname = "known"\nsensitivity = 1\nepsilon = 1\ndelta = "0.127"\n'
    '[[claim]]\nname = "asked"\nsensitivity = 1\nepsilon = "tight"\ndelta = "1e-5"\n'
    '[[claim]]\nname = "twice as far"\nsensitivity = 2\nepsilon = 2\ndelta = "1/2"\n'
)
TWICE = (
    '[mechanism]\nkind = "compose"\n[[mechanism.parts]]\nkind = "builtin"\nname = "laplace"\nscale = 1\nsensitivity = 1\ntimes = 2\n'
    '[[claim]]\nname = "both"\nepsilon = 2\n'
)
LOGISTIC = '[mechanism]\nkind = "translation"\ndensity = "1/cosh(z/2)**2"\n[[claim]]\nname = "pure"\nsensitivity = 1\nepsilon = 1\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(*texts, code=0):
    files = []
    for number, text in enumerate(texts):
        files.append(f"claims{number}.toml")
        Path(files[-1]).write_text(text)
    result = CliRunner().invoke(cli.main, ["report", *files, "-o", "out", "--no-cache"])
    assert result.exit_code == code, result.output
    return result


def data(name="claims0"):
    return json.loads(Path(f"out/{name}.curves.json").read_text())


@pytest.mark.wide
def test_the_data_of_a_file_has_all_bands_of_every_sensitivity(folder):
    report(GAUSSIAN + CLAIMS)
    found = data()
    assert (found["schema"], found["file"]) == ("dpverify-curves/1", "claims0.toml")
    assert [each["names"] for each in found["claims"]] == [["known", "asked"], ["twice as far"]]
    assert [each["name"] for each in found["claims"]] == ["known", "twice as far"]
    for mu, claim in zip((1, 2), found["claims"], strict=True):
        assert claim.keys() == {"name", "names", "delta", "trade_off", "composition"}
        band = claim["delta"]
        for x, lower, upper in zip(band["x"], band["lower"], band["upper"], strict=True):
            e = mpmath.mpf(x)
            truth = mpmath.ncdf(mpmath.mpf(mu) / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mpmath.mpf(mu) / 2 - e / mu)
            assert mpmath.mpf(lower) <= truth <= mpmath.mpf(upper)
    assert found["claims"][0]["composition"]["at"] == {"delta": "0.127"}


@pytest.mark.wide
def test_pages_link_the_data_and_show_a_few_points(folder):
    report(GAUSSIAN + CLAIMS)
    markdown, html = (Path(f"out/index.{kind}").read_text() for kind in ("md", "html"))
    assert 'href="./claims0.curves.json"' in html
    for said in ("The least delta at each epsilon", "type II error", "compositions of known with itself at delta 0.127"):
        assert said in markdown and said in html
    table = html.partition(">delta, claims0</caption>")[2].partition("</table>")[0]
    assert table.count("<tr>") == 1 + 2 * SHOWN


@pytest.mark.wide
def test_the_same_claims_give_the_same_bytes(folder):
    report(GAUSSIAN + CLAIMS, TWICE)
    first = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    report(GAUSSIAN + CLAIMS, TWICE)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == first


@pytest.mark.wide
def test_pure_claims_of_combinators_have_curves_and_others_where_they_cost_little(folder):
    report(TWICE, LOGISTIC)
    assert data()["claims"][0].keys() >= {"delta", "trade_off", "composition"}
    assert not Path("out/claims1.curves.json").exists()


@pytest.mark.wide
def test_data_of_claims_that_have_no_curve_any_more_is_removed(folder):
    report(TWICE)
    report(LOGISTIC)
    assert not Path("out/claims0.curves.json").exists()


@pytest.mark.wide
def test_one_claims_fault_takes_no_other_curve_away(folder, monkeypatch):
    kept = bands.bands

    def failing(claims, evidence=None):
        if claims[0].name == "twice as far":
            raise ZeroDivisionError("oops")
        return kept(claims, evidence)

    monkeypatch.setattr(bands, "bands", failing)
    result = report(GAUSSIAN + CLAIMS)
    assert [each["name"] for each in data()["claims"]] == ["known"]
    assert re.search(r"twice as far, its curves: .*oops", result.stderr)


def test_sides_that_are_not_known_and_missing_bands_are_told():
    band = Band("delta", "epsilon", ("0", "1"), (None, None), ("0.5", "0.25"), (False, False), rules=("a",))
    told = Bands(("<one>",), {"delta": band}, {"composition": 'no "curve"'})
    claim = json.loads(render("a.toml", [told]))["claims"][0]
    assert claim["delta"]["lower"] == [None, None] and claim["missing"] == {"composition": 'no "curve"'}
    assert points(band) == [("0", "at most 0.5"), ("1", "at most 0.25")]
    assert Fraction(claim["delta"]["upper"][1]) == Fraction(1, 4)


@pytest.mark.wide
def test_what_is_drawn_depends_neither_on_what_was_drawn_before_nor_on_the_number_of_processes(folder):
    texts = [GAUSSIAN + CLAIMS, TWICE]
    files = []
    for number, text in enumerate(texts):
        Path(f"claims{number}.toml").write_text(text)
        files.append(f"claims{number}.toml")
    drawn = []
    for order, jobs in ((files, "1"), (files[::-1], "1"), (files, "2")):
        result = CliRunner().invoke(cli.main, ["report", *order, "-o", "out", "--no-cache", "--jobs", jobs])
        assert result.exit_code == 0, result.output
        drawn.append([Path(f"out/claims{number}.curves.json").read_bytes() for number in range(2)])
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("text", [TWICE, LOGISTIC])
def test_what_takes_long_to_draw_is_known_before_and_takes_long_but_once(folder, text):
    """All three bands take long; those that are kept, and a delta alone, do not."""
    Path("claims.toml").write_text(text)
    entries, drawing = verified(specs_of(["claims.toml"]), None, 20), _Drawing(Cache(folder / "cache"), {})
    before = drawing.weight(entries)
    _, drawn, _ = drawing(entries)
    assert (before == ALL_BANDS) == any(each.bands.keys() > {"delta"} for each in drawn)
    assert drawing.weight(entries) == 1.0 < ALL_BANDS

"""The check of pages in a real browser finds every fault that is planted, and none in a page without."""

import importlib.util
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
pytest.importorskip("axe_playwright_python", reason="needs the extra `browser`")

TOOL = Path(__file__).parents[1] / "tools" / "browser_check.py"
SPEC = importlib.util.spec_from_file_location("browser_check", TOOL)
browser_check = importlib.util.module_from_spec(SPEC)
sys.modules["browser_check"] = browser_check
SPEC.loader.exec_module(browser_check)

needs_chromium = pytest.mark.skipif(browser_check.find_chromium() is None, reason="needs Chromium")

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>Page</title><style>:root{color-scheme:light dark}"
    "body{background:#fff;color:#111}a{color:#0b57a4}a:focus-visible{outline:2px solid}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#9cf}}%s</style></head><body>%s</body></html>"
)
GOOD = HEAD % (
    ".scroll{overflow-x:auto}@media print{.scroll{overflow:visible}}",
    '<main><h1>Heading</h1><p>Text with <a href="#more">a link</a>.</p><details><summary>More</summary><p id="more">Folded.</p></details>'
    '<fieldset><legend>Pick</legend><label><input type="radio" name="g" checked>a</label><label><input type="radio" name="g">b</label>'
    '</fieldset><p><button>Press</button></p><svg viewBox="0 0 10 10" role="img" aria-labelledby="t" width="50"><title id="t">Dot</title>'
    '<circle cx="5" cy="5" r="4"/></svg><div class="scroll" tabindex="0"><table><tr><td>cell</td></tr></table></div></main>',
)
BAD = HEAD % (
    ".wide{width:2000px}.pale{color:#999;background:#fff}.bare:focus,.bare:focus-visible{outline:none}"
    ".far{width:9em;white-space:nowrap;overflow:hidden}"
    "@media(prefers-color-scheme:dark){.night{color:#222;background:#000}}",
    '<main><h1 id="twin">Heading</h1><p id="twin">Text</p><div class="wide">Too wide</div>'
    '<p class="pale">Pale</p><p class="night">Night</p>'
    '<a class="bare" href="#twin">bare</a><div onclick="1" class="mouse">mouse only</div>'
    '<img src="https://example.invalid/a.png" alt="far">'
    '<input class="nameless"><svg viewBox="0 0 1 1" width="9"><path d="M0 0h1"/></svg><div class="far">'
    "This does not fit into its box</div>"
    '<details class="fold"><summary>More</summary><div style="width:1500px">Folded and wide</div></details>'
    "<script>console.error('planted'); throw new Error('thrown')</script></main>",
)
TRAP = HEAD % (
    "",
    "<main><button>one</button><button class='trap' onblur='setTimeout(() => this.focus())' "
    "onkeydown='if (event.key === \"Tab\") event.preventDefault()'>two</button><button class='after'>three</button></main>",
)


def run(folder, text, *arguments):
    page = folder / "page.html"
    page.write_text(text)
    return browser_check.main([str(page), *arguments])


@pytest.fixture(scope="module")
def opened():
    with browser_check.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def faults(opened, tmp_path_factory):
    page = tmp_path_factory.mktemp("bad") / "page.html"
    page.write_text(BAD)
    return browser_check.check(opened, page)


@needs_chromium
@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ("console: planted", "360 light"),
        ("console: thrown", "1280 dark"),
        ("request: https://example.invalid/a.png", "360 light without scripts"),
        ("wider than the screen: <div.wide>", "1280 light without scripts"),
        ("color-contrast (serious)", "360 dark"),
        (".night", "1280 dark"),
        (".pale", "1280 light"),
        ("label (critical)", "1280 light"),
        ("focus that is not seen: <a.bare>", "keyboard"),
        ("not reached by Tab: <div.mouse>", "keyboard"),
        ("ids that are there twice: twin", "keyboard"),
        ("svg without a title: <svg>", "keyboard"),
        ('<div.far> "This does not fit', "print"),
    ],
)
def test_every_planted_fault_is_found(faults, fault, where):
    assert any(fault in line and where in line for line in faults), "\n".join(faults)


@needs_chromium
def test_a_fault_of_one_scheme_is_told_of_that_scheme_alone(faults):
    (line,) = [line for line in faults if ".night" in line]
    assert "light" not in line.rpartition("(")[2]


@needs_chromium
@pytest.mark.parametrize(
    ("body", "wide"),
    [
        ("<details><summary>More</summary><div style='width:1500px'>Folded and wide</div></details>", True),
        ("<div style='overflow:hidden'><p style='width:1500px;text-align:right'>Cut off at the edge</p></div>", True),
        ("<div style='overflow:auto'><p style='width:1500px'>Scrolled in its own place</p></div>", False),
    ],
)
def test_folded_and_hidden_overflow_is_found_and_a_scrolled_place_is_none(opened, tmp_path, body, wide):
    page = tmp_path / "page.html"
    page.write_text(HEAD % ("", f"<main>{body}</main>"))
    with browser_check.Visit(opened, page, width=360) as visit:
        browser_check._look(visit)
    assert any(line.startswith("wider than the screen") for line in visit.faults) is wide, visit.faults


@needs_chromium
def test_a_control_that_keeps_the_focus_is_found(opened, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(TRAP)
    with browser_check.Visit(opened, page) as visit:
        browser_check._tab(visit)
    assert [line for line in visit.faults if "keeps the focus: <button.trap>" in line], visit.faults
    assert [line for line in visit.faults if "not reached by Tab" in line and "button.after" in line], visit.faults


@needs_chromium
def test_a_good_page_has_no_faults_and_leaves_pictures(tmp_path, capsys, opened, monkeypatch):
    monkeypatch.setattr(browser_check, "browser", lambda: nullcontext(opened))
    assert run(tmp_path, GOOD, "--screenshots", str(tmp_path / "shots")) == 0
    assert capsys.readouterr().out == "1 page, nothing wrong\n"
    pictures = sorted((tmp_path / "shots").iterdir())
    assert [one.name for one in pictures] == [f"page-{width}-{scheme}.png" for width in (1280, 360) for scheme in ("dark", "light")]
    assert all(one.read_bytes().startswith(b"\x89PNG") for one in pictures)


def test_pages_that_are_missing_are_all_named(tmp_path, capsys):
    assert browser_check.main([str(tmp_path / "a.html"), str(tmp_path / "b.html")]) == 2
    said = capsys.readouterr().err
    assert "no such page" in said and "a.html" in said and "b.html" in said


def test_a_missing_browser_is_told_with_the_way_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))
    assert run(tmp_path, GOOD) == 2
    assert "apt-get install chromium" in capsys.readouterr().err


def test_a_folder_stands_for_its_pages(tmp_path):
    for name in ("b.html", "a.html", "c.txt"):
        (tmp_path / name).write_text("")
    assert [page.name for page in browser_check.pages([tmp_path])] == ["a.html", "b.html"]

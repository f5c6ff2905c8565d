"""What README and docs/ show is what happens, and their links lead somewhere.

CONTRIBUTING.md, "Documentation", has the conventions of the fences.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpverify.catalogue import read_spec
from tests.preloaded import program
from tests.spread import spread

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
WRITTEN = [page for page in PAGES if not page.is_relative_to(DOCS / "reference")]
"""The pages that people write; the reference is generated and has a test of its own."""
PATHS = {"tutorial": sorted((DOCS / "tutorial").glob("*.md"))} | {
    page.relative_to(ROOT).as_posix(): [page] for page in WRITTEN if not page.is_relative_to(DOCS / "tutorial")
}
"""What a reader follows in one folder: the tutorial from its first page to its last, every other page by itself."""
FENCE = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL)
FILES = {"toml", "yaml", "ini", "json", "csv"}
RUN = {"console", "pycon", "python"}
SHOWN = {"sh", "text", "coq"}
"""Commands that install or need the network, which nothing here runs, what is no program's output, and theorems."""
DRIVER = """
import doctest, json, sys
names = {"__name__": "page"}
failed = 0
for number, (language, body) in enumerate(json.load(sys.stdin), 1):
    if language == "python":
        exec(compile(body, f"python block {number}", "exec"), names)
    else:
        test = doctest.DocTestParser().get_doctest(body, names, f"block {number}", None, 0)
        failed += doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False).failed
        names = test.globs
sys.exit(failed > 0)
"""


def fences(page):
    """The fenced blocks of a page in order: language, title of the file or None, text."""
    return [(found["language"], found["title"], found["body"]) for found in FENCE.finditer(page.read_text())]


def timeless(text):
    """An answer without its times."""
    return re.sub(r"\b\d+ ms\b|\b\d+\.\d\d ?s\b", "_", text).strip()


def as_shown(shown):
    """What an output has to match: a line of three dots stands for any lines."""
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in timeless(shown).splitlines()]
    return re.compile("".join(lines))


def sessions(block):
    """The commands of a console block, with what is shown below each."""
    return [tuple(part.partition("\n")[::2]) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


@pytest.fixture
def reader(tmp_path):
    """Runs a program as a reader would, in an empty folder: `dpverify` and `pytest` are those of this checkout."""
    folder, programs = tmp_path / "reader", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    installed = entry_points(group="pytest11", name="dpverify")
    pytest_arguments = "-m pytest" if installed else "-m pytest -p dpverify.pytest_plugin"
    program(programs, "dpverify", "dpverify.cli")
    for name, arguments in (("pytest", pytest_arguments), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (programs / name).chmod(0o755)
    mine = {key: value for key, value in os.environ.items() if not key.startswith(("DPVERIFY_", "PYTEST_", "CI", "GITHUB_"))}
    environment = mine | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "80",
        "DPVERIFY_CACHE_DIR": str(tmp_path / "cache"),
    }  # fmt: skip

    def run(arguments, text=None):
        return subprocess.run(arguments, input=text, capture_output=True, text=True, cwd=folder, env=environment, check=False)

    run.folder = folder
    return run


def follow(block, reader):
    """Run a console block's commands in one shell, and compare what each says: its output, or its complaint where it has none."""
    commands = sessions(block)
    assert commands, "a console block shows a command after `$ `"
    mark = "-- end of a command --"
    script = "true\n" + "".join(
        f"{{ {command}\n}} 2>.complaint; __code=$?; echo '{mark}'; cat .complaint >&2; echo '{mark}' >&2; (exit $__code)\n"
        for command, _ in commands
    )
    done = reader(["bash"], script)
    said = zip(done.stdout.split(f"{mark}\n"), done.stderr.split(f"{mark}\n"), strict=True)
    for (command, shown), (output, complaint) in zip(commands, said, strict=False):
        answer = timeless(output or complaint) + "\n"
        if not as_shown(shown).fullmatch(answer):
            assert answer == timeless(shown) + "\n", f"$ {command}\n{complaint}"
    (reader.folder / ".complaint").unlink()


def verbs(path):
    """What a path shows of the command line, and the first two by themselves."""
    texts = [body for page in PATHS[path] for language, _, body in fences(page) if language in RUN]
    first = {path} if path in ("tutorial", "README.md") else set()
    return first.union(re.findall(r"^\$ dpverify ([a-z-]+)", "\n".join(texts), re.MULTILINE))


SHOWING = [path for path, pages in PATHS.items() if any(language in RUN for page in pages for language, _, _ in fences(page))]


@pytest.mark.parametrize("path", spread(SHOWING, 0, verbs))
def test_what_a_page_shows_is_what_happens(path, reader):
    pages = PATHS[path]
    snippets = []
    for language, title, body in (fence for page in pages for fence in fences(page)):
        if title is not None:
            file = reader.folder / title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body)
        elif language == "console":
            follow(body, reader)
        elif language in RUN:
            snippets.append((language, body))
    if snippets:
        done = reader([sys.executable, "-c", DRIVER], json.dumps(snippets))
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_claim_file_shown_can_be_read(tmp_path):
    for number, page in enumerate(WRITTEN):
        for _, title, body in fences(page):
            if title is not None:
                file = tmp_path / str(number) / title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(body.replace('"least"', "1"))  # a number that is still to be found
                assert "[mechanism]" not in body or read_spec(file).claims, f"{page}: {title}"


def test_every_fence_says_what_it_is():
    for page in WRITTEN:
        text = page.read_text()
        assert len(re.findall(r"^\s*```", text, re.MULTILINE)) == 2 * len(fences(page)), f"{page}: a fence is indented, open or strange"
        for language, title, body in fences(page):
            assert language in FILES | RUN | SHOWN, (page, body)
            assert title is not None if language in FILES else title is None or language == "python", (page, body)


def anchors(page):
    """The anchors of a page's headings, as hosts of Markdown and the built pages name them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_the_reference_says_what_the_code_says():
    place = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    reference = importlib.util.module_from_spec(place)
    place.loader.exec_module(reference)
    committed = {page.name: page.read_text() for page in (DOCS / "reference").glob("*.md") if page.name not in reference.BY_HAND}
    assert committed == reference.pages(), "run `make docs` and commit docs/reference"


LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "specs" / "definitions.md"]


def test_links_lead_to_pages_and_headings_that_exist():
    wrong = []
    for page in LINKED:
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", FENCE.sub("", page.read_text())):
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert wrong == []


def test_every_page_is_in_the_navigation_and_the_navigation_names_pages_that_exist():
    named = re.findall(r"^ +- .*?: ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    inside = {page.relative_to(DOCS).as_posix() for page in PAGES if page != README}
    assert {name for name in named if not name.startswith("project/")} == inside


def test_an_output_that_differs_is_told_from_one_that_does_not(reader):
    follow("$ echo one; echo two\none\ntwo\n$ (exit 4)\n$ echo $?\n4\n", reader)
    follow("$ seq 9\n1\n...\n9\n", reader)
    with pytest.raises(AssertionError, match="three"):
        follow("$ echo one; echo three\none\ntwo\n", reader)


# -- the README ------------------------------------------------------------------------------------------


def test_the_example_is_fifteen_lines_at_most():
    example = next(body for language, _, body in fences(README) if language == "toml")
    answer = next(body for language, _, body in fences(README) if language == "console")
    assert len((example + answer).strip().splitlines()) <= 15


def test_both_commands_of_a_fresh_machine_stand_on_the_first_screen():
    first_screen = "\n".join(README.read_text().splitlines()[:12])
    assert "make verify" in first_screen and "make test" in first_screen


EXPLAINED = re.compile(r"^- `([^`]+)`: ", re.MULTILINE)


@pytest.mark.parametrize("page", PATHS["tutorial"], ids=lambda page: page.stem)
def test_a_tutorial_explains_words_that_it_shows(page):
    shown = " ".join(" ".join(body.split()) for _, _, body in fences(page))
    explained = {word: [" ".join(piece.split()) for piece in word.split("...")] for word in EXPLAINED.findall(page.read_text())}
    lost = [word for word, pieces in explained.items() if not all(piece in shown for piece in pieces)]
    assert not lost, f"{page.name} explains what no output there has: {lost}"


def test_pages_in_a_folder_have_the_index_of_the_search_as_a_script(tmp_path):
    """A page that is read from a file cannot ask for the index; it can load a script."""
    pytest.importorskip("mkdocs")
    found = importlib.util.spec_from_file_location("docs_pages", ROOT / "tools" / "docs_pages.py")
    hooks = importlib.util.module_from_spec(found)
    found.loader.exec_module(hooks)
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text('{"docs": []}')
    hooks.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    assert (tmp_path / "search" / "search_index.js").read_text() == 'var __index = {"docs": []}\n'

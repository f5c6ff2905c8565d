"""The theory is complete: what a rule states has a section with its proof, named as the rule is, and every link in it leads somewhere."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import dpverify
from dpverify.trusted import theories
from dpverify.trusted.kernel.registry import CURVES, EXPLAINED, RULES
from tests.each import holds_of_each

ROOT = Path(__file__).resolve().parents[1]
THEORY = ROOT / "docs" / "theory"
CHAPTERS = sorted(THEORY.glob("*.md"))
CONTRIBUTION = "**Contribution of this project"


def slug(heading):
    """The anchor that hosts of Markdown and the built pages give a heading."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def sections(page):
    """The text of a page under each of its headings, by anchor; one that is doubled comes twice."""
    parts = re.split(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(slug(heading), text) for heading, text in zip(parts[1::2], parts[2::2], strict=True)]


EVERY = [(page, anchor, text) for page in CHAPTERS for anchor, text in sections(page)]
PLACES = {(page.name, anchor) for page, anchor, _ in EVERY}


def theorems():
    """The names of all modules that state a theorem, listed in a table or not."""
    for found in pkgutil.walk_packages(theories.__path__, f"{theories.__name__}."):
        module = importlib.import_module(found.name)
        if hasattr(module, "ASSUMED"):
            yield module.NAME


STATED = sorted({*theorems(), *RULES, *CURVES})


def test_every_theorem_that_can_be_explained_is_among_those_looked_for():
    assert set(EXPLAINED) <= set(STATED)


def test_what_a_rule_states_has_a_section_of_its_name_with_a_proof():
    sections = {anchor: text for _, anchor, text in EVERY}
    assert [name for name in STATED if not re.search(r"\bProof\b", sections.get(name, ""))] == []


def test_an_anchor_names_one_section_of_the_whole_theory():
    assert [anchor for anchor, count in Counter(anchor for _, anchor, _ in EVERY).items() if count > 1] == []


def test_links_within_the_theory_lead_to_chapters_and_sections_that_exist():
    holds_of_each(CHAPTERS, leads_to_what_exists)


def leads_to_what_exists(page):
    prose = re.sub(r"^ {4}.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)  # formulas are set in
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose):
        chapter = target or page.name
        assert (page.parent / chapter).is_file(), target
        assert "/" in chapter or not anchor or (chapter, anchor) in PLACES, f"{target}#{anchor}"


FOLDERS = ("dpverify", "specs", "mechanisms", "bench", "tests", "tools", "docs")
SAYING = [file for name in FOLDERS for file in sorted((ROOT / name).rglob("*.*"))]
"""All that may speak of the theory."""


def test_what_is_said_of_the_theory_leads_to_a_section():
    places = {anchor for _, anchor in PLACES}
    for file in SAYING:
        if file.suffix not in (".py", ".toml", ".md") or file == Path(__file__):
            continue
        text = file.read_text(encoding="utf-8")
        for chapter, anchor in re.findall(r"\btheory(?:/(\w+\.md))?#([\w-]+)", text):
            assert (chapter, anchor) in PLACES if chapter else anchor in places, f"{file}: {chapter}#{anchor}"
        assert not re.search(r"\bTHEORY,? T\d", text), f"{file}: the theory is in docs/theory, and its sections have names"


def test_every_contribution_that_a_section_claims_is_listed_for_citation():
    listed = set(re.findall(r"\]\((\w+\.md)#([\w-]+)\)", dict(sections(THEORY / "index.md"))["contributions"]))
    claimed = {(page.name, anchor) for page, anchor, text in EVERY if CONTRIBUTION in text and page.name != "index.md"}
    assert claimed == listed


def test_the_line_to_cite_names_this_version_and_a_section():
    text = dict(sections(THEORY / "index.md"))["contributions"]
    version, chapter, anchor = re.search(r"\*dpverify\* (\S+), Theory.*\n\(`docs/theory/(\w+\.md)#([\w-]+)`\)", text).groups()
    assert version == dpverify.__version__ and (chapter, anchor) in PLACES


def test_chapters_are_listed_in_the_overview_and_proofs_come_to_an_end():
    holds_of_each(CHAPTERS, is_listed_and_comes_to_an_end)


def is_listed_and_comes_to_an_end(page):
    assert page.name == "index.md" or f"]({page.name})" in (THEORY / "index.md").read_text(encoding="utf-8")
    for anchor, text in sections(page):
        assert len(re.findall(r"\*Proof\b", text)) <= len(re.findall(r"\bQED\b", text)), anchor

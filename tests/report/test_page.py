"""The page of a run: one file that needs nothing else, says everything, and means the same in Markdown."""

import json
import re
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dpverify import cli
from dpverify.report.page import html, markdown
from dpverify.report.page.blocks import (
    Badge,
    Code,
    Facts,
    Figure,
    Fold,
    Items,
    Link,
    Listing,
    Math,
    Node,
    Paragraph,
    Row,
    Section,
    Table,
    Tree,
)
from dpverify.report.page.sections.statement import plain_decimal
from dpverify.rules.table import EXPLAINED

ROOT = Path(__file__).parents[2]
VOID = {"meta", "link", "input", "br", "hr", "img"}
RESPONSE = """
[mechanism]
kind = "table"
rows = [["3/4", "1/4"], ["1/4", "3/4"]]

[[claim]]
name = "just above"
epsilon = "1.0987"

[[claim]]
name = "too <low> & 'bold'"
epsilon = 1
expect = "refuted"

[[claim]]
name = "wrongly hoped for"
epsilon = 1
"""
NOISE = """
[mechanism]
kind = "radial"
profile = "exp(-r)"
norm = "l1"
dimension = 2

[[claim]]
name = "tight"
sensitivity = 1
epsilon = "tight"
"""


class Page(HTMLParser):
    """What a browser sees of a page: balanced elements, ids, links, text by element."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.external, self.text = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        self.external += [value for key, value in attrs if key in ("src", "href", "srcset", "action") and re.match(r"\w+:|//", value or "")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    @property
    def said(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A report of two files: three claims, one of which is not as its author expects; and one that is proved."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "response.toml").write_text(RESPONSE)
    (folder / "noise.toml").write_text(NOISE)
    arguments = ["report", str(folder / "response.toml"), str(folder / "noise.toml"), "-o", str(folder / "out"), "--format", "json"]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 1, result.output
    return folder / "out"


@pytest.fixture(scope="module")
def page(out):
    return Page((out / "index.html").read_text())


# -- the whole page ------------------------------------------------------------------------------------


def test_the_page_asks_for_nothing_from_anywhere(page):
    assert [link for link in page.external if not link.startswith("data:")] == []


def test_ids_are_unique_and_links_inside_the_page_lead_somewhere(page, out):
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside and inside <= set(page.ids)
    assert all((out / link).is_file() for link in page.links if not link.startswith("#"))


def test_the_page_says_what_every_claim_is_and_what_came_of_it(page, out):
    claims = json.loads((out / "results.json").read_text())["claims"]
    for claim in claims:
        assert claim["name"] in page.said
        assert all(line in page.said for line in claim["assumptions"])
        assert all(EXPLAINED[rule].STATEMENT in page.said and str(EXPLAINED[rule].SOURCE) in page.said for rule in claim["rules"])
        ends = {plain_decimal(end) for end in (claim["epsilon"]["lower"], claim["epsilon"]["upper"]) if end}
        assert ends & set(page.said.split())
    assert {claim["verdict"] for claim in claims} == {"PROVED", "REFUTED"}


def test_the_headline_says_first_what_is_not_as_expected(page):
    head = page.said[: page.said.index("Index")]
    assert "1 thing is not as expected" in head and "wrongly hoped for" in head and "too <low>" not in head.replace("wrongly hoped for", "")


def test_each_certificate_is_named_with_the_digest_of_its_file(page, out):
    certificates = sorted(out.glob("*.cert.json"))
    assert len(certificates) == 4
    for file in certificates:
        assert sha256(file.read_bytes()).hexdigest() in page.said and f"python -m dpverify.kernel {file.name}" in page.said


def test_the_markdown_twin_says_the_same(page, out):
    twin = (out / "index.md").read_text()
    plain = re.sub(r"\\(.)", r"\1", twin)
    for claim in json.loads((out / "results.json").read_text())["claims"]:
        assert claim["name"] in plain and all(line in plain for line in claim["assumptions"])
        assert all(EXPLAINED[rule].STATEMENT.split(".")[0] in plain for rule in claim["rules"])
    for target in re.findall(r"\]\(([^)]+)\)", twin):
        assert (f'<a id="{target[1:]}"></a>' in twin) if target.startswith("#") else (out / target).is_file()


def test_the_same_claims_give_the_same_page(out, tmp_path):
    folder = out.parent
    arguments = ["report", str(folder / "response.toml"), str(folder / "noise.toml"), "-o", str(tmp_path)]
    CliRunner().invoke(cli.main, arguments)
    assert (tmp_path / "index.html").read_bytes() == (out / "index.html").read_bytes()


# -- blocks --------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=30)
INLINE = st.one_of(TEXT, st.builds(Code, TEXT), st.builds(Badge, TEXT, st.booleans()), st.builds(Link, TEXT, st.just("#here")))
CONTENT = st.one_of(INLINE, st.tuples(INLINE, INLINE))
FLAT = st.one_of(
    st.builds(Paragraph, CONTENT),
    st.builds(Facts, st.lists(st.tuples(TEXT, CONTENT), min_size=1, max_size=3)),
    st.builds(Items, st.lists(CONTENT, min_size=1, max_size=3)),
    st.builds(Listing, TEXT),
    st.builds(Tree, st.builds(Node, CONTENT, st.tuples(st.builds(Node, CONTENT)))),
    st.builds(Table, TEXT, st.just(("a", "b")), st.lists(st.tuples(CONTENT, CONTENT), max_size=3)),
)
BLOCKS = st.recursive(
    FLAT,
    lambda below: st.one_of(
        st.builds(Fold, CONTENT, st.lists(below, max_size=2)),
        st.builds(Section, TEXT, st.lists(below, max_size=2)),
        st.builds(Row, st.lists(below, max_size=2)),
    ),
    max_leaves=5,
)


def texts(thing):
    """Every text in blocks or inline content, but where links lead."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Link):
        yield thing.text
    elif isinstance(thing, Table):
        yield from texts(thing.rows)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from texts(part)
    elif hasattr(type(thing), "__slots__"):
        for name in type(thing).__slots__:
            yield from texts(getattr(thing, name))


@given(st.lists(BLOCKS, min_size=1, max_size=3))
def test_any_text_stands_on_the_page_as_it_is_and_breaks_nothing(blocks):
    seen = Page(html.document("title", blocks))
    said = "".join(seen.text)
    for text in texts(blocks):
        assert "".join(text.split()) in "".join(said.split())


@given(st.lists(st.tuples(CONTENT, CONTENT), min_size=1, max_size=3))
def test_any_text_keeps_to_its_cell_in_markdown(rows):
    table = markdown.document("title", [Table("t", ("a", "b"), rows)]).split("\n\n")[1].strip().split("\n")
    assert len(table) == 2 + len(rows)
    assert all(len(re.findall(r"(?<!\\)\|", re.sub(r"\\\\", "", line))) == 3 for line in table)


@given(st.lists(BLOCKS, min_size=1, max_size=3))
def test_no_text_becomes_an_element_in_markdown(blocks):
    twin = re.sub(r"\\\\", "", markdown.document("title", blocks))  # what is escaped is a backslash
    twin = re.sub(r"^(`{3,})text\n.*?^\1$", "", twin, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<(?!a id=|/?details|/?summary|/?b>|/?code>)", re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", twin))


def test_what_renderers_made_is_not_escaped_again():
    seen = html.document("title", [Paragraph(Math("<math><mi>x</mi></math>", "x")), Figure("<svg><title>t</title></svg>", "caption")])
    assert "<math><mi>x</mi></math>" in seen and "<svg><title>t</title></svg>" in seen
    twin = markdown.document("title", [Paragraph(Math("<math/>", "x")), Figure("<svg/>", "caption")])
    assert "x" in twin and "*caption*" in twin and "svg" not in twin


@pytest.mark.parametrize("word", ["PROVED", "REFUTED", "UNKNOWN", "VIOLATION", "NONCONFORMING", "NO VIOLATION SEEN"])
def test_a_verdict_is_told_by_a_sign_and_a_word_and_framed_where_nobody_expects_it(word):
    plain, framed = Badge(word), Badge(word, fine=False)
    assert html.sign(plain) in html.document("t", [Paragraph(plain)]) and "loud" not in html.tone(plain) and "loud" in html.tone(framed)
    assert "not as expected" in markdown.document("t", [Paragraph(framed)])
    assert len({html.sign(Badge(kind)) for kind in ("PROVED", "REFUTED", "UNKNOWN")}) == 3


def test_a_fragment_for_a_notebook_keeps_its_style_to_itself():
    seen = html.fragment([Paragraph("x")])
    assert "@scope" in seen and "<html" not in seen and "<p>x</p>" in seen

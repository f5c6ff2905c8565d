"""The page of a run: one file that needs nothing else, says everything, and means the same in Markdown."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dpverify import cli
from dpverify.pictures.loss import LossCurve
from dpverify.pictures.supremum import Supremum
from dpverify.report.enclosures import ends as ends_of
from dpverify.report.enclosures import plain_decimal
from dpverify.report.page import claim as claim_fold
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
    beside,
)
from dpverify.report.page.sections import loss, statement, witness
from dpverify.report.page.sections import proof as proof_section
from dpverify.report.page.subject import File
from dpverify.report.stated import stated
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Claim, Domain, Sampled

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


@pytest.mark.wide
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
        assert all(stated(rule).statement in page.said and str(stated(rule).source) in page.said for rule in claim["rules"])
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
        assert sha256(file.read_bytes()).hexdigest() in page.said and f"python -P -m dpverify.kernel {file.name}" in page.said


def test_the_markdown_twin_says_the_same(page, out):
    twin = (out / "index.md").read_text()
    plain = re.sub(r"\\(.)", r"\1", twin)
    for claim in json.loads((out / "results.json").read_text())["claims"]:
        assert claim["name"] in plain and all(line in plain for line in claim["assumptions"])
        assert all(stated(rule).statement.split(".")[0] in plain for rule in claim["rules"])
    for target in re.findall(r"\]\(([^)]+)\)", twin):
        assert (f'<a id="{target[1:]}"></a>' in twin) if target.startswith("#") else (out / target).is_file()


def test_the_same_claims_give_the_same_page(out, tmp_path):
    folder = out.parent
    arguments = ["report", str(folder / "response.toml"), str(folder / "noise.toml"), "-o", str(tmp_path)]
    CliRunner().invoke(cli.main, arguments)
    assert (tmp_path / "index.html").read_bytes() == (out / "index.html").read_bytes()


# -- what is said of a claim ---------------------------------------------------------------------------


def entries(folder, text):
    """The claims of a file, judged."""
    from dpverify.cli.claims import specs_of, verified

    (folder / "claims.toml").write_text(text)
    return verified(specs_of([str(folder / "claims.toml")]), None, 20)


def said_of(claimed):
    return Page(html.document("t", [claim_fold(claimed)])).said


@pytest.fixture(scope="module")
def responses(tmp_path_factory):
    return File("response", entries(tmp_path_factory.mktemp("claims"), RESPONSE)).claims


def test_what_is_proved_is_said_with_its_quantifiers_and_what_is_refuted_is_the_negation(responses):
    proved, refuted, _ = map(said_of, responses)
    assert "for all neighbours x, x′ and every event S: " in proved and "≤" in proved and "there are" not in proved
    assert "there are neighbours x, x′ and an event S with" in refuted and ">" in refuted and "for all neighbours" not in refuted


def test_what_holds_for_all_parameters_says_so_and_one_case_refutes_it():
    mechanism = Sampled()
    ranging = Claim(mechanism, parse("nu"), parse("0"), domains=(("nu", Domain(lower=Fraction(0))),))
    assert "for all parameters, all neighbours" in _text(statement.sentence(ranging, "PROVED"))
    assert "there are parameters, neighbours" in _text(statement.sentence(ranging, "REFUTED"))
    assert _text(statement.sentence(ranging, "UNKNOWN")).startswith("whether, for all parameters")


def test_a_tight_claim_names_the_bound_that_stands_for_epsilon_and_its_refutation_excludes_every_one():
    tight = Claim(Sampled(), None, parse("0"))
    assert "ε is the upper bound below" in _text(statement.sentence(tight, "PROVED"))
    assert _text(statement.sentence(tight, "REFUTED")).startswith("however large ε, there are")


def _text(content):
    return "".join(texts(content))


def test_steps_name_their_assumptions_by_the_numbers_in_the_list(responses):
    one = responses[0]
    listed = one.entry.judgement.assumptions
    tree = proof_section.blocks(one)[0].blocks[0].root
    named = {int(number) for said in texts(tree) for found in re.findall(r"assumes ([\d, ]+)", said) for number in found.split(", ")}
    assert named == set(range(1, len(listed) + 1))


def test_a_witness_that_is_clearly_too_likely_is_a_pair_of_bars_and_one_that_is_nearly_allowed_an_interval(tmp_path):
    # the response tells the truth with 3/4: P(S)/Q(S) = 3 for S = {0}, and the claims allow e and 3/(1 + 1e-8)
    text = RESPONSE.replace('epsilon = "1.0987"', 'epsilon = "log(3) - 1e-8"')
    far, near = (File("r", entries(tmp_path, text)).claims[i] for i in (1, 0))
    pictures = {one.entry.claim.name: witness.blocks(one)[1].blocks[0] for one in (far, near)}
    assert "share of the larger" in pictures[far.entry.claim.name].svg
    assert "by what share P(S) is above" in pictures["just above"].svg and "1 + 1.0e-8 times as large" in pictures["just above"].caption
    assert f"P(S) is {3 / math.e:.5g} times as large" in pictures[far.entry.claim.name].caption


@pytest.mark.parametrize(
    ("found", "ends"),
    [(["0.1", "0.2"], ("0.1", "0.2")), ("[0.1, 0.2]", ("0.1", "0.2")), ("1/4", ("0.25", "0.25")), ("1e-43429448", ("1e-43429448",) * 2)],
)
def test_probabilities_of_a_witness_are_read_however_they_are_written(found, ends):
    with localcontext(witness._NUMBERS):
        assert ends_of(found) == tuple(map(Decimal, ends))


def test_digits_that_do_not_tell_a_witness_from_what_is_allowed_are_said_to_be_too_few(responses):
    refuted = responses[1]
    facts, told = witness.blocks(replace(refuted, entry=replace(refuted.entry, judgement=_coarse(refuted.entry.judgement))))
    assert "too few" in told.blocks[0].content and len(facts.rows) == 2


def _coarse(judgement):
    """A witness of one digit: e times 0.3 may be more than 0.7."""
    return replace(judgement, witness={"P": ["0.7", "0.8"], "Q": ["0.2", "0.3"]})


@pytest.mark.parametrize("found", ["y > 1", None, [], ["0.1", "some"]])
def test_what_is_no_probability_is_not_drawn(found):
    assert ends_of(found) is None


def test_the_loss_is_hatched_just_where_it_is_above_the_refuted_claim():
    # a straight line through (0, 0) and (4, 4) is above 1 from 1 on
    curve = LossCurve(
        "line", "t", "", "pair", Supremum(4.0, True, "at 4"), Supremum(4.0, True, "at 4"), (((0.0, 0.0), (2.0, 2.0), (4.0, 4.0)),)
    )
    (area,) = loss._areas(curve, 1.0)
    assert area.kind == "fails" and area.label and area.edges == [(1.0, 1.0, 1.0), (2.0, 1.0, 2.0), (4.0, 1.0, 4.0)]
    assert loss._areas(curve, 4.0) == []


def test_stretches_of_loss_that_are_apart_are_hatched_apart():
    curve = LossCurve(
        "line", "t", "", "pair", Supremum(2.0, True, ""), Supremum(2.0, True, ""), (((0.0, 2.0), (1.0, 0.0), (2.0, 0.0), (3.0, 2.0)),)
    )
    left, right = loss._areas(curve, 1.0)
    assert left.edges == [(0.0, 1.0, 2.0), (0.5, 1.0, 1.0)] and right.edges == [(2.5, 1.0, 1.0), (3.0, 1.0, 2.0)]
    assert left.label and not right.label


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
    twin = twin.replace("<!-- -->", "")  # nothing, which keeps what is beside it apart
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


def test_only_a_surprise_stands_out():
    assert html.tone(Badge("REFUTED")) == html.tone(Badge("UNKNOWN")) == "calm"
    assert html.tone(Badge("REFUTED", fine=False)) == html.tone(Badge("PROVED", fine=False)) == "loud"
    assert 'aria-label="to look at:"' in html.document("t", [Paragraph(Badge("REFUTED", fine=False))])


def test_markdown_folds_what_the_page_folds_and_leaves_out_what_is_said_elsewhere():
    twin = markdown.document(
        "t", [Fold(("a < b ", Badge("PROVED")), [Paragraph("inside")], anchor="x"), Fold("aside", [Paragraph("gone")], aside=True)]
    )
    assert '<a id="x"></a>\n\n<details><summary>a &lt; b <b>PROVED</b></summary>\n\ninside\n\n</details>' in twin and "gone" not in twin


def test_markdown_says_once_what_folds_beside_each_other_have_in_common():
    same = Section("Assumed", [Items(["the sampler is ideal, and the query moves by at most what is stated of it"] * 2)])
    other = Section("Assumed", [Items(["nothing of the kind; this list is another one, and as long as the other list is here"] * 2)])
    folds = [Fold(name, [one], anchor=name) for name, one in (("a", same), ("b", same), ("c", other))]
    twin = markdown.document("t", folds)
    assert (
        twin.count("the sampler is ideal") == 2 and twin.count("Assumed: [as before](#a).") == 1 and twin.count("nothing of the kind") == 2
    )


def test_every_claim_of_every_file_is_in_one_table(page):
    assert "All 4 claims in one table" in page.said and page.ids.count(":all-claims") == 1
    assert all(page.links.count(f"#{name}") >= 2 for name in ("response:1", "response:2", "response:3", "noise:1"))


def test_what_a_baseline_accepts_is_no_alarm_and_is_still_told(tmp_path):
    (tmp_path / "response.toml").write_text(RESPONSE)
    run = CliRunner().invoke
    assert run(cli.main, ["baseline", str(tmp_path / "response.toml"), "-o", str(tmp_path / "known.json")]).exit_code == 0
    arguments = ["report", str(tmp_path / "response.toml"), "-o", str(tmp_path / "out"), "--baseline", str(tmp_path / "known.json")]
    assert run(cli.main, arguments).exit_code == 0
    text = (tmp_path / "out" / "index.html").read_text()
    assert 'class="callout"' in text and "Nothing new" in text and "1 known from the baseline" in text and 'id=":to-look-at"' not in text


def test_the_headline_gives_the_commands_that_show_each_surprise_again(page):
    head = page.said[: page.said.index("Index")]
    assert "--claim 'wrongly hoped for'" in head and "Claimed: epsilon 1; expected PROVED. Known: tight epsilon 1.0986122886" in head


@pytest.mark.parametrize("name", ["index.html", "index.md"])
def test_headings_go_down_one_level_at_a_time(out, name):
    text = (out / name).read_text()
    levels = [int(found) for found in re.findall(r"<h([1-6])>", text)] or [
        len(found) for found in re.findall(r"^(#+) ", text, re.MULTILINE)
    ]
    assert levels[0] == 1 and len(set(levels)) > 3
    assert all(after <= before + 1 for before, after in pairwise(levels))


@given(st.lists(st.text(st.sampled_from('ab1-:~ ()é/"<'), min_size=1, max_size=4), min_size=2, max_size=4, unique=True))
def test_names_of_files_and_claims_lead_to_different_places_without_blanks(stems):
    files = [File(stem, [SimpleNamespace(), SimpleNamespace()]) for stem in stems]
    anchors = [anchor for file in files for anchor in (file.anchor, *(one.anchor for one in file.claims))]
    assert len(set(anchors)) == 3 * len(stems) and not any(set(anchor) & set(' ()"<>/') for anchor in anchors)
    assert not any(anchor.startswith(":") for anchor in anchors)


def test_a_link_to_a_file_with_blanks_in_its_name_is_a_link_in_markdown():
    assert "[x](./my%20noise%20%281%29.json)" in markdown.document("t", [Paragraph(Link("x", beside("my noise (1).json")))])


def test_a_style_that_repeats_is_a_class_and_foreign_text_is_as_it_is():
    said = 'a style="fill:red" b style="fill:red"'
    path = '<path d="M0 0" style="fill:none"/>'
    drawn = f'<svg style="fill:none"><title>{said}</title><text x="1" text-anchor="end">{said}</text>{path}</svg>'
    seen = html.document("t", [Figure(drawn, "c"), Figure(drawn, "c")])
    rules = dict(re.findall(r"^\.(s\d+) \{ (.*) \}", seen, re.MULTILINE))
    assert set(rules.values()) == {"fill:none", "text-anchor:end"} and seen.count(said) == 4
    put = re.sub(r' class="(s\d+)"', lambda found: f' style="{rules[found[1]]}"', seen)
    assert put.replace('style="text-anchor:end"', 'text-anchor="end"').count(drawn) == 2  # what people see is the same
    once = html.document("t", [Figure('<svg style="fill:none"></svg>', "c")])
    assert '<svg style="fill:none">' in once and "{ fill:none }" not in once

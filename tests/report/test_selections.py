"""The alignment and the neighbours of the lower bound of selections, in text, on the page and in JSON."""

import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.cli.claims import specs_of, verified
from dpverify.report import record, selections
from dpverify.report.page.blocks import Figure, Items, Paragraph, Row, Table
from dpverify.report.page.sections import alignment, neighbours
from dpverify.report.page.subject import Claimed, File

ROOT = Path(__file__).parents[2]


def entries(tmp_path, text, names=()):
    file = tmp_path / "claims.toml"
    file.write_text(text)
    found = verified(specs_of((str(file),), code=True), None, 20)
    return [entry for entry in found if not names or entry.claim.name in names]


@cache
def shelf(name):
    return verified(specs_of((str(ROOT / "specs" / f"{name}.toml"),), code=True), None, 20)[0]


def page(section, entry):
    return section.blocks(Claimed(File("stem", [entry]), entry))


CLAIM = '[[claim]]\nname = "it"\nsensitivity = {}\nepsilon = "{}"\n'
LAPLACE = '{ kind = "builtin", name = "laplace", scale = 2 }'
ADAPTIVE, BOUNDED = "stream_adaptive", "above_threshold_gaussian_between_bounds"


@pytest.mark.wide
def test_an_alignment_is_told_branch_by_branch_and_adds_up_to_the_bound():
    [found] = selections.alignments(shelf(ADAPTIVE))
    assert [(where, dict(shifts), cost) for where, shifts, cost in found.rows] == [
        ("the start", {"rho": "1"}, "1/2"),
        ("far above", {"a": "1 - d"}, "1/8"),
        ("above", {"b": "1 - d"}, "1/4"),
        ("below", {}, "0"),
    ]
    most = 3 + 2 - 1  # of the budget: below its limit before the last step
    assert found.prices == {"cost": "1/8"} and Fraction(found.rows[0][2]) + most * Fraction(found.prices["cost"]) == 1
    assert selections.alignments(shelf(BOUNDED)) == []


@pytest.mark.wide
def test_what_is_known_of_the_state_up_to_an_interval_is_told(tmp_path):
    text = '[mechanism]\nkind = "stream"\nonce = { rho = ' + LAPLACE + " }\nfresh = { nu = " + LAPLACE + " }\n"
    text += 'state = { last = 0, t = "rho" }\n'
    text += 'limits = { n = 1 }\n[[mechanism.step]]\nwhen = "q - last + nu >= t"\nemit = "rises"\nset = { last = "q" }\ncount = { n = 1 }\n'
    [entry] = entries(tmp_path, text + '[[mechanism.step]]\nemit = "no"\nset = { last = "q" }\n' + CLAIM.format(1, "3"))
    [found] = selections.alignments(entry)  # the threshold moves by 2, and the noise of what rises by 4 at most
    assert found.loose == ("in mode 1 last differs by -1 to 1",) and entry.judgement.verdict == "PROVED"
    assert "  not known more closely: in mode 1 last differs by -1 to 1" in selections.lines(entry)
    assert page(alignment, entry)[-1].content == "Not known more closely: in mode 1 last differs by -1 to 1."


def test_a_cost_is_the_greatest_over_what_an_answer_may_move_by(tmp_path):
    text = '[mechanism]\nkind = "stream"\nfresh = { nu = ' + LAPLACE + ' }\nqueries = 3\nneighbours = "increasing"\n'
    [entry] = entries(tmp_path, text + '[[mechanism.step]]\ntell = "q + nu"\n' + CLAIM.format(1, "3/2"))
    [found] = selections.alignments(entry)
    assert found.rows == (("what is told", {"nu": "-d"}, "1/2"),) and found.prices == {"each step": "1/2"}


def test_explain_tells_the_alignment_as_a_table_and_the_run_that_loses_as_much():
    assert "\n".join(selections.lines(shelf(ADAPTIVE))) == """\
alignment, in units of the sensitivity; d: what an answer moves by
             rho  a      b      costs
  the start  1    0      0      1/2
  far above  0    1 - d  0      1/8
  above      0    0      1 - d  1/4
  below      0    0      0      0
  paid by: cost 1/8
neighbours of the lower bound: a loss of 1 in the limit of answers that go on as they move
  below 4 times: the answer goes up by 1
  above 2 times: the answer goes down by 1"""


def test_both_probabilities_of_the_worst_output_are_those_of_quadrature():
    shown = selections.worst(shelf(BOUNDED))
    assert [(group.count, group.told, group.answers) for group in shown.groups] == [(24, "no", ((0, 1),)), (1, "yes", ((1, 0),))]
    t, nu = stats.norm(scale=4), stats.norm(scale=8)
    sides = ((0, 1), (1, 0))
    law = [integrate.quad(lambda v: t.pdf(v) * nu.cdf(v - no) ** 24 * nu.sf(v - yes), -60, 60, points=[0])[0] for no, yes in sides]  # noqa: B023
    assert [float(shown.P), float(shown.Q)] == pytest.approx(law, rel=1e-6)
    assert math.log(law[0] / law[1]) == pytest.approx(0.98706, abs=1e-5)
    assert not shown.limit and shown.threshold == 0 and shown.output == "no 24 times, yes"


def test_the_page_shows_a_picture_of_the_pair_and_a_table_of_shifts():
    [row, words] = page(neighbours, shelf(BOUNDED))
    assert isinstance(row, Row) and isinstance(words, Items) and words.items == ["no 24 times: 0 on x, 1 on x'", "yes: 1 on x, 0 on x'"]
    [figure] = row.blocks
    assert isinstance(figure, Figure) and "told with probability 0.00024783732 on x and 9.2361327e-05 on x'" in figure.caption
    assert all(text in figure.svg for text in ("24 x no", "yes", "on x", "threshold"))
    [said, table, paid] = page(alignment, shelf(ADAPTIVE))
    assert isinstance(said, Paragraph) and isinstance(table, Table) and isinstance(paid, Paragraph)
    assert table.header == ("what is told", "shift of rho", "shift of a", "shift of b", "cost") and "cost 1/8" in paid.content
    assert not page(alignment, shelf(BOUNDED))


def test_json_has_the_same_facts():
    told = json.loads(json.dumps(selections.record(shelf(ADAPTIVE))))
    assert told["alignment"] == [
        {
            "neighbours": "all",
            "shifts": [
                {"branch": "the start", "noises": {"rho": "1"}, "cost": "1/2"},
                {"branch": "far above", "noises": {"a": "1 - d"}, "cost": "1/8"},
                {"branch": "above", "noises": {"b": "1 - d"}, "cost": "1/4"},
                {"branch": "below", "noises": {}, "cost": "0"},
            ],
            "prices": {"cost": "1/8"},
        }
    ]
    assert told["worst"] == {
        "output": [
            {"told": "below", "times": 4, "answers": [["3", "4"]]},
            {"told": "above", "times": 2, "answers": [["-3", "-4"]]},
        ],
        "limit": True, "loss": "1", "P": None, "Q": None, "at": {},
    }  # fmt: skip
    assert record.record(shelf(ADAPTIVE))["worst"] == told["worst"] and "worst" not in record.record(shelf("laplace_builtin"))


KINDS = {
    "noisy max": (
        f'[mechanism]\nkind = "noisy_max"\nnoise = {LAPLACE}\ncandidates = 4\n' + CLAIM.format(2, 2),
        ["told: the answer goes down by 2", "not told 3 times: the answer goes up by 2"],
        "a loss of 2 in the limit of answers that go on as they move",
    ),
    "one answer alone": (
        f'[mechanism]\nkind = "noisy_max"\nnoise = {LAPLACE}\ncandidates = 2\nneighbours = "one"\n' + CLAIM.format(1, "1/2"),
        ["told: the answer goes down by 1", "not told: the answer stays"],
        "a loss of 1/2 in the limit of answers that go on as they move",
    ),
    "above threshold": (
        f'[mechanism]\nkind = "above_threshold"\nthreshold_noise = {LAPLACE}\nquery_noise = {LAPLACE}\nqueries = 3\n' + CLAIM.format(1, 1),
        ["no 2 times: the answer goes up by 1", "yes: the answer goes down by 1"],
        None,
    ),
    "exact answers": (
        f'[mechanism]\nkind = "above_threshold"\nthreshold_noise = {LAPLACE}\nqueries = 2\npositives = "unlimited"\n' + CLAIM.format(1, 1),
        None,
        None,
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("text", "said", "loss"), KINDS.values(), ids=KINDS)
def test_the_worst_neighbours_of_each_kind_are_in_words(tmp_path, text, said, loss):
    [entry] = entries(tmp_path, text)
    shown = selections.worst(entry)
    assert shown is not None
    words = [selections.group_text(group, shown) for group in shown.groups]
    if shown.limit and said is not None:
        assert words == said
    if loss is not None:
        assert selections.summary(shown) == loss
    if shown.P:
        assert np.log(float(shown.P) / float(shown.Q)) > 1
    [row, _] = page(neighbours, entry)
    assert row.blocks[0].svg.startswith("<svg")


def test_many_groups_are_named_by_their_numbers(tmp_path):
    group = selections.Group(1, "told", ((Fraction(0), Fraction(1)),))
    assert neighbours._names([group] * 3) == ("told",) * 3
    assert neighbours._names([group] * 7) == tuple("1234567")
    long = selections.Group(1, "a word that is long", ((Fraction(0), Fraction(1)),))
    assert neighbours._names([long, group]) == ("1", "2")


def test_a_claim_without_comparisons_has_none_of_this(tmp_path):
    text = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n' + CLAIM.format(1, "1/2")
    [entry] = entries(tmp_path, text)
    assert selections.record(entry) == {} and list(selections.lines(entry)) == []
    assert not page(neighbours, entry) and not page(alignment, entry)


def test_moves_and_shifts_are_written_as_sums():
    assert selections._linear((Fraction(1), Fraction(-1)), ["q"]) == "1 - d"
    assert selections._linear((Fraction(0), Fraction(-1)), ["q"]) == "-d"
    assert selections._linear((Fraction(-1, 2), Fraction(2), Fraction(1)), ["a", "b"]) == "-1/2 + 2*d_a + d_b"
    assert selections._linear((Fraction(0), Fraction(0)), ["q"]) == "0"

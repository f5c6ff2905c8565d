"""What the theory of selections refuses: each guard by what it alone stops, told by its words."""

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

from dpverify.catalogue.reader import read_tables
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.combinators.streams import Form
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import Part
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.theories.selection import word_chances
from dpverify.trusted.theories.selection.compared import asked as asked_of
from dpverify.trusted.theories.selection.rules import every_word, every_word_curve, two_candidates
from tests.refused import Refusals, each, require_refused

GEOMETRIC = {"kind": "builtin", "name": "discrete_laplace", "scale": 2}
ABOVE = {
    "kind": "stream",
    "once": {"rho": GEOMETRIC},
    "fresh": {"nu": GEOMETRIC},
    "state": {"t": "rho"},
    "limits": {"found": 1},
    "bounds": [0, 1],
    "step": [{"when": "q + nu >= t", "emit": "above", "count": {"found": 1}}, {"emit": "below"}],
}
QUIET = {**ABOVE, "queries": 3, "step": [ABOVE["step"][0], {}]}


def claimed(mechanism):
    return read_tables("it.toml", {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": 1}]}).claims[0].claim


def declared(**changes):
    """A stream of which something is declared otherwise."""
    claim = claimed(ABOVE)
    made = {name: change(claim.mechanism) for name, change in changes.items()}
    return lambda: require_well_formed(replace(claim, mechanism=replace(claim.mechanism, **made)))


def first_branch(**changes):
    def changed(stream):
        return (replace(stream.steps[0], **{name: change(stream.steps[0]) for name, change in changes.items()}), stream.steps[1])

    return declared(steps=changed)


def up_and_down():
    """Of two answers one goes up and the other down, under neighbours whose answers all go one way."""
    words = SimpleNamespace(
        after={(): [("a",)], ("a",): []},
        moves=lambda before: [(((0, 1),), ((1, 0),))],
        stream=SimpleNamespace(neighbours="monotone"),
        occurs=lambda pair: True,
    )
    return every_word_curve.read(words, [[[0, 1], [1, 0]]])


def not_of_neighbours():
    """Answers that are looked at, as some beyond a hull are, and that no neighbours have."""
    words = SimpleNamespace(after={(): [("a",)], ("a",): []}, moves=lambda before: [(((0,),), ((1,),))], occurs=lambda pair: False)
    return every_word_curve.read(words, [[[0], [1]]])


def in_hull(**how):
    """All outputs of noisy max of two answers, of which the first alone moves."""
    table = {"kind": "noisy_max", "noise": GEOMETRIC, "candidates": 2, "neighbours": "hull", "hull": [[1, 0]], "bounds": [0, 1], **how}
    question = asked_of(claimed(table), {}, every_word.NAME, near=True)
    return every_word.Words.of(question, {"cuts": [-9, 9]})


REFUSED: Refusals = {
    # programs that are none
    "a step that reads very much": (declared(answers=lambda _: ("q", *(f"q{i}" for i in range(8)))), "a step reads 9 answers; it may read"),
    "a counter with a function's name": (
        declared(limits=lambda stream: (replace(stream.limits[0], name="exp"),)),
        "'exp' cannot name anything in a step",
    ),
    "a counter with the name of the state": (declared(limits=lambda stream: (replace(stream.limits[0], name="t"),)), "t names two things"),
    "a counter that is counted twice": (first_branch(count=lambda branch: branch.count * 2), "branch 1: count: found stands twice"),
    "a word that cannot be seen": (first_branch(emit=lambda _: " "), "branch 1: emit is no short word"),
    "a word that is long": (first_branch(emit=lambda _: "a" * 41), "branch 1: emit is no short word"),
    # all words
    "words without an end": (lambda: every_word.check(claimed(ABOVE), {"cuts": [-1, 1]}), "a run may have more than 8 steps"),
    "words of very many terms": (lambda: every_word.Words.spend(SimpleNamespace(left=1), 2), "there are more than 200000 terms"),
    "words that a step may leave out": (
        lambda: every_word_curve.infer(Run(Part(claimed(QUIET).mechanism, ONE)), {"cuts": [-1, 1], "pair": []}, ()),
        "one of them tells nothing, so that its steps may not be seen",
    ),
    "answers that go up and down": (up_and_down, "some answers go up, and others down"),
    # chances of words
    "a comparison with an irrational number": (
        lambda: word_chances._row("a-rule", Form({}, parse("sqrt(2)")), {}, {}),
        "it has a part that is no rational number",
    ),
    "answers in a hull that no neighbours have": (not_of_neighbours, "these are not answers of neighbours that are looked at"),
    "every word of answers in a hull of which another order is another": (in_hull, "in another order of the answers the hull is another"),
    "very many cells": (
        lambda: word_chances._summed("a-rule", [], {}, {("a", 0): [None] * 501, ("b", 0): [None] * 501}),
        "they have more than 200,000 cells",
    ),
    "a density with a kink in a cell": (
        lambda: two_candidates._between(SimpleNamespace(next_to=lambda low, high: None), F(1), F(0), F(1), None),
        "a density has a kink between 0 and 1, or is not known there",
    ),
}


@each(REFUSED)
def test_what_selects_in_another_way_is_refused(asked, why):
    require_refused(asked, why)


def test_every_word_of_answers_in_a_hull_is_looked_at_where_its_order_does_not_matter():
    """Where ties are said, or a hull has its points in every order, nothing is refused."""
    for how in ({"ties": "first"}, {"ties": "random"}, {"hull": [[1, 1]]}, {"hull": [[1, -1]]}, {"hull": [[1, 0], [0, -1]]}):
        with precision(64):
            assert in_hull(**how).all_seen

"""One label for each assumption, and what rests on it, in every place where people read it."""

import pytest

from dpverify.catalogue.assumed import bare, plain
from dpverify.search.divergences.measure_words import OCCUR
from dpverify.trusted.facts import assumed_of_moves
from dpverify.trusted.kernel import assumptions
from dpverify.trusted.kernel.registry import EXPLAINED


@pytest.mark.parametrize(
    ("assumption", "label"),
    [
        (assumptions.IDEAL, "the implementation samples exactly from the declared distribution"),
        (assumptions.ATTAINED, "some neighbouring inputs differ by exactly the sensitivity"),
        (assumed_of_moves.WHOLE_ATTAINED, "some neighbouring counts differ by floor(sensitivity)"),
        (assumptions.marked(assumptions.ATTAINED, "lower"), "(tightness only) some neighbouring inputs differ by exactly the sensitivity"),
        (assumptions.marked("a", "upper"), "(upper bound only) a"),
        (OCCUR, "(equality only) the stated distance is attained"),
        ("the parts draw independent noise", "the parts draw independent noise"),
    ],
)
def test_an_assumption_has_its_label(assumption, label):
    assert plain(assumption) == plain(label) == label
    assert bare(label) == plain(bare(label)) and not bare(label).startswith("(")


def test_no_two_assumptions_have_one_label():
    known = {line for rule in EXPLAINED.values() for line in rule.ASSUMED}
    for module in (assumptions, assumed_of_moves):
        known |= {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    assert len({plain(line) for line in known}) == len(known)

"""What a theorem states is read off its docstring, each thing once; a file that leaves one out, or says it twice, is told."""

import pytest

from dpverify.report.stated import parsed, stated

GOOD = """Coins.

A note: it says more.

Theorem: A coin
shows a side.

Checked:
- it is
  round
- it has two sides

Source: a page, Bernoulli 1713, Part 4"""


def test_a_docstring_states_a_theorem():
    said = parsed(GOOD)
    assert (said.statement, said.checked) == ("A coin shows a side.", ("it is round", "it has two sides"))
    assert (said.source.text, said.source.place) == ("a page", "Bernoulli 1713, Part 4")


@pytest.mark.parametrize("head", ["Theorem: ", "Checked:\n- ", "Source: "])
def test_each_thing_is_said_once(head):
    for changed in (GOOD.replace(head, "Also: "), f"{GOOD}\n\n{head}another"):
        with pytest.raises(ValueError, match="one paragraph each"):
            parsed(changed)


def test_the_theorem_of_a_rule_is_that_of_its_file():
    assert stated("single-part").source.text == "docs/theory/composition.md#single-part"

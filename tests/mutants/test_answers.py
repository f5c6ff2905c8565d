"""What is asked below the trust line is answered as tests/golden/answers.json says: the questions of other tests, every answer exact.

The record is no oracle of what is true. It keeps what no law speaks of from changing unseen: how narrow an enclosure is, which signs are
decided, what a bound rests on. Where a difference is meant, `python tools/answers.py` writes it again and the change is looked at.
"""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("answers", Path(__file__).parents[2] / "tools" / "answers.py")
answers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(answers)
RECORD = answers.record()
AT_ONCE = 8
PARTS = [(name, at) for name, questions in sorted(RECORD.items()) for at in range(0, len(questions), AT_ONCE)]


@pytest.mark.skipif(not answers.of_this_flint(), reason="the record is of another FLINT, which may round elsewhere")
@pytest.mark.parametrize(("name", "at"), PARTS)
def test_a_question_has_the_answer_that_is_recorded(name, at):
    for question, known in RECORD[name][at : at + AT_ONCE]:
        assert answers.answer(name, question) == known, question


def test_the_record_asks_about_every_rule_and_curve_and_what_they_stand_on():
    asked = {name.rpartition(".")[0] for name in RECORD}
    assert {"kernel", "compare", "shapes.Shapes", "ends", "integral", "balls", "expr", "geometry", "curves.tree"} <= asked
    assert asked <= {name.rpartition(".")[0] for name in answers.asked()}

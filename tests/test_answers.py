"""What scripts ask of answers in Python: nothing that is no answer is true, and numbers compare where that is certain."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest

import dpverify as dp
from dpverify.errors import DpverifyError, FoundByAudit, NotCertain, NotProved, SpecError
from dpverify.report.answers import Enclosure
from dpverify.runtime.finding import as_data, of_data


def answered(epsilon, **more):
    """Laplace noise of scale 1 at sensitivity 1, whose tight epsilon is 1."""
    return dp.verify(dp.laplace(1), sensitivity=1, epsilon=epsilon, **more)


@pytest.mark.parametrize("epsilon", ["1", "1/2", "tight"])
def test_an_answer_is_neither_true_nor_false(epsilon):
    answer = answered(epsilon)
    for ask in (lambda: bool(answer), lambda: not answer, lambda: answer and 1):
        with pytest.raises(NotCertain, match=rf"an answer \({answer.verdict}\) is neither true nor false. Ask answer.is_proved"):
            ask()
    assert answer.is_proved == (epsilon != "1/2")


def test_a_script_goes_on_with_what_is_proved_alone():
    proved = answered(1)
    assert proved.raise_unless_proved() is proved
    with pytest.raises(NotProved, match=r"REFUTED.*epsilon 0.5") as told:
        answered("1/2").raise_unless_proved()
    assert told.value.verdicts == ("REFUTED",) and issubclass(NotProved, DpverifyError)


def test_answers_of_a_file_are_neither_true_nor_false(tmp_path):
    file = tmp_path / "two.toml"
    head = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n'
    claim = '[[claim]]\nname = "{}"\nsensitivity = 1\nepsilon = {}\n'
    file.write_text(head + claim.format("holds", 1) + claim.format("fails", '"1/2"'))
    answers = dp.verify(file)
    with pytest.raises(NotCertain, match="answers are neither true nor false"):
        bool(answers)
    assert isinstance(answers, list) and [one.name for one in answers] == ["holds", "fails"]
    assert not answers.is_proved and not answers.as_expected
    with pytest.raises(NotProved) as told:
        answers.raise_unless_proved()
    assert "fails" in str(told.value) and "holds" not in str(told.value) and told.value.verdicts == ("REFUTED",)


def test_what_is_inside_an_answer_is_not_what_scripts_find():
    answer = answered("1/2")
    with pytest.raises(AttributeError, match=r"no attribute 'proved'. Ask answer.is_proved"):
        _ = answer.proved
    assert not hasattr(answer, "reasons") and not hasattr(answer, "anything")


def test_an_answer_says_what_it_is_about():
    answer = answered(1)
    assert (answer.mechanism, answer.sensitivity) == ("laplace", "1")
    entry = answer.to_dict()
    assert (entry["verdict"], entry["mechanism"], entry["epsilon"]["claimed"]) == ("PROVED", "laplace", "1")
    assert json.loads(json.dumps(entry)) == entry
    counts = dp.product("exp(-abs(z)/2)", dimension=2)  # one record moves both queries: 2 in l1
    assert dp.verify(counts, query=[[1, 1], [0, 1]], adjacency="add-remove", epsilon=1).sensitivity.startswith("2 in l1")
    assert dp.verify(dp.randomized_response("3/4"), epsilon=2).sensitivity is None


def test_what_was_not_asked_is_absent():
    assert answered("1/2").delta is None  # no delta is claimed, and none was looked for
    other = dp.verify(dp.gaussian(2), sensitivity=1, zcdp="tight")
    assert other.epsilon is None and other.delta is None and other.measure.upper == Decimal("0.125")
    assert dp.verify(dp.gaussian(2), sensitivity=1, epsilon=1, delta="tight").epsilon is None
    asked = dp.verify(dp.gaussian(2), sensitivity=1, epsilon=1, delta="1/100")
    assert "?" not in f"{other.measure} {asked.epsilon} {asked.delta}" and asked.delta is not None


third = Enclosure(Decimal("0.333"), Decimal("0.334"), "1/3")
above = Enclosure(Decimal(2), None)
exact = Enclosure(Decimal(2), Decimal(2))


@pytest.mark.parametrize(
    ("compare", "holds"),
    [
        (lambda: third < 1, True),
        (lambda: third <= Decimal("0.334"), True),
        (lambda: third < Decimal("0.333"), False),
        (lambda: third > Fraction(1, 4), True),
        (lambda: third >= 0.333, None),  # the float is a little above 0.333, where it may lie
        (lambda: third >= Decimal("0.333"), True),
        (lambda: third > 0.25, True),
        (lambda: third < Fraction(1, 3), None),
        (lambda: third > Decimal("0.334"), False),
        (lambda: third >= Decimal("0.334"), None),
        (lambda: third < exact, True),
        (lambda: third >= above, False),
        (lambda: above > 1, True),
        (lambda: above > 2, None),
        (lambda: above < 2, False),
        (lambda: above < 3, None),
        (lambda: exact == 2, True),
        (lambda: exact != 2, False),
        (lambda: exact == Fraction(5, 2), False),
        (lambda: third == 1, False),
        (lambda: third == Fraction(1, 3), None),
        (lambda: third == third, True),
        (lambda: third == "1/3", False),
        (lambda: bool(exact), None),
    ],
)
def test_numbers_compare_where_both_bounds_say_the_same(compare, holds):
    if holds is None:
        with pytest.raises(NotCertain, match=r"\.upper"):
            compare()
    else:
        assert compare() is holds


def test_numbers_become_floats_and_texts_where_both_bounds_give_one():
    tight = dp.tight_epsilon(dp.laplace(3), sensitivity=1)
    assert float(tight) == 1 / 3 and f"{tight:.4f}" == "0.3333" and f"{tight}" == str(tight)
    for ask in (lambda: float(third), lambda: f"{third:.3f}", lambda: float(above)):
        with pytest.raises(NotCertain, match=r"\.upper"):
            ask()
    assert f"{third:.1f}" == "0.3" and hash(exact) == hash(2) and repr(above) == "at least 2" and repr(Enclosure(None, None)) == "unknown"


def test_a_finding_is_neither_true_nor_false():
    def bare(data, size, rng):
        return data[0] + rng.integers(-3, 4, size)  # bounded noise: 0 and 1 are told apart by -3 and 4

    found = dp.audit(bare, epsilon=1, pairs=[([0], [1])], seed=0)
    for finding in (found, of_data(as_data(found))):  # in Python, and from a worker
        with pytest.raises(TypeError, match=r"a finding \(VIOLATION\) is neither true nor false. Ask finding.is_clean"):
            bool(finding)
        assert not finding.is_clean
    with pytest.raises(FoundByAudit, match="VIOLATION"):
        found.raise_unless_clean()
    assert found.to_dict()["finding"] == "VIOLATION"


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: dp.laplace(), "laplace: the builtin laplace needs scale. The noise is multiplied by this"),
        (
            lambda: dp.translation(lambda z: z),
            "translation: density is a Python function, which cannot be read. Write the expression as text",
        ),
        (lambda: dp.radial(dp.laplace, "l2", 1), "profile is dpverify.laplace, a function that makes a mechanism. Call it"),
        (lambda: dp.compose(part=dp.laplace, times=2), "part is dpverify.laplace, a function that makes a mechanism. Call it"),
        (lambda: dp.laplace("1/"), 'laplace: scale = "1/" is not a number'),
        (lambda: dp.table([[0.5, 0.5]]), "0.5 is a binary float"),
        (lambda: dp.subsample(dp.laplace(1), 75), "rate = 75 is not between 0 and 1. Write per cent as a decimal"),
        (lambda: dp.group(dp.laplace(1)), "group: size is missing. The number of records"),
    ],
)
def test_a_constructor_says_at_once_what_is_wrong_by_itself(declare, said):
    with pytest.raises(SpecError) as told:
        declare()
    assert said in str(told.value)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: dp.laplace("b"),
        lambda: dp.laplace("positive"),
        lambda: dp.laplace("least"),
        lambda: dp.laplace(parameters={"scale": 2}),
        lambda: dp.translation("exp(-abs(z))", support=(0, float("inf"))),
        lambda: dp.translation("exp(-abs(x))"),  # which variable is meant is told with all that is claimed
    ],
)
def test_what_hangs_on_parameters_is_not_judged_before_they_are_known(declare):
    declare()

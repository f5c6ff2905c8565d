"""One text, two uses: what is read exactly and run with floats goes the same way, or is refused; what Python does once is not read twice."""

# ruff: noqa: E501
from __future__ import annotations

import math

import pytest

import dpverify as dp
from dpverify.errors import SpecError
from tests.functions.test_reading import faults_of, spec_of

ONE = 'answers=1, sensitivity=1, claims=[{"epsilon": 1}]'
NOISY = "return answers[0] + noise.laplace(1)"


def body(*lines, arguments="answers, noise"):
    return "@program\ndef f(" + arguments + "):\n" + "".join(f"    {line}\n" for line in lines)


RAW = "return answers[0]"
ONCE = {
    "a generator summed twice": ("g = (1 for i in range(2))", "s = sum(g)", f"if sum(g) == 2: {NOISY}", RAW),
    "enumerate gone through twice": ("e = enumerate([5, 6])", "a = [x for i, x in e]", "b = [x for i, x in e]", f"if b: {NOISY}", RAW),
    "zip with itself": ("g = zip([1, 2], [3, 4])", f"if len(list(zip(g, g))) == 2: {NOISY}", RAW),
    "the truth of a generator": ("g = (1 for i in [])", f"if not g: {NOISY}", RAW),
    "late binding": ("k = 1", "g = (a + noise.laplace(k) for a in answers)", "k = 0.001", "return [v for v in g]"),
    "late binding in a loop": (
        "k = 1", "out = []", "for v in (a + noise.laplace(k) for a in [answers[0], answers[0]]):", "    k = 0.001", "    out.append(v)", "return out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONCE)
def test_what_is_gone_through_once_is_read_where_it_is_gone_through_alone(tmp_path, name):
    assert any("gone through once" in fault for fault in faults_of(tmp_path, body(*ONCE[name]), options=ONE))


@pytest.mark.parametrize("over", ["todo", "enumerate(todo)", "zip(todo, todo)", "reversed(todo)"])
@pytest.mark.parametrize("grown", ["todo.append(1)", "todo.extend([1])", "other += [1]", "todo += todo"])
def test_a_list_does_not_grow_while_it_is_gone_through(tmp_path, over, grown):
    lines = ("todo = [1, 2]", "other = todo", "out = []", f"for x in {over}:", "    out.append(answers[0] + noise.laplace(1))",
             f"    if len(todo) < 4: {grown}", "return out")  # fmt: skip
    assert any("grows while" in fault for fault in faults_of(tmp_path, body(*lines), options=ONE))


def test_patterns_bind_no_names(tmp_path):
    lines = ("s = 0.001", "match (1, 4):", "    case (s, 5): pass", "    case _: pass", "return answers[0] + noise.laplace(s)")
    assert any("binds names" in fault for fault in faults_of(tmp_path, body(*lines), options=ONE))


TRUE = (
    "0.1 + 0.2 == 0.3", "1/49*49 == 1", "1e16 + 1 > 1e16", "1e-200*1e-200 > 0", "(2**0.5)**2 == 2", "1//0.1 == 10", "1 % 0.1 == 0",
    "(0.1 + 0.2 - 0.3)*1e20 < 5", "sum([0.1, 0.2]) == 0.3", "0.1 + 0.2 in [0.3]", "min(0.1 + 0.2, 0.3) == 0.3", "not 0.1 + 0.2 - 0.3",
    "[0.3, 0.1 + 0.2].index(0.1 + 0.2) == 0", "9007199254740993 == 9007199254740993.0", "1e400 < 1e500", "abs(0.1 + 0.2 - 0.3) == 0",
)  # fmt: skip
"""What is true of the numbers as they are written. That floats say something else of many of them is seen below."""


@pytest.mark.parametrize("condition", TRUE)
def test_a_branch_does_not_hang_on_what_floats_round(tmp_path, condition):
    assert faults_of(tmp_path, body(f"if {condition}: {NOISY}", RAW), options=ONE)


def test_floats_do_say_something_else():
    assert sum(not eval(condition) for condition in TRUE) >= 9


@pytest.mark.parametrize("condition", ["t < t + 1", "t == t", "t*0.1 == t/10", "t + 1 - 1 == t", "t*3 > 2", "math.log(t) > 0"])
def test_a_branch_does_not_hang_on_what_is_computed_from_real_parameters(tmp_path, condition):
    options = 'answers=1, sensitivity=1, parameters={"t": "real > 1"}, claims=[{"epsilon": 1}]'
    assert faults_of(tmp_path, body(f"if {condition}: {NOISY}", RAW, arguments="answers, t, noise"), options=options)


@pytest.mark.parametrize("told", ["0.1 + 0.2", "-0.0", "0.0*-1", "t + 1 - 1", "t*0.5", "[0.1 + 0.2]", "{'a': -0.0}", "(1, 1/3)"])
def test_what_is_told_without_noise_is_no_number_that_floats_round(tmp_path, told):
    lines = (f"if answers[0] > 0: return {told}", "return 1")
    assert faults_of(tmp_path, body(*lines, arguments="answers, t, noise"), options=ONE)


@pytest.mark.parametrize(
    "told",
    [
        "(noise.laplace(1) + 1e300) - 1e300 + answers[0]", "(noise.laplace(1) + t) - t + answers[0]", "(noise.laplace(1) + answers[0]) - answers[0]",
        "noise.laplace(1)*1e-20 + answers[0]*1e-20", "answers[0]*0 + noise.laplace(1)",
    ],
)  # fmt: skip
def test_noise_is_not_put_beside_what_floats_lose_it_in(tmp_path, told):
    assert faults_of(tmp_path, body(f"return {told}", arguments="answers, t, noise"), options=ONE)


LOST = ("0.1 + 0.2 - 0.3", "1e16 + 1 - 1e16", "s + 1e16 - 1e16", "s + c - s", "2**60 + 0.5 - 2**60")
"""Public numbers that floats make others of, which a scale may hang on."""


@pytest.mark.parametrize("number", LOST)
def test_a_scale_does_not_hang_on_digits_that_floats_lose(tmp_path, number):
    noisy = f"return answers[0] + noise.laplace(2 + ({number})*1e17)"
    options = 'answers=1, sensitivity=1, parameters={"s": "positive", "c": "positive"}, claims=[{"epsilon": 1}]'
    assert any("floats" in fault for fault in faults_of(tmp_path, body(noisy, arguments="answers, s, c, noise"), options=options))


def test_a_probability_and_a_sum_over_rows_do_not_hang_on_digits_that_floats_lose(tmp_path):
    lines = ("return x == 1 and noise.coin((0.1 + 0.2 - 0.3)*1e16)",)
    assert any("floats" in one for one in faults_of(tmp_path, body(*lines, arguments="x, noise"), options='inputs=[0, 1], claims=[{"epsilon": 1}]'))
    lines = ('return sum(min(max(row["x"], 0), 1.5) + 1e16 - 9999999999999999 for row in rows) + noise.laplace(1)',)
    assert any("floats" in one for one in faults_of(tmp_path, body(*lines, arguments="rows, noise"), options='adjacency="add-remove", claims=[{"epsilon": 2}]'))


APART = {"row['x']*0.1 > 0.3": "row['x'] <= 3", "row['x'] >= 0.3": "row['x']/3 < 0.1", "row['x'] > 0.1 + 0.2": "row['x'] <= 0.3"}
"""Conditions that leave each other out, of the numbers that are written."""


@pytest.mark.parametrize("one", APART)
def test_conditions_on_a_record_do_not_hang_on_what_floats_round(tmp_path, one):
    lines = [f"return {', '.join(f'len([row for row in rows if {each}]) + noise.laplace(1)' for each in (one, APART[one]))}"]
    found = faults_of(tmp_path, body(*lines, arguments="rows, noise"), options='adjacency="add-remove", claims=[{"epsilon": 1}]')
    assert any("floats round" in fault for fault in found)


def test_conditions_on_a_record_that_floats_do_not_round_are_read(tmp_path):
    lines = ("return len([row for row in rows if row['x'] >= 0.3 and 2*row['n'] + row['m'] > 1]) + noise.laplace(1)",)
    options = 'adjacency="add-remove", record={"n": "integer", "m": "integer"}, claims=[{"epsilon": 1}]'
    assert spec_of(tmp_path, body(*lines, arguments="rows, noise"), options=options)


def test_a_field_with_words_is_declared_as_no_number(tmp_path):
    lines = ("return len([row for row in rows if row['d'] == 'x']) + noise.laplace(1)",)
    options = 'adjacency="add-remove", record={"d": "integer in [5, 6]"}, claims=[{"epsilon": 1}]'
    assert any("texts" in fault for fault in faults_of(tmp_path, body(*lines, arguments="rows, noise"), options=options))


def test_what_is_left_of_a_budget_is_read(tmp_path):
    lines = ("first = 0.9*s", "return answers[0] + noise.laplace(1/first), answers[0] + noise.laplace(1/(s - first))")
    options = 'answers=1, sensitivity=1, parameters={"s": "positive"}, claims=[{"epsilon": "s"}]'
    assert spec_of(tmp_path, body(*lines, arguments="answers, s, noise"), options=options)


def test_a_loop_is_not_counted_in_parts_that_floats_round(tmp_path):
    lines = ("x = 0", "out = []", "while x < 1:", "    out.append(answers[0] + noise.laplace(1))", "    x += 0.1", "return out")
    assert faults_of(tmp_path, body(*lines), options=ONE)
    sparse = ("t = noise.laplace(2)", "x = 0", "for a in answers:", "    if a + noise.laplace(4) >= t:", "        yield True", "        x += 0.1",
              "        if x == 0.3: return", "    else:", "        yield False")  # fmt: skip
    assert faults_of(tmp_path, body(*sparse))


def test_counting_with_integers_is_read(tmp_path):
    lines = ("total = 0", "for w in [1, 2, 3]: total += w", f"if total == 6: {NOISY}", RAW)
    assert dp.verify(spec_of(tmp_path, body(*lines), options=ONE)[0].claims[0].claim).verdict == "PROVED"
    listed = "return list(a + noise.laplace(1) for a in answers)"
    assert dp.verify(spec_of(tmp_path, body(listed), options=ONE)[0].claims[0].claim).verdict == "PROVED"


def test_a_generator_returns_nothing(tmp_path):
    assert any("seen by whoever" in fault for fault in faults_of(tmp_path, body("yield answers[0] + noise.laplace(1)", RAW), options=ONE))


@pytest.mark.parametrize("told", ["len(rows)", "2*len(rows) + 1", "len(rows), len([r for r in rows if r['x'] > 0]) + noise.laplace(1)"])
def test_sums_over_records_without_noise_are_refused_and_not_judged(tmp_path, told):
    """Under replace how many rows there are is the same for neighbours: no epsilon is broken by it."""
    options = 'adjacency="replace", claims=[{"epsilon": 1}]'
    assert any("without noise" in fault for fault in faults_of(tmp_path, body(f"return {told}", arguments="rows, noise"), options=options))


@pytest.mark.parametrize("name", ["sum", "max", "enumerate", "zip"])
def test_a_module_that_binds_what_programs_go_through_lists_with_is_refused(tmp_path, name):
    text = f"def {name}(x):\n    return 3\n" + body(NOISY)
    assert any(f"binds {name}" in fault for fault in faults_of(tmp_path, text, options=ONE))


def test_ever_longer_lists_and_numbers_and_very_many_branches_end(tmp_path):
    for line in ("x += x", "x.extend(x)", "x = x + x", "x = x*2", "y = y*y"):
        assert faults_of(tmp_path, body("x = [1]", "y = 3", "for i in range(60):", f"    {line}", NOISY), options=ONE)
    assert faults_of(tmp_path, body("x = [0]*1000", f"if len(x) == 256: {RAW}", NOISY), options=ONE)
    branches = [line for i in range(1, 1500) for line in (f"elif y > -{i}:", f"    return {i}")]
    assert faults_of(tmp_path, body("y = answers[0] + noise.laplace(1)", "if y > 0:", "    return 0", *branches), options=ONE)


@dp.program(answers=1, sensitivity=1, parameters={"s": 5, "c": "integer >= 1"})
def stated(answers, s, c, noise):
    return answers[0] + noise.laplace(s)


@dp.program(answers=1, sensitivity=1)
def whole(answers, noise):
    return answers[0] + noise.discrete_laplace(1)


@dp.program(adjacency="add-remove")
def clipped(rows, noise):
    return sum(min(max(row["x"], 0), 1) for row in rows) + noise.laplace(1)


def test_run_takes_what_the_proof_speaks_of_alone():
    assert isinstance(stated.run([3], s=5, c=2, seed=0), float)
    assert isinstance(whole.run([3], seed=0), int)
    assert isinstance(clipped.run([{"x": 0.5}], seed=0), float)
    for arguments, said in (({"s": 0.001, "c": 1}, "s = 0.001"), ({"s": 5, "c": 1.5}, "c = 1.5"), ({"s": 5, "c": math.nan}, "c = nan"),
                            ({"s": 5, "c": 0}, "c = 0")):  # fmt: skip
        with pytest.raises(SpecError, match=said):
            stated.run([3], **arguments)
    for data in ([3, 4], [math.inf], [math.nan]):
        with pytest.raises(SpecError):
            stated.run(data, s=5, c=1)
    with pytest.raises(SpecError, match="on the integers"):
        whole.run([0.5], seed=0)
    with pytest.raises(SpecError, match="NaN"):
        clipped.run([{"x": math.nan}], seed=0)


def test_what_is_left_of_an_exponential_next_to_one_is_refused(tmp_path):
    for line in ("z = noise.laplace((math.exp(1e-17) - 1)*1e17)", "z = noise.laplace(math.log(1 + 1e-17)*1e17)"):
        assert faults_of(tmp_path, "import math\n\n" + body(line, "return answers[0] + z"), options=ONE)

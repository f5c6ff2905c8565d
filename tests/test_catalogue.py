"""Claim files are read exactly, or refused with everything that is wrong with them."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify import catalogue
from dpverify.catalogue import read_spec, resolve
from dpverify.catalogue.toml import MAX_BYTES
from dpverify.errors import SpecError
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.expr import ONE, Num, Sym, parse
from dpverify.trusted.kernel.model import Domain
from tests import shelved
from tests.effort import examples

STUDENT_T = """
[mechanism]
kind = "radial"
profile = "(1 + r**2/nu)**(-(nu + d)/2)"
norm = "l2"
dimension = "d"
parameters = { nu = 5, d = 3 }

[[claim]]
name = "just above"
sensitivity = 1
epsilon = 1.775
expect = "proved"

[[claim]]
sensitivity = "1/2"
epsilon = "tight"
delta = 1e-6
"""


@pytest.fixture
def read(tmp_path):
    def of(text: str) -> catalogue.Spec:
        path = tmp_path / "spec.toml"
        path.write_text(text)
        return read_spec(path)

    return of


@pytest.fixture
def faults(read):
    def of(text: str) -> list[str]:
        with pytest.raises(SpecError) as error:
            read(text)
        return [re.sub(r"^\S*spec.toml", "spec.toml", fault) for fault in error.value.faults]

    return of


def mechanism(body: str, claim: str = "epsilon = 1") -> str:
    return f"[mechanism]\n{body}\n[[claim]]\n{claim}\n"


# -- what is read ---------------------------------------------------------------------------------


def test_numbers_are_the_decimals_that_they_are_written_as(read):
    first, second = (stated.claim for stated in read(STUDENT_T).claims)
    assert first.epsilon == Num(Fraction(1775, 1000))
    assert second.sensitivity == Num(Fraction(1, 2))
    assert second.delta == Num(Fraction(1, 10**6))


def test_values_of_parameters_are_put_into_every_expression(read):
    claim = read(STUDENT_T).claims[0].claim
    assert claim.mechanism == model.Radial(parse("(1 + r**2/5)**(-4)"), model.L2, Num(Fraction(3)))
    assert claim.domains == ()


def test_names_expectations_and_lines_of_claims(read):
    spec = read(STUDENT_T)
    assert [stated.claim.name for stated in spec.claims] == ["just above", "claim 2"]
    assert [stated.expect for stated in spec.claims] == ["PROVED", "PROVED"]
    assert [stated.line for stated in spec.claims] == [9, 15]
    assert {stated.claim.mechanism_name for stated in spec.claims} == {"spec"}


@pytest.mark.wide
def test_every_claim_of_the_catalogue_reads_and_survives_its_canonical_form():
    every = [stated for path in shelved.SPECS for stated in shelved.read(path).claims]
    assert [stated.name for stated in every if from_json(to_json(stated.claim)) != stated.claim] == []


@pytest.mark.parametrize(
    ("phrase", "domain"),
    [
        ("positive", Domain(Fraction(0))),
        ("nonnegative", Domain(Fraction(0), lower_open=False)),
        ("real", Domain()),
        ("positive integer", Domain(Fraction(1), lower_open=False, integer=True)),
        ("integer >= 2", Domain(Fraction(2), lower_open=False, integer=True)),
        ("integer > 2", Domain(Fraction(3), lower_open=False, integer=True)),
        ("integer", Domain(integer=True)),
        ("in (0, 1)", Domain(Fraction(0), Fraction(1))),
        ("in [0, 1)", Domain(Fraction(0), Fraction(1), lower_open=False)),
        ("in (1/2, inf)", Domain(Fraction(1, 2))),
        ("> 1", Domain(Fraction(1))),
        (">= 1", Domain(Fraction(1), lower_open=False)),
        ("< 3", Domain(None, Fraction(3))),
        ("<=3", Domain(None, Fraction(3), upper_open=False)),
    ],
)
def test_domains_are_phrases(read, phrase, domain):
    text = f'kind = "radial"\nlog_profile = "-r"\nnorm = "l1"\ndimension = 2\nparameters = {{ a = "{phrase}" }}'
    claim = read(mechanism(text, 'sensitivity = 1\nepsilon = "a**2"')).claims[0].claim
    assert claim.domains == (("a", domain),)
    assert claim.epsilon == parse("a**2")


def test_a_domain_that_a_claim_does_not_use_is_not_part_of_it(read):
    text = mechanism(
        'kind = "radial"\nprofile = "exp(-r)"\nnorm = "l1"\ndimension = 2\nparameters = { a = "positive" }', "sensitivity = 1\nepsilon = 1"
    )
    assert read(text).claims[0].claim.domains == ()


def test_parameters_may_be_expressions_in_each_other(read):
    text = 'kind = "builtin"\nname = "laplace"\nparameters = { scale = "2*b", b = "c + 1", c = 2 }'
    assert read(mechanism(text, "sensitivity = 1\nepsilon = 1")).claims[0].claim.mechanism.scale == Num(Fraction(6))


def test_a_builtin_may_name_a_parameter_as_its_own_field(read):
    fields = 'kind = "builtin"\nname = "k_randomized_response"\nk = "k"\np = "p"\nparameters = { k = "integer >= 2", p = "in (1/2, 1)" }'
    assert read(mechanism(fields, "epsilon = 1")).claims[0].claim.mechanism == model.KaryResponse(Sym("k"), Sym("p"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('name = "laplace"\nscale = 2', model.Radial(parse("exp(-r)"), model.L1, ONE, Num(Fraction(2)))),
        (
            'name = "laplace"\nscale = 2\ndimension = 3',
            model.Product(parse("exp(-abs(z)/2)"), Num(Fraction(3))),
        ),
        ('name = "gaussian"\nsigma = 2', model.Radial(parse("exp(-r**2/2)"), model.L2, ONE, Num(Fraction(2)))),
        ('name = "discrete_laplace"\nscale = 2', model.Translation(parse("exp(-abs(z)/2)"), integers=True)),
        ('name = "discrete_gaussian"\nsigma = 2', model.Translation(parse("exp(-z**2/8)"), integers=True)),
        ('name = "staircase"\nepsilon = 1\ngamma = "1/3"', model.Staircase(ONE, Num(Fraction(1, 3)))),
        ('name = "staircase"\nepsilon = 1\ngamma = "in (0, 1)"', model.Staircase(ONE, Sym("gamma_"))),
        (
            'name = "student_t"\nparameters = { nu = 5, dimension = 3 }',
            model.Radial(parse("(1 + r**2/5)**(-4)"), model.L2, Num(Fraction(3))),
        ),
        (
            'name = "knorm"\nepsilon = 2\ncolumns = [[1, 0], [1, 1]]',
            model.Radial(
                parse("exp(-2*r)"),
                model.Norm("columns", matrix=((Fraction(1), Fraction(0)), (Fraction(1), Fraction(1)))),
                Num(Fraction(2)),
            ),
        ),
    ],
)
def test_builtins_are_names_for_models(read, body, expected):
    assert read(mechanism(f'kind = "builtin"\n{body}', "sensitivity = 1\nepsilon = 1")).claims[0].claim.mechanism == expected


def test_randomized_response_is_its_table(read):
    claim = read(mechanism('kind = "builtin"\nname = "randomized_response"\np = 0.75')).claims[0].claim
    high, low = Num(Fraction(3, 4)), Num(Fraction(1, 4))
    assert claim.mechanism == model.Table(((high, low), (low, high)))


def test_points_with_a_metric_become_scores_and_the_sensitivity_picks_the_neighbours(read):
    body = 'kind = "exponential"\npoints = [[0, 0], [3, 4], [0, 1]]\nmetric = "l2"\nbeta = 1'
    whole = read(mechanism(body)).claims[0].claim.mechanism
    assert whole.scores[0] == tuple(Num(Fraction(-n)) for n in (0, 5, 1))
    assert whole.adjacent is None
    near = read(mechanism(body, "epsilon = 1\nsensitivity = 1")).claims[0].claim.mechanism
    assert near.adjacent == ((0, 2),)


def test_a_declaration_in_python_is_run_and_said_so(read, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(
        "from sympy import symbols\nfrom dpverify.declare import *\n"
        "r, b = symbols('r b', positive=True)\n"
        "mine = Mechanism('mine', Radial(L1(), 2**(-r/b), 1, r), {b: Positive()})\n"
    )
    spec = read(mechanism('use = "mine.py:mine"\nparameters = { b = 3 }', "sensitivity = 1\nepsilon = 1"))
    assert spec.claims[0].claim.mechanism == model.Radial(parse("2**(-r/3)"), model.L1, ONE)
    assert "running" in capsys.readouterr().err


def test_a_declared_parameter_without_a_value_ranges_over_its_domain(read, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dpverify.declare import *\nmine = Mechanism('mine', Radial(L1(), 'exp(-r/b)', 1), {'b': Positive()})\n"
    )
    claim = read(mechanism('use = "mine.py:mine"', 'sensitivity = 1\nepsilon = "1/b"')).claims[0].claim
    assert claim.domains == (("b", Domain(Fraction(0))),)


# -- what is refused --------------------------------------------------------------------------------

RADIAL = 'kind = "radial"\nprofile = "exp(-r)"\nnorm = "l2"\ndimension = 2'
GOOD = "sensitivity = 1\nepsilon = 1"


@pytest.mark.parametrize(
    ("body", "claim", "said"),
    [
        (RADIAL, 'sensitivity = 1\nepsilon = "1.77 4"', 'spec.toml, claim 1: epsilon = "1.77 4" is not a number. Write an integer'),
        (RADIAL, "sensitivity = 1\nepsilon = nan", "epsilon = nan is not a number"),
        (RADIAL, "sensitivity = 1\nepsilon = inf", "epsilon = inf is not a number"),
        (RADIAL, "sensitivity = 1\nepsilon = true", "epsilon = true is not a number"),
        (RADIAL, "sensitivity = 1\nepsilon = -1", "epsilon = -1 is negative"),
        (RADIAL, 'sensitivity = 1\nepsilon = "log(-2)"', "cannot be shown"),
        (RADIAL, "sensitivity = 1\nepsilon = 1\ndelta = 2", "It is a probability, such as 1e-6."),
        (RADIAL, "sensitivity = 1\nepsilon = 1\ndelta = 2", "delta = 2 is not between 0 and 1. Write per cent as a decimal"),
        (RADIAL, "sensitivity = -1\nepsilon = 1", "sensitivity = -1 is negative"),
        (RADIAL, 'sensitivity = "Delta"\nepsilon = 1', "free symbol 'Delta'"),
        (RADIAL, "sensitivity = 1", "epsilon is missing"),
        (RADIAL, "epsilon = 1", "sensitivity is missing"),
        (RADIAL, "sensitivity = 1\nepsilom = 1", "unknown key \"epsilom\". Did you mean 'epsilon'?"),
        (RADIAL, GOOD + '\nexpect = "prooved"', "Did you mean 'proved'?"),
        (RADIAL, GOOD + "\nname = 3", "name = 3 is not a short text"),
        (RADIAL, 'sensitivity = 1\nepsilon = "tight"\ndelta = "tight"', 'both "tight"'),
        (RADIAL, 'epsilon = 1\nquery = [[1, 0]]\nadjacency = "replace"', "query: 1 rows where the dimension is 2"),
        (RADIAL, "epsilon = 1\nquery = [[1], [1]]", "needs its adjacency"),
        (RADIAL, "sensitivity = 1\nepsilon = \"__import__('os').system('true')\"", "is not a number"),
        (RADIAL + "\nscale = -1", GOOD, "scale = -1 is not positive"),
        (RADIAL + "\nscale = 0", GOOD, "scale = 0 is not positive"),
        (RADIAL + "\nparameters = { r = 1 }", GOOD, "r is this kind's variable"),
        (RADIAL + "\nparameters = { exp = 1 }", GOOD, "cannot name a parameter"),
        (RADIAL + '\nparameters = { a = "b", b = "a" }', GOOD, "a, b are defined by each other"),
        (RADIAL + '\nparameters = { a = "in (1, 0)" }', GOOD, "is an empty domain"),
        (RADIAL + "\nrows = [[1]]", GOOD, 'unknown key "rows"'),
        (RADIAL.replace("-r", "-nu*r"), GOOD, "profile has the free symbol 'nu'"),
        (RADIAL.replace("exp(-r)", "eval(r)"), GOOD, "unknown function 'eval'"),
        (RADIAL.replace("= 2", '= "7/2"'), GOOD, "dimension = 7/2 is not an integer of at least 1"),
        (RADIAL.replace("= 2", "= 0"), GOOD, "dimension = 0 is not an integer"),
        (RADIAL.replace('"l2"', '"l3"'), GOOD, 'norm = "l3" is not one of l1, l2, linf'),
        (RADIAL.replace('"l2"', '{lp = "1/2"}'), GOOD, "below 1"),
        (RADIAL.replace('"l2"', "{ellipsoid = [[1, 2], [2, 1]]}"), GOOD, "not positive definite"),
        (RADIAL.replace('"l2"', "{columns = [[1, 1], [2, 2]]}"), GOOD, "columns"),
        (RADIAL.replace("radial", "compose"), "epsilon = 1", "parts or part is missing: give one of them."),
        (RADIAL.replace("radial", "radiall"), GOOD, "Did you mean 'radial'?"),
        ('kind = "table"\nrows = [["3/4", "1/5"], [0.5, 0.5]]', "epsilon = 1", "row 0: the probabilities sum to 19/20"),
        ('kind = "table"\nrows = [[0.3333333333, 0.6666666666], [0.5, 0.5]]', "epsilon = 1", "exactly 1"),
        ('kind = "table"\nrows = [[1.5, -0.5]]', "epsilon = 1", "row 0, entry 1: the probability -1/2 is negative"),
        ('kind = "table"\nrows = [[1], [0.5, 0.5]]', "epsilon = 1", "rows of different lengths"),
        ('kind = "table"\nrows = [[1], [1]]\nadjacent = [[0, 2]]', "epsilon = 1", "the pair names an input outside 0 to 1"),
        ('kind = "kernel"\ndensity = "1"\noutput = [1, 0]\ninput = [0, 1]', "epsilon = 1", "ends must rise"),
        ('kind = "kernel"\ndensity = "1"\noutput = [0, 1]\ninput = [0, inf]', "epsilon = 1", "must have finite ends"),
        ('kind = "builtin"\nname = "laplase"\nscale = 1', GOOD, "Did you mean 'laplace'?"),
        ('kind = "builtin"\nname = "laplace"', GOOD, "needs scale"),
        ('kind = "builtin"\nname = "laplace"\nscale = "scale"', GOOD, "scale is defined by itself"),
        ('kind = "builtin"\nname = "laplace"\nscale = 2\nparameters = { scale = 3 }', GOOD, "scale stands both in"),
        ('kind = "builtin"\nname = "k_randomized_response"\nk = 1\np = 2', "epsilon = 1", "k = 1 is not an integer of at least 2"),
        (RADIAL.replace("exp(-r)", "(r - 1)*exp(-r)"), GOOD, "negative"),
        (RADIAL.replace("exp(-r)", "1/(1 + r)"), GOOD, "infinite integral"),
        ('kind = "translation"\ndensity = "1/(1 + abs(z))"', GOOD, "infinite integral"),
        ('kind = "builtin"\nname = "discrete_laplace"\nscale = 0', GOOD, "scale = 0 is not positive"),
        ('kind = "builtin"\nname = "discrete_laplace"\nscale = -1', GOOD, "scale = -1 is not positive"),
        ('kind = "builtin"\nname = "student_t"\nnu = "-5"\ndimension = 2', GOOD, "nu = -5 is not positive"),
        ('kind = "builtin"\nname = "laplace"\nscale = "real"', GOOD, "scale = scale cannot be shown to be positive"),
        (RADIAL.replace("exp(-r)", "exp(-r/a)") + "\nparameters = { a = 0 }", GOOD, "division by zero"),
        ('use = "nowhere.py:noise"', GOOD, "names no file"),
        ('use = "a b"', GOOD, "is neither"),
    ],
)
def test_a_fault_is_said_with_file_place_and_key(faults, body, claim, said):
    found = faults(mechanism(body, claim))
    assert any(said in fault for fault in found), found
    assert all(fault.startswith(("spec.toml, claim 1", "spec.toml, mechanism")) for fault in found)


def test_all_faults_are_listed_at_once(faults):
    found = faults(
        mechanism(RADIAL.replace('"l2"', "{ellipsoid = [[1, 2], [2, 1]]}") + "\nscale = -1\nfoo = 1", 'epsilon = "x y"\nsensitivity = -1')
        + "\n[[claim]]\nsensitivity = 1\n"
    )
    for said in ("unknown key", "positive definite", "scale", "claim 1: epsilon", "claim 1: sensitivity", "claim 2: epsilon is missing"):
        assert any(said in fault for fault in found), said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "mechanism is missing"),
        ("[mechanism", "not TOML"),
        ('[mechanism]\nkind = "radial"\n[claim]\nepsilon = 1', "Write [[claim]] with two brackets"),
        ("a = " + "[" * 1000 + "]" * 1000, "nested more than"),
        ("a" + ".a" * 100_000 + " = 1", "nested more than"),
        ("a = " + "{a=" * 1000 + "1" + "}" * 1000, "nested more than"),
        (f"a = {'9' * 5000}", "an integer of more than 4200 digits at line 1"),
        ('{"mechanism": {}}', "it looks like JSON"),
        ("[mechanism]\nkind = \u201cradial\u201d", "these are curly"),
        ("[mechanism]\rkind = 1\r", "end in carriage returns alone"),
        ("[mechanism]\n\0", "the character '\\x00'"),
    ],
)
def test_a_file_that_is_no_claim_file_is_refused(faults, text, said):
    assert any(said in fault for fault in faults(text))


def test_a_name_stands_once_in_a_file(faults):
    text = mechanism(RADIAL, f'name = "a"\n{GOOD}\n[[claim]]\nname = "a"\n{GOOD}')
    assert faults(text) == ['spec.toml, claim 2: name = "a" stands twice; names are unique in a file. (line 11, column 1)']


def test_bytes_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(b"[mechanism]\n\xff")
    with pytest.raises(SpecError, match="not UTF-8 at byte 12"):
        read_spec(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "spec.toml"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(SpecError, match=f"more than {MAX_BYTES} bytes"):
        read_spec(path)


def test_parameters_that_multiply_each_other_out_are_refused(faults):
    chain = ", ".join(f'a{i} = "log(a{i - 1})*sqrt(a{i - 1}) + exp(a{i - 1})"' for i in range(1, 40))
    found = faults(mechanism(f'{RADIAL}\nparameters = {{ a0 = "sqrt(2)", {chain} }}', GOOD))
    assert any("more than" in fault and "parts" in fault for fault in found)


def test_a_binary_float_in_a_declaration_is_refused_with_the_way_out(read, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dpverify.declare import *\nmine = Mechanism('mine', Radial(L1(), 'exp(-r)', 1, scale=0.1), {})\n"
    )
    with pytest.raises(SpecError, match=r'0.1 is a binary float. Write "0.1" or Fraction\("0.1"\)'):
        read(mechanism('use = "mine.py:mine"', GOOD))


def test_a_symbol_that_sympy_believes_positive_needs_a_positive_domain(read, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from sympy import symbols, Abs\nfrom dpverify.declare import *\nz = symbols('z', positive=True)\n"
        "mine = Mechanism('mine', Translation(2**(-Abs(z)), z), {})\n"
    )
    with pytest.raises(SpecError, match="nonnegative=True, beyond its domain"):
        read(mechanism('use = "mine.py:mine"', GOOD))


# -- finding ----------------------------------------------------------------------------------------


def test_a_directory_means_all_claim_files_under_it_in_order(tmp_path):
    for name in ("b.toml", "a.toml", "deep/c.toml", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[mechanism]\n")
    assert [path.name for path in resolve(str(tmp_path))] == ["a.toml", "b.toml", "c.toml"]


def test_a_name_is_found_here_first_and_on_the_shelf_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve("laplace")[0].parent != Path("specs")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "laplace.toml").touch()
    assert resolve("laplace") == [Path("specs/laplace.toml")]


@pytest.mark.parametrize(("name", "said"), [("laplaze", "Did you mean 'laplace'?"), ("no/such.toml", "no such file")])
def test_a_name_that_means_nothing_is_refused(name, said):
    with pytest.raises(SpecError, match=re.escape(said)):
        resolve(name)


# -- mutations ----------------------------------------------------------------------------------------

SEEDS = [STUDENT_T, *(path.read_text() for path in shelved.SPECS)]
JUNK = st.sampled_from([*"[]{}()'\"=.,*/-0r\n\x00é", "[[", "inf", "nan", "1e999", "1/0", "'''", "positive", "**", "log(", "true"])


@settings(max_examples=examples(80))
@given(st.data())
def test_a_mutated_claim_file_either_reads_or_is_refused(tmp_path_factory, data):
    text = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(JUNK | st.text(max_size=4)) + text[at + cut :]
    path = tmp_path_factory.mktemp("mutants") / "spec.toml"
    path.write_text(text, encoding="utf-8")
    try:
        spec = read_spec(path)
    except SpecError as error:
        assert error.faults and all(str(path) in fault for fault in error.faults)
    else:
        assert all(from_json(to_json(stated.claim)) == stated.claim for stated in spec.claims)

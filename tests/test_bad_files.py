"""Hostile and malformed claim files: one SpecError each, and nothing that takes the machine with it."""

from pathlib import Path

import pytest

from dpverify.catalogue import read_spec, resolve
from dpverify.catalogue.mechanisms import MAX_PARAMETERS
from dpverify.cli import main
from dpverify.errors import SpecError
from dpverify.search.decimals import decimal_bounds
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import ONE, Pow, num, parse

MECHANISM = '[mechanism]\nkind = "radial"\nprofile = "exp(-r)"\nnorm = "l2"\ndimension = 3\n'
PAIR = (
    '[mechanism]\nkind = "compose"\n'
    '[[mechanism.parts]]\nkind = "builtin"\nname = "laplace"\nscale = 1\n'
    '[[mechanism.parts]]\nkind = "builtin"\nname = "laplace"\nscale = 2\n'
)
CLAIM = "[[claim]]\nsensitivity = 1\nepsilon = 1\n"


def faults(tmp_path: Path, text: str, name: str = "bad.toml") -> str:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as error:
        read_spec(file)
    return str(error.value)


def test_a_power_whose_root_is_irrational_is_not_computed():
    assert parse("3**(1000000000000/1000000000001)") == Pow(num(3), parse("1000000000000/1000000000001"))
    assert parse("3**(10**4000/(10**4000 + 1))") == Pow(num(3), parse("10**4000/(10**4000 + 1)"))
    assert parse("(4/9)**(3/2)") == parse("8/27"), "a rational root is still taken"
    assert parse("(4/9)**(-3/2)") == parse("27/8")
    assert parse("1**(1/3)") == ONE


@pytest.mark.parametrize("text", ["besselk(10**9, 1/2)", "besselk(10**300, 10**200)", "besselk(-10**9 - 1/3, 2)"])
def test_a_bessel_function_of_enormous_order_has_no_value(text):
    assert not constant(parse(text)).is_finite()


@pytest.mark.parametrize("text", ["exp(10**9)", "exp(-10**12)", "2**(10**9)"])
def test_a_number_with_millions_of_digits_is_not_written_out(text):
    with pytest.raises(Undecided, match="too large or too small"):
        decimal_bounds(parse(text), 20)


@pytest.mark.parametrize("number", ["9" * 4201, "1." + "9" * 4200, "1e5000", "1e-5000", "1e99999999999"])
def test_a_literal_beyond_all_need_is_refused(number, tmp_path):
    with pytest.raises(ExprError):
        parse(number)
    said = faults(tmp_path, MECHANISM + CLAIM.replace("epsilon = 1", f"epsilon = {number}"))
    assert "negative" not in said


@pytest.mark.parametrize("name", [r"a\nb", r"\u001b[31mred", r"\u202Eabc", r"\u0000", r"a\u2028b"])
def test_a_name_is_one_line_that_can_be_seen(name, tmp_path):
    assert "cannot be seen" in faults(tmp_path, MECHANISM + CLAIM + f'name = "{name}"\n')


def test_a_file_is_named_by_one_line_that_can_be_seen(tmp_path):
    assert "Rename it" in faults(tmp_path, MECHANISM + CLAIM, name="a\nb.toml")


def test_a_parameter_that_a_builtin_does_not_have_is_unknown_unless_it_is_used(tmp_path):
    builtin = '[mechanism]\nkind = "builtin"\nname = "laplace"\nparameters = {{scale = {}, {}}}\n'
    assert "Did you mean 'dimension'?" in faults(tmp_path, builtin.format(1, "dimenson = 3") + CLAIM)
    good = tmp_path / "good.toml"
    good.write_text(builtin.format('"b"', 'b = 2, D = "positive"') + '[[claim]]\nsensitivity = "D"\nepsilon = "D/b"\n', encoding="utf-8")
    assert verify(read_spec(good).claims[0].claim).judgement.verdict == "PROVED"


def test_more_parameters_than_any_claim_needs_are_refused(tmp_path):
    chain = ", ".join(f'a{i} = "a{i + 1}"' for i in range(MAX_PARAMETERS))
    assert "at most" in faults(tmp_path, MECHANISM + f"parameters = {{{chain}, a{MAX_PARAMETERS} = 1}}\n" + CLAIM)


def test_an_infinite_end_of_a_domain_has_the_sign_of_its_side(tmp_path):
    assert "inf" in faults(tmp_path, MECHANISM + 'parameters = {a = "in (inf, 3)"}\n' + CLAIM)


@pytest.mark.parametrize("value", ['["l1"]', "{ l1 = 1 }", "[]", "{}", "1", "true", "1979-05-27"])
def test_an_adjacency_that_is_no_word_is_refused_once_whatever_it_is(value, tmp_path):
    said = faults(tmp_path, PAIR + f"[[claim]]\nepsilon = 1\nadjacency = {value}\n")
    assert said.count("adjacency = ") == 1
    assert "bad.toml, claim 1: adjacency" in said and "is not one of" in said


def test_integers_too_long_to_write_out_are_refused_each_with_its_key(tmp_path):
    long = f"0x{'f' * 5000}"
    table = f'[mechanism]\nkind = "table"\nrows = [[1], [1]]\nadjacent = [[0, {long}]]\n'
    said = faults(tmp_path, table + f"[[claim]]\nepsilon = 1\nexpect = {long}\n")
    assert "bad.toml, mechanism, adjacent 1 2: an integer of more than 4200 digits." in said
    assert "bad.toml, claim 1, expect: an integer of more than 4200 digits." in said


def test_a_density_with_steps_beyond_all_floats_is_read(tmp_path):
    file = tmp_path / "wide.toml"
    file.write_text(
        '[mechanism]\nkind = "radial"\nprofile = "exp(-floor(r + 1 - 10**400))"\nnorm = "l2"\ndimension = 1\n' + CLAIM, encoding="utf-8"
    )
    assert len(read_spec(file).claims) == 1


@pytest.mark.parametrize("mark", ["\u00a0", "\u202e", "\ue000"])
def test_a_character_that_a_name_may_not_have_is_told_by_its_number(mark, tmp_path):
    assert f"U+{ord(mark):04X}" in faults(tmp_path, f'[mechanism]\nkind = "sampled"\n[[claim]]\nname = "a{mark}b"\nepsilon = 1\n')


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("front", ["", "\ufeff"])
def test_a_file_is_read_as_editors_of_every_system_write_it(front, ends, tmp_path):
    file = tmp_path / "claims.toml"
    text = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
    file.write_bytes((front + text.replace("\n", ends)).encode())
    assert [stated.line for stated in read_spec(file).claims] == [5]


def test_an_empty_name_is_not_the_working_directory():
    with pytest.raises(SpecError, match="no such file"):
        resolve("")


def test_nothing_is_written_for_a_bad_file(tmp_path):
    (tmp_path / "bad.toml").write_text(MECHANISM, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["verify", str(tmp_path / "bad.toml"), "--certificates", str(tmp_path / "certificates")])
    assert left.value.code == 2
    assert not (tmp_path / "certificates").exists()


@pytest.mark.parametrize("probability", ["exp(-10**9)", "exp(-10**100)"])
def test_a_probability_below_every_float_is_still_a_probability(probability, tmp_path):
    rows = f'rows = [["{probability}", "1 - {probability}"], ["1/2", "1/2"]]'
    file = tmp_path / "table.toml"
    file.write_text(f'[mechanism]\nkind = "table"\n{rows}\n[[claim]]\nepsilon = 1\n', encoding="utf-8")
    assert verify(read_spec(file).claims[0].claim).judgement.verdict == "REFUTED"

"""Which expressions are integers: by their form, and by their remainders where they have fractions in them."""

from fractions import Fraction
from itertools import product

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import Num, parse, substitute
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.order.enclosed import enclose

DOMAINS = {
    "k": Domain(Fraction(1), None, lower_open=False, integer=True),
    "n": Domain(Fraction(0), None, integer=True),
    "x": Domain(Fraction(0)),
}
WHOLE = [
    "k*(k + 1)/2",
    "k**2/2 + k/2",
    "k*(k + 1)*(k + 2)/6",
    "(k**7 - k)/7",
    "k*n*(n - 1)/2",
    "(k*(k + 1)/2)**3",
    "3*(k**2 + k)/2",
    "2*k + floor(x)",
]
NOT_WHOLE = [
    "k/2",
    "k*(k + 1)/3",
    "(k**6 - k)/6",
    "k*n/2",
    "x*(x + 1)/2",
    "1/k",
    "(k + 1/2)**2",
    "2**k/2",
    "k*(k + 1)/2 + 1/2",
    "floor(x)/2",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_an_integer_at_all_integers_is_one(text):
    expr = parse(text)
    assert is_whole(expr, DOMAINS)
    for k, n in product(range(1, 9), range(9)):
        value = enclose(substitute(expr, {"k": Num(Fraction(k)), "n": Num(Fraction(n)), "x": parse("5/2")}))
        assert value.unique_fmpz() is not None


@pytest.mark.parametrize("text", NOT_WHOLE)
def test_what_is_no_integer_somewhere_is_none(text):
    assert not is_whole(parse(text), DOMAINS)


def test_too_many_remainders_are_left_open():
    names = [f"k{i}" for i in range(9)]
    expr = parse("*".join(names) + "*(k0 + 1)/6")
    assert not is_whole(expr, dict.fromkeys(names, DOMAINS["k"]))


@pytest.mark.parametrize("times, runs", [("k*(k + 1)/2", {1: 1, 4: 10}), ("k**2", {3: 9})])
def test_parts_run_as_often_as_an_expression_says(times, runs):
    """Laplace noise of scale 1 loses 1 a run."""
    part = {"kind": "builtin", "name": "laplace", "scale": 1, "sensitivity": 1, "times": times}
    table = {"mechanism": {"kind": "compose", "parameters": {"k": "positive integer"}, "parts": [part]}}
    claims = [{"epsilon": times}, {"epsilon": f"{times} - 1/100", "expect": "refuted"}]
    proved, refuted = (verify(one.claim).judgement for one in read_tables("often.toml", {**table, "claim": claims}).claims)
    assert (proved.verdict, refuted.verdict) == ("PROVED", "REFUTED")
    for k, count in runs.items():
        assert substitute(proved.upper, {"k": Num(Fraction(k))}) == Num(Fraction(count))

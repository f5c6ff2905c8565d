"""Weights and multipliers of linear programs, spoiled one number at a time: refused, or a bound that is still no greater than the truth."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction as F
from random import Random

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, Query, Table, Translation

ROWS = tuple(tuple(map(parse, row)) for row in (("2/3", "1/6", "1/6"), ("1/3", "1/3", "1/3"), ("1/6", "1/6", "2/3")))
LOSS = tuple(tuple(F(abs(x - y)) for y in range(3)) for x in range(3))
TABLE = Claim(Table(ROWS, ((0, 1), (1, 2))), parse("log(2)"), utility=True, loss=LOSS)
NOISE = Translation(parse("exp(-4*abs(z))"), integers=True)
COUNT = Claim(NOISE, parse("4"), Num(F(1, 10**6)), query=Query(((F(1),),), "add-remove"), utility=True)
CLAIMS = {
    "table": (TABLE, F(4, 7)),
    "table with delta": (replace(TABLE, delta=Num(F(1, 100))), F(197, 350)),
    "count": (COUNT, F("0.03665")),
}
"""Claims with the least mean loss: of the first two by another solver (tests/programs.py), of the third at most 1/sinh(4), rounded up."""


def places(value, here=()):
    """Where the numbers of a certificate's parameters stand."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*here, key))
    else:
        yield here


def spoiled(line, place, random):
    """The same with one number negated, moved, or put in place of another."""
    found = deepcopy(line)
    inside = found
    for key in place[:-1]:
        inside = inside[key]
    was = inside[place[-1]]
    if isinstance(was, int):
        inside[place[-1]] = random.choice([was + 1, was - 1, -was, was + 2])
    else:
        inside[place[-1]] = random.choice([f"-{was}", "0", "1", "1/7", "5", "1*2^-3", "1*2^3"])
    return found


@pytest.mark.parametrize("name", CLAIMS)
def test_spoiled_numbers_prove_nothing_that_is_false(name):
    claim, truth = CLAIMS[name]
    packed = verify(claim).certificate
    random, refused = Random(name), 0
    for number, line in enumerate(packed["lines"]):
        if line["rule"] != "lp" or line["parameters"].get("measure") == "rms_l2":
            continue
        numbers = list(places(line["parameters"]))
        for place in random.sample(numbers, min(40, len(numbers))):
            forged = deepcopy(packed)
            forged["lines"][number]["parameters"] = spoiled(line["parameters"], place, random)
            try:
                errors = check(forged).errors
            except (Rejected, CertificateError):
                refused += 1
                continue
            assert all(b.value.value <= truth for _, b in errors if b.whose == "any" and b.measure != "rms_l2")
    assert refused

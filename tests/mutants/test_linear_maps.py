"""Lines about linear maps of noisy answers, spoiled one thing at a time: refused, or bounds that still hold."""

from copy import deepcopy
from random import Random

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import to_json as plain
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, Compose, Norm, Part, PostProcess, Product, Query, Radial, Translation
from dpverify.trusted.language.rationals import to_fraction


def rows(*given):
    return tuple(tuple(to_fraction(str(x), "test") for x in row) for row in given)


LAPLACE = Product(parse("exp(-abs(z)/2)"), num(3))
HEXAGON = Radial(parse("exp(-r)"), Norm("columns", None, rows([1, 0], [0, 1], [1, 1])), num(2))
QUARTIC = Translation(parse("exp(-z**4 - abs(z))"))
CLAIMS = {
    # least squares of two counts and their total: 8 (4 + 1 + 1)/9 for each count
    "least squares": (
        PostProcess(
            Part(LAPLACE, query=Query(rows([1, 0], [0, 1], [1, 1]), "l1")), "", rows(["2/3", "-1/3", "1/3"], ["-1/3", "2/3", "1/3"])
        ),
        (2 * 8 * 6 / 9) ** 0.5,
    ),
    # 20/3 of the hexagon (tests/mutants/test_noise_errors.py), and four times the mean square of the noise on the line
    "pieces": (PostProcess(Part(Compose((Part(HEXAGON, num(1)), Part(QUARTIC, num(1))))), "", rows([1, 0, 0], [0, 1, 0], [0, 0, 2])), None),
}
THINGS = ("coordinates", "bits", "parts", "premises", "matrix", "part")


def proved(packed):
    """The bounds on the root mean square that the kernel takes from a certificate."""
    return {b.side: b.value for _, b in check(packed).errors if (b.measure, b.whose, b.coordinate) == ("rms_l2", "this", None)}


def spoiled(packed, thing, random):
    found = deepcopy(packed)
    line = next(line for line in found["lines"] if line["rule"] == "linear-map")
    told = line["parameters"]
    if thing == "coordinates":
        told["coordinates"] = random.choice([-1, 0, 1, 99, "2", None])
    elif thing == "bits":
        told["parts"] = [{**one, "bits": random.choice([1, 9, -4, 10**6, "9"])} for one in told.get("parts", [{}])]
    elif thing == "parts":
        told["parts"] = random.choice([[], [{}], [{}] * 5, "all", None])
    elif thing == "premises":
        line["premises"] = random.choice([[], [0], line.get("premises", []) * 2, [len(found["lines"]) - 1]])
    else:
        mechanism = found["claim"]["mechanism"]
        if thing == "matrix":
            row = random.choice(mechanism["matrix"])
            row[random.randrange(len(row))] = random.choice(["0", "7", "-1/9"])
        else:
            mechanism["matrix"] = random.choice([[], [["1"]], [[*row, "0"] for row in mechanism["matrix"]]])
    return found


@pytest.mark.parametrize("name", CLAIMS)
def test_a_spoiled_line_is_refused_or_still_holds(name):
    mechanism, truth = CLAIMS[name]
    packed = verify(Claim(mechanism, None, utility=True), 8).certificate
    known = proved(packed)
    low, high = (float(constant(known[side])) for side in ("lower", "upper"))
    assert low <= high and (truth is None or low == pytest.approx(truth) == high)
    random, refused = Random(7), 0
    for thing in THINGS * 4:
        try:
            found = proved(spoiled(packed, thing, random))
        except DpverifyError:
            refused += 1
            continue
        for side, value in found.items():
            size = float("inf") if isinstance(value, Infinite) else float(constant(value))
            assert size <= high * (1 + 1e-9) if side == "lower" else size >= low * (1 - 1e-9)
    assert refused >= len(THINGS)


def test_a_claim_with_another_matrix_is_another_claim():
    mechanism, _ = CLAIMS["least squares"]
    packed = verify(Claim(mechanism, None, utility=True), 8).certificate
    other = deepcopy(packed)
    other["claim"] = plain(Claim(PostProcess(mechanism.part, "", rows([1, 0, 0])), None, utility=True))
    with pytest.raises(DpverifyError):
        check(other)

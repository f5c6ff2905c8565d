"""How far neighbours are apart, written in several ways, is one thing: as a query, as a sensitivity, in the scale, as a list of pairs.

Noise of scale s under a query whose one entry is k, noise of scale s at sensitivity k, and noise of scale s/k at sensitivity 1 are one
mechanism. So are scores of points within a distance, and the same scores with the pairs of those points listed, or noise on two answers,
and two runs of noise on one. A rule that forgets the query, the sensitivity or the list says something else of one of them, so that what
is proved of it contradicts the others.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations, product

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, format_expr, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    AboveThreshold,
    Claim,
    Compose,
    EllipticalProcess,
    Exponential,
    Group,
    Kernel,
    Lipschitz,
    Mechanism,
    NoisyMax,
    Parallel,
    Part,
    Product,
    Radial,
    Subsample,
    Table,
    Translation,
)
from tests.fields import finite, less, lower, upper
from tests.generated import MEASURES, asked, gaussian, integers, laplace, repeated

MOVE = 3


def noise(made: Callable[[int], Mechanism], scale: int, shrinks: bool = True) -> list[Part]:
    """The writings of noise whose answer moves by `MOVE`. shrinks: whether it may be written as noise of a lesser scale."""
    ways = [Part(made(scale), query=asked(str(MOVE), adjacency="add-remove")), Part(made(scale), num(MOVE))]
    return ways + [Part(made(scale // MOVE), ONE)] * shrinks


def near(*places: int, within: int) -> list[Part]:
    """Points on a line, each the answer with a probability that falls with its distance, as such, as scores, and as a table."""
    rows = tuple(tuple(num(-abs(x - y)) for y in places) for x in places)
    pairs = tuple((i, j) for (i, x), (j, y) in permutations(enumerate(places), 2) if abs(x - y) <= within)
    beta = parse("1/4")
    masses = [[parse(f"exp(-{abs(x - y)}/4)/({' + '.join(f'exp(-{abs(x - z)}/4)' for z in places)})") for y in places] for x in places]
    return [
        Part(Exponential(rows, beta, None, tuple((num(x),) for x in places), "l1"), num(within)),
        Part(Exponential(rows, beta, pairs)),
        Part(Table(tuple(map(tuple, masses)), pairs)),
    ]


def spread(one: Callable[[int], Mechanism], density: str, radial: Callable[[int], Mechanism]) -> list[Part]:
    """Independent noises of scale 6 on two answers that one record moves by 3 each: in coordinates, in a norm, and as two runs."""
    query = asked(str(MOVE), str(MOVE), adjacency="add-remove")
    runs = Part(Compose((repeated(Part(one(2 * MOVE), num(MOVE)), 2),)))
    return [Part(Product(parse(density), num(2)), query=query), Part(radial(2), query=query), runs]


def kernel(scale: Fraction, most: Expr) -> Kernel:
    """Laplace noise on [0, most] that is drawn again until the answer lies there too."""
    b = f"({scale})"
    rest = f"exp((theta - {format_expr(most)})/{b})"
    return Kernel(parse(f"exp(-abs(y - theta)/{b})/({b}*(2 - exp(-theta/{b}) - {rest}))"), (ZERO, most), (ZERO, most))


KINDS = {
    "laplace": noise(laplace, 6),
    "gaussian": noise(gaussian, 6),
    "translation": noise(lambda s: Translation(parse(f"exp(-abs(z)/{s})")), 6),
    "uniform": noise(lambda s: Translation(ONE, (num(-s), num(s))), 12),
    "integers": noise(lambda s: integers(f"exp(-abs(z)/{s})"), 6, shrinks=False),
    "discrete gaussian": noise(lambda s: integers(f"exp(-z**2/(2*{s}**2))"), 6, shrinks=False),
    "points": near(0, 1, 4, within=3),
    "spread laplace": spread(laplace, "exp(-abs(z)/6)", lambda d: Radial(parse("exp(-r)"), L1, num(d), num(6))),
    "spread gaussian": spread(gaussian, "exp(-z**2/(2*6**2))", lambda d: gaussian(6, d)),
    "noisy max": [Part(NoisyMax(laplace(2 * moved), num(3)), num(moved)) for moved in (MOVE, 1)],
    "threshold": [Part(AboveThreshold(num(5), laplace(4 * moved), laplace(8 * moved)), num(moved)) for moved in (MOVE, 1)],
    "kernel": [Part(kernel(Fraction(2 * moved), num(moved)), parse(f"{moved}/2")) for moved in (MOVE, 1)],
    "process": [Part(EllipticalProcess(ONE, scale=num(2 * moved), atoms=((ONE, ONE),)), num(moved)) for moved in (MOVE, 1)],
}
HOW: dict[str, Callable[[Part], Mechanism]] = {
    "alone": lambda part: part.mechanism,
    "repeated": lambda part: Compose((repeated(part, 2),)),
    "beside": lambda part: Compose((part, Part(gaussian(12), ONE))),
    "group": lambda part: Group(part, num(2)),
    "map": lambda part: Lipschitz(part, num(2)),
    "sample": lambda part: Subsample(part, parse("1/4")),
    "parallel": lambda part: Parallel((part, part)),
    "mapped inside": lambda part: Compose((Part(Lipschitz(part, num(2))), part)),
}


def claims(kind: str, how: str, measure: str, order: str = "") -> Iterator[Claim]:
    """One claim in all its writings."""
    for part in KINDS[kind]:
        stated = {"sensitivity": part.sensitivity, "query": part.query} if how == "alone" else {}
        yield Claim(HOW[how](part), **stated, **MEASURES[measure], order=order)


def contradictions(kind: str, how: str, measure: str, order: str = "") -> tuple[int, list[str]]:
    """In how many writings something is proved from above, and what two of them say that cannot be both: one of them, or all, or none."""
    told = [verify(claim, 9).judgement for claim in claims(kind, how, measure, order)]
    found = [
        f"{kind} {how} {measure} {order}: {one.rules} put writing {i} below what {other.rules} put writing {j} at"
        for (i, one), (j, other) in permutations(enumerate(told), 2)
        if less(upper(one), lower(other))
    ]
    proved = sum(finite(upper(judgement)) for judgement in told)
    if proved not in (0, len(told)):
        found.append(f"{kind} {how} {measure}: {proved} of {len(told)} writings have a bound from above")
    return proved, found


SLOW = ("noisy max", "threshold")
"""Kinds that cost seconds inside of others."""
DEAR = ("kernel mapped inside", "kernel beside", "kernel map", "kernel parallel", "kernel group", "threshold group")
"""What costs seconds, of a kind that is asked in other ways too."""
ASKED = ("epsilon", "delta", "epsilon-at", "renyi-2", "gdp", "zcdp")


def held(kind: str, how: str, measure: str, order: str = "") -> None:
    proved, found = contradictions(kind, how, measure, order)
    assert not found, "\n".join(found)
    assert proved or measure != "delta", f"{kind} {how} {measure}: nothing is proved from above"


def turns():
    """Every kind in every way, in one measure in `make test`: each kind, and each way, has all of four; and in another one."""
    for (number, kind), (turn, how) in product(enumerate(KINDS), enumerate(HOW)):
        if kind not in SLOW or how in ("alone", "group"):
            first, second = ASKED[(number + turn) % 4], ASKED[(number + turn) % 3]
            yield pytest.param(kind, how, first, marks=[pytest.mark.wide] * (f"{kind} {how}" in DEAR))
            if second != first:
                yield pytest.param(kind, how, second, marks=pytest.mark.wide)


@pytest.mark.parametrize(("kind", "how", "measure"), [*turns()])
def test_ways_to_write_how_far_neighbours_are_apart_have_one_answer(kind, how, measure):
    held(kind, how, measure)


@pytest.mark.parametrize("how", ["alone", "repeated", "sample", "group", "parallel"])
@pytest.mark.parametrize("kind", ["laplace", "translation", "integers", "points"])
def test_they_have_one_answer_in_one_order_of_neighbours(kind, how):
    held(kind, how, "epsilon", "one-sided")
    held(kind, how, "epsilon", "reverse")


@pytest.mark.deep
@pytest.mark.parametrize("measure", ASKED)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", KINDS)
def test_they_have_one_answer_in_every_measure(kind, how, measure):
    held(kind, how, measure)


@pytest.mark.parametrize("measure", ["delta", "renyi-2"])
def test_two_distances_are_told_apart(measure):
    """Neighbours at distance 3 are not those at distance 1: the law would not hold a rule that forgets which."""
    told = [verify(Claim(laplace(6), sensitivity=num(moved), **MEASURES[measure]), 9).judgement for moved in (1, 3)]
    assert less(upper(told[0]), lower(told[1]))

"""Claims made from a seed: every kind of mechanism by itself and in every combinator, nested twice, in every measure and both orders.

They are frozen data of the model, with parameters for which an answer costs little. `EVERY_KIND` are the kinds by themselves; a claim's
name says what it is made of, so that one that fails can be made again by its name alone (`named`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
    ONE_SIDED,
    REVERSE,
    AboveThreshold,
    BestOf,
    Branch,
    Claim,
    Compose,
    CorrelatedNoise,
    Domain,
    Drawn,
    EllipticalProcess,
    Exponential,
    Filter,
    Group,
    Guarantee,
    Guard,
    KaryResponse,
    Kernel,
    Lipschitz,
    Measure,
    Mechanism,
    Mixture,
    Named,
    NoisyKeys,
    NoisyMax,
    NoisyVotes,
    Norm,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    RecordSummand,
    RecordSums,
    Shape,
    Shuffle,
    SmoothSensitivity,
    Space,
    Staircase,
    Stream,
    Subsample,
    Sum,
    Summand,
    Table,
    Translation,
)
from dpverify.trusted.kernel.model import repeated as as_often


def repeated(part: Part, count: int) -> Part:
    """A part that is run so many times."""
    return as_often(part, num(count))


# -- the kinds -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """A mechanism, with what its answer moves by. quick: whether it costs little inside of others; slow: whether in other measures much."""

    mechanism: Mechanism
    sensitivity: Expr | None = None
    query: Query | None = None
    quick: bool = False
    slow: bool = False
    sums: RecordSums | None = None

    @property
    def part(self) -> Part:
        """It, as a part of another mechanism."""
        return Part(self.mechanism, self.sensitivity, self.query, sums=self.sums)


def laplace(scale: int, norm: Norm = L1, dimension: int = 1) -> Radial:
    return Radial(parse("exp(-r)"), norm, num(dimension), num(scale))


def gaussian(sigma: int, dimension: int = 1) -> Radial:
    return Radial(parse("exp(-r**2/2)"), L2, num(dimension), num(sigma))


def integers(density: str) -> Translation:
    return Translation(parse(density), integers=True)


def table(*rows: str, adjacent: tuple[tuple[int, int], ...] | None = None) -> Table:
    return Table(tuple(tuple(map(parse, row.split())) for row in rows), adjacent)


def kernel(scale: Fraction, low: Expr, high: Expr) -> Kernel:
    """Laplace noise on [0, 1] that is drawn again until the answer lies there too."""
    b = f"({scale})"
    return Kernel(parse(f"exp(-abs(y - theta)/{b})/({b}*(2 - exp(-theta/{b}) - exp((theta - 1)/{b})))"), (ZERO, ONE), (low, high))


def matrix(*rows: str) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(map(Fraction, row.split())) for row in rows)


def asked(*rows: str, adjacency: str) -> Query:
    return Query(matrix(*rows), adjacency)


_NOISY: Final = parse("q + nu - t")
_STEPS: Final = (Branch((Guard(_NOISY),), "above", (), (), (Named("found", ONE),)), Branch((), "below"))
_STREAM: Final = Stream(
    ("q",), (Drawn("rho", laplace(4)),), (Drawn("nu", laplace(8)),), (Named("t", parse("rho")),), (Named("found", ONE),), _STEPS, num(5)
)
_TOLD: Final = (replace(_STEPS[0], tell=(_NOISY,)), _STEPS[1])
_TURNED: Final = asked("1 1", "1 -1", adjacency="add-remove")
_SCORES: Final = (("3", "1", "0"), ("2", "2", "1"), ("3", "2", "1"))

_CLIPPED: Final = RecordSummand(parse("min(max(x, 0), 1)"), ((Guard(parse("y - 1/2")),),))
_CASES: Final = replace(_CLIPPED, also=(RecordSummand(ONE, ((Guard(parse("1/2 - y"), True),),)),))
_SHARE: Final = Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False)

LEAVES: Final[Mapping[str, Leaf]] = {
    "sum": Leaf(Sum((Summand(integers("exp(-z**2/8)"), num(4)),)), ONE, slow=True),
    "sum-dropouts": Leaf(Sum((Summand(integers("exp(-abs(z)/4)"), num(3)),), num(1)), ONE, slow=True),
    "exponential-weights": Leaf(Exponential(((num(3), ONE), (num(2), num(2))), parse("1/2"), weights=(ONE, num(2)))),
    "laplace-sums": Leaf(laplace(2), sums=RecordSums((_CLIPPED,), (("x", Domain()), ("y", _SHARE)), "add-remove")),
    "laplace-sums-of-cases": Leaf(laplace(2), sums=RecordSums((_CASES,), (("x", Domain()), ("y", _SHARE)), "add-remove")),
    "laplace": Leaf(laplace(2), ONE, quick=True),
    "gaussian": Leaf(gaussian(2), ONE, quick=True),
    "gaussian-3": Leaf(gaussian(3, 3), ONE),
    "gaussian-query": Leaf(gaussian(4, 2), query=asked("1 -1 0", "0 1 1", adjacency="add-remove"), quick=True),
    "gaussian-ball": Leaf(gaussian(4, 2), query=asked("1 1", "0 1", adjacency="l1")),
    "laplace-query": Leaf(Product(parse("exp(-abs(z)/4)"), num(2)), query=asked("1 -1", "0 1", adjacency="add-remove"), quick=True),
    "laplace-replaced": Leaf(Product(parse("exp(-abs(z)/4)"), num(2)), query=asked("1 0", "1 1", adjacency="replace")),
    "discrete-laplace": Leaf(integers("exp(-abs(z)/2)"), ONE, quick=True),
    "discrete-gaussian": Leaf(integers("exp(-z**2/8)"), ONE, quick=True),
    "discrete-query": Leaf(integers("exp(-abs(z)/4)"), query=asked("1 -1", adjacency="add-remove"), quick=True),
    "student-t": Leaf(Radial(parse("(1 + r**2/5)**(-4)"), L2, num(3), ONE), ONE, slow=True),
    "maximum-norm": Leaf(laplace(2, LINF, 2), ONE),
    "maximum-query": Leaf(laplace(2, LINF, 2), query=asked("1 1", "1 -1", adjacency="add-remove")),
    "ellipsoid": Leaf(laplace(2, Norm("ellipsoid", None, matrix("2 1", "1 3")), 2), query=_TURNED, slow=True),
    "columns": Leaf(laplace(2, Norm("columns", None, matrix("1 0", "1 1")), 2), query=_TURNED, slow=True),
    "facets": Leaf(laplace(2, Norm("facets", None, matrix("1 0", "0 1")), 2), query=_TURNED, slow=True),
    "logistic": Leaf(Translation(parse("cosh(z/4)**(-2)")), ONE, slow=True),
    "uniform": Leaf(Translation(ONE, (num(-4), num(4))), ONE),
    "exponential-noise": Leaf(Translation(parse("exp(-z/2)"), (ZERO, None)), ONE),
    "product": Leaf(Product(parse("exp(-abs(z)/2)"), num(2)), ONE, quick=True),
    "product-gaussian": Leaf(Product(parse("exp(-z**2/8)"), num(2), L2), ONE),
    "table": Leaf(table("1/2 1/4 1/4", "1/4 1/2 1/4", "1/4 1/4 1/2"), quick=True),
    "table-pairs": Leaf(table("3/5 1/5 1/5", "1/5 2/5 2/5", "1/100 1/100 98/100", adjacent=((0, 1),)), quick=True),
    "response": Leaf(table("3/4 1/4", "1/4 3/4"), quick=True),
    "kernel": Leaf(kernel(Fraction(2), ZERO, parse("1/2"))),
    "exponential": Leaf(Exponential(tuple(tuple(map(parse, row)) for row in _SCORES), parse("1/2")), quick=True),
    "exponential-pairs": Leaf(Exponential(tuple(tuple(map(parse, row)) for row in (*_SCORES, ("9", "0", "9"))), parse("1/4"), ((0, 1),))),
    "mixture": Leaf(
        Mixture(parse("exp(-r**2/(2*v))/v**(3/2)"), parse("v**(-7/2)*exp(-5/(2*v))"), (ZERO, None), L2, num(3)), ONE, slow=True
    ),
    "mixture-query": Leaf(
        Mixture(parse("exp(-r**2/(2*v))/v"), parse("exp(-v)"), (ZERO, None), L2, num(2)), query=_TURNED, slow=True
    ),
    "kary": Leaf(KaryResponse(num(4), parse("1/2")), quick=True),
    "staircase": Leaf(Staircase(ONE, parse("1/3")), ONE, quick=True),
    "process-atoms": Leaf(EllipticalProcess(ONE, scale=num(2), atoms=((ONE, parse("1/2")), (num(2), parse("1/2")))), ONE),
    "process-t": Leaf(EllipticalProcess(parse("v**(-7/2)*exp(-5/(2*v))"), scale=num(4)), ONE, slow=True),
    "process-transform": Leaf(EllipticalProcess(ONE, scale=num(2), transform=(parse("exp(u)"),)), ONE),
    "process-brownian": Leaf(
        EllipticalProcess(
            ONE, scale=num(2), atoms=((ONE, ONE),), covariance="brownian", shape=(ONE, ONE), interval=(ZERO, ONE), differences=(parse("t"),)
        )
    ),
    "process-places": Leaf(
        EllipticalProcess(
            ONE, scale=num(2), atoms=((ONE, ONE),), covariance="brownian", shape=(ONE, ONE), interval=(ZERO, num(4)),
            places=(parse("1/2"),), differences=(parse("t"),),
        )
    ),
    "process-count": Leaf(
        EllipticalProcess(
            ONE, scale=num(8), atoms=((ONE, ONE),), covariance="eigenvalues", shape=(parse("1/k**2"),), count=num(2),
            differences=(parse("1/k"),),
        )
    ),
    "guarantee-pure": Leaf(Guarantee("approximate", ((parse("1/2"), ZERO),)), quick=True),
    "guarantee-delta": Leaf(Guarantee("approximate", ((parse("1/2"), parse("1/10000")),)), quick=True),
    "guarantee-zcdp": Leaf(Guarantee("zcdp", ((parse("1/8"),),)), quick=True),
    "guarantee-gdp": Leaf(Guarantee("gdp", ((parse("1/2"),),)), quick=True),
    "guarantee-renyi": Leaf(Guarantee("renyi", ((num(2), parse("1/4")), (num(8), ONE))), quick=True),
    "guarantee-range": Leaf(Guarantee("bounded_range", ((parse("1/2"),),)), quick=True),
    "filter-pure": Leaf(Filter("approximate", ((parse("1/2"), ZERO),)), quick=True),
    "filter-delta": Leaf(Filter("approximate", ((parse("1/2"), parse("1/10000")),)), quick=True),
    "filter-zcdp": Leaf(Filter("zcdp", ((parse("1/8"),),)), quick=True),
    "filter-gdp": Leaf(Filter("gdp", ((parse("1/2"),),)), quick=True),
    "filter-renyi": Leaf(Filter("renyi", ((num(8), ONE),)), quick=True),
    "noisy-max": Leaf(NoisyMax(laplace(4), num(3)), ONE, quick=True),
    "noisy-max-monotone": Leaf(NoisyMax(integers("exp(-abs(z)/4)"), num(3), "monotone"), ONE),
    "noisy-max-hull": Leaf(NoisyMax(laplace(4), num(3), "hull", hull=matrix("1 -1 0", "1 0 -1", "0 1 -1")), ONE),
    "noisy-max-bounds": Leaf(NoisyMax(laplace(4), num(3), bounds=(ZERO, ONE))),
    "noisy-max-gap": Leaf(NoisyMax(laplace(4), num(3), "one", "index+gap"), ONE),
    "noisy-max-gaussian": Leaf(NoisyMax(gaussian(4), num(3)), ONE, slow=True),
    "noisy-max-gumbel": Leaf(NoisyMax(Translation(parse("exp(-z/2 - exp(-z/2))")), num(3)), ONE, slow=True),
    "noisy-keys": Leaf(NoisyKeys(laplace(2), num(25), num(2)), ONE, quick=True),
    "noisy-keys-alone": Leaf(NoisyKeys(integers("exp(-abs(z)/2)"), num(20), report="keys"), ONE),
    "noisy-votes": Leaf(NoisyVotes(num(4), matrix("6 6 2"))),
    "noisy-votes-two": Leaf(NoisyVotes(num(8), matrix("6 6 2", "5 5 4")), slow=True),
    "smooth": Leaf(SmoothSensitivity(laplace(4), parse("1/40")), ONE),
    "smooth-t": Leaf(SmoothSensitivity(Radial(parse("(1 + r**2/3)**(-2)"), L2, num(1), num(4)), parse("1/10")), ONE, quick=True),
    "shuffled-guarantee": Leaf(Shuffle(Part(Guarantee("approximate", ((parse("1/2"), ZERO),))), num(100))),
    "above": Leaf(AboveThreshold(num(5), laplace(4), laplace(8)), ONE, quick=True),
    "above-few": Leaf(AboveThreshold(num(3), laplace(4), laplace(8)), ONE),
    "above-several": Leaf(AboveThreshold(num(7), laplace(4), laplace(8), positives=num(2), report="answers"), ONE),
    "above-gap": Leaf(AboveThreshold(num(7), laplace(4), laplace(8), positives=num(2), report="answers+gap"), ONE),
    "above-fresh": Leaf(AboveThreshold(num(7), laplace(4), laplace(8), positives=num(2), report="fresh", fresh=laplace(8)), ONE),
    "above-resampled": Leaf(AboveThreshold(num(9), laplace(4), laplace(8), positives=num(2), resample=True), ONE),
    "above-increasing": Leaf(AboveThreshold(num(7), laplace(4), laplace(8), neighbours="increasing"), ONE),
    "above-whole": Leaf(AboveThreshold(num(5), integers("exp(-abs(z)/4)"), laplace(8), whole_answers=True), ONE),
    "above-bounds": Leaf(AboveThreshold(num(5), laplace(4), laplace(8), bounds=(ZERO, ONE))),
    "correlated": Leaf(
        CorrelatedNoise(num(4), "toeplitz", num(200), coefficients=(Fraction(1), Fraction(1, 2)), times=num(2), separation=num(4)),
        ONE, quick=True,
    ),
    "correlated-tree": Leaf(CorrelatedNoise(num(8), "binary_tree", num(8), times=num(2), separation=num(2)), ONE),
    "correlated-matrix": Leaf(
        CorrelatedNoise(num(8), "matrix", num(4), matrix("3 0 0 0", "0 1 0 0", "0 0 1 0", "0 0 0 3"), (), num(2), num(2), "fixed"), ONE
    ),
    "correlated-sampled": Leaf(
        CorrelatedNoise(num(4), "toeplitz", num(20), coefficients=(Fraction(1), Fraction(1, 2)), rate=parse("1/10")), ONE, slow=True
    ),
    "stream": Leaf(_STREAM, ONE, slow=True),
    "stream-whole": Leaf(replace(_STREAM, fresh=(Drawn("nu", integers("exp(-abs(z)/8)")),), whole_answers=True), ONE, slow=True),
    "stream-told": Leaf(replace(_STREAM, steps=_TOLD), ONE, slow=True),
    "stream-hull": Leaf(replace(_STREAM, queries=num(7), neighbours="hull", hull=matrix("1", "0")), ONE, slow=True),
    "stream-bounds": Leaf(replace(_STREAM, between=(ZERO, ONE)), slow=True),
}  # fmt: skip
"""Every kind, most with several forms that have other fields."""
QUICK: Final = tuple(name for name, leaf in LEAVES.items() if leaf.quick)


# -- what is asked -------------------------------------------------------------------------------------


def _measure(name: str, at: int | None = None) -> dict[str, object]:
    return {"epsilon": None, "measure": Measure(name, None, None if at is None else Fraction(at))}


MEASURES: Final[Mapping[str, Mapping[str, object]]] = {
    "epsilon": {"epsilon": None},
    "delta": {"epsilon": parse("1/4"), "delta": None},
    "epsilon-at": {"epsilon": None, "delta": parse("1/1000")},
    "zcdp": _measure("zcdp"),
    "gdp": _measure("gdp"),
    "renyi-2": _measure("renyi", 2),
    "renyi-3": _measure("renyi", 3),
    "renyi-8": _measure("renyi", 8),
}
ORDERS: Final = ("", ONE_SIDED, REVERSE)


# -- combinators ---------------------------------------------------------------------------------------

Draw = random.Random
Build = Callable[[Draw, Callable[[], Part]], Mechanism]


def _bare(part: Part) -> Part:
    """A part of what has one part, which is run once."""
    return part


COMBINATORS: Final[Mapping[str, Build]] = {
    "compose": lambda draw, below: Compose((repeated(below(), draw.choice((1, 2, 3))), below())),
    "repeat": lambda draw, below: Compose((repeated(below(), draw.choice((2, 3))),)),
    "poisson": lambda draw, below: Subsample(_bare(below()), parse(draw.choice(("1/4", "1/10")))),
    "without": lambda draw, below: Subsample(_bare(below()), parse(draw.choice(("1/4", "1/10"))), "without_replacement"),
    "best": lambda draw, below: BestOf(_bare(below()), draw.choice(("geometric", "poisson", "logarithmic")), (num(draw.choice((2, 5))),)),
    "fixed": lambda draw, below: BestOf(_bare(below()), "fixed", (num(draw.choice((2, 3))),)),
    "group": lambda draw, below: Group(_bare(below()), num(draw.choice((1, 2)))),
    "post": lambda draw, below: PostProcess(_bare(below()), "rounded"),
    "parallel": lambda draw, below: Parallel((repeated(below(), draw.choice((1, 2))), below())),
    "lipschitz": lambda draw, below: Lipschitz(_bare(below()), parse(draw.choice(("1", "2", "1/2")))),
}


def _kinds(names: tuple[str, ...], seed: int) -> Mechanism:
    """What is made of combinators, outermost first, over a kind, which is the last of the names."""
    draw = random.Random(f"{seed} {names}")
    *outer, leaf = names

    def part(depth: int) -> Part:
        if depth == len(outer):
            return LEAVES[leaf].part
        # beside what is named, a part that is quick and of the same kind, so that neighbours agree
        return Part(COMBINATORS[outer[depth]](draw, lambda: part(depth + 1)))

    return part(0).mechanism


def named(name: str) -> Claim:
    """A claim by its name: "combinator/combinator/kind measure order seed"."""
    if name in SPECIAL or name in COUNTED:
        return replace((SPECIAL | COUNTED)[name], name=name)
    made, measure, order, seed = name.split(" ")
    *outer, leaf = made.split("/")
    alone = LEAVES[leaf]
    stated = {} if outer else {"sensitivity": alone.sensitivity, "query": alone.query, "sums": alone.sums}
    return Claim(_kinds((*outer, leaf), int(seed)), order="" if order == "both" else order, name=name, **stated, **MEASURES[measure])


def _claimed(mechanism: Mechanism, epsilon: str, **more: object) -> Claim:
    return Claim(mechanism, parse(epsilon), **more)


def _ranging(name: str, *ends: int | str | None, **how: bool) -> dict[str, object]:
    low, high = (None if end is None else Fraction(end) for end in ends)
    return {"domains": ((name, Domain(low, high, **how)),)}


_LINE: Final = Shape("points", matrix=matrix("0 1 2", "1 0 1", "2 1 0"))
_NEAR: Final = {"epsilon": None, "measure": Measure("beta", None)}
SPECIAL: Final[Mapping[str, Claim]] = {
    # what is claimed is the truth itself, of all values of a parameter
    "all-scales": _claimed(Radial(parse("exp(-r)"), L1, ONE, parse("b")), "1/2", sensitivity=ONE, **_ranging("b", 2, 5, lower_open=False)),
    "all-positive": _claimed(Radial(parse("exp(-r)"), L1, ONE, parse("b")), "1/b", sensitivity=ONE, **_ranging("b", 0, 5)),
    "all-moves": _claimed(laplace(2), "1", sensitivity=parse("s"), **_ranging("s", 0, 2, upper_open=False)),
    "all-truths": _claimed(KaryResponse(num(2), parse("p")), "log(p/(1 - p))", **_ranging("p", "1/2", 1, lower_open=False)),
    "all-counts": _claimed(
        Compose((as_often(LEAVES["laplace"].part, parse("n")),)), "n/2", **_ranging("n", 1, 3, lower_open=False, integer=True)
    ),
    "all-groups": _claimed(Group(LEAVES["laplace"].part, parse("n")), "n/2", **_ranging("n", 1, 3, lower_open=False, integer=True)),
    "claimed-delta": _claimed(gaussian(2), "3/2", delta=parse("1/100"), sensitivity=ONE),
    "claimed-zcdp": Claim(gaussian(2), None, sensitivity=ONE, measure=Measure("zcdp", parse("1/8"))),
    "claimed-gdp": Claim(gaussian(2), None, sensitivity=ONE, measure=Measure("gdp", parse("1/2"))),
    "claimed-renyi": Claim(gaussian(2), None, sensitivity=ONE, measure=Measure("renyi", parse("1/4"), Fraction(2))),
    # metric spaces: the least epsilon of any mechanism that is near
    "space": Claim(Space(_LINE, databases="answers"), None, within=parse("1/2"), beta=parse("1/4")),
    "space-bounded": Claim(Space(_LINE, databases="bounded", diameter=num(2)), None, within=parse("1/2"), beta=parse("1/4")),
    "space-listed": Claim(
        Space(_LINE, databases="listed", distances=_LINE.matrix, truth=(0, 1, 2)), None, within=parse("1/2"), beta=parse("1/4")
    ),
    "space-table": Claim(
        Space(_LINE, databases="answers", table=matrix("1/2 1/4 1/4", "1/4 1/2 1/4", "1/4 1/4 1/2")),
        None,
        within=parse("1/2"),
        beta=parse("1/2"),
    ),
    "space-rate": Claim(Space(_LINE, databases="answers", rate=ONE), None, within=parse("1/2"), beta=parse("1/2")),
    "space-interval": Claim(Space(Shape("box", (ONE,)), databases="answers"), None, within=parse("1/4"), beta=parse("1/4")),
    # how near answers are to the truth: more noise is worse there
    "near": Claim(laplace(2), within=num(4), **_NEAR),
    "near-plane": Claim(Product(parse("exp(-abs(z)/2)"), num(2)), within=num(6), distance="linf", **_NEAR),
    "near-table": Claim(table("1/2 1/2", "1/4 3/4"), within=ZERO, loss=matrix("0 1", "1 0"), **_NEAR),
}


def alone() -> Iterator[str]:
    """The names of every kind by itself in every measure, and in one order in the quick ones."""
    for leaf, made in LEAVES.items():
        for measure in ("epsilon", "delta", "epsilon-at") if made.slow else MEASURES:
            yield f"{leaf} {measure} both 0"
            if leaf in QUICK and measure in ("epsilon", "delta", "renyi-3"):
                yield f"{leaf} {measure} {ONE_SIDED} 0"


def combined(depth: int, names: tuple[str, ...] = QUICK) -> Iterator[str]:
    """The names of all that is so many combinators deep over kinds, in every measure and order."""
    outer = [()]
    for _ in range(depth):
        outer = [(*made, each) for made in outer for each in COMBINATORS]
    for made in outer:
        for leaf in names:
            for measure in MEASURES:
                for order in ("both", ONE_SIDED, REVERSE):
                    yield f"{'/'.join((*made, leaf))} {measure} {order} 0"


def costly(name: str) -> bool:
    """Whether an answer takes seconds: a divergence in all orders of what is known by its curve, or a delta of several selections."""
    made, measure, *_ = name.split(" ")
    outer, _, leaf = made.rpartition("/")
    if leaf in ("noisy-max", "above"):
        return measure in ("zcdp", "gdp") or (outer != "" and measure in ("delta", "epsilon-at"))
    return measure == "zcdp" and leaf in ("laplace", "discrete-laplace", "staircase", "product")


def drawn(every: Iterator[str], count: int, seed: int = 0) -> list[str]:
    """So many of the names, the same of the same seed, spread over combinators and measures."""
    draw = random.Random(seed)
    strata: dict[tuple[str, str], list[str]] = {}
    for name in every:
        if costly(name):
            continue
        made, measure, *_ = name.split(" ")
        strata.setdefault((made.rpartition("/")[0], measure), []).append(name)
    for names in strata.values():
        draw.shuffle(names)
    turns = list(strata.values())
    draw.shuffle(turns)
    found: list[str] = []
    while len(found) < count and any(turns):
        for names in turns:
            if names and len(found) < count:
                made, measure, order, _ = names.pop().split(" ")
                found.append(f"{made} {measure} {order} {draw.randrange(1000)}")
    return found


# -- runs, groups and samples -----------------------------------------------------------------------------


def _often(part: Part | str, count: int, *others: tuple[Part | str, int], **how: object) -> Claim:
    """Parts that run so many times."""
    listed = [(LEAVES[each].part if isinstance(each, str) else each, k) for each, k in ((part, count), *others)]
    return Claim(Compose(tuple(repeated(each, k) for each, k in listed)), **{"epsilon": None, **how})


def _stated(measure: str, *row: str) -> Part:
    return Part(Guarantee(measure, (tuple(map(parse, row)),)))


def _on_a_sample(part: Part | str) -> Part:
    return Part(Subsample(LEAVES[part].part if isinstance(part, str) else part, parse("1/4")))


def _counting(sigma: int, row: str) -> Part:
    return Part(gaussian(sigma), query=asked(row, adjacency="add-remove"))


def _further(part: Part) -> Mechanism:
    return Group(Part(Lipschitz(part, num(2))), num(2))


def _asked(row: str) -> Part:
    return Part(laplace(4), query=asked(row, adjacency="add-remove"))


def _sharing() -> Part:
    return Part(Compose((_asked("1 0"), _asked("1 1"))))


def _far(density: str, row: str) -> Part:
    return Part(Translation(parse(density)), query=asked(row, adjacency="l2"))


COUNTED: Final[Mapping[str, Claim]] = {
    "laplace-sums": _often("laplace", 3, **MEASURES["epsilon-at"]),
    "gaussian-composition": _often(_counting(4, "1 0"), 2, (_counting(4, "1 1"), 3), **MEASURES["epsilon-at"]),
    "optimal-composition": _often(_stated("approximate", "1/4", "1/10000"), 3, **MEASURES["epsilon-at"]),
    "one-sided/spent": _often(_stated("approximate", "1/4", "1/10000"), 2, ("gaussian", 1), epsilon=parse("4"), delta=parse("1/1000")),
    "renyi-composition": _often(_stated("zcdp", "1/8"), 3, **MEASURES["epsilon-at"]),
    "loss-distribution": _often(_on_a_sample("gaussian"), 3, **MEASURES["epsilon-at"]),
    "finite-composition": _often("table", 3, **MEASURES["delta"]),
    "finite-composition/samples": _often(_on_a_sample("table"), 3, epsilon=parse("1/10"), delta=None),
    "finite-composition/inside": Claim(
        Compose((_on_a_sample(repeated(LEAVES["response"].part, 2)), LEAVES["response"].part)), parse("1/10"), None
    ),
    "finite-composition/odds": _often(_on_a_sample("kary"), 3, epsilon=parse("1/10"), delta=None),
    "one-sided": _often("table-pairs", 3, order=ONE_SIDED),
    "one-sided/sample": Claim(Subsample(LEAVES["table-pairs"].part, parse("1/4")), None, order=ONE_SIDED),
    "one-sided/delta": Claim(Subsample(LEAVES["table-pairs"].part, parse("1/4")), parse("1/20"), None, order=ONE_SIDED),
    "one-sided/group": Claim(Group(_on_a_sample("laplace"), num(2)), None, order=REVERSE),
    "combination/sample": Claim(Compose((_on_a_sample("laplace"), _on_a_sample("response"))), None),
    "sampled-measures": Claim(Subsample(LEAVES["gaussian"].part, parse("1/4")), **MEASURES["renyi-2"]),
    "closed-profile": _often(Part(table("3/4 1/4", "1/4 3/4")), 3, **MEASURES["delta"]),
    "lattice": _often("discrete-gaussian", 3, **MEASURES["delta"]),
    "joint-moves": _often(_far("1/(1 + z**2)", "1 0"), 2, (_far("1/(4 + z**2)", "1 1"), 2)),
    "joint-neighbours/group": Claim(Group(_sharing(), num(2)), None),
    "joint-neighbours/map": Claim(Lipschitz(_sharing(), num(2)), None),
    "joint-neighbours/curve": Claim(Group(_sharing(), num(2)), parse("1/2"), None),
    "joint-neighbours/inside": Claim(Compose((Part(Group(_asked("1 0"), num(2))), _asked("1 1"))), None),
    "combination/further": Claim(_further(LEAVES["laplace"].part), None),
    "combination/mapped": Claim(Lipschitz(Part(Group(LEAVES["laplace"].part, num(2))), num(2)), None),
    "combination/several": Claim(Group(Part(Compose((_on_a_sample("laplace"), LEAVES["laplace"].part))), num(2)), None),
    "added-measures/further": Claim(_further(LEAVES["laplace"].part), **MEASURES["zcdp"]),
    "gaussian/further": Claim(_further(LEAVES["gaussian"].part), **MEASURES["delta"]),
    "gaussian-composition/further": Claim(Compose((Part(_further(LEAVES["gaussian"].part)), LEAVES["gaussian"].part)), **MEASURES["delta"]),
    "finite-composition/group": Claim(
        Compose((Part(Group(LEAVES["table-pairs"].part, num(2))), LEAVES["table-pairs"].part)), **MEASURES["delta"]
    ),
    "group-privacy": Claim(Group(_on_a_sample("laplace"), num(2)), **MEASURES["delta"]),
    "added-measures": _often("laplace", 3, **MEASURES["zcdp"]),
    "gaussian-measures": _often("gaussian", 3, **MEASURES["gdp"]),
    "combination": _often("table", 2, ("laplace", 3)),
    "parallel-composition": Claim(Parallel((repeated(LEAVES["laplace"].part, 3), LEAVES["laplace"].part)), **MEASURES["epsilon-at"]),
}
"""For each rule that puts parts together, by its name, claims that rest on it and of which the bound is above 0."""

"""Each field of the model made much worse: what a change is, and why some change nothing. The one table of the law that every field counts.

`CHANGES` has, for each field of each class of `dpverify.trusted.kernel.model`, what makes a claim with it worse: a function of where it
stands that gives new values, each of which must cost something. `NEUTRAL` has the fields, or the places of fields, where no change costs
anything, each with why. A field that is in neither is a fault of the law (`forgotten`), and it says what to write.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, add, div, mul, num, parse, sub, substitute, symbols
from dpverify.trusted.kernel.model import (
    NEARNESS,
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
    Repeat,
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
from tests.generated import kernel

MUCH: Final = 50
"""How many times worse."""
FIFTY: Final = num(MUCH)


@dataclass(frozen=True)
class Place:
    """Where a field stands: the claim, and the nodes from it to the one whose field this is, each with the name of the field below it."""

    claim: Claim
    above: tuple[tuple[Any, str, tuple[int, ...]], ...]
    node: Any
    field: str

    @property
    def value(self) -> Any:
        return getattr(self.node, self.field)

    @property
    def owner(self) -> Any:
        """What holds the node."""
        return self.above[-1][0] if self.above else None

    @property
    def name(self) -> str:
        """As a path: "mechanism.parts[1].times"."""
        steps = [name + "".join(f"[{number}]" for number in index) for _, name, index in self.above]
        return ".".join((*steps, self.field))

    def inside(self, *kinds: type) -> bool:
        """Whether a node above is of one of these classes."""
        return any(isinstance(node, kinds) for node, _, _ in self.above)

    def put(self, value: Any) -> Claim:
        """The claim with another value here."""
        made: Any = replace(self.node, **{self.field: value})
        for node, name, index in reversed(self.above):
            made = replace(node, **{name: _with(getattr(node, name), index, made)})
        assert isinstance(made, Claim)
        return made


def _is_node(value: Any) -> bool:
    return is_dataclass(value) and type(value).__module__ == model.__name__


def _with(held: Any, index: tuple[int, ...], made: Any) -> Any:
    """Tuples in tuples, with another value at an index."""
    if not index:
        return made
    first, *rest = index
    return (*held[:first], _with(held[first], tuple(rest), made), *held[first + 1 :])


def _held(value: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """The nodes that a field holds, in tuples or by itself."""
    if _is_node(value):
        yield value, index
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from _held(each, (*index, number))


def places(claim: Claim) -> Iterator[Place]:
    """Every field of a claim and of all that it is made of."""

    def visit(node: Any, above: tuple[tuple[Any, str, tuple[int, ...]], ...]) -> Iterator[Place]:
        for field in fields(node):
            yield Place(claim, above, node, field.name)
            for below, index in _held(getattr(node, field.name)):
                yield from visit(below, (*above, (node, field.name, index)))

    yield from visit(claim, ())


# -- what makes it worse -------------------------------------------------------------------------------

Change = Callable[[Place], Iterator[Any]]


def _more(place: Place) -> Iterator[Expr]:
    """Fifty times as much, of a number that is stated."""
    if isinstance(place.value, Expr):
        yield mul(place.value, FIFTY)


def _less(place: Place) -> Iterator[Expr]:
    if isinstance(place.value, Expr):
        yield div(place.value, FIFTY)


def _noise(place: Place) -> Iterator[Expr]:
    """A fiftieth of the noise; fifty times as much where the claim is of how near answers are."""
    yield from (_more if _near(place.claim) else _less)(place)


def _to(*values: Any) -> Change:
    """These values, where they are others."""

    def change(place: Place) -> Iterator[Any]:
        yield from (value for value in values if value != place.value)

    return change


def _instead(old: Any, *values: Any) -> Change:
    """These values in place of that one."""

    def change(place: Place) -> Iterator[Any]:
        yield from values if place.value == old else ()

    return change


def _narrower(name: str) -> Change:
    """A density in a variable, as one that lives on a fiftieth."""

    def change(place: Place) -> Iterator[Expr]:
        power = MUCH**2 if name == "v" else MUCH  # v is a variance
        factor = Fraction(1, power) if _near(place.claim) else Fraction(power)
        if name in symbols(place.value):
            yield substitute(place.value, {name: mul(num(factor), Sym(name))})

    return change


def _rows(place: Place) -> Iterator[Any]:
    """Rows of numbers, fifty times as much."""
    if place.value:
        yield tuple(tuple(each * MUCH if isinstance(each, Fraction) else mul(each, FIFTY) for each in row) for row in place.value)


def _worst_row(place: Place) -> Iterator[Any]:
    """The first row nearly all where the second has the least, so that each tells itself from the other."""
    first, second, *others = place.value
    told = min(range(len(second)), key=lambda y: second[y].value)
    least = Fraction(1, 10**6)
    made = tuple(num(1 - least * (len(first) - 1) if y == told else least) for y in range(len(first)))
    yield (made, second, *others)


def _wider(place: Place) -> Iterator[Any]:
    """An interval that is fifty times as long."""
    if place.value is not None:
        low, high = place.value
        yield low, add(low, mul(FIFTY, sub(high, low)))


def _shorter(place: Place) -> Iterator[Any]:
    """An interval on a fiftieth of where it was, of noise."""
    low, high = place.value
    if low is not None and high is not None:
        yield div(low, FIFTY), div(high, FIFTY)


def _truth(place: Place) -> Iterator[Expr]:
    """A probability of the truth that is fifty times as near to 1."""
    if not symbols(place.value):
        yield sub(ONE, div(sub(ONE, place.value), FIFTY))


def _smaller_norm(place: Place) -> Iterator[Any]:
    """Of noise, the exponent with which a difference is the longest; of the norm of a product's sensitivity, the shortest."""
    if place.node.kind == "lp":
        product = isinstance(place.owner, Product)
        worst = None if product else Fraction(1)
        if place.value != worst:
            yield worst


def _smaller_ball(place: Place) -> Iterator[Any]:
    """A ball that is a fiftieth as large."""
    factor = {"columns": Fraction(1, MUCH), "ellipsoid": Fraction(1, MUCH**2), "facets": Fraction(MUCH)}.get(place.node.kind)
    if factor is not None:
        yield tuple(tuple(each * factor for each in row) for row in place.value)


def _more_parts(place: Place) -> Iterator[Any]:
    """The first part again and again; in parallel one that tells much more."""
    if isinstance(place.node, Compose):
        yield place.value * MUCH
    else:
        part = place.value[0]
        yield (*place.value, Part(Compose((part,) * MUCH), adjacency=part.adjacency))


def _atoms(place: Place) -> Iterator[Any]:
    if place.value:
        yield tuple((div(value, num(MUCH**2)), chance) for value, chance in place.value)


def _transform(place: Place) -> Iterator[Any]:
    if place.value:
        yield tuple(substitute(each, {"u": div(Sym("u"), num(MUCH**2))}) for each in place.value)


def _variance(place: Place) -> Iterator[Any]:
    """The variance, or the eigenvalues, of a covariance."""
    if place.value:
        yield (div(place.value[0], num(MUCH**2)), *place.value[1:])


def _differences(place: Place) -> Iterator[Any]:
    if place.value:
        yield tuple(mul(each, FIFTY) for each in place.value)


def _measure_of_a_guarantee(place: Place) -> Iterator[str]:
    """The same numbers in a measure in which they say less."""
    yield from {"bounded_range": ("zcdp",), "gdp": ("zcdp",)}.get(place.value, ())


def _others_state(place: Place, adjacency: str) -> bool:
    """Whether another part of what holds this one states a query with that adjacency."""
    found = [part.query.adjacency for part in model.all_parts(place.claim.mechanism) if part.query is not None and part is not place.node]
    return adjacency in found


def _other_neighbours(place: Place) -> Iterator[str]:
    """By replacing; beside a part that is by adding and removing also those in l1, which move answers as much but are others."""
    if place.value == "add-remove":
        yield "replace"
        holds = (node for node, _, _ in place.above if isinstance(node, Compose | Parallel))
        if any(len(node.parts) > 1 for node in holds):
            yield "l1"


def _mixed_neighbours(place: Place) -> Iterator[str]:
    """Others than those of a query that stands in or beside the part: the two do not fit together."""
    if not place.value and _others_state(place, "add-remove"):
        yield "replace"


def _guaranteed(place: Place) -> Iterator[Any]:
    """Fifty times as much; of divergences at the same orders."""
    kept = 1 if place.node.measure == "renyi" else 0
    yield tuple((*row[:kept], *(mul(each, FIFTY) for each in row[kept:])) for row in place.value)


def _more_runs(place: Place) -> Iterator[Any]:
    """Fifty times as many."""
    yield (mul(place.value[0], FIFTY), *place.value[1:])


def _closed(side: str) -> Change:
    """An end of a domain that belongs to it, where what is claimed is none there."""

    def change(place: Place) -> Iterator[bool]:
        if place.value and place.claim.name in {"lower": ("all-positive",), "upper": ("all-truths",)}[side]:
            yield False

    return change


def _stated_order(place: Place) -> Iterator[str]:
    """A guarantee of one order alone, where both are asked for."""
    if not place.value and not place.claim.order:
        yield from (ONE_SIDED, REVERSE)


def _one_order(place: Place) -> Iterator[str]:
    """A claim of both orders, where the other one is worse: of a sample, the one in which the first data have the record."""
    if place.value == REVERSE and sampled(place.claim.mechanism):
        yield ""


def _counter(place: Place) -> Iterator[Expr]:
    """Of the limits of a stream: it stops later. Of its counters: they grow more slowly."""
    name = place.above[-1][1]
    if name == "limits":
        yield FIFTY


def _told(place: Place) -> Iterator[Any]:
    """A number beside the word: the answer itself with the noise that it is compared with."""
    if place.node.emit == "above" and not place.value:
        yield (parse("q + nu"),)


def _far(place: Place) -> Iterator[Any]:
    if place.value and isinstance(place.owner, Claim | Space):
        yield tuple(tuple(each / MUCH for each in row) for row in place.value)


def _claimed(place: Place) -> Iterator[Any]:
    """Next to nothing, of what is claimed or is asked for."""
    if place.value is None or not _is_asked_at(place):
        yield num(Fraction(1, 10**9))
    else:
        yield div(place.value, FIFTY)


def _is_asked_at(place: Place) -> bool:
    return place.field == "epsilon" or place.claim.epsilon is None


CHANGES: Final[dict[tuple[type, str], Change]] = {
    (Domain, "lower"): lambda place: iter((place.value / MUCH,) if place.claim.name == "all-scales" else ()),
    (Domain, "upper"): lambda place: iter((place.value * MUCH,) if place.claim.name == "all-moves" else ()),
    (Domain, "lower_open"): _closed("lower"),
    (Domain, "upper_open"): _closed("upper"),
    (Domain, "integer"): _instead(True, False),
    (Norm, "p"): _smaller_norm,
    (Norm, "matrix"): _smaller_ball,
    (Radial, "profile"): _narrower("r"),
    (Radial, "scale"): _noise,
    (Translation, "density"): _narrower("z"),
    (Translation, "support"): _shorter,
    (Product, "density"): _narrower("z"),
    (Table, "rows"): _worst_row,
    (Table, "adjacent"): lambda place: iter((None,) if place.value else ()),
    (Kernel, "density"): lambda place: iter((kernel(Fraction(2, MUCH), *place.node.input).density,)),
    (Kernel, "input"): lambda place: iter(((ZERO, ONE),)),
    (Exponential, "scores"): _rows,
    (Exponential, "beta"): _more,
    (Exponential, "adjacent"): lambda place: iter((None,) if place.value else ()),
    (Mixture, "profile"): _narrower("r"),
    (Mixture, "mixing"): _narrower("v"),
    (Mixture, "scale"): _noise,
    (KaryResponse, "k"): _more,
    (KaryResponse, "p"): _truth,
    (Staircase, "epsilon"): _more,
    (EllipticalProcess, "mixing"): _narrower("v"),
    (EllipticalProcess, "scale"): _less,
    (EllipticalProcess, "atoms"): _atoms,
    (EllipticalProcess, "transform"): _transform,
    (EllipticalProcess, "shape"): _variance,
    (EllipticalProcess, "interval"): lambda place: iter(((ZERO, FIFTY),) if place.value and not place.node.places else ()),
    (EllipticalProcess, "places"): lambda place: iter(((parse("1/2"), num(4)),) if place.value else ()),
    (EllipticalProcess, "count"): _more,
    (EllipticalProcess, "differences"): _differences,
    (Guarantee, "measure"): _measure_of_a_guarantee,
    (Guarantee, "rows"): _guaranteed,
    (Guarantee, "order"): _stated_order,
    (Filter, "measure"): _measure_of_a_guarantee,
    (Filter, "rows"): _guaranteed,
    (BestOf, "numbers"): _more_runs,
    (Shape, "numbers"): _differences,
    (Shape, "matrix"): _rows,
    (Space, "lipschitz"): _more,
    (Space, "diameter"): _more,
    (Query, "rows"): _rows,
    (Query, "adjacency"): _other_neighbours,
    (Part, "adjacency"): _mixed_neighbours,
    (Measure, "value"): _claimed,
    (Measure, "at"): lambda place: iter((place.value * MUCH,) if place.value is not None else ()),
    (NoisyMax, "hull"): _rows,
    (Sum, "dropouts"): lambda place: iter((num(2),) if place.value == ONE else ()),
    (Summand, "times"): lambda place: iter((ONE,) if place.owner.dropouts == ZERO else ()),
    (RecordSummand, "value"): lambda place: iter((mul(FIFTY, place.value),)),
    (RecordSummand, "also"): lambda place: iter(((RecordSummand(mul(FIFTY, place.node.value), place.node.where),),)),
    (RecordSums, "rows"): lambda place: iter((place.value * MUCH,)),
    (Part, "sensitivity"): _more,
    (Repeat, "times"): _more,
    (Compose, "parts"): _more_parts,
    (Parallel, "parts"): _more_parts,
    (Subsample, "rate"): _to(ONE),
    (Group, "size"): _more,
    (Lipschitz, "constant"): _more,
    (Shuffle, "people"): _less,
    (NoisyKeys, "threshold"): _less,
    (NoisyKeys, "keys"): _more,
    (SmoothSensitivity, "scale_bound"): _more,
    (NoisyVotes, "sigma"): _less,
    (NoisyVotes, "votes"): lambda place: iter(((*place.value * MUCH,),)),
    (NoisyMax, "candidates"): _more,
    (NoisyMax, "neighbours"): _instead("monotone", "all"),
    (NoisyMax, "report"): _instead("index", "value"),
    (NoisyMax, "bounds"): _wider,
    (AboveThreshold, "queries"): _more,
    (AboveThreshold, "positives"): _more,
    (AboveThreshold, "whole_answers"): _instead(True, False),
    (Stream, "whole_answers"): _instead(True, False),
    (AboveThreshold, "threshold_noise"): _to(None),
    (AboveThreshold, "query_noise"): _to(None),
    (AboveThreshold, "report"): _instead("answers", "answers+value"),
    (AboveThreshold, "resample"): _instead(False, True),
    (AboveThreshold, "neighbours"): _instead("increasing", "all"),
    (AboveThreshold, "bounds"): _wider,
    (CorrelatedNoise, "sigma"): _less,
    (CorrelatedNoise, "strategy"): _instead("binary_tree", "prefix_sums"),
    (CorrelatedNoise, "steps"): _more,
    (CorrelatedNoise, "matrix"): _rows,
    (CorrelatedNoise, "coefficients"): lambda place: iter((tuple(each * MUCH for each in place.value),) if place.value else ()),
    (CorrelatedNoise, "times"): _more,
    (CorrelatedNoise, "separation"): _to(ONE),
    (CorrelatedNoise, "order"): _instead("fixed", "any"),
    (CorrelatedNoise, "rate"): lambda place: iter((ONE,) if place.value is not None else ()),
    (Named, "value"): _counter,
    (Guard, "left"): lambda place: iter((substitute(place.value, {"q": mul(FIFTY, Sym("q"))}),) if "q" in symbols(place.value) else ()),
    (Branch, "tell"): _told,
    (Branch, "count"): lambda place: iter(((),) if place.value else ()),
    (Stream, "queries"): _more,
    (Stream, "hull"): _rows,
    (Stream, "between"): _wider,
    (Claim, "epsilon"): _claimed,
    (Claim, "delta"): lambda place: iter((div(place.value, FIFTY),) if isinstance(place.value, Expr) and place.value != ZERO else ()),
    (Claim, "sensitivity"): _more,
    (Claim, "order"): _one_order,
    (Claim, "within"): _less,
    (Claim, "beta"): _less,
    (Claim, "distance"): _instead("linf", "l1"),
    (Claim, "loss"): _rows,
}  # fmt: skip
"""What makes each field worse. A function that gives nothing has no way to make it worse in that place."""


# -- what changes nothing ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neutral:
    """Why a field costs nothing. where: the places that are meant; everywhere where it is left out."""

    model: type
    field: str
    why: str
    where: Callable[[Place], bool] = lambda place: True


def _asks(claim: Claim, measure: str) -> bool:
    return claim.measure is not None and claim.measure.name == measure


def _near(claim: Claim) -> bool:
    return _asks(claim, NEARNESS)


def sampled(mechanism: Any) -> bool:
    """Whether each record is in a sample by itself."""
    return isinstance(mechanism, Subsample) and mechanism.scheme == "poisson"


def all_sampled(mechanism: Any) -> bool:
    """Whether every part of it sees a sample alone."""
    if isinstance(mechanism, Repeat):
        return all_sampled(mechanism.part.mechanism)
    if isinstance(mechanism, (Compose, Parallel)):
        return all(all_sampled(part.mechanism) for part in mechanism.parts)
    return sampled(mechanism)


def hidden(place: Place) -> bool:
    """Whether it is inside of a sample, in the order in which the first data lack the record: they may give whatever the second give.

    The second data lack it too with probability 1 - rate, so that no loss is above -log(1 - rate), whatever is told of a record.
    """
    return place.claim.order == REVERSE and any(sampled(node) for node, _, _ in place.above)


def _queried(place: Place) -> bool:
    """Whether the nearest claim or part above states a query."""
    return any(isinstance(node, Part | Claim) and node.query is not None for node, _, _ in place.above)


def _in_its_norm(place: Place) -> bool:
    return not isinstance(place.owner, Product) and not _queried(place)


def _product_asked(place: Place) -> bool:
    return isinstance(place.owner, Product) and _queried(place)


def _on_the_line(place: Place) -> bool:
    return getattr(place.owner, "dimension", ONE) == ONE


def _finite_inside(place: Place) -> bool:
    """Whether what is below has inputs that are all neighbours, or two."""
    return any(isinstance(part.mechanism, model.Finite) for part in model.all_parts(place.node))


def _told_by_few(place: Place) -> bool:
    """Whether so few queries are asked that each noise hides its own answer at less than what a threshold costs."""
    return any(
        isinstance(node, AboveThreshold) and node.queries == num(3) for node in (place.node, *(above for above, _, _ in place.above))
    )


def _of_a_threshold_for_few(place: Place) -> bool:
    return _told_by_few(place) and place.above[-1][1] == "threshold_noise"


def _ends(mechanism: Any) -> bool:
    """Whether a noise has an end, so that some answers have no density on the other data."""
    return isinstance(mechanism, Translation) and mechanism.support != (None, None)


def _no_limit(place: Place) -> bool:
    return place.above[-1][1] != "limits"


def _either_way(place: Place) -> bool:
    return place.node.measure in ("gdp", "bounded_range")


def _of_a_matrix(place: Place) -> bool:
    return bool(place.node.matrix)


def _of_alike_columns(place: Place) -> bool:
    return bool(place.node.coefficients) and place.node.rate is None


def _on_points(place: Place) -> bool:
    return isinstance(place.claim.mechanism, Space | Table)


DATA: Final = "It says what is below it, of which every field is changed."
NAMES: Final = "It is a name, for people."
ERRORS: Final = "It is about errors, and not about privacy."
NEUTRAL: Final = (
    Neutral(Norm, "kind", "Another kind of norm is another noise; `p` and `matrix` say how long a difference is in it."),
    Neutral(Norm, "p", "Noise and sensitivity are in one norm.", _in_its_norm),
    Neutral(Norm, "p", "On the line all norms are one.", _on_the_line),
    Neutral(Norm, "p", "The sensitivity of a query is in the norm of the noise.", _product_asked),
    Neutral(Norm, "p", "How near answers are has its own distance.", lambda place: _near(place.claim)),
    Neutral(Norm, "matrix", "Noise and sensitivity are in one norm.", lambda place: not _queried(place)),
    Neutral(Radial, "norm", DATA),
    Neutral(Table, "rows", "A row that tells more is nearer to the truth.", lambda place: _near(place.claim)),
    Neutral(Radial, "dimension", "In more dimensions the noise along the difference of two answers is another, not less."),
    Neutral(Norm, "p", "A part beside it costs more still.", lambda place: place.inside(Parallel)),
    Neutral(Translation, "density", "A map that brings integers together moves none.", lambda place: place.inside(Lipschitz)),
    Neutral(Translation, "integers", "Noise with the same density on the line is another noise, neither better nor worse."),
    Neutral(Product, "norm", DATA),
    Neutral(Product, "dimension", "In l1 and l2 a difference is the worst in one coordinate alone, or in as many as there are alike."),
    Neutral(Kernel, "output", "The density is normalised on it: on another interval it is none."),
    Neutral(Exponential, "points", "It says what the scores are made of, for people."),
    Neutral(Exponential, "metric", NAMES),
    Neutral(Mixture, "norm", DATA),
    Neutral(Mixture, "support", "It is a part of the law of the scale, of which `mixing` is changed."),
    Neutral(Mixture, "dimension", "As of a radial noise."),
    Neutral(Staircase, "gamma", "Where the staircase steps moves no greatest loss; beside it other losses become less or more likely."),
    Neutral(EllipticalProcess, "support", "It is a part of the law of the scale, of which `mixing` is changed."),
    Neutral(EllipticalProcess, "covariance", "Another covariance is another noise, neither better nor worse; `shape` has its size."),
    Neutral(Guarantee, "order", "The trade-off, or the range of the loss, of one order is that of the other.", _either_way),
    Neutral(Filter, "order", "A budget is of both orders."),
    Neutral(Shape, "kind", "Another space is another question."),
    Neutral(Shape, "norm", "It is the distance of the space in which answers are to be near: another question."),
    Neutral(Shape, "numbers", "The bound is by noise that has no end, in a box however long.", lambda place: place.node.kind == "box"),
    Neutral(Shape, "parts", DATA),
    Neutral(Shape, "matrix", "Answers that are fifty times as far apart are easier to tell apart, and databases are too."),
    Neutral(Space, "shape", DATA),
    Neutral(Space, "lipschitz", "What databases are like is listed.", lambda place: place.node.databases == "listed"),
    Neutral(Space, "databases", "Another set of databases is another question; what `diameter` and `lipschitz` say of it is changed."),
    Neutral(Space, "diameter", "All databases of a space of points are near already.", lambda place: place.node.shape.kind == "points"),
    Neutral(Space, "distances", "Databases that are further apart may be answered more differently: the claim is better."),
    Neutral(Space, "truth", "Other answers are another question."),
    Neutral(Space, "table", "A table that is given is held by its own claim, at what it says."),
    Neutral(Space, "rate", "More of it is nearer and less private, and the claim is of both."),
    Neutral(Measure, "name", "What is asked for is another thing: no bound is compared with it."),
    Neutral(Part, "mechanism", DATA),
    Neutral(Part, "query", DATA),
    Neutral(Part, "sums", DATA),
    Neutral(Sum, "parts", DATA),
    Neutral(Summand, "noise", DATA),
    Neutral(Exponential, "weights", "A weight is the same on all data."),
    Neutral(NoisyMax, "added", "Answers are any, and so are answers to which numbers are added."),
    Neutral(Claim, "sums", DATA),
    Neutral(RecordSums, "terms", DATA),
    Neutral(RecordSums, "record", DATA),
    Neutral(RecordSums, "adjacency", "Of a sum between 0 and 1 it is one whether somebody comes or is replaced."),
    Neutral(RecordSummand, "where", "Where all records count, so do those that add the most."),
    Neutral(Subsample, "part", DATA),
    Neutral(Subsample, "scheme", "The two schemes are for other neighbours."),
    Neutral(BestOf, "part", DATA),
    Neutral(BestOf, "law", "Another law is another mechanism; how many runs there are is in its numbers."),
    Neutral(Group, "part", DATA),
    Neutral(Repeat, "part", DATA),
    Neutral(Group, "size", "All inputs are neighbours already, or there are two.", _finite_inside),
    Neutral(PostProcess, "part", DATA),
    Neutral(PostProcess, "map", NAMES),
    Neutral(PostProcess, "matrix", "Whatever the map is, it does not look at the data."),
    Neutral(Lipschitz, "part", DATA),
    Neutral(Lipschitz, "constant", "All inputs are neighbours already, or there are two.", _finite_inside),
    Neutral(Shuffle, "part", DATA),
    Neutral(NoisyKeys, "noise", DATA),
    Neutral(NoisyKeys, "report", "Bounds are those of counts, and of one key they are as sharp."),
    Neutral(SmoothSensitivity, "noise", DATA),
    Neutral(NoisyMax, "noise", DATA),
    Neutral(NoisyMax, "ties", "What is proved where none is said holds for both ways to decide them, of which neither is the worse."),
    Neutral(NoisyMax, "report", "A part beside it that is run more often costs more still.", lambda place: place.inside(Parallel)),
    Neutral(NoisyMax, "candidates", "The bound holds for any number of candidates.", lambda place: place.node.bounds is None),
    Neutral(AboveThreshold, "queries", "The bound holds for any number of queries.", lambda place: not _told_by_few(place)),
    Neutral(AboveThreshold, "threshold", "It is public, and moves with all answers."),
    Neutral(AboveThreshold, "fresh", DATA),
    Neutral(AboveThreshold, "resample", "The first positive is the last.", lambda place: place.node.positives == ONE),
    *(
        Neutral(AboveThreshold, field, "So few queries are asked that each noise hides its own answer.", _told_by_few)
        for field in ("positives", "report", "threshold_noise", "resample")
    ),
    *(
        Neutral(Radial, field, "So few queries are asked that the noise of the threshold hides nothing.", _of_a_threshold_for_few)
        for field in ("profile", "scale")
    ),
    Neutral(Named, "name", NAMES),
    Neutral(Named, "value", "It is a first value of the state, or what a counter grows by.", _no_limit),
    Neutral(Drawn, "name", NAMES),
    Neutral(Drawn, "noise", DATA),
    Neutral(Guard, "strict", "Noise with a density is seldom equal to anything."),
    Neutral(Branch, "when", DATA),
    Neutral(Branch, "emit", "The words of two branches tell them apart, whatever they are."),
    Neutral(Branch, "change", DATA),
    Neutral(Branch, "count", DATA, lambda place: not place.value),
    Neutral(CorrelatedNoise, "steps", "It says how many columns the matrix has.", _of_a_matrix),
    Neutral(CorrelatedNoise, "steps", "Columns are alike, and a user comes as seldom.", _of_alike_columns),
    Neutral(CorrelatedNoise, "times", "No more steps are so far apart.", _of_a_matrix),
    Neutral(CorrelatedNoise, "separation", "Epochs of another length are others.", lambda place: place.node.order == "fixed"),
    *(
        Neutral(CorrelatedNoise, field, "With samples it is drawn who comes when.", lambda place: place.node.rate is not None)
        for field in ("times", "order")
    ),
    Neutral(Stream, "answers", NAMES),
    Neutral(Stream, "once", DATA),
    Neutral(Stream, "fresh", DATA),
    Neutral(Stream, "state", DATA),
    Neutral(Stream, "limits", DATA),
    Neutral(Stream, "steps", DATA),
    Neutral(Stream, "queries", "The bound holds for any number of queries."),
    Neutral(Stream, "between", "The bound holds for answers anywhere."),
    Neutral(Stream, "neighbours", "Answers that move each on its own move in every way."),
    Neutral(Claim, "mechanism", DATA),
    Neutral(Claim, "query", DATA),
    Neutral(Claim, "domains", DATA),
    Neutral(Claim, "measure", DATA),
    Neutral(Claim, "mechanism_name", NAMES),
    Neutral(Claim, "name", NAMES),
    Neutral(Claim, "adjacency", "As that of a part, where every one is changed."),
    Neutral(Claim, "order", "The trade-off of the two orders is one.", lambda place: _asks(place.claim, "gdp")),
    Neutral(Claim, "order", "What is known of one order alone need not be the best.", lambda place: place.claim.delta != ZERO),
    Neutral(Claim, "utility", ERRORS),
    Neutral(Claim, "prior", ERRORS),
    Neutral(Claim, "loss", "Outputs that cost anything are already further than 0.", lambda place: place.claim.within == ZERO),
    Neutral(Claim, "epsilon", "Where the other law has no density, no epsilon is enough.", lambda place: _ends(place.claim.mechanism)),
    Neutral(Claim, "within", "No other point of the space, or no other output, is so near.", _on_points),
)  # fmt: skip
"""The fields that cost nothing, everywhere or in some places, with why."""


def neutral(place: Place) -> str | None:
    """Why a change here costs nothing; None where it must cost something."""
    if hidden(place):
        return "It is in a sample, and nothing that is told of a record that is not there costs more than that it may be there."
    lines = (line for line in NEUTRAL if (line.model, line.field) == (type(place.node), place.field))
    return next((line.why for line in lines if line.where(place)), None)


def classes() -> list[type]:
    """The classes of the model."""
    return [each for _, each in inspect.getmembers(model, inspect.isclass) if _is_node_class(each)]


def _is_node_class(each: type) -> bool:
    return is_dataclass(each) and each.__module__ == model.__name__


def forgotten() -> list[str]:
    """What is to be written for each field of the model that the tables say nothing of."""
    said = {*CHANGES, *((line.model, line.field) for line in NEUTRAL)}
    return [
        f"{each.__name__}.{field.name} is a field of which no test says that it counts. Write in tests/worse.py a line of CHANGES, what "
        f"makes it much worse, or one of NEUTRAL, why it costs nothing; and in tests/generated.py a claim that states it."
        for each in classes()
        for field in fields(each)
        if (each, field.name) not in said
    ]


def changes(claim: Claim) -> Iterator[tuple[Place, Any]]:
    """Every field of a claim with each value that makes it worse."""
    for place in places(claim):
        change = CHANGES.get((type(place.node), place.field))
        for value in () if change is None else change(place):
            yield place, value


STEPPED: Final = ("times", "size", "constant", "sensitivity")
"""Numbers that are made greater by a whole step: records and answers on the integers know no less."""


def a_little_more(claim: Claim) -> Iterator[tuple[Place, Expr]]:
    """How often, how far and how likely, each a little more: so little that a certificate of the old claim may still be accepted.

    Not in parallel, where the part that costs the most may be another; nor steps where a map shrinks distances, nor such a map, for less
    than a step costs a whole one; nor rates in the reverse order, where a sample has at most -log(1 - rate), and what is proved may be
    more.
    """
    shrunk = any(isinstance(node, Lipschitz) for node in (claim.mechanism, *(part.mechanism for part in model.all_parts(claim.mechanism))))
    for place in places(claim):
        value = place.value.value if isinstance(place.value, Num) else Fraction(0)
        more = value + 1 if place.field in STEPPED else value * Fraction(11, 10)
        wanted = place.field in STEPPED or (place.field == "rate" and more <= 1)
        part_of_a_step = place.field == "constant" and value.denominator != 1
        free = part_of_a_step or (shrunk and place.field in ("sensitivity", "size")) or (claim.order == REVERSE and place.field == "rate")
        if value > 0 and wanted and neutral(place) is None and not place.inside(Parallel) and not free:
            yield place, num(more)

"""What a claim is made of: norm, noise, adjacency, guarantee. Frozen data without algorithms.

A claim reads: this mechanism, on inputs whose answers differ by at most this sensitivity, is
(epsilon, delta)-differentially private. Every number is an exact expression; epsilon is in nats.
Its canonical form is in `canonical_form`; what its statements must be to fit together in `fitting`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final, get_args

from dpverify.trusted.kernel.expr import Expr, Num

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """The values an all-parameter claim ranges over: an interval of reals or of integers."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    lower_open: bool = True
    upper_open: bool = True
    integer: bool = False

    def holds(self, x: Fraction) -> bool:
        """Whether a rational lies in it: the one place that says so."""
        above = self.lower is None or x > self.lower or (x == self.lower and not self.lower_open)
        below = self.upper is None or x < self.upper or (x == self.upper and not self.upper_open)
        return above and below and not (self.integer and x.denominator != 1)


@dataclass(frozen=True, slots=True)
class Norm:
    """A norm on R^d.

    kind: "lp" (p >= 1, None for the maximum norm), "ellipsoid" (matrix Sigma, ||x||^2 = x' Sigma^-1 x),
    "columns" (unit ball = hull of + and - each row of matrix) or "facets" (|<a, x>| <= 1 for each row a).
    """

    kind: str
    p: Fraction | None = None
    matrix: Matrix = ()


L1: Final = Norm("lp", Fraction(1))
L2: Final = Norm("lp", Fraction(2))
LINF: Final = Norm("lp", None)


@dataclass(frozen=True, slots=True)
class Radial:
    """Noise of density proportional to profile(||y - q(x)|| / scale), profile an expression in r >= 0 (theory#two-argument-modulus)."""

    profile: Expr
    norm: Norm
    dimension: Expr
    scale: Expr = Num(Fraction(1))


@dataclass(frozen=True, slots=True)
class Translation:
    """One-dimensional noise of density proportional to density(y - q(x)), an expression in z (theory#translation-on-the-line).

    support: ends of the interval where the density lives, None for an infinite end.
    integers: the noise lives on the integers, and hides answers that differ by integers alone (theory#cosets).
    """

    density: Expr
    support: tuple[Expr | None, Expr | None] = (None, None)
    integers: bool = False


@dataclass(frozen=True, slots=True)
class Summand:
    """So many independent noises of one law."""

    noise: OnLine
    times: Expr = Num(Fraction(1))


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of independent noises on one number: of all of them, and of all but `dropouts` or fewer, whichever these are (theory#sums).

    The claim is one about each of these sums. Which noises are left out is as public as what else is known, and the data have no say in it.
    """

    parts: tuple[Summand, ...]
    dropouts: Expr = Num(Fraction(0))


@dataclass(frozen=True, slots=True)
class Product:
    """Independent noise, one density in z for every coordinate; sensitivity in `norm` (theory#product-noise)."""

    density: Expr
    dimension: Expr
    norm: Norm = L1


@dataclass(frozen=True, slots=True)
class Table:
    """Finite inputs and outputs: rows[x][y] is the probability of y on x (theory#finite-table). adjacent: index pairs, None for all."""

    rows: tuple[tuple[Expr, ...], ...]
    adjacent: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A density in y and theta with its normaliser written out; output and input are intervals (theory#kernel)."""

    density: Expr
    output: tuple[Expr | None, Expr | None]
    input: tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Exponential:
    """Probabilities proportional to weight * exp(beta * score), a row of scores per input (theory#exponential-general).

    points and metric: the scores are minus the distances between points, kept to tell what was declared. weights: positive numbers, one
    for each output, the same for all inputs; empty where all are 1.
    """

    scores: tuple[tuple[Expr, ...], ...]
    beta: Expr
    adjacent: tuple[tuple[int, int], ...] | None = None
    points: tuple[tuple[Expr, ...], ...] = ()
    metric: str = ""
    weights: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Mixture:
    """Noise of density proportional to profile(., v), v drawn from the density `mixing` on (lower, upper) (theory#scale-family).

    The normaliser of the profile must not depend on v.
    """

    profile: Expr
    mixing: Expr
    support: tuple[Expr, Expr | None]
    norm: Norm
    dimension: Expr
    scale: Expr = Num(Fraction(1))


@dataclass(frozen=True, slots=True)
class KaryResponse:
    """k-ary randomized response for every k at once: truth with probability p, else one of the k - 1 others (theory#kary-response)."""

    k: Expr
    p: Expr


@dataclass(frozen=True, slots=True)
class Staircase:
    """Geng and Viswanath's staircase noise of sensitivity 1, with its two parameters possibly symbolic."""

    epsilon: Expr
    gamma: Expr


@dataclass(frozen=True, slots=True)
class EllipticalProcess:
    """Noise scale * sqrt(V) N on functions, N a centred Gaussian process of infinite rank; sensitivity in its Cameron-Martin norm (RA).

    mixing: the density of V, an expression in v on `support`, up to a constant factor.
    atoms: (value, probability) of each value of V, where there are finitely many; `mixing` is then not looked at.
    transform: the moment generating function of V alone, an expression in u, where no more is known; `mixing` is then not looked at.
    covariance: the name of the covariance of N, one of `COVARIANCES`; empty where it is not declared. shape: for "eigenvalues" lambda_k
    in k = 1, 2, ..., for "kernel" K(s, t) in s and t, else the variance and the length. interval: where the functions live.
    places: where the function is evaluated, and count: how many coefficients of the sequence, or equal steps of the interval; neither
    where all of it is released. differences: what answers of neighbours differ by, functions of t or coefficients in k.
    """

    mixing: Expr
    support: tuple[Expr, Expr | None] = (Num(Fraction(0)), None)
    scale: Expr = Num(Fraction(1))
    atoms: tuple[tuple[Expr, ...], ...] = ()
    transform: tuple[Expr, ...] = ()
    covariance: str = ""
    shape: tuple[Expr, ...] = ()
    interval: tuple[Expr, ...] = ()
    places: tuple[Expr, ...] = ()
    count: Expr | None = None
    differences: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A mechanism of which no more is known than a guarantee, for every two neighbours.

    measure "approximate": rows (epsilon, delta), all of which hold. "renyi": rows (order, divergence). "zcdp": one row (rho).
    "gdp": one row (mu). "bounded_range": one row (eta). order: empty for both orders, else the one that it holds for, as in a claim.
    """

    measure: str
    rows: tuple[tuple[Expr, ...], ...]
    order: str = ""


@dataclass(frozen=True, slots=True)
class Filter(Guarantee):
    """Parts chosen at will, each after seeing the outputs before, and none begun that might exceed a budget (theory#privacy-filter).

    measure, rows: the budget, one row, in a measure in which the sum of what parts have is what all of them have, so that all have it.
    """


@dataclass(frozen=True, slots=True)
class Shape:
    """A metric space of answers, with or without its ends: answers lie in its completion. What each kind's numbers are: parts/shapes.

    norm: of the distance; of a product how the distances of its parts come together. matrix: distances of points, corners of a hull.
    """

    kind: str
    numbers: tuple[Expr, ...] = ()
    norm: Norm = L2
    matrix: Matrix = ()
    parts: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Space:
    """Any mechanism that answers with points of a metric space: what is declared of answers and databases (theory#metric-spaces).

    lipschitz: the answers of databases at a distance t are at most lipschitz * t apart. databases: "bounded" (at most `diameter` apart),
    "unbounded" (nothing is known), "answers" (one for each answer, the distance that of answers over lipschitz) or "listed": a matrix of
    their distances, and the number of the answer of each. table, rate: of finitely many points one mechanism alone, its probabilities, a
    row for each database, or proportional to exp(-rate * distance to the true answer).
    """

    shape: Shape
    lipschitz: Expr = Num(Fraction(1))
    databases: str = "unbounded"
    diameter: Expr | None = None
    distances: Matrix = ()
    truth: tuple[int, ...] = ()
    table: Matrix = ()
    rate: Expr | None = None


@dataclass(frozen=True, slots=True)
class Sampled:
    """No declaration at all: only a sampled implementation, for the audit."""


ADJACENCIES: Final = ("add-remove", "replace", "l1", "l2")


@dataclass(frozen=True, slots=True)
class Query:
    """Linear queries on a histogram, one a row, with the adjacency that the sensitivity follows from.

    Source: theory#sensitivity-of-a-linear-query.
    """

    rows: Matrix
    adjacency: str


@dataclass(frozen=True, slots=True)
class RecordSummand:
    """A number that each record adds where all of one of the lists of comparisons in `where` hold; an empty list holds of all records.

    also: what it adds to the same number besides, each where its own comparisons hold.
    """

    value: Expr
    where: tuple[tuple[Guard, ...], ...] = ((),)
    also: tuple[RecordSummand, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordSums:
    """An answer whose numbers are sums over records (theory#sums-over-records).

    record: the fields of a record, which the expressions are in, each with its values. rows: how many records a person has at most.
    adjacency: whether neighbours add or remove a person, or replace one.
    """

    terms: tuple[RecordSummand, ...]
    record: tuple[tuple[str, Domain], ...]
    adjacency: str
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Measure:
    """What a claim states in place of epsilon: rho of "zcdp", mu of "gdp", or the "renyi" divergence of order `at`, above 1.

    Or "beta", the probability of answers that are further from the truth than the claim's `within`. value: None for "tight".
    """

    name: str
    value: Expr | None
    at: Fraction | None = None


CLAIMED_MEASURES: Final = ("zcdp", "gdp", "renyi")
"""The measures of privacy that a claim may be in."""
NEARNESS: Final = "beta"
"""What a claim is in that is about how near answers are, and not about privacy."""
ONE_SIDED: Final = "one-sided"
"""The order of neighbours in which the first has a record that the second has not."""
REVERSE: Final = "reverse"
"""The other order: the second has a record that the first has not."""
ORDERS: Final = (ONE_SIDED, REVERSE)


@dataclass(frozen=True, slots=True)
class Part:
    """A mechanism inside a combinator, with what its answer moves by between neighbours.

    sensitivity: as in a claim, None where a query or sums give it or the kind needs none. adjacency: as stated, empty where it is not.
    """

    mechanism: Mechanism
    sensitivity: Expr | None = None
    query: Query | None = None
    adjacency: str = ""
    sums: RecordSums | None = None


@dataclass(frozen=True, slots=True)
class Compose:
    """All parts on the same data, each chosen after seeing the answers of those before (theory#dominating-pairs)."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part that is run `times` times on the same data. A node of its own, so that no rule about the part can overlook the count.

    Files and certificates write it as the part that it repeats, with "times" (`repeated`).
    """

    part: Part
    times: Expr


@dataclass(frozen=True, slots=True)
class Subsample:
    """A part on a random sample of the records (theory#poisson-subsampling).

    scheme "poisson": each record is kept independently with probability `rate`; neighbours by adding or removing a record.
    scheme "without_replacement": a sample of the fixed fraction `rate` of the records; neighbours by replacing a record.
    """

    part: Part
    rate: Expr
    scheme: str = "poisson"


@dataclass(frozen=True, slots=True)
class Group:
    """A part for neighbours that differ in `size` records (theory#group-privacy)."""

    part: Part
    size: Expr


@dataclass(frozen=True, slots=True)
class PostProcess:
    """A map of a part's output that does not look at the data again; `map` names it for people (theory#post-processing).

    matrix: where the map is linear, its rows over all numbers that the part puts out, in their order; empty for another map.
    """

    part: Part
    map: str = ""
    matrix: Matrix = ()


@dataclass(frozen=True, slots=True)
class Parallel:
    """Parts on disjoint parts of the data (theory#parallel-composition)."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """What a part tells of each of so many people, in no order. Neighbours replace the record of one of them (theory#shuffling).

    part: a local mechanism, whose input is one record. Its neighbours are other ones than those of the whole, so that it is no combinator.
    """

    part: Part
    people: Expr


@dataclass(frozen=True, slots=True)
class Lipschitz:
    """A part after a map of the data that moves neighbours apart by at most `constant` (theory#lipschitz-maps)."""

    part: Part
    constant: Expr


@dataclass(frozen=True, slots=True)
class BestOf:
    """The best output of a random number of runs of a part, in a fixed order of its outputs; nothing where there is none (theory#best-of).

    law: one of `RUNS`, which the data have no say in, with its numbers. The negative binomial law is that of at least one run.
    """

    part: Part
    law: str
    numbers: tuple[Expr, ...]


Answering = Radial | Translation | Product | Mixture | Sum
"""Additive noise in a norm, which answers queries."""
OnLine = Answering | Staircase
"""Noise that may be added to one number."""
Noise = Answering | Staircase | EllipticalProcess
"""Additive noise: what neighbours are follows from how far the answer moves."""


@dataclass(frozen=True, slots=True)
class NoisyMax:
    """The greatest of `candidates` answers with independent noises of one law (theory#selection).

    report: what is told of it. neighbours: how the answers move together. bounds: the interval that the answers of all data lie in.
    ties: which of several that are the greatest is told, the one of least index or one at random; empty where that is not said. hull: as of
    streams. added: public numbers, one for each answer, that are added to it; empty for none.
    """

    noise: OnLine
    candidates: Expr
    neighbours: str = "all"
    report: str = "index"
    bounds: tuple[Expr, Expr] | None = None
    ties: str = ""
    hull: Matrix = ()
    added: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class AboveThreshold:
    """Which of at most `queries` answers with noise are at least a noisy threshold, until `positives` of them are (theory#selection).

    threshold_noise, query_noise: None for an exact threshold, or exact answers. positives: None for no limit. resample: whether the noise
    of the threshold is drawn again after each positive. report: what is told of a positive beside that it is one; "fresh" the answer with
    the noise `fresh`. neighbours, bounds: as of noisy max. whole_answers: that all answers are integers, where their noises do not say it.
    """

    queries: Expr
    threshold_noise: OnLine | None = None
    query_noise: OnLine | None = None
    threshold: Expr = Num(Fraction(0))
    positives: Expr | None = Num(Fraction(1))
    report: str = "answers"
    fresh: OnLine | None = None
    resample: bool = False
    neighbours: str = "all"
    bounds: tuple[Expr, Expr] | None = None
    whole_answers: bool = False


@dataclass(frozen=True, slots=True)
class NoisyKeys:
    """Counts by key with noise, each told where it is at least `threshold`, but for keys that no record has (theory#noisy-keys).

    Neighbours differ by one record, which has at most `keys` keys and adds at most the sensitivity to the count of each. report: "counts",
    or "keys" where no more is told than which keys there are.
    """

    noise: OnLine
    threshold: Expr
    keys: Expr = Num(Fraction(1))
    report: str = "counts"


@dataclass(frozen=True, slots=True)
class SmoothSensitivity:
    """An answer with noise whose scale depends on the data: q(x) + S(x) Z, Z the noise (theory#smooth-sensitivity).

    Answers of neighbours differ by at most the sensitivity times the smaller of their scales, log S(x) by at most `scale_bound`.
    """

    noise: OnLine
    scale_bound: Expr


@dataclass(frozen=True, slots=True)
class CorrelatedNoise:
    """C x + sigma N(0, I), x a vector for each of `steps` steps, C the strategy (theory#correlated-gaussians).

    Neighbours: a user's contributions, vectors of l2 norm at most the sensitivity at some steps, are in the one and 0 in the other. The
    steps are at most `times`, and at least `separation` apart; order "fixed": by exactly that much, as in epochs that are alike, or "any".
    strategy: "matrix", with its rows; "toeplitz", lower triangular with `coefficients`, its first column down to the last that is not 0;
    "prefix_sums", all ones; "binary_tree", the sums over [m 2^l, (m + 1) 2^l) within the steps. rate: instead of how often users do, that
    step i takes each record of group i mod b with this probability, b the separation, or the bands of C where they are more; a record is
    in one group.
    """

    sigma: Expr
    strategy: str
    steps: Expr
    matrix: Matrix = ()
    coefficients: Vector = ()
    times: Expr = Num(Fraction(1))
    separation: Expr = Num(Fraction(1))
    order: str = "any"
    rate: Expr | None = None


@dataclass(frozen=True, slots=True)
class NoisyVotes:
    """Who has the most votes with Gaussian noise, in each of some lists of votes, on the one database that has these (theory#noisy-votes).

    votes: a list for each answer, of how many votes each candidate has. Neighbours of that database, and of no other: one voter has
    cast other votes, one in each list.
    """

    sigma: Expr
    votes: Matrix


@dataclass(frozen=True, slots=True)
class Named:
    """A name and the expression that it stands for."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Drawn:
    """A noise and the name that what is drawn of it has."""

    name: str
    noise: OnLine


@dataclass(frozen=True, slots=True)
class Guard:
    """The comparison left >= 0, or left > 0 where it is strict."""

    left: Expr
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """What is done in a step in which all of `when` hold, and not all those of an earlier branch.

    emit: the word that is told, empty for none. tell: numbers that are told. change: new values of the state. count: what counters grow by.
    """

    when: tuple[Guard, ...] = ()
    emit: str = ""
    tell: tuple[Expr, ...] = ()
    change: tuple[Named, ...] = ()
    count: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """Answers that come one after the other, compared with noise and told as a list of branches says (theory#streams).

    answers: the names of the numbers that each step reads. once, fresh: noises that are drawn at the start, and in each step. state:
    numbers that are kept, with their first values. limits: counters, which start at 0; the run ends when one of them is at least its limit.
    queries: the most steps; None for no limit. steps: the branches, in order. neighbours: how the answers move together; hull: for "hull"
    the points, in units of the sensitivity, of whose hull the differences of the answers of each step are, or all their opposites are.
    between: the interval that the answers of all data lie in. whole_answers: as of above threshold.
    """

    answers: tuple[str, ...]
    once: tuple[Drawn, ...]
    fresh: tuple[Drawn, ...]
    state: tuple[Named, ...]
    limits: tuple[Named, ...]
    steps: tuple[Branch, ...]
    queries: Expr | None = None
    neighbours: str = "all"
    hull: Matrix = ()
    between: tuple[Expr, Expr] | None = None
    whole_answers: bool = False

    @property
    def bounds(self) -> tuple[Expr, Expr] | None:
        """Where the answers of all data lie; None for anywhere."""
        return self.between


Compared = NoisyMax | AboveThreshold
"""Selections of one form."""
Selection = Compared | Stream
"""Comparisons of answers with noise: neighbours are answers that each move by at most the sensitivity."""
Finite = Table | Exponential | KaryResponse
"""Finitely many inputs and outputs."""
OfRecords = NoisyKeys | CorrelatedNoise | Shuffle | SmoothSensitivity | NoisyVotes
"""What speaks of records itself: neighbours differ by one record, or one user, and what that does is in its own numbers."""
Leaf = Noise | Finite | Kernel | Selection | OfRecords | Guarantee | Filter | Space | Sampled
Combinator = Compose | Repeat | Subsample | Group | PostProcess | Parallel | Lipschitz | BestOf
Mechanism = Leaf | Combinator


def kind_name(model: type) -> str:
    """The name of a kind in files and certificates: its class's, in small letters."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()


KINDS: Final[Mapping[str, type]] = {kind_name(model): model for model in get_args(Mechanism) if model is not Repeat}
"""Every kind of mechanism that files and certificates name."""

ONE_WAY: Final = ("increasing", "decreasing")
"""How the answers of the neighbours of a selection may move together, where the guarantee is for one order of the data alone."""
MEASURES: Final[Mapping[str, int]] = {"approximate": 2, "renyi": 2, "zcdp": 1, "gdp": 1, "bounded_range": 1}
"""The measures of privacy that a guarantee is in, with the numbers in each of its rows."""


def noises_of(mechanism: Mechanism) -> tuple[OnLine, ...]:
    """The noises that answers are compared with, or that a sum is of; none for another mechanism."""
    if isinstance(mechanism, Sum):
        return tuple(part.noise for part in mechanism.parts)
    if not isinstance(mechanism, Selection | NoisyKeys | SmoothSensitivity):
        return ()
    if isinstance(mechanism, Stream):
        return tuple(drawn.noise for drawn in mechanism.once + mechanism.fresh)
    held = (getattr(mechanism, field.name) for field in fields(mechanism))
    return tuple(noise for noise in held if isinstance(noise, OnLine))


def all_noises(mechanism: Mechanism) -> Iterator[OnLine]:
    """The noises of a mechanism, and those that they are sums of."""
    for noise in noises_of(mechanism):
        yield noise
        yield from all_noises(noise)


def kind_of(mechanism: Mechanism) -> str:
    """The name of a mechanism's kind."""
    return kind_name(type(mechanism))


def parts_of(mechanism: Mechanism) -> tuple[Part, ...]:
    """The parts of a combinator, and what is shuffled; none for another mechanism."""
    if isinstance(mechanism, Compose | Parallel):
        return mechanism.parts
    return (mechanism.part,) if isinstance(mechanism, Combinator | Shuffle) else ()


LEFT_OUT: Final = (
    "matrix", "coefficients", "order", "atoms", "transform", "covariance", "shape", "interval", "places", "count",
    "differences", "hull", "between", "whole_answers", "ties", "weights", "added", "also",
)  # fmt: skip
"""The fields of mechanisms, and of sums over records, that the canonical form leaves out where they are empty."""

VARIABLES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "radial": {"profile": ("r",)},
    "translation": {"density": ("z",)},
    "product": {"density": ("z",)},
    "kernel": {"density": ("y", "theta")},
    "mixture": {"profile": ("r", "v"), "mixing": ("v",)},
    "elliptical_process": {"mixing": ("v",), "transform": ("u",), "shape": ("k", "s", "t"), "differences": ("k", "t")},
    "space": {"shape": ("k", "r")},
}
"""The variables of each kind's expressions: bound by the kind, so no parameter may take their names."""


def names_of(stream: Stream) -> tuple[str, ...]:
    """All that a stream names: answers, noises, state and counters."""
    return (*stream.answers, *(one.name for one in stream.once + stream.fresh), *(each.name for each in stream.state + stream.limits))


def repeated(part: Part, times: Expr) -> Part:
    """A part that is run so many times: itself for once."""
    return part if times == Num(Fraction(1)) else Part(Repeat(part, times))


def once(part: Part) -> tuple[Part, Expr]:
    """A part as it is written, and how many times it is run: the inverse of `repeated`."""
    return (part.mechanism.part, part.mechanism.times) if isinstance(part.mechanism, Repeat) else (part, Num(Fraction(1)))


def all_parts(mechanism: Mechanism) -> Iterator[Part]:
    """Every part in a combinator, at every depth."""
    for part in parts_of(mechanism):
        yield part
        yield from all_parts(part.mechanism)


@dataclass(frozen=True, slots=True)
class Claim:
    """A mechanism and the guarantee claimed of it.

    sensitivity: in the mechanism's norm, before scale; None where a query or sums give it or the kind needs none.
    epsilon, delta: exact expressions, or None for "tight" (compute it).
    domains: the parameters that range over a domain; all other symbols have been given their values.
    adjacency: as stated beside a combinator, empty where it is not; a query has its own.
    utility: whether errors are asked for too. beta: the probability with which an error may be exceeded, where that is asked for.
    within: how near to the truth the answers of a space are to be, but with probability beta; of another mechanism, beside the measure
    "beta". distance: of additive noise, in which that is meant; empty for the norm of the noise, or of its sensitivity.
    loss: of a finite mechanism, what each output costs on each input, a row for each input. prior: weights of the inputs, for the mean
    cost; empty for the cost on the worst input.
    measure: what is claimed in place of epsilon and delta, which are then None and 0. order: empty for both orders of two neighbours.
    """

    mechanism: Mechanism
    epsilon: Expr | None
    delta: Expr | None = Num(Fraction(0))
    sensitivity: Expr | None = None
    query: Query | None = None
    domains: tuple[tuple[str, Domain], ...] = ()
    mechanism_name: str = ""
    name: str = ""
    adjacency: str = ""
    utility: bool = False
    beta: Expr | None = None
    loss: Matrix = ()
    prior: Vector = ()
    measure: Measure | None = None
    order: str = ""
    within: Expr | None = None
    distance: str = ""
    sums: RecordSums | None = None


def sums_of(claim: Claim) -> tuple[RecordSums, ...]:
    """The sums over records of a claim and of its parts, in their order."""
    everything: tuple[Claim | Part, ...] = (claim, *all_parts(claim.mechanism))
    return tuple(held.sums for held in everything if held.sums is not None)


def on_integers(noise: Mechanism) -> bool:
    """Whether noise on the integers is added or compared: all answers are then integers, which `well_formed` sees to."""
    return (isinstance(noise, Translation) and noise.integers) or any(map(on_integers, noises_of(noise)))

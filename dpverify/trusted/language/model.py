"""What a claim is made of: norm, noise, adjacency, guarantee. Frozen data without algorithms.

A claim reads: this mechanism, on inputs whose answers differ by at most this sensitivity, is
(epsilon, delta)-differentially private. Every number is an exact expression; epsilon is in nats.
A claim has one canonical JSON form; its hash binds a certificate to it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, partial
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from dpverify.trusted.language.errors import CertificateError, ExprError
from dpverify.trusted.language.expr import Expr, Num, format_expr, parse

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
TIGHT: Final = "tight"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement comes from: a text of the field and the place in it."""

    text: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.text}, {self.place}" if self.place else self.text


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
    """Probabilities proportional to exp(beta * score), a row of scores per input (theory#exponential-general).

    points and metric: the scores are minus the distances between points, kept to tell what was declared.
    """

    scores: tuple[tuple[Expr, ...], ...]
    beta: Expr
    adjacent: tuple[tuple[int, int], ...] | None = None
    points: tuple[tuple[Expr, ...], ...] = ()
    metric: str = ""


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


@dataclass(frozen=True, slots=True)
class Query:
    """Linear queries on a histogram, one a row, with the adjacency that the sensitivity follows from.

    Source: theory#sensitivity-of-a-linear-query.
    """

    rows: Matrix
    adjacency: str


@dataclass(frozen=True, slots=True)
class Measure:
    """What a claim states in place of epsilon: rho of "zcdp", mu of "gdp", or the "renyi" divergence of order `at`, above 1.

    value: None for "tight".
    """

    name: str
    value: Expr | None
    at: Fraction | None = None


CLAIMED_MEASURES: Final = ("zcdp", "gdp", "renyi")
ONE_SIDED: Final = "one-sided"
"""The order of neighbours in which the first has a record that the second has not."""
REVERSE: Final = "reverse"
"""The other order: the second has a record that the first has not."""
ORDERS: Final = (ONE_SIDED, REVERSE)


@dataclass(frozen=True, slots=True)
class Part:
    """A mechanism inside a combinator, with what its answer moves by between neighbours.

    sensitivity: as in a claim, None where a query gives it or the kind needs none. adjacency: as stated, empty where it is not.
    times: how many times it is run.
    """

    mechanism: Mechanism
    sensitivity: Expr | None = None
    query: Query | None = None
    adjacency: str = ""
    times: Expr = Num(Fraction(1))


@dataclass(frozen=True, slots=True)
class Compose:
    """All parts on the same data, each chosen after seeing the answers of those before (theory#dominating-pairs)."""

    parts: tuple[Part, ...]


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
class Lipschitz:
    """A part after a map of the data that moves neighbours apart by at most `constant` (theory#lipschitz-maps)."""

    part: Part
    constant: Expr


Answering = Radial | Translation | Product | Mixture
"""Additive noise in a norm, which answers queries."""
OnLine = Answering | Staircase
"""Noise that may be added to one number."""
Noise = Answering | Staircase | EllipticalProcess
"""Additive noise: what neighbours are follows from how far the answer moves."""


@dataclass(frozen=True, slots=True)
class NoisyMax:
    """The greatest of `candidates` answers with independent noises of one law (theory#selection).

    report: what is told of it. neighbours: how the answers move together. bounds: the interval that the answers of all data lie in.
    """

    noise: OnLine
    candidates: Expr
    neighbours: str = "all"
    report: str = "index"
    bounds: tuple[Expr, Expr] | None = None


@dataclass(frozen=True, slots=True)
class AboveThreshold:
    """Which of at most `queries` answers with noise are at least a noisy threshold, until `positives` of them are (theory#selection).

    threshold_noise, query_noise: None for an exact threshold, or exact answers. positives: None for no limit. resample: whether the noise
    of the threshold is drawn again after each positive. report: what is told of a positive beside that it is one; "fresh" the answer with
    the noise `fresh`. neighbours, bounds: as of noisy max.
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


Selection = NoisyMax | AboveThreshold
"""Comparisons of answers with noise: neighbours are answers that each move by at most the sensitivity."""
Finite = Table | Exponential | KaryResponse
"""Finitely many inputs and outputs."""
Leaf = Noise | Finite | Kernel | Selection | Guarantee | Space | Sampled
Combinator = Compose | Subsample | Group | PostProcess | Parallel | Lipschitz
Mechanism = Leaf | Combinator


def kind_name(model: type) -> str:
    """The name of a kind in files and certificates: its class's, in small letters."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()


KINDS: Final[Mapping[str, type]] = {kind_name(model): model for model in get_args(Mechanism)}
"""Every kind of mechanism."""

SCHEMES: Final = ("poisson", "without_replacement")
REPORTS: Final[Mapping[type, tuple[str, ...]]] = {
    NoisyMax: ("index", "value", "index+gap"),
    AboveThreshold: ("answers", "answers+gap", "answers+value", "fresh"),
}
"""What selections may tell."""
TOGETHER: Final[Mapping[type, tuple[str, ...]]] = {
    NoisyMax: ("all", "monotone", "one"),
    AboveThreshold: ("all", "monotone", "one", "increasing", "decreasing"),
}
"""How the answers of neighbours may move: each on its own, all the same way, one alone, or in the order of the data one way only."""
ONE_WAY: Final = ("increasing", "decreasing")
"""Of these the guarantee is for one order of the data alone."""
MEASURES: Final[Mapping[str, int]] = {"approximate": 2, "renyi": 2, "zcdp": 1, "gdp": 1, "bounded_range": 1}
"""The measures of privacy that a guarantee is in, with the numbers in each of its rows."""


def noises_of(mechanism: Mechanism) -> tuple[OnLine, ...]:
    """The noises of a selection; none for another mechanism."""
    if not isinstance(mechanism, Selection):
        return ()
    held = (getattr(mechanism, field.name) for field in fields(mechanism))
    return tuple(noise for noise in held if isinstance(noise, OnLine))


def kind_of(mechanism: Mechanism) -> str:
    """The name of a mechanism's kind."""
    return kind_name(type(mechanism))


def parts_of(mechanism: Mechanism) -> tuple[Part, ...]:
    """The parts of a combinator; none for a mechanism by itself."""
    if isinstance(mechanism, Compose | Parallel):
        return mechanism.parts
    return (mechanism.part,) if isinstance(mechanism, Combinator) else ()


COVARIANCES: Final = ("eigenvalues", "brownian", "bridge", "matern-1/2", "matern-3/2", "matern-5/2", "rbf", "kernel")
"""The covariances of Gaussian processes that a declaration names."""

LEFT_OUT: Final = ("matrix", "order", "atoms", "transform", "covariance", "shape", "interval", "places", "count", "differences")
"""The fields of mechanisms that the canonical form leaves out where they are empty."""

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


def variables_of(mechanism: Mechanism) -> Iterator[str]:
    """The variables of the expressions that a mechanism has."""
    for name, symbols in VARIABLES.get(kind_of(mechanism), {}).items():
        if getattr(mechanism, name):
            yield from symbols


def all_parts(mechanism: Mechanism) -> Iterator[Part]:
    """Every part in a combinator, at every depth."""
    for part in parts_of(mechanism):
        yield part
        yield from all_parts(part.mechanism)


@dataclass(frozen=True, slots=True)
class Claim:
    """A mechanism and the guarantee claimed of it.

    sensitivity: in the mechanism's norm, before scale; None where a query gives it or the kind needs none.
    epsilon, delta: exact expressions, or None for "tight" (compute it).
    domains: the parameters that range over a domain; all other symbols have been given their values.
    adjacency: as stated beside a combinator, empty where it is not; a query has its own.
    utility: whether errors are asked for too. beta: the probability with which an error may be exceeded, where that is asked for.
    within: how near to the truth the answers of a space are to be, but with probability beta.
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


def on_integers(noise: Mechanism) -> bool:
    """Whether a mechanism adds noise on the integers, to any of its answers."""
    return (isinstance(noise, Translation) and noise.integers) or any(map(on_integers, noises_of(noise)))


# -- the canonical form ------------------------------------------------------------------------


def to_json(claim: Claim) -> dict[str, Any]:
    """The canonical form of a claim: names, strings, lists; every number exact."""
    return {
        "mechanism": _encode(claim.mechanism),
        "mechanism_name": claim.mechanism_name,
        "name": claim.name,
        "epsilon": TIGHT if claim.epsilon is None else format_expr(claim.epsilon),
        "delta": TIGHT if claim.delta is None else format_expr(claim.delta),
        "sensitivity": _encode(claim.sensitivity),
        "query": _encode(claim.query),
        "domains": {name: _encode(domain) for name, domain in claim.domains},
        **({"adjacency": claim.adjacency} if claim.adjacency else {}),
        **({"utility": True} if claim.utility else {}),
        **({} if claim.beta is None else {"beta": format_expr(claim.beta)}),
        **({"loss": _encode(claim.loss)} if claim.loss else {}),
        **({"prior": _encode(claim.prior)} if claim.prior else {}),
        **({} if claim.measure is None else {"measure": _encode(claim.measure)}),
        **({"order": claim.order} if claim.order else {}),
        **({} if claim.within is None else {"within": format_expr(claim.within)}),
    }


def claim_hash(canonical: Mapping[str, Any]) -> str:
    """The SHA-256 of a claim's canonical form."""
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def from_json(data: Any) -> Claim:
    """The claim of a canonical form. Raises CertificateError for anything that `to_json` could not have written."""
    claim = Claim(
        mechanism=_read(data, "mechanism", _mechanism),
        epsilon=_read(data, "epsilon", _or_tight),
        delta=_read(data, "delta", _or_tight),
        sensitivity=_read(data, "sensitivity", _optional),
        query=_read(data, "query", _query),
        domains=_read(data, "domains", lambda held: tuple((str(name), _read(held, name, _domain)) for name in held)),
        mechanism_name=_read(data, "mechanism_name", str),
        name=_read(data, "name", str),
        adjacency=str(data.get("adjacency", "")),
        utility=data.get("utility", False) is True,
        beta=_read(data, "beta", _optional, None),
        loss=_read(data, "loss", _matrix, ()),
        prior=_read(data, "prior", lambda held: tuple(map(exact_fraction, held)), ()),
        measure=_read(data, "measure", _measure, None),
        order=str(data.get("order", "")),
        within=_read(data, "within", _optional, None),
    )
    everything: tuple[Claim | Part, ...] = (claim, *all_parts(claim.mechanism))
    for asked in everything:
        if asked.query is not None and not isinstance(asked.mechanism, Answering):
            raise CertificateError("only additive noise answers a query.")
        if asked.query is not None and asked.sensitivity is not None:
            raise CertificateError("the claim states a sensitivity beside the one that its query has.")
        if asked.query is not None and asked.adjacency:
            raise CertificateError("the claim states an adjacency beside the one that its query has.")
        if asked.sensitivity is not None and isinstance(asked.mechanism, Combinator | Table | KaryResponse | Guarantee | Space):
            raise CertificateError(f"the claim states a sensitivity of the kind {kind_of(asked.mechanism)}, which takes none.")
        if asked.sensitivity is not None and isinstance(asked.mechanism, EllipticalProcess) and asked.mechanism.differences:
            raise CertificateError("the claim states a sensitivity beside the one that its differences have.")
        if isinstance(asked.mechanism, Selection):
            _check_words(asked.mechanism, alone=asked is claim)
    if any(isinstance(part.mechanism, Space) for part in all_parts(claim.mechanism)):
        raise CertificateError("a space is no mechanism by itself, so it is no part of one.")
    if isinstance(claim.mechanism, Space) and (claim.measure is not None or claim.order):
        raise CertificateError("of a space pure privacy is claimed, in both orders.")
    if claim.within is not None and not isinstance(claim.mechanism, Space):
        raise CertificateError(f"the claim states how near answers are of the kind {kind_of(claim.mechanism)}, which is no space.")
    if (claim.loss or claim.prior) and not isinstance(claim.mechanism, Table | Exponential):
        raise CertificateError(f"the claim states losses of the kind {kind_of(claim.mechanism)}, which has no lists of inputs and outputs.")
    for order in (claim.order, *(asked.mechanism.order for asked in everything if isinstance(asked.mechanism, Guarantee))):
        if order not in ("", *ORDERS):
            raise CertificateError(f"the claim states the order {order[:40]!r}, which is none of {', '.join(ORDERS)}.")
    if claim.order and isinstance(claim.mechanism, Selection) and claim.mechanism.neighbours in ONE_WAY:
        raise CertificateError("the claim states an order beside neighbours that are of one order already.")
    if claim.measure is not None and (claim.epsilon is not None or claim.delta != Num(Fraction(0))):
        raise CertificateError("the claim states an epsilon or a delta beside a measure that stands in place of them.")
    if claim.utility and (claim.measure is not None or claim.order):
        raise CertificateError("the claim asks for errors beside a measure or an order, which the rules about errors do not know.")
    if not (claim.name + claim.mechanism_name).isprintable():
        raise CertificateError("a name in the claim holds a line break or another character that cannot be seen.")
    bound = {symbol for asked in everything for held in (asked.mechanism, *noises_of(asked.mechanism)) for symbol in variables_of(held)}
    for name, _ in claim.domains:
        if not name.isidentifier() or not name.isascii() or name in bound:
            raise CertificateError(f"{name[:40]!r} cannot name a parameter of this mechanism.")
    if claim_hash(to_json(claim)) != claim_hash(data):  # by their texts: in Python true == 1
        raise CertificateError("the claim is not in canonical form.")
    return claim


def _check_words(mechanism: Selection, alone: bool) -> None:
    """Raises CertificateError for a word that means nothing here. alone: whether it is the whole claim."""
    if mechanism.report not in REPORTS[type(mechanism)] or mechanism.neighbours not in TOGETHER[type(mechanism)]:
        raise CertificateError(f"a selection has a report or neighbours that {kind_of(mechanism)} does not have.")
    if isinstance(mechanism, AboveThreshold) and (mechanism.report == "fresh") != (mechanism.fresh is not None):
        raise CertificateError("above_threshold has fresh noise where it reports it, and nowhere else.")
    for noise in noises_of(mechanism):
        if isinstance(noise, Radial | Mixture) and noise.norm.p is not None and noise.norm.p < 1:
            raise CertificateError("noise that is compared is in a norm of p less than 1, which is none.")
    if mechanism.neighbours in ONE_WAY and not alone:
        raise CertificateError(f"neighbours = {mechanism.neighbours!r} is for one order of the data alone, which parts cannot be.")


def exact_fraction(text: Any) -> Fraction:
    """The rational that "a" or "a/b" writes. Raises ValueError for other text, such as powers of ten that would be enormous."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is not a fraction of integers")
    return Fraction(text)


_FRACTION: Final = re.compile(r"-?\d+(/\d+)?", re.ASCII)


_NEEDED: Final = object()


def _read(data: Any, key: str, read: Callable[[Any], Any], absent: Any = _NEEDED) -> Any:
    """What an object holds under a key, or `absent`. Raises CertificateError that names the innermost key that cannot be read."""
    if not isinstance(data, Mapping):
        raise CertificateError(f"the claim cannot be read: {_shown(data)} stands where an object with the key {key!r} does.")
    if key not in data and absent is _NEEDED:
        raise CertificateError(f"the claim cannot be read: the key {key!r} is missing in {_shown(data)}.")
    try:
        return read(data[key]) if key in data else absent
    except ExprError as error:
        raise CertificateError(f"the claim cannot be read: {key!r} is no expression: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"the claim cannot be read: {key!r} is {_shown(data[key])}, which dpverify does not write there.") from error


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Norm | Domain | Query | Part | Measure | Shape):
        return {f.name: _encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mechanism):
        held = [f.name for f in fields(value) if f.name not in LEFT_OUT or getattr(value, f.name)]
        return {"kind": kind_of(value), **{name: _encode(getattr(value, name)) for name in held}}
    return format_expr(value)


def _mechanism(data: Mapping[str, Any]) -> Mechanism:
    kind = _read(data, "kind", KINDS.__getitem__)
    held = {name: wanted for name, wanted in _types(kind).items() if name not in LEFT_OUT or name in data}
    found: Mechanism = kind(**{name: _read(data, name, partial(_decoded, wanted)) for name, wanted in held.items()})
    return found


@cache
def _types(kind: type) -> Mapping[str, Any]:
    """The types of a model's fields."""
    return get_type_hints(kind)


def _decoded(wanted: Any, value: Any) -> Any:
    """What `_encode` has written of a value of this type."""
    if wanted in _DECODERS:
        return _DECODERS[wanted](value)
    items = get_args(wanted)
    if NoneType in items:
        return None if value is None else _decoded(items[0], value)
    if Ellipsis in items:
        return tuple(_decoded(items[0], item) for item in value)
    if get_origin(wanted) is tuple and len(items) == len(value):
        return tuple(_decoded(item, inside) for item, inside in zip(items, value, strict=True))
    raise TypeError(f"{value!r} is not a {wanted}")


def _query(data: Any) -> Query | None:
    return None if data is None else Query(_read(data, "rows", _matrix), _read(data, "adjacency", str))


def _measure(data: Any) -> Measure | None:
    if data is None:
        return None
    name, at = _read(data, "name", str), _read(data, "at", _rational_or_none)
    if name not in CLAIMED_MEASURES or (at is not None) != (name == "renyi") or (at is not None and at <= 1):
        raise ValueError(f"{name[:40]!r} is no measure that a claim may be in, or its order is not above 1")
    return Measure(name, _read(data, "value", _optional), at)


def _part(data: Mapping[str, Any]) -> Part:
    mechanism, query = _read(data, "mechanism", _mechanism), _read(data, "query", _query)
    sensitivity, times = _read(data, "sensitivity", _optional), _read(data, "times", parse)
    return Part(mechanism, sensitivity, query, _read(data, "adjacency", str), times)


def _optional(value: Any) -> Expr | None:
    return None if value is None else parse(value)


def _or_tight(value: Any) -> Expr | None:
    return None if value == TIGHT else parse(value)


def _rational_or_none(value: Any) -> Fraction | None:
    return None if value is None else exact_fraction(value)


def _matrix(rows: Sequence[Sequence[str]]) -> Matrix:
    return tuple(tuple(exact_fraction(entry) for entry in row) for row in rows)


def _domain(data: Mapping[str, Any]) -> Domain:
    ends = [_read(data, key, _rational_or_none) for key in ("lower", "upper")]
    return Domain(ends[0], ends[1], *(_read(data, key, bool) for key in ("lower_open", "upper_open", "integer")))


def _noise(data: Mapping[str, Any]) -> OnLine:
    found = _mechanism(data)
    if not isinstance(found, OnLine):
        raise TypeError("a selection holds what is no noise on the line")
    return found


def _norm(data: Mapping[str, Any]) -> Norm:
    return Norm(_read(data, "kind", str), _read(data, "p", _rational_or_none), _read(data, "matrix", _matrix))


def _shape(data: Mapping[str, Any]) -> Shape:
    kind, numbers = _read(data, "kind", str), _read(data, "numbers", lambda held: tuple(map(parse, held)))
    parts = _read(data, "parts", lambda held: tuple(map(_shape, held)))
    return Shape(kind, numbers, _read(data, "norm", _norm), _read(data, "matrix", _matrix), parts)


_DECODERS: Final[Mapping[Any, Callable[[Any], Any]]] = {
    Expr: parse, Expr | None: _optional, str: str, bool: bool, int: int, Norm: _norm, Part: _part, Matrix: _matrix,
    Shape: _shape,
    OnLine: _noise, OnLine | None: lambda data: None if data is None else _noise(data),
}  # fmt: skip

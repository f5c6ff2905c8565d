"""Declarations in Python: a mechanism as sympy expressions or strings, turned into exact trees at the door.

    r, nu, d = symbols("r nu d", positive=True)
    student_t = Mechanism(
        name="student_t",
        noise=Radial(norm=L2(), profile=(1 + r**2 / nu) ** (-(nu + d) / 2), radius=r, dimension=d),
        parameters={nu: Positive(), d: Dimension()},
        source=Source("Reimherr & Awan 2019", "Example 6"),
    )

A declaration knows no epsilon. Numbers are int, Fraction, str or sympy's exact ones; binary floats are
refused with the way out. sympy itself is imported only where an expression of it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.language import model
from dpverify.trusted.language.errors import ExprError, SpecError
from dpverify.trusted.language.expr import ONE, PI, Expr, Num, Sym, add, call, div, mul, num, parse, power, substitute, symbols
from dpverify.trusted.language.model import Domain, Source

__all__ = [
    "L1", "L2", "Columns", "Dimension", "Ellipsoid", "Exponential", "Facets", "Integer", "Interval", "KaryResponse", "Kernel", "LInf",
    "Lp", "Mechanism", "Mixture", "NonNegative", "Positive", "Product", "Radial", "Real", "Source", "Staircase", "Table",
    "Translation",
]  # fmt: skip

Scalar = Any
"""An exact expression: a sympy expression, a string in the language of claim files, an int or a Fraction."""


# -- norms ------------------------------------------------------------------------------------------


def L1() -> model.Norm:
    """The sum of absolute values."""
    return model.L1


def L2() -> model.Norm:
    """The Euclidean norm."""
    return model.L2


def LInf() -> model.Norm:
    """The maximum norm."""
    return model.LINF


def Lp(p: Scalar) -> model.Norm:
    """The l_p norm for a rational p >= 1."""
    return model.Norm("lp", _rational(p))


def Ellipsoid(sigma: Sequence[Sequence[Scalar]]) -> model.Norm:
    """||x||^2 = x' Sigma^-1 x."""
    return model.Norm("ellipsoid", matrix=_matrix(sigma))


def Columns(points: Sequence[Sequence[Scalar]]) -> model.Norm:
    """The norm whose unit ball is the hull of + and - each listed point."""
    return model.Norm("columns", matrix=_matrix(points))


def Facets(rows: Sequence[Sequence[Scalar]]) -> model.Norm:
    """The norm whose unit ball is |<a, x>| <= 1 for every listed a."""
    return model.Norm("facets", matrix=_matrix(rows))


# -- domains of parameters ----------------------------------------------------------------------------


def Positive() -> Domain:
    """The reals above 0."""
    return Domain(Fraction(0))


def NonNegative() -> Domain:
    """The reals from 0."""
    return Domain(Fraction(0), lower_open=False)


def Real() -> Domain:
    """All reals."""
    return Domain()


def Integer(least: int | None = None, most: int | None = None) -> Domain:
    """The integers from `least` to `most`, either of them absent."""
    ends = [None if end is None else Fraction(end) for end in (least, most)]
    return Domain(ends[0], ends[1], least is None, most is None, integer=True)


def Dimension() -> Domain:
    """The positive integers."""
    return Integer(1)


def Interval(lower: Scalar, upper: Scalar, *, closed: bool = False) -> Domain:
    """The reals between two rationals, with or without the ends."""
    return Domain(_rational(lower), _rational(upper), not closed, not closed)


# -- noise and other mechanisms -------------------------------------------------------------------------


@dataclass(frozen=True)
class Radial:
    """Density proportional to profile(||y - q(x)|| / scale), profile an expression in `radius`."""

    norm: model.Norm
    profile: Scalar
    dimension: Scalar
    radius: Scalar = "r"
    scale: Scalar = 1

    def model(self, read: _Read) -> model.Mechanism:
        """The noise as a model."""
        return model.Radial(read(self.profile, r=self.radius), self.norm, read(self.dimension), read(self.scale))


@dataclass(frozen=True)
class Translation:
    """One-dimensional noise of a density in `variable`; support: its ends, None for an infinite one."""

    density: Scalar
    variable: Scalar = "z"
    support: tuple[Scalar | None, Scalar | None] = (None, None)
    integers: bool = False

    def model(self, read: _Read) -> model.Mechanism:
        """The noise as a model."""
        return model.Translation(read(self.density, z=self.variable), _ends(self.support, read), self.integers)


@dataclass(frozen=True)
class Product:
    """Independent coordinates, each of a density in `variable`; the sensitivity is measured in `norm`."""

    density: Scalar
    dimension: Scalar
    variable: Scalar = "z"
    norm: model.Norm = model.L1

    def model(self, read: _Read) -> model.Mechanism:
        """The noise as a model."""
        return model.Product(read(self.density, z=self.variable), read(self.dimension), self.norm)


@dataclass(frozen=True)
class Table:
    """rows[x][y]: the probability of y on input x. adjacent: pairs of rows, None for all."""

    rows: Sequence[Sequence[Scalar]]
    adjacent: Sequence[tuple[int, int]] | None = None

    def model(self, read: _Read) -> model.Mechanism:
        """The table as a model."""
        return model.Table(_entries(self.rows, read), None if self.adjacent is None else tuple(self.adjacent))


@dataclass(frozen=True)
class Kernel:
    """A density in `outcome` and `theta`, with its normaliser written out, on the intervals output and input."""

    density: Scalar
    output: tuple[Scalar | None, Scalar | None]
    input: tuple[Scalar, Scalar]
    outcome: Scalar = "y"
    theta: Scalar = "theta"

    def model(self, read: _Read) -> model.Mechanism:
        """The kernel as a model."""
        density = read(self.density, y=self.outcome, theta=self.theta)
        return model.Kernel(density, _ends(self.output, read), (read(self.input[0]), read(self.input[1])))


@dataclass(frozen=True)
class Exponential:
    """Probabilities proportional to exp(beta * score), a row of scores for each input."""

    scores: Sequence[Sequence[Scalar]]
    beta: Scalar
    adjacent: Sequence[tuple[int, int]] | None = None

    def model(self, read: _Read) -> model.Mechanism:
        """The mechanism as a model."""
        adjacent = None if self.adjacent is None else tuple(self.adjacent)
        return model.Exponential(_entries(self.scores, read), read(self.beta), adjacent)


@dataclass(frozen=True)
class Mixture:
    """Noise of density proportional to profile in `radius`, given `mixed`, which is drawn from the density `mixing` on `support`.

    The normaliser of the profile must not depend on `mixed`: v**(-d/2)*exp(-r**2/(2*v)) for a Gaussian of variance v in d dimensions.
    """

    profile: Scalar
    mixing: Scalar
    norm: model.Norm
    dimension: Scalar
    support: tuple[Scalar, Scalar | None] = (0, None)
    radius: Scalar = "r"
    mixed: Scalar = "v"
    scale: Scalar = 1

    def model(self, read: _Read) -> model.Mechanism:
        """The noise as a model."""
        low, high = _ends(self.support, read)
        if low is None or (isinstance(low, Num) and low.value < 0):
            raise SpecError("a mixing law must start at a finite number of at least 0.")
        profile = read(self.profile, r=self.radius, v=self.mixed)
        mixing = read(self.mixing, v=self.mixed)
        return model.Mixture(profile, mixing, (low, high), self.norm, read(self.dimension), read(self.scale))


@dataclass(frozen=True)
class KaryResponse:
    """k-ary randomized response: the truth with probability p, else one of the k - 1 others."""

    k: Scalar
    p: Scalar

    def model(self, read: _Read) -> model.Mechanism:
        """The mechanism as a model."""
        return model.KaryResponse(read(self.k), read(self.p))


Selection = KaryResponse
"""The name under which older declarations know it."""


@dataclass(frozen=True)
class Staircase:
    """Geng and Viswanath's staircase noise for sensitivity 1."""

    epsilon: Scalar
    gamma: Scalar

    def model(self, read: _Read) -> model.Mechanism:
        """The noise as a model."""
        return model.Staircase(read(self.epsilon), read(self.gamma))


Noise = Radial | Translation | Product | Table | Kernel | Exponential | Mixture | KaryResponse | Staircase


@dataclass(frozen=True)
class Mechanism:
    """A named mechanism: its noise, the domain of every parameter, and where it comes from."""

    name: str
    noise: Noise
    parameters: Mapping[Any, Domain] = field(default_factory=dict)
    source: Source | None = None

    def domains(self) -> dict[str, Domain]:
        """The domain of every parameter, by name."""
        return {str(symbol): domain for symbol, domain in self.parameters.items()}

    def model(self) -> model.Mechanism:
        """The mechanism as frozen data. Raises SpecError for floats, unknown functions and free symbols."""
        try:
            return self.noise.model(_Read(self.domains()))
        except ExprError as error:
            raise SpecError(f"{self.name}: {error}") from error


# -- reading expressions --------------------------------------------------------------------------------


class _Read:
    """Turns expressions into trees, with the declared variables under the model's own names."""

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        self.domains = domains

    def __call__(self, value: Scalar, **variables: Scalar) -> Expr:
        names = {str(symbol): name for name, symbol in variables.items()}
        for name in names.values():
            if name in self.domains:
                raise ExprError(f"{name!r} is this kind's variable. Give the parameter another name.")
        given = {"r": Positive(), "v": Positive(), "z": Real(), "y": Real(), "theta": Real()}
        expr = to_expr(value, {**self.domains, **{symbol: given[name] for symbol, name in names.items()}})
        free = sorted(symbols(expr) - names.keys() - self.domains.keys())
        if free:
            raise ExprError(f"free symbol {free[0]!r}. Give its domain in `parameters`.")
        return substitute(expr, {symbol: Sym(name) for symbol, name in names.items()})


def _entries(rows: Sequence[Sequence[Scalar]], read: _Read) -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(read(entry) for entry in row) for row in rows)


def _ends(ends: tuple[Scalar | None, Scalar | None], read: _Read) -> tuple[Expr | None, Expr | None]:
    low, high = ends
    return None if low is None else read(low), None if high is None else read(high)


def _rational(value: Scalar) -> Fraction:
    expr = to_expr(value, {})
    if not isinstance(expr, Num):
        raise SpecError(f"{value} is not a rational number.")
    return expr.value


def _matrix(rows: Sequence[Sequence[Scalar]]) -> model.Matrix:
    return tuple(tuple(_rational(entry) for entry in row) for row in rows)


def to_expr(value: Scalar, domains: Mapping[str, Domain]) -> Expr:
    """The tree of an exact expression.

    domains: of the symbols; a sympy symbol that assumes more than its domain grants is refused, because sympy
    simplifies by its assumptions. Raises ExprError with the way out.
    """
    if isinstance(value, float):
        raise ExprError(f'{value!r} is a binary float. Write "{value!r}" or Fraction("{value!r}").')
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return num(value)
    import sympy

    if not isinstance(value, sympy.Basic):
        raise ExprError(f"{value!r} is not an expression. Use sympy, a string, an int or a Fraction.")
    return _from_sympy(value, domains)


_FUNCTIONS: Final[Mapping[str, str]] = {
    "exp": "exp", "log": "log", "Abs": "abs", "Min": "min", "Max": "max", "floor": "floor", "cosh": "cosh", "sinh": "sinh",
    "tanh": "tanh", "asinh": "asinh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "gamma": "gamma", "besselk": "besselk",
}  # fmt: skip
_RECIPROCALS: Final[Mapping[str, str]] = {"sech": "cosh", "csch": "sinh", "coth": "tanh"}


def _from_sympy(node: Any, domains: Mapping[str, Domain]) -> Expr:
    import sympy

    if isinstance(node, sympy.Float):
        raise ExprError(f'{node} is a binary float. Write Rational("{node}") or a string.')
    if isinstance(node, sympy.Rational):
        return num(Fraction(int(node.p), int(node.q)))
    if isinstance(node, sympy.Symbol):
        _check_assumptions(node, domains)
        return Sym(node.name)
    if node is sympy.pi:
        return PI
    if node is sympy.E:
        return call("exp", ONE)
    parts = [_from_sympy(part, domains) for part in node.args]
    sums: Mapping[Any, Callable[..., Expr]] = {sympy.Add: add, sympy.Mul: mul, sympy.Pow: power}
    combine = sums.get(node.func)
    if combine is not None:
        return combine(*parts)
    name = node.func.__name__
    if name in _FUNCTIONS:
        return call(_FUNCTIONS[name], *parts)
    if name in _RECIPROCALS:
        return div(ONE, call(_RECIPROCALS[name], *parts))
    raise ExprError(f"{node}: {name} is outside the language. Use + - * / **, {', '.join(sorted(_FUNCTIONS.values()))}, pi.")


def _check_assumptions(symbol: Any, domains: Mapping[str, Domain]) -> None:
    """Refuse a symbol that sympy believes to be more than its domain says."""
    domain = domains.get(symbol.name)
    if domain is None:
        return
    low, high = domain.lower, domain.upper
    positive = low is not None and (low > 0 or (low == 0 and domain.lower_open))
    negative = high is not None and (high < 0 or (high == 0 and domain.upper_open))
    granted = {
        "is_integer": domain.integer,
        "is_nonnegative": low is not None and low >= 0,
        "is_nonpositive": high is not None and high <= 0,
        "is_positive": positive,
        "is_negative": negative,
        "is_nonzero": positive or negative,
        "is_zero": False,
        "is_even": False,
        "is_odd": False,
        "is_imaginary": False,
    }
    for assumption, holds in granted.items():
        if getattr(symbol, assumption) and not holds:
            raise ExprError(f"the symbol {symbol} is declared with {assumption[3:]}=True, beyond its domain. Declare it without.")

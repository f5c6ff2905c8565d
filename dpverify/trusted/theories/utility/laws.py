"""Additive noise as the rules about errors read it: a size, a product of independent variables, times a direction apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, call, format_expr, mul, neg, parse, power, substitute, symbols
from dpverify.trusted.kernel.model import Answering, Claim, Domain, Mixture, Norm, Product, Radial, Staircase, Sum
from dpverify.trusted.language.noise import variable
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.noise import domain, weighted

POSITIVE = Domain(Fraction(0))
NONE: Final[Mapping[str, Domain]] = {}


@dataclass(frozen=True, slots=True)
class Size:
    """A random number at least 0: `size` of a variable whose density is proportional to `density` on (lower, upper).

    whole: the variable is an integer, and the density its probabilities.
    """

    density: Expr
    name: str
    size: Expr
    lower: Fraction | None = None
    upper: Fraction | None = None
    whole: bool = False

    def moment(self, p: int, bits: int) -> arb:
        """A ball round the mean of its p-th power. Raises Undecided."""
        return self.total(power(self.size, Num(Fraction(p))), bits) / self.total(ONE, bits)

    def total(self, factor: Expr, bits: int) -> arb:
        """The integral, or sum, of the density times a factor. Raises Undecided."""
        return self.over(factor, self.lower, self.upper, bits)

    def over(self, factor: Expr, lower: Fraction | None, upper: Fraction | None, bits: int) -> arb:
        """The same over an interval inside its own, with both of its ends where they are integers."""
        from dpverify.trusted.numbers.quadrature import integral

        density = mul(self.density, factor)
        if not self.whole:
            return integral(density, self.name, lower, upper, bits)
        ends = None if lower is None else lower.__ceil__(), None if upper is None else upper.__floor__()
        from dpverify.trusted.numbers.lattice_sums import lattice_sum

        return lattice_sum(density, self.name, *ends, bits)


@dataclass(frozen=True, slots=True)
class Law:
    """Noise = unit * R * direction, R the product of independent sizes.

    norm: R is the noise's length in it, over the unit, and the direction has the cone measure of its unit ball. None: each coordinate by
    itself is R with a sign, independent of the others and alike. domains: of the parameters that densities and the unit may have.
    """

    noise: Answering | Staircase
    dimension: int
    sizes: tuple[Size, ...]
    norm: Norm | None = None
    unit: Expr = ONE
    domains: Mapping[str, Domain] = field(default_factory=dict)

    def moment(self, p: int, bits: int) -> arb:
        """A ball round the mean of R^p. Raises Rejected where R is given by its law alone, Undecided."""
        require(bool(self.sizes), Rejected("noise-moments", "the noise", "its moments are closed forms; no integral encloses them"))
        total = arb(1)
        for size in self.sizes:
            total *= size.moment(p, bits)
        return total

    @property
    def weight(self) -> int:
        """The power of the radius in the density of R, plus 1."""
        return 1 if self.norm is None else self.dimension


def read(claim: Claim, parameters: Mapping[str, Any], rule: str, anywhere: bool = False) -> Law:
    """The law of a claim's noise.

    parameters: of a mixture "scale", the text of s(v) by which its conditionals are a scale family, and "closed", true to read it as the
    radial noise that it is in closed form. anywhere: for all values of the claim's parameters, which may have none otherwise. Raises
    Rejected for what is not certainly the density of additive noise.
    """
    noise, domains = claim.mechanism, dict(claim.domains)
    if domains and not anywhere:
        raise Rejected(rule, "the parameters", "errors are those of one mechanism; give every parameter a value")
    if isinstance(noise, Mixture):
        return _mixture(noise, claim, parameters, rule)
    if isinstance(noise, Staircase):
        return Law(noise, 1, ())
    if not isinstance(noise, Answering):
        raise Rejected(rule, "the mechanism", "only noise that is added to an answer has an error of its own")
    if isinstance(noise, Sum):
        raise Rejected(rule, "the mechanism", "errors of sums of noises are not computed; state those of each noise")
    if isinstance(noise, Radial):
        return _radial(noise, rule, domains)
    lower, upper = domain(noise)
    dimension = _dimension(noise.dimension, rule) if isinstance(noise, Product) else 1
    whole = not isinstance(noise, Product) and noise.integers
    size = Size(noise.density, variable(noise), call("abs", Sym("z")), lower, upper, whole)
    return Law(noise, dimension, (_certain(size, rule, domains),), domains=domains)


def _radial(noise: Radial, rule: str, domains: Mapping[str, Domain] = NONE) -> Law:
    dimension = _dimension(noise.dimension, rule)
    _certain(Size(noise.profile, "r", Sym("r"), Fraction(0)), rule, domains)
    size = Size(weighted(noise.profile, noise.dimension), "r", Sym("r"), Fraction(0))
    return Law(noise, dimension, (size,), noise.norm, noise.scale, domains)


def _mixture(noise: Mixture, claim: Claim, parameters: Mapping[str, Any], rule: str) -> Law:
    """r is s(v) t with t apart from v; see `additive.scale_family`."""
    from dpverify.trusted.theories.additive import scale_family as family

    scale = parse(str(parameters.get("scale", "")))
    family.require_free_of_v(noise, scale, {}, rule)
    if parameters.get("closed") is True:
        from dpverify.trusted.combinators.closed_forms import radial

        closed: Any = radial(claim).mechanism
        return _radial(closed, rule)
    dimension = _dimension(noise.dimension, rule)
    lower, upper = family.support(noise, rule)
    at = Num(lower + 1 if upper is None else (lower + upper) / 2)
    profile = substitute(noise.profile, {"r": mul(substitute(scale, {"v": at}), Sym("r")), "v": at})
    hidden = _certain(Size(noise.mixing, "v", scale, lower, upper), rule)
    _certain(Size(profile, "r", Sym("r"), Fraction(0)), rule)
    size = Size(weighted(profile, noise.dimension), "r", Sym("r"), Fraction(0))
    return Law(noise, dimension, (size, hidden), noise.norm, noise.scale)


def _dimension(found: Expr, rule: str) -> int:
    if not isinstance(found, Num) or found.value.denominator != 1 or found.value < 1:
        raise Rejected(rule, "the dimension", f"{format_expr(found)} is not a number, an integer of at least 1")
    return int(found.value)


def _certain(size: Size, rule: str, domains: Mapping[str, Domain] = NONE) -> Size:
    """The size, whose density has no other symbols and is certainly nowhere below 0."""
    if symbols(size.density) - {size.name} - domains.keys():
        raise Rejected(rule, "the density", "it has symbols without a value")
    if not certainly_le(ZERO, size.density, {**domains, size.name: Domain(size.lower, size.upper)}):
        raise Rejected(rule, "the density", f"{format_expr(size.density)} is not certainly at least 0")
    return size


def half(law: Law) -> Expr | None:
    """The density in r > 0 of what is R up to a factor, without the weight r^(d-1); None where it is not one even density on the line."""
    if isinstance(law.noise, Radial):
        return law.noise.profile
    if len(law.sizes) != 1 or law.sizes[0].name != "z":
        return None
    [size] = law.sizes
    if (size.lower, size.upper) != (None, None):
        return None
    right, left = (
        substitute(resolve(substitute(size.density, {"z": z}), "z", Fraction(0), None), {"z": Sym("r")}) for z in (Sym("z"), neg(Sym("z")))
    )
    return right if right == left or certainly_equal(right, left, {**law.domains, "r": POSITIVE}) else None


def bits_of(parameters: Mapping[str, Any], rule: str) -> int:
    """How many bits of integrals are asked for. Raises CertificateError."""
    return read_whole(parameters, "bits", rule, 1, 4096)

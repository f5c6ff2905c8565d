"""The mean Euclidean length of noise that is not round: by the Laplace transform of its square.

Theorem: For S >= 0, E sqrt(S) is a trapezoidal sum of E(1 - exp(-t S)) over points t in geometric progression, up to a factor that is known
to be near 1 whatever the law of S. Of independent coordinates exp(-t S) is a product; noise in an lp norm or an ellipsoid's has the
direction of such a vector, so that its mean length is in the same ratio to its mean first coordinate.

Checked:
- the noise has independent coordinates, or a norm of lp or an ellipsoid
- the mean of the first coordinate is the premise's, and finite
- the sum, its two ends and the factor are enclosed

Source: docs/theory/utility.md#root-of-squares
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.facts.errors import SIDES, ErrorBound, enclosed
from dpverify.trusted.geometry.linear import matrix
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, call, mul, neg, num, power
from dpverify.trusted.kernel.fact import Fact, as_errors
from dpverify.trusted.kernel.model import Claim, Matrix
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.numbers.root_sums import Lost, Nodes, independent, with_moments
from dpverify.trusted.theories.utility.closed_moments import Exponential, form
from dpverify.trusted.theories.utility.laws import Law, Size, bits_of, read

NAME: Final = "root-of-squares"
ASSUMED: Final = ("the sampler is ideal",)

_SPAN: Final = range(-4096, 4097)
_MOST_PARTS: Final = 64
_SPARE: Final = 32


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Both sides of the mean Euclidean length.

    parameters: "parts", "first", "last" of the points, and "bits" and "far", of integrals, where the coordinates have no transform in
    closed form; those of `laws.read`. premises: one, a fact of the mean absolute value of the first coordinate. Raises Rejected, Undecided.
    """
    law, nodes, mean = read(claim, parameters, NAME), _nodes(parameters), _mean(premises, claim)
    with precision(ctx.prec + (nodes.last - nodes.first) // nodes.parts + _SPARE):  # what cancels in F near 0
        found = _length(law, nodes, mean, parameters)
    return enclosed("expected_l2", found)


def _length(law: Law, nodes: Nodes, mean: arb, parameters: Mapping[str, Any]) -> arb:
    if law.norm is None:
        if law.sizes and not law.sizes[0].whole:
            return independent(nodes, _transform(law, parameters), mean, law.dimension)
    elif law.norm.kind == "ellipsoid":
        return mean * _of_ellipsoid(law.norm.matrix, nodes)
    elif law.norm.kind == "lp" and law.norm.p is None:
        return mean * 2 * independent(nodes, _of_uniform, arb(1) / 2, law.dimension)
    elif law.norm.kind == "lp" and law.norm.p is not None:
        p = law.norm.p
        single = rational(2 / p).gamma() / rational(1 / p).gamma()
        return mean / single * independent(nodes, _of_power(ONE, p, parameters), single, law.dimension)
    raise Rejected(NAME, "the noise", "it has neither independent coordinates nor a norm of lp or an ellipsoid")


def _nodes(parameters: Mapping[str, Any]) -> Nodes:
    first = read_whole(parameters, "first", NAME, _SPAN[0], _SPAN[-1])
    last = read_whole(parameters, "last", NAME, first + 1, _SPAN[-1])
    return Nodes(read_whole(parameters, "parts", NAME, 1, _MOST_PARTS), first, last)


def _mean(premises: Sequence[Fact], claim: Claim) -> arb:
    """The mean absolute value of the first coordinate, enclosed."""
    if len(premises) != 1 or premises[0].about != claim:
        raise CertificateError(f"{NAME}: it wants one premise, of the mean of the first coordinate.")
    about = "expected_absolute", "this", 0, None
    found = {bound.side: bound.value for bound in as_errors(premises[0].says) if bound.about == about}
    ends = [constant(value) for side in SIDES if isinstance(value := found.get(side), Expr)]
    if len(ends) != len(SIDES):
        infinite = any(isinstance(value, Infinite) for value in found.values())
        raise Rejected(NAME, premises[0].rule, "the mean of the first coordinate is not " + ("finite" if infinite else "enclosed"))
    return ends[0].union(ends[1])


# -- transforms ----------------------------------------------------------------------------------------


def _transform(law: Law, parameters: Mapping[str, Any]) -> Lost:
    """E(1 - exp(-t X^2)) of one of independent coordinates."""
    found = form(law) if "bits" not in parameters else None
    if found is None:
        return _by_integrals(law.sizes[0], parameters)
    if not isinstance(found, Exponential) or found.w != ZERO:
        raise Rejected(NAME, "the noise", "its coordinates have no transform in closed form here; integrals enclose it")
    return _of_power(found.c, found.a, parameters)


def _of_power(c: Expr, a: Fraction, parameters: Mapping[str, Any]) -> Lost:
    """Of a density proportional to exp(-c |x|^a)."""
    rate = constant(c)
    if a == 2:
        return lambda t: 1 - (1 + constant(t) / rate).rsqrt()
    if a == 1:
        return lambda t: 1 - _scaled_erfc(rate / (2 * constant(t).sqrt()))
    density = call("exp", neg(mul(c, power(Sym("z"), Num(a)))))
    return _by_integrals(Size(density, "z", Sym("z"), Fraction(0)), parameters)


def _scaled_erfc(x: arb) -> arb:
    """sqrt(pi) x exp(x^2) erfc(x), the transform of exp(-|x|)."""
    half = acb(arb(1) / 2)
    found: arb = (x * acb(x * x).hypgeom_u(half, half)).real
    return found


def _of_uniform(t: Expr) -> arb:
    """Of the uniform law on (-1, 1)."""
    root = constant(t).sqrt()
    return 1 - arb.pi().sqrt() * root.erf() / (2 * root)


def _by_integrals(size: Size, parameters: Mapping[str, Any]) -> Lost:
    """With what is farther out than "far" by its mass alone."""
    bits, far = bits_of(parameters, NAME), exact_fraction(parameters.get("far"))
    require(far > 0, CertificateError(f"{NAME}: far is a rational above 0."))
    low = -far if size.lower is None else max(size.lower, -far)
    high = far if size.upper is None else min(size.upper, far)
    require(low < high, Rejected(NAME, "the noise", "none of it is nearer than far"))
    whole, near = size.total(ONE, bits), size.over(ONE, low, high, bits)
    beyond, square = (whole - near).max(arb(0)).upper(), power(size.size, num(2))
    return lambda t: 1 - (size.over(call("exp", neg(mul(t, square))), low, high, bits) + arb(0).union(beyond)) / whole


def _of_ellipsoid(sigma: Matrix, nodes: Nodes) -> arb:
    """E||Z|| / E|Z_1| for Gaussian Z of covariance sigma: E exp(-t ||Z||^2) = det(1 + 2 t sigma)^(-1/2)."""
    trace = sum((sigma[i][i] for i in range(len(sigma))), Fraction(0))
    square = sum((x * x for row in sigma for x in row), Fraction(0))
    polynomial = (-matrix(sigma)).charpoly().coeffs()  # det(x + sigma); at x = 1/(2t) that of 1 + 2 t sigma over (2t)^d

    def lost(t: Expr) -> arb:
        total = arb(0)
        for k, coefficient in enumerate(reversed(polynomial)):
            total += arb(coefficient) * (2 * constant(t)) ** k
        return 1 - total.rsqrt()

    mean = with_moments(nodes, lost, rational(trace), rational(trace * trace + 2 * square))
    return mean / (2 * rational(sigma[0][0]) / arb.pi()).sqrt()

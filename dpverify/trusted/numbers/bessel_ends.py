"""K_v and log K_v at an end of an interval where the argument tends to infinity or to 0."""

from fractions import Fraction

from flint import arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ZERO, Call, Expr, Num, neg, num
from dpverify.trusted.numbers.asymptotics import Germ, GermCompiler, Range, start_value
from dpverify.trusted.numbers.bessel import besselk_scaled


def value(compiler: GermCompiler, logarithm: Call) -> Germ:
    """K_v of an argument, from its logarithm as a tree."""
    order, argument = logarithm.args
    x: Germ = compiler.run(argument)[0]
    if x.k.lo > 0 and x.direction() < 0:
        return _value_at_zero(compiler, order, x)
    if x.k.lo > 0 and x.direction() > 0:
        decay = compiler.exp(compiler.scalar(num(-1)) * x, neg(argument))
        return decay * x.power(Fraction(-1, 2)) * Germ(compiler.start, _scaled(order, x))
    inside = compiler.run(logarithm)[0].bounds()
    return Germ(compiler.start, Range(inside.lo.exp(), inside.hi.exp()))


def at_infinity(compiler: GermCompiler, order: Expr, x: Germ) -> tuple[Germ, Germ, Germ]:
    """sqrt(x) e^x K_v(x) is monotone with limit sqrt(pi/2); 1 + v^2/x^2 <= (K'/K)^2; -K'/K obeys a Riccati equation."""
    inverse = x.power(Fraction(-1))
    small = inverse.bounds().hi
    v, scaled = abs(constant(order)), _scaled(order, x)
    k = Range(scaled.lo.log(), scaled.hi.log())
    half = compiler.scalar(Num(Fraction(-1, 2)))
    value = compiler.scalar(num(-1)) * x + half * x.log() + Germ(compiler.start, k)
    top = small / 2 + (1 + small * small / 4 + v * v * small * small).sqrt()
    ratio = Germ(compiler.start, Range(arb(1), top))
    curvature = inverse * Germ(compiler.start, Range(arb(0), top))
    return value, compiler.scalar(num(-1)) * ratio, curvature


def _scaled(order: Expr, x: Germ) -> Range:
    """sqrt(x) e^x K_v(x) over an end where x grows: between its value at the least x and its limit."""
    least = start_value(x).lower()
    scaled, limit = least.sqrt() * besselk_scaled(order, least)[0], (arb.pi() / 2).sqrt()
    return Range(scaled.min(limit), scaled.max(limit))


def _value_at_zero(compiler: GermCompiler, order: Expr, x: Germ) -> Germ:
    v, top = abs(constant(order)), x.bounds().hi
    at = top.bessel_k(v)
    if order == ZERO:
        shift = Range(arb(2).log() - arb.const_euler(), at + top.log())
        return x.power(Fraction(-1)).log() + Germ(compiler.start, shift)
    exponent = order.value if isinstance(order, Num) else None
    if exponent is None or not v > 0:
        raise Undecided("besselk near zero needs a rational order.")
    return x.power(-abs(exponent)) * Germ(compiler.start, Range(top**v * at, arb(2) ** (v - 1) * v.gamma()))


def at_zero(compiler: GermCompiler, order: Expr, x: Germ) -> tuple[Germ, Germ, Germ]:
    """x^v K_v(x) falls from 2^(v-1) Gamma(v); K_0(x) + log x rises from log 2 - euler; -x K'/K rises from v."""
    v, top = abs(constant(order)), x.bounds().hi
    at = top.bessel_k(v)
    slope = top * (top.bessel_k(v - 1) + top.bessel_k(v + 1)) / (2 * at)
    inverse = x.power(Fraction(-1))
    ratio = Range(v, slope)
    value = _value_at_zero(compiler, order, x).log()
    d1 = compiler.scalar(num(-1)) * inverse * Germ(compiler.start, ratio)
    # K'' / K = 1 + v^2/x^2 - K'/(x K), so (log K)'' = that - (K'/K)^2
    squares = Range.of(v * v) + ratio + (-(ratio * ratio)) + Range(arb(0), top * top)
    return value, d1, inverse * inverse * Germ(compiler.start, squares)

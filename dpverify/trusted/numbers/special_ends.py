"""Special functions of one argument at an end of an interval where the argument tends to infinity."""

from fractions import Fraction

from flint import arb

from dpverify.trusted.kernel.expr import ONE, PI, ZERO, Expr, Num, add, call, div, mul, neg, num, power, sub
from dpverify.trusted.numbers.asymptotics import Germ, GermCompiler, Range
from dpverify.trusted.numbers.jets import Scalars


def at_infinity(compiler: GermCompiler, name: str, u: Expr, *, up: bool) -> Scalars:
    """Functions of an argument that tends to infinity, by functions whose scales are known."""
    minus = compiler.scalar(num(-1))
    if not up and name in ("sinh", "tanh", "asinh", "erf"):  # odd
        v, d1, d2 = at_infinity(compiler, name, neg(u), up=True)
        return minus * v, minus * d1, minus * d2
    if not up and name == "cosh":
        return at_infinity(compiler, name, neg(u), up=True)
    if name in ("cosh", "sinh"):
        sign = num(1 if name == "cosh" else -1)
        return compiler.run(div(add(call("exp", u), mul(sign, call("exp", neg(u)))), num(2)))
    if name == "tanh":
        small = call("exp", mul(num(-2), u))
        return compiler.run(div(sub(ONE, small), add(ONE, small)))
    if name == "asinh":
        return compiler.run(call("log", add(u, power(add(power(u, num(2)), ONE), Num(Fraction(1, 2))))))
    if name == "logexprel":
        size = u if up else neg(u)
        return compiler.run(add(u if up else ZERO, call("log", sub(ONE, call("exp", neg(size)))), neg(call("log", size))))
    if name == "loggamma":
        return _log_gamma(compiler, u)
    outward = u if up else neg(u)
    tail = compiler.run(outward)
    logarithm = compiler.chain(*_logerfc_tail(compiler, tail[0]), tail)
    if name == "logerfc" and up:
        return logarithm
    f = _erfc_value(compiler, tail[0], outward)
    v, d1, d2 = compiler.chain(f, f, f, logarithm)  # erfc of the argument that tends to +infinity
    if name == "erfc" and up:
        return v, d1, d2
    whole = compiler.scalar(num(1 if name == "erf" else 2))
    v, d1, d2 = whole + minus * v, minus * d1, minus * d2
    if name != "logerfc":
        return v, d1, d2
    inverse = v.power(Fraction(-1))
    return compiler.chain(v.log(), inverse, minus * inverse * inverse, (v, d1, d2))


def _log_gamma(compiler: GermCompiler, u: Expr) -> Scalars:
    """log gamma(u), its slope and bend, by Stirling's series, which lies between any two sums of it that follow each other."""
    jet, half, minus = compiler.run(u), compiler.scalar(Num(Fraction(1, 2))), compiler.scalar(num(-1))
    x, below = jet[0], [jet[0].power(Fraction(-k)) for k in range(4)]
    twelfth = Germ(compiler.start, Range(arb(0), 1 / arb(12)))
    constant_term = compiler.scalar(div(call("log", mul(num(2), PI)), num(2)))
    value = (x + minus * half) * x.log() + minus * x + constant_term + twelfth * below[1]
    slope = x.log() + minus * (half * below[1] + twelfth * below[2])
    return compiler.chain(value, slope, below[1] + half * below[2] + twelfth * below[3] + twelfth * below[3], jet)


def _mills(compiler: GermCompiler, u: Germ) -> tuple[Germ, Germ]:
    """Hazard rate of erfc and hazard - 2u: u + sqrt(u^2 + 4/pi) <= hazard <= u + sqrt(u^2 + 2) for u > 0."""
    least = u.power(Fraction(-2)).bounds().hi
    low, high = 4 / arb.pi(), arb(2)
    two = Range(arb(2), 1 + (1 + high * least).sqrt())
    # sqrt(u^2 + c) - u = c / (u + sqrt(u^2 + c)) = (c / u) / (1 + sqrt(1 + c/u^2))
    gap = Range(low / (1 + (1 + low * least).sqrt()), high / 2)
    return u * Germ(compiler.start, two), u.power(Fraction(-1)) * Germ(compiler.start, gap)


def _logerfc_tail(compiler: GermCompiler, u: Germ) -> tuple[Germ, Germ, Germ]:
    hazard, excess = _mills(compiler, u)
    minus = compiler.scalar(num(-1))
    value = minus * u * u + (compiler.scalar(num(2)) * _sqrt_pi_inverse(compiler) * hazard.power(Fraction(-1))).log()
    return value, minus * hazard, minus * hazard * excess


def _erfc_value(compiler: GermCompiler, u: Germ, source: Expr) -> Germ:
    hazard, _ = _mills(compiler, u)
    scale = compiler.exp(u, neg(power(source, num(2))))
    return scale * compiler.scalar(num(2)) * _sqrt_pi_inverse(compiler) * hazard.power(Fraction(-1))


def _sqrt_pi_inverse(compiler: GermCompiler) -> Germ:
    return Germ(compiler.start, Range.of(1 / arb.pi().sqrt()))

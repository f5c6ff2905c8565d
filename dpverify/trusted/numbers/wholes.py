"""Two forms that jets keep whole, because taking them apart loses their shape on wide cells.

The logarithm of a sum of exponentials: its slope is a weighted mean, its curvature adds a variance. And sqrt(c + u^2).
"""

from collections.abc import Mapping
from fractions import Fraction

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, add, call, mul, num, power, sqrt, sub, symbols
from dpverify.trusted.numbers.jets import JetCompiler, Program, Scalars


def hypot(compiler: JetCompiler, base: Add) -> Program | None:
    """sqrt(c + k u^2) with constants c, k > 0, or None where the form is another."""
    squares = [t for t in base.args if symbols(t)]
    rest = add(*(t for t in base.args if not symbols(t)))
    if len(squares) != 1 or rest == Num(Fraction(0)):
        return None
    factors = squares[0].args if isinstance(squares[0], Mul) else (squares[0],)
    powers = [f for f in factors if symbols(f)]
    if len(powers) != 1 or not isinstance(powers[0], Pow) or powers[0].exponent != num(2):
        return None
    k, c = mul(*(f for f in factors if not symbols(f))), compiler.scalar(rest)
    if not (constant(rest) > 0 and constant(k) > 0):
        return None
    root, inner = compiler.scalar(sqrt(k)), compiler.program(compiler.node(powers[0].base))
    half, cube = Fraction(1, 2), Fraction(-3, 2)

    def run(env: Mapping[str, Scalars]) -> Scalars:
        u, d1, d2 = inner(env)
        w, w1, w2 = root * u, root * d1, root * d2
        inside = c + compiler.power(w, Fraction(2))
        slope = compiler.hypot_slope(c, w)
        return compiler.power(inside, half), slope * w1, slope * w2 + c * compiler.power(inside, cube) * (w1 * w1)

    return run


def log_sum(compiler: JetCompiler, total: Add) -> Program | None:
    """log of a sum of positive multiples of exponentials (a constant counts as one), or None."""
    parts: list[tuple[Expr, Expr]] = []
    for term in total.args:
        factors = term.args if isinstance(term, Mul) else (term,)
        exponentials = [f for f in factors if isinstance(f, Call) and f.name == "exp" and symbols(f)]
        c = mul(*(f for f in factors if f not in exponentials))
        if len(exponentials) > 1 or symbols(c) or not constant(c) > 0:
            return None
        parts.append((c, exponentials[0].args[0] if exponentials else ZERO))
    if len(parts) > 6:
        return None
    programs = [compiler.compile(u) for _, u in parts]
    shares = [
        compiler.share([(mul(c, power(d, num(-1))), sub(u, w)) for j, (c, u) in enumerate(parts) if j != i])
        for i, (d, w) in enumerate(parts)
    ]
    first_log = compiler.compile(add(parts[0][1], call("log", parts[0][0])))
    minus = compiler.scalar(num(-1))

    def run(env: Mapping[str, Scalars]) -> Scalars:
        jets = [program(env) for program in programs]
        weights, logs = zip(*(share(env) for share in shares), strict=True)
        value = first_log(env)[0] + logs[0]
        d1, d2 = weights[0] * jets[0][1], weights[0] * jets[0][2]
        for w, jet in zip(weights[1:], jets[1:], strict=True):
            d1, d2 = d1 + w * jet[1], d2 + w * jet[2]
        for i, first in enumerate(jets):
            for j in range(i):
                gap = first[1] + minus * jets[j][1]
                d2 = d2 + weights[i] * weights[j] * (gap * gap)
        return value, d1, d2

    return run

"""Enclosed integrals of densities, and whether they are finite.

A density is integrated piece by piece between its kinks and singular points. Inside a piece adaptive quadrature on complex
balls encloses the integral. At an end of a piece (infinity, a pole, a zero, the centre), let w be |z| or the distance
from the point, h = -log(density), and theta = w dh/dw. Since d log(density)/d log(w) = -theta, from theta in [b1, b2]

    past w0:    the tail is in density(w0) w0 [1/(b2 - 1), 1/(b1 - 1)]  if b1 > 1,  and infinite if b2 <= 1;
    within w0:  the head is in density(w0) w0 [1/(1 - b1), 1/(1 - b2)]  if b2 < 1,  and infinite if b1 >= 1.

Radial noise has the weight r^(d-1) in its density; see `weighted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, count, pairwise
from typing import Final

from flint import acb, arb, arb_poly, ctx, fmpz

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    children,
    derivative,
    linear_part,
    mul,
    neg,
    neg_log,
    num,
    power,
    rebuild,
    sub,
    substitute,
    symbols,
)  # fmt: skip
from dpverify.trusted.language.model import Product, Radial, Translation
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import besselk_scaled, constant, finite, hull, precision, rational, resolve, value
from dpverify.trusted.numbers.periods import quasi_period, step_period

Additive = Radial | Translation | Product

_LADDER: Final = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40, 60, 80, 120, 200, 400, 1000)
"""Where an end may start: at 2^k in its chart."""
_SMALL_POWERS: Final = tuple(num(n) for n in range(2, 9))
_ARCS: Final = 64
_MOST_TERMS: Final = 20_000
_MOST_ORDER: Final = 1_000
_MOST_STEPS: Final = 2_000
_MOST_DEGREE: Final = 100
"""The greatest degree of a polynomial that is summed over infinitely many periods: the sums grow with its square."""
_WORKING: Final = 80
"""Bits for quadrature; ends of the order of 2^-1000 need no more, exponents are unbounded."""

_MOST_KNOWN: Final = 4_096
_MOST_TAYLOR: Final = 256
_MOST_TAYLOR_ORDER: Final = 40
"""Beyond, Bessel functions are not expanded about a point: their asymptotic series is short, or the Taylor series long."""
_TERMS: Final = Fraction(10, 29)
"""For every bit: at most 8/63 of the radius of the bound is reached."""
_BITS_AN_ORDER: Final = 3
"""So many bits the bound on the interval's disc, down to an eighth of its centre, is above the values: eightfold for each order."""
_BESSEL_GUARD: Final = 40
_BOUND_BITS: Final = 64
_NARROW: Final = arb(2) ** -20
_NAN: Final = acb("nan")


def variable(mechanism: Additive) -> str:
    """The name of the variable of a density: r for radial noise, z otherwise."""
    return "r" if isinstance(mechanism, Radial) else "z"


def weighted(profile: Expr, dimension: Expr) -> Expr:
    """profile(r) r^(d-1): its integral times the surface of the unit ball is that of profile(||x||) over R^d."""
    return mul(profile, power(Sym("r"), sub(dimension, ONE)))


# -- pieces ----------------------------------------------------------------------------------------


def breaks(expr: Expr, name: str, lower: Fraction | None = None, upper: Fraction | None = None) -> set[Fraction]:
    """The rational points where an argument of abs, min, max, log or a power that is linear in `name` vanishes, or that of a floor steps.

    Steps are the first few about 0, and all between lower and upper where these are given and not too far apart.
    """
    found: set[Fraction] = set()
    for part in _subtrees(expr):
        if isinstance(part, Call) and part.name in ("abs", "log", "besselk", "logbesselk"):
            arguments = [part.args[-1]]
        elif isinstance(part, Call) and part.name in ("min", "max"):
            arguments = [sub(left, right) for i, left in enumerate(part.args) for right in part.args[:i]]
        elif isinstance(part, Call) and part.name == "floor":
            arguments = [sub(part.args[0], num(n)) for n in _levels(part.args[0], name, lower, upper)]
        elif isinstance(part, Pow):
            whole = isinstance(part.exponent, Num) and part.exponent.value.denominator == 1 and part.exponent.value > 0
            arguments = [] if whole else [part.base]
        else:
            continue
        for argument in arguments:
            slope, rest = linear_part(argument, name)
            if isinstance(slope, Num) and isinstance(rest, Num) and slope != ZERO:
                found.add(-rest.value / slope.value)
            found |= _quadratic_roots(argument, name)
    return found


def _levels(argument: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> range:
    """The integers at which the floor of an argument steps."""
    slope, rest = linear_part(argument, name)
    if lower is None or upper is None or not isinstance(slope, Num) or not isinstance(rest, Num):
        return range(-8, 9)
    low, high = sorted((slope.value * lower + rest.value, slope.value * upper + rest.value))
    return range(low.__ceil__(), high.__floor__() + 1) if high - low <= _MOST_STEPS else range(-8, 9)


def _subtrees(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in children(expr):
        yield from _subtrees(part)


def _quadratic_roots(expr: Expr, name: str) -> set[Fraction]:
    """The rational roots of c * name^2 + e, the form of a ball's edge."""
    square = power(Sym(name), num(2))
    slope, rest = linear_part(_replace(expr, square, Sym("z^2")), "z^2")
    if not isinstance(slope, Num) or not isinstance(rest, Num) or slope == ZERO or rest.value / slope.value > 0:
        return set()
    root = power(Num(-rest.value / slope.value), Num(Fraction(1, 2)))
    return {root.value, -root.value} if isinstance(root, Num) else set()


def _replace(expr: Expr, old: Expr, new: Expr) -> Expr:
    terms = [
        new if term == old else mul(*(new if f == old else f for f in term.args)) if isinstance(term, Mul) else term
        for term in (expr.args if isinstance(expr, Add) else (expr,))
    ]
    return add(*terms)


@dataclass(frozen=True, slots=True)
class Piece:
    """A density without kinks on an open interval; None is an infinite end."""

    density: Expr
    name: str
    lower: Fraction | None
    upper: Fraction | None


def pieces(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> list[Piece]:
    """The pieces of a density between its breaks, those where it is identically zero left out."""
    density = _smooth(density, name, lower, upper)
    if density == ZERO:
        return []
    first = _first_period(density, name, lower, upper)
    if first is not None:
        return pieces(*first)
    inside = sorted(p for p in breaks(density, name, lower, upper) if (lower is None or lower < p) and (upper is None or p < upper))
    if lower is None and upper is None and not inside:
        inside = [Fraction(0)]
    if not inside:
        return [Piece(density, name, lower, upper)]
    return [piece for left, right in pairwise([lower, *inside, upper]) for piece in pieces(density, name, left, right)]


def _smooth(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    """The density on an open interval with kinks decided; floor(u) in min and max by u - 1 <= floor(u) <= u."""
    return resolve(_without_floors(density, name, lower, upper), name, lower, upper)


def _without_floors(expr: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> Expr:
    done = rebuild(expr, lambda part: _without_floors(part, name, lower, upper))
    if not (isinstance(done, Call) and done.name in ("min", "max") and len(done.args) == 2):
        return done
    floors = [part for part in done.args if isinstance(part, Call) and part.name == "floor"]
    if len(floors) != 1:
        return done
    other = done.args[1] if floors[0] is done.args[0] else done.args[0]
    u = floors[0].args[0]
    decided = {resolve(call(done.name, other, bound), name, lower, upper) == other for bound in (u, sub(u, ONE))}
    return other if decided == {True} else done


def _first_period(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> tuple[Expr, str, Fraction, Fraction] | None:
    """A density with infinitely many steps towards infinity, summed over its periods on the first of them: the integral is the same."""
    length = step_period(density, name)
    if length is None or (lower is None) == (upper is None):
        return None
    start, step = (lower, length) if lower is not None else (upper, -length)
    assert start is not None
    total = _over_periods(density, name, step) or _over_periods(_expanded(density), name, step)
    return None if total is None else (total, name, min(start, start + step), max(start, start + step))


def _over_periods(density: Expr, name: str, step: Fraction) -> Expr | None:
    """The sum over j >= 0 of density(x + j P), P the step, as an expression in x; None where the form is not covered.

    With density = p g, p a polynomial and g(x + P) = exp(-K) g(x), K > 0, it is g(x) times the sum over i of
    (p^(i)(x) P^i / i!) S_i(exp(-K)), S_i(q) the sum over j of j^i q^j.
    """
    if isinstance(density, Add):
        sums = [_over_periods(term, name, step) for term in density.args]
        known = [each for each in sums if each is not None]
        return add(*known) if len(known) == len(sums) else None
    repeating: list[Expr] = []
    others: list[Expr] = []
    rises: list[Expr] = []
    for factor in density.args if isinstance(density, Mul) else (density,):
        rise = quasi_period(neg_log(factor), name, step) if name in symbols(factor) else ZERO
        (others if rise is None else repeating).append(factor)
        rises.append(ZERO if rise is None else rise)
    rise, polynomial = add(*rises), _expanded(mul(*others))
    if symbols(rise) or not constant(rise) > 0 or not _is_polynomial(polynomial, name) or _degree(polynomial, name) > _MOST_DEGREE:
        return None
    terms: list[Expr] = []
    factorial = 1
    for i, power_sum in enumerate(_power_sums(call("exp", neg(rise)))):
        terms.append(mul(polynomial, Num(step**i / factorial), power_sum))
        polynomial, factorial = _expanded(derivative(polynomial, name)), factorial * (i + 1)
        if polynomial == ZERO:
            break
    return mul(*repeating, add(*terms))


def _degree(polynomial: Expr, name: str) -> Fraction:
    """The degree in a symbol that a polynomial, multiplied out, is written with."""
    if isinstance(polynomial, Add):
        return max(_degree(part, name) for part in polynomial.args)
    if isinstance(polynomial, Mul):
        return sum((_degree(part, name) for part in polynomial.args), Fraction(0))
    if isinstance(polynomial, Pow) and isinstance(polynomial.exponent, Num):
        return polynomial.exponent.value * _degree(polynomial.base, name)
    return Fraction(polynomial == Sym(name))


def _power_sums(q: Expr) -> Iterator[Expr]:
    """S_i(q), the sum over j >= 0 of j^i q^j, for i = 0, 1, ...: N_i(q) / (1 - q)^(i + 1), and S_(i+1) = q dS_i/dq."""
    numerator = [1]
    for i in count():
        yield mul(add(*(mul(num(c), power(q, num(k))) for k, c in enumerate(numerator))), power(sub(ONE, q), num(-i - 1)))
        slopes = [k * c for k, c in enumerate(numerator)] + [0]
        numerator = [slopes[k] - (slopes[k - 1] if k else 0) + ((i + 1) * numerator[k - 1] if k else 0) for k in range(len(slopes))]


def _is_polynomial(expr: Expr, name: str) -> bool:
    """Whether a tree is a polynomial by its form."""
    if isinstance(expr, Add | Mul):
        return all(_is_polynomial(part, name) for part in expr.args)
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and expr.exponent.value > 0:
        return _is_polynomial(expr.base, name)
    return expr == Sym(name) or name not in symbols(expr)


# -- ends ------------------------------------------------------------------------------------------


def _theta(density: Expr, name: str, end: End) -> tuple[arb | None, arb | None]:
    """Lower and upper bound of w dh/dw over an end, None where unbounded. Raises Undecided."""
    h = neg_log(density)
    if end.point != 0:  # multiplied out round the point, so that what vanishes there cancels
        h, end = _expanded(substitute(h, {name: add(Sym(name), Num(end.point))})), End(end.side, end.start)
    germ: Germ = end_jet(h, name, end).d1 * end_jet(Sym(name), name, end).v
    if germ.k.is_zero() or germ.direction() <= 0:
        found = germ.bounds()
        return found.lo, found.hi
    if germ.k.lo >= 0:
        return (1 / germ.power(Fraction(-1)).bounds().hi).lower() if germ.k.lo > 0 else arb(0), None
    if germ.k.hi <= 0:
        flipped = Germ(germ.start, -germ.k, germ.a, germ.b, germ.growth)
        return None, -(1 / flipped.power(Fraction(-1)).bounds().hi).lower() if germ.k.hi < 0 else arb(0)
    raise Undecided("the sign of a growing function at the end of the interval is not certain.")


def _expanded(expr: Expr) -> Expr:
    """The tree with products and small powers of sums multiplied out."""
    done = rebuild(expr, _expanded)
    if isinstance(done, Pow) and isinstance(done.base, Add) and done.exponent in _SMALL_POWERS:
        lower = power(done.base, sub(done.exponent, ONE))
        return add(*(_expanded(mul(term, lower)) for term in done.base.args))
    if isinstance(done, Mul):
        for i, factor in enumerate(done.args):
            if isinstance(factor, Add):
                others = done.args[:i] + done.args[i + 1 :]
                return add(*(_expanded(mul(term, *others)) for term in factor.args))
    return done


def end_mass(density: Expr, name: str, end: End) -> arb | None:
    """The integral of a density over an end; None where it is certainly infinite. Raises Undecided."""
    low, high = _theta(density, name, end)
    distance = rational(end.start) if end.side in ("+inf", "-inf") else 1 / rational(end.start)
    boundary = end.boundary()
    edge = value(density, {name: rational(boundary)}) * distance
    if end.side not in ("+inf", "-inf"):  # the same statement for 1/w: theta - 1 changes sign
        low, high = None if high is None else 2 - high, None if low is None else 2 - low
    if high is not None and high <= 1:
        return None
    if low is None or not low > 1 or not edge >= 0 or not edge.is_finite():
        raise Undecided("whether the density is integrable at the end of its domain is not certain.")
    return edge * hull(arb(0) if high is None else 1 / (high - 1), 1 / (low - 1))


def _ends(side: str, limit: Fraction | None, point: Fraction = Fraction(0)) -> Iterator[End]:
    """Ends that start further and further out, all beyond `limit` (the other end of the piece)."""
    for k in _LADDER:
        end = End(side, Fraction(2) ** k, point)  # type: ignore[arg-type]
        if limit is None or (end.boundary() > limit if side in ("+inf", "left") else end.boundary() < limit):
            yield end


def _integrable_towards(density: Expr, name: str, ends: Iterable[End]) -> tuple[bool, End] | None:
    """Whether a density is integrable at the first of the ends where that is certain, and that end."""
    for end in ends:
        try:
            return end_mass(density, name, end) is not None, end
        except (Undecided, ExprError):
            continue
    return None


def integrable_at(h: Expr, name: str, dimension: Expr, end: End) -> bool | None:
    """Whether exp(-h) |z|^(d-1) is integrable at an end: True or False where proved, None where not.

    The end may be judged from a later start; before it the density has to be bounded for other reasons.
    """
    density = mul(call("exp", neg(h)), power(Sym(name), sub(dimension, ONE)))
    later = (End(end.side, Fraction(2) ** k, end.point) for k in _LADDER if 2**k > end.start)
    found = _integrable_towards(density, name, chain((end,), later))
    return None if found is None else found[0]


def _regular(piece: Piece, point: Fraction, inward: int) -> bool:
    """Whether the density is certainly bounded next to an end of its piece."""
    width = Fraction(inward, 1024)
    if piece.lower is not None and piece.upper is not None:
        width = inward * min(Fraction(1, 1024), piece.upper - piece.lower)
    near = value(piece.density, {piece.name: hull(point, point + width)})
    return bool(near.is_finite()) or _disc(piece.density, piece.name, point) is not None


def _bounded(density: Expr, name: str, lower: Fraction, upper: Fraction, depth: int = 0) -> bool:
    """Whether the density is certainly finite on a closed interval, by bisection."""
    if value(density, {name: hull(lower, upper)}).is_finite():
        return True
    for point in (lower, upper):
        disc = _disc(density, name, point)
        if disc is not None and rational(upper - lower) < disc.radius:
            return True
    if depth > 12:
        return False
    # a scale-free middle reaches 2^k in few steps
    middle = _middle(lower, upper)
    return _bounded(density, name, lower, middle, depth + 1) and _bounded(density, name, middle, upper, depth + 1)


def _middle(lower: Fraction, upper: Fraction) -> Fraction:
    if lower > 0 and upper > 4 * lower:
        return lower * Fraction(2) ** ((upper / lower).__floor__().bit_length() // 2)
    if upper < 0:
        return -_middle(-upper, -lower)
    return (lower + upper) / 2


def _singular_ends(piece: Piece) -> Iterator[tuple[str, Fraction, Fraction | None]]:
    """The ends of a piece where the density may be unbounded: side, point (0 at infinity) and the other end of the piece."""
    for point, other, inward in ((piece.lower, piece.upper, 1), (piece.upper, piece.lower, -1)):
        if point is None:
            yield ("-inf" if inward > 0 else "+inf"), Fraction(0), other
        elif not _regular(piece, point, inward):
            yield ("right" if inward > 0 else "left"), point, other


def integrable(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None) -> bool | None:
    """Whether the integral over (lower, upper) is finite: True or False where proved, None where not."""
    answer: bool | None = True
    for piece in pieces(density, name, lower, upper):
        low, high = piece.lower, piece.upper
        for side, point, other in _singular_ends(piece):
            found = _integrable_towards(piece.density, name, _ends(side, other, point))
            if found is None:
                answer = None
            elif not found[0]:
                return False
            elif side in ("-inf", "right"):
                low = found[1].boundary()
            else:
                high = found[1].boundary()
        if low is not None and high is not None and low < high and not _bounded(piece.density, name, low, high):
            answer = None
    return answer


def infinite_ends(noise: Additive) -> list[str]:
    """The places where the density certainly has an infinite integral (or sum, on the integers), for messages. Raises Undecided."""
    lower, upper = domain(noise)
    found = []
    for piece in pieces(whole_density(noise), variable(noise), lower, upper):
        for side, point, other in _singular_ends(piece):
            lattice = isinstance(noise, Translation) and noise.integers
            if lattice and side in ("right", "left"):
                continue
            judged = _integrable_towards(piece.density, piece.name, _ends(side, other, point))
            if judged is not None and not judged[0] and (not lattice or _monotone(piece, judged[1])):
                found.append(_end_name(side, point))
    return found


def _monotone(piece: Piece, end: End) -> bool:
    """Whether the density certainly rises or falls on the end, so that its sum is infinite where its integral is."""
    slope: Germ = end_jet(neg_log(piece.density), piece.name, end).d1
    return bool(slope.k.lo >= 0 or slope.k.hi <= 0)


@dataclass(frozen=True, slots=True)
class Disc:
    """A disc round a removable singularity on which the density is at most `bound` in absolute value."""

    radius: arb
    bound: arb


@lru_cache(maxsize=256)
def _disc(density: Expr, name: str, point: Fraction) -> Disc | None:
    """The disc round a point where the density is N(z) / (z - point)^m with N analytic and zero of order m, or None.

    The quotient is then analytic in the disc, so its maximum on the circle bounds it inside.
    """
    distance = sub(Sym(name), Num(point))
    factors = density.args if isinstance(density, Mul) else (density,)
    poles = [f for f in factors if isinstance(f, Pow) and f.base == distance and isinstance(f.exponent, Num)]
    order = -sum((f.exponent.value for f in poles if isinstance(f.exponent, Num)), Fraction(0))
    if not 0 < order <= _MOST_ORDER or order.denominator != 1:
        return None
    numerator = mul(*(f for f in factors if f not in poles))
    try:
        taylor = numerator
        for _ in range(int(order)):
            if substitute(taylor, {name: Num(point)}) != ZERO:
                return None
            taylor = derivative(taylor, name)
    except ExprError:
        return None
    function = compiled(numerator, name)
    for k in (2, 1, 0, -1, -2, -4):
        radius = arb(2) ** k
        across = (-radius).union(radius)
        if not function(acb(rational(point) + across, across), True).is_finite():
            continue
        bound = arb(0)
        for i in range(_ARCS):
            bound = bound.max(abs(function(rational(point) + _arc(i) * radius, True)).upper())
        if bound.is_finite():
            return Disc(radius, (bound / radius ** int(order)).upper())
    return None


def _arc(i: int) -> acb:
    """The i-th of _ARCS arcs of the unit circle, in a box."""
    angle = arb.pi() * 2 * arb(i).union(arb(i + 1)) / _ARCS
    return acb(angle.cos(), angle.sin())


# -- quadrature ------------------------------------------------------------------------------------

Complex = Callable[[acb, bool], acb]
"""A function on complex balls: the argument, and whether the value has to be non-finite where the function is not analytic."""


def compiled(expr: Expr, name: str) -> Complex:
    """The tree as a function of a complex ball, non-finite where `analytic` is asked and a branch cut is met."""
    if not symbols(expr):
        fixed = acb(constant(expr))
        return lambda z, a: fixed
    if isinstance(expr, Sym):
        return lambda z, a: z
    if isinstance(expr, Add | Mul):
        parts = [compiled(part, name) for part in expr.args]
        return _folded(parts, sums=isinstance(expr, Add))
    if isinstance(expr, Pow):
        base = compiled(expr.base, name)
        if isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1:
            n = int(expr.exponent.value)
            return lambda z, a: base(z, a) ** n
        if isinstance(expr.exponent, Num) and abs(expr.exponent.value) == Fraction(1, 2):
            return (lambda z, a: square_root(base(z, a), a)) if expr.exponent.value > 0 else (lambda z, a: 1 / square_root(base(z, a), a))
        exponent = compiled(expr.exponent, name)
        return lambda z, a: base(z, a).pow(exponent(z, a), analytic=a)
    assert isinstance(expr, Call)
    if expr.name in ("besselk", "logbesselk"):
        order, x = expr.args
        if symbols(order):
            raise Undecided("the order of besselk must be a constant.")
        return (_besselk if expr.name == "besselk" else _logbesselk)(order, compiled(x, name))
    args = [compiled(arg, name) for arg in expr.args]
    return _COMPLEX[expr.name](*args)


def square_root(u: acb, a: bool) -> acb:
    """The square root; on wide boxes by the logarithm too, which keeps them narrow across the real line."""
    found = u.sqrt(analytic=a)
    if u.rad() * 1024 > abs(u):
        other = (u.log(analytic=a) / 2).exp()
        if other.is_finite() and not other.rad() > found.rad():
            return other
    return found


def _folded(parts: list[Complex], sums: bool) -> Complex:
    def fold(z: acb, a: bool) -> acb:
        total = parts[0](z, a)
        for part in parts[1:]:
            total = total + part(z, a) if sums else total * part(z, a)
        return total

    return fold


class LogBesselK:
    """log K_v(u), v a real constant, and two derivatives, on balls in the right half-plane; non-finite off it.

    Let v >= 0 (K_-v = K_v) and y = K_(v-1)/K_v, so that the slope of log K_v is -y - v/u and its own slope 1 - y^2 +
    ((1 - 2 v) y + v/u)/u. K_v has no zero where |arg u| <= pi/2, and at u = i t the Wronskian gives Re y = 2/(pi t (J_v^2 + Y_v^2)(t)),
    which rises to 1 if v > 1/2 and falls to 1 if v < 1/2 (Watson 1944, sections 15.7 and 13.74). At infinity y tends to 1; at 0 it
    tends to 0 for v > 1/2, and Re y to infinity for v < 1/2. By the minimum principle f = 1 - y for v > 1/2, y - 1 for v < 1/2, maps
    the right half-plane into itself, so it does not expand hyperbolic distances (Schwarz and Pick): the disc that has w/k and w k > 0
    on opposite sides goes into that of f(w)/k and f(w) k. A wide disc costs one real value.
    """

    def __init__(self, order: Expr) -> None:
        self._v = constant(order)
        self._order, self._v = (order, self._v) if self._v >= 0 else (neg(order), -self._v)
        self._pair = _BesselPair(sub(self._order, ONE) if self._v >= 1 else self._order)

    def value(self, u: acb) -> acb:
        """From a real point, by the mean of the slope of log(u^v K_v(u)), which is -y."""
        middle = u.real.mid()
        if not (middle > 0 and self._v >= 0):
            return _NAN
        start = acb(self._scaled(middle)[0].log() - middle)
        if u.is_exact() and u.imag == 0:
            return start
        return start - self._v * (u / middle).log() - (u - middle) * (1 + self._excess(u.union(acb(middle))))

    def about(self, u: arb) -> tuple[arb, arb]:
        """The value and the slope at an exact u > 0."""
        at, y = self._scaled(u)
        return at.log() - u, -y - self._v / u

    def slope(self, u: acb) -> acb:
        return -1 - self._excess(u) - self._v / u

    def bend(self, u: acb) -> acb:
        """The second derivative."""
        excess = self._excess(u)
        return ((1 - 2 * self._v) * (1 + excess) + self._v / u) / u - excess * (2 + excess)

    def bound(self, u: acb) -> arb:
        """An upper bound of |K_v(u)|: K_v(Re u), from its integral of exp(-u cosh t) cosh(v t)."""
        least = u.real.lower()
        return ((-least).exp() * self._scaled(least)[0]).upper() if least > 0 else arb("inf")

    def _excess(self, u: acb) -> acb:
        """y - 1."""
        middle = u.real.mid()
        radius = (u - middle).abs_upper()
        low, high = (middle - radius).lower(), (middle + radius).upper()
        if not (low > 0 and self._v >= 0):
            return _NAN
        if radius == 0:
            return acb(self._scaled(middle)[1] - 1)
        w = middle if radius < middle * _NARROW else (low * high).sqrt().mid()
        k = (w / low).upper().max((high / w).upper())
        across = ((k - 1 / k) / 2).upper()
        return (self._scaled(w)[1] - 1) * acb((1 / k).union(k), (-across).union(across))

    def _scaled(self, u: arb) -> tuple[arb, arb]:
        """exp(u) K_v(u) and y at an exact u > 0."""
        lower, upper = self._pair(u)
        return (upper, lower / upper) if self._v >= 1 else (lower, upper / lower - 2 * self._v / u)


class _BesselPair:
    """exp(u) K_v(u) and exp(u) K_(v+1)(u) at exact u > 0, as `besselk_scaled`, by Taylor series where many u are near each other.

    a(u) = exp(u) K_v(u) is the integral of exp(-u (cosh t - 1)) cosh(v t): its derivatives alternate in sign. So round a centre c its
    Taylor coefficients obey |a_n| rho^n <= a(c - rho) for 0 < rho < c, which bounds what is left out. They follow from
    u a' = (u + v) a - u b and u b' = (u - v - 1) b - u a, b that of the order v + 1.
    """

    def __init__(self, order: Expr) -> None:
        self._order, self._v = order, constant(order)
        self._prec, self._size = ctx.prec, int(abs(self._v).ceil().upper().unique_fmpz() or 0)
        self._known: dict[tuple[fmpz, fmpz, int], tuple[arb, arb]] = {}
        self._visits: dict[tuple[int, int], int] = {}
        self._cells: dict[tuple[int, int], _BesselCell] = {}

    def __call__(self, u: arb) -> tuple[arb, arb]:
        mantissa, exponent = u.man_exp()
        key = mantissa, exponent, ctx.prec
        found = self._known.get(key)
        if found is None:
            known = self._size <= _MOST_TAYLOR_ORDER and u < _MOST_TAYLOR and ctx.prec <= self._prec
            cell = self._cell(int(mantissa), int(exponent)) if known else None
            found = besselk_scaled(self._order, u) if cell is None else cell.at(u)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def _cell(self, mantissa: int, exponent: int) -> _BesselCell | None:
        """The series for a quarter of an octave, made when a third value is asked for."""
        bits = mantissa.bit_length()
        key = bits + exponent, mantissa << 3 >> bits
        cell = self._cells.get(key)
        if cell is None:
            self._visits[key] = self._visits.get(key, 0) + 1
            if self._visits[key] > 2:
                cell = self._cells[key] = self._made(*key)
        return cell

    def _made(self, exponent: int, eighth: int) -> _BesselCell:
        """Round the middle of the interval from `eighth` to `eighth + 1` eighths of 2^exponent, 4 <= eighth < 8."""
        width = arb(2) ** (exponent - 3)
        centre = (eighth + arb(1) / 2) * width
        reach = centre * 7 / 8
        with precision(_BOUND_BITS):
            most = [bound.upper() for bound in besselk_scaled(self._order, centre - reach)]
        lost = int((3 * width).ceil().unique_fmpz() or 0)
        with precision(self._prec + _BESSEL_GUARD + lost):
            a, b = ([value] for value in besselk_scaled(self._order, centre))
            count = int((self._prec + _BITS_AN_ORDER * (self._size + 2)) * _TERMS)
            v, last = self._v, (arb(0), arb(0))
            for n in range(count - 1):
                x, y = a[-1], b[-1]
                scale = centre * (n + 1)
                a.append(((centre + v - n) * x + last[0] - centre * y - last[1]) / scale)
                b.append(((centre - v - 1 - n) * y + last[1] - centre * x - last[0]) / scale)
                last = x, y
            ratio = width / 2 / reach
            rest = [(bound * ratio**count / (1 - ratio)).upper() for bound in most]
        return _BesselCell(centre, (arb_poly(a), arb_poly(b)), (arb(0, rest[0]), arb(0, rest[1])))


@dataclass(frozen=True, slots=True)
class _BesselCell:
    """Taylor polynomials round a centre, and what they leave out on their interval."""

    centre: arb
    series: tuple[arb_poly, arb_poly]
    rest: tuple[arb, arb]

    def at(self, u: arb) -> tuple[arb, arb]:
        step = u - self.centre
        return self.series[0](step) + self.rest[0], self.series[1](step) + self.rest[1]


def _besselk(order: Expr, x: Complex) -> Complex:
    logarithm = LogBesselK(order)

    def f(z: acb, a: bool) -> acb:
        u = x(z, a)
        found = logarithm.value(u).exp()
        if 16 * found.rad() < abs(found):
            return found
        size = logarithm.bound(u)
        return found if found.is_finite() and found.rad() < size else acb((-size).union(size), (-size).union(size))

    return f


def _logbesselk(order: Expr, x: Complex) -> Complex:
    logarithm = LogBesselK(order)
    return lambda z, a: logarithm.value(x(z, a))


def _extreme(parts: tuple[Complex, ...], largest: bool) -> Complex:
    def f(z: acb, a: bool) -> acb:
        best = parts[0](z, a)
        for part in parts[1:]:
            other = part(z, a)
            best = best.real_max(other, analytic=a) if largest else best.real_min(other, analytic=a)
        return best

    return f


_COMPLEX: Final[dict[str, Callable[..., Complex]]] = {
    "exp": lambda u: lambda z, a: u(z, a).exp(),
    "log": lambda u: lambda z, a: u(z, a).log(analytic=a),
    "abs": lambda u: lambda z, a: u(z, a).real_abs(analytic=a),
    "floor": lambda u: lambda z, a: u(z, a).real_floor(analytic=a),
    "min": lambda *us: _extreme(us, False),
    "max": lambda *us: _extreme(us, True),
    "cosh": lambda u: lambda z, a: u(z, a).cosh(),
    "sinh": lambda u: lambda z, a: u(z, a).sinh(),
    "tanh": lambda u: lambda z, a: u(z, a).tanh(),
    "asinh": lambda u: lambda z, a: _asinh(u(z, a), a),
    "atanh": lambda u: lambda z, a: _atanh(u(z, a), a),
    "erf": lambda u: lambda z, a: u(z, a).erf(),
    "erfc": lambda u: lambda z, a: u(z, a).erfc(),
    "logerfc": lambda u: lambda z, a: u(z, a).erfc().log(analytic=a),
    "logexprel": lambda u: lambda z, a: _logexprel(u(z, a), a),
    "gamma": lambda u: lambda z, a: u(z, a).gamma(),
}


def _asinh(u: acb, a: bool) -> acb:
    """log(u + sqrt(1 + u^2)), an odd function; left of 0 the sum would cancel."""
    sign = -1 if u.real < 0 else 1
    return sign * (sign * u + (1 + u * u).sqrt(analytic=a)).log(analytic=a)


def _logexprel(u: acb, a: bool) -> acb:
    """log((exp(u) - 1) / u); round 0 the quotient is a mean of exp(t u) over t in [0, 1]."""
    mean = (acb(arb(0).union(arb(1))) * u).exp() if 0 in u else (u.exp() - 1) / u
    return mean.log(analytic=a)


def _atanh(u: acb, a: bool) -> acb:
    return ((1 + u).log(analytic=a) - (1 - u).log(analytic=a)) / 2


def _quadrature(density: Expr, name: str, lower: Fraction, upper: Fraction, reference: arb, bits: int) -> arb:
    """The integral over a closed interval by adaptive Gauss rules on complex balls (Johansson 2018)."""
    function = compiled(density, name)
    for point in (lower, upper):
        disc = _disc(density, name, point)
        if disc is not None:
            function = _with_disc(function, point, disc)
    tolerance = arb(2) ** -bits
    total = acb.integral(
        function,
        acb(rational(lower)),
        acb(rational(upper)),
        rel_tol=tolerance,
        abs_tol=reference * tolerance,
        eval_limit=20_000,
        depth_limit=4_000,
    )
    if not (total.real.is_finite() and 0 in total.imag):
        raise Undecided(f"the integral of the density from {lower} to {upper} has no finite enclosure.")
    return total.real.max(arb(0))


def _with_disc(function: Complex, point: Fraction, disc: Disc) -> Complex:
    """The function, by its bound where it has no finite value on a box inside the disc."""
    bounded = acb((-disc.bound).union(disc.bound), (-disc.bound).union(disc.bound))

    def f(z: acb, a: bool) -> acb:
        found = function(z, a)
        return bounded if not found.is_finite() and abs(z - rational(point)) < disc.radius else found

    return f


def _reference(piece: Piece) -> arb:
    """About the mass of a piece, a point only, to set tolerances by: the largest density * distance on a grid of powers of two."""
    best = arb(0)
    for k in range(-24, 25):
        for point in _grid(piece, Fraction(2) ** k):
            height = value(piece.density, {piece.name: rational(point)}).mid()
            if height.is_finite() and height > 0:
                best = best.max((height * rational(Fraction(2) ** k)).mid())
    return best


def _grid(piece: Piece, step: Fraction) -> Iterator[Fraction]:
    """The points at a distance inside from each end of a piece."""
    low = piece.lower if piece.lower is not None else (Fraction(0) if piece.upper is None else None)
    inside = [low + step] if low is not None else []
    if piece.upper is not None:
        inside.append(piece.upper - step)
    for point in inside:
        if (piece.lower is None or point > piece.lower) and (piece.upper is None or point < piece.upper):
            yield point


def integral(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, bits: int = 24) -> arb:
    """A ball that contains the integral of a density over (lower, upper), at about `bits` bits relative accuracy.

    None is an infinite end. Raises Undecided where the integral is not proved finite or the form is not covered.
    """
    with precision(max(ctx.prec, _WORKING)):
        found = pieces(density, name, lower, upper)
        references = [_reference(piece) for piece in found]
        largest = arb(0)
        for reference in references:
            largest = largest.max(reference)
        total = arb(0)
        for piece in found:
            total += _piece_integral(piece, largest.mid(), bits)
        return total


def _piece_integral(piece: Piece, reference: arb, bits: int) -> arb:
    total, left, right = arb(0), piece.lower, piece.upper
    for side, point, other in _singular_ends(piece):
        mass, boundary = _sharp_end(piece, side, other, point, reference * arb(2) ** -bits)
        total += mass
        if side in ("-inf", "right"):
            left = boundary
        else:
            right = boundary
    assert left is not None and right is not None
    if left == right:
        return total
    if left > right:
        raise Undecided("the two ends of a piece of the density overlap.")
    return total + _quadrature(piece.density, piece.name, left, right, reference, bits)


def _sharp_end(piece: Piece, side: str, other: Fraction | None, point: Fraction, wanted: arb) -> tuple[arb, Fraction]:
    """The mass of the first end that is as narrow as wanted, or of the narrowest, with the point where it starts."""
    ends = list(_ends(side, _halfway(point, other, side), point))
    known: dict[int, arb | None] = {}

    def mass(i: int) -> arb | None:
        if i not in known:
            known[i] = _known_mass(piece, ends[i], _end_name(side, point))
        return known[i]

    def sharp(i: int) -> bool:
        found = mass(i)
        return found is not None and bool(found.rad() <= wanted)

    # masses are the narrower the further out an end starts, nearly always: by doubling and halving, else one by one
    low, high = 0, 1
    while high < len(ends) and not sharp(high):
        low, high = high + 1, 2 * high + 1
    high = min(high, len(ends))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sharp(middle) else (middle + 1, high)
    best: tuple[arb, Fraction] | None = None
    for i in (low,) if low < len(ends) else range(len(ends)):
        found = mass(i)
        if found is not None and (best is None or found.rad() < best[0].rad()):
            best = found, ends[i].boundary()
    if best is None:
        raise Undecided(f"whether the density is integrable {_end_name(side, point)} is not certain.")
    return best


def _known_mass(piece: Piece, end: End, where: str) -> arb | None:
    """The mass of an end, None where it is not known. Raises Undecided where it is certainly infinite."""
    try:
        mass = end_mass(piece.density, piece.name, end)
    except (Undecided, ExprError):
        return None
    if mass is None:
        raise Undecided(f"the density is not integrable {where}.")
    return mass


def _halfway(point: Fraction, other: Fraction | None, side: str) -> Fraction | None:
    """Where an end must stop so that the end on the other side of its piece has room."""
    if other is None:
        return None if side in ("left", "right") else Fraction(0)
    return (point + other) / 2 if side in ("left", "right") else other


def _end_name(side: str, point: Fraction) -> str:
    return f"at {side[0]}infinity" if side in ("+inf", "-inf") else f"to the {side} of {point}"


# -- lattice noise ---------------------------------------------------------------------------------


def lattice_sum(density: Expr, name: str, lower: int | None, upper: int | None, bits: int = 24) -> arb:
    """A ball that contains the sum of a density over the integers from `lower` to `upper`. Raises Undecided."""
    with precision(max(ctx.prec, _WORKING)):
        total = arb(0)
        start = lower if lower is not None else 0 if upper is None or upper >= 0 else upper
        if upper is None:
            total += _half_sum(density, name, start, bits)
        else:
            if upper - start > _MOST_TERMS:
                raise Undecided(f"a sum of {upper - start} terms; at most {_MOST_TERMS}.")
            for n in range(start, upper + 1):
                total = finite(total + value(density, {name: arb(n)}))
        if lower is None:
            total += _half_sum(substitute(density, {name: neg(Sym(name))}), name, 1 - start, bits)
        if not total.is_finite():
            raise Undecided("the sum of the density over the integers has no finite enclosure.")
        return total


def _half_sum(density: Expr, name: str, start: int, bits: int) -> arb:
    """The sum from `start` on: terms, then a tail."""
    total, n, tail = arb(0), start, None
    for k in _LADDER:
        end = End("+inf", Fraction(2) ** k)
        while n < end.start:
            total = finite(total + value(density, {name: arb(n)}))
            n += 1
        if n > end.start:
            continue
        try:
            tail = _tail_sum(density, name, end)
        except (Undecided, ExprError):
            tail = None
        if tail is not None and tail.rad() <= total * arb(2) ** -bits:
            return total + tail
        if 2**k > _MOST_TERMS // 2:
            break
    if tail is None:
        raise Undecided("whether the density is summable over the integers is not certain.")
    return total + value(density, {name: arb(n)}) * 0 + tail


def _tail_sum(density: Expr, name: str, end: End) -> arb | None:
    """The sum over n >= start: from h(n+1) - h(n) = h'(xi), a geometric series; or between two integrals where h rises."""
    slope: Germ = end_jet(neg_log(density), name, end).d1
    first = value(resolve(density, name, end.start, None), {name: rational(end.start)})
    if not first >= 0:
        return None
    geometric = None
    if slope.k.is_zero() or slope.direction() <= 0:
        found = slope.bounds()
        if found.lo > 0:
            geometric = first * hull(1 / (1 - (-found.hi).exp()), 1 / (1 - (-found.lo).exp()))
    elif slope.k.lo > 0:
        least = (1 / slope.power(Fraction(-1)).bounds().hi).lower()
        geometric = first * hull(arb(1), 1 / (1 - (-least).exp()))
    if geometric is not None and geometric.is_finite():
        return geometric
    if slope.k.lo >= 0:
        mass = end_mass(resolve(density, name, end.start, None), name, end)
        return None if mass is None else mass + first * hull(Fraction(0), Fraction(1))
    return None


# -- noise -----------------------------------------------------------------------------------------


def domain(mechanism: Additive) -> tuple[Fraction | None, Fraction | None]:
    """The interval where the density lives, rational ends or None. Raises Undecided for irrational ends."""
    if isinstance(mechanism, Radial):
        return Fraction(0), None
    if isinstance(mechanism, Product):
        return None, None
    ends: list[Fraction | None] = []
    for end in mechanism.support:
        if end is not None and not isinstance(end, Num):
            raise Undecided("the ends of the support must be rational here.")
        ends.append(None if end is None else end.value)
    return ends[0], ends[1]


def whole_density(mechanism: Additive) -> Expr:
    """The density in one variable whose integral normalises the noise (up to the volume of the unit ball for radial noise)."""
    return weighted(mechanism.profile, mechanism.dimension) if isinstance(mechanism, Radial) else mechanism.density


@lru_cache(maxsize=256)
def has_normaliser(mechanism: Additive) -> bool | None:
    """Whether the noise is integrable: True or False where proved, None where not. Lattice noise: summable."""
    try:
        lower, upper = domain(mechanism)
        if isinstance(mechanism, Translation) and mechanism.integers:
            normaliser(mechanism)
            return True
        return integrable(whole_density(mechanism), variable(mechanism), lower, upper)
    except (Undecided, ExprError):
        return None


@lru_cache(maxsize=256)
def normaliser(mechanism: Additive, bits: int = 24) -> arb:
    """The integral of the density, for lattice noise the sum; for radial noise that of profile(r) r^(d-1).

    A norm ball of radius rho in the scaled norm round a point at distance a has mass rho^d profile(..) / (d * this),
    without any volume. Raises Undecided.
    """
    lower, upper = domain(mechanism)
    if isinstance(mechanism, Translation) and mechanism.integers:
        low = None if lower is None else lower.__ceil__()
        return lattice_sum(mechanism.density, "z", low, None if upper is None else upper.__floor__(), bits)
    return integral(whole_density(mechanism), variable(mechanism), lower, upper, bits)

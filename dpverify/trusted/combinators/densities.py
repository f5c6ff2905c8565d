"""What the density of noise shows of its neighbours: whether a reflection exchanges them, and whether it is log-concave."""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError, ExprError
from dpverify.trusted.kernel.expr import ONE, ZERO, Sym, add, call, div, mul, neg, sub, substitute, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import L1, Domain, Mechanism, Mixture, OnLine, Product, Radial, Sum, Translation, on_integers
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.rising import rises_convexly


@remembered(256)
def even(noise: Mechanism) -> bool:
    """Whether reflecting the output about a point certainly exchanges a shift and its negative."""
    from dpverify.trusted.combinators.gaussian_form import gaussian_form
    from dpverify.trusted.combinators.laplace_form import laplace_form

    if isinstance(noise, Radial | Mixture):
        return True
    if isinstance(noise, Sum):
        from dpverify.trusted.combinators.laws_of_sums import is_even

        return all(even(part.noise) for part in noise.parts) or (noise.dropouts == ZERO and is_even(noise))
    if not isinstance(noise, Translation | Product):
        return False
    if isinstance(noise, Translation) and noise.support != (None, None):
        low, high = noise.support
        if low is None or high is None or not certainly_equal(neg(low), high):
            return False
    mirrored = substitute(noise.density, {"z": neg(Sym("z"))})
    try:
        half = Shapes("z", True, {})
        if half.tidy(neg_log(noise.density)) == half.tidy(neg_log(mirrored)):
            return True
    except DpverifyError:
        pass
    if symbols(noise.density) <= {"z"} and certainly_equal(noise.density, mirrored, {"z": Domain()}):
        return True
    return laplace_form(noise) is not None or gaussian_form(noise) is not None


@remembered(256)
def coordinate(noise: Mechanism) -> Translation | None:
    """The noise of each coordinate, where all are independent and alike; None where that is not certain."""
    from dpverify.trusted.combinators.exponents import exponent

    if isinstance(noise, Product):
        return Translation(noise.density)
    if not isinstance(noise, Radial) or noise.norm != L1 or noise.dimension == ONE or (shape := exponent(noise)) is None:
        return None
    start = shape.at(ZERO)
    slope = sub(shape.at(ONE), start)
    linear = shape.equals(add(mul(slope, Sym("r")), start))
    return Translation(call("exp", neg(div(mul(slope, call("abs", Sym("z"))), shape.scale)))) if linear else None


@remembered(256)
def log_concave(noise: Mechanism) -> bool:
    """Whether additive noise on the reals certainly has a log-concave density, as a function on its whole space."""
    return isinstance(noise, Radial | Product | Translation) and not on_integers(noise) and convex_where_it_lives(noise, {})


def convex_where_it_lives(noise: OnLine, domains: Mapping[str, Domain]) -> bool:
    """Whether additive noise certainly has a log-concave density on the interval, or the integers of it, where it lives."""
    from dpverify.trusted.numbers.quotients import divided

    if isinstance(noise, Sum):
        from dpverify.trusted.combinators.laws_of_sums import merged

        return noise.dropouts == ZERO and all(convex_where_it_lives(one, domains) for one, _ in merged(noise))
    if on_integers(noise):
        from dpverify.trusted.combinators.laws_of_sums import is_log_concave_law

        if is_log_concave_law(noise):
            return True
    line, half = Shapes("z", False, domains), Shapes("z", True, domains)
    try:
        if isinstance(noise, Radial):
            radius = Shapes("r", True, domains)
            return rises_convexly(radius, radius.tidy(divided(neg_log(noise.profile), "r")))
        if not isinstance(noise, Product | Translation):
            return False
        low, high = noise.support if isinstance(noise, Translation) else (None, None)
        h, z = divided(neg_log(noise.density), "z"), Sym("z")
        right = half.tidy(h)
        reflected = right == half.tidy(half.mirrored(h)) or even(noise)
        if (reflected and rises_convexly(half, right)) or line.shape(line.tidy(h)).convex:
            return True
        inward = add(low, z) if low is not None else sub(high, z) if high is not None else None
        return inward is not None and half.shape(half.tidy(divided(substitute(h, {"z": inward}), "z"))).convex
    except (DpverifyError, ExprError):
        return False

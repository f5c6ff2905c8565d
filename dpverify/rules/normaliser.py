"""Whether the density of a kernel integrates to 1: enclosed integrals over the output at a few inputs."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpverify.errors import ExprError, Rejected, Undecided
from dpverify.expr import Expr, Num, Sym, add, format_expr, mul, sub, substitute
from dpverify.integral import integral
from dpverify.model import Claim, Kernel

WHAT: Final = "kernel"
SHARES: Final = (Fraction(0), Fraction(1, 3), Fraction(1))
"""Where in the range of inputs the integral is enclosed."""


@lru_cache(maxsize=16)
def check_normaliser(claim: Claim) -> tuple[str, ...]:
    """The hypothesis that the density integrates to 1, with the inputs where that was found to hold to within an enclosure.

    Raises Rejected where an enclosure certainly excludes 1.
    """
    kernel = claim.mechanism
    if not isinstance(kernel, Kernel):
        raise Rejected(WHAT, "mechanism", "only a density in y and theta is a kernel")
    checked = []
    for share in SHARES:
        theta = add(mul(Num(1 - share), kernel.input[0]), mul(Num(share), kernel.input[1]))
        if _integrates_to_one(kernel, theta):
            checked.append(format_expr(theta))
    where = f" (checked at {', '.join(checked)})" if checked else " (no enclosure of its integral was found)"
    return (f"the density integrates to 1 for every input{where}",)


def _integrates_to_one(kernel: Kernel, theta: Expr) -> bool:
    """Whether an enclosure of the integral holds 1; False where there is none. Raises Rejected where it excludes 1."""
    low, high = kernel.output
    density = substitute(kernel.density, {"theta": theta})
    ends: tuple[Fraction | None, ...] = tuple(end.value if isinstance(end, Num) else None for end in (low, high))
    if low is not None and high is not None and None in ends:
        # an end that is not rational: the output runs over [0, 1] instead
        length = sub(high, low)
        density, ends = mul(length, substitute(density, {"y": add(low, mul(length, Sym("y")))})), (Fraction(0), Fraction(1))
    elif any(found is None and end is not None for end, found in zip((low, high), ends, strict=True)):
        return False
    try:
        total = integral(density, "y", ends[0], ends[1])
    except (Undecided, ExprError):
        return False
    if total < 1 or total > 1:
        why = f"the density does not integrate to 1 at theta = {format_expr(theta)}: it gives {total.str(8, radius=False)}. "
        raise Rejected(WHAT, "density", why + "Write its normaliser out")
    return bool(total.is_finite())

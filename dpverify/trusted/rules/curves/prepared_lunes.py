"""Divergences by lunes, made ready once for every working precision, with their latest answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import Expr, format_expr
from dpverify.trusted.numbers.each_precision import per_precision

_SPARE: Final = 6
_KEPT: Final = 4_096


class Prepared:
    """Lunes made ready once for every working precision, and their latest answers."""

    def __init__(self, profile: Expr, make: Callable[[], Any]) -> None:
        self._profile, self._make = profile, make
        self.lunes = per_precision(self._lunes)
        self._known: dict[tuple[int, int, int], arb] = {}
        self.profile = divergence(self.divergence)

    def _lunes(self) -> Any:
        try:
            return self._make()
        except ExprError as error:
            raise Undecided(f"lunes of the profile {format_expr(self._profile)}: {error}") from error

    def divergence(self, epsilon: arb) -> arb:
        """H at an exact epsilon >= 0."""
        mantissa, exponent = epsilon.man_exp()
        key = int(mantissa), int(exponent), ctx.prec
        if key not in self._known:
            wanted = ctx.prec - _SPARE
            height = accurately(lambda: self._near(lambda at: self.lunes().divergence(at, wanted), epsilon)).max(arb(0)).min(arb(1))
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = height
        return self._known[key]

    @staticmethod
    def _near(falling_at: Callable[[arb], arb], epsilon: arb) -> arb:
        """A falling function, between its values on either side where epsilon is, or may be, a loss at which lunes change their form."""
        try:
            return falling_at(epsilon)
        except Undecided as error:
            reason = error
        step = (1 + epsilon) * arb(2) ** -(ctx.prec // 2)  # losses are enclosed to nearly all bits, so that half of them tell the two apart
        below = (epsilon - step).lower()
        try:
            above = falling_at((epsilon + step).upper())
            return above.union(falling_at(below)) if below >= 0 else above.union(arb(1))
        except Undecided:
            raise reason from None

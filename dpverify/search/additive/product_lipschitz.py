"""Proposes the rule `product-lipschitz`: a Lipschitz constant just above the largest slope seen, and cells that prove it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpverify.search.additive.asymptotics import evidence as normaliser
from dpverify.search.additive.closed_form import sensitivity_evidence
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, format_expr, neg, symbols
from dpverify.trusted.kernel.model import Claim, Product
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.jets import jet
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.pieces import breaks
from dpverify.trusted.theories.additive import slopes
from dpverify.trusted.theories.additive.rules import product_lipschitz as rule

BITS: Final = 96
STARTS: Final = tuple(Fraction(2) ** k for k in (4, 5, 6, 8, 10, 12, 16, 20))
SAMPLES: Final = 64
SLACK: Final = Fraction(1, 10**6)
MOST_CELLS: Final = 400


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """One upper step for a product without parameters. Its bound is not tight in general.

    Raises Undecided where no Lipschitz constant is found, Rejected where the rule does not apply.
    """
    noise = claim.mechanism
    if not isinstance(noise, Product) or claim.domains:
        return []
    h = neg_log(noise.density)
    with precision(BITS):
        for slope in _slopes(h, STARTS[0]):
            evidence = _evidence(h, slope, claim)
            if evidence is not None:
                rule.check(claim, evidence)
                return [{"rule": rule.NAME, "evidence": evidence}]
    raise Undecided("no bound was found on the slope of the logarithm of the density: independent coordinates want one here.")


def _slopes(h: Expr, start: Fraction) -> list[Expr]:
    """Candidates: the exact slopes of linear parts at the ends, and the largest slope sampled with some slack."""
    exact: list[Expr] = []
    for ends in ((start, None), (None, -start)):
        linear = linear_part(resolve(h, "z", *ends), "z")[0]
        exact += [linear, neg(linear)]
    coarse = max(_slope_at(h, Fraction(k, SAMPLES) * width) for width in (1, 4, start) for k in range(-SAMPLES, SAMPLES + 1))
    largest = max(_slope_at(h, coarse[1] + Fraction(k, SAMPLES**2) * coarse[2]) for k in range(-SAMPLES, SAMPLES + 1))[0]
    loose = Fraction(round(largest * 2**40), 2**40) * (1 + SLACK) + SLACK
    certain = [slope for slope in dict.fromkeys(exact) if isinstance(slope, Num) and slope.value >= largest * (1 - SLACK)]
    others = [slope for slope in dict.fromkeys(exact) if not isinstance(slope, Num) and not symbols(slope)]
    return [*certain, *others, Num(loose)]


def _slope_at(h: Expr, point: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The size of h' next to a point (0 where it has none there), with the point and how far round it to look again."""
    found = abs(jet(h, "z", rational(point + Fraction(1, 10**7))).d1)
    try:
        return exact(found.upper()), point, max(Fraction(1), abs(point))
    except Undecided:
        return Fraction(0), point, Fraction(1)


def _evidence(h: Expr, slope: Expr, claim: Claim) -> dict[str, Any] | None:
    start = next((start for start in STARTS if _ends_within(h, slope, start)), None)
    if start is None:
        return None
    kinks = sorted(point for point in breaks(h, "z") | {Fraction(0)} if -start < point < start)
    pending = list(zip([-start, *kinks], [*kinks, start], strict=True))[::-1]
    cuts = [-start]
    while pending:
        low, high = pending.pop()
        if slopes.cell_within(h, "z", slope, low, high):
            cuts.append(high)
        elif len(cuts) + len(pending) > MOST_CELLS or high - low < Fraction(1, 2**30):
            return None
        else:
            middle = (low + high) / 2
            pending += [(middle, high), (low, middle)]
    return {"slope": format_expr(slope), "cuts": [str(cut) for cut in cuts], **sensitivity_evidence(claim), **_normaliser(claim)}


def _ends_within(h: Expr, slope: Expr, start: Fraction) -> bool:
    try:
        return all(slopes.end_within(h, "z", slope, End(side, start)) for side in ("-inf", "+inf"))
    except DpverifyError:
        return False


def _normaliser(claim: Claim) -> dict[str, Any]:
    """What shows that the noise is integrable."""
    return normaliser(claim.mechanism) if isinstance(claim.mechanism, Product) else {}

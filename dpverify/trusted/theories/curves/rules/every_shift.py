"""Privacy curves of noise on the line of any shape: the greatest divergence over all shifts up to the sensitivity, by cells of shifts.

A longer shift need not be worse where the density has several modes, or a zero inside. Lengths are in units of the sensitivity, so that
shifts t lie in [-1, 1]. G(t) is the integral of (p(y) - a p(y - t))_+, a = e^epsilon. Boxes of y are split, the one that matters most
first, until each lies inside S = {p > a p(. - t)}, outside it, or adds little.

Theorem: Noise on the line with a density of bounded variation, of any shape: the tight delta is the greatest divergence of (p, p(. - s))
for |s| <= D, which need not be at D. Over a cell of shifts it is at most what it is at the middle one, by the integral over what is
certainly in {p > e^epsilon p(. - s)} up to its roots, with its slope there and a bound on how that changes, and what is not decided.

Checked:
- the shifts are cut into cells from end to end
- on every cell the divergence at the middle shift, its slope there, and how that changes
- the density is integrable, and non-negative where no assumption says otherwise
- the sensitivity is positive

Source: docs/theory/curves.md#every-shift
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.orientation import oriented
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.kernel.assumptions import EVERY, REAL
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, format_expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Radial, Translation
from dpverify.trusted.language.rationals import read_fraction, read_whole, to_fraction
from dpverify.trusted.theories.additive.points import sign_of
from dpverify.trusted.theories.curves.shifts import Effort, divergences
from dpverify.trusted.theories.curves.unimodal import in_pieces, shifted

NAME: Final = "every-shift"
ASSUMED: Final = ("the sampler is ideal",)

_MOST_CUTS: Final = 4_000
_MOST_BITS: Final = 200
_MOST_FAR: Final = 1_000


# -- the curve -------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of noise on the line. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", shifts as shares of the sensitivity, from 0 (from -1 where the density is not even) to 1; "at", the shift of the
    lower bound; "far", "point", "cell", see `Effort`; "sensitivity", if given, the certificate of a gauge.
    """
    noise, query, reached = run.part.mechanism, run.part.query, reach(run, parameters.get("sensitivity"))
    reading, shifts = shifted(noise, reached, in_pieces, NAME)
    assert isinstance(noise, Radial | Translation)
    if not certainly_lt(ZERO, shifts[1]):
        raise Rejected(NAME, "the sensitivity", f"{format_expr(shifts[1])} is not certainly positive")
    limits = (("far", _MOST_FAR), ("point", _MOST_BITS), ("cell", _MOST_BITS))
    effort = Effort(*(read_whole(parameters, key, NAME, 0, most) for key, most in limits))
    at = read_fraction(parameters, "at", NAME)
    require(0 < at <= 1, Rejected(NAME, "at", "it is no share of the sensitivity"))
    cuts = [to_fraction(cut, NAME) for cut in parameters.get("cuts", ())]
    if len(cuts) > _MOST_CUTS or any(low >= high for low, high in pairwise(cuts)):
        raise Rejected(NAME, "cuts", f"they are not at most {_MOST_CUTS} numbers in order")
    if not cuts or cuts[0] > (0 if reading.even else -1) or cuts[-1] < 1:
        raise Rejected(NAME, "cuts", "they do not reach over all shifts up to the sensitivity")
    above, below = (divergences(reading.stretched(shift), effort) for shift in shifts)
    one = isinstance(run.part, OnePair) and reached.exact
    pair = below.pair(Fraction(1) if one else at, reading.even)
    upper = pair if one else symmetric(above.greatest(cuts, (at,) if reading.even else (at, -at)))
    assumed = () if at == 1 or one else (REAL if query is not None else EVERY,)
    found = Curve(upper, pair, (NAME,), (*ASSUMED, *sign_of(noise)), assumed)
    if not one and query is not None:
        small = query.adjacency in ("l1", "l2")
        # a query moves by its own differences alone; and which order of the pair has the record, `oriented` knows of the whole one
        lower = oriented(found, run).lower if at == 1 or small else None
        found = replace(found, lower=lower)
    return settled.single(run, found)

"""Privacy curves of one-dimensional noise whose profile has no closed form, by enclosed integrals.

Lengths are in units of the shift, so that q(z) = p(z - 1). S, where p > e^epsilon q, is found cell by cell: on each the loss
log p(z) - log q(z) is proved monotone once, for all epsilons, so that for one epsilon it is left by one root at most. The integrand
vanishes at the root: a root known to 2^-b costs 2^-2b of H. What is not decided is counted by its mass, as an error.

Theorem: For additive noise on the line whose density does not fall up to a mode and does not rise after it, the pair at the full shift, in
both orders, dominates all others: where p(z) > e^epsilon p(z - s), s > 0, z - s lies before the mode, so that a longer shift only lowers
p(z - s).

Checked:
- the density is unimodal
- it is integrable
- the loss is monotone between the cuts
- the shift is not negative

Source: docs/theory/curves.md#line
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import refined
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, dominating
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ZERO, Expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Mechanism
from dpverify.trusted.theories.curves.unimodal import Hints, Reading, hints, read, shifted

NAME: Final = "line"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run.

    parameters: those of `hints`; "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided.
    """
    both = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), hints(parameters, NAME))
    return settled.noise(run, both, parameters, one_way=True)


def curve(noise: Mechanism, reach: Sensitivity, hints: Hints) -> Curve:
    """The curve of one-dimensional noise at a sensitivity, in units of the noise's norm.

    Raises Rejected for another kind of noise, a sensitivity that is not certainly at least 0 or a scale that is not certainly positive,
    Undecided where the density is not proved unimodal or has no enclosed integral.
    """
    density, shifts = shifted(noise, reach, partial(read, hints=hints), NAME)
    upper, lower = (_pair(density, shift, hints) for shift in shifts)
    if shifts[0] == shifts[1]:
        lower = upper
    return Curve(dominating(upper), lower, (NAME,), ASSUMED)


def _pair(density: Reading, shift: Expr, hints: Hints) -> Pair:
    if certainly_le(shift, ZERO):
        return ALIKE
    from dpverify.trusted.theories.curves.losses import Order

    sides = [density.stretched(shift) for density in ([density] if density.even else [density, density.mirrored()])]
    return refined(*(partial(Order, side, hints) for side in sides))

"""The tight delta as a closed form, where the mechanism has one: bounds that may be equal to the claim.

Theorem: Gaussian mechanisms and their compositions, Laplace noise, uniform and exponential noise, also cut off, finite tables and
compositions of equal randomized responses have a tight delta in closed form at every epsilon of at least 0.

Checked:
- the mechanism is one of these
- every sign on which the closed form depends

Source: docs/theory/curves.md#closed-profile
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import Run, leaf, merged, neighbours_assumed, occurs, reach, whole
from dpverify.trusted.kernel.assumptions import IDEAL
from dpverify.trusted.kernel.bounds import Bound, Parameters, Quantity
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, format_expr
from dpverify.trusted.kernel.model import Claim, Combinator, Exponential, KaryResponse, Table, Translation
from dpverify.trusted.theories.composition.rules import post_processing

NAME: Final = "closed-profile"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Parameters) -> tuple[Bound, ...]:
    """Both bounds on the tight delta, equal; of post-processed parts the upper one. No evidence. Raises Rejected, Undecided."""
    if claim.epsilon is None:
        raise Rejected(NAME, "the claim", "it wants an epsilon")
    value, rests = at(claim, claim.epsilon)
    return rests.bounds(claim, "delta", value, claim.epsilon)


@dataclass(frozen=True, slots=True)
class Rests:
    """What a closed form rests on: rules, assumptions, those of a lower bound beside them; None where no neighbours have it."""

    through: tuple[str, ...]
    assumed: tuple[str, ...]
    below: tuple[str, ...] | None

    def bounds(self, claim: Claim, quantity: Quantity, value: Expr, epsilon: Expr) -> tuple[Bound, ...]:
        """Both bounds, equal, or the upper one alone. epsilon: that of the witness."""
        assumed = (*self.assumed, *neighbours_assumed(claim))
        upper = Bound("upper", value, quantity=quantity, through=self.through, assumed=assumed)
        if self.below is None:
            return (upper,)
        witness = {"epsilon": format_expr(epsilon)}
        below = (*self.assumed, *neighbours_assumed(claim, "lower"), *self.below)
        return upper, Bound("lower", value, quantity=quantity, through=self.through, assumed=below, witness=witness)


def at(claim: Claim, epsilon: Expr) -> tuple[Expr, Rests]:
    """The tight delta at a constant epsilon, or a bound on it, and what it rests on. Raises Rejected, Undecided."""
    require(not claim.domains, Rejected(NAME, "the claim", "it wants a value for every parameter"))
    root = whole(claim).part
    runs = merged(root)
    for run in runs:
        if run.part.query is not None and not reach(run).exact:
            raise Rejected(NAME, "sensitivity", "it is not known exactly")
    value, through = _delta(runs, epsilon)
    assumed: tuple[str, ...] = (IDEAL,)
    if any(run.processed for run in runs):
        through, assumed = (*through, post_processing.NAME), (IDEAL, *post_processing.ASSUMED)
    if any(run.processed or not occurs(run) for run in runs):
        return value, Rests(through, assumed, None)
    if not isinstance(root.mechanism, Combinator):
        return value, Rests(through, assumed, ())
    from dpverify.trusted.combinators.neighbours import apart

    return value, Rests(through, assumed, apart(root))


def _delta(runs: tuple[Run, ...], epsilon: Expr) -> tuple[Expr, tuple[str, ...]]:
    noises = [run.part.mechanism for run in runs]
    if len(runs) == 1 and runs[0].times == 1:
        run, noise = runs[0], noises[0]
        if isinstance(noise, Table | Exponential | KaryResponse):
            asked = leaf(run)
            from dpverify.trusted.theories.curves import finite_delta

            delta = finite_delta.delta_expr(asked.mechanism, epsilon, asked.sensitivity)
            if delta is not None:
                from dpverify.trusted.theories.curves import faces

                return delta, (faces.RULE,)
            raise Rejected(NAME, "the table", "the sign of p - e^epsilon q is not certain somewhere")
        if run.part.query is None and gaussian_form(noise) is None:
            from dpverify.trusted.theories.curves.rules import laplace

            ratio = laplace.scale_ratio(noise, reach(run).upper)
            if ratio is not None:
                return laplace.delta_expr(ratio, epsilon), (laplace.NAME,)
        if isinstance(noise, Translation):
            from dpverify.trusted.theories.curves import ended
            from dpverify.trusted.theories.curves.rules import line

            delta = ended.delta_expr(noise, reach(run).upper, epsilon)
            if delta is not None:
                return delta, (line.NAME,)
    if len(runs) == 1 and isinstance(noises[0], Table):
        from dpverify.trusted.combinators.responses import randomized_response

        response = randomized_response(noises[0])
        if response is not None:
            from dpverify.trusted.theories.curves.optimal_delta import delta_expr

            delta = delta_expr(response, runs[0].times, epsilon)
            if delta is not None:
                from dpverify.trusted.theories.curves.rules import optimal_composition

                return delta, (optimal_composition.NAME,)
    from dpverify.trusted.theories.composition.rules import gaussian_composition
    from dpverify.trusted.theories.curves.rules import gaussian

    attained = gaussian_composition.total(runs, attained=True)
    if attained is None or attained != gaussian_composition.total(runs):
        raise Rejected(NAME, "the parts", "which coordinates, or which parts, move together is not known")
    through = gaussian_composition.NAME if len(runs) > 1 else gaussian.NAME
    return gaussian.delta_expr(attained, epsilon), (through, *gaussian_composition.through(runs))

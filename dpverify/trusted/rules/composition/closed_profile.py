"""The tight delta as a closed form, where the mechanism has one: bounds that may be equal to the claim.

Theorem: Gaussian mechanisms and their compositions, Laplace noise, finite tables and compositions of equal randomized responses have a
tight delta in closed form at every epsilon.

Checked:
- the mechanism is one of these
- every sign on which the closed form depends

Source: docs/theory/curves.md#closed-profile
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.assumptions import IDEAL
from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, format_expr
from dpverify.trusted.language.model import Claim, Combinator, Exponential, KaryResponse, Table
from dpverify.trusted.parts.gaussian_form import gaussian_form
from dpverify.trusted.parts.runs import Run, leaf, merged, neighbours_assumed, occurs, reach, whole
from dpverify.trusted.rules.composition import gaussian_composition, post_processing
from dpverify.trusted.rules.curves import gaussian

NAME: Final = "closed-profile"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Both bounds on the tight delta, equal; of post-processed parts the upper one. No evidence. Raises Rejected, Undecided."""
    if claim.domains or claim.epsilon is None:
        raise Rejected(NAME, "the claim", "it wants a value for every parameter, and an epsilon")
    root = whole(claim).part
    runs = merged(root)
    for run in runs:
        if run.part.query is not None and not reach(run).exact:
            raise Rejected(NAME, "sensitivity", "it is not known exactly")
    value, through = _delta(runs, claim.epsilon)
    assumed = (IDEAL, *post_processing.ASSUMED) if any(run.processed for run in runs) else (IDEAL,)
    upper = Bound("upper", value, quantity="delta", through=through, assumed=(*assumed, *neighbours_assumed(claim)))
    if any(run.processed or not occurs(run) for run in runs):
        return (upper,)
    witness = {"epsilon": format_expr(claim.epsilon)}
    below = (*assumed, *neighbours_assumed(claim, "lower"))
    if isinstance(root.mechanism, Combinator):
        from dpverify.trusted.parts.neighbours import apart

        below = (*below, *apart(root))
    return upper, Bound("lower", value, quantity="delta", through=through, assumed=below, witness=witness)


def _delta(runs: tuple[Run, ...], epsilon: Expr) -> tuple[Expr, tuple[str, ...]]:
    noises = [run.part.mechanism for run in runs]
    if len(runs) == 1 and runs[0].times == 1:
        run, noise = runs[0], noises[0]
        if isinstance(noise, Table | Exponential | KaryResponse):
            asked = leaf(run)
            from dpverify.trusted.rules.curves import finite_delta

            delta = finite_delta.delta_expr(asked.mechanism, epsilon, asked.sensitivity)
            if delta is not None:
                from dpverify.trusted.rules.curves import faces

                return delta, (faces.RULE,)
            raise Rejected(NAME, "the table", "the sign of p - e^epsilon q is not certain somewhere")
        if run.part.query is None and gaussian_form(noise) is None:
            from dpverify.trusted.rules.curves import laplace

            ratio = laplace.scale_ratio(noise, reach(run).upper)
            if ratio is not None:
                return laplace.delta_expr(ratio, epsilon), (laplace.NAME,)
    if len(runs) == 1 and isinstance(noises[0], Table):
        from dpverify.trusted.parts.responses import randomized_response

        response = randomized_response(noises[0])
        if response is not None:
            from dpverify.trusted.rules.curves.optimal_delta import delta_expr

            delta = delta_expr(response, runs[0].times, epsilon)
            if delta is not None:
                from dpverify.trusted.rules.curves import optimal_composition

                return delta, (optimal_composition.NAME,)
    attained = gaussian_composition.total(runs, attained=True)
    if attained is None or (len(runs) > 1 and attained != gaussian_composition.total(runs)):
        raise Rejected(NAME, "the parts", "which coordinates, or which parts, move together is not known")
    return gaussian.delta_expr(attained, epsilon), (gaussian_composition.NAME if len(runs) > 1 else gaussian.NAME,)

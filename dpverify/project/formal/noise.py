"""Claims of additive noise: that of a norm, of the line, of independent coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.project.formal.comparisons import compared
from dpverify.project.formal.file import Statement
from dpverify.project.formal.moves import HALF_LINE, LINE, Calculus, Moves, exponent
from dpverify.project.formal.terms import ATOM, NotReplayedError, Terms
from dpverify.trusted.language.expr import Call, Expr, Sym, children, div, mul, symbols
from dpverify.trusted.language.model import L1, Claim, Norm, Product, Radial, Translation

SPACE: Final = """(shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs) (place : Outputs -> {space})
    (Inputs : Type) (answer : Inputs -> {space}) (M : mechanism RR Inputs Outputs) (mass : R)"""


def radial(claim: Claim, mechanism: Radial, epsilon: Expr, distance: Expr, lower: Expr | None = None) -> Statement:
    """Noise of a norm: its tight epsilon is bounded by how much the exponent moves with the distance."""
    terms = Terms(dict(claim.domains))
    inner = terms.with_names(r="r")
    space = f"rows {terms.whole(mechanism.dimension)}"
    applied = inner.real(mechanism.scale, ATOM)
    calculus = Calculus(inner, "r", HALF_LINE, div(distance, mechanism.scale), tuple(_arguments(epsilon)))
    found = calculus.of(exponent(mechanism.profile))
    parameters = "".join(f" {name}" for name in _used(terms, claim, mechanism.profile))
    upper = (
        "refine (replay_radial semi _ mass_positive _ noise); [positive|].",
        *_loss(inner, found, f"profile{parameters}", exponent(mechanism.profile), epsilon),
    )
    apart = "norm_of_difference norm answer x x'"
    near, named = f"(within answer norm {terms.real(distance, ATOM)})", applied_to("epsilon", terms, claim, epsilon)
    if lower is None:
        conclusion, proof = f"pure_dp {near} M {named}", ("intros semi mass_positive noise.", *upper)
    else:
        conclusion = f"tight_between {near} M {applied_to('least', terms, claim, lower)} {named}"
        proof = (
            "intros semi mass_positive noise spread_out [x [x' apart]]. split.", "{ " + " ".join(upper) + " }",
            f"refine (replay_radial_lower (h := fun r => {inner.real(found.function)}) (a := 0) semi _ mass_positive _ noise",
            "  spread_out apart _ _ _ _).",
            "{ positive. }", "{ intros r in_domain. unfold profile. exponential. }", "{ lra. }", "{ continuous. }", "{ continuous. }",
            f"{{ unfold least. {' '.join(compared(inner, lower, epsilon)[:-1])} at_zero. }}",
        )  # fmt: skip
    return Statement(
        definitions=(
            *(line.replace("epsilon", "least", 1) for line in (epsilon_is(terms, claim, lower) if lower is not None else ())),
            f"Definition profile{_binders(terms, claim, mechanism.profile)} (r : R) : R := {inner.real(mechanism.profile)}.",
            *epsilon_is(terms, claim, epsilon),
        ),
        binders=(*terms.binders(), SPACE.format(space=space), f"(norm : {space} -> R)"),
        hypotheses=(
            "seminorm norm",
            "0 < mass",
            f"adds_noise mu place M answer (fun z => profile{parameters} (norm z / {applied}) / mass)",
            *([] if lower is None else ["(forall y, charged mu place norm y)", f"(exists x x', {apart} {terms.real(distance, ATOM)})"]),
        ),
        conclusion=conclusion,
        proof=proof,
        remarks=(f"The norm of the claim is {_name(mechanism.norm)}; the theorem is about every norm",),
    )


def translation(claim: Claim, mechanism: Translation, epsilon: Expr, distance: Expr) -> Statement:
    """Noise on the line, or on the integers."""
    if mechanism.support != (None, None):
        raise NotReplayedError("the density lives on a part of the line alone.")
    terms = Terms(dict(claim.domains))
    inner = terms.with_names(z="z")
    calculus = Calculus(inner, "z", LINE, distance, tuple(_arguments(epsilon)))
    found = calculus.of(exponent(mechanism.density))
    parameters = "".join(f" {name}" for name in _used(terms, claim, mechanism.density))
    return Statement(
        definitions=(
            f"Definition density{_binders(terms, claim, mechanism.density)} (z : R) : R := {inner.real(mechanism.density)}.",
            *epsilon_is(terms, claim, epsilon),
        ),
        binders=(*terms.binders(), SPACE.format(space="[lmodType RR of RR^o]")),
        hypotheses=("0 < mass", f"adds_noise mu place M answer (fun z => density{parameters} z / mass)"),
        conclusion=f"pure_dp (within answer Rabs {terms.real(distance, ATOM)}) M {applied_to('epsilon', terms, claim, epsilon)}",
        proof=(
            "intros mass_positive noise.",
            "refine (replay_translation mass_positive _ noise (fun _ _ near => near)).",
            *_loss(inner, found, f"density{parameters}", exponent(mechanism.density), epsilon),
        ),
    )


def product(claim: Claim, mechanism: Product, epsilon: Expr, distance: Expr) -> Statement:
    """Independent coordinates, neighbours being close in the l1 norm."""
    if mechanism.norm != L1:
        raise NotReplayedError("the sensitivity of independent coordinates is in another norm than l1.")
    terms = Terms(dict(claim.domains))
    inner = terms.with_names(z="z", step="step")
    found = Calculus(inner, "z", LINE, Sym("step")).of(exponent(mechanism.density))
    rate = div(found.most, Sym("step"))
    if "step" in symbols(rate):
        raise NotReplayedError("what a coordinate loses is not in proportion to its step.")
    parameters = "".join(f" {name}" for name in _used(terms, claim, mechanism.density))
    size = terms.whole(mechanism.dimension)
    space = f"rows {size}"
    return Statement(
        definitions=(
            f"Definition density{_binders(terms, claim, mechanism.density)} (z : R) : R := {inner.real(mechanism.density)}.",
            *epsilon_is(terms, claim, epsilon),
        ),
        binders=(*terms.binders(), SPACE.format(space=space)),
        hypotheses=("0 < mass", f"adds_noise mu place M answer (fun z => coordinates (density{parameters}) z / mass)"),
        conclusion=f"pure_dp (within answer (@norm1 {size}) {terms.real(distance, ATOM)}) M {applied_to('epsilon', terms, claim, epsilon)}",
        proof=(
            "intros mass_positive noise.",
            f"refine (replay_product (density := density{parameters}) (rate := {inner.real(rate)}) mass_positive _ _ _ _ noise).",
            "- positive.",
            "- intros z. unfold density. left. positive.",
            "- intros step step_lower.",
            f"  refine (loses_of_moves (h := fun z => {inner.real(found.function)}) {found.proof} _ _ _).",
            "  + below.",
            "  + intros z in_domain. unfold density. exponential.",
            "  + below.",
            "- unfold epsilon. " + " ".join(compared(terms, mul(rate, distance), epsilon)),
        ),
    )


def _loss(terms: Terms, found: Moves, density: str, exponent_: Expr, epsilon: Expr) -> Iterator[str]:
    """That the density loses at most epsilon."""
    variable = next(iter(terms.names))
    yield f"refine (loses_of_moves (h := fun {variable} => {terms.real(found.function)}) {found.proof} _ _ _)."
    yield "- below."
    yield f"- intros {variable} in_domain. unfold {density.split()[0]}. exponential."
    yield "- unfold epsilon. " + " ".join(compared(terms, found.most, epsilon))


def epsilon_is(terms: Terms, claim: Claim, epsilon: Expr) -> Iterator[str]:
    """The definition of what is claimed, by itself: where a theorem asks for a number of MathComp's, it would be read as one of these."""
    yield f"Definition epsilon{_binders(terms, claim, epsilon)} : R := {terms.real(epsilon)}."


def applied_to(name: str, terms: Terms, claim: Claim, expr: Expr) -> str:
    """A definition at the parameters of the claim that its expression names."""
    used = _used(terms, claim, expr)
    return f"({name} {' '.join(used)})" if used else name


def _name(norm: Norm) -> str:
    if norm.kind == "lp":
        return "the maximum norm" if norm.p is None else f"l{norm.p}"
    return f"given by {norm.kind}"


def _used(terms: Terms, claim: Claim, expr: Expr) -> list[str]:
    return [terms.parameter(name) for name in dict(claim.domains) if name in symbols(expr)]


def _binders(terms: Terms, claim: Claim, expr: Expr) -> str:
    return "".join(f" ({terms.parameter(name)} : {terms.type_of(name)})" for name in dict(claim.domains) if name in symbols(expr))


def _arguments(expr: Expr) -> Iterator[Expr]:
    """Of what the inverse hyperbolic sine is taken."""
    if isinstance(expr, Call) and expr.name == "asinh":
        yield expr.args[0]
    for child in children(expr):
        yield from _arguments(child)

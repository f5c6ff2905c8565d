"""Claims of additive noise: that of a norm, of the line, of independent coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dpverify.project.formal.comparisons import compared
from dpverify.project.formal.file import Statement
from dpverify.project.formal.moves import HALF_LINE, LINE, Calculus, Moves, exponent
from dpverify.project.formal.terms import ATOM, NotReplayedError, Terms
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import (
    ONE,
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Sym,
    add,
    call,
    children,
    div,
    format_expr,
    mul,
    neg,
    sqrt,
    symbols,
)
from dpverify.trusted.kernel.model import L1, L2, Claim, Norm, Product, Radial, Staircase, Translation

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
    parameters = "".join(f" {name}" for name in used_in(terms, claim, mechanism.profile))
    upper = (
        "refine (replay_radial semi _ mass_positive _ noise); [positive|].",
        *loss(inner, found, "profile", epsilon),
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
            f"Definition profile{binders_of(terms, claim, mechanism.profile)} (r : R) : R := {inner.real(mechanism.profile)}.",
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
    parameters = "".join(f" {name}" for name in used_in(terms, claim, mechanism.density))
    return Statement(
        definitions=(
            f"Definition density{binders_of(terms, claim, mechanism.density)} (z : R) : R := {inner.real(mechanism.density)}.",
            *epsilon_is(terms, claim, epsilon),
        ),
        binders=(*terms.binders(), SPACE.format(space="[lmodType RR of RR^o]")),
        hypotheses=("0 < mass", f"adds_noise mu place M answer (fun z => density{parameters} z / mass)"),
        conclusion=f"pure_dp (within answer Rabs {terms.real(distance, ATOM)}) M {applied_to('epsilon', terms, claim, epsilon)}",
        proof=(
            "intros mass_positive noise.",
            "refine (replay_translation mass_positive _ noise (fun _ _ near => near)).",
            *loss(inner, found, "density", epsilon),
        ),
    )


def product(claim: Claim, mechanism: Product, epsilon: Expr, distance: Expr) -> Statement:
    """Independent coordinates, neighbours being close in the l1 norm."""
    if mechanism.norm != L1:
        raise NotReplayedError("the sensitivity of independent coordinates is in another norm than l1.")
    terms = Terms(dict(claim.domains))
    inner, found, rate = _coordinate(terms, mechanism)
    parameters = "".join(f" {name}" for name in used_in(terms, claim, mechanism.density))
    size = terms.whole(mechanism.dimension)
    space = f"rows {size}"
    return Statement(
        definitions=(
            f"Definition density{binders_of(terms, claim, mechanism.density)} (z : R) : R := {inner.real(mechanism.density)}.",
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


def loss(terms: Terms, found: Moves, density: str, epsilon: Expr) -> Iterator[str]:
    """That the density loses at most epsilon. Raises NotReplayedError where that is not so by what is there, or not seen to be."""
    most, domains = found.most, terms.domains
    if certainly_lt(epsilon, most, domains):
        raise NotReplayedError(f"by the theorems that are there it loses up to {format_expr(most)}, which is more than is claimed.")
    if _has_asinh(most) and not _has_asinh(epsilon) and not certainly_lt(most, epsilon, domains):
        raise NotReplayedError(f"that {format_expr(most)} is no more than {format_expr(epsilon)} is not shown in Coq yet.")
    yield from bounded(terms, found, f"unfold {density}.")
    yield "- unfold epsilon. " + " ".join(compared(terms, found.most, epsilon))


def _has_asinh(expr: Expr) -> bool:
    return (isinstance(expr, Call) and expr.name == "asinh") or any(map(_has_asinh, children(expr)))


def bounded(terms: Terms, found: Moves, opened: str) -> Iterator[str]:
    """That the density loses at most what is found, which is left to compare."""
    variable = next(iter(terms.names))
    yield f"refine (loses_of_moves (h := fun {variable} => {terms.real(found.function)}) {found.proof} _ _ _)."
    yield "- below."
    yield f"- intros {variable} in_domain. {opened} exponential."


# -- noise as a part of something


@dataclass(frozen=True, slots=True)
class Piece:
    """A description of noise, what it loses at most, the proof of that, and the expressions that stand in it."""

    term: str
    epsilon: Expr
    proof: tuple[str, ...]
    used: tuple[Expr, ...]


def radial_part(terms: Terms, mechanism: Radial, distance: Expr, epsilon: Expr | None) -> Piece:
    """Noise of any norm. epsilon: of the whole, whose forms are tried."""
    inner = terms.with_names(r="r")
    arguments = tuple(_arguments(epsilon)) if epsilon is not None else ()
    found = Calculus(inner, "r", HALF_LINE, div(distance, mechanism.scale), arguments).of(exponent(mechanism.profile))
    ends = (inner.real(mechanism.scale, ATOM), inner.real(distance, ATOM))
    term = f"noise_of_norm (fun r => {inner.real(mechanism.profile)}) {ends[0]} {ends[1]}"
    proof = ("apply holds_noise_of_norm; [positive |].", *bounded(inner, found, "cbv beta."), "- below.")
    return Piece(term, tidied(found.most), proof, (mechanism.profile, mechanism.scale, distance))


def translation_part(terms: Terms, mechanism: Translation, distance: Expr, epsilon: Expr | None) -> Piece:
    """Noise on the line."""
    if mechanism.support != (None, None):
        raise NotReplayedError("the density lives on a part of the line alone.")
    inner = terms.with_names(z="z")
    arguments = tuple(_arguments(epsilon)) if epsilon is not None else ()
    found = Calculus(inner, "z", LINE, distance, arguments).of(exponent(mechanism.density))
    term = f"noise_on_line (fun z => {inner.real(mechanism.density)}) {inner.real(distance, ATOM)}"
    proof = ("apply holds_noise_on_line.", *bounded(inner, found, "cbv beta."), "- below.")
    return Piece(term, tidied(found.most), proof, (mechanism.density, distance))


def product_part(terms: Terms, mechanism: Product, distance: Expr) -> Piece:
    """Independent coordinates, under a budget in l1 or l2."""
    if mechanism.norm not in (L1, L2):
        raise NotReplayedError("the sensitivity of independent coordinates is in another norm than l1 and l2.")
    inner, found, rate = _coordinate(terms, mechanism)
    density, far = inner.real(mechanism.density), terms.real(distance, ATOM)
    once = (
        "- positive.",
        "- intros z. left. positive.",
        "- intros step step_lower.",
        *(f"  {line}" for line in bounded(inner, found, "cbv beta.")),
        "  - below.",
    )
    if mechanism.norm == L1:
        proof = (f"refine (holds_noise_of_coordinates (rate := {inner.real(rate)}) _ _ _ _).", *once, "- below.")
        return Piece(f"noise_of_coordinates (fun z => {density}) {far}", mul(rate, distance), proof, (mechanism.density, distance))
    size = terms.whole(mechanism.dimension)
    count = f"replace (INR {size}%nat) with {size} by natural; " if isinstance(mechanism.dimension, Num) else ""
    proof = (f"refine (holds_noise_of_coordinates_in_l2 (rate := {inner.real(rate)}) _ _ _ _ _).", "- positive.", *once, f"- {count}below.")
    term = f"noise_of_coordinates_in_l2 {size} (fun z => {density}) {far}"
    value = mul(rate, sqrt(mechanism.dimension), distance)
    return Piece(term, value, proof, (mechanism.density, mechanism.dimension, distance))


def tidied(expr: Expr) -> Expr:
    """The expression in normal form."""
    match expr:
        case Add():
            return add(*map(tidied, expr.args))
        case Mul():
            return mul(*map(tidied, expr.args))
        case Call():
            return call(expr.name, *map(tidied, expr.args))
    return expr


def staircase(mechanism: Staircase) -> Translation:
    """The density of staircase noise on the line."""
    steps = call("floor", add(call("abs", Sym("z")), ONE, neg(mechanism.gamma)))
    return Translation(call("exp", neg(mul(mechanism.epsilon, steps))))


def _coordinate(terms: Terms, mechanism: Product) -> tuple[Terms, Moves, Expr]:
    """What one coordinate loses at a step, and in proportion to it."""
    inner = terms.with_names(z="z", step="step")
    found = Calculus(inner, "z", LINE, Sym("step")).of(exponent(mechanism.density))
    rate = div(tidied(found.most), Sym("step"))
    if "step" in symbols(rate):
        raise NotReplayedError("what a coordinate loses is not in proportion to its step.")
    return inner, found, rate


def epsilon_is(terms: Terms, claim: Claim, epsilon: Expr) -> Iterator[str]:
    """The definition of what is claimed, by itself: where a theorem asks for a number of MathComp's, it would be read as one of these."""
    yield f"Definition epsilon{binders_of(terms, claim, epsilon)} : R := {terms.real(epsilon)}."


def applied_to(name: str, terms: Terms, claim: Claim, expr: Expr) -> str:
    """A definition at the parameters of the claim that its expression names."""
    used = used_in(terms, claim, expr)
    return f"({name} {' '.join(used)})" if used else name


def _name(norm: Norm) -> str:
    if norm.kind == "lp":
        return "the maximum norm" if norm.p is None else f"l{norm.p}"
    return f"given by {norm.kind}"


def used_in(terms: Terms, claim: Claim, *exprs: Expr) -> list[str]:
    """The parameters that stand in some of the expressions."""
    return [terms.parameter(name) for name in dict(claim.domains) if any(name in symbols(expr) for expr in exprs)]


def binders_of(terms: Terms, claim: Claim, *exprs: Expr) -> str:
    """The same, with their types."""
    return "".join(
        f" ({terms.parameter(name)} : {terms.type_of(name)})" for name in dict(claim.domains) if any(name in symbols(e) for e in exprs)
    )


def _arguments(expr: Expr) -> Iterator[Expr]:
    """Of what the inverse hyperbolic sine is taken."""
    if isinstance(expr, Call) and expr.name == "asinh":
        yield expr.args[0]
    for child in children(expr):
        yield from _arguments(child)

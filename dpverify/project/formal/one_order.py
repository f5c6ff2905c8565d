"""Claims about one order of neighbours that do not hold in both: tables of listed pairs, and noise on the line that is never below 0."""

from __future__ import annotations

from fractions import Fraction

from dpverify.project.formal import noise, tables
from dpverify.project.formal.file import Statement
from dpverify.project.formal.moves import HALF_LINE, Calculus, exponent
from dpverify.project.formal.terms import ATOM, Terms
from dpverify.trusted.language.expr import ZERO, Expr, num
from dpverify.trusted.language.model import ONE_SIDED, Claim, Exponential, Query, Table, Translation


def statement(claim: Claim, epsilon: Expr) -> Statement | None:
    """The theorem, or None where no other is there than that about both orders."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Table | Exponential) and mechanism.adjacent is not None:
        pairs = tuple(mechanism.adjacent) if claim.order == ONE_SIDED else tuple((y, x) for x, y in mechanism.adjacent)
        return tables.listed(claim, mechanism, epsilon, one_way=pairs)
    if isinstance(mechanism, Translation) and mechanism.support == (ZERO, None) and claim.query is not None:
        rise = _rise(claim.query, claim.order == ONE_SIDED)
        return None if rise is None else _never_below_0(claim, mechanism, epsilon, num(rise))
    return None


def _rise(query: Query, forward: bool) -> Fraction | None:
    """How much greater the first of two answers is at most; None where it may be less."""
    if len(query.rows) != 1 or query.adjacency != "add-remove":
        return None
    moves = [entry if forward else -entry for entry in query.rows[0]]
    return max(moves) if min(moves) >= 0 else None


def _never_below_0(claim: Claim, mechanism: Translation, epsilon: Expr, distance: Expr) -> Statement:
    terms = Terms(dict(claim.domains))
    inner = terms.with_names(z="z")
    found = Calculus(inner, "z", HALF_LINE, distance).of(exponent(mechanism.density))
    parameters = "".join(f" {name}" for name in noise.used_in(terms, claim, mechanism.density))
    density = f"(density{parameters})" if parameters else "density"
    refined, *left = noise.loss(inner, found, "density", epsilon)
    return Statement(
        definitions=(
            f"Definition density{noise.binders_of(terms, claim, mechanism.density)} (z : R) : R := {inner.real(mechanism.density)}.",
            *noise.epsilon_is(terms, claim, epsilon),
        ),
        binders=(*terms.binders(), noise.SPACE.format(space="[lmodType RR of RR^o]")),
        hypotheses=("0 < mass", f"adds_noise mu place M answer (fun z => from_0 {density} z / mass)"),
        conclusion=(
            f"dp_in_order (greater_by_at_most answer {terms.real(distance, ATOM)}) M {noise.applied_to('epsilon', terms, claim, epsilon)} 0"
        ),
        proof=(
            "intros mass_positive noise.",
            "refine (replay_one_way mass_positive _ _ noise).",
            "- intros z in_domain. unfold density. left. positive.",
            f"- {refined}",
            *(f"  + {line.removeprefix('- ')}" for line in left),
        ),
    )

"""Claims about one order of neighbours: of tables of listed pairs, noise that is never below 0, answers that move one way."""

from __future__ import annotations

from fractions import Fraction

from dpverify.project.formal import noise, selection, tables
from dpverify.project.formal.book import Book
from dpverify.project.formal.comparisons import compared
from dpverify.project.formal.file import Statement
from dpverify.project.formal.moves import HALF_LINE, Calculus, exponent
from dpverify.project.formal.terms import ATOM, NotReplayedError, Terms
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ZERO, Expr, format_expr, num
from dpverify.trusted.kernel.model import ONE_SIDED, ONE_WAY, AboveThreshold, Claim, Exponential, Query, Table, Translation


def statement(claim: Claim, epsilon: Expr) -> Statement | None:
    """The theorem, or None where the claim is about both orders, or no other theorem is there. Raises NotReplayedError."""
    mechanism = claim.mechanism
    if isinstance(mechanism, AboveThreshold) and mechanism.neighbours in ONE_WAY:
        return _above_threshold(claim, mechanism, epsilon)
    if not claim.order:
        return None
    if isinstance(mechanism, Table | Exponential) and mechanism.adjacent is not None:
        pairs = tuple(mechanism.adjacent) if claim.order == ONE_SIDED else tuple((y, x) for x, y in mechanism.adjacent)
        return tables.listed(claim, mechanism, epsilon, one_way=pairs)
    if isinstance(mechanism, Translation) and mechanism.support == (ZERO, None) and claim.query is not None:
        rise = _rise(claim.query, claim.order == ONE_SIDED)
        return None if rise is None else _never_below_0(claim, mechanism, epsilon, num(rise))
    return None


def _above_threshold(claim: Claim, mechanism: AboveThreshold, epsilon: Expr) -> Statement:
    """For answers of the second input that are no less, or no greater."""
    if claim.query is not None or claim.sensitivity is None:
        raise NotReplayedError("a selection whose answers move by what a query says is not written in Coq yet.")
    book = Book(claim, Terms(dict(claim.domains)))
    whole = selection.one_way(book, mechanism, claim.sensitivity)
    if not certainly_le(whole.epsilon, epsilon, dict(claim.domains)):
        raise NotReplayedError(
            f"by the theorems that are there it loses up to {format_expr(whole.epsilon)}, which is more than is claimed."
        )
    return Statement(
        definitions=(*book.definitions, *noise.epsilon_is(book.terms, claim, epsilon)),
        binders=(
            *book.terms.binders(),
            "(Inputs : Type) (Neighbours : relation Inputs) (shown : measure_display) (Outputs : measurableType shown)",
            "(M : mechanism RR Inputs Outputs)",
        ),
        hypotheses=(f"{whole.term} Inputs Neighbours shown Outputs M",),
        conclusion=f"dp_in_order Neighbours M {noise.applied_to('epsilon', book.terms, claim, epsilon)} 0",
        proof=(
            "intros is_described.",
            *book.proof,
            f"refine (holds_in_order_le {whole.holds} _ is_described).",
            f"unfold epsilon. {' '.join(compared(book.terms, whole.epsilon, epsilon))}",
        ),
        remarks=("Neighbours are in order: the guarantee is of the first input against the second",),
    )


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

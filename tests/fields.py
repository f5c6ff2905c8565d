"""The law that every field counts, of one claim and one change: what is found where a bound does not get worse, or a certificate lies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpverify.search.verify import Verified, verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, format_expr, symbols
from dpverify.trusted.kernel.judgement import Judgement, check
from dpverify.trusted.kernel.model import Claim

DIGITS = 9
Value = Expr | Infinite | None


def upper(judgement: Judgement) -> Value:
    """The upper bound on what is asked for; None where none is known."""
    return judgement.delta_upper if judgement.claim.delta is None else judgement.upper


def lower(judgement: Judgement) -> Value:
    """The lower bound on what is asked for."""
    return judgement.delta_lower if judgement.claim.delta is None else judgement.lower


def finite(value: Value) -> bool:
    """Whether something is known."""
    return value is not None and not isinstance(value, Infinite)


def less(left: Value, right: Value) -> bool:
    """Whether one bound is certainly less than another."""
    if left is None or right is None or isinstance(left, Infinite) or symbols(left):
        return False
    return isinstance(right, Infinite) or (not symbols(right) and certainly_lt(left, right))


def costs_nothing(old: Judgement) -> str | None:
    """Why a worse claim may have the same bound, whatever its field is; None where it may not."""
    if upper(old) == ZERO:
        return "Answers do not move at all, or no loss is above the claimed epsilon: what is far from telling anything may be so still."
    return None


def pure(old: Judgement) -> bool:
    """Whether the bound is on the pure epsilon, which holds at every delta."""
    found = answered(replace(old.claim, delta=ZERO)) if old.claim.delta not in (None, ZERO) else None
    return found is not None and found.judgement.upper == old.upper


def worse(old: Judgement, new: Judgement) -> bool:
    """Whether it says less of the claim than before: nothing is proved, or a greater bound."""
    if new.verdict != "PROVED" or not finite(upper(new)):
        return True
    return less(upper(old), upper(new))


def forged(certificate: Any, claim: Claim) -> Judgement | None:
    """What the kernel says of a certificate in which another claim has been put; None where it refuses it."""
    canonical = to_json(claim)
    try:
        return check({**certificate, "claim": canonical, "claim_sha256": claim_hash(canonical)})
    except DpverifyError:
        return None


def accepted(old: Verified, claim: Claim) -> list[str]:
    """What is wrong where the old certificate proves as much of a claim that is a little worse."""
    lie = forged(old.certificate, claim)
    if lie is None or worse(old.judgement, lie):
        return []
    return [
        f"the old certificate proves what is a little worse: {_shown(old.judgement)}, then {_shown(lie)} (rules: {', '.join(lie.rules)})"
    ]


def _shown(judgement: Judgement) -> str:
    def text(value: Value) -> str:
        if value is None or isinstance(value, Infinite):
            return "none" if value is None else "infinite"
        return format_expr(value)[:60] if symbols(value) else constant(value).str(8)

    return f"{judgement.verdict} [{text(lower(judgement))}, {text(upper(judgement))}]"


def answered(claim: Claim) -> Verified | None:
    """What is known of a claim; None where it is none."""
    try:
        return verify(claim, DIGITS)
    except DpverifyError:
        return None


def decided(claim: Claim) -> Verified | None:
    """What is known of a claim of which a finite bound is proved; None of others."""
    found = answered(claim)
    proved = found is not None and found.judgement.verdict == "PROVED" and finite(upper(found.judgement))
    return found if proved else None


def findings(old: Verified, claim: Claim, strict: bool) -> list[str]:
    """All that is wrong after a change of a claim of which something was proved. strict: whether it must cost something."""
    found = []
    before = old.judgement
    try:
        new = answered(claim)
        lie = forged(old.certificate, claim)
        back = None if new is None else forged(new.certificate, before.claim)
    except RuntimeError as error:
        return [f"a crash: {error}"]

    def tell(law: str, one: Judgement, other: Judgement) -> None:
        found.append(f"{law}: {_shown(one)}, then {_shown(other)} (rules: {', '.join(other.rules)})")

    if strict and new is not None and not worse(before, new.judgement):
        tell("the search says no less of the worse claim", before, new.judgement)
    if strict and lie is not None and not worse(before, lie):
        tell("the old certificate proves the worse claim", before, lie)
    for law, above, below in (
        ("the old certificate puts the changed claim below what is true of it", lie, None if new is None else new.judgement),
        ("the old certificate puts the changed claim above what is true of it", None if new is None else new.judgement, lie),
        ("the new certificate puts the old claim above what is true of it", before, back),
        ("the new certificate puts the old claim below what is true of it", back, before),
    ):
        if above is not None and below is not None and less(upper(above), lower(below)):
            tell(law, above, below)
    return found

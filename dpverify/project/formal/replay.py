"""A certificate as a Coq file whose last theorem is its claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpverify.project.formal import noise, one_order, parts, tables
from dpverify.project.formal.file import Statement, whole
from dpverify.project.formal.moves import coefficients, exponent
from dpverify.project.formal.terms import NotReplayedError
from dpverify.trusted.kernel.certificate import Certificate, Line
from dpverify.trusted.kernel.expr import ZERO, Expr, format_expr
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import (
    L1,
    AboveThreshold,
    Claim,
    Combinator,
    Exponential,
    KaryResponse,
    Kernel,
    Noise,
    NoisyMax,
    Product,
    Radial,
    Staircase,
    Table,
    Translation,
    all_parts,
    kind_of,
    sums_of,
)
from dpverify.trusted.kernel.registry import EXPLAINED
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds


@dataclass(frozen=True, slots=True)
class Replay:
    """text: of the file. proves: what its theorem says of the claim, as a sentence goes on after "replayed in Coq: "; whole: all of it."""

    text: str
    proves: str
    whole: bool


def replay(certificate: Certificate, judgement: Judgement, name: str) -> Replay:
    """The file for a certificate that holds. Raises NotReplayedError with the line that has no counterpart, and why."""
    claim = judgement.claim
    number, line = _deciding(certificate, judgement)
    where = f"line {number}, {line.rule}: "
    if judgement.verdict != "PROVED":
        raise NotReplayedError(f"{where}a refutation is a statement about two inputs and an event, which is not written in Coq yet.")
    if claim.measure is not None or claim.delta != ZERO:
        raise NotReplayedError(f"{where}only claims of a pure epsilon are written in Coq yet.")
    if sums_of(claim):
        raise NotReplayedError(f"{where}sums over records are not written in Coq yet.")
    epsilon = judgement.upper if claim.epsilon is None else claim.epsilon
    if not isinstance(epsilon, Expr):
        raise NotReplayedError(f"{where}no finite epsilon is proved.")
    try:
        one_way = one_order.statement(claim, epsilon)
        both = replace(claim, order="")
        statement, derived = (one_way, False) if one_way else _statement(both, epsilon, line, certificate, _lower(judgement, epsilon))
    except NotReplayedError as error:
        raise NotReplayedError(f"{where}{error}") from None
    tight, query = claim.epsilon is None and _lower(judgement, epsilon) is None, claim.query is not None
    said = f"that the tight epsilon is at most {format_expr(epsilon)}, not that it is at least as much" if tight else "the claim"
    if claim.order and one_way is None:
        said += ", in both orders of neighbours"
    numbers = any(
        isinstance(one, Exponential | KaryResponse) for one in (claim.mechanism, *(part.mechanism for part in all_parts(claim.mechanism)))
    )
    if numbers:
        said += ", for a table of the probabilities that follow from scores, or from the number of answers"
    if derived:
        said += ", for answers as far apart as the kernel derives from the queries"
    if query:
        said += f", for answers at most {format_expr(_distance(claim, line))} apart, which is what the kernel derives from the query"
    head = [f"{claim.mechanism_name}, {claim.name}: {said}.", *(f"{remark}." for remark in statement.remarks), f"From {name}."]
    return Replay(whole([_commented(text) for text in head], statement), said, not tight and not query and not derived and not numbers)


def _lower(judgement: Judgement, epsilon: Expr) -> Expr | None:
    """The lower bound of a tight claim, where the theorems that are there reach it."""
    claim, mechanism = judgement.claim, judgement.claim.mechanism
    linear = isinstance(mechanism, Radial) and set(coefficients(exponent(mechanism.profile), "r") or ()) == {1}
    reached = linear or isinstance(mechanism, Table | Exponential | KaryResponse)
    if claim.epsilon is not None or claim.order or claim.domains or claim.query is not None or not reached:
        return None
    return judgement.lower if isinstance(judgement.lower, Expr) and judgement.lower == epsilon else None


def _statement(claim: Claim, epsilon: Expr, line: Line, certificate: Certificate, lower: Expr | None) -> tuple[Statement, bool]:
    """The theorem, and whether parts of it are about queries."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Noise) and _equal_answers(claim, line):
        return parts.combined(replace(claim, sensitivity=ZERO, query=None), epsilon, ())
    in_parts = isinstance(mechanism, Combinator | NoisyMax | AboveThreshold | Kernel)
    if in_parts or (isinstance(mechanism, Product) and mechanism.norm != L1):
        return parts.combined(
            claim, epsilon, [one.parameters["sensitivity"] for one in certificate.lines if "sensitivity" in one.parameters]
        )
    return _single(claim, epsilon, line, lower), False


def _equal_answers(claim: Claim, line: Line) -> bool:
    """Whether the answers of all neighbours are the same."""
    if claim.query is None:
        return claim.sensitivity == ZERO
    return isinstance(claim.mechanism, Radial | Translation | Product) and _distance(claim, line) == ZERO


def _single(claim: Claim, epsilon: Expr, line: Line, lower: Expr | None) -> Statement:
    mechanism = claim.mechanism
    distance = _distance(claim, line) if isinstance(mechanism, Radial | Translation | Product | Staircase) else ZERO
    match mechanism:
        case Radial():
            return noise.radial(claim, mechanism, epsilon, distance, lower)
        case Translation():
            return noise.translation(claim, mechanism, epsilon, distance)
        case Staircase():
            return noise.translation(claim, noise.staircase(mechanism), epsilon, distance)
        case Product():
            return noise.product(claim, mechanism, epsilon, distance)
        case Table() | Exponential() | KaryResponse():
            return tables.listed(claim, mechanism, epsilon, lower)
    raise NotReplayedError(f"mechanisms of the kind {kind_of(mechanism)} are not written in Coq yet.")


def _distance(claim: Claim, line: Line) -> Expr:
    """The sensitivity: as stated, or as the kernel derives it from the query."""
    if claim.query is None and claim.sensitivity is not None:
        return claim.sensitivity
    evidence = line.parameters.get("sensitivity")
    upper = sensitivity_bounds(claim, evidence if isinstance(evidence, Mapping) else None).upper
    if not isinstance(upper, Expr):
        raise NotReplayedError("the sensitivity of the query is not finite.")
    return upper


def _deciding(certificate: Certificate, judgement: Judgement) -> tuple[int, Line]:
    """The line that the verdict is by: the last that is not about the other side."""
    other = "lower" if judgement.verdict == "PROVED" else "upper"
    every = enumerate(certificate.lines)
    lines = [(number, line) for number, line in every if line.parameters.get("side") != other and line.rule in EXPLAINED]
    used = [(number, line) for number, line in lines if line.rule in judgement.rules]
    return (used or lines or [(0, certificate.lines[0])])[-1]


def _commented(text: str) -> str:
    """Without what would end the comment, or begin one in it."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")

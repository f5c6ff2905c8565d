"""What the statements of a claim must be to mean something together. What only some claims state is looked at where it is stated."""

from __future__ import annotations

from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import (
    NEARNESS,
    Answering,
    Claim,
    Combinator,
    EllipticalProcess,
    Exponential,
    Guarantee,
    KaryResponse,
    Part,
    Selection,
    Space,
    Table,
    all_parts,
    kind_of,
    noises_of,
    variables_of,
)


def require_fitting(claim: Claim) -> None:
    """Raises CertificateError where what a claim states does not fit together."""
    everything: tuple[Claim | Part, ...] = (claim, *all_parts(claim.mechanism))
    for asked in everything:
        _require_moves(asked)
        if isinstance(asked.mechanism, Selection):
            load("language.selections").require_words(asked.mechanism, alone=asked is claim)
    near = claim.measure is not None and claim.measure.name == NEARNESS
    if near or claim.distance:
        load("language.nearness").require_alone(claim)
    if (claim.within is not None and not near) or any(isinstance(asked.mechanism, Space) for asked in everything):
        load("language.spaces").require_alone(claim)
    if claim.measure is not None or claim.order or any(isinstance(asked.mechanism, Guarantee) for asked in everything):
        load("language.orders").require_words(claim)
    if (claim.loss or claim.prior) and not isinstance(claim.mechanism, Table | Exponential):
        raise CertificateError(f"the claim states losses of the kind {kind_of(claim.mechanism)}, which has no lists of inputs and outputs.")
    if not (claim.name + claim.mechanism_name).isprintable():
        raise CertificateError("a name in the claim holds a line break or another character that cannot be seen.")
    bound = {symbol for asked in everything for held in (asked.mechanism, *noises_of(asked.mechanism)) for symbol in variables_of(held)}
    for name, _ in claim.domains:
        if not name.isidentifier() or not name.isascii() or name in bound:
            raise CertificateError(f"{name[:40]!r} cannot name a parameter of this mechanism.")


def _require_moves(asked: Claim | Part) -> None:
    """A query, or a sensitivity, or neither: of kinds that have one, and with one adjacency."""
    if asked.query is not None and not isinstance(asked.mechanism, Answering):
        raise CertificateError("only additive noise answers a query.")
    if asked.query is not None and asked.sensitivity is not None:
        raise CertificateError("the claim states a sensitivity beside the one that its query has.")
    if asked.query is not None and asked.adjacency:
        raise CertificateError("the claim states an adjacency beside the one that its query has.")
    if asked.sensitivity is not None and isinstance(asked.mechanism, Combinator | Table | KaryResponse | Guarantee | Space):
        raise CertificateError(f"the claim states a sensitivity of the kind {kind_of(asked.mechanism)}, which takes none.")
    if asked.sensitivity is not None and isinstance(asked.mechanism, EllipticalProcess) and asked.mechanism.differences:
        raise CertificateError("the claim states a sensitivity beside the one that its differences have.")

"""What must hold of what few claims state: other measures, orders, distances, selections, metric spaces of answers."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import CertificateError, certify
from dpverify.trusted.kernel.expr import PI, format_expr


def require_fitting(claim: model.Claim) -> None:
    """Raises CertificateError where it does not fit together."""
    everything: tuple[model.Claim | model.Part, ...] = (claim, *model.all_parts(claim.mechanism))
    for asked in everything:
        if isinstance(asked.mechanism, model.Selection | model.NoisyKeys):
            from dpverify.trusted.claims.selections import require_words

            require_words(asked.mechanism, alone=asked is claim)
    near = claim.measure is not None and claim.measure.name == model.NEARNESS
    if near or claim.distance:
        from dpverify.trusted.claims.nearness import require_alone

        require_alone(claim)
    if (claim.within is not None and not near) or any(isinstance(asked.mechanism, model.Space) for asked in everything):
        _require_space(claim)
    if claim.measure is not None or claim.order or any(isinstance(asked.mechanism, model.Guarantee) for asked in everything):
        from dpverify.trusted.claims import orders

        orders.require_words(claim)


def require_names(claim: model.Claim) -> None:
    """Raises CertificateError where a parameter has the name of a variable, or one that is none."""
    asked: tuple[model.Claim | model.Part, ...] = (claim, *model.all_parts(claim.mechanism))
    bound = {name for one in asked for held in (one.mechanism, *model.all_noises(one.mechanism)) for name in variables_of(held)}
    for name, _ in claim.domains:
        free = name.isidentifier() and name.isascii() and "__" not in name and name not in bound and name != format_expr(PI)
        certify(free, f"{name[:40]!r} cannot name a parameter of this mechanism.")


def variables_of(mechanism: model.Mechanism) -> Iterator[str]:
    """The variables of the expressions that a mechanism has."""
    if isinstance(mechanism, model.Stream):
        yield from model.names_of(mechanism)
    for name, symbols in model.VARIABLES.get(model.kind_of(mechanism), {}).items():
        if getattr(mechanism, name):
            yield from symbols


def _require_space(claim: model.Claim) -> None:
    """Raises CertificateError for a space that is a part, or is claimed what spaces have not; and for nearness to no point of a space."""
    if any(isinstance(part.mechanism, model.Space) for part in model.all_parts(claim.mechanism)):
        raise CertificateError("a space is no mechanism by itself, so it is no part of one.")
    if isinstance(claim.mechanism, model.Space) and (claim.measure is not None or claim.order):
        raise CertificateError("of a space pure privacy is claimed, in both orders.")
    if claim.within is not None and not isinstance(claim.mechanism, model.Space):
        raise CertificateError(f"the claim states how near answers are of the kind {model.kind_of(claim.mechanism)}, which is no space.")

"""What the statements of a claim must be to mean something together. What only some claims state is looked at where it is stated."""

from __future__ import annotations

import re
from typing import Final

from dpverify.trusted.language import model
from dpverify.trusted.language.errors import CertificateError, require
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import Claim, Part, all_parts, kind_of, noises_of, variables_of

_HIDDEN: Final = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
"""Letters and marks of Unicode that are drawn as nothing, in the form of a class of characters."""


def unseen(text: str) -> list[str]:
    """The characters of a text that break its line, turn it round, or are drawn as nothing."""
    return [mark for mark in text if not mark.isprintable() or re.match(f"[{_HIDDEN}]", mark)]


def require_fitting(claim: Claim) -> None:
    """Raises CertificateError where what a claim states does not fit together."""
    everything: tuple[Claim | Part, ...] = (claim, *all_parts(claim.mechanism))
    for asked in everything:
        _require_moves(asked)
        if isinstance(asked.mechanism, model.Selection):
            load("language.selections").require_words(asked.mechanism, alone=asked is claim)
    near = claim.measure is not None and claim.measure.name == model.NEARNESS
    if near or claim.distance:
        load("language.nearness").require_alone(claim)
    if (claim.within is not None and not near) or any(isinstance(asked.mechanism, model.Space) for asked in everything):
        load("language.spaces").require_alone(claim)
    if claim.measure is not None or claim.order or any(isinstance(asked.mechanism, model.Guarantee) for asked in everything):
        load("language.orders").require_words(claim)
    lists = isinstance(claim.mechanism, model.Table | model.Exponential)
    kind = kind_of(claim.mechanism)
    _require(
        lists or not (claim.loss or claim.prior), f"the claim states losses of the kind {kind}, which has no lists of inputs and outputs."
    )
    for name in (claim.name, claim.mechanism_name):
        _require(not unseen(name) and (not name or not name.isspace()), "a name in the claim holds a character that cannot be seen.")
    bound = {symbol for asked in everything for held in (asked.mechanism, *noises_of(asked.mechanism)) for symbol in variables_of(held)}
    for name, _ in claim.domains:
        free = name.isidentifier() and name.isascii() and name not in bound
        _require(free, f"{name[:40]!r} cannot name a parameter of this mechanism.")


def _require_moves(asked: Claim | Part) -> None:
    """A query, or a sensitivity, or neither: of kinds that have one, and with one adjacency."""
    mechanism, kind = asked.mechanism, kind_of(asked.mechanism)
    queried, stated = asked.query is not None, asked.sensitivity is not None
    none = isinstance(mechanism, model.Combinator | model.Table | model.KaryResponse | model.Guarantee | model.Space)
    _require(asked.adjacency in ("", *model.ADJACENCIES), f"{asked.adjacency[:40]!r} is no adjacency. Use {', '.join(model.ADJACENCIES)}.")
    _require(not queried or isinstance(mechanism, model.Answering), "only additive noise answers a query.")
    _require(not (queried and stated), "the claim states a sensitivity beside the one that its query has.")
    _require(not (queried and asked.adjacency), "the claim states an adjacency beside the one that its query has.")
    _require(not (stated and none), f"the claim states a sensitivity of the kind {kind}, which takes none.")
    _require(
        not (stated and isinstance(mechanism, model.EllipticalProcess) and mechanism.differences),
        "the claim states a sensitivity beside the one that its differences have.",
    )


def _require(holds: bool, otherwise: str) -> None:
    require(holds, CertificateError(otherwise))

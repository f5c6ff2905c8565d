"""What the statements of a claim must be to mean something together. What only some claims state is looked at where it is stated."""

from __future__ import annotations

import re
from typing import Final

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import certify
from dpverify.trusted.kernel.model import Claim, Part, all_parts, kind_of

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
    stated = claim.measure is not None or claim.within is not None or claim.distance or claim.order
    worded = model.Selection | model.NoisyKeys | model.Space | model.Guarantee
    if stated or any(isinstance(asked.mechanism, worded) for asked in everything):
        from dpverify.trusted.claims import fitting_kinds

        fitting_kinds.require_fitting(claim)
    no_lists = f"the claim states losses of the kind {kind_of(claim.mechanism)}, which has no lists of inputs and outputs."
    certify(isinstance(claim.mechanism, model.Table | model.Exponential) or not (claim.loss or claim.prior), no_lists)
    for name in (claim.name, claim.mechanism_name):
        certify(not unseen(name) and (not name or not name.isspace()), "a name in the claim holds a character that cannot be seen.")
    if claim.domains:
        from dpverify.trusted.claims.fitting_kinds import require_names

        require_names(claim)


def _require_moves(asked: Claim | Part) -> None:
    """A query, or a sensitivity, or neither: of kinds that have one, and with one adjacency."""
    mechanism, kind = asked.mechanism, kind_of(asked.mechanism)
    queried, stated = asked.query is not None, asked.sensitivity is not None
    none = isinstance(mechanism, model.Combinator | model.Table | model.KaryResponse | model.Guarantee | model.Space | model.NoisyVotes)
    certify(asked.adjacency in ("", *model.ADJACENCIES), f"{asked.adjacency[:40]!r} is no adjacency. Use {', '.join(model.ADJACENCIES)}.")
    several = asked.sums is not None and (queried or stated or bool(asked.adjacency))
    certify(not several, "the claim states a sensitivity, a query or an adjacency beside those of its sums.")
    answers = isinstance(mechanism, model.Answering)
    certify(answers or not (queried or asked.sums is not None), "only additive noise answers a query.")
    certify(not (queried and stated), "the claim states a sensitivity beside the one that its query has.")
    certify(not (queried and asked.adjacency), "the claim states an adjacency beside the one that its query has.")
    certify(not (stated and none), f"the claim states a sensitivity of the kind {kind}, which takes none.")
    certify(
        not (stated and isinstance(mechanism, model.EllipticalProcess) and mechanism.differences),
        "the claim states a sensitivity beside the one that its differences have.",
    )

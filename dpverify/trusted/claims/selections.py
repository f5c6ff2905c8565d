"""The words of selections, and what must hold of them in a claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import (
    ONE_WAY,
    AboveThreshold,
    Mixture,
    NoisyMax,
    Product,
    Radial,
    Selection,
    Stream,
    kind_of,
    noises_of,
)

REPORTS: Final[Mapping[type, tuple[str, ...]]] = {
    NoisyMax: ("index", "value", "index+gap"),
    AboveThreshold: ("answers", "answers+gap", "answers+value", "fresh"),
    Stream: (),
}
"""What selections may tell."""
TOGETHER: Final[Mapping[type, tuple[str, ...]]] = {
    NoisyMax: ("all", "monotone", "one"),
    AboveThreshold: ("all", "monotone", "one", *ONE_WAY),
    Stream: ("all", "monotone", "one", *ONE_WAY, "hull"),
}
"""How the answers of neighbours may move: each on its own, all the same way, one alone, or in the order of the data one way only."""
TIES: Final = ("first", "random")
"""Which of several answers that are the greatest noisy max tells, where it is said."""


def require_words(mechanism: Selection, alone: bool) -> None:
    """Raises CertificateError for a word that means nothing here. alone: whether it is the whole claim."""
    told = isinstance(mechanism, Stream) or mechanism.report in REPORTS[type(mechanism)]
    if not told or mechanism.neighbours not in TOGETHER[type(mechanism)]:
        raise CertificateError(f"a selection has a report or neighbours that {kind_of(mechanism)} does not have.")
    if isinstance(mechanism, AboveThreshold) and (mechanism.report == "fresh") != (mechanism.fresh is not None):
        raise CertificateError("above_threshold has fresh noise where it reports it, and nowhere else.")
    if isinstance(mechanism, NoisyMax) and mechanism.ties and (mechanism.ties not in TIES or mechanism.report == "value"):
        raise CertificateError("noisy max says of ties, where its report is no value, that the first is told, or one at random.")
    for noise in noises_of(mechanism):
        if getattr(noise, "dimension", ONE) != ONE:
            raise CertificateError("noise that is compared is not on the line: its dimension is not 1.")
        if isinstance(noise, Radial | Mixture | Product) and noise.norm.kind != "lp":
            # answers move by so much in size, which a norm by a matrix measures in another unit
            raise CertificateError("noise that is compared is in a norm by a matrix. State it in an lp norm, and its unit as a scale.")
    if mechanism.neighbours in ONE_WAY and not alone:
        raise CertificateError(f"neighbours = {mechanism.neighbours!r} is for one order of the data alone, which parts cannot be.")

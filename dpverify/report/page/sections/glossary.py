"""The words of the page, each in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.report.page.blocks import Block, Facts, Fold
from dpverify.report.page.subject import Run

TITLE = ""
WORDS: Final = (
    ("claim", "a mechanism, which inputs are neighbours, and the privacy that somebody says it has"),
    ("epsilon, delta", "P[M(x) in S] is at most e^epsilon P[M(x′) in S] + delta, for all neighbours x, x′ and every event S"),
    ("neighbours", "two inputs that differ by what privacy is to hide, such as the record of one person"),
    ("sensitivity", "by how much the true answers on neighbours differ at most, in the norm of the noise"),
    ("tight", "the least value for which the claim is true: claims of less are false, claims of more are true"),
    ("slack", "how far what is claimed is above the tight value, and in per cent of that; where it is below, the claim is false"),
    ("at least, at most, between", "proved bounds on the tight value; decimals are rounded outward, so that they are true as they stand"),
    ("as expected", "the verdict is the one that the claim file expects: PROVED where it says nothing else"),
    ("known from the baseline", "not as expected, and accepted before: it is shown, and does not fail a run"),
    ("assumed", "what the verdict takes for granted and no computation can show"),
    ("witness", "what refutes a claim: two inputs and an event that is more likely on one of them than the claim allows"),
    ("certificate", "the proof as a file; the kernel checks every step of it again, without any search"),
    ("rule", "a theorem that the kernel applies after it has checked its hypotheses"),
    ("audit", "a statistical test of the sampler; what it finds holds at the stated confidence, and it proves nothing"),
    ("zCDP (rho), GDP (mu), Renyi divergence", "other measures of privacy: https://arxiv.org/abs/1605.02065, 1905.02383 and 1702.07476"),
)  # fmt: skip


def blocks(run: Run) -> Sequence[Block]:
    """The glossary, folded."""
    return [Fold("What the words of this page mean", [Facts(WORDS)], anchor=":words")]

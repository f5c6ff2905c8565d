"""What was understood: the mechanism as a formula, its neighbours, its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.catalogue.formulas.words import norm as norm_in_words
from dpverify.report import mathml, understood, words
from dpverify.report.page.blocks import Block, Code, Facts, Fold, Inline, Math, Paragraph
from dpverify.report.page.subject import File
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import kind_of

TITLE = "Mechanism as parsed"
_NAMED = 4
"""As many claims as are named at once."""


def blocks(file: File) -> Sequence[Block]:
    """The mechanism of a claim file."""
    claim = file.entries[0].claim
    mechanism = claim.mechanism
    rows: list[tuple[str, Inline]] = [("kind", kind_of(mechanism).replace("_", " "))]
    norm, dimension, scale = getattr(mechanism, "norm", None), getattr(mechanism, "dimension", None), words.scale(mechanism)
    rows += [("norm", norm_in_words(norm))] if norm is not None else []
    rows += [("dimension", format_expr(dimension))] if dimension is not None else []
    rows += [("scale", scale)] if scale else []
    rows += [("for all", words.parameters(claim))] if claim.domains else []
    pairs: dict[str, list[str]] = {}
    for entry in file.entries:
        pairs.setdefault(words.neighbours(entry.claim), []).append(entry.claim.name)
    rows += [("neighbours" if len(pairs) == 1 else f"neighbours of {_listed(names)}", pair) for pair, names in pairs.items()]
    rows += [("claims in", Code(file.path))]
    letter = [(key, Code(value)) for key, value in understood(claim)]
    law = Math(mathml.density(mechanism), mathml.density_text(mechanism))
    return [Paragraph(law), Facts(rows), Fold("Letter by letter, as the kernel reads it", [Facts(letter)], aside=True)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")

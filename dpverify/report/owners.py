"""Who has to make sure of what is assumed: no density shows it, and no kernel checks it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dpverify.catalogue.assumed import EQUALITY, TIGHTNESS, plain


@dataclass(frozen=True, slots=True)
class Owner:
    """Who makes sure of an assumption, and how."""

    who: str
    how: str


SAMPLER: Final = Owner("sampler author", "audit it (`dpverify audit`), read where its randomness comes from and what it releases")
GUARANTEE: Final = Owner("author of the guarantee", "name the proof or the library that it is taken from")
DECLARATION: Final = Owner("author of the claim file", "check it with the text that it is taken from")
QUERY: Final = Owner("author of the query", "derive the sensitivity from the code of the query, or state the query, and it is derived")
DATA: Final = Owner("data owner", "compare it with what one person's records are, and with which data there can be")
NOBODY: Final = Owner("not needed for privacy", "only that a tight value cannot be smaller rests on it")

_TIGHTNESS: Final = (TIGHTNESS, EQUALITY)
_WORDS: Final = (
    (GUARANTEE, ("the guarantee that is stated",)),
    (
        SAMPLER,
        (
            "samples exactly from the declared distribution", "independent", "every subset of that size", "samples are drawn",
            "is released", "are released",
            "does not look at the data again", "the sample is not seen", "how often the part is run", "which output is the best",
        ),
    ),
    (DECLARATION, ("the density is", "moment generating function", "reproducing kernel space", "characteristic functional")),
    (
        QUERY,
        (
            "the query moves", "moves by at most", "sensitivity 1 (not stated)", "lie between the stated bounds", "answers differ by",
            "answers of neighbours differ by",
        ),
    ),
)  # fmt: skip
"""What tells whose an assumption is, in the order in which it is looked for; all that is left is about the data."""


def owner(assumption: str) -> Owner:
    """Who makes sure of an assumption."""
    assumption = plain(assumption)
    if assumption.startswith(_TIGHTNESS):
        return NOBODY
    return next((one for one, words in _WORDS if any(word in assumption for word in words)), DATA)


def by_owner(assumptions: Iterable[str]) -> dict[Owner, list[str]]:
    """Assumptions, each once, under those who make sure of them."""
    found: dict[Owner, list[str]] = {one: [] for one in (SAMPLER, QUERY, DATA, GUARANTEE, DECLARATION, NOBODY)}
    for assumption in dict.fromkeys(assumptions):
        found[owner(assumption)].append(assumption)
    return {one: said for one, said in found.items() if said}

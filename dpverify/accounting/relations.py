"""Which data sets are neighbours, as dp-accounting names it."""

from __future__ import annotations

from enum import Enum


class Relation(Enum):
    """How two neighbouring data sets differ: a record more, another record, or a record in the place of one that counts for nothing."""

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"
    REPLACE_SPECIAL = "replace-special"

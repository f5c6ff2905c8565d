"""Maps of an output that do not look at the data again."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.settled import KEPT_APART, POST_PROCESSED
from dpverify.trusted.language.model import Source

NAME: Final = POST_PROCESSED
STATEMENT: Final = (
    "A map of the output, random or not, that does not look at the data again keeps every bound from above: the event after the map is an "
    "event before it. What it leaves to be seen is not known, so bounds from below are not kept."
)
CHECKED: Final = ("lower bounds are dropped",)
ASSUMED: Final = (KEPT_APART,)
SOURCE: Final = Source("docs/theory/composition.md#post-processing")

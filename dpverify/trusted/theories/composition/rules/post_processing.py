"""Maps of an output that do not look at the data again.

Theorem: A map of the output, random or not, that does not look at the data again keeps every bound from above: the event after the map is
an event before it. What it leaves to be seen is not known, so bounds from below are not kept.

Checked:
- lower bounds are dropped

Source: docs/theory/composition.md#post-processing
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.settled import KEPT_APART, POST_PROCESSED

NAME: Final = POST_PROCESSED
ASSUMED: Final = (KEPT_APART,)

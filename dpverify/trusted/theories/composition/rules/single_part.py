"""What runs one mechanism once: behind maps of the data and of the outputs, or within a group.

Theorem: A composition of one mechanism that is run once has the curve of that mechanism; maps of the data and groups are in what its answer
moves by, and maps of the output keep the bound from above.

Checked:
- there is one mechanism, and it is run once

Source: docs/theory/composition.md#single-part
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Parameters, Premises

NAME: Final = "single-part"
ASSUMED: Final = ()


def infer(run: Run, _: Parameters, premises: Premises) -> Curve:
    """The curve of what comes to one run, from the curve of that. Raises Rejected, CertificateError."""
    runs = merged(run.part, run.factor)
    require(len(runs) == 1 and runs[0].times == 1, Rejected(NAME, "the parts", "there are several, or one is run several times"))
    (below,) = curves_of(premises, runs, NAME)
    return settled.together(run, below)

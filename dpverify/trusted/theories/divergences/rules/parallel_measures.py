"""Parts on disjoint parts of the data in other measures: a neighbour changes the data of one of them.

Theorem: If every record is in the data of at most one part, adding or removing one changes the output of that part alone, so the whole has
the greatest of the parts' values in every measure.

Checked:
- every part's value, by the fact that the rule is given of it
- no part speaks of replacing records, which can change two parts

Source: docs/theory/measures.md#parallel-measures, McSherry 2009, Theorem 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, neighbours_assumed
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Parallel
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.composition.rules import parallel_composition
from dpverify.trusted.theories.divergences.asked import bound, measure_of
from dpverify.trusted.theories.divergences.rules.added_measures import lower, uppers

NAME: Final = "parallel-measures"
ASSUMED: Final = parallel_composition.ASSUMED


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """A bound on the "side" that the parameters name: from above a premise for every part; from below one, of the part at "index".

    Raises Rejected, CertificateError.
    """
    measure_of(claim, NAME)
    mechanism, side = claim.mechanism, parameters.get("side")
    if not isinstance(mechanism, Parallel):
        raise Rejected(NAME, "the mechanism", "it is not of parts in parallel")
    if side == "lower":
        index = parameters.get("index")
        if type(index) is not int or not 0 <= index < len(mechanism.parts) or len(premises) != 1:
            raise CertificateError(f"{NAME}: a lower bound wants 'index', the number of a part, and one premise, about it.")
        return lower(claim, Run(mechanism.parts[index]), premises[0], NAME, (parallel_composition.LOWER,))
    if side != "upper" or len(premises) != len(mechanism.parts):
        raise CertificateError(f"{NAME}: it wants a 'side', and from above one premise for each part, {len(mechanism.parts)} in all.")
    values, listed, through = uppers(claim, list(map(Run, mechanism.parts)), premises, NAME)
    return bound(claim, "upper", greatest(values, {}), (*listed, *neighbours_assumed(claim)), through)

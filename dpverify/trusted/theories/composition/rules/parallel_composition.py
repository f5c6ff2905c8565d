"""Parts on disjoint parts of the data: a neighbour changes the data of one of them.

Theorem: If every record is in the data of at most one part, adding or removing one changes the output of that part alone, so the whole has
the greatest of the parts' profiles. A maximum of profiles is convex in e^eps, hence the profile of a pair.

Checked:
- no part speaks of replacing records, which can change two parts

Source: docs/theory/composition.md#parallel-composition, McSherry 2009, Theorem 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, greatest
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Parallel
from dpverify.trusted.language.rationals import read_fraction

NAME: Final = "parallel-composition"
ASSUMED: Final = ("the parts see disjoint parts of the data, and which part a record belongs to depends on the record alone",)
DISJOINT: Final = "parts in parallel see disjoint data, and which part a record belongs to depends on the record alone"
LOWER: Final = "a record that is worst for a part can be in its data"


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of parts in parallel, from those of the parts. parameters: "index", of the part that the lower bound is of.

    Raises Rejected, CertificateError.
    """
    mechanism = run.part.mechanism
    if not isinstance(mechanism, Parallel):
        raise Rejected(NAME, "the part", "it is not of parts in parallel")
    if not certainly_le(run.factor, ONE):  # several records may fall into several parts
        raise Rejected(NAME, "the part", "neighbours further apart than one record want the rule group-privacy")
    below = curves_of(premises, [Run(part, run.factor) for part in mechanism.parts], NAME)
    return settled.single(run, curve(below, int(read_fraction(parameters, "index", NAME))))


def curve(parts: Sequence[Curve], index: int) -> Curve:
    """The curve of parts in parallel; lower is that of the part at `index`. Raises Rejected for an index of no part."""
    require(0 <= index < len(parts), Rejected(NAME, "index", "it names no part"))
    rules = tuple(dict.fromkeys((NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for part in parts for line in part.assumed))))
    uppers = [part.upper for part in parts if part.upper is not None]
    upper = greatest(uppers) if len(uppers) == len(parts) else None
    return Curve(upper, parts[index].lower, rules, assumed, (LOWER, *parts[index].below))

"""Which of two neighbours has the record: a sample of the records mixes the output with it into the output without it.

A pair (P, Q) of a part is sampled as (1 - p) Q + p P against Q, P with the record. Noise that is not symmetric has other pairs in the two
orders. Where a query tells how a record moves the answer, only one of them may occur.
"""

from __future__ import annotations

from dataclasses import replace

from dpverify.trusted.combinators.one_pair import is_told
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import REVERSE, Claim, Sum, Translation


def facing(claim: Claim, pair: Pair) -> Pair:
    """A pair, of which the first has the record, in the order of neighbours that is claimed."""
    return pair.reversed if claim.order == REVERSE else pair


def oriented(found: Curve, run: Run) -> Curve:
    """The curve with its lower pair in the order in which the output with the record comes first; without it where that is not known.

    The pair as it comes is of an answer and of one that is further up: a record that moves the answer down. Where all records move one
    answer the same way, and one of them by the whole sensitivity, that pair bounds from above too: in each order a shorter move does less.
    """
    lower, query = found.lower, run.part.query
    if lower is None or query is None or lower.forward is lower.backward or run.mapped or not is_told(run.part):
        return found  # behind a map of the data a record may move the answer either way
    reached = reach(Run(run.part))
    at = reached.at
    if at is None:
        return replace(found, lower=None)
    columns = list(zip(*query.rows, strict=True))
    place = max(range(len(at)), key=lambda i: abs(at[i]))
    moves = [column[place] for column in columns if column in (at, tuple(-x for x in at))]
    if not moves:
        return replace(found, lower=None)
    pair = lower if min(moves) < 0 else lower.reversed
    one_way = all(column[place] * moves[0] >= 0 for column in columns)
    alone = isinstance(run.part.mechanism, Translation | Sum) and run.factor == ONE and reached.exact and found.upper is not None
    return replace(found, upper=pair if one_way and alone else found.upper, lower=pair)

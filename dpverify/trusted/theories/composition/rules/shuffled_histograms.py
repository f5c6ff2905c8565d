"""Shuffled tables of few people: what is told is a histogram, whose law is known for all that the others may have.

Theorem: Each of n people tells an output by the row of a table that their record has, and what is seen is how many tell each output. Where
c_x of the others have the record x, the histogram has the law of the coefficients of the product of the c_x-th powers of the polynomials
sum over y of R_x(y) s_y, and of that of the one. The tight delta of two records i and j of the one is the greatest over all c, and over
which of the two is first, of the sum of (P - e^eps Q)_+ over histograms.

Checked:
- the table is of rational numbers, or a response with rational probabilities of which all two records are alike
- every split of the others, and every two rows that are neighbours, in integers
- from below: two neighbouring rows and a split

Source: docs/theory/composition.md#shuffled-histograms
"""

from __future__ import annotations

from typing import Any, Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import refined
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, Num
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import KaryResponse, Matrix, Shuffle, Table
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.histograms import every, gains, histograms, size, weight
from dpverify.trusted.theories.composition.rules import shuffling

NAME: Final = "shuffled-histograms"
ASSUMED: Final = shuffling.ASSUMED
MOST: Final = 100_000
"""Of coefficients."""
_MOST_ANSWERS: Final = 64

Rows = tuple[Matrix, tuple[tuple[int, int], ...]]
"""A table, and every two of its rows that are neighbours, once."""


def infer(run: Run, parameters: Parameters, premises: Premises) -> Curve:
    """The curve of a shuffle. Raises Rejected, CertificateError.

    parameters: "below", if given: the "pair" of the one's rows, and how many of the "others" have each row.
    """
    shuffle = run.part.mechanism
    require(not premises, CertificateError(f"{NAME}: it rests on no premise."))
    if not isinstance(shuffle, Shuffle) or run.factor != ONE:
        raise Rejected(NAME, "the part", "it is not shuffled, or neighbours differ by more than one person")
    (rows, pairs), people = rows_of(shuffle.part.mechanism), shuffling.people_of(shuffle)
    require(size(rows, people) <= MOST, Rejected(NAME, "people", "what so many may tell is too much to be listed"))
    upper = refined(lambda: every(rows, pairs, people))
    lower = None
    if "below" in parameters:
        told = parameters["below"]
        pair = tuple(to_whole(row, "pair", NAME, 0, len(rows) - 1) for row in told["pair"])
        split = tuple(to_whole(count, "others", NAME, 0) for count in told["others"])
        known = histograms(rows, people)
        require(tuple(sorted(pair)) in pairs, Rejected(NAME, "pair", "these rows are no neighbours"))
        require(split in known, Rejected(NAME, "others", "they are not as many as there are, one number for each row"))
        one, other = (known[split][row] for row in pair)
        there, back = (gains([laws], weight(rows) ** people) for laws in ((one, other), (other, one)))
        lower = refined(lambda: there, lambda: back)
    return settled.single(run, Curve(upper, lower, (NAME,), ASSUMED, (shuffling.LOWER,)))


def rows_of(local: Any) -> Rows:
    """The rows of what each person runs. Raises Rejected. Of responses all two records are alike."""
    if isinstance(local, Table):
        rows, listed = rational_rows(local), local.adjacent
        two = [(i, j) for j in range(len(rows)) for i in range(j)] if listed is None else [(min(p), max(p)) for p in listed]
        return rows, tuple(dict.fromkeys(pair for pair in two if pair[0] < pair[1]))
    if isinstance(local, KaryResponse) and isinstance(local.k, Num) and isinstance(local.p, Num) and local.k.value <= _MOST_ANSWERS:
        k, p = int(local.k.value), local.p.value
        return tuple(tuple(p if x == y else (1 - p) / (k - 1) for y in range(k)) for x in range(k)), ((0, 1),)
    raise Rejected(NAME, "the part", "it is no table, and no response with rational numbers")


def rational_rows(local: Table) -> Matrix:
    """The rows of a table of rational numbers. Raises Rejected for others."""
    rows = tuple(tuple(entry.value for entry in row if isinstance(entry, Num)) for row in local.rows)
    require([*map(len, rows)] == [*map(len, local.rows)], Rejected(NAME, "the table", "its entries are not all rational numbers"))
    return rows

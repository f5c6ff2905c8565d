"""Who has the most votes with Gaussian noise, on one database: its curve against its neighbours.

Theorem: On a database with so many votes for each of k candidates, candidate i wins with the probability integral of phi(t - x_i) times the
product of Phi(t - x_j), j not i, x being the votes in units of the deviation. A neighbour has one vote less of one candidate, who has any,
and one more of another. The greatest divergence of the two laws over all neighbours, in one order and in the other, is that of this one
database. With several lists of votes the neighbour may be any in each of them: what is lost is the greatest of their products.

Checked:
- the probabilities, by sums over equally spaced points with a proved remainder
- every neighbour, of each list
- masses of losses on a grid bound each profile, where there are several lists

Source: docs/theory/selection.md#noisy-votes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, Evidence, Pair
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.rules import loss_distribution
from dpverify.trusted.theories.selection import votes

NAME: Final = votes.RULE
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def infer(run: Run, parameters: Parameters, _: Premises) -> Curve:
    """The curve of one run, the database with the votes first. Raises Rejected, Undecided, CertificateError.

    parameters: "moves", of each different list the number of the neighbour that the lower bound is at; of several lists "grid", and
    "reverse", the grid of the other order, and "chosen" where all neighbours in these are looked at, as of the rule loss-distribution;
    "below", where the lower bound has grids of its own: these, and "at", for each different list the numbers of neighbours, each with how
    many of the copies are at it, which all have a range.
    """
    if run.factor != ONE or run.mapped:
        raise Rejected(NAME, "the part", "its neighbours are those of one database")
    sigma, lists = votes.read(run.part.mechanism)
    told = parameters["moves"]
    if not isinstance(told, list) or len(told) != len(lists):
        raise CertificateError(f"{NAME}: 'moves' are not one number for each different list.")
    answers = [votes.Answer(sigma, each) for each in sorted(lists)]
    curves = list(map(curve, answers, told))
    if lists.total() == 1:
        return settled.single(run, curves[0])
    require("reverse" in parameters, CertificateError(f"{NAME}: both orders want a grid."))
    counts = [lists[each] for each in sorted(lists)]
    found = loss_distribution.distributions(curves, counts, parameters, seen=False)
    if "below" in parameters:
        found = replace(found, lower=_below(answers, counts, parameters["below"]))
    return settled.single(run, found)


def _below(answers: Sequence[votes.Answer], counts: Sequence[int], told: Evidence) -> Pair | None:
    """The product of one neighbour in each copy of each list. Raises Rejected, CertificateError."""
    parts, times = list[Curve](), list[int]()
    for answer, count, at in zip(answers, counts, told["at"], strict=True):
        each = [to_whole(copies, "at", NAME, 1, count) for _, copies in at]
        require(sum(each) == count, Rejected(NAME, "at", "it does not say of each copy of a list at which neighbour it is"))
        parts, times = [*parts, *(curve(answer, move) for move, _ in at)], [*times, *each]
    return loss_distribution.distributions(parts, times, told, seen=False).lower


def curve(answer: votes.Answer, move: object) -> Curve:
    """Of one list, from below at one neighbour in both orders. Raises CertificateError for a neighbour that is none."""
    upper = answer.at_most()
    lower = answer.at(to_whole(move, "moves", NAME, 0, len(answer.moves) - 1)) if answer.moves else upper
    return Curve(upper, lower, (NAME,), ASSUMED)

"""Noisy max on the integers between bounds, where several noisy answers may be the greatest: both ways to decide, by enumeration."""

from itertools import product

import numpy as np
import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.chances import pair, read_answers, ties
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import worst_output
from tests.selections import GEOMETRIC, alone, laplace, largest, of, on_line, sparse

Z = np.arange(-150, 151)
NOISES = {
    "geometric": (GEOMETRIC, np.exp(-np.abs(Z) / 2)),
    "one-sided": (on_line("exp(-z/2)", num(0), integers=True), np.where(Z >= 0, np.exp(-Z / 2.0), 0)),
    "two humps": (on_line("exp(-abs(abs(z) - 1))", integers=True), np.exp(-np.abs(np.abs(Z) - 1.0))),
}


def row(mass, answers, first):
    """The probabilities that each answer is told: of several greatest the first, or one of them at random."""
    total = np.cumsum(mass)

    def up_to(k):
        return np.where(k < Z[0], 0.0, total[np.clip(k - Z[0], 0, len(Z) - 1)])

    found = []
    for i, answer in enumerate(answers):
        less, same = (np.stack([up_to(Z + answer - other - 1 + k) for j, other in enumerate(answers) if j != i]) for k in (0, 1))
        same = same - less
        chance = 0.0
        for tied in product((False, True), repeat=len(answers) - 1):
            each = np.prod([s if tie else at for tie, at, s in zip(tied, less, same, strict=True)], axis=0)
            told = not any(tied[:i]) if first else 1 / (1 + sum(tied))
            chance += told * (mass * each).sum()
        found.append(chance)
    return np.array(found)


def greatest(mass, n, high, moved, neighbours, first):
    """The greatest loss over all pairs of neighbours."""
    rows = {answers: row(mass, answers, first) for answers in product(range(high + 1), repeat=n)}
    losses = [0.0]
    for x, y in product(rows, repeat=2):
        change = np.subtract(y, x)
        together = {"all": True, "monotone": min(change) >= 0 or max(change) <= 0, "one": np.count_nonzero(change) <= 1}[neighbours]
        if np.abs(change).max() <= moved and together:
            losses.append(float(np.log(rows[x] / rows[y]).max()))
    return max(losses)


@pytest.mark.parametrize(
    ("noise", "n", "high", "moved", "neighbours"),
    [
        ("geometric", 2, 1, 1, "all"), ("geometric", 3, 2, 1, "all"), ("geometric", 3, 2, 2, "all"), ("geometric", 3, 2, 1, "monotone"),
        ("geometric", 3, 2, 1, "one"), ("one-sided", 3, 1, 1, "all"), ("two humps", 3, 1, 1, "all"), ("two humps", 2, 2, 2, "all"),
    ],
)  # fmt: skip
def test_both_ways_to_decide_ties_are_within_the_bounds_and_one_is_at_each_end(noise, n, high, moved, neighbours):
    law, mass = NOISES[noise]
    mechanism = largest(law, n, neighbours=neighbours, bounds=(num(0), num(high)))
    judged = verify(of(mechanism, sensitivity=moved), 9).judgement
    low, top = (float(enclose(end).mid()) for end in (judged.lower, judged.upper))
    told = [greatest(mass / mass.sum(), n, high, moved, neighbours, first) for first in (True, False)]
    assert low == pytest.approx(min(told), abs=1e-8) and top == pytest.approx(max(told), abs=1e-8)


def test_one_candidate_alone_tells_nothing():
    judged = verify(of(largest(GEOMETRIC, 1, bounds=(num(0), num(1)))), 9).judgement
    assert enclose(judged.upper).mid() < 1e-8


BOX = largest(GEOMETRIC, 3, bounds=(num(0), num(2)))
CUTS = {"cuts": ["-60", "60"], "grids": {"noise": ["-70", "70"]}}


def bound(mechanism, value, **evidence):
    with precision(96):
        return worst_output.check(of(mechanism), {**evidence, "value": value})


def test_a_bound_from_below_holds_whichever_way_ties_are_decided_and_one_from_above_too():
    told = {"side": "lower", "positives": 0, "move": 0, **CUTS}  # by enumeration 0.8614991 at random, 0.9031888 where the first is told
    assert bound(BOX, "86149/100000", **told).value == parse("86149/100000")
    with pytest.raises(Rejected, match="as much where ties are decided at random"):
        bound(BOX, "8615/10000", **told)
    with pytest.raises(Rejected, match=r"the output does not certainly lose as much$"):
        bound(BOX, "904/1000", **told)
    assert bound(BOX, "90319/100000", **CUTS).value == parse("90319/100000")
    with pytest.raises(Rejected, match="does not certainly lose at most so much"):
        bound(BOX, "90318/100000", **CUTS)


def test_noise_of_any_law_wants_every_number_of_ties_to_be_looked_at():
    mechanism = largest(NOISES["two humps"][0], 3, bounds=(num(0), num(1)))
    cuts = {"cuts": ["-40", "40"], "grids": {"noise": ["-60", "60"]}}
    mass = NOISES["two humps"][1] / NOISES["two humps"][1].sum()
    rows = [row(mass, x, True) for x in ((1, 0, 0), (0, 1, 1), (0, 0, 1), (1, 1, 0))]
    won, lost = np.log(rows[0][0] / rows[1][0]), np.log(rows[2][2] / rows[3][2])
    assert abs(won - lost) > 0.01
    top = int(max(won, lost) * 1e6)
    assert bound(mechanism, f"{top + 1}/1000000", **cuts).side == "upper"
    with pytest.raises(Rejected, match="does not certainly lose at most so much"):
        bound(mechanism, f"{top - 1}/1000000", **cuts)


@pytest.mark.parametrize(
    ("mechanism", "known", "wanted"),
    [(BOX, False, [0, 1, 2]), (BOX, True, [0]), (largest(laplace(2), 3), False, [0]), (sparse(GEOMETRIC, GEOMETRIC, 3), False, [0])],
)
def test_of_noise_that_is_not_known_to_be_log_concave_each_number_of_ties_that_may_be_won_is_looked_at(mechanism, known, wanted):
    assert list(ties(asked(of(mechanism), {}, "test"), (2, 0), known)) == wanted


@pytest.mark.wide
def test_without_bounds_a_pair_of_integers_bounds_noise_of_any_law_from_below():
    judged = verify(of(largest(on_line("1/(1 + z**2)", integers=True), 2), "1/2")).judgement
    assert judged.verdict == "REFUTED" and "decided at random" in judged.witness["event"]


def test_events_at_a_delta_do_not_look_at_ties():
    claim = of(BOX, "1/2", delta=parse("1/1000"))
    with pytest.raises(Rejected, match="several may be the greatest"):
        alone(claim, "selection-event", positives=0, move=0, **CUTS)


@pytest.mark.parametrize("answers", [["1/2", "1"], ["0", "3/2"], ["1/2", "3/2"]])
@pytest.mark.parametrize("mechanism", [BOX, sparse(GEOMETRIC, GEOMETRIC, 3, bounds=(num(0), num(2)))])
def test_noise_on_the_integers_is_told_of_no_answers_between_them(mechanism, answers):
    """Half a step apart no two noisy answers are equal: that would be one way to decide ties where all are meant."""
    question = asked(of(mechanism), {}, "test")
    pair(question, 0, (2, 0), read_answers(["0", "1"], "test"))
    with pytest.raises(Rejected, match="noise on the integers is added to integers"):
        pair(question, 0, (2, 0), read_answers(answers, "test"))


@pytest.mark.parametrize("first", [True, False])
def test_of_ties_of_which_it_is_said_how_they_are_decided_both_bounds_are_known(first):
    law, mass = NOISES["two humps"]
    mechanism = largest(law, 3, bounds=(num(0), num(1)), ties="first" if first else "random")
    judged = verify(of(mechanism), 9).judgement
    expected = greatest(mass / mass.sum(), 3, 1, 1, "all", first)
    assert [float(enclose(end).mid()) for end in (judged.lower, judged.upper)] == pytest.approx([expected, expected], abs=1e-7)

"""The rows of a run of a stream, against a walk that is written by hand.

Expected values are of the walk: what is compared in each step, and which branch is taken.
"""

from __future__ import annotations

import random
from fractions import Fraction

from dpverify.catalogue.reader import read_tables
from dpverify.trusted.kernel.expr import ZERO, num, substitute
from dpverify.trusted.kernel.model import Stream
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.runs import Row, Run, step

MECHANISM = {
    "kind": "stream",
    "once": {"rho": {"kind": "builtin", "name": "laplace", "scale": 2}},
    "fresh": {"nu": {"kind": "builtin", "name": "laplace", "scale": 4}},
    "state": {"level": "2*rho + 1"},
    "limits": {"found": 3},
    "step": [
        {"when": "q + nu >= level", "emit": "above", "tell": "q - rho", "count": {"found": 1}, "set": {"level": "level + rho/2 - q"}},
        {"emit": "below", "set": {"level": "level - nu/4"}},
    ],
}
PATH = (1, 0, 0, 1)
ANSWERS, MOVES = tuple(map(Fraction, (-4, 9, 6, -20))), tuple(map(Fraction, (1, -1, "1/2", 1)))
AT, NOISES = Fraction("1/2"), tuple(map(Fraction, (1, -1, 2, 0)))


def walked(rho, noises, answers, path=None):
    """By hand: the branches that are taken, or those of a path; what is at least 0 where they are taken; and what is told."""
    level, taken, kept = 2 * rho + 1, [], []
    for place, (nu, q) in enumerate(zip(noises, answers, strict=True)):
        above = q + nu - level
        branch = (0 if above >= 0 else 1) if path is None else path[place]
        taken.append(branch)
        kept += [above, q - rho] if branch == 0 else [-above]
        level = level + rho / 2 - q if branch == 0 else level - nu / 4
    return tuple(taken), kept


def followed():
    question = asked(read_tables("a test", {"mechanism": MECHANISM, "claim": [{"sensitivity": 1, "epsilon": 9}]}).claims[0].claim,
                     {"side": "lower"}, "worst-run", wanted=Stream)  # fmt: skip
    stream, start = question.claim.mechanism, {"rho": num(AT)}
    apart = {"rho": Row({("rho", -1): Fraction(1)}, Fraction(0)), "level": Row({("rho", -1): Fraction(2)}, Fraction(0))}
    values = {**start, "level": substitute(stream.state[0].value, start)}
    run = Run(question, stream, apart, values, {"found": ZERO}, [])
    for number, (branch, q, nu, moved) in enumerate(zip(PATH, ANSWERS, NOISES, MOVES, strict=True)):
        step(run, number, branch, [str(q)], {"nu": str(nu)}, {"q": moved})
    return run.rows


def test_rows_say_how_what_is_compared_changes_with_noises_and_moves():
    rows, (taken, at_point), draws = followed(), walked(AT, NOISES, ANSWERS), random.Random(3)
    assert taken == PATH and [row.told for row in rows] == [False, False, True, False, True, False]
    both = set()
    for _ in range(200):
        rho, *noises = (x + Fraction(draws.randint(-30, 30), 10) for x in (AT, *NOISES))
        times = draws.randint(0, 3)
        moved = [q + times * d for q, d in zip(ANSWERS, MOVES, strict=True)]
        change = {("rho", -1): rho - AT} | {("nu", place): new - old for place, (new, old) in enumerate(zip(noises, NOISES, strict=True))}
        predicted = [
            value + sum(factor * change[noise] for noise, factor in row.of.items()) + times * row.moved
            for row, value in zip(rows, at_point, strict=True)
        ]
        assert predicted == walked(rho, noises, moved, PATH)[1]
        comes_out = all(value > 0 for row, value in zip(rows, predicted, strict=True) if not row.told)
        if all(value for row, value in zip(rows, predicted, strict=True) if not row.told):
            assert comes_out == (walked(rho, noises, moved)[0] == PATH)
            both.add(comes_out)
    assert both == {True, False}

"""Streams with Gaussian noise: what answers move by is hidden by shifts of noise that no comparison sees, so that the curve is known.

Theorem: Where the answers of each step of a stream move and shifts of its Gaussian noises, the same for all branches, leave every
comparison, what is told and the state as they are, what is told is a function of Gaussian numbers that move by these shifts, in answers to
questions that may be chosen after earlier ones: the pair N(0, 1), N(mu, 1) dominates, mu^2 the most that the squares of the shifts, in
deviations, add up to on a run.

Checked:
- shifts leave all comparisons that may be made, what is told and the state as they are, wherever runs may be
- the noises that are shifted are Gaussian, on the line
- the most steps of a run are a number, or one answer alone moves

Source: docs/theory/selection.md#unseen-shifts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.gaussian_form import rate_on_line
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.combinators.streams import Step, families, step_of, vertices
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.linear import dot
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, mul, num, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Stream, Vector, on_integers
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.selection.compared import Asked, a_law, asked, greatest
from dpverify.trusted.theories.selection.followed import Place, Values, can_be_followed, first_values, is_over, places

NAME: Final = "unseen-shifts"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

MOST_STEPS: Final = 1000
"""The most steps that are followed one by one, and the most values of what is followed."""


@dataclass(frozen=True, slots=True)
class Shifts:
    """Shifts of the noises of a step, by name as multiples of what each answer moves by. cost: the squares, in deviations, at most."""

    of: Mapping[str, Vector]
    cost: Expr


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a stream, from above. Raises Rejected, Undecided, CertificateError.

    parameters: "shifts", a list of shifts of the noises of a step, by name a rational for each answer, the first of which holds wherever
    it does; "follow", names of state and counters whose values the branches tell; "prec".
    """
    mu, laws = distance(run, parameters)
    return settled.noise(run, Curve(gaussian.pair(mu), None, (NAME,), (*ASSUMED, *laws)), parameters)


def distance(run: Run, parameters: Mapping[str, Any]) -> tuple[Expr, tuple[str, ...]]:
    """mu, the most by which the Gaussian numbers move on a run, in deviations, and what is assumed of other noises."""
    question = asked(leaf(run), {}, NAME, wanted=Stream)
    stream = question.stream
    require(not on_integers(stream), Rejected(NAME, "the noise", "it lives on the integers"))
    told, followed = parameters["shifts"], list(map(str, parameters.get("follow", ())))
    certify(set(followed) <= can_be_followed(stream), f"{NAME}: 'follow' names what is neither state nor counter.")
    options = [_read(question, stream, one) for one in told]
    mu = mul(question.moved, sqrt(_most(question, stream, options, first_values(stream, followed))))
    shifted = {name for option in options for name, vector in option.of.items() if any(vector)}
    others = [drawn.noise for drawn in (*stream.once, *stream.fresh) if drawn.name not in shifted]
    return mu, tuple(dict.fromkeys(line for noise in others for line in a_law(question, noise)))


def _read(question: Asked, stream: Stream, told: Any) -> Shifts:
    noises = {drawn.name: drawn.noise for drawn in stream.fresh}
    shifts = {str(name): tuple(to_fraction(text, NAME) for text in row) for name, row in told.items()}
    if not shifts.keys() <= noises.keys() or any(len(row) != len(stream.answers) for row in shifts.values()):
        raise CertificateError(f"{NAME}: a shift is of no noise of a step, or has not {len(stream.answers)} numbers.")
    rates: dict[str, Expr] = {}
    for name in shifts:
        rate = rate_on_line(noises[name])
        if rate is None:
            raise Rejected(NAME, name, "it is not certainly Gaussian noise on the line")
        rates[name] = rate
    points = [point for family in families(stream) for point in vertices(stream, family)]
    costs = [add(*(mul(num(dot(row, point) ** 2), rates[name]) for name, row in shifts.items())) for point in points]
    return Shifts(shifts, _greater(question, costs))


def _greater(question: Asked, values: Sequence[Expr]) -> Expr:
    found = greatest(question, *dict.fromkeys(values))
    assert not isinstance(found, Infinite)
    return found


def _most(question: Asked, stream: Stream, options: Sequence[Shifts], first: Values) -> Expr:
    """The most that the squares of shifts add up to on a run. Raises Rejected."""
    start, taken = tuple(first.items()), places(question, stream, first, NAME, MOST_STEPS)
    steps = [step_of(stream, branch) for branch in stream.steps]
    costs = {place: _unseen(stream, [steps[one.branch] for one in taken[place]], options) for place in taken}
    if stream.neighbours == "one":
        return _greater(question, list(costs.values()))
    most = stream.queries
    if not isinstance(most, Num):
        raise Rejected(NAME, "queries", "it wants a number of the most steps, as answers move in each")
    if most.value > MOST_STEPS:
        return mul(most, _greater(question, list(costs.values())))
    reached: dict[Place, Expr] = {start: ZERO}
    ended: list[Expr] = []
    for _ in range(int(most.value)):
        further: dict[Place, list[Expr]] = {}
        for place, spent in reached.items():
            total = add(spent, costs[place])
            ended.append(total)
            for one in taken[place]:
                if not is_over(question, stream, one.after):
                    further.setdefault(tuple(one.after.items()), []).append(total)
        reached = {place: _greater(question, totals) for place, totals in further.items()}
        ended = [_greater(question, ended)]
    return _greater(question, [*reached.values(), *ended])


def _unseen(stream: Stream, steps: Sequence[Step], options: Sequence[Shifts]) -> Expr:
    """What the first shifts cost that, with the answers moved, leave everything that is seen as it is. Raises Rejected."""
    seen = [form for step in steps for form in (*step.when, *step.tell, *step.after.values())]
    for option in options:
        moves = [
            {answer: Fraction(1)} | {name: row[place] for name, row in option.of.items()} for place, answer in enumerate(stream.answers)
        ]
        if not any(form.at(move) for form in seen for move in moves):
            return option.cost
    raise Rejected(NAME, "shifts", "none of them leaves all comparisons, what is told and the state as they are")

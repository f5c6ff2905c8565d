"""Streams: a bound for every number of steps, by shifts of the noises that make two neighbours tell the same.

Theorem: Give each noise of a stream a shift, in each branch one of its own for what is drawn in the step, so that on neighbours all
comparisons of the branch come out as before, what is told stays and the differences of the state are known again, or within an interval;
shifts may hang on the branches of the whole run, as long as there are some for each run. Log-concave noise whose -log density has the
slopes b- and b+ in the limit costs b+ s for a shift of s to the right and b- s to the left; other noise what it loses by itself where it is
moved by as much as it is shifted at most. What is drawn once, and for each counter a price times the most it can reach, where no step costs
more than its counters pay, bound the epsilon.

Checked:
- at each vertex of what neighbours may differ by: comparisons of a branch and of those before it, what is told, the state after it
- for each run that the comparisons allow there are shifts, by the branches that it takes
- what each branch costs is paid by the counters that it raises, by each step, or by what is kept for it from the start on
- the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite; of others what they lose by
  themselves, moved by as much as their shifts, by rules about them

Source: docs/theory/selection.md#alignment, Zhang and Kifer 2017, on alignments
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, gcd, lcm
from typing import Any, Final

from dpverify.trusted.combinators.streams import Step, families, start_of, step_of
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, div, mul, neg, num, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Named, Stream
from dpverify.trusted.theories.selection.compared import Asked, Value, a_law, asked, at_most, greatest, times, total
from dpverify.trusted.theories.selection.followed import Values, branches, first_values, is_over
from dpverify.trusted.theories.selection.ways import Lead, Way, at, moves_of, read_moduli, read_way

NAME: Final = "alignment"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

MOST_PLACES: Final = 10_000
"""The most sets of modes, with what is followed, in which runs may be."""


def infer(claim: Claim, evidence: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The upper bound. Raises Rejected, Undecided, CertificateError.

    evidence: "ways", an alignment for each of the families of differences: "once", the shifts of the noises drawn at the start by name;
    "modes", a list of the differences of the state by name (and of shifts of what is drawn once, where these are others in this mode),
    whether the one step that moves is over, and by name how much more differences of the state may be, if any is not known; "starts", the
    modes in which runs begin, the first where it is not given; "steps", lists of [mode, branch, whether answers move, mode after it, shifts
    of its noises by name]; "follow", names of state and counters whose values the branches tell; "prices" by counter, "each" of every step,
    "ahead", what is kept in each mode for later steps, less "worth" times each of what is followed. A shift or difference is a list of
    rationals: a number and a multiple of each move.
    "moduli", where noises are not log-concave: [name, shift], for each of the premises, which are what these noises lose by such shifts.
    """
    question = asked(claim, {}, NAME, wanted=Stream)
    stream = question.stream
    moduli, assumed, through = read_moduli(question, evidence.get("moduli", []), premises)
    ways = zip(families(stream), evidence["ways"], strict=True)
    found = [_bounded(read_way(question, stream, family, way, moduli)) for family, way in ways]
    others = [drawn.noise for drawn in (*stream.once, *stream.fresh) if drawn.name not in {name for name, _ in moduli}]
    assumed = tuple(dict.fromkeys((*assumed, *(line for noise in others for line in a_law(question, noise)))))
    return replace(question.bound(greatest(question, *found)), assumed=assumed, through=through)


def _bounded(way: Way) -> Value:
    """What all steps cost together at most, in units of the sensitivity."""
    question, stream = way.question, way.stream
    for mode, point in product(way.starts, way.points):
        apart = {name: at(vector, point) for name, vector in way.modes[mode].items()}
        if not all(way.within(mode, point, name, first.at(apart)) for name, first in start_of(stream).items()):
            raise Rejected(NAME, "the start", "the state is not as far apart as a mode says in which runs begin")
    _go_along(way)
    known = first_values(stream, way.followed)
    start = greatest(question, *(total(way.cost(way.once(m), point), _kept(way, m, known)) for m, point in product(way.starts, way.points)))
    limits = [limit for limit in stream.limits if limit.name in way.prices]
    counted = [times(question, most_of(question, stream, limit, NAME), way.prices[limit.name]) for limit in limits]
    if stream.queries is not None:
        counted.append(times(question, stream.queries, way.each))
    elif not certainly_le(way.each, ZERO, question.domains):
        raise Rejected(NAME, "queries", "every step costs something, and there is no limit of them")
    return total(start, *counted)


def _go_along(way: Way) -> None:
    """Raises Rejected where a run may take branches that no modes go along with, or one that does not hold or is not paid."""
    steps = [step_of(way.stream, branch) for branch in way.stream.steps]
    leads: dict[tuple[int, int, bool], list[tuple[int, Lead]]] = {}
    for number, lead in enumerate(way.leads):
        leads.setdefault((lead.mode, lead.branch, lead.moves), []).append((number, lead))
    place = frozenset(way.starts), tuple(first_values(way.stream, way.followed).items())
    seen, level, held = {place}, [place], set[tuple[int, frozenset[tuple[int, int]]]]()
    queries, most = way.stream.queries, MOST_PLACES + 1  # each level has a new place
    for _ in range(min(most, int(queries.value)) if isinstance(queries, Num) else most):
        following = []
        for modes, known in level:
            moving = moves_of(way.alone, any(way.spent[mode] for mode in modes))
            for taken, moves in product(branches(way.question, way.stream, dict(known)), moving):
                along = [one for mode in modes for one in leads.get((mode, taken.branch, moves), ())]
                if not along:
                    raise Rejected(NAME, f"branch {taken.branch + 1}", "a run may take it, and no mode goes along")
                for number, lead in along:
                    if (number, taken.earlier) not in held:
                        _holds(way, steps, lead, taken.earlier)
                        held.add((number, taken.earlier))
                    _pays(way, lead, dict(known), taken.after)
                place = frozenset(lead.to for _, lead in along), tuple(taken.after.items())
                if place not in seen and not is_over(way.question, way.stream, taken.after):
                    seen.add(place)
                    following.append(place)
            require(len(seen) <= MOST_PLACES, Rejected(NAME, "follow", f"what is followed has more than {MOST_PLACES:,} different values"))
        level = following


def _holds(way: Way, steps: Sequence[Step], lead: Lead, earlier: frozenset[tuple[int, int]]) -> None:
    """Raises Rejected where a branch does not come out as before, tells something else, or leaves the state apart in another way."""
    if way.alone and way.spent[lead.to] != (way.spent[lead.mode] or lead.moves):
        raise Rejected(NAME, "modes", "whether the one step is over is not kept")
    where = f"branch {lead.branch + 1}"
    require(way.once(lead.to) == way.once(lead.mode), Rejected(NAME, where, "the mode after it has other shifts of what is drawn once"))
    own, before = steps[lead.branch], [steps[number].when[place] for number, place in earlier]
    for point, kept in ((d, apart) for d in way.points for apart in way.apart(lead.mode, d)):
        turned = lead.turned(kept)
        apart = kept | {name: at(vector, point) + turned.get(name, 0) for name, vector in lead.shifts.items()}
        apart |= dict(zip(way.stream.answers, point, strict=True)) if lead.moves else {}
        if any(guard.at(apart) < 0 for guard in own.when) or any(guard.at(apart) > 0 for guard in before):
            raise Rejected(NAME, where, "a comparison may come out in another way")
        require(not any(told.at(apart) for told in own.tell), Rejected(NAME, where, "what is told does not stay"))
        if not all(way.within(lead.to, point, name, after.at(apart)) for name, after in own.after.items()):
            raise Rejected(NAME, where, "the state after it is not as far apart as its mode says")


def _kept(way: Way, mode: int, known: Values) -> Expr:
    """What is kept for later steps, which is never less than 0."""
    for name in way.worth:
        if not isinstance(known[name], Num):
            raise CertificateError(f"{NAME}: {name} has a worth, and the branches of a run do not tell its value.")
    kept = add(way.ahead[mode], *(neg(mul(price, known[name])) for name, price in way.worth.items()))
    if not certainly_le(ZERO, kept, way.question.domains):
        raise Rejected(NAME, "prices", f"what is kept for later in mode {mode + 1} is not certainly at least 0")
    return kept


def _pays(way: Way, lead: Lead, before: Values, after: Values) -> None:
    """Raises Rejected where a step costs more than what its counters pay, what each step may, and what was kept for it."""
    grown = [mul(way.prices[each.name], each.value) for each in way.stream.steps[lead.branch].count if each.name in way.prices]
    paid = add(*grown, way.each, _kept(way, lead.mode, before), neg(_kept(way, lead.to, after)))
    for cost in dict.fromkeys(way.cost(lead.shifts, d, lead.turned(kept)) for d in way.points for kept in way.apart(lead.mode, d)):
        if not at_most(way.question, cost, paid):
            raise Rejected(NAME, f"branch {lead.branch + 1}", "it costs more than its counters and what is kept for it pay")


def most_of(question: Asked, stream: Stream, limit: Named, name: str) -> Expr:
    """What a counter can reach: before the last step it is below its limit, and a multiple of what all that is added to it is one of.

    Raises Rejected, with the name of the rule that asks, where the counter may fall.
    """
    steps = [each.value for branch in stream.steps for each in branch.count if each.name == limit.name]
    for step in steps:
        require(certainly_le(ZERO, step, question.domains), Rejected(name, limit.name, "it is not certain that the counter never falls"))
    largest = greatest(question, ZERO, *steps)
    assert not isinstance(largest, Infinite)
    # a counter whose limit is reached at the start pays nothing; so does one that never grows
    found = greatest(question, ZERO, add(_before(question, limit.value, steps), largest))
    assert not isinstance(found, Infinite)
    return found


def _before(question: Asked, limit: Expr, steps: Sequence[Expr]) -> Expr:
    """The most that a counter may be at below its limit, as far as that is known; the limit itself where it is not."""
    grown = [step for step in steps if step != ZERO]
    first = grown[0] if grown and certainly_lt(ZERO, grown[0], question.domains) else ONE
    sizes = [size.value for step in grown if isinstance(size := div(step, first), Num)]
    if grown and len(sizes) == len(grown):  # of some multiple of the first all are multiples
        unit = mul(num(Fraction(gcd(*(size.numerator for size in sizes)), lcm(*(size.denominator for size in sizes)))), first)
    elif all(is_whole(step, question.domains) for step in steps):
        unit = ONE
    else:
        return limit
    times = div(limit, unit)
    if isinstance(times, Num):
        return mul(unit, num(ceil(times.value) - 1))
    return sub(limit, unit) if is_whole(times, question.domains) else limit

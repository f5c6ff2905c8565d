"""Proposes the curve of a shuffle: which rule is the best for so many people, and how many clones or splits are looked at."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from dpverify.search.composition import blanket
from dpverify.search.composition.plans import Plan
from dpverify.search.composition.roots import crossing
from dpverify.search.decimals import decimals
from dpverify.search.later import Later
from dpverify.search.proposal import Premise, Steps, bound, of_run
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, Num, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, KaryResponse, Shuffle, Table
from dpverify.trusted.theories.composition.bits import OFFSETS, Bits, Top
from dpverify.trusted.theories.composition.histograms import every, gains, histograms, size, weight
from dpverify.trusted.theories.composition.rules import privacy_blanket as outputs
from dpverify.trusted.theories.composition.rules import shuffled_bits as exact
from dpverify.trusted.theories.composition.rules import shuffled_epsilon
from dpverify.trusted.theories.composition.rules import shuffled_histograms as few
from dpverify.trusted.theories.composition.rules import shuffling as rule

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = Later("scipy.stats")

_DEVIATIONS = 13
"""What is left out beyond so many is less than what doubles can say of a delta."""
_BITS = 64
_ALL = 10**6
_MOST_OUTPUTS = 8
_MOST_WEIGHTS = 6
_MOST_SPLITS = 1_000
DIGITS: Mapping[str, int] = {rule.NAME: _ALL, exact.NAME: _ALL, outputs.NAME: 4}
"""The rules whose curves are looked at in floats before, and to how many digits they say at which epsilon a delta is passed."""
_TOLERANCE = 6e-7
"""How far the bounds on epsilon may be apart for what lies between splits; delta falls by so much times the squared deviations."""


def plan(run: Run, epsilon: float | None, delta: float, premises: Callable[[Claim], Plan | None], one: bool) -> Plan:
    """The curve of one run, from below where it passes a delta or at an epsilon. Raises Undecided, Rejected.

    one: whether that one epsilon alone is asked, which is worth bounds that take longer and are sharp there alone.
    """
    shuffle = run.part.mechanism
    assert isinstance(shuffle, Shuffle) and isinstance(shuffle.people, Num)
    local, others = shuffle.part.mechanism, int(shuffle.people.value) - 1
    for sharper in (_of_few, _of_bits) if one else (_of_few,):
        with suppress(DpverifyError), precision(_BITS):
            return sharper(shuffle, epsilon, delta)
    with precision(_BITS):
        if isinstance(local, Table | KaryResponse):
            with suppress(DpverifyError, ArithmeticError):  # where floats cannot tell, a pure epsilon may
                return blanket.plan(shuffle, epsilon, delta, one)
        premise = premises(leaf(Run(shuffle.part)))
        if premise is None:
            raise Undecided("no bound is known on the pure epsilon of what is shuffled.")
        return {"rule": rule.NAME, "premise": premise, "range": _range(others, math.exp(-_pure(run, premise)))}


def _of_few(shuffle: Shuffle, epsilon: float | None, delta: float) -> Plan:
    """By all that few people may tell, and the worst of it. Raises Rejected for another part, and for too many."""
    (rows, pairs), people = few.rows_of(shuffle.part.mechanism), rule.people_of(shuffle)
    require(size(rows, people) <= few.MOST, Rejected(few.NAME, "people", "too many"))
    if epsilon is None:
        told = every(rows, pairs, people)
        epsilon = float(crossing(lambda at: float(told.divergence(arb(at)).mid()), delta) or 0)
    best = (-1.0, [0, 0], [0])
    for split, laws in histograms(rows, people).items():
        for i, j in (*pairs, *((j, i) for i, j in pairs)):
            gained = float(gains([(laws[i], laws[j])], weight(rows) ** people).divergence(arb(epsilon)).mid())
            best = max(best, (gained, [i, j], [*split]))
    return {"rule": few.NAME, "below": {"pair": best[1], "others": best[2]}} if pairs else {"rule": few.NAME}


def pure(claim: Claim, _: int, known: Premise) -> Steps:
    """What is known of the pure epsilon of the part. Raises Undecided."""
    assert isinstance(claim.mechanism, Shuffle)
    found = [known(leaf(Run(claim.mechanism.part), claim.domains), side) for side in ("upper", "lower")]
    steps = [{"rule": shuffled_epsilon.NAME, "evidence": {}, "noises": [({"part": 0}, step)]} for step in found if step is not None]
    require(bool(steps), Undecided("shuffling keeps the pure epsilon of what each person runs, of which none is known."))
    return steps[:1] if steps[1:] == steps[:1] else steps


# -- witnesses --------------------------------------------------------------------------------------------------------


def described(fact: Fact, epsilon: arb) -> dict[str, str]:
    """The data of the lower pair of a shuffle, and the event that tells them apart best."""
    assert isinstance(fact.about, Run) and isinstance(fact.about.part.mechanism, Shuffle)
    shuffle, local, below = fact.about.part.mechanism, fact.about.part.mechanism.part.mechanism, fact.parameters["below"]
    if fact.rule == few.NAME:
        return _histograms(shuffle, below, epsilon)
    if fact.rule == outputs.NAME:
        return blanket.described(fact, epsilon)
    people, split = rule.people_of(shuffle), below
    law = exact.bits(people - 1, *exact.chances(local)[0])()
    counts, names = [split, people - 1 - split], ["the record that tells output 0 the most often", "that which tells it the least often"]
    back = law.complement.at(people - 1 - split, epsilon) > law.at(split, epsilon)
    with precision(4 * _BITS):
        number, p, q = _best_event(law.complement, people - 1 - split, epsilon) if back else _best_event(law, split, epsilon)
    first, second = names[::-1] if back else names
    return {
        "pair": f"one person with {first}, or {second}; others: "
        + ", ".join(f"{count} with {name}" for name, count in zip(names, counts, strict=True) if count),
        "event": f"S = {{at least {number} of {people} people tell output {int(back)}}}",
        **_sides(p, q, epsilon),
    }


def _best_event(law: Bits, split: int, epsilon: arb) -> tuple[int, arb, arb]:
    """How many are to tell the bit at the least, and the probabilities of that on both data, which f at two epsilons tells."""
    near, far = (law.circle(at) for at in (epsilon, epsilon + arb(2) ** -_BITS))
    assert near is not None and far is not None
    (top,), (beside,) = near.tops([split]), far.tops([split])
    k = max(range(len(top.values)), key=lambda k: float(top.values[k].mid()))
    number = top.number + OFFSETS[k]
    here, there = top.values[k], beside.values[OFFSETS.index(number - beside.number)]
    q = (here - there) / ((epsilon + arb(2) ** -_BITS).exp() - epsilon.exp())
    return number, here + epsilon.exp() * q, q


def _sides(p: arb, q: arb, epsilon: arb) -> dict[str, str]:
    return {"P": decimals(p), "Q": decimals(q), "P - exp(epsilon)*Q": decimals(p - epsilon.exp() * q)}


def _histograms(shuffle: Shuffle, below: Plan, epsilon: arb) -> dict[str, str]:
    """Of few people, the histograms that lose more than epsilon: by an inequality of counts where one tells them, else some of them."""
    (rows, _), people = few.rows_of(shuffle.part.mechanism), rule.people_of(shuffle)
    (i, j), others, unit = below["pair"], below["others"], weight(rows) ** people
    laws = histograms(rows, people)[tuple(others)]
    factor = epsilon.exp()
    told = [(int(laws[i][k]), int(laws[j][k]), _counts(k, people, len(rows[0]))) for k in range(max(law.length() for law in laws))]
    inside = [each for each in told if each[0] - factor * each[1] > 0]
    outside = [counts for p, q, counts in told if (p or q) and not p - factor * q > 0]
    shown = [f"({', '.join(map(str, counts))})" for *_, counts in inside[:_MOST_OUTPUTS]]
    more = f", and {len(inside) - len(shown)} more" if len(inside) > len(shown) else ""
    p, q = (arb(sum(masses)) / unit for masses in ([p for p, *_ in inside], [q for _, q, _ in inside]))
    half = _half_space([counts for *_, counts in inside], outside) if more else None
    return {
        "pair": f"one person with the record {i}, or {j}, where so many others have each record: {', '.join(map(str, others))}",
        "event": f"S = {{{half or 'histograms, how many tell each output: ' + ', '.join(shown) + more}}}",
        **_sides(p, q, epsilon),
    }


def _half_space(inside: Sequence[tuple[int, ...]], outside: Sequence[tuple[int, ...]]) -> str | None:
    """An inequality of how many tell each output that holds inside alone, where one with weights of 1 and -1 does."""
    width = len(inside[0])
    for weights in product((0, 1, -1), repeat=width) if width <= _MOST_WEIGHTS else ():
        least = min(sum(map(operator.mul, weights, counts)) for counts in inside)
        if all(sum(map(operator.mul, weights, counts)) < least for counts in outside):
            plus, minus = ([str(y) for y, w in enumerate(weights) if w == sign] for sign in (1, -1))
            if not minus:
                return f"at least {least} people tell {' or '.join(plus)}"
            if not plus:
                return f"at most {-least} people tell {' or '.join(minus)}"
            return f"at least {least} more people tell {' or '.join(plus)} than {' or '.join(minus)}"
    return None


def _counts(exponent: int, people: int, outputs: int) -> tuple[int, ...]:
    """How many tell each output, of the exponent of a coefficient."""
    counts = [exponent // (people + 1) ** y % (people + 1) for y in range(outputs - 1)]
    return people - sum(counts), *counts


def _range(others: int, share: float) -> list[int]:
    middle, far = others * share, _DEVIATIONS * math.sqrt(others * share * (1 - share)) + _DEVIATIONS
    return [max(0, math.floor(middle - far)), min(others, math.ceil(middle + far))]


def passes(run: Run, found: Plan, delta: float) -> tuple[Fraction | None, Fraction | None]:
    """About where the bounds from above and from below pass a delta, in floats; None where they do not, or are not known."""
    shuffle = run.part.mechanism
    assert isinstance(shuffle, Shuffle) and isinstance(shuffle.people, Num)
    local, others = shuffle.part.mechanism, int(shuffle.people.value) - 1
    with precision(_BITS):
        if found["rule"] == exact.NAME:
            start = _passed(others, _orders(local), delta)
            return start, start
        if found["rule"] == outputs.NAME:
            sums = blanket.Sums(shuffle)
            return blanket.passes(sums.above, delta), blanket.passes(sums.told(found["below"]), delta) if "below" in found else None
        rho = math.exp(_pure(run, found["premise"]))
        return crossing(lambda epsilon: _of_clones(others, rho, 1 / rho, epsilon), delta), None


def _passed(others: int, laws: Sequence[tuple[float, float, float]], delta: float) -> Fraction | None:
    """About where the worst of some numbers of ones, of others who all have one chance, passes a delta."""
    return crossing(lambda epsilon: max(_of_ones(others, *law, epsilon) for law in laws), delta)


def _pure(run: Run, premise: Plan) -> float:
    """What is known of the pure epsilon of the part. Raises Rejected, Undecided."""
    shuffle = run.part.mechanism
    assert isinstance(shuffle, Shuffle)
    fact = bound(of_run(run), ({"part": 0},), premise)
    return float(constant(pure_of(fact, leaf(Run(shuffle.part)), rule.NAME)[0]))


def _of_clones(others: int, rho: float, share: float, epsilon: float) -> float:
    """H of the pair of clones."""
    factor = math.exp(epsilon)
    if factor >= rho:
        return 0.0
    low, high = _range(others, share)
    clones = np.arange(low, high + 1)
    number = np.floor((factor * rho - 1) / ((1 + factor) * (rho - 1)) * (clones + 1)) + 1
    weights = stats.binom.pmf(clones, others, share)
    above, before = stats.binom.sf(number - 1, clones, 0.5), stats.binom.pmf(number - 1, clones, 0.5)
    return float(weights @ ((rho - factor) * (above + before) + (1 - factor * rho) * above)) / (1 + rho)


def _of_ones(others: int, more: float, less: float, chance: float, epsilon: float) -> float:
    """H of how many outputs are counted."""
    factor = math.exp(epsilon)
    rises, stays = (1 - chance) * (more - factor * less), chance * (factor * (1 - less) - (1 - more))
    if rises + stays <= 0:
        return 0.0
    number = math.floor((others + 1) * stays / (rises + stays)) + 1
    above, before = stats.binom.sf(number - 1, others, chance), stats.binom.pmf(number - 1, others, chance)
    return float((more - factor * less) * (above + before) + (1 - more - factor * (1 - less)) * above)


# -- two outputs ------------------------------------------------------------------------------------------------------


def _of_bits(shuffle: Shuffle, epsilon: float | None, delta: float) -> Plan:
    """By splits of the others between which the bounds are as near as they need be. Raises Rejected, Undecided for another part."""
    others, local = rule.people_of(shuffle) - 1, shuffle.part.mechanism
    (more, less), both = exact.chances(local)
    if certainly_equal(more, less):
        return {"rule": exact.NAME, "splits": []}
    if epsilon is None:
        epsilon = float(_passed(others, _orders(local), delta) or 0)
    law = exact.bits(others, more, less)()
    sides = (law,) if certainly_equal(more, sub(ONE, less)) else (law, law.complement)
    with precision(2 * _BITS):
        tried = [_splits(side, arb(epsilon)) for side in sides]
    found: Plan = {"rule": exact.NAME, "splits": [splits for splits, *_ in tried]}
    if both:  # what is worst in the one order is a witness in the other
        worst = max(range(len(tried)), key=lambda side: tried[side][2])
        found["below"] = others - tried[worst][1] if worst else tried[worst][1]
    return found


def _splits(law: Bits, epsilon: arb) -> tuple[list[int], int, float]:
    """Splits of the others, more of them where they are about the worst; the worst, and about its H. Raises Undecided."""
    circle = law.circle(epsilon)
    if circle is None:
        return [*dict.fromkeys((0, law.others))], 0, 0.0
    deviations = float(circle.best.log() * circle.spread(law.others).max(circle.spread(0)).sqrt())
    within = _TOLERANCE * max(1.0, deviations**2) + (0.0 if deviations > 1 else 1 / float(circle.spread(0)))
    tops, wide = dict[int, Top](), list[tuple[int, int]]()
    asked, bounds = [*dict.fromkeys((0, law.others))], dict[tuple[int, int], float]()
    while asked and len(tops) < _MOST_SPLITS:
        tops |= {top.split: top for top in circle.tops(asked)}
        for low, high in set(pairwise(sorted(tops))) - bounds.keys():
            bound = circle.between(tops[low], tops[high]) if high > low + 1 else arb(0)
            bounds[low, high] = math.inf if bound is None else float(bound)
        known = max(float(top.greatest.mid()) for top in tops.values())
        wide = [block for block in pairwise(sorted(tops)) if bounds[block] > (1 + within) * known]
        asked = [(low + high) // 2 for low, high in wide]
    if any(math.isinf(bounds[block]) for block in wide):
        raise Undecided("the worst of all that others may have is not known with so many splits.")
    worst = max(tops, key=lambda split: float(tops[split].greatest.mid()))
    return sorted(tops), worst, known


def _orders(local: object) -> list[tuple[float, float, float]]:
    """The chances of the one on both data, and of others who all have one record, in both orders."""
    more, less = (float(constant(chance)) for chance in exact.chances(local)[0])
    orders = (more, less), (1 - less, 1 - more)
    return [(high, low, chance) for high, low in orders for chance in (high, low)]

"""What one run of a stream loses in the limit, as its answers move the same way again and again (docs/theory/selection.md, worst run)."""

from collections import namedtuple

from algebra import add, constant, mul, names, scale, substitute
from growth import INFINITE
from noise import whole
from selection import Stream
from terms import Malformed, rational, require, sure

Sum = namedtuple("Sum", "noises answers value")  # multiples of what was drawn, and of answers; the value at the point
NONE = Sum({}, {}, {})


def plus(first, second, times):
    """first + times second."""
    merged = [{x: a.get(x, 0) + times * b.get(x, 0) for x in {**a, **b}} for a, b in zip(first[:2], second[:2], strict=True)]
    return Sum(*({x: c for x, c in each.items() if c} for each in merged), add(first.value, scale(second.value, times)))


class Run:
    """A path of a stream with the moves of its answers, and its rows: what guards compare, turned where they fail, and what is told."""

    def __init__(self, q, evidence):
        self.q, self.stream, self.field, m = q, Stream(q), q.field, q.mechanism
        sure(not q.field.domains and m["neighbours"] in ("all", "one"), "parameters without a value, or neighbours in one order")
        sure(not m.get("between") and not m.get("hull"), "answers between bounds, or in a hull")
        for drawn in (*m["once"], *m["fresh"]):
            sure(drawn["noise"].get("support", [None, None]) == [None, None], "noise on a part of the line")
        sure(all(branch["emit"] or branch["tell"] for branch in m["steps"]), "a step that tells nothing")
        self.whole, self.moved, self.rows, self.moves = any(self.stream.whole), [], [], {}
        self.counters = {name: {} for name in self.stream.limits}
        self.now = self.drawn(m["once"], evidence["once"], "once")
        self.state = {x["name"]: self.read(x["value"], self.now) for x in m["state"]}
        self.states = [(self.state, self.counters)]
        for number, step in enumerate(evidence["run"]):
            require(type(step) is list and len(step) == 4, Malformed, "a step that is no branch, answers, noises and moves")
            self.step(number, *step)

    def drawn(self, listed, values, number):
        """Noises that are drawn, each by itself, at the values of the point."""
        sure(values.keys() == {x["name"] for x in listed}, "a noise without a value, or a value of no noise")
        found = {x["name"]: Sum({(number, x["name"]): 1}, {}, constant(rational(values[x["name"]]))) for x in listed}
        sure(not self.whole or all(whole(self.field, x.value) for x in found.values()), "noise on the integers at no integer")
        return found

    def read(self, text, known):
        """A sum of rational multiples of what is known, and of a rest in counters."""
        p = self.stream.all.form(self.q.tree(text))
        moving = {m: c for m, c in p.items() if names({m: c}) & self.stream.moving}
        sure(all(len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1 for m in moving), "no sum of what is known")
        rest = substitute({m: c for m, c in p.items() if m not in moving}, self.field, self.counters)
        total = Sum({}, {}, rest)
        for m, c in moving.items():
            sure(m[0][0][1] in known, "what is not known at this place")
            total = plus(total, known[m[0][0][1]], c)
        return total

    def change(self, total):
        """How much it changes for each unit that the answers move."""
        return sum(c * self.moves[x] for x, c in total.answers.items())

    def settled(self, total):
        """Whether it is what it is at the point, whatever the noises are and however far the answers move."""
        return not total.noises and not self.change(total)

    def seen(self, number):
        """The state and the counters before a step: forms in the noises, how the state moves, and what it is at the point."""
        state, counters = self.states[number]
        return {name: (total.noises, self.change(total), total.value) for name, total in state.items()}, counters

    def holds(self, total, strict, room):
        """Whether a guard certainly holds at the point: with room where noise is compared that has a density."""
        return self.field.positive(total.value, strict or (room and bool(total.noises) and not self.whole))

    def fails(self, total, strict, room):
        """Whether it certainly fails."""
        return self.holds(plus(NONE, total, -1), not strict, room)

    def step(self, number, branch, answers, noises, moves):
        m, field = self.q.mechanism, self.field
        left = [add(limit, scale(self.counters[x], -1)) for x, limit in self.stream.limits.items()]
        sure(all(map(field.positive, left)), "a run that may have ended")
        sure(type(branch) is int and 0 <= branch < len(m["steps"]), "a branch that is none")
        points, moves = list(map(rational, answers)), list(map(rational, moves))
        sure(len(points) == len(moves) == len(m["answers"]) and all(-1 <= d <= 1 for d in moves), "answers that do not move so")
        sure(not self.whole or all(x.denominator == 1 for x in points + moves), "answers that are no integers")
        given = {name: Sum({}, {(number, name): 1}, constant(x)) for name, x in zip(m["answers"], points, strict=True)}
        self.moves |= {(number, name): d for name, d in zip(m["answers"], moves, strict=True)}
        known = {**self.now, **self.drawn(m["fresh"], noises, number), **self.state, **given}
        listed = [[(self.read(x["left"], known), x["strict"] is True) for x in each["when"]] for each in m["steps"]]
        own, sure_to_hold = listed[branch], all(self.settled(total) for total, _ in listed[branch])
        sure(all(self.holds(*guard, True) for guard in own), "a guard that does not hold with room")
        found = [(total, True) for total, _ in own if not self.settled(total)]
        for guards in listed[:branch]:
            found += self.passed(guards)
        told = [self.read(x, known) for x in m["steps"][branch]["tell"]]
        self.rows += found + [(total, False) for total in told]
        for n, (other, guards) in enumerate(zip(m["steps"], listed, strict=True)):
            said = n == branch or other["emit"] != m["steps"][branch]["emit"] or len(other["tell"]) != len(told)
            never = any(self.settled(total) and self.fails(total, strict, False) for total, strict in guards)
            sure(said or never or (n > branch and sure_to_hold), "another branch that tells the same")
        taken = m["steps"][branch]
        self.state = self.state | {x["name"]: self.read(x["value"], known) for x in taken["change"]}
        grown = {x["name"]: self.read(x["value"], {}).value for x in taken["count"]}
        self.counters = {name: add(value, grown.get(name, {})) for name, value in self.counters.items()}
        self.states.append((self.state, self.counters))

    def passed(self, guards):
        """The row of an earlier branch: of the one guard that compares noise, or answers that move, all others of which hold."""
        if any(self.settled(total) and self.fails(total, strict, False) for total, strict in guards):
            return []
        open_ones = [guard for guard in guards if not self.settled(guard[0])]
        kept = all(self.holds(*guard, False) for guard in guards if self.settled(guard[0]))
        sure(kept and len(open_ones) == 1 and self.fails(*open_ones[0], True), "whether an earlier branch fails, and by one guard alone")
        return [(plus(NONE, open_ones[0][0], -1), True)]


def worst_run(q, evidence):
    """docs/theory/selection.md#worst-run, at one path and its moves."""
    q, at = q.at(evidence)
    known = {"once", "run", "side", "weights", "at", "repeat", "times", "unbounded"}
    sure(evidence.keys() <= known and evidence.get("side") == "lower", "what is told of a run otherwise")
    run, weights = Run(q, evidence), list(map(rational, evidence["weights"]))
    stream, field, rows = run.stream, q.field, run.rows
    sure(len(weights) == len(rows), "weights, one for each row")
    sure(all(y >= 0 for y, (_, guard) in zip(weights, rows, strict=True) if guard), "a guard with a weight below 0")
    if q.mechanism["neighbours"] == "one":
        sure(sum(map(abs, run.moves.values())) <= 1 and sum(map(bool, run.moves.values())) <= 1, "more than one answer that moves")
    total = NONE
    for y, (row, _) in zip(weights, rows, strict=True):
        total = plus(total, row, y)
    gain, steps, times = -run.change(total), len(evidence["run"]), constant(1)
    first, last = evidence.get("repeat", (0, 0))
    sure(all(type(x) is int for x in (first, last)) and 0 <= first <= last <= steps, "steps that are repeated, which are none")
    if "repeat" in evidence:
        still = q.mechanism["neighbours"] == "all" or not any(d for (n, _), d in run.moves.items() if first <= n < last)
        sure(first < last and still and run.seen(first) == run.seen(last), "steps that do not leave the state as it was")
        inside = all(name != "once" and first <= name < last for name, _ in total.noises)
        sure(inside, "weights at noises of steps that are not repeated")
        times = INFINITE if evidence.get("times") == "unlimited" else q.count(evidence["times"])
    sure("repeat" in evidence or "times" not in evidence, "how often what is repeated")
    queries, unbounded = q.mechanism["queries"], evidence.get("unbounded") is True
    asked = INFINITE if times == INFINITE else add(constant(steps), mul(add(times, constant(-1)), constant(last - first)))
    sure(queries is None or (asked != INFINITE and field.at_most(asked, q.form(queries))), "more steps than there are")
    for (_, name), g in total.noises.items():
        slope = stream.rates[name][g > 0]
        fits = slope == INFINITE or (not unbounded and field.at_most(constant(abs(g)), slope))
        sure(fits, "weights that sum to more than a slope")
    sure(gain > 0, "a run that loses nothing")
    return stream_bound(stream, INFINITE if unbounded or times == INFINITE else scale(times, gain), at)


def stream_bound(stream, each, at):
    """The fact, with what it takes for granted."""
    stream.side = "lower"
    side, value, _, assumed = stream.bound(each)
    return side, value, at, assumed

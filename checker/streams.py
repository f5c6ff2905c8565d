"""Streams whose noises have one shift for all runs (docs/theory/selection.md, Alignment)."""

from itertools import product
from math import ceil

import algebra as al
import terms
from algebra import ONE, Field, Fraction, add, constant, mul, scale, sub, symbol
from noise import INFINITE, dot, rational, total, whole
from selection import Asked
from terms import Malformed, must, require, sure


class Stream(Asked):
    """A stream: all that it names, with forms in these for each branch of a step."""

    def __init__(self, q):
        must(q.kind == "stream", "the mechanism is no stream")
        super().__init__(q, {})
        m, fixed = q.mechanism, set(self.field.domains)
        self.once, self.fresh, state, limits = ({x["name"]: x.get("noise", x.get("value")) for x in m[key]} for key in KINDS)
        self.named = [*m["answers"], *(x["name"] for key in KINDS for x in m[key])]
        own = len(set(self.named)) == len(self.named) and not fixed & set(self.named)
        must(own and all(terms.parse(name) == ("sym", name) for name in self.named), "two things have one name, or one has a name that is none")
        self.all, self.moving = self.field, set(self.named) - limits.keys()
        self.all = Field(self.field.domains | dict.fromkeys(self.named, (None, None, True, True, False)))
        self.state = {name: self.read(text, fixed | self.once.keys()) for name, text in state.items()}
        self.limits = {name: self.read(text, fixed) for name, text in limits.items()}
        self.rates = {name: self.slopes(noise) for name, noise in (self.once | self.fresh).items()}
        self.branches = [self.branch(step, fixed | set(self.named), fixed) for step in m["steps"]]
        must(self.branches and not self.branches[-1][0], "there is no branch without a condition at the end")

    def branch(self, step, every, fixed):
        """Of a branch: what is at least 0 in it, what it tells, the state after it, and what it adds to counters."""
        changed = {x["name"]: self.read(x["value"], every) for x in step["change"]}
        counted = {x["name"]: self.read(x["value"], fixed) for x in step["count"]}
        once = len(changed) == len(step["change"]) and len(counted) == len(step["count"])
        must(once and changed.keys() <= self.state.keys() and counted.keys() <= self.limits.keys(), "a step sets what is not declared")
        must(all(self.field.at_most({}, p) for p in counted.values()), "a counter may fall")
        after = {name: changed.get(name, symbol(name)) for name in self.state}
        return [self.read(x["left"], every) for x in step["when"]], [self.read(text, every) for text in step["tell"]], after, counted

    def read(self, text, known):
        """A form of what is known: rational multiples of what moves, and a rest."""
        p = self.all.form(self.q.tree(text))
        alone = all(len(m) == 1 and m[0][1] == 1 for m in p if al.names({m: 1}) & self.moving)
        must(al.names(p) <= known and alone and all(m[0][0][0] == "s" for m in p if al.names({m: 1}) & self.moving), "no sum of names")
        return p

    def change(self, p, apart):
        """How much a form changes where what moves is apart."""
        return sum((p.get(((("s", name), Fraction(1)),), Fraction(0)) * x for name, x in apart.items()), Fraction(0))

    def cost(self, shifts):
        """What shifts cost, in units of the sensitivity."""
        return total("add", self.field, [self.times(constant(abs(s)), self.rates[name][s > 0]) for name, s in shifts.items()])

    def most(self, name):
        """The most that a counter reaches: what a step adds to the most below its limit."""
        steps, limit = [counted.get(name, {}) for *_, counted in self.branches], self.limits[name]
        if all(whole(self.field, p) for p in steps):
            limit = constant(ceil(limit.get((), 0)) - 1) if limit.keys() <= {()} else sub(limit, ONE) if whole(self.field, limit) else limit
        return self.field.extreme("max", [{}, add(limit, self.field.extreme("max", steps))])

    def shifts(self, given, noises, width):
        """Shifts by name: a number, and a multiple of what each answer moves by; those of the integers are integers."""
        found = {name: tuple(map(rational, given.get(name, ["0"] * width))) for name in noises}
        require(given.keys() <= noises.keys() and all(len(v) == width for v in found.values()), Malformed, "a shift of no known name")
        for name, (first, *others) in found.items():
            kept = noises[name] if type(noises[name]) is dict and "kind" in noises[name] else {}
            good = whole(self.field, scale(self.moved, first)) and all(x.denominator == 1 for x in others)
            must(good or not kept.get("integers"), "noise on the integers is shifted by what is no integer")
        return found


KINDS = ("once", "fresh", "state", "limits")


def alignment(q, evidence):
    """docs/theory/selection.md#alignment, with one mode, and answers that each move at will."""
    require(evidence.keys() <= {"ways", "moduli"}, Malformed, "an alignment of another form")
    stream, m, (way,) = Stream(q), q.mechanism, evidence["ways"]
    ((mode, spent),), width = way["modes"], 1 + len(m["answers"])
    plain = m["neighbours"] == "all" and not spent and way["ahead"] == ["0"] and way.get("starts", [0]) == [0]
    sure(plain and not any([evidence.get("moduli"), way.get("follow"), way.get("worth")]), "an alignment of several modes, or other noise")
    known = stream.shifts(way["once"], stream.once, width) | stream.shifts(mode, stream.state, width)
    must(not any(any(moves) for _, *moves in known.values()), "what is drawn once, or the state, moves with the answers")
    apart = {name: first for name, (first, *_) in known.items()}
    must(all(stream.change(p, apart) == apart[name] for name, p in stream.state.items()), "the state is not so far apart at first")
    prices, each = {name: q.form(text) for name, text in way["prices"].items()}, q.form(way["each"])
    must(prices.keys() <= stream.limits.keys() and all(q.field.at_most({}, x) for x in (each, *prices.values())), "a price below 0, or of none")
    leads = {number: stream.shifts(told, stream.fresh, width) for mode, number, moves, to, told in way["steps"] if (mode, moves, to) == (0, True, 0)}
    sure(leads.keys() == set(range(len(stream.branches))) and len(leads) == len(way["steps"]), "not one lead for each branch")
    for number, (when, tell, after, counted) in enumerate(stream.branches):
        paid = add(each, *(mul(prices[name], p) for name, p in counted.items() if name in prices))
        for point in product((-1, 1), repeat=width - 1):
            drawn = {name: first + dot(moves, point) for name, (first, *moves) in leads[number].items()}
            moved = apart | drawn | dict(zip(m["answers"], point, strict=True))
            holds = all(stream.change(p, moved) >= 0 for p in when) and not any(stream.change(p, moved) for p in tell)
            holds = holds and all(stream.change(p, moved) <= 0 for earlier in stream.branches[:number] for p in earlier[0])
            must(holds and all(stream.change(p, moved) == apart[name] for name, p in after.items()), f"branch {number + 1} does not stay as it is")
            cost = stream.cost(drawn)
            must(cost != INFINITE and q.field.at_most(cost, paid), f"branch {number + 1} costs more than it pays")
    must(m["queries"] is not None or q.field.at_most(each, {}), "every step costs something, and there is no limit of them")
    steps = [mul(stream.natural(m["queries"]), each)] if m["queries"] is not None else []
    counts = [stream.times(stream.most(name), price) for name, price in prices.items()]
    return stream.bound(total("add", q.field, [stream.cost({name: apart[name] for name in stream.once}), *steps, *counts]))

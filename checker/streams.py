"""Streams whose noises have a shift in each mode and branch (docs/theory/selection.md, Alignment)."""

from itertools import product
from math import ceil

from algebra import ONE, Field, add, constant, mul, names, scale, sub
from noise import INFINITE, dot, rational, total, whole
from selection import Asked
from terms import must, parse, sure

ENDS = {"all": (-1, 1), "increasing": (0, 1), "decreasing": (-1, 0), "one": (-1, 0, 1)}


class Stream(Asked):
    """A stream: what it names, its branches, and the vertices of how far the answers of a step move."""

    def __init__(self, q):
        must(q.kind == "stream", "the mechanism is no stream")
        super().__init__(q, {})
        m, fixed = q.mechanism, set(self.field.domains)
        self.noises, self.state, limits = ({x["name"]: x.get("noise", x.get("value")) for x in listed}
                                           for listed in (m["once"] + m["fresh"], m["state"], m["limits"]))  # fmt: skip
        named, self.once = [*m["answers"], *(x["name"] for key in ("once", "fresh", "state", "limits") for x in m[key])], {x["name"] for x in m["once"]}
        own = len({*named, *fixed}) == len(named) + len(fixed) and all(parse(name) == ("sym", name) for name in named)
        sure(own and m["neighbours"] in ENDS and 1 <= len(m["answers"]) <= 8, "names that are not its own, or neighbours of a hull, or in two ways")
        sure(len({n.get("integers") is True for n in self.noises.values()}) == 1, "noise on the integers beside other noise")
        self.moving, self.all = set(named) - limits.keys(), Field(self.field.domains | dict.fromkeys(named, (None, None, True, True, False)))
        self.first = {name: self.read(text, fixed | self.once) for name, text in self.state.items()}
        self.limits, self.rates = {name: q.form(text) for name, text in limits.items()}, {x: self.slopes(n) for x, n in self.noises.items()}
        self.branches = [self.branch(each, fixed | set(named)) for each in m["steps"]]
        sure(self.branches and not self.branches[-1][0], "there is no branch without a condition at the end")
        every = product(ENDS[m["neighbours"]], repeat=len(m["answers"]))
        self.points = [x for x in every if m["neighbours"] != "one" or sum(map(abs, x)) == 1]

    def read(self, text, known):
        """The rational multiples of what moves, in what is a sum of these and of a rest."""
        p = self.all.form(self.q.tree(text))
        moving = {m: c for m, c in p.items() if names({m: c}) & self.moving}
        sure(names(p) <= known and all(len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1 for m in moving), "what is no sum of what is known")
        return {m[0][0][1]: c for m, c in moving.items()}

    def branch(self, each, every):
        """What grows or stays, what is told, the state after it, and what counters grow by."""
        changed, grown = ({x["name"]: x["value"] for x in each[key]} for key in ("change", "count"))
        once = len(changed) + len(grown) == len(each["change"] + each["count"])
        sure(once and changed.keys() <= self.state.keys() and grown.keys() <= self.limits.keys(), "a branch sets what is not declared, or twice")
        grown = {name: self.q.form(text) for name, text in grown.items()}
        sure(all(self.field.at_most({}, p) for p in grown.values()), "a counter that may fall")
        when, told = [self.read(x["left"], every) for x in each["when"]], [self.read(x, every) for x in each["tell"]]
        return when, told, {name: self.read(changed.get(name, name), every) for name in self.state}, grown

    def shifts(self, given, known):
        """Shifts and differences by name: a number, and a multiple of what each answer moves by; of noise on the integers integers."""
        found = {name: tuple(map(rational, given.get(name, [0] * (1 + len(self.points[0]))))) for name in known}
        sure(given.keys() <= set(known) and all(len(v) == 1 + len(self.points[0]) for v in found.values()), "a shift of no known name")
        for first, *others in (v for name, v in found.items() if self.noises.get(name, {}).get("integers")):
            sure(whole(self.field, scale(self.moved, first)) and all(x.denominator == 1 for x in others), "a shift that is no integer")
        return found

    def cost(self, shifts, point):
        """What shifts of noises cost where the answers move by the point, in units of the sensitivity."""
        moved = {name: at(v, point) for name, v in shifts.items() if name in self.noises}
        return total("add", self.field, [self.times(constant(abs(s)), self.rates[name][s > 0]) for name, s in moved.items()])

    def most(self, name):
        """The most that a counter reaches: the most that a branch adds, to the most below its limit."""
        steps, limit = [grown.get(name, {}) for *_, grown in self.branches], self.limits[name]
        if all(whole(self.field, p) for p in steps):
            limit = constant(ceil(limit.get((), 0)) - 1) if limit.keys() <= {()} else sub(limit, ONE) if whole(self.field, limit) else limit
        return self.field.extreme("max", [{}, add(limit, self.field.extreme("max", steps))])


def at(vector, point):
    """A shift or a difference where the answers move by the point."""
    return vector[0] + dot(vector[1:], point)


def alignment(q, evidence):
    """docs/theory/selection.md#alignment, with one lead from each mode by each branch."""
    stream, (way,), m, field = Stream(q), evidence["ways"], q.mechanism, q.field
    others = [evidence.get("moduli"), way.get("follow"), way.get("worth"), way.get("starts", [0]) != [0]]
    sure(not any(others), "noise that is not log-concave, several modes at the start, or what branches tell of the state")
    once, alone = stream.shifts(way["once"], stream.once), m["neighbours"] == "one"
    modes, spent = [once | stream.shifts(mode, stream.state) for mode, _ in way["modes"]], [over is True for _, over in way["modes"]]
    prices, (each, *ahead) = {x: q.form(text) for x, text in way["prices"].items()}, map(q.form, [way["each"], *way["ahead"]])
    sure(prices.keys() <= stream.limits.keys() and len(ahead) == len(modes), "a price of what is no counter, or modes without what is kept there")
    sure(all(field.at_most({}, x) for x in (each, *ahead, *prices.values())), "a price below 0")
    sure(not spent[0] and (alone or not (any(spent) or any(any(v[1:]) for mode in modes for v in mode.values()))), "modes that answers move")
    every = [(n, number, moves) for n in range(len(modes)) for number in range(len(stream.branches))
             for moves in ([False] if spent[n] else [False, True] if alone else [True])]  # fmt: skip
    leads = {(n, number, moves): (to, stream.shifts(told, stream.noises.keys() - stream.once)) for n, number, moves, to, told in way["steps"]}
    typed = all([type(x) for x in lead[:4]] == [int, int, bool, int] and 0 <= lead[3] < len(modes) for lead in way["steps"])
    sure(typed and set(leads) == set(every) and len(every) == len(way["steps"]), "not one lead from each mode by each branch")

    def change(multiples, apart):
        return sum(c * apart.get(name, 0) for name, c in multiples.items())

    for point in stream.points:
        apart = {name: at(v, point) for name, v in modes[0].items()}
        sure(all(change(p, apart) == apart[name] for name, p in stream.first.items()), "the state is not so far apart at first")
    for (n, number, moves), point in product(every, stream.points):
        (to, shifts), (when, told, after, grown) = leads[n, number, moves], stream.branches[number]
        apart = {name: at(v, point) for name, v in (modes[n] | shifts).items()} | (dict(zip(m["answers"], point, strict=True)) if moves else {})
        same = all(change(p, apart) >= 0 for p in when) and not any(change(p, apart) for p in told)
        same = same and all(change(p, apart) <= 0 for earlier, *_ in stream.branches[:number] for p in earlier)
        same = same and all(change(p, apart) == at(modes[to][name], point) for name, p in after.items())
        sure(same and (not alone or spent[to] == (spent[n] or moves)), f"whether branch {number + 1} comes out as before")
        cost, paid = stream.cost(shifts, point), add(each, ahead[n], scale(ahead[to], -1), *(mul(prices[x], grown.get(x, {})) for x in prices))
        sure(cost != INFINITE and field.at_most(cost, paid), f"branch {number + 1} costs more than it pays")
    sure(m["queries"] is not None or field.at_most(each, {}), "every step costs something, and there is no limit of them")
    steps = [mul(q.count(m["queries"]), each)] if m["queries"] is not None else []
    drawn = total("max", field, [stream.cost(once, point) for point in stream.points])
    return stream.bound(total("add", field, [ahead[0], drawn, *steps, *(mul(price, stream.most(x)) for x, price in prices.items())]))

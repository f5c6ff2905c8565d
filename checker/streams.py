"""Streams: alignments bound them from above, runs from below (docs/theory/selection.md)."""

from collections import namedtuple
from fractions import Fraction
from itertools import combinations, product
from math import ceil, gcd, lcm

import algebra as al
from algebra import ONE, Field, add, constant, mul, scale, sub, symbol
from noise import INFINITE, Noise, Question, dot, matrix_of, rational, total, whole
from selection import Asked
from terms import Malformed, Refused, Undecided, forbid, parse, require

FAMILIES = {"monotone": ["increasing", "decreasing"], "hull": [1, -1]}
ENDS = {"all": (-1, 1), "increasing": (0, 1), "decreasing": (-1, 0)}
MOVED = "@"  # the symbol of how far the answers of a run have moved, in units of the sensitivity
Step = namedtuple("Step", "when told word after")  # when: comparisons (form, strict) with 0; after: the state and the counters
MOST = 10_000


class Stream(Asked):
    """A stream, its steps as forms in all that it names."""

    def __init__(self, q, evidence):
        require(q.kind == "stream", Refused, "the mechanism is no stream")
        super().__init__(q, evidence)
        self.m = m = q.mechanism
        self.once, self.fresh = ({each["name"]: each["noise"] for each in m[key]} for key in ("once", "fresh"))
        self.noises, kept = self.once | self.fresh, [each["name"] for each in m["state"]]
        counters = [each["name"] for each in m["limits"]]
        named = [*m["answers"], *(each["name"] for each in m["once"] + m["fresh"]), *kept, *counters]
        known = len(set(named)) == len(named) and not set(named) & q.field.domains.keys() and all(parse(x) == ("sym", x) for x in named)
        require(known, Refused, "two things have one name, or one has a name that is none")
        self.moving, fixed = set(named) - set(counters), set(q.field.domains)
        self.all = Field(self.field.domains | dict.fromkeys(named, (None, None, True, True, False)))
        self.state = {each["name"]: self.form(each["value"], fixed | self.once.keys()) for each in m["state"]}
        self.limits = {each["name"]: self.form(each["value"], fixed) for each in m["limits"]}
        self.steps = []
        for each in m["steps"]:
            changed = {x["name"]: self.form(x["value"], fixed | set(named)) for x in each["change"]}
            grown = {x["name"]: self.form(x["value"], fixed) for x in each["count"]}
            whole_list = len(changed) == len(each["change"]) and len(grown) == len(each["count"])
            require(whole_list and changed.keys() <= set(kept) and grown.keys() <= set(counters), Refused, "a step sets what is not declared")
            after = {x: symbol(x) for x in kept} | changed | {x: add(symbol(x), grown.get(x, {})) for x in counters}
            when = [(self.form(x["left"], fixed | set(named)), x["strict"]) for x in each["when"]]
            told = [self.form(x, fixed | set(named)) for x in each["tell"]]
            self.steps.append(Step(when, told, (each["emit"], len(told)), after))
        require(self.steps and not self.steps[-1].when, Refused, "the last branch has a condition")
        require(1 <= len(m["answers"]) <= 8, Refused, "too many answers")
        self.families = FAMILIES.get(m["neighbours"], [m["neighbours"]])
        self.hull = matrix_of(m.get("hull", []))
        wrong = (m["neighbours"] == "hull") != bool(self.hull) or any(len(row) != len(m["answers"]) for row in self.hull)
        forbid(wrong, Refused, "a hull that has no place, or is of no points")
        self.whole = any(x.get("integers") for x in self.noises.values())
        forbid(self.whole and self.hull, Undecided, "integers in a hull")
        self.rates = {name: self.slopes(x) for name, x in self.noises.items()}

    def form(self, text, known):
        """A form: multiples of what moves, and a rest."""
        p = self.all.form(self.q.tree(text))
        require(al.names(p) <= known, Refused, "a step has a name in a place where it is not known yet")
        self.linear(p)
        return p

    def linear(self, p, moving=None):
        """The rational multiples of what moves in a form, by name."""
        found = {m: c for m, c in p.items() if al.names({m: c}) & (moving or self.moving)}
        require(all(len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1 for m in found), Refused, "no sum of rational multiples of names")
        return {m[0][0][1]: c for m, c in found.items()}

    def points(self, family):
        """The points, in units of the sensitivity, in whose hull the answers of one step move."""
        n = len(self.m["answers"])
        if self.hull:
            return [[family * x for x in row] for row in self.hull]
        if family == "one":
            return [[Fraction(sign * (i == j)) for j in range(n)] for i in range(n) for sign in (1, -1)]
        return [list(map(Fraction, point)) for point in product(ENDS[family], repeat=n)]

    def settled(self, p, strict):
        """Whether p >= 0, or p > 0, holds without knowing what is drawn or kept; None where that is not certain."""
        if al.names(p) - self.field.domains.keys():
            return None
        return False if self.field.positive(scale(p, -1), not strict) else True if self.field.positive(p, strict) else None

    def branches(self, known):
        """(branch, what is known after it, the ones before it that do not certainly fail), for each that may be taken."""
        failed, earlier = [], []
        for number, step in enumerate(self.steps):
            when = [(al.substitute(p, self.all, known), strict) for p, strict in step.when]
            told = [self.settled(*one) for one in when]
            if False in told:
                continue
            if not any(self.exclude(*two) for two in combinations(failed + when, 2)):
                yield number, self.known(known, {x: al.substitute(p, self.all, known) for x, p in step.after.items()}), tuple(earlier)
            unsure = [(scale(p, -1), not strict) for (p, strict), holds in zip(when, told, strict=True) if not holds]
            if not unsure:
                return
            failed += unsure if len(unsure) == 1 else []
            earlier.append(number)

    def exclude(self, one, other):
        """Whether two comparisons never hold together, or only where noise with a density has one value."""
        both = add(one[0], other[0])
        drawn = any(not self.fresh[x].get("integers") for x in self.linear(one[0]).keys() & self.fresh.keys())
        return self.settled(both, one[1] or other[1]) is False or (not both and drawn)

    def known(self, names, values):
        """Of each name its value where it is a number, else the first of the state with the same value."""
        same = {al.key(values[x]): symbol(x) for x in reversed(self.state)}
        return {x: values[x] if values[x].keys() <= {()} else same.get(al.key(values[x]), symbol(x)) for x in names}

    def most(self, name):
        """The most that a counter may reach."""
        steps = [sub(step.after[name], symbol(name)) for step in self.steps]
        require(all(self.field.at_most({}, p) for p in steps), Refused, "a counter may fall")
        limit, sizes = self.limits[name], [p[()] for p in steps if p and p.keys() <= {()}]
        rational_steps = sizes and all(p.keys() <= {()} for p in steps)
        unit = Fraction(gcd(*(x.numerator for x in sizes)), lcm(*(x.denominator for x in sizes))) if rational_steps else Fraction(1)
        before = scale(limit, 1 / unit)
        if rational_steps or all(whole(self.field, p) for p in steps):
            before = constant(ceil(before.get((), 0)) - 1) if before.keys() <= {()} else sub(before, ONE) if whole(self.field, before) else before
        greatest = self.field.extreme("max", [{}, *steps])
        return self.field.extreme("max", [{}, add(scale(before, unit), greatest)])


def alignment(q, evidence):
    """docs/theory/selection.md#alignment."""
    forbid("side" in evidence or "at" in evidence, Malformed, "an alignment has no side")
    forbid(evidence.get("moduli"), Undecided, "noise that is not log-concave")
    stream = Stream(q, {})
    require(len(evidence["ways"]) == len(stream.families), Malformed, "there is not an alignment for each family")
    found = [Way(stream, *each).most() for each in zip(stream.families, evidence["ways"], strict=True)]
    return stream.bound(total("max", stream.field, found))


class Way:
    """An alignment for one family of neighbours: shifts of noises by name, each a number and a multiple of what each answer moves by."""

    def __init__(self, stream, family, told):
        self.stream, self.told, self.points, self.alone = stream, told, stream.points(family), family == "one"
        self.modes = [self.vectors(told["once"] | mode, stream.once | stream.state) for mode, _ in told["modes"]]
        self.spent = [spent for _, spent in told["modes"]]
        self.starts, (self.each, *self.ahead) = told.get("starts", [0]), map(stream.q.form, [told["each"], *told["ahead"]])
        self.leads = [(*lead[:4], self.vectors(lead[4], stream.fresh)) for lead in told["steps"]]
        self.prices, self.worth = ({x: stream.q.form(text) for x, text in told.get(key, {}).items()} for key in ("prices", "worth"))
        counts = (*self.starts, *(x for mode, branch, _, to, _ in self.leads for x in (mode, branch, to)))
        good = all(type(x) is int and x >= 0 for x in counts) and all(type(x) is bool for x in self.spent)
        good = good and self.starts and not any(self.spent[x] for x in self.starts) and len(self.ahead) == len(self.modes)
        good = good and (self.alone or not any(self.spent) and not any(any(v[1:]) for mode in self.modes for v in mode.values()))
        good = good and all(moves in self.moves(self.spent[mode]) for mode, _, moves, _, _ in self.leads)
        good = good and self.prices.keys() <= stream.limits.keys() and self.worth.keys() <= set(told.get("follow", ()))
        require(good, Malformed, "an alignment that is of no such form")
        free = [*self.prices.values(), self.each]
        require(all(stream.field.at_most({}, price) for price in free), Refused, "a price is not certainly at least 0")

    def moves(self, spent):
        """Whether answers may move in a step."""
        return [False] if spent else [False, True] if self.alone else [True]

    def vectors(self, given, known):
        n, stream = 1 + len(self.stream.m["answers"]), self.stream
        found = {name: tuple(map(rational, given.get(name, [0] * n))) for name in known}
        require(given.keys() <= known.keys() and all(len(v) == n for v in found.values()), Malformed, "a shift of no known name")
        for name, (first, *others) in found.items():
            if stream.noises.get(name, {}).get("integers"):
                good = whole(stream.field, scale(stream.moved, first)) and all(x.denominator == 1 for x in others)
                require(good, Refused, "noise on the integers is shifted by what is no integer")
        return found

    def cost(self, shifts, point):
        """What shifts of noises cost where the answers move by the point."""
        stream, moved = self.stream, {x: at(v, point) for x, v in shifts.items() if x in self.stream.noises}
        return total("add", stream.field, [stream.times(constant(abs(s)), stream.rates[x][s > 0]) for x, s in moved.items()])

    def most(self):
        """What all steps cost together, in units of the sensitivity."""
        stream = self.stream
        for mode, point in product(self.starts, self.points):
            apart = {x: at(v, point) for x, v in self.modes[mode].items()}
            good = all(dot_of(stream.linear(p), apart) == apart[x] for x, p in stream.state.items())
            require(good, Refused, "the state is not as far apart as a mode says in which runs begin")
        known = stream.known(self.told.get("follow", ()), stream.state | dict.fromkeys(stream.limits, {}))
        self.go_along(known)
        once = [total("add", stream.field, [self.cost(self.modes[m], x), self.kept(m, known)]) for m in self.starts for x in self.points]
        counted = [stream.times(stream.most(x), price) for x, price in self.prices.items()]
        limited = stream.m["queries"] is not None
        require(limited or stream.field.at_most(self.each, {}), Refused, "every step costs something, and there is no limit of them")
        counted += [mul(stream.natural(stream.m["queries"]), self.each)] if limited else []
        return total("add", stream.field, [total("max", stream.field, once), *counted])

    def go_along(self, known):
        """Every run has leads by its branches, from a mode in which runs begin; each holds and is paid."""
        stream, seen, held = self.stream, set(), set()
        waiting = [(frozenset(self.starts), known)]
        while waiting:
            modes, known = waiting.pop()
            place = modes, tuple(map(al.key, known.values()))
            if place in seen or any(x in known and stream.field.at_most(p, known[x]) for x, p in stream.limits.items()):
                continue
            seen.add(place)
            require(len(seen) < MOST, Undecided, "what is followed has too many values")
            moving = self.moves(any(self.spent[mode] for mode in modes))
            for (branch, after, earlier), moves in product(stream.branches(known), moving):
                along = [lead for lead in self.leads if lead[0] in modes and lead[1:3] == (branch, moves)]
                require(along, Refused, f"a run may take branch {branch + 1}, and no mode goes along")
                for lead in along:
                    if (id(lead), earlier) not in held:
                        self.holds(lead, earlier)
                    held.add((id(lead), earlier))
                    self.pays(lead, known, after)
                waiting.append((frozenset(lead[3] for lead in along), after))

    def holds(self, lead, earlier):
        """A branch comes out as before, tells the same, and leaves the state as far apart as its mode says."""
        (mode, branch, moves, to, shifts), stream = lead, self.stream
        step, before, after = stream.steps[branch], self.modes[mode], self.modes[to]
        kept = not self.alone or self.spent[to] == (self.spent[mode] or moves)
        require(kept and all(before[x] == after[x] for x in stream.once), Refused, "a mode after a step that does not follow it")
        for point in self.points:
            apart = {x: at(v, point) for x, v in (before | shifts).items()} | (dict(zip(stream.m["answers"], point, strict=True)) if moves else {})
            change = lambda p: dot_of(stream.linear(p), apart)  # noqa: B023, E731
            same = all(change(p) >= 0 for p, _ in step.when) and not any(map(change, step.told))
            same = same and all(change(p) <= 0 for number in earlier for p, _ in stream.steps[number].when)
            same = same and all(change(step.after[x]) == at(after[x], point) for x in stream.state)
            require(same, Refused, f"branch {branch + 1}: a comparison may come out in another way, or what is told or kept does not stay")

    def kept(self, mode, known):
        """What is kept for later steps, never less than 0."""
        require(all(known[x].keys() <= {()} for x in self.worth), Malformed, "a worth of what is not known")
        kept = sub(self.ahead[mode], add(*(mul(price, known[x]) for x, price in self.worth.items())))
        require(self.stream.field.at_most({}, kept), Refused, "what is kept for later is not certainly at least 0")
        return kept

    def pays(self, lead, known, after):
        mode, branch, _, to, shifts = lead
        stream, step = self.stream, self.stream.steps[branch]
        grown = [mul(price, sub(step.after[x], symbol(x))) for x, price in self.prices.items()]
        paid = sub(add(*grown, self.each, self.kept(mode, known)), self.kept(to, after))
        costs = [self.cost(shifts, point) for point in self.points]
        good = INFINITE not in costs and all(stream.field.at_most(cost, paid) for cost in costs)
        require(good, Refused, f"branch {branch + 1} costs more than its counters and what is kept for it pay")


def at(vector, point):
    """A shift where the answers move by the point."""
    return vector[0] + dot(vector[1:], point)


def dot_of(multiples, values):
    """A sum of multiples of what has a value."""
    return sum((c * values.get(x, 0) for x, c in multiples.items()), Fraction(0))


def worst_run(q, evidence):
    """docs/theory/selection.md#worst-run."""
    stream = Stream(q, evidence)
    run, words = evidence["run"], [step.word for step in stream.steps]
    require(stream.side == "lower" and type(run) is list and 1 <= len(run) <= MOST, Malformed, "no lower bound, or no run")
    require(all(map(any, words)), Refused, "a branch tells nothing")
    block, times = range(*evidence.get("repeat", (0, 0))), evidence.get("times") if "repeat" in evidence else 1
    within = 0 <= block.start < block.stop <= len(run) if "repeat" in evidence else True
    require(within and (times == "unlimited" or type(times) is int and times >= 1), Malformed, "'repeat' is no part of the run")
    if stream.m["queries"] is not None:
        require(times != "unlimited", Refused, "there are not so many steps")
        asked = constant(len(run) + (times - 1) * len(block))
        require(stream.field.at_most(asked, stream.natural(stream.m["queries"])), Refused, "it is not certain that so many steps are run")
    rows = Run(stream, evidence["once"]).rows_of(run, block)
    weights = [stream.q.form(text) for text in evidence["weights"]]
    require(len(weights) == len(rows), Malformed, "there is not a weight for each comparison")
    good = all(told or stream.field.at_most({}, w) for (_, told), w in zip(rows, weights, strict=True))
    require(good, Refused, "a weight of a comparison is not certainly at least 0")
    sums, unbounded = {}, evidence.get("unbounded") is True
    for (row, _), weight in zip(rows, weights, strict=True):
        for x, c in row.items():
            sums[x] = add(sums.get(x, {}), scale(weight, c))
    value = scale(sums.pop(MOVED, {}), -1)
    for x, p in sums.items():
        name, number = x.split("@")
        for end, part in zip(stream.rates[name], (scale(p, -1), p), strict=True):
            end = {} if (unbounded and end != INFINITE) or (block and not (number and int(number) in block)) else end
            good = end == INFINITE or stream.field.at_most(part, end)
            require(good, Refused, f"the weights at a noise {name} are not certainly between its slopes")
    if times != "unlimited" and not unbounded:
        return stream.bound(scale(value, times))
    require(stream.field.positive(value), Refused, "the value of the weights is not certainly positive")
    return stream.bound(INFINITE)


class Run:
    """A run at one point. state: forms in all noises so far, as name@step, and in how far answers moved; values: of the noises."""

    def __init__(self, stream, once):
        self.stream, self.rows, self.values = stream, [], {MOVED: {}}
        for name in stream.once:
            self.draw(f"{name}@", stream.once[name], once[name])
        names = {name: symbol(f"{name}@") for name in stream.once}
        self.now = {x: al.substitute(p, stream.all, names) for x, p in stream.state.items()} | names | dict.fromkeys(stream.limits, {})

    def draw(self, name, noise, text):
        """Set a noise at the point; refused where it does not certainly live there."""
        value = constant(rational(text))
        forbid(noise.get("integers") and not whole(self.stream.field, value), Refused, "noise on the integers is none")
        low, high = Noise(Question(noise, ONE, None, self.stream.field, self.stream.q.values), line=True).support
        inside = (low is None or low.hi < rational(text)) and (high is None or rational(text) < high.lo)
        require(inside, Refused, "a noise is not certainly where it lives")
        self.values[name] = value

    def rows_of(self, run, block):
        """The comparisons that the run keeps, as multiples of noises and of moves, and whether they are told."""
        stream, moved = self.stream, []
        for number, (branch, answers, noises, moves) in enumerate(run):
            before = self.now if number == block.start else before if number else None
            moved.append(list(map(rational, moves)))
            self.step(number, branch, list(map(rational, answers)), noises, moved[-1])
            same = number + 1 != block.stop or all(self.now[x] == before[x] for x in (*stream.state, *stream.limits))
            require(same, Refused, "the state or a counter is not what it was before the steps that are repeated")
        forbid(stream.m["neighbours"] == "one" and any(map(any, moved[block.start : block.stop])), Refused, "one answer alone moves, once")
        require(any(self.together(family, moved) for family in stream.families), Refused, "neighbours do not move so")
        good = not stream.whole or all(whole(stream.field, scale(stream.moved, x)) for row in moved for x in row)
        require(good, Refused, "integers move by integers")
        return self.rows

    def together(self, family, moved):
        """Whether neighbours of a family may move so."""
        every = [x for row in moved for x in row]
        if family == "one":
            return sum(x != 0 for x in every) <= 1 and all(abs(x) <= 1 for x in every)
        if self.stream.hull:
            return all(row in self.stream.points(family) for row in moved)
        return all(ENDS[family][0] <= x <= ENDS[family][1] for x in every)

    def step(self, number, branch, answers, noises, moves):
        """One step: the rows that it keeps, and the state after it."""
        stream, taken = self.stream, self.stream.steps[branch]
        require(type(branch) is int and branch >= 0, Malformed, "no such branch")
        forbid(stream.whole and any(x.denominator != 1 for x in answers), Refused, "an answer is no integer")
        alone = [step.word for step in stream.steps].count(taken.word) == 1
        require(alone, Refused, "another branch tells the same, so that the run is not known from what is told")
        goes_on = all(stream.field.positive(sub(p, self.now[x])) for x, p in stream.limits.items())
        require(goes_on, Refused, "it is not certain that the run goes on")
        for name in stream.fresh:
            self.draw(f"{name}@{number}", stream.fresh[name], noises[name])
        here = self.now | {name: symbol(f"{name}@{number}") for name in stream.fresh}
        answered = zip(stream.m["answers"], answers, moves, strict=True)
        here |= {name: add(constant(x), scale(symbol(MOVED), move)) for name, x, move in answered}
        read = lambda p: al.substitute(p, stream.all, here)  # noqa: E731
        for p, strict in taken.when:
            self.keep(read(p), strict)
        for step in stream.steps[:branch]:
            when = [(read(p), strict) for p, strict in step.when]
            free = [one for one in when if self.row(one[0])]
            bound = [one for one in when if not self.row(one[0])]
            if any(self.comes_out(scale(p, -1), not strict) for p, strict in bound):
                continue
            require(len(free) == 1, Refused, "an earlier branch does not fail, or by several comparisons")
            for one in bound:
                self.keep(*one)
            self.keep(scale(free[0][0], -1), True)
        self.rows += [(self.row(read(p)), True) for p in taken.told]
        self.now = self.now | {x: read(p) for x, p in taken.after.items()}

    def row(self, p):
        """The multiples of noises and moves in a form."""
        return self.stream.linear(p, self.values.keys())

    def comes_out(self, p, strict):
        return self.stream.field.positive(al.substitute(p, self.stream.field, self.values), strict)

    def keep(self, p, strict):
        """A comparison that holds at the point: with room, where noises or moves change it."""
        row = self.row(p)
        good = self.comes_out(p, strict or bool(row))
        require(good, Refused, "a comparison does not certainly come out as the run says, with room")
        self.rows += [(row, False)] if row else []

"""Noisy max and above threshold with log-concave noise, and streams with a shift in each mode and branch (docs/theory/selection.md)."""

from fractions import Fraction
from itertools import product
from math import ceil

from algebra import ONE, Field, add, constant, mul, names, scale, sub
from growth import INFINITE
from noise import IDEAL, Noise, Question, sided, slopes, total, whole
from norms import dot
from terms import Malformed, must, parse, rational, require, sure

MOVES = {"all": [(1, 1)], "monotone": [(1, 0), (0, 1)], "increasing": [(1, 0)], "decreasing": [(0, 1)]}
KINDS = ("once", "fresh", "state", "limits")
ENDS = {"all": (-1, 1), "increasing": (0, 1), "decreasing": (-1, 0), "one": (-1, 0, 1)}


class Asked:
    """A selection: the side, what each answer moves by, and sums, least and greatest of slopes that may be infinite."""

    def __init__(self, q, evidence):
        self.side, self.q, self.at = sided(q, evidence)
        m, self.field = q.mechanism, self.q.field
        sure(m.get("bounds") is None, "bounded answers")
        _ = [q.count(m[key]) for key in ("queries", "candidates") if m.get(key)]
        self.moved = ONE if self.q.moved is None else self.q.moved
        must(self.field.positive(self.moved, strict=False), "the sensitivity is not certainly at least 0")
        noises = [x["noise"] for x in m["once"] + m["fresh"]] if q.kind == "stream" else [x for x in m.values() if type(x) is dict]
        self.whole = [n.get("integers") is True for n in noises]
        must(q.kind == "stream" or len({*self.whole}) < 2 or m.get("whole_answers") is True, "an answer meets noise off the integers too")
        self.moved = constant(self.field.floor(self.moved)) if any(self.whole) and not whole(self.field, self.moved) else self.moved

    def slopes(self, mechanism):
        """How steeply h rises to the left and to the right in the limit."""
        if mechanism is None:
            return INFINITE, INFINITE
        noise = Noise(Question(mechanism, ONE, None, self.field, self.q.values), line=True)
        sure(noise.dimension == ONE and noise.copies == ONE and noise.norm["kind"] == "lp", "noise that is not on the line")
        return [s if s == INFINITE else mul(s, noise.shift) for s in slopes(noise)]  # noise.shift: 1 over the scale

    def times(self, count, slope):
        if slope != INFINITE:
            return mul(count, slope)
        none = not count or self.field.at_most(count, {})
        return INFINITE if not none and (self.side == "upper" or self.field.at_most(ONE, count)) else {}

    def bound(self, each):
        must(each != INFINITE or self.side == "upper" or self.field.positive(self.moved), "the sensitivity is not certainly positive")
        value = INFINITE if each == INFINITE else mul(each, self.moved)
        each = "answers differ by points of the hull" if "hull" in self.q.mechanism else "each answer moves by at most the sensitivity"
        moves = each if self.side == "upper" else "answers have every size and move the worst way"
        one = ["the guarantee is for one order of the data alone"] * (self.q.mechanism["neighbours"] in ("increasing", "decreasing"))
        return self.side, value, self.at, [moves, *one, "the noises are independent", IDEAL]


def log_concave_noisy_max(q, evidence):
    """docs/theory/selection.md#log-concave-noisy-max."""
    asked, m, whole = Asked(q, evidence), q.mechanism, q.mechanism["noise"].get("integers") is True
    must(q.kind == "noisy_max", "the mechanism is no noisy max")
    known = m["report"] in ("index", "value", "index+gap") and m["neighbours"] in (["hull"] if "hull" in m else ["all", "monotone", "one"])
    require(known, Malformed, "no such report, or a hull without its word")
    count, (left, right) = asked.q.count(m["candidates"]), asked.slopes(m["noise"])
    hull, added = [[rational(x) for x in row] for row in m.get("hull", [])], m.get("added", [])
    require(not added or (not whole and count == constant(len(added))), Malformed, "numbers that are not one for each real answer")
    if m["report"] == "value":
        sure(not hull and (not whole or m["neighbours"] != "all"), "the greatest value on the integers, or in a hull")
        return asked.bound(total("max", asked.field, [asked.times(ONE if m["neighbours"] == "one" else count, left), right]))
    gap, upper, two, others = m["report"] == "index+gap", asked.side == "upper", constant(2), asked.times(sub(count, ONE), left)
    fits = all(count == constant(len(row)) for row in hull)
    must(fits and (not gap or asked.field.at_most(two, count)), "no lead where there may be one candidate, or points of other answers")
    must(not (gap and upper and whole) or asked.field.at_most(count, two), "on the integers a lead of 0 tells of several answers")
    if hull and not (gap and upper):
        steps = (scale(asked.moved, x) for row in hull for x in row)
        sure(upper or not whole or all(x.keys() <= {()} and x.get((), Fraction(0)).denominator == 1 for x in steps), "integers by points")
        gains = {tuple(sorted(s * (x - own) for x in row if s * (x - own) > 0)) for row in hull for own in row for s in (1, -1)}
        return asked.bound(total("max", asked.field, [{}, *(_shifted(some, left, right, asked.times, asked.field) for some in gains)]))
    least = total("max", asked.field, [left, right]) if gap and upper else total("min", asked.field, [right, others])
    least = right if upper and "min" in repr(least) else least  # each of the two is an upper bound
    return asked.bound(asked.times(constant(max((max(row) - min(row) for row in hull), default=1 + (m["neighbours"] == "all"))), least))


def _shifted(gained, left, right, times, field):
    """The least that it costs to shift the winner's noise up by s, and each other down by what it gains beyond s."""
    beyond = {s: sum((x - s for x in gained if x > s), Fraction(0)) for s in (Fraction(0), *gained)}
    return total("min", field, [total("add", None, [times(constant(s), right), times(constant(x), left)]) for s, x in beyond.items()])


class Loss:
    """What outputs lose where answers go up by u at negatives and down by v at positives."""

    def __init__(self, asked, m, u, v):
        self.asked, self.u, self.v = asked, constant(u), constant(v)
        self.threshold, self.answers = asked.slopes(m["threshold_noise"]), asked.slopes(m["query_noise"])
        left, right = ({}, {}) if m["fresh"] is None else asked.slopes(m["fresh"])
        self.lowered, self.raised = asked.times(self.v, right), [asked.times(self.u, left)] * (asked.side == "upper")

    def by(self, k, c, draws=ONE):
        """What k negatives and c positives cost where the threshold's noise goes up with the negatives, stays, or goes down."""
        both, (down, up), (left, right), times = add(self.u, self.v), self.threshold, self.answers, self.asked.times
        ways, costs = {"up": (self.u, up, {}, both), "still": ({}, up, self.u, self.v), "down": (self.v, down, both, {})}, {}
        for way, (shift, slope, negative, positive) in ways.items():
            each = total("max", self.asked.field, [total("add", None, [times(positive, right), self.lowered]), *self.raised])
            costs[way] = total("add", None, [times(mul(draws, shift), slope), times(mul(k, negative), left), times(c, each)])
        return costs

    def of(self, k, c):
        return total("min", self.asked.field, list(self.by(k, c).values()))


def log_concave_threshold(q, evidence):
    """docs/theory/selection.md#log-concave-threshold."""
    must(q.kind == "above_threshold", "the mechanism is no above threshold")
    asked, m = Asked(q, evidence), q.mechanism
    known = m["report"] in ("answers", "answers+gap", "answers+value", "fresh") and m["neighbours"] in (*MOVES, "one")
    require(known and (m["report"] == "fresh") == (m["fresh"] is not None), Malformed, "a report, neighbours or noise that it has not")
    field, queries, most = asked.field, *(asked.q.count(m[key] or m["queries"]) for key in ("queries", "positives"))
    sure("exact" not in evidence and m["neighbours"] != "one", "exact answers, or answers that move alone")
    if m["report"] == "answers+value":
        sure(m["query_noise"] is not None and not m["resample"], "values of answers without noise, or of several thresholds")
        _, (left, right), most = asked.slopes(m["threshold_noise"]), asked.slopes(m["query_noise"]), field.extreme("min", [most, queries])
        costs = [(asked.times(constant(u), left), asked.times(constant(v), right)) for u, v in MOVES[m["neighbours"]]]
        each = [(asked.times(most, total("max", field, cost)), asked.times(sub(queries, most), cost[0])) for cost in costs]
        return asked.bound(total("max", field, [total("add", None, parts) for parts in each]))
    losses = [Loss(asked, m, u, v) for u, v in MOVES[m["neighbours"]]]
    if asked.side == "lower":
        k, c, move = (evidence.get(key) for key in ("negatives", "positives", "move"))
        require(all(type(x) is int and x >= 0 for x in (k, c, move)) and move < len(losses), Malformed, "no numbers, or no such way")
        good = field.at_most(constant(c * (k + 1) if m["resample"] else k + c), queries) and field.at_most(constant(c), most)
        must(good, "whether so many are asked for, or may be positive")
        k, c = constant(k), constant(c)
        return asked.bound(asked.times(c, losses[move].of(k, ONE)) if m["resample"] else losses[move].of(k, c))
    way, peaks = evidence.get("shift"), "peaks" in evidence
    sure(not m["resample"] if peaks else way in ("up", "still", "down"), "no shift, or the worst of all outputs of several thresholds")
    ends, draws = ((queries, {}), (sub(queries, most), most)), most if m["resample"] else ONE  # between them a cost is in proportion
    worst = [[_worst(loss, queries, most)] if peaks else [loss.by(*end, draws)[way] for end in ends] for loss in losses]
    return asked.bound(total("max", field, [value for listed in worst for value in listed]))


def _worst(loss, n, most):
    """The greatest loss of all outputs, one for each number of positives: none loses less where more are asked for."""
    sure(n.keys() | most.keys() <= {()} and n[()] <= 99, "the worst of outputs whose number is a parameter, or large")
    return total("max", loss.asked.field, [loss.of(constant(n[()] - c), constant(c)) for c in range(int(min(n[()], most[()])) + 1)])


class Stream(Asked):
    """A stream: its branches in what it names, and the vertices of how far the answers of a step move."""

    def __init__(self, q):
        must(q.kind == "stream", "the mechanism is no stream")
        super().__init__(q, {})
        m, fixed = q.mechanism, set(self.field.domains)
        self.once, self.fresh, state, limits = ({x["name"]: x.get("noise", x.get("value")) for x in m[key]} for key in KINDS)
        named, self.noises = [*fixed, *m["answers"], *(x["name"] for key in KINDS for x in m[key])], self.once | self.fresh
        own = len(set(named)) == len(named) and all(parse(name) == ("sym", name) for name in named)
        sure(own and m["neighbours"] in ENDS and 1 <= len(m["answers"]) <= 8, "names that are not its own, or neighbours in several ways")
        sure(len(set(self.whole)) == 1, "noise on the integers beside other noise")
        anywhere = dict.fromkeys(named, (None, None, True, True, False))
        self.moving, self.all = set(named) - fixed - limits.keys(), Field(anywhere | self.field.domains)
        self.state = {name: self.read(text, fixed | self.once.keys()) for name, text in state.items()}
        self.limits, self.rates = {name: q.form(text) for name, text in limits.items()}, {x: self.slopes(n) for x, n in self.noises.items()}
        self.branches = [self.branch(each, set(named)) for each in m["steps"]]
        sure(self.branches and not self.branches[-1][0], "there is no branch without a condition at the end")
        groups, met = [{*p} for when, told, *_ in self.branches for p in when + told], {*self.noises}
        groups += [{name, *p} for kept in [self.state, *(after for *_, after, _ in self.branches)] for name, p in kept.items()]
        for _ in groups:
            met |= {name for group in groups if group & met for name in group}
        must(not any(self.whole) or m.get("whole_answers") is True or {*m["answers"]} & set().union(*groups) <= met, "an exact answer")
        every = product(ENDS[m["neighbours"]], repeat=len(m["answers"]))
        self.points = [x for x in every if m["neighbours"] != "one" or sum(map(abs, x)) == 1]

    def read(self, text, known):
        """The rational multiples of what moves, in what is a sum of these and of a rest."""
        p = self.all.form(self.q.tree(text))
        moving = {m: c for m, c in p.items() if names({m: c}) & self.moving}
        sure(names(p) <= known and all(len(m) == 1 and m[0][0][0] == "s" and m[0][1] == 1 for m in moving), "no sum of what is known")
        return {m[0][0][1]: c for m, c in moving.items()}

    def branch(self, each, named):
        """What grows or stays, what is told, the state after it, and what counters grow by."""
        changed, grown = ({x["name"]: x["value"] for x in each[key]} for key in ("change", "count"))
        once, grown = len(changed) + len(grown) == len(each["change"] + each["count"]), {x: self.q.form(text) for x, text in grown.items()}
        good = once and changed.keys() <= self.state.keys() and grown.keys() <= self.limits.keys()
        sure(good and all(self.field.at_most({}, p) for p in grown.values()), "a branch sets what is not declared, or a counter may fall")
        when, told = [self.read(x["left"], named) for x in each["when"]], [self.read(x, named) for x in each["tell"]]
        return when, told, {name: self.read(changed.get(name, name), named) for name in self.state}, grown

    def shifts(self, given, known):
        """Shifts and differences by name: a number, and a multiple of what each answer moves by; of noise on the integers integers."""
        found = {name: tuple(map(rational, given.get(name, [0] * (1 + len(self.points[0]))))) for name in known}
        good = given.keys() <= set(known) and all(len(v) == 1 + len(self.points[0]) for v in found.values())
        for first, *others in (v for name, v in found.items() if self.noises.get(name, {}).get("integers")):
            good = good and whole(self.field, scale(self.moved, first)) and all(x.denominator == 1 for x in others)
        sure(good, "a shift of no known name, or of the integers by none")
        return found

    def cost(self, shifts, point):
        """What shifts of noises cost where the answers move by the point, in units of the sensitivity."""
        moved = {name: at(v, point) for name, v in shifts.items() if name in self.noises}
        return total("add", None, [self.times(constant(abs(s)), self.rates[name][s > 0]) for name, s in moved.items()])

    def most(self, name):
        """The most that a counter reaches: the most that a branch adds, to the most below its limit."""
        steps, limit = [grown.get(name, {}) for *_, grown in self.branches], self.limits[name]
        if all(whole(self.field, p) for p in steps):
            limit = constant(ceil(limit.get((), 0)) - 1) if limit.keys() <= {()} else sub(limit, ONE) if whole(self.field, limit) else limit
        return self.field.extreme("max", [{}, add(limit, self.field.extreme("max", steps))])

    def holds(self, branch, before, apart, point, after):
        """Whether a branch comes out as before, of what is so far apart, and leaves the state as far apart as a mode says."""

        def change(p):
            return sum(c * apart.get(name, 0) for name, c in p.items())

        when, told, state, _ = branch
        same = all(change(p) >= 0 for p in when) and all(change(p) <= 0 for earlier, *_ in before for p in earlier)
        return same and not any(map(change, told)) and all(change(p) == at(after[name], point) for name, p in state.items())


def at(vector, point):
    """A shift or a difference where the answers move by the point."""
    return vector[0] + dot(vector[1:], point)


def alignment(q, evidence):
    """docs/theory/selection.md#alignment, with one lead from each mode by each branch."""
    stream, (way,), field = Stream(q), evidence["ways"], q.field
    others = [evidence.get("moduli"), way.get("follow"), way.get("worth"), way.get("starts", [0]) != [0]]
    others.append(any(len(lead) != 5 for lead in way["steps"]))
    sure(not any(others), "noise that is not log-concave, several modes at the start, or what branches tell of the state")
    once, alone, queries = stream.shifts(way["once"], stream.once), q.mechanism["neighbours"] == "one", q.mechanism["queries"]
    modes, spent = [once | stream.shifts(mode, stream.state) for mode, _ in way["modes"]], [over is True for _, over in way["modes"]]
    prices, (each, *ahead) = {x: q.form(text) for x, text in way["prices"].items()}, map(q.form, [way["each"], *way["ahead"]])
    good = prices.keys() <= stream.limits.keys() and len(ahead) == len(modes) and (queries is not None or field.at_most(each, {}))
    good = good and all(field.at_most({}, x) for x in (each, *ahead, *prices.values())) and not spent[0]
    sure(good and (alone or not any([*spent, *(any(v[1:]) for mode in modes for v in mode.values())])), "prices, or modes, that may not be")
    every = [(n, number, moves) for n in range(len(modes)) for number in range(len(stream.branches))
             for moves in ([False] if spent[n] else [False, True] if alone else [True])]  # fmt: skip
    typed = all([type(x) for x in lead[:4]] == [int, int, bool, int] and 0 <= lead[3] < len(modes) for lead in way["steps"])
    leads = {(n, number, moves): (to, stream.shifts(told, stream.fresh)) for n, number, moves, to, told in way["steps"]}
    sure(typed and set(leads) == set(every) and len(every) == len(way["steps"]), "not one lead from each mode by each branch")
    for point in stream.points:
        apart = {name: at(v, point) for name, v in once.items()}
        sure(stream.holds(([], [], stream.state, {}), [], apart, point, modes[0]), "the state is not so far apart at first")
    for (n, number, moves), point in product(every, stream.points):
        (to, shifts), branch = leads[n, number, moves], stream.branches[number]
        apart = {name: at(v, point) for name, v in (modes[n] | shifts).items()}
        apart |= dict(zip(q.mechanism["answers"], point, strict=True)) if moves else {}
        same = stream.holds(branch, stream.branches[:number], apart, point, modes[to]) and (not alone or spent[to] == (spent[n] or moves))
        paid = add(each, ahead[n], scale(ahead[to], -1), *(mul(prices[x], p) for x, p in branch[3].items() if x in prices))
        cost = stream.cost(shifts, point)
        sure(same and cost != INFINITE and field.at_most(cost, paid), f"whether branch {number + 1} comes out as before, and is paid")
    steps = mul(q.count(queries), each) if queries is not None else {}
    drawn = total("max", field, [stream.cost(once, point) for point in stream.points])
    return stream.bound(total("add", field, [ahead[0], drawn, steps, *(mul(price, stream.most(x)) for x, price in prices.items())]))

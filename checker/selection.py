"""Noisy max and above threshold with log-concave noise (docs/theory/selection.md)."""

from algebra import ONE, add, constant, mul, sub
from noise import IDEAL, INFINITE, Noise, Question, sided, slopes, total, whole
from terms import Malformed, Undecided, forbid, must, require, sure

NOISES = ("noise", "threshold_noise", "query_noise", "fresh")
MOVES = {"all": [(1, 1)], "monotone": [(1, 0), (0, 1)], "increasing": [(1, 0)], "decreasing": [(0, 1)]}


class Asked:
    """A selection: the side, what each answer moves by, and sums, least and greatest of slopes that may be infinite."""

    def __init__(self, q, evidence):
        self.side, self.q, self.at = sided(q, evidence)
        m, self.field = q.mechanism, self.q.field
        sure(m.get("bounds") is None, "bounded answers")
        self.moved = ONE if self.q.moved is None else self.q.moved
        must(self.field.positive(self.moved, strict=False), "the sensitivity is not certainly at least 0")
        noises = [x["noise"] for x in m["once"] + m["fresh"]] if q.kind == "stream" else [m[key] for key in NOISES if m.get(key)]
        if any(n.get("integers") is True for n in noises) and not whole(self.field, self.moved):
            self.moved = constant(self.field.floor(self.moved))

    def slopes(self, mechanism):
        """How steeply h rises to the left and to the right in the limit."""
        if mechanism is None:
            return INFINITE, INFINITE
        noise = Noise(Question(mechanism, ONE, None, self.field, self.q.values), line=True)
        forbid(noise.dimension != ONE or noise.copies != ONE or noise.norm["kind"] != "lp", Undecided, "noise that is not on the line")
        return [s if s == INFINITE else mul(s, noise.shift) for s in slopes(noise)]  # noise.shift: 1 over the scale

    def times(self, count, slope):
        if slope != INFINITE:
            return mul(count, slope)
        if not count or self.field.at_most(count, {}):
            return {}
        return INFINITE if self.side == "upper" or self.field.at_most(ONE, count) else {}

    def bound(self, each):
        must(each != INFINITE or self.side == "upper" or self.field.positive(self.moved), "the sensitivity is not certainly positive")
        value = INFINITE if each == INFINITE else mul(each, self.moved)
        worst = "answers of every size occur, and move wholly in the worst way"
        moves = "each answer moves by at most the sensitivity" if self.side == "upper" else worst
        one = ["the guarantee is for one order of the data alone"] * (self.q.mechanism["neighbours"] in ("increasing", "decreasing"))
        return self.side, value, self.at, [moves, *one, "the noises are independent", IDEAL]


def log_concave_noisy_max(q, evidence):
    """docs/theory/selection.md#log-concave-noisy-max."""
    asked, m, whole = Asked(q, evidence), q.mechanism, q.mechanism["noise"].get("integers") is True
    must(q.kind == "noisy_max", "the mechanism is no noisy max")
    require(m["report"] in ("index", "value", "index+gap") and m["neighbours"] in ("all", "monotone", "one"), Malformed, "no such report")
    count, (left, right) = asked.q.count(m["candidates"]), asked.slopes(m["noise"])
    if m["report"] == "value":
        forbid(whole and m["neighbours"] == "all", Undecided, "the greatest value on the integers")
        count = ONE if m["neighbours"] == "one" else count
        return asked.bound(total("max", asked.field, [asked.times(count, left), right]))
    gap = m["report"] == "index+gap"
    must(not gap or asked.field.at_most(constant(2), count), "there is no lead where there may be one candidate")
    gap = gap and asked.side == "upper"
    must(not (gap and whole) or asked.field.at_most(count, constant(2)), "on the integers a lead of 0 tells of several answers")
    least = total("max", asked.field, [left, right]) if gap else total("min", asked.field, [right, asked.times(sub(count, ONE), left)])
    return asked.bound(asked.times(constant(2 if m["neighbours"] == "all" else 1), least))


class Loss:
    """What outputs lose where answers go up by u at negatives and down by v at positives."""

    def __init__(self, asked, m, u, v):
        self.asked, self.u, self.v = asked, constant(u), constant(v)
        self.threshold, self.answers = asked.slopes(m["threshold_noise"]), asked.slopes(m["query_noise"])
        left, right = ({}, {}) if m["fresh"] is None else asked.slopes(m["fresh"])
        self.told = total("max", asked.field, [asked.times(self.v, right), *[asked.times(self.u, left)] * (asked.side == "upper")])

    def by(self, k, c, draws=ONE):
        """What an output of k negatives and c positives costs where the threshold's noise goes up with the negatives, stays, or goes down."""
        both, (down, up), (left, right) = add(self.u, self.v), self.threshold, self.answers
        costs = {"up": [(mul(draws, self.u), up), (mul(c, both), right)], "still": [(mul(k, self.u), left), (mul(c, self.v), right)],
                 "down": [(mul(draws, self.v), down), (mul(k, both), left)]}  # fmt: skip
        times = self.asked.times
        return {way: total("add", None, [times(c, self.told), *(times(*cost) for cost in listed)]) for way, listed in costs.items()}

    def of(self, k, c):
        return total("min", self.asked.field, list(self.by(k, c).values()))


def log_concave_threshold(q, evidence):
    """docs/theory/selection.md#log-concave-threshold."""
    must(q.kind == "above_threshold", "the mechanism is no above threshold")
    asked, m = Asked(q, evidence), q.mechanism
    if m["report"] not in ("answers", "answers+gap", "answers+value", "fresh") or m["neighbours"] not in (*MOVES, "one"):
        raise Malformed("a report, or neighbours, that above threshold has not")
    forbid((m["report"] == "fresh") != (m["fresh"] is not None), Malformed, "fresh noise is there where it is reported, and nowhere else")
    queries = asked.q.count(m["queries"])
    most = queries if m["positives"] is None else asked.q.count(m["positives"])
    field = asked.field
    forbid("exact" in evidence or m["neighbours"] == "one", Undecided, "exact answers, or answers that move alone")
    if m["report"] == "answers+value":
        forbid(m["query_noise"] is None or m["resample"], Undecided, "values of answers without noise, or of several thresholds")
        return asked.bound(total("max", asked.field, [_values(asked, m, queries, most, u, v) for u, v in MOVES[m["neighbours"]]]))
    losses = [Loss(asked, m, u, v) for u, v in MOVES[m["neighbours"]]]
    if asked.side == "lower":
        k, c, move = (evidence.get(key) for key in ("negatives", "positives", "move"))
        require(all(type(x) is int and x >= 0 for x in (k, c, move)) and move < len(losses), Malformed, "no numbers, or no such way")
        k, c = constant(k), constant(c)
        asked_for = mul(c, add(k, ONE)) if m["resample"] else add(k, c)
        must(field.at_most(asked_for, queries) and field.at_most(c, most), "whether so many are asked for, or may be positive")
        return asked.bound(asked.times(c, losses[move].of(k, ONE)) if m["resample"] else losses[move].of(k, c))
    way = evidence.get("shift")
    forbid("peaks" in evidence and m["resample"], Undecided, "the worst of all outputs of several thresholds")
    sure("peaks" in evidence or way in ("up", "still", "down"), "a shift that is none")
    ends, draws = ((queries, {}), (sub(queries, most), most)), most if m["resample"] else ONE  # between them a cost is in proportion
    worst = [[_worst(loss, queries, most)] if "peaks" in evidence else [loss.by(*end, draws)[way] for end in ends] for loss in losses]
    return asked.bound(total("max", field, [value for listed in worst for value in listed]))


def _values(asked, m, queries, most, u, v):
    """What outputs lose where the values of positives are told."""
    left, right = asked.slopes(m["query_noise"])
    asked.slopes(m["threshold_noise"])
    most = asked.field.extreme("min", [most, queries])
    worst = total("max", asked.field, [left, right]) if u and v else left if u else right
    return total("add", asked.field, [asked.times(most, worst), asked.times(sub(queries, most), left if u else {})])


def _worst(loss, n, most):
    """The greatest loss of all outputs, one for each number of positives: none loses less where more are asked for."""
    sure(n.keys() | most.keys() <= {()} and n[()] <= 99, "the worst of outputs whose number is a parameter, or large")
    return total("max", loss.asked.field, [loss.of(constant(n[()] - c), constant(c)) for c in range(int(min(n[()], most[()])) + 1)])

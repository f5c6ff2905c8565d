"""Parts of a mechanism: which part a line speaks of, and how the pure epsilons of parts come together (docs/theory/composition.md)."""

import json

import algebra as al
from algebra import ONE, add, constant, mul, sub
from finite import Table, loss_at
from noise import INFINITE, Noise, Question, natural, side_of, whole
from terms import Malformed, Refused, Undecided, forbid, require

COMBINATORS = ("compose", "parallel", "subsample", "group", "post_process", "lipschitz")


def inside(mechanism):
    """The parts of a mechanism."""
    if mechanism["kind"] in ("compose", "parallel"):
        forbid(not isinstance(mechanism["parts"], list) or not mechanism["parts"], Malformed, "parts are no list")
        return mechanism["parts"]
    return [mechanism["part"]] if mechanism["kind"] in COMBINATORS else []


def infer(claim, field, line, facts, rules, made):
    """The fact that a line proves."""
    place, evidence, rule = line.get("place", []), line.get("parameters", {}), line["rule"]
    fixed = [step for step in place[:1] if isinstance(step, dict) and step.keys() == {"at"}]
    top = Question(claim["mechanism"], None, claim["query"], field)
    top.moved = None if claim["sensitivity"] is None else top.form(claim["sensitivity"])
    q = top.at(*fixed)[0] if fixed else top
    for step in place[len(fixed) :]:
        require(isinstance(step, dict) and step.keys() == {"part"}, Undecided, "a place that is no part")
        q = down(q, step["part"])
    forbid(q.kind in COMBINATORS and place, Undecided, "a part that is made of parts")
    premises = [facts[n] for n in line.get("premises", [])]
    require(rule in rules or (rule == "combination" and not place), Undecided, "the rule is not known here")
    found = rules[rule](further(q), evidence) if rule in rules else combination(claim, q, evidence, premises)
    return made("whole" if not place else about(further(q)), *found)


def down(q, number):
    """The question of a part, with the steps that its neighbours are apart."""
    listed = inside(q.mechanism)
    forbid(type(number) is not int or not 0 <= number < len(listed), Malformed, "the place is none in this mechanism")
    part, factor = listed[number], getattr(q, "factor", ONE)
    if q.kind == "subsample":
        factor = ONE
    if q.kind in ("group", "lipschitz"):
        factor = mul(factor, q.form(q.mechanism["size" if q.kind == "group" else "constant"]))
    inner = Question(part["mechanism"], None, part["query"], q.field, q.values)
    inner.moved = None if part["sensitivity"] is None else inner.form(part["sensitivity"])
    inner.factor, inner.part = factor, part
    return inner


def further(q):
    """A single mechanism on neighbours several steps apart."""
    factor = getattr(q, "factor", ONE)
    if factor == ONE:
        return q
    known = q.kind in ("radial", "translation", "product") and q.query is None and q.moved is not None
    require(known, Undecided, "this mechanism on neighbours of neighbours")
    one, integers = q.moved, q.mechanism.get("integers") is True
    forbid(integers and not whole(q.field, factor), Undecided, "noise on the integers at no whole number of steps")
    one = constant(q.field.floor(one)) if integers and not whole(q.field, one) else one
    return Question(q.mechanism, mul(factor, one), None, q.field, q.values)


def about(q):
    """What a premise about a question is known by."""
    moved = None if q.moved is None else al.key(q.moved)
    return json.dumps([q.mechanism, q.query], sort_keys=True), moved, tuple(sorted(q.values.items()))


class Values:
    """What parts lose, from premises, and what that takes for granted."""

    def __init__(self, side, premises):
        self.side, self.premises, self.assumed, self.used = side, premises, [], set()

    def times(self, q):
        times = q.form(q.part["times"]) if hasattr(q, "part") else ONE
        require(natural(q.field, times), Refused, "a part is not certainly run a whole number of times")
        return times

    def of(self, q, evidence):
        times, once = self.times(q), self.once(q, evidence)
        return once if once == INFINITE else mul(times, once)

    def once(self, q, evidence):
        factor, kind = getattr(q, "factor", ONE), q.kind
        if kind in ("compose", "parallel"):
            listed = evidence["parts"]
            require(len(listed) == len(inside(q.mechanism)), Malformed, "the evidence has not a part for each part")
            forbid(kind == "parallel" and factor != ONE, Undecided, "parallel parts on neighbours of neighbours")
            if kind == "parallel":
                self.assumed += ["parts in parallel see disjoint data; neighbours differ by adding or removing one record"]
                self.assumed += ["the worst neighbours of each part occur"] * (self.side == "lower")
            values = [self.of(down(q, n), e) for n, e in enumerate(listed)]
            return INFINITE if INFINITE in values else add(*values) if kind == "compose" else q.field.extreme("max", values)
        if kind == "post_process":
            require(self.side != "lower", Refused, "what a map of the output leaves to be seen is not known")
            self.assumed.append("the map does not look at the data")
        if kind in ("group", "lipschitz"):
            times = q.form(q.mechanism["size" if kind == "group" else "constant"])
            require(q.field.positive(times), Undecided, "neighbours that are no step apart")
            require(kind == "lipschitz" or natural(q.field, times), Undecided, "a group of no whole number of records")
            self.assumed += [f"neighbours behind {kind} move apart in one direction, in proportion"]
        if kind in ("post_process", "group", "lipschitz"):
            return self.of(down(q, 0), evidence)
        if kind == "subsample":
            return self.sampled(q, factor, evidence)
        numbered = type(evidence) is int and 0 <= evidence < len(self.premises)
        require(numbered, Undecided if isinstance(evidence, (dict, str)) else Refused, "a part wants the number of its premise")
        fact = self.premises[evidence]
        self.used.add(evidence)
        require(fact is not None, Undecided, "a premise that is not decided here")
        forbid(fact.about != about(further(q)) or fact.at, Refused, "a premise is not about the part that it stands for")
        require(fact.side == self.side, Refused, "a premise bounds from the other side")
        even = self.side == "upper" or q.kind not in ("translation", "product") or Noise(q, line=True).even
        require(even, Undecided, "which order of two neighbours is the worse for noise that is not even")
        self.assumed += fact.assumed
        return fact.value

    def sampled(self, q, factor, evidence):
        rate = q.form(q.mechanism["rate"])
        known = factor == ONE and q.mechanism["scheme"] in ("poisson", "without_replacement")
        require(known, Undecided, "a sample on neighbours of neighbours")
        noises = all(m["kind"] in ("radial", "translation", "product") for m, _ in leaves(q.mechanism))
        require(noises or self.side == "upper", Undecided, "in which order of two neighbours a part loses the most")
        require(q.field.positive(rate) and q.field.at_most(rate, ONE), Undecided, "a rate that is not certainly above 0 and at most 1")
        self.assumed.append("samples are drawn as declared and not seen")
        self.assumed += ["a record of a database may be the only one of its kind"] * (self.side == "lower")
        value = self.of(down(q, 0), evidence)
        return value if value == INFINITE else q.field.log(add(ONE, mul(rate, sub(q.field.exp(value), ONE))))


def combination(claim, q, evidence, premises):
    """docs/theory/composition.md#combination."""
    side = side_of(evidence, None)
    q, at = q.at(evidence, side == "lower")
    require(q.kind in COMBINATORS, Refused, "the mechanism is not made of parts")
    forbid(claim["sensitivity"] is not None or claim["query"] is not None, Refused, "every part has its own sensitivity")
    relation(claim)
    values = Values(side, premises)
    several = len(leaves(q.mechanism)) > 1
    values.assumed += ["the sensitivities of all parts speak of the same neighbours"] * several
    forbid(evidence.keys() - {"side", "at", "part", "neighbours"}, Undecided, "a bound by slopes, or at neighbours in the other order")
    if "neighbours" in evidence:
        require(not premises, Undecided, "premises about pairs of neighbours")
        return side, tables(q, evidence, side, values), at, values.assumed
    apart = side == "upper" and not any(leaf["kind"] in ("table", "exponential") for leaf, _ in leaves(q.mechanism))
    require(apart or not shared(q.mechanism), Undecided, "parts that share their neighbours")
    values.assumed += ["the neighbours that are worst for one part are worst for all"] * (several and side == "lower")
    value = values.of(q, evidence.get("part"))
    require(len(values.used) == len(premises), Refused, "a premise is not used")
    return side, value, at, values.assumed


def leaves(mechanism, part=None):
    """The mechanisms without parts, each with the part that it is."""
    listed = inside(mechanism)
    return [leaf for inner in listed for leaf in leaves(inner["mechanism"], inner)] if listed else [(mechanism, part)]


def shared(mechanism):
    """Whether several parts may share their neighbours: queries of one histogram, tables of one number of inputs."""
    spaces = [("inputs", len(m.get("rows") or m["scores"])) if m["kind"] in ("table", "exponential") else
              ("records", len(p["query"]["rows"][0])) if p["query"] else None for m, p in leaves(mechanism)]  # fmt: skip
    repeated = any(p["times"] != "1" for m, p in leaves(mechanism) if m["kind"] in ("table", "exponential"))
    known = [space for space in spaces if space]
    return repeated or len(set(known)) < len(known)


def every(mechanism):
    """A mechanism and all that it is made of."""
    return [mechanism, *(m for inner in inside(mechanism) for m in every(inner["mechanism"]))]


def relation(claim):
    """Refused where parts speak of different neighbours."""
    mechanisms = every(claim["mechanism"])
    held = [inner for m in mechanisms for inner in inside(m)]
    named = {claim.get("adjacency"), *(p["adjacency"] for p in held), *(p["query"]["adjacency"] for p in held if p["query"])} - {None, ""}
    named |= {"add-remove" if m["scheme"] == "poisson" else "replace" for m in mechanisms if m["kind"] == "subsample"}
    require(len(named) <= 1, Refused, f"neighbours by {' and by '.join(sorted(named))} cannot be mixed")
    parallel = any(m["kind"] == "parallel" for m in mechanisms)
    forbid(parallel and named - {"add-remove"}, Refused, "parts in parallel want neighbours by adding or removing one record")


def tables(q, evidence, side, values):
    """A composition of tables of the same inputs: the greatest sum of losses over one pair of inputs, or that at a named one."""
    finite = all(p["mechanism"]["kind"] in ("table", "exponential") for p in inside(q.mechanism))
    require(q.kind == "compose" and finite, Undecided, "pairs of neighbours of other than tables in a composition")
    listed = [(Table(down(q, n)), down(q, n)) for n in range(len(inside(q.mechanism)))]
    require(len({len(t.rows) for t, _ in listed}) == 1, Undecided, "tables of other inputs")
    plan, told = {"parts": [{}] * len(listed)}, evidence["neighbours"]
    pairs = sorted({pair for table, _ in listed for pair in table.pairs})
    values.assumed += ["tables with as many rows name the same inputs by them, in one order"] * (len(listed) > 1)
    values.assumed.append("what is drawn is drawn from the law that is declared")
    if side == "lower":
        pair = tuple(told[0]["pair"])
        formed = told == [{"inputs": len(listed[0][0].rows), "pair": list(pair)}] and evidence.get("part") == plan
        require(formed, Undecided, "neighbours that are named in another way")
        require(pair in pairs, Refused, "the two inputs are no neighbours")
        pairs = [pair]
    else:
        require(told == {"plans": [plan], "of": [0] * _different(listed, pairs)}, Undecided, "plans of another form")
    totals = []
    for a, b in pairs:
        rows = [[loss_at(table, a, b, y) for y in range(len(table.rows[a])) if not table.zero(a, y)] for table, _ in listed]
        if any(INFINITE in row for row in rows):
            return INFINITE
        totals.append(add(*(mul(values.times(inner), q.field.extreme("max", row)) for row, (_, inner) in zip(rows, listed, strict=True))))
    return q.field.extreme("max", totals)


def _different(listed, pairs):
    """How many pairs of inputs are not alike."""
    rows = [q.mechanism.get("rows") or q.mechanism["scores"] for _, q in listed]
    alike = [[sorted(zip(r[a], r[b], strict=True)) for r in rows] for a, b in pairs if a < b]
    return len({json.dumps(each) for each in alike})

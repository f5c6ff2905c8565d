"""Parts of a mechanism: which part a line speaks of, and how the pure epsilons of parts come together (docs/theory/composition.md)."""

from contextlib import suppress
from fractions import Fraction
from itertools import combinations, permutations

import best
import mixtures
import noise
import norms
from algebra import ONE, add, constant, mul, scale, sub
from finite import Table
from growth import INFINITE
from noise import IDEAL, LINE, Noise, Question, sided, total, whole
from norms import dot
from terms import Malformed, Refused, Undecided, must, rational, require, sure

STEPS = {"group": "size", "lipschitz": "constant"}
SHIFTED = (noise.concave_exponent, noise.convex_exponent, noise.power_identity)  # by these a loss is concave in the shift
COMBINATORS = ("compose", "parallel", "subsample", "group", "post_process", "lipschitz", "best_of")


def inside(mechanism):
    """The parts of a mechanism; a sum is made of noises alone."""
    return [] if mechanism["kind"] == "sum" else mechanism.get("parts") or ([mechanism["part"]] if "part" in mechanism else [])


def asked(part, field, values=None):
    """The question about a part, or a claim."""
    q = Question(part["mechanism"], None, part["query"], field, values)
    q.moved = None if part["sensitivity"] is None else q.form(part["sensitivity"])
    return q


def infer(claim, field, line, facts, rules, made):
    """The fact that a line proves."""
    place, evidence, rule = line.get("place", []), line.get("parameters", {}), line["rule"]
    closed = place == mixtures.CLOSED and rule in rules
    if closed or (rule == "mixture-closed-form" and not place):
        mixture = asked(claim, field)
        radial = mixtures.closed(mixture)
        if closed:
            return made(about(radial), *rules[rule](radial, evidence))
        premises = [facts[n] for n in line.get("premises", [])]
        return made("whole", *mixtures.mixture_closed_form(mixture, evidence, premises, about(radial)))
    q, fixed = asked(claim, field), bool(place) and isinstance(place[0], dict) and place[0].keys() == {"at"}
    q = q.at(place[0])[0] if fixed else q
    several = False  # whether the place is of so many runs; one step below is one
    for step in place[fixed:]:
        sure(isinstance(step, dict) and step.keys() == {"part"}, "a place that is no part")
        require(not several or step["part"] == 0, Malformed, "the place is none in this mechanism")
        q = q if several else down(q, step["part"])
        several = not several and q.part["times"] != "1"
    whole_claim = {"combination": combination, "one-sided": one_sided, "joint-moves": joint_moves}
    known = rule in rules and not several and not (q.kind in COMBINATORS and place)
    sure(known or (rule in whole_claim and not place), "the rule is not known here")
    premises = [facts[n] for n in line.get("premises", [])]
    found = rules[rule](further(q), evidence) if rule in rules else whole_claim[rule](claim, q, evidence, premises)
    return made("whole" if not place else about(further(q)), *found)


def down(q, number):
    """The question of a part, with the steps that its neighbours are apart."""
    listed, steps = inside(q.mechanism), STEPS.get(q.kind)
    require(type(number) is int and 0 <= number < len(listed), Malformed, "the place is none in this mechanism")
    inner = asked(listed[number], q.field, q.values)
    inner.factor = ONE if q.kind == "subsample" else mul(q.factor, q.form(q.mechanism[steps])) if steps else q.factor
    inner.part, inner.mapped = listed[number], q.kind != "subsample" and (q.mapped or q.kind == "lipschitz")
    return inner


def further(q):
    """A single mechanism on neighbours several steps apart."""
    if q.factor == ONE or q.kind == "guarantee":
        return q
    known = q.kind in noise.ADDED and q.query is None and q.moved is not None
    one, integers = q.moved, q.mechanism.get("integers") is True
    sure(known and (whole(q.field, q.factor) or not integers), "this mechanism on neighbours of neighbours")
    sure(not integers or whole(q.field, one) or not q.mapped, "integers that move by no integer, behind a map")
    one = constant(q.field.floor(one)) if integers and not whole(q.field, one) else one  # each record moves an answer by an integer
    return Question(q.mechanism, mul(q.factor, one), None, q.field, q.values)


def about(q):
    """What a premise about a question is known by."""
    return q.mechanism, q.query, q.moved, q.factor, q.values


class Values:
    """What parts lose, from premises, and what that takes for granted."""

    def __init__(self, side, premises):
        self.side, self.premises, self.assumed, self.used = side, premises, [], set()

    def of(self, q, evidence):
        count, once = q.count(q.part["times"] if q.part else "1"), self.once(q, evidence)
        return once if once == INFINITE else mul(count, once)

    def once(self, q, evidence):
        kind = q.kind
        if kind in ("compose", "parallel"):
            listed = evidence["parts"] if self.premises is not None else [None] * len(inside(q.mechanism))
            require(len(listed) == len(inside(q.mechanism)), Malformed, "the evidence has not a part for each part")
            sure(kind != "parallel" or q.factor == ONE, "parallel parts on neighbours of neighbours")
            self.assumed += ["parts in parallel see disjoint data, and the worst neighbours of each occur"] * (kind == "parallel")
            return total("add" if kind == "compose" else "max", q.field, [self.of(down(q, n), e) for n, e in enumerate(listed)])
        if kind == "subsample":
            sure(q.factor == ONE, "a sample on neighbours of neighbours")
            return self.sampled(q, evidence)
        if kind in (*STEPS, "post_process"):
            must(kind in STEPS or self.side == "upper", "what a map of the output leaves to be seen is not known")
            sure(kind not in STEPS or q.field.positive(q.form(q.mechanism[STEPS[kind]])), "neighbours that are no step apart")
            sure(kind != "group" or q.count(q.mechanism["size"], known=sure), "a group of no whole number")
            told = f"neighbours behind {kind} move apart in one direction, in proportion"
            self.assumed.append(told if kind in STEPS else "the map does not look at the data")
            return self.of(down(q, 0), evidence)
        if kind == "best_of":
            sure(self.side == "upper" and self.premises is not None, "what the best of several runs loses at one pair, or from below")
            value = self.of(down(q, 0), evidence["part"])
            self.assumed += best.OFTEN
            return best.upper(q, evidence, value)
        return self.leaf(q, evidence)

    def leaf(self, q, evidence):
        """What a single mechanism loses, by its premise."""
        numbered = type(evidence) is int and 0 <= evidence < len(self.premises)
        require(numbered, Undecided if isinstance(evidence, (dict, str)) else Refused, "a part wants the number of its premise")
        fact = self.premises[evidence]
        self.used.add(evidence)
        sure(fact is not None, "a premise that is not decided here")
        fits = fact.side == self.side or (fact.side == "exact" and self.side == "upper")
        must(fact.about == about(further(q)) and not fact.at and fits, "a premise is about another part or side")
        sure(self.side == "upper" or q.kind not in noise.ADDED[1:] or Noise(q, line=True).even, "which order is the worse for uneven noise")
        self.assumed += fact.assumed
        return fact.value

    def rate(self, q):
        """The rate of a sample."""
        rate = q.form(q.mechanism["rate"])
        sure(q.field.positive(rate) and q.field.at_most(rate, ONE), "a rate that is not certainly above 0 and at most 1")
        told = ["samples are drawn as declared and not seen", "a record of a database may be the only one of its kind"]
        self.assumed += told if self.side == "lower" else told[:1]
        return rate

    def sampled(self, q, evidence):
        noises = all(m["kind"] in noise.ADDED for m, _ in leaves(q.mechanism))
        sure(noises or self.side == "upper", "in which order of two neighbours a part loses the most")
        return grown(q.field, self.rate(q), self.of(down(q, 0), evidence))


def grown(field, rate, value):
    """What a sample loses of what loses so much."""
    return value if value == INFINITE else field.log(add(ONE, mul(rate, sub(field.exp(value), ONE))))


def combination(claim, q, evidence, premises):
    """docs/theory/composition.md#combination."""
    for m, part in every(q.mechanism, claim):
        _ = best.law(asked({**part, "mechanism": m}, q.field)) if m["kind"] == "best_of" else None
    side, q, at = sided(q, evidence)
    values = Values(side, premises)
    sure(q.kind in COMBINATORS, "coordinates of noise as parts of their own")
    must(claim["sensitivity"] is None and claim["query"] is None, "not made of parts of own sensitivities")
    relation(claim)
    if q.kind == "best_of" and side == "lower":
        must(not premises, "a premise is not used")
        value, assumed = best.lower(q, down(q, 0), evidence)
        return side, value, at, assumed
    several = len(leaves(q.mechanism)) > 1
    values.assumed += ["the sensitivities of all parts speak of the same neighbours"] * several
    if "neighbours" in evidence:
        return side, joint(q, evidence, side, values), at, values.assumed
    if evidence.get("slopes") is True and side == "upper":
        return side, by_slopes(q), {}, [*values.assumed, "histograms are real", IDEAL]
    apart = side == "upper" and not any(leaf["kind"] in ("table", "exponential") for leaf, _ in leaves(q.mechanism))
    sure("slopes" not in evidence and (apart or not shared(q.mechanism)), "parts that share their neighbours, or slopes")
    values.assumed += ["the neighbours that are worst for one part are worst for all"] * (several and side == "lower")
    value = values.of(q, evidence.get("part"))
    must(len(values.used) == len(premises), "a premise is not used")
    return side, value, at, values.assumed


def every(mechanism, part=None):
    """A mechanism and all that it is made of, each with the part that it is."""
    return [(mechanism, part), *(each for inner in inside(mechanism) for each in every(inner["mechanism"], inner))]


def leaves(mechanism, part=None):
    """The same of mechanisms without parts."""
    return [(m, p) for m, p in every(mechanism, part) if not inside(m)]


def spaces(mechanism):
    """What neighbours of parts differ in: so many inputs of a table, so many records that a query counts."""
    listed = [("inputs", len(m.get("rows") or m["scores"])) if m["kind"] in ("table", "exponential") else
              ("records", len(p["query"]["rows"][0])) if p["query"] else None for m, p in leaves(mechanism)]  # fmt: skip
    return [space for space in listed if space]


def shared(mechanism):
    """Whether several parts may share their neighbours."""
    repeated = any(p["times"] != "1" for m, p in leaves(mechanism) if m["kind"] in ("table", "exponential"))
    return repeated or len(set(spaces(mechanism))) < len(spaces(mechanism))


def relation(claim, named=frozenset()):
    """Refused where parts speak of different neighbours."""
    mechanisms, held = zip(*every(claim["mechanism"], claim), strict=True)
    named = {*named, *(p.get("adjacency") for p in held), *(p["query"]["adjacency"] for p in held if p["query"])} - {None, ""}
    named |= {"add-remove" if m["scheme"] == "poisson" else "replace" for m in mechanisms if m["kind"] == "subsample"}
    named |= {"add-remove"} if any(m["kind"] == "parallel" for m in mechanisms) else set()
    must(len(named) <= 1, f"neighbours by {' and by '.join(sorted(named))} cannot be mixed")


def lost(asked, side, rules):
    """What even noise loses by its shift, by the first of the rules that tells."""
    for rule in rules:
        with suppress(Undecided):
            return rule(asked, {"side": side})[1]
    raise Undecided("what a noise loses at a shift")


class Joint(Values):
    """What a mechanism loses at one pair of neighbours, the law on the first one first: histograms that differ by v, or inputs a and b."""

    def __init__(self, side, pair, ways, real, assumed):
        super().__init__(side, None)
        self.pair, self.ways, self.real, self.assumed = pair, ways, real, assumed
        self.kind = "inputs" if type(pair[0]) is int else "records"

    def leaf(self, q, _):
        if q.kind == "guarantee" and self.side == "upper" and q.mechanism.get("order") == "one-sided" and sum(self.pair) < 0:
            return INFINITE  # of the order that is stated nothing follows for the other
        if self.kind == "inputs" and q.kind in ("table", "exponential"):
            return Table(q).loss(*self.pair)
        known = self.kind == "records" and q.kind in noise.ADDED[:2] and q.query and q.factor == ONE
        sure(known and known_size(q), "what a part loses at a pair")
        moved, m = [dot(row, self.pair) for row in norms.matrix_of(q.query["rows"])], q.mechanism
        norm, vectors = m.get("norm", LINE), [norms.up_to_sign(moved)]
        size = norms.longest(norm, vectors, len(moved), q.field, self.side) if any(moved) else {}
        sure(not m.get("integers") or (not self.real and not any(s.denominator != 1 for s in moved)), "answers that differ by no integers")
        asked = Question(m, size, None, q.field, q.values)
        drawn = Noise(asked, line=True)
        drawn.check_integrable()
        if not size:
            return {}
        if not drawn.even or drawn.support != [None, None]:
            rate = noise.slopes(drawn)[moved[0] > 0]
            return rate if rate == INFINITE else mul(rate, drawn.shift)
        return lost(asked, self.side, [noise.convex_exponent] if self.real else SHIFTED)

    def sampled(self, q, evidence):
        field, rate, part = q.field, self.rate(q), down(q, 0)
        sure(self.kind == "records", "a sample of tables")
        if q.mechanism["scheme"] == "without_replacement" and self.side == "upper":  # another record may stand where the one is not
            each = [Joint(self.side, pair, self.ways, self.real, self.assumed) for pair in self.ways]
            return grown(field, rate, total("max", field, [at.of(part, evidence) for at in each]))
        value = self.of(part, evidence)
        if q.mechanism["scheme"] == "without_replacement" or sum(self.pair) > 0:
            return grown(field, rate, value)
        rest = {} if value == INFINITE else mul(rate, field.exp(scale(value, -1)))  # the law without the record first
        return INFINITE if value == INFINITE and field.zero(sub(rate, ONE)) else scale(field.log(add(sub(ONE, rate), rest)), -1)


def joint(q, evidence, side, values):
    """The greatest loss at one pair of neighbours that all parts share, from above; from below that at a named pair."""
    listed, known = leaves(q.mechanism), set(spaces(q.mechanism))
    sure(len(known) == 1, "parts that share several kinds of neighbours")
    sure(not any(m["kind"] in STEPS for m, _ in every(q.mechanism)), "neighbours that are several steps apart")
    adjacency, ((kind, n),) = {part["query"]["adjacency"] for _, part in listed if part["query"]}, known
    real = adjacency <= {"l1", "l2"} and bool(adjacency)
    values.assumed += [IDEAL, *["histograms are real"] * real]
    values.assumed += [f"parts of {n} {kind} speak of the same ones, in one order"] * (len(listed) > 1)
    unit = [tuple(Fraction(i == j) for i in range(n)) for j in range(n)]
    ways = {*unit, *(tuple(-x for x in v) for v in unit)}
    if adjacency == {"replace"}:
        ways = {tuple(x - y for x, y in zip(v, w, strict=True)) for v, w in permutations(unit, 2)}
    if kind == "inputs":
        sure(q.kind == "compose" and all(not inside(p["mechanism"]) for p in inside(q.mechanism)), "tables inside")
        ways = {pair for number in range(len(listed)) for pair in Table(down(q, number)).pairs}
    if side == "upper":
        sure(adjacency != {"l2"}, "neighbours by l2")
        return total("max", q.field, [Joint(side, pair, sorted(ways), real, values.assumed).once(q, None) for pair in sorted(ways)])
    (named,) = evidence["neighbours"]
    pair = tuple(named["pair"]) if kind == "inputs" else tuple(map(rational, named["difference"]))
    length = sum(abs(x) if adjacency == {"l1"} else x * x for x in pair)
    formed = pair in ways and (kind == "records" or named == {"inputs": n, "pair": list(pair)})
    must(formed or (real and len(pair) == n and length <= 1), "the two are no neighbours")
    if evidence.get("backward") is True:
        pair = pair[::-1] if kind == "inputs" else tuple(-x for x in pair)
    return Joint(side, pair, [pair], False, values.assumed).once(q, None)


def known_size(q):
    """Whether a query has a row for each coordinate of its noise."""
    return constant(len(q.query["rows"])) == q.form(q.mechanism.get("dimension", "1"))


def queried(q):
    """The noises of a composition that answers about one real histogram under l2: each as a question, the rows of its query, its runs."""
    parts = [down(q, number) for number in range(len(q.mechanism["parts"]))] if q.kind == "compose" else []
    line = all(p.kind in noise.ADDED and p.mechanism.get("norm", LINE)["kind"] == "lp" and not p.mechanism.get("integers") for p in parts)
    real = line and all(p.query and p.query["adjacency"] == "l2" and known_size(p) for p in parts)
    sure(parts and real and not q.field.domains, "parts that are no noise on answers about one real histogram under l2, or parameters")
    return [(p, norms.matrix_of(p.query["rows"]), p.count(p.part["times"])[()]) for p in parts]


def by_slopes(q):
    """The greatest sum of what is lost in proportion to each answer's move: the l1 length of all answers, each times its slope."""
    stacked = []
    for part, rows, times in queried(q):
        drawn = Noise(Question(part.mechanism, ONE, None, q.field))
        slope = mul(q.field.extreme("max", noise.slopes(drawn)), drawn.shift)
        sure(drawn.dimension == ONE and slope.keys() == {()}, "coordinates that are not independent, or a slope that is not rational")
        stacked += [[times * slope[()] * x for x in row] for row in rows]
    return norms.stretched(LINE, stacked, q.field)


def joint_moves(claim, q, _, premises):
    """docs/theory/composition.md#joint-moves: what is lost is concave in the square of a move, and the squares of moves of orthogonal
    answers have at most the greatest square as their sum. So parts that are alike lose the most where they share it alike.
    """
    relation(claim)
    ((first, *others), rows, times), field = zip(*queried(q), strict=True), q.field
    rows, alike = [row for (row,) in rows], all(p.mechanism == first.mechanism for p in others) and set(times) == {1}
    sure(alike and all(dot(a, b) == 0 for a, b in combinations(rows, 2)), "parts that are not alike, or answers that are not orthogonal")
    moved = field.power(constant(max(dot(row, row) for row in rows) / len(rows)), Fraction(1, 2))
    value = scale(lost(Question(first.mechanism, moved, None, field), "upper", SHIFTED), len(rows))
    return "upper", value, {}, ["histograms are real", "the sensitivities of all parts speak of the same neighbours", IDEAL]


def one_sided(claim, q, evidence, _):
    """docs/theory/composition.md#one-sided, of tables and noise by themselves."""
    side, forward, m = evidence.get("side"), claim.get("order") == "one-sided", q.mechanism
    sure("order" in claim and side in ("upper", "lower"), "no order of neighbours, or no pure privacy")
    queries = [part["query"] for _, part in leaves(m, claim) if part["query"]]
    relation(claim, {"add-remove"})
    if q.kind in ("table", "exponential"):
        sure(m["adjacent"] is not None, "inputs that are not listed in an order")
        pairs, assumed = [tuple(pair) for pair in m["adjacent"]], ["the listed inputs are adjacent, the record in the first of them"]
        sure(all(pair in Table(q).pairs for pair in pairs), "a pair of one input")
    else:
        n, assumed = len(queries[0]["rows"][0]) if queries else 1, []
        pairs = [tuple(Fraction((i == j) * (1 if forward else -1)) for i in range(n)) for j in range(n)]
    losses = [Joint(side, x if forward or type(x[0]) is not int else x[::-1], [], False, assumed).once(q, None) for x in pairs]
    return side, total("max", q.field, [{}, *losses]), {}, [*assumed, "the guarantee is for one order of the data alone", IDEAL]

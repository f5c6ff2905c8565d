"""The pairs of mechanisms that have no parts: noises on answers, responses, what is stated (docs/theory/curves.md)."""

import cells
import lattice
import linear
import noise
import norms
import pairs
import unimodal
from algebra import ONE, Fraction, add, constant, mul, scale, sub
from growth import INFINITE
from noise import LINE, Noise, Question
from pairs import HALF
from terms import must, rational, sure


def response(q):
    """docs/theory/finite.md#kary-response: two inputs, whose own outputs are the likely ones."""
    k, p = q.count(q.mechanism["k"], 2), q.form(q.mechanism["p"])
    sure(k.keys() == {()} and q.field.at_most({}, p) and q.field.at_most(p, ONE), "p is not certainly from 0 to 1")
    rest = mul(sub(ONE, p), q.field.power(sub(k, ONE), Fraction(-1)))
    others = [(scale(rest, k[()] - 2),) * 2] if k[()] > 2 else []
    return pairs.finite([(p, rest), (rest, p), *others])


def worst(epsilon, delta):
    """The pair that dominates all that is (epsilon, delta)-private."""
    odds = pairs.FIELD.exp(epsilon)
    less = mul(sub(ONE, delta), pairs.FIELD.power(add(ONE, odds), Fraction(-1)))
    more, certain = mul(odds, less), [(delta, {}), ({}, delta)] if delta else []
    return pairs.finite([*certain, (more, less), (less, more)] if epsilon else [*certain, (sub(ONE, delta),) * 2])


def budget(q, side):
    """docs/theory/composition.md#privacy-filter: what has the whole budget may be chosen."""
    m, rows = q.mechanism, [[q.form(x) for x in row] for row in q.mechanism["rows"]]
    good = "order" not in m and q.factor == ONE and len(rows) == 1 and all(q.field.at_most({}, x) for x in rows[0])
    sure(good and len(rows[0]) == {"approximate": 2, "gdp": 1, "zcdp": 1, "renyi": 2}.get(m["measure"]), "a filter with such a budget")
    if m["measure"] in ("zcdp", "renyi") and side == "upper":
        return pairs.concentrated(m["measure"], rows, ONE)
    if m["measure"] in ("zcdp", "renyi"):  # Gaussian noise that spends it
        size = scale(rows[0][0], 2) if m["measure"] == "zcdp" else scale(mul(rows[0][1], q.field.power(rows[0][0], Fraction(-1))), 2)
        return pairs.gaussian(q.field.power(size, HALF))
    if m["measure"] == "gdp":
        return pairs.gaussian(rows[0][0])
    sure(q.field.at_most(rows[0][1], ONE), "a delta that is no probability")
    return worst(*rows[0])


def stated(q):
    """docs/theory/composition.md#stated-guarantee."""
    m, field = q.mechanism, q.field
    rows = [[q.form(x) for x in row] for row in m["rows"]]
    sure("order" not in m and all(field.at_most({}, x) for row in rows for x in row), "a guarantee of one order alone")
    if m["measure"] == "approximate":
        pure = all(field.zero(row[1]) for row in rows)
        sure(q.factor == ONE or (pure and noise.whole(field, q.factor)), "a guarantee with a delta for neighbours of neighbours")
        must(all(len(row) == 2 and field.at_most(row[1], ONE) for row in rows), "no epsilon and delta")
        points = [(mul(q.factor, e), d) for e, d in rows]
        return worst(*points[0]) if len(points) == 1 else pairs.hull(points)
    sure(noise.whole(field, q.factor), "a guarantee for neighbours of neighbours")
    if m["measure"] == "gdp":
        return pairs.gaussian(mul(q.factor, field.extreme("min", [row[0] for row in rows])))
    if m["measure"] == "bounded_range":
        return pairs.ranged(mul(q.factor, field.extreme("min", [row[0] for row in rows])))
    return pairs.concentrated(m["measure"], rows, q.factor)


def summed(q):
    """docs/theory/curves.md#sums: Gaussian noises on the line, of which those with the greatest variances may be missing."""
    missing, variances = q.form(q.mechanism["dropouts"]), []
    for part in q.mechanism["parts"]:
        m, times = part["noise"], q.count(part["times"])
        sure(m["kind"] in noise.ADDED, "a sum of other than Gaussian noises on the line")
        drawn = Noise(Question(m, ONE, None, q.field, q.values), line=True)
        line = drawn.dimension == drawn.copies == ONE and m.get("norm", LINE)["kind"] == "lp" and not m.get("integers")
        few = times.keys() == {()} and times[()] <= 1000
        sure(line and few and noise.power_of(drawn) == 2, "a sum of other than Gaussian noises on the line")
        precision = scale(mul(noise.rate_of(drawn, 2), mul(drawn.shift, drawn.shift)), 2)  # one over the variance
        variances += [q.field.power(precision, Fraction(-1))] * int(times[()])
    sure(missing.keys() <= {()} and 0 <= missing.get((), 0) < len(variances), "how many noises may be missing")
    for _ in range(int(missing.get((), 0))):
        worst = next(v for v in variances if all(q.field.at_most(w, v) for w in variances))
        variances.remove(worst)
    must(q.moved is not None and q.field.at_most({}, q.moved), "no sensitivity")
    return mul(q.moved, q.field.power(add(*variances), -HALF))


def compared(q):
    """docs/theory/selection.md#compared-gaussians: mu of noisy max with Gaussian noise, of answers that each move by at most D."""
    m, n = q.mechanism, q.count(q.mechanism["candidates"])
    sure(m["report"] == "index", "more than the index is told")
    sure(m["neighbours"] == "all" and q.moved is not None and not q.query and q.factor == ONE, "answers that move otherwise")
    sure(n.keys() == {()} and n[()] >= 2, "a number of candidates that is a parameter, or one")
    sure(m["noise"]["kind"] in noise.ADDED, "noise of another kind")
    drawn, count = Noise(Question(m["noise"], q.moved, None, q.field, q.values), line=True), n[()]
    line = drawn.dimension == drawn.copies == ONE and drawn.norm["kind"] == "lp" and not drawn.whole
    sure(line and noise.power_of(drawn) == 2, "other noise than Gaussian noise on the line")
    most = count if count % 2 == 0 else count - 1 / count
    return mul(drawn.shift, q.field.power(scale(noise.rate_of(drawn, 2), 2 * most), HALF))


def added(m, q, side, moved):
    """Noise on an answer: in the norm in which its pair is known; moved: what each coordinate moves by, where it is known."""
    if m.get("integers"):
        sure(moved is None or len(moved) == 1, "several coordinates")
        if moved is not None and moved[0].denominator != 1:  # docs/theory/additive.md#cosets: no output is one of both
            return pairs.finite([(ONE, {}), ({}, ONE)])
        size = None if moved is None else constant(abs(moved[0]))
        return lattice.pair(Noise(Question(m, q.moved if moved is None else size, None, q.field, q.values), line=True))
    alone = Noise(Question(m, ONE, None, q.field, q.values), line=True)
    if not alone.even or alone.support != [None, None]:
        sure(q.kind == "translation" and moved is None, "several coordinates of noise that is not even")
        here = linear.pair(alone, Noise(q, line=True).shift)
        return pairs.symmetric(here) if side == "upper" else here
    power, norm = noise.power_of(alone), m.get("norm", LINE)
    if moved is None and q.part is None and power is None and alone.dimension == alone.copies == ONE:
        return unimodal.pair(q, cells.tried(lambda: steep(q)) if side == "upper" else None)
    if side == "upper" and moved is None and (power is None or (power == 1 and q.kind == "radial")):
        return steep(q)
    sure(power is not None, "noise that is neither Gaussian nor Laplace noise")
    if moved is not None:
        wanted = {"kind": "lp", "p": str(power), "matrix": []}
        norm = norm if q.kind == "radial" else wanted
        q = Question({**m, **({"norm": norm} if "norm" in m else {})}, length(norm, moved, q, side), None, q.field, q.values)
    drawn = Noise(q, line=True)
    line = drawn.dimension == ONE
    euclid = norm["kind"] == "ellipsoid" or (norm["kind"] == "lp" and norm["p"] == str(power)) or line
    sure(euclid, "noise around the answer in another norm")
    rate, root = noise.rate_of(drawn, power), drawn.q.field.power
    reach = drawn.shift
    if drawn.copies != ONE and norm["kind"] == "lp":  # the greatest l_power length of a shift of that length in l_p
        n, p = drawn.copies, norm["p"]
        longer = 1 / Fraction(power) - (0 if p is None else 1 / rational(p))
        if (p is None or rational(p) > power) and not (power == 1 and side == "lower"):
            reach = mul(reach, root(n, longer))
    sure(drawn.copies == ONE or norm["kind"] == "lp", "coordinates in a norm by a matrix")
    if power == 2:
        return pairs.gaussian(mul(reach, root(scale(rate, 2), HALF)))
    return pairs.laplace(mul(reach, rate))


def steep(q):
    """docs/theory/curves.md#lipschitz-exponent: convex noise loses no more than Laplace noise of its greatest slope."""
    drawn = Noise(q, line=True)
    reach, p = drawn.shift, drawn.norm["p"]
    if drawn.copies != ONE:  # the greatest l1 length
        sure(drawn.norm["kind"] == "lp", "coordinates in a norm by a matrix")
        reach = mul(reach, q.field.power(drawn.copies, 1 - (0 if p is None else 1 / rational(p))))
    rates = noise.slopes(drawn)
    sure(INFINITE not in rates, "a slope without bound")
    return pairs.laplace(mul(reach, q.field.extreme("max", rates)))


def length(norm, moved, q, side):
    """How long a shift is."""
    if not any(moved):
        return {}
    return norms.longest(norm, [norms.up_to_sign(moved)], len(moved), q.field, side)

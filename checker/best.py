"""The best of a random number of runs of a part (docs/theory/composition.md, best of): what is lost, by what one run loses."""

from algebra import ONE, Fraction, add, constant, mul, scale, sub
from finite import Table
from noise import IDEAL
from terms import must, rational, sure

OFTEN = ["how often the part is run does not depend on the data, and nobody learns it",
         "which output is the best depends on the data through the outputs alone"]  # fmt: skip
WORST = "the part is the worst that has the guarantee stated of it, with its outputs in the worst order"


def law(q):
    """The numbers of a law of the number of runs, which mean something for all parameters: (mean, 1 + c, g), None where it has none."""
    field, name, numbers = q.field, q.mechanism["law"], [q.form(text) for text in q.mechanism["numbers"]]
    known = {"negative_binomial": 2, "geometric": 1, "logarithmic": 1, "poisson": 1, "fixed": 1}.get(name)
    sure(len(numbers) == known, "a law of the number of runs that is not known")
    mean, power, gamma = numbers[0], None, None
    if name == "negative_binomial":
        mean, power, gamma = None, add(ONE, numbers[0]), numbers[1]
        sure(all(map(field.positive, (power, gamma, sub(ONE, gamma)))), "numbers that are not certainly above -1, and between 0 and 1")
    elif name == "geometric":
        sure(field.at_most(ONE, mean), "a mean that is not certainly at least 1")
        power, gamma = constant(2), field.power(mean, Fraction(-1))
    elif name == "fixed":
        q.count(q.mechanism["numbers"][0])
    else:
        sure(field.positive(mean if name == "poisson" else sub(mean, ONE)), "a mean that is not certainly large enough")
    return mean, power, gamma


class Runs:
    """A law of the number of runs; of a logarithmic one by its mean g is what is told, if that is on the safe side."""

    def __init__(self, q, evidence, side):
        self.field, self.law, (self.mean, self.power, self.gamma) = q.field, q.mechanism["law"], law(q)
        if self.law == "logarithmic":
            field, self.power, self.gamma = q.field, ONE, constant(rational(evidence.get("gamma")))
            sure(field.positive(self.gamma) and field.positive(sub(ONE, self.gamma)), "gamma is not between 0 and 1")
            mean = mul(sub(field.power(self.gamma, Fraction(-1)), ONE), field.power(scale(field.log(self.gamma), -1), Fraction(-1)))
            ends = (self.mean, mean) if side == "upper" else (mean, self.mean)  # the mean and what is lost both fall in gamma
            sure(field.at_most(*ends), "whether the mean is on the safe side")

    def loss(self, value):
        """What is lost by the worst part that loses so much in both orders."""
        field, odds = self.field, self.field.exp(value)
        if self.law == "fixed":
            return mul(self.mean, value)
        if self.law == "poisson":
            return add(value, mul(self.mean, mul(sub(odds, ONE), field.power(add(odds, ONE), Fraction(-1)))))
        quotient = mul(add(self.gamma, odds), field.power(add(ONE, mul(self.gamma, odds)), Fraction(-1)))
        return add(value, mul(self.power, field.log(quotient)))

    def between(self, low, high):
        """A multiple of the probability that the best lies between two levels of the distribution function: f(high) - f(low)."""
        field = self.field
        if self.law == "poisson":
            return sub(*(field.exp(mul(self.mean, x)) for x in (high, low)))
        if self.law == "fixed":
            sure(self.mean.keys() == {()}, "a number of runs that is a parameter")
            return sub(*(field.power(x, self.mean[()]) for x in (high, low)))
        sure(self.law != "logarithmic" and self.power.keys() == {()}, "a law by its mean alone, or with a parameter")
        c, rest = self.power[()] - 1, sub(ONE, self.gamma)
        left = [sub(ONE, mul(rest, x)) for x in (high, low)]
        if c == 0:
            return sub(*(scale(field.log(x), -1) for x in left))
        return scale(sub(*(field.power(x, -c) for x in left)), 1 if c > 0 else -1)


def upper(q, evidence, value):
    """The bound that one on the part gives; any two inputs in both orders."""
    sure(q.factor == ONE, "the best of runs on neighbours of neighbours")
    return Runs(q, evidence, "upper").loss(value)


def lower(q, inner, evidence):
    """What the worst part loses of which a pure epsilon alone is known; or what an output of a table tells."""
    m, runs = inner.mechanism, Runs(q, evidence.get("part") or {}, "lower")
    sure(q.part is None and inner.part["times"] == "1", "a part that is run several times each time")
    if "part" in evidence:
        rows = [[q.form(text) for text in row] for row in m.get("rows", ())] if inner.kind == "guarantee" else []
        alone = len(rows) == 1 and m["measure"] == "approximate" and "order" not in m
        sure(alone and evidence["part"].keys() <= {"gamma"}, "a part that is not stated to have a pure epsilon alone")
        ((value, delta),) = rows
        sure(q.field.zero(delta) and q.field.at_most({}, value), "a part that is not stated to have a pure epsilon alone")
        return runs.loss(value), [*OFTEN, WORST, IDEAL]
    sure(inner.kind == "table", "what an output of another part than a table tells")
    table, (a, b), y, below = Table(inner), evidence["inputs"], evidence["output"], evidence["below"]
    listed = [*below, y]
    good = all(type(x) is int and 0 <= x < len(table.rows[0]) for x in listed) and len(set(listed)) == len(listed)
    must(good and (a, b) in table.pairs, "outputs that are none, or stand twice, or a pair of inputs that are no neighbours")
    levels = [[add(*(table.rows[x][z] for z in chosen)) for chosen in (below, listed)] for x in (a, b)]
    first, second = (runs.between(*ends) for ends in levels)
    sure(q.field.positive(first) and q.field.positive(second), "probabilities that may be 0")
    told = "the outputs are in an order in which one of them tells the most"
    return sub(q.field.log(first), q.field.log(second)), [*OFTEN, told, "the listed inputs are adjacent", IDEAL]

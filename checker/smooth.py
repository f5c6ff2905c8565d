"""Noise at a scale that the data decide (docs/theory/additive.md, smooth sensitivity)."""

from algebra import ONE, Fraction, add, mul, scale, sub
from noise import ADDED, IDEAL, Noise, Question, power_sum, sided
from terms import must, sure

TOLD = {"upper": "answers and scales of neighbours are as near as the sensitivity and the bound on scales say",
        "lower": "all answers and scales that the two conditions allow occur"}  # fmt: skip


class Smooth:
    """The noise on the line at the sensitivity over its scale, and the bound b on scales."""

    def __init__(self, q):
        m, inner = q.mechanism, q.mechanism.get("noise") or {}
        sure(q.kind == "smooth_sensitivity" and inner["kind"] in ADDED and not q.query and q.factor == ONE, "no smooth sensitivity")
        sure(q.moved is not None and not inner.get("integers"), "no sensitivity, or noise on the integers")
        self.field, self.bound = q.field, q.form(m["scale_bound"])
        self.drawn = Noise(Question(inner, q.moved, None, q.field, q.values), line=True)
        line = self.drawn.dimension == self.drawn.copies == ONE and self.drawn.norm["kind"] == "lp" and self.drawn.support == [None, None]
        sure(line and self.drawn.even, "noise that is not even and on the line")
        must(q.field.at_most({}, self.bound), "a bound on scales below 0")


def smooth_power(q, evidence):
    """docs/theory/additive.md#smooth-power: max(S(0), S(b)), or from above by slopes."""
    side, q, at = sided(q, evidence)
    sure(evidence.keys() <= {"side", "at", "slopes"}, "what is told of smooth noise otherwise")
    smooth, field = Smooth(q), q.field
    (ratio, power), moved, b = power_sum(smooth.drawn), smooth.drawn.shift, smooth.bound
    if evidence.get("slopes") is True:
        sure(side == "upper", "slopes from below")
        steep = field.extreme("max", [ONE, sub(scale(power, 2), ONE)])
        value = add(mul(mul(power, moved), field.power(ratio, Fraction(-1, 2))), mul(steep, b))
        return side, value, at, [TOLD[side], IDEAL]
    sure("slopes" not in evidence, "slopes that are none")
    square = scale(mul(mul(moved, moved), field.power(ratio, Fraction(-1))), Fraction(1, 4))
    apart = field.extreme("max", [sub(power, ONE), sub(ONE, power)])
    found = []
    for t in ({}, b):
        half = field._call("sinh", [scale(t, Fraction(1, 2))])
        inside = field.power(add(mul(half, half), mul(square, field.exp(scale(t, -1)))), Fraction(1, 2))
        found.append(add(mul(scale(power, 2), field._call("asinh", [inside])), mul(apart, t)))
    return side, field.extreme("max", found), at, [TOLD[side], IDEAL]

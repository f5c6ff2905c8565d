"""Noise that is drawn at a random scale, where it is radial noise in closed form (docs/theory/additive.md, mixture closed form)."""

from math import factorial

from algebra import ONE, Fraction, _names, add, atom, constant, mul, names, scale, sub, substitute
from growth import R
from noise import Question
from terms import must, sure

V = ("s", "v")
CLOSED = ["closed form"]


def closed(q):
    """The question about the radial noise that a mixture is: the exponent of its profile, up to a constant."""
    m = q.mechanism
    sure(q.kind == "mixture" and m["support"][0] == "0" and not {"r", "v"} & q.field.domains.keys(), "no mixture over v > 0")
    top = None if m["support"][1] is None else q.form(m["support"][1])
    sure(top is None or q.field.positive(top), "a support without length")
    found = Question({"kind": "radial", **{key: m[key] for key in ("norm", "dimension", "scale")}}, q.moved, q.query, q.field, q.values)
    found.exponent = exponent(q.field, joint(q), top)
    return found


def joint(q, alone=False):
    """-log of the conditional density at v, and of the density of v, in r and v."""
    field = q.field.over("r").over("v")
    trees = [q.tree(q.mechanism[key]) for key in ("profile", "mixing")[: 1 if alone else 2]]
    return add(*(scale(field.log(field.form(tree)), -1) for tree in trees))


def exponent(field, h, top=None):
    """-log of the integral of exp(-h) over 0 < v (< top), where h = A + (1 + k s) log v + B v^-k + C v^k."""
    log_v, parts = ("l", tuple({((V, Fraction(1)),): Fraction(1)}.items())), {}
    for m, c in h.items():
        moving = [(a, e) for a, e in m if "v" in _names(a)]
        sure(len(moving) <= 1 and (not moving or moving[0][0] in (V, log_v)), "a density of v that is of no known form")
        at = ("log" if moving[0][0] == log_v else moving[0][1]) if moving else 0
        sure(at != "log" or moving[0][1] == 1, "a density of v that is of no known form")
        parts.setdefault(at, {})[tuple(x for x in m if x not in moving)] = c
    a, logs, over = parts.pop(0, {}), parts.pop("log", {}), field.over("r")
    (k,) = {abs(e) for e in parts} or {0}
    sure(k in (1, 2) and "r" not in names(logs), "a density of v that is of no known form")
    b, c, s = parts.get(-k, {}), parts.get(k, {}), scale(sub(logs, ONE), Fraction(1, k))
    sure(all(not x or over.positive(x) for x in (b, c)), "signs of what stands with v")
    if top is not None:  # E**-m (1 - exp(-E) (1 + E + ... + E**(m - 1)/(m - 1)!)), E = C top**k, m = -s
        n = -s.get((), Fraction(0))
        sure(not b and over.positive(c) and s.keys() == {()} and n.denominator == 1 and 0 < n <= 20, "a mixture over another interval")
        size, n = mul(c, over.power(top, Fraction(k))), int(n)
        terms = add(*(scale(over.power(size, Fraction(j)), Fraction(1, factorial(j))) for j in range(n)))
        return add(a, scale(over.log(size), n), scale(over.log(sub(ONE, mul(over.exp(scale(size, -1)), terms))), -1))
    if not c or not b:
        sure(over.positive(s if not c else scale(s, -1)), "a density of v that has no finite mass")
        return add(a, mul(s, over.log(b)) if not c else mul(scale(s, -1), over.log(c)))
    sure(s in (constant(Fraction(1, 2)), constant(Fraction(-1, 2))), "a Bessel function of another order than 1/2")
    root = scale(over.power(mul(b, c), Fraction(1, 2)), 2)
    quotient = mul(scale(s, Fraction(-1, 2)), sub(over.log(c), over.log(b)))
    return add(a, quotient, root, scale(over.log(root), Fraction(1, 2)))


def mixture_closed_form(q, evidence, premises, about):
    """docs/theory/additive.md#mixture-closed-form: what is shown of the radial noise."""
    (fact,), field = premises, q.field.over("v")
    sure(fact is not None, "a premise that is not decided here")
    must(fact.about == about, "a premise is about something else")
    size = field.form(q.tree(evidence["scale"]))
    sure(field.positive(size) and "r" not in names(size), "the scale of the conditional noise is not certainly positive")
    once = substitute(joint(q, alone=True), field.over("r"), {"r": mul(atom(R), size)})
    density = sub(once, mul(q.form(q.mechanism["dimension"]), field.log(size)))  # at r scale(v), times scale(v)^d
    sure("v" not in names(density), "conditionals that are no scale family")
    return fact.side, fact.value, fact.at, fact.assumed

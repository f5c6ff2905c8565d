"""How an exponent h = -log(density) grows far out."""

from fractions import Fraction

from algebra import _names, add, atom, constant, key, mul, scale
from terms import Undecided, sure

INFINITE = "infinite"
R = ("s", "r")
LOG_R = atom(("l", key(atom(R))))


def split(m):
    """The factors of a product that move with r, and the others."""
    moving = [(a, e) for a, e in m if "r" in _names(a)]
    return moving, tuple(x for x in m if x not in moving)


def _degree(field, p):
    """The greatest power of r in a sum of powers of r, and the factor of it, certainly positive."""
    powers = {}
    for m, c in p.items():
        moving, rest = split(m)
        if any(a[0] == "e" for a, _ in moving) and _vanishes(field, moving):
            continue  # beside the others, whose sum is one of powers
        power, lead = Fraction(0), {rest: c}
        for a, e in moving:
            sure(a == R or a[0] == "q", "what grows otherwise than a power")
            inside, factor = (Fraction(1), None) if a == R else _degree(field, dict(a[1]))
            power, lead = power + inside * e, lead if factor is None else mul(lead, field.power(factor, e))
        powers[power] = add(powers.get(power, {}), lead)
    sure(powers, "a sum without a power")
    top, lead = max(powers.items())
    sure(field.positive(lead), "a sum whose greatest power may vanish")
    return top, lead


def unfolded(field, h):
    """h with log(exp(u) (...)) as u + log(...), u what grows in it."""
    total = {}
    for m, c in h.items():
        (a, e), *more = m or ((None, 0),)
        u = {} if more or e != 1 or a[0] != "l" else rising(field, dict(a[1]))
        if u:
            inside = mul(dict(a[1]), field.exp(scale(u, -1)))
            total = add(total, scale(u, c), scale(atom(("l", key(inside))), c))
        else:
            total = add(total, {m: c})
    return total


def rising(field, p):
    """What grows the most in the exponentials of a sum, nothing where none does."""
    found = []
    for m in p:
        u = add({}, *({a[1]: e} for a, e in m if a[0] == "e" and "r" in _names(a)))
        if u and u not in found:
            found.append(u)
    return next((u for u in found if _grows(field, u) and all(v == u or _grows(field, add(u, scale(v, -1))) for v in found)), {})


def _grows(field, u):
    """Whether a form certainly grows as a power."""
    top, lead = growth(field, u)
    return top != INFINITE and top > 0 and field.positive(lead)


def _vanishes(field, moving):
    """Whether a product of powers and exponentials certainly falls faster than every power."""
    for a, e in moving:
        if a[0] == "e":
            top, lead = growth(field, {a[1]: e})
            if top == INFINITE or top <= 0 or not field.positive(scale(lead, -1)):
                return False
        elif a != R:
            return False
    return True


def growth(field, h):
    """(e, factor): h grows as factor * r**e, e > 0, or as factor * log r for e = 0; INFINITE where it grows faster than powers."""
    h = unfolded(field, h)
    powers, fast, known = {Fraction(0): {}}, False, Fraction(0)  # known: of some terms nothing is known beside this power
    for moving, rest, c in [(*split(m), c) for m, c in h.items() if split(m)[0]]:
        outer = {rest: c}
        (a, e), power, factor = moving[0], Fraction(0), {}
        sure(len(moving) <= 1 and (a[0] not in "fl" or e == 1), "a product or a function whose growth is not known")
        if a == R:
            power, factor = e, outer
        elif a[0] == "l":
            try:
                factor = mul(outer, constant(_degree(field, dict(a[1]))[0]))
            except Undecided:
                power, factor = Fraction(1), mul(outer, _log_rate(field, dict(a[1])))
        elif a[0] == "f":
            power, factor = _pieced(field, a)
            factor = mul(outer, factor)
        elif a[0] == "q":
            top, lead = _degree(field, dict(a[1]))
            power, factor = top * e, mul(outer, field.power(lead, e))
        else:
            top, lead = growth(field, {a[1]: e})
            falls, rises = top != INFINITE and field.positive(scale(lead, -1)), top == INFINITE or (top > 0 and field.positive(lead))
            sure(falls or (rises and field.positive(outer)), "an exponential whose growth is not known")
            fast = fast or rises
        if power > 0 or a[0] == "l":
            powers[power], known = add(powers.get(power, {}), factor), known if a == R else max(known, power)
    top = max(p for p in powers if powers[p] or p == 0)
    sure(fast or top >= known, "powers that cancel, and what is left of them")
    return (INFINITE, None) if fast else (top, powers[top])


def _pieced(field, a):
    """The growth of a floor, which is that of what stands in it, or of a maximum, which is the greatest."""
    if a[1] == "log_bessel":  # -x, but for a multiple of log x and what has a limit
        top, lead = growth(field, dict(a[2][1]))
        sure(top != INFINITE and top > 0 and field.positive(lead), "a Bessel function of what does not grow")
        return top, scale(lead, -1)
    found = [growth(field, dict(k)) for k in a[2]]
    top = max(Fraction(0) if power == INFINITE else power for power, _ in found)
    sure(top > 0 and a[1] in ("floor", "max") and all(power != INFINITE for power, _ in found), "a function whose growth is not known")
    lead = field.extreme("max", [lead for power, lead in found if power == top])
    sure(field.positive(lead), "a function whose growth is not known")
    return top, lead


def _log_rate(field, p):
    """The limit of log(p)/r, p a sum of positive multiples of exponentials, of powers, and of powers of such sums."""
    good = all(c > 0 and all(field.atom_positive(a) for a, _ in m) for m, c in p.items())
    sure(good, "a logarithm whose growth is not known")
    return field.extreme("max", [add(*(_rate(field, a, e) for a, e in split(m)[0])) for m in p])


def _rate(field, a, e):
    if a[0] == "q":
        return scale(_log_rate(field, dict(a[1])), e)
    sure(a == R or a[0] == "e", "a factor whose growth is not known")
    top, lead = growth(field, {a[1]: e}) if a != R else (Fraction(0), {})
    sure(top != INFINITE and top <= 1, "a logarithm whose growth is not known")
    return lead if top == 1 else {}

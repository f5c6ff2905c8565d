"""Who wins lists of votes with Gaussian noise, on one database and its neighbours (docs/theory/selection.md, noisy votes).

The probability that a candidate wins is a sum of h f(m h) over whole m but for a relative error of 1/sinh(2 pi**2/(h**2 k)) and both ends.
"""

import json
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import intervals as iv
from intervals import Interval, exp, log, point
from kept import kept
from noise import IDEAL
from normal import phi
from pairs import UNIT, ZERO, above, highest, near
from terms import must, rational, sure

KEYS = {"mechanism", "mechanism_name", "name", "epsilon", "delta", "sensitivity", "query", "domains", "measure", "order"}
RULES = ("noisy-votes", "votes-epsilon", "measures-of-votes", "privacy-profile")
BITS, FAR, ORDERS = 100, 13, (1, 2, 4, 8, 16, 32, 64)
TOLD = ["these are the votes of the one database", "the votes of one voter may be any", IDEAL]


class Votes:
    """The laws of who wins: of the database and of each neighbour, list by list."""

    @staticmethod
    def fits(claim, q):
        """Undecided where a claim says what votes have none of."""
        known = claim.keys() <= KEYS and claim["sensitivity"] is None and claim["query"] is None
        sure(known and not q.field.domains, "parameters, or what votes have none of")

    def __init__(self, claim, q):
        self.fits(claim, q)
        iv.precision(BITS)
        m = q.mechanism
        sigma, rows = q.form(m["sigma"]), [list(map(rational, row)) for row in m["votes"]]
        must(q.field.positive(sigma), "a deviation that is not above 0")
        good = all(2 <= len(row) <= 12 and all(n.denominator == 1 and 0 <= n <= 10**6 for n in row) for row in rows)
        sure(good and 1 <= len(rows) <= 20, "votes that are no counts, or many")
        self.sigma, self.wins = near(sigma), lru_cache(self._wins)
        self.below = lru_cache(lambda m, n, h: phi((point(m) * h * self.sigma - point(n)) / self.sigma))
        self.lists = []
        for row in rows:
            here = self.law(row)
            moves = [(i, j) for i in range(len(row)) for j in range(len(row)) if i != j and row[i] > 0]
            changed = {tuple(n - (x == i) + (x == j) for x, n in enumerate(row)) for i, j in moves}
            self.lists.append([(here, self.law(other)) for other in sorted(changed)])
        sure(all(self.lists), "a list without a vote")
        order = claim.get("order")
        self.orders = [order] if order else ["one-sided", "reverse"]

    def pairs(self, order, pairs):
        """The pairs of a list in one order: with "one-sided" the law of the database is the first."""
        return pairs if order == "one-sided" else [(b, a) for a, b in pairs]

    def law(self, row):
        """The probability of each candidate."""
        found = []
        for i, n in enumerate(row):
            rest = sorted(row[:i] + row[i + 1 :])
            found.append(self.wins(n, tuple(rest)))
        return found

    def _wins(self, n, others):
        """The probability that a candidate with n votes wins: t in units of sigma."""
        k = len(others) + 1
        h = step(k)
        top = max([n, *others])
        first = int(((point(min(n, top)) / self.sigma - point(FAR)) / h).lo)
        last = int(((point(top) / self.sigma + point(FAR)) / h).hi) + 1
        total, at = ZERO, point(n) / self.sigma
        root = (point(2) * iv.pi()) ** iv.HALF
        for m in range(first, last + 1):
            z = point(m) * h - at
            term = exp(-(z * z) / point(2)) / root
            for other in others:
                term = term * self.below(m, other, h)
            total = total + term
        total = total * h
        left = UNIT
        for other in (n, *others):
            left = left * self.below(first, other, h)
        right = UNIT - self.below(last, n, h)
        must((point(first) * h - at).hi <= 0 <= (point(last) * h - at).lo, "a grid that is too short")
        size = point(2) * iv.pi() * iv.pi() / (h * h * point(k))
        off = point(2) / (exp(size) - exp(-size))
        whole = Interval(total.lo, (total + left + right).hi)  # the sum over all m, which is P (1 +- off)
        return Interval((whole / (UNIT + off)).lo, (whole / (UNIT - off)).hi)


@lru_cache
def step(k):
    """h with 2 pi**2/(h**2 k) next to 60."""
    return point(Fraction(isqrt(10**12 * 20 // (60 * k)), 10**6))


def delta(votes, eps):
    """An interval that holds the tight delta of one list."""
    sure(len(votes.lists) == 1, "the curve of several lists")
    odds, found = exp(eps), []
    for order in votes.orders:
        for p, q in votes.pairs(order, votes.lists[0]):
            found.append(sum((above(a - odds * b) for a, b in zip(p, q, strict=True)), ZERO))
    return highest(found)


def epsilon(votes):
    """An interval that holds the tight pure epsilon."""

    def loss(pair):
        return highest([log(a) - log(b) for a, b in zip(*pair, strict=True)])

    return highest([total(highest([loss(p) for p in votes.pairs(order, pairs)]) for pairs in votes.lists) for order in votes.orders])


def total(values):
    """The sum."""
    return sum(values, ZERO)


def renyi(votes, a):
    """An interval that holds the divergence of an order, the mean loss for a = 1."""

    def one(pair):
        logs = [(log(p), log(q)) for p, q in zip(*pair, strict=True)]
        if a == 1:
            return total(exp(p) * (p - q) for p, q in logs)
        return log(total(exp(point(a) * p + point(1 - a) * q) for p, q in logs)) / point(a - 1)

    return highest([total(highest([one(p) for p in votes.pairs(order, pairs)]) for pairs in votes.lists) for order in votes.orders])


def verdict(claim, q, line, claimed):
    """PROVED or REFUTED where the tight value is certainly at most, or above, what is claimed; what that takes for granted."""
    sure(line["rule"] in RULES and not line.get("place"), "the rule is not known here")
    asked = json.dumps([claim["mechanism"], claim.get("order")])
    Votes.fits(claim, q)
    votes, (eps, dlt) = kept(("votes", asked), lambda: Votes(claim, q)), claimed
    iv.precision(BITS)
    if "measure" in claim:
        name, value = claim["measure"]["name"], claim["measure"]["value"]
        sure(value is not None and name in ("renyi", "zcdp"), "another measure, or no value")
        asked = near(q.form(value))
        if name == "renyi":
            a = rational(claim["measure"]["at"])
            must(a > 1, "an order that is not above 1")
            return compared(renyi(votes, a), asked)
        sure(any((renyi(votes, Fraction(a)) / point(a)).lo > asked.hi for a in ORDERS), "whether rho is so small")
        return "REFUTED", TOLD
    sure(eps is not None and dlt is not None, "what is asked for")
    found = compared(delta(votes, near(eps)), near(dlt)) if dlt else compared(epsilon(votes), near(eps))
    sides = {"PROVED": ("upper",), "REFUTED": ("lower",)}[found[0]]
    sure(line["rule"] != "votes-epsilon" or line.get("parameters", {}).get("side") in sides, "the other side")
    return found


def compared(found, asked):
    """The verdict."""
    sure(found.hi <= asked.lo or found.lo > asked.hi, "whether the value is beside what is claimed")
    return ("PROVED" if found.hi <= asked.lo else "REFUTED"), TOLD

"""Claims over domains that the order of closed forms leaves open: identities that show the order, and z3's counterexamples.

Weights of squares and constraints are found by linear programming: it asks for weights >= 0 with S P = T. Where the squares at hand do
not do, its dual solution is a linear functional that is at least zero on all of them and not on P; an eigenvector of a negative moment
matrix of it is the square that is missing (column generation for sums of squares, Ahmadi, Dash and Hall 2017). Floats only choose: the
weights are solved for in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice, product
from math import prod
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from dpverify.search.additive.closed_form import BITS
from dpverify.search.composition.gap import MAX_DEGREE, Gap, bounded_constraint, stripped
from dpverify.search.composition.smt import counterexample, installed
from dpverify.search.counterexample import find_counterexample
from dpverify.search.proposal import bound
from dpverify.search.signs.entries import put, show
from dpverify.search.signs.field import Effort, Field
from dpverify.search.signs.positive import factor_sign
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Num, Sym, add, call, div, format_expr, mul, neg, num, parse, power, sub
from dpverify.trusted.kernel.fact import Fact, as_bounds
from dpverify.trusted.kernel.model import Claim, Domain
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.registry import OF_THE_MECHANISM
from dpverify.trusted.order.local import difference

ROUNDS = 12
MAX_MONOMIALS = 30
"""The most monomials that squares under one constraint are made of."""
MAX_BOX = 10_000
"""The most monomials that are looked at for these."""
MAX_FACTORED = 300
"""The longest polynomial that is factored."""
MAX_COLUMNS = 2_000
_SIMPLE = 60
"""Simple values of the parameters that are looked at before anything else."""
MAX_PRODUCTS = 200
"""The most products of constraints that are tried."""
MOST_BETWEEN = 6
"""The most pairs of neighbouring integers that a product of two factors is taken of."""
_NEAR_REAL = 1e-6
ZERO_LEVEL = 1e-9
DENOMINATORS = (1, 2, 4, 12, 60)

Poly = Any
Monomial = tuple[int, ...]
Names = tuple[tuple[Expr, str], ...]
Steps = list[dict[str, Any]]


def propose(claim: Claim, steps: Steps) -> Steps:
    """What refutes a claim over domains whose bounds, of the steps given, neither prove nor refute it; nothing where an identity does it.

    Raises Undecided where neither is found.
    """
    domains = dict(claim.domains)
    if claim.epsilon is None or any(_own(step)["evidence"].get("at") for step in steps):
        return []
    uppers = []
    for step in steps:
        value = _value(claim, step)
        lower = _own(step)["evidence"].get("side") == "lower"
        if value is not None and (certainly_lt(claim.epsilon, value, domains) if lower else certainly_le(value, claim.epsilon, domains)):
            return []
        if value is not None and not lower:
            uppers.append((step, value))
    if not uppers:
        return []
    for step, value in uppers:  # what fails at a simple value has no identity, and needs no solver
        values = find_counterexample(value, claim.epsilon, domains, _SIMPLE)
        if values is not None and (refuting := _refuting(claim, steps, step, values)) is not None:
            return [refuting]
    for step, value in uppers:
        if step["rule"] in OF_THE_MECHANISM and shown(value, claim.epsilon, domains):
            return []
    for step, value in uppers:
        found = counterexample(value, claim.epsilon, domains)
        values = None if found is None else {name: Num(number) for name, number in found.items()}
        if values is not None and (refuting := _refuting(claim, steps, step, values)) is not None:
            return [refuting]
    missing = "z3, which looks for values where it is below, is not installed (pip install z3-solver)"
    z3 = "z3 found no values where it is below" if installed() else missing
    raise Undecided(
        f"the claimed epsilon differs from the bound found by what is no sum of squares and constraints that was found, and {z3}: "
        "state the claim at fixed values of the parameters, or claim the bound."
    )


def _refuting(claim: Claim, steps: Steps, step: dict[str, Any], values: Mapping[str, Expr]) -> dict[str, Any] | None:
    """The step, or one of the same rule from below, that breaks the claim at these values of the parameters, if one does."""
    at = {name: format_expr(value) for name, value in values.items()}
    below = [other for other in steps if other["rule"] == step["rule"] and _own(other)["evidence"].get("side") == "lower"]
    refuting = (_at(claim, found, at) for found in (step, *below))
    return next((one for one in refuting if one is not None and _value(claim, one) is not None), None)


def _own(step: dict[str, Any]) -> Any:
    """The step that proves what one says: the inner one, where a mixture is radial noise."""
    return step.get("inner", step)


def _at(claim: Claim, step: dict[str, Any], at: dict[str, str]) -> dict[str, Any] | None:
    """A step, and its premises, for a lower bound at values of the parameters."""
    if "inner" in step:
        return {**step, "inner": _at(claim, step["inner"], at)}
    try:
        with precision(BITS):
            proof = Proof(claim)
            premises = [proof.infer(one.rule, ({"at": at}, *one.place), one.parameters) for one in step.get("premises", ())]
    except DpverifyError:
        return None
    return {**step, "evidence": {**step["evidence"], "side": "lower", "at": at}, "premises": premises}


def _value(claim: Claim, step: dict[str, Any]) -> Expr | None:
    """The finite bound that a step proves, if any."""
    try:
        bounds = as_bounds(_fact(claim, step).says)
    except DpverifyError:
        return None
    return None if not bounds or isinstance(bounds[0].value, Infinite) else bounds[0].value


def _fact(claim: Claim, step: dict[str, Any]) -> Fact:
    with precision(BITS):
        return bound(Proof(claim), (), step)


def shown(low: Expr, high: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether high is shown to be at least low, by an identity that is found and put into the table of signs that is in force."""
    try:
        gap = Gap(low, high, domains)
        found = summands(gap)
    except DpverifyError:
        return False
    if found is None:
        return False
    field, ends = Field(domains, Effort(factor_sign)), stripped(low, high)
    terms, multiplier = (_sum(gap, some, field) for some in found)
    show(difference(*ends, domains), div(terms, mul(expr(gap, gap.denominator), add(ONE, multiplier))), field)
    if ends != (low, high) and isinstance(low, Call) and low.name == "log":
        beyond = sub(div(ends[1], ends[0]), ONE)
        show(beyond, div(field.gap("as", difference(*ends, domains)), ends[0]), field)
        show(difference(low, high, domains), call("log", add(ONE, field.gap("as", beyond))), field)
    return certainly_le(low, high, domains)


def _sum(gap: Gap, summands: Sequence[Mapping[str, Any]], field: Field) -> Expr:
    """A sum that evidence spells out, as a tree in which the signs of parts tell its sign."""
    terms = []
    for summand in summands:
        held = [_constraint(gap, parse(of), side, field) for of, side in summand["constraints"]]
        terms.append(mul(Num(Fraction(summand["weight"])), power(parse(summand["square"]), num(2)), *held))
    return add(*terms)


def _constraint(gap: Gap, of: Expr, side: str, field: Field) -> Expr:
    """What is at least zero; of two factors at integers between which it is below zero it is shown on both sides of these."""
    held = bounded_constraint(of, side, gap.domains)
    if side in ("zero", "lower", "upper") or not isinstance(of, Sym):
        return held
    put(held, gap.domains, {"split": [of.name, [str(int(side) + Fraction(1, 2))]]})
    return field.gap("as", held)


def summands(gap: Gap) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    """The summands of T and of S - 1 with S P = T for the numerator P of a gap."""
    core = _Core.of(gap)
    for multipliers in ([], _multipliers(gap)):
        found = _Program(gap, core, multipliers).solve()
        if found is not None:
            return found
    return None


def expr(gap: Gap, p: Poly) -> Expr:
    """A polynomial as a tree."""
    terms = []
    for monomial, coefficient in p.terms():
        powers = (power(variable, num(int(e))) for variable, e in zip(gap.variables, monomial, strict=False) if e)
        terms.append(mul(Num(Fraction(int(coefficient.p), int(coefficient.q))), *powers))
    return add(*terms)


def constraints(gap: Gap) -> Iterator[tuple[Expr, str]]:
    """What is known to be at least zero of the variables of a gap."""
    for variable in dict.fromkeys((*map(Sym, sorted(gap.domains)), *gap.variables)):
        for side in ("lower", "upper", *_between(gap, variable)) if isinstance(variable, Sym) else ("zero",):
            with suppress(DpverifyError):
                gap.constraint(variable, side)
                yield variable, side


def _between(gap: Gap, variable: Sym) -> list[str]:
    """Integers k of an integer parameter such that the gap may be below zero between k and k + 1: roots lie there, others being simple."""
    domain, found = gap.domains.get(variable.name), set[int]()
    if domain is None or not domain.integer or variable not in gap.generators:
        return []
    place = gap.variables.index(variable)
    for others in (1, 2):
        coefficients: dict[int, float] = {}
        for monomial, c in gap.numerator.terms():
            powers = sum(int(e) for i, e in enumerate(monomial) if i != place)
            coefficients[int(monomial[place])] = coefficients.get(int(monomial[place]), 0.0) + int(c.p) / int(c.q) * others**powers
        roots = np.roots([coefficients.get(e, 0.0) for e in range(max(coefficients, default=0), -1, -1)])
        real = [float(root.real) for root in roots if abs(root.imag) < _NEAR_REAL]
        found |= {math.floor(root + shift) for root in real for shift in (-_NEAR_REAL, _NEAR_REAL)}
    return [str(k) for k in sorted(found) if domain.holds(Fraction(k)) and domain.holds(Fraction(k + 1))][:MOST_BETWEEN]


@dataclass(frozen=True, slots=True)
class _Core:
    """The numerator P of a gap as target times weight times square^2 times what is positive: P is at least zero where the target is."""

    target: Poly
    weight: Fraction
    square: Poly
    positive: Names

    @classmethod
    def of(cls, gap: Gap) -> _Core:
        p, one = gap.numerator, gap.ring.constant(1)
        if p.is_zero() or len(p) > MAX_FACTORED or p.total_degree() > MAX_DEGREE // 2:
            return cls(p, Fraction(1), one, ())
        content, factors = p.factor()
        core, square, positive = gap.ring.constant(1 if content > 0 else -1), one, list[tuple[Expr, str]]()
        for factor, e in factors:
            square *= factor ** (int(e) // 2)
            if int(e) % 2 == 0:
                continue
            value = expr(gap, factor)
            if certainly_lt(value, ZERO, gap.domains):
                core, value = -core, neg(value)
            elif not certainly_lt(ZERO, value, gap.domains):
                core *= factor
                continue
            positive.append((value, "zero"))
        return cls(core, abs(Fraction(int(content.p), int(content.q))), square, tuple(positive))


@dataclass(frozen=True, slots=True)
class _Column:
    """A square times constraints; as a summand of S - 1 it comes multiplied with -P."""

    value: Poly
    square: Poly
    names: Names
    multiplier: bool = False

    def summand(self, gap: Gap, core: _Core, weight: Fraction) -> dict[str, Any]:
        """As a summand of S - 1; of T, for the whole numerator."""
        names, square = self.names, self.square
        if not self.multiplier:
            weight, names, square = weight * core.weight, (*names, *core.positive), square * core.square
        listed = [[format_expr(of), side] for of, side in names]
        return {"weight": str(weight), "square": format_expr(expr(gap, square)), "constraints": listed}


class _Program:
    """Weights of columns whose sum is the target, what counts of P."""

    def __init__(self, gap: Gap, core: _Core, multipliers: Sequence[tuple[Poly, Poly, Names]]) -> None:
        self.gap, self.core, self.target = gap, core, core.target
        self.columns = [_Column(-value * self.target, square, names, True) for value, square, names in multipliers]
        reach = [self.target, *(column.value for column in self.columns)]
        self.degrees = [max(p.degrees()[i] for p in reach) for i in range(len(gap.ring.gens()))]
        totals = [sum(monomial) for p in reach for monomial in p.monoms()]
        self.low, self.high = min(totals, default=0), max(totals, default=0)
        self.products = list(islice(_products(gap, self.degrees, self.high), MAX_PRODUCTS))
        self.bases = [self._monomials(value) for value, _ in self.products]

    def solve(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
        if self.target.is_zero():
            return [], []
        for (value, names), base in zip(self.products, self.bases, strict=True):
            pairs = (square for p, q in combinations(base, 2) for square in (p - q, p + q))
            for square in islice(chain(base, pairs), MAX_COLUMNS - len(self.columns)):
                self._append(value, square, names)
        for _ in range(ROUNDS if self.columns else 0):
            weights, dual, left = self._relaxed()
            if left < ZERO_LEVEL:
                return self._exact(weights)
            if len(self.columns) >= MAX_COLUMNS or not self._enlarge(dual):
                return None
        return None

    def _append(self, value: Poly, square: Poly, names: Names) -> None:
        self.columns.append(_Column(value * square * square, square, names))

    def _monomials(self, value: Poly) -> list[Poly]:
        """The monomials whose squares times `value` stay within the degrees of the target."""
        free = [(most - used) // 2 for most, used in zip(self.degrees, value.degrees(), strict=True)]
        sizes = [sum(monomial) for monomial in value.monoms()]
        found: list[Poly] = []
        if prod(max(0, e + 1) for e in free) > MAX_BOX:
            return found
        for monomial in product(*(range(e + 1) for e in free)):
            total = 2 * sum(monomial)
            if total + max(sizes) <= self.high and total + max(sizes) >= self.low:
                found.append(self.gap.ring.from_dict({monomial: 1}))
                if len(found) > MAX_MONOMIALS:
                    return []
        return found

    def _relaxed(self) -> tuple[list[float], dict[Monomial, float], float]:
        """Weights with the least sum of errors, the functional on monomials that shows it to be the least, and that sum."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_array, eye_array, hstack

        rows = {m: i for i, m in enumerate(dict.fromkeys(m for p in (self.target, *(c.value for c in self.columns)) for m in _keys(p)))}
        entries = [(rows[m], j, float(x)) for j, c in enumerate(self.columns) for m, x in _terms(c.value)]
        i, j, x = zip(*entries, strict=True)
        matrix = csc_array((x, (i, j)), shape=(len(rows), len(self.columns)))
        right = np.zeros(len(rows))
        for m, value in _terms(self.target):
            right[rows[m]] = float(value)
        scale = float(np.abs(right).max()) or 1.0
        unit = eye_array(len(rows))
        cost = np.r_[np.zeros(len(self.columns)), np.ones(2 * len(rows))]
        result = linprog(cost, A_eq=hstack([matrix, unit, -unit]), b_eq=right / scale, method="highs-ds")
        if result.status != 0:
            return [], {}, np.inf
        dual = dict(zip(rows, map(float, result.eqlin.marginals), strict=True))
        return list(map(float, result.x[: len(self.columns)])), dual, float(result.fun)

    def _enlarge(self, dual: Mapping[Monomial, float]) -> bool:
        """Add the squares on which the functional is most wrong; whether there were any."""
        before = len(self.columns)
        for (value, names), base in zip(self.products, self.bases, strict=True):
            if len(base) < 2:
                continue
            moments = np.array([[_applied(dual, value * p * q) for q in base] for p in base])
            sizes, vectors = np.linalg.eigh(moments)
            for size, vector in zip(sizes, vectors.T, strict=True):
                if size > 1e-7:
                    self._append_rounded(value, names, base, moments, vector / np.abs(vector).max())
        return len(self.columns) > before

    def _append_rounded(self, value: Poly, names: Names, base: Sequence[Poly], moments: Any, vector: Any) -> None:
        for denominator in DENOMINATORS:
            rounded = [Fraction(round(float(x) * denominator), denominator) for x in vector]
            floats = np.array(list(map(float, rounded)))
            if floats @ moments @ floats > 1e-7:
                square = sum((p * fmpq(x.numerator, x.denominator) for p, x in zip(base, rounded, strict=True)), value * 0)
                self._append(value, square, names)
                return

    def _exact(self, weights: Sequence[float]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
        """The weights in rationals, of the columns that the floats chose."""
        chosen = [column for column, weight in zip(self.columns, weights, strict=True) if weight > ZERO_LEVEL]
        rows = list(dict.fromkeys(m for p in (self.target, *(column.value for column in chosen)) for m in _keys(p)))
        columns = [p.to_dict() for p in (*(column.value for column in chosen), self.target)]
        echelon, rank = fmpq_mat([[column.get(m, fmpq(0)) for column in columns] for m in rows]).rref()
        if rank != len(chosen) or any(echelon[i, i] != 1 for i in range(rank)):
            return None
        solution = [Fraction(int(echelon[i, rank].p), int(echelon[i, rank].q)) for i in range(rank)]
        if any(weight < 0 for weight in solution):
            return None
        found: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
        for column, weight in zip(chosen, solution, strict=True):
            found[column.multiplier].append(column.summand(self.gap, self.core, weight))
        return found


def _products(gap: Gap, degrees: Sequence[int], high: int) -> Iterator[tuple[Poly, Names]]:
    """Products of different constraints within the degrees, those of few first."""
    factors = [(gap.constraint(of, side), (of, side)) for of, side in constraints(gap)]
    level: list[tuple[Poly, tuple[int, ...]]] = [(gap.ring.constant(1), ())]
    while level:
        for value, chosen in level:
            yield value, tuple(factors[i][1] for i in chosen)
        longer = (
            (value * factors[i][0], (*chosen, i)) for value, chosen in level for i in range(chosen[-1] + 1 if chosen else 0, len(factors))
        )
        level = [(value, chosen) for value, chosen in longer if value.total_degree() <= high and _within(value, degrees)]


def _within(p: Poly, degrees: Sequence[int]) -> bool:
    return all(d <= most for d, most in zip(p.degrees(), degrees, strict=True))


def _multipliers(gap: Gap) -> list[tuple[Poly, Poly, Names]]:
    """Candidates for the summands of S - 1: each variable where it is at least zero, else its square."""
    one = gap.ring.constant(1)
    at_least_zero = {(of, side): gap.constraint(of, side) for of, side in constraints(gap) if side != "upper"}
    found: list[tuple[Poly, Poly, Names]] = []
    for variable, generator in gap.generators.items():
        name = variable, "lower" if isinstance(variable, Sym) else "zero"
        if name in at_least_zero:
            found.append((at_least_zero[name], one, (name,)))
        elif isinstance(variable, Sym):
            found.append((generator * generator, generator, ()))
    return found


def _keys(p: Poly) -> list[Monomial]:
    return [tuple(map(int, m)) for m in p.monoms()]


def _terms(p: Poly) -> Iterator[tuple[Monomial, fmpq]]:
    return ((tuple(map(int, m)), x) for m, x in p.terms())


def _applied(dual: Mapping[Monomial, float], p: Poly) -> float:
    return sum(float(x) * dual.get(m, 0.0) for m, x in _terms(p))

"""Counterexamples to an inequality between closed forms over domains, by z3 in a process that is killed when its time is up.

z3 sees rational functions and roots as they are, logarithms and exponentials by rational bounds. What it says is never believed:
a model is rounded, put back, and compared exactly; that there is none is no more than a reason to look for a proof elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from dpverify.search import outside
from dpverify.search.composition.gap import stripped
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, substitute, symbols
from dpverify.trusted.kernel.model import Domain

SCRIPT = Path(__file__).with_name("smt_process.py")
SECONDS = 5.0
"""Of the processor."""
MAX_POWER = 64
ROUNDINGS = (1, 10, 100, 10_000, 10**8, 10**30)
"""The greatest denominators that a model's values are rounded to, the simplest first."""


def counterexample(low: Expr, high: Expr, domains: Mapping[str, Domain], seconds: float = SECONDS) -> dict[str, Fraction] | None:
    """Rational values of the parameters in their domains where low > high with certainty; None where z3 finds none in time."""
    names = sorted(symbols(low) | symbols(high))
    if not names or not domains.keys() >= set(names):
        return None
    try:
        script = Script({name: domains[name] for name in names}).above(*stripped(low, high))
    except Undecided:
        return None
    model = _run(script, seconds)
    if model is None:
        return None
    for limit in ROUNDINGS:
        values = {name: model.get(name, Fraction(0)).limit_denominator(limit) for name in names}
        trees: dict[str, Expr] = {name: Num(value) for name, value in values.items()}
        try:
            inside = all(domains[name].holds(value) for name, value in values.items())
            inside = all(domains[name].holds(value) for name, value in values.items())
            if inside and certainly_lt(substitute(high, trees), substitute(low, trees)):
                return values
        except DpverifyError:
            continue
    return None


def installed() -> bool:
    """Whether z3 can be asked. Without it a claim that it would refute stays UNKNOWN."""
    return find_spec("z3") is not None


def _run(script: str, seconds: float) -> dict[str, Fraction] | None:
    """The model that the process answers with; at the end of its time it is killed, not asked to stop."""
    try:
        model = json.loads(outside.answer(SCRIPT, script, seconds))
    except ValueError:
        return None
    return None if model is None else {str(name): Fraction(value) for name, value in model.items()}


class Script:
    """An SMT-LIB script over parameters in domains."""

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        self.lines: list[str] = []
        self.terms: dict[Expr, str] = {}
        self.fresh = 0
        for name, domain in domains.items():
            self.lines.append(f"(declare-const |{name}| {'Int' if domain.integer else 'Real'})")
            self.terms[Sym(name)] = f"(to_real |{name}|)" if domain.integer else f"|{name}|"
            for end, sign, is_open in ((domain.lower, ">", domain.lower_open), (domain.upper, "<", domain.upper_open)):
                if end is not None:
                    self._assert(f"({sign if is_open else sign + '='} {self.terms[Sym(name)]} {_number(end)})")

    def above(self, low: Expr, high: Expr) -> str:
        """The script that asks for low > high. Raises Undecided for a function that it has no words for."""
        self._assert(f"(> {self.term(low)} {self.term(high)})")
        return "\n".join(self.lines)

    def term(self, expr: Expr) -> str:
        """An expression in SMT-LIB; what makes it defined is asserted beside it."""
        if expr not in self.terms:
            self.terms[expr] = self._term(expr)
        return self.terms[expr]

    def _term(self, expr: Expr) -> str:
        if isinstance(expr, Num):
            return _number(expr.value)
        if isinstance(expr, Add | Mul):
            return f"({'+' if isinstance(expr, Add) else '*'} {' '.join(map(self.term, expr.args))})"
        if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
            return self._power(self.term(expr.base), expr.exponent.value)
        if isinstance(expr, Call):
            return self._call(expr.name, [self.term(arg) for arg in expr.args])
        raise Undecided("a power whose exponent is not a number.")

    def _power(self, base: str, exponent: Fraction) -> str:
        if max(abs(exponent.numerator), exponent.denominator) > MAX_POWER:
            raise Undecided(f"a power beyond {MAX_POWER}.")
        if exponent.denominator > 1:
            root = self._new()
            self._assert(f"(>= {root} 0.0)")
            self._assert(f"(= {_times(root, exponent.denominator)} {base})")
            base = root
        if exponent > 0:
            return _times(base, exponent.numerator)
        self._assert(f"(not (= {base} 0.0))")
        return f"(/ 1.0 {_times(base, -exponent.numerator)})"

    def _call(self, name: str, args: list[str]) -> str:
        first = args[0] if args else ""
        if name == "abs":
            return f"(ite (>= {first} 0.0) {first} (- {first}))"
        if name in ("min", "max"):
            best = first
            for other in args[1:]:
                best = f"(ite ({'<=' if name == 'min' else '>='} {best} {other}) {best} {other})"
            return best
        if name not in ("log", "exp"):
            raise Undecided(f"z3 knows nothing of {name}.")
        value = self._new()
        below, above = (first, value) if name == "exp" else (value, first)  # above = exp(below)
        self._assert(f"(> {above} 0.0)")
        self._assert(f"(<= {below} (- {above} 1.0))")
        self._assert(f"(>= (* {above} {below}) (- {above} 1.0))")
        return value

    def _new(self) -> str:
        self.fresh += 1
        name = f"|!{self.fresh}|"
        self.lines.append(f"(declare-const {name} Real)")
        return name

    def _assert(self, condition: str) -> None:
        self.lines.append(f"(assert {condition})")


def _number(value: Fraction) -> str:
    size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)"
    return f"(- {size})" if value < 0 else size


def _times(base: str, n: int) -> str:
    return base if n == 1 else f"(* {' '.join([base] * n)})"

"""Values of the parameters that break a claim made for all of them: simple ones, then ones that are far out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from math import floor
from typing import Final

from dpverify.search.grids import diagonally
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, substitute, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.order.domains import closed
from dpverify.trusted.order.enclosed import enclose

FAR: Final = tuple(10**k for k in (4, 6, 9, 12, 15, 18, 24, 30, 45, 60, 100, 200))
MOST_FAR: Final = 3
"""Of parameters at once, every combination of which is far out."""


def find(a: Expr, b: Expr, domains: Mapping[str, Domain]) -> dict[str, Expr] | None:
    """Rational values of the parameters, in their domains, where a > b with certainty; None where none is found."""
    point = find_counterexample(a, b, domains)
    if point is not None:
        return point
    names = sorted(symbols(a) | symbols(b))
    if not all(name in domains for name in names):
        return None
    for values in _far(names, domains):
        try:
            if enclose(substitute(a, values)) > enclose(substitute(b, values)):
                return values
        except (DpverifyError, ArithmeticError):
            continue
    return None


def find_counterexample(a: Expr, b: Expr, domains: Mapping[str, Domain], tries: int = 600) -> dict[str, Expr] | None:
    """Rational values of the parameters, within the domains, where a > b with certainty; None where the grid has none."""
    names = sorted(symbols(a) | symbols(b))
    if not all(name in domains for name in names):
        return None
    for values in islice(points({name: domains[name] for name in names}), tries):
        try:
            left, right = enclose(substitute(a, values)), enclose(substitute(b, values))
        except DpverifyError:
            continue
        if left > right:
            return values
    return None


def points(domains: Mapping[str, Domain]) -> Iterator[dict[str, Expr]]:
    """Values of parameters, the simplest first."""
    for point in diagonally([list(grid(domain)) for domain in domains.values()]):
        yield {name: Num(value) for name, value in zip(domains, point, strict=True)}


def simplest(domains: Mapping[str, Domain]) -> dict[str, Expr]:
    """The simplest value of each parameter. Raises Undecided where there is none that is looked at."""
    values = {name: next(grid(domain), None) for name, domain in domains.items()}
    if (nothing := [name for name, value in values.items() if value is None]):
        raise Undecided(f"no value of {', '.join(nothing)} is found in its domain.")
    return {name: Num(value) for name, value in values.items() if value is not None}


def grid(domain: Domain) -> Iterator[Fraction]:
    """Simple values of a domain, the simplest first."""
    steps = [Fraction(n) for n in (1, 2, 3, 5, 10, 100, 1000)]
    steps = [step for n in steps for step in ((n,) if n == 1 or domain.integer else (n, 1 / n))]
    d = closed(domain)
    if d.lower is not None and d.upper is not None:
        inside = [d.lower + (d.upper - d.lower) * (step / (1 + step)) for step in steps]
        values = [Fraction(floor(x)) for x in inside] if d.integer else inside
        values += [d.lower, d.upper]
    elif d.lower is not None:
        values = [d.lower + step for step in steps] + [d.lower]
    elif d.upper is not None:
        values = [d.upper - step for step in steps] + [d.upper]
    else:
        values = [Fraction(0), *(x for step in steps for x in (step, -step))]
    yield from (x for x in dict.fromkeys(values) if d.holds(x))


def _far(names: list[str], domains: Mapping[str, Domain]) -> Iterator[dict[str, Expr]]:
    """Each choice of parameters in a direction each, the others at a simple value, further and further out."""
    if len(names) > MOST_FAR:
        return
    choices = [list(_ways(domains[name])) for name in names]
    for ways in product(*choices):
        if any(far for _, far in ways):
            for size in FAR:
                yield {name: Num(far[FAR.index(size)] if far else near) for name, (near, far) in zip(names, ways, strict=True)}


def _ways(domain: Domain) -> Iterator[tuple[Fraction, tuple[Fraction, ...]]]:
    """A simple value of a domain; then values that go to an end of it, or to infinity."""
    low, high = domain.lower, domain.upper
    if low is not None:
        near = low + 1 if high is None else (low + high) / 2
    else:
        near = Fraction(1) if high is None else high - 1
    near = Fraction(near.__ceil__()) if domain.integer else near
    yield near, ()
    if high is None:
        yield near, tuple(near + size for size in FAR)
    elif not domain.integer:
        yield near, tuple(high - (high - near) / size for size in FAR)
    if low is None:
        yield near, tuple(near - size for size in FAR)
    elif not domain.integer:
        yield near, tuple(low + (near - low) / size for size in FAR)

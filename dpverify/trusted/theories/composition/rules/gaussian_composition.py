"""Compositions of Gaussian mechanisms: exactly one Gaussian mechanism.

Theorem: Gaussian mechanisms whose answers move by D_i at standard deviations s_i compose, adaptively, to the pair of N(0, 1) and N(mu, 1)
with mu = sqrt(sum of (D_i / s_i)^2): the likelihood ratio of all answers is that of one. Where they answer queries on the same records, D_i
= ||F_i v|| for one v: mu is the greatest over v, for l2 adjacency by the largest eigenvalue of the stacked queries.

Checked:
- every part adds Gaussian noise in a Euclidean norm, or is mu-GDP by what is stated of it
- of many parts, squares too long to add are rounded up for the upper bound, and down for the lower one

Source: docs/theory/composition.md#gaussian-composition, Dong, Roth & Su 2022, Corollary 3.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, leaf, merged, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import MAX_BITS, Expr, Num, add, mul, num, power, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import CorrelatedNoise, Filter, Guarantee, Product
from dpverify.trusted.theories.curves.rules import gaussian

NAME: Final = "gaussian-composition"
ASSUMED: Final = gaussian.ASSUMED

_KEPT_BITS: Final = 1024
"""Of the squares of many different parts, each rounded to its safe side."""


def infer(run: Run, _: Mapping[str, Any], __: Sequence[Fact]) -> Curve:
    """The curve of a composition of Gaussian mechanisms. Raises Rejected."""
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve(runs)), jointly=True)


def curve(runs: Sequence[Run]) -> Curve:
    """The exact curve. Raises Rejected where a part is not Gaussian."""
    upper, lower = total(runs), total(runs, attained=True)
    assert upper is not None
    dominating, rules = gaussian.pair(upper), (NAME, *through(runs))
    assumed: tuple[str, ...] = ASSUMED
    below: tuple[str, ...] = ()
    known = [run.part.mechanism for run in runs if isinstance(run.part.mechanism, Guarantee)]
    if known:
        from dpverify.trusted.combinators import stated

        assumed = tuple(dict.fromkeys(line for one in known for line in stated.grounds(one)))
        below = (stated.ANY_PARTS,)
    if lower is None:
        return Curve(dominating, None, rules, assumed)
    attained = dominating if certainly_equal(upper, lower) else gaussian.pair(lower)
    return Curve(dominating, attained, rules, assumed, below)


def through(runs: Sequence[Run]) -> tuple[str, ...]:
    """The theorems about parts that are correlated noise, or have a guarantee by one, where some are."""
    from dpverify.trusted.combinators import stated

    known = [run.part.mechanism for run in runs]
    by_theorem = dict.fromkeys(name for one in known if isinstance(one, Guarantee) for name in stated.theorem_of(one))
    if not any(isinstance(one, CorrelatedNoise) for one in known):
        return tuple(by_theorem)
    from dpverify.trusted.theories.curves.rules import correlated_gaussians

    return (*by_theorem, correlated_gaussians.NAME)


def total(runs: Sequence[Run], attained: bool = False) -> Expr | None:
    """mu of the composition, at most; with `attained` one that some neighbours have, None where none is known."""
    squares, shared = [], []
    if len(runs) > 1:
        from dpverify.trusted.theories.composition import gaussian_queries

        shared = gaussian_queries.shared(runs, attained)
    for _, square in shared:
        if square is None:
            return None
        squares.append(square)
    taken = {i for indices, _ in shared for i in indices}
    for run in (run for i, run in enumerate(runs) if i not in taken):
        moved, noise = reach(run), run.part.mechanism
        if isinstance(noise, Guarantee):
            if attained and not isinstance(noise, Filter):
                return None
            mu = _stated(run)
        elif isinstance(noise, CorrelatedNoise):
            from dpverify.trusted.theories.curves.rules import correlated_gaussians

            mu = correlated_gaussians.mu(noise, moved, attained)
        else:
            mu = gaussian.mu(noise, moved.lower if attained else moved.upper)
        if mu is None:
            raise Rejected(NAME, "the parts", "one of them is not Gaussian noise in a Euclidean norm")
        if attained and run.part.query is not None and isinstance(noise, Product):
            return None  # which coordinates move together is not known
        squares.append(mul(num(run.times), power(mu, num(2))))
    return sqrt(add(*_short(squares, attained)))


def _short(terms: Sequence[Expr], least: bool) -> list[Expr]:
    """Terms of a sum; rationals whose sum may be too long to write are rounded to many bits, down for the least sum and else up."""
    numbers = {term.value for term in terms if isinstance(term, Num)}
    if sum(value.denominator.bit_length() for value in numbers) <= MAX_BITS - _KEPT_BITS:
        return list(terms)
    return [num(_rounded(term.value, least)) if isinstance(term, Num) else term for term in terms]


def _rounded(value: Fraction, down: bool) -> Fraction:
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - _KEPT_BITS)
    return (value // unit if down else -(-value // unit)) * unit


def _stated(run: Run) -> Expr | None:
    """mu of a guarantee; None of one in another measure."""
    guarantee = leaf(run).mechanism
    assert isinstance(guarantee, Guarantee)
    if guarantee.measure != "gdp":
        return None
    from dpverify.trusted.combinators import stated

    stated.check(guarantee)
    return guarantee.rows[0][0]

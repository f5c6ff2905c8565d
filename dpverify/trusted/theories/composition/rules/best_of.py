"""The best output of a random number of runs: the pure epsilon that is left, for all parameters.

K runs of a part are independent, K is drawn from a law with generating function f that the data have no say in, and the greatest output in
a fixed order is told. With F = q(<= y) and F' that of the neighbour, an output y has the density q(y) f'(F). Over all parts that are e-DP
the greatest loss is e + log f'(F)/f'(F') at F = e^e/(1 + e^e), F' = 1/(1 + e^e), if t f''(1 - t)/f'(1 - t) does not fall in t.

Theorem: The best of K runs of what is e-DP is E-DP, and for some such part no less: E = k e for K = k, e + mu tanh(e/2) for a Poisson law
of mean mu, e + (1 + eta) log((gamma + e^e)/(1 + gamma e^e)) for a truncated negative binomial law; geometric of mean m is eta = 1, gamma =
1/m; logarithmic is eta = 0, with the mean (1/gamma - 1)/log(1/gamma), which falls in gamma, as E does.

Checked:
- the pure epsilon of the part in both orders of two neighbours, by rules about it
- the law and its numbers
- of a logarithmic law by its mean, that gamma is on the safe side

Source: docs/theory/composition.md#best-of, Papernot & Steinke 2022, Section 3, for the laws
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators import stated
from dpverify.trusted.kernel.bounds import Side
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, neg, num, power, sub
from dpverify.trusted.kernel.model import BestOf, Domain, Guarantee, Table
from dpverify.trusted.language.rationals import read_fraction, to_whole

NAME: Final = "best-of"
ASSUMED: Final = (
    "how often the part is run does not depend on the data, and nobody learns it",
    "which output is the best does not depend on the data but through the outputs",
)
IN_ORDER: Final = "the outputs are in an order in which one of them tells the most"
LOWER: Final = "the part is the worst that has the guarantee stated of it, with its outputs in the worst order"

Domains = Mapping[str, Domain]


def epsilon(best: BestOf, part: Expr, side: Side, evidence: Mapping[str, Any], domains: Domains) -> Expr:
    """The pure epsilon of the best of some runs of the worst part with a pure epsilon: at least, or at most, by the side.

    evidence: "gamma" of a logarithmic law. Raises Rejected, CertificateError.
    """
    numbers = best.numbers
    if best.law == "fixed":
        return mul(numbers[0], part)
    if best.law == "poisson":
        return add(part, mul(numbers[0], call("tanh", mul(num(Fraction(1, 2)), part))))
    if best.law == "geometric":
        return _truncated(ONE, div(ONE, numbers[0]), part)
    if best.law == "negative_binomial":
        return _truncated(numbers[0], numbers[1], part)
    return _truncated(ZERO, gamma_of(numbers[0], side, evidence, domains), part)


def _truncated(eta: Expr, gamma: Expr, part: Expr) -> Expr:
    """Of a truncated negative binomial law."""
    grown = call("exp", part)
    return add(part, mul(add(ONE, eta), call("log", div(add(gamma, grown), add(ONE, mul(gamma, grown))))))


def gamma_of(mean: Expr, side: Side, evidence: Mapping[str, Any], domains: Domains) -> Expr:
    """A gamma of the logarithmic law with a mean of at least this, from above, or at most this, from below."""
    gamma = Num(read_fraction(evidence, "gamma", NAME))
    if not 0 < gamma.value < 1:
        raise Rejected(NAME, "gamma", "it is not between 0 and 1")
    there = logarithmic_mean(gamma)
    if not (certainly_le(mean, there, domains) if side == "upper" else certainly_le(there, mean, domains)):
        raise Rejected(NAME, "gamma", "the mean of its law is not certainly on the safe side of that which is stated")
    return gamma


def logarithmic_mean(gamma: Expr) -> Expr:
    """How many runs there are on average."""
    return div(sub(div(ONE, gamma), ONE), call("log", div(ONE, gamma)))


def attained(best: BestOf, domains: Domains) -> Expr:
    """The pure epsilon that is all that is known of a part. Raises Rejected where more is known, or none is stated in both orders."""
    known = best.part.mechanism
    stated_alone = isinstance(known, Guarantee) and known.measure == "approximate" and len(known.rows) == 1
    found = stated.pure_epsilon(known, domains) if stated_alone and isinstance(known, Guarantee) else None
    if found is None:
        raise Rejected(NAME, "the part", "it is not a stated pure epsilon alone: how its outputs are in order with its losses is not known")
    return found


def at_an_output(best: BestOf, evidence: Mapping[str, Any], domains: Domains) -> Expr:
    """What the best of some runs of a table loses at one output, where some others are below it. Raises Rejected, CertificateError.

    evidence: "inputs", two neighbours; "output"; "below", the outputs below that; "gamma" of a logarithmic law, which is to be its own.
    """
    table = best.part.mechanism
    if not isinstance(table, Table):
        raise Rejected(NAME, "the part", "it is no table: how probable its outputs are is not known")
    a, b = (to_whole(one, "inputs", NAME, 0, len(table.rows) - 1) for one in evidence["inputs"])
    output, *listed = (to_whole(one, "an output", NAME, 0, len(table.rows[0]) - 1) for one in (evidence["output"], *evidence["below"]))
    others = {*listed}
    if a == b or output in others or not (table.adjacent is None or {(a, b), (b, a)} & {*table.adjacent}):
        raise Rejected(NAME, "the output", "it is below itself, or the inputs are no neighbours")
    first, second = (_probability(best, row, others, output, evidence) for row in (table.rows[a], table.rows[b]))
    if not (certainly_lt(ZERO, first, domains) and certainly_lt(ZERO, second, domains)):
        raise Rejected(NAME, "the output", "it is not certainly told at times, on both inputs")
    return call("log", div(first, second))


def _probability(best: BestOf, row: Sequence[Expr], below: Set[int], output: int, evidence: Mapping[str, Any]) -> Expr:
    """How probable an output is to be the best, up to a factor that is the same on all inputs."""
    least = add(ZERO, *(row[one] for one in sorted(below)))
    return sub(*(_generating(best, x, evidence) for x in (add(least, row[output]), least)))


def _generating(best: BestOf, x: Expr, evidence: Mapping[str, Any]) -> Expr:
    """The generating function of the law, less a constant and up to a positive factor."""
    if best.law == "fixed":
        return power(x, best.numbers[0])
    if best.law == "poisson":
        return call("exp", mul(best.numbers[0], x))
    if best.law == "geometric":
        return div(x, sub(best.numbers[0], mul(sub(best.numbers[0], ONE), x)))
    if best.law == "negative_binomial":
        eta, gamma = best.numbers
    else:
        eta, gamma = ZERO, Num(read_fraction(evidence, "gamma", NAME))
        if not certainly_equal(logarithmic_mean(gamma), best.numbers[0]):
            raise Rejected(NAME, "gamma", "the mean of its law is not certainly that which is stated")
    rest = sub(ONE, mul(sub(ONE, gamma), x))
    if certainly_equal(eta, ZERO):
        return neg(call("log", rest))
    if not isinstance(eta, Num):
        raise Rejected(NAME, "eta", "it wants a value")
    rising = power(rest, neg(eta))
    return rising if eta.value > 0 else neg(rising)

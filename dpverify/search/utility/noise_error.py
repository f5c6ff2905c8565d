"""Proposes what encloses the error of a claim's own noise: closed forms where they are, else integrals, and what is infinite."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial, reduce
from typing import Any, Final

from flint import arb

from dpverify.search.proposal import Steps
from dpverify.trusted.facts.errors import COORDINATE, EUCLIDEAN, Measure
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError
from dpverify.trusted.kernel.expr import Expr, format_expr
from dpverify.trusted.kernel.fact import Fact, as_errors
from dpverify.trusted.kernel.model import Claim, Mixture, Noise, Radial, Table
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import laws, tails
from dpverify.trusted.theories.utility.rules import (
    infinite_moments,
    log_concave_noise,
    noise_moments,
    noise_quantile,
    polytope,
    polytope_tails,
    root_of_squares,
    union_bound,
)
from dpverify.trusted.theories.utility.rules import randomized_response_estimate as randomized_response

MOST_COORDINATES: Final = 64
"""Of more coordinates the first is told of alone."""
_BEYOND: Final = (1, 16, 1024)
_INTEGRAL_DIGITS: Final = 9
"""Digits of a quantile that each cost several integrals."""
_ROUNDS: Final = 60
_NOTHING: Final = 2.0**-64
_NODES: Final = {"parts": 3, "first": -150, "last": 222}
_FEW_NODES: Final = {"parts": 1, "first": -24, "last": 30, "bits": 50}
_FAR: Final = (64, 2**14, 2**30)
_NEAR: Final = (Fraction(1, 2**10), Fraction(1, 2**60))
_MIXING_FAR: Final = (2**20, 2**60)
_WORK: Final = 20_000
"""The greatest product of cuts, of different simplices and of the square of the dimension."""
_LEAST_CUTS, _MOST_CUTS = 24, 200
_CUT_DIGITS: Final = 4
_FEW_BITS: Final = 30
_FEW_DIGITS: Final = 5
"""Of a quantile by masses between cuts a hundredth apart."""
MOST_TAIL: Final = 64
"""Bits of a tail that are lost beside the whole, where nothing says how rare it is."""
BROKEN: Final = (DpverifyError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError)


def bits_for(digits: int) -> int:
    """Bits of an integral that leave room for so many digits."""
    return int(3.4 * digits) + 4


@dataclass
class _Found:
    """Steps that the rules accept, with the facts that they state."""

    proof: Proof
    digits: int
    prec: int
    steps: Steps = field(default_factory=list)

    @cached_property
    def body(self) -> list[Fact]:
        """The fact of the unit ball of a norm by columns or facets; none for other noise, on the line, or where none is found."""
        noise = self.proof.claim.mechanism
        if not isinstance(noise, Radial | Mixture) or noise.norm.kind not in ("columns", "facets") or len(noise.norm.matrix[0]) == 1:
            return []
        from dpverify.search.utility import bodies

        with precision(self.prec):
            found = bodies.fact(self.proof, "norm")
        return [] if found is None else [found]

    def tried(self, rule: str, evidence: Mapping[str, Any], premises: Sequence[Fact] = ()) -> Fact | None:
        """The fact, whose step is kept; None where the rule refuses."""
        try:
            with precision(self.prec):
                fact = self.proof.infer(rule, (), dict(evidence), premises)
        except DpverifyError:
            return None
        self.steps.append({"rule": rule, "evidence": dict(evidence), "premises": list(premises), "prec": self.prec})
        return fact


def propose(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """Steps for every error of additive noise that is enclosed, and for that of the estimate from randomized response."""
    claim = proof.claim
    found = _Found(proof, digits, int(3.4 * digits) + 80)
    if isinstance(claim.mechanism, Table):
        found.tried(randomized_response.NAME, {})
        return found.steps
    if claim.domains or not isinstance(claim.mechanism, Noise):
        return []
    for reading in readings(claim):
        means = [_moments(found, reading, power) for power in (1, 2)]
        if any(means):
            first = next(filter(None, means))
            if means[0] is not None and _lacks(means[0], EUCLIDEAN[0]):
                _length(found, reading, means[0])
            if claim.beta is not None:
                _quantiles(found, reading, first)
            if means[1] is not None and isinstance(claim.mechanism, Radial) and claim.mechanism.norm.kind in ("columns", "facets"):
                found.tried(log_concave_noise.NAME, reading, [means[1]])
            break
    return found.steps


def readings(claim: Claim) -> Iterator[dict[str, Any]]:
    """How a rule is to read the noise: a mixture in closed form, or by its scale."""
    if not isinstance(claim.mechanism, Mixture):
        yield {}
        return
    from dpverify.search.additive.mixtures import scale_of

    scale = scale_of(claim.mechanism, {})
    if scale is not None:
        yield {"scale": format_expr(scale), "closed": True}
        yield {"scale": format_expr(scale)}


def _dimension(claim: Claim, reading: Mapping[str, Any]) -> int:
    return laws.read(claim, reading, noise_moments.NAME).dimension


# -- moments -------------------------------------------------------------------------------------------


def _moments(found: _Found, reading: Mapping[str, Any], power: int) -> Fact | None:
    """The fact of the errors of one power, closed, enclosed, or infinite."""
    try:
        d = _dimension(found.proof.claim, reading)
    except DpverifyError:
        return None
    asked = {**reading, "power": power, "coordinates": d if d <= MOST_COORDINATES else 1}
    for evidence in (asked, {**asked, "bits": bits_for(found.digits)}):
        fact = found.tried(noise_moments.NAME, evidence, found.body)
        if fact is not None:
            return fact
    for size, side, beyond in ((size, side, beyond) for size in (0, 1) for side in (1, -1) for beyond in _BEYOND):
        fact = found.tried(infinite_moments.NAME, {**asked, "size": size, "side": side, "beyond": beyond})
        if fact is not None:
            return fact
    return None


def _lacks(fact: Fact, measure: Measure) -> bool:
    return not any(bound.measure == measure for bound in as_errors(fact.says))


def _length(found: _Found, reading: Mapping[str, Any], mean: Fact) -> None:
    """The mean length by sums, from the mean of the first coordinate: closed transforms to many digits, integrals to few."""
    law = laws.read(found.proof.claim, reading, root_of_squares.NAME)
    size = _size(law, mean)
    if found.tried(root_of_squares.NAME, {**reading, **_about_size(_NODES, size, law.dimension)}, [mean]) is None:
        for far in _FAR:
            told = {**reading, **_about_size(_FEW_NODES, size, law.dimension), "far": str(far * size)}
            if found.tried(root_of_squares.NAME, told, [mean]) is not None:
                return


def _size(law: laws.Law, mean: Fact) -> Fraction:
    """About the size of a coordinate of what the sums are of, a power of two."""
    if law.norm is None:
        about = _about(mean)
    elif law.norm.kind == "ellipsoid":
        about = law.norm.matrix[0][0]
        return Fraction(2) ** (_log2(about) // 2)
    else:
        about = Fraction(1)
    return Fraction(2) ** _log2(about)


def _log2(number: Fraction) -> int:
    """The logarithm of a number above 0, to about 1."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _about_size(nodes: Mapping[str, int], size: Fraction, dimension: int) -> dict[str, int]:
    """The points t moved to about 1 over the square of a size, with more of them below for many coordinates."""
    parts, moved = nodes["parts"], -2 * nodes["parts"] * _log2(size)
    return {**nodes, "first": nodes["first"] + moved - 2 * parts * dimension.bit_length(), "last": nodes["last"] + moved}


# -- quantiles -----------------------------------------------------------------------------------------


def _quantiles(found: _Found, reading: Mapping[str, Any], mean: Fact) -> None:
    claim = found.proof.claim
    law = laws.read(claim, reading, noise_quantile.NAME)
    start = _about(mean)
    if law.norm is not None and law.norm.kind in ("columns", "facets") and law.dimension > 1:
        _in_a_polytope(found, reading, law, start)
        return
    for rule, of in ((union_bound.NAME, tails.summed), (noise_quantile.NAME, tails.greatest)):
        if found.tried(rule, reading) is None:
            root = _by_search(found, reading, law, rule, of, start)
            start = start if root is None else root


def _first(law: laws.Law, t: Fraction, parameters: Mapping[str, Any], rule: str) -> arb:
    return tails.single(law, t, parameters, rule)[0]


def _about(mean: Fact) -> Fraction:
    """A distance to start from: about the mean of the first coordinate."""
    values = [bound.value for bound in as_errors(mean.says) if bound.measure in COORDINATE and isinstance(bound.value, Expr)]
    return _rounded(constant(values[0]), 3) if values and constant(values[0]) > 0 else Fraction(1)


def _by_search(
    found: _Found, reading: Mapping[str, Any], law: laws.Law, rule: str, of: Callable[..., arb], start: Fraction
) -> Fraction | None:
    """Steps for both sides of a distance, and about where it is."""
    assert found.proof.claim.beta is not None
    with precision(found.prec):
        beta = constant(found.proof.claim.beta)
        more = max(0, -int(exact((beta.log() / arb(2).log()).mid()).__floor__()))
    for parameters, digits in ways(found.digits, start, more, law):
        evidence = {**reading, **parameters}
        if "cuts" not in evidence and not _narrow(found, law, start, evidence, rule, of, digits):
            continue
        try:
            roots = ends(_excess(found, partial(of, law, parameters=evidence, rule=rule)), start, digits, law)
        except BROKEN:
            continue
        facts = [found.tried(rule, {**evidence, "at": str(at), "side": side}) for side, at in roots]
        if None not in facts:
            return roots[-1][1]
    return None


def _excess(found: _Found, probability: Callable[[Fraction], arb]) -> Callable[[Fraction, bool], arb]:
    """The logarithm of a probability over beta, as far as it is known from above, or from below."""

    def excess(t: Fraction, upper: bool) -> arb:
        assert found.proof.claim.beta is not None
        with precision(found.prec):
            known = probability(t)
            share = (known.upper() if upper else known.lower()) / constant(found.proof.claim.beta)
            return share.log().mid() if share > _NOTHING else arb(_NOTHING).log().mid()

    return excess


def _in_a_polytope(found: _Found, reading: Mapping[str, Any], law: laws.Law, start: Fraction) -> None:
    """Steps for both sides of the distances that noise in the norm of a polytope exceeds."""
    from dpverify.search.utility import bodies

    with precision(found.prec):
        coarse = bodies.fact(found.proof, "norm", mean=False)
        body = next((fact for fact in (coarse, *found.body) if fact is not None and fact.rule == polytope.NAME), None)
        if body is None or len(law.sizes) != 1:
            return
        told = {key: body.parameters[key] for key in ("of", "vertices", "simplices", "middles") if key in body.parameters}
        _, _, boundary = polytope.boundary_of(found.proof.claim, told)
        coordinates = polytope_tails.values(boundary)
    for parameters, digits in _in_simplices(found.digits, law, sum(map(len, coordinates))):
        given = {**reading, **parameters, "body": told}
        probabilities = cache(lambda t, given=given: polytope_tails.probabilities(law, coordinates, boundary.unit, t, given))
        if _beyond(found, law, given, probabilities, start, digits, False):
            _beyond(found, law, given, probabilities, start, digits, True)
            return


def _in_simplices(digits: int, law: laws.Law, different: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Parameters of tails in a polytope, with the digits that are worth asking for. different: how many simplices are, by coordinates."""
    yield {}, digits
    cuts = min(_WORK // (different * law.dimension**2), _MOST_CUTS)
    if cuts >= _LEAST_CUTS:
        try:
            about = exact(law.moment(1, _FEW_BITS).mid())
        except DpverifyError:
            return
        yield {"bits": _FEW_BITS, "cuts": _cuts(about / 5, 60, cuts)}, _CUT_DIGITS


def _beyond(
    found: _Found,
    law: laws.Law,
    given: Mapping[str, Any],
    probabilities: Callable[[Fraction], list[arb]],
    start: Fraction,
    digits: int,
    alone: bool,
) -> bool:
    """Whether a distance is found: by the sum of the probabilities of the coordinates, or, from below, by the greatest."""
    try:
        roots = ends(_excess(found, lambda t: reduce(arb.max if alone else arb.__add__, probabilities(t))), start, digits, law)
    except BROKEN:
        return False
    for side, at in roots:
        if not alone:
            found.tried(polytope_tails.NAME, {**given, "at": str(at), "side": side})
        elif side == "lower":
            found.tried(polytope_tails.NAME, {**given, "at": str(at), "side": side, "alone": True})
    return True


def _narrow(
    found: _Found, law: laws.Law, at: Fraction, evidence: Mapping[str, Any], rule: str, of: Callable[..., arb], digits: int
) -> bool:
    """Whether the probability at a distance, or that of one coordinate, is known to about so many digits."""
    for probability in (of, _first):
        try:
            with precision(found.prec):
                if probability(law, at, evidence, rule).rel_accuracy_bits() >= 3 * digits:
                    return True
        except BROKEN:
            pass
    return False


def _cuts(first: Fraction, times: int, count: int) -> list[str]:
    """So many numbers from the first to a multiple of it, in geometric progression."""
    step = times ** (1 / count)
    return [str(_rounded(first * Fraction(step**k), 5)) for k in range(count + 1)]


def ways(digits: int, start: Fraction, more: int, law: laws.Law) -> Iterator[tuple[dict[str, Any], int]]:
    """Parameters of tails, with the digits that are worth asking for: closed forms first."""
    yield {}, digits
    few = min(digits, _INTEGRAL_DIGITS)
    bits = bits_for(few) + more + 8
    yield {"bits": bits}, few
    for near, far in _mixing_cuts(law):
        yield {"bits": bits, "near": str(near), "far": str(far)}, few
    if law.norm is not None and law.norm.kind in ("lp", "ellipsoid"):
        with precision(_FEW_BITS + 64):
            first = start / exact(constant(law.unit).mid()) / 2
        times = 6 * (more + 2)
        yield {"bits": _FEW_BITS, "cuts": _cuts(first, times, math.ceil(100 * math.log(times)))}, _FEW_DIGITS


def _mixing_cuts(law: laws.Law) -> list[tuple[Fraction, Fraction]]:
    """Where a mixing variable is cut near either end of what it ranges over, in the order in which they are tried."""
    hidden = tails.hidden_of(law) if law.norm is not None else None
    if hidden is None:
        return []
    if hidden.upper is None:
        return [(hidden.lower + near, hidden.lower + far) for far in _MIXING_FAR for near in _NEAR]
    width = hidden.upper - hidden.lower
    return [(hidden.lower + width * _NEAR[-1], hidden.upper - width * _NEAR[-1])]


def ends(excess: Callable[[Fraction, bool], arb], start: Fraction, digits: int, law: laws.Law) -> list[tuple[str, Fraction]]:
    """Distances certainly on either side of the one wanted."""
    if law.sizes and law.sizes[0].whole:
        least = _least_integer(lambda n: excess(n + Fraction(1, 2), True) <= 0)
        return [("lower", least - Fraction(1, 2))] * (least > 0) + [("upper", least + Fraction(1, 2))]
    high = _root(lambda t: excess(t, True), start, digits)
    same = excess(high, True) - excess(high, False) < arb(10) ** -(digits - 2)
    low = high if same else _root(lambda t: excess(t, False), high, digits)
    off = Fraction(1, 10**digits)
    return [("lower", _rounded(low * (1 - off), digits + 2)), ("upper", _rounded(high * (1 + off), digits + 2))]


def _least_integer(enough: Callable[[int], Any]) -> int:
    """The least integer n >= 0 from which on a condition holds."""
    high = 1
    while not enough(high):
        high *= 2
        if high > 2**40:
            raise CertificateError("no distance is found that is exceeded so rarely.")
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _root(excess: Callable[[Fraction], arb], start: Fraction, digits: int) -> Fraction:
    """About where a falling function is 0, by the method of Illinois."""
    low, high, at_low = start, start, excess(start)
    at_high = at_low
    for _ in range(_ROUNDS):
        if at_low >= 0 >= at_high:
            break
        if at_low < 0:
            high, at_high, low = low, at_low, low / 2
            at_low = excess(low)
        else:
            low, at_low, high = high, at_high, high * 2
            at_high = excess(high)
    side = 0
    for _ in range(_ROUNDS):
        if not at_low > at_high or high - low < low / 10 ** (digits + 1):
            break
        share = exact((at_low / (at_low - at_high)).mid())
        middle = _rounded_exact(low + (high - low) * share, digits + 6)
        value = excess(middle)
        if value >= 0:
            low, at_low, at_high, side = middle, value, at_high / 2 if side > 0 else at_high, 1
        else:
            high, at_high, at_low, side = middle, value, at_low / 2 if side < 0 else at_low, -1
        if abs(value) < arb(10) ** -(digits + 2):
            return middle
    return low if at_low < -at_high else high


def exact(ball: arb) -> Fraction:
    """The rational that an exact ball is."""
    mantissa, exponent = ball.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _rounded(number: arb | Fraction, digits: int) -> Fraction:
    return _rounded_exact(number if isinstance(number, Fraction) else exact(number.mid()), digits)


def _rounded_exact(number: Fraction, digits: int) -> Fraction:
    """A number above 0 to so many decimal digits."""
    size = len(str(number.__floor__())) if number >= 1 else 1 - len(str((1 / number).__floor__()))
    unit = Fraction(10) ** (size - digits)
    return round(number / unit) * unit

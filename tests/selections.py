"""Claims about answers with noise that are compared, and certificates of one line about them."""

from fractions import Fraction

from dpverify.search import precision_for, premises
from dpverify.search.certificates import pack
from dpverify.search.proposal import bound
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.expr import ONE, ZERO, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import L1, L2, AboveThreshold, Claim, Domain, NoisyMax, Radial, Translation
from dpverify.trusted.kernel.proof import Proof

NATURAL = Domain(Fraction(1), None, lower_open=False, integer=True)
POSITIVE = Domain(Fraction(0))
ALL_N = (("n", NATURAL),)


def laplace(scale):
    return Radial(parse("exp(-r)"), L1, ONE, parse(str(scale)))


def gaussian(sigma):
    return Radial(parse("exp(-r**2/2)"), L2, ONE, parse(str(sigma)))


def on_line(density, low=None, high=None, integers=False):
    return Translation(parse(density), (low, high), integers)


GUMBEL = on_line("exp(-z/2 - exp(-z/2))")
EXPONENTIAL = on_line("exp(-z/2)", ZERO)
LOGISTIC = on_line("cosh(z/4)**(-2)")
GEOMETRIC = on_line("exp(-abs(z)/2)", integers=True)
LEFT_HEAVY = on_line("exp(-max(3*z, -z))")
CAUCHY = Radial(parse("1/(1 + r**2)"), L2, ONE)


def of(mechanism, epsilon=None, sensitivity=1, domains=(), delta=ZERO):
    return Claim(mechanism, None if epsilon is None else parse(str(epsilon)), delta, parse(str(sensitivity)), domains=domains)


def largest(noise, n, **words):
    return NoisyMax(noise, parse(str(n)), **words)


def sparse(threshold_noise, query_noise, n, positives=1, **words):
    count = None if positives is None else parse(str(positives))
    return AboveThreshold(parse(str(n)), threshold_noise, query_noise, positives=count, **words)


def alone(claim, rule, **parameters):
    """A certificate of one line, as anybody may write it."""
    return check(pack(claim, 128, "PROVED", [Line(rule, (), parameters, (), 128)]))


def from_above(claim, digits=20):
    """The fact with the best bound from above, by a search for such alone: most of the time of `verify` goes into showing a loss."""
    step = premises(digits, above=True)(claim, "upper")
    with precision(precision_for(digits)):
        return bound(Proof(claim), (), step)


def upper(claim, digits=20):
    """That bound."""
    [value] = [bound.value for bound in as_bounds(from_above(claim, digits).says) if bound.side == "upper"]
    return value

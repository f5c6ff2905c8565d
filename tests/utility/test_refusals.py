"""What the theories of errors and of processes refuse: each guard by what it alone stops, told by its words."""

from dataclasses import replace
from fractions import Fraction as F

from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import Fact, unasked
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Norm,
    Part,
    Query,
    Radial,
    Staircase,
    Table,
    Translation,
)
from dpverify.trusted.numbers.asymptotics import Germ, Range
from dpverify.trusted.theories.processes import gaussian_functions, infinite_sums, norms
from dpverify.trusted.theories.utility import closed_tails, directions, laws, tails
from dpverify.trusted.theories.utility.closed_moments import Exponential, Powers
from dpverify.trusted.theories.utility.rules import (
    expected_loss,
    infinite_moments,
    linear_map,
    lines_lower_bound,
    log_concave_noise,
    lp,
    root_of_squares,
)
from tests.refused import Refusals, each, require_refused

LINE = Translation(parse("exp(-abs(z))"))
LOPSIDED = Translation(parse("exp(-max(2*z, -z))"), integers=True)
HEAVY = Translation(parse("1/(1 + z**4)"))
STUDENT = Translation(parse("(1 + z**2)**(-3)"))
FROM_5 = Translation(parse("exp(-z)"), (num(5), None))
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
TABLE = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
CUT = Norm("facets", matrix=((F(1), F(0)), (F(0), F(1)), (F(1), F(1))))
"""A square without two of its corners."""
IN_CUT = Claim(Radial(parse("exp(-r)"), CUT, num(2)), None, sensitivity=ONE)
UNIT, TURNED = ((F(1), F(0)), (F(0), F(1))), ((F(1), F(0)), (F(1), F(1)))
SECOND = ((ONE, ZERO), (ZERO, ONE))
COUNT = Query(((F(1), F(0)),), "add-remove")
SEQUENCE = EllipticalProcess(parse("v"), covariance="eigenvalues", shape=(parse("1/k**2"),), interval=(ZERO, ONE))


def law(noise):
    return laws.read(Claim(noise, ONE, sensitivity=ONE), {}, "a-rule")


def of_body(p, **told):
    """The means of noise whose norm has facets, by such a fact of its unit ball."""
    fact = Fact("polytope", unasked(IN_CUT), Body(**{"of": "norm", "axes": UNIT, "volume": ONE, "exact": True, **told}), (), (), {}, (), 64)
    return lambda: directions._of_body(laws.read(IN_CUT, {}, "a-rule"), p, IN_CUT, (fact,), 1)


def spread(**told):
    fact = Fact("polytope", unasked(IN_CUT), Body(**{"of": "norm", "axes": UNIT, "volume": ONE, "exact": True, **told}), (), (), {}, (), 64)
    return lambda: linear_map._spread(laws.read(IN_CUT, {}, "a-rule"), IN_CUT, iter([fact]))


REFUSED: Refusals = {
    "a density with a parameter": (
        lambda: laws.read(Claim(Translation(parse("exp(-k*abs(z))")), ONE), {}, "a-rule"),
        "the density: it has symbols without a value",
    ),
    "the tail of integer noise that is not even": (
        lambda: closed_tails._on_integers(law(LOPSIDED), Exponential(ONE, F(1), ZERO), num(3), "a-rule"),
        "its probability of 0 is not that of its form elsewhere",
    ),
    # laws of noise
    "noise in a dimension that is no number": (lambda: law(Radial(parse("exp(-r)"), L2, parse("d"))), "the dimension: d is not a number"),
    "a tail without a closed form": (lambda: tails.length(law(HEAVY), F(1), {}, "a-rule", ONE), "its tail has no closed form here"),
    "a tail of a coordinate without a closed form": (lambda: tails._on_the_line(law(HEAVY), F(1), {}, "a-rule"), "no closed form here"),
    "a moment of what is 0 far out": (
        lambda: infinite_moments._heavy(replace(law(LINE).sizes[0], density=parse("max(2 - abs(z), 0)")), 1, 1, 10),
        "it is not certainly positive beyond the point",
    ),
    "a tail of what has no integral": (
        lambda: tails.incomplete(Powers(parse("1/2"), ONE, ONE), 2, ONE, F(1)),
        "the density: it is not certainly integrable",
    ),
    "a size that is a product": (
        lambda: tails._stretched(replace(law(LINE), sizes=law(LINE).sizes * 2), ONE, "a-rule"),
        "its size is a product of two; read it in closed form",
    ),
    "a step that is not known": (
        lambda: tails._of_stairs(Staircase(ONE, parse("1/2 + exp(-100)")), F(3, 2)),
        "a whole number that is not enclosed",
    ),
    "a transform without a closed form": (
        lambda: root_of_squares._transform(law(STUDENT), {}),
        "its coordinates have no transform in closed form here",
    ),
    "integrals up to 0": (lambda: root_of_squares._by_integrals(law(LINE).sizes[0], {"bits": 64, "far": "0"}), "far is a rational above 0"),
    "integrals before all noise": (
        lambda: root_of_squares._by_integrals(law(FROM_5).sizes[0], {"bits": 64, "far": "1"}),
        "none of it is nearer than far",
    ),
    # facts of unit balls
    "a body along other axes": (of_body(2, axes=TURNED), "its fact is along other axes than those of the coordinates"),
    "a body without a mean length": (of_body(1), "its fact does not state its mean length"),
    "a body without second moments": (of_body(2), "its fact does not state its second moments"),
    "a spread along other axes": (spread(axes=TURNED, second=SECOND), "its fact does not state its second moments along the coordinates"),
    "a spread without second moments": (spread(), "its fact does not state its second moments along the coordinates"),
    "a spread that is irrational": (spread(second=((parse("sqrt(2)"), ZERO), (ZERO, ONE))), "its second moments are not rational"),
    # claims and parameters
    "a loss that is not stated": (lambda: expected_loss.check(Claim(TABLE, ONE), {}), "it states no losses"),
    "errors over a domain": (
        lambda: linear_map.infer(Claim(Compose((Part(LAPLACE, ONE),)), ONE, domains=(("k", Domain(F(0))),)), {"coordinates": 1}, ()),
        "errors are those of one mechanism; give every parameter a value",
    ),
    "errors of one direction without a premise": (
        lambda: log_concave_noise.infer(Claim(LAPLACE, ONE, sensitivity=ONE), {}, ()),
        "it wants one premise, of the root mean squares of the coordinates",
    ),
    "a scale that is not symmetric": (
        lambda: lines_lower_bound.scale_of({"scale": [["1", "2"], ["3", "1"]]}, 2),
        "'scale' is not symmetric",
    ),
    "another mean than that of squares": (
        lambda: lp._of_query(Claim(LAPLACE, ONE, query=COUNT), {"measure": "mode"}, (), None),
        "'row' is None, not a whole number",
    ),
    # functions and sequences
    "a difference of a high degree": (
        lambda: gaussian_functions._few([gaussian_functions.Term(ONE, 9, ZERO, ZERO)]),
        "at most 64 terms, of degree 8 in t at most",
    ),
    "a difference of many terms": (
        lambda: gaussian_functions._few([gaussian_functions.Term(ONE, 1, ZERO, ZERO)] * 65),
        "at most 64 terms, of degree 8 in t at most",
    ),
    "a function beside a sequence": (
        lambda: norms.Functions(SEQUENCE, parse("t"), {}),
        "whether a function is in the space of the covariance 'eigenvalues' is not decided here",
    ),
    "a sum whose end is early": (
        lambda: infinite_sums._slowest(Germ(rational(F(2)), Range(rational(F(1)), rational(F(1))), F(-11, 10), F(5)), F(2)),
        "the end starts too early",
    ),
}


@each(REFUSED)
def test_what_has_no_such_error_or_norm_is_refused(asked, why):
    require_refused(asked, why)

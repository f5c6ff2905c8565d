"""What is refused below the theories: numbers, forms, norms, certificates and claims; each guard by what it alone stops."""

import itertools
from dataclasses import replace
from fractions import Fraction as F

import pytest
from flint import arb, fmpq_mat

from dpverify.trusted.geometry import cones, lengths, operator_norms, vertices
from dpverify.trusted.kernel import certificate, fitting, judgement, registry
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Sym, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    EllipticalProcess,
    Guarantee,
    Measure,
    NoisyMax,
    Norm,
    Parallel,
    Part,
    Query,
    Radial,
    Shape,
    Space,
    Subsample,
    Translation,
)
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.language import rationals
from dpverify.trusted.numbers import complex, jets, lattice_sums, quadrature
from dpverify.trusted.numbers.asymptotics import End, Germ, Range, end_jet
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.order import domains, enclosed, forms
from dpverify.trusted.sensitivity.sensitivity import require_answers
from dpverify.trusted.shapes.convexity import Shapes
from tests.refused import Refusals, each, require_refused

LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
ON_LINE = Claim(LAPLACE, ONE, sensitivity=ONE)
SQUARE = Norm("facets", matrix=((F(1), F(0)), (F(0), F(1))))
COUNT = Query(((F(1),),), "add-remove")
SIGNED = forms.Forms({"k": Domain(F(-1), F(1))})
PROCESS = EllipticalProcess(parse("v"), covariance="rbf", shape=(ONE, ONE), interval=(ZERO, ONE))


def fits(**more):
    return lambda: fitting.require_fitting(replace(ON_LINE, **more))


def means(mechanism, **more):
    return lambda: require_well_formed(Claim(mechanism, ONE, **more))


REFUSED: Refusals = {
    # numbers
    "besselk of an order that varies": (lambda: complex.compiled(parse("besselk(z, 1)"), "z"), "the order of besselk must be a constant"),
    "a sum over very many integers": (lambda: lattice_sums.lattice_sum(parse("1"), "z", 0, 20_001), "a sum of 20001 terms; at most 20000"),
    "a sum with a pole": (lambda: lattice_sums.lattice_sum(parse("1/abs(z)"), "z", -3, 3), "an enclosure is not finite"),
    "a support with an irrational end": (
        lambda: domain(Translation(ONE, (ZERO, parse("sqrt(2)")))),
        "the ends of the support must be rational",
    ),
    "a quotient that is not 0 at 0": (
        lambda: jets.BallProgram(Call("logratio", (parse("1 + r"), Sym("r"), num(2))), "r"),
        "logratio wants an N in one plain variable that vanishes at 0 to the order k",
    ),
    "a constant without a value": (lambda: enclosed.enclose(parse("log(0 - 1)")), "no finite enclosure at 128 bits"),
    "an exponent of millions": (lambda: rationals.to_fraction("1*2^1000001", "a-rule"), "an exponent beyond a million"),
    "a rate whose sign is not known": (
        lambda: Germ(arb(16), Range(arb(1), arb(1)), growth=((F(1), parse("log(6) - log(2) - log(3)")),)).direction(),
        "the sign of a growth rate is not certain",
    ),
    "besselk of an irrational order near 0": (
        lambda: end_jet(parse("besselk(sqrt(2), z)"), "z", End("right", F(16), F(0))),
        "besselk near zero needs a rational order",
    ),
    # forms and shapes
    "a sum of very many terms": (lambda: forms.Forms({}).plus({((i, F(1)),): F(1) for i in range(601)}), "a sum of more than 600 terms"),
    "a power of millions of digits": (lambda: forms.whole_power(F(3), 10**6), "a number too large to be written out"),
    "a division by what is 0": (lambda: forms.Forms({}).inverse(forms.Quotient({}, forms.ONE)), "a divisor that is zero"),
    "a root over what may be negative": (
        lambda: SIGNED.power(forms.Quotient(forms.ONE, SIGNED.of(parse("k")).top), F(1, 2)),
        "a denominator of unknown sign under a root or a logarithm",
    ),
    "a shape of what has no value": (
        lambda: Shapes("r", True, {}).shape(parse("r*log(0 - 1)")),
        "is not certainly defined and smooth enough",
    ),
    # norms
    "a length of thousands of digits": (
        lambda: lengths.norm_value(L2, (F(3) ** 4000, F(1))),
        "powers with p = 2 have more than",
    ),
    "a vector of another length": (lambda: lengths.norm_value(SQUARE, (F(1),)), "row 1 has 2 numbers where the dimension is 1"),
    "signs in very many dimensions": (lambda: vertices.sign_vectors(17), "17 dimensions have 2.16 sign patterns; at most 16"),
    "signs of a form in very many": (
        lambda: operator_norms.largest_sign_form(fmpq_mat(17, 17, [-1] * 289)),
        "17 dimensions have 2.16 sign",
    ),
    "a polytope in any dimension": (
        lambda: require_answers(replace(ON_LINE, mechanism=Radial(parse("exp(-r)"), SQUARE, parse("d")))),
        "a norm by a matrix, or a query, needs its dimension as a number",
    ),
    # certificates
    "a claim with a list for a number": (
        lambda: from_json({**to_json(ON_LINE), "within": [1]}),
        "'within' is .1., which dpverify does not write there",
    ),
    "a space in another measure": (
        fits(mechanism=Space(Shape("real", ())), sensitivity=None, measure=Measure("zcdp", ONE, None)),
        "of a space pure privacy is claimed, in both orders",
    ),
    "a claim of nothing": (means("noise"), "it has not the form that dpverify writes"),
    "a parameter that is a variable": (fits(domains=(("r", Domain()),)), "'r' cannot name a parameter of this mechanism"),
    "ties of a value": (
        fits(mechanism=NoisyMax(LAPLACE, num(2), report="value", ties="first")),
        "noisy max says of ties, where its report is no value",
    ),
    "a certificate that is too large": (
        lambda: certificate.decode(b" " * (certificate.MAX_BYTES + 1)),
        "a certificate has at most 33554432",
    ),
    # what a claim states that does not fit together, or means nothing
    "neighbours of another kind": (fits(adjacency="swap"), "'swap' is no adjacency. Use add-remove, replace, l1, l2"),
    "a sensitivity beside a query": (fits(query=COUNT), "a sensitivity beside the one that its query has"),
    "an adjacency beside a query": (fits(sensitivity=None, query=COUNT, adjacency="l1"), "an adjacency beside the one that its query has"),
    "a name that cannot be seen": (fits(name="a\u200bb"), "a name in the claim holds a character that cannot be seen"),
    "parts that are none": (means(Compose(())), "parts: there are none"),
    "parts in parallel that are none": (means(Parallel(())), "parts: there are none"),
    "a sample of another scheme": (
        means(Subsample(Part(LAPLACE, ONE), parse("1/2"), "with_replacement")),
        "scheme: 'with_replacement' is not poisson or without_replacement",
    ),
    "a norm by a matrix, and by p": (means(Radial(parse("exp(-r)"), replace(SQUARE, p=F(2)), num(2)), sensitivity=ONE), "and not by both"),
    "an lp norm by a matrix": (
        means(Radial(parse("exp(-r)"), replace(SQUARE, kind="lp"), num(2)), sensitivity=ONE),
        "norm: lp is by a matrix",
    ),
    "a polytope without facets": (means(Radial(parse("exp(-r)"), Norm("facets"), num(2)), sensitivity=ONE), "norm: facets is by a matrix"),
    "a polytope that has no fixed dimension": (
        means(Radial(parse("exp(-r)"), SQUARE, parse("d")), sensitivity=ONE, domains=(("d", Domain(F(1), None, False, True, True)),)),
        "norm: facets has a fixed dimension. Give dimension a number",
    ),
    "a divergence of order 1": (means(Guarantee("renyi", ((ONE, ONE),))), "the order 1 is no rational number above 1"),
    "a variance below 0": (
        means(replace(PROCESS, support=(num(-1), ONE)), sensitivity=ONE),
        "the law of a variance lives between rational numbers of at least 0",
    ),
    "a variance up to an irrational end": (
        means(replace(PROCESS, support=(ZERO, parse("sqrt(2)"))), sensitivity=ONE),
        "the law of a variance lives between rational numbers of at least 0",
    ),
    "another covariance": (means(replace(PROCESS, covariance="cosine"), sensitivity=ONE), "covariance: 'cosine' is none of"),
    "two tights": (lambda: require_well_formed(Claim(LAPLACE, None, None, sensitivity=ONE)), 'epsilon and delta are both "tight"'),
    "bounds between integers": (
        means(NoisyMax(Translation(parse("exp(-abs(z))"), integers=True), num(2), bounds=(ZERO, parse("1/2"))), sensitivity=ONE),
        "bounds: 1/2 is not an integer, as the answers are that noise on the integers is added to",
    ),
}


@each(REFUSED)
def test_what_means_nothing_is_refused(asked, why):
    require_refused(asked, why)


def test_a_function_that_there_is_not_has_no_value():
    with precision(64), pytest.raises(ExprError, match="unknown function 'nofn'"):
        constant(Call("nofn", (ONE,)))


def test_a_domain_that_ends_before_its_start_is_empty():
    assert list(domains.faults((("k", Domain(F(1), F(0))),))) == ["no value lies in the domain of k."]


def test_a_delta_is_never_infinite():
    with pytest.raises(RuntimeError, match="a rule gave an infinite bound on delta"):
        judgement._delta_value(Bound("lower", INFINITE, quantity="delta"))


@pytest.mark.parametrize("theory", [*sorted(set(registry.THEORIES.values())), "alchemy"])
def test_a_theory_has_no_theorem_of_a_name_that_is_none(theory):
    with pytest.raises(KeyError):
        registry._theorem(theory, "no-theorem")


def test_a_rule_that_there_is_not_is_named():
    with pytest.raises(CertificateError, match="unknown rule 'no-theorem'"):
        from dpverify.trusted.kernel.proof import Proof

        Proof(ON_LINE).infer("no-theorem")


def test_an_integral_over_a_pole_is_undecided():
    with precision(64), pytest.raises(Undecided, match="the integral of the density from -1 to 1 has no finite enclosure"):
        quadrature._quadrature(parse("1/z"), "z", F(-1), F(1), arb(2) ** -20, arb(2) ** -20)


def test_a_facet_falls_into_no_more_simplices_than_are_looked_at(monkeypatch):
    """A square does into two triangles."""
    corners = tuple(tuple(map(F, corner)) for corner in itertools.product((-1, 1), repeat=3))
    normals = tuple(tuple(F(sign * (i == axis)) for i in range(3)) for axis in range(3) for sign in (1, -1))
    assert cones.Cones(corners, normals).shares == (F(1, 6),) * 6
    monkeypatch.setattr(cones, "MOST_SIMPLICES", 0)
    with pytest.raises(Undecided, match="a facet falls into too many simplices"):
        cones.Cones(corners, normals)


def test_candidates_for_vertices_are_no_more_than_are_tried():
    rows = ((F(1), F(0)), (F(0), F(1)), (F(1), F(1)))
    assert {tuple(map(abs, vertex)) for vertex in vertices.half_of_vertices(rows, 6)} == {(1, 1), (0, 1), (1, 0)}
    with pytest.raises(Undecided, match="3 rows in 2 dimensions have too many candidate vertices to try"):
        list(vertices.half_of_vertices(rows, 5))

"""Guards of rules that nothing else here meets, each by evidence that only this guard stops: what it would let through is said beside it.

A claim here is about a mechanism for which the rule's theorem does not hold, or evidence says more than it may; the text of the refusal is
what tells that it was this guard.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, num, parse
from dpverify.trusted.language.model import (
    L1,
    L2,
    Claim,
    Domain,
    Guarantee,
    KaryResponse,
    Kernel,
    Mixture,
    NoisyMax,
    Norm,
    Parallel,
    Part,
    Product,
    Query,
    Radial,
    Table,
    Translation,
)
from dpverify.trusted.order import tables
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.additive import (
    concave_exponent,
    cosets,
    mixture_concave,
    modulus,
    modulus_parts,
    product_lipschitz,
)
from dpverify.trusted.rules.additive.independent import moving_alike
from dpverify.trusted.rules.additive.moves import within
from dpverify.trusted.rules.composition import combination, parallel_composition
from dpverify.trusted.rules.curves import gaussian, kernel_pair, laplace, lattice, spherical_caps, uniform_ball, unimodal
from dpverify.trusted.rules.finite import densities, finite, kary_response, kernel_point, normaliser
from dpverify.trusted.rules.guarantees import stated_guarantee
from dpverify.trusted.rules.selection import every_word, worst_run

LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
ON_LINE = Translation(parse("exp(-abs(z))"))
ON_INTEGERS = Translation(parse("exp(-abs(z))"), integers=True)
HALF_LINE = Translation(parse("exp(-z)"), (ZERO, None))
LOPSIDED = Translation(parse("exp(-max(2*z, -z))"))
CONVEX = Radial(parse("exp(-r - r**2)"), L1, ONE)
MIXTURE = Mixture(parse("exp(-v*r)*v"), parse("exp(-v)"), (ONE, num(2)), L2, ONE)
TABLE = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))
KERNEL = Kernel(parse("1/2 + y*theta/2"), (num(-1), ONE), (num(-1), ONE))
BOUNDS = Sensitivity(num(-1), num(-1))
UPPER = {"side": "upper"}


def of(mechanism, sensitivity=ONE, **more):
    return Claim(mechanism, ONE, sensitivity=sensitivity, **more)


def mixed(**fields):
    """A mixture of which one thing is changed."""
    return lambda: mixture_concave.check(of(replace(MIXTURE, **fields)), {"side": "upper", "bits": 64, "scale": "1/v"})


def moved(mechanism, **evidence):
    told = {"bound": "1", "far": 4, "pieces": [], "tree": ["corner", 0], **evidence}
    return lambda: modulus_parts.check(of(mechanism), told)


WORDS = NoisyMax(ON_INTEGERS, num(2))
WITHIN = replace(WORDS, bounds=(ZERO, num(2)))
ABOVE = {
    "kind": "stream",
    "once": {"rho": {"kind": "builtin", "name": "laplace", "scale": 2}},
    "fresh": {"nu": {"kind": "builtin", "name": "laplace", "scale": 4}},
    "state": {"t": "rho"},
    "limits": {"found": 1},
    "step": [{"when": "q + nu >= t", "emit": "above", "count": {"found": 1}}, {"emit": "below"}],
}


def a_run(weights, **more):
    """One step "below" and one "above", of a sparse vector; with the weights 1/4 and 1/4 it proves 1/2."""
    steps = [[1, ["-9"], {"nu": "0"}, ["1"]], [0, ["9"], {"nu": "0"}, ["-1"]]]
    claim = read_tables("above.toml", {"mechanism": ABOVE, "claim": [{"sensitivity": 1, "epsilon": 1}]}).claims[0].claim
    return worst_run.check(claim, {"side": "lower", "once": {"rho": "0"}, "run": steps, "weights": weights, **more})


NEGATIVE = parse("-1")
REFUSED = {
    # what is no function of the distance alone, or loses more further out than at the sensitivity
    "a density that is not even": (lambda: concave_exponent.check(of(LOPSIDED), UPPER), "not written as a function of"),
    "an exponent that is convex": (lambda: concave_exponent.check(of(CONVEX), UPPER), "not certainly concave"),
    "noise on half of the line": (lambda: concave_exponent.check(of(HALF_LINE), UPPER), "one neighbour cannot give"),
    "a sensitivity below 0": (lambda: concave_exponent.check(of(LAPLACE, NEGATIVE), UPPER), "not certainly at least 0"),
    # a mean of densities that is none, or whose conditionals are not those of the theorem
    "a mixture moved by less than 0": (
        lambda: mixture_concave.check(of(MIXTURE, NEGATIVE), {"side": "upper", "bits": 64, "scale": "1/v"}),
        "the sensitivity: it is not certainly at least 0",
    ),
    "weights of a mixture that may be negative": (mixed(mixing=parse("3/2 - v")), "not certainly positive on its support"),
    "a conditional that is convex": (mixed(profile=parse("exp(-v*r**2)*sqrt(v)")), "not certainly concave in r"),
    "a conditional without an integral": (mixed(profile=parse("v/(1 + v*r)")), "exp.-h. is not certainly integrable"),
    # distances that are none
    "a curve of Laplace noise at a distance below 0": (lambda: laplace.delta_expr(NEGATIVE, ONE), "not certainly at least 0"),
    "a curve of Gaussian noise at a distance below 0": (lambda: gaussian.profile(NEGATIVE), "not certainly at least 0"),
    "a curve on the integers at a distance below 0": (
        lambda: lattice.curve(ON_INTEGERS, BOUNDS, {}, (0, 0)),
        "not certainly at least 0",
    ),
    "a curve on the line at a distance below 0": (
        lambda: unimodal.shifted(ON_LINE, BOUNDS, unimodal.read, "here"),
        "not certainly at least 0",
    ),
    "caps at a distance below 0": (lambda: spherical_caps.scaled_shift(LAPLACE, NEGATIVE), "not certainly 0 or positive"),
    # what a rule about one kind would make of another
    "caps of noise on the line": (lambda: spherical_caps.infer(Run(Part(ON_LINE, ONE)), {}, ()), "about radial noise"),
    "a uniform ball of noise on the line": (lambda: uniform_ball.infer(Run(Part(ON_LINE, ONE)), {}, ()), "about radial noise"),
    "a point of a kernel that is none": (lambda: kernel_point.check(of(TABLE, None), {}), "only a density in y and theta"),
    "bins of a kernel that is none": (lambda: kernel_pair.infer(Run(Part(ON_LINE, ONE)), {}, ()), "only a density in y and theta"),
    "a normaliser of a kernel that is none": (lambda: normaliser.check_normaliser(of(TABLE, None), None), "only a density in y and theta"),
    "the loss of a kernel that is none": (
        lambda: densities.losses(of(TABLE, None), (Fraction(0), Fraction(1))),
        "only a density in y and theta",
    ),
    "parts of what has none": (lambda: combination.infer(of(LAPLACE), UPPER, ()), "not made of parts"),
    "parts in parallel of what has none": (lambda: parallel_composition.infer(Run(Part(LAPLACE, ONE)), {}, ()), "not of parts in parallel"),
    # evidence that says more than it may
    "an event whose end is before its start": (
        lambda: kernel_point.check(of(KERNEL, None), {"theta": "1", "other": "-1", "event": ["1/2", "0"]}),
        "not certainly at most",
    ),
    "an event beyond the outputs": (
        lambda: kernel_point.check(of(KERNEL, None), {"theta": "1", "other": "-1", "event": ["0", "2"]}),
        "not certainly at most",
    ),
    "a greatest cell that is not named": (lambda: finite.check(of(TABLE, None), {"side": "upper", "cells": []}), "needs a named cell"),
    "a value below 0": (
        lambda: kary_response.check(of(KaryResponse(num(3), parse("1/2")), None), {"side": "upper", "value": "-1"}),
        "not certainly at least 0",
    ),
    "a part of several records that is in parallel": (
        lambda: parallel_composition.infer(Run(Part(Parallel((Part(LAPLACE, ONE),))), num(2)), {}, ()),
        "further apart than one record",
    ),
    "a part in parallel that is not there": (lambda: parallel_composition.curve([Curve(None, None, (), ())], 1), "names no part"),
    "a bound with a parameter": (moved(ON_LINE, bound="k"), "no constant"),
    "answers that differ by integers, as cosets": (
        lambda: cosets.check(of(ON_INTEGERS, None, query=Query(((1,),), "add-remove")), {}),
        "not certain that noise on the integers meets",
    ),
    "a run of comparisons with a weight below 0": (lambda: a_run(["-1/4", "-1/4"]), "of a comparison is not certainly at least 0"),
    "a run that grows without end and loses nothing": (
        lambda: a_run(["0", "0"], unbounded=True),
        "their value is not certainly positive",
    ),
    "every word of answers that may be anything": (lambda: every_word.check(of(WORDS), {"cuts": [-9, 9]}), "no integers between bounds"),
    "every word with cuts that fall": (lambda: every_word.check(of(WITHIN), {"cuts": [9, -9]}), "no integers between bounds"),
    "every word with no integer between bounds": (
        lambda: every_word.check(of(replace(WITHIN, bounds=(parse("1/4"), parse("3/4")))), {"cuts": [-9, 9]}),
        "there is no integer between them",
    ),
    "a guarantee beside a sensitivity": (
        lambda: stated_guarantee.infer(Run(Part(Guarantee("approximate", ((ONE, ZERO),)), ONE)), {}, ()),
        "not a guarantee alone",
    ),
    "rows of several lengths": (lambda: tables.shape(((ONE, ZERO), (ONE,))), "of one length"),
    "no rows": (lambda: tables.shape(()), "must be there"),
    # norms and parameters of which a formula says nothing
    "coordinates under a norm by columns": (
        lambda: moving_alike("here", lambda shift: shift, ONE, num(2), Norm("columns", matrix=((1, 0), (0, 1)))),
        "want an lp norm",
    ),
    "a shift that is no rational in a norm by columns": (
        lambda: within([parse("sqrt(2)"), ONE], Product(parse("exp(-abs(z))"), num(2), Norm("lp", Fraction(3))), num(9)),
        "must be rational",
    ),
    "slopes of a density with parameters": (
        lambda: product_lipschitz.check(of(Product(parse("exp(-k*abs(z))"), ONE), domains=(("k", Domain(Fraction(0))),)), {}),
        "range over domains",
    ),
    "cells of a density with parameters": (
        lambda: modulus.check(of(Translation(parse("exp(-k*abs(z))")), domains=(("k", Domain(Fraction(0))),)), {}),
        "range over domains",
    ),
}


def test_the_run_by_hand_is_one_with_weights_of_at_least_0():
    assert a_run(["1/4", "1/4"]).value == parse("1/2")


@pytest.mark.parametrize(("refused", "why"), REFUSED.values(), ids=REFUSED)
def test_what_a_rule_is_not_about_is_refused(refused, why):
    with pytest.raises(DpverifyError, match=why) as told:
        refused()
    assert isinstance(told.value, Rejected | CertificateError)

"""What the theory of additive noise refuses: each guard by what it alone stops, told by its words."""

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from flint import arb

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Domain, Mixture, Norm, Product, Query, Radial, Staircase, Table, Translation
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.theories.additive import cells as monotone_pieces
from dpverify.trusted.theories.additive import independent, near_points, point_limits, points, scale_family, slopes
from dpverify.trusted.theories.additive.axis import Line
from dpverify.trusted.theories.additive.points import Points
from dpverify.trusted.theories.additive.rules import (
    cosets,
    divergence,
    mixture_concave,
    modulus,
    modulus_parts,
    point_witness,
    product_lipschitz,
    staircase,
)
from tests.refused import Refusals, each, require_refused

LINE = Translation(parse("exp(-abs(z))"))
WHOLE = Translation(parse("exp(-abs(z))"), integers=True)
STEPS = Translation(parse("exp(-floor(abs(z)))"))
WHOLE_STEPS = Translation(parse("exp(-floor(2*abs(z)))"), integers=True)
HALF_PERIOD = {"start": 0, "period": "1/2"}
BOWL = Radial(parse("exp(-r - exp(-r)*65/63)"), L2, num(2))
"""Its exponent turns near 1/32."""
STEEP = Radial(parse("exp(-sqrt(r))"), L2, num(2))
ODD = Translation(parse("exp(-abs(z))*besselk(2 + z, 1)"))
POLE = Translation(parse("exp(-abs(z))/sqrt(abs(z))"))
COPIES = Product(parse("exp(-abs(z))"), num(2), L1)
MIXTURE = Mixture(parse("exp(-v*r)*v"), parse("exp(-v)"), (ONE, num(2)), L2, ONE)
TABLE = Table(((ONE,), (ONE,)))
COUNT = Query(((F(1),),), "add-remove")
FROM_0 = (("k", Domain(F(0))),)
RIGHT_OF_0 = End("right", F(1, 8), F(0))


def of(noise, moved=ONE, **more):
    return Claim(noise, ONE, sensitivity=moved, **more)


def pair(a, b):
    return Points(*(tuple(map(parse, side.split())) for side in (a, b)))


def shown(noise, a, b):
    return lambda: point_limits.certify(noise, pair(a, b), F(1, 8), ONE)


REFUSED: Refusals = {
    # the supremum of the loss along the line
    "a bound with a symbol": (
        lambda: modulus.check(of(LINE), {"bound": "k", "far": 1, "near": 1, "pieces": []}),
        "bound: it has free symbols",
    ),
    "a loss near 0 that is above the bound": (  # h = sqrt(r): of two answers 1 apart the one at 0 loses 1
        lambda: modulus.check(of(STEEP), {"bound": "1/2", "far": 64, "near": 16, "pieces": [["1/16", "up"]]}),
        "at 0: the loss is not certainly below the bound near 0",
    ),
    "a cell of which nothing can be said": (
        lambda: modulus._check_cells(Line.of(of(ODD), {}), {"cells": [["-9", "range"]], "stop": "9"}, num(99), 1, F(-1), F(1)),
        r"at \[-9, 9\]: the order of besselk must not depend on the variable",
    ),
    "an end at 0 where the density turns": (
        lambda: modulus.check(of(BOWL), {"bound": "9", "far": 16, "near": 16, "pieces": [["1/16", "up"]]}),
        "h is not certainly monotone in the right sense on this end",
    ),
    "ends that meet": (
        lambda: modulus_parts.strip(SimpleNamespace(far=lambda upper: F(1)), None, F(-5)),
        "the near one is not before the far one",
    ),
    "a bound below 0 on the loss from a point to itself": (
        lambda: monotone_pieces._check_turns(Line.of(of(LINE), {}), [(F(0), F(0), parse("abs(z)"))], parse("-1/2")),
        "turns at 0 and 0: the loss between them is not certainly below the bound",
    ),
    "a period of half an integer": (
        lambda: modulus_parts.check(of(WHOLE_STEPS), {"bound": "2", "far": HALF_PERIOD, "near": HALF_PERIOD}),
        "take integers to integers",
    ),
    "a slope with a symbol": (
        lambda: slopes.told(parse("abs(z)"), "z", False, {"slope": "k", "cuts": ["-1", "1"]}, "a-rule"),
        "slope: it has free symbols",
    ),
    "slopes of noise on the integers": (lambda: product_lipschitz.check(of(WHOLE), {}), "the density must live on the whole line"),
    "slopes of a table": (lambda: product_lipschitz.check(of(TABLE, None), {}), "only products, and noise on the line, are covered"),
    # points, and limits at them
    "a point that is not as far as a query moves": (
        lambda: near_points.check_point(of(POLE, None, query=COUNT), POLE, RIGHT_OF_0, {"other": "1/2", "radius": "1/8"}),
        "it must lie exactly the query's sensitivity above the point",
    ),
    "a limit on the integers": (lambda: near_points.check_point(of(WHOLE), WHOLE, RIGHT_OF_0, {}), "has no limits at a point"),
    "a zero on the integers": (lambda: near_points.check_inner_point(of(WHOLE), WHOLE, {}), "has no limits at a point"),
    "an end to the left beyond the support": (
        lambda: near_points.check_reach(End("-inf", F(16)), Translation(parse("exp(z)"), (None, num(-100)))),
        "this end lies outside the domain of the density; start it further out",
    ),
    "an end to the right before the support": (
        lambda: near_points.check_reach(End("+inf", F(16)), Translation(parse("exp(-z)"), (num(100), None))),
        "this end lies outside the domain of the density; start it further out",
    ),
    "a point at a jump": (shown(STEPS, "1/2", "1"), "the density may jump here; make the radius smaller"),
    "a point at a pole": (shown(Translation(parse("exp(-abs(z))/abs(z)")), "1/2", "0"), "not certainly positive and finite here"),
    "more points than coordinates": (
        lambda: points.check_pair(of(COPIES), COPIES, pair("0 0 0", "1 0 0"), {}),
        "it has more coordinates than the noise",
    ),
    "a neighbourhood beyond the support": (
        lambda: point_witness.certify(Translation(parse("exp(-z)"), (ZERO, None)), pair("1", "0"), F(1, 8), F(1, 2)),
        "the neighbourhood is not certainly inside the support",
    ),
    "a neighbourhood of nothing": (
        lambda: point_witness._radius(LINE, {"radius": "0"}, "radius"),
        "it must be positive: a single point has probability 0",
    ),
    # what evidence may name
    "cosets in another quantity": (lambda: cosets.check(of(WHOLE), {"quantity": "rho"}), "'rho' is no quantity that this evidence is for"),
    "cosets of an epsilon at values of parameters": (
        lambda: cosets.check(of(WHOLE), {"quantity": "epsilon", "at": {}}),
        "'epsilon' is no quantity that this evidence is for",
    ),
    "an epsilon of cosets at a delta of 1": (lambda: cosets.check(of(WHOLE, delta=ONE), {"quantity": "epsilon"}), "not certainly below 1"),
    "a loss that diverges upwards": (lambda: divergence.check(of(LINE), {"side": "up", "start": "1"}), "side must be '.inf'"),
    "both sides of a mixture": (lambda: mixture_concave.check(of(MIXTURE), {"side": "both", "bits": 64}), "'side' must be upper or lower"),
    "a mixture at very many bits": (
        lambda: mixture_concave.check(of(MIXTURE), {"side": "upper", "bits": 1025}),
        "and 'bits' from 20 to 1024",
    ),
    # noise that a rule is not about
    "a mixing density without an integral": (
        lambda: mixture_concave.check(
            of(replace(MIXTURE, mixing=parse("1/v"), support=(ONE, None))),
            {"side": "upper", "bits": 64, "scale": "1/v", "normaliser": [[None, [], 16]]},
        ),
        "the mixing density: its integral is not certainly finite",
    ),
    "the steps of Laplace noise": (lambda: staircase.check(of(LINE), {"side": "upper"}), "only staircase noise has these steps"),
    "steps that do not move": (
        lambda: staircase.check(of(Staircase(ONE, parse("1/2")), ZERO), {"side": "upper"}),
        "sensitivity: 0 is not certainly positive",
    ),
    "a mixture from an irrational end": (
        lambda: scale_family.support(replace(MIXTURE, support=(parse("sqrt(2)"), None)), "a-rule"),
        "its ends must be rational, the lower one at least 0",
    ),
    "coordinates in a polytope": (
        lambda: independent.moving_alike("a-rule", lambda shift: shift, ONE, ONE, Norm("facets", matrix=((F(1),),))),
        "independent coordinates want an lp norm here",
    ),
}


@each(REFUSED)
def test_what_a_rule_about_noise_is_not_about_is_refused(asked, why):
    require_refused(asked, why)


@pytest.mark.parametrize(("side", "point"), [("right", F(0)), ("left", F(0)), ("right", F(15, 16)), ("left", F(-15, 16))])
def test_an_end_at_a_point_inside_the_support_is_taken(side, point):
    near_points.check_reach(End(side, F(16), point), Translation(ONE, (num(-1), ONE)))


@pytest.mark.parametrize(("side", "point"), [("right", F(1)), ("left", F(-1))])
def test_an_end_at_the_edge_of_the_support_looks_inwards(side, point):
    with pytest.raises(Rejected, match="this end lies outside the domain"):
        near_points.check_reach(End(side, F(16), point), Translation(ONE, (num(-1), ONE)))


def test_a_mixture_whose_integrals_are_not_enclosed_is_refused(monkeypatch):
    monkeypatch.setattr(mixture_concave, "integral", lambda *_: arb("nan"))
    told = {"side": "upper", "bits": 64, "scale": "1/v", "normaliser": [[None, [], None]]}
    require_refused(lambda: mixture_concave.check(of(MIXTURE), told), "their ratio has no finite enclosure; ask for more bits")

"""What the theory of curves refuses: each guard by what it alone stops, told by its words."""

from fractions import Fraction as F
from types import SimpleNamespace

from flint import acb, arb

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L1, L2, AboveThreshold, Claim, Part, Query, Radial, Staircase, Translation
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves import crossings, lunes, moved_density, student, unimodal, variances
from dpverify.trusted.theories.curves.mixing import Law
from dpverify.trusted.theories.curves.rules import every_shift, gaussian_scale_mixture, lattice, pure_guarantee, uniform_ball
from tests.proofs import saying
from tests.refused import Refusals, each, require_refused

LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
HEAVY = "3*log(1 + r**2)"
LATE = "3*log(1 + r**2/10**6)"
"""It bends at 1000."""
WHOLE = Translation(parse("exp(-abs(z))"), integers=True)
OFF_CENTRE = Translation(parse("exp(-abs(z - 5))"), integers=True)
HALVES = Query(((F(2),),), "add-remove")
POLE = Translation(parse("exp(-abs(z))/(max(z, 0) + min(z, 0) - z)"))
APART = Translation(parse("max(abs(z) - 1, 0)*exp(-abs(z))"))
SHORT = Translation(parse("exp(-abs(z))"), (num(-1), ONE))
LEVEL = "exp((log(6) - log(2) - log(3))*z)"
"""It is 1 everywhere, which balls do not see."""
ONE_WAY = Claim(AboveThreshold(num(2), LAPLACE, LAPLACE, positives=ONE, neighbours="increasing"), None, sensitivity=ONE)
ROOT = parse("sqrt(2)")
RISING = SimpleNamespace(
    _rises=True, _limit=None, _last=arb(1), _shift=arb(1), _root=lambda *_: arb(2), _loss=lambda at: SimpleNamespace(v=arb(1, 1))
)
"""A loss along an axis that is known no better than to within 1."""
ENDLESS = SimpleNamespace(_place=lambda *_: None, _lune=lambda *_: acb(1), _beyond=lambda far: arb("inf"))
OUT = SimpleNamespace(size=arb(1), anchor=arb(1), at_distance=lambda v: v, distance=lambda v: v)
ALONG = Sensitivity(ONE, ONE)


def axis(h, *cuts):
    return lambda: crossings.Loss(parse(h), ONE, Shapes("r", True, {}), tuple(map(F, cuts)))


def read(noise):
    return lambda: unimodal.read(noise, unimodal.Hints())


def pieces(noise):
    return lambda: unimodal.in_pieces(noise)


def far_out(density, far):
    return lambda: moved_density._tail(unimodal.in_pieces(Translation(parse(density))), None, far)


REFUSED: Refusals = {
    # the loss along the axis, where no law says that it rises or falls
    "a loss along the axis without cuts": (axis(HEAVY), "the rule wants rising cuts from 0 on"),
    "a loss along the axis that bends beyond the last cut": (axis(LATE, 0, 16), "convex or concave beyond the last cut is not certain"),
    "a loss along the axis that turns in a wide cell": (axis(HEAVY, 0, 64), "neither rises, falls nor turns once between two cuts"),
    "a loss that may be epsilon": (lambda: crossings._exceeds(arb(1, 1), arb(1)), "the enclosure of a loss touches epsilon"),
    "a loss that may be no more than epsilon where it first exceeds it": (
        lambda: crossings.Loss._outer(RISING, arb(1), None),
        "where the loss along the axis first exceeds epsilon is not certain",
    ),
    "lunes beyond which as much is left however far out": (
        lambda: lunes.Lunes._outwards(ENDLESS, OUT, SimpleNamespace(known=None), arb(1), 64),
        "how far out the noise matters is not certain",
    ),
    # densities that cannot be read in pieces
    "a profile with a parameter": (read(Radial(parse("exp(-k*r)"), L1, ONE)), "a parameter of the noise has no value"),
    "a support with an irrational end": (read(Translation(ONE, (ZERO, ROOT))), "the ends of the support must be rational here"),
    "a density with a gap": (pieces(APART), "zero between two places where it is not"),
    "a profile with a hole": (pieces(Radial(parse("max(r - 1, 0)*exp(-r)"), L1, ONE)), "zero about its centre"),
    "a density that divides by zero, in pieces": (pieces(POLE), "the density has no value somewhere: division by zero"),
    "a density that divides by zero, as unimodal": (read(POLE), "the density has no value somewhere: division by zero"),
    "an end that an irrational shift cannot divide": (lambda: pieces(SHORT)().stretched(ROOT), "is not rational; round it up"),
    "slopes that fall": (lambda: unimodal.hints({"slopes": ["1", "0"]}, "line"), "'slopes' and 'turns' must rise, and 'far' be positive"),
    "turns that fall": (lambda: unimodal.hints({"turns": ["1", "1"]}, "line"), "'slopes' and 'turns' must rise, and 'far' be positive"),
    "a distance of nothing": (lambda: unimodal.hints({"far": "0"}, "line"), "'slopes' and 'turns' must rise, and 'far' be positive"),
    "lunes of noise without an integral": (
        lambda: lunes.Lunes._far_tail(SimpleNamespace(_tails={}, _density=parse("1/r")), arb(16)),
        "the density is not integrable at",
    ),
    "an infinite epsilon of one order": (
        lambda: pure_guarantee.curve(saying(ONE_WAY, "concave-exponent", Bound("upper", INFINITE)), ONE_WAY),
        "it has no finite epsilon",
    ),
    "a tail before the last piece": (far_out("exp(-max(z, 4) - abs(z))", 1), "the tail starts before the last piece of the density"),
    "a tail where the density may rise": (far_out("(1 + z**4)*exp(-abs(z)/64)", 4), "not certainly falling towards infinity"),
    "a profile that divides by zero": (
        lambda: uniform_ball._radius(Radial(parse("exp(-r)/(max(r, 1) + min(r, 1) - r - 1)"), L2, num(2))),
        "the pieces of the profile .*: division by zero",
    ),
    "a mixing law without an integral": (
        lambda: variances.Mean._end(SimpleNamespace(law=SimpleNamespace(density=parse("1/v")), _far=F(16)), arb(1), F(16), "+inf"),
        "the law of v has no finite mass beyond 16",
    ),
    "a mixing law with a negative factor": (
        lambda: gaussian_scale_mixture.check(Law(parse("exp(-v)"), F(0), None, num(-1))),
        "its factor is not certainly positive",
    ),
    "a polynomial of millions of terms": (lambda: student.Student._terms(arb(1), 1 - arb(2) ** -60), "would be too long"),
    # the integers, and steps
    "a shape of any kind at many shifts": (
        lambda: lattice.curve(WHOLE, Sensitivity(num(65), num(65)), unimodal.Hints(), None),
        "the sensitivity: it is above 64",
    ),
    "another shift than the query's": (
        lambda: lattice.infer(Run(Part(WHOLE, None, HALVES)), {"any": True, "at": 1}, ()),
        "a query moves by its differences alone",
    ),
    "a mode that is further out": (
        lambda: lattice.curve(OFF_CENTRE, ALONG, unimodal.Hints(), (0, 0)).upper.worst(arb(1)),
        "whether the mode of the probabilities is at most 0 is not certain",
    ),
    "a shift over many steps": (lambda: lattice.Stairs(Staircase(ONE, parse("1/2")), num(10**9)), "a shift over more than 20000 steps"),
    "a number of steps that is not known": (lambda: integer(arb(1, 2)), "a whole number that is not enclosed"),
    "every shift of none": (lambda: every_shift.infer(Run(Part(SHORT, ZERO)), {}, ()), "0 is not certainly positive"),
}


@each(REFUSED)
def test_what_a_curve_is_not_about_is_refused(asked, why):
    require_refused(asked, why)


def test_lunes_of_noise_whose_mass_is_not_enclosed_are_refused(monkeypatch):
    monkeypatch.setattr(lunes, "bessel_moment", lambda density: None)
    monkeypatch.setattr(lunes, "integral", lambda *_, **__: arb(0, 1))
    h, shapes = parse("r**2"), Shapes("r", True, {})
    require_refused(
        lambda: lunes.Lunes(h, parse("exp(-r**2)"), 3, ONE, shapes, ()), "the normaliser of the noise has no positive enclosure"
    )

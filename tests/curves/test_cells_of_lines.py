"""Losses of noise on the line, cell by cell: what is said of a cell, a piece or a cut holds at every point of it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import pytest
from flint import arb

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import STUMBLES, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import Translation
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.theories.additive import slopes
from dpverify.trusted.theories.curves import losses, monotone, shapes, unimodal
from dpverify.trusted.theories.curves.moved_density import Density
from dpverify.trusted.theories.curves.unimodal import in_pieces

F = Fraction
POINTS = [F(n, 8) + F(1, 16) for n in range(-40, 40)]


def reading(text, lower=None, upper=None):
    return in_pieces(Translation(parse(text), tuple(None if end is None else parse(end) for end in (lower, upper))))


@pytest.mark.parametrize(
    "density",
    [reading("exp(-abs(z))"), reading("1", "-1", "2"), reading("exp(-z)", "0"), reading("exp(-z**2)"), reading("exp(z)", None, "0")],
)
def test_cells_hold_every_point_where_the_first_density_may_be_the_greater_one(density):
    places = [unimodal.ends(part) for part in density.parts]
    cells = list(losses.whole_cells(density))

    def piece_at(x):
        return next((i for i, (low, high) in enumerate(places) if low < rational(x) and rational(x) < high), None)

    for x in POINTS:
        around = [cell for cell in cells if cell.lower < rational(x) and rational(x) < cell.upper]
        here, there = piece_at(x), piece_at(x - 1)
        assert [(cell.here, cell.there) for cell in around] in ([(here, there)], [])
        assert all(cell.here is not None and cell.there is not None for cell in around)
        assert around or here is None or there is None or (x > 1 and not density.concave)


def test_what_is_said_of_a_density_over_a_ball_is_above_it_and_near_it():
    with precision(64):
        for density, f in ((reading("exp(-abs(z))"), lambda x: (-abs(x)).exp()), (reading("exp(-z**2)"), lambda x: (-x * x).exp())):
            known = Density(density)
            for low, high in ((-2.0, -1.0), (-0.5, 0.25), (0.5, 0.75), (-1.0, 3.0)):
                most, ball = max(float(f(arb(low + k * (high - low) / 16))) for k in range(17)), arb(low).union(arb(high))
                assert most <= float(known.value(ball, ball).abs_upper()) * (1 + 1e-9)
                assert float(known.value(arb(low), arb(low)).abs_upper()) < float(f(arb(low))) * (1 + 1e-9)
        outside = Density(reading("1", "-1", "2"))
        for low, high, most in ((3, 4, 0), (-3, -2, 0), (1, 3, 1)):
            assert 0.999 * most <= outside.value(arb(low), arb(high)).abs_upper() <= 1.001 * most


def test_all_of_a_mass_lies_below_infinity_and_what_lies_before_a_moved_support_is_alone():
    with precision(64):
        for density, alone in (
            (reading("exp(-abs(z))"), 0.0),
            (reading("exp(-z)", "0"), 1 - math.exp(-1)),
            (reading("1", "-1", "3"), 0.25),
        ):
            known = Density(density)
            assert known.below(arb("inf")) is known.total and known.below(arb("-inf")) == 0
            assert float(known.alone(arb(1)).mid()) == pytest.approx(alone, abs=1e-15)


def test_beyond_the_first_cut_the_loss_goes_one_way():
    with precision(64):
        loss = losses.Loss(reading("exp(-abs(z))*(1 + abs(z))"))
        first = next(losses.whole_cells(loss.density))
        tail = loss.tail(first, F(-16))
        assert tail.upper == -16 and tail.direction == (-1 if loss(first, arb(-40)).v > loss(first, arb(-20)).v else 1)


def test_beyond_the_first_cut_the_loss_falls_where_the_exponent_is_convex_and_rises_where_it_is_concave(monkeypatch):
    with precision(64):
        for text, direction in (("exp(-z**2)", -1), ("1/(1 + z**2)", 1)):
            loss = losses.Loss(reading(text))
            first = next(losses.whole_cells(loss.density))
            assert loss.tail(first, F(-16)).direction == direction
        bend = SimpleNamespace(k=SimpleNamespace(lo=arb(-1), hi=arb(1)))
        monkeypatch.setattr(losses, "end_jet", lambda *_: SimpleNamespace(d1=bend, d2=bend))
        with pytest.raises(Undecided, match="convex or concave"):
            loss.tail(first, F(-16))


def test_before_the_mode_the_loss_may_turn_where_the_density_is_not_log_concave():
    with precision(64):
        for text, concave in (("1/(1 + z**2)", False), ("exp(-z**2)", True)):
            loss = losses.Loss(unimodal.read(Translation(parse(text)), unimodal.Hints()))
            cells = [losses.Cell(arb(low), arb(2), 0, 0, -1) for low in ("-inf", -1, 0, 1)]
            for cell in cells[:2]:
                found = list(
                    loss.monotone(
                        replace(cell, upper=arb(0)), unimodal.Hints(turns=(F(-16), F(-8), F(-4), *(F(n, 8) for n in range(-24, 0)), F(5)))
                    )
                )
                assert (len(found) == 1) == concave and any(part.direction for part in found)
                assert found[0].lower is cell.lower and all(left.upper is right.lower for left, right in pairwise(found))
                for part in found:
                    low, high = part.lower.max(arb(-100)), part.upper
                    seen = [loss(part, (low + (high - low) * k / 8).mid()).v for k in range(9)]
                    assert not any((b - a) * part.direction < 0 for a, b in pairwise(seen))
            assert all(list(loss.monotone(cell, unimodal.Hints())) == [cell] for cell in cells[2:])
            if not concave:
                with pytest.raises(Undecided, match="not told"):
                    list(loss.monotone(cells[0], unimodal.Hints(turns=(F(5),))))


def test_where_a_direction_is_not_known_the_loss_is_bounded_by_how_the_exponent_falls():
    with precision(64):
        loss = losses.Loss(unimodal.read(Translation(parse("1/(1 + z**2)")), unimodal.Hints()))
        for low, high in ((-4, -1), (-1, 0), (-3, -2)):
            least, most = loss.range(losses.Cell(arb(low), arb(high), 0, 0, 0), arb(low), arb(high))
            points = [low + (high - low) * k / 16 for k in range(17)]
            assert all(float(least) <= math.log((1 + (z - 1) ** 2) / (1 + z * z)) <= float(most) for z in points)


def test_a_bound_of_a_log_concave_density_holds_wherever_its_mode_is():
    density = unimodal.read(Translation(parse("z*exp(-z)"), (parse("0"), None)), unimodal.Hints())
    with precision(64):
        assert density.concave and not Density(density).value(arb(0), arb(2)).abs_upper() < 0.36  # 1/e at 1


@pytest.mark.parametrize(
    ("linear", "others", "within"),
    [
        ("0", [0.5, -0.5], True),
        ("0", [2], False),
        ("0", [-2], False),
        ("0", [0.5, 2], False),
        ("0", [2, 0.5], False),
        ("0", [0.5, -2], False),
        ("1/2", [0.5], True),
        ("1/2", [0.6], False),
        ("-1/2", [-0.6], False),
        ("0", [float("nan"), 0.5], False),
        ("0", [0.5, float("nan")], False),
    ],
)
def test_all_slopes_between_the_others_are_within_the_bound(linear, others, within):
    assert slopes._slopes_within(parse(linear), [arb(x) for x in others], ONE) == within


@pytest.mark.parametrize(
    "text",
    [
        "z**3 - z",
        "z**2",
        "-z**2",
        "exp(z)",
        "-exp(z)",
        "z**4 - 2*z**2",
        "2*z**2 - z**4",
        "(z - 5)**4 - 2*(z - 5)**2",
        "2*(z - 5)**2 - (z - 5)**4",
        "1/(1 + z**2)",
    ],
)
def test_monotone_pieces_cover_all_between_the_cuts_and_go_the_way_they_say(text):
    f = BallProgram(parse(text), "z")
    with precision(64):
        for cuts in ([F(n, 3) for n in range(-6, 7)], [F(-3, 2), F(7, 4)], [F(-2), F(1, 8), F(2)], [F(17, 5), F(34, 5)]):
            _check_rises(f, list(map(rational, cuts)), fine=len(cuts) > 3)


def _check_rises(f, cuts, fine):
    found = monotone.rises(f, cuts)
    assert found[0].low.overlaps(cuts[0]) and found[-1].high.overlaps(cuts[-1])
    assert all(left.high.overlaps(right.low) and left.direction != right.direction for left, right in pairwise(found) if left.direction)
    assert not fine or {rise.direction for rise in found} - {0}
    for rise in found:
        points = [rise.low.upper() + (rise.high.lower() - rise.low.upper()) * k / 8 for k in range(9)]
        values = [f(x.mid()).v for x in points]
        assert not any((b - a) * rise.direction < 0 for a, b in pairwise(values))


@pytest.mark.parametrize(
    ("left", "right", "convex"),
    [
        ("exp(z)", "exp(-z)", True),
        ("exp(-z)", "exp(z)", False),  # bends downward
        ("exp(z)", "exp(-z)/2", False),  # leaps
        ("exp(z)", "exp(-sqrt(z))", False),  # the right piece is not convex
        ("exp(-sqrt(-z))", "exp(-z)", False),
        ("exp(-z**2)", "exp(-z**2/2)", True),
        ("exp(z)", "(1 + z)**(-2)", False),
        ("(1 - z)**(-2)", "exp(-z)", False),
    ],
)
def test_pieces_make_a_concave_logarithm_where_each_does_and_they_join_and_bend(left, right, convex):
    parts = (Piece(parse(left), "z", None, F(0)), Piece(parse(right), "z", F(0), None))
    assert shapes.convex_pieces(parts) == convex


def test_pieces_join_and_bend_where_they_meet_and_not_elsewhere():
    for slope, convex in (("1", False), ("2", True), ("3", True)):
        right = Piece(parse(f"exp(-1 - {slope}*(z - 1))"), "z", F(1), None)
        assert shapes.convex_pieces((Piece(parse("exp(-z**2)"), "z", None, F(1)), right)) == convex


def test_a_slope_is_looked_at_on_all_of_a_piece():
    dip, later = "z**3/3 - 4*z", "z - z**2/64"  # turns at -2 and 2; turns at 32
    with precision(64):
        assert not shapes.monotone(Piece(parse(f"exp(-({dip}))"), "z", F(-64), None), False, (F(-32),))
        assert not shapes.monotone(Piece(parse(f"exp({dip})"), "z", None, F(64)), True, (F(32),))
        assert shapes.monotone(Piece(parse(f"exp(-({dip}))"), "z", F(2), None), False, (F(4),))
        assert not shapes.monotone(Piece(parse(f"exp(-({later}))"), "z", F(0), None), False, tuple(F(n) for n in range(1, 17)))
        assert shapes.monotone(Piece(parse(f"exp(-({later}))"), "z", F(0), F(16)), False, ())
        assert not shapes.monotone(Piece(parse(f"exp(-({later}))"), "z", F(0), F(64)), False, ())


@pytest.mark.parametrize(
    ("text", "low", "high", "cuts", "direction"),
    [
        ("exp(-z)", 0, None, (), -1),
        ("exp(z)", None, 0, (), 1),
        ("exp(-z**2/2)", 0, None, (), -1),
        ("exp(-z**2/2)", None, 0, (), 1),
        ("exp(-z)*(1 + z**2/8)", 0, None, tuple(F(n, 4) for n in range(1, 80)), -1),
        ("exp(z)*(1 + z**2/8)", None, 0, tuple(F(-n, 4) for n in range(79, 0, -1)), 1),
        ("exp(-z)*(1 + 2*z**2)", 0, None, tuple(F(n, 4) for n in range(1, 80)), 0),
        ("exp(-z)*(1 + z**2/8)", 0, None, (), None),  # without cuts not known
        ("exp(-(z - 1)**2)", 0, None, (), 0),
    ],
)
def test_a_density_falls_or_rises_on_a_piece_as_its_slope_says(text, low, high, cuts, direction):
    piece = Piece(parse(text), "z", None if low is None else F(low), None if high is None else F(high))
    with precision(64):
        found = [shapes.monotone(piece, rises, cuts) for rises in (False, True)]
    assert found[0] <= (direction != 1 and direction != 0) and found[1] <= (direction != -1 and direction != 0)
    if direction in (-1, 1):
        assert found == [direction < 0, direction > 0]
    assert not shapes.monotone(Piece(parse(text), "z", None, None), False, ())


def test_a_bounded_slope_is_shown_on_cells_and_ends_that_cover_the_line():
    h = parse("sqrt(1 + z**2)")
    with precision(64):
        assert slopes.told(h, "z", False, {"slope": "1", "cuts": ["-64", "0", "64"]}, "rule") == parse("1")
        for forged, why in (
            ({"slope": "1/2", "cuts": ["-64", "0", "64"]}, "not certainly within"),
            ({"slope": "c", "cuts": ["-64", "0", "64"]}, "free symbols"),
            ({"slope": "1", "cuts": ["-64", "64", "0"]}, "must rise"),
            ({"slope": "1", "cuts": ["-64", "32", "0", "64"]}, "must rise"),
            ({"slope": "1", "cuts": ["-64", "-32"]}, "must rise"),
            ({"slope": "1", "cuts": ["32", "64"]}, "must rise"),
            ({"slope": "1", "cuts": ["64"]}, "must rise"),
            ({"slope": "1", "cuts": []}, "must rise"),
        ):
            with pytest.raises(Rejected, match=why):
                slopes.told(h, "z", False, forged, "rule")
        for wrong in ({"slope": "1"}, {"cuts": ["0", "1"]}, {"slope": "1 +", "cuts": ["0", "1"]}, {"slope": "1", "cuts": None}):
            with pytest.raises((DpverifyError, *STUMBLES)):
                slopes.told(h, "z", False, wrong, "rule")
        with pytest.raises(Rejected, match="on this end"):  # the slope is sqrt(2) at the last cut, and tends to 2
            slopes.told(parse("2*sqrt(4096 + z**2)"), "z", False, {"slope": "3/2", "cuts": ["-64", "0", "64"]}, "rule")
        assert slopes.told(parse("abs(z)"), "z", False, {"slope": "1", "cuts": ["-64", "0", "64"]}, "rule") == parse("1")
        assert slopes.told(parse("r"), "r", True, {"slope": "1", "cuts": ["0", "64"]}, "rule") == parse("1")
        with pytest.raises(Rejected, match="must rise from 0"):
            slopes.told(parse("r"), "r", True, {"slope": "1", "cuts": ["1", "64"]}, "rule")


@pytest.mark.parametrize("h", ["abs(z) + floor(min(max(z, 0), 1))", "abs(z) + abs(z - 1)/2", "z**2", "sqrt(abs(z))"])
def test_a_slope_that_is_too_steep_somewhere_or_a_leap_is_refused(h):
    with precision(64), pytest.raises((Rejected, Undecided)):
        slopes.told(parse(h), "z", False, {"slope": "1", "cuts": ["-64", "0", "1", "64"]}, "rule")

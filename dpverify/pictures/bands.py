"""Three bands of numbers that a plot of a claim needs: delta(epsilon), the trade-off curve, epsilon after k compositions.

The search plans one privacy curve of the claim's mechanism; the curve is built and evaluated by the code below the trust line, so that
every number of a band is a bound that is proved: decimals rounded outward, None where a side is not known. What varies (epsilon in nats,
the type I error, the number of compositions) is exact as written. Nothing depends on the time or the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.pictures.chords import cut, remembered, sketch
from dpverify.pictures.trade_offs import FINER, TradeOff
from dpverify.search import premises
from dpverify.search.composition import loss_distribution as losses
from dpverify.search.composition import plans, privacy_profile
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.runs import Run, merged
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.assumptions import SIDES, of_a_bound, of_a_verdict
from dpverify.trusted.kernel.balls import constant, exact, precision, rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, format_expr, num
from dpverify.trusted.kernel.model import ONE_WAY, Claim, Combinator, Compose, Group, Lipschitz, Part, PostProcess, repeated
from dpverify.trusted.theories.composition.rules import (
    bounded_range,
    gaussian_composition,
    group_privacy,
    laplace_sums,
    loss_distribution,
    parallel_composition,
    poisson_subsampling,
    post_processing,
    renyi_composition,
    sampling_without_replacement,
    stated_guarantee,
)
from dpverify.trusted.theories.composition.rules import several_guarantees as guarantees
from dpverify.trusted.theories.curves.rules import every_shift, gaussian, laplace, lattice, line, optimal_composition, pure_guarantee
from dpverify.trusted.theories.curves.rules import finite_curve as finite
from dpverify.trusted.theories.curves.rules import lipschitz_exponent as gauge

DIGITS: Final = 10
"""Significant digits of the bounds."""
BITS: Final = 64
"""Working precision of profiles."""
PLAN_DIGITS: Final = 4
USUAL_DELTA: Final = Num(Fraction(1, 10**6))
"""The delta of a composition's epsilon where none above 0 is claimed."""
STEPS: Final = 64
"""About as many epsilons a band of delta has."""
PROMPT: Final = frozenset(
    rule.NAME
    for rule in (
        bounded_range, finite, gauge, gaussian_composition, group_privacy, guarantees, laplace, laplace_sums, lattice, loss_distribution,
        neighbours,
        gaussian, parallel_composition, poisson_subsampling, post_processing, optimal_composition, pure_guarantee, renyi_composition,
        sampling_without_replacement, stated_guarantee,
    )
)  # fmt: skip
"""Rules whose curves take less than a millisecond a point. Others are evaluated at few points, and enclosed in between by chords."""
FEW: Final = 16
"""About how many points of a slow curve are evaluated; twice as many of noise on the line, half as many at every shift."""
QUICK: Final = (gaussian.NAME, laplace.NAME, finite.NAME, lattice.NAME)
"""Rules whose curves are closed forms or short sums."""
CELLS: Final = 1 << 11
"""Losses of a part on the grid of a composition; half as many, or a sixteenth, on the one for several numbers of compositions."""
ALPHAS: Final = tuple(Fraction(n, 1000) for n in (1, 5, 10, 20, *range(50, 1001, 50)))
"""Type I errors of a trade-off curve, every fourth of them where it takes long; at 0 it is not known."""
PLOTTED: Final = 2.0**-20
"""The width of a trade-off curve in a plot, which nobody sees."""
PLOTTED_DIGITS: Final = 6
"""Of an epsilon in a plot."""
MOST_COUNTS: Final = 1024
"""Compositions of a mechanism by itself."""
SLOW_BITS: Final = 40
"""Working precision of curves that take long."""
_FURTHEST: Final = 2**13
_NEGLIGIBLE: Final = 40
"""delta is negligible below 2^-40, or below 2^-20 where a curve is evaluated with few bits."""
_NEAREST: Final = Fraction(1, 2**20)
_CLAIMED_DIGITS: Final = 12
_GRID_DIGITS: Final = 2
_FAR_OUT: Final = 16
_NOTHING_BITS: Final = 200
_MOST_LAPLACE: Final = 256
_MOST_OF_MANY: Final = 16
_MOST_PLACES: Final = 60
_ROUNDS: Final = 80
_LEAST_LOG: Final = -32.0


@dataclass(frozen=True, slots=True)
class Band:
    """Bounds on one quantity at some values of another: lower[i] <= truth <= upper[i] at x[i].

    quantity: what is bounded; variable: what x is. x: exact decimals (a fraction "a/b" only where it was given and no decimal is exact).
    lower, upper: decimals rounded outward, None where a side is not known. exact: for each x whether both bounds enclose the tight value
    by arithmetic alone, else they are bounds by different theorems or by a grid. at: what is held fixed, as text. rules, assumed: what
    this rests on.
    """

    quantity: str
    variable: str
    x: tuple[str, ...]
    lower: tuple[str | None, ...]
    upper: tuple[str | None, ...]
    exact: tuple[bool, ...]
    at: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object with a list for each of the columns."""
        return {
            "quantity": self.quantity,
            "variable": self.variable,
            "at": dict(self.at),
            "x": list(self.x),
            "lower": list(self.lower),
            "upper": list(self.upper),
            "exact": list(self.exact),
            "rules": list(self.rules),
            "assumed": list(self.assumed),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Band:
        """The band that `to_json` gave. Raises KeyError, TypeError or ValueError where the data is something else."""
        columns = [tuple(data[name]) for name in ("x", "lower", "upper", "exact", "rules", "assumed")]
        if len({len(column) for column in columns[:4]}) != 1:
            raise ValueError("the columns of a band are of different lengths.")
        for side in columns[1:3]:
            any(Fraction(value) for value in side if value not in (None, "inf"))
        x, lower, upper, exact, rules, assumed = columns
        return Band(str(data["quantity"]), str(data["variable"]), x, lower, upper, exact, dict(data["at"]), rules, assumed)


@dataclass(frozen=True, slots=True)
class Bands:
    """The bands of claims that differ only in what they claim, by kind: "delta", "trade_off", "composition"; missing: why one is not there.

    names: of the claims; those of a file have one each.
    """

    names: tuple[str, ...]
    bands: Mapping[str, Band]
    missing: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        made = {kind: band.to_json() for kind, band in self.bands.items()}
        return {"names": list(self.names), "bands": made, "missing": dict(self.missing)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Bands:
        """The bands that `to_json` gave. Raises AttributeError, KeyError, TypeError or ValueError where the data is something else."""
        made = {str(kind): Band.from_json(band) for kind, band in data["bands"].items()}
        return Bands(tuple(data["names"]), made, {str(kind): str(why) for kind, why in data["missing"].items()})


@dataclass(frozen=True, slots=True)
class Planned:
    """A claim with its curve. evidence: of the curve, a rule for every node; reach: an epsilon beyond which nothing much happens.

    evaluated: the epsilons at which a slow curve was evaluated, None where it is at every one.
    """

    claim: Claim
    runs: tuple[Run, ...]
    evidence: Mapping[str, Any]
    curve: Curve
    reach: Fraction
    evaluated: frozenset[Fraction] | None


def delta_band(claim: Claim, epsilons: Iterable[Fraction | int | str] | None = None, *, planned: Planned | None = None) -> Band:
    """delta(epsilon) at these epsilons, or at some fifty from 0 to where it is negligible, with the claimed one.

    A claimed epsilon that no short decimal is exactly counts as the two decimals of 12 digits on either side of it. Raises Undecided
    where the mechanism has no curve, or an epsilon is negative.
    """
    planned = planned or plan(claim)
    stated = [claim.epsilon] if claim.epsilon is not None else []
    points = _epsilons(planned, stated) if epsilons is None else sorted({Fraction(at) for at in epsilons})
    if any(at < 0 for at in points):
        raise Undecided("a negative epsilon; delta is asked for at epsilons of at least 0.")
    curve = planned.curve
    with precision(BITS):
        upper = [_value(curve.upper, at) for at in points]
        lower = upper if curve.exact else [_value(curve.lower, at) for at in points]
    return Band(
        "delta",
        "epsilon",
        tuple(map(_written, points)),
        tuple(_decimal(ball, -1) for ball in lower),
        tuple(_decimal(ball, 1) for ball in upper),
        tuple(curve.exact and (planned.evaluated is None or at in planned.evaluated) for at in points),
        rules=curve.rules,
        assumed=_taken(claim, (*curve.assumed, *curve.below)),
    )


def _taken(claim: Claim, own: Sequence[str]) -> tuple[str, ...]:
    """What a band takes for granted: its upper side, then its lower side. own: what its curves say themselves."""
    lines = [(side, of_a_bound(claim, Bound(side, ONE, quantity="epsilon"), own)) for side in SIDES]
    return of_a_verdict("PROVED", lines)


def trade_off_band(
    claim: Claim, alphas: Iterable[Fraction | int | str] | None = None, *, planned: Planned | None = None, width: float = 0.0
) -> Band:
    """The least type II error of any test between two neighbours, at these type I errors in (0, 1].

    Below lower no test comes, for whichever neighbours; upper some test between some neighbours attains. width: between the two of a curve
    that is known exactly; 0 for as little as may be. Raises Undecided where the mechanism has no curve, or is a selection in one order of
    the data alone, or an error is not in (0, 1].
    """
    _require_both_orders(claim)
    planned = planned or plan(claim)
    usual = ALPHAS[::4] if laplace_sums.NAME in planned.curve.rules else ALPHAS
    points = list(usual) if alphas is None else sorted({Fraction(at) for at in alphas})
    if any(not 0 < at <= 1 for at in points):
        raise Undecided("a type I error is a probability above 0.")
    curve = planned.curve
    with precision(BITS // FINER):  # a supremum takes more
        sketched = planned.evaluated is not None
        looked = _apart(planned) if sketched else _multiples(planned.reach, STEPS if alphas is None else FEW)
        lower = _least_errors(curve.upper, points, looked, width, sketched)
        upper = lower if curve.exact else _least_errors(curve.lower, points, looked, width, sketched)
    return Band(
        "type II error",
        "type I error",
        tuple(map(_written, points)),
        tuple(_decimal(ball, -1) for ball in lower),
        tuple(_decimal(ball, 1) for ball in upper),
        (curve.exact and planned.evaluated is None,) * len(points),
        rules=curve.rules,
        assumed=_taken(claim, (*curve.assumed, *curve.below)),
    )


def composition_band(claim: Claim, counts: Iterable[int] | None = None, *, planned: Planned | None = None, digits: int = DIGITS) -> Band:
    """epsilon at the claimed delta (at 1e-6 where none above 0 is claimed) after k adaptive compositions, to so many digits.

    Of a claim about one mechanism run `times` times, k counts single runs, up to twice as many; of all others it counts the claimed
    mechanism as a whole. By the exact theorems where they apply, else by loss distributions on a coarse grid. Raises Undecided where the
    mechanism has no curve, or is a selection in one order of the data alone.
    """
    _require_both_orders(claim)
    planned = planned or plan(claim)
    composer = _Composer.of(planned)
    points = composer.counts() if counts is None else sorted(set(counts))
    if any(count < 1 for count in points):
        raise Undecided("fewer than one composition.")
    with precision(BITS):
        goal = constant(composer.delta)
        curves = [composer.curve(count, max(points)) for count in points]
        lower, upper = _both_sides(curves, goal, digits, planned.reach / 4)
        known = [curve.exact and not _is_slow(curve) for curve in curves]
    return Band(
        "epsilon",
        "compositions",
        tuple(map(str, points)),
        tuple(lower),
        tuple(upper),
        tuple(known),
        at={"delta": _short(composer.delta)},
        rules=tuple(dict.fromkeys(rule for curve in curves for rule in curve.rules)),
        assumed=_taken(claim, [text for curve in curves for text in (*curve.assumed, *curve.below)]),
    )


def _require_both_orders(claim: Claim) -> None:
    """Raises Undecided for a selection in one order of the data alone: below epsilon 0 a profile tells of the other order."""
    if getattr(claim.mechanism, "neighbours", "") in ONE_WAY:
        raise Undecided("the guarantee is for one order of the data alone; trade-offs and compositions ask for both.")


def takes_long(claims: Sequence[Claim]) -> bool:
    """Whether all three bands are drawn of claims about the same mechanism at the same sensitivity."""
    main = _main(claims)
    return not main.order and (main.delta != ZERO or isinstance(main.mechanism, Combinator))


def _main(claims: Sequence[Claim]) -> Claim:
    return next((claim for claim in claims if claim.delta != ZERO), claims[0])


def bands(claims: Sequence[Claim], evidence: Mapping[str, Any] | None = None) -> Bands | None:
    """What a report shows of claims about the same mechanism at the same sensitivity; None where that is nothing.

    All three bands where a delta above 0 is claimed, or asked for, or the mechanism is made of parts, at the first such delta; delta alone
    for other mechanisms whose curve is a closed form or a short sum. Nothing of claims about one order of neighbours: a curve is of the
    worse of both. evidence: of the curve, where it is known.
    """
    if claims[0].order:
        return None
    names = tuple(claim.name for claim in claims)
    claimed = [claim.epsilon for claim in claims if claim.epsilon is not None]
    main = _main(claims)
    if not takes_long(claims):
        planned = _planned_quickly(main)
        return None if planned is None else Bands(names, {"delta": delta_band(main, _epsilons(planned, claimed), planned=planned)})
    try:
        planned = plan(main, evidence)
    except DpverifyError as error:
        return Bands(names, {}, dict.fromkeys(("delta", "trade_off", "composition"), str(error)))
    drawn: dict[str, Band] = {}
    missing: dict[str, str] = {}
    makers: dict[str, Callable[[], Band]] = {
        "delta": lambda: delta_band(main, _epsilons(planned, claimed), planned=planned),
        "trade_off": lambda: trade_off_band(main, planned=planned, width=PLOTTED),
        "composition": lambda: composition_band(main, planned=planned, digits=PLOTTED_DIGITS),
    }
    for kind, make in makers.items():
        try:
            drawn[kind] = make()
        except DpverifyError as error:
            missing[kind] = str(error)
    return Bands(names, drawn, missing)


def _planned_quickly(claim: Claim) -> Planned | None:
    """A plan by the rules that take no search and no time; None where they do not apply."""
    for name in QUICK:
        try:
            return plan(claim, {"rule": name})
        except DpverifyError:
            continue
    return None


def plan(claim: Claim, evidence: Mapping[str, Any] | None = None) -> Planned:
    """The curve of a claim's mechanism at its sensitivity, built once for all bands.

    evidence: of the curve, as in a certificate; by default the search looks for it. Raises Undecided or Rejected where there is none.
    """
    if claim.domains:
        raise Undecided("curves want a value for every parameter; claim one value at a time.")
    if claim.order:
        raise Undecided("a curve is of the worse of both orders of neighbours; ask for it without an order.")
    evidence_used = _searched(claim) if evidence is None else evidence
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    runs = merged(root)
    with precision(BITS):
        whole = evidence_used.get("rule") == neighbours.NAME
        curve = _remembering(plans.curve(Run(root), dict(evidence_used))) if whole else _built(Run(root), evidence_used)
        if neighbours.undecided(root) and evidence_used.get("rule") != gaussian_composition.NAME:
            runs = (Run(root),)  # parts that share their neighbours are composed as one
        if not _is_slow(curve):
            return Planned(claim, runs, evidence_used, curve, _reach(curve, claim.epsilon), None)
    with precision(SLOW_BITS):
        return _sketched(claim, runs, evidence_used, curve)


def _searched(claim: Claim) -> Mapping[str, Any]:
    """Evidence for the curve, aimed at what is claimed."""
    open_pure = claim.epsilon is None and claim.delta in (None, ZERO)
    aimed, known = replace(claim, delta=USUAL_DELTA) if open_pure else claim, premises(PLAN_DIGITS)
    return privacy_profile.drawn(aimed, PLAN_DIGITS, lambda single: known(single, "upper"))


def _built(run: Run, evidence: Mapping[str, Any]) -> Curve:
    """The curve by its evidence, a composition by loss distributions on a grid of no more than CELLS cells a part."""
    if evidence.get("rule") == loss_distribution.NAME:
        evidence = {**evidence, **{key: losses.coarser(evidence[key], CELLS) for key in ("grid", "reverse") if key in evidence}}
    return _remembering(plans.curve(run, dict(evidence)))


def _power_of_two(value: Fraction) -> Fraction:
    """One that is about as great."""
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())


def _remembering(curve: Curve) -> Curve:
    return _mapped(curve, remembered)


def _mapped(curve: Curve, change: Callable[[Pair], Pair]) -> Curve:
    """The curve with its pairs changed, still one pair where it was one."""
    upper = None if curve.upper is None else change(curve.upper)
    lower = upper if curve.exact else None if curve.lower is None else change(curve.lower)
    return replace(curve, upper=upper, lower=lower)


# -- where to evaluate ---------------------------------------------------------------------------------


def _is_slow(curve: Curve) -> bool:
    """Whether a curve takes so long that it is evaluated at few points; loss distributions are quick whatever their parts."""
    return loss_distribution.NAME not in curve.rules and not PROMPT.issuperset(curve.rules)


def _sketched(claim: Claim, runs: tuple[Run, ...], evidence: Mapping[str, Any], curve: Curve) -> Planned:
    """The plan with a slow curve evaluated at few points once and for all."""
    reach = _reach(curve, claim.epsilon)
    least = FEW // 2 if every_shift.NAME in curve.rules else FEW
    points = set(_multiples(reach, 2 * FEW if set(curve.rules) <= PROMPT | {line.NAME} else least))
    if claim.epsilon is not None:
        points |= {exact(ball) for ball in (constant(claim.epsilon).lower(), constant(claim.epsilon).upper()) if ball >= 0}
    balls = [rational(at) for at in points]
    known = frozenset(exact(ball) for ball in balls if ball.is_exact())
    return Planned(claim, runs, evidence, _mapped(curve, lambda pair: sketch(pair, balls)), reach, known)


def _reach(curve: Curve, epsilon: Expr | None) -> Fraction:
    """A power of two at which delta is as good as gone; about the claimed epsilon, or 8, where it never is."""
    pair = curve.upper or curve.lower
    if pair is None:
        raise Undecided("nothing is known of the privacy curve.")
    claimed = Fraction(0) if epsilon is None else exact(constant(epsilon).upper())
    reach = max(_power_of_two(claimed), _NEAREST) if claimed > 0 else Fraction(1)
    if _is_left(pair, Fraction(_FURTHEST)):
        return max(Fraction(8), 2 * reach)
    while _is_left(pair, reach):
        reach *= 2
    while reach > _NEAREST and not _is_left(pair, reach / 2):
        reach /= 2
    return reach


def _is_left(pair: Pair, epsilon: Fraction) -> bool:
    """Whether delta is not certainly negligible; not where it has no enclosure."""
    try:
        return not pair.worst(rational(epsilon)) <= arb(2) ** -(_NEGLIGIBLE if ctx.prec >= BITS else _NEGLIGIBLE // 2)
    except Undecided:
        return False


def _multiples(reach: Fraction, steps: int) -> list[Fraction]:
    return [i * reach / steps for i in range(steps + 1)]


def _apart(planned: Planned) -> list[Fraction]:
    """The epsilons at which a slow curve was evaluated, but one of two that are so close that no chord leads from one to the other."""
    kept: list[Fraction] = []
    for at in sorted(planned.evaluated or ()):
        if not kept or at - kept[-1] > planned.reach / STEPS**2:
            kept.append(at)
    return kept


def _epsilons(planned: Planned, claimed: Iterable[Expr]) -> list[Fraction]:
    points = set(_multiples(planned.reach, STEPS))
    for epsilon in claimed:
        points |= {max(Fraction(text), Fraction(0)) for text in decimal_bounds(epsilon, _CLAIMED_DIGITS)}
    return sorted(points)


# -- values --------------------------------------------------------------------------------------------


def _value(pair: Pair | None, epsilon: Fraction) -> arb | None:
    """delta of the worse order, within [0, 1]; None where it has no enclosure."""
    if pair is None:
        return None
    try:
        value = pair.worst(rational(epsilon))
    except Undecided:
        return None
    return value.max(arb(0)).min(arb(1)) if value.is_finite() else None


def _least_errors(
    pair: Pair | None, alphas: Sequence[Fraction], looked: Sequence[Fraction], width: float, sketched: bool
) -> list[arb | None]:
    """The type II errors of the best tests between the two distributions of a pair, whichever is the null hypothesis.

    looked: epsilons at which the profiles are known, or are looked at for all errors. sketched: whether they are known nowhere else.
    """
    if pair is None:
        return [None] * len(alphas)
    try:
        epsilons = [*(-at for at in looked[:0:-1]), *looked]
        ways = (pair,) if pair.forward is pair.backward else (pair, pair.reversed)
        orders = [TradeOff(order, epsilons, sketched=sketched) for order in ways]
    except Undecided:
        return [None] * len(alphas)
    return [_least_error(orders, alpha, width) for alpha in alphas]


def _least_error(orders: Sequence[TradeOff], alpha: Fraction, width: float) -> arb | None:
    try:
        first, *rest = [order.error(alpha, width) for order in orders]
    except Undecided:
        return None
    for other in rest:
        first = first.min(other)
    return first


# -- epsilon of a delta --------------------------------------------------------------------------------


def _epsilon(pair: Pair | None, delta: arb, side: int, digits: int, about: Fraction) -> tuple[str | None, Fraction]:
    """The decimal nearest to where the profile passes delta that is certainly on one side of it, and about where that is.

    None where there is none in reach. digits: the most that it has. about: where to look first.
    """
    if pair is None:
        return None, about

    def holds(epsilon: Fraction) -> bool:
        value = pair.worst(rational(epsilon))
        return bool(value <= delta) if side > 0 else bool(value > delta)

    def excess(epsilon: Fraction) -> float:
        value = pair.worst(rational(epsilon))
        return _log((value.upper() if side > 0 else value.lower()) / delta)

    try:
        if holds(Fraction(0)) == (side > 0):
            return "0", about
        root = _crossing(excess, about, digits)
        for count in range(digits, 0, -1):
            near = decimal_bounds(Num(root * (1 + side * Fraction(1, 10**count))), count)[side > 0]
            if holds(Fraction(near)):
                return near, root
    except Undecided:
        return None, about
    return None if side > 0 else "0", root


def _both_sides(curves: Iterable[Curve], delta: arb, digits: int, about: Fraction) -> tuple[list[str | None], list[str | None]]:
    """Of each curve, the decimals on both sides of where it passes delta. about: where to look first; then about the place before."""
    lower, upper = list[str | None](), list[str | None]()
    for curve in curves:
        above, about = _epsilon(curve.upper, delta, 1, digits, about)
        below, about = _epsilon(curve.lower, delta, -1, digits, about)
        lower.append(below)
        upper.append(above)
    return lower, upper


def _log(ball: arb) -> float:
    """The logarithm of about what a ball holds, as far as floats reach."""
    logarithm = ball.mid().log()
    return max(float(logarithm.mid()), _LEAST_LOG) if logarithm.is_finite() else _LEAST_LOG


def _crossing(excess: Callable[[Fraction], float], about: Fraction, digits: int) -> Fraction:
    """About where a falling function passes 0, by bracketing and the method of Illinois; _FURTHEST where it does not before."""
    low, high = Fraction(0), about
    at_low, at_high = excess(low), excess(high)
    while at_high > 0:
        if high >= _FURTHEST:
            return high
        low, at_low, high = high, at_high, 2 * high
        at_high = excess(high)
    side = 0
    for _ in range(_ROUNDS):
        if high - low <= high / 10 ** (digits + 1) or at_high == 0:
            break
        weight = min(max(at_low / (at_low - at_high), 1e-3), 1 - 1e-3)
        middle = low + (high - low) * Fraction(round(weight * 2**32), 2**32)
        value = excess(middle)
        if value > 0:
            low, at_low, at_high, side = middle, value, at_high / 2 if side == 1 else at_high, 1
        else:
            high, at_high, at_low, side = middle, value, at_low / 2 if side == -1 else at_low, -1
    return high


# -- compositions --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Composer:
    """Curves of a mechanism composed with itself. unit: what is counted; times: how often the claim runs it."""

    planned: Planned
    unit: tuple[Run, ...]
    times: int
    delta: Expr
    _parts: list[Curve] | None = None
    _grids: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, planned: Planned) -> _Composer:
        runs, stated = planned.runs, planned.claim.delta
        delta = stated if stated is not None and constant(stated) > 0 else USUAL_DELTA
        if len(runs) == 1:
            return cls(planned, (replace(runs[0], times=1),), runs[0].times, delta)
        return cls(planned, runs, 1, delta)

    def counts(self) -> list[int]:
        """1, 2, 4, ... where a theorem gives the composition, else 1, 4, 16, ..."""
        quick = _by_theorem(self.unit, 2) is not None
        most = 2 * self.times if self.times > 1 else MOST_COUNTS if quick or len(self.unit) == 1 else _MOST_OF_MANY
        powers = [2**i for i in range(0, most.bit_length(), 1 if quick else 2)]
        return sorted({*powers, self.times, most})

    def curve(self, count: int, most: int) -> Curve:
        """After so many compositions; nothing where that is not known. most: the most that will be asked for."""
        try:
            if count == self.times:
                return self.planned.curve
            return _by_theorem(self.unit, count) or self._by_losses(count, most)
        except (DpverifyError, ArithmeticError, ValueError):
            return Curve(None, None, ())

    def _by_losses(self, count: int, most: int) -> Curve:
        parts = self._single_curves()
        if count == 1 and len(parts) == 1:
            return parts[0]
        counts = [run.times * count for run in self.unit]
        if not self._grids:
            self._propose(parts, [run.times * most for run in self.unit])
        pair = loss_distribution.distributions(parts, counts, self._grids)
        return replace(pair, lower=None) if any(run.processed for run in self.unit) else pair

    def _single_curves(self) -> list[Curve]:
        if self._parts is None:
            evidence = self.planned.evidence
            listed = evidence["parts"] if evidence.get("rule") == loss_distribution.NAME and "grid" in evidence else [evidence]
            if len(self.unit) == 1 and self.times == 1:
                self._parts = [self.planned.curve]
            else:
                runs = [replace(run, times=1) for run in self.unit]
                built = [_remembering(plans.curve_of_one(run, dict(below))) for run, below in zip(runs, listed, strict=True)]
                self._parts = [_sketched(self.planned.claim, (), {}, curve).curve if _is_slow(curve) else curve for curve in built]
            self._parts = [_within_reach(part) for part in self._parts]
        return self._parts

    def _propose(self, parts: Sequence[Curve], counts: Sequence[int]) -> None:
        """One grid for all counts, aimed at the last."""
        pairs = [part.upper for part in parts if part.upper is not None]
        if len(pairs) < len(parts):
            raise Undecided("a part has no upper bound on its curve.")
        orders = {"grid": pairs}
        if not all(pair.forward is pair.backward for pair in pairs):
            orders["reverse"] = [pair.reversed for pair in pairs]
        dear = any(lattice.NAME in part.rules or not PROMPT.issuperset(part.rules) for part in parts)
        cells = CELLS // 16 if dear else CELLS // 2
        lowers = [part.lower for part in parts if part.lower is not None]
        for key, ordered in orders.items():
            grid = losses.coarser(losses.propose(ordered, counts, None, float(constant(self.delta)), _GRID_DIGITS), cells)
            if len(lowers) == len(parts):
                grid = losses.touching([pair.reversed for pair in lowers] if key == "reverse" else lowers, grid)
            self._grids[key] = grid


def _within_reach(curve: Curve) -> Curve:
    """The curve, evaluated no further than where nothing that counts is left: sums over the integers become long out there."""
    last = _FAR_OUT * rational(_reach(curve, None))

    def change(pair: Pair) -> Pair:
        return cut(pair, last) if pair.worst(last) <= arb(2) ** -_NOTHING_BITS else pair

    return _mapped(curve, change)


def _together(runs: Sequence[Run]) -> Run:
    """The composition of runs, as one."""
    return Run(Part(Compose(tuple(repeated(_behind_maps(run), num(run.times)) for run in runs))))


def _behind_maps(run: Run) -> Part:
    """What is run once, with the map, the group and the post-processing that it has."""
    part = run.part
    if run.mapped:
        part = Part(Lipschitz(part, run.factor))
    elif run.factor != ONE:
        part = Part(Group(part, run.factor))
    return Part(PostProcess(part)) if run.processed else part


def _by_theorem(unit: Sequence[Run], count: int) -> Curve | None:
    """The composition by a theorem about sums of losses, None where none applies."""
    runs = [replace(run, times=run.times * count) for run in unit]
    laplace_is_slow = sum(run.times for run in runs) > _MOST_LAPLACE
    for name in plans.COMPOSITIONS:
        if name == laplace_sums.NAME and laplace_is_slow:
            continue
        try:
            curve = _remembering(plans.curve(_together(runs), {"rule": name}))
        except DpverifyError:
            continue
        return replace(curve, lower=None) if any(run.processed for run in unit) else curve
    return None


# -- decimals ------------------------------------------------------------------------------------------


def _decimal(ball: arb | None, side: int) -> str | None:
    """One end of a ball, rounded outward."""
    if ball is None:
        return None
    try:
        end = exact(ball.upper() if side > 0 else ball.lower())
    except Undecided:  # beyond what is written out
        return None
    return decimal_bounds(Num(max(end, Fraction(0))), DIGITS)[side > 0]


def _written(value: Fraction) -> str:
    """An exact decimal, or a fraction where there is none."""
    places = 0
    while 10**places % value.denominator and places < _MOST_PLACES:
        places += 1
    if 10**places % value.denominator:
        return str(value)
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"


def _short(value: Expr) -> str:
    return _written(value.value) if isinstance(value, Num) else format_expr(value)

"""Privacy curves of noise on the integers and of staircase noise, whose densities are steps: sums of enclosed terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling, refined
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, dominating, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO, Expr, format_expr, num
from dpverify.trusted.language.model import Mechanism, Source, Staircase, Translation
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.order.apart import off_the_integers
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, merged, reach
from dpverify.trusted.rules.curves.integers import Law, Shape
from dpverify.trusted.rules.curves.line import nothing
from dpverify.trusted.rules.curves.stairs import Stairs, check_staircase, integer
from dpverify.trusted.rules.curves.unimodal import Hints, hints, read

NAME: Final = "lattice"
STATEMENT: Final = (
    "For noise on the integers whose probabilities do not fall up to a mode and do not rise after it, the pair at the greatest whole "
    "shift, in both orders, dominates all others: where p(n) > e^epsilon p(n - s), s > 0, n - s lies before the mode, so that a longer "
    "shift only lowers p(n - s). The same holds on the line for staircase noise, whose steps repeat with a factor. Where two neighbours' "
    "answers do not differ by an integer, outputs on one are impossible on the other: delta is 1 at every epsilon."
)
CHECKED: Final = (
    "the probabilities are unimodal",
    "they are summable",
    "the shift is not negative",
    "a query's answers differ by integers, or the pair that does not is named",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/curves.md#lattice", "staircase noise: Geng & Viswanath 2016")


# -- integers --------------------------------------------------------------------------------------


# -- staircase noise -------------------------------------------------------------------------------


# -- the curve -------------------------------------------------------------------------------------


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of noise on the integers, or of a composition of which one part answers off them.

    parameters: those of `hints`; "peak", two integers: log-concave probabilities fall from the second on, and the first backwards;
    "sensitivity" and "prec" as of other noise. Raises Rejected, Undecided.
    """
    runs = merged(run.part, run.factor)
    alone = len(runs) == 1 and runs[0].times == 1
    whole = disjoint(runs)
    if alone and runs[0].part == run.part:
        if whole is None:
            whole = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), hints(parameters, NAME), peak(parameters))
        return settled.noise(run, whole, parameters, one_way=True)
    if whole is None or alone:
        raise Rejected(NAME, "the parts", "the answers of all that add noise on the integers differ by integers")
    return settled.together(run, settled.several(runs, whole), jointly=True)


def peak(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """The integers under "peak", 0 and 0 without it. Raises CertificateError."""
    both = parameters.get("peak", [0, 0])
    if not (isinstance(both, list) and len(both) == 2 and all(type(n) is int for n in both)):
        raise CertificateError(f"{NAME}: 'peak' is not two integers.")
    return both[0], both[1]


def disjoint(runs: Sequence[Run]) -> Curve | None:
    """The curve of runs of which one adds noise on the integers to answers that do not differ by integers; None for others."""
    off = [run.factor for run in runs if off_the_integers(run.part.mechanism, run.part.query) is not None]
    if any(certainly_le(ONE, factor) for factor in off):
        return apart()
    return replace(apart(), lower=None) if off else None  # a contraction may leave no such neighbours


def curve(noise: Mechanism, reach: Sensitivity, hints: Hints, peak: tuple[int, int]) -> Curve:
    """The curve of noise on the integers, or of staircase noise, at a sensitivity.

    Raises Rejected for another kind, a sensitivity that is not certainly at least 0 or parameters that are not certainly in order,
    Undecided where the probabilities are not proved unimodal or not summed.
    """
    for bound in (reach.upper, reach.lower):
        if not certainly_le(ZERO, bound):
            raise Rejected(NAME, "the sensitivity", f"{format_expr(bound)} is not certainly at least 0")
    if isinstance(noise, Staircase):
        check_staircase(noise)
        upper = _staircase_pair(noise, reach.upper)
        return Curve(upper, upper if reach.exact else _staircase_pair(noise, reach.lower), (NAME,), ASSUMED)
    if not (isinstance(noise, Translation) and noise.integers):
        raise Rejected(NAME, "the noise", "it is neither noise on the integers nor staircase noise")
    upper, lower = (_integer_pair(noise, shift, hints, peak) for shift in (whole(reach.upper, up=True), whole(reach.lower, up=False)))
    if whole(reach.upper, up=True) == whole(reach.lower, up=False):
        lower = upper
    return Curve(dominating(upper), lower, (NAME,), ASSUMED)


def apart() -> Curve:
    """The curve where answers of neighbours do not differ by an integer: no output of one is an output of the other."""

    def rest() -> arb:
        return arb(1)

    profile = falling(lambda _: arb(1))
    both = Pair(profile, profile, rests=(rest, rest))
    return Curve(both, both, (NAME,), ASSUMED)


def whole(bound: Expr, up: bool) -> int:
    """The floor of a sensitivity; where it is not certain whether a whole number is reached, the greater or the lesser answer."""
    ball = enclose(bound)
    low, high = (integer(end.floor()) for end in (ball.lower(), ball.upper()))
    if low == high or certainly_le(num(high), bound):
        return high
    if high == low + 1 and certainly_lt(bound, num(high)):
        return low
    return high if up else low


def _integer_pair(noise: Translation, shift: int, hints: Hints, peak: tuple[int, int]) -> Pair:
    if shift == 0:
        return symmetric(nothing)
    reading = read(noise, hints)
    first, last = peak if reading.concave else (reading.offset.__floor__(), reading.offset.__ceil__())
    lower, upper = domain(noise)
    low, high = None if lower is None else lower.__ceil__(), None if upper is None else upper.__floor__()
    shape = Shape(noise.density, low, high, reading.even, reading.concave, last, hints)
    makes = (lambda: Law(shape, shift)), (lambda: Law(shape.mirrored(-first), shift))
    return refined(*makes[: 1 if reading.even else 2])


def _staircase_pair(noise: Staircase, shift: Expr) -> Pair:
    return symmetric(nothing) if certainly_le(shift, ZERO) else refined(lambda: Stairs(noise, shift))

"""Evidence for noise whose scale depends on the data: closed forms, trees of cuts, and pairs of neighbours that lose much."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final

from dpverify.search.additive import asymptotics, closed_form
from dpverify.search.finite import kernel_box
from dpverify.search.finite.kernel_box import Best, Place
from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr, neg
from dpverify.trusted.kernel.model import Claim, Product, Radial, SmoothSensitivity, Translation
from dpverify.trusted.theories.additive import smooth
from dpverify.trusted.theories.additive.rules import smooth_box, smooth_point, smooth_power
from dpverify.trusted.theories.finite.densities import Losses

Step = dict[str, Any]
_REACHES: Final = (1, 4, 16, 64)
_INSIDE: Final = Fraction(1, 2**60)


def propose(claim: Claim, digits: int) -> list[Step]:
    """Steps with bounds on the tight epsilon: exact ones for t noise, else its enclosure, or that none is finite. Raises Undecided."""
    assert isinstance(claim.mechanism, SmoothSensitivity)
    slopes = {"slopes": True}
    if claim.domains and _shows(claim, slopes):
        return [{"rule": smooth_power.NAME, "evidence": slopes}]
    closed = closed_form.steps(smooth_power.NAME, smooth_power.check, claim)
    if closed or claim.domains:
        if not closed:
            raise Undecided("noise at a scale that depends on the data wants a value for every parameter, but for Student's t noise.")
        return closed
    noise = claim.mechanism.noise
    shared = asymptotics.evidence(noise) if isinstance(noise, Radial | Translation | Product) else {}
    with precision(96 + 4 * digits):
        _, h, _ = smooth.everywhere(claim, shared.get("normaliser"), smooth_box.NAME)
        return list(islice(_endless(claim, shared), 1)) or _enclosed(claim, h, digits, shared)


def _shows(claim: Claim, evidence: Step) -> bool:
    """Whether a bound in parameters is at most the claimed one for all of them."""
    try:
        bound = smooth_power.check(claim, evidence).value
        return claim.epsilon is not None and not isinstance(bound, Infinite) and certainly_le(bound, claim.epsilon, dict(claim.domains))
    except DpverifyError:
        return False


def _endless(claim: Claim, shared: Step) -> Iterator[Step]:
    """Neighbours whose loss has no bound, where the kernel agrees."""
    mechanism, sensitivity = smooth.parts(claim, smooth_point.NAME)
    texts = [[format_expr(x) for x in tried] for tried in ((mechanism.scale_bound, ZERO), (ZERO, sensitivity, neg(sensitivity)))]
    for turned, moved, first, side in product(*texts, ("greater", "smaller"), (1, -1)):
        found = {"turned": turned, "moved": moved, "first": first, "beyond": side, **shared}
        if _holds(claim, found):
            yield {"rule": smooth_point.NAME, "evidence": found}


def _holds(claim: Claim, evidence: Step) -> bool:
    try:
        smooth_point.check(claim, evidence)
    except (DpverifyError, ZeroDivisionError):
        return False
    return True


def _enclosed(claim: Claim, h: Expr, digits: int, shared: Step) -> list[Step]:
    """The greatest of the two losses, from below by a point and from above by trees."""
    reach, spaces, places = _regions(claim, h)
    every = [place for group in places for place in group]
    best = kernel_box.greatest_of(every, digits)
    at = _points(claim, spaces, places, best, digits, shared)
    steps = [{"rule": smooth_point.NAME, "evidence": found} for found in islice(at, 1)]
    if any(len(group) < 3 for group in places):
        raise Undecided("the loss is not seen to be bounded where outputs are far from the answers.")
    for target in kernel_box.targets(claim, best, digits):
        trees = {}
        for place in every:
            point = best.point if best.place == place else kernel_box.middle_of(place.region)
            tree = kernel_box.tree_for(place.region, place.loss, target, point, digits)
            if tree is None:
                break
            trees[place] = tree
        else:
            shown = [{"tree": trees[inside], "tails": [[str(place.rate), trees[place]] for place in tails]} for inside, *tails in places]
            found = {"value": format_expr(target), "reach": [str(end) for end in reach], "losses": shown, **shared}
            return [*steps, {"rule": smooth_box.NAME, "evidence": found}]
    return steps


def _regions(claim: Claim, h: Expr) -> tuple[tuple[Fraction, Fraction], tuple[Losses, Losses], list[list[Place]]]:
    """The ends of the outputs that are looked at as they are, both losses, and where each is: there, and beyond on either side."""
    most = exact(constant(smooth.parts(claim, smooth_box.NAME)[1]).ceil().mid())
    for far in _REACHES:
        reach = -most - far, most + far
        spaces = smooth.losses(claim, h, reach, smooth_box.NAME)
        places = [[Place(space.region, space.loss), *_outside(space)] for space in spaces]
        if all(len(group) == 3 for group in places):
            break
    return reach, spaces, places


def _outside(space: Losses) -> list[Place]:
    found = (kernel_box.beyond(space, ray) for ray in space.rays)
    return [place for place in found if place is not None]


def _points(
    claim: Claim, spaces: tuple[Losses, Losses], places: list[list[Place]], best: Best, digits: int, shared: Step
) -> Iterator[Step]:
    """Evidence at about the best point, with the widest event that by itself refutes the claim, else the widest that is accepted."""
    number = next((i for i, group in enumerate(places) if best.place in group), 0)
    y, turned, moved = best.point
    y = kernel_box.output_at(best.place, spaces[number], y, digits)
    near = Fraction(1, 2 ** (96 + 4 * digits))
    accepted = list[Step]()
    for share, bits in product((Fraction(1), 1 - _INSIDE), (4, 8, 16, 32)):  # a little inside of bounds that are not rational
        pair = {"turned": str(share * turned), "moved": str(share * moved), "first": ("smaller", "greater")[number], **shared}
        step = Fraction(1, 2**bits)
        middle = step / 4 * round(4 * y / step)
        event = [str(middle - step), str(middle + step)]
        found = pair | {"y": [str(y - near), str(y + near)], "event": event}
        if not _holds(claim, found):
            continue
        accepted.append(found)
        alone = smooth_point.check(claim, found | {"y": event}).value
        if claim.epsilon is None or (isinstance(alone, Num) and constant(alone) > constant(claim.epsilon)):
            yield found
    yield from accepted

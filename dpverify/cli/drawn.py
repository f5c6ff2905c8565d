"""The data of a report's pictures, claim by claim; what fails to be drawn is told, and takes nothing else away."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from dpverify.cli import output
from dpverify.cli.progress import LONG, Progress
from dpverify.project.cache import sources
from dpverify.report import delta_enclosure, short
from dpverify.search.composition.plans import plan_of
from dpverify.trusted.kernel.canonical_form import to_json
from dpverify.trusted.theories.composition.rules import privacy_profile

if TYPE_CHECKING:
    from dpverify.pictures.bands import Band, Bands
    from dpverify.pictures.error_curves import ErrorCurves
    from dpverify.project.cache import Cache
    from dpverify.report import Entry
    from dpverify.report.page.subject import Pictures, Plane
    from dpverify.runtime.processes import Bounds
    from dpverify.trusted.kernel.model import Claim

T = TypeVar("T")
DRAWS: Final = 150
SEED: Final = 0
ALL_BANDS: Final = 15.0
"""So much longer than all else the bands of one mechanism take."""
_LONGEST: Final = 400
"""Characters of a number in a band."""
_AXES: Final = {"delta": ("delta", "epsilon"), "trade_off": ("type II error", "type I error"), "composition": ("epsilon", "compositions")}
"""What each kind of band bounds, and as a function of what."""


def curves_and_pictures(
    groups: Mapping[str, Sequence[Entry]], cache: Cache, bounds: Bounds | None = None, jobs: int | None = 1,
    known: dict[str, Any] | None = None,
) -> dict[str, tuple[list[Bands], list[Pictures]]]:
    """Of every claim file, by its stem, the bands and the pictures; claims that differ only in what they claim share theirs.

    bounds: of what is drawn of one mechanism, in a process of its own, that can be ended: what was drawn before leaves no trace in it.
    jobs: how many of these there are at a time, None for as many as are worth it. known: the bands that other runners of this run drew,
    which gets those that are drawn here.
    """
    from dpverify.runtime.processes import Bounds, Ended, in_order, worthwhile

    bounds = bounds or Bounds()
    tasks: list[tuple[str, list[Entry]]] = []
    for stem, entries in groups.items():
        alike: dict[Claim, list[Entry]] = {}
        for entry in entries:
            alike.setdefault(replace(entry.claim, epsilon=None, delta=None, name=""), []).append(entry)
        tasks += [(stem, group) for group in alike.values()]
    drawn: dict[str, tuple[list[Bands], list[Pictures]]] = {stem: ([], []) for stem in groups}
    if len(tasks) > 1:
        _ready(every_rule=len(tasks) >= LONG)
    count = worthwhile(0, len(tasks)) if jobs is None else jobs
    groups_apart, drawing = [[group] for _, group in tasks], _Drawing(cache, dict(known or {}))
    with (
        Progress("drawing", len(tasks), "mechanisms", weights=[drawing.weight(group) for _, group in tasks]) as progress,
        contextlib.closing(in_order(drawing, groups_apart, count, bounds, anew=True, told=progress.at)) as results,
    ):
        for (stem, group), made in zip(tasks, results, strict=True):
            if isinstance(made, Ended):
                click.echo(f"{group[0].file}, {group[0].claim.name}: {output.ended('drawing the pictures', made, bounds)}", err=True)
                continue
            told, bands, pictures = made
            for line in told:
                click.echo(line, err=True)
            drawn[stem][0].extend(bands)
            if known is not None:
                known |= {_name(group): one.to_json() for one in bands}
            drawn[stem][1].append(pictures)
    return drawn


def _ready(*, every_rule: bool) -> None:
    """Load what draws here, once, rather than in one process after the other; every rule too, or each as it is needed."""
    from dpverify.pictures import bands, loss, noise_error
    from dpverify.trusted.kernel.registry import EXPLAINED

    assert all((bands, loss, noise_error, *(EXPLAINED.values() if every_rule else ())))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Draws what belongs to claims of one mechanism, and tells what fails."""

    cache: Cache
    known: Mapping[str, Any]

    def weight(self, entries: Sequence[Entry]) -> float:
        """About how long it takes, with a mechanism that has no curve as 1."""
        from dpverify.pictures.bands import takes_long

        named = _name(entries)
        kept = named in self.known or self.cache.recall(named) is not None
        return 1.0 if kept or not takes_long([entry.claim for entry in entries]) else ALL_BANDS

    def __call__(self, entries: Sequence[Entry]) -> tuple[list[str], list[Bands], Pictures]:
        told: list[str] = []
        bands = _bands(entries, self.cache, told, self.known)
        return told, [] if bands is None else [bands], _pictures(entries, told)


def _bands(entries: Sequence[Entry], cache: Cache, told: list[str], known: Mapping[str, Any]) -> Bands | None:
    """The bands of claims. They take long: those that the same code made from the same claims before are taken from the cache.

    No verdict rests on them, and they may not contradict what the kernel says now.
    """
    from dpverify.pictures import bands

    name, claims = _name(entries), [entry.claim for entry in entries]
    kept = _kept(known.get(name) or cache.recall(name), claims)
    if kept is not None and not any(_contradicts(kept, entry) for entry in entries):
        return kept
    drawn = _tried(entries[0], told, "its curves", lambda: bands.bands(claims, _evidence(entries)))
    if drawn is not None:
        cache.remember(name, drawn.to_json())
    return drawn


def _name(entries: Sequence[Entry]) -> str:
    """Under which the bands of some claims are kept: a hash of all that they are made from."""
    from dpverify.pictures import bands, chords, trade_offs

    code = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (bands, chords, trade_offs)]
    making = [sources(), code, [to_json(entry.claim) for entry in entries], _evidence(entries)]
    return sha256(json.dumps(making, sort_keys=True).encode()).hexdigest()


def _evidence(entries: Sequence[Entry]) -> Mapping[str, Any] | None:
    """That of the curve, in the first proof that has one."""
    return next(filter(None, map(_curve_evidence, entries)), None)


def _kept(data: Any, claims: Sequence[Claim]) -> Bands | None:
    """The bands of these claims in what was kept; None for what a page could not show, or is of other claims."""
    from dpverify.pictures.bands import Bands

    try:
        kept = Bands.from_json(data)
        sound = kept.names == tuple(claim.name for claim in claims) and all(_in_order(kind, band) for kind, band in kept.bands.items())
    except (AttributeError, ArithmeticError, KeyError, TypeError, ValueError):
        return None
    return kept if sound else None


def _in_order(kind: str, band: Band) -> bool:
    """Whether a band is one of its kind, of finite numbers, with no lower bound above its upper one.

    Raises ArithmeticError, TypeError or ValueError for what holds no numbers.
    """
    lowers, uppers = ([_number(bound) for bound in side if bound is not None] for side in (band.lower, band.upper))
    rising = [_number(at) for at in band.x]
    pairs = zip(band.lower, band.upper, strict=True)
    texts: tuple[Any, ...] = (*band.rules, *band.assumed, *band.at.keys(), *band.at.values())
    return (
        (band.quantity, band.variable) == _AXES.get(kind)
        and all(isinstance(text, str) and text.isprintable() for text in texts)
        and all(type(exact) is bool for exact in band.exact)
        and all(low < high for low, high in pairwise(rising))
        and min((*rising, *lowers, *uppers), default=0.0) >= 0
        and not any(low is not None and high is not None and _number(low) > _number(high) for low, high in pairs)
    )


def _number(text: Any) -> float:
    """A decimal, a fraction or "inf" as a float. Raises ArithmeticError, TypeError or ValueError for anything else."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise TypeError("not the text of a number.")
    return inf if text == "inf" else float(Fraction(text))


def _contradicts(bands: Bands, entry: Entry) -> bool:
    """Whether a band is certainly apart from the tight delta that the kernel encloses at the claimed epsilon."""
    band = bands.bands.get("delta")
    low, high = delta_enclosure(entry.judgement, entry.digits)
    if band is None or entry.claim.epsilon is None or short(entry.claim.epsilon) not in band.x:
        return False
    at = band.x.index(short(entry.claim.epsilon))
    lower, upper = band.lower[at], band.upper[at]
    above = low is not None and upper is not None and Fraction(upper) < Fraction(low)
    return above or (high is not None and lower is not None and Fraction(lower) > Fraction(high))


def _pictures(entries: Sequence[Entry], told: list[str]) -> Pictures:
    from dpverify.catalogue.kinds import plain
    from dpverify.pictures import loss, noise_error
    from dpverify.pictures.body import body
    from dpverify.pictures.by_kind import by_kind
    from dpverify.report.page.subject import Pictures

    claim = entries[0].claim
    drawn = _tried(entries[0], told, "its loss", lambda: loss(plain(claim)))
    apart = 1.0 if drawn is None or drawn.answers is None else drawn.answers[1] - drawn.answers[0]
    return Pictures(
        tuple(entry.claim.name for entry in entries),
        loss=drawn,
        plane=_tried(entries[0], told, "its noise in the plane", lambda: _plane(claim, apart)),
        error=_tried(entries[0], told, "its error", lambda: noise_error(claim)),
        body=_tried(entries[0], told, "its body", lambda: body(claim)),
        errors=_tried(entries[0], told, "its error against epsilon", lambda: _errors(entries)),
        own=_tried(entries[0], told, "what decides", lambda: by_kind(claim)) or (),
    )


def _errors(entries: Sequence[Entry]) -> tuple[str, ErrorCurves] | None:
    """The error against epsilon of the first of some claims for which there is one."""
    from dpverify.pictures.error_curves import error_curves

    for entry in entries:
        curves = error_curves(entry.claim, entry.judgement)
        if curves is not None:
            return entry.claim.name, curves
    return None


def _plane(claim: Claim, apart: float) -> Plane | None:
    """Noise in the plane, and the ball that neighbouring answers are within, so far apart; None for other mechanisms."""
    from dpverify.pictures import level_sets, noise_samples, unit_ball
    from dpverify.report.page.subject import Plane

    draws = noise_samples(claim.mechanism, DRAWS, SEED)
    norm = getattr(claim.mechanism, "norm", None)
    if draws is None or norm is None:
        return None
    return Plane(unit_ball(norm, apart), level_sets(claim.mechanism), [(float(x), float(y)) for x, y in draws])


def _tried(entry: Entry, told: list[str], what: str, draw: Callable[[], T]) -> T | None:
    try:
        return draw()
    except MemoryError:
        raise
    except Exception as error:
        if os.environ.get("DPVERIFY_DEBUG"):
            raise
        told.append(f"{entry.file}, {entry.claim.name}, {what}: {output.fault(error)}")
        return None


def _curve_evidence(entry: Entry) -> Mapping[str, Any] | None:
    """The plan of the privacy curve in the proof, if one is there."""
    lines = [line for line, _ in entry.proved]
    premise = next((line.premises[0] for line in lines if line.rule == privacy_profile.NAME and line.premises), None)
    return None if premise is None else plan_of(lines, premise)

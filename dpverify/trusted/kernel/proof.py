"""Proofs: facts about one claim, each made by calling a rule. A certificate records a proof; to check it is to make it again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from flint import ctx

from dpverify.trusted.kernel import loading
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected, Undecided, certify
from dpverify.trusted.kernel.fact import Fact, Says, as_bounds, unasked
from dpverify.trusted.kernel.loading import asked_for, note
from dpverify.trusted.kernel.model import Claim, sums_of
from dpverify.trusted.kernel.registry import ANYWHERE, EXPLAINED, IN_MEASURES, OF_BODIES, OF_CURVES, OF_THE_MECHANISM, RULES
from dpverify.trusted.kernel.shown import table

if TYPE_CHECKING:
    from dpverify.trusted.combinators.places import Places
    from dpverify.trusted.combinators.runs import Run

Place = tuple[Any, ...]

_REMEMBERED: Final = 512


class Proof:
    """Facts about one claim. Equal uses of a rule are one fact; what they say is shared between proofs."""

    def __init__(self, claim: Claim, alone: Run | None = None, known: Memory | None = None) -> None:
        """alone: a run of the claim's mechanism to speak of as if it were all there is. known: what rules have said, if apart."""
        self.claim = claim
        self._alone = alone
        self._known = _known if known is None else known
        self._facts: dict[Any, Fact] = {}
        self._readings: dict[str, Proof] = {}
        self._depth = len(sums_of(claim)[:1])

    @cached_property
    def places(self) -> Places:
        """The parts of the claim's mechanism; loaded where a line speaks of one."""
        from dpverify.trusted.combinators.places import Places

        return Places(self.claim, self._alone)

    def infer(self, rule: str, place: Place = (), parameters: Mapping[str, Any] | None = None, premises: Sequence[Fact] = ()) -> Fact:
        """What a rule proves of a place, at the working precision of the moment. Raises Rejected, or CertificateError for a misuse."""
        try:
            text = json.dumps(parameters or {}, sort_keys=True, allow_nan=False)
            about = self._about(rule, place)
            key = (rule, about, not place[self._depth :], text, tuple(map(id, premises)), ctx.prec)  # of the whole: what counts
            if key not in self._facts:
                says = _said(rule, about, text, tuple(premises), self._known)
                assumed = tuple(EXPLAINED[rule].ASSUMED)
                self._facts[key] = Fact(rule, about, says, assumed, tuple(place), json.loads(text), tuple(premises), ctx.prec)
            return self._facts[key]
        except Undecided as error:
            raise Rejected(rule, "an enclosure", str(error)) from error
        except (Rejected, CertificateError):
            raise
        except DpverifyError as error:
            raise CertificateError(f"{rule}: what it is given cannot be used: {error}") from error
        except STUMBLES as error:
            raise CertificateError(f"{rule}: what it is given has not the form that dpverify writes.") from error

    def _about(self, rule: str, place: Place) -> Run | Claim:
        """What a rule speaks of at a place: a run; of the whole, what is claimed; of a part, its pure epsilon."""
        if self._depth:
            return self._read(place[:1])._about(rule, place[1:])
        if rule in OF_CURVES:
            return self.places.run(place)
        if rule not in RULES:
            raise CertificateError(f"unknown rule {rule[:60]!r}; this version has {', '.join(sorted({*RULES, *OF_CURVES}))}.")
        if not place and self._alone is None:
            return unasked(self.claim) if rule in OF_THE_MECHANISM or rule in OF_BODIES else self.claim
        if rule in IN_MEASURES:  # of a part, its tight value in the measure that is claimed
            measure = self.claim.measure
            tight = None if measure is None else replace(measure, value=None)
            return replace(self.places.question(place), measure=tight, order=self.claim.order)
        certify(rule in ANYWHERE, f"{rule}: it speaks of the whole claim, not of a part.")
        return self.places.question(place)


    def _read(self, place: Place) -> Proof:
        """Of a claim with sums over records: the proof of a claim about one more, or one less, that the place names."""
        reading = str(place[0]) if place else ""
        if reading not in self._readings:
            from dpverify.trusted.claims.records import read

            self._readings[reading] = Proof(read(self.claim, reading), known=self._known)
        return self._readings[reading]


class Memory(OrderedDict[Any, tuple[Says, tuple[Any, ...], tuple[str, ...]]]):
    """What rules have said lately, with what they asked to load, and the premises, so that no other object takes their identity."""

    def keep(self, key: Any, says: Says, premises: tuple[Any, ...], places: Iterable[str]) -> Says:
        self[key] = says, premises, tuple(places)
        if len(self) > _REMEMBERED:
            self.popitem(last=False)
        return says


_known: Final = Memory()
CHECKED: Final = Memory()
"""What was said where certificates are checked. No fact of a check leaves it, so that nobody else can change what is remembered here."""


def forget() -> None:
    """Forget what rules have said, and the curves that remember where they were evaluated."""
    loading.forget()
    _known.clear()
    CHECKED.clear()


def _said(name: str, about: Run | Claim, text: str, premises: tuple[Fact, ...], known: Memory) -> Says:
    """What a rule says. Equal questions with equal parameters and premises that say the same have one answer."""
    grounds = tuple(premise.says for premise in premises)
    key = (name, about, text, tuple((premise.rule, premise.about, id(premise.says)) for premise in premises), ctx.prec, table().stamp)
    if key in known:
        known.move_to_end(key)
        says, _, places = known[key]
        note(places)
        return says
    with asked_for() as asked:
        says = _asked(name, about, json.loads(text), premises)
    if name in OF_THE_MECHANISM and any(bound.quantity != "pure" for bound in as_bounds(says)):
        raise RuntimeError(f"{name} speaks of more than the mechanism")
    # what was said by signs that were found on the way says nothing where others are in force
    return known.keep(key, says, grounds, asked) if table().stamp == key[-1] else says


def _asked(name: str, about: Run | Claim, parameters: Mapping[str, Any], premises: tuple[Fact, ...]) -> Says:
    """What a rule says itself. Raises CertificateError where it does not look at all of its premises."""
    rule: Any = EXPLAINED[name]
    given: Any = ()
    if premises:
        from dpverify.trusted.facts.given import Given

        given = Given(premises)

    def ask(given_parameters: Mapping[str, Any]) -> Any:
        return rule.infer(about, given_parameters, given) if hasattr(rule, "infer") else rule.check(about, given_parameters)

    try:
        found = ask(parameters)
    except STUMBLES as error:
        from dpverify.trusted.facts.unusable import unusable

        raise unusable(name, ask, parameters) from error
    if premises:
        given.require_read(name)
    says: Says = (found,) if isinstance(found, Bound) else found
    return says

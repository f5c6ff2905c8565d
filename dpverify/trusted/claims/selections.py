"""The words of selections, and what must hold of them, and of their answers, in a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.errors import CertificateError, certify
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, format_expr, num, symbols
from dpverify.trusted.kernel.integers import is_whole

REPORTS: Final[Mapping[type, tuple[str, ...]]] = {
    model.NoisyMax: ("index", "value", "index+gap"),
    model.AboveThreshold: ("answers", "answers+gap", "answers+value", "fresh"),
    model.Stream: (),
    model.NoisyKeys: ("counts", "keys"),
}
"""What selections may tell, and noisy keys."""
TOGETHER: Final[Mapping[type, tuple[str, ...]]] = {
    model.NoisyMax: ("all", "monotone", "one", "hull"),
    model.AboveThreshold: ("all", "monotone", "one", *model.ONE_WAY),
    model.Stream: ("all", "monotone", "one", *model.ONE_WAY, "hull"),
}
"""How the answers of neighbours may move: each on its own, all the same way, one alone, or in the order of the data one way only."""
TIES: Final = ("first", "random")
"""Which of several answers that are the greatest noisy max tells, where it is said."""


def require_words(mechanism: model.Selection | model.NoisyKeys, alone: bool) -> None:
    """Raises CertificateError for a word that means nothing here. alone: whether it is the whole claim."""
    told = isinstance(mechanism, model.Stream) or mechanism.report in REPORTS[type(mechanism)]
    neighbours = getattr(mechanism, "neighbours", "")
    if not told or neighbours not in TOGETHER.get(type(mechanism), ("",)):
        raise CertificateError(f"a selection has a report or neighbours that {model.kind_of(mechanism)} does not have.")
    if isinstance(mechanism, model.AboveThreshold) and (mechanism.report == "fresh") != (mechanism.fresh is not None):
        raise CertificateError("above_threshold has fresh noise where it reports it, and nowhere else.")
    if isinstance(mechanism, model.NoisyMax) and mechanism.ties and (mechanism.ties not in TIES or mechanism.report == "value"):
        raise CertificateError("noisy max says of ties, where its report is no value, that the first is told, or one at random.")
    for noise in model.noises_of(mechanism):
        certify(getattr(noise, "dimension", ONE) == ONE, "noise that is compared is not on the line: its dimension is not 1.")
        if isinstance(noise, model.Radial | model.Mixture | model.Product) and noise.norm.kind != "lp":
            # answers move by so much in size, which a norm by a matrix measures in another unit
            raise CertificateError("noise that is compared is in a norm by a matrix. State it in an lp norm, and its unit as a scale.")
        if any(isinstance(one, model.Sum) and one.dropouts != ZERO for one in (noise, *model.all_noises(noise))):
            raise CertificateError("noise that is compared has dropouts, whereby it has several laws.")
    if neighbours in model.ONE_WAY and not alone:
        raise CertificateError(f"neighbours = {neighbours!r} is for one order of the data alone, which parts cannot be.")


def of_selection(mechanism: model.Selection) -> Iterator[str]:
    """A program that is none, answers whose noises do not say whether they are integers, and bounds that no integers are."""
    if isinstance(mechanism, model.Stream):
        from dpverify.trusted.combinators import streams

        yield from streams.faults(mechanism)
    if isinstance(mechanism, model.NoisyMax):
        yield from _of_max(mechanism)
    for end in mechanism.bounds or ():
        if model.on_integers(mechanism) and isinstance(end, Num) and not is_whole(end, {}):
            yield f"bounds: {format_expr(end)} is not an integer, as the answers are that noise on the integers is added to."
    unsaid = model.on_integers(mechanism) and not _settled(mechanism)
    if unsaid and not getattr(mechanism, "whole_answers", False):
        yield (
            "noises: some are on the integers, and some answers meet others, or none, so that it is not said whether answers are integers. "
            "Write noise on the integers, or on the line, for all; or whole_answers = true, where all answers are integers."
        )
    elif not unsaid and getattr(mechanism, "whole_answers", False):
        yield "whole_answers: the noises say already whether answers are integers. Leave it out."


def _of_max(mechanism: model.NoisyMax) -> Iterator[str]:
    """Points or numbers that are not one for each candidate, or have no place."""
    added, hull, wide = mechanism.added, mechanism.hull, mechanism.bounds is None and not model.on_integers(mechanism)
    if added and not (wide and mechanism.candidates == num(len(added))):
        yield "added: numbers are added to answers on the reals, without bounds, one for each."
    if (mechanism.neighbours == "hull") != bool(hull) or any(mechanism.candidates != num(len(row)) for row in hull):
        yield 'neighbours = "hull" wants hull, rows of as many numbers as there are candidates, and no other neighbours have it.'


def _settled(mechanism: model.Selection) -> bool:
    """Whether each answer that is used meets noise on the integers alone. What is compared, told or kept together meets."""
    if not isinstance(mechanism, model.Stream):
        return all(map(model.on_integers, model.noises_of(mechanism)))
    lasting = frozenset(model.names_of(mechanism)) - {limit.name for limit in mechanism.limits}
    changes = [named for branch in mechanism.steps for named in branch.change]
    met = [symbols(expr) for branch in mechanism.steps for expr in (*(guard.left for guard in branch.when), *branch.tell)]
    met += [symbols(named.value) | {named.name} for named in (*mechanism.state, *changes)]
    whole = {drawn.name: model.on_integers(drawn.noise) for drawn in mechanism.once + mechanism.fresh}
    for answer in frozenset(mechanism.answers).intersection(frozenset[str]().union(*met)):
        reached, before = frozenset({answer}), frozenset[str]()
        while reached != before:
            before, reached = reached, reached.union(*(group & lasting for group in met if group & reached))
        if not (found := [whole[name] for name in reached & whole.keys()]) or not all(found):
            return False
    return True

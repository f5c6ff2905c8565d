"""What the kernel proves of each committed certificate, and of each with one thing changed, is what recorded.txt says, beside this file.

Two committed artefacts have to agree, like the reports and the code that tools/reports_check.py compares. The record is no oracle of
what is true: it keeps what readers sign from changing unseen. It holds digests; `python tools/judgements.py NAME` tells in full, before a
change and after it. Where a difference is meant, `make record` writes the record again. That nothing contradicts the bounds is a law of
its own.
"""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from dpverify.trusted.combinators.exchanged import either_order
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import Num, symbols
from dpverify.trusted.kernel.fact import as_bounds
from tests import committed
from tests.spread import spread
from tests.tools import load

judgements = load("judgements")
NAMES = committed.names()
TINY = Fraction(1, 2**40)


@cache
def certificates() -> dict[str, Any]:
    return committed.certificates()


@cache
def to_change() -> frozenset[str]:
    return judgements.to_change(certificates())


@cache
def recorded() -> dict[str, dict[str, str]]:
    return judgements.recorded()


def test_the_record_speaks_of_every_certificate_and_of_no_other():
    assert sorted(recorded()) == NAMES, "run `make record` and look at which lines change"


def covers(name):
    """Rules, and which kinds of changes prove anything."""
    return [*(line["rule"] for line in certificates()[name]["lines"]), *(kind for kind in ON_LINES if kind in accepted(name))]


def accepted(name):
    """The kinds of changes after which anything is proved, as recorded."""
    return {kind for kind, digest in recorded().get(name, {}).items() if digest != judgements.digest({})}


ON_LINES = [kind for kind in judgements.KINDS if kind != "asked"]


def in_wide_runs(name):
    """Whether a certificate is changed in wide runs alone; `make test` judges it as it is."""
    return name.partition(".")[0] in committed.DEAREST


CHANGED = [
    *spread(sorted(name for name in to_change() if not in_wide_runs(name)), 0, covers, dear=committed.is_dear),
    *(pytest.param(name, id=name, marks=pytest.mark.wide) for name in sorted(filter(in_wide_runs, to_change()))),
]


def judged_by(name):
    """The rules of a certificate with its verdict, and all of them together, of which the dearest are in the wide run."""
    rules, verdict = {line["rule"] for line in certificates()[name]["lines"]}, certificates()[name]["verdict"]
    return [*([] if committed.is_dear(name) else [frozenset(rules)]), *((rule, verdict) for rule in rules)]


@cache
def judged_where_changed() -> frozenset[Any]:
    """What the certificates have that are changed in every run, which are judged as they are too."""
    return frozenset(feature for each in CHANGED if not each.marks for feature in judged_by(each.id))


def judged_alone(name):
    """What else a certificate has."""
    return [feature for feature in judged_by(name) if feature not in judged_where_changed()]


@pytest.mark.parametrize("name", spread(NAMES, 0, judged_alone, dear=committed.is_dear))
def test_a_certificate_proves_what_is_recorded(name):
    require_recorded(name, judgements.afresh(certificates()[name]))


def require_recorded(name, said):
    assert judgements.digest(said) == recorded()[name]["judgement"], f"another judgement than is recorded: {said}"


@pytest.mark.parametrize("name", CHANGED)
def test_a_certificate_changed_in_one_place_proves_no_more_than_is_recorded_and_true(name):
    """One test for all laws of a changed certificate, which share what was proved."""
    certificate, known = unpack(certificates()[name]), recorded()[name]
    said = judgements.afresh(certificates()[name])
    require_recorded(name, said)
    with kernel.shown_by(certificate):
        honest = [bound for fact in kernel.replay(certificate) if not fact.place for bound in counted(certificate.claim, fact)]
    wrong = [*beside(certificate, said), *at_a_value(certificate)]
    for kind in ON_LINES:
        tried = judgements.tried(kind, name, certificates())
        wrong += differing(kind, known, tried)
        if kind in ("lines", "others"):  # the question is the same
            made = [(what, bound) for what, facts in tried for fact in facts for bound in counted(certificate.claim, fact)]
            wrong += [f"{what}: contradicts the certificate" for what, bound in made if contradicts(honest, bound)]
    assert not wrong, "\n".join(wrong)


def reads_a_curve(name):
    return any(line["rule"] == judgements.privacy_profile.NAME for line in certificates()[name]["lines"])


@pytest.mark.parametrize("name", spread(filter(reads_a_curve, sorted(to_change())), 8))
def test_a_curve_that_is_read_elsewhere_says_what_is_recorded(name):
    assert not differing("asked", recorded()[name], judgements.tried("asked", name, certificates()))


def differing(kind, known, tried):
    """The list of what is accepted after changes of one kind, where it is another one than is recorded."""
    taken = judgements.accepted(tried)
    same = judgements.digest(taken) == known[kind]
    return [] if same else [f"{kind}: another list of what is accepted than is recorded: {json.dumps(taken, indent=1)}"]


def beside(certificate, said):
    """The claims beside what is proved that are judged the other way."""
    for side, key, bound in (("lower", "epsilon", "lower"), ("upper", "epsilon", "upper"), ("lower", "delta", "delta_lower")):
        value = number(said.get(bound))
        if value is None or value <= 0 or getattr(certificate.claim, key) is None:
            continue
        claim = replace(certificate.claim, **{key: Num(value * (1 + TINY if side == "upper" else 1 - TINY))})
        facts = [*judgements.taken(claim, certificate.lines).values()]
        if kernel.judge(claim, facts).verdict == ("REFUTED" if side == "upper" else "PROVED"):
            yield f"{key} beside its {side} bound is judged the other way"


def at_a_value(certificate):
    """The values of a parameter that evidence for an upper bound may name and thereby change what is proved."""
    claim, lines = certificate.claim, certificate.lines
    for place, line in enumerate(lines) if claim.domains else ():
        uppers = {bound.value for bound in proved(claim, lines, place) if bound.side == "upper"}
        for value in ("1", "2", "1/2"):
            at = {parameter: value for parameter, _ in claim.domains}
            forged = [*lines[:place], replace(line, parameters={**line.parameters, "at": at}), *lines[place + 1 :]]
            for bound in proved(claim, forged, place):
                if bound.side == "upper" and (bound.at or bound.value not in uppers):
                    yield f"line {place}, {line.rule} at {value}, has another upper bound"


def proved(claim, lines, place):
    """The bounds on the whole claim that rest on a line."""
    return [bound for fact in judgements.proved(claim, lines, place) for bound in as_bounds(fact.says)]


def counted(claim, fact):
    """The bounds of a fact that say something of the claim: of one order of neighbours a lower bound of the worse one says nothing."""
    told = as_bounds(fact.says)
    return told if not claim.order or either_order(claim) else [bound for bound in told if bound.side == "upper" or bound.ordered]


def contradicts(honest, bound):
    """Whether a bound contradicts one of the certificate's own."""
    return any(contradict(own, bound) or contradict(bound, own) for own in honest)


def contradict(upper, lower):
    """Whether one bound from above lies below one from below, both of the same and without parameters."""
    if (upper.side, lower.side) != ("upper", "lower") or isinstance(upper.value, Infinite) or lower.at:
        return False
    if upper.quantity != lower.quantity and (upper.quantity, lower.quantity) != ("pure", "epsilon"):
        return False
    if isinstance(lower.value, Infinite):
        return True
    return not symbols(upper.value) | symbols(lower.value) and certainly_lt(upper.value, lower.value)


def number(text):
    """The rational that a recorded bound is, None where it is another expression."""
    try:
        return None if text is None else Fraction(text)
    except ValueError:
        return None

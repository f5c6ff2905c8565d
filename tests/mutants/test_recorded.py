"""What the kernel proves of each committed certificate, and of each with one thing changed, is what reports/judgements.json says.

Two committed artefacts have to agree, like the reports and the code that tools/reports_check.py compares. The record is no oracle of
what is true: it keeps what readers sign from changing unseen. Where a difference is meant, `make reports` writes it again and the
change is looked at. That nothing contradicts the record's bounds is a law of its own.
"""

import importlib.util
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify.trusted import kernel
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.language.certificate import Step, unpack
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Num, symbols
from dpverify.trusted.order.compare import certainly_lt

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("judgements", ROOT / "tools" / "judgements.py")
judgements = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(judgements)
NAMES = sorted(path.name.removesuffix(".cert.json") for path in judgements.REPORTS.glob("*.cert.json"))
TINY = Fraction(1, 2**40)


@cache
def certificates() -> dict[str, Any]:
    return judgements.read()


@cache
def recorded() -> dict[str, Any]:
    return json.loads((judgements.REPORTS / "judgements.json").read_text(encoding="utf-8"))


def test_the_record_speaks_of_every_certificate_and_of_no_other():
    assert sorted(recorded()) == NAMES, "run `make reports` and look at what changes"


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_certificate_proves_what_is_recorded(name):
    known = {key: value for key, value in recorded()[name].items() if key not in judgements.KINDS}
    assert judgements.judged(kernel.check(certificates()[name])) == known


@pytest.mark.parametrize("kind", judgements.KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_of_a_certificate_with_one_thing_changed_the_kernel_takes_what_is_recorded(name, kind):
    assert judgements.accepted(kind, name, certificates()) == recorded()[name].get(kind, {})


@pytest.mark.parametrize("name", NAMES)
def test_changed_evidence_proves_no_bound_beyond_the_opposite_one_of_the_certificate(name):
    certificate = unpack(certificates()[name])
    honest = [bound for step in certificate.steps for bound in kernel.bound(certificate.claim, step, certificate.prec)]
    for kind in ("evidence", "steps"):
        for what, _, step in judgements.changes(kind, name, certificates()):
            for other in judgements.proved(certificate.claim, step, certificate.prec):
                assert not any(contradict(bound, other) or contradict(other, bound) for bound in honest), what


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_beside_what_is_proved_is_never_judged_the_other_way(name):
    certificate, judgement = unpack(certificates()[name]), recorded()[name]
    for side, key, bound in (("lower", "epsilon", "lower"), ("upper", "epsilon", "upper"), ("lower", "delta", "delta_lower")):
        value = number(judgement.get(bound))
        if value is None or value <= 0 or getattr(certificate.claim, key) is None:
            continue
        beside = replace(certificate.claim, **{key: Num(value * (1 + TINY if side == "upper" else 1 - TINY))})
        assert verdict(beside, certificate) != ("REFUTED" if side == "upper" else "PROVED")


@pytest.mark.parametrize("name", [name for name in NAMES if certificates()[name]["claim"]["domains"]])
def test_an_upper_bound_is_the_same_whatever_value_of_a_parameter_its_evidence_names(name):
    certificate = unpack(certificates()[name])
    for step in certificate.steps:
        honest = [bound.value for bound in kernel.bound(certificate.claim, step, certificate.prec) if bound.side == "upper"]
        for value in ("1", "2", "1/2"):
            forged = Step(step.rule, {**step.evidence, "at": {parameter: value for parameter, _ in certificate.claim.domains}})
            for bound in judgements.proved(certificate.claim, forged, certificate.prec):
                assert bound.side == "lower" or (not bound.at and bound.value in honest)


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


def verdict(claim, certificate):
    """What the steps that the kernel takes prove of a claim."""
    taken, bounds = [], []
    for step in certificate.steps:
        try:
            bounds.append(kernel.bound(claim, step, certificate.prec))
        except (CertificateError, Rejected):
            continue
        taken.append(step)
    return kernel.judge(claim, taken, bounds).verdict

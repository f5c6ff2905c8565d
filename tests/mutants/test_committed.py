"""The committed certificates hold, and what they prove is never what another of them refutes, however their evidence is changed."""

import copy
import json
import random
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify.trusted import kernel
from dpverify.trusted.language.certificate import Step, unpack
from dpverify.trusted.language.errors import CertificateError, Rejected

REPORTS = Path(__file__).parents[2] / "reports"
NAMES = sorted(path.name.removesuffix(".cert.json") for path in REPORTS.glob("*.cert.json"))
ASKED = ("epsilon", "delta", "name")
TRIES = 4


@cache
def data(name: str) -> dict[str, Any]:
    return json.loads((REPORTS / f"{name}.cert.json").read_text(encoding="utf-8"))


@cache
def mechanism(name: str) -> str:
    """What a certificate is about, without what is asked of it."""
    return json.dumps({key: value for key, value in data(name)["claim"].items() if key not in ASKED}, sort_keys=True)


def family(name: str) -> list[str]:
    """The other certificates about one mechanism and its neighbours."""
    return [other for other in NAMES if other != name and mechanism(other) == mechanism(name)]


@cache
def asked(name):
    """The claim of a certificate, its precision and verdict."""
    certificate = unpack(data(name))
    return certificate.claim, certificate.prec, certificate.verdict


def verdict(claim, prec, steps):
    """What the steps that the kernel takes prove of a claim."""
    taken, bounds = [], []
    for step in steps:
        try:
            bounds.append(kernel.bound(claim, step, prec))
        except (CertificateError, Rejected):
            continue
        taken.append(step)
    return kernel.judge(claim, taken, bounds).verdict


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_certificate_holds_and_contradicts_no_other_of_its_mechanism_however_it_is_changed(name):
    own = kernel.check(data(name))
    assert own.verdict == data(name)["verdict"]
    steps = unpack(data(name)).steps
    for other in family(name):
        claim, prec, known = asked(other)
        assert verdict(claim, prec, steps) in ("UNKNOWN", known), other
        if {own.verdict, known} == {"PROVED", "REFUTED"}:
            rng = random.Random(f"{name} {other}")
            for _ in range(TRIES):
                made = changed(data(name)["steps"], rng)
                forged = [Step(step["rule"], step["evidence"]) for step in made if isinstance(step["evidence"], dict)]
                assert verdict(claim, prec, forged) in ("UNKNOWN", known), (other, forged)


# -- changes of evidence ---------------------------------------------------------------------------------


def changed(steps, rng):
    """The steps with one to three values of their evidence changed."""
    forged = copy.deepcopy(steps)
    for _ in range(rng.randint(1, 3)):
        spots = [spot for step in forged for spot in places(step["evidence"])]
        if not spots:
            break
        inside, key = rng.choice(spots)
        value = rng.choice(others(inside[key], rng))
        if value is ...:
            del inside[key]
        else:
            inside[key] = value
    return forged


def places(value):
    """Every place inside evidence: what holds it, and its key there."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        yield value, key
        yield from places(inner)


SWAPPED = {"upper": "lower", "lower": "upper", "right": "left", "left": "right", "+inf": "-inf", "-inf": "+inf"}


def others(value, rng):
    """What may stand in the place of a value."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, list):
        return [[], value[:-1], value[1:], value[::-1], value + value[:1]]
    if isinstance(value, dict):
        return [..., {}]
    if isinstance(value, str) and value in SWAPPED:
        return [SWAPPED[value], ...]
    if value is None:
        return [..., 0]
    try:
        number = exact(value)
    except (ValueError, ZeroDivisionError):
        return [...]
    near = [number * Fraction(k, 1000) for k in (-1000, 0, 1, 500, 900, 999, 1001, 1100)] + [number + 1, number - 1]
    return [int(each) if isinstance(value, int) else str(each) for each in near] + [...]


def exact(value):
    mantissa, mark, exponent = str(value).partition("*2^")
    return Fraction(mantissa) * Fraction(2) ** (int(exponent) if mark else 0)

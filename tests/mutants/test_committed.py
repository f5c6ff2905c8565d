"""The committed certificates hold, and what they prove is never what another of them refutes, however their evidence is changed."""

import copy
import json
import random
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import permutations
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
def families() -> dict[str, list[str]]:
    """The certificates about one mechanism and its neighbours, which differ in what is asked."""
    found = defaultdict(list)
    for name in NAMES:
        found[json.dumps({key: value for key, value in data(name)["claim"].items() if key not in ASKED}, sort_keys=True)].append(name)
    return found


PAIRS = [pair for family in families().values() for pair in permutations(family, 2)]
OPPOSITE = [(one, other) for one, other in PAIRS if {data(one)["verdict"], data(other)["verdict"]} == {"PROVED", "REFUTED"}]


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
def test_a_committed_certificate_holds(name):
    assert kernel.check(data(name)).verdict == data(name)["verdict"]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_steps_of_one_certificate_do_not_contradict_another(one, other):
    steps, (claim, prec, known) = unpack(data(one)).steps, asked(other)
    assert verdict(claim, prec, steps) in ("UNKNOWN", known)


@pytest.mark.parametrize(("one", "other"), OPPOSITE)
def test_no_change_of_its_evidence_makes_a_certificate_contradict_another(one, other):
    rng = random.Random(f"{one} {other}")
    steps, (claim, prec, known) = data(one)["steps"], asked(other)
    for _ in range(TRIES):
        forged = [Step(step["rule"], step["evidence"]) for step in changed(steps, rng) if isinstance(step["evidence"], dict)]
        assert verdict(claim, prec, forged) in ("UNKNOWN", known), forged


def asked(name):
    certificate = unpack(data(name))
    return certificate.claim, certificate.prec, certificate.verdict


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

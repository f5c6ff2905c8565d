"""What a committed certificate proves is never what another of its mechanism refutes, however its evidence is changed.

That each of them holds is checked in test_recorded.py.
"""

import copy
import json
import random
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError
from tests import committed
from tests.effort import tries
from tests.spread import of_certificate, spread
from tests.tools import load

judgements = load("judgements")
NAMES = committed.names()
ASKED = ("epsilon", "delta", "name")
TRIES = tries(2, 20)


@cache
def data(name: str) -> dict[str, Any]:
    return committed.certificate(name)


def mechanism(name: str) -> str:
    """What a certificate is about, without what is asked of it."""
    return json.dumps({key: value for key, value in data(name)["claim"].items() if key not in ASKED}, sort_keys=True)


@cache
def families() -> dict[str, list[str]]:
    """The certificates about each mechanism and its neighbours."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        found.setdefault(mechanism(name), []).append(name)
    return found


def family(name: str) -> list[str]:
    """The other certificates about one mechanism and its neighbours."""
    return [other for other in families()[mechanism(name)] if other != name]


@cache
def asked(name):
    """The claim of a certificate and its verdict."""
    certificate = unpack(data(name))
    return certificate.claim, certificate.verdict


def verdict(claim, lines):
    """What the lines that the kernel takes prove of a claim."""
    return kernel.judge(claim, [*judgements.taken(claim, lines).values()]).verdict


def covers(name):
    """Rules and kinds, and apart from them those of certificates beside which another has the other verdict."""
    own, opposed = of_certificate(data(name)), {data(other)["verdict"] for other in [name, *family(name)]} >= {"PROVED", "REFUTED"}
    return [*own, *((*each, "opposed") for each in own if opposed)]


@pytest.mark.parametrize("name", spread([name for name in NAMES if family(name)], 0, covers, dear=committed.is_dear))
def test_a_committed_certificate_contradicts_no_other_of_its_mechanism_however_it_is_changed(name):
    _, own = asked(name)
    lines = unpack(data(name)).lines
    for other in family(name):
        claim, known = asked(other)
        assert verdict(claim, lines) in ("UNKNOWN", known), other
        if {own, known} == {"PROVED", "REFUTED"}:
            rng = random.Random(f"{name} {other}")
            for _ in range(TRIES):
                try:
                    forged = unpack(data(name) | {"lines": changed(data(name)["lines"], rng)}).lines
                except CertificateError:
                    continue
                assert verdict(claim, forged) in ("UNKNOWN", known), (other, forged)


# -- changes of lines ------------------------------------------------------------------------------------


def changed(lines, rng):
    """The lines with one to three of their values changed."""
    forged = copy.deepcopy(lines)
    for _ in range(rng.randint(1, 3)):
        spots = [spot for line in forged for spot in places(line)]
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
    """Every place inside a line: what holds it, and its key there."""
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

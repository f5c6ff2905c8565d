"""A certificate in which something is of another type is refused in a sentence of our own, that says where, or still holds as it is."""

import copy
import json
import random
import re

import pytest

from dpverify.evidence.recheck import WAY_OUT, recheck
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.judgement import check
from tests import committed
from tests.effort import tries

NAMES = [name for name in committed.names() if len(committed.text(name)) < 20_000]
VALUES = [None, True, 0, -1, 10**40, "", "x", "1/0", "1/2", "a b", [], {}, [[]], [0], {"a": 1}, [None], "log(0)", "1e999999999", "inf"]
PYTHONS_OWN = re.compile(
    r"\w+Error\b|object is not|object has no|not iterable|indices must|unhashable|to unpack|invalid literal|positional argument|NoneType"
)
TRIES = tries(80, 6000)


def places(value, path=()):
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def changed(data, part, rng):
    """A certificate with one thing in its claim or its lines deleted, or put in place of something else."""
    found = copy.deepcopy(data)
    *way, last = rng.choice(list(places(found[part])))
    at = found[part]
    for key in way:
        at = at[key]
    if rng.random() < 0.2:
        del at[last]
    else:
        at[last] = copy.deepcopy(rng.choice(VALUES))
    return found


@pytest.mark.parametrize("part", ["claim", "lines"])
def test_what_is_of_another_type_is_refused_in_our_own_words(part):
    rng, seen = random.Random(part), {"refused": 0, "held": 0}
    for _ in range(TRIES):
        data = changed(committed.certificate(rng.choice(NAMES)), part, rng)
        data["claim_sha256"] = claim_hash(data["claim"])
        try:
            check(data)
        except (CertificateError, Rejected) as error:
            seen["refused"] += 1
            assert not PYTHONS_OWN.search(str(error)), error
            assert part == "claim" or "line" in str(error), error
        else:
            seen["held"] += 1
    assert seen["refused"] > TRIES / 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda claim: claim.pop("epsilon"), "the key 'epsilon' is missing"),
        (lambda claim: claim.update(mechanism="radial"), "'radial' stands where a mechanism of a known kind does"),
        (lambda claim: claim["mechanism"].update(kind="magic"), "stands where a mechanism of a known kind does"),
        (lambda claim: claim["mechanism"].pop("profile"), "the key 'profile' is missing"),
        (lambda claim: claim["mechanism"]["norm"].update(p=2), "'p' is 2, which"),
        (lambda claim: claim["mechanism"]["norm"].update(matrix=None), "'matrix' is None, which"),
        (lambda claim: claim["mechanism"].update(dimension=[1, 2]), "'dimension' is \\[1, 2\\], which"),
        (lambda claim: claim["mechanism"].update(profile="exp("), "'profile' is no expression: .* at column"),
        (lambda claim: claim.update(domains=[["n", {}]]), "it is no object, or its 'domains' are none"),
        (lambda claim: claim.update(domains={"n": {"lower": "x"}}), "'lower' is .x., which"),
        (lambda claim: claim.update(epsilon=7), "'epsilon' is 7, which"),
        (lambda claim: claim.update(prior=["1/2", "x"]), "'prior' is .*'x'"),
        (lambda claim: claim.update(prior=["9" * 80]), r"'prior' is|canonical|losses"),
        (lambda claim: claim.update(query={"rows": [["1"]]}), "the key 'adjacency' is missing"),
        (lambda claim: claim.update(measure={"name": "zcdp", "value": None, "at": "x"}), "'at' is 'x'"),
    ],
)
def test_what_of_a_claim_cannot_be_read_is_named(change, says):
    claim = committed.certificate("student_t.sensitivity-1-tight")["claim"]
    change(claim)
    with pytest.raises(CertificateError, match=says):
        from_json(claim)


def test_long_values_are_shown_by_their_beginning():
    claim = committed.certificate("student_t.sensitivity-1-tight")["claim"]
    with pytest.raises(CertificateError) as error:
        from_json({**claim, "epsilon": list(range(100))})
    assert "'epsilon' is [0, 1, 2" in str(error.value) and len(str(error.value)) < 160


def test_the_way_out_of_a_refused_certificate_is_told(tmp_path):
    data = committed.certificate("student_t.sensitivity-1-just-below")
    file = tmp_path / "a.cert.json"
    for change, code in (({"prec": None}, 2), ({"lines": "none"}, 2)):
        file.write_text(json.dumps({**data, **change}), encoding="utf-8")
        found = recheck(file)
        assert (found.code, found.lines[-1]) == (code, WAY_OUT)

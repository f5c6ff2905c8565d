"""Forged certificates: whatever is changed, the kernel either refuses it with a reason or proves nothing more than before."""

import copy
import json
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpverify.evidence.collected import encode
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.canonical_form import claim_hash
from dpverify.trusted.kernel.certificate import decode
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Expr, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, Exponential, KaryResponse, Kernel, Query, Radial, Staircase, Table
from tests.proofs import Step, certified, forged, line, saying

HALF = parse("1/2")
CLAIMS = {
    "table": Claim(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))), parse("log(3)")),
    "scores": Claim(Exponential(((num(0), num(1)), (num(1), num(0))), parse("1/2")), num(1)),
    "kary": Claim(KaryResponse(parse("k"), HALF), parse("log(k - 1)"), domains=(("k", Domain(Fraction(2), None, False, True, True)),)),
    "staircase": Claim(Staircase(num(1), HALF), num(2), sensitivity=num(2)),
    "kernel": Claim(Kernel(parse("1 + theta*(y - 1/2)"), (num(0), num(1)), (num(0), num(1))), num(2)),
    "radial": Claim(Radial(parse("exp(-r)"), L2, num(3)), num(1), sensitivity=num(1)),
}
DEEP: list[Any] = []
for _ in range(50):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**70, 10**4000, 1.5, float("nan"), "", "0", "1", "-1", "1/0", "nan", "inf", "-inf", "1e999999999",
    "1*2^9999999", "log(0)", "log(-1)", "exp(10**100)", "9**9**9**9", "x", "r", "theta", "__import__('os')", "\ud800", "\0", "a\nb",
    "1" * 5000, "((((", "0.5", "1_0", "1 ", "\uff11", [], [[]], [1], ["1"], {}, {"a": 1}, DEEP, "tight", ["corner", 0], ["corner", -9],
    ["cut", ["1", "0", "0"], "0", ["corner", 0], ["corner", 0]], ["values"], ["slide", ["1", "0", "0"], []], "besselk(10**9, 1)",
)  # fmt: skip


@pytest.fixture(scope="module", params=CLAIMS)
def genuine(request) -> dict[str, Any]:
    verified = verify(CLAIMS[request.param])
    assert verified.judgement.verdict == "PROVED"
    data = decode(encode(verified.certificate).encode())
    assert kernel.check(data).verdict == "PROVED"
    return data


def places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value inside a JSON value."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(place for key, value in inside for place in places(value, (*at, key)))]


def changed(data: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    result = copy.deepcopy(data)
    inner: Any = result
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return result


@pytest.mark.sampled(2)
def test_a_change_anywhere_is_refused_with_a_reason_or_changes_no_verdict(genuine):
    rng = random.Random(7)
    every = places(genuine)[1:]
    for place in rng.sample(every, min(len(every), 80)):
        for value in rng.sample(VALUES, 8):
            made = changed(genuine, place, value)
            if isinstance(made["claim"], dict) and rng.random() < 0.7:
                made["claim_sha256"] = claim_hash(made["claim"])
            for verdict in {str(made["verdict"]), "PROVED", "REFUTED"}:
                try:
                    judgement = kernel.check({**made, "verdict": verdict})
                except (CertificateError, Rejected) as error:
                    assert str(error)
                    continue
                assert judgement.verdict == verdict
                if made["claim"] == genuine["claim"]:
                    assert verdict == "PROVED", f"{place} = {value!r} refutes what is true"


def test_the_claim_of_another_certificate_is_judged_as_what_it_is(genuine):
    for other in CLAIMS.values():
        stolen = {**pack(other, genuine["prec"], "PROVED", ()), "lines": genuine["lines"]}
        if stolen["claim"] == genuine["claim"]:
            continue
        with pytest.raises((CertificateError, Rejected)):
            kernel.check(stolen)


@pytest.mark.parametrize("value", ["true", "1", "1.0"])
def test_one_claim_has_one_text(value):
    data = certified(CLAIMS["kary"], "PROVED", Step("kary-response", {"side": "upper"}))
    data["claim"]["domains"]["k"]["integer"] = json.loads(value)
    data["claim_sha256"] = claim_hash(data["claim"])
    if value == "true":
        assert kernel.check(data).verdict == "PROVED"
    else:
        with pytest.raises(CertificateError):
            kernel.check(data)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "0.5", "1_000", " 1", "\u0661"])
def test_a_fraction_is_two_integers(text):
    data = certified(CLAIMS["kary"], "PROVED", Step("kary-response", {"side": "upper"}))
    data["claim"]["domains"]["k"]["lower"] = text
    data["claim_sha256"] = claim_hash(data["claim"])
    with pytest.raises(CertificateError, match=r"'lower' is .* which dpverify does not write there"):
        kernel.check(data)
    with pytest.raises(CertificateError, match="not an exact rational"):
        kernel.check(forged(CLAIMS["kary"], "UNKNOWN", line("kary-response", {"side": "lower", "at": {"k": text}})))


@pytest.mark.parametrize("name", ["table", "scores", "kary", "staircase", "kernel"])
def test_a_query_is_asked_of_additive_noise_only(name):
    claim = replace(CLAIMS[name], sensitivity=None, query=Query(((Fraction(3),),), "add-remove"))
    with pytest.raises(CertificateError, match="query"):
        kernel.check(pack(claim, 128, "UNKNOWN", ()))



def test_a_claim_has_one_sensitivity():
    claim = replace(CLAIMS["radial"], query=Query(((Fraction(3),),) * 3, "add-remove"))
    with pytest.raises(CertificateError, match="beside"):
        kernel.check(pack(claim, 128, "UNKNOWN", ()))


@pytest.mark.parametrize("value", ["log(0)", "log(-1)", "1/gamma(-1)", "log(a - 1)", "a**(1/2)/(a - 1)", "9**9**9**9"])
def test_an_upper_bound_without_a_value_proves_no_finite_epsilon(value):
    domains = (("a", Domain(Fraction(0))),)
    epsilons: list[Expr | None] = [None, parse(value)]
    for epsilon in epsilons:
        claim = Claim(CLAIMS["table"].mechanism, epsilon, domains=domains)
        assert kernel.judge(claim, [saying(claim, "finite-table", Bound("upper", parse(value)))]).verdict == "UNKNOWN"


@pytest.mark.parametrize("name", ["r", "pi"])
def test_a_parameter_named_as_a_variable_or_a_constant_is_refused(name):
    data = pack(CLAIMS["radial"], 128, "UNKNOWN", [])
    data["claim"]["domains"][name] = {"lower": "0", "upper": None, "lower_open": True, "upper_open": True, "integer": False}
    data["claim_sha256"] = claim_hash(data["claim"])
    with pytest.raises(CertificateError, match="cannot name a parameter"):
        kernel.check(data)


@pytest.mark.parametrize("name", ["a\nPROVED   b.cert.json", "\x1b[2K", "\ud800"])
def test_a_name_prints_as_one_line(name):
    data = pack(CLAIMS["radial"], 128, "UNKNOWN", [])
    data["claim"]["name"] = name
    data["claim_sha256"] = claim_hash(data["claim"])
    with pytest.raises(CertificateError, match="cannot be seen"):
        kernel.check(decode(encode(data).encode()))


def test_an_output_that_cannot_be_written_is_no_refusal_by_a_rule(tmp_path):
    file = tmp_path / "a.cert.json"
    file.write_text(encode(pack(CLAIMS["table"], 128, "UNKNOWN", [])), encoding="utf-8")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        left = subprocess.run([sys.executable, "-m", "dpverify.kernel", str(file)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert left.returncode == 2
    assert "cannot write" in left.stderr
    assert "Traceback" not in left.stderr


def test_variables_of_spaces_have_names_that_no_parameter_has():
    claim = replace(CLAIMS["kary"], domains=(*CLAIMS["kary"].domains, ("k__1", Domain(Fraction(1)))))
    with pytest.raises(CertificateError, match="cannot name a parameter"):
        kernel.check(pack(claim, 128, "UNKNOWN", ()))

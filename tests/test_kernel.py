"""The kernel derives its verdict from the lines alone, and takes only certificates that are what they say."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from dpverify.evidence.collected import encode
from dpverify.evidence.recheck import recheck
from dpverify.search.certificates import pack
from dpverify.trusted.facts.unusable import unusable
from dpverify.trusted.kernel import certificate, proof
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, to_json
from dpverify.trusted.kernel.certificate import MAX_LINES, Line, decode, unpack
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Domain,
    Guarantee,
    Measure,
    NoisyMax,
    Part,
    Radial,
    Sampled,
    Table,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.registry import ANYWHERE, IN_MEASURES, OF_CURVES, OF_THE_MECHANISM, RULES
from tests import committed
from tests.proofs import Step, bound, line, saying

QUARTER, THREE = Num(Fraction(1, 4)), Num(Fraction(3, 4))
RESPONSE = Table(((THREE, QUARTER), (QUARTER, THREE)))  # epsilon = log(3) exactly (theory#finite-table)
UPPER = line("finite-table", {"cells": [[0, 1, 0]]})
LOWER = line("finite-table", {"cell": [0, 1, 0]})


def judged(epsilon: str | None, *bounds: Bound, delta: str | None = "0", domains=()) -> kernel.Judgement:
    claim = Claim(RESPONSE, parse(epsilon) if epsilon else None, parse(delta) if delta else None, domains=domains)
    return kernel.judge(claim, [saying(claim, "finite-table", b) for b in bounds])


def upper(text: str) -> Bound:
    return Bound("upper", parse(text))


def lower(text: str, **at: str) -> Bound:
    return Bound("lower", parse(text), at={name: parse(value) for name, value in at.items()})


# -- the verdict --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "bounds", "verdict"),
    [
        ("1", [], "UNKNOWN"),
        ("1", [upper("1")], "PROVED"),
        ("log(3)", [upper("log(9)/2")], "PROVED"),
        ("1", [upper("1.000000001")], "UNKNOWN"),
        ("1", [upper("2"), upper("1/2")], "PROVED"),
        ("1", [lower("1")], "UNKNOWN"),
        ("1", [lower("1.000000001")], "REFUTED"),
        ("1", [Bound("lower", INFINITE)], "REFUTED"),
        ("1", [Bound("upper", INFINITE)], "UNKNOWN"),
        (None, [upper("7")], "PROVED"),
        (None, [lower("7")], "UNKNOWN"),
        (None, [Bound("lower", INFINITE)], "REFUTED"),
        (None, [Bound("upper", INFINITE)], "UNKNOWN"),
    ],
)
def test_the_verdict_compares_bounds_with_the_claim_exactly(epsilon, bounds, verdict):
    assert judged(epsilon, *bounds).verdict == verdict


def test_the_enclosure_is_the_least_upper_and_the_greatest_lower_bound():
    judgement = judged("1", upper("3"), lower("1/2"), upper("2"), lower("1/3"))
    assert (judgement.lower, judgement.upper) == (parse("1/2"), parse("2"))


@pytest.mark.parametrize("delta", ["1/10", None])
def test_a_bound_of_pure_privacy_proves_any_delta_and_refutes_only_delta_zero(delta):
    assert judged("1", upper("1"), delta=delta).verdict == "PROVED"
    assert judged("1", lower("2"), delta=delta).verdict == "UNKNOWN"
    assert judged("1", Bound("lower", INFINITE), delta=delta).verdict == "UNKNOWN"
    assert judged("1", lower("2"), delta=delta).lower is None


@pytest.mark.parametrize("epsilon", ["-1", "log(1/2)"])
def test_a_negative_epsilon_has_no_tight_delta(epsilon):
    laplace = Claim(Radial(parse("exp(-r)"), L1, num(1), num(2)), parse(epsilon), parse("11/20"), sensitivity=num(1))
    for step in (Step("closed-profile", {}), Step("privacy-profile", {"curve": {"rule": "laplace"}, "delta": True})):
        with pytest.raises(Rejected, match="at least 0"):
            bound(laplace, step)


def test_a_negative_delta_is_never_proved():
    assert judged("1", upper("1"), delta="-1/10").verdict == "UNKNOWN"


def test_a_claim_for_all_parameters_needs_the_bound_for_all_and_falls_to_one_value():
    domains = (("a", Domain(Fraction(0))),)
    assert judged("2*a", upper("a"), domains=domains).verdict == "PROVED"
    assert judged("a**2", upper("a"), domains=domains).verdict == "UNKNOWN"
    refuted = judged("a**2", lower("a", a="1/2"), domains=domains)
    assert refuted.verdict == "REFUTED"
    assert refuted.witness["at"] == {"a": "1/2"}
    assert refuted.lower is None, "a bound at one value encloses nothing for the others"


def test_a_lower_bound_outside_the_domain_refutes_nothing():
    domains = (("a", Domain(Fraction(0))),)
    assert judged("a", lower("1", a="-1"), domains=domains).verdict == "UNKNOWN"
    assert judged("a", lower("1", b="1/2"), domains=domains).verdict == "UNKNOWN"
    assert judged("a", lower("1", a="1/2"), domains=(("a", Domain(Fraction(0), integer=True)),)).verdict == "UNKNOWN"


def test_bounds_that_contradict_each_other_are_a_fault_and_no_verdict():
    with pytest.raises(RuntimeError, match="contradict"):
        judged("1", upper("1/2"), lower("2"))
    with pytest.raises(RuntimeError, match="contradict"):
        judged("9", upper("5"), Bound("lower", INFINITE))
    with pytest.raises(RuntimeError, match="contradict"):
        judged("9", upper("a"), lower("2", a="1"), domains=(("a", Domain(Fraction(0))),))


def test_nothing_at_delta_zero_speaks_of_a_delta_below():
    # no epsilon meets a delta below 0, whatever is pure
    assert judged("1", upper("1/2"), Bound("lower", INFINITE, quantity="epsilon"), delta="-1").verdict == "REFUTED"


def test_a_certificate_whose_lines_contradict_each_other_is_refused(monkeypatch):
    def judge(*_):
        raise RuntimeError("the rules contradict each other")

    monkeypatch.setattr(kernel, "judge", judge)
    with pytest.raises(CertificateError, match="cannot be judged together: the rules contradict"):
        kernel.check(certified("2", "PROVED"))


# -- certificates -----------------------------------------------------------------------------------------


def certified(epsilon: str, verdict: str, *lines: Line, prec: int = 128) -> dict:
    return pack(Claim(RESPONSE, parse(epsilon), mechanism_name="rr", name="a claim"), prec, verdict, lines)


def test_a_certificate_checks_and_survives_its_text():
    data = certified("1.1", "PROVED", UPPER, LOWER)
    judgement = kernel.check(decode(encode(data).encode()))
    assert judgement.verdict == "PROVED"
    assert judgement.lower == judgement.upper == parse("log(3)")
    assert judgement.rules == ("finite-table",)
    assert kernel.check(certified("1.09", "REFUTED", LOWER)).witness is not None


def test_the_stated_verdict_must_be_the_derived_one():
    for stated in ("REFUTED", "UNKNOWN"):
        with pytest.raises(CertificateError, match=f"says {stated}, its lines give PROVED"):
            kernel.check(certified("1.1", stated, UPPER))
    with pytest.raises(CertificateError, match="says PROVED, its lines give UNKNOWN"):
        kernel.check(certified("1.09", "PROVED", UPPER))


def test_a_rule_that_refuses_its_evidence_is_named():
    with pytest.raises(Rejected, match="finite-table"):
        kernel.check(certified("1.1", "PROVED", line("finite-table", {"cells": [[0, 1, 1]]})))


def _set(path: tuple, value):
    def change(data: dict) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set(("schema",), "dpverify-certificate/1"), "this version reads 'dpverify-certificate/2'"),
        (_set(("schema",), "dpverify-certificate/3"), "this version reads 'dpverify-certificate/2'"),
        (_set(("claim", "epsilon"), "1/100"), "made for another claim"),
        (_set(("claim", "mechanism", "rows", 0, 0), "1/2"), "made for another claim"),
        (_set(("claim", "epsilon"), "2/2"), "not in canonical form"),
        (_set(("claim", "extra"), 1), "not in canonical form"),
        (_set(("claim", "sensitivity"), "5"), "states a sensitivity of the kind table, which takes none"),
        (_set(("claim", "mechanism", "kind"), "magic"), "stands where a mechanism of a known kind does"),
        (_set(("claim", "mechanism", "kind"), []), "stands where a mechanism of a known kind does"),
        (_set(("claim", "mechanism"), {"kind": "table"}), "the key 'rows' is missing in {'kind': 'table'}"),
        (_set(("claim", "mechanism"), "table"), "'table' stands where a mechanism of a known kind does"),
        (_set(("claim", "mechanism", "rows", 0, 0), "1/"), "'rows' is no expression: the expression ends too early"),
        (_set(("claim", "mechanism", "rows"), 7), "'rows' is 7, which dpverify does not write there"),
        (_set(("claim", "delta"), None), "not in canonical form"),
        (_set(("claim", "delta"), 0), "'delta' is 0, which dpverify does not write there"),
        (_set(("claim", "utility"), 1), "not in canonical form"),
        (_set(("claim", "domains"), []), "it is no object, or its 'domains' are none"),
        (_set(("claim", "domains"), {"p": 3}), "3 stands where an object does"),
        (_set(("claim", "domains"), {"p": {"lower": "0"}}), "not in canonical form"),
        (_set(("claim", "query"), {"rows": [["1"]]}), "the key 'adjacency' is missing in"),
        (_set(("claim", "query"), {"rows": [["1.0"]], "adjacency": "replace"}), "'rows' is .* which dpverify does not write there"),
        (
            _set(("claim", "measure"), {"name": "tcdp", "value": None, "at": None}),
            "states the measure 'tcdp', which is none of zcdp, gdp, renyi",
        ),
        (
            _set(("claim", "measure"), {"name": "zcdp", "value": None, "at": "2"}),
            "no order above 1 of the divergence .*, or one of no divergence",
        ),
        (_set(("claim", "measure"), {"name": "renyi", "value": None, "at": None}), "no order above 1 of the divergence"),
        (_set(("claim", "measure"), {"name": "renyi", "value": None, "at": "1"}), "no order above 1 of the divergence"),
        (_set(("claim",), []), "claim"),
        (_set(("claim_sha256",), "0" * 64), "made for another claim"),
        (_set(("prec",), 10**9), "prec"),
        (_set(("prec",), True), "prec"),
        (_set(("prec",), "128"), "prec"),
        (_set(("verdict",), "proved"), "verdict"),
        (_set(("verdict",), ["PROVED"]), "verdict"),
        (_set(("lines",), {}), "lines: not a list"),
        (_set(("lines",), [{}] * (MAX_LINES + 1)), "at most 8192 lines"),
        (_set(("lines", 0), "trust me"), "line 0: not an object"),
        (_set(("lines", 0), {}), "line 0: rule missing"),
        (_set(("lines", 0, "rule"), "trust-me"), "line 0: unknown rule"),
        (_set(("lines", 0, "rule"), 7), "line 0: rule must be a name"),
        (_set(("lines", 0, "note"), "hello"), "line 0: unknown key"),
        (_set(("lines", 0, "evidence"), {}), "line 0: unknown key"),
        (_set(("lines", 0, "parameters"), []), "line 0: .* parameters an object"),
        (_set(("lines", 0, "parameters", "cells"), 7), "line 0: finite-table: what it is given cannot be used"),
        (_set(("lines", 0, "place"), 0), "line 0: .* place a list"),
        (_set(("lines", 0, "place"), [1]), "line 0: the place: 'a step' is 1, not a whole number from 0 to 0"),
        (_set(("lines", 0, "place"), [[0]]), r"line 0: the place '\[0\]' is none in this mechanism"),
        (_set(("lines", 0, "premises"), [0]), "line 0: premises must be a list of numbers of lines before it"),
        (_set(("lines", 0, "premises"), {}), "line 0: premises must be a list"),
        (_set(("lines", 1, "premises"), [0]), "line 1: finite-table: it does not use 1 of its 1 premises"),
        (_set(("lines", 1, "premises"), [1]), "line 1: premises must be a list of numbers of lines before it"),
        (_set(("lines", 1, "premises"), [2]), "line 1: premises must be a list of numbers of lines before it"),
        (_set(("lines", 1, "premises"), [-1]), "line 1: premises must be a list of numbers of lines before it"),
        (_set(("lines", 1, "premises"), [False]), "line 1: premises must be a list of numbers of lines before it"),
        (_set(("lines", 1, "premises"), ["0"]), "line 1: premises must be a list of numbers of lines before it"),
        (_set(("lines", 0, "prec"), 10**9), "line 0: prec is 1000000000, not a number of bits"),
        (_set(("lines", 0, "prec"), 52), "line 0: prec is 52, not a number of bits"),
        (_set(("lines", 0, "prec"), True), "line 0: prec is True, not a number of bits"),
        (_set(("lines", 0, "prec"), "128"), "line 0: prec is '128', not a number of bits"),
        (_set(("note",), "hello"), "unknown key"),
        (lambda data: data.pop("prec"), "prec missing"),
        (_set(("lines", 0, "parameters", "cells"), 0.5), "exact values only"),
        (_set(("lines", 0, "place"), [0.5]), "exact values only"),
    ],
)
def test_a_damaged_certificate_is_refused_with_where_and_why(change, said):
    data = certified("1.1", "PROVED", UPPER, LOWER)
    change(data)
    with pytest.raises(CertificateError, match=said):
        kernel.check(data)


ZCDP = Measure("zcdp", num(1))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim(RESPONSE, None, delta=num(1), measure=ZCDP), "an epsilon or a delta beside a measure"),
        (Claim(RESPONSE, num(1), measure=ZCDP), "an epsilon or a delta beside a measure"),
        (Claim(RESPONSE, None, order="reverse", utility=True), "asks for errors beside an order or nearness"),
        (Claim(Guarantee("zcdp", ((num(1),),), "sideways"), None), "the order 'sideways', which is none of one-sided, reverse"),
        (Claim(Compose((Part(Guarantee("zcdp", ((num(1),),), "sideways")),)), None), "the order 'sideways', which is none of"),
        (Claim(NoisyMax(Sampled(), num(3)), None), "'noise' is .*, which dpverify does not write there"),
    ],
)
def test_what_a_claim_states_fits_together(claim, said):
    with pytest.raises(CertificateError, match=said):
        from_json(to_json(claim))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not JSON at line 1"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b'{"a": 0.5}', "exact values only"),
        (b'{"a": NaN}', "exact values only"),
        (b"[" * 100_000, "deep"),
        (b"[" + b"9" * 5000 + b"]", "not a certificate"),
    ],
)
def test_text_that_is_not_plain_exact_json_is_refused(text, said):
    with pytest.raises(CertificateError, match=said):
        decode(text)


@pytest.mark.parametrize("data", [None, [], 1, "x", {}, {"schema": None}])
def test_json_that_is_no_certificate_is_refused(data):
    with pytest.raises(CertificateError):
        kernel.check(data)


def test_nesting_beyond_need_is_refused_without_recursion():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(CertificateError, match="deep"):
        unpack({"schema": deep})


@given(st.data())
def test_a_mutated_certificate_never_says_more_than_its_own_claim_allows(data):
    text = encode(certified("1.1", "PROVED", UPPER, LOWER))
    for _ in range(data.draw(st.integers(1, 3))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 2))
        text = text[:at] + data.draw(st.sampled_from(["0", "9", "1", "-", '"', "{", "]", "3/4", ""])) + text[at + cut :]
    try:
        value = decode(text.encode())
        if data.draw(st.booleans()) and isinstance(value, dict) and isinstance(value.get("claim"), dict):
            value["claim_sha256"] = claim_hash(value["claim"])
        judgement = kernel.check(value)
    except (CertificateError, Rejected):
        return
    if judgement.verdict == "PROVED" and isinstance(judgement.claim.mechanism, Table) and judgement.claim.epsilon is not None:
        rows = [[entry.value for entry in row] for row in judgement.claim.mechanism.rows]
        worst = max(a / b for p, q in (rows, rows[::-1]) for a, b in zip(p, q, strict=True))
        # epsilon >= log(worst) >= 1 - 1/worst
        assert judgement.claim.epsilon.value >= 1 - 1 / worst


# -- running rules ------------------------------------------------------------------------------------------


def fake(check) -> SimpleNamespace:
    return SimpleNamespace(NAME="fake", ASSUMED=("the moon",), check=check)


def of_the_claim(monkeypatch, check) -> None:
    proof._known.clear()
    monkeypatch.setattr(proof, "RULES", {"fake": fake(check)})
    monkeypatch.setattr(proof, "EXPLAINED", {"fake": fake(check)})


def inferred(claim: Claim, prec: int = 200, **parameters) -> tuple[Bound, ...]:
    """What a fake rule proves, in a proof of its own."""
    return as_bounds(kernel.infer(Proof(claim), "fake", parameters, (), prec).says)


def run_with(monkeypatch, check, prec: int = 200) -> tuple[Bound, ...]:
    of_the_claim(monkeypatch, check)
    return inferred(Claim(RESPONSE, num(1)), prec)


def test_a_rule_runs_at_the_precision_of_its_line_and_flint_gets_its_own_back(monkeypatch):
    before, seen = ctx.prec, []

    def check(claim, evidence):
        seen.append(ctx.prec)
        return Bound("upper", num(1))

    run_with(monkeypatch, check)
    assert seen == [200]
    assert ctx.prec == before


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), ValueError("x"), ZeroDivisionError("x"), RecursionError("x")])
def test_parameters_that_make_a_rule_stumble_are_a_damaged_certificate(monkeypatch, error):
    def check(claim, evidence):
        raise error

    with pytest.raises(CertificateError, match="fake: what it is given cannot be used"):
        run_with(monkeypatch, check)


def test_every_judgement_shows_what_its_rules_assume(monkeypatch):
    of_the_claim(monkeypatch, lambda claim, evidence: Bound("upper", num(1), assumed=("the sun",)))
    claim = Claim(Sampled(), num(1))
    judgement = kernel.judge(claim, [kernel.infer(Proof(claim), "fake", {}, (), 128)])
    assert judgement.assumptions == ("the moon", "the sun")


def of_the_mechanism(monkeypatch, check) -> None:
    of_the_claim(monkeypatch, check)
    monkeypatch.setattr(proof, "OF_THE_MECHANISM", frozenset(("fake",)))


def test_a_rule_about_the_mechanism_is_asked_once_for_all_claims_of_it_and_never_shown_what_is_claimed(monkeypatch):
    seen = []

    def check(claim, evidence):
        seen.append((claim.epsilon, claim.delta, claim.name, claim.mechanism_name, claim.sensitivity, evidence, ctx.prec))
        return Bound("upper", num(3))

    of_the_mechanism(monkeypatch, check)
    one = Claim(RESPONSE, num(1), num(0), num(1), name="one", mechanism_name="response")
    for claim in (one, Claim(RESPONSE, num(2), Num(Fraction(1, 9)), num(1), name="two"), Claim(RESPONSE, None, None, num(1))):
        assert inferred(claim, cut="1/2") == (Bound("upper", num(3)),)
    assert seen == [(None, num(0), "", "", num(1), {"cut": "1/2"}, 200)]
    inferred(one, cut="1/3")
    inferred(one, 201, cut="1/2")
    inferred(Claim(RESPONSE, num(1), num(0), num(2)), cut="1/2")
    assert len(seen) == 4


def test_a_refusal_is_never_remembered_as_a_proof(monkeypatch):
    def check(claim, evidence):
        raise Rejected("fake", "here", "not so")

    of_the_mechanism(monkeypatch, check)
    for _ in range(2):
        with pytest.raises(Rejected, match="not so"):
            inferred(Claim(RESPONSE, num(1)))


def test_a_rule_about_the_mechanism_that_speaks_of_what_is_claimed_is_a_fault(monkeypatch):
    of_the_mechanism(monkeypatch, lambda claim, evidence: Bound("upper", num(0), quantity="delta"))
    with pytest.raises(RuntimeError, match="more than the mechanism"):
        inferred(Claim(RESPONSE, num(1)))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("rule", sorted(OF_THE_MECHANISM))
def test_rules_about_the_mechanism_prove_the_same_whatever_is_claimed(rule):
    texts = sorted(map(committed.text, committed.names()), key=len)
    read = (unpack(decode(text)) for text in texts if f'"rule": "{rule}"'.encode() in text)
    found = next(((c, number) for c in read for number, one in enumerate(c.lines) if one.rule == rule and not one.place), None)
    assert found is not None, f"no committed certificate uses {rule} of the whole"
    certificate, number = found
    given, module = certificate.lines[number], RULES[rule]
    premises = kernel.replay(certificate)
    with precision(given.prec):
        arguments = certificate.claim, given.parameters
        direct = module.infer(*arguments, [premises[i] for i in given.premises]) if hasattr(module, "infer") else module.check(*arguments)
    for epsilon, delta in ((num(1), num(0)), (None, Num(Fraction(1, 3))), (num(10**6), None)):
        other = replace(certificate.claim, epsilon=epsilon, delta=delta, name="another")
        facts = kernel.replay(replace(certificate, claim=other, lines=up_to(certificate.lines, number)))
        assert as_bounds(facts[-1].says) == (direct if isinstance(direct, tuple) else (direct,))


def up_to(lines: tuple[Line, ...], number: int) -> tuple[Line, ...]:
    """A line with those that it rests on, whichever way, and no others."""
    kept, left = set(), [number]
    while left:
        kept.add(at := left.pop())
        left += lines[at].premises
    order = sorted(kept)
    return tuple(replace(lines[at], premises=tuple(map(order.index, lines[at].premises))) for at in order)


def test_a_rule_speaks_of_parts_where_the_registry_says_so_alone():
    parts = Compose((Part(RESPONSE), repeated(Part(RESPONSE), num(2))))
    for rule in {*RULES, *OF_CURVES}:
        try:
            Proof(Claim(parts, num(1))).infer(rule, (0,))
        except (Rejected, CertificateError) as error:
            refused = "it speaks of the whole claim, not of a part" in str(error)
        else:
            refused = False
        assert refused == (rule not in ANYWHERE | OF_CURVES | IN_MEASURES), rule


# -- the command --------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_the_kernel_alone_rechecks_files(tmp_path):
    good, bad, forged = tmp_path / "good.cert.json", tmp_path / "bad.cert.json", tmp_path / "forged.cert.json"
    good.write_text(encode(certified("1.1", "PROVED", UPPER)))
    bad.write_text("{")
    forged.write_text(json.dumps(certified("1.1", "PROVED", line("finite-table", {"cells": [[0, 1, 1]]}))))
    for files, code in (([good], 0), ([good, forged], 1), ([good, forged, bad], 2), ([tmp_path / "absent"], 2), ([], 2)):
        run = subprocess.run([sys.executable, "-m", "dpverify.kernel", *map(str, files)], capture_output=True, text=True, check=False)
        assert run.returncode == code, run.stderr
    assert recheck(good).lines[0] == f'PROVED   {good}: "rr", "a claim", epsilon 11/10, delta 0'


@pytest.mark.parametrize(("value", "shown"), [(7, "7"), (10**99, "1" + 56 * "0" + "...")])
def test_a_reader_is_told_what_a_rule_had_read_where_it_stopped(tmp_path, value, shown):
    file = tmp_path / "stumbles.cert.json"
    data = certified("1.1", "PROVED", UPPER)
    data["lines"][0]["parameters"] = {"cells": value}
    file.write_text(json.dumps(data))
    found = recheck(file)
    assert found.code == 2
    assert f"line 0: finite-table: what it is given cannot be used. The rule had read 'cells' last, {shown}. Its" in found.lines[0]


@pytest.mark.parametrize(
    ("ask", "key", "missing"), [(lambda p: p["x"], "x", True), (lambda p: p.get("y") + 1, "y", False), (len, "", True)]
)
def test_what_a_rule_stumbled_over_is_what_it_read_last(ask, key, missing):
    found = unusable("fake", ask, {"y": None})
    assert (found.key, found.missing) == (key, missing)
    assert isinstance(found, CertificateError)


def test_verdicts_have_one_order():
    assert certificate.VERDICTS == ("REFUTED", "UNKNOWN", "PROVED")


def test_the_trusted_kernel_run_by_itself_says_what_to_run():
    """A script that gives it certificates must not take silence for a pass."""
    command = [sys.executable, "-P", "-m", "dpverify.trusted.kernel.judgement", "a.cert.json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0 and "dpverify.kernel" in run.stderr

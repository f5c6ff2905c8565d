"""Claims in zCDP, GDP and Renyi divergences: against brute force, near the boundary, and with forged evidence."""

import copy
import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, floor, log
from random import Random
from statistics import NormalDist

import numpy as np
import pytest
from click.testing import CliRunner

from dpverify.cli import main
from dpverify.report.page.sections import statement
from dpverify.search import kinds
from dpverify.search.divergences import in_measures
from dpverify.search.proposal import Proposal
from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.canonical_form import claim_hash
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    Claim,
    Compose,
    Domain,
    Exponential,
    Group,
    Guarantee,
    KaryResponse,
    Measure,
    Part,
    PostProcess,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof

NORMAL = NormalDist()
LAPLACE = Radial(parse("exp(-r)"), L1, ONE)
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L1, ONE)
ZCDP, GDP, ORDER2 = Measure("zcdp", None), Measure("gdp", None), Measure("renyi", None, Fraction(2))
ORDERS = [1 + 10.0 ** (k / 20) for k in range(-120, 61)]


def enclosed(mechanism, measure, order="", **more):
    """Both bounds on the tight value, as floats."""
    judgement = verify(Claim(mechanism, None, measure=measure, order=order, **more), 20).judgement
    return tuple(
        float("nan") if b is None else float("inf") if b is INFINITE else float(constant(b).mid())
        for b in (judgement.lower, judgement.upper)
    )


def verdict(mechanism, name, value, at=None, order="", **more):
    claim = Claim(mechanism, None, measure=Measure(name, parse(value), at), order=order, **more)
    return verify(claim, 20).judgement.verdict


def table(rows, adjacent=None):
    return Table(tuple(tuple(map(num, row)) for row in rows), adjacent)


def random_table(seed, inputs=3, outputs=4):
    random = Random(seed)
    rows = [[random.randint(1, 9) for _ in range(outputs)] for _ in range(inputs)]
    return [[Fraction(x, sum(row)) for x in row] for row in rows]


def pairs(rows):
    return [(p, q) for p in rows for q in rows if p is not q]


def divergence(p, q, order):
    p, q = (np.array([float(x) for x in row]) for row in (p, q))
    return float(np.logaddexp.reduce(np.log(p) + (order - 1) * np.log(p / q)) / (order - 1))


def most_gdp(p, q):
    """The greatest mu of any event: the trade-off function lies above the Gaussian one exactly where every event does."""
    found = []
    for size in range(1, len(p)):
        for event in combinations(range(len(p)), size):
            found.append(NORMAL.inv_cdf(float(sum(p[i] for i in event))) - NORMAL.inv_cdf(float(sum(q[i] for i in event))))
    return max(found)


@pytest.mark.parametrize("seed", range(4))
def test_the_values_of_a_table_are_those_of_brute_force(seed):
    rows = random_table(seed)
    rho = max(divergence(p, q, order) / order for p, q in pairs(rows) for order in ORDERS)
    low, high = enclosed(table(rows), ZCDP)
    assert rho * (1 - 1e-9) <= high <= rho * (1 + 1e-3)
    assert low == pytest.approx(high, rel=1e-8)
    two = max(divergence(p, q, 2) for p, q in pairs(rows))
    assert enclosed(table(rows), ORDER2) == pytest.approx((two, two), rel=1e-12)
    mu = max(most_gdp(p, q) for p, q in pairs(rows))
    assert enclosed(table(rows), GDP) == pytest.approx((mu, mu), rel=1e-12)


@pytest.mark.parametrize("measure", [ZCDP, GDP, ORDER2], ids=lambda measure: measure.name)
def test_chords_of_the_curve_enclose_what_sums_over_the_outputs_give(measure):
    rows = table(random_table(7, 2, 3))
    claim, exact = Claim(rows, None, measure=measure), enclosed(rows, measure)
    proposal = Proposal()
    kinds.extend(proposal, Claim(rows, None), rows, 20, lambda single, side: None)
    proof = Proof(claim)
    pure = next(proof.infer(step["rule"], (), step["evidence"]) for step in proposal.steps if "cells" in step["evidence"])
    steps = list(in_measures._Curves(claim, proof, lambda single: None, pure).steps())
    bounds = {
        b.side: float(constant(b.value).mid())
        for step in steps
        for b in proof.infer(step["rule"], (), step["evidence"], step["premises"]).says
    }
    assert bounds["lower"] <= exact[0] * (1 + 1e-12)
    assert exact[1] * (1 - 1e-12) <= bounds["upper"] <= 1.5 * exact[1]  # the curve above is of both orders at once
    assert bounds["lower"] >= (1 - 5e-3) * exact[1]


def test_a_renyi_divergence_of_a_fractional_order_is_a_closed_form_too():
    rows = random_table(3, 2, 3)
    value = max(divergence(p, q, 1.5) for p, q in pairs(rows))
    assert enclosed(table(rows), Measure("renyi", None, Fraction(3, 2))) == pytest.approx((value, value), rel=1e-12)


def test_randomized_response_has_eps_tanh_half_eps_exactly():
    rows = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 5), Fraction(4, 5)]]
    assert verdict(table(rows), "zcdp", "log(4)*3/5") == "PROVED"
    assert verdict(table(rows), "zcdp", "log(4)*3/5 - 1/10**9") == "REFUTED"
    assert verdict(KaryResponse(num(2), parse("4/5")), "zcdp", "log(4)*3/5") == "PROVED"


def test_permute_and_flip_of_two_is_within_the_bound_by_its_range():
    heads = parse("exp(-1/2)/2")
    flip = Table(((parse("1 - exp(-1/2)/2"), heads), (heads, parse("1 - exp(-1/2)/2"))))
    assert verdict(flip, "zcdp", "log(2*exp(1/2) - 1)**2/2") == "PROVED"
    eps = log(2 * np.exp(0.5) - 1)
    assert enclosed(flip, ZCDP)[1] == pytest.approx(eps * np.tanh(eps / 2), rel=1e-12)


def test_the_exponential_mechanism_has_less_than_an_eighth_of_its_range_squared():
    mechanism = Exponential(((num(0), num(1)), (num(1), num(0))), ONE)
    low, high = enclosed(mechanism, ZCDP)
    eps = 1.0  # log(e/1): randomized response at epsilon 1, of range 2
    assert low <= eps * np.tanh(eps / 2) * (1 + 1e-12)
    assert high == pytest.approx(eps * np.tanh(eps / 2), rel=1e-12)
    assert verdict(mechanism, "zcdp", "1/2") == "PROVED"


@pytest.mark.parametrize("t", [Fraction(1, 2), Fraction(3), Fraction(12)])
def test_laplace_noise_has_its_mean_loss_in_zcdp_and_one_number_in_gdp(t):
    a = np.array(ORDERS)
    with np.errstate(over="ignore"):
        each = np.logaddexp(np.log(a / (2 * a - 1)) + (a - 1) * float(t), np.log((a - 1) / (2 * a - 1)) - a * float(t)) / (a - 1) / a
    low, high = enclosed(LAPLACE, ZCDP, sensitivity=num(t))
    assert low == pytest.approx(high, rel=1e-15)
    assert max(each) <= high * (1 + 1e-6)
    assert max(each) == pytest.approx(high, rel=1e-3)
    x = np.exp(-float(t) / 2)
    assert enclosed(LAPLACE, GDP, sensitivity=num(t))[1] == pytest.approx(-2 * NORMAL.inv_cdf(x / 2), rel=1e-9)
    # every threshold event is within it
    mu = -2 * NORMAL.inv_cdf(x / 2)
    for s in np.linspace(-6, 6 + float(t), 50):
        p = NORMAL.inv_cdf(min(max(1 - 0.5 * np.exp(-abs(s)) if s < 0 else 0.5 * np.exp(-s), 1e-15), 1 - 1e-15))
        u = s + float(t)
        q = NORMAL.inv_cdf(min(max(1 - 0.5 * np.exp(-abs(u)) if u < 0 else 0.5 * np.exp(-u), 1e-15), 1 - 1e-15))
        assert p - q <= mu + 1e-9


def test_laplace_noise_at_one_half_is_far_above_an_eighth_of_its_square():
    assert enclosed(LAPLACE, ZCDP, sensitivity=parse("1/2")) == pytest.approx((0.1065306597, 0.1065306597), rel=1e-9)


@pytest.mark.parametrize(("name", "value", "less"), [("zcdp", "1/8", "0.12499"), ("gdp", "1/2", "0.49999"), ("renyi", "1/4", "0.24999")])
def test_gaussian_noise_is_exact_in_every_measure(name, value, less):
    at = Fraction(2) if name == "renyi" else None
    assert verdict(GAUSSIAN, name, value, at, sensitivity=parse("1/2")) == "PROVED"
    assert verdict(GAUSSIAN, name, less, at, sensitivity=parse("1/2")) == "REFUTED"


def test_values_add_up_and_are_exact_for_one_mechanism_run_many_times():
    ten = Compose((repeated(Part(LAPLACE, parse("1/2")), num(10)),))
    assert verdict(ten, "zcdp", "10*(exp(-1/2) - 1/2)") == "PROVED"
    assert verdict(ten, "zcdp", "1.0653065") == "REFUTED"
    mixed = Compose((Part(LAPLACE, parse("1/2")), Part(GAUSSIAN, ONE), Part(Guarantee("zcdp", ((parse("1/10"),),)))))
    assert verdict(mixed, "zcdp", "exp(-1/2) - 1/2 + 1/2 + 1/10") == "PROVED"
    both = Compose((Part(GAUSSIAN, num(3)), Part(Guarantee("gdp", ((num(4),),)))))
    assert verdict(both, "gdp", "5") == "PROVED"
    assert verdict(both, "gdp", "4.99") == "UNKNOWN"


def counts(*parts):
    """A composition of noise that counts in one of two bins: (noise, bin, times)."""
    rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    return Compose(tuple(repeated(Part(noise, query=Query((rows[where],), "add-remove")), num(times)) for noise, where, times in parts))


def test_queries_on_the_same_records_are_looked_at_together():
    two = counts((LAPLACE, 0, 1), (LAPLACE, 1, 1))
    assert verdict(two, "zcdp", "exp(-1)") == "PROVED"
    assert verdict(two, "zcdp", "exp(-1) - 1/10**9") == "REFUTED"
    assert enclosed(two, ORDER2) == pytest.approx(enclosed(LAPLACE, ORDER2, sensitivity=ONE), rel=1e-15)
    mixed = counts((LAPLACE, 0, 3), (LAPLACE, 1, 1), (GAUSSIAN, 1, 1))  # a record moves three, or one and the Gaussian one
    assert enclosed(mixed, ZCDP) == pytest.approx((3 * np.exp(-1), 3 * np.exp(-1)), rel=1e-15)
    assert enclosed(mixed, Measure("renyi", None, Fraction(40)))[1] < 3 * enclosed(LAPLACE, ORDER2, sensitivity=ONE)[1] + 20


def test_a_pair_that_is_none_and_a_premise_about_another_one_are_refused():
    claim = Claim(counts((LAPLACE, 0, 1), (GAUSSIAN, 1, 1)), None, measure=ZCDP)
    proof = Proof(claim)
    laplace = proof.infer("laplace-measures", ({"choice": 0}, 0))
    known = [
        proof.infer("added-measures", ({"choice": 0},), {"side": "upper"}, [laplace]),
        proof.infer("gaussian-measures", ({"choice": 1},)),
    ]
    assert proof.infer("added-measures", (), {"side": "upper", "at": [0, 1]}, known)
    for numbers in ([1, 0], [0, 0], [0], [0, 2], [0, None], "01"):
        with pytest.raises((CertificateError, Rejected)):
            proof.infer("added-measures", (), {"side": "upper", "at": numbers}, known)
    there = [{"columns": 2, "adjacency": "add-remove", "difference": ["0", "1"]}]
    fact = proof.infer("gaussian-measures", ({"pair": there},))
    assert proof.infer("added-measures", (), {"side": "lower", "pair": there}, [fact])
    for difference in (["1", "0"], ["0", "2"], ["1", "1"]):
        with pytest.raises((CertificateError, Rejected)):
            proof.infer("added-measures", (), {"side": "lower", "pair": [{**there[0], "difference": difference}]}, [fact])


@pytest.mark.wide
def test_a_group_of_records_and_a_map_of_the_output():
    assert verdict(Group(Part(GAUSSIAN, ONE), num(3)), "zcdp", "9/2") == "PROVED"
    assert verdict(Group(Part(Guarantee("zcdp", ((ONE,),))), num(2)), "zcdp", "4") == "PROVED"
    assert verdict(PostProcess(Part(LAPLACE, ONE), "rounding"), "zcdp", "exp(-1)") == "PROVED"
    assert verdict(PostProcess(Part(LAPLACE, ONE), "rounding"), "zcdp", "1/100") == "UNKNOWN"


@pytest.mark.parametrize(
    ("known", "measure", "value"),
    [
        (Guarantee("zcdp", ((ONE,),)), ZCDP, 1),
        (Guarantee("zcdp", ((ONE,),)), ORDER2, 2),
        (Guarantee("gdp", ((ONE,),)), ZCDP, 0.5),
        (Guarantee("gdp", ((ONE,),)), ORDER2, 1),
        (Guarantee("bounded_range", ((num(2),),)), ZCDP, 0.5),
        (Guarantee("renyi", ((num(3), ONE),)), ORDER2, 1),
        (Guarantee("approximate", ((ONE, ZERO),)), ZCDP, np.tanh(0.5)),
        (Guarantee("approximate", ((ONE, ZERO),)), GDP, 2 * NORMAL.inv_cdf(np.e / (1 + np.e))),
    ],
)
def test_a_guarantee_implies_what_the_conversions_say(known, measure, value):
    assert enclosed(known, measure)[1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("known", "measure"),
    [
        (Guarantee("zcdp", ((ONE,),)), GDP),
        (Guarantee("renyi", ((num(2), ONE),)), ZCDP),
        (Guarantee("renyi", ((num(2), ONE),)), Measure("renyi", None, Fraction(3))),
        (Guarantee("approximate", ((ONE, parse("1/10")),)), ZCDP),
    ],
)
def test_a_guarantee_implies_nothing_where_nothing_follows(known, measure):
    found = verify(Claim(known, None, measure=measure), 20)
    assert (found.judgement.verdict, found.judgement.upper) == ("UNKNOWN", None)
    assert any("nothing is known" in reason for reason in found.reasons)


@pytest.mark.wide
def test_noise_of_another_shape_is_enclosed_by_its_curve():
    cauchy = Translation(parse("1/(1 + z**2)"))
    low, high = enclosed(cauchy, ORDER2, sensitivity=ONE)
    z = np.linspace(-4000, 4000, 1_000_001)
    f, g = 1 / np.pi / (1 + z**2), 1 / np.pi / (1 + (z - 1) ** 2)
    value = float(np.log(np.trapezoid(f * f / g, z) + 2 / np.pi / 4000))
    assert low <= value * (1 + 1e-3)
    assert value * (1 - 1e-3) <= high <= low * 1.01


@pytest.mark.parametrize(("rate", "mu", "order"), [("1/4", 1, 2), ("1/100", 2, 5), ("3/5", Fraction(1, 2), 16)])
def test_gaussian_noise_on_a_sample_has_the_divergence_of_the_mixture(rate, mu, order):
    sample = Subsample(Part(GAUSSIAN, num(mu)), parse(rate))
    z = np.linspace(-14, 40, 400_001)
    p, q = (-((z - shift) ** 2) / 2 - np.log(2 * np.pi) / 2 for shift in (float(mu), 0.0))
    mixed = np.logaddexp(np.log(float(Fraction(rate))) + p, np.log(1 - float(Fraction(rate))) + q)
    forward, reverse = (
        np.logaddexp.reduce(order * one + (1 - order) * other + np.log(z[1] - z[0])) / (order - 1)
        for one, other in ((mixed, q), (q, mixed))
    )
    measure = Measure("renyi", None, Fraction(order))
    assert enclosed(sample, measure) == pytest.approx((forward, forward), rel=1e-6)
    assert enclosed(sample, measure, "one-sided") == pytest.approx((forward, forward), rel=1e-6)
    assert reverse <= forward
    low, high = enclosed(sample, measure, "reverse")
    assert low <= reverse * (1 + 1e-9)
    assert reverse <= high * (1 + 1e-9)


def test_samples_of_gaussian_noise_add_up():
    steps = Compose((repeated(Part(Subsample(Part(GAUSSIAN, ONE), parse("1/100"))), num(1000)),))
    each = log(sum(comb(4, k) * 0.99 ** (4 - k) * 0.01**k * np.exp(k * (k - 1) / 2) for k in range(5))) / 3
    assert enclosed(steps, Measure("renyi", None, Fraction(4))) == pytest.approx((1000 * each, 1000 * each), rel=1e-9)


def test_an_output_that_one_input_alone_can_give_is_infinite_in_every_measure():
    rows = table([[Fraction(1, 2), Fraction(1, 2), Fraction(0)], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]])
    for measure in (ZCDP, GDP, ORDER2):
        assert verify(Claim(rows, None, measure=measure), 20).judgement.verdict == "REFUTED"


def test_parameters_that_are_left_open_want_a_value():
    claim = Claim(LAPLACE, None, sensitivity=parse("s"), domains=(("s", Domain(Fraction(0))),), measure=ZCDP)
    found = verify(claim, 20)
    assert found.judgement.verdict == "UNKNOWN"
    assert any("want a value for every parameter" in reason for reason in found.reasons)


# -- certificates ----------------------------------------------------------------------------------


def proved(mechanism, measure, **more):
    return dict(verify(Claim(mechanism, None, measure=measure, **more), 12).certificate)


def lines(packed, rule):
    return [line for line in packed["lines"] if line["rule"] == rule]


def test_a_certificate_in_a_measure_is_checked_again():
    packed = proved(table(random_table(1)), ZCDP)
    assert kernel.check(packed).verdict == "PROVED"


def forged(packed, change):
    packed = copy.deepcopy(packed)
    change(packed)
    packed["claim_sha256"] = claim_hash(packed["claim"])
    return packed


CHANGES = {
    "a claim of less": lambda packed: packed["claim"]["measure"].update(value="1/10**6"),
    "another measure": lambda packed: packed["claim"]["measure"].update(name="renyi"),
    "no measure": lambda packed: packed["claim"].pop("measure"),
    "an order of a measure that has none": lambda packed: packed["claim"]["measure"].update(at="2"),
    "an order of two neighbours that is none": lambda packed: packed["claim"].update(order="both"),
    "an epsilon beside it": lambda packed: packed["claim"].update(epsilon="1"),
    "cuts that do not begin at order 1": lambda packed: lines(packed, "finite-measures")[0]["parameters"]["cuts"].pop(0),
    "cuts that end too soon": lambda packed: lines(packed, "finite-measures")[0]["parameters"].update(cuts=["1", "11/10"]),
    "cuts that do not rise": lambda packed: lines(packed, "finite-measures")[0]["parameters"].update(cuts=["1", "3", "2", "100"]),
    "cuts that are no numbers": lambda packed: lines(packed, "finite-measures")[0]["parameters"].update(cuts=["1", "x"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_forged_certificate_in_a_measure_is_refused(change):
    rows = table(random_table(1))
    near = Fraction(ceil(enclosed(rows, ZCDP)[1] * 1001), 1000)
    packed = dict(verify(Claim(rows, None, measure=Measure("zcdp", num(near))), 12).certificate)
    assert kernel.check(packed).verdict == "PROVED"
    with pytest.raises((CertificateError, Rejected)):
        kernel.check(forged(packed, change))


def test_a_lower_bound_at_an_order_of_at_most_one_is_refused():
    claim = Claim(table(random_table(1)), None, measure=ZCDP)
    for order in ("1/2", "0", "-1"):
        with pytest.raises(Rejected, match="at an order of at least 1"):
            Proof(claim).infer("finite-measures", (), {"lower": [0, 1, order]})


def test_a_bound_on_epsilon_says_nothing_of_a_measure():
    rows = table(random_table(2))
    claim = Claim(rows, None, measure=Measure("zcdp", parse("1/1000")))
    proof = Proof(claim)
    proposal = Proposal()
    kinds.extend(proposal, Claim(rows, None), rows, 20, lambda single, side: None)
    facts = [proof.infer(step["rule"], (), step["evidence"]) for step in proposal.steps]
    judgement = kernel.judge(claim, facts)
    assert (judgement.verdict, judgement.lower, judgement.upper) == ("UNKNOWN", None, None)


def test_a_bound_in_a_measure_of_less_or_of_other_points_is_refused():
    rows = table(random_table(7, 2, 3))
    claim = Claim(rows, None, measure=GDP)
    proof = Proof(claim)
    curve = proof.infer("finite-curve", (), {"row": 0})
    pure = proof.infer("finite-table", (), {"cells": [[a, b, y] for a, b in ((0, 1), (1, 0)) for y in range(3)]})
    end = str(ceil(float(constant(pure.says[0].value).mid()) * 1000) / Fraction(1000))
    points = [str(Fraction(end) * k / 64) for k in range(65)]
    mu = enclosed(rows, GDP)[1]
    good, bad = (str(Fraction(floor(mu * (1 + slack) * 10**6), 10**6)) for slack in (0.01, -0.01))
    assert proof.infer("measures-of-a-curve", (), {"side": "upper", "points": points, "value": good}, [curve, pure]).says[0].side == "upper"
    for change in ({"value": bad}, {"points": points[:40]}, {"points": points[1:]}, {"points": points[::-1]}):
        with pytest.raises((Rejected, CertificateError)):
            proof.infer("measures-of-a-curve", (), {"side": "upper", "points": points, "value": good} | change, [curve, pure])
    at = points[8]
    with pytest.raises(Rejected, match="not certainly above"):
        proof.infer("measures-of-a-curve", (), {"side": "lower", "value": good, "at": at}, [curve])


def test_a_premise_in_another_measure_proves_nothing_of_a_composition():
    mechanism = Compose((Part(LAPLACE, ONE), Part(LAPLACE, num(2))))
    claim = Claim(mechanism, None, measure=ZCDP)
    proof = Proof(claim)
    first, second = (proof.infer("laplace-measures", (i,)) for i in range(2))
    assert proof.infer("added-measures", (), {"side": "upper"}, [first, second])
    other = Proof(replace(claim, measure=ORDER2))
    with pytest.raises(CertificateError, match="not about the part"):
        other.infer("added-measures", (), {"side": "upper"}, [first, second])
    with pytest.raises(CertificateError, match="not about the part"):
        proof.infer("added-measures", (), {"side": "upper"}, [second, first])
    with pytest.raises(CertificateError, match="one premise for each part"):
        proof.infer("added-measures", (), {"side": "upper"}, [first])
    with pytest.raises(CertificateError, match="not about the part"):
        proof.infer("added-measures", (), {"side": "lower"}, [second, first])
    with pytest.raises(CertificateError, match="one premise for each part"):
        proof.infer("added-measures", (), {"side": "lower"}, [first])


def test_the_rules_of_measures_do_not_speak_of_claims_in_epsilon():
    proof = Proof(Claim(LAPLACE, ONE, sensitivity=ONE))
    for rule in ("gaussian-measures", "laplace-measures", "implied-measures"):
        with pytest.raises(Rejected, match="epsilon and delta"):
            proof.infer(rule)


# -- what is told ------------------------------------------------------------------------------------


def told(tmp_path, lines, command=()):
    path = tmp_path / "claims.toml"
    path.write_text(
        f'[mechanism]\nkind = "builtin"\nname = "gaussian"\nparameters = {{ sigma = 1 }}\n[[claim]]\nsensitivity = "1/2"\n{lines}\n'
    )
    return CliRunner().invoke(main, ["verify", str(path), "--no-cache", *command])


@pytest.mark.parametrize(
    ("lines", "measure"),
    [
        ('zcdp = "1/8"', {"name": "zcdp", "claimed": "1/8", "lower": "0.12500000000000000000", "upper": "0.12500000000000000000"}),
        ('gdp = "tight"', {"name": "gdp", "claimed": "tight", "lower": "0.50000000000000000000", "upper": "0.50000000000000000000"}),
        (
            'renyi = { order = 3, epsilon = "1/2" }',
            {"name": "renyi", "order": "3", "claimed": "1/2", "lower": "0.37500000000000000000", "upper": "0.37500000000000000000"},
        ),
    ],
)
def test_the_answer_in_json_has_the_measure_in_place_of_epsilon_and_delta(tmp_path, lines, measure):
    (entry,) = json.loads(told(tmp_path, lines, ("--format", "json")).output)["claims"]
    assert entry["measure"] == measure
    assert entry["epsilon"] == entry["delta"] == {"claimed": None, "lower": None, "upper": None}
    assert entry["verdict"] == "PROVED"


def test_the_answer_for_people_names_the_measure_and_the_order(tmp_path):
    said = told(tmp_path, 'zcdp = "1/9"\norder = "one-sided"\nexpect = "refuted"').output
    assert "REFUTED" in said
    assert "rho 1/9, one-sided" in said and "tight rho 1/8" in said


def test_an_order_stands_beside_an_epsilon_in_json(tmp_path):
    (entry,) = json.loads(told(tmp_path, 'epsilon = "1/2"\ndelta = "tight"\norder = "reverse"', ("--format", "json")).output)["claims"]
    assert (entry["order"], entry["epsilon"]["claimed"]) == ("reverse", "1/2")
    assert "measure" not in entry


@pytest.mark.parametrize(
    ("measure", "verdict", "says"),
    [
        (
            Measure("zcdp", parse("1/8")),
            "PROVED",
            "the Renyi divergence of every order above 1 of M(x) from M(x\u2032), over its order, is at most 0.125",
        ),
        (Measure("zcdp", None), "UNKNOWN", "whether, for all neighbours x, x\u2032: the Renyi divergence of every order above 1"),
        (Measure("gdp", parse("2")), "REFUTED", "there are neighbours x, x\u2032 with: M(x) and M(x\u2032) are as hard to tell apart"),
        (Measure("renyi", num(1), Fraction(2)), "REFUTED", "the Renyi divergence of order 2 of M(x) from M(x\u2032) is more than 1"),
    ],
)
def test_a_page_says_a_claim_in_a_measure_in_words(measure, verdict, says):
    (said,) = statement.sentence(Claim(LAPLACE, None, sensitivity=ONE, measure=measure), verdict)
    assert says in said


@pytest.mark.sampled(1)
@pytest.mark.parametrize("measure", [ZCDP, GDP, ORDER2])
def test_a_table_whose_rows_are_alike_loses_nothing(measure):
    alike = Table(((parse("1/3"), parse("2/3")),) * 2)
    lower, upper = enclosed(alike, measure)
    assert lower == 0 and 0 <= upper < 1e-25
    assert verify(Claim(alike, None, measure=measure), 20).judgement.verdict == "PROVED"

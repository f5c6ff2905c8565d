"""Claims for all parameters by the values at which there is least noise: held against the values of theory on a grid of the parameters."""

from fractions import Fraction
from math import erf, exp, log, sqrt

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, Num, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Domain,
    Group,
    KaryResponse,
    Measure,
    Part,
    Query,
    Radial,
    Subsample,
    Table,
    Translation,
    repeated,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import least_noise as rule

FROM_1 = {"s": Domain(Fraction(1), None, lower_open=False)}
SELDOM = {"p": Domain(Fraction(1, 2), Fraction(3, 4), upper_open=False)}
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, ONE, parse("s"))
LAPLACE = Radial(parse("exp(-r)"), L1, ONE, parse("s"))
GEOMETRIC = Translation(parse("exp(-abs(z)/s)"), integers=True)
WARNER = Table(((parse("p"), parse("1 - p")), (parse("1 - p"), parse("p"))))
THREE = KaryResponse(num(3), parse("p"))


def phi(x):
    return (1 + erf(x / sqrt(2))) / 2


DELTAS = {
    "gaussian": (GAUSSIAN, FROM_1, lambda s, e: phi(1 / (2 * s) - e * s) - exp(e) * phi(-1 / (2 * s) - e * s)),
    "laplace": (LAPLACE, FROM_1, lambda s, e: max(0.0, 1 - exp((e - 1 / s) / 2))),
    "geometric": (GEOMETRIC, FROM_1, lambda s, e: max(0.0, (1 - exp(e - 1 / s)) / (1 + exp(-1 / s)))),
    "response": (WARNER, SELDOM, lambda p, e: max(0.0, p - exp(e) * (1 - p))),
    "three": (THREE, {"p": Domain(Fraction(1, 3), Fraction(3, 4), upper_open=False)}, lambda p, e: max(0.0, p - exp(e) * (1 - p) / 2)),
}


def grid(domains):
    (domain,) = domains.values()
    low, high = float(domain.lower), 8.0 if domain.upper is None else float(domain.upper)
    return [low + (high - low) * i / 200 for i in range(1, 201)] + ([low] if not domain.lower_open else [])


def claim(mechanism, domains, epsilon, delta, moved=ONE, **more):
    stated = None if isinstance(mechanism, Table | KaryResponse | Compose | Group | Subsample) else moved
    delta = num(0) if "measure" in more else None if delta is None else parse(str(delta))
    return Claim(mechanism, None if epsilon is None else parse(str(epsilon)), delta, stated, domains=tuple(domains.items()), **more)


@pytest.mark.parametrize("name", DELTAS)
def test_delta_for_all_parameters_is_the_greatest_of_them(name):
    mechanism, domains, delta = DELTAS[name]
    most = max(delta(value, 0.5) for value in grid(domains))
    assert verify(claim(mechanism, domains, "1/2", round(most + 1e-6, 9))).judgement.verdict == "PROVED"
    assert verify(claim(mechanism, domains, "1/2", round(most - 1e-6, 9))).judgement.verdict == "REFUTED"


def test_at_the_closed_form_itself_it_still_holds():
    assert verify(claim(LAPLACE, FROM_1, "1/2", "1 - exp(-1/4)")).judgement.verdict == "PROVED"


def test_epsilon_at_a_delta_for_all_parameters():
    found = verify(claim(LAPLACE, FROM_1, None, "1/10")).judgement  # 1 - exp((e - 1)/2) is 1/10
    assert found.verdict == "PROVED" and float(constant(found.upper).mid()) == pytest.approx(1 + 2 * log(0.9))


MEASURED = {
    "laplace, zcdp": (LAPLACE, FROM_1, Measure("zcdp", None), lambda s: 1 / s - 1 + exp(-1 / s)),
    "laplace, renyi": (LAPLACE, FROM_1, Measure("renyi", None, Fraction(2)), lambda s: log(2 / 3 * exp(1 / s) + exp(-2 / s) / 3)),
    "response, renyi": (WARNER, SELDOM, Measure("renyi", None, Fraction(2)), lambda p: log(p**2 / (1 - p) + (1 - p) ** 2 / p)),
}


@pytest.mark.parametrize("name", MEASURED)
def test_the_value_in_a_measure_for_all_parameters_is_the_greatest_of_them(name):
    mechanism, domains, measure, value = MEASURED[name]
    most = max(map(value, grid(domains)))
    for off, verdict in ((1e-4, "PROVED"), (-1e-4, "REFUTED")):
        asked = Measure(measure.name, parse(str(round(most + off, 7))), measure.at)
        assert verify(claim(mechanism, domains, None, None, measure=asked)).judgement.verdict == verdict


@pytest.mark.parametrize(
    ("name", "at", "value"), [("zcdp", None, "1/(2*s**2)"), ("gdp", None, "1/s"), ("renyi", Fraction(3), "3/(2*s**2)")]
)
def test_gaussian_noise_in_measures_has_its_closed_form_for_all_scales(name, at, value):
    for text, verdict in ((value, "PROVED"), (f"({value})*999/1000", "REFUTED")):
        asked = Claim(GAUSSIAN, None, num(0), ONE, domains=tuple(FROM_1.items()), measure=Measure(name, parse(text), at))
        assert verify(asked).judgement.verdict == verdict
    query = Query(((Fraction(1),),), "add-remove")
    for other in (Claim(GAUSSIAN, None, num(0), query=query, domains=tuple(FROM_1.items()), measure=Measure(name, parse(value), at)),):
        with precision(128), pytest.raises(Rejected):
            Proof(other).infer("gaussian-measures")
    open_sign = Claim(GAUSSIAN, None, num(0), ONE, domains=(("s", Domain()),), measure=Measure(name, parse(value), at))
    with precision(128), pytest.raises(DpverifyError):
        Proof(open_sign).infer("gaussian-measures")


def noisier(one, least, domains=FROM_1):
    with precision(128):
        return rule.noisier(one, least, domains)


@pytest.mark.parametrize(
    ("one", "least", "holds"),
    [
        (GAUSSIAN, Radial(parse("exp(-r**2/2)"), L2, ONE, ONE), True),
        (GAUSSIAN, Radial(parse("exp(-r**2/2)"), L2, ONE, num(2)), False),  # s may be 1
        (GAUSSIAN, Radial(parse("exp(-r)"), L2, ONE, ONE), False),
        (GAUSSIAN, Radial(parse("exp(-r**2/2)"), L2, ONE, num(-1)), False),
        (GEOMETRIC, Translation(parse("exp(-abs(z))"), integers=True), True),
        (GEOMETRIC, Translation(parse("exp(-abs(z)/2)"), integers=True), False),
        (GEOMETRIC, Translation(parse("exp(-abs(z))")), False),
        (Translation(parse("exp(-z**2/s)"), integers=True), Translation(parse("exp(-z**2)"), integers=True), False),
        (Translation(parse("exp(-abs(z)/s)")), Translation(parse("exp(-abs(z))")), False),  # on the line nobody says so here
        (Translation(parse("exp(-abs(z)/s)"), (num(0), None), True), Translation(parse("exp(-abs(z))"), (num(0), None), True), False),
        (Part(GAUSSIAN, ONE), Part(Radial(parse("exp(-r**2/2)"), L2, ONE, ONE), ONE), True),
        (Part(GAUSSIAN, num(2)), Part(Radial(parse("exp(-r**2/2)"), L2, ONE, ONE), ONE), False),
        (
            Part(GAUSSIAN, None, Query(((Fraction(1),),), "add-remove")),
            Part(Radial(parse("exp(-r**2/2)"), L2, ONE, ONE), None, Query(((Fraction(1),),), "add-remove")),
            False,  # which moves there are a query says
        ),
        (Part(GAUSSIAN, parse("s")), Part(Radial(parse("exp(-r**2/2)"), L2, ONE, ONE), ONE), False),
    ],
)
def test_what_certainly_has_no_less_noise(one, least, holds):
    assert noisier(one, least) is holds


@pytest.mark.parametrize(
    ("one", "least", "domain", "holds"),
    [
        (WARNER, "3/4", Domain(Fraction(1, 2), Fraction(3, 4)), True),
        (WARNER, "2/3", Domain(Fraction(1, 2), Fraction(3, 4)), False),
        (WARNER, "3/4", Domain(Fraction(1, 5), Fraction(3, 4)), False),  # more lies than not tell as much as more truths
        (THREE, "3/4", Domain(Fraction(1, 3), Fraction(3, 4)), True),
        (THREE, "3/4", Domain(Fraction(1, 4), Fraction(3, 4)), False),
        (Table((WARNER.rows[0], WARNER.rows[0])), "3/4", Domain(Fraction(1, 2), Fraction(3, 4)), False),
    ],
)
def test_responses_that_tell_the_truth_more_seldom_have_no_less_noise(one, least, domain, holds):
    at = {"p": Num(Fraction(least))}
    assert noisier(one, put(one, at), {"p": domain}) is holds


def put(mechanism, values):
    from dpverify.trusted.combinators.parameters import _substituted

    return _substituted(mechanism, values)


def test_what_is_made_of_parts_has_no_less_noise_where_no_part_has():
    part = Part(LAPLACE, ONE)
    whole = Compose((repeated(part, num(3)), Part(Subsample(part, parse("1/2"))), Part(Group(part, num(2)))))
    assert noisier(whole, put(whole, {"s": ONE}))
    assert not noisier(whole, put(whole, {"s": num(2)}))
    assert not noisier(Subsample(part, parse("1/s")), Subsample(put(part, {"s": ONE}), ONE))
    sampled = claim(Subsample(part, parse("1/4")), FROM_1, "1/10", "1/5")
    assert verify(sampled).judgement.verdict == "PROVED"  # (e - 1)/4 and more is lost at delta 0: delta is at most 1/4 (1 - exp((x - 1)/2))


def test_an_epsilon_in_parameters_is_refuted_at_values_and_not_proved_by_them():
    """At s = 1 the epsilon is 1 and holds at delta 0; at s = 2 it is 1/4, and delta 1 - exp(-1/8)."""
    found = verify(claim(LAPLACE, FROM_1, "1/s**2", "1/1000")).judgement
    assert found.verdict != "PROVED"


def test_values_outside_the_domains_or_not_for_all_parameters_are_refused():
    asked = claim(LAPLACE, FROM_1, "1/2", "1/2")
    with precision(128):
        for at in ({"s": "1/2"}, {}):
            with pytest.raises(DpverifyError):
                Proof(asked).infer(rule.NAME, (), {"at": at})
        found = Proof(asked).infer(rule.NAME, (), {"at": {"s": "2"}})
        assert {bound.side for bound in found.says} == {"lower"}  # not the least noise: it holds there alone
        measured = claim(GAUSSIAN, FROM_1, None, None, measure=Measure("zcdp", parse("1")))
        wrong = Proof(measured).infer("gaussian-measures")
        with pytest.raises(DpverifyError, match="premise is not about"):
            Proof(measured).infer(rule.NAME, (), {"at": {"s": "1"}}, [wrong])

"""Scale mixtures of noise with concave exponents: log G(0) - log G(D) (theory#mixture-concave; Reimherr & Awan, Theorem 1)."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.additive import mixture_concave as search
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, ExprError, Rejected
from dpverify.trusted.kernel.expr import num, parse, sub
from dpverify.trusted.kernel.model import L2, Claim, Domain, Mixture
from dpverify.trusted.theories.additive.rules import mixture_concave


def mixture(profile, mixing, dimension="1", support=("0", None), sensitivity="1", scale="1"):
    ends = tuple(None if end is None else parse(end) for end in support)
    return Claim(Mixture(parse(profile), parse(mixing), ends, L2, parse(dimension), parse(scale)), None, sensitivity=parse(sensitivity))


LOG_NORMAL = mixture("exp(-r/v)/v", "exp(-log(v)**2/2)/v")
# Laplace noise whose rate is Gamma(3): the integral of u^2 exp(-u) u exp(-u r) is 6/(1 + r)^4
GAMMA = mixture("exp(-r*v)*v", "v**2*exp(-v)")
EVIDENCE = {"side": "upper", "scale": "1/v", "bits": 60}


def bounds(claim, digits=20):
    return {b.side: b.value for b in (mixture_concave.check(claim, step["evidence"]) for step in search.propose(claim, digits))}


def test_laplace_noise_of_log_normal_scale():
    # G(0) = exp(1/2) sqrt(2 pi) in closed form; G(1) by mpmath's quadrature in log v, at 30 digits
    found = bounds(LOG_NORMAL)
    known = parse("1/2 + log(2*pi)/2 - log(0.648856076423649539295511)")
    assert certainly_le(sub(known, found["upper"]), parse("1e-20")) and certainly_le(sub(found["lower"], known), parse("1e-20"))
    assert certainly_lt(sub(found["upper"], found["lower"]), parse("1e-19"))


@pytest.mark.parametrize("claim", [GAMMA, mixture("exp(-r*v)*v**3", "exp(-v)", "3")])
def test_a_mixture_with_a_closed_form_has_its_value(claim):
    found = bounds(claim)
    assert certainly_le(found["lower"], parse("4*log(2)")) and certainly_le(parse("4*log(2)"), found["upper"])
    assert certainly_lt(sub(found["upper"], found["lower"]), parse("1e-19"))


def test_the_scale_divides_the_sensitivity():
    found = bounds(replace(GAMMA, mechanism=replace(GAMMA.mechanism, scale=num(2)), sensitivity=num(6)))
    assert certainly_le(found["lower"], parse("4*log(4)")) and certainly_le(parse("4*log(4)"), found["upper"])


def test_a_gaussian_mixture_is_refused():
    gaussian = mixture("exp(-r**2/(2*v))/sqrt(v)", "v**(-7/2)*exp(-5/(2*v))")
    assert search.propose(gaussian, 20) == []
    with pytest.raises(Rejected, match="concave"):
        mixture_concave.check(gaussian, {**EVIDENCE, "scale": "sqrt(v)"})


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        (mixture("exp(-r*v)*v", "(v - 1)*exp(-v)"), {}),  # a mixing density that is negative below 1
        (mixture("exp(-r*v)*v/sqrt(r)", "v**2*exp(-v)"), {}),  # a pole at 0
        (mixture("(1 + r*v)**(-2)*v", "v**2*exp(-v)", "2"), {}),  # conditionals that are not integrable
        (mixture("exp(-r*v)*v**4", "exp(-v)/v", "4"), {}),  # (1 + r)^-4 r^3 is not integrable, nor exp(-v)/v
        (mixture("exp(-r*v)*v", "v**2*exp(-v)", "2"), {}),  # the normaliser of exp(-r v) v in the plane depends on v
        (mixture("exp(-r*v)", "v**2*exp(-v)"), {}),
        (mixture("exp(-r*v)*v", "1/(1 + v)**2"), {}),  # G(0) is infinite
        (GAMMA, {"scale": "v"}),  # not the scale of the family
        (GAMMA, {"scale": "-1/v"}),
        (mixture("exp(-r*v)*v", "v**2*exp(-v)", sensitivity="-1"), {}),
        (mixture("exp(-r*v)*v", "v**2*exp(-v)", scale="-1"), {}),
        (mixture("exp(-r*v)*v", "v**2*exp(-v)", "1/2"), {}),
        (mixture("exp(-r*v)*v", "v**2*exp(-v)", support=("2", "1")), {}),
        (replace(GAMMA, domains=(("nu", Domain(Fraction(0))),)), {}),
    ],
)
def test_each_hypothesis_is_checked(claim, change):
    with pytest.raises((DpverifyError, *STUMBLES)):
        mixture_concave.check(claim, {**EVIDENCE, **change})


@pytest.mark.parametrize("change", [{"side": "both"}, {"bits": 4}, {"bits": "60"}, {"scale": "1/"}])
def test_evidence_of_another_form_is_refused(change):
    with pytest.raises((CertificateError, ExprError)):
        mixture_concave.check(GAMMA, {**EVIDENCE, **change})


@pytest.mark.parametrize(("side", "truth"), [("upper", "4*log(3)"), ("lower", "4*log(2)")])
def test_each_side_is_about_its_own_end_of_a_sensitivity_that_is_enclosed(monkeypatch, side, truth):
    [evidence] = [step["evidence"] for step in search.propose(GAMMA, 20) if step["evidence"]["side"] == side]
    monkeypatch.setattr(mixture_concave, "sensitivity_bounds", lambda *_: Sensitivity(num(2), num(1)))
    value = mixture_concave.check(GAMMA, evidence).value
    assert certainly_le(sub(value, parse(truth)), parse("1e-15")) and certainly_le(sub(parse(truth), value), parse("1e-15"))


def test_a_mixture_that_is_infinite_at_0_is_refused():
    with pytest.raises(Rejected, match="it is not certainly finite at 0"):
        mixture_concave.check(mixture("exp(-r*v)*v/sqrt(r)", "v**2*exp(-v)"), EVIDENCE)

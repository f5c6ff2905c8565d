"""The normaliser of a mixture's conditionals is certainly free of the mixing variable, or nothing is said (theory#scale-family)."""

from fractions import Fraction

import mpmath
import pytest

from dpverify import declare
from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.search.additive import mixtures
from dpverify.search.proposal import bound
from dpverify.search.verify import verify
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Domain, Mixture
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.additive import scale_family
from dpverify.trusted.theories.additive.rules import mixture_closed_form as mixture_closed
from dpverify.trusted.theories.additive.rules import mixture_concave
from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as scale_mixture

COUNT = Domain(Fraction(1), lower_open=False, integer=True)
POSITIVE = Domain(Fraction(0))


def mixture(profile, mixing="exp(-v)", d="1", upper=None, norm=L2):
    return Mixture(parse(profile), parse(mixing), (num(0), None if upper is None else parse(upper)), norm, parse(d))


FREE = [
    ("exp(-r**2/(2*v))/sqrt(v)", "1", {}),
    ("exp(-r**2/(2*v))/v**(d/2)", "d", {"d": COUNT}),
    ("exp(-v*r)*v**2", "2", {}),
    ("7*exp(-r/(1 + v))/(1 + v)", "1", {}),
    ("(1 + r**2/v)**(-3)/v", "2", {}),
    ("v*(exp(-v*r) + exp(-2*v*r))", "1", {}),
    ("v*exp(-v*r)/(1 + exp(-v*r))**2", "1", {}),
    ("exp(-r)", "1", {}),
    ("exp(-r**a/v)/v**(1/a)", "1", {"a": POSITIVE}),
]
DEPENDENT = [
    ("exp(-r**2/(2*v))", "1", {}),
    ("exp(-r**2/(2*v))", "d", {"d": COUNT}),
    ("exp(-r**2/(2*v))/sqrt(v)", "d", {"d": COUNT}),  # written out for the line alone
    ("exp(-v*r)", "2", {}),
    ("exp(-v*r)*v", "2", {}),
    ("v*exp(-r)", "1", {}),
    ("exp(-v*r) + exp(-2*v*r)", "1", {}),
    ("exp(-v*r)*v**k", "3", {"k": POSITIVE}),
    ("exp(-v*r - r)", "1", {}),  # no scale family: by its integrals at two v
    ("(1 + r**2)**(-v - 2)", "2", {}),
]


@pytest.mark.parametrize(("profile", "d", "domains"), FREE)
def test_a_normaliser_that_is_free_of_the_mixing_variable_is_found_to_be(profile, d, domains):
    noise = mixture(profile, d=d)
    assert mixtures.scale_of(noise, domains) is not None
    assert mixtures.dependence(noise, domains) is None


@pytest.mark.parametrize(("profile", "d", "domains"), DEPENDENT)
def test_a_normaliser_that_depends_on_the_mixing_variable_is_said_to(profile, d, domains):
    noise = mixture(profile, d=d)
    assert mixtures.scale_of(noise, domains) is None
    assert mixtures.dependence(noise, domains) is not None


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("profile", "d", "domains"), [*FREE, *DEPENDENT])
def test_no_scale_makes_the_kernel_accept_another_answer_than_quadrature_gives(profile, d, domains):
    """The integral of profile(r, v) r^(d-1) over r at several v, by tanh-sinh quadrature, is the same at all of them or not."""
    values = {"d": 3, "a": 2, "k": 2}
    size = int(d) if d.isdigit() else values[d]
    text = profile.replace("exp", "mpmath.exp").replace("sqrt", "mpmath.sqrt")
    height = lambda r, v: eval(text, {"mpmath": mpmath, "r": r, "v": v, **values})  # noqa: E731 - the tests' own text
    masses = [mpmath.quad(lambda r, v=v: height(r, v) * r ** (size - 1), [0, 1, 4, 20, mpmath.inf]) for v in map(mpmath.mpf, (1, 2, 5))]
    same = all(abs(mass / masses[0] - 1) < 1e-6 for mass in masses)
    for scale in ("1", "v", "1/v", "sqrt(v)", "1/sqrt(v)", "1 + v", "v**(1/a)", "v**2", "-v", "v - 1", "r", "0", "w"):
        try:
            scale_family.require_free_of_v(mixture(profile, d=d), parse(scale), domains, "test")
        except DpverifyError:
            continue
        assert same, scale


@pytest.mark.parametrize("rule", [mixture_concave, mixture_closed])
@pytest.mark.parametrize("scale", ["1", "v", "1/v", "sqrt(v)", "1/sqrt(v)", "v**2"])
def test_no_rule_takes_a_certificate_of_a_mixture_whose_normaliser_depends_on_v(rule, scale):
    claim = Claim(mixture("exp(-v*r)", "v*exp(-v)"), None, sensitivity=num(1))
    step = {"rule": rule.NAME, "evidence": {"side": "upper", "scale": scale, "bits": 60}}
    inner = {"inner": {"rule": "concave-exponent", "evidence": {"side": "upper"}}} if rule is mixture_closed else {}
    with pytest.raises(Rejected):
        bound(Proof(claim), (), step | inner)


def test_the_curve_of_a_mixture_asks_for_the_normaliser_too():
    unit = Sensitivity(num(1), num(1))
    assert scale_mixture.curve(mixture("exp(-r**2/(2*v))/sqrt(v)"), unit).upper is not None
    for noise in (mixture("exp(-r**2/(2*v))"), mixture("exp(-r**2/(2*v))/sqrt(v)", d="2")):
        with pytest.raises(Rejected, match="normaliser"):
            scale_mixture.curve(noise, unit)


@pytest.mark.parametrize(("norm", "d"), [(L1, 1), (L1, 3), (L2, 1), (L2, 3)])
def test_a_laplace_of_random_rate_has_the_loss_of_the_density_that_its_draws_have(norm, d):
    """Rate v of law exp(-v): the density at r is the integral of v^d exp(-v r - v), d!/(1 + r)^(d+1), in every norm."""
    noise = mixture(f"v**{d}*exp(-v*r)", "exp(-v)", str(d), norm=norm)
    answer = verify(Claim(noise, None, sensitivity=num(1))).judgement
    known = parse(f"{d + 1}*log(2)")
    assert answer.verdict == "PROVED"
    assert kernel.certainly_le(answer.lower, known) and kernel.certainly_le(known, answer.upper)


FILE = """[mechanism]
kind = "mixture"
profile = "{}"
mixing = "exp(-v)"
norm = "l2"
dimension = {}
{}[[claim]]
sensitivity = 1
epsilon = 9
"""


@pytest.mark.parametrize(
    ("profile", "dimension", "parameters", "said"),
    [
        ("exp(-r**2/(2*v))", 1, "", "multiple of sqrt(v)"),
        ("exp(-v*r)", 2, "", "multiple of v**(-2)"),
        ("exp(-r**2/(2*v))", '"d"', 'parameters = { d = "positive integer" }\n', "multiple of v**(d/2)"),
        ("exp(-v*r - r)", 1, "", "its integral at v = 2 is 0.666667 times that at v = 1"),
    ],
)
def test_a_file_without_the_normaliser_is_refused_with_the_way_out(tmp_path, profile, dimension, parameters, said):
    (tmp_path / "spec.toml").write_text(FILE.format(profile, dimension, parameters))
    with pytest.raises(SpecError, match="write the profile with its normaliser") as found:
        read_spec(tmp_path / "spec.toml")
    assert said in str(found.value)


def test_a_part_and_a_declaration_in_python_are_refused_too(tmp_path):
    part = '{ kind = "mixture", profile = "exp(-v*r)", mixing = "exp(-v)", norm = "l2", dimension = 1, sensitivity = 1 }'
    (tmp_path / "spec.toml").write_text(f'[mechanism]\nkind = "compose"\nparts = [{part}]\n[[claim]]\nepsilon = 9\n')
    with pytest.raises(SpecError, match="its normaliser depends on v"):
        read_spec(tmp_path / "spec.toml")
    (tmp_path / "noise.py").write_text(
        'from dpverify.declare import L2, Mechanism, Mixture\nnoise = Mechanism("noise", Mixture("exp(-v*r)", "exp(-v)", L2(), 1))\n'
    )
    (tmp_path / "used.toml").write_text('[mechanism]\nuse = "noise.py:noise"\n[[claim]]\nsensitivity = 1\nepsilon = 9\n')
    with pytest.raises(SpecError, match="its normaliser depends on v"):
        read_spec(tmp_path / "used.toml")
    assert declare.Mixture("exp(-v*r)", "exp(-v)", declare.L2(), 1)

"""Faults of a declared density are certain, and say what, where and the way out."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.search.additive.sanity import faults
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, KaryResponse, Radial, Translation


def radial(profile, dimension=1):
    return Claim(Radial(parse(profile), L2, num(dimension)), num(1), sensitivity=num(1))


def line(density, *support, integers=False):
    ends = tuple(None if end is None else parse(end) for end in support) or (None, None)
    return Claim(Translation(parse(density), ends, integers), num(1), sensitivity=num(1))


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (radial("1 - r"), "is negative at r = 2"),
        (line("z", "-1", "1"), "is negative at z = -1/2"),
        (radial("exp(-r) - 2*exp(-2*r)"), "is negative"),
        (radial("sqrt(1 - r)"), "has no value at r = 2"),
        (radial("0*r"), "zero everywhere"),
        (radial("max(0, -1 - r)"), "zero everywhere"),
        (radial("(1 + r**2)**(-1)", 2), "infinite integral at +infinity"),
        (radial("exp(r)"), "infinite integral at +infinity"),
        (radial("r**(-3)*exp(-r)", 3), "infinite integral to the right of 0"),
        (line("exp(-z)"), "infinite integral at -infinity"),
        (line("exp(-abs(z))/(z - 1)**2"), "infinite integral to the left of 1"),
        (line("1/(1 + abs(z))", integers=True), "infinite sum at +infinity"),
    ],
)
def test_a_fault_says_where(claim, says):
    found = faults(claim)
    assert any(says in line for line in found)
    assert all(line.endswith(".") for line in found)


@pytest.mark.parametrize(
    "claim",
    [
        radial("exp(-r)", 3),
        radial("(1 + r**2)**(-1)"),
        radial("r**(-2)*exp(-r)", 3),
        radial("besselk(0, r)", 2),
        radial("max(0, 1 - r)", 2),
        radial("1 - min(1, floor(r))", 3),
        radial("(1 - exp(-r**2/2))/r**2"),
        radial("exp(-r**2)*cosh(r)"),
        radial("erfc((log(r) + 1)/sqrt(2))"),
        line("exp(-z)", "0", None),
        line("1", "-1", "1"),
        line("sqrt(1 - z**2)", "-1", "1"),
        line("1/sqrt(pi - z)", "0", "pi"),
        line("exp(-abs(z))/sqrt(abs(z - 1))"),
        line("exp(-abs(z))", integers=True),
        Claim(KaryResponse(num(2), num(1)), num(1)),
        Claim(Radial(parse("exp(-a*r)"), L2, num(1)), num(1), sensitivity=num(1), domains=(("a", Domain(Fraction(0))),)),
    ],
)
def test_sound_densities_have_no_faults(claim):
    assert faults(claim) == []


def test_claim_files_are_read_without_scipy_special_functions_among_them():
    # scipy takes longer to load than the files take to read
    code = (
        "import sys; from pathlib import Path; from dpverify.catalogue import read_spec; "
        "[read_spec(Path('specs') / f'{name}.toml') for name in ('multivariate_laplace_d2', 'delta_student_t_d3', 'uniform_log_normal')]; "
        "sys.exit(any(name.split('.')[0] == 'scipy' for name in sys.modules))"
    )
    root = Path(__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0

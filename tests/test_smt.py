"""z3 looks for counterexamples, in a process with a limit; nothing that it says is believed."""

import subprocess
import sys
from fractions import Fraction

import pytest

from dpverify.search.composition import smt
from dpverify.search.composition.smt import counterexample
from dpverify.search.verify import verify
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import Num, num, parse, substitute
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import L2, Claim, Domain, Radial

POSITIVE = Domain(Fraction(0))
REAL = Domain()
UNIT = Domain(Fraction(0), Fraction(1))
COUNT = Domain(Fraction(2), lower_open=False, integer=True)

VIOLATED = [
    ("5*u*v", "2*u**2 + 3*v**2 + 1/100", {"u": POSITIVE, "v": POSITIVE}),
    ("sqrt(2)*u", "u**2/2 + 99999/100000", {"u": POSITIVE}),  # only near sqrt(2)
    ("u*v", "(u**3 + 2*v**(3/2))/3 - 1/10**6", {"u": POSITIVE, "v": POSITIVE}),
    ("log(1 + u)", "log(1 + u**2 + 6/25)", {"u": UNIT}),  # only between 2/5 and 3/5
    ("max(u, v)", "u + v - 1/10**6", {"u": UNIT, "v": UNIT}),
    ("abs(u - 1000)", "1/u + (u - 1000)**2 + 6/25", {"u": POSITIVE}),
    ("k*(37 - k)", "341", {"k": COUNT}),  # only at 18 and 19
]
TRUE = [
    ("8*u*v*w", "(u + v)*(v + w)*(w + u)", {"u": POSITIVE, "v": POSITIVE, "w": POSITIVE}),
    ("k*(37 - k)", "342", {"k": COUNT}),
    ("log(u)", "u - 1", {"u": POSITIVE}),
    ("u", "1", {"u": UNIT}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("low", "high", "domains"), VIOLATED)
def test_a_counterexample_is_rational_inside_the_domains_and_exact(low, high, domains):
    values = counterexample(parse(low), parse(high), domains)
    assert values is not None
    at = {name: Num(value) for name, value in values.items()}
    assert all(domain.holds(at[name].value) for name, domain in domains.items())
    assert all(domain.holds(at[name].value) for name, domain in domains.items())
    assert certainly_lt(substitute(parse(high), at), substitute(parse(low), at))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("low", "high", "domains"), TRUE)
def test_what_is_true_has_no_counterexample(low, high, domains):
    assert counterexample(parse(low), parse(high), domains) is None


@pytest.mark.wide
def test_the_process_is_killed_when_its_time_is_up():
    cubes = smt.Script(dict.fromkeys("uvw", Domain(integer=True)))
    script = cubes.above(parse("1/2"), parse("abs(u**3 + v**3 + w**3 - 42)"))  # the least solution has 17 digits
    assert smt._run(script, 1.0) is None  # or it would search for weeks


def test_a_model_that_does_not_hold_is_not_believed(monkeypatch):
    monkeypatch.setattr(smt, "_run", lambda script, seconds: {"u": Fraction(1)})
    assert counterexample(parse("u"), parse("2"), {"u": REAL}) is None
    assert counterexample(parse("u"), parse("1/2"), {"u": Domain(Fraction(2))}) is None


def test_without_z3_there_is_no_counterexample_and_no_error(monkeypatch):
    def absent(*args, **kwargs):
        raise subprocess.CalledProcessError(1, args[0], "", "ModuleNotFoundError: No module named 'z3'")

    monkeypatch.setattr(subprocess, "run", absent)
    assert counterexample(parse("u"), parse("1/2"), {"u": UNIT}) is None


def test_functions_that_it_has_no_words_for_are_left_alone():
    assert counterexample(parse("besselk(1, u)"), parse("1/2"), {"u": POSITIVE}) is None
    assert counterexample(parse("u**v"), parse("1/2"), {"u": POSITIVE, "v": POSITIVE}) is None


def test_z3_is_loaded_in_its_process_only():
    code = "import sys, dpverify.search.composition.positivstellensatz, dpverify.search.composition.smt; print('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_its_values_refute_a_claim_that_simple_values_do_not():
    noise = Radial(parse("exp(-r)"), L2, num(1), parse("s"))
    domains = (("s", POSITIVE), ("u", POSITIVE), ("v", POSITIVE))
    claim = Claim(noise, parse("(2*u**2 + 3*v**2 + 1/100)/s"), sensitivity=parse("5*u*v"), domains=domains)
    verified = verify(claim)
    assert verified.judgement.verdict == check(verified.certificate).verdict == "REFUTED"
    at = {name: Fraction(text) for name, text in verified.judgement.witness["at"].items()}
    assert 5 * at["u"] * at["v"] > 2 * at["u"] ** 2 + 3 * at["v"] ** 2 + Fraction(1, 100)

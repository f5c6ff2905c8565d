"""Claims that are proved false, on samplers: those that show it, those that are another mechanism, and how often that is said wrongly."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.audits import audit, conclusion, intact, refuted
from dpverify.audits.bounds import proportion_anytime
from dpverify.report.findings import record
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION
from dpverify.samplers import mechanisms
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Claim, KaryResponse, Product, Translation
from tests.effort import tries
from tests.selections import GEOMETRIC, laplace, largest, of, sparse

LARGEST = largest(laplace(2), 4)
LINE = Translation(parse("exp(-abs(z))"))


@pytest.fixture
def replaced(monkeypatch):
    """What a test replaces; what audits take for their own is what was there before, once it is over."""
    yield monkeypatch
    monkeypatch.undo()
    intact.remember()


def claim(mechanism, epsilon, sensitivity="1"):
    return Claim(mechanism, parse(epsilon), sensitivity=None if sensitivity is None else parse(sensitivity))


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.5, 0.97])
def test_an_interval_for_a_proportion_ever_misses_it_with_at_most_the_stated_probability(p):
    """Exactly, over all ways that 80 runs can go: what is outside of an interval once stays there."""
    risk, inside, missed = 0.2, np.ones(1), 0.0
    for n in range(1, 81):
        reached = np.append(inside * (1 - p), 0) + np.append(0, inside * p)
        ends = [proportion_anytime(hits, n, risk=risk) for hits in range(n + 1)]
        out = np.array([not low <= p <= high for low, high in ends])
        missed, inside = missed + reached[out].sum(), np.where(out, 0, reached)
    assert missed <= risk and (p in (0.0, 0.01) or missed > 0.01)


def test_an_interval_for_a_proportion_is_all_of_it_at_first_and_narrow_in_the_end():
    assert proportion_anytime(0, 0, risk=0.1) == (0.0, 1.0)
    low, high = proportion_anytime(300_000, 1_000_000, risk=1e-6)
    assert 0.297 < low < 0.3 < high < 0.303


def index(scale):
    return lambda data, size, rng: np.argmax(np.asarray(data) + rng.laplace(0, scale, (size, len(data))), axis=1)


def test_a_right_sampler_shows_the_violation_that_is_proved():
    finding = audit(index(2), of(LARGEST, Fraction(1, 4)), samples=40_000, seed=0, confidence=0.999)
    shown = finding.refuted
    assert finding.finding == VIOLATION and shown.agrees and shown.shown
    assert "shows the violation that is proved" in finding.text() and record(finding)["refuted"]["agrees"]
    assert all(low <= p <= high for p, (low, high) in zip(shown.declared, (shown.left, shown.right), strict=True))


def test_a_sampler_that_does_not_show_what_is_proved_is_another_mechanism():
    finding = audit(index(9), of(LARGEST, Fraction(1, 4)), samples=40_000, seed=0, confidence=0.999)
    assert finding.finding == NONCONFORMING and not finding.refuted.agrees and not finding.as_expected
    assert "the implementation is another mechanism" in finding.text()
    least, most = finding.refuted.left
    assert finding.refuted.declared[0] < least < 0.2 < most  # nine times the scale: nearly one in four


def test_what_the_proof_says_is_a_finding_where_no_other_test_of_the_density_has_spoken(replaced):
    replaced.setattr(conclusion, "apart", lambda declared, likely, between: True)
    finding = audit(index(2), of(LARGEST, Fraction(99, 100)), samples=2000, seed=0)
    assert (finding.finding, finding.level) == (NONCONFORMING, MODEL) and finding.event == finding.refuted.text()


def test_of_a_claim_that_holds_or_is_tight_there_is_nothing_to_show():
    for epsilon in ("1", "2"):
        assert audit(index(2), of(LARGEST, Fraction(epsilon)), samples=2000, seed=0).refuted is None
    assert audit(lambda x, size, rng: rng.laplace(x[0], 1, size), claim(LINE, "1"), samples=2000, seed=0).refuted is None


def test_a_claim_that_is_false_by_next_to_nothing_is_agreed_with_and_not_said_to_be_shown():
    finding = audit(lambda x, size, rng: rng.laplace(x[0], 1, size), claim(LINE, "0.9999"), samples=20_000, seed=1, level=MODEL)
    assert finding.finding == NO_VIOLATION_SEEN and finding.refuted.agrees and not finding.refuted.shown
    assert "agrees with it so far" in finding.text()


def test_outputs_that_are_rounded_are_not_held_against_the_event():
    def rounded(data, size, rng):
        return np.round(rng.laplace(data[0], 1, size) * 2) / 2

    finding = audit(rounded, claim(LINE, "9/10"), samples=100_000, seed=1, confidence=0.99)
    assert finding.refuted.agrees


RESPONSE = KaryResponse(parse("2"), parse("3/4"))
TWO = Product(parse("exp(-abs(z))"), parse("2"))
FALSE = {
    "line": claim(LINE, "9/10"), "response": claim(RESPONSE, "1", None), "product": claim(TWO, "4/5"),
    "index": of(LARGEST, Fraction(1, 4)), "yes and no": of(sparse(laplace(2), laplace(4), 4), Fraction(1, 2)),
    "integers": of(sparse(GEOMETRIC, GEOMETRIC, 3, 2), Fraction(1, 2)),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("name", FALSE)
def test_a_right_sampler_is_called_another_mechanism_at_most_as_often_as_stated(name, replaced):
    """At a risk of one half, in whole runs that stop where they like: at most half of them, and three standard errors."""
    between, runs = refuted.Witness.between, tries(40, 400)
    replaced.setattr(refuted.Witness, "between", lambda self, counts, risk: between(self, counts, 0.5))
    replaced.setattr(refuted, "_is_refuted", lambda claim: True)
    sampler = mechanisms.sampler(FALSE[name].mechanism)
    found = [audit(sampler, FALSE[name], samples=600, seed=seed, level=MODEL, confidence=0.99).refuted for seed in range(runs)]
    assert sum(not one.agrees for one in found) <= runs / 2 + 3 * math.sqrt(runs / 4)

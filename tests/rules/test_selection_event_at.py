"""Selections with a parameter for the number of answers, refuted at a delta above 0: the fewest answers, and forged events."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.theories.selection.rules import selection_event_at as rule
from tests.selections import ALL_N, gaussian, laplace, largest, of, sparse

TWO_UP = (("n", Domain(Fraction(2), None, lower_open=False, integer=True)),)


def best_event(sigma, count, epsilon):
    """The most that "the greatest is among the first k of two groups of like answers" tells, by sums on a grid."""
    z = np.linspace(-9, 9, 1801) * sigma
    weights = stats.norm.pdf(z, scale=sigma) * (z[1] - z[0])
    best = 0.0
    for k in range(1, count):
        own = k * weights * stats.norm.cdf(z, scale=sigma) ** (k - 1)
        for lead in np.linspace(-4 * sigma, 4 * sigma, 65):
            p, q = (float(own @ stats.norm.cdf(z + x, scale=sigma) ** (count - k)) for x in (lead, lead - 2))
            for here, there in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
                best = max(best, here - math.exp(epsilon) * there)
    return best


@pytest.mark.wide
def test_a_delta_for_every_number_of_candidates_is_refuted_at_the_fewest_that_an_event_shows():
    claim = of(largest(gaussian(4), "n"), "1", domains=TWO_UP, delta=parse("1/200"))
    judgement = check(verify(claim).certificate)
    assert judgement.verdict == "REFUTED" and judgement.delta_lower is None
    fewest = int(judgement.witness["at"]["n"])
    assert best_event(4, fewest, 1.0) > 1 / 200 * 0.99
    assert best_event(4, fewest - 1, 1.0) < 1 / 200


SPARSE = sparse(laplace(1), laplace(2), "n")


@pytest.mark.wide  # the greatest of several is, above
def test_queries_too_are_refuted_at_a_number_of_them():
    assert verify(of(SPARSE, "9/10", domains=ALL_N, delta=parse("1/50"))).judgement.verdict == "REFUTED"


@pytest.mark.wide
def test_of_queries_a_delta_that_grows_with_their_number_is_proved():
    assert verify(of(SPARSE, "9/10", domains=ALL_N, delta=parse("min(1, n/2)"))).judgement.verdict == "PROVED"


@pytest.mark.wide
def test_readers_are_told_the_answers_and_the_event_in_words():
    claim = of(largest(gaussian(2), "n"), "1/2", domains=TWO_UP, delta=parse("1/100"))
    witness = verify(claim).judgement.witness
    here, _, there = witness["pair"].partition("; and ")
    assert witness["event"] == "the greatest is the first answer" and witness["at"] == {"n": "2"}
    lead, other = (float(side.removeprefix("the first answer ").partition(" ")[0]) for side in (here, there))
    assert here.endswith("below all others") and there.endswith("below all others") and other - lead == pytest.approx(2)
    for key, at in (("P", lead), ("Q", other)):  # the difference of two noises is normal, of 8 = 4 + 4
        low, high = map(float, witness[key].strip("[]").split(", "))
        assert low - 1e-8 <= stats.norm.cdf(-at, scale=math.sqrt(8)) <= high + 1e-8


EVENT = {"group": 2, "lead": "1", "cuts": ["-60", "-1", "0", "1", "60"], "at": {"n": "4"}}
CLAIM = of(largest(laplace(1), "n"), "1/8", domains=TWO_UP, delta=parse("1/100"))


def alone(claim, verdict="REFUTED", **evidence):
    return check(pack(claim, 128, verdict, [Line(rule.NAME, (), evidence, (), 128)]))


def test_an_event_that_is_told_refutes_alone():
    judgement = alone(CLAIM, **EVENT)
    assert judgement.witness["at"] == {"n": "4"} and judgement.delta_lower is None


@pytest.mark.parametrize(
    ("claim", "more", "why"),
    [
        (CLAIM, {"at": {"n": "1"}}, "outside the parameter's domain"),
        (CLAIM, {"at": {"m": "4"}}, "cannot be used|has not the form"),
        (CLAIM, {"at": {}}, "wants a number"),
        (CLAIM, {"group": 4}, "not a whole number from 1 to 3"),
        (replace(CLAIM, epsilon=None), {}, "none is claimed"),
        (replace(CLAIM, epsilon=parse("3 - n")), {}, "at least 0"),
        (replace(CLAIM, mechanism=replace(CLAIM.mechanism, neighbours="one"), epsilon=parse("1/8")), {}, "more than one answer"),
        (replace(CLAIM, delta=parse("min(1, n/4)")), {}, "is not certainly between 0 and 1"),
    ],
    ids=str,
)
def test_a_forged_event_is_refused(claim, more, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(claim, **{**EVENT, **more})


def test_where_the_order_of_neighbours_is_given_only_that_order_counts():
    """All answers go up: from q to q + d the first "no" loses probability; the other way round nothing is said."""
    cuts = ["-60", "-1", "0", "1", "4", "5", "60"]
    told = {"move": 0, "negatives": 1, "positives": 0, "next": "all", "answers": ["4", "0"], "cuts": cuts, "at": {"n": "3"}}
    up, both = (of(sparse(laplace(1), laplace(1), "n", neighbours=order), "0", domains=ALL_N) for order in ("increasing", "all"))
    assert float(rule.check(up, told).value.value) == pytest.approx(float(rule.check(both, told).value.value), rel=1e-9)
    # at epsilon = 1/8 "no" of an answer far above is rarer on q + d, and far below "yes" is rarer on q
    far = {**told, "answers": ["-5", "0"], "cuts": ["-60", "-5", "-4", "0", "60"]}
    up, both = (replace(claim, epsilon=parse("1/8")) for claim in (up, both))
    assert rule.check(up, far).value.value == 0 < rule.check(both, far).value.value


@pytest.mark.wide
def test_of_a_number_of_candidates_beyond_a_thousand_both_sides_are_known():
    """delta at n = 10,001 is at most n times that of one noise that is moved by 2 (theory#each-noise), and no less than at fewer."""
    mu = 2 / 8
    each = stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)
    judgement = verify(of(largest(gaussian(8), 10_001), "1", delta=parse("3/100"))).judgement
    assert judgement.verdict == "PROVED"
    low, high = (float(end.value) for end in (judgement.delta_lower, judgement.delta_upper))
    assert best_event(8, 12, 1.0) < low <= high < 10_001 * each

"""Above threshold with fresh noise on the positives: what is lost where positives move either way (theory#log-concave-threshold)."""

import math
from fractions import Fraction
from itertools import product

import pytest
from scipy import integrate

from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.rules import log_concave_threshold as threshold
from tests.selections import NATURAL, POSITIVE, alone, laplace, of, on_line, sparse

FAMILIES = {"all": [(-1, 1)], "increasing": [(0, 1)], "decreasing": [(-1, 0)], "monotone": [(0, 1), (-1, 0)]}


def two_sided(left, right):
    return on_line(f"exp(-max(({right})*z, -({left})*z))")


def dearest(first, answers, fresh, queries, positives, neighbours):
    """The greatest over outputs and all ways to move each answer to an end, of the least over shifts of the threshold."""
    best = Fraction(0)
    for low, high in FAMILIES[neighbours]:
        for yes in range(min(queries, positives) + 1):
            for k, up in product(range(queries - yes + 1), range(yes + 1)):
                no, told = [high] * k + [low] * (queries - yes - k), [high] * up + [low] * (yes - up)

                def cost(t, no=no, told=told):
                    compared = sum(answers[0] * max(d - t, 0) for d in no) + sum(answers[1] * max(t - d, 0) for d in told)
                    return first[1] * max(t, 0) + first[0] * max(-t, 0) + compared

                seen = sum(fresh[0] * max(d, 0) + fresh[1] * max(-d, 0) for d in told)
                best = max(best, seen + min(cost(t) for t in (low, 0, high)))
    return best


SLOPES = [
    ((4, "5/2"), ("1/2", "4/3"), ("1/2", 2), 2, 3, "monotone"),
    (("1/2", 5), (3, 5), ("4/3", 1), 5, 2, "increasing"),
    ((2, 1), (1, "1/4"), (3, 1), 4, 2, "increasing"),
    ((3, 1), (4, 1), (2, 1), 2, 2, "all"),
    ((1, 1), ("1/3", "1/3"), (5, 1), 6, 3, "all"),
    ((1, 2), (2, 1), (1, 4), 3, 2, "decreasing"),
    ((1, 2), (1, 1), ("3/4", "3/4"), 5, 3, "increasing"),
]


@pytest.mark.parametrize("case", SLOPES, ids=str)
def test_the_tight_epsilon_is_that_of_the_dearest_way_to_move(case):
    *laws, queries, positives, neighbours = case
    first, answers, fresh = (tuple(map(Fraction, law)) for law in laws)
    told = {"neighbours": neighbours, "report": "fresh", "fresh": two_sided(*fresh)}
    mechanism = sparse(two_sided(*first), two_sided(*answers), queries, positives, **told)
    judgement = check(verify(of(mechanism)).certificate)
    truth = float(dearest(first, answers, fresh, queries, positives, neighbours))
    assert [float(enclose(end).mid()) for end in (judgement.lower, judgement.upper)] == pytest.approx([truth, truth], abs=1e-12)


def test_far_out_an_output_loses_about_as_much_by_quadrature():
    """One "no" and one "yes" with fresh noise, answers that rise: at s (1, d) and at (s + 1) (1, d), the number that is told being 0."""
    first, answers, fresh = 1.0, 0.5, 0.75  # slopes of Laplace noises

    def below(x):
        return math.exp(answers * x) / 2 if x < 0 else 1 - math.exp(-answers * x) / 2

    def log_density(s, d):
        def inside(t):
            return math.exp(-first * abs(t)) * below(t - s) * (1 - below(t - s * d))

        found = sum(integrate.quad(inside, low, high, epsabs=0, limit=200)[0] for low, high in ((-40, 0), (0, s), (s, s + 60)))
        return math.log(found) - fresh * abs(s * d)

    lost = {d: log_density(20, d) - log_density(21, d) for d in (0, 1)}
    assert lost[1] == pytest.approx(fresh + min(answers, first), abs=0.01)
    assert lost[0] == pytest.approx(min(answers, first + answers), abs=0.01)
    mechanism = sparse(laplace(1), laplace(2), 2, 1, neighbours="increasing", report="fresh", fresh=laplace("4/3"))
    upper = float(enclose(verify(of(mechanism)).judgement.upper).mid())
    assert upper == pytest.approx(max(fresh + answers, 2 * answers), abs=1e-12)


def test_where_answers_rise_a_positive_pays_once_whatever_the_counts():
    noises = (laplace("2/e"), laplace("2*k/e"))
    mechanism = sparse(*noises, "n", "k", neighbours="increasing", report="fresh", fresh=laplace("2*k/e"))
    domains = (("e", POSITIVE), ("k", NATURAL), ("n", NATURAL))
    assert verify(of(mechanism, "e", domains=domains)).judgement.verdict == "PROVED"
    assert verify(of(mechanism, "999/1000*e", domains=domains)).judgement.verdict == "REFUTED"


HEAVY = sparse(laplace(1), laplace(2), 4, 2, neighbours="increasing", report="fresh", fresh=laplace(1))


@pytest.mark.parametrize(
    ("mechanism", "parameters", "why"),
    [
        (HEAVY, {"peaks": [2]}, "positives that move up do not certainly lose at most what they do that move down"),
        (HEAVY, {"peaks": [[2, 1]]}, "cannot be used|has not the form"),
        (HEAVY, {"peaks": [[2, 2, 0]]}, "is 2, not a whole number from 0 to 1"),
        (HEAVY, {"peaks": [[0, 1, 0]]}, "1 positives do not certainly lose at most what 0 do"),
        (HEAVY, {"side": "lower", "negatives": 3, "positives": 0, "raised": 2, "move": 0}, "so many are asked for"),
        (HEAVY, {"side": "lower", "negatives": 1, "positives": 1, "raised": 2, "move": 0}, "may be positive"),
        (HEAVY, {"side": "lower", "negatives": 1, "positives": 0, "raised": -1, "move": 0}, "not a whole number of at least 0"),
        (HEAVY, {"side": "lower", "negatives": 1, "positives": 0, "raised": True, "move": 0}, "not a whole number of at least 0"),
    ],
    ids=str,
)
def test_a_forged_output_is_refused(mechanism, parameters, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(of(mechanism, 9), threshold.NAME, **parameters)


def test_where_the_threshold_is_drawn_again_positives_that_move_up_are_not_looked_at():
    again = sparse(laplace(1), laplace(2), 4, 2, neighbours="increasing", report="fresh", fresh=laplace(1), resample=True)
    with pytest.raises(Rejected, match="drawn again"):
        alone(of(again, 9), threshold.NAME, side="lower", negatives=1, positives=1, raised=1, move=0)

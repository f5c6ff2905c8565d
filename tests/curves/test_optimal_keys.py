"""The optimal rule for whether keys are told (theory#noisy-keys): it has what it claims, nothing tells more, and it is the one of
truncated geometric noise."""

import math
from fractions import Fraction

import pytest

import dpverify as dp
from dpverify.declare import Mechanism
from dpverify.errors import SpecError


def told(epsilon, delta):
    """How probably a key is told, by the number of its records."""
    return [float(row[1].value) for row in Mechanism("keys", dp.optimal_keys(epsilon, delta)).model().rows]


def closed_form(epsilon, delta):
    """Desfontaines, Voss and Gipson 2022, Theorem 1: from 0 by one geometric sum, then by another to 1."""
    odds = math.expm1(epsilon)
    first = 1 + math.floor(math.log1p(math.tanh(epsilon / 2) * (1 / delta - 1)) / epsilon)
    low = math.expm1(first * epsilon) / odds * delta
    second = first + math.floor(math.log1p(odds / delta * (1 - low)) / epsilon)

    def chance(n):
        if n <= first:
            return math.expm1(n * epsilon) / odds * delta
        return low - (1 - low + delta / odds) * math.expm1(-(n - first) * epsilon) if n <= second else 1.0

    return [chance(n) for n in range(second + 2)]


@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "1/1000"), ("1", "1/100000"), ("3", "1/20"), ("1/5", "1/100")])
def test_the_probabilities_are_those_of_the_closed_form(epsilon, delta):
    assert told(epsilon, delta) == pytest.approx(closed_form(float(Fraction(epsilon)), float(Fraction(delta))), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [("log(3)", "1/1000"), ("1", "1/100000"), ("2", "1/100")])
def test_it_keeps_its_claim_and_none_of_its_probabilities_may_be_a_little_greater(epsilon, delta):
    mechanism = dp.optimal_keys(epsilon, delta)
    assert dp.verify(mechanism, epsilon=epsilon, delta=delta).verdict == "PROVED"
    assert dp.verify(mechanism, epsilon=epsilon, delta=Fraction(delta) * Fraction(10**9 - 1, 10**9)).verdict == "REFUTED"
    shares = [row[1].value for row in Mechanism("keys", mechanism).model().rows]
    steps = [(n, n + 1) for n in range(len(shares) - 1)]
    for n in (1, len(shares) // 2, len(shares) - 2):
        more = [share + (1 - share) * Fraction(1, 10**9) if place == n else share for place, share in enumerate(shares)]
        table = dp.table([[1 - share, share] for share in more], adjacent=[*steps, *((b, a) for a, b in steps)])
        assert dp.verify(table, epsilon=epsilon, delta=delta).verdict == "REFUTED", n


def test_noise_of_a_truncated_geometric_law_tells_keys_as_often():
    """theory#noisy-keys proves of that noise what the table has: counts are no obstacle where noise is never beyond its reach."""
    epsilon, reach = "1/2", 12
    noise = dp.translation("exp(-abs(z)/2)", support=[-reach, reach], integers=True)
    weights = [math.exp(-abs(z) / 2) for z in range(-reach, reach + 1)]
    delta = weights[0] / sum(weights)
    by_noise = [sum(weights[max(0, 2 * reach + 1 - n) :]) / sum(weights) for n in range(2 * reach + 2)]
    assert told(epsilon, Fraction(delta).limit_denominator(10**12))[: len(by_noise)] == pytest.approx(by_noise, abs=1e-9)
    keyed = dp.noisy_keys(noise, reach + 1, report="keys")
    assert dp.verify(keyed, sensitivity=1, epsilon=epsilon, delta=Fraction(delta) * (1 + Fraction(1, 10**9))).verdict == "PROVED"


@pytest.mark.wide
def test_several_keys_a_record_are_a_composition():
    part = dp.optimal_keys("1/2", "1/1000")
    answer = dp.verify(dp.compose(part=part, times=2), epsilon=1, delta=1 - Fraction(999, 1000) ** 2)
    assert answer.verdict == "PROVED"
    assert dp.verify(dp.compose(part=part, times=2), epsilon=1, delta="1/1000").verdict == "REFUTED"


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (1, 0, "a rational delta between 0 and 1"),
        (1, 1, "between 0 and 1"),
        (1, "sqrt(2)/100", "rational"),
        ("1/1000", "1e-9", "beyond 4000 records"),
    ],
)
def test_what_has_no_rule_is_refused_with_the_reason(epsilon, delta, said):
    with pytest.raises(SpecError, match=said):
        dp.verify(dp.optimal_keys(epsilon, delta), epsilon=1, delta="1/10")
    with pytest.raises(SpecError, match="not positive"):
        dp.verify(dp.optimal_keys(0, "1/10"), epsilon=1, delta="1/10")


def test_a_parameter_over_a_domain_has_no_rule(tmp_path):
    (tmp_path / "all.toml").write_text(
        'mechanism = {kind = "builtin", name = "optimal_keys", parameters = {epsilon = "positive", delta = "1/10"}}\n'
        'claim = [{epsilon = "epsilon", delta = "1/10"}]\n'
    )
    with pytest.raises(SpecError, match="a row for each count"):
        dp.verify(tmp_path / "all.toml")

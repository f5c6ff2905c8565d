"""Guessed coins: the bound against all mechanisms by linear programming, its numbers in fractions, and trainings right and wrong."""

import itertools
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from math import comb, exp, log
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

import dpverify as dp
from dpverify.audits.guesses import GRID, chance, epsilon_of_guesses, least_right
from dpverify.errors import AuditError, SamplerError, SpecError
from dpverify.runtime.finding import NO_VIOLATION_SEEN, VIOLATION

EXAMPLES = Path(__file__).parents[2] / "mechanisms" / "training" / "logistic_regression.py"


def likeliest(coins, guesses, right, epsilon, delta):
    """The greatest probability of so many right guesses over all mechanisms: a linear program in the laws of the guesses."""
    sides = list(itertools.product((-1, 1), repeat=coins))
    said = [t for t in itertools.product((-1, 0, 1), repeat=coins) if sum(map(abs, t)) == guesses]
    width, count = len(said), len(sides) * len(said)
    good = [[sum(a == b for a, b in zip(s, t, strict=True)) >= right for t in said] for s in sides]
    entries, bounds, used = [], [], count
    for one, s in enumerate(sides):
        for place in range(coins):
            other = sides.index(tuple(-a if i == place else a for i, a in enumerate(s)))
            for t in range(width):  # p - e^epsilon p' <= what is over
                row = len(bounds)
                entries += [(row, one * width + t, 1.0), (row, other * width + t, -exp(epsilon)), (row, used + t, -1.0)]
                bounds.append(0.0)
            entries += [(len(bounds), used + t, 1.0) for t in range(width)]
            bounds.append(delta)
            used += width
    rows, columns, values = zip(*entries, strict=True)
    limits = coo_matrix((values, (rows, columns)), shape=(len(bounds), used))
    whole = coo_matrix((np.ones(count), (np.repeat(np.arange(len(sides)), width), np.arange(count))), shape=(len(sides), used))
    aim = np.zeros(used)
    aim[:count] = np.ravel(good) / -len(sides)
    return -linprog(aim, A_ub=limits, b_ub=bounds, A_eq=whole, b_eq=np.ones(len(sides)), bounds=(0, None), method="highs").fun


CASES = [
    (coins, guesses, right, epsilon, delta)
    for coins, guesses in ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3))
    for right in range(1, guesses + 1)
    for epsilon in (0.0, 0.7, 2.0)
    for delta in (0.0, 0.01, 0.2)
]


def test_no_mechanism_gives_more_away_and_randomized_response_gives_all_that_is_allowed():
    reached = 0
    for case in CASES:
        most, bound = likeliest(*case), chance(case[2], case[1], case[0], case[3], case[4])
        assert most <= bound + 1e-7, case
        if not case[4]:
            assert most == pytest.approx(bound, abs=1e-7), case
        reached += most >= bound - 1e-7
    assert reached > len(CASES) / 2


@pytest.mark.parametrize(("right", "guesses", "epsilon"), [(7, 10, log(2)), (10, 10, log(3)), (30, 50, 0.0), (1, 50, log(9))])
def test_tails_are_those_of_the_coin_in_fractions(right, guesses, epsilon):
    q = Fraction(round(exp(epsilon)), round(exp(epsilon)) + 1)
    tail = sum(comb(guesses, j) * q**j * (1 - q) ** (guesses - j) for j in range(right, guesses + 1))
    likely = [max(comb(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)) for k in range(guesses)]
    for delta in (Fraction(0), Fraction(1, 10_000)):
        exact = tail + 60 * delta * (1 - q) * sum(likely) / guesses
        exact = float(min(exact, 1))
        assert exact * (1 - 1e-15) <= chance(right, guesses, 60, epsilon, float(delta)) <= exact * (1 + 1e-7)


def test_a_bound_is_the_last_multiple_up_to_which_all_are_refuted():
    for right, guesses, coins, delta in ((90, 100, 400, 1e-5), (60, 100, 100, 0.0), (20, 20, 1000, 1e-6), (5, 10, 10, 0.0)):
        bound = epsilon_of_guesses(right, guesses, coins, confidence=0.95, delta=delta)
        steps = np.arange(0, bound + GRID / 2, GRID)
        refuted = [chance(right, guesses, coins, epsilon, delta) <= 0.05 for epsilon in steps[:: max(len(steps) // 50, 1)]]
        assert all(refuted) or bound == 0.0
        assert chance(right, guesses, coins, bound + GRID, delta) > 0.05


def test_the_fewest_right_guesses_that_refute():
    for guesses, epsilon, delta in ((40, 1.0, 0.0), (40, 1.0, 1e-5), (200, 0.1, 1e-6)):
        fewest = least_right(guesses, 300, epsilon, confidence=0.99, delta=delta)
        assert chance(fewest, guesses, 300, epsilon, delta) <= 0.01 < chance(fewest - 1, guesses, 300, epsilon, delta)
    assert least_right(3, 300, 1.0, confidence=0.99) is None
    assert least_right(300, 300, 1.0, confidence=0.99, delta=0.5) is None


def told(epsilon):
    """A training that tells of each canary, a number, by randomized response whether it was in."""

    def train(records, rng):
        inside = np.isin(np.arange(200), records)
        return np.where(rng.random(200) < 1 / (1 + exp(epsilon)), ~inside, inside) + rng.random(200) / 2

    return train


@pytest.mark.wide
def test_the_worst_mechanism_is_accused_no_more_often_than_stated_and_a_worse_one_is_found():
    canaries = list(range(200))
    alarms = [dp.audit_training(told(1.0), canaries, epsilon=1, confidence=0.8, seed=seed).finding == VIOLATION for seed in range(150)]
    assert np.mean(alarms) <= 0.2 + 3 * (0.16 / 150) ** 0.5
    assert np.mean(alarms) > 0.01  # nor is the bound far from what it states
    found = dp.audit_training(told(2.0), canaries, epsilon=1, seed=1)
    assert found.finding == VIOLATION
    assert 1 < found.epsilon_lower < 2


@pytest.mark.wide
def test_what_would_be_found_nine_times_in_ten_is():
    least = dp.audit_training(told(0.0), range(200), epsilon="1/2", guesses=200, confidence=0.95, seed=0).detectable_epsilon
    found = [
        dp.audit_training(told(least), range(200), epsilon="1/2", guesses=200, confidence=0.95, seed=seed).finding for seed in range(100)
    ]
    assert found.count(VIOLATION) >= 90 - 3 * 3


def examples():
    spec = spec_from_file_location("logistic_regression", EXAMPLES)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.wide
def test_the_usual_bugs_are_found_and_the_right_training_is_not_accused():
    shelf = examples()
    for name, runs, finding in (
        ("train", 2, NO_VIOLATION_SEEN), ("clipping_the_mean", 1, VIOLATION), ("wrong_batch_size", 2, VIOLATION),
        ("augmented_once", 3, VIOLATION),
    ):  # fmt: skip
        found = dp.audit_training(
            getattr(shelf, name), shelf.canaries, score=shelf.score, data=shelf.data, epsilon="1.327", delta="1e-6", runs=runs, seed=2
        )
        assert found.finding == finding, name
    assert "guesses right" in found.event
    assert "runs=3)" in found.replay


def test_records_are_in_or_out_or_replaced():
    seen = []

    def train(records, rng):
        seen.append(records)
        return [0.0, 0.0]

    for canaries, data, instead in (([1, 2], [9], None), ([1, 2], [9], [3, 4]), (np.eye(2), np.ones((3, 2)), -np.eye(2))):
        dp.audit_training(train, canaries, data=data, instead=instead, epsilon=1, runs=12, seed=1)
    added, replaced, rows = seen[:12], seen[12:24], seen[24:]
    assert {tuple(map(int, records)) for records in added} == {(9,), (9, 1), (9, 2), (9, 1, 2)}
    assert {frozenset(map(int, records)) for records in replaced} == {frozenset(s) for s in ((9, 1, 2), (9, 1, 4), (9, 3, 2), (9, 3, 4))}
    assert {records.shape for records in rows} == {(5, 2)}


def test_guesses_that_nothing_can_refute_say_so():
    found = dp.audit_training(told(0.0), range(200), epsilon=1, delta="0.1", seed=1)
    assert found.detectable_epsilon == float("inf")
    assert any("not even guesses that are all right" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"canaries": []}, AuditError, "canaries is empty"),
        ({"canaries": 3}, AuditError, "not a list or an array"),
        ({"guesses": 201}, AuditError, "from 1 to that of the coins, 200"),
        ({"instead": [1]}, AuditError, "one for each"),
        ({"runs": 0}, AuditError, "runs = 0: not a whole number of at least 1"),
        ({"canaries": np.zeros((200, 2)), "data": np.zeros((3, 1))}, AuditError, "records of different shapes: \\(1,\\), \\(2,\\)"),
        ({"train": lambda records, rng: [10**400] * 200}, SamplerError, "no list of numbers"),
        ({"train": lambda records, rng: [1.0]}, SamplerError, "1 numbers for 200 canaries"),
        ({"train": lambda records, rng: [float("nan")] * 200}, SamplerError, "nan for canary 0"),
        ({"train": lambda records, rng: 1 / 0}, SamplerError, "ZeroDivisionError"),
        ({"train": lambda records, rng: "no"}, SamplerError, "no list of numbers"),
        ({"epsilon": None}, AuditError, "what is claimed"),
        ({"score": 3}, AuditError, "not callable"),
    ],
)
def test_what_cannot_be_audited_is_refused(change, error, said):
    given = {"train": told(1.0), "canaries": list(range(200)), "epsilon": 1, **change}
    with pytest.raises(error, match=said):
        dp.audit_training(given.pop("train"), given.pop("canaries"), **given)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('{ train = "a:b" }', "canaries is missing"),
        ('{ train = "a:b", canaries = "a:c", sampler = "a:d" }', "sampler: said of a sampler, and this table names a training"),
        ('{ sampler = "a:d", runs = 3 }', "runs: said of a training, and this table names none"),
        ('{ train = "a:b", canaries = "a:c", confidence = 1.5 }', "is not between 0 and 1"),
        ('{ sampler = "a:d", observe = "colour" }', 'is not "failures" or "time"'),
    ],
)
def test_a_table_that_says_what_cannot_be_audited_is_refused(table, said, tmp_path):
    (tmp_path / "a.toml").write_text(f'mechanism = {{ kind = "sampled" }}\nclaim = [{{ epsilon = 1 }}]\naudit = {table}\n')
    with pytest.raises(SpecError, match=said):
        dp.read_spec(tmp_path / "a.toml")


def test_a_claim_file_names_a_training(tmp_path):
    (tmp_path / "told.py").write_text(
        "import numpy as np\ndef train(records, rng):\n    return np.isin(np.arange(100), records)\n\ncanaries = list(range(100))\n"
    )
    (tmp_path / "told.toml").write_text(
        'mechanism = { kind = "sampled" }\nclaim = [{ epsilon = 1, delta = "1e-6" }]\n'
        'audit = { train = "told:train", canaries = "told:canaries", confidence = 0.999 }\n'
    )
    from dpverify.audits import audit_spec

    (found,) = audit_spec(dp.read_spec(tmp_path / "told.toml"), seed=1)
    assert found.finding == VIOLATION
    assert found.event == "100 of 100 guesses right"
    assert found.confidence == 0.999

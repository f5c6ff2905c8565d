"""The mechanism of least error on finitely many databases, certified on both sides."""

from decimal import Decimal
from fractions import Fraction as F
from itertools import product

import pytest
from flint import arb, fmpq

import dpverify
from dpverify.errors import SpecError
from dpverify.search.spaces import private_tables
from dpverify.search.spaces.private_tables import Task
from dpverify.search.utility.refined import LinearProgram, solve
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from tests.programs import least_loss

COUNT = {"neighbours": "consecutive"}


def steps(last):
    return [pair for x in range(last) for pair in ((x, x + 1), (x + 1, x))]


def private(rows, ratio, pairs):
    """Whether every inequality holds certainly, on balls. ratio: of a pair."""
    with precision(256):
        return all(rational(p) <= ratio(*pair) * rational(q) for pair in pairs for p, q in zip(rows[pair[0]], rows[pair[1]], strict=True))


@pytest.mark.parametrize(("epsilon", "last", "value"), [("log(2)", 2, F(4, 7)), ("log(3)", 2, F(3, 7)), ("log(2)", 3, F(28, 39))])
def test_where_e_to_the_epsilon_is_rational_the_optimum_is_exact(epsilon, last, value):
    found = dpverify.optimum(epsilon, answers=range(last + 1), **COUNT)
    assert (found.error, found.bound, found.gap) == (value, value, 0)


@pytest.mark.parametrize(("last", "value"), [(10, 0.80303), (20, 0.84574)])
def test_the_gap_of_a_count_is_below_a_hundred_billionth(last, value):
    found = dpverify.optimum(1, answers=range(last + 1), **COUNT)
    assert 0 <= found.gap < F(1, 10**11) and round(float(found.error), 5) == value
    assert all(sum(row) == 1 and min(row) >= 0 for row in found.rows)
    assert private(found.rows, lambda *_: arb(1).exp(), steps(last))


@pytest.mark.wide
def test_the_gap_for_the_answers_0_to_50_is_below_a_millionth():
    found = dpverify.optimum(1, answers=range(51), digits=4, **COUNT)
    assert 0 <= found.gap < F(1, 10**6) and private(found.rows, lambda *_: arb(1).exp(), steps(50))


@pytest.mark.parametrize("epsilon", ["1/100", "5"])
def test_the_gap_is_small_for_small_and_large_epsilon(epsilon):
    found = dpverify.optimum(epsilon, answers=range(9), **COUNT)
    assert 0 <= found.gap < F(1, 10**11)


@pytest.mark.parametrize("options", [4, 7])
def test_for_wrong_or_right_among_any_neighbours_randomized_response_is_the_best(options):
    found = dpverify.optimum("log(3)", answers=range(options), loss="zero-one", neighbours="all")
    assert found.error == found.bound == 1 - F(3, 3 + options - 1)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "greatest"])
def test_on_points_the_optimum_is_that_of_another_solver(loss):
    points = [(0, 0), (1, 0), (1, 2)]
    of = {
        "absolute": lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)),
        "squared": lambda x, y: sum((a - b) ** 2 for a, b in zip(x, y, strict=True)),
        "zero-one": lambda x, y: int(x != y),
        "greatest": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    }[loss]
    found = dpverify.optimum("log(5/2)", answers=points, loss=loss, neighbours=[(0, 1), (2, 0)])
    pairs = dict.fromkeys([(0, 1), (1, 0), (0, 2), (2, 0)], F(5, 2))
    assert found.bound <= least_loss([[F(of(x, y)) for y in points] for x in points], pairs) <= found.error <= found.bound + F(1, 10**11)
    assert found.outputs == tuple(tuple(map(F, point)) for point in points)


def test_a_prior_asks_for_the_mean_and_delta_for_less():
    losses = [["0", "1"], ["1", Decimal("0.5")], [F(2), 0]]
    exact = [[F(0), F(1)], [F(1), F(1, 2)], [F(2), F(0)]]
    prior = [F(1, 2), "1/4", "0.25"]
    found = dpverify.optimum("log(2)", loss=losses, prior=prior, delta="1/20", **COUNT)
    ratios = dict.fromkeys(steps(2), F(2))
    value = least_loss(exact, ratios, F(1, 20), [F(1, 2), F(1, 4), F(1, 4)])
    assert found.bound <= value <= found.error <= found.bound + F(1, 10**11)
    assert value < least_loss(exact, ratios, prior=[F(1, 2), F(1, 4), F(1, 4)])


@pytest.mark.parametrize("prior", [None, ["1/2", "1/2"]], ids=["worst", "mean"])
@pytest.mark.parametrize("loss", [[[-3, -1], [-1, -2]], [[0, 5], [0, 5]], [[-1, 1], [1, -1]]], ids=str)
def test_losses_may_be_negative_or_come_to_nothing(loss, prior):
    found = dpverify.optimum("log(2)", loss=loss, prior=prior, **COUNT)
    shifted = [[F(entry + 3) for entry in row] for row in loss]
    value = least_loss(shifted, dict.fromkeys(steps(1), F(2)), prior=[F(1, 2)] * 2 if prior else ()) - 3
    assert found.error == found.bound == value


def test_distances_that_count_steps_ask_for_what_neighbours_ask_for():
    distances = [[abs(x - y) for y in range(4)] for x in range(4)]
    found = dpverify.optimum("log(2)", answers=range(4), distances=distances)
    assert (found.error, found.bound, len(found.claims)) == (F(28, 39), F(28, 39), 1)


def test_any_metric_is_held_to_by_every_pair():
    distances = [[0, "1/2", "7/5"], ["1/2", 0, 1], ["7/5", 1, 0]]
    found = dpverify.optimum(1, answers=[0, 1, 2], distances=distances)
    assert 0 <= found.gap < F(1, 10**11)
    pairs = [pair for pair in product(range(3), repeat=2) if pair[0] != pair[1]]
    assert private(found.rows, lambda x, y: rational(F(distances[x][y])).exp(), pairs)
    assert [dpverify.verify(claim).judgement.verdict for claim in found.claims] == ["PROVED"] * 3
    near, far = (tuple(tuple(F(e) for e in row) for row in rows) for rows in ([[0, 1], [1, 0]], [[0, 2], [2, 0]]))
    looser = dpverify.optimum(1, loss=far, distances=[[0, 2], [2, 0]])
    assert looser.error < 2 * dpverify.optimum(1, loss=near, distances=[[0, 1], [1, 0]]).error


def test_its_claim_file_is_proved_as_it_stands_with_its_error_and_the_bound(tmp_path):
    found = dpverify.optimum("1/2", answers=range(4), prior=["1/4"] * 4, **COUNT)
    (text,) = found.files
    (tmp_path / "best.toml").write_text(text)
    (stated,) = dpverify.read_spec(tmp_path / "best.toml").claims
    assert stated.claim.loss == found.claims[0].loss and stated.claim.prior == (F(1, 4),) * 4
    assert stated.claim.mechanism == found.claims[0].mechanism
    judgement = dpverify.verify(stated.claim).judgement
    values = {(bound.whose, bound.side): bound.value.value for _, bound in judgement.errors}
    assert judgement.verdict == "PROVED" and values["this", "upper"] == found.error
    assert found.error - F(1, 10**10) <= values["any", "lower"] <= found.error


def test_it_has_a_declaration_that_is_its_table():
    from dpverify.declare import Mechanism

    found = dpverify.optimum("log(2)", answers=[0, 1, 2], **COUNT)
    assert Mechanism(name="best", noise=found.declaration).model() == found.claims[0].mechanism


GIVEN = {"answers": [0, 1, 2], "neighbours": "consecutive"}


def metric(*rows):
    return {"neighbours": None, "distances": rows}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"epsilon": 1.5}, r"epsilon = 1\.5 is not an exact number\. Write an int"),
        ({"epsilon": "x"}, "epsilon = 'x' has the free symbols x. Give a number"),
        ({"epsilon": "1 +"}, "epsilon = '1 \\+' is not a number"),
        ({"epsilon": 0}, "epsilon = 0 is not above 0: then all databases have one law of outputs. Give a positive one"),
        ({"delta": "3/2"}, r"delta = 3/2 is not in \[0, 1\). Leave it out for pure privacy"),
        ({"delta": "exp(-9)"}, r"delta = 'exp\(-9\)' is not rational. Write a fraction"),
        ({"digits": 16}, "digits = 16 is not a whole number from 1 to 15"),
        ({"loss": "cubed"}, "loss = 'cubed' is not one of absolute, greatest, squared, zero-one, and no matrix. Give one"),
        ({"answers": None}, "answers are missing: give the true answer on each database, or a matrix as loss"),
        ({"answers": []}, "answers must be a list of numbers, or of points"),
        ({"answers": [0, (1, 2)]}, "answers must be a list of numbers, or of points with one number of coordinates"),
        ({"outputs": [(0, 1)]}, "answers have 1 coordinates and outputs 2. Give both as many"),
        ({"loss": [[0, 1], [1, 0]]}, "give answers with the name of a loss, or a matrix as loss, not both"),
        ({"loss": [[0, 1], [1]], "answers": None}, "loss must have a row for each database, all with an entry for each output"),
        ({"neighbours": None}, 'give neighbours .* or distances .a matrix., one of them'),
        ({"neighbours": [(0, 3)]}, r"neighbours: \(0, 3\) is not a pair of two databases from 0 to 2"),
        ({"neighbours": [(1, 1)]}, r"neighbours: \(1, 1\) is not a pair of two databases from 0 to 2"),
        ({"neighbours": []}, "no two databases are neighbours, so that nothing is to be hidden. Name the pairs"),
        ({"distances": [[0]]}, "give neighbours .* or distances"),
        (metric([0, 1], [1, 0]), "distances must be a matrix of 3 rows and columns"),
        (metric([0, 1, 2], [1, 0, 1], [3, 1, 0]), r"distances\[0\]\[2\] = 2: a metric is symmetric"),
        (metric([0, 0, 1], [0, 0, 1], [1, 1, 0]), r"distances\[0\]\[1\] = 0: a metric is .* positive elsewhere"),
        (metric([1, 1, 1], [1, 0, 1], [1, 1, 0]), r"distances\[0\]\[0\] = 1: a metric is .* 0 on the diagonal"),
        (metric([0, 1, 3], [1, 0, 1], [3, 1, 0]), "no metric: from 0 to 2 it is 3, by way of 1 only 2. Give the shorter"),
        (metric([0, 1, 1], [1, 0, 1], [1, 1, 0]) | {"delta": "1/2"}, "delta with distances"),
        ({"prior": [1, 0]}, "prior must have 3 entries, one for each database, at least 0 and with the sum 1"),
        ({"prior": [1, 1, -1]}, "prior must have 3 entries"),
        ({"answers": range(120), "neighbours": "all"}, "14280 pairs of databases times 120 outputs are more than 1000000. Ask for fewer"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_is_wrong_is_named_with_the_way_out(changed, why):
    asked = {"epsilon": 1} | GIVEN | changed
    with pytest.raises(SpecError, match=why) as error:
        dpverify.optimum(asked.pop("epsilon"), **asked)
    assert len(error.value.faults) == 1


def test_what_the_solver_cannot_do_is_said():
    identity = tuple(tuple(F(x == y) for y in range(2)) for x in range(2))
    with pytest.raises(Undecided, match="could not be made private: it may be too large, or epsilon too small"):
        private_tables._repaired(Task(identity, {(0, 1): (F(11, 10), F(11, 10))}), identity, 8)
    impossible = LinearProgram([fmpq(1)], [(0, 0, fmpq(1))], [fmpq(-1)])
    with pytest.raises(Undecided, match="was not solved by HiGHS: its numbers may be too far apart in size"):
        solve(impossible, 1e-9)


def test_a_program_is_solved_to_more_digits_than_floats_have():
    # least x + y with x + 3 y >= 1, 3 x + y >= 1: x = y = 1/4, multipliers 1/4
    rows = [(0, 0, 1), (0, 1, 3), (0, 2, -1), (1, 0, 3), (1, 1, 1), (1, 3, -1)]
    third = fmpq(1, 3)  # no float
    found = solve(LinearProgram([third, third, fmpq(0), fmpq(0)], [(i, j, fmpq(a)) for i, j, a in rows], [fmpq(1), fmpq(1)]), 1e-25)
    assert found.wrong <= 1e-25
    assert abs(found.x[0] - fmpq(1, 4)) < fmpq(1, 10**20) and abs(found.y[0] - fmpq(1, 12)) < fmpq(1, 10**20)

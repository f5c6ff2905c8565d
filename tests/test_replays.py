"""Replays of pipelines on neighbours: the contract, what breaks it, and what follows (docs/how-to/replay-a-pipeline.md)."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import dpverify as dp
from dpverify.errors import FoundByAudit, NotCertain, SpecError
from dpverify.replays.calls import same
from tests import effort
from tests.releases import PEOPLE, RIGHT, WRONG, arguments

ROWS = {"pay": st.integers(-10, 300)}
TRIES = 1000 if effort.full else 60

pytest_plugins = "pytester"


def count(rows, noise):
    return noise.laplace(len(rows), scale=2, sensitivity=1)


USED_AGAIN = {
    "taken away": lambda rows, z: len(rows) + z - z,
    "told after": lambda rows, z: (len(rows) + z, z),
    "told before": lambda rows, z: (z, len(rows) + z),
    "in a text": lambda rows, z: f"{len(rows) + z} {z}",
    "as a float": lambda rows, z: (len(rows) + z, float(z)),
    "twice of it": lambda rows, z: (len(rows) + z) - 2 * (z + 0),
    "a multiple": lambda rows, z: (len(rows) + z, 3 * z),
    "turned": lambda rows, z: (len(rows) + z) + (-z),
    "added twice": lambda rows, z: (len(rows) + z, 2 * len(rows) + z),
}


@pytest.mark.parametrize("name", USED_AGAIN)
def test_noise_that_is_used_again_hides_nothing(name):
    asked = {"rows": {"age": "integer in [0, 9]"}, "adjacency": "add-remove", "epsilon": 1, "tries": 40}
    found = dp.replay(lambda rows, noise: USED_AGAIN[name](rows, noise.laplace(1)), **asked)
    assert found.finding == "CONTRACT_BROKEN"


@pytest.mark.wide
def test_a_multiple_of_noise_costs_what_is_added():
    def other(rows, noise):
        z = noise.laplace(1)
        1000 * z
        return len(rows) + z

    def double(rows, noise):
        return len(rows) + 2 * noise.laplace(1)

    def turned(rows, noise):
        return len(rows) + -noise.laplace(1)

    for pipeline, least in ((other, 1), (double, Fraction(1, 2)), (turned, 1)):
        for epsilon, finding in ((least, "NO_BREACH_SEEN"), (least * Fraction(99, 100), "CLAIM_REFUTED")):
            asked = {"rows": {"age": "integer in [0, 9]"}, "adjacency": "add-remove", "epsilon": epsilon, "tries": 40}
            assert dp.replay(pipeline, **asked).finding == finding


# -- ten releases, and thirty bugs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_release_raises_no_alarm(name):
    found = dp.replay(RIGHT[name][0], **arguments(name), tries=TRIES)
    assert found.finding == "NO_BREACH_SEEN" and found.replays >= TRIES / 2 and found.epsilon > 0, str(found)


@pytest.mark.parametrize(("name", "what", "pipeline"), WRONG, ids=[what for _, what, _ in WRONG])
def test_a_planted_bug_is_found_with_few_rows(name, what, pipeline):
    found = dp.replay(pipeline, **arguments(name), tries=300)
    assert found.finding == "CONTRACT_BROKEN", what
    assert all(len(table) <= 3 for table in found.pair)
    assert abs(len(found.pair[0]) - len(found.pair[1])) >= 1  # neighbours by definition: one has a person more


def test_there_are_thirty_bugs_in_ten_releases():
    assert len(RIGHT) == 10 and len(WRONG) == 30 == len({what for _, what, _ in WRONG}) and {name for name, _, _ in WRONG} == RIGHT.keys()


# -- the contract, one clause after the other -----------------------------------------------------------------------------


def breach(pipeline, **more):
    found = dp.replay(pipeline, **{"rows": ROWS, "tries": 100, **more})
    assert found.finding == "CONTRACT_BROKEN", str(found)
    return found.breach


@pytest.mark.wide
@pytest.mark.parametrize(("adjacency", "most"), [("add-remove", 5), ("replace", 6)])
def test_distances_are_those_of_the_adjacency(adjacency, most):
    """Values between -1 and 5: somebody who comes moves the sum by 5 at most, somebody who is replaced by 6."""

    def total(rows, noise, sensitivity):
        return noise.laplace(sum(min(max(row["pay"], -1), 5) for row in rows), scale=1, sensitivity=sensitivity)

    def found(sensitivity):
        return dp.replay(total, rows=ROWS, adjacency=adjacency, config={"sensitivity": st.just(sensitivity)}, tries=300)

    assert found(most).is_clean
    assert found(most - 1).breach.kind == "distance"


def test_a_distance_that_is_no_number_breaks_the_contract():
    for value in (float("nan"), float("inf")):
        assert breach(lambda rows, noise, value=value: noise.laplace(value, scale=1)).kind == "value"


def test_noise_on_the_integers_is_given_integers():
    for noise_of in (
        lambda noise: noise.discrete_laplace(0.5, scale=2),
        lambda noise: noise.noisy_max([0.5, 0], noise=dp.discrete_laplace(2)),
    ):
        assert breach(lambda rows, noise, call=noise_of: call(noise)).kind == "value"
    assert dp.replay(lambda rows, noise: noise.discrete_laplace(2.0, scale=2), rows=ROWS, tries=5).is_clean


@pytest.mark.parametrize(
    ("call", "epsilon"),
    [
        (lambda noise, x: noise.discrete_laplace([x, 0, 0], scale=2), Fraction(1, 2)),  # |a| + |b| + |c| <= 1
        (lambda noise, x: noise.logistic([x, 0], scale=2), 1),  # a number each: no more is known of the vector
        (lambda noise, x: noise.laplace([x, 0], scale=2, norm="linf"), 1),
        (lambda noise, x: noise.of(dp.laplace(2, dimension=3), [x, 0, 0], sensitivity="3/2"), Fraction(3, 4)),
    ],
)
def test_vectors_cost_what_their_norm_allows(call, epsilon):
    assert dp.replay(lambda rows, noise: call(noise, len(rows)), rows=ROWS, tries=10).epsilon == epsilon


def test_noise_of_another_kind_is_refused():
    for wrong in (dp.randomized_response("3/4"), dp.radial("exp(-r)", norm={"columns": [[1, 0], [1, 1]]}, dimension=2)):
        found = dp.replay(lambda rows, noise, wrong=wrong: noise.of(wrong, [1, 2]), rows=ROWS, tries=5)
        assert found.finding == "NOTHING_SEEN" and "no noise that is added" in found.reason


@pytest.mark.wide
def test_rounding_is_no_breach_and_more_than_rounding_is():
    def total(rows, noise):
        return noise.laplace(sum(row["x"] for row in rows), scale=1, sensitivity=1)

    values = {"x": st.floats(0, 1)}
    assert dp.replay(total, rows=values, tries=300).is_clean
    over = {"x": st.floats(0, 1.001)}
    assert dp.replay(total, rows=over, tries=300).breach.kind == "distance"


@pytest.mark.parametrize(
    ("pipeline", "kind"),
    [
        (lambda rows, noise: noise.laplace(0, scale=1 + len(rows)), "parameters"),
        (lambda rows, noise: noise.laplace(0, scale=1, sensitivity=1 + len(rows)), "sensitivity"),
        (lambda rows, noise: (noise.laplace if len(rows) > 2 else noise.logistic)(0, scale=1), "mechanism"),
        (lambda rows, noise: [noise.laplace(0, scale=1) for _ in rows], "calls"),
        (lambda rows, noise: noise.laplace([0] * len(rows), scale=1), "shape"),
        (lambda rows, noise: noise.laplace({f"{len(rows)}": 0}, scale=1), "keys"),
        (lambda rows, noise: (noise.laplace(0, scale=1), len(rows) > 2), "output"),
        (lambda rows, noise: noise.laplace(0, scale=1) if rows else 1 / 0, "exception"),
        (lambda rows, noise: _twice(noise), "twice"),
        (lambda rows, noise: noise.laplace(1) + noise.laplace(1), "use"),
        (lambda rows, noise: len(rows) - noise.gumbel(1), "use"),
        (lambda rows, noise: np.array([1, 2]) + noise.laplace(1), "twice"),
        (lambda rows, noise: (random.seed(len(rows)), noise.laplace(0, scale=1))[1], "seed"),
        (lambda rows, noise: (np.random.default_rng(len(rows)), noise.laplace(0, scale=1))[1], "seed"),
    ],
)
def test_each_clause_is_looked_at(pipeline, kind):
    assert breach(pipeline).kind == kind


def _twice(noise):
    drawn = noise.laplace(1)
    return drawn.added_to(1), drawn.added_to(2)


@pytest.mark.wide
def test_the_same_exception_and_public_randomness_are_no_breach():
    def pipeline(rows, noise, public):
        if public == 3:
            raise ValueError("a public number")
        order = [0, 1, 2]
        random.shuffle(order)
        return order, np.random.default_rng(5).random(), np.random.random(), random.random(), noise.laplace(len(rows), scale=2)

    found = dp.replay(pipeline, rows=ROWS, config={"public": st.integers(0, 4)}, tries=100)
    assert found.is_clean and found.raised > 0


def test_public_randomness_goes_on_afterwards():
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    dp.replay(count, rows=ROWS, tries=5)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_data_that_a_run_changes_is_new_for_the_other():
    def pipeline(rows, noise):
        count = len(rows)
        rows.clear()
        return noise.laplace(count, scale=2)

    assert dp.replay(pipeline, rows=ROWS, tries=50).is_clean


def test_results_are_told_apart_by_what_others_may_see():
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1}) and same({"a": float("nan")}, {"a": float("nan")})
    assert (
        not same(1, 1.0)
        and not same([1], (1,))
        and same(np.array([1.0, 2]), np.array([1.0, 2]))
        and not same(np.array([1]), np.array([1.0]))
    )
    assert not same({1, 2}, {1, 3}) and same(Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("moved", [[3], [-2, 2], [1, -2, 2], [0, 0], [2, 2, 2], [3, 4]])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("sensitivity", [0, 2, 3, 5, 6])
def test_vectors_are_measured_in_their_norm(moved, norm, sensitivity):
    """By definition: the contract holds if and only if the vector of differences is no longer than is declared."""

    def pipeline(rows, noise):
        return noise.laplace([x * len(rows) for x in moved], scale=1, sensitivity=sensitivity, norm=norm)

    far = {"l1": sum(map(abs, moved)) ** 2, "l2": sum(x * x for x in moved), "linf": max(map(abs, moved)) ** 2}[norm]
    found = dp.replay(pipeline, pairs=st.just(([], [{}])), tries=3, tolerance=0)
    assert (found.finding != "CONTRACT_BROKEN") == (far <= sensitivity**2)


# -- what follows -------------------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_the_total_is_proved_and_a_claim_below_it_refuted():
    def pipeline(rows, noise):
        return count(rows, noise), noise.laplace([len(rows), 0, 0], scale=4), noise.noisy_max([len(rows), 0], noise=dp.laplace(4))

    found = dp.replay(pipeline, rows=ROWS, epsilon="5/4", tries=30)
    assert found.is_clean and found.epsilon == Fraction(5, 4)  # 1/2 + 1/4 + 2/4
    below = dp.replay(pipeline, rows=ROWS, epsilon="6/5", tries=30)
    assert below.finding == "CLAIM_REFUTED" and below.breach is None  # the contract is not what is wrong


@pytest.mark.wide
def test_a_broken_contract_says_nothing_of_the_claim_until_its_pair_is_sampled():
    def wrong(rows, noise):
        return noise.laplace(sum(row["pay"] for row in rows), scale=5, sensitivity=10)

    def harmless(rows, noise):
        return noise.laplace(2 * len(rows), scale=100, sensitivity=1)

    found = dp.replay(wrong, rows=ROWS, epsilon=2)
    assert found.finding == "CONTRACT_BROKEN" and not found.guarantees
    assert found.loss.epsilon.lower == abs(sum(x["pay"] for x in found.pair[0]) - sum(x["pay"] for x in found.pair[1])) / Fraction(5)
    assert found.audit(epsilon=2, samples=20_000, seed=0).finding == "VIOLATION"
    other = dp.replay(harmless, rows=ROWS, epsilon=1)
    assert other.finding == "CONTRACT_BROKEN" and other.audit(epsilon=1, samples=20_000, seed=0).finding == "NO_VIOLATION_SEEN"


@pytest.mark.wide
def test_lists_of_calls_that_outputs_choose_prove_no_delta():
    def pipeline(rows, noise):
        first = noise.gaussian(len(rows), sigma=3, sensitivity=1)
        return first if first > 2 else (first, noise.gaussian(len(rows), sigma=3, sensitivity=1))

    pure = dp.replay(lambda rows, noise: _chosen(rows, noise), rows=ROWS, tries=50)
    assert pure.is_clean and pure.epsilon == 1
    found = dp.replay(pipeline, rows=ROWS, delta="1e-5", tries=50)
    assert found.finding == "CLAIM_UNKNOWN" and found.epsilon is None and "filter" in found.reason


def _chosen(rows, noise):
    first = count(rows, noise)
    return first if first > 2 else (first, count(rows, noise))


def test_a_threshold_is_paid_once():
    def pipeline(rows, noise):
        ask = noise.above_threshold(threshold=3, threshold_noise=dp.laplace(2), query_noise=dp.laplace(4))
        return [ask(len(rows)) for _ in range(1)]

    assert 0 < dp.replay(pipeline, rows=ROWS, tries=30).epsilon <= 1


@pytest.mark.wide
def test_draws_that_are_multiplied_or_taken_one_by_one_are_followed():
    def pipeline(rows):
        drawn = np.random.laplace(0, 1, 3)
        scaled = 2.5 * np.random.laplace(size=2)
        return (
            [answer + one for answer, one in zip([len(rows), 0, 0], drawn, strict=True)],
            np.array([len(rows), 0]) + scaled,
            np.random.normal(len(rows), 4),
        )

    found = dp.replay(pipeline, rows=ROWS, patch="numpy", tries=30, delta="1e-5")
    assert found.is_clean and any("2 numbers" in calls for calls, _ in found.guarantees)


def test_what_tests_nothing_says_so():
    found = dp.replay(lambda rows, noise: 1 / 0, rows=ROWS, tries=10)
    assert found.finding == "NOTHING_SEEN" and "ZeroDivisionError" in found.reason and not found.is_clean
    assert dp.replay(lambda rows, noise: 3, rows=ROWS, tries=10).finding == "NOTHING_SEEN"


@pytest.mark.wide
def test_forms_of_data():
    pd = pytest.importorskip("pandas")

    def pipeline(frame, noise):
        assert isinstance(frame, pd.DataFrame)
        return noise.laplace(frame.groupby("group").size().reindex(list("abc"), fill_value=0), scale=1, sensitivity=1)

    assert dp.replay(pipeline, rows=PEOPLE, form="dataframe", tries=50).is_clean
    shown = dp.replay(lambda frame, noise: noise.laplace(frame.groupby("group").size(), scale=1), rows=PEOPLE, form="dataframe", tries=50)
    assert shown.breach.kind == "shape"
    columns = dp.replay(lambda data, noise: noise.laplace(len(data["pay"]), scale=1), rows=ROWS, form="columns", tries=50)
    assert columns.is_clean


@pytest.mark.wide
def test_rows_of_a_person_are_no_more_than_declared():
    sizes = set()

    def pipeline(rows, noise):
        mine = [row for row in rows if row["who"] == 0]
        sizes.add(len(mine))
        return noise.laplace(len(mine), scale=1, sensitivity=3)

    assert dp.replay(pipeline, rows=ROWS, person="who", rows_per_person=3, tries=100).is_clean
    assert sizes == {0, 1, 2, 3}


@pytest.mark.wide
def test_schemas_of_claim_files_describe_rows():
    schema = {"x": "in [0, 1]", "n": "integer in [2, 5]", "t": "text", "b": "boolean", "y": "positive"}

    def pipeline(rows, noise):
        assert all(0 <= r["x"] <= 1 and 2 <= r["n"] <= 5 and r["y"] > 0 and isinstance(r["b"], bool) for r in rows)
        return count(rows, noise)

    assert dp.replay(pipeline, rows=schema, tries=50).raised == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "give rows, .* or pairs"),
        ({"rows": 3}, "no strategy of Hypothesis"),
        ({"rows": {"x": "tall"}}, "rows: x"),
        ({"rows": ROWS, "adjacency": "l1"}, "none of add-remove, replace"),
        ({"rows": ROWS, "rows_per_person": 0}, "rows_per_person"),
        ({"rows": ROWS, "form": "table"}, "form"),
        ({"rows": ROWS, "tries": 0}, "tries"),
        ({"rows": ROWS, "patch": "torch"}, "none of numpy"),
        ({"rows": ROWS, "tolerance": -1}, "tolerance"),
        ({"rows": ROWS, "epsilon": 0.1}, "binary float"),
    ],
)
def test_what_is_asked_wrongly_is_told(given, why):
    with pytest.raises(SpecError, match=why):
        dp.replay(count, **given)


def test_a_pipeline_without_noise_wants_a_library():
    with pytest.raises(SpecError, match="no parameter noise"):
        dp.replay(lambda rows: len(rows), rows=ROWS)


def test_a_finding_is_neither_true_nor_false():
    found = dp.replay(count, rows=ROWS, tries=5)
    with pytest.raises(NotCertain):
        bool(found)
    assert found.raise_unless_clean() is found
    with pytest.raises(FoundByAudit, match="CONTRACT_BROKEN"):
        dp.replay(lambda rows, noise: len(rows), rows=ROWS, tries=5).raise_unless_clean()


def test_the_fixture_fails_where_the_contract_is_broken(pytester):
    pytester.makepyfile(
        """
        def right(rows, noise):
            return noise.laplace(len(rows), scale=2, sensitivity=1)

        def wrong(rows, noise):
            return noise.laplace(2 * len(rows), scale=2, sensitivity=1)

        def test_right(dp_replay):
            assert dp_replay(right, rows={"x": "boolean"}, epsilon="1/2", tries=20).epsilon == 0.5

        def test_wrong(dp_replay):
            dp_replay(wrong, rows={"x": "boolean"}, tries=20)

        def test_too_much(dp_replay):
            dp_replay(right, rows={"x": "boolean"}, epsilon="1/3", tries=20)
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*CONTRACT_BROKEN*", "*CLAIM_REFUTED*"])


def test_libraries_say_what_they_draw():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")

    def pipeline(rows, most):
        total = sum(min(max(row["pay"], 0), most) for row in rows)
        return mechanisms.Laplace(epsilon=1, sensitivity=100).randomise(total)

    for most, clean in ((100, True), (200, False)):
        found = dp.replay(pipeline, rows=ROWS, patch="diffprivlib", config={"most": st.just(most)}, epsilon=1, tries=100)
        assert found.is_clean == clean


def test_measurements_of_opendp_are_noted():
    odp = pytest.importorskip("opendp.prelude")
    odp.enable_features("contrib")
    told = odp.m.make_laplace(odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float), scale=50.0)
    for most, clean in ((100, True), (200, False)):

        def pipeline(rows, most=most):
            return told(float(sum(min(max(row["pay"], 0), most) for row in rows)))

        found = dp.replay(pipeline, rows=ROWS, patch="opendp", sensitivity=100.0, epsilon=2, tries=100)
        assert found.is_clean == clean

"""Small streams whose least epsilon is found by hand: what a wrong count of steps, moves or counters would change."""

import pytest

import dpverify as dp

ONE = 'kind = "builtin", name = "laplace", scale = 1'
SPARSE = f"once = {{ r = {{ {ONE} }} }}\nfresh = {{ v = {{ {ONE} }} }}\nlimits = {{ c = 1 }}\n"
ABOVE = '[[mechanism.step]]\nwhen = "q + v >= r"\nemit = "above"\ncount = { c = "%s" }\n[[mechanism.step]]\nemit = "below"\n%s'
FRESH = f"queries = 3\nneighbours = 'one'\nstate = {{ s = 0 }}\nfresh = {{ v = {{ {ONE} }} }}\n"
ONCE = f"queries = 2\nonce = {{ r = {{ {ONE} }} }}\n"
KEPT = '[[mechanism.step]]\nemit = "sum"\ntell = "q + r"\n'
MEMORY = '[[mechanism.step]]\nemit = "sum"\ntell = "s + q + v"\nset = { s = "%s" }\n'


@pytest.fixture
def tight(tmp_path):
    def bounds(mechanism):
        file = tmp_path / "stream.toml"
        file.write_text(f'[mechanism]\nkind = "stream"\n{mechanism}\n[[claim]]\nsensitivity = 1\nepsilon = "tight"\n')
        (answer,) = dp.verify(str(file))
        return answer.epsilon.lower, answer.epsilon.upper

    return bounds


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        pytest.param(SPARSE + ABOVE % ("2/3", ""), 1 + 2 * 2, id="a counter at 2/3 is below 1, so that two answers are told above"),
        pytest.param(
            SPARSE + "queries = 3\n" + ABOVE % (1, "count = { c = -1 }"),
            1 + 2,
            id="an answer below lowers the counter, so that two answers may be told above",
        ),
        pytest.param(FRESH + MEMORY % "q", 2, id="told twice"),
        pytest.param(FRESH + MEMORY % "s + q", 3, id="told to the end"),
        pytest.param(
            ONCE + "neighbours = 'hull'\nhull = [[1]]\n" + KEPT,
            1,
            id="one noise hides answers that move together",
        ),
    ],
)
def test_the_tight_epsilon_of_a_small_stream_is_what_is_counted_by_hand(tight, mechanism, expected):
    lower, upper = tight(mechanism)
    assert lower == expected == upper


def test_one_noise_for_answers_that_move_on_their_own_hides_nothing(tight):
    lower, upper = tight(ONCE + KEPT)
    assert lower == upper == float("inf")

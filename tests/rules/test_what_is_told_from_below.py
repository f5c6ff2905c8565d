"""Claims below the truth that what a part alone, or a delta above 0 at the claimed epsilon, refutes; and noises under equal answers.

Every truth is by hand, from one output or one event of one pair of neighbours.
"""

import math
from pathlib import Path

import pytest

from dpverify.catalogue import read_spec
from dpverify.search.verify import verify

LAPLACE = '{ kind = "translation", density = "exp(-abs(z))", sensitivity = 1 }'
COINS = '{ kind = "table", rows = [["3/4", "1/4"], ["1/4", "3/4"]] }'
SILENT = '{ kind = "table", rows = [["1/2", "1/2"]] }'
LISTED = [
    '{ kind = "table", rows = [["1/2", "1/2"], ["1/4", "3/4"]], adjacent = [[0, 1]] }',
    '{ kind = "table", rows = [["1/2", "1/2"], ["1/5", "4/5"]], adjacent = [[0, 1]] }',
]
LEANING = [
    '{ kind = "translation", density = "exp(-max(2*z, -z))", query = [[1]], adjacency = "add-remove" }',
    '{ kind = "translation", density = "exp(-max(3*z, -z))", query = [[1]], adjacency = "add-remove" }',
]


def of(kind: str, *parts: str) -> str:
    return f'kind = "{kind}"\nparts = [{", ".join(parts)}]'


def group(part: str) -> str:
    return f'kind = "group"\nsize = 2\npart = {{ kind = "subsample", rate = "1/2", part = {part} }}'


def verdict(folder: Path, mechanism: str, claim: str, parameters: str = "") -> str:
    file = folder / "file.toml"
    file.write_text(f"[mechanism]\n{mechanism}\n{parameters}\n[[claim]]\n{claim}\n", encoding="utf-8")
    (stated,) = read_spec(file).claims
    return verify(stated.claim).judgement.verdict


@pytest.mark.parametrize(
    ("mechanism", "truth", "order"),
    [
        (of("parallel", '{ kind = "table", rows = [["1"]] }', LAPLACE), 1, ""),
        (of("parallel", SILENT, COINS), math.log(3), ""),
        # neighbours of one record are among those of two
        (group(COINS), math.log(2), ""),
        (group(LAPLACE), math.log((1 + math.e) / 2), ""),
        # both parts say 0, or both say 1, in the one order and in the other
        (of("compose", *LISTED), math.log(2 * 5 / 2), "one-sided"),
        (of("compose", *LISTED), math.log(3 / 2 * 8 / 5), "reverse"),
        # with the record the answers are higher by 1: far above, 2 + 3 are lost, far below 1 + 1
        (of("compose", *LEANING), 5, "one-sided"),
        (of("compose", *LEANING), 2, "reverse"),
    ],
)
def test_a_pure_claim_clearly_below_the_truth_is_refuted_and_one_above_twice_it_is_not(tmp_path, mechanism, truth, order):
    ordered = f'order = "{order}"' if order else ""
    assert verdict(tmp_path, mechanism, f'epsilon = "{truth * 0.8:.6f}"\n{ordered}') == "REFUTED"
    assert verdict(tmp_path, mechanism, f'epsilon = "{truth * 2.001:.6f}"\n{ordered}') == "PROVED"


@pytest.mark.wide
@pytest.mark.parametrize(("order", "truth"), [("one-sided", 2), ("reverse", 1)])
def test_in_one_order_too_a_part_alone_is_a_lower_bound(tmp_path, order, truth):
    """Of noise that is steeper above: with the record 2 is lost far above, without it 1 far below; the coin loses log(5/2) and log(8/5)."""
    whole = of("parallel", LISTED[1], LEANING[0], '{ kind = "table", rows = [["1"]] }') + '\nadjacency = "add-remove"'
    assert verdict(tmp_path, whole, f'epsilon = "{truth}"\norder = "{order}"') == "PROVED"
    assert verdict(tmp_path, whole, f'epsilon = "{truth - 0.01}"\norder = "{order}"') == "REFUTED"
    beside = of("compose", '{ kind = "guarantee", epsilon = 3 }', LISTED[1], LEANING[0])
    assert verdict(tmp_path, beside, f'epsilon = "{truth + 4}"\norder = "{order}"') == "PROVED"
    assert verdict(tmp_path, beside, f'epsilon = "{truth - 0.01}"\norder = "{order}"') == "REFUTED"


def test_a_part_alone_is_a_lower_bound_beside_parts_of_which_none_is_known(tmp_path):
    noise = '{ kind = "builtin", name = "laplace", scale = "b", sensitivity = 1 }'
    whole, parameters = of("compose", f'{{ kind = "post_process", part = {noise} }}', noise), 'parameters = { b = "positive" }'
    assert verdict(tmp_path, whole, 'epsilon = "2/b"', parameters) == "PROVED"
    assert verdict(tmp_path, whole, 'epsilon = "9/(10*b)"', parameters) == "REFUTED"
    assert verdict(tmp_path, whole, 'epsilon = "1/b"', parameters) == "UNKNOWN"  # the map may leave nothing to be seen


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("kind", ["noisy_max", "above_threshold"])
def test_selections_of_answers_that_never_move_tell_nothing(tmp_path, noise, kind):
    law = f'{{ kind = "builtin", name = "{noise}", {"sigma" if noise == "gaussian" else "scale"} = "s" }}'
    told = {
        "noisy_max": f'kind = "noisy_max"\nnoise = {law}\ncandidates = "k"',
        "above_threshold": f'kind = "above_threshold"\nthreshold_noise = {law}\nquery_noise = {law}\nqueries = "k"\npositives = 1',
    }[kind]
    parameters = 'parameters = { s = "positive", k = "integer >= 2" }'
    assert verdict(tmp_path, told, "sensitivity = 0\nepsilon = 0", parameters) == "PROVED"
    assert verdict(tmp_path, told, 'sensitivity = "1/9"\nepsilon = 0', parameters) == "REFUTED"


@pytest.mark.wide
def test_integer_noise_that_is_even_alone_tells_answers_that_differ_by_1(tmp_path):
    """Answers that move by at most 2 may move by 1, and then every output tells which of two they are."""
    noise = 'kind = "translation"\ndensity = "exp(-abs(z))*(1 - z + 2*floor(z/2))"\nintegers = true'
    assert verdict(tmp_path, noise, "sensitivity = 2\nepsilon = 50") == "REFUTED"
    assert verdict(tmp_path, noise, 'query = [[2, 4]]\nadjacency = "add-remove"\nepsilon = "3.99"') == "REFUTED"
    assert verdict(tmp_path, noise, 'query = [[2, 4]]\nadjacency = "add-remove"\nepsilon = 4') != "REFUTED"

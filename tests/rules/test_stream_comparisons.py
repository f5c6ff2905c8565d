"""Comparisons of streams: their probabilities and the branches that may be taken, against enumeration; forged words on the integers."""

from __future__ import annotations

import copy
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from scipy.integrate import quad
from scipy.stats import laplace

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import Stream
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.followed import branches
from dpverify.trusted.theories.selection.noise_laws import law
from dpverify.trusted.theories.selection.rules import told_words, worst_words
from dpverify.trusted.theories.selection.word_chances import Row, cells, chance, known

STEEP = {"kind": "translation", "density": "exp(-abs(z))", "integers": True}
LAPLACE = {"kind": "builtin", "name": "laplace", "scale": 2}
EITHER = {"when": "q + nu >= rho", "emit": "above"}


def stream(**others):
    return {"kind": "stream", "fresh": {"nu": LAPLACE}, "queries": 2, "step": [{"emit": "told"}], **others}


def claimed(mechanism, **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": "tight"} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def drawn(noise, cuts=()):
    table = {"mechanism": stream(fresh={"nu": noise}), "claim": [{"sensitivity": 1, "epsilon": 1}]}
    cuts = [Fraction(cut) for cut in cuts]
    return known(law(read_tables("stream.toml", table).claims[0].claim.mechanism.fresh[0].noise, cuts), cuts)


# -- probabilities ------------------------------------------------------------------------------------------------

PLACES = np.arange(-35, 36)
LAW = np.exp(-np.abs(PLACES)) / np.exp(-np.abs(PLACES)).sum()
NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def steep():
    return drawn(STEEP, (-40, 40))


def enumerated(rows):
    """The sum over all values of three noises, each from -35 to 35."""
    axes = dict(zip(NAMES, np.meshgrid(*3 * [PLACES], indexing="ij", sparse=True), strict=True))
    held = np.ones(3 * [PLACES.size], bool)
    for row in rows:
        value = sum((float(factor) * axes[name] for (name, _), factor in row.of.items()), float(row.rest))
        held &= (value > 0) if row.strict else (value >= 0)
    return float(np.einsum("i,j,k,ijk->", LAW, LAW, LAW, held))


def drawn_rows(seed):
    """Three comparisons, each of the noise c and of some of the others, or of these alone."""
    choose = random.Random(seed)
    factors, rests = [Fraction(x) for x in ("-2", "-1", "1", "1/2")], [Fraction(x, 2) for x in range(-4, 5)]
    rows = []
    for names in (("a",), choose.choice((("a", "b"), ("b",))), choose.choice((("a", "c"), ("a", "b", "c"), ("b", "c")))):
        rows.append(Row({(name, 0): choose.choice(factors) for name in names}, choose.choice(rests), choose.random() < 0.5))
    return tuple(rows)


@pytest.mark.parametrize("seed", range(12))
def test_comparisons_of_integers_have_the_probability_of_their_enumeration(seed, steep):
    rows, noises = drawn_rows(seed), dict.fromkeys(NAMES, steep)
    truth = enumerated(rows)
    for end, width in ((22, 1e-7), (2, 1.0)):
        ends = cells(steep, [Fraction(-end), Fraction(end)])
        found = chance("test", rows, noises, {("a", 0): ends, ("b", 0): ends})
        assert found.lower() <= truth + 1e-12 and truth - 1e-12 <= found.upper()
        assert found.upper() - found.lower() <= width


@pytest.mark.parametrize(
    ("rows", "truth"),
    [
        ([({"a": 1}, -1, False)], np.exp(-1) / (1 + np.exp(-1))),
        ([({"a": 1}, -1, True)], np.exp(-2) / (1 + np.exp(-1))),
        ([({"a": -1}, 1, True)], 1 / (1 + np.exp(-1))),
        ([({"a": 1}, 2, False), ({"a": -1}, 2, False)], 1 - 2 * np.exp(-3) / (1 + np.exp(-1))),
    ],
)
def test_comparisons_of_one_noise_alone_are_exact_wherever_its_cells_end(rows, truth, steep):
    """Of a two-sided geometric noise with the ratio 1/e: P[a >= k] = e^-k/(1 + 1/e) for k above 0."""
    told = tuple(Row({(name, 0): Fraction(x) for name, x in of.items()}, Fraction(rest), strict) for of, rest, strict in rows)
    found = chance("test", told, {"a": steep}, {("a", 0): cells(steep, [Fraction(-2), Fraction(2)])})
    assert abs(float(found.mid()) - truth) < 1e-12 and float(found.rad()) < 1e-12


@pytest.mark.parametrize(("strict", "least"), [(False, 3), (True, 4)])
def test_a_cell_that_a_comparison_parts_counts_from_above_alone(strict, least, steep):
    """The outer cell begins at 3: a >= 3 holds in all of it, a > 3 does not hold at its end."""
    row = Row({("a", 0): Fraction(1)}, Fraction(-3), strict)
    found = chance("test", (row,), {"a": steep}, {("a", 0): cells(steep, [Fraction(-2), Fraction(2)])})
    assert found.lower() <= np.exp(-least) / (1 + np.exp(-1)) * (1 + 1e-12) and found.upper() >= np.exp(-3) / (1 + np.exp(-1)) * (1 - 1e-12)


@pytest.mark.parametrize("cuts", [range(-5, -1), range(-1, 2), range(2, 5)])
@pytest.mark.parametrize("density", ["exp(-abs(z))", "exp(-z**4/8)"])
def test_beyond_the_cuts_a_probability_is_between_that_at_the_cut_and_that_of_all(density, cuts):
    """On the integers by enumeration, on the line by quadrature; of cuts that are all on one side of the middle too."""
    whole = density == "exp(-abs(z))"
    noise = drawn({"kind": "translation", "density": density, "integers": whole}, cuts)

    def truth(place):
        if whole:
            return float(LAW[: place + 35].sum())
        return 0.5 + quad(lambda z: np.exp(-(z**4) / 8), 0, place)[0] / quad(lambda z: np.exp(-(z**4) / 8), -12, 12)[0]

    for place in range(-8, 9):
        low, high = noise.below(fmpq(place))
        first, last = truth(cuts[0]), truth(cuts[-1])
        least, most = (0, first) if place < cuts[0] else (last, 1) if place > cuts[-1] else 2 * (truth(place),)
        assert not (low > least + 1e-9 or high < most - 1e-9)  # of cuts that leave out the middle little is known on the line
        assert not whole or abs(float(low) - least) + abs(float(high) - most) < 1e-9


@pytest.mark.parametrize("factor", ["2", "-3", "1/2"])
@pytest.mark.parametrize("cuts", [range(-30, 31), range(-31, 32, 2)], ids=["parted at 0", "not parted at 0"])
def test_multiples_of_noises_are_compared_and_cells_may_hold_a_kink(factor, cuts):
    """P[factor nu + rho >= 9], by quadrature over rho: far from where nu has its kink, wherever that of rho is."""
    noise, by = drawn(LAPLACE), float(Fraction(factor))
    rows = (Row({("nu", 0): Fraction(factor), ("rho", -1): Fraction(1)}, Fraction(-9)),)
    found = chance("test", rows, {"nu": noise, "rho": noise}, {("rho", -1): cells(noise, [Fraction(cut) for cut in cuts])})

    def height(rho):
        return laplace.pdf(rho, scale=2) * laplace.sf((9 - rho) / abs(by), scale=2)

    truth = quad(height, -120, 120, points=[0, 9], limit=400)[0]
    assert found.lower() <= truth + 1e-9 and truth - 1e-9 <= found.upper()
    assert found.upper() - found.lower() < 0.02 * len(cuts)


# -- which branches may be taken --------------------------------------------------------------------------------------


def possible(noise, first, second):
    mechanism = stream(fresh={"nu": noise}, step=[{"when": first, "emit": "first"}, {"when": second, "emit": "second"}, {"emit": "third"}])
    question = asked(claimed(mechanism), {"side": "lower"}, "test", near=True, wanted=Stream)
    return {taken.branch for taken in branches(question, question.claim.mechanism, {})}


COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def taken(nu, first, second):
    """Of a first comparison of q + nu with 0 and a second one with a number."""
    q = np.arange(-4, 5)[:, None]
    held = [COMPARED[sign](q + nu, number) for sign, number in (first, second)]
    return {int(x) for x in np.unique(np.where(held[0], 0, np.where(held[1], 1, 2)))}


@pytest.mark.sampled(24)
@pytest.mark.parametrize("signs", list(itertools.product(COMPARED, repeat=2)), ids="".join)
@pytest.mark.parametrize("number", [-1, 0, 1])
def test_branches_that_are_taken_somewhere_may_be_taken_and_no_others(signs, number):
    told = (f"q + nu {signs[0]} 0", f"q + nu {signs[1]} {number}")
    numbers = ((signs[0], 0), (signs[1], number))
    whole, line = possible(STEEP, *told), possible(LAPLACE, *told)
    assert taken(np.arange(-4, 5), *numbers) <= whole
    assert taken(np.arange(-4, 5) + 0.3, *numbers) <= line  # on the line nothing is equal to anything, but with probability 0
    assert line <= whole and (1 not in line or 1 in taken(np.arange(-4, 5) + 0.3, *numbers))


# -- words that are forged --------------------------------------------------------------------------------------------


def sparse(noise):
    return {
        "kind": "stream",
        "once": {"rho": noise},
        "fresh": {"nu": noise},
        "limits": {"found": 1},
        "step": [{**EITHER, "count": {"found": 1}}, {"emit": "below"}],
    }


ENDS = [str(x) for x in range(-24, 25)]
TOLD = {
    "side": "lower",
    "words": [["below", "above"]],
    "answers": [[["0"], ["1"]], [["1"], ["0"]]],
    "pivots": [["rho", -1, ENDS]],
    "value": "1/100",
}
WHOLE = {**TOLD, "grids": {"rho": ["-30", "30"], "nu": ["-30", "30"]}}


def test_answers_are_any_numbers_on_the_line_and_integers_beside_noise_on_the_integers():
    halves = {"answers": [[["1/2"], ["1"]], [["1"], ["1/2"]]]}
    assert told_words.check(claimed(sparse(LAPLACE)), TOLD | halves).value == num("1/100")
    assert told_words.check(claimed(sparse(STEEP)), copy.deepcopy(WHOLE)).value == num("1/100")
    for answers in (halves["answers"], [[["0"], ["1/2"]], [["1"], ["0"]]]):
        with pytest.raises(Rejected, match="added to integers"):
            told_words.check(claimed(sparse(STEEP)), WHOLE | {"answers": answers})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pivots": 5}, "iterable|to unpack"),
        ({"pivots": [5]}, "iterable|to unpack"),
        ({"pivots": [["rho", -1]]}, "iterable|to unpack"),
        ({"pivots": [["rho", "-1", ENDS]]}, "iterable|two noises"),
        ({"words": ["above"]}, "."),
        ({"words": [5]}, "."),
        ({"answers": [[["0"], ["1", "2"]], [["1"], ["0", "2"]]]}, "zip"),
    ],
)
def test_words_that_cannot_be_read_are_refused(changed, said):
    with pytest.raises((CertificateError, Rejected, *STUMBLES), match=said):
        told_words.check(claimed(sparse(LAPLACE)), TOLD | changed)


def test_answers_that_do_not_move_tell_nothing():
    with pytest.raises(Rejected, match="not certainly positive"):
        told_words.check(claimed(sparse(LAPLACE), sensitivity=0), TOLD)


# -- words that several runs tell, on the integers ----------------------------------------------------------------------


def min_max():
    """The least and the greatest of two noisy answers, and which side of them the first answer outside is on; not which is which."""
    read, by = {"emit": "read"}, {"kind": "builtin", "name": "discrete_laplace"}
    return {
        "kind": "stream",
        "fresh": {"nu": {**by, "scale": 8}, "xi": {**by, "scale": 4}},
        "state": {"low": 0, "high": 0, "seen": 0},
        "limits": {"outside": 1},
        "step": [
            {"when": "seen <= 0", **read, "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": ["seen <= 1", "q + nu < low"], **read, "set": {"low": "q + nu", "seen": 2}},
            {"when": "seen <= 1", **read, "set": {"high": "q + nu", "seen": 2}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
    }


@pytest.fixture(scope="module")
def found():
    return verify(claimed(min_max()))


def test_on_the_integers_several_runs_lose_what_they_do_on_the_line(found):
    judgement = found.judgement
    assert judgement.verdict == "PROVED" and worst_words.NAME in judgement.rules
    assert judgement.lower == judgement.upper == num(Fraction(4, 8) + Fraction(2, 4))


@pytest.mark.parametrize(
    ("place", "text", "said"), [(0, "1/2", "added to integers"), (2, "1/2", "integers move by integers"), (2, "-1/2", "integers move by")]
)
def test_answers_and_moves_of_several_runs_are_integers_there(found, place, text, said):
    told = next(copy.deepcopy(dict(line.parameters)) for line, _ in found.proved if line.rule == worst_words.NAME)
    claim = claimed(min_max())
    worst_words.check(claim, told)
    told["answers"][0][place] = [text]
    with pytest.raises(Rejected, match=said):
        worst_words.check(claim, told)


# -- comparisons that decide nothing --------------------------------------------------------------------------------------

KEPT = {"once": {"rho": LAPLACE}, "state": {"t": "rho"}}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("steps", "free"),
    [
        # what is told has one law on all data: the same word whatever is compared
        ([{"when": "q + nu >= t", "emit": "told"}, {"emit": "told"}], True),
        ([{"when": "q + nu >= t + 1", "emit": "told"}, {"when": "q >= 0", "emit": "told"}, {"emit": "told"}], True),
        # no number is at least 1 and at most 0, and none is above another, that above a third, and the third above the first
        ([{"when": ["q + nu >= t + 1", "q + nu <= t"], "emit": "never"}, {"emit": "told"}], True),
        ([{"when": ["q + nu >= t + 1", "t >= q", "q >= q + nu"], "emit": "never"}, {"emit": "told"}], True),
        # another word, or another state, is not the same
        ([{"when": "q + nu >= t", "emit": "above"}, {"emit": "told"}], False),
        (
            [{"when": "q + nu >= t", "emit": "told", "set": {"t": "t + q"}}, {"when": "q + nu >= t", "emit": "more"}, {"emit": "told"}],
            False,
        ),
    ],
)
def test_what_tells_the_same_on_all_data_costs_nothing(steps, free):
    judgement = verify(claimed(stream(step=steps, **KEPT), epsilon="1/10**6")).judgement
    assert (judgement.verdict == "PROVED") is free

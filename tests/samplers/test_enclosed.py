"""Inversion with enclosed probabilities: what is decided is right, what is not takes more bits."""

import numpy as np
import pytest
from scipy import stats

from dpverify.errors import NoSampler
from dpverify.samplers import enclosed
from dpverify.trusted.kernel.expr import parse

SIZE = 4_000


class Words:
    """A generator of given words."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, size=None, dtype=None, endpoint=False):
        drawn = self.words[0] if size is None else self.words[:size]
        del self.words[: 1 if size is None else size]
        return np.array(drawn, dtype=dtype)


THIRD = 2**64 // 3


@pytest.mark.parametrize(
    ("words", "outcome"),
    [((THIRD - 1,), 0), ((THIRD + 2,), 1), ((THIRD, THIRD - 2), 0), ((THIRD, THIRD + 2), 1), ((THIRD, THIRD, THIRD + 2), 1)],
)
def test_a_word_on_the_edge_of_two_outcomes_is_decided_by_the_bits_that_follow(words, outcome):
    assert enclosed.finite((parse("1/3"), parse("2/3"))).draw(1, Words(*words)).tolist() == [outcome]


def test_few_bits_at_first_change_nothing_of_the_law():
    law = enclosed.finite(tuple(map(parse, ("sqrt(2)", "exp(1)", "0", "1/3"))))
    weights = np.array([2**0.5, np.e, 1 / 3])
    for bits in (2, 5, 64):
        seen = np.bincount(law.draw(SIZE, np.random.default_rng(bits), bits), minlength=4)
        assert seen[2] == 0 and stats.chisquare(seen[[0, 1, 3]], weights / weights.sum() * SIZE).pvalue > 1e-4


LATTICES = {
    "symmetric": ("1/cosh(z/2)**2", None, None),
    "from 0 on": ("(z + 1)*exp(-z/2)", 0, None),
    "up to 3": ("exp(z)", None, 3),
    "between": ("1/(1 + z**2)", -2, 5),
    "far from 0": ("exp(-(z - 40)**2/9)", None, None),
}


@pytest.mark.parametrize(("density", "lower", "upper"), LATTICES.values(), ids=LATTICES)
def test_integers_have_the_probabilities_of_their_density(density, lower, upper):
    law = enclosed.lattice(parse(density), "z", lower, upper)
    places = np.arange(-60 if lower is None else lower, (100 if upper is None else upper) + 1)
    weights = np.array([eval(density, {"exp": np.exp, "cosh": np.cosh, "z": float(z)}) for z in places])
    assert not law.blurred
    drawn = law.draw(SIZE, np.random.default_rng(1))
    common = weights > weights.sum() / 400
    seen = np.array([(drawn == z).sum() for z in places])
    expected = np.append(weights[common], weights[~common].sum() + 1e-9) / (weights.sum() + 1e-9) * SIZE
    assert seen.sum() == SIZE
    assert stats.chisquare(np.append(seen[common], seen[~common].sum() + 1e-9), expected * (SIZE + 1e-9) / SIZE).pvalue > 1e-4


@pytest.mark.wide
def test_of_a_heavy_tail_it_is_said_how_well_its_sum_is_known(monkeypatch):
    monkeypatch.setattr(enclosed, "_MOST_LISTED", 256)
    law = enclosed.lattice(parse("1/(1 + z**2)"), "z", None, None)
    assert 0 < law.blurred < 1e-7
    drawn = law.draw(400, np.random.default_rng(1))
    zero, total = 1.0, np.pi / np.tanh(np.pi)  # the sum of 1/(1 + z^2) over the integers
    assert stats.binomtest(int((drawn == 0).sum()), 400, zero / total).pvalue > 1e-4
    deep = law.draw(1, Words(2**64 - 2**44, 0))  # all but 2^-20: beyond what is listed
    beyond = 2**20 / total  # the tail from k on is 1/(k - 1/2), nearly
    assert abs(int(deep[0]) / beyond - 1) < 1e-4


def test_a_density_without_a_sum_is_told_so():
    with pytest.raises(NoSampler, match="cannot be enclosed"):
        enclosed.lattice(parse("1/(1 + abs(z))"), "z", None, None)

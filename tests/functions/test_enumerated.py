"""No bound that is proved of a program is below what its outputs show, counted by running it with every noise there is in a range."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from types import GeneratorType

import pytest

import dpverify as dp
from dpverify.api.programs import Program
from dpverify.programs.agreement import rendered
from tests.functions import enumerated
from tests.spread import spread

PROGRAMS = {name: found for name, found in vars(enumerated).items() if isinstance(found, Program)}
ONE_NUMBER = {
    "one_number", "the_same_noise_twice", "noise_passed_on", "told_if_large", "clipped_after", "doubled", "doubled_after", "moves_by_two",
}  # fmt: skip
DEAR = {
    "measured_difference_of_places", "two_selections", "threshold_drawn_again", "measured_twice", "place_twice", "two_loops", "gets_more",
    "two_loops_of_one", "flag_resets", "sparse_with_limit", "least_and_greatest", "two_searches",
}  # fmt: skip
LEAST = {
    "spends_alike": 4,
    "spends_as_it_goes": 3,
    "spends_late": 4,
    "ends_with_a_measurement": 3,
    "place_and_value": 4,
    "in_order_of_one": 2,
}
"""Programs that spend a budget, and that tell what follows from a list: by the sums of what neighbours' answers lose."""
WIDE = 8
"""The largest noise that is tried, in scales; the rest is counted as what might tell anything."""


class Every:
    """Noise by the values that are chosen for its draws, one after the other."""

    def __init__(self, chosen):
        self.chosen, self.at, self.weight, self.scales = chosen, 0, 1.0, []

    def discrete_laplace(self, scale):
        value = self.chosen[self.at] if self.at < len(self.chosen) else 0
        self.at += 1
        self.scales.append(scale)
        q = math.exp(-1 / scale)
        self.weight *= (1 - q) / (1 + q) * q ** abs(value)
        return value


def chances(function, data):
    """How likely each output is at least."""
    found, open_ = defaultdict(float), [()]
    while open_:
        chosen = open_.pop()
        noise = Every(chosen)
        result = function(data, noise=noise)
        output = rendered(list(result) if isinstance(result, GeneratorType) else result)
        if noise.at > len(chosen):
            wide = round(WIDE * noise.scales[len(chosen)])
            open_ += [(*chosen, value) for value in range(-wide, wide + 1)]
        else:
            found[output] += noise.weight
    return found


def neighbours(said, alone):
    how, step = said.get("neighbours", "all"), said.get("sensitivity", 1)
    if alone:
        return [(0, step), (step, 0), (1, 1 + step)]
    moves = {
        "all": list(product((-step, step), repeat=2)),
        "one": [(step, 0), (0, step), (-step, 0)],
        "monotone": [(step, step), (-step, -step)],
        "increasing": [(step, step), (step, 0)],
    }[how]
    starts = [(0, 0), (1, -1), (1, 0)] if "bounds" not in said else [(0, 1), (1, 0), (0, 0), (1, 1)]
    pairs = [(list(at), [x + y for x, y in zip(at, move, strict=True)]) for at in starts for move in moves]
    if said.get("answers") == 3:
        pairs = [([*a, 0], [*b, 0]) for a, b in pairs]
    return [pair for pair in pairs if "bounds" not in said or all(0 <= x <= 1 for x in pair[1])]


def shown(function, pairs):
    """An epsilon that outputs show: the log of how much likelier some output is on one of two neighbours, at least."""
    known, most = {}, 0.0
    for a, b in pairs:
        p, q = (known.setdefault(repr(each), chances(function, each)) for each in (a, b))
        rest = max(1 - sum(q.values()), 0) + 1e-12
        most = max(most, *(math.log(chance / (q.get(output, 0.0) + rest)) for output, chance in p.items()))
    return most


@pytest.mark.parametrize("name", spread(PROGRAMS, 16, dear=lambda name: name in DEAR))
def test_no_bound_is_below_what_outputs_show(name):
    program = PROGRAMS[name]
    upper = dp.verify(program, epsilon="tight").epsilon.upper
    assert upper is None or shown(program, neighbours(program.options, name in ONE_NUMBER)) <= float(upper) + 1e-9


@pytest.mark.parametrize("name", LEAST)
def test_what_is_proved_is_near_what_outputs_show(name):
    program = PROGRAMS[name]
    upper = float(dp.verify(program, epsilon="tight").epsilon.upper)
    assert upper == LEAST[name]
    assert shown(program, neighbours(program.options, alone=False)) > upper - 0.02

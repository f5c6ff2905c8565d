"""Values of a process whose variance has several values: what they show at least, against sums over a fine grid."""

import numpy as np
import pytest
from flint import arb
from scipy import stats

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.theories.processes.observed_variance import Atoms
from dpverify.trusted.theories.processes.rules import process_evaluations
from dpverify.trusted.theories.processes.seen_in_cells import in_cells

ATOMS = [["1/2", "1/3"], ["2", "2/3"]]
LAW = Atoms(tuple(tuple(map(parse, atom)) for atom in ATOMS))
CELLS = {"width": "1/4", "half": 40, "rings": ["1/2", "1", "2", "3"]}


def by_a_grid(coordinates, distance, epsilon):
    """P - e^epsilon Q where it is positive, over the axis and the length of all other coordinates."""
    axis, lengths = np.linspace(-15, 15, 3001), np.linspace(1e-3, 15, 1500)
    around = [stats.chi.pdf(lengths / v**0.5, coordinates - 1) / v**0.5 if coordinates > 1 else None for v in (0.5, 2)]

    def density(at):
        along = [p * stats.norm.pdf(at, scale=v**0.5) for v, p in ((0.5, 1 / 3), (2, 2 / 3))]
        return sum(a if b is None else np.outer(a, b) for a, b in zip(along, around, strict=True))

    left = np.maximum(density(axis - distance / 2) - np.exp(epsilon) * density(axis + distance / 2), 0)
    return np.trapezoid(left if coordinates == 1 else np.trapezoid(left, lengths, axis=1), axis)


@pytest.mark.parametrize("points, coordinates", [([1], 1), (["1/4", "1/2", 1], 3), ([f"{k}/8" for k in range(1, 9)], 8)])
@pytest.mark.parametrize("epsilon", [0, 1])
def test_a_delta_of_values_has_two_sides_of_which_the_lower_is_nearly_what_they_show(points, coordinates, epsilon):
    """Brownian noise at times up to 1, a difference of t: the distance is 1, whatever the points."""
    table = {
        "mechanism": {"kind": "elliptical_process", "atoms": ATOMS, "scale": 1, "covariance": "brownian", "evaluations": points},
        "claim": [{"difference": "t", "epsilon": str(epsilon), "delta": "tight"}],
    }
    judgement = verify(read_tables("values.toml", table).claims[0].claim).judgement
    lower, upper = (float(arb(str(float(end.value)))) for end in (judgement.delta_lower, judgement.delta_upper))
    truth = by_a_grid(coordinates, 1, epsilon)
    assert lower <= truth * (1 + 1e-4) and truth <= upper * (1 + 1e-4)
    assert lower == pytest.approx(truth, rel=0.02)


def test_cells_tell_no_more_than_values_and_finer_ones_more():
    coarse = {"width": "2", "half": 2, "rings": []}
    some, more = (float(in_cells(LAW, ONE, 3, told, "here").forward(arb(1)).mid()) for told in (coarse, CELLS))
    assert 0 < some < more < by_a_grid(3, 1, 1)
    assert in_cells(LAW, parse("0"), 3, CELLS, "here").forward(arb(0)) < 1e-15


@pytest.mark.parametrize(
    ("change", "coordinates", "why"),
    [
        ({"width": "0"}, 3, "positive width"),
        ({"width": "-1"}, 3, "positive width"),
        ({"rings": ["1"]}, 1, "where there are more coordinates"),
        ({"rings": ["0"]}, 3, "rise"),
        ({"rings": ["2", "1"]}, 3, "rise"),
        ({"rings": ["1"] * 65}, 3, "few rings"),
        ({"half": 0}, 3, "from 1 to 256"),
        ({"half": 257}, 3, "from 1 to 256"),
    ],
)
def test_cells_that_are_none_are_refused(change, coordinates, why):
    with pytest.raises(DpverifyError, match=why):
        in_cells(LAW, ONE, coordinates, CELLS | change, "here")


def test_probabilities_that_do_not_add_up_are_refused_with_cells_too():
    noise = EllipticalProcess(ONE, atoms=((ONE, parse("1/3")), (num(2), parse("1/3"))), count=num(3))
    with pytest.raises(DpverifyError, match="add up to 1"):
        process_evaluations.curve(noise, Sensitivity(ONE, ONE), False, CELLS)

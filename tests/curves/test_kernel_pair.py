"""The lower bound on the curve of a kernel: what two inputs show through bins, against closed forms, a grid of losses, and forged bins."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from dpverify.search.finite import kernel_box
from dpverify.search.proposal import of_run
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Compose, Kernel, Part, Translation, repeated

CONDITIONED = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (parse("0"), parse("1")), (parse("0"), parse("1")))
SLOPED = Kernel(parse("1 + theta*(y - 1/2)"), (parse("0"), parse("1")), (parse("0"), parse("1")))
BINS = {"theta": "0", "other": "1", "cuts": ["0", "1/4", "1/2", "1"]}


def truth(epsilon):
    """Inputs 0 and 1: the densities are e^-y and e^(y-1), over 1 - 1/e, and the loss is 1 - 2y."""
    t = (1 - epsilon) / 2
    return (1 - math.exp(-t) - math.exp(epsilon) * (math.exp(t - 1) - math.exp(-1))) / (1 - math.exp(-1))


def judged(mechanism, epsilon="1/4", delta="1/1000", sensitivity=None):
    return verify(Claim(mechanism, parse(epsilon), delta and parse(delta), sensitivity), digits=8).judgement


@pytest.mark.parametrize("epsilon", ["0", "1/4", "3/4"])
def test_the_bins_of_one_kernel_show_all_that_two_inputs_lose(epsilon):
    found = judged(CONDITIONED, epsilon)
    below = truth(float(parse(epsilon).value))
    assert float(found.delta_lower.value) == pytest.approx(below, abs=1e-6)
    assert float(found.delta_lower.value) <= below + 1e-12
    assert found.verdict == "REFUTED"


@pytest.mark.wide
def test_a_composition_of_kernels_has_nearly_the_delta_of_the_two_inputs_in_all_of_them():
    y = (np.arange(400) + 0.5) / 400
    p, loss = np.exp(-y) / np.exp(-y).sum(), 1 - 2 * y
    joint, mass = loss[:, None] + loss[None, :], p[:, None] * p[None, :]
    below = (mass * np.maximum(-np.expm1(1 - joint), 0)).sum()
    found = judged(Compose((repeated(Part(CONDITIONED), num(2)),)), "1", None)
    assert below - 1e-3 < float(found.delta_lower.value) < below + 1e-4


@pytest.mark.wide
def test_the_inputs_are_no_further_apart_than_the_sensitivity():
    found = judged(CONDITIONED, sensitivity=parse("1/4"))
    assert 0 < float(found.delta_lower.value) < truth(0.25)


@cache
def pure_epsilon(sensitivity):
    """What proves the pure epsilon of the sloped kernel."""
    steps = kernel_box.propose(Claim(SLOPED, None, sensitivity=sensitivity), 6)
    return next(step["evidence"] for step in steps if step["rule"] == "kernel-box")


def bins(parameters, kernel=SLOPED, sensitivity=None, premises=1):
    run = Run(Part(kernel, sensitivity))
    proof = of_run(run)
    known = [proof.infer("kernel-box", (0,), pure_epsilon(sensitivity))] * premises
    return proof.infer("kernel-pair", (), parameters, known).says


def test_bins_by_hand_give_their_sums():
    found = bins(BINS)
    edges = [0, 0.25, 0.5, 1]
    p = [b - a for a, b in pairwise(edges)]  # input 0 is uniform
    q = [b - a + (b * b - a * a - (b - a)) / 2 for a, b in pairwise(edges)]
    with precision(64):
        for epsilon in (0.0, 0.125, 0.25, 0.5):
            wanted = sum(max(a - math.exp(epsilon) * b, 0) for a, b in zip(p, q, strict=True))
            swapped = sum(max(b - math.exp(epsilon) * a, 0) for a, b in zip(p, q, strict=True))
            assert float(found.lower.forward(arb(epsilon)).mid()) == pytest.approx(wanted, abs=1e-12)
            assert float(found.lower.backward(arb(epsilon)).mid()) == pytest.approx(swapped, abs=1e-12)


def test_what_is_in_no_bin_is_one_more_bin():
    with precision(64):
        found = bins({**BINS, "cuts": ["1/4", "1/2"]}).lower
        assert found.forward(arb(0)) < bins(BINS).lower.forward(arb(0))
        assert found.forward(arb(-40).exp()) > 0


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"theta": "-1/10"}, "input interval"),
        ({"other": "11/10"}, "input interval"),
        ({"other": "y"}, "constant"),
        ({"cuts": ["0", "1/2", "1/4", "1"]}, "in order"),
        ({"cuts": ["0"]}, "in order"),
        ({"cuts": ["0", "2"]}, "output interval"),
        ({"cuts": ["-1", "1"]}, "output interval"),
        ({"cuts": [str(n) + "/1001" for n in range(1002)]}, "in order"),
    ],
)
def test_inputs_and_bins_that_are_none_of_the_kernel_are_refused(forged, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        bins({**BINS, **forged})


def test_inputs_further_apart_than_neighbours_are_refused():
    with pytest.raises(Rejected, match="within the sensitivity"):
        bins(BINS, sensitivity=parse("1/2"))


def test_it_wants_the_pure_epsilon_of_the_very_kernel():
    with pytest.raises(CertificateError, match="cannot be used"):
        bins(BINS, premises=0)
    with pytest.raises(DpverifyError):
        bins(BINS, kernel=Translation(parse("exp(-abs(z))")))


@pytest.mark.parametrize(
    ("density", "output"),
    [("exp(-abs(y - theta))/(2 - exp(-theta))", ("0", None)), ("exp(-abs(y - theta))/(2 - exp(theta - 1))", (None, "1"))],
)
def test_bins_lie_where_an_output_has_an_end_and_anywhere_where_it_has_none(density, output):
    """Inputs 0 and 1 face each other on a half-line: e^-y and e^-|y - 1| over 2 - 1/e, by the midpoint rule."""
    low, high = (None if end is None else parse(end) for end in output)
    found = judged(Kernel(parse(density), (low, high), (parse("0"), parse("1"))))
    y = (np.arange(40_000) + 0.5) / 1000
    p, q = np.exp(-y), np.exp(-abs(y - 1)) / (2 - math.exp(-1))
    below = max(np.maximum(a - math.exp(0.25) * b, 0).sum() for a, b in ((p, q), (q, p))) / 1000
    assert below - 1e-3 < float(found.delta_lower.value) < below + 1e-5
    assert found.verdict == "REFUTED"

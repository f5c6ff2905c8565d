"""Paths of processes have the covariances that they are to have, however they are drawn."""

import numpy as np
import pytest
from scipy import stats

from dpverify.errors import NoSampler
from dpverify.samplers import processes
from dpverify.samplers.mechanisms import sampler
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import EllipticalProcess

SIZE = 4_000
POINTS = np.array([0.1, 0.3, 0.35, 0.8, 1.0])


def declared(name, mixing="v**(-7/2)*exp(-5/(2*v))", **more):
    shape = more.pop("shape", (num(2), parse("1/3")))
    return EllipticalProcess(parse(mixing), covariance=name, shape=shape, interval=(parse("0"), ONE), **more)


NAMES = ("brownian", "matern-1/2", "matern-3/2", "matern-5/2", "rbf")


def is_normal(paths, covariance):
    """Whether whitened paths are independent standard normals: each value, and the sums of squares of the paths."""
    white = np.linalg.solve(np.linalg.cholesky(covariance), paths.T)
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-4
    assert stats.kstest((white**2).sum(axis=0), "chi2", (len(covariance),)).pvalue > 1e-4
    assert abs(np.corrcoef(white) - np.eye(len(white))).max() < 5 / np.sqrt(len(paths))


def covariance(name, points=POINTS):
    kernel = processes.kernel_of(declared(name))
    return kernel(points[:, None], points[None, :])


@pytest.mark.parametrize("name", NAMES)
def test_cholesky_paths_have_the_covariance(name):
    is_normal(processes.cholesky(processes.kernel_of(declared(name)), POINTS).paths(SIZE, np.random.default_rng(1)), covariance(name))


def test_circulant_paths_have_the_covariance():
    kernel = processes.kernel_of(declared("matern-1/2"))
    sampler = processes.circulant(lambda r: kernel(r, np.zeros_like(r)), 6, 0.2)
    assert sampler.cut == 0
    at = np.arange(6) * 0.2
    is_normal(sampler.paths(SIZE, np.random.default_rng(2)), covariance("matern-1/2", at))


@pytest.mark.parametrize("size", [1, 2, 7])
def test_as_many_paths_come_as_are_asked_for(size):
    sampler = processes.circulant(lambda r: np.exp(-r), 5, 0.5)
    assert sampler.paths(size, np.random.default_rng(3)).shape == (size, 5)


def test_an_embedding_with_eigenvalues_below_0_is_refused():
    with pytest.raises(NoSampler, match="Cholesky"):
        processes.circulant(lambda r: np.exp(-r * r / 2), 16, 1 / 160)


def test_what_rounding_cuts_off_an_embedding_is_told():
    sampler = processes.circulant(lambda r: np.exp(-r * r / 2), 64, 0.5)
    assert 0 <= sampler.cut <= processes.ROUNDING


def test_all_terms_of_an_expansion_are_the_process_and_fewer_say_what_is_missing():
    kernel = processes.kernel_of(declared("brownian"))
    whole, part = (processes.karhunen_loeve(kernel, POINTS, terms) for terms in (5, 2))
    is_normal(whole.paths(SIZE, np.random.default_rng(4)), covariance("brownian"))
    assert whole.missing == 0
    lost = covariance("brownian") - part.functions.T @ part.functions
    assert part.missing == pytest.approx(lost.diagonal().max())


@pytest.mark.parametrize("name", ["brownian", "matern-3/2"])
def test_a_path_asked_for_bit_by_bit_is_one_path(name):
    kernel, rng = processes.kernel_of(declared(name)), np.random.default_rng(5)
    found = []
    for _ in range(SIZE // 4):
        path = processes.Path(kernel, rng)
        last, first = path.at(POINTS[3:]), path.at(POINTS[[2, 0]])
        middle = path.at([0.3, 0.8])
        assert middle[1] == pytest.approx(last[0], abs=1e-12)
        found.append([first[1], middle[0], first[0], *last])
    is_normal(np.array(found), covariance(name))


def test_points_that_floats_cannot_tell_apart_are_refused():
    path = processes.Path(processes.kernel_of(declared("rbf")), np.random.default_rng(6))
    path.at([0.5])
    with pytest.raises(NoSampler, match="not positive definite"):
        path.at([0.5 + 1e-9])


def test_declared_noise_on_one_point_is_that_of_its_law():
    noise, rng = declared("brownian", scale=num(3)), np.random.default_rng(7)
    drawn = [processes.path(noise, rng).at([0.5])[0] for _ in range(SIZE // 8)]
    assert stats.kstest(np.array(drawn) / 3, "t", (5,)).pvalue > 1e-4


def test_a_variance_of_two_values_has_their_probabilities():
    noise = declared("brownian", atoms=((parse("1/2"), parse("1/3")), (num(2), parse("2/3"))))
    drawn = processes.variances(noise)(SIZE, np.random.default_rng(7))
    assert stats.binomtest(int((drawn == 2).sum()), SIZE, 2 / 3).pvalue > 1e-4
    assert set(drawn) == {0.5, 2.0}


PLACES = {"places": tuple(map(parse, ("4/5", "1/10", "3/10")))}


@pytest.mark.parametrize(
    ("noise", "deviations"),
    [
        (declared("matern-3/2", **PLACES), np.sqrt(2)),
        (declared("brownian", **PLACES), np.sqrt(2 * np.array([0.8, 0.1, 0.3]))),
        (declared("kernel", shape=(parse("min(s, t)"),), **PLACES), np.sqrt([0.8, 0.1, 0.3])),
        (declared("bridge", count=num(3)), np.sqrt(2 * np.array([3, 4, 3]) / 16)),
        (declared("eigenvalues", shape=(parse("1/k**2"),), count=num(3)), 1 / np.array([1, 2, 3])),
        (declared("eigenvalues", shape=(parse("1/k**2"),), places=(num(4), num(2))), 1 / np.array([4, 2])),
    ],
)  # fmt: skip
def test_what_is_released_of_t_noise_is_t_around_the_true_values_and_of_one_variance(noise, deviations):
    truth = list(range(np.broadcast(deviations, noise.places or (0,) * 3).shape[0]))
    drawn = (sampler(noise)(truth, SIZE, np.random.default_rng(9)) - truth) / deviations
    for values in drawn.T:
        assert stats.kstest(values, "t", (5,)).pvalue > 1e-4
    # one V is behind all of them
    assert np.corrcoef(np.minimum(drawn.T**2, 9))[0, 1] > 0.1


def test_values_of_gaussian_noise_have_the_covariance_of_the_file():
    noise = declared("matern-1/2", scale=num(3), atoms=((num(4), ONE),), places=PLACES["places"])
    at = np.array([0.8, 0.1, 0.3])
    is_normal(sampler(noise)([0, 0, 0], SIZE, np.random.default_rng(10)) / 6, covariance("matern-1/2", at))


def test_one_variance_is_drawn_for_all_values_of_an_output():
    noise = declared("brownian", atoms=((parse("1e-12"), parse("1/2")), (ONE, parse("1/2"))), count=num(8))
    small = np.abs(sampler(noise)([0] * 8, 1000, np.random.default_rng(11))) < 1e-4
    assert set(small.mean(axis=1).round(1)) <= {0.0, 0.1, 1.0}
    assert stats.binomtest(int((small.mean(axis=1) == 1).sum()), 1000).pvalue > 1e-4


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (EllipticalProcess(num(1)), "their covariance is not declared. Give it"),
        (declared("brownian"), "Say with evaluations which of their values are published"),
        (declared("brownian", "exp(-v)", count=num(2)), "Declare it by atoms or nu, or draw V yourself"),
        (declared("brownian", transform=(parse("exp(u)"),), count=num(2)), "Declare it by atoms or nu"),
        (declared("brownian", scale=parse("s"), count=num(2)), "Give every parameter a value"),
        (declared("matern-1/2", places=(num(2),)), "points where the function lives"),
        (declared("rbf", count=num(40)), "take fewer points, or points further apart"),
        (declared("brownian", count=num(5000)), "the number of evaluations is no integer from 1 to 4096"),
        (declared("eigenvalues", shape=(parse("1/k**2"),), places=(parse("1/2"),)), "from 1"),
    ],
)  # fmt: skip
def test_noise_whose_values_cannot_be_drawn_is_refused_with_the_reason_and_the_way_out(noise, said):
    with pytest.raises(NoSampler, match=said):
        sampler(noise)


def test_a_law_of_the_variance_that_is_not_known_is_refused():
    with pytest.raises(NoSampler, match="draw V yourself"):
        processes.variances(declared("brownian", "exp(-v)"))


def test_a_sequence_has_no_points():
    with pytest.raises(NoSampler, match="functions"):
        processes.kernel_of(declared("eigenvalues", shape=(parse("1/k**2"),)))


def test_a_written_covariance_is_evaluated():
    kernel = processes.kernel_of(declared("kernel", shape=(parse("min(s, t)"),)))
    assert np.allclose(kernel(POINTS[:, None], POINTS[None, :]), np.minimum(POINTS[:, None], POINTS[None, :]))

"""The weights of a logistic regression are where its loss, of which each test has its own formula, is least."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dpverify.audits.logistic import fitted


def sample(rows, width, far, seed=3):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, width)).astype(np.float32)
    label = (rng.logistic(size=rows) < far * data[:, 0]).astype(float)
    return data, label


def slope(weights, data, label, odds, precisions):
    """Of the penalised negative log likelihood."""
    return data.T.astype(float) @ (1 / (1 + np.exp(-(data @ weights + odds))) - label) + precisions * weights


@pytest.mark.parametrize(("rows", "width"), [(2000, 5), (300, 299), (40, 200)], ids=str)
@pytest.mark.parametrize("far", [0.5, 5, 500])
def test_the_loss_is_level_where_the_weights_are(rows, width, far):
    data, label = sample(rows, width, far)
    precisions = np.linspace(0.5, 20, width)
    weights = fitted(data, label, 0.3, precisions, np.zeros(width))
    steps = slope(weights, data, label, 0.3, precisions) / precisions  # no curvature is less than the prior's
    assert float(steps @ (precisions * steps)) < 1e-3 * rows  # bounds twice what is left to win


def test_they_are_those_of_another_method_from_wherever_they_are_sought():
    data, label = sample(3000, 6, 2.0)
    precisions = np.array([1e-3, 1, 1, 10, 10, 100])

    def loss(weights):
        logits = data @ weights - 0.4
        return np.logaddexp(0, np.where(label == 1, -logits, logits)).sum() + 0.5 * precisions @ weights**2

    least = minimize(loss, np.zeros(6), jac=lambda w: slope(w, data, label, -0.4, precisions), method="BFGS").x
    for start in (np.zeros(6), np.full(6, 30.0), np.array([-50.0, 3, 0, 0, 9, 1])):
        assert fitted(data, label, -0.4, precisions, start) == pytest.approx(least, abs=5e-2)
        assert loss(fitted(data, label, -0.4, precisions, start)) < loss(least) * (1 + 1e-4)


def test_labels_that_a_number_tells_apart_have_finite_weights():
    data = np.linspace(-1, 1, 500, dtype=np.float32)[:, None]
    [weight] = fitted(data, (data[:, 0] > 0).astype(float), 0.0, np.ones(1), np.zeros(1))
    assert 5 < weight < 100


def test_without_outputs_all_weights_are_those_of_the_prior():
    assert (fitted(np.empty((0, 3), np.float32), np.empty(0), 0.0, np.ones(3), np.array([1.0, -2, 3])) == 0).all()

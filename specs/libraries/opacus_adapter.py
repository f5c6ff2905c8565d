"""Opacus as a training run to be audited (opacus 1.6.0 with torch): logistic regression by DP-SGD, and a usual way to use it wrongly.

A record is its features, and its label 0 or 1 at the end. A canary has a feature that no other record has.
"""

import warnings

import numpy as np
import torch
from opacus import PrivacyEngine

FEATURES, CANARIES, RECORDS = 20, 1000, 1000
EPOCHS, LOADS, CLIP, NOISE, LEARNING = 5, 4, 1.0, 4.0, 1.0  # a load is a Poisson sample of a quarter of the records
torch.set_num_threads(1)
warnings.filterwarnings("ignore", module="opacus|torch")


def data():
    """Records of two overlapping classes."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, RECORDS)
    features = np.zeros((RECORDS, FEATURES + CANARIES))
    features[:, :FEATURES] = rng.normal(size=(RECORDS, FEATURES)) + 0.5 * (2 * labels[:, None] - 1)
    return np.column_stack([features, labels])


def canaries():
    """Records that are far out, each in a direction of its own."""
    features = np.zeros((CANARIES, FEATURES + CANARIES))
    features[np.arange(CANARIES), FEATURES + np.arange(CANARIES)] = 100.0
    return np.column_stack([features, np.ones(CANARIES)])


def score(weights, records):
    """How far the model moved towards each record."""
    return (2 * records[:, -1] - 1) * (records[:, :-1] @ weights)


def train(records, rng, noise=NOISE):
    """The weights after all steps."""
    torch.manual_seed(int(rng.integers(2**62)))
    x, y = torch.tensor(records[:, :-1], dtype=torch.float32), torch.tensor(records[:, -1:], dtype=torch.float32)
    model = torch.nn.Linear(x.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=-(-len(x) // LOADS))
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=LEARNING), data_loader=loader, noise_multiplier=noise,
        max_grad_norm=CLIP,
    )  # fmt: skip
    for _ in range(EPOCHS):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(model(features), labels).backward()
            optimizer.step()
    return model._module.weight.detach().numpy()[0].astype(float)


def per_batch(records, rng):
    """A mistake: the noise is meant for the mean, and given as if it were, though Opacus takes that of the sum over the batch's clip."""
    return train(records, rng, NOISE / LOADS)

"""Training runs for audits with canaries: logistic regression by noisy gradients, right, and with three usual bugs.

A record is its features, and its label 0 or 1 at the end. Each step takes every record with probability RATE, adds up its gradients clipped
to norm CLIP, and adds normal noise of standard deviation NOISE * CLIP to each coordinate of the sum: the sampled Gaussian mechanism,
composed over STEPS steps. A canary has a feature that no other record has.
"""

from __future__ import annotations

from functools import partial

import numpy as np

FEATURES, CANARIES, RECORDS = 20, 1000, 1000
STEPS, RATE, CLIP, NOISE, LEARNING = 20, 0.25, 1.0, 4.0, 1.0


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
    """How far the model moved towards each record: the more, the surer that it was trained on."""
    return (2 * records[:, -1] - 1) * (records[:, :-1] @ weights)


def clipped(gradients, clip):
    """Each row, shortened to norm `clip` where it is longer."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-12))


def train(records, rng, bug=""):
    """The weights after all steps. bug: what is wrong, empty for nothing."""
    features, labels = records[:, :-1], records[:, -1]
    width, batch = features.shape[1], RATE * RECORDS
    weights = np.zeros(width)
    for _ in range(STEPS):
        chosen = rng.random(len(features)) < RATE
        x, y = features[chosen], labels[chosen]
        gradients = x * (1 / (1 + np.exp(-np.clip(x @ weights, -30, 30))) - y)[:, None]
        noise = rng.normal(0, NOISE * CLIP, width)
        if bug == "clips the mean":
            total = clipped(gradients.mean(axis=0, keepdims=True), CLIP)[0] * batch
        elif bug == "augmented records counted once":  # eight views of each record, each clipped, all added
            total = sum(clipped(gradients * scale, CLIP).sum(axis=0) for scale in np.linspace(0.8, 1.2, 8))
        else:
            total = clipped(gradients, CLIP).sum(axis=0)
        if bug == "noise by the wrong batch size":  # divided by the batch's size before it is added to the mean of all
            noise = noise * RATE
        weights -= LEARNING * (total + noise) / batch
    return weights


clipping_the_mean = partial(train, bug="clips the mean")
wrong_batch_size = partial(train, bug="noise by the wrong batch size")
augmented_once = partial(train, bug="augmented records counted once")

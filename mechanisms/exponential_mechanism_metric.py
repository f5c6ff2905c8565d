"""The exponential mechanism over four points of the line, scores minus distances."""

import numpy as np

from dpverify.declare import Exponential, Mechanism, Positive, Source

POINTS = (0, 1, 2, 3)
exponential_mechanism_metric = Mechanism(
    name="exponential_mechanism_metric",
    noise=Exponential(scores=[[-abs(p - q) for q in POINTS] for p in POINTS], beta="beta"),
    parameters={"beta": Positive()},
    source=Source("Kleinberg & Ligett 2010", "Theorem 2.7"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, beta: float) -> np.ndarray:
    scores = -np.abs(np.array(POINTS) - POINTS[x])
    return np.argmax(beta * scores + rng.gumbel(size=(size, len(POINTS))), axis=1)

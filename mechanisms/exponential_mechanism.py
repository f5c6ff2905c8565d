"""The exponential mechanism over three outputs for two databases."""

import numpy as np

from dpverify.declare import Exponential, Mechanism, Positive, Source

SCORES = ((3, 1, 0), (2, 2, 1))
exponential_mechanism = Mechanism(
    name="exponential_mechanism",
    noise=Exponential(scores=SCORES, beta="beta"),
    parameters={"beta": Positive()},
    source=Source("McSherry & Talwar 2007", "Theorem 6"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, beta: float) -> np.ndarray:
    """The Gumbel trick: the largest of the scores plus Gumbel noise."""
    return np.argmax(beta * np.array(SCORES[x]) + rng.gumbel(size=(size, 3)), axis=1)

"""The exponential mechanism for any scores: an index with probability proportional to exp(beta*score)."""

from collections.abc import Sequence

import numpy as np

from dpverify.declare import Exponential, Integer, Mechanism, Positive, Source

exponential_any_scores = Mechanism(
    name="exponential_any_scores",
    noise=Exponential(beta="beta", candidates="n"),
    parameters={"beta": Positive(), "n": Integer(2)},
    source=Source("McSherry & Talwar 2007", "Theorem 6"),
)


def sample(size: int, rng: np.random.Generator, *, answers: Sequence[float], beta: float, n: int) -> np.ndarray:
    """The Gumbel trick: the largest of the scores plus Gumbel noise."""
    return np.argmax(beta * np.asarray(answers) + rng.gumbel(size=(size, n)), axis=1)

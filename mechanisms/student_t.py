"""Multivariate t noise: heavy tails, finite epsilon in every dimension."""

import numpy as np
from sympy import symbols

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Source

r, nu, d = symbols("r nu d", positive=True)
student_t = Mechanism(
    name="student_t",
    noise=Radial(norm=L2(), profile=(1 + r**2 / nu) ** (-(nu + d) / 2), radius=r, dimension=d),
    parameters={nu: Positive(), d: Dimension()},
    source=Source("Reimherr & Awan 2019", "Example 6"),
)


def sample(size: int, rng: np.random.Generator, *, nu: float, d: int) -> np.ndarray:
    return rng.standard_normal((size, d)) / np.sqrt(rng.chisquare(nu, (size, 1)) / nu)

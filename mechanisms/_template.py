"""The form of a mechanism: what it is, in one sentence.

A mechanism declares, computes nothing, and knows no epsilon. Copy this file to `<name>.py`, give the
declaration the same name, and write `use = "<name>"` in a claim file. Numbers are exact: write "1/10",
never 0.1. `sample` is the reference sampler: vectorised, exact where a method is known, its randomness
passed in; it returns noise at scale 1 (one row a sample where the noise has a dimension), or outputs
for the input that it is given. tests/test_mechanisms.py compares it with the declared density.
"""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

_template = Mechanism(
    name="_template",
    noise=Translation(density="exp(-abs(z)/b)"),
    parameters={"b": Positive()},
    source=Source("Author & Author 2020", "Definition 1"),
)


def sample(size: int, rng: np.random.Generator, *, b: float) -> np.ndarray:
    return rng.laplace(scale=b, size=size)

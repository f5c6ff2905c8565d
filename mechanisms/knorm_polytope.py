"""The K-norm mechanism of three queries with +-1 entries: K is the hull of + and - the columns."""

import numpy as np
from scipy.spatial import Delaunay

from dpverify.declare import Columns, Mechanism, Positive, Radial, Source

COLUMNS = ((1, -1, -1), (1, -1, 1), (1, 1, -1), (1, 1, 1))
knorm_polytope = Mechanism(
    name="knorm_polytope",
    noise=Radial(norm=Columns(COLUMNS), profile="exp(-eps*r)", dimension=3),
    parameters={"eps": Positive()},
    source=Source("Hardt & Talwar 2010", "Theorem 4.3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float) -> np.ndarray:
    """Hardt & Talwar 2010, Remark 4.2, with an exact uniform point of the body from a triangulation."""
    return rng.gamma(3 + 1, 1 / eps, (size, 1)) * uniform(
        size, rng, np.array([*COLUMNS, *(tuple(-x for x in column) for column in COLUMNS)])
    )


def uniform(size: int, rng: np.random.Generator, vertices: np.ndarray) -> np.ndarray:
    """Points uniform in a polytope: a simplex by its volume, then barycentric weights from exponentials."""
    simplices = vertices[Delaunay(vertices).simplices]
    volumes = np.abs(np.linalg.det(simplices[:, 1:] - simplices[:, :1]))
    chosen = simplices[rng.choice(len(simplices), size, p=volumes / volumes.sum())]
    weights = rng.standard_exponential((size, vertices.shape[1] + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, chosen)

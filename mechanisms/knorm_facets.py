"""Exponential noise in the norm of a hexagon that is given by its facets."""

import numpy as np
from scipy.spatial import Delaunay

from dpverify.declare import Facets, Mechanism, Positive, Radial, Source

FACETS = ((1, 0), (0, 1), (1, 1))
VERTICES = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
knorm_facets = Mechanism(
    name="knorm_facets",
    noise=Radial(norm=Facets(FACETS), profile="exp(-eps*r)", dimension=2),
    parameters={"eps": Positive()},
    source=Source("Hardt & Talwar 2010", "Section 9"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float) -> np.ndarray:
    """Hardt & Talwar 2010, Remark 4.2, with an exact uniform point of the body from a triangulation."""
    return rng.gamma(2 + 1, 1 / eps, (size, 1)) * uniform(size, rng, np.array(VERTICES))


def uniform(size: int, rng: np.random.Generator, vertices: np.ndarray) -> np.ndarray:
    """Points uniform in a polytope: a simplex by its volume, then barycentric weights from exponentials."""
    simplices = vertices[Delaunay(vertices).simplices]
    volumes = np.abs(np.linalg.det(simplices[:, 1:] - simplices[:, :1]))
    chosen = simplices[rng.choice(len(simplices), size, p=volumes / volumes.sum())]
    weights = rng.standard_exponential((size, vertices.shape[1] + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, chosen)

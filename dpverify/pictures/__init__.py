"""The data of a report's pictures: one picture a file, floats that draw and never decide.

`loss(claim)`: the privacy loss between the worst two answers. `noise_error(claim)`: what additive noise does to an answer.
`unit_ball(norm)`, `noise_samples(...)`, `level_sets(...)`: noise in the plane.
"""

from dpverify.pictures.bars import Bar
from dpverify.pictures.loss import LossCurve, loss
from dpverify.pictures.noise_error import NoiseError, Sizes, noise_error
from dpverify.pictures.supremum import Supremum
from dpverify.pictures.unit_ball import LevelSet, Outline, level_sets, noise_samples, norm_values, unit_ball

__all__ = [
    "Bar",
    "LevelSet",
    "LossCurve",
    "NoiseError",
    "Outline",
    "Sizes",
    "Supremum",
    "level_sets",
    "loss",
    "noise_error",
    "noise_samples",
    "norm_values",
    "unit_ball",
]

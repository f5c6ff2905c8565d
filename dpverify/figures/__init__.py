"""The data of a report's pictures: one picture a file, floats that draw and never decide.

`loss(claim)`: the privacy loss between the worst two answers. `noise_error(claim)`: what additive noise does to an answer.
`unit_ball(norm)`, `noise_samples(...)`, `level_sets(...)`: noise in the plane.
"""

from dpverify.figures.bars import Bar
from dpverify.figures.loss import LossCurve, loss
from dpverify.figures.noise_error import NoiseError, Sizes, noise_error
from dpverify.figures.supremum import Supremum
from dpverify.figures.unit_ball import LevelSet, Outline, level_sets, noise_samples, norm_values, unit_ball

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

"""Noise whose scale depends on the data, by its noise and by a kernel's density."""

from __future__ import annotations

from typing import Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.toml import Fields, shorten
from dpverify.trusted.kernel.expr import Sym, add, substitute, symbols
from dpverify.trusted.kernel.model import SmoothSensitivity, Translation


def _smooth(mechanism: SmoothSensitivity, moved: str) -> str:
    bound = shorten(mechanism.scale_bound)
    return f"answers at most {moved} times the smaller of their scales apart, and scales whose logarithms are at most {bound} apart"


SMOOTH_SENSITIVITY: Final = Kind(
    model=SmoothSensitivity,
    what="Noise whose scale depends on the data, a smooth bound on the local sensitivity: q(x) + S(x) Z.",
    fields=(fields.SCALED_NOISE, fields.SCALE_BOUND),
    formula=law("smooth.smooth_sensitivity"),
    plain=itself,
    neighbours=_smooth,
    sensitivity=Sensitivity.ONE,
    starter=Starter(
        brief="noise on one number, at a scale that depends on the data: a smooth bound on the local sensitivity.",
        mechanism="""\
kind = "smooth_sensitivity"
noise = { kind = "builtin", name = "student_t", nu = 3, dimension = 1, scale = 4 }   # Z; the answer is q(x) + S(x) Z
scale_bound = "1/10"       # S(x) <= exp(1/10) S(x') for neighbours, in both orders
""",
        claim="sensitivity = 1      # the answers of neighbours x, x' are at most this times S(x) apart, and this times S(x')",
        sampler="""\
def sample(data, size, rng):
    \"""The answer and the scale `data` with noise, rounded to multiples of 1/1024; one number for each output.\"""
    answer, scale = data
    return np.round((answer + scale * 4 * rng.standard_t(3, size)) * 1024) / 1024
""",
        audit="pairs = [[[0, 1], [1, 1.1]], [[0, 1], [-1, 1.1]]]    # neighbouring inputs: here an answer and its scale",
    ),
)


def of_kernel(table: Fields, values: Values) -> SmoothSensitivity | None:
    """What a kernel with a bound on the scale is: noise that is added to theta, of the density that it has at the scale 1."""
    if values["output"] not in (None, (None, None)):
        table.fault("output: noise at a scale that depends on the data is on the whole line. Leave it out.")
    density, z = values["density"], Sym("z")
    if density is None or values["scale_bound"] is None:
        return None
    if z.name in symbols(density):
        table.fault("z is what y - theta is called. Give the parameter another name.")
        return None
    noise = substitute(density, {"y": add(z, Sym("theta"))})
    if "theta" in symbols(noise):
        table.fault("density: with scale_bound it is of y - theta, at the scale 1. Write y and theta as y - theta alone.")
        return None
    return SmoothSensitivity(Translation(noise), values["scale_bound"])

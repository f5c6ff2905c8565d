"""Additive noise: by its density in a norm, on the line, in each coordinate, of a random scale; and noise on functions."""

from __future__ import annotations

from typing import Any

from dpverify.catalogue.formulas.words import norm
from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.kinds.laws import recognised
from dpverify.catalogue.toml import Fields, show
from dpverify.trusted.kernel.expr import (
    ONE,
    ZERO,
    Expr,
    Num,
    Sym,
    call,
    div,
    format_expr,
    mul,
    neg,
    num,
    power,
    sub,
    substitute,
)
from dpverify.trusted.kernel.model import EllipticalProcess, Mixture, Norm, Product, Radial, Staircase, Translation

LENGTH = {
    "if": {
        "properties": {
            "dimension": {
                "anyOf": [
                    {"type": "number", "not": {"const": 1}},
                    {"type": "string", "pattern": "^\\s*[A-Za-z_][A-Za-z0-9_]*\\s*$"},
                ]
            }
        },
        "required": ["dimension"],
    },
    "then": {"required": ["norm"]},
}
"""A norm is needed where the dimension is not 1."""


def _dimension(norm: Norm, dimension: Expr | None) -> Expr:
    return dimension or (num(len(norm.matrix[0])) if norm.matrix else ONE)


# -- by a profile of the distance ------------------------------------------------------------------------------


def _radial(_: Kind, __: Fields, values: Values) -> Radial:
    return Radial(values["profile"], values["norm"], _dimension(values["norm"], values["dimension"]), values["scale"])


RADIAL = Kind(
    model=Radial,
    what="Noise of density proportional to profile(norm(y - q(x)) / scale) in R^d.",
    fields=(fields.PROFILE, fields.NORMED, fields.DIMENSION, fields.SCALE),
    conditions=LENGTH,
    build=_radial,
    formula=law("noise.radial"),
    plain=itself,
    neighbours=lambda noise, moved: f"answers at most {moved} apart in {norm(noise.norm)}",
    sensitivity=Sensitivity.ANSWER,
    starter=Starter(
        brief="additive noise whose density depends on the length of the noise in a norm.",
        mechanism="""\
kind = "radial"
profile = "exp(-r/b)"    # the density at the distance r from the true answer, up to a constant factor; or log_profile = "-r/b"
norm = "l2"              # of that distance: "l1", "l2", "linf", { lp = "3/2" }, { ellipsoid = [[...]] },
                         # { columns = [[...]] }, { facets = [[...]] }
dimension = 3            # how many numbers an answer has
scale = 1                # stretches the noise; 1 where it is left out
parameters = { b = 2 }   # a value for every other letter of the formula
""",
        claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this, in the norm above",
    ),
    arguments=("norm", "profile", "dimension", "radius", "scale"),
    variables={"r": "radius"},
)


# -- on the line -----------------------------------------------------------------------------------------------


TRANSLATION = Kind(
    model=Translation,
    what="One-dimensional noise of density proportional to density(y - q(x)), symmetric or not.",
    fields=(fields.DENSITY, fields.SUPPORT, fields.INTEGERS),
    formula=law("noise.translation"),
    plain=itself,
    neighbours=lambda noise, moved: f"{'whole ' if noise.integers else ''}answers at most {moved} apart",
    sensitivity=Sensitivity.ANSWER,
    starter=Starter(
        brief="additive noise on one number, symmetric or not, on the line or on the whole numbers.",
        mechanism="""\
kind = "translation"
density = "exp(-abs(z)/b)"    # of the noise at z, up to a constant factor; it need not be symmetric; or log_density = "-abs(z)/b"
integers = true               # noise on the whole numbers only; false where it is left out
# support = [0, "inf"]        # where the noise lives; everywhere where it is left out
parameters = { b = 2 }        # a value for every other letter of the formula
""",
        claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this",
    ),
    arguments=("density", "variable", "support", "integers"),
    variables={"z": "variable"},
)


# -- in each coordinate ----------------------------------------------------------------------------------------


def _product(_: Kind, __: Fields, values: Values) -> Product:
    return Product(values["density"], values["dimension"] or ONE, values["norm"])


PRODUCT = Kind(
    model=Product,
    what="Independent noise in every coordinate, each of the same density.",
    fields=(fields.DENSITY, fields.DIMENSION, fields.NORM_OF_SENSITIVITY),
    build=_product,
    formula=law("noise.product"),
    plain=itself,
    neighbours=lambda noise, moved: f"answers at most {moved} apart in {norm(noise.norm)}",
    sensitivity=Sensitivity.ANSWER,
    starter=Starter(
        brief="additive noise that is independent on every number of the answer.",
        mechanism="""\
kind = "product"
density = "exp(-abs(z)/b)"    # of the noise on each number of the answer, up to a constant factor; or log_density
dimension = 3                 # how many numbers an answer has
# norm = "l2"                 # of the sensitivity; "l1" where it is left out
parameters = { b = 2 }        # a value for every other letter of the formula
""",
        claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this, in that norm",
    ),
    arguments=("density", "dimension", "variable", "norm"),
    variables={"z": "variable"},
)


# -- of a random scale -----------------------------------------------------------------------------------------


def _mixture(_: Kind, table: Fields, values: Values) -> Mixture:
    low, high = values["support"]
    if low is None:
        table.fault("support: the mixing law must start at a finite number.")
    dimension = _dimension(values["norm"], values["dimension"])
    return Mixture(values["profile"], values["mixing"], (low or ZERO, high), values["norm"], dimension, values["scale"])


MIXTURE = Kind(
    model=Mixture,
    what="A mixture: v is drawn from the mixing law, then noise of density proportional to profile(r, v), "
    "whose normaliser must not depend on v.",
    fields=(fields.PROFILE, fields.MIXING, fields.SUPPORT.optional((ZERO, None)), fields.NORMED, fields.DIMENSION, fields.SCALE),
    conditions=LENGTH,
    build=_mixture,
    formula=law("noise.mixture"),
    plain=itself,
    neighbours=lambda noise, moved: f"answers at most {moved} apart in {norm(noise.norm)}",
    sensitivity=Sensitivity.ANSWER,
    starter=Starter(
        brief="additive noise whose scale is random too, where the density has no closed form.",
        mechanism="""\
kind = "mixture"
profile = "exp(-r**2/(2*v))/v**(d/2)"              # the density at the distance r where v is drawn, with its factors in v
mixing = "v**(-nu/2 - 1)*exp(-nu/(2*v))"           # the density of v, up to a constant factor; or log_mixing
support = [0, "inf"]                               # of v
norm = "l2"                                        # of that distance
dimension = 3                                      # how many numbers an answer has
scale = 1                                          # stretches the noise; 1 where it is left out
parameters = { nu = 5, d = 3 }                     # a value for every other letter of the formulas
""",
        claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this, in the norm above",
    ),
    arguments=("profile", "mixing", "norm", "dimension", "support", "radius", "mixed", "scale"),
    variables={"r": "radius", "v": "mixed"},
)


# -- the staircase ---------------------------------------------------------------------------------------------


STAIRCASE = Kind(
    model=Staircase,
    what="The staircase noise of Geng and Viswanath, of sensitivity 1.",
    fields=(fields.EPSILON, fields.GAMMA),
    formula=law("noise.staircase"),
    plain=itself,
    neighbours=lambda noise, moved: f"answers at most {moved} apart",
    sensitivity=Sensitivity.ONE,
)


# -- on functions ----------------------------------------------------------------------------------------------


def _process(_: Kind, table: Fields, values: Values) -> EllipticalProcess:
    scale, nu, atoms = values["scale"], values["nu"], values["atoms"]
    known, evaluations = values["covariance"], values["evaluations"]
    declared: dict[str, Any] = {"scale": scale, "differences": values["difference"]}
    if known is not None:
        declared |= {"covariance": known.name, "shape": known.shape, "interval": known.interval}
        bound = {"k", "s", "t"} & table.data.get("parameters", {}).keys()
        if bound:
            table.fault(f"{min(bound)} is a variable of covariances and differences. Give the parameter another name.")
    elif values["difference"]:
        table.fault("difference: it is measured by the covariance of the noise. Give covariance.")
    if evaluations is not None:
        declared["places" if isinstance(evaluations, tuple) else "count"] = evaluations
        if known is None and isinstance(evaluations, tuple):
            table.fault("evaluations: points are those of an interval. Give covariance, or how many there are.")
    transform = values["mgf"]
    if values["characteristic"] is not None:
        transform = substitute(values["characteristic"], {"x": mul(num(-2), Sym("u"))})
    if transform is not None:
        if table.has("support"):
            table.fault("support goes with mixing alone.")
        known_law = recognised(transform)
        return EllipticalProcess(**{"mixing": ONE} | (known_law or {"transform": (transform,)}) | declared)
    if atoms is not None or nu is not None:
        if table.has("support"):
            table.fault("support goes with mixing, not with nu or atoms.")
        if isinstance(nu, Num) and nu.value <= 0:
            table.fault(f"nu = {show(table.data['nu'])} is not positive.")
        if atoms is not None:
            return EllipticalProcess(ONE, atoms=atoms, **declared)
        v, half = Sym("v"), div(nu, num(2))  # V = nu/chi^2 with nu degrees of freedom
        return EllipticalProcess(mul(power(v, sub(num(-1), half)), call("exp", neg(div(half, v)))), **declared)
    low, high = values["support"]
    if not isinstance(low, Num) or low.value < 0 or not (high is None or isinstance(high, Num)):
        table.fault("support: the law of a variance lives between rational numbers of at least 0; the upper end may be inf.")
    return EllipticalProcess(values["mixing"], (low or ZERO, high), **declared)


def _moved_by(noise: EllipticalProcess, moved: str) -> str:
    if noise.differences:
        return "functions that differ by " + " or ".join(map(format_expr, noise.differences))
    return f"functions at most {moved} apart in the Cameron-Martin norm"


ELLIPTICAL_PROCESS = Kind(
    model=EllipticalProcess,
    what="Noise scale * sqrt(V) N on functions, N a Gaussian process of infinite rank.",
    fields=(
        fields.MIXING.optional(),
        fields.NU.optional(),
        fields.ATOMS.optional(),
        fields.MGF,
        fields.CHARACTERISTIC,
        fields.SUPPORT.optional((ZERO, None)),
        fields.SCALE,
        fields.COVARIANCE,
        fields.EVALUATIONS,
        fields.DIFFERENCE,
    ),
    one_of=(("mixing", "log_mixing", "nu", "atoms", "mgf", "characteristic"),),
    conditions={"dependencies": {"support": {"not": {"anyOf": [{"required": [key]} for key in ("nu", "atoms", "mgf", "characteristic")]}}}},
    build=_process,
    formula=law("noise.elliptical_process"),
    plain=itself,
    neighbours=_moved_by,
    sensitivity=Sensitivity.NEEDED,
    starter=Starter(
        brief="noise on a function: a Gaussian process of a random scale.",
        mechanism="""\
kind = "elliptical_process"
nu = 5       # the noise is scale * sqrt(V) * N with N a Gaussian process and V = nu/chi^2, a t process; or `mixing`, the density of V in v
scale = 4
""",
        claim="sensitivity = 1      # neighbouring inputs move the true function by at most this, in the Cameron-Martin norm of N",
        delta='delta = "1/1000"     # no epsilon holds at delta 0',
        no_sampler="its outputs are functions. Audit the numbers that you publish of them, as the kind sampled.",
    ),
    variables={"v": "mixed"},
)

"""A private mean of curves, released as a function (docs/sources/mean-function.md)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from computed.judged import up
from computed.pages import Page, Row, Table, standalone
from dpverify.report import decimal
from dpverify.report.axes import Axis
from dpverify.report.svg import Chart, Series
from dpverify.samplers import processes as paths
from dpverify.search.processes import norms as processes
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.expr import ONE, Expr, Num, add, div, num, parse, sub
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, EllipticalProcess
from dpverify.trusted.theories.processes.norms import sensitivity

PEOPLE = 1000
SHAPES = ("tanh(4*t)", "t*(1 - t)")
"""A curve is a of the first and b of the second, a and b between 0 and 1."""
NOISES = ("brownian", "matern-1/2", "matern-3/2", "matern-5/2")
LENGTH = Fraction(1, 4)
MU = Fraction(268, 1000)
"""A Gaussian pair at this distance is (1, 1e-5)-private."""
COUNTS = (4, 16, 64, 256, 1024)
GAUSSIAN = ((ONE, ONE),)
"""V = 1."""


def noise(covariance: str, scale: Expr = ONE, **more: object) -> EllipticalProcess:
    """The process, under the corners of all differences of the mean where one curve is replaced, one of each two opposite ones."""
    first, second = (div(parse(shape), num(PEOPLE)) for shape in SHAPES)
    corners = (add(first, second), sub(first, second))
    shape = (ONE, Num(LENGTH))
    made = {"atoms": GAUSSIAN, **more}
    return EllipticalProcess(ONE, scale=scale, covariance=covariance, shape=shape, interval=(num(0), ONE), differences=corners, **made)  # type: ignore[arg-type]


@cache
def norm(covariance: str) -> tuple[Fraction, Fraction]:
    """The distance of two means, between two numbers."""
    declared = noise(covariance)
    with precision(128):
        found = sensitivity(declared, processes.derivations(declared, 12))
    assert isinstance(found.lower, Num) and isinstance(found.upper, Num)
    return found.lower.value, found.upper.value


def scale(covariance: str) -> Fraction:
    """A scale of few digits that is large enough."""
    return Fraction(decimal(Num(norm(covariance)[1] / MU), 4, 1))


def judged(covariance: str) -> Judgement:
    """The release of the whole function at epsilon 1 and delta 1e-5."""
    return verify(Claim(noise(covariance, Num(scale(covariance))), ONE, parse("1/100000")), 6).judgement


def _scale_row(covariance: str) -> tuple[str, ...]:
    low, high = norm(covariance)
    known = judged(covariance)
    assert known.delta_upper is not None
    deviation = scale(covariance)
    return (
        f"{decimal(Num(low * PEOPLE), 5, 0)} to {decimal(Num(high * PEOPLE), 5, 1)}",
        up(deviation),
        up(constant_of(known.delta_upper)),
        known.verdict,
    )


def constant_of(value: Expr) -> Fraction:
    """A number that is at least the value."""
    return Fraction(decimal(value, 12, 1))


def _count_row(n: int) -> tuple[str, ...]:
    """What n values of the curve cost with t noise of 5 degrees of freedom and the same scale."""
    t = noise("brownian", Num(scale("brownian")), atoms=(), count=num(n))
    t = EllipticalProcess(
        **{**{name: getattr(t, name) for name in EllipticalProcess.__slots__}, "mixing": parse("v**(-7/2)*exp(-5/(2*v))")}
    )
    pure, curve = verify(Claim(t, None), 8).judgement, verify(Claim(t, ONE, None), 8).judgement
    assert isinstance(pure.upper, Expr) and curve.delta_upper is not None
    return up(constant_of(pure.upper)), up(constant_of(curve.delta_upper))


# -- the picture ------------------------------------------------------------------------------------------------


def people(rng: np.random.Generator, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The curves of all people, one a row: a and b drawn from laws of Beta."""
    a, b = rng.beta(4, 2, PEOPLE), rng.beta(2, 2, PEOPLE)
    return np.asarray(a[:, None] * np.tanh(4 * at) + b[:, None] * at * (1 - at))


def picture(_: str) -> str:
    """Twelve curves, the mean of all, and three releases of it."""
    rng, at = np.random.default_rng(2019), np.linspace(0, 1, 65)
    curves = people(rng, at)
    mean = curves.mean(axis=0)
    covariance = "matern-3/2"
    declared = noise(covariance, Num(scale(covariance)))
    released = [mean + paths.path(declared, rng).at(at) for _ in range(3)]

    def line(values: NDArray[np.float64]) -> list[tuple[float, float]]:
        return [(float(x), round(float(y), 4)) for x, y in zip(at, values, strict=True)]

    series = [
        Series("mean", [line(mean)]),
        Series("private", [line(one) for one in released]),
        Series("some people", [line(one) for one in curves[:12]]),
    ]
    said = (
        "Curves of twelve of a thousand people, which differ much; the mean of all; and three private releases of it, which stay near it."
    )
    return standalone(Chart("A private mean of curves", said, Axis("t"), Axis("value"), series).svg("mean-function"))


PAGE = Page(
    "mean-function",
    [
        Table(
            "scale",
            ("noise", "distance of two means, times 1000", "deviation of the noise", "delta at epsilon 1", "(1, 1e-5)"),
            [Row((name,), partial(_scale_row, name), slow=name == "matern-5/2") for name in NOISES],
        ),
        Table(
            "evaluations",
            ("values released", "epsilon at delta = 0", "delta at epsilon 1"),
            [Row((str(n),), partial(_count_row, n), slow=n > 4) for n in COUNTS],
        ),
    ],
    [("mean-function.svg", picture)],
)

"""One mechanism of each kind that a claim file can name, as the file writes it, and its laws as its definition says them.

Nothing of dpverify is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.laws import truth
from tests.laws.truth import Leaf, Mechanism


@dataclass(frozen=True)
class Kind:
    """written: as in a claim file, with its sensitivity where that is not 1. leaf: its laws.

    exact: how far below the truth its cells may be, of 1 + truth. other: a second one beside it in compositions and in parallel. known:
    what a limit or a theorem says of the mechanism alone, where cells or the places that are looked at do not reach it. most: where these
    are not all, a pure epsilon of one step: randomized response with it is then less private.
    """

    written: Mechanism
    leaf: Callable[[Mechanism], Leaf]
    exact: float = 1e-9
    other: Mechanism | None = None
    known: Mapping[str, float] = field(default_factory=dict)
    most: float | None = None


def builtin(name: str, **given: Any) -> dict[str, Any]:
    return {"kind": "builtin", "name": name, **given}


def value(given: Any) -> float:
    return float(Fraction(str(given)))


# -- densities on the line ---------------------------------------------------------------------------


def laplace(z: np.ndarray, b: float) -> np.ndarray:
    return np.exp(-np.abs(z) / b) / (2 * b)


def student(z: np.ndarray) -> np.ndarray:
    """Three degrees of freedom."""
    return 2 / (math.pi * math.sqrt(3)) / (1 + z**2 / 3) ** 2


def normal(z: np.ndarray, sigma: float) -> np.ndarray:
    return np.exp(-((z / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


def stairs(z: np.ndarray, epsilon: float, gamma: float) -> np.ndarray:
    """The mass at distances in [0, gamma) and then in steps of length 1, on both sides."""
    total = 2 * (gamma + math.exp(-epsilon) / (1 - math.exp(-epsilon)))
    return np.exp(-epsilon * np.floor(np.abs(z) + 1 - gamma)) / total


SPAN = (-2, -1, 0, 1, 2)


def of_laplace(part: Mechanism) -> Leaf:
    b = value(part["scale"])
    return truth.noise(lambda z: laplace(z, b), SPAN, b / 20, far=40 * b)


def of_product(part: Mechanism) -> Leaf:
    one = truth.noise(lambda z: laplace(z, 1), (-2, -1, -0.5, 0, 0.5, 1, 2), 1 / 4, far=40)
    return truth.several(one, [(1, 0), (-1, 0), (0, 1), (0, -1), (0.5, 0.5), (0.5, -0.5)])


def of_kernel(part: Mechanism) -> Leaf:
    edges = truth.cells([0, 0.25, 0.5, 0.75, 1], 1 / 60)

    def law(theta: float) -> np.ndarray:
        return truth.masses(lambda y: np.exp(-np.abs(y - theta)) / (2 - math.exp(-theta) - math.exp(theta - 1)), edges)

    return truth.points(law, [0, 0.25, 0.5, 0.75, 1], lambda a, b: 2 * abs(a - b))


def of_scores(part: Mechanism) -> Leaf:
    rows = [[math.exp(value(part["beta"]) * score) for score in row] for row in part["scores"]]
    return truth.table([[w / sum(row) for w in row] for row in rows], part.get("adjacent"))


def of_any_scores(part: Mechanism) -> Leaf:
    """Three candidates whose scores are alike or far apart."""
    places = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 31, 31), (1, 30, 30)]
    beta = value(part["beta"])

    def law(place: tuple[int, ...]) -> np.ndarray:
        w = np.exp(beta * np.array(place) * 1.0)
        return w / w.sum()

    return truth.points(law, places, lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True)))


def of_process(part: Mechanism) -> Leaf:
    scale = value(part["scale"])
    edges = truth.cells([-14, 14], 1 / 20)

    def law(place: int) -> np.ndarray:
        return np.concatenate(
            [value(w) * truth.masses(lambda y, v=v: normal(y - place / (scale * math.sqrt(value(v))), 1), edges) for v, w in part["atoms"]]
        )

    return Leaf(truth._kept(law), (0,), lambda place, steps: [place + i for i in range(-steps, steps + 1)])


def of_max(part: Mechanism) -> Leaf:
    """Two candidates: the difference of their answers decides, and moves by at most 2."""
    b = value(part["noise"]["scale"])

    def law(d: int) -> np.ndarray:
        tail = math.exp(-abs(d) / b) * (2 + abs(d) / b) / 4  # of the difference of two noises
        return np.array([1 - tail, tail] if d >= 0 else [tail, 1 - tail])

    return truth.points(law, (-402, -400, -2, 0, 2, 400, 402), lambda a, b: abs(a - b) / 2)


def of_threshold(part: Mechanism) -> Leaf:
    places = [(0, 0), (1, 0), (1, -1), (2, -2), (199, -199), (200, -200)]
    return truth.points(lambda answers: truth.above(2, 4, answers), places, lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True)))


def of_discrete(part: Mechanism) -> Leaf:
    if part["name"] == "discrete_laplace":
        b = value(part["scale"])
        return truth.integers(lambda n: np.exp(-np.abs(n) / b), 1, 90, 5)
    sigma = value(part["sigma"])
    return truth.integers(lambda n: np.exp(-(n**2) / (2 * sigma**2)), 1, 40, 16)


def of_gaussian(part: Mechanism) -> Leaf:
    sigma = value(part["sigma"])
    return truth.noise(lambda z: normal(z, sigma), (-9 * sigma, 9 * sigma), sigma / 20, far=12 * sigma)


def pair(*rows: list[float]) -> Callable[[Mechanism], Leaf]:
    return lambda part: Leaf(lambda place: np.array(rows[place], dtype=float), (0, 1), lambda place, steps: [0, 1])


def of_mu(mu: float) -> Callable[[Mechanism], Leaf]:
    """An instance: Gaussian noise."""
    return lambda part: truth.noise(lambda z: normal(z, 1), (-9, 9), 1 / 20, moved=mu, far=12)


def responding(epsilon: float, delta: float = 0) -> Callable[[Mechanism], Leaf]:
    told = (1 - delta) / (1 + math.exp(-epsilon))
    other = (1 - delta) - told
    return pair([delta, told, other, 0], [0, other, told, delta]) if delta else pair([told, other], [other, told])


def ranged(eta: float, t: float) -> Callable[[Mechanism], Leaf]:
    """An instance: two outputs of losses t and t - eta."""
    p = (1 - math.exp(eta - t)) / (math.exp(-t) - math.exp(eta - t))
    return pair([p, 1 - p], [p * math.exp(-t), 1 - p * math.exp(-t)])


CHAIN = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/5", "1/5", "3/5"]]
NEXT = [[0, 1], [1, 2]]
KINDS: dict[str, Kind] = {
    "table": Kind(
        {"kind": "table", "rows": CHAIN, "adjacent": NEXT},
        lambda part: truth.table(part["rows"], part.get("adjacent")),
        other={"kind": "table", "rows": [["1/2", "1/2"], ["1/2", "1/2"], ["1/5", "4/5"]], "adjacent": NEXT},
    ),
    "table with a zero": Kind(
        {"kind": "table", "rows": [["1/2", "1/2", "0"], ["1/3", "1/3", "1/3"]]}, lambda part: truth.table(part["rows"])
    ),
    "randomized_response": Kind(builtin("randomized_response", p="2/3"), lambda part: truth.response(2, truth.number(part["p"]))),
    "k_randomized_response": Kind(builtin("k_randomized_response", k=3, p="3/5"), lambda part: truth.response(3, truth.number(part["p"]))),
    "exponential of scores": Kind(
        {"kind": "exponential", "scores": [[1, 0, 0], [0, 1, 0], [0, 1, 1]], "beta": "1", "adjacent": NEXT}, of_scores
    ),
    "exponential": Kind({"kind": "exponential", "candidates": 3, "beta": "1/2"}, of_any_scores, most=1),
    "discrete_laplace": Kind(builtin("discrete_laplace", scale=2), of_discrete, 1e-8),
    "discrete_gaussian": Kind(builtin("discrete_gaussian", sigma="3/2"), of_discrete, 1e-8, known={"pure": math.inf}),
    "integer translation": Kind(
        {"kind": "translation", "density": "exp(-abs(z) - z/2)", "integers": True},
        lambda part: truth.integers(lambda n: np.exp(-np.abs(n) - n / 2), 1, 90, 5),
        1e-8,
    ),
    "laplace": Kind(builtin("laplace", scale=2), of_laplace, 1e-3),
    "gaussian": Kind(builtin("gaussian", sigma=2), of_gaussian, 1e-3, known={"pure": math.inf}),
    "exponential noise": Kind(
        builtin("exponential", scale=2),
        lambda part: truth.noise(lambda z: np.where(z < 0, 0, np.exp(-np.maximum(z, 0) / 2) / 2), SPAN, 1 / 10, far=80),
        2e-3,
    ),
    "gumbel": Kind(
        builtin("gumbel", scale=2),
        lambda part: truth.noise(lambda z: np.exp(-z / 2 - np.exp(-z / 2)) / 2, (-12, 20), 1 / 8, far=80),
        5e-3,
        known={"pure": math.inf, "zcdp": math.inf, "gdp": math.inf, "renyi 5": math.inf},
    ),
    "logistic": Kind(
        builtin("logistic", scale=1), lambda part: truth.noise(lambda z: np.cosh(z / 2) ** -2 / 4, (-14, 14), 1 / 10, far=40), 5e-3
    ),
    "staircase": Kind(
        builtin("staircase", epsilon=1, gamma="1/3"),
        lambda part: truth.noise(
            lambda z: stairs(z, 1, 1 / 3),
            sorted({s * (k + third) / 3 for k in range(-6, 54, 3) for s in (1, -1) for third in (1, 2)}),
            9,
            far=40,
        ),
        1e-5,
    ),
    "student_t": Kind(
        builtin("student_t", nu=3, dimension=1, scale=1),
        lambda part: truth.noise(
            student, sorted([*np.linspace(-8, 8, 161), *np.geomspace(8.1, 5000, 90), *-np.geomspace(8.1, 5000, 90)]), 1e9, far=None
        ),
        5e-3,
    ),
    "knorm": Kind(builtin("knorm", epsilon=1, columns=[[1, 0], [0, 1]]), of_product, 3e-2),
    "radial": Kind(
        {"kind": "radial", "profile": "(1 + r**2/3)**(-2)", "norm": "l2", "dimension": 1}, lambda part: KINDS["student_t"].leaf(part), 5e-3
    ),
    "radial in the plane": Kind(
        {"kind": "radial", "profile": "exp(-r)", "norm": "l2", "dimension": 2},
        lambda part: truth.plane(lambda x, y: np.exp(-np.hypot(x, y)) / (2 * math.pi), 30, 90),
        1e-1,
    ),
    "translation": Kind(
        {"kind": "translation", "density": "exp(-abs(z) - z/2)"},
        lambda part: truth.noise(lambda z: np.exp(-np.abs(z) - z / 2) * 3 / 8, SPAN, 1 / 20, far=80),
        2e-3,
    ),
    "product": Kind({"kind": "product", "density": "exp(-abs(z))", "dimension": 2}, of_product, 3e-2),
    "kernel": Kind(
        {
            "kind": "kernel",
            "density": "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))",
            "output": [0, 1],
            "input": [0, 1],
            "sensitivity": "1/2",
        },
        of_kernel,
        2e-2,
    ),
    "mixture": Kind(
        {
            "kind": "mixture",
            "profile": "exp(-r**2/(2*v))/sqrt(v)",
            "mixing": "v**(-5/2)*exp(-3/(2*v))",
            "support": [0, "inf"],
            "norm": "l2",
            "dimension": 1,
        },
        lambda part: KINDS["student_t"].leaf(part),
        5e-3,
    ),
    "elliptical_process": Kind(
        {"kind": "elliptical_process", "atoms": [[1, "1/2"], [4, "1/2"]], "scale": 2}, of_process, 2e-3, known={"pure": math.inf}
    ),
    "noisy_max": Kind({"kind": "noisy_max", "noise": builtin("laplace", scale=4), "candidates": 2}, of_max, 1e-3, most=0.5),
    "above_threshold": Kind(
        {
            "kind": "above_threshold",
            "threshold_noise": builtin("laplace", scale=2),
            "query_noise": builtin("laplace", scale=4),
            "queries": 2,
        },
        of_threshold,
        most=0.5,
    ),
    "stream": Kind(
        {
            "kind": "stream",
            "once": {"rho": builtin("laplace", scale=2)},
            "fresh": {"nu": builtin("laplace", scale=4)},
            "state": {"t": "rho"},
            "limits": {"found": 1},
            "queries": 2,
            "step": [{"when": "q + nu >= t", "emit": "above", "count": {"found": 1}}, {"emit": "below"}],
        },
        of_threshold,
        most=0.5,
    ),
    "guarantee epsilon": Kind({"kind": "guarantee", "epsilon": 1}, responding(1)),
    "guarantee epsilon, delta": Kind({"kind": "guarantee", "epsilon": 1, "delta": "1/100"}, responding(1, 0.01)),
    "guarantee curve": Kind({"kind": "guarantee", "curve": [["1/2", "1/20"], [1, "1/100"]]}, responding(0.5, 0.01)),
    "guarantee zcdp": Kind({"kind": "guarantee", "zcdp": "1/8"}, of_mu(0.5), 1e-3),
    "guarantee gdp": Kind({"kind": "guarantee", "gdp": "1/2"}, of_mu(0.5), 1e-3),
    "guarantee renyi": Kind({"kind": "guarantee", "renyi": [[2, "1/4"]]}, of_mu(0.5), 1e-3),
    "guarantee bounded_range": Kind({"kind": "guarantee", "bounded_range": 1}, ranged(1, 0.6)),
}

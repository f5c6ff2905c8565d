"""Measure the power and the false alarms of audits and write reports/power.md: `python bench/power.py [PART...]`, all without arguments.

Parts: pairs (noise 10 % too small, against the information limit), half (half noise), conformance (the scale alone), floats (naive
samplers), clean (samplers without a fault), alarms (whole audits of claims that hold exactly), testers (each test by itself),
stated (what an audit says that it would have found, at a delta).
A part that is not run keeps its section of the report. Runs are spread over two processes with one thread each, but for the naive
samplers, whose seconds of wall-clock time count: those go one after the other.
"""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is there: two processes with two threads each would wait for one another

import numpy as np
import scipy
from scipy import optimize, stats

from dpverify.audits import FLOAT, MODEL, VIOLATION, Finding, audit, bounds
from dpverify.audits.bets import Bets, mixture
from dpverify.audits.conformance import conformance, ties
from dpverify.audits.declared import declared
from dpverify.audits.engine import Engine
from dpverify.audits.floats import float_partitions
from dpverify.audits.journal import Journal
from dpverify.audits.learn import learn
from dpverify.audits.outputs import Outputs, encode
from dpverify.audits.partition import CurvePoint, joint_counts
from dpverify.audits.plan import Plan, make_plan, number_up
from dpverify.audits.run import SCALES, Settings, run
from dpverify.audits.target import Target
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L2, Claim, Mechanism, Norm, Radial, Sampled, Table, Translation

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "reports" / "power.md"
WORKERS = 2
SURE, SURER = 0.999, 1 - 1e-6

PAIRS_SEEDS, PAIRS = range(1000, 1100), 200_000
MEDIAN, Q90 = 1.5, 2.4  # times ln(1/alpha)/D
HALF_SEEDS = range(2000, 2100)
HALF_PAIRS, HALF_PAIRS_SURER, HALF_SECONDS = 300, 2000, 1.0
CONFORMANCE_SEEDS, CONFORMANCE_SAMPLES = range(3000, 3050), 2500
FLOAT_SEEDS = range(4000, 4020)
FLOAT_PAIRS, FLOAT_SECONDS = 2000, 0.1
CLEAN_SEEDS, CLEAN_PAIRS = range(10_000, 11_000), 11_000  # so many that the pairs for floating point come up
NULL_SEEDS, NULL_PAIRS = range(20_000, 22_000), 3000
CHUNKS, CHUNK = range(30_000, 30_020), 100  # runs of a test by itself: a generator each
STATED_SEEDS, STATED_PAIRS = range(50_000, 50_200), 100_000
STATED = ((1.0, 1.0), (1.0, 0.5), (3.0, 1.0), (3.0, 0.5))  # standard deviations, and epsilons at which their delta is claimed
POWER = 0.9
ALPHA = 0.05
GRID = 2.0**-20
LOOKS = np.unique(np.geomspace(16, 20_000, 60).astype(int))  # pairs after which bets by themselves are looked at

Array = np.ndarray[Any, Any]
Sampler = Callable[[Any, int, np.random.Generator], Any]
Draw = Callable[[np.random.Generator, int], Array]
T = TypeVar("T")


# -- laws -----------------------------------------------------------------------------------------------

HEXAGON: Final = Norm("columns", matrix=tuple(tuple(map(Fraction, row)) for row in ((1, 0), (0, 1), (1, 1))))
CORNERS: Final = np.array([(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)], float)


def ball_noise(rng: np.random.Generator, size: int) -> Array:
    """Density exp(-|z|) in three dimensions: a direction times a radius from Gamma(3)."""
    points = rng.standard_normal((size, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True) * rng.gamma(3.0, size=(size, 1)))


def hexagon_noise(rng: np.random.Generator, size: int) -> Array:
    """Density exp(-||z||), the norm whose unit ball is a hexagon: uniform in one of its triangles times a radius from Gamma(3)."""
    corner, along = rng.integers(6, size=size), rng.random((size, 1))
    side = (1 - along) * CORNERS[corner] + along * CORNERS[(corner + 1) % 6]
    return np.asarray(np.sqrt(rng.random((size, 1))) * side * rng.gamma(3.0, size=(size, 1)))


def integer_noise(rng: np.random.Generator, size: int) -> Array:
    """Probabilities proportional to exp(-|z|): the difference of two geometric variables."""
    share = 1 - math.exp(-1)
    return rng.geometric(share, size) - rng.geometric(share, size)


@dataclass(frozen=True)
class Law:
    """Declared noise, and how to draw it. epsilon: tight, for a sensitivity {s}; "": the claim is the whole declared curve.

    For the information limit: potential, -log of the density but for a constant, of points (n, k); grid, the ends and the step of the
    midpoint rule on each of the k coordinates; moves, of the true answer, (k,) each; weight, of a point, where k is not the dimension.
    """

    mechanism: Mechanism
    draw: Draw
    epsilon: str
    potential: Callable[[Array], Array] = np.abs
    grid: tuple[tuple[float, float, float], ...] = ()
    moves: tuple[tuple[float, ...], ...] = ((1.0,),)
    weight: Callable[[Array], Array] = field(default=lambda points: np.ones(len(points)))

    def claim(self, sensitivity: str = "1") -> Claim:
        """The tight claim, or the whole curve."""
        if not self.epsilon:
            return Claim(self.mechanism, parse("1"), None, parse(sensitivity))
        return Claim(self.mechanism, parse(self.epsilon.format(s=sensitivity)), parse("0"), parse(sensitivity))

    def sampler(self, scale: float = 1.0, grid: float = 0.0) -> Sampler:
        """The true answer plus noise of `scale` times the declared one; outputs are rounded to multiples of `grid`, if any."""

        def sample(data: Any, size: int, rng: np.random.Generator) -> Array:
            noise = self.draw(rng, size).reshape(size, -1)
            outputs = np.asarray(data) + (noise if scale == 1 else scale * noise)
            return np.round(outputs / grid) * grid if grid else outputs

        return sample


LINE: Final = ((-80.0, 81.0, 5e-4),)
LAWS: Final[Mapping[str, Law]] = {
    "Laplace": Law(
        Translation(parse("exp(-abs(z))")), lambda rng, size: rng.laplace(size=size), "{s}", lambda y: np.abs(y[:, 0]), LINE
    ),
    "t, nu = 5": Law(
        Translation(parse("(1 + z**2/5)**(-3)")), lambda rng, size: rng.standard_t(5, size), "6*asinh({s}*sqrt(5)/10)",
        lambda y: 3 * np.log1p(y[:, 0] ** 2 / 5), LINE,
    ),
    "Gaussian, by its curve": Law(
        Translation(parse("exp(-z**2/2)")), lambda rng, size: rng.standard_normal(size), "", lambda y: y[:, 0] ** 2 / 2, LINE
    ),
    "K-norm, l2, d = 3": Law(
        Radial(parse("exp(-r)"), L2, num(3)), ball_noise, "{s}",
        lambda y: np.hypot(y[:, 0], y[:, 1]), ((-25.0, 26.0, 0.02), (0.0, 25.0, 0.02)), ((1.0, 0.0),), lambda y: y[:, 1],
    ),
    "K-norm, hexagon": Law(
        Radial(parse("exp(-r)"), HEXAGON, num(2)), hexagon_noise, "{s}",
        lambda y: np.maximum(np.abs(y).max(axis=1), np.abs(y[:, 0] - y[:, 1])),
        ((-25.0, 26.0, 0.03), (-25.0, 26.0, 0.03)), ((1.0, 0.0), (1.0, 0.5)),
    ),
}  # fmt: skip
INTEGERS: Final = Law(Translation(parse("exp(-abs(z))"), integers=True), integer_noise, "{s}")
RESPONSE: Final = Table(tuple(tuple(map(parse, row)) for row in (("3/4", "1/4"), ("1/4", "3/4"))))


def gaussian_delta(epsilon: float) -> float:
    """The tight delta of standard normal noise at sensitivity 1 (Balle & Wang 2018)."""
    return float(stats.norm.cdf(0.5 - epsilon) - math.exp(epsilon) * stats.norm.cdf(-0.5 - epsilon))


def information(law: Law, scale: float) -> float:
    """D of theory#information-limit: how far, in nats a pair, noise of `scale` times the declared one is from the claim, by its best event.

    Events are sets where the true likelihood ratio is above a threshold, their probabilities by the midpoint rule. A curve's D is the
    greatest over its points, because the pairs (p, q) that it allows are convex. Mirrored noise shows as much in the other direction.
    """
    axes = [np.arange(low + step / 2, high, step) for low, high, step in law.grid]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    weight, best = law.weight(points), 0.0
    claim = law.claim()
    curve = [CurvePoint(epsilon, gaussian_delta(epsilon)) for epsilon in np.linspace(0, 4, 41).tolist()]
    claims = [CurvePoint(number_up(claim.epsilon))] if law.epsilon and claim.epsilon else curve
    for move in law.moves:
        log_p, log_q = -law.potential(points / scale), -law.potential((points - move) / scale)
        order = np.argsort(log_q - log_p)
        p, q = (np.cumsum((weight * np.exp(logs))[order]) for logs in (log_p, log_q))
        p, q = p / p[-1], q / q[-1]
        chosen = np.searchsorted(p, np.linspace(0.005, 0.9, 120))
        best = max(best, max(bounds.kl_to_claim(float(p[i]), float(q[i]), point) for i in chosen for point in claims))
    return best


# -- runs -----------------------------------------------------------------------------------------------


def spread(measure: Callable[[int], T], seeds: Sequence[int]) -> list[T]:
    """A measurement for each seed, on all workers."""
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(measure, seeds, chunksize=max(1, min(20, len(seeds) // (4 * WORKERS)))))


def of_level(finding: Finding, level: str) -> Finding | None:
    """The violation of a level that an audit found."""
    return next((part for part in (finding, *finding.also) if part.level == level and part.finding == VIOLATION), None)


def refuted(name: str, scale: float, white: bool, confidence: float, samples: int, seed: int) -> tuple[float, float]:
    """Pairs until the model was refuted, inf if it was not, and the seconds of processor time that the whole audit took."""
    law = LAWS[name]
    claim, inputs = law.claim(), {}
    if not white:
        density = declared(claim)
        assert density is not None
        epsilon, delta = (claim.epsilon, parse("0")) if law.epsilon else (parse("1"), parse(repr(gaussian_delta(1.0))))
        claim, inputs = Claim(Sampled(), epsilon, delta), {"pairs": density.worst_pairs()}
    started = time.process_time()
    finding = audit(law.sampler(scale), claim, **inputs, samples=samples, confidence=confidence, seed=seed)
    violation = of_level(finding, MODEL)
    return math.inf if violation is None else violation.samples, time.process_time() - started


def kept(condition: bool) -> str:
    """Whether a promise is kept."""
    return "yes" if condition else "NO"


def seeds_text(seeds: range) -> str:
    """The first and the last seed."""
    return f"seeds {seeds[0]} to {seeds[-1]}"


def middle_and_q90(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 90 % quantile, without interpolation."""
    median, high = np.quantile(values, [0.5, 0.9], method="higher")
    return float(median), float(high)


# -- power ----------------------------------------------------------------------------------------------


def pairs() -> Iterator[str]:
    """Noise that is 10 % too small, against what information allows."""
    yield "Whole audits of noise at 0.9 of the declared scale, 99.9 % confidence,"
    yield f"at most {PAIRS:,} pairs or four times the limit, {seeds_text(PAIRS_SEEDS)}."
    yield "*limit* is ln(1/alpha)/D, D by quadrature from the true law, for the best event of one direction"
    yield "(`docs/theory/audits.md#information-limit`); bets on both directions"
    yield f"can do better. Promised: a median under {MEDIAN} and a 90 % quantile under {Q90} times the limit."
    yield ""
    yield "| noise | D, nats | limit | median | q90 | median/limit | kept | q90/limit | kept | not refuted | s a run |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, law in LAWS.items():
        distance = information(law, 0.9)
        limit = -math.log(1 - SURE) / distance
        runs = spread(partial(refuted, name, 0.9, True, SURE, max(PAIRS, int(4 * limit))), PAIRS_SEEDS)
        median, high = middle_and_q90([count for count, _ in runs])
        missed = sum(math.isinf(count) for count, _ in runs)
        ratios = f"{median / limit:.2f} | {kept(median < MEDIAN * limit)} | {high / limit:.2f} | {kept(high < Q90 * limit)}"
        seconds = np.median([seconds for _, seconds in runs])
        yield f"| {name} | {distance:.6f} | {limit:.0f} | {median:.0f} | {high:.0f} | {ratios} | {missed} | {seconds:.2f} |"


def half() -> Iterator[str]:
    """Half the noise."""
    yield f"Whole audits of noise at half the declared scale, {seeds_text(HALF_SEEDS)}. White box: the density is declared. Black box:"
    yield "the worst pairs and epsilon are given (for the Gaussian: epsilon 1 and its delta, which is harder than its curve)."
    yield "*s*: processor time of a whole audit, median."
    yield f"Promised: a median under {HALF_PAIRS} pairs at 99.9 %; under {HALF_PAIRS_SURER:,} pairs and {HALF_SECONDS:g} s at 1 - 1e-6."
    yield ""
    yield "| noise | box | limit at 99.9 % | median | q90 | kept | limit at 1 - 1e-6 | median | q90 | s | kept |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, law in LAWS.items():
        distance = information(law, 0.5)
        for white in (True, False):
            cells = [name, "white" if white else "black"]
            for confidence, most in ((SURE, HALF_PAIRS), (SURER, HALF_PAIRS_SURER)):
                runs = spread(partial(refuted, name, 0.5, white, confidence, PAIRS), HALF_SEEDS)
                median, high = middle_and_q90([count for count, _ in runs])
                seconds = float(np.median([seconds for _, seconds in runs]))
                cells += [f"{-math.log(1 - confidence) / distance:.0f}", f"{median:.0f}", f"{high:.0f}"]
                cells += [f"{seconds:.2f}"] if confidence == SURER else []
                cells += [kept(median < most and (confidence == SURE or seconds < HALF_SECONDS))]
            yield f"| {' | '.join(cells)} |"


def conformed(name: str, sensitivity: str, scale: float, seed: int) -> tuple[float, int]:
    """Samples on one input until a sampler was seen not to be the declared density, inf if it never was; how many inputs there are."""
    law = LAWS[name]
    claim = law.claim(sensitivity)
    density = declared(claim)
    assert density is not None
    inputs = 2 * len(density.worst_pairs())
    finding = audit(law.sampler(scale), claim, samples=8000, confidence=SURE, seed=seed)
    for part in (finding, *finding.also):
        if count := re.search(r"\((\d+) outputs\)$", part.event):
            return int(count[1]), inputs
    return math.inf, inputs


def conforming() -> Iterator[str]:
    """Is the scale as declared?"""
    yield f"Whole audits, 99.9 % confidence, {seeds_text(CONFORMANCE_SEEDS)}: samples until NONCONFORMING, on one input and on all of them."
    yield "A run in which it was not seen, or that a violation of the claim ended before, counts as infinite."
    yield f"Promised: a median under {CONFORMANCE_SAMPLES} on all inputs together."
    yield ""
    yield "| noise | sensitivity | scale | one input, median | q90 | inputs | all, median | q90 | kept | not seen |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name in LAWS:
        for sensitivity, scale in (("1", 0.9), ("1", 1.1), ("0.01", 0.9)):
            runs = spread(partial(conformed, name, sensitivity, scale), CONFORMANCE_SEEDS)
            median, high = middle_and_q90([count for count, _ in runs])
            missed, inputs = sum(math.isinf(count) for count, _ in runs), runs[0][1]
            every = f"{inputs} | {inputs * median:.0f} | {inputs * high:.0f} | {kept(inputs * median < CONFORMANCE_SAMPLES)}"
            yield f"| {name} | {sensitivity} | {scale} | {median:.0f} | {high:.0f} | {every} | {missed} |"


# -- floating point -------------------------------------------------------------------------------------


def inverse_cdf(rng: np.random.Generator, size: int) -> Array:
    """Laplace noise as in many textbooks."""
    uniform = rng.random(size) - 0.5
    return np.asarray(-np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def plus(draw: Draw, dtype: type = np.float64) -> Sampler:
    """The true answer plus noise of that precision, in it."""
    return lambda data, size, rng: (np.asarray(data, dtype) + draw(rng, size).astype(dtype).reshape(size, -1)).astype(dtype)


def naive_samplers() -> dict[str, tuple[str, Sampler]]:
    """What is declared of each, and the sampler."""
    found = {
        "numpy, x + laplace()": ("Laplace", plus(lambda rng, size: rng.laplace(size=size))),
        "numpy, laplace(x)": ("Laplace", lambda data, size, rng: rng.laplace(np.asarray(data), 1.0, (size, 1))),
        "inverse of the distribution function": ("Laplace", plus(inverse_cdf)),
        "difference of exponentials": ("Laplace", plus(lambda rng, size: rng.exponential(size=size) - rng.exponential(size=size))),
        "float32": ("Laplace", plus(lambda rng, size: rng.laplace(size=size), np.float32)),
        "numpy, x + standard_normal()": ("Gaussian, by its curve", plus(lambda rng, size: rng.standard_normal(size))),
        "numpy, normal(x)": ("Gaussian, by its curve", lambda data, size, rng: rng.normal(np.asarray(data), 1.0, (size, 1))),
    }
    if importlib.util.find_spec("diffprivlib") is not None:
        found["diffprivlib, Laplace"] = ("Laplace", diffprivlib_laplace)
    return found


def diffprivlib_laplace(data: Any, size: int, rng: np.random.Generator) -> Array:
    """The library's own draw, one call an output."""
    library = importlib.import_module("diffprivlib.mechanisms")
    mechanism = library.Laplace(epsilon=1.0, sensitivity=1.0, random_state=int(rng.integers(2**31)))
    return np.array([mechanism.randomise(float(np.ravel(data)[0])) for _ in range(size)])


def floats() -> Iterator[str]:
    """Naive samplers, of which only the representation of their outputs is at fault."""
    yield f"Whole audits, confidence 1 - 1e-6, {seeds_text(FLOAT_SEEDS)}: pairs, and seconds of wall-clock time from the making of"
    yield "the first test, until the violation at float level. White box: the density is declared. Black box: epsilon and the inputs 0"
    yield "and 1 are given. One audit goes before, so that all code is loaded."
    yield f"Promised: {FLOAT_PAIRS:,} pairs and {FLOAT_SECONDS:g} s, by the median. *wrong level*: runs with a violation of the model."
    yield ""
    yield "| sampler | box | pairs, median | most | s, median | most | kept | not flagged | wrong level |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, (law, sampler) in naive_samplers().items():
        delta = 0.0 if LAWS[law].epsilon else gaussian_delta(1.0)
        black = {"epsilon": 1, "delta": delta, "pairs": [([0.0], [1.0])]}
        for box, inputs in (("white", {"claim": LAWS[law].claim()}), ("black", black)):
            audit(sampler, **inputs, samples=2 * CLEAN_PAIRS, seed=0)
            findings = [audit(sampler, **inputs, samples=2 * CLEAN_PAIRS, seed=seed) for seed in FLOAT_SEEDS]
            seen = [part for finding in findings if (part := of_level(finding, FLOAT))]
            missing = len(findings) - len(seen)
            counts = [part.samples for part in seen] + [math.inf] * missing
            seconds = [part.seconds for part in seen] + [math.inf] * missing
            wrong = sum(of_level(finding, MODEL) is not None for finding in findings)
            median, time_ = middle_and_q90(counts)[0], middle_and_q90(seconds)[0]
            cells = f"{median:.0f} | {max(counts):.0f} | {time_:.3f} | {max(seconds):.3f}"
            yield f"| {name} | {box} | {cells} | {kept(median <= FLOAT_PAIRS and time_ <= FLOAT_SECONDS)} | {missing} | {wrong} |"


# -- false alarms of whole audits -----------------------------------------------------------------------


@dataclass(frozen=True)
class Null:
    """A sampler and a claim that holds of it, exactly. epsilon: the true one at the claimed delta, nan where a curve is claimed."""

    sampler: Sampler
    claim: Claim
    epsilon: float
    inputs: Mapping[str, Any] = field(default_factory=dict)
    stop: bool = True


UNIT: Final = {"pairs": [([0.0], [1.0])]}
BACK: Final = {"pairs": [([1.0], [0.0])]}


def black(epsilon: str, delta: str = "0") -> Claim:
    """A claim about a sampler of which no density is declared."""
    return Claim(Sampled(), parse(epsilon), parse(delta), parse("1"))


def respond(data: Any, size: int, rng: np.random.Generator) -> Array:
    """Randomized response, which tells the truth three times in four."""
    return np.asarray((rng.random(size) < 0.25) ^ bool(np.ravel(data)[0])).astype(int)


def respond_or_not(data: Any, size: int, rng: np.random.Generator) -> list[str | None]:
    """The same, as texts and None."""
    return [None if answer else "yes" for answer in respond(data, size, rng)]


def leak(data: Any, size: int, rng: np.random.Generator) -> Array:
    """(log 3, 0.05)-DP and no better: one time in twenty the input itself comes out, else a randomized response."""
    answers = respond(data, size, rng)
    return np.where(rng.random(size) < 0.05, 2 + int(np.ravel(data)[0]), answers)


def of_five(data: Any, size: int, rng: np.random.Generator) -> Array:
    """Five answers that move by 1 each, and Laplace noise of scale 5 on each."""
    return np.round((np.asarray(data) + rng.laplace(0, 5, (size, 5))) / GRID) * GRID


@cache
def nulls() -> Mapping[str, Null]:
    """Claims that hold with equality, white box and black box; outputs are rounded to a grid, else their floats would be at fault."""
    laplace, normal = LAWS["Laplace"], LAWS["Gaussian, by its curve"]
    delta = repr(gaussian_delta(1.0))
    point = Claim(normal.mechanism, parse("1"), parse(delta), parse("1"))
    tight = laplace.sampler(grid=GRID)
    log3 = math.log(3)
    return {
        "Laplace": Null(tight, laplace.claim(), 1.0),
        "Laplace, directions swapped": Null(tight, laplace.claim(), 1.0, BACK),
        "Gaussian, (1, delta)": Null(normal.sampler(grid=GRID), point, 1.0),
        "Gaussian, by its curve": Null(normal.sampler(grid=GRID), normal.claim(), math.nan),
        "discrete Laplace": Null(INTEGERS.sampler(), INTEGERS.claim(), 1.0),
        "randomized response": Null(respond, Claim(RESPONSE, parse("log(3)")), log3),
        "Laplace, black box": Null(tight, black("1"), 1.0, UNIT),
        "Laplace, black box, all samples into the bound": Null(tight, black("1"), 1.0, UNIT, stop=False),
        "Gaussian, black box, (1, delta)": Null(normal.sampler(grid=GRID), black("1", delta), 1.0, UNIT),
        "discrete Laplace, black box": Null(INTEGERS.sampler(), black("1"), 1.0, {"pairs": [([0], [1])]}),
        "randomized response, texts and None": Null(respond_or_not, black("log(3)"), log3, UNIT),
        "zero counts: each input leaks with probability delta": Null(leak, black("log(3)", "0.05"), log3, UNIT),
        "five answers, eight patterns": Null(of_five, black("1"), 1.0, {"patterns": "usual", "length": 5}),
    }


@cache
def plan_of(name: str) -> Plan:
    """What is asked of every run alike."""
    return make_plan(nulls()[name].claim, **nulls()[name].inputs)


def flagged(name: str, alpha: float, samples: int, seed: int) -> tuple[bool, bool, bool, bool]:
    """What one run says falsely: a violation of the model, of floats, another density, a bound above the true epsilon."""
    null = nulls()[name]
    with Engine(Target.of(null.sampler), root=seed) as engine:
        state = run(plan_of(name), Settings(samples, alpha, null.stop), engine, Journal())
    return MODEL in state.crossings, FLOAT in state.crossings, bool(state.nonconforming), state.lower_bound() > null.epsilon


def clean() -> Iterator[str]:
    """Samplers without a fault, at the default confidence."""
    yield f"Whole audits of claims that hold with equality, confidence 1 - 1e-6, {seeds_text(CLEAN_SEEDS)},"
    yield f"{CLEAN_PAIRS:,} pairs and those for floating point."
    yield f"Continuous noise is rounded to a grid of 2^{math.log2(GRID):.0f} after it is added. Promised: no flag of any kind."
    yield ""
    yield "| sampler | runs | model | float | nonconforming | bound too high | kept |"
    yield "|---|---|---|---|---|---|---|"
    for name in ("Laplace", "Gaussian, (1, delta)", "discrete Laplace", "Laplace, black box", "discrete Laplace, black box"):
        plan_of(name)
        flags = np.array(spread(partial(flagged, name, 1e-6, CLEAN_PAIRS), CLEAN_SEEDS)).sum(axis=0)
        yield f"| {name} | {len(CLEAN_SEEDS)} | {' | '.join(map(str, flags))} | {kept(not flags.any())} |"


def most_alarms(runs: int) -> float:
    """The share that is promised: alpha plus three standard errors."""
    return ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


def alarms() -> Iterator[str]:
    """Whole audits of claims that hold with equality."""
    most = most_alarms(len(NULL_SEEDS))
    yield f"Whole audits of claims that hold with equality, alpha = {ALPHA}, {NULL_PAIRS:,} pairs, {seeds_text(NULL_SEEDS)}."
    yield "Each run looks 16 times a block, and stops by itself. An alarm is a run that says anything false: a violation, NONCONFORMING,"
    yield f"or a bound above the true epsilon. Promised: at most alpha plus three standard errors, {most:.4f}."
    yield ""
    yield "| claim | runs | model | float | nonconforming | bound too high | alarms | share | s.e. | kept |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name in nulls():
        plan_of(name)
        flags = np.array(spread(partial(flagged, name, ALPHA, NULL_PAIRS), NULL_SEEDS))
        count = int(flags.any(axis=1).sum())
        share = count / len(flags)
        cells = f"{share:.4f} | {math.sqrt(share * (1 - share) / len(flags)):.4f} | {kept(share <= most)}"
        yield f"| {name} | {len(flags)} | {' | '.join(map(str, flags.sum(axis=0)))} | {count} | {cells} |"


# -- false alarms of each test by itself ----------------------------------------------------------------


def bets_alarms(bets: Bets, joint: Array, rng: np.random.Generator) -> int:
    """How many of CHUNK runs of pairs from a joint law of cells, looked at again and again, ever reach 1/alpha."""
    steps = np.diff(LOOKS, prepend=0)
    law = joint.ravel().clip(0) / joint.clip(0).sum()
    counts = np.cumsum(np.stack([rng.multinomial(step, law, CHUNK) for step in steps], axis=1), axis=1)
    wealth = bets.log_wealth(counts.reshape(CHUNK, len(LOOKS), bets.size, bets.size))
    return int((wealth.max(axis=1) >= -math.log(ALPHA)).sum())


def coupled(p: Array, q: Array) -> Array:
    """The joint law of cells when both runs of a pair use one random number: the same quantile of both laws."""
    edges = np.unique(np.concatenate([[0.0], np.cumsum(p), np.cumsum(q)]).clip(0, 1))
    middle, joint = (edges[1:] + edges[:-1]) / 2, np.zeros((len(p), len(q)))
    last = len(p) - 1
    np.add.at(joint, tuple(np.searchsorted(np.cumsum(law), middle).clip(0, last) for law in (p, q)), np.diff(edges))
    return joint


def declared_cells(name: str) -> tuple[Bets, Array, Array]:
    """The bets of the declared loss as an audit makes them, and the law of its cells when the declaration is true."""
    plan = plan_of(name)
    density, pair = plan.declared, plan.pairs[0].answers
    assert density is not None and pair is not None
    laws = [density.law(*pair, scale) for scale in (1.0, *SCALES)]
    p, q = laws[0] or (np.empty(0), np.empty(0))
    return mixture(len(p), plan.curve, alternatives=[law for law in laws[1:] if law]), p, q


def of_declared_loss(name: str, join: Callable[[Array, Array], Array], rng: np.random.Generator) -> int:
    """Bets on the declared loss."""
    bets, p, q = declared_cells(name)
    return bets_alarms(bets, join(p, q), rng)


def of_cells(p: Sequence[float], q: Sequence[float], point: CurvePoint, rng: np.random.Generator) -> int:
    """Generic bets on a law of cells that the claim just allows."""
    return bets_alarms(mixture(len(p), [point]), np.outer(p, q), rng)


def of_representation(rng: np.random.Generator) -> int:
    """Bets on which answer can give a float: a randomized response of 2^-60, which only 0 plus noise can be, and 1/2."""
    (partition,) = float_partitions(np.zeros(1), np.ones(1), np.float64)
    probe = partition.codes(Outputs(np.array([[2.0**-60], [0.5]])))
    p, q = np.zeros(partition.size), np.zeros(partition.size)
    np.add.at(p, probe, [0.75, 0.25])
    np.add.at(q, probe, [0.25, 0.75])
    return bets_alarms(mixture(partition.size, [CurvePoint(math.log(3))]), np.outer(p, q), rng)


def of_conformance(law: Law | None, rng: np.random.Generator) -> int:
    """Is the sampler the declared density? It is, looked at ten times. None: randomized response."""
    density = declared(Claim(RESPONSE, parse("log(3)")) if law is None else law.claim())
    assert density is not None
    answer = density.worst_pairs()[0][0]
    tester, found = conformance(density, answer), 0
    sample = respond if law is None else law.sampler()
    looks = np.geomspace(64, 4096, 10).astype(int)
    for _ in range(CHUNK):
        outputs = encode(sample(answer, 4096, rng), 4096)
        total: Any = 0
        ever = False
        for start, end in zip([0, *looks[:-1]], looks, strict=True):
            total = total + tester.statistics(outputs[start:end])
            ever |= tester.log_wealth(total, int(end))[0] >= -math.log(ALPHA)
        found += ever
    return found


def of_ties(rounded: Callable[[Array], Array], rng: np.random.Generator) -> int:
    """Do outputs repeat more than they may? Laplace noise as it is, or rounded to a grid."""
    law, answer = LAWS["Laplace"], np.array([1.0])
    density = declared(law.claim())
    assert density is not None
    found = 0
    for _ in range(CHUNK):
        test, ever = ties(density, answer), False
        assert test is not None
        for _ in range(8):
            test = test.merge(encode(rounded(law.sampler()(answer, 500, rng)), 500))
            ever |= test.log_wealth()[0] >= -math.log(ALPHA)
        found += ever
    return found


def of_learned(name: str, rng: np.random.Generator) -> int:
    """A partition learned from 1,000 pairs, and bets on the 4,000 after them."""
    null, plan, found = nulls()[name], plan_of(name), 0
    for _ in range(CHUNK):
        left, right = (encode(null.sampler(data, 5008, rng), 5008) for data in (plan.pairs[0].left, plan.pairs[0].right))
        partition = learn(left[:1000], right[:1000], seed=0)
        if partition is not None:
            counts = np.cumsum(joint_counts(partition, left[1008:], right[1008:], 50), axis=0)
            found += bool((mixture(partition.size, plan.curve).log_wealth(counts) >= -math.log(ALPHA)).any())
    return found


@cache
def lower_bound(hits_p: int, hits_q: int, n: int, delta: float) -> float:
    """The exact bound from n runs a side."""
    return bounds.epsilon_lower_bound(hits_p, n, hits_q, n, confidence=1 - ALPHA, delta=delta)


def of_fixed_bound(q: float, delta: float, rng: np.random.Generator) -> int:
    """How often the fixed-sample bound is above the true epsilon, 1."""
    n, p = 1000, math.e * q + delta
    hits = zip(rng.binomial(n, p, CHUNK).tolist(), rng.binomial(n, q, CHUNK).tolist(), strict=True)
    return sum(lower_bound(a, b, n, delta) > 1 for a, b in hits)


def of_anytime_bound(delta: float, rng: np.random.Generator) -> int:
    """How often the anytime-valid bound is above the true epsilon, log 3, at the look where that has lost most."""
    p, q = ([1 - delta - 0.75 * (1 - delta), 0.75 * (1 - delta) + delta], [0.75 * (1 - delta) + delta, 0.25 * (1 - delta)])
    q = [1 - (p[1] - delta) / 3, (p[1] - delta) / 3]
    bets = mixture(2, [CurvePoint(math.log(3), delta)])
    steps, found = np.diff(LOOKS, prepend=0), 0
    for _ in range(CHUNK):
        counts = np.cumsum(rng.multinomial(steps, np.outer(p, q).ravel()), axis=0).reshape(-1, 2, 2)
        worst = counts[int(np.argmax(bets.log_wealth(counts)))]
        found += bounds.epsilon_anytime(worst, confidence=1 - ALPHA, delta=delta) > math.log(3)
    return found


@cache
def single_tests() -> Mapping[str, Callable[[np.random.Generator], int]]:
    """Each test by itself on what it must not refute: alarms in CHUNK runs."""
    log3 = CurvePoint(math.log(3))
    return {
        "bets: declared loss, Laplace": partial(of_declared_loss, "Laplace", np.outer),
        "bets: declared loss, directions swapped": partial(of_declared_loss, "Laplace", lambda p, q: np.outer(q, p)),
        "bets: declared loss, one random number for both runs": partial(of_declared_loss, "Laplace", coupled),
        "bets: declared loss, Gaussian at (1, delta)": partial(of_declared_loss, "Gaussian, (1, delta)", np.outer),
        "bets: declared loss, Gaussian by its curve": partial(of_declared_loss, "Gaussian, by its curve", np.outer),
        "bets: declared loss, discrete Laplace": partial(of_declared_loss, "discrete Laplace", np.outer),
        "bets: generic, randomized response": partial(of_cells, (0.25, 0.75), (0.75, 0.25), log3),
        "bets: generic, rare event": partial(of_cells, (0.997, 0.003), (0.999, 0.001), log3),
        "bets: generic, zero counts: 0 against delta": partial(of_cells, (0.95, 0.05), (1.0, 0.0), CurvePoint(1.0, 0.05)),
        "bets: generic, cells that are always empty": partial(of_cells, (0.25, 0, 0, 0.75), (0.75, 0, 0, 0.25), log3),
        "bets: floating point": of_representation,
        "bets: learned generation, Laplace": partial(of_learned, "Laplace, black box"),
        "bets: learned generation, texts and None": partial(of_learned, "randomized response, texts and None"),
        **{f"conformance: {name}": partial(of_conformance, law) for name, law in LAWS.items()},
        "conformance: discrete Laplace": partial(of_conformance, INTEGERS),
        "conformance: randomized response": partial(of_conformance, None),
        "ties: Laplace in floats": partial(of_ties, np.asarray),
        "ties: Laplace on a grid of 2^-20": partial(of_ties, lambda y: np.round(y / GRID) * GRID),
        "ties: Laplace to five decimals": partial(of_ties, lambda y: np.round(y, 5)),
        "ties: Laplace to multiples of 1e-5": partial(of_ties, lambda y: np.round(y / 1e-5) * 1e-5),
        "fixed bound: q = 0.2": partial(of_fixed_bound, 0.2, 0.0),
        "fixed bound: q = 0.003": partial(of_fixed_bound, 0.003, 0.0),
        "fixed bound: q = 0.1, delta = 0.05": partial(of_fixed_bound, 0.1, 0.05),
        "fixed bound: zero counts, q = 0, delta = 0.05": partial(of_fixed_bound, 0.0, 0.05),
        "anytime bound: delta = 0": partial(of_anytime_bound, 0.0),
        "anytime bound: delta = 0.05": partial(of_anytime_bound, 0.05),
    }


def one_chunk(name: str, seed: int) -> int:
    """The alarms of one generator's runs."""
    return single_tests()[name](np.random.default_rng(seed))


def testers() -> Iterator[str]:
    """Each test by itself."""
    runs = len(CHUNKS) * CHUNK
    most = most_alarms(runs)
    yield f"Each test with the whole of alpha = {ALPHA} to itself, on what it must not refute, with equality where there is one;"
    yield f"generators of {seeds_text(CHUNKS)}, {CHUNK} runs each. Bets are looked at {len(LOOKS)} times in {LOOKS[-1]:,} pairs,"
    yield "other tests that may be looked at any time 8 times or more, and an alarm at any look counts."
    yield f"Promised: at most alpha plus three standard errors, {most:.4f}."
    yield ""
    yield "| test and null | runs | alarms | share | s.e. | kept |"
    yield "|---|---|---|---|---|---|"
    for name in single_tests():
        count = sum(spread(partial(one_chunk, name), CHUNKS))
        share = count / runs
        yield f"| {name} | {runs} | {count} | {share:.4f} | {math.sqrt(share * (1 - share) / runs):.4f} | {kept(share <= most)} |"


def stated() -> Iterator[str]:
    """Whether what an audit says that it would have found is found."""
    yield "An audit of normal noise that claims its tight epsilon at a delta says what it would have found. Then as many runs"
    yield f"({len(STATED_SEEDS)}, {seeds_text(STATED_SEEDS)}) of noise so much smaller that its epsilon at this delta is just that; 99.9 %,"
    yield f"at most {STATED_PAIRS:,} pairs. Promised: found in nine of ten."
    yield ""
    yield "| sigma | claimed | delta | box | would have found | sigma of that | found | kept |"
    yield "|---|---|---|---|---|---|---|---|"
    for sigma, epsilon in STATED:
        for white in (True, False):
            delta = normal_delta(epsilon, 1 / sigma)
            first = stated_run(sigma, epsilon, white, sigma, STATED_SEEDS[0] - 1)
            least = max(first.detectable_epsilon or 0.0, epsilon)
            smaller = optimize.brentq(lambda s: normal_delta(least, 1 / s) - delta, sigma / 20, sigma)  # noqa: B023
            found = sum(spread(partial(stated_found, sigma, epsilon, white, smaller), STATED_SEEDS))
            share = found / len(STATED_SEEDS)
            cells = (sigma, epsilon, f"{delta:.3g}", "white" if white else "black", f"{least:.4f}", f"{smaller:.4f}", f"{share:.3f}")
            yield f"| {' | '.join(map(str, cells))} | {kept(share >= POWER)} |"


def normal_delta(epsilon: float, mu: float) -> float:
    """The tight delta of normal noise, mu its sensitivity over its standard deviation (Balle & Wang 2018)."""
    return float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu))


def stated_run(sigma: float, epsilon: float, white: bool, drawn: float, seed: int, pairs: int | None = None) -> Finding:
    """What an audit of the claim says of noise of the standard deviation `drawn`: of the model."""
    delta = parse(repr(normal_delta(epsilon, 1 / sigma) * (1 + 1e-9)))
    noise = Translation(parse(f"exp(-z**2/{2 * Fraction(str(sigma)) ** 2})"))
    claim = Claim(noise if white else Sampled(), parse(repr(epsilon)), delta, parse("1"))

    def sample(data: Any, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(np.round((data[0] + rng.normal(0, drawn, size)) / GRID) * GRID)

    inputs: dict[str, Any] = {} if white else {"pairs": [([0.0], [1.0])]}
    finding = audit(sample, claim, **inputs, samples=pairs or STATED_PAIRS, confidence=SURE, seed=seed)
    found = of_level(finding, MODEL)
    return next(one for one in (finding, *finding.also) if one.finding != VIOLATION) if found is None else found


def stated_found(sigma: float, epsilon: float, white: bool, drawn: float, seed: int, pairs: int | None = None) -> bool:
    """Whether the model is refuted."""
    return stated_run(sigma, epsilon, white, drawn, seed, pairs).finding == VIOLATION


PARTS: Final[Mapping[str, tuple[str, Callable[[], Iterator[str]]]]] = {
    "pairs": ("Noise 10 % too small", pairs),
    "half": ("Half noise", half),
    "conformance": ("Conformance", conforming),
    "floats": ("Naive floating-point samplers", floats),
    "clean": ("Samplers without a fault", clean),
    "alarms": ("False alarms of whole audits", alarms),
    "testers": ("False alarms of each test", testers),
    "stated": ("What would have been found", stated),
}


def main(arguments: Sequence[str]) -> int:
    """Print the sections of the parts as they are measured, and put them into the report."""
    unknown = [part for part in arguments if part not in PARTS]
    if unknown:
        print(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    old = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    sections = {title: body.strip() for title, body in re.findall(r"^## (.*)\n([^#]*)", old, re.MULTILINE)}
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, scipy {scipy.__version__}"
    for part in arguments or PARTS:
        title, measure = PARTS[part]
        print(f"\n## {title}\n", flush=True)
        started, lines = time.perf_counter(), []
        for line in measure():
            print(line, flush=True)
            lines.append(line)
        took = f"{time.perf_counter() - started:.0f} s on {WORKERS} processes"
        sections[title] = "\n".join([f"`python bench/power.py {part}`, {versions}, {took}.", *lines])
        body = "\n\n".join(f"## {title}\n\n{sections[title]}" for title, _ in PARTS.values() if title in sections)
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(f"# The power of audits, and their false alarms\n\n{body}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

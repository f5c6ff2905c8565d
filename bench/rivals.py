"""Decision procedures of other black-box auditors, on equal terms: what each of them gets out of n samples a side.

Written anew from the papers and reduced to what decides: which event is chosen, and which bound is stated. Every procedure gets the
same pairs of inputs, n samples a side over all of them and both orders, and states a lower bound on epsilon (nats, delta = 0) at the
same confidence. Where a procedure spends separate samples on a search, half of n go there, evenly over the pairs, and half to its bound.

statdp         Ding, Wang, Wang, Zhang & Kifer, CCS 2018, with the postprocessings of the DP-Sniper evaluation
dp_sniper      Bichsel, Steffen, Bogunovic & Vechev, S&P 2021, logistic regression, c = 0.01
dp_auditorium  Kong, Munoz Medina, Ribero & Syed, 2024, hockey-stick tester with its default network
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta, hypergeom

Array = np.ndarray[Any, Any]
Draw = Callable[[Any, int], Array]  # (data, size) -> (size, d) of float64
Pairs = Sequence[tuple[Any, Any]]


def lower(count: int, n: int, alpha: float) -> float:
    """The one-sided lower bound of Clopper and Pearson."""
    return float(beta.ppf(alpha, count, n - count + 1)) if count else 0.0


def upper(count: int, n: int, alpha: float) -> float:
    """The one-sided upper bound of Clopper and Pearson."""
    return float(beta.ppf(1 - alpha, count + 1, n - count)) if count < n else 1.0


def log_ratio(first: int, second: int, n: int, alpha: float) -> float:
    """A lower bound on log(P/Q) from counts among n samples each, alpha halved between P and Q."""
    p = lower(first, n, alpha / 2)
    return math.log(p / upper(second, n, alpha / 2)) if p > 0 else 0.0


# -- DP-Sniper ---------------------------------------------------------------------------------------


def _flags(outputs: Array, special: Sequence[float]) -> Array:
    """Special values become 0, with a column of flags for each."""
    is_special = np.isin(outputs, special)
    return np.hstack([np.where(is_special, 0.0, outputs), *(outputs == value for value in special)])


def _logistic(first: Array, second: Array, weight: float = 0.001) -> Callable[[Array], Array]:
    """Ridge logistic regression on standardised features: the log odds of the first class."""
    x = np.vstack([first, second])
    y = np.repeat([1.0, -1.0], [len(first), len(second)])
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1
    x = np.hstack([(x - mean) / scale, np.ones((len(x), 1))])

    def loss(w: Array) -> tuple[float, Array]:
        margin = y * (x @ w)
        return float(np.logaddexp(0, -margin).mean() + weight * w @ w), 2 * weight * w - x.T @ (y * expit(-margin)) / len(x)

    w = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda z: np.round(((z - mean) / scale) @ w[:-1] + w[-1], 9)  # so that equal outputs tie whatever the order of summation


def dp_sniper(
    draw: Draw, pairs: Pairs, n: int, confidence: float, rng: np.random.Generator, special: Sequence[float], c: float = 0.01
) -> float:
    """A classifier tells the inputs apart; the event is the fraction c of the outputs on x' that look most like x, ties split at random.

    Of the search, a third each trains the classifier, sets the threshold and ranks the pairs; the bound is Clopper and Pearson's.
    """
    part = n // (6 * len(pairs))

    def count(outputs: Array, event: tuple[Callable[[Array], Array], float, float]) -> int:
        score, threshold, share = event
        s = score(_flags(outputs, special))
        return int(np.count_nonzero((s > threshold) | ((s == threshold) & (rng.random(len(s)) < share))))

    best: tuple[float, Any, Any, Any] = (-math.inf, None, None, None)
    for pair in pairs:
        parts = [np.split(draw(data, 3 * part), 3) for data in pair]
        for a, b in ((0, 1), (1, 0)):
            score = _logistic(_flags(parts[a][0], special), _flags(parts[b][0], special))
            scores = np.sort(score(_flags(parts[b][1], special)))[::-1]
            threshold = float(scores[min(math.floor(c * part), part - 1)])
            share = (c * part - np.count_nonzero(scores > threshold)) / np.count_nonzero(scores == threshold)
            event = (score, threshold, float(share))
            bound = log_ratio(count(parts[a][2], event), count(parts[b][2], event), part, 1 - confidence)
            if bound > best[0]:
                best = bound, pair[a], pair[b], event
    _, x, other, event = best
    return max(0.0, log_ratio(count(draw(x, n // 2), event), count(draw(other, n // 2), event), n // 2, 1 - confidence))


# -- StatDP ------------------------------------------------------------------------------------------


def _statistics(outputs: Array, special: Sequence[float]) -> Iterator[tuple[Array, ...]]:
    """The postprocessings: for one number itself; else entries, mean, least, largest, counts of categories; for mixed outputs both."""
    if outputs.shape[1] == 1:
        yield (outputs[:, 0],)
        return
    is_special = np.isin(outputs, special)
    categories = [*special, *(() if np.any(~is_special & (outputs % 1 != 0)) else (0.0, 1.0))]
    counts = [(outputs == value).sum(axis=1) for value in categories]
    yield from ((column,) for column in counts)
    if len(categories) > len(special):
        return
    numbers = np.where(is_special, np.nan, outputs)
    few = np.all(is_special, axis=1)
    numbers[few] = 0.0
    numerical = [*np.where(is_special, 0.0, outputs).T, np.nanmean(numbers, axis=1), np.nanmin(numbers, axis=1), np.nanmax(numbers, axis=1)]
    yield from ((column,) for column in numerical)
    yield from ((count, number) for count in counts for number in numerical)


def _events(both: Array) -> list[tuple[float, float]]:
    """The events of one statistic as half-open intervals: each category, or ten rays that end in the densest 70 %."""
    values = np.unique(both)
    if len(values) < 0.001 * len(both):
        return [(float(value), float(np.nextafter(value, math.inf))) for value in values]
    ordered = np.sort(both)
    width = int(0.7 * len(ordered))
    start = int(np.argmin(ordered[width:] - ordered[:-width]))
    return [(-math.inf, float(end)) for end in np.linspace(ordered[start], ordered[start + width], 10)]


def statdp(draw: Draw, pairs: Pairs, n: int, confidence: float, rng: np.random.Generator, special: Sequence[float]) -> float:
    """Half of the samples choose the event, half test it: Fisher's exact test after thinning by exp(-eps), averaged over 200 thinnings.

    The bound is the largest epsilon that is rejected, with the event chosen again for every epsilon as there (by a two-sample z-score,
    which orders events as their p-values do).
    """
    part, rest = n // (2 * len(pairs)), n // 2
    table: list[tuple[int, int, tuple[Any, ...]]] = []
    for pair in pairs:
        sides = [list(_statistics(draw(data, part), special)) for data in pair]
        for index, (first, second) in enumerate(zip(*sides, strict=True)):
            axes = [_events(np.concatenate(columns)) for columns in zip(first, second, strict=True)]
            for box in [(event,) for event in axes[0]] if len(axes) == 1 else [(a, b) for a in axes[0] for b in axes[1]]:
                x, y = (_count(columns, box) for columns in (first, second))
                table += [(x, y, (*pair, index, box)), (y, x, (*pair[::-1], index, box))]
    counts = np.array([entry[:2] for entry in table], float)
    tested: dict[int, tuple[int, int]] = {}

    def p_value(epsilon: float) -> float:
        x, y = counts[:, 0] * math.exp(-epsilon), counts[:, 1]
        score = np.where(counts.sum(axis=1) > 0.001 * part * math.exp(epsilon), (x - y) / np.sqrt(x + y + 1), -math.inf)
        chosen = int(np.argmax(score))
        if score[chosen] == -math.inf:
            return 1.0
        if chosen not in tested:
            data, other, index, box = table[chosen][2]
            draws = (list(_statistics(draw(side, rest), special))[index] for side in (data, other))
            first, second = (_count(columns, box) for columns in draws)
            tested[chosen] = first, second
        first, second = tested[chosen]
        thinned, times = np.unique(rng.binomial(first, math.exp(-epsilon), 200), return_counts=True)
        return float(times @ hypergeom.sf(thinned - 1, 2 * rest, rest, thinned + second)) / 200

    low, high = 0.0, 16.0
    if p_value(low) > 1 - confidence:
        return 0.0
    while high - low > 1e-4 * max(1.0, low):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) <= 1 - confidence else (low, middle)
    return low


def _count(columns: tuple[Array, ...], box: tuple[tuple[float, float], ...]) -> int:
    inside = [(low <= column) & (column < high) for column, (low, high) in zip(columns, box, strict=True)]
    return int(np.count_nonzero(np.logical_and.reduce(inside)))


# -- DP-Auditorium -----------------------------------------------------------------------------------


def _network(
    x: Array, y: Array, rng: np.random.Generator, epochs: int = 2, batch: int = 100, rate: float = 0.01
) -> Callable[[Array], Array]:
    """Three layers of twelve rectified units and a logit, cross-entropy, Adam; standardised inputs."""
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1
    sizes = [x.shape[1], 12, 12, 12, 1]
    shapes = list(pairwise(sizes))
    weights = [rng.uniform(-1, 1, shape) * math.sqrt(6 / sum(shape)) for shape in shapes] + [np.zeros(size) for size in sizes[1:]]
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]

    def forward(z: Array) -> list[Array]:
        layers = [(z - mean) / scale]
        for index in range(4):
            z = layers[-1] @ weights[index] + weights[4 + index]
            layers.append(np.maximum(z, 0) if index < 3 else z)
        return layers

    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch):
            chosen = order[start : start + batch]
            layers = forward(x[chosen])
            error = (expit(layers[-1]) - y[chosen, None]) / len(chosen)
            gradients: dict[int, Array] = {}
            for index in range(3, -1, -1):
                gradients[index], gradients[4 + index] = layers[index].T @ error, error.sum(axis=0)
                error = (error @ weights[index].T) * (layers[index] > 0)
            step += 1
            for key, gradient in gradients.items():
                first, second = moments[key]
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient**2 - second)
                weights[key] -= rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-7)
    return lambda z: forward(z)[-1][:, 0]


def _mixed(first: Array, second: Array, epsilon: float) -> tuple[Array, Array]:
    """Label 0 with probability 1/(1 + e^eps) from x, else label 1 from x': a fixed share of each."""
    cut = int(len(first) / (1 + math.exp(epsilon)))
    return np.concatenate([first[:cut], second[cut:]]), np.repeat([0.0, 1.0], [cut, len(second) - cut])


def dp_auditorium(
    draw: Draw, pairs: Pairs, n: int, confidence: float, rng: np.random.Generator, special: Sequence[float], claimed: float
) -> float:
    """A network learns to tell labels apart on half of the samples; its accuracy on the others, less Hoeffding's margin, bounds delta(eps).

    The bound is the largest epsilon of an ascending grid at which all delta(eps) so far are above 0 (one test after the other, so that no
    correction is needed), the network's logit moved by the change of the prior; the failure probability is divided over pairs and orders.
    """
    part = n // (2 * len(pairs))
    margin = math.sqrt(math.log(2 * len(pairs) / (1 - confidence)) / (2 * part))
    best = 0.0
    for pair in pairs:
        sides = [_flags(draw(data, 2 * part), special) for data in pair]
        for first, second in (sides, sides[::-1]):
            logit = _network(*_mixed(first[:part], second[:part], claimed), rng)
            logits = logit(first[part:]), logit(second[part:])
            for epsilon in np.arange(0, 16, 0.005):
                scores, labels = _mixed(*logits, epsilon)
                accuracy = float(np.mean((scores + epsilon - claimed > 0) == labels)) - margin
                if accuracy * (1 + math.exp(epsilon)) <= math.exp(epsilon):
                    break
                best = max(best, float(epsilon))
    return best

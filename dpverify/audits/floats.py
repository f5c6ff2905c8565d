"""Leaks that only the representation of floats makes: values that a true answer plus floating-point noise cannot give.

A float is a multiple of a grid that is coarse far from 0 and fine near it, so fl(x + noise) near 0 lies on the grid of x, whatever the
law of the noise (Mironov 2012). For x' = 1 every |y| < 1/2 is a multiple of 2^-53 (the sum is exact there, Sterbenz 1974), while
x = 0 gives finer values too: S = {|y| < 1/2, 2^53 y not an integer} has Q(S) = 0 for certain, and P(S) = 0.27 for Laplace noise of scale 1.
Nothing here is more than a partition fixed before the data that it counts: a finding still needs P(S) > e^epsilon Q(S) + delta.

What tells this level from the model's: among the outputs on x' near the event, at least half fall in S under any smooth law that is
rounded once, as the last bits of a rounded smooth variable are fair coins. `log_evidence` bets against that half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import betainc, betaln

from dpverify.audits.outputs import Outputs
from dpverify.audits.partition import Codes, Counts, Partition
from dpverify.audits.tails import rarer_tails

Array = np.ndarray[Any, Any]
Formats = tuple[type[np.floating[Any]], type[np.floating[Any]]]

FORMATS: Final[tuple[Formats, ...]] = ((np.float32, np.float32), (np.float64, np.float32), (np.float64, np.float64))
"""The formats of (sum, noise) that are told apart, coarsest first."""


# -- pairs ---------------------------------------------------------------------------------------


def float_pairs(sensitivity: float, dimension: int, accept: Callable[[Array, Array], bool]) -> list[tuple[Array, Array]]:
    """At most 4 pairs of true answers (x, x') at which a leak of the representation shows, shape (dimension,) each.

    0 against a coarse binade; 0 against a full mantissa; full against short mantissa; in several dimensions also 0 against a move of
    all coordinates, the largest of D, D/sqrt(d), D/d that is accepted.
    sensitivity: how far neighbours are apart, in the claim's norm; accept: whether a pair is one of neighbours. It has the last word.
    """
    first = np.zeros(dimension)
    first[0] = 1.0
    everywhere = [np.full(dimension, sensitivity / share) for share in (1.0, np.sqrt(dimension), float(dimension))] if dimension > 1 else []
    zero = np.zeros(dimension)
    third = sensitivity / 3.0
    candidates = [
        (zero, first * sensitivity),
        *[(zero, moved) for moved in everywhere if accept(zero, moved)][:1],
        (zero, first * (2.0 * third)),
        (first * third, first * sensitivity),
    ]
    return [(x, x_prime) for x, x_prime in candidates if accept(x, x_prime)]


# -- partitions fixed beforehand -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reach:
    """Which of two true answers can give an output by one floating-point addition of noise.

    The cells, in order: 0 and 1 from x' alone, 2 where x' cannot give all floats nearby but can give this, 3 neither speaks,
    4 as 2 for x, 5 and 6 from x alone. In 0 and 2 (6 and 4) floats nearby are out of reach of x' (x).
    x, x_prime: the coordinates where the true answers differ; columns: which numbers of an output they are.
    """

    x: tuple[float, ...]
    x_prime: tuple[float, ...]
    columns: tuple[int, ...]
    formats: tuple[Formats, ...] = FORMATS

    @property
    def size(self) -> int:
        """Seven."""
        return 7

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; 3 for outputs that do not have these coordinates."""
        codes = np.full(len(outputs), 3, dtype=np.uint8)
        if outputs.numbers.shape[1] <= max(self.columns):
            return codes
        y = outputs.numbers[:, self.columns]
        left = np.array(self.x)
        right = np.array(self.x_prime)
        todo = np.arange(len(y))
        for kind in self.formats:
            part = y[todo]
            from_x, from_x_prime = _reached(part, left, kind), _reached(part, right, kind)
            known = from_x | from_x_prime
            codes[todo[known]] = _cells(part[known], left, right, kind, from_x[known], from_x_prime[known])
            todo = todo[~known]
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        x, x_prime = (repr(point[0]) if len(point) == 1 else repr(point) for point in (self.x, self.x_prime))
        if low >= 4:
            here, there, some = x, x_prime, low == 4
        elif high <= 3:
            here, there, some = x_prime, x, high == 3
        else:
            here, there, some = f"{x} or {x_prime}", "the other", low <= 2 < high or low <= 4 < high
        part = "y" if len(self.columns) == 1 else f"y[{', '.join(map(str, self.columns))}]"
        event = f"{part} is a float that {here} + noise can round to, and {there} + noise cannot produce"
        return event + (", or produces with gaps nearby" if some else "")


def float_partitions(x: Array, x_prime: Array, dtype: np.dtype[Any] | type[Any]) -> tuple[Partition, ...]:
    """The partitions for outputs of `dtype` on true answers x and x', fixed before any data; none where the outputs are no floats.

    Both directions are covered by the one partition, and noise of either precision: an output is judged in the coarsest format of
    sum and noise in which either answer can give it.
    """
    kind = np.dtype(dtype)
    columns = tuple(int(i) for i in np.flatnonzero(np.ravel(x) != np.ravel(x_prime)))
    if kind.kind != "f" or not columns:
        return ()
    left, right = (tuple(float(np.ravel(point)[i]) for i in columns) for point in (x, x_prime))
    return (Reach(left, right, columns, FORMATS if kind.itemsize == 8 else FORMATS[:1]),)


def _reached(y: Array, center: Array, kind: Formats) -> Array:
    """Whether y is fl(center + n) in all coordinates for some n: true exactly if it is for the n next to y - center."""
    total, noise = kind
    with np.errstate(all="ignore"):
        rounded, origin = y.astype(total), center.astype(total)
        n = (rounded - origin).astype(noise).astype(total)
        return np.asarray(np.all((rounded == y) & (origin + n == rounded), axis=1))


def _cells(y: Array, x: Array, x_prime: Array, kind: Formats, from_x: Array, from_x_prime: Array) -> Array:
    """The cells of outputs that at least one of the answers can give in this format."""
    total = kind[0]
    word = np.uint32 if total is np.float32 else np.uint64
    odd = np.bitwise_or(np.ascontiguousarray(y.astype(total)).view(word), word(1)).view(total)  # a float nearby, as fine as they come
    gaps_x, gaps_x_prime = ~_reached(odd, x, kind), ~_reached(odd, x_prime, kind)
    cells = 3 + gaps_x.astype(np.int8) - gaps_x_prime.astype(np.int8)  # where both can give it
    return np.select([~from_x_prime, ~from_x], [np.where(gaps_x, 6, 5), np.where(gaps_x_prime, 0, 1)], cells).astype(np.uint8)


def log_evidence(counts: Counts) -> tuple[float, float]:
    """Log wealth, for the events of x and of x' in a `Reach`, of a bet that the representation makes the event and no smooth law.

    counts: 7 x 7 joint counts. A law that is smooth at the scale of the last bits and rounded once gives, near an event, outputs in
    the event (s) at least as often as others (f). The likelihood ratio of a uniform share below 1/2 against 1/2,
    2^(s + f + 1) B_{1/2}(s + 1, f + 1), is then a supermartingale: it passes 1/a with probability at most a, at any stopping time.
    To be asked beside the wealth against the claim, which alone decides that there is a violation: this says of which level.
    """
    right, left = counts.sum(axis=0), counts.sum(axis=1)
    return _below_half(int(right[5] + right[6]), int(right[2] + right[0])), _below_half(int(left[0] + left[1]), int(left[4] + left[6]))


def _below_half(successes: int, failures: int) -> float:
    """Log of the average of p^s (1 - p)^f / 2^-(s + f) over p uniform in (0, 1/2)."""
    share = betainc(successes + 1, failures + 1, 0.5)
    if share <= 0.0:
        return -np.inf
    return float((successes + failures + 1) * np.log(2.0) + betaln(successes + 1, failures + 1) + np.log(share))


# -- partitions learned from past outputs --------------------------------------------------------

BINADES: Final = 128  # exponents from -64 to 63, others to the nearest
SHORT: Final = 20  # mantissas up to this many bits are the model's business: rounding to a grid, integers
EDGES: Final = np.array([-2.0, -0.7, -1e-9, 1e-9, 0.7, 2.0])
SIGNIFICANT: Final = 1e-3


@dataclass(frozen=True, slots=True)
class LowestBits:
    """Seven cells by how much an output's lowest set bits, given its binade, spoke for x against x' in the past.

    scores: (width, BINADES, classes) log ratios, summed over the coordinates; a class is the number of bits that a mantissa uses.
    """

    scores: Array

    @property
    def size(self) -> int:
        """Seven."""
        return len(EDGES) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output; the middle one for outputs of another width."""
        width = len(self.scores)
        total = np.zeros(len(outputs))
        if outputs.numbers.shape[1] == width:
            for i in range(width):
                total += self.scores[(i, *_bits(outputs.numbers[:, i]))]
        return np.searchsorted(EDGES, total).astype(np.uint8)

    def describe(self, low: int, high: int) -> str:
        """The event in words, with the binades and bits that count most."""
        side, scores = ("x", self.scores) if high == self.size else ("x'", -self.scores)
        bound = EDGES[low - 1] if high == self.size else -EDGES[high - 1]
        strongest = [np.unravel_index(place, scores.shape) for place in np.argsort(scores, axis=None)[:-4:-1]]
        words = [
            f"2^{binade - BINADES // 2} <= |y[{i}]| < 2^{binade - BINADES // 2 + 1} with {bits + SHORT} bits after the first"
            for i, binade, bits in strongest
            if scores[i, binade, bits] > 0.0
        ]
        return f"the lowest set bits of y within its binade speak for {side} by more than {bound:.1g}, most of all {'; '.join(words)}"


@dataclass(frozen=True, slots=True)
class Repeats:
    """Three cells: long mantissas met before on x' alone, others, met before on x alone. Noise with few values repeats itself.

    only_left, only_right: sorted values of one coordinate.
    """

    column: int
    only_left: Array
    only_right: Array

    @property
    def size(self) -> int:
        """Three."""
        return 3

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output."""
        if outputs.numbers.shape[1] <= self.column:
            return np.ones(len(outputs), dtype=np.uint8)
        y = outputs.numbers[:, self.column]
        return (1 + _among(y, self.only_left).astype(np.int8) - _among(y, self.only_right).astype(np.int8)).astype(np.uint8)

    def describe(self, low: int, high: int) -> str:
        """The event in words."""
        side, other, values = ("x", "x'", self.only_left) if high == self.size else ("x'", "x", self.only_right)
        of = f"y[{self.column}]" if self.column else "y"
        if high - low == 1:
            return f"{of} is one of {len(values)} values, such as {float(values[0])!r}, met before on {side} and never on {other}"
        return f"{of} is none of the values met before on {other} and never on {side}"


def learn_float(left: Outputs, right: Outputs) -> Partition | None:
    """The partition by representation that past outputs on x and x' suggest; None where they suggest none, as for correct samplers.

    Bits are compared within a binade, so that another law on the model level gives no score. To be used on outputs to come only.
    """
    if left.exact is not None or right.exact is not None:
        return None
    if left.numbers.dtype.kind != "f" or left.numbers.shape[1] != right.numbers.shape[1] or not left.numbers.shape[1]:
        return None
    learned = [p for p in (_learn_bits(left.numbers, right.numbers), _learn_repeats(left.numbers, right.numbers)) if p is not None]
    return max(learned, key=lambda p: np.mean(p.codes(left) > p.size // 2) + np.mean(p.codes(right) < p.size // 2), default=None)


def _bits(y: Array) -> tuple[Array, Array]:
    """Binade and number of mantissa bits used past SHORT, both as indices."""
    word = np.ascontiguousarray(y, dtype=np.float64).view(np.int64)
    mantissa = (word & ((1 << 52) - 1)) | (1 << 52)
    used = 53 - np.frexp((mantissa & -mantissa).astype(np.float64))[1]
    binade = ((word >> 52) & 0x7FF) - 1023 + BINADES // 2
    return np.clip(binade, 0, BINADES - 1), np.maximum(used - SHORT, 0)


def _learn_bits(left: Array, right: Array) -> LowestBits | None:
    """Log ratios of the classes within each binade, each drawn two standard errors towards 0."""
    scores = np.zeros((left.shape[1], BINADES, 53 - SHORT))
    significant = False
    for i in range(left.shape[1]):
        a, b = _table(left[:, i]), _table(right[:, i])
        all_a, all_b = a.sum(axis=1, keepdims=True) + 0 * a, b.sum(axis=1, keepdims=True) + 0 * b
        ratio = np.log((a + 0.5) * (all_b + 0.5) / ((b + 0.5) * (all_a + 0.5)))
        scores[i] = np.sign(ratio) * np.maximum(np.abs(ratio) - 2.0 * np.sqrt(1.0 / (a + 0.5) + 1.0 / (b + 0.5)), 0.0)
        asked = scores[i] != 0.0
        a, b, all_a, all_b = a[asked], b[asked], all_a[asked], all_b[asked]
        tails = rarer_tails(a, b, all_a, all_b)
        tests = 2 * scores.size  # cells that cannot be significant count too: which are asked depends on the data
        significant |= bool(np.any(tails * tests < SIGNIFICANT))
    return LowestBits(scores) if significant else None


def _table(y: Array) -> Array:
    """How often each class met each binade."""
    binade, bits = _bits(y)
    width = 53 - SHORT
    return np.bincount(binade * width + bits, minlength=BINADES * width).reshape(BINADES, width)


def _learn_repeats(left: Array, right: Array) -> Repeats | None:
    """The coordinate with the most long values that come again on their own side and hardly on the other."""
    best: Repeats | None = None
    most = 30
    for i in range(left.shape[1]):
        a, b = (part[_bits(part)[1] > 0] for part in (left[:, i], right[:, i]))
        half_a, half_b = len(a) // 2, len(b) // 2
        early_a, early_b = np.unique(a[:half_a]), np.unique(b[:half_b])
        own = int(_among(a[half_a:], early_a).sum()) + int(_among(b[half_b:], early_b).sum())
        cross = int(_among(b, early_a).sum()) + int(_among(a, early_b).sum())
        if own > most and 10 * cross < own:
            values_a, values_b = np.unique(a), np.unique(b)
            best = Repeats(i, np.setdiff1d(values_a, values_b, assume_unique=True), np.setdiff1d(values_b, values_a, assume_unique=True))
            most = own
    return best


def _among(y: Array, values: Array) -> Array:
    """Whether each number is one of the sorted values."""
    if not len(values):
        return np.zeros(len(y), dtype=bool)
    return np.asarray(values[np.minimum(np.searchsorted(values, y), len(values) - 1)] == y)

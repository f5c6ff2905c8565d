"""Mechanisms with finitely many outputs: tables, finite exponential mechanisms, k-ary randomized response.

Theorem: Two rows p, q of a finite mechanism have delta(eps) = sum over outputs of (p - e^eps q)_+, where an output that q cannot give adds
all of p. The greatest over all ordered pairs of adjacent rows is a maximum of convex functions of x = e^eps that do not rise, are 1 at x =
0 and at least (1 - x)_+, so it is such a function too and hence the profile of one pair of distributions; as every pair counts in both
orders, that pair's two orders have the same profile.

Checked:
- every row is a distribution, exactly
- which probabilities are zero
- scores differ, or points are apart, by at most the sensitivity where one is given

Source: docs/theory/curves.md#finite-curve, Zhu, Dong & Wang 2022, on which functions are profiles
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Mechanism
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.curves.faces import faces_of

NAME: Final = "finite-curve"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a finite mechanism.

    parameters: "row", the number of the pair of rows that the lower bound is of, the first without it; "prec". Raises Rejected, Undecided,
    CertificateError.
    """
    asked = leaf(run)
    facing = run.part.pair if isinstance(run.part, OnePair) else None
    return settled.noise(run, curve(asked.mechanism, parameters.get("row", 0), asked.sensitivity, facing), parameters)


def curve(noise: Mechanism, row: Any = 0, sensitivity: Expr | None = None, facing: tuple[int, int] | None = None) -> Curve:
    """The curve of a finite mechanism without free parameters, its inputs' adjacency its own.

    row: the number of the pair of rows for the lower bound, where no single pair is worst everywhere.
    sensitivity: of an exponential mechanism's scores, or the distance within which its points are neighbours.
    facing: two inputs, the first of which has the record, where these alone are spoken of.
    Raises Rejected as `tables.finite` does, and for another kind of mechanism, CertificateError for a row that is none.
    """
    faces = faces_of(noise, sensitivity)
    every = tuple(faces.all.values())
    if facing is not None:
        face, other = faces.facing(*facing), faces.facing(*reversed(facing))
        alone = Pair(face.profile, other.profile, rests=(face.rest, other.rest))
        return Curve(alone, alone, (NAME,), ASSUMED)
    if len(every) == 1:
        (face,) = every
        only = Pair(face.profile, face.profile, rests=(face.rest, face.rest))
        return Curve(only, only, (NAME,), ASSUMED)
    one = every[to_whole(row, "row", NAME, 0, len(every) - 1)]
    other = faces.swapped(one)
    lower = Pair(one.profile, other.profile, rests=(one.rest, other.rest))

    def at(epsilon: arb) -> arb:
        return reduce(arb.max, (face.at(epsilon) for face in every))

    return Curve(symmetric(falling(at)), lower, (NAME,), ASSUMED)

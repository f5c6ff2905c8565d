"""Compositions of mechanisms with finitely many outputs, exactly, also where each next pair of rows is chosen after the outputs so far.

Theorem: In an adaptive composition of finite mechanisms delta(eps) is at most F(e^eps), the greatest P(S) - e^eps Q(S) of an adversary who
chooses the next part, and two adjacent rows of it in either order, after seeing all outputs so far: F_0(a) = (1 - a)_+ and F_(j+1)(a) = max
over choices of sum over outputs of p F_j(a q/p). As a greatest of finitely many profiles F is convex in a, does not rise, is 1 at a = 0 and
at least (1 - a)_+, hence the profile of one pair; its two orders agree, as every choice may be swapped. From below, the product of one pair
of rows for each part is what two neighbours have. Both are the same where no part has two pairs.

Checked:
- every row is a distribution, exactly
- which probabilities are zero
- which products of ratios are formally equal
- the number of states is within reach

Source: docs/theory/composition.md#finite-composition, Zhu, Dong & Wang 2022, on which functions are profiles
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.parts.one_pair import OnePair
from dpverify.trusted.parts.runs import Run, leaf, merged, occurs
from dpverify.trusted.rules.composition.laws import Choice, dominating_pair, of_face, product_pair
from dpverify.trusted.rules.curves.faces import faces_of

NAME: Final = "finite-composition"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of a composition of finite mechanisms. Raises Rejected; Undecided where there are too many; CertificateError.

    parameters: "rows", where there is a lower bound and some part has several pairs of rows: the number of one pair for every run.
    """
    runs = merged(run.part, run.factor)
    return settled.together(run, settled.several(runs, curve([choice(inner) for inner in runs], runs, parameters, (NAME,), ASSUMED)))


def choice(run: Run) -> Choice:
    """The laws that one copy of a finite mechanism may have. Raises Rejected for what is none."""
    asked = leaf(run)
    faces = faces_of(asked.mechanism, asked.sensitivity)
    if isinstance(run.part, OnePair):
        law = of_face(faces, faces.facing(*run.part.pair))
        return Choice((law,), run.times, law.even)
    return Choice(tuple(of_face(faces, face) for face in faces.all.values()), run.times, True)


def curve(
    choices: Sequence[Choice], runs: Sequence[Run], parameters: Mapping[str, Any], rules: tuple[str, ...], assumed: tuple[str, ...]
) -> Curve:
    """The curve of copies with laws of some choices. Raises Undecided where there are too many, CertificateError for rows that are none."""
    occur = all(map(occurs, runs))
    if all(len(choice.laws) == 1 for choice in choices):
        only = product_pair([(choice.laws[0], choice.times) for choice in choices])
        return Curve(only, only if occur else None, rules, assumed)
    upper, rows = dominating_pair(choices), parameters.get("rows")
    if rows is None or not occur:
        return Curve(upper, None, rules, assumed)
    fine = isinstance(rows, list) and len(rows) == len(choices) and all(type(row) is int for row in rows)
    if not fine or not all(0 <= row < len(choice.laws) for row, choice in zip(rows, choices, strict=True)):
        raise CertificateError(f"{rules[0]}: 'rows' is not a list of the number of a pair of rows for each of {len(choices)} runs.")
    lower = product_pair([(choice.laws[row], choice.times) for row, choice in zip(rows, choices, strict=True)])
    return Curve(upper, lower, rules, assumed)

"""Selections of one form as streams that tell the same: above threshold, and noisy max where numbers are told (theory#every-word)."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel.expr import ONE, Expr, Sym, add, sub
from dpverify.trusted.kernel.model import AboveThreshold, Branch, Drawn, Guard, Named, NoisyMax, Stream
from dpverify.trusted.theories.selection.compared import Asked

MOST_CANDIDATES: Final = 8


def as_stream(question: Asked) -> Stream:
    """The mechanism. Raises Rejected for more candidates than are looked at."""
    mechanism = question.claim.mechanism
    assert isinstance(mechanism, NoisyMax | AboveThreshold | Stream)
    if isinstance(mechanism, Stream):
        return mechanism
    return _of_max(question, mechanism) if isinstance(mechanism, NoisyMax) else _of_threshold(mechanism)


def _of_max(question: Asked, mechanism: NoisyMax) -> Stream:
    """One step; of several that are the greatest, or the next, the one of least index."""
    count = range(question.count(mechanism.candidates, "candidates", MOST_CANDIDATES))
    names, noises = [f"q{i}" for i in count], [f"z{i}" for i in count]
    noisy = [add(Sym(name), Sym(noise)) for name, noise in zip(names, noises, strict=True)]

    def above(i: int, j: int) -> Guard:
        return Guard(sub(noisy[i], noisy[j]), strict=j < i)

    def branch(i: int, j: int | None, told: tuple[Expr, ...]) -> Branch:
        """The greatest is i, and the next is j, where that counts."""
        after = [k for k in count if k not in (i, j)]
        when = [above(i, k) for k in after] if j is None else [above(i, j), *(above(j, k) for k in after)]
        return Branch(tuple(when), "" if mechanism.report == "value" else str(i), told)

    if mechanism.report == "index+gap":
        steps = [branch(i, j, (sub(noisy[i], noisy[j]),)) for i in count for j in count if i != j]
    else:
        steps = [branch(i, None, (noisy[i],) if mechanism.report == "value" else ()) for i in count]
    fresh = tuple(Drawn(name, mechanism.noise) for name in noises)
    return Stream(tuple(names), (), fresh, (), (), tuple(steps), ONE, mechanism.neighbours, mechanism.hull, between=mechanism.bounds)


def _of_threshold(mechanism: AboveThreshold) -> Stream:
    """A threshold that is drawn again after a positive is drawn in each step, and kept where it is wanted."""
    again = mechanism.resample and mechanism.threshold_noise is not None
    noisy = add(Sym("q"), Sym("z")) if mechanism.query_noise is not None else Sym("q")
    level = mechanism.threshold if mechanism.threshold_noise is None else add(mechanism.threshold, Sym("kept" if again else "t"))
    told = {"answers": (), "answers+gap": (sub(noisy, level),), "answers+value": (noisy,), "fresh": (add(Sym("q"), Sym("w")),)}
    drawn = {"z": mechanism.query_noise, "w": mechanism.fresh, "next": mechanism.threshold_noise if again else None}
    positives = mechanism.positives
    yes = Branch(
        (Guard(sub(noisy, level)),),
        "yes",
        told[mechanism.report],
        (Named("kept", Sym("next")),) if again else (),
        () if positives is None else (Named("found", ONE),),
    )
    return Stream(
        ("q",),
        () if mechanism.threshold_noise is None else (Drawn("t", mechanism.threshold_noise),),
        tuple(Drawn(name, noise) for name, noise in drawn.items() if noise is not None),
        (Named("kept", Sym("t")),) if again else (),
        () if positives is None else (Named("found", positives),),
        (yes, Branch(emit="no")),
        mechanism.queries,
        mechanism.neighbours,
        between=mechanism.bounds,
    )

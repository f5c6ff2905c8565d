"""The laws of selections."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.catalogue.formulas import noise as laws
from dpverify.catalogue.formulas.boxes import Box, Ident, Op, Sub, Words, row
from dpverify.catalogue.formulas.pieces import EQUAL, matrix_named
from dpverify.catalogue.formulas.typeset import typeset
from dpverify.trusted.kernel.expr import ZERO, num
from dpverify.trusted.kernel.model import AboveThreshold, NoisyKeys, NoisyMax, NoisyVotes, OnLine, kind_of


def named_law(noise: OnLine | None, letter: str, said: str = "") -> Iterator[Box]:
    """A noise and its law. said: when it is drawn."""
    if noise is not None:
        law = list(getattr(laws, kind_of(noise))(noise))
        yield row(Words("with noise "), Ident(letter), Words(f"{said}, of the law " if said else " of the law "), law[0])
        yield from law[1:]


def noisy_max(mechanism: NoisyMax) -> Iterator[Box]:
    """What is told of the greatest answer."""
    told = {"index": "the index of the greatest of", "value": "the greatest of", "index+gap": "the index and the lead of the greatest of"}
    i = Ident("i")
    answers = row(Sub(Ident("q"), i), Op("+"), Sub(Ident("Z"), i))
    yield row(Words(f"{told[mechanism.report]} "), answers, Words(" for "), i, Words(" from 1 to "), typeset(mechanism.candidates))
    yield from named_law(mechanism.noise, "Z")
    if mechanism.ties:
        which = {"first": "the one of the least index", "random": "one at random, each as likely"}
        yield row(Words(f"of several that are the greatest {which[mechanism.ties]}"))
    if mechanism.hull:
        step = "the answers of neighbours differ by the sensitivity times a point of the hull of the rows of "
        yield row(Words(step), Ident("H"), Words(", or by its opposite"))
        yield matrix_named(Ident("H"), [list(map(num, line)) for line in mechanism.hull], "a row for each point")
    if mechanism.added:
        yield row(Words("with public numbers added to "), Sub(Ident("q"), i))
        yield matrix_named(Ident("c"), (mechanism.added,), "a number for each answer")


def above_threshold(mechanism: AboveThreshold) -> Iterator[Box]:
    """What is told of each answer."""
    i, t = Ident("i"), Ident("t")
    answer: Box = Sub(Ident("q"), i)
    level: Box = typeset(mechanism.threshold)
    noisy = answer if mechanism.query_noise is None else row(answer, Op("+"), Sub(Ident("Z"), i))
    yield row(Words("whether "), noisy, Op("≥"), t, Words(", for "), i, Words(" from 1 to "), typeset(mechanism.queries))
    yield row(t, EQUAL, level) if mechanism.threshold_noise is None else row(t, EQUAL, level, Op("+"), Ident("V"))
    told = {
        "answers": "",
        "answers+gap": "; of each that is, the difference",
        "answers+value": "; of each that is, the left side itself",
        "fresh": "; of each that is, the answer with fresh noise",
    }
    stop = (
        Words("no limit of those that are")
        if mechanism.positives is None
        else row(Words("until so many are: "), typeset(mechanism.positives))
    )
    said = (told[mechanism.report], "; the threshold is drawn again after each that is" if mechanism.resample else "")
    yield row(stop, *(Words(text) for text in said if text))
    yield from named_law(mechanism.threshold_noise, "V")
    yield from named_law(mechanism.query_noise, "Z")
    yield from named_law(mechanism.fresh, "W")


def noisy_keys(mechanism: NoisyKeys) -> Iterator[Box]:
    """What is told of each key that some record has."""
    i = Ident("i")
    noisy = row(Sub(Ident("c"), i), Op("+"), Sub(Ident("Z"), i))
    told = row(Words("the keys "), i, Words(" with their "), noisy) if mechanism.report == "counts" else row(Words("the keys "), i)
    yield row(
        told, Words(" for which "), Sub(Ident("c"), i), Op(">"), typeset(ZERO), Words(" and "), noisy, Op("≥"), typeset(mechanism.threshold)
    )
    yield row(Words("one record has at most so many keys: "), typeset(mechanism.keys))
    yield from named_law(mechanism.noise, "Z")


def noisy_votes(mechanism: NoisyVotes) -> Iterator[Box]:
    """What is told of each list, and the votes."""
    i, v = Ident("i"), Ident("v")
    yield row(Words("the "), i, Words(" of the greatest "), Sub(v, i), Op("+"), Sub(Ident("Z"), i), Words(", in each list of votes v"))
    yield matrix_named(v, [[num(entry) for entry in line] for line in mechanism.votes], "a row for each answer")
    yield row(Words("each "), Sub(Ident("Z"), i), Words(" normal with the deviation "), typeset(mechanism.sigma))

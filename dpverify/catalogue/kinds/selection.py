"""Selections: the greatest of several answers with noise, and which of them are above a noisy threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.toml import Fields, shorten, show
from dpverify.catalogue.values import read_matrix
from dpverify.trusted.claims.selections import REPORTS, TOGETHER
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import AboveThreshold, Compared, Matrix, NoisyKeys, NoisyMax, NoisyVotes, Selection, on_integers
from dpverify.trusted.sensitivity.steps_between import hull_of

MOVES: Final = {
    "all": "lists of answers each of which moves by at most {moved}",
    "monotone": "lists of answers that all move the same way, each by at most {moved}",
    "one": "lists of answers of which one alone moves, by at most {moved}",
    "increasing": "lists of answers; in the second none is less than in the first, nor more than {moved} greater",
    "decreasing": "lists of answers; in the second none is greater than in the first, nor more than {moved} less",
}


def _neighbours(mechanism: Compared, moved: str) -> str:
    return "; ".join((moves_of(mechanism, moved, "lists of answers whose differences"), *kept_within(mechanism)))


def moves_of(mechanism: Selection, moved: str, which: str) -> str:
    """How the answers of neighbours move. which: the answers whose differences are in a hull."""
    apart = moved or "the length of the bounds"
    if mechanism.neighbours != "hull":
        return MOVES[mechanism.neighbours].format(moved=apart)
    points = ", ".join(f"({', '.join(map(str, row))})" for row in hull_of(mechanism))
    return f"{which} are in the hull of {points}, times {apart}, or all in that of their opposites"


def kept_within(mechanism: Selection) -> Iterator[str]:
    """What all answers are, or lie in."""
    if on_integers(mechanism):
        yield "all answers are integers"
    if mechanism.bounds is not None:
        yield f"all of them lie between {shorten(mechanism.bounds[0])} and {shorten(mechanism.bounds[1])}"


def _word(table: Fields, key: str, word: str, known: tuple[str, ...]) -> None:
    """A fault where a word is of the other kind of selection."""
    if word not in known:
        table.fault(f"{key} = {show(word)} is not one of {', '.join(known)}.")


def _words(model: type) -> Mapping[str, Any]:
    """What a JSON Schema says of the words that a kind knows."""
    told: Mapping[str, Any] = {"enum": list(REPORTS[model])}
    if fields.FRESH in REPORTS[model]:
        told = {"anyOf": [{"enum": [word for word in REPORTS[model] if word != fields.FRESH]}, {"type": "object"}]}
    return {"if": True, "then": {"properties": {"report": told, "neighbours": {"enum": list(TOGETHER[model])}}}}


# -- noisy max ---------------------------------------------------------------------------------------------------


def _noisy_max(_: Kind, table: Fields, values: Values) -> NoisyMax | None:
    report = values["report"] or "index"
    if not isinstance(report, str):
        table.fault("report: fresh noise is of above_threshold.")
        return None
    _word(table, "report", report, REPORTS[NoisyMax])
    _word(table, "neighbours", values["neighbours"], TOGETHER[NoisyMax])
    hull, candidates = values["hull"] or (), values["candidates"]
    neighbours, unread = values["neighbours"], table.has("hull") and not hull
    if (neighbours == "hull") != table.has("hull"):
        unread = True
        table.fault('neighbours = "hull" and hull = [[...]], the points of whose hull the differences of answers are, go together.')
    for row in hull:
        if candidates is not None and candidates != num(len(row)):
            said = f"hull: a row of {len(row)} numbers for {shorten(candidates)} candidates."
            table.fault(f"{said} Give each candidate its own, and their number.")
            unread = True
            break
    if report == "value" and values["ties"]:
        table.fault("ties: the greatest noisy answer is the same whichever it is of. Leave it out.")
    if values["noise"] is None or values["candidates"] is None:
        return None
    if unread:  # what else is wrong is told of any neighbours
        neighbours, hull = "all", ()
    return NoisyMax(values["noise"], candidates, neighbours, report, values["bounds"], values["ties"], hull)


NOISY_MAX = Kind(
    model=NoisyMax,
    what="Report noisy max: which of several answers is the greatest after noise is added to each.",
    fields=(fields.NOISE, fields.CANDIDATES, fields.NEIGHBOURS, fields.REPORT, fields.BOUNDS, fields.TIES_OF, fields.HULL),
    conditions=_words(NoisyMax),
    build=_noisy_max,
    formula=law("selection.noisy_max"),
    plain=itself,
    neighbours=_neighbours,
    sensitivity=Sensitivity.OPTIONAL,
    starter=Starter(
        brief="which of several noisy answers is the greatest.",
        mechanism="""\
kind = "noisy_max"
noise = { kind = "builtin", name = "laplace", scale = 4 }   # of each answer, independent: any noise on one number
candidates = 10            # how many answers there are
neighbours = "all"         # each answer moves on its own; "monotone": all the same way; "one": one of them alone; "hull"
report = "index"           # which is the greatest; "value": the greatest noisy answer itself; "index+gap": and its lead
# bounds = [0, 1]          # where the answers of all data lie; anywhere where it is left out
# ties = "first"           # of several that are the greatest, as there may be on the integers; or "random"
""",
        claim="sensitivity = 1      # neighbouring inputs move each answer by at most this",
        sampler="""\
def sample(data, size, rng):
    \"""Which of the answers `data` is the greatest after noise; one index for each output.\"""
    return (np.asarray(data) + rng.laplace(0, 4, (size, len(data)))).argmax(axis=1)
""",
        audit="pairs = [[[0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 1, 1, 1, 1, 1, 1, 1]]]    # neighbouring inputs: here lists of answers",
    ),
)


# -- above threshold -----------------------------------------------------------------------------------------------


def _above_threshold(_: Kind, table: Fields, values: Values) -> AboveThreshold | None:
    report, positives = values["report"] or "answers", values["positives"]
    fresh = None if isinstance(report, str) else report
    if fresh is None:
        _word(table, "report", report, REPORTS[AboveThreshold])
    if values["queries"] is None:
        return None
    if values["threshold_noise"] is None and table.has("resample") and values["resample"]:
        table.fault("resample: there is no threshold_noise to be drawn again.")
    noises, others = ("threshold_noise", "query_noise"), ("queries", "threshold", "resample", "neighbours", "bounds", "whole_answers")
    held = {key: values[key] for key in (*noises, *others)}
    return AboveThreshold(
        **held,
        positives=None if positives == fields.UNLIMITED else positives,
        report=fields.FRESH if fresh is not None else report,
        fresh=fresh,
    )


ABOVE_THRESHOLD = Kind(
    model=AboveThreshold,
    what="Above threshold, the sparse vector technique: which answers are at least a noisy threshold, until so many are.",
    fields=(
        fields.QUERIES,
        fields.THRESHOLD_NOISE,
        fields.QUERY_NOISE,
        fields.THRESHOLD,
        fields.POSITIVES,
        fields.REPORT,
        fields.RESAMPLE,
        fields.NEIGHBOURS,
        fields.BOUNDS,
        fields.WHOLE_ANSWERS,
    ),
    conditions=_words(AboveThreshold),
    build=_above_threshold,
    formula=law("selection.above_threshold"),
    plain=itself,
    neighbours=_neighbours,
    sensitivity=Sensitivity.OPTIONAL,
    starter=Starter(
        brief="which noisy answers are above a noisy threshold, until so many are (the sparse vector technique).",
        mechanism="""\
kind = "above_threshold"
threshold_noise = { kind = "builtin", name = "laplace", scale = 4 }   # drawn once; an exact threshold where it is left out
query_noise = { kind = "builtin", name = "laplace", scale = 8 }       # drawn for each answer; exact answers where it is left out
threshold = 0              # public; matters where there are bounds
queries = 4                # how many answers are asked for at most
positives = 1              # stops after so many that are at least the threshold; "unlimited"
report = "answers"         # yes or no; "answers+gap", "answers+value", or { fresh = { ... noise ... } }: what is told of each yes
resample = false           # whether the noise of the threshold is drawn again after each yes
neighbours = "all"         # each answer moves on its own; "monotone": all the same way; "one": one alone; "increasing", "decreasing"
# bounds = [0, 1]          # where the answers of all data lie; anywhere where it is left out
# whole_answers = true     # all answers are integers: to be said where some noise is on the integers and some on the line
""",
        claim="sensitivity = 1      # neighbouring inputs move each answer by at most this",
        sampler="""\
def sample(data, size, rng):
    \"""How many of the answers `data` come before the first that is at least the threshold, after noise; one number for each output.\"""
    answers = np.asarray(data) + rng.laplace(0, 8, (size, len(data)))
    above = answers >= rng.laplace(0, 4, (size, 1))
    return np.where(above.any(axis=1), above.argmax(axis=1), len(data))
""",
        audit="pairs = [[[0, 0, 0, 1], [1, 1, 1, 0]]]    # neighbouring inputs: here lists of answers",
    ),
)


# -- noisy keys ----------------------------------------------------------------------------------------------------


def _keyed(mechanism: NoisyKeys, moved: str) -> str:
    whole = "; all counts are integers" if on_integers(mechanism) else ""
    keys = shorten(mechanism.keys)
    said = "the count of one key" if keys == "1" else f"the counts of at most {keys} keys"
    return f"data that differ by one record, which adds at most {moved} to {said}{whole}"


def _noisy_keys(_: Kind, table: Fields, values: Values) -> NoisyKeys | None:
    report = values["report"] or "counts"
    if not isinstance(report, str):
        table.fault("report: fresh noise is of above_threshold.")
        return None
    _word(table, "report", report, REPORTS[NoisyKeys])
    if values["noise"] is None or values["threshold"] is None:
        return None
    return NoisyKeys(values["noise"], values["threshold"], values["keys"], report)


NOISY_KEYS = Kind(
    model=NoisyKeys,
    what="Noisy counts by key, told where they are at least a threshold (partition selection, stability histograms).",
    fields=(fields.NOISE, fields.LEAST_TOLD, fields.KEYS, fields.REPORT),
    conditions={"if": True, "then": {"properties": {"report": {"enum": list(REPORTS[NoisyKeys])}}}},
    build=_noisy_keys,
    formula=law("selection.noisy_keys"),
    plain=itself,
    neighbours=_keyed,
    sensitivity=Sensitivity.ONE,
    starter=Starter(
        brief="noisy counts by key, told where they are at least a threshold: a histogram over keys that nobody knows beforehand.",
        mechanism="""\
kind = "noisy_keys"
noise = { kind = "builtin", name = "laplace", scale = 2 }   # of each count, independent; a key that no record has is not looked at
threshold = 25             # public: a key with less after noise is not told
keys = 1                   # how many keys one record has at most
report = "counts"          # the keys with their noisy counts; "keys": which keys there are, and no more
""",
        claim="sensitivity = 1      # one record adds at most this to the count of each of its keys",
        delta='delta = "1/100000"    # a key that is told for the first time was never looked at before: no epsilon holds alone',
        sampler="""\
def sample(data, size, rng):
    \"""Noisy counts of the keys with the counts `data`, -1 for each that is not told; one row for each output.\"""
    counts = np.asarray(data, dtype=float)
    noisy = counts + rng.laplace(0, 2, (size, len(counts)))
    return np.where((counts > 0) & (noisy >= 25), noisy, -1)
""",
        audit="pairs = [[[0], [1]], [[40], [41]]]    # neighbouring inputs: here lists of counts, 0 for a key that no record has",
    ),
)


# -- votes of one database -------------------------------------------------------------------------------------------


def _read_votes(value: Any) -> Matrix:
    """Lists of votes, or one list."""
    single = isinstance(value, list | tuple) and bool(value) and not isinstance(value[0], list | tuple)
    return read_matrix([value] if single else value)


VOTES: Final = fields.Field(
    "votes",
    fields.Value(
        _read_votes,
        {"type": "array", "minItems": 1, "items": {"anyOf": [fields.ROWS.schema["items"], fields.NUMBER.schema]}},
        exact=False,
    ),
    "How many votes each candidate has on the one database that the claim is about: one list, or a list for each answer, of integers of at "
    "least 0.",
    examples=([[250, 30, 12], [140, 141, 11]],),
)


NOISY_VOTES = Kind(
    model=NoisyVotes,
    what="Who has the most votes with Gaussian noise, on one database, whose votes are stated (PATE): it depends on the data.",
    fields=(VOTES, fields.SIGMA),
    formula=law("selection.noisy_votes"),
    plain=itself,
    neighbours=lambda mechanism, moved: "this database and those of which one voter has cast other votes, one in each list",
    sensitivity=Sensitivity.NONE,
    instead="its neighbours are those of whom one voter has cast other votes. Leave sensitivity out.",
    starter=Starter(
        brief="who has the most noisy votes on one database whose votes are stated: the privacy of PATE that depends on the data.",
        mechanism="""\
kind = "noisy_votes"       # what is proved is of these votes alone: no guarantee, and private itself
votes = [250, 230, 12]     # how many votes each candidate has; of several answers a list of such lists
sigma = 40                 # the standard deviation of the Gaussian noise of each number of votes
""",
        delta='delta = "1/100000"',
        sampler="""\
def sample(data, size, rng):
    \"""The candidate with the most noisy votes of the list `data`, counted from 0, for each output.\"""
    return (np.asarray(data, dtype=float) + rng.normal(0, 40, (size, len(data)))).argmax(axis=1)
""",
        audit="pairs = [[[250, 230, 12], [249, 231, 12]]]    # the database, and a neighbour",
    ),
)

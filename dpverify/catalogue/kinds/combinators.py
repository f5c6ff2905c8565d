"""What is made of parts: compositions, samples, groups, maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpverify.catalogue.checks import words
from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, itself, law
from dpverify.catalogue.toml import Fields
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, format_expr, mul, symbols
from dpverify.trusted.kernel.model import (
    BestOf,
    Compose,
    Domain,
    Group,
    Lipschitz,
    Parallel,
    PostProcess,
    Shuffle,
    Subsample,
    once,
    repeated,
)
from dpverify.trusted.kernel.well_formed import of_mechanism

OF_PARTS = "the parts have their own; state it there."
A_DELTA = 'delta = 0            # a delta above 0, such as "1e-6", allows a smaller epsilon'


def _compose(_: Kind, __: Fields, values: Values) -> Compose | None:
    """A list of parts, or one part so many times."""
    parts = values["parts"] if values["part"] is None else (values["part"],)
    times = values["times"] or ONE
    return None if parts is None else Compose(tuple(repeated(part, mul(times, own)) for part, own in map(once, parts)))


COMPOSE = Kind(
    model=Compose,
    what="Parts on the same data, each chosen after seeing the answers of those before.",
    fields=(fields.SEVERAL.optional(), fields.A_PART.optional(), fields.TIMES),
    one_of=(("parts", "part"),),
    build=_compose,
    formula=law("combinators.compose"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="several mechanisms on the same data.",
        mechanism="""\
# Parts on the same data, each may depend on what came before. A part is a table like [mechanism] with its own sensitivity (1 where it is
# left out), and `times`, how often it runs. What is published is the list of all answers.
kind = "compose"
adjacency = "add-remove"    # what neighbours are, for all parts: "add-remove", "replace", "l1" or "l2"
parts = [
  # how many records
  { kind = "builtin", name = "discrete_laplace", scale = 2 },
  # their sum, twice, each record being from 0 to 3
  { kind = "builtin", name = "discrete_laplace", scale = 4, sensitivity = 3, times = 2 },
]
""",
        delta=A_DELTA,
        audit="pairs = [[[10, 20], [11, 23]]]    # neighbouring inputs: here the true answers, how many records and their sum",
    ),
)


SUBSAMPLE = Kind(
    model=Subsample,
    what="A part on a random sample of the records.",
    fields=(fields.A_PART, fields.RATE, fields.SCHEME),
    formula=law("combinators.subsample"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="a mechanism on a random sample of the records.",
        mechanism="""\
# The part runs on a random sample of the records, and nobody learns which these are.
kind = "subsample"
rate = "1/4"            # the chance of a record to be in the sample
scheme = "poisson"      # each by itself; or "without_replacement", a fixed share of them
# a table like [mechanism] with its own sensitivity (1 where it is left out)
part = { kind = "builtin", name = "discrete_laplace", scale = 1 }
""",
        delta=A_DELTA,
        audit="pairs = [[[1, 0, 1, 1], [1, 0, 1]]]    # neighbouring inputs: here lists of records, one of them longer by one",
    ),
)


GROUP = Kind(
    model=Group,
    what="A part, for neighbours that differ in several records.",
    fields=(fields.A_PART, fields.SIZE),
    formula=law("combinators.group"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="a mechanism, for neighbours that differ in several records.",
        mechanism="""\
# A guarantee for inputs that differ in several records, such as those of a family.
kind = "group"
size = 2                # in how many records neighbours differ
# a table like [mechanism]; its sensitivity is for one record (1 where it is left out)
part = { kind = "builtin", name = "discrete_laplace", scale = 4 }
""",
        delta=A_DELTA,
        audit="pairs = [[[10], [12]]]    # neighbouring inputs: what the sampler is called with",
    ),
)


def _post_process(_: Kind, table: Fields, values: Values) -> PostProcess | None:
    """A part with its map, whose matrix fits what the part puts out."""
    part, rows = values["part"], values["matrix"]
    if part is None:
        return None
    found = PostProcess(part, values["map"], rows)
    if rows:
        from dpverify.trusted.combinators.released import released

        try:
            released(found)
        except Rejected as error:
            table.fault(f"matrix: {error.where}: {error.why}.")
            return None
    return found


POST_PROCESS = Kind(
    model=PostProcess,
    what="A map of a part's output that does not look at the data again.",
    fields=(fields.A_PART, fields.MAP, fields.MAP_ROWS),
    build=_post_process,
    formula=law("combinators.post_process"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="a map of a mechanism's output.",
        mechanism="""\
# A map of what the part puts out, which does not look at the data again: it costs no privacy, and what it gains is not looked at.
kind = "post_process"
map = "nothing below 0"    # in words, for people
# a table like [mechanism] with its own sensitivity (1 where it is left out)
part = { kind = "builtin", name = "discrete_laplace", scale = 2 }
""",
        delta=A_DELTA,
        audit="pairs = [[[3], [4]]]    # neighbouring inputs: what the sampler is called with",
    ),
)


PARALLEL = Kind(
    model=Parallel,
    what="Parts on disjoint parts of the data.",
    fields=(fields.SEVERAL,),
    formula=law("combinators.parallel"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="mechanisms on disjoint parts of the data.",
        mechanism="""\
# Parts on disjoint groups of the records: a record is seen by one part alone.
kind = "parallel"
parts = [               # tables like [mechanism], each with its own sensitivity (1 where it is left out)
  { kind = "builtin", name = "discrete_laplace", scale = 2 },
  { kind = "builtin", name = "discrete_laplace", scale = 4 },
]
""",
        delta=A_DELTA,
        audit="pairs = [[[10, 20], [11, 20]], [[10, 20], [10, 21]]]    # neighbouring inputs: here the true count of each group",
    ),
)


LIPSCHITZ = Kind(
    model=Lipschitz,
    what="A part after a map of the data that moves neighbours apart by at most a constant.",
    fields=(fields.A_PART, fields.CONSTANT),
    formula=law("combinators.lipschitz"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="a mechanism on a map of the data.",
        mechanism="""\
# The part runs on a map of the data; a map that brings data together makes the part more private.
kind = "lipschitz"
constant = 2            # the map moves apart what differs by 1 by at most this
# a table like [mechanism]; its sensitivity is before the map (1 where it is left out)
part = { kind = "builtin", name = "discrete_laplace", scale = 4 }
""",
        delta=A_DELTA,
        audit="pairs = [[[10], [11]]]    # neighbouring inputs: what the sampler is called with",
    ),
)


SHUFFLE = Kind(
    model=Shuffle,
    what="What a local mechanism tells of each of so many people, in no order.",
    fields=(fields.A_PART, fields.PEOPLE),
    formula=law("combinators.shuffle"),
    plain=itself,
    neighbours=lambda mechanism, moved: "data of so many people, in which the record of one is replaced",
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="what each of many people tells by itself, in no order (the shuffle model).",
        mechanism="""\
# Each of so many people runs the part on their own record, and what they tell is seen in no order.
kind = "shuffle"
people = 1000
# a table like [mechanism]: every two records are neighbours of it. A table, a response, noise, or { kind = "guarantee", epsilon = 1 }
part = { kind = "builtin", name = "k_randomized_response", k = 4, p = "1/2" }
""",
        delta='delta = "1/100000"    # shuffling lowers delta at a small epsilon; the pure epsilon stays that of the part',
        sampler="""\
def sample(data, size, rng):
    \"""How many of a thousand people tell each of four answers, data[x] of them with the record x; one row for each output.\"""
    return sum(rng.multinomial(count, np.where(np.arange(4) == x, 1 / 2, 1 / 6), size) for x, count in enumerate(data))
""",
        audit="pairs = [[[1000, 0, 0, 0], [999, 1, 0, 0]]]    # neighbouring inputs: here how many people have each record",
    ),
)


def _best_of(_: Kind, __: Fields, values: Values) -> BestOf | None:
    """A part, and the law of the number of its runs."""
    return None if values["part"] is None or values["runs"] is None else BestOf(values["part"], *values["runs"])


def _of_runs(best: BestOf, domains: Mapping[str, Domain]) -> Iterator[str]:
    """What is wrong with the law of the number of runs."""
    for number in best.numbers:
        for name in sorted(symbols(number) - domains.keys()):
            yield f"runs: {format_expr(number)} has the free symbol {name!r}. Write a number, or give it in parameters."
    if all(symbols(number) <= domains.keys() for number in best.numbers):
        yield from map(words, of_mechanism(best, domains))


BEST_OF = Kind(
    model=BestOf,
    what="The best output of a random number of runs of a part: hyperparameter tuning.",
    fields=(fields.A_PART, fields.OF_RUNS),
    build=_best_of,
    faults=_of_runs,
    formula=law("combinators.best_of"),
    plain=itself,
    sensitivity=Sensitivity.NONE,
    instead=OF_PARTS,
    starter=Starter(
        brief="the best output of a random number of runs, as hyperparameters are tuned.",
        mechanism="""\
# The part is run a random number of times on the same data, say each time with hyperparameters drawn at random; the best output in a fixed
# order, say by a score that it tells, is published, and nothing else: neither the others, nor how many there were.
kind = "best_of"
# a table like [mechanism] with its own sensitivity (1 where it is left out)
part = { kind = "guarantee", epsilon = "1/10" }
# or "logarithmic", "poisson" (mean), "negative_binomial" (eta, gamma), "fixed" (number): how often it is run
runs = { law = "geometric", mean = 100 }
""",
        delta=A_DELTA,
        sampler="""\
def sample(data, size, rng):
    \"""The greatest of a geometric number of answers with Laplace noise of scale 10, which is (1/10)-DP; one number for each output.\"""
    runs = rng.geometric(1 / 100, size)
    below = rng.random(size) ** (1 / runs)    # of the greatest of so many uniform numbers
    return data[0] + 10 * np.where(below < 1 / 2, np.log(2 * below), -np.log(2 - 2 * below))
""",
        audit="pairs = [[[10], [11]]]    # neighbouring inputs: here true answers",
    ),
)

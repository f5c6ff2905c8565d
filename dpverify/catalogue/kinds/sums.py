"""Sums of independent noises, as many devices add them."""

from __future__ import annotations

from dpverify.catalogue.kinds import fields
from dpverify.catalogue.kinds.kind import Kind, Sensitivity, Starter, Values, law
from dpverify.catalogue.toml import Fields
from dpverify.trusted.combinators.gaussian_form import as_gaussian
from dpverify.trusted.combinators.laws_of_sums import opposite
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, mul
from dpverify.trusted.kernel.model import Mechanism, OnLine, Radial, Sum, Summand, on_integers


def difference(one: OnLine, other: OnLine) -> Sum:
    """The first less the other."""
    return Sum((Summand(one), Summand(opposite(other))))


def _sum(_: Kind, table: Fields, values: Values) -> Sum | None:
    """A list of noises, or one so many times, less others."""
    times: Expr = values["times"] or ONE
    if values["part"] is None and values["times"] is not None:
        table.fault("times: it says how many add `part`. In a list each noise has its own times.")
    added = values["parts"] if values["part"] is None else (Summand(values["part"].noise, mul(times, values["part"].times)),)
    if added is None or values["subtracted"] is None:
        return None
    less = tuple(Summand(opposite(part.noise), part.times) for part in values["subtracted"])
    return Sum((*added, *less), values["dropouts"])


def _plain(noise: Sum) -> Mechanism:
    """Gaussian noise, where that is what it comes to and all noises are there."""
    centred = noise.dropouts == ZERO and all(isinstance(part.noise, Radial) for part in noise.parts)
    return (as_gaussian(noise) if centred else None) or noise


SUM = Kind(
    model=Sum,
    what="The sum of independent noises, such as many devices add, each its own.",
    fields=(fields.ADDED.optional(), fields.ONE_ADDED.optional(), fields.TIMES_ADDED, fields.SUBTRACTED, fields.DROPOUTS),
    one_of=(("parts", "part"),),
    build=_sum,
    formula=law("noise.sum"),
    plain=_plain,
    neighbours=lambda noise, moved: f"{'whole ' if on_integers(noise) else ''}answers at most {moved} apart",
    sensitivity=Sensitivity.ANSWER,
    starter=Starter(
        brief="the sum of independent noises, such as many devices add, each its own.",
        mechanism="""\
# What reaches the server is the sum of the answers of many devices, each with noise of its own: the noise is the sum of all.
kind = "sum"
part = { kind = "builtin", name = "discrete_gaussian", sigma = 1 }    # the noise of one device; or `parts`, a list of noises
times = 100             # how many add it
dropouts = 10           # as many of them or fewer may be missing: what is claimed holds whichever these are
# subtracted = [ ... ]  # noises that are taken away
""",
        claim="sensitivity = 1      # neighbouring inputs move the true answer by at most this",
        delta='delta = "1/1000000"',
        sampler="""\
def sample(data, size, rng):
    \"""The sum that reaches the server where ten devices of a hundred are missing; one number for each output.\"""
    noise = np.arange(-12, 13)  # a number further out has a probability below e^-84
    weights = np.exp(-(noise**2) / 2)
    return int(data[0]) + rng.choice(noise, (size, 90), p=weights / weights.sum()).sum(axis=1)
""",
        audit="pairs = [[[0], [1]]]    # neighbouring inputs: here the true answer",
    ),
)

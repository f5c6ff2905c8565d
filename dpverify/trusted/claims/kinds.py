"""What mechanisms of some kinds, and losses beside them, must be to mean something: the part of `well_formed` that few claims need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, format_expr, neg, symbols
from dpverify.trusted.kernel.fitting import unseen
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Domain, Exponential, Matrix, Mechanism, Selection, Table, Vector
from dpverify.trusted.kernel.well_formed import COUNT, NOT_NEGATIVE, SHARE, Faults, of_number

COVARIANCES: Final = ("eigenvalues", "brownian", "bridge", "matern-1/2", "matern-3/2", "matern-5/2", "rbf", "kernel")
"""The covariances of Gaussian processes that a declaration names."""
RUNS: Final[Mapping[str, tuple[str, ...]]] = {
    "geometric": ("mean",),
    "logarithmic": ("mean",),
    "poisson": ("mean",),
    "negative_binomial": ("eta", "gamma"),
    "fixed": ("number",),
}
"""The laws of a random number of runs, each with its numbers."""
STRATEGIES: Final = ("matrix", "toeplitz", "prefix_sums", "binary_tree")
"""What the numbers of a strategy are: a matrix, coefficients, or a name."""
BUDGETS: Final = ("approximate", "renyi", "zcdp", "gdp")
"""The measures that a budget may be in."""


def faults(mechanism: Mechanism, domains: Mapping[str, Domain]) -> Faults:
    """What is wrong with a mechanism by itself, apart from its numbers. Noises and parts are looked at by themselves."""
    if isinstance(mechanism, model.Space):
        from dpverify.trusted.theories.spaces.shapes import require

        yield from _refused(require, mechanism, domains)
    elif isinstance(mechanism, Table | Exponential):
        from dpverify.trusted.theories.finite.tables import require_rows

        yield from _refused(require_rows, mechanism, domains)
    elif isinstance(mechanism, model.Sum):
        yield from _of_sum(mechanism, domains)
    elif isinstance(mechanism, model.Radial | model.Mixture | model.Product):
        yield from _of_body(mechanism)
    elif isinstance(mechanism, model.Guarantee):
        from dpverify.trusted.combinators import stated

        yield from _of_guarantee(mechanism, domains)
        yield from _refused(stated.check, mechanism, mechanism.order)
        if isinstance(mechanism, model.Filter) and (mechanism.measure not in BUDGETS or len(mechanism.rows) != 1 or mechanism.order):
            yield f"budget: it is not one of {', '.join(BUDGETS)}, with one row, for both orders."
        yield from _of_orders(mechanism)
    elif isinstance(mechanism, model.EllipticalProcess):
        low, high = mechanism.support
        if not isinstance(low, Num) or low.value < 0 or not (high is None or isinstance(high, Num)):
            yield "support: the law of a variance lives between rational numbers of at least 0; the upper end may be inf."
        if mechanism.covariance not in ("", *COVARIANCES):
            yield f"covariance: {mechanism.covariance[:40]!r} is none of {', '.join(COVARIANCES)}."
    elif isinstance(mechanism, Selection):
        from dpverify.trusted.claims.selections import of_selection

        yield from of_selection(mechanism)
    elif isinstance(mechanism, model.OfRecords):
        yield from _of_records(mechanism, domains)
    elif isinstance(mechanism, model.Combinator):
        yield from _of_combinator(mechanism, domains)
    if any(isinstance(part.mechanism, model.NoisyVotes) for part in model.parts_of(mechanism)):
        yield "noisy_votes: what is proved of one database is no guarantee, which a part has. Give all its lists of votes at once."


def _of_records(mechanism: model.OfRecords, domains: Mapping[str, Domain]) -> Faults:
    if isinstance(mechanism, model.SmoothSensitivity):
        noise = mechanism.noise
        if model.on_integers(noise) or getattr(noise, "dimension", ONE) != ONE or getattr(noise, "norm", model.L1).kind != "lp":
            yield "noise: a scale that depends on the data wants noise on the line, in an lp norm, and not on the integers."
    elif isinstance(mechanism, model.CorrelatedNoise):
        yield from _of_strategy(mechanism, domains)
    elif isinstance(mechanism, model.NoisyVotes):
        yield from _of_votes(mechanism)


def _of_votes(mechanism: model.NoisyVotes) -> Iterator[str]:
    """Lists that are no votes for the same candidates."""
    rows = mechanism.votes
    if not rows or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        yield "votes: they are not lists of as many numbers, one for each of two candidates or more."
    if any(x < 0 or x.denominator != 1 for row in rows for x in row):
        yield "votes: one of the numbers is no integer of at least 0."


def _of_combinator(mechanism: model.Combinator, domains: Mapping[str, Domain]) -> Iterator[str]:
    if isinstance(mechanism, model.Compose | model.Parallel) and not mechanism.parts:
        yield "parts: there are none."
    elif isinstance(mechanism, model.Subsample) and mechanism.scheme not in ("poisson", "without_replacement"):
        yield f"scheme: {mechanism.scheme[:40]!r} is not poisson or without_replacement."
    elif isinstance(mechanism, model.BestOf):
        yield from _of_runs(mechanism, domains)
    elif isinstance(mechanism, model.PostProcess):
        yield from ("map: it holds a character that cannot be seen.",) * bool(unseen(mechanism.map))
        if mechanism.matrix:
            from dpverify.trusted.combinators.released import released

            yield from _refused(released, mechanism)


def _of_sum(noise: model.Sum, domains: Mapping[str, Domain]) -> Faults:
    """Noises that cannot be added, or more that are left out than may be."""
    for part in noise.parts:
        yield from of_number("times", part.times, COUNT, domains)
        if isinstance(part.noise, model.Sum) and part.noise.dropouts != ZERO:
            yield "parts: a sum with dropouts is part of no other. Give the outer one the dropouts."
        if getattr(part.noise, "dimension", ONE) != ONE:
            yield "parts: noise of another dimension than 1 is not added up."
    if not noise.parts:
        yield "parts: there are none."
    elif len({model.on_integers(part.noise) for part in noise.parts}) > 1:
        yield "parts: some noises live on the integers and some on the line. Add up those of one sort."
    known = symbols(add(noise.dropouts, *(part.times for part in noise.parts))) <= domains.keys()
    if known and not certainly_lt(noise.dropouts, add(*(part.times for part in noise.parts)), domains):
        yield "dropouts: there are not certainly fewer than noises, so that none may be left."


def _of_guarantee(known: model.Guarantee, domains: Mapping[str, Domain]) -> Faults:
    for row in known.rows:
        key, size = "epsilon" if known.measure == "approximate" else known.measure, row[-1] if known.measure == "renyi" else row[0]
        yield from of_number(key, size, NOT_NEGATIVE, domains)
        yield from of_number("delta", row[-1], SHARE, domains) if known.measure == "approximate" else ()


def _of_orders(known: model.Guarantee) -> Iterator[str]:
    """Orders of Renyi divergences that are none."""
    for order in (row[0] for row in known.rows if known.measure == "renyi"):
        if not isinstance(order, Num) or order.value <= 1:
            yield f"renyi: the order {format_expr(order)} is no rational number above 1."


def _of_strategy(noise: model.CorrelatedNoise, domains: Mapping[str, Domain]) -> Faults:
    """Words that mean nothing; numbers that are not those of the strategy, or not of so many steps."""
    yield from of_number("steps", noise.steps, COUNT, domains)
    rows, numbers, steps = noise.matrix, noise.coefficients, noise.steps.value if isinstance(noise.steps, Num) else 0
    if noise.strategy not in STRATEGIES or noise.order not in ("any", "fixed"):
        yield "strategy: it is none of those that are known, or the order of participations is neither any nor fixed."
    if (noise.strategy == "matrix") != bool(rows) or (noise.strategy == "toeplitz") != bool(numbers):
        yield "strategy: a matrix has rows, toeplitz has coefficients, and others have neither."
    if any(len(row) != steps for row in rows) or len(numbers) > steps:
        yield "steps: a matrix has a column for each, and there are no more coefficients than steps, a number."
    if noise.rate is not None and (noise.times, noise.order) != (ONE, "any"):
        yield "sampling: which steps take a user's records is drawn, so that nothing is said of how many or of their order."


def _of_runs(best: model.BestOf, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A law of the number of runs that is none."""
    names = RUNS.get(best.law, ())
    if not names or len(names) != len(best.numbers):
        yield f"runs: the law {best.law[:40]!r} with so many numbers is none of {', '.join(RUNS)}."
        return
    for name, number in zip(names, best.numbers, strict=True):
        if symbols(number) <= domains.keys() and (wanted := _unfit(best.law, name, number, domains)):
            yield f"runs: {name} = {format_expr(number)} is not certainly {wanted}."


def _unfit(law: str, name: str, number: Expr, domains: Mapping[str, Domain]) -> str:
    """What a number of a law is to be, where it is not."""
    if name == "number":
        return "" if is_whole(number, domains) and certainly_le(ONE, number, domains) else "an integer of at least 1"
    if name == "gamma":
        return "" if certainly_lt(ZERO, number, domains) and certainly_lt(number, ONE, domains) else "between 0 and 1"
    if name == "eta":
        return "" if certainly_lt(neg(ONE), number, domains) else "above -1"
    if law == "poisson":  # of mean 0 nothing is ever told
        return "" if certainly_lt(ZERO, number, domains) else "positive"
    if law == "geometric":
        return "" if certainly_le(ONE, number, domains) else "at least 1, which the number of runs is"
    return "" if certainly_lt(ONE, number, domains) else "above 1, which the number of runs is at least"


def _refused(check: Any, *given: Any) -> Iterator[str]:
    """What a check raises."""
    try:
        check(*given)
    except (DpverifyError, ArithmeticError) as error:
        yield f"{error.where}: {error.why}." if isinstance(error, Rejected) else str(error)


def _of_body(noise: model.Radial | model.Mixture | model.Product) -> Iterator[str]:
    """A norm that does not fit its dimension."""
    norm, dimension = noise.norm, noise.dimension
    if bool(norm.matrix) == (norm.kind == "lp") or (norm.p is not None and norm.kind != "lp"):
        yield f"norm: {norm.kind[:40]} is by a matrix, or by p, and not by both."
    if isinstance(dimension, Num) or norm.kind == "lp":
        from dpverify.trusted.geometry.lengths import norm_faults

        yield from norm_faults(norm, max(1, int(dimension.value)) if isinstance(dimension, Num) else 1)
    else:
        yield f"norm: {norm.kind[:40]} has a fixed dimension. Give dimension a number."


def of_query(mechanism: Mechanism, query: model.Query) -> Iterator[str]:
    """A query that is none."""
    dimension = getattr(mechanism, "dimension", ONE)
    size = int(dimension.value) if isinstance(dimension, Num) else 0
    if size:
        from dpverify.trusted.sensitivity.queries import query_faults

        yield from query_faults(query, size)
    else:
        yield "query: the dimension must be a number."


def of_claim(claim: model.Claim) -> Iterator[str]:
    """Losses that do not fit; parts of a combinator that do not speak of the same neighbours, or not of those that have an order."""
    yield from of_losses(claim.mechanism, claim.loss, claim.prior)
    if not isinstance(claim.mechanism, model.Combinator | model.OfRecords):
        return
    from dpverify.trusted.combinators.relations import adjacency_faults

    yield from adjacency_faults(claim.mechanism, claim.adjacency)
    from dpverify.trusted.combinators.adjacencies import stated_adjacencies

    other = stated_adjacencies(claim.mechanism, claim.adjacency).keys() - {"add-remove"}
    if claim.order and other:
        yield f"the order {claim.order} is about a record that is added or removed, which the adjacency {min(other)} does not do."


def of_losses(mechanism: Mechanism, loss: Matrix, prior: Vector) -> Iterator[str]:
    """Losses of another size than the mechanism they are of, and a prior that is none."""
    if isinstance(mechanism, Table | Exponential) and (loss or prior):
        rows = mechanism.rows if isinstance(mechanism, Table) else mechanism.scores
        if len(loss) != len(rows) or any(len(row) != len(rows[0]) for row in loss):
            yield f"loss must have {len(rows)} rows, one for each input, of {len(rows[0])} entries, one for each output."
        if prior and (len(prior) != len(rows) or min(prior) < 0 or sum(prior) != 1):
            yield f"prior must have {len(rows)} entries, one for each input, at least 0 and with the sum 1."

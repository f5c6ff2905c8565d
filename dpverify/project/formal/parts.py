"""Claims of mechanisms that are made of parts: the theorem of the whole from theirs, through specs/formal/replays/replay_parts.v."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from dpverify.project.formal import kernels, noise, selection, tables
from dpverify.project.formal.book import Book, Described
from dpverify.project.formal.comparisons import compared
from dpverify.project.formal.file import Statement
from dpverify.project.formal.terms import ATOM, NotReplayedError, Terms, positive
from dpverify.trusted.combinators import at_pair, candidates
from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, add, call, format_expr, mul, sub
from dpverify.trusted.kernel.model import (
    AboveThreshold,
    Claim,
    Compose,
    Exponential,
    Finite,
    Group,
    Guarantee,
    Kernel,
    Lipschitz,
    Mixture,
    NoisyMax,
    Parallel,
    Part,
    PostProcess,
    Product,
    Radial,
    Repeat,
    Staircase,
    Subsample,
    Table,
    Translation,
    kind_of,
    once,
)

MOST_CHOICES: Final = 12
"""Of kinds of neighbours."""


def combined(claim: Claim, epsilon: Expr, evidence: Sequence[object]) -> tuple[Statement, bool]:
    """The claim, and whether how far answers move is what the kernel derives from queries."""
    root = Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency)
    book = Book(claim, Terms(dict(claim.domains)), evidence)
    wholes = [_at_most(book, described(book, part, ONE), epsilon) for part in _considered(book, root, epsilon)]
    neighbours = [f"Neighbours{number}" if len(wholes) > 1 else "Neighbours" for number in range(len(wholes))]
    relation = reduce(lambda rest, name: f"(either {name} {rest})", reversed(neighbours[:-1]), neighbours[-1])
    final = [f"exact ({whole.holds} _ _ _ _ _ is_{number})." for number, whole in enumerate(wholes)]
    for line in reversed(final[:-1]):
        final[-1:] = [f"apply pure_either; [ {line} | {final[-1]} ]".replace(". |", " |").replace(". ]", " ].")]
    return (
        Statement(
            definitions=(*book.definitions, *noise.epsilon_is(book.terms, claim, epsilon)),
            binders=(
                *book.terms.binders(),
                f"(Inputs : Type) ({' '.join(neighbours)} : relation Inputs) (shown : measure_display) (Outputs : measurableType shown)",
                "(M : mechanism RR Inputs Outputs)",
            ),
            hypotheses=tuple(f"{whole.term} Inputs {name} shown Outputs M" for whole, name in zip(wholes, neighbours, strict=True)),
            conclusion=f"pure_dp {relation} M {noise.applied_to('epsilon', book.terms, claim, epsilon)}",
            proof=(f"intros {' '.join(f'is_{number}' for number in range(len(wholes)))}.", *book.proof, final[-1]),
            remarks=(
                "What the mechanism is, and how far answers of neighbours are apart, is said by the description that the theorem is about",
            ),
        ),
        book.derived,
    )


def _considered(book: Book, root: Part, epsilon: Expr) -> Sequence[Part]:
    """The whole, or where that is not enough the whole at each pair of neighbours that its parts may share. Raises NotReplayedError."""
    try:
        value = described(Book(book.claim, book.terms, book.evidence), root, ONE).epsilon
        trouble = None if certainly_le(value, epsilon, dict(book.claim.domains)) else _too_much(value)
    except NotReplayedError as error:
        trouble = error
    if trouble is None:
        return [root]
    if not isinstance(root.mechanism, Compose | PostProcess):
        raise trouble
    try:
        choices = candidates.choices(root)
    except (Undecided, Rejected):
        raise trouble from None
    if len(choices) > MOST_CHOICES:
        raise NotReplayedError(f"there are {len(choices)} kinds of neighbours to be written out, and at most {MOST_CHOICES} are.")
    book.derived = True
    return [part for part in (at_pair.at(root, choice) for choice in choices) if part is not None]


def _too_much(value: Expr) -> NotReplayedError:
    return NotReplayedError(f"by the theorems that are there it loses up to {format_expr(value)}, which is more than is claimed.")


def _at_most(book: Book, whole: Described, epsilon: Expr) -> Described:
    if not certainly_le(whole.epsilon, epsilon, dict(book.claim.domains)):
        raise _too_much(whole.epsilon)
    lines = compared(book.terms, whole.epsilon, epsilon)
    claimed = noise.applied_to("epsilon", book.terms, book.claim, epsilon)
    name = book.step("whole", f"holds {whole.term} {claimed}", f"refine (holds_le {whole.holds} _). unfold epsilon. {' '.join(lines)}")
    return Described(whole.term, epsilon, name)


def described(book: Book, part: Part, factor: Expr) -> Described:
    """A part, for neighbours whose answers are `factor` times as far apart as it says. Raises NotReplayedError."""
    mechanism = part.mechanism
    if part.sensitivity == ZERO:
        return book.shown("(@answers_neighbours_the_same)", ZERO, "apply holds_the_same. apply Rle_refl.")
    makers: dict[type, Callable[[Book, Part, Expr], Described]] = {
        Radial: _noise, Translation: _noise, Staircase: _noise, Product: _noise, Table: _table, Exponential: _table,
        Guarantee: _guarantee, Compose: _compose, Repeat: _repeat, Parallel: _parallel, Group: _group, Lipschitz: _lipschitz,
        Subsample: _sample, PostProcess: _map, Kernel: kernels.kernel, NoisyMax: selection.noisy_max,
        AboveThreshold: selection.above_threshold,
    }  # fmt: skip
    if type(mechanism) not in makers:
        raise NotReplayedError(f"a part of the kind {kind_of(mechanism)} is not written in Coq yet.")
    if factor != ONE and not isinstance(mechanism, Radial | Translation | Product | Lipschitz | PostProcess):
        raise NotReplayedError(f"a part of the kind {kind_of(mechanism)} behind a map of the data is not written in Coq yet.")
    return makers[type(mechanism)](book, part, factor)


# -- single mechanisms


def _noise(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    distance = _moved(book, part, factor)
    if isinstance(mechanism, Staircase):
        mechanism = noise.staircase(mechanism)
    if isinstance(mechanism, Radial):
        made = noise.radial_part(book.terms, mechanism, distance, book.claim.epsilon)
    elif isinstance(mechanism, Translation):
        made = noise.translation_part(book.terms, mechanism, distance, book.claim.epsilon)
    else:
        assert isinstance(mechanism, Product)
        made = noise.product_part(book.terms, mechanism, distance)
    used = made.used
    name = book.define("noise", made.term, used)
    term = book.applied(name, used)
    return book.shown(term, made.epsilon, f"unfold {name}.", *made.proof)


def _moved(book: Book, part: Part, factor: Expr) -> Expr:
    """The most that the answer moves by, as stated, or as the kernel derives it."""
    if part.query is None and factor == ONE:
        return ONE if part.sensitivity is None else part.sensitivity
    if isinstance(part.mechanism, Mixture):
        raise NotReplayedError("a mixture in a part is not written in Coq yet.")
    if part.query is not None:
        book.derived = True
    for evidence in (None, *book.evidence):
        try:
            upper = reach(Run(part, factor), evidence).upper
        except (Rejected, Undecided):
            continue
        if isinstance(upper, Expr):
            return upper
    raise NotReplayedError("how far the answer of a part moves is not found from its query.")


def _table(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Finite)
    rows, adjacent = tables.rows_of(mechanism)
    pairs = [part.pair] if isinstance(part, OnePair) else tables.pairs_of(rows, adjacent)
    text, listed = tables.written(book.terms, rows, pairs)
    used = [entry for row in rows for entry in row]
    name = book.define("table", f"answers_by_table [\n  {text}]\n  [{listed}]", used)
    x, y, cell = tables.greatest(rows, pairs)
    epsilon = tables.ratio(rows[x][cell], rows[y][cell])
    lines = tables.facts([*used, epsilon], f"unfold {name}. apply holds_answers_by_table; [discriminate |]. rows_apart.")
    return book.shown(book.applied(name, used), epsilon, *lines, "cells.")


def _guarantee(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Guarantee)
    pure = [row[0] for row in mechanism.rows if mechanism.measure == "approximate" and not mechanism.order and row[1] == ZERO]
    if not pure:
        raise NotReplayedError("a guarantee that is not pure is not written in Coq yet.")
    return book.shown(f"(guaranteed {book.terms.real(pure[0], ATOM)})", pure[0], "apply holds_guaranteed.")


# -- combinators


def _compose(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Compose)
    written = [once(inner) for inner in mechanism.parts]
    parts = [(described(book, inner, ONE), times) for inner, times in written]
    counts = [book.times(times) for _, times in parts]
    term = " ++ ".join(f"nseq {count} {inner.term}" for count, (inner, _) in zip(counts, parts, strict=True))
    proofs = [
        f"(add_up_times (k := {count}) {book.as_real(times)} {inner.holds})" for count, (inner, times) in zip(counts, parts, strict=True)
    ]
    whole = reduce(lambda rest, one: f"(add_up_cat {one} {rest})", reversed(proofs[:-1]), proofs[-1])
    epsilon = add(*(mul(times, inner.epsilon) for inner, times in parts))
    return book.shown(f"(one_after_the_other ({term})%SEQ)", epsilon, f"refine (holds_le (holds_one_after_the_other {whole}) _).", "below.")


def _repeat(book: Book, part: Part, factor: Expr) -> Described:
    """A composition of one part, so many times."""
    return _compose(book, Part(Compose((part,))), factor)


def _parallel(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Parallel)
    if any(
        inner.adjacency not in ("", "add-remove") or (inner.query is not None and inner.query.adjacency != "add-remove")
        for inner in mechanism.parts
    ):
        raise NotReplayedError("parts in parallel are written in Coq where a record is added or removed alone.")
    if any(isinstance(inner.mechanism, Repeat) for inner in mechanism.parts):
        raise NotReplayedError("a part that is run several times beside others in parallel is not written in Coq yet.")
    parts = [described(book, inner, ONE) for inner in mechanism.parts]
    most = _most([inner.epsilon for inner in parts], book)
    text = book.terms.real(most)
    raised = [f"(holds_le (b := {text}) {inner.holds} ltac:(below))" for inner in parts]
    term = reduce(lambda rest, one: f"(side_by_side {one.term} {rest})", reversed(parts[:-1]), parts[-1].term)
    proof = reduce(
        lambda rest, one: f"(holds_side_by_side (eps := {text}) ltac:(positive) {one} {rest})", reversed(raised[:-1]), raised[-1]
    )
    return book.shown(term, most, f"exact {proof}.")


def _most(values: Sequence[Expr], book: Book) -> Expr:
    domains = dict(book.claim.domains)
    for value in values:
        if all(certainly_le(other, value, domains) for other in values):
            return value
    raise NotReplayedError("which of the parts in parallel loses the most is not the same for all parameters.")


def _group(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Group)
    inner = described(book, mechanism.part, ONE)
    count = book.times(mechanism.size)
    epsilon = mul(mechanism.size, inner.epsilon)
    given = f"(k := {count}) (eps := {book.terms.real(inner.epsilon)}) {book.as_real(mechanism.size)} ltac:(positive)"
    proof = f"(holds_group_of {given} {inner.holds})"
    return book.shown(f"(group_of {count} {inner.term})", epsilon, f"refine (holds_le {proof} _).", "below.")


def _lipschitz(book: Book, part: Part, factor: Expr) -> Described:
    """The answers of noise that neighbours have behind the map are as much further apart."""
    mechanism = part.mechanism
    assert isinstance(mechanism, Lipschitz)
    return described(book, mechanism.part, mul(factor, mechanism.constant))


def _sample(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, Subsample)
    inner = described(book, mechanism.part, ONE)
    rate = mechanism.rate
    text, inside = book.terms.real(rate, ATOM), book.terms.real(inner.epsilon)
    ratio = call("exp", inner.epsilon)
    below = compared(book.terms, ratio, ratio)
    if isinstance(inner.epsilon, Call) and inner.epsilon.name == "log":
        ratio = inner.epsilon.args[0]
    epsilon = call("log", add(ONE, mul(rate, sub(ratio, ONE))))
    if mechanism.scheme != "poisson":
        if not positive(rate, dict(book.claim.domains)):
            raise NotReplayedError("the fraction of the records that is sampled may be 0.")
        sampled = f"(holds_on_fraction (p := {text}) (eps := {inside}) ltac:(positive) {inner.holds})"
        return book.shown(f"(on_fraction {text} {inner.term})", epsilon, f"refine (holds_le {sampled} _).", *below)
    given = f"(p := {text}) (eps := {inside}) ltac:(below) ltac:(below) ltac:(positive) {inner.holds}"
    if inner.epsilon == book.claim.epsilon:
        return book.shown(f"(on_sample {text} {inner.term})", inner.epsilon, f"exact (holds_on_sample_as_without {given}).")
    sampled = f"(holds_on_sample {given})"
    return book.shown(f"(on_sample {text} {inner.term})", epsilon, f"refine (holds_le {sampled} _).", *below)


def _map(book: Book, part: Part, factor: Expr) -> Described:
    mechanism = part.mechanism
    assert isinstance(mechanism, PostProcess)
    inner = described(book, mechanism.part, factor)
    return book.shown(f"(seen_through_a_map {inner.term})", inner.epsilon, f"exact (holds_seen_through_a_map {inner.holds}).")


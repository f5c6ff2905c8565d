"""Noisy maximum and above threshold, through specs/formal/replays/replay_selection.v: what noises lose by shifts to one side decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dpverify.project.formal import noise
from dpverify.project.formal.book import Book, Described
from dpverify.project.formal.moves import HALF_LINE, LINE, Calculus, exponent
from dpverify.project.formal.terms import ATOM, NotReplayedError, positive
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Add, Call, Expr, Mul, Num, Sym, add, call, div, mul, neg, num, substitute, symbols
from dpverify.trusted.kernel.model import (
    ONE_WAY,
    AboveThreshold,
    Domain,
    NoisyMax,
    OnLine,
    Part,
    Product,
    Radial,
    Staircase,
    Translation,
    kind_of,
    on_integers,
)

Z = Sym("z")


def noisy_max(book: Book, part: Part, factor: Expr) -> Described:
    """The index of the greatest of several answers with noise; or what is told of all noisy answers."""
    mechanism = part.mechanism
    assert isinstance(mechanism, NoisyMax)
    distance = _distance(part, factor)
    if mechanism.report == "value":
        return _told(book, mechanism.candidates, mechanism.noise, distance)
    if mechanism.report != "index":
        raise NotReplayedError(f"what a noisy maximum tells with {mechanism.report!r} is not written in Coq yet.")
    if mechanism.neighbours not in ("all", "monotone"):
        raise NotReplayedError(f"neighbours of a noisy maximum that are {mechanism.neighbours!r} are not written in Coq yet.")
    low, reach = (neg(distance), mul(num(2), distance)) if mechanism.neighbours == "all" else (ZERO, distance)
    density, used = _density(book, mechanism.noise)
    fall, value = _falls(book, mechanism.noise, reach)
    ends = f"{_ends(book, low)} {book.terms.real(distance, ATOM)}"
    term = f"(index_of_greatest {_count(book, mechanism.candidates)} {book.applied(density, used)} {ends})"
    proof = f"refine (holds_index_of_greatest _ (falls_at {fall} _)); [positive | ring]."
    return book.shown(term, value, proof)


def above_threshold(book: Book, part: Part, factor: Expr) -> Described:
    """Which answers are above a threshold, in one of the ways in which the theorem bounds what they lose."""
    mechanism, distance = part.mechanism, _distance(part, factor)
    assert isinstance(mechanism, AboveThreshold)
    if mechanism.query_noise is None:
        raise NotReplayedError("answers without noise are not written in Coq yet.")
    if mechanism.report == "answers+value":
        return _told(book, mechanism.queries, mechanism.query_noise, distance)
    if mechanism.report not in ("answers", "fresh"):
        raise NotReplayedError(f"what above threshold tells with {mechanism.report!r} is not written in Coq yet.")
    if mechanism.neighbours in ONE_WAY:
        raise NotReplayedError("a guarantee for one order of the answers is not written in Coq yet, but for above threshold by itself.")
    if mechanism.report == "fresh":
        return _fresh(book, mechanism, distance)
    if mechanism.resample and mechanism.positives != ONE:
        return _again(book, mechanism, distance)
    if mechanism.neighbours == "monotone":
        return _monotone(book, mechanism, distance)
    if mechanism.neighbours != "all":
        raise NotReplayedError(f"neighbours of above threshold that are {mechanism.neighbours!r} are not written in Coq yet.")
    tried = Book(book.claim, book.terms)
    moved = [(shift, _value(tried, mechanism, distance, shift)) for shift in _shifts(mechanism, distance)]
    domains, claimed = dict(book.claim.domains), book.claim.epsilon
    shift, value = next((way for way in moved if claimed is not None and certainly_le(way[1], claimed, domains)), moved[0])
    if claimed is None:
        shift, value = next((way for way in moved if all(certainly_le(way[1], other, domains) for _, other in moved)), moved[0])
    term = _pattern(book, mechanism, neg(distance), distance)
    given, lines = _costs(book, mechanism, distance, shift)
    return book.shown(term, value, f"refine (holds_above_the_threshold {given} _ _ _ _).", *lines)


def one_way(book: Book, mechanism: AboveThreshold, distance: Expr) -> Described:
    """Which answers are above a threshold, for answers of neighbours that move one way, in this order alone: `holds_in_order`."""
    if mechanism.report != "answers" or mechanism.resample:
        raise NotReplayedError("a guarantee for one order of the answers is written in Coq where no more is told than which are positive.")
    return _moved(book, mechanism, distance, rising=mechanism.neighbours == "increasing")


# -- what thresholds cost


def _again(book: Book, mechanism: AboveThreshold, distance: Expr) -> Described:
    """A threshold that is drawn again after each positive: runs with one positive, one after the other."""
    runs = mechanism.queries if mechanism.positives is None else mechanism.positives
    once = above_threshold(book, Part(replace(mechanism, positives=ONE, resample=False), distance), ONE)
    count = book.times(runs)
    proof = f"(holds_one_after_the_other (add_up_times (k := {count}) {book.as_real(runs)} {once.holds}))"
    term = f"(one_after_the_other (nseq {count} {once.term})%SEQ)"
    return book.shown(term, mul(runs, once.epsilon), f"refine (holds_le {proof} _).", "below.")


def _monotone(book: Book, mechanism: AboveThreshold, distance: Expr) -> Described:
    """Answers that all move the same way, in both orders of neighbours of which the second has the greater answers."""
    up, down = (_moved(book, mechanism, distance, rising=rising) for rising in (True, False))
    both = f"(holds_one_way _ {up.holds} {down.holds})"
    return book.shown(up.term, up.epsilon, f"refine (holds_le {both} _).", "- positive.", "- below.")


def _moved(book: Book, mechanism: AboveThreshold, distance: Expr, *, rising: bool) -> Described:
    """In one order: the threshold goes along where the second answers are greater, so that no "no" costs anything."""
    assert mechanism.query_noise is not None
    positives = mechanism.queries if mechanism.positives is None else mechanism.positives
    shift, low, high = (distance, ZERO, distance) if rising else (ZERO, neg(distance), ZERO)
    first, w = _falls(book, mechanism.threshold_noise, shift)
    (no, _), (yes, cost) = (_falls(book, mechanism.query_noise, by) for by in (ZERO, distance))
    term, each, real = _pattern(book, mechanism, low, high), mul(positives, cost), book.terms.real
    stated = f"({real(w)} + {real(each)})" if rising else real(each, ATOM)
    given = f"(D := {real(distance)}) (s := {real(shift)}) (w := {real(w)}) (wF := 0) (wS := {real(cost)})"
    name = book.step(
        "in_order",
        f"holds_in_order {term} {stated}",
        f"refine ({'increasing' if rising else 'decreasing'}_in_order {given} _ _ _ _).",
        f"- apply costs_of_yes; [positive | {_natural(book, positives)}below].",
        f"- exact {first}.", f"- refine (falls_at {no} _). ring.", f"- refine (falls_at {yes} _). ring.",
    )  # fmt: skip
    return Described(term, add(w, each), name)


def _shifts(mechanism: AboveThreshold, distance: Expr) -> list[Expr]:
    """By what the threshold may be moved: as far as the answers, so that no "no" costs anything, or not at all."""
    return [ZERO] if mechanism.threshold_noise is None else [distance, ZERO]


def _value(book: Book, mechanism: AboveThreshold, distance: Expr, shift: Expr) -> Expr:
    assert mechanism.query_noise is not None
    if shift == ZERO:
        return mul(mechanism.queries, _falls(book, mechanism.query_noise, distance)[1])
    positives = mechanism.queries if mechanism.positives is None else mechanism.positives
    yes = _falls(book, mechanism.query_noise, mul(num(2), distance))[1]
    return add(_falls(book, mechanism.threshold_noise, distance)[1], mul(positives, yes))


def _costs(book: Book, mechanism: AboveThreshold, distance: Expr, shift: Expr) -> tuple[str, Sequence[str]]:
    """What shifts cost, as arguments of the theorem, and the proof of that."""
    assert mechanism.query_noise is not None
    query, real = mechanism.query_noise, book.terms.real
    positives = mechanism.queries if mechanism.positives is None else mechanism.positives
    first, w = _falls(book, mechanism.threshold_noise, shift)
    if shift == ZERO:
        (no, cost), (yes, _) = _falls(book, query, neg(distance)), _falls(book, query, distance)
        given = f"(s := 0) (w := 0) (wF := {real(cost)}) (wS := {real(cost)})"
        last = f"apply costs_of_all; [positive | {_natural(book, mechanism.queries)}below]."
    else:
        (no, _), (yes, cost) = _falls(book, query, ZERO), _falls(book, query, mul(num(2), distance))
        given = f"(s := {real(shift)}) (w := {real(w)}) (wF := 0) (wS := {real(cost)})"
        last = f"apply costs_of_yes; [positive | {_natural(book, positives)}below]."
    return given, (f"- exact {first}.", f"- refine (falls_at {no} _). ring.", f"- refine (falls_at {yes} _). ring.", f"- {last}")


def _pattern(book: Book, mechanism: AboveThreshold, low: Expr, high: Expr) -> str:
    assert mechanism.query_noise is not None
    if mechanism.threshold_noise is None:
        raise NotReplayedError("a threshold without noise is not written in Coq yet.")
    noises = " ".join(book.applied(*_density(book, one)) for one in (mechanism.threshold_noise, mechanism.query_noise))
    positives = mechanism.queries if mechanism.positives is None else mechanism.positives
    counts = f"{_count(book, mechanism.queries)} {_count(book, positives)}"
    return f"(above_the_threshold {noises} {counts} {_ends(book, low)} {_ends(book, high)})"


def _fresh(book: Book, mechanism: AboveThreshold, distance: Expr) -> Described:
    """The answers that are positive are told with noise of their own, after which of them are."""
    if mechanism.fresh is None or mechanism.positives is None:
        raise NotReplayedError("fresh noise of answers without a limit on how many there are is not written in Coq yet.")
    around = Part(replace(mechanism, report="answers", fresh=None), distance)
    first, last = above_threshold(book, around, ONE), _answers(book, mechanism.positives, mechanism.fresh, distance)
    one = "(k := 1%nat) (r := 1) ltac:(natural)"
    both = f"(holds_one_after_the_other (add_up_cat (add_up_times {one} {first.holds}) (add_up_times {one} {last.holds})))"
    term = f"(one_after_the_other (nseq 1%nat {first.term} ++ nseq 1%nat {last.term})%SEQ)"
    whole = book.shown(term, add(first.epsilon, last.epsilon), f"refine (holds_le {both} _).", "below.")
    return book.shown(f"(seen_through_a_map {whole.term})", whole.epsilon, f"exact (holds_seen_through_a_map {whole.holds}).")


# -- noisy answers


def _told(book: Book, count: Expr, law: OnLine, distance: Expr) -> Described:
    """What is told is a function, which may be random, of all the noisy answers."""
    inner = _answers(book, count, law, distance)
    return book.shown(f"(seen_through_a_map {inner.term})", inner.epsilon, f"exact (holds_seen_through_a_map {inner.holds}).")


def _answers(book: Book, count: Expr, law: OnLine, distance: Expr) -> Described:
    density = _formula(law)
    made = noise.product_part(book.terms, Product(density, count), distance)
    name = book.define("noise", f"fun z => {book.terms.with_names(z='z').real(density)}", [density], "R -> R")
    term = f"(noisy_answers {_count(book, count)} {book.applied(name, [density])} {book.terms.real(distance, ATOM)})"
    head, *lines = made.proof
    head = head.replace("holds_noise_of_coordinates", "holds_noisy_answers").replace(" _ _ _ _)", " _ _ _ _ _)")
    *lines, _ = ("- positive.", *lines)
    unfolded = [line.replace("intros z.", f"intros z. unfold {name}.").replace("cbv beta.", f"unfold {name}.") for line in lines]
    return book.shown(term, mul(count, made.epsilon), head, *unfolded, f"- {_natural(book, count)}below.")


def _formula(law: OnLine) -> Expr:
    """The density of noise on the line, in z, up to a constant."""
    match law:
        case Radial():
            return substitute(law.profile, {"r": div(call("abs", Z), law.scale)})
        case Translation() if law.support == (None, None):
            return law.density
        case Staircase():
            return noise.staircase(law).density
    raise NotReplayedError(f"noise of the kind {kind_of(law)} on a part of the line is not written in Coq yet.")


# -- what noises lose


def _density(book: Book, law: OnLine) -> tuple[str, list[Expr]]:
    """The name of a density on the line, and what stands in it."""
    if on_integers(law):
        raise NotReplayedError("noise on the integers in a selection is not written in Coq yet.")
    terms = book.terms
    if isinstance(law, Radial):
        used = [law.profile, law.scale]
        text = f"even_noise (fun r => {terms.with_names(r='r').real(law.profile)}) {terms.real(law.scale, ATOM)}"
        return book.define("noise", text, used, "R -> R"), used
    shape = noise.staircase(law) if isinstance(law, Staircase) else law
    if not isinstance(shape, Translation) or shape.support[1] is not None:
        raise NotReplayedError("noise that ends is not written in Coq yet.")
    start = shape.support[0]
    used = [shape.density] if start is None else [shape.density, start]
    text = f"fun z => {terms.with_names(z='z').real(shape.density)}"
    text = text if start is None else f"begins_at {terms.real(start, ATOM)} ({text})"
    return book.define("noise", text, used, "R -> R"), used


def _falls(book: Book, law: OnLine | None, shift: Expr) -> tuple[str, Expr]:
    """What a density loses at most when its argument grows by a shift, and the name of the proof."""
    if law is None:
        raise NotReplayedError("a threshold without noise is not written in Coq yet.")
    name, used = _density(book, law)
    density, real = book.applied(name, used), book.terms.real
    if shift == ZERO:
        return _known(book, density, shift, ZERO, ["apply falls_none. ring."])
    size = neg(shift) if not certainly_le(ZERO, shift, dict(book.claim.domains)) else shift
    if isinstance(law, Radial):
        terms = book.terms.with_names(r="r")
        found = Calculus(terms, "r", HALF_LINE, div(size, law.scale)).of(exponent(law.profile))
        value = noise.tidied(found.most)
        opened = f"unfold {name}. apply (falls_even_noise (D := {real(size)})); [positive | apart |]."
        return _known(book, density, shift, value, [opened, *noise.bounded(terms, found, "cbv beta."), "- below."])
    shape = noise.staircase(law) if isinstance(law, Staircase) else law
    assert isinstance(shape, Translation)
    parts = list(_rises(book, exponent(shape.density), shift, size))
    function, most, proof = parts[0]
    for other, value, one in parts[1:]:
        function, most, proof = Add((function, other)), add(most, value), f"(rises_add {proof} {one})"
    shown = f"refine (falls_of_rises (h := fun z => {book.terms.with_names(z='z').real(function)}) {proof} _ _)."
    lines = [shown, "- intros z. cbv beta. exponential.", "- below."]
    begun = [] if shape.support[0] is None else ["apply falls_begins_at; [positive | intros z; cbv beta; left; positive |]."]
    if begun and shift != size:
        raise NotReplayedError("noise that begins somewhere loses without bound to the left.")
    return _known(book, density, shift, most, [f"unfold {name}.", *begun, *lines])


def _known(book: Book, density: str, shift: Expr, value: Expr, proof: Sequence[str]) -> tuple[str, Expr]:
    what = f"falls {density} {book.terms.real(shift, ATOM)} {book.terms.real(value, ATOM)}"
    if what not in book.names:
        book.names[what] = book.step("falls", what, *proof)
    return book.names[what], value


def _rises(book: Book, whole: Expr, shift: Expr, size: Expr) -> Iterator[tuple[Expr, Expr, str]]:
    """The terms of an exponent in z: each with what it rises by, and the proof."""
    terms = book.terms.with_names(z="z")
    domains = dict(book.claim.domains)
    for term in whole.args if isinstance(whole, Add) else (whole,):
        rate, below = _coefficient(term, Z), _falling(term, domains)
        if rate is not None:
            value = mul(rate, shift)
            given = f"(L := {terms.real(rate)}) (r := {terms.real(shift)}) (m := {terms.real(value)}) ltac:(below)"
            yield Mul((rate, Z)), value, f"(rises_linear {given})"
        elif below is not None and shift == size:
            factor, fall, inner = below
            given = f"(u := fun z => {terms.real(inner)}) (k := {terms.real(factor)}) (c := {terms.real(fall)}) (r := {terms.real(shift)})"
            signs = " ".join(["ltac:(positive)"] * 3)
            yield Mul((factor, Call("exp", (inner,)))), ZERO, f"(rises_falling_exp {given} {signs} ltac:(intros; cbv beta; ring))"
        else:
            found = Calculus(terms, "z", LINE, size).of(term)
            yield found.function, noise.tidied(found.most), f"(rises_of_moves (r := {terms.real(shift)}) {found.proof} ltac:(apart))"


def _coefficient(term: Expr, variable: Sym) -> Expr | None:
    """By what the variable is multiplied, where no more stands there."""
    factors = term.args if isinstance(term, Mul) else (term,)
    rest = [factor for factor in factors if factor != variable]
    if len(rest) != len(factors) - 1 or any(variable.name in symbols(factor) for factor in rest):
        return None
    return mul(ONE, *rest)


def _falling(term: Expr, domains: Mapping[str, Domain]) -> tuple[Expr, Expr, Expr] | None:
    """(k, c, u) where the term is k exp(u), u = -c z, with k and c positive."""
    factors = term.args if isinstance(term, Mul) else (term,)
    inside = [factor for factor in factors if isinstance(factor, Call) and factor.name == "exp"]
    rest = [factor for factor in factors if factor not in inside]
    if len(inside) != 1 or any("z" in symbols(factor) for factor in rest):
        return None
    rate = _coefficient(inside[0].args[0], Z)
    factor = mul(ONE, *rest)
    if rate is None or not positive(neg(rate), domains) or not positive(factor, domains):
        return None
    return factor, neg(rate), inside[0].args[0]


def _distance(part: Part, factor: Expr) -> Expr:
    if factor != ONE or part.query is not None:
        raise NotReplayedError("a selection whose answers move by what a query says is not written in Coq yet.")
    return ONE if part.sensitivity is None else part.sensitivity


def _count(book: Book, count: Expr) -> str:
    return f"{book.terms.whole(count)}%nat" if isinstance(count, Num) else book.terms.whole(count)


def _natural(book: Book, count: Expr) -> str:
    """A written number as a real one."""
    return f"replace (INR {count.value}%nat) with {count.value} by natural; " if isinstance(count, Num) else ""


def _ends(book: Book, expr: Expr) -> str:
    """The end of an interval, with a minus before it where the theorem has one."""
    below = neg(expr)
    return (
        f"(Ropp {book.terms.real(below, ATOM)})"
        if certainly_le(expr, ZERO, dict(book.claim.domains)) and expr != ZERO
        else book.terms.real(expr, ATOM)
    )

"""Sums over records: what one person can add to an answer, and a claim about them as claims that rules know (theory#sums-over-records).

What a record adds is followed through its expressions. The fields are cut where a comparison, a minimum or a maximum turns, until each
expression is linear in the fields between the cuts, and its ends are those at the corners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import floor, prod
from typing import Any, Final

from dpverify.trusted.geometry.lengths import largest
from dpverify.trusted.geometry.linear import up_to_sign
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.bounds import Side
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, children, symbols
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Domain, Mechanism, Part, RecordSummand, RecordSums, Vector
from dpverify.trusted.order.domains import closed
from dpverify.trusted.sensitivity.sensitivity import noise_norm

WHAT: Final = "the sums"
MOST_PIECES: Final = 4_000
MOST_VECTORS: Final = 400
FAR: Final = Fraction(10**12)
"""How far beyond all cuts the record is that shows a sum without bound."""
NEAR: Final = Fraction(1023, 1024)
"""How near to an end, on the way from the middle, the record is that stands for one that is not there."""
UPPER: Final = ("apart", "together")
"""Claims that imply the claim: every part at the sensitivity of its own sums; all at one histogram, of which neighbours differ in l1."""
LOWER: Final = "pairs"
"""A claim that is implied: the histogram of records that occur, with neighbours that occur."""

TOTAL: Final = ("min", "max", "abs", "floor", "exp", "cosh", "sinh", "tanh", "erf", "erfc", "asinh", "pi")
"""Functions that have a value everywhere."""

Form = Mapping[str, Fraction]
"""A linear form in fields, the constant under ""."""
Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class Piece:
    """The integers from low to high, one number, or all numbers between low and high without the ends. None for an end that is infinite."""

    low: Fraction | None
    high: Fraction | None
    whole: bool = False

    @property
    def open(self) -> bool:
        """Whether its ends are not in it."""
        return not self.whole and (self.low is None or self.low != self.high)

    def cut(self, at: Fraction) -> tuple[Piece, ...]:
        """The pieces below, at and above a number."""
        if not self.whole:
            return Piece(self.low, at), Piece(at, at), Piece(at, self.high)
        below = Fraction(floor(at))
        below -= below == self.high
        return Piece(self.low, below, True), Piece(below + 1, self.high, True)

    def member(self, sign: int = 0) -> Fraction:
        """One of its numbers: below or above, as far as they go, or in between. Where there is no end it is far beyond all cuts."""
        low, high = self.low, self.high
        if low is not None and high is not None:
            return (low + high + sign * (high - low) * NEAR) / 2 if self.open else high if sign > 0 else low
        if low is None and high is None:
            return -FAR if sign < 0 else FAR
        end, out, away = (low, FAR, sign > 0) if low is not None else (high or Fraction(0), -FAR, sign < 0)
        return end if self.whole and not away else end + out


Cell = Mapping[str, Piece]
Record = Mapping[str, Fraction]


class _Turn(Exception):
    """That something changes at a number of a field."""

    def __init__(self, field: str, at: Fraction) -> None:
        super().__init__(field)
        self.field, self.at = field, at


class _Curved(Exception):
    """That an expression is not linear, or turns in several fields at once."""


def expressions(term: RecordSummand) -> tuple[Expr, ...]:
    """All that is read of a record."""
    beside = (one for other in term.also for one in expressions(other))
    return (term.value, *(guard.left for together in term.where for guard in together), *beside)


def _values(term: RecordSummand) -> tuple[Expr, ...]:
    """The numbers of which some are added up."""
    return (term.value, *(value for other in term.also for value in _values(other)))


@dataclass(frozen=True, slots=True)
class Added:
    """What one record, or person, adds to all sums. hull: vectors in whose hull it is. seen: vectors that occur, with such a record.

    bounded: whether the hull holds everything. whole: whether everything is integers. listed: whether everything is seen.
    """

    hull: tuple[Vector, ...]
    seen: Mapping[Vector, Record]
    bounded: bool
    whole: bool
    listed: bool


def read_as(claim: Claim, reading: str) -> Claim:
    """The claim with a sensitivity, or a query, for each of its sums. Raises Rejected, Undecided where that is none of this claim."""
    require(reading in (*UPPER, LOWER), Rejected(WHAT, "the place", f"{str(reading)[:40]!r} is no way to read sums"))
    every = model.sums_of(claim)
    persons = persons_of(every)
    require(persons.bounded or reading == LOWER, Rejected(WHAT, "the sums", "what a record adds is not bounded, or no bound is found"))
    require(bool(persons.seen) or reading != LOWER, Rejected(WHAT, "the sums", "no record is known to occur at the ends"))
    vectors = tuple(persons.seen) if reading == LOWER else persons.hull
    if reading == "together" and every[0].adjacency == "replace":
        vectors = _differences(vectors)
    place = 0

    def of(held: Any) -> Any:
        nonlocal place
        if held.sums is None:
            return held
        mine = [v[place : place + len(held.sums.terms)] for v in vectors]
        place += len(held.sums.terms)
        if reading == "apart":
            stated = {"adjacency": held.sums.adjacency} if isinstance(held, Part) else {}
            return replace(held, sums=None, sensitivity=_farthest(held.mechanism, held.sums, mine), **stated)
        adjacency = held.sums.adjacency if reading == LOWER else "l1"
        return replace(held, sums=None, query=model.Query(tuple(zip(*mine, strict=True)), adjacency))

    read: Claim = each(replace(claim, order="") if reading == "together" else claim, of)
    return read


def side_of(claim: Claim, reading: str) -> tuple[Claim, tuple[Side, ...]]:
    """The claim as it is read, and the sides on which that says something of the claim itself."""
    same = persons_of(model.sums_of(claim)).listed
    return read_as(claim, reading), ("upper",) if reading != LOWER else ("lower", "upper") if same else ("lower",)


def _farthest(noise: Mechanism, sums: RecordSums, vectors: list[Vector]) -> Expr:
    """How far neighbours are apart at most, in the norm of the noise."""
    norm, dimension = noise_norm(Claim(noise, None))
    moved = up_to_sign(_differences(vectors) if sums.adjacency == "replace" else vectors)
    return largest(model.LINF if dimension == 1 and norm.kind == "lp" else norm, moved, None)[0] if moved else ZERO


def _differences(vectors: Sequence[Vector]) -> tuple[Vector, ...]:
    pairs = list(combinations(vectors, 2)) or [(vectors[0], vectors[0])]
    return tuple(tuple(x - y for x, y in zip(a, b, strict=True)) for a, b in pairs)


def each(held: Any, change: Callable[[Any], Any]) -> Any:
    """A claim or a part with every part in it, and itself, changed; itself first."""
    held = change(held)
    mechanism: Mechanism = held.mechanism
    if isinstance(mechanism, model.Compose | model.Parallel):
        return replace(held, mechanism=replace(mechanism, parts=tuple(each(part, change) for part in mechanism.parts)))
    if model.parts_of(mechanism):
        return replace(held, mechanism=replace(mechanism, part=each(model.parts_of(mechanism)[0], change)))
    return held


@remembered(16)
def persons_of(every: tuple[RecordSums, ...]) -> Added:
    """What one person adds to all sums, with as many records as may be."""
    one, rows = added(every), every[0].rows
    if rows == 1:
        return one
    seen: dict[Vector, Record] = {(Fraction(0),) * sum(len(sums.terms) for sums in every): {}}
    hull = dict.fromkeys((*seen, *(tuple(rows * x for x in v) for v in one.hull)))
    seen |= {tuple(rows * x for x in v): record for v, record in one.seen.items()}
    return replace(one, hull=tuple(hull), seen=seen, listed=False)


def added(every: tuple[RecordSums, ...]) -> Added:
    """What one record adds to all sums. Raises Undecided where there are too many pieces or corners."""
    terms = [term for sums in every for term in sums.terms]
    cells = _first(terms, every[0].record)
    hull, seen, near = dict[Vector, None](), dict[Vector, Record](), dict[Vector, Record]()
    bounded = listed = True
    whole = [all(_is_whole_by_form(value, dict(every[0].record)) for value in _values(term)) for term in terms]
    broken, looked = [False] * len(terms), 0
    while cells:
        cell = cells.pop()
        looked += 1
        try:
            forms = [_resolved(term, cell) for term in terms]
        except _Turn as turn:
            if looked > MOST_PIECES:
                raise Undecided(f"{WHAT}: the fields of a record fall into more than {MOST_PIECES} pieces.") from None
            cells += [{**cell, turn.field: piece} for piece in cell[turn.field].cut(turn.at)]
            continue
        broken = [bad or isinstance(form, tuple) or not _is_whole(form, cell) for bad, form in zip(broken, forms, strict=True)]
        moving = sorted({name for form in forms if not isinstance(form, tuple) for name in _moving(form, cell)})
        curved = [form for form in forms if isinstance(form, tuple)]
        free = any(None in (cell[name].low, cell[name].high) for name in moving) or any(None in form for form in curved)
        inside = not free and not curved and not any(cell[name].open for name in moving)
        listed = listed and not moving and not curved
        for at in () if inside else _samples(cell):
            those = [_resolved(term, {name: Piece(x, x) for name, x in at.items()}) for term in terms]
            if not any(isinstance(form, tuple) for form in those):
                near[tuple(_value(form, at) for form in those if not isinstance(form, tuple))] = at
        if free:
            bounded = False
            continue
        if 2 ** len(moving) > MOST_PIECES:
            raise Undecided(f"{WHAT}: the fields of a record fall into more than {MOST_PIECES} pieces.")
        for corner in product(*((cell[name].low, cell[name].high) for name in moving)):
            ends_at = {name: end for name, end in zip(moving, corner, strict=True) if end is not None}
            at = {name: piece.member() for name, piece in cell.items()} | ends_at
            for ends in product(*(form if isinstance(form, tuple) else (_value(form, at),) for form in forms)):
                v = tuple(x for x in ends if x is not None)
                hull[v] = None
                if inside:
                    seen[v] = at
    if not bounded or not hull.keys() <= seen.keys():  # records near the ends, or far out, stand for those at the ends
        seen |= dict(list(near.items())[: MOST_VECTORS - len(seen)])
    outer, occur = (list(vectors) if listed else _outer(list(vectors)) for vectors in (hull, seen))
    if max(len(outer), len(occur)) > MOST_VECTORS:
        raise Undecided(f"{WHAT}: a record adds one of more than {MOST_VECTORS} extreme vectors.")
    integers = all(form or not bad for form, bad in zip(whole, broken, strict=True))
    return Added(tuple(outer), {v: seen[v] for v in occur}, bounded, integers, listed)


def _first(terms: Sequence[RecordSummand], record: Sequence[tuple[str, Domain]]) -> list[Cell]:
    """The cells that there are before any cut, of the fields that are read."""
    used = frozenset[str]().union(*(symbols(one) for term in terms for one in expressions(term)))
    fields = {name: _pieces(domain) for name, domain in record if name in used}
    if prod(map(len, fields.values())) > MOST_PIECES:
        raise Undecided(f"{WHAT}: the fields of a record fall into more than {MOST_PIECES} pieces.")
    return [dict(zip(fields, pieces, strict=True)) for pieces in product(*fields.values())]


def _is_whole_by_form(expr: Expr, record: Mapping[str, Domain]) -> bool:
    """Whether an expression is an integer for integers, whichever they are."""
    if isinstance(expr, Call) and expr.name in ("min", "max", "abs"):
        return all(_is_whole_by_form(part, record) for part in expr.args)
    if isinstance(expr, Add | Mul):
        return all(_is_whole_by_form(part, record) for part in expr.args) or is_whole(expr, record)
    return is_whole(expr, record)


def undefined(expr: Expr, record: Mapping[str, Domain]) -> Expr | None:
    """A part of an expression that has not certainly a value for all records; None where there is none."""
    cell = {name: Piece(closed(domain).lower, closed(domain).upper, domain.integer) for name, domain in record.items()}
    for part in children(expr):
        if (inside := undefined(part, record)) is not None:
            return inside
    total = isinstance(expr, Num | Sym | Add | Mul) or (isinstance(expr, Call) and expr.name in TOTAL)
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num):
        (low, high), n = _between(expr.base, cell), expr.exponent.value
        apart = (low is not None and low > 0) or (n.denominator == 1 and high is not None and high < 0)
        total = apart or (n >= 0 and (n.denominator == 1 or (low is not None and low >= 0)))
    if isinstance(expr, Call) and expr.name == "log":
        low = _between(expr.args[0], cell)[0]
        total = low is not None and low > 0
    return None if total else expr


def _samples(cell: Cell) -> Iterator[Record]:
    """Some records of a cell: at its ends, or far out, in all fields at once, and in one alone."""
    for sign in (-1, 1):
        yield {name: piece.member(sign) for name, piece in cell.items()}
        for name, piece in cell.items():
            yield {**{other: held.member() for other, held in cell.items()}, name: piece.member(sign)}


def _outer(vectors: list[Vector]) -> tuple[Vector, ...]:
    """The vectors, of numbers the least and the greatest alone."""
    return tuple(dict.fromkeys((min(vectors), max(vectors)))) if vectors and len(vectors[0]) == 1 else tuple(vectors)


def _pieces(domain: Domain) -> tuple[Piece, ...]:
    """A field's values, ends that are values by themselves."""
    domain = closed(domain)
    if domain.integer:
        return (Piece(domain.lower, domain.upper, True),)
    ends = ((domain.lower, domain.lower_open), (domain.upper, domain.upper_open))
    held = [Piece(end, end) for end, out in ends if end is not None and not out]
    return tuple(dict.fromkeys((*held, Piece(domain.lower, domain.upper))))


def _moving(form: Form, cell: Cell) -> list[str]:
    """The fields that a form changes with."""
    return [name for name, factor in form.items() if name and factor and (cell[name].low is None or cell[name].low != cell[name].high)]


def _value(form: Form, at: Mapping[str, Any]) -> Fraction:
    return sum((factor * (at[name] if name else 1) for name, factor in form.items() if factor), Fraction(0))


def _is_whole(form: Form, cell: Cell) -> bool:
    """Whether a form is an integer at all records of the cell."""
    fixed = _value({name: x for name, x in form.items() if name not in _moving(form, cell)}, {name: cell[name].low for name in cell})
    return fixed.denominator == 1 and all(cell[name].whole and form[name].denominator == 1 for name in _moving(form, cell))


def _extremes(form: Form, cell: Cell) -> Ends:
    """The least and the greatest value of a form on a cell, or what it comes near to; None where it has no bound."""
    low: Fraction | None = form.get("", Fraction(0))
    high = low
    for name, factor in form.items():
        if name and factor:
            below, above = (cell[name].low, cell[name].high) if factor > 0 else (cell[name].high, cell[name].low)
            low = None if low is None or below is None else low + factor * below
            high = None if high is None or above is None else high + factor * above
    return low, high


def _holds(form: Form, cell: Cell, strict: bool) -> bool:
    """Whether a form is at least 0, above 0 where strict, all over a cell. Raises _Turn, _Curved where it is here and not there."""
    low, high = _extremes(form, cell)
    moving = _moving(form, cell)
    apart = any(cell[name].open for name in moving)
    if low is not None and (low > 0 or (low == 0 and (apart or not strict))):
        return True
    if high is not None and (high < 0 or (high == 0 and (apart or strict))):
        return False
    if len(moving) > 1:
        raise _Curved
    (name,) = moving
    rest = _value({other: x for other, x in form.items() if other != name}, {other: piece.low for other, piece in cell.items()})
    raise _Turn(name, -rest / form[name])


def _linear(expr: Expr, cell: Cell) -> Form:
    """An expression as a linear form on a cell. Raises _Turn, _Curved."""
    if isinstance(expr, Num):
        return {"": expr.value}
    if isinstance(expr, Sym):
        return {expr.name: Fraction(1)}
    if isinstance(expr, Add):
        return _plus(*(_linear(term, cell) for term in expr.args))
    if isinstance(expr, Mul | Pow) and _operands(expr):
        found: Form = {"": Fraction(1)}
        for factor in (_linear(factor, cell) for factor in _operands(expr)):
            first, second = (found, factor) if not _moving(factor, cell) else (factor, found)
            if _moving(second, cell):
                raise _Curved
            times = _value(second, {name: piece.low for name, piece in cell.items()})
            found = {name: times * x for name, x in first.items()}
        return found
    if isinstance(expr, Call) and expr.name in ("min", "max", "abs"):
        forms = [_linear(arg, cell) for arg in expr.args]
        forms += [{name: -x for name, x in forms[0].items()}] if expr.name == "abs" else []
        best = forms[0]
        for form in forms[1:]:
            more = _holds(_plus(form, {name: -x for name, x in best.items()}), cell, strict=False)
            best = form if more == (expr.name != "min") else best
        return best
    raise _Curved


def _plus(*forms: Form) -> dict[str, Fraction]:
    found = dict[str, Fraction]()
    for form in forms:
        for name, x in form.items():
            found[name] = found.get(name, Fraction(0)) + x
    return found


def _resolved(term: RecordSummand, cell: Cell) -> Form | Ends:
    """What a record of a cell adds: a linear form, or ends between which it is. Raises _Turn."""
    found = _alone(term, cell)
    for other in term.also:
        more = _resolved(other, cell)
        if not isinstance(found, tuple) and not isinstance(more, tuple):
            found = _plus(found, more)
            continue
        ends = [form if isinstance(form, tuple) else _extremes(form, cell) for form in (found, more)]
        found = _total([low for low, _ in ends]), _total([high for _, high in ends])
    return found


def _alone(term: RecordSummand, cell: Cell) -> Form | Ends:
    """What it adds without what stands beside. Raises _Turn."""
    try:
        counted = any(all(_holds(_linear(guard.left, cell), cell, guard.strict) for guard in every) for every in term.where)
    except _Curved:
        low, high = _between(term.value, cell)
        return None if low is None else min(low, Fraction(0)), None if high is None else max(high, Fraction(0))
    if not counted:
        return {}
    try:
        return _linear(term.value, cell)
    except _Curved:
        return _between(term.value, cell)


def _between(expr: Expr, cell: Cell) -> Ends:
    """Ends between which an expression is on a cell."""
    if isinstance(expr, Num):
        return expr.value, expr.value
    if isinstance(expr, Sym):
        return cell[expr.name].low, cell[expr.name].high
    inside = [_between(part, cell) for part in _operands(expr)]
    lows, highs = [low for low, _ in inside], [high for _, high in inside]
    if isinstance(expr, Add):
        return _total(lows), _total(highs)
    if isinstance(expr, Mul) or (isinstance(expr, Pow) and inside):
        found = inside[0]
        for other in inside[1:]:
            found = _times(found, other)
        return (Fraction(0) if found[0] is None or found[0] < 0 else found[0], found[1]) if _even(expr) else found
    if isinstance(expr, Call) and expr.name in ("min", "max"):
        pick = min if expr.name == "min" else max
        below, above = ([x for x in ends if x is not None] for ends in (lows, highs))
        low = pick(below) if below and (expr.name == "max" or len(below) == len(lows)) else None
        return low, pick(above) if above and (expr.name == "min" or len(above) == len(highs)) else None
    if isinstance(expr, Call) and expr.name == "floor":
        low, high = inside[0]
        return None if low is None else Fraction(floor(low)), None if high is None else Fraction(floor(high))
    if isinstance(expr, Call) and expr.name == "abs":
        (low, high) = inside[0]
        far = None if low is None or high is None else max(-low, high)
        return max(Fraction(0), *(x for x in (low, None if high is None else -high) if x is not None), Fraction(0)), far
    return None, None


def _operands(expr: Expr) -> tuple[Expr, ...]:
    """The operands; of a power with a small integer as exponent the base so many times, of another none."""
    if isinstance(expr, Pow):
        n = expr.exponent.value if isinstance(expr.exponent, Num) else Fraction(0)
        return (expr.base,) * int(n) if n.denominator == 1 and 1 <= n <= 16 else ()
    return expr.args if isinstance(expr, Add | Mul | Call) else ()


def _even(expr: Expr) -> bool:
    return isinstance(expr, Pow) and len(_operands(expr)) % 2 == 0


def _total(ends: list[Fraction | None]) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return sum(known, Fraction(0)) if len(known) == len(ends) else None


def _times(a: Ends, b: Ends) -> Ends:
    """The ends of a product; 0 times what has no bound is 0, as the bound is never reached."""
    if None not in (*a, *b):
        products = [x * y for x in a for y in b if x is not None and y is not None]
        return min(products), max(products)
    if (Fraction(0), Fraction(0)) in (a, b):
        return Fraction(0), Fraction(0)
    if all(low is not None and low >= 0 for low, _ in (a, b)):
        assert a[0] is not None and b[0] is not None
        return a[0] * b[0], None
    return None, None

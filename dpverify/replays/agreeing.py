"""The function that runs and the declaration that is proved, given the same answers, parameters and noises: what both tell."""

from __future__ import annotations

import ast
import itertools
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from dpverify.catalogue.programs import Text, named
from dpverify.catalogue.toml import Fault
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import FoundByAudit, NotCertain, SpecError
from dpverify.programs.agreement import Tape, Watched, carried_out, rendered
from dpverify.programs.compiled import Compiled
from dpverify.programs.naming import is_whole, table_of
from dpverify.programs.reading import Faulty, compile_program, default_parameters
from dpverify.programs.values import Law
from dpverify.replays.calls import exact
from dpverify.replays.code import Lines, constants_of, functions_of, near
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.model import Domain

NO_DIFFERENCE_SEEN, DIFFERENCE, NOT_COMPARED = "NO_DIFFERENCE_SEEN", "DIFFERENCE", "NOT_COMPARED"
MOST_ANSWERS: Final = 7
MOST_COUNTED: Final = 24
LARGEST_NAMED: Final = 1000
MOST_SETTINGS: Final = 6
NUMBER: Final = re.compile(r"(?<![A-Za-z_])-?\d+(?:/\d+|\.\d+)?(?:e[+-]?\d+)?")
COUNTED: Final = re.compile(r" \(\d+\)(?= |$)")
"""What a declaration puts after a word that several branches tell, of which the program shows otherwise which was taken."""
CLOSE: Final = Fraction(1, 10**9)


@dataclass(frozen=True)
class Shown:
    """Data, parameters and noises, each as (what it is drawn from, its value), and what the function and the declaration tell of them."""

    data: Any
    parameters: Mapping[str, Any]
    noises: tuple[tuple[str, Any], ...]
    function: str
    declaration: str


@dataclass(frozen=True, repr=False)
class Agreement:
    """Whether a function tells what its declaration tells, as far as was tried; printing it says all of it. It is neither true nor false.

    finding: "NO_DIFFERENCE_SEEN", "DIFFERENCE", which `example` shows, or "NOT_COMPARED", for which reason says why. kind: of the
    declaration. tries: how often both were carried out; branches: how many of the declaration's were taken, and how many there are; left:
    the lines of the function, as FILE:LINE, that never ran.
    """

    name: str
    finding: str
    kind: str
    tries: int
    branches: tuple[int, int]
    left: tuple[str, ...]
    example: Shown | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        raise NotCertain(f"an agreement ({self.finding}) is neither true nor false. Ask its finding, or call raise_unless_clean().")

    @property
    def is_clean(self) -> bool:
        """Whether both were compared and no difference was seen."""
        return self.finding == NO_DIFFERENCE_SEEN

    def raise_unless_clean(self) -> Agreement:
        """The agreement itself where no difference was seen. Raises FoundByAudit with it else."""
        if not self.is_clean:
            raise FoundByAudit(str(self))
        return self

    def as_json(self) -> dict[str, Any]:
        """What it says as data of JSON, with exact numbers as text."""
        shown = self.example
        return {
            "program": self.name, "finding": self.finding, "kind": self.kind, "tries": self.tries, "branches_taken": self.branches[0],
            "branches": self.branches[1], "lines_not_run": list(self.left), "reason": self.reason,
            "example": None if shown is None else {
                "data": json.loads(json.dumps(shown.data, default=str)), "parameters": {k: str(v) for k, v in shown.parameters.items()},
                "noises": [{"noise": law, "value": str(value)} for law, value in shown.noises],
                "function": shown.function, "declaration": shown.declaration,
            },
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.finding}: {self.name}, {self.tries} times with the same noise as its declaration ({self.kind})"]
        if self.branches[1]:
            lines.append(f"  branches of the declaration that were taken: {self.branches[0]} of {self.branches[1]}")
        if self.tries:
            lines.append(f"  lines that never ran: {', '.join(self.left) or 'none'}")
        if self.example is not None:
            shown = self.example
            lines += [f"  data: {shown.data!r}", f"  parameters: { {k: str(v) for k, v in shown.parameters.items()} }"]
            lines += [f"  noises: {', '.join(f'{law} = {value}' for law, value in shown.noises) or 'none'}"]
            lines += [f"  the function tells    {shown.function}", f"  the declaration tells {shown.declaration}"]
        lines += [f"  reason: {self.reason}"] if self.reason is not None else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"


class Differs(Exception):
    """That both tell different things."""


class Uncompared(Exception):
    """That a declaration is of a kind that is not carried out here."""


@dataclass
class _Noises:
    """The noises of one try: each is chosen once. declared: the laws that the declaration has."""

    choose: Callable[[Law], Any]
    declared: Sequence[Law]
    values: dict[tuple[int, Law, int], Any] = field(default_factory=dict)

    def drawn(self, step: int, law: Law, count: int) -> Any:
        """The noise of a step, and which one of that law."""
        key = (step, law, count)
        if key not in self.values:
            self.values[key] = self.choose(law)
        return self.values[key]

    def law_of(self, name: str, values: tuple[Any, ...], named_: dict[str, Any]) -> Law:
        """The law of a draw: that of the declaration which it is, up to how floats round."""
        numbers = [exact(each) for each in (*values, *named_.values())]
        for law in self.declared:
            table = table_of(law)
            if name == "of" and law[0][0] == "json":
                return law
            said = [Fraction(table[key]) for key in table if key not in ("kind", "name") and _is_number(table[key])]
            if table.get("name") == name and len(said) == len(numbers) and all(map(_close, said, numbers)):
                return law
        return ("kind", "builtin"), ("name", name), *((str(at), str(number)) for at, number in enumerate(numbers))


def _is_number(text: Any) -> bool:
    try:
        Fraction(text)
    except (ValueError, TypeError):
        return False
    return True


def _close(a: Fraction, b: Fraction | None) -> bool:
    return b is not None and abs(a - b) <= CLOSE * max(abs(a), abs(b), Fraction(1))


def same_told(a: str, b: str) -> bool:
    """Whether two texts are the same, numbers up to how floats round."""
    if a == b:
        return True
    one, other = NUMBER.findall(a), NUMBER.findall(b)
    if NUMBER.sub("#", a) != NUMBER.sub("#", b) or len(one) != len(other):
        return False
    return all(_close(Fraction(x), Fraction(y)) for x, y in zip(one, other, strict=True))


def in_a_row(told: Any) -> str:
    """What a program tells, one after the other, as text."""
    items = list(told) if isinstance(told, list | Iterator) else [] if told is None else [told]
    return " ".join(map(rendered, items))


def numbers_in(told: Any) -> list[Any]:
    """The numbers of what a program tells."""
    if isinstance(told, Mapping):
        told = list(told.values())
    if isinstance(told, list | tuple | Iterator):
        return [number for each in told for number in numbers_in(each)]
    return [told] if exact(told) is not None and not isinstance(told, bool) else []


@dataclass
class _Agreeing:
    """The comparison of one program."""

    function: Callable[..., Any]
    text: Text
    parameters: Mapping[str, Any]
    length: int | None
    constants: Sequence[Any]
    settings: dict[tuple[tuple[str, Fraction], ...], Compiled] = field(default_factory=dict)
    told: dict[Any, str] = field(default_factory=dict)
    fitted: dict[Any, list[tuple[Any, ...]]] = field(default_factory=dict)
    taken: set[Any] = field(default_factory=set)
    branches: int = 0
    kind: str = ""
    tries: int = 0
    shown: Shown | None = None

    def declared(self, values: Mapping[str, Fraction]) -> Compiled:
        """The declaration with values for its parameters. Raises Faulty."""
        key = tuple(sorted(values.items()))
        if key not in self.settings:
            module, program = named(self.text)
            read: dict[str, Expr] = {name: Num(value) for name, value in values.items()}
            options = {} if self.length is None else {"answers": self.length}
            self.settings[key] = compile_program(module, program, read, {}, options, plain=True)
        return self.settings[key]

    def one(self, data: Any) -> None:
        """Carry both out once. Raises Differs, Uncompared."""
        values = {name: data.draw(one) for name, one in self.parameters.items()}
        if len(self.settings) >= MOST_SETTINGS and tuple(sorted(values.items())) not in self.settings:
            values = dict(data.draw(st.sampled_from(list(self.settings))))
        found = self.declared(values)
        table = found.mechanism.get("part", found.mechanism) if found.mechanism["kind"] == "post_process" else found.mechanism
        self.kind = table["kind"] if table["kind"] != "builtin" else f"{table['name']} noise"
        carry = {"stream": self.stream, "noisy_max": self.greatest, "builtin": self.added, "compose": self.added}.get(table["kind"])
        if carry is None:
            raise Uncompared(f"declarations of the kind {table['kind']} are not carried out")
        laws = sorted({law for law, _ in found.draws.values()} | set(_laws(table)), key=repr)
        odd = any(isinstance(one, float) for one in self.constants)

        def choose(law: Law) -> Any:
            whole = is_whole(law)
            number = data.draw(st.integers(-9, 9))
            return number if whole else Fraction(number, 2) + (Fraction(data.draw(st.integers(1, 999)), 4096) if odd else 0)

        noises = _Noises(choose, laws)
        given_data, function, declaration, agree = carry(data, found, table, values, noises)
        self.tries += 1
        if not agree:
            shown = tuple((_words(law), value) for (_, law, _), value in noises.values.items())
            self.shown = Shown(given_data, values, shown, function, declaration)
            raise Differs

    def run(self, data: Any, values: Mapping[str, Any], noises: _Noises, *, watched: bool) -> Any:
        """What the function tells."""
        tape = Tape(noises.drawn, noises.law_of)
        told = self.function(Watched(data, tape) if watched else data, **values, noise=tape)
        return list(told) if isinstance(told, Iterator) else told

    # -- by the kind of the declaration

    def answers(self, data: Any, width: int, size: int | None, whole: bool) -> list[Any]:
        """Answers, each one number or several: small ones, and those that the code names; as many as it counts up to, now and then."""
        small = st.integers(-5, 5) if whole else st.integers(-10, 10).map(lambda x: Fraction(x, 2) if x % 2 else x // 2)
        named_ = [one for one in near(self.constants) if isinstance(one, int) and 5 < abs(one) <= LARGEST_NAMED]
        one = small | st.sampled_from(named_) if named_ else small
        each = one if width == 1 else st.lists(one, min_size=width, max_size=width)
        many = [each + 1 for each in self.constants if isinstance(each, int) and MOST_ANSWERS <= each < MOST_COUNTED]
        size = size if size is not None else data.draw(st.integers(1, MOST_ANSWERS) | st.sampled_from([MOST_ANSWERS, *many]))
        found: list[Any] = data.draw(st.lists(each, min_size=size, max_size=size))
        return found

    def stream(self, data: Any, found: Compiled, table: Mapping[str, Any], values: Mapping[str, Any], noises: _Noises) -> Any:
        """A stream is carried out; what is told of it alone is a function of it."""
        reads, queries = table["answers"], table.get("queries")
        at_once = queries == 1 and len(reads) > 1
        size = len(reads) if at_once else int(str(queries)) if str(queries).isdigit() else None
        whole = any(map(is_whole, noises.declared))
        answers = self.answers(data, 1 if at_once else len(reads), size, whole)
        given_data = answers[0] if found.alone else answers
        told = self.run(given_data, values, noises, watched=not (at_once or found.alone))
        function = in_a_row(told)
        self.branches = max(self.branches, len(table["step"]))
        places: list[int] = []
        declaration = carried_out(table, found.draws, answers, noises.drawn, values, places.append)
        self.taken |= set(places)
        words = tuple(word for word in (table["step"][one]["emit"] for one in places) if word not in ("go on", "stop"))
        if isinstance(told, list) and declaration.startswith("["):  # one list that is told, and not one after the other
            function = rendered(told)
        said = COUNTED.sub("", declaration)
        same = same_told(function, declaration) or same_told(function, said)
        if found.mechanism["kind"] != "post_process" and (same or not (found.ends and function.startswith(said))):
            return given_data, function, declaration, same
        before = self.told.setdefault((tuple(sorted(values.items())), len(answers), words, declaration), function)
        return given_data, function, f"{declaration}, of which it told {before} before", same_told(function, before)

    def greatest(self, data: Any, found: Compiled, table: Mapping[str, Any], values: Mapping[str, Any], noises: _Noises) -> Any:
        """A noisy maximum is the place of the greatest, or the least, of answers with their noise."""
        if table.get("report", "index") != "index":
            raise Uncompared("the value of the greatest noisy answer is told, up to a factor that the declaration leaves out")
        size = int(table["candidates"]) if str(table.get("candidates")).isdigit() else data.draw(st.integers(2, MOST_ANSWERS))
        (law,) = noises.declared or (next(iter(_laws({"parts": [table["noise"]]}))),)
        answers = self.answers(data, 1, size, is_whole(law))
        told = self.run(answers, values, noises, watched=True)
        multiple = _multiple(str(found.claim.get("sensitivity", 1)), "sensitivity" in named(self.text)[1].options)
        key = tuple(sorted(values.items()))
        ways = self.fitted.setdefault(key, list(itertools.product((1, -1), (1, -1))))
        places = {}
        for sign, turned in ways:
            noisy = [sign * (multiple * answer + turned * noises.drawn(at, law, 0)) for at, answer in enumerate(answers)]
            places[sign, turned] = {at for at, one in enumerate(noisy) if one == max(noisy)}
        self.fitted[key] = [way for way in ways if told in places[way]] or ways
        agree = any(told in each for each in places.values())
        self.branches = max(self.branches, size)
        self.taken.add(told)
        return answers, rendered(told), " or ".join(sorted({rendered(min(each)) for each in places.values()})), agree

    def added(self, data: Any, found: Compiled, table: Mapping[str, Any], values: Mapping[str, Any], noises: _Noises) -> Any:
        """Each number that is told is a multiple of the noise and of the query, and a constant."""
        if found.mechanism["kind"] == "post_process":
            raise Uncompared("the declaration is of noisy sums, and the program tells what it makes of them")
        parts = table["parts"] if table["kind"] == "compose" else [{**table, **found.claim}]
        if any("query" not in part for part in parts):
            raise Uncompared("noise is added to a number that the declaration knows by its sensitivity alone")
        fields = parts[0]["query"]["record"]
        told_of = [Fraction(one) for one in NUMBER.findall(str([(part["query"]["sum"], part["query"].get("where")) for part in parts]))]
        known = {name: self.field(domain, [*self.constants, *map(int, told_of)]) for name, domain in fields.items()}
        rows = data.draw(st.lists(st.fixed_dictionaries(known), max_size=4))
        given_rows = [{name: as_word(found.words.get(name), value) for name, value in row.items()} for row in rows]
        given_rows = [row["row"] for row in rows] if set(fields) == {"row"} and "row" not in str(self.constants) else given_rows
        told = numbers_in(self.run(given_rows, values, noises, watched=False))
        sums = [query_of(part["query"], rows) for part in parts]
        if len(told) < len(parts):
            return given_rows, rendered(told), f"{len(parts)} numbers", False
        drawn = [(law, count, value) for (_, law, count), value in noises.values.items()]
        key = tuple(sorted(values.items()))
        cases = self.fitted.setdefault(key, [])
        cases.append((tuple(sums), tuple(exact(one) for one in told), {(law, count): value for law, count, value in drawn}))
        agree = all(
            any(_fits(cases, at, place, one) for place in range(len(told)) for one in _of_law(cases, part)) for at, part in enumerate(parts)
        )
        if not agree:
            cases.pop()
        noisy = [f"{rendered(total)} + noise" for total in sums]
        return given_rows, rendered(told), f"multiples of {', '.join(noisy)}, as before", agree

    def field(self, domain: Any, constants: Sequence[Any]) -> st.SearchStrategy[Any]:
        """Values of a field: few of them, and those that the code and the declaration name."""
        read = read_value_or_domain(str(domain))
        named_ = [Fraction(str(one)) for one in near(constants) if isinstance(one, int | float)]
        fits = [value for value in (*named_, *map(Fraction, range(-3, 4))) if isinstance(read, Domain) and read.holds(value)]
        if isinstance(read, Domain) and read.integer:
            fits = [value for value in fits if value.denominator == 1]
        return st.sampled_from(sorted({int(value) if value.denominator == 1 else value for value in fits}) or [0])


def _multiple(moved: str, said: bool) -> Fraction:
    """The multiple of answers that is compared, from how far it moves; said: whether that has a factor for answers."""
    factor = re.match(r"\((-?[\d/]+)\)\*\(", moved)
    if said:
        return Fraction(factor[1]) if factor else Fraction(1)
    return Fraction(moved) if _is_number(moved) else Fraction(1)


def as_word(words: Mapping[int, str] | None, code: Any) -> Any:
    """The word that a number of a field stands for, another where it stands for none; the number where the field has no words."""
    return code if words is None else words.get(code, f"another word {code}")


def _of_law(cases: Sequence[tuple[Any, ...]], part: Mapping[str, Any]) -> list[Any]:
    """The draws, in all cases, of the law of a part."""
    first = cases[0][2]
    return [one for one in first if table_of(one[0]).get("name", "") == part.get("name", "")]


def _fits(cases: Sequence[tuple[Any, ...]], at: int, place: int, draw: Any) -> bool:
    """Whether, in all cases, the number at a place is a constant and one multiple of the sum and the draw together."""
    points = [(sums[at] + drawn[draw], told[place]) for sums, told, drawn in cases if draw in drawn and place < len(told)]
    if len(points) != len(cases):
        return False
    (x, y), *rest = points
    other = next(((a, b) for a, b in rest if a != x), None)
    if other is None:
        return all(_close(b, y) for _, b in rest)
    unit = Fraction(other[1] - y) / (other[0] - x)
    return unit != 0 and all(_close(y + unit * (a - x), b) for a, b in rest)


def query_of(query: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Fraction:
    """The sum that a query is, over rows."""
    (text,) = query["sum"]
    kept = [row for row in rows if "where" not in query or _value(ast.parse(query["where"], mode="eval").body, row)]
    return sum((Fraction(_value(ast.parse(str(text), mode="eval").body, row)) for row in kept), Fraction(0))


COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.GtE: operator.ge, ast.Gt: operator.gt, ast.LtE: operator.le, ast.Lt: operator.lt, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
CALLED: Final[Mapping[str, Callable[..., Any]]] = {"min": min, "max": max, "abs": abs}


def _value(node: Any, row: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return Fraction(str(value)) if isinstance(value, int | float) else value
        case ast.Name(name):
            return row[name]
        case ast.UnaryOp(op, inside):
            return not _value(inside, row) if isinstance(op, ast.Not) else -_value(inside, row)
        case ast.BinOp(left, op, right):
            return BINARY[type(op)](Fraction(_value(left, row)), _value(right, row))
        case ast.BoolOp(op, parts):
            return (all if isinstance(op, ast.And) else any)(_value(each, row) for each in parts)
        case ast.Compare(left, ops, rest):
            values = [_value(left, row), *(_value(each, row) for each in rest)]
            return all(COMPARED[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.Call(ast.Name("min" | "max" | "abs" as name), parts):
            return CALLED[name](*(_value(each, row) for each in parts))
    raise Uncompared(f"{ast.unparse(node)} in a query is not carried out")


def _laws(table: Mapping[str, Any]) -> Iterator[Law]:
    """The laws of noise that a table holds."""
    for held in (table, table.get("noise"), *table.get("parts", ())):
        if isinstance(held, Mapping) and held.get("kind") == "builtin":
            yield tuple((key, value) for key, value in held.items() if key not in ("query", "adjacency", "sensitivity", "neighbours"))
    for part in table.get("parts", ()):
        if isinstance(part, Mapping) and part.get("kind") == "compose":
            yield from _laws(part)


def _words(law: Law) -> str:
    table = table_of(law)
    inside = ", ".join(f"{value}" for key, value in table.items() if key not in ("kind", "name"))
    return f"{table.get('name', table.get('kind', 'noise'))}({inside})"


def _values(said: Any) -> st.SearchStrategy[Fraction]:
    """Values of a parameter, from what the decorator or the caller says of it. Raises SpecError."""
    try:
        read = read_value_or_domain(str(said))
    except Fault as fault:
        raise SpecError(f"parameters: {said!r:.60} {fault}") from fault
    if not isinstance(read, Domain):
        number = exact(said) if not isinstance(said, str) else Fraction(said) if _is_number(said) else None
        if number is None:
            raise SpecError(f"parameters: {said!r:.60} is no rational number, and both are carried out with rational ones.")
        return st.just(number)
    few = [Fraction(one) for one in (0, 1, 2, 3, -1, -2)] + ([] if read.integer else [Fraction(1, 2), Fraction(3, 2)])
    fits = [value for value in few if read.holds(value)]
    steps = (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 100), Fraction(-1, 100))
    ends = [Fraction(str(end)) + step for end in (read.lower, read.upper) if end is not None for step in steps]
    fits += [value for value in ends if read.holds(value) and not (read.integer and value.denominator != 1)]
    return st.sampled_from(sorted(set(fits)))


def agreement(
    function: Callable[..., Any], text: Text, parameters: Mapping[str, Any] | None, answers: int | None, tries: int, seed: int
) -> Agreement:
    """Carry a program and its declaration out `tries` times with the same noises. Raises SpecError for what cannot be read."""
    said = default_parameters(named(text)[1], dict(parameters or {}))
    functions = functions_of(function)
    constants = constants_of(functions)
    lines = Lines(functions)
    known = {name: _values(one) for name, one in said.items()}
    state = _Agreeing(function, text, known, answers, constants)
    reason: list[str] = []

    @seeded(seed)
    @settings(
        max_examples=tries, deadline=None, database=None, phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(st.data())
    def tried(data: Any) -> None:
        with lines.noted():
            state.one(data)

    finding = NO_DIFFERENCE_SEEN
    try:
        tried()
    except Differs:
        finding = DIFFERENCE
    except Uncompared as error:
        finding, reason = NOT_COMPARED, [str(error)]
    except Faulty as error:
        raise SpecError([f"{text.file}: {fault}" for fault in error.faults]) from error
    branches = (len(state.taken), state.branches) if state.branches else (0, 0)
    example = state.shown if finding == DIFFERENCE else None
    return Agreement(text.name, finding, state.kind, state.tries, branches, tuple(lines.left), example, "; ".join(reason) or None)

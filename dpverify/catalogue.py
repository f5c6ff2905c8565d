"""Claim files to claims: exact, strict, and data only.

A file is one mechanism and its claims, in TOML. Numbers are kept exact: a decimal is the decimal it
is written as. Everything wrong with a file is listed at once, with file, claim and key, in one
SpecError. Nothing in a file is ever run, but for `use = "path.py:name"`, which says so on stderr.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeVar

from dpverify.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.declare import Mechanism as Declaration
from dpverify.errors import DpverifyError, ExprError, SpecError
from dpverify.expr import (
    FUNCTIONS,
    ONE,
    ZERO,
    Expr,
    Num,
    Pow,
    Sym,
    add,
    call,
    children,
    div,
    format_expr,
    mul,
    neg,
    num,
    parse,
    parse_number,
    power,
    sub,
    substitute,
    symbols,
)
from dpverify.geometry import ADJACENCIES, norm_faults, query_faults
from dpverify.kernel import lies_in
from dpverify.model import (
    KINDS,
    L1,
    L2,
    LINF,
    TIGHT,
    Claim,
    Domain,
    Exponential,
    Kernel,
    Matrix,
    Mechanism,
    Mixture,
    Norm,
    Product,
    Query,
    Radial,
    Sampled,
    Selection,
    Staircase,
    Table,
    Translation,
)
from dpverify.search import sanity

MAX_BYTES: Final = 4 << 20
MAX_NESTING: Final = 32
MAX_NODES: Final = 20_000
VERDICTS: Final = ("proved", "refuted", "unknown")
COMBINATORS: Final = ("compose", "subsample", "group", "post_process", "parallel", "lipschitz")
VARIABLES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "radial": {"profile": ("r",)},
    "translation": {"density": ("z",)},
    "product": {"density": ("z",)},
    "kernel": {"density": ("y", "theta")},
    "mixture": {"profile": ("r", "v"), "mixing": ("v",)},
}
"""The variables of each kind's expressions: bound by the kind, so no parameter may take their names."""

NUMBER_HELP: Final = 'Write an integer, a decimal, a fraction "887/500" or an expression such as "log(3)".'
DOMAIN_HELP: Final = (
    'a domain: "positive", "nonnegative", "real", "positive integer", "integer >= 2", "in (0, 1)", "in [0, 1)", "> 1", ">= 1", "< 3"'
)


@dataclass(frozen=True, slots=True)
class Stated:
    """One claim of a file. expect: the verdict that counts as success; adjacency: as named by the author; line: of its header."""

    claim: Claim
    expect: str = "PROVED"
    utility: bool = False
    adjacency: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True)
class Spec:
    """One claim file. mechanism: its name, the file's stem; source: where a declaration by `use` says it comes from."""

    file: str
    mechanism: str
    claims: tuple[Stated, ...]
    audit: Mapping[str, Any] | None = None
    source: str = ""


# -- finding files --------------------------------------------------------------------------------


def shelf() -> Path:
    """The folder that holds the packaged specs/ and mechanisms/: inside an installed package, or the checkout."""
    here = Path(__file__).resolve().parent
    return here / "_shelf" if (here / "_shelf").is_dir() else here.parent


def resolve(name: str) -> list[Path]:
    """The claim files of a path or a name: a file, all *.toml under a directory, or specs/NAME.toml here or on the shelf.

    Raises SpecError where there are none.
    """
    path = Path(name)
    if path.is_dir():
        found = sorted(path.rglob("*.toml"))
        if not found:
            raise SpecError(f"{name}: no claim files (*.toml) in this directory.")
        return found
    if path.exists():
        return [path]
    if re.fullmatch(r"[\w-]+", name):
        folders = (Path("specs"), shelf() / "specs")
        for folder in folders:
            if (folder / f"{name}.toml").is_file():
                return [folder / f"{name}.toml"]
        known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
        raise SpecError(f"{name}: no such file, and no mechanism of this name in specs/ or on the shelf.{_meant(name, known)}")
    raise SpecError(f"{name}: no such file or directory.")


# -- reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Decimal:
    """A TOML decimal as it is written."""

    text: str


class _Fault(Exception):
    """What is wrong with one value; the reader of the table adds where."""


T = TypeVar("T")
D = TypeVar("D")


def read_spec(path: str | Path) -> Spec:
    """The claims of a file. Raises SpecError listing all that is wrong with it."""
    file = str(path)
    try:
        text = _read_text(Path(path))
        _bound_nesting(text)
        data = tomllib.loads(text, parse_float=_Decimal)
        return _Reader(file, text, data).spec()
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except RecursionError as error:
        raise SpecError(f"{file}: nested too deeply.") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: not TOML: {error}.") from error
    except ValueError as error:  # integers of more digits than Python reads, impossible dates
        raise SpecError(f"{file}: not readable: {error}.") from error
    except _Fault as error:
        raise SpecError(f"{file}: {error}") from error


def _read_text(path: Path) -> str:
    with path.open("rb") as stream:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise _Fault(f"{size} bytes; a claim file has at most {MAX_BYTES}.")
        raw = stream.read(MAX_BYTES + 1)  # of a device or a pipe the size says nothing
    if len(raw) > MAX_BYTES:
        raise _Fault(f"more than {MAX_BYTES} bytes; that is too large for a claim file.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Fault(f"not UTF-8 at byte {error.start}. Save it as UTF-8.") from error


_LEXEME = re.compile(
    r'"""(?:[^\\]|\\.)*?"""' r"|'''.*?'''" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|#[^\n]*" r"|[\[\]{}.\n=,]",
    re.DOTALL,
)


def _bound_nesting(text: str) -> None:
    """Refuse brackets and dotted keys deeper than any claim needs, before the parser recurses into them."""
    depth = dots = 0
    for match in _LEXEME.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        dots = dots + 1 if mark == "." else 0 if mark in "\n=,[{" else dots
        if depth > MAX_NESTING or dots > MAX_NESTING:
            line = text.count("\n", 0, match.start()) + 1
            raise _Fault(f"nested more than {MAX_NESTING} deep at line {line}.")


class _Table:
    """One TOML table, read key by key: what is missing, unknown or wrong becomes a fault with its place."""

    def __init__(self, data: Mapping[str, Any], where: str, faults: list[str]) -> None:
        self.data, self.where, self.faults = data, where, faults
        self.taken: set[str] = set()

    def fault(self, text: str) -> None:
        self.faults.append(f"{self.where}: {text}")

    def has(self, key: str) -> bool:
        return key in self.data

    def need(self, key: str, read: Callable[[Any], T], default: D) -> T | D:
        """The value under a key that must be there; a fault and `default` when it is not, or is wrong.

        The default only lets reading go on, so that all faults are found; nothing with a fault gets through.
        """
        if key not in self.data:
            self.taken.add(key)
            self.fault(f"{key} is missing.{_meant(key, [k for k in self.data if k not in self.taken])}")
        return self.may(key, read, default)

    def may(self, key: str, read: Callable[[Any], T], default: D) -> T | D:
        """The value under a key; `default` where it is absent, or wrong, which is a fault."""
        self.taken.add(key)
        if key not in self.data:
            return default
        try:
            return read(self.data[key])
        except _Fault as error:
            self.fault(f"{key} = {_show(self.data[key])} {error}")
        except ExprError as error:
            self.fault(f"{key} = {_show(self.data[key])}: {error}")
        return default

    def one_of(self, keys: tuple[str, ...]) -> str | None:
        """The only one of the keys that is there; a fault where none or several are."""
        given = [key for key in keys if key in self.data]
        if len(given) == 1:
            return given[0]
        self.taken.update(keys)
        self.fault(f"give {' or '.join(keys)}{', not both.' if given else ': it is missing.'}")
        return None

    def done(self) -> None:
        """Whatever has not been asked for is unknown."""
        for key in self.data:
            if key not in self.taken:
                self.fault(f"unknown key {_show(key)}.{_meant(key, self.taken)}")


class _Reader:
    """One file: the mechanism first, then each claim against it."""

    def __init__(self, file: str, text: str, data: Mapping[str, Any]) -> None:
        self.file, self.data = file, data
        self.faults: list[str] = []
        self.lines = [text.count("\n", 0, m.start(1)) + 1 for m in re.finditer(r"^[ \t]*(\[\[)[ \t]*claim[ \t]*\]\]", text, re.MULTILINE)]
        self.values: dict[str, Expr] = {}
        self.domains: dict[str, Domain] = {}
        self.broken: set[str] = set()
        self.source = ""

    def spec(self) -> Spec:
        top = _Table(self.data, self.file, self.faults)
        mechanism_table = top.need("mechanism", _table, None)
        claim_tables = top.need("claim", _claim_tables, ())
        audit = top.may("audit", _table, None)
        top.done()
        name = Path(self.file).stem
        mechanism = None if mechanism_table is None else self._mechanism(_Table(mechanism_table, self._at("mechanism"), self.faults))
        if audit is not None:
            self._audit(_Table(audit, self._at("audit"), self.faults))
        tables = [_Table(data, self._at(f"claim {i}"), self.faults) for i, data in enumerate(claim_tables, 1)]
        claims = [self._claim(table, mechanism, name, i) for i, table in enumerate(tables, 1)]
        self._unique_names(tables)
        if not self.faults:
            self._sane(claims)
        if self.faults:
            raise SpecError(self.faults)
        return Spec(self.file, name, tuple(claim for claim in claims if claim is not None), audit, self.source)

    def _at(self, place: str) -> str:
        return f"{self.file}, {place}"

    # -- the mechanism

    def _mechanism(self, table: _Table) -> Mechanism | None:
        """The mechanism with its parameters put in; None where it cannot even be told what it is."""
        if table.has("use"):
            mechanism = self._used(table)
        else:
            kind = table.need("kind", _kind, None)
            if kind == "builtin":
                mechanism = self._builtin(table)
            else:
                self._parameters(table, table.may("parameters", _table, {}), VARIABLES.get(kind or "", {}))
                mechanism = _KINDS[kind](table) if kind is not None else None
                if kind is None:
                    return None
        table.done()
        if mechanism is None:
            return None
        try:
            mechanism = _substituted(mechanism, self.values)
            for fault in _mechanism_faults(mechanism, self.domains, self.broken):
                table.fault(fault)
        except ExprError as error:
            table.fault(str(error))
        return mechanism

    def _parameters(self, table: _Table, parameters: Mapping[str, Any], variables: Mapping[str, tuple[str, ...]]) -> None:
        """Give every parameter its value or its domain; values may be expressions in other parameters."""
        bound = {name for names in variables.values() for name in names}
        given = _Table(parameters, f"{table.where}, parameters", self.faults)
        stated: dict[str, Expr] = {}
        for name in parameters:
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in FUNCTIONS or name == "pi":
                given.fault(f"{_show(name)} cannot name a parameter. Use letters, digits and _, and no function's name.")
            elif name in bound:
                given.fault(f"{name} is this kind's variable. Give the parameter another name.")
            value = given.may(name, _value_or_domain, None)
            if isinstance(value, Domain):
                self.domains[name] = value
            elif value is None:
                self.broken.add(name)
            else:
                stated[name] = value
        self._resolve(given, stated)

    def _resolve(self, given: _Table, stated: dict[str, Expr]) -> None:
        """Substitute parameters in each other's values until none is left but those with a domain."""
        left = dict(stated)
        while left:
            ready = [name for name, value in left.items() if not symbols(value) & left.keys()]
            if not ready:
                given.fault(f"{', '.join(sorted(left))} are defined by each other. Give one of them a value.")
                self.broken.update(left)
                return
            for name in ready:
                value = left.pop(name)
                unknown = sorted(symbols(value) - self.domains.keys() - stated.keys() - self.broken)
                if unknown:
                    given.fault(f"{name} = {shorten(value)} has the free symbol {unknown[0]!r}. Give it a value here.")
                    self.broken.add(name)
                    continue
                try:
                    self.values[name] = _grown(value, self.values)
                except ExprError as error:
                    given.fault(f"{name}: {error}")
                    self.broken.add(name)

    def _builtin(self, table: _Table) -> Mechanism | None:
        name = table.need("name", _choice(tuple(_BUILTINS)), None)
        raw = dict(table.may("parameters", _table, {}))
        if name is None:
            table.taken.update(table.data)
            return None
        needed, optional, build = _BUILTINS[name]
        for key in (*needed, *optional):
            if table.has(key):
                table.taken.add(key)
                if key in raw:
                    table.fault(f"{key} stands both in [mechanism] and in its parameters. Give it once.")
                raw[key] = table.data[key]
            elif key not in raw and key in needed:
                table.fault(f"the builtin {name} needs {key}.{_meant(key, raw)}")
        norm = L2
        if name == "knorm":
            bodies = {**{key: raw.pop(key) for key in _BODIES if key in raw}, **{key: table.data[key] for key in _BODIES if table.has(key)}}
            table.taken.update(_BODIES)
            norm = _Table({"columns or facets": bodies}, table.where, self.faults).need("columns or facets", _norm, L2)
        # A parameter with a domain becomes a symbol of its name; one that is named as a function needs another.
        renamed = {key: f"{key}_" if key in FUNCTIONS else key for key in raw}
        self._parameters(table, {renamed[key]: value for key, value in raw.items()}, {"": ("r", "z")})
        parameters = {key: self.values.get(symbol, Sym(symbol)) for key, symbol in renamed.items()}
        if not parameters.keys() >= set(needed) or (self.broken & set(renamed.values())) or (name == "knorm" and not norm.matrix):
            return None
        return _knorm(norm, parameters["epsilon"]) if name == "knorm" else build(parameters)

    def _used(self, table: _Table) -> Mechanism | None:
        """A declaration in Python: the one place where reading a file runs code, said on stderr."""
        use = table.need("use", _string, None)
        parameters = table.may("parameters", _table, {})
        if use is None:
            return None
        try:
            declared = _declaration(use, Path(self.file).parent)
            mechanism, domains = declared.model(), declared.domains()
        except _Fault as error:
            table.fault(f"use = {_show(use)} {error}")
            return None
        except SpecError as error:
            for fault in error.faults:
                table.fault(f"use = {_show(use)}: {fault}")
            return None
        kind = next(name for name, cls in KINDS.items() if cls is type(mechanism))
        self.source = str(declared.source or "")
        self._parameters(table, parameters, VARIABLES.get(kind, {}))
        for name, domain in domains.items():
            if name in self.values:
                if not lies_in(self.values[name], domain, self.domains):
                    table.fault(f"{name} = {shorten(self.values[name])} is outside the domain that the declaration gives it.")
            elif name in self.domains:
                if not _within(self.domains[name], domain):
                    table.fault(f"the domain of {name} is wider than the one that the declaration gives it.")
            else:
                self.domains[name] = domain
        return mechanism

    # -- claims

    def _claim(self, table: _Table, mechanism: Mechanism | None, mechanism_name: str, index: int) -> Stated | None:
        before = len(self.faults)
        name = table.may("name", _string, f"claim {index}")
        epsilon = self._value(table, "epsilon", table.need("epsilon", _number_or_tight, ZERO))
        delta = self._value(table, "delta", table.may("delta", _number_or_tight, ZERO))
        expect = table.may("expect", _choice(VERDICTS), "proved")
        utility = table.may("utility", _boolean, False)
        adjacency = table.may("adjacency", _choice(ADJACENCIES), "")
        sensitivity = self._value(table, "sensitivity", table.may("sensitivity", _number, None))
        rows = table.may("query", _matrix, None)
        table.done()
        if epsilon == TIGHT and delta == TIGHT:
            table.fault('epsilon and delta are both "tight". Give one of them a value.')
        if table.has("query") and table.has("sensitivity"):
            table.fault("give sensitivity or query, not both: the query's sensitivity is derived.")
        if table.has("query") and not table.has("adjacency"):
            table.fault(f"a query needs its adjacency: one of {', '.join(ADJACENCIES)}.")
        if mechanism is None:
            return None
        query = None if rows is None else Query(rows, adjacency)
        if not (table.has("sensitivity") and sensitivity is None) and not (table.has("query") and query is None):
            mechanism, sensitivity = self._with_sensitivity(table, mechanism, sensitivity, query)
        if len(self.faults) > before:
            return None
        claim = Claim(
            mechanism=mechanism,
            epsilon=None if isinstance(epsilon, str) else epsilon,
            delta=None if isinstance(delta, str) else delta,
            sensitivity=sensitivity,
            query=query,
            mechanism_name=mechanism_name,
            name=name,
        )
        used = frozenset().union(*map(symbols, _expressions(claim)))
        claim = replace(claim, domains=tuple(sorted((name, self.domains[name]) for name in used & self.domains.keys())))
        line = self.lines[index - 1] if index <= len(self.lines) else 1
        return Stated(claim, expect.upper(), utility, adjacency, line)

    def _value(self, table: _Table, key: str, value: Any) -> Any:
        """A number of a claim with the parameters put in, checked for free symbols and for its range."""
        if value is None or value == TIGHT:
            return value
        shown = _show(table.data.get(key))
        try:
            value = _grown(value, self.values)
        except ExprError as error:
            table.fault(f"{key} = {shown}: {error}")
            return value
        free = sorted(symbols(value) - self.domains.keys() - self.broken)
        if free:
            meant = _meant(free[0], self.values.keys() | self.domains.keys())
            table.fault(f"{key} = {shown} has the free symbol {free[0]!r}. Give it in the mechanism's parameters.{meant}")
        if key == "epsilon" and symbols(value):
            return value  # where a bound in the parameters is negative it is merely not met
        if _may_be_negative(value, self.domains):
            table.fault(f"{key} = {shown} {_why_not(value, 'is negative', 'non-negative')}")
        elif key == "delta" and _may_be_negative(sub(ONE, value), self.domains):
            table.fault(f"delta = {shown} {_why_not(sub(ONE, value), 'is above 1', 'at most 1')}")
        return value

    def _with_sensitivity(
        self, table: _Table, mechanism: Mechanism, sensitivity: Expr | None, query: Query | None
    ) -> tuple[Mechanism, Expr | None]:
        """What the claim's sensitivity means for the kind: the noise's norm, the pairs of a metric, or nothing."""
        if query is not None:
            if not isinstance(mechanism, Radial | Translation | Product | Mixture):
                table.fault("query: only additive noise answers a query.")
            else:
                dimension = Num(Fraction(1)) if isinstance(mechanism, Translation) else mechanism.dimension
                if not isinstance(dimension, Num):
                    table.fault("query: the dimension must be a number. Give the mechanism one.")
                elif not list(_natural_faults("dimension", dimension, 1, self.domains)):
                    for fault in query_faults(query, int(dimension.value)):
                        table.fault(fault)
            return mechanism, None
        if isinstance(mechanism, Radial | Translation | Product | Mixture):
            if sensitivity is None:
                table.fault(f"sensitivity is missing: additive noise needs it, or a query.{_meant('sensitivity', table.data)}")
            return mechanism, sensitivity
        if isinstance(mechanism, Staircase):
            return mechanism, sensitivity or ONE
        if isinstance(mechanism, Exponential) and mechanism.metric:
            # neighbours are all points, those listed, or those within the sensitivity: the scores say the rest
            plain = replace(mechanism, points=(), metric="")
            if sensitivity is None:
                return plain, None
            if mechanism.adjacent is not None:
                table.fault("sensitivity: the mechanism already lists its adjacent pairs. Give one or the other.")
            return replace(plain, adjacent=_close_pairs(table, mechanism, sensitivity)), None
        if isinstance(mechanism, Table | Selection) and sensitivity is not None:
            if sensitivity != ONE:
                table.fault("sensitivity: which inputs are neighbours is the mechanism's `adjacent`. Leave sensitivity out.")
            return mechanism, None
        return mechanism, sensitivity

    def _unique_names(self, tables: Iterable[_Table]) -> None:
        seen: set[Any] = set()
        for table in tables:
            name = table.data.get("name")
            if isinstance(name, str) and name in seen:
                table.fault(f"name = {_show(name)} stands twice; names are unique in a file.")
            elif isinstance(name, str):
                seen.add(name)

    def _sane(self, claims: Iterable[Stated | None]) -> None:
        """Densities that are certainly negative somewhere, or certainly not integrable."""
        seen: set[Mechanism] = set()
        for stated in claims:
            if stated is not None and stated.claim.mechanism not in seen:
                seen.add(stated.claim.mechanism)
                self.faults.extend(f"{self._at('mechanism')}: {fault}" for fault in sanity.faults(stated.claim))

    def _audit(self, table: _Table) -> None:
        table.need("sampler", _callable_name, None)
        table.may("query", _callable_name, None)
        table.may("pairs", _pairs_of_data, None)
        table.may("patterns", _patterns, None)
        table.may("length", _positive_integer, None)
        table.done()


# -- values -------------------------------------------------------------------------------------------


def _number(value: Any) -> Expr:
    """An exact number or an expression in parameters."""
    if isinstance(value, bool) or not isinstance(value, int | _Decimal | str):
        raise _Fault(f"is not a number. {NUMBER_HELP}")
    if isinstance(value, int):
        if value.bit_length() > 4096:
            raise _Fault("is too large.")
        return num(value)
    if isinstance(value, _Decimal):
        text = value.text.replace("_", "")
        if "inf" in text or "nan" in text:
            raise _Fault(f"is not a number. {NUMBER_HELP}")
        sign = -1 if text[0] == "-" else 1
        return num(sign * parse_number(text.lstrip("+-")))
    try:
        return parse(value)
    except ExprError as error:
        raise _Fault(f"is not a number. {NUMBER_HELP} ({str(error).split('. ')[0]})") from error


def _expression(value: Any) -> Expr:
    if not isinstance(value, str):
        return _number(value)
    return parse(value)


def _number_or_tight(value: Any) -> Expr | str:
    return TIGHT if value == TIGHT else _number(value)


def _rational(value: Any) -> Fraction:
    number = _number(value)
    if not isinstance(number, Num):
        raise _Fault(f"holds {_show(value)}, which is not a rational number.")
    return number.value


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 500:
        raise _Fault("is not a short text in quotes.")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Fault("is not true or false.")
    return value


def _choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed or not isinstance(value, str):
            raise _Fault(f"is not one of {', '.join(allowed)}.{_meant(str(value), allowed)}")
        return value

    return read


def _kind(value: Any) -> str:
    if isinstance(value, str) and value in COMBINATORS:
        raise _Fault("is a combinator; this version of dpverify verifies single mechanisms only. State the parts as files of their own.")
    return _choice((*_KINDS, "builtin"))(value)


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Fault("is not a table.")
    return value


def _claim_tables(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, dict):
        raise _Fault("is one table. Write [[claim]] with two brackets.")
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        raise _Fault("is not a list of [[claim]] tables.")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise _Fault("is not a list with entries.")
    return value


def _rows(value: Any) -> tuple[tuple[Expr, ...], ...]:
    rows = tuple(tuple(_number(entry) for entry in _list(row)) for row in _list(value))
    if len({len(row) for row in rows}) > 1:
        raise _Fault("has rows of different lengths.")
    return rows


def _matrix(value: Any) -> Matrix:
    return tuple(tuple(_rational(entry) for entry in _list(row)) for row in _list(value))


def _points(value: Any) -> tuple[tuple[Expr, ...], ...]:
    return _rows([row if isinstance(row, list) else [row] for row in _list(value)])


def _adjacent(value: Any) -> tuple[tuple[int, int], ...] | None:
    if value == "all":
        return None
    pairs = []
    for pair in _list(value):
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(i) is int and i >= 0 for i in pair) or pair[0] == pair[1]:
            raise _Fault(f'holds {_show(pair)}. Use "all" or a list of pairs [i, j] of different rows, counted from 0.')
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)


def _end(value: Any) -> Expr | None:
    """An end of an interval; None for an infinite one."""
    text = value.text if isinstance(value, _Decimal) else value
    return None if isinstance(text, str) and text.lstrip("+-") == "inf" else _number(value)


def _interval(infinite: bool) -> Callable[[Any], tuple[Expr | None, Expr | None]]:
    def read(value: Any) -> tuple[Expr | None, Expr | None]:
        if not isinstance(value, list) or len(value) != 2:
            raise _Fault("is not an interval [lo, hi].")
        low, high = _end(value[0]), _end(value[1])
        if not infinite and (low is None or high is None):
            raise _Fault("must have finite ends.")
        signs_of_ends = [str(getattr(end, "text", end)).startswith("-") for end in value]
        if (low is None and not signs_of_ends[0]) or (high is None and signs_of_ends[1]):
            raise _Fault("has an infinite end of the wrong sign.")
        return low, high

    return read


def _norm(value: Any) -> Norm:
    named = {"l1": L1, "l2": L2, "linf": LINF}
    if isinstance(value, str):
        return named[_choice(tuple(named))(value)]
    if not isinstance(value, dict) or len(value) != 1:
        bodies = "{ellipsoid = [[...]]}, {columns = [[...]]} or {facets = [[...]]}"
        raise _Fault(f'is not a norm. Use "l1", "l2", "linf", {{lp = "3/2"}}, {bodies}.')
    kind, body = next(iter(value.items()))
    if kind == "lp":
        return LINF if _end(body) is None else Norm("lp", _rational(body))
    return Norm(_choice(("lp", "ellipsoid", *_BODIES))(kind), matrix=_matrix(body))


_BODIES: Final = ("columns", "facets")
_WORDS: Final[Mapping[str, Domain]] = {
    "positive": Domain(Fraction(0)),
    "nonnegative": Domain(Fraction(0), lower_open=False),
    "non-negative": Domain(Fraction(0), lower_open=False),
    "negative": Domain(None, Fraction(0)),
    "real": Domain(),
    "integer": Domain(integer=True),
    "positive integer": Domain(Fraction(1), lower_open=False, integer=True),
    "nonnegative integer": Domain(Fraction(0), lower_open=False, integer=True),
    "non-negative integer": Domain(Fraction(0), lower_open=False, integer=True),
}
_COMPARISON = re.compile(r"(integer\s*)?(>=|>|<=|<)(.+)")
_INTERVAL = re.compile(r"(integer\s+)?in\s*([(\[])(.+),(.+)([)\]])")


def _domain(text: str) -> Domain | None:
    """The domain that a phrase means; None where it is no such phrase."""
    phrase = " ".join(text.split())
    if phrase in _WORDS:
        return _WORDS[phrase]
    if match := _COMPARISON.fullmatch(phrase):
        whole, relation, end = match.groups()
        at = _rational(end.strip())
        opened = relation in "<>"
        domain = Domain(at, None, opened, True) if ">" in relation else Domain(None, at, True, opened)
    elif match := _INTERVAL.fullmatch(phrase):
        whole, left, low, high, right = match.groups()
        lower, upper = (None if end.strip().lstrip("+-") == "inf" else _rational(end.strip()) for end in (low, high))
        domain = Domain(lower, upper, left == "(", right == ")")
    else:
        return None
    if whole:
        domain = _of_integers(domain)
    if domain.lower is not None and domain.upper is not None:
        closed = not (domain.lower_open or domain.upper_open)
        if not (domain.lower < domain.upper or (domain.lower == domain.upper and closed)):
            raise _Fault("is an empty domain.")
    return domain


def _of_integers(domain: Domain) -> Domain:
    """The integers of an interval, with ends that are reached."""
    lower, upper = domain.lower, domain.upper
    low = None if lower is None else Fraction(lower.__floor__() + 1 if domain.lower_open else lower.__ceil__())
    high = None if upper is None else Fraction(upper.__ceil__() - 1 if domain.upper_open else upper.__floor__())
    return Domain(low, high, low is None, high is None, integer=True)


def _within(inner: Domain, outer: Domain) -> bool:
    """Whether one domain is certainly part of another."""
    if outer.integer and not inner.integer:
        return False

    def covers(mine: Fraction | None, mine_open: bool, its: Fraction | None, its_open: bool, sign: int) -> bool:
        if its is None:
            return True
        return mine is not None and (sign * mine > sign * its or (mine == its and (mine_open or not its_open)))

    return covers(inner.lower, inner.lower_open, outer.lower, outer.lower_open, 1) and covers(
        inner.upper, inner.upper_open, outer.upper, outer.upper_open, -1
    )


def _value_or_domain(value: Any) -> Expr | Domain:
    if isinstance(value, str):
        domain = _domain(value)
        if domain is not None:
            return domain
        try:
            return parse(value)
        except ExprError as error:
            raise _Fault(f"is not a number, an expression or {DOMAIN_HELP}. ({str(error).split('. ')[0]})") from error
    return _number(value)


def _callable_name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w./-]+:\w+", value):
        raise _Fault('is not "module:name".')
    return value


def _patterns(value: Any) -> str:
    if value == "usual" or (isinstance(value, str) and value.startswith("strategy:") and _callable_name(value.removeprefix("strategy:"))):
        return str(value)
    raise _Fault('is neither "usual" nor "strategy:module:name".')


def _pairs_of_data(value: Any) -> list[Any]:
    pairs = _list(value)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise _Fault("is not a list of pairs [data, data'].")
    return pairs


def _positive_integer(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise _Fault("is not a positive integer.")
    return value


# -- kinds ----------------------------------------------------------------------------------------------


def _density(table: _Table, name: str) -> Expr:
    """An expression given itself or by its logarithm."""
    key = table.one_of((name, f"log_{name}"))
    if key is None:
        return ONE
    expr = table.need(key, _expression, ZERO)
    return expr if key == name else call("exp", expr)


def _norm_and_dimension(table: _Table) -> tuple[Norm, Expr]:
    dimension = table.need("dimension", _number, None)
    # on the line all l_p norms are one
    norm = table.may("norm", _norm, L2) if dimension == ONE else table.need("norm", _norm, L2)
    if dimension is None:
        dimension = num(len(norm.matrix[0])) if norm.matrix else ONE
    return norm, dimension


def _radial(table: _Table) -> Radial:
    profile = _density(table, "profile")
    norm, dimension = _norm_and_dimension(table)
    return Radial(profile, norm, dimension, table.may("scale", _number, ONE))


def _translation(table: _Table) -> Translation:
    density = _density(table, "density")
    support = table.may("support", _interval(infinite=True), (None, None))
    return Translation(density, support, table.may("integers", _boolean, False))


def _product(table: _Table) -> Product:
    density = _density(table, "density")
    return Product(density, table.need("dimension", _number, ONE), table.may("norm", _norm, L1))


def _finite(table: _Table) -> Table | None:
    adjacent = table.may("adjacent", _adjacent, None)
    rows = table.need("rows", _rows, None)
    return None if rows is None else Table(rows, adjacent)


def _kernel(table: _Table) -> Kernel:
    density = _density(table, "density")
    output = table.need("output", _interval(infinite=True), (None, None))
    low, high = table.need("input", _interval(infinite=False), (ZERO, ONE))
    assert low is not None and high is not None
    return Kernel(density, output, (low, high))


def _exponential(table: _Table) -> Exponential | None:
    beta = table.need("beta", _number, ONE)
    adjacent = table.may("adjacent", _adjacent, None)
    if table.has("scores"):
        scores = table.need("scores", _rows, None)
        if table.has("points") or table.has("metric"):
            table.fault("give scores, or points with a metric, not both.")
            table.taken.update(("points", "metric"))
        return None if scores is None else Exponential(scores, beta, adjacent)
    if not table.has("points") and not table.has("metric"):
        table.fault("give scores, or points with a metric: they are missing.")
        return None
    metric = table.need("metric", _metric, None)
    points = table.may("points", _points, ()) if isinstance(metric, tuple) else table.need("points", _points, ())
    if metric is None or not (points or isinstance(metric, tuple)):
        return None
    distances = metric if isinstance(metric, tuple) else _distances(points, metric)
    if points and len(points) != len(distances):
        table.fault(f"metric: {len(distances)} rows of distances for {len(points)} points.")
    name = metric if isinstance(metric, str) else "given"
    return Exponential(tuple(tuple(map(neg, row)) for row in distances), beta, adjacent, points, name)


_METRICS: Final[Mapping[str, Callable[[list[Expr]], Expr]]] = {
    "l1": lambda gaps: add(*gaps),
    "l2": lambda gaps: power(add(*(power(gap, num(2)) for gap in gaps)), Num(Fraction(1, 2))),
    "linf": lambda gaps: call("max", *gaps),
    "discrete": lambda gaps: ZERO if all(gap == ZERO for gap in gaps) else ONE,
}


def _metric(value: Any) -> str | tuple[tuple[Expr, ...], ...]:
    return _choice(tuple(_METRICS))(value) if isinstance(value, str) else _rows(value)


def _distances(points: tuple[tuple[Expr, ...], ...], metric: str) -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(_METRICS[metric]([call("abs", sub(a, b)) for a, b in zip(p, q, strict=True)]) for q in points) for p in points)


def _close_pairs(table: _Table, mechanism: Exponential, sensitivity: Expr) -> tuple[tuple[int, int], ...]:
    """The pairs of points at a distance of at most `sensitivity`."""
    pairs = []
    for i, row in enumerate(mechanism.scores):
        for j in range(i + 1, len(row)):
            distance = neg(row[j])
            if symbols(distance) | symbols(sensitivity) or not (certainly_le(distance, sensitivity) or certainly_lt(sensitivity, distance)):
                table.fault(f"sensitivity: whether points {i} and {j} are within it is not decided. List the pairs as `adjacent`.")
                return ()
            if certainly_le(distance, sensitivity):
                pairs.append((i, j))
    if not pairs:
        table.fault("sensitivity: no two points are that close, so no inputs are neighbours.")
    return tuple(pairs)


def _mixture(table: _Table) -> Mixture:
    profile, mixing = _density(table, "profile"), _density(table, "mixing")
    low, high = table.may("support", _interval(infinite=True), (ZERO, None))
    if low is None:
        table.fault("support: the mixing law must start at a finite number.")
    norm, dimension = _norm_and_dimension(table)
    return Mixture(profile, mixing, (low or ZERO, high), norm, dimension, table.may("scale", _number, ONE))


_KINDS: Final[Mapping[str, Callable[[_Table], Mechanism | None]]] = {
    "radial": _radial, "translation": _translation, "product": _product, "table": _finite, "kernel": _kernel,
    "exponential": _exponential, "mixture": _mixture, "sampled": lambda table: Sampled(),
}  # fmt: skip


# -- builtins: names for models ----------------------------------------------------------------------------

_R, _Z = Sym("r"), Sym("z")
Parameters = Mapping[str, Expr]


def _laplace(p: Parameters) -> Mechanism:
    dimension = p.get("dimension", ONE)
    if dimension == ONE:
        return Radial(call("exp", neg(_R)), L1, ONE, p["scale"])
    return Product(call("exp", neg(div(call("abs", _Z), p["scale"]))), dimension)


def _gaussian(p: Parameters) -> Mechanism:
    return Radial(call("exp", mul(Num(Fraction(-1, 2)), power(_R, num(2)))), L2, p.get("dimension", ONE), p["sigma"])


def _discrete_laplace(p: Parameters) -> Mechanism:
    return Translation(call("exp", neg(div(call("abs", _Z), p["scale"]))), integers=True)


def _discrete_gaussian(p: Parameters) -> Mechanism:
    return Translation(call("exp", neg(div(power(_Z, num(2)), mul(num(2), power(p["sigma"], num(2)))))), integers=True)


def _randomized_response(p: Parameters) -> Mechanism:
    truth, lie = p["p"], sub(ONE, p["p"])
    return Table(((truth, lie), (lie, truth)))


def _student_t(p: Parameters) -> Mechanism:
    nu, d = p["nu"], p["dimension"]
    exponent = mul(Num(Fraction(-1, 2)), add(nu, d))
    return Radial(Pow(add(ONE, div(power(_R, num(2)), nu)), exponent), L2, d, p.get("scale", ONE))


def _knorm(norm: Norm, epsilon: Expr) -> Radial:
    return Radial(call("exp", neg(mul(epsilon, _R))), norm, num(len(norm.matrix[0])))


def _unbuilt(p: Parameters) -> Mechanism:
    raise AssertionError("knorm is built from its body")


_BUILTINS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Parameters], Mechanism]]]] = {
    "laplace": (("scale",), ("dimension",), _laplace),
    "gaussian": (("sigma",), ("dimension",), _gaussian),
    "discrete_laplace": (("scale",), (), _discrete_laplace),
    "discrete_gaussian": (("sigma",), (), _discrete_gaussian),
    "staircase": (("epsilon", "gamma"), (), lambda p: Staircase(p["epsilon"], p["gamma"])),
    "randomized_response": (("p",), (), _randomized_response),
    "k_randomized_response": (("k", "p"), (), lambda p: Selection(p["k"], p["p"])),
    "student_t": (("nu", "dimension"), ("scale",), _student_t),
    "knorm": (("epsilon",), (), lambda p: Radial(call("exp", neg(mul(p["epsilon"], _R))), L2, ONE)),
}
"""Each builtin: the parameters it needs, those it may have, and its model."""


# -- checks of a model, however it was declared -----------------------------------------------------------


def _expressions(value: Any) -> Iterator[Expr]:
    """All expressions in a model or a claim."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)
    elif type(value) in KINDS.values() or isinstance(value, Claim):
        for field in fields(value):
            yield from _expressions(getattr(value, field.name))


def _substituted(mechanism: Mechanism, values: Mapping[str, Expr]) -> Mechanism:
    """The mechanism with parameters replaced by their values."""

    def change(value: Any) -> Any:
        if isinstance(value, Expr):
            return _grown(value, values)
        return tuple(map(change, value)) if isinstance(value, tuple) else value

    return replace(mechanism, **{field.name: change(getattr(mechanism, field.name)) for field in fields(mechanism)})


def _grown(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with values put in. Raises ExprError where that would make it enormous."""
    sizes = {name: _size(values[name], {}) for name in symbols(expr) & values.keys()}
    if _size(expr, sizes) > MAX_NODES:
        raise ExprError(f"with its parameters put in, the expression has more than {MAX_NODES} parts.")
    return substitute(expr, values)


def _size(expr: Expr, sizes: Mapping[str, int]) -> int:
    if isinstance(expr, Sym):
        return sizes.get(expr.name, 1)
    return 1 + sum(_size(part, sizes) for part in children(expr))


def _mechanism_faults(mechanism: Mechanism, domains: Mapping[str, Domain], broken: AbstractSet[str]) -> Iterator[str]:
    """All that is wrong with a model whose parameters have been put in. broken: parameters whose own faults are known already."""
    yield from _free_symbols(mechanism, domains.keys() | broken)
    if isinstance(mechanism, Radial | Mixture | Product):
        yield from _body_faults(mechanism.norm, mechanism.dimension, domains)
    if isinstance(mechanism, Radial | Mixture):
        yield from _positive_faults("scale", mechanism.scale, domains)
    for key, (low, high) in _intervals(mechanism):
        if low is not None and high is not None and _may_vanish(sub(high, low), domains):
            yield f"{key} = [{shorten(low)}, {shorten(high)}] is not an interval: its ends must rise."
    if isinstance(mechanism, Table):
        yield from _row_faults(mechanism, domains)
    if isinstance(mechanism, Exponential):
        yield from _score_faults(mechanism, domains)
    if isinstance(mechanism, Table | Exponential) and mechanism.adjacent is not None:
        count = len(mechanism.rows if isinstance(mechanism, Table) else mechanism.scores)
        for pair in mechanism.adjacent:
            if max(pair) >= count:
                yield f"adjacent: {list(pair)} names a row beyond the {count} there are, counted from 0."
    if isinstance(mechanism, Selection):
        yield from _natural_faults("k", mechanism.k, 2, domains)
        yield from _range_faults("p", mechanism.p, domains)
    if isinstance(mechanism, Staircase):
        yield from _positive_faults("epsilon", mechanism.epsilon, domains)
        yield from _range_faults("gamma", mechanism.gamma, domains)


def _free_symbols(mechanism: Mechanism, known: AbstractSet[str]) -> Iterator[str]:
    kind = next(name for name, cls in KINDS.items() if cls is type(mechanism))
    for field in fields(mechanism):
        here = {*known, *VARIABLES.get(kind, {}).get(field.name, ())}
        used = frozenset().union(*map(symbols, _expressions(getattr(mechanism, field.name))))
        for name in sorted(used - here):
            yield f"{field.name} has the free symbol {name!r}. Give it in parameters.{_meant(name, here)}"


def _body_faults(norm: Norm, dimension: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    faults = list(_natural_faults("dimension", dimension, 1, domains))
    yield from faults
    if isinstance(dimension, Num) and not faults:
        yield from norm_faults(norm, int(dimension.value))
    elif norm.kind == "lp":
        yield from norm_faults(norm, 1)
    elif not isinstance(dimension, Num):
        yield f"norm: {norm.kind} has a fixed dimension. Give dimension a number."


def _natural_faults(key: str, value: Expr, least: int, domains: Mapping[str, Domain]) -> Iterator[str]:
    """A number that counts: an integer, or a parameter whose domain holds integers only."""
    if isinstance(value, Num):
        if value.value.denominator != 1 or value.value < least:
            yield f"{key} = {shorten(value)} is not an integer of at least {least}."
        elif value.value > 10**6:
            yield f"{key} = {shorten(value)} is beyond a million."
    elif symbols(value) <= domains.keys() and not (isinstance(value, Sym) and _within(domains[value.name], _naturals(least))):
        yield f'{key} = {shorten(value)} is neither an integer nor a parameter with a domain such as "integer >= {least}".'


def _naturals(least: int) -> Domain:
    return Domain(Fraction(least), lower_open=False, integer=True)


def _positive_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    if _may_vanish(value, domains):
        yield f"{key} = {shorten(value)} {_why_not(value, 'is not positive', 'positive')}"


def _range_faults(key: str, value: Expr, domains: Mapping[str, Domain]) -> Iterator[str]:
    if _may_be_negative(value, domains) or _may_be_negative(sub(ONE, value), domains):
        yield f"{key} = {shorten(value)} is not certainly between 0 and 1."


def _row_faults(table: Table, domains: Mapping[str, Domain]) -> Iterator[str]:
    for index, row in enumerate(table.rows, 1):
        for column, entry in enumerate(row, 1):
            if _may_be_negative(entry, domains):
                yield f"rows: entry {column} of row {index}, {shorten(entry)}, {_why_not(entry, 'is negative', 'non-negative')}"
        total = add(*row)
        if symbols(total) <= domains.keys() and not certainly_equal(total, ONE, domains):
            near = f"sums to {shorten(total)}" if isinstance(total, Num) else "does not certainly sum to 1"
            yield f'rows: row {index} {near}. The probabilities of a row sum to exactly 1; write fractions such as "1/3".'


def _score_faults(mechanism: Exponential, domains: Mapping[str, Domain]) -> Iterator[str]:
    if _may_be_negative(mechanism.beta, domains):
        yield f"beta = {shorten(mechanism.beta)} {_why_not(mechanism.beta, 'is negative', 'non-negative')}"
    if mechanism.metric != "given":
        return
    d = [[neg(score) for score in row] for row in mechanism.scores]
    size = range(len(d))
    if len(d[0]) != len(d):
        yield "metric: the matrix of distances is not square."
    elif any(d[i][i] != ZERO for i in size) or any(d[i][j] != d[j][i] for i in size for j in size):
        yield "metric: distances must be symmetric, and 0 from a point to itself."
    elif any(_may_vanish(d[i][j], domains) for i in size for j in size if i != j):
        yield "metric: the distance between two points must be positive."


def _intervals(mechanism: Mechanism) -> Iterator[tuple[str, tuple[Expr | None, Expr | None]]]:
    if isinstance(mechanism, Translation | Mixture):
        yield "support", mechanism.support
    if isinstance(mechanism, Kernel):
        yield "output", mechanism.output
        yield "input", mechanism.input


def _may_vanish(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly positive."""
    return symbols(expr) <= domains.keys() and not certainly_lt(ZERO, expr, domains)


def _may_be_negative(expr: Expr, domains: Mapping[str, Domain]) -> bool:
    """Whether an expression, all of whose symbols are known, is not certainly non-negative."""
    return symbols(expr) <= domains.keys() and not certainly_le(ZERO, expr, domains)


def _why_not(value: Expr, certain: str, wanted: str) -> str:
    known = isinstance(value, Num) or (not symbols(value) and certainly_lt(value, ZERO))
    return f"{certain}." if known else f"cannot be shown to be {wanted}."


# -- declarations in Python ----------------------------------------------------------------------------------


def _declaration(use: str, folder: Path) -> Declaration:
    """The declaration that `use` names: "path.py:name", or a name on the shelf."""
    file, mark, name = use.partition(":")
    if not mark:
        if not re.fullmatch(r"\w+", use):
            raise _Fault('is neither "path.py:name" nor a name of the shelf.')
        file, name = f"mechanisms/{use}.py", use
    if not file.endswith(".py") or not name.isidentifier():
        raise _Fault('is not of the form "path.py:name".')
    tried = [base / file for base in (folder, Path(), shelf())]
    path = next((candidate for candidate in tried if candidate.is_file()), None)
    if path is None:
        raise _Fault(f"names no file. Looked for {', '.join(map(str, tried))}.")
    print(f"running {path} (use = {use})", file=sys.stderr)  # noqa: T201
    module_spec = importlib.util.spec_from_file_location(f"_dpverify_declaration_{path.stem}", path)
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    try:
        module_spec.loader.exec_module(module)
    except DpverifyError as error:
        raise _Fault(f"fails: {error}") from error
    except Exception as error:
        raise _Fault(f"fails: {type(error).__name__}: {error}") from error
    declared = getattr(module, name, None)
    if not isinstance(declared, Declaration):
        known = [key for key, value in vars(module).items() if isinstance(value, Declaration)]
        raise _Fault(f"names no dpverify.declare.Mechanism.{_meant(name, known)}")
    return declared


# -- text ---------------------------------------------------------------------------------------------------


def shorten(expr: Expr) -> str:
    """An expression for a message, shortened."""
    text = format_expr(expr)
    return text if len(text) <= 80 else text[:77] + "..."


def _meant(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _show(value: Any) -> str:
    if isinstance(value, _Decimal):
        return value.text
    if isinstance(value, str | bool | int):
        try:
            text = json.dumps(value, ensure_ascii=False)
        except ValueError:
            text = "an integer of thousands of digits"
    elif isinstance(value, list):
        text = f"[{', '.join(map(_show, value[:8]))}{', ...' if len(value) > 8 else ''}]"
    elif isinstance(value, dict):
        text = f"{{{', '.join(f'{key} = {_show(item)}' for key, item in list(value.items())[:8])}}}"
    else:
        text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."

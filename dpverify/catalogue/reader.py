"""Reads a claim file: the mechanism first, then each claim against it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue.checks import (
    expressions,
    grown,
    may_be_negative,
    mechanism_faults,
    natural_faults,
    positive_faults,
    substituted,
    why_not,
)
from dpverify.catalogue.declared import Failure, declaration
from dpverify.catalogue.kinds import BUILTINS, COMBINATORS, POSITIVE, READERS, close_pairs, read_kind
from dpverify.catalogue.toml import Decimal, Fault, Fields, bound_nesting, long_integers, meant, read_text, shorten, show
from dpverify.catalogue.values import (
    BODIES,
    VERDICTS,
    read_boolean,
    read_callable_name,
    read_choice,
    read_claim_tables,
    read_matrix,
    read_norm,
    read_number,
    read_number_or_tight,
    read_pairs_of_data,
    read_part_tables,
    read_patterns,
    read_positive_integer,
    read_scheme,
    read_string,
    read_table,
    read_value_or_domain,
    within,
)
from dpverify.processes import Bounds
from dpverify.search import sanity
from dpverify.trusted.kernel import lies_in
from dpverify.trusted.language.certificate import PRECISIONS, pack, unpack
from dpverify.trusted.language.errors import CertificateError, CodeFailed, CodeForbidden, ExprError, SpecError
from dpverify.trusted.language.expr import (
    FUNCTIONS,
    ONE,
    ZERO,
    Expr,
    Num,
    Sym,
    mul,
    num,
    sub,
    symbols,
)
from dpverify.trusted.language.model import (
    L2,
    TIGHT,
    VARIABLES,
    Claim,
    Combinator,
    Compose,
    Domain,
    EllipticalProcess,
    Exponential,
    Group,
    Guarantee,
    KaryResponse,
    Lipschitz,
    Mechanism,
    Mixture,
    Parallel,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Sampled,
    Staircase,
    Subsample,
    Table,
    Translation,
    all_parts,
    kind_of,
)
from dpverify.trusted.order.queries import ADJACENCIES, query_faults
from dpverify.trusted.parts.runs import adjacency_faults

MAX_PARAMETERS: Final = 1000


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
    """One claim file. mechanism: its name, the file's stem; source: where a declaration by `use` says it comes from.

    audit: the [audit] table, None without one; its pairs hold plain numbers, strings and lists, as a sampler gets them.
    """

    file: str
    mechanism: str
    claims: tuple[Stated, ...]
    audit: Mapping[str, Any] | None = None
    source: str = ""


# -- finding files --------------------------------------------------------------------------------


def shelf() -> Path:
    """The folder that holds the packaged specs/ and mechanisms/: inside an installed package, or the checkout."""
    here = Path(__file__).resolve().parents[1]
    return here / "_shelf" if (here / "_shelf").is_dir() else here.parent


def resolve(name: str) -> list[Path]:
    """The claim files of a path or a name: a file, all *.toml under a directory, or specs/NAME.toml here or on the shelf.

    Raises SpecError where there are none.
    """
    path = Path(name)
    if name and path.is_dir():
        found = sorted(path.rglob("*.toml"))
        if not found:
            raise SpecError(f"{name}: no claim files (*.toml) in this directory.")
        return found
    if name and path.exists():
        return [path]
    if re.fullmatch(r"[\w-]+", name):
        folders = (Path("specs"), shelf() / "specs")
        for folder in folders:
            if (folder / f"{name}.toml").is_file():
                return [folder / f"{name}.toml"]
        known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
        raise SpecError(f"{name}: no such file, and no mechanism of this name in specs/ or on the shelf.{meant(name, known)}")
    raise SpecError(f"{name or 'an empty name'}: no such file or directory.")


# -- reading ----------------------------------------------------------------------------------------


def read_spec(path: str | Path, *, code: bool = True, bounds: Bounds | None = None) -> Spec:
    """The claims of a file. Raises SpecError listing all that is wrong with it.

    code: whether a declaration in Python, which `use` names, may be run; where not, such a file is CodeForbidden. bounds: of that run,
    which has a process of its own; where nothing else is wrong than that it fails, the error is CodeFailed.
    """
    file = str(path)
    try:
        text = read_text(Path(path))
        bound_nesting(text)
        data = tomllib.loads(text, parse_float=Decimal)
        if long := list(long_integers(data, file)):
            raise SpecError(long)
        return _Reader(file, text, data, code, bounds).spec()
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except RecursionError as error:
        raise SpecError(f"{file}: nested too deeply.") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: not TOML: {error}.") from error
    except ValueError as error:  # integers of more digits than Python reads, impossible dates
        raise SpecError(f"{file}: not readable: {error}.") from error
    except Fault as error:
        raise SpecError(f"{file}: {error}") from error


class _Reader:
    """One file: the mechanism first, then each claim against it."""

    def __init__(self, file: str, text: str, data: Mapping[str, Any], code: bool = True, bounds: Bounds | None = None) -> None:
        self.file, self.data, self.code, self.bounds = file, data, code, bounds
        self.faults: list[str] = []
        self.lines = [text.count("\n", 0, m.start(1)) + 1 for m in re.finditer(r"^[ \t]*(\[\[)[ \t]*claim[ \t]*\]\]", text, re.MULTILINE)]
        self.values: dict[str, Expr] = {}
        self.domains: dict[str, Domain] = {}
        self.inner: set[str] = set()
        self.broken: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.words: list[str] = []
        self.source = ""
        self.adjacency = ""
        self.failed = False

    def spec(self) -> Spec:
        top = Fields(self.data, self.file, self.faults)
        mechanism_table = top.need("mechanism", read_table, None)
        claim_tables = top.need("claim", read_claim_tables, ())
        audit = top.may("audit", read_table, None)
        top.done()
        name = Path(self.file).stem
        if not self.file.isprintable():
            self.faults.append(f"{self.file!r}: the file's name, or a folder's, holds a line break or another unseen character. Rename it.")
        mechanism = None if mechanism_table is None else self._mechanism(Fields(mechanism_table, self._at("mechanism"), self.faults))
        if audit is not None:
            audit = self._audit(Fields(audit, self._at("audit"), self.faults))
        tables = [Fields(data, self._at(f"claim {i}"), self.faults) for i, data in enumerate(claim_tables, 1)]
        claims = [self._claim(table, mechanism, name, i) for i, table in enumerate(tables, 1)]
        self._unique_names(tables)
        self._idle(tables)
        if not self.faults:
            self._certifiable(claims)
        if not self.faults:
            self._sane(claims)
        if self.faults:
            raise (CodeFailed if self.failed and len(self.faults) == 1 else SpecError)(self.faults)
        return Spec(self.file, name, tuple(claim for claim in claims if claim is not None), audit, self.source)

    def _at(self, place: str) -> str:
        return f"{self.file}, {place}"

    # -- the mechanism

    def _mechanism(self, table: Fields) -> Mechanism | None:
        """The mechanism with its parameters put in; None where it cannot even be told what it is."""
        try:
            mechanism = self._declared(table)
            if mechanism is None:
                return None
            mechanism = substituted(mechanism, self.values)
            for fault in mechanism_faults(mechanism, self.domains, self.broken):
                table.fault(fault)
        except ExprError as error:
            table.fault(str(error))
            return None
        return mechanism

    def _declared(self, table: Fields) -> Mechanism | None:
        """The mechanism as it is written, in its parameters."""
        mechanism = None
        kind = "" if table.has("use") else table.need("kind", read_kind, None)
        if kind == "":
            mechanism = self._used(table)
        elif kind == "builtin":
            mechanism = self._builtin(table)
        elif kind in COMBINATORS:
            mechanism = self._combinator(kind, table)
        else:
            self._parameters(table, table.may("parameters", read_table, {}), VARIABLES.get(kind or "", {}))
            if kind is None:
                return None  # what the other keys mean is not known
            mechanism = READERS[kind](table)
        table.done()
        return mechanism

    # -- combinators

    def _combinator(self, kind: str, table: Fields) -> Mechanism | None:
        """A combinator with the parameters of its own table put in; its parts may use them too."""
        self._parameters(table, table.may("parameters", read_table, {}), {})
        self.adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        if kind in ("compose", "parallel"):
            parts = self._parts(kind, table)
            return None if parts is None else (Compose if kind == "compose" else Parallel)(parts)
        part = self._part(table.need("part", read_table, None), f"{table.where}, part")
        if kind == "subsample":
            rate = self._amount(table, "rate", ONE)
            scheme = table.may("scheme", read_scheme, "poisson")
            return None if part is None or rate is None else Subsample(part, rate, scheme)
        if kind == "post_process":
            name = table.may("map", read_string, "")
            return None if part is None else PostProcess(part, name)
        if kind == "group":
            size = self._amount(table, "size", None)
            return None if part is None or size is None else Group(part, size)
        constant = self._amount(table, "constant", None)
        return None if part is None or constant is None else Lipschitz(part, constant)

    def _amount(self, table: Fields, key: str, most: Expr | None) -> Expr | None:
        """A number of a combinator with the parameters put in, at least 0 and at most `most`; a size is a positive integer."""
        value = table.need(key, read_number, None)
        if value is None:
            return None
        value = grown(value, self.values)
        free = sorted(symbols(value) - self.domains.keys() - self.broken)
        if free:
            table.fault(f"{key} = {shorten(value)} has the free symbol {free[0]!r}. Give it in parameters.")
        elif key == "size":
            for fault in natural_faults(key, value, 1, self.domains):
                table.fault(fault)
        elif may_be_negative(value, self.domains) or (most is not None and may_be_negative(sub(most, value), self.domains)):
            wanted = "non-negative" if most is None else f"between 0 and {shorten(most)}"
            table.fault(f"{key} = {shorten(value)} is not certainly {wanted}.")
        return value

    def _parts(self, kind: str, table: Fields) -> tuple[Part, ...] | None:
        """The parts of a composition: a list, or one part so many times."""
        key = table.one_of(("parts", "part")) if kind == "compose" else "parts"
        times = self._times(table) if kind == "compose" else ONE
        if key is None:
            return None
        if key == "part":
            given = [table.may("part", read_table, None)]
        else:
            given = [*table.need("parts", read_part_tables, [])] or [None]
        places = ["part"] if key == "part" else [f"part {number}" for number in range(1, len(given) + 1)]
        found = [self._part(data, f"{table.where}, {place}") for data, place in zip(given, places, strict=True)]
        parts = tuple(replace(part, times=mul(times, part.times)) for part in found if part is not None)
        return parts if len(parts) == len(found) else None

    def _times(self, table: Fields) -> Expr:
        times = table.may("times", read_number, None)
        if times is None:
            return ONE
        times = grown(times, self.values)
        free = sorted(symbols(times) - self.domains.keys() - self.broken)
        if free:
            table.fault(f"times = {shorten(times)} has the free symbol {free[0]!r}. Give it in parameters.")
        for fault in natural_faults("times", times, 1, self.domains):
            table.fault(fault)
        return times

    def _part(self, data: Mapping[str, Any] | None, where: str) -> Part | None:
        """One part: a mechanism, with its own sensitivity (1 where it is not stated), query, adjacency and times."""
        if data is None:
            return None
        outer, table = dict(self.values), Fields(data, where, self.faults)
        sensitivity = table.may("sensitivity", read_number, None)
        rows = table.may("query", read_matrix, None)
        adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        # a composition counts for itself
        times = ONE if data.get("kind") == "compose" else self._times(table)
        before = len(self.faults)
        stated, everything = self.adjacency, dict(self.domains)
        # what another part lets range is not this one's to use
        self.domains = {name: domain for name, domain in everything.items() if name not in self.inner}
        visible = set(self.domains)
        mechanism = self._declared(table)
        self.adjacency = stated
        try:
            if mechanism is not None:
                mechanism = substituted(mechanism, self.values)
                for fault in mechanism_faults(mechanism, self.domains, self.broken):
                    table.fault(fault)
            sensitivity = None if sensitivity is None else grown(sensitivity, self.values)
        except ExprError as error:
            table.fault(str(error))
        self.values = outer
        known = set(self.domains)
        self.inner |= known - visible
        self.domains = {**everything, **self.domains}
        if sensitivity is not None and not symbols(sensitivity) <= known:
            table.fault(f"sensitivity = {shorten(sensitivity)} has the free symbol {min(symbols(sensitivity) - known)!r}.")
        elif sensitivity is not None and may_be_negative(sensitivity, self.domains):
            table.fault(f"sensitivity = {shorten(sensitivity)} {why_not(sensitivity, 'is negative', 'non-negative')}")
        query = None
        if table.has("query"):
            if sensitivity is not None:
                table.fault("give sensitivity or query, not both: the query's sensitivity is derived.")
            if not adjacency:
                table.fault(f"a query needs its adjacency: one of {', '.join(ADJACENCIES)}.")
            if rows is None or mechanism is None:
                return None
            query, adjacency = Query(rows, adjacency), ""
        elif sensitivity is None and isinstance(mechanism, Radial | Translation | Product | Mixture | EllipticalProcess):
            sensitivity = ONE
        if isinstance(mechanism, Sampled):
            table.fault("kind: a part must say what it is; a sampler alone declares nothing.")
        if mechanism is None or len(self.faults) > before:
            return None
        if isinstance(mechanism, Combinator):
            if sensitivity not in (None, ONE) or query is not None:
                table.fault("sensitivity: the parts inside have their own; state it there.")
            sensitivity = None
        else:
            mechanism, sensitivity = self._with_sensitivity(table, mechanism, sensitivity, query, adjacency)
        return None if len(self.faults) > before else Part(mechanism, sensitivity, query, adjacency, times)

    def _parameters(self, table: Fields, parameters: Mapping[str, Any], variables: Mapping[str, tuple[str, ...]]) -> None:
        """Give every parameter its value or its domain; values may be expressions in other parameters."""
        bound = {name for names in variables.values() for name in names}
        given = Fields(parameters, f"{table.where}, parameters", self.faults)
        if len(parameters) > MAX_PARAMETERS:
            given.fault(f"{len(parameters)} parameters; at most {MAX_PARAMETERS}.")
            self.broken.update(parameters)
            return
        stated: dict[str, Expr] = {}
        for name in parameters:
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in FUNCTIONS or name == "pi":
                given.fault(f"{show(name)} cannot name a parameter. Use letters, digits and _, and no function's name.")
            elif name in bound:
                given.fault(f"{name} is this kind's variable. Give the parameter another name.")
            value = given.may(name, read_value_or_domain, None)
            if isinstance(value, Domain):
                if name in self.domains or name in self.inner or name in self.values:
                    given.fault(
                        f"{name} has a domain or a value in another place of this file already: which one a claim means is not clear. "
                        "Give each its own name in the outermost parameters, and write that name here."
                    )
                self.domains[name] = value
            elif value is None:
                self.broken.add(name)
            else:
                stated[name] = grown(value, self.values)  # of the tables around this one
        self._resolve(given, stated)

    def _resolve(self, given: Fields, stated: dict[str, Expr]) -> None:
        """Substitute parameters in each other's values until none is left but those with a domain."""
        left = dict(stated)
        while left:
            ready = [name for name, value in left.items() if not symbols(value) & left.keys()]
            if not ready:
                how = "are defined by each other" if len(left) > 1 else "is defined by itself"
                given.fault(f"{', '.join(sorted(left))} {how}. Give one a value or a domain.")
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
                    self.values[name] = grown(value, self.values)
                except ExprError as error:
                    given.fault(f"{name}: {error}")
                    self.broken.add(name)

    def _builtin(self, table: Fields) -> Mechanism | None:
        name = table.need("name", read_choice(tuple(BUILTINS)), None)
        raw = dict(table.may("parameters", read_table, {}))
        if name is None:
            table.taken.update(table.data)
            return None
        needed, optional, build = BUILTINS[name]
        for key in (*needed, *optional):
            if table.has(key):
                table.taken.add(key)
                if key not in raw:
                    raw[key] = table.data[key]
                elif table.data[key] != key:  # k = "k" names the parameter k
                    table.fault(f"{key} stands both in [mechanism] and in its parameters. Give it once.")
            elif key not in raw and key in needed:
                table.fault(f"the builtin {name} needs {key}.{meant(key, raw)}")
        known = (*needed, *optional, *(BODIES if name == "knorm" else ()))
        self.helpers |= {key: f"the builtin {name} has no {key}.{meant(key, known)}" for key in raw if key not in known}
        self.words += [value for value in raw.values() if isinstance(value, str)]
        norm = L2
        if name == "knorm":
            bodies = {**{key: raw.pop(key) for key in BODIES if key in raw}, **{key: table.data[key] for key in BODIES if table.has(key)}}
            table.taken.update(BODIES)
            norm = Fields({"columns or facets": bodies}, table.where, self.faults).need("columns or facets", read_norm, L2)
        # A parameter with a domain becomes a symbol of its name; one that is named as a function needs another.
        renamed = {key: f"{key}_" if key in FUNCTIONS else key for key in raw}
        self._parameters(table, {renamed[key]: value for key, value in raw.items()}, {"": ("r", "z")})
        parameters = {key: self.values.get(symbol, Sym(symbol)) for key, symbol in renamed.items()}
        faults = [fault for key in POSITIVE if key in parameters for fault in positive_faults(key, parameters[key], self.domains)]
        for fault in faults:
            table.fault(fault)
        if faults or not parameters.keys() >= set(needed) or self.broken & set(renamed.values()):
            return None
        mechanism = build(parameters)
        if isinstance(mechanism, Radial) and norm.matrix:
            return replace(mechanism, norm=norm, dimension=num(len(norm.matrix[0])))
        return mechanism

    def _used(self, table: Fields) -> Mechanism | None:
        """A declaration in Python: the one place where reading a file runs code, apart from this process, said on stderr."""
        use = table.need("use", read_string, None)
        parameters = table.may("parameters", read_table, {})
        if use is None:
            return None
        if not self.code:
            why = "--no-code, or code = false in [tool.dpverify], forbids code."
            raise CodeForbidden(f"{table.where}: use = {show(use)} was not run: {why}")
        try:
            declared = declaration(use, (Path(self.file).parent, Path(), shelf()), self.bounds)
        except Fault as error:
            table.fault(f"use = {show(use)} {error}")
            self.failed = isinstance(error, Failure)
            return None
        mechanism, domains = declared.mechanism, dict(declared.domains)
        kind = kind_of(mechanism)
        self.source = declared.source
        self._parameters(table, parameters, VARIABLES.get(kind, {}))
        for name, domain in domains.items():
            if name in self.values:
                if not lies_in(self.values[name], domain, self.domains):
                    table.fault(f"{name} = {shorten(self.values[name])} is outside the domain that the declaration gives it.")
            elif name in self.domains:
                if not within(self.domains[name], domain):
                    table.fault(f"the domain of {name} is wider than the one that the declaration gives it.")
            else:
                self.domains[name] = domain
        return mechanism

    # -- claims

    def _claim(self, table: Fields, mechanism: Mechanism | None, mechanism_name: str, index: int) -> Stated | None:
        before = len(self.faults)
        name = table.may("name", read_string, f"claim {index}")
        epsilon = self._value(table, "epsilon", table.need("epsilon", read_number_or_tight, ZERO))
        delta = self._value(table, "delta", table.may("delta", read_number_or_tight, ZERO))
        expect = table.may("expect", read_choice(VERDICTS), "proved")
        utility = table.may("utility", read_boolean, False)
        adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        sensitivity = self._value(table, "sensitivity", table.may("sensitivity", read_number, None))
        rows = table.may("query", read_matrix, None)
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
            mechanism, sensitivity = self._with_sensitivity(table, mechanism, sensitivity, query, adjacency)
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
            adjacency=(adjacency or self.adjacency) if isinstance(mechanism, Combinator) else "",
        )
        used = frozenset().union(*map(symbols, expressions(claim)))
        claim = replace(claim, domains=tuple(sorted((name, self.domains[name]) for name in used & self.domains.keys())))
        line = self.lines[index - 1] if index <= len(self.lines) else 1
        return Stated(claim, expect.upper(), utility, adjacency, line)

    def _value(self, table: Fields, key: str, value: Any) -> Any:
        """A number of a claim with the parameters put in, checked for free symbols and for its range."""
        if value is None or value == TIGHT:
            return value
        shown = show(table.data.get(key))
        try:
            value = grown(value, self.values)
        except ExprError as error:
            table.fault(f"{key} = {shown}: {error}")
            return value
        free = sorted(symbols(value) - self.domains.keys() - self.broken)
        if free:
            near = meant(free[0], self.values.keys() | self.domains.keys())
            table.fault(f"{key} = {shown} has the free symbol {free[0]!r}. Give it in the mechanism's parameters.{near}")
        if key == "epsilon" and symbols(value):
            return value  # where a bound in the parameters is negative it is merely not met
        if may_be_negative(value, self.domains):
            table.fault(f"{key} = {shown} {why_not(value, 'is negative', 'non-negative')}")
        elif key == "delta" and may_be_negative(sub(ONE, value), self.domains):
            table.fault(f"delta = {shown} {why_not(sub(ONE, value), 'is above 1', 'at most 1')}")
        return value

    def _with_sensitivity(
        self, table: Fields, mechanism: Mechanism, sensitivity: Expr | None, query: Query | None, adjacency: str
    ) -> tuple[Mechanism, Expr | None]:
        """What the claim's sensitivity means for the kind: the noise's norm, the pairs of a metric, or nothing."""
        if query is not None:
            if not isinstance(mechanism, Radial | Translation | Product | Mixture):
                table.fault("query: only additive noise answers a query.")
            else:
                dimension = Num(Fraction(1)) if isinstance(mechanism, Translation) else mechanism.dimension
                if not isinstance(dimension, Num):
                    table.fault("query: the dimension must be a number. Give the mechanism one.")
                elif not list(natural_faults("dimension", dimension, 1, self.domains)):
                    for fault in query_faults(query, int(dimension.value)):
                        table.fault(fault)
            return mechanism, None
        if isinstance(mechanism, Radial | Translation | Product | Mixture | EllipticalProcess):
            if sensitivity is None:
                table.fault(f"sensitivity is missing: additive noise needs it, or a query.{meant('sensitivity', table.data)}")
            return mechanism, sensitivity
        if isinstance(mechanism, Combinator):
            if sensitivity not in (None, ONE):
                table.fault("sensitivity: the parts have their own; state it there.")
            if adjacency and self.adjacency not in ("", adjacency):
                table.fault(f"adjacency = {show(adjacency)}, but the mechanism states {show(self.adjacency)}.")
            for fault in adjacency_faults(mechanism, adjacency or self.adjacency):
                table.fault(f"adjacency: {fault}")
            return mechanism, None
        if isinstance(mechanism, Staircase):
            return mechanism, sensitivity or ONE
        if isinstance(mechanism, Guarantee):
            if sensitivity not in (None, ONE):
                table.fault("sensitivity: a guarantee already speaks of neighbours. For inputs further apart use the kind group.")
            return mechanism, None
        if isinstance(mechanism, Exponential) and mechanism.metric:
            # neighbours are all points, those listed, or those within the sensitivity: the scores say the rest
            plain = replace(mechanism, points=(), metric="")
            if sensitivity is None:
                return plain, None
            if mechanism.adjacent is not None:
                table.fault("sensitivity: the mechanism already lists its adjacent pairs. Give one or the other.")
            return replace(plain, adjacent=close_pairs(table, mechanism, sensitivity)), None
        if isinstance(mechanism, Table | KaryResponse) and sensitivity is not None:
            if sensitivity != ONE:
                table.fault("sensitivity: which inputs are neighbours is the mechanism's `adjacent`. Leave sensitivity out.")
            return mechanism, None
        return mechanism, sensitivity

    def _idle(self, claims: Iterable[Fields]) -> None:
        """Parameters that a builtin does not have: another parameter or a claim may use them, else they are mistaken for what it has."""
        self.words += [value for table in claims for value in table.data.values() if isinstance(value, str)]
        used = {word for text in self.words for word in re.findall(r"[A-Za-z_]\w*", text)}
        for name, fault in self.helpers.items():
            if name not in used:
                self.faults.append(f"{self._at('mechanism')}: {fault}")

    def _unique_names(self, tables: Iterable[Fields]) -> None:
        seen: set[Any] = set()
        for table in tables:
            name = table.data.get("name")
            if isinstance(name, str) and name in seen:
                table.fault(f"name = {show(name)} stands twice; names are unique in a file.")
            elif isinstance(name, str):
                seen.add(name)

    def _certifiable(self, claims: Iterable[Stated | None]) -> None:
        """Claims that no certificate can state, for with its parameters put in something in them is too long, too deep or too large."""
        for number, stated in enumerate(claims, 1):
            if stated is None:
                continue
            try:
                unpack(pack(stated.claim, PRECISIONS[0], "UNKNOWN", ()))
            except (CertificateError, RecursionError) as error:
                why = error if isinstance(error, CertificateError) else "it is nested too deeply."
                place = self._at(f"claim {number}")
                self.faults.append(f"{place}: no certificate can state it, with its parameters put in: {why} Write it shorter.")

    def _sane(self, claims: Iterable[Stated | None]) -> None:
        """Densities that are certainly negative somewhere, or certainly not integrable."""
        seen: set[Mechanism] = set()
        for stated in claims:
            single = [] if stated is None else [part.mechanism for part in all_parts(stated.claim.mechanism)] or [stated.claim.mechanism]
            for mechanism in dict.fromkeys(single):
                if stated is not None and mechanism not in seen:
                    seen.add(mechanism)
                    claim = replace(stated.claim, mechanism=mechanism)
                    with suppress(OverflowError):  # kinks beyond all floats: the density is not looked at, only judged
                        self.faults.extend(f"{self._at('mechanism')}: {fault}" for fault in sanity.faults(claim))

    def _audit(self, table: Fields) -> dict[str, Any]:
        """Where the sampled implementation is; nothing of it is run here."""
        audit = {
            "sampler": table.need("sampler", read_callable_name, None),
            "query": table.may("query", read_callable_name, None),
            "pairs": table.may("pairs", read_pairs_of_data, None),
            "patterns": table.may("patterns", read_patterns, None),
            "length": table.may("length", read_positive_integer, None),
        }
        if audit["patterns"] == "usual" and not table.has("length"):
            table.fault('patterns = "usual" needs length, the number of answers.')
        table.done()
        return {key: value for key, value in audit.items() if value is not None}

"""Tables of mechanisms, with their parameters and parts, to models. Where they come from, a file or Python, is not looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, assert_never

from dpverify.catalogue import notes
from dpverify.catalogue.checks import grown, number_faults, substituted
from dpverify.catalogue.kinds import BUILTIN, KINDS, dimension_of, is_combinator, mechanism_faults, of, read, read_kind
from dpverify.catalogue.kinds.fields import A_NOISE, ADDEND, ADDENDS, DROPOUTS, FRESH, NOISES, NUMBER, PART, PARTS, REPORT, TIMES, Field
from dpverify.catalogue.kinds.finite import close_pairs
from dpverify.catalogue.kinds.kind import Kind, Sensitivity
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.records import OverRecords, read_query, stated
from dpverify.catalogue.toml import Fault, Fields, meant, shorten, show
from dpverify.catalogue.values import (
    BODIES,
    DOMAIN_WORDS,
    read_choice,
    read_norm,
    read_number,
    read_table,
    read_value_or_domain,
)
from dpverify.errors import SpecError
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    FUNCTIONS,
    ONE,
    ZERO,
    Expr,
    Num,
    Sym,
    num,
    sub,
    symbols,
)
from dpverify.trusted.kernel.model import (
    ADJACENCIES,
    L2,
    ONE_WAY,
    Claim,
    Combinator,
    Compose,
    Domain,
    EllipticalProcess,
    Exponential,
    Matrix,
    Mechanism,
    NoisyVotes,
    OfRecords,
    OnLine,
    Part,
    Query,
    Radial,
    RecordSums,
    Sampled,
    Selection,
    SmoothSensitivity,
    Stream,
    Sum,
    Summand,
    kind_name,
    kind_of,
    names_of,
    repeated,
)
from dpverify.trusted.kernel.well_formed import expressions
from dpverify.trusted.sensitivity.queries import query_faults

MAX_PARAMETERS: Final = 1000
_COUNTING: Final = (kind_name(Compose), kind_name(Sum))
"""Kinds that have a number of times of their own, which is no other's."""


def read_any_kind(value: Any) -> str:
    """A kind's name; those too that files know by the names of builtins."""
    return read_choice((*KINDS, BUILTIN))(value)


def from_table(
    name: str, table: Mapping[str, Any], domains: Mapping[str, Domain], unstated: list[str] | None = None
) -> Mechanism:  # fmt: skip
    """The mechanism of a table that Python has written, in its parameters. Raises SpecError listing all that is wrong with it.

    unstated: gets the places of sensitivities that are 1 since nothing is said.
    """
    reader = Mechanisms()
    reader.domains = dict(domains)
    reader.read_kind = read_any_kind
    mechanism = reader._declared(Fields(table, name, reader.faults))
    if reader.faults or mechanism is None:
        raise SpecError(reader.faults)
    if unstated is not None:
        unstated += reader.unstated
    return mechanism


def read_mechanism(name: str, table: Mapping[str, Any]) -> Claim:
    """The mechanism of a table that Python has written, its parameters put in, with the domains of the others; as a claim of nothing.

    Raises SpecError listing all that is wrong with it.
    """
    reader = Mechanisms()
    reader.read_kind = read_any_kind
    mechanism = reader.mechanism(Fields(table, f"{name}, mechanism", reader.faults))
    if reader.faults or mechanism is None:
        raise SpecError(reader.faults)
    used = frozenset().union(*map(symbols, expressions(mechanism)))
    return Claim(mechanism, None, domains=tuple(sorted((name, reader.domains[name]) for name in used & reader.domains.keys())))


def _moves(mechanism: Mechanism) -> bool:
    """Whether a part moves by 1 where it does not say how far."""
    if isinstance(mechanism, Selection):
        return mechanism.bounds is None
    return _needs(mechanism)


class Mechanisms:
    """Reads mechanisms and their parts; what is wrong is collected. values, domains: of the parameters that are known so far.

    unstated: where sensitivities are 1 since nothing is said; notes: what else is noticed; given: parameters that are to be used somewhere.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.values: dict[str, Expr] = {}
        self.domains: dict[str, Domain] = {}
        self.inner: set[str] = set()
        self.broken: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.words: list[str] = []
        self.unstated: list[str] = []
        self.notes: list[notes.Note] = []
        self.given: dict[str, None] = {}
        self.adjacency = ""
        self.read_kind: Callable[[Any], str] = read_kind

    def used(self, table: Fields) -> Mechanism | None:
        """A declaration in Python."""
        table.taken.update(table.data)
        table.fault("use: a declaration in Python names no other. Import it.")
        return None

    def programmed(self, table: Fields) -> Mechanism | None:
        """A Python function, which is read and not run: the mechanism that it is."""
        table.taken.update(table.data)
        table.fault("program: a part is no program. Write the whole mechanism as one program, or the part as a table.")
        return None

    def mechanism(self, table: Fields) -> Mechanism | None:
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
        if not table.has("use") and not table.has("kind") and table.data.get("name") in BUILTINS:
            name = table.data["name"]
            table.fault(f'kind is missing. {name} is the name of a builtin: write kind = "{BUILTIN}" beside name = "{name}".')
            table.taken.update({"kind", *table.data})
            return None
        elsewhere = next((key for key in ("use", "program") if table.has(key)), "")
        kind = "" if elsewhere else table.need("kind", self.read_kind, None)
        if kind == "":
            mechanism = self.used(table) if elsewhere == "use" else self.programmed(table)
        elif kind == BUILTIN:
            mechanism = self._builtin(table)
        else:
            declared = None if kind is None else KINDS[kind]
            self.parameters(table, table.may("parameters", read_table, {}), {} if declared is None else declared.symbols)
            if declared is None:
                return None  # what the other keys mean is not known
            values = self._values(declared, table) if is_combinator(declared) else self._with_noises(declared, table)
            mechanism = declared.build(declared, table, values)
            if isinstance(mechanism, Stream):
                self._named_twice(table, mechanism)
        table.done()
        return mechanism

    def _values(self, kind: Kind, table: Fields) -> dict[str, Any]:
        """What stands under the keys of a combinator, the parameters of its own table put in; its parts may use them too."""
        self.adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        values = read(kind, table)
        for field in kind.fields:
            value = values[field.name]
            if value is None:
                continue
            if field.value is PART:
                values[field.name] = self._part(value, f"{table.where}, part")
            elif field.value is PARTS:
                parts = [self._part(data, f"{table.where}, part {number}") for number, data in enumerate(value, 1)]
                values[field.name] = None if None in parts else tuple(parts)
            elif field.value is NUMBER:
                values[field.name] = self._amount(table, field, value)
        return values

    def _with_noises(self, kind: Kind, table: Fields) -> dict[str, Any]:
        """What stands under the keys of a kind, noises among it as what they are."""
        values = read(kind, table)
        for field in kind.fields:
            value = values[field.name]
            if field.value is A_NOISE and value is not None:
                values[field.name] = self._noise(value, f"{table.where}, {field.name}")
            elif field.value is ADDEND and value is not None:
                values[field.name] = self._addend(value, f"{table.where}, {field.name}")
            elif field.value is ADDENDS and value is not None:
                added = [self._addend(data, f"{table.where}, {field.name} {number}") for number, data in enumerate(value, 1)]
                values[field.name] = None if None in added else tuple(added)
            elif field.name == DROPOUTS.name or (field.value is NUMBER and field.name == TIMES.name and value is not None):
                values[field.name] = self._amount(table, field, value)
            elif field.value is NOISES:
                values[field.name] = {name: self._noise(data, f"{table.where}, {field.name}, {name}") for name, data in value.items()}
            elif field.value is REPORT.value and isinstance(value, Mapping):
                values[field.name] = self._noise(value[FRESH], f"{table.where}, {field.name}, {FRESH}")
        return values

    def _named_twice(self, table: Fields, stream: Stream) -> None:
        """A name of a stream that is one of a parameter too."""
        for name in dict.fromkeys(names_of(stream)):
            if name in self.values or name in self.domains:
                table.fault(f"{name} names a parameter, and an answer, a noise, a number that is kept or a counter. Give one another name.")

    def _noise(self, data: Mapping[str, Any], where: str) -> Mechanism | None:
        """The noise of a selection; it may use the parameters of the table around it, and have its own."""
        outer, table, before = dict(self.values), Fields(data, where, self.faults), len(self.faults)
        noise = self._declared(table)
        if noise is not None:
            noise = substituted(noise, self.values)
            for fault in mechanism_faults(noise, self.domains, self.broken):
                table.fault(fault)
            if isinstance(noise, Sum) and noise.dropouts != ZERO:
                table.fault(
                    "dropouts: the noise would have several laws here. Give the dropouts to the outermost sum, or state a claim for each "
                    "number of noises that may be left."
                )
            if not isinstance(noise, OnLine):
                table.fault(f"{kind_of(noise)} is no noise on one number.")
            elif (dimension := dimension_of(noise)) != ONE:
                table.fault(f"noise of dimension {shorten(dimension)} cannot be added to one answer. Give it the dimension 1.")
        self.values = outer
        return None if len(self.faults) > before else noise

    def _addend(self, data: Mapping[str, Any], where: str) -> Summand | None:
        """One noise of a sum, and how many are alike."""
        counts = data.get("kind") in _COUNTING
        times = ONE if counts else self._times(Fields(data, where, self.faults))
        noise = self._noise(data if counts else {key: value for key, value in data.items() if key != TIMES.name}, where)
        return Summand(noise, times) if isinstance(noise, OnLine) else None

    def _amount(self, table: Fields, field: Field, value: Expr) -> Expr:
        """A number of a combinator or of a part, with the parameters put in."""
        value = grown(value, self.values)
        free = sorted(symbols(value) - self.domains.keys() - self.broken)
        if free:
            table.fault(f"{field.name} = {shorten(value)} has the free symbol {free[0]!r}. Write a number, or give it in parameters.")
        else:
            for fault in number_faults(field.name, value, self.domains):
                table.fault(fault)
        return value

    def _times(self, table: Fields) -> Expr:
        times = table.may("times", read_number, None)
        return ONE if times is None else self._amount(table, TIMES, times)

    def _part(self, data: Mapping[str, Any] | None, where: str) -> Part | None:
        """One part: a mechanism, with its own sensitivity (1 where it is not stated), query, adjacency and times."""
        if data is None:
            return None
        outer, table = dict(self.values), Fields(data, where, self.faults)
        sensitivity = table.may("sensitivity", read_number, None)
        asked = table.may("query", read_query, None)
        adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        times = ONE if data.get("kind") in _COUNTING else self._times(table)
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
        elif sensitivity is not None:
            for fault in number_faults("sensitivity", sensitivity, self.domains):
                table.fault(fault)
        query = sums = None
        if table.has("query"):
            if sensitivity is not None:
                table.fault("give sensitivity or query, not both: the query's sensitivity is derived.")
            if not adjacency:
                table.fault(f"a query needs its adjacency: one of {', '.join(ADJACENCIES)}.")
            if asked is None or mechanism is None:
                return None
            (query, sums), adjacency = self.queried(table, asked, adjacency), ""
        elif sensitivity is None and mechanism is not None and _moves(mechanism):
            sensitivity = ONE
            self.unstated.append(notes.place(where))
        self._zero(notes.place(where), mechanism, sensitivity, query)
        if getattr(mechanism, "neighbours", "") in ONE_WAY:
            table.fault(
                'neighbours: "increasing" and "decreasing" are for one order of the data alone, and a part wants both. Use "monotone".'
            )
        if isinstance(mechanism, Sampled):
            table.fault("kind: a part must say what it is; a sampler alone declares nothing.")
        if isinstance(mechanism, NoisyVotes):
            table.fault("kind: what is proved of one database is no guarantee, which a part has. Give all its lists of votes at once.")
        if mechanism is None or len(self.faults) > before:
            return None
        if isinstance(mechanism, Combinator):
            if sensitivity not in (None, ONE) or query is not None or sums is not None:
                table.fault("sensitivity: the parts inside have their own; state it there.")
            sensitivity = None
        else:
            mechanism, sensitivity = self.with_sensitivity(table, mechanism, sensitivity, query or sums, adjacency)
        return None if len(self.faults) > before else repeated(Part(mechanism, sensitivity, query, adjacency, sums), times)

    def queried(self, table: Fields, asked: Matrix | OverRecords | None, adjacency: str) -> tuple[Query | None, RecordSums | None]:
        """What a query comes to; nothing where there is none, or something is wrong with it."""
        try:
            return stated(asked, adjacency, self.values, self.domains)
        except (Fault, ExprError) as error:
            table.fault(f"query {error}")
            return None, None

    def _zero(self, place: str, mechanism: Mechanism | None, sensitivity: Expr | None, query: Query | None) -> None:
        """Note that nothing moves."""
        if isinstance(mechanism, SmoothSensitivity):  # the scale does
            return
        if sensitivity == ZERO or (query is not None and not any(entry for row in query.rows for entry in row)):
            self.notes.append(notes.zero(place))

    def parameters(self, table: Fields, parameters: Mapping[str, Any], variables: Mapping[str, tuple[str, ...]]) -> None:
        """Give every parameter its value or its domain; values may be expressions in other parameters."""
        bound = {name for names in variables.values() for name in names}
        given = Fields(parameters, f"{table.where}, parameters", self.faults)
        for name in sorted(bound & (self.values.keys() | self.domains.keys())):
            given.fault(f"{name} is this kind's variable, and a parameter of what is around it. Give that parameter another name.")
        if len(parameters) > MAX_PARAMETERS:
            given.fault(f"{len(parameters)} parameters; at most {MAX_PARAMETERS}. Write the values where they are used.")
            self.broken.update(parameters)
            return
        stated: dict[str, Expr] = {}
        self.given |= dict.fromkeys(parameters)
        for name in parameters:
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in FUNCTIONS or name == "pi" or "__" in name:
                given.fault(f"{show(name)} cannot name a parameter. Use letters, digits and single underscores, and no function's name.")
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
                    near = meant(unknown[0], DOMAIN_WORDS)
                    given.fault(f"{name} = {shorten(value)} has the free symbol {unknown[0]!r}. Give it a value here.{near}")
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
        builtin = BUILTINS[name]
        own = {field.name: field for field in builtin.fields}
        numbers = {key: field for key, field in own.items() if key not in BODIES}
        table.taken.update(numbers)
        for key, field in numbers.items():
            if table.has(key):
                if key not in raw:
                    raw[key] = table.data[key]
                elif table.data[key] != key:  # k = "k" names the parameter k
                    table.fault(f"{key} stands both in [mechanism] and in its parameters. Give it once.")
            elif key not in raw and field.required:
                table.fault(f"the builtin {name} needs {key}.")
        self.helpers |= {key: f"the builtin {name} has no {key}.{meant(key, own)}" for key in raw if key not in own}
        self.words += [value for value in raw.values() if isinstance(value, str)]
        norm = L2
        if own.keys() >= set(BODIES):
            bodies = {**{key: raw.pop(key) for key in BODIES if key in raw}, **{key: table.data[key] for key in BODIES if table.has(key)}}
            table.taken.update(BODIES)
            norm = Fields({"columns or facets": bodies}, table.where, self.faults).need("columns or facets", read_norm, L2)
        # A parameter with a domain becomes a symbol of its name; one that is named as a function needs another.
        renamed = {key: f"{key}_" if key in FUNCTIONS else key for key in raw}
        self.parameters(table, {renamed[key]: value for key, value in raw.items()}, {"": ("r", "z")})
        for key in own.keys() & renamed.keys():
            self.given.pop(renamed[key], None)  # the builtin uses it
        parameters = {key: self.values.get(symbol, Sym(symbol)) for key, symbol in renamed.items()}
        faults = [fault for key in numbers if key in parameters for fault in number_faults(key, parameters[key], self.domains)]
        for fault in faults:
            table.fault(fault)
        needed = {key for key, field in numbers.items() if field.required}
        if faults or not parameters.keys() >= needed or self.broken & set(renamed.values()):
            return None
        try:
            mechanism = builtin.build(parameters)
        except Fault as fault:
            table.fault(str(fault))
            return None
        if isinstance(mechanism, Radial) and norm.matrix:
            return replace(mechanism, norm=norm, dimension=num(len(norm.matrix[0])))
        return mechanism

    def with_sensitivity(
        self, table: Fields, mechanism: Mechanism, sensitivity: Expr | None, query: Query | RecordSums | None, adjacency: str
    ) -> tuple[Mechanism, Expr | None]:
        """What the claim's sensitivity means for the kind: the noise's norm, the pairs of a metric, or nothing."""
        kind = of(mechanism)
        if query is not None:
            if kind.sensitivity is not Sensitivity.ANSWER:
                table.fault("query: only additive noise answers a query.")
            elif not isinstance(dimension := dimension_of(mechanism), Num):
                table.fault("query: the dimension must be a number. Give the mechanism one.")
            elif isinstance(query, Query) and not list(number_faults("dimension", dimension, self.domains)):
                for fault in query_faults(query, int(dimension.value)):
                    table.fault(fault)
            return mechanism, None
        self._with_adjacency(table, mechanism, adjacency)
        if isinstance(mechanism, Selection) and sensitivity is None:
            if mechanism.bounds is None:
                table.fault("sensitivity is missing: how far each answer moves.")
                return mechanism, None
            return mechanism, sub(mechanism.bounds[1], mechanism.bounds[0])
        if isinstance(mechanism, Exponential) and mechanism.metric:
            return self._among_points(table, mechanism, sensitivity)
        match kind.sensitivity:
            case Sensitivity.ANSWER | Sensitivity.NEEDED:
                if sensitivity is None and _needs(mechanism):
                    table.fault(
                        "sensitivity is missing: additive noise needs it, or a query. "
                        "It is how far apart the answers of neighbours are at most."
                    )
                elif sensitivity is not None and not _needs(mechanism):
                    table.fault("give sensitivity or difference, not both: the norm of a difference is derived.")
                return mechanism, sensitivity
            case Sensitivity.ONE:
                if sensitivity is None:
                    self.unstated.append("" if ", claim " in table.where else notes.place(table.where))
                return mechanism, sensitivity or ONE
            case Sensitivity.OPTIONAL:
                return mechanism, sensitivity
            case Sensitivity.NONE:
                if sensitivity not in (None, ONE):
                    table.fault(f"sensitivity: {kind.instead}")
                return mechanism, None
            case never:
                assert_never(never)

    def _with_adjacency(self, table: Fields, mechanism: Mechanism, adjacency: str) -> None:
        """What parts, and what releases something of records, say of neighbours must fit what is said outside."""
        if adjacency and self.adjacency not in ("", adjacency):
            table.fault(f"adjacency = {show(adjacency)}, but the mechanism states {show(self.adjacency)}.")
        if not isinstance(mechanism, Combinator | OfRecords):
            return
        from dpverify.trusted.combinators.relations import adjacency_faults

        for fault in adjacency_faults(mechanism, adjacency or self.adjacency):
            table.fault(f"adjacency: {fault}")

    def _among_points(self, table: Fields, mechanism: Exponential, sensitivity: Expr | None) -> tuple[Mechanism, Expr | None]:
        """Neighbours are all points, those listed, or those within the sensitivity: the scores say the rest."""
        plain = replace(mechanism, points=(), metric="")
        if sensitivity is None:
            return plain, None
        if mechanism.adjacent is not None:
            table.fault("sensitivity: the mechanism already lists its adjacent pairs. Give one or the other.")
        return replace(plain, adjacent=close_pairs(table, mechanism, sensitivity)), None


def _needs(mechanism: Mechanism) -> bool:
    """Whether a sensitivity must be stated where there is no query: not beside declared differences or bounds on compared answers."""
    if isinstance(mechanism, Selection):
        return mechanism.bounds is None
    derived = isinstance(mechanism, EllipticalProcess) and bool(mechanism.differences)
    return of(mechanism).sensitivity in (Sensitivity.ANSWER, Sensitivity.NEEDED) and not derived

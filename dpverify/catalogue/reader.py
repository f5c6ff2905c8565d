"""Reads a claim file: the mechanism first, then each claim against it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpverify.catalogue import notes
from dpverify.catalogue.checks import free_symbols, grown, loss_faults, number_faults, space_faults
from dpverify.catalogue.kinds.processes import read_differences
from dpverify.catalogue.mechanisms import Mechanisms, read_any_kind
from dpverify.catalogue.records import read_query
from dpverify.catalogue.toml import (
    Decimal,
    Fault,
    Fields,
    bound_nesting,
    long_integers,
    meant,
    not_readable,
    not_toml,
    read_text,
    shorten,
    show,
)
from dpverify.catalogue.values import (
    VERDICTS,
    lies_in,
    read_boolean,
    read_callable_name,
    read_choice,
    read_claim_tables,
    read_confidence,
    read_divergence,
    read_matrix,
    read_number,
    read_number_or_tight,
    read_observed,
    read_pairs_of_data,
    read_patterns,
    read_positive_integer,
    read_program,
    read_string,
    read_table,
    read_vector,
    within,
)
from dpverify.errors import CodeFailed, CodeForbidden, SpecError
from dpverify.runtime.folders import claim_files
from dpverify.runtime.processes import Bounds
from dpverify.search.additive import sanity
from dpverify.search.certificates import pack
from dpverify.trusted.claims.nearness import DISTANCES
from dpverify.trusted.claims.records import of_records
from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.kernel.canonical_form import TIGHT
from dpverify.trusted.kernel.certificate import PRECISIONS, unpack
from dpverify.trusted.kernel.errors import CertificateError, ExprError
from dpverify.trusted.kernel.expr import (
    ZERO,
    Expr,
    symbols,
)
from dpverify.trusted.kernel.fitting import unseen
from dpverify.trusted.kernel.model import (
    ADJACENCIES,
    CLAIMED_MEASURES,
    NEARNESS,
    ONE_WAY,
    ORDERS,
    VARIABLES,
    Claim,
    Combinator,
    EllipticalProcess,
    Exponential,
    Measure,
    Mechanism,
    OfRecords,
    Space,
    all_parts,
    kind_of,
    noises_of,
    sums_of,
)
from dpverify.trusted.kernel.well_formed import CLAIMED, NOT_NEGATIVE, expressions, require_well_formed

if TYPE_CHECKING:
    from dpverify.catalogue.declared import Declared
    from dpverify.catalogue.programs import Text


@dataclass(frozen=True, slots=True, repr=False)
class Stated:
    """One claim of a file. expect: the verdict that counts as success; adjacency: as named by the author; line: of its header.

    notes: what its author may not mean.
    """

    claim: Claim
    expect: str = "PROVED"
    adjacency: str = ""
    line: int = 1
    notes: tuple[notes.Note, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.claim.mechanism_name}, {self.claim.name}>"


@dataclass(frozen=True, slots=True, repr=False)
class Spec:
    """One claim file. mechanism: its name, the file's stem; source: where a declaration by `use` says it comes from.

    audit: the [audit] table, None without one; its pairs hold plain numbers, strings and lists, as a sampler gets them.
    """

    file: str
    mechanism: str
    claims: tuple[Stated, ...]
    audit: Mapping[str, Any] | None = None
    source: str = ""

    def __repr__(self) -> str:
        return f"<{self.file}: {', '.join(one.claim.name for one in self.claims)}>"


# -- finding files --------------------------------------------------------------------------------


def shelf() -> Path:
    """The folder that holds the packaged specs/ and mechanisms/: inside an installed package, or the checkout."""
    here = Path(__file__).resolve().parents[1]
    return here / "_shelf" if (here / "_shelf").is_dir() else here.parent


def resolve(name: str, skipped: dict[Path, str] | None = None) -> list[Path]:
    """The claim files of a path or a name: a file, those under a directory (`folders`), or specs/NAME.toml here or on the shelf.

    skipped: gets the other TOML files of a directory, and why. Raises SpecError where there are no claim files.
    """
    path = Path(name)
    if name.endswith(".py") and path.is_file():
        from dpverify.catalogue.programs import with_claims

        return with_claims(path)
    if ".py:" in name and Path(name.rpartition(":")[0]).is_file():
        return [path]
    if name and path.is_dir():
        found = claim_files(path)
        if skipped is not None:
            skipped |= found.skipped
        found.files.extend(_programs_under(path))
        if not found.files:
            others = [f"{file.relative_to(path)} ({why})" for file, why in found.skipped.items()]
            left = f" Skipped: {', '.join(others[:3])}{', ...' if len(others) > 3 else ''}." if others else ""
            found_none = "no claim files (*.toml with a [mechanism] table), and no programs with claims (*.py), in this directory"
            raise SpecError(f"{name}: {found_none}.{left}")
        return found.files
    if name and path.exists():
        return [path]
    if re.fullmatch(r"[\w-]+", name):
        folders = (Path("specs"), shelf() / "specs")
        for folder in folders:
            if (folder / f"{name}.toml").is_file():
                return [folder / f"{name}.toml"]
        known = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
        near = f" Did you mean '{name}.toml'?" if Path(f"{name}.toml").is_file() else meant(name, known)
        raise SpecError(f"{name}: no such file, and no mechanism of this name in specs/ or on the shelf.{near}")
    if path.is_symlink():
        raise SpecError(f"{name}: a link to {path.readlink()}, which leads to no file.")
    raise SpecError(f"{name or 'an empty name'}: no such file or directory.{_nearest(path) if name else ''}")


def _programs_under(folder: Path) -> list[Path]:
    """The programs with claims in a folder and all below it, hidden folders left out."""
    from dpverify.catalogue.programs import has_programs, with_claims

    files = (file for file in sorted(folder.rglob("*.py")) if not any(part.startswith(".") for part in file.relative_to(folder).parts))
    return [each for file in files if file.is_file() and has_programs(file) for each in with_claims(file)]


def _nearest(path: Path) -> str:
    """A question whether a claim file beside it was meant, or one in specs/; empty where none has a name like it."""
    files = {file.stem: file for folder in (path.parent / "specs", path.parent) for file in sorted(folder.glob("*.toml"))}
    said = meant(path.stem, files)
    return next((f" Did you mean '{file}'?" for stem, file in files.items() if repr(stem) in said), "")


# -- reading ----------------------------------------------------------------------------------------


def read_spec(path: str | Path, *, code: bool = True, bounds: Bounds | None = None) -> Spec:
    """The claims of a file. Raises SpecError listing all that is wrong with it.

    code: whether a declaration in Python, which `use` names, may be run; where not, such a file is CodeForbidden. bounds: of that run,
    which has a process of its own; where nothing else is wrong than that it fails, the error is CodeFailed.
    """
    file = str(path)
    if file.endswith(".py") or ".py:" in file:
        return _read_program(file, bounds)
    try:
        text = read_text(Path(path))
        bound_nesting(text)
        data = tomllib.loads(text, parse_float=Decimal)
        try:
            if long := list(long_integers(data, file)):
                raise SpecError(long)
            return _Reader(file, text, data, code, bounds).spec()
        except SpecError as error:
            from dpverify.catalogue.places import with_place  # of files with faults

            raise type(error)([with_place(fault, file, text) for fault in error.faults]) from error.__cause__
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except RecursionError as error:
        raise SpecError(f"{file}: brackets are nested too deeply. Write it with fewer inside each other.") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: {not_toml(error, text)}") from error
    except ValueError as error:  # integers of more digits than Python reads, impossible dates
        raise SpecError(f"{file}: {not_readable(error, text)}") from error
    except Fault as error:
        raise SpecError(f"{file}: {error}") from error


def _read_program(file: str, bounds: Bounds | None) -> Spec:
    """The claims that a program carries, of "path.py:name"; of the one program of a file where it names none. Raises SpecError."""
    from dpverify.catalogue.programs import NAMED, claims_of, found_in, text_of

    match = NAMED.fullmatch(file)
    text = text_of(Path(match[1] if match else file), match[2] if match else "")
    if not match:
        carrying = [one.name for one in found_in(text)[1] if one.options.get("claims")]
        if len(carrying) != 1:
            raise SpecError(f"{file}: it has {len(carrying)} programs that carry claims. Name one: {file}:NAME.")
        text = replace(text, name=carrying[0])
    tables, lines = claims_of(text)
    if not tables:
        raise SpecError(f'{text.file}: {text.name} carries no claims. Write @dpverify.program(..., claims=[{{"epsilon": "1"}}]).')
    reader = _Reader(text.file, "", {"mechanism": {"program": text}, "claim": tables}, False, bounds)
    reader.name, reader.lines, reader.read_kind = text.name, lines, read_any_kind
    try:
        return reader.spec()
    except SpecError as error:
        raise type(error)([_at_line(fault, text.file, lines) for fault in error.faults]) from error.__cause__


def _at_line(fault: str, file: str, lines: Sequence[int]) -> str:
    """A fault of a claim that a program carries, with its line."""
    if re.search(r"\(line \d+, column \d+\)$", fault):
        return fault
    number = re.match(r", claim (\d+)", fault.removeprefix(file))
    return f"{fault} (line {lines[int(number[1]) - 1] if number else lines[0]}, column 1)"


def read_tables(
    name: str, data: Mapping[str, Any], text: str = "", *, code: bool = True, known: dict[str, Declared] | None = None
) -> Spec:  # fmt: skip
    """The claims of tables that Python has written as a file would have them, or has changed. text: of the file, where there is one.

    known: declarations that `use` names, which are not run again; those that are run are put there.

    Raises SpecError listing all that is wrong with them.
    """
    reader = _Reader(name, text, data, code)
    reader.known = {} if known is None else known
    if not text:
        reader.read_kind = read_any_kind
    return reader.spec()


OF_SAMPLERS: Final = ("sampler", "query", "pairs", "patterns", "length", "observe")
"""What an [audit] table says of a sampler alone,"""
OF_TRAINING: Final = ("canaries", "score", "data", "instead", "runs", "guesses", "confidence")
"""and of a training alone."""


class _Reader(Mechanisms):
    """One file: the mechanism first, then each claim against it."""

    def __init__(self, file: str, text: str, data: Mapping[str, Any], code: bool = True, bounds: Bounds | None = None) -> None:
        super().__init__()
        self.file, self.data, self.code, self.bounds = file, data, code, bounds
        self.lines = [text.count("\n", 0, m.start(1)) + 1 for m in re.finditer(r"^[ \t]*(\[\[)[ \t]*claim[ \t]*\]\]", text, re.MULTILINE)]
        self.source = ""
        self.failed = False
        self.known: dict[str, Declared] = {}
        self.of_mechanism: tuple[list[str], list[notes.Note]] = ([], [])
        self.asked: Sequence[Mapping[str, Any]] = ()
        self.beside: Mapping[str, Any] | None = None
        self.name = ""

    def spec(self) -> Spec:
        if "claims" in self.data and "claim" not in self.data:
            self.faults.append(f"{self.file}: unknown table [[claims]]. Write [[claim]], once for each claim.")
            self.data = {("claim" if key == "claims" else key): value for key, value in self.data.items()}
        top = Fields(self.data, self.file, self.faults)
        program = top.may("program", read_program, None)
        if program is not None and not top.has("mechanism"):
            mechanism_table: Mapping[str, Any] | None = {"program": program}
        else:
            mechanism_table = top.need("mechanism", read_table, None, way="Write [mechanism], and below it its kind.")
            if program is not None:
                top.fault("program stands beside [mechanism]. Write it in that table, or leave the table out.")
        claim_tables = top.need("claim", read_claim_tables, (), way="Write [[claim]], and below it what is claimed, such as epsilon = 1.")
        audit = top.may("audit", read_table, None)
        top.done()
        name = self.name or Path(self.file).stem
        self.asked = claim_tables
        if unseen(self.file) or name.isspace():
            self.faults.append(f"{self.file!r}: the file's name, or a folder's, holds a line break or another unseen character. Rename it.")
        mechanism = None if mechanism_table is None else self.mechanism(Fields(mechanism_table, self._at("mechanism"), self.faults))
        if audit is not None:
            audit = self._audit(Fields(audit, self._at("audit"), self.faults))
        self.of_mechanism = list(self.unstated), list(self.notes)
        idle = notes.unused(self._unused())
        if self.beside is not None:  # what a program says of its neighbours
            beside = self.beside
            claim_tables = [{**beside, **{key: value for key, value in claim.items() if key != "sensitivity"}} for claim in claim_tables]
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
        stated = tuple(replace(claim, notes=(*claim.notes, *idle)) for claim in claims if claim is not None)
        return Spec(self.file, name, stated, audit, self.source)

    def _at(self, place: str) -> str:
        return f"{self.file}, {place}"

    # -- the mechanism

    def used(self, table: Fields) -> Mechanism | None:
        """A declaration in Python: the one place where reading a file runs code, apart from this process, said on stderr."""
        use = table.need("use", read_string, None)
        parameters = table.may("parameters", read_table, {})
        if use is None:
            return None
        from dpverify.catalogue.declared import Failure, declaration

        if not self.code:
            why = "--no-code, or code = false in [tool.dpverify], forbids code."
            raise CodeForbidden(f"{table.where}: use = {show(use)} was not run: {why}")
        try:
            declared = self.known.get(use) or declaration(use, (Path(self.file).parent, Path(), shelf()), self.bounds)
            self.known[use] = declared
        except Fault as error:
            table.fault(f"use = {show(use)} {error}")
            self.failed = isinstance(error, Failure)
            return None
        mechanism, domains = declared.mechanism, dict(declared.domains)
        kind = kind_of(mechanism)
        self.source = declared.source
        self.unstated += declared.unstated
        self.parameters(table, parameters, VARIABLES.get(kind, {}))
        for name, domain in domains.items():
            if name in self.values:
                if not lies_in(self.values[name], domain, self.domains):
                    table.fault(f"{name} = {shorten(self.values[name])} is outside the domain that the declaration gives it.")
            elif name in self.domains:
                if not within(self.domains[name], domain):
                    table.fault(f"the domain of {name} is wider than the one that the declaration gives it.")
            else:
                self.domains[name] = domain
            self.given.pop(name, None)
        return mechanism

    def programmed(self, table: Fields) -> Mechanism | None:
        """A Python function, which is read and not run: as the table of the mechanism that it is."""
        from dpverify.catalogue import programs

        asked = table.need("program", read_program, None)
        given = table.may("parameters", read_table, {})
        said = {key: table.data[key] for key in programs.OF_THE_DATA if key in table.data}
        table.taken.update(said)
        if asked is None:
            return None
        try:
            text = asked if isinstance(asked, programs.Text) else self._text(asked)
            self.parameters(table, programs.parameters(text, given), {})
            stated = {show(claim["sensitivity"]): claim["sensitivity"] for claim in self.asked if "sensitivity" in claim}
            if len(stated) > 1:
                table.fault("claims of a program state several sensitivities. Write a file for each.")
            for each in stated.values():
                said["sensitivity"] = each.text if isinstance(each, Decimal) else each
            if self.broken:
                return None
            found, self.beside = programs.translated(text, self.values, self.domains, said)
        except SpecError as error:
            self.faults += error.faults
            return None
        except Fault as error:
            table.fault(f"program = {show(asked)} {error}")
            return None
        self.source = f"{text.file}:{text.name}"
        mechanism = self._declared(Fields(found, table.where, self.faults))
        self.given = {}  # arguments that nothing hangs on, and what is put in for the number of answers
        return mechanism

    def _text(self, program: str) -> Text:
        """The file of a program, looked for in the folders where declarations are."""
        from dpverify.catalogue.programs import NAMED, text_of

        named = NAMED.fullmatch(program)
        if named is None:
            raise Fault('is not of the form "path.py:name".')
        tried = [base / named[1] for base in (Path(self.file).parent, Path(), shelf())]
        path = next((candidate for candidate in tried if candidate.is_file()), None)
        if path is None:
            raise Fault(f"names no file. Looked for {', '.join(dict.fromkeys(map(str, tried)))}.")
        return text_of(path, named[2])

    # -- claims

    def _claim(self, table: Fields, mechanism: Mechanism | None, mechanism_name: str, index: int) -> Stated | None:
        before = len(self.faults)
        self.unstated, self.notes = list(self.of_mechanism[0]), list(self.of_mechanism[1])
        name = table.may("name", read_string, f"claim {index}")
        order = table.may("order", read_choice(ORDERS), "")
        measure = self._measure(table, mechanism)
        need = table.need if measure is None else table.may
        epsilon = self._value(table, "epsilon", need("epsilon", read_number_or_tight, ZERO if measure is None else TIGHT))
        delta = self._value(table, "delta", table.may("delta", read_number_or_tight, ZERO))
        expect = table.may("expect", read_choice(VERDICTS), "proved")
        utility = table.may("utility", read_boolean, False)
        beta = self._value(table, "beta", table.may("beta", read_number if measure is None else read_number_or_tight, None))
        within = self._value(table, "within", table.may("within", read_number, None))
        distance = table.may("distance", read_choice(DISTANCES), "")
        loss = table.may("loss", read_matrix, ())
        prior = table.may("prior", read_vector, ())
        adjacency = table.may("adjacency", read_choice(ADJACENCIES), "")
        sensitivity = self._value(table, "sensitivity", table.may("sensitivity", read_number, None))
        asked = table.may("query", read_query, None)
        difference = table.may("difference", read_differences, ())
        table.done()
        self._beside(table, measure, order, utility)
        if order and getattr(mechanism, "neighbours", "") in ONE_WAY:
            table.fault("order stands beside neighbours of the mechanism that are of one order already. Leave one of the two out.")
        if epsilon == TIGHT and delta == TIGHT:
            table.fault('epsilon and delta are both "tight". Give one of them a value.')
        if table.has("query") and table.has("sensitivity"):
            table.fault("give sensitivity or query, not both: the query's sensitivity is derived.")
        if table.has("query") and not table.has("adjacency"):
            table.fault(f"a query needs its adjacency: one of {', '.join(ADJACENCIES)}.")
        near = measure is not None and measure.name == NEARNESS
        if near:
            measure = Measure(NEARNESS, None if isinstance(beta, str) else beta)
        if table.has("beta") and not utility and not near and mechanism is not None and not isinstance(mechanism, Space):
            table.fault(
                "beta is the probability with which the error may be exceeded: it needs utility = true beside it, or within, to claim how "
                "near answers are."
            )
        for key in ("loss", "prior"):
            if table.has(key) and not utility and not (near and key == "loss"):
                table.fault(f"{key} is for the mean loss that is shown: it needs utility = true beside it.")
        if mechanism is None:
            return None
        for fault in space_faults(mechanism, table.data):
            table.fault(fault)
        for fault in loss_faults(mechanism, loss, prior):
            table.fault(fault)
        if difference:
            mechanism = self._differing(table, mechanism, difference)
        query, sums = self.queried(table, asked, adjacency)
        if near:  # which neighbours have nothing to do with
            mechanism = replace(mechanism, points=(), metric="") if isinstance(mechanism, Exponential) else mechanism
            sensitivity = query = sums = None
        elif not (table.has("sensitivity") and sensitivity is None) and not (table.has("query") and query is None and sums is None):
            mechanism, sensitivity = self.with_sensitivity(table, mechanism, sensitivity, query or sums, adjacency)
        self._zero("", mechanism, sensitivity, query)
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
            adjacency=(adjacency or self.adjacency) if isinstance(mechanism, Combinator | OfRecords) else "",
            utility=utility,
            beta=None if near else beta,
            loss=loss,
            prior=prior,
            measure=measure,
            order=order,
            within=within,
            distance=distance,
            sums=sums,
        )
        for fault in of_records(claim) if sums_of(claim) else ():
            table.fault(fault)
        used = frozenset().union(*map(symbols, expressions(claim)))
        claim = replace(claim, domains=tuple(sorted((name, self.domains[name]) for name in used & self.domains.keys())))
        other = stated_adjacencies(mechanism, adjacency or self.adjacency).keys() - {"add-remove"}
        if order and other:
            table.fault(
                f"order = {show(order)} is about a record that is added or removed, which the adjacency {min(other)} does not do. "
                "State the adjacency add-remove, or leave the order out."
            )
        line = self.lines[index - 1] if index <= len(self.lines) else 1
        return Stated(claim, expect.upper(), adjacency, line, (*notes.unstated(self.unstated), *self.notes))

    def _measure(self, table: Fields, mechanism: Mechanism | None) -> Measure | None:
        """What is claimed in place of epsilon; None where nothing is."""
        found: Measure | None = None
        table.taken.update(CLAIMED_MEASURES)
        if table.has("within") and not isinstance(mechanism, Space) and not (mechanism is None and table.has("epsilon")):
            return Measure(NEARNESS, None)
        for name in CLAIMED_MEASURES:
            if not table.has(name):
                continue
            if found is not None or table.has("epsilon"):
                table.fault(f"use either {name} or {'epsilon' if table.has('epsilon') else found and found.name}, not both.")
            value, at = (
                (table.may(name, read_divergence, (None, Fraction(2))))
                if name == "renyi"
                else (table.may(name, read_number_or_tight, None), None)
            )
            value = self._value(table, name, value)
            found = Measure(name, None if value == TIGHT else value, at)
        return found

    def _beside(self, table: Fields, measure: Measure | None, order: str, utility: bool) -> None:
        if measure is not None and table.has("delta"):
            table.fault(f"{measure.name} has no delta: claim epsilon and delta in a claim of their own.")
        if utility and order:
            table.fault("utility = true stands beside order: the errors of a mechanism are asked for in a claim about both orders.")

    def _differing(self, table: Fields, mechanism: Mechanism, difference: tuple[Expr, ...]) -> Mechanism:
        """The mechanism under the differences that a claim states."""
        if not isinstance(mechanism, EllipticalProcess) or not mechanism.covariance:
            table.fault("difference: only a process with a covariance measures functions. Give it one, or a sensitivity.")
            return mechanism
        try:
            found = replace(mechanism, differences=tuple(grown(h, self.values) for h in difference))
        except ExprError as error:
            table.fault(f"difference: {error}")
            return mechanism
        for fault in free_symbols(found, self.domains.keys() | self.broken):
            table.fault(fault)
        return found

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
            near = meant(free[0], [TIGHT, *self.values, *self.domains])
            table.fault(f"{key} = {shown} has the free symbol {free[0]!r}. Write a number, or give it in the mechanism's parameters.{near}")
        if key == "epsilon" and symbols(value):
            return value  # where a bound in the parameters is negative it is merely not met
        for fault in number_faults(key, value, self.domains, CLAIMED.get(key, NOT_NEGATIVE)):
            table.fault(f"{fault}{' It is a probability, such as 1e-6.' if key == 'delta' else ''}")
        return value

    def _idle(self, claims: Iterable[Fields]) -> None:
        """Parameters that a builtin does not have: another parameter or a claim may use them, else they are mistaken for what it has."""
        self.words += [value for table in claims for value in table.data.values() if isinstance(value, str)]
        used = {word for text in self.words for word in re.findall(r"[A-Za-z_]\w*", text)}
        for name, fault in self.helpers.items():
            if name not in used:
                self.faults.append(f"{self._at('mechanism')}: {fault}")

    def _unused(self) -> list[str]:
        """Parameters that nothing in the file names."""
        used = set(notes.words({key: value for key, value in self.data.items() if key != "audit"}))
        return [name for name in self.given if name not in used]

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
                require_well_formed(unpack(pack(stated.claim, PRECISIONS[0], "UNKNOWN", ())).claim)
            except (CertificateError, RecursionError) as error:
                why = error if isinstance(error, CertificateError) else "it is nested too deeply."
                place = self._at(f"claim {number}")
                self.faults.append(f"{place}: no certificate can state it, with its parameters put in: {why} Write it shorter.")

    def _sane(self, claims: Iterable[Stated | None]) -> None:
        """Densities that are certainly negative somewhere, or certainly not integrable."""
        seen: set[Mechanism] = set()
        for stated in claims:
            single = [] if stated is None else [part.mechanism for part in all_parts(stated.claim.mechanism)] or [stated.claim.mechanism]
            single += [noise for mechanism in single for noise in noises_of(mechanism)]
            for mechanism in dict.fromkeys(single):
                if stated is not None and mechanism not in seen:
                    seen.add(mechanism)
                    claim = replace(stated.claim, mechanism=mechanism)
                    with suppress(OverflowError):  # kinks beyond all floats: the density is not looked at, only judged
                        self.faults.extend(f"{self._at('mechanism')}: {fault}" for fault in sanity.faults(claim))

    def _audit(self, table: Fields) -> dict[str, Any]:
        """Where the sampled implementation is; nothing of it is run here."""
        training = table.has("train")
        audit = {
            "sampler": (table.may if training else table.need)("sampler", read_callable_name, None),
            "query": table.may("query", read_callable_name, None),
            "pairs": table.may("pairs", read_pairs_of_data, None),
            "patterns": table.may("patterns", read_patterns, None),
            "length": table.may("length", read_positive_integer, None),
            "observe": table.may("observe", read_observed, None),
            "train": table.may("train", read_callable_name, None),
            "canaries": (table.need if training else table.may)("canaries", read_callable_name, None),
            "score": table.may("score", read_callable_name, None),
            "data": table.may("data", read_callable_name, None),
            "instead": table.may("instead", read_callable_name, None),
            "runs": table.may("runs", read_positive_integer, None),
            "guesses": table.may("guesses", read_positive_integer, None),
            "confidence": table.may("confidence", read_confidence, None),
        }
        others = OF_SAMPLERS if training else OF_TRAINING
        if wrong := [key for key in others if table.has(key)]:
            of = "a sampler, and this table names a training (train)" if training else "a training, and this table names none (train)"
            table.fault(f"{', '.join(wrong)}: said of {of}. Leave out one or the other.")
        if audit["patterns"] == "usual" and not table.has("length"):
            table.fault('patterns = "usual" needs length, the number of answers.')
        table.done()
        return {key: value for key, value in audit.items() if value is not None}

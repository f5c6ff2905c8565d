"""Programs, Python functions that are read and never run, as the tables of claim files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dpverify.catalogue.toml import Fault, meant, read_text, show
from dpverify.errors import SpecError
from dpverify.programs.faults import Fault as Unread
from dpverify.programs.module import Module, Program
from dpverify.programs.reading import Faulty, compile_program, default_parameters, module_of, programs_of
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.model import Domain

OF_THE_DATA: Final = ("neighbours", "adjacency", "bounds", "hull", "answers", "record", "rows")
"""What a table of a mechanism may say of a program's data in place of its decorator."""
NAMED: Final = re.compile(r"(.+\.py):(\w+)")


@dataclass(frozen=True)
class Text:
    """A program's text. file: as it is named in messages."""

    file: str
    text: str
    name: str
    folder: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<program {self.name} of {self.file}>"


def with_file(file: str, faults: Sequence[Unread]) -> list[str]:
    """Faults with the file that they are in."""
    return [f"{file}: {fault}" for fault in faults]


def text_of(path: Path, name: str = "") -> Text:
    """A program's file. Raises SpecError."""
    try:
        return Text(str(path), read_text(path), name)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except Fault as error:
        raise SpecError(f"{path}: {error}") from error


def found_in(text: Text) -> tuple[Module, list[Program]]:
    """The programs of a file. Raises SpecError listing what is wrong with it."""
    try:
        module = module_of(text.file, text.text)
        return module, programs_of(module)
    except Faulty as error:
        raise SpecError(with_file(text.file, error.faults)) from error


def named(text: Text) -> tuple[Module, Program]:
    """The program that is named. Raises SpecError."""
    module, programs = found_in(text)
    found = [one for one in programs if one.name == text.name]
    if not found:
        known = [one.name for one in programs]
        others = f" There are {', '.join(known[:8])}." if known else " None of its functions has the decorator dpverify.program."
        raise SpecError(f"{text.file}: it has no program {show(text.name)}.{meant(text.name, known) or others}")
    return module, found[0]


def has_programs(path: Path) -> bool:
    """Whether a Python file has programs with claims, as far as it can be read; what cannot be read and speaks of programs counts."""
    try:
        text = read_text(path)
    except (OSError, Fault):
        return False
    if "dpverify" not in text or "program" not in text or "claims" not in text:
        return False
    try:
        return any(one.claims or one.options.get("claims") for one in found_in(Text(str(path), text, ""))[1])
    except SpecError:
        return re.search(r"^@[\w.]*program\b", text, re.MULTILINE) is not None


def with_claims(path: Path) -> list[Path]:
    """Each program of a file that carries claims, as FILE:NAME; the file itself where it has faults, which reading it tells."""
    text = text_of(path)
    try:
        _, programs = found_in(text)
    except SpecError:
        return [path]
    found = [one for one in programs if one.options.get("claims")]
    if not found:
        faults = [fault for one in programs for fault in _faults(text, one)]
        if faults:
            raise SpecError(faults)
        what = f"its programs ({', '.join(one.name for one in programs[:5])}) carry no claims" if programs else "it has no programs"
        raise SpecError(
            f'{path}: {what}. Write @dpverify.program(..., claims=[{{"epsilon": "1"}}]), or a claim file with program = "{path.name}:NAME".'
        )
    return [Path(f"{path}:{one.name}") for one in found]


def _faults(text: Text, program: Program) -> Iterator[str]:
    """What cannot be read of a program that nothing is claimed of."""
    from dpverify.catalogue.values import read_value_or_domain

    try:
        given = {name: read_value_or_domain(value) for name, value in default_parameters(program, {}).items()}
        values = {name: value for name, value in given.items() if not isinstance(value, Domain)}
        domains = {name: value for name, value in given.items() if isinstance(value, Domain)}
        compile_program(found_in(text)[0], program, values, domains, {})
    except Faulty as error:
        yield from with_file(text.file, error.faults)
    except Fault as error:
        yield f"{text.file}: {program.name}: parameters {error}"


def claims_of(text: Text) -> tuple[list[dict[str, Any]], list[int]]:
    """The tables of a program's claims, with names that are unique in its file, and their lines. Raises SpecError."""
    _, program = named(text)
    _, programs = found_in(text)
    tables: list[dict[str, Any]] = []
    lines: list[int] = []
    taken = [claim.get("name") for one in programs for claim in one.options.get("claims") or [] if isinstance(claim, dict)]
    claims = program.options.get("claims") or []
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise SpecError(
            with_file(text.file, [Unread(program.places["claims"].lineno, 1, 'claims is no list of tables: [{"epsilon": "1"}].')])
        )
    for number, claim in enumerate(claims, 1):
        node = program.claims[number - 1] if number <= len(program.claims) else program.places["claims"]
        table = dict(claim)
        if not isinstance(name := table.get("name"), str):
            table["name"] = program.name if len(claims) == 1 else f"{program.name} claim {number}"
        elif taken.count(name) > 1:
            table["name"] = f"{program.name}: {name}"
        tables.append(table)
        lines.append(node.lineno)
    return tables, lines


def translated(
    text: Text, values: Mapping[str, Expr], domains: Mapping[str, Domain], options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """The table of the mechanism, and what claims say of neighbours. Raises SpecError."""
    module, program = named(text)
    try:
        found = compile_program(module, program, values, domains, options)
    except Faulty as error:
        raise SpecError(with_file(text.file, error.faults)) from error
    return found.mechanism, found.claim


def parameters(text: Text, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a program with their values or domains: as given, else as its text has them, else any real number."""
    return default_parameters(named(text)[1], given)

"""A claim file for one mechanism, with a reference sampler where one is wanted."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from dpverify.catalogue.kinds import STARTERS
from dpverify.catalogue.kinds.kind import Starter
from dpverify.errors import ProjectError
from dpverify.project.files import Action, Planned, planned
from dpverify.project.render import render


def mechanism_files(folder: Path, name: str, kind: str, *, sampler: bool, force: bool, schema: str = "") -> list[Planned]:
    """The claim file NAME.toml in `folder`, and with `sampler` the module beside it that its [audit] table names.

    kind: of STARTERS. schema: the file name of the schema that lies in `folder`, "" where none does.
    Raises ProjectError, listing all that is wrong with the name and the kind, and the files that are there already unless `force` is set.
    """
    starter = STARTERS[kind]
    sampler = sampler or not starter.declared  # it is nothing without one
    faults = [*_faults(name, kind, sampler)]
    if faults:
        raise ProjectError(faults)
    module = name.replace("-", "_")
    values = {"name": name, "starter": starter, "sampler": sampler, "module": module, "schema": schema}
    files = [planned(folder / f"{name}.toml", render("claim.toml", **values), force)]
    if sampler:
        files.append(planned(folder / f"{module}.py", _sampler(name, kind, starter), force))
    there = [file.path for file in files if file.action is Action.LEAVE]
    taken = [f"{path}: it is there already. Choose another name, or replace it with --force." for path in there]
    if taken:
        raise ProjectError(taken)
    return files


def _sampler(name: str, kind: str, starter: Starter) -> str:
    return render("samplers/_given.py", name=name, starter=starter) if starter.sampler else render(f"samplers/{kind}.py", name=name)


def _faults(name: str, kind: str, sampler: bool) -> Iterator[str]:
    module = name.replace("-", "_")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        yield f"{name!r} cannot name a mechanism. Use letters, digits, - and _, beginning with a letter."
    elif sampler and (keyword.iskeyword(module) or module in sys.stdlib_module_names):
        yield f"{name!r} cannot name a sampler's module: Python has a word or a module of this name. Choose another."
    if sampler and (why := STARTERS[kind].no_sampler):
        yield f"the kind {kind} has no sampler: {why}"

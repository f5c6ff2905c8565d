"""Declarations in Python that claim files name by `use`: run in a process of their own, which gives them back as data."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverify.catalogue.declarations import Mechanism as Declaration
from dpverify.catalogue.toml import Fault, meant
from dpverify.runtime.outside import printable
from dpverify.runtime.processes import Bounds, Ended, Failed, apart
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError
from dpverify.trusted.kernel.model import Claim, Domain, Mechanism


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration says. domains: of its parameters, by name; source: where it says the mechanism comes from.

    unstated: the parts whose sensitivity is 1 since they say nothing.
    """

    mechanism: Mechanism
    domains: tuple[tuple[str, Domain], ...]
    source: str
    unstated: tuple[str, ...] = ()


class Failure(Fault):
    """Of code: it raised, ended its process or did not return."""


def declaration(use: str, folders: Sequence[Path], bounds: Bounds | None = None) -> Declared:
    """The declaration that `use` names: "path.py:name", or a name on the shelf. Looked for in the folders, in their order.

    Its code runs in a process of its own; what comes back is a claim in canonical form and is read like any other.
    Raises Fault, and Failure where the code itself fails.
    """
    file, mark, name = use.partition(":")
    if not mark:
        if not re.fullmatch(r"\w+", use):
            raise Fault('is neither "path.py:name" nor a name of the shelf.')
        file, name = f"mechanisms/{use}.py", use
    if not file.endswith(".py") or not name.isidentifier():
        raise Fault('is not of the form "path.py:name".')
    tried = [base / file for base in folders]
    path = next((candidate for candidate in tried if candidate.is_file()), None)
    if path is None:
        raise Fault(f"names no file. Looked for {', '.join(dict.fromkeys(map(str, tried)))}.")
    print(printable(f"running {path} (use = {use})"), file=sys.stderr)  # noqa: T201
    bounds = bounds or Bounds()
    try:
        told = apart(_declared, (str(path), name), bounds=bounds)
    except Failed as error:
        raise Failure(_shown(f"fails: {error}")) from error
    if isinstance(told, Ended):
        longer = " Allow more with --timeout." if told.overdue else ""
        raise Failure(_shown(f"fails: {path} did not come to its end: its process was {told.how}.{longer}"))
    try:
        if "fault" in told:
            raise Fault(_shown(str(told["fault"])))
        claim = from_json(told["claim"])
        unstated = tuple(_shown(str(place)) for place in told["unstated"])
        return Declared(claim.mechanism, claim.domains, _shown(str(told["source"])), unstated)
    except (CertificateError, LookupError, TypeError) as error:
        raise Fault(_shown(f"fails: what {path} declares cannot be read: {error}")) from error


def _shown(text: str) -> str:
    """A text of foreign code on one line, without what a terminal would obey."""
    text = "".join(mark if mark.isprintable() else " " for mark in text)
    return text if len(text) <= 2000 else text[:1997] + "..."


def _declared(file: str, name: str, say: object) -> dict[str, Any]:
    """Run the file; what it declares under the name, as JSON data, or what is wrong with that."""
    path = Path(file)
    module_spec = importlib.util.spec_from_file_location(f"_dpverify_declaration_{path.stem}", path)
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    try:
        module_spec.loader.exec_module(module)
        declared = getattr(module, name, None)
        if not isinstance(declared, Declaration):
            known = [key for key, value in vars(module).items() if isinstance(value, Declaration)]
            return {"fault": f"names no dpverify.declare.Mechanism.{meant(name, known)}"}
        domains = tuple(sorted(declared.domains().items()))
        unstated: list[str] = []
        claim = to_json(Claim(declared.model(unstated), None, domains=domains))
        return {"claim": claim, "source": str(declared.source or ""), "unstated": unstated}
    except DpverifyError as error:
        return {"fault": f"fails: {error}"}

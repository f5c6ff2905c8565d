"""Baselines: what is known not to be as expected today, so that a project starts green and fails on what is new alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from dpverify.errors import SpecError
from dpverify.report.results import AUDIT_RULES, CLAIM_RULES, RULES, UNCONFIRMED, Results
from dpverify.runtime.outside import plainly, read_regular, visible
from dpverify.trusted.kernel.certificate import MAX_BYTES

SCHEMA: Final = "dpverify-baseline/1"
NAME: Final = "dpverify-baseline.json"
_KEYS: Final = ("file", "name", "rule", "message", "fingerprint")
_AGAIN: Final = "Remove it, and write it anew with `dpverify baseline`."


class Known(NamedTuple):
    """One thing that is accepted.

    file: as Results.place has it. rule: of results.RULES. message: for readers; only the fingerprint counts.
    """

    file: str
    name: str
    rule: str
    message: str
    fingerprint: str


class Baseline(NamedTuple):
    """What a baseline file accepts. root: the folder that its files are relative to."""

    root: Path
    known: tuple[Known, ...] = ()

    @property
    def fingerprints(self) -> frozenset[str]:
        """Of everything that is accepted."""
        return frozenset(one.fingerprint for one in self.known)

    def gone(self, results: Results) -> list[Known]:
        """What is accepted, but did not occur in a run over whole files: of its claim files, or of those that no longer exist."""
        occurred = {surprise.fingerprint for surprise in results.surprises}
        faulty = {(results.place(fault.file), fault.name) for fault in results.faults}
        faulty |= {(results.place(entry.file), entry.claim.name) for entry in results.entries if entry.fault}
        judged = {results.place(entry.file) for entry in results.entries}
        audited = {results.place(file) for file, _ in results.lines}

        def looked_for(one: Known) -> bool:
            if one.rule == UNCONFIRMED and not results.required:
                return False
            there = one.file in (judged if one.rule in CLAIM_RULES else audited) and (one.file, one.name) not in faulty
            return there or not (":" in one.file or (self.root / one.file).is_file())

        return [one for one in self.known if one.fingerprint not in occurred and looked_for(one)]


def accepted(results: Results, before: Baseline) -> tuple[Known, ...]:
    """Everything of a run that is not as expected, with what was accepted before and was not looked for, in a stable order.

    Faults cannot be accepted.
    """
    entries = {
        Known(results.place(one.file), one.name, one.rule, visible(one.message.partition("\n")[0]), one.fingerprint)
        for one in results.surprises
        if one.rule in RULES
    }
    marks = {one.fingerprint for one in (*entries, *before.gone(results))}
    return tuple(sorted(entries | {one for one in before.known if one.fingerprint not in marks}))


def render(known: tuple[Known, ...]) -> str:
    """The text of a baseline file: sorted, one entry a line."""
    lines = ",\n".join("  " + json.dumps(one._asdict(), ensure_ascii=False) for one in known)
    listed = f"[\n{lines}\n ]" if known else "[]"
    return f'{{\n "schema": "{SCHEMA}",\n "known": {listed}\n}}\n'


def read(file: Path, root: Path) -> Baseline:
    """The baseline that a file holds. Raises SpecError listing all that is wrong with it."""
    if file.exists() and not file.is_file():
        raise SpecError(f"{file}: not a file. `dpverify baseline PATH... -o FILE` writes one.")
    try:
        text = read_regular(file, MAX_BYTES).decode("utf-8")
        if re.search("^<<<<<<< ", text, re.MULTILINE):
            raise SpecError(f"{file}: it holds the marks of a merge conflict. {_AGAIN}")
        data = json.loads(text)
    except FileNotFoundError as error:
        raise SpecError(f"{file}: no such baseline. `dpverify baseline PATH... -o {file}` writes it.") from error
    except OSError as error:
        raise SpecError(f"{file}: cannot be read: {error.strerror or error}.") from error
    except json.JSONDecodeError as error:
        raise SpecError(f"{file}: not JSON at line {error.lineno}, column {error.colno}: {error.msg}. {_AGAIN}") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{file}: not a baseline: {plainly(error)}. {_AGAIN}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise SpecError(f'{file}: not a baseline of this version: it has no "schema": "{SCHEMA}". {_AGAIN}')
    known = data.get("known")
    faults = [f'{file}: unknown key "{key}". {_AGAIN}' for key in data if key not in ("schema", "known")]
    if not isinstance(known, list):
        faults.append(f'{file}: "known" is not a list. {_AGAIN}')
    else:
        faults += [f"{file}, entry {number}: {fault} {_AGAIN}" for number, one in enumerate(known, 1) for fault in _faults(one)]
    if faults:
        raise SpecError(faults)
    return Baseline(root, tuple(Known(**one) for one in data["known"]))


def _faults(one: Any) -> list[str]:
    """What is wrong with an entry."""
    if not isinstance(one, dict):
        return ["not an object."]
    faults = [f'"{key}" is missing.' for key in _KEYS if key not in one]
    faults += [f'unknown key "{key}".' for key in one if key not in _KEYS]
    faults += [f'"{key}" is not a text.' for key in _KEYS if key in one and not isinstance(one[key], str)]
    if isinstance(one.get("fingerprint"), str) and not re.fullmatch("[0-9a-f]{64}", one["fingerprint"]):
        faults.append('"fingerprint" is not 64 hexadecimal digits.')
    if isinstance(one.get("rule"), str) and one["rule"] not in RULES:
        faults.append(f'"rule" is none of {", ".join((*CLAIM_RULES, *AUDIT_RULES))}.')
    return faults

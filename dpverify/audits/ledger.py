"""A ledger of audits: one SQLite file with every night of every claim, and what each hands on to the next.

A night takes what earlier ones own when it begins, in one transaction; from then on nobody else has it. What it owns itself is committed
every few seconds together with how many samples that took, so that a night that is killed is one that was shorter. Nights that go on at
once share nothing. No stream of random numbers is used in two nights.

The file has a rollback journal: the write-ahead log, SQLite's other way, needs memory that all writers share, which those of a folder on
a network do not.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dpverify.audits.capital import Capital, Night, read, share_of, together, written
from dpverify.errors import AuditError
from dpverify.runtime.finding import NO_VIOLATION_SEEN, Finding, as_data, of_data

SCHEMA: Final = 1
APPLICATION: Final = 0x6470766C  # "dpvl", in the header of the file
PATIENCE: Final = 60.0  # seconds to wait for another writer
LEASE: Final = 900.0  # seconds after which a night on another machine that says nothing is over,
GAPS: Final = 8  # or so many times as long as it ever said nothing before
EVENTS: Final = 0.25  # of the capital of a night, for the events of another version
NOTHING, INHERITED_EVENTS, INHERITED_ALL = "nothing", "events", "all"
INHERITED: Final = (NOTHING, INHERITED_EVENTS, INHERITED_ALL)

_TABLES: Final = """
CREATE TABLE claims (
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, name TEXT NOT NULL, sampler TEXT NOT NULL, stated TEXT NOT NULL, confidence REAL NOT NULL,
  UNIQUE (file, name, sampler));
CREATE TABLE histories (
  id INTEGER PRIMARY KEY, claim INTEGER NOT NULL REFERENCES claims, number INTEGER NOT NULL, inherited TEXT NOT NULL,
  UNIQUE (claim, number));
CREATE TABLE versions (
  id INTEGER PRIMARY KEY, history INTEGER NOT NULL REFERENCES histories, code TEXT NOT NULL, parts TEXT NOT NULL, since REAL NOT NULL,
  UNIQUE (history, code));
CREATE TABLE nights (
  id INTEGER PRIMARY KEY, history INTEGER NOT NULL REFERENCES histories, number INTEGER NOT NULL,
  version INTEGER NOT NULL REFERENCES versions, root TEXT NOT NULL UNIQUE, asked TEXT, planned INTEGER NOT NULL,
  samples INTEGER NOT NULL DEFAULT 0, began REAL NOT NULL, heard REAL NOT NULL, lease REAL NOT NULL, ended REAL, process TEXT NOT NULL,
  made_with TEXT NOT NULL, capital TEXT NOT NULL, evidence REAL, threshold REAL,
  finding TEXT, found TEXT, taken INTEGER REFERENCES nights, UNIQUE (history, number));
"""

_GONE: Final = json.dumps(written(Capital()))
_NAMES: Final = ("claims", "histories", "versions", "nights")


class Key(NamedTuple):
    """Which claim is meant: the name of its file and its own, and the sampler; in words what it states; at which confidence."""

    file: str
    name: str
    sampler: str
    stated: str
    confidence: float


@dataclass(slots=True)
class Open:
    """A night that goes on. alpha: the budget of false alarms of its whole history; root: its seed, of no other night.

    found: what an earlier night of the history has found, which stands. before: nights and samples of the history until now.
    """

    id: int
    number: int
    root: int
    alpha: float
    night: Night
    found: Finding | None
    before: tuple[int, int]
    heard: float
    lease: float = LEASE


class Ledger:
    """The ledger in a file, which is made where there is none.

    Raises AuditError, with the way out, wherever the file is no ledger, is of a newer version, cannot be read or cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    # -- nights

    def begin(
        self, key: Key, parts: dict[str, str], code: str, *, seed: int | None, planned: int, inherit: str, made_with: dict[str, str]
    ) -> Open:  # fmt: skip
        """A new night of a claim, with all that nobody else has of its history.

        code, parts: the version of the sampler. seed: from which the seed of the night is made, None for chance. inherit: what a version
        that is new takes over from the history before: nothing, its events, or all.
        """
        now = time.time()
        with self._writing() as rows:
            claim = self._claim(rows, key)
            history, version = self._history(rows, claim, code, parts, inherit, now)
            number = rows.execute("SELECT coalesce(max(number), 0) FROM nights WHERE history = ?", (history,)).fetchone()[0] + 1
            order, inherited = rows.execute("SELECT number, inherited FROM histories WHERE id = ?", (history,)).fetchone()
            free = self._free(rows, history, now)
            brought, fresh = together([self._capital(text) for _, text in free]), share_of(number)
            if inherited == INHERITED_EVENTS and number == 1:
                brought, fresh = self._events(rows, claim, order, fresh)
            before = rows.execute("SELECT count(*), coalesce(sum(samples), 0) FROM nights WHERE history = ?", (history,)).fetchone()
            root = self._root(rows, seed)
            row = rows.execute(
                "INSERT INTO nights (history, number, version, root, asked, planned, began, heard, lease, process, made_with, capital)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    history, number, version, str(root), None if seed is None else str(seed), planned, now, now, LEASE,
                    json.dumps(_process()), json.dumps(made_with), json.dumps(written(brought)),
                ),
            )  # fmt: skip
            night = row.lastrowid
            assert night is not None
            rows.executemany("UPDATE nights SET taken = ? WHERE id = ?", [(night, other) for other, _ in free])
            told = "SELECT finding FROM nights WHERE history = ? AND found IS NOT NULL ORDER BY number"
            found = rows.execute(told, (history,)).fetchone()
        finding = None if found is None else of_data(json.loads(found[0]))
        alpha = (1 - key.confidence) * share_of(order)
        return Open(night, number, root, alpha, Night(fresh, brought), finding, (before[0], before[1]), now)

    def commit(
        self, night: Open, capital: Capital, samples: int, evidence: tuple[float, float], finding: Finding | None = None, *,
        last: bool = False,
    ) -> None:  # fmt: skip
        """What a night owns after so many samples, in place of what was committed before; with its finding, it is over.

        evidence: the log10 of the greatest evidence against the claim, and that of its threshold.
        """
        now = time.time()
        night.lease = max(night.lease, GAPS * (now - night.heard))
        night.heard = now
        found = finding.finding if finding is not None and finding.finding != NO_VIOLATION_SEEN else None
        told = None if finding is None else json.dumps(as_data(finding))
        with self._writing() as rows:
            done = rows.execute(
                "UPDATE nights SET capital = ?, samples = ?, evidence = ?, threshold = ?, heard = ?, lease = ?, finding = ?, found = ?,"
                " ended = ? WHERE id = ? AND taken IS NULL AND ended IS NULL",
                (json.dumps(written(capital)), samples, *evidence, now, night.lease, told, found, now if last else None, night.id),
            )  # fmt: skip
            if done.rowcount != 1:
                raise AuditError(
                    f"{self.path}: another audit went on with this history, for this one had said nothing for a while: what it sampled "
                    "since its last entry is not counted. Run it again."
                )
            # what others handed on is a part of this now, and may be large
            rows.execute("UPDATE nights SET capital = ? WHERE taken = ? AND capital != ?", (_GONE, night.id, _GONE))

    def undo(self, night: Open) -> None:
        """See that a night in which nothing was sampled never was."""
        with self._writing() as rows:
            rows.execute("UPDATE nights SET taken = NULL WHERE taken = ?", (night.id,))
            rows.execute("DELETE FROM nights WHERE id = ? AND samples = 0 AND taken IS NULL", (night.id,))

    # -- what is known

    def claims(self) -> list[dict[str, Any]]:
        """Of each claim its histories, each with its versions and nights, as JSON data, in the order in which they began."""
        now = time.time()
        with self.reading() as rows:
            rows.row_factory = sqlite3.Row
            tables = {name: list(map(dict, rows.execute(f"SELECT * FROM {name} ORDER BY id"))) for name in _NAMES}
        for night in tables["nights"]:
            night["finding"] = None if night["finding"] is None else json.loads(night["finding"])
            night["made_with"] = json.loads(night["made_with"])
            gone = _is_over(json.loads(night.pop("process")), now - night["heard"], night["lease"])
            over = night["ended"] is not None
            night["state"] = "over" if over and night["finding"] else "broken off" if over or gone else "going on"
        for version in tables["versions"]:
            version["parts"] = json.loads(version["parts"])
        for history in tables["histories"]:
            history["versions"] = [one for one in tables["versions"] if one["history"] == history["id"]]
            history["nights"] = [one for one in tables["nights"] if one["history"] == history["id"]]
        return [{**claim, "histories": [one for one in tables["histories"] if one["claim"] == claim["id"]]} for claim in tables["claims"]]

    # -- below

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing is written."""
        with self._opened("rwc") as rows:
            rows.execute("PRAGMA synchronous = EXTRA")
            rows.execute("BEGIN IMMEDIATE")
            try:
                self._prepare(rows)
                yield rows
                rows.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    rows.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The ledger as it is at one moment."""
        if not self.path.exists():
            raise AuditError(f"{self.path}: no such file. `dpverify audit --ledger {self.path}` makes it.")
        with self._opened("ro") as rows:
            rows.execute("BEGIN")
            self._prepare(rows, make=False)
            yield rows

    @contextlib.contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        if self.path.exists() and not self.path.is_file():  # a device may be read without end, and a pipe waited for
            raise AuditError(f"{self.path} is no regular file, so that no ledger can be kept there. Give another path.")
        try:
            rows = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None)
            with contextlib.closing(rows):
                yield rows
        except sqlite3.Error as error:
            raise AuditError(f"{self.path}: {self._way_out(error)}") from error

    def _way_out(self, error: sqlite3.Error) -> str:
        kind = (getattr(error, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
        if kind in ("NOTADB", "FORMAT") or kind.startswith("CORRUPT"):
            return f"no ledger of audits, or a damaged one ({error}). Give another path, or a copy of before."
        if kind == "FULL":
            return "the ledger cannot be written, for the disk is full. What was committed before is intact: make room and run again."
        if kind.startswith(("READONLY", "CANTOPEN", "PERM", "AUTH")):
            return "the ledger cannot be written, or its folder cannot, where SQLite keeps a journal. Give a path that may be written."
        if kind.startswith(("BUSY", "LOCKED")):
            return f"others have been writing to the ledger for {PATIENCE:g} s. What was committed is intact: run again."
        return f"the ledger cannot be read or written: {error}. What was committed before is intact: mend that and run again."

    def _prepare(self, rows: sqlite3.Connection, *, make: bool = True) -> None:
        """See that this is a ledger, of a schema that is known; an empty file is made one."""
        application, schema = (rows.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = rows.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == 0 and schema == 0 and tables == 0:
            if not make:
                raise AuditError(f"{self.path}: an empty file, and no ledger yet. `dpverify audit --ledger {self.path}` makes it one.")
            for statement in _TABLES.split(";"):
                rows.execute(statement)
            rows.execute(f"PRAGMA application_id = {APPLICATION}")
            rows.execute(f"PRAGMA user_version = {SCHEMA}")
        elif application != APPLICATION:
            raise AuditError(f"{self.path}: a database, but no ledger of audits. Give another path.")
        elif schema > SCHEMA:
            raise AuditError(
                f"{self.path}: a ledger of schema {schema}, which a newer dpverify has written; this one knows {SCHEMA}. "
                "Update dpverify, or give another path."
            )

    def _claim(self, rows: sqlite3.Connection, key: Key) -> int:
        known = rows.execute("SELECT id, confidence FROM claims WHERE file = ? AND name = ? AND sampler = ?", key[:3]).fetchone()
        if known is None:
            made = rows.execute("INSERT INTO claims (file, name, sampler, stated, confidence) VALUES (?, ?, ?, ?, ?)", key)
            assert made.lastrowid is not None
            return made.lastrowid
        if known[1] != key.confidence:
            raise AuditError(
                f"{self.path}: the claim {key.name!r} of {key.sampler} is audited there at confidence {known[1]!r}, which stays what it is "
                f"for all its nights; asked for is {key.confidence!r}. Give confidence {known[1]!r}, or another ledger."
            )
        rows.execute("UPDATE claims SET stated = ? WHERE id = ?", (key.stated, known[0]))
        return int(known[0])

    def _history(
        self, rows: sqlite3.Connection, claim: int, code: str, parts: dict[str, str], inherit: str, now: float
    ) -> tuple[int, int]:
        """The history that a version is of, and the version: one that is known is of the history it was of, a new one of a new one."""
        known = rows.execute(
            "SELECT v.history, v.id FROM versions v JOIN histories h ON h.id = v.history WHERE h.claim = ? AND v.code = ?"
            " ORDER BY v.id DESC",
            (claim, code),
        ).fetchone()
        if known is not None:
            return int(known[0]), int(known[1])
        last = rows.execute("SELECT id, number FROM histories WHERE claim = ? ORDER BY number DESC", (claim,)).fetchone()
        if last is not None and inherit == INHERITED_ALL:
            earlier = rows.execute("SELECT parts FROM versions WHERE history = ? ORDER BY id DESC", (last[0],)).fetchone()
            if json.loads(earlier[0]).get("claim") != parts.get("claim"):
                raise AuditError(
                    f"{self.path}: the claim itself, or its declaration, is another one than before, and what was won by bets against that "
                    "one says nothing of this one. Inherit events, or nothing."
                )
            history = int(last[0])
        else:
            inherited = inherit if last is not None else NOTHING
            made = rows.execute(
                "INSERT INTO histories (claim, number, inherited) VALUES (?, ?, ?)", (claim, 1 if last is None else last[1] + 1, inherited)
            )
            assert made.lastrowid is not None
            history = made.lastrowid
        version = rows.execute(
            "INSERT INTO versions (history, code, parts, since) VALUES (?, ?, ?, ?)", (history, code, json.dumps(parts), now)
        ).lastrowid
        assert version is not None
        return history, version

    def _free(self, rows: sqlite3.Connection, history: int, now: float) -> list[tuple[int, str]]:
        """The nights of a history that nobody has taken anything over from, and that are over, or dead."""
        listed = rows.execute(
            "SELECT id, capital, ended, heard, lease, process FROM nights WHERE history = ? AND taken IS NULL ORDER BY number", (history,)
        ).fetchall()
        return [
            (night, text) for night, text, ended, heard, lease, process in listed
            if ended or _is_over(json.loads(process), now - heard, lease)
        ]  # fmt: skip

    def _capital(self, text: str) -> Capital:
        try:
            return read(json.loads(text))
        except ValueError as error:
            why = f"{self.path}: what a night owned cannot be read ({error}). Give another path, or a copy of before."
            raise AuditError(why) from error

    def _events(self, rows: sqlite3.Connection, claim: int, order: int, fresh: float) -> tuple[Capital, float]:
        """The events that the history before was looking at, to begin with a part of the capital of a new one."""
        texts = rows.execute(
            "SELECT n.capital FROM nights n JOIN histories h ON h.id = n.history WHERE h.claim = ? AND h.number < ? AND n.taken IS NULL"
            " ORDER BY h.number DESC, n.number DESC",
            (claim, order),
        ).fetchall()
        tests = [test for (text,) in texts for test in self._capital(text).tests if test.partition is not None][:2]
        if not tests:
            return Capital(), fresh
        share = fresh * EVENTS / len(tests)
        return Capital(tuple(test.anew(share) for test in tests)), fresh * (1 - EVENTS)

    def _root(self, rows: sqlite3.Connection, seed: int | None) -> int:
        """A seed that no night of the ledger has had."""
        tried = 0
        while True:
            root = secrets.randbits(64) if seed is None else int(np.random.SeedSequence([seed, tried]).generate_state(1, np.uint64)[0])
            if rows.execute("SELECT 1 FROM nights WHERE root = ?", (str(root),)).fetchone() is None:
                return root
            tried += 1


def _process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid())}


def _started(pid: int) -> str:
    """When a process was started, so that another one of its number is not taken for it; empty where that is not told."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_over(process: dict[str, Any], silent: float, lease: float) -> bool:
    """Whether a night that was not ended in order is over: its process is gone, or, on another machine, says nothing for long."""
    if process["host"] != socket.gethostname():
        return silent > lease
    try:
        os.kill(process["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return bool(_started(process["pid"]) != process["started"])

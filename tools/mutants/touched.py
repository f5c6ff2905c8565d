"""Which tests run which lines, and for how long: one recorded run of every test file, kept in build/ and made again where the file changes.

Where only the code has changed, a line that is still there keeps the tests that ran it, and a new line has those of its function:
the record chooses which tests are tried and in what order, it never says that a mutant is killed.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import pickle
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import coverage
import operators

LONGEST = 25.0
"""Seconds of CPU under coverage after which a test is stopped: it is of no use for mutants, and counts as one that failed."""


NAMED = {"judgement": "kernel", "proof": "kernel"}
"""The files of the code whose own tests bear another name."""


def test_of(file: str) -> str:
    """The name of the file of tests about a file of the code."""
    stem = Path(file).stem
    return f"test_{NAMED.get(stem, stem)}.py"


class TooSlow(BaseException):
    """A test has used its time."""


@dataclass
class Ran:
    """One test: its seconds of CPU, and the lines that it ran of each file, as the bits of an integer."""

    name: str
    seconds: float
    passed: bool
    lines: dict[str, int]


@dataclass
class Record:
    """What was recorded: of each test file the digests of it and of the code then, and its tests. sources: digest to text."""

    files: dict[str, tuple[str, dict[str, str], list[Ran]]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record of a file, empty where there is none."""
        if not path.exists():
            return cls()
        with path.open("rb") as file:
            return pickle.load(file)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(self))
        part.replace(path)

    def add(self, test_file: str, text: str, code: Mapping[str, str], tests: list[Ran]) -> None:
        """Keep the tests of one file, with the code that they ran. Of code that no record speaks of, nothing is kept."""
        digests = {file: digest(source) for file, source in code.items()}
        self.sources |= {digests[file]: source for file, source in code.items()}
        self.files[test_file] = digest(text), digests, tests
        wanted = {each for _, kept, _ in self.files.values() for each in kept.values()}
        self.sources = {each: source for each, source in self.sources.items() if each in wanted}

    def is_of(self, test_file: str, text: str) -> bool:
        """Whether the record holds this text of a test file."""
        return test_file in self.files and self.files[test_file][0] == digest(text)


def digest(text: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def record_items(items: Sequence[Any], files: Sequence[str], root: Path, passes: Callable[[Any, Any], bool]) -> list[Ran]:
    """Run the tests of one file under coverage, in a process of its own. passes: runs a test that another one follows."""

    watch = coverage.Coverage(data_file=None, config_file=False, include=[str(root / file) for file in files], messages=False)
    outcomes: dict[str, tuple[float, bool]] = {}

    def stop(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    watch.start()
    for item, following in zip(items, [*items[1:], None], strict=True):
        watch.switch_context(item.nodeid)
        before = os.times()
        signal.setitimer(signal.ITIMER_PROF, LONGEST, 1)  # again, where the first is lost in what ignores it
        try:
            passed = passes(item, following)
        except TooSlow:
            passed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        outcomes[item.nodeid] = (sum(os.times()[:4]) - sum(before[:4]), passed)
    watch.stop()
    data = watch.get_data()
    lines: dict[str, dict[str, int]] = {name: {} for name in outcomes}
    for file in files:
        for line, contexts in data.contexts_by_lineno(str(root / file)).items():
            for context in contexts:
                if context in lines:
                    lines[context][file] = lines[context].get(file, 0) | 1 << line
    return [Ran(name, *outcome, lines[name]) for name, outcome in outcomes.items()]


class Touched:
    """The tests of each line of the code as it is now."""

    def __init__(self, record: Record, sources: Mapping[str, str], test_files: Iterable[str], readers: Iterable[str] = ()) -> None:
        """readers: the names of tests that read what is outside functions, of whatever file."""
        self._record = record
        self._readers = set(readers)
        self._sources = sources
        self._kept = [record.files[name] for name in test_files if name in record.files]
        self._maps: dict[tuple[str, str], Any] = {}

    @cached_property
    def tests(self) -> list[Ran]:
        """All that passed."""
        return [ran for _, _, tests in self._kept for ran in tests if ran.passed]

    def of(self, mutant: operators.Mutant) -> list[Ran]:
        """The tests that run the place of a mutant, those that are refused there before the others, those of its file's name before others.

        Of equals, the fastest of each test function and mechanism before the second fastest of any."""
        found: list[Ran] = []
        refused: set[str] = set()
        for _, digests, tests in self._kept:
            old = digests.get(mutant.file)
            if old is None:
                continue
            wanted, around, beyond, inside = self._bits(mutant, old)
            refused |= {ran.name for ran in tests if ran.lines.get(mutant.file, 0) & beyond}
            here = [ran for ran in tests if ran.passed and ran.lines.get(mutant.file, 0) & wanted]
            here = here or [ran for ran in tests if ran.passed and ran.lines.get(mutant.file, 0) & around]
            found += here or [ran for ran in tests if ran.passed and ran.lines.get(mutant.file, 0) & inside]
        if mutant.function == "<module>":
            found += [ran for _, _, tests in self._kept for ran in tests if ran.passed and ran.name in self._readers and ran not in found]
        return self._ordered(found, f"/{test_of(mutant.file)}::", refused)

    def running(self, file: str, lines: Iterable[int], function: str) -> list[Ran]:
        """The tests that run any of the lines of a function as it is now, or where these are new the function, in the order of `of`."""
        lines, found = set(lines), []
        for _, digests, tests in self._kept:
            if file in digests:
                moved, functions, _ = self._map(file, digests[file])
                wanted = _bits(moved[line] for line in lines if line in moved)
                inside = _bits(functions.get(function, ())[1:])
                here = [ran for ran in tests if ran.passed and ran.lines.get(file, 0) & wanted]
                found += here or [ran for ran in tests if ran.passed and ran.lines.get(file, 0) & inside]
        return self._ordered(found, f"/{test_of(file)}::", set())

    @staticmethod
    def _ordered(found: list[Ran], own: str, refused: set[str]) -> list[Ran]:
        """Those that are refused before those of the file's own name, before others; of equals the fastest of each kind first."""
        found.sort(key=lambda ran: (ran.seconds, ran.name))
        seen: Counter[tuple[str, str]] = Counter()
        ranks = {}
        for ran in found:
            ranks[ran.name] = seen[_kind(ran.name)]
            seen[_kind(ran.name)] += 1
        return sorted(found, key=lambda ran: (ran.name not in refused, own not in ran.name, ranks[ran.name]))

    def _bits(self, mutant: operators.Mutant, old: str) -> tuple[int, int, int, int]:
        """The old lines of a mutant, those of its statement, those where it refuses, and where none is left those of its function."""
        moved, functions, named = self._map(mutant.file, old)
        if mutant.function == "<module>":
            held = {name for name in named if name != "<module>" and named[name] & _bound(mutant)} or set(functions)
            lines = [line for name in held for line in functions.get(name, ())[1:]]
            return 0, 0, 0, _bits(lines)
        places = (mutant.lines, mutant.around, mutant.beyond)
        wanted, around, beyond = (_bits(moved[line] for line in lines if line in moved) for lines in places)
        return wanted, around, beyond, 0 if wanted or around else _bits(functions.get(mutant.function, ())[1:])

    def _map(self, file: str, old: str) -> tuple[dict[int, int], dict[str, range], dict[str, set[str]]]:
        """Of each line of a file the line that it was, and the functions and their names then."""
        if (file, old) not in self._maps:
            before, now = self._record.sources[old], self._sources[file]
            if before == now:
                moved = {line: line for line in range(1, before.count("\n") + 2)}
            else:
                match = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
                moved = {b + k + 1: a + k + 1 for a, b, size in match.get_matching_blocks() for k in range(size)}
            self._maps[file, old] = moved, operators.functions(before), operators.names(before)
        return self._maps[file, old]


def _kind(name: str) -> tuple[str, str]:
    """The function of a test, with the mechanism where its parameter is the name of a certificate."""
    function, _, parameters = name.partition("[")
    mechanism, dot, _ = parameters.partition(".")
    return function, mechanism if dot else ""


def _bound(mutant: operators.Mutant) -> set[str]:
    name = mutant.text.partition("=")[0].partition(":")[0].strip()
    return {name} if name.isidentifier() else set()


def _bits(lines: Iterable[int]) -> int:
    found = 0
    for line in lines:
        found |= 1 << line
    return found

"""Small wrong changes of every file below the trust line, each against the tests that run its lines: what survives, no test defends.

    python tools/mutants [--mutants 400] [--seconds 3600] [--seed 0] [--file dpverify/trusted/kernel/proof.py] [--operator guard] [--list]
    python tools/mutants --everything    # records which tests run which lines of the whole package, for `make quick`

Half of the sample takes away hypotheses (guards, operands of `and` and `or`, assumptions), half changes what is computed or compared.
A function that is changed is changed in a process that has collected all tests before; what is outside functions, and whatever
survived, is tried again in one that imports everything anew, so that no value computed before the change is left. Writes
reports/mutants.md. Survivors that have been looked at are in tests/mutants/survivors.toml with what was found.

Exit code 0: less than 5 % survive, and each that does is argued. 1: more do, or one is not argued. 2: bad usage.
"""

from __future__ import annotations

import argparse
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import shutil
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TextIO

import forks
import operators
import pytest
import touched
from operators import GUARDS, Mutant

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
RECORD = BUILD / "touched.pickle"
SCRATCH = BUILD / "scratch"
ARGUED = ROOT / "tests" / "mutants" / "survivors.toml"
REPORT = ROOT / "reports" / "mutants.md"
FOLDERS = ("curves", "rules", "utility", "laws", "mutants")
ALSO = (
    "combinators", "sanity", "stated_guarantees", "numeric", "known_values", "trust_line", "bad_files", "mechanisms", "integral", "events",
    "every_size", "kinds", "proof",
)  # fmt: skip
"""Tests about what is below the line that have the name of no file there."""
SLOW = ("tests/laws/test_additive_sound.py",)
"""Tests that take longer than all others together and see what those see."""
HYPOTHESES = "tests/rules/test_guards.py::test_every_rule_shows_the_hypotheses_that_it_rests_on_and_no_others"
READERS = ("tests/test_docs.py::test_the_reference_says_what_the_code_says", HYPOTHESES)
"""Tests that read what is said outside functions: hypotheses, tables of rules."""
READ = {"tests/mutants/test_recorded.py": "tests/mutants/recorded.txt"}
"""What tests compare with: they are recorded again where it changes."""
SLACK = 5.0
"""Seconds of CPU that any test may take; above that ten times what it took when it was recorded."""
WARM = 0.75
"""The part of the time for changes inside functions; the rest is for trying again what survived."""
RECORDING = 900.0
"""Seconds by the clock for the tests of one file while they are recorded: whoever waits longer waits for ever."""
SHARE = 0.2
"""The part of a mutant's time above which a test comes after all others."""
BOUND = 0.05
"""What may survive."""


# -- what there is ----------------------------------------------------------------------------------


def below() -> list[str]:
    """The files below the trust line."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "dpverify" / "trusted").rglob("*.py"))


def code() -> list[str]:
    """The files of which it is recorded which tests run their lines."""
    found = [path for folder in ("dpverify", "checker") for path in (ROOT / folder).rglob("*.py")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def every_test() -> list[str]:
    """All files of tests."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def tests_of(files: Sequence[str]) -> list[str]:
    """The test files about what is below the line."""
    named = {touched.test_of(file) for file in files} | {f"test_{name}.py" for name in ALSO}
    found = [path for folder in FOLDERS for path in (ROOT / "tests" / folder).glob("test_*.py")]
    found += [path for path in (ROOT / "tests").glob("test_*.py") if path.name in named]
    names = {str(path.relative_to(ROOT)) for path in found} - set(SLOW)
    return sorted(names) + [name for name in READERS if name.partition("::")[0] not in names]


def chosen(found: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample in random order, alternately one that takes away a hypothesis and another one.

    The order is by a digest of each change, so that a change of the code leaves the rest of the sample as it is."""
    order = sorted(found, key=lambda mutant: touched.digest(f"{seed} {mutant.key}"))
    guards = [mutant for mutant in order if mutant.operator in GUARDS]
    others = [mutant for mutant in order if mutant.operator not in GUARDS]
    mixed = [each for pair in zip(guards, others, strict=False) for each in pair]
    shared = min(len(guards), len(others))
    return (mixed + guards[shared:] + others[shared:])[:count]


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed, timed out, survived, or outside (to be tried in a fresh process); by which test, of how many."""

    mutant: Mutant
    outcome: str
    by: str = ""
    tried: int = 0


# -- a change in a process that has imported everything ----------------------------------------------


class Warm:
    """A plugin of pytest that records and runs instead of running each test once."""

    def __init__(self, plan: Plan, mutants: Sequence[Mutant], began: Callable[[float], None], keep: Callable[[Result], None]) -> None:
        self.plan, self.mutants, self.began, self.keep = plan, mutants, began, keep
        self.failed = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed |= report.failed

    def _passes(self, item: Any, following: Any) -> bool:
        self.failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self.failed

    def pytest_runtestloop(self, session: Any) -> bool:
        if session.testsfailed:
            raise pytest.UsageError("the tests cannot be collected")
        session.config._tmp_path_factory.getbasetemp()  # made once, before the processes that share it
        gc.collect()
        gc.freeze()
        self._record(session)
        items = {item.nodeid: item for item in session.items}
        placed = _functions()

        def work(task: tuple[Mutant, list[touched.Ran]], out: TextIO) -> None:
            mutant, tests = task
            try:
                _patch(mutant, placed)
            except _Outside:
                print(json.dumps({"outside": True}), file=out, flush=True)
                return
            with own_folder():
                self._run([(items[ran.name], ran.seconds) for ran in tests if ran.name in items], out)

        self.began(time.monotonic())
        deadline = time.monotonic() + self.plan.seconds * WARM
        tasks = ((mutant, self.plan.tests(mutant)) for mutant in self.mutants)
        for (mutant, _), ended in forks.forked(tasks, work, self.plan.jobs, self.plan.patience, deadline):
            self.keep(_judged(mutant, ended))
        return True

    def _record(self, session: Any) -> None:
        by_file: dict[str, list[Any]] = {}
        for item in session.items:
            by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
        texts = {name: "".join((ROOT / path).read_text(encoding="utf-8") for path in (name, READ.get(name)) if path) for name in by_file}
        stale = [name for name in by_file if self.plan.again or not self.plan.record.is_of(name, texts[name])]

        def work(name: str, out: TextIO) -> None:
            with own_folder():
                ran = touched.record_items(by_file[name], self.plan.files, ROOT, self._passes)
            lines = [[each.name, each.seconds, each.passed, {file: hex(bits) for file, bits in each.lines.items()}] for each in ran]
            print(json.dumps(lines), file=out, flush=True)

        for done, (name, ended) in enumerate(
            forks.forked(stale, work, self.plan.jobs, lambda name: RECORDING, time.monotonic() + 10**6), 1
        ):
            if ended.killed_by is not None or not ended.lines:
                print(f"not recorded, for its process ended: {name}", file=sys.stderr)
                continue
            entries = json.loads(ended.lines[-1])
            tests = [touched.Ran(*each, {file: int(bits, 16) for file, bits in lines.items()}) for *each, lines in entries]
            self.plan.record.add(name, texts[name], self.plan.sources, tests)
            self.plan.record.write(RECORD)
            seconds = sum(ran.seconds for ran in tests)
            print(f"recorded {done} of {len(stale)}: {name}, {len(tests)} tests, {seconds:.0f} s", file=sys.stderr, flush=True)

    def _run(self, items: Sequence[tuple[Any, float]], out: TextIO) -> None:
        """Run tests until one fails; the last line written is the one that failed, or the one that never ended."""
        for index, (item, seconds) in enumerate(items):
            print(json.dumps({"test": item.nodeid, "tried": index + 1}), file=out, flush=True)
            forks.limit_cpu(SLACK + 10 * seconds)
            if not self._passes(item, items[index + 1][0] if index + 1 < len(items) else None):
                print(json.dumps({"killed": True, "test": item.nodeid, "tried": index + 1}), file=out, flush=True)
                return
        print(json.dumps({"survived": True, "tried": len(items)}), file=out, flush=True)


class _Outside(Exception):
    """The change is not inside a function, or the function cannot take it."""


def _functions() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function of the package by its file, name and line."""
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    folder = str(ROOT / "dpverify")
    gc.unfreeze()
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(folder):
            code = thing.__code__
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
    gc.freeze()
    return found


def _patch(mutant: Mutant, placed: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    """Give the functions of a file their changed code."""
    if mutant.function == "<module>":
        raise _Outside
    path = ROOT / mutant.file
    code = compile(operators.mutated(path, mutant), str(path), "exec", dont_inherit=True)
    done = False
    for inner in _codes(code):
        if inner.co_qualname.partition(".<locals>")[0] != mutant.function:
            continue
        for function in placed.get((inner.co_filename, inner.co_qualname, inner.co_firstlineno), ()):
            try:
                function.__code__ = inner
            except ValueError as error:  # other variables of the function around it
                raise _Outside from error
            done = True
    if not done:
        raise _Outside


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


@contextmanager
def own_folder() -> Iterator[None]:
    """A cache of its own for each process, so that no mutant sees what another has left."""
    path = SCRATCH / str(os.getpid())
    path.mkdir(parents=True)
    os.environ["DPVERIFY_CACHE_DIR"] = str(path)
    try:
        yield
    finally:
        shutil.rmtree(path, ignore_errors=True)


# -- a change before anything is imported ---------------------------------------------------------------


class Cold:
    """A plugin of pytest that runs the named tests in their order, until one fails where only the first failure matters."""

    def __init__(self, tests: Sequence[touched.Ran], out: TextIO, first: bool = True) -> None:
        self.order = {ran.name: ran for ran in tests}
        self.out = out
        self.first = first
        self.tried = 0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        ranks = {name: rank for rank, name in enumerate(self.order)}
        items[:] = sorted((item for item in items if item.nodeid in ranks), key=lambda item: ranks[item.nodeid])

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._killed(f"the collection of {report.nodeid or 'the tests'}")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tried += 1
        print(json.dumps({"test": nodeid, "tried": self.tried}), file=self.out, flush=True)
        forks.limit_cpu(SLACK + 10 * self.order[nodeid].seconds)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._killed(report.nodeid)

    def _killed(self, by: str) -> None:
        print(json.dumps({"killed": True, "test": by, "tried": self.tried}), file=self.out, flush=True)
        if self.first:
            os._exit(0)


class _Served(importlib.abc.MetaPathFinder):
    """Imports one module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self.path = ROOT / mutant.file
        self.name = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.tree = operators.mutated(self.path, mutant)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        served = self

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return compile(served.tree, str(served.path), "exec", dont_inherit=True)

        return importlib.util.spec_from_file_location(fullname, self.path, loader=Loader(fullname, str(self.path)))


def _cold(task: tuple[Mutant | None, list[touched.Ran]], out: TextIO) -> None:
    """Run the tests of a mutant until one fails; those of no mutant all, as they are."""
    mutant, tests = task
    forks.limit_cpu(120)
    if mutant is not None:
        sys.meta_path.insert(0, _Served(mutant))
    plugin = Cold(tests, out, mutant is not None)
    files = list(dict.fromkeys(ran.name.partition("::")[0] for ran in tests))
    with own_folder():
        code = pytest.main([*ARGUMENTS, f"--basetemp={SCRATCH / f'tmp{os.getpid()}'}", *files], plugins=[plugin, NoShrinking()])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            print(json.dumps({"killed": True, "test": "the run of pytest", "tried": plugin.tried}), file=out, flush=True)
        else:
            print(json.dumps({"survived": True, "tried": plugin.tried}), file=out, flush=True)


ARGUMENTS = ("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "--capture=sys", f"--rootdir={ROOT}")


class NoShrinking:
    """A plugin of pytest: an example that fails is enough, the least one is not wanted."""

    @staticmethod
    def pytest_sessionstart() -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", parent=settings(), phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False)
        settings.load_profile("mutants")


# -- the run ---------------------------------------------------------------------------------------------


@dataclass
class Plan:
    """What a run needs. seconds: for all mutants; each: of tests for one mutant, as they took when recorded."""

    files: list[str]
    sources: dict[str, str]
    record: touched.Record
    test_files: list[str]
    jobs: int
    each: float
    seconds: float
    again: bool

    @cached_property
    def lookup(self) -> touched.Touched:
        """The tests of each line, once they are recorded."""
        return touched.Touched(self.record, self.sources, [name.partition("::")[0] for name in self.test_files], READERS)

    def tests(self, mutant: Mutant) -> list[touched.Ran]:
        """As many of the tests that run a mutant as its time allows."""
        left, taken = self.each, []
        for ran in sorted(self.lookup.of(mutant), key=lambda ran: ran.seconds > SHARE * self.each):
            if not taken or ran.seconds <= left:
                taken.append(ran)
                left -= ran.seconds
        return taken

    @staticmethod
    def patience(task: tuple[Mutant, list[touched.Ran]]) -> float:
        """Seconds by the clock after which a process is ended: it waits for something."""
        return 300 + 20 * sum(ran.seconds for ran in task[1])


def _judged(mutant: Mutant, ended: forks.Ended) -> Result:
    last = json.loads(ended.lines[-1]) if ended.lines else {}
    by, tried = last.get("test", "the import"), last.get("tried", 0)
    if last.get("outside"):
        return Result(mutant, "outside")
    if last.get("survived"):
        return Result(mutant, "survived", "", tried)
    late = ended.late or ended.killed_by == signal.SIGPROF
    return Result(mutant, "timed out" if late else "killed", by, tried)


def run(plan: Plan, mutants: Sequence[Mutant]) -> list[Result]:
    """The results that the time allows."""
    found: dict[Any, Result] = {}
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    results = BUILD / "results.jsonl"
    results.write_text("")

    def began(at: float) -> None:
        with results.open("a") as out:
            print(json.dumps(at), file=out)

    def keep(result: Result) -> None:
        found[result.mutant.key] = result
        mutant = result.mutant
        line = {"key": mutant.key, "operator": mutant.operator, "outcome": result.outcome, "by": result.by, "tried": result.tried}
        with results.open("a") as out:
            print(json.dumps(line), file=out)
        if result.outcome != "outside":
            print(f"{result.outcome:9} {mutant.title} [{result.by or f'{result.tried} tests'}]", flush=True)

    # a process of its own collects all tests: this one must not have imported what is changed
    pid = os.fork()
    if not pid:
        code = 3
        try:
            arguments = [*ARGUMENTS, f"--basetemp={SCRATCH / 'tmp'}", *plan.test_files]
            code = int(pytest.main(arguments, plugins=[Warm(plan, mutants, began, keep), NoShrinking()]))
        finally:
            sys.stdout.flush()
            os._exit(code)
    status = 1
    try:
        status = os.waitpid(pid, 0)[1]
    except BaseException:
        os.kill(pid, signal.SIGTERM)  # it ends what it has begun
        os.waitpid(pid, 0)
        raise
    if status:
        print("the tests cannot be collected: see what `python -m pytest --collect-only` says", file=sys.stderr)
        raise SystemExit(2)
    keys = {mutant.key: mutant for mutant in mutants}
    start, *entries = (json.loads(line) for line in results.read_text().splitlines())
    for entry in entries:
        mutant = keys[tuple(entry["key"])]
        found[mutant.key] = Result(mutant, entry["outcome"], entry["by"], entry["tried"])
    plan.record = touched.Record.read(RECORD)
    fresh = [mutant for mutant in mutants if mutant.key in found and found[mutant.key].outcome in ("outside", "survived")]
    tasks = [(mutant, plan.tests(mutant)) for mutant in fresh]
    for mutant, tests in tasks:
        if not tests:
            keep(Result(mutant, "survived"))
    for (mutant, _), ended in forks.forked([task for task in tasks if task[1]], _cold, plan.jobs, plan.patience, start + plan.seconds):
        keep(_judged(mutant, ended))
    red = _red(plan, found.values())
    shutil.rmtree(SCRATCH, ignore_errors=True)
    tried = [found[mutant.key] for mutant in mutants if mutant.key in found]
    return [result for result in tried if result.outcome != "outside" and result.by not in red]


def _red(plan: Plan, results: Iterable[Result]) -> set[str]:
    """The tests that have killed mutants and fail without any change: what they say counts for nothing."""
    named = {result.by for result in results}
    killers = sorted((ran for ran in plan.lookup.tests if ran.name in named), key=lambda ran: ran.name)
    parts = [(None, killers[at :: plan.jobs]) for at in range(plan.jobs) if killers[at :: plan.jobs]]
    red: set[str] = set()
    for _, ended in forks.forked(parts, _cold, plan.jobs, plan.patience, float("inf")):
        lines = [json.loads(line) for line in ended.lines]
        red |= {line["test"] for line in lines if line.get("killed")} & named
        if ended.killed_by is not None:
            red |= {line["test"] for line in lines[-1:]}
    for name in sorted(red):
        print(f"fails without any change, so that what it killed is left out: {name}")
    return red


# -- what is said of it -------------------------------------------------------------------------------------


def argued() -> dict[tuple[Any, ...], str]:
    """Why survivors that have been looked at change nothing that is proved, by their keys."""
    entries = tomllib.loads(ARGUED.read_text(encoding="utf-8")).get("survivor", []) if ARGUED.exists() else []
    return {tuple(entry.get(key, 1) for key in ("file", "function", "text", "change", "number")): entry["why"] for entry in entries}


def report(results: Sequence[Result], known: dict[tuple[Any, ...], str], options: argparse.Namespace) -> str:
    """The report in Markdown."""
    lines = [
        "# Mutants",
        "",
        "Small wrong changes of the files below the trust line, each against the tests that run its lines (`make mutants`;",
        "why it is done in this way: [docs/decisions/008-mutants.md](../docs/decisions/008-mutants.md)). Half of them take away",
        "hypotheses: guards, operands of `and` and `or`, assumptions. A survivor is a change that none of these tests notices.",
        "",
        summary(results, known) + f" Seed {options.seed}, at most {options.each:g} s of tests for each.",
        "",
        *table("file", results, lambda result: f"`{result.mutant.file}`"),
        "",
        *table("operator", results, lambda result: result.mutant.operator),
    ]
    survivors = [result for result in results if result.outcome == "survived"]
    survivors.sort(key=lambda result: (result.mutant.file, result.mutant.line))
    if survivors:
        lines += ["", "## Survivors", ""]
    for result in survivors:
        mutant = result.mutant
        why = known.get(mutant.key, "**Not argued yet.**")
        lines.append(f"- `{mutant.file}:{mutant.line}`, `{mutant.function}`: {mutant.change} ({result.tried} tests). {why}")
    return "\n".join(lines) + "\n"


def summary(results: Sequence[Result], known: dict[tuple[Any, ...], str]) -> str:
    """One sentence: how many, and what became of them."""
    count = Counter(result.outcome for result in results)
    open_ones = sum(result.outcome == "survived" and result.mutant.key not in known for result in results)
    rate = 100 * count["survived"] / max(1, len(results))
    return (
        f"{len(results)} mutants: {count['killed']} killed, {count['timed out']} timed out, {count['survived']} survived ({rate:.1f} %), "
        f"{open_ones} of those not argued."
    )


def table(title: str, results: Sequence[Result], of: Callable[[Result], str]) -> list[str]:
    """Rows of counts for each value of `of`."""
    groups: dict[str, Counter[str]] = {}
    for result in results:
        groups.setdefault(of(result), Counter())[result.outcome] += 1
    rows = [f"| {title} | mutants | killed | timed out | survived |", "|---|---:|---:|---:|---:|"]
    for name, count in [*sorted(groups.items()), ("all", Counter(result.outcome for result in results))]:
        rows.append(f"| {name} | {count.total()} | {count['killed']} | {count['timed out']} | {count['survived']} |")
    return rows


def toml(result: Result) -> str:
    """An entry for tests/mutants/survivors.toml that wants its reason."""
    file, function, text, change, number = result.mutant.key
    pairs = [("file", file), ("function", function), ("text", text), ("change", change)]
    lines = ["[[survivor]]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in pairs)]
    return "\n".join([*lines, *([f"number = {number}"] if number > 1 else []), 'why = ""', ""])


def main(argv: Sequence[str] | None = None) -> int:
    """Try a sample, write the report."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Small wrong changes below the trust line, against the tests.")
    parser.add_argument("--mutants", type=int, default=400, help="how many at most (default 400)")
    parser.add_argument("--seconds", type=float, default=3600, help="for all of them, beside the record of tests (default 3600)")
    parser.add_argument("--each", type=float, default=30, help="seconds of tests for one mutant (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: one a core)")
    parser.add_argument("--file", action="append", default=[], help="only this file; may be given again")
    parser.add_argument("--operator", action="append", default=[], help="only this operator; may be given again")
    parser.add_argument("--match", action="append", default=[], help="only changes whose line or change holds this; may be given again")
    parser.add_argument("--record", action="store_true", help="record again which tests run which lines")
    parser.add_argument("--everything", action="store_true", help="record it of all tests, for `make quick`, and try no mutant")
    parser.add_argument("--list", action="store_true", help="print the sample, run nothing")
    parser.add_argument("-o", "--output", type=Path, default=REPORT, help="where the report goes (default reports/mutants.md)")
    options = parser.parse_args(argv)
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = below()
    unknown = [file for file in options.file if file not in files]
    if unknown:
        parser.error(f"not below the trust line: {', '.join(unknown)}")
    every = [mutant for file in files for mutant in operators.mutants(ROOT / file, file)]
    known = argued()
    gone = known.keys() - {mutant.key for mutant in every}
    wanted = [
        mutant
        for mutant in every
        if (not options.file or mutant.file in options.file)
        and (mutant.operator in options.operator if options.operator else mutant.operator != "field")  # those are tools/mutants/fields.py
        and (not options.match or any(match in mutant.text or match in mutant.change for match in options.match))
    ]
    sample = chosen(wanted, options.mutants, options.seed)
    for mutant in sample if options.list else ():
        print(f"{mutant.operator:14} {mutant.title}")
    if options.list or not sample:
        print(f"{len(sample)} of {len(wanted)} mutants")
        return 0 if sample else 2
    preload()
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in code()}
    tests = every_test() if options.everything else tests_of(files)
    plan = Plan([*sources], sources, touched.Record.read(RECORD), tests, options.jobs, options.each, options.seconds, options.record)
    if options.everything:
        run(plan, [])
        return 0
    results = run(plan, sample)
    options.output.write_text(report(results, known, options), encoding="utf-8")
    survivors = [result for result in results if result.outcome == "survived"]
    for result in survivors:
        if result.mutant.key not in known:
            print(toml(result))
    for key in sorted(gone):
        print(f"argued in {ARGUED.name}, but no longer a change of the code: {key[0]}, {key[1]}: {key[3]}")
    if len(results) < len(sample):
        print(f"{len(sample) - len(results)} of {len(sample)} were not reached in {options.seconds:g} s")
    print(summary(results, known))
    return 0 if len(survivors) < BOUND * len(results) and all(result.mutant.key in known for result in survivors) else 1


def preload() -> None:
    """Import what every process needs, and nothing of the package that is changed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.path.insert(0, str(ROOT))
    for name in ("flint", "hypothesis", "numpy", "scipy.integrate", "scipy.optimize", "scipy.special", "scipy.stats", "sympy", "z3"):
        importlib.import_module(name)
    if any(name.partition(".")[0] == "dpverify" for name in sys.modules):
        raise RuntimeError("something has imported dpverify already")


if __name__ == "__main__":
    sys.exit(main())

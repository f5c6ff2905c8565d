"""Rules that forget a field: each read of a field of a part or a combinator below the trust line, replaced by the value that says nothing.

    python tools/mutants/fields.py [--seconds 10] [--file dpverify/trusted/theories/divergences/rules/added_measures.py] [--field times]
        [--slice 0/1] [--tests tests/curves/test_runs.py] [--only law] [--list]

Each change is tried against the claims of the law that every field counts (tests/laws/test_every_field.py): those of its sample that
run the line, until one does not obey the law. What the law does not catch is tried against the laws of what a rule may forget, and the
rules' own tests, those that name the file or its rule: of them the tests that run the line, as `make mutants` does. With --tests only
those of some files are recorded and tried. Survivors that are argued are in tests/mutants/survivors.toml, like all others.
Which claims and tests run which lines, and what became of each change, is kept in build/mutants.

Exit code 0: every change is caught or argued. 1: one survives.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import coverage
import forks
import operators
import pytest
import touched
from operators import Mutant

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
_SPEC = importlib.util.spec_from_file_location("run_of_mutants", Path(__file__).with_name("__main__.py"))
assert _SPEC is not None and _SPEC.loader is not None
run_of_mutants = sys.modules[_SPEC.name] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run_of_mutants)

KEPT = run_of_mutants.BUILD / "fields.jsonl"
"""What became of each change, a line each time: several runs may write to it at a time. What was caught once is caught."""
CAUGHT = ("law", "tests")
UNSURE = "unsure"
"""A change that was caught by a test that fails by itself."""
CLAIMS = run_of_mutants.BUILD / "claims.json"
ALWAYS = ("tests/mutants/test_recorded.py",)
"""Tests of every rule: what the kernel proves of the committed certificates."""
LAWS = ("tests/laws/test_forgotten_fields.py", "tests/laws/test_asked_in_two_ways.py")
"""Truths that are about what a rule may forget."""


def field(mutant: Mutant) -> str:
    """Which field a change forgets."""
    return mutant.change.split("`")[1].rpartition(".")[2]


def in_a_process(work: Callable[[], Iterator[object]], seconds: float) -> Iterator[Any]:
    """What a piece of work gives one by one in a process of its own, with so many seconds of CPU."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        with os.fdopen(writer, "w") as out:
            for each in work():
                print(json.dumps(each), file=out, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        for line in told:
            yield json.loads(line)
    os.waitpid(child, 0)


def import_all() -> None:
    """Import all that may be changed, also what is imported where it is needed."""
    import dpverify.trusted

    for module in pkgutil.walk_packages(dpverify.trusted.__path__, "dpverify.trusted."):
        if module.name != "dpverify.trusted.kernel.judgement":
            importlib.import_module(module.name)


# -- the law -------------------------------------------------------------------------------------------


def sample() -> list[str]:
    """The claims of the law's sample."""
    from tests import generated
    from tests.laws import test_every_field as law

    found = [*generated.SPECIAL, *generated.COUNTED, *law.rotated()]
    for depth in (1, 2):
        found += generated.drawn(generated.combined(depth, law.CHEAP), law.SAMPLE // depth**2)
    return found


def recorded(names: Iterable[str], files: list[str]) -> Iterator[tuple[str, float, dict[str, list[int]]]]:
    """Of each claim its seconds, and the lines that it runs."""
    from tests.laws import test_every_field as law

    def work() -> Iterator[object]:
        warnings.simplefilter("ignore")  # of claims that run none of the files
        for name in names:
            watch = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / file) for file in files], messages=False)
            began = time.process_time()
            watch.start()
            law.wrong([name])
            watch.stop()
            lines = {file: sorted(watch.get_data().lines(str(ROOT / file)) or ()) for file in files}
            yield name, time.process_time() - began, {file: found for file, found in lines.items() if found}

    yield from (tuple(each) for each in in_a_process(work, 1800))


def tried(mutant: Mutant, placed: Any, names: list[str], seconds: float) -> tuple[str, str]:
    """What the law says of a change: caught, and by which claim; survived, after how many. placed: the functions, by their places."""
    from tests.laws import test_every_field as law

    def work() -> Iterator[object]:
        try:
            run_of_mutants._patch(mutant, placed)
        except run_of_mutants._Outside:
            yield "outside", ""
            return
        for number, name in enumerate(names, 1):
            try:
                _, found = law.wrong([name])
            except Exception as error:
                found = [f"{name}: {type(error).__name__}"]
            if found:
                yield "law", found[0][:160]
                return
            yield "survived", f"{number} of {len(names)} claims"

    last = ("survived", f"0 of {len(names)} claims")
    for each in in_a_process(work, seconds):
        last = tuple(each)
    return last


def by_the_law(mutants: Sequence[Mutant], seconds: float) -> Iterator[tuple[int, str, str]]:
    """What the law says of each change, by its number. To be run in a process of its own: it imports what is changed."""
    files = [file for file in run_of_mutants.below() if re.match("dpverify/trusted/(theories|combinators|facts)/", file)]
    from tests import generated

    import_all()
    code = "".join((ROOT / file).read_text(encoding="utf-8") for file in run_of_mutants.below())
    known = json.loads(CLAIMS.read_text(encoding="utf-8")) if CLAIMS.exists() else {}
    digests = {name: touched.digest(f"{code} {generated.named(name)!r}") for name in sample()}
    stale = [name for name in digests if known.get(name, [""])[0] != digests[name]]
    for done, (name, took, lines) in enumerate(recorded(stale, files), 1):
        known[name] = digests[name], took, lines
        CLAIMS.write_text(json.dumps(known), encoding="utf-8")
        print(f"recorded {done} of {len(stale)} claims: {name}, {took:.1f} s", file=sys.stderr, flush=True)
    record = sorted((known[name][1], name, known[name][2]) for name in digests if name in known)
    placed = run_of_mutants._functions()
    for number, mutant in enumerate(mutants):
        names = [name for _, name, lines in record if set(lines.get(mutant.file, ())) & set(mutant.lines)]
        yield number, *(tried(mutant, placed, names, seconds) if names else ("not reached", ""))


# -- the rules' own tests ------------------------------------------------------------------------------


def tests_about(files: Iterable[str]) -> list[str]:
    """The test files that name a file below the trust line or its rule."""
    found = {*ALWAYS, *LAWS}
    every = [name for name in run_of_mutants.tests_of(run_of_mutants.below()) if "::" not in name]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in every}
    for file in files:
        stem, folder = Path(file).stem, Path(file).parent.name
        rule = re.search(r'^NAME: Final = "(.*-.*)"', (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        named = rf"\b{folder}\.{stem}\b|\b{folder} import [^\n]*\b{stem}\b" + (rf'|"{rule[1]}"' if rule else "")
        found |= {name for name, text in texts.items() if name.endswith(f"/{touched.test_of(file)}") or re.search(named, text)}
    return sorted(found)


class Named(run_of_mutants.Warm):
    """Tries each change on the tests that run its line, as many as its time allows, those of its own file first.

    Which tests run which lines is recorded once, as for `make mutants`. A test that fails without any change says nothing.
    """

    def pytest_runtestloop(self, session: Any) -> bool:
        if session.testsfailed:
            raise pytest.UsageError("the tests cannot be collected")
        session.config._tmp_path_factory.getbasetemp()
        self._record(session)
        items = {item.nodeid: item for item in session.items}
        import_all()
        placed = run_of_mutants._functions()

        def work(task: tuple[Mutant | None, list[str]], out: TextIO) -> None:
            mutant, names = task
            try:
                if mutant is not None:
                    run_of_mutants._patch(mutant, placed)
            except run_of_mutants._Outside:
                return
            with run_of_mutants.own_folder():
                chosen = [items[name] for name in names]
                for number, item in enumerate(chosen, 1):
                    forks.limit_cpu(run_of_mutants.SLACK + self.plan.each)
                    failed = not self._passes(item, chosen[number] if number < len(chosen) else None)
                    print(json.dumps([number, item.nodeid if failed else ""]), file=out, flush=True)
                    if mutant is not None and failed:
                        return

        def forked(tasks: list[tuple[Any, list[str]]]) -> Iterator[tuple[Any, list[Any]]]:
            for (mutant, _), ended in forks.forked(tasks, work, self.plan.jobs, lambda task: 600.0, float("inf")):
                yield mutant, [json.loads(line) for line in ended.lines]

        every = [(mutant, [ran.name for ran in self.plan.tests(mutant) if ran.name in items]) for mutant in self.mutants]
        killed: dict[Mutant, str] = {}
        for mutant, lines in forked(every):
            number, by = lines[-1] if lines else (0, "")
            killed |= {mutant: by} if by else {}
            self.keep(run_of_mutants.Result(mutant, "killed" if by else "survived", by, number))
        for _, lines in forked([(None, sorted(set(killed.values())))]):
            good = {killer for (_, failed), killer in zip(lines, sorted(set(killed.values())), strict=False) if not failed}
            for mutant in (mutant for mutant, by in killed.items() if by not in good):
                self.keep(run_of_mutants.Result(mutant, UNSURE))
        return True


def by_the_tests(
    mutants: list[Mutant], chosen: list[str] | None, seconds: float, jobs: int, keep: Callable[[Mutant, str, str], None]
) -> None:
    """What the rules' own tests say of each change, in a process of its own. chosen: these test files in place of them."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    run_of_mutants.preload()
    run_of_mutants.SCRATCH.mkdir(parents=True, exist_ok=True)
    test_files = chosen or tests_about({mutant.file for mutant in mutants})
    files = run_of_mutants.code()
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in files}
    plan = run_of_mutants.Plan(files, sources, touched.Record.read(run_of_mutants.RECORD), test_files, jobs, seconds, 0, False)

    def told(result: Any) -> None:
        outcome = {"killed": "tests"}.get(result.outcome, result.outcome)
        keep(result.mutant, outcome, result.by or f"{result.tried} tests")

    plugins = [Named(plan, mutants, lambda at: None, told), run_of_mutants.NoShrinking()]
    arguments = [*run_of_mutants.ARGUMENTS, f"--basetemp={run_of_mutants.SCRATCH / f'fields{os.getpid()}'}", *test_files]
    code = pytest.main(arguments, plugins=plugins)
    print(f"pytest: {code}" if code else "", end="", flush=True)
    os._exit(0)


# -- the run -------------------------------------------------------------------------------------------


def table(outcomes: Iterable[tuple[Mutant, str]]) -> list[str]:
    """For each field how many reads there are, and what became of them."""
    columns = ("law", "tests", "argued", "survived")
    count: dict[str, Counter[str]] = {}
    for mutant, outcome in outcomes:
        for name in (field(mutant), "all"):
            count.setdefault(name, Counter())[outcome] += 1
    lines = ["| field | reads | caught by the law | by the rules' tests | argued | left |", "|---|---:|---:|---:|---:|---:|"]
    for name in sorted(count, key=lambda name: (name == "all", name)):
        lines.append(f"| {name} | {count[name].total()} | " + " | ".join(str(count[name][each]) for each in columns) + " |")
    return lines


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of CPU for each change: of claims, and of tests")
    parser.add_argument("--file", action="append", help="only these files")
    parser.add_argument("--field", action="append", choices=sorted(operators.FIELDS), help="only the reads of this field")
    parser.add_argument("--slice", default="0/1", help="of the changes, such as 0/2 and 1/2")
    parser.add_argument("--tests", action="append", help="these test files in place of those that name the file or its rule")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time that run tests")
    parser.add_argument("--only", choices=("law", "tests"), help="the law alone, or the tests alone")
    parser.add_argument("--again", action="store_true", help="also what was caught before")
    parser.add_argument("--list", action="store_true", help="list the changes")
    parser.add_argument("--table", action="store_true", help="print what is known of them, run nothing")
    given = parser.parse_args()
    os.chdir(ROOT)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = given.file or [file for file in run_of_mutants.below() if re.match("dpverify/trusted/(theories|combinators|facts)/", file)]
    every = [mutant for file in files for mutant in operators.mutants(ROOT / file, file) if mutant.operator == "field"]
    number, of = map(int, given.slice.split("/"))
    every = [mutant for mutant in every if not given.field or field(mutant) in given.field][number::of]
    if given.list:
        print("\n".join(mutant.title for mutant in every))
        return 0
    argued = run_of_mutants.argued()

    def kept() -> dict[str, list[str]]:
        lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
        found: dict[str, list[str]] = {}
        for name, outcome, by in map(json.loads, lines):
            if outcome in (*CAUGHT, UNSURE) or found.get(name, [""])[0] not in CAUGHT:
                found[name] = [outcome, by]
        return found

    def key(mutant: Mutant) -> str:
        return json.dumps(mutant.key)

    def keep(mutant: Mutant, outcome: str, by: str) -> None:
        with KEPT.open("a", encoding="utf-8") as out:
            print(json.dumps([key(mutant), outcome, by]), file=out)
        print(f"{outcome:12} {mutant.title} [{by}]", flush=True)

    open_ones = [] if given.table else [each for each in every if each.key not in argued]
    open_ones = [each for each in open_ones if given.again or kept().get(key(each), [""])[0] not in CAUGHT]
    by_law = bool(open_ones) and given.only != "tests"
    for at, outcome, by in in_a_process(lambda: by_the_law(open_ones, given.seconds), 10**6) if by_law else ():
        keep(open_ones[at], outcome, by)
    left = [each for each in open_ones if kept().get(key(each), [""])[0] != "law"]
    if left and given.only != "law":
        by_the_tests(left, given.tests, given.seconds, given.jobs, keep)
    outcomes = []
    for mutant in every:
        outcome = kept().get(key(mutant), ["not tried"])[0]
        outcomes.append((mutant, "argued" if mutant.key in argued else outcome if outcome in CAUGHT else "survived"))
    print("\n".join(table(outcomes)))
    return 1 if any(outcome == "survived" for _, outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())

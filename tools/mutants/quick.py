"""The tests that run what has changed, and a sample of certificates: `make quick`.

    python tools/mutants/quick.py [--seconds 45] [--against main] [--list] [arguments of pytest]

What has changed is what the working tree has beyond the branch `main`, or beyond the last commit where this is `main` or there is none.
Which tests run a changed line is what was recorded last (`make record-lines`, or `make mutants` for the tests about what is below the trust
line): a line that is new has the tests of its function. Of files that no record speaks of, the tests are those that bear their name or
import them. Files of tests that have changed run too. No test is begun after the time: the last line says how many were left.

Exit code: that of pytest. 2: git does not say what has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import operators
import touched

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "build" / "mutants" / "touched.pickle"
CERTIFICATES = "tests/mutants/test_recorded.py"
"""The tests of committed certificates, of which a sample always runs."""
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
SHARE = 0.6
"""The part of the time that chosen tests may take as they were recorded; the rest is for starting, and for a machine that is busy."""


def git(*arguments: str) -> str:
    """What git says. Raises CalledProcessError where it fails."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def base(against: str) -> str:
    """Where this branch has left another one, or the last commit."""
    try:
        return git("merge-base", "HEAD", against).strip()
    except subprocess.CalledProcessError:
        return "HEAD"


def changed(since: str) -> dict[str, set[int]]:
    """The files that the working tree has otherwise than a commit, with their lines that are new, or beside what is gone."""
    parts = re.split(r"^diff --git .*\n", git("diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", since), flags=re.MULTILINE)
    found = {name[1]: lines_of(part) for part in parts if (name := re.search(r"^\+\+\+ b/(.*)$", part, re.MULTILINE))}
    for name in git("ls-files", "--others", "--exclude-standard").splitlines():
        found[name] = set(range(1, (ROOT / name).read_bytes().count(b"\n") + 2))
    return found


def lines_of(diff: str) -> set[int]:
    """The new lines of one file's hunks; of a hunk that only takes away, the lines around it."""
    lines: set[int] = set()
    for start, count in HUNK.findall(diff):
        first, many = int(start), int(count or 1)
        lines.update(range(first, first + many) if many else (first, first + 1))
    return lines


def by_record(record: touched.Record, file: str, text: str, lines: Iterable[int]) -> list[list[str]]:
    """Of each function of a file that has changed the tests that run its changed lines, the most telling first."""
    lookup = touched.Touched(record, {file: text}, record.files)
    functions = operators.functions(text)
    places: dict[str, set[int]] = {}
    for line in sorted(lines):
        places.setdefault(next((name for name, held in functions.items() if line in held), ""), set()).add(line)
    return [[ran.name for ran in lookup.running(file, own, name)] for name, own in places.items()]


def by_name(file: str, texts: Mapping[str, str]) -> list[str]:
    """The files of tests that bear the name of a file, then those that import it."""
    *parents, stem = file.removesuffix(".py").removesuffix("/__init__").split("/")
    parent = re.escape(".".join(parents))
    imports = re.compile(rf"^from {parent} import (?:\([^)]*|.*)\b{stem}\b|^(?:from|import) {parent}\.{stem}\b", re.MULTILINE)
    own = [name for name in texts if name.endswith("/" + touched.test_of(file))]
    return own + [name for name, text in texts.items() if name not in own and imports.search(text)]


def in_turn(lists: Iterable[list[str]]) -> Iterator[str]:
    """The first of every list, then the second of each that has one, and so on, nothing twice."""
    waiting, seen = [iter(each) for each in lists], set[str]()
    while waiting:
        for each in list(waiting):
            name = next((name for name in each if name not in seen), None)
            if name is None:
                waiting.remove(each)
            else:
                seen.add(name)
                yield name


def chosen(files: Mapping[str, set[int]], record: touched.Record, seconds: float) -> tuple[list[str], list[str]]:
    """The tests that run what has changed, as many as take so many seconds, and files of tests of which all run."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    whole = [name for name in files if name in texts]
    lists: list[list[str]] = []
    for file, lines in files.items():
        if not file.endswith(".py") or file.startswith("tests/") or not (ROOT / file).is_file():
            continue
        found = by_record(record, file, (ROOT / file).read_text(encoding="utf-8"), lines)
        if any(found):
            lists += found
        else:
            whole += [name for name in by_name(file, texts) if name not in whole]
    took = {ran.name: ran.seconds for _, _, tests in record.files.values() for ran in tests}
    tests, left = [], seconds
    for name in in_turn(lists):
        if name.partition("::")[0] in texts and took[name] <= left:
            tests.append(name)
            left -= took[name]
    return tests, whole


def main(argv: list[str]) -> int:
    """Choose, say what, and run it."""
    parser = argparse.ArgumentParser(prog="make quick", description="The tests that run what has changed, and a sample of certificates.")
    parser.add_argument("--seconds", type=float, default=45, help="by the clock, after which no test is begun (default 45)")
    parser.add_argument("--against", default="main", help="the branch beside which this one is changed (default main)")
    parser.add_argument("--list", action="store_true", help="print what would run, run nothing")
    options, others = parser.parse_known_args(argv)
    began = time.time()
    try:
        files = changed(base(options.against))
    except subprocess.CalledProcessError as error:
        print(f"git does not say what has changed: {error.stderr.strip()}", file=sys.stderr)
        return 2
    record = touched.Record.read(RECORD)
    if not record.files:
        print("nothing is recorded of which tests run which lines (`make record-lines`), so that tests are chosen by their names")
    tests, whole = chosen(files, record, SHARE * options.seconds * (os.cpu_count() or 1))
    what = f"{len(tests)} tests that run what has, {len(whole)} files of tests, and a sample of certificates"
    print(f"{len(files)} files have changed: {what}", flush=True)
    if options.list:
        print("\n".join([*whole, *tests]))
        return 0
    told = {"tests": tests, "whole": whole, "certificates": CERTIFICATES, "until": began + options.seconds}
    paths = [os.fspath(ROOT / "tools" / "mutants"), os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"DPVERIFY_QUICK": json.dumps(told), "PYTHONPATH": os.pathsep.join(paths)}
    collected = list(dict.fromkeys([*whole, CERTIFICATES, *(name.partition("::")[0] for name in tests)]))
    command = [sys.executable, "-m", "pytest", "-p", "quick_plugin", "-q", *others, *collected]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

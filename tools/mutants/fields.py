"""Rules that forget a field: each read of a field of a part or a combinator below the trust line, replaced by the value that says nothing.

    python tools/mutants/fields.py [--seconds 20] [--file dpverify/trusted/rules/measures/parallel_measures.py] [--field times]
        [--slice 0/1] [--list]

Each change is tried against the claims of the law that every field counts (tests/laws/test_every_field.py): those of its sample that
run the line, until one does not obey the law. Prints what survives, and what no claim of the sample runs.

Exit code 0: every change is caught. 1: one survives, or is not reached.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import coverage

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import dpverify.trusted  # noqa: E402
from tests import generated  # noqa: E402
from tests.laws import test_every_field as law  # noqa: E402

NUMBERS = ("times", "factor", "rate", "size", "constant", "sensitivity")
ONE = "__import__('dpverify.trusted.language.expr', fromlist=['ONE']).ONE"
NEUTRAL = {**dict.fromkeys(NUMBERS, ONE), "query": "None", "adjacency": "''", "scheme": "'poisson'", "order": "''", "adjacent": "None"}
"""What each field is where it says nothing."""


@dataclass(frozen=True)
class Read:
    """One place where a field is read. number: which of the attributes of the file."""

    file: str
    line: int
    function: str
    text: str
    number: int


def reads(file: str) -> Iterator[Read]:
    """Every read of such a field in a file, inside of functions."""
    source = (ROOT / file).read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = ast.parse(source)
    inside = {id(node) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
    for number, node in enumerate(_attributes(tree)):
        if node.attr in NEUTRAL and id(node) in inside:
            yield Read(file, node.lineno, ast.unparse(node), lines[node.lineno - 1].strip(), number)


def _attributes(tree: ast.AST) -> list[ast.Attribute]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]


def changed(read: Read) -> CodeType:
    """The code of the file without that read."""
    path = ROOT / read.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    target = _attributes(tree)[read.number]

    class Put(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            if node is target:
                neutral = NEUTRAL[node.attr]
                if node.attr == "times":  # of a run it is an int, of a part that is repeated an expression
                    neutral = f"(1 if isinstance({ast.unparse(node)}, int) else {neutral})"
                return ast.copy_location(ast.parse(neutral, mode="eval").body, node)
            return self.generic_visit(node)

    return compile(ast.fix_missing_locations(Put().visit(tree)), str(path), "exec", dont_inherit=True)


def patch(read: Read) -> bool:
    """Give the functions of a file their changed code. Returns whether one took it."""
    path, done = str(ROOT / read.file), False
    placed: dict[tuple[str, int], list[FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename == path:
            placed.setdefault((thing.__code__.co_qualname, thing.__code__.co_firstlineno), []).append(thing)

    def visit(code: CodeType) -> None:
        nonlocal done
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                for function in placed.get((inner.co_qualname, inner.co_firstlineno), ()):
                    if inner.co_freevars == function.__code__.co_freevars and inner != function.__code__:
                        function.__code__ = inner
                        done = True
                visit(inner)

    visit(changed(read))
    return done


def in_a_process(work, seconds: float) -> list[object]:
    """What a piece of work gives line by line in a process of its own, with so many seconds of CPU."""
    reader, writer = os.pipe()
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
        lines = [json.loads(line) for line in told]
    os.waitpid(child, 0)
    return lines


def sample() -> list[str]:
    """The claims of the law's sample."""
    found = [*generated.SPECIAL, *generated.COUNTED, *law.rotated()]
    for depth in (1, 2):
        found += generated.drawn(generated.combined(depth, law.CHEAP), law.SAMPLE // depth**2)
    return found


def recorded(files: list[str]) -> dict[str, tuple[float, set[tuple[str, int]]]]:
    """Of each claim of the sample its seconds, and the lines that it runs."""

    def work() -> Iterator[object]:
        warnings.simplefilter("ignore")  # of claims that run none of the files
        for name in sample():
            watch = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / file) for file in files], messages=False)
            began = time.process_time()
            watch.start()
            law.wrong([name])
            watch.stop()
            data = watch.get_data()
            lines = [(file, line) for file in files for line in data.lines(str(ROOT / file)) or ()]
            yield name, time.process_time() - began, lines

    return {name: (seconds, {(file, line) for file, line in lines}) for name, seconds, lines in in_a_process(work, 900)}


def tried(read: Read, names: list[str], seconds: float) -> str:
    """What became of a change: caught, by which claim; survived, after how many; outside of functions that can be changed."""

    def work() -> Iterator[object]:
        if not patch(read):
            yield "outside"
            return
        for number, name in enumerate(names, 1):
            try:
                _, found = law.wrong([name])
            except Exception as error:
                found = [f"{name}: {type(error).__name__}"]
            if found:
                yield f"caught by {found[0][:160]}"
                return
            yield f"survived {number} of {len(names)}"

    ended = in_a_process(work, seconds)
    return str(ended[-1]) if ended else f"survived 0 of {len(names)}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of CPU for each change")
    parser.add_argument("--file", action="append", help="only these files")
    parser.add_argument("--field", choices=sorted(NEUTRAL), help="only the reads of this field")
    parser.add_argument("--slice", default="0/1", help="of the changes, such as 0/2 and 1/2")
    parser.add_argument("--list", action="store_true", help="list the changes")
    given = parser.parse_args()
    folders = [ROOT / "dpverify" / "trusted" / name for name in ("rules", "parts", "facts")]
    files = given.file or sorted(str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*.py"))
    number, of = map(int, given.slice.split("/"))
    found = [read for file in files for read in reads(file)]
    every = [read for read in found if given.field in (None, read.function.rpartition(".")[2])][number::of]
    if given.list:
        print("\n".join(f"{read.file}:{read.line}: {read.function}" for read in every))
        return 0
    for module in pkgutil.walk_packages(dpverify.trusted.__path__, "dpverify.trusted."):
        if module.name != "dpverify.trusted.kernel":
            importlib.import_module(module.name)
    record = recorded(sorted({read.file for read in every}))
    wrong = 0
    for read in every:
        ran = sorted((seconds, name) for name, (seconds, lines) in record.items() if (read.file, read.line) in lines)
        outcome = tried(read, [name for _, name in ran], given.seconds) if ran else "not reached"
        wrong += not outcome.startswith("caught")
        print(f"{outcome} | {read.file}:{read.line} `{read.function}` in `{read.text}`", flush=True)
    print(f"{len(every) - wrong} of {len(every)} caught")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

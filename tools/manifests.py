"""The manifest of each theory: its theorems, the lines and the files in Coq of each, its library, and what else it loads.

    python tools/manifests.py

writes dpverify/trusted/theories/*/MANIFEST; tests/test_manifests.py fails where one says anything else than the code gives.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import graph  # noqa: E402

from dpverify.project.formal.ledger import ledger, standing  # noqa: E402
from dpverify.report.trust import lines_of_code  # noqa: E402

TRUSTED = ROOT / "dpverify" / "trusted"
THEORIES = TRUSTED / "theories"


def manifests() -> dict[Path, str]:
    """The text of each manifest."""
    folders = sorted(init.parent for init in THEORIES.glob("*/__init__.py"))
    return {folder / "MANIFEST": "\n".join(_lines(folder)) + "\n" for folder in folders}


def _lines(folder: Path) -> Iterator[str]:
    rules = sorted(path for path in (folder / "rules").glob("*.py") if path.name != "__init__.py")
    library = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    everything = [*folder.rglob("*.py")]
    yield ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    yield ""
    names = [path.stem.replace("_", "-") for path in rules]
    checked = sum(standing(name) == "machine-checked" for name in names)
    yield f"{len(rules)} theorems, of which {checked} machine-checked; {len(everything)} files, {_total(everything):,} lines of code"
    yield f"loads: {', '.join(_loaded(folder, inside=False)) or 'nothing else'}"
    yield f"loads where a claim needs it: {', '.join(_loaded(folder, inside=True)) or 'nothing else'}"
    yield ""
    yield f"Theorems ({_total(rules):,} lines)"
    for name, path in zip(names, rules, strict=True):
        files = sorted({entry.file for entry in ledger().get(name, ())})
        yield f"  {name}: {lines_of_code(path)} lines, {standing(name)}{' in ' * bool(files)}{', '.join(files)}"
    yield ""
    yield f"Library ({_total(library):,} lines)"
    yield from (f"  {path.stem}: {lines_of_code(path)} lines" for path in library)


def _total(files: Iterable[Path]) -> int:
    return sum(map(lines_of_code, files))


def _loaded(folder: Path, *, inside: bool) -> list[str]:
    """The other folders below the line of which something is imported: in functions, where that is asked for, and nowhere else."""
    drawn, own = graph.read(ROOT), _module(folder)
    top, needed = set[str](), set[str]()
    for path in folder.rglob("*.py"):
        module = _module(path.parent if path.name == "__init__.py" else path.with_suffix(""))
        top |= {_folder(other) for other in drawn.imports[module] if not _within(other, own)}
        needed |= {_folder(other) for other in drawn.loads[module] if not _within(other, own)}
    return sorted((needed - top if inside else top) - {""})


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _folder(module: str) -> str:
    """The folder of a module below the line: a theory, or a library."""
    place = module.removeprefix("dpverify.trusted.").split(".")
    return place[1] if place[0] == "theories" and len(place) > 1 else place[0]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parts)


def main() -> None:
    """Write them."""
    for path, text in manifests().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""What a verdict rests on: the rules that the lines of its certificate name, and the code that was loaded to follow them.

What was asked for while the lines were followed is counted with all that it imports, without blank lines, comments and docstrings.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from dpverify import trusted
from dpverify.project.formal.ledger import standing, together
from dpverify.trusted.kernel import judgement as kernel

TRUSTED: Final = "dpverify.trusted"
_FOLDER: Final = Path(trusted.__file__).parent
_BESIDE: Final = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)
)


@dataclass(frozen=True, slots=True)
class Trust:
    """rules: the names in the certificate, without repetition; files: below the trust line, that these load; lines: of code in them.

    theorems: the rules whose files are loaded, those that others go through among them.
    """

    rules: tuple[str, ...]
    files: tuple[Path, ...]
    lines: int
    theorems: tuple[str, ...]

    def text(self) -> str:
        """For people."""
        held = f" ({together(self.rules)})" if self.rules else ""
        checked = sum(standing(name) == "machine-checked" for name in self.theorems)
        theorems = f"{len(self.theorems)} theorem{'s' * (len(self.theorems) != 1)}, of which {checked} machine-checked"
        code = f"{len(self.files)} files with {self.lines:,} lines of code below the trust line"
        return f"{', '.join(self.rules) or 'no rule'}{held}; {theorems}; {code}"


def rests_on(rules: Iterable[str], loaded: Iterable[str]) -> Trust:
    """What a verdict rests on whose certificate names these rules, and whose check loaded these modules; the kernel is always there."""
    modules, left = set[str](), [kernel.__name__, *(name for module in loaded for name in _packages(module))]
    while left:
        module = left.pop()
        if module not in modules:
            modules.add(module)
            left += _imported(module)
    files = tuple(sorted(map(_file, modules)))
    theorems = tuple(file.stem.replace("_", "-") for file in files if file.parent.name == "rules" and file.stem != "__init__")
    return Trust(tuple(dict.fromkeys(rules)), files, sum(map(lines_of_code, files)), theorems)


def _file(module: str) -> Path:
    place = _FOLDER.joinpath(*module.removeprefix(TRUSTED).split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def _imported(module: str) -> tuple[str, ...]:
    """The modules below the line that a module imports, with the packages that hold them."""
    return tuple(dict.fromkeys(_imports(ast.parse(_file(module).read_text(encoding="utf-8")))))


def _imports(tree: ast.Module) -> Iterator[str]:
    """What is imported at the top: what is imported in functions is loaded where a claim needs it, and recorded."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop(0)
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(TRUSTED):
            yield from _packages(node.module)
            for alias in node.names:
                if _file(f"{node.module}.{alias.name}").exists():
                    yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.stmt | ast.Module):
            left += (below for below in ast.iter_child_nodes(node) if not _on_need(below))


def _on_need(node: ast.AST) -> bool:
    """Whether what is inside is read by a type checker alone, or when a function is called."""
    types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return types or isinstance(node, ast.FunctionDef)


def _packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    yield from (".".join(parts[:length]) for length in range(2, len(parts) + 1))


@cache
def lines_of_code(file: Path) -> int:
    """The lines of a file that hold code: no blank lines, comments or docstrings."""
    text = file.read_text(encoding="utf-8")
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _BESIDE:
            numbers.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        for statement in getattr(node, "body", ()) if isinstance(getattr(node, "body", None), list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                numbers.difference_update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return len(numbers)

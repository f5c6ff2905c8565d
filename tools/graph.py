"""The import graph by folder: nodes, layers, edges, edges that lead up, circles. Read from the code; nothing is imported.

    python tools/graph.py [ROOT]

A node is a folder of the package, with all below it, a file of the package beside these folders, or a folder of Python beside the package;
tests are none. An edge A -> B is an import of a file of B in a file of A, wherever it stands: at the top, in a function, for the type
checker alone, or by name (`import_module`, `__import__`) where the name, or how it begins, is written there. What is imported by a name
that is not written there, as names given by users are, is counted as unread. What functions of the trusted folder import is loaded where a
claim needs it: the circles that only these imports close are told apart.
"""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PACKAGE = "dpverify"
BESIDE = ("tools", "bench", "mechanisms")
BY_NAME = frozenset({"import_module", "__import__"})
TRUSTED = "dpverify.trusted."


@dataclass(frozen=True)
class Graph:
    """imports: of each module, the modules that it imports; loads: those that functions of the trusted folder import besides.

    floors: of the package's nodes, from the top down. unread: places of names that are not written.
    """

    imports: Mapping[str, frozenset[str]]
    loads: Mapping[str, frozenset[str]]
    floors: tuple[frozenset[str], ...] = ()
    unread: tuple[str, ...] = ()

    @cached_property
    def nodes(self) -> frozenset[str]:
        return frozenset(map(node_of, self.imports))

    @cached_property
    def edges(self) -> frozenset[tuple[str, str]]:
        between = ((node_of(module), node_of(other)) for module in self.imports for other in self._all(module))
        return frozenset((a, b) for a, b in between if a != b)

    @cached_property
    def up(self) -> list[tuple[str, str]]:
        """The edges that do not lead to a lower floor; what is on no floor stands above all."""
        height = {node: -index for index, floor in enumerate(self.floors) for node in floor}
        return sorted((a, b) for a, b in self.edges if b not in height or (a in height and height[b] >= height[a]))

    @cached_property
    def circles(self) -> list[list[str]]:
        """Files that import each other, and nodes that do, in groups of at least two."""
        by_node = defaultdict(set)
        for a, b in self.edges:
            by_node[a].add(b)
        return [sorted(group) for graph in (self.imports, by_node) for group in knots(graph) if len(group) > 1]

    @cached_property
    def loaded_circles(self) -> list[list[str]]:
        """The circles of files that only imports in functions close: one file asks for another on need, which imports the first."""
        whole = {module: self._all(module) for module in self.imports}
        return [sorted(group) for group in knots(whole) if len(group) > 1 and sorted(group) not in self.circles]

    def _all(self, module: str) -> frozenset[str]:
        return self.imports[module] | self.loads[module]

    @cached_property
    def layers(self) -> int:
        """The nodes on the longest way down; a circle counts as one."""
        ways = {node: {b for a, b in self.edges if a == node} for node in self.nodes}
        of = {node: number for number, group in enumerate(knots(ways)) for node in group}
        below: dict[int, set[int]] = defaultdict(set)
        for a, b in self.edges:
            if of[a] != of[b]:
                below[of[a]].add(of[b])
        height: dict[int, int] = {}
        for number in range(len(set(of.values()))):  # knots come with what they lead to before them
            height[number] = 1 + max((height[other] for other in below[number]), default=0)
        return max(height.values(), default=0)


def node_of(module: str) -> str:
    """The node that a module belongs to: `python -m dpverify` starts the command line, and is its other name."""
    if module == f"{PACKAGE}.__main__":
        return f"{PACKAGE}.cli"
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == PACKAGE else parts[0]


def knots(graph: Mapping[str, set[str] | frozenset[str]]) -> list[list[str]]:
    """The strongly connected components, each after those that it leads to (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


@cache
def read(root: Path) -> Graph:
    """The graph of the repository in a folder."""
    files = {_name(path.relative_to(root)): path for folder in (PACKAGE, *BESIDE) for path in sorted((root / folder).rglob("*.py"))}
    imports, loads, unread = {}, {}, list[str]()
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        found: dict[bool, set[str]] = {True: set(), False: set()}
        below = module.startswith(TRUSTED)
        for name, line, inside in _imported(ast.parse(path.read_text(encoding="utf-8")), package):
            if name is None:
                unread.append(f"{path.relative_to(root).as_posix()}:{line}")
            else:
                found[inside and below] |= _meant(name, files)
        imports[module], loads[module] = frozenset(found[False] - {module}), frozenset(found[True] - {module})
    return Graph(imports, loads, _floors(root / ".importlinter"), tuple(unread))


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, package: str) -> Iterator[tuple[str | None, int, bool]]:
    """Names that a file imports, each with its line and whether that stands in a function.

    A name that ends with a dot is the beginning of one, None one that is not written.
    """
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, inside = left.pop()
        inside = inside or isinstance(node, ast.FunctionDef)
        left += ((below, inside) for below in ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            yield from ((f"{source}.{alias.name}", node.lineno, inside) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if called in BY_NAME:
                yield _written(node.args[0]), node.lineno, inside


def _written(name: ast.expr) -> str | None:
    """The name as far as it is written; None where not even its beginning is."""
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _meant(name: str, files: Mapping[str, Path]) -> set[str]:
    """The modules that a name means: itself, the module that holds it, or all that begin so."""
    if name.endswith("."):
        return {module for module in files if module.startswith(name)}
    holder = name.rpartition(".")[0]
    return {name} if name in files else {holder} if holder in files else set()


def _floors(contract: Path) -> tuple[frozenset[str], ...]:
    """The floors of the import contract, from the top down, the doorway `import dpverify` above them."""
    parser = configparser.ConfigParser(comment_prefixes=(";",))
    parser.read(contract, encoding="utf-8")
    layers = parser["importlinter:contract:floors"]["layers"].strip().splitlines()
    inside = (frozenset(f"{PACKAGE}.{name}" for name in re.findall(r"\w+", layer)) for layer in layers)
    return (frozenset({PACKAGE}), *inside)


def main(root: Path) -> None:
    """Print the numbers, then every edge."""
    graph = read(root)
    print(f"{len(graph.nodes)} nodes, {graph.layers} layers, {len(graph.edges)} edges, {len(graph.up)} up, {len(graph.circles)} circles")
    for a, b in graph.up:
        print(f"up: {a} -> {b}")
    for circle in graph.circles:
        print(f"circle: {' '.join(circle)}")
    for circle in graph.loaded_circles:
        print(f"circle by imports in functions: {' '.join(circle)}")
    for place in graph.unread:
        print(f"unread: {place}")
    for node in sorted(graph.nodes):
        print(f"{node} -> {' '.join(sorted(b for a, b in graph.edges if a == node)) or '(nothing)'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])

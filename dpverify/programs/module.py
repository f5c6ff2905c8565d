"""A module as text: its programs, the helper functions and constants that they may use, and what makes a name uncertain."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from dpverify.programs.faults import Fault, Unreadable, fault, shown

PACKAGE: Final = "dpverify"
DECORATOR: Final = "program"
_CHANGES_NAMES: Final = frozenset({
    "exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__builtins__", "builtins", "__import__", "compile", "gc", "inspect",
})  # fmt: skip
"""Names with which text elsewhere in the module may change what a name means."""
MOST_BYTES: Final = 1 << 20

Def = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Program:
    """A function with the decorator: its text, and what the decorator says. place: of each option's value."""

    name: str
    function: Def
    options: Mapping[str, Any]
    places: Mapping[str, ast.expr]
    claims: tuple[ast.expr, ...] = ()


@dataclass
class Module:
    """The text of a module. uncertain: names that are bound twice, or changed, and where."""

    file: str
    tree: ast.Module
    source: str = ""
    functions: dict[str, Def] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    bound: Counter[str] = field(default_factory=Counter)
    uncertain: dict[str, ast.AST] = field(default_factory=dict)
    anything: ast.AST | None = None
    programs: list[Def] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def means(self, node: ast.expr) -> str:
        """The dotted name of the package that an expression means: "dpverify.program"; empty where it is none for certain."""
        if isinstance(node, ast.Attribute):
            inside = self.means(node.value)
            return inside and f"{inside}.{node.attr}"
        if isinstance(node, ast.Name) and node.id in self.imports and self.bound[node.id] == 1 and node.id not in self.uncertain:
            return self.imports[node.id]
        return ""

    def is_decorator(self, node: ast.expr) -> bool:
        """Whether it is the decorator of programs, called or not."""
        return self.means(node.func if isinstance(node, ast.Call) else node) == f"{PACKAGE}.{DECORATOR}"


def parse(file: str, text: str) -> Module:
    """Raises SyntaxError, with the place, for what is no Python."""
    return _parsed(file, text)


@lru_cache(maxsize=8)
def _parsed(file: str, text: str) -> Module:
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("brackets or blocks are nested too deeply", (file, 1, 1, "")) from error
    except ValueError as error:
        raise SyntaxError(str(error), (file, 1, 1, "")) from error
    if (deep := _too_deep(tree)) is not None:
        raise SyntaxError(f"more than {MOST_DEEP} levels of brackets, blocks or elif inside each other", (file, deep, 1, ""))
    module = Module(file, tree, text)
    try:
        _look(module)
    except RecursionError as error:
        raise SyntaxError("expressions are nested too deeply", (file, 1, 1, "")) from error
    return module


def _too_deep(tree: ast.Module) -> int | None:
    """A line that stands too deep inside others to be followed; None where there is none. Every elif stands inside the one before."""
    level: list[ast.AST] = [tree]
    for _ in range(MOST_DEEP):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
    return getattr(level[0], "lineno", 1) if level else None


def _look(module: Module) -> None:
    """What the module's own level binds, and what may change it from anywhere."""
    for name, node in _bindings(module.tree.body):
        module.bound[name] += 1
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            module.functions[name] = node
    for statement in module.tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                root = alias.name.split(".")[0]
                module.imports[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            if any(alias.name == "*" for alias in statement.names):
                module.anything = module.anything or statement
            module.imports |= {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            module.constants[statement.targets[0].id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
            module.constants[statement.target.id] = statement.value
    module.programs = [node for node in module.functions.values() if any(map(module.is_decorator, node.decorator_list))]
    inside = {id(node) for program in module.programs for node in ast.walk(program)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Global):
            module.uncertain |= dict.fromkeys(node.names, node)
        elif id(node) not in inside:  # what a program does is looked at when it is read
            _changes(module, node)
    top = set(map(id, module.tree.body))
    for inner in ast.walk(module.tree):
        if (
            isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            and id(inner) not in top
            and any(map(module.is_decorator, inner.decorator_list))
        ):
            module.faults.append(
                fault(inner, f"the program {inner.name} stands inside of something else. Define it at the top level of its module.")
            )


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Names that statements of the module's own level bind, inside of blocks too."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name, statement
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
                yield node.id, node
            elif isinstance(node, ast.alias):
                yield node.asname or node.name.split(".")[0], node
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, statement
            elif (isinstance(node, ast.ExceptHandler) and node.name) or (isinstance(node, ast.MatchAs | ast.MatchStar) and node.name):
                yield node.name, node


MOST_DEEP: Final = 150
OPTIONS: Final = ("sensitivity", "neighbours", "adjacency", "bounds", "hull", "answers", "inputs", "record", "rows", "parameters", "claims")
"""What the decorator may say."""


def program_of(module: Module, function: Def) -> Program:
    """A program with what its decorator says. Raises Unreadable for a decorator that is no data."""
    if module.bound[function.name] > 1 or function.name in module.uncertain:
        where = module.uncertain.get(function.name, function)
        raise Unreadable(
            where, f"{function.name} is bound more than once in this module, or changed. Give each function a name of its own."
        )
    others = [node for node in function.decorator_list if not module.is_decorator(node)]
    if others or len(function.decorator_list) > 1:
        node = (others or function.decorator_list)[0]
        raise Unreadable(node, f"@{shown(node)} changes what the function does. A program has the decorator dp.program alone.")
    (decorator,) = function.decorator_list
    options: dict[str, Any] = {}
    places: dict[str, ast.expr] = {}
    claims: tuple[ast.expr, ...] = ()
    if isinstance(decorator, ast.Call):
        if decorator.args:
            raise Unreadable(decorator.args[0], 'dp.program takes its options by name: sensitivity=1, neighbours="all".')
        for given in decorator.keywords:
            if given.arg not in OPTIONS:
                raise Unreadable(given.value, f"dp.program has no option {given.arg or '**'}. It has {', '.join(OPTIONS)}.")
            options[given.arg] = data_of(module, given.value)
            places[given.arg] = given.value
            if given.arg == "claims":
                held = module.constants.get(given.value.id) if isinstance(given.value, ast.Name) else given.value
                claims = tuple(held.elts) if isinstance(held, ast.List | ast.Tuple) else ()
    return Program(function.name, function, options, places, claims)


def data_of(module: Module, node: ast.expr, depth: int = 0) -> Any:
    """What a literal in the text means: lists, tables, texts and exact numbers; a constant of the module by its name.

    A decimal is the number that it is written as. Raises Unreadable for what is no data.
    """
    if depth > 20:
        raise Unreadable(node, "is nested too deeply.")
    if isinstance(node, ast.Constant):
        return written_number(module, node) if isinstance(node.value, float) else node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [data_of(module, each, depth + 1) for each in node.elts]
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            return {key: data_of(module, value, depth + 1) for key, value in zip(keys, node.values, strict=True)}
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "dict"
        and not node.args
        and "dict" not in module.bound
    ):
        return {given.arg: data_of(module, given.value, depth + 1) for given in node.keywords if given.arg}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = data_of(module, node.operand)
        return f"-{value}" if isinstance(value, str) else -value
    arithmetic = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.Add | ast.Sub | ast.Pow)
    if arithmetic and not any(isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.JoinedStr) for part in ast.walk(node)):
        return ast.unparse(node)
    if isinstance(node, ast.Name):
        return data_of(module, constant_of(module, node), depth + 1)
    raise Unreadable(node, f"{shown(node)} is no data that can be read. Write numbers, texts, lists and tables, or the name of a constant.")


def constant_of(module: Module, node: ast.Name) -> ast.expr:
    """What a constant of the module is bound to. Raises Unreadable where that is not certain."""
    name = node.id
    if module.anything is not None:
        line = getattr(module.anything, "lineno", 1)
        raise Unreadable(node, f"{name} may mean anything: line {line} may change names of this module. Write the value here.")
    if name in module.uncertain or module.bound[name] > 1:
        line = getattr(module.uncertain.get(name, node), "lineno", 1)
        raise Unreadable(
            node, f"{name} is bound more than once in this module, or changed (line {line}). Bind it once, or write the value here."
        )
    if name not in module.constants:
        what = "is imported" if name in module.imports else "is no constant of this module"
        raise Unreadable(node, f"{name} {what}, so that its value is not known. Make it a parameter, or write its value in this module.")
    if not _never_changes(module, name, module.constants[name]):
        raise Unreadable(node, f"{name} is a list or a dict that may be changed elsewhere in this module. Write a tuple.")
    return module.constants[name]


def written_number(module: Module, node: ast.Constant) -> str:
    """A decimal as it is written."""
    text = ast.get_source_segment(module.source, node) if module.source else None
    return (text or repr(node.value)).replace("_", "")


def _changes(module: Module, node: ast.AST) -> None:
    """Notes what may change the meaning of a name."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        root: ast.expr = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            module.uncertain.setdefault(root.id, node)
        else:
            module.anything = module.anything or node
    elif isinstance(node, ast.Name) and node.id in _CHANGES_NAMES and not isinstance(node.ctx, ast.Store):
        module.anything = module.anything or node
    elif isinstance(node, ast.Import | ast.ImportFrom):
        named = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        if any(name.split(".")[0] in ("builtins", "gc", "inspect", "ctypes") for name in named):
            module.anything = module.anything or node
    elif isinstance(node, ast.Attribute) and node.attr in ("modules", "__dict__", "__globals__", "_getframe", "__code__"):
        module.anything = module.anything or node


def _never_changes(module: Module, name: str, value: ast.expr) -> bool:
    """Whether a list or a table of the module is only gone through, looked into and counted, so that it stays what it is."""
    if not any(isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp) for node in ast.walk(value)):
        return True
    reads = 0
    for node in ast.walk(module.tree):
        held: list[ast.AST] = []
        if isinstance(node, ast.For | ast.comprehension):
            held = [node.iter]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            held = [node.value]
        elif isinstance(node, ast.Compare):
            held = list(node.comparators)
        elif isinstance(node, ast.keyword) and node.arg in OPTIONS:
            held = [node.value]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("len", "enumerate", "zip", "sorted", "sum", "max", "min")
        ):
            held = list(node.args)
        reads += sum(isinstance(each, ast.Name) and each.id == name for each in held)
    return reads == sum(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in ast.walk(module.tree))

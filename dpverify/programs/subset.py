"""The part of Python that programs are written in: what is outside of it is found in the text, all of it at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from dpverify.programs.faults import Fault, fault, shown

NOISE: Final = "noise"

_WAYS: Final[Mapping[type[ast.AST], tuple[str, str]]] = {
    ast.Try: (
        "try",
        "an exception is an output too, and which one may depend on the data. Write the conditions as if statements.",
    ),
    ast.TryStar: ("try", "an exception is an output too. Write the conditions as if statements."),
    ast.Raise: ("raise", "an exception tells something of the data. Yield or return a word in its place."),
    ast.Assert: ("assert", "an exception tells something of the data, and asserts may be switched off. Use if, and return a word."),
    ast.With: ("with", "what a context manager does is not known. Leave it out of the program."),
    ast.AsyncWith: ("async with", "programs run step by step. Write a plain function."),
    ast.AsyncFor: ("async for", "programs run step by step. Use for."),
    ast.Await: ("await", "programs run step by step. Write a plain function."),
    ast.Global: ("global", "what a program does would depend on what ran before. Give the value as an argument."),
    ast.Nonlocal: ("nonlocal", "nested functions that change names are not read. Keep the number in the function itself."),
    ast.Delete: ("del", "names keep what they are bound to. Leave it out."),
    ast.Import: ("import", "what it brings is not known. Import at the top of the module, and write what is computed in plain arithmetic."),
    ast.ImportFrom: (
        "import",
        "what it brings is not known. Import at the top of the module, and write what is computed in plain arithmetic.",
    ),
    ast.ClassDef: ("class", "objects with methods are not read. Use numbers, tuples and lists."),
    ast.FunctionDef: (
        "a nested function",
        "what it closes over may change. Move it to the top level of the module and pass what it needs.",
    ),
    ast.AsyncFunctionDef: ("async def", "programs run step by step. Write a plain function."),
    ast.NamedExpr: (":=", "a name is bound in the midst of an expression. Assign it on a line before."),
    ast.Starred: ("a starred expression", "how many values it stands for is not known. Write them one by one."),
    ast.Set: ("a set", "sets have no order, and fall together where elements are equal. Use a list or a tuple."),
    ast.SetComp: ("a set", "sets have no order, and fall together where elements are equal. Use a list."),
    ast.JoinedStr: ("an f-string", "numbers would be told as text, rounded in a way of its own. Yield a tuple of words and numbers."),
    ast.Lambda: ("lambda", "only max, min and sorted take one, as their key: key=lambda i: noisy[i]. Define a function of the module."),
    ast.MatMult: ("@", "arrays are not read. Write sums."),
}
"""Constructs that are outside, with why, and what to write instead."""


_RUNS: Final = frozenset(
    {"eval", "exec", "compile", "globals", "locals", "vars", "getattr", "setattr", "delattr", "hasattr", "dir", "open", "input"}
)


def faults(function: ast.FunctionDef | ast.AsyncFunctionDef, *, program: bool) -> Iterator[Fault]:
    """What is outside of the subset in a program, or in a helper function of one."""
    if isinstance(function, ast.AsyncFunctionDef):
        yield fault(function, f"{function.name} is an async function: programs run step by step. Write def.")
    arguments = function.args
    for star, given in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if given is not None:
            yield fault(given, f"{star}{given.arg}: how many arguments there are is not known. Name each of them.")
    names = [given.arg for given in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    for default in (*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)):
        if not isinstance(default, ast.Constant) and not _is_signed(default):
            yield fault(
                default, f"the default {shown(default)} is an object that calls share, or code. Use a number, a text, True, False or None."
            )
    if program and NOISE not in names:
        yield fault(function, f"{function.name} has no argument named noise. Noise is drawn from it: noise.laplace(scale).")
    if program and names[:1] in ([], [NOISE]):
        yield fault(function, f"{function.name} has no data. Its first argument is the list of answers, or of rows.")
    if not program:
        for decorator in function.decorator_list:
            yield fault(
                decorator, f"@{shown(decorator)} changes what {function.name} does. A function that a program calls has no decorator."
            )
    yield from _returned(function)
    for statement in function.body:
        yield from _within(statement)


LAZY: Final = frozenset({"enumerate", "zip", "reversed"})
EATS: Final = frozenset({"sum", "max", "min", "any", "all", "sorted", "list", "tuple", "next"})
"""What goes through all of its argument at once."""


def _is_lazy(node: ast.AST) -> bool:
    """Whether it is evaluated as it is gone through, which can be done once."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LAZY
    return called or isinstance(node, ast.GeneratorExp)


def _eats(parent: ast.AST, child: ast.AST) -> bool:
    """Whether what is lazy is gone through at once where it stands."""
    if isinstance(parent, ast.For | ast.comprehension):
        return child is parent.iter and not isinstance(child, ast.GeneratorExp)
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name) or child not in parent.args:
        return False
    return parent.func.id in EATS or (parent.func.id in LAZY and not isinstance(child, ast.GeneratorExp))


VIEWS: Final = frozenset({"items", "keys", "values"})


def _is_view(node: ast.AST) -> bool:
    """Whether it is what a dict gives to be gone through, which is no list."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS and not node.args


def _views(parent: ast.AST, child: ast.AST) -> bool:
    """Whether what a dict gives is gone through, or counted, where it stands."""
    if isinstance(parent, ast.For | ast.comprehension):
        return child is parent.iter
    named = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and child in parent.args
    return named and parent.func.id in EATS | LAZY | {"len"}  # type: ignore[attr-defined]


def _captures(node: ast.match_case) -> bool:
    return any(getattr(each, "name", None) or getattr(each, "rest", None) for each in ast.walk(node.pattern))


def _returned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fault]:
    """What a generator returns, beside what it yields."""
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)):
        for each in ast.walk(function):
            if isinstance(each, ast.Return) and each.value is not None and ast.unparse(each.value) != "None":
                said = "is seen by whoever goes through what the function yields. Yield it, and write return."
                yield fault(each, f"{shown(each)} {said}")


def _is_signed(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd) and isinstance(node.operand, ast.Constant)


def _within(node: ast.AST, key: bool = False) -> Iterator[Fault]:
    known = _WAYS.get(type(node))
    if known is not None and not (key and isinstance(node, ast.Lambda)):
        yield fault(node, f"{known[0]} cannot be read: {known[1]}")
        if not isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith | ast.AsyncFor):
            return
    if isinstance(node, ast.AnnAssign):
        children: list[ast.AST] = [node.target, *([] if node.value is None else [node.value])]
    else:
        children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        what = "the attribute" if isinstance(node, ast.Attribute) else "the element"
        way = (
            "Keep it under a name of its own."
            if isinstance(node, ast.Attribute)
            else "Keep numbers under names of their own, or append to a list."
        )
        yield fault(node, f"{what} {shown(node)} is written: what else holds the same object would change too. {way}")
    if isinstance(node, ast.Assign) and len(node.targets) > 1 and not isinstance(node.value, ast.Constant | ast.UnaryOp):
        yield fault(
            node, f"{shown(node)} binds several names to one object, which changes under all of them. Write an assignment for each."
        )
    if isinstance(node, ast.Name) and node.id in _RUNS and isinstance(node.ctx, ast.Load):
        yield fault(node, f"{node.id} cannot be read: text that is run, and names that it makes, are not known. Write it out.")
    if isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr != "__getitem__":
        yield fault(node, f"{shown(node)} cannot be read: attributes of objects are not known.")
    if isinstance(node, ast.match_case) and _captures(node):
        said = "binds names, where the rest of it may not match. Match constants and _, and assign."
        yield fault(node.pattern, f"{shown(node.pattern)} {said}")
    for child in children:
        if _is_lazy(child) and not _eats(node, child):
            yield fault(child, f"{shown(child)} can be gone through once, and as it is gone through. Make it a list: [... for ...].")
        if _is_view(child) and not _views(node, child):
            yield fault(child, f"{shown(child)} can be gone through, and nothing else. Make it a list: list({shown(child)}).")
        if isinstance(child, ast.Yield | ast.YieldFrom) and not isinstance(node, ast.Expr):
            yield fault(
                child, f"{shown(child)} is used as a value, which whoever reads the output sends. Write yield on a line of its own."
            )
    if isinstance(node, ast.Name) and node.id.startswith("__"):
        yield fault(node, f"{node.id} is no name of a program.")
    for child in children:
        yield from _within(child, isinstance(node, ast.keyword) and node.arg == "key")

"""From the text of a module to the tables of its programs, with all that cannot be read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs import module as modules
from dpverify.programs import selected, subset, tables
from dpverify.programs.compiled import Compiled, Inexact, all_told, compiled, drawn_at, is_generator, one_after_the_other
from dpverify.programs.faults import Fault, NotOfThisKind, Unreadable, fault, shown
from dpverify.programs.machine import NEXT, Explorer, Machine, Stopped, Way
from dpverify.programs.module import Module, Program
from dpverify.programs.path import ANSWER, Frame, Shared
from dpverify.programs.setting import Setting
from dpverify.programs.values import GIVEN, Answers, Filtered, Items, Noise, Rows, Vector
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import FUNCTIONS, Expr, Sym
from dpverify.trusted.kernel.model import Domain

MOST_ANSWERS: Final = 8
NEIGHBOURS: Final = ("all", "one", "monotone", "increasing", "decreasing", "hull")
ADJACENCIES: Final = ("add-remove", "replace")


class Faulty(Exception):
    """What cannot be read of a module, in the order of its lines."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__()
        self.faults = tuple(sorted(set(faults)))


def module_of(file: str, text: str) -> Module:
    """Raises Faulty for what is no Python."""
    try:
        return modules.parse(file, text)
    except SyntaxError as error:
        raise Faulty([Fault(error.lineno or 1, error.offset or 1, f"no Python: {error.msg}.")]) from error


def programs_of(module: Module) -> list[Program]:
    """The programs of a module, in their order. Raises Faulty for decorators that cannot be read."""
    found: list[Program] = []
    faults = list(module.faults)
    for function in module.programs:
        try:
            found.append(modules.program_of(module, function))
        except Unreadable as error:
            faults.append(error.fault)
    if faults:
        raise Faulty([*faults, *(each for function in module.programs for each in _outside(module, function))])
    return found


def parameters_of(program: Program) -> list[str]:
    """The names of a program's parameters: its arguments but the data and the noise."""
    arguments = program.function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in names[1:] if name != subset.NOISE]


def compile_program(
    module: Module, program: Program, values: Mapping[str, Expr], domains: Mapping[str, Domain], options: Mapping[str, Any],
    plain: bool = False,
) -> Compiled:  # fmt: skip
    """The mechanism that a program is. values, domains: of its parameters. options: what is said in place of the decorator's own.

    plain: whether a stream stays one, where another kind says the same. Raises Faulty listing all that cannot be read.
    """
    said = {**program.options, **options}
    faults = [*_outside(module, program.function), *_options(module, program, said)]
    if faults:
        with_more = isinstance(program.function, ast.FunctionDef) and not [*_options(module, program, said)]
        raise Faulty([*faults, *(_more(module, program, values, domains, said, faults) if with_more else ())])
    assert isinstance(program.function, ast.FunctionDef)
    try:
        if "inputs" in said:
            return _listed(module, program, values, domains, said)
        return _read(module, program, values, domains, said, plain, alone=False)
    except RecursionError as error:
        what = f"{program.name} is nested too deeply: fewer branches inside each other, elif among them, can be read."
        raise Faulty([fault(program.function, what)]) from error
    except Faulty as error:
        if {"answers", "adjacency", "inputs"} & said.keys():
            raise
        try:  # the data are one number
            return _read(module, program, values, domains, {**said, "answers": 1}, plain, alone=True)
        except Faulty:
            if not all("the list of answers stands where" in one.what for one in error.faults):
                raise error from None
            raise  # which tells what is wrong with a program on one number


def _more(
    module: Module, program: Program, values: Mapping[str, Expr], domains: Mapping[str, Domain], said: Mapping[str, Any],
    known: Sequence[Fault],
) -> list[Fault]:  # fmt: skip
    """What else cannot be read, where something is outside of the subset: on other lines, as those may follow from it."""
    try:
        if "inputs" in said:
            _listed(module, program, values, domains, said)
        else:
            _read(module, program, values, domains, said, False, alone=False)
    except Faulty as error:
        lines = {one.line for one in known} | {program.function.lineno}
        return [one for one in error.faults if one.line not in lines]
    except (RecursionError, AssertionError, AttributeError, TypeError, ValueError, LookupError):
        pass  # what is outside has no meaning here
    return []


def _read(
    module: Module, program: Program, values: Mapping[str, Expr], domains: Mapping[str, Domain], said: Mapping[str, Any], plain: bool,
    *, alone: bool,
) -> Compiled:  # fmt: skip
    """The mechanism, where the data are what is said; alone: one number that stands in no list. Raises Faulty."""
    exact = False
    while True:
        whole = frozenset(name for name, domain in (said.get("record") or {}).items() if "integer" in str(domain))
        shared = Shared(module, values, domains, exact_equalities=exact, length=said.get("answers"), whole=whole)
        try:
            found = _compiled(program, shared, said, frozenset({*values, *domains}), plain, alone=alone)
            words: dict[str, dict[int, str]] = {}
            for (name, word), code in shared.codes.items():
                words.setdefault(name, {})[code] = word
            return replace(found, alone=alone, words=words, lines=found.lines or drawn_at(shared), bare=shared.bare)
        except Stopped as error:
            raise Faulty([*shared.faults]) from error
        except (NotOfThisKind, ExprError) as error:
            raise Faulty([fault(program.function, f"{program.name} is no mechanism of a kind that there is: {error}")]) from error
        except Inexact:
            exact = True


def _listed(
    module: Module, program: Program, values: Mapping[str, Expr], domains: Mapping[str, Domain], said: Mapping[str, Any]
) -> Compiled:  # fmt: skip
    """The table of a program whose data are one of values that are listed. Raises Faulty."""
    function = program.function
    assert isinstance(function, ast.FunctionDef)
    shared = Shared(module, values, domains, coins=True)
    explorer = Explorer(shared, function, _arguments(program, shared, said, None))
    data, *_ = [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    try:
        return Compiled(tables.table(explorer, data, tables.inputs_of(said["inputs"]), is_generator(function)))
    except Stopped as error:
        raise Faulty([*shared.faults]) from error
    except NotOfThisKind as error:
        raise Faulty([fault(program.places.get("inputs", function), f"{program.name} is no table: {error}")]) from error


def _compiled(
    program: Program, shared: Shared, said: Mapping[str, Any], taken: frozenset[str], plain: bool, *, alone: bool
) -> Compiled:  # fmt: skip
    function = program.function
    assert isinstance(function, ast.FunctionDef)
    own = frozenset(parameters_of(program))
    setting = Setting(said, taken | own, shared, own, plain)
    generator = is_generator(function)
    length = said.get("answers")
    try:
        if alone:
            shared.arity = 1
            return _of(setting, Explorer(shared, function, _arguments(program, shared, said, lin.name(f"{ANSWER}1"))), generator)
        explorer = Explorer(shared, function, _arguments(program, shared, said, None))
        found = _of(setting, explorer, generator)
        return _by_values(setting, explorer, generator, found) if found.asks else found
    except (NotOfThisKind, Stopped):
        if alone or not (isinstance(length, int) and 1 <= length <= MOST_ANSWERS) or "adjacency" in said:
            raise
    shared.faults.clear()  # so few answers can be read at once
    shared.indices.clear()
    shared.equalities.clear()
    shared.chosen.clear()
    shared.arity = length
    items = Items([lin.name(f"{ANSWER}{i + 1}") for i in range(length)], GIVEN)
    explorer = Explorer(shared, function, _arguments(program, shared, said, items))
    return _of(setting, explorer, generator)


def _of(setting: Setting, explorer: Explorer, generator: bool) -> Compiled:
    found: list[Way] | Machine = explorer.explored()
    if isinstance(found, Machine) and any(way.result is NEXT for way in found.ends):
        return one_after_the_other(setting, _all_loops(explorer, found), generator)
    if isinstance(found, list) and len(found) == 1 and not generator:
        result = found[0].result
        if isinstance(result, Vector | Filtered):
            found = explorer.as_loop(result)
        elif isinstance(result, Answers):  # as they are
            names = [ast.Name("_", mode, lineno=1, col_offset=0) for mode in (ast.Store(), ast.Load())]
            found = explorer.as_loop(Vector(tuple(names), Frame({}, explorer.function), result))
    if isinstance(found, list):
        for way in found:
            setting.shared.elements |= explorer.together([place.of for place in selected.selections(setting, way, generator)])
        if (whole := selected.whole(setting, found, generator)) is not None:
            return all_told(compiled(setting, explorer.as_loop(whole), generator=False))
    return compiled(setting, found, generator)


def _all_loops(explorer: Explorer, first: Machine) -> list[Machine]:
    """The loops over the answers of a program that has several. Raises NotOfThisKind."""
    machines = [first]
    while any(way.result is NEXT for way in machines[-1].ends):
        if not all(way.result is NEXT for way in machines[-1].ends):
            raise NotOfThisKind("whether a loop over the answers follows another one depends on what that kept. Write two programs.")
        found = replace(explorer, loop=len(machines)).explored()
        assert isinstance(found, Machine)
        machines.append(found)
    return machines


def _by_values(setting: Setting, explorer: Explorer, generator: bool, found: Compiled) -> Compiled:
    """The program with numbers that are counted followed by their values, where these are few; else as it was found."""
    before = setting.shared
    shared = replace(before, faults={}, indices=set(), equalities=set(), noises={}, laws={}, lines={}, exact_equalities=True)
    try:
        again = replace(explorer, shared=shared, values=True)
        plain = _of(replace(setting, shared=shared), again, generator)
    except (NotOfThisKind, Stopped):
        return found
    return found if plain.asks else plain


def _arguments(program: Program, shared: Shared, said: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """What the arguments of a program stand for. data: its first; None for as many answers or rows as there may be."""
    arguments = program.function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    if data is None:
        data = Rows() if "adjacency" in said else Answers()
    given: dict[str, Any] = {names[0]: data, subset.NOISE: Noise()}
    words = {name.arg: value.value for name, value in _defaults(program) if isinstance(value, ast.Constant) and _is_word(value)}
    for name in parameters_of(program):
        if name in words and name not in shared.parameters and name not in shared.domains:
            given[name] = words[name]
            continue
        given[name] = lin.expression(shared.parameters.get(name, Sym(name)))
        if not given[name].terms:
            constant = given[name].constant
            given[name] = int(constant) if constant.denominator == 1 else constant
    return given


def _outside(module: Module, function: modules.Def) -> list[Fault]:
    """What is outside of the subset in a program, and in the functions of the module that it calls."""
    found = list(subset.faults(function, program=True))
    for name in sorted((subset.LAZY | subset.EATS) & module.bound.keys()):
        at = module.functions.get(name, function)
        found.append(fault(at, f"this module binds {name}, which means something of Python's own in programs. Give it another name."))
    open_, seen = [function], {function.name}
    while open_:
        for node in ast.walk(open_.pop()):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in module.functions and name not in seen:
                seen.add(name)
                helper = module.functions[name]
                found += subset.faults(helper, program=False)
                open_.append(helper)
    return found


def _options(module: Module, program: Program, said: Mapping[str, Any]) -> Iterator[Fault]:
    """Options of the decorator whose values mean nothing."""

    def at(key: str, what: str) -> Fault:
        return fault(program.places.get(key, program.function), f"{program.name}: {key} {what}")

    for name in parameters_of(program):
        if name in FUNCTIONS or name == "pi" or not name.isascii():
            yield fault(
                program.function, f"{program.name}: the parameter {name} has the name of a function in claims. Give it another name."
            )
    if said.get("neighbours", "all") not in NEIGHBOURS:
        yield at("neighbours", f"= {said['neighbours']!r} is none of {', '.join(NEIGHBOURS)}.")
    if said.get("adjacency", "add-remove") not in ADJACENCIES:
        yield at("adjacency", f"= {said['adjacency']!r} is none of {', '.join(ADJACENCIES)}.")
    if "adjacency" in said and any(key in said for key in ("sensitivity", "neighbours", "bounds", "hull", "answers")):
        yield at(
            "adjacency",
            "is of rows, whose sums have a sensitivity that is derived. Leave out sensitivity, neighbours, bounds, hull and answers.",
        )
    others = [key for key in ("sensitivity", "neighbours", "adjacency", "bounds", "hull", "answers", "record", "rows") if key in said]
    if "inputs" in program.places:
        yield from _inputs(module, program.places["inputs"])
    if "inputs" in said and others:
        yield at("inputs", f"lists what the data may be, each of which may be another: {', '.join(others)} is of data that are numbers.")
    elif "adjacency" not in said and any(key in said for key in ("record", "rows")):
        yield at("record" if "record" in said else "rows", 'is of rows: write adjacency="add-remove" or "replace" beside it.')


def _inputs(module: Module, node: ast.expr, inner: bool = False) -> Iterator[Fault]:
    """What inputs list that is no word, integer, truth, None, or list of these: a decimal is another number to floats."""
    try:
        while isinstance(node, ast.Name):
            node = modules.constant_of(module, node)
    except Unreadable as error:
        yield error.fault
        return
    if isinstance(node, ast.List) or (isinstance(node, ast.Tuple) and not inner):
        for each in node.elts:
            yield from _inputs(module, each, inner=True)
        return
    number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    if not isinstance(number, ast.Constant) or not (isinstance(number.value, int | str) or number.value is None):
        yield fault(node, f"inputs lists {shown(node)}: what the data may be is words, integers, True, False, None and lists of them.")


def _defaults(program: Program) -> list[tuple[ast.arg, ast.expr]]:
    """The arguments that have values of their own, with these."""
    arguments = program.function.args
    places = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True))
    return [*pairs, *((name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None)]


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and not (isinstance(node.value, int | float) and not isinstance(node.value, bool))


def default_parameters(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with what the decorator says of them; a number of the text where an argument has one; else any real number."""
    said = {**(program.options.get("parameters") or {}), **given}
    numbers = (ast.Constant, ast.UnaryOp)
    defaults = {name.arg: ast.unparse(value) for name, value in _defaults(program) if isinstance(value, numbers) and not _is_word(value)}
    words = {name.arg for name, value in _defaults(program) if _is_word(value)} - said.keys()
    found = {name: said.pop(name, defaults.get(name, "real")) for name in parameters_of(program) if name not in words}
    return {**found, **said}

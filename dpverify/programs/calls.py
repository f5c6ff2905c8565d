"""Calls in a program: noise, what Python has for numbers and lists, and functions of the module, which are followed in their turn."""

from __future__ import annotations

import ast
import difflib
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import coins
from dpverify.programs import linear as lin
from dpverify.programs.derived import derived
from dpverify.programs.expressions import ENDLESS, MOST_ITEMS, Expressions
from dpverify.programs.faults import Followed, Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.module import constant_of, data_of
from dpverify.programs.path import LENGTH, MOST_CALLS, TOTAL, YIELDED, Again, Frame
from dpverify.programs.rounding import require_told
from dpverify.programs.values import (
    GIVEN,
    UNKNOWN,
    Answers,
    Counted,
    Derived,
    Filtered,
    Infinite,
    Items,
    Law,
    Noise,
    Place,
    Places,
    Ranked,
    RowNumber,
    RowNumbers,
    Rows,
    Table,
    Unknown,
    Vector,
    Zipped,
)
from dpverify.trusted.kernel.expr import format_expr

ARGUMENTS: Final = {
    "laplace": ("scale",), "gaussian": ("sigma",), "discrete_laplace": ("scale",), "discrete_gaussian": ("sigma",),
    "exponential": ("scale",), "gumbel": ("scale",), "logistic": ("scale",), "staircase": ("epsilon", "gamma"),
    "student_t": ("nu", "dimension", "scale"),
    "poisson": ("mean",), "binomial": ("n", "p"), "negative_binomial": ("eta", "gamma"), "skellam": ("mean",),
}  # fmt: skip
"""The noises by name, and what they are given."""
SYMMETRIC: Final = frozenset(
    {"laplace", "gaussian", "discrete_laplace", "discrete_gaussian", "logistic", "staircase", "student_t", "skellam"}
)
WHOLE: Final = frozenset({"discrete_laplace", "discrete_gaussian", "poisson", "binomial", "negative_binomial", "skellam"})
"""Noises on the integers."""
_FUNCTIONS: Final = {
    "math.log": "log",
    "math.exp": "exp",
    "math.sqrt": "sqrt",
    "numpy.log": "log",
    "numpy.exp": "exp",
    "numpy.sqrt": "sqrt",
}
_ROUND: Final = frozenset({
    "math.floor", "math.ceil", "math.trunc", "numpy.floor", "numpy.ceil", "numpy.trunc", "numpy.rint", "numpy.round", "numpy.clip",
})  # fmt: skip
"""What is computed of noisy numbers alone."""


class Returned(Exception):
    """A function that is followed returns."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Calls(Expressions):
    """Evaluates calls."""

    def run(self, body: list[ast.stmt], frame: Frame) -> None:
        raise NotImplementedError

    def call(self, node: ast.Call, frame: Frame) -> Any:
        """What a call gives."""
        if any(given.arg is None for given in node.keywords) or any(isinstance(given, ast.Starred) for given in node.args):
            raise Unreadable(node, f"{shown(node)}: how many arguments it has is not known. Write them one by one.")
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, frame)
        if not isinstance(node.func, ast.Name):
            raise Unreadable(node, f"{shown(node)}: what is called is not known. Call functions of the module by their names.")
        name = node.func.id
        if name in frame.names or name in frame.unkept or name in self.locals_of(frame):
            raise Unreadable(node, f"{name} is a name of the program here, and not the function. Give the number another name.")
        if name in self.module.functions:
            return self._inlined(node, name, frame)
        if self.module.bound[name]:
            if (meant := self.module.means(node.func)) in _FUNCTIONS:
                return self.public(_FUNCTIONS[meant], node, self._plain_arguments(node, frame))
            if meant in _ROUND:
                return self._rounded(node, self._plain_arguments(node, frame))
            raise Unreadable(node, f"{name} is bound in this module and is no function of it: what it does is not known. Write it out.")
        if self.module.anything is not None:
            line = getattr(self.module.anything, "lineno", 1)
            raise Unreadable(node, f"{name} may mean anything: line {line} may change names of this module. Remove that line.")
        found = getattr(self, f"_builtin_{name}", None)
        if found is None:
            raise Unreadable(
                node,
                f"{name}(...) cannot be read: what it does is not known. {_WAYS.get(name, 'Write it out, or define it in this module.')}",
            )
        return found(node, frame)

    def _plain_arguments(self, node: ast.Call, frame: Frame, least: int = 1, most: int = 99) -> list[Any]:
        if node.keywords or not least <= len(node.args) <= most:
            raise Unreadable(node, f"{shown(node)} has other arguments than are read here.")
        return [self.held(each, frame) for each in node.args]

    # -- methods

    def _method(self, node: ast.Call, func: ast.Attribute, frame: Frame) -> Any:
        root = func.value
        own = isinstance(root, ast.Name) and (root.id in frame.names or root.id in frame.unkept or root.id in self.locals_of(frame))
        if not own and (meant := self.module.means(func)) in _FUNCTIONS:
            return self.public(_FUNCTIONS[meant], node, self._plain_arguments(node, frame))
        if not own and self.module.means(func) in _ROUND:
            return self._rounded(node, self._plain_arguments(node, frame))
        if not own and self.module.means(func):
            raise Unreadable(node, f"{shown(node)} is not of this module: what it does is not known. Write it out.")
        found = self.value(root, frame)
        if isinstance(found, Noise):
            return self._noise(node, func.attr, frame)
        if isinstance(found, Unknown):
            return found
        if func.attr == "append" and isinstance(found, Items) and len(node.args) == 1 and not node.keywords:
            self.append(node, found, self.held(node.args[0], frame))
            return None
        if func.attr == "extend" and isinstance(found, Items) and len(node.args) == 1 and not node.keywords:
            for item in self.listed(node.args[0], self.value(node.args[0], frame)):
                self.append(node, found, item)
            return None
        if func.attr == "index" and len(node.args) == 1 and not node.keywords:
            return self._index(node, found, self.value(node.args[0], frame))
        if isinstance(found, Table) and not node.keywords and len(node.args) == (func.attr == "get"):
            if func.attr == "get":
                key = self.value(node.args[0], frame)
                if isinstance(key, str | int):
                    return found.of.get(key)
            if func.attr in ("items", "keys", "values"):
                return tuple(getattr(found.of, func.attr)())
        if func.attr == "get" and type(found).__name__ == "Row" and len(node.args) == 1:
            raise Unreadable(node, f'{shown(node)} may be None. Write row["field"].')
        known = "Lists have append, extend and index; dicts have items, keys, values and get."
        raise Unreadable(node, f"{shown(node)}: the method {func.attr} is not known. {known}")

    def append(self, node: ast.AST, found: Items, value: Any) -> None:
        """One more item of a list."""
        if found.number == GIVEN:
            raise Unreadable(node, "the data are changed, which whoever gives them sees. Append to a list of the program's own.")
        if any(found is each for each in self.busy):
            raise Unreadable(node, "a list grows while it is gone through, which goes on with what is new. Append to another list.")
        if len(found.held) >= MOST_ITEMS:
            raise Unreadable(node, f"a list of more than {MOST_ITEMS} items is too long to be followed.")
        require_told(node, value)
        if found.told:
            self.events.append((found.number, value))
        elif (self.in_loop or self.after_loop) and not found.in_loop:
            if self.after_loop:
                raise Unreadable(
                    node, "a list that was made before the loop is appended to after it. Append in the loop, or return a tuple."
                )
            raise Again(told=found.number)
        else:
            found.held.append(value)

    def _index(self, node: ast.Call, found: Any, place: Any) -> Any:
        if isinstance(found, Vector) and isinstance(place, Place) and place.of is found and place.value:
            return Place(found, place.sign)
        if isinstance(found, Items):
            values = self.listed(node, found)
            for number, each in enumerate(values):
                if each is place:  # one object, evaluated once
                    return number
                if self._same(node, each, place):
                    return number
            raise Unreadable(node, f"{shown(node)} finds nothing on some way through the program.")
        raise Unreadable(node, f"{shown(node)}: index finds the greatest noisy answer alone: noisy.index(max(noisy)).")

    # -- noise

    def _noise(self, node: ast.Call, name: str, frame: Frame) -> Any:
        if name == "of":
            if len(node.args) != 1 or node.keywords:
                raise Unreadable(node, "noise.of takes one declaration: noise.of(dp.laplace(scale=2)).")
            return self.draw(self._declared(node.args[0], frame))
        if self.shared.coins or name in ("coin", "below"):
            return self._coin(node, name, frame)
        if name not in ARGUMENTS:
            (meant, *_) = [*(f" Did you mean {one}?" for one in difflib.get_close_matches(name, ARGUMENTS, 1)), ""]
            raise Unreadable(node, f"noise.{name} is not known.{meant} There are {', '.join(ARGUMENTS)}, and noise.of(declaration).")
        given = self._given(node, name, ARGUMENTS[name])
        law: list[tuple[str, Any]] = [("kind", "builtin"), ("name", name)]
        for key, value in given.items():
            number = self._public_number(key, value, frame)
            law.append((key, format_expr(number.rest)))
        return self.draw(tuple(law))

    def _given(self, node: ast.Call, name: str, wanted: tuple[str, ...]) -> dict[str, ast.expr]:
        """The arguments of noise, by name."""
        given: dict[str, ast.expr] = dict(zip(wanted, node.args, strict=False))
        for each in node.keywords:
            if each.arg not in wanted or each.arg in given:
                raise Unreadable(each.value, f"noise.{name} takes {', '.join(wanted)}, each once.")
            given[each.arg or ""] = each.value
        if len(node.args) > len(wanted) or (len(given) < len(wanted) and name != "student_t"):
            raise Unreadable(node, f"noise.{name} takes {', '.join(wanted)}.")
        return given

    def _coin(self, node: ast.Call, name: str, frame: Frame) -> Any:
        """Noise with finitely many values: each of them is followed."""
        if not self.shared.coins:
            what = 'is read where what the data may be is listed: dp.program(inputs=["no", "yes"]).'
            raise Unreadable(node, f"noise.{name} {what} Of sums there is other noise, such as noise.laplace(scale).")
        if name not in coins.ARGUMENTS:
            known = ", ".join(f"noise.{one}({', '.join(wanted)})" for one, wanted in coins.ARGUMENTS.items())
            raise Unreadable(node, f"noise.{name} has more values than can be listed. Where inputs are listed there are {known}.")
        given = self._given(node, name, coins.ARGUMENTS[name])
        numbers = {key: self._public_number(key, value, frame) for key, value in given.items()}
        p = numbers.get("p")
        if p is not None and not p.terms and not 0 <= p.constant <= 1:
            raise Unreadable(given["p"], f"p = {shown(given['p'])} is no probability, which is from 0 to 1.")
        values = coins.chances(name, numbers)
        if values is None:
            raise Unreadable(node, f"{shown(node)}: how many values it has is not known. Use an integer that is written out.")
        return self.one_of(values)

    def _public_number(self, key: str, node: ast.expr, frame: Frame) -> Linear:
        """A number of noise, which is the same in every run."""
        what = (
            f"{key} = {shown(node)} depends on the data: how much noise there is would tell of them. "
            "Use numbers and parameters that are the same for all data."
        )
        try:
            found = self.value(node, frame)
            number = self.number(node, found)
        except Unreadable as error:
            named = [frame.names.get(each.id) for each in ast.walk(node) if isinstance(each, ast.Name)]
            if not isinstance(error, Followed) and any(map(_is_of_data, named)):
                raise Unreadable(node, what) from error
            raise
        if number.names:
            raise Unreadable(node, what)
        return number

    def _declared(self, node: ast.expr, frame: Frame) -> Law:
        """The table of noise that a call of a function of the package declares."""
        if isinstance(node, ast.Name) and node.id not in self.locals_of(frame):
            node = constant_of(self.module, node)
        meant = self.module.means(node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not meant.startswith("dpverify.") or meant.count(".") != 1:
            raise Unreadable(
                node, f'{shown(node)} is no declaration that can be read. Write noise.of(dp.translation(density="1/(1 + z**2)")).'
            )
        kind = meant.removeprefix("dpverify.")
        if node.args and kind not in ARGUMENTS:
            raise Unreadable(node, f"{shown(node)}: give the numbers of the declaration by name.")
        given = {**dict(zip(ARGUMENTS.get(kind, ()), node.args, strict=False)), **{each.arg or "": each.value for each in node.keywords}}
        table = {key: data_of(self.module, value) for key, value in given.items()}
        if kind in ARGUMENTS:
            return (("kind", "builtin"), ("name", kind), *((key, str(value)) for key, value in table.items()))
        return (("json", json.dumps({"kind": kind, **table})),)

    # -- functions of the module

    def _inlined(self, node: ast.Call, name: str, frame: Frame) -> Any:
        function = self.module.functions[name]
        if (
            self.module.bound[name] > 1
            or name in self.module.uncertain
            or isinstance(function, ast.AsyncFunctionDef)
            or self.module.anything
        ):
            at = self.module.uncertain.get(name) or self.module.anything or function
            raise Unreadable(
                node, f"{name} is not for certain what is defined in line {function.lineno}: see line {getattr(at, 'lineno', 1)}."
            )
        if function.decorator_list:
            raise Unreadable(node, f"{name} has a decorator, which may change what it does. A function that a program calls has none.")
        if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)) and not self.from_generator:
            raise Unreadable(node, f"{name} yields. Write `yield from {name}(...)`, or return a list.")
        self.from_generator = False
        arguments = function.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        if len(node.args) > len(names):
            raise Unreadable(node, f"{name} takes {len(names)} arguments, not {len(node.args)}.")
        given = dict(zip(names, (self.value(each, frame) for each in node.args), strict=False))
        known = {*names, *(each.arg for each in arguments.kwonlyargs)} - {each.arg for each in arguments.posonlyargs}
        for each in node.keywords:
            if each.arg in given or each.arg not in known:
                raise Unreadable(node, f"{name} takes {each.arg} not at all, or twice.")
            given[each.arg or ""] = self.value(each.value, frame)
        self.defaults(function, given, node)
        if self.depth >= MOST_CALLS:
            raise Unreadable(node, f"{name} calls itself, or functions call each other more than {MOST_CALLS} deep. Write a loop.")
        self.depth += 1
        try:
            self.run(function.body, Frame(given, function))
        except Returned as returned:
            return returned.value
        finally:
            self.depth -= 1
        return None

    from_generator = False

    def defaults(self, function: ast.FunctionDef | ast.AsyncFunctionDef, given: dict[str, Any], node: ast.AST) -> None:
        """Puts in what is not given."""
        arguments = function.args
        places = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True))
        pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None]
        for name, value in pairs:
            if name.arg not in given:
                given[name.arg] = self.value(value, Frame({}, function))
        for name in (*places, *arguments.kwonlyargs):
            if name.arg not in given:
                raise Unreadable(node, f"{function.name} is called without {name.arg}.")

    def _yieldfrom(self, node: ast.YieldFrom, frame: Frame) -> Any:
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id in self.module.functions:
            function = self.module.functions[node.value.func.id]
            if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)):
                self.from_generator = True
                return self.call(node.value, frame)
        found = self.value(node.value, frame)
        if isinstance(found, Vector | Answers):
            raise Unreadable(node, f"{shown(node)}: write a loop over the answers, with yield.")
        for item in self.listed(node.value, found):
            self.tellable(node, item)
            self.events.append((YIELDED, item))
        return None

    def tellable(self, node: ast.AST, found: Any) -> None:
        """That what is told is no number that floats round."""
        inside = found if isinstance(found, tuple) else found.held if isinstance(found, Items) else ()
        for each in inside or (found.of.values() if isinstance(found, Table) else ()):
            self.tellable(node, each)
        require_told(node, found)

    def _yield(self, node: ast.Yield, frame: Frame) -> Any:
        found = None if node.value is None else self.held(node.value, frame)
        self.tellable(node, found)
        self.events.append((YIELDED, found))
        return None

    # -- what Python has

    def _builtin_len(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        if isinstance(found, Rows):
            return self.over_records("1", found.where)
        if isinstance(found, RowNumbers):
            return self.over_records("1", found.where)
        if isinstance(found, Answers | Vector):
            return lin.name(LENGTH)
        if isinstance(found, Filtered):
            return self.total(node, found, frame, 0, lambda _: 1)
        return len(self.listed(node, found))

    def _builtin_sum(self, node: ast.Call, frame: Frame) -> Any:
        values = self._plain_arguments(node, frame, 1, 2)
        found, start = values[0], values[1] if len(values) > 1 else 0
        if isinstance(found, Unknown):
            return found
        total: Any = start
        if isinstance(found, RowNumbers):
            total = lin.plus(self.number(node, start), self.over_records(found.text, found.where))
        elif isinstance(found, Answers):
            if self.in_loop:
                raise Unreadable(node, "all answers are summed in each step. Keep a running sum: total = total + answer.")
            self.shared.arity = 1
            total = lin.plus(self.number(node, start), lin.name(TOTAL))
        elif isinstance(found, Vector | Filtered):
            return self.total(node, found, frame, start, lambda one: self._counted(node, one))
        else:
            for item in self.listed(node, found):
                total = self.combined(node, ast.Add(), total, item)
        return total

    def _counted(self, node: ast.Call, found: Any) -> Any:
        """What an item adds to a sum."""
        return self.truth(node, found) if isinstance(found, bool) else found

    def _builtin_max(self, node: ast.Call, frame: Frame) -> Any:
        return self._extreme(node, frame, 1)

    def _builtin_min(self, node: ast.Call, frame: Frame) -> Any:
        return self._extreme(node, frame, -1)

    def _extreme(self, node: ast.Call, frame: Frame, sign: int) -> Any:
        keys = {given.arg: given.value for given in node.keywords}
        if set(keys) - {"key"} or not node.args:
            raise Unreadable(node, f"{shown(node)} has other arguments than are read here: max(list), max(a, b), max(places, key=...).")
        values = [self.held(each, frame) for each in node.args]
        found = values[0] if len(values) == 1 else None
        if any(isinstance(each, Unknown) for each in values):
            return UNKNOWN
        if isinstance(found, ENDLESS):
            if "key" in keys:
                return self._by_key(node, found, keys["key"], frame, sign)
            if isinstance(found, Vector):
                return Place(found, sign, value=True)
            if isinstance(found, Answers):
                return Place(self._as_vector(node, frame), sign, value=True)
            raise Unreadable(node, f"{shown(node)}: the greatest of noisy answers is read: max(noisy).")
        if any(isinstance(each, Derived) for each in values) and "key" not in keys:
            if (made := derived(*values)) is not None:
                return made
            raise Unreadable(node, f"{shown(node)} compares what is computed of noisy numbers with what is none.")
        if any(isinstance(each, RowNumber) for each in values) and "key" not in keys:
            return RowNumber(f"{'max' if sign > 0 else 'min'}({', '.join(self.row_text(node, each) for each in values)})")
        items = values if len(values) > 1 else self.listed(node, found)
        if not items:
            raise Unreadable(node, f"{shown(node)} is of an empty list.")
        best = items[0]
        with self.going_through(node, frame):
            by = [self._key(keys["key"], each, frame) for each in items] if "key" in keys else items
        highest = by[0]
        for item, measure in zip(items[1:], by[1:], strict=True):
            if self.compared(node, ast.Gt() if sign > 0 else ast.Lt(), measure, highest):
                best, highest = item, measure
        return best

    def _as_vector(self, node: ast.Call, frame: Frame) -> Vector:
        name = ast.Name("_", ast.Load(), lineno=node.lineno, col_offset=node.col_offset)
        return Vector(
            (ast.Name("_", ast.Store(), lineno=node.lineno, col_offset=node.col_offset), name), Frame({}, frame.function), Answers()
        )

    def _key(self, key: ast.expr, item: Any, frame: Frame) -> Any:
        """The value of a key function at an item."""
        if isinstance(key, ast.Lambda) and len(key.args.args) == 1 and not key.args.defaults and not key.args.kwonlyargs:
            return self.value(key.body, Frame({**frame.names, key.args.args[0].arg: item}, frame.function, frame.unkept))
        if isinstance(key, ast.Attribute) and key.attr == "get" and isinstance(table := self.value(key.value, frame), Table):
            return table.of.get(item)
        if isinstance(key, ast.Attribute) and key.attr == "__getitem__":
            where = ast.Subscript(key.value, ast.Name("_", ast.Load()), ast.Load())
            ast.copy_location(where, key)
            ast.fix_missing_locations(where)
            return self.value(where, Frame({**frame.names, "_": item}, frame.function, frame.unkept))
        raise Unreadable(key, f"key = {shown(key)} is not read. Write key=lambda i: noisy[i].")

    def _by_key(self, node: ast.Call, found: Any, key: ast.expr, frame: Frame, sign: int) -> Place:
        """The place of the greatest, where the key of a place is the noisy answer there."""
        vector: Vector | None = None
        if isinstance(found, Places):
            body = key.body if isinstance(key, ast.Lambda) and len(key.args.args) == 1 else None
            if isinstance(body, ast.Subscript) and isinstance(body.slice, ast.Name) and isinstance(key, ast.Lambda):
                inside = self.value(body.value, frame)
                same = body.slice.id == key.args.args[0].arg
                vector = (
                    inside
                    if same and isinstance(inside, Vector)
                    else self._as_vector(node, frame)
                    if same and isinstance(inside, Answers)
                    else None
                )
            elif isinstance(key, ast.Attribute) and key.attr == "__getitem__":
                inside = self.value(key.value, frame)
                vector = inside if isinstance(inside, Vector) else None
            elif body is not None and isinstance(key, ast.Lambda):
                argument = key.args.args[0]
                target = ast.Name(argument.arg, ast.Store(), lineno=argument.lineno, col_offset=argument.col_offset)
                vector = Vector((target, body), Frame(dict(frame.names), frame.function), Places())
        if vector is None:
            raise Unreadable(node, f"{shown(node)}: the greatest of noisy answers is read: max(range(len(noisy)), key=lambda i: noisy[i]).")
        return Place(vector, sign)

    def _builtin_sorted(self, node: ast.Call, frame: Frame) -> Any:
        keys = {given.arg: given.value for given in node.keywords}
        if len(node.args) != 1 or set(keys) - {"key", "reverse"}:
            raise Unreadable(node, f"{shown(node)}: sorted takes one list, key and reverse.")
        found = self.held(node.args[0], frame)
        descending = bool(self.value(keys["reverse"], frame)) if "reverse" in keys else False
        if isinstance(found, Vector) and "key" not in keys:
            return Ranked(found, descending, places=False)
        if isinstance(found, Places) and "key" in keys:
            return Ranked(self._by_key(node, found, keys["key"], frame, 1).of, descending, places=True)
        items = list(self.listed(node, found))
        with self.going_through(node, frame):
            by = [self._key(keys["key"], each, frame) for each in items] if "key" in keys else list(items)
        done: list[tuple[Any, Any]] = []
        for item, measure in zip(items, by, strict=True):  # stable, as Python's own
            at = len(done)
            while at and self.compared(node, ast.Gt() if descending else ast.Lt(), measure, done[at - 1][1]):
                at -= 1
            done.insert(at, (item, measure))
        return self.items([item for item, _ in done])

    def _builtin_range(self, node: ast.Call, frame: Frame) -> Any:
        values = self._plain_arguments(node, frame, 1, 3)
        if len(values) == 1 and values[0] == lin.name(LENGTH):
            return Places()
        if len(values) == 2 and values[0] == 0 and values[1] == lin.name(LENGTH):
            return Places()
        if all(isinstance(each, int) for each in values):
            return range(*values)
        raise Unreadable(
            node,
            f"{shown(node)}: how many rounds there are is not known. Use numbers that are written out, or range(len(answers)).",
        )

    def _builtin_enumerate(self, node: ast.Call, frame: Frame) -> Any:
        keys = {given.arg: given.value for given in node.keywords}
        if set(keys) - {"start"} or not 1 <= len(node.args) <= 2:
            raise Unreadable(node, f"{shown(node)}: enumerate takes a list, and start.")
        found = self.held(node.args[0], frame)
        begin = node.args[1] if len(node.args) > 1 else keys.get("start")
        start = self.number(node, self.value(begin, frame)) if begin is not None else lin.constant(0)
        if isinstance(found, ENDLESS):
            return Counted(found, start)
        return tuple((self.plain(lin.plus(start, lin.constant(i)), 0), item) for i, item in enumerate(self.listed(node, found)))

    def _builtin_zip(self, node: ast.Call, frame: Frame) -> Any:
        keys = {given.arg for given in node.keywords}
        if keys - {"strict"}:
            raise Unreadable(node, f"{shown(node)}: zip takes lists, and strict.")
        lists = [self.held(each, frame) for each in node.args]
        if any(isinstance(each, ENDLESS) for each in lists):
            if not all(isinstance(each, ENDLESS) for each in lists):
                raise Unreadable(
                    node, f"{shown(node)} pairs answers with a list of known length. Say how many answers there are: dp.program(answers=3)."
                )
            return Zipped(tuple(lists))
        found = [self.listed(node, each) for each in lists]
        if any(given.arg == "strict" for given in node.keywords) and len({len(each) for each in found}) > 1:
            raise Unreadable(node, f"{shown(node)} pairs lists that are not of one length, which strict=True does not allow.")
        return tuple(zip(*found, strict=False))

    def _builtin_reversed(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        return tuple(reversed(self.listed(node, found)))

    def _builtin_list(self, node: ast.Call, frame: Frame) -> Any:
        values = self._plain_arguments(node, frame, 0, 1)
        if values and isinstance(values[0], (*ENDLESS, RowNumbers, Rows)):
            return values[0]
        return self.items(list(self.listed(node, values[0])) if values else [])

    def _builtin_tuple(self, node: ast.Call, frame: Frame) -> Any:
        values = self._plain_arguments(node, frame, 0, 1)
        if values and isinstance(values[0], (*ENDLESS, RowNumbers, Rows)):
            return values[0]
        return tuple(self.listed(node, values[0])) if values else ()

    def _builtin_dict(self, node: ast.Call, frame: Frame) -> Any:
        if node.args:
            raise Unreadable(node, f"{shown(node)}: write the dict with its keys.")
        return Table({given.arg: self.held(given.value, frame) for given in node.keywords})

    def _builtin_abs(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        if isinstance(found, RowNumber):
            return RowNumber(f"abs({self.row_text(node, found)})")
        if isinstance(found, Unknown | Derived):
            return found
        number = self.number(node, found)
        self._same_way(node, found, 0)
        if type(found) is Fraction:
            return abs(found)
        return self.plain(number if self.decide(node, number, False) else lin.scale(number, -1), found)

    def _builtin_any(self, node: ast.Call, frame: Frame) -> Any:
        return self._some(node, frame, True)

    def _builtin_all(self, node: ast.Call, frame: Frame) -> Any:
        return self._some(node, frame, False)

    def _some(self, node: ast.Call, frame: Frame, wanted: bool) -> bool:
        """any and all: of a generator expression the items are evaluated one after the other, until one decides."""
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            inner = node.args[0]
            if isinstance(source := self.value(inner.generators[0].iter, frame), (*ENDLESS, Filtered)):
                return self.some(node, self._some_of(node, inner, source, frame), frame, wanted)
            self.listed(inner.generators[0].iter, self.value(inner.generators[0].iter, frame))
            return any(self.truth(node, each) == wanted for each in self._unrolled(inner, inner.generators, frame)) == wanted
        (found,) = self._plain_arguments(node, frame, 1, 1)
        if isinstance(found, (*ENDLESS, Filtered)):
            return self.some(node, found, frame, wanted)
        return any(self.truth(node, each) == wanted for each in self.listed(node, found)) == wanted

    def _some_of(self, node: ast.Call, inner: ast.GeneratorExp, source: Any, frame: Frame) -> Any:
        """A generator expression that goes through answers, as it is gone through where it stands."""
        if len(inner.generators) > 1:
            raise Unreadable(node, f"{shown(node)} pairs answers with each other. Write one loop over the answers.")
        (first,) = inner.generators
        return Filtered(first.target, inner.elt, tuple(first.ifs), Frame(dict(frame.names), frame.function, frame.unkept), source)

    def _builtin_next(self, node: ast.Call, frame: Frame) -> Any:
        if node.keywords or len(node.args) != 2 or not isinstance(node.args[0], ast.GeneratorExp):
            raise Unreadable(
                node, f"{shown(node)} fails where there is none, which tells of the data. Write next((... for ... in ... if ...), None)."
            )
        inner, default = node.args[0], self.held(node.args[1], frame)
        if isinstance(source := self.value(inner.generators[0].iter, frame), (*ENDLESS, Filtered)):
            return self.first(node, self._some_of(node, inner, source, frame), frame, default)
        self.listed(inner.generators[0].iter, source)
        return next(self._unrolled(inner, inner.generators, frame), default)

    def some(self, node: ast.Call, source: Any, frame: Frame, wanted: bool) -> bool:
        raise NotImplementedError

    def first(self, node: ast.Call, source: Any, frame: Frame, default: Any) -> Any:
        raise NotImplementedError

    def total(self, node: ast.Call, source: Any, frame: Frame, start: Any, each: Callable[[Any], Any]) -> Any:
        raise NotImplementedError

    def _builtin_float(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        if isinstance(found, str) and found.strip().lower().lstrip("+-") in ("inf", "infinity"):
            return Infinite(-1 if found.strip().startswith("-") else 1)
        if isinstance(found, str):
            raise Unreadable(node, f"{shown(node)}: write the number without quotes.")
        return Fraction(found) if isinstance(found, bool | int) else found

    def _builtin_int(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        if isinstance(found, bool | int):
            return int(found)
        return self._rounded(node, [found])

    def _builtin_round(self, node: ast.Call, frame: Frame) -> Any:
        return self._rounded(node, self._plain_arguments(node, frame, 1, 2))

    def _rounded(self, node: ast.Call, values: list[Any]) -> Any:
        """What is rounded: no more than the noisy number is told."""
        if any(isinstance(each, Unknown) for each in values):
            return UNKNOWN
        if (found := derived(*values)) is None:
            raise Unreadable(node, f"{shown(node)} rounds what no noise is added to. Add noise first, and round the sum.")
        return found

    def _builtin_bool(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        return self.truth(node, found)

    def _builtin_print(self, node: ast.Call, frame: Frame) -> Any:
        raise Unreadable(node, "print tells something beside what the program returns. Yield it, or leave it out.")


def _is_of_data(found: Any) -> bool:
    """Whether a value is of the data."""
    known = (Rows, RowNumbers, RowNumber, Filtered, Derived, *ENDLESS)
    return isinstance(found, known) or (isinstance(found, Linear) and bool(found.names))


_WAYS: Final = {
    "map": "Write a comprehension.", "filter": "Write a comprehension with if.", "set": "Sets have no order. Use a list.",
    "eval": "Text that is run is not known when it is read.", "exec": "Text that is run is not known when it is read.",
    "open": "Programs read no files.", "input": "Programs read no input.", "iter": "Write a for loop.",
    "isinstance": "All answers are numbers.", "str": "Tell the number itself.", "getattr": "Attributes are not read.",
}  # fmt: skip

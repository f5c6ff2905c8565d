"""Calls in a program: noise, what Python has for numbers and lists, and functions of the module, which are followed in their turn."""

from __future__ import annotations

import ast
import difflib
import json
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import coins
from dpverify.programs.comparisons import Comparisons
from dpverify.programs.derived import derived
from dpverify.programs.faults import Followed, Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.module import constant_of, data_of
from dpverify.programs.path import MOST_CALLS, YIELDED, Again, Frame
from dpverify.programs.rounding import require_told
from dpverify.programs.structures import ENDLESS, MOST_ITEMS
from dpverify.programs.values import (
    GIVEN,
    UNKNOWN,
    Answers,
    Derived,
    Element,
    Filtered,
    Items,
    Law,
    Noise,
    Place,
    RowNumber,
    RowNumbers,
    Rows,
    Table,
    Unknown,
    Vector,
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


class Calls(Comparisons):
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

    def _rounded(self, node: ast.Call, values: list[Any]) -> Any:
        """What is rounded: no more than the noisy number is told."""
        if any(isinstance(each, Unknown) for each in values):
            return UNKNOWN
        if (found := derived(*values)) is None:
            raise Unreadable(node, f"{shown(node)} rounds what no noise is added to. Add noise first, and round the sum.")
        return found

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
            return self.draw(self._declared(node.args[0], frame), node.lineno)
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
        return self.draw(tuple(law), node.lineno)

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
        return self.one_of(node, values)

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
        if key == "k" and isinstance(found, Fraction):
            raise Unreadable(node, f"k = {shown(node)} is a float, and noise.below takes integers alone. Write an integer.")
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
        if isinstance(found, Linear | Element):
            self.without_noise(node, self.number(node, found), "told")
        require_told(node, found)

    def _yield(self, node: ast.Yield, frame: Frame) -> Any:
        found = None if node.value is None else self.held(node.value, frame)
        self.tellable(node, found)
        self.events.append((YIELDED, found))
        return None


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

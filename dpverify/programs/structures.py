"""Names and structures of a program: what they stand for on one way through."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import Followed, Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.module import constant_of, written_number
from dpverify.programs.path import ANSWER, CHOSEN, INDEX, KEPT, Again, Frame, Path
from dpverify.programs.values import (
    UNKNOWN,
    Answers,
    Counted,
    Derived,
    Earlier,
    Element,
    Filtered,
    Growing,
    Infinite,
    Items,
    Noise,
    Place,
    Places,
    Ranked,
    Remaining,
    Row,
    RowNumber,
    RowNumbers,
    Rows,
    Table,
    Unknown,
    Vector,
    Zipped,
)
from dpverify.trusted.kernel.expr import PI

NOTHING: Final = object()
SMALLEST: Final = 1e-300
LARGEST: Final = 1e300
ENDLESS: Final = (Answers, Counted, Zipped, Places, Vector)
"""Lists as long as nobody knows."""
MOST_ITEMS: Final = 256
_SAME_EACH_TIME: Final = (
    ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.UnaryOp, ast.USub, ast.Load,
)  # fmt: skip
"""What is the same however often it is evaluated: neither noise nor other calls."""


def _lists_in(found: Any) -> list[Items]:
    """The lists in a value, itself among them."""
    inside = found if isinstance(found, tuple) else found.held if isinstance(found, Items) else ()
    return [*([found] if isinstance(found, Items) else []), *(one for each in inside for one in _lists_in(each))]


def as_it_is(frame: Frame) -> Frame:
    """The names of a function as they are now: lists that grow later have what they have."""

    def held(found: Any) -> Any:
        if isinstance(found, tuple):
            return tuple(map(held, found))
        if isinstance(found, Table):
            return Table({key: held(each) for key, each in found.of.items()})
        return Items([held(each) for each in found.held], found.number, found.in_loop, found.told) if isinstance(found, Items) else found

    return Frame({name: held(found) for name, found in frame.names.items()}, frame.function)


class Structures(Path):
    """Evaluates expressions: names and structures; what is built upon it computes, compares and calls."""

    def call(self, node: ast.Call, frame: Frame) -> Any:
        raise NotImplementedError

    def _call(self, node: ast.Call, frame: Frame) -> Any:
        return self.call(node, frame)

    def value(self, node: ast.expr, frame: Frame) -> Any:
        """What an expression stands for. Raises Unreadable at what has no meaning here."""
        self.spent(node)
        found: Callable[[Any, Frame], Any] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if found is None:
            raise Unreadable(node, f"{shown(node)} cannot be read: {type(node).__name__} is no part of what programs are written in.")
        return found(node, frame)

    # -- names and constants

    def _constant(self, node: ast.Constant, frame: Frame) -> Any:
        if isinstance(node.value, float):
            meant = Fraction(written_number(self.module, node))
            if meant and not SMALLEST < abs(node.value) < LARGEST:
                raise Unreadable(node, f"{shown(node)} is a float at the end of what floats can be.")
            return meant
        if isinstance(node.value, bytes | complex) or node.value is ...:
            raise Unreadable(node, f"{shown(node)} is no number, text or truth.")
        return node.value

    def _name(self, node: ast.Name, frame: Frame) -> Any:
        name = node.id
        if name in frame.unkept:
            raise Again(track=name)
        if name in frame.names:
            return frame.names[name]
        if name in self.locals_of(frame):
            raise Unreadable(node, f"{name} has no value here on some way through the program. Give it one before.")
        if name in self.module.functions and self.module.bound[name] == 1:
            raise Unreadable(node, f"the function {name} is no value. Call it.")
        return self.value(constant_of(self.module, node), Frame({}, frame.function))

    def locals_of(self, frame: Frame) -> frozenset[str]:
        """The names that a function binds."""
        found = {each.id for each in ast.walk(frame.function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        arguments = frame.function.args
        return frozenset(found | {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)})

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        meant = self.module.means(node) if not (isinstance(node.value, ast.Name) and node.value.id in self.locals_of(frame)) else ""
        if meant in ("math.inf", "numpy.inf"):
            return Infinite(1)
        if meant == "math.pi":
            return lin.expression(PI)
        raise Unreadable(node, f'{shown(node)} cannot be read: attributes of objects are not known. A field of a row is row["field"].')

    # -- structures

    def _tuple(self, node: ast.Tuple, frame: Frame) -> Any:
        return tuple(self.held(each, frame) for each in node.elts)

    def _list(self, node: ast.List, frame: Frame) -> Any:
        return self.items([self.held(each, frame) for each in node.elts])

    def items(self, values: list[Any]) -> Items:
        """A new list."""
        if len(values) > MOST_ITEMS:
            raise Unreadable(self.loop or ast.Pass(), f"a list of {len(values)} items is too long to be followed.")
        self.lists += 1
        return Items(values, self.lists, self.in_loop)

    def held(self, node: ast.expr, frame: Frame) -> Any:
        """What is put into a list, a tuple or a dict."""
        found = self.value(node, frame)
        if isinstance(found, Noise):
            raise Unreadable(node, "noise is put into something else, and is no longer seen where it is drawn. Use the argument itself.")
        return found

    def _dict(self, node: ast.Dict, frame: Frame) -> Any:
        keys = [None if key is None else self.value(key, frame) for key in node.keys]
        if not all(isinstance(key, str | int | bool) for key in keys) or None in node.keys:
            raise Unreadable(node, f"{shown(node)}: the keys of a dict are texts or integers that are written out.")
        return Table(dict(zip(keys, [self.held(each, frame) for each in node.values], strict=True)))

    def _dictcomp(self, node: ast.DictComp, frame: Frame) -> Any:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        as_list = ast.copy_location(ast.ListComp(pair, node.generators), node)
        found = self.comprehended(as_list, frame)
        if not isinstance(found, Items):
            raise Unreadable(node, f"{shown(node)}: how many keys there are is not known. Tell a list, or say which keys there are.")
        if not all(isinstance(key, str | int | bool) for key, _ in found.held):
            raise Unreadable(node, f"{shown(node)}: the keys of a dict are texts or integers that are written out.")
        return Table(dict(found.held))

    def _listcomp(self, node: ast.ListComp, frame: Frame) -> Any:
        return self.comprehended(node, frame)

    def _generatorexp(self, node: ast.GeneratorExp, frame: Frame) -> Any:
        return self.comprehended(node, frame)

    def comprehended(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> Any:
        """A list of known length, a number for each answer, or one for each record."""
        first = node.generators[0]
        source = self.value(first.iter, frame)
        if any(each.is_async for each in node.generators):
            raise Unreadable(node, "async for cannot be read: programs run step by step.")
        if isinstance(source, Rows | RowNumbers):
            return self.of_records(node, source, frame)
        if not self.in_loop and (left := self._remaining(node, source, frame)) is not None and (first.ifs or isinstance(source, Remaining)):
            return left
        if isinstance(source, ENDLESS):
            if len(node.generators) > 1:
                raise Unreadable(node, f"{shown(node)} pairs answers with each other. Write one loop over the answers.")
            if self.in_loop:
                raise Unreadable(node, f"{shown(node)} goes through all answers again in each step. Write it before the loop.")
            inside = as_it_is(frame)
            if first.ifs:
                return Filtered(first.target, node.elt, tuple(first.ifs), inside, source)
            return Vector((first.target, node.elt), inside, source)
        return self.items(list(self._unrolled(node, node.generators, frame)))

    def _unrolled(self, node: ast.ListComp | ast.GeneratorExp, generators: list[ast.comprehension], frame: Frame) -> Iterator[Any]:
        if not generators:
            yield self.held(node.elt, frame)
            return
        inner = Frame(dict(frame.names), frame.function, frame.unkept)
        with self.going_through(generators[0].iter, frame):
            yield from self._each(node, generators, inner, frame)

    def _each(
        self, node: ast.ListComp | ast.GeneratorExp, generators: list[ast.comprehension], inner: Frame, frame: Frame
    ) -> Iterator[Any]:
        for item in self.listed(generators[0].iter, self.value(generators[0].iter, frame)):
            self.assign(generators[0].target, item, inner)
            if all(self.truth(each, self.value(each, inner)) for each in generators[0].ifs):
                yield from self._unrolled(node, generators[1:], inner)

    def of_records(self, node: ast.ListComp | ast.GeneratorExp, source: Rows | RowNumbers, frame: Frame) -> Any:
        raise NotImplementedError

    @contextlib.contextmanager
    def going_through(self, node: ast.expr, frame: Frame) -> Iterator[None]:
        """The lists that are named in what is gone through, which may not grow meanwhile."""
        named = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        held = [found for name in named for found in _lists_in(frame.names.get(name))]
        self.busy += held
        try:
            yield
        finally:
            del self.busy[len(self.busy) - len(held) :]

    def listed(self, node: ast.AST, found: Any) -> list[Any]:
        """The items of a list of known length."""
        if isinstance(found, Items):
            if found.told:
                raise Unreadable(node, "a list that is appended to in the loop is read in it. Keep what is needed as a number.")
            return found.held
        if isinstance(found, tuple):
            return list(found)
        if isinstance(found, range):
            if len(found) > MOST_ITEMS:
                raise Unreadable(node, f"a range of {len(found)} is too long to be written out. Make the loop one over the answers.")
            return list(found)
        if isinstance(found, Table):
            return list(found.of)
        if isinstance(found, Unknown):
            return []
        if isinstance(found, Filtered):
            raise Unreadable(
                node,
                "how many of the answers are left is not known. What is read of them: return, for, any, all, next, len, sum.",
            )
        if isinstance(found, ENDLESS):
            raise Unreadable(
                node, "all answers are gone through here, of which nobody knows how many there are. One loop over the answers is read."
            )
        raise Unreadable(node, f"{shown(node)} is {kind_of(found)}, and no list.")

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        found = self.value(node.value, frame)
        if isinstance(found, Row):
            return self.field(node, frame)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, found, frame)
        place = self.value(node.slice, frame)
        if isinstance(found, Unknown) or isinstance(place, Unknown):
            return UNKNOWN
        if isinstance(found, Table):
            if place in found.of:
                return found.of[place]
            raise Unreadable(node, f"{shown(node)}: the dict has no such key that is written out.")
        if isinstance(found, Answers) and isinstance(place, Place) and not place.value and not (self.in_loop or self.after_loop):
            return self._chosen(place)
        if isinstance(found, Vector) and isinstance(place, Place) and place.of is found and not place.value:
            return replace(place, value=True)
        if isinstance(found, Answers | Vector):
            return self._at(node, found, place)
        if isinstance(found, Rows | RowNumbers):
            raise Unreadable(
                node,
                f"{shown(node)} reads one row by its place, and what it holds is one person's. Sum over the rows, and add noise: "
                "sum(min(max(row['pay'], 0), 100) for row in rows) + noise.laplace(100).",
            )
        if isinstance(found, Ranked) and type(place) is int:
            return _in_order(found, place)
        if isinstance(found, Element) and isinstance(place, int) and place >= 0:
            return self.part(node, place, max(place + 1, self.shared.arity or 0))
        if isinstance(found, Place):
            raise Unreadable(node, f"{shown(node)} cannot be read.")
        if not isinstance(place, int):
            raise Unreadable(
                node, f"{shown(node)}: which element it is depends on the data or a parameter. Use numbers that are written out."
            )
        values = self.listed(node.value, found)
        if not -len(values) <= place < len(values):
            raise Unreadable(node, f"{shown(node)}: the list has {len(values)} elements.")
        return values[place]

    def field(self, node: ast.Subscript, frame: Frame) -> Any:
        raise NotImplementedError

    def _sliced(self, node: ast.Subscript, found: Any, frame: Frame) -> Any:
        if not isinstance(node.slice, ast.Slice):
            raise Unreadable(node, f"{shown(node)} cannot be read.")
        ends = [None if end is None else self.value(end, frame) for end in (node.slice.lower, node.slice.upper, node.slice.step)]
        if isinstance(found, ENDLESS) or not all(end is None or isinstance(end, int) for end in ends):
            raise Unreadable(node, f"{shown(node)} takes some of the answers. Go through all of them in one loop, and count the steps.")
        if isinstance(found, Ranked):
            return self._some_in_order(node, found, ends)
        values = self.listed(node.value, found)[slice(*ends)]
        return tuple(values) if isinstance(found, tuple) else self.items(values)

    def _some_in_order(self, node: ast.Subscript, found: Ranked, ends: list[Any]) -> Any:
        """The first of noisy answers in order, or the last, or all in the opposite order."""
        first, last, step = ends
        if (first, last, step) == (None, None, -1):
            return Ranked(found.of, not found.descending, found.places)
        if step in (None, 1) and first in (None, 0) and isinstance(last, int) and last > 0:
            places = range(last)
        elif step in (None, 1) and last is None and isinstance(first, int) and first < 0:
            places = range(first, 0)
        else:
            raise Unreadable(node, f"{shown(node)}: of answers in order the first are read, or the last: noisy[:3], noisy[-3:].")
        return self.items([_in_order(found, place) for place in places])

    def _remaining(self, node: ast.ListComp | ast.GeneratorExp, source: Any, frame: Frame) -> Remaining | None:
        """The places but for those that were selected before, None where something else is left out, or gone through."""
        (first,) = node.generators if len(node.generators) == 1 else (None,)
        if first is None or not isinstance(source, Places | Remaining) or not isinstance(first.target, ast.Name):
            return None
        name, after = first.target.id, list(source.after) if isinstance(source, Remaining) else []
        if not (isinstance(node.elt, ast.Name) and node.elt.id == name):
            return None
        for test in first.ifs:
            if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name and len(test.ops) == 1):
                return None
            inside = list(ast.walk(test.comparators[0]))
            if not all(isinstance(each, _SAME_EACH_TIME) and not (isinstance(each, ast.Name) and each.id == name) for each in inside):
                return None
            found = self.value(test.comparators[0], frame)
            if isinstance(test.ops[0], ast.NotIn) and isinstance(found, Items | tuple):
                places = self.listed(test, found)
            elif isinstance(test.ops[0], ast.NotEq):
                places = [found]
            else:
                return None
            if not all(isinstance(each, Place) and not each.value for each in places):
                return None
            after += places
        return Remaining(tuple(dict.fromkeys(after)))

    def _chosen(self, place: Place) -> Linear:
        """The answer at the place of the greatest noisy one."""
        self.shared.arity = 1
        if place not in self.shared.chosen:
            self.shared.chosen.append(place)
        return lin.name(f"{CHOSEN}{self.shared.chosen.index(place)}")

    def _at(self, node: ast.Subscript, found: Answers | Vector, place: Any) -> Any:
        """The answer, or its noisy number, of this step."""
        index = self.number(node.slice, place) if not isinstance(place, Place) else None
        if not self.in_loop or index is None:
            raise Unreadable(
                node, f"{shown(node)}: one of the answers by its place. Go through all of them in one loop, or say how many there are."
            )
        kept = [each for each in index.names if each.startswith(KEPT)]
        if index == lin.name(INDEX) or (kept and index == lin.name(kept[0])):
            self.shared.indices.update(kept)
            return self.element(found)
        raise Unreadable(node, f"{shown(node)} is not the answer of this step. A step reads the answer that its number is that of.")

    def element(self, found: Any) -> Any:
        """What a loop over a list gives in this step."""
        if isinstance(found, Answers):
            return Element()
        if isinstance(found, Places):
            return lin.name(INDEX)
        if isinstance(found, Counted):
            return (lin.plus(lin.name(INDEX), found.start), self.element(found.of))
        if isinstance(found, Zipped):
            return tuple(map(self.element, found.of))
        if isinstance(found, Vector):
            if id(found) not in self.seen:
                target, element = found.node
                frame = Frame(dict(found.frame.names), found.frame.function)
                self.assign(target, self.element(found.source), frame)
                self.seen[id(found)] = (found, self.held(element, frame))
            return self.seen[id(found)][1]
        raise AssertionError(found)

    seen: dict[int, tuple[Any, Any]]

    def part(self, node: ast.AST, place: int, of: int) -> Linear:
        """One of several numbers that an answer is."""
        if self.shared.arity not in (None, of) and not (self.shared.arity or 0) >= of > 1:
            raise Unreadable(node, f"an answer is {self.shared.arity} numbers in one place and {of} in another.")
        self.shared.arity = max(of, self.shared.arity or 0)
        return lin.name(f"{ANSWER}{place + 1}")

    # -- assignment

    def assign(self, target: ast.expr, found: Any, frame: Frame) -> None:
        """Binds names."""
        if isinstance(target, ast.Name):
            if isinstance(found, Noise):
                raise Unreadable(target, f"noise gets another name, {target.id}. Use the argument itself.")
            frame.names[target.id] = found
            frame.unkept.discard(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            for inner, value in zip(target.elts, self.taken_apart(target, found), strict=True):
                self.assign(inner, value, frame)
        else:
            raise Unreadable(target, f"{shown(target)} cannot be assigned to. Keep numbers under names of their own.")

    def taken_apart(self, target: ast.Tuple | ast.List, found: Any) -> list[Any]:
        """As many values as there are names."""
        wanted = len(target.elts)
        if isinstance(found, Unknown):
            return [UNKNOWN] * wanted
        if isinstance(found, Element):
            if wanted < 2:
                raise Unreadable(target, "an answer is taken apart into one number. Use the answer itself.")
            return [self.part(target, place, wanted) for place in range(wanted)]
        values = self.listed(target, found)
        if len(values) != wanted:
            raise Unreadable(target, f"{len(values)} values are bound to {wanted} names.")
        return values

    def number(self, node: ast.AST, found: Any) -> Linear:
        raise NotImplementedError

    def truth(self, node: ast.AST, found: Any) -> bool:
        raise NotImplementedError


def _in_order(found: Ranked, at: int) -> Place:
    """The noisy answer that comes at a place in their order, or where it is; of negative places from the end."""
    rank = at if at >= 0 else -1 - at
    return Place(found.of, 1 if found.descending == (at >= 0) else -1, not found.places, rank)


def kind_of(found: Any) -> str:
    """What a value is, for a message. Raises Followed for what could not be read, which is told of already."""
    if isinstance(found, Unknown):
        raise Followed
    if isinstance(found, Earlier):
        return "what an earlier loop over the answers left"
    if isinstance(found, Growing):
        return "a number that grows while the records are gone through"
    known = {
        Linear: "a number", int: "a number", Fraction: "a number", bool: "a truth", Element: "an answer", Derived: "a number",
        Place: "the greatest noisy answer", Ranked: "the noisy answers in order", Remaining: "the places that are left",
        RowNumber: "a number of a row", Counted: "enumerate",
        Zipped: "zip", Places: "the places of the answers", str: "a text",
        tuple: "a tuple", Items: "a list", Table: "a dict", Answers: "the list of answers",
        Vector: "a list of noisy answers",
        Filtered: "a list of some of the answers", Rows: "the list of records", RowNumbers: "a list of numbers of records",
        Noise: "noise", Row: "a record", Infinite: "infinity",
    }  # fmt: skip
    return "None" if found is None else known.get(type(found), f"a {type(found).__name__.lower()}")

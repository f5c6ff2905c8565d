"""What Python has for numbers and lists, called in a program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpverify.programs import linear as lin
from dpverify.programs.calls import Calls
from dpverify.programs.derived import derived
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.path import LENGTH, TOTAL, Frame
from dpverify.programs.structures import ENDLESS
from dpverify.programs.values import (
    UNKNOWN,
    Answers,
    Counted,
    Derived,
    Filtered,
    Infinite,
    Place,
    Places,
    Ranked,
    Remaining,
    RowNumber,
    RowNumbers,
    Rows,
    Table,
    Unknown,
    Vector,
    Zipped,
)


class Builtins(Calls):
    """Evaluates calls of what Python has."""

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
        if isinstance(found, Remaining) and "key" in keys:
            return self._of_the_rest(node, self._by_key(node, Places(), keys["key"], frame, sign), found.after)
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

    def _of_the_rest(self, node: ast.Call, found: Place, after: tuple[Place, ...]) -> Place:
        """The place of the greatest but for those before, which is the next in order where the noisy answers are the same."""
        same = [one for one in after if one.of is found.of]
        if not same:
            return replace(found, after=after)
        ranks = {one.rank for one in same}
        if len(same) < len(after) or ranks != set(range(len(same))) or any(one.sign != found.sign for one in same):
            raise Unreadable(
                node, f"{shown(node)}: of noisy answers the greatest may be left out, then the next, and so on, each once. Draw noise anew."
            )
        return replace(found, rank=len(ranks), after=after)

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
        if items and all(isinstance(each, Place) and not each.value for each in items) and not keys:
            return self.items(_any_of(items))
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

    def _some(self, node: ast.Call, frame: Frame, wanted: bool) -> Any:
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

    def some(self, node: ast.Call, source: Any, frame: Frame, wanted: bool) -> Any:
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

    def _builtin_bool(self, node: ast.Call, frame: Frame) -> Any:
        (found,) = self._plain_arguments(node, frame, 1, 1)
        return self.truth(node, found)

    def _builtin_print(self, node: ast.Call, frame: Frame) -> Any:
        raise Unreadable(node, "print tells something beside what the program returns. Yield it, or leave it out.")


def _any_of(places: list[Place]) -> list[Place]:
    """Places in an order of their own, of which each may be any: it tells of all that were selected."""
    return [replace(one, after=tuple(places)) for one in places]

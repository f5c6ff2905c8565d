"""Expressions of a program, as what they stand for on one way through."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.derived import derived
from dpverify.programs.faults import Followed, Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.module import constant_of, written_number
from dpverify.programs.path import ANSWER, CHOSEN, INDEX, KEPT, LENGTH, RECORDS, Again, Frame, Path, exact
from dpverify.programs.rounding import Computed, Rounded, has_data, require_same_way, require_short, require_sum
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
    Row,
    RowNumber,
    RowNumbers,
    Rows,
    Table,
    Unknown,
    Vector,
    Zipped,
    is_number,
)
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import PI, call, div, format_expr

NOTHING: Final = object()
MOST_POWER: Final = 1000
SMALLEST: Final = 1e-300
LARGEST: Final = 1e300
ENDLESS: Final = (Answers, Counted, Zipped, Places, Vector)
"""Lists as long as nobody knows."""
_COMPARED: Final = {ast.Gt: (1, True), ast.GtE: (1, False), ast.Lt: (-1, True), ast.LtE: (-1, False)}
_SIGNS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_BEYOND: Final = (ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)
"""What leads beyond sums."""
MOST_ITEMS: Final = 256


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


class Expressions(Path):
    """Evaluates expressions; calls are looked at by what is built upon it."""

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
        raise Unreadable(node, f"{shown(node)} is {_kind(found)}, and no list.")

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
        if isinstance(found, Answers | Vector):
            return self._at(node, found, place)
        if isinstance(found, Rows | RowNumbers):
            raise Unreadable(
                node,
                f"{shown(node)} reads one row by its place, and what it holds is one person's. Sum over the rows, and add noise: "
                "sum(min(max(row['pay'], 0), 100) for row in rows) + noise.laplace(100).",
            )
        if isinstance(found, Ranked):
            if not found.places and isinstance(place, int) and place in (0, -1):
                return Place(found.of, 1 if found.descending == (place == 0) else -1, value=True)
            if found.places and isinstance(place, int) and place in (0, -1):
                return Place(found.of, 1 if found.descending == (place == 0) else -1)
            raise Unreadable(node, f"{shown(node)}: of answers in order the first or the last alone can be told.")
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
            raise Unreadable(
                node, f"{shown(node)}: several of the greatest are told at once, for which there is no kind. Tell one, or compose several."
            )
        values = self.listed(node.value, found)[slice(*ends)]
        return tuple(values) if isinstance(found, tuple) else self.items(values)

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

    # -- numbers

    def number(self, node: ast.AST, found: Any) -> Linear:
        """A value as a number."""
        if isinstance(found, bool | int | Fraction):
            return lin.constant(exact(found))
        if isinstance(found, Linear):
            return found
        if isinstance(found, Element):
            if (self.shared.arity or 1) > 1:
                raise Unreadable(node, "an answer is a number here, and several numbers in another place.")
            self.shared.arity = 1
            return lin.name(f"{ANSWER}1")
        if isinstance(found, Place):
            raise Unreadable(node, "the greatest noisy answer, or its place, is computed with. It can be told, and nothing else.")
        if isinstance(found, Derived):
            raise Unreadable(node, "what is computed of noisy numbers in a way that is no sum is computed with here. It can be told.")
        if isinstance(found, RowNumber):
            raise Unreadable(node, "a number of a record meets one that is none. Sum over the records first.")
        raise Unreadable(node, f"{_kind(found)} stands where a number is needed.")

    def _unaryop(self, node: ast.UnaryOp, frame: Frame) -> Any:
        found = self.value(node.operand, frame)
        if isinstance(found, Unknown):
            return found
        if isinstance(found, Derived) and isinstance(node.op, ast.USub | ast.UAdd):
            return found
        if isinstance(found, RowNumber):
            sign = {ast.Not: "not ", ast.USub: "-", ast.UAdd: "+"}.get(type(node.op))
            if sign is None or (sign == "not ") != found.truth:
                raise Unreadable(node, f"{shown(node)} cannot be read of a record.")
            return RowNumber(f"{sign}({found.text})", found.truth)
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, found)
        if isinstance(found, Infinite):
            return Infinite(-found.sign) if isinstance(node.op, ast.USub) else found
        if isinstance(node.op, ast.Invert):
            raise Unreadable(node, "~ works on bits. Use not, or a minus sign.")
        number = self.number(node.operand, found)
        if type(found) is Fraction and found:  # a float with another sign is as exact
            return -found if isinstance(node.op, ast.USub) else found
        return self.plain(lin.scale(number, -1) if isinstance(node.op, ast.USub) else number, found)

    def plain(self, found: Linear, *of: Any) -> Any:
        """A number without names as Python has it: an int where it is computed from such, else a float, which is rounded."""
        if found.terms:
            return found if found.names else Computed(found.terms, found.constant)
        if of and all(isinstance(one, int) for one in of) and found.constant.denominator == 1:
            return int(found.constant)
        return Rounded(found.constant)

    def _binop(self, node: ast.BinOp, frame: Frame) -> Any:
        return self.combined(node, node.op, self.value(node.left, frame), self.value(node.right, frame))

    def combined(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        """Two values put together by an operator."""
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        if isinstance(left, RowNumber) or isinstance(right, RowNumber):
            return self._of_a_row(node, op, left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(op, ast.Add):
            return left + right
        if isinstance(left, Items) and isinstance(right, Items) and isinstance(op, ast.Add):
            return self.items([*self.listed(node, left), *self.listed(node, right)])
        if isinstance(left, Items) and isinstance(right, int) and isinstance(op, ast.Mult):
            held = self.listed(node, left)
            if len(held) * right > MOST_ITEMS:
                raise Unreadable(node, f"{_shown(node)} is a list of more than {MOST_ITEMS} items, too long to be followed.")
            return self.items(held * right)
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            raise Unreadable(node, "infinity is computed with. It can be compared, and nothing else.")
        if isinstance(left, Derived) or isinstance(right, Derived):
            return self._derived(node, op, left, right)
        a, b = self.number(node, left), self.number(node, right)
        if isinstance(op, ast.Add | ast.Sub):
            self.attach(a, b, 1 if isinstance(op, ast.Add) else -1)
        if isinstance(op, ast.Pow) and not b.terms and abs(b.constant) > MOST_POWER:
            raise Unreadable(node, f"{_shown(node)} has an exponent above {MOST_POWER}.")
        try:
            done = self._computed(node, op, left, right, a, b)
        except Unreadable:
            if not isinstance(op, _BEYOND) or derived(a, b) is None:
                raise
            return self._derived(node, op, a, b)
        require_short(node, done)
        if isinstance(done, Linear):
            require_sum(node, a, b, done)
        elif has_data(a) or has_data(b):
            raise Unreadable(node, f"{_shown(node)} takes away all that is in it: floats may leave something. Leave it out.")
        return done

    def _derived(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Derived:
        """What is computed of noisy numbers, beyond sums."""
        by = [one for one in (left, right) if is_number(one)]
        whole = len(by) == 1 and isinstance(op, ast.Mult | ast.Div) and not (isinstance(op, ast.Div) and by[0] is left)
        whole = whole and all(isinstance(one, Linear) or one.whole for one in (left, right) if not is_number(one))
        known = whole and (self._known(self.number(node, by[0]), True) or self._known(lin.scale(self.number(node, by[0]), -1), True))
        found = derived(left, right, whole=bool(known))
        if found is None or not isinstance(op, (*_BEYOND, ast.Add, ast.Sub)):
            raise Unreadable(node, f"{_shown(node)} puts what is computed of noisy numbers together with what is none. Add noise first.")
        return found

    def hangs_on(self, node: ast.AST, *values: Any) -> bool:
        """A comparison of what is computed of noisy sums over rows, which the program is told of: either way is followed."""
        found = derived(*values)
        if found is None or not all(any(name.startswith(RECORDS) for name in each.names) for each in found.of):
            raise Unreadable(
                node, f"{_shown(node)} compares what is computed of noisy numbers in a way that is no sum. It can be told, nothing else."
            )
        self.opaque += found.of
        return self.script.next()

    def _computed(self, node: ast.AST, op: ast.operator, left: Any, right: Any, a: Linear, b: Linear) -> Any:
        if isinstance(op, ast.Add):
            return self.plain(lin.plus(a, b), left, right)
        if isinstance(op, ast.Sub):
            return self.plain(lin.minus(a, b), left, right)
        if isinstance(op, ast.Mult):
            found = lin.times(a, b)
            if found is None:
                raise Unreadable(node, f"{_shown(node)} is a product of answers or noises with each other or with a parameter. {_AFFINE}")
            return self.plain(found, left, right)
        if isinstance(op, ast.Div):
            return self._quotient(node, a, b)
        if isinstance(op, ast.Pow):
            raised = lin.raised(a, b)
            if raised is None:
                raise Unreadable(node, f"{_shown(node)} is a power of an answer or a noise. {_AFFINE}")
            return self.plain(raised, left, right) if not b.terms and b.constant >= 0 else self.plain(raised)
        integers = isinstance(left, int) and isinstance(right, int)
        if isinstance(op, ast.FloorDiv | ast.Mod) and integers and not a.terms and not b.terms and b.constant:
            whole = a.constant // b.constant
            return self.plain(lin.constant(whole if isinstance(op, ast.FloorDiv) else a.constant - b.constant * whole), left, right)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            raise Unreadable(node, f"{_shown(node)} rounds: // and % are read of integers that are written out. {_AFFINE}")
        raise Unreadable(node, f"{_shown(node)} works on bits. {_AFFINE}")

    def _quotient(self, node: ast.AST, a: Linear, b: Linear) -> Any:
        if b.names:
            raise Unreadable(node, f"{_shown(node)} divides where not both numbers have noise. {_AFFINE} Add noise to each of both first.")
        if not b.terms:
            if not b.constant:
                raise Unreadable(node, f"{_shown(node)} divides by 0.")
            return self.plain(lin.scale(a, 1 / b.constant))
        if a.names:
            raise Unreadable(node, f"{_shown(node)} divides an answer or a noise by a parameter. {_AFFINE}")
        return self.plain(lin.expression(div(a.rest, b.rest)))

    def _of_a_row(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> RowNumber:
        if type(op) not in _SIGNS:
            raise Unreadable(node, f"{_shown(node)} rounds, or works on bits. Use + - * / ** min max abs.")
        return RowNumber(f"({self.row_text(node, left)}) {_SIGNS[type(op)]} ({self.row_text(node, right)})")

    def row_text(self, node: ast.AST, found: Any) -> str:
        """A number of a record, as text in its fields."""
        if isinstance(found, RowNumber):
            if found.truth:
                raise Unreadable(
                    node, f"{_shown(node)}: a truth of a record is computed with. Write it as a condition: sum(1 for row in rows if ...)."
                )
            return found.text
        number = self.number(node, found)
        if number.names:
            raise Unreadable(
                node, f"{_shown(node)}: a number of a record meets an answer or a noise. Sum over the records first, then add noise."
            )
        return format_expr(number.rest)

    # -- truths

    def truth(self, node: ast.AST, found: Any) -> bool:
        """Whether a value counts as true, on this way through."""
        if isinstance(found, Unknown):
            return self.script.next()
        if isinstance(found, Derived):
            return self.hangs_on(node, found)
        if isinstance(found, int | Fraction | Linear | Element | Place) and not isinstance(found, bool):
            self._same_way(node, found, 0)
        if isinstance(found, Linear):
            return not self.equal(node, found) if found.terms else bool(found.constant)
        if isinstance(found, Element | Place):
            return not self.equal(node, self.number(node, found))
        if isinstance(found, Items):
            return bool(self.listed(node, found))
        if isinstance(found, Answers):
            return True
        if isinstance(found, RowNumber):
            raise Unreadable(
                node,
                f"{_shown(node)} depends on one record. Say which records count: [row for row in rows if ...], and clip with min and max.",
            )
        if isinstance(found, bool | int | Fraction | str | tuple | range) or found is None:
            return bool(found)
        raise Unreadable(node, f"{_kind(found)} stands where a condition is needed.")

    def _boolop(self, node: ast.BoolOp, frame: Frame) -> Any:
        found: Any = NOTHING
        for each in node.values:
            found = self.value(each, frame)
            if isinstance(found, RowNumber):
                rest = [found, *(self.value(one, frame) for one in node.values[node.values.index(each) + 1 :])]
                if not all(isinstance(one, RowNumber) and one.truth for one in rest):
                    raise Unreadable(node, f"{shown(node)} puts a condition on a record together with something else. Write two ifs.")
                return RowNumber(f" {'and' if isinstance(node.op, ast.And) else 'or'} ".join(f"({one.text})" for one in rest), truth=True)
            if each is not node.values[-1] and self.truth(each, found) != isinstance(node.op, ast.And):
                return found
        return found

    def _compare(self, node: ast.Compare, frame: Frame) -> Any:
        left = self.value(node.left, frame)
        held: list[RowNumber] = []
        for number, (op, each) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.value(each, frame)
            found = self.compared(node, op, left, right)
            if isinstance(found, RowNumber):
                held.append(found)
            elif held and number < len(node.ops):
                raise Unreadable(node, f"{shown(node)} compares a record with what is none.")
            elif isinstance(found, Unknown):
                return found
            elif not found:
                return False
            left = right
        return RowNumber(" and ".join(f"({one.text})" for one in held), truth=True) if held else True

    def compared(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
        """One comparison."""
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        if isinstance(op, ast.Is | ast.IsNot):
            plain = (bool, type(None))
            if not (isinstance(left, plain) or isinstance(right, plain)):
                raise Unreadable(node, f"{_shown(node)}: whether two numbers are the same object is not known. Use ==.")
            same = left is right if isinstance(left, plain) and isinstance(right, plain) else False
            return same == isinstance(op, ast.Is)
        if isinstance(left, RowNumber) or isinstance(right, RowNumber):
            return self.row_compared(node, op, left, right)
        if isinstance(left, Derived) or (isinstance(right, Derived) and not isinstance(op, ast.In | ast.NotIn)):
            return self.hangs_on(node, left, right)
        if isinstance(op, ast.In | ast.NotIn):
            inside = self.listed(node, right)
            return any(self.compared(node, ast.Eq(), left, one) for one in inside) == isinstance(op, ast.In)
        if isinstance(op, ast.Eq | ast.NotEq):
            return self._same(node, left, right) == isinstance(op, ast.Eq)
        sign, strict = _COMPARED[type(op)]
        self._same_way(node, left, right)
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            a, b = (one.sign if isinstance(one, Infinite) else 0 for one in (left, right))
            return sign * (a - b) > 0 or (a == b and not strict)
        difference = lin.scale(lin.minus(self.number(node, left), self.number(node, right)), sign)
        if any(each == LENGTH for each in difference.names):
            return self._length(node, difference, strict)
        return self.decide(node, difference, strict)

    def _same_way(self, node: ast.AST, left: Any, right: Any) -> None:
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            return
        whole = frozenset(name for name, domain in self.shared.domains.items() if domain.integer)
        require_same_way(node, left, right, self.number(node, left), self.number(node, right), whole)

    def row_compared(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
        raise NotImplementedError

    def _same(self, node: ast.AST, left: Any, right: Any) -> bool:
        others = (str, type(None), tuple, Items, Infinite)
        known = (*others, bool, int, Fraction, Linear, Element, Place, RowNumber)
        for one in (left, right):
            if not isinstance(one, known):
                raise Unreadable(node, f"{_shown(node)} compares {_kind(one)}, of which nobody knows what is in it. Compare its numbers.")
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Items | tuple) and isinstance(other, Linear | Element | Place):
                raise Unreadable(node, f"{_shown(node)} compares a list with a number of the data. Compare numbers.")
        if isinstance(left, others) or isinstance(right, others):
            if isinstance(left, Items | tuple) and isinstance(right, Items | tuple):
                a, b = self.listed(node, left), self.listed(node, right)
                return type(left) is type(right) and len(a) == len(b) and all(self._same(node, x, y) for x, y in zip(a, b, strict=True))
            return type(left) is type(right) and bool(left == right)
        self._same_way(node, left, right)
        difference = lin.minus(self.number(node, left), self.number(node, right))
        if LENGTH in difference.names:
            return self._length(node, difference, strict=False, equal=True)
        return self.equal(node, difference) if difference.terms else not difference.constant

    more: bool = True
    """Whether there is another answer in this step."""

    def _length(self, node: ast.AST, difference: Linear, strict: bool, equal: bool = False) -> bool:
        """A comparison with how many answers there are: whether there is one for this step, or any at all, which there is."""
        sign = difference.of[LENGTH]
        other = lin.scale(lin.minus(difference, lin.scale(lin.name(LENGTH), sign)), -1 / sign)
        above = sign > 0
        at = other.names[0] if len(other.names) == 1 else ""
        if (at == INDEX or at.startswith(KEPT)) and other == lin.name(at) and self.where.part != "begin":
            if at != INDEX:
                self.shared.indices.add(at)
            if equal:
                return not self.more
            return (self.more if strict else True) if above else (False if strict else not self.more)
        if not other.terms and (other.constant < 1 or (other.constant == 1 and not equal and strict != above)):
            return above and not equal
        return self._far(node)

    def _far(self, node: ast.AST) -> bool:
        raise Unreadable(node, f"{_shown(node)}: how many answers there are is compared with something else than the number of this step. "
                         "Say how many there are: dp.program(answers=10).")  # fmt: skip

    def _ifexp(self, node: ast.IfExp, frame: Frame) -> Any:
        return self.value(node.body if self.truth(node.test, self.value(node.test, frame)) else node.orelse, frame)

    def public(self, name: str, node: ast.AST, values: list[Any]) -> Any:
        """A function of parameters: log, exp, sqrt."""
        if any(isinstance(each, Derived) for each in values) and (found := derived(*values)) is not None:
            return found
        numbers = [self.number(node, each) for each in values]
        if any(each.names for each in numbers) and (found := derived(*values)) is not None:
            return found
        if any(each.names for each in numbers):
            raise Unreadable(node, f"{_shown(node)} is a function of answers or noises. {_AFFINE}")
        try:
            return self.plain(lin.expression(call(name, *(each.rest for each in numbers))))
        except ExprError as error:
            raise Unreadable(node, f"{_shown(node)}: {error}") from error


_AFFINE: Final = "Programs compare and tell sums of rational multiples of answers and noises."


def _shown(node: ast.AST) -> str:
    return shown(node)


def _kind(found: Any) -> str:
    if isinstance(found, Unknown):
        raise Followed
    if isinstance(found, Earlier):
        return "what an earlier loop over the answers left"
    if isinstance(found, Growing):
        return "a number that grows while the records are gone through"
    known = {
        Linear: "a number", int: "a number", Fraction: "a number", bool: "a truth", Element: "an answer", Derived: "a number",
        Place: "the greatest noisy answer", Ranked: "the noisy answers in order", RowNumber: "a number of a row", Counted: "enumerate",
        Zipped: "zip", Places: "the places of the answers", str: "a text",
        tuple: "a tuple", Items: "a list", Table: "a dict", Answers: "the list of answers",
        Vector: "a list of noisy answers",
        Filtered: "a list of some of the answers", Rows: "the list of records", RowNumbers: "a list of numbers of records",
        Noise: "noise", Row: "a record", Infinite: "infinity",
    }  # fmt: skip
    return "None" if found is None else known.get(type(found), f"a {type(found).__name__.lower()}")

"""Numbers of a program: what is computed of them on one way through."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.derived import derived
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.path import ANSWER, RECORDS, Frame, exact
from dpverify.programs.rounding import MOST, Computed, Rounded, has_data, require_digits, require_room, require_short, require_sum
from dpverify.programs.structures import MOST_ITEMS, Structures, kind_of
from dpverify.programs.values import (
    UNKNOWN,
    Derived,
    Element,
    Infinite,
    Items,
    Place,
    RowNumber,
    Unknown,
    is_number,
)
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import call, div, format_expr

MOST_POWER: Final = 1000
_SIGNS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_BEYOND: Final = (ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)
"""What leads beyond sums."""
_AFFINE: Final = "Programs compare and tell sums of rational multiples of answers and noises."


class Arithmetic(Structures):
    """Evaluates what is computed."""

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
        raise Unreadable(node, f"{kind_of(found)} stands where a number is needed.")

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
                raise Unreadable(node, f"{shown(node)} is a list of more than {MOST_ITEMS} items, too long to be followed.")
            return self.items(held * right)
        if isinstance(left, Infinite) or isinstance(right, Infinite):
            raise Unreadable(node, "infinity is computed with. It can be compared, and nothing else.")
        if isinstance(left, Derived) or isinstance(right, Derived):
            return self._derived(node, op, left, right)
        if isinstance(op, ast.Sub) and isinstance(left, Place) and isinstance(right, Place) and _leads(left, right):
            return replace(left, lead=True)
        a, b = self.number(node, left), self.number(node, right)
        if isinstance(op, ast.Add | ast.Sub):
            self.attach(a, b, 1 if isinstance(op, ast.Add) else -1)
        if isinstance(op, ast.Pow) and not b.terms and abs(b.constant) > MOST_POWER:
            raise Unreadable(node, f"{shown(node)} has an exponent above {MOST_POWER}.")
        try:
            done = self._computed(node, op, left, right, a, b)
        except Unreadable:
            if not isinstance(op, _BEYOND) or derived(a, b) is None:
                raise
            return self._derived(node, op, a, b)
        require_short(node, done)
        if isinstance(op, ast.Add | ast.Sub):
            require_digits(node, left, right, a, b, done if isinstance(done, Linear) else lin.constant(done))
        if isinstance(done, Linear):
            require_sum(node, a, b, done)
        elif has_data(a) or has_data(b):
            raise Unreadable(node, f"{shown(node)} takes away all that is in it: floats may leave something. Leave it out.")
        return done

    def _derived(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Derived:
        """What is computed of noisy numbers, beyond sums."""
        by = [one for one in (left, right) if is_number(one)]
        whole = len(by) == 1 and isinstance(op, ast.Mult | ast.Div) and not (isinstance(op, ast.Div) and by[0] is left)
        whole = whole and all(isinstance(one, Linear) or one.whole for one in (left, right) if not is_number(one))
        known = whole and (self._known(self.number(node, by[0]), True) or self._known(lin.scale(self.number(node, by[0]), -1), True))
        found = derived(left, right, whole=bool(known))
        if found is None or not isinstance(op, (*_BEYOND, ast.Add, ast.Sub)):
            raise Unreadable(node, f"{shown(node)} puts what is computed of noisy numbers together with what is none. Add noise first.")
        return found

    def hangs_on(self, node: ast.AST, *values: Any) -> bool:
        """A comparison of what is computed of noisy sums over rows, which the program is told of: either way is followed."""
        found = derived(*values)
        if found is None or not all(any(name.startswith(RECORDS) for name in each.names) for each in found.of):
            raise Unreadable(
                node, f"{shown(node)} compares what is computed of noisy numbers in a way that is no sum. It can be told, nothing else."
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
                raise Unreadable(node, f"{shown(node)} is a product of answers or noises with each other or with a parameter. {_AFFINE}")
            return self.plain(found, left, right)
        if isinstance(op, ast.Div):
            return self._quotient(node, a, b)
        if isinstance(op, ast.Pow):
            raised = lin.raised(a, b)
            if raised is None:
                raise Unreadable(node, f"{shown(node)} is a power of an answer or a noise. {_AFFINE}")
            return self.plain(raised, left, right) if not b.terms and b.constant >= 0 else self.plain(raised)
        integers = isinstance(left, int) and isinstance(right, int)
        if isinstance(op, ast.FloorDiv | ast.Mod) and integers and not a.terms and not b.terms and b.constant:
            whole = a.constant // b.constant
            return self.plain(lin.constant(whole if isinstance(op, ast.FloorDiv) else a.constant - b.constant * whole), left, right)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            raise Unreadable(node, f"{shown(node)} rounds: // and % are read of integers that are written out. {_AFFINE}")
        raise Unreadable(node, f"{shown(node)} works on bits. {_AFFINE}")

    def _quotient(self, node: ast.AST, a: Linear, b: Linear) -> Any:
        if b.names:
            raise Unreadable(node, f"{shown(node)} divides where not both numbers have noise. {_AFFINE} Add noise to each of both first.")
        if not b.terms:
            if not b.constant:
                raise Unreadable(node, f"{shown(node)} divides by 0.")
            return self.plain(lin.scale(a, 1 / b.constant))
        if a.names:
            raise Unreadable(node, f"{shown(node)} divides an answer or a noise by a parameter. {_AFFINE}")
        return self.plain(lin.expression(div(a.rest, b.rest)))

    def _of_a_row(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> RowNumber:
        if type(op) not in _SIGNS:
            raise Unreadable(node, f"{shown(node)} rounds, or works on bits. Use + - * / ** min max abs.")
        public = [each for each in (left, right) if isinstance(each, int | Fraction)]
        if isinstance(op, ast.Add | ast.Sub) and any(abs(Fraction(each)) > MOST for each in public):
            raise Unreadable(node, f"{shown(node)} puts a number of a row beside one so large that floats lose it.")
        return RowNumber(f"({self.row_text(node, left)}) {_SIGNS[type(op)]} ({self.row_text(node, right)})")

    def row_text(self, node: ast.AST, found: Any) -> str:
        """A number of a record, as text in its fields."""
        if isinstance(found, RowNumber):
            if found.truth:
                raise Unreadable(
                    node, f"{shown(node)}: a truth of a record is computed with. Write it as a condition: sum(1 for row in rows if ...)."
                )
            return found.text
        number = self.number(node, found)
        if number.names:
            raise Unreadable(
                node, f"{shown(node)}: a number of a record meets an answer or a noise. Sum over the records first, then add noise."
            )
        return format_expr(number.rest)

    def public(self, name: str, node: ast.AST, values: list[Any]) -> Any:
        """A function of parameters: log, exp, sqrt."""
        if any(isinstance(each, Derived) for each in values) and (found := derived(*values)) is not None:
            return found
        numbers = [self.number(node, each) for each in values]
        if any(each.names for each in numbers) and (found := derived(*values)) is not None:
            return found
        if any(each.names for each in numbers):
            raise Unreadable(node, f"{shown(node)} is a function of answers or noises. {_AFFINE}")
        require_room(node, name, numbers)
        try:
            return self.plain(lin.expression(call(name, *(each.rest for each in numbers))))
        except ExprError as error:
            raise Unreadable(node, f"{shown(node)}: {error}") from error


def _leads(first: Place, second: Place) -> bool:
    """Whether two noisy answers are the greatest and the next one, or the least and the next one, of one list."""
    same = first.of is second.of and first.sign == second.sign and first.value and second.value
    return same and (first.rank, second.rank) == (0, 1) and not (first.after or second.after or first.lead or second.lead)

"""Truths in a program: what is compared on one way through."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.arithmetic import Arithmetic
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.path import INDEX, KEPT, LENGTH, Frame
from dpverify.programs.rounding import require_same_way
from dpverify.programs.structures import NOTHING, kind_of
from dpverify.programs.values import (
    UNKNOWN,
    Answers,
    Derived,
    Earlier,
    Element,
    Infinite,
    Items,
    Place,
    RowNumber,
    Unknown,
)

_COMPARED: Final = {ast.Gt: (1, True), ast.GtE: (1, False), ast.Lt: (-1, True), ast.LtE: (-1, False)}


class Comparisons(Arithmetic):
    """Evaluates conditions."""

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
                f"{shown(node)} depends on one record. Say which records count: [row for row in rows if ...], and clip with min and max.",
            )
        if isinstance(found, bool | int | Fraction | str | tuple | range) or found is None:
            return bool(found)
        raise Unreadable(node, f"{kind_of(found)} stands where a condition is needed.")

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
        if isinstance(left, Earlier) or isinstance(right, Earlier):
            raise Unreadable(node, f"{shown(node)} compares what an earlier loop over the answers left. Write two programs.")
        if isinstance(op, ast.Is | ast.IsNot):
            plain = (bool, type(None))
            if not (isinstance(left, plain) or isinstance(right, plain)):
                raise Unreadable(node, f"{shown(node)}: whether two numbers are the same object is not known. Use ==.")
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
                raise Unreadable(node, f"{shown(node)} compares {kind_of(one)}, of which nobody knows what is in it. Compare its numbers.")
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Items | tuple) and isinstance(other, Linear | Element | Place):
                raise Unreadable(node, f"{shown(node)} compares a list with a number of the data. Compare numbers.")
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
        raise Unreadable(node, f"{shown(node)}: how many answers there are is compared with something else than the number of this step. "
                         "Say how many there are: dp.program(answers=10).")  # fmt: skip

    def _ifexp(self, node: ast.IfExp, frame: Frame) -> Any:
        return self.value(node.body if self.truth(node.test, self.value(node.test, frame)) else node.orelse, frame)

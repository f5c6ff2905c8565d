"""What a program says of one record, as text in its fields, and of all of them: sums."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.builtins import Builtins
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.linear import Linear
from dpverify.programs.path import Frame
from dpverify.programs.rounding import Rounded
from dpverify.programs.values import Growing, Row, RowNumber, RowNumbers, Rows

_SIGNS: Final = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
NUMBER: Final = "number"
WORD: Final = "word"


class OverRecords(Builtins):
    """Evaluates what is said of records."""

    def field(self, node: ast.Subscript, frame: Frame) -> RowNumber:
        """A field of a record."""
        name = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(name, str):
            raise Unreadable(node, f"{shown(node)}: the name of a field is a text that is written out.")
        if not name.isidentifier() or not name.isascii():
            raise Unreadable(node, f"{shown(node)}: the field has a name that claim files cannot have. Use letters, digits and _.")
        self.shared.fields.setdefault(name, "")
        return RowNumber(name)

    def _used_as(self, node: ast.AST, name: str, what: str) -> None:
        before = self.shared.fields.get(name, "")
        if before not in ("", what):
            raise Unreadable(node, f"the field {name} is compared with texts in one place and with numbers in another.")
        self.shared.fields[name] = what

    def row_text(self, node: ast.AST, found: Any) -> str:
        text = super().row_text(node, found)
        if isinstance(found, RowNumber) and text in self.shared.fields:
            self._used_as(node, text, NUMBER)
        return text

    def row_compared(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> RowNumber:
        """A condition on one record."""
        if isinstance(op, ast.In | ast.NotIn):
            each = [self.row_compared(node, ast.Eq(), left, one).text for one in self.listed(node, right)]
            text = " or ".join(f"({one})" for one in each) or "0 > 1"
            return RowNumber(f"not ({text})" if isinstance(op, ast.NotIn) else text, truth=True)
        for a, b in ((left, right), (right, left)):
            if isinstance(b, str) and isinstance(a, RowNumber) and a.text in self.shared.fields and isinstance(op, ast.Eq | ast.NotEq):
                self._used_as(node, a.text, WORD)
                code = self.shared.codes.setdefault((a.text, b), 1 + sum(name == a.text for name, _ in self.shared.codes))
                return RowNumber(f"{a.text} {_SIGNS[type(op)]} {code}", truth=True)
        if type(op) not in _SIGNS or left is None or right is None or isinstance(left, str) or isinstance(right, str):
            raise Unreadable(node, f"{shown(node)} is no comparison of numbers of a record. Use >=, >, <=, <, == or !=.")
        texts = [self.row_text(node, each) for each in (left, right)]
        if isinstance(left, Rounded) or isinstance(right, Rounded) or not all(map(self._is_exact, texts)):
            raise Unreadable(
                node, f"{shown(node)} compares what is computed of a record, which floats round: two conditions that leave each other out "
                'may both hold. Compare the field with a number, or say that it is an integer: record={"age": "integer"}.'
            )  # fmt: skip
        return RowNumber(f"{texts[0]} {_SIGNS[type(op)]} {texts[1]}", truth=True)

    def _is_exact(self, text: str) -> bool:
        """Whether floats compute a number of a record as it is: no sum or product, or one of integers."""
        for node in ast.walk(ast.parse(text, mode="eval")):
            inside = list(ast.walk(node))
            if isinstance(node, ast.BinOp) and any(isinstance(each, ast.Name) for each in inside):  # 3/10 is one number, as 0.3 is
                if any(isinstance(each, ast.Div | ast.Pow) for each in inside):
                    return False
                if any(isinstance(each, ast.Constant) and not isinstance(each.value, int) for each in inside):
                    return False
                if any(isinstance(each, ast.Name) and each.id not in (*self.shared.whole, "min", "max", "abs") for each in inside):
                    return False
        return True

    def of_records(self, node: ast.ListComp | ast.GeneratorExp, source: Rows | RowNumbers, frame: Frame) -> Rows | RowNumbers:
        """Some of the records, or a number of each of some."""
        if len(node.generators) > 1:
            raise Unreadable(node, f"{shown(node)} pairs records with each other, or with something else. One `for row in rows` is read.")
        (generator,) = node.generators
        inner = Frame(dict(frame.names), frame.function, frame.unkept)
        if not isinstance(generator.target, ast.Name):
            raise Unreadable(generator.target, 'a record is a dict: write `for row in rows` and row["field"].')
        inner.names[generator.target.id] = Row() if isinstance(source, Rows) else RowNumber(source.text)
        inner.unkept.discard(generator.target.id)
        where = list(source.where)
        for condition in generator.ifs:
            found = self.value(condition, inner)
            if isinstance(found, RowNumber) and found.truth:
                where.append(found.text)
            elif isinstance(found, bool):
                where += [] if found else ["0 > 1"]
            else:
                raise Unreadable(condition, f'{shown(condition)} is no condition on one record. Write comparisons: row["age"] >= 18.')
        found = self.value(node.elt, inner)
        if isinstance(found, Row):
            return Rows(tuple(where))
        if isinstance(found, RowNumber) and found.truth:  # True counts as 1
            return RowNumbers("1", (*where, found.text))
        return RowNumbers(self.row_text(node.elt, found), tuple(where))

    # -- loops over records

    def go_through(self, node: ast.For, source: Rows | RowNumbers, frame: Frame) -> None:
        """A loop over records, which adds to numbers that were there before."""
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise Unreadable(node, "a loop over records is `for row in rows`, without else.")
        inner = Frame(dict(frame.names), frame.function, set(frame.unkept))
        grown = [each.target.id for each in ast.walk(node) if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)]
        inner.names |= {name: Growing() for name in grown if isinstance(inner.names.get(name), int | Fraction | Linear)}
        inner.names[node.target.id] = Row() if isinstance(source, Rows) else RowNumber(source.text)
        changed: dict[str, Linear] = {}
        own: set[str] = {node.target.id}
        self._each_row(node.body, inner, list(source.where), changed, own)
        for name, added in changed.items():
            before = self.number(node, frame.names[name])
            self.attach(before, added, 1)
            frame.names[name] = lin.plus(before, added)
        for name in own:
            frame.names.pop(name, None)

    def _each_row(
        self, body: list[ast.stmt], frame: Frame, where: list[str], changed: dict[str, Linear], own: set[str]
    ) -> list[str] | None:
        """Follows what is done with one record. Gives the condition under which what comes after is done, None for never."""
        where = list(where)
        for statement in body:
            self.spent(statement)
            if isinstance(statement, ast.Continue):
                return None
            if isinstance(statement, ast.Pass):
                continue
            if (
                isinstance(statement, ast.AugAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(statement.op, ast.Add | ast.Sub)
            ):
                self._added(statement, statement.target.id, frame, where, changed, own)
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                if name in frame.names and name not in own:
                    raise Unreadable(
                        statement, f"{name} is set anew for each record. In a loop over records numbers are added to: {name} += ..."
                    )
                if len(where) and name in own:
                    raise Unreadable(statement, f"{name} is set twice, under conditions on a record. Write the number with min and max.")
                found = self.value(statement.value, frame)
                if not isinstance(found, RowNumber):
                    raise Unreadable(statement, f"{name} is no number of the record. Assign it before the loop.")
                own.add(name)
                frame.names[name] = found
            elif isinstance(statement, ast.If):
                left = self._branches(statement, frame, where, changed, own)
                if left is None:
                    return None
                where = left
            else:
                raise Unreadable(
                    statement, f"{shown(statement)} stands in a loop over records, which adds to numbers: if, continue and += are read."
                )
        return where

    def _branches(
        self, node: ast.If, frame: Frame, where: list[str], changed: dict[str, Linear], own: set[str]
    ) -> list[str] | None:  # fmt: skip
        found = self.value(node.test, frame)
        if isinstance(found, bool):
            return self._each_row(node.body if found else node.orelse, frame, where, changed, own)
        if not isinstance(found, RowNumber) or not found.truth:
            raise Unreadable(node.test, f"{shown(node.test)} is no condition on one record, and stands in a loop over records.")
        known = set(own)
        holds, fails = [*where, found.text], [*where, f"not ({found.text})"]
        after = self._each_row(node.body, frame, holds, changed, own)
        for name in own - known:
            frame.names.pop(name, None)
        own &= known
        other = self._each_row(node.orelse, frame, fails, changed, own)
        for name in own - known:
            frame.names.pop(name, None)
        own &= known
        if after is None or other is None:
            return other if after is None else after
        if after == holds and other == fails:
            return where
        return [*where, f"({_all(after[len(where) :])}) or ({_all(other[len(where) :])})"]

    def _added(
        self, node: ast.AugAssign, name: str, frame: Frame, where: list[str], changed: dict[str, Linear], own: set[str]
    ) -> None:  # fmt: skip
        if name in own or not isinstance(frame.names.get(name), Growing):
            raise Unreadable(node, f"{name} is no number that was there before the loop. Write {name} = 0 before it.")
        value = node.value
        found = self.value(value, frame)
        if isinstance(found, RowNumber) and found.truth:
            added = self.over_records("1", [*where, found.text])
        else:
            added = self.over_records(self.row_text(value, found), where)
        sign = -1 if isinstance(node.op, ast.Sub) else 1
        changed[name] = lin.plus(changed.get(name, lin.constant(0)), added, sign)


def _all(conditions: list[str]) -> str:
    return " and ".join(f"({one})" for one in conditions) or "0 <= 1"

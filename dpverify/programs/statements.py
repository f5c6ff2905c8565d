"""Statements of a program, followed on one way through; the loop over all answers once around, or from where they end."""

from __future__ import annotations

import ast
import contextlib
from fractions import Fraction
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.calls import Returned
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.path import KEPT, AtLoop, Frame, Script, Shared, StepDone, Where
from dpverify.programs.searches import NUMBER_KEPT, Searches, endless
from dpverify.programs.values import UNKNOWN, Answers, Earlier, Filtered, Items, RowNumbers, Rows, Unknown, Vector

_BEFORE: Final = "a list that the loop appends to holds a noisy number before it. Tell that in a program of its own."


class Break(Exception):
    """Out of the loop that is followed."""


class Continue(Exception):
    """On to the next round of the loop that is followed."""


class Follower(Searches):
    """Follows statements."""

    def __init__(self, shared: Shared, where: Where, script: Script) -> None:
        super().__init__(shared, where, script)
        self.seen = {}

    def run(self, body: list[ast.stmt], frame: Frame) -> None:
        """Follows statements one after the other."""
        for statement in body:
            self.spent(statement)
            found = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if found is None:
                raise Unreadable(
                    statement, f"{shown(statement)} cannot be read: {type(statement).__name__} is no part of what programs are written in."
                )
            try:
                found(statement, frame)
            except Unreadable as error:
                self.noted(error)
                self._left_out(statement, frame)

    def _left_out(self, node: ast.stmt, frame: Frame) -> None:
        """Goes on after a statement that could not be read, as far as there is something to be seen: what it binds is not known."""
        for name in {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}:
            frame.names[name] = UNKNOWN
            frame.unkept.discard(name)
        if isinstance(node, ast.Return):
            raise Returned(UNKNOWN)
        if isinstance(node, ast.For | ast.While | ast.Match) and not self.in_loop and self.where.part == "begin":
            blocks = [case.body for case in node.cases] if isinstance(node, ast.Match) else [node.body, node.orelse]
            for block in blocks:
                with contextlib.suppress(Break, Continue, Returned, AtLoop):
                    self.run(block, frame)

    def _do_pass(self, node: ast.Pass, frame: Frame) -> None:
        pass

    def _do_expr(self, node: ast.Expr, frame: Frame) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value, frame)

    def _do_return(self, node: ast.Return, frame: Frame) -> None:
        found = None if node.value is None else self.held(node.value, frame)
        if not self.depth:
            self.tellable(node, found)
        raise Returned(found)

    def _do_break(self, node: ast.Break, frame: Frame) -> None:
        raise Break

    def _do_continue(self, node: ast.Continue, frame: Frame) -> None:
        raise Continue

    def _do_assign(self, node: ast.Assign, frame: Frame) -> None:
        found = self.value(node.value, frame)
        for target in node.targets:
            self.assign(target, found, frame)

    def _do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, frame), frame)

    def _do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        if not isinstance(node.target, ast.Name):
            raise Unreadable(node, f"{shown(node.target)} is written. Keep numbers under names of their own.")
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        before, after = self.value(name, frame), self.value(node.value, frame)
        if isinstance(before, Items) and isinstance(node.op, ast.Add):  # a list grows in its place
            for item in list(self.listed(node.value, after)):
                self.append(node, before, item)
            return
        self.assign(node.target, self.combined(node, node.op, before, after), frame)

    def _do_if(self, node: ast.If, frame: Frame) -> None:
        try:
            holds = self.truth(node.test, self.value(node.test, frame))
        except Unreadable as error:
            self.noted(error)
            holds = self.script.next()
        self.run(node.body if holds else node.orelse, frame)

    def _do_match(self, node: ast.Match, frame: Frame) -> None:
        subject = self.value(node.subject, frame)
        for case in node.cases:
            if self._matches(case.pattern, subject, frame) and (
                case.guard is None or self.truth(case.guard, self.value(case.guard, frame))
            ):
                self.run(case.body, frame)
                return

    def _matches(self, pattern: ast.pattern, subject: Any, frame: Frame) -> bool:
        if isinstance(subject, Unknown):
            return self.script.next()
        if isinstance(subject, Earlier):
            raise Unreadable(pattern, "what an earlier loop over the answers left is compared. Write two programs.")
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None and not self._matches(pattern.pattern, subject, frame):
                return False
            if pattern.name is not None:
                self.assign(ast.copy_location(ast.Name(pattern.name, ast.Store()), pattern), subject, frame)
            return True
        if isinstance(pattern, ast.MatchSingleton):
            return subject is pattern.value
        if isinstance(pattern, ast.MatchValue):
            return bool(self.compared(pattern, ast.Eq(), subject, self.value(pattern.value, frame)))
        if isinstance(pattern, ast.MatchOr):
            return any(self._matches(each, subject, frame) for each in pattern.patterns)
        if isinstance(pattern, ast.MatchSequence) and isinstance(subject, tuple | Items):
            items = self.listed(pattern, subject)
            same = len(items) == len(pattern.patterns)
            return same and all(self._matches(each, item, frame) for each, item in zip(pattern.patterns, items, strict=True))
        raise Unreadable(pattern, f"{shown(pattern)} is a pattern that is not read. Match constants, tuples and names, or write if.")

    # -- loops

    def _do_for(self, node: ast.For, frame: Frame) -> None:
        source = self.value(node.iter, frame)
        if isinstance(source, Rows | RowNumbers):
            self.go_through(node, source, frame)
        elif endless(source):
            self._over_answers(node, source, frame)
        else:
            items = list(self.listed(node.iter, source))
            with self.going_through(node.iter, frame):
                for item in items:
                    self.assign(node.target, item, frame)
                    try:
                        self.run(node.body, frame)
                    except Break:
                        return
                    except Continue:
                        continue
            self.run(node.orelse, frame)

    def _do_while(self, node: ast.While, frame: Frame) -> None:
        if self._meets_answers(node, frame):
            self._over_answers(node, None, frame)
            return
        while self.truth(node.test, test := self.value(node.test, frame)):
            self.spent(node)
            if isinstance(test, Unknown):
                break
            try:
                self.run(node.body, frame)
            except Break:
                return
            except Continue:
                continue
        self.run(node.orelse, frame)

    def _meets_answers(self, node: ast.While, frame: Frame) -> bool:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        return any(isinstance(frame.names.get(name), Answers | Vector | Filtered) for name in names)

    def _over_answers(self, node: ast.For | ast.While, source: Any, frame: Frame) -> None:
        """The loop over all answers."""
        if self.in_loop:
            raise Unreadable(node, "a loop over all answers in each step of another. A program reads each answer once.")
        if self.is_another(node, frame):
            return
        self.loop = node
        if self.where.part == "begin":
            raise AtLoop(node, dict(frame.names))
        self._put_in(node, frame)
        self.falling = falling(node)
        self.before = list(self.events)
        self.in_loop = True
        ended = False
        if self.where.part == "finish":
            self.more = False
            ended = self._finished(node, frame)
        else:
            ended = self._once_around(node, source, frame)
        self.in_loop, self.after_loop = False, True
        if ended:
            self.run(node.orelse, frame)

    def _once_around(self, node: ast.For | ast.While, source: Any, frame: Frame) -> bool:
        """Whether the loop ends by its condition; by break, it does not. Raises StepDone where it goes on."""
        if isinstance(node, ast.While) and not self.truth(node.test, self.value(node.test, frame)):
            return True
        if isinstance(node, ast.For):
            passes, found = self.passing(source)
            if not passes:
                raise StepDone(dict(frame.names))
            self.assign(node.target, found, frame)
        try:
            self.run(node.body, frame)
        except Break:
            return False
        except Continue:
            pass
        raise StepDone(dict(frame.names))

    def _finished(self, node: ast.For | ast.While, frame: Frame) -> bool:
        """What is done where the answers end."""
        if isinstance(node, ast.For):
            return True
        if not self.truth(node.test, self.value(node.test, frame)):
            return True
        try:
            self.run(node.body, frame)
        except Break:
            return False
        except Continue:
            pass
        raise Unreadable(
            node, "the loop goes on where the answers end. Its condition is to ask whether there is another: while i < len(answers)."
        )

    def _put_in(self, node: ast.For | ast.While, frame: Frame) -> None:
        """What is kept from step to step, under its names; what a step sets before it is read has none."""
        for name in assigned(node):
            if isinstance(frame.names.get(name), Items) and name not in rebound(node):
                continue  # += lets a list grow in its place
            if name not in self.where.tracked:
                frame.unkept.add(name)
                frame.names.pop(name, None)
                continue
            frame.names.pop(name, None)
            if name in self.where.location:
                frame.names[name] = put_in(self.where.location[name], name)
        for found in frame.names.values():
            self.opened(found)

    def opened(self, found: Any) -> None:
        """Marks the lists that the loop appends to."""
        if isinstance(found, Items):
            found.told = found.told or found.number in self.where.told
            if found.told and not all(isinstance(each, bool | int | Fraction | str) or each is None for each in found.held):
                raise Unreadable(self.loop or ast.Pass(), _BEFORE)
        for each in found if isinstance(found, tuple) else found.held if isinstance(found, Items) else ():
            self.opened(each)


def put_in(kept: Any, name: str) -> Any:
    """What a name stands for at the head of the loop: a constant, or a number under its own name; of tuples, element by element."""
    if kept is NUMBER_KEPT:
        return lin.name(f"{KEPT}{name}")
    if isinstance(kept, tuple):
        return tuple(put_in(each, f"{name}_{number}") for number, each in enumerate(kept))
    return kept


def assigned(node: ast.For | ast.While) -> list[str]:
    """The names that a loop binds."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    found |= {each.name for each in ast.walk(node) if isinstance(each, ast.MatchAs) and each.name}
    return sorted(found)


def rebound(node: ast.For | ast.While) -> frozenset[str]:
    """The names that a loop binds by anything but +=."""
    grown = {id(each.target) for each in ast.walk(node) if isinstance(each, ast.AugAssign)}
    return frozenset(
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and id(each) not in grown
    )


def falling(node: ast.For | ast.While) -> frozenset[str]:
    """The names from which a loop only takes away."""
    downward: set[str] = set()
    other: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            (downward if isinstance(each.op, ast.Sub) else other).add(each.target.id)
        elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            name, value = each.targets[0].id, each.value
            less = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) and ast.unparse(value.left) == name
            (downward if less else other).add(name)
    return frozenset(downward - other)


def counted(node: ast.AST) -> frozenset[str]:
    """The names to which a loop adds, or which it puts together from themselves: numbers that may be anything."""
    found = {each.target.id for each in ast.walk(node) if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            inside = [one for one in ast.walk(each.value) if isinstance(one, ast.BinOp)]
            if any(isinstance(one, ast.Name) and one.id == each.targets[0].id for part in inside for one in ast.walk(part)):
                found.add(each.targets[0].id)
    return frozenset(found)

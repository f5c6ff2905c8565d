"""Expressions that go through all answers: whether any is above, the first that is, how many are. They are loops in one expression."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from dpverify.programs import linear as lin
from dpverify.programs.faults import Unreadable, shown
from dpverify.programs.path import KEPT, SEARCHED, Again, AtLoop, Frame, NextLoop, StepDone
from dpverify.programs.rows import OverRecords
from dpverify.programs.structures import ENDLESS
from dpverify.programs.values import GIVEN, Earlier, Filtered, Items, Vector

COUNT: Final = "the count"
"""What is counted, among what is kept: no name has a space."""
GOES_ON: Final = object()
"""Where an answer does not decide."""
NUMBER_KEPT: Final = "a number that is kept"


class Searches(OverRecords):
    """Evaluates what goes through all answers."""

    def some(self, node: ast.Call, source: Any, frame: Frame, wanted: bool) -> Any:
        """any and all of a list of answers."""

        def decides(found: Any) -> Any:
            return wanted if self.truth(node, found) == wanted else GOES_ON

        return self._searched(node, source, frame, decides, not wanted)

    def first(self, node: ast.Call, source: Any, frame: Frame, default: Any) -> Any:
        """next of a list of answers."""
        return self._searched(node, source, frame, lambda found: found, default)

    def total(self, node: ast.Call, source: Any, frame: Frame, start: Any, each: Callable[[Any], Any]) -> Any:
        """A sum over answers that is kept from one to the next. each: what is added for one."""
        if self._met(node, Frame({**frame.names, COUNT: start}, frame.function)):
            return Earlier(told=True)
        if COUNT not in self.where.tracked:
            raise Again(track=COUNT)
        kept = self.where.location[COUNT]
        before = lin.name(f"{KEPT}{COUNT}") if kept == NUMBER_KEPT else kept
        passes, found = self._next(node, source, frame)
        if self.where.part == "finish":
            self.events.append((SEARCHED, before))
            return before
        after = self.combined(node, ast.Add(), before, each(found)) if passes else before
        raise StepDone({**frame.names, COUNT: after})

    def _searched(self, node: ast.Call, source: Any, frame: Frame, decides: Callable[[Any], Any], default: Any) -> Any:
        if self._met(node, frame):
            return Earlier(told=True)
        passes, found = self._next(node, source, frame)
        if self.where.part == "finish":
            self.events.append((SEARCHED, default))
            return default
        decided = decides(found) if passes else GOES_ON
        if decided is GOES_ON:
            raise StepDone(dict(frame.names))
        self.in_loop, self.after_loop = False, True
        self.events.append((SEARCHED, decided))
        return decided

    def is_another(self, node: ast.For | ast.While | ast.Call, frame: Frame) -> bool:
        """Whether a loop over the answers is an earlier one than is followed: it is passed over. Raises NextLoop at a later one."""
        if self.after_loop:
            raise NextLoop
        self.loops += 1
        if self.loops > self.where.loop:
            return False
        if any(isinstance(each, ast.Return) for each in ast.walk(node)):
            raise Unreadable(node, "a loop over the answers returns, and another one follows it. Write two programs.")
        named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        for name in bound | {name for name, found in frame.names.items() if isinstance(found, Vector | Filtered)}:
            frame.names[name] = Earlier()
            frame.unkept.discard(name)
        for name in named & frame.names.keys():
            _may_have_grown(frame.names[name])
        return True

    def _met(self, node: ast.Call, frame: Frame) -> bool:
        """Whether a later loop is followed. Raises AtLoop where it is met first, Unreadable where answers were gone through before."""
        if self.in_loop:
            raise Unreadable(
                node, f"{shown(node)} goes through all answers again. A program reads each answer once: write one loop over them."
            )
        if self.is_another(node, frame):
            return True
        self.loop = node
        if self.where.part == "begin":
            raise AtLoop(node, dict(frame.names))
        for found in frame.names.values():
            self.opened(found)
        self.before = list(self.events)
        return False

    def _next(self, node: ast.Call, source: Any, frame: Frame) -> tuple[bool, Any]:
        """Whether an item is one of those that count, and what it is; none where the answers end."""
        self.in_loop = self.where.part != "finish"
        self.after_loop, self.more = not self.in_loop, self.in_loop
        return self.passing(source) if self.in_loop else (False, None)

    def passing(self, source: Any) -> tuple[bool, Any]:
        """Whether an item of a list of answers is one of those that count in this step, and what it is."""
        if not isinstance(source, Filtered):
            return True, self.element(source)
        if id(source) not in self.seen:
            inner = Frame(dict(source.frame.names), source.frame.function)
            self.assign(source.target, self.element(source.source), inner)
            passes = all(self.truth(each, self.value(each, inner)) for each in source.conditions)
            self.seen[id(source)] = (source, (passes, self.held(source.element, inner) if passes else None))
        found: tuple[bool, Any] = self.seen[id(source)][1]
        return found

    def opened(self, found: Any) -> None:
        raise NotImplementedError


def _may_have_grown(found: Any) -> None:
    """Marks lists that a loop may have appended to, by whatever name: they are told, and not read."""
    if isinstance(found, Items) and found.number != GIVEN:
        found.told = True
    for each in found.held if isinstance(found, Items) else found if isinstance(found, tuple) else ():
        _may_have_grown(each)


def endless(found: Any) -> bool:
    """Whether it is a list of as many items as nobody knows."""
    return isinstance(found, (*ENDLESS, Filtered))


def is_items(found: Any) -> bool:
    """Whether it is a list with one number for each answer, or for some of them."""
    return isinstance(found, Vector | Filtered)

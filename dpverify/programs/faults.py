"""What cannot be read of a program: where it stands, what it is, why, and what to write instead."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that cannot be read. line, column: from 1 on."""

    line: int
    column: int
    what: str

    def __str__(self) -> str:
        return f"{self.what} (line {self.line}, column {self.column})"


class Unreadable(Exception):
    """Raised at the construct that cannot be read."""

    def __init__(self, node: ast.AST, what: str) -> None:
        super().__init__(what)
        self.fault = fault(node, what)


class Followed(Unreadable):
    """Raised where something that could not be read is used: it is told of once."""

    def __init__(self) -> None:
        super().__init__(ast.Pass(), "")


class NotOfThisKind(Exception):
    """A program that can be read, and is no mechanism of the kind that is tried: why, with the way out."""


def fault(node: ast.AST, what: str) -> Fault:
    """A fault at a node of the text."""
    return Fault(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, what)


def shown(node: ast.AST, most: int = 60) -> str:
    """The text of a node for a message, shortened."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else text[: most - 3] + "..."

"""The mechanism of least error in Python: optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import ParamSpec

from dpverify.catalogue.declarations import CONSTRUCTORS, Declared
from dpverify.project import optimum as optima
from dpverify.trusted.kernel.model import Table

P = ParamSpec("P")


class Optimum(optima.Optimum):
    """A private mechanism with its error, and a bound that no other is below; with its declaration."""

    @property
    def declaration(self) -> Declared:
        """The mechanism as the constructors of `dpverify.declare` make one: a table that is private for the nearest neighbours."""
        table = self.claims[0].mechanism
        assert isinstance(table, Table)
        rows = [[str(entry) for entry in row] for row in self.rows]
        found: Declared = CONSTRUCTORS["Table"](rows, adjacent="all" if table.adjacent is None else [list(pair) for pair in table.adjacent])
        return found


def _declared(find: Callable[P, optima.Optimum]) -> Callable[P, Optimum]:
    """The same search; what it finds has a declaration."""

    @wraps(find)
    def declared(*given: P.args, **named: P.kwargs) -> Optimum:
        found = find(*given, **named)
        return Optimum(**{one.name: getattr(found, one.name) for one in fields(optima.Optimum)})

    return declared


optimum = _declared(optima.optimum)

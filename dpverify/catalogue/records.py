"""Sums over records, as a claim file writes them in place of a query on a histogram."""

from __future__ import annotations

import ast
import operator
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from dpverify.catalogue.checks import grown
from dpverify.catalogue.sql import read_sql
from dpverify.catalogue.toml import Fault, show
from dpverify.catalogue.values import DOMAIN_HELP, read_expression, read_matrix, read_number, read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel.expr import FUNCTIONS, Expr, Num, neg, sub
from dpverify.trusted.kernel.model import Domain, Guard, Matrix, Query, RecordSummand, RecordSums

KEYS: Final = ("sum", "where", "record", "rows")
_EXAMPLE: Final = '{ sum = ["min(max(income, 0), 100000)", "1"], where = "age >= 18", record = { income = "real", age = "integer >= 0" } }'
_MOST_CASES: Final = 256
Cases = tuple[tuple[Guard, ...], ...]
"""Lists of comparisons, of one of which all hold."""
ALWAYS: Final[Cases] = ((),)


class OverRecords(NamedTuple):
    """RecordSums whose adjacency is not known yet."""

    terms: tuple[RecordSummand, ...]
    record: tuple[tuple[str, Domain], ...]
    rows: int

    def under(self, adjacency: str, values: Mapping[str, Expr], ranging: Collection[str]) -> RecordSums:
        """The sums for neighbours, with the values of parameters put in. Raises Fault for a field that has the name of a parameter."""
        if both := sorted({name for name, _ in self.record} & {*values, *ranging}):
            raise Fault(f"has the field {both[0]}, which is a parameter too. Give one of them another name.")

        def put(guard: Guard) -> Guard:
            return Guard(grown(guard.left, values), guard.strict)

        def of(one: RecordSummand) -> RecordSummand:
            where = tuple(tuple(map(put, every)) for every in one.where)
            return RecordSummand(grown(one.value, values), where, tuple(map(of, one.also)))

        return RecordSums(tuple(map(of, self.terms)), self.record, adjacency, self.rows)


def read_query(value: Any) -> Matrix | OverRecords:
    """Rows of linear queries on a histogram, or sums over records, which may be written in SQL."""
    if isinstance(value, dict) and "sql" in value:
        try:
            value = read_sql(value)
        except SpecError as error:
            raise Fault("; ".join(error.faults)) from error
    return _sums(value) if isinstance(value, dict) else read_matrix(value)


def stated(
    found: Matrix | OverRecords | None, adjacency: str, values: Mapping[str, Expr], ranging: Collection[str]
) -> tuple[Query | None, RecordSums | None]:
    """What a query comes to for neighbours. values, ranging: the parameters with values, and the names of others. Raises Fault."""
    if found is None or not adjacency:
        return None, None
    return (None, found.under(adjacency, values, ranging)) if isinstance(found, OverRecords) else (Query(found, adjacency), None)


def _sums(value: Mapping[str, Any]) -> OverRecords:
    if unknown := [key for key in value if key not in KEYS]:
        raise Fault(f"has the unknown key {show(unknown[0])}. Sums over records have {', '.join(KEYS)}.")
    if missing := [key for key in ("sum", "record") if key not in value]:
        raise Fault(f"has no {missing[0]}. Write {_EXAMPLE}.")
    fields, terms, rows = value["record"], value["sum"], value.get("rows", 1)
    if not isinstance(fields, dict):
        raise Fault('has a record that is no table of fields with their values. Write record = { income = "real", age = "integer >= 0" }.')
    if not isinstance(terms, list) or not terms:
        raise Fault('has a sum that is no list of expressions in the fields. Write sum = ["min(max(income, 0), 100000)", "1"].')
    count = read_number(rows)
    if not isinstance(count, Num) or count.value.denominator != 1 or count.value < 1:
        raise Fault("has rows that are no integer of at least 1: how many records a person has at most.")
    record = tuple((name, _domain(name, domain)) for name, domain in fields.items())
    everywhere = read_where(value["where"]) if "where" in value else ALWAYS
    return OverRecords(tuple(_term(term, everywhere) for term in terms), record, int(count.value))


def _domain(name: str, value: Any) -> Domain:
    if not name.isidentifier() or not name.isascii() or name in FUNCTIONS:
        raise Fault(f"has the field {show(name)}, which is no name, or that of a function. Use letters, digits and _.")
    found = read_value_or_domain(value)
    if not isinstance(found, Domain):
        raise Fault(f"has the field {name} = {show(value)}, which is not {DOMAIN_HELP}.")
    return found


def _term(value: Any, everywhere: Cases) -> RecordSummand:
    """An expression, a table with one and the records that it is of, or a list of such, which are added up."""
    if isinstance(value, list):
        if not value or any(isinstance(one, list) for one in value):
            raise Fault(
                'has a sum that is no list of expressions. Write ["income", { value = "-income", where = "age < 18" }] for what adds up.'
            )
        first, *others = (_term(one, everywhere) for one in value)
        return replace(first, also=tuple(others))
    if isinstance(value, dict):
        if value.keys() != {"value", "where"}:
            raise Fault('has a sum that is no expression. Write "income", or { value = "income", where = "age >= 18" }.')
        return RecordSummand(read_expression(value["value"]), _both(everywhere, read_where(value["where"])))
    return RecordSummand(read_expression(value), everywhere)


_COMPARED: Final[Mapping[type[ast.cmpop], tuple[tuple[bool, bool], ...]]] = {
    ast.GtE: ((True, False),), ast.Gt: ((True, True),), ast.LtE: ((False, False),), ast.Lt: ((False, True),),
    ast.Eq: ((True, False), (False, False)),
}  # fmt: skip
"""Each comparison as those that all must hold: whether the left side is the greater, and strictly so."""
_OPPOSITE: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.GtE: ast.Lt, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def read_where(text: Any) -> Cases:
    """Comparisons of expressions in the fields, put together by and, or, not, as cases of one of which all hold."""
    if not isinstance(text, str):
        raise Fault(f'has where = {show(text)}, which is no condition. Write comparisons: "age >= 18 and income < 5000".')
    text = " ".join(text.split())
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Fault(f'has where = {show(text)}, which is no condition. Write comparisons: "age >= 18 and income < 5000".') from error
    return _cases(text, tree, True)


def _cases(text: str, node: ast.expr, holds: bool) -> Cases:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _cases(text, node.operand, not holds)
    if isinstance(node, ast.BoolOp):
        inside = [_cases(text, part, holds) for part in node.values]
        if isinstance(node.op, ast.And) == holds:
            found = ALWAYS
            for cases in inside:
                found = _both(found, cases)
            return found
        return _few(tuple(dict.fromkeys(case for cases in inside for case in cases)))
    if not isinstance(node, ast.Compare):
        shown = show(ast.get_source_segment(text, node))
        raise Fault(f"has where with {shown}, which is no comparison. Compare two expressions with >=, >, <=, <, == or !=.")
    sides = [read_expression(ast.get_source_segment(text, side)) for side in (node.left, *node.comparators)]
    found, some = ALWAYS, tuple[tuple[Guard, ...], ...]()
    for left, right, relation in zip(sides, sides[1:], node.ops, strict=False):
        cases = _compared(left, right, type(relation) if holds else _OPPOSITE.get(type(relation), type(relation)))
        found, some = _both(found, cases), (*some, *cases)
    return found if holds else some


def _compared(left: Expr, right: Expr, relation: type[ast.cmpop]) -> Cases:
    if relation is ast.NotEq:
        return ((Guard(sub(left, right), True),), (Guard(sub(right, left), True),))
    if relation not in _COMPARED:
        raise Fault("has where with a comparison that is not known. Use >=, >, <=, <, == or !=.")
    return (tuple(Guard(sub(left, right) if greater else sub(right, left), strict) for greater, strict in _COMPARED[relation]),)


def _both(a: Cases, b: Cases) -> Cases:
    return _few(tuple(dict.fromkeys(tuple(dict.fromkeys(operator.add(one, other))) for one in a for other in b)))


def _never(case: tuple[Guard, ...]) -> bool:
    """Whether a case holds a comparison and its opposite, of which one is strict."""
    held = set(case)
    return any(
        Guard(neg(guard.left), not guard.strict) in held or (guard.strict and Guard(neg(guard.left), True) in held) for guard in case
    )


def _few(cases: Cases) -> Cases:
    """The cases that may hold and that no other includes."""
    cases = tuple(case for case in cases if not _never(case))
    if len(cases) < 4 * _MOST_CASES:
        sets = [frozenset(case) for case in cases]
        cases = tuple(case for case, held in zip(cases, sets, strict=True) if not any(other < held for other in sets))
    if len(cases) > _MOST_CASES:
        raise Fault(f"has where with more than {_MOST_CASES} cases. State fewer alternatives.")
    return cases

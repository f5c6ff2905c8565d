"""A SELECT with aggregates as what each row adds to each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from math import prod
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokens import TokenType

from dpverify.catalogue.sql_asked import Asked
from dpverify.catalogue.sql_rows import Cte, Derived, Fields, Scope, Table, called, plainly_said
from dpverify.catalogue.sql_values import BOOLEAN, FALSE, NUMBER, TEXT, TRUE, Refused, Value, both, compared, one
from dpverify.catalogue.values import read_value_or_domain
from dpverify.errors import SpecError
from dpverify.trusted.kernel.model import Domain

_MOST_KEYS: Final = 400
_MOST_BYTES: Final = 63
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_PLAIN: Final = (exp.Paren, exp.Alias, exp.Binary, exp.Unary, exp.Literal, exp.Cast, exp.Coalesce, exp.Round, exp.Nullif, exp.Null)
"""What may be computed of the numbers once they are released."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "having": "HAVING tells by the true count whether a group is there. Leave it out: choose groups by their noisy counts",
    "qualify": "QUALIFY compares rows with others", "windows": "windows compare rows with others", "limit": "LIMIT keeps some rows alone",
    "offset": "OFFSET keeps some rows alone", "distinct": "DISTINCT compares rows with others",
    "sample": 'a sample is a mechanism of its own: kind = "subsample"',
    "laterals": "LATERAL makes rows without bound", "pivots": "PIVOT is not known here", "connect": "CONNECT BY makes rows without bound",
}  # fmt: skip
_READ: Final = frozenset({"expressions", "from_", "where", "group", "joins", "with_", "order", "hint"})
_OF_A_TABLE: Final = {"this", "db", "catalog", "alias"}
_OF_A_JOIN: Final = {"this", "on", "using", "side", "kind"}
_NO_SUM: Final[Mapping[type[exp.Expression], str]] = {
    exp.Max: 'a maximum is no sum. Use an exponential mechanism: kind = "exponential"',
    exp.Min: 'a minimum is no sum. Use an exponential mechanism: kind = "exponential"',
    exp.Median: 'a median is no sum. Use an exponential mechanism: kind = "exponential"',
    exp.Quantile: 'a quantile is no sum. Use an exponential mechanism: kind = "exponential"',
    exp.PercentileCont: 'a quantile is no sum. Use an exponential mechanism: kind = "exponential"',
}  # fmt: skip


class Group(NamedTuple):
    """A group of rows: what it is called, and the condition of a row to be in it."""

    name: str
    where: str


class Aggregate(NamedTuple):
    """What each row adds to an aggregate: expressions, each where its condition holds."""

    name: str
    pieces: tuple[tuple[str, str], ...]

    def within(self, group: str) -> Any:
        """What each row of a group adds, as a claim file writes it."""
        held = [(value, both(group, where)) for value, where in self.pieces]
        written = [value if where == TRUE else {"value": value, "where": where} for value, where in held if where != FALSE]
        return written[0] if len(written) == 1 else written or "0"


class Answer(NamedTuple):
    """What a query answers. averages: for each AVG the places of its sum and of its count among the aggregates."""

    groups: Sequence[Group]
    aggregates: Sequence[Aggregate]
    averages: Sequence[tuple[int, int]]
    where: str
    record: Mapping[str, str]
    rows: int


def answer(asked: Asked) -> Answer:
    """What a query answers. Raises SpecError listing all that has no place among sums over records."""
    try:
        return _Reader(asked).answer()
    except RecursionError as error:
        raise SpecError("sql is nested too deeply, or has too long a sum. Write fewer brackets and fewer operands.") from error


def _said(node: exp.Expression) -> set[str]:
    """What is said in a clause."""
    return {key for key, value in node.args.items() if value}


def _named(select: exp.Select) -> list[tuple[str, exp.Expression]]:
    """The expressions of a SELECT that have a name of their own."""
    return [(called(one.alias), one.this) for one in select.expressions if isinstance(one, exp.Alias)]


def _columns(node: exp.Expression) -> set[str]:
    return {called(column.name) for column in node.find_all(exp.Column)}


class _Reader:
    def __init__(self, asked: Asked) -> None:
        self.asked, self.faults = asked, list[str]()
        self.fields = Fields(asked.record, asked.not_null | ({asked.person} if asked.person else set()))
        self.ctes, self.aliases = dict[str, exp.Expression](), set[str]()
        self.used = set[str]()
        self.rows, self.missing = asked.rows, list[str]()
        self.joined = set[str]()
        self.base = ""
        self.distinct = list[tuple[exp.Expression, str, str]]()
        self.alone: exp.Expression | None = None

    def answer(self) -> Answer:
        select = self.parsed()
        scope, where = Scope(self.fields), TRUE
        aggregates, averages, groups = list[Aggregate](), list[tuple[int, int]](), [Group("", TRUE)]
        if select is not None:
            where = self.selected(select, scope)
            keyed = self.attempt(select, partial(self.keyed, select)) or []
            groups = self.attempt(select, partial(self.groups, scope, keyed)) or groups
            found = dict[str, tuple[Aggregate, ...]]()
            for projection in select.expressions:
                self.attempt(projection, partial(self.projected, projection, scope, keyed, found))
            self.attempt(select, partial(self.ordered, select, scope, keyed))
            for parts in found.values():
                places = tuple(self.placed(part, aggregates) for part in parts)
                averages += [(places[0], places[1])] if len(places) == 2 else []
            if not found and not self.faults:
                self.faults.append("the query has no aggregate, and would tell single rows. Ask for COUNT, SUM or AVG.")
        self.remaining(aggregates, groups)
        if self.faults:
            raise SpecError(list(dict.fromkeys(self.faults)))
        where = both(where, *self.missing)
        return Answer(groups, aggregates, averages, "" if where == TRUE else where, self.fields.all(), self.rows)

    # -- faults ---------------------------------------------------------------------------------------------------------

    def attempt(self, node: exp.Expression, ask: Any) -> Any:
        """What asking gives; None where it is refused, which is a fault at its place."""
        try:
            return ask()
        except Refused as refused:
            self.faults.append(self.placed_fault(refused.node if isinstance(refused.node, exp.Expression) else node, refused.why))
        return None

    def placed_fault(self, node: exp.Expression, why: str) -> str:
        starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        place = ""
        if starts:
            place = self.place(min(starts))
        text = node.sql(dialect=self.asked.dialect)
        return f"{place}{text if len(text) <= 80 else text[:77] + '...'}: {why}."

    def place(self, start: int) -> str:
        before = self.asked.text[:start]
        return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}: "

    def parsed(self) -> exp.Select | None:
        try:
            statements = sqlglot.parse(self.asked.text, dialect=self.asked.dialect)
        except ParseError as error:
            self.faults += [f"line {one['line']}, column {one['col']}: {one['description']}. Write one SELECT." for one in error.errors]
            return None
        except (SqlglotError, RecursionError) as error:
            self.faults.append(f"sql cannot be read: {str(error)[:80] or 'brackets are nested too deeply'}. Write one SELECT.")
            return None
        asked = [one for one in statements if one is not None and not isinstance(one, exp.Semicolon)]
        if len(asked) != 1 or not isinstance(asked[0], exp.Select):
            self.faults.append(f"{self.place_of_more()}sql is {'no single SELECT' if asked else 'empty'}. Ask one query, without UNION.")
            return None
        self.signs()
        for name in asked[0].find_all(exp.Identifier):
            self.attempt(name, partial(self.one_name, name))
        return asked[0]

    def signs(self) -> None:
        """Refuse + before a single number, which is the place of a column to some databases alone; the parser drops it."""
        kinds = (TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.COMMA)
        tokens = sqlglot.tokenize(self.asked.text, read=self.asked.dialect)
        for before, sign in pairwise(tokens):
            if before.token_type in kinds and sign.token_type == TokenType.PLUS:
                self.faults.append(f"{self.place(sign.start)}+ stands before what is no sum. Leave it out.")

    def place_of_more(self) -> str:
        """Where what is no single SELECT shows that."""
        tokens = sqlglot.tokenize(self.asked.text, read=self.asked.dialect)
        ends = [k for k, token in enumerate(tokens[:-1]) if token.token_type == TokenType.SEMICOLON]
        sets = [k for k, token in enumerate(tokens) if token.token_type in (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)]
        place = sets[0] if sets else ends[0] + 1 if ends else 0
        return self.place(tokens[place].start if tokens else 0)

    def one_name(self, node: exp.Identifier) -> None:
        """Refuse a name that databases may read as another than is read here. Raises Refused."""
        if node.name.lower() != node.name.translate(_LOWER):
            raise Refused(node, "databases differ in what is the small letter of one of its letters. Write it small")
        if self.asked.dialect == "postgres" and node.args.get("quoted") and node.name != node.name.lower():
            raise Refused(node, "a quoted name keeps its capitals, and is another than the small one. Name it small, in a view")
        if self.asked.dialect == "postgres" and len(node.name.encode()) > _MOST_BYTES:
            raise Refused(node, f"a name is cut after {_MOST_BYTES} bytes. Give it a shorter one")

    # -- where rows come from ---------------------------------------------------------------------------------------------

    def selected(self, select: exp.Select, scope: Scope, *, inner: bool = False) -> str:
        """Fill a scope with what a SELECT is from, and give the condition of its rows."""
        for key, value in select.args.items():
            if value and (key not in _READ or (inner and key in ("group", "order"))):
                node = value[0] if isinstance(value, list) else value
                why = _ELSEWHERE.get(key, f"{key.strip('_').upper()} has no place here")
                self.faults.append(self.placed_fault(node if isinstance(node, exp.Expression) else select, why))
        with_ = select.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            if with_.args.get("recursive"):
                self.faults.append(self.placed_fault(with_, "a recursive query makes rows without bound"))
            if cte.args["alias"].args.get("columns"):
                self.faults.append(self.placed_fault(cte.this, "its columns get other names. Name them in the subquery"))
            name = called(cte.alias)
            if name in self.ctes:
                self.faults.append(self.placed_fault(cte.args["alias"], "two subqueries of WITH have this name. Give one another"))
            self.ctes[name] = cte.args["alias"]
            scope.ctes = {**scope.ctes, name: Cte(cte.this, scope.ctes)}
        scope.aliases |= {name for name, inside in _named(select) if not inside.find(exp.AggFunc) and name not in _columns(inside)}
        source = select.args.get("from_")
        if source is None:
            self.faults.append("the query has no FROM.")
            return TRUE
        where = self.attempt(select, partial(self.source, source.this, scope)) or TRUE
        for join in select.args.get("joins") or ():
            self.attempt(join, partial(self.join, join, scope))
        filtered = select.args.get("where")
        truth = self.attempt(filtered, lambda: scope.truth(filtered.this)) if filtered is not None else None
        return both(where, truth.true) if truth is not None else where

    def source(self, node: exp.Expression, scope: Scope) -> str:
        """Put what FROM names into a scope, and give the condition of its rows. Raises Refused."""
        alias = called(node.alias_or_name)
        if node.args.get("alias") is not None and node.args["alias"].args.get("columns"):
            raise Refused(node, "its columns get other names. Name them in the subquery")
        visible = scope.ctes
        if isinstance(node, exp.Table) and called(node.name) in visible and not node.db and _said(node) <= _OF_A_TABLE:
            self.used.add(called(node.name))
            inside, visible = visible[called(node.name)]
        elif isinstance(node, exp.Subquery) and _said(node) <= _OF_A_TABLE:
            inside = node.this
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and _said(node) <= _OF_A_TABLE:
            if self.base:
                raise Refused(node, "two tables hold rows of the person. Join others with JOIN ... ON")
            self.base = called(node.name)
            self.table(node, alias)
            scope.sources[alias] = Table(alias, self.fields)
            return TRUE
        else:
            raise Refused(node, "FROM is no table and no subquery. Read from one table, or from SELECT with columns and WHERE")
        if not isinstance(inside, exp.Select):
            raise Refused(node, "this subquery is no single SELECT, of columns and WHERE")
        under = Scope(self.fields, visible)
        where = self.selected(inside, under, inner=True)
        scope.sources[alias] = Derived(self.columns(inside, under), under, isinstance(inside.expressions[0], exp.Star))
        return where

    def table(self, node: exp.Expression, alias: str) -> None:
        """Note a table that is read. Raises Refused."""
        if called(node.name) in self.ctes:
            raise Refused(node, "a subquery of WITH has this name too, and databases differ in which is read. Give the subquery another")
        if alias in self.aliases:
            raise Refused(node, f"another table is called {alias} elsewhere in the query. Give one another name: {node.name} AS another")
        self.aliases.add(alias)

    def columns(self, inside: exp.Select, under: Scope) -> dict[str, exp.Expression]:
        """The columns of a subquery that it names. Each is read, also where nothing else reads it: it may make several rows of one."""
        names = dict[str, exp.Expression]()
        for projection in inside.expressions:
            plain = projection.unalias()
            if projection.find(exp.Star):
                if not isinstance(projection, exp.Star) or _said(projection):
                    self.faults.append(self.placed_fault(projection, "some columns are left out or changed. Write * alone, or the columns"))
                elif len(inside.expressions) > 1 or len(under.sources) > 1:
                    why = "two columns of the subquery may have one name, and databases differ in which is read. Write them in place of *"
                    self.faults.append(self.placed_fault(inside, why))
                continue
            if projection.find(exp.AggFunc):
                self.faults.append(self.placed_fault(projection, "a subquery with aggregates mixes rows. Aggregate outside"))
                continue
            name = called(projection.alias_or_name)
            if name in names:
                why = f"the subquery has two columns {name}, and databases differ in which is read. Give one another name"
                self.faults.append(self.placed_fault(projection, why))
            names[name] = plain
            self.attempt(projection, partial(under.value, plain))
        return names

    def join(self, join: exp.Join, scope: Scope) -> None:
        """Put a table that is joined into a scope. Raises Refused."""
        table, side, kind = join.this, join.side.upper(), join.kind.upper()
        if (
            not isinstance(table, exp.Table)
            or called(table.name) in scope.ctes
            or not isinstance(table.this, exp.Identifier)
            or _said(table) - _OF_A_TABLE
        ):
            raise Refused(join, "what is joined is no table. Join the table, and filter in WHERE")
        if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or not _said(join) <= _OF_A_JOIN:
            raise Refused(join, "only JOIN and LEFT JOIN with ON or USING are known")
        name, alias = called(table.name), called(table.alias_or_name)
        if name == self.base or alias in scope.sources:
            raise Refused(join, "a table is joined with itself, and one person may change both sides")
        self.table(table, alias)
        if name in self.joined:
            raise Refused(join, f"{name} is joined twice, and its rows are the same both times. Join it once")
        most = self.asked.joins.get(name)
        if most is None:
            raise Refused(
                join, f"how many rows of {name} is a row joined with at most? Nothing bounds it unless you do: joins = {{ {name} = 1 }}"
            )
        pairs, matched = list[tuple[exp.Expression, str]](), TRUE
        using = join.args.get("using") or ()
        if using:
            pairs = [(exp.column(same.name), called(same.name)) for same in using]
        elif join.args.get("on") is not None:
            for part in join.args["on"].flatten() if isinstance(join.args["on"], exp.And) else [join.args["on"]]:
                pairs.append(self.equal(part.unnest(), alias))
        if not pairs:
            raise Refused(join, "a join without ON or USING puts every row beside every other")
        before = Scope(self.fields)
        before.sources, before.merged = dict(scope.sources), dict(scope.merged)
        matched = both(*(before.value(left).known() for left, _ in pairs))
        self.joined.add(name)
        self.rows *= most
        found = TRUE
        if side == "LEFT" or self.rows == 1:
            flag = self.fields.flag(f"{alias}_found")
            found = both(f"{flag} >= 1", matched)
        if side != "LEFT":
            self.missing += [found, matched]
        equal = {right: partial(before.value, left) for left, right in pairs}
        if using:  # the column that both have is that of the left
            scope.merged |= {right: before.source(left)[0] for left, right in pairs}
        scope.sources[alias] = Table(alias, self.fields, equal, found if side == "LEFT" else TRUE)

    def equal(self, node: exp.Expression, alias: str) -> tuple[exp.Expression, str]:
        """The left and the right column that ON makes equal. Raises Refused."""
        if isinstance(node, exp.EQ):
            for left, right in ((node.this, node.expression), (node.expression, node.this)):
                if (
                    isinstance(left, exp.Column)
                    and isinstance(right, exp.Column)
                    and called(right.table) == alias != called(left.table) != ""
                ):
                    return left, called(right.name)
        raise Refused(node, f"ON is no equality of a column before with one of {alias}. Name both with their tables, and filter in WHERE")

    # -- groups -----------------------------------------------------------------------------------------------------------

    def keyed(self, select: exp.Select) -> list[tuple[str, exp.Expression]]:
        """What rows are grouped by, each with the name that keys are listed under. Raises Refused."""
        group, found = select.args.get("group"), list[tuple[str, exp.Expression]]()
        if group is None:
            return found
        if other := [key for key, value in group.args.items() if value and key != "expressions"]:
            raise Refused(group, f"GROUP BY {other[0].upper()} has no place here. List the columns")
        aliases = dict(_named(select))
        for node in group.expressions:
            if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
                raise Refused(node, "a row is in several groups, which has no place here. Ask each grouping by itself")
            if isinstance(node, exp.Literal) and not node.is_string:
                place = int(node.this) if node.this.isdigit() else 0
                if not 1 <= place <= len(select.expressions):
                    raise Refused(node, "GROUP BY names no column by this number")
                chosen = select.expressions[place - 1]
                found.append((called(chosen.alias_or_name), chosen.unalias()))
            elif isinstance(node, exp.Column) and not node.table and called(node.name) in aliases:
                inside = aliases[called(node.name)]
                mentioned = called(node.name) in self.fields.record or any(called(node.name) in _columns(one) for one in select.expressions)
                same = isinstance(inside, exp.Column) and called(inside.name) == called(node.name)
                if not same and (mentioned or self.asked.dialect == "sqlite" or not _columns(inside)):
                    raise Refused(
                        node,
                        "it may be a column and is the name of an expression, and engines differ in which is meant. Write that",
                    )
                found.append((called(node.name), inside))
            elif not _columns(node):
                raise Refused(node, "databases differ in what rows are grouped by here. Name a column, or its place among what is selected")
            else:
                found.append((called(node.alias_or_name) or node.sql(dialect=self.asked.dialect).lower(), node))
        return found

    def groups(self, scope: Scope, keyed: Sequence[tuple[str, exp.Expression]]) -> list[Group]:
        """Every group that is listed. Raises Refused."""
        choices = list[list[Group]]()
        for name, node in keyed:
            keys = self.asked.keys.get(name, self.known_keys(node, scope))
            if keys is None:
                listed = f'List them, as in keys = {{ {name} = ["a", "b"] }}'
                found = f'kind = "noisy_keys" with keys = {self.rows} and sensitivity = {self.rows}: what a person adds to one, at most'
                why = "which groups there are would be told by the data, and that is a release by itself"
                raise Refused(node, f"{why}. {listed}, or release those whose noisy counts are above a threshold: {found}")
            kind = TEXT if any(isinstance(key, str) for key in keys) else BOOLEAN if any(isinstance(key, bool) for key in keys) else NUMBER
            value = scope.value(node, kind)
            if kind == TEXT:
                self.fields.named((value, *(one(self.fields.text(key), TEXT) for key in keys)), self.fields.listed)
            choices.append(
                [Group(f"{name} = {key!r}" if isinstance(key, str) else f"{name} = {key}", self.is_key(node, value, key)) for key in keys]
            )
        if prod(map(len, choices)) > _MOST_KEYS:
            raise Refused(keyed[0][1], f"there are more than {_MOST_KEYS} groups. List fewer keys")
        return [Group(" and ".join(one.name for one in chosen), both(*(one.where for one in chosen))) for chosen in product(*choices)]

    def is_key(self, node: exp.Expression, value: Value, key: Any) -> str:
        text = self.fields.text(key) if isinstance(key, str) else str(int(key))
        return compared(node, value, one(text, value.kind or NUMBER), "==", "!=").true

    def known_keys(self, node: exp.Expression, scope: Scope) -> Sequence[Any] | None:
        """The keys that a column may have by its own domain; None where they are not few."""
        if not isinstance(node, exp.Column):
            return None
        source, name = scope.source(node)
        said = self.fields.declared(source.name, name) if isinstance(source, Table) else None
        if said == "boolean":
            return (False, True)
        domain = read_value_or_domain(said) if said not in (None, "text") else None
        if not isinstance(domain, Domain) or not domain.integer or domain.lower is None or domain.upper is None:
            return None
        low, high = int(domain.lower), int(domain.upper)
        return range(low, high + 1) if high - low < _MOST_KEYS and low == domain.lower and high == domain.upper else None

    # -- aggregates -------------------------------------------------------------------------------------------------------

    def projected(
        self, node: exp.Expression, scope: Scope, keyed: Sequence[tuple[str, exp.Expression]], found: dict[str, tuple[Aggregate, ...]]
    ) -> None:
        """Note the aggregates that a column of the answer is made of. Raises Refused."""
        plain = node.unalias()
        if any(self.same(plain, key, scope) for _, key in keyed):
            return
        if isinstance(plain, exp.Filter | exp.AggFunc):
            found.setdefault(plain.sql(dialect=self.asked.dialect), self.aggregate(plain, scope))
            return
        if isinstance(plain, exp.Window):
            raise Refused(plain, "a window compares rows with others")
        if isinstance(plain, exp.Column | exp.Star):
            raise Refused(plain, "it would tell single rows. Put it into an aggregate, or into GROUP BY")
        if not isinstance(plain, _PLAIN):
            raise Refused(plain, "it is no aggregate, and nothing that is computed of aggregates by + - * /")
        for part in plain.iter_expressions():
            if not isinstance(part, exp.DataType):
                self.projected(part, scope, keyed, found)

    def same(self, node: exp.Expression, key: exp.Expression, scope: Scope) -> bool:
        """Whether what is shown is what rows are grouped by. Raises Refused."""
        if not isinstance(node, exp.Column) or not isinstance(key, exp.Column) or isinstance(node.this, exp.Star):
            return bool(node == key)
        (source, name), (other, wanted) = scope.source(node), scope.source(key)
        return source is other and name == wanted

    def ordered(self, select: exp.Select, scope: Scope, keyed: Sequence[tuple[str, exp.Expression]]) -> None:
        """Refuse an order of the groups that the data tell. Raises Refused."""
        aliases, order = dict(_named(select)), select.args.get("order")
        for part in order.expressions if order is not None else ():
            node = part.this if isinstance(part, exp.Ordered) else part
            if isinstance(node, exp.Literal) and node.this.isdigit() and 1 <= int(node.this) <= len(select.expressions):
                shown = select.expressions[int(node.this) - 1].unalias()
            else:
                shown = aliases.get(called(node.name), node) if isinstance(node, exp.Column) and not node.table else node
            if not any(self.same(shown, key, scope) for _, key in keyed):
                raise Refused(
                    node, "the order of the rows would tell what is counted. Order by what rows are grouped by, or sort the noisy numbers"
                )

    def placed(self, aggregate: Aggregate, aggregates: list[Aggregate]) -> int:
        """The place of an aggregate among all; what is written twice is one."""
        if aggregate not in aggregates:
            aggregates.append(aggregate)
        return aggregates.index(aggregate)

    def aggregate(self, node: exp.Expression, scope: Scope) -> tuple[Aggregate, ...]:
        """What each row adds to an aggregate, to the sum and the count of AVG. Raises Refused."""
        where, name, some = TRUE, node.sql(dialect=self.asked.dialect), ""
        if isinstance(node, exp.Filter):
            where, some, node = (
                scope.truth(node.expression.this).true,
                f" {node.expression.sql(dialect=self.asked.dialect).strip()}",
                node.this,
            )
        plainly_said(node)
        if type(node) in _NO_SUM:
            raise Refused(node, _NO_SUM[type(node)])
        if isinstance(node, exp.CountIf):
            return (Aggregate(name, (("1", both(where, scope.truth(node.this).true)),)),)
        if not isinstance(node, exp.Count | exp.Sum | exp.Avg):
            raise Refused(node, "this aggregate is no sum over rows. COUNT, SUM and AVG are")
        inside = node.this
        if isinstance(inside, exp.Distinct):
            if not isinstance(node, exp.Count) or len(inside.expressions) != 1:
                raise Refused(node, "DISTINCT compares rows with others. COUNT(DISTINCT column) of one column has a bound")
            return (Aggregate(name, (("1", both(where, self.distinct_values(node, inside.expressions[0], scope))),)),)
        if isinstance(node, exp.Count):
            if node.expressions:
                raise Refused(node, "COUNT of several columns is not known here")
            known = TRUE if isinstance(inside, exp.Star) else scope.value(inside).known()
            return (Aggregate(name, (("1", both(where, known)),)),)
        value = scope.value(inside, NUMBER if not self.is_truth(inside) else BOOLEAN)
        total = Aggregate(
            name, tuple((text, both(where, piece)) for piece, text in value.pieces if text not in (None, "0")) or (("0", TRUE),)
        )
        if isinstance(node, exp.Sum):
            return (total,)
        of = inside.sql(dialect=self.asked.dialect)
        return total._replace(name=f"SUM({of}){some}"), Aggregate(f"COUNT({of}){some}", (("1", both(where, value.known())),))

    def is_truth(self, node: exp.Expression) -> bool:
        return isinstance(node.unnest(), exp.Predicate | exp.Not | exp.Connector) and not isinstance(node.unnest(), exp.Case | exp.If)

    def distinct_values(self, node: exp.Expression, column: exp.Expression, scope: Scope) -> str:
        """The condition of a row to add a value that no other row has. Raises Refused."""
        if not isinstance(column, exp.Column):
            raise Refused(node, "distinct values are counted of a column alone")
        source, name = scope.source(column)
        if not isinstance(source, Table) or name in source.equal or source.name in self.joined:
            raise Refused(node, "distinct values are counted of a column of the first table alone")
        if name == self.asked.person:
            self.alone = node
            return TRUE
        self.distinct.append((node, source.name, name))
        return f"{self.fields.flag(f'{name}_new')} >= 1"

    def remaining(self, aggregates: Sequence[Aggregate], groups: Sequence[Group]) -> None:
        """What can be seen at the end alone: of distinct values, and of what is said and never used."""
        for name in self.ctes.keys() - self.used:
            self.faults.append(self.placed_fault(self.ctes[name], "nothing reads this subquery of WITH. Leave it out"))
        for node, table, column in self.distinct:
            domain = self.fields.declared(table, column)
            bounds = read_value_or_domain(domain) if domain not in (None, "text", "boolean") else None
            few = domain == "boolean" or (isinstance(bounds, Domain) and bounds.lower is not None and bounds.upper is not None)
            if (table, column) in self.fields.of or few or len([one for one in self.distinct if one[1:] == (table, column)]) > 1:
                why = f"distinct values of {column} are bounded where the column has no bounds and nothing else of the query reads it"
                self.faults.append(self.placed_fault(node, why))
        for column in self.fields.unsaid_texts():
            why = "a text that is named may be a number, a date or a truth to the database, and another text the same one"
            self.faults.append(f'{column}: {why}. Say what the column holds: record = {{ {column} = "text" }}.')
        if self.alone is not None and self.rows > 1:
            if len(aggregates) > 1 or len(groups) > 1:
                why = "a person counts once, and with several rows other numbers do not. Ask it in a query of its own, without GROUP BY"
                self.faults.append(self.placed_fault(self.alone, why))
            self.rows = 1
            self.missing.append(f"{self.fields.flag('present')} >= 1")
        if self.rows > 1_000_000:
            self.faults.append("rows: a person has more than 1000000 rows once all is joined. Bound it lower.")

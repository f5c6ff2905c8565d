"""What SQL says of one row: its columns, where they come from, and expressions and conditions in them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlglot import exp

from dpverify.catalogue.sql_values import (
    BOOLEAN,
    NUMBER,
    TEXT,
    TRUE,
    Piece,
    Refused,
    Truth,
    Value,
    alternatives,
    both,
    compared,
    either,
    extreme,
    few,
    kind_of,
    no,
    one,
    together,
)
from dpverify.trusted.kernel.expr import FUNCTIONS

MOST_READ: Final = 20_000
"""How many parts of a query are looked at, those within others once for each reading."""
CLIP: Final = "Write LEAST and GREATEST for what clips, CASE, COALESCE, + - * and comparisons for the rest"
_OPPOSITE: Final[Mapping[type[exp.Expression], tuple[str, str]]] = {
    exp.GTE: (">=", "<"), exp.GT: (">", "<="), exp.LTE: ("<=", ">"), exp.LT: ("<", ">="), exp.EQ: ("==", "!="), exp.NEQ: ("!=", "=="),
}  # fmt: skip
_REAL: Final = frozenset({exp.DataType.Type.DOUBLE})
_NO_TEXT: Final = frozenset(["true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "nan", "inf", "infinity", "null"]) | {""}
_WHOLE: Final = frozenset({exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.INT128})
_GREATEST: Final = 1e300
_PARTS: Final = frozenset({"this", "expression", "expressions"})
_MORE_PARTS: Final[Mapping[type[exp.Expression], frozenset[str]]] = {
    exp.Column: frozenset({"table"}), exp.Literal: frozenset({"is_string"}), exp.If: frozenset({"true", "false"}),
    exp.Case: frozenset({"ifs", "default"}), exp.Cast: frozenset({"to"}), exp.Greatest: frozenset({"ignore_nulls"}),
    exp.Least: frozenset({"ignore_nulls"}), exp.Div: frozenset({"typed", "safe"}), exp.Between: frozenset({"low", "high"}),
    exp.Is: frozenset({"negate"}), exp.Count: frozenset({"big_int"}),
}  # fmt: skip


def called(name: str) -> str:
    """A name as SQL knows it: in any case."""
    return name.lower()


def plainly_said(node: exp.Expression) -> None:
    """Raises Refused where a part says more than is looked at here."""
    known = _PARTS | _MORE_PARTS.get(type(node), frozenset())
    if other := [key for key, value in node.args.items() if value and key not in known]:
        raise Refused(node, f"{other[0].strip('_').upper()} in it is not known here. {CLIP}")


class Fields:
    """The fields of a record: the columns that are read, each with what stands beside it where it may be NULL."""

    def __init__(self, record: Mapping[str, str], not_null: frozenset[str]) -> None:
        self.record, self.not_null = record, not_null
        self.kinds, self.domains = dict[str, str](), dict[str, str]()
        self.of, self.nulls = dict[tuple[str, str], str](), dict[str, str]()
        self.texts = dict[str, int]()
        self.compared, self.listed = dict[str, set[str]](), dict[str, set[str]]()
        self.read = 0

    def reading(self, node: exp.Expression) -> None:
        """Raises Refused where too much is looked at, and where a part says more than is looked at."""
        self.read += 1
        if self.read > MOST_READ:
            raise Refused(node, f"the query has more than {MOST_READ} parts, those of comparisons within comparisons counted twice")
        plainly_said(node)

    def declared(self, table: str, column: str) -> str | None:
        """What the record says of a column."""
        return self.record.get(f"{table}.{column}", self.record.get(column))

    def free(self, name: str) -> str:
        """A name that no field has yet, and that expressions may have."""
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not name.isidentifier() or keyword.iskeyword(name) or name in FUNCTIONS:
            name = f"c_{name}"
        taken = {*self.domains, *self.of.values()}
        while name in taken:
            name += "_"
        return name

    def flag(self, name: str) -> str:
        """A field that is 0 or 1."""
        name = self.free(name)
        self.domains[name] = "integer in [0, 1]"
        return name

    def may_be_null(self, table: str, column: str) -> bool:
        """Whether a column is not known to hold a value in every row."""
        return not {column, f"{table}.{column}"} & self.not_null

    def column(self, node: exp.Expression, table: str, column: str, want: str) -> Value:
        """A column of a table. want: what it must be; empty where that makes no difference. Raises Refused."""
        name = self.of.get((table, column)) or self.free(column)
        self.of[table, column] = name
        said = self.declared(table, column)
        if want == BOOLEAN and said is None:
            said_so = f'record = {{ {column} = "boolean" }}'
            raise Refused(node, f"it is a truth here, and a number other than 0 and 1 would be one too. Say that it is none: {said_so}")
        kind = {"text": TEXT, "boolean": BOOLEAN, None: self.kinds.get(name, want)}.get(said, NUMBER)
        if want and kind != want:
            raise Refused(node, f"it is a {kind}, and a {want} is wanted here. Say in record what the column {column} holds")
        if kind:
            self.kinds[name] = kind
            self.domains[name] = said if said not in (None, "text", "boolean") else "integer in [0, 1]" if kind == BOOLEAN else "real"
        if not self.may_be_null(table, column):
            return one(name, kind)
        null = self.nulls.get(name) or self.flag(f"{name}_null")
        self.nulls[name] = null
        return Value((Piece(f"{null} <= 0", name), Piece(f"{null} > 0", None)), kind)

    def text(self, value: str) -> str:
        """The number that stands for a text; 0 stands for every text that is not named."""
        return str(self.texts.setdefault(value, len(self.texts) + 1))

    def unsaid(self, value: Value) -> list[str]:
        """The columns that a value may be, of which nothing is said."""
        held = {piece.value for piece in value.pieces}
        return [column for (table, column), name in self.of.items() if name in held and self.declared(table, column) is None]

    def named(self, values: Sequence[Value], noted: dict[str, set[str]]) -> None:
        """Note which columns meet which texts."""
        known = {piece.value for value in values for piece in value.pieces if piece.value is not None}
        texts = {text for text in known if text.isdecimal()}
        for name in known - texts:
            noted.setdefault(name, set()).update(texts)

    def unsaid_texts(self) -> tuple[str, ...]:
        """Columns that are taken for texts unsaid, where a text that is named may be a number, a date or a truth to the database, or
        where two are: what is no text to the database may be equal to both."""
        written = {str(number): text for text, number in self.texts.items()}

        def doubtful(name: str) -> bool:
            compared, listed = self.compared.get(name, set()), self.listed.get(name, set())
            several = bool(compared) and len(compared | listed) > 1
            return several or any(
                re.search(r"\d", written[one]) or written[one].strip().lower() in _NO_TEXT for one in compared | listed if one in written
            )

        return tuple(
            column
            for (table, column), name in self.of.items()
            if self.kinds.get(name) == TEXT and self.declared(table, column) is None and doubtful(name)
        )

    def all(self) -> dict[str, str]:
        """Every field with its domain."""
        texts = f"integer in [0, {len(self.texts)}]"
        return {name: texts if self.kinds.get(name) == TEXT else domain for name, domain in self.domains.items()}


class Source:
    """Something in FROM."""

    def has(self, column: str) -> bool:
        """Whether it is known to have a column."""
        raise NotImplementedError

    def value(self, node: exp.Expression, column: str, want: str) -> Value:
        """One of its columns. Raises Refused."""
        raise NotImplementedError


@dataclass
class Table(Source):
    """A table. equal: columns that equal others, in every row that is joined. found: where a row of it was, of LEFT JOIN."""

    name: str
    fields: Fields
    equal: Mapping[str, Callable[[str], Value]] = field(default_factory=dict)
    found: str = TRUE

    def has(self, column: str) -> bool:
        return column in self.equal or f"{self.name}.{column}" in self.fields.record

    def value(self, node: exp.Expression, column: str, want: str) -> Value:
        inside = self.equal[column](want) if column in self.equal else self.fields.column(node, self.name, column, want)
        return inside if self.found == TRUE else alternatives(node, [(self.found, inside)], one(None))


@dataclass
class Derived(Source):
    """A subquery: named expressions in a scope of its own; without a list, all columns of what it selects from."""

    names: Mapping[str, exp.Expression]
    inside: Scope
    star: bool

    def has(self, column: str) -> bool:
        return column in self.names

    def value(self, node: exp.Expression, column: str, want: str) -> Value:
        if column in self.names:
            return self.inside.value(self.names[column], want)
        if self.star and len(self.inside.sources) == 1:
            return next(iter(self.inside.sources.values())).value(node, column, want)
        raise Refused(node, f"the subquery is not known to have a column {column}. It has {', '.join(self.names) or 'none'}")


class Cte(NamedTuple):
    """A subquery of WITH, and those that it may read: the ones before it."""

    select: exp.Expression
    before: Mapping[str, Cte]


class Scope:
    """The sources that names in one SELECT are looked up in."""

    def __init__(self, fields: Fields, ctes: Mapping[str, Cte] | None = None) -> None:
        self.fields, self.sources, self.merged = fields, dict[str, Source](), dict[str, Source]()
        self.ctes: Mapping[str, Cte] = ctes or {}
        self.aliases = set[str]()

    def source(self, node: exp.Column) -> tuple[Source, str]:
        """Where a column is, and its name there. Raises Refused."""
        name = called(node.name)
        if isinstance(node.this, exp.Star):
            raise Refused(node, "all columns at once are counted by COUNT(*)")
        if name in self.sources and not node.table and self.fields.declared("", name) is None:
            raise Refused(node, f"it is the name of a table, and may be its whole row. If it is a column, say in record what {name} holds")
        if name in self.aliases and not node.table and self.fields.declared("", name) is None:
            raise Refused(
                node,
                f"it is the name of an expression of the same SELECT. Write that; if it is a column, say in record what {name} holds",
            )
        if node.table:
            if called(node.table) not in self.sources:
                raise Refused(node, f"{node.table} is not in FROM")
            return self.sources[called(node.table)], name
        if len(self.sources) == 1:
            return next(iter(self.sources.values())), name
        having = [self.merged[name]] if name in self.merged else [source for source in self.sources.values() if source.has(name)]
        if len(having) != 1:
            raise Refused(
                node, f"it may be a column of {' or of '.join(self.sources)}. Write which, as in {next(iter(self.sources), 't')}.{name}"
            )
        return having[0], name

    # -- values ---------------------------------------------------------------------------------------------------------

    def value(self, node: exp.Expression, want: str = "") -> Value:
        """An expression. want: what it must be; empty where that makes no difference. Raises Refused."""
        found = self._value(node, want)
        if want and found.kind and found.kind != want:
            raise Refused(node, f"it is a {found.kind}, and a {want} is wanted here")
        return found

    def _value(self, node: exp.Expression, want: str) -> Value:
        self.fields.reading(node)
        if isinstance(node, exp.Paren):
            return self.value(node.this, want)
        if isinstance(node, exp.Column):
            source, name = self.source(node)
            return source.value(node, name, want)
        if isinstance(node, exp.Literal):
            return one(self.fields.text(node.this), TEXT) if node.is_string else one(self._number(node))
        if isinstance(node, exp.Null):
            return one(None)
        if isinstance(node, exp.Boolean):
            return one("1" if node.this else "0", BOOLEAN)
        if isinstance(node, exp.Case | exp.If | exp.Coalesce | exp.Nullif):
            return self._chosen(node, want)
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if isinstance(node, exp.Greatest | exp.Least):
            values = [self.value(part, NUMBER) for part in (node.this, *node.expressions)]
            return extreme(node, "max" if isinstance(node, exp.Greatest) else "min", values, bool(node.args.get("ignore_nulls")))
        if isinstance(node, exp.Div):
            return self._quotient(node)
        made = self._computed(node)
        if made is None:
            found = self.truth(node).value()
            few(node, found.pieces)
            return found
        return together(node, [self.value(part, NUMBER) for part in made[0]], made[1])

    def _number(self, node: exp.Literal) -> str:
        """A number as it is written. Raises Refused."""
        try:
            found = abs(float(node.this))
        except ValueError:
            raise Refused(node, "it is no number as they are read here") from None
        if found > _GREATEST or (found < 1 / _GREATEST and re.search("[1-9]", re.split("[eE]", node.this)[0])):
            raise Refused(node, "databases take a number as great or as small as this for infinity or for 0")
        return str(node.this)

    def _computed(self, node: exp.Expression) -> tuple[list[exp.Expression], Callable[..., str]] | None:
        """The operands of arithmetic, and what is made of them; None for what is none."""
        signs = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
        if type(node) in signs:
            return [node.this, node.expression], lambda v: f"({v[0]} {signs[type(node)]} {v[1]})"
        if isinstance(node, exp.Neg):
            return [node.this], lambda v: f"(-{v[0]})"
        if isinstance(node, exp.Abs):
            return [node.this], lambda v: f"abs({v[0]})"
        if isinstance(node, exp.Floor | exp.Ceil) and not node.args.get("decimals"):
            return [node.this], (lambda v: f"floor({v[0]})") if isinstance(node, exp.Floor) else lambda v: f"(-floor(-{v[0]}))"
        return None

    def _quotient(self, node: exp.Div) -> Value:
        divisor = node.expression.unnest()
        sign, divisor = ("-", divisor.this.unnest()) if isinstance(divisor, exp.Neg) else ("", divisor)
        if not isinstance(divisor, exp.Literal) or divisor.is_string or not re.search("[1-9]", re.split("[eE]", divisor.this)[0]):
            raise Refused(node, "a quotient is known where it is by a number other than 0")
        if node.args.get("typed") and not re.search(r"[.eE]", divisor.this):
            raise Refused(node, f"integers are divided without their rest here. Write {divisor.this}.0 for a number with a fraction")
        below = self._number(divisor)
        return together(node, [self.value(node.this, NUMBER)], lambda v: f"({v[0]}/({sign}{below}))")

    def _chosen(self, node: exp.Expression, want: str) -> Value:
        """A value by cases."""
        if isinstance(node, exp.Coalesce):
            values = [self.value(part, want) for part in (node.this, *node.expressions)]
            return alternatives(node, [(value.known(), value) for value in values[:-1]], values[-1])
        if isinstance(node, exp.Nullif):
            value = self.value(node.this, want or NUMBER)
            return alternatives(node, [(self._equal(node, node.this, node.expression).true, one(None))], value)
        if isinstance(node, exp.If):
            default = node.args.get("false")
            branches = [(self.truth(node.this).true, self.value(node.args["true"], want))]
        else:
            default, subject = node.args.get("default"), node.this
            conditions = (part.this for part in node.args["ifs"])
            truths = (self._equal(node, subject, this) if subject is not None else self.truth(this) for this in conditions)
            chosen = (self.value(part.args["true"], want) for part in node.args["ifs"])
            branches = [(truth.true, value) for truth, value in zip(truths, chosen, strict=True)]
        return alternatives(node, branches, one(None) if default is None else self.value(default, want))

    def _cast(self, node: exp.Cast) -> Value:
        to, inside = node.to.this, self.value(node.this)
        if isinstance(node, exp.TryCast):
            raise Refused(node, "TRY_CAST gives NULL for what it cannot read. Use columns of the type that they have")
        if to in _REAL and (unsaid := self.fields.unsaid(inside)):
            raise Refused(node, f"a cast may read texts as numbers. Say in record what {unsaid[0]} holds")
        if to in _REAL and inside.kind in (NUMBER, ""):
            return inside
        if to in _WHOLE and (inside.kind == BOOLEAN or self._whole(node.this)):
            return Value(inside.pieces)
        if to in (exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT) and inside.kind == TEXT and not node.to.expressions:
            return inside
        raise Refused(
            node, "this cast may change the value. Cast to DOUBLE, or integers and truths to INTEGER; FLOOR makes integers of others"
        )

    def _whole(self, node: exp.Expression) -> bool:
        """Whether a column is declared to hold integers."""
        if not isinstance(node, exp.Column):
            return False
        source, name = self.source(node)
        said = self.fields.declared(source.name, name) if isinstance(source, Table) else None
        return said is not None and "integer" in said

    # -- conditions -----------------------------------------------------------------------------------------------------

    def truth(self, node: exp.Expression) -> Truth:
        """A condition. Raises Refused."""
        self.fields.reading(node)
        if isinstance(node, exp.Paren):
            return self.truth(node.this)
        if isinstance(node, exp.Not):
            inside = self.truth(node.this)
            return Truth(inside.false, inside.true)
        if isinstance(node, exp.And | exp.Or):
            left, right = self.truth(node.this), self.truth(node.expression)
            if isinstance(node, exp.And):
                return Truth(both(left.true, right.true), either(left.false, right.false))
            return Truth(either(left.true, right.true), both(left.false, right.false))
        if type(node) in _OPPOSITE:
            return self._comparison(node, node.this, node.expression, *_OPPOSITE[type(node)])
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low = self._comparison(node, node.this, node.args["low"], ">=", "<")
            high = self._comparison(node, node.this, node.args["high"], "<=", ">")
            return Truth(both(low.true, high.true), either(low.false, high.false))
        if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
            equal = [self._equal(node, node.this, part) for part in node.expressions]
            return Truth(either(*(one.true for one in equal)), both(*(one.false for one in equal)))
        if isinstance(node, exp.Is):
            return self._is(node)
        if isinstance(node, exp.Column | exp.Boolean | exp.Case | exp.If | exp.Coalesce | exp.Null):
            pieces = self.value(node, BOOLEAN).pieces
            true = [both(where, f"{value} >= 1") for where, value in pieces if value is not None]
            false = [both(where, f"{value} <= 0") for where, value in pieces if value is not None]
            return Truth(either(*true), either(*false))
        raise Refused(node, f"{node.key.upper()} is not known of sums over records. {CLIP}")

    def _is(self, node: exp.Is) -> Truth:
        if isinstance(node.expression, exp.Null):
            value = self.value(node.this)
            return Truth(value.known(), value.unknown()) if node.args.get("negate") else Truth(value.unknown(), value.known())
        if isinstance(node.expression, exp.Boolean):
            inside = self.truth(node.this)
            true = inside.true if node.expression.this else inside.false
            return Truth(no(true), true) if node.args.get("negate") else Truth(true, no(true))
        raise Refused(node, "IS stands before NULL, TRUE or FALSE")

    def _equal(self, node: exp.Expression, left: exp.Expression, right: exp.Expression) -> Truth:
        return self._comparison(node, left, right, "==", "!=")

    def _comparison(self, node: exp.Expression, left: exp.Expression, right: exp.Expression, relation: str, opposite: str) -> Truth:
        sides = [self.value(side) for side in (left, right)]
        kind = kind_of(node, sides)
        first, second = (self.value(side, kind) for side in (left, right))
        if kind == TEXT:
            if relation not in ("==", "!="):
                raise Refused(node, "texts are compared by = and <> alone")
            if not any(isinstance(side.unnest(), exp.Literal) for side in (left, right)):
                raise Refused(node, "two texts of the data are compared. Compare a text with one that is written out")
            self.fields.named((first, second), self.fields.compared)
        return compared(node, first, second, relation, opposite)

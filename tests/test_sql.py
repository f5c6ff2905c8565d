"""Queries in SQL as sums over records, held against what databases answer (theory#sums-over-records)."""

import random
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import product

import pytest

pytest.importorskip("sqlglot")

from hypothesis import event, given
from hypothesis import strategies as st

import dpverify as dp
from dpverify.catalogue import read_spec
from dpverify.catalogue.records import read_query
from dpverify.catalogue.sql import DIALECTS
from dpverify.catalogue.toml import Fault
from dpverify.errors import SpecError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, LINF, Claim, Radial
from dpverify.trusted.sensitivity.record_sums import persons_of, read_as

NUMBERS = (None, -2, -1, 0, 1, 2)
TEXTS = (None, "a", "b", "c")
HOLDS = {"x": "integer in [-2, 2]", "y": "integer in [-2, 2]", "d": "text"}
ROWS = tuple(product(NUMBERS, NUMBERS, TEXTS))
CREATE = "CREATE TABLE t (who INTEGER, x INTEGER, y INTEGER, d VARCHAR)"


def sensitivity(query, norm, adjacency):
    """How far a person moves the answers at most, as it is derived."""
    sums = read_query(query).under(adjacency, {}, ())
    return Fraction(
        read_as(Claim(Radial(parse("exp(-r)"), norm, num(len(sums.terms)), num(1)), None, sums=sums), "apart").sensitivity.value
    )


def shown(query, adjacency):
    """How far a person is known to move them, in l1 and in the maximum norm, and whether that is all."""
    added = persons_of((read_query(query).under(adjacency, {}, ()),))
    seen = [tuple(map(Fraction, v)) for v in added.seen]
    pairs = product(seen, seen) if adjacency == "replace" else ((one, (0,) * len(one)) for one in seen)
    found = [moves(*pair) for pair in pairs] or [{"l1": 0, "linf": 0}]
    return {norm: max(apart[norm] for apart in found) for norm in ("l1", "linf")}, set(added.hull) <= set(added.seen)


class Sqlite:
    dialect, least, greatest = "sqlite", "MIN", "MAX"

    def __init__(self):
        self.base = sqlite3.connect(":memory:")
        self.base.execute(CREATE)

    def answers(self, rows, sql):
        self.base.execute("DELETE FROM t")
        self.base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        return self.base.execute(sql).fetchall()

    def close(self):
        self.base.close()


class Duckdb(Sqlite):
    dialect, least, greatest = "duckdb", "LEAST", "GREATEST"

    def __init__(self):
        self.base = pytest.importorskip("duckdb").connect(":memory:")
        self.base.execute(CREATE)

    def answers(self, rows, sql):
        self.base.execute("DELETE FROM t")
        if rows:
            values = ", ".join("(" + ", ".join("NULL" if x is None else repr(x) for x in row) + ")" for row in rows)
            self.base.execute(f"INSERT INTO t VALUES {values}")
        return self.base.execute(sql).fetchall()


# -- what is asked ------------------------------------------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "1", "2", "0", "-1", "NULL"])
COMPARED = st.sampled_from(["<", "<=", ">", ">=", "=", "<>"])


def conditions(values):
    simple = st.one_of(
        st.tuples(values, COMPARED, values).map(" ".join),
        st.sampled_from(
            ["d = 'a'", "d <> 'b'", "d IN ('a', 'c')", "d NOT IN ('a')", "d IS NULL", "x IS NOT NULL", "COALESCE(d, 'b') = 'b'"]
        ),
        st.tuples(values, values, values).map(lambda v: f"{v[0]} BETWEEN {v[1]} AND {v[2]}"),
    )
    return st.one_of(
        simple,
        simple.map(lambda c: f"NOT ({c})"),
        st.tuples(simple, st.sampled_from(["AND", "OR"]), simple).map(lambda c: f"({c[0]}) {c[1]} ({c[2]})"),
    )


VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["{least}", "{greatest}"]), inner, inner).map(lambda v: f"{v[0]}({v[1]}, {v[2]})"),
        st.tuples(inner, st.sampled_from("+-"), inner).map(lambda v: f"({' '.join(v)})"),
        inner.map(lambda v: f"ABS({v})"),
        inner.map(lambda v: f"2 * {v}"),
        st.tuples(inner, inner).map(lambda v: f"COALESCE({v[0]}, {v[1]})"),
        st.tuples(inner, inner).map(lambda v: f"NULLIF({v[0]}, {v[1]})"),
        st.tuples(conditions(inner), inner, inner).map(lambda v: f"CASE WHEN {v[0]} THEN {v[1]} ELSE {v[2]} END"),
        st.tuples(inner, inner).map(lambda v: f"CASE {v[0]} WHEN 1 THEN {v[1]} WHEN 2 THEN 2 END"),
    ),
    max_leaves=4,
)  # fmt: skip
CASTED = VALUES.map(lambda value: f"SUM({value} + 0)")
AGGREGATES = st.one_of(
    CASTED,
    CASTED,
    st.just("COUNT(*)"),
    VALUES.map(lambda v: f"COUNT({v})"),
    conditions(LEAVES).map(lambda c: f"COUNT(*) FILTER (WHERE {c})"),
)
FROM = st.sampled_from(
    [
        "t",
        "t AS s",
        "(SELECT x, y, d, who FROM t WHERE x <> 0) s",
        "(SELECT y AS x, x + 1 AS y, d FROM t) s",
        "(SELECT * FROM (SELECT x, y - 1 AS y, d, x + y AS u FROM t AS q) t WHERE u <> 1) q",
        "(WITH q AS (SELECT y AS x, d, COALESCE(x, 2) AS y FROM t WHERE d <> 'b'), s AS (SELECT * FROM q) SELECT x, d, y FROM s) t",
    ]
)
NOT_NULL = st.sampled_from([(), (), ("x",), ("x", "y", "d")])
SELECTS = st.tuples(st.lists(AGGREGATES, min_size=1, max_size=2, unique=True), FROM, st.none() | conditions(VALUES), st.booleans())


def asked(select, engine):
    aggregates, source, where, grouped = select
    aggregates = ", ".join(aggregates).format(least=engine.least, greatest=engine.greatest)
    where = "" if where is None else " WHERE " + where.format(least=engine.least, greatest=engine.greatest)
    key, group = ("d, ", " GROUP BY d") if grouped else ("", "")
    return f"SELECT {key}{aggregates} FROM {source}{where}{group}"


def vector(found, sql, width):
    """The answer by group, 0 where there is no row to add up."""
    held = [tuple(x or 0 for x in row) for row in found]
    if "GROUP BY" not in sql:
        return held[0]
    by_key = {row[0]: tuple(x or 0 for x in row[1:]) for row in found}
    return tuple(x for key in ("a", "b") for x in by_key.get(key, (0,) * (width // 2)))


def moves(before, after):
    apart = [abs(Fraction(a) - Fraction(b)) for a, b in zip(before, after, strict=True)]
    return {"l1": sum(apart), "linf": max(apart)}


def held_against(engine, select, not_null, rows, adjacency, seed, tries):
    """By definition: no neighbours are further apart than is derived, and some are as far where everything is seen."""
    sql = asked(select, engine)
    try:
        query = dp.query_sql(sql, rows_per_person=rows, record=HOLDS, keys={"d": ["a", "b"]}, not_null=not_null, dialect=engine.dialect)
    except SpecError as error:
        assert "has more than 64 cases" in str(error) or "too long to be looked at" in str(error)  # NULL in every place
        return
    try:
        read_query(query)
    except Fault as fault:
        assert "more than 256 cases" in str(fault)
        return
    width = len(query["sum"])
    possible = [row for row in ROWS if not any(value is None and name in not_null for name, value in zip("xyd", row, strict=True))]
    derived = {"l1": sensitivity(query, L1, adjacency), "linf": sensitivity(query, LINF, adjacency)}
    draw = random.Random(seed)
    others = [(0, *draw.choice(possible)) for _ in range(draw.randrange(4))]

    def answer(mine):
        return vector(engine.answers([*others, *((1, *row) for row in mine)], sql), sql, width)

    persons = [[row] * rows for row in possible] + [[draw.choice(possible) for _ in range(rows)] for _ in range(10)]
    if rows > 1:
        persons += [[draw.choice(possible) for _ in range(draw.randrange(rows))] for _ in range(5)] + [[]]
    persons = persons if tries is None else draw.sample(persons, tries)
    answers = list(dict.fromkeys(map(answer, persons)))  # of all that one person may have
    pairs = product(answers, answers) if adjacency == "replace" else ((answer([]), one) for one in answers)
    found = [moves(*pair) for pair in pairs]
    for norm, most in derived.items():
        assert all(apart[norm] <= most for apart in found), (sql, norm, most)
    if tries is None:
        least, exact = shown(query, adjacency)
        for norm, most in derived.items():
            reached = max(apart[norm] for apart in found)
            assert reached == most if exact else least[norm] <= reached, (sql, norm, most, least)
        event("exact" if exact else "enclosed")


ENGINE = Sqlite()


@pytest.mark.wide
@given(SELECTS, NOT_NULL, st.integers(1, 3), st.sampled_from(["add-remove", "replace"]), st.integers(0, 99))
def test_sqlite_moves_by_what_is_derived_and_by_no_less(select, not_null, rows, adjacency, seed):
    held_against(ENGINE, select, not_null, rows, adjacency, seed, None)


@pytest.mark.wide
@given(SELECTS, NOT_NULL, st.integers(1, 3), st.sampled_from(["add-remove", "replace"]), st.integers(0, 99))
def test_duckdb_moves_by_no_more_than_is_derived(select, not_null, rows, adjacency, seed):
    with closing(Duckdb()) as engine:
        held_against(engine, select, not_null, rows, adjacency, seed, 12)


# -- joins and distinct values, by hand -----------------------------------------------------------------------------------


def database(people=(), visits=()):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE people (uid INTEGER, age INTEGER)")
    base.execute("CREATE TABLE visits (uid INTEGER, cost INTEGER)")
    base.executemany("INSERT INTO people VALUES (?, ?)", people)
    base.executemany("INSERT INTO visits VALUES (?, ?)", visits)
    return base


JOINED = "SELECT SUM(MIN(MAX(v.cost, 0), 3)), COUNT(p.age) FROM visits v {join} people p ON v.uid = p.uid WHERE v.cost > -5"


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(("rows", "most"), [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_a_join_moves_by_what_its_bound_allows(join, rows, most, adjacency):
    """All people that a row may find, all visits that one may have: the database answers, and no pair is further apart than is derived."""
    sql = JOINED.format(join=join)
    query = dp.query_sql(sql, rows_per_person=rows, joins={"people": most}, dialect="sqlite")
    tables = [[], [(1, 30)], [(1, None)], [(1, 30)] * most]
    visits = [(1, cost) for cost in (None, -6, -1, 2, 9)] + [(None, 9), (7, 9)]
    mine = [combination for size in range(rows + 1) for combination in product(visits, repeat=size) if size == rows or rows > 1]
    greatest = {"l1": 0, "linf": 0}
    for people in tables:
        with closing(database(people)) as base:
            answers = []
            for one in mine:
                base.execute("DELETE FROM visits")
                base.executemany("INSERT INTO visits VALUES (?, ?)", one)
                answers.append(tuple(x or 0 for x in base.execute(sql).fetchone()))
        for before, after in product(answers, answers) if adjacency == "replace" else (((0, 0), one) for one in answers):
            greatest = {norm: max(far, moves(before, after)[norm]) for norm, far in greatest.items()}
    assert greatest == {"l1": sensitivity(query, L1, adjacency), "linf": sensitivity(query, LINF, adjacency)}


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("counted", "person"), [("uid", "uid"), ("cost", "")])
def test_distinct_values_move_by_no_more_than_rows_and_people_by_one(rows, adjacency, counted, person):
    sql = f"SELECT COUNT(DISTINCT {counted}) FROM visits"
    derived = sensitivity(dp.query_sql(sql, rows_per_person=rows, person=person, dialect="sqlite"), L1, adjacency)
    others = [(uid, cost) for uid in (1, 2) for cost in (10, 11)]
    mine = [[(7, cost) for cost in costs] for size in range(rows + 1) for costs in product((10, 20, 21, 22, None), repeat=size)]
    mine = [one for one in mine if (len(one) == rows if rows == 1 else True)]
    if counted == "cost":  # which values others have is theirs
        mine += [[(7, cost) for cost in costs] for costs in product((10, 11), repeat=rows)]
    found = []
    for one in mine:
        with closing(database(visits=[*others, *one])) as base:
            found.append(base.execute(sql).fetchone()[0])
    with closing(database(visits=others)) as base:
        before = base.execute(sql).fetchone()[0]
    pairs = product(found, found) if adjacency == "replace" else ((before, one) for one in found)
    assert max(abs(a - b) for a, b in pairs) == derived


def test_a_mean_is_two_sums():
    query = dp.query_sql("SELECT AVG(LEAST(GREATEST(pay, 5), 6)) FROM t WHERE pay > 2")
    assert query.answers == ("SUM(LEAST(GREATEST(pay, 5), 6))", "COUNT(LEAST(GREATEST(pay, 5), 6))") and query.averages == ((0, 1),)
    assert (
        sensitivity(query, L1, "add-remove") == 7 and sensitivity(query, L1, "replace") == 7
    )  # 6 and 1; and whoever earns nothing is not there


def test_what_is_not_clipped_is_refuted_with_two_tables():
    query = dp.query_sql("SELECT SUM(pay) FROM t")
    answer = dp.verify(dp.laplace(1), query=query, adjacency="replace", epsilon=1000)
    assert answer.verdict == "REFUTED" and "and in the other table" in answer.witness["tables"]


@pytest.mark.parametrize(
    ("sql", "more", "truth"),
    [
        ("SELECT SUM(LEAST(GREATEST(pay, 0), 100000)) FROM t WHERE age >= 18", {"rows_per_person": 3}, 300000),
        ("SELECT dept, COUNT(*) FROM t GROUP BY dept", {"keys": {"dept": ["a", "b"]}}, 1),
        ("SELECT g, COUNT(*) FROM t GROUP BY 1", {"record": {"g": "integer in [1, 3]"}, "rows_per_person": 2}, 2),
        ("SELECT active, COUNT(*) FROM t GROUP BY active", {"record": {"active": "boolean"}}, 1),
        (
            "SELECT CASE WHEN a > 1 THEN 'high' ELSE 'low' END AS band, COUNT(*) FROM t GROUP BY band",
            {"keys": {"band": ["low", "high"]}},
            1,
        ),
        ("SELECT SUM(LEAST(GREATEST(pay / 1000, 0), 5)) FROM t", {}, 5),
        ("WITH s AS (SELECT CASE WHEN a > 0 THEN 2 ELSE -3 END AS b FROM t) SELECT SUM(b) FROM s", {}, 3),
        ("SELECT SUM(CAST(a > 3 AS INTEGER)) FROM t", {}, 1),
        ("SELECT COUNT(x) FROM t WHERE x IS NULL", {}, 0),  # a NULL is not counted
        ("SELECT SUM(LEAST(GREATEST(pay, 5), 6)) FROM t", {}, 6),  # and GREATEST of it is 5 here
        ("SELECT SUM(FLOOR(LEAST(GREATEST(pay, 0), 7)/2)) FROM t", {}, 3),
    ],
)
def test_sensitivities_that_are_known(sql, more, truth):
    assert sensitivity(dp.query_sql(sql, **more), L1, "add-remove") == truth


def test_null_among_arguments_is_what_the_dialect_says():
    sql = "SELECT SUM(LEAST(GREATEST(pay, 5), 6)) FROM t"
    known = {"not_null": ["pay"]}
    assert sensitivity(dp.query_sql(sql, **known), L1, "replace") == 1
    assert sensitivity(dp.query_sql(sql), L1, "replace") == 1  # NULL counts as 5
    sqlite = sql.replace("LEAST", "MIN").replace("GREATEST", "MAX")
    assert sensitivity(dp.query_sql(sqlite, dialect="sqlite"), L1, "replace") == 6  # and is not there


# -- what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT MAX(x) FROM t", "a maximum is no sum"),
        ("SELECT SUM(DISTINCT x) FROM t", "DISTINCT compares rows"),
        ("SELECT x FROM t", "would tell single rows"),
        ("SELECT COUNT(*), x FROM t", "line 1, column 18: x: it would tell single rows"),
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 10", "HAVING tells by the true count"),
        ("SELECT COUNT(*) FROM t LIMIT 1", "LIMIT keeps"),
        ("SELECT dept, COUNT(*) FROM t GROUP BY dept", "noisy_keys"),
        ("SELECT dept, COUNT(*) FROM t GROUP BY ROLLUP (dept)", "in several groups"),
        ("SELECT COUNT(t.*) FROM t", "all columns at once"),
        ("SELECT SUM(b) FROM (SELECT x AS a, a + 1 AS b FROM t)", "name of an expression"),
        ("WITH s(b) AS (SELECT x FROM t) SELECT SUM(b) FROM s", "get other names"),
        ("SELECT SUM(x) FROM (SELECT * REPLACE (1000 * x AS x) FROM t)", "left out or changed"),
        ("WITH s AS (SELECT x FROM t) SELECT SUM(s.x) FROM s JOIN s AS r ON s.x = r.x", "no table"),
        ("SELECT COUNT(*) FROM t TABLESAMPLE 10%", "FROM is no table|no place"),
        ("SELECT COUNT(*) FROM t, u", "only JOIN and LEFT JOIN|without ON|how many rows"),
        ("SELECT COUNT(*) FROM t JOIN u ON t.a = u.a", "joins = \\{ u = 1 \\}"),
        ("SELECT COUNT(*) FROM t a JOIN t b ON a.x = b.x", "joined with itself"),
        ("SELECT COUNT(*) FROM t FULL JOIN u ON t.a = u.a", "only JOIN and LEFT JOIN"),
        ("SELECT COUNT(*) FROM t WHERE x LIKE 'a%'", "LIKE is not known"),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT y FROM u)", "not known"),
        ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u)", "not known"),
        ("SELECT SUM(x / y) FROM t", "by a number other than 0"),
        ("SELECT SUM(x / 0) FROM t", "by a number other than 0"),
        ("SELECT SUM(ROW_NUMBER() OVER ()) FROM t", "not known"),
        ("SELECT SUM(x) OVER () FROM t", "window"),
        ("SELECT SUM(s) FROM (SELECT SUM(x) AS s FROM t GROUP BY y)", "mixes rows"),
        ("SELECT SUM(x) FROM (SELECT x FROM t LIMIT 3)", "LIMIT keeps"),
        ("SELECT SUM(x) FROM (SELECT DISTINCT x FROM t)", "DISTINCT compares"),
        ("SELECT SUM(x) FROM (SELECT x FROM t UNION ALL SELECT x FROM t)", "no single SELECT"),
        ("SELECT COUNT(*) FROM t; DROP TABLE t", "no single SELECT"),
        ("DELETE FROM t", "no single SELECT"),
        ("SELECT COUNT(*) FROM t UNION SELECT 1", "no single SELECT"),
        ("SELECT COUNT(* FROM t", "line 1, column"),
        ("SELECT SUM(CAST(x AS INTEGER)) FROM t", "may change the value"),
        ("SELECT SUM(LEAST(CAST(x AS DOUBLE), 0)) FROM t WHERE x >= 0", "a cast may read texts as numbers"),
        ("SELECT SUM(CAST(f AS INTEGER)) FROM t WHERE f", 'record = \\{ f = "boolean" \\}'),
        ("SELECT COUNT(*) FROM t WHERE f IS TRUE", "it is a truth here"),
        ("SELECT COUNT(*) FROM (SELECT a, UNNEST([1, 2, 3]) AS b FROM t)", "line 1, column .*UNNEST.* not known"),
        ("WITH s AS (SELECT a, UNNEST([1, 2, 3]) AS b FROM t) SELECT COUNT(*) FROM s", "not known"),
        ("SELECT COUNT(*) FROM (SELECT a, GENERATE_SERIES(1, 3) AS b FROM t)", "not known"),
        ("SELECT COUNT(*) FROM (SELECT a, REGEXP_SPLIT_TO_TABLE(a, 'x') AS b FROM t)", "not known"),
        ("SELECT COUNT(*) FROM (SELECT a, RANDOM() AS b FROM t)", "not known"),
        ("SELECT COUNT(*) FROM (SELECT a, ROW_NUMBER() OVER () AS b FROM t)", "not known"),
        ("SELECT SUM(x) FROM (SELECT *, LEAST(GREATEST(x, 0), 1) AS x FROM t)", "two columns of the subquery may have one name"),
        ("SELECT SUM(x) FROM (SELECT LEAST(GREATEST(x, 0), 1) AS x, * FROM t)", "two columns of the subquery may have one name"),
        ("SELECT SUM(v) FROM (SELECT x AS v, LEAST(GREATEST(x, 0), 1) AS V FROM t)", "two columns v"),
        ("WITH a AS (SELECT * FROM t), t AS (SELECT * FROM u WHERE x BETWEEN 0 AND 1) SELECT SUM(x) FROM a", "nothing reads this subquery"),
        ("WITH t AS (SELECT * FROM t WHERE x BETWEEN 0 AND 1) SELECT SUM(x) FROM t", "a subquery of WITH has this name too"),
        ("WITH s AS (SELECT x FROM u) SELECT SUM(x) FROM (WITH s AS (SELECT x FROM t) SELECT x FROM s) q", "two subqueries of WITH"),
        ("SELECT COUNT(*) FROM t ORDER BY (SELECT MAX(x) FROM t)", "the order of the rows would tell"),
        ("SELECT COUNT(db.t.x) FROM t", "DB in it is not known"),
        ("SELECT COUNT(t) FROM t", "may be its whole row"),
        ("SELECT COUNT(*) FROM t NATURAL JOIN u", "only JOIN and LEFT JOIN"),
        ("SELECT COUNT(*) FROM t, LATERAL (SELECT 1) q", "no table"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT ON (x) x FROM t)", "DISTINCT compares"),
        ("SELECT COUNT(*) FROM (SELECT COUNT(*) FILTER (WHERE x > 1) AS c FROM t)", "left out or changed|mixes rows"),
        ("SELECT SUM(" + "+".join(["x"] * 3000) + ") FROM t", "too long|nested too deeply"),
        ("SELECT g, SUM(x) FROM t WHERE x BETWEEN 0 AND 1 GROUP BY +1", "line 1, column 58: \\+ stands before"),
        ("SELECT SUM(x) FROM t WHERE x BETWEEN 0 AND 1 GROUP BY (1)", "differ in what rows are grouped by"),
        ("SELECT SUM(x / 1e-400) FROM t WHERE x BETWEEN 0 AND 1", "for infinity or for 0"),
        ("SELECT SUM(LEAST(GREATEST(x, 0), 1e400)) FROM t", "for infinity or for 0"),
        ("", "line 1, column 1: sql is empty"),
        ("SELECT COUNT(*) FROM t\n UNION SELECT 1", "line 2, column 2: .*no single SELECT"),
        ("SELECT COUNT(*) FROM t;\nSELECT 2", "line 2, column 1: .*no single SELECT"),
        ("SELECT SUM(RANDOM()) FROM t", "not known"),
        ("SELECT COUNT(*) FROM t WHERE d = 'a' AND d > 3", "mixes a number and a text|and a number is wanted"),
        ("SELECT COUNT(*) FROM t WHERE d < 'a'", "by = and <> alone"),
        ("SELECT COUNT(DISTINCT x) FROM t WHERE x > 3", "nothing else of the query reads it"),
        ("SELECT 1 FROM t", "no aggregate"),
        ("SELECT COUNT(*)", "has no FROM"),
    ],
)  # fmt: skip
def test_what_is_no_sum_is_refused(sql, why):
    with pytest.raises(SpecError, match=why):
        dp.query_sql(sql)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ('SELECT COUNT(*) FROM t WHERE x = 1 AND "X" = 2', "a quoted name keeps its capitals"),
        ('SELECT SUM(x) FROM (SELECT "X" AS x, y AS "X" FROM t) q', "a quoted name keeps its capitals"),
        (f"SELECT COUNT(*) FROM t WHERE {'x' * 64}1 = 1 AND {'x' * 64}2 = 2", "cut after 63 bytes"),
        ("SELECT SUM(\u00c9) FROM t WHERE \u00e9 BETWEEN 0 AND 1", "the small letter"),
    ],
)
def test_names_that_postgres_tells_apart_otherwise_are_refused(sql, why):
    with pytest.raises(SpecError, match=why):
        dp.query_sql(sql, dialect="postgres")


def test_a_name_in_any_case_is_one_column():
    """As DuckDB and sqlite have it."""
    query = dp.query_sql('SELECT COUNT(*) FROM t WHERE x = 1 AND "X" = 2')
    for engine in (Sqlite(), Duckdb()):
        with closing(engine):
            assert engine.answers([(1, 1, 0, "a"), (1, 2, 0, "a")], 'SELECT COUNT(*) FROM t WHERE x = 1 AND "X" = 2') == [(0,)]
    assert sensitivity(query, L1, "add-remove") == 0
    with pytest.raises(SpecError, match="record has x twice"):
        dp.query_sql("SELECT COUNT(*) FROM t", record={"X": "real", "x": "integer"})


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT t.b AS b, p.v AS v FROM t JOIN p ON t.a = p.a) s JOIN p ON s.b = p.b WHERE s.v = 1 AND p.v = 2",
        "(SELECT p.a AS b, p.v AS v FROM t AS p) s JOIN p ON s.b = p.b WHERE s.v = 1 AND p.v = 2",
        "t JOIN p ON t.a = p.a JOIN p AS q ON t.b = q.b",
    ],
)
def test_a_table_or_a_name_of_one_that_is_there_twice_is_refused(source):
    """For one name in two scopes may be two rows: the database counts a person where none would be."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript("CREATE TABLE t (a, b, v); CREATE TABLE p (a, b, v)")
        base.executemany("INSERT INTO p VALUES (?, ?, ?)", [(1, 1, 1), (2, 2, 2)])
        base.execute("INSERT INTO t VALUES (1, 2, 1)")
        assert "AS p" in source or base.execute(f"SELECT COUNT(*) FROM {source}").fetchone() == (1,)
    with pytest.raises(SpecError, match=r"elsewhere in the query|joined twice"):
        dp.query_sql(f"SELECT COUNT(*) FROM {source}", joins={"p": 1})


@pytest.mark.parametrize(
    "where", ["b = 'tru' AND b = 'tr'", "COALESCE(b, 'tr') = 'tru'", "CASE b WHEN 'no x' THEN b = 'ne' END", "b IN ('x', 'y')"]
)
def test_a_column_that_is_held_against_two_texts_is_declared(where):
    """A truth, or an identifier that may be written in several ways, is equal to both."""
    sql = f"SELECT COUNT(*) FROM t WHERE {where}"
    with pytest.raises(SpecError, match=r"record = \{ b = .text. \}"):
        dp.query_sql(sql, dialect="postgres")
    assert sensitivity(dp.query_sql(sql, dialect="postgres", record={"b": "text"}), L1, "add-remove") in (0, 1)


@pytest.mark.wide
def test_the_same_value_twice_among_arguments_counts_once():
    query = dp.query_sql("SELECT SUM(GREATEST(x, x)), SUM(LEAST(x, x, y)) FROM t", record=HOLDS)
    with closing(Duckdb()) as engine:
        found = []
        for row in ROWS:
            found += engine.answers([(1, *row)], "SELECT SUM(GREATEST(x, x)), SUM(LEAST(x, x, y)) FROM t")
    assert sensitivity(query, L1, "add-remove") == max(sum(abs(value or 0) for value in one) for one in found)
    assert dp.verify(dp.laplace(1, dimension=2), query=query, adjacency="add-remove", epsilon=4).verdict == "PROVED"


@pytest.mark.parametrize(
    ("order", "told"), [("g", False), ("1", False), ("q DESC", False), ("COUNT(*)", True), ("2", True), ("c", True), ("x", True)]
)
def test_groups_are_ordered_by_what_they_are_grouped_by_alone(order, told):
    sql = f"SELECT g, COUNT(*) AS c, g AS q FROM t GROUP BY g ORDER BY {order}"
    if told:
        with pytest.raises(SpecError, match="the order of the rows would tell"):
            dp.query_sql(sql, keys={"g": [1, 2]})
    else:
        assert sensitivity(dp.query_sql(sql, keys={"g": [1, 2]}), L1, "add-remove") == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_that_may_be_a_column_is_no_group(dialect):
    """Engines group by the column g, whose group 1 is shown as 2."""
    sql = "SELECT g + 1 AS g, SUM(CASE WHEN g = 1 THEN 100 ELSE 0 END) FROM t GROUP BY g"
    with pytest.raises(SpecError, match="may be a column"):
        dp.query_sql(sql, keys={"g": [1]}, dialect=dialect)


def test_what_is_shown_is_what_is_grouped_by_and_no_column_of_its_name():
    with pytest.raises(SpecError, match="would tell single rows"):
        dp.query_sql("SELECT p.g, COUNT(*) FROM t JOIN p ON t.a = p.a GROUP BY t.g", keys={"g": [1]}, joins={"p": 1}, dialect="sqlite")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_notnull_is_not_null(dialect):
    for text in ("x NOTNULL", "x IS NOT NULL"):
        assert sensitivity(dp.query_sql(f"SELECT COUNT(*) FROM t WHERE {text} AND x IS NULL", dialect=dialect), L1, "add-remove") == 0
        total = dp.query_sql(f"SELECT SUM(CASE WHEN {text} THEN 7 END) FROM t WHERE x IS NOT NULL", dialect=dialect)
        assert sensitivity(total, L1, "add-remove") == 7


def test_truths_within_truths_are_bounded():
    deep = "f"
    for _ in range(14):
        deep = f"(g = ({deep}))"
    with pytest.raises(SpecError, match=r"too long to be looked at|parts"):
        dp.query_sql(f"SELECT COUNT(*) FROM t WHERE {deep}", record={"f": "boolean", "g": "boolean"})


def test_a_comment_may_follow_the_query():
    for end in (";", "; -- done", ";;", " -- done", ";\n/* done */"):
        assert dp.query_sql(f"SELECT COUNT(*) FROM t{end}")["sum"] == ["1"]


@pytest.mark.parametrize("source", ["t", "(SELECT x AS y, x FROM t) s"])
def test_texts_that_a_database_may_read_as_one_number_are_refused(source):
    """'3' and '3.0' are one number, so that a condition on both may hold."""
    sql = f"SELECT SUM(CASE WHEN {'y' if 's' in source else 'x'} = '3' AND x = '3.0' THEN 1000 ELSE 1 END) FROM {source}"
    with pytest.raises(SpecError, match=r"may be a number.*record = \{ x = .text. \}"):
        dp.query_sql(sql)
    assert sensitivity(dp.query_sql(sql, record={"x": "text"}), L1, "add-remove") == 1


def test_a_column_may_be_called_as_what_stands_beside_another():
    query = dp.query_sql("SELECT COUNT(x), SUM(LEAST(GREATEST(x_null, 0), 7)) FROM t")
    assert sensitivity(query, L1, "add-remove") == 8


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(SpecError) as told:
        dp.query_sql("SELECT MAX(x),\n  y\nFROM t WHERE name LIKE 'a%' LIMIT 3")
    assert len(told.value.faults) == 4 and any(fault.startswith("line 2, column 3: y") for fault in told.value.faults)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"rows_per_person": 0}, "rows is no integer"),
        ({"rows_per_person": True}, "rows is no integer"),
        ({"record": {"x": "tall"}}, "record has x"),
        ({"keys": {"x": []}}, "keys is no table"),
        ({"keys": {"x": [1, "a"]}}, "keys is no table"),
        ({"keys": {"x": [1, 1]}}, "twice"),
        ({"joins": {"u": 0}}, "joins is no table"),
        ({"dialect": "mysql"}, "none of duckdb"),
        ({"not_null": [3]}, "not_null is no list"),
    ],
)
def test_what_is_said_of_the_data_has_a_form(more, why):
    with pytest.raises(SpecError, match=why):
        dp.query_sql("SELECT COUNT(*) FROM t", **more)


FILE = """
[mechanism]
kind = "builtin"
name = "laplace"
scale = 50000
[[claim]]
adjacency = "add-remove"
epsilon = 6
query = {query}
"""


def test_a_claim_file_may_say_it_in_sql(tmp_path):
    path = tmp_path / "pay.toml"
    path.write_text(
        FILE.replace("{query}", '{ sql = "SELECT SUM(LEAST(GREATEST(pay, 0), 100000)) FROM t", rows = 3, record = { pay = "real" } }')
    )
    [answer] = dp.verify(path)
    assert answer.verdict == "PROVED" and answer.epsilon.upper == 6
    path.write_text(FILE.replace("{query}", '{ sql = "SELECT MAX(pay), pay FROM t", limit = 3 }'))
    with pytest.raises(SpecError, match=r"unknown key .limit."):
        read_spec(path)
    path.write_text(FILE.replace("{query}", '{ sql = "SELECT MAX(pay), pay FROM t" }'))
    with pytest.raises(SpecError, match=r"maximum is no sum.*single rows"):
        read_spec(path)


def test_every_dialect_is_read():
    for dialect in DIALECTS:
        assert dp.query_sql("SELECT COUNT(*) FROM t", dialect=dialect)["sum"] == ["1"]

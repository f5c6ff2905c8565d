"""The same mechanism in several writings: claim files whose answers must agree, made from a seed.

A writing is a table like [mechanism], with what the claim says of the answer ("sensitivity", "query", "adjacency"). Each family gives a
list of writings of one mechanism: the tight value of each is the same number, by a theorem or by a change of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

Table = dict[str, Any]

COMBINATORS = ("compose", "subsample", "group", "post_process", "parallel", "lipschitz")


@dataclass(frozen=True)
class Writing:
    """A mechanism and what its claim says of the answer. how: the rewritings that it was made by, for readers."""

    mechanism: Table
    claim: Table
    how: tuple[str, ...] = ()
    hidden: bool = False  # a map of what a part puts out, of which the file does not say that it keeps all: no lower bound need be known


# -- numbers -----------------------------------------------------------------------------------------


def plain(value: Fraction | int) -> str | int:
    """A number as files have it: an integer, or a fraction in a string."""
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else str(value)


def spelled(rng: Random, value: Fraction | int) -> str | int:
    """The same number in one of several spellings: integer, decimal, fraction, expression."""
    value = Fraction(value)
    ways: list[str | int] = [plain(value), str(value)]
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        digits = 0
        while (value * 10**digits).denominator > 1:
            digits += 1
        shifted = (value * 10**digits).numerator
        ways.append(f"{shifted}e-{digits}")
    ways.append(f"{value + 1} - 1" if value.denominator == 1 else f"({value + 1}) - 1")
    ways.append(f"2*({value})/2")
    if value > 0 and rng.random() < 0.15:
        ways += [f"exp(log({value}))", f"sqrt({value})**2", f"sqrt({value * value})"]
    return rng.choice(ways)


# -- laws of noise on one number -----------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """One law of noise, as writings: each a table with the factor by which the sensitivity is to be multiplied there."""

    name: str
    writings: tuple[tuple[Table, Fraction, str], ...]
    integers: bool = False


LINE_NORMS: tuple[tuple[Any, Fraction], ...] = (
    ("l1", Fraction(1)), ("l2", Fraction(1)), ("linf", Fraction(1)), ({"lp": "3/2"}, Fraction(1)), ({"ellipsoid": [[1]]}, Fraction(1)),
    ({"ellipsoid": [[4]]}, Fraction(1, 2)), ({"columns": [[1]]}, Fraction(1)), ({"columns": [[2]]}, Fraction(1, 2)),
    ({"facets": [[1]]}, Fraction(1)), ({"facets": [[2]]}, Fraction(2)),
)  # fmt: skip
"""Norms of the line, each with the length of 1."""


def _builtin(name: str, **values: Any) -> Table:
    return {"kind": "builtin", "name": name, **values}


def _line(density: str, rng: Random, **more: Any) -> tuple[Table, Fraction, str]:
    constant = rng.choice(["", "", "3*", "(1/7)*"])
    if density.startswith("exp(") and density.count("exp(") == 1 and density.endswith(")") and rng.random() < 0.3:
        return {"kind": "translation", "log_density": density[4:-1], **more}, Fraction(1), "log_density"
    return {"kind": "translation", "density": constant + density, **more}, Fraction(1), "translation"


def _moved(density: str, by: int) -> str:
    return density.replace("z", f"(z - {by})")


def _radials(rng: Random, profile: Callable[[str], str]) -> Iterator[tuple[Table, Fraction, str]]:
    """A symmetric law of density profile(|z|), radial: in norms of the line, where 1 has the length `unit`, stretched back by the scale."""
    for norm, unit in rng.sample(LINE_NORMS, 3):
        stretch = rng.choice([Fraction(1), Fraction(1), Fraction(2), Fraction(3, 2)])
        inner = f"(r*{stretch / unit})"
        table: Table = {"kind": "radial", "profile": profile(inner), "norm": norm, "dimension": 1}
        if stretch != 1 or rng.random() < 0.3:
            table["scale"] = plain(stretch)
        yield table, unit, f"radial {norm}"
    table = {"kind": "product", "density": profile("abs(z)"), "dimension": 1}
    if rng.random() < 0.5:
        table["norm"] = rng.choice(["l1", "l2", "linf"])
    yield table, Fraction(1), "product"


def laplace(rng: Random) -> Law:
    b = rng.choice([Fraction(1), Fraction(2), Fraction(3, 2), Fraction(4)])
    text = str(b)

    def profile(r: str) -> str:
        return f"exp(-{r}/({text}))"

    ways = [
        (_builtin("laplace", scale=spelled(rng, b)), Fraction(1), "builtin"),
        (_builtin("laplace", scale=plain(3 * b)), Fraction(3), "three times"),
        _line(profile("abs(z)"), rng),
        _line(_moved(profile("abs(z)"), 2), rng),
        _line(f"min(exp(z/({text})), exp(-z/({text})))", rng),
        ({"kind": "translation", "density": "exp(-abs(z)/b)", "parameters": {"b": plain(b)}}, Fraction(1), "parameters"),
        (_builtin("knorm", columns=[[1]], epsilon=plain(1 / b)), Fraction(1), "knorm columns"),
        (_builtin("knorm", columns=[[2]], epsilon=plain(2 / b)), Fraction(1, 2), "knorm columns 2"),
        (_builtin("knorm", facets=[[2]], epsilon=plain(1 / (2 * b))), Fraction(2), "knorm facets 2"),
        *_radials(rng, profile),
    ]
    return Law("laplace", tuple(ways))


def gaussian(rng: Random) -> Law:
    s = rng.choice([Fraction(1), Fraction(2), Fraction(3, 2)])

    def profile(r: str) -> str:
        return f"exp(-{r}**2/(2*({s})**2))"

    ways = [
        (_builtin("gaussian", sigma=spelled(rng, s)), Fraction(1), "builtin"),
        (_builtin("gaussian", sigma=plain(3 * s)), Fraction(3), "three times"),
        _line(profile("z"), rng),
        _line(_moved(profile("z"), 1), rng),
        _line(f"exp(-z**2/(2*({s})**2) + z)", rng),
        *_radials(rng, profile),
    ]
    return Law("gaussian", tuple(ways))


def logistic(rng: Random) -> Law:
    s = rng.choice([Fraction(1), Fraction(2)])
    ways = [
        (_builtin("logistic", scale=spelled(rng, s)), Fraction(1), "builtin"),
        (_builtin("logistic", scale=plain(2 * s)), Fraction(2), "twice"),
        _line(f"exp(-z/({s}))/(1 + exp(-z/({s})))**2", rng),
        _line(f"1/cosh(z/(2*({s})))**2", rng),
        ({"kind": "radial", "profile": f"1/cosh(r/(2*({s})))**2", "norm": "l2", "dimension": 1}, Fraction(1), "radial"),
        ({"kind": "product", "density": f"1/cosh(z/(2*({s})))**2", "dimension": 1}, Fraction(1), "product"),
    ]
    return Law("logistic", tuple(ways))


def student(rng: Random) -> Law:
    nu = rng.choice([1, 3, 5])
    scale = rng.choice([Fraction(1), Fraction(2)])

    def profile(r: str) -> str:
        return f"(1 + ({r}/({scale}))**2/{nu})**(-({nu} + 1)/2)"

    ways = [
        (_builtin("student_t", nu=nu, dimension=1, scale=spelled(rng, scale)), Fraction(1), "builtin"),
        (_builtin("student_t", nu=nu, dimension=1, scale=plain(2 * scale)), Fraction(2), "twice"),
        _line(profile("z"), rng),
        *_radials(rng, profile),
    ]
    return Law("student_t", tuple(ways))


def staircase(rng: Random) -> Law:
    e, g = rng.choice([Fraction(1), Fraction(1, 2), Fraction(2)]), rng.choice([Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)])

    def profile(r: str) -> str:
        return f"exp(-({e})*floor({r} + 1 - {g}))"

    ways = [
        (_builtin("staircase", epsilon=spelled(rng, e), gamma=spelled(rng, g)), Fraction(1), "builtin"),
        _line(profile("abs(z)"), rng),
        *list(_radials(rng, profile))[-2:],
    ]
    return Law("staircase", tuple(ways))


def uniform(rng: Random) -> Law:
    w = rng.choice([2, 4, 5])
    ways = [
        ({"kind": "translation", "density": "1", "support": [0, w]}, Fraction(1), "from 0"),
        ({"kind": "translation", "density": "1", "support": [f"-{w}/2", f"{w}/2"]}, Fraction(1), "centred"),
        ({"kind": "translation", "density": "1", "support": [0, 2 * w]}, Fraction(2), "twice"),
        ({"kind": "translation", "density": "1/3", "support": [-w, 0]}, Fraction(1), "up to 0"),
        ({"kind": "translation", "log_density": "0", "support": [1, w + 1]}, Fraction(1), "log_density"),
    ]
    return Law("uniform", tuple(ways))


def one_sided_exponential(rng: Random) -> Law:
    s = rng.choice([Fraction(1), Fraction(2)])
    ways = [
        (_builtin("exponential", scale=spelled(rng, s)), Fraction(1), "builtin"),
        (_builtin("exponential", scale=plain(2 * s)), Fraction(2), "twice"),
        ({"kind": "translation", "density": f"exp(-z/({s}))", "support": [0, "inf"]}, Fraction(1), "translation"),
        ({"kind": "translation", "density": f"exp(-z/({s}))", "support": [1, "inf"]}, Fraction(1), "from 1"),
        ({"kind": "translation", "density": f"exp(z/({s}))", "support": ["-inf", 0]}, Fraction(1), "mirrored"),
    ]
    return Law("exponential", tuple(ways))


def gumbel(rng: Random) -> Law:
    s = rng.choice([Fraction(1), Fraction(2)])
    ways = [
        (_builtin("gumbel", scale=spelled(rng, s)), Fraction(1), "builtin"),
        (_builtin("gumbel", scale=plain(2 * s)), Fraction(2), "twice"),
        _line(f"exp(-z/({s}) - exp(-z/({s})))", rng),
        ({"kind": "translation", "density": f"exp(z/({s}) - exp(z/({s})))"}, Fraction(1), "mirrored"),
    ]
    return Law("gumbel", tuple(ways))


def discrete_laplace(rng: Random) -> Law:
    b = rng.choice([Fraction(1), Fraction(2), Fraction(3, 2)])
    ways = [
        (_builtin("discrete_laplace", scale=spelled(rng, b)), Fraction(1), "builtin"),
        _line(f"exp(-abs(z)/({b}))", rng, integers=True),
        _line(f"exp(-abs(z - 3)/({b}))", rng, integers=True),
        ({"kind": "translation", "density": "exp(-abs(z)/b)", "integers": True, "parameters": {"b": plain(b)}}, Fraction(1), "parameters"),
        (
            {"kind": "translation", "density": f"exp(-abs(z)/({b}))", "integers": True, "support": ["-inf", "inf"]},
            Fraction(1),
            "whole support",
        ),
    ]
    return Law("discrete_laplace", tuple(ways), integers=True)


def discrete_gaussian(rng: Random) -> Law:
    s = rng.choice([Fraction(1), Fraction(2)])
    ways = [
        (_builtin("discrete_gaussian", sigma=spelled(rng, s)), Fraction(1), "builtin"),
        _line(f"exp(-z**2/(2*({s})**2))", rng, integers=True),
        _line(f"exp(-(z - 1)**2/(2*({s})**2))", rng, integers=True),
    ]
    return Law("discrete_gaussian", tuple(ways), integers=True)


def bounded_integers(rng: Random) -> Law:
    w = rng.choice([2, 3, 5])
    ways = [
        ({"kind": "translation", "density": "1", "support": [0, w], "integers": True}, Fraction(1), "from 0"),
        ({"kind": "translation", "density": "2", "support": [-w, 0], "integers": True}, Fraction(1), "to 0"),
        ({"kind": "translation", "density": "1", "support": ["-1/2", f"{w} + 1/4"], "integers": True}, Fraction(1), "ends between"),
        ({"kind": "translation", "density": "1 + 0*z", "support": [5, w + 5], "integers": True}, Fraction(1), "from 5"),
    ]
    return Law("bounded integers", tuple(ways), integers=True)


LAWS = (
    laplace, gaussian, discrete_laplace, discrete_gaussian, logistic, student, staircase, uniform, one_sided_exponential, gumbel,
    bounded_integers,
)  # fmt: skip


# -- parts ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A part before it is written. kind: a law, "table" or a combinator; times: how often it is run."""

    kind: str
    law: Law | None = None
    moves: Fraction = Fraction(1)
    rows: tuple[tuple[Fraction, ...], ...] = ()
    adjacent: tuple[tuple[int, int], ...] | None = None
    parts: tuple[Node, ...] = ()
    number: Fraction = Fraction(1)
    times: int = 1
    response: tuple[int, Fraction] | None = None


def table_node(rng: Random) -> Node:
    if rng.random() < 0.3:
        k = rng.choice([2, 2, 3])
        p = rng.choice([Fraction(3, 4), Fraction(2, 3), Fraction(9, 10), Fraction(1, k)])
        rows = tuple(tuple(p if i == j else (1 - p) / (k - 1) for j in range(k)) for i in range(k))
        return Node("table", rows=rows, response=(k, p))
    count, width = rng.choice([2, 2, 3]), rng.choice([2, 3])
    low = rng.choice([0, 1, 1])
    rows = []
    while len(rows) < count:
        weights = [rng.randint(low, 5) for _ in range(width)]
        if sum(weights):
            rows.append(tuple(Fraction(w, sum(weights)) for w in weights))
    adjacent = None
    if rng.random() < 0.4:
        adjacent = tuple((i, i + 1) if rng.random() < 0.5 else (i + 1, i) for i in range(count - 1))
    return Node("table", rows=tuple(rows), adjacent=adjacent)


def leaf(rng: Random, laws: Sequence[Callable[[Random], Law]]) -> Node:
    if rng.random() < 0.35:
        return table_node(rng)
    law = rng.choice(laws)(rng)
    moves = Fraction(rng.choice([1, 1, 2, 3])) if law.integers else rng.choice([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2)])
    return Node("noise", law=law, moves=moves)


def tree(rng: Random, depth: int, laws: Sequence[Callable[[Random], Law]] = LAWS) -> Node:
    """A random mechanism of nested combinators."""
    if depth == 0:
        return leaf(rng, laws)
    below = rng.choice([0, depth - 1])
    kind = rng.choice(["compose", "compose", "subsample", "group", "parallel", "lipschitz", "leaf"])
    if kind == "leaf":
        return leaf(rng, laws)
    some = [tree(rng, below, laws) for _ in range(rng.choice([1, 2]) if kind in ("compose", "parallel") else 1)]
    some = [Node(**{**vars(one), "times": rng.choice([1, 1, 2])}) for one in some]
    number = {
        "subsample": rng.choice([Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)]),
        "group": Fraction(rng.choice([2, 2, 3])),
        "lipschitz": Fraction(rng.choice([1, 2])),
    }.get(kind, Fraction(1))
    return Node(kind, parts=tuple(some), number=number)


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for part in node.parts:
        yield from nodes(part)


class Writer:
    """Writes nodes, choosing at every place among ways that mean the same."""

    def __init__(self, rng: Random, much: float, node: Node) -> None:
        self.rng, self.much = rng, much
        self.how: list[str] = []
        self.hidden = False
        tables = [one for one in nodes(node) if one.kind == "table"]
        self.rows: list[int] = []  # in which order the inputs stand, of the one table that there is: several share their labels
        if len(tables) == 1:
            count = range(len(tables[0].rows))
            self.rows = rng.sample(count, len(count)) if self.maybe(0.5) else list(count)
            if self.rows != list(count):
                self.how.append("permuted rows")

    def maybe(self, share: float = 1.0) -> bool:
        return self.rng.random() < self.much * share

    def number(self, value: Fraction | int) -> str | int:
        return spelled(self.rng, value) if self.maybe(0.4) else plain(value)

    # -- one part, with its sensitivity and how often it runs

    def part(self, node: Node) -> Table:
        once = Node(**{**vars(node), "times": 1})
        if node.times > 1 and self.maybe(0.6):
            way = self.rng.choice(["written out", "nested", "part of a composition"])
            self.how.append(f"times {way}")
            if way == "written out":
                return self.wrapped({"kind": "compose", "parts": [self.part(once) for _ in range(node.times)]})
            if way == "nested":
                first = {"kind": "compose", "parts": [{**self.part(once), "times": node.times - 1} if node.times > 2 else self.part(once)]}
                return self.wrapped({"kind": "compose", "parts": [first, self.part(once)]})
            inner = self.part(once)
            if "times" not in inner:
                return self.wrapped({"kind": "compose", "part": {**inner, "times": node.times}})
            return self.wrapped({"kind": "compose", "part": {"kind": "compose", "part": inner}, "times": node.times})
        written = self.wrapped(self.bare(node))
        if node.times > 1:
            if "times" in written:
                written = {"kind": "compose", "part": written}
            written["times"] = node.times
        elif self.maybe(0.05):
            written.setdefault("times", 1)
        return written

    def wrapped(self, part: Table) -> Table:
        """The part, or the same under a combinator that does nothing."""
        while self.maybe(0.18):
            way = self.rng.choice(["post_process", "group", "lipschitz", "subsample", "parallel", "compose", "twice in parallel"])
            self.how.append(f"{way} that does nothing")
            match way:
                case "post_process":
                    self.hidden = True
                    part = {"kind": "post_process", "part": part, "map": "the identity"}
                case "group":
                    part = {"kind": "group", "part": part, "size": 1}
                case "lipschitz":
                    part = {"kind": "lipschitz", "part": part, "constant": self.number(1)}
                case "subsample":
                    part = {"kind": "subsample", "part": part, "rate": self.number(1)}
                case "parallel" | "compose":
                    part = {"kind": way, "parts": [part]}
                case _:
                    part = {"kind": "parallel", "parts": [part, part]}
        return part

    def bare(self, node: Node) -> Table:
        match node.kind:
            case "noise":
                return self.noise(node)
            case "table":
                return self.table(node)
            case "compose" | "parallel":
                return self.several(node)
            case "subsample":
                return self.sample(node)
            case "group" | "lipschitz":
                return self.nearby(node)
        raise AssertionError(node.kind)

    def noise(self, node: Node) -> Table:
        assert node.law is not None
        table, factor, name = self.rng.choice(node.law.writings) if self.maybe(0.8) else node.law.writings[0]
        if name != node.law.writings[0][2]:
            self.how.append(name)
        moves = node.moves * factor
        if node.law.integers and self.maybe(0.2):
            moves += Fraction(1, 3)  # integer answers move by whole steps
            self.how.append("a third of a step more")
        table = dict(table)
        if moves != 1 or self.maybe(0.3):
            table["sensitivity"] = self.number(moves)
        return table

    def table(self, node: Node) -> Table:
        rng, rows, adjacent = self.rng, [list(row) for row in node.rows], node.adjacent
        if self.rows:
            rows = [rows[i] for i in self.rows]
            adjacent = adjacent and tuple((self.rows.index(i), self.rows.index(j)) for i, j in adjacent)
        if node.response is not None and self.maybe(0.5):
            k, p = node.response
            self.how.append("response")
            if k == 2 and rng.random() < 0.5:
                return _builtin("randomized_response", p=self.number(p))
            return _builtin("k_randomized_response", k=k, p=self.number(p))
        if self.maybe(0.4):
            self.how.append("split column")
            column, share = rng.randrange(len(rows[0])), rng.choice([Fraction(1, 2), Fraction(1, 3)])
            rows = [[*row[:column], row[column] * share, *row[column + 1 :], row[column] * (1 - share)] for row in rows]
        if self.maybe(0.3):
            self.how.append("permuted columns")
            order = rng.sample(range(len(rows[0])), len(rows[0]))
            rows = [[row[i] for i in order] for row in rows]
        if self.maybe(0.2):
            self.how.append("a column of zeros")
            rows = [[*row, Fraction(0)] for row in rows]
        written: Table = {"kind": "table", "rows": [[self.number(entry) for entry in row] for row in rows]}
        if adjacent is None and self.maybe(0.3):
            self.how.append("all pairs written out")
            adjacent = tuple((i, j) for i in range(len(rows)) for j in range(len(rows)) if i != j)
        if adjacent is not None:
            written["adjacent"] = [list(pair) for pair in adjacent]
        return written

    def several(self, node: Node) -> Table:
        parts = [self.part(one) for one in node.parts]
        if self.maybe(0.4) and len(parts) > 1:
            self.how.append("permuted parts")
            self.rng.shuffle(parts)
        if len(parts) > 1 and self.maybe(0.3):
            self.how.append(f"nested {node.kind}")
            parts = [{"kind": node.kind, "parts": parts[:1]}, *parts[1:]]
        if node.kind == "parallel" and self.maybe(0.3):
            self.how.append("a part twice in parallel")
            parts.append(self.rng.choice(parts))
        if node.kind == "compose" and len(parts) == 1 and self.rng.random() < 0.5:
            return {"kind": "compose", "part": parts[0]}
        return {"kind": node.kind, "parts": parts}

    def sample(self, node: Node) -> Table:
        if self.maybe(0.4):
            self.how.append("sample of a sample")
            outer = self.rng.choice([Fraction(2, 3), Fraction(4, 5), Fraction(1)])
            inner = {"kind": "subsample", "part": self.part(node.parts[0]), "rate": self.number(node.number / outer)}
            return {"kind": "subsample", "part": inner, "rate": self.number(outer)}
        return {"kind": "subsample", "part": self.part(node.parts[0]), "rate": self.number(node.number)}

    def nearby(self, node: Node) -> Table:
        (part,) = node.parts
        key, other = ("size", "lipschitz") if node.kind == "group" else ("constant", "group")
        size = node.number
        pushed = part.kind == "noise" and part.times == 1
        if pushed and self.maybe(0.5):
            assert part.law is not None
            self.how.append(f"{node.kind} as sensitivity")
            return self.noise(Node(**{**vars(part), "moves": part.moves * size}))
        if part.kind == "compose" and self.maybe(0.4):
            self.how.append(f"{node.kind} of each part")
            inner = tuple(Node(node.kind, parts=(Node(**{**vars(one), "times": 1}),), number=size, times=one.times) for one in part.parts)
            return self.several(Node("compose", parts=inner)) if part.times == 1 else {
                "kind": "compose", "part": {**self.several(Node("compose", parts=inner)), "times": part.times}
            }  # fmt: skip
        if part.kind == "noise" and self.maybe(0.2) and size.denominator == 1 and not part.law.integers:  # type: ignore[union-attr]
            self.how.append(f"{node.kind} as {other}")
            return {"kind": other, "part": self.part(part), {"size": "constant", "constant": "size"}[key]: self.number(size)}
        if size == 1 and self.maybe(0.3):
            self.how.append(f"{node.kind} of 1 left out")
            return {"kind": "compose", "part": self.part(part)}
        return {"kind": node.kind, "part": self.part(part), key: self.number(size)}


def written(rng: Random, node: Node, much: float) -> Writing:
    """The node as a claim file has it: at the top, a leaf's sensitivity is the claim's."""
    writer = Writer(rng, much, node)
    part = writer.part(node)
    return as_file(part, tuple(writer.how), writer.hidden)


def as_file(part: Table, how: tuple[str, ...] = (), hidden: bool = False) -> Writing:
    part = dict(part)
    if part.get("times", 1) != 1:
        return Writing({"kind": "compose", "part": part}, {}, how, hidden)
    part.pop("times", None)
    claim: Table = {}
    if part["kind"] not in COMBINATORS and not _finite(part):
        claim["sensitivity"] = part.pop("sensitivity", 1)
    return Writing(part, claim, how, hidden)


def _finite(part: Table) -> bool:
    return part["kind"] == "table" or "randomized_response" in str(part.get("name"))


# -- families: the same mechanism by a theorem -----------------------------------------------------------


def _compose(parts: Sequence[Table]) -> Table:
    return {"kind": "compose", "parts": list(parts)}


def _kron(rows: Sequence[Sequence[Fraction]], others: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    return [[a * b for a in row for b in other] for row in rows for other in others]


def _rows(rows: Sequence[Sequence[Fraction]]) -> list[list[str | int]]:
    return [[plain(entry) for entry in row] for row in rows]


def _random_rows(rng: Random, count: int, width: int, low: int = 0) -> list[list[Fraction]]:
    rows: list[list[Fraction]] = []
    while len(rows) < count:
        weights = [rng.randint(low, 5) for _ in range(width)]
        if sum(weights):
            rows.append([Fraction(w, sum(weights)) for w in weights])
    return rows


def stacked_queries(rng: Random) -> list[Writing]:
    """Parts with queries, and one noise on all their answers (THEORY: one pair of neighbours for all parts)."""
    columns, count = rng.choice([2, 3]), rng.choice([1, 2, 2, 3])
    adjacency = rng.choice(["add-remove", "replace", "l1", "l2"])
    query = [[rng.choice([0, 1, 1, 2, -1]) for _ in range(columns)] for _ in range(count)]
    if not any(map(any, query)):
        query[0][0] = 1
    name = rng.choice(["laplace", "gaussian"])
    scales = [Fraction(rng.choice([1, 2, 3])) for _ in range(count)]
    least, key = Fraction(2), "scale" if name == "laplace" else "sigma"
    even = [[entry * least / scale for entry in row] for row, scale in zip(query, scales, strict=True)]
    beside = {"query": _rows(even), "adjacency": adjacency}

    def part(row: Sequence[int], scale: Fraction) -> Table:
        return {**_builtin(name, **{key: plain(scale)}), "query": [_rows([row])[0]], "adjacency": adjacency}

    parts = [part(row, scale) for row, scale in zip(query, scales, strict=True)]
    density = f"exp(-abs(z)/{least})" if name == "laplace" else f"exp(-z**2/(2*{least}**2))"
    profile = density.replace("abs(z)", "r").replace("z", "r")
    norm = "l1" if name == "laplace" else "l2"
    ways = [
        Writing(_compose(parts), {}, ("parts",)),
        Writing(_compose(parts[::-1]), {}, ("parts in the other order",)),
        Writing(_compose([_compose(parts[:1]), *parts[1:]]), {}, ("nested",)),
        Writing(_builtin(name, dimension=count, **{key: plain(least)}), beside, ("builtin",)),
        Writing({"kind": "product", "density": density, "dimension": count, "norm": norm}, beside, ("product",)),
        Writing({"kind": "radial", "profile": profile, "dimension": count, "norm": norm}, beside, ("radial",)),
        Writing(
            _builtin(name, dimension=count, **{key: plain(2 * least)}),
            {**beside, "query": _rows([[-2 * entry for entry in row] for row in even])},
            ("twice, negated",),
        ),
        Writing(_compose([{**_builtin(name, dimension=count, **{key: plain(least)}), **beside}]), {}, ("one part",)),
    ]
    order = rng.sample(range(columns), columns)
    ways.append(
        Writing(
            _builtin(name, dimension=count, **{key: plain(least)}), {**beside, "query": _rows([[row[i] for i in order] for row in even])}
        )
    )
    if adjacency != "l2":
        wide = _rows([[*row, row[0]] for row in even])
        ways.append(Writing(_builtin(name, dimension=count, **{key: plain(least)}), {**beside, "query": wide}, ("a column twice",)))
    if count == 2 and name == "gaussian":
        turned = [[(3 * a + 4 * b) / 5 for a, b in zip(*even, strict=True)], [(4 * a - 3 * b) / 5 for a, b in zip(*even, strict=True)]]
        ways.append(Writing(_builtin(name, dimension=2, sigma=plain(least)), {**beside, "query": _rows(turned)}, ("turned",)))
    return [ways[0], *rng.sample(ways[1:], 3)]


def derived_sensitivities(rng: Random) -> list[Writing]:
    """A query on one number, and the sensitivity that it has."""
    row = [rng.choice([0, 1, 2, 3, -1]) for _ in range(rng.choice([1, 2, 3]))]
    adjacency = rng.choice(["add-remove", "replace", "l1"])
    moves = max(map(abs, row)) if adjacency != "replace" else max(row) - min(row)
    if not moves:
        row, moves, adjacency = [2], 2, "add-remove"
    law = rng.choice([laplace, gaussian, discrete_laplace, logistic])(rng)
    if law.integers and adjacency == "l1":
        adjacency = "add-remove"
        moves = max(map(abs, row))
    return [
        Writing(law.writings[0][0], {"sensitivity": moves}),
        Writing(law.writings[0][0], {"query": [row], "adjacency": adjacency}, ("query",)),
        Writing(_compose([{**law.writings[0][0], "query": [row], "adjacency": adjacency}]), {}, ("part with a query",)),
        Writing(_compose([{**law.writings[0][0], "sensitivity": moves}]), {}, ("part with a sensitivity",)),
    ]


def norms(rng: Random) -> list[Writing]:
    """One norm of the plane or of space, in several writings."""
    d = rng.choice([2, 3])
    which = rng.choice(["l1", "l2", "linf"])
    unit = [[int(i == j) for j in range(d)] for i in range(d)]
    spelled_norms: list[tuple[Any, Fraction]] = [(which, Fraction(1))]
    if which == "l1":
        spelled_norms += [
            ({"lp": 1}, Fraction(1)),
            ({"columns": unit}, Fraction(1)),
            ({"columns": [[2 * e for e in row] for row in unit]}, Fraction(1, 2)),
        ]
        if d == 2:
            spelled_norms.append(({"facets": [[1, 1], [1, -1]]}, Fraction(1)))
    if which == "l2":
        spelled_norms += [
            ({"lp": 2}, Fraction(1)),
            ({"ellipsoid": unit}, Fraction(1)),
            ({"ellipsoid": [[4 * e for e in row] for row in unit]}, Fraction(1, 2)),
        ]
    if which == "linf":
        spelled_norms += [({"facets": unit}, Fraction(1)), ({"facets": [[2 * e for e in row] for row in unit]}, Fraction(2))]
        if d == 2:
            spelled_norms.append(({"columns": [[1, 1], [1, -1]]}, Fraction(1)))
    kind = rng.choice(["exp", "square", "heavy"])
    moves, b = Fraction(rng.choice([1, 2])), rng.choice([1, 2])
    ways = []
    for norm, length in spelled_norms:
        r = f"(r/({length}))"
        profile = {"exp": f"exp(-{r}/{b})", "square": f"exp(-{r}**2/(2*{b}**2))", "heavy": f"(1 + {r}**2/{b})**(-{d + 1})"}[kind]
        ways.append(
            Writing(
                {"kind": "radial", "profile": profile, "norm": norm, "dimension": d}, {"sensitivity": plain(moves * length)}, (str(norm),)
            )
        )
    first = ways[0].mechanism
    ways.append(
        Writing(
            {**first, "profile": f"({first['profile'].replace('r/(1)', '3*r')})", "scale": 3}, {"sensitivity": plain(moves)}, ("scale",)
        )
    )
    ways.append(Writing({**first, "scale": 2}, {"sensitivity": plain(2 * moves)}, ("scale and sensitivity",)))
    if kind == "exp" and which == "l1":
        ways.append(Writing(_builtin("laplace", scale=b, dimension=d), {"sensitivity": plain(moves)}, ("builtin",)))
        ways.append(
            Writing({"kind": "product", "density": f"exp(-abs(z)/{b})", "dimension": d}, {"sensitivity": plain(moves)}, ("product",))
        )
        ways.append(Writing(_builtin("knorm", epsilon=plain(Fraction(1, b)), columns=unit), {"sensitivity": plain(moves)}, ("knorm",)))
    if kind == "exp" and which == "linf":
        ways.append(Writing(_builtin("knorm", epsilon=plain(Fraction(1, b)), facets=unit), {"sensitivity": plain(moves)}, ("knorm",)))
    if kind == "square" and which == "l2":
        ways.append(Writing(_builtin("gaussian", sigma=b, dimension=d), {"sensitivity": plain(moves)}, ("builtin",)))
        ways.append(
            Writing(
                {"kind": "product", "density": f"exp(-z**2/(2*{b}**2))", "dimension": d, "norm": "l2"},
                {"sensitivity": plain(moves)},
                ("product",),
            )
        )
    return [ways[0], *rng.sample(ways[1:], min(3, len(ways) - 1))]


def flattened(rng: Random) -> list[Writing]:
    """A combination of tables, and the one table that it is."""
    rows = _random_rows(rng, rng.choice([2, 2, 3]), rng.choice([2, 3]), rng.choice([0, 1]))
    n = len(rows)
    table = {"kind": "table", "rows": _rows(rows)}
    way = rng.choice(["compose", "times", "parallel", "group", "lipschitz", "sample", "sampled composition", "sample of two runs"])
    p = rng.choice([Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)])

    def sampled(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[Fraction]], list[list[int]]]:
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        mixed = [row for i, j in pairs for row in ([p * a + (1 - p) * b for a, b in zip(rows[i], rows[j], strict=True)], list(rows[j]))]
        return mixed, [[2 * k, 2 * k + 1] for k in range(len(pairs))]

    match way:
        case "compose":
            others = _random_rows(rng, n, 2, 1)
            flat = [_kron([a], [b])[0] for a, b in zip(rows, others, strict=True)]
            ways = [
                Writing({"kind": "table", "rows": _rows(flat)}, {}),
                Writing(_compose([table, {"kind": "table", "rows": _rows(others)}]), {}),
                Writing(_compose([_compose([{"kind": "table", "rows": _rows(others)}]), table]), {}),
            ]
        case "times":
            flat = [_kron(_kron([a], [a]), [a])[0] for a in rows]
            ways = [
                Writing({"kind": "table", "rows": _rows(flat)}, {}),
                Writing({"kind": "compose", "part": {**table, "times": 3}}, {}),
                Writing(_compose([{**table, "times": 2}, table]), {}),
                Writing({"kind": "parallel", "parts": [{**table, "times": 3}, table]}, {}),
            ]
        case "parallel":
            others = _random_rows(rng, 2, 2, rng.choice([0, 1]))
            flat = _kron(rows, others)
            adjacent = [
                [2 * i + k, 2 * j + m] for i in range(n) for j in range(n) for k in range(2) for m in range(2) if (i == j) != (k == m)
            ]
            ways = [
                Writing({"kind": "table", "rows": _rows(flat), "adjacent": adjacent}, {}),
                Writing({"kind": "parallel", "parts": [table, {"kind": "table", "rows": _rows(others)}]}, {}),
                Writing(
                    {
                        "kind": "parallel",
                        "parts": [{"kind": "table", "rows": _rows(others)}, {"kind": "parallel", "parts": [table, table]}],
                    },
                    {},
                ),
            ]
        case "group" | "lipschitz":
            rows = _random_rows(rng, 4, rng.choice([2, 3]), 1)
            path = [[i, i + 1] for i in range(3)]
            size = rng.choice([2, 3])
            near = [[i, j] for i in range(4) for j in range(i + 1, 4) if j - i <= size]
            line = {"kind": "table", "rows": _rows(rows), "adjacent": path}
            ways = [
                Writing({**line, "adjacent": near}, {}),
                Writing({"kind": "group", "part": line, "size": size}, {}),
                Writing({"kind": "group", "part": {"kind": "group", "part": line, "size": 1}, "size": size}, {}),
                Writing({"kind": "group", "part": _compose([line]), "size": size}, {}),
            ]
            if way == "lipschitz":
                ways[-1] = Writing({"kind": "lipschitz", "part": line, "constant": size}, {})
        case "sample":
            mixed, adjacent = sampled(rows)
            ways = [
                Writing({"kind": "table", "rows": _rows(mixed), "adjacent": adjacent}, {}),
                Writing({"kind": "subsample", "part": table, "rate": str(p)}, {}),
                Writing({"kind": "subsample", "part": {"kind": "subsample", "part": table, "rate": str(2 * p)}, "rate": "1/2"}, {}),
            ]
        case "sampled composition":
            twice = [_kron([a], [a])[0] for a in rows]
            mixed, adjacent = sampled(twice)
            ways = [
                Writing({"kind": "table", "rows": _rows(mixed), "adjacent": adjacent}, {}),
                Writing({"kind": "subsample", "part": {**table, "times": 2}, "rate": str(p)}, {}),
                Writing({"kind": "subsample", "part": _compose([table, table]), "rate": str(p)}, {}),
            ]
        case _:
            mixed, adjacent = sampled(rows)
            flat = [_kron([a], [a])[0] for a in mixed]
            ways = [
                Writing({"kind": "table", "rows": _rows(flat), "adjacent": adjacent}, {}),
                Writing({"kind": "compose", "part": {"kind": "subsample", "part": table, "rate": str(p), "times": 2}}, {}),
                Writing(_compose([{"kind": "subsample", "part": table, "rate": str(p)}] * 2), {}),
            ]
    return ways


def scores(rng: Random) -> list[Writing]:
    """The exponential mechanism with scores whose weights are rational, and its table; scores moved and stretched."""
    base = rng.choice([2, 3])
    count, width = rng.choice([2, 3]), rng.choice([2, 3])
    table = [[rng.randint(0, 3) for _ in range(width)] for _ in range(count)]
    weights = [[Fraction(base) ** score for score in row] for row in table]
    rows = [[weight / sum(row) for weight in row] for row in weights]
    adjacent = [[i, i + 1] for i in range(count - 1)] if rng.random() < 0.5 else None
    beside = {} if adjacent is None else {"adjacent": adjacent}
    order = rng.sample(range(count), count)
    moved = {} if adjacent is None else {"adjacent": [[order.index(i), order.index(j)] for i, j in adjacent]}
    return [
        Writing({"kind": "table", "rows": _rows(rows), **beside}, {}),
        Writing({"kind": "exponential", "scores": table, "beta": f"log({base})", **beside}, {}),
        Writing(
            {"kind": "exponential", "scores": [[s + i for s in row] for i, row in enumerate(table)], "beta": f"log({base})", **beside}, {}
        ),
        Writing({"kind": "exponential", "scores": [[2 * s for s in row] for row in table], "beta": f"log({base})/2", **beside}, {}),
        Writing({"kind": "exponential", "scores": [table[i] for i in order], "beta": f"log({base})", **moved}, {}, ("permuted",)),
        Writing({"kind": "exponential", "scores": [[f"{s}*log({base})" for s in row] for row in table], "beta": 1, **beside}, {}),
    ]


def points(rng: Random) -> list[Writing]:
    """The exponential mechanism among points, by their distances in several writings, and by scores."""
    at = sorted(rng.sample(range(6), 3))
    least = min(b - a for a, b in pairwise(at))
    beta, moves = rng.choice(["1/2", "log(2)"]), rng.choice([least, least + 1, 5])
    matrix = [[abs(a - b) for b in at] for a in at]
    adjacent = [[i, j] for i in range(3) for j in range(i + 1, 3) if matrix[i][j] <= moves]
    ways = [
        Writing({"kind": "exponential", "points": at, "metric": rng.choice(["l1", "l2", "linf"]), "beta": beta}, {"sensitivity": moves}),
        Writing({"kind": "exponential", "points": [[a, 0] for a in at], "metric": "l2", "beta": beta}, {"sensitivity": moves}),
        Writing({"kind": "exponential", "points": at, "metric": matrix, "beta": beta}, {"sensitivity": moves}),
        Writing({"kind": "exponential", "points": [2 * a for a in at], "metric": "l1", "beta": f"({beta})/2"}, {"sensitivity": 2 * moves}),
    ]
    if adjacent:
        ways.append(
            Writing({"kind": "exponential", "scores": [[-e for e in row] for row in matrix], "beta": beta, "adjacent": adjacent}, {})
        )
    return ways


def selections(rng: Random) -> list[Writing]:
    """Report noisy max with Gumbel noise is the exponential mechanism; noise in any writing; scale and sensitivity together."""
    n = rng.choice([1, 2, 2, 3])
    neighbours = rng.choice(["all", "monotone", "one"])
    moves = Fraction(rng.choice([1, 2]))
    s = rng.choice([1, 2])
    way = rng.choice(["gumbel", "laplace", "two", "one", "integers"])
    if way == "integers":
        law = discrete_laplace(rng)
        base = {"kind": "noisy_max", "candidates": n, "neighbours": neighbours}
        return [Writing({**base, "noise": table}, {"sensitivity": plain(moves)}, (how,)) for table, _, how in law.writings[:4]]
    noise = _builtin("gumbel", scale=s) if way == "gumbel" else rng.choice([laplace, gaussian, logistic])(rng).writings[0][0]

    def most(noise: Table, n: int, neighbours: str, moves: Fraction, **more: Any) -> Writing:
        return Writing(
            {"kind": "noisy_max", "noise": noise, "candidates": n, "neighbours": neighbours, **more}, {"sensitivity": plain(moves)}
        )

    if way == "gumbel":
        neighbours = "monotone" if neighbours == "one" else neighbours
        exponential = {"kind": "exponential", "candidates": n, "neighbours": neighbours}
        return [
            most(noise, n, neighbours, moves),
            Writing({**exponential, "beta": plain(Fraction(1, s))}, {"sensitivity": plain(moves)}),
            Writing({**exponential, "beta": plain(Fraction(1, 2 * s))}, {"sensitivity": plain(2 * moves)}),
            most({"kind": "translation", "density": f"exp(-z/{s} - exp(-z/{s}))"}, n, neighbours, moves),
            most(_builtin("gumbel", scale=2 * s), n, neighbours, 2 * moves),
        ]
    if way == "two":
        return [
            most(noise, 2, "one", moves),
            most(noise, 2, "monotone", moves),
            most(noise, 2, "all", moves / 2),
            most(noise, 2, "one", moves),
        ]
    law = laplace(rng)
    compared = [way for way in law.writings[1:] if not any(word in str(way[0]) for word in ("columns", "facets", "ellipsoid"))]
    picked = [law.writings[0], *rng.sample(compared, 3)]  # noise that is compared is in no norm by a matrix
    if way == "one":
        base = "one" if rng.random() < 0.5 else "all"
        return [
            most(law.writings[0][0], 1, base, moves, report="value"),
            *(Writing(table, {"sensitivity": plain(moves * f)}, (how,)) for table, f, how in picked),
        ]
    report = rng.choice(["index", "index", "value", "index+gap"])
    return [most(table, n, neighbours, moves * f, report=report) for table, f, _ in picked]


def thresholds(rng: Random) -> list[Writing]:
    """Above threshold, and the stream that it is."""
    law = rng.choice([laplace, laplace, gaussian, discrete_laplace])(rng)
    other = law if rng.random() < 0.5 else rng.choice([laplace, gaussian])(rng) if not law.integers else discrete_laplace(rng)
    rho, nu = law.writings[0][0], other.writings[0][0]
    queries, positives = rng.choice([1, 2, 3, None]), rng.choice([1, 1, 2])
    neighbours = rng.choice(["all", "monotone", "increasing", "decreasing"])
    moves = rng.choice([1, 2])
    t = rng.choice([0, 0, 1])
    with_rho, with_nu = rng.choice([(True, True), (True, True), (True, False), (False, True)])
    claim = {"sensitivity": moves}
    at: Table = {"kind": "above_threshold", "neighbours": neighbours, "positives": positives, "threshold": t}
    stream: Table = {"kind": "stream", "neighbours": neighbours, "limits": {"found": positives}}
    if with_rho:
        at["threshold_noise"] = rho
        stream["once"] = {"rho": rho}
        stream["state"] = {"t": f"{t} + rho"}
    if with_nu:
        at["query_noise"] = nu
        stream["fresh"] = {"nu": nu}
    if queries is not None:
        at["queries"], stream["queries"] = queries, queries
    elif not with_rho:
        at["queries"], stream["queries"] = 2, 2
    else:
        at["queries"], stream["queries"] = "n", "n"
        at["parameters"] = stream["parameters"] = {"n": "positive integer"}
    left, right = f"q{' + nu' if with_nu else ''}", "t" if with_rho else str(t)
    one: Table = {**stream, "step": [{"when": f"{left} >= {right}", "emit": "above", "count": {"found": 1}}, {"emit": "below"}]}
    two: Table = {**stream, "step": [{"when": f"{left} < {right}", "emit": "no"}, {"emit": "yes", "count": {"found": 1}}]}
    three: Table = {**stream, "step": [{"when": f"2*({left}) >= 2*({right})", "emit": "above", "count": {"found": 1}}, {"emit": "below"}]}
    ways = [
        Writing(at, claim),
        Writing(one, claim, ("stream",)),
        Writing(two, claim, ("stream, turned",)),
        Writing(three, claim, ("stream, doubled",)),
    ]
    if not law.integers and not other.integers:
        doubled: Table = {**at, "threshold": 2 * t}
        for key, table in (("threshold_noise", rho), ("query_noise", nu)):
            if key in at:
                scale = "sigma" if "sigma" in table else "scale"
                doubled[key] = {**table, scale: f"2*({table[scale]})"}
        ways.append(Writing(doubled, {"sensitivity": 2 * moves}, ("twice",)))
    return ways


def kernels(rng: Random) -> list[Writing]:
    """A kernel whose density is that of a noise about the true answer, and the noise; inputs stretched."""
    b, length = rng.choice([1, 2]), rng.choice([1, 2])
    name = rng.choice(["laplace", "gaussian", "logistic"])
    shape = {
        "laplace": f"exp(-abs(X)/{b})/(2*{b})",
        "gaussian": f"exp(-(X)**2/(2*{b}**2))/({b}*sqrt(2*pi))",
        "logistic": f"1/(4*{b}*cosh((X)/(2*{b}))**2)",
    }[name]
    whole = ["-inf", "inf"]
    noise = _builtin(name, **{"sigma" if name == "gaussian" else "scale": b})
    return [
        Writing(noise, {"sensitivity": length}),
        Writing({"kind": "kernel", "density": shape.replace("X", "y - theta"), "output": whole, "input": [0, length]}, {}),
        Writing({"kind": "kernel", "density": shape.replace("X", "y - theta/2"), "output": whole, "input": [0, 2 * length]}, {}),
        Writing({"kind": "kernel", "density": shape.replace("X", "y + theta"), "output": whole, "input": [-1, 5]}, {"sensitivity": length}),
    ]


def guarantees(rng: Random) -> list[Writing]:
    """What is known of a mechanism, composed and in other words."""
    e = rng.choice([Fraction(1), Fraction(1, 2)])
    way = rng.choice(["pure", "gdp", "zcdp", "approximate"])
    stated: Table = {"kind": "guarantee"}
    match way:
        case "pure":
            return [
                Writing(_compose([{**stated, "epsilon": str(e)}]), {}),
                Writing({**stated, "epsilon": str(e)}, {}),
                Writing({**stated, "curve": [[str(e), 0]]}, {}),
                Writing({"kind": "group", "part": {**stated, "epsilon": str(e)}, "size": 1}, {}),
            ]
        case "gdp":
            return [
                Writing({**stated, "gdp": 2}, {}),
                Writing(_compose([{**stated, "gdp": 1, "times": 4}]), {}),
                Writing({"kind": "parallel", "parts": [{**stated, "gdp": 2}, {**stated, "gdp": 1, "times": 2}]}, {}),
                Writing(_compose([{**stated, "gdp": "sqrt(2)"}] * 2), {}),
            ]
        case "zcdp":
            return [
                Writing({**stated, "zcdp": 1}, {}),
                Writing(_compose([{**stated, "zcdp": "1/4", "times": 4}]), {}),
                Writing(_compose([{**stated, "zcdp": "1/3"}, {**stated, "zcdp": "2/3"}]), {}),
                Writing({"kind": "parallel", "parts": [{**stated, "zcdp": 1}, {**stated, "zcdp": "1/4", "times": 3}]}, {}),
            ]
    return [
        Writing({**stated, "epsilon": str(e), "delta": "1/100"}, {}),
        Writing({**stated, "curve": [[str(e), "1/100"]]}, {}),
        Writing({"kind": "parallel", "parts": [{**stated, "epsilon": str(e), "delta": "1/100"}] * 2}, {}),
        Writing(_compose([{**stated, "curve": [[str(e), "1/100"]], "times": 1}]), {}),
    ]


def parameters(rng: Random) -> list[Writing]:
    """Delta that is stated or left out, and numbers that are letters with a value."""
    law = rng.choice([laplace, gaussian])(rng)
    table = law.writings[0][0]
    key = "sigma" if law.name == "gaussian" else "scale"
    return [
        Writing(table, {"sensitivity": 1}),
        Writing({**table, key: "s", "parameters": {"s": table[key]}}, {"sensitivity": 1}),
        Writing({**table, key: "s", "parameters": {"s": table[key], "D": 1}}, {"sensitivity": "D"}),
        Writing(_compose([{**table, key: f"2*({table[key]})", "sensitivity": "sqrt(2)*sqrt(2)"}]), {}),
        Writing({"kind": "lipschitz", "part": {**table, "sensitivity": "1/3"}, "constant": 3}, {}),
        Writing({"kind": "group", "part": {**table, "sensitivity": "1/5"}, "size": 5}, {}),
    ]


def wrapped_queries(rng: Random) -> list[Writing]:
    """Parts with queries on the same records, some of them under a combinator that does nothing: they still see one pair of neighbours."""
    columns, count = 2, 2
    adjacency = rng.choice(["add-remove", "add-remove", "l1"])
    query = [[1, 0], [0, 1]] if rng.random() < 0.5 else [[rng.choice([0, 1, 2, -1]) for _ in range(columns)] for _ in range(count)]
    query = [row if any(row) else [1, 1] for row in query]
    name = rng.choice(["laplace", "gaussian", "discrete_laplace"])
    if name == "discrete_laplace":
        adjacency = "add-remove"
    noise = _builtin(name, **{"sigma" if name == "gaussian" else "scale": 2})
    parts = [{**noise, "query": [row], "adjacency": adjacency} for row in query]
    size = rng.choice([1, 1, 2])

    def around(part: Table, kinds: Sequence[str]) -> Table:
        match rng.choice(kinds):
            case "group":
                return {"kind": "group", "part": part, "size": 1}
            case "lipschitz":
                return {"kind": "lipschitz", "part": part, "constant": 1}
            case "post_process":
                return {"kind": "post_process", "part": part, "map": "the identity"}
            case "parallel":
                return {"kind": "parallel", "parts": [part]}
            case "subsample":
                return {"kind": "subsample", "part": part, "rate": 1}
        return {"kind": "compose", "parts": [part]}

    kinds = ["group", "lipschitz", "post_process", "parallel", "compose"] + (["subsample"] if adjacency == "add-remove" else [])

    def whole(parts: Sequence[Table]) -> Table:
        return _compose(parts) if size == 1 else {"kind": "group", "part": _compose(parts), "size": size}

    return [
        Writing(whole(parts), {}),
        Writing(whole([around(parts[0], kinds), parts[1]]), {}),
        Writing(whole([parts[0], around(around(parts[1], kinds), kinds)]), {}),
        Writing(whole([around(part, kinds) for part in parts]), {}),
        Writing(whole([around(_compose(parts), kinds)]), {}),
        Writing(around(whole(parts[::-1]), kinds), {}),
    ]


def samples(rng: Random) -> list[Writing]:
    """Samples of samples, of both schemes; a sample of everything."""
    scheme = rng.choice(["poisson", "without_replacement"])
    p, q = rng.choice(
        [(Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 5)), (Fraction(1), Fraction(1, 4)), (Fraction(1), Fraction(1))]
    )
    part = rng.choice([_builtin("laplace", scale=1), _builtin("gaussian", sigma=2), _builtin("discrete_laplace", scale=2)])
    times = rng.choice([1, 1, 2])
    if times > 1:
        part = {**part, "times": times}
    if scheme == "poisson" and rng.random() < 0.3:
        part |= {"query": [[1, 0]], "adjacency": "add-remove"}

    def sample(part: Table, rate: Fraction) -> Table:
        return {"kind": "subsample", "part": part, "rate": plain(rate), "scheme": scheme}

    ways = [
        Writing(sample(part, p * q), {}),
        Writing(sample(sample(part, q), p), {}),
        Writing(sample(sample(part, p), q), {}),
        Writing(sample(_compose([part]), p * q), {}),
        Writing(sample({"kind": "group", "part": sample(part, p), "size": 1}, q), {}),
    ]
    if p * q == 1:
        ways.append(Writing(_compose([part]), {}))
    return ways


def mixtures(rng: Random) -> list[Writing]:
    """Noise by a mixing law, and the noise that it is."""
    moves = rng.choice(["1/2", 1, 2])
    way = rng.choice(["laplace", "student", "two"])
    mixture: Table = {"kind": "mixture", "norm": "l2", "dimension": 1, "support": [0, "inf"]}
    match way:
        case "laplace":
            return [
                Writing(_builtin("laplace", scale="sqrt(1/2)"), {"sensitivity": moves}),
                Writing({**mixture, "profile": "v**(-1/2)*exp(-r**2/(2*v))", "mixing": "exp(-v)"}, {"sensitivity": moves}),
                Writing({**mixture, "profile": "v**(-1/2)*exp(-r**2/(4*v))", "mixing": "exp(-2*v)"}, {"sensitivity": moves}),
                Writing(
                    {**mixture, "profile": "v**(-1/2)*exp(-r**2/(2*v))", "mixing": "exp(-v)", "scale": 3}, {"sensitivity": f"3*({moves})"}
                ),
            ]
        case "student":
            nu, d = rng.choice([3, 5]), rng.choice([1, 2])
            profile, mixing = f"v**(-{d}/2)*exp(-r**2/(2*v))", f"v**(-{nu}/2 - 1)*exp(-{nu}/(2*v))"
            return [
                Writing(_builtin("student_t", nu=nu, dimension=d), {"sensitivity": moves}),
                Writing({**mixture, "dimension": d, "profile": profile, "mixing": mixing}, {"sensitivity": moves}),
                Writing(_builtin("student_t", nu=nu, dimension=d, scale=2), {"sensitivity": f"2*({moves})"}),
            ]
    s = rng.choice([1, 2])
    return [
        Writing(_builtin("laplace", scale=s), {"sensitivity": moves}),
        Writing({"kind": "radial", "profile": f"exp(-r/{s})", "norm": "l2", "dimension": 1}, {"sensitivity": moves}),
        Writing({"kind": "lipschitz", "part": {**_builtin("laplace", scale=s), "sensitivity": f"({moves})/2"}, "constant": 2}, {}),
    ]


def guesses(rng: Random) -> list[Writing]:
    """Selections and streams as parts: a count written out, under a combinator that does nothing, of twice the records."""
    moves = rng.choice([1, 2])
    law = rng.choice([laplace, laplace, gaussian, discrete_laplace])(rng)
    noise = law.writings[0][0]
    kind = rng.choice(["noisy_max", "above_threshold", "exponential"])
    some: Table = {
        "noisy_max": {"kind": "noisy_max", "noise": noise, "candidates": 2, "neighbours": "all"},
        "above_threshold": {"kind": "above_threshold", "threshold_noise": noise, "query_noise": noise, "queries": 2, "neighbours": "all"},
        "exponential": {"kind": "exponential", "candidates": 3, "beta": "1/2", "neighbours": "all"},
    }[kind]
    part = {**some, "sensitivity": moves}
    if rng.random() < 0.5:
        return [
            Writing(some, {"sensitivity": moves}),
            Writing(_compose([part]), {}),
            Writing({"kind": "parallel", "parts": [part, part]}, {}),
            Writing({"kind": "group", "part": part, "size": 1}, {}),
            Writing({"kind": "subsample", "part": {"kind": "post_process", "part": part, "map": "the identity"}, "rate": 1}, {}, (), True),
        ]
    return [
        Writing({"kind": "compose", "part": {**part, "times": 2}}, {}),
        Writing(_compose([part, part]), {}),
        Writing(_compose([{"kind": "parallel", "parts": [part]}, part]), {}),
        Writing({"kind": "parallel", "parts": [{**part, "times": 2}]}, {}),
        Writing({"kind": "subsample", "part": {**part, "times": 2}, "rate": 1}, {}),
    ]


FAMILIES: dict[str, Callable[[Random], list[Writing]]] = {
    one.__name__: one
    for one in (
        stacked_queries, wrapped_queries, samples, mixtures, guesses, derived_sensitivities, norms, flattened, scores, points, selections,
        thresholds, kernels, guarantees, parameters,
    )
}  # fmt: skip

"""Every combination that a claim can name against its meaning by definition (truth.py): combinator x measure x kind, in truths.toml.

`python -m tests.laws.test_truths KIND...` writes the lines of these kinds in the table again, from what is seen.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.order.enclosed import enclose
from tests.laws import truth
from tests.laws.mechanisms import KINDS, responding
from tests.laws.truth import CLAIMS, MEASURES, Mechanism

TABLE = Path(__file__).with_suffix("").with_name("truths.toml")
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "independent-truths.md"
ALONE = "none"
COMBINATORS: dict[str, Callable[[Mechanism, Mechanism], dict[str, Any]]] = {
    "compose": lambda a, b: {"kind": "compose", "parts": [a, b]},
    "times": lambda a, b: {"kind": "compose", "parts": [{**a, "times": 2}]},
    "poisson": lambda a, b: {"kind": "subsample", "rate": "1/3", "part": a},
    "without replacement": lambda a, b: {"kind": "subsample", "rate": "1/2", "scheme": "without_replacement", "part": a},
    "group": lambda a, b: {"kind": "group", "size": 2, "part": a},
    "post_process": lambda a, b: {"kind": "post_process", "part": a},
    "parallel": lambda a, b: {"kind": "parallel", "parts": [a, b]},
    "parallel times": lambda a, b: {"kind": "parallel", "parts": [{**a, "times": 2}, b]},
    "lipschitz": lambda a, b: {"kind": "lipschitz", "constant": 2, "part": a},
}
WORDS = {
    "=": "both bounds, which meet",
    "#": "both bounds, apart",
    "<": "an upper bound alone",
    ">": "a lower bound alone",
    ".": "no bound",
    "x": "refused by the reader",
    "!": "a wrong bound, or a crash",
    "?": "tested, but not written down what is told",
}
UNWRITTEN = "?"
"""A line that is tested, but for which nobody has written down which bounds there are."""
RANK = {"=": 3, "#": 2, "<": 1, ">": 1, ".": 0, "x": 0, "!": -1, "-": 0}
ORDERED = ("table", "k_randomized_response", "exponential of scores", "discrete_laplace", "integer translation", "laplace")
"""Kinds that are asked about in one order too."""


@dataclass(frozen=True)
class Cell:
    """A line of the table: a mechanism in every measure."""

    kind: str
    combinator: str
    order: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.kind if self.order is None else f"{self.kind}, {self.order}"), self.combinator

    @property
    def name(self) -> str:
        return ", ".join(self.key)

    @property
    def written(self) -> dict[str, Any]:
        """The mechanism as a claim file has it."""
        kind = KINDS[self.kind]
        found = dict(kind.written), dict(kind.other or kind.written)
        if self.combinator == ALONE:
            return {key: value for key, value in found[0].items() if key != "sensitivity"}
        outer, _, inner = self.combinator.partition(" of ")
        first = COMBINATORS[inner](*found) if inner else found[0]
        return COMBINATORS[outer](first, found[1])

    def claim(self, measure: str) -> dict[str, Any]:
        kind = KINDS[self.kind]
        moves = self.combinator == ALONE and not {"rows", "scores"} & kind.written.keys() and kind.written["kind"] != "guarantee"
        moves = moves and not kind.written.get("name", "").endswith("response")
        found = {**CLAIMS[measure], **({"sensitivity": kind.written.get("sensitivity", 1)} if moves else {})}
        return {**found, **({"order": self.order} if self.order else {})}

    @property
    def size(self) -> int:
        """How many outputs there are."""
        leaf = KINDS[self.kind].leaf(KINDS[self.kind].written)
        parts = {"compose": 2, "times": 2, "parallel": 2, "parallel times": 3}.get(self.combinator, 1)
        return len(leaf.law(leaf.starts[0])) ** parts

    def truths(self) -> tuple[dict[str, float], dict[str, float]]:
        """What the tight value is at least, by instances, and what no lower bound may be above."""
        kind, written = KINDS[self.kind], self.written
        drawn = "without_replacement" in json.dumps(written)
        others = (3 if self.combinator == "without replacement of without replacement" else 1) if drawn else 0
        # A table is at rows of its own in the sample and beside it: records that both databases have bring that about.
        least = truth.truths(truth.laws(written, kind.leaf, self.order, others=others, replace=drawn))
        most = dict(least)
        if kind.other or kind.most:
            leaf = kind.leaf
            if kind.most is not None:
                leaf = responding(kind.most * (2 if self.combinator in ("group", "lipschitz") else 1))
            most = truth.truths(truth.laws(written, leaf, self.order, others=others, replace=drawn, linked=False))
        return least, {name: math.inf if kind.known.get(name) == math.inf else value for name, value in most.items()}


def stated(mechanism: Mechanism, claimed: Mapping[str, Any]) -> Claim:
    """As a claim file would state it. Raises SpecError."""
    return read_tables("truth", {"mechanism": mechanism, "claim": [{"name": "it", **claimed}]}).claims[0].claim


def told(mechanism: Mechanism, claimed: Mapping[str, Any], measure: str) -> tuple[float | None, float | None]:
    """The bounds on the tight value in a measure. Raises SpecError."""
    found = verify(stated(mechanism, claimed), 10).judgement
    pair = (found.delta_lower, found.delta_upper) if measure == "delta" else (found.lower, found.upper)
    lower, upper = (math.inf if isinstance(b, Infinite) else None if b is None else float(enclose(b, 160).mid()) for b in pair)
    return lower, upper


def seen(cell: Cell, measure: str, least: float, most: float) -> tuple[str, str]:
    """The sign of what is told, and what is wrong with it."""
    try:
        lower, upper = told(cell.written, cell.claim(measure), measure)
    except SpecError as error:
        return "x", str(error)
    except Exception as error:
        return "!", f"{cell.name}, {measure}: {type(error).__name__}: {error}"

    def room(value: float, share: float) -> float:
        return 0 if value == math.inf else share * (1 + value)

    if upper is not None and not upper >= least - room(least, max(1e-8, KINDS[cell.kind].exact / 1e4)):
        return "!", f"{cell.name}, {measure}: at most {upper} is told, and it is at least {least}"
    if lower is not None and not lower <= most + room(most, KINDS[cell.kind].exact):
        return "!", f"{cell.name}, {measure}: at least {lower} is told, and it is at most {most}"
    if lower is None or upper is None:
        return (".", "") if lower == upper else ("<", "") if lower is None else ("=" if lower == math.inf else ">", "")
    return ("=" if lower == upper or upper - lower <= room(upper, 1e-3) else "#"), ""


def signs(cell: Cell) -> tuple[str, list[str]]:
    try:
        stated(cell.written, cell.claim("pure"))
    except SpecError:
        return "x" * len(MEASURES), []
    least, most = cell.truths()
    found = [seen(cell, measure, least[measure], most[measure]) for measure in MEASURES]
    return "".join(sign for sign, _ in found), [why for sign, why in found if sign == "!"]


# -- the table ---------------------------------------------------------------------------------------


def cells() -> Iterator[Cell]:
    for kind in KINDS:
        for combinator in (ALONE, *COMBINATORS):
            yield Cell(kind, combinator)
            if kind in ORDERED and combinator != "without replacement":
                yield from (Cell(kind, combinator, order) for order in ("one-sided", "reverse"))
    for outer in COMBINATORS:
        yield from (Cell("table", f"{outer} of {inner}") for inner in COMBINATORS)


@cache
def recorded() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text())


def sign_of(cell: Cell) -> str:
    kind, combinator = cell.key
    return recorded()["cells"].get(kind, {}).get(combinator, "")


MOST = 140_000
"""Outputs of a product of laws that are looked at."""
QUICK = {"randomized_response", "guarantee epsilon, delta", "table, group", "table, parallel times", "table, times"}
PARAMETERS = [
    pytest.param(cell, id=cell.name, marks=() if cell.kind in QUICK or cell.name in QUICK else pytest.mark.deep) for cell in cells()
]


@pytest.mark.sampled(14)
@pytest.mark.parametrize("cell", PARAMETERS)
def test_bounds_contain_the_truth(cell):
    line = sign_of(cell)
    if line in recorded()["gaps"]:
        pytest.skip(recorded()["gaps"][line])
    found, wrong = signs(cell)
    if wrong and cell.name in recorded()["wrong"]:
        pytest.xfail("; ".join([recorded()["wrong"][cell.name], *wrong]))
    assert not wrong
    if line == UNWRITTEN:
        return
    lost = [m for m, was, now in zip(MEASURES, line, found, strict=True) if RANK[now] < RANK[was]]
    assert not lost, f"{line} is recorded, {found} is seen"


def test_the_table_has_every_cell_and_no_other():
    """Each cell is a test, or a reason why there is none."""
    written = {(kind, combinator): line for kind, lines in recorded()["cells"].items() for combinator, line in lines.items()}
    assert set(written) == {cell.key for cell in cells()}
    assert all(
        line in recorded()["gaps"] or line == UNWRITTEN or (len(line) == len(MEASURES) and set(line) <= set(WORDS))
        for line in written.values()
    )
    assert set(recorded()["wrong"]) == {", ".join(key) for key, line in written.items() if "!" in line}


def test_the_page_is_made_of_the_table():
    assert PAGE.read_text() == page()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "plane" not in kind])
def test_laws_have_mass_one(kind):
    leaf = KINDS[kind].leaf(KINDS[kind].written)
    for place in {leaf.starts[0], *list(leaf.near(leaf.starts[0], 2))[:2]}:
        law = leaf.law(place).astype(float)
        assert (law >= 0).all() and abs(math.fsum(law) - 1) < 1e-8


def test_the_truth_is_independent():
    for name in ("truth.py", "mechanisms.py"):
        assert not re.search(r"^\s*(import|from) dpverify", (TABLE.parent / name).read_text(), re.MULTILINE)


# -- writing -----------------------------------------------------------------------------------------


HEAD = """# Independent truths

*This page is made by `python -m tests.laws.test_truths page` of `tests/laws/truths.toml`.*

What `dpverify verify` tells is held against what a claim means. `tests/laws/truth.py` computes that from the definitions alone, and uses
nothing of dpverify: databases of a few records, all samples of them, all worlds that take neighbours to neighbours, sums in fractions, and
masses of cells by Gauss's rule. The upper bound must be at least the truth, and the lower bound at most the truth. Each line below is one
mechanism, and `test_bounds_contain_the_truth[kind, combinator]` of `tests/laws/test_truths.py` holds it; all but a few run under the marker
`deep`. What was found wrong by hand is in `tests/laws/test_truths_by_hand.py`.

A line has a sign for each of: {measures}. There `delta` is at epsilon 1/2, `epsilon` at delta 1/20, and `renyi` at its order. A line fails
where a bound is wrong, and where one that is written down is lost.
"""


def page() -> str:
    """The table for readers."""
    data = recorded()
    head = [*HEAD.format(measures=", ".join(MEASURES)).splitlines(), "", "| sign | what is told |", "|---|---|"]
    head += [*(f"| `{sign}` | {word} |" for sign, word in WORDS.items()), ""]
    single = [ALONE, *COMBINATORS]
    lines = data["cells"]
    body = ["## One combinator", "", "| kind | " + " | ".join(single) + " |", "|---" * (len(single) + 1) + "|"]
    body += [f"| {kind} | " + " | ".join(f"`{found[c]}`" if c in found else "" for c in single) + " |" for kind, found in lines.items()]
    body += [
        "",
        "## One inside another, of tables",
        "",
        "| outer, inner | " + " | ".join(COMBINATORS) + " |",
        "|---" * (len(COMBINATORS) + 1) + "|",
    ]
    body += [f"| {a} | " + " | ".join(f"`{lines['table'][f'{a} of {b}']}`" for b in COMBINATORS) + " |" for a in COMBINATORS]
    wrong = [f"- {name}: {why}" for name, why in data["wrong"].items()]
    gaps = [f"- {name}: {why}" for name, why in data["gaps"].items()]
    gaps += [f"- {why}" for why in data["untested"]]
    return "\n".join([*head, *body, "", *(["## Known to be wrong", "", *wrong, ""] if wrong else []), "## Gaps", "", *gaps]) + "\n"


def write(kinds: list[str]) -> None:
    data = recorded()
    for cell in cells():
        kind, combinator = cell.key
        lines = data["cells"].setdefault(kind, {})
        if cell.kind not in kinds and cell.name not in kinds:
            lines[combinator] = "cells" if cell.size > MOST else lines.get(combinator, UNWRITTEN)
        else:
            if lines.get(combinator) in data["gaps"]:
                continue
            if cell.size > MOST:
                lines[combinator] = "cells"
                continue
            lines[combinator], wrong = signs(cell)
            data["wrong"].pop(cell.name, None)
            if wrong:
                data["wrong"][cell.name] = wrong[0].removeprefix(f"{cell.name}, ")
            print(cell.name, lines[combinator], *wrong, flush=True)  # noqa: T201
            save(data)
    save(data)


def save(data: Mapping[str, Any]) -> None:
    order = [cell.key for cell in cells()]
    text = [
        TABLE.read_text().partition("\nuntested = [\n")[0],
        "untested = [",
        *(f"    {json.dumps(why)}," for why in data["untested"]),
        "]",
    ]
    text += ["", "[gaps]"]
    text += [f"{json.dumps(key)} = {json.dumps(why)}" for key, why in data["gaps"].items()]
    text += ["", "[wrong]", *(f"{json.dumps(key)} = {json.dumps(why)}" for key, why in data["wrong"].items())]
    for kind in dict.fromkeys(kind for kind, _ in order):
        if kind in data["cells"]:
            text += ["", f"[cells.{json.dumps(kind)}]"]
            text += [f"{json.dumps(c)} = {json.dumps(data['cells'][kind][c])}" for k, c in order if k == kind and c in data["cells"][kind]]
    TABLE.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["page"]:
        PAGE.write_text(page())
    else:
        write(sys.argv[1:])

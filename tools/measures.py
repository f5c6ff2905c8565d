"""The numbers that the design states of the code, measured: the table under "In numbers" in docs/design.md.

    python tools/measures.py

writes them; tests/test_measures.py fails where the page says other numbers than the code gives.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import graph  # noqa: E402

from dpverify.evidence.collected import by_name, read  # noqa: E402
from dpverify.report.stated import file_of  # noqa: E402
from dpverify.report.trust import lines_of_code, rests_on  # noqa: E402
from dpverify.trusted.kernel.certificate import decode  # noqa: E402
from dpverify.trusted.kernel.judgement import check  # noqa: E402
from dpverify.trusted.kernel.loading import asked_for  # noqa: E402
from dpverify.trusted.kernel.proof import forget  # noqa: E402
from dpverify.trusted.kernel.registry import CURVES, OF_CURVES, RULES, THEORIES  # noqa: E402

PAGE = ROOT / "docs" / "design.md"
HEADING = "## In numbers\n"
TRUSTED = ROOT / "dpverify" / "trusted"
FAMILIES = {
    "Laplace noise": "laplace.sensitivity-1-exact",
    "multivariate t noise": "student_t.sensitivity-1-exact",
    "K-norm noise": "knorm_l1.sensitivity-1-exact",
    "the delta of Gaussian noise": "delta_gaussian.delta-exact",
    "a thousand steps of subsampled Gaussian noise": "compose_subsampled_gaussian.epsilon-above",
}
"""A committed certificate of each family."""


def rows() -> list[tuple[str, str]]:
    """Each measure with its value."""
    files = sorted(TRUSTED.rglob("*.py"))
    rules = list(map(file_of, THEORIES))
    sizes, without = [lines_of_code(rule) for rule in rules], [lines_of_code(rule) - theorem_text(rule) for rule in rules]
    drawn = graph.read(ROOT)
    return [
        ("rules that a line of a certificate may name", f"{len(RULES.keys() | OF_CURVES)}"),
        ("further theorems that rules go through", f"{len(CURVES.keys() - OF_CURVES - RULES.keys())}"),
        ("files, lines of code and statements below the trust line", _size(files)),
        ("lines of code of the file of a rule: median, most", f"{median(sizes):.0f}, {max(sizes)}"),
        ("the same without the text of the theorem", f"{median(without):.0f}, {max(without)}"),
        *((f"files, lines and statements loaded to check {family}", _size(_loaded(name))) for family, name in FAMILIES.items()),
        ("import graph by folder: nodes, layers, edges", f"{len(drawn.nodes)}, {drawn.layers}, {len(drawn.edges)}"),
        ("edges that lead up, circles, circles of files that only imports in functions close", _crossed(drawn)),
    ]


def _crossed(drawn: graph.Graph) -> str:
    return f"{len(drawn.up)}, {len(drawn.circles)}, {len(drawn.loaded_circles)}"


@cache
def _committed() -> dict[str, Path]:
    return by_name(ROOT / "reports")


def _loaded(name: str) -> tuple[Path, ...]:
    """The files below the trust line that the check of a committed certificate loads."""
    forget()
    data = decode(read(_committed()[name]))
    with asked_for() as places:
        check(data)
    return rests_on([line["rule"] for line in data["lines"]], places).files


def _size(files: Iterable[Path]) -> str:
    files = list(files)
    return f"{len(files)}, {sum(map(lines_of_code, files)):,}, {sum(map(statements, files)):,}"


@cache
def statements(file: Path) -> int:
    """The statements of a file, docstrings aside."""
    found = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.stmt)]
    return sum(
        not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)) for one in found
    )


def theorem_text(file: Path) -> int:
    """The lines of a rule that say its theorem: name, statement, what is checked and assumed, source."""
    told = ("NAME", "STATEMENT", "CHECKED", "ASSUMED", "SOURCE")
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return sum(
        (one.end_lineno or one.lineno) - one.lineno + 1
        for one in body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.target.id in told
    )


def written(page: str) -> str:
    """The page with the table of today."""
    before, _, rest = page.partition(HEADING)
    head, _, _ = rest.partition("|")
    after = rest[rest.index("\n\n", rest.index("\n|")) :]
    table = "\n".join(["| measure | value |", "|---|---|", *(f"| {measure} | {value} |" for measure, value in rows())])
    return f"{before}{HEADING}{head}{table}{after}"


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

"""What a verdict is said to rest on is what a fresh process loads to check its certificate, and nothing else."""

import ast
import builtins
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpverify.evidence import recheck as rechecking
from dpverify.report.trust import TRUSTED, rests_on
from dpverify.trusted.kernel.loading import asked_for, remembered
from dpverify.trusted.kernel.proof import forget
from dpverify.trusted.theories.curves.rules import gaussian
from tests import committed

ROOT = Path(__file__).parents[1]
FOLDER = Path(rechecking.__file__).parents[1] / "trusted"
FLOORS = ("kernel", "language", "numbers", "order", "geometry", "shapes", "sensitivity", "combinators", "facts", "theories", "claims")
UP = {("combinators/runs.py", "dpverify.trusted.theories.processes.norms")}
"""What asks for a higher floor, besides the kernel, which asks for all."""
NAMES = (
    "delta_gaussian.delta-exact",
    "compose_subsampled_laplace.pure-exact",
    "bounded_laplace.any-two-inputs-tight",
    "all_parameter_bounds.three-quotients-nesbitts-inequality",
    "delta_knorm_hexagon.a-vertex",
)
CERTIFICATES = [committed.place(name) for name in NAMES]

CHECK = """
import json, sys
from pathlib import Path
from dpverify.evidence.recheck import recheck
found = recheck(Path(sys.argv[1]))
print(json.dumps([found.code, found.rules, found.places, sorted(name for name in sys.modules if name.startswith("dpverify.trusted"))]))
"""


def fresh(certificate: Path) -> tuple[tuple[str, ...], tuple[str, ...], set[str]]:
    """The rules, the places asked for and the modules of a check in a process of its own."""
    run = subprocess.run([sys.executable, "-c", CHECK, str(certificate)], capture_output=True, text=True, check=True, cwd=ROOT)
    code, rules, places, modules = json.loads(run.stdout)
    assert code == 0
    return tuple(rules), tuple(places), set(modules)


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=NAMES)
def test_what_a_fresh_process_loads_to_check_a_certificate_is_what_its_verdict_rests_on(certificate):
    rules, places, modules = fresh(certificate)
    files = {FOLDER.joinpath(*name.removeprefix(TRUSTED).split(".")[1:]) for name in modules}
    counted = {file.parent if file.name == "__init__.py" else file.with_suffix("") for file in rests_on(rules, places).files}
    assert counted == files


@pytest.mark.wide
def test_a_check_after_others_asks_for_what_a_fresh_one_asks_for():
    for certificate in CERTIFICATES[:2] * 2:
        _, places, _ = fresh(certificate)
        forget()
        assert set(rechecking.recheck(certificate).places) == set(places)


def test_a_fact_that_is_remembered_asks_for_its_rule_again():
    first, again = rechecking.recheck(CERTIFICATES[0]), rechecking.recheck(CERTIFICATES[0])
    assert gaussian.__name__ in first.places
    assert set(first.places) == set(again.places)


def test_what_is_remembered_asks_again_for_what_it_loaded():
    made = []

    @remembered(4)
    def answer(name):
        from dpverify.trusted.numbers import series

        made.append(name)
        return series.__name__ + name

    assert answer("a") == answer("a") and made == ["a"]
    with asked_for() as places:
        answer("a")
    assert list(places) == ["dpverify.trusted.numbers.series"]


def test_a_record_inside_a_record_counts_for_both_and_ends_alone():
    with asked_for() as outer:
        with asked_for() as inner:
            from dpverify.trusted.kernel.balls import constant
        from dpverify.trusted.kernel import model
    from dpverify.trusted.numbers import series

    found = [module.removeprefix("dpverify.trusted.") for module in outer]
    assert (list(inner), found) == (["dpverify.trusted.kernel.balls"], ["kernel.balls", "kernel.model"])
    assert constant and model and series


def test_nothing_records_where_nobody_asks():
    before = builtins.__import__
    with asked_for():
        assert builtins.__import__ is not before
    assert builtins.__import__ is before


def test_a_record_ends_where_what_is_recorded_fails():
    before = builtins.__import__
    with pytest.raises(ZeroDivisionError), asked_for():
        raise ZeroDivisionError
    assert builtins.__import__ is before


def test_imports_of_others_and_those_at_the_top_of_a_file_are_not_recorded():
    with asked_for() as places:
        import fractions

        exec("from dpverify.trusted.numbers import series", {})
    assert fractions and not places


def floor(path: Path) -> int:
    """The floor of a file below the line."""
    return FLOORS.index(path.relative_to(FOLDER).parts[0])


@pytest.mark.wide
def test_what_is_loaded_on_need_lies_no_higher():
    up = set()
    for path in sorted(set(FOLDER.rglob("*.py")) - set(FOLDER.glob("kernel/*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            inside = isinstance(node, ast.ImportFrom) and node.col_offset and (node.module or "").startswith(f"{TRUSTED}.")
            if inside and floor(FOLDER.joinpath(*node.module.split(".")[2:])) > floor(path):
                up.add((path.relative_to(FOLDER).as_posix(), node.module))
    assert up == UP


def test_what_is_remembered_below_the_line_remembers_what_it_loaded():
    # these load nothing on need
    pure = {"calls.py", "rationals.py", "expr.py", "loading.py", "bessel.py", "evaluate.py", "laplace_sums.py", "streams.py"}
    pure |= {"participation.py", "histograms.py"}
    plain = [path for path in FOLDER.rglob("*.py") if "lru_cache" in path.read_text()]
    assert {path.name for path in plain} <= pure
    assert not [path for path in plain if re.search(r"^ +from dpverify", path.read_text(), re.MULTILINE)]


@pytest.mark.wide
def test_a_report_says_of_each_claim_what_a_check_of_its_certificate_loads(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = [f"specs/{name}.toml" for name in ("laplace", "delta_exponential_radial", "compose_laplace")]
    run = subprocess.run(
        [sys.executable, "-m", "dpverify", "report", *files, "-o", str(tmp_path / "report"), "--no-audit"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "report" / "index.html").read_text()
    said = re.findall(r'href="(?:\./)?([^"/]*\.cert\.json)".*?<dt>rests on</dt><dd>(.*?)</dd>', page)
    certificates = sorted((tmp_path / "report").glob("*.cert.json"))
    assert sorted(name for name, _ in said) == [file.name for file in certificates]
    for name, text in said[::4]:
        rules, places, _ = fresh(tmp_path / "report" / name)
        assert text == rests_on(rules, places).text(), name

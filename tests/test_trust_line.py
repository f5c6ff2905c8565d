"""The trust line is real: what says PROVED or REFUTED is the standard library, flint, and the files below the line."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "dpverify"
TRUSTED = PACKAGE / "trusted"
BELOW = sorted(TRUSTED.rglob("*.py"))
LOAD_ALL = """
import importlib, json, pkgutil, sys
before = set(sys.modules)
import dpverify.evidence.recheck
for module in pkgutil.walk_packages(dpverify.trusted.__path__, "dpverify.trusted."):
    importlib.import_module(module.name)
# The compiled parts of flint put runtime modules there that come from no file and have no spec.
found = [name for name in set(sys.modules) - before if getattr(sys.modules[name], "__spec__", None)]
print(json.dumps(sorted(found)))
"""


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """The modules that a fresh interpreter loads for the kernel and every rule."""
    run = subprocess.run([sys.executable, "-c", LOAD_ALL], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    return json.loads(run.stdout)


def test_the_kernel_and_all_rules_load_only_the_standard_library_and_flint(loaded):
    tops = {name.partition(".")[0] for name in loaded}
    assert tops - sys.stdlib_module_names == {"dpverify", "flint"}


def test_the_kernel_and_all_rules_load_nothing_from_above_the_line(loaded):
    inside = {name for name in loaded if name.startswith("dpverify.")}
    assert {"dpverify.trusted.kernel.judgement", "dpverify.trusted.theories.additive.rules.modulus"} <= inside
    assert {name for name in inside if not name.startswith("dpverify.trusted")} == {
        "dpverify.evidence",
        "dpverify.evidence.collected",
        "dpverify.evidence.recheck",
        "dpverify.runtime",
        "dpverify.runtime.outside",
        "dpverify.runtime.streams",
    }


def calls(path: Path) -> set[str]:
    """Everything that a file calls, as written."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}


FLOATS = {"float", "math.exp", "math.log", "math.sqrt"}
TEXT = {"eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "import_module"}


@pytest.mark.wide
def test_no_binary_float_is_written_and_no_text_is_run_below_the_trust_line():
    wrong = []
    for path in BELOW:
        where, tree = str(path.relative_to(PACKAGE)), ast.parse(path.read_text())
        constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        wrong += [f"{where}:{node.lineno}: {node.value} is a float" for node in constants if isinstance(node.value, float | complex)]
        wrong += [f"{where}: calls {name}" for name in sorted(calls(path) & FLOATS)]
        wrong += [f"{where}: calls {name}" for name in sorted(calls(path) & TEXT)]
        wrong += [f"{where}: names importlib"] * ("importlib" in path.read_text())
    assert wrong == []


@pytest.mark.wide
def test_only_the_kernel_makes_judgements():
    makers = [path for path in sorted(PACKAGE.rglob("*.py")) if any(name.split(".")[-1] == "Judgement" for name in calls(path))]
    assert makers == [TRUSTED / "kernel" / "judgement.py"]

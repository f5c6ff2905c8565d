"""The trust line is real: what says PROVED or REFUTED is the standard library, flint, and the files below the line."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "dpverify"
CONTRACT = (PACKAGE.parent / ".importlinter").read_text(encoding="utf-8").partition("[importlinter:contract:trust-line]")[2]
TRUSTED = set(re.findall(r"^    dpverify\.(\w+)$", CONTRACT, re.MULTILINE))
BELOW = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in TRUSTED)

LOAD_ALL = """
import importlib, json, pkgutil, sys
before = set(sys.modules)
import dpverify.trusted.kernel, dpverify.rules
for module in pkgutil.iter_modules(dpverify.rules.__path__, "dpverify.rules."):
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
    inside = {name.split(".")[1] for name in loaded if name.startswith("dpverify.")}
    assert {"kernel", "rules", "certificate"} <= inside <= TRUSTED


def calls(path: Path) -> set[str]:
    """Everything that a file calls, as written."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("path", BELOW, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_binary_float_is_written_below_the_trust_line(path):
    constants = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    assert [node.lineno for node in constants if isinstance(node.value, float | complex)] == []
    assert calls(path).isdisjoint({"float", "math.exp", "math.log", "math.sqrt"})


@pytest.mark.parametrize("path", BELOW, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_below_the_trust_line_runs_text_or_unpickles(path):
    assert calls(path).isdisjoint({"eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "importlib.import_module"})


def test_only_the_kernel_makes_judgements():
    makers = [path for path in sorted(PACKAGE.rglob("*.py")) if any(name.split(".")[-1] == "Judgement" for name in calls(path))]
    assert makers == [PACKAGE / "kernel.py"]

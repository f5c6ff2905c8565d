"""`make quick` runs the tests that run what has changed, those of a new line's function, and by their names where nothing is recorded."""

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("coverage", reason="needs the extra `dev`")

TOOL = Path(__file__).parents[1] / "tools" / "mutants"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


for needed in ("operators", "touched"):
    if needed not in sys.modules:
        load(needed)
quick, plugin = load("quick"), load("quick_plugin")
touched = sys.modules["touched"]
BEFORE = "def f(a):\n    b = a\n    return b\n\n\ndef g(a):\n    return a\n"


def recorded(*ran):
    """A record of one file of tests, of each test its seconds and the lines that it runs of one file of code."""
    record = touched.Record()
    tests = [touched.Ran(f"tests/test_x.py::{name}", seconds, True, {"code.py": bits}) for name, seconds, bits in ran]
    record.add("tests/test_x.py", "", {"code.py": BEFORE}, tests)
    return record


FAST, SLOW, OTHER = ("fast", 0.1, 1 << 2 | 1 << 3), ("slow", 2, 1 << 2), ("other", 0.1, 1 << 7)


def names(text, lines, *ran):
    return [[name.rpartition(":")[2] for name in found] for found in quick.by_record(recorded(*ran), "code.py", text, lines)]


def test_a_changed_line_has_the_tests_that_run_it_and_no_others():
    assert names(BEFORE, {3}, FAST, SLOW, OTHER) == [["fast"]]
    assert sorted(names(BEFORE, {2}, FAST, SLOW, OTHER)[0]) == ["fast", "slow"]


def test_a_new_line_has_the_tests_of_its_function_and_functions_are_told_apart():
    text = BEFORE.replace("    b = a\n", "    b = a\n    b += 1\n").replace("    return a\n", "    return a + 1\n")
    found = names(text, {3, 8}, FAST, SLOW, OTHER)
    assert [sorted(each) for each in found] == [["fast", "slow"], ["other"]]


def test_as_many_are_chosen_as_the_time_allows_of_every_function_first(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text("")
    (tmp_path / "code.py").write_text(BEFORE)
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    tests, whole = quick.chosen({"code.py": {2, 7}}, recorded(FAST, SLOW, OTHER), 1)
    assert [name.rpartition(":")[2] for name in tests] == ["fast", "other"] and whole == []
    tests, _ = quick.chosen({"code.py": {2, 7}}, recorded(FAST, SLOW, OTHER), 9)
    assert len(tests) == 3


def test_what_no_record_speaks_of_has_the_tests_of_its_name_and_those_that_import_it(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    uses = {"user": "from package import (\n    a,\n    code,\n)\n", "also": "from package.code import f\n"}
    for name, text in {"code": "", **uses, "other": "from else import code\n", "new": ""}.items():
        (tmp_path / "tests" / f"test_{name}.py").write_text(text)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "code.py").write_text(BEFORE)
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    _, whole = quick.chosen({"tests/test_new.py": {1}, "package/code.py": {2}, "README.md": {1}}, touched.Record(), 9)
    assert whole == ["tests/test_new.py", "tests/test_code.py", "tests/test_also.py", "tests/test_user.py"]


@pytest.mark.parametrize(
    ("hunks", "lines"),
    [
        ("@@ -1 +1 @@", {1}),
        ("@@ -3,0 +4,2 @@ def f():", {4, 5}),
        ("@@ -3,2 +2,0 @@", {2, 3}),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -9,9 +9,3 @@", {1, 9, 10, 11}),
    ],
)
def test_hunks_say_which_lines_are_new_or_beside_what_is_gone(hunks, lines):
    assert quick.lines_of(hunks) == lines


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_a_branch_and_the_working_tree_have_beyond_main_has_changed(tmp_path, monkeypatch):
    def git(*arguments):
        own = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run([*own, *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    git("init", "-b", "main")
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("1\n2\n3\n")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "other")
    (tmp_path / "a.py").write_text("1\n2\n3\n4\n")
    git("commit", "-am", "second")
    (tmp_path / "b.py").write_text("1\n3\n")
    (tmp_path / "new.py").write_text("1\n")
    assert quick.changed(quick.base("main")) == {"a.py": {4}, "b.py": {1, 2}, "new.py": {1, 2}}
    assert quick.changed(quick.base("no-such-branch")) == {"b.py": {1, 2}, "new.py": {1, 2}}


def test_the_plugin_keeps_what_is_chosen_in_its_order_and_some_certificates(monkeypatch):
    told = {"tests": ["t.py::b", "t.py::a"], "whole": ["w.py"], "certificates": "c.py", "until": 0}
    monkeypatch.setattr(plugin, "TOLD", told)
    items = [SimpleNamespace(nodeid=name) for name in ("t.py::a", "t.py::b", "t.py::c", "w.py::x", *(f"c.py::{i}" for i in range(90)))]
    left = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left.extend(items)))
    every = len(items)
    plugin.pytest_collection_modifyitems(config, items)
    kept = [item.nodeid for item in items]
    assert kept[:2] == ["t.py::b", "t.py::a"] and kept[-1] == "w.py::x"
    assert len(kept) == 3 + plugin.CERTIFICATES and len(left) == every - len(kept)


def test_nothing_is_begun_after_the_time(monkeypatch):
    monkeypatch.setattr(plugin, "TOLD", {"until": time.time() - 1})
    with pytest.raises(pytest.skip.Exception, match="the time of `make quick` is over"):
        plugin.pytest_runtest_setup(None)
    monkeypatch.setattr(plugin, "TOLD", {"until": time.time() + 3600})
    plugin.pytest_runtest_setup(None)

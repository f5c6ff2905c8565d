"""What CONTRIBUTING says of adding a rule, done in a copy of the repository: the rule proves, and each of its guards is defended."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
DRIVER = """
import contextlib, importlib, io, json, re, sys
import pytest
from dpverify.catalogue import read_spec
from dpverify.search.verify import verify
from dpverify.trusted.kernel.proof import forget

def run(*arguments):
    forget()
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        code = pytest.main(["-q", "-p", "no:cacheprovider", *arguments])
    return int(code), told.getvalue()

place, tests, name = sys.argv[1:]
first = run(tests, "tests/test_theory.py", "tests/test_house.py", "-k", f"{name} or registry or states_its or has_a_section")
rule = importlib.import_module(place)
text, honest = open(rule.__file__).read(), rule.check
codes = []
for guard in re.finditer(r"raise (Rejected|CertificateError)\\(.*\\)$", text, re.MULTILINE):
    names = {}
    exec(compile(text[: guard.start()] + "pass" + text[guard.end() :], rule.__file__, "exec"), names)
    rule.check = names["check"]
    codes.append([guard[0], run(tests)[0]])
    rule.check = honest
verdicts = [verify(stated.claim).judgement.verdict for stated in read_spec(f"specs/{name}.toml").claims]
print(json.dumps({"first": first, "verdicts": verdicts, "without": codes}))
"""


def applied(text, change):
    """A text with the lines of a diff taken out and put in, at the one place where it fits."""
    lines = change.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A copy of the repository in which the steps have been done, in their order."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("dpverify", "docs", "specs", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "data", "golden", "schemas"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", ".importlinter"):
        shutil.copy(ROOT / name, copy / name)
    (copy / "reports").symlink_to(ROOT / "reports")
    recipe = (ROOT / "CONTRIBUTING.md").read_text().partition("## Adding a rule\n")[2].partition("\n## Adding a kind\n")[0]
    for language, title, body in BLOCK.findall(recipe):
        file = copy / title
        if language == "diff":
            file.write_text(applied(file.read_text(), body))
        elif language == "markdown":
            file.write_text(f"{file.read_text()}\n{body}")
        else:
            assert not file.exists(), title
            file.write_text(body)
    return copy


def test_the_recipe_for_a_rule_gives_a_rule_that_proves_and_whose_guards_are_all_defended(followed):
    place, tests = "dpverify.trusted.theories.finite.rules.equal_rows", "tests/rules/test_equal_rows.py"
    command = [sys.executable, "-c", DRIVER, place, tests, "equal_rows"]
    done = subprocess.run(command, cwd=followed, env={"PYTHONPATH": str(followed)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    code, told = said["first"]
    assert code == 0 and int(re.search(r"(\d+) passed", told)[1]) >= 12, told  # its own tests, and those of the house and the theory
    assert said["verdicts"] == ["PROVED"]
    assert [code for _, code in said["without"]] == [1] * 5, said["without"]

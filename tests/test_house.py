"""The house agrees with itself: code, table of rules, claims, reports and documents tell the same story."""

import ast
import configparser
import inspect
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import dpverify
from dpverify.report.stated import parsed, stated
from dpverify.report.trust import lines_of_code, rests_on
from dpverify.trusted import theories
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.registry import CURVES, EXPLAINED, OF_CURVES, RULES, THEORIES
from tests import committed
from tests.each import holds_of_each

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpverify"
MODULES = [import_module(info.name) for info in walk_packages(theories.__path__, f"{theories.__name__}.") if not info.ispkg]
FILES = {module.__name__.removeprefix(f"{theories.__name__}."): module for module in MODULES if hasattr(module, "ASSUMED")}
JUDGED = {place: module for place, module in FILES.items() if module.NAME in RULES}
THEOREMS = {place: module for place, module in FILES.items() if place not in JUDGED}
SPECS = sorted((ROOT / "specs").rglob("*.toml"))
CERTIFICATES = committed.certificates()
DOCUMENTS = sorted(path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith((".venv", ".git", "build")))
EXAMPLE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
DESIGN = (ROOT / "docs" / "design.md").read_text()


# -- rules -------------------------------------------------------------------------------------


def test_the_registry_lists_every_rule_file_under_its_own_name():
    assert dict(RULES) == {module.NAME: module for module in FILES.values() if asked(module) == "claim"}
    assert {name: CURVES[name] for name in OF_CURVES} == {module.NAME: module for module in FILES.values() if asked(module) == "run"}


def asked(module):
    """What a rule is asked about: a claim, or a run; nothing where no line may name it."""
    rule = getattr(module, "infer", None) or getattr(module, "check", None)
    return None if rule is None else next(iter(inspect.signature(rule).parameters))


def test_a_rule_states_its_theorem_its_hypotheses_and_its_source():
    holds_of_each(sorted(JUDGED), states_its_theorem)


def states_its_theorem(place):
    module = JUDGED[place]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", module.NAME)
    said = stated(module.NAME)
    assert len(said.statement) > 40
    assert all(said.checked), "a rule that checks nothing proves nothing"
    assert isinstance(module.ASSUMED, tuple)
    assert str(said.source)
    assert hasattr(module, "check") != hasattr(module, "infer"), "it has premises or not"
    if hasattr(module, "check"):
        assert list(inspect.signature(module.check).parameters) == ["claim", "evidence"]
    else:
        assert len(inspect.signature(module.infer).parameters) == 3


def test_a_rule_has_tests_of_its_own():
    assert untested(JUDGED) == []


def untested(modules):
    """The modules that no other file of tests names, by file or by rule."""
    named = {word for text in _other_tests() for word in re.findall(r"\w+(?:-\w+)*", text)}
    return [place for place, module in modules.items() if not {place.rpartition(".")[2], module.NAME} & named]


@cache
def _other_tests():
    """What the other files of tests say."""
    return [path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]


def test_every_rule_proves_something_in_the_committed_reports():
    used = {line["rule"] for data in CERTIFICATES.values() for line in data["lines"]}
    assert set(RULES) <= used


# -- theorems about curves -----------------------------------------------------------------------


def test_the_registry_lists_every_theorem_about_curves_under_its_own_name():
    named = {module.NAME: module for module in THEOREMS.values()}
    assert CURVES.items() <= named.items() and len(named) == len(THEOREMS)
    assert [name for name, module in named.items() if name not in CURVES and (hasattr(module, "curve") or hasattr(module, "infer"))] == []
    assert all(len(inspect.signature(named[name].infer).parameters) == 3 for name in OF_CURVES)
    assert not CURVES.keys() & RULES.keys(), "a name in a certificate means one thing"


def test_a_theorem_about_curves_states_its_hypotheses_and_its_source():
    holds_of_each(sorted(THEOREMS), states_its_hypotheses)


def states_its_hypotheses(place):
    module = THEOREMS[place]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", module.NAME)
    said = stated(module.NAME) if module.NAME in EXPLAINED else parsed(inspect.getdoc(module))
    assert len(said.statement) > 40 and all(said.checked) and str(said.source)
    assert isinstance(module.ASSUMED, tuple)


def test_a_theorem_about_curves_has_tests_of_its_own():
    assert untested(THEOREMS) == []


def test_every_theorem_about_curves_is_used_in_the_committed_reports():
    named = {name for name in CURVES if any(f'"{name}"'.encode() in committed.text(one) for one in committed.names())}
    by_others = [one for one in committed.names() if one.startswith(("post_process", "delta_student_t", "best_of", "filter"))]
    through = {name for one in by_others for name in kernel.check(committed.certificate(one)).rules}
    assert [name for name in CURVES if name not in named | through] == []


def test_every_combinator_has_claims():
    kinds = {kind for kind, cls in model.KINDS.items() if issubclass(cls, model.Combinator)}
    assert [kind for kind in sorted(kinds) if not any(f'kind = "{kind}"' in path.read_text() for path in SPECS)] == []


# -- floors ------------------------------------------------------------------------------------


def test_design_and_import_contract_name_every_file_of_the_package():
    stems = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    stems -= {"__init__", "__main__"}
    contract = configparser.ConfigParser(comment_prefixes=(";",))
    contract.read(ROOT / ".importlinter")
    layers = contract["importlinter:contract:floors"]["layers"]
    assert set(re.findall(r"\w+", layers)) == stems
    assert {name for name in stems if f"`{name}.py`" in DESIGN or f"`{name}/`" in DESIGN} == stems


def test_the_floors_of_the_design_stand_in_the_order_of_the_contract():
    contract = configparser.ConfigParser(comment_prefixes=(";",))
    contract.read(ROOT / ".importlinter")
    layers = [set(re.findall(r"\w+", line)) for line in contract["importlinter:contract:floors"]["layers"].strip().splitlines()]
    table = [line.split("|")[2] for line in DESIGN.splitlines() if re.match(r"\| \d+ \|", line)]
    table = ["`trusted/`" if "trust line" in line else line for line in table]
    assert [set(re.findall(r"`(\w+)(?:\.py|/)`", cell)) for cell in table] == layers


def test_processes_are_made_in_one_place():
    """Programs apart, a browser, a solver, Coq, git, pip, the second checker, are run by `subprocess`; what runs our code is made here."""
    found = {name: set() for name in ("multiprocessing", "subprocess", "os.fork")}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        for name, users in found.items():
            if re.search(rf"\b{name}\.\w*(context|Process|run|Popen|fork)|\b{name}\(", text):
                users.add(path.relative_to(PACKAGE).as_posix())
    others = {"cli/pdf.py", "project/confirmed.py", "project/formal/coq.py", "project/made.py", "project/origin.py", "search/outside.py"}
    assert found == {"multiprocessing": {"runtime/processes.py"}, "subprocess": others, "os.fork": set()}


def test_the_design_names_the_floors_of_the_trusted_folder_in_the_order_of_the_contract():
    contract = configparser.ConfigParser(comment_prefixes=(";",))
    contract.read(ROOT / ".importlinter")
    layers = contract["importlinter:contract:trusted"]["layers"].split()
    table = DESIGN.partition("Inside `trusted/`")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)(?:\.py|/)` \|", table, re.MULTILINE) == layers
    assert {path.stem for path in (PACKAGE / "trusted").iterdir() if not path.name.startswith("__")} == set(layers)


# -- the catalogue -----------------------------------------------------------------------------


def test_the_catalogue_has_claims_of_both_verdicts():
    expected = [claim.get("expect", "proved") for path in SPECS for claim in tomllib.loads(path.read_text())["claim"]]
    assert expected.count("proved") > 50 and expected.count("refuted") > 50


def test_a_claim_file_says_what_it_is_about_and_names_each_claim():
    for path in SPECS:
        text = path.read_text()
        names = [claim.get("name", "") for claim in tomllib.loads(text)["claim"]]
        assert text.startswith("# "), path
        assert all(names) and len(set(names)) == len(names), path


def test_every_mechanism_on_the_shelf_has_claims():
    shelf = [path.stem for path in sorted((ROOT / "mechanisms").glob("*.py")) if not path.stem.startswith("_")]
    assert shelf
    assert [stem for stem in shelf if not any(path.stem.startswith(stem) for path in SPECS)] == []


def test_every_kind_of_mechanism_and_every_measure_is_defined():
    page = (ROOT / "specs" / "definitions.md").read_text()
    assert [kind for kind in model.KINDS if f"**{kind}**" not in page] == []
    table = page.partition("## Measures of privacy")[2].partition("\n## ")[0]
    assert [name for name in model.MEASURES if f"`{name}`" not in table and f"({name})" not in table] == []


def test_theorems_are_stated_and_proved_in_one_place():
    theory = {path.stem for path in (ROOT / "docs" / "theory").glob("*.md")}
    proving = [path for path in DOCUMENTS if path.stem not in theory and re.search(r"\bQED\b", EXAMPLE.sub("", path.read_text()))]
    assert proving == []


def test_every_proved_or_refuted_claim_has_its_certificate_and_no_certificate_is_left_over():
    expected = sorted(
        (path.stem, claim["expect"].upper() if "expect" in claim else "PROVED")
        for path in SPECS
        for claim in tomllib.loads(path.read_text())["claim"]
        if claim.get("expect") != "unknown"
    )
    found = sorted((name.partition(".")[0], data["verdict"]) for name, data in CERTIFICATES.items())
    assert [entry for entry in found if entry[1] != "UNKNOWN"] == expected


def test_committed_certificates_name_only_rules_of_the_table_and_are_small():
    for name, data in CERTIFICATES.items():
        assert {line["rule"] for line in data["lines"]} <= {*RULES, *OF_CURVES}, name
        assert len(committed.text(name)) < 1_000_000, name


# -- the command line and the doorway ----------------------------------------------------------


def test_the_reference_of_the_command_line_lists_every_verb_and_exit_code():
    from dpverify import cli

    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    assert [verb for verb in cli.main.commands if f"## dpverify {verb}\n" not in page] == []
    assert re.findall(r"^\| (\d) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "4"]


def test_continuous_integration_and_documents_call_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    parts = re.findall(r'"[a-z-]+(?: ![a-z-]+)*: ([^"]+)"', (ROOT / ".ci" / "run").read_text())
    called = {name for part in parts for name in re.findall(r"(?:^| )([a-z][a-z-]*)", part)}
    assert {"test", "formal", "docs", "bundle"} <= called
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), ROOT / ".pre-commit-config.yaml"]
    called |= {name for path in documents for name in re.findall(r"(?:`|entry: |^ {4})make ([a-z-]+)", path.read_text(), re.MULTILINE)}
    assert called <= targets


def test_the_version_stands_in_the_changelog():
    assert f"## [{dpverify.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_links_of_the_documents_lead_somewhere():
    every = [(path, target) for path in DOCUMENTS for target in re.findall(r"\]\(([^)#]+)", path.read_text())]
    assert [each for each in every if not (each[1].startswith("https://") or (each[0].parent / each[1]).exists())] == []


def test_no_committed_file_names_a_path_of_somebodys_machine():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    pattern = r"(^|[^A-Za-z0-9_.])/(home|Users|root)/[a-z]"
    command = ["git", "grep", "-nIE", pattern, "--", ".", ":!tests/test_house.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout == ""


def test_every_dependency_is_imported_somewhere_and_every_import_is_a_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", line)[0].removeprefix("python-").removesuffix("-solver") for line in project["dependencies"]}
    used = set()
    plugin = PACKAGE / "pytest_plugin.py"  # which only pytest imports
    for path in {*PACKAGE.rglob("*.py"), *(ROOT / "mechanisms").glob("*.py")} - {plugin}:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            used |= {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    optional = project["optional-dependencies"].items()
    extras = {name: {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in held} for name, held in optional}
    noted = {"pandas", "diffprivlib", "opendp"}  # whose data and noise are replayed where they are installed
    assert used - {"dpverify"} - noted == declared | extras["accounting"] | extras["opacus"] | extras["sql"]
    assert noted <= used & (extras["dev"] | extras["libraries"])


# -- code --------------------------------------------------------------------------------------

FIRST_OF: dict[str, str] = {
    "audits/intact.py": "not all are the same",
    "catalogue/declarations.py": "not all are declarations",
    "pictures/trade_offs.py": "the greatest of some values is one of them",
    "project/designer/data.py": "one of them is out of range",
    "project/designer/exact.py": "a row of an echelon form, above its rank",
    "project/files.py": "a path has a root, which is there",
    "report/axes.py": "a digit, or a step, is below the last of the list",
    "report/page/sections/body.py": "the picture is one of its file's",
    "report/proof.py": "a bound on an error is that of a line",
    "samplers/comparisons.py": "the last branch of a stream holds where no other does",
    "search/composition/combination.py": "the vectors are not 0",
    "search/composition/joint_moves.py": "StopIteration is caught there",
    "search/utility/linear_map.py": "the part is one of the runs",
    "search/utility/noise_error.py": "any is there",
    "search/utility/polytopes.py": "a row of an echelon form, above its rank; units are points of a basis",
    "search/selection/violations.py": "any is violated",
    "search/additive/sensitivity.py": "a row of an echelon form, above its rank",
    "search/spaces/bounds.py": "a tree and a Cantor set are told in any case",
    "trusted/theories/processes/evaluations.py": "a row of an echelon form, above its rank",
    "trusted/geometry/gauges.py": "the matrices differ",
    "trusted/geometry/polyhedra.py": "rows of zeros are left out",
    "trusted/theories/curves/moved_density.py": "the parts reach from 0 to the end",
    "trusted/theories/curves/shifts.py": "counting does not end",
    "trusted/theories/curves/student.py": "the last panel is beyond",
    "trusted/theories/finite/part_slopes.py": "the vectors are independent",
}
"""Where the first of some things is taken without a word for there being none, and why there is one."""


def test_a_search_that_finds_nothing_ends_no_generator():
    """What `next` raises where there is none is taken for the end of the generator that it is raised in, and then for a fault."""

    def bare(node):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if not named or node.func.id != "next" or len(node.args) != 1 or isinstance(node.args[0], ast.Name):
            return False  # a name is an iterator of as many things as are taken of it
        return ast.unparse(node.args[0]).partition("(")[0] != "iter"

    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name for name, text in texts.items() if "next(" in text and any(map(bare, ast.walk(ast.parse(text))))}
    assert found == set(FIRST_OF)


def test_the_design_names_every_theory():
    row = next(line for line in DESIGN.splitlines() if line.startswith("| `theories/` |"))
    assert set(re.findall(r"`(\w+)/`", row)) - {"theories", "rules"} == set(FOLDERS)


# -- theories ----------------------------------------------------------------------------------

FOLDERS = {path.name: path for path in (PACKAGE / "trusted" / "theories").iterdir() if path.is_dir() and not path.name.startswith("__")}


def test_a_theorem_stands_in_the_file_of_its_name_among_the_rules_of_its_theory():
    named = {place: f"{place.split('.')[0]}.rules.{module.NAME.replace('-', '_')}" for place, module in FILES.items()}
    assert [place for place, wanted in named.items() if place != wanted] == []
    held = {name: f"{theory}.rules.{name.replace('-', '_')}" for name, theory in THEORIES.items()}
    assert [name for name, place in held.items() if place not in FILES] == []


def test_the_rules_of_a_theory_are_theorems_and_its_library_holds_none():
    among = {path.relative_to(PACKAGE).as_posix() for folder in FOLDERS.values() for path in (folder / "rules").glob("*.py")}
    theorems = {Path(module.__file__).relative_to(PACKAGE).as_posix() for module in FILES.values()}
    assert {path for path in among if not path.endswith("__init__.py")} == theorems


def test_every_theory_has_its_search_and_its_manifest():
    assert set(FOLDERS) <= {path.parent.name for path in (PACKAGE / "search").glob("*/__init__.py")}
    assert [name for name, folder in FOLDERS.items() if not (folder / "MANIFEST").is_file()] == []


# -- the kernel --------------------------------------------------------------------------------

KERNEL = PACKAGE / "trusted" / "kernel"


def test_the_kernel_is_what_every_verdict_loads_and_at_most_2000_lines():
    files = {path for path in rests_on((), ()).files if path.name != "__init__.py"}
    assert files == {path for path in KERNEL.glob("*.py") if path.name != "__init__.py"}
    assert sum(map(lines_of_code, KERNEL.glob("*.py"))) <= 2000


def test_at_the_top_of_its_files_the_kernel_imports_itself_alone():
    for path in KERNEL.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("dpverify"):
                assert node.module.startswith("dpverify.trusted.kernel"), f"{path.name}:{node.lineno}"


def test_below_the_line_no_function_is_longer_than_50_lines():
    long = []
    for path in (PACKAGE / "trusted").rglob("*.py"):
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        long += [f"{path.name}: {node.name}" for node in functions if node.end_lineno - node.lineno >= 50]
    assert long == []

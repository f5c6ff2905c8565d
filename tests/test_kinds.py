"""A kind of mechanism is declared once: files, schemas and Python say the same of it, and CONTRIBUTING's recipe for one more holds."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.catalogue.checks import NUMBERS
from dpverify.catalogue.declarations import CONSTRUCTORS, Mechanism
from dpverify.catalogue.kinds import KINDS, STARTERS, is_combinator
from dpverify.catalogue.kinds.named import BUILTINS
from dpverify.catalogue.reader import read_spec
from dpverify.errors import SpecError
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.expr import ONE, ZERO, Num
from dpverify.trusted.kernel.well_formed import WANTED
from tests.test_schemas import EXAMPLES, example

ROOT = Path(__file__).resolve().parents[1]


def tool(name):
    place = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["claim-file", "certificate"])
def test_a_schema_says_of_kinds_what_their_declarations_say(name):
    written = (ROOT / "dpverify" / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == tool("schemas").made(name), "run `make docs` and commit dpverify/schemas"


ANY_NUMBER = {"threshold"}
BY_THE_SPACE = {"lipschitz", "diameter"}
FOR_PEOPLE = {"points"}
BY_THE_STRATEGY = {"steps"}
OF_ROWS = {"rows", "scores", "atoms", "interval", "places", "weights", "added"}
BY_THE_LAW = {"numbers"}


def test_what_each_number_of_a_mechanism_must_be_is_said_once():
    # read off the model, so that a field that is added is looked for here
    numbers = {
        field.name
        for kind in (*model.KINDS.values(), model.Repeat, model.Part)
        for field in fields(kind)
        if "Expr" in str(field.type) and field.name not in model.VARIABLES.get(model.kind_name(kind), {})
    }
    assert numbers == WANTED.keys() | ANY_NUMBER | BY_THE_SPACE | FOR_PEOPLE | OF_ROWS | BY_THE_STRATEGY | BY_THE_LAW
    assert NUMBERS.keys() - WANTED.keys() == {"nu"}  # keys that are put into other fields


# -- Python --------------------------------------------------------------------------------------------------


def declared(table):
    """The table of a claim file, given to the constructor of its kind."""
    table = dict(table)
    table.pop("parameters", None)
    kind, name = table.pop("kind"), table.get("name")
    constructor = CONSTRUCTORS[table.pop("name") if kind == "builtin" else KINDS[kind].model.__name__]
    if "part" in table:
        table["part"] = declared(table["part"])
    if "parts" in table:
        table["parts"] = [declared(part) for part in table["parts"]]
    assert name is None or constructor.__name__ == name
    return constructor(**{key: plain(value) for key, value in table.items()})


def plain(value):
    """Decimals as text, as Python is to write them, and norms by the names of Python."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if type(value).__name__ == "Decimal" else value


FOREIGN = ("use", "program", "program, in a table", "k_randomized_response")
"""A declaration, programs, and a domain that stands in the place of a number."""
SAME = [name for name in EXAMPLES if name not in FOREIGN and "parameters" not in EXAMPLES[name] and "norm = {" not in EXAMPLES[name]]


@pytest.mark.parametrize("name", SAME)
def test_a_constructor_says_what_the_table_with_the_same_keys_says(name, tmp_path):
    table = example(name)["mechanism"]
    norms = {"l1": model.L1, "l2": model.L2, "linf": model.LINF}
    if table.get("norm") in norms:
        table["norm"] = norms[table["norm"]]
    adjacency = table.pop("adjacency", None)
    (tmp_path / "file.toml").write_text("\n".join(line.strip() for line in EXAMPLES[name].strip().splitlines()))
    found, read = Mechanism("mine", declared(table)).model(), read_spec(tmp_path / "file.toml").claims[0].claim.mechanism
    if isinstance(found, model.Exponential) and found.metric:
        read, found = read.beta, found.beta  # which points are neighbours is up to the claim
    assert found == read and adjacency in (None, "add-remove")


def test_there_is_a_constructor_for_every_kind_and_builtin():
    assert CONSTRUCTORS.keys() == {kind.model.__name__ for kind in KINDS.values()} | BUILTINS.keys()


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Radial", {"profle": "exp(-r)"}, "unknown argument 'profle'. Did you mean 'profile'?"),
        ("Radial", {"profile": "exp(-r)", "dimension": 2}, "norm is missing"),
        ("Radial", {"profile": "exp(-r)", "norm": model.L2}, "dimension is missing"),
        ("Translation", {}, "density or log_density is missing: give one of them."),
        ("Kernel", {"density": "exp(-y)", "output": [0, None]}, "input is missing"),
        ("laplace", {}, "the builtin laplace needs scale."),
        ("Table", {"rows": [["1/2"], [1, 2]]}, "has rows of different lengths"),
        ("Translation", {"density": 0.5}, "0.5 is a binary float"),
        ("Translation", {"density": "exp(-b*z)"}, "free symbol 'b'"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_said_in_the_words_of_files(name, arguments, said):
    with pytest.raises(SpecError, match=re.escape(said)):
        Mechanism("mine", CONSTRUCTORS[name](**arguments)).model()


def test_all_that_is_wrong_with_a_declaration_is_said_at_once():
    with pytest.raises(SpecError) as error:
        Mechanism("mine", CONSTRUCTORS["Kernel"]()).model()
    assert len(error.value.faults) == 3


def test_too_many_arguments_and_one_given_twice_are_refused():
    with pytest.raises(SpecError, match="3 values for 2 arguments"):
        CONSTRUCTORS["Staircase"](1, 2, 3)
    with pytest.raises(SpecError, match="epsilon is given twice"):
        CONSTRUCTORS["Staircase"](1, epsilon=2)


def test_the_documentation_of_a_constructor_tells_every_argument():
    for constructor in CONSTRUCTORS.values():
        positional = [
            name for name, argument in constructor.__signature__.parameters.items() if argument.kind is argument.POSITIONAL_OR_KEYWORD
        ]
        assert all(re.search(rf"^    {name}: \w", constructor.__doc__, re.MULTILINE) for name in positional), constructor.__name__


def test_numbers_in_python_may_be_fractions_and_rows_any_iterable():
    half = Fraction(1, 2)
    rows = Mechanism("mine", CONSTRUCTORS["Table"](rows=(iter([half, half]), (1, 0)), adjacent=((0, 1),))).model()
    assert rows == model.Table(((Num(half), Num(half)), (ONE, ZERO)), ((0, 1),))
    distances = Mechanism("mine", CONSTRUCTORS["Exponential"](metric=[[0, half], [half, 0]], beta=1)).model()
    assert distances.scores == ((ZERO, Num(-half)), (Num(-half), ZERO))


# -- formulas ------------------------------------------------------------------------------------------------


def test_every_kind_that_files_know_is_a_combinator_or_says_what_its_neighbours_are():
    assert all(is_combinator(KINDS[name]) or KINDS[name].neighbours is not None for name in STARTERS if name != "builtin")


# -- the recipe ----------------------------------------------------------------------------------------------

RECIPE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Adding a kind")[2].partition("\n## ")[0]
FENCES = re.findall(r'^   ```(\w+) title="([^"]+)"\n(.*?)^   ```$', RECIPE, re.MULTILINE | re.DOTALL)
STEPS = [(language, place, re.sub(r"^   ", "", text, flags=re.MULTILINE)) for language, place, text in FENCES]

FILE = """
[mechanism]
kind = "uniform_shift"
width = 16
[[claim]]
name = "the tight value, at every epsilon"
sensitivity = 4
epsilon = 1
delta = "1/4"
[[claim]]
name = "a hair below"
sensitivity = 4
epsilon = 1
delta = "249/1000"
[[claim]]
name = "purely private"
sensitivity = 4
epsilon = 100
"""
TWICE = """
mechanism = {kind = "compose", times = 2, part = {kind = "uniform_shift", width = 16, sensitivity = 4}}
claim = [{name = "above", epsilon = 1, delta = "44/100"}, {name = "below", epsilon = 1, delta = "43/100"}]
"""
LOOKED_AT = """
import json, sys
from pathlib import Path
from dpverify.catalogue import read_spec
from dpverify.catalogue.checks import NUMBERS
from dpverify.catalogue.declarations import CONSTRUCTORS, Mechanism
from dpverify.project.mechanism import mechanism_files
from dpverify.report import mathml, words
from dpverify.search.verify import verify
file, said = Path("file.toml"), {}
for line in ("uniform_shift", "uniform_shfit"):
    file.write_text('mechanism = {kind = "%s", widht = 1}\\nclaim = [{epsilon = 1}]' % line)
    try:
        read_spec(file)
    except Exception as error:
        said[line] = str(error)
said["verdicts"] = []
for text in sys.argv[:0:-1]:
    file.write_text(text)
    claims = [stated.claim for stated in read_spec(file).claims]
    said["verdicts"] += [verify(claim).judgement.verdict for claim in claims]
noise = claims[0].mechanism
said["law"] = mathml.density_text(noise)
said["python"] = Mechanism("mine", CONSTRUCTORS["UniformShift"](width=16)).model() == noise
for planned in mechanism_files(Path("."), "mine", "uniform_shift", sampler=True, force=False):
    Path(planned.path).write_text(planned.content)
new = read_spec("mine.toml").claims[0].claim
said["new"] = [verify(new).judgement.verdict, words.neighbours(new)]
sys.path.insert(0, ".")
import mine, numpy
said["sample"] = len(mine.sample([0.0], 3, numpy.random.default_rng(1)))
sys.path.insert(0, "tools")
import schemas
said["schema"] = '"kind_uniform_shift"' in schemas.made("claim-file") and '"kind_uniform_shift"' in schemas.made("certificate")
print(json.dumps(said))
"""


def applied(folder, steps):
    """The steps done in a copy: a new file is written, in another one the lines of each hunk are looked for and changed."""
    for language, place, text in steps:
        path = folder / place
        if language != "diff":
            assert not path.exists()
            path.write_text(text)
            continue
        for hunk in text.split("@@\n"):
            lines = hunk.splitlines()
            old, new = ("".join(f"{line[1:]}\n" for line in lines if line[:1] != skipped) for skipped in "+-")
            pattern, whole = re.escape(old).replace("…", "(.*)"), path.read_text()
            assert len(re.findall(pattern, whole)) == 1, f"{place} does not hold once:\n{old}"
            path.write_text(re.sub(pattern, lambda found: new.replace("…", "".join(found.groups())), whole))  # noqa: B023


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "dpverify", tmp_path / "dpverify", ignore=shutil.ignore_patterns("__pycache__"))
    for place in ("docs/theory", "specs"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("docs/theory/curves.md", "specs/definitions.md"):
        shutil.copy(ROOT / place, tmp_path / place)
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__", "mutants"))
    return tmp_path


def run(folder, code, *args):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, "-c", code, *args], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.wide
def test_a_kind_that_is_added_as_contributing_says_is_read_shown_and_judged(copy):
    applied(copy, STEPS)
    done = run(copy, LOOKED_AT, FILE, TWICE)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "width is missing." in said["uniform_shift"] and "unknown key \"widht\". Did you mean 'width'?" in said["uniform_shift"]
    assert "Did you mean 'uniform_shift'?" in said["uniform_shfit"]
    assert said["verdicts"] == ["PROVED", "REFUTED", "PROVED", "REFUTED", "REFUTED"]  # twice: 1 - (3/4)**2; once: 1/4; never purely
    assert said["law"] == "y − q(x) uniform on [0, 16]"
    assert said["python"] and said["schema"] and said["sample"] == 3
    assert said["new"] == ["PROVED", "answers at most 1 apart"]


@pytest.mark.wide
def test_a_kind_that_is_half_added_does_not_run_and_is_named(copy):
    applied(copy, STEPS[:1])
    done = run(copy, "import dpverify.catalogue.kinds")
    assert done.returncode != 0
    assert "in the model or declared here, but not both: uniform_shift" in done.stderr


def test_a_kind_takes_six_files_and_its_theorem_four():
    places = {place for _, place, _ in STEPS}
    of_the_theorem = {place for place in places if "/rules/" in place or "theory" in place or place.endswith("registry.py")}
    assert (len(places - of_the_theorem), len(of_the_theorem)) == (6, 4)

"""The changes that `make mutants` tries: each takes away what it says, and is known again where its line moves to."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage", reason="needs the extra `dev`")

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools" / "mutants"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


operators = load("operators")
touched = load("touched")


def changes(tmp_path, source):
    """Of each change its operator and the code with it made."""
    path = tmp_path / "code.py"
    path.write_text(source)
    return [(each, ast.unparse(operators.mutated(path, each))) for each in operators.mutants(path, "code.py")]


CHANGES = [
    ("guard", "def f(x):\n    if x < y:\n        raise Rejected(1)\n    return g(x)", "def f(x):\n    pass\n    return g(x)"),
    ("guard", "def f(x):\n    if x:\n        return g(x)\n    raise Rejected(1)", "def f(x):\n    if x:\n        return g(x)\n    pass"),
    ("guard", "for a in x:\n    if a:\n        continue\n    g(a)", "for a in x:\n    pass\n    g(a)"),
    ("guard", "if a:\n    raise b\nelif c:\n    d = e", "if c:\n    d = e"),
    ("operand", "x = a or b or c", "x = a or c"),
    ("operand", "match x:\n    case A() if b:\n        y = x", "match x:\n    case A():\n        y = x"),
    ("comparison", "x = a < b", "x = a <= b"),
    ("comparison", "x = a is None", "x = a is not None"),
    ("comparison", "x = certainly_lt(a, b)", "x = certainly_le(a, b)"),
    ("any and all", "x = all((f(y) for y in z))", "x = any((f(y) for y in z))"),
    ("min and max", "x = max(a, b)", "x = min(a, b)"),
    ("side", "x = ball.upper()", "x = ball.lower()"),
    ("side", "x = side == 'upper'", "x = side == 'lower'"),
    ("negation", "x = not a", "x = a"),
    ("branch", "x = a if b else c", "x = c"),
    ("constant", "x = a[3]", "x = a[2]"),
    ("constant", "x = f(True)", "x = f(False)"),
    ("sign", "x = a + b", "x = a - b"),
    ("type", "x = isinstance(a, B | C)", "x = isinstance(a, (B,))"),
    ("type", "x = isinstance(a, (B, C))", "x = isinstance(a, (C,))"),
    ("filter", "x = [a for a in b if c if d]", "x = [a for a in b if c]"),
    ("assumption", "ASSUMED: Final = ('it holds', 'so does this')", "ASSUMED: Final = ('it holds',)"),
    ("assumption", "x = Curve(a, b, c, ASSUMED)", "x = Curve(a, b, c, ())"),
    ("assumption", "x = Bound(a, assumed=(*rule.ASSUMED, b))", "x = Bound(a, assumed=(b,))"),
    ("assumption", "facts.assumed += more", "pass"),
    ("field", "x = f(part.query, 1)", "x = f(None, 1)"),
    ("field", "x = mul(a.rate, b)", "x = mul(__import__('dpverify.trusted.kernel.expr', fromlist=['ONE']).ONE, b)"),
    ("field", "x = a.query.adjacency", "x = ''"),
    ("check", "require(a)", "pass"),
    ("return at once", "def f(x):\n    require(x)", "def f(x):\n    return\n    require(x)"),
]


@pytest.mark.parametrize(("operator", "before", "after"), CHANGES)
def test_an_operator_makes_its_change(tmp_path, operator, before, after):
    made = [code for each, code in changes(tmp_path, before) if each.operator == operator]
    assert ast.unparse(ast.parse(after)) in made
    assert before not in made


@pytest.mark.parametrize(
    "source",
    [
        "import a\nfrom b import c",
        "NAME: Final = 'upper'",
        "def f(a: int = None) -> tuple[0, 1]:\n    return a",
        "def f(a):\n    if g(a):\n        b = 'a' + 'b'\n    raise Rejected(1 + 2)",
        "x = f'{1 + 2}'",
    ],
)
def test_imports_annotations_and_texts_for_people_are_left_alone(tmp_path, source):
    assert {each.operator for each, _ in changes(tmp_path, source)} <= {"guard", "return at once"}


@pytest.mark.parametrize("source", ["MAX_DEPTH: Final = 5", "LADDER = (1, 2, 4)", "x = f(4096)", "x = precision(a + 2)", "bits = 2 * a"])
def test_limits_of_effort_and_of_width_are_left_alone(tmp_path, source):
    assert not changes(tmp_path, source)


@pytest.mark.parametrize("source", ["def f(x):\n    if x:\n        return True\n    return g(x)", "x = list(zip(a, b, strict=True))"])
def test_what_gives_more_answers_is_no_guard(tmp_path, source):
    assert {each.operator for each, _ in changes(tmp_path, source)} <= {"constant"}
    assert "strict=False" not in "".join(code for _, code in changes(tmp_path, source))


def test_only_reads_of_parts_are_forgotten_and_the_texts_of_errors_are_not(tmp_path):
    made = [each for each, _ in changes(tmp_path, "def f(run):\n    if g(run.part.query, space.rate):\n        raise E(run.times)")]
    assert [each.change for each in made if each.operator == "field"] == ["`run.part.query` is forgotten", "`space.rate` is forgotten"]
    spaces = "dpverify/trusted/theories/spaces/shapes.py"
    assert not [each for each in operators.mutants(ROOT / spaces, spaces) if each.change == "`space.rate` is forgotten"]


def test_reads_that_are_not_of_parts_are_still_there():
    for end, (reads, _) in operators.NO_PART.items():
        text = (ROOT / "dpverify" / "trusted" / end).read_text(encoding="utf-8")
        gone = [read for read in reads.split(" ") if read.replace("'", '"') not in text]
        assert not gone, f"{end}: {gone}"


SOURCE = "def f(a, b):\n    if a and b:\n        raise E\n    return a + 1 + 1\n\n\nclass C:\n    def g(self):\n        return [0, 0]\n"


def test_every_change_is_one_change_that_compiles(tmp_path):
    whole = ast.unparse(ast.parse(SOURCE))
    made = [code for _, code in changes(tmp_path, SOURCE)]
    assert len(made) > 10 and whole not in made and len(set(made)) == len(made)
    for code in made:
        compile(code, "code.py", "exec")


def test_a_change_is_known_again_where_its_line_moves_to_and_gone_where_its_line_changes(tmp_path):
    keys = [each.key for each, _ in changes(tmp_path, SOURCE)]
    assert len(set(keys)) == len(keys)
    assert [each.key for each, _ in changes(tmp_path, f"X = None\n\n{SOURCE}")] == keys
    other = {each.key for each, _ in changes(tmp_path, SOURCE.replace("a and b", "a and b and c"))}
    assert {key for key in keys if "if a and b" in key[2]} and not {key for key in keys if "if a and b" in key[2]} & other


def test_a_change_says_which_function_it_is_in_and_which_lines_tell_that_it_runs(tmp_path):
    found = {each.operator + each.change: each for each, _ in changes(tmp_path, SOURCE)}
    guard = next(each for each in found.values() if each.operator == "guard")
    assert (guard.function, guard.line, guard.lines) == ("f", 2, (2,))
    assert {each.function for each in found.values()} == {"f", "C.g"}


def test_a_change_of_what_refuses_says_which_line_refuses(tmp_path):
    beyond = {each.operator: each.beyond for each, _ in changes(tmp_path, SOURCE)}
    assert (beyond["guard"], beyond["operand"], beyond["sign"]) == ((3,), (3,), ())
    lone = next(each for each, _ in changes(tmp_path, "def f(x):\n    if x:\n        return x\n    raise E") if each.operator == "guard")
    assert lone.beyond == (4,)


# -- which tests run a line ----------------------------------------------------------------------------


def recorded(code):
    record = touched.Record()
    ran = [
        touched.Ran("tests/test_other.py::test_fast", 0.1, True, {"code.py": 1 << 2 | 1 << 4}),
        touched.Ran("tests/test_code.py::test_own", 5.0, True, {"code.py": 1 << 2 | 1 << 3}),
        touched.Ran("tests/test_other.py::test_red", 0.1, False, {"code.py": 1 << 2}),
        touched.Ran("tests/test_other.py::test_class", 0.1, True, {"code.py": 1 << 9}),
    ]
    record.add("tests/test_code.py", "the tests", {"code.py": code}, ran)
    return record


def names(tmp_path, code, operator, function):
    path = tmp_path / "code.py"
    path.write_text(code)
    lookup = touched.Touched(recorded(SOURCE), {"code.py": code}, ["tests/test_code.py"])
    mutant = next(each for each in operators.mutants(path, "code.py") if each.operator == operator and each.function == function)
    return [ran.name.partition("::")[2] for ran in lookup.of(mutant)]


def test_the_tests_of_a_line_are_those_that_passed_and_ran_it_its_own_first(tmp_path):
    assert names(tmp_path, SOURCE, "guard", "f") == ["test_own", "test_fast"]
    assert names(tmp_path, SOURCE, "sign", "f") == ["test_fast"]
    assert names(tmp_path, SOURCE, "constant", "C.g") == ["test_class"]


def ordered(tmp_path, operator, ran):
    path = tmp_path / "code.py"
    path.write_text(SOURCE)
    record = touched.Record()
    tests = [touched.Ran(name, seconds, True, {"code.py": bits}) for name, seconds, bits in ran]
    record.add("tests/test_x.py", "the tests", {"code.py": SOURCE}, tests)
    mutant = next(each for each in operators.mutants(path, "code.py") if each.operator == operator and each.function == "f")
    return [each.name.partition("::")[2] for each in touched.Touched(record, {"code.py": SOURCE}, ["tests/test_x.py"]).of(mutant)]


def test_the_tests_that_a_guard_refuses_are_tried_before_the_others(tmp_path):
    ran = [("x::accepted", 0.1, 1 << 2 | 1 << 4), ("x::refused", 9.0, 1 << 2 | 1 << 3)]
    assert ordered(tmp_path, "guard", ran) == ordered(tmp_path, "operand", ran) == ["refused", "accepted"]


def test_tests_of_many_mechanisms_and_functions_are_tried_before_many_of_one(tmp_path):
    names = ["f[a.1]", "f[a.2]", "f[b.1]", "g[1]", "g[2]"]
    ran = [(f"x::{name}", seconds, 1 << 4) for seconds, name in enumerate(names)]
    assert ordered(tmp_path, "sign", ran) == ["f[a.1]", "f[b.1]", "g[1]", "f[a.2]", "g[2]"]


@pytest.mark.parametrize(
    ("file", "tests"), [("dpverify/trusted/kernel/judgement.py", "test_kernel.py"), ("numbers/asymptotics.py", "test_asymptotics.py")]
)
def test_the_own_tests_of_a_file_bear_its_name_or_the_one_that_is_listed(file, tests):
    assert touched.test_of(file) == tests


def test_what_is_listed_under_another_name_is_there():
    below = {path.stem for path in (ROOT / "dpverify" / "trusted").rglob("*.py")}
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    for stem in touched.NAMED:
        assert stem in below and touched.test_of(f"{stem}.py") in tests


class Item:
    """What recording needs of a test of pytest."""

    def __init__(self, name, run):
        self.nodeid, self.run = name, run


def test_a_test_that_takes_too_long_is_stopped_and_of_no_use(tmp_path, monkeypatch):
    def forever():
        while True:
            sum(range(1000))

    monkeypatch.setattr(touched, "LONGEST", 0.05)
    ran = touched.record_items([Item("slow", forever), Item("fast", int)], [], tmp_path, lambda item, following: item.run() == 0)
    assert [(each.name, each.passed) for each in ran] == [("slow", False), ("fast", True)]


def test_a_line_that_has_moved_keeps_its_tests_and_a_new_one_has_those_of_its_function(tmp_path):
    assert names(tmp_path, "X = None\n" + SOURCE, "sign", "f") == ["test_fast"]
    assert names(tmp_path, SOURCE.replace("a + 1 + 1", "a - 7"), "sign", "f") == ["test_own", "test_fast"]


def test_a_record_is_of_one_text_of_a_test_file_and_survives_its_writing(tmp_path):
    recorded(SOURCE).write(tmp_path / "record.pickle")
    record = touched.Record.read(tmp_path / "record.pickle")
    assert record.is_of("tests/test_code.py", "the tests") and not record.is_of("tests/test_code.py", "other tests")
    assert touched.Record.read(tmp_path / "none.pickle").files == {}

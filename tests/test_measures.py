"""The numbers that documents state of the code are those of the code, and the import graph has no arrow up and no circle."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tool(name):
    """A file of tools/ as a module."""
    if name not in sys.modules:
        spec = spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


graph, measures = tool("graph"), tool("measures")


@pytest.mark.wide
def test_the_design_states_the_numbers_of_the_code():
    """Where this fails, `python tools/measures.py` writes the numbers of today."""
    page = measures.PAGE.read_text()
    assert measures.written(page) == page


def test_nothing_is_imported_upwards_or_in_a_circle_and_the_house_is_small():
    drawn = graph.read(ROOT)
    assert (drawn.up, drawn.circles) == ([], [])
    assert len(drawn.nodes) <= 23 and drawn.layers <= 9 and len(drawn.edges) <= 109


def test_a_circle_that_an_import_in_a_function_closes_is_told_apart(tmp_path):
    folder = tmp_path / "dpverify" / "trusted"
    folder.mkdir(parents=True)
    (tmp_path / ".importlinter").write_text("[importlinter:contract:floors]\nlayers =\n    trusted\n")
    (folder / "a.py").write_text("def f():\n    from dpverify.trusted import b\n    return b")
    (folder / "b.py").write_text("import dpverify.trusted.a")
    drawn = graph.read.__wrapped__(tmp_path)
    assert (drawn.circles, drawn.loaded_circles) == ([], [["dpverify.trusted.a", "dpverify.trusted.b"]])


CONTRACT = "[importlinter:contract:floors]\nlayers =\n    upper\n    left | right\n    lower\n"


@pytest.fixture
def house(tmp_path):
    """Makes a repository of files, each on a floor of its own, and reads its graph."""

    def read(**files):
        (tmp_path / ".importlinter").write_text(CONTRACT)
        for name in ("__init__", "upper", "left", "right", "lower"):
            file = tmp_path / "dpverify" / f"{name}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(files.get(name, ""))
        return graph.read.__wrapped__(tmp_path)

    return read


def test_nodes_edges_and_layers_are_counted(house):
    drawn = house(upper="from dpverify import left\nimport dpverify.right\nimport json", left="from dpverify.lower import x")
    assert drawn.nodes == {"dpverify", "dpverify.upper", "dpverify.left", "dpverify.right", "dpverify.lower"}
    assert drawn.edges == {("dpverify.upper", "dpverify.left"), ("dpverify.upper", "dpverify.right"), ("dpverify.left", "dpverify.lower")}
    assert (drawn.layers, drawn.up, drawn.circles) == (3, [], [])


@pytest.mark.parametrize(
    "text",
    [
        "import dpverify.upper",
        "from . import upper",
        "from .upper import x",
        "def f():\n    from dpverify.upper import x",
        "if TYPE_CHECKING:\n    from dpverify.upper import X",
        "import_module('dpverify.upper')",
        "importlib.import_module(f'dpverify.upper')",
        "__import__('dpverify.upper')",
    ],
)
def test_an_import_of_a_higher_floor_is_seen_however_it_is_written(house, text):
    assert ("dpverify.lower", "dpverify.upper") in house(lower=text).up


def test_a_name_that_is_written_in_part_stands_for_all_that_begin_so(house):
    drawn = house(lower="import_module(f'dpverify.{name}')")
    assert {a for a, _ in drawn.up} == {"dpverify.lower"} and len(drawn.up) == 3


def test_an_import_of_a_neighbour_on_the_same_floor_leads_up(house):
    assert house(left="import dpverify.right").up == [("dpverify.left", "dpverify.right")]


def test_a_name_that_is_not_written_is_told(house):
    assert house(upper="\nimport_module(name)").unread == ("dpverify/upper.py:2",)


def test_a_circle_is_found_and_counts_as_one_layer(house):
    drawn = house(left="import dpverify.right", right="import dpverify.left", upper="import dpverify.left")
    assert ["dpverify.left", "dpverify.right"] in drawn.circles and drawn.layers == 2

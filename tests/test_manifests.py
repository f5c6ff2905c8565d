"""The manifest of each theory says what the theory holds."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tool(name):
    """A file of tools/ as a module."""
    if name not in sys.modules:
        spec = spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def test_the_manifests_of_the_theories_are_those_of_the_code():
    """Where this fails, `python tools/manifests.py` writes what holds today."""
    tool("graph")
    told = tool("manifests").manifests()
    assert {path.parent.name for path in told} == {path.parent.name for path in (ROOT / "dpverify/trusted/theories").glob("*/MANIFEST")}
    assert [path.parent.name for path, text in told.items() if path.read_text(encoding="utf-8") != text] == []

"""Tools of the repository as modules."""

import importlib.util
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).parents[1] / "tools"


def load(name: str) -> Any:
    """The tool of that name, as a module of its own."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

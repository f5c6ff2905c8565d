"""Libraries that take long to load, loaded when something of them is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """Stands for a library: `np = Later("numpy")` in place of `import numpy as np`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found

"""dpverify: prove or refute differential-privacy claims, with certificates that a small kernel re-checks.

From Python: `dpverify.read_spec(path)` gives the claims of a file, `dpverify.verify(claim)` judges one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dpverify.catalogue import read_spec as read_spec
    from dpverify.verify import verify as verify


def __getattr__(name: str) -> Any:
    """Load the upper floors only when they are asked for: the kernel and --help need none of them."""
    if name not in ("read_spec", "verify"):
        raise AttributeError(f"module 'dpverify' has no attribute {name!r}")
    from importlib import import_module

    loaded = getattr(import_module("dpverify.catalogue" if name == "read_spec" else "dpverify.verify"), name)
    globals()[name] = loaded  # over the submodule `verify`, which the import has just put here
    return loaded

"""dpverify: prove or refute differential-privacy claims, with certificates that a small kernel re-checks.

From Python: `dpverify.read_spec(path)` gives the claims of a file, `dpverify.verify(claim)` judges one, and
`dpverify.audit(sampler, claim)` samples an implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dpverify.audit import audit as audit
    from dpverify.catalogue import read_spec as read_spec
    from dpverify.verify import verify as verify


def __getattr__(name: str) -> Any:
    """Load the upper floors only when they are asked for: the kernel and --help need none of them."""
    from importlib import import_module

    if name == "read_spec":
        return import_module("dpverify.catalogue").read_spec
    if name in ("verify", "audit"):
        return import_module(f"dpverify.{name}")  # modules that can be called
    raise AttributeError(f"module 'dpverify' has no attribute {name!r}")

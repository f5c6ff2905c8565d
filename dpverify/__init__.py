"""dpverify: prove or refute differential-privacy claims, with certificates that a small kernel re-checks.

From Python: `dpverify.read_spec(path)` gives the claims of a file, `dpverify.verify(claim)` judges one,
`dpverify.check(certificate)` judges a certificate again, and `dpverify.audit(sampler, claim)` samples an implementation.
`dpverify.design(query=..., adjacency=..., epsilon=...)` finds mechanisms for a query, with certified errors, and
`dpverify.optimum(epsilon, answers=..., neighbours=...)` finds the mechanism of least error on finitely many databases.
`dpverify.sampler(claim)` draws outputs of the mechanism that a claim declares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverify.doorway import audit as audit
    from dpverify.doorway import check as check
    from dpverify.doorway import design as design
    from dpverify.doorway import optimum as optimum
    from dpverify.doorway import read_spec as read_spec
    from dpverify.doorway import sampler as sampler
    from dpverify.doorway import verify as verify
    from dpverify.ground.version import __version__ as __version__


def __getattr__(name: str) -> Any:
    """Load the upper floors only when they are asked for: the kernel and --help need none of them."""
    if name in ("audit", "check", "design", "optimum", "read_spec", "sampler", "verify"):
        from dpverify import doorway

        return getattr(doorway, name)
    if name == "__version__":
        from dpverify.ground.version import __version__

        return __version__
    raise AttributeError(f"module 'dpverify' has no attribute {name!r}")

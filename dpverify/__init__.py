"""dpverify: prove or refute differential-privacy claims, with certificates that a small kernel re-checks.

    import dpverify as dp

    noise = dp.radial("(1 + r**2/5)**(-4)", norm="l2", dimension=3)
    answer = dp.verify(noise, sensitivity=1, epsilon="1.775")
    print(answer)

There is a function for every kind of mechanism (radial, gaussian, table, compose, ...), whose arguments are the keys of claim files.
`verify` judges a claim, or all claims of a file, `tight_epsilon` and `tight_delta` enclose the least that holds, `calibrate` finds the
parameter at which a claim just holds, `check` judges a certificate again, `audit` samples an implementation, and `audit_training` trains
with canaries. `design` finds mechanisms for a query, with certified errors, and `optimum` the mechanism of least error on finitely many
databases. `trade_off` is what nearness costs in a metric space, `sampler` draws outputs of a mechanism, and `read_spec` gives the claims
of a file. `query_sql` reads a query in SQL as sums over records, and `replay` runs a pipeline on neighbours with its noisy outputs held
equal.
`dir(dpverify)` lists all of it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

_VERBS: Final = {
    "audit": "audits",
    "audit_training": "audits",
    "calibrate": "calibration",
    "calibrated": "calibration",
    "check": "claims",
    "design": "design",
    "optimum": "optimum",
    "program": "programs",
    "query_sql": "queries",
    "read_spec": "claims",
    "replay": "replays",
    "sampler": "samplers",
    "tight_delta": "claims",
    "tight_epsilon": "claims",
    "trade_off": "trade_offs",
    "verify": "claims",
}
"""Each function, and the file of the doorway that it is in."""

if TYPE_CHECKING:
    from dpverify.api.audits import audit as audit
    from dpverify.api.audits import audit_training as audit_training
    from dpverify.api.calibration import calibrate as calibrate
    from dpverify.api.calibration import calibrated as calibrated
    from dpverify.api.claims import check as check
    from dpverify.api.claims import read_spec as read_spec
    from dpverify.api.claims import tight_delta as tight_delta
    from dpverify.api.claims import tight_epsilon as tight_epsilon
    from dpverify.api.claims import verify as verify
    from dpverify.api.design import design as design
    from dpverify.api.optimum import optimum as optimum
    from dpverify.api.programs import program as program
    from dpverify.api.queries import query_sql as query_sql
    from dpverify.api.replays import replay as replay
    from dpverify.api.samplers import sampler as sampler
    from dpverify.api.trade_offs import trade_off as trade_off
    from dpverify.api.version import __version__ as __version__

    # and a function for every kind of mechanism: see __getattr__


def __getattr__(name: str) -> Any:
    """Load the upper floors only when they are asked for: the kernel and --help need none of them."""
    if name in _VERBS:
        return getattr(import_module(f"dpverify.api.{_VERBS[name]}"), name)
    if name == "__version__":
        from dpverify.api.version import __version__

        return __version__
    if name == "errors":
        return import_module("dpverify.errors")
    if name[:1].isupper():  # `except dpverify.SpecError` reads as well as `except dpverify.errors.SpecError`
        found = getattr(import_module("dpverify.errors"), name, None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    if name.startswith("_") or (name != "kernel" and find_spec(f"{__name__}.{name}") is not None):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")  # a module of the package, which is being imported
    from dpverify.api.kinds import FUNCTIONS, meant

    if name in FUNCTIONS:
        return FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{meant(name, __dir__())}")


def __dir__() -> list[str]:
    """The verbs, and a function for every kind of mechanism."""
    from dpverify.api.kinds import FUNCTIONS

    return sorted([*_VERBS, *FUNCTIONS, "errors", "__version__"])

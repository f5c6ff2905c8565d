"""Accounting in dp-accounting's terms, certified: its DpEvents, and an accountant that can be put in the place of its own.

`CertifiedAccountant` needs dp-accounting, which the extra `accounting` brings:
pip install 'dpverify[accounting]'. Events in files need nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverify.accounting.accountant import CertifiedAccountant as CertifiedAccountant


def __getattr__(name: str) -> Any:
    """The accountant, loaded where it is asked for."""
    if name != "CertifiedAccountant":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from dpverify.accounting.accountant import CertifiedAccountant
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "dp_accounting":
            raise
        raise ModuleNotFoundError(
            "dpverify.accounting.CertifiedAccountant is an accountant of dp-accounting, which is not installed: "
            "pip install 'dpverify[accounting]'.", name=error.name
        ) from error
    return CertifiedAccountant


def __dir__() -> list[str]:
    return ["CertifiedAccountant"]

"""Accounting in dp-accounting's terms, certified: its DpEvents, and an accountant that can be put in the place of its own.

`CertifiedAccountant` needs dp-accounting, which the extra `accounting` brings:
pip install 'dpverify[accounting]'. Events in files need nothing of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverify.accounting.accountant import CertifiedAccountant as CertifiedAccountant
    from dpverify.accounting.calibration import calibrate as calibrate


def __getattr__(name: str) -> Any:
    """The accountant, and the search for a number, loaded where they are asked for."""
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_OFFERED[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "dp_accounting":
            raise
        raise ModuleNotFoundError(
            f"dpverify.accounting.{name} needs dp-accounting, which is not installed: pip install 'dpverify[accounting]'.", name=error.name
        ) from error


def __dir__() -> list[str]:
    return list(_OFFERED)


_OFFERED = {"CertifiedAccountant": "accountant", "calibrate": "calibration"}

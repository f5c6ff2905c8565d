"""A plugin of pytest for `make quick`: it runs the tests that are chosen, some certificates, and begins none after its time."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest

CERTIFICATES = 30
"""How many certificates of the sample that `make test` runs."""
TOLD = json.loads(os.environ.get("DPVERIFY_QUICK", "{}"))


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep what is chosen in its order, then certificates, then whole files."""
    if not TOLD:
        return
    rank = {name: number for number, name in enumerate(TOLD["tests"])}
    whole = set(TOLD["whole"])
    kept = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])
    some = [item for item in items if _file(item) == TOLD["certificates"] and item.nodeid not in rank]
    kept += some[:: max(1, len(some) // CERTIFICATES)]
    already = {item.nodeid for item in kept}
    kept += [item for item in items if _file(item) in whole and item.nodeid not in already]
    names = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
    items[:] = kept


def pytest_runtest_setup(item: Any) -> None:
    """Skip what is left when the time is over."""
    if TOLD and time.time() > TOLD["until"]:
        pytest.skip("the time of `make quick` is over")


def _file(item: Any) -> str:
    return str(item.nodeid).partition("::")[0]

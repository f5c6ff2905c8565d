"""Settings that all tests share."""

import atexit
import contextlib
import gc
import locale
import os
import shutil
import tempfile

import pytest
from hypothesis import settings

from tests import dear, effort, spread

# One thread of linear algebra a process: tests run in parallel already, and threads that fight for two cores take ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests read and write UTF-8 in any locale. What they test says the encoding each time, and the commands that they start are in the locale.
with contextlib.suppress(locale.Error):
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")

# What tests find is kept for them alone, and the profile is what it is without continuous integration.
os.environ["DPVERIFY_CACHE_DIR"] = tempfile.mkdtemp(prefix="dpverify-tests-")
os.environ["DPVERIFY_CONFIG_DIR"] = os.environ["DPVERIFY_CACHE_DIR"] + "/config"
atexit.register(shutil.rmtree, os.environ["DPVERIFY_CACHE_DIR"], ignore_errors=True)
for variable in ("CI", "DPVERIFY_PROFILE"):
    os.environ.pop(variable, None)



def pytest_configure(config):
    """How much is tried: a sample where the marks leave out what is wide, all of it otherwise.

    No deadline: a slow shared machine is not a fault of the code. The same examples every time, so that a red run can be repeated;
    HYPOTHESIS_PROFILE=explore looks further, with new ones.
    """
    spread.collected = effort.full = "not wide" not in config.option.markexpr
    settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=effort.examples(60))
    settings.register_profile("explore", deadline=None, max_examples=1000)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser):
    parser.addoption("--part", help="K/N: of all that is collected the K-th of N parts, which together are the whole")


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(config, items):
    """Mark as wide what is beyond a sample, before marks are looked at; keep one part of what is left after that.

    Tests in a row stay together in a part, for they remember much for each other."""
    by_function = {}
    for item in items:
        if dear.is_dear(item.nodeid):
            item.add_marker("wide")
        if item.get_closest_marker("sampled") and not item.get_closest_marker("wide"):  # what is wide by itself is in no sample
            by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in by_function.values():
        [most] = group[0].get_closest_marker("sampled").args
        chosen = spread.sample([item.nodeid for item in group], most)
        for number, item in enumerate(group):
            if number not in chosen:
                item.add_marker("wide")
    yield
    if config.option.part:
        number, parts = map(int, config.option.part.split("/"))
        if not 1 <= number <= parts:
            raise pytest.UsageError(f"--part {config.option.part} is no part: write 1/{parts} to {parts}/{parts}")
        size = -(-len(items) // (8 * parts))  # eight stretches from all over
        left = [item for at, item in enumerate(items) if at // size % parts != number - 1]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for at, item in enumerate(items) if at // size % parts == number - 1]


def pytest_collection_finish(session):
    """What is collected stays to the end: the collector of cycles need not go through it again and again."""
    gc.freeze()


def pytest_itemcollected(item):
    """A test of Hypothesis is wide too where it has its full budget, of which `make test` gives it a part."""
    if effort.full and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker("wide")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each process takes a share of neighbouring tests, which remember much for each other, and at the end what others have left."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)

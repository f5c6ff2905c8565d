"""The claim files of specs/ as they are read, once for all tests of a process."""

from functools import cache
from pathlib import Path

from dpverify.catalogue import Spec, read_spec

SPECS = sorted((Path(__file__).parents[1] / "specs").rglob("*.toml"))


@cache
def read(path: Path) -> Spec:
    """The claims of a file."""
    return read_spec(path)

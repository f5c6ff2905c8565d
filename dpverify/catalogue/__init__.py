"""Claim files to claims: exact, strict, and data only.

A file is one mechanism and its claims, in TOML. Numbers are kept exact: a decimal is the decimal it
is written as. Everything wrong with a file is listed at once, with file, claim and key, in one
SpecError. Nothing in a file is ever run, but for `use = "path.py:name"`, which says so on stderr.

NotCertain and NotProved, which answers to claims raise, are of the errors of the package; reports know them from here.
"""

from dpverify.catalogue.reader import Spec, Stated, read_spec, read_tables, resolve, shelf
from dpverify.errors import NotCertain, NotProved

__all__ = ["NotCertain", "NotProved", "Spec", "Stated", "read_spec", "read_tables", "resolve", "shelf"]

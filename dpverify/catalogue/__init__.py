"""Claim files to claims: exact, strict, and data only.

A file is one mechanism and its claims, in TOML. Numbers are kept exact: a decimal is the decimal it
is written as. Everything wrong with a file is listed at once, with file, claim and key, in one
SpecError. Nothing in a file is ever run, but for `use = "path.py:name"`, which says so on stderr.
"""

from dpverify.catalogue.reader import Spec, Stated, read_spec, read_tables, resolve, shelf

__all__ = ["Spec", "Stated", "read_spec", "read_tables", "resolve", "shelf"]

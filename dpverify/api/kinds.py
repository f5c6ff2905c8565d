"""A function for every kind of mechanism in Python, and the name that a wrong one was meant to be."""

from __future__ import annotations

from dpverify.catalogue.declarations import FUNCTIONS as FUNCTIONS
from dpverify.catalogue.toml import meant as meant

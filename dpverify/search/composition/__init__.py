"""Searches for the rules about combinators and guarantees."""

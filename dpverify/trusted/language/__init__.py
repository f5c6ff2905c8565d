"""Expressions, claims, certificates."""

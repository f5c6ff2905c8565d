"""Searches for the rules about errors."""

"""Searches for the rules about other divergences."""

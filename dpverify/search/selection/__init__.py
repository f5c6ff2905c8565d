"""Searches for the rules about selections and streams."""

"""Errors: of a claim's own noise, and the least that any mechanism can have."""

"""Balls, series, integrals, behaviour at the ends of an interval."""

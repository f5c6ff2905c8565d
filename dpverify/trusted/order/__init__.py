"""Exact comparison, convexity, norms and gauges, finite tables."""

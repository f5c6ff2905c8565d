"""Combinators: compositions, groups, samples, maps, and guarantees that are stated."""

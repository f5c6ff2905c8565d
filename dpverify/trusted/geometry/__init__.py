"""Norms, their unit balls, matrices and polyhedra, in exact numbers."""

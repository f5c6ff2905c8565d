"""Finite mechanisms and one-parameter kernels."""

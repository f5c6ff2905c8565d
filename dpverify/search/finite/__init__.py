"""Searches for the rules about finite mechanisms and kernels."""

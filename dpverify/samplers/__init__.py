"""Samplers of the laws that claims speak of."""

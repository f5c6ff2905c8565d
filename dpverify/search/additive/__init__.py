"""Searches for the rules about additive noise."""

"""Searches for the rules about curves of additive noise."""

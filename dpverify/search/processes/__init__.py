"""Searches for the rules about noise on functions."""

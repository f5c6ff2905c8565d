"""Searches for the rules about metric spaces."""

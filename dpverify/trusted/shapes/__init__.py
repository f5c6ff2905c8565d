"""Shapes of functions: signs of a function, its slope and its bend, derived by local laws."""

"""Formulas for people: boxes, expressions set as a person would, and the pieces that the laws of mechanisms share."""

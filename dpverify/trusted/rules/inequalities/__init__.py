"""Rules about inequalities between expressions for all parameters."""

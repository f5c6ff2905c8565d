"""Rules about delta as a function of epsilon, for single mechanisms."""

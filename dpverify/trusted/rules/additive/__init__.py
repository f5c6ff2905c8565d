"""Rules about additive noise."""

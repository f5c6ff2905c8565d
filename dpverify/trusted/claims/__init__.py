"""What only claims of some kinds must be, loaded for these."""

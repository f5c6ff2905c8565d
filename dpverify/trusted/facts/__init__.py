"""What rules prove: bounds, pairs of distributions, and what they take for granted."""

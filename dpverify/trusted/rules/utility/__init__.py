"""Rules about errors, and about the convex bodies that errors follow from."""

"""Rules about the errors of answers, and about the convex bodies that these are measured by."""

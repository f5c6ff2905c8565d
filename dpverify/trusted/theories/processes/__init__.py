"""Noise on functions: norms of differences in the space of a covariance, and what is lost."""

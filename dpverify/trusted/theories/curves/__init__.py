"""Delta as a function of epsilon: pairs of distributions that dominate a mechanism's, or that neighbours have."""

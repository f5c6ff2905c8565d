"""Zero-concentrated, Gaussian and Renyi differential privacy, and what they imply of each other."""

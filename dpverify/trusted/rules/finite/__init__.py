"""Rules about finite mechanisms and bounded kernels."""

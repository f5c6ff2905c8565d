"""Theorems about answers with noise that are compared with each other, or with a noisy threshold."""

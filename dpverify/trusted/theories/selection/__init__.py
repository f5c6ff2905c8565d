"""Noisy answers that are compared: noisy max, above threshold, streams."""

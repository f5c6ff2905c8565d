"""Metric spaces of answers: what any mechanism can do on them."""

"""Mechanisms with answers in metric spaces."""

"""Additive noise: its pure epsilon, by the shape of the density and by cells."""

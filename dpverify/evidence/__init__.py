"""Certificates in files: single ones and collections, read and checked by the kernel alone."""

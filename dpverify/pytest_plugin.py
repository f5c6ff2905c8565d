"""Audits as tests: the marker dp_claim, the fixture dp_audit, and claim files with an [audit] table."""

"""Audits of sampled implementations: docs/audit.md."""

"""Certificates in Coq: what the machine-checked theory of specs/formal says of a claim, and which rules it covers."""

"""Claim files, samplers and continuous integration for somebody's project, from templates; nothing is written before all is checked."""

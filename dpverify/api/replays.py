"""Replays of pipelines in Python: replay."""

from dpverify.report.replays import replay as replay

"""dpverify: prove or refute differential-privacy claims, with certificates that a small kernel re-checks."""

__version__ = "0.1.0"

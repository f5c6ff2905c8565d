"""Which dpverify this is."""

from __future__ import annotations

from dpverify.runtime.version import __version__ as __version__

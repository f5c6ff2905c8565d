"""`python -P -m dpverify.kernel FILE...` re-checks certificates with the standard library and flint alone.

Without -P Python would import modules from the working directory. This file is run and never imported: in Python `dpverify.kernel` is the
mechanism that is declared by a density in y and theta.
"""

from __future__ import annotations

import sys

if __name__ != "__main__":
    raise ImportError("dpverify.kernel is run, as in python -P -m dpverify.kernel FILE... From Python use dpverify.check.")

from dpverify.evidence.recheck import main

sys.exit(main(sys.argv[1:]))

"""The kernel by its short name: `python -P -m dpverify.kernel FILE...` is `python -P -m dpverify.trusted.kernel FILE...`."""

import sys

from dpverify.trusted.kernel import check as check
from dpverify.trusted.kernel import main as main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

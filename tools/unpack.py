"""Certificates of collections as files of their own, by the standard library alone: what any checker that reads one certificate can read.

    python tools/unpack.py DIR COLLECTION...
"""

import json
import sys
from pathlib import Path


def main(folder: str, *collections: str) -> int:
    """Write every certificate to the folder, as `dpverify verify --certificates` writes it."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in collections:
        for stem, data in json.loads(Path(name).read_text(encoding="utf-8"))["certificates"].items():
            Path(folder, f"{stem}.cert.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

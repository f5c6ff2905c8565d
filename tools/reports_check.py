"""Whether the committed certificates are the ones that today's code makes of today's specs/: the same claims, the same verdicts.

The evidence may differ from machine to machine (a solver may find another cut); what it proves may not.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read(folder: Path) -> dict[str, tuple[str, str]]:
    """Of each certificate in a folder the claim's hash and the verdict."""
    certificates = {path.name: json.loads(path.read_text()) for path in folder.glob("*.cert.json")}
    return {name: (data["claim_sha256"], data["verdict"]) for name, data in certificates.items()}


def main() -> int:
    """Print every difference; 1 if there is one."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "dpverify.cli", "verify", "specs", "--certificates", scratch, "--no-cache"]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        committed, today = read(ROOT / "reports" / "certificates"), read(Path(scratch))
    if run.returncode:
        print(f"dpverify verify ended with {run.returncode}\n{run.stdout}{run.stderr}", file=sys.stderr)
        return 1
    differences = [
        f"{name}: committed {committed.get(name, ('', 'nothing'))[1]}, today {today.get(name, ('', 'nothing'))[1]}"
        + (" (the claim itself changed)" if name in committed and name in today and committed[name][0] != today[name][0] else "")
        for name in sorted(committed.keys() | today.keys())
        if committed.get(name) != today.get(name)
    ]
    closing = "Run `make reports` and commit what it writes." if differences else f"{len(today)} certificates as committed"
    print("\n".join([*differences, closing]))
    return 1 if differences or not today else 0


if __name__ == "__main__":
    sys.exit(main())

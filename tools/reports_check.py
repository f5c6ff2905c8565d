"""Whether the committed evidence is what today's code makes of today's specs/: the same claims, verdicts and families, and nothing damaged.

The proofs may differ from machine to machine (a solver may find another cut); what they prove may not. Everything is searched anew.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from dpverify.catalogue import read_spec
from dpverify.evidence.collected import by_name, read
from dpverify.report.families import family

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "reports"


def certificates(folder: Path) -> dict[str, tuple[str, str]]:
    """Of each certificate in a folder the claim's hash and the verdict, by its name."""
    found = {name: json.loads(read(place)) for name, place in by_name(folder).items()}
    return {name: (data["claim_sha256"], data["verdict"]) for name, data in found.items()}


def families(verdicts: str) -> set[tuple[str, str, str]]:
    """Of each claim that a list of verdicts tells of its family, its file and its name."""
    found, name = set[tuple[str, str, str]](), ""
    for line in verdicts.split("\n"):
        if line.startswith("# in "):
            name = Path(line.removeprefix("# in ").partition(":")[0]).name.partition(".")[0]
        elif line and not line.startswith("#"):
            _, file, claim, *_ = line.split("\t")
            found.add((name, file, claim))
    return found


def expected() -> set[tuple[str, str, str]]:
    """The same as the claim files say it today."""
    found = set[tuple[str, str, str]]()
    for path in sorted((ROOT / "specs").rglob("*.toml")):
        claims = [stated.claim for stated in read_spec(path).claims]
        found |= {(family(claims).name, path.relative_to(ROOT).as_posix(), claim.name) for claim in claims}
    return found


def dpverify(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of dpverify in the repository."""
    return subprocess.run([sys.executable, "-m", "dpverify.cli", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def main() -> int:
    """Print every difference; 1 if there is one."""
    with tempfile.TemporaryDirectory() as scratch:
        for run in (dpverify("verify", "specs", "--certificates", scratch, "--no-cache"), dpverify("check", "reports")):
            if run.returncode:
                print(f"{' '.join(run.args[2:])} ended with {run.returncode}\n{run.stdout}{run.stderr}", file=sys.stderr)
                return 1
        committed, today = certificates(REPORTS), certificates(Path(scratch))
    differences = [
        f"{name}: committed {committed.get(name, ('', 'nothing'))[1]}, today {today.get(name, ('', 'nothing'))[1]}"
        + (" (the claim itself changed)" if name in committed and name in today and committed[name][0] != today[name][0] else "")
        for name in sorted(committed.keys() | today.keys())
        if committed.get(name) != today.get(name)
    ]
    told, wanted = families((REPORTS / "verdicts.txt").read_text(encoding="utf-8")), expected()
    differences += [f"verdicts.txt: {file}, {claim} is not in the family {name}" for name, file, claim in sorted(wanted - told)]
    differences += [f"verdicts.txt: {file}, {claim} is no longer in the family {name}" for name, file, claim in sorted(told - wanted)]
    closing = "Run `make reports` and commit what it writes." if differences else f"{len(today)} certificates as committed"
    print("\n".join([*differences, closing]))
    return 1 if differences or not today else 0


if __name__ == "__main__":
    sys.exit(main())

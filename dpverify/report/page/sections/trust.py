"""What a reviewer relies on when signing, and how to check all of it again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from dpverify.report.page.blocks import Block, Code, Facts, Inline, Items, Listing, Paragraph, Section, Table
from dpverify.report.page.subject import Run

TITLE = "What is trusted, and how to check it"
_SIGNING = "Say which of these you looked at: claims and neighbours, assumptions, certificates (checked again), audits, rules."
_COLUMNS = ("reviewer", "date", "what was checked", "signature")
_EMPTY = [("\N{NO-BREAK SPACE}",) * len(_COLUMNS)] * 2
DIGEST = 'for file in *.cert.json; do sha256sum <"$file"; done | cut -c1-64 | LC_ALL=C sort | sha256sum'
"""The digest of all certificates as a shell makes it in their folder."""
INSTALL = "python -m pip install --no-index --no-deps --find-links BUNDLE dpverify python-flint"
"""What an auditor installs, from the bundle's folder."""


def blocks(run: Run) -> Sequence[Block]:
    """The trust line, the digest of all certificates, and a place to sign."""
    digests = sorted(digest for file in run.files for digest in file.digests.values())
    together = sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()
    rows: list[tuple[str, Inline]] = [("certificates", str(len(digests))), ("their digest", Code(together))] if digests else []
    folder = next((f"{file.folders.certificates}/" for file in run.files if file.folders.certificates), "")
    beside = f"in {folder}" if folder else "beside this page"
    again: list[Block] = []
    if digests:
        again = [
            Paragraph(
                f"Every PROVED and REFUTED has a certificate {beside}. To check them all again, with python-flint alone, have the "
                "bundle for auditors: a folder with both packages, which `make bundle` makes in the repository of dpverify. Nothing is "
                "asked of the network:"
            ),
            Listing(f"{INSTALL}\npython -P -m dpverify.kernel {folder}*.cert.json"),
            Paragraph(
                "To see that all of them are here and are those that this page lists, run the first line in this folder. Their digest is "
                "the SHA-256 of the sorted list of their SHA-256, one a line, as the second line makes it of the files in this folder:"
            ),
            Listing(f"dpverify check .\n{DIGEST.replace('*', f'{folder}*', 1)}"),
        ]
    return [
        Paragraph(
            "A search proposes each proof and is not trusted. The kernel derives the privacy loss from the claim itself, checks every "
            "step with exact rationals and ball arithmetic, and alone says PROVED or REFUTED. Believing a verdict means believing:"
        ),
        Items(
            (
                "the theorems that the rules state, each listed above with its source;",
                "the kernel, its rules and the files below them, python-flint, and Python;",
                "what is listed as assumed, claim by claim: above all that the implementation samples the declared density.",
            )
        ),
        Paragraph("Audits sample the implementation. They find violations at a stated confidence, and never prove that there is none."),
        *again,
        *([Facts(rows)] if rows else []),
        Section("Signatures", [Paragraph(_SIGNING, note=True), Table("Signatures", _COLUMNS, _EMPTY, tall=True)]),
    ]

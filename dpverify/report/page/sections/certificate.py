"""Where the certificate is, what it is known by, and how anyone checks it again."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.page.blocks import Block, Code, Facts, Inline, Link
from dpverify.report.page.subject import Claimed

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The certificate of a decided claim."""
    path = subject.entry.certificate
    if path is None:
        return []
    name = path.replace("\\", "/").rpartition("/")[2]
    rows: list[tuple[str, Inline]] = [("certificate", Link(name, name))]
    rows += [("SHA-256", Code(subject.file.digests[path]))] if path in subject.file.digests else []
    rows += [("check it again", Code(f"python -m dpverify.kernel {name}"))]
    return [Facts(rows)]

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
    rows: list[tuple[str, Inline]] = [("check it again", (Code("python -m dpverify.kernel"), " ", Link(name, name)))]
    rows += [("its SHA-256", Code(subject.file.digests[path]))] if path in subject.file.digests else []
    return [Facts(rows)]

"""What mkdocs.yml hooks in: pages from outside docs/, links that lead to them, the search with a name and from a folder, no network.

In the repository a page links to a file where it lies, so that it can be read there too. In the build
the link leads to the page made of it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
ADOPTED = {
    "project/definitions.md": ROOT / "specs" / "definitions.md",
    "project/contributing.md": ROOT / "CONTRIBUTING.md",
    "project/power.md": ROOT / "reports" / "power.md",
    "project/audit-bench.md": ROOT / "reports" / "audit-bench.md",
    "project/accountants.md": ROOT / "reports" / "accountants.md",
}
LINK = re.compile(r"(?<=\]\()(?!https?:)([^)#\s]+)(#[^)\s]*)?(?=\))")
REQUEST = re.compile(
    r"""<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>|<link\b(?![^>]*\brel=["']?canonical)[^>]*\bhref=["']?(?:https?:)?//[^>]*>"""
    r"""|@import\s+["'](?:https?:)?//[^;]*;|url\(["']?(?:https?:)?//[^)]*\)""",
    re.IGNORECASE,
)


def on_files(files: Files, config: Any) -> Files:
    """The pages of docs/, and those adopted from elsewhere in the repository."""
    for uri, source in ADOPTED.items():
        files.append(File.generated(config, uri, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with its links to files led to the pages that are made of them."""
    pages = {Path(file.abs_src_path).resolve(): file.src_uri for file in files if file.abs_src_path}
    here = Path(page.file.abs_src_path).resolve().parent

    def led(link: re.Match[str]) -> str:
        uri = pages.get((here / link[1]).resolve())
        return link[0] if uri is None else posixpath.relpath(uri, posixpath.dirname(page.file.src_uri)) + (link[2] or "")

    return LINK.sub(led, markdown)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The page with a name for the dialog of the search, which the theme gives none."""
    return output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"')


def on_post_build(config: Any) -> None:
    """Give the index of the search to pages in a folder too, which cannot ask for it: as a script.

    Then refuse pages or styles that would ask another host for anything. Raises PluginError that lists them all.
    """
    site = Path(config.site_dir)
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    (site / "search" / "search_index.js").write_text(f"var __index = {index}\n", encoding="utf-8")
    files = sorted(file for file in site.rglob("*") if file.suffix in (".html", ".css"))
    texts = {file.relative_to(site): file.read_text(encoding="utf-8") for file in files}
    asked = [f"{name}: {found[0][:200]}" for name, text in texts.items() for found in REQUEST.finditer(text)]
    if asked:
        raise PluginError("these pages ask another host for something:\n" + "\n".join(asked))

"""Writes the tables and pictures of docs/sources/."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from computed import figures, lecture, mean_function, random_queries, reconstruction, street_map  # noqa: E402

PAGES = (random_queries.PAGE, figures.PAGE, lecture.PAGE, reconstruction.PAGE, mean_function.PAGE, street_map.PAGE)


def main(arguments: list[str]) -> None:
    """Write the pages that are named, all where none is."""
    named = [one for one in arguments if not one.startswith("-")]
    for page in PAGES:
        if named and page.name not in named:
            continue
        text = page.written(page.path.read_text(encoding="utf-8"), quick="--quick" in arguments)
        page.path.write_text(text, encoding="utf-8")
        for name, draw in page.pictures:
            (page.path.parent / name).write_text(draw(text), encoding="utf-8")
        print(page.path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])

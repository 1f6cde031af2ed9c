"""Compute, check and write a gallery of derivatives when the documentation is built."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from . import machine_learning, matrix_cookbook, optimisation, physics, statistics
from .pages import page_of, table_of
from .row import Row, make

FIELDS: dict[str, list[Row]] = {
    module.FIELD: module.ROWS
    for module in (machine_learning, statistics, optimisation, physics, matrix_cookbook)
}
START = """# Gallery

{count} derivatives that people look for. Each page shows the function and its derivative as they
are typeset, the shapes, the code that makes it, the generated NumPy code, and a comparison with
numerical differences; {known} have a closed form in the literature, and `se.equal` finds that it is
the same. All of it was made and checked when these pages were built.
"""


def pages() -> dict[str, str]:
    """The text of each page, by its path in the folder of the gallery."""
    found, tables = {}, []
    for field, rows in FIELDS.items():
        folder = field.lower().replace(" ", "-")
        made = [make(row) for row in rows]
        for one in made:
            found[f"{folder}/{one.row.page}.md"] = page_of(one)
        found[f"{folder}/index.md"] = table_of(field, made)
        links = [f"| [{row.title}]({folder}/{row.page}.md) | {row.keywords} |" for row in rows]
        tables.append("\n".join([f"## {field}\n", "| | |", "|---|---|", *links]))
    rows = [row for own in FIELDS.values() for row in own]
    start = START.format(count=len(rows), known=sum(bool(row.closed) for row in rows))
    folders = sorted({Path(path).parent.name for path in found})
    found["index.md"] = "\n\n".join([start, _contents([f"{f}/index" for f in folders]), *tables])
    return found


def _contents(names: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


def write_pages(app: Any) -> None:
    """Write the pages to a folder that git ignores."""
    folder = Path(app.srcdir) / "gallery"
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

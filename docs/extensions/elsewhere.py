"""Include files from elsewhere in the repository: copy notebooks, and redirect links."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
# Files that are shown as pages, and their pages.
SHOWN = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "CHANGELOG.md": "changelog",
    "benchmarks/results.md": "measurements",
}


def copy_notebooks(app: Sphinx) -> None:
    """Copy the notebooks to a folder that git ignores."""
    folder = Path(app.srcdir) / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy2(path, folder)


def lead_links(app: Sphinx, document: nodes.document) -> None:
    """Redirect links to files of the repository to their pages; without one they become text."""
    for link in [
        *document.findall(addnodes.pending_xref),
        *document.findall(addnodes.download_reference),
    ]:
        path = _path_in_repository(link["reftarget"])
        name = path.as_posix()
        if name in SHOWN or name.startswith("docs/"):
            page = SHOWN.get(name) or str(path.relative_to("docs").with_suffix(""))
            about = {"refdomain": "doc", "reftype": "myst", "refexplicit": True}
            found = addnodes.pending_xref("", *link.children, **about)
            found["reftarget"], found["reftargetid"], found["refdoc"] = page, None, link["refdoc"]
            link.replace_self(found)
        elif (ROOT / path).is_file():
            text = link.astext()
            about = [nodes.Text(f"{text} ("), nodes.literal(name, name), nodes.Text(")")]
            link.replace_self(about[1] if text in (name, path.name) else about)


def _path_in_repository(target: str) -> Path:
    path = Path(target)
    if path.is_relative_to(ROOT):
        # A page outside of this folder, whose suffix the parser has removed.
        path = path.relative_to(ROOT).with_suffix(".md")
    return Path(*[part for part in path.parts if part != ".."])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", copy_notebooks)
    app.connect("doctree-read", lead_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Draw graphs in Mermaid's language, ``graph BT`` with arrows ``a --> b``, by levels."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH, ROW, BOX = 760, 74, 104


def drawn(arrows: list[tuple[str, str]]) -> str:
    """Return an SVG with each name above the targets of its arrows."""
    below: dict[str, list[str]] = {}
    for one, other in arrows:
        below.setdefault(one, []).append(other)
        below.setdefault(other, [])
    levels: dict[int, list[str]] = {}
    for name in below:
        levels.setdefault(_level(name, below), []).append(name)
    places: dict[str, tuple[float, float]] = {}
    height = ROW * len(levels)
    for level, names in sorted(levels.items()):
        # Order by the mean position of the targets.
        names.sort(
            key=lambda name: sum(places[b][0] for b in below[name]) / (len(below[name]) or 1)
        )
        for k, name in enumerate(names):
            places[name] = WIDTH * (k + 1) / (len(names) + 1), height - ROW * (level + 0.5)
    lines = [
        f'<line x1="{places[one][0]:.0f}" y1="{places[one][1] + 14:.0f}" '
        f'x2="{places[other][0]:.0f}" y2="{places[other][1] - 14:.0f}" marker-end="url(#tip)"/>'
        for one, other in arrows
    ]
    boxes = [
        f'<rect x="{x - BOX / 2:.0f}" y="{y - 14:.0f}" width="{BOX}" height="28" rx="4"/>'
        f'<text x="{x:.0f}" y="{y + 5:.0f}">{name}</text>'
        for name, (x, y) in places.items()
    ]
    return "\n".join(
        [
            '<div class="formula">',
            f'<svg class="arrows" viewBox="0 0 {WIDTH} {height}" role="img">',
            '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0L8 4L0 8z"/></marker>',
            *lines,
            *boxes,
            "</svg>",
            "</div>",
        ]
    )


def _level(name: str, below: dict[str, list[str]]) -> int:
    return 1 + max((_level(other, below) for other in below[name]), default=-1)


class Mermaid(SphinxDirective):
    """Insert the picture of a graph."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        arrows = re.findall(r"^ *(\w+) --> (\w+)$", "\n".join(self.content), re.M)
        return [nodes.raw("", drawn(arrows), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

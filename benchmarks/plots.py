"""Draw plots on logarithmic axes as small SVG files, without a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from pathlib import Path

# Ours are red, hand-written programs grey.
COLOURS = {
    "hand": "#999999", "ours": "#d62728", "ours by JAX": "#ff9896", "ours by Numba": "#7f0000",
    "ours by PyTorch": "#f7b6d2",
    "JAX": "#1f77b4", "PyTorch": "#ff7f0e", "autograd": "#2ca02c", "PyTensor": "#9467bd",
    "PyTensor in C": "#8c564b",
    "the best of ours": "#d62728", "the best of the other libraries": "#1f77b4",
}  # fmt: skip
WIDTH, HEIGHT = 300, 210
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 22, 22
COLUMNS = 3


@dataclass
class Panel:
    """Define a plot by the points of each line. The vertical axis is logarithmic, and so is the
    horizontal one, unless ``names`` label the positions 0, 1, ….
    """

    title: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    names: Sequence[str] = ()


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Write the panels with a legend above them."""
    labels = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = {label: COLOURS.get(label, "black") for label in labels}
    rows = ceil(len(panels) / COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 24
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, (label, colour) in enumerate(colours.items()):
        at = LEFT + i * (width - LEFT) // len(colours)
        text.append(f'<path d="M{at} 13h16" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<text x="{at + 20}" y="16">{escape(label)}</text>')
    for i, panel in enumerate(panels):
        row, column = divmod(i, COLUMNS)
        text.append(f'<g transform="translate({column * WIDTH} {row * HEIGHT + 24})">')
        text += [*_panel(panel, colours), "</g>"]
    path.write_text("\n".join([*text, "</svg>"]) + "\n", encoding="utf-8")


def _panel(panel: Panel, colours: Mapping[str, str]) -> list[str]:
    points = [point for line in panel.lines.values() for point in line]
    across = [x if panel.names else log10(x) for x, _ in points]
    low, high = floor(min(log10(y) for _, y in points)), ceil(max(log10(y) for _, y in points))
    high = max(high, low + 1)
    start, end = (0, len(panel.names) - 1) if panel.names else (min(across), max(across))

    def at(x: float, y: float) -> tuple[float, float]:
        """Map a point in data coordinates to pixels."""
        share, rise = (x - start) / ((end - start) or 1), (y - low) / (high - low)
        return (
            round(LEFT + share * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - rise * (HEIGHT - TOP - BOTTOM), 1),
        )

    text = [f'<text x="{LEFT}" y="{TOP - 6}" font-weight="bold">{escape(panel.title)}</text>']
    for power in range(low, high + 1):
        x, y = at(start, power)
        colour = "#888" if power == 0 else "#ddd"
        text.append(f'<path d="M{x} {y}H{WIDTH - RIGHT}" stroke="{colour}"/>')
        text.append(f'<text x="{x - 4}" y="{y + 3}" text-anchor="end">{10.0**power:g}</text>')
    marks = dict(enumerate(panel.names)) or {x: f"{10.0**x:g}" for x in {0, 1, 2, 3, 4}}
    for x, name in marks.items():
        if start <= x <= end:
            left, y = at(x, low)
            text.append(f'<path d="M{left} {y}V{TOP}" stroke="#ddd"/>')
            text.append(f'<text x="{left}" y="{y + 12}" text-anchor="middle">{name}</text>')
    for name, line in panel.lines.items():
        places = [at(x if panel.names else log10(x), log10(y)) for x, y in line]
        path = "L".join(f"{x} {y}" for x, y in places)
        colour = colours[name]
        text.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        text += [f'<circle cx="{x}" cy="{y}" r="2" fill="{colour}"/>' for x, y in places]
    return text

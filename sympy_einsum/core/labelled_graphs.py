"""Labelled graphs for drawing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledGraph:
    """A directed acyclic graph whose last node is the root, as ``to_dot`` and ``draw`` show it.

    Attributes
    ==========

    labels : the label of each node
    below : for each node the numbers of its operands, in order
    title : the title of the drawing
    text : the expression as text
    """

    labels: tuple[str, ...]
    below: tuple[tuple[int, ...], ...]
    title: str = ""
    text: str = ""

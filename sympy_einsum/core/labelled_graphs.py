"""Labelled graphs for drawing: labels, and the nodes below each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledGraph:
    """A directed graph without cycles; its last node is the root. ``to_dot`` and ``draw`` show it.

    Attributes
    ==========

    labels : what stands in each node
    below : for each node the numbers of its operands, in order
    title : what is shown
    text : the same as text
    """

    labels: tuple[str, ...]
    below: tuple[tuple[int, ...], ...]
    title: str = ""
    text: str = ""

"""Hooks of stock SymPy on our nodes: importing it attaches methods, operators and printers, and
replaces the functions that ``table.py`` lists."""

from . import notebooks as notebooks, numpy_protocols as numpy_protocols, printers as printers
from .methods import Methods as Methods
from .patches import Patch as Patch, PatchWarning as PatchWarning, install
from .table import PATCHES as PATCHES

install(PATCHES)

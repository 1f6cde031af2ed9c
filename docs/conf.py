"""Sphinx's settings; CONTRIBUTING tells how the pages are built."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "sympy_einsum"
author = copyright = "The sympy_einsum developers"
version = release = version_of("sympy_einsum")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "formulas",
    "arrows",
    "command_line",
    "elsewhere",
    "rule_tables",
    "reference",
    "gallery",
]
exclude_patterns = ["_build"]

# Pages are written in Markdown; headings can be linked to as ``page.md#the-heading``.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]
# The notebooks are run by the tests; their stored outputs are shown.
nb_execution_mode = "off"

# Formulas are MathML: no script, no network, and text that can be found and copied.
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "sympy_einsum"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False

napoleon_use_ivar = True
napoleon_custom_sections = ["Result"]
# Types in signatures are names to read; those of other projects have no pages here.
nitpick_ignore_regex = [("py:(class|obj|data)", ".*")]

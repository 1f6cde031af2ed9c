"""Configure Sphinx; CONTRIBUTING says how to build the pages."""

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
    "parameters",
    "gallery",
]
exclude_patterns = ["_build"]

# Pages are Markdown; links to headings have the form ``page.md#the-heading``.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]
# Tests execute the notebooks; the pages show stored outputs.
nb_execution_mode = "off"

# Formulas are MathML, which needs no script or network, and can be searched and copied.
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "sympy_einsum"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
# The general index has the two modules that are documented as such.
html_domain_indices = False

# Types are named by words, in the sections on parameters.
autodoc_typehints = "none"
napoleon_attr_annotations = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Result"]
# Don't link types in signatures, because those of other projects have no pages here.
nitpick_ignore_regex = [("py:(class|obj|data)", ".*")]
nitpick_ignore = [("py:exc", "LinAlgError")]

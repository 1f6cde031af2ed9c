"""Write formulas as MathML, which browsers typeset without scripts."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def mathml(latex: str, display: str = "inline") -> str:
    """Convert a formula; function names are identifiers, since operators have spaces around them;
    typewriter text is kept literally."""
    typed: list[str] = []

    def kept(found: re.Match[str]) -> str:
        typed.append(re.sub(r"\\(.)(?:\{\})?", r"\1", found[1]))
        return rf"\text{{typed{len(typed) - 1}.}}"

    latex = latex.replace("{aligned}", "{align*}")  # unknown to the converter
    text = convert(re.sub(r"\\texttt\{((?:[^{}\\]|\\.|\{\})*)\}", kept, latex), display=display)
    for k, code in enumerate(typed):
        text = text.replace(f"typed{k}.", html.escape(code))
    return re.sub(r"<mo>([^\W\d]{2,})</mo>", r"<mi>\1</mi>", text)


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def typeset_outputs(app: Sphinx, document: nodes.document, name: str) -> None:
    """Convert the formulas in notebooks' tables, which Jupyter typesets by a script."""
    for node in [*document.findall(nodes.raw)]:
        if "html" in node["format"] and "$" in node.astext() and "<script" not in node.astext():
            text = re.sub(
                r"\$([^$]+)\$", lambda found: mathml(html.unescape(found[1])), node.astext()
            )
            node.replace_self(nodes.raw("", text, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("doctree-resolved", typeset_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

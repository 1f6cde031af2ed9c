"""Formulas as text: LaTeX, Unicode, MathML, code, and the graph as a drawing."""

from .drawing import draw as draw, to_dot as to_dot
from .language_texts import to_text as to_text
from .mathml_renderer import presentation as presentation
from .printers import latex as latex, pretty as pretty

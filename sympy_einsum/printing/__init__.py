"""Print expressions as LaTeX, Unicode, MathML or code, and draw their graphs."""

from .drawing import draw as draw, to_dot as to_dot
from .index_graphs import index_graph as index_graph
from .language_texts import to_text as to_text
from .mathml_renderer import presentation as presentation
from .printers import latex as latex, pretty as pretty

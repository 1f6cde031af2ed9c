"""What stock SymPy finds on our nodes: importing it attaches methods, operators and printers."""

from . import methods as methods, numpy_code as numpy_code

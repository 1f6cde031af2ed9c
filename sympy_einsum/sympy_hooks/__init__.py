"""What stock SymPy finds on our nodes: importing it attaches methods, operators and printers."""

from . import (
    numpy_code as numpy_code,
    printers as printers,
    stock_constructors as stock_constructors,
)
from .methods import Methods as Methods

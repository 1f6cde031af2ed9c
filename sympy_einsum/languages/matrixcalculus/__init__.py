"""Parse the language of MatrixCalculus.org.

``parser`` parses text to nodes. ``program`` infers a type for every node (``types``), in which a
vector is a column or a row, and unifies the axis lengths that an operation requires to be equal.
When all lengths are known it builds the expression, in which a vector is a tensor of order 1. Each
operation or function is one row with its inference and its builder (``operators``, ``functions``).

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are parsed here.
"""

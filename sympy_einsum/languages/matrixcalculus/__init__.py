"""The language of MatrixCalculus.org, in the rooms that ``parsing`` puts together.

Text becomes nodes (``reading``). Inference gives every node a type (``types``), in which a vector
is a column or a row as it is in the text, and merges the axis lengths that an operation forces to
be equal. Building, when all lengths are known, makes the expression, in which a vector is a tensor
of order 1 (``program``). One row per operation or function says how to do both steps
(``operators``, ``functions``).

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are read here.
"""

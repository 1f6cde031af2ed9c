"""Parse Lippmann's language for tensor expressions of any order.

``parser`` parses text to a binary tree. ``inference`` unifies orders and axis lengths in both
directions, from operands to results and back, through the whole program; numbers take the order
that their context needs. When all lengths are known, ``building`` makes the expressions
(``program``).

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are parsed here.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §2–3.
"""

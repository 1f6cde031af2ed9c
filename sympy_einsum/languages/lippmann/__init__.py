"""Lippmann's language for tensor expressions of any order.

Text becomes a binary tree (``reading``). Inference (``inference``) unifies orders and axis lengths
through the whole program, up and down at once: what holds for one side of an operation holds for
the other, and numbers take the order that their surroundings need. Building (``building``), when
all lengths are known, makes the expressions (``program``).

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are read here.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §2–3.
"""

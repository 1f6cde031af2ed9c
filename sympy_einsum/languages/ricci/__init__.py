"""Ricci calculus: tensors with upper and lower indices, and Einstein's summation.

An index that stands once above and once below in a term is summed over. One that stands on one
level only is free; where it stands more than once, entries are multiplied one by one.

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are read here.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018, §2.
"""

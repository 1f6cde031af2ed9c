"""Parse Ricci calculus: tensors with upper and lower indices, and Einstein's summation.

An index that is once upper and once lower in a term is summed over. Otherwise it is free, and
repeating it multiplies entry by entry.

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are parsed here.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018, §2.
"""

"""``numpy.linalg``, of matrices and of stacks of them. Functions whose results depend on a
count of numbers, or are complex, are refused by name.

>>> import numpy as np
>>> import sympy_einsum as se
>>> import sympy_einsum.numpy as snp
>>> A, b = se.TensorSymbol("A", (3, 3)), se.TensorSymbol("b", 3)
>>> snp.linalg.solve(A, b) == np.linalg.solve(A, b)
True
"""

from ._namespace import LINALG as _LINALG

globals().update(_LINALG)
__all__ = sorted(_LINALG)


def __dir__() -> list[str]:
    return __all__

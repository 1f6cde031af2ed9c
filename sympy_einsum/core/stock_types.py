"""The base classes of nodes, as type checkers see them.

SymPy has no type annotations. To mypy its classes are ``Any``, and a class with such a base is
compatible with every parameter: ``2 * x`` would be an ``int``, since ``int.__mul__`` accepts x. So
mypy sees a class without a base, whose other attributes are ``Any``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from sympy import Expr
from sympy.core.expr import AtomicExpr

# The name that mypy, and no other type checker, reads as True.
MYPY = False

if MYPY:

    class _Stock:
        # Attributes that our classes assign.
        _args: Any
        _assumptions: Any
        _mhash: Any
        _mpmathcode: Any
        _numpycode: Any
        _pythoncode: Any
        _tensorflowcode: Any
        __array_function__: Any
        __array_ufunc__: Any
        default_assumptions: Any
        precedence: Any

        def __getattr__(self, name: str) -> Any: ...

    class _StockAtom(_Stock): ...

    StockExpr: TypeAlias = _Stock
    StockAtom: TypeAlias = _StockAtom
else:
    StockExpr: TypeAlias = Expr
    StockAtom: TypeAlias = AtomicExpr

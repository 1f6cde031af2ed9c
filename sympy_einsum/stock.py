"""Tensor expressions inside the code that ``sympy.lambdify`` and ``sympy.pycode`` make.

May import: plan, simplify, source, backends.
"""

from __future__ import annotations

import re
from typing import Any

from sympy.printing.numpy import NumPyPrinter, SciPyPrinter

from .backends import NumpyExpressionBackend
from .errors import UnsupportedError
from .nodes import TensorExpr
from .operations import shape_of
from .plan import make_plan
from .simplify import stable
from .source import Writer, plain_names


def _numpycode(self: TensorExpr, printer: Any, *args: Any) -> str:
    """A tensor expression inside SymPy's own NumPy code: one expression, a tuple of assignments
    of which the last counts, so that shared subexpressions are computed once here too."""
    free = self.free_symbols
    known = {s for e in free for length in shape_of(e) for s in length.free_symbols}
    symbols = sorted(free - known, key=str)
    reserved = NumpyExpressionBackend.reserved()
    for symbol in symbols:
        if plain_names([symbol], reserved) != [symbol.name]:
            raise UnsupportedError(
                f"sympy.lambdify can't take the name {symbol.name!r} safely; use "
                "sympy_einsum.lambdify"
            )
    names = {symbol: symbol.name for symbol in symbols}
    for symbol in symbols:
        for axis, length in enumerate(shape_of(symbol)):
            names.setdefault(length, f"{symbol.name}.shape[{axis}]")
    exprs, _ = stable([self], numeric=True)
    steps, results = Writer(make_plan(exprs), names, NumpyExpressionBackend(), "_t").write()
    parts = [f"{target} := {text}" if target else text for target, text, _ in steps]
    code = f"({', '.join([*(f'({part})' for part in parts), *results])},)[-1]"
    if (
        "special." in code
        and isinstance(printer, NumPyPrinter)
        and not isinstance(printer, SciPyPrinter)
    ):
        raise UnsupportedError("this expression needs SciPy: sympy.lambdify(..., modules='scipy')")
    code = re.sub(r"\bspecial\.", "scipy.special.", code)
    return re.sub(r"\bnp\.", "numpy.", code)


TensorExpr._numpycode = _numpycode
TensorExpr._pythoncode = _numpycode

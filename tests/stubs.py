"""Write the names and types of functions that are made from rows for editors and type checkers.

``python tests/stubs.py`` writes the files; a test compares them with the rows.
"""

import inspect
from pathlib import Path

import sympy_einsum.numpy as snp
from sympy_einsum import operations as ops
from sympy_einsum.numpy._entrywise import Ufunc
from sympy_einsum.numpy._namespace import ALIASES, FFT, FUNCTIONS, LINALG, VALUES

FOLDER = Path(snp.__file__).parent
OPERATIONS = Path(ops.__file__).parent
SCALARS = '''"""The scalar functions, made from their rows by tests/stubs.py."""

from .scalar_functions import ScalarFunction

'''
HEAD = '''"""Made from the rows of NumPy's namespace by tests/stubs.py."""

from collections.abc import Callable, Sequence
from typing import NoReturn

from sympy import Expr

from ..core import Length, Shape
from ..expressions import Operand, TensorLike
from ..operations import (
    ComplexLike,
    ComplexTensor,
    EighResult,
    LstsqResult,
    Nested,
    Order,
    SVDResult,
    {operations},
)
from ._rows import Axes, Lengths
'''


def stub(functions, head, names=()):
    """Return the text of a stub: operations by their names, all others by their signatures."""
    operations = [name for name, own in functions.items() if own is getattr(ops, name, None)]
    lines = [*names]
    for name, own in sorted(functions.items()):
        if isinstance(own, Ufunc):
            lines.append(f"{name}: Ufunc")
        elif name in ALIASES:
            lines.append(f"{name} = {ALIASES[name]}")
        elif name not in operations:
            lines.append(f"def {name}{_signature(own)}: ...")
    exported = ",\n    ".join(f"{name} as {name}" for name in sorted(operations))
    return head.replace("{operations}", exported) + "\n" + "\n".join(lines) + "\n"


def _signature(function):
    parameters = inspect.signature(function)
    shown = parameters.replace(
        parameters=[
            own if own.default is own.empty else own.replace(default=...)
            for own in parameters.parameters.values()
        ]
    )
    return str(shown).replace("Ellipsis", "...").replace("'", "")


def stubs():
    """Return the texts of the files by their paths."""
    packages = "from . import fft as fft, linalg as linalg\nfrom ._entrywise import Ufunc\n"
    head = HEAD.replace("from ._rows", f"{packages}from ._rows")
    head = head.replace(
        "    {operations},", "    SlogdetResult as SlogdetResult,\n    {operations},"
    )
    values = [f"{name}: {'None' if value is None else 'Expr'}" for name, value in VALUES.items()]
    return {
        OPERATIONS / "scalar_names.py": SCALARS
        + "".join(f"{name}: ScalarFunction\n" for name in sorted(ops.FUNCTIONS)),
        FOLDER / "__init__.pyi": stub(FUNCTIONS, head, values),
        FOLDER / "linalg.pyi": stub(LINALG, HEAD, ["__all__: list[str]"]),
        FOLDER / "fft.pyi": stub(FFT, HEAD, ["__all__: list[str]"]),
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")

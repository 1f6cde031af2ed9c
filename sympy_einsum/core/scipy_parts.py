"""Parts of SciPy, loaded at their first use."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .errors import UnsupportedError


class _SciPyPart:
    """A package of SciPy's, with an error that tells how to install it."""

    def __init__(self, name: str, purpose: str):
        self._name = name
        self._purpose = purpose

    def __getattr__(self, name: str) -> Any:
        if find_spec("scipy") is None:
            raise UnsupportedError(
                f"{self._purpose} needs scipy, which isn't installed: "
                "pip install sympy_einsum[scipy]"
            )
        found = getattr(import_module(self._name), name)
        # So that later uses don't come here.
        self.__dict__[name] = found
        return found


lapack: Any = _SciPyPart("scipy.linalg.lapack", "a banded system")
optimize: Any = _SciPyPart("scipy.optimize", "solving a problem")
sparse: Any = _SciPyPart("scipy.sparse", "a sparse matrix")
sparse_algebra: Any = _SciPyPart("scipy.sparse.linalg", "a sparse system")
sparse_graphs: Any = _SciPyPart("scipy.sparse.csgraph", "a sparse system")

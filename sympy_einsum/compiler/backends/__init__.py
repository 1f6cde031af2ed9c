"""Backends: how each instruction of a plan is spelled for one array library.

A backend is one small class; :data:`BACKENDS` is the only list of them. A backend knows texts, not
expressions: it may import functions (the table of scalar functions) and nothing else of ours. No
array library but NumPy is imported before code that was generated for it runs.
"""

from __future__ import annotations

from .cupy_backend import CupyBackend
from .dask_backend import DaskBackend
from .jax_backend import JaxBackend
from .numpy_backend import NumpyBackend, NumpyExpressionBackend
from .torch_backend import TorchBackend

BACKENDS = {
    backend.name: backend
    for backend in (NumpyBackend, CupyBackend, JaxBackend, TorchBackend, DaskBackend)
}

__all__ = ["BACKENDS", "NumpyExpressionBackend"]

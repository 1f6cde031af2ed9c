"""Backends: how each instruction of a plan is spelled for one array library.

A backend is one small class; :data:`BACKENDS` is the only list of them. A backend knows texts, not
expressions: it may import functions (the table of scalar functions) and nothing else of ours.
"""

from __future__ import annotations

from .numpy_backend import NumpyBackend, NumpyExpressionBackend

BACKENDS = {backend.name: backend for backend in (NumpyBackend,)}

__all__ = ["BACKENDS", "NumpyExpressionBackend"]

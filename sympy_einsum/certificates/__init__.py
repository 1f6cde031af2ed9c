"""Certificates: definiteness of matrices, convexity of functions."""

from .definiteness import is_definite as is_definite

"""Certificates: definiteness of matrices, convexity of functions."""

from .curvature import Convexity as Convexity, convexity as convexity
from .definiteness import is_definite as is_definite

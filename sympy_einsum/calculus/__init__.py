"""Derivatives: a rule per node type, the two sweeps, and the operators made of them."""

from .linear_maps import linearize as linearize
from .operators import (
    diff as diff,
    gradient as gradient,
    hessian as hessian,
    hvp as hvp,
    jacobian as jacobian,
    jvp as jvp,
    vjp as vjp,
)

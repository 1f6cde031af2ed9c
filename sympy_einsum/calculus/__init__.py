"""Derivatives: a rule per node type, the two sweeps, and the operators made of them."""

from .derivation_tables import Trace as Trace
from .directional import hvp as hvp, jvp as jvp, vjp as vjp
from .linear_maps import (
    identity_map as identity_map,
    linearize as linearize,
    projection_map as projection_map,
    zero_map as zero_map,
)
from .operators import (
    Options as Options,
    diff as diff,
    gradient as gradient,
    hessian as hessian,
    is_part_of_symbol as is_part_of_symbol,
    jacobian as jacobian,
    unevaluated as unevaluated,
)
from .solutions import (
    checked_unknown as checked_unknown,
    minimizer as minimizer,
    solution as solution,
)
from .vector_fields import curl as curl, divergence as divergence, laplacian as laplacian
